/* Which products of two computed matrices run on the tensor engine, where the second is packed as weights. */
#include "tests/unit/codegen_fixture.h"
#include "xpu_codegen/lower/program.h"

static const struct {
    const char *why;
    int x_rank;
    int64_t x[4];
    int w_rank;
    int64_t w[4];
    const char *precision;
    int columns; /* of the array; 0: as they are */
    uint32_t packed;
} products[] = {
    {"each matrix has its own", 4, {1, 3, 48, 64}, 4, {1, 3, 64, 80}, "int16", 0, 1},
    {"the same in bytes", 4, {1, 3, 48, 64}, 4, {1, 3, 64, 80}, "int16x8", 0, 1},
    {"a second rank", 3, {3, 48, 64}, 3, {3, 64, 80}, "int16", 0, 1},
    {"one for all", 3, {3, 48, 64}, 2, {64, 80}, "int16", 0, 1},
    {"float32", 4, {1, 3, 48, 64}, 4, {1, 3, 64, 80}, "fp32", 0, 0},
    {"one is multiplied by several", 3, {1, 48, 64}, 3, {3, 64, 80}, "int16", 0, 0},
    {"few rows", 3, {3, 15, 256}, 3, {3, 256, 256}, "int16", 0, 0},
    {"rows enough", 3, {3, 16, 256}, 3, {3, 256, 256}, "int16", 0, 1},
    {"a small product", 2, {16, 16}, 2, {16, 16}, "int16", 0, 0},
    {"a wide array", 3, {3, 48, 64}, 3, {3, 64, 80}, "int16", 128, 0},
    {"the widest that is packed for", 3, {3, 48, 64}, 3, {3, 64, 80}, "int16", 64, 1},
};

static void packed(void) {
    for (volatile size_t i = 0; i < sizeof products / sizeof *products; i++) {
        BENCH_OPEN(b);
        work w;
        xpu_value operands[] = {input(&b, "x", products[i].x_rank, products[i].x),
                                input(&b, "w", products[i].w_rank, products[i].w)};
        xpu_node node = bench_node(&b, XPU_OP_MATMUL, operands, 2, NULL, 0);
        xpu_graph_output(b.graph, xpu_node_output(b.graph, node, 0));
        xpu_codegen *cg = work_start(&b, &w, "standard", products[i].precision);
        if (products[i].columns) cg->chip.array_columns = (uint32_t)products[i].columns;
        work_prepare(&b, &w);
        uint32_t count = count_ops(&b, XPU_OP_PACKED_MATMUL);
        if (count != products[i].packed) printf("%s: %u\n", products[i].why, count);
        CU_ASSERT_EQUAL(count, products[i].packed);
        CU_ASSERT_EQUAL(count_ops(&b, XPU_OP_PACK_MATRIX), products[i].packed);
        bench_close(&b);
    }
}

/* Rows of an open dim count as the geometric mean of its bounds: for both kinds of products. */
static void open_rows(void) {
    static const struct {
        int64_t least, most;
        uint32_t packed, integer;
    } ranges[] = {{1, 64, 0, 0}, {64, 64, 1, 1}, {16, 64, 1, 1}, {1, 1024, 1, 1}};
    for (volatile size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        BENCH_OPEN(b);
        work w;
        const xpu_dim rows = ranges[i].least < ranges[i].most
                                 ? xpu_dim_symbol(&b.graph->dims, "N", ranges[i].least, ranges[i].most, 1)
                                 : xpu_dim_const(&b.graph->dims, ranges[i].most);
        const xpu_dim dims[] = {rows, xpu_dim_const(&b.graph->dims, 48)};
        xpu_value x = xpu_graph_input(b.graph, "x", XPU_F32, 2, dims);
        xpu_value pairs[][2] = {{x, input(&b, "w", 2, (const int64_t[]){48, 256})},
                                {x, constant(&b, 2, (const int64_t[]){48, 64})}};
        for (int k = 0; k < 2; k++)
            xpu_graph_output(b.graph, xpu_node_output(b.graph, bench_node(&b, XPU_OP_MATMUL, pairs[k], 2, NULL, 0), 0));
        work_start(&b, &w, "standard", "auto");
        work_prepare(&b, &w);
        uint32_t integer = 0;
        XPU_FOR_ALL_NODES(b.graph, node) {
            integer += xpu_node_is(b.graph, node, XPU_OP_MATMUL) &&
                       xpu_node_int(b.graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32;
        }
        CU_ASSERT_EQUAL(count_ops(&b, XPU_OP_PACKED_MATMUL), ranges[i].packed);
        CU_ASSERT_EQUAL(integer, ranges[i].integer);
        if (integer != ranges[i].integer) printf("%d..%d\n", (int)ranges[i].least, (int)ranges[i].most);
        bench_close(&b);
    }
}

/* The layers of a product, the tensor engine's and the one that restores its rows, have the name of the importer's node
 * or, where it has none, that of its result. */
static void names(void) {
    static const char *const nodes[] = {"scores", NULL};
    for (volatile int i = 0; i < 2; i++) {
        BENCH_OPEN(b);
        work w;
        const xpu_origin from = {.framework = "onnx", .op = "MatMul", .name = nodes[i]};
        const uint32_t origin = xpu_graph_origin(b.graph, &from);
        const xpu_value operands[] = {input(&b, "x", DIMS(3, 48, 64)), input(&b, "w", DIMS(3, 64, 80))};
        xpu_node node =
            xpu_build(b.graph, (xpu_node){0}, XPU_OP_MATMUL, operands, 2, "y", NULL, 0, &origin, 1, &b.diags);
        xpu_graph_output(b.graph, xpu_node_output(b.graph, node, 0));
        xpu_codegen *cg = work_start(&b, &w, "standard", "int16");
        work_prepare(&b, &w);
        CU_ASSERT_EQUAL_FATAL(xpu_lower_program(cg), XPU_OK);
        const char *name = nodes[i] ? nodes[i] : "y";
        const char *product = xpu_printf(b.arena, "%s/rows", name);
        uint32_t found = 0, last = cg->program.layers.count - 1;
        for (uint32_t k = 0; k <= last; k++) {
            const xpu_program_layer *layer = &cg->program.layers.items[k];
            if (layer->unit != XPU_UNIT_TENSOR) continue;
            found++;
            CU_ASSERT_STRING_EQUAL(layer->name, product);
        }
        CU_ASSERT_EQUAL(found, 1);
        CU_ASSERT_STRING_EQUAL(cg->program.layers.items[last].name, name);
        bench_close(&b);
    }
}

XPU_TEST_MAIN("computed weights", {"packed", packed}, {"open rows", open_rows}, {"names", names})
