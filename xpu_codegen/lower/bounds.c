#include "xpu_codegen/lower/bounds.h"

#include <string.h>

static int is_in_shape(const xpu_graph *graph, uint32_t symbol) {
    for (uint32_t id = 1; id < graph->values.count; id++) {
        const xpu_value_info *info = &graph->values.items[id];
        for (int d = 0; d < info->rank; d++) {
            if (xpu_dim_has_symbol(&graph->dims, info->dims[d], symbol)) return 1;
        }
    }
    return 0;
}

/* What --bound calls the symbol, and others of its node: "y" for "y/dim". */
static const char *bound_name(xpu_codegen *cg, const xpu_symbol *symbol) {
    const char *slash = strrchr(symbol->name, '/');
    return slash && slash > symbol->name ? xpu_strndup(cg->arena, symbol->name, (size_t)(slash - symbol->name))
                                         : symbol->name;
}

/* The node that finds the size. */
static const char *finder(const xpu_codegen *cg, const xpu_symbol *symbol) {
    const xpu_value_info *info = xpu_value_at(cg->graph, symbol->value);
    xpu_node node = info->kind == XPU_VALUE_ARGUMENT ? xpu_block_at(cg->graph, info->block)->owner : info->node;
    return node.id ? xpu_node_where(cg->graph, node, cg->arena) : NULL;
}

xpu_status xpu_check_bounds(xpu_codegen *cg) {
    const xpu_graph *graph = cg->graph;
    const char *told = "";
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) {
        const xpu_symbol *symbol = &graph->dims.symbols.items[i];
        if (!xpu_symbol_is_dynamic(graph, i) || symbol->bound.id || symbol->max < INT32_MAX - 1) continue;
        if (!is_in_shape(graph, i)) continue;
        const char *name = bound_name(cg, symbol);
        if (strcmp(name, told) == 0) continue; /* a loop has several */
        told = name;
        xpu_error(cg->diags, XPU_EMODEL, graph->file, "value-open", finder(cg, symbol),
                  xpu_printf(cg->arena, "nothing bounds the size '%s', which only the run knows",
                             xpu_escape(cg->arena, symbol->name, 80)),
                  "memory is planned before the run, for the largest size",
                  xpu_printf(cg->arena, "say how large it may be: --bound=%s=N", xpu_escape(cg->arena, name, 80)));
    }
    return xpu_diags_status(cg->diags);
}
