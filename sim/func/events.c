/* Tickets, events and fault reports of simulated chips. */
#include "sim/func/events.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_BYTES = 16384, MAX_TICKETS_SHOWN = 8 };

void xpu_sim_events_reset(xpu_sim_events *events) {
    memset(events->counters, 0, sizeof events->counters);
    events->ticket_count = 0;
    events->ended = events->host_call = 0;
    events->exit_status = events->host_address = events->abort_code = 0;
}

void xpu_sim_events_release(xpu_sim_events *events) {
    free(events->tickets);
    free(events->state_text);
}

/* ---- Tickets ---- */

static int holds(const xpu_sim_events *events, uint32_t counter, uint32_t value) {
    return (int32_t)(events->counters[counter] - value) >= 0;
}

static int is_true(const xpu_sim_events *events, const xpu_sim_ticket *ticket) {
    return holds(events, ticket->counter, ticket->value);
}

xpu_sim_ticket_state xpu_sim_ticket_add(xpu_sim_events *events, uint32_t counter, uint32_t value, uint32_t layer) {
    if (events->ticket_count == XPU_TICKETS) return XPU_TICKET_REFUSED;
    if (events->ticket_count == events->ticket_capacity) {
        size_t capacity = events->ticket_capacity ? 2 * events->ticket_capacity : 64;
        xpu_sim_ticket *grown = realloc(events->tickets, capacity * sizeof *grown);
        if (!grown) {
            events->no_memory = 1;
            return XPU_TICKET_TRUE;
        }
        events->tickets = grown;
        events->ticket_capacity = capacity;
    }
    events->tickets[events->ticket_count++] = (xpu_sim_ticket){counter, value, layer};
    return is_true(events, &events->tickets[events->ticket_count - 1]) ? XPU_TICKET_TRUE : XPU_TICKET_KEPT;
}

int xpu_sim_ticket_ready(const xpu_sim_events *events) {
    for (size_t i = 0; i < events->ticket_count; i++)
        if (is_true(events, &events->tickets[i])) return 1;
    return 0;
}

int xpu_sim_ticket_counter_ready(const xpu_sim_events *events, uint32_t counter) {
    for (size_t i = 0; i < events->ticket_count; i++)
        if (events->tickets[i].counter == counter && is_true(events, &events->tickets[i])) return 1;
    return 0;
}

static int take_ticket(xpu_sim_events *events, uint32_t *layer) {
    for (size_t i = 0; i < events->ticket_count; i++) {
        if (!is_true(events, &events->tickets[i])) continue;
        *layer = events->tickets[i].layer;
        events->ticket_count--;
        memmove(&events->tickets[i], &events->tickets[i + 1], (events->ticket_count - i) * sizeof *events->tickets);
        return 1;
    }
    return 0;
}

int xpu_sim_event_pending(xpu_sim_events *events, const xpurt_fault *fault, xpurt_event *event) {
    *event = (xpurt_event){.kind = XPURT_EVENT_BUDGET};
    if (fault) {
        event->kind = XPURT_EVENT_FAULT;
        event->fault = fault;
    } else if (take_ticket(events, &event->layer)) {
        event->kind = XPURT_EVENT_LAYER;
    } else if (events->ended) {
        event->kind = XPURT_EVENT_ENDED;
        event->status = events->exit_status;
    } else if (events->host_call) {
        event->kind = XPURT_EVENT_HOST_CALL;
        event->address = events->host_address;
    } else {
        return 0;
    }
    return 1;
}

/* ---- Reports ---- */

const char *xpu_sim_cause_reason(xpu_fault_cause cause) {
    switch (cause) {
#define X(name, text, doc)                                                                                             \
    case XPU_FAULT_##name: return doc;
        XPU_FAULT_CAUSES(X)
#undef X
    default: return "unknown";
    }
}

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
            if (counters[i] >= XPU_COUNTERS || holds(w->events, counters[i], values[i])) continue;
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
