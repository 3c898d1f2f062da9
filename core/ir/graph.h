/*
 * The intermediate representation: values and nodes in arena arrays behind 32-bit typed handles, use lists both ways,
 * and for every node the operators of the user's model that it came from.
 *
 * Dims are logical (NCHW) always; the layout in memory is an attribute of a value, never a permuted shape.
 * Handle 0 is "absent" (an optional operand that is not there).
 */
#ifndef XPU_CORE_IR_GRAPH_H
#define XPU_CORE_IR_GRAPH_H

#include "base/diag.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/tensor.h"
#include "core/ir/dim.h"
#include "core/ir/attr.h"
#include "core/ir/handle.h"
#include "core/ir/operator.h"

/* Where an operator of the source model stood. */
typedef struct {
    const char *framework; /* "onnx" */
    const char *op;        /* "Conv" */
    int version;           /* opset version of the operator's form; 0: it has none */
    const char *name;      /* node name, or a made one: "Conv_5" */
    uint32_t index;        /* position in the model's list of nodes */
    int is_inner;          /* index is that in a body ... */
    uint32_t within;       /* ... of the operator with this index in the model's list */
} xpu_origin;

typedef enum {
    XPU_LAYOUT_LINEAR,      /* row-major over the logical dims */
    XPU_LAYOUT_CHANNEL_LAST /* logical dim 1 moved to the end (NHWC); rank 3 and 4 only */
} xpu_layout;

/* How the bytes of a constant come about. Constants over 64 KiB stay lazy: a slice of a file plus a recipe. */
typedef enum {
    XPU_CONST_BYTES, /* in memory, row-major, in `bytes` */
    XPU_CONST_FILE,  /* `length` bytes at `offset` of `file`, row-major, of source_dtype */
} xpu_const_kind;

typedef enum {
    XPU_STEP_CAST,      /* to dtype */
    XPU_STEP_TRANSPOSE, /* by perm */
    XPU_STEP_RESHAPE,   /* to dims */
    XPU_STEP_SCALE,     /* times scale[index along axis], rounded once to float32 */
    XPU_STEP_QUANTISE   /* float32 -> dtype: clamp(rne(fl(x * inverse[index along axis]))) to +-scale_max */
} xpu_step_kind;

typedef struct {
    xpu_step_kind kind;
    xpu_dtype dtype;
    int rank;
    int64_t dims[XPU_MAX_RANK]; /* RESHAPE: dims; TRANSPOSE: perm */
    int axis;
    const float *factors; /* SCALE: scale; QUANTISE: inverse scale; one per index along axis */
    uint32_t factor_count;
} xpu_const_step;

typedef struct {
    xpu_const_kind kind;
    xpu_dtype source_dtype; /* before the recipe */
    int source_rank;
    int64_t source_dims[XPU_MAX_RANK];
    const void *bytes;
    const xpu_file *file;
    uint64_t offset, length;
    XPU_ARRAY(xpu_const_step) steps;
} xpu_const;

typedef enum { XPU_VALUE_INPUT, XPU_VALUE_NODE, XPU_VALUE_CONST, XPU_VALUE_ARGUMENT } xpu_value_kind;

typedef struct {
    xpu_node node;
    uint32_t input; /* which of the node's inputs */
} xpu_use;

typedef struct {
    xpu_value_kind kind;
    const char *name;  /* the source tensor's name where it has one; unique in the graph */
    int has_made_name; /* no source tensor's: a value that wants this name gets it */
    xpu_dtype dtype;
    int rank;
    xpu_dim dims[XPU_MAX_RANK];
    xpu_layout layout;
    xpu_node node; /* NODE: who makes it; ARGUMENT: 0 */
    uint32_t output;
    xpu_block block;             /* ARGUMENT: the block whose argument it is */
    xpu_const *constant;         /* CONST, or a value that is known */
    const xpu_known_list *known; /* a value that is known as expressions, or NULL */
    XPU_ARRAY(xpu_use) uses;     /* operands of nodes, in any block */
    uint32_t results;            /* how often it stands among the results of blocks */
    int is_output;               /* it is an output of the graph */
} xpu_value_info;

