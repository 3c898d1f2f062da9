/*
 * Builders: one function per operator as networks mean it, over values of the graph and plain C structs. They know no
 * framework: readers of model files and the C API (xpuc_build.h) give them what their format says, and they do the
 * arithmetic of getting from there to the rows of core/ops/ops.def.
 *
 * Shapes and the meaning of members are ONNX's of opset 22 where nothing else is said; operands are values of
 * builder->graph. A function returns its result, or {0} after reporting what is wrong; an operand that is {0} and must
 * be there gives {0} without another report.
 */
#ifndef XPU_FRONTEND_BUILD_H
#define XPU_FRONTEND_BUILD_H

#include "core/arith_pick.h"
#include "core/arith_resample.h"
#include "core/ops/op.h"

/* What a message is about: its rule id is the front end's. */
typedef enum {
    FE_FORM,      /* a form of the operator that is not supported */
    FE_OPERAND,   /* an operand, or how many there are */
    FE_ATTRIBUTE, /* a parameter */
    FE_SHAPE,     /* shapes that do not fit */
    FE_RULES
} fe_rule;

/* How a front end speaks of its operators. */
typedef struct {
    const char *rules[FE_RULES]; /* rule ids: "onnx-shape" */
    const char *hints[FE_RULES]; /* where a message has none of its own */
} fe_frontend;

/* What the functions work on; one for each operator of the source. */
typedef struct {
    const fe_frontend *frontend;
    xpu_graph *graph;
    xpu_arena *scratch;
    xpu_diags *diags;
    const char *file;         /* for messages, or NULL */
    const char *where;        /* the operator in messages: "node 'conv1' (Conv-11, #5)" */
    uint32_t origin;          /* index into graph->origins */
    const char *const *names; /* of the results; NULL and "": one is made from the first */
    uint32_t name_count;      /* at least 1 */
    int inner;                /* the result is an intermediate one of the operator */
    uint32_t made;            /* intermediate results so far */
} fe_builder;

/* A list of numbers; `items` NULL: it is not given. */
typedef struct {
    const int64_t *items;
    size_t count;
} fe_ints;

/* The same of dims: expressions, or sizes that are known. */
typedef struct {
    const xpu_dim *items;
    size_t count;
} fe_dims;

/* ---- windows ---- */

/* Lists have a number for each spatial dim, pads two: all begins, then all ends. */
typedef struct {
    fe_ints kernel_shape;       /* of a convolution, not given: that of the weights */
    fe_ints strides, dilations; /* not given: 1 */
    fe_ints pads;               /* not given: 0 */
    const char *auto_pad;       /* NULL, "" and "NOTSET": pads; "SAME_UPPER", "SAME_LOWER", "VALID" */
} fe_window;

typedef struct {
    fe_window window;
    int64_t group;
} fe_convolution;

/* x [N,C,W] or [N,C,H,W]; w [O,C/group,...]; bias [O] or {0}. */
xpu_value fe_conv(fe_builder *b, xpu_value x, xpu_value w, xpu_value bias, const fe_convolution *conv);

typedef struct {
    fe_window window;
    int64_t group;
    fe_ints output_padding; /* not given: 0 */
    fe_ints output_shape;   /* of the spatial dims, or of all; not given: what the window makes */
} fe_transposed_convolution;

/* x [N,C,W] or [N,C,H,W]; w [C,O/group,...]; bias [O] or {0}. */
xpu_value fe_conv_transpose(fe_builder *b, xpu_value x, xpu_value w, xpu_value bias,
                            const fe_transposed_convolution *conv);

typedef struct {
    fe_window window;
    int64_t ceil_mode, count_include_pad; /* 0 or 1; the second of averages only */
    int by_columns; /* averages: each column of a window is added up first, where onnxruntime 1.31 did so */
} fe_pooling;

/* `op`: XPU_OP_MAX_POOL or XPU_OP_AVERAGE_POOL. */
xpu_value fe_pool(fe_builder *b, xpu_op_id op, xpu_value x, const fe_pooling *pool);
xpu_value fe_global_average_pool(fe_builder *b, xpu_value x);
xpu_value fe_global_max_pool(fe_builder *b, xpu_value x);
/* (sum of |x|^power)^(1 / power), of all spatial dims, and of windows. */
xpu_value fe_global_lp_pool(fe_builder *b, xpu_value x, float power);
xpu_value fe_lp_pool(fe_builder *b, xpu_value x, const fe_pooling *pool, float power);
/* The inference form; scale, bias, mean and variance are [C]. */
xpu_value fe_batch_norm(fe_builder *b, xpu_value x, xpu_value scale, xpu_value bias, xpu_value mean, xpu_value variance,
                        float epsilon);

