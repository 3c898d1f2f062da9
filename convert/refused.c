/* What the writers refuse, by the rows of refused.def. */
#include "convert/refused.h"

static const xpu_refused_row refusals[] = {
#define REFUSED(id, format, what, why, hint) {XPU_TO_##format, what, why, hint},
#define SINCE(id, opset, what)
#include "convert/refused.def"
#undef REFUSED
#undef SINCE
};

static const xpu_since sinces[] = {
#define REFUSED(id, format, what, why, hint)
#define SINCE(id, opset, what) {opset, what},
#include "convert/refused.def"
#undef REFUSED
#undef SINCE
};

const xpu_refused_row *xpu_refused_row_of(xpu_refused id) {
    return &refusals[id];
}

const xpu_since *xpu_since_of(xpu_since_id id) {
    return &sinces[id];
}

void xpu_refuse(const xpu_refusing *at, const char *why, const char *hint) {
    xpu_error(at->diags, XPU_EMODEL, at->graph->file, "convert-operator",
              xpu_node_where(at->graph, at->node, at->arena),
              xpu_printf(at->arena, "the operator has no counterpart in %s (%s)", at->format,
                         xpu_node_at(at->graph, at->node)->op->name),
              why, hint);
}

void xpu_refuse_size(const xpu_refusing *at, const char *name) {
    const xpu_refused_row *row = xpu_refused_row_of(XPU_REFUSED_SIZE);
    xpu_refuse(at, xpu_printf(at->arena, "%s '%s'", row->why, xpu_escape(at->arena, name, 100)), row->hint);
}
