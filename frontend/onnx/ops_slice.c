/* Slices, parts, repeated tensors, rows by index. */
#include <inttypes.h>

#include "frontend/onnx/importer.h"

static const xpu_value failed = {0};

static xpu_value too_many_inputs(const xpu_onnx_node *node, uint32_t most) {
    return xpu_onnx_refuse(node, "onnx-operand", "the node has too many inputs",
                           xpu_onnx_format(node, "%s-%d has at most %u", node->row->name, node->version, most), NULL);
}

static xpu_value missing(const xpu_onnx_node *node, const char *name) {
    fe_bad_attr(&node->build, name, "it is missing");
    return failed;
}

xpu_value xpu_onnx_convert_slice(xpu_onnx_node *node) {
    fe_slicing slicing = {.axes = {NULL, 0}};
    if (node->version < 10) { /* attributes */
        if (node->input_count > 1) return too_many_inputs(node, 1);
        slicing.starts = xpu_onnx_dims_of(node, xpu_onnx_attr_ints(node, "starts"));
        slicing.ends = xpu_onnx_dims_of(node, xpu_onnx_attr_ints(node, "ends"));
        slicing.axes = xpu_onnx_attr_ints(node, "axes");
        if (!slicing.starts.items) return missing(node, "starts");
        if (!slicing.ends.items) return missing(node, "ends");
        return fe_slice(&node->build, node->inputs[0], &slicing);
    }
    for (uint32_t i = 1; i <= 2; i++) {
        if (xpu_onnx_has_input(node, i)) continue;
        return xpu_onnx_refuse(node, "onnx-operand", xpu_onnx_format(node, "input %u is missing", i),
                               "from opset 10, starts and ends are inputs", NULL);
    }
    if (!xpu_onnx_place_list(node, 1, &slicing.starts) || !xpu_onnx_place_list(node, 2, &slicing.ends)) return failed;
    if (xpu_onnx_has_input(node, 3) && !xpu_onnx_const_ints(node, 3, &slicing.axes)) return failed;
    if (xpu_onnx_has_input(node, 4) && !xpu_onnx_const_ints(node, 4, &slicing.steps)) return failed;
    return fe_slice(&node->build, node->inputs[0], &slicing);
}

xpu_value xpu_onnx_convert_split(xpu_onnx_node *node) {
    int64_t parts = xpu_onnx_attr_int(node, "num_outputs", (int64_t)node->proto->n_output);
    int has_parts = xpu_onnx_attr_of(node, "num_outputs") != NULL;
    fe_splitting splitting = {.axis = xpu_onnx_attr_int(node, "axis", 0),
                              .parts = (uint32_t)node->proto->n_output,
                              .sizes = xpu_onnx_dims_of(node, xpu_onnx_attr_ints(node, "split")),
                              .ragged = has_parts};
    if (node->version < 13 && node->input_count > 1) return too_many_inputs(node, 1);
    if (parts != (int64_t)node->proto->n_output) {
        fe_bad_attr(&node->build, "num_outputs",
                    xpu_onnx_format(node, "it is %" PRId64 ", the node has %zu results", parts, node->proto->n_output));
        return failed;
    }
    if (has_parts && xpu_onnx_has_input(node, 1)) {
        fe_bad_attr(&node->build, "num_outputs", "the sizes of the parts are given, too");
        return failed;
    }
    if (xpu_onnx_has_input(node, 1) && !xpu_onnx_dim_list(node, 1, &splitting.sizes)) return failed;
    return fe_split(&node->build, node->inputs[0], &splitting, node->results) ? node->results[0] : failed;
}

xpu_value xpu_onnx_convert_expand(xpu_onnx_node *node) {
    fe_dims shape;
    return xpu_onnx_dim_list(node, 1, &shape) ? fe_expand(&node->build, node->inputs[0], shape) : failed;
}

xpu_value xpu_onnx_convert_tile(xpu_onnx_node *node) {
    fe_dims repeats;
    return xpu_onnx_dim_list(node, 1, &repeats) ? fe_tile(&node->build, node->inputs[0], repeats) : failed;
}

xpu_value xpu_onnx_convert_constant_of_shape(xpu_onnx_node *node) {
    static const float zero = 0;
    xpu_onnx_importer *importer = node->importer;
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, "value");
    const char *name = xpu_onnx_format(node, "%s/value", node->proto->output[0]);
    xpu_tensor tensor = {.dtype = XPU_F32, .data = (void *)(uintptr_t)&zero};
    fe_dims shape;
    if (!xpu_onnx_dim_list(node, 0, &shape)) return failed;
    for (size_t i = 0; i < shape.count; i++) {
        if (xpu_dim_max(&importer->graph->dims, shape.items[i]) >= 0) continue;
        return xpu_onnx_refuse(node, "onnx-operand", "the shape is invalid",
                               xpu_onnx_format(node, "dim %zu is negative", i), NULL);
    }
    if (attr) {
        xpu_value given = xpu_onnx_constant(importer, attr->t, name, node->build.where);
        if (!given.id ||
            xpu_const_tensor(importer->graph, given, importer->scratch, &tensor, importer->diags) != XPU_OK) {
            return failed;
        }
        if (xpu_tensor_count(&tensor) != 1) {
            fe_bad_attr(&node->build, "value", "it has more than one element, or none");
            return failed;
        }
    }
    tensor.rank = 0;
    return fe_expand(&node->build, xpu_graph_const_bytes(importer->graph, name, &tensor), shape);
}

/* ---- gather ---- */

xpu_value xpu_onnx_convert_gather(xpu_onnx_node *node) {
    return fe_gather(&node->build, node->inputs[0], node->inputs[1], xpu_onnx_attr_int(node, "axis", 0));
}

xpu_value xpu_onnx_convert_gather_elements(xpu_onnx_node *node) {
    return fe_gather_elements(&node->build, node->inputs[0], node->inputs[1], xpu_onnx_attr_int(node, "axis", 0));
}

xpu_value xpu_onnx_convert_gather_nd(xpu_onnx_node *node) {
    return fe_gather_nd(&node->build, node->inputs[0], node->inputs[1], xpu_onnx_attr_int(node, "batch_dims", 0));
}

/* ---- as large as the data say ---- */

xpu_value xpu_onnx_convert_nonzero(xpu_onnx_node *node) {
    return fe_nonzero(&node->build, node->inputs[0]);
}

xpu_value xpu_onnx_convert_compress(xpu_onnx_node *node) {
    const int64_t axis = xpu_onnx_attr_int(node, "axis", 0);
    return fe_compress(&node->build, node->inputs[0], node->inputs[1], xpu_onnx_attr_of(node, "axis") ? &axis : NULL);
}
