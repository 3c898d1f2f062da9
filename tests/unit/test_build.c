/* Networks made in C: what each operator becomes, what is said of wrong calls, and that such a network is the one that
 * the same ONNX model gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ops/op.h"
#include "sim/func/driver.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpuc/include/xpuc_build.h"

static const xpuc_value none = {0};

/* ---- what operators become ---- */

/* A network, and values that operators take. */
typedef struct {
    xpuc_network *n;
    xpuc_value image, matrix, vector, byte, signal, pair;
} bench_values;

static float ones[4096];

static xpuc_value weights(xpuc_network *n, const char *name, int rank, const int64_t *dims) {
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) ones[i] = 1.0f;
    return xpuc_constant(n, name, "float32", rank, dims, ones);
}
#define WEIGHTS(n, name, ...)                                                                                          \
    weights(n, name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})
#define BYTES(n, name, dtype, value, ...)                                                                              \
    xpuc_constant(n, name, dtype, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__}, value)

static bench_values begin(void) {
    xpuc_error error;
    bench_values v = {.n = xpuc_network_new("net", &error)};
    xpuc_dim image[] = {XPUC_SYMBOL("N", 1, 8), XPUC_SIZE(4), XPUC_SIZE(9), XPUC_SIZE(8)};
    xpuc_dim signal[] = {XPUC_SIZE(1), XPUC_SIZE(4), XPUC_SYMBOL("L", 4, 64)};
    xpuc_dim same[] = {{.symbol = "N"}, XPUC_SIZE(6)};
    v.image = xpuc_input(v.n, "image", "float32", 4, image);
    v.signal = xpuc_input(v.n, "signal", "float32", 3, signal);
    v.matrix = xpuc_input(v.n, "matrix", "float32", 2, same);
    v.vector = xpuc_input(v.n, "vector", "float32", 1, (xpuc_dim[]){XPUC_SIZE(6)});
    v.byte = xpuc_input(v.n, "byte", "uint8", 2, same);
    v.pair = xpuc_input(v.n, "pair", "float32", 3, (xpuc_dim[]){XPUC_SIZE(1), {.symbol = "N"}, XPUC_SIZE(1)});
    return v;
}

