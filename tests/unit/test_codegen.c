/* The XPU target: calls, precision, layouts, rules, the generated C, determinism. */
#include <math.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/unit/codegen_fixture.h"
#include "xpu_codegen/lower/layer_cost.h"
#include "xpu_codegen/choose/precision_rules.h"
#include "xpu_codegen/choose/rules.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/program.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/program/placement.h"
#include "xpuc/include/xpuc.h"

/* ---- calls ---- */

/* A value of the field's type. */
static xpu_arg value_of(const xpu_kernel_field *field, xpu_dim one) {
    switch (field->type) {
    case XPU_FIELD_INT: return xpu_arg_dim(one).arg;
    case XPU_FIELD_FLOAT: return xpu_arg_real(1).arg;
    case XPU_FIELD_ADDRESS: return xpu_arg_absent().arg;
    }
    return (xpu_arg){0};
}

/* The problem of a call in which only word `missing` has no value. */
static const char *problem_without(bench *b, xpu_kernel k, uint32_t missing, xpu_dim one) {
    const xpu_kernel_info *kernel = xpu_kernel_of(k);
    xpu_arg *args = XPU_NEW_ARRAY(b->arena, xpu_arg, kernel->words);
    uint32_t word = 0;
    for (const xpu_kernel_field *f = kernel->fields; f->name; f++) {
        for (uint32_t i = 0; i < f->count; i++, word++) {
            if (word != missing) args[word] = value_of(f, one);
        }
    }
    CU_ASSERT_EQUAL(word, kernel->words);
    return xpu_call_problem(b->arena, k, args);
}

static void calls(void) {
    BENCH_OPEN(b);
    xpu_dim one = xpu_dim_const(&b.graph->dims, 1);
    for (int k = 0; k < XPU_KERNEL_COUNT; k++) {
        const xpu_kernel_info *kernel = xpu_kernel_of((xpu_kernel)k);
        uint32_t word = 0;
        for (const xpu_kernel_field *f = kernel->fields; f->name; f++) {
            for (uint32_t i = 0; i < f->count; i++) {
                const char *name = xpu_printf(b.arena, f->count > 1 ? "'%s[%u]'" : "'%s'", f->name, i);
                const char *problem = problem_without(&b, (xpu_kernel)k, word++, one);
                CU_ASSERT_FATAL(problem != NULL);
                CU_ASSERT_PTR_NOT_NULL(strstr(problem, name));
                CU_ASSERT_PTR_NOT_NULL(strstr(problem, "has no value"));
            }
        }
        CU_ASSERT_PTR_NULL(problem_without(&b, (xpu_kernel)k, UINT32_MAX, one));
    }
    struct xpu_fill_call call = {
        .y = xpu_arg_absent(), .count = xpu_arg_number((int64_t)1 << 40), .value = xpu_arg_real(0)};
    CU_ASSERT_PTR_NOT_NULL(strstr(xpu_call_problem(b.arena, XPU_KERNEL_fill, (const xpu_arg *)&call), "32 bits"));
    call.count = xpu_arg_dim((xpu_dim){0});
    CU_ASSERT_PTR_NOT_NULL(strstr(xpu_call_problem(b.arena, XPU_KERNEL_fill, (const xpu_arg *)&call), "unknown dim"));
    bench_close(&b);
}

/* ---- precision ---- */

/* What stands behind the convolution whose precision is looked at. */
typedef enum {
    NOTHING,
    LOG,
    LOG_BEHIND_SIGMOID,
    EXP_BEHIND_POOL,
    SQRT_BEHIND_SUM,
    DIVISOR,
    DIVIDEND,
    LOG_BEHIND_CONV,
    LOG_BEHIND_RELU,
    LOG_BEHIND_REDUCED_SUM,
    LOG_BEHIND_REDUCED_MEAN,
    LOG_BEHIND_REDUCED_MAX
} behind;

static void put_behind(bench *b, behind what, xpu_value y) {
    switch (what) {
    case NOTHING: break;
    case LOG: y = step1(b, XPU_EW_log, y); break;
    case LOG_BEHIND_SIGMOID: y = step1(b, XPU_EW_log, step1(b, XPU_EW_sigmoid, y)); break;
    case EXP_BEHIND_POOL: y = step1(b, XPU_EW_exp, node1(b, XPU_OP_GLOBAL_AVERAGE_POOL, y, NULL, 0)); break;
    case SQRT_BEHIND_SUM: y = step1(b, XPU_EW_sqrt, step2(b, XPU_EW_add, constant(b, DIMS(1)), y)); break;
    case DIVISOR: y = step2(b, XPU_EW_div, constant(b, DIMS(1)), y); break;
    case DIVIDEND: y = step2(b, XPU_EW_div, y, constant(b, DIMS(1))); break;
    case LOG_BEHIND_CONV: y = step1(b, XPU_EW_log, conv(b, y, 4, 4, 1, 1)); break;
    case LOG_BEHIND_RELU:
        xpu_node_set_attr(b->graph, maker(b, y), &XPU_ATTR_INT_OF(ACTIVATION, XPU_ACTIVATION_CLIP));
        y = step1(b, XPU_EW_log, y);
        break;
    case LOG_BEHIND_REDUCED_SUM:
    case LOG_BEHIND_REDUCED_MEAN:
    case LOG_BEHIND_REDUCED_MAX:
        y = node1(b,
                  what == LOG_BEHIND_REDUCED_SUM    ? XPU_OP_REDUCE_SUM
                  : what == LOG_BEHIND_REDUCED_MEAN ? XPU_OP_REDUCE_MEAN
                                                    : XPU_OP_REDUCE_MAX,
                  y, &XPU_ATTR_INT_OF(AXIS, 1), 1);
        y = step1(b, XPU_EW_log, y);
        break;
    }
    xpu_graph_output(b->graph, y);
}

