/*
 * ref: runs a graph on the host with the reference kernels, in the canonical order of arithmetic of
 * docs/arithmetic.md. Logical row-major tensors throughout; layouts are ignored.
 */
#ifndef XPU_CORE_OPS_REF_H
#define XPU_CORE_OPS_REF_H

#include "core/ops/op.h"

/* Called after each node with its results (valid during the call only; what it writes to their data is what later nodes
 * read). A status other than XPU_OK stops the run. */
typedef xpu_status (*xpu_ref_observer)(void *context, xpu_node node, const xpu_tensor *results, uint32_t count);

/* Called before each node that runs, each time that a body runs it, and behind each iteration with its loop. `work` is
 * what it takes, as in xpu_ref_cost; of an iteration what it hands on; at least 1. A status other than XPU_OK stops the
 * run. */
typedef xpu_status (*xpu_ref_meter)(void *context, xpu_node node, double work);

typedef struct xpu_ref_options {
    const int64_t *symbols;   /* the value of each symbol of graph->dims; NULL when there is none */
    const xpu_tensor *inputs; /* in the order of graph->inputs; dims already checked against the graph */
    xpu_ref_observer observer;
    void (*iterates)(void *context, xpu_node loop, int64_t iteration); /* before each iteration's body; or NULL */
    const int64_t **found; /* gets where the values of symbols are as the run has found them; or NULL */
    int bodies;            /* it is called for the nodes of bodies, too, each time that they run */
    xpu_ref_meter meter;   /* or NULL */
    void *context;
} xpu_ref_options;

/* Both return XPU_ESTOPPED, without a diagnostic, when the caller of the API wants to stop: he knows what for. */

/* Runs the whole graph. outputs[i] (order of graph->outputs) get their data in `arena`. Intermediate tensors are freed
 * after their last use. */
xpu_status xpu_ref_run(const xpu_graph *graph, const xpu_ref_options *options, xpu_tensor *outputs, xpu_arena *arena,
                       xpu_diags *diags);

/* What the kernels take, found from the dims alone. work: element operations (multiply-accumulates of convolutions and
 * products, elements of windows, elements read and written of the rest). bytes: of results that live at one time, the
 * most, when node `largest` has run; the graph's outputs once more. Bodies count as if they ran once. */
typedef struct {
    double work, bytes;
    xpu_node largest;
} xpu_ref_cost;
xpu_ref_cost xpu_ref_cost_of_node(const xpu_graph *graph, xpu_node node, const int64_t *symbols);
xpu_ref_cost xpu_ref_cost_of(const xpu_graph *graph, const int64_t *symbols, xpu_arena *arena);

/* Runs one node alone: inputs[i] may be NULL where absent, results are allocated in `arena`. Control flow runs as a
 * whole: what its bodies use from outside must be among its operands (xpu_list_captures). */
xpu_status xpu_ref_node(const xpu_graph *graph, xpu_node node, const int64_t *symbols, const xpu_tensor *const *inputs,
                        xpu_tensor *results, xpu_arena *arena, xpu_diags *diags);

/* The same with a meter for what runs in the node's bodies: the node itself is the caller's to count. Of the options
 * symbols, meter and context are read. */
xpu_status xpu_ref_node_metered(const xpu_graph *graph, xpu_node node, const xpu_ref_options *options,
                                const xpu_tensor *const *inputs, xpu_tensor *results, xpu_arena *arena,
                                xpu_diags *diags);

/* The same for a node whose operands are all constants. */
xpu_status xpu_ref_constants(const xpu_graph *graph, xpu_node node, xpu_tensor *results, xpu_arena *arena,
                             xpu_diags *diags);

#endif
