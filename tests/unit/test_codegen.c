/* The XPU target: calls, precision, layouts, rules, the generated C, placement rules, determinism. */
#include <math.h>

#include "base/json.h"
#include "tests/unit/ir.h"
#include "xpu_codegen/choose/rules.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/program.h"
#include "xpu_codegen/xpu_codegen.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/program/placement.h"
#include "xpuc/include/xpuc.h"
#include "xpuc/pipeline.h"

#define MODEL "tests/models/mnist-8.onnx"

/* ---- a target's job over a graph made by hand ---- */

typedef struct {
    xpu_compile_options options;
    xpu_target_job job;
    xpu_region region;
} work;

static xpu_codegen *work_start(bench *b, work *w, const char *chip, const char *precision) {
    *w = (work){.options = {.target = "xpu-sim",
                            .chip = chip,
                            .precision = precision,
                            .source_name = "test.onnx",
                            .resources = ".",
                            .emit = "c"}};
    w->job = (xpu_target_job){.services = &xpu_target_services,
                              .options = &w->options,
                              .graph = b->graph,
                              .arena = b->arena,
                              .diags = &b->diags};
    CU_ASSERT_EQUAL_FATAL(xpu_sim_target.start(&w->job), XPU_OK);
    return w->job.state;
}

/* Prepares; all nodes are one region. */
static void work_prepare(bench *b, work *w) {
    CU_ASSERT_EQUAL(xpu_sim_target.prepare(&w->job), XPU_OK);
    CU_ASSERT_EQUAL(xpu_verify(b->graph, "prepare", &b->diags), XPU_OK);
    w->region = (xpu_region){.number = 1};
    XPU_FOR_NODES(b->graph, node) xpu_node_at(b->graph, node)->region = 1;
    w->job.regions = &w->region;
    w->job.region_count = 1;
    bench_print(b);
}

static xpu_value input(bench *b, const char *name, int rank, const int64_t *dims) {
    return bench_input(b, name, XPU_F32, rank, dims);
}

static xpu_value constant(bench *b, int rank, const int64_t *dims) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = rank};
    memcpy(tensor.dims, dims, (size_t)rank * sizeof *dims);
    int64_t count = xpu_tensor_count(&tensor);
    float *data = XPU_NEW_ARRAY(b->arena, float, count);
    for (int64_t i = 0; i < count; i++) data[i] = (float)(i % 7) - 3;
    tensor.data = data;
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

static xpu_value node1(bench *b, xpu_op_id op, xpu_value x, const xpu_attr *attrs, uint32_t count) {
    xpu_node node = bench_node(b, op, &x, 1, attrs, count);
    return xpu_node_output(b->graph, node, 0);
}

static xpu_value node2(bench *b, xpu_op_id op, xpu_value x, xpu_value y, const xpu_attr *attrs, uint32_t count) {
    xpu_node node = bench_node(b, op, (xpu_value[]){x, y}, 2, attrs, count);
    return xpu_node_output(b->graph, node, 0);
}

/* One elementwise operator as a chain. */
static xpu_value step1(bench *b, xpu_elementwise op, xpu_value x) {
    xpu_chain chain = {.input_count = 1, .step_count = 1, .steps = {{.op = op}}};
    return node1(b, XPU_OP_CHAIN, x, &XPU_ATTR_CHAIN_OF(STEPS, &chain), 1);
}

static xpu_value step2(bench *b, xpu_elementwise op, xpu_value x, xpu_value y) {
    xpu_chain chain = {.input_count = 2, .step_count = 1, .steps = {{.op = op, .operands = {0, 1}}}};
    return node2(b, XPU_OP_CHAIN, x, y, &XPU_ATTR_CHAIN_OF(STEPS, &chain), 1);
}

static xpu_value conv(bench *b, xpu_value x, int64_t out, int64_t in, int64_t kernel, int64_t groups) {
    xpu_attr attr = XPU_ATTR_INT_OF(GROUP, groups);
    return node2(b, XPU_OP_CONV, x, constant(b, DIMS(out, in / groups, kernel, kernel)), &attr, 1);
}

