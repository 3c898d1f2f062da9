/*
 * libxpuc: build a neural network in C and compile it, without any file. docs/build-in-c.md shows it.
 *
 *     xpuc_network *n = xpuc_network_new("mlp", &error);
 *     xpuc_value x = xpuc_input(n, "x", "float32", 2, (xpuc_dim[]){XPUC_SYMBOL("N", 1, 64), XPUC_SIZE(784)});
 *     xpuc_value w = xpuc_constant(n, "w", "float32", 2, (int64_t[]){784, 10}, weights);
 *     xpuc_output(n, xpuc_softmax(n, "y", xpuc_matmul(n, "scores", x, w), -1), NULL);
 *     xpuc_network_compile(n, NULL, &result, &error);      -> xpurt_open_memory(result.bytes, result.size, ...)
 *     xpuc_network_free(n);
 *
 * Shapes are logical: images are [N,C,H,W], signals [N,C,W], whatever the layout on the chip; data are row-major and
 * little endian. Operators mean what ONNX's of opset 22 of the same name mean, where nothing else is said here.
 *
 * Errors: a function that is given something wrong notes an error that names the operator by the caller's name, and
 * returns a value that later functions take without another error. So a network is built to its end and its compilation
 * reports all problems together; xpuc_network_check tells earlier. Nothing crashes for a wrong value, name or number;
 * an array must have as many elements as its count says.
 *
 * Names: an operator's name is the name of its result, of its layer, and of what is dumped; NULL: one is made. Names
 * are copied, and no two are alike.
 *
 * Structs may get members at their end in later versions: `size` is sizeof the struct, so that a program that was
 * compiled with an older header still works; 0 stands for the members of version 0.1.0. What is 0 has its default.
 *
 * Threads: a network is used by one thread at a time; different networks may be used at the same time.
 */
#ifndef XPUC_BUILD_H
#define XPUC_BUILD_H

#include "xpuc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- networks ---- */

typedef struct xpuc_network xpuc_network;

/* A tensor of the network that it came from. {0}: absent, for operands that may be. */
typedef struct {
    uint32_t id;
} xpuc_value;

/* An empty network; `name` is copied, and stands for the file in messages and reports. NULL: there is not enough
 * memory, and *error (may be NULL) says so. All functions take a network that is NULL, and do nothing. */
XPUC_API xpuc_network *xpuc_network_new(const char *name, xpuc_error *error);
/* Values and texts of the network are gone then. */
XPUC_API void xpuc_network_free(xpuc_network *network);

/* The errors so far: returns error->status, 0 where there is none. */
XPUC_API int xpuc_network_check(const xpuc_network *network, xpuc_error *error);
/* "float32[N,10]"; belongs to the network. NULL: there was an error with this value. */
XPUC_API const char *xpuc_type(xpuc_network *network, xpuc_value value);

/* Compiles the network as xpuc_compile_file and xpuc_compile_to_file do a file; `options` may be NULL, and its `shapes`
 * must be: inputs have their ranges here. The network stays as it is: it may be compiled again, and be extended. */
XPUC_API int xpuc_network_compile(const xpuc_network *network, const xpuc_options *options, xpuc_result *result,
                                  xpuc_error *error);
XPUC_API int xpuc_network_compile_to_file(const xpuc_network *network, const char *output, const xpuc_options *options,
                                          xpuc_result *result, xpuc_error *error);

/* ---- inputs, constants, outputs ---- */

enum { XPUC_MAX_RANK = 8, XPUC_MAX_SPATIAL = 4 };

/* One dim of an input: a size, or a symbol that the input of each run binds, of min, min + step, ... up to max. A
 * symbol stands for one number wherever it is; where it comes again, min and max may be 0. */
typedef struct {
    int64_t size;       /* 0 .. 2^31-1; with a symbol 0 */
    const char *symbol; /* or NULL; copied */
    int64_t min, max;   /* 1 .. 2^31-1 */
    int64_t step;       /* 0: 1 */
} xpuc_dim;
#define XPUC_SIZE(n)                {(n), NULL, 0, 0, 0}
#define XPUC_SYMBOL(name, min, max) {0, (name), (min), (max), 0}

/* `dtype` as NumPy names it: float32, float16, bfloat16, float64, int8 .. int64, uint8 .. uint64, bool. */
XPUC_API xpuc_value xpuc_input(xpuc_network *network, const char *name, const char *dtype, int rank,
                               const xpuc_dim *dims);
