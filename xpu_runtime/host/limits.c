/*
 * How much a run may do. The caller's limit, or one that follows from the program: what its layers and tensors need on
 * any chip, many times over. On the host (ref, and layers that a chip has the host run) element operations are counted.
 */
#include <stddef.h>
#include <string.h>

#include "core/ops/ref.h"
#include "xpu_runtime/host/host.h"
#include "xpu_runtime/include/xpu_control.h"

#define MOST_REF_WORK   ((uint64_t)1 << 40) /* element operations: some hours */
#define MOST_REF_NODES  ((uint64_t)1 << 26) /* nodes and iterations that run: about a minute, where each is tiny */
#define MOST_REF_BYTES  ((uint64_t)1 << 33)
#define MOST_OF_DEFAULT 0x1p62

enum { LEAST = 100000000, FOR_A_LAYER = 1000000, FOR_AN_OPERATION = 64, FOR_A_LOOP = 65536 };

/* Whether a buffer holds, from the start on, what the program or the caller gives, and nothing else. */
static int is_given(const xpu_run *run, uint32_t buffer) {
    int found = run->program->buffers.items[buffer].kind == XPU_BUFFER_WEIGHT;
    for (uint32_t i = 0; i < run->program->values.count; i++) {
        const xpu_program_value *value = &run->program->values.items[i];
        if (value->buffer != buffer) continue;
        xpu_value_kind kind = xpu_value_at(run->graph, value->value)->kind;
        if (kind != XPU_VALUE_CONST && kind != XPU_VALUE_INPUT) return 0;
        found = 1;
    }
    return found;
}

/* How often the body of a loop may run: the trip count, where it is there when the device starts. */
static double trips_of(const xpu_run *run, const xpu_program_step *loop) {
    const uint32_t index = loop->word + offsetof(struct xpu_loop_words, trips) / sizeof(uint32_t);
    const xpu_plan_word *word = &run->program->plan.items[index];
    uint32_t address;
    int64_t trips;
    if (word->kind != XPU_WORD_ADDRESS || !is_given(run, word->buffer) ||
        run->driver->read(run->device, run->program->plan_address + 4 * index, &address, sizeof address) ||
        run->driver->read(run->device, address, &trips, sizeof trips) || trips >= INT32_MAX) {
        return FOR_A_LOOP;
    }
    return trips > 1 ? (double)trips : 1;
}

/* What layers first .. last may need once. */
static double for_layers(const xpu_run *run, const int64_t *symbols, uint32_t first, uint32_t last) {
    double limit = 0;
    for (uint32_t i = first; i <= last; i++) {
        xpu_dim macs = run->program->layers.items[i].macs;
        limit += FOR_A_LAYER;
        if (macs.id) limit += (double)FOR_AN_OPERATION * (double)xpu_dim_between(run->graph, macs, symbols).max;
    }
    return limit;
}

static double for_values(const xpu_run *run, const int64_t *symbols) {
    double limit = 0;
    for (uint32_t id = 1; id < run->graph->values.count; id++) {
        const xpu_value_info *info = xpu_value_at(run->graph, (xpu_value){id});
        double elements = FOR_AN_OPERATION;
        for (int i = 0; i < info->rank; i++) {
            elements *= (double)xpu_dim_between(run->graph, info->dims[i], symbols).max;
        }
        if (elements > 0) limit += elements;
    }
    return limit;
}

