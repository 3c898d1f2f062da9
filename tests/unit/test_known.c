/* Values that are known as expressions: for random values of the symbols they are what the reference kernels compute.
 */
#include <string.h>

#include "core/ops/ref.h"
#include "core/passes/passes.h"
#include "core/passes/verify.h"
#include "tests/unit/unit.h"

enum { ENTRIES = 4, SYMBOLS = 3, TRIES = 200 };

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpu_graph *graph;
    uint64_t state;
} bench;

static void begin(bench *b) {
    static const int64_t ranges[SYMBOLS][2] = {{-20, 20}, {1, 12}, {0, 100}};
    memset(b, 0, sizeof *b);
    xpu_mem_init(&b->mem);
    if (setjmp(b->mem.out_of_memory)) CU_FAIL_FATAL("out of memory");
    b->arena = xpu_arena_new(&b->mem, "test");
    xpu_diags_init(&b->diags);
    b->graph = xpu_graph_new(b->arena, "known", "known.onnx");
    b->state = 7;
    for (int i = 0; i < SYMBOLS; i++)
        xpu_dim_symbol(&b->graph->dims, (const char *const[]){"a", "b", "c"}[i], ranges[i][0], ranges[i][1], 1);
}

static void end(bench *b) {
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

static int64_t draw(bench *b, int64_t low, int64_t high) {
    b->state = b->state * 6364136223846793005u + 1442695040888963407u;
    return low + (int64_t)((b->state >> 33) % (uint64_t)(high - low + 1));
}

static xpu_dim symbol(bench *b, int i) {
    return xpu_dim_symbol(&b->graph->dims, (const char *const[]){"a", "b", "c"}[i], 0, 1, 1);
}

/* A number, a symbol, or a sum of both times something. `least` is what it is not below. */
static xpu_dim random_dim(bench *b, int positive) {
    xpu_dims *dims = &b->graph->dims;
    if (draw(b, 0, 3) == 0) return xpu_dim_const(dims, draw(b, positive ? 1 : -9, 9));
    xpu_dim dim = xpu_dim_mul_const(dims, symbol(b, positive ? 1 : (int)draw(b, 0, 2)), draw(b, 1, 3));
    return xpu_dim_add_const(dims, dim, draw(b, positive ? 0 : -5, 5));
}

static xpu_value data(bench *b, int positive, xpu_dtype dtype) {
    xpu_dim dims[ENTRIES], shape = xpu_dim_const(&b->graph->dims, ENTRIES);
    for (int i = 0; i < ENTRIES; i++) {
        dims[i] = random_dim(b, positive);
        if (dtype == XPU_BOOL)
            dims[i] = xpu_dim_op(&b->graph->dims, XPU_DIM_MOD, dims[i], xpu_dim_const(&b->graph->dims, 2));
    }
    xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(VALUES, dims, ENTRIES), XPU_ATTR_DIMS_OF(SHAPE, &shape, 1),
                        XPU_ATTR_INT_OF(DTYPE, dtype)};
    xpu_node node = xpu_build(b->graph, (xpu_node){0}, XPU_OP_DIM_VALUES, NULL, 0, NULL, attrs, 3, NULL, 0, &b->diags);
    return xpu_node_output(b->graph, node, 0);
}

static xpu_value apply(bench *b, xpu_op_id op, const xpu_value *x, uint32_t count, const xpu_attr *attrs,
                       uint32_t attr_count) {
    xpu_node node = xpu_build(b->graph, (xpu_node){0}, op, x, count, NULL, attrs, attr_count, NULL, 0, &b->diags);
    return xpu_node_output(b->graph, node, 0);
}

static double at(const xpu_tensor *tensor, int i) {
    switch (tensor->dtype) {
    case XPU_F32: return (double)((const float *)tensor->data)[i];
    case XPU_I32: return ((const int32_t *)tensor->data)[i];
    case XPU_BOOL: return ((const uint8_t *)tensor->data)[i];
    default: return (double)((const int64_t *)tensor->data)[i];
    }
}

