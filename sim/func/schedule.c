/* The schedule of the functional chip: turns of cores and engines, faults, events. */
#include "sim/func/schedule.h"

#include <stdio.h>
#include <string.h>

#include "sim/func/core.h"
#include "sim/func/engine.h"
#include "sim/func/memory.h"
#include "sim/func/races.h"

enum { QUANTUM = 50000, MAX_ROUNDS = 200 }; /* QUANTUM: instructions of one turn of a core */

/* ---- Faults ---- */

static void core_fault(xpu_func *func, unsigned core, xpu_fault_cause cause, const char *reason) {
    const xpu_hart *hart = &func->harts[core];
    func->fault = (xpurt_fault){.cause = cause,
                                .cause_text = xpu_fault_text(cause),
                                .core = (int)core,
                                .engine = -1,
                                .pc = hart->pc,
                                .layer = func->core_state[core].layer >> 16,
                                .code = func->events.abort_code,
                                .reason = func->reason};
    if (hart->fault.cause != XPU_FAULT_NONE) {
        func->fault.pc = hart->fault.pc;
        func->fault.instruction = hart->fault.word;
        func->fault.address = hart->fault.address;
    }
    snprintf(func->reason, sizeof func->reason, "%s", reason);
}

/* Nothing can go on; what everything waits for stands in the state text. */
static void dead_lock(xpu_func *func) {
    core_fault(func, 0, XPU_FAULT_DEADLOCK, xpu_sim_cause_reason(XPU_FAULT_DEADLOCK));
    func->fault.core = -1;
}

/* ---- Schedule ---- */

/* Reports a time-out when a core has run for too long without progress, or has put it off for too long. */
static void check_watchdog(xpu_func *func, unsigned core) {
    const uint64_t limit = func->watchdog_limit;
    for (unsigned i = 0; i < func->chip.cores && (func->progress || func->alive); i++) {
        func->core_state[i].instructions_at_progress = func->harts[i].instret;
        if (func->progress) func->core_state[i].instructions_at_signal = func->harts[i].instret;
    }
    func->progress = func->alive = 0;
    if (func->harts[core].instret - func->core_state[core].instructions_at_progress <= limit &&
        func->harts[core].instret - func->core_state[core].instructions_at_signal <= limit * XPU_WATCHDOG_STRETCH)
        return;
    core_fault(func, core, XPU_FAULT_TIMEOUT, "the core ran for WATCHDOG_LIMIT instructions without progress");
    const void *word = xpu_func_engine_memory(func, func->fault.pc, sizeof func->fault.instruction);
    if (word) memcpy(&func->fault.instruction, word, sizeof func->fault.instruction);
}

/* One turn of a core, then of the engines. Returns whether anything moved. */
static int turn(xpu_func *func, unsigned core, uint64_t budget, xpu_hart_reason *why) {
    xpu_hart *hart = &func->harts[core];
    xpu_func_core_state *state = &func->core_state[core];
    uint64_t before = hart->instret;
    *why = XPU_HART_IDLE;
    if (!state->idle) {
        *why = xpu_hart_run(hart, budget);
        state->idle = *why == XPU_HART_IDLE;
        if (*why == XPU_HART_FAULT) {
            core_fault(func, core, hart->fault.cause, xpu_sim_cause_reason(hart->fault.cause));
            return 1;
        }
    }
    func->spent += hart->instret - before;
    int moved = hart->instret != before || func->progress;
    if (!func->events.ended && !func->events.host_call && !xpu_sim_ticket_ready(&func->events) &&
        xpu_func_engines_run(func))
        moved = 1;
    check_watchdog(func, core);
    return moved;
}

/* Behind EXIT, for the race check: what cores and engines still do, which nobody waits for. */
static void run_rest(xpu_func *func) {
    for (int round = 0, moved = 1; moved && round < MAX_ROUNDS; round++) {
        moved = xpu_func_engines_run(func) != 0;
        for (unsigned core = 1; core < func->chip.cores; core++) {
            uint64_t before = func->harts[core].instret;
            if (func->core_state[core].idle) continue;
            func->core_state[core].idle = xpu_hart_run(&func->harts[core], QUANTUM) == XPU_HART_IDLE;
            moved |= func->harts[core].instret != before;
        }
    }
    memset(&func->fault, 0, sizeof func->fault);
}

/* The host learns of a layer: the ticket that xpu_sim_event_pending will take. */
static void observe_ticket(xpu_func *func) {
    const xpu_sim_events *events = &func->events;
    for (size_t i = 0; i < events->ticket_count; i++) {
        const xpu_sim_ticket *ticket = &events->tickets[i];
        if ((int32_t)(events->counters[ticket->counter] - ticket->value) < 0) continue;
        xpu_races_ticket(func->races, ticket->counter, ticket->value);
        return;
    }
}

static int pending(xpu_func *func, xpurt_event *event) {
    const int has_fault = func->fault.cause != XPU_FAULT_NONE;
    if (has_fault && !func->fault.state) func->describe(func);
    if (func->races && !has_fault) observe_ticket(func);
    return xpu_sim_event_pending(&func->events, has_fault ? &func->fault : NULL, event);
}

/* A turn's instructions; under a seed short and long ones. */
static uint64_t draw_quantum(xpu_func *func) {
    return func->seed ? 1 + xpu_func_draw(func, 2u << xpu_func_draw(func, 12)) : QUANTUM;
}

int xpu_func_run(xpu_func *func, uint64_t budget, xpurt_event *event) {
    const xpu_func_debugger *debugger = func->debugger;
    void *context = func->debugger_context;
    unsigned still = 0; /* turns in a row in which nothing moved */
    if (!func->started) return -1;
    func->budget = budget;
    func->spent = 0;
    func->exhausted = 0;
    while (!pending(func, event)) {
        if (func->events.no_memory || (func->races && xpu_races_incomplete(func->races))) return -1;
        if (xpu_func_stopped(func)) {
            event->kind = XPURT_EVENT_STOPPED;
            return 0;
        }
        uint64_t used = func->spent + func->engine_cycles;
        if (func->exhausted || (budget && used >= budget)) return 0;
        uint64_t quantum = draw_quantum(func);
        if (budget && budget - used < quantum) quantum = budget - used;
        unsigned core = func->next_core;
        xpu_hart_reason why;
        if (debugger) debugger->before(context, &core, &quantum);
        if (func->fault.cause != XPU_FAULT_NONE || (debugger && xpu_func_stopped(func))) continue;
        func->next_core = (core + 1) % func->chip.cores;
        int moved = turn(func, core, quantum, &why);
        still = moved ? 0 : still + 1;
        if (debugger) debugger->after(context, core, why, moved);
        if (func->events.host_call || func->events.ended) func->next_core = core;
        if (still > func->chip.cores && !func->exhausted && func->fault.cause == XPU_FAULT_NONE &&
            (!debugger || debugger->runs_all(context)))
            dead_lock(func);
        if (debugger && (func->events.ended || func->fault.cause != XPU_FAULT_NONE)) debugger->end(context);
        if (func->races && func->events.ended && func->fault.cause == XPU_FAULT_NONE) run_rest(func);
    }
    return 0;
}