/* ---- products ---- */

typedef struct {
    float alpha, beta;
    int transpose_a, transpose_b;
} fe_gemm_form;

/* alpha * a' * b' + beta * c of matrices; c of rank 2 at most, or {0}. */
xpu_value fe_gemm(fe_builder *b, xpu_value left, xpu_value right, xpu_value c, const fe_gemm_form *form);
/* As numpy.matmul. */
xpu_value fe_matmul(fe_builder *b, xpu_value left, xpu_value right);
/* The equation of ONNX (and numpy) over the operands, all of one type of numbers. */
xpu_value fe_einsum(fe_builder *b, const char *equation, const xpu_value *operands, uint32_t count);
/* Products of 8-bit integers, int32: x_zero (one element) and w_zero (one, or one for each channel) may be {0},
 * constant or computed. */
xpu_value fe_integer_matmul(fe_builder *b, xpu_value x, xpu_value w, xpu_value x_zero, xpu_value w_zero);
xpu_value fe_integer_conv(fe_builder *b, xpu_value x, xpu_value w, xpu_value x_zero, xpu_value w_zero,
                          const fe_convolution *conv);

/* ---- norms ---- */

typedef struct {
    int64_t axis; /* the first of the dims that are normalised together */
    float epsilon;
    int centred; /* 0: the mean is not taken away (RMSNormalization) */
} fe_norm;
/* Over the dims from an axis on; scale and bias broadcast to x, or {0}. */
xpu_value fe_layer_norm(fe_builder *b, xpu_value x, xpu_value scale, xpu_value bias, const fe_norm *form);
/* The mean and 1 / the deviation of what fe_layer_norm normalises, whose dims become 1; intermediate results. 0 after
 * reporting. */
int fe_layer_statistics(fe_builder *b, xpu_value x, const fe_norm *form, xpu_value statistics[2]);
/* x [N,C,...]; scale and bias are vectors over the channels, or with by_group over the groups; groups 0: as many as
 * channels. */
xpu_value fe_group_norm(fe_builder *b, xpu_value x, xpu_value scale, xpu_value bias, int64_t groups, int by_group,
                        float epsilon);
/* (x - mean) / (deviation + 1e-9) over the axes; not given: all but the channels. */
xpu_value fe_mean_variance_norm(fe_builder *b, xpu_value x, fe_ints axes);
/* x / |x| along one axis, `power` 1 or 2; 0 where all is 0. */
xpu_value fe_lp_norm(fe_builder *b, xpu_value x, int64_t axis, int64_t power);
/* x [N,C,...] / (bias + alpha / size * sum of x^2 over `size` channels)^beta. */
typedef struct {
    float alpha, beta, bias;
    int64_t size;
} fe_response;
xpu_value fe_local_response_norm(fe_builder *b, xpu_value x, const fe_response *form);

/* ---- attention ---- */

/* x [batch,heads,sequence,size], or [batch,sequence,heads * size]; caches [batch,sequence,half], or with positions
 * [batch,sequence] (or {0}) their rows. */
typedef struct {
    xpu_value x, cosines, sines, positions;
} fe_rotary_operands;
typedef struct {
    int64_t heads; /* of an input of rank 3 */
    int64_t size;  /* the elements of a head that turn; 0: all */
    int interleaved;
} fe_rotation;
xpu_value fe_rotary_embedding(fe_builder *b, const fe_rotary_operands *in, const fe_rotation *form);

/* Of float32, but for the mask, which may be bool too, and the lengths [batch]; those from the mask on may be {0}. q, k
 * and v are [batch,heads,sequence,size] or [batch,sequence,heads * size]. */
typedef struct {
    xpu_value q, k, v, mask, past_key, past_value, lengths;
} fe_attention_operands;
typedef struct {
    int64_t q_heads, kv_heads; /* of operands of rank 3 */
    int64_t left, right;       /* how far a query sees; -1: everything */
    float scale, softcap;      /* 0: 1 / sqrt(size of a head), and none */
    int is_causal;
    int pads_mask; /* with keys that are not seen, where it has fewer; otherwise it has as many, or one */
    int stage;     /* of the scores that are result 3: 0 products, 1 capped, 2 masked, 3 softmax */
} fe_attention_form;
/* Results: y, keys and values with those of the past, scores. 0 after reporting. */
enum { FE_ATTENTION_RESULTS = 4 };
int fe_attention(fe_builder *b, const fe_attention_operands *operands, const fe_attention_form *form,
                 xpu_value results[FE_ATTENTION_RESULTS]);

