/* Dims: canonical forms, bounds, evaluation against plain arithmetic. */
#include "core/ir/dim.h"
#include "tests/unit/ir.h"

/* Expressions in reverse Polish notation: numbers, N W H, and + * / % < (min) > (max). */
static xpu_dim parse(xpu_dims *dims, const char *text) {
    xpu_dim stack[32];
    int depth = 0;
    for (; *text; text++) {
        static const char operators[] = "+*/%<>";
        static const xpu_dim_kind kinds[] = {XPU_DIM_ADD, XPU_DIM_MUL, XPU_DIM_FLOORDIV,
                                             XPU_DIM_MOD, XPU_DIM_MIN, XPU_DIM_MAX};
        const char *found = strchr(operators, *text);
        if (*text == ' ') continue;
        if (found) {
            depth--;
            stack[depth - 1] = xpu_dim_op(dims, kinds[found - operators], stack[depth - 1], stack[depth]);
        } else if (*text == 'N') {
            stack[depth++] = xpu_dim_symbol(dims, "N", 1, 16, 1);
        } else if (*text == 'W') {
            stack[depth++] = xpu_dim_symbol(dims, "W", 32, 224, 32);
        } else if (*text == 'H') {
            stack[depth++] = xpu_dim_symbol(dims, "H", 3, 100, 1);
        } else {
            char *end;
            stack[depth++] = xpu_dim_const(dims, strtoll(text, &end, 10));
            text = end - 1;
        }
    }
    return stack[0];
}

static void equal_expressions(void) {
    static const struct {
        const char *a, *b;
        int equal;
    } cases[] = {
        {"N W +", "W N +", 1},
        {"N W * 3 *", "3 W * N *", 1},
        {"N 1 + W *", "W N W * +", 1},
        {"N N -1 * +", "0", 1},
        {"N 2 * N +", "N 3 *", 1},
        {"2 3 +", "5", 1},
        {"W 2 / 2 *", "W", 1},          /* W is a multiple of 32 */
        {"H 2 / 2 *", "H", 0},          /* H need not be even */
        {"W -1 + 2 / 1 +", "W 2 /", 1}, /* stride 2 with and without an odd border */
        {"H -1 + 2 / 1 +", "H 1 + 2 /", 1},
        {"H -1 + 2 / 1 +", "H 2 /", 0},
        {"W 2 / 2 /", "W 4 /", 1},
        {"H 2 / 3 /", "H 6 /", 1},
        {"H 4 * 6 + 4 /", "H 1 +", 1},
        {"H 3 * 2 /", "H H 2 / +", 1},
        {"N H * N /", "H", 1},
        {"N H 1 + * H 1 + /", "N", 1},
        {"N 6 * H * N 2 * /", "H 3 *", 1},
        {"N H * W * 256 * N 256 * /", "H W *", 1},
        {"W 32 %", "0", 1},
        {"W 1 + 16 %", "1", 1},
        {"H 7 * 7 %", "0", 1},
        {"N 17 %", "N", 1},
        {"N 17 /", "0", 1},
        {"N W <", "N", 1}, /* at most 16 against at least 32 */
        {"N W >", "W", 1},
        {"H H 3 + <", "H", 1},
        {"H N <", "N H <", 1},
        {"H N <", "H", 0},
        {"7 2 / ", "3", 1},
        {"-7 2 /", "-4", 1},
        {"-7 2 %", "1", 1},
        {"7 0 /", "0", 1},
        {"7 0 %", "0", 1},
    };
    BENCH_OPEN(b);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        xpu_dims dims;
        xpu_dims_init(&dims, b.arena);
        xpu_dim left = parse(&dims, cases[i].a), right = parse(&dims, cases[i].b);
        CU_ASSERT(left.id && right.id);
        if (xpu_dim_equal(left, right) == cases[i].equal) continue;
        CU_FAIL("equality");
        printf("%s = %s against %s = %s\n", cases[i].a, xpu_dim_text(&dims, left, b.arena), cases[i].b,
               xpu_dim_text(&dims, right, b.arena));
    }
    bench_close(&b);
}

