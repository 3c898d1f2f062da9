/*
 * What the files of the ONNX importer share. One xpu_onnx_importer per import; it and everything in `scratch` are gone
 * when the import ends, what the graph keeps is in `arena`.
 */
#ifndef XPU_FRONTEND_ONNX_IMPORTER_H
#define XPU_FRONTEND_ONNX_IMPORTER_H

#include "frontend/build/build.h"
#include "frontend/inputs.h"
#include "frontend/onnx/onnx.h"
#include "frontend/onnx/skeleton.h"

typedef XpuOnnx__TensorProto xpu_onnx_tensor_proto;
typedef XpuOnnx__NodeProto xpu_onnx_node_proto;
typedef XpuOnnx__AttributeProto xpu_onnx_attr_proto;
typedef XpuOnnx__GraphProto xpu_onnx_graph_proto;

/* A tensor name of the model. */
typedef struct {
    const char *name;
    enum {
        XPU_ONNX_NAME_UNKNOWN, /* used, not defined so far */
        XPU_ONNX_NAME_PENDING, /* result of a node that is still to be read */
        XPU_ONNX_NAME_READY,   /* `value` is it */
        XPU_ONNX_NAME_FAILED   /* its definition had an error, which is reported */
    } state;
    xpu_value value;
    uint32_t producer; /* PENDING: index of the node */
    uint32_t uses;     /* by nodes, those of subgraphs too, and as an output of its graph */
    int is_output;     /* of the model */
} xpu_onnx_name;

typedef struct {
    XPU_ARRAY(xpu_onnx_name) items;
    uint32_t *table; /* index + 1 */
    uint32_t table_size;
} xpu_onnx_names;

/* Names from outside that the subgraphs of a node use. */
typedef struct {
    XPU_ARRAY(const char *) items;
} xpu_onnx_captures;

/* The names of the model's graph, or of a subgraph (a body of If, Loop or Scan), which sees those around it. */
typedef struct xpu_onnx_scope {
    struct xpu_onnx_scope *outer; /* NULL: the model's graph */
    const xpu_onnx_graph_proto *graph;
    xpu_onnx_names names;
    xpu_onnx_captures *captures; /* by node */
    const char *prefix;          /* of the names that nodes without one get: "If_3/then_branch/" */
    const char *where;           /* behind a node in messages: " in then_branch of node 'x' (If-13, #3)" */
    uint32_t within;             /* where outer: the node of the model that this is a body of, or in a body of */
} xpu_onnx_scope;

/* A file of external data. */
typedef struct {
    const char *location; /* as the model names it */
    const xpu_file *file; /* NULL: it cannot be used, which is reported */
} xpu_onnx_external;

typedef struct {
    xpu_arena *arena, *scratch;
    const xpu_import_options *options;
    const xpu_onnx_source *source;
    const char *folder; /* of the model, resolved; NULL: the model is in memory */
    xpu_graph *graph;
    xpu_diags *diags;
    const XpuOnnx__ModelProto *model;
    int opset;
    xpu_onnx_scope *scope; /* of the nodes that are being read */
    XPU_ARRAY(xpu_onnx_external) external;
} xpu_onnx_importer;

/* The hint of messages that have no better one: something is wrong with the file. */
#define XPU_ONNX_CHECK_MODEL "export the model again, or check it with onnx.checker"
#define XPU_ONNX_CHECK_FORM  "export the model with a form that docs/onnx-operators.md lists"

typedef enum {
    XPU_ONNX_FLOAT,
    XPU_ONNX_INT,
    XPU_ONNX_STRING,
    XPU_ONNX_TENSOR,
    XPU_ONNX_GRAPH,
    XPU_ONNX_FLOATS,
    XPU_ONNX_INTS,
    XPU_ONNX_STRINGS
} xpu_onnx_attr_type;

/* An attribute that an operator takes, in the opset versions since <= version < until (0: no limit). */
typedef struct {
    const char *name;
    xpu_onnx_attr_type type;
    int since, until;
    int sets; /* a float of elementwise operators: the xpu_attr_id of the core's row + 1 */
} xpu_onnx_attr_rule;