/* Every entry of `value` that is known is what a run gives. Returns how many are. */
static int compare(bench *b, xpu_value value, const char *what) {
    xpu_known list[XPU_MOST_KNOWN];
    xpu_tensor result;
    int count = xpu_value_known(b->graph, value, list), known = 0;
    b->graph->outputs.count = 0;
    xpu_graph_output(b->graph, value);
    for (int t = 0; t < 12 && count > 0; t++) {
        int64_t symbols[SYMBOLS] = {draw(b, -20, 20), draw(b, 1, 12), draw(b, 0, 100)};
        xpu_ref_options options = {.symbols = symbols};
        CU_ASSERT_EQUAL_FATAL(xpu_ref_run(b->graph, &options, &result, b->arena, &b->diags), XPU_OK);
        known = 0;
        for (int i = 0; i < count; i++) {
            if (!list[i].dim.id) continue;
            double expected = at(&result, i),
                   found = (double)xpu_dim_eval(&b->graph->dims, list[i].dim, symbols) / list[i].over;
            if (found != expected) fprintf(stderr, "\n%s: entry %d is %g, known as %g\n", what, i, expected, found);
            CU_ASSERT_EQUAL(found, expected);
            known++;
        }
    }
    xpu_value_at(b->graph, value)->is_output = 0;
    return known;
}

typedef struct {
    xpu_op_id op;
    uint32_t operands;
    int positive; /* the last one is above 0 */
    xpu_dtype dtype;
} row;

static void test_elementwise(void) {
    static const row rows[] = {
        {XPU_OP_ADD, 2, 0, XPU_I64},
        {XPU_OP_SUB, 2, 0, XPU_I64},
        {XPU_OP_MUL, 2, 0, XPU_I64},
        {XPU_OP_DIV, 2, 1, XPU_I64},
        {XPU_OP_MOD, 2, 1, XPU_I64},
        {XPU_OP_FMOD, 2, 1, XPU_I64},
        {XPU_OP_MAX, 2, 0, XPU_I64},
        {XPU_OP_MIN, 2, 0, XPU_I32},
        {XPU_OP_NEG, 1, 0, XPU_I64},
        {XPU_OP_ABS, 1, 0, XPU_I32},
        {XPU_OP_EQUAL, 2, 0, XPU_I64},
        {XPU_OP_LESS, 2, 0, XPU_I32},
        {XPU_OP_LESS_OR_EQUAL, 2, 0, XPU_I64},
        {XPU_OP_GREATER, 2, 0, XPU_I64},
        {XPU_OP_GREATER_OR_EQUAL, 2, 0, XPU_I64},
        {XPU_OP_AND, 2, 0, XPU_BOOL},
        {XPU_OP_OR, 2, 0, XPU_BOOL},
        {XPU_OP_XOR, 2, 0, XPU_BOOL},
        {XPU_OP_NOT, 1, 0, XPU_BOOL},
        {XPU_OP_IDENTITY, 1, 0, XPU_I64},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        int known = 0;
        for (int t = 0; t < TRIES / 10; t++) {
            bench b;
            begin(&b);
            b.state += (uint64_t)t * 977 + r;
            xpu_value x[] = {data(&b, 0, rows[r].dtype), data(&b, rows[r].positive, rows[r].dtype)};
            xpu_value y = apply(&b, rows[r].op, x, rows[r].operands, NULL, 0);
            known += compare(&b, y, xpu_op_of(rows[r].op)->name);
            end(&b);
        }
        CU_ASSERT(known >= TRIES / 10 * ENTRIES); /* all of them */
    }
}