static void precision(void) {
    static const struct {
        const char *mode;
        int64_t groups, stride;
        behind behind;
        xpu_precision expected;
        const char *reason;
    } cases[] = {
        {"auto", 1, 1, NOTHING, XPU_PRECISION_INT16, "tensor engine"},
        {"fp32", 1, 1, NOTHING, XPU_PRECISION_FP32, "--precision=fp32"},
        {"auto", 4, 1, NOTHING, XPU_PRECISION_INT16, "window engine"},
        {"int16", 4, 1, NOTHING, XPU_PRECISION_INT16, "window engine"},
        {"int16", 4, 300, NOTHING, XPU_PRECISION_FP32, "descriptor"},
        {"auto", 4, 1, LOG, XPU_PRECISION_FP32, "logarithm"},
        {"auto", 2, 1, NOTHING, XPU_PRECISION_INT16, "tensor engine"},
        {"int16", 1, 300, NOTHING, XPU_PRECISION_FP32, "descriptor"},
        {"int16x8", 1, 1, NOTHING, XPU_PRECISION_INT16X8, "int16x8"},
        {"int16x8", 4, 1, NOTHING, XPU_PRECISION_INT16X8, "window engine"},
        {"auto", 1, 1, LOG, XPU_PRECISION_FP32, "logarithm"},
        {"int16", 1, 1, LOG, XPU_PRECISION_INT16, "tensor engine"},
        {"auto", 1, 1, LOG_BEHIND_SIGMOID, XPU_PRECISION_INT16, "tensor engine"},
        {"auto", 1, 1, EXP_BEHIND_POOL, XPU_PRECISION_FP32, "exponent"},
        {"auto", 1, 1, SQRT_BEHIND_SUM, XPU_PRECISION_FP32, "square root"},
        {"auto", 1, 1, DIVISOR, XPU_PRECISION_FP32, "divisor"},
        {"auto", 1, 1, DIVIDEND, XPU_PRECISION_INT16, "tensor engine"},
        {"auto", 1, 1, LOG_BEHIND_CONV, XPU_PRECISION_FP32, "logarithm"},
        {"auto", 1, 1, LOG_BEHIND_RELU, XPU_PRECISION_FP32, "logarithm"},
        {"auto", 1, 1, LOG_BEHIND_REDUCED_SUM, XPU_PRECISION_FP32, "logarithm"},
        {"auto", 1, 1, LOG_BEHIND_REDUCED_MEAN, XPU_PRECISION_FP32, "logarithm"},
        {"auto", 1, 1, LOG_BEHIND_REDUCED_MAX, XPU_PRECISION_INT16, "tensor engine"},
    };
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        xpu_value y = conv(&b, input(&b, "x", DIMS(1, 4, 8, 8)), 4, 4, 3, cases[i].groups);
        xpu_node node = maker(&b, y);
        xpu_node_set_attr(b.graph, node, &INTS(STRIDES, cases[i].stride, cases[i].stride));
        xpu_op_infer(b.graph, node, &b.diags);
        put_behind(&b, cases[i].behind, y);
        work w;
        const xpu_codegen *cg = work_start(&b, &w, "standard", cases[i].mode);
        work_prepare(&b, &w);
        CU_ASSERT_EQUAL(xpu_node_int(b.graph, node, XPU_ATTR_PRECISION), cases[i].expected);
        CU_ASSERT_PTR_NOT_NULL(strstr(cg->reasons.items[node.id], cases[i].reason));
        static const xpu_dtype weights[] = {
            [XPU_PRECISION_FP32] = XPU_F32, [XPU_PRECISION_INT16] = XPU_I16, [XPU_PRECISION_INT16X8] = XPU_I8};
        CU_ASSERT_EQUAL(xpu_value_at(b.graph, xpu_node_input(b.graph, node, XPU_IN_W))->dtype,
                        weights[cases[i].expected]);
        bench_close(&b);
    }
}

/* Scales per output channel; a channel of zeros has scale 0. */
static void weight_scales(void) {
    BENCH_OPEN(b);
    float weights[] = {1, -2, 0, 0, 32767, 5};
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 4, .dims = {3, 2, 1, 1}, .data = weights};
    xpu_value w = xpu_graph_const_bytes(b.graph, "w", &tensor);
    xpu_value y = node2(&b, XPU_OP_CONV, input(&b, "x", DIMS(1, 2, 2, 2)), w, NULL, 0);
    xpu_graph_output(b.graph, y);
    work job;
    work_start(&b, &job, "nano", "int16");
    work_prepare(&b, &job);
    const float *scale =
        xpu_const_data(b.graph, xpu_node_input(b.graph, maker(&b, y), XPU_IN_WSCALE), b.arena, &b.diags);
    const int16_t *q = xpu_const_data(b.graph, xpu_node_input(b.graph, maker(&b, y), XPU_IN_W), b.arena, &b.diags);
    static const int16_t expected[] = {16384, -32767, 0, 0, 32767, 5};
    CU_ASSERT_EQUAL(scale[0], 2.0f / 32767);
    CU_ASSERT_EQUAL(scale[1], 0);
    CU_ASSERT_EQUAL(scale[2], 1);
    for (int i = 0; i < 6; i++) CU_ASSERT(abs(q[i] - expected[i]) <= 1);
    bench_close(&b);
}

