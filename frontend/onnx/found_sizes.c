/* Sizes that only the run knows: what the user has to say. */
#include "frontend/build/found.h"
#include "frontend/onnx/importer.h"

/* An input of integers that the value is computed from, and no other data: --value says what it holds. Or NULL. */
static const char *only_input(const xpu_onnx_importer *importer, xpu_value value) {
    const xpu_graph *graph = importer->graph;
    XPU_ARRAY(xpu_value) reached = {0};
    uint8_t *seen = XPU_NEW_ARRAY(importer->scratch, uint8_t, graph->values.count);
    const char *input = NULL;
    XPU_PUSH(importer->scratch, &reached, value);
    for (uint32_t i = 0; i < reached.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, reached.items[i]);
        if (seen[reached.items[i].id]++ || info->kind == XPU_VALUE_CONST) continue;
        if (info->kind == XPU_VALUE_INPUT && info->known && !xpu_has_value(importer->options, info->name)) {
            input = input ? input : info->name;
            continue;
        }
        if (info->kind != XPU_VALUE_NODE || xpu_node_at(graph, info->node)->block_count) return NULL;
        const xpu_node_info *node = xpu_node_at(graph, info->node);
        for (uint32_t k = 0; k < node->input_count; k++) {
            if (node->inputs[k].id) XPU_PUSH(importer->scratch, &reached, node->inputs[k]);
        }
    }
    return input;
}

int xpu_onnx_found_list(const xpu_onnx_node *node, uint32_t input, fe_dims *list) {
    const xpu_onnx_importer *importer = node->importer;
    const xpu_value value = node->inputs[input];
    if (!fe_found_count(importer->graph, value)) return -1;
    const int64_t most = xpu_dims_bound(&importer->graph->dims, xpu_onnx_info(node, value)->name);
    if (most < 0) {
        const char *name = xpu_escape(importer->scratch, xpu_onnx_info(node, value)->name, 100);
        const char *source = only_input(importer, value);
        if (source) source = xpu_escape(importer->scratch, source, 100);
        xpu_onnx_refuse(
            node, "onnx-bound",
            xpu_onnx_format(node, "input %u ('%s') sizes the result, and only the run knows it", input, name),
            "memory is planned before the run, for the largest size",
            source ? xpu_onnx_format(node, "say what input '%s' holds, for example --value=%s=1..100", source, source)
                   : xpu_onnx_format(node, "say how large it may be: --bound=%s=N", name));
        return 0;
    }
    *list = fe_found_list(importer->graph, importer->scratch, value, 0, most);
    return 1;
}

int xpu_onnx_place_list(xpu_onnx_node *node, uint32_t input, fe_dims *list) {
    const int found = fe_found_places(&node->build, node->inputs[input], list);
    return found >= 0 ? found : xpu_onnx_dim_list(node, input, list);
}
