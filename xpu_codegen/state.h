/*
 * What the steps of the target hand on. They are, in order: choose (precision, layouts, tiles), lower (layers become
 * kernel calls, their arguments words of the plan table), emit (C, clang, lld), pack (weights, memory, the file). A
 * file of one step includes headers of its own step and of those before it; types of later steps are only named here.
 */
#ifndef XPU_CODEGEN_STATE_H
#define XPU_CODEGEN_STATE_H

#include "base/name_table.h"
#include "core/chip.h"
#include "core/target.h"
#include "memplan/rules.h"
#include "xpu_runtime/program/program.h"

#define XPU_SIM_NAME "xpu-sim"

/* Whether lists of descriptors are made before a program starts (choose/listed.h). */
typedef enum { XPU_LISTED_UNKNOWN, XPU_LISTED, XPU_LISTED_WHEN_BOUND, XPU_NOT_LISTED } xpu_listed;
typedef enum { XPU_MODE_AUTO, XPU_MODE_FP32, XPU_MODE_INT16, XPU_MODE_INT16X8 } xpu_precision_mode;

typedef struct {
    xpu_target_job *job;
    xpu_arena *arena;
    xpu_graph *graph;
    xpu_diags *diags;
    xpu_chip chip;
    xpu_precision_mode mode;
    struct xpu_precision_rules *precision_rules; /* choose/precision_rules.h */
    xpu_memory_rules rules;
    xpu_program program;
    /* choose */
    const uint8_t *slow; /* by value id: whether it lies in GM by the plan of the layers as they were lowered before */
    uint32_t slow_count;
    xpu_listed listed;
    XPU_ARRAY(const char *) reasons; /* by node id: why the node computes in its precision; NULL for none */
    /* lower */
    struct xpu_extent *extents; /* values.h; by value id, NULL: nothing grows in place */
    uint32_t extent_count;
    XPU_ARRAY(struct xpu_codegen_layer) layers;   /* layers.h; same order as program.layers */
    XPU_ARRAY(struct xpu_chain_body_text) bodies; /* chain.h */
    int32_t *body_of;                             /* by low bits of a chain's hash: the last body with them, or -1 */
    XPU_ARRAY(struct xpu_weight) weights;         /* buffers.h; in the order of their buffers */
    int32_t *weight_of;                           /* by value id: its last form, or -1 */
    xpu_name_table layer_names;                   /* with the number that stands behind the name where it came last */
    const struct xpu_tiles *last_tiles[8];        /* choose/tiles.h: of the layers before, different ones */
    uint32_t tiles_kept;
    int32_t *buffer_of;                               /* by value id: its buffer, or -1 */
    int32_t *layer_of;                                /* by node id: its layer, or -1 */
    XPU_ARRAY(struct xpu_step_control) step_controls; /* steps.h; in the order of program.steps */
    int in_range;                                     /* the next layer joins the last step */
    struct xpu_control *control;                      /* steps.h; NULL: all layers are one range */
    XPU_ARRAY(struct xpu_reading) readings;           /* buffers.h */
    XPU_ARRAY(struct xpu_loop_layers) loops;          /* buffers.h */
    uint32_t *last_of;                                /* by node id: the last layer of its bodies */
    int has_odd_pixels;                               /* cores move pixels of bytes that are no whole words */
    int lowered;                                      /* the layers are made, and whether that worked */
    xpu_status lower_status;
    xpu_memplan *wishes; /* where weights would lie by the rules; NULL: no rule is about weights */
    /* emit */
    uint32_t *region_layers;       /* by number of a region: its layers on the chip; made at the first use */
    struct xpu_clang_facts *clang; /* toolchain.h */
    /* pack */
    XPU_ARRAY(struct xpu_packed_weight) ahead; /* weights.h: the first weights, in the order of buffers */
    uint32_t delivered;                        /* of these */
    struct xpu_largest_plan *memory;           /* xpu_runtime/program/largest_shape.h */
    double plan_seconds;                       /* that it took to make */
} xpu_codegen;

/* Sets why the node computes in its precision; NULL for none. The text stays the caller's. */
void xpu_set_reason(xpu_codegen *cg, xpu_node node, const char *reason);
/* That text, or NULL. */
const char *xpu_reason_of(const xpu_codegen *cg, xpu_node node);

/* An internal error of the target: [codegen], status XPU_EBUG. `why` is printf-style. */
xpu_status xpu_codegen_bug(xpu_codegen *cg, const char *what, const char *why, ...)
    __attribute__((format(printf, 3, 4)));

#endif
