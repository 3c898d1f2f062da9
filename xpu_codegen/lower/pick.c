/* Operators that choose and place elements. */
#include "core/ops/scatter.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"

static xpu_arg_int bytes_of(const xpu_codegen *cg, xpu_value x) {
    return xpu_arg_number((int64_t)xpu_dtype_bytes(xpu_value_at(cg->graph, x)->dtype));
}

/* ---- scatter ---- */

xpu_status xpu_lower_scatter(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value x = xpu_node_input(cg->graph, node, 0), index = xpu_node_input(cg->graph, node, 1);
    xpu_value updates = xpu_node_input(cg->graph, node, 2), y = xpu_node_output(cg->graph, node, 0);
    const int rank = xpu_value_at(cg->graph, x)->rank, index_rank = xpu_value_at(cg->graph, index)->rank;
    const int by_element = xpu_node_is(cg->graph, node, XPU_OP_SCATTER_ELEMENTS);
    const int first = by_element ? (int)xpu_node_int(cg->graph, node, XPU_ATTR_AXIS) : 0;
    int64_t columns = 1;
    if (!by_element) xpu_dim_is_const(&cg->graph->dims, xpu_value_dim(cg, index, index_rank - 1), &columns);
    const uint32_t to = xpu_activation_buffer(cg, y);
    struct xpu_scatter_call call = {.y = xpu_arg_at(to)};
    call.index = xpu_arg_at(xpu_operand_buffer(cg, layer, index, "index"));
    call.updates = xpu_arg_at(xpu_operand_buffer(cg, layer, updates, "updates"));
    call.outer = xpu_arg_dim(xpu_dims_product(cg, x, 0, first));
    call.count = xpu_arg_dim(xpu_dims_product(cg, x, first, first + (int)columns));
    call.inner = xpu_arg_dim(xpu_dims_product(cg, x, first + (int)columns, rank));
    call.n = xpu_arg_dim(by_element ? xpu_value_dim(cg, index, first) : xpu_dims_product(cg, index, 0, index_rank - 1));
    call.by_element = xpu_arg_number(by_element);
    call.element_bytes = bytes_of(cg, x);
    call.index_bytes = bytes_of(cg, index);
    call.columns = xpu_arg_number(columns);
    call.kind = xpu_arg_number(xpu_node_int(cg->graph, node, XPU_ATTR_KIND));
    call.number = xpu_arg_number(xpu_number_of(xpu_value_at(cg->graph, x)->dtype));
    for (int i = 0; i < XPU_MAX_RANK; i++)
        call.dims[i] = xpu_arg_dim(i < columns ? xpu_value_dim(cg, x, first + i) : xpu_dim_of(cg, 1));
    xpu_status status = xpu_add_value_copy(cg, layer, x, xpu_operand_buffer(cg, layer, x, "x"), y, to);
    if (status != XPU_OK) return status;
    xpu_describe_layer(cg, layer, XPU_KERNEL_scatter, xpu_dim_of(cg, 0));
    return xpu_add_scatter(cg, layer, &call);
}

/* ---- top ---- */

xpu_status xpu_lower_top(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_dims *dims = &cg->graph->dims;
    xpu_value x = xpu_node_input(cg->graph, node, 0), y = xpu_node_output(cg->graph, node, 0);
    const xpu_value_info *info = xpu_value_at(cg->graph, x);
    const int64_t bytes = (int64_t)xpu_dtype_bytes(info->dtype), entry = bytes + 4;
    xpu_dim elements = xpu_dims_product(cg, x, 0, info->rank);
    struct xpu_top_call call = {.x = xpu_arg_at(xpu_operand_buffer(cg, layer, x, "x"))};
    call.y = xpu_arg_at(xpu_activation_buffer(cg, y));
    call.scratch = xpu_arg_at(xpu_portable_scratch_buffer(cg, layer, xpu_dim_mul_const(dims, elements, 2 * entry)));
    call.rows = xpu_arg_dim(xpu_dims_product(cg, x, 0, info->rank - 1));
    call.count = xpu_arg_dim(xpu_value_dim(cg, x, info->rank - 1));
    call.k = xpu_arg_dim(xpu_value_dim(cg, y, info->rank - 1));
    call.largest = xpu_arg_number(xpu_node_int(cg->graph, node, XPU_ATTR_KIND) != 0);
    call.number = xpu_arg_number(xpu_number_of(info->dtype));
    call.element_bytes = xpu_arg_number(bytes);
    xpu_describe_layer(cg, layer, XPU_KERNEL_top, xpu_dim_of(cg, 0));
    return xpu_add_top(cg, layer, &call);
}