typedef struct {
    const xpu_op *op;
    xpu_value *inputs;
    uint32_t *places; /* by input: where its entry stands in the use list of that value */
    uint32_t input_count;
    xpu_value *outputs;
    uint32_t output_count;
    XPU_ARRAY(xpu_attr) attrs;
    XPU_ARRAY(uint32_t) origins; /* indices into graph->origins, the main one first */
    xpu_block *blocks;           /* bodies of control flow */
    uint32_t block_count;
    xpu_block parent;
    xpu_node previous, next; /* order of execution inside the parent block */
    int dead;                /* removed */
    uint32_t region;         /* set by partition: 0 none, else region number */
} xpu_node_info;

typedef struct {
    XPU_ARRAY(xpu_value) arguments;
    XPU_ARRAY(xpu_value) results;
    xpu_node first, last;
    xpu_node owner; /* 0 for the graph's own block */
} xpu_block_info;

/* Shapes for which a and b differ cannot be run: they are refused when they are bound. */
typedef struct {
    xpu_dim a, b;
    const char *where; /* the node that needs it, as xpu_node_where gives it */
} xpu_guard;

/* A value that persists over runs: what a run gives as an output is an input of the next. Indices into the lists of
 * inputs and outputs: passes replace an output's value, never its place. */
typedef struct {
    uint32_t input, output;
} xpu_graph_state;

/* A file of the source model; where that came from memory `file` is NULL. */
typedef struct {
    const xpu_file *file;
    xpu_hash hash; /* of the bytes in memory */
} xpu_graph_source;

typedef struct xpu_graph {
    xpu_arena *arena;
    const char *name; /* of the model */
    const char *file; /* for messages */
    xpu_dims dims;
    XPU_ARRAY(xpu_value_info) values; /* [0] unused */
    XPU_ARRAY(xpu_node_info) nodes;   /* [0] unused */
    XPU_ARRAY(xpu_block_info) blocks; /* [0] unused; [1] is the graph's own */
    xpu_block current;                /* where nodes are added: xpu_graph_enter */
    XPU_ARRAY(xpu_origin) origins;
    XPU_ARRAY(xpu_value) inputs;
    XPU_ARRAY(xpu_value) outputs;
    XPU_ARRAY(xpu_graph_state) states;
    XPU_ARRAY(xpu_graph_source) sources; /* the model, then its files of external data */
    XPU_ARRAY(xpu_guard) guards;
    int guards_known; /* shape functions add none */
    uint32_t next_name;
    uint32_t *names; /* hash table of value ids by name */
    uint32_t names_size, names_used;
} xpu_graph;

/* An empty graph in its own arena; `name` and `file` are copied. */
xpu_graph *xpu_graph_new(xpu_arena *arena, const char *name, const char *file);
/* A copy with the same handles. Texts, constants and lists of attributes are shared: they stay as long as the copy. */
xpu_graph *xpu_graph_copy(xpu_arena *arena, const xpu_graph *graph);

static inline xpu_value_info *xpu_value_at(const xpu_graph *graph, xpu_value value) {
    return &graph->values.items[value.id];
}
static inline xpu_node_info *xpu_node_at(const xpu_graph *graph, xpu_node node) {
    return &graph->nodes.items[node.id];
}
static inline xpu_block_info *xpu_block_at(const xpu_graph *graph, xpu_block block) {
    return &graph->blocks.items[block.id];
}
/* The graph's own block, and its first node. */
#define XPU_TOP_BLOCK ((xpu_block){1})
static inline xpu_node xpu_graph_first(const xpu_graph *graph) {
    return graph->blocks.items[1].first;
}
/* The next one in the same block. */
static inline xpu_node xpu_node_next(const xpu_graph *graph, xpu_node node) {
    return xpu_node_at(graph, node)->next;
}
/* The next one of the whole graph: the nodes of bodies stand behind their owner, first body first. */
xpu_node xpu_node_next_of_all(const xpu_graph *graph, xpu_node node);