/* One absmax per value: from the layer that makes it, or of a node of its own; data movement shares it. */
static void shared_absmax(void) {
    BENCH_OPEN(b);
    xpu_value x = input(&b, "x", DIMS(1, 4, 8, 8)), first = conv(&b, x, 4, 4, 3, 1), second = conv(&b, x, 4, 4, 3, 1);
    xpu_value turned = node1(&b, XPU_OP_TRANSPOSE, first, &INTS(PERM, 0, 1, 3, 2), 1);
    xpu_value repeated = node1(&b, XPU_OP_REPEAT, first, &INTS(REPEATS, 1, 1, 2, 2), 1);
    xpu_value third = conv(&b, first, 4, 4, 1, 1), fourth = conv(&b, turned, 4, 4, 1, 1);
    xpu_value fifth = conv(&b, repeated, 4, 4, 1, 1);
    xpu_graph_output(b.graph, second);
    xpu_graph_output(b.graph, fifth);
    xpu_graph_output(b.graph, third);
    xpu_graph_output(b.graph, fourth);
    work w;
    work_start(&b, &w, "standard", "int16");
    work_prepare(&b, &w);
    xpu_value known[] = {first, second, third, fourth, fifth}, absmax[5];
    for (int i = 0; i < 5; i++) absmax[i] = xpu_node_input(b.graph, maker(&b, known[i]), XPU_IN_ABSMAX);
    CU_ASSERT_EQUAL(count_ops(&b, XPU_OP_ABSMAX), 1);
    CU_ASSERT_EQUAL(absmax[0].id, absmax[1].id);
    CU_ASSERT_EQUAL(absmax[2].id, absmax[3].id);
    CU_ASSERT_EQUAL(absmax[2].id, absmax[4].id);
    CU_ASSERT_EQUAL(absmax[2].id, xpu_node_output(b.graph, maker(&b, first), XPU_OUT_ABSMAX).id);
    CU_ASSERT_EQUAL(xpu_node_at(b.graph, maker(&b, third))->output_count, 1);
    bench_close(&b);
}

/* Which products have scales per row: of more than one row, whose operand is computed and not known to be bounded. */
static void row_scales(void) {
    enum { PRODUCTS = 10 };
    BENCH_OPEN(b);
    static const float zeros[4 * 8];
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 2, .dims = {4, 8}, .data = (void *)(uintptr_t)zeros};
    xpu_value w = xpu_graph_const_bytes(b.graph, "w", &tensor);
    const xpu_dim dims[] = {xpu_dim_symbol(&b.graph->dims, "N", 1, 100, 1), xpu_dim_const(&b.graph->dims, 4)};
    xpu_value x = input(&b, "x", DIMS(3, 4)), open = xpu_graph_input(b.graph, "open", XPU_F32, 2, dims);
    const xpu_attr last = XPU_ATTR_INT_OF(AXIS, 1);
    const xpu_attr clip[] = {XPU_ATTR_INT_OF(ACTIVATION, XPU_ACTIVATION_CLIP), XPU_ATTR_FLOAT_OF(LOW, 0),
                             XPU_ATTR_FLOAT_OF(HIGH, 6)};
    const xpu_value square = constant(&b, DIMS(4, 4));
    const struct {
        xpu_value x;
        int scaled;
    } products[PRODUCTS] = {{x, 1},
                            {x, 1},
                            {open, 1},
                            {step1(&b, XPU_EW_relu, x), 1},
                            {step1(&b, XPU_EW_sigmoid, x), 0},
                            {node1(&b, XPU_OP_SOFTMAX, x, &last, 1), 0},
                            {node2(&b, XPU_OP_MATMUL, x, square, clip, 3), 0},
                            {node2(&b, XPU_OP_MATMUL, x, square, clip, 2), 1},
                            {input(&b, "one", DIMS(1, 4)), 0},
                            {input(&b, "single", DIMS(1, 1, 4)), 0}};
    xpu_value y[PRODUCTS];
    for (int i = 0; i < PRODUCTS; i++) {
        y[i] = node2(&b, XPU_OP_MATMUL, products[i].x, w, NULL, 0);
        xpu_graph_output(b.graph, y[i]);
    }
    work job;
    work_start(&b, &job, "standard", "int16");
    work_prepare(&b, &job);
    CU_ASSERT_EQUAL(count_ops(&b, XPU_OP_ROW_SCALE), 4); /* those of x share one */
    for (int i = 0; i < PRODUCTS; i++) {
        CU_ASSERT_EQUAL(xpu_node_is(b.graph, maker(&b, y[i]), XPU_OP_ROW_RESTORE), products[i].scaled);
    }
    bench_close(&b);
}

/* ---- layouts ---- */