typedef enum {
    XPU_ONNX_ALL_FLOAT32,  /* all operands are float32 */
    XPU_ONNX_DATA_FLOAT32, /* the first one is */
    XPU_ONNX_ANY_DTYPE,
    XPU_ONNX_CUT_FLOAT32 /* all are float32, or integers, which compute as float32; then what is behind the point goes
                          */
} xpu_onnx_dtypes;

typedef struct xpu_onnx_node xpu_onnx_node;

/* Gives the node to builders (frontend/build); returns what its first result is, or {0} after reporting. The others are
 * those of the node that makes it, unless the converter fills node->results. */
typedef xpu_value xpu_onnx_convert(xpu_onnx_node *node);

enum { XPU_ONNX_MAX_ATTRS = 10, XPU_ONNX_VARIADIC = 1 << 20 };

/* One ONNX operator that is supported, in every form that operators.def lists (operators.c). */
typedef struct {
    const char *name; /* the first member, see find_row */
    uint32_t min_inputs, max_inputs, max_outputs;
    int has_gaps; /* any operand or result may be absent */
    xpu_onnx_dtypes dtypes;
    xpu_onnx_convert *convert;
    xpu_op_id op;               /* for the converters that serve several operators */
    int keeps_shape;            /* the result has the shape of the first operand, to which the others broadcast */
    const char *domain;         /* NULL: ONNX's own */
    const char *inner, *layout; /* QLinear operators: the float operator, and the inputs (ops_quantised.c) */
    const char *core;           /* see xpu_onnx_operator */
    const char *remarks;
    xpu_onnx_attr_rule attrs[XPU_ONNX_MAX_ATTRS];
} xpu_onnx_row;

/* The node being read. */
struct xpu_onnx_node {
    xpu_onnx_importer *importer;
    const xpu_onnx_node_proto *proto;
    const xpu_onnx_row *row;
    fe_builder build;
    uint32_t index;    /* in its graph */
    int version;       /* of the operator's form */
    const char *name;  /* its own, or "Conv_5" */
    xpu_value *inputs; /* absent ones are {0} */
    uint32_t input_count;
    xpu_value *results; /* proto->n_output of them, all {0} before the node is converted */
};

/* operators.c */
const xpu_onnx_row *xpu_onnx_find_row(const char *name, const char *domain); /* "" : ONNX's own */
/* The opset version of the form of standard operator `name` in `opset`; 0 where it does not exist (yet), -1 when
 * `name` is no ONNX operator at all. */
int xpu_onnx_known_version(const char *name, int opset);
/* The nearest name of a standard operator, or NULL. */
const char *xpu_onnx_nearest_operator(const char *name);

/* names.c: the entry of a tensor name in the current scope, made UNKNOWN when new; valid until the next new name. */
xpu_onnx_name *xpu_onnx_name_of(xpu_onnx_importer *importer, const char *name);
/* What a node of the current scope means by `name`: the entry of the nearest scope that defines it, or NULL. */
const xpu_onnx_name *xpu_onnx_visible(const xpu_onnx_importer *importer, const char *name);

/* scope.c: the constants of the current scope's graph. */
void xpu_onnx_read_initialisers(xpu_onnx_importer *importer);
/* Its nodes, each after those that it depends on; a list that is in order keeps it. Inputs have values already. */
void xpu_onnx_read_nodes(xpu_onnx_importer *importer);
/*
 * Reads the subgraph that attribute `name` of `node` holds, in a scope inside the current one: its inputs are
 * `arguments` (values of the graph; as many as the subgraph has inputs), its nodes are added to the graph where others
 * are being added, and results[i] becomes the value of its output i (result_count of them, {0} where one failed).
 * Values that it defines already, or that are defined outside, are given as they are. Errors name node and subgraph.
 * Returns 1 when all results are there, else 0, after reporting.
 */
int xpu_onnx_read_subgraph(xpu_onnx_node *node, const char *name, const xpu_value *arguments, uint32_t argument_count,
                           xpu_value *results, uint32_t result_count);

/* inputs.c: for what all importers share of them. */
xpu_input_reader xpu_onnx_input_reader(const xpu_onnx_importer *importer);
/* Adds the graph's inputs; all errors are reported. */
void xpu_onnx_add_inputs(xpu_onnx_importer *importer);

