/* The driver of the Verilated chip: memory, events, reports. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sim/func/engine.h"
#include "sim/func/memory.h"
#include "sim/harness/harness.h"

static _Thread_local xpurt_rtl_options next_options;

/* ---- What the chip calls while it runs ---- */

static void on_counter(void *context, unsigned counter, uint32_t value) {
    xpurt_device *device = context;
    device->events.counters[counter] = value;
    if (xpu_sim_ticket_counter_ready(&device->events, counter)) device->host.stop = 1;
}

static int on_ticket(void *context, unsigned counter, uint32_t value, uint32_t layer) {
    xpurt_device *device = context;
    xpu_sim_ticket_state state = xpu_sim_ticket_add(&device->events, counter, value, layer);
    if (state == XPU_TICKET_TRUE) device->host.stop = 1;
    return state != XPU_TICKET_REFUSED;
}

static void on_put(void *context, char byte) {
    const xpurt_device *device = context;
    if (device->events.put) device->events.put(device->events.put_context, byte);
}

/* The layer that a core is in, by its tag and by the layers that it was in before. */
static uint32_t layer_of(xpurt_device *device, const xpu_model_state *state, unsigned core) {
    return device->layers[core] = xpu_sim_layer_of_tag(device->layers[core], state->core[core].layer >> 16);
}

static uint32_t rtl_layer(void *context, unsigned core) {
    xpu_model_state state;
    xpu_model_look(((const xpurt_device *)context)->model, &state);
    return state.core[core].layer >> 16;
}

static void on_retire(void *context, const xpu_retired *retired) {
    xpurt_device *device = context;
    if (device->options.trace) {
        xpu_model_state state;
        xpu_model_look(device->model, &state);
        device->options.trace(device->options.context, retired->cycle, retired->core,
                              layer_of(device, &state, retired->core), retired->pc, retired->insn);
    }
    if (device->lockstep && !xpu_lockstep_retire(device->lockstep, retired)) device->host.stop = 1;
}

static void on_complete(void *context, unsigned engine, unsigned core, uint32_t descriptor, uint32_t layer,
                        uint32_t opcode, uint64_t cycles) {
    xpurt_device *device = context;
    uint32_t words[XPU_DESC_WORDS];
    const uint8_t *bytes = xpu_rtl_memory(device, descriptor, sizeof words);
    xpurt_completion completion = {.engine = engine,
                                   .core = core,
                                   .descriptor = descriptor,
                                   .layer = layer,
                                   .opcode = opcode,
                                   .begin = device->host.cycle - cycles,
                                   .end = device->host.cycle};
    if (bytes) {
        memcpy(words, bytes, sizeof words);
        xpu_rtl_bounds(&device->chip, words, &completion);
    }
    device->before.descriptors[engine]++;
    device->before.macs += completion.macs;
    if (device->observer.complete) device->observer.complete(device->observer.context, &completion);
    if (device->lockstep && !xpu_lockstep_complete(device->lockstep, &completion)) device->host.stop = 1;
}

/* ---- Making and memory ---- */

static void destroy(xpurt_device *device) {
    if (!device) return;
    xpu_model_free(device->model);
    xpu_lockstep_free(device->lockstep);
    xpu_func_memory_destroy(&device->memory);
    xpu_sim_events_release(&device->events);
    free(device);
}

static int fits(const xpu_chip *chip) {
    xpu_model_info info = xpu_model_about();
    uint32_t sm_rate = chip->sm_banks * chip->sm_bank_bytes;
    return info.abi_hash == xpu_chip_abi_hash(chip) && info.icache_bytes == chip->icache_bytes &&
           info.gm_entries >= chip->gm_outstanding && info.sm_banks * 64 == sm_rate * info.sm_hold &&
           info.l3_banks == chip->l3_banks && info.l3_entries >= chip->l3_latency &&
           info.weight_rows == chip->weight_rows && info.post_lanes == chip->post_lanes;
}

/* ---- What lock-step sees ---- */

static const uint8_t *rtl_memory(void *context, uint64_t address, uint64_t length) {
    return xpu_rtl_memory(context, address, length);
}

static const uint8_t *rtl_vectors(void *context, unsigned core) {
    return (const uint8_t *)xpu_model_vreg(((const xpurt_device *)context)->model, core);
}

static int make_lockstep(xpurt_device *device) {
    xpu_lockstep_rtl rtl = {device, rtl_memory, rtl_vectors, rtl_layer};
    device->lockstep = xpu_lockstep_new(&device->chip, &rtl);
    return device->lockstep ? 0 : -1;
}