/* ---- losses ---- */

typedef struct {
    const char *reduction;  /* "none", "sum", "mean" (by the weights) */
    const int64_t *ignored; /* a target that counts nothing, or NULL */
} fe_loss;
/* x [N,C,...] of logarithms, targets [N,...] of classes, weight [C] or {0}. */
xpu_value fe_likelihood_loss(fe_builder *b, xpu_value x, xpu_value target, xpu_value weight, const fe_loss *form);

/* ---- elementwise ---- */

/* An operator of elementwise.def, or another one whose operands and attributes are its row's. */
xpu_value fe_elementwise(fe_builder *b, xpu_op_id op, const xpu_value *operands, uint32_t operand_count,
                         const xpu_attr *attrs, uint32_t attr_count);
/* An operator of two operands over any number, from the left. */
xpu_value fe_variadic(fe_builder *b, xpu_op_id op, const xpu_value *operands, uint32_t operand_count);
/* The sum of any number, divided by how many there are. */
xpu_value fe_mean(fe_builder *b, const xpu_value *operands, uint32_t operand_count);
xpu_value fe_pow(fe_builder *b, xpu_value x, xpu_value y);
xpu_value fe_clip(fe_builder *b, xpu_value x, float low, float high);
/* x as another element type: docs/arithmetic.md, "Conversions". */
xpu_value fe_convert(fe_builder *b, xpu_value x, xpu_dtype dtype);
xpu_value fe_identity(fe_builder *b, xpu_value x); /* of a constant: the constant */

/* ---- recurrent ---- */

typedef enum { FE_LSTM, FE_GRU, FE_RNN } fe_recurrent_kind;

/* All but x, w and r may be {0}; bias: those of the inputs, then those of the state. */
typedef struct {
    xpu_value x, w, r, bias, lengths, initial_h, initial_c, peepholes;
} fe_recurrent_operands;

typedef struct {
    const char *direction; /* NULL: "forward"; "reverse", "bidirectional" */
    int64_t hidden_size;   /* 0: what r says */
    const char *const *activations;
    const float *alpha, *beta; /* of the activations that have some, in order; the others have their defaults */
    size_t activation_count, alpha_count, beta_count; /* 0: the defaults */
    float clip;                                       /* 0: none */
    int input_forget, linear_before_reset, layout;
} fe_recurrence;

/* Operands are float32, lengths int32; the number of time steps is known unless the form is the usual one. Returns how
 * many results there are: 3 of an LSTM, else 2; 0 after reporting. */
uint32_t fe_recurrent(fe_builder *b, fe_recurrent_kind kind, const fe_recurrent_operands *operands,
                      const fe_recurrence *form, xpu_value *results);

/* ---- moves ---- */

xpu_value fe_flatten(fe_builder *b, xpu_value x, int64_t axis);
/* A dim -1 stands for what is left, 0 for the operand's own one, with allow_zero for 0; an expression is at least 1:
 * where it is not, the shape is refused at run time. */
xpu_value fe_reshape(fe_builder *b, xpu_value x, fe_dims shape, int allow_zero);
xpu_value fe_squeeze(fe_builder *b, xpu_value x, fe_ints axes);   /* not given: all dims of 1 */
xpu_value fe_unsqueeze(fe_builder *b, xpu_value x, fe_ints axes); /* dims of the result */
xpu_value fe_transpose(fe_builder *b, xpu_value x, fe_ints perm); /* not given: reversed */
xpu_value fe_concat(fe_builder *b, const xpu_value *operands, uint32_t operand_count, int64_t axis);

typedef struct {
    const char *mode; /* "constant", "reflect", "edge" */
    float value;
    xpu_value
        integer;  /* or {0}: the value instead, a scalar of x's type, which is one of integers; constant or computed */
    fe_ints pads; /* begins of all axes, then ends; negative ones crop */
    fe_ints axes; /* not given: all */
} fe_padding;
xpu_value fe_pad(fe_builder *b, xpu_value x, const fe_padding *padding);

