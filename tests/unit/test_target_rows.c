/* Rows of the XPU target: what each rule of each operator refuses, and which layouts come behind each operator. */
#include "core/arith_resample.h"
#include "tests/unit/codegen_fixture.h"
#include "xpu_codegen/choose/rules.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

static xpu_value bytes_in(bench *b, int rank, const int64_t *dims) {
    return bench_input(b, NULL, XPU_U8, rank, dims);
}

static xpu_value zeros(bench *b, xpu_dtype dtype, int rank, const int64_t *dims) {
    xpu_tensor tensor = {.dtype = dtype, .rank = rank};
    memcpy(tensor.dims, dims, (size_t)rank * sizeof *dims);
    tensor.data = XPU_NEW_ARRAY(b->arena, uint8_t, xpu_tensor_bytes(&tensor) + 1);
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

static xpu_value node_of(bench *b, xpu_op_id op, const xpu_value *x, uint32_t count, const xpu_attr *attrs,
                         uint32_t attr_count) {
    return xpu_node_output(b->graph, bench_node(b, op, x, count, attrs, attr_count), 0);
}

/* ---- what rules refuse ---- */

/* A move of elements in more dims than copies have. */
static xpu_value moved(bench *b, xpu_op_id op) {
    xpu_value x = input(b, NULL, DIMS(2, 2, 2, 2, 2, 2, 2));
    xpu_dim ones[7], twos[7];
    for (int i = 0; i < 7; i++)
        ones[i] = xpu_dim_const(&b->graph->dims, 1), twos[i] = xpu_dim_const(&b->graph->dims, 2);
    const xpu_attr slice[] = {XPU_ATTR_DIMS_OF(STARTS, ones, 7), XPU_ATTR_DIMS_OF(SHAPE, ones, 7),
                              INTS(BY, 1, 1, 1, 1, 1, 1, 1)};
    const xpu_attr pad[] = {INTS(PADS, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1), XPU_ATTR_STRING_OF(MODE, "constant")};
    switch (op) {
    case XPU_OP_TRANSPOSE: return node1(b, op, x, &INTS(PERM, 6, 5, 4, 3, 2, 1, 0), 1);
    case XPU_OP_CONCAT: return node2(b, op, x, x, &XPU_ATTR_INT_OF(AXIS, 3), 1);
    case XPU_OP_SLICE: return node1(b, op, x, slice, 3);
    case XPU_OP_EXPAND: return node1(b, op, input(b, NULL, DIMS(1)), &XPU_ATTR_DIMS_OF(SHAPE, twos, 7), 1);
    case XPU_OP_PAD: return node1(b, op, x, pad, 2);
    default: return node1(b, op, x, NULL, 0);
    }
}

static xpu_value pad_reflected(bench *b, xpu_op_id op) {
    const xpu_attr attrs[] = {INTS(PADS, -1, 1), XPU_ATTR_STRING_OF(MODE, "reflect")};
    return node1(b, op, input(b, NULL, DIMS(5)), attrs, 2);
}

static xpu_value pad_words(bench *b, xpu_op_id op) {
    const xpu_attr attrs[] = {INTS(PADS, 1, 1), XPU_ATTR_STRING_OF(MODE, "constant"), XPU_ATTR_FLOAT_OF(VALUE, 7)};
    return node1(b, op, bench_input(b, NULL, XPU_I64, DIMS(5)), attrs, 3);
}

static xpu_value leading_dims(bench *b, xpu_op_id op) {
    return node2(b, op, input(b, NULL, DIMS(2, 1, 3, 4)), input(b, NULL, DIMS(1, 5, 4, 3)), NULL, 0);
}

static xpu_value computed_filter(bench *b, xpu_op_id op) {
    return node2(b, op, input(b, NULL, DIMS(1, 2, 4, 4)), input(b, NULL, DIMS(3, 2, 1, 1)), NULL, 0);
}

static xpu_value odd_channels(bench *b, xpu_op_id op) {
    const xpu_attr window = INTS(KERNEL, 2, 2), pool[] = {XPU_ATTR_INT_OF(DTYPE, XPU_U8), XPU_ATTR_FLOAT_OF(X_SCALE, 1),
                                                          XPU_ATTR_FLOAT_OF(Y_SCALE, 1)};
    xpu_value x = bytes_in(b, DIMS(1, 6, 8, 8));
    return op == XPU_OP_MAX_POOL ? node1(b, op, x, &window, 1) : node1(b, op, x, pool, 3);
}

static xpu_value volume(bench *b, xpu_op_id op) {
    const xpu_attr pool[] = {XPU_ATTR_INT_OF(DTYPE, XPU_U8), XPU_ATTR_FLOAT_OF(X_SCALE, 1),
                             XPU_ATTR_FLOAT_OF(Y_SCALE, 1)};
    if (op == XPU_OP_GLOBAL_AVERAGE_POOL) return node1(b, op, input(b, NULL, DIMS(1, 4, 2, 2, 2)), NULL, 0);
    return node1(b, op, bytes_in(b, DIMS(1, 4, 2, 2, 2)), pool, 3);
}

static xpu_value many_loops(bench *b, xpu_op_id op) {
    (void)op;
    return step2(b, XPU_EW_add, input(b, NULL, DIMS(2, 2, 2, 2, 2)), input(b, NULL, DIMS(2, 1, 2, 1, 2)));
}

static xpu_value many_values(bench *b, xpu_op_id op) { /* nine exponentials are made first and multiplied then */
    xpu_chain chain = {.input_count = 1, .step_count = 17};
    for (uint8_t s = 0; s < 9; s++) chain.steps[s] = (xpu_chain_step){.op = XPU_EW_exp, .operands = {s}};
    for (uint8_t s = 9; s < 17; s++) {
        chain.steps[s] = (xpu_chain_step){.op = XPU_EW_mul, .operands = {s, (uint8_t)(s == 9 ? 8 : 17 - s)}};
    }
    return node1(b, op, input(b, NULL, DIMS(4)), &XPU_ATTR_CHAIN_OF(STEPS, &chain), 1);
}

/* A quantised product of two groups; `w`: {0}: a constant. */
static xpu_value product(bench *b, xpu_op_id op, xpu_value w, xpu_dtype dtype, int64_t w_zero) {
    const int is_conv = op == XPU_OP_QCONV;
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, dtype),     XPU_ATTR_INT_OF(W_ZERO, w_zero),
                              XPU_ATTR_INT_OF(Y_LOW, 0),         XPU_ATTR_INT_OF(Y_HIGH, 255),
                              XPU_ATTR_FLOAT_OF(X_FACTOR, 1.0f), XPU_ATTR_INT_OF(GROUP, 2)};
    if (!w.id) w = is_conv ? zeros(b, XPU_I8, DIMS(8, 4, 3, 3)) : zeros(b, XPU_I8, DIMS(8, 8));
    xpu_value x = is_conv ? bytes_in(b, DIMS(1, 8, 9, 9)) : bytes_in(b, DIMS(3, 8));
    xpu_value operands[XPU_IN_WSCALE + 1] = {[XPU_IN_X] = x, [XPU_IN_W] = w};
    if (dtype == XPU_U8) operands[XPU_IN_WSCALE] = constant(b, DIMS(8));
    return node_of(b, op, operands, dtype == XPU_U8 ? XPU_IN_WSCALE + 1 : 2, attrs, is_conv ? 6 : 5);
}

