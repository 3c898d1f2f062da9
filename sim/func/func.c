/* The functional chip as a device: making it, its schedule, events and reports. */
#include "sim/func/func.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sim/func/driver.h"
#include "sim/func/matmul.h"

enum { QUANTUM = 50000, MAX_ROUNDS = 200 }; /* QUANTUM: instructions of one turn of a core */

/* The public device is the chip itself. */
struct xpurt_device {
    xpu_func func;
};

static xpu_func_options configured;

void xpu_func_configure(const xpu_func_options *options) {
    configured = *options;
}

xpu_func *xpu_func_of(xpurt_device *device) {
    return &device->func;
}

static void release(xpu_func *func) {
    xpu_func_memory_destroy(func);
    xpu_code_free(func->code);
    for (unsigned i = 0; i < sizeof func->banks / sizeof *func->banks; i++) free(func->banks[i]);
    free(func->harts);
    free(func->scratch);
    xpu_races_free(func->races);
    xpu_gdb_free(func->gdb);
    xpu_sim_events_release(&func->events);
}

static void destroy(xpurt_device *device) {
    if (!device) return;
    release(&device->func);
    free(device);
}

static void observe(void *context, uint32_t address, uint32_t bytes, int store) {
    const xpu_func_port *port = context;
    const xpu_func *func = port->func;
    if (address - XPU_LM_BASE < XPU_LM_ALIAS_STRIDE)
        address += XPU_LM_ALL_BASE - XPU_LM_BASE + port->core * XPU_LM_ALIAS_STRIDE;
    if (func->races) xpu_races_core(func->races, port->core, func->harts[port->core].pc, address, bytes, store);
    if (func->gdb) xpu_gdb_access(func->gdb, address, bytes, store);
}

static void observe_fence(void *context) {
    const xpu_func_port *port = context;
    xpu_races_fence(port->func->races, port->core);
}

static int set_up(xpu_func *func) {
    const xpu_chip *chip = &func->chip;
    size_t accumulators = (size_t)chip->acc_rows * chip->array_columns;
    if (xpu_func_memory_create(func)) return -1;
    for (unsigned i = 0; i < chip->acc_banks; i++)
        if (!(func->banks[i] = calloc(accumulators, sizeof(int64_t)))) return -1;
    func->harts = aligned_alloc(64, (sizeof(xpu_hart) * chip->cores + 63) / 64 * 64);
    func->scratch = aligned_alloc(64, (xpu_func_tensor_scratch() + 63) / 64 * 64);
    func->code = xpu_code_new(XPU_GM_BASE, chip->gm_bytes, xpu_func_host(func, XPU_GM_BASE));
    if (configured.check_races && !(func->races = xpu_races_new(chip->cores))) return -1;
    if (!func->harts || !func->scratch || !func->code) return -1;
    memset(func->harts, 0, sizeof(xpu_hart) * chip->cores);
    memset(func->scratch, 0, xpu_func_tensor_scratch());
    func->matmul = xpu_matmul_best();
    for (unsigned core = 0; core < chip->cores; core++) {
        func->ports[core] = (xpu_func_port){func, core};
        func->buses[core] = (xpu_core_bus){.context = &func->ports[core],
                                           .load = xpu_func_load_register,
                                           .store = xpu_func_store_register,
                                           .observe = observe,
                                           .fence = func->races ? observe_fence : NULL};
    }
    return 0;
}

static int listen_for_gdb(xpu_func *func, xpu_diags *diags) {
    char why[80];
    func->gdb = xpu_gdb_listen(func, configured.gdb_port);
    if (func->gdb) return 1;
    snprintf(why, sizeof why, "port %u of 127.0.0.1: %s", configured.gdb_port, strerror(errno));
    xpu_error(diags, XPU_EIO, NULL, "device-gdb", NULL, "gdb cannot be waited for", why, "choose another port");
    return 0;
}

static xpurt_device *create(const xpu_chip *chip, xpu_diags *diags) {
    xpurt_device *device = calloc(1, sizeof *device);
    if (!device) {
        xpu_error_oom(diags);
        return NULL;
    }
    device->func.chip = *chip;
    if (set_up(&device->func) == 0) {
        xpu_func_registers_reset(&device->func);
        if (!configured.gdb_port || listen_for_gdb(&device->func, diags)) return device;
        destroy(device);
        return NULL;
    }
    destroy(device);
    xpu_error(diags, XPU_EIO, NULL, "device-memory", NULL, "the functional chip cannot be set up",
              "the host has no room for 4 GiB of address space and the chip's buffers",
              "free memory or raise the limit of the address space (ulimit -v)");
    return NULL;
}

/* The host's accesses between start and end of a program. */
static void observe_host(xpu_func *func, uint64_t address, size_t length, int write) {
    if (func->races && func->started) xpu_races_host(func->races, func->events.host_call, address, length, write);
}

