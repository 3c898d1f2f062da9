/* How every import ends. */
#include "frontend/import.h"

xpu_status xpu_import_end(const xpu_import_options *options, struct xpu_graph *made, size_t errors, size_t first,
                          const xpu_diags *diags, struct xpu_graph **graph) {
    if (diags->errors == errors) {
        *graph = made;
        return XPU_OK;
    }
    if (options->partial) *options->partial = made;
    for (size_t i = first; i < diags->count; i++) {
        if (diags->items[i].severity == XPU_SEVERITY_ERROR) return diags->items[i].status;
    }
    return XPU_EMODEL;
}
