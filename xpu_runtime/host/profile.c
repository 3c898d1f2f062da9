/* What a device with time tells while it runs: cycles, states and least times of each layer; the trace. */
#include <string.h>

#include "base/json.h"
#include "core/ops/op.h"
#include "xpu_runtime/host/host.h"

/* ---- while it runs ---- */

static void on_complete(void *context, const xpurt_completion *c) {
    xpu_run *run = context;
    if (run->trace) xpu_trace_descriptor(run, c);
    if (c->layer >= run->program->layers.count) return;
    xpu_layer_times *times = run->layers[c->layer].times;
    times->array += c->array_cycles;
    times->drain += c->drain_cycles;
    times->macs += c->macs;
    for (int i = 0; i < XPURT_MEMORIES; i++) times->bytes[i] += c->bytes[i];
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
    run->driver->counters(run->device, &run->counters);
    run->before = run->counters;
}

static void add_states(uint64_t *to, const uint64_t *now, const uint64_t *before) {
    for (int i = 0; i < XPURT_STATES; i++) to[i] += now[i] - before[i];
}

void xpu_profile_layer(xpu_run *run, uint32_t layer, const xpurt_counters *now) {
    if (!run->has_times) return;
    const xpurt_counters *before = &run->counters;
    xpu_layer_times *times = run->layers[layer].times;
    if (run->trace && !times->traced++) xpu_trace_layer(run, layer, before->cycles, now->cycles);
    times->cycles += now->cycles - before->cycles;
    for (int i = 0; i < XPURT_MAX_CORES; i++) add_states(times->cores[i], now->core_states[i], before->core_states[i]);
    for (int i = 0; i < XPURT_ENGINES; i++)
        add_states(times->engines[i], now->engine_states[i], before->engine_states[i]);
    run->last_layer = layer;
}

/* ---- the figures ---- */

/* How many steps of the array a multiplication takes. */
static int64_t steps_of(const char *precision) {
    return strcmp(precision, "int16") == 0 ? 4 : strcmp(precision, "int16x8") == 0 ? 2 : 1;
}

static uint64_t bytes_of(const xpu_run *run, xpu_value value) {
    xpu_tensor shape = xpu_run_shape(run, value);
    return xpu_tensor_bytes(&shape);
}

/* The least cycles that the whole program needs: the array's, or those of GM for weights, inputs and outputs once. */
static uint64_t roofline(xpu_run *run) {
    const xpu_chip *chip = &run->owner->chip;
    uint64_t steps = 0, bytes = run->program->weights_bytes;
    for (uint32_t i = 0; i < run->program->layers.count; i++) {
        if (strcmp(run->program->layers.items[i].unit, "tensor") != 0) continue;
        steps += (uint64_t)(xpu_run_layer_macs(run, i) * steps_of(xpu_run_layer_precision(run, i)));
    }
    for (uint32_t i = 0; i < run->graph->inputs.count; i++) bytes += bytes_of(run, run->graph->inputs.items[i]);
    for (uint32_t i = 0; i < run->graph->outputs.count; i++) bytes += bytes_of(run, run->graph->outputs.items[i]);
    uint64_t cells = (uint64_t)chip->array_rows * chip->array_columns;
    uint64_t array = (steps + cells - 1) / cells, gm = (bytes + chip->gm_rate - 1) / chip->gm_rate;
    return array > gm ? array : gm;
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
    for (unsigned i = 0; i < run->owner->chip.cores; i++)
        unit_states(run, list, xpu_printf(run->arena, "core %u", i), cores[i], cycles);
}

void xpu_profile_layer_stats(const xpu_run *run, json_t *entry, uint32_t layer) {
    static const char *const memories[XPURT_MEMORIES] = {"LM", "SM", "L3", "GM"};
    if (!run->has_times) return;
    const xpu_layer_times *times = run->layers[layer].times;
    const xpu_chip *chip = &run->owner->chip;
    uint64_t rates[XPURT_MEMORIES] = {0, (uint64_t)chip->sm_banks * chip->sm_bank_bytes, chip->l3_rate, chip->gm_rate};
    set_count(run, entry, "cycles", times->cycles);
    json_t *bytes = xpu_json_set(run->arena, entry, "bytes", json_object());
    json_t *bounds = xpu_json_set(run->arena, entry, "bounds", json_object());
    if (times->array) set_count(run, bounds, "array", times->array);
    if (times->drain) set_count(run, bounds, "drain", times->drain);
    for (int i = 0; i < XPURT_MEMORIES; i++) {
        if (times->bytes[i]) set_count(run, bytes, memories[i], times->bytes[i]);
        if (times->bytes[i] && rates[i])
            set_count(run, bounds, memories[i], (times->bytes[i] + rates[i] - 1) / rates[i]);
    }
    all_units(run, entry, times->engines, times->cores, times->cycles);
}

void xpu_profile_stats(xpu_run *run, json_t *top) {
    if (!run->has_times) return;
    uint64_t engines[XPURT_ENGINES][XPURT_STATES] = {{0}}, cores[XPURT_MAX_CORES][XPURT_STATES] = {{0}}, sum = 0;
    uint64_t cycles = run->counters.cycles - run->before.cycles, bound = roofline(run);
    for (int i = 0; i < XPURT_ENGINES; i++)
        add_states(engines[i], run->counters.engine_states[i], run->before.engine_states[i]);
    for (int i = 0; i < XPURT_MAX_CORES; i++)
        add_states(cores[i], run->counters.core_states[i], run->before.core_states[i]);
    for (uint32_t i = 0; i < run->program->layers.count; i++) sum += run->layers[i].times->cycles;
    if (sum != cycles) {
        xpu_error(run->diags, XPU_EBUG, run->owner->image->name, "profile-sum", NULL,
                  "the layers' cycles do not add up to the run's",
                  xpu_printf(run->arena, "%llu against %llu", (unsigned long long)sum, (unsigned long long)cycles),
                  "report this with the program");
    }
    set_count(run, top, "edges", run->counters.edges - run->before.edges);
    set_count(run, top, "bound_cycles", bound);
    if (cycles) xpu_json_set(run->arena, top, "utilisation", json_real((double)bound / (double)cycles));
    all_units(run, top, (const uint64_t(*)[XPURT_STATES])engines, (const uint64_t(*)[XPURT_STATES])cores, cycles);
}