static void texts(void) {
    static const struct {
        const char *expression, *text;
    } cases[] = {{"N 3 * 1 +", "N*3+1"},   {"N 2 * -1 +", "N*2-1"}, {"H -1 + 2 / 1 +", "(H+1)/2"},
                 {"N H 2 / *", "N*(H/2)"}, {"H N <", "min(N,H)"},   {"12", "12"}};
    BENCH_OPEN(b);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        xpu_dims dims;
        xpu_dims_init(&dims, b.arena);
        parse(&dims, "N W H + +");
        const char *text = xpu_dim_text(&dims, parse(&dims, cases[i].expression), b.arena);
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
        if (strcmp(text, cases[i].text) != 0) printf("%s\n", text);
    }
    CU_ASSERT_STRING_EQUAL(xpu_dim_text(&b.graph->dims, (xpu_dim){0}, b.arena), "?");
    bench_close(&b);
}

static void overflow_is_unknown(void) {
    BENCH_OPEN(b);
    xpu_dims *dims = &b.graph->dims;
    xpu_dim big = xpu_dim_const(dims, INT64_MAX), n = xpu_dim_symbol(dims, "N", 1, INT64_MAX, 1);
    CU_ASSERT_EQUAL(xpu_dim_add(dims, big, big).id, 0);
    CU_ASSERT_EQUAL(xpu_dim_mul(dims, big, big).id, 0);
    CU_ASSERT_EQUAL(xpu_dim_mul(dims, xpu_dim_mul(dims, n, big), big).id, 0);
    CU_ASSERT_EQUAL(xpu_dim_add(dims, (xpu_dim){0}, big).id, 0);
    CU_ASSERT_EQUAL(xpu_dim_max(dims, xpu_dim_mul(dims, n, n)), INT64_MAX);
    xpu_dim sum = n;
    for (int i = 0; i < 5000 && sum.id; i++) { /* grows without bound: ends as unknown, not in deep recursion */
        sum = xpu_dim_op(dims, XPU_DIM_FLOORDIV, xpu_dim_add_const(dims, xpu_dim_mul(dims, sum, n), 1),
                         xpu_dim_add_const(dims, n, i + 1));
    }
    CU_ASSERT_EQUAL(sum.id, 0);
    bench_close(&b);
}

static void symbols(void) {
    BENCH_OPEN(b);
    xpu_dims *dims = &b.graph->dims;
    xpu_dim n = xpu_dim_symbol(dims, "N", 1, 16, 4), value = xpu_dim_symbol(dims, "K", 7, 7, 1);
    CU_ASSERT(xpu_dim_equal(n, xpu_dim_symbol(dims, "N", 2, 3, 1)));
    CU_ASSERT_EQUAL(xpu_dim_max(dims, n), 13); /* 1, 5, 9, 13 */
    int64_t constant = 0;
    CU_ASSERT(xpu_dim_is_const(dims, value, &constant) && constant == 7);
    CU_ASSERT(!xpu_dim_is_const(dims, n, NULL));
    CU_ASSERT_EQUAL(dims->symbols.count, 2);
    bench_close(&b);
}

/* What is cut off costs nothing: its brackets are not closed either. */
static void long_texts(void) {
    BENCH_OPEN(b);
    xpu_dims *dims = &b.graph->dims;
    xpu_dim all = xpu_dim_symbol(dims, "N", 1, 16, 1);
    for (int i = 0; i < 600; i++) {
        xpu_dim next = xpu_dim_symbol(dims, xpu_printf(b.arena, "S%d", i), 1, 16, 1);
        all = xpu_dim_op(dims, i % 2 ? XPU_DIM_MAX : XPU_DIM_MIN, all, next);
    }
    const char *text = xpu_dim_text(dims, all, b.arena);
    CU_ASSERT(strlen(text) > 1000 && strlen(text) < 1100);
    CU_ASSERT_STRING_EQUAL(text + strlen(text) - 3, "...");
    bench_close(&b);
}

