/* The bounds that the user gives for sizes that only the run knows (--bound). */
#include <string.h>

#include "base/option.h"
#include "frontend/inputs.h"

void xpu_take_given_bounds(const xpu_input_reader *importer) {
    const xpu_import_options *options = importer->options;
    xpu_dims *dims = &importer->graph->dims;
    dims->bounds = XPU_NEW_ARRAY(importer->graph->arena, xpu_size_bound, options->bound_count);
    dims->bound_count = options->bound_count;
    for (uint32_t i = 0; i < options->bound_count; i++) {
        dims->bounds[i].name = xpu_strdup(importer->graph->arena, options->bounds[i].name);
        dims->bounds[i].most = options->bounds[i].most;
    }
}

/* Whether it is an input whose elements may be sizes. */
static int is_input(const xpu_graph *graph, const char *name) {
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        if (info->known && strcmp(info->name, name) == 0) return 1;
    }
    return 0;
}

void xpu_check_given_bounds(const xpu_input_reader *importer) {
    enum { SHOWN = 8, LONGEST = 100 };
    xpu_arena *scratch = importer->scratch;
    const xpu_import_options *options = importer->options;
    const xpu_graph *graph = importer->graph;
    const xpu_dims *dims = &graph->dims;
    const char **names = XPU_NEW_ARRAY(scratch, const char *, dims->symbols.count + 1);
    uint32_t count = 0;
    xpu_text known;
    xpu_text_init(&known, scratch);
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        if (!xpu_symbol_is_dynamic(graph, i)) continue;
        names[count++] = dims->symbols.items[i].name;
        if (count > SHOWN) continue;
        xpu_text_add(&known, "%s'%s'", count > 1 ? ", " : "", xpu_escape(scratch, names[count - 1], LONGEST));
    }
    if (count > SHOWN) xpu_text_add(&known, " and %u more", count - SHOWN);
    for (uint32_t i = 0; i < dims->bound_count; i++) {
        if (dims->bounds[i].used) continue;
        const char *nearest = xpu_nearest(dims->bounds[i].name, names);
        const char *name = xpu_escape(scratch, dims->bounds[i].name, LONGEST), *hint = "leave --bound out";
        if (nearest)
            hint = xpu_printf(scratch, "did you mean '%s'?", nearest);
        else if (is_input(graph, dims->bounds[i].name))
            hint = xpu_printf(scratch, "--value says what an input holds: --value=%s=0..%lld", name,
                              (long long)dims->bounds[i].most);
        else if (count)
            hint = "leave --bound out, or name one of these";
        xpu_diag_add(importer->diags, options->is_part ? XPU_SEVERITY_WARNING : XPU_SEVERITY_ERROR,
                     options->is_part ? XPU_OK : XPU_EUSAGE, NULL, "bound-option",
                     xpu_printf(scratch, "--bound %s", name), "no size that the run finds has this name",
                     count ? xpu_printf(scratch, "they are %s", known.text) : "shapes decide all sizes of the model",
                     hint);
    }
}
