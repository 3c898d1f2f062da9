/* The state of the Verilated chip as text, for fault reports. */
#include "sim/harness/harness.h"

void xpu_rtl_describe(xpurt_device *device, const xpu_model_state *state) {
    xpu_sim_core_report cores[XPU_MAX_CORES];
    for (unsigned core = 0; core < device->chip.cores; core++) {
        int fault = state->core[core].fault;
        cores[core] = (xpu_sim_core_report){.pc = fault ? state->core[core].fault_pc : state->core[core].pc,
                                            .layer = state->core[core].layer >> 16,
                                            .instructions = state->core[core].instructions,
                                            .fault = fault ? (xpu_fault_cause)state->core[core].cause : XPU_FAULT_NONE,
                                            .halted = state->core[core].halted,
                                            .stalled = state->core[core].stalled,
                                            .stalled_value = state->core[core].stalled_value};
    }
    device->fault.state = xpu_sim_report(&device->events, cores, device->chip.cores, NULL, 0);
}