static xpuc_value conv_padded(bench_values *v) {
    xpuc_window w = {.size = sizeof w, .pads_begin = {1, 0}, .pads_end = {0, 1}, .strides = {2, 1}, .group = 2};
    return xpuc_conv(v->n, "y", v->image, WEIGHTS(v->n, "w", 8, 2, 3, 3), WEIGHTS(v->n, "b", 8), &w);
}
static xpuc_value conv_plain(bench_values *v) {
    return xpuc_conv(v->n, "y", v->signal, WEIGHTS(v->n, "w", 2, 4, 3), none, NULL);
}
static xpuc_value conv_same(bench_values *v) {
    xpuc_window w = {.auto_pad = "SAME_UPPER", .dilations = {2, 2}, .kernel_shape = {3, 3}};
    return xpuc_conv(v->n, "y", v->image, WEIGHTS(v->n, "w", 8, 4, 3, 3), none, &w);
}
static xpuc_value conv_integer(bench_values *v) {
    static const uint8_t bytes[16] = {3};
    xpuc_value x =
        xpuc_input(v->n, "x", "uint8", 4, (xpuc_dim[]){XPUC_SIZE(1), XPUC_SIZE(1), XPUC_SIZE(4), XPUC_SIZE(4)});
    return xpuc_integer_conv(v->n, "y", x, BYTES(v->n, "w", "int8", bytes, 1, 1, 2, 2), none,
                             xpuc_constant(v->n, "z", "int8", 0, NULL, bytes), NULL);
}
static xpuc_value max_pool(bench_values *v) {
    xpuc_window w = {.size = sizeof w, .kernel_shape = {2, 3}, .strides = {2, 2}, .ceil_mode = 1};
    return xpuc_max_pool(v->n, "y", v->image, &w);
}
static xpuc_value average_pool(bench_values *v) {
    xpuc_window w = {.kernel_shape = {3}, .pads_begin = {1}, .pads_end = {1}, .count_include_pad = 1};
    return xpuc_average_pool(v->n, "y", v->signal, &w);
}
static xpuc_value global_pool(bench_values *v) {
    return xpuc_global_average_pool(v->n, "y", v->image);
}
static xpuc_value batch_norm(bench_values *v) {
    xpuc_value w = WEIGHTS(v->n, "w", 4);
    return xpuc_batch_norm(v->n, "y", v->image, w, w, w, w, 0);
}
static xpuc_value matmul(bench_values *v) {
    return xpuc_matmul(v->n, "y", v->matrix, v->vector);
}
static xpuc_value gemm_plain(bench_values *v) {
    return xpuc_gemm(v->n, "y", v->matrix, WEIGHTS(v->n, "w", 6, 5), WEIGHTS(v->n, "b", 5), NULL);
}
static xpuc_value gemm_scaled(bench_values *v) {
    xpuc_gemm_form form = XPUC_GEMM_INIT;
    form.alpha = 0.5f;
    form.transpose_b = 1;
    return xpuc_gemm(v->n, "y", v->matrix, WEIGHTS(v->n, "w", 5, 6), none, &form);
}
static xpuc_value matmul_integer(bench_values *v) {
    static const uint8_t bytes[64] = {3};
    return xpuc_integer_matmul(v->n, "y", v->byte, BYTES(v->n, "w", "uint8", bytes, 6, 7),
                               xpuc_constant(v->n, "z", "uint8", 0, NULL, bytes), none);
}
static xpuc_value add(bench_values *v) {
    return xpuc_binary(v->n, "y", "add", v->matrix, v->pair);
}
static xpuc_value leaky(bench_values *v) {
    return xpuc_elementwise(v->n, "y", "leaky_relu", &v->matrix, 1, (float[]){0.25f}, 1);
}
static xpuc_value hard_sigmoid(bench_values *v) {
    return xpuc_elementwise(v->n, "y", "hard_sigmoid", &v->matrix, 1, (float[]){0.25f}, 1);
}
static xpuc_value variadic(bench_values *v) {
    return xpuc_variadic(v->n, "y", "max", (xpuc_value[]){v->matrix, v->vector, xpuc_scalar(v->n, 2)}, 3);
}
static xpuc_value mean(bench_values *v) {
    return xpuc_mean(v->n, "y", (xpuc_value[]){v->matrix, v->vector, v->matrix}, 3);
}
static xpuc_value mean_of_halves(bench_values *v) {
    xpuc_value x = xpuc_cast(v->n, "x", v->matrix, "float16");
    return xpuc_mean(v->n, "y", (xpuc_value[]){x, x}, 2);
}
static xpuc_value square(bench_values *v) {
    return xpuc_pow(v->n, "y", v->matrix, xpuc_scalar(v->n, 2));
}
static xpuc_value cast(bench_values *v) {
    return xpuc_cast(v->n, "y", v->byte, "int32");
}
static xpuc_value choice(bench_values *v) {
    xpuc_value less = xpuc_binary(v->n, "less", "less", v->matrix, v->vector);
    return xpuc_elementwise(v->n, "y", "where", (xpuc_value[]){less, v->matrix, xpuc_scalar(v->n, 0)}, 3, NULL, 0);
}
static xpuc_value clip(bench_values *v) {
    return xpuc_clip(v->n, "y", v->matrix, -1, 6);
}
static xpuc_value identity(bench_values *v) {
    return xpuc_identity(v->n, "y", WEIGHTS(v->n, "w", 3));
}
static xpuc_value flatten(bench_values *v) {
    return xpuc_flatten(v->n, "y", v->image, -1);
}
static xpuc_value reshape(bench_values *v) {
    return xpuc_reshape(v->n, "y", v->image, 3, (int64_t[]){0, -1, 6});
}
static xpuc_value squeeze(bench_values *v) {
    return xpuc_squeeze(v->n, "y", v->signal, 1, (int64_t[]){0});
}
static xpuc_value unsqueeze(bench_values *v) {
    return xpuc_unsqueeze(v->n, "y", v->vector, 2, (int64_t[]){0, -1});
}
static xpuc_value transpose(bench_values *v) {
    return xpuc_transpose(v->n, "y", v->image, 4, (int64_t[]){0, 2, 3, 1});
}
static xpuc_value reverse(bench_values *v) {
    return xpuc_transpose(v->n, "y", v->matrix, 0, NULL);
}
static xpuc_value concat(bench_values *v) {
    return xpuc_concat(v->n, "y", (xpuc_value[]){v->matrix, v->matrix, v->matrix}, 3, -1);
}
static xpuc_value pad(bench_values *v) {
    xpuc_padding p = {.size = sizeof p, .mode = "reflect", .pads_begin = {0, 0, 1}, .pads_end = {0, 0, 2, -3}};
    return xpuc_pad(v->n, "y", v->image, &p);
}
static xpuc_value softmax(bench_values *v) {
    return xpuc_softmax(v->n, "y", v->image, 1);
}
static xpuc_value reduce_one(bench_values *v) {
    return xpuc_reduce(v->n, "y", "sum", v->image, 1, (int64_t[]){-1}, 0);
}
static xpuc_value reduce_all(bench_values *v) {
    return xpuc_reduce(v->n, "y", "max", v->matrix, 0, NULL, 1);
}
static xpuc_value indices(xpuc_network *n, const char *name) {
    static const int32_t list[3] = {3, 0, 2};
    return xpuc_constant(n, name, "int32", 1, (int64_t[]){3}, list);
}
static xpuc_value slice(bench_values *v) {
    return xpuc_slice(v->n, "y", v->image, 2, (int64_t[]){-2, 1}, (int64_t[]){0, 100}, (int64_t[]){3, 1},
                      (int64_t[]){-3, 2});
}
static xpuc_value split(bench_values *v) {
    xpuc_value parts[2];
    xpuc_split(v->n, "y", v->image, 1, 2, (int64_t[]){1, 3}, parts);
    return parts[1];
}
static xpuc_value expand(bench_values *v) {
    return xpuc_expand(v->n, "y", v->vector, 3, (int64_t[]){2, 5, 1});
}
static xpuc_value tile(bench_values *v) {
    return xpuc_tile(v->n, "y", v->matrix, 2, (int64_t[]){1, 3});
}
static xpuc_value gather(bench_values *v) {
    return xpuc_gather(v->n, "y", v->image, indices(v->n, "i"), -1);
}
static xpuc_value gather_elements(bench_values *v) {
    return xpuc_gather_elements(v->n, "y", v->vector, indices(v->n, "i"), 0);
}
static xpuc_value gather_nd(bench_values *v) {
    static const int64_t list[4] = {0, 5, 0, 1};
    return xpuc_gather_nd(v->n, "y", v->matrix, BYTES(v->n, "i", "int64", list, 2, 2), 0);
}
static xpuc_value counting(bench_values *v) {
    xpuc_value start = xpuc_input(v->n, "start", "int64", 0, NULL);
    static const int64_t step = 3;
    return xpuc_range(v->n, "y", start, xpuc_constant(v->n, "step", "int64", 0, NULL, &step), 7);
}
static xpuc_value largest(bench_values *v) {
    return xpuc_arg(v->n, "y", "max", v->matrix, -1, 0);
}
static xpuc_value triangle(bench_values *v) {
    return xpuc_triangle(v->n, "y", v->image, none, 1);
}
static xpuc_value deep(bench_values *v) {
    return xpuc_depth_to_space(v->n, "y", v->image, 2, 1);
}
static xpuc_value flat(bench_values *v) {
    return xpuc_space_to_depth(v->n, "y", v->image, 1);
}
static xpuc_value norm(bench_values *v) {
    return xpuc_reduce(v->n, "y", "l2", v->matrix, 1, (int64_t[]){1}, 0);
}
static xpuc_value lstm(bench_values *v) {
    xpuc_recurrence form = {.size = sizeof form, .direction = "reverse", .bias = WEIGHTS(v->n, "b", 1, 40)};
    xpuc_value x = xpuc_input(v->n, "x", "float32", 3, (xpuc_dim[]){XPUC_SIZE(2), {.symbol = "N"}, XPUC_SIZE(3)});
    xpuc_value w = WEIGHTS(v->n, "w", 1, 20, 3), r = WEIGHTS(v->n, "r", 1, 20, 5), last_h, last_c;
    xpuc_recurrent(v->n, "y", "lstm", x, w, r, &form, &last_h, &last_c);
    return last_c;
}
static xpuc_value quantize(bench_values *v) {
    return xpuc_quantize(v->n, "y", v->matrix, xpuc_scalar(v->n, 0.5f), none, 1, "int8");
}
static xpuc_value dequantize(bench_values *v) {
    static const uint8_t zero[6] = {1, 2, 3, 4, 5, 6};
    return xpuc_dequantize(v->n, "y", v->byte, WEIGHTS(v->n, "w", 6), BYTES(v->n, "z", "uint8", zero, 6), 1);
}
static xpuc_value dynamic(bench_values *v) {
    xpuc_value scale, zero;
    xpuc_value y = xpuc_dynamic_quantize(v->n, "q", v->matrix, &scale, &zero);
    return xpuc_dequantize(v->n, "y", y, scale, zero, 0);
}

