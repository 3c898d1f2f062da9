/* The state of the chip as text, for fault reports: why nothing goes on is to be seen from it. */
#include "sim/func/report/chip.h"

#include "sim/func/queues.h"
#include "sim/func/report/text.h"

static xpu_sim_core_report core_report(const xpu_func *func, unsigned core) {
    const xpu_func_core_state *state = &func->core_state[core];
    const xpu_hart *hart = &func->harts[core];
    xpu_sim_core_report report = {.pc = hart->pc,
                                  .layer = state->layer >> 16,
                                  .instructions = hart->instret,
                                  .fault = hart->fault.cause,
                                  .halted = state->idle};
    if (func->events.host_call && core == 0)
        report.stalled = XPU_REG_HOST_CALL;
    else if (state->stall_address)
        report.stalled = state->stall_address - XPU_REGS_BASE;
    if (report.stalled - XPU_REG_WAIT < XPU_REG_WAIT_STRIDE * XPU_COUNTERS)
        report.stalled_value = state->wait_value[(report.stalled - XPU_REG_WAIT) / XPU_REG_WAIT_STRIDE];
    return report;
}

void xpu_func_describe(xpu_func *func) {
    xpu_sim_core_report cores[XPU_MAX_CORES];
    xpu_sim_queue_report queues[XPU_ENGINES * XPU_MAX_CORES];
    unsigned count = 0;
    for (unsigned core = 0; core < func->chip.cores; core++) cores[core] = core_report(func, core);
    for (unsigned engine = 0; engine < xpu_chip_engines(&func->chip); engine++)
        for (unsigned core = 0; core < func->chip.cores; core++) {
            const xpu_func_queue *queue = &func->queues[engine][core];
            const xpu_func_list *list = &queue->lists[queue->first];
            xpu_sim_queue_report *q = &queues[count];
            if (queue->count == 0) continue;
            *q = (xpu_sim_queue_report){engine, core, queue->count, list->done, list->count, 0, NULL};
            q->head = xpu_func_queue_head(func, queue, &q->address);
            count++;
        }
    func->fault.state = xpu_sim_report(&func->events, cores, func->chip.cores, queues, count);
}
