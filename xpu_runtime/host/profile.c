/* What a device with time tells while it runs: cycles, states and least times of each layer; the trace. */
#include <string.h>

#include "base/json.h"
#include "core/ops/op.h"
#include "xpu_runtime/host/host.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

enum { LM, SM, L3, GM };

/* ---- while it runs ---- */

static void add_work(xpu_least_work *to, const xpu_least_work *more) {
    to->array += more->array;
    to->drain += more->drain;
    for (int i = 0; i < XPURT_MEMORIES; i++) to->read[i] += more->read[i], to->written[i] += more->written[i];
}

static void on_complete(void *context, const xpurt_completion *c) {
    xpu_run *run = context;
    uint32_t layer = xpu_run_layer_of_tag(run, c->layer);
    if (run->trace) xpu_trace_descriptor(run, c);
    if (layer >= run->program->layers.count) return;
    xpu_layer_times *times = run->layers[layer].times;
    const uint64_t since = run->counters.cycles;
    xpu_least_work work = {.array = c->array_cycles, .drain = c->drain_cycles};
    memcpy(work.read, c->read, sizeof work.read);
    memcpy(work.written, c->written, sizeof work.written);
    times->macs += c->macs;
    for (int i = 0; i < XPURT_MEMORIES; i++) times->bytes[i] += c->bytes[i];
    add_work(&times->all, &work);
    if (c->begin < since) return;
    if (times->since != since) times->open = (xpu_least_work){0};
    times->since = since;
    add_work(&times->open, &work);
}

static void on_state(void *context, unsigned unit, unsigned state, uint64_t from, uint64_t to) {
    xpu_trace_state(context, unit, state, from, to);
}

static void on_tick(void *context, uint64_t cycles) {
    const xpurt_run_options *options = ((xpu_run *)context)->options;
    options->tick(options->context, cycles);
}

void xpu_profile_begin(xpu_run *run) {
    if (!run->driver->observe) return;
    for (uint32_t i = 0; i < run->program->layers.count; i++) {
        run->layers[i].times = XPU_NEW(run->arena, xpu_layer_times);
    }
    run->has_times = 1;
    if (run->options->trace_file) xpu_trace_begin(run);
    xpurt_observer observer = {.context = run,
                               .complete = on_complete,
                               .state = run->trace ? on_state : NULL,
                               .tick = run->options->tick ? on_tick : NULL};
    run->driver->observe(run->device, &observer);
}

static void add_states(uint64_t *to, const uint64_t *now, const uint64_t *before) {
    for (int i = 0; i < XPURT_STATES; i++) to[i] += now[i] - before[i];
}

void xpu_profile_layer(xpu_run *run, uint32_t layer, const xpurt_counters *now) {
    if (!run->has_times) return;
    const xpurt_counters *before = &run->counters;
    xpu_layer_times *times = run->layers[layer].times;
    times->cycles += now->cycles - before->cycles;
    if (times->since == before->cycles) add_work(&times->inside, &times->open);
    times->open = (xpu_least_work){0};
    for (int i = 0; i < XPURT_MAX_CORES; i++) add_states(times->cores[i], now->core_states[i], before->core_states[i]);
    for (int i = 0; i < XPURT_ENGINES; i++)
        add_states(times->engines[i], now->engine_states[i], before->engine_states[i]);
    run->last_layer = layer;
}

/* ---- the figures ---- */

/* How many steps of the array a multiplication takes. */
static int64_t steps_of(const xpu_graph *graph, xpu_node node) {
    if (!node.id || !xpu_op_attr(xpu_node_at(graph, node)->op, XPU_ATTR_PRECISION)) return 1;
    int64_t precision = xpu_node_int(graph, node, XPU_ATTR_PRECISION);
    return precision == XPU_PRECISION_INT16 ? 4 : precision == XPU_PRECISION_INT16X8 ? 2 : 1;
}

static uint64_t bytes_of(const xpu_run *run, xpu_value value) {
    xpu_tensor shape = xpu_run_shape(run, value);
    return xpu_tensor_bytes(&shape);
}

static uint64_t rounded_up(uint64_t a, uint64_t b) {
    return (a + b - 1) / b;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Cycles that a memory needs: SM and GM serve one access at a time, L3 reads and writes beside each other. 0: LM, of
 * which each core has its own. */
static uint64_t memory_cycles(const xpu_chip *chip, int memory, const xpu_least_work *work) {
    uint64_t read = work->read[memory], written = work->written[memory];
    switch (memory) {
    case SM: return rounded_up(read + written, (uint64_t)chip->sm_banks * chip->sm_bank_bytes);
    case L3: return rounded_up(larger(read, written), chip->l3_rate);
    case GM: return rounded_up(read + written, chip->gm_rate);
    default: return 0;
    }
}

/* Adds the bytes of inputs or outputs to those of the memories where they lie. */
static void add_ends(xpu_run *run, const xpu_value *values, uint32_t count, uint64_t *bytes) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = xpu_run_address_of(run, values[i]);
        bytes[at >= XPU_GM_BASE   ? GM
              : at >= XPU_L3_BASE ? L3
              : at >= XPU_SM_BASE ? SM
                                  : LM] += bytes_of(run, values[i]);
    }
}