static void chain_of_images(bench *b) { /* conv -> relu -> conv: only the borders are relaid */
    xpu_value y = conv(b, input(b, "x", DIMS(1, 3, 8, 8)), 4, 3, 3, 1);
    xpu_graph_output(b->graph, conv(b, step1(b, XPU_EW_relu, y), 4, 4, 1, 1));
}
static void one_channel(bench *b) { /* the input has one channel, the output one pixel: both layouts are the same */
    xpu_value y = conv(b, input(b, "x", DIMS(1, 1, 8, 8)), 4, 1, 3, 1);
    xpu_graph_output(b->graph, node1(b, XPU_OP_GLOBAL_AVERAGE_POOL, y, NULL, 0));
}
static void flatten(bench *b) { /* reshape wants row-major */
    xpu_value y = conv(b, input(b, "x", DIMS(1, 1, 8, 8)), 4, 1, 3, 1);
    xpu_dim target[] = {xpu_dim_const(&b->graph->dims, 1), xpu_dim_const(&b->graph->dims, 144)};
    xpu_graph_output(b->graph, node1(b, XPU_OP_RESHAPE, y, &XPU_ATTR_DIMS_OF(SHAPE, target, 2), 1));
}
static void flatten_pixels(bench *b) { /* pixels as rows: a reshape and a transpose that name what stands there */
    xpu_value y = conv(b, input(b, "x", DIMS(1, 1, 8, 8)), 4, 1, 3, 1);
    xpu_dim target[] = {xpu_dim_const(&b->graph->dims, 1), xpu_dim_const(&b->graph->dims, 4),
                        xpu_dim_const(&b->graph->dims, 36)};
    y = node1(b, XPU_OP_RESHAPE, y, &XPU_ATTR_DIMS_OF(SHAPE, target, 3), 1);
    y = node1(b, XPU_OP_TRANSPOSE, y, &INTS(PERM, 0, 2, 1), 1);
    xpu_graph_output(b->graph, step1(b, XPU_EW_relu, y));
}
static void flatten_channels(bench *b) { /* a reshape that cuts the channels wants row-major */
    xpu_value y = conv(b, input(b, "x", DIMS(1, 1, 8, 8)), 4, 1, 3, 1);
    xpu_dim target[] = {xpu_dim_const(&b->graph->dims, 1), xpu_dim_const(&b->graph->dims, 2),
                        xpu_dim_const(&b->graph->dims, 72)};
    y = node1(b, XPU_OP_RESHAPE, y, &XPU_ATTR_DIMS_OF(SHAPE, target, 3), 1);
    xpu_graph_output(b->graph, step1(b, XPU_EW_relu, y));
}
static void channel_constant(bench *b) { /* a constant per channel is read with strides */
    xpu_value y = conv(b, input(b, "x", DIMS(1, 1, 8, 8)), 4, 1, 3, 1);
    y = step2(b, XPU_EW_mul, y, constant(b, DIMS(4, 1, 1)));
    xpu_graph_output(b->graph, node1(b, XPU_OP_GLOBAL_AVERAGE_POOL, y, NULL, 0));
}
static void two_users(bench *b) { /* one relayout for two users */
    xpu_value x = input(b, "x", DIMS(1, 3, 8, 8));
    xpu_value a = node1(b, XPU_OP_GLOBAL_AVERAGE_POOL, conv(b, x, 4, 3, 3, 1), NULL, 0);
    xpu_value c = node1(b, XPU_OP_GLOBAL_AVERAGE_POOL, conv(b, x, 4, 3, 1, 1), NULL, 0);
    xpu_graph_output(b->graph, step2(b, XPU_EW_add, a, c));
}
static void from_nhwc(bench *b) { /* a transpose of an NHWC input names the bytes that stand there */
    xpu_value x = node1(b, XPU_OP_TRANSPOSE, input(b, "x", DIMS(1, 8, 8, 3)), &INTS(PERM, 0, 3, 1, 2), 1);
    xpu_graph_output(b->graph, node1(b, XPU_OP_GLOBAL_AVERAGE_POOL, conv(b, x, 4, 3, 3, 1), NULL, 0));
}

/* A constant is packed once for each packing: two convolutions share it, a chain has its own. */
static void shared_weights(void) {
    BENCH_OPEN(b);
    work w;
    xpu_value f = constant(&b, DIMS(4, 4, 3, 3)), y = input(&b, "x", DIMS(1, 4, 8, 8));
    const xpu_attr pads = INTS(PADS, 1, 1, 1, 1);
    for (int i = 0; i < 3; i++) y = node2(&b, XPU_OP_CONV, y, f, &pads, 1);
    xpu_graph_output(b.graph, y);
    xpu_graph_output(b.graph, step2(&b, XPU_EW_mul, input(&b, "z", DIMS(4, 4, 3, 3)), f));
    xpu_graph_output(b.graph, step2(&b, XPU_EW_add, input(&b, "u", DIMS(4, 4, 3, 3)), f));
    xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
    work_prepare(&b, &w);
    CU_ASSERT_EQUAL(xpu_lower_program(cg), XPU_OK);
    CU_ASSERT_EQUAL(cg->weights.count, 2);
    bench_close(&b);
}

/* Operators that leave an image channel-last: what comes behind reads it as it lies. */
static xpu_value beside_image(bench *b, xpu_value y, int way) {
    static const xpu_op_id reductions[] = {XPU_OP_REDUCE_SUM, XPU_OP_REDUCE_MEAN, XPU_OP_REDUCE_MAX, XPU_OP_REDUCE_MIN,
                                           XPU_OP_REDUCE_PROD};
    enum { REDUCTIONS = sizeof reductions / sizeof *reductions };
    if (way < REDUCTIONS) return node1(b, reductions[way], y, &XPU_ATTR_INT_OF(AXIS, 2), 1);
    xpu_value scale = xpu_graph_const_f32(b->graph, NULL, 0.5f);
    uint8_t bytes[256] = {0};
    const xpu_tensor zero = {.dtype = XPU_U8, .data = bytes};
    const xpu_tensor table = {.dtype = XPU_U8, .rank = 1, .dims = {256}, .data = bytes};
    switch (way - REDUCTIONS) {
    case 0: return node1(b, XPU_OP_SOFTMAX, y, &XPU_ATTR_INT_OF(AXIS, 1), 1);
    case 1: return node1(b, XPU_OP_PAD, y, &INTS(PADS, 0, 0, 1, 1, 0, 0, 1, 1), 1);
    case 2: return node2(b, XPU_OP_CONCAT, y, y, &XPU_ATTR_INT_OF(AXIS, 1), 1);
    default: break;
    }
    xpu_value quantised[] = {y, scale, xpu_graph_const_bytes(b->graph, NULL, &zero)};
    quantised[0] =
        xpu_node_output(b->graph, bench_node(b, XPU_OP_QUANTIZE, quantised, 3, &XPU_ATTR_INT_OF(DTYPE, XPU_U8), 1), 0);
    xpu_value lookup[] = {quantised[0], xpu_graph_const_bytes(b->graph, NULL, &table)};
    if (way - REDUCTIONS == 4) quantised[0] = node2(b, XPU_OP_LOOKUP, lookup[0], lookup[1], NULL, 0);
    return xpu_node_output(b->graph, bench_node(b, XPU_OP_DEQUANTIZE, quantised, 3, NULL, 0), 0);
}

