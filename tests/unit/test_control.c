/* Blocks of control flow in the IR: building, editing, visibility, passes, and what a run of them gives. */
#include "core/ops/control.h"
#include "core/ops/graph_text.h"
#include "core/ops/ref.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"
#include "tests/unit/bodies.h"

/* y = c ? relu(x) : (d ? -x : x + s), with s = x * x from outside */
typedef struct {
    xpu_value c, d, x, s, y, inner;
    xpu_node outer_if, inner_if;
} nested;

static nested build_nested(bench *b) {
    nested n = {.c = xpu_graph_input(b->graph, "c", XPU_BOOL, 0, NULL), .d = bench_input(b, "d", XPU_BOOL, DIMS(1))};
    n.x = bench_input(b, "x", XPU_F32, DIMS(4));
    n.s = op2(b, XPU_OP_MUL, n.x, n.x);
    n.outer_if = add_control(b, XPU_OP_IF, &n.c, 1, 1);
    xpu_block top = enter(b, n.outer_if);
    xpu_value result = op1(b, XPU_OP_RELU, n.x);
    leave(b, top, &result, 1);
    top = enter(b, n.outer_if);
    n.inner_if = add_control(b, XPU_OP_IF, &n.d, 1, 1);
    xpu_block middle = enter(b, n.inner_if);
    result = op1(b, XPU_OP_NEG, n.x);
    leave(b, middle, &result, 1);
    middle = enter(b, n.inner_if);
    result = op2(b, XPU_OP_ADD, n.x, n.s);
    leave(b, middle, &result, 1);
    infer(b, n.inner_if);
    n.inner = xpu_node_output(b->graph, n.inner_if, 0);
    leave(b, top, &n.inner, 1);
    infer(b, n.outer_if);
    n.y = xpu_node_output(b->graph, n.outer_if, 0);
    xpu_graph_output(b->graph, n.y);
    return n;
}

static void expect_nested(bench *b) {
    const float x[] = {-2, -1, 1, 3}, want[3][4] = {{0, 0, 1, 3}, {2, 1, -1, -3}, {2, 0, 2, 12}};
    for (int i = 0; i < 3; i++) {
        uint8_t c = i == 0, d = i == 1;
        xpu_tensor in[] = {{.dtype = XPU_BOOL, .data = &c},
                           {.dtype = XPU_BOOL, .rank = 1, .dims = {1}, .data = &d},
                           {.dtype = XPU_F32, .rank = 1, .dims = {4}, .data = (void *)(uintptr_t)x}};
        xpu_tensor out;
        xpu_ref_options options = {.inputs = in};
        CU_ASSERT_EQUAL_FATAL(xpu_ref_run(b->graph, &options, &out, b->arena, &b->diags), XPU_OK);
        CU_ASSERT_EQUAL(memcmp(out.data, want[i], sizeof want[i]), 0);
    }
}

static void branches(void) {
    BENCH_OPEN(b);
    nested n = build_nested(&b);
    CU_ASSERT_EQUAL(xpu_verify(b.graph, "test", &b.diags), XPU_OK);
    expect_nested(&b);
    uint32_t all = 0, top = 0, count;
    XPU_FOR_ALL_NODES(b.graph, node) all++;
    XPU_FOR_BLOCK_NODES(b.graph, XPU_TOP_BLOCK, node) top++;
    CU_ASSERT(all == 6 && top == 2);
    const xpu_value *captured = xpu_node_captures(b.graph, n.inner_if, b.arena, &count);
    CU_ASSERT(count == 2 && captured[0].id == n.x.id && captured[1].id == n.s.id);
    CU_ASSERT_EQUAL(xpu_value_block(b.graph, n.inner).id, xpu_node_at(b.graph, n.inner_if)->parent.id);
    xpu_graph *copy = xpu_graph_copy(b.arena, b.graph);
    xpu_value_replace(b.graph, n.s, n.x);
    CU_ASSERT_EQUAL(xpu_remove_dead(b.graph), 1);
    CU_ASSERT_EQUAL(xpu_verify(b.graph, "test", &b.diags), XPU_OK);
    b.graph = copy;
    CU_ASSERT_EQUAL(xpu_verify(b.graph, "test", &b.diags), XPU_OK);
    expect_nested(&b);
    bench_print(&b);
    bench_close(&b);
}