/* The least cycles that the whole program needs: the array's for its layers, or those of a memory for weights (in GM),
 * and inputs and outputs where they lie, once. None is more than what its descriptors have asked for: a program need
 * not use all of its weights and inputs. */
static uint64_t roofline(xpu_run *run) {
    const xpu_chip *chip = &run->session->chip;
    xpu_least_work all = {0}, least = {.read = {[GM] = run->program->weights_bytes}};
    uint64_t steps = 0;
    for (uint32_t i = 0; i < run->program->layers.count; i++) {
        add_work(&all, &run->layers[i].times->all);
        if (run->program->layers.items[i].unit != XPU_UNIT_TENSOR) continue;
        steps += (uint64_t)(xpu_run_all_macs(run, i) * steps_of(run->graph, run->program->layers.items[i].node));
    }
    add_ends(run, run->graph->inputs.items, run->graph->inputs.count, least.read);
    add_ends(run, run->graph->outputs.items, run->graph->outputs.count, least.written);
    uint64_t cycles = smaller(rounded_up(steps, (uint64_t)chip->array_rows * chip->array_columns), all.array);
    for (int i = 0; i < XPURT_MEMORIES; i++) {
        least.read[i] = smaller(least.read[i], all.read[i]);
        least.written[i] = smaller(least.written[i], all.written[i]);
        cycles = larger(cycles, memory_cycles(chip, i, &least));
    }
    return cycles;
}

static void set_count(const xpu_run *run, json_t *to, const char *key, uint64_t count) {
    xpu_json_set(run->arena, to, key, json_integer((json_int_t)count));
}

/* The states of a unit that it was in. Without states the device does not look at this unit. */
static void unit_states(const xpu_run *run, json_t *list, const char *unit, const uint64_t *states, uint64_t cycles) {
    uint64_t sum = 0;
    for (int i = 0; i < XPURT_STATES; i++) sum += states[i];
    if (!sum) return;
    if (sum != cycles) {
        xpu_error(run->diags, XPU_EBUG, run->owner->image->name, "profile-sum", NULL,
                  xpu_printf(run->arena, "the states of %s do not add up to the cycles", unit),
                  xpu_printf(run->arena, "%llu cycles have passed, its states sum to %llu", (unsigned long long)cycles,
                             (unsigned long long)sum),
                  "report this with the program");
        return;
    }
    json_t *entry = xpu_json_set(run->arena, list, unit, json_object());
    for (int i = 0; i < XPU_LOST_COUNT; i++)
        if (states[i]) set_count(run, entry, xpu_lost_text((xpu_lost_cause)i), states[i]);
}

static void all_units(const xpu_run *run, json_t *to, const uint64_t (*engines)[XPURT_STATES],
                      const uint64_t (*cores)[XPURT_STATES], uint64_t cycles) {
    json_t *list = xpu_json_set(run->arena, to, "units", json_object());
    for (unsigned i = XPURT_ENGINES; i-- > 0;) unit_states(run, list, xpu_engine_name(i), engines[i], cycles);
    for (unsigned i = 0; i < run->session->chip.cores; i++)
        unit_states(run, list, xpu_printf(run->arena, "core %u", i), cores[i], cycles);
}

void xpu_profile_times_stats(const xpu_run *run, json_t *entry, const xpu_layer_times *times) {
    static const char *const memories[XPURT_MEMORIES] = {"LM", "SM", "L3", "GM"};
    set_count(run, entry, "cycles", times->cycles);
    json_t *bytes = xpu_json_set(run->arena, entry, "bytes", json_object());
    json_t *bounds = xpu_json_set(run->arena, entry, "bounds", json_object());
    if (times->inside.array) set_count(run, bounds, "array", times->inside.array);
    if (times->inside.drain) set_count(run, bounds, "drain", times->inside.drain);
    for (int i = 0; i < XPURT_MEMORIES; i++) {
        uint64_t cycles = memory_cycles(&run->session->chip, i, &times->inside);
        if (times->bytes[i]) set_count(run, bytes, memories[i], times->bytes[i]);
        if (cycles) set_count(run, bounds, memories[i], cycles);
    }
    all_units(run, entry, times->engines, times->cores, times->cycles);
}

void xpu_profile_stats(xpu_run *run, json_t *top) {
    if (!run->has_times) return;
    uint64_t cycles = run->counters.cycles, bound = roofline(run), sum = 0;
    for (uint32_t i = 0; i < run->program->layers.count; i++) sum += run->layers[i].times->cycles;
    if (sum != cycles) {
        xpu_error(run->diags, XPU_EBUG, run->owner->image->name, "profile-sum", NULL,
                  "the layers' cycles do not add up to the run's",
                  xpu_printf(run->arena, "%llu against %llu", (unsigned long long)sum, (unsigned long long)cycles),
                  "report this with the program");
    }
    set_count(run, top, "edges", run->counters.edges);
    set_count(run, top, "bound_cycles", bound);
    if (cycles) xpu_json_set(run->arena, top, "utilisation", json_real((double)bound / (double)cycles));
    all_units(run, top, (const uint64_t(*)[XPURT_STATES])run->counters.engine_states,
              (const uint64_t(*)[XPURT_STATES])run->counters.core_states, cycles);
}