/* tensor.c */
/* ONNX's code of an element type; XPU_DTYPE_NONE where there is none for it. */
xpu_dtype xpu_onnx_dtype(int code);
const char *xpu_onnx_dtype_name(int code); /* "float8e4m3fn", "type 77" */
/* The name of a constant's value: another one where an output of the graph, which is a copy, has `name`. */
const char *xpu_onnx_constant_name(xpu_onnx_importer *importer, const char *name);
/* Adds a constant. `where` stands for the tensor in messages; {0} after reporting. */
xpu_value xpu_onnx_constant(xpu_onnx_importer *importer, const xpu_onnx_tensor_proto *tensor, const char *name,
                            const char *where);

/* convert.c: checks a node and converts it. Its results become READY or FAILED. */
void xpu_onnx_read_node(xpu_onnx_importer *importer, uint32_t index);

/* node.c: what converters are made of. Those that report say what is wrong with the node and return 0 or NULL. */
const char *xpu_onnx_format(const xpu_onnx_node *node, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports an error of the node; returns {0}. `hint` NULL: the usual one of the rule. */
xpu_value xpu_onnx_refuse(const xpu_onnx_node *node, const char *rule, const char *what, const char *why,
                          const char *hint);
/* Attributes: names, types and values of the node are checked against the row before it is converted. */
const xpu_onnx_attr_proto *xpu_onnx_attr_of(const xpu_onnx_node *node, const char *name);
const xpu_onnx_graph_proto *xpu_onnx_attr_graph(const xpu_onnx_node *node, const char *name); /* NULL when absent */
int64_t xpu_onnx_attr_int(const xpu_onnx_node *node, const char *name, int64_t fallback);
float xpu_onnx_attr_float(const xpu_onnx_node *node, const char *name, float fallback);
const char *xpu_onnx_attr_string(const xpu_onnx_node *node, const char *name, const char *fallback);
fe_ints xpu_onnx_attr_ints(const xpu_onnx_node *node, const char *name);
const float *xpu_onnx_attr_floats(const xpu_onnx_node *node, const char *name,
                                  size_t *count); /* NULL when absent or empty */
const char *const *xpu_onnx_attr_strings(const xpu_onnx_node *node, const char *name, size_t *count);
/* 0 or 1; anything else is reported, and *ok becomes 0. */
int xpu_onnx_attr_flag(const xpu_onnx_node *node, const char *name, int fallback, int *ok);
/* A constant operand of rank 0 or 1 as a tensor. */
int xpu_onnx_const_operand(const xpu_onnx_node *node, uint32_t input, xpu_tensor *tensor);
/* A list of operand `input`, which must be constant and of rank 0 or 1, int32 or int64. */
int xpu_onnx_const_ints(const xpu_onnx_node *node, uint32_t input, fe_ints *list);
/* The same as dims: what is computed from shapes and small inputs of integers are expressions. */
int xpu_onnx_dim_list(const xpu_onnx_node *node, uint32_t input, fe_dims *list);
/* found_sizes.c: the same of a list that only the run knows: symbols up to what --bound says. -1: it is no such list; 0
 * after reporting. */
int xpu_onnx_found_list(const xpu_onnx_node *node, uint32_t input, fe_dims *list);
/* Places along dims, from the end where they are negative, which may lie far outside: of those that only the run knows
 * symbols. */
int xpu_onnx_place_list(xpu_onnx_node *node, uint32_t input, fe_dims *list);
/* A list of numbers as dims. */
fe_dims xpu_onnx_dims_of(const xpu_onnx_node *node, fe_ints list);
/* A constant operand of one element, of any type, whose value float32 has. */
int xpu_onnx_const_float(const xpu_onnx_node *node, uint32_t input, float *value);
int xpu_onnx_has_input(const xpu_onnx_node *node, uint32_t input);
xpu_value xpu_onnx_optional(const xpu_onnx_node *node, uint32_t input); /* {0} where it is absent */
int xpu_onnx_is_float(xpu_dtype dtype);                                 /* float32, float16 or bfloat16 */
/* `value`, which may be {0}, in float32. */
xpu_value xpu_onnx_as_float32(xpu_onnx_node *node, xpu_value value);
/* Whether result `output` has a name that something uses. */
int xpu_onnx_output_used(const xpu_onnx_node *node, uint32_t output);
const xpu_value_info *xpu_onnx_info(const xpu_onnx_node *node, xpu_value value);

/* ops_*.c: the converters named in operators.c. */
xpu_onnx_convert xpu_onnx_convert_shape, xpu_onnx_convert_size;
xpu_onnx_convert xpu_onnx_convert_scatter_elements, xpu_onnx_convert_scatter_nd, xpu_onnx_convert_top,
    xpu_onnx_convert_suppress, xpu_onnx_convert_random, xpu_onnx_convert_bernoulli, xpu_onnx_convert_multinomial,
    xpu_onnx_convert_reverse_sequence, xpu_onnx_convert_unique, xpu_onnx_convert_max_unpool,
    xpu_onnx_convert_grid_sample;
xpu_onnx_convert xpu_onnx_convert_cast, xpu_onnx_convert_if, xpu_onnx_convert_loop, xpu_onnx_convert_scan;
xpu_onnx_convert xpu_onnx_convert_conv, xpu_onnx_convert_conv_transpose, xpu_onnx_convert_pool,
    xpu_onnx_convert_batch_norm, xpu_onnx_convert_pad, xpu_onnx_convert_gemm, xpu_onnx_convert_matmul,
    xpu_onnx_convert_elementwise, xpu_onnx_convert_pow, xpu_onnx_convert_gelu, xpu_onnx_convert_variadic,
    xpu_onnx_convert_clip, xpu_onnx_convert_mean, xpu_onnx_convert_reduce, xpu_onnx_convert_bit_shift,
    xpu_onnx_convert_mod, xpu_onnx_convert_is_nan, xpu_onnx_convert_is_inf, xpu_onnx_convert_flatten,
    xpu_onnx_convert_reshape, xpu_onnx_convert_squeeze, xpu_onnx_convert_unsqueeze, xpu_onnx_convert_transpose,
    xpu_onnx_convert_concat, xpu_onnx_convert_softmax, xpu_onnx_convert_identity, xpu_onnx_convert_dropout,
    xpu_onnx_convert_constant, xpu_onnx_convert_quantize, xpu_onnx_convert_dequantize,
    xpu_onnx_convert_dynamic_quantize, xpu_onnx_convert_qlinear, xpu_onnx_convert_integer_product,
    xpu_onnx_convert_slice, xpu_onnx_convert_split, xpu_onnx_convert_expand, xpu_onnx_convert_tile,
    xpu_onnx_convert_constant_of_shape, xpu_onnx_convert_gather, xpu_onnx_convert_gather_elements,
    xpu_onnx_convert_gather_nd, xpu_onnx_convert_recurrent, xpu_onnx_convert_nonzero, xpu_onnx_convert_compress,
    xpu_onnx_convert_reduce_function, xpu_onnx_convert_arg_extreme, xpu_onnx_convert_range, xpu_onnx_convert_trilu,
    xpu_onnx_convert_depth_to_space, xpu_onnx_convert_space_to_depth, xpu_onnx_convert_resize;
xpu_onnx_convert xpu_onnx_convert_einsum, xpu_onnx_convert_rotary_embedding, xpu_onnx_convert_attention,
    xpu_onnx_convert_swiglu;
xpu_onnx_convert xpu_onnx_convert_loss, xpu_onnx_convert_center_crop_pad;
xpu_onnx_convert xpu_onnx_convert_layer_norm, xpu_onnx_convert_instance_norm, xpu_onnx_convert_group_norm;
xpu_onnx_convert xpu_onnx_convert_mean_variance_norm, xpu_onnx_convert_lp_norm, xpu_onnx_convert_lrn,
    xpu_onnx_convert_log_softmax, xpu_onnx_convert_hardmax, xpu_onnx_convert_global_max_pool,
    xpu_onnx_convert_global_lp_pool, xpu_onnx_convert_lp_pool, xpu_onnx_convert_cumulate, xpu_onnx_convert_one_hot,
    xpu_onnx_convert_eye_like, xpu_onnx_convert_window;
/* The attributes of a convolution. */
fe_convolution xpu_onnx_convolution(const xpu_onnx_node *node);

#endif
