/* The layers of a program: their names, and the calls that they make. */
#ifndef XPU_CODEGEN_LOWER_LAYERS_H
#define XPU_CODEGEN_LOWER_LAYERS_H

#include "xpu_codegen/choose/tiles.h"
#include "xpu_codegen/lower/calls.h"

/* One layer of the program: one node, as the kernel calls that it became. */
typedef struct xpu_codegen_layer {
    xpu_node node;
    uint32_t region;        /* node.region */
    const char *identifier; /* of its C function: "layer_3_conv1"; NULL where layers stand in a table */
    const char *comment;    /* the source nodes, one per line; or NULL */
    xpu_kernel kernel;      /* unless it is on the host */
    XPU_ARRAY(xpu_call) calls;
    const xpu_tiles *tiles; /* on the tensor engine */
    double task_cycles; /* of windows over bytes and elementwise layers: of all tasks, at the largest size; 0: it has
                           none */
    double copy_cycles; /* of copies by DMA, at the largest size; 0: it has none */
    double ring_cycles; /* on an engine: of it and the next ones, where these meet it in SM */
    int in_ring;        /* its work is in ring_cycles of a layer before */
    const xpu_conv_shape *windows; /* over bytes, on the window engine; else NULL */
    uint32_t list_bytes;           /* of its lists of descriptors; 0: core 0 makes them */
    uint32_t scratch;              /* on an engine: the buffer of its tiles in SM */
    uint32_t sm_bytes;             /* of windows: what they, and the product that they meet, need of it alone */
    int begins_early; /* while so many layers before make its operand: its results live from the first of these on */
    int called_ahead; /* before the layer before it, on the cores, has run: its scratch lives from then on */
} xpu_codegen_layer;

/* More layers are rows of a table in the generated C, not functions: their addresses would fill LM, of which they may
 * take a sixteenth, and clang takes half a millisecond for each. */
enum { XPU_MANY_LAYERS = 1000, XPU_LM_BYTES_OF_LAYER = 4 * 16 };
static inline int xpu_has_many_layers(const xpu_codegen *cg) {
    return cg->layers.count > XPU_MANY_LAYERS || cg->layers.count > cg->chip.lm_bytes / XPU_LM_BYTES_OF_LAYER;
}

/* The layer's name, with a number where another layer has it. */
const char *xpu_unique_layer_name(xpu_codegen *cg, const char *name);
/* Regions of layers on the chip come one after the other in the plan table: that of the last such layer; the node's
 * where there is none. */
uint32_t xpu_last_region(const xpu_codegen *cg, xpu_node node);
/* What a layer is: by the kernel that does its work, or an operator on the host. */
void xpu_describe_layer(xpu_codegen *cg, uint32_t layer, xpu_kernel kernel, xpu_dim macs);
void xpu_describe_host_layer(xpu_codegen *cg, uint32_t layer, const char *op);

/* Adds a call to a layer and its words to the plan table; [codegen] where an argument has no value. `args`: the members
 * of the kernel's call struct. `body`: of KERNEL_WITH_BODY. */
xpu_status xpu_add_call(xpu_codegen *cg, uint32_t layer, xpu_kernel kernel, const xpu_arg *args, const char *body);
/* The same with `count` words, the kernel's own and what it finds behind them. */
xpu_status xpu_add_call_of(xpu_codegen *cg, uint32_t layer, xpu_kernel kernel, const xpu_arg *args, uint32_t count,
                           const char *body);
/* xpu_add_NAME for each row of kernels.def. */
#define KERNEL(name, unit, fields, about)                                                                              \
    static inline xpu_status xpu_add_##name(xpu_codegen *cg, uint32_t layer, const struct xpu_##name##_call *call) {   \
        return xpu_add_call(cg, layer, XPU_KERNEL_##name, (const xpu_arg *)call, NULL);                                \
    }
#define KERNEL_WITH_BODY(name, unit, fields, about)                                                                    \
    static inline xpu_status xpu_add_##name(xpu_codegen *cg, uint32_t layer, const struct xpu_##name##_call *call,     \
                                            const char *body) {                                                        \
        return xpu_add_call(cg, layer, XPU_KERNEL_##name, (const xpu_arg *)call, body);                                \
    }
#include "xpu_runtime/include/kernels.def"
#undef KERNEL

/* An integer attribute of a node as an argument. */
static inline xpu_arg_int xpu_arg_attr(const xpu_codegen *cg, xpu_node node, xpu_attr_id id) {
    return xpu_arg_number(xpu_node_int(cg->graph, node, id));
}

/* Of a layer of bytes on the cores: pixels of its operand and of its result have so many. */
void xpu_note_pixels(xpu_codegen *cg, xpu_dim in_c, xpu_dim y_pixel);

/* Operand, result and, in storage order, what lies outside the node's axis, the axis, what lies inside. */
struct xpu_axis_group xpu_axis_of(xpu_codegen *cg, uint32_t layer, xpu_node node);

#endif
