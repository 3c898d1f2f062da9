/* Rows of the XPU target: what each rule of each operator refuses, and which layouts come behind each operator. */
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
    return pair_of(b, op, bytes_in(b, DIMS(2, 4)), bytes_in(b, DIMS(4)));
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
    case XPU_OP_MATMUL:
        x = xpu_graph_input(b->graph, NULL, XPU_F32, 2, columns);
        return node2(b, op, x, xpu_graph_input(b->graph, NULL, XPU_F32, 2, (xpu_dim[]){none, four}), NULL, 0);
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
    {XPU_OP_CONV, "empty-operand", empty, 0},
    {XPU_OP_MATMUL, "empty-operand", empty, 0},
    {XPU_OP_MAX_POOL, "empty-operand", empty, 0},
    {XPU_OP_AVERAGE_POOL, "empty-operand", empty, 0},
    {XPU_OP_GLOBAL_AVERAGE_POOL, "empty-operand", empty, 0},
    {XPU_OP_QCONV, "empty-operand", empty, 0},
    {XPU_OP_QMATMUL, "empty-operand", empty, 0},
    {XPU_OP_QGLOBAL_AVERAGE_POOL, "empty-operand", empty, 0},
    {XPU_OP_DYNAMIC_QUANTIZE, "empty-operand", empty, 0},
    {XPU_OP_CONV, "constant-weights", computed_filter, 0},
    {XPU_OP_MATMUL, "matmul-leading-dims", leading_dims, 0},
    {XPU_OP_MAX_POOL, "whole-words", odd_channels, 0},
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
    {XPU_OP_QGLOBAL_AVERAGE_POOL, "whole-words", odd_channels, 0},
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

/* Each rule of each row but those that hold for all operators alike has a case above. */
static void rules_have_cases(void) {
    for (const xpu_support *row = xpu_sim_support; row->lowering; row++) {
        for (const xpu_rule *const *rule = row->rules; *rule; rule++) {
            int found = strcmp((*rule)->id, "known-dims") == 0 || strcmp((*rule)->id, "tensor-size") == 0;
            for (size_t i = 0; i < REFUSALS; i++) {
                found |= refusals[i].op == row->op && strcmp(refusals[i].rule, (*rule)->id) == 0;
            }
            if (!found) printf("%s, %s\n", xpu_op_of(row->op)->name, (*rule)->id);
            CU_ASSERT(found);
        }
    }
}

XPU_TEST_MAIN("rows of the XPU target", {"rules refuse", rules_refuse}, {"rules have cases", rules_have_cases})
