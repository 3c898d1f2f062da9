/* Loops that count: which values are counters, and how often a body runs by its condition. */
#include "frontend/build/counted.h"

#include "tests/unit/ir.h"

static const fe_frontend frontend = {.rules = {"form", "operand", "attribute", "shape"}, .hints = {"f", "o", "a", "s"}};

typedef struct {
    bench *b;
    fe_builder builder;
    xpu_block body;
    xpu_dim iteration;
} loop;

static loop loop_of(bench *b) {
    static const char *const name = "made";
    const xpu_origin from = {.framework = "c", .op = "op", .name = name};
    loop l = {.b = b,
              .builder = {.frontend = &frontend,
                          .graph = b->graph,
                          .scratch = b->arena,
                          .diags = &b->diags,
                          .where = "here",
                          .names = &name,
                          .name_count = 1,
                          .origin = xpu_graph_origin(b->graph, &from)}};
    xpu_value x = bench_input(b, "x", XPU_I64, 0, NULL);
    l.body = xpu_graph_block(b->graph, bench_node(b, XPU_OP_NEG, &x, 1, NULL, 0));
    xpu_value i = xpu_block_argument(b->graph, l.body, "i", XPU_I64, 0, NULL);
    l.iteration = xpu_dim_symbol_of(&b->graph->dims, "i", 0, 1000, 1, i, 0);
    xpu_graph_enter(b->graph, l.body);
    return l;
}

static xpu_value number(loop *l, int64_t value) {
    return fe_integer(&l->builder, XPU_I64, value);
}

/* ---- counters ---- */

enum { NO_COUNTER = -100 };

static void counters(void) {
    static const struct {
        xpu_op_id op;
        int64_t constant;
        int turned, shaped; /* the argument is the second operand; results and operands are shaped as vectors of one */
        int64_t step;
    } cases[] = {
        {XPU_OP_ADD, 1, 0, 0, 1},          {XPU_OP_ADD, -3, 0, 0, -3},        {XPU_OP_ADD, 2, 1, 0, 2},
        {XPU_OP_ADD, 5, 0, 1, 5},          {XPU_OP_SUB, 2, 0, 0, -2},         {XPU_OP_SUB, -2, 0, 1, 2},
        {XPU_OP_SUB, 2, 1, 0, NO_COUNTER}, {XPU_OP_ADD, 0, 0, 0, NO_COUNTER}, {XPU_OP_SUB, 0, 0, 0, NO_COUNTER},
        {XPU_OP_MUL, 2, 0, 0, NO_COUNTER}, {XPU_OP_MAX, 2, 0, 0, NO_COUNTER},
    };
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        loop l = loop_of(&b);
        const xpu_dim one = xpu_dim_const(&b.graph->dims, 1);
        xpu_value x = bench_input(&b, "count", XPU_I64, 0, NULL), from = x;
        if (cases[i].shaped) from = fe_reshape_to(&l.builder, from, &one, 1, 0);
        xpu_value constant = number(&l, cases[i].constant), sides[] = {from, constant};
        xpu_value next = fe_binary(&l.builder, cases[i].op, sides[cases[i].turned], sides[!cases[i].turned]);
        if (cases[i].shaped) next = fe_reshape_to(&l.builder, next, NULL, 0, 0);
        int64_t step = 0;
        const int good = fe_is_counter(&l.builder, x, next, &step);
        CU_ASSERT_EQUAL(good, cases[i].step != NO_COUNTER);
        CU_ASSERT(!good || step == cases[i].step);
        CU_ASSERT_FALSE(fe_is_counter(&l.builder, bench_input(&b, "other", XPU_I64, 0, NULL), next, &step));
        CU_ASSERT_FALSE(fe_is_counter(&l.builder, x, x, &step));
        CU_ASSERT_FALSE(fe_is_counter(&l.builder, x, fe_binary(&l.builder, XPU_OP_ADD, x, x), &step));
        bench_print(&b);
        bench_close(&b);
    }
}

/* ---- trips ---- */

/* A counter that is `start`, then grows by `step` behind each iteration, compared with a limit; "N + 2" is open. */
typedef struct {
    xpu_op_id op;
    int64_t start, step, limit;
    int turned;   /* the limit is the first operand */
    int compared; /* the condition before the loop is the comparison of the start; else it is true */
} condition;

static xpu_value compare(loop *l, const condition *c, xpu_dim counter, xpu_dim limit) {
    xpu_value sides[] = {fe_dim_values(&l->builder, &counter, 1, 0), fe_dim_values(&l->builder, &limit, 1, 0)};
    return fe_binary(&l->builder, c->op, sides[c->turned], sides[!c->turned]);
}

