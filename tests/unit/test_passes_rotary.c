/* Rotary embedding as exporters write it out becomes one operator, bit for bit; what only looks like it does not. */
#include "tests/unit/passes.h"

enum { TOKENS = 5, HEADS = 3, SIZE = 8 };

static xpu_value slice(bench *b, xpu_value x, int axis, int64_t start, int64_t count, int64_t by) {
    xpu_dim starts[XPU_MAX_RANK], shape[XPU_MAX_RANK];
    int64_t steps[XPU_MAX_RANK];
    const xpu_value_info info = *xpu_value_at(b->graph, x);
    for (int i = 0; i < info.rank; i++) {
        starts[i] = xpu_dim_const(&b->graph->dims, i == axis ? start : 0);
        shape[i] = i == axis ? xpu_dim_const(&b->graph->dims, count) : info.dims[i];
        steps[i] = i == axis ? by : 1;
    }
    const xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(STARTS, starts, (uint32_t)info.rank),
                              XPU_ATTR_DIMS_OF(SHAPE, shape, (uint32_t)info.rank),
                              XPU_ATTR_INTS_OF(BY, steps, (uint32_t)info.rank)};
    return op(b, XPU_OP_SLICE, &x, 1, attrs, 3);
}
static xpu_value concat(bench *b, xpu_value p, xpu_value q, int axis) {
    return OP_WITH2(b, CONCAT, p, q, XPU_ATTR_INT_OF(AXIS, axis));
}
static xpu_value heads(bench *b) {
    return input(b, DIMS(TOKENS, HEADS, SIZE));
}

/* ---- both halves made and joined ---- */

typedef enum { PAIRS, STEPS, HALVES } form;

static xpu_value half_of(bench *b, xpu_value x, form f, int which) {
    if (f == STEPS) return slice(b, x, 2, which, SIZE / 2, 2);
    if (f == HALVES) return slice(b, x, 2, which * (SIZE / 2), SIZE / 2, 1);
    x = reshape(b, x, DIMS(TOKENS, HEADS, SIZE / 2, 2));
    return reshape(b, slice(b, x, 3, which, 1, 1), DIMS(TOKENS, HEADS, SIZE / 2));
}
static xpu_value join_columns(bench *b, xpu_value first, xpu_value second, int axis) {
    first = reshape(b, first, DIMS(TOKENS, HEADS, SIZE / 2, 1));
    second = reshape(b, second, DIMS(TOKENS, HEADS, SIZE / 2, 1));
    return reshape(b, concat(b, first, second, axis), DIMS(TOKENS, HEADS, SIZE));
}
static xpu_value join(bench *b, form f, xpu_value first, xpu_value second) {
    return f == HALVES ? concat(b, first, second, 2) : join_columns(b, first, second, 3);
}
static void joined(bench *b, form f, xpu_value c, xpu_value s) {
    xpu_value x = heads(b), first = half_of(b, x, f, 0), second = half_of(b, x, f, 1);
    xpu_value real = OP(b, SUB, OP(b, MUL, first, c), OP(b, MUL, s, second));
    xpu_value other = OP(b, ADD, OP(b, MUL, c, second), OP(b, MUL, first, s));
    OUT(b, join(b, f, real, other));
}
static xpu_value half_table(bench *b) {
    return constant(b, DIMS(TOKENS, 1, SIZE / 2));
}
static void pairs(bench *b) {
    joined(b, PAIRS, half_table(b), half_table(b));
}
static void steps(bench *b) {
    joined(b, STEPS, half_table(b), half_table(b));
}
static void halves(bench *b) {
    joined(b, HALVES, half_table(b), half_table(b));
}
static void computed_tables(bench *b) {
    xpu_value c = input(b, DIMS(HEADS, SIZE / 2)), s = input(b, DIMS(HEADS, SIZE / 2));
    joined(b, HALVES, c, s);
}
static void tables_of_all(bench *b) { /* a row for each head of each token */
    joined(b, STEPS, input(b, DIMS(TOKENS, HEADS, SIZE / 2)), input(b, DIMS(TOKENS, HEADS, SIZE / 2)));
}
static void tables_of_columns(bench *b) { /* not of rows */
    joined(b, HALVES, constant(b, DIMS(TOKENS, 1, 1)), constant(b, DIMS(TOKENS, 1, 1)));
}
static void other_tables(bench *b) {
    xpu_value x = heads(b), first = half_of(b, x, HALVES, 0), second = half_of(b, x, HALVES, 1);
    xpu_value real = OP(b, SUB, OP(b, MUL, first, half_table(b)), OP(b, MUL, second, half_table(b)));
    OUT(b, join(b, HALVES, real, OP(b, ADD, OP(b, MUL, first, half_table(b)), OP(b, MUL, second, half_table(b)))));
}
static void other_operand(bench *b) {
    xpu_value first = half_of(b, heads(b), HALVES, 0), second = half_of(b, heads(b), HALVES, 1);
    xpu_value c = half_table(b), s = half_table(b);
    xpu_value real = OP(b, SUB, OP(b, MUL, first, c), OP(b, MUL, second, s));
    OUT(b, join(b, HALVES, real, OP(b, ADD, OP(b, MUL, first, s), OP(b, MUL, second, c))));
}
static void one_half_twice(bench *b) { /* the sum has the second half in both products */
    xpu_value x = heads(b), first = half_of(b, x, HALVES, 0), second = half_of(b, x, HALVES, 1);
    xpu_value c = half_table(b), s = half_table(b);
    xpu_value real = OP(b, SUB, OP(b, MUL, first, c), OP(b, MUL, second, s));
    OUT(b, join(b, HALVES, real, OP(b, ADD, OP(b, MUL, second, c), OP(b, MUL, second, s))));
}
static void apart_as_pairs(bench *b, xpu_value results[2]) {
    xpu_value x = heads(b), first = half_of(b, x, STEPS, 0), second = half_of(b, x, STEPS, 1);
    xpu_value c = half_table(b), s = half_table(b);
    results[0] = OP(b, SUB, OP(b, MUL, first, c), OP(b, MUL, second, s));
    results[1] = OP(b, ADD, OP(b, MUL, first, s), OP(b, MUL, second, c));
}
static void joined_otherwise(bench *b) { /* pairs taken apart, halves joined */
    xpu_value results[2];
    apart_as_pairs(b, results);
    OUT(b, join(b, HALVES, results[0], results[1]));
}
static void joined_below(bench *b) { /* the same, with the reshapes of pairs */
    xpu_value results[2];
    apart_as_pairs(b, results);
    OUT(b, join_columns(b, results[0], results[1], 2));
}

