/* Operators that move or rename elements, Softmax, and constants. */
#include <inttypes.h>
#include <string.h>

#include "frontend/onnx/importer.h"

enum { MAX_CONCAT = 64 };

static xpu_dims *table_of(const xpu_onnx_node *node) {
    return &node->importer->graph->dims;
}

xpu_value xpu_onnx_convert_flatten(xpu_onnx_node *node) {
    const xpu_value_info *info = xpu_onnx_info(node, node->inputs[0]);
    int64_t axis = xpu_onnx_attr_int(node, "axis", 1);
    if (axis < -info->rank || axis > info->rank || (axis < 0 && node->version < 11)) {
        return xpu_onnx_refuse(node, "onnx-attribute", "the axis is out of range",
                               xpu_onnx_format(node, "axis %" PRId64 " of a tensor of rank %d", axis, info->rank),
                               NULL);
    }
    int at = (int)(axis < 0 ? axis + info->rank : axis);
    xpu_dim dims[] = {xpu_onnx_product(node, info->dims, 0, at), xpu_onnx_product(node, info->dims, at, info->rank)};
    return xpu_onnx_reshape(node, node->inputs[0], dims, 2, 1);
}

/* ---- Reshape ---- */

static int bad_shape(const xpu_onnx_node *node, const char *why) {
    xpu_onnx_refuse(node, "onnx-shape", "the target shape is invalid", why, NULL);
    return 0;
}

/* The dim that -1 stands for: all elements over the product of the other dims, which has to divide them. */
static int solve_dim(const xpu_onnx_node *node, xpu_dim *dims, uint32_t count, int unknown) {
    xpu_dims *table = table_of(node);
    const xpu_value_info *info = xpu_onnx_info(node, node->inputs[0]);
    xpu_dim total = xpu_onnx_product(node, info->dims, 0, info->rank);
    dims[unknown] = xpu_dim_const(table, 1);
    xpu_dim others = xpu_onnx_product(node, dims, 0, (int)count), rest = xpu_dim_op(table, XPU_DIM_MOD, total, others);
    xpu_dim zero = xpu_dim_const(table, 0);
    int64_t value = 0;
    xpu_arena *scratch = node->importer->scratch;
    int is_whole = xpu_dim_is_const(table, rest, &value) ? value == 0 : xpu_dim_solutions(table, rest, zero) > 1;
    if (!is_whole || xpu_dim_min(table, others) < 1) {
        return bad_shape(node,
                         xpu_onnx_format(node, "-1 stands for %s elements over %s, which %s divide them",
                                         xpu_dim_text(table, total, scratch), xpu_dim_text(table, others, scratch),
                                         value ? "does not" : "is not known to"));
    }
    dims[unknown] = xpu_dim_op(table, XPU_DIM_FLOORDIV, total, others);
    if (!xpu_dim_is_const(table, rest, NULL) && xpu_dim_min(table, total) > 0) { /* where it is whole it is no 0 */
        dims[unknown] = xpu_dim_op(table, XPU_DIM_MAX, dims[unknown], xpu_dim_const(table, 1));
    }
    return 1;
}

static int target_dims(const xpu_onnx_node *node, const int64_t *shape, uint32_t count, int allow_zero, xpu_dim *dims) {
    const xpu_value_info *info = xpu_onnx_info(node, node->inputs[0]);
    int unknown = -1, zeros = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (shape[i] == 0 && !allow_zero && (int)i >= info->rank) {
            return bad_shape(node,
                             xpu_onnx_format(node, "dim %u is 0 (keep), but the input has rank %d", i, info->rank));
        }
        if (shape[i] < -1 || (shape[i] == -1 && unknown >= 0)) {
            return bad_shape(node, xpu_onnx_format(node, "dim %u is %" PRId64 "%s", i, shape[i],
                                                   shape[i] == -1 ? ", the second one" : ""));
        }
        zeros += shape[i] == 0 && allow_zero;
        if (shape[i] == -1) unknown = (int)i;
        dims[i] = shape[i] == 0 && !allow_zero ? info->dims[i] : xpu_dim_const(table_of(node), shape[i]);
    }
    if (unknown >= 0 && zeros) return bad_shape(node, "it holds both -1 and 0, and allowzero is 1");
    return unknown < 0 || solve_dim(node, dims, count, unknown);
}

