/* What the writers refuse, [convert-operator]: a row of refused.def each; of these docgen makes conversions.md. */
#ifndef XPU_CONVERT_REFUSED_H
#define XPU_CONVERT_REFUSED_H

#include "core/ops/op.h"

typedef enum { XPU_TO_ONNX, XPU_TO_PADDLE, XPU_TO_EITHER } xpu_refusing_format;

typedef enum {
#define REFUSED(id, format, what, why, hint) XPU_REFUSED_##id,
#define SINCE(id, opset, what)
#include "convert/refused.def"
#undef REFUSED
#undef SINCE
    XPU_REFUSED_COUNT
} xpu_refused;

typedef enum {
#define REFUSED(id, format, what, why, hint)
#define SINCE(id, opset, what) XPU_SINCE_##id,
#include "convert/refused.def"
#undef REFUSED
#undef SINCE
    XPU_SINCE_COUNT
} xpu_since_id;

typedef struct {
    xpu_refusing_format format;
    const char *what; /* "": only passes make it */
    const char *why, *hint;
} xpu_refused_row;

typedef struct {
    int opset;
    const char *what;
} xpu_since;

const xpu_refused_row *xpu_refused_row_of(xpu_refused id);
const xpu_since *xpu_since_of(xpu_since_id id);

/* The node that is being written, and as what. */
typedef struct {
    xpu_graph *graph;
    xpu_node node;
    xpu_arena *arena;
    xpu_diags *diags;
    const char *format;
} xpu_refusing;
void xpu_refuse(const xpu_refusing *at, const char *why, const char *hint);
void xpu_refuse_size(const xpu_refusing *at, const char *name); /* of a symbol that no input has */

#endif
