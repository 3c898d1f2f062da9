/* Concats along channels: which make no layer, and where their operands lie. */
#include "tests/unit/codegen_fixture.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/program.h"

static xpu_value concat(bench *b, xpu_value *operands, uint32_t count) {
    const xpu_attr axis = XPU_ATTR_INT_OF(AXIS, 1);
    return xpu_node_output(b->graph, bench_node(b, XPU_OP_CONCAT, operands, count, &axis, 1), 0);
}

static xpu_codegen *lowered(bench *b, work *w, const char *precision) {
    xpu_section section = {0};
    xpu_codegen *cg = work_start(b, w, "standard", precision);
    work_prepare(b, w);
    CU_ASSERT_EQUAL_FATAL(xpu_sim_target.lower(&w->job, 0, &section), XPU_OK);
    return cg;
}

/* Bytes from the buffer that has memory to the value. */
static int64_t place_of(xpu_codegen *cg, xpu_value value, uint32_t *buffer) {
    int64_t offset = 0;
    *buffer = (uint32_t)cg->buffer_of[value.id];
    for (const xpu_program_buffer *at; (at = &cg->program.buffers.items[*buffer])->alias_of >= 0;) {
        int64_t more = 0;
        if (at->alias_offset.id) xpu_dim_is_const(&cg->graph->dims, at->alias_offset, &more);
        offset += more;
        *buffer = (uint32_t)at->alias_of;
    }
    return offset;
}

/* Each concat begins with the one before: all lie in the last one, and no two on the same channels. */
static void dense_block(void) {
    static const char *const precisions[] = {"fp32", "int16", "int16x8"};
    enum { BLOCKS = 5, FIRST = 40, GROWTH = 7 };
    for (volatile int p = 0; p < 3; p++) {
        BENCH_OPEN(b);
        work w;
        xpu_value x = conv(&b, input(&b, "x", DIMS(2, 3, 6, 10)), FIRST, 3, 1, 1), parts[BLOCKS], wholes[BLOCKS];
        for (int i = 0; i < BLOCKS; i++) {
            const xpu_value before = i ? wholes[i - 1] : x, scale = constant(&b, DIMS(1, FIRST + GROWTH * i, 1, 1));
            const xpu_value scaled = p == 0 ? step2(&b, XPU_EW_mul, before, scale) : before; /* who reads it */
            parts[i] = conv(&b, scaled, GROWTH, FIRST + GROWTH * i, 1, 1);
            wholes[i] = concat(&b, (xpu_value[]){before, parts[i]}, 2);
        }
        xpu_graph_output(b.graph, conv(&b, wholes[BLOCKS - 1], 8, FIRST + GROWTH * BLOCKS, 1, 1));
        xpu_codegen *cg = lowered(&b, &w, precisions[p]);
        uint32_t all, own;
        CU_ASSERT_EQUAL(place_of(cg, wholes[BLOCKS - 1], &all), 0);
        CU_ASSERT_EQUAL(place_of(cg, x, &own), 0);
        CU_ASSERT_EQUAL(own, all);
        for (int i = 0; i < BLOCKS; i++) {
            CU_ASSERT_EQUAL(cg->layer_of[maker(&b, wholes[i]).id], -1);
            CU_ASSERT_EQUAL(place_of(cg, wholes[i], &own), 0);
            CU_ASSERT_EQUAL(own, all);
            CU_ASSERT_EQUAL(place_of(cg, parts[i], &own), 4 * (FIRST + GROWTH * i));
            CU_ASSERT_EQUAL(own, all);
            int64_t bytes;
            CU_ASSERT_TRUE(
                xpu_dim_is_const(&b.graph->dims, cg->program.buffers.items[cg->buffer_of[parts[i].id]].bytes, &bytes));
            CU_ASSERT_EQUAL(bytes, 4 * (2 * 6 * 10 * (FIRST + GROWTH * BLOCKS) - FIRST - GROWTH * i));
        }
        CU_ASSERT_EQUAL(cg->program.buffers.items[all].first_layer, (uint32_t)cg->layer_of[maker(&b, x).id]);
        bench_close(&b);
    }
}

/* ---- what is copied ---- */