static xpu_value computed_weights(bench *b, xpu_op_id op) {
    xpu_value w = op == XPU_OP_QCONV ? bytes_in(b, DIMS(8, 4, 3, 3)) : bytes_in(b, DIMS(8, 8));
    return product(b, op, w, XPU_U8, 0);
}

static xpu_value sums(bench *b, xpu_op_id op) {
    return product(b, op, (xpu_value){0}, XPU_I32, 0);
}

static xpu_value asymmetric(bench *b, xpu_op_id op) {
    return product(b, op, (xpu_value){0}, XPU_U8, 3);
}

static xpu_value plain(bench *b, xpu_op_id op) {
    return product(b, op, (xpu_value){0}, XPU_U8, 0);
}

static xpu_value matrices(bench *b, xpu_op_id op) {
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, XPU_U8), XPU_ATTR_INT_OF(Y_HIGH, 255)};
    xpu_value operands[XPU_IN_WSCALE + 1] = {[XPU_IN_X] = bytes_in(b, DIMS(2, 3, 8)),
                                             [XPU_IN_W] = zeros(b, XPU_I8, DIMS(2, 8, 8)),
                                             [XPU_IN_WSCALE] = constant(b, DIMS(8))};
    return node_of(b, op, operands, XPU_IN_WSCALE + 1, attrs, 2);
}

static xpu_value pair_of(bench *b, xpu_op_id op, xpu_value x, xpu_value y) {
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, XPU_U8), XPU_ATTR_INT_OF(Y_HIGH, 255)};
    return node2(b, op, x, y, attrs, 2);
}