uint64_t xpu_run_limit(const xpu_run *run) {
    const xpu_program *p = run->program;
    int64_t symbols[XPU_PROGRAM_MAX_SYMBOLS];
    double limit = LEAST, most = 1;
    if (run->options->max_instructions) return run->options->max_instructions;
    memcpy(symbols, run->symbols, sizeof symbols);
    xpu_symbols_bound(run->graph, symbols);
    if (!p->steps.count && p->layers.count) limit += for_layers(run, symbols, 0, p->layers.count - 1);
    double *times = XPU_NEW_ARRAY(run->arena, double, p->steps.count); /* that each step may run */
    for (uint32_t i = 0; i < p->steps.count; i++) times[i] = 1;
    for (uint32_t i = 0; i < p->steps.count; i++) {
        const xpu_program_step *step = &p->steps.items[i];
        double trips = step->kind == XPU_DO_LOOP ? trips_of(run, step) : 1;
        for (uint32_t k = i; trips > 1 && k < step->end; k++) times[k] *= trips;
        limit += times[i] * FOR_A_LAYER;
        if (step->kind == XPU_DO_RUN) limit += times[i] * for_layers(run, symbols, step->first, step->last);
        if (times[i] > most) most = times[i];
    }
    limit += most * for_values(run, symbols);
    return limit < MOST_OF_DEFAULT ? (uint64_t)limit : (uint64_t)MOST_OF_DEFAULT;
}

static uint64_t host_limit(const xpu_run *run) {
    return run->options->max_instructions ? run->options->max_instructions : MOST_REF_WORK;
}

static xpu_status over_budget(const xpu_run *run, const char *where) {
    return xpu_error(run->diags, XPU_ETIMEOUT, run->owner->image->name, "device-budget", where,
                     "the program needs more element operations than allowed",
                     xpu_printf(run->arena, "it needs %.0f%s on the host, the limit is %llu", run->host_cost.work,
                                where ? " or more" : "", (unsigned long long)host_limit(run)),
                     "raise the limit: --max-cycles=N (xpurt_run_options.max_instructions)");
}

static xpu_status over_nodes(const xpu_run *run, xpu_node node) {
    return xpu_error(run->diags, XPU_ETIMEOUT, run->owner->image->name, "device-budget",
                     xpu_node_where(run->graph, node, run->arena), "the program runs more nodes than allowed",
                     xpu_printf(run->arena, "the host runs at most %llu nodes and iterations where no limit is given",
                                (unsigned long long)MOST_REF_NODES),
                     "give a limit of element operations: --max-cycles=N (xpurt_run_options.max_instructions)");
}

/* What the run has cost the host so far, `largest` included. */
static xpu_status check(const xpu_run *run) {
    const xpu_ref_cost *cost = &run->host_cost;
    const char *where = cost->largest.id ? xpu_node_where(run->graph, cost->largest, run->arena) : NULL;
    if (cost->work > (double)host_limit(run)) return over_budget(run, NULL);
    if (cost->bytes <= (double)MOST_REF_BYTES) return XPU_OK;
    return xpu_error(run->diags, XPU_EUSAGE, run->owner->image->name, "shape-too-large", where,
                     "its tensors are too large for the host",
                     xpu_printf(run->arena, "%.0f bytes of results live at one time, at most %llu may", cost->bytes,
                                (unsigned long long)MOST_REF_BYTES),
                     "run the model at another shape");
}

xpu_status xpu_run_afford_node(xpu_run *run, xpu_node node) {
    xpu_ref_cost own = xpu_ref_cost_of_node(run->graph, node, run->symbols);
    run->host_cost.work += own.work;
    run->host_cost.bytes += own.bytes; /* one layer alone, and what the host runs for a chip, is kept to the end */
    run->host_cost.largest = node;
    return check(run);
}

xpu_status xpu_run_afford_graph(xpu_run *run) {
    run->host_cost = xpu_ref_cost_of(run->graph, run->symbols, run->arena);
    xpu_status status = check(run);
    run->host_cost.work = 0; /* counted again as the nodes run, bodies as often as they do */
    return status;
}

xpu_status xpu_run_meter(void *context, xpu_node node, double work) {
    xpu_run *run = context;
    run->host_cost.work += work;
    run->host_nodes++;
    if (!run->options->max_instructions && run->host_nodes > MOST_REF_NODES) return over_nodes(run, node);
    if (run->host_cost.work <= (double)host_limit(run)) return XPU_OK;
    return over_budget(run, xpu_node_where(run->graph, node, run->arena));
}