static int set_up(xpurt_device *device, const xpu_chip *chip) {
    xpu_model_times times = {.gm_latency = (uint16_t)chip->gm_latency,
                             .gm_line_time = (uint16_t)((64 * 256 + chip->gm_rate - 1) / chip->gm_rate),
                             .gm_outstanding = (uint16_t)chip->gm_outstanding,
                             .l3_latency = (uint16_t)chip->l3_latency,
                             .l3_rate = (uint16_t)chip->l3_rate};
    device->chip = device->memory.chip = *chip;
    device->options = next_options;
    if (xpu_func_memory_create(&device->memory)) return -1;
    if (device->options.lockstep && make_lockstep(device)) return -1;
    device->host = (xpu_model_host){.context = device,
                                    .gm = xpu_func_host(&device->memory, XPU_GM_BASE),
                                    .counter = on_counter,
                                    .ticket = on_ticket,
                                    .put = on_put,
                                    .complete = on_complete,
                                    .retire = device->lockstep || device->options.trace ? on_retire : NULL};
    device->model = xpu_model_new(&device->host, &times);
    return device->model ? 0 : -1;
}

static xpurt_device *create(const xpu_chip *chip, xpu_diags *diags) {
    if (!fits(chip)) {
        xpu_error(diags, XPU_EUSAGE, NULL, "device-chip", NULL, "the Verilated chip was built for another description",
                  "its ABI hash, caches, banks, lanes or number of requests to GM differ from the file's",
                  "build it again with make chip CHIP=NAME or FILE.json");
        return NULL;
    }
    xpurt_device *device = calloc(1, sizeof *device);
    if (!device) {
        xpu_error_oom(diags);
        return NULL;
    }
    if (set_up(device, chip) == 0) return device;
    destroy(device);
    xpu_error(diags, XPU_EIO, NULL, "device-memory", NULL, "the Verilated chip cannot be set up",
              "the host has no memory or address space for it", NULL);
    return NULL;
}

uint8_t *xpu_rtl_memory(const xpurt_device *device, uint64_t address, size_t length) {
    uint8_t *bytes = xpu_func_engine_memory(&device->memory, address, length);
    if (!bytes || address >= XPU_GM_BASE) return bytes;
    if (address >= XPU_L3_BASE) return xpu_model_l3(device->model) + (address - XPU_L3_BASE);
    if (address >= XPU_SM_BASE) return xpu_model_sm(device->model) + (address - XPU_SM_BASE);
    uint32_t offset = (uint32_t)address - XPU_LM_ALL_BASE;
    return xpu_model_lm(device->model, offset / XPU_LM_ALIAS_STRIDE) + offset % XPU_LM_ALIAS_STRIDE;
}

static int write_memory(xpurt_device *device, uint64_t address, const void *bytes, size_t length) {
    if (length == 0) return 0;
    uint8_t *to = xpu_rtl_memory(device, address, length);
    if (!to) return -1;
    memcpy(to, bytes, length);
    return device->lockstep ? xpu_lockstep_write(device->lockstep, address, bytes, length) : 0;
}

static int read_memory(xpurt_device *device, uint64_t address, void *bytes, size_t length) {
    if (length == 0) return 0;
    const uint8_t *from = xpu_rtl_memory(device, address, length);
    if (!from) return -1;
    memcpy(bytes, from, length);
    return 0;
}

static int map_memory(xpurt_device *device, uint64_t address, int file, uint64_t offset, size_t length) {
    if (device->lockstep && xpu_lockstep_map(device->lockstep, address, file, offset, length)) return -1;
    return xpu_func_memory_map(&device->memory, address, file, offset, length);
}

static void set_output(xpurt_device *device, void (*put)(void *context, char byte), void *context) {
    device->events.put = put;
    device->events.put_context = context;
}

/* ---- Counting ---- */

static void add_states(uint64_t *to, const uint64_t *from) {
    for (int i = 0; i < XPURT_STATES; i++) to[i] += from[i];
}

static void counters(const xpurt_device *device, xpurt_counters *totals) {
    xpu_model_state state;
    *totals = device->before;
    totals->edges = xpu_model_edges(device->model);
    totals->gm_read_bytes = device->host.gm_read_bytes;
    totals->gm_write_bytes = device->host.gm_write_bytes;
    if (!device->started) return;
    xpu_model_look(device->model, &state);
    totals->cycles += device->host.cycle;
    for (unsigned core = 0; core < device->chip.cores; core++) {
        totals->instructions[core] += state.core[core].instructions;
        add_states(totals->core_states[core], xpu_model_states(device->model, core));
    }
    for (unsigned engine = 0; engine < xpu_chip_engines(&device->chip); engine++)
        add_states(totals->engine_states[engine], xpu_model_engine_states(device->model, engine));
    totals->instructions[0] += (unsigned)device->events.ended; /* the store to EXIT does not retire */
}

