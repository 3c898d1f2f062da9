#include "xpu_codegen/state.h"

void xpu_set_reason(xpu_codegen *cg, xpu_node node, const char *reason) {
    while (cg->reasons.count <= node.id) XPU_PUSH(cg->arena, &cg->reasons, NULL);
    cg->reasons.items[node.id] = reason;
}

const char *xpu_reason_of(const xpu_codegen *cg, xpu_node node) {
    return node.id < cg->reasons.count ? cg->reasons.items[node.id] : NULL;
}

xpu_status xpu_codegen_bug(xpu_codegen *cg, const char *what, const char *why, ...) {
    va_list args;
    va_start(args, why);
    char *text = xpu_vprintf(cg->arena, why, args);
    va_end(args);
    return xpu_error(cg->diags, XPU_EBUG, cg->graph->file, "codegen", NULL, what, text,
                     "report this as a bug of the compiler");
}