/* Through float32: halves, doubles, quotients, floors and ceilings, and back. */
static void test_floats(void) {
    static const float factors[] = {0.5f, 2, 0.25f, 1.5f, 3};
    for (int t = 0; t < TRIES; t++) {
        bench b;
        begin(&b);
        b.state += (uint64_t)t * 131;
        xpu_value x = data(&b, 0, XPU_I64);
        x = apply(&b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, XPU_F32), 1);
        CU_ASSERT_EQUAL(compare(&b, x, "to float32"), ENTRIES);
        xpu_tensor factor = {.dtype = XPU_F32, .data = (float[]){factors[t % 5]}};
        xpu_value pair[] = {x, xpu_graph_const_bytes(b.graph, NULL, &factor)};
        int divides = t % 3 == 0;
        x = apply(&b, divides ? XPU_OP_DIV : XPU_OP_MUL, pair, 2, NULL, 0);
        if (!divides) CU_ASSERT_EQUAL(compare(&b, x, "times"), ENTRIES);
        int way = t % 4;
        if (way < 2) x = apply(&b, way ? XPU_OP_CEIL : XPU_OP_FLOOR, &x, 1, NULL, 0);
        x = apply(&b, XPU_OP_CONVERT, &x, 1, &XPU_ATTR_INT_OF(DTYPE, XPU_I64), 1);
        int exact = !divides || factors[t % 5] != 1.5f;
        CU_ASSERT_EQUAL(compare(&b, x, "back"), exact ? ENTRIES : 0);
        end(&b);
    }
}

static void test_moves(void) {
    for (int t = 0; t < 20; t++) {
        bench b;
        begin(&b);
        b.state += (uint64_t)t;
        xpu_dims *dims = &b.graph->dims;
        xpu_value x[] = {data(&b, 0, XPU_I64), data(&b, 0, XPU_I64)};
        xpu_value y = apply(&b, XPU_OP_CONCAT, x, 2, &XPU_ATTR_INT_OF(AXIS, 0), 1);
        CU_ASSERT_EQUAL(compare(&b, y, "concat"), 2 * ENTRIES);
        xpu_dim square[] = {xpu_dim_const(dims, 2), xpu_dim_const(dims, 4)};
        y = apply(&b, XPU_OP_RESHAPE, &y, 1, &XPU_ATTR_DIMS_OF(SHAPE, square, 2), 1);
        y = apply(&b, XPU_OP_TRANSPOSE, &y, 1, &XPU_ATTR_INTS_OF(PERM, ((const int64_t[]){1, 0}), 2), 1);
        CU_ASSERT_EQUAL(compare(&b, y, "transpose"), 2 * ENTRIES);
        xpu_value z = apply(&b, XPU_OP_REDUCE_SUM, &y, 1, &XPU_ATTR_INT_OF(AXIS, 0), 1);
        CU_ASSERT_EQUAL(compare(&b, z, "sum"), 2);
        z = apply(&b, XPU_OP_REDUCE_MAX, &y, 1, &XPU_ATTR_INT_OF(AXIS, 1), 1);
        CU_ASSERT_EQUAL(compare(&b, z, "max"), 4);
        z = apply(&b, XPU_OP_REDUCE_PROD, &y, 1, &XPU_ATTR_INT_OF(AXIS, 1), 1);
        CU_ASSERT_EQUAL(compare(&b, z, "prod"), 4);
        xpu_value c[] = {data(&b, 0, XPU_BOOL), x[0], x[1]};
        z = apply(&b, XPU_OP_WHERE, c, 3, NULL, 0);
        CU_ASSERT_EQUAL(compare(&b, z, "where"), ENTRIES);
        end(&b);
    }
}

