/*
 * Inside the XPU target. The steps, in order: start (options) -> precision -> layout -> lower (layers become kernel
 * calls, their arguments become words of the plan table) -> emit (C) -> link (clang, lld) -> pack (memory, file).
 */
#ifndef XPU_CODEGEN_INTERNAL_H
#define XPU_CODEGEN_INTERNAL_H

#include "core/chip.h"
#include "core/target.h"
#include "memplan/rules.h"
#include "xpu_codegen/lower/calls.h"
#include "xpu_codegen/xpu_codegen.h"
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/program/placement.h"
#include "xpu_runtime/program/program.h"

typedef enum { XPU_MODE_AUTO, XPU_MODE_FP32, XPU_MODE_INT16, XPU_MODE_INT16X8 } xpu_precision_mode;
/* The mode's name, or NULL for no mode. */
const char *xpu_mode_name(int mode);

/* A precision of the user's for some layers. */
typedef struct {
    const char *match; /* glob over the names of layers and of the model's nodes, as in memory rules */
    xpu_precision_mode mode;
    int matched;
} xpu_precision_rule;
typedef struct {
    const char *file;
    uint32_t count;
    xpu_precision_rule *items; /* the last that matches a node holds for it */
} xpu_precision_rules;
/* Reads {"rules": [{"match": GLOB, "precision": NAME}]}. [json-...], [rules-count], [rules-match] */
xpu_status xpu_precision_rules_read(xpu_arena *arena, const char *path, xpu_precision_rules *rules, xpu_diags *diags);
/* For each rule that matched no layer which has a choice: [rules-unused], an error (XPU_EUSAGE) where the match is a
 * name, a warning where it is a pattern. The hint is the nearest of `names`, which ends with NULL. */
xpu_status xpu_precision_rules_unused(xpu_arena *arena, const xpu_precision_rules *rules, const char *const *names,
                                      xpu_diags *diags);

/* ---- tiles of the tensor engine ---- */
typedef struct {
    int32_t tile_h, tile_w, tile_c, whole; /* as in the arguments of conv2d_i16 */
    uint32_t sm_bytes;
    double cycles; /* by the model of tiles.c */
} xpu_tile;
/* Ranges of sizes of a layer's images: item i holds where measure <= most and no item before holds, the last one for
 * all that are left. The first `squares` measure the larger side of the result, others its width. */
enum { XPU_MOST_SIZES = 32 };
typedef struct {
    xpu_dim measure;
    int32_t most, most_h, out_h, out_w; /* most_h: rows of the highest result; out_h x out_w: what is chosen for */
} xpu_size;
typedef struct {
    uint32_t count, squares;
    xpu_size items[XPU_MOST_SIZES];
} xpu_sizes;
/* Tiles by size, with one tile_c; sm_bytes: of the largest. */
typedef struct {
    xpu_sizes sizes;
    uint32_t sm_bytes;
    xpu_tile items[XPU_MOST_SIZES];
} xpu_tiles;
/* Tasks of windows over bytes by size. */
typedef struct {
    xpu_sizes sizes;
    xpu_tiling_task items[XPU_MOST_SIZES];
} xpu_byte_tasks;

/* One layer of the program: one node, as the kernel calls that it became. */
typedef struct {
    xpu_node node;
    uint32_t region;        /* node.region */
    const char *identifier; /* of its C function: "layer_3_conv1" */
    const char *comment;    /* the source nodes, one per line */
    XPU_ARRAY(xpu_call) calls;
    const xpu_tiles *tiles; /* on the tensor engine */
    int begins_early;       /* while the layer before makes its operand: its results live from then on */
    int called_ahead;       /* before the layer before it, on the cores, has run: its scratch lives from then on */
} xpu_codegen_layer;

/* The loop body of an elementwise chain; layers of the same structure share one. */
typedef struct {
    uint64_t hash;
    const xpu_chain *chain;
    const char *name; /* of the C function */
} xpu_chain_body_text;

/* A constant in the weights' segment: one buffer for each form that a layer wants it in. */
typedef struct {
    xpu_value value;
    uint32_t buffer;
    xpu_packing packing;
} xpu_weight;

/* A weight that is packed before the file is written. */
typedef struct {
    xpu_arena *arena; /* NULL: it was delivered */
    const void *bytes;
    uint64_t length;
} xpu_packed_weight;

/* What clang and lld took. */
typedef struct {
    const char *version;
    double seconds;
    uint64_t peak_rss_bytes;
} xpu_clang_facts;

