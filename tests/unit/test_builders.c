/* Builders that front ends share: an operand that is missing has been reported, and gives no result without another
 * report. */
#include "frontend/build/build.h"
#include "tests/unit/ir.h"

static const fe_frontend frontend = {.rules = {"form", "operand", "attribute", "shape"}, .hints = {"f", "o", "a", "s"}};
static const xpu_value none = {0};

typedef struct {
    fe_builder *b;
    xpu_value x, w, vector, byte, index;
} values;

#define LIST(...) ((fe_ints){(const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})

static xpu_value products(const values *v, int way) {
    static const fe_gemm_form plain = {1, 1, 0, 0}, turned = {2, 3, 1, 1};
    switch (way) {
    case 0: return fe_matmul(v->b, none, v->x);
    case 1: return fe_matmul(v->b, v->x, none);
    case 2: return fe_gemm(v->b, none, v->x, v->vector, &plain);
    case 3: return fe_gemm(v->b, v->x, none, none, &plain);
    case 4: return fe_gemm(v->b, none, v->x, v->vector, &turned);
    case 5: return fe_gemm(v->b, v->x, none, v->vector, &turned);
    case 6: return fe_integer_matmul(v->b, none, v->byte, none, none);
    default: return fe_integer_matmul(v->b, v->byte, none, none, none);
    }
}

static xpu_value windows(const values *v, int way) {
    fe_convolution conv = {.group = 1};
    fe_pooling pool = {.window = {.kernel_shape = LIST(2, 2)}};
    switch (way) {
    case 0: return fe_conv(v->b, none, v->w, none, &conv);
    case 1: return fe_conv(v->b, v->w, none, none, &conv);
    case 2: return fe_integer_conv(v->b, none, v->byte, none, none, &conv);
    case 3: return fe_pool(v->b, XPU_OP_MAX_POOL, none, &pool);
    case 4: return fe_pool(v->b, XPU_OP_AVERAGE_POOL, none, &pool);
    case 5: return fe_global_average_pool(v->b, none);
    case 6: return fe_batch_norm(v->b, none, v->vector, v->vector, v->vector, v->vector, 1e-5f);
    default: return fe_batch_norm(v->b, v->w, v->vector, none, v->vector, v->vector, 1e-5f);
    }
}

static xpu_value elementwise(const values *v, int way) {
    const xpu_value pair[] = {v->x, none}, other[] = {none, v->x};
    switch (way) {
    case 0: return fe_elementwise(v->b, XPU_OP_ADD, pair, 2, NULL, 0);
    case 1: return fe_variadic(v->b, XPU_OP_MAX, other, 2);
    case 2: return fe_mean(v->b, pair, 2);
    case 3: return fe_pow(v->b, none, v->x);
    case 4: return fe_pow(v->b, v->x, none);
    case 5: return fe_clip(v->b, none, 0, 1);
    case 6: return fe_convert(v->b, none, XPU_I32);
    default: return fe_identity(v->b, none);
    }
}

static xpu_value moves(const values *v, int way) {
    const xpu_value pair[] = {v->x, none};
    fe_padding padding = {.mode = "constant", .pads = LIST(0, 1, 0, 1)};
    switch (way) {
    case 0: return fe_flatten(v->b, none, 1);
    case 1: return fe_reshape(v->b, none, fe_dims_of(v->b, LIST(-1)), 0);
    case 2: return fe_squeeze(v->b, none, LIST(0));
    case 3: return fe_unsqueeze(v->b, none, LIST(0));
    case 4: return fe_transpose(v->b, none, LIST(1, 0));
    case 5: return fe_concat(v->b, pair, 2, 0);
    case 6: return fe_pad(v->b, none, &padding);
    default: return fe_softmax(v->b, none, 1, 1);
    }
}

static xpu_value places(const values *v, int way) {
    xpu_dim two = xpu_dim_const(&v->b->graph->dims, 2);
    const fe_dims dims = {(const xpu_dim[]){two, two}, 2};
    const fe_slicing slicing = {.starts = {dims.items, 1}, .ends = {dims.items, 1}};
    switch (way) {
    case 0: return fe_slice(v->b, none, &slicing);
    case 1: return fe_expand(v->b, none, dims);
    case 2: return fe_tile(v->b, none, dims);
    case 3: return fe_gather(v->b, none, v->index, 0);
    case 4: return fe_gather(v->b, v->x, none, 0);
    case 5: return fe_gather_elements(v->b, none, v->index, 0);
    case 6: return fe_gather_nd(v->b, v->x, none, 0);
    default: return fe_reduce(v->b, XPU_OP_REDUCE_SUM, none, LIST(0), 1);
    }
}

