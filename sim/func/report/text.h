/* The state of a simulated chip as text. */
#ifndef XPU_SIM_FUNC_REPORT_TEXT_H
#define XPU_SIM_FUNC_REPORT_TEXT_H

#include "sim/func/events.h"

/* What the report says of a core. */
typedef struct {
    uint32_t pc, layer;
    uint64_t instructions;
    xpu_fault_cause fault;
    int halted;
    uint32_t stalled;       /* offset of the register that the core waits at, or 0 */
    uint32_t stalled_value; /* of a counter: what it waits for */
} xpu_sim_core_report;

/* The list at the head of a queue of an engine. */
typedef struct {
    unsigned engine, core, lists;
    uint32_t done, count; /* descriptors of the first list */
    uint64_t address;     /* of the descriptor that is next */
    const uint32_t *head; /* its words, or NULL */
} xpu_sim_queue_report;

/* The state of cores, queues, counters and tickets as text, kept in `events`; "" when there is no memory for it. */
const char *xpu_sim_report(xpu_sim_events *events, const xpu_sim_core_report *cores, unsigned core_count,
                           const xpu_sim_queue_report *queues, unsigned queue_count);

#endif