static uint32_t count_ops(const bench *b, xpu_op_id op) {
    uint32_t count = 0;
    XPU_FOR_NODES(b->graph, node) count += (uint32_t)xpu_node_is(b->graph, node, op);
    return count;
}

static xpu_node maker(const bench *b, xpu_value value) {
    return xpu_value_at(b->graph, value)->node;
}

/* ---- calls ---- */

static void set_field(xpu_call *call, const xpu_kernel_field *field, xpu_dim one) {
    if (field->type == XPU_FIELD_INT) xpu_set_int(call, field->name, one);
    if (field->type == XPU_FIELD_FLOAT) xpu_set_float(call, field->name, 1);
    if (field->type == XPU_FIELD_ADDRESS) xpu_set_absent(call, field->name);
}

static void calls(void) {
    BENCH_OPEN(b);
    xpu_dim one = xpu_dim_const(&b.graph->dims, 1);
    for (int k = 0; k < XPU_KERNEL_COUNT; k++) {
        const xpu_kernel_info *kernel = xpu_kernel_of((xpu_kernel)k);
        for (uint32_t missing = 0; missing <= kernel->field_count; missing++) {
            xpu_call call = xpu_call_begin(b.arena, (xpu_kernel)k);
            for (uint32_t f = 0; f < kernel->field_count; f++) {
                if (f != missing) set_field(&call, &kernel->fields[f], one);
            }
            const char *problem = xpu_call_problem(&call);
            CU_ASSERT_EQUAL(problem == NULL, missing == kernel->field_count);
            if (problem) CU_ASSERT_PTR_NOT_NULL(strstr(problem, kernel->fields[missing].name));
        }
    }
    static const struct {
        const char *field, *expected;
        int twice;
    } wrong[] = {{"nonsense", "does not exist", 0}, {"y", "another type", 0}, {"count", "set twice", 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        xpu_call call = xpu_call_begin(b.arena, XPU_KERNEL_fill);
        for (int n = 0; n <= wrong[i].twice; n++) xpu_set_int(&call, wrong[i].field, one);
        CU_ASSERT_PTR_NOT_NULL(strstr(xpu_call_problem(&call), wrong[i].expected));
    }
    xpu_call call = xpu_call_begin(b.arena, XPU_KERNEL_fill);
    xpu_set_number(&call, "count", (int64_t)1 << 40);
    CU_ASSERT_PTR_NOT_NULL(strstr(xpu_call_problem(&call), "32 bits"));
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
    LOG_BEHIND_RELU
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
        {"auto", 4, 1, NOTHING, XPU_PRECISION_FP32, "depthwise"},
        {"int16", 4, 1, NOTHING, XPU_PRECISION_FP32, "depthwise"},
        {"auto", 2, 1, NOTHING, XPU_PRECISION_INT16, "tensor engine"},
        {"int16", 1, 300, NOTHING, XPU_PRECISION_FP32, "descriptor"},
        {"int16x8", 1, 1, NOTHING, XPU_PRECISION_INT16X8, "int16x8"},
        {"int16x8", 4, 1, NOTHING, XPU_PRECISION_FP32, "depthwise"},
        {"auto", 1, 1, LOG, XPU_PRECISION_FP32, "logarithm"},
        {"int16", 1, 1, LOG, XPU_PRECISION_INT16, "tensor engine"},
        {"auto", 1, 1, LOG_BEHIND_SIGMOID, XPU_PRECISION_INT16, "tensor engine"},
        {"auto", 1, 1, EXP_BEHIND_POOL, XPU_PRECISION_FP32, "exponent"},
        {"auto", 1, 1, SQRT_BEHIND_SUM, XPU_PRECISION_FP32, "square root"},
        {"auto", 1, 1, DIVISOR, XPU_PRECISION_FP32, "divisor"},
        {"auto", 1, 1, DIVIDEND, XPU_PRECISION_INT16, "tensor engine"},
        {"auto", 1, 1, LOG_BEHIND_CONV, XPU_PRECISION_FP32, "logarithm"},
        {"auto", 1, 1, LOG_BEHIND_RELU, XPU_PRECISION_FP32, "logarithm"},
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
    xpu_value third = conv(&b, first, 4, 4, 1, 1), fourth = conv(&b, turned, 4, 4, 1, 1);
    xpu_graph_output(b.graph, second);
    xpu_graph_output(b.graph, third);
    xpu_graph_output(b.graph, fourth);
    work w;
    work_start(&b, &w, "standard", "int16");
    work_prepare(&b, &w);
    xpu_value known[] = {first, second, third, fourth}, absmax[4];
    for (int i = 0; i < 4; i++) absmax[i] = xpu_node_input(b.graph, maker(&b, known[i]), XPU_IN_ABSMAX);
    CU_ASSERT_EQUAL(count_ops(&b, XPU_OP_ABSMAX), 1);
    CU_ASSERT_EQUAL(absmax[0].id, absmax[1].id);
    CU_ASSERT_EQUAL(absmax[2].id, absmax[3].id);
    CU_ASSERT_EQUAL(absmax[2].id, xpu_node_output(b.graph, maker(&b, first), XPU_OUT_ABSMAX).id);
    CU_ASSERT_EQUAL(xpu_node_at(b.graph, maker(&b, third))->output_count, 1);
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

static void layouts(void) {
    static const struct {
        void (*make)(bench *);
        uint32_t relayouts, layers;
    } cases[] = {{chain_of_images, 2, 5},  {one_channel, 0, 2}, {flatten, 1, 2},
                 {channel_constant, 0, 3}, {two_users, 1, 6},   {from_nhwc, 0, 2}};
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
                 {XPU_F16, 1, 0xdead},
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

/* Every operator with a reference kernel that is primitive and not elementwise has a row; each row has its text. */
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
        int on_host = op == XPU_OP_DYNAMIC_QUANTIZE;
        int found = row->elementwise >= 0 || row->expand || on_host;
        for (const xpu_support *s = xpu_sim_support; s->lowering; s++) found |= s->op == (xpu_op_id)op;
        CU_ASSERT(found);
    }
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
    "\n"
    "static void chain_1_leaky_relu_mul(const float *const *in, const float *c, float *out, uint32_t n) {\n"
    "    const float *x0 = in[0];\n"
    "    const float *x1 = in[1];\n"
    "    (void)c;\n"
    "    for (size_t vl; n > 0; n -= (uint32_t)vl) {\n"
    "        vl = __riscv_vsetvl_e32m4(n);\n"
    "        vfloat32m4_t v0 = __riscv_vle32_v_f32m4(x0, vl);\n"
    "        vfloat32m4_t v2 = xv_leaky_relu(v0, c[0], vl);\n"
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

/* ---- whole compilations ---- */

static json_t *compile_report(const char *rules, const char *text, xpu_arena *arena, xpu_diags *diags,
                              xpuc_error *error) {
    const char *folder = xpu_temporary_folder(arena, diags);
    const char *report = xpu_path_join(arena, folder, "report.json"), *path = xpu_path_join(arena, folder, rules);
    CU_ASSERT_EQUAL(xpu_file_write(arena, path, text, strlen(text), diags), XPU_OK);
    xpuc_options options = {.precision = "fp32", .memory_rules = path, .report = report};
    xpuc_result result = {0};
    int status = xpuc_compile_file(MODEL, &options, &result, error);
    xpuc_result_clear(&result);
    return status == 0 ? xpu_json_read(arena, report, diags) : NULL;
}

/* The level of a buffer in the report's memory plan. */
static const char *level_of(json_t *report, const char *name) {
    json_t *buffers = json_object_get(json_object_get(json_object_get(report, "program"), "memory"), "buffers"), *item;
    size_t i;
    json_array_foreach(buffers, i, item) {
        const char *found = json_string_value(json_object_get(item, "name"));
        if (found && strcmp(found, name) == 0) return json_string_value(json_object_get(item, "level"));
    }
    return "none";
}

static void placement_rules(void) {
    BENCH_OPEN(b);
    xpuc_error error = {0};
    json_t *report = compile_report("rules.json",
                                    "{\"rules\": [{\"match\": \"Pooling66*\", \"kind\": \"activation\", \"level\": "
                                    "\"GM\", \"strength\": \"must\"}]}",
                                    b.arena, &b.diags, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    CU_ASSERT_STRING_EQUAL(level_of(report, "Pooling66_Output_0"), "GM");
    CU_ASSERT_STRING_EQUAL(level_of(report, "Pooling160_Output_0"), "L3");
    xpuc_error_clear(&error);
    report = compile_report("rules.json",
                            "{\"rules\": [{\"match\": \"*/w\", \"kind\": \"weight\", \"level\": \"SM\", \"strength\": "
                            "\"must\"}]}",
                            b.arena, &b.diags, &error);
    CU_ASSERT_PTR_NULL(report);
    CU_ASSERT_EQUAL(error.status, XPU_EUSAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "[plan-rules]"));
    xpuc_error_clear(&error);
    bench_close(&b);
}

/* ---- weights in L3 ---- */

typedef struct {
    const char *what, *rules;
    int64_t columns;   /* two convolutions with weights of 256 bytes each a column; L3 has 4 MiB */
    uint32_t copies;   /* how many weights get one */
    const char *wrong; /* part of the message, NULL: it compiles */
    const char *spill; /* part of why a weight has none, NULL: every wish is met */
} copy_case;

#define RULE(match, level, strength)                                                                                   \
    "{\"match\": \"" match "\", \"kind\": \"weight\", \"level\": \"" level "\", \"strength\": \"" strength "\"}"

static const copy_case copy_cases[] = {
    {.what = "no rule about weights", .rules = "{\"rules\": []}", .columns = 64},
    {.what = "GM", .rules = "{\"rules\": [" RULE("*", "GM", "must") "]}", .columns = 64},
    {.what = "prefer", .rules = "{\"rules\": [" RULE("*", "L3", "prefer") "]}", .columns = 64, .copies = 2},
    {.what = "must", .rules = "{\"rules\": [" RULE("*", "L3", "must") "]}", .columns = 64, .copies = 2},
    {.what = "never GM", .rules = "{\"rules\": [" RULE("*", "GM", "never") "]}", .columns = 64, .copies = 2},
    {.what = "one of two", .rules = "{\"rules\": [" RULE("v2/w", "L3", "must") "]}", .columns = 64, .copies = 1},
    {.what = "room for one",
     .rules = "{\"rules\": [" RULE("*", "L3", "prefer") "]}",
     .columns = 10000,
     .copies = 1,
     .spill = "no room"},
    {.what = "no room", .rules = "{\"rules\": [" RULE("*", "L3", "prefer") "]}", .columns = 20000, .spill = "no room"},
    {.what = "no room, but a must",
     .rules = "{\"rules\": [" RULE("*", "L3", "must") "]}",
     .columns = 10000,
     .wrong = "[plan-rules] level 'L3': a placement rule leaves no room in L3"},
    {.what = "contradiction",
     .rules = "{\"rules\": [" RULE("*", "L3", "must") ", " RULE("*", "GM", "must") "]}",
     .columns = 64,
     .wrong = "the buffer may only be in GM or L3"},
};

/* Layer 0 fills the copies, all other calls read them, and they live until their last reader. */
static void check_copies(const xpu_codegen *cg) {
    CU_ASSERT_STRING_EQUAL(cg->program.layers.items[0].name, "weights/L3");
    CU_ASSERT_STRING_EQUAL(cg->program.layers.items[0].unit, "dma");
    uint32_t word = 0;
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        for (uint32_t c = 0; c < cg->layers.items[i].calls.count; c++) {
            uint32_t fields = xpu_kernel_of(cg->layers.items[i].calls.items[c].kernel)->field_count;
            for (uint32_t f = 0; f < fields; f++, word++) {
                const xpu_plan_word *w = &cg->program.plan.items[word];
                if (w->kind != XPU_WORD_ADDRESS) continue;
                const xpu_program_buffer *buffer = &cg->program.buffers.items[w->buffer];
                CU_ASSERT(buffer->first_layer <= i && i <= buffer->last_layer);
                if (buffer->kind != XPU_BUFFER_COPY || i == 0) continue;
                CU_ASSERT(buffer->level_count == 1 && buffer->levels[0] == XPU_LEVEL_L3 && buffer->first_layer == 0);
            }
        }
    }
    CU_ASSERT_EQUAL(word, cg->program.plan.count);
}

static void copy_weights(const copy_case *c) {
    BENCH_OPEN(b);
    work w;
    xpu_value x = input(&b, "x", DIMS(1, c->columns, 1, 1)), y = conv(&b, x, 64, c->columns, 1, 1);
    xpu_graph_output(b.graph, conv(&b, y, c->columns, 64, 1, 1));
    xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
    CU_ASSERT_EQUAL(xpu_memory_rules_parse(b.arena, c->rules, strlen(c->rules), "rules", &cg->rules, &b.diags), XPU_OK);
    work_prepare(&b, &w);
    xpu_section section = {0};
    xpu_status status = xpu_sim_target.lower(&w.job, 0, &section);
    char text[2000] = "";
    if (b.diags.count) xpu_diag_text(&b.diags, 0, text, sizeof text);
    if ((status != XPU_OK) != (c->wrong != NULL)) fprintf(stderr, "%s: %s\n", c->what, text);
    CU_ASSERT_EQUAL(status != XPU_OK, c->wrong != NULL);
    if (c->wrong && !strstr(text, c->wrong)) fprintf(stderr, "%s: %s\n", c->what, text);
    CU_ASSERT(!c->wrong || strstr(text, c->wrong));
    uint32_t copies = 0;
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
        copies += cg->program.buffers.items[i].kind == XPU_BUFFER_COPY;
    }
    if (copies != c->copies) {
        fprintf(stderr, "%s: %u copies\n", c->what, copies);
        for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
            fprintf(stderr, "    %s\n", cg->program.buffers.items[i].name);
        }
    }
    CU_ASSERT_EQUAL(copies, c->copies);
    CU_ASSERT_EQUAL(cg->layers.count, c->wrong ? cg->layers.count : 2 + (c->copies > 0));
    if (copies) check_copies(cg);
    int spilled = 0;
    for (uint32_t i = 0; c->spill && i < cg->wishes->spill_count; i++) {
        spilled |= strstr(cg->wishes->spills[i].why, c->spill) != NULL;
    }
    CU_ASSERT_EQUAL(spilled, c->spill != NULL);
    bench_close(&b);
}