/* A memory plan of the largest shape that has one. */
typedef struct {
    const int64_t *symbols; /* the shape; NULL: the program has no symbols */
    const char *refused;    /* why the upper bound of the symbols has no plan; NULL: this is it */
    xpu_placement placement;
    xpu_memplan *plan;
} xpu_largest_plan;

typedef struct {
    xpu_target_job *job;
    xpu_arena *arena;
    xpu_graph *graph;
    xpu_diags *diags;
    xpu_chip chip;
    xpu_precision_mode mode;
    xpu_precision_rules precision_rules;
    xpu_memory_rules rules;
    xpu_program program;
    XPU_ARRAY(xpu_codegen_layer) layers; /* same order as program.layers */
    XPU_ARRAY(xpu_chain_body_text) bodies;
    XPU_ARRAY(xpu_weight) weights;
    XPU_ARRAY(xpu_packed_weight) ahead; /* the first weights, in the order of buffers */
    uint32_t delivered;                 /* of these */
    XPU_ARRAY(const char *) reasons;    /* by node id: why the node computes in its precision; NULL for none */
    int32_t *buffer_of;                 /* by value id: its buffer, or -1 */
    int32_t *layer_of;                  /* by node id: its layer, or -1 */
    int lowered;                        /* the layers are made, and whether that worked */
    xpu_status lower_status;
    xpu_clang_facts clang;
    xpu_memplan *wishes; /* where weights would lie by the rules; NULL: no rule is about weights */
    xpu_largest_plan memory;
} xpu_codegen;

