#include "xpu_codegen/dims.h"

#include <math.h>

#include "xpu_runtime/include/xpu_tiling.h"

int xpu_on_host(const xpu_codegen *cg, xpu_node node) {
    uint32_t region = xpu_node_at(cg->graph, node)->region;
    return region > 0 && region <= cg->job->region_count && cg->job->regions[region - 1].on_host;
}

int xpu_is_foreign(const xpu_codegen *cg, xpu_node node) {
    xpu_node owner = xpu_block_at(cg->graph, xpu_node_at(cg->graph, node)->parent)->owner;
    return owner.id && xpu_node_is(cg->graph, owner, XPU_OP_REGION);
}

int xpu_on_chip(const xpu_codegen *cg, xpu_node node) {
    return !xpu_on_host(cg, node) && !xpu_is_foreign(cg, node);
}

/* ---- dims and layouts ---- */

xpu_dim xpu_value_dim(const xpu_codegen *cg, xpu_value value, int i) {
    return xpu_value_at(cg->graph, value)->dims[i];
}

int64_t xpu_lm_room(const xpu_codegen *cg) {
    const int64_t kept = XPU_LM_RESERVED + (cg->chip.window_channels ? XPU_LM_WINDOW : 0);
    return (int64_t)cg->chip.lm_bytes - kept;
}

xpu_dim xpu_dims_product(xpu_codegen *cg, xpu_value value, int first, int last) {
    xpu_dim product = xpu_dim_of(cg, 1);
    for (int i = first; i < last; i++) {
        product = xpu_dim_mul(&cg->graph->dims, product, xpu_value_dim(cg, value, i));
    }
    return product;
}

const xpu_extent *xpu_extent_of(const xpu_codegen *cg, xpu_value value) {
    return value.id < cg->extent_count && cg->extents[value.id].capacity.id ? &cg->extents[value.id] : NULL;
}

xpu_dim xpu_value_extent(const xpu_codegen *cg, xpu_value value, int i) {
    const xpu_extent *extent = xpu_extent_of(cg, value);
    return extent && extent->axis == i ? extent->capacity : xpu_value_dim(cg, value, i);
}

void xpu_storage_order(xpu_layout layout, int rank, int *order) {
    int last = layout == XPU_LAYOUT_CHANNEL_LAST;
    for (int i = 0; i < rank; i++) order[i] = !last || i == 0 ? i : i == rank - 1 ? 1 : i + 1;
}

void xpu_value_strides(xpu_codegen *cg, xpu_value value, xpu_dim *strides) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    int order[XPU_MAX_RANK];
    xpu_storage_order(info->layout, info->rank, order);
    xpu_dim stride = xpu_dim_of(cg, 1);
    for (int i = info->rank; i-- > 0;) {
        strides[order[i]] = stride;
        stride = xpu_dim_mul(&cg->graph->dims, stride, xpu_value_extent(cg, value, order[i]));
    }
}

int xpu_is_one(const xpu_codegen *cg, xpu_dim dim) {
    int64_t value;
    return xpu_dim_is_const(&cg->graph->dims, dim, &value) && value == 1;
}

int xpu_layout_free(const xpu_codegen *cg, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    if (info->rank != 3 && info->rank != 4) return 1;
    if (xpu_is_one(cg, info->dims[1])) return 1;
    return xpu_is_one(cg, info->dims[2]) && (info->rank == 3 || xpu_is_one(cg, info->dims[3]));
}

int xpu_is_const_value(const xpu_codegen *cg, xpu_value value) {
    return xpu_value_at(cg->graph, value)->kind == XPU_VALUE_CONST;
}

int xpu_keeps_pixels(const xpu_codegen *cg, xpu_value x, xpu_value y) {
    const xpu_value_info *from = xpu_value_at(cg->graph, x), *to = xpu_value_at(cg->graph, y);
    if (from->layout != XPU_LAYOUT_CHANNEL_LAST || (to->rank != 3 && to->rank != 4)) return 0;
    for (int i = 0; i < 2; i++) {
        if (!xpu_dim_same(&cg->graph->dims, from->dims[i], to->dims[i])) return 0;
    }
    return 1;
}

int xpu_is_linear(const xpu_codegen *cg, xpu_value value) {
    return xpu_value_at(cg->graph, value)->layout == XPU_LAYOUT_LINEAR || xpu_layout_free(cg, value);
}

int xpu_is_empty(xpu_codegen *cg, xpu_value value) {
    int64_t count;
    xpu_dim product = xpu_dims_product(cg, value, 0, xpu_value_at(cg->graph, value)->rank);
    return xpu_dim_is_const(&cg->graph->dims, product, &count) && count == 0;
}

int64_t xpu_dim_upper(const xpu_codegen *cg, xpu_dim dim) {
    return xpu_dim_max(&cg->graph->dims, dim);
}

double xpu_dim_likely(const xpu_codegen *cg, xpu_dim dim) {
    const double least = (double)xpu_dim_min(&cg->graph->dims, dim), most = (double)xpu_dim_max(&cg->graph->dims, dim);
    return least < most ? sqrt((least > 1 ? least : 1) * most) : most;
}