static xpu_value broadcast(bench *b, xpu_op_id op) {
    return pair_of(b, op, bytes_in(b, DIMS(2, 4)), bytes_in(b, DIMS(2, 1)));
}

static xpu_value converted(bench *b, xpu_op_id op, xpu_dtype dtype, xpu_value scale) {
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(AXIS, 1), XPU_ATTR_INT_OF(DTYPE, dtype)};
    int quantizes = op == XPU_OP_QUANTIZE;
    xpu_value x = bench_input(b, NULL, quantizes ? XPU_F32 : dtype, DIMS(2, 4));
    return node2(b, op, x, scale, attrs, quantizes ? 2 : 1);
}

static xpu_value many_scales(bench *b, xpu_op_id op) {
    return converted(b, op, XPU_U8, constant(b, DIMS(4)));
}

static xpu_value words(bench *b, xpu_op_id op) {
    return converted(b, op, XPU_I16, xpu_graph_const_f32(b->graph, NULL, 0.5f));
}

static xpu_value repeated(bench *b, xpu_op_id op) {
    return node1(b, op, input(b, NULL, DIMS(2, 2, 2, 2)), &INTS(REPEATS, 2, 2, 2, 2), 1);
}

/* Along dim 2, by linear interpolation that looks at all elements. */
static xpu_value resampled(bench *b, xpu_value x, int64_t size) {
    const xpu_dim shape = xpu_dim_const(&b->graph->dims, size);
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(AXIS, 2), XPU_ATTR_DIMS_OF(SHAPE, &shape, 1),
                              XPU_ATTR_INT_OF(KIND, XA_LINEAR), XPU_ATTR_INT_OF(ANTIALIAS, 1)};
    return node1(b, XPU_OP_RESAMPLE, x, attrs, 4);
}

static xpu_value many_taps(bench *b, xpu_op_id op) {
    (void)op;
    return resampled(b, input(b, NULL, DIMS(1, 4, 4000, 2)), 1);
}

static xpu_value large(bench *b, xpu_op_id op) {
    return node1(b, op, input(b, NULL, DIMS(1 << 16, 1 << 16)), NULL, 0);
}

/* Something is made of an image of no rows, of no channels, or of no elements. */
static xpu_value empty(bench *b, xpu_op_id op) {
    const xpu_dim none = xpu_dim_symbol(&b->graph->dims, "H", 0, 9, 1), four = xpu_dim_const(&b->graph->dims, 4);
    const xpu_dim image[] = {xpu_dim_const(&b->graph->dims, 1), four, none, four}, columns[] = {four, none};
    const xpu_attr pads = INTS(PADS, 2, 2, 2, 2), window[] = {pads, INTS(KERNEL, 3, 3)};
    const xpu_attr bytes[] = {XPU_ATTR_INT_OF(DTYPE, XPU_U8), XPU_ATTR_INT_OF(Y_HIGH, 255), pads};
    const int is_byte = op == XPU_OP_QCONV || op == XPU_OP_QGLOBAL_AVERAGE_POOL;
    xpu_value x = xpu_graph_input(b->graph, NULL, is_byte ? XPU_U8 : XPU_F32, 4, image);
    xpu_value operands[XPU_IN_WSCALE + 1] = {[XPU_IN_X] = x, [XPU_IN_WSCALE] = constant(b, DIMS(4))};
    switch (op) {
    case XPU_OP_CONV: return node2(b, op, x, constant(b, DIMS(4, 4, 3, 3)), &pads, 1);
    case XPU_OP_MATMUL: /* without the bias it would be zeros */
        operands[XPU_IN_X] = xpu_graph_input(b->graph, NULL, XPU_F32, 2, columns);
        operands[XPU_IN_W] = xpu_graph_input(b->graph, NULL, XPU_F32, 2, (xpu_dim[]){none, four});
        operands[XPU_IN_BIAS] = constant(b, DIMS(4));
        return node_of(b, op, operands, XPU_IN_BIAS + 1, NULL, 0);
    case XPU_OP_RECURRENT: /* no step: the states are results, too */
        operands[XPU_IN_X] = xpu_graph_input(b->graph, NULL, XPU_F32, 3, (xpu_dim[]){none, four, four});
        operands[XPU_IN_W] = constant(b, DIMS(1, 4));
        return xpu_node_output(
            b->graph, xpu_graph_add(b->graph, (xpu_node){0}, xpu_op_of(op), operands, 2, NULL, 3, NULL, 0, NULL, 0), 0);
    case XPU_OP_QCONV:
        operands[XPU_IN_W] = zeros(b, XPU_I8, DIMS(4, 4, 3, 3));
        return node_of(b, op, operands, XPU_IN_WSCALE + 1, bytes, 3);
    case XPU_OP_QMATMUL:
        operands[XPU_IN_X] = bytes_in(b, DIMS(3, 0));
        operands[XPU_IN_W] = zeros(b, XPU_I8, DIMS(0, 4));
        return node_of(b, op, operands, XPU_IN_WSCALE + 1, bytes, 2);
    case XPU_OP_MAX_POOL:
    case XPU_OP_AVERAGE_POOL: return node1(b, op, x, window, 2);
    case XPU_OP_QGLOBAL_AVERAGE_POOL: return node1(b, op, x, bytes, 1);
    case XPU_OP_RESAMPLE: return resampled(b, x, 3);
    case XPU_OP_DYNAMIC_QUANTIZE:
        return xpu_node_output(
            b->graph, xpu_graph_add(b->graph, (xpu_node){0}, xpu_op_of(op), &x, 1, NULL, 3, NULL, 0, NULL, 0), 0);
    default: return node1(b, op, x, NULL, 0);
    }
}

