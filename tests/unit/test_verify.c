/* What must hold behind each pass: for every check a graph that it accepts, and one broken by hand that it refuses. */
#include "tests/unit/codegen_fixture.h"

typedef struct {
    bench *b;
    work w;
    xpu_value x, y, z; /* input, result of the convolution, output */
} sample;

/* A convolution and an activation behind it. */
static void build(sample *s) {
    s->x = input(s->b, "x", DIMS(1, 4, 8, 8));
    s->y = conv(s->b, s->x, 4, 4, 3, 1);
    s->z = node1(s->b, XPU_OP_RELU, s->y, NULL, 0);
    xpu_graph_output(s->b->graph, s->z);
}

/* The same with a chain, and a second one whose result is the output, in int16. */
static void build_prepared(sample *s) {
    s->x = input(s->b, "x", DIMS(1, 4, 8, 8));
    s->y = conv(s->b, s->x, 4, 4, 3, 1);
    s->z = step1(s->b, XPU_EW_exp, s->y);
    xpu_graph_output(s->b->graph, node1(s->b, XPU_OP_MAX_POOL, s->z, &INTS(KERNEL, 2, 2), 1));
    work_prepare(s->b, &s->w);
}

static xpu_value_info *info_of(sample *s, xpu_value value) {
    return xpu_value_at(s->b->graph, value);
}

static void wrong_type(sample *s) {
    info_of(s, s->x)->dtype = XPU_I64;
}
static void wrong_program(sample *s) {
    xpu_chain chain = {.input_count = 1, .step_count = 1};
    chain.steps[0] = (xpu_chain_step){.op = XPU_EW_relu, .operands = {1}}; /* its own result */
    xpu_node node = maker(s->b, s->z);
    xpu_node_at(s->b->graph, node)->op = xpu_op_of(XPU_OP_CHAIN);
    xpu_node_set_attr(s->b->graph, node, &XPU_ATTR_CHAIN_OF(STEPS, &chain));
}
static void early_chain(sample *s) {
    xpu_graph_output(s->b->graph, step1(s->b, XPU_EW_exp, s->y));
}
static void early_region(sample *s) {
    xpu_node_at(s->b->graph, maker(s->b, s->y))->region = 1;
}
static void early_layout(sample *s) {
    info_of(s, s->y)->layout = XPU_LAYOUT_CHANNEL_LAST;
}
static void early_absmax(sample *s) {
    xpu_graph_output(s->b->graph, node1(s->b, XPU_OP_ABSMAX, s->y, NULL, 0));
}
static void known_result(sample *s) {
    info_of(s, s->y)->constant = info_of(s, constant(s->b, DIMS(1, 4, 6, 6)))->constant;
}
static void unused(sample *s) {
    node1(s->b, XPU_OP_NEG, s->y, NULL, 0);
}
static void identity(sample *s) {
    xpu_graph_output(s->b->graph, node1(s->b, XPU_OP_NEG, node1(s->b, XPU_OP_IDENTITY, s->y, NULL, 0), NULL, 0));
}
static void composite(sample *s) {
    xpu_value k = constant(s->b, DIMS(4));
    xpu_node node = bench_node(s->b, XPU_OP_BATCH_NORM, (xpu_value[]){s->y, k, k, k, k}, 5, NULL, 0);
    xpu_graph_output(s->b->graph, xpu_node_output(s->b->graph, node, 0));
}
static void outside_chains(sample *s) {
    xpu_graph_output(s->b->graph, node1(s->b, XPU_OP_NEG, s->z, NULL, 0));
}
static void no_region(sample *s) {
    xpu_node_at(s->b->graph, maker(s->b, s->y))->region = 2;
}
static void lost_absmax(sample *s) {
    xpu_value other = xpu_graph_input(s->b->graph, "other", XPU_F32, 0, NULL);
    xpu_node_set_input(s->b->graph, maker(s->b, s->y), XPU_IN_ABSMAX, other);
}
static void float_weights(sample *s) {
    xpu_node_set_input(s->b->graph, maker(s->b, s->y), XPU_IN_W, constant(s->b, DIMS(4, 4, 3, 3)));
}
static void forgotten_scales(sample *s) {
    xpu_node_set_attr(s->b->graph, maker(s->b, s->y), &XPU_ATTR_INT_OF(PRECISION, XPU_PRECISION_FP32));
}
static xpu_node relayout_of(sample *s) {
    return maker(s->b, xpu_node_input(s->b->graph, maker(s->b, s->y), XPU_IN_X));
}
static void other_layout(sample *s) {
    xpu_node_set_attr(s->b->graph, relayout_of(s), &XPU_ATTR_INT_OF(LAYOUT, XPU_LAYOUT_LINEAR));
}
static void on_host(sample *s) {
    s->w.region.on_host = 1;
    s->w.region.reason = "a test";
}
static void row_major_operand(sample *s) {
    other_layout(s);
    info_of(s, xpu_node_output(s->b->graph, relayout_of(s), 0))->layout = XPU_LAYOUT_LINEAR;
}
static void row_major_image(sample *s) {
    info_of(s, s->y)->layout = XPU_LAYOUT_LINEAR;
}
static void mixed_chain(sample *s) {
    info_of(s, s->z)->layout = XPU_LAYOUT_LINEAR;
}
static void output_order(sample *s) {
    xpu_value output = s->b->graph->outputs.items[0];
    xpu_node_set_attr(s->b->graph, maker(s->b, output), &XPU_ATTR_INT_OF(LAYOUT, XPU_LAYOUT_CHANNEL_LAST));
    info_of(s, output)->layout = XPU_LAYOUT_CHANNEL_LAST;
}

