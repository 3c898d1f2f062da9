/* Inference of one node: shape function, value function, folding. */
#include "core/ops/infer.h"

#include <string.h>

#include "core/ops/ref.h"

enum { SMALL_BYTES = 64 << 10 };

/* Upper limit of result bytes x operand bytes where every result element looks at many operand elements. */
#define FOLD_WORK ((uint64_t)1 << 26)

xpu_status xpu_infer_error(xpu_graph *graph, xpu_node node, xpu_diags *diags, const char *rule, const char *what,
                           const char *hint, const char *why, ...) {
    va_list args;
    va_start(args, why);
    const char *reason = xpu_vprintf(graph->arena, why, args);
    va_end(args);
    return xpu_error(diags, XPU_EMODEL, graph->file, rule, xpu_node_where(graph, node, graph->arena), what, reason,
                     hint);
}

const xpu_value_info *xpu_operand(const xpu_graph *graph, xpu_node node, uint32_t input) {
    xpu_value value = xpu_node_input(graph, node, input);
    return value.id ? xpu_value_at(graph, value) : NULL;
}

const char *xpu_operand_text(xpu_graph *graph, xpu_node node, uint32_t input) {
    xpu_value value = xpu_node_input(graph, node, input);
    return value.id ? xpu_type_text(graph, value, graph->arena) : "absent";
}

const char *xpu_types_text(xpu_types types, xpu_arena *arena) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (int dtype = XPU_DTYPE_NONE + 1; dtype < XPU_DTYPE_COUNT; dtype++) {
        if (!(types & XPU_TYPE_SET(dtype))) continue;
        int is_last = types >> dtype == 1, is_first = !(types & (XPU_TYPE_SET(dtype) - 1));
        xpu_text_add(&text, "%s%s", is_first ? "" : is_last ? " or " : ", ", xpu_dtype_name((xpu_dtype)dtype));
    }
    return text.text;
}

xpu_status xpu_check_types(xpu_graph *graph, xpu_node node, uint32_t input, xpu_types types, xpu_diags *diags) {
    const xpu_types bytes = XPU_TYPE_SET(XPU_I8) | XPU_TYPE_SET(XPU_U8);
    const xpu_value_info *info = xpu_operand(graph, node, input);
    if (!info || types & XPU_TYPE_SET(info->dtype)) return XPU_OK;
    return xpu_infer_error(graph, node, diags, "dtype-operand",
                           xpu_printf(graph->arena, "operand %u of %s has an element type that is not supported", input,
                                      xpu_node_at(graph, node)->op->name),
                           types == bytes ? "quantise the model to int8 or uint8"
                           : types & XPU_TYPE_SET(XPU_F32)
                               ? "export the model in float32, or insert a cast before this "
                                 "operator"
                               : "insert a cast before this operator",
                           "it takes %s; '%s' is %s", xpu_types_text(types, graph->arena),
                           xpu_escape(graph->arena, info->name, 80), xpu_dtype_name(info->dtype));
}

/* A dim whose value is known at every shape, but that is no expression which can be kept. */
static xpu_status too_complex(xpu_graph *graph, xpu_node node, int index, xpu_diags *diags) {
    xpu_text operands;
    xpu_text_init(&operands, graph->arena);
    enum { SHOWN = 3, LONGEST = 200 };
    uint32_t count = xpu_node_at(graph, node)->input_count;
    for (uint32_t i = 0; i < count && i < SHOWN; i++) {
        const char *type = xpu_escape_message(graph->arena, xpu_operand_text(graph, node, i), LONGEST);
        xpu_text_add(&operands, "%s%s", i ? ", " : "", type);
    }
    if (count > SHOWN) xpu_text_add(&operands, " and %u more", count - SHOWN);
    return xpu_infer_error(
        graph, node, diags, "shape-too-complex", "a dim of the result is too complex an expression",
        "give the free dims fixed sizes with --shape",
        "dim %d overflows 64 bits, has more than %d terms or %d operations, or all dims of the model "
        "together do; the operands are %s",
        index, XPU_DIM_MAX_TERMS, XPU_DIM_MAX_TREE_SIZE, operands.text);
}

xpu_status xpu_set_result(xpu_graph *graph, xpu_node node, uint32_t output, xpu_dtype dtype, int rank,
                          const xpu_dim *dims, xpu_diags *diags) {
    int64_t least = 1;
    for (int i = 0; i < rank; i++) {
        if (!dims[i].id) return too_complex(graph, node, i, diags);
        int64_t min = xpu_dim_min(&graph->dims, dims[i]);
        if (xpu_dim_max(&graph->dims, dims[i]) < 0) {
            return xpu_infer_error(graph, node, diags, "shape-negative", "a dim of the result is negative",
                                   "check the attributes of the operator against the shapes of its operands",
                                   "the result would be %s", xpu_dim_list_text(&graph->dims, rank, dims, graph->arena));
        }
        if (min < 1) min = 1;
        if (__builtin_mul_overflow(least, min, &least) || least > XPU_MAX_ELEMENTS) {
            return xpu_infer_error(graph, node, diags, "shape-too-large", "the result is too large",
                                   "check the attributes of the operator, or give smaller shapes with --shape",
                                   "a tensor has at most 2^40 elements; the result would be %s",
                                   xpu_dim_list_text(&graph->dims, rank, dims, graph->arena));
        }
    }
    xpu_value_info *info = xpu_value_at(graph, xpu_node_output(graph, node, output));
    info->dtype = dtype;
    info->rank = rank;
    for (int i = 0; i < rank; i++) info->dims[i] = xpu_dim_root(&graph->dims, dims[i]);
    return XPU_OK;
}