static const struct {
    xpuc_value (*build)(bench_values *v);
    const char *type, *contains; /* of the graph's text behind the import */
} forms[] = {
    {conv_padded, "float32[N,8,4,7]", "strides=[2,1], dilations=[1,1], pads=[1,0,0,1], group=2"},
    {conv_plain, "float32[1,2,L-2]", "conv(%signal, %w) {strides=[1], dilations=[1], pads=[0,0], group=1}"},
    {conv_same, "float32[N,8,9,8]", "pads=[2,2,2,2]"},
    {conv_integer, "int32[1,1,3,3]", "w_zero=3"},
    {max_pool, "float32[N,4,5,4]", "kernel=[2,3], ceil_mode=1"},
    {average_pool, "float32[1,4,L]", "count_include_pad=1, by_columns=0"},
    {global_pool, "float32[N,4,1,1]", "global_average_pool(%image)"},
    {batch_norm, "float32[N,4,9,8]", "epsilon=9.99999975e-06"},
    {matmul, "float32[N]", "matmul(%matrix, %y/1)"},
    {gemm_plain, "float32[N,5]", "matmul(%matrix, %w, %b)"},
    {gemm_scaled, "float32[N,5]", "mul(%y/2, "},
    {matmul_integer, "int32[N,7]", "x_zero=3"},
    {add, "float32[1,N,6]", "add(%matrix, %pair)"},
    {leaky, "float32[N,6]", "alpha=0.25"},
    {hard_sigmoid, "float32[N,6]", "alpha=0.25"},
    {variadic, "float32[N,6]", "%y : float32[N,6] = max(%y/1, "},
    {mean, "float32[N,6]", "div(%y/2, "},
    {mean_of_halves, "float16[N,6]", "div(%y/1, %y/2)"},
    {square, "float32[N,6]", "mul(%matrix, %matrix)"},
    {cast, "int32[N,6]", "convert(%byte)"},
    {choice, "float32[N,6]", "where(%less, %matrix, "},
    {clip, "float32[N,6]", "low=-1, high=6"},
    {identity, "float32[3]", "identity(%w)"},
    {flatten, "float32[N*36,8]", "reshape(%image) {shape=[N*36,8]}"},
    {reshape, "float32[N,48,6]", "shape=[N,48,6]"},
    {squeeze, "float32[4,L]", "reshape(%signal)"},
    {unsqueeze, "float32[1,6,1]", "reshape(%vector)"},
    {transpose, "float32[N,9,8,4]", "perm=[0,2,3,1]"},
    {reverse, "float32[6,N]", "perm=[1,0]"},
    {concat, "float32[N,18]", "axis=1"},
    {pad, "float32[N,4,12,5]", "pads=[0,0,1,0,0,0,2,-3], mode=\"reflect\""},
    {softmax, "float32[N,4,9,8]", "softmax(%image) {axis=1}"},
    {reduce_one, "float32[N,4,9]", "reduce_sum(%image) {axis=3}"},
    {reduce_all, "float32[1,1]", "reduce_max("},
    {slice, "float32[N,2,9,2]", "starts=[0,1,0,6], shape=[N,2,9,2], by=[1,2,1,-3]"},
    {split, "float32[N,3,9,8]", "starts=[0,1,0,0]"},
    {expand, "float32[2,5,6]", "expand(%vector)"},
    {tile, "float32[N,18]", "shape=[N,3,6]"},
    {gather, "float32[N,4,9,3]", "gather(%image, %i) {axis=3}"},
    {gather_elements, "float32[3]", "gather_elements(%vector, %i) {axis=0}"},
    {gather_nd, "float32[2]", "gather_nd(%matrix, %i)"},
    {counting, "int64[7]", "range(%start, %step) {shape=[7]}"},
    {largest, "int64[N]", "reduce_max(%matrix) {axis=1}"},
    {triangle, "float32[N,4,9,8]", "where("},
    {deep, "float32[N,1,18,16]", "perm=[0,1,4,2,5,3]"},
    {flat, "float32[N,4,9,8]", "perm=[0,3,5,1,2,4]"},
    {norm, "float32[N]", "sqrt("},
    {lstm, "float32[1,N,5]", "exact=1"},
    {quantize, "int8[N,6]", "quantize(%matrix, "},
    {dequantize, "float32[N,6]", "dequantize(%byte, %w, %z) {axis=1}"},
    {dynamic, "float32[N,6]", "dynamic_quantize(%matrix)"},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* The network's text behind the import; free it. */
static char *imported(xpuc_network *n, int *status) {
    xpuc_options options = {.emit = "ir", .dump_after = "import"};
    xpuc_result result;
    xpuc_error error;
    *status = xpuc_network_compile(n, &options, &result, &error);
    char *text = result.dump ? strdup(result.dump) : NULL;
    if (*status) printf("%s\n", error.text);
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
    return text;
}

static void operators_become(void) {
    for (int i = 0; i < FORMS; i++) {
        int status;
        bench_values v = begin();
        xpuc_value y = forms[i].build(&v);
        const char *type = xpuc_type(v.n, y);
        if (!type || strcmp(type, forms[i].type) != 0) printf("form %d: %s\n", i, type ? type : "nothing");
        CU_ASSERT(type && strcmp(type, forms[i].type) == 0);
        CU_ASSERT_EQUAL(xpuc_output(v.n, y, NULL), 0);
        char *text = imported(v.n, &status);
        int is_there = text && strstr(text, forms[i].contains) != NULL;
        if (!is_there) printf("form %d:\n%s\n", i, text ? text : "nothing");
        CU_ASSERT_EQUAL(status, 0);
        CU_ASSERT(is_there);
        free(text);
        xpuc_network_free(v.n);
    }
}

/* Every row of the table of elementwise operators whose operands are numbers has a function with these operands. */
static void every_elementwise_row(void) {
    int built = 0;
    for (int i = 0; i < XPU_OP_COUNT; i++) {
        const xpu_op *op = xpu_op_of((xpu_op_id)i);
        if (op->elementwise < 0 || i == XPU_OP_CONVERT || !(xpu_op_takes(op, 0) >> XPU_F32 & 1)) continue;
        bench_values v = begin();
        xpuc_value operands[] = {v.matrix, v.vector, v.matrix};
        xpuc_value y = xpuc_elementwise(v.n, "y", op->name, operands, (uint32_t)op->min_inputs, NULL, 0);
        int needs_more = xpuc_type(v.n, y) == NULL; /* an attribute without a default */
        if (needs_more) printf("%s: not built\n", op->name);
        CU_ASSERT(!needs_more);
        built++;
        xpuc_network_free(v.n);
    }
    CU_ASSERT(built >= 19);
}

/* ---- what is said ---- */

static void wrong_operand(bench_values *v) {
    xpuc_matmul(v->n, "y", v->matrix, none);
    xpuc_matmul(v->n, "z", v->matrix, (xpuc_value){4711});
}
static void wrong_matrices(bench_values *v) {
    xpuc_value y = xpuc_gemm(v->n, "y", v->image, v->matrix, none, NULL);
    xpuc_unary(v->n, "z", "relu", y);
}
static void wrong_addend(bench_values *v) {
    xpuc_gemm(v->n, "y", v->matrix, WEIGHTS(v->n, "w", 6, 5), WEIGHTS(v->n, "b", 4), NULL);
}
static void wrong_broadcast(bench_values *v) {
    xpuc_binary(v->n, "y", "add", v->image, v->matrix);
}
static void wrong_type(bench_values *v) {
    xpuc_matmul(v->n, "y", v->byte, v->vector);
}
static void wrong_row(bench_values *v) {
    xpuc_unary(v->n, "y", "rellu", v->matrix);
    xpuc_unary(v->n, "z", "add", v->matrix);
    xpuc_elementwise(v->n, "u", "relu", &v->matrix, 1, (float[]){1}, 1);
    xpuc_variadic(v->n, "v", "relu", &v->matrix, 1);
    xpuc_reduce(v->n, "w", "median", v->matrix, 0, NULL, 0);
}
static void wrong_window(bench_values *v) {
    xpuc_window w = {.size = sizeof w, .strides = {1, 1, 2}, .group = -1};
    xpuc_conv(v->n, "y", v->image, WEIGHTS(v->n, "w", 8, 4, 3, 3), none, &w);
    xpuc_max_pool(v->n, "z", v->image, NULL);
    w = (xpuc_window){.size = 3};
    xpuc_max_pool(v->n, "u", v->image, &w);
    w = (xpuc_window){.auto_pad = "SAME"};
    xpuc_conv(v->n, "v", v->image, WEIGHTS(v->n, "w2", 8, 4, 3, 3), none, &w);
}
static void wrong_axis(bench_values *v) {
    xpuc_softmax(v->n, "y", v->matrix, 2);
    xpuc_transpose(v->n, "z", v->matrix, 2, (int64_t[]){0, 0});
    xpuc_reshape(v->n, NULL, v->vector, 2, (int64_t[]){4, -1});
    xpuc_squeeze(v->n, NULL, v->matrix, 1, (int64_t[]){1});
}
static void wrong_name(bench_values *v) {
    xpuc_unary(v->n, "image", "relu", v->matrix);
}
static void wrong_inputs(bench_values *v) {
    xpuc_input(v->n, "x", "float", 1, (xpuc_dim[]){XPUC_SIZE(0)});
    xpuc_input(v->n, "x", "float32", 9, (xpuc_dim[]){XPUC_SIZE(1)});
    xpuc_input(v->n, "x", "float32", 2, (xpuc_dim[]){XPUC_SIZE(-1), XPUC_SYMBOL("N", 1, 9)});
    xpuc_input(v->n, "x", "float32", 1, (xpuc_dim[]){XPUC_SYMBOL("M", 8, 4)});
}
static void wrong_constants(bench_values *v) {
    xpuc_constant(v->n, "c", "float32", 2, (int64_t[]){1 << 30, 1 << 30}, ones);
    xpuc_constant(v->n, "c", "float32", 1, (int64_t[]){3}, NULL);
    xpuc_constant(v->n, "image", "int8", 1, NULL, ones);
}
static void wrong_quantised(bench_values *v) {
    xpuc_quantize(v->n, "y", v->matrix, xpuc_scalar(v->n, 0), none, 1, NULL);
    xpuc_quantize(v->n, "z", v->matrix, xpuc_scalar(v->n, 1), none, 1, "int32");
}

#define HINT "  hint: xpuc_build.h says what the function takes\n"
static const struct {
    void (*build)(bench_values *v);
    const char *text;
} refusals[] = {
    {wrong_operand, "net: error [network-operand] node 'y' (matmul, #0): operand 1 is absent\n"
                    "  why: matmul needs it\n" HINT
                    "net: error [network-operand] node 'z' (matmul, #1): operand 1 is no value of this network\n"
                    "  why: it is number 4711 of 6\n" HINT},
    {wrong_matrices, "net: error [network-shape] node 'y' (gemm, #0): input 0 is no matrix\n"
                     "  why: it has shape [N,4,9,8]\n" HINT},
    {wrong_addend, "net: error [network-shape] node 'y' (gemm, #0): input 2 cannot be added to the product\n"
                   "  why: it has shape [4], the product [N,5]\n" HINT},
    {wrong_broadcast, "net: error [shape-broadcast] node 'y' (add, #0): the operands of add do not broadcast\n"
                      "  why: operand 1 is float32[N,6], the ones before it are together [N,4,9,8]\n"
                      "  hint: dims, counted from the last, are equal or 1; a symbol that can have one value only is "
                      "to be fixed with --shape\n"},
    {wrong_type,
     "net: error [dtype-operand] node 'y' (matmul, #0): operand 0 of matmul has an element type that is not supported\n"
     "  why: it takes float32; 'byte' is uint8\n"
     "  hint: export the model in float32, or insert a cast before this operator\n"},
    {wrong_row, "net: error [network-form] node 'y' (rellu, #0): the operator is unknown\n"
                "  why: no elementwise operator is called 'rellu'\n"
                "  hint: the nearest one is relu\n"
                "net: error [network-operand] node 'z' (add, #1): the number of operands is wrong\n"
                "  why: it is 1; add takes 2\n" HINT
                "net: error [network-attribute] node 'u' (relu, #2): there are too many immediates\n"
                "  why: relu has 0; given: 1\n" HINT
                "net: error [network-operand] node 'v' (relu, #3): relu does not take any number of operands\n"
                "  why: it takes 1\n" HINT "net: error [network-form] node 'w' (reduce, #4): the reduction is unknown\n"
                "  why: it is 'median'; sum, mean, max, min and prod are there\n" HINT},
    {wrong_window, "net: error [network-attribute] node 'y' (conv, #0): attribute 'strides' is invalid\n"
                   "  why: it has 3 values, not 2\n" HINT
                   "net: error [network-attribute] node 'z' (max_pool, #1): attribute 'kernel_shape' is invalid\n"
                   "  why: it is missing\n" HINT
                   "net: error [network-attribute] node 'u' (max_pool, #2): attribute 'size' is invalid\n"
                   "  why: it is 3; the struct of this version has 200 bytes, and what is behind them is 0\n" HINT
                   "net: error [network-attribute] node 'v' (conv, #3): attribute 'auto_pad' is invalid\n"
                   "  why: it is 'SAME'; NOTSET, SAME_UPPER, SAME_LOWER and VALID are defined\n" HINT},
    {wrong_axis, "net: error [network-attribute] node 'y' (softmax, #0): the axis is out of range\n"
                 "  why: axis 2 of a tensor of rank 2\n" HINT
                 "net: error [network-attribute] node 'z' (transpose, #1): attribute 'perm' is invalid\n"
                 "  why: it is no permutation of the 2 dims of the input\n" HINT
                 "net: error [network-shape] node 'reshape_2' (reshape, #2): the target shape is invalid\n"
                 "  why: -1 stands for 6 elements over 4, which does not divide them\n" HINT
                 "net: error [network-shape] node 'squeeze_3' (squeeze, #3): dim 1 cannot be removed\n"
                 "  why: the input has shape [N,6]\n" HINT},
    {wrong_name, "net: error [network-name] node 'image' (relu, #0): the name is given twice\n"
                 "  why: names of a network's tensors are unique\n" HINT},
    {wrong_inputs,
     "net: error [network-input] input 'x': the element type is unknown\n"
     "  why: it is 'float'\n"
     "  hint: use NumPy's names: float32, int8, uint8, int64, ...\n"
     "net: error [network-input] input 'x': the rank is not supported\n"
     "  why: it is 9; 0 to 8 are\n" HINT "net: error [network-input] input 'x': dim 0 is invalid\n"
     "  why: it is -1; sizes are 0 to 2147483647\n" HINT "net: error [network-input] input 'x': dim 1 is invalid\n"
     "  why: 'N' has two ranges\n" HINT "net: error [network-input] input 'x': dim 0 is invalid\n"
     "  why: 'M' is 8..4:1; ranges are in 1 to 2147483647\n" HINT},
    {wrong_constants,
     "net: error [network-constant] constant 'c': dim 1 is invalid\n"
     "  why: it is 1073741824\n" HINT "net: error [network-constant] constant 'c': the elements are missing\n"
     "  why: the data are NULL\n" HINT "net: error [network-name] constant 'image': the name is given twice\n"
     "  why: names of a network's tensors are unique\n" HINT
     "net: error [network-constant] constant 'image': the rank is not supported\n"
     "  why: it is not 0, and the dims are NULL\n" HINT},
    {wrong_quantised,
     "net: error [network-operand] node 'y' (quantize, #0): a scale is invalid\n"
     "  why: element 0 of 'constant_6' is 0\n"
     "  hint: quantise with finite scales other than 0\n"
     "net: error [quantised-attribute] node 'z' (quantize, #1): quantising to this element type is not supported\n"
     "  why: it makes int8, uint8, int16 or uint16\n"
     "  hint: quantise to int8 or uint8\n"},
};

static void refused(void) {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        bench_values v = begin();
        xpuc_error error;
        xpuc_result result;
        refusals[i].build(&v);
        CU_ASSERT_EQUAL(xpuc_network_check(v.n, &error), XPU_EMODEL);
        if (!error.text || strcmp(error.text, refusals[i].text) != 0) printf("%zu:\n%s\n", i, error.text);
        CU_ASSERT(error.text && strcmp(error.text, refusals[i].text) == 0);
        xpuc_error_clear(&error);
        xpuc_output(v.n, v.matrix, NULL);
        CU_ASSERT_EQUAL(xpuc_network_compile(v.n, NULL, &result, &error), XPU_EMODEL);
        CU_ASSERT(error.text && strcmp(error.text, refusals[i].text) == 0);
        CU_ASSERT_PTR_NULL(result.bytes);
        xpuc_result_clear(&result);
        xpuc_error_clear(&error);
        xpuc_network_free(v.n);
    }
}