/* The listed dims (not given: all), which are known, cropped or padded with 0 to `shape`, as much at both ends. */
xpu_value fe_center_crop_pad(fe_builder *b, xpu_value x, fe_ints shape, fe_ints axes);

typedef struct {
    fe_dims starts, ends; /* from the end of the dim where they are negative; clamped */
    fe_ints axes;         /* not given: the first ones */
    fe_ints steps;        /* not given: 1; negative: backwards */
} fe_slicing;
xpu_value fe_slice(fe_builder *b, xpu_value x, const fe_slicing *slicing);

typedef struct {
    int64_t axis;
    uint32_t parts;
    fe_dims sizes; /* of the parts; not given: equal ones */
    int ragged;    /* equal, but the last one, which is what is left */
} fe_splitting;
/* results[i] is part i; returns 0 after reporting. */
int fe_split(fe_builder *b, xpu_value x, const fe_splitting *splitting, xpu_value *results);

/* x and a tensor of this shape, broadcast. */
xpu_value fe_expand(fe_builder *b, xpu_value x, fe_dims shape);
/* x repeated along each dim. */
xpu_value fe_tile(fe_builder *b, xpu_value x, fe_dims repeats);

/* Indices are int32 or int64, from the end where they are negative; one outside is an error, of the run where it is
 * computed. */
xpu_value fe_gather(fe_builder *b, xpu_value x, xpu_value indices, int64_t axis);
xpu_value fe_gather_elements(fe_builder *b, xpu_value x, xpu_value indices, int64_t axis);
xpu_value fe_gather_nd(fe_builder *b, xpu_value x, xpu_value indices, int64_t batch_dims);

typedef struct {
    xpu_value x, indices, updates;
    int64_t axis; /* of elements */
    xa_placing kind;
} fe_scattering;
/* x with elements or slices of `updates` where the indices say, in their order; indices as those of the gathers. */
xpu_value fe_scatter_elements(fe_builder *b, const fe_scattering *scattering);
xpu_value fe_scatter_nd(fe_builder *b, const fe_scattering *scattering);

/* Along the axis the first k elements in order, from the largest or the smallest on, equal ones by index; and their
 * indices, int64. 0 after reporting. */
typedef struct {
    int64_t axis;
    xpu_dim k;
    int largest;
} fe_ordering;
int fe_top(fe_builder *b, xpu_value x, const fe_ordering *order, xpu_value results[2]);

/* The indices of the elements that are not 0, in row-major order: [rank, how many], which the run finds; of a scalar as
 * of a tensor of one element. */
xpu_value fe_nonzero(fe_builder *b, xpu_value x);
/* The slices along an axis, or with axis NULL the elements, for which the condition ([length], bool) holds; it may be
 * longer or shorter. */
xpu_value fe_compress(fe_builder *b, xpu_value x, xpu_value condition, const int64_t *axis);

/* Of boxes [N,B,4] with scores [N,C,B], those that no better one of their class overlaps: [how many, 3], image, class
 * and box, the best of a class first. overlap, threshold: float32 of one element, or {0}: 0, and all scores. */
typedef struct {
    xpu_value boxes, scores, overlap, threshold;
    xpu_dim most; /* of a class */
    int is_center;
} fe_suppression;
xpu_value fe_suppress(fe_builder *b, const fe_suppression *form);

/* Of each sequence, along the time axis (0 or 1, the other one being the batch), the first elements, as many as lengths
 * ([batch], int64) says, in reverse. */
xpu_value fe_reverse_sequence(fe_builder *b, xpu_value x, xpu_value lengths, int time_axis);
/* Zeros of this shape with the elements of x at their places in it, row-major. */
xpu_value fe_max_unpool(fe_builder *b, xpu_value x, xpu_value places, fe_dims shape);
/* The elements of x without those that are equal to another, ascending or in the order of their first places; then,
 * int64, their first places, for each element of x which it is, and how often each is there. 0 after reporting. */
int fe_unique(fe_builder *b, xpu_value x, int sorted, xpu_value results[4]);

typedef enum { FE_ZEROS, FE_BORDER, FE_REFLECTION } fe_outside;
/* x [N,C,...] at the places of a grid [N,...,2 or 3] from -1 to 1, the last dim's coordinate first. */
typedef struct {
    xa_resample_kind kind;
    fe_outside outside;
    int align_corners;
} fe_sampling;
xpu_value fe_grid_sample(fe_builder *b, xpu_value x, xpu_value grid, const fe_sampling *form);

