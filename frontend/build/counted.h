/* Loops that count: what the condition of a body says of how often it runs. */
#ifndef XPU_FRONTEND_BUILD_COUNTED_H
#define XPU_FRONTEND_BUILD_COUNTED_H

#include "frontend/build/build.h"

/* Whether `next` is `argument`, an integer of one element, plus a constant that is not 0. */
int fe_is_counter(const fe_builder *b, xpu_value argument, xpu_value next, int64_t *step);

/* `goes_on` of a body whose counters are known as expressions in `iteration`, the symbol that counts iterations from 0;
 * `first` is the condition before the loop. */
typedef struct {
    xpu_value goes_on, first;
    xpu_dim iteration;
    xpu_block body;
} fe_counting;
/* How often the body runs at most, unknown where the condition compares no counter with what is known outside; in
 * *exactly whether it runs so often and nothing else ends it. */
xpu_dim fe_count_trips(fe_builder *b, const fe_counting *form, int *exactly);

/* Whether a value made in `block` defines a symbol of the dim: it means nothing outside. */
int fe_dim_is_inner(const xpu_graph *graph, xpu_dim dim, xpu_block block);
/* An expression made again when nodes were taken back: `kept` of its table are there, and all are in `nodes`; unknown
 * where a symbol went. */
xpu_dim fe_dim_again(xpu_dims *dims, const xpu_dim_node *nodes, uint32_t kept, xpu_dim dim);

/* The dim with `symbol` as this number. */
xpu_dim fe_dim_with(xpu_dims *dims, xpu_dim dim, xpu_dim symbol, int64_t number);

#endif