/* The whole node goes with its bodies; a hoisted body stands before it. */
static void editing(void) {
    BENCH_OPEN(b);
    nested n = build_nested(&b);
    xpu_block inner_else = xpu_node_at(b.graph, n.inner_if)->blocks[XPU_ELSE];
    xpu_value result = xpu_block_at(b.graph, inner_else)->results.items[0];
    xpu_block_hoist(b.graph, inner_else);
    CU_ASSERT_EQUAL(xpu_value_block(b.graph, result).id, xpu_node_at(b.graph, n.inner_if)->parent.id);
    CU_ASSERT_EQUAL(xpu_value_replace(b.graph, n.inner, result), 1);
    xpu_node_remove(b.graph, n.inner_if);
    CU_ASSERT(xpu_node_at(b.graph, n.inner_if)->dead && xpu_value_at(b.graph, result)->results == 1);
    CU_ASSERT_EQUAL(xpu_verify(b.graph, "test", &b.diags), XPU_OK);
    xpu_value_at(b.graph, n.y)->is_output = 0;
    b.graph->outputs.count = 0;
    xpu_graph_output(b.graph, n.s);
    CU_ASSERT_EQUAL(xpu_remove_dead(b.graph), 1);
    uint32_t all = 0;
    XPU_FOR_ALL_NODES(b.graph, node) all++;
    CU_ASSERT(all == 1 && xpu_value_at(b.graph, n.x)->uses.count == 2);
    CU_ASSERT_EQUAL(xpu_verify(b.graph, "test", &b.diags), XPU_OK);
    bench_print(&b);
    bench_close(&b);
}

static int is_refused(bench *b, const char *what) {
    size_t before = b->diags.count;
    CU_ASSERT_EQUAL(xpu_verify(b->graph, "test", &b->diags), XPU_EBUG);
    for (size_t i = before; i < b->diags.count; i++) {
        if (strstr(b->diags.items[i].what, what)) return 1;
    }
    return 0;
}

/* A value is there in its own block and in those inside it, once it is made. */
static void visibility(void) {
    BENCH_OPEN(b);
    nested n = build_nested(&b);
    xpu_node_info *outer = xpu_node_at(b.graph, n.outer_if);
    xpu_node relu = xpu_block_at(b.graph, outer->blocks[XPU_THEN])->first;
    xpu_node_set_input(b.graph, relu, 0, n.inner); /* of the other branch */
    CU_ASSERT(is_refused(&b, "operand 0 is not made before the node"));
    xpu_node_set_input(b.graph, relu, 0, n.y); /* of the node whose body it is in */
    CU_ASSERT(is_refused(&b, "operand 0 is not made before the node"));
    xpu_node_set_input(b.graph, relu, 0, n.x);
    xpu_block_set_result(b.graph, outer->blocks[XPU_THEN], 0, n.inner);
    CU_ASSERT(is_refused(&b, "result 0 of a body is not made before its end"));
    xpu_block_set_result(b.graph, outer->blocks[XPU_THEN], 0, xpu_node_output(b.graph, relu, 0));
    CU_ASSERT_EQUAL(xpu_verify(b.graph, "test", &b.diags), XPU_OK);
    xpu_value_at(b.graph, n.inner)->results++;
    CU_ASSERT(is_refused(&b, "its count of results and the results of the blocks differ"));
    bench_close(&b);
}

/* ---- loops ---- */

typedef struct {
    xpu_node node;
    xpu_block top, body;
    xpu_value iteration, condition;
} loop;

static loop begin_loop(bench *b, xpu_value trips, xpu_value condition, const xpu_value *first, uint32_t count,
                       uint32_t stacked) {
    xpu_value operands[8] = {trips, condition};
    for (uint32_t i = 0; i < count; i++) operands[2 + i] = first[i];
    loop l = {.node = add_control(b, XPU_OP_LOOP, operands, 2 + count, count + stacked + 1)};
    l.top = enter(b, l.node);
    l.body = b->graph->current;
    l.iteration = xpu_block_argument(b->graph, l.body, NULL, XPU_I64, 0, NULL);
    l.condition = xpu_block_argument(b->graph, l.body, NULL, XPU_BOOL, 0, NULL);
    return l;
}

