/* The layers of a program: their names, and the calls that they make. */
#ifndef XPU_CODEGEN_LOWER_LAYERS_H
#define XPU_CODEGEN_LOWER_LAYERS_H

#include "xpu_codegen/choose/tiles.h"
#include "xpu_codegen/lower/calls.h"

/* One layer of the program: one node, as the kernel calls that it became. */
typedef struct xpu_codegen_layer {
    xpu_node node;
    uint32_t region;        /* node.region */
    const char *identifier; /* of its C function: "layer_3_conv1" */
    const char *comment;    /* the source nodes, one per line */
    XPU_ARRAY(xpu_call) calls;
    const xpu_tiles *tiles; /* on the tensor engine */
    int begins_early;       /* while the layer before makes its operand: its results live from then on */
    int called_ahead;       /* before the layer before it, on the cores, has run: its scratch lives from then on */
} xpu_codegen_layer;

/* The layer's name, with a number where another layer has it. */
const char *xpu_unique_layer_name(xpu_codegen *cg, const char *name);
/* The identifier of a layer's C function, and the members of the plan struct, numbered where it makes several calls. */
void xpu_name_layer(xpu_codegen *cg, uint32_t layer);
/* What a layer is, for the program's table. */
void xpu_describe_layer(xpu_codegen *cg, uint32_t layer, const char *unit, const char *kernel, xpu_dim macs);
/* Adds a finished call to a layer and its words to the plan table; [codegen] where a field has no value. */
xpu_status xpu_add_call(xpu_codegen *cg, uint32_t layer, const xpu_call *call);

/* An integer attribute of the node as the call's field. */
static inline void xpu_set_attr(const xpu_codegen *cg, xpu_call *call, xpu_node node, const char *field,
                                xpu_attr_id id) {
    xpu_set_number(call, field, xpu_node_int(cg->graph, node, id));
}

#endif
