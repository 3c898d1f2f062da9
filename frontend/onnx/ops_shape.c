/* Operators that move or rename elements, Softmax, and constants. */
#include <inttypes.h>
#include <string.h>

#include "frontend/onnx/importer.h"

static int rank_of(const xpu_onnx_node *node) {
    return xpu_onnx_info(node, node->inputs[0])->rank;
}

xpu_value xpu_onnx_convert_flatten(xpu_onnx_node *node) {
    int64_t axis = xpu_onnx_attr_int(node, "axis", 1);
    if (axis < 0 && node->version < 11) {
        return xpu_onnx_refuse(node, "onnx-attribute", "the axis is out of range",
                               xpu_onnx_format(node, "axis %" PRId64 " of a tensor of rank %d", axis, rank_of(node)),
                               NULL);
    }
    return fe_flatten(&node->build, node->inputs[0], axis);
}

xpu_value xpu_onnx_convert_reshape(xpu_onnx_node *node) {
    int ok = 1, allow_zero = xpu_onnx_attr_flag(node, "allowzero", 0, &ok);
    fe_dims shape;
    if (!xpu_onnx_dim_list(node, 1, &shape) || !ok) return (xpu_value){0};
    return fe_reshape(&node->build, node->inputs[0], shape, allow_zero);
}

/* A place among `rank` dims, from the end where it is negative, as far as there are dims. */
static int64_t place_of(int64_t place, int rank) {
    if (place < 0) place += rank;
    return place < 0 ? 0 : place > rank ? rank : place;
}

xpu_value xpu_onnx_convert_shape(xpu_onnx_node *node) {
    const xpu_value_info info = *xpu_onnx_info(node, node->inputs[0]);
    int64_t start = place_of(xpu_onnx_attr_int(node, "start", 0), info.rank);
    int64_t end = place_of(xpu_onnx_attr_int(node, "end", info.rank), info.rank);
    return fe_dim_values(&node->build, info.dims + start, end > start ? (uint32_t)(end - start) : 0, 1);
}

xpu_value xpu_onnx_convert_size(xpu_onnx_node *node) {
    const xpu_value_info info = *xpu_onnx_info(node, node->inputs[0]);
    xpu_dim size = fe_dim_product(&node->build, info.dims, 0, info.rank);
    if (!size.id) {
        return xpu_onnx_refuse(node, "onnx-shape", "the number of elements is no expression that can be kept",
                               fe_shape_text(&node->build, node->inputs[0]), "fix the shape with --shape");
    }
    return fe_dim_values(&node->build, &size, 1, 0);
}

/* The axes, an attribute or (from opset 13) operand 1; 0 after reporting. */
static int read_axes(const xpu_onnx_node *node, fe_ints *axes) {
    *axes = xpu_onnx_attr_ints(node, "axes");
    if (node->version < 13 && node->input_count > 1) {
        xpu_onnx_refuse(node, "onnx-operand", "the node has too many inputs",
                        "before opset 13, the axes are an attribute", NULL);
        return 0;
    }
    return !xpu_onnx_has_input(node, 1) || xpu_onnx_const_ints(node, 1, axes);
}

xpu_value xpu_onnx_convert_squeeze(xpu_onnx_node *node) {
    fe_ints axes;
    return read_axes(node, &axes) ? fe_squeeze(&node->build, node->inputs[0], axes) : (xpu_value){0};
}

xpu_value xpu_onnx_convert_unsqueeze(xpu_onnx_node *node) {
    fe_ints axes;
    return read_axes(node, &axes) ? fe_unsqueeze(&node->build, node->inputs[0], axes) : (xpu_value){0};
}

xpu_value xpu_onnx_convert_transpose(xpu_onnx_node *node) {
    return fe_transpose(&node->build, node->inputs[0], xpu_onnx_attr_ints(node, "perm"));
}