/* Numbers by chance, the same in each run: docs/arithmetic.md, "Chance". start + width u of u from 0 to 1, or of the
 * normal distribution. */
typedef struct {
    fe_dims shape;
    xpu_dtype dtype;
    uint64_t seed;
    float start, width;
    int is_normal;
} fe_randomness;
xpu_value fe_random(fe_builder *b, const fe_randomness *form);
/* 1 with the chance that x says, else 0. */
xpu_value fe_bernoulli(fe_builder *b, xpu_value x, xpu_dtype dtype, uint64_t seed);
/* Samples of the classes whose chances have the logarithms x: [batch, samples] of x [batch, classes]. */
xpu_value fe_multinomial(fe_builder *b, xpu_value x, int64_t samples, xpu_dtype dtype, uint64_t seed);

/* start + i step for i below count; start and step are scalars of one type: float32, int16, int32 or int64. */
xpu_value fe_range(fe_builder *b, xpu_value start, xpu_value step, xpu_dim count);
/* Along the axis, the index (int64) of the largest or smallest element: of several the first, or with last_index the
 * last. */
xpu_value fe_arg_extreme(fe_builder *b, int is_max, xpu_value x, int64_t axis, int keep_dims, int last_index);
/* Sums or products (op: XPU_OP_ADD, XPU_OP_MUL) of the elements up to each one along the axis; with exclusive without
 * it, with backwards from it on. */
typedef struct {
    xpu_op_id op;
    int64_t axis;
    int exclusive, backwards;
} fe_cumulation;
xpu_value fe_cumulate(fe_builder *b, xpu_value x, const fe_cumulation *form);
/* Along a new dim `axis` of `depth` places values[1] at the place that the index says (from the end where it is
 * negative), else values[0]. */
xpu_value fe_one_hot(fe_builder *b, xpu_value indices, xpu_dim depth, xpu_value values, int64_t axis);
/* A matrix of the shape of x: 1 on diagonal k, else 0. */
xpu_value fe_eye(fe_builder *b, xpu_value x, int64_t diagonal, xpu_dtype dtype);
/* 0, 1, ... (int32 or int64) along dim `axis` of `rank`; an intermediate result. */
xpu_value fe_counted(fe_builder *b, xpu_dtype dtype, xpu_dim count, int axis, int rank);
/* Of matrices (the last two dims), 0 below (upper) or above the diagonal `diagonal`: an integer scalar, {0}: the main
 * one. */
xpu_value fe_triangle(fe_builder *b, xpu_value x, xpu_value diagonal, int upper);

/* [N,C,H,W]: C is block x block pixels of C / block^2 channels, those outermost, or with columns_first innermost. */
xpu_value fe_depth_to_space(fe_builder *b, xpu_value x, int64_t block, int columns_first);
xpu_value fe_space_to_depth(fe_builder *b, xpu_value x, int64_t block);

typedef struct {
    const char *mode;         /* "nearest", "linear", "cubic" */
    const char *coordinates;  /* coordinate_transformation_mode */
    const char *nearest_mode; /* "simple" too: up where an axis becomes shorter, else down */
    const char *policy;       /* keep_aspect_ratio_policy of sizes; NULL: "stretch" */
    float cubic_coefficient, extrapolation_value;
    int exclude_outside, antialias;
    fe_ints axes;        /* not given: all */
    fe_dims sizes;       /* of the axes; or not given: */
    const float *scales; /* of the axes */
    size_t scale_count;
    const float *roi; /* starts of the axes, then ends; NULL: 0 and 1 */
} fe_resizing;
xpu_value fe_resize(fe_builder *b, xpu_value x, const fe_resizing *form);
/* floor(size * scale) as float32 gives it; unknown where the size is open and that is no expression. */
xpu_dim fe_scaled(fe_builder *b, xpu_dim in, float scale);

/* Along one axis; `whole`: over all dims from the axis on, as before opset 13. */
xpu_value fe_softmax(fe_builder *b, xpu_value x, int64_t axis, int whole);
xpu_value fe_log_softmax(fe_builder *b, xpu_value x, int64_t axis, int whole);
/* 1 at the first maximum, else 0. */
xpu_value fe_hardmax(fe_builder *b, xpu_value x, int64_t axis, int whole);