/* ---- the same network from ONNX ---- */

static float random_weights[2][512];

static void fill_weights(void) {
    uint32_t state = 1;
    for (int i = 0; i < 1024; i++) {
        state = state * 1664525u + 1013904223u;
        random_weights[i / 512][i % 512] = (float)(int32_t)state * 0x1p-32f;
    }
}

/* Convolution, relu, pooling, flatten, gemm, softmax over N images of 8 x 8. */
static xpuc_network *small_network(void) {
    xpuc_error error;
    xpuc_network *n = xpuc_network_new("small", &error);
    xpuc_dim dims[] = {XPUC_SYMBOL("N", 1, 16), XPUC_SIZE(1), XPUC_SIZE(8), XPUC_SIZE(8)};
    xpuc_window around = {.pads_begin = {1, 1}, .pads_end = {1, 1}}, half = {.kernel_shape = {2, 2}, .strides = {2, 2}};
    xpuc_gemm_form form = XPUC_GEMM_INIT;
    form.transpose_b = 1;
    fill_weights();
    xpuc_value x = xpuc_input(n, "x", "float32", 4, dims);
    xpuc_value w = xpuc_constant_borrowed(n, "w", "float32", 4, (int64_t[]){4, 1, 3, 3}, random_weights[0]);
    xpuc_value bias = xpuc_constant(n, "b", "float32", 1, (int64_t[]){4}, random_weights[0] + 36);
    xpuc_value m = xpuc_constant(n, "m", "float32", 2, (int64_t[]){7, 64}, random_weights[1]);
    xpuc_value y = xpuc_unary(n, "relu", "relu", xpuc_conv(n, "conv", x, w, bias, &around));
    y = xpuc_flatten(n, "flat", xpuc_max_pool(n, "pool", y, &half), 1);
    xpuc_output(n, xpuc_softmax(n, "soft", xpuc_gemm(n, "gemm", y, m, none, &form), -1), NULL);
    return n;
}