static const struct {
    xpu_op_id op;
    const char *rule;
    xpu_value (*make)(bench *b, xpu_op_id op);
    uint64_t sm_bytes; /* of the chip; 0: as it is */
} refusals[] = {
    {XPU_OP_IDENTITY, "tensor-size", large, 0},
    {XPU_OP_CONV, "empty-operand", empty, 0},
    {XPU_OP_MATMUL, "empty-operand", empty, 0},
    {XPU_OP_RECURRENT, "empty-operand", empty, 0},
    {XPU_OP_MAX_POOL, "empty-operand", empty, 0},
    {XPU_OP_AVERAGE_POOL, "empty-operand", empty, 0},
    {XPU_OP_GLOBAL_AVERAGE_POOL, "empty-operand", empty, 0},
    {XPU_OP_QCONV, "empty-operand", empty, 0},
    {XPU_OP_QMATMUL, "empty-operand", empty, 0},
    {XPU_OP_QGLOBAL_AVERAGE_POOL, "empty-operand", empty, 0},
    {XPU_OP_DYNAMIC_QUANTIZE, "empty-operand", empty, 0},
    {XPU_OP_RESAMPLE, "empty-operand", empty, 0},
    {XPU_OP_RESAMPLE, "resample-taps", many_taps, 0},
    {XPU_OP_REPEAT, "repeat-rank", repeated, 0},
    {XPU_OP_CONV, "constant-weights", computed_filter, 0},
    {XPU_OP_MATMUL, "matmul-leading-dims", leading_dims, 0},
    {XPU_OP_MAX_POOL, "none", odd_channels, 0},
    {XPU_OP_GLOBAL_AVERAGE_POOL, "pool-rank", volume, 0},
    {XPU_OP_IDENTITY, "move-rank", moved, 0},
    {XPU_OP_TRANSPOSE, "move-rank", moved, 0},
    {XPU_OP_CONCAT, "move-rank", moved, 0},
    {XPU_OP_SLICE, "move-rank", moved, 0},
    {XPU_OP_EXPAND, "move-rank", moved, 0},
    {XPU_OP_PAD, "move-rank", moved, 0},
    {XPU_OP_PAD, "pad-inside", pad_reflected, 0},
    {XPU_OP_PAD, "pad-word", pad_words, 0},
    {XPU_OP_CHAIN, "chain-loops", many_loops, 0},
    {XPU_OP_CHAIN, "chain-values", many_values, 0},
    {XPU_OP_QCONV, "constant-weights", computed_weights, 0},
    {XPU_OP_QCONV, "rescaled", sums, 0},
    {XPU_OP_QCONV, "symmetric-groups", asymmetric, 0},
    {XPU_OP_QCONV, "tensor-tile", plain, 64},
    {XPU_OP_QCONV, "none", plain, 0},
    {XPU_OP_QMATMUL, "constant-weights", computed_weights, 0},
    {XPU_OP_QMATMUL, "single-matrix", matrices, 0},
    {XPU_OP_QMATMUL, "rescaled", sums, 0},
    {XPU_OP_QMATMUL, "tensor-tile", plain, 64},
    {XPU_OP_QMATMUL, "none", plain, 0},
    {XPU_OP_QGLOBAL_AVERAGE_POOL, "none", odd_channels, 0},
    {XPU_OP_QGLOBAL_AVERAGE_POOL, "pool-rank", volume, 0},
    {XPU_OP_QADD, "same-shape", broadcast, 0},
    {XPU_OP_QMUL, "same-shape", broadcast, 0},
    {XPU_OP_QUANTIZE, "one-scale", many_scales, 0},
    {XPU_OP_QUANTIZE, "bytes", words, 0},
    {XPU_OP_DEQUANTIZE, "one-scale", many_scales, 0},
    {XPU_OP_DEQUANTIZE, "bytes", words, 0},
};
enum { REFUSALS = sizeof refusals / sizeof *refusals };

