/*
 * What every simulated chip keeps for the runtime, and how it reports faults: used by the functional and by the
 * Verilated chip.
 */
#ifndef XPU_SIM_FUNC_EVENTS_H
#define XPU_SIM_FUNC_EVENTS_H

#include "core/chip.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpurt_device.h"

/* Layer `layer` is complete when `counter` reaches `value`. */
typedef struct {
    uint32_t counter, value, layer;
} xpu_sim_ticket;

typedef struct {
    uint32_t counters[XPU_COUNTERS];
    xpu_sim_ticket *tickets; /* announced, not complete */
    size_t ticket_count, ticket_capacity;
    int ended, host_call, no_memory;
    uint32_t exit_status, host_address, abort_code;
    void (*put)(void *context, char byte);
    void *put_context;
    char *state_text; /* of the last fault */
} xpu_sim_events;

/* Whether a counter has reached a value. */
static inline int xpu_sim_counter_reached(const xpu_sim_events *events, uint32_t counter, uint32_t value) {
    return (int32_t)(events->counters[counter] - value) >= 0;
}

/* For a start: no tickets, nothing has happened. */
void xpu_sim_events_reset(xpu_sim_events *events);
void xpu_sim_events_release(xpu_sim_events *events);

/* TRUE also without memory for it: then no_memory is set. REFUSED: XPU_TICKETS are kept already. */
typedef enum { XPU_TICKET_KEPT, XPU_TICKET_TRUE, XPU_TICKET_REFUSED } xpu_sim_ticket_state;
xpu_sim_ticket_state xpu_sim_ticket_add(xpu_sim_events *events, uint32_t counter, uint32_t value, uint32_t layer);

/* Whether a ticket has come true; counter_ready: whether one that waits for this counter has. */
int xpu_sim_ticket_ready(const xpu_sim_events *events);
int xpu_sim_ticket_counter_ready(const xpu_sim_events *events, uint32_t counter);

/* Fills in the event that ends a run, if there is one: `fault` (NULL: none), a layer, the end, a host call. */
int xpu_sim_event_pending(xpu_sim_events *events, const xpurt_fault *fault, xpurt_event *event);

/* The layer that a tag of 16 bits means behind layer `before`: layers come nearly in order. */
uint32_t xpu_sim_layer_of_tag(uint32_t before, uint32_t tag);

/* ---- Faults ---- */

/* What a cause means, one sentence. */
const char *xpu_sim_cause_reason(xpu_fault_cause cause);

#endif