static int write_memory(xpurt_device *device, uint64_t address, const void *bytes, size_t length) {
    if (length == 0) return 0;
    uint8_t *to = xpu_func_engine_memory(&device->func, address, length);
    if (!to) return -1;
    observe_host(&device->func, address, length, 1);
    memcpy(to, bytes, length);
    if (address >= XPU_GM_BASE) xpu_code_invalidate(device->func.code, (uint32_t)address, (uint32_t)length);
    return 0;
}

static int read_memory(xpurt_device *device, uint64_t address, void *bytes, size_t length) {
    if (length == 0) return 0;
    const uint8_t *from = xpu_func_engine_memory(&device->func, address, length);
    if (!from) return -1;
    observe_host(&device->func, address, length, 0);
    memcpy(bytes, from, length);
    return 0;
}

static int map_memory(xpurt_device *device, uint64_t address, int file, uint64_t offset, size_t length) {
    if (xpu_func_memory_map(&device->func, address, file, offset, length)) return -1;
    xpu_code_invalidate(device->func.code, (uint32_t)address, (uint32_t)length);
    return 0;
}

static void set_output(xpurt_device *device, void (*put)(void *context, char byte), void *context) {
    device->func.events.put = put;
    device->func.events.put_context = context;
}

/* What the harts have counted goes into the totals. */
static void collect(const xpu_func *func, xpurt_counters *totals) {
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

static void counters(const xpurt_device *device, xpurt_counters *totals) {
    collect(&device->func, totals);
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

static int start(xpurt_device *device, uint32_t entry) {
    xpu_func *func = &device->func;
    collect(func, &func->totals);
    func->started = 0;
    xpu_func_registers_reset(func);
    if (func->races) xpu_races_reset(func->races);
    memset(&func->fault, 0, sizeof func->fault);
    func->engine_cycles = 0;
    for (unsigned core = 0; core < func->chip.cores; core++)
        if (!start_core(func, core, entry)) return -1;
    for (unsigned core = 0; core < func->chip.cores; core++) xpu_hart_observe(&func->harts[core], func->races != NULL);
    if (func->gdb) xpu_gdb_start(func->gdb);
    func->started = 1;
    return 0;
}

static void set_seed(xpurt_device *device, uint32_t seed) {
    device->func.start_seed = seed;
}

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
    if (has_fault && !func->fault.state) xpu_func_describe(func);
    if (func->races && !has_fault) observe_ticket(func);
    return xpu_sim_event_pending(&func->events, has_fault ? &func->fault : NULL, event);
}

/* A turn's instructions; under a seed short and long ones. */
static uint64_t draw_quantum(xpu_func *func) {
    return func->seed ? 1 + xpu_func_draw(func, 2u << xpu_func_draw(func, 12)) : QUANTUM;
}

static int run(xpurt_device *device, uint64_t budget, xpurt_event *event) {
    xpu_func *func = &device->func;
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
        if (func->gdb) xpu_gdb_before(func->gdb, &core, &quantum);
        if (func->fault.cause != XPU_FAULT_NONE || (func->gdb && xpu_func_stopped(func))) continue;
        func->next_core = (core + 1) % func->chip.cores;
        int moved = turn(func, core, quantum, &why);
        still = moved ? 0 : still + 1;
        if (func->gdb) xpu_gdb_after(func->gdb, core, why, moved);
        if (func->events.host_call || func->events.ended) func->next_core = core;
        if (still > func->chip.cores && !func->exhausted && func->fault.cause == XPU_FAULT_NONE &&
            (!func->gdb || xpu_gdb_runs_all(func->gdb)))
            dead_lock(func);
        if (func->gdb && (func->events.ended || func->fault.cause != XPU_FAULT_NONE)) xpu_gdb_end(func->gdb);
        if (func->races && func->events.ended && func->fault.cause == XPU_FAULT_NONE) run_rest(func);
    }
    return 0;
}

static void set_stop(xpurt_device *device, int (*stop)(void *context), void *context) {
    device->func.stop = stop;
    device->func.stop_context = context;
}

static void position(const xpurt_device *device, xpurt_position *position) {
    const xpu_func *func = &device->func;
    *position = (xpurt_position){.cores = func->chip.cores};
    for (unsigned core = 0; core < func->chip.cores; core++) {
        position->core[core].pc = func->harts[core].pc;
        position->core[core].layer = func->core_state[core].layer >> 16;
    }
}

static int answer(xpurt_device *device) {
    if (!device->func.events.host_call) return -1;
    device->func.events.host_call = 0;
    device->func.progress = 1;
    return 0;
}

static int get_race(const xpurt_device *device, size_t index, xpurt_race *race) {
    return device->func.races && xpu_races_get(device->func.races, index, race);
}

const xpurt_device_driver xpu_func_driver = {
    .version = XPURT_DEVICE_VERSION,
    .name = "func",
    .about = "the functional chip: exact results, no timing",
    .create = create,
    .destroy = destroy,
    .write = write_memory,
    .read = read_memory,
    .map = map_memory,
    .output = set_output,
    .start = start,
    .seed = set_seed,
    .run = run,
    .stop = set_stop,
    .position = position,
    .answer = answer,
    .counters = counters,
    .race = get_race,
};
