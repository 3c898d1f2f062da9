/*
 * How much a run may do. The caller's limit, or one that follows from the program: what its layers and tensors need on
 * any chip, many times over. On the host (ref, and layers that a chip has the host run) element operations are counted.
 */
#include "core/ops/ref.h"
#include "xpu_runtime/host/host.h"

#define MOST_REF_WORK   ((uint64_t)1 << 40) /* element operations: some hours */
#define MOST_REF_BYTES  ((uint64_t)1 << 33)
#define MOST_OF_DEFAULT 0x1p62

enum { LEAST = 100000000, FOR_A_LAYER = 1000000, FOR_AN_OPERATION = 64, FOR_A_LOOP = 65536 };

uint64_t xpu_run_limit(const xpu_run *run) {
    if (run->options->max_instructions) return run->options->max_instructions;
    double limit = LEAST + (double)FOR_A_LAYER * run->program->layers.count;
    for (uint32_t i = 0; i < run->program->layers.count; i++) {
        limit += (double)FOR_AN_OPERATION * (double)xpu_run_layer_macs(run, i);
    }
    for (uint32_t id = 1; id < run->graph->values.count; id++) {
        xpu_tensor shape = xpu_run_shape(run, (xpu_value){id});
        double elements = FOR_AN_OPERATION;
        for (int i = 0; i < shape.rank; i++) elements *= (double)shape.dims[i];
        if (elements > 0) limit += elements;
    }
    for (uint32_t i = 0; i < run->program->steps.count; i++) {
        if (run->program->steps.items[i].kind == XPU_DO_LOOP) limit *= FOR_A_LOOP;
    }
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
    if (run->host_cost.work <= (double)host_limit(run)) return XPU_OK;
    return over_budget(run, xpu_node_where(run->graph, node, run->arena));
}