xpu_value xpu_onnx_convert_concat(xpu_onnx_node *node) {
    if (!xpu_onnx_attr_of(node, "axis")) {
        return xpu_onnx_refuse(node, "onnx-attribute", "attribute 'axis' is invalid", "it is missing", NULL);
    }
    int64_t axis = xpu_onnx_attr_int(node, "axis", 0);
    if (axis < 0 && axis >= -rank_of(node) && node->version < 11) {
        return xpu_onnx_refuse(node, "onnx-attribute", "the axis is out of range",
                               xpu_onnx_format(node, "axis %" PRId64 " before opset 11", axis), NULL);
    }
    return fe_concat(&node->build, node->inputs, node->input_count, axis);
}

xpu_value xpu_onnx_convert_softmax(xpu_onnx_node *node) {
    int whole = node->version < 13;
    return fe_softmax(&node->build, node->inputs[0], xpu_onnx_attr_int(node, "axis", whole ? 1 : -1), whole);
}

typedef struct {
    fe_ints axes;
    int keep, noop; /* noop: nothing is reduced */
} reduction_form;

/* The axes are an attribute or, from version `from` on, an operand; 0 after reporting. */
static int read_reduction(const xpu_onnx_node *node, int from, reduction_form *form) {
    int ok = 1;
    form->keep = xpu_onnx_attr_flag(node, "keepdims", 1, &ok);
    form->noop = xpu_onnx_attr_flag(node, "noop_with_empty_axes", 0, &ok);
    form->axes = xpu_onnx_attr_ints(node, "axes");
    if (node->input_count > 1 && node->version < from) {
        xpu_onnx_refuse(node, "onnx-operand", "the node has too many inputs",
                        "in this opset, the axes are an attribute", NULL);
        return 0;
    }
    if (xpu_onnx_has_input(node, 1)) ok &= xpu_onnx_const_ints(node, 1, &form->axes);
    form->noop = form->noop && form->axes.count == 0;
    return ok;
}

xpu_value xpu_onnx_convert_reduce(xpu_onnx_node *node) {
    reduction_form form;
    if (!read_reduction(node, node->row->op == XPU_OP_REDUCE_SUM ? 13 : 18, &form)) return (xpu_value){0};
    if (form.noop) return fe_identity(&node->build, node->inputs[0]);
    return fe_reduce(&node->build, node->row->op, node->inputs[0], form.axes, form.keep);
}

xpu_value xpu_onnx_convert_reduce_function(xpu_onnx_node *node) {
    static const char *const names[] = {[FE_L1] = "ReduceL1",
                                        [FE_L2] = "ReduceL2",
                                        [FE_SUM_SQUARE] = "ReduceSumSquare",
                                        [FE_LOG_SUM] = "ReduceLogSum",
                                        [FE_LOG_SUM_EXP] = "ReduceLogSumExp"};
    reduction_form form;
    int kind = 0;
    if (!read_reduction(node, 18, &form)) return (xpu_value){0};
    while (strcmp(names[kind], node->row->name) != 0) kind++;
    return fe_reduce_function(&node->build, (fe_reduction)kind, node->inputs[0], form.axes, form.keep, form.noop);
}

xpu_value xpu_onnx_convert_arg_extreme(xpu_onnx_node *node) {
    int ok = 1, keep = xpu_onnx_attr_flag(node, "keepdims", 1, &ok);
    int last = xpu_onnx_attr_flag(node, "select_last_index", 0, &ok), is_max = node->row->op == XPU_OP_REDUCE_MAX;
    if (!ok) return (xpu_value){0};
    return fe_arg_extreme(&node->build, is_max, node->inputs[0], xpu_onnx_attr_int(node, "axis", 0), keep, last);
}

/* ---- Identity, Dropout, Constant ---- */

xpu_value xpu_onnx_convert_identity(xpu_onnx_node *node) {
    return fe_identity(&node->build, node->inputs[0]);
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
        return xpu_onnx_constant(node->importer, attr->t, node->proto->output[0], node->build.where);
    }
    if (strcmp(attr->name, "value_float") == 0) return scalar_or_list(node, XPU_F32, &attr->f, 1, 0);
    if (strcmp(attr->name, "value_int") == 0) return scalar_or_list(node, XPU_I64, &attr->i, 1, 0);
    if (strcmp(attr->name, "value_floats") == 0) return scalar_or_list(node, XPU_F32, attr->floats, attr->n_floats, 1);
    return scalar_or_list(node, XPU_I64, attr->ints, attr->n_ints, 1);
}
