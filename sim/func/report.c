/* The state of the chip as text, for fault reports: why nothing goes on is to be seen from it. */
#include "sim/func/func.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATE_BYTES = 16384 };

typedef struct {
    char *text;
    size_t length;
} writer;

static void add(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(writer *w, const char *format, ...) {
    va_list args;
    if (w->length + 1 >= STATE_BYTES) return;
    va_start(args, format);
    int got = vsnprintf(w->text + w->length, STATE_BYTES - w->length, format, args);
    va_end(args);
    if (got > 0) w->length += (size_t)got;
    if (w->length >= STATE_BYTES) w->length = STATE_BYTES - 1;
}

static void add_wait(writer *w, const xpu_func *func, uint32_t counter, uint32_t value) {
    add(w, "counter %" PRIu32 " >= %" PRIu32 " (it is %" PRIu32 ")", counter, value, func->counters[counter]);
}

static void add_core(writer *w, const xpu_func *func, unsigned core) {
    const xpu_func_core_state *state = &func->core_state[core];
    const xpu_hart *hart = &func->harts[core];
    add(w, "core %u: pc 0x%08" PRIx32 ", %" PRIu64 " instructions, layer %" PRIu32 ", ", core, hart->pc, hart->instret,
        state->layer >> 16);
    uint32_t offset = state->stall_address - XPU_REGS_BASE;
    if (hart->fault.cause != XPU_FAULT_NONE) {
        add(w, "fault: %s\n", xpu_fault_text(hart->fault.cause));
    } else if (state->idle) {
        add(w, "has ended (wfi)\n");
    } else if (func->host_call && core == 0) {
        add(w, "waits for the host\n");
    } else if (!state->stall_address) {
        add(w, "runs\n");
    } else if (offset == XPU_REG_BARRIER) {
        add(w, "waits at the barrier\n");
    } else if (offset - XPU_REG_WAIT < 4 * XPU_COUNTERS) {
        uint32_t counter = (offset - XPU_REG_WAIT) / XPU_REG_WAIT_STRIDE;
        add(w, "waits for ");
        add_wait(w, func, counter, state->wait_value[counter]);
        add(w, "\n");
    } else {
        add(w, "waits for room in a queue of engine %s\n",
            xpu_engine_name((offset - XPU_REG_DOORBELL_COUNT) / XPU_REG_DOORBELL_COUNT_STRIDE));
    }
}

static void add_queue(writer *w, const xpu_func *func, unsigned engine, unsigned core) {
    const xpu_func_queue *queue = &func->queues[engine][core];
    if (queue->count == 0) return;
    const xpu_func_list *list = &queue->lists[queue->first];
    uint64_t address;
    const uint32_t *head = xpu_func_queue_head(func, queue, &address);
    add(w, "%s, queue of core %u: %u lists, descriptor %" PRIu32 " of %" PRIu32 " at 0x%08" PRIx64,
        xpu_engine_name(engine), core, queue->count, list->done + 1, list->count, address);
    if (head) {
        const char *kind = xpu_desc_kind_name(xpu_desc_nop_get_opcode(head));
        uint32_t counters[] = {xpu_desc_nop_get_wait0(head), xpu_desc_nop_get_wait1(head)};
        uint32_t values[] = {xpu_desc_nop_get_wait0_value(head), xpu_desc_nop_get_wait1_value(head)};
        add(w, " (%s, layer %" PRIu32 ")", kind ? kind : "unknown kind", xpu_desc_nop_get_layer(head));
        for (int i = 0; i < 2; i++) {
            if (counters[i] >= XPU_COUNTERS || (int32_t)(func->counters[counters[i]] - values[i]) >= 0) continue;
            add(w, ", waits for ");
            add_wait(w, func, counters[i], values[i]);
        }
    }
    add(w, "\n");
}

void xpu_func_describe(xpu_func *func) {
    func->fault.state = "";
    if (!func->state_text) func->state_text = malloc(STATE_BYTES);
    if (!func->state_text) return;
    writer w = {func->state_text, 0};
    w.text[0] = 0;
    for (unsigned core = 0; core < func->chip.cores; core++) add_core(&w, func, core);
    for (unsigned engine = 0; engine < XPU_ENGINES; engine++)
        for (unsigned core = 0; core < func->chip.cores; core++) add_queue(&w, func, engine, core);
    add(&w, "counters:");
    for (unsigned i = 0; i < XPU_COUNTERS; i++)
        if (func->counters[i]) add(&w, " %u=%" PRIu32, i, func->counters[i]);
    add(&w, "\n");
    for (size_t i = 0; i < func->ticket_count && i < 8; i++)
        add(&w, "layer %" PRIu32 " is complete at counter %" PRIu32 " >= %" PRIu32 "\n", func->tickets[i].layer,
            func->tickets[i].counter, func->tickets[i].value);
    func->fault.state = func->state_text;
}