/* The same, each node under the name of its result; its bytes in the arena. */
static void *small_model(xpu_arena *arena, size_t *length) {
    xpu_onnx_builder b;
    xpu_onnx_begin(&b, arena, 13);
    fill_weights();
    xpu_onnx_input(&b, "x", 4, (int64_t[]){-1, 1, 8, 8});
    xpu_onnx_output(&b, "soft", 2, (int64_t[]){-1, 7});
    xpu_tensor w = {.dtype = XPU_F32, .rank = 4, .dims = {4, 1, 3, 3}, .data = random_weights[0]};
    xpu_tensor bias = {.dtype = XPU_F32, .rank = 1, .dims = {4}, .data = random_weights[0] + 36};
    xpu_tensor m = {.dtype = XPU_F32, .rank = 2, .dims = {7, 64}, .data = random_weights[1]};
    xpu_onnx_initializer(&b, "w", &w, 0);
    xpu_onnx_initializer(&b, "b", &bias, 0);
    xpu_onnx_initializer(&b, "m", &m, 0);
    XpuOnnx__NodeProto *conv = xpu_onnx_node(&b, "Conv", "conv", "conv", (const char *[]){"x", "w", "b", NULL});
    xpu_onnx_ints(&b, conv, "pads", (int64_t[]){1, 1, 1, 1}, 4);
    xpu_onnx_node(&b, "Relu", "relu", "relu", (const char *[]){"conv", NULL});
    XpuOnnx__NodeProto *pool = xpu_onnx_node(&b, "MaxPool", "pool", "pool", (const char *[]){"relu", NULL});
    xpu_onnx_ints(&b, pool, "kernel_shape", (int64_t[]){2, 2}, 2);
    xpu_onnx_ints(&b, pool, "strides", (int64_t[]){2, 2}, 2);
    xpu_onnx_node(&b, "Flatten", "flat", "flat", (const char *[]){"pool", NULL});
    XpuOnnx__NodeProto *gemm = xpu_onnx_node(&b, "Gemm", "gemm", "gemm", (const char *[]){"flat", "m", NULL});
    xpu_onnx_int(&b, gemm, "transB", 1);
    xpu_onnx_node(&b, "Softmax", "soft", "soft", (const char *[]){"gemm", NULL});
    return xpu_onnx_pack(&b, "small", length);
}

