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