static void made_and_joined(void) {
    static const char written_out[] = "slice slice mul mul sub mul mul add concat";
    static const pass_case cases[] = {
        {"pairs", pairs,
         "reshape reshape reshape reshape concat reshape neg reshape reshape concat reshape rotary reshape reshape"},
        {"every second", steps,
         "reshape reshape concat reshape neg reshape reshape concat reshape rotary reshape reshape"},
        {"halves", halves, "concat neg concat rotary"},
        {"computed tables", computed_tables, "concat neg concat rotary"},
        {"tables of all rows", tables_of_all,
         "reshape reshape concat reshape neg reshape reshape concat reshape rotary reshape reshape"},
        {"tables of columns", tables_of_columns, written_out},
        {"other tables", other_tables, written_out},
        {"another operand", other_operand, written_out},
        {"one half twice", one_half_twice, written_out},
        {"joined otherwise", joined_otherwise, written_out},
        {"joined below", joined_below, "slice slice mul mul sub mul mul add reshape reshape concat reshape"},
    };
    RUN_CASES(cases, XPU_EFFECT_EXACT, xpu_pass_fold_batch_norm);
}

/* ---- x and what has its pairs exchanged ---- */

static xpu_value exchanged(bench *b, xpu_value x, int neighbours) {
    const int64_t with_pairs[] = {TOKENS, HEADS, neighbours ? SIZE / 2 : 2, neighbours ? 2 : SIZE / 2};
    xpu_value apart = slice(b, reshape(b, x, 4, with_pairs), neighbours ? 3 : 2, 1, 2, -1);
    return reshape(b, apart, DIMS(TOKENS, HEADS, SIZE));
}
static xpu_value table(bench *b) {
    return constant(b, DIMS(TOKENS, 1, SIZE));
}
static void times_tables(bench *b, xpu_value x, xpu_value other) {
    OUT(b, OP(b, ADD, OP(b, MUL, table(b), other), OP(b, MUL, x, table(b))));
}
static void neighbours(bench *b) {
    xpu_value x = heads(b);
    times_tables(b, x, exchanged(b, x, 1));
}
static void half_a_row_apart(bench *b) {
    xpu_value x = heads(b);
    times_tables(b, x, exchanged(b, x, 0));
}
static void turned_halves(bench *b) {
    xpu_value x = heads(b);
    times_tables(b, x, concat(b, OP(b, NEG, half_of(b, x, HALVES, 1)), half_of(b, x, HALVES, 0), 2));
}
static void turned_pairs(bench *b) {
    xpu_value x = heads(b);
    times_tables(b, x, join(b, PAIRS, OP(b, NEG, half_of(b, x, PAIRS, 1)), half_of(b, x, PAIRS, 0)));
}
static void through_reshapes(bench *b) { /* that both operands have */
    xpu_value flat = input(b, DIMS(TOKENS, HEADS * SIZE)), x = reshape(b, flat, DIMS(TOKENS, HEADS, SIZE));
    times_tables(b, x, exchanged(b, flat, 1));
}
static void of_something_else(bench *b) {
    times_tables(b, heads(b), exchanged(b, heads(b), 1));
}
static void all_backwards(bench *b) {
    xpu_value x = heads(b);
    times_tables(b, x, slice(b, x, 2, SIZE - 1, SIZE, -1));
}
static void odd_signs(bench *b) { /* the other half is negated */
    xpu_value x = heads(b);
    times_tables(b, x, concat(b, half_of(b, x, HALVES, 1), OP(b, NEG, half_of(b, x, HALVES, 0)), 2));
}
static void wide_rows(bench *b) {
    xpu_value x = input(b, DIMS(2, 258));
    xpu_value other = concat(b, OP(b, NEG, slice(b, x, 1, 129, 129, 1)), slice(b, x, 1, 0, 129, 1), 1);
    OUT(b, OP(b, ADD, OP(b, MUL, x, constant(b, DIMS(258))), OP(b, MUL, other, constant(b, DIMS(258)))));
}

static void exchanged_pairs(void) {
    static const pass_case cases[] = {
        {"neighbours", neighbours, "rotary"},
        {"half a row apart", half_a_row_apart, "rotary"},
        {"turned halves", turned_halves, "mul rotary"},
        {"turned pairs", turned_pairs, "mul rotary"},
        {"through reshapes", through_reshapes, "reshape rotary"},
        {"of something else", of_something_else, "reshape slice reshape mul mul add"},
        {"all backwards", all_backwards, "slice mul mul add"},
        {"odd signs", odd_signs, "slice neg slice concat mul mul add"},
        {"wide rows", wide_rows, "slice slice neg concat mul mul add"},
    };
    RUN_CASES(cases, XPU_EFFECT_EXACT, xpu_pass_fold_batch_norm);
}

XPU_TEST_MAIN("rotary", {"made and joined", made_and_joined}, {"exchanged pairs", exchanged_pairs})
