/* Which attention is one layer, and what of it goes into that. */
#include "tests/unit/codegen_fixture.h"

enum { BATCH = 2, ROWS = 40, KEYS = 48 };

/* What stands between scores and softmax, besides a factor of 1/4, which is not there where they are ALONE. */
typedef enum { ALONE, NOTHING, DIVISION, MASK, MASK_OF_HEADS, MASK_OF_KEYS, OTHER_MASK, SUM, FACTOR_BEHIND } between;

static const struct {
    const char *why;
    int64_t inner, width;
    between between;
    const char *precision;
    int plain_keys, read_twice, rows; /* keys that are not transposed; scores that something else reads */
    uint32_t joined;
    const char *chip; /* NULL: standard */
} cases[] = {
    {"narrow heads", 8, 8, NOTHING, "auto", 0, 0, ROWS, 1},
    {"no factor", 8, 8, ALONE, "auto", 0, 0, ROWS, 1},
    {"scores without a factor that somebody else reads", 8, 8, ALONE, "auto", 0, 1, ROWS, 0},
    {"a divisor", 8, 8, DIVISION, "auto", 0, 0, ROWS, 1},
    {"a mask", 8, 8, MASK, "auto", 0, 0, ROWS, 1},
    {"a mask of each head", 8, 8, MASK_OF_HEADS, "auto", 0, 0, ROWS, 0},
    {"a mask of keys", 8, 8, MASK_OF_KEYS, "auto", 0, 0, ROWS, 0},
    {"a mask whose other value is computed", 8, 8, OTHER_MASK, "auto", 0, 0, ROWS, 0},
    {"a sum", 8, 8, SUM, "auto", 0, 0, ROWS, 0},
    {"a factor behind the mask", 8, 8, FACTOR_BEHIND, "auto", 0, 0, ROWS, 0},
    {"the widest of narrow heads", 32, 32, MASK, "auto", 0, 0, ROWS, 1},
    {"wide heads are faster in integers", 33, 32, MASK, "auto", 0, 0, ROWS, 0},
    {"wide values, too", 32, 33, MASK, "auto", 0, 0, ROWS, 0},
    {"but not in float32", 64, 100, MASK, "fp32", 0, 0, ROWS, 1},
    {"until LM has no room", 256, 257, MASK, "fp32", 0, 0, ROWS, 0},
    {"which is small on some chips", 40, 40, MASK, "fp32", 0, 0, ROWS, 0, "nano"},
    {"but not for all heads", 8, 8, MASK, "fp32", 0, 0, ROWS, 1, "nano"},
    {"who wants integers gets them", 8, 8, MASK, "int16", 0, 0, ROWS, 0},
    {"keys that stand as they are multiplied", 8, 8, MASK, "auto", 1, 0, ROWS, 0},
    {"scores that somebody else reads", 8, 8, MASK, "auto", 0, 1, ROWS, 0},
    {"few queries", 8, 8, MASK, "auto", 0, 0, 7, 0},
};

static xpu_value chain_of(bench *b, const xpu_value *inputs, uint32_t count, const xpu_chain *chain) {
    xpu_node node = bench_node(b, XPU_OP_CHAIN, inputs, count, &XPU_ATTR_CHAIN_OF(STEPS, chain), 1);
    return xpu_node_output(b->graph, node, 0);
}

static xpu_value add_between(bench *b, between kind, xpu_value scores, int64_t rows) {
    const float low = -1e9f, four = 4;
    const xpu_chain_step times = {.op = XPU_EW_mul_scalar, .operands = {0}, .immediates = {0.25f}};
    const xpu_tensor one = {.dtype = XPU_F32, .data = (void *)(kind == DIVISION ? &four : &low)};
    xpu_value number = xpu_graph_const_bytes(b->graph, NULL, &one);
    xpu_value inputs[3] = {scores, number, number};
    if (kind == ALONE) return scores;
    if (kind == NOTHING) return chain_of(b, inputs, 1, &(xpu_chain){1, 1, {times}});
    if (kind == DIVISION) return chain_of(b, inputs, 2, &(xpu_chain){2, 1, {{.op = XPU_EW_div, .operands = {0, 1}}}});
    if (kind == SUM) {
        inputs[1] = bench_input(b, "bias", XPU_F32, DIMS(rows, KEYS));
        return chain_of(b, inputs, 2, &(xpu_chain){2, 1, {{.op = XPU_EW_add, .operands = {0, 1}}}});
    }
    inputs[1] = kind == MASK_OF_HEADS  ? bench_input(b, "mask", XPU_BOOL, DIMS(BATCH, rows, KEYS))
                : kind == MASK_OF_KEYS ? bench_input(b, "mask", XPU_BOOL, DIMS(1, KEYS))
                                       : bench_input(b, "mask", XPU_BOOL, DIMS(rows, KEYS));
    if (kind == OTHER_MASK) inputs[2] = bench_input(b, "other", XPU_F32, 0, NULL);
    xpu_chain chain = {3, 2, {times, {.op = XPU_EW_where, .operands = {1, 3, 2}}}};
    if (kind == FACTOR_BEHIND) {
        chain.steps[0] = (xpu_chain_step){.op = XPU_EW_where, .operands = {1, 0, 2}};
        chain.steps[1] = times;
        chain.steps[1].operands[0] = 3;
    }
    return chain_of(b, inputs, 3, &chain);
}

static void joined(void) {
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        work w;
        const int64_t inner = cases[i].inner, rows = cases[i].rows, swapped[] = {0, 2, 1};
        xpu_value q = input(&b, "q", DIMS(BATCH, rows, inner)), k,
                  v = input(&b, "v", DIMS(BATCH, KEYS, cases[i].width));
        if (cases[i].plain_keys)
            k = input(&b, "k", DIMS(BATCH, inner, KEYS));
        else
            k = node1(&b, XPU_OP_TRANSPOSE, input(&b, "k", DIMS(BATCH, KEYS, inner)),
                      &XPU_ATTR_INTS_OF(PERM, swapped, 3), 1);
        xpu_value scores = node2(&b, XPU_OP_MATMUL, q, k, NULL, 0);
        if (cases[i].read_twice) xpu_graph_output(b.graph, scores);
        xpu_value e = add_between(&b, cases[i].between, scores, rows);
        e = node1(&b, XPU_OP_SOFTMAX, e, &XPU_ATTR_INT_OF(AXIS, 2), 1);
        xpu_value y = node2(&b, XPU_OP_MATMUL, e, v, NULL, 0);
        xpu_graph_output(b.graph, y);
        work_start(&b, &w, cases[i].chip ? cases[i].chip : "standard", cases[i].precision);
        work_prepare(&b, &w);
        uint32_t count = count_ops(&b, XPU_OP_ATTENTION);
        if (count != cases[i].joined) printf("%s: %u\n", cases[i].why, count);
        CU_ASSERT_EQUAL(count, cases[i].joined);
        CU_ASSERT_EQUAL(count_ops(&b, XPU_OP_TRANSPOSE) + count_ops(&b, XPU_OP_CHAIN) == 0, count == 1);
        if (count) {
            CU_ASSERT_EQUAL(xpu_node_float(b.graph, maker(&b, y), XPU_ATTR_SCALE),
                            cases[i].between == ALONE ? 1 : 0.25f);
            CU_ASSERT_EQUAL(xpu_node_float(b.graph, maker(&b, y), XPU_ATTR_VALUE),
                            cases[i].between == MASK ? -1e9f : 0);
        }
        bench_close(&b);
    }
}

XPU_TEST_MAIN("attention", {"joined", joined})