/* `op`: XPU_OP_REDUCE_SUM .. XPU_OP_REDUCE_PROD. Axes not given or none: all. */
xpu_value fe_reduce(fe_builder *b, xpu_op_id op, xpu_value x, fe_ints axes, int keep_dims);
/* Reductions of what is computed of each element: sum |x|, sqrt(sum x^2), sum x^2, log(sum x), log(sum e^x). */
typedef enum { FE_L1, FE_L2, FE_SUM_SQUARE, FE_LOG_SUM, FE_LOG_SUM_EXP } fe_reduction;
/* noop: each element is a sum of its own. */
xpu_value fe_reduce_function(fe_builder *b, fe_reduction kind, xpu_value x, fe_ints axes, int keep_dims, int noop);

/* ---- control flow ---- */

/* Reads a body: its nodes are added where nodes go, results[i] become its results (as many as the operator says). It
 * may be read several times; what was made in vain is taken back. `body`: XPU_THEN or XPU_ELSE; 0 of a loop. Problems
 * are added to `diags` alone. Returns 0 after reporting. */
typedef struct {
    int (*read)(void *context, uint32_t body, const xpu_value *arguments, xpu_value *results, xpu_diags *diags);
    void *context;
} fe_bodies;

/* One of two bodies without arguments. One whose types or shapes do not fit becomes a raise, with a note. 0 after
 * reporting. */
int fe_if(fe_builder *b, xpu_value condition, const fe_bodies *bodies, uint32_t result_count, xpu_value *results);

typedef struct {
    xpu_value trips, condition;         /* int64 and bool of one element, or {0} */
    int iteration_rank, condition_rank; /* 0 or 1: of the body's arguments */
    const xpu_value *first;             /* the carried values */
    uint32_t carried_count, stacked_count;
    int counts; /* without trips: the condition is looked at for how often the body runs */
} fe_looping;
/* The body's arguments: iteration, condition, carried values; its results: condition, carried values, what is stacked.
 * Results: the last carried values, then the stacks. 0 after reporting. */
int fe_loop(fe_builder *b, const fe_looping *loop, const fe_bodies *bodies, xpu_value *results);

/* Along one axis, from its end where `backward`. */
typedef struct {
    int64_t axis;
    int backward;
} fe_scan_way;
typedef struct {
    const xpu_value *states; /* the carried values */
    uint32_t state_count;
    const xpu_value *inputs; /* sliced, all along as many places */
    const fe_scan_way *input_ways;
    uint32_t input_count;
    uint32_t output_count;
    const fe_scan_way *output_ways;
} fe_scanning;
/* The body's arguments: carried values, slices; its results: carried values, what is stacked. Results: the last carried
 * values, then the stacks. 0 after reporting. */
int fe_scan(fe_builder *b, const fe_scanning *scan, const fe_bodies *bodies, xpu_value *results);

/* ---- quantised ---- */

/* Per tensor (scale and zero of one element) or along an axis; zero may be {0}. */
typedef struct {
    xpu_value scale, zero;
    int64_t axis;
} fe_scales;

xpu_value fe_dequantize(fe_builder *b, xpu_value x, const fe_scales *scales);
/* To `dtype`, that of the zero point where there is one. zero_first: it is added before rounding. */
xpu_value fe_quantize(fe_builder *b, xpu_value x, const fe_scales *scales, xpu_dtype dtype, int zero_first);
/* Results: uint8, scale, zero point. Returns how many there are: 3, or 0 after reporting. */
uint32_t fe_dynamic_quantize(fe_builder *b, xpu_value x, xpu_value results[3]);
/* Parts of quantised products. Times a factor: */
xpu_value fe_scaled_scale(fe_builder *b, xpu_value scale, float factor);
/* The int32 bias, whose scale is that of x times that of w. */
xpu_value fe_dequantize_bias(fe_builder *b, xpu_value bias, xpu_value x_scale, xpu_value w_scale);
/* An int32 addend of one row or one constant as [columns], those of w (transposed or not). */
xpu_value fe_column_bias(fe_builder *b, xpu_value c, xpu_value w, int transpose_w);

/* ---- what they are made of (builder.c) ---- */