static xpu_value condition_of(loop *l, const condition *c, int is_first, xpu_dim limit) {
    xpu_dims *dims = &l->b->graph->dims;
    const xpu_dim behind = xpu_dim_add_const(dims, xpu_dim_mul_const(dims, l->iteration, c->step), c->start + c->step);
    if (!is_first) return compare(l, c, behind, limit);
    return c->compared ? compare(l, c, xpu_dim_const(dims, c->start), limit) : number(l, 1);
}

static const char *trips_text(loop *l, xpu_value goes_on, xpu_value first, int *exactly) {
    const fe_counting form = {.goes_on = goes_on, .first = first, .iteration = l->iteration, .body = l->body};
    xpu_dim trips = fe_count_trips(&l->builder, &form, exactly);
    return trips.id ? xpu_dim_list_text(&l->b->graph->dims, 1, &trips, l->b->arena) : "unknown";
}

static void trips(void) {
    static const struct {
        condition condition;
        const char *trips;
    } cases[] = {
        {{XPU_OP_LESS, 0, 1, 10, 0, 0}, "[10]"},       {{XPU_OP_LESS, 0, 3, 10, 0, 0}, "[4]"},
        {{XPU_OP_LESS, 0, 3, 12, 0, 0}, "[4]"},        {{XPU_OP_LESS_OR_EQUAL, 0, 3, 12, 0, 0}, "[5]"},
        {{XPU_OP_GREATER, 4, 3, 10, 1, 0}, "[2]"},     {{XPU_OP_GREATER_OR_EQUAL, 4, 3, 10, 1, 0}, "[3]"},
        {{XPU_OP_GREATER, 4, 3, 10, 0, 0}, "unknown"}, {{XPU_OP_EQUAL, 0, 1, 10, 0, 0}, "unknown"},
        {{XPU_OP_LESS, 0, -1, 10, 0, 0}, "unknown"},   {{XPU_OP_LESS, 0, 1, 10, 0, 1}, "[10]"},
        {{XPU_OP_LESS, 12, 1, 10, 0, 0}, "[1]"}, /* it began */
    };
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        loop l = loop_of(&b);
        const condition *c = &cases[i].condition;
        const xpu_dim limit = xpu_dim_const(&b.graph->dims, c->limit);
        int exactly;
        const char *got = trips_text(&l, condition_of(&l, c, 0, limit), condition_of(&l, c, 1, limit), &exactly);
        if (strcmp(got, cases[i].trips) != 0) printf("case %zu: %s\n", i, got);
        CU_ASSERT_STRING_EQUAL(got, cases[i].trips);
        CU_ASSERT_EQUAL(exactly, strcmp(got, "unknown") != 0);
        bench_print(&b);
        bench_close(&b);
    }
}

/* The smaller of two, or the one that counts; which of them ends the loop is not known. The limit is an open dim. */
static void two_conditions(void) {
    static const condition three = {XPU_OP_LESS, 0, 3, 0, 0, 1}, one = {XPU_OP_LESS, 0, 1, 0, 0, 1},
                           neither = {XPU_OP_EQUAL, 0, 1, 0, 0, 1};
    static const struct {
        const condition *sides[2];
        const char *trips;
    } cases[] = {{{&three, &one}, "[min(7,(N+1)/3+1)]"},
                 {{&neither, &one}, "[7]"},
                 {{&three, &neither}, "[(N+1)/3+1]"},
                 {{&neither, &neither}, "unknown"}};
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        loop l = loop_of(&b);
        xpu_dims *dims = &b.graph->dims;
        const xpu_dim open = xpu_dim_add_const(dims, xpu_dim_symbol(dims, "N", 1, 50, 1), 2);
        xpu_value both[2];
        for (int first = 0; first < 2; first++) {
            xpu_value sides[2];
            for (int k = 0; k < 2; k++) {
                const condition *c = cases[i].sides[k];
                sides[k] = condition_of(&l, c, first, c == &three ? open : xpu_dim_const(dims, 7));
            }
            both[first] = fe_binary(&l.builder, XPU_OP_AND, sides[0], sides[1]);
        }
        int exactly;
        const char *got = trips_text(&l, both[0], both[1], &exactly);
        if (strcmp(got, cases[i].trips) != 0) printf("case %zu: %s\n", i, got);
        CU_ASSERT_STRING_EQUAL(got, cases[i].trips);
        CU_ASSERT_FALSE(exactly);
        bench_print(&b);
        bench_close(&b);
    }
}

XPU_TEST_MAIN("counted", {"counters", counters}, {"trips", trips}, {"two conditions", two_conditions})
