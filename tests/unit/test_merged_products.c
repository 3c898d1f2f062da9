/* Which products of one row are kept in float32, and which become one product. */
#include "tests/unit/codegen_fixture.h"

/* ---- float32 for few products ---- */

/* A lone row: up to 2^17 weights; several: up to 2^15 products; columns for each lane of each core. */
static void small_products(void) {
    static const struct {
        int64_t rows, inner, columns;
        uint32_t integer;
    } products[] = {
        {1, 256, 511, 0}, {1, 256, 512, 1}, {1, 512, 255, 0}, {1, 512, 256, 1}, {1, 64, 64, 0},  {1, 64, 63, 1},
        {2, 64, 255, 0},  {2, 64, 256, 1},  {4, 128, 63, 1},  {4, 64, 127, 0},  {4, 64, 128, 1},
    };
    for (volatile size_t i = 0; i < sizeof products / sizeof *products; i++) {
        BENCH_OPEN(b);
        work w;
        xpu_value x = input(&b, "x", DIMS(products[i].rows, products[i].inner));
        xpu_value y = node2(&b, XPU_OP_MATMUL, x, constant(&b, DIMS(products[i].inner, products[i].columns)), NULL, 0);
        xpu_graph_output(b.graph, y);
        work_start(&b, &w, "standard", "auto");
        work_prepare(&b, &w);
        uint32_t integer = 0;
        XPU_FOR_ALL_NODES(b.graph, node) {
            integer += xpu_node_is(b.graph, node, XPU_OP_MATMUL) &&
                       xpu_node_int(b.graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_INT16;
        }
        if (integer != products[i].integer) printf("product %d\n", (int)i);
        CU_ASSERT_EQUAL(integer, products[i].integer);
        bench_close(&b);
    }
}

/* ---- merging ---- */

typedef struct {
    int64_t columns;
    int bias, relu, is_output;
    int computed; /* its bias is an input */
    int of_other; /* its row is another operand */
    int branch;   /* it adds a row that is there already */
} product;

enum { MOST_PRODUCTS = 4 };

static const struct {
    const char *why;
    int rank;
    int64_t rows, inner;
    product products[MOST_PRODUCTS];
    const char *precision;
    uint32_t matmuls, slices;
} sets[] = {
    {"a gate and what it gates", 2, 1, 64, {{.columns = 172}, {.columns = 172}}, "auto", 1, 2},
    {"the same in int16", 2, 1, 64, {{.columns = 172}, {.columns = 172}}, "int16", 1, 2},
    {"queries, keys and values", 3, 1, 64, {{.columns = 64}, {.columns = 32}, {.columns = 32}}, "fp32", 1, 3},
    {"images of one pixel", 4, 1, 64, {{.columns = 64}, {.columns = 32}}, "fp32", 1, 2},
    {"biases", 2, 1, 64, {{.columns = 64, .bias = 1}, {.columns = 32, .bias = 1}}, "fp32", 1, 2},
    {"biases that are computed",
     2,
     1,
     64,
     {{.columns = 64, .bias = 1, .computed = 1}, {.columns = 32, .bias = 1, .computed = 1}},
     "fp32",
     2,
     0},
    {"branches", 2, 1, 64, {{.columns = 64, .branch = 1}, {.columns = 32, .branch = 1}}, "fp32", 2, 0},
    {"activations", 2, 1, 64, {{.columns = 64, .relu = 1}, {.columns = 32, .relu = 1}}, "fp32", 1, 2},
    {"one product", 2, 1, 64, {{.columns = 64}}, "fp32", 1, 0},
    {"two rows", 2, 2, 64, {{.columns = 64}, {.columns = 64}}, "fp32", 2, 0},
    {"rows in int16", 2, 100, 64, {{.columns = 64}, {.columns = 32}, {.columns = 32}}, "int16", 1, 3},
    {"a bias of rows", 3, 32, 64, {{.columns = 64, .bias = 1}, {.columns = 32, .bias = 1}}, "int16x8", 1, 2},
    {"as many as are copied", 2, 128, 64, {{.columns = 64}, {.columns = 64}}, "int16", 1, 2},
    {"more of them", 2, 128, 64, {{.columns = 64}, {.columns = 65}}, "int16", 2, 0},
    {"other rows", 2, 1, 64, {{.columns = 64}, {.columns = 64, .of_other = 1}}, "fp32", 2, 0},
    {"an output of the program", 2, 1, 64, {{.columns = 64}, {.columns = 64, .is_output = 1}}, "fp32", 2, 0},
    {"one of three is an output",
     2,
     1,
     64,
     {{.columns = 64}, {.columns = 64, .is_output = 1}, {.columns = 8}},
     "fp32",
     2,
     2},
    {"a bias of one alone", 2, 1, 64, {{.columns = 64}, {.columns = 64, .bias = 1}}, "fp32", 2, 0},
    {"an activation of one alone", 2, 1, 64, {{.columns = 64}, {.columns = 64, .relu = 1}}, "fp32", 2, 0},
    {"precisions", 2, 1, 256, {{.columns = 511}, {.columns = 512}}, "auto", 2, 0},
    {"the most weights", 2, 1, 1024, {{.columns = 512}, {.columns = 512}}, "fp32", 1, 2},
    {"more weights", 2, 1, 1024, {{.columns = 512}, {.columns = 513}}, "fp32", 2, 0},
    {"two by two", 2, 1, 1024, {{.columns = 512}, {.columns = 512}, {.columns = 512}, {.columns = 512}}, "fp32", 2, 4},
};

static xpu_value row(bench *b, const char *name, int rank, int64_t rows, int64_t inner) {
    int64_t dims[XPU_MAX_RANK] = {1, 1, 1, 1};
    dims[rank - 2] = rows;
    dims[rank - 1] = inner;
    return step1(b, XPU_EW_neg, input(b, name, rank, dims));
}

static xpu_value computed_row(bench *b, int rank, const int64_t *dims) {
    return input(b, NULL, rank, dims);
}

static void add_product(bench *b, xpu_value x, int64_t inner, const product *p) {
    xpu_value operands[] = {[XPU_IN_X] = x, [XPU_IN_W] = constant(b, DIMS(inner, p->columns)), [XPU_IN_BRANCH] = {0}};
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(ACTIVATION, XPU_ACTIVATION_CLIP), XPU_ATTR_FLOAT_OF(LOW, 0)};
    if (p->bias) operands[XPU_IN_BIAS] = (p->computed ? computed_row : constant)(b, DIMS(p->columns));
    if (p->branch) operands[XPU_IN_BRANCH] = input(b, NULL, DIMS(1, p->columns));
    const uint32_t count = sizeof operands / sizeof *operands;
    xpu_value y = xpu_node_output(b->graph, bench_node(b, XPU_OP_MATMUL, operands, count, attrs, p->relu ? 2 : 0), 0);
    xpu_graph_output(b->graph, p->is_output ? y : step1(b, XPU_EW_neg, y));
}

static void merged(void) {
    for (volatile size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        BENCH_OPEN(b);
        work w;
        xpu_value x = row(&b, "x", sets[i].rank, sets[i].rows, sets[i].inner);
        for (int k = 0; k < MOST_PRODUCTS && sets[i].products[k].columns; k++) {
            const product *p = &sets[i].products[k];
            if (p->of_other) x = row(&b, "other", sets[i].rank, sets[i].rows, sets[i].inner);
            add_product(&b, x, sets[i].inner, p);
        }
        work_start(&b, &w, "standard", sets[i].precision);
        work_prepare(&b, &w);
        uint32_t matmuls = count_ops(&b, XPU_OP_MATMUL), slices = count_ops(&b, XPU_OP_SLICE);
        if (matmuls != sets[i].matmuls || slices != sets[i].slices)
            printf("%s: %u products, %u slices\n", sets[i].why, matmuls, slices);
        CU_ASSERT_EQUAL(matmuls, sets[i].matmuls);
        CU_ASSERT_EQUAL(slices, sets[i].slices);
        bench_close(&b);
    }
}

XPU_TEST_MAIN("merged products", {"small products", small_products}, {"merged", merged})
