/* Reports of faults of simulated chips: why nothing goes on is to be seen from them. */
#include "sim/func/report/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATE_BYTES = 16384, MAX_TICKETS_SHOWN = 8 };

typedef struct {
    const xpu_sim_events *events;
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

static void add_wait(writer *w, uint32_t counter, uint32_t value) {
    add(w, "waits for counter %" PRIu32 " >= %" PRIu32 " (it is %" PRIu32 ")", counter, value,
        w->events->counters[counter]);
}

static void add_core(writer *w, const xpu_sim_core_report *core, unsigned number) {
    add(w, "core %u: pc 0x%08" PRIx32 ", %" PRIu64 " instructions, layer %" PRIu32 ", ", number, core->pc,
        core->instructions, core->layer);
    if (core->fault != XPU_FAULT_NONE) {
        add(w, "fault: %s", xpu_fault_text(core->fault));
    } else if (core->halted) {
        add(w, "has ended (wfi)");
    } else if (!core->stalled) {
        add(w, "runs");
    } else if (core->stalled == XPU_REG_HOST_CALL) {
        add(w, "waits for the host");
    } else if (core->stalled == XPU_REG_BARRIER) {
        add(w, "waits at the barrier");
    } else if (core->stalled - XPU_REG_WAIT < XPU_REG_WAIT_STRIDE * XPU_COUNTERS) {
        add_wait(w, (core->stalled - XPU_REG_WAIT) / XPU_REG_WAIT_STRIDE, core->stalled_value);
    } else {
        add(w, "waits for room in a queue of engine %s",
            xpu_engine_name((core->stalled - XPU_REG_DOORBELL_COUNT) / XPU_REG_DOORBELL_COUNT_STRIDE));
    }
    add(w, "\n");
}

static void add_queue(writer *w, const xpu_sim_queue_report *queue) {
    add(w, "%s, queue of core %u: %u lists, descriptor %" PRIu32 " of %" PRIu32 " at 0x%08" PRIx64,
        xpu_engine_name(queue->engine), queue->core, queue->lists, queue->done + 1, queue->count, queue->address);
    if (queue->head) {
        const char *kind = xpu_desc_kind_name(xpu_desc_nop_get_opcode(queue->head));
        uint32_t counters[] = {xpu_desc_nop_get_wait0(queue->head), xpu_desc_nop_get_wait1(queue->head)};
        uint32_t values[] = {xpu_desc_nop_get_wait0_value(queue->head), xpu_desc_nop_get_wait1_value(queue->head)};
        add(w, " (%s, layer %" PRIu32 ")", kind ? kind : "unknown kind", xpu_desc_nop_get_layer(queue->head));
        for (int i = 0; i < 2; i++) {
            if (counters[i] >= XPU_COUNTERS || xpu_sim_counter_reached(w->events, counters[i], values[i])) continue;
            add(w, ", ");
            add_wait(w, counters[i], values[i]);
        }
    }
    add(w, "\n");
}

const char *xpu_sim_report(xpu_sim_events *events, const xpu_sim_core_report *cores, unsigned core_count,
                           const xpu_sim_queue_report *queues, unsigned queue_count) {
    if (!events->state_text) events->state_text = malloc(STATE_BYTES);
    if (!events->state_text) return "";
    writer w = {events, events->state_text, 0};
    w.text[0] = 0;
    for (unsigned i = 0; i < core_count; i++) add_core(&w, &cores[i], i);
    for (unsigned i = 0; i < queue_count; i++) add_queue(&w, &queues[i]);
    add(&w, "counters:");
    for (unsigned i = 0; i < XPU_COUNTERS; i++)
        if (events->counters[i]) add(&w, " %u=%" PRIu32, i, events->counters[i]);
    add(&w, "\n");
    for (size_t i = 0; i < events->ticket_count && i < MAX_TICKETS_SHOWN; i++)
        add(&w, "layer %" PRIu32 " is complete at counter %" PRIu32 " >= %" PRIu32 "\n", events->tickets[i].layer,
            events->tickets[i].counter, events->tickets[i].value);
    return events->state_text;
}
