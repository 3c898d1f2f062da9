#include "xpu_codegen/lower/bounds.h"

enum { DEFAULT_BOUND = 4096 };

static int is_in_shape(const xpu_graph *graph, uint32_t symbol) {
    for (uint32_t id = 1; id < graph->values.count; id++) {
        const xpu_value_info *info = &graph->values.items[id];
        for (int d = 0; d < info->rank; d++) {
            if (xpu_dim_has_symbol(&graph->dims, info->dims[d], symbol)) return 1;
        }
    }
    return 0;
}

void xpu_bound_sizes(xpu_codegen *cg) {
    xpu_graph *graph = cg->graph;
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) {
        xpu_symbol *symbol = &graph->dims.symbols.items[i];
        if (!xpu_symbol_is_dynamic(graph, i) || symbol->bound.id || symbol->max < INT32_MAX - 1) continue;
        if (symbol->min > DEFAULT_BOUND || !is_in_shape(graph, i)) continue;
        symbol->max = DEFAULT_BOUND;
        xpu_diag_add(cg->diags, XPU_SEVERITY_NOTE, XPU_OK, graph->file, "value-open",
                     xpu_printf(cg->arena, "symbol '%s'", xpu_escape(cg->arena, symbol->name, 80)),
                     xpu_printf(cg->arena, "a size that only the run knows is taken for at most %d", DEFAULT_BOUND),
                     "nothing in the model bounds it, and memory is planned before the run",
                     xpu_printf(cg->arena,
                                "say how large it may be: --bound=%s=N; a run that finds more ends with [value-bound]",
                                xpu_escape(cg->arena, symbol->name, 80)));
    }
}