/* A symbol that gets the number of one that is gone has nothing of it, nor have expressions. */
static void dropped_symbols(void) {
    BENCH_OPEN(b);
    xpu_dims *dims = &b.graph->dims;
    xpu_dim n = xpu_dim_symbol(dims, "N", 1, 16, 1), kept = xpu_dim_mul_const(dims, n, 6);
    xpu_dim old = xpu_dim_symbol(dims, "A", INT32_MIN, 7, 1), more = xpu_dim_mul_const(dims, old, 6);
    xpu_dim_assume(dims, old, xpu_dim_const(dims, 3));
    xpu_dim last = xpu_dim_symbol(dims, "C", 2, 9, 1), sum = xpu_dim_add(dims, n, last);
    xpu_dims_drop_symbols(dims, (const uint8_t[]){0, 1, 0});
    CU_ASSERT_EQUAL(dims->symbols.count, 2);
    CU_ASSERT(xpu_dim_equal(last, xpu_dim_symbol(dims, "C", 0, 100, 1)));
    CU_ASSERT(xpu_dim_equal(sum, xpu_dim_add(dims, n, last)) && xpu_dim_has_symbol(dims, sum, 1));
    CU_ASSERT_EQUAL(xpu_dim_eval(dims, sum, (const int64_t[]){5, 8}), 13);
    xpu_dim now = xpu_dim_symbol(dims, "B", 0, 100, 1), product = xpu_dim_mul_const(dims, now, 6);
    CU_ASSERT(xpu_dim_equal(kept, xpu_dim_mul_const(dims, n, 6)));
    CU_ASSERT(!xpu_dim_equal(now, old) && !xpu_dim_equal(product, more) && !xpu_dim_agree(dims, now, old));
    CU_ASSERT_EQUAL(xpu_dim_min(dims, product), 0);
    CU_ASSERT_EQUAL(xpu_dim_max(dims, product), 600);
    for (int i = 0; i < 200; i++) xpu_dim_add_const(dims, n, i); /* the table grows */
    CU_ASSERT(xpu_dim_equal(now, xpu_dim_symbol(dims, "B", 0, 100, 1)));
    bench_close(&b);
}

/* Sizes of products of dims are known not to be negative, though their terms are. */
static void bounds_of_products(void) {
    BENCH_OPEN(b);
    xpu_dims dims;
    xpu_dims_init(&dims, b.arena);
    xpu_dim n = xpu_dim_symbol(&dims, "N", 1, 4, 1), h = xpu_dim_symbol(&dims, "H", 8, 20, 1);
    xpu_dim w = xpu_dim_symbol(&dims, "W", 17, 29, 1);
    xpu_dim rows = xpu_dim_add_const(&dims, xpu_dim_floordiv_const(&dims, xpu_dim_add_const(&dims, h, 1), 2), -2);
    xpu_dim columns = xpu_dim_add_const(&dims, xpu_dim_floordiv_const(&dims, xpu_dim_add_const(&dims, w, 1), 2), -1);
    xpu_dim size = xpu_dim_mul_const(&dims, xpu_dim_mul(&dims, xpu_dim_mul(&dims, n, rows), columns), 44);
    CU_ASSERT_EQUAL(xpu_dim_min(&dims, size), 44 * 1 * 2 * 8);
    CU_ASSERT_EQUAL(xpu_dim_max(&dims, size), 44 * 4 * 8 * 14);
    xpu_dim huge = xpu_dim_symbol(&dims, "A", 1, (int64_t)1 << 40, 1), other = xpu_dim_symbol(&dims, "B", 1, 7, 1);
    xpu_dim cube = xpu_dim_mul(&dims, xpu_dim_mul(&dims, huge, huge), huge); /* clamped, not forgotten */
    CU_ASSERT_EQUAL(xpu_dim_max(&dims, xpu_dim_add(&dims, cube, other)), INT64_MAX);
    xpu_dim least = xpu_dim_mul_const(&dims, other, INT64_MIN);
    xpu_dim divisor = xpu_dim_add_const(&dims, xpu_dim_mul_const(&dims, other, -1), 100);
    CU_ASSERT(xpu_dim_op(&dims, XPU_DIM_FLOORDIV, least, divisor).id < dims.nodes.count); /* no trap */
    bench_close(&b);
}

static void check_solutions(const char *a_text, const char *b_text, int count) {
    BENCH_OPEN(b);
    xpu_dims *dims = &b.graph->dims;
    xpu_dim a = parse(dims, a_text), other = parse(dims, b_text);
    int forth = xpu_dim_solutions(dims, a, other), back = xpu_dim_solutions(dims, other, a);
    CU_ASSERT_EQUAL(forth, count);
    CU_ASSERT_EQUAL(back, count);
    if (forth != count) printf("%s and %s: %d\n", a_text, b_text, forth);
    bench_close(&b);
}