xpu_status xpu_normalise_axis(xpu_graph *graph, xpu_node node, int rank, int *axis, xpu_diags *diags) {
    int64_t value = xpu_node_int(graph, node, XPU_ATTR_AXIS);
    if (value < -rank || value >= rank) {
        return xpu_infer_error(graph, node, diags, "shape-axis", "the axis does not exist",
                               "the axis is from -rank to rank - 1", "axis is %lld, the operand is %s",
                               (long long)value, xpu_operand_text(graph, node, 0));
    }
    *axis = (int)(value < 0 ? value + rank : value);
    xpu_node_set_attr(graph, node, &XPU_ATTR_INT_OF(AXIS, *axis));
    return XPU_OK;
}

int xpu_equal_dims(xpu_graph *graph, xpu_node node, xpu_dim a, xpu_dim b, xpu_dim *common) {
    if (!xpu_dim_same(&graph->dims, a, b)) {
        xpu_dim left = xpu_dim_settled(&graph->dims, a), right = xpu_dim_settled(&graph->dims, b);
        if (!left.id || !right.id) return 0;
        if (!xpu_dim_same(&graph->dims, left, right)) { /* other guards do not say it */
            if (graph->guards_known || xpu_dim_solutions(&graph->dims, left, right) < 2) return 0;
            int swap = xpu_dim_is_const(&graph->dims, left, NULL);
            xpu_graph_guard(graph, swap ? right : left, swap ? left : right, xpu_node_where(graph, node, graph->arena));
        }
        xpu_dim_assume(&graph->dims, left, a);
        xpu_dim_assume(&graph->dims, right, b);
    }
    if (common) *common = xpu_dim_equal(a, b) ? a : xpu_dim_root(&graph->dims, a);
    return 1;
}

int xpu_broadcast(xpu_graph *graph, xpu_node node, int *rank, xpu_dim *dims, int other_rank, const xpu_dim *other) {
    int common = *rank > other_rank ? *rank : other_rank;
    xpu_dim result[XPU_MAX_RANK];
    for (int i = 0; i < common; i++) {
        int a = i - (common - *rank), b = i - (common - other_rank);
        int64_t value;
        if (a < 0 || (b >= 0 && xpu_dim_is_const(&graph->dims, dims[a], &value) && value == 1)) {
            result[i] = other[b];
        } else if (b < 0 || (xpu_dim_is_const(&graph->dims, other[b], &value) && value == 1)) {
            result[i] = dims[a];
        } else if (!xpu_equal_dims(graph, node, dims[a], other[b], &result[i])) {
            return 0;
        }
    }
    *rank = common;
    memcpy(dims, result, (size_t)common * sizeof *dims);
    return 1;
}

/* ---- folding ---- */

/* Bytes of a value whose dims are constant, or UINT64_MAX. */
static uint64_t bytes_of(const xpu_graph *graph, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    int64_t dims[XPU_MAX_RANK];
    uint64_t bytes = xpu_dtype_bytes(info->dtype);
    if (!xpu_value_dims(graph, value, NULL, dims)) return UINT64_MAX;
    for (int i = 0; i < info->rank; i++) {
        if (__builtin_mul_overflow(bytes, (uint64_t)dims[i], &bytes)) return UINT64_MAX;
    }
    return bytes;
}

static int can_fold(const xpu_graph *graph, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    uint64_t most = 0;
    if (!info->op->ref || info->block_count) return 0;
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (!info->inputs[i].id) continue;
        uint64_t bytes = bytes_of(graph, info->inputs[i]);
        if (!xpu_value_at(graph, info->inputs[i])->constant || bytes > SMALL_BYTES) return 0;
        if (bytes > most) most = bytes;
    }
    for (uint32_t i = 0; i < info->output_count; i++) {
        uint64_t bytes = bytes_of(graph, info->outputs[i]);
        if (bytes > SMALL_BYTES || bytes * most > FOLD_WORK) return 0;
    }
    return info->input_count > 0;
}

static xpu_status fold(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "fold");
    const xpu_node_info *info = xpu_node_at(graph, node);
    xpu_tensor *results = XPU_NEW_ARRAY(arena, xpu_tensor, info->output_count);
    xpu_status status = xpu_ref_constants(graph, node, results, arena, diags);
    for (uint32_t i = 0; i < info->output_count && status == XPU_OK; i++) {
        xpu_const *constant = XPU_NEW(graph->arena, xpu_const);
        constant->kind = XPU_CONST_BYTES;
        constant->source_dtype = results[i].dtype;
        constant->source_rank = results[i].rank;
        memcpy(constant->source_dims, results[i].dims, sizeof results[i].dims);
        constant->length = xpu_tensor_bytes(&results[i]);
        constant->bytes = xpu_copy(graph->arena, results[i].data, constant->length);
        xpu_value_at(graph, info->outputs[i])->constant = constant;
    }
    xpu_arena_free(arena);
    return status;
}

