/* Registers of the functional chip. */
#include "sim/func/registers.h"

#include <string.h>

#include "sim/func/queues.h"
#include "sim/func/races.h"

void xpu_func_registers_reset(xpu_func *func) {
    memset(func->core_state, 0, sizeof func->core_state);
    memset(func->queues, 0, sizeof func->queues);
    memset(func->next_queue, 0, sizeof func->next_queue);
    func->seed = func->draws = func->start_seed;
    func->watchdog_limit = XPU_WATCHDOG_CYCLES;
    xpu_sim_events_reset(&func->events);
    func->next_core = 0;
    func->progress = 1;
}

/* A core arrives; it goes on when all have, the others when they try again. */
static xpu_bus_result barrier(xpu_func *func, unsigned core) {
    xpu_func_core_state *state = &func->core_state[core];
    if (state->barrier_open) {
        state->barrier_open = 0;
        return XPU_BUS_OK;
    }
    if (!state->at_barrier) {
        func->progress = 1;
        if (func->races) xpu_races_barrier_reach(func->races, core);
    }
    state->at_barrier = 1;
    for (unsigned i = 0; i < func->chip.cores; i++)
        if (!func->core_state[i].at_barrier) return XPU_BUS_STALL;
    if (func->races) xpu_races_barrier_open(func->races);
    for (unsigned i = 0; i < func->chip.cores; i++) {
        func->core_state[i].at_barrier = 0;
        func->core_state[i].barrier_open = i != core;
    }
    return XPU_BUS_OK;
}

static xpu_bus_result fault(uint32_t *value, xpu_fault_cause why) {
    *value = why;
    return XPU_BUS_FAULT;
}

static xpu_bus_result ticket_add(xpu_func *func, uint32_t *layer) {
    const xpu_func_core_state *state = &func->core_state[0];
    switch (xpu_sim_ticket_add(&func->events, state->ticket_counter, state->ticket_value, *layer)) {
    case XPU_TICKET_REFUSED: return fault(layer, XPU_FAULT_TICKETS);
    case XPU_TICKET_TRUE: func->progress = 1; return XPU_BUS_STOP;
    case XPU_TICKET_KEPT: break;
    }
    func->progress = 1;
    return XPU_BUS_OK;
}

/* Whether `offset` is one of the `count` registers from `base` on; its index. */
static int in_array(uint32_t offset, uint32_t base, uint32_t count, uint32_t stride, uint32_t *index) {
    uint32_t distance = offset - base;
    *index = distance / stride;
    return distance < count * stride && distance % stride == 0;
}

static uint32_t lists_of(const xpu_func *func, unsigned engine, unsigned core) {
    return func->queues[engine][core].count;
}

/* Registers that hold a plain number. */
static int load_plain(const xpu_func *func, const xpu_func_core_state *state, uint32_t offset, uint32_t *value) {
    const xpu_chip *chip = &func->chip;
    switch (offset) {
    case XPU_REG_LAYER: *value = state->layer; return 1;
    case XPU_REG_TICKET_COUNTER: *value = state->ticket_counter; return 1;
    case XPU_REG_TICKET_VALUE: *value = state->ticket_value; return 1;
    case XPU_REG_WATCHDOG_LIMIT: *value = func->watchdog_limit; return 1;
    case XPU_REG_ABI_HASH: *value = xpu_chip_abi_hash(chip); return 1;
    case XPU_REG_SEED: *value = func->seed; return 1;
    case XPU_REG_CORES: *value = chip->cores; return 1;
    case XPU_REG_LM_BYTES: *value = chip->lm_bytes; return 1;
    case XPU_REG_SM_BYTES: *value = chip->sm_bytes; return 1;
    case XPU_REG_L3_BYTES: *value = chip->l3_bytes; return 1;
    case XPU_REG_GM_BYTES: *value = chip->gm_bytes; return 1;
    case XPU_REG_ARRAY_ROWS: *value = chip->array_rows; return 1;
    case XPU_REG_ARRAY_COLUMNS: *value = chip->array_columns; return 1;
    case XPU_REG_ACC_ROWS: *value = chip->acc_rows; return 1;
    default: return 0;
    }
}

xpu_bus_result xpu_func_load_register(void *context, uint32_t address, uint32_t *value) {
    const xpu_func_port *port = context;
    xpu_func *func = port->func;
    xpu_func_core_state *state = &func->core_state[port->core];
    uint32_t offset = address - XPU_REGS_BASE, i;
    state->stall_address = address;
    if (in_array(offset, XPU_REG_COUNTER, XPU_COUNTERS, 4, &i)) {
        *value = func->events.counters[i];
    } else if (in_array(offset, XPU_REG_WAIT_VALUE, XPU_COUNTERS, 4, &i)) {
        *value = state->wait_value[i];
    } else if (in_array(offset, XPU_REG_WAIT, XPU_COUNTERS, 4, &i)) {
        if ((int32_t)(func->events.counters[i] - state->wait_value[i]) < 0) return XPU_BUS_STALL;
        *value = func->events.counters[i];
        if (func->races) xpu_races_wait(func->races, port->core, i, state->wait_value[i]);
    } else if (in_array(offset, XPU_REG_DOORBELL_ADDRESS, xpu_chip_engines(&func->chip), 16, &i)) {
        *value = state->doorbell_address[i];
    } else if (in_array(offset, XPU_REG_DOORBELL_STATUS, xpu_chip_engines(&func->chip), 16, &i)) {
        *value = lists_of(func, i, port->core);
    } else if (offset == XPU_REG_BARRIER) {
        if (barrier(func, port->core) == XPU_BUS_STALL) return XPU_BUS_STALL;
        *value = 0;
    } else if (!load_plain(func, state, offset, value)) {
        return fault(value, XPU_FAULT_ADDRESS);
    }
    state->stall_address = 0;
    return XPU_BUS_OK;
}