static void set_seed(xpurt_device *device, uint32_t seed) {
    device->options.seed = seed;
}

static void observe(xpurt_device *device, const xpurt_observer *observer) {
    device->observer = *observer;
}

static int start(xpurt_device *device, uint32_t entry) {
    counters(device, &device->before);
    xpu_sim_events_reset(&device->events);
    device->has_fault = device->host.stop = 0;
    device->fault = (xpurt_fault){0};
    device->wave = device->options.wave_file ? WAVE_WAITING : WAVE_NONE;
    device->states_at = 0;
    memset(device->states, 0, sizeof device->states);
    xpu_model_start(device->model, entry, device->options.seed);
    device->started = 1;
    memset(device->layers, 0, sizeof device->layers);
    return device->lockstep ? xpu_lockstep_start(device->lockstep, entry, device->options.seed) : 0;
}

/* ---- Faults ---- */

static void set_fault(xpurt_device *device, const xpu_model_state *state, xpu_fault_cause cause, int core,
                      const char *reason) {
    device->has_fault = 1;
    device->fault = (xpurt_fault){.cause = (int)cause,
                                  .cause_text = xpu_fault_text(cause),
                                  .core = core,
                                  .engine = -1,
                                  .code = state->abort_code,
                                  .reason = device->reason};
    snprintf(device->reason, sizeof device->reason, "%s", reason);
    unsigned at = core >= 0 ? (unsigned)core : 0;
    device->fault.pc = state->core[at].pc;
    device->fault.layer = state->core[at].layer >> 16;
    xpu_rtl_describe(device, state);
}

static void core_fault(xpurt_device *device, const xpu_model_state *state, unsigned core) {
    xpu_fault_cause cause = (xpu_fault_cause)state->core[core].cause;
    set_fault(device, state, cause, (int)core, xpu_sim_cause_reason(cause));
    device->fault.pc = state->core[core].fault_pc;
    device->fault.instruction = state->core[core].fault_insn;
    device->fault.address = state->core[core].fault_address;
}

/* Which rule the descriptor breaks, and in which field: the functional chip's checks look at it in the memories of the
 * RTL. NULL: they find another fault (a list that has changed since it was fetched). */
static const char *broken_rule(xpurt_device *device, const xpu_model_state *state) {
    xpu_func *memory = &device->memory;
    const xpu_chip *chip = &device->chip;
    memcpy(xpu_func_host(memory, XPU_SM_BASE), xpu_model_sm(device->model), chip->sm_bytes);
    memcpy(xpu_func_host(memory, XPU_L3_BASE), xpu_model_l3(device->model), chip->l3_bytes);
    for (unsigned core = 0; core < chip->cores; core++)
        memcpy(xpu_func_host(memory, XPU_LM_ALL_BASE + core * XPU_LM_ALIAS_STRIDE), xpu_model_lm(device->model, core),
               chip->lm_bytes);
    int found = xpu_func_descriptor_check(memory, state->engine, state->descriptor);
    const xpurt_fault *fault = &memory->fault;
    return found && fault->cause == (int)state->engine_cause && fault->address == state->engine_address ? fault->reason
                                                                                                        : NULL;
}

static void engine_fault(xpurt_device *device, const xpu_model_state *state) {
    xpu_fault_cause cause = (xpu_fault_cause)state->engine_cause;
    const char *rule = broken_rule(device, state);
    set_fault(device, state, cause, -1, rule ? rule : xpu_sim_cause_reason(cause));
    device->fault.engine = (int)state->engine;
    device->fault.address = state->engine_address;
    device->fault.descriptor = state->descriptor;
    device->fault.layer = state->descriptor_layer;
}

/* The core that is blamed for a time-out is the first that waits for nobody. */
static void time_out(xpurt_device *device, const xpu_model_state *state) {
    for (unsigned core = 0; core < device->chip.cores; core++) {
        if (state->core[core].halted || state->core[core].stalled) continue;
        set_fault(device, state, XPU_FAULT_TIMEOUT, (int)core, "WATCHDOG_LIMIT cycles have passed without progress");
        const void *word = xpu_rtl_memory(device, device->fault.pc, sizeof device->fault.instruction);
        if (word) memcpy(&device->fault.instruction, word, sizeof device->fault.instruction);
        return;
    }
    set_fault(device, state, XPU_FAULT_TIMEOUT, -1, "WATCHDOG_LIMIT cycles have passed without progress");
}