xpu_value xpu_onnx_convert_reshape(xpu_onnx_node *node) {
    int ok = 1, allow_zero = xpu_onnx_attr_flag(node, "allowzero", 0, &ok);
    uint32_t count = 0;
    const int64_t *shape = xpu_onnx_const_ints(node, 1, &count);
    if (!ok || !shape) return (xpu_value){0};
    if (count > XPU_MAX_RANK) {
        bad_shape(node, xpu_onnx_format(node, "it has %u dims; at most %d are supported", count, XPU_MAX_RANK));
        return (xpu_value){0};
    }
    xpu_dim dims[XPU_MAX_RANK];
    if (!target_dims(node, shape, count, allow_zero, dims)) return (xpu_value){0};
    return xpu_onnx_reshape(node, node->inputs[0], dims, (int)count, 1);
}

/* ---- Squeeze, Unsqueeze ---- */

/* The axes, an attribute or (from opset 13) operand 1, as a set of bits; -1 after reporting, *given when there are any.
 */
static int64_t read_axes(const xpu_onnx_node *node, int rank, int *given) {
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, "axes");
    const int64_t *axes = attr ? attr->ints : NULL;
    uint32_t count = attr && attr->n_ints <= XPU_MAX_RANK ? (uint32_t)attr->n_ints : 0;
    int too_many = attr && attr->n_ints > XPU_MAX_RANK;
    *given = attr != NULL;
    if (node->version < 13 && node->input_count > 1) {
        xpu_onnx_refuse(node, "onnx-operand", "the node has too many inputs",
                        "before opset 13, the axes are an attribute", NULL);
        return -1;
    }
    if (xpu_onnx_has_input(node, 1)) {
        axes = xpu_onnx_const_ints(node, 1, &count);
        if (!axes) return -1;
        *given = 1;
        too_many = count > XPU_MAX_RANK;
    }
    int64_t set = 0;
    for (uint32_t i = 0; i < count && !too_many; i++) {
        int axis = xpu_onnx_axis(node, axes[i], rank);
        if (axis < 0) return -1;
        too_many = (set >> axis & 1) != 0;
        set |= (int64_t)1 << axis;
    }
    if (too_many) {
        xpu_onnx_refuse(node, "onnx-operand", "the axes are invalid", "one of them is given twice", NULL);
        return -1;
    }
    return set;
}

xpu_value xpu_onnx_convert_squeeze(xpu_onnx_node *node) {
    const xpu_value_info *info = xpu_onnx_info(node, node->inputs[0]);
    int given = 0, rank = 0;
    int64_t axes = read_axes(node, info->rank, &given);
    if (axes < 0) return (xpu_value){0};
    xpu_dim dims[XPU_MAX_RANK];
    for (int i = 0; i < info->rank; i++) {
        int64_t size = 0;
        int is_const = xpu_dim_is_const(table_of(node), info->dims[i], &size);
        int squeezed = given ? (int)(axes >> i & 1) : is_const && size == 1;
        if (!given && !is_const && xpu_dim_min(table_of(node), info->dims[i]) <= 1) {
            return xpu_onnx_refuse(node, "onnx-unsupported-form", "the rank of the result depends on the input",
                                   xpu_onnx_format(node, "there are no axes, and dim %d may be 1: %s", i,
                                                   xpu_onnx_shape_text(node, node->inputs[0])),
                                   "export the model with axes, or fix the dim with --shape");
        }
        if (squeezed && (!is_const || size != 1)) {
            return xpu_onnx_refuse(
                node, "onnx-shape", xpu_onnx_format(node, "dim %d cannot be removed", i),
                xpu_onnx_format(node, "the input has shape %s", xpu_onnx_shape_text(node, node->inputs[0])),
                is_const ? NULL : "fix the dim to 1 with --shape");
        }
        if (!squeezed) dims[rank++] = info->dims[i];
    }
    return xpu_onnx_reshape(node, node->inputs[0], dims, rank, 1);
}

