/* Prototypes of the functions that ops.def names, made from its rows. For core/ops only. */
#ifndef XPU_CORE_OPS_ROWS_H
#define XPU_CORE_OPS_ROWS_H

#include "core/ops/op.h"

/* OP's arguments are expanded first, so that FN(f) and NONE("reason") can be told apart by pasting. */
#define XPU_PROTOTYPE_VALUE_FN(f)  int f(xpu_graph *graph, xpu_node node, xpu_diags *diags);
#define XPU_PROTOTYPE_REF_FN(f)    xpu_status f(const xpu_ref_args *args);
#define XPU_PROTOTYPE_EXPAND_FN(f) xpu_status f(xpu_graph *graph, xpu_node node, xpu_diags *diags);
#define XPU_PROTOTYPE_VALUE_NONE(r)
#define XPU_PROTOTYPE_REF_NONE(r)
#define XPU_PROTOTYPE_EXPAND_NONE(r)
#define XPU_PROTOTYPES(id, name, min, max, outputs, attrs, traits, takes, gives, elementwise, infer, value, ref,       \
                       expand, about)                                                                                  \
    xpu_status infer(xpu_graph *graph, xpu_node node, xpu_diags *diags);                                               \
    XPU_PROTOTYPE_VALUE_##value XPU_PROTOTYPE_REF_##ref XPU_PROTOTYPE_EXPAND_##expand
#define OP(...) XPU_PROTOTYPES(__VA_ARGS__)
#include "core/ops/ops.def"
#undef OP

#endif