static int lockstep_differs(xpurt_device *device, const xpu_model_state *state) {
    if (!device->lockstep || !xpu_lockstep_text(device->lockstep)[0]) return 0;
    set_fault(device, state, XPU_FAULT_NONE, -1, xpu_lockstep_text(device->lockstep));
    device->fault.cause_text = "lock-step: rtl and func differ";
    device->fault.differs = 1;
    device->fault.layer = xpu_lockstep_layer(device->lockstep);
    return 1;
}

/* ---- Running ---- */

/* Why the chip has stopped. */
static void attend(xpurt_device *device, const xpu_model_state *state) {
    for (unsigned core = 0; core < device->chip.cores; core++) {
        if (!state->core[core].fault) continue;
        core_fault(device, state, core);
        if (device->lockstep) {
            xpu_lockstep_fault(device->lockstep, core, state->core[core].cause, state->core[core].fault_address);
            lockstep_differs(device, state);
        }
        return;
    }
    if (state->engine_fault) {
        engine_fault(device, state);
        if (device->lockstep && !xpu_lockstep_engine_fault(device->lockstep, &device->fault, device->host.cycle))
            lockstep_differs(device, state);
    } else if (state->ended) {
        device->events.ended = 1;
        device->events.exit_status = state->exit_status;
        if (device->lockstep && !xpu_lockstep_exit(device->lockstep, device->host.cycle, state->exit_status))
            lockstep_differs(device, state);
    } else if (state->host_call) {
        device->events.host_call = 1;
        device->events.host_address = state->host_address;
    } else {
        time_out(device, state);
    }
}