static int is_reported(const bench *b, const char *check) {
    const char *wanted = xpu_printf(b->arena, "': %s", check);
    for (size_t i = 0; i < b->diags.count; i++) {
        if (strcmp(b->diags.items[i].rule, "ir-verify") == 0 && strstr(b->diags.items[i].why, wanted)) return 1;
    }
    return 0;
}

static void every_check(void) {
    static const struct {
        const char *check, *stage;
        void (*build)(sample *s);
        void (*damage)(sample *s);
    } cases[] = {
        {"types", "a test", build, wrong_type},
        {"chain-program", "a test", build, wrong_program},
        {"no-chains-yet", "match", build, early_chain},
        {"no-regions-yet", "match", build, early_region},
        {"unprepared", "match", build, early_layout},
        {"unprepared", "clean", build, early_absmax},
        {"folded", "fold", build, known_result},
        {"used", "fold", build, unused},
        {"identity", "clean", build, identity},
        {"primitive", "legalise", build, composite},
        {"in-chains", "prepare", build_prepared, outside_chains},
        {"region", "prepare", build_prepared, no_region},
        {"precision", "prepare", build_prepared, lost_absmax},
        {"precision", "prepare", build_prepared, float_weights},
        {"precision", "prepare", build_prepared, forgotten_scales},
        {"relayout", "prepare", build_prepared, other_layout},
        {"host-layout", "prepare", build_prepared, on_host},
        {"operand-layout", "prepare", build_prepared, row_major_operand},
        {"result-layout", "prepare", build_prepared, row_major_image},
        {"chain-fits", "prepare", build_prepared, mixed_chain},
        {"output-layout", "prepare", build_prepared, output_order},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        sample s = {.b = &b};
        work_start(&b, &s.w, "nano", "int16");
        cases[i].build(&s);
        CU_ASSERT_EQUAL(xpu_verify_stage(b.graph, cases[i].stage, &s.w.job, &xpu_sim_target, &b.diags), XPU_OK);
        bench_print(&b);
        cases[i].damage(&s);
        CU_ASSERT_EQUAL(xpu_verify_stage(b.graph, cases[i].stage, &s.w.job, &xpu_sim_target, &b.diags), XPU_EBUG);
        if (!is_reported(&b, cases[i].check)) {
            printf("%s after %s is not reported\n", cases[i].check, cases[i].stage);
            bench_print(&b);
            CU_FAIL("a check is silent");
        }
        bench_close(&b);
    }
}

XPU_TEST_MAIN("verify", {"every check refuses a graph that breaks it", every_check})