static xpu_value scales(const values *v, int way) {
    const fe_scales good = {.scale = v->vector}, bad = {.scale = none};
    xpu_value results[3] = {{0}};
    switch (way) {
    case 0: return fe_dequantize(v->b, none, &good);
    case 1: return fe_dequantize(v->b, v->byte, &bad);
    case 2: return fe_quantize(v->b, none, &good, XPU_U8, 0);
    case 3: return fe_quantize(v->b, v->x, &bad, XPU_U8, 0);
    case 4: return fe_dynamic_quantize(v->b, none, results) ? results[0] : none;
    case 5: return fe_scaled_scale(v->b, none, 2);
    case 6: return fe_dequantize_bias(v->b, none, v->vector, v->vector);
    default: return fe_dequantize_bias(v->b, v->index, none, v->vector);
    }
}

static fe_builder builder_of(bench *b) {
    static const char *const name = "made";
    return (fe_builder){.frontend = &frontend,
                        .graph = b->graph,
                        .scratch = b->arena,
                        .diags = &b->diags,
                        .where = "here",
                        .origin =
                            xpu_graph_origin(b->graph, &(xpu_origin){.framework = "c", .op = "op", .name = "made"}),
                        .names = &name,
                        .name_count = 1};
}

typedef xpu_value way_of(const values *v, int way);

static void try_way(way_of *group, int way) {
    BENCH_OPEN(b);
    fe_builder builder = builder_of(&b);
    values v = {.b = &builder,
                .x = bench_input(&b, "x", XPU_F32, DIMS(4, 4)),
                .w = bench_input(&b, "w", XPU_F32, DIMS(4, 4, 3, 3)),
                .vector = bench_input(&b, "vector", XPU_F32, DIMS(4)),
                .byte = bench_input(&b, "byte", XPU_U8, DIMS(4, 4)),
                .index = bench_input(&b, "index", XPU_I32, DIMS(4, 4))};
    CU_ASSERT_EQUAL(group(&v, way).id, 0);
    CU_ASSERT_EQUAL(b.diags.count, 0);
    bench_print(&b);
    bench_close(&b);
}

static void missing_operands(void) {
    enum { WAYS = 8 };
    static way_of *const groups[] = {products, windows, elementwise, moves, places, scales};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        for (int way = 0; way < WAYS; way++) try_way(groups[i], way);
}

/* ---- zero points ---- */

static xpu_value zero_point(bench *b, xpu_dtype dtype, uint8_t byte) {
    const xpu_tensor tensor = {.dtype = dtype, .data = &byte};
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

static void zero_points(void) {
    static const struct {
        xpu_dtype dtype;
        uint8_t byte;
        int64_t value;
    } cases[] = {{XPU_U8, 200, 200}, {XPU_I8, 200, -56}, {XPU_U8, 7, 7}, {XPU_I8, 7, 7}};
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        fe_builder builder = builder_of(&b);
        xpu_value x = bench_input(&b, "x", cases[i].dtype, DIMS(4, 4)), w = bench_input(&b, "w", XPU_I8, DIMS(4, 4));
        fe_integer_operands parts;
        int ok = fe_read_zeros(&builder, x, w, zero_point(&b, cases[i].dtype, cases[i].byte),
                               zero_point(&b, XPU_I8, 0xff), &parts);
        CU_ASSERT_FATAL(ok);
        CU_ASSERT_EQUAL(parts.attrs[1].i, cases[i].value);
        CU_ASSERT_EQUAL(parts.attrs[2].i, -1);
        bench_close(&b);
    }
}

/* ---- dims that -1 stands for ---- */

static void solved_dims(void) {
    BENCH_OPEN(b);
    fe_builder builder = builder_of(&b);
    xpu_dims *table = &b.graph->dims;
    xpu_dim n = xpu_dim_symbol(table, "N", 1, 8, 1), two = xpu_dim_const(table, 2);
    xpu_dim half = xpu_dim_op(table, XPU_DIM_FLOORDIV, n, two);
    xpu_value maybe_empty = xpu_graph_input(b.graph, "a", XPU_F32, 1, &half);
    xpu_value full = xpu_graph_input(b.graph, "b", XPU_F32, 1, &n);
    xpu_value a = fe_reshape(&builder, maybe_empty, fe_dims_of(&builder, LIST(-1, 2)), 0),
              c = fe_reshape(&builder, full, fe_dims_of(&builder, LIST(-1, 2)), 0);
    CU_ASSERT_FATAL(a.id && c.id);
    xpu_dim of_a = xpu_value_at(b.graph, a)->dims[0], of_c = xpu_value_at(b.graph, c)->dims[0];
    CU_ASSERT_EQUAL(xpu_dim_eval(table, of_a, (const int64_t[]){1}), 0);
    CU_ASSERT_EQUAL(xpu_dim_eval(table, of_a, (const int64_t[]){8}), 2);
    CU_ASSERT_EQUAL(xpu_dim_min(table, of_a), 0);
    CU_ASSERT_EQUAL(xpu_dim_eval(table, of_c, (const int64_t[]){8}), 4);
    CU_ASSERT_EQUAL(xpu_dim_min(table, of_c), 1); /* only where it is whole, so never 0 */
    bench_close(&b);
}

XPU_TEST_MAIN("builders", {"missing operands", missing_operands}, {"zero points", zero_points},
              {"dims that are solved for", solved_dims})