/* ---- nms ---- */

static xpu_arg_address threshold_of(xpu_codegen *cg, uint32_t layer, xpu_node node, uint32_t input, const char *role) {
    const xpu_node_info *info = xpu_node_at(cg->graph, node);
    if (input >= info->input_count || !info->inputs[input].id) return xpu_arg_absent();
    return xpu_arg_at(xpu_operand_buffer(cg, layer, info->inputs[input], role));
}

xpu_status xpu_lower_nms(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_dims *dims = &cg->graph->dims;
    xpu_value boxes = xpu_node_input(cg->graph, node, 0), scores = xpu_node_input(cg->graph, node, 1);
    xpu_value y = xpu_node_output(cg->graph, node, 0);
    xpu_dim count = xpu_value_dim(cg, boxes, 1);
    xpu_dim kept = xpu_dim_add_const(dims, xpu_dim_mul_const(dims, count, XA_NMS_SPARSE), XA_NMS_ROOM);
    xpu_dim bytes = xpu_dim_mul_const(dims, kept, XA_NMS_PLANES_BYTES);
    struct xpu_nms_call call = {.boxes = xpu_arg_at(xpu_operand_buffer(cg, layer, boxes, "boxes"))};
    call.scores = xpu_arg_at(xpu_operand_buffer(cg, layer, scores, "scores"));
    call.overlap = threshold_of(cg, layer, node, 2, "overlap");
    call.threshold = threshold_of(cg, layer, node, 3, "threshold");
    call.y = xpu_arg_at(xpu_activation_buffer(cg, y));
    call.scratch =
        xpu_arg_at(xpu_portable_scratch_buffer(cg, layer, xpu_dim_mul_const(dims, bytes, (int64_t)cg->chip.cores)));
    call.scratch_bytes = xpu_arg_dim(bytes);
    call.tasks = xpu_arg_dim(xpu_dims_product(cg, y, 0, 2));
    call.classes = xpu_arg_dim(xpu_value_dim(cg, y, 1));
    call.count = xpu_arg_dim(count);
    call.most = xpu_arg_dim(xpu_value_dim(cg, y, 2));
    call.kind = xpu_arg_number(xpu_node_int(cg->graph, node, XPU_ATTR_KIND));
    xpu_describe_layer(cg, layer, XPU_KERNEL_nms, xpu_dim_of(cg, 0));
    return xpu_add_nms(cg, layer, &call);
}

/* ---- random ---- */

xpu_status xpu_lower_random(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value y = xpu_node_output(cg->graph, node, 0);
    const uint64_t seed = (uint64_t)xpu_node_int(cg->graph, node, XPU_ATTR_SEED);
    struct xpu_random_call call = {.y = xpu_arg_at(xpu_activation_buffer(cg, y))};
    call.count = xpu_arg_dim(xpu_dims_product(cg, y, 0, xpu_value_at(cg->graph, y)->rank));
    call.seed = xpu_arg_number((int32_t)(uint32_t)seed);
    call.stream = xpu_arg_number((int32_t)(uint32_t)(seed >> 32));
    xpu_describe_layer(cg, layer, XPU_KERNEL_random, xpu_dim_of(cg, 0));
    return xpu_add_random(cg, layer, &call);
}