static void rules_refuse(void) {
    for (volatile size_t i = 0; i < REFUSALS; i++) {
        BENCH_OPEN(b);
        work w;
        xpu_partition partition;
        xpu_codegen *cg = work_start(&b, &w, "standard", "auto");
        if (refusals[i].sm_bytes) cg->chip.sm_bytes = XPU_MAILBOX_BYTES * XPU_MAX_CORES + refusals[i].sm_bytes;
        xpu_node node = maker(&b, refusals[i].make(&b, refusals[i].op));
        CU_ASSERT_EQUAL(xpu_op_infer(b.graph, node, &b.diags), XPU_OK);
        bench_print(&b);
        CU_ASSERT_EQUAL(xpu_partition_check(&w.job, &xpu_sim_target, &partition), XPU_OK);
        const xpu_refusal *refusal = xpu_partition_refusal(&partition, node);
        const char *rule = refusal ? refusal->rule : "none";
        if (strcmp(rule, refusals[i].rule) != 0)
            printf("%s, %s: %s\n", xpu_op_of(refusals[i].op)->name, refusals[i].rule, rule);
        CU_ASSERT_STRING_EQUAL(rule, refusals[i].rule);
        bench_close(&b);
    }
}

/* Each rule of each row has a case above; for the size, which all share, one operator stands for them. */
static void rules_have_cases(void) {
    for (const xpu_support *row = xpu_sim_support; row->lowering; row++) {
        for (const xpu_rule *const *rule = row->rules; *rule; rule++) {
            int found = 0;
            for (size_t i = 0; i < REFUSALS; i++) {
                found |= (refusals[i].op == row->op || strcmp((*rule)->id, "tensor-size") == 0) &&
                         strcmp(refusals[i].rule, (*rule)->id) == 0;
            }
            if (!found) printf("%s, %s\n", xpu_op_of(row->op)->name, (*rule)->id);
            CU_ASSERT(found);
        }
    }
}

/* ---- where images lie ---- */

static xpu_value image(bench *b) {
    return conv(b, input(b, NULL, DIMS(1, 4, 8, 8)), 4, 4, 3, 1);
}

static xpu_value byte_image(bench *b) {
    return product(b, XPU_OP_QCONV, (xpu_value){0}, XPU_U8, 0);
}