/* Every node of the graph, those of bodies too, in order of execution. None may be removed meanwhile. */
#define XPU_FOR_ALL_NODES(graph, node)                                                                                 \
    for (xpu_node node = xpu_graph_first(graph); node.id; node = xpu_node_next_of_all(graph, node))
/* The nodes of this block alone, not those of bodies in it. */
#define XPU_FOR_BLOCK_NODES(graph, block, node)                                                                        \
    for (xpu_node node = xpu_block_at(graph, block)->first; node.id; node = xpu_node_next(graph, node))
/* Every block, the graph's own first and outer ones before those in them; what was removed is empty. Blocks and nodes
 * may be added and removed meanwhile. */
#define XPU_FOR_BLOCKS(graph, block) for (xpu_block block = XPU_TOP_BLOCK; block.id < (graph)->blocks.count; block.id++)

/* New values. `name` is copied and made unique; NULL makes one, which gives way to a later `name`. Pointers from
 * xpu_value_at and xpu_node_at are valid until the next value or node is added. */
xpu_value xpu_graph_input(xpu_graph *graph, const char *name, xpu_dtype dtype, int rank, const xpu_dim *dims);
xpu_value xpu_graph_const_bytes(xpu_graph *graph, const char *name, const xpu_tensor *tensor);    /* copies the data */
xpu_value xpu_graph_const_borrowed(xpu_graph *graph, const char *name, const xpu_tensor *tensor); /* it stays there */
xpu_value xpu_graph_const_file(xpu_graph *graph, const char *name, xpu_dtype dtype, int rank, const int64_t *dims,
                               const xpu_file *file, uint64_t offset);
xpu_value xpu_graph_const_f32(xpu_graph *graph, const char *name, float value); /* rank 0 */
xpu_value xpu_graph_value(xpu_graph *graph, const char *name);                  /* a result to be given to a node */
xpu_value xpu_graph_by_name(const xpu_graph *graph, const char *name);          /* 0 when there is none */
int xpu_graph_may_name(const xpu_graph *graph, const char *name); /* whether a new value of this name gets it */
void xpu_graph_output(xpu_graph *graph, xpu_value value);
/* Ties an output to an input of the same type and shape; neither is tied. */
void xpu_graph_tie(xpu_graph *graph, uint32_t output, uint32_t input);
/* The state whose input, or output, has this place in its list; NULL: there is none. */
const xpu_graph_state *xpu_graph_state_of_input(const xpu_graph *graph, uint32_t input);
const xpu_graph_state *xpu_graph_state_of_output(const xpu_graph *graph, uint32_t output);
/* Tells models apart: the hash of all files of the source model, which are read for it. */
xpu_status xpu_graph_source_hash(const xpu_graph *graph, xpu_hash *hash, xpu_diags *diags);

/*
 * A new node before `before` (0: at the end of the current block) with `output_count` new result values, named
 * `output_names[i]` where given. Attributes are copied. The caller then runs xpu_op_infer (core/ops/op.h), which gives
 * the results dtype and dims. `origins` may be NULL.
 */
xpu_node xpu_graph_add(xpu_graph *graph, xpu_node before, const xpu_op *op, const xpu_value *inputs,
                       uint32_t input_count, const char *const *output_names, uint32_t output_count,
                       const xpu_attr *attrs, uint32_t attr_count, const uint32_t *origins, uint32_t origin_count);
uint32_t xpu_graph_origin(xpu_graph *graph, const xpu_origin *origin); /* strings are copied */

/*
 * Blocks: bodies of a node (core/ops/ops.def says which bodies an operator has). Nodes of a block use its arguments,
 * values of the same block made before them, and those that the owner could use itself: these are captured.
 */
xpu_block xpu_graph_block(xpu_graph *graph, xpu_node owner); /* one more, empty; the last of its owner's */
/* From now on nodes without a `before` are added at the end of `block`; returns where they went so far. */
xpu_block xpu_graph_enter(xpu_graph *graph, xpu_block block);
/* One more argument; names are as in xpu_graph_input. */
xpu_value xpu_block_argument(xpu_graph *graph, xpu_block block, const char *name, xpu_dtype dtype, int rank,
                             const xpu_dim *dims);