/* Every core and engine is in one state in each cycle. */
static void check_counters(xpurt_device *device, const xpu_model_state *state) {
    char text[160];
    xpurt_counters totals;
    counters(device, &totals);
    for (unsigned unit = 0; unit < device->chip.cores + xpu_chip_engines(&device->chip) && !device->has_fault; unit++) {
        int is_core = unit < device->chip.cores;
        unsigned number = is_core ? unit : unit - device->chip.cores;
        const uint64_t *states = is_core ? totals.core_states[number] : totals.engine_states[number];
        uint64_t sum = 0;
        for (int i = 0; i < XPURT_STATES; i++) sum += states[i];
        if (sum == totals.cycles) continue;
        snprintf(text, sizeof text, "the states of %s %u sum to %" PRIu64 ", not to the %" PRIu64 " cycles",
                 is_core ? "core" : "engine", number, sum, totals.cycles);
        set_fault(device, state, XPU_FAULT_NONE, -1, text);
        device->fault.cause_text = "wrong counts";
    }
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- Who looks on ---- */

enum { WAVE_SLICE = 16, STATES_SLICE = 64, TICK_SLICE = 4096 };

/* Tells the state in which each unit has spent most of the cycles since the last time. */
static void tell_states(xpurt_device *device) {
    uint64_t now = device->host.cycle;
    for (unsigned core = 0; core < device->chip.cores; core++) {
        const uint64_t *states = xpu_model_states(device->model, core);
        unsigned most = 0;
        for (unsigned i = 1; i < XPURT_STATES; i++)
            if (states[i] - device->states[core][i] > states[most] - device->states[core][most]) most = i;
        memcpy(device->states[core], states, sizeof device->states[core]);
        device->observer.state(device->observer.context, core, most, device->states_at, now);
    }
    device->states_at = now;
}

/* A waveform begins when core 0 gets to the layer, or past it, and ends with the layer. */
static int look_at_wave(xpurt_device *device, const xpu_model_state *state) {
    if (device->wave != WAVE_WAITING || layer_of(device, state, 0) < device->options.wave_layer) return 0;
    device->wave = WAVE_OPEN;
    return xpu_model_wave_open(device->model, device->options.wave_file);
}

static void end_wave(xpurt_device *device, const xpurt_event *event) {
    if (device->wave != WAVE_OPEN) return;
    if (event->kind == XPURT_EVENT_HOST_CALL) return;
    if (event->kind == XPURT_EVENT_LAYER && event->layer != (uint16_t)device->options.wave_layer) return;
    xpu_model_wave_close(device->model);
    device->wave = WAVE_NONE;
}

static void tell(xpurt_device *device) {
    if (device->observer.tick) device->observer.tick(device->observer.context, device->host.cycle);
    if (device->observer.state && device->host.cycle > device->states_at) tell_states(device);
}

/* How many cycles may pass before a limit has to be looked at again; 0: a limit has passed, UINT64_MAX: there is none.
 * A core retires at most one instruction in a cycle. */
static uint64_t allowance(const xpurt_device *device, uint64_t budget, uint64_t spent) {
    uint64_t cycles = device->wave == WAVE_WAITING            ? WAVE_SLICE
                      : device->observer.state                ? STATES_SLICE
                      : device->observer.tick || device->stop ? TICK_SLICE
                                                              : UINT64_MAX;
    uint64_t last = device->options.max_cycles;
    if (last) cycles = least(cycles, last - least(last, device->host.cycle));
    if (budget && cycles)
        cycles = least(cycles, (budget - least(budget, spent) + device->chip.cores - 1) / device->chip.cores);
    return cycles;
}

static uint64_t instructions_of(const xpurt_device *device, const xpu_model_state *state) {
    uint64_t all = 0;
    for (unsigned core = 0; core < device->chip.cores; core++) all += state->core[core].instructions;
    return all;
}

static int run(xpurt_device *device, uint64_t budget, xpurt_event *event) {
    xpu_model_state state;
    if (!device->started) return -1;
    xpu_model_look(device->model, &state);
    const uint64_t before = instructions_of(device, &state);
    while (!xpu_sim_event_pending(&device->events, device->has_fault ? &device->fault : NULL, event)) {
        uint64_t cycles = allowance(device, budget, instructions_of(device, &state) - before);
        if (device->events.no_memory || look_at_wave(device, &state)) return -1;
        if (cycles == 0) return 0;
        if (device->stop && device->stop(device->stop_context)) {
            event->kind = XPURT_EVENT_STOPPED;
            return 0;
        }
        xpu_model_reason reason =
            xpu_model_run(device->model, cycles == UINT64_MAX ? 0 : cycles, !device->options.no_skip);
        xpu_model_look(device->model, &state);
        tell(device);
        if (lockstep_differs(device, &state)) continue;
        if (reason == XPU_MODEL_ATTENTION) attend(device, &state);
        if (reason == XPU_MODEL_DEAD)
            set_fault(device, &state, XPU_FAULT_DEADLOCK, -1, xpu_sim_cause_reason(XPU_FAULT_DEADLOCK));
    }
    end_wave(device, event);
    check_counters(device, &state);
    if (device->has_fault) xpu_sim_event_pending(&device->events, &device->fault, event);
    return 0;
}

static void set_stop(xpurt_device *device, int (*stop)(void *context), void *context) {
    device->stop = stop;
    device->stop_context = context;
}

static void position(const xpurt_device *device, xpurt_position *position) {
    xpu_model_state state;
    *position = (xpurt_position){.cores = device->chip.cores};
    xpu_model_look(device->model, &state);
    for (unsigned core = 0; core < device->chip.cores; core++) {
        position->core[core].pc = state.core[core].pc;
        position->core[core].layer = state.core[core].layer >> 16;
    }
}

static int answer(xpurt_device *device) {
    if (!device->events.host_call) return -1;
    device->events.host_call = 0;
    xpu_model_answer(device->model);
    return 0;
}

static const xpurt_device_driver driver = {
    .version = XPURT_DEVICE_VERSION,
    .name = "rtl",
    .about = "the Verilated chip: exact results, cycle by cycle",
    .create = create,
    .destroy = destroy,
    .write = write_memory,
    .read = read_memory,
    .map = map_memory,
    .output = set_output,
    .seed = set_seed,
    .observe = observe,
    .start = start,
    .run = run,
    .stop = set_stop,
    .position = position,
    .answer = answer,
    .counters = counters,
};

__attribute__((visibility("default"))) xpurt_rtl_driver_fn xpurt_rtl_driver;
__attribute__((visibility("default"))) xpurt_rtl_configure_fn xpurt_rtl_configure;
__attribute__((visibility("default"))) xpurt_rtl_look_fn xpurt_rtl_look;

const xpurt_device_driver *xpurt_rtl_driver(void) {
    return &driver;
}

void xpurt_rtl_configure(const xpurt_rtl_options *options) {
    next_options = *options;
}

void xpurt_rtl_look(const xpurt_device *device, xpurt_rtl_statistics *statistics) {
    *statistics = (xpurt_rtl_statistics){.cycles = device->host.cycle, .edges = xpu_model_edges(device->model)};
    for (unsigned core = 0; core < device->chip.cores; core++)
        memcpy(statistics->states[core], xpu_model_states(device->model, core), sizeof statistics->states[core]);
}
