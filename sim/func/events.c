/* Tickets and events of simulated chips. */
#include "sim/func/events.h"

#include <stdlib.h>
#include <string.h>

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

static int is_true(const xpu_sim_events *events, const xpu_sim_ticket *ticket) {
    return xpu_sim_counter_reached(events, ticket->counter, ticket->value);
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

/* ---- Faults ---- */

const char *xpu_sim_cause_reason(xpu_fault_cause cause) {
    switch (cause) {
#define X(name, text, doc)                                                                                             \
    case XPU_FAULT_##name: return doc;
        XPU_FAULT_CAUSES(X)
#undef X
    default: return "unknown";
    }
}

uint32_t xpu_sim_layer_of_tag(uint32_t before, uint32_t tag) {
    int32_t apart = (int16_t)(uint16_t)(tag - before);
    return before > UINT16_MAX / 2 ? before + (uint32_t)apart : tag;
}