/* For how many shapes two dims are equal. */
static void solutions(void) {
    static const struct {
        const char *a, *b;
        int count;
    } cases[] = {
        {"N W +", "W N +", 2},   {"N", "16", 1},          {"N", "17", 0},         {"N 1280 *", "1280", 1},
        {"N 1280 *", "1281", 0}, {"N 1280 *", "640", 0},  {"H 2 / 2 *", "H", 2},  {"H 2 /", "7", 2},
        {"H 90 /", "1", 2},      {"H 50 /", "2", 1}, /* 100 */
        {"W", "96", 1},          {"W", "100", 0},         {"W 2 *", "W 64 +", 1}, {"W 2 * 1 +", "W 64 +", 0},
        {"H", "W", 2},           {"H W +", "W 101 +", 0}, {"N H *", "64", 2},     {"N 32 *", "W 1 +", 0},
        {"7", "7", 2},           {"7", "8", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_solutions(cases[i].a, cases[i].b, cases[i].count);
}

static void solutions_of_long_ranges(void) {
    BENCH_OPEN(b);
    xpu_dims *dims = &b.graph->dims;
    xpu_dim open = xpu_dim_symbol(dims, "K", 1, (int64_t)1 << 40, 1), large = xpu_dim_const(dims, (int64_t)1 << 39);
    CU_ASSERT_EQUAL(xpu_dim_solutions(dims, open, large), 1);
    CU_ASSERT_EQUAL(xpu_dim_solutions(dims, open, (xpu_dim){0}), 0);
    bench_close(&b);
}

/* All dims of a set are the same after these pairs of them are taken for equal, and its root is the simplest. */
static void check_assumptions(const int (*pairs)[2]) {
    BENCH_OPEN(b);
    xpu_dims *dims = &b.graph->dims;
    xpu_dim set[] = {parse(dims, "H 2 / 2 *"), parse(dims, "H"), parse(dims, "64"), parse(dims, "N")};
    xpu_dim other = parse(dims, "W");
    for (int k = 0; k < 3; k++) xpu_dim_assume(dims, set[pairs[k][0]], set[pairs[k][1]]);
    xpu_dim_assume(dims, set[0], set[3]);
    for (int k = 0; k < 4; k++) {
        CU_ASSERT(xpu_dim_same(dims, set[k], set[(k + 1) % 4]));
        CU_ASSERT(!xpu_dim_same(dims, set[k], other));
        CU_ASSERT(xpu_dim_equal(xpu_dim_root(dims, set[k]), set[2]));
    }
    CU_ASSERT(xpu_dim_same(dims, other, other) && !xpu_dim_equal(set[0], set[1]));
    bench_close(&b);
}

/* Whatever the order. */
static void assumptions(void) {
    static const int pairs[][3][2] = {{{0, 1}, {1, 2}, {2, 3}}, {{3, 2}, {1, 0}, {2, 0}}, {{0, 3}, {1, 3}, {2, 3}}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) check_assumptions(pairs[i]);
}

/* A symbol begins where what it equals does, in its steps; what is made of roots does not go round in circles. */
static void raised_symbols(void) {
    BENCH_OPEN(b);
    xpu_dims *dims = &b.graph->dims;
    xpu_dim n = parse(dims, "N"), h = parse(dims, "H"), w = parse(dims, "W");
    xpu_dim_assume(dims, n, h);
    CU_ASSERT_EQUAL(xpu_dim_min(dims, n), 3);
    CU_ASSERT_EQUAL(xpu_dim_min(dims, h), 3);
    xpu_dim_assume(dims, w, parse(dims, "H 62 +"));
    CU_ASSERT_EQUAL(xpu_dim_min(dims, w), 96);
    CU_ASSERT_EQUAL(dims->symbols.items[dims->nodes.items[w.id].value].min, 96);
    xpu_dim more = parse(dims, "N 8 * 24 / 1 > 24 *"), all = parse(dims, "N 8 *");
    xpu_dim_assume(dims, more, all);
    CU_ASSERT(xpu_dim_equal(xpu_dim_settled(dims, more), xpu_dim_settled(dims, all)));
    CU_ASSERT(xpu_dim_agree(dims, more, all) && !xpu_dim_same(dims, parse(dims, "N 2 *"), parse(dims, "H 2 *")));
    CU_ASSERT(xpu_dim_agree(dims, parse(dims, "N 2 *"), parse(dims, "H 2 *")));
    bench_close(&b);
}

/* ---- random expressions: the canonical form has the value of the plain one, within the bounds ---- */

enum { SYMBOLS = 3, NODES = 12 };

static int64_t plain(xpu_dim_kind kind, int64_t a, int64_t b) {
    switch (kind) {
    case XPU_DIM_ADD: return a + b;
    case XPU_DIM_MUL: return a * b;
    case XPU_DIM_MIN: return a < b ? a : b;
    case XPU_DIM_MAX: return a > b ? a : b;
    default: break;
    }
    if (b == 0) return 0;
    int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return kind == XPU_DIM_FLOORDIV ? quotient : a - quotient * b;
}

static void random_expressions(void) {
    static const struct {
        const char *name;
        int64_t min, max, step;
    } ranges[SYMBOLS] = {{"N", 1, 9, 1}, {"H", 3, 27, 4}, {"W", 0, 24, 8}};
    random_source r = random_open("dims");
    BENCH_OPEN(b);
    int64_t wrong = 0, outside = 0, residues = 0, never = 0;
    for (int round = 0; round < 600; round++) {
        xpu_dims dims;
        xpu_dims_init(&dims, b.arena);
        xpu_dim nodes[NODES];
        xpu_dim_kind kinds[NODES] = {0};
        int left[NODES] = {0}, right[NODES] = {0};
        int64_t constants[NODES] = {0};
        for (int i = 0; i < NODES; i++) {
            if (i < SYMBOLS) {
                nodes[i] = xpu_dim_symbol(&dims, ranges[i].name, ranges[i].min, ranges[i].max, ranges[i].step);
            } else if (i < SYMBOLS + 3) {
                constants[i] = random_range(&r, -3, 9);
                nodes[i] = xpu_dim_const(&dims, constants[i]);
            } else {
                kinds[i] = (xpu_dim_kind)random_range(&r, XPU_DIM_ADD, XPU_DIM_MAX);
                left[i] = (int)random_range(&r, 0, i - 1);
                right[i] = (int)random_range(&r, 0, i - 1);
                nodes[i] = xpu_dim_op(&dims, kinds[i], nodes[left[i]], nodes[right[i]]);
            }
        }
        int counts[NODES]; /* of shapes for which each node and the one before it are equal */
        for (int i = 1; i < NODES; i++) counts[i] = xpu_dim_solutions(&dims, nodes[i - 1], nodes[i]);
        for (int trial = 0; trial < 10; trial++) {
            int64_t values[NODES];
            for (int i = 0; i < NODES; i++) {
                if (i < SYMBOLS) {
                    int64_t steps = (ranges[i].max - ranges[i].min) / ranges[i].step;
                    values[i] = ranges[i].min + random_range(&r, 0, steps) * ranges[i].step;
                } else {
                    values[i] = i < SYMBOLS + 3 ? constants[i] : plain(kinds[i], values[left[i]], values[right[i]]);
                }
                if (values[i] > 1000000 || values[i] < -1000000 || !nodes[i].id) break;
                const xpu_dim_node *node = &dims.nodes.items[nodes[i].id];
                wrong += xpu_dim_eval(&dims, nodes[i], values) != values[i];
                outside += values[i] < xpu_dim_min(&dims, nodes[i]) || values[i] > xpu_dim_max(&dims, nodes[i]);
                int64_t rest = node->modulus ? plain(XPU_DIM_MOD, values[i], node->modulus) : values[i];
                residues += rest != node->residue;
                never += i > 0 && counts[i] == 0 && values[i] == values[i - 1];
            }
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(outside, 0);
    CU_ASSERT_EQUAL(residues, 0);
    CU_ASSERT_EQUAL(never, 0);
    bench_close(&b);
}

XPU_TEST_MAIN("dim", {"equal expressions have equal handles", equal_expressions}, {"text", texts},
              {"overflow is unknown", overflow_is_unknown}, {"symbols", symbols}, {"dropped symbols", dropped_symbols},
              {"long texts", long_texts}, {"solutions", solutions},
              {"solutions of long ranges", solutions_of_long_ranges}, {"assumptions", assumptions},
              {"raised symbols", raised_symbols}, {"bounds of products", bounds_of_products},
              {"random expressions", random_expressions})