static xpu_value carried(bench *b, const loop *l, xpu_value first, const xpu_dim *dims) {
    xpu_value_info info = *xpu_value_at(b->graph, first);
    return xpu_block_argument(b->graph, l->body, NULL, info.dtype, info.rank, dims ? dims : info.dims);
}

static void run(bench *b, xpu_tensor *in, xpu_tensor *out) {
    xpu_ref_options options = {.inputs = in};
    CU_ASSERT_EQUAL(xpu_verify(b->graph, "test", &b->diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_ref_run(b->graph, &options, out, b->arena, &b->diags), XPU_OK);
}

/* s += x while s < most, at most n times; s and s * i of each iteration are stacked. */
static void exits(void) {
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    xpu_value n = xpu_graph_input(b.graph, "n", XPU_I64, 0, NULL),
              go = xpu_graph_input(b.graph, "go", XPU_BOOL, 0, NULL);
    xpu_value x = bench_input(&b, "x", XPU_I64, DIMS(1)), most = bench_input(&b, "most", XPU_I64, DIMS(1));
    xpu_value zero = xpu_graph_const_bytes(g, NULL, &(xpu_tensor){XPU_I64, 1, {1}, &(int64_t){0}});
    loop l = begin_loop(&b, n, go, &zero, 1, 1);
    xpu_value s = carried(&b, &l, zero, NULL), next = op2(&b, XPU_OP_ADD, s, x);
    leave(&b, l.top, (xpu_value[]){op2(&b, XPU_OP_LESS, next, most), next, op2(&b, XPU_OP_MUL, next, l.iteration)}, 3);
    xpu_value count = xpu_node_output(g, l.node, 2), stack = xpu_node_output(g, l.node, 1);
    xpu_value_at(g, stack)->rank = 2;
    xpu_value_at(g, stack)->dims[0] = xpu_dim_new_symbol(&g->dims, "trips", 0, 1 << 20, count, 0, (xpu_dim){0});
    infer(&b, l.node);
    for (uint32_t i = 0; i < 3; i++) xpu_graph_output(g, xpu_node_output(g, l.node, i));
    static const struct {
        int64_t n;
        uint8_t go;
        int64_t most, count;
    } cases[] = {{5, 1, 100, 5}, {5, 1, 12, 3}, {5, 0, 100, 0}, {0, 1, 100, 0}, {-3, 1, 100, 0}, {90, 1, 301, 76}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t four = 4, trips = cases[i].n, limit = cases[i].most;
        uint8_t goes = cases[i].go;
        xpu_tensor out[3], in[] = {{.dtype = XPU_I64, .data = &trips},
                                   {.dtype = XPU_BOOL, .data = &goes},
                                   {XPU_I64, 1, {1}, &four},
                                   {XPU_I64, 1, {1}, &limit}};
        run(&b, in, out);
        CU_ASSERT_EQUAL(*(int64_t *)out[0].data, 4 * cases[i].count);
        CU_ASSERT(out[1].rank == 2 && out[1].dims[0] == cases[i].count && out[1].dims[1] == 1);
        CU_ASSERT_EQUAL(*(int64_t *)out[2].data, cases[i].count);
        for (int64_t k = 0; k < cases[i].count; k++) CU_ASSERT_EQUAL(((int64_t *)out[1].data)[k], 4 * (k + 1) * k);
    }
    bench_print(&b);
    bench_close(&b);
}

typedef struct {
    double work, limit;
    xpu_node last;
    int polls;
} meter;

static xpu_status count_work(void *context, xpu_node node, double work) {
    meter *m = context;
    CU_ASSERT(work >= 1);
    m->work += work;
    m->last = node;
    return m->work > m->limit ? XPU_ETIMEOUT : XPU_OK;
}

static int stop_after(void *context) {
    return ++*(int *)context > 1000;
}

/* A loop that never ends, with no node or one in its body, as a whole graph and alone: work that its dims do not say is
 * counted, and the caller is asked in every iteration. */
static void endless_with(int has_node) {
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    xpu_value x = bench_input(&b, "x", XPU_I64, DIMS(4));
    loop l = begin_loop(&b, (xpu_value){0}, (xpu_value){0}, &x, 1, 0);
    xpu_value y = carried(&b, &l, x, NULL);
    leave(&b, l.top, (xpu_value[]){l.condition, has_node ? op2(&b, XPU_OP_ADD, y, y) : y}, 2);
    infer(&b, l.node);
    xpu_graph_output(g, xpu_node_output(g, l.node, 0));
    int64_t data[4] = {1, 2, 3, 4};
    xpu_tensor in = {XPU_I64, 1, {4}, data}, out[2];
    const xpu_tensor *operands[] = {NULL, NULL, &in};
    for (int i = 0; i < 4; i++) {
        int stops = i & 1;
        meter m = {.limit = stops ? 1e12 : 10000};
        const xpu_ref_options options = {.inputs = &in, .meter = count_work, .context = &m};
        b.mem.stop = stops ? stop_after : NULL;
        b.mem.stop_context = &m.polls;
        xpu_status status = i < 2 ? xpu_ref_run(g, &options, out, b.arena, &b.diags)
                                  : xpu_ref_node_metered(g, l.node, &options, operands, out, b.arena, &b.diags);
        CU_ASSERT_EQUAL(status, stops ? XPU_ESTOPPED : XPU_ETIMEOUT);
        CU_ASSERT(m.work < 20000);
        CU_ASSERT_EQUAL(m.polls, stops ? 1001 : 0);
    }
    bench_close(&b);
}

static void endless(void) {
    endless_with(0);
    endless_with(1);
}

/* 5 iterations of y + x, on 4 elements: what is counted is what runs. */
static void counted(void) {
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    xpu_value n = xpu_graph_input(g, "n", XPU_I64, 0, NULL), x = bench_input(&b, "x", XPU_I64, DIMS(4));
    loop l = begin_loop(&b, n, (xpu_value){0}, &x, 1, 0);
    xpu_value y = carried(&b, &l, x, NULL);
    leave(&b, l.top, (xpu_value[]){l.condition, op2(&b, XPU_OP_ADD, y, x)}, 2);
    infer(&b, l.node);
    xpu_graph_output(g, xpu_node_output(g, l.node, 0));
    int64_t data[4] = {1, 2, 3, 4}, trips[] = {5, 0};
    for (int i = 0; i < 2; i++) {
        xpu_tensor out, in[] = {{.dtype = XPU_I64, .data = &trips[i]}, {XPU_I64, 1, {4}, data}};
        meter m = {.limit = 1e6};
        xpu_ref_options options = {.inputs = in, .meter = count_work, .context = &m};
        CU_ASSERT_EQUAL(xpu_ref_run(g, &options, &out, b.arena, &b.diags), XPU_OK);
        double own = xpu_ref_cost_of_node(g, l.node, NULL).work;
        CU_ASSERT_EQUAL(m.work, own + (double)trips[i] * ((1 + 4 + 4 + 4) + (1 + 2 + 1 + 4)));
        CU_ASSERT_EQUAL(m.last.id, l.node.id);
    }
    bench_close(&b);
}

/* A tensor that grows by the captured x in each of 7 iterations, along its middle axis, inside an if. */
static void growing(void) {
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    xpu_value c = xpu_graph_input(b.graph, "c", XPU_BOOL, 0, NULL), x = bench_input(&b, "x", XPU_F32, DIMS(2, 3, 1));
    xpu_node node = add_control(&b, XPU_OP_IF, &c, 1, 1);
    xpu_block top = enter(&b, node);
    loop l = begin_loop(&b, number(&b, XPU_I64, 7), (xpu_value){0}, &x, 1, 0);
    xpu_dim i = xpu_dim_new_symbol(&g->dims, "i", 0, 6, l.iteration, 0, (xpu_dim){0});
    xpu_dim size = xpu_dim_add_const(&g->dims, xpu_dim_mul_const(&g->dims, i, 3), 3);
    xpu_value y = carried(&b, &l, x, (xpu_dim[]){xpu_value_at(g, x)->dims[0], size, xpu_value_at(g, x)->dims[2]});
    xpu_value all =
        xpu_node_output(g, bench_node(&b, XPU_OP_CONCAT, (xpu_value[]){y, x}, 2, &XPU_ATTR_INT_OF(AXIS, 1), 1), 0);
    leave(&b, l.top, (xpu_value[]){l.condition, all}, 2);
    xpu_value grown = xpu_node_output(g, l.node, 0);
    xpu_value_at(g, grown)->rank = 3;
    xpu_value_at(g, grown)->dims[1] = xpu_dim_const(&g->dims, 24);
    infer(&b, l.node);
    CU_ASSERT_STRING_EQUAL(xpu_type_text(g, grown, b.arena), "float32[2,24,1]");
    leave(&b, top, &grown, 1);
    top = enter(&b, node);
    xpu_value eight[8] = {x, x, x, x, x, x, x, x};
    xpu_value copies = xpu_node_output(g, bench_node(&b, XPU_OP_CONCAT, eight, 8, &XPU_ATTR_INT_OF(AXIS, 1), 1), 0);
    leave(&b, top, &copies, 1);
    infer(&b, node);
    xpu_graph_output(g, xpu_node_output(g, node, 0));
    float data[] = {1, 2, 3, 4, 5, 6};
    for (uint8_t goes = 0; goes < 2; goes++) {
        xpu_tensor out, in[] = {{.dtype = XPU_BOOL, .data = &goes}, {XPU_F32, 3, {2, 3, 1}, data}};
        run(&b, in, &out);
        for (int k = 0; k < 48; k++) CU_ASSERT_EQUAL(((float *)out.data)[k], data[k / 24 * 3 + k % 3]);
    }
    bench_print(&b);
    bench_close(&b);
}

/* What both a body and its surroundings compute is computed outside; two branches keep theirs. */
static void passes(void) {
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    xpu_value c = xpu_graph_input(b.graph, "c", XPU_BOOL, 0, NULL), x = bench_input(&b, "x", XPU_F32, DIMS(4));
    xpu_value abs = op1(&b, XPU_OP_ABS, x);
    xpu_node node = add_control(&b, XPU_OP_IF, &c, 1, 2);
    for (int i = 0; i < 2; i++) {
        xpu_block top = enter(&b, node);
        xpu_value exp = op1(&b, XPU_OP_EXP, op1(&b, XPU_OP_IDENTITY, op1(&b, XPU_OP_ABS, x)));
        xpu_value two = op2(&b, XPU_OP_ADD, xpu_graph_const_f32(g, NULL, 1), xpu_graph_const_f32(g, NULL, 1));
        leave(&b, top, (xpu_value[]){exp, op2(&b, i ? XPU_OP_ADD : XPU_OP_MUL, exp, two)}, 2);
    }
    infer(&b, node);
    xpu_graph_output(g, op2(&b, XPU_OP_ADD, xpu_node_output(g, node, 0), abs));
    xpu_graph_output(g, xpu_node_output(g, node, 1));
    CU_ASSERT_EQUAL(xpu_pass_fold(g, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_pass_canonicalise(g, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_verify(g, "canonicalise", &b.diags), XPU_OK);
    uint32_t all = 0;
    XPU_FOR_ALL_NODES(g, n) all++;
    CU_ASSERT_EQUAL(all, 7); /* abs, if, (exp, mul), (exp, add), add */
    CU_ASSERT_EQUAL(xpu_pass_chains(g, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_verify(g, "chains", &b.diags), XPU_OK);
    for (uint8_t goes = 0; goes < 2; goes++) {
        float data[] = {-1, 0, 1, 2};
        xpu_tensor out[2], in[] = {{.dtype = XPU_BOOL, .data = &goes}, {XPU_F32, 1, {4}, data}};
        run(&b, in, out);
        float first = ((float *)out[0].data)[1], second = ((float *)out[1].data)[1];
        CU_ASSERT(first == 1 && second == (goes ? 2 : 3));
    }
    bench_print(&b);
    bench_close(&b);
}

/* y = c ? relu(x) : x; a loop of `trips` doubles y, and stacks what it makes; d is another output of the graph. */
static uint32_t nodes_left(bench *b, int c, int64_t trips, float want) {
    xpu_graph *g = b->graph;
    xpu_dim_symbol(&g->dims, "N", 1, 16, 1); /* no matter of the bodies */
    xpu_value x = bench_input(b, "x", XPU_F32, DIMS(2));
    xpu_node node = add_control(b, XPU_OP_IF, &(xpu_value){number(b, XPU_BOOL, c).id}, 1, 1);
    xpu_block top = enter(b, node);
    xpu_value y = op1(b, XPU_OP_RELU, x);
    leave(b, top, &y, 1);
    leave(b, enter(b, node), &x, 1);
    infer(b, node);
    y = xpu_node_output(g, node, 0);
    xpu_graph_output(g, y);
    loop l = begin_loop(b, number(b, XPU_I64, trips), number(b, XPU_BOOL, 1), &y, 1, trips == 1);
    xpu_value s = carried(b, &l, y, NULL), twice = op2(b, XPU_OP_ADD, s, s);
    leave(b, l.top, (xpu_value[]){l.condition, twice, twice}, trips == 1 ? 3 : 2);
    if (trips == 1) {
        xpu_value_at(g, xpu_node_output(g, l.node, 1))->rank = 2;
        xpu_value_at(g, xpu_node_output(g, l.node, 1))->dims[0] = xpu_dim_const(&g->dims, 1);
    }
    infer(b, l.node);
    for (uint32_t i = 0; i < (trips == 1 ? 3 : 2); i++) xpu_graph_output(g, xpu_node_output(g, l.node, i));
    CU_ASSERT_EQUAL(xpu_pass_canonicalise(g, &b->diags), XPU_OK);
    float data[] = {-1, 3};
    xpu_tensor out[4], in = {XPU_F32, 1, {2}, data};
    run(b, &in, out);
    CU_ASSERT_EQUAL(((float *)out[0].data)[0], c ? 0 : -1);
    CU_ASSERT_EQUAL(((float *)out[1].data)[1], want);
    CU_ASSERT_EQUAL(*(int64_t *)out[trips == 1 ? 3 : 2].data, trips);
    if (trips == 1) CU_ASSERT(out[2].dims[0] == 1 && ((float *)out[2].data)[1] == want);
    uint32_t left = 0;
    XPU_FOR_ALL_NODES(g, n) left += xpu_node_is(g, n, XPU_OP_IF) || xpu_node_is(g, n, XPU_OP_LOOP);
    bench_print(b);
    return left;
}

static void decided(void) {
    static const struct {
        int c;
        int64_t trips;
        float want;
        uint32_t left;
    } cases[] = {{1, 0, 3, 0}, {0, 1, 6, 0}, {1, 1, 6, 0}, {0, 2, 12, 1}};
    for (int i = 0; i < 4; i++) {
        BENCH_OPEN(b);
        CU_ASSERT_EQUAL(nodes_left(&b, cases[i].c, cases[i].trips, cases[i].want), cases[i].left);
        bench_close(&b);
    }
}

static void raising(void) {
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    xpu_value c = xpu_graph_input(b.graph, "c", XPU_BOOL, 0, NULL), x = bench_input(&b, "x", XPU_F32, DIMS(4));
    xpu_node node = add_control(&b, XPU_OP_IF, &c, 1, 1);
    xpu_block top = enter(&b, node);
    xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, XPU_F32), XPU_ATTR_DIMS_OF(SHAPE, xpu_value_at(g, x)->dims, 1),
                        XPU_ATTR_STRING_OF(REASON, "the shapes do not fit")};
    xpu_value raised = xpu_node_output(g, bench_node(&b, XPU_OP_RAISE, NULL, 0, attrs, 3), 0);
    leave(&b, top, &raised, 1);
    top = enter(&b, node);
    leave(&b, top, &x, 1);
    infer(&b, node);
    xpu_graph_output(g, xpu_node_output(g, node, 0));
    float data[] = {-1, 0, 1, 2};
    uint8_t goes = 0;
    xpu_tensor out, in[] = {{.dtype = XPU_BOOL, .data = &goes}, {XPU_F32, 1, {4}, data}};
    run(&b, in, &out);
    CU_ASSERT_EQUAL(memcmp(out.data, data, sizeof data), 0);
    goes = 1;
    xpu_ref_options options = {.inputs = in};
    CU_ASSERT_EQUAL(xpu_ref_run(g, &options, &out, b.arena, &b.diags), XPU_EUSAGE);
    CU_ASSERT(b.diags.count == 1 && strcmp(b.diags.items[0].rule, "ref-raise") == 0);
    CU_ASSERT_STRING_EQUAL(b.diags.items[0].why, "the shapes do not fit");
    bench_close(&b);
}

/* Captured values listed as operands: the node runs alone. */
static void alone(void) {
    BENCH_OPEN(b);
    nested n = build_nested(&b);
    xpu_list_captures(b.graph, n.outer_if);
    infer(&b, n.outer_if);
    CU_ASSERT_EQUAL(xpu_verify(b.graph, "test", &b.diags), XPU_OK);
    const xpu_node_info *info = xpu_node_at(b.graph, n.outer_if);
    CU_ASSERT_EQUAL_FATAL(info->input_count, 4); /* c, x, d, x * x */
    uint8_t c = 0, d = 0;
    float x[] = {1, 2, 3, 4}, s[] = {10, 20, 30, 40};
    xpu_tensor result,
        in[] = {{.dtype = XPU_BOOL, .data = &c}, {XPU_F32, 1, {4}, x}, {XPU_BOOL, 1, {1}, &d}, {XPU_F32, 1, {4}, s}};
    const xpu_tensor *inputs[] = {&in[0], &in[1], &in[2], &in[3]};
    CU_ASSERT_EQUAL_FATAL(xpu_ref_node(b.graph, n.outer_if, NULL, inputs, &result, b.arena, &b.diags), XPU_OK);
    for (int i = 0; i < 4; i++) CU_ASSERT_EQUAL(((float *)result.data)[i], x[i] + s[i]);
    expect_nested(&b);
    bench_print(&b);
    bench_close(&b);
}

static void wrong_forms(void) {
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    xpu_value c = xpu_graph_input(b.graph, "c", XPU_BOOL, 0, NULL), x = bench_input(&b, "x", XPU_F32, DIMS(4));
    xpu_value y = bench_input(&b, "y", XPU_F32, DIMS(5)), z = bench_input(&b, "z", XPU_F32, DIMS(4, 1));
    xpu_value others[] = {y, z, c};
    for (int i = 0; i < 3; i++) {
        xpu_node node = add_control(&b, XPU_OP_IF, &c, 1, 1);
        leave(&b, enter(&b, node), &x, 1);
        leave(&b, enter(&b, node), &others[i], 1);
        CU_ASSERT_EQUAL(xpu_op_infer(g, node, &b.diags), XPU_EMODEL);
        CU_ASSERT_STRING_EQUAL(b.diags.items[b.diags.count - 1].rule, "control-branches");
        loop l = begin_loop(&b, (xpu_value){0}, c, &x, 1, 0);
        carried(&b, &l, x, NULL);
        leave(&b, l.top, (xpu_value[]){l.condition, others[i]}, 2);
        CU_ASSERT_EQUAL(xpu_op_infer(g, l.node, &b.diags), XPU_EMODEL);
        CU_ASSERT_STRING_EQUAL(b.diags.items[b.diags.count - 1].rule, "control-carried");
    }
    loop l = begin_loop(&b, (xpu_value){0}, x, NULL, 0, 0);
    leave(&b, l.top, &l.condition, 1);
    CU_ASSERT_EQUAL(xpu_op_infer(g, l.node, &b.diags), XPU_EMODEL);
    xpu_node none = add_control(&b, XPU_OP_IF, &c, 1, 1);
    CU_ASSERT_EQUAL(xpu_op_infer(g, none, &b.diags), XPU_EMODEL);
    CU_ASSERT_STRING_EQUAL(b.diags.items[b.diags.count - 1].rule, "control-form");
    bench_close(&b);
}

static void text(void) {
    BENCH_OPEN(b);
    build_nested(&b);
    xpu_text out;
    xpu_text_init(&out, b.arena);
    xpu_graph_text(b.graph, &out);
    CU_ASSERT_PTR_NOT_NULL(strstr(out.text, "%v2 : float32[4] = if(%c)\n"
                                            "  block ()\n"
                                            "    %v3 : float32[4] = relu(%x)\n"
                                            "  results %v3\n"
                                            "  block ()\n"
                                            "    %v4 : float32[4] = if(%d)\n"
                                            "      block ()\n"));
    bench_close(&b);
}

XPU_TEST_MAIN("control", {"branches", branches}, {"editing", editing}, {"visibility", visibility}, {"exits", exits},
              {"endless", endless}, {"what is counted", counted}, {"growing", growing}, {"passes", passes},
              {"decided", decided}, {"raise", raising}, {"a node alone", alone}, {"wrong forms", wrong_forms},
              {"text", text})