static uint32_t relayouts_beside_image(int way) {
    BENCH_OPEN(b);
    work w;
    xpu_value y = conv(&b, input(&b, "x", DIMS(1, 1, 8, 8)), 4, 1, 3, 1);
    xpu_graph_output(b.graph, node1(&b, XPU_OP_GLOBAL_AVERAGE_POOL, beside_image(&b, y, way), NULL, 0));
    work_start(&b, &w, "standard", "fp32");
    work_prepare(&b, &w);
    uint32_t count = count_ops(&b, XPU_OP_RELAYOUT);
    bench_close(&b);
    return count;
}

static void layouts_stay(void) {
    enum { WAYS = 10 };
    for (int way = 0; way < WAYS; way++) CU_ASSERT_EQUAL(relayouts_beside_image(way), 0);
}

/* Products on the tensor engine have tiles; equal ones share them, and others do not. */
static void tiles_of_layers(void) {
    enum { PRODUCTS = 3 };
    BENCH_OPEN(b);
    work w;
    xpu_value y[PRODUCTS], x = input(&b, "x", DIMS(1, 64, 28, 28));
    y[0] = conv(&b, x, 64, 64, 3, 1);
    y[1] = conv(&b, y[0], 128, 64, 1, 1);
    y[2] = conv(&b, x, 64, 64, 3, 1);
    xpu_graph_output(b.graph, y[1]);
    xpu_graph_output(b.graph, y[2]);
    xpu_codegen *cg = work_start(&b, &w, "standard", "int16");
    work_prepare(&b, &w);
    CU_ASSERT_EQUAL_FATAL(xpu_lower_program(cg), XPU_OK);
    const struct xpu_tiles *of[PRODUCTS];
    for (int i = 0; i < PRODUCTS; i++) {
        int32_t layer = cg->layer_of[maker(&b, y[i]).id];
        CU_ASSERT_FATAL(layer >= 0);
        CU_ASSERT_EQUAL(cg->program.layers.items[layer].unit, XPU_UNIT_TENSOR);
        of[i] = cg->layers.items[layer].tiles;
        CU_ASSERT_PTR_NOT_NULL(of[i]);
    }
    CU_ASSERT_PTR_EQUAL(of[0], of[2]);
    CU_ASSERT_PTR_NOT_EQUAL(of[0], of[1]);
    bench_close(&b);
}

static void layouts(void) {
    static const struct {
        void (*make)(bench *);
        uint32_t relayouts, layers;
    } cases[] = {{chain_of_images, 2, 5},  {one_channel, 0, 2},      {flatten, 1, 2},   {flatten_pixels, 0, 2},
                 {flatten_channels, 1, 3}, {channel_constant, 0, 3}, {two_users, 1, 6}, {from_nhwc, 0, 2}};
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        work w;
        cases[i].make(&b);
        xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
        work_prepare(&b, &w);
        CU_ASSERT_EQUAL(count_ops(&b, XPU_OP_RELAYOUT), cases[i].relayouts);
        CU_ASSERT_EQUAL(xpu_lower_program(cg), XPU_OK);
        CU_ASSERT_EQUAL(cg->program.layers.count, cases[i].layers);
        for (uint32_t o = 0; o < b.graph->outputs.count; o++) {
            CU_ASSERT_EQUAL(xpu_value_at(b.graph, b.graph->outputs.items[o])->layout, XPU_LAYOUT_LINEAR);
        }
        bench_close(&b);
    }
}

/* ---- rules ---- */

static const char *first_refusal(work *w, bench *b, xpu_value y) {
    xpu_partition partition;
    w->job.graph = b->graph;
    CU_ASSERT_EQUAL(xpu_partition_check(&w->job, &xpu_sim_target, &partition), XPU_OK);
    const xpu_refusal *refusal = xpu_partition_refusal(&partition, maker(b, y));
    return refusal ? refusal->rule : "none";
}

