/* Making the functional chip, and starting a program on it. */
#include "sim/func/setup.h"

#include <stdlib.h>
#include <string.h>

#include "sim/func/core.h"
#include "sim/func/matmul.h"
#include "sim/func/memory.h"
#include "sim/func/races.h"
#include "sim/func/registers.h"
#include "sim/func/rows.h"
#include "sim/func/tensor.h"

static void observe(void *context, uint32_t address, uint32_t bytes, int store) {
    const xpu_func_port *port = context;
    const xpu_func *func = port->func;
    if (address - XPU_LM_BASE < XPU_LM_ALIAS_STRIDE)
        address += XPU_LM_ALL_BASE - XPU_LM_BASE + port->core * XPU_LM_ALIAS_STRIDE;
    if (func->races) xpu_races_core(func->races, port->core, func->harts[port->core].pc, address, bytes, store);
    if (func->debugger) func->debugger->access(func->debugger_context, address, bytes, store);
}

static void observe_fence(void *context) {
    const xpu_func_port *port = context;
    xpu_races_fence(port->func->races, port->core);
}

int xpu_func_open(xpu_func *func, int check_races) {
    const xpu_chip *chip = &func->chip;
    size_t accumulators = (size_t)chip->acc_rows * chip->array_columns;
    if (xpu_func_memory_create(func)) return -1;
    for (unsigned i = 0; i < chip->acc_banks; i++)
        if (!(func->banks[i] = calloc(accumulators, sizeof(int64_t)))) return -1;
    func->harts = aligned_alloc(64, (sizeof(xpu_hart) * chip->cores + 63) / 64 * 64);
    func->scratch = aligned_alloc(64, (xpu_func_tensor_scratch() + 63) / 64 * 64);
    func->code = xpu_code_new(XPU_GM_BASE, chip->gm_bytes, xpu_func_host(func, XPU_GM_BASE));
    if (check_races && !(func->races = xpu_races_new(chip->cores))) return -1;
    if (!func->harts || !func->scratch || !func->code) return -1;
    memset(func->harts, 0, sizeof(xpu_hart) * chip->cores);
    memset(func->scratch, 0, xpu_func_tensor_scratch());
    func->matmul = xpu_matmul_best();
    func->rows = xpu_rows_best();
    for (unsigned core = 0; core < chip->cores; core++) {
        func->ports[core] = (xpu_func_port){func, core};
        func->buses[core] = (xpu_core_bus){.context = &func->ports[core],
                                           .load = xpu_func_load_register,
                                           .store = xpu_func_store_register,
                                           .observe = observe,
                                           .fence = func->races ? observe_fence : NULL};
    }
    xpu_func_registers_reset(func);
    return 0;
}

void xpu_func_close(xpu_func *func) {
    xpu_func_memory_destroy(func);
    xpu_code_free(func->code);
    for (unsigned i = 0; i < sizeof func->banks / sizeof *func->banks; i++) free(func->banks[i]);
    free(func->harts);
    free(func->scratch);
    xpu_races_free(func->races);
    if (func->debugger) func->debugger->release(func->debugger_context);
    xpu_sim_events_release(&func->events);
}

void xpu_func_counters(const xpu_func *func, xpurt_counters *totals) {
    *totals = func->totals;
    for (unsigned core = 0; func->started && core < func->chip.cores; core++) {
        const xpu_hart *hart = &func->harts[core];
        totals->instructions[core] += hart->instret;
        for (unsigned i = 1; i <= hart->range_count; i++) {
            if (hart->ranges[i].base != XPU_GM_BASE) continue;
            totals->gm_read_bytes += hart->ranges[i].bytes[0];
            totals->gm_write_bytes += hart->ranges[i].bytes[1];
        }
    }
}

static int start_core(xpu_func *func, unsigned core, uint32_t entry) {
    const xpu_chip *chip = &func->chip;
    xpu_core_range ranges[XPU_CORE_RANGES];
    unsigned count = 0;
    const struct {
        uint32_t base, size;
    } shared[] = {{XPU_SM_BASE, chip->sm_bytes}, {XPU_L3_BASE, chip->l3_bytes}, {XPU_GM_BASE, chip->gm_bytes}};
    uint32_t own = XPU_LM_ALL_BASE + core * XPU_LM_ALIAS_STRIDE;
    ranges[count++] = (xpu_core_range){XPU_LM_BASE, chip->lm_bytes, xpu_func_host(func, own), 1, {0, 0}};
    for (unsigned i = 0; i < chip->cores; i++) {
        uint32_t base = XPU_LM_ALL_BASE + i * XPU_LM_ALIAS_STRIDE;
        ranges[count++] = (xpu_core_range){base, chip->lm_bytes, xpu_func_host(func, base), 1, {0, 0}};
    }
    for (unsigned i = 0; i < sizeof shared / sizeof *shared; i++)
        ranges[count++] =
            (xpu_core_range){shared[i].base, shared[i].size, xpu_func_host(func, shared[i].base), 1, {0, 0}};
    return xpu_hart_init(&func->harts[core], core, chip->cores, &func->buses[core], ranges, count, func->code, entry);
}

int xpu_func_start(xpu_func *func, uint32_t entry) {
    xpu_func_counters(func, &func->totals);
    func->started = 0;
    xpu_func_registers_reset(func);
    if (func->races) xpu_races_reset(func->races);
    memset(&func->fault, 0, sizeof func->fault);
    func->engine_cycles = 0;
    for (unsigned core = 0; core < func->chip.cores; core++)
        if (!start_core(func, core, entry)) return -1;
    for (unsigned core = 0; core < func->chip.cores; core++) xpu_hart_observe(&func->harts[core], func->races != NULL);
    if (func->debugger) func->debugger->start(func->debugger_context);
    func->started = 1;
    return 0;
}