/* Operators without their names of ONNX and the line that names the model, which differ. */
static char *without_operators(const char *text) {
    char *out = malloc(strlen(text) + 1), *to = out;
    const char *line = strchr(text, '\n');
    for (const char *at = strchr(line + 1, '\n'); *at; at++) {
        *to++ = *at;
        if (strncmp(at, "' (", 3) != 0) continue;
        while (*at != '#') at++;
    }
    *to = '\0';
    return out;
}

static void run(const xpuc_result *compiled, float *out, size_t count) {
    static float image[3 * 64];
    xpurt_error error = {0};
    xpurt_program *program = xpurt_open_memory(compiled->bytes, compiled->size, "small", &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    for (int i = 0; i < 3 * 64; i++) image[i] = (float)(i * 37 % 101) / 50.0f - 1.0f;
    xpurt_tensor in = {.dtype = "float32", .rank = 4, .dims = {3, 1, 8, 8}, .data = image}, result;
    xpurt_run_options options = {.device = &xpu_func_driver};
    CU_ASSERT_EQUAL_FATAL(xpurt_run(program, &in, 1, &result, &options, &error), 0);
    CU_ASSERT_EQUAL(result.dims[0] * result.dims[1], (int64_t)count);
    memcpy(out, result.data, count * sizeof *out);
    xpurt_tensor_clear(&result);
    xpurt_close(program);
}

static void as_from_onnx(void) {
    enum { COUNT = 3 * 7 };
    static const char *const precisions[] = {"fp32", "int16"};
    const char *const shapes[] = {"x=N=1..16,1,8,8", NULL};
    char path[64];
    size_t length;
    BENCH_OPEN(b);
    void *bytes = small_model(b.arena, &length);
    snprintf(path, sizeof path, "/tmp/xpu-test-build-%d.onnx", (int)getpid());
    FILE *file = fopen(path, "wb");
    CU_ASSERT_FATAL(file && fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
    xpuc_network *n = small_network();
    for (int p = 0; p < 2; p++) {
        xpuc_options options = {.emit = "c", .precision = precisions[p]}, with_shape = options;
        with_shape.shapes = shapes;
        xpuc_result model, network;
        xpuc_error error;
        float expected[COUNT], got[COUNT];
        CU_ASSERT_EQUAL_FATAL(xpuc_compile_file(path, &with_shape, &model, &error), 0);
        xpuc_error_clear(&error);
        CU_ASSERT_EQUAL_FATAL(xpuc_network_compile(n, &options, &network, &error), 0);
        xpuc_error_clear(&error);
        char *a = without_operators(model.bytes), *c = without_operators(network.bytes);
        if (strcmp(a, c) != 0) printf("%s\n----\n%s\n", a, c);
        CU_ASSERT_STRING_EQUAL(a, c);
        CU_ASSERT(strlen(a) > 1000);
        free(a);
        free(c);
        xpuc_result_clear(&model);
        xpuc_result_clear(&network);
        options.emit = with_shape.emit = NULL;
        CU_ASSERT_EQUAL_FATAL(xpuc_compile_file(path, &with_shape, &model, &error), 0);
        xpuc_error_clear(&error);
        CU_ASSERT_EQUAL_FATAL(xpuc_network_compile(n, &options, &network, &error), 0);
        xpuc_error_clear(&error);
        run(&model, expected, COUNT);
        run(&network, got, COUNT);
        CU_ASSERT_EQUAL(memcmp(expected, got, sizeof got), 0);
        xpuc_result_clear(&model);
        xpuc_result_clear(&network);
    }
    xpuc_network_free(n);
    remove(path);
    bench_close(&b);
}

/* ---- networks ---- */

static char *c_text(const xpuc_network *n, const char *precision) {
    xpuc_options options = {.emit = "c", .precision = precision};
    xpuc_result result;
    xpuc_error error;
    CU_ASSERT_EQUAL_FATAL(xpuc_network_compile(n, &options, &result, &error), 0);
    char *text = strdup(result.bytes);
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
    return text;
}

/* A compilation leaves the network as it is: the next gives the same, and it can be extended. */
static void compiled_again(void) {
    xpuc_network *n = small_network();
    char *first = c_text(n, "fp32"), *other = c_text(n, "int16"), *second = c_text(n, "fp32");
    CU_ASSERT_STRING_EQUAL(first, second);
    CU_ASSERT(strcmp(first, other) != 0);
    xpuc_value x = xpuc_input(n, "more", "float32", 1, (xpuc_dim[]){{.symbol = "N"}});
    CU_ASSERT_EQUAL(xpuc_output(n, xpuc_unary(n, "last", "exp", x), NULL), 0);
    char *longer = c_text(n, "fp32");
    CU_ASSERT_PTR_NOT_NULL(strstr(longer, "last"));
    free(first);
    free(other);
    free(second);
    free(longer);
    xpuc_network_free(n);
}

/* What is no node's result, is an output already, or gets another name is copied. */
/* A name that an operator made for itself is free. */
static void names(void) {
    bench_values v = begin();
    xpuc_output(v.n, mean(&v), NULL);
    xpuc_output(v.n, xpuc_unary(v.n, "y/1", "relu", v.matrix), NULL);
    xpuc_output(v.n, xpuc_unary(v.n, "v1", "relu", v.matrix), NULL);
    int status;
    char *text = imported(v.n, &status);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_PTR_NOT_NULL(text ? strstr(text, "output %y\noutput %y/1\noutput %v1\n") : NULL);
    free(text);
    xpuc_network_free(v.n);
}

static void outputs(void) {
    int status;
    bench_values v = begin();
    xpuc_value y = xpuc_unary(v.n, "y", "relu", v.matrix);
    CU_ASSERT_EQUAL(xpuc_output(v.n, y, NULL), 0);
    CU_ASSERT_EQUAL(xpuc_output(v.n, y, "again"), 0);
    CU_ASSERT_EQUAL(xpuc_output(v.n, v.matrix, "in"), 0);
    CU_ASSERT_EQUAL(xpuc_output(v.n, WEIGHTS(v.n, "w", 2), NULL), 0);
    char *text = imported(v.n, &status);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_PTR_NOT_NULL(text ? strstr(text, "output %y\noutput %again\noutput %in\noutput %Output_4\n") : NULL);
    if (text && !strstr(text, "Output_4")) printf("%s\n", text);
    free(text);
    CU_ASSERT_EQUAL(xpuc_output(v.n, none, "no"), XPU_EMODEL);
    xpuc_network_free(v.n);
}

static void wrong_calls(void) {
    xpuc_error error;
    xpuc_result result;
    const char *const shapes[] = {"x=1", NULL};
    xpuc_options options = {.shapes = shapes};
    CU_ASSERT_EQUAL(xpuc_network_compile(NULL, NULL, &result, &error), XPU_EUSAGE);
    CU_ASSERT(error.text && strstr(error.text, "error [argument] xpuc_network_compile"));
    xpuc_error_clear(&error);
    bench_values v = begin();
    CU_ASSERT_EQUAL(xpuc_network_compile(v.n, NULL, NULL, &error), XPU_EUSAGE);
    xpuc_error_clear(&error);
    CU_ASSERT_EQUAL(xpuc_network_compile(v.n, &options, &result, &error), XPU_EUSAGE);
    CU_ASSERT(error.text && strstr(error.text, "inputs of a network have shapes"));
    xpuc_error_clear(&error);
    CU_ASSERT_EQUAL(xpuc_network_compile(v.n, NULL, &result, &error), XPU_EMODEL);
    CU_ASSERT(error.text && strstr(error.text, "net: error [network-output] the network has no outputs"));
    xpuc_error_clear(&error);
    xpuc_network_free(v.n);
    CU_ASSERT_PTR_NULL(xpuc_type(NULL, none));
    CU_ASSERT_EQUAL(xpuc_output(NULL, none, NULL), XPU_EUSAGE);
    CU_ASSERT_EQUAL(xpuc_network_check(NULL, NULL), XPU_EUSAGE);
    CU_ASSERT_NOT_EQUAL(xpuc_matmul(NULL, "y", none, none).id, 0);
    xpuc_network_free(NULL);
}

/* A struct of a later version is taken while what is new in it is 0. */
static void later_structs(void) {
    struct {
        xpuc_padding known;
        int64_t added;
    } later = {.known = {.size = sizeof later, .pads_begin = {1}}};
    bench_values v = begin();
    CU_ASSERT_STRING_EQUAL(xpuc_type(v.n, xpuc_pad(v.n, "y", v.vector, &later.known)), "float32[7]");
    later.added = 1;
    CU_ASSERT_PTR_NULL(xpuc_type(v.n, xpuc_pad(v.n, "z", v.vector, &later.known)));
    CU_ASSERT_EQUAL(xpuc_network_check(v.n, NULL), XPU_EMODEL);
    xpuc_network_free(v.n);
}

/* Every allocation of building fails once: the error is there, and nothing else happens. */
static void no_memory(void) {
    unsigned long count = 1;
    for (unsigned long at = 0; at <= count; at++) {
        xpuc_error error = {0};
        xpu_alloc_fail_at(at);
        xpuc_network *n = xpuc_network_new("net", &error);
        int status = error.status;
        if (n) {
            bench_values v = {.n = n};
            v.matrix = xpuc_input(n, "matrix", "float32", 2, (xpuc_dim[]){XPUC_SYMBOL("N", 1, 8), XPUC_SIZE(6)});
            v.vector = xpuc_input(n, "vector", "float32", 1, (xpuc_dim[]){XPUC_SIZE(6)});
            xpuc_value y = gemm_scaled(&v);
            y = xpuc_concat(n, NULL, (xpuc_value[]){y, matmul(&v), y}, 2, 1);
            xpuc_output(n, xpuc_reshape(n, "wrong", v.matrix, 1, (int64_t[]){5}), NULL);
            xpuc_output(n, v.matrix, NULL);
            status = xpuc_network_check(n, NULL);
        }
        unsigned long made = xpu_alloc_fail_at(0);
        if (at == 0) {
            count = made;
            CU_ASSERT_EQUAL(status, XPU_EMODEL);
            CU_ASSERT(count > 50);
        } else if (status != XPU_EIO) {
            xpuc_network_check(n, &error); /* what was wrong before is the first error */
            CU_ASSERT(error.text && strstr(error.text, "[out-of-memory]"));
        }
        xpuc_error_clear(&error);
        xpuc_network_free(n);
    }
}

XPU_TEST_MAIN("networks in C", {"operators", operators_become}, {"elementwise rows", every_elementwise_row},
              {"refused", refused}, {"the same from ONNX", as_from_onnx}, {"compiled again", compiled_again},
              {"outputs", outputs}, {"names", names}, {"wrong calls", wrong_calls},
              {"structs of later versions", later_structs}, {"no memory", no_memory})
