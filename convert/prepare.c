/* What writers of all formats do before, and the elements of constants. */
#include <string.h>

#include "convert/convert.h"
#include "convert/recurrent.h"
#include "core/ops/ref.h"
#include "core/passes/rewrite.h"

/* ---- constants ---- */

uint64_t xpu_convert_constant_bytes(const xpu_graph *graph, xpu_value constant) {
    const xpu_value_info *info = xpu_value_at(graph, constant);
    int64_t dims[XPU_MAX_RANK];
    uint64_t bytes = xpu_dtype_bytes(info->dtype);
    if (!xpu_value_dims(graph, constant, NULL, dims)) return 0;
    for (int i = 0; i < info->rank; i++) bytes *= (uint64_t)dims[i];
    return bytes;
}

static xpu_status copy_from_file(const xpu_const *constant, xpu_output *output, xpu_arena *arena, xpu_diags *diags) {
    enum { CHUNK = 1 << 20 };
    char *chunk = xpu_alloc(arena, CHUNK);
    for (uint64_t at = 0; at < constant->length; at += CHUNK) {
        const size_t length = constant->length - at < CHUNK ? (size_t)(constant->length - at) : CHUNK;
        xpu_status status = xpu_file_read(constant->file, constant->offset + at, chunk, length, diags);
        if (status != XPU_OK) return status;
        xpu_output_write(output, chunk, length);
    }
    return XPU_OK;
}

xpu_status xpu_convert_constant(const xpu_graph *graph, xpu_value value, xpu_output *output, xpu_diags *diags) {
    const xpu_const *constant = xpu_value_at(graph, value)->constant;
    const uint64_t bytes = xpu_convert_constant_bytes(graph, value);
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "constant");
    xpu_status status = XPU_OK;
    if (constant->kind == XPU_CONST_FILE && constant->file && !constant->steps.count && constant->length == bytes) {
        status = copy_from_file(constant, output, arena, diags);
    } else {
        const size_t errors = diags->errors;
        const void *data = xpu_const_data(graph, value, arena, diags);
        status = data ? XPU_OK : xpu_diags_since(diags, errors);
        if (data) xpu_output_write(output, data, (size_t)bytes);
    }
    xpu_arena_free(arena);
    return status;
}

/* ---- what needs no operator ---- */

static int is_quantised(const xpu_graph *graph, xpu_node node) {
    return xpu_node_is(graph, node, XPU_OP_QUANTIZE) || xpu_node_is(graph, node, XPU_OP_DEQUANTIZE);
}

/* What is known already: the importer has computed it. */
static xpu_value known_constant(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value result = xpu_node_output(graph, node, 0);
    xpu_tensor tensor;
    if (is_quantised(graph, node) || xpu_node_at(graph, node)->output_count != 1 || !xpu_is_constant(graph, result))
        return (xpu_value){0};
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "constant");
    xpu_value value = {0};
    if (xpu_const_tensor(graph, result, arena, &tensor, diags) == XPU_OK)
        value = xpu_graph_const_bytes(graph, xpu_value_at(graph, result)->name, &tensor);
    xpu_arena_free(arena);
    return value;
}

static void simplify(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value result = xpu_node_output(graph, node, 0);
    if (!result.id || xpu_value_at(graph, result)->is_output) return;
    xpu_value constant = known_constant(graph, node, diags);
    if (!constant.id) constant = xpu_moved_constant(graph, node, diags);
    if (constant.id) xpu_value_replace(graph, result, constant);
}

/* ---- weights of recurrences ---- */

/* Marks the nodes that the value is computed by. */
static void mark_makers(const xpu_graph *graph, xpu_value value, uint8_t *marks, int depth) {
    enum { DEEP = 32 };
    const xpu_value_info *info = value.id ? xpu_value_at(graph, value) : NULL;
    if (!info || info->kind != XPU_VALUE_NODE || marks[info->node.id] || depth == DEEP) return;
    marks[info->node.id] = 1;
    const xpu_node_info *node = xpu_node_at(graph, info->node);
    for (uint32_t i = 0; i < node->input_count; i++) mark_makers(graph, node->inputs[i], marks, depth + 1);
}