xpu_value xpu_onnx_convert_unsqueeze(xpu_onnx_node *node) {
    const xpu_value_info *info = xpu_onnx_info(node, node->inputs[0]);
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, "axes");
    size_t added = attr ? attr->n_ints : 0;
    if (xpu_onnx_has_input(node, 1)) {
        uint32_t count = 0;
        if (!xpu_onnx_const_ints(node, 1, &count)) return (xpu_value){0};
        added = count;
    }
    if (added + (size_t)info->rank > XPU_MAX_RANK) {
        return xpu_onnx_refuse(node, "onnx-shape", "the result has too many dims",
                               xpu_onnx_format(node, "at most %d are supported", XPU_MAX_RANK), NULL);
    }
    int given = 0, rank = info->rank + (int)added, next = 0;
    int64_t axes = read_axes(node, rank, &given);
    if (axes < 0) return (xpu_value){0};
    if (!given) return xpu_onnx_refuse(node, "onnx-operand", "the axes are missing", "Unsqueeze requires them", NULL);
    xpu_dim dims[XPU_MAX_RANK];
    for (int i = 0; i < rank; i++) dims[i] = axes >> i & 1 ? xpu_dim_const(table_of(node), 1) : info->dims[next++];
    return xpu_onnx_reshape(node, node->inputs[0], dims, rank, 1);
}

/* ---- Transpose, Concat ---- */

xpu_value xpu_onnx_convert_transpose(xpu_onnx_node *node) {
    int rank = xpu_onnx_info(node, node->inputs[0])->rank;
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, "perm");
    int64_t perm[XPU_MAX_RANK];
    unsigned seen = 0;
    for (int i = 0; i < rank; i++) perm[i] = rank - 1 - i;
    int fits = !attr || attr->n_ints == (size_t)rank;
    for (int i = 0; attr && fits && i < rank; i++) {
        fits = attr->ints[i] >= 0 && attr->ints[i] < rank && !(seen >> attr->ints[i] & 1);
        if (!fits) break;
        perm[i] = attr->ints[i];
        seen |= 1u << perm[i];
    }
    if (!fits) {
        return xpu_onnx_refuse(node, "onnx-attribute", "attribute 'perm' is invalid",
                               xpu_onnx_format(node, "it is no permutation of the %d dims of the input", rank), NULL);
    }
    return xpu_onnx_transpose(node, node->inputs[0], perm, rank, 1);
}

/* Up to 64 operands at a time; more are joined in groups. */
xpu_value xpu_onnx_convert_concat(xpu_onnx_node *node) {
    if (!xpu_onnx_attr_of(node, "axis")) {
        return xpu_onnx_refuse(node, "onnx-attribute", "attribute 'axis' is invalid", "it is missing", NULL);
    }
    int64_t given = xpu_onnx_attr_int(node, "axis", 0);
    int axis = xpu_onnx_axis(node, given, xpu_onnx_info(node, node->inputs[0])->rank);
    if (axis < 0) return (xpu_value){0};
    if (given < 0 && node->version < 11) {
        return xpu_onnx_refuse(node, "onnx-attribute", "the axis is out of range",
                               xpu_onnx_format(node, "axis %" PRId64 " before opset 11", given), NULL);
    }
    xpu_attr attr = XPU_ATTR_INT_OF(AXIS, axis);
    xpu_value parts[MAX_CONCAT] = {node->inputs[0]};
    uint32_t next = 1, count = 1;
    do {
        while (count < MAX_CONCAT && next < node->input_count) parts[count++] = node->inputs[next++];
        parts[0] = xpu_onnx_build(node, XPU_OP_CONCAT, parts, count, &attr, 1, next == node->input_count);
        count = 1;
    } while (parts[0].id && next < node->input_count);
    return parts[0];
}

/* ---- Softmax ---- */

/* From opset 13 along one axis; before, over all dims from the axis on. */
xpu_value xpu_onnx_convert_softmax(xpu_onnx_node *node) {
    xpu_value x = node->inputs[0];
    const xpu_value_info info = *xpu_onnx_info(node, x);
    int whole = node->version < 13;
    int64_t given = xpu_onnx_attr_int(node, "axis", whole ? 1 : -1);
    if (whole && given == info.rank) {
        return xpu_onnx_refuse(node, "onnx-unsupported-form", "the softmax is over nothing",
                               xpu_onnx_format(node, "axis %" PRId64 " of a tensor of rank %d", given, info.rank),
                               NULL);
    }
    int axis = xpu_onnx_axis(node, given, info.rank);
    if (axis < 0) return (xpu_value){0};
    if (!whole || axis == info.rank - 1) {
        return xpu_onnx_build(node, XPU_OP_SOFTMAX, &x, 1, &XPU_ATTR_INT_OF(AXIS, axis), 1, 1);
    }
    xpu_dim matrix[] = {xpu_onnx_product(node, info.dims, 0, axis), xpu_onnx_product(node, info.dims, axis, info.rank)};
    xpu_value rows = xpu_onnx_reshape(node, x, matrix, 2, 0);
    if (!rows.id) return rows;
    xpu_value result = xpu_onnx_build(node, XPU_OP_SOFTMAX, &rows, 1, &XPU_ATTR_INT_OF(AXIS, 1), 1, 0);
    return result.id ? xpu_onnx_reshape(node, result, info.dims, info.rank, 1) : result;
}

