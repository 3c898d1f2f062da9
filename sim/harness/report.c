/* The state of the Verilated chip as text, for fault reports. */
#include "sim/harness/harness.h"

#include "sim/func/report/text.h"

void xpu_rtl_describe(xpurt_device *device, const xpu_model_state *state) {
    xpu_sim_core_report cores[XPU_MAX_CORES];
    xpu_sim_queue_report queues[XPU_ENGINES * XPU_MAX_CORES];
    unsigned count = 0;
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
    for (unsigned engine = 0; engine < xpu_chip_engines(&device->chip); engine++)
        for (unsigned core = 0; core < xpu_chip_queues(&device->chip, engine); core++) {
            xpu_model_queue from = xpu_model_look_queue(device->model, engine, core);
            uint32_t done = from.count - from.left;
            uint64_t address = from.address + (uint64_t)done * XPU_DESC_BYTES;
            if (!from.lists) continue;
            const uint8_t *words = xpu_rtl_memory(device, address, XPU_DESC_BYTES);
            queues[count++] = (xpu_sim_queue_report){
                engine, core, from.lists, done, from.count, address, (const uint32_t *)(const void *)words};
        }
    device->fault.state = xpu_sim_report(&device->events, cores, device->chip.cores, queues, count);
}
