/* Sizes that only the run knows: lists of numbers that data decide. */
#include "frontend/build/found.h"

#include "core/ir/known.h"

int64_t fe_found_count(const xpu_graph *graph, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    int64_t count = 1;
    if (info->constant || (info->dtype != XPU_I64 && info->dtype != XPU_I32) || info->rank > 1) return 0;
    if (info->rank && !xpu_dim_is_const(&graph->dims, info->dims[0], &count)) return 0;
    return count <= XPU_MOST_KNOWN ? count : 0;
}

/* Whether the entry, which is no constant, is known and never larger. */
static int is_bounded(const xpu_dims *dims, const xpu_known *entry, int64_t max) {
    if (!entry->dim.id || entry->over != 1) return 0;
    return xpu_dim_is_const(dims, entry->dim, NULL) || xpu_dim_max(dims, entry->dim) <= max;
}

fe_dims fe_found_list(xpu_graph *graph, xpu_arena *scratch, xpu_value value, int64_t min, int64_t max) {
    const int64_t count = fe_found_count(graph, value);
    const xpu_value_info info = *xpu_value_at(graph, value);
    xpu_known known[XPU_MOST_KNOWN] = {{{0}, 0}};
    xpu_dim *dims = XPU_NEW_ARRAY(scratch, xpu_dim, count + 1);
    xpu_value_known(graph, value, known);
    for (int64_t i = 0; i < count; i++) {
        if (!is_bounded(&graph->dims, &known[i], max)) {
            const char *name = count == 1 ? info.name : xpu_printf(scratch, "%s.%d", info.name, (int)i);
            known[i] =
                (xpu_known){xpu_dim_new_symbol(&graph->dims, name, min, max, value, (uint32_t)i, (xpu_dim){0}), 1};
        }
        dims[i] = known[i].dim;
    }
    xpu_value_set_known(graph, value, known, (int)count);
    return (fe_dims){dims, (size_t)count};
}

void fe_bound_result(xpu_graph *graph, xpu_arena *scratch, xpu_value value, const char *name) {
    if (!graph->dims.bound_count || !fe_found_count(graph, value)) return;
    const int64_t most = xpu_dims_bound(&graph->dims, name);
    if (most >= 0) fe_found_list(graph, scratch, value, 0, most);
}

/* A number that is further away stands for the same place. */
static xpu_value limited(fe_builder *b, xpu_value value, xpu_op_id op, int64_t limit) {
    if (!value.id) return value;
    const xpu_dtype dtype = fe_info(b, value)->dtype;
    const int32_t narrow = (int32_t)limit;
    const void *data = dtype == XPU_I64 ? (const void *)&limit : &narrow;
    xpu_tensor tensor = {.dtype = dtype, .data = (void *)(uintptr_t)data};
    xpu_value operands[] = {value, xpu_graph_const_bytes(b->graph, NULL, &tensor)};
    return fe_node(b, op, operands, 2, NULL, 0, 0);
}

int fe_found_places(fe_builder *b, xpu_value value, fe_dims *list) {
    enum { FAR = 1 << 30 };
    xpu_dim dims[XPU_MOST_KNOWN];
    if (!fe_found_count(b->graph, value) || xpu_value_as_dims(b->graph, value, dims) >= 0) return -1;
    value = limited(b, limited(b, value, XPU_OP_MIN, FAR), XPU_OP_MAX, -FAR);
    if (!value.id) return 0;
    *list = fe_found_list(b->graph, b->scratch, value, -FAR, FAR);
    return 1;
}