/* The operator over an image, channel-last, and perhaps something row-major. */
static xpu_value over_image(bench *b, xpu_op_id op) {
    const xpu_attr axis = XPU_ATTR_INT_OF(AXIS, 2), perm = INTS(PERM, 0, 1, 3, 2), window = INTS(KERNEL, 2, 2);
    const xpu_attr pads = INTS(PADS, 0, 0, 1, 1, 0, 0, 1, 1);
    const xpu_attr bytes[] = {XPU_ATTR_INT_OF(DTYPE, XPU_U8), XPU_ATTR_INT_OF(Y_HIGH, 255)};
    const xpu_attr mean[] = {bytes[0], XPU_ATTR_FLOAT_OF(X_SCALE, 1), XPU_ATTR_FLOAT_OF(Y_SCALE, 1)};
    xpu_dim starts[4], sizes[4];
    for (int i = 0; i < 4; i++) {
        starts[i] = xpu_dim_const(&b->graph->dims, i > 1);
        sizes[i] = xpu_dim_const(&b->graph->dims, (int64_t[]){1, 4, 3, 3}[i]);
    }
    const xpu_attr box[] = {XPU_ATTR_DIMS_OF(STARTS, starts, 4), XPU_ATTR_DIMS_OF(SHAPE, sizes, 4),
                            INTS(BY, 1, 1, 1, 1)};
    const xpu_attr wide = XPU_ATTR_DIMS_OF(
        SHAPE, ((xpu_dim[]){sizes[1], sizes[1], xpu_dim_const(&b->graph->dims, 6), xpu_dim_const(&b->graph->dims, 6)}),
        4);
    const xpu_value half = xpu_graph_const_f32(b->graph, NULL, 0.5f);
    xpu_value y;
    switch (op) {
    case XPU_OP_TRANSPOSE: return node1(b, op, image(b), &perm, 1);
    case XPU_OP_PAD: return node1(b, op, image(b), &pads, 1);
    case XPU_OP_REPEAT: return node1(b, op, image(b), &INTS(REPEATS, 1, 1, 2, 1), 1);
    case XPU_OP_RESAMPLE: return resampled(b, image(b), 4);
    case XPU_OP_SLICE: return node1(b, op, image(b), box, 3);
    case XPU_OP_EXPAND: return node1(b, op, image(b), &wide, 1);
    case XPU_OP_CONCAT: return node2(b, op, input(b, NULL, DIMS(1, 4, 6, 6)), image(b), &axis, 1);
    case XPU_OP_GATHER: return node2(b, op, image(b), zeros(b, XPU_I64, DIMS(3)), &axis, 1);
    case XPU_OP_MATMUL: return node2(b, op, image(b), constant(b, DIMS(6, 5)), NULL, 0);
    case XPU_OP_AVERAGE_POOL: return node1(b, op, image(b), &window, 1);
    case XPU_OP_QUANTIZE: return node2(b, op, image(b), half, bytes, 1);
    case XPU_OP_DYNAMIC_QUANTIZE:
        y = image(b);
        y = xpu_node_output(b->graph,
                            xpu_graph_add(b->graph, (xpu_node){0}, xpu_op_of(op), &y, 1, NULL, 3, NULL, 0, NULL, 0), 0);
        xpu_op_infer(b->graph, maker(b, y), &b->diags);
        return y;
    case XPU_OP_ROTARY: {
        const xpu_value rows[] = {image(b), constant(b, DIMS(6, 6)), constant(b, DIMS(6, 6))};
        return node_of(b, op, rows, 3, NULL, 0);
    }
    case XPU_OP_INTERLEAVE: {
        const xpu_dim six = xpu_dim_const(&b->graph->dims, 6);
        const xpu_attr one_phase[] = {INTS(STRIDES, 1, 1), INTS(CROP, 0, 0), INTS(PHASES, 0, 1, 0, 1),
                                      XPU_ATTR_DIMS_OF(SHAPE, ((xpu_dim[]){six, six}), 2)};
        return node1(b, op, image(b), one_phase, 4);
    }
    case XPU_OP_ATTENTION: {
        const xpu_value keys = constant(b, DIMS(1, 4, 5, 6)), operands[] = {image(b), keys, keys};
        return node_of(b, op, operands, 3, &XPU_ATTR_FLOAT_OF(SCALE, 1), 1);
    }
    case XPU_OP_DEQUANTIZE: return node2(b, op, byte_image(b), half, NULL, 0);
    case XPU_OP_LOOKUP: return node2(b, op, byte_image(b), zeros(b, XPU_U8, DIMS(256)), NULL, 0);
    case XPU_OP_QADD:
    case XPU_OP_QMUL: return pair_of(b, op, bytes_in(b, DIMS(1, 8, 7, 7)), byte_image(b));
    case XPU_OP_QGLOBAL_AVERAGE_POOL: return node1(b, op, byte_image(b), mean, 3);
    case XPU_OP_MAX_POOL: return node1(b, op, byte_image(b), &window, 1);
    case XPU_OP_QMATMUL: {
        xpu_value operands[XPU_IN_WSCALE + 1] = {[XPU_IN_X] = byte_image(b),
                                                 [XPU_IN_W] = zeros(b, XPU_I8, DIMS(7, 8)),
                                                 [XPU_IN_WSCALE] = constant(b, DIMS(8))};
        return node_of(b, op, operands, XPU_IN_WSCALE + 1, bytes, 2);
    }
    default:
        return node1(b, op, image(b), &axis,
                     op != XPU_OP_IDENTITY && op != XPU_OP_GLOBAL_AVERAGE_POOL && op != XPU_OP_NONZERO_COUNTS);
    }
}

