/* The state of the Verilated chip as text, for fault reports; the words are those of the functional chip. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/harness/harness.h"

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

static void add_core(writer *w, const xpurt_device *device, const xpu_model_state *state, unsigned core) {
    uint32_t offset = state->core[core].stalled;
    add(w, "core %u: pc 0x%08" PRIx32 ", %" PRIu64 " instructions, layer %" PRIu32 ", ", core,
        state->core[core].fault ? state->core[core].fault_pc : state->core[core].pc, state->core[core].instructions,
        state->core[core].layer >> 16);
    if (state->core[core].fault) {
        add(w, "fault: %s\n", xpu_fault_text((xpu_fault_cause)state->core[core].cause));
    } else if (state->core[core].halted) {
        add(w, "has ended (wfi)\n");
    } else if (offset == XPU_REG_HOST_CALL) {
        add(w, "waits for the host\n");
    } else if (offset == XPU_REG_BARRIER) {
        add(w, "waits at the barrier\n");
    } else if (offset - XPU_REG_WAIT < XPU_REG_WAIT_STRIDE * XPU_COUNTERS) {
        uint32_t counter = (offset - XPU_REG_WAIT) / XPU_REG_WAIT_STRIDE;
        add(w, "waits for counter %" PRIu32 " >= %" PRIu32 " (it is %" PRIu32 ")\n", counter,
            state->core[core].stalled_value, device->counters[counter]);
    } else if (offset - XPU_REG_DOORBELL_ADDRESS < XPU_REG_DOORBELL_COUNT_STRIDE * XPU_ENGINES) {
        add(w, "waits for room in a queue of engine %s\n",
            xpu_engine_name((offset - XPU_REG_DOORBELL_COUNT) / XPU_REG_DOORBELL_COUNT_STRIDE));
    } else {
        add(w, "runs\n");
    }
}

void xpu_rtl_describe(xpurt_device *device, const xpu_model_state *state) {
    device->fault.state = "";
    if (!device->state_text) device->state_text = malloc(STATE_BYTES);
    if (!device->state_text) return;
    writer w = {device->state_text, 0};
    w.text[0] = 0;
    for (unsigned core = 0; core < device->chip.cores; core++) add_core(&w, device, state, core);
    add(&w, "counters:");
    for (unsigned i = 0; i < XPU_COUNTERS; i++)
        if (device->counters[i]) add(&w, " %u=%" PRIu32, i, device->counters[i]);
    add(&w, "\n");
    for (size_t i = 0; i < device->ticket_count && i < 8; i++)
        add(&w, "layer %" PRIu32 " is complete at counter %" PRIu32 " >= %" PRIu32 "\n", device->tickets[i].layer,
            device->tickets[i].counter, device->tickets[i].value);
    device->fault.state = device->state_text;
}