static void weights_in_l3(void) {
    for (size_t i = 0; i < sizeof copy_cases / sizeof *copy_cases; i++) copy_weights(&copy_cases[i]);
}

/* The whole way: the weight stays in GM in the report, its copy stands in L3. */
static void copies_in_report(void) {
    BENCH_OPEN(b);
    xpuc_error error = {0};
    json_t *report =
        compile_report("rules.json", "{\"rules\": [" RULE("ReLU32*/w", "L3", "must") "]}", b.arena, &b.diags, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    json_t *layers = json_object_get(json_object_get(report, "program"), "layers");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(layers, 0), "name")), "weights/L3");
    CU_ASSERT_STRING_EQUAL(level_of(report, "ReLU32/w"), "GM");
    CU_ASSERT_STRING_EQUAL(level_of(report, "ReLU32/w@L3"), "L3");
    json_t *spills = json_object_get(json_object_get(json_object_get(report, "program"), "memory"), "spills");
    CU_ASSERT_EQUAL(json_array_size(spills), 0);
    xpuc_error_clear(&error);
    bench_close(&b);
}

/* ---- chains in place ---- */

static void dense(bench *b) { /* sigmoid and tanh take the input's bytes */
    xpu_value x = input(b, "x", DIMS(1, 8, 16, 16));
    xpu_graph_output(b->graph, step1(b, XPU_EW_tanh, step1(b, XPU_EW_sigmoid, x)));
}
static void used_later(bench *b) { /* the second chain is the last reader of both operands */
    xpu_value x = input(b, "x", DIMS(8, 8));
    xpu_graph_output(b->graph, step2(b, XPU_EW_add, step1(b, XPU_EW_tanh, x), x));
}
static void broadcast(bench *b) { /* a row that is added to every row has fewer bytes than the result */
    xpu_value x = input(b, "x", DIMS(8)), y = input(b, "y", DIMS(8, 8));
    xpu_graph_output(b->graph, step2(b, XPU_EW_add, x, y));
}
static void output_stays(bench *b) { /* the last layer reads an output */
    xpu_value y = step1(b, XPU_EW_tanh, input(b, "x", DIMS(8, 8)));
    xpu_graph_output(b->graph, y);
    xpu_graph_output(b->graph, step1(b, XPU_EW_sigmoid, y));
}
static void with_constant(bench *b) { /* weights are not overwritten */
    xpu_graph_output(b->graph, step2(b, XPU_EW_add, constant(b, DIMS(8, 8)), input(b, "x", DIMS(1, 1))));
}
static void product(bench *b) { /* not a chain */
    xpu_value x = input(b, "x", DIMS(8, 8));
    xpu_graph_output(b->graph, node2(b, XPU_OP_MATMUL, x, x, NULL, 0));
}