static xpu_bus_result doorbell(const xpu_func_port *port, unsigned engine, uint32_t *value) {
    uint32_t count = *value;
    xpu_func *func = port->func;
    xpu_func_core_state *state = &func->core_state[port->core];
    if (count == 0 || port->core >= xpu_chip_queues(&func->chip, engine) || state->doorbell_address[engine] % 4 != 0)
        return fault(value, XPU_FAULT_DOORBELL);
    if (!xpu_func_queue_push(func, engine, port->core, state->doorbell_address[engine], count)) return XPU_BUS_STALL;
    func->progress = 1;
    state->stall_address = 0;
    return XPU_BUS_OK;
}

static xpu_bus_result store_counter(xpu_func *func, unsigned core, uint32_t counter, uint32_t value) {
    if (func->races) xpu_races_signal(func->races, core, func->harts[core].pc, counter, value);
    xpu_func_counter_add(func, counter, value);
    return func->events.ticket_count && xpu_sim_ticket_ready(&func->events) ? XPU_BUS_STOP : XPU_BUS_OK;
}

/* Registers that only core 0 writes and that end its turn. */
static xpu_bus_result store_core0(xpu_func *func, unsigned core, uint32_t offset, uint32_t *value) {
    if (core != 0) return fault(value, XPU_FAULT_ADDRESS);
    if (offset == XPU_REG_TICKET_LAYER) return ticket_add(func, value);
    func->progress = 1;
    if (offset == XPU_REG_EXIT) {
        if (func->races) xpu_races_exit(func->races);
        func->events.ended = 1;
        func->events.exit_status = *value;
    } else {
        func->events.host_call = 1;
        func->events.host_address = *value;
    }
    return XPU_BUS_STOP;
}

xpu_bus_result xpu_func_store_register(void *context, uint32_t address, uint32_t *value) {
    const xpu_func_port *port = context;
    xpu_func *func = port->func;
    xpu_func_core_state *state = &func->core_state[port->core];
    uint32_t offset = address - XPU_REGS_BASE, i;
    state->stall_address = address;
    if (in_array(offset, XPU_REG_DOORBELL_COUNT, xpu_chip_engines(&func->chip), 16, &i))
        return doorbell(port, i, value);
    state->stall_address = 0;
    if (in_array(offset, XPU_REG_COUNTER, XPU_COUNTERS, 4, &i)) return store_counter(func, port->core, i, *value);
    if (in_array(offset, XPU_REG_WAIT_VALUE, XPU_COUNTERS, 4, &i)) {
        state->wait_value[i] = *value;
        return XPU_BUS_OK;
    }
    if (in_array(offset, XPU_REG_DOORBELL_ADDRESS, xpu_chip_engines(&func->chip), 16, &i)) {
        state->doorbell_address[i] = *value;
        return XPU_BUS_OK;
    }
    switch (offset) {
    case XPU_REG_LAYER:
        state->layer = *value;
        if (func->races) xpu_races_layer(func->races, port->core, *value >> 16);
        return XPU_BUS_OK;
    case XPU_REG_TICKET_COUNTER:
        if (*value >= XPU_COUNTERS) return fault(value, XPU_FAULT_ADDRESS);
        state->ticket_counter = *value;
        return XPU_BUS_OK;
    case XPU_REG_TICKET_VALUE: state->ticket_value = *value; return XPU_BUS_OK;
    case XPU_REG_WATCHDOG: func->alive = 1; return XPU_BUS_OK;
    case XPU_REG_WATCHDOG_LIMIT: func->watchdog_limit = *value; return XPU_BUS_OK;
    case XPU_REG_SEED: func->seed = func->draws = *value; return XPU_BUS_OK;
    case XPU_REG_ABORT: func->events.abort_code = *value; return fault(value, XPU_FAULT_ABORT);
    case XPU_REG_PUTCHAR:
        if (func->events.put) func->events.put(func->events.put_context, (char)*value);
        return XPU_BUS_OK;
    case XPU_REG_TICKET_LAYER:
    case XPU_REG_EXIT:
    case XPU_REG_HOST_CALL: return store_core0(func, port->core, offset, value);
    default: return fault(value, XPU_FAULT_ADDRESS);
    }
}
