/* The PaddlePaddle writer: a program in memory, which one of two serialisers writes. */
#ifndef XPU_CONVERT_PADDLE_WRITER_H
#define XPU_CONVERT_PADDLE_WRITER_H

#include "base/name_table.h"
#include "convert/convert.h"

/* AttrType of framework.proto. */
typedef enum {
    PW_INT = 0,
    PW_FLOAT = 1,
    PW_STRING = 2,
    PW_INTS = 3,
    PW_FLOATS = 4,
    PW_BOOL = 6,
    PW_BLOCK = 8,
    PW_LONG = 9,
    PW_LONGS = 11
} pw_attr_type;

typedef struct {
    const char *name;
    pw_attr_type type;
    int64_t i;
    float f;
    const char *s;
    const int64_t *ints;
    const float *floats;
    uint32_t count;
    const struct pw_body *body;
} pw_attr;

typedef struct {
    const char *name;
    XPU_ARRAY(const char *) vars;
} pw_slot;

typedef struct {
    const char *type;
    XPU_ARRAY(pw_slot) inputs;
    XPU_ARRAY(pw_slot) outputs;
    XPU_ARRAY(pw_attr) attrs;
    struct pw_body *bodies[2]; /* of "if": then, else; of "while": one */
    uint32_t body_count;
} pw_op;

typedef XPU_ARRAY(pw_op *) pw_ops;

/* A body of control flow. A loop's first result is its condition, the others are the next values of its arguments. */
typedef struct pw_body {
    pw_ops ops;
    XPU_ARRAY(const char *) arguments;
    XPU_ARRAY(const char *) results;
    int index, parent; /* blocks of a ProgramDesc */
} pw_body;

enum { PW_OPEN = -1 };

typedef struct {
    const char *name;
    xpu_dtype dtype;
    int rank;
    int64_t dims[XPU_MAX_RANK]; /* PW_OPEN: not known */
    xpu_value constant;         /* of a parameter, or {0} */
    int is_parameter, is_input, is_used;
    xpu_tensor tensor; /* of a parameter that is no constant of the graph */
    int place;         /* the block of a ProgramDesc that has it, from 1 on; 0: that of parameters and inputs */
    int holder;        /* VarType.Type of what is no tensor, or 0 */
} pw_var;

typedef struct {
    uint32_t dim;
    const char *name;
} pw_size;

typedef struct {
    xpu_arena *arena;
    xpu_graph *graph;
    xpu_diags *diags;
    pw_ops ops; /* of the body that is being made */
    XPU_ARRAY(pw_var) vars;
    xpu_name_table names; /* indices into vars */
    XPU_ARRAY(const char *) values;
    XPU_ARRAY(const char *) sizes;  /* by dim */
    XPU_ARRAY(uint32_t) sizes_made; /* dims, in order: what a body made is not known behind it */
    XPU_ARRAY(xpu_value) arguments; /* of the loops around */
    xpu_node node;
    int as_float32; /* bytes and the node's results are float32 in what is being written */
    int lifts;      /* int8, uint8, int16 and bool are int32 in the node that is being written */
} pw;

/* ---- paddle_nodes.c ---- */

pw_op *pw_add(pw *w, const char *type);
void pw_in(pw *w, pw_op *op, const char *slot, const char *var);
void pw_out(pw *w, pw_op *op, const char *slot, const char *var);
void pw_outs(pw *w, pw_op *op, const char *slot, const char *const *vars, uint32_t count); /* one slot */
void pw_int(pw *w, pw_op *op, const char *name, int64_t value);
void pw_bool(pw *w, pw_op *op, const char *name, int value);
void pw_float(pw *w, pw_op *op, const char *name, float value);
void pw_string(pw *w, pw_op *op, const char *name, const char *value);
void pw_ints(pw *w, pw_op *op, const char *name, const int64_t *values, uint32_t count);
void pw_floats(pw *w, pw_op *op, const char *name, const float *values, uint32_t count);
void pw_block(pw *w, pw_op *op, const char *name, const pw_body *body);
void pw_longs(pw *w, pw_op *op, const char *name, const int64_t *values, uint32_t count);

/* What a result is: the type of an intermediate one. */
typedef struct {
    xpu_dtype dtype;
    int rank;
    xpu_dim dims[XPU_MAX_RANK]; /* id 0: not known */
} pw_type;
pw_type pw_type_of(pw *w, xpu_value value);
pw_type pw_scalar_list(pw *w, xpu_dtype dtype, int64_t count); /* [count] */
pw_type pw_as(pw_type type, xpu_dtype dtype);

/* A new variable; `word` goes behind the name of the node's result. */
const char *pw_new(pw *w, const char *word, const pw_type *type);
/* An operator with operands X and Y (NULL: absent) and result Out; `result` NULL: an intermediate one. */
const char *pw_make(pw *w, pw_op **op, const char *result, const char *type, const pw_type *gives, const char *x,
                    const char *y);