static xpu_value computed_weights(bench *b) {
    return node2(b, XPU_OP_CONV, input(b, "x", DIMS(1, 2, 4, 4)), input(b, "w", DIMS(3, 2, 1, 1)), NULL, 0);
}
static xpu_value broadcast_matrices(bench *b) {
    return node2(b, XPU_OP_MATMUL, input(b, "x", DIMS(2, 1, 3, 4)), input(b, "y", DIMS(1, 5, 4, 3)), NULL, 0);
}
static xpu_value matrices(bench *b) {
    return node2(b, XPU_OP_MATMUL, input(b, "x", DIMS(2, 3, 4)), input(b, "y", DIMS(2, 4, 3)), NULL, 0);
}
static xpu_value many_dims(bench *b) {
    return node1(b, XPU_OP_TRANSPOSE, input(b, "x", DIMS(2, 2, 2, 2, 2, 2, 2)), &INTS(PERM, 6, 5, 4, 3, 2, 1, 0), 1);
}
static xpu_value reflected_crop(bench *b) {
    xpu_attr attrs[] = {INTS(PADS, -1, 1), XPU_ATTR_STRING_OF(MODE, "reflect")};
    return node1(b, XPU_OP_PAD, input(b, "x", DIMS(5)), attrs, 2);
}
static xpu_value pad_of_words(bench *b, float value) {
    xpu_attr attrs[] = {INTS(PADS, 1, 1), XPU_ATTR_STRING_OF(MODE, "constant"), XPU_ATTR_FLOAT_OF(VALUE, value)};
    return node1(b, XPU_OP_PAD, bench_input(b, "x", XPU_I64, DIMS(5)), attrs, 3);
}
static xpu_value unequal_halves(bench *b) {
    return pad_of_words(b, 7);
}
static xpu_value equal_halves(bench *b) {
    return pad_of_words(b, -1);
}
static xpu_value five_loops(bench *b) {
    return step2(b, XPU_EW_add, input(b, "x", DIMS(2, 2, 2, 2, 2)), input(b, "y", DIMS(2, 1, 2, 1, 2)));
}
static xpu_value large(bench *b) {
    return step1(b, XPU_EW_neg, input(b, "x", DIMS(1 << 15, 1 << 15)));
}
static xpu_value nine_values(bench *b) { /* nine exponentials are made first and multiplied then */
    xpu_chain chain = {.input_count = 1, .step_count = 17};
    for (uint8_t s = 0; s < 9; s++) chain.steps[s] = (xpu_chain_step){.op = XPU_EW_exp, .operands = {s}};
    for (uint8_t s = 9; s < 17; s++) {
        chain.steps[s] = (xpu_chain_step){.op = XPU_EW_mul, .operands = {s, (uint8_t)(s == 9 ? 8 : 17 - s)}};
    }
    return node1(b, XPU_OP_CHAIN, input(b, "x", DIMS(4)), &XPU_ATTR_CHAIN_OF(STEPS, &chain), 1);
}
static xpu_value int_concat(bench *b) {
    xpu_value x = bench_input(b, "x", XPU_I64, DIMS(2, 3));
    return node2(b, XPU_OP_CONCAT, x, x, &XPU_ATTR_INT_OF(AXIS, 1), 1);
}
static xpu_value pool_of_bytes(bench *b, int64_t size) {
    xpu_attr attrs[] = {INTS(KERNEL, size, size), INTS(STRIDES, 1, 1), INTS(DILATIONS, 1, 1), INTS(PADS, 0, 0, 0, 0)};
    return node1(b, XPU_OP_MAX_POOL, bench_input(b, "x", XPU_U8, DIMS(1, 8, 64, 64)), attrs, 4);
}
static xpu_value large_window(bench *b) {
    return pool_of_bytes(b, 56);
}
static xpu_value small_window(bench *b) {
    return pool_of_bytes(b, 3);
}
static xpu_value undecomposed(bench *b) {
    return node1(b, XPU_OP_RELU, input(b, "x", DIMS(2, 3)), NULL, 0);
}

static void rules(void) {
    static const struct {
        xpu_value (*make)(bench *);
        const char *rule;
    } cases[] = {{computed_weights, "constant-weights"},
                 {broadcast_matrices, "matmul-leading-dims"},
                 {matrices, "none"},
                 {many_dims, "move-rank"},
                 {reflected_crop, "pad-inside"},
                 {unequal_halves, "pad-word"},
                 {equal_halves, "none"},
                 {five_loops, "chain-loops"},
                 {nine_values, "chain-values"},
                 {large, "tensor-size"},
                 {int_concat, "none"},
                 {large_window, "none"},
                 {small_window, "none"},
                 {undecomposed, "target-operator"}};
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        work w;
        work_start(&b, &w, "standard", "auto");
        CU_ASSERT_STRING_EQUAL(first_refusal(&w, &b, cases[i].make(&b)), cases[i].rule);
        bench_print(&b);
        bench_close(&b);
    }
}

/* The word that fills a buffer has the value in every element. */
static void padding_words(void) {
    static const struct {
        xpu_dtype dtype;
        float value;
        uint32_t word; /* 0xdead: there is none */
    } cases[] = {{XPU_F32, 1.5f, 0x3fc00000},
                 {XPU_I8, -3, 0xfdfdfdfd},
                 {XPU_U8, 200, 0xc8c8c8c8},
                 {XPU_U8, 256, 0xdead},
                 {XPU_I16, -2, 0xfffefffe},
                 {XPU_I32, 7, 7},
                 {XPU_I64, 0, 0},
                 {XPU_I64, -1, 0xffffffff},
                 {XPU_I64, 7, 0xdead},
                 {XPU_F64, 1, 0xdead},
                 {XPU_BOOL, 1, 0x01010101},
                 {XPU_BOOL, 2, 0xdead},
                 {XPU_F16, 0, 0},
                 {XPU_F16, 1, 0x3c003c00},
                 {XPU_BF16, -1.5f, 0xbfc0bfc0},
                 {XPU_F16, 0.1f, 0xdead},
                 {XPU_I8, 0.5f, 0xdead},
                 {XPU_I32, 0x1p31f, 0xdead},
                 {XPU_I32, -0x1p31f, 1u << 31}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float word;
        uint32_t bits = 0xdead;
        if (xpu_pad_word(cases[i].dtype, cases[i].value, &word)) memcpy(&bits, &word, sizeof bits);
        CU_ASSERT_EQUAL(bits, cases[i].word);
    }
}

/* What --explain says a layer computes in. */
static void precision_names(void) {
    static const struct {
        xpu_dtype dtype;
        const char *name;
    } cases[] = {{XPU_F32, "fp32"},  {XPU_I8, "int8"},   {XPU_U8, "int8"},    {XPU_I64, "int64"},
                 {XPU_I32, "int32"}, {XPU_BOOL, "bool"}, {XPU_F64, "float64"}};
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        xpu_value y =
            node1(&b, XPU_OP_TRANSPOSE, bench_input(&b, "x", cases[i].dtype, DIMS(2, 3)), &INTS(PERM, 1, 0), 1);
        CU_ASSERT_STRING_EQUAL(xpu_node_precision(b.graph, maker(&b, y)), cases[i].name);
        bench_close(&b);
    }
}