/* ---- Identity, Dropout, Constant ---- */

xpu_value xpu_onnx_convert_identity(xpu_onnx_node *node) {
    if (xpu_onnx_info(node, node->inputs[0])->kind == XPU_VALUE_CONST) return node->inputs[0];
    return xpu_onnx_build(node, XPU_OP_IDENTITY, node->inputs, 1, NULL, 0, 1);
}

xpu_value xpu_onnx_convert_dropout(xpu_onnx_node *node) {
    if (node->version < 12 && node->input_count > 1) {
        return xpu_onnx_refuse(node, "onnx-operand", "the node has too many inputs", "before opset 12, Dropout has one",
                               NULL);
    }
    if (xpu_onnx_output_used(node, 1)) {
        return xpu_onnx_refuse(node, "onnx-unsupported-form", "the mask of Dropout is not supported",
                               xpu_onnx_format(node, "result 1 ('%s') is used",
                                               xpu_escape(node->importer->scratch, node->proto->output[1], 100)),
                               "export the model for inference (model.eval())");
    }
    if (xpu_onnx_has_input(node, 2)) {
        const xpu_value_info *mode = xpu_onnx_info(node, node->inputs[2]);
        xpu_tensor tensor;
        const xpu_onnx_importer *importer = node->importer;
        int known =
            mode->constant && mode->dtype == XPU_BOOL && mode->rank <= 1 &&
            xpu_const_tensor(importer->graph, node->inputs[2], importer->scratch, &tensor, importer->diags) == XPU_OK &&
            xpu_tensor_count(&tensor) == 1;
        if (!known || *(const uint8_t *)tensor.data != 0) {
            return xpu_onnx_refuse(node, "onnx-unsupported-form", "the training form is not supported",
                                   known ? "training_mode is true" : "training_mode is no constant",
                                   "export the model for inference (model.eval())");
        }
    }
    return xpu_onnx_convert_identity(node);
}

static xpu_value scalar_or_list(xpu_onnx_node *node, xpu_dtype dtype, const void *data, size_t count, int rank) {
    xpu_tensor tensor = {.dtype = dtype, .rank = rank, .dims = {(int64_t)count}, .data = (void *)data};
    if (count == 0) tensor.data = (void *)"";
    const char *name = xpu_onnx_constant_name(node->importer, node->proto->output[0]);
    return xpu_graph_const_bytes(node->importer->graph, name, &tensor);
}

xpu_value xpu_onnx_convert_constant(xpu_onnx_node *node) {
    if (node->proto->n_attribute != 1) {
        return xpu_onnx_refuse(node, "onnx-attribute", "the constant's value is invalid",
                               xpu_onnx_format(node, "%zu attributes give it, not one", node->proto->n_attribute),
                               NULL);
    }
    const xpu_onnx_attr_proto *attr = node->proto->attribute[0];
    if (strcmp(attr->name, "value") == 0) {
        return xpu_onnx_constant(node->importer, attr->t, node->proto->output[0], node->where);
    }
    if (strcmp(attr->name, "value_float") == 0) return scalar_or_list(node, XPU_F32, &attr->f, 1, 0);
    if (strcmp(attr->name, "value_int") == 0) return scalar_or_list(node, XPU_I64, &attr->i, 1, 0);
    if (strcmp(attr->name, "value_floats") == 0) return scalar_or_list(node, XPU_F32, attr->floats, attr->n_floats, 1);
    return scalar_or_list(node, XPU_I64, attr->ints, attr->n_ints, 1);
}