const char *fe_format(const fe_builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports an error of the operator; returns {0}. `hint` NULL: the front end's. */
xpu_value fe_refuse(const fe_builder *b, fe_rule rule, const char *what, const char *why, const char *hint);
/* "attribute 'NAME' is invalid"; returns 0. */
int fe_bad_attr(const fe_builder *b, const char *name, const char *why);
/* 0 or 1; anything else is reported, and *ok becomes 0. */
int fe_flag(const fe_builder *b, const char *name, int64_t value, int *ok);
/* 0 <= axis < rank, counted from the end where it is negative; -1 after reporting. */
int fe_axis(const fe_builder *b, int64_t axis, int rank);

const xpu_value_info *fe_info(const fe_builder *b, xpu_value value);
const char *fe_shape_text(const fe_builder *b, xpu_value value); /* "[N,3,32]" */

/* Adds a node of the core. `last`: its result is the operator's, else an intermediate one. {0} when inference failed.
 */
xpu_value fe_node(fe_builder *b, xpu_op_id op, const xpu_value *inputs, uint32_t input_count, const xpu_attr *attrs,
                  uint32_t attr_count, int last);
xpu_value fe_reshape_to(fe_builder *b, xpu_value value, const xpu_dim *dims, int rank, int last);
/* Intermediate nodes of elementwise operators; {0} where an operand is. */
xpu_value fe_unary(fe_builder *b, xpu_op_id op, xpu_value x);
xpu_value fe_binary(fe_builder *b, xpu_op_id op, xpu_value x, xpu_value y);
/* Constants of rank 0: of float32; and of an integer type, whose low bits of `value` it has. */
xpu_value fe_number(fe_builder *b, float value);
xpu_value fe_integer(fe_builder *b, xpu_dtype dtype, int64_t value);
/* A builder whose results are all intermediate ones; then x as the operator's result. */
fe_builder fe_inside(const fe_builder *b);
xpu_value fe_finish(fe_builder *b, const fe_builder *inside, xpu_value x);
/* Whether y, which x is an operand of, has the shape of x; reports it where not. */
int fe_broadcasts_to(const fe_builder *b, xpu_value x, xpu_value y);
/* `count` of x's elements along an axis, from `start` on, `step` apart; they lie inside. */
xpu_value fe_part(fe_builder *b, xpu_value x, int axis, xpu_dim start, xpu_dim count, int64_t step, int last);
/* A list of numbers as dims. */
fe_dims fe_dims_of(const fe_builder *b, fe_ints list);
/* int64 data that shapes decide: a list of dims, or with rank 0 one of them. */
xpu_value fe_dim_values(fe_builder *b, const xpu_dim *dims, uint32_t count, int rank);
/* The builder for result `index` of an operator with several: its name, or, where it has none, one made of another's.
 */
fe_builder fe_builder_of(const fe_builder *b, uint32_t index, int *named);
/* A type in which kernels combine and order elements, and which holds all of theirs. */
xpu_dtype fe_combined_type(xpu_dtype dtype);
/* x as another element type, or as it is. An intermediate result. */
xpu_value fe_as(fe_builder *b, xpu_value x, xpu_dtype dtype);
/* The product of dims first <= i < end. */
xpu_dim fe_dim_product(const fe_builder *b, const xpu_dim *dims, int first, int end);
/* A derived constant (xpu_const_derive), an intermediate result. */
xpu_value fe_derive(fe_builder *b, xpu_value constant, const xpu_const_step *step);

/* Operands and attributes of a product of integers, its zero points read; 0 after reporting. */
enum { FE_INTEGER_ATTRS = 3 };
typedef struct {
    xpu_value operands[XPU_IN_COUNT];
    uint32_t count;
    xpu_attr attrs[FE_INTEGER_ATTRS];
    xpu_value w_zeros; /* where the weights have several zero points, or computed ones; the attribute is 0 then */
} fe_integer_operands;
int fe_read_zeros(fe_builder *b, xpu_value x, xpu_value w, xpu_value x_zero, xpu_value w_zero,
                  fe_integer_operands *parts);
/* int8 weights of 1, by which a product sums x; and what these sums times the zero points take from a product. */
xpu_value fe_ones(fe_builder *b, const xpu_dim *dims, int rank);
xpu_value fe_minus_zeros(fe_builder *b, xpu_value product, xpu_value sum, xpu_value zeros, int last);

/* What a number of a window may be, and a pad of fe_pad either way. */
enum { FE_MAX_EXTENT = 1 << 20 };
/* A step of a slice that is longer is as good as this one. */
enum { FE_MAX_STEP = 1 << 29 };

#endif
