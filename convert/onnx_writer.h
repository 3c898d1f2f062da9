/* The ONNX writer while it makes the model's skeleton: a row for each operator of the core says what stands for it. */
#ifndef XPU_CONVERT_ONNX_WRITER_H
#define XPU_CONVERT_ONNX_WRITER_H

#include "base/name_table.h"
#include "convert/convert.h"
#include "frontend/onnx/onnx.pb-c.h"

typedef XpuOnnx__NodeProto ow_node;
typedef XpuOnnx__GraphProto ow_graph;

/* A tensor that nodes refer to by name: a constant of the graph, or a small one that the writer makes. */
typedef struct {
    const char *name;
    xpu_value value;   /* or {0}: */
    xpu_tensor tensor; /* its data in the arena */
} ow_constant;

/* A Loop whose count of iterations nobody has asked for yet. */
typedef struct {
    xpu_value count;
    ow_node *node;
    ow_graph *body;
    uint32_t carried;
} ow_loop;

typedef XPU_ARRAY(ow_node *) ow_nodes;

typedef struct {
    uint32_t dim;
    const char *before;
} ow_known_dim;

typedef struct {
    xpu_arena *arena;
    xpu_graph *graph;
    xpu_diags *diags;
    int opset, wanted;                 /* wanted: an operator needs this one */
    ow_nodes *nodes;                   /* of the body that is being written */
    xpu_name_table names;              /* all that are taken */
    XPU_ARRAY(const char *) values;    /* names by value; NULL: not asked for yet */
    XPU_ARRAY(ow_constant) constants;  /* in the order of their first use */
    XPU_ARRAY(const char *) dims;      /* by dim: the int64 tensor of one element that has its value, or NULL */
    XPU_ARRAY(ow_known_dim) dims_made; /* in order: what a body made is not known behind it */
    XPU_ARRAY(xpu_value) arguments;    /* of the bodies around */
    XPU_ARRAY(ow_loop) loops;
    xpu_node node; /* the one that is being written */
    uint32_t made; /* names of intermediate results of it */
} ow;

/* ---- onnx_nodes.c: nodes, attributes, names ---- */

void ow_input(ow *w, ow_node *node, const char *name); /* "": absent */
void ow_result(ow *w, ow_node *node, const char *name);
void ow_int(ow *w, ow_node *node, const char *name, int64_t value);
void ow_float(ow *w, ow_node *node, const char *name, float value);
void ow_string(ow *w, ow_node *node, const char *name, const char *value);
void ow_ints(ow *w, ow_node *node, const char *name, const int64_t *values, size_t count);
void ow_body(ow *w, ow_node *node, const char *name, ow_graph *body);

/* A node with one result, whose name it has: operands up to the first NULL; `result` NULL: an intermediate one. Returns
 * the result. */
const char *ow_make(ow *w, ow_node **node, const char *result, const char *op, const char *a, const char *b,
                    const char *c);
/* The same without a way to its attributes. */
const char *ow_unary(ow *w, const char *result, const char *op, const char *a);
const char *ow_binary(ow *w, const char *result, const char *op, const char *a, const char *b);
const char *ow_cast(ow *w, const char *result, const char *a, xpu_dtype dtype);

const char *ow_name(ow *w, xpu_value value); /* "" for {0}; constants become tensors of the model */
const char *ow_in(ow *w, uint32_t i);        /* of the node that is being written */
const char *ow_out(ow *w, uint32_t i);
const xpu_value_info *ow_info_in(ow *w, uint32_t i);
const xpu_value_info *ow_info_out(ow *w, uint32_t i);
const char *ow_new_name(ow *w, const char *word); /* "RESULT/word", unique */

const char *ow_tensor(ow *w, const char *word, const xpu_tensor *tensor);           /* copied */
const char *ow_list(ow *w, const char *word, const int64_t *values, int64_t count); /* int64 [count] */
const char *ow_number(ow *w, const char *word, xpu_dtype dtype, double value);      /* rank 0 */

/* Whether the opset has what is asked for; else what stands for it is written. */
static inline int ow_has(const ow *w, int opset) {
    return w->opset >= opset;
}
/* The same; without --opset the model gets that opset then. */
int ow_needs(ow *w, int opset);
/* [convert-operator] */
void ow_refuse(ow *w, xpu_refused id);
void ow_refuse_size(ow *w, const char *name);
/* [convert-operator] where the opset is too old for what the row says, or for `name`. Returns whether it has it. */
int ow_requires(ow *w, xpu_since_id id, const char *name);

int32_t ow_type(xpu_dtype dtype); /* TensorProto.DataType */

/* ---- onnx_dims.c ---- */

const char *ow_dim(ow *w, xpu_dim dim);                                       /* int64 [1] */
const char *ow_dims(ow *w, const char *word, const xpu_dim *dims, int count); /* int64 [count] */
/* A shape for Reshape: constants, 0 for dims that stay, one -1; else computed. *all: it has a 0 that is one. */
const char *ow_shape(ow *w, const xpu_value_info *from, const xpu_dim *dims, int rank, int *all);

/* ---- rows ---- */

typedef struct ow_row {
    void (*write)(ow *w, const struct ow_row *row);
    const char *name; /* of ONNX's operator */
    struct {
        xpu_attr_id id;
        const char *name; /* NULL: no more */
    } attrs[3];           /* floats and ints of the same meaning */
    int half, brain;      /* the opsets that take float16 and bfloat16: before them float32 stands for these */
    int small;            /* the same for integers of 8 and 16 bits, and int32 */
} ow_row;

enum { OW_SMALL_OPSET = 14 }; /* Add, Sub, Mul and Div take integers of 8 and 16 bits, Relu any */
static inline int ow_is_small(xpu_dtype dtype) {
    return dtype == XPU_I8 || dtype == XPU_U8 || dtype == XPU_I16 || dtype == XPU_U16;
}

const ow_row *ow_row_of(xpu_op_id op);
void ow_write_node(ow *w, xpu_node node);
void ow_attrs(ow *w, ow_node *node, const ow_row *row);

/* clang-format off */
#define OW_WRITES(X)                                                                                                   \
    X(same) X(relu) X(cast) X(clip) X(gelu) X(mish) X(swish) X(hard_swish) X(compare) X(modulo) X(shift) X(bits) X(raise)               \
    X(conv) X(conv_transpose) X(max_pool) X(average_pool) X(matmul) X(batch_norm) X(norm) X(softmax) X(reduce)         \
    X(integer_product) X(quantize) X(dequantize) X(dynamic_quantize) X(resample) X(repeat)                             \
    X(reshape) X(transpose) X(concat) X(slice) X(expand) X(gather) X(gather_nd) X(scatter) X(top) X(nms) X(random)     \
    X(nonzero_counts) X(nonzero) X(range) X(pad) X(dim_values) X(if) X(loop) X(recurrent)
/* clang-format on */
#define X(name) void ow_write_##name(ow *w, const ow_row *row);
OW_WRITES(X)
#undef X

/* ---- onnx_graph.c ---- */

/* The nodes of a block as a graph; `own`: names of results that are to be in it. */
ow_graph *ow_write_block(ow *w, xpu_block block, const char *name);
XpuOnnx__ValueInfoProto *ow_value_info(ow *w, xpu_value value, const char *name);

#endif