typedef struct {
    const char *why;
    int layers, joined; /* concats that make a layer; operands that are made in one */
    void (*make)(bench *b, xpu_value a, xpu_value c);
} copied_case;

static void ends(bench *b, xpu_value whole, int64_t channels) {
    xpu_graph_output(b->graph, conv(b, whole, 8, channels, 1, 1));
}
static void two(bench *b, xpu_value a, xpu_value c) {
    ends(b, concat(b, (xpu_value[]){a, c}, 2), 24);
}
static void one_twice(bench *b, xpu_value a, xpu_value c) {
    ends(b, concat(b, (xpu_value[]){a, c, a}, 3), 40);
}
static void read_by_softmax(bench *b, xpu_value a, xpu_value c) {
    const xpu_attr axis = XPU_ATTR_INT_OF(AXIS, 3);
    xpu_graph_output(b->graph, node1(b, XPU_OP_SOFTMAX, a, &axis, 1));
    two(b, a, c);
}
static void leaves(bench *b, xpu_value a, xpu_value c) {
    xpu_graph_output(b->graph, a);
    two(b, a, c);
}
static void whole_leaves(bench *b, xpu_value a, xpu_value c) {
    xpu_graph_output(b->graph, concat(b, (xpu_value[]){a, c}, 2));
}
static void of_a_chain(bench *b, xpu_value a, xpu_value c) {
    two(b, step1(b, XPU_EW_exp, a), c);
}
static void of_a_chain_over_images(bench *b, xpu_value a, xpu_value c) {
    two(b, step2(b, XPU_EW_mul, a, constant(b, DIMS(1, 16, 1, 1))), c);
}
static void of_a_pool(bench *b, xpu_value a, xpu_value c) { /* a layer finds its largest magnitude */
    const int64_t kernel[] = {3, 3}, one[] = {1, 1}, pads[] = {1, 1, 1, 1};
    const xpu_attr attrs[] = {XPU_ATTR_INTS_OF(KERNEL, kernel, 2), XPU_ATTR_INTS_OF(STRIDES, one, 2),
                              XPU_ATTR_INTS_OF(DILATIONS, one, 2), XPU_ATTR_INTS_OF(PADS, pads, 4)};
    two(b, node1(b, XPU_OP_MAX_POOL, a, attrs, 4), c);
}
static void in_two(bench *b, xpu_value a, xpu_value c) {
    ends(b, concat(b, (xpu_value[]){c, a}, 2), 24);
    two(b, a, c);
}

static void copied(void) {
    static const copied_case cases[] = {
        {"nothing", 0, 2, two},
        {"the same channels twice", 1, 1, one_twice},
        {"a reader without strides", 1, 1, read_by_softmax},
        {"an output", 1, 1, leaves},
        {"a whole that is an output", 1, 0, whole_leaves},
        {"what a chain makes", 1, 1, of_a_chain},
        {"nothing of a chain over images", 0, 2, of_a_chain_over_images},
        {"nothing of a pool", 0, 2, of_a_pool},
        {"both, the second time", 1, 2, in_two},
    };
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        work w;
        const xpu_value x = input(&b, "x", DIMS(1, 4, 6, 10));
        cases[i].make(&b, conv(&b, x, 16, 4, 1, 1), conv(&b, x, 8, 4, 1, 1));
        xpu_codegen *cg = lowered(&b, &w, "int16");
        int layers = 0, joined = 0;
        XPU_FOR_ALL_NODES(b.graph, node) {
            layers += xpu_node_is(b.graph, node, XPU_OP_CONCAT) && cg->layer_of[node.id] >= 0;
        }
        for (uint32_t id = 1; id < cg->extent_count; id++) joined += cg->extents[id].whole.id != 0;
        if (layers != cases[i].layers || joined != cases[i].joined)
            printf("%s: %d layers, %d joined\n", cases[i].why, layers, joined);
        CU_ASSERT_EQUAL(layers, cases[i].layers);
        CU_ASSERT_EQUAL(joined, cases[i].joined);
        bench_close(&b);
    }
}

XPU_TEST_MAIN("joins", {"dense block", dense_block}, {"what is copied", copied})