/* How the images that a node reads and makes lie: C channel-last, L row-major. */
static const char *lies(bench *b, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(b->graph, node);
    xpu_text text;
    xpu_text_init(&text, b->arena);
    for (uint32_t i = 0; i < info->input_count + info->output_count; i++) {
        int is_input = i < info->input_count;
        if (i == info->input_count) xpu_text_add(&text, ">");
        xpu_value value = is_input ? info->inputs[i] : info->outputs[i - info->input_count];
        if (!value.id || xpu_value_at(b->graph, value)->rank != 4) continue;
        if (xpu_value_at(b->graph, value)->kind == XPU_VALUE_CONST) continue;
        xpu_text_add(&text, "%c", xpu_value_at(b->graph, value)->layout == XPU_LAYOUT_LINEAR ? 'L' : 'C');
    }
    return text.text;
}

static void images_lie(void) {
    static const struct {
        xpu_op_id op;
        const char *expected;
    } cases[] = {
        {XPU_OP_IDENTITY, "L>L"},
        {XPU_OP_SOFTMAX, "C>C"},
        {XPU_OP_TRANSPOSE, "C>C"},
        {XPU_OP_PAD, "C>C"},
        {XPU_OP_SLICE, "C>C"},
        {XPU_OP_CONCAT, "LC>C"},
        {XPU_OP_EXPAND, "L>L"},
        {XPU_OP_GATHER, "L>L"},
        {XPU_OP_MATMUL, "L>L"},
        {XPU_OP_REDUCE_SUM, "C>C"},
        {XPU_OP_REDUCE_MEAN, "C>C"},
        {XPU_OP_REDUCE_MAX, "C>C"},
        {XPU_OP_REDUCE_MIN, "C>C"},
        {XPU_OP_REDUCE_PROD, "C>C"},
        {XPU_OP_AVERAGE_POOL, "C>C"},
        {XPU_OP_MAX_POOL, "C>C"},
        {XPU_OP_QUANTIZE, "C>C"},
        {XPU_OP_DYNAMIC_QUANTIZE, "C>C"},
        {XPU_OP_DEQUANTIZE, "C>C"},
        {XPU_OP_LOOKUP, "C>C"},
        {XPU_OP_QADD, "CC>C"},
        {XPU_OP_QMUL, "CC>C"},
        {XPU_OP_QGLOBAL_AVERAGE_POOL, "C>C"},
        {XPU_OP_QMATMUL, "L>L"},
        {XPU_OP_REPEAT, "C>C"},
        {XPU_OP_RESAMPLE, "C>C"},
        {XPU_OP_NONZERO_COUNTS, "L>"},
        {XPU_OP_GLOBAL_AVERAGE_POOL, "C>C"},
        {XPU_OP_ROTARY, "L>L"},
        {XPU_OP_ATTENTION, "L>L"},
    };
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        work w;
        xpu_value y = over_image(&b, cases[i].op);
        xpu_node node = maker(&b, y);
        const xpu_attr window = INTS(KERNEL, 1, 1);
        int is_image = xpu_value_at(b.graph, y)->rank == 4;
        xpu_graph_output(b.graph, is_image ? node1(&b, XPU_OP_MAX_POOL, y, &window, 1) : y); /* reads it channel-last */
        if (cases[i].op == XPU_OP_IDENTITY) xpu_graph_output(b.graph, y);
        work_start(&b, &w, "standard", "fp32");
        work_prepare(&b, &w);
        if (strcmp(lies(&b, node), cases[i].expected) != 0)
            printf("%s: %s\n", xpu_op_of(cases[i].op)->name, lies(&b, node));
        CU_ASSERT_STRING_EQUAL(lies(&b, node), cases[i].expected);
        bench_close(&b);
    }
}