/* `data` is copied. */
XPUC_API xpuc_value xpuc_constant(xpuc_network *network, const char *name, const char *dtype, int rank,
                                  const int64_t *dims, const void *data);
/* `data` is the caller's, and stays as it is until the network is freed. */
XPUC_API xpuc_value xpuc_constant_borrowed(xpuc_network *network, const char *name, const char *dtype, int rank,
                                           const int64_t *dims, const void *data);
/* A float32 scalar. */
XPUC_API xpuc_value xpuc_scalar(xpuc_network *network, float value);

/* Makes `value` the next output. `name` NULL: the name of the value; else the output is a copy of that name. Returns
 * 0, or the status of the error. */
XPUC_API int xpuc_output(xpuc_network *network, xpuc_value value, const char *name);

/* ---- windows ---- */

/* The window of convolutions and pools: a number for each spatial dim, the others 0. */
typedef struct {
    size_t size;
    int64_t kernel_shape[XPUC_MAX_SPATIAL]; /* pools need it; of a convolution 0: that of the weights */
    int64_t strides[XPUC_MAX_SPATIAL];      /* 0: 1 */
    int64_t dilations[XPUC_MAX_SPATIAL];    /* 0: 1 */
    int64_t pads_begin[XPUC_MAX_SPATIAL];
    int64_t pads_end[XPUC_MAX_SPATIAL];
    const char *auto_pad;      /* NULL: pads; "SAME_UPPER", "SAME_LOWER", "VALID" */
    int64_t group;             /* of convolutions; 0: 1 */
    int64_t ceil_mode;         /* of pools: 1: a window that only partly fits counts, too */
    int64_t count_include_pad; /* of averages: 1: padding is part of the mean */
} xpuc_window;

/* x [N,C,W] or [N,C,H,W]; w [O,C/group,...]; bias [O] or {0}. `window` may be NULL. */
XPUC_API xpuc_value xpuc_conv(xpuc_network *network, const char *name, xpuc_value x, xpuc_value w, xpuc_value bias,
                              const xpuc_window *window);
XPUC_API xpuc_value xpuc_max_pool(xpuc_network *network, const char *name, xpuc_value x, const xpuc_window *window);
XPUC_API xpuc_value xpuc_average_pool(xpuc_network *network, const char *name, xpuc_value x, const xpuc_window *window);
XPUC_API xpuc_value xpuc_global_average_pool(xpuc_network *network, const char *name, xpuc_value x);
/* (x - mean) / sqrt(variance + epsilon) * scale + bias, by channel; epsilon 0: 1e-5. */
XPUC_API xpuc_value xpuc_batch_norm(xpuc_network *network, const char *name, xpuc_value x, xpuc_value scale,
                                    xpuc_value bias, xpuc_value mean, xpuc_value variance, float epsilon);

/* ---- products ---- */

/* As numpy.matmul. */
XPUC_API xpuc_value xpuc_matmul(xpuc_network *network, const char *name, xpuc_value a, xpuc_value b);

/* Begin with XPUC_GEMM_INIT: alpha and beta are 1 there. */
typedef struct {
    size_t size;
    float alpha, beta;
    int transpose_a, transpose_b;
} xpuc_gemm_form;
#define XPUC_GEMM_INIT {sizeof(xpuc_gemm_form), 1.0f, 1.0f, 0, 0}
/* alpha a b + beta c of matrices; c of a shape that broadcasts to the product's, or {0}. `form` NULL: a b + c. */
XPUC_API xpuc_value xpuc_gemm(xpuc_network *network, const char *name, xpuc_value a, xpuc_value b, xpuc_value c,
                              const xpuc_gemm_form *form);

/* int32 products of int8 or uint8; the zero points, one for all elements, may be {0}, and that of x be computed. */
XPUC_API xpuc_value xpuc_integer_matmul(xpuc_network *network, const char *name, xpuc_value x, xpuc_value w,
                                        xpuc_value x_zero, xpuc_value w_zero);
XPUC_API xpuc_value xpuc_integer_conv(xpuc_network *network, const char *name, xpuc_value x, xpuc_value w,
                                      xpuc_value x_zero, xpuc_value w_zero, const xpuc_window *window);

/* ---- elementwise ---- */

/* The operator `op` of the table in docs/generated/core_operators.md ("add", "relu", "leaky_relu"), broadcast as NumPy
 * does. `immediates` are its attributes in the table's order, as many as it has. */
XPUC_API xpuc_value xpuc_elementwise(xpuc_network *network, const char *name, const char *op,
                                     const xpuc_value *operands, uint32_t operand_count, const float *immediates,
                                     uint32_t immediate_count);