/* Every operator that is primitive and not elementwise has a row, but for control flow; each row has its text. */
static void documents(void) {
    BENCH_OPEN(b);
    xpu_text text;
    xpu_text_init(&text, b.arena);
    xpu_codegen_document(&text);
    for (const xpu_support *row = xpu_sim_support; row->lowering; row++) {
        CU_ASSERT_PTR_NOT_NULL(strstr(text.text, xpu_printf(b.arena, "| %s |", xpu_op_of(row->op)->name)));
        CU_ASSERT_PTR_NOT_NULL(strstr(text.text, row->lowering));
        for (const xpu_rule *const *rule = row->rules; *rule; rule++) {
            CU_ASSERT_PTR_NOT_NULL(strstr(text.text, (*rule)->sentence));
        }
    }
    for (int op = 0; op < XPU_OP_COUNT; op++) {
        const xpu_op *row = xpu_op_of((xpu_op_id)op);
        int on_host = op == XPU_OP_RAISE;
        int found = row->elementwise >= 0 || row->expand || on_host;
        for (const xpu_support *s = xpu_sim_support; s->lowering; s++) found |= s->op == (xpu_op_id)op;
        CU_ASSERT(found);
    }
    bench_close(&b);
}

/* ---- rules of precision ---- */

static void precision_rules(void) {
    static const char text[] = "{\"rules\": [{\"match\": \"a*\", \"precision\": \"fp32\"},"
                               "{\"match\": \"b\", \"precision\": \"int16\", \"row_scales\": false}]}";
    BENCH_OPEN(b);
    const char *path = xpu_path_join(b.arena, xpu_temporary_folder(b.arena, &b.diags), "rules.json");
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
    xpu_precision_rules rules;
    CU_ASSERT_EQUAL(xpu_precision_rules_read(b.arena, path, &rules, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(rules.count, 2);
    CU_ASSERT_STRING_EQUAL(rules.items[0].match, "a*");
    CU_ASSERT(rules.items[0].mode == XPU_MODE_FP32 && rules.items[1].mode == XPU_MODE_INT16);
    CU_ASSERT(rules.items[0].row_scales && !rules.items[1].row_scales);
    remove(path);
    bench_close(&b);
}

/* ---- the generated C ---- */

static const char golden[] =
    "struct region_1_plan {\n"
    "    struct xpu_chain_args layer_0_relu_x__1;\n"
    "    struct xpu_fill_args layer_1_pad___fill_0;\n"
    "    struct xpu_copy_nd_args layer_1_pad___copy_nd_1;\n"
    "};\n"
    "static const struct region_1_plan *region_1(const void *plan);\n"
    "extern const uint32_t xpu_plan[];\n"
    "\n"
    "static void chain_1_leaky_relu_mul(const float *const *in, const float *c, float *out, uint32_t n) {\n"
    "    const float *x0 = in[0];\n"
    "    const float *x1 = in[1];\n"
    "    const float c0 = c[0];\n"
    "    for (const size_t vl = __riscv_vsetvlmax_e32m4(); n >= 2 * vl; n -= 2 * (uint32_t)vl) {\n"
    "        vfloat32m4_t v0 = __riscv_vle32_v_f32m4(x0, vl);\n"
    "        vfloat32m4_t v1 = __riscv_vle32_v_f32m4(x1, vl);\n"
    "        vfloat32m4_t w0 = __riscv_vle32_v_f32m4(x0 + vl, vl);\n"
    "        vfloat32m4_t w1 = __riscv_vle32_v_f32m4(x1 + vl, vl);\n"
    "        x0 += 2 * vl;\n"
    "        x1 += 2 * vl;\n"
    "        vfloat32m4_t v2 = xv_leaky_relu(v0, c0, vl);\n"
    "        vfloat32m4_t v3 = xv_mul(v2, v1, vl);\n"
    "        __riscv_vse32_v_f32m4(out, v3, vl);\n"
    "        vfloat32m4_t w2 = xv_leaky_relu(w0, c0, vl);\n"
    "        vfloat32m4_t w3 = xv_mul(w2, w1, vl);\n"
    "        __riscv_vse32_v_f32m4(out + vl, w3, vl);\n"
    "        out += 2 * vl;\n"
    "    }\n"
    "    for (size_t vl; n > 0; n -= (uint32_t)vl) {\n"
    "        vl = __riscv_vsetvl_e32m4(n);\n"
    "        vfloat32m4_t v0 = __riscv_vle32_v_f32m4(x0, vl);\n"
    "        vfloat32m4_t v2 = xv_leaky_relu(v0, c0, vl);\n"
    "        vfloat32m4_t v1 = __riscv_vle32_v_f32m4(x1, vl);\n"
    "        vfloat32m4_t v3 = xv_mul(v2, v1, vl);\n"
    "        __riscv_vse32_v_f32m4(out, v3, vl);\n"
    "        x0 += vl;\n"
    "        x1 += vl;\n"
    "        out += vl;\n"
    "    }\n"
    "}\n"
    "\n"
    "/* node 'relu x*\\x2f1' (LeakyRelu-6, #3) */\n"
    "static xpu_ticket layer_0_relu_x__1(const void *plan, xpu_ticket after) {\n"
    "    const struct region_1_plan *p = region_1(plan);\n"
    "    return xpu_chain(&p->layer_0_relu_x__1, chain_1_leaky_relu_mul, 0, after);\n"
    "}\n"
    "\n"
    "/* node 'pad()' (Pad-11, #4) */\n"
    "static xpu_ticket layer_1_pad__(const void *plan, xpu_ticket after) {\n"
    "    const struct region_1_plan *p = region_1(plan);\n"
    "    after = xpu_fill(&p->layer_1_pad___fill_0, 1, after);\n"
    "    return xpu_copy_nd(&p->layer_1_pad___copy_nd_1, 1, after);\n"
    "}\n";

static void generated_c(void) {
    BENCH_OPEN(b);
    xpu_chain chain = {.input_count = 2, .step_count = 2};
    chain.steps[0] = (xpu_chain_step){.op = XPU_EW_leaky_relu, .operands = {0}, .immediates = {0.5f}};
    chain.steps[1] = (xpu_chain_step){.op = XPU_EW_mul, .operands = {2, 1}};
    xpu_origin origins[] = {{"onnx", "LeakyRelu", 6, "relu x*/1", 3}, {"onnx", "Pad", 11, "pad()", 4}};
    uint32_t leaky = xpu_graph_origin(b.graph, &origins[0]), pad = xpu_graph_origin(b.graph, &origins[1]);
    xpu_value x[] = {input(&b, "x", DIMS(2, 3)), constant(&b, DIMS(3))};
    xpu_node node = xpu_build(b.graph, (xpu_node){0}, XPU_OP_CHAIN, x, 2, NULL, &XPU_ATTR_CHAIN_OF(STEPS, &chain), 1,
                              &leaky, 1, &b.diags);
    xpu_value y = xpu_node_output(b.graph, node, 0);
    node = xpu_build(b.graph, (xpu_node){0}, XPU_OP_PAD, &y, 1, NULL, &INTS(PADS, 0, 1, 0, 0), 1, &pad, 1, &b.diags);
    xpu_graph_output(b.graph, xpu_node_output(b.graph, node, 0));
    work w;
    work_start(&b, &w, "standard", "auto");
    work_prepare(&b, &w);
    xpu_section section = {0};
    CU_ASSERT_EQUAL(xpu_sim_target.lower(&w.job, 0, &section), XPU_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(section.source);
    CU_ASSERT_PTR_NOT_NULL(strstr(section.source, golden));
    if (!strstr(section.source, golden)) printf("%s\n", section.source);
    bench_close(&b);
}

/* ---- what layers cost ---- */

/* On the window engine the taps count, not only the bytes, of which more taps have fewer. */
static void cycles_of_windows(void) {
    double cycles[2] = {0};
    for (volatile int i = 0; i < 2; i++) {
        BENCH_OPEN(b);
        work w;
        const xpu_value y = pool_of_bytes(&b, i ? 7 : 3);
        xpu_graph_output(b.graph, y);
        xpu_codegen *cg = work_start(&b, &w, "standard", "auto");
        work_prepare(&b, &w);
        xpu_section section = {0};
        CU_ASSERT_EQUAL(xpu_sim_target.lower(&w.job, 0, &section), XPU_OK);
        const int32_t layer = cg->layer_of[maker(&b, y).id];
        CU_ASSERT_FATAL(layer >= 0);
        CU_ASSERT_EQUAL(cg->program.layers.items[layer].unit, XPU_UNIT_WINDOW);
        cycles[i] = xpu_layer_cycles(cg, (uint32_t)layer);
        bench_close(&b);
    }
    CU_ASSERT(cycles[0] > 62 * 62); /* a cycle each */
    CU_ASSERT(cycles[1] > 3 * cycles[0]);
}

/* ---- whole compilations ---- */

static void same_bytes_twice(void) {
    xpuc_result results[2] = {0};
    for (int i = 0; i < 2; i++) {
        xpuc_error error = {0};
        CU_ASSERT_EQUAL_FATAL(xpuc_compile_file(MODEL, &(xpuc_options){.precision = "int16"}, &results[i], &error), 0);
        xpuc_error_clear(&error);
    }
    CU_ASSERT_EQUAL_FATAL(results[0].size, results[1].size);
    CU_ASSERT_EQUAL(memcmp(results[0].bytes, results[1].bytes, results[0].size), 0);
    for (int i = 0; i < 2; i++) xpuc_result_clear(&results[i]);
}

static void options(void) {
    static const struct {
        const char *chip, *precision, *rules, *expected;
    } cases[] = {{"standard", "int8", NULL, "[precision]"},
                 {"huge", NULL, NULL, "[chip-unknown]"},
                 {NULL, NULL, "/nonexistent/rules.json", "[io-open]"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpuc_options wanted = {
            .chip = cases[i].chip, .precision = cases[i].precision, .memory_rules = cases[i].rules, .emit = "c"};
        xpuc_result result = {0};
        xpuc_error error = {0};
        CU_ASSERT_NOT_EQUAL(xpuc_compile_file(MODEL, &wanted, &result, &error), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.text, cases[i].expected));
        xpuc_result_clear(&result);
        xpuc_error_clear(&error);
    }
}

XPU_TEST_MAIN("XPU target", {"every field of every kernel call is set", calls}, {"precision and its reason", precision},
              {"scales of int16 weights", weight_scales}, {"one absmax per value", shared_absmax},
              {"row scales", row_scales}, {"relayouts only where needed", layouts},
              {"operators beside images", layouts_stay}, {"weights are packed once", shared_weights},
              {"tiles of layers", tiles_of_layers}, {"rules", rules}, {"padding words", padding_words},
              {"precision names", precision_names}, {"documents", documents}, {"precision rules", precision_rules},

              {"generated C", generated_c}, {"same bytes twice", same_bytes_twice}, {"options", options},
              {"cycles of windows", cycles_of_windows})
