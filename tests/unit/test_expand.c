/* Composite operators and what they expand to give the same bits. */
#include "core/arith.h"
#include "core/ops/ref.h"
#include "core/passes/passes.h"
#include "tests/unit/ir.h"

static xpu_tensor random_tensor(bench *b, random_source *r, int rank, const int64_t *dims) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = rank};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    float *data = xpu_alloc(b->arena, xpu_tensor_bytes(&tensor));
    for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++) data[i] = random_float(r);
    tensor.data = data;
    return tensor;
}

/* Runs the graph of `node` before and after it is expanded. */
static void check_expansion(bench *b, random_source *r, xpu_node node, int rank, const int64_t *dims) {
    xpu_graph *g = b->graph;
    const xpu_op_id op = xpu_op_id_of(xpu_node_at(g, node)->op);
    xpu_graph_output(g, xpu_node_output(g, node, 0));
    xpu_tensor x = random_tensor(b, r, rank, dims), before, after;
    xpu_ref_options options = {.inputs = &x};
    CU_ASSERT_EQUAL(xpu_ref_run(g, &options, &before, b->arena, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_pass_legalise(g, &b->diags), XPU_OK);
    xpu_remove_dead(g);
    XPU_FOR_ALL_NODES(g, left) CU_ASSERT(!xpu_node_is(g, left, op));
    CU_ASSERT_EQUAL(xpu_verify(g, "expand", &b->diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_ref_run(g, &options, &after, b->arena, &b->diags), XPU_OK);
    const float *one = before.data, *other = after.data;
    for (int64_t i = 0; i < xpu_tensor_count(&x); i++) CU_ASSERT(xa_same(one[i], other[i]));
    bench_print(b);
}

static void batch_norm(void) {
    random_source r = random_open("expand");
    BENCH_OPEN(b);
    xpu_value inputs[5] = {bench_input(&b, "x", XPU_F32, DIMS(2, 5, 3))};
    for (int i = 1; i < 5; i++) {
        xpu_tensor p = random_tensor(&b, &r, DIMS(5));
        for (int j = 0; j < 5; j++) ((float *)p.data)[j] = xa_abs(((float *)p.data)[j]);
        inputs[i] = xpu_graph_const_bytes(b.graph, NULL, &p);
    }
    check_expansion(&b, &r, bench_node(&b, XPU_OP_BATCH_NORM, inputs, 5, NULL, 0), DIMS(2, 5, 3));
    bench_close(&b);
}

/* With and without mean, scale and bias; of rows that are too long for one core. */
static void norm(void) {
    random_source r = random_open("norms");
    for (int form = 0; form < 8; form++) {
        BENCH_OPEN(b);
        xpu_value inputs[3] = {bench_input(&b, "x", XPU_F32, DIMS(2, 2, 4103))};
        for (int i = 1; i < 3; i++) {
            xpu_tensor p = random_tensor(&b, &r, DIMS(4103));
            if (form >> i & 1) inputs[i] = xpu_graph_const_bytes(b.graph, NULL, &p);
        }
        xpu_attr attrs[] = {XPU_ATTR_INT_OF(CENTRED, form & 1), XPU_ATTR_FLOAT_OF(EPSILON, 1e-3f)};
        check_expansion(&b, &r,
                        bench_node(&b, XPU_OP_NORM, inputs,
                                   form >> 2   ? 3
                                   : form >> 1 ? 2
                                               : 1,
                                   attrs, 2),
                        DIMS(2, 2, 4103));
        bench_close(&b);
    }
}

XPU_TEST_MAIN("expand", {"batch norm", batch_norm}, {"norm", norm})