/* An operator of two operands over any number of them, from the left: "max" of five tensors. */
XPUC_API xpuc_value xpuc_variadic(xpuc_network *network, const char *name, const char *op, const xpuc_value *operands,
                                  uint32_t operand_count);
/* The sum of any number of tensors, divided by how many there are. */
XPUC_API xpuc_value xpuc_mean(xpuc_network *network, const char *name, const xpuc_value *operands,
                              uint32_t operand_count);
/* x to the y; with y the constant 2 x x, rounded once. */
XPUC_API xpuc_value xpuc_pow(xpuc_network *network, const char *name, xpuc_value x, xpuc_value y);
XPUC_API xpuc_value xpuc_cast(xpuc_network *network, const char *name, xpuc_value x, const char *dtype);
XPUC_API xpuc_value xpuc_clip(xpuc_network *network, const char *name, xpuc_value x, float low, float high);
XPUC_API xpuc_value xpuc_identity(xpuc_network *network, const char *name, xpuc_value x);

static inline xpuc_value xpuc_unary(xpuc_network *network, const char *name, const char *op, xpuc_value x) {
    return xpuc_elementwise(network, name, op, &x, 1, NULL, 0);
}
static inline xpuc_value xpuc_binary(xpuc_network *network, const char *name, const char *op, xpuc_value x,
                                     xpuc_value y) {
    xpuc_value operands[2];
    operands[0] = x;
    operands[1] = y;
    return xpuc_elementwise(network, name, op, operands, 2, NULL, 0);
}

/* ---- moves ---- */

/* [product of the dims before the axis, product of the others] */
XPUC_API xpuc_value xpuc_flatten(xpuc_network *network, const char *name, xpuc_value x, int64_t axis);
/* -1 stands for what is left, 0 for the dim of x at this place. */
XPUC_API xpuc_value xpuc_reshape(xpuc_network *network, const char *name, xpuc_value x, uint32_t rank,
                                 const int64_t *shape);
/* Removes dims of 1; `axes` NULL: all that there are. */
XPUC_API xpuc_value xpuc_squeeze(xpuc_network *network, const char *name, xpuc_value x, uint32_t count,
                                 const int64_t *axes);
/* Adds dims of 1, which are `axes` of the result. */
XPUC_API xpuc_value xpuc_unsqueeze(xpuc_network *network, const char *name, xpuc_value x, uint32_t count,
                                   const int64_t *axes);
/* Dim i of the result is dim perm[i] of x; `perm` NULL: the dims in reverse. */
XPUC_API xpuc_value xpuc_transpose(xpuc_network *network, const char *name, xpuc_value x, uint32_t rank,
                                   const int64_t *perm);
XPUC_API xpuc_value xpuc_concat(xpuc_network *network, const char *name, const xpuc_value *operands,
                                uint32_t operand_count, int64_t axis);

typedef struct {
    size_t size;
    const char *mode;                                           /* "constant" (NULL), "reflect", "edge" */
    float value;                                                /* of mode constant */
    int64_t pads_begin[XPUC_MAX_RANK], pads_end[XPUC_MAX_RANK]; /* by dim of x; negative ones crop */
} xpuc_padding;
XPUC_API xpuc_value xpuc_pad(xpuc_network *network, const char *name, xpuc_value x, const xpuc_padding *padding);

XPUC_API xpuc_value xpuc_softmax(xpuc_network *network, const char *name, xpuc_value x, int64_t axis);

/* Along `count` dims (`axes`; NULL: the first ones) the elements from starts to ends (not among them), steps apart
 * (NULL: 1; negative: backwards); negative indices count from the end, and what is beyond a dim is cut off. */
XPUC_API xpuc_value xpuc_slice(xpuc_network *network, const char *name, xpuc_value x, uint32_t count,
                               const int64_t *starts, const int64_t *ends, const int64_t *axes, const int64_t *steps);
/* `parts` parts along an axis, which go to results[]; `sizes` NULL: equal ones. Returns the first, which has the name.
 */
XPUC_API xpuc_value xpuc_split(xpuc_network *network, const char *name, xpuc_value x, int64_t axis, uint32_t parts,
                               const int64_t *sizes, xpuc_value *results);
/* x broadcast with a tensor of this shape; x repeated so many times along each dim. */
XPUC_API xpuc_value xpuc_expand(xpuc_network *network, const char *name, xpuc_value x, uint32_t rank,
                                const int64_t *shape);