/* How many alternatives are left, and bytes of SM and L3 at their peaks with and without them. */
typedef struct {
    void (*build)(bench *b);
    uint32_t alternatives;
    uint64_t peaks[2];
} in_place_case;

static uint64_t peak_of(bench *b, const xpu_codegen *cg, int no_aliases) {
    xpu_placement placement;
    xpu_memplan *plan;
    xpu_memplan_options planning = {.no_aliases = no_aliases};
    CU_ASSERT_EQUAL(xpu_placement_problem(&cg->program, &cg->chip, NULL, b->arena, &placement, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &placement.problem, &planning, &plan, &b->diags), XPU_OK);
    return plan->usage[XPU_LEVEL_SM].peak + plan->usage[XPU_LEVEL_L3].peak;
}

static void chain_in_place(const in_place_case *c) {
    BENCH_OPEN(b);
    work w;
    c->build(&b);
    xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
    work_prepare(&b, &w);
    xpu_section section = {0};
    CU_ASSERT_EQUAL(xpu_sim_target.lower(&w.job, 0, &section), XPU_OK);
    CU_ASSERT_EQUAL(cg->program.in_place.count, c->alternatives);
    cg->program.weights_address = cg->program.image_end = XPU_GM_BASE + 65536;
    for (int i = 0; i < 2; i++) {
        uint64_t peak = peak_of(&b, cg, i);
        if (peak != c->peaks[i])
            fprintf(stderr, "peak %llu, not %llu\n", (unsigned long long)peak, (unsigned long long)c->peaks[i]);
        CU_ASSERT_EQUAL(peak, c->peaks[i]);
    }
    bench_close(&b);
}

static void chains_in_place(void) {
    static const in_place_case cases[] = {
        {dense, 2, {8192, 16384}},     {used_later, 2, {512, 768}},    {broadcast, 1, {288, 544}},
        {output_stays, 1, {512, 512}}, {with_constant, 0, {260, 260}}, {product, 0, {512, 512}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) chain_in_place(&cases[i]);
}

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
              {"relayouts only where needed", layouts}, {"rules", rules}, {"padding words", padding_words},
              {"precision names", precision_names}, {"documents", documents},

              {"generated C", generated_c}, {"placement rules", placement_rules}, {"weights in L3", weights_in_l3},
              {"copies in the report", copies_in_report}, {"chains in place", chains_in_place},
              {"same bytes twice", same_bytes_twice}, {"options", options})