/* What nobody reads as an image stays row-major; so do scaled rows, and what a branch is chosen by. */
static void rows_lie(void) {
    BENCH_OPEN(b);
    work w;
    xpu_value turned = node1(&b, XPU_OP_TRANSPOSE, input(&b, NULL, DIMS(1, 4, 8, 9)), &INTS(PERM, 0, 3, 2, 1), 1);
    xpu_value read = node1(&b, XPU_OP_SOFTMAX, turned, &XPU_ATTR_INT_OF(AXIS, 1), 1);
    xpu_value scaled = node2(&b, XPU_OP_MATMUL, image(&b), constant(&b, DIMS(6, 5)), NULL, 0);
    xpu_value chosen = step2(&b, XPU_EW_less, image(&b), xpu_graph_const_f32(b.graph, NULL, 0));
    for (int axis = 1; axis < 4; axis++) chosen = node1(&b, XPU_OP_REDUCE_MAX, chosen, &XPU_ATTR_INT_OF(AXIS, axis), 1);
    xpu_node branch =
        xpu_graph_add(b.graph, (xpu_node){0}, xpu_op_of(XPU_OP_IF), &chosen, 1, NULL, 1, NULL, 0, NULL, 0);
    for (int i = 0; i < 2; i++) {
        xpu_block body = xpu_graph_block(b.graph, branch);
        xpu_block_add_result(b.graph, body, read);
    }
    CU_ASSERT_EQUAL(xpu_op_infer(b.graph, branch, &b.diags), XPU_OK);
    xpu_graph_output(b.graph, scaled);
    xpu_graph_output(b.graph, step1(&b, XPU_EW_neg, xpu_node_output(b.graph, branch, 0)));
    work_start(&b, &w, "standard", "int16");
    work_prepare(&b, &w);
    CU_ASSERT_STRING_EQUAL(lies(&b, maker(&b, turned)), "L>L");
    CU_ASSERT_EQUAL(xpu_value_at(b.graph, xpu_node_output(b.graph, branch, 0))->layout, XPU_LAYOUT_LINEAR);
    CU_ASSERT_EQUAL(count_ops(&b, XPU_OP_ROW_SCALE), 1);
    XPU_FOR_ALL_NODES(b.graph, node) {
        if (xpu_node_is(b.graph, node, XPU_OP_ROW_SCALE)) CU_ASSERT_STRING_EQUAL(lies(&b, node), "L>LL");
    }
    bench_close(&b);
}

/* ---- which operators hand on what a logarithm looks at closely ---- */

static void linear_operators(void) {
    static const xpu_op_id ops[] = {
        XPU_OP_TRANSPOSE, XPU_OP_PAD,        XPU_OP_SLICE,       XPU_OP_EXPAND,  XPU_OP_CONCAT,     XPU_OP_AVERAGE_POOL,
        XPU_OP_MATMUL,    XPU_OP_REDUCE_SUM, XPU_OP_REDUCE_MEAN, XPU_OP_SOFTMAX, XPU_OP_REDUCE_MAX, XPU_OP_CHAIN,
        XPU_OP_RESHAPE,   XPU_OP_REPEAT,     XPU_OP_RESAMPLE,    XPU_OP_ROTARY,  XPU_OP_INTERLEAVE};
    for (volatile size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        BENCH_OPEN(b);
        work w;
        xpu_value y;
        xpu_chain chain = {.input_count = 1, .step_count = 2};
        chain.steps[0] = (xpu_chain_step){.op = XPU_EW_convert, .dtype = XPU_F16};
        chain.steps[1] = (xpu_chain_step){.op = XPU_EW_convert, .operands = {1}, .dtype = XPU_F32};
        const xpu_dim flat[] = {xpu_dim_const(&b.graph->dims, 144)};
        if (ops[i] == XPU_OP_CHAIN)
            y = node1(&b, ops[i], image(&b), &XPU_ATTR_CHAIN_OF(STEPS, &chain), 1);
        else if (ops[i] == XPU_OP_RESHAPE)
            y = node1(&b, ops[i], image(&b), &XPU_ATTR_DIMS_OF(SHAPE, flat, 1), 1);
        else
            y = over_image(&b, ops[i]);
        xpu_graph_output(b.graph, step1(&b, XPU_EW_log, y));
        xpu_node first = {0};
        XPU_FOR_ALL_NODES(b.graph, node) {
            if (xpu_node_is(b.graph, node, XPU_OP_CONV)) first = node;
        }
        work_start(&b, &w, "standard", "auto");
        work_prepare(&b, &w);
        int keeps = ops[i] != XPU_OP_SOFTMAX && ops[i] != XPU_OP_REDUCE_MAX;
        int64_t precision = xpu_node_int(b.graph, first, XPU_ATTR_PRECISION);
        if (precision != (keeps ? XPU_PRECISION_FP32 : XPU_PRECISION_INT16)) printf("%s\n", xpu_op_of(ops[i])->name);
        CU_ASSERT_EQUAL(precision, keeps ? XPU_PRECISION_FP32 : XPU_PRECISION_INT16);
        bench_close(&b);
    }
}

XPU_TEST_MAIN("rows of the XPU target", {"rules refuse", rules_refuse}, {"rules have cases", rules_have_cases},
              {"images lie", images_lie}, {"rows lie", rows_lie}, {"linear operators", linear_operators})