XPUC_API xpuc_value xpuc_tile(xpuc_network *network, const char *name, xpuc_value x, uint32_t rank,
                              const int64_t *repeats);
/* Slices of x along the axis by indices (int32 or int64, from the end where they are negative); elements, by an index
 * each; slices by tuples of indices, the last dim of `indices`, behind batch_dims common dims. */
XPUC_API xpuc_value xpuc_gather(xpuc_network *network, const char *name, xpuc_value x, xpuc_value indices,
                                int64_t axis);
XPUC_API xpuc_value xpuc_gather_elements(xpuc_network *network, const char *name, xpuc_value x, xpuc_value indices,
                                         int64_t axis);
XPUC_API xpuc_value xpuc_gather_nd(xpuc_network *network, const char *name, xpuc_value x, xpuc_value indices,
                                   int64_t batch_dims);
/* start + i step for i below count: scalars of float32, int16, int32 or int64. */
XPUC_API xpuc_value xpuc_range(xpuc_network *network, const char *name, xpuc_value start, xpuc_value step,
                               int64_t count);
/* The index (int64) of the largest ("max") or smallest ("min") element along the axis, of several the first. */
XPUC_API xpuc_value xpuc_arg(xpuc_network *network, const char *name, const char *op, xpuc_value x, int64_t axis,
                             int keep_dims);
/* Of matrices, 0 below (upper) or above a diagonal: an integer scalar, or {0} for the main one. */
XPUC_API xpuc_value xpuc_triangle(xpuc_network *network, const char *name, xpuc_value x, xpuc_value diagonal,
                                  int upper);
/* [N,C,H,W] into images block times as wide and high, of C / block^2 channels: the pixels of a block are the outer part
 * of C, or with columns_first the inner one. And back. */
XPUC_API xpuc_value xpuc_depth_to_space(xpuc_network *network, const char *name, xpuc_value x, int64_t block,
                                        int columns_first);
XPUC_API xpuc_value xpuc_space_to_depth(xpuc_network *network, const char *name, xpuc_value x, int64_t block);

/* The "sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square", "log_sum" or "log_sum_exp" over `count` axes (0:
 * all), which go, or with keep_dims become 1. */
XPUC_API xpuc_value xpuc_reduce(xpuc_network *network, const char *name, const char *op, xpuc_value x, uint32_t count,
                                const int64_t *axes, int keep_dims);

/* ---- recurrent ---- */

/* Operands but x, w and r, all of which may be {0}, and forms as in ONNX's LSTM, GRU and RNN. */
typedef struct {
    size_t size;
    xpuc_value bias, lengths, initial_h, initial_c, peepholes;
    const char *direction; /* "forward" (NULL), "reverse", "bidirectional" */
    float clip;            /* 0: none */
    int input_forget, linear_before_reset, layout;
} xpuc_recurrence;
/* `op`: "lstm", "gru", "rnn". x [steps,batch,inputs]; w [directions,gates * hidden,inputs]; r
 * [directions,gates * hidden,hidden]. Returns the outputs of all steps [steps,directions,batch,hidden]; *last_h and
 * *last_c (of an LSTM; both may be NULL) become the last states, [directions,batch,hidden]. `form` may be NULL. */
XPUC_API xpuc_value xpuc_recurrent(xpuc_network *network, const char *name, const char *op, xpuc_value x, xpuc_value w,
                                   xpuc_value r, const xpuc_recurrence *form, xpuc_value *last_h, xpuc_value *last_c);

/* ---- quantised ---- */

/* Scale and zero point of one element, or vectors along `axis`; zero {0}: 0. A network that dequantises operands and
 * quantises results around an operator computes it on integers where the chip can. */
XPUC_API xpuc_value xpuc_dequantize(xpuc_network *network, const char *name, xpuc_value x, xpuc_value scale,
                                    xpuc_value zero, int64_t axis);
/* `dtype` NULL: the zero point's, uint8 where there is none. */
XPUC_API xpuc_value xpuc_quantize(xpuc_network *network, const char *name, xpuc_value x, xpuc_value scale,
                                  xpuc_value zero, int64_t axis, const char *dtype);
/* uint8 with the scale and zero point that the range of x asks for. *scale and *zero may be NULL. */
XPUC_API xpuc_value xpuc_dynamic_quantize(xpuc_network *network, const char *name, xpuc_value x, xpuc_value *scale,
                                          xpuc_value *zero);

#ifdef __cplusplus
}
#endif
#endif
