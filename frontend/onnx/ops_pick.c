/* Operators that choose and place elements. */
#include <string.h>

#include "frontend/onnx/importer.h"

static const xpu_value failed = {0};

/* ---- scatter ---- */

static int read_scatter(const xpu_onnx_node *node, fe_scattering *s) {
    static const char *const kinds[XA_PLACINGS] = {"none", "add", "mul", "max", "min"};
    const char *kind = xpu_onnx_attr_string(node, "reduction", kinds[XA_PLACE]);
    *s = (fe_scattering){.x = node->inputs[0], .indices = node->inputs[1], .updates = node->inputs[2]};
    s->axis = xpu_onnx_attr_int(node, "axis", 0);
    const int known = node->version < 18 ? XA_PLACE_MAX : XA_PLACINGS;
    for (int i = 0; i < known; i++) {
        s->kind = (xa_placing)i;
        if (strcmp(kind, kinds[i]) == 0) return 1;
    }
    return fe_bad_attr(&node->build, "reduction", "none, add and mul are defined, since opset 18 max and min");
}

xpu_value xpu_onnx_convert_scatter_elements(xpu_onnx_node *node) {
    fe_scattering s;
    return read_scatter(node, &s) ? fe_scatter_elements(&node->build, &s) : failed;
}

xpu_value xpu_onnx_convert_scatter_nd(xpu_onnx_node *node) {
    fe_scattering s;
    return read_scatter(node, &s) ? fe_scatter_nd(&node->build, &s) : failed;
}

/* ---- order ---- */

/* How many, from an attribute or an operand of one element, which may be an expression or what the run finds. */
static int read_k(xpu_onnx_node *node, xpu_dim *k) {
    xpu_dims *dims = &node->importer->graph->dims;
    fe_dims list = {NULL, 0};
    if (node->version < 10) {
        if (!xpu_onnx_attr_of(node, "k")) return fe_bad_attr(&node->build, "k", "it is missing");
        *k = xpu_dim_const(dims, xpu_onnx_attr_int(node, "k", 0));
    } else {
        if (!xpu_onnx_dim_list(node, 1, &list)) return 0;
        if (list.count != 1) {
            xpu_onnx_refuse(node, "onnx-operand", "K is invalid", "it has one element", NULL);
            return 0;
        }
        *k = list.items[0];
    }
    if (xpu_dim_max(dims, *k) >= 0) return 1;
    xpu_onnx_refuse(node, "onnx-operand", "K is invalid", "it is negative", NULL);
    return 0;
}

xpu_value xpu_onnx_convert_top(xpu_onnx_node *node) {
    fe_ordering order = {.axis = xpu_onnx_attr_int(node, "axis", -1)};
    xpu_value results[2] = {{0}, {0}};
    int ok = 1;
    order.largest = xpu_onnx_attr_flag(node, "largest", 1, &ok);
    xpu_onnx_attr_flag(node, "sorted", 1, &ok);
    if (node->input_count != (node->version < 10 ? 1u : 2u)) {
        return xpu_onnx_refuse(node, "onnx-operand", "the number of inputs is wrong",
                               xpu_onnx_format(node, "TopK-%d has %d", node->version, node->version < 10 ? 1 : 2),
                               NULL);
    }
    if (!ok || !read_k(node, &order.k) || !fe_top(&node->build, node->inputs[0], &order, results)) return failed;
    for (uint32_t i = 0; i < node->proto->n_output && i < 2; i++) node->results[i] = results[i];
    return results[0];
}

/* ---- boxes ---- */

xpu_value xpu_onnx_convert_suppress(xpu_onnx_node *node) {
    fe_dims list = {NULL, 0};
    int ok = 1;
    fe_suppression form = {.boxes = node->inputs[0],
                           .scores = node->inputs[1],
                           .overlap = xpu_onnx_optional(node, 3),
                           .threshold = xpu_onnx_optional(node, 4)};
    form.is_center = xpu_onnx_attr_flag(node, "center_point_box", 0, &ok);
    form.most = xpu_dim_const(&node->importer->graph->dims, 0);
    if (!ok || (xpu_onnx_has_input(node, 2) && !xpu_onnx_dim_list(node, 2, &list))) return failed;
    if (list.count == 1) form.most = list.items[0];
    return fe_suppress(&node->build, &form);
}

/* ---- samples ---- */

/* The place of a text among others; -1 after reporting. */
static int place_among(const xpu_onnx_node *node, const char *name, const char *text, const char *const *texts,
                       int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(text, texts[i]) == 0) return i;
    fe_bad_attr(&node->build, name, xpu_onnx_format(node, "%s, %s and %s are defined", texts[0], texts[1], texts[2]));
    return -1;
}

xpu_value xpu_onnx_convert_grid_sample(xpu_onnx_node *node) {
    static const char *const older[] = {"nearest", "bilinear", "bicubic"}, *const newer[] = {"nearest", "linear",
                                                                                             "cubic"};
    static const char *const outside[] = {"zeros", "border", "reflection"};
    const char *const *modes = node->version < 20 ? older : newer;
    int ok = 1, align = xpu_onnx_attr_flag(node, "align_corners", 0, &ok);
    const int kind = place_among(node, "mode", xpu_onnx_attr_string(node, "mode", modes[1]), modes, 3);
    const int edge = place_among(node, "padding_mode", xpu_onnx_attr_string(node, "padding_mode", "zeros"), outside, 3);
    const xpu_dtype x = xpu_onnx_info(node, node->inputs[0])->dtype, grid = xpu_onnx_info(node, node->inputs[1])->dtype;
    for (int i = 0; i < 2; i++) {
        const xpu_dtype dtype = i ? grid : x;
        if (xpu_onnx_is_float(dtype)) continue;
        return xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "input %d is %s", i, xpu_dtype_name(dtype)),
                               "images and grids are floats", NULL);
    }
    const fe_sampling form = {.kind = (xa_resample_kind)kind, .outside = (fe_outside)edge, .align_corners = align};
    return ok && kind >= 0 && edge >= 0 ? fe_grid_sample(&node->build, node->inputs[0], node->inputs[1], &form)
                                        : failed;
}