/* An internal error of the target: [codegen], status XPU_EBUG. `why` is printf-style. */
xpu_status xpu_codegen_bug(xpu_codegen *cg, const char *what, const char *why, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- buffers.c: dims, layouts, memory of values ---- */

int xpu_on_host(const xpu_codegen *cg, xpu_node node);
static inline xpu_dim xpu_dim_of(xpu_codegen *cg, int64_t value) {
    return xpu_dim_const(&cg->graph->dims, value);
}
/* Dim i of the logical shape. */
xpu_dim xpu_value_dim(const xpu_codegen *cg, xpu_value value, int i);
/* The product of dims first .. last - 1. */
xpu_dim xpu_dims_product(xpu_codegen *cg, xpu_value value, int first, int last);
/* The order in which dims lie in memory, outermost first. */
void xpu_storage_order(xpu_layout layout, int rank, int *order);
/* Elements from one index of logical dim i to the next, for each dim. */
void xpu_value_strides(xpu_codegen *cg, xpu_value value, xpu_dim *strides);
/* Whether a value's bytes are the same in both layouts: one channel, or one pixel, or a rank that has one layout. */
int xpu_layout_free(const xpu_codegen *cg, xpu_value value);
int xpu_is_const_value(const xpu_codegen *cg, xpu_value value);
/* Whether a node makes no layer: its result is another name for the bytes of its operand. */
int xpu_is_view(xpu_codegen *cg, xpu_node node);
/* The value whose memory `value` is, behind views. */
xpu_value xpu_value_root(xpu_codegen *cg, xpu_value value);
/* The value of which `value` is a rearrangement, behind reshape, transpose, relayout and identity. */
xpu_value xpu_same_elements(const xpu_codegen *cg, xpu_value value);
/* The largest value in the ranges of the symbols. */
int64_t xpu_dim_upper(const xpu_codegen *cg, xpu_dim dim);

/* The buffer of a value that is no constant. */
uint32_t xpu_activation_buffer(xpu_codegen *cg, xpu_value value);
/* The buffer of a constant in a packed form; `name` is "LAYER/w". */
uint32_t xpu_weight_buffer(xpu_codegen *cg, xpu_value value, const xpu_packing *packing, const char *name);
uint32_t xpu_scratch_buffer(xpu_codegen *cg, uint32_t first_layer, uint32_t layer, xpu_dim bytes, const char *name);
/* Any value as operand `role` ("w", "bias", "x") of a layer: constants row-major. */
uint32_t xpu_operand_buffer(xpu_codegen *cg, uint32_t layer, xpu_value value, const char *role);
/* Lifetimes of activations, offsets of weights. */
void xpu_finish_buffers(xpu_codegen *cg);

/* ---- the steps ---- */

xpu_status xpu_choose_precision(xpu_codegen *cg);
xpu_status xpu_choose_layouts(xpu_codegen *cg);
/* All layers of all regions; done once. */
xpu_status xpu_lower_program(xpu_codegen *cg);
/* Weights that placement rules want in L3 get copies there, filled by a layer "weights/L3" before all others; calls
 * then read the copies. Nothing changes without such rules. */
xpu_status xpu_copy_weights(xpu_codegen *cg);
/* Rules that match a weight hold for its copy where it has one. */
void xpu_rules_of_copies(const xpu_codegen *cg, xpu_arena *arena, xpu_memplan_problem *problem);
/* Why weights that should be in L3 have no copy, for the spills of the plan. */
void xpu_explain_missing_copies(xpu_codegen *cg, xpu_memplan *plan);
/* The C text of one region (index into job->regions), NULL where it is on the host, and what follows all regions. */
const char *xpu_emit_region(xpu_codegen *cg, uint32_t region);
const char *xpu_emit_tail(xpu_codegen *cg);
void xpu_emit_chain_body(xpu_text *text, const xpu_chain_body_text *body);
/* Starts clang on `source`, in a temporary folder of `arena`; NULL with diagnostics. */
typedef struct xpu_device_build xpu_device_build;
/* [resources] where the folder of xpuc's own files does not have `name`. */
xpu_status xpu_resource_check(xpu_codegen *cg, const char *name);
/* Reports clang, lld and the device library where they are not there, before there is anything to compile. */
void xpu_toolchain_check(xpu_codegen *cg);
xpu_device_build *xpu_compile_start(xpu_codegen *cg, const char *source, xpu_arena *arena);
/* Waits for it and links; the program's path, NULL with diagnostics. */
const char *xpu_compile_finish(xpu_codegen *cg, xpu_device_build *build);
/* Packs weights while clang works: the first ones, as many as are kept in memory. */
xpu_status xpu_pack_ahead(xpu_codegen *cg);
/* Makes the memory problem of the program at a shape. */
typedef xpu_status (*xpu_problem_fn)(xpu_codegen *cg, const int64_t *symbols, xpu_arena *arena,
                                     xpu_placement *placement, xpu_diags *diags);
/* Plans at the upper bound of the symbols or, where that has no plan, at the largest shape below that is found when all
 * symbols grow from their smallest values by the same number of steps. An error where not even the smallest fits. */
xpu_status xpu_plan_largest(xpu_codegen *cg, xpu_problem_fn make, xpu_largest_plan *plan);
/* Before linking: [rules-unused] and [rules-level] of the placement rules. */
xpu_status xpu_check_memory_rules(xpu_codegen *cg);
/* cg->memory; places of all buffers where the program has no symbols. The program is linked. */
xpu_status xpu_plan_memory(xpu_codegen *cg);
xpu_status xpu_pack_program(xpu_codegen *cg, const char *elf, const char *path);
void xpu_report_program(xpu_codegen *cg, void *report, int packed);

/* ---- rules.c ---- */
extern const xpu_support xpu_sim_support[];
extern const xpu_pattern xpu_sim_patterns[];

/* ---- lowering of single operators: one function each, called with the layer's index ---- */
typedef xpu_status (*xpu_lower_fn)(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_conv(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_matmul(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_max_pool(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_average_pool(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_global_average_pool(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_softmax(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_absmax(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_copy(xpu_codegen *cg, uint32_t layer, xpu_node node); /* reshape, identity, relayout, transpose */
xpu_status xpu_lower_concat(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_pad(xpu_codegen *cg, uint32_t layer, xpu_node node);
/* What every word of a buffer filled with this value is, as a float of its bits. 0: an element of 8 bytes has unequal
 * halves, or the type does not have the value. */
int xpu_pad_word(xpu_dtype dtype, float value, float *word);
xpu_status xpu_lower_chain(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_qproduct(xpu_codegen *cg, uint32_t layer, xpu_node node); /* qconv, qmatmul */
/* Whether a qconv becomes depthwise_i8. */
int xpu_is_byte_depthwise(xpu_codegen *cg, xpu_node node);
xpu_status xpu_lower_qglobal_average_pool(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_qpair(xpu_codegen *cg, uint32_t layer, xpu_node node); /* qadd, qmul */
xpu_status xpu_lower_lookup(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_quantize(xpu_codegen *cg, uint32_t layer, xpu_node node);
xpu_status xpu_lower_dequantize(xpu_codegen *cg, uint32_t layer, xpu_node node);

/* The layer's name, with a number where another layer has it. */
const char *xpu_unique_layer_name(xpu_codegen *cg, const char *name);
/* The identifier of a layer's C function, and the members of the plan struct, numbered where it makes several calls. */
void xpu_name_layer(xpu_codegen *cg, uint32_t layer);
/* What a layer is, for the program's table. */
void xpu_describe_layer(xpu_codegen *cg, uint32_t layer, const char *unit, const char *kernel, xpu_dim macs);
/* Adds a finished call to a layer and its words to the plan table; [codegen] where a field has no value. */
xpu_status xpu_add_call(xpu_codegen *cg, uint32_t layer, const xpu_call *call);

/* ---- chains ---- */
const xpu_chain *xpu_chain_of(const xpu_graph *graph, xpu_node node);

/* Loops over the elements of a chain's result in its storage order, merged where every operand allows. */
enum { XPU_CHAIN_DIMS = 4 };
typedef struct {
    int rank;
    xpu_dim size[XPU_MAX_RANK];
    xpu_dim stride[XPU_CHAIN_MAX_INPUTS][XPU_MAX_RANK];
} xpu_chain_loops;
/* For a result in `layout`. Returns 1 when the kernel can run them: at most XPU_CHAIN_DIMS loops, innermost strides 0
 * or 1. *bad (may be NULL) is the first operand whose innermost stride is neither, or UINT32_MAX. */
int xpu_chain_plan(xpu_codegen *cg, xpu_node node, xpu_layout layout, xpu_chain_loops *loops, uint32_t *bad);

/* Geometry of a convolution, dims as expressions; of a matrix product by a constant too. */
typedef struct {
    xpu_dim batch, in_h, in_w, in_c, out_h, out_w, out_c;
    int64_t kernel[2], stride[2], dilation[2], begin[2], end[2], groups;
} xpu_conv_shape;
/* Sizes of images x and y of rank 3 or 4, those of rank 3 being one row high; all else is 0. */
xpu_conv_shape xpu_image_shape(xpu_codegen *cg, xpu_value x, xpu_value y);
xpu_conv_shape xpu_conv_shape_of(xpu_codegen *cg, xpu_node node);
/* An integer attribute of the node as the call's field. */
static inline void xpu_set_attr(const xpu_codegen *cg, xpu_call *call, xpu_node node, const char *field,
                                xpu_attr_id id) {
    xpu_set_number(call, field, xpu_node_int(cg->graph, node, id));
}
/* Whether each channel has a kernel of its own: groups = in_c = out_c, more than 1. */
static inline int xpu_is_depthwise(const xpu_codegen *cg, const xpu_conv_shape *shape) {
    return shape->groups > 1 && xpu_dim_upper(cg, shape->in_c) == shape->groups &&
           xpu_dim_upper(cg, shape->out_c) == shape->groups;
}
/* The best tile for this chip at the upper bound of the symbols; NULL, or why the tensor engine cannot do it. */
const char *xpu_choose_tile(xpu_codegen *cg, const xpu_conv_shape *shape, int has_branch, xpu_tiling_format format,
                            xpu_tile *tile);
/* The best tiles; one, that of xpu_choose_tile, where all sizes are fixed. */
const char *xpu_choose_tiles(xpu_codegen *cg, const xpu_conv_shape *shape, int has_branch, xpu_tiling_format format,
                             xpu_tiles *tiles);
/* The geometry at the upper bound of the symbols. */
xpu_tiling_shape xpu_tiling_shape_of(const xpu_codegen *cg, const xpu_conv_shape *shape);

/* ---- tile_by_size.c ---- */

/* One range where all sizes are fixed. */
void xpu_list_sizes(xpu_codegen *cg, const xpu_conv_shape *shape, xpu_sizes *sizes);
/* The geometry of a size, `upper` being that at the upper bound. */
xpu_tiling_shape xpu_shape_of_size(const xpu_tiling_shape *upper, const xpu_size *size);
/* A field of a call that is values[i] for images of size i. */
typedef struct {
    const char *name;
    int64_t values[XPU_MOST_SIZES];
} xpu_sized_field;
/* Sets all of them, to the values of the last size where an expression gets too large. */
void xpu_set_by_size(xpu_codegen *cg, xpu_call *call, const xpu_sizes *sizes, const xpu_sized_field *fields,
                     uint32_t count);

/* ---- windows over bytes ---- */

/* Whether LM holds the window of one output pixel of depthwise_i8 (has_weights) or max_pool_i8, and the fastest tasks
 * of it; 0: none fits, or large_max_pool_i8 is faster at the upper bound of the symbols. */
int xpu_byte_window_fits(const xpu_codegen *cg, const xpu_conv_shape *shape, int has_weights);
int xpu_choose_byte_tasks(xpu_codegen *cg, const xpu_conv_shape *shape, int has_weights, xpu_byte_tasks *tasks);
void xpu_set_byte_tasks(xpu_codegen *cg, xpu_call *call, const xpu_byte_tasks *tasks);

#endif