/* ---- the interface ---- */

static xpu_status check_operands(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    int unknown = 0, missing = (int)info->input_count < info->op->min_inputs;
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (info->inputs[i].id) {
            unknown |= xpu_value_at(graph, info->inputs[i])->dtype == XPU_DTYPE_NONE;
        } else {
            missing |= (int)i < info->op->min_inputs;
        }
    }
    if (unknown && diags->errors) return xpu_diags_status(diags); /* what it is made from was reported already */
    if (!missing && !unknown && (int)info->input_count <= info->op->max_inputs) return XPU_OK;
    return xpu_infer_error(graph, node, diags, "op-operands",
                           xpu_printf(graph->arena, "%s has not the operands that it needs", info->op->name),
                           "check that the operator's required inputs are connected",
                           "it takes %d to %d operands; it has %u%s", info->op->min_inputs, info->op->max_inputs,
                           info->input_count,
                           missing   ? ", or a required one is absent"
                           : unknown ? ", one of them without a type"
                                     : "");
}

xpu_status xpu_op_shapes(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    const xpu_op *op = info->op;
    xpu_status status = check_operands(graph, node, diags);
    for (uint32_t i = 0; i < info->input_count && status == XPU_OK; i++) {
        status = xpu_check_types(graph, node, i, xpu_op_takes(op, i), diags);
    }
    return status == XPU_OK ? op->infer(graph, node, diags) : status;
}

xpu_status xpu_op_infer(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_op *op = xpu_node_at(graph, node)->op;
    for (uint32_t i = 0; i < xpu_node_at(graph, node)->output_count; i++) {
        xpu_value_at(graph, xpu_node_output(graph, node, i))->constant = NULL;
        xpu_value_at(graph, xpu_node_output(graph, node, i))->known = NULL;
    }
    xpu_status status = xpu_op_shapes(graph, node, diags);
    if (status != XPU_OK || (op->value && op->value(graph, node, diags))) return status;
    return can_fold(graph, node) ? fold(graph, node, diags) : XPU_OK;
}

static void settle_attrs(xpu_graph *graph, xpu_node node) {
    for (uint32_t k = 0; k < xpu_node_at(graph, node)->attrs.count; k++) {
        xpu_attr attr = xpu_node_at(graph, node)->attrs.items[k];
        xpu_dim dims[XPU_MOST_KNOWN];
        if (xpu_attr_type_of(attr.id) != XPU_ATTR_TYPE_DIMS || attr.count > XPU_MOST_KNOWN) continue;
        for (uint32_t i = 0; i < attr.count; i++) dims[i] = xpu_dim_settled(&graph->dims, attr.dims[i]);
        attr.dims = dims;
        xpu_node_set_attr(graph, node, &attr);
    }
}

/* The results of a node with bodies are what its bodies give. */
static xpu_status settle_block(xpu_graph *graph, xpu_block block, xpu_diags *diags) {
    XPU_FOR_BLOCK_NODES(graph, block, node) {
        for (uint32_t b = 0; b < xpu_node_at(graph, node)->block_count; b++) {
            xpu_status status = settle_block(graph, xpu_node_at(graph, node)->blocks[b], diags);
            if (status != XPU_OK) return status;
        }
        settle_attrs(graph, node);
        xpu_status status = xpu_op_infer(graph, node, diags);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

xpu_status xpu_settle(xpu_graph *graph, xpu_diags *diags) {
    uint32_t settled = 0;
    while (settled < graph->guards.count) { /* dims in simpler form may be found equal in one more place */
        settled = graph->guards.count;
        xpu_status status = settle_block(graph, XPU_TOP_BLOCK, diags);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

xpu_node xpu_build(xpu_graph *graph, xpu_node before, xpu_op_id op, const xpu_value *inputs, uint32_t input_count,
                   const char *output_name, const xpu_attr *attrs, uint32_t attr_count, const uint32_t *origins,
                   uint32_t origin_count, xpu_diags *diags) {
    xpu_node node = xpu_graph_add(graph, before, xpu_op_of(op), inputs, input_count, &output_name, 1, attrs, attr_count,
                                  origins, origin_count);
    xpu_op_infer(graph, node, diags);
    return node;
}

xpu_value xpu_build_part(xpu_graph *graph, xpu_node node, xpu_op_id op, const xpu_value *inputs, uint32_t input_count,
                         const xpu_attr *attrs, uint32_t attr_count, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    xpu_node part = xpu_build(graph, node, op, inputs, input_count, NULL, attrs, attr_count, info->origins.items,
                              info->origins.count, diags);
    return xpu_node_output(graph, part, 0);
}