/* What no symbol changes is a constant; what a type may not hold is not known. */
static void test_decided(void) {
    bench b;
    begin(&b);
    xpu_dims *dims = &b.graph->dims;
    xpu_dim shape = xpu_dim_const(dims, 1), n = symbol(&b, 1);
    xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(VALUES, &n, 1), XPU_ATTR_DIMS_OF(SHAPE, &shape, 1),
                        XPU_ATTR_INT_OF(DTYPE, XPU_I64)};
    xpu_value x = apply(&b, XPU_OP_DIM_VALUES, NULL, 0, attrs, 3);
    xpu_tensor none = {.dtype = XPU_I64, .rank = 1, .dims = {1}, .data = (int64_t[]){0}};
    xpu_tensor large = {.dtype = XPU_I64, .rank = 1, .dims = {1}, .data = (int64_t[]){1 << 29}};
    xpu_value zero = xpu_graph_const_bytes(b.graph, NULL, &none), many = xpu_graph_const_bytes(b.graph, NULL, &large);
    xpu_value y = apply(&b, XPU_OP_EQUAL, (xpu_value[]){x, zero}, 2, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(xpu_value_at(b.graph, y)->constant);
    CU_ASSERT_EQUAL(*(const uint8_t *)xpu_value_at(b.graph, y)->constant->bytes, 0);
    y = apply(&b, XPU_OP_GREATER, (xpu_value[]){x, zero}, 2, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(xpu_value_at(b.graph, y)->constant);
    CU_ASSERT_EQUAL(*(const uint8_t *)xpu_value_at(b.graph, y)->constant->bytes, 1);
    y = apply(&b, XPU_OP_DIV, (xpu_value[]){zero, x}, 2, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL(xpu_value_at(b.graph, y)->constant);
    y = apply(&b, XPU_OP_MUL, (xpu_value[]){x, many}, 2, NULL, 0); /* up to 12 * 2^29 */
    CU_ASSERT_PTR_NOT_NULL(xpu_value_at(b.graph, y)->known);
    y = apply(&b, XPU_OP_CONVERT, &y, 1, &XPU_ATTR_INT_OF(DTYPE, XPU_I32), 1);
    CU_ASSERT_PTR_NULL(xpu_value_at(b.graph, y)->known);
    end(&b);
}

/* A truth that shapes decide is data of its type. */
static void test_truth(void) {
    bench b;
    begin(&b);
    xpu_value x = data(&b, 0, XPU_BOOL);
    xpu_graph_output(b.graph, x);
    CU_ASSERT_EQUAL(xpu_verify(b.graph, "build", &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_value_at(b.graph, x)->dtype, XPU_BOOL);
    end(&b);
}

/* Of shapes alone, it is one node; of what an input holds, it stays computed. */
static void test_as_data(void) {
    for (int of_input = 0; of_input < 2; of_input++) {
        bench b;
        begin(&b);
        xpu_dims *dims = &b.graph->dims;
        xpu_dim shape = xpu_dim_const(dims, 1), n = symbol(&b, 1);
        xpu_value input = xpu_graph_input(b.graph, "k", XPU_I64, 1, &shape);
        if (of_input) n = xpu_dim_symbol_of(dims, "k", 1, 9, 1, input, 0);
        xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(VALUES, &n, 1), XPU_ATTR_DIMS_OF(SHAPE, &shape, 1),
                            XPU_ATTR_INT_OF(DTYPE, XPU_I64)};
        xpu_value x = apply(&b, XPU_OP_DIM_VALUES, NULL, 0, attrs, 3);
        x = apply(&b, XPU_OP_ADD, (xpu_value[]){x, x}, 2, NULL, 0);
        x = apply(&b, XPU_OP_NEG, &x, 1, NULL, 0);
        xpu_graph_output(b.graph, x);
        CU_ASSERT_EQUAL(xpu_pass_canonicalise(b.graph, &b.diags), XPU_OK);
        CU_ASSERT_EQUAL(xpu_verify(b.graph, "canonicalise", &b.diags), XPU_OK);
        int nodes = 0;
        XPU_FOR_ALL_NODES(b.graph, node) nodes++;
        CU_ASSERT_EQUAL(nodes, of_input ? 3 : 1);
        end(&b);
    }
}

XPU_TEST_MAIN("known", {"elementwise", test_elementwise}, {"floats", test_floats}, {"moves", test_moves},
              {"decided", test_decided}, {"as data", test_as_data}, {"truth", test_truth})