void xpu_block_add_result(xpu_graph *graph, xpu_block block, xpu_value value);
void xpu_block_set_result(xpu_graph *graph, xpu_block block, uint32_t result, xpu_value value);
/* What there is now: values, nodes and dims that are added later can be taken back. */
typedef struct {
    xpu_dims dims; /* a copy */
    uint32_t values, nodes, blocks, origins, guards;
    xpu_block current;
} xpu_graph_mark;
xpu_graph_mark xpu_graph_mark_now(xpu_graph *graph);
/* All of it is gone. Meanwhile nothing that was there before may have been changed, but for uses that were added and
 * bodies that nodes got. */
void xpu_graph_take_back(xpu_graph *graph, const xpu_graph_mark *mark);
/* Every node of the block moves before its owner, in order; results and arguments stay what they are. */
void xpu_block_hoist(xpu_graph *graph, xpu_block block);
/* The block where `value` is made: of its node, or of which it is an argument; the graph's own for all others. */
xpu_block xpu_value_block(const xpu_graph *graph, xpu_value value);
/* Whether `inner` is `outer` or a body in it. */
int xpu_block_is_in(const xpu_graph *graph, xpu_block inner, xpu_block outer);
/* The values that bodies of `node` use and that are made outside of them, each once, in the order of their first use;
 * constants are left out. In `arena`. */
xpu_value *xpu_node_captures(const xpu_graph *graph, xpu_node node, xpu_arena *arena, uint32_t *count);
/* Whether something else than operands of nodes needs the value: it is an output of the graph or a block's result. */
static inline int xpu_value_leaves(const xpu_graph *graph, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    return info->is_output || info->results;
}

void xpu_node_set_input(xpu_graph *graph, xpu_node node, uint32_t input, xpu_value value);
xpu_value xpu_node_add_output(xpu_graph *graph, xpu_node node, const char *name); /* one more result, the last one */
void xpu_node_add_origin(xpu_graph *graph, xpu_node node, uint32_t origin);       /* once */
void xpu_node_add_origins(xpu_graph *graph, xpu_node node, xpu_node from);        /* after fusing `from` into `node` */
void xpu_node_remove(xpu_graph *graph, xpu_node node); /* does nothing while a result is used or an output */
void xpu_node_move_before(xpu_graph *graph, xpu_node node, xpu_node before); /* 0: to the end of its own block */
void xpu_node_move_into(xpu_graph *graph, xpu_node node, xpu_block block);   /* to its end */
/* Every use of `from`, results of blocks and graph outputs included, becomes a use of `to`; `to` takes over the name
 * when from is an output of the graph. Where `to` has to keep its own name (an input, a state, another output), `from`
 * stays the output: its node must then live on. Returns 1 when no use of `from` is left, else 0. */
int xpu_value_replace(xpu_graph *graph, xpu_value from, xpu_value to);
/* Nodes of all blocks that nothing needs; returns how many. A node lives through a use, an output, a block's result,
 * and a symbol that one of its results defines and an attribute of another node uses. */
uint32_t xpu_remove_dead(xpu_graph *graph);

static inline xpu_value xpu_node_input(const xpu_graph *graph, xpu_node node, uint32_t i) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    return i < info->input_count ? info->inputs[i] : (xpu_value){0};
}
static inline xpu_value xpu_node_output(const xpu_graph *graph, xpu_node node, uint32_t i) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    return i < info->output_count ? info->outputs[i] : (xpu_value){0};
}

/* Attributes; the row's default where the node has none, 0 or NULL where the row has not the attribute. */
int64_t xpu_node_int(const xpu_graph *graph, xpu_node node, xpu_attr_id id);
float xpu_node_float(const xpu_graph *graph, xpu_node node, xpu_attr_id id);
const int64_t *xpu_node_ints(const xpu_graph *graph, xpu_node node, xpu_attr_id id, uint32_t *count);
const char *xpu_node_string(const xpu_graph *graph, xpu_node node, xpu_attr_id id);   /* NULL when absent */
const xpu_attr *xpu_node_attr(const xpu_graph *graph, xpu_node node, xpu_attr_id id); /* NULL when absent */
void xpu_node_set_attr(xpu_graph *graph, xpu_node node, const xpu_attr *attr);        /* adds or replaces; copied */