static void mark_weights(const xpu_graph *graph, uint8_t *marks) {
    xpu_recurrent_source source;
    XPU_FOR_BLOCKS(graph, block) {
        XPU_FOR_BLOCK_NODES(graph, block, node) {
            if (!xpu_node_is(graph, node, XPU_OP_RECURRENT)) continue;
            mark_makers(graph, xpu_node_input(graph, node, XPU_IN_W), marks, 0);
            mark_makers(graph, xpu_node_input(graph, node, XPU_IN_BIAS), marks, 0);
            if (!xpu_recurrent_source_of(graph, node, &source)) continue;
            mark_makers(graph, source.w, marks, 0);
            mark_makers(graph, source.bias, marks, 0);
        }
    }
}

/* Weights that are put together from constants become one: an LSTM has its gates in one tensor. */
static void put_together(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    const xpu_value result = xpu_node_output(graph, node, 0);
    xpu_tensor tensor;
    if (info->block_count || info->output_count != 1 || !info->op->ref || xpu_value_at(graph, result)->is_output)
        return;
    for (uint32_t i = 0; i < info->input_count; i++)
        if (info->inputs[i].id && !xpu_is_constant(graph, info->inputs[i])) return;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "weights");
    if (xpu_ref_constants(graph, node, &tensor, arena, diags) == XPU_OK) {
        xpu_value constant = xpu_graph_const_bytes(graph, xpu_value_at(graph, result)->name, &tensor);
        if (constant.id) xpu_value_replace(graph, result, constant);
    }
    xpu_arena_free(arena);
}

xpu_status xpu_convert_prepare(xpu_graph *graph, xpu_diags *diags) {
    const size_t errors = diags->errors;
    xpu_remove_dead(graph);
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "marks");
    uint8_t *is_weight = XPU_NEW_ARRAY(arena, uint8_t, graph->nodes.count + 1);
    mark_weights(graph, is_weight);
    XPU_FOR_BLOCKS(graph, block) {
        for (xpu_node node = xpu_block_at(graph, block)->first; node.id && diags->errors == errors;
             node = xpu_node_next(graph, node)) {
            simplify(graph, node, diags);
            if (is_weight[node.id] && !is_quantised(graph, node)) put_together(graph, node, diags);
        }
    }
    xpu_arena_free(arena);
    xpu_remove_dead(graph);
    return xpu_diags_since(diags, errors);
}

/* ---- reshapes ---- */

/* Dims of `few` in order in `many`, whose others are 1. */
static int are_ones(const xpu_graph *graph, int many_rank, const xpu_dim *many, int few_rank, const xpu_dim *few,
                    int64_t *axes, uint32_t *count) {
    int k = 0;
    *count = 0;
    for (int i = 0; i < many_rank; i++) {
        int64_t size;
        if (k < few_rank && xpu_dim_equal(many[i], few[k])) {
            k++;
        } else if (xpu_dim_is_const(&graph->dims, many[i], &size) && size == 1) {
            axes[(*count)++] = i;
        } else {
            return 0;
        }
    }
    return k == few_rank;
}

int xpu_convert_ones(const xpu_graph *graph, int from_rank, const xpu_dim *from, int to_rank, const xpu_dim *to,
                     int64_t *axes, uint32_t *count) {
    if (from_rank > to_rank) return are_ones(graph, from_rank, from, to_rank, to, axes, count) ? -1 : 0;
    if (from_rank < to_rank) return are_ones(graph, to_rank, to, from_rank, from, axes, count);
    return 0;
}

xpu_refused xpu_convert_no_row(const xpu_graph *graph, xpu_node node) {
    return xpu_node_has(graph, node, XPU_TRAIT_PASSES) ? XPU_REFUSED_PASSES : XPU_REFUSED_NO_ROW;
}