/* The node as an operator with its first operand as X, and Out. */
pw_op *pw_unary(pw *w, const char *type);
const char *pw_binary(pw *w, const char *result, const char *type, const pw_type *gives, const char *x, const char *y);
const char *pw_cast(pw *w, const char *result, const char *x, const pw_type *from, xpu_dtype dtype);
/* The dims of a reduction; PaddlePaddle sums int32 as int64, if it is not told. */
void pw_reduction(pw *w, pw_op *op, const pw_type *gives, int64_t axis, int keeps);
/* factor x + bias */
const char *pw_scale(pw *w, const char *result, const char *x, const pw_type *gives, float factor, float bias);
/* A tensor [1] of one number. */
const char *pw_number(pw *w, xpu_dtype dtype, double value);
const char *pw_scalar(pw *w, xpu_dtype dtype, double value); /* the same of rank 0 */

const char *pw_name(pw *w, xpu_value value);
const char *pw_operand(pw *w, uint32_t i); /* NULL where absent */
const char *pw_result(pw *w, uint32_t i);
pw_type pw_operand_type(pw *w, uint32_t i);
pw_type pw_result_type(pw *w, uint32_t i);
const char *pw_parameter(pw *w, const char *word, const xpu_tensor *tensor); /* copied */

int pw_code(xpu_dtype dtype);       /* VarType.Type; -1: PaddlePaddle has none */
xpu_dtype pw_held(xpu_dtype dtype); /* what holds its elements there: int64 for uint16, uint32 and uint64 */
int pw_is_small(xpu_dtype dtype);   /* fits into int32 */
int pw_const_dims(pw *w, const pw_type *type, int64_t *dims);
void pw_refuse(pw *w, xpu_refused id);
void pw_refuse_size(pw *w, const char *name);

/* ---- paddle_sizes.c ---- */

const char *pw_size_of(pw *w, xpu_dim dim); /* int32 [1] */
/* dims as a list of numbers, or as one int32 tensor: *tensor. */
const char *pw_sizes(pw *w, const xpu_dim *dims, int count);
const char *pw_zeros(pw *w, const char *result, const pw_type *gives);
/* PaddlePaddle 2.6 does not sum up nothing, nor join it along another axis: x with zeros behind it as one more entry of
 * the axis. The type becomes that of the result. */
int pw_may_be_empty(pw *w, const pw_type *type, int axis);
const char *pw_with_zeros(pw *w, const char *x, pw_type *type, int axis);
const char *pw_reshape(pw *w, const char *result, const char *x, const pw_type *from, const pw_type *to);
const char *pw_transpose(pw *w, const char *result, const char *x, const pw_type *to, const int64_t *perm);
/* x broadcast to `to`; x itself where it has that shape. */
const char *pw_expand(pw *w, const char *result, const char *x, const pw_type *from, const pw_type *to);

/* Elements first .. end - 1 of an axis; `result` NULL: an intermediate one. */
const char *pw_part(pw *w, const char *result, const char *x, const pw_type *gives, int64_t axis, int64_t first,
                    int64_t end);
/* 0, 1, ... below `end`, an int32 [1]. */
const char *pw_counted(pw *w, const char *end, const pw_type *gives);
const char *pw_shape_list(pw *w, const char *name, int rank); /* int32 [rank] */

/* ---- paddle_axes.c ---- */

/* The node's result, padded by "edge" or "reflect" along any axis of a known size. */
void pw_pad_places(pw *w, const char *x, const pw_type *from, const int64_t *begin, const int64_t *end,
                   const char *mode);
int pw_resample_axis(pw *w, int axis); /* 0: nothing written */

/* ---- paddle_indices.c ---- */

/* The node's indices, its second operand, from the start where they count from the end: as they are where none is
 * negative. The last dim of tuples has an index into each of `sizes`. */
const char *pw_indices(pw *w, const xpu_dim *sizes, int count);

/* ---- paddle_control.c ---- */

/* Branches and loops as a ProgramDesc has them. */
void pw_lower_control(pw *w);

/* ---- rows ---- */

typedef struct pw_row {
    void (*write)(pw *w, const struct pw_row *row);
    const char *name;
    struct {
        xpu_attr_id id;
        const char *name;
    } attrs[2]; /* floats of the same meaning */
} pw_row;
void pw_write_node(pw *w, xpu_node node);
void pw_where(pw *w, const char *result, const char *condition, const char *x, const char *y);
/* x rounded to whole numbers, the even one of two. */
const char *pw_round(pw *w, const char *result, const char *x, const pw_type *type);

/* clang-format off */
#define PW_WRITES(X)                                                                                                   \
    X(unary) X(binary) X(negate) X(clip) X(hard_swish) X(softplus) X(gelu) X(swish) X(round) X(prelu) X(shrink)        \
    X(cast) X(where) X(identity) X(equal) X(raise)                                                                                    \
    X(conv) X(conv_transpose) X(pool) X(global_pool) X(matmul) X(batch_norm) X(norm) X(softmax) X(reduce)              \
    X(quantize) X(dequantize) X(integer_product) X(dynamic_quantize) X(resample) X(repeat)                                                                    \
    X(reshape) X(transpose) X(concat) X(slice) X(expand) X(gather) X(gather_elements) X(gather_nd) X(scatter_elements) \
    X(scatter_nd) X(top) X(nms) X(shift) X(fmod) X(random) X(nonzero_counts) X(nonzero) X(range) X(pad) X(dim_values) X(if) X(loop) X(recurrent)
/* clang-format on */
#define X(name) void pw_write_##name(pw *w, const pw_row *row);
PW_WRITES(X)
#undef X

#endif