/* "node 'conv1' (Conv-11, #5)", names escaped; `op` where the origin has none. */
const char *xpu_origin_text(const xpu_origin *origin, const char *op, xpu_arena *arena);
/* "node 'conv1' (Conv-11, #5)": the main origin, name escaped; for diagnostics. */
const char *xpu_node_where(const xpu_graph *graph, xpu_node node, xpu_arena *arena);
/* The layer's name: the last origin's name where nodes were fused, else the only one's. */
const char *xpu_node_name(const xpu_graph *graph, xpu_node node);

/* Appends a step to a constant's recipe as a new constant value of this dtype and shape; small constants (at most
 * 64 KiB) are computed at once. The source value is unchanged. */
xpu_value xpu_const_derive(xpu_graph *graph, xpu_value constant, const xpu_const_step *step, const char *name,
                           xpu_diags *diags);
/* The finished bytes of a constant, row-major over the value's dims, in `arena`. NULL with a diagnostic on I/O errors.
 */
void *xpu_const_data(const xpu_graph *graph, xpu_value constant, xpu_arena *arena, xpu_diags *diags);
/* A whole constant as a tensor in `arena`. */
xpu_status xpu_const_tensor(const xpu_graph *graph, xpu_value constant, xpu_arena *arena, xpu_tensor *tensor,
                            xpu_diags *diags);

/* Concrete dims under a binding of the symbols (NULL: the dims must be constant). Returns 0 when they are not known. */
int xpu_value_dims(const xpu_graph *graph, xpu_value value, const int64_t *symbols, int64_t *dims);
const char *xpu_type_text(const xpu_graph *graph, xpu_value value, xpu_arena *arena); /* "float32[N,3,8,8]" */
int xpu_value_same_shape(const xpu_graph *graph, xpu_value a, xpu_value b);           /* provably equal dims */
/* Whether only the run knows the dim: it has a symbol that a node's result or a block's argument defines. */
int xpu_dim_is_dynamic(const xpu_graph *graph, xpu_dim dim);

/* Whether a symbol stands for an element of the value. */
int xpu_value_defines_symbol(const xpu_graph *graph, xpu_value value);

/* Adds a guard, whose dims are the same from now on; `where` is copied. */
void xpu_graph_guard(xpu_graph *graph, xpu_dim a, xpu_dim b, const char *where);
/* The first guard that this binding of the symbols breaks, or NULL; those of dims that only the run knows are left out.
 */
const xpu_guard *xpu_graph_broken_guard(const xpu_graph *graph, const int64_t *symbols);
/* "H/2*2 = H" in the arena. */
const char *xpu_guard_text(const xpu_graph *graph, const xpu_guard *guard, xpu_arena *arena);

/* Whether a run finds the symbol's value itself: a node's result or an argument of a body says it. */
int xpu_symbol_is_dynamic(const xpu_graph *graph, uint32_t symbol);
/* Gives those symbols their largest values; `symbols` has the others'. */
void xpu_symbols_bound(const xpu_graph *graph, int64_t *symbols);
/* What an expression is between while a run finds symbols up to those in `symbols`; the others have their value there.
 * NULL: each found one up to its maximum, the others at their least. Saturated. */
typedef struct {
    int64_t min, max;
    int64_t largest; /* magnitude of it and of all of its parts */
} xpu_dim_interval;
xpu_dim_interval xpu_dim_between(const xpu_graph *graph, xpu_dim dim, const int64_t *symbols);

/* Checks every invariant of the graph (handles, use lists, order, ranks, attributes of the row) and, by stage, what
 * the pipeline promises. Adds [ir-verify] errors of status XPU_EBUG; returns XPU_OK or XPU_EBUG. `stage` names the pass
 * that just ran. */
xpu_status xpu_graph_verify(const xpu_graph *graph, const char *stage, xpu_diags *diags);

#endif
