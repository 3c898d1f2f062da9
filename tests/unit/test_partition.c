/* Patterns, rules and regions, with a toy target; properties of regions on random graphs. */
#include "partition/partition.h"
#include "tests/unit/ir.h"
#include "xpuc/pipeline.h"

/* ---- a toy target: no exp, clips from 0 up only, pairs of relu become one ---- */

static int clips_from_zero(xpu_rule_query *q) {
    float low = q->job->services->node_float(q->job->graph, q->node, XPU_ATTR_LOW);
    if (low >= 0) return 1;
    q->value = q->job->services->printf(q->job->arena, "it begins at %g", (double)low);
    return 0;
}
static int clips_to_six(xpu_rule_query *q) {
    return q->job->services->node_float(q->job->graph, q->node, XPU_ATTR_HIGH) <= 6;
}
static const xpu_rule from_zero = {"toy-clip-low", "a clip begins at 0 or above", "use relu", clips_from_zero};
static const xpu_rule to_six = {"toy-clip-high", "a clip ends at 6 or below", NULL, clips_to_six};
static const xpu_rule *const clip_rules[] = {&from_zero, &to_six, NULL};
static const xpu_support support[] = {
    {XPU_OP_RELU, "relu", NULL},
    {XPU_OP_ADD, "add", NULL},
    {XPU_OP_CLIP, "clip", clip_rules},
    {XPU_OP_COUNT, NULL, NULL},
};

static int accept(const xpu_graph *graph, const xpu_match *match) {
    (void)graph;
    return match->count == 2 && match->operand[1] == 0;
}
/* relu of relu: the second one goes. */
static xpu_status fuse_relus(xpu_graph *graph, const xpu_match *match, xpu_diags *diags) {
    (void)diags;
    xpu_value_replace(graph, xpu_node_output(graph, match->nodes[1], 0), xpu_node_output(graph, match->nodes[0], 0));
    xpu_node_remove(graph, match->nodes[1]);
    return XPU_OK;
}
static xpu_status fail(xpu_graph *graph, const xpu_match *match, xpu_diags *diags) {
    (void)match;
    return xpu_error(diags, XPU_EBUG, graph->file, "toy", NULL, "it cannot be fused", NULL, NULL);
}
static const xpu_pattern patterns[] = {
    {"relu+relu", "the same", {"abs|relu", "relu"}, accept, fuse_relus},
    {NULL, NULL, {NULL}, NULL, NULL},
};
static const xpu_pattern failing[] = {
    {"relu+relu", "fails", {"relu", "relu"}, NULL, fail},
    {NULL, NULL, {NULL}, NULL, NULL},
};
static const xpu_target toy = {.name = "toy", .host_regions = 1, .patterns = patterns, .support = support};
static const xpu_target strict = {.name = "toy", .host_regions = 0, .support = support};
static const xpu_target broken = {.name = "toy", .patterns = failing};

static xpu_target_job job_of(bench *b) {
    return (xpu_target_job){.services = &xpu_target_services, .graph = b->graph, .arena = b->arena, .diags = &b->diags};
}

static xpu_value add_node(bench *b, xpu_op_id op, xpu_value x, xpu_value y) {
    xpu_value inputs[] = {x, y};
    return xpu_node_output(b->graph, bench_node(b, op, inputs, y.id ? 2 : 1, NULL, 0), 0);
}

static xpu_value unary(bench *b, xpu_op_id op, xpu_value x) {
    return add_node(b, op, x, (xpu_value){0});
}

static xpu_value clip(bench *b, xpu_value x, float low, float high) {
    xpu_attr attrs[] = {XPU_ATTR_FLOAT_OF(LOW, low), XPU_ATTR_FLOAT_OF(HIGH, high)};
    return xpu_node_output(b->graph, bench_node(b, XPU_OP_CLIP, &x, 1, attrs, 2), 0);
}

/* ---- patterns ---- */

static void matching(void) {
    BENCH_OPEN(b);
    xpu_value x = bench_input(&b, "x", XPU_F32, DIMS(4));
    for (int i = 0; i < 5; i++) x = unary(&b, XPU_OP_RELU, x);
    xpu_value shared = unary(&b, XPU_OP_EXP, x);
    xpu_value twice = unary(&b, XPU_OP_RELU, shared);
    xpu_graph_output(b.graph, add_node(&b, XPU_OP_ADD, unary(&b, XPU_OP_RELU, twice), twice));
    uint32_t applied = 0;
    CU_ASSERT_EQUAL(xpu_partition_match(b.graph, &toy, &applied, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(applied, 4); /* not where the first relu has two users */
    CU_ASSERT_EQUAL(xpu_count_nodes(b.graph), 5);
    CU_ASSERT_EQUAL(xpu_verify(b.graph, "match", &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_partition_match(b.graph, &toy, &applied, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(applied, 0);
    bench_close(&b);
}

static void failing_action(void) {
    BENCH_OPEN(b);
    xpu_value x = bench_input(&b, "x", XPU_F32, DIMS(4));
    xpu_graph_output(b.graph, unary(&b, XPU_OP_RELU, unary(&b, XPU_OP_RELU, x)));
    CU_ASSERT_EQUAL(xpu_partition_match(b.graph, &broken, NULL, &b.diags), XPU_EBUG);
    CU_ASSERT_EQUAL(b.diags.errors, 1);
    bench_close(&b);
}

/* ---- rules ---- */

static void build_refused(bench *b) {
    xpu_value x = bench_input(b, "x", XPU_F32, DIMS(4));
    x = unary(b, XPU_OP_RELU, clip(b, x, -1, 7));
    xpu_graph_output(b->graph, clip(b, unary(b, XPU_OP_EXP, x), 0, 6));
}

static void refusals(void) {
    BENCH_OPEN(b);
    build_refused(&b);
    xpu_target_job job = job_of(&b);
    xpu_partition partition;
    CU_ASSERT_EQUAL(xpu_partition_check(&job, &toy, &partition), XPU_OK);
    CU_ASSERT_EQUAL(b.diags.count, 0);
    CU_ASSERT_EQUAL_FATAL(partition.refusals.count, 3);
    const xpu_refusal *r = partition.refusals.items;
    CU_ASSERT_STRING_EQUAL(r[0].rule, "toy-clip-low");
    CU_ASSERT_STRING_EQUAL(r[0].sentence, "a clip begins at 0 or above");
    CU_ASSERT_STRING_EQUAL(r[0].value, "it begins at -1");
    CU_ASSERT_STRING_EQUAL(r[0].hint, "use relu");
    CU_ASSERT_STRING_EQUAL(r[1].rule, "toy-clip-high");
    CU_ASSERT_EQUAL(r[1].node.id, r[0].node.id);
    CU_ASSERT_STRING_EQUAL(r[2].rule, "target-operator");
    CU_ASSERT_STRING_EQUAL(r[2].value, "the operator is exp");
    xpu_partition_carve(&job, &partition);
    CU_ASSERT_EQUAL_FATAL(job.region_count, 4);
    CU_ASSERT(job.regions[0].on_host && !job.regions[1].on_host && job.regions[2].on_host && !job.regions[3].on_host);
    CU_ASSERT_PTR_NOT_NULL(strstr(job.regions[0].reason, "a clip begins at 0 or above; it begins at -1"));
    CU_ASSERT_PTR_NULL(strstr(job.regions[0].reason, "more")); /* it is the only one */
    CU_ASSERT_STRING_EQUAL(job.regions[0].hint, "use relu");
    CU_ASSERT_PTR_NULL(job.regions[1].reason);
    bench_close(&b);
}

static void refused_at_once(void) {
    BENCH_OPEN(b);
    build_refused(&b);
    xpu_target_job job = job_of(&b);
    xpu_partition partition;
    CU_ASSERT_EQUAL(xpu_partition_check(&job, &strict, &partition), XPU_EMODEL);
    CU_ASSERT_EQUAL_FATAL(b.diags.errors, 3);
    CU_ASSERT_STRING_EQUAL(b.diags.items[0].what, "target 'toy' does not take the node");
    CU_ASSERT_STRING_EQUAL(b.diags.items[0].why, "a clip begins at 0 or above; it begins at -1");
    CU_ASSERT_STRING_EQUAL(b.diags.items[1].why, "a clip ends at 6 or below");
    CU_ASSERT_STRING_EQUAL(b.diags.items[2].rule, "target-operator");
    bench_close(&b);
}

/* ---- regions ---- */

enum { MAX_NODES = 40 };

static void random_graph(bench *b, random_source *r) {
    static const xpu_op_id ops[] = {XPU_OP_RELU, XPU_OP_ADD, XPU_OP_EXP, XPU_OP_MUL, XPU_OP_RELU};
    xpu_value values[MAX_NODES + 2];
    int count = 2, nodes = (int)random_range(r, 1, MAX_NODES);
    values[0] = bench_input(b, NULL, XPU_F32, DIMS(3));
    values[1] = bench_input(b, NULL, XPU_F32, DIMS(3));
    for (int i = 0; i < nodes; i++) {
        xpu_op_id op = ops[random_range(r, 0, 4)];
        int from = random_range(r, 0, 1) ? (count > 6 ? count - 6 : 0) : 0;
        xpu_value x = values[random_range(r, from, count - 1)], y = values[random_range(r, 0, count - 1)];
        values[count++] = xpu_op_of(op)->min_inputs == 2 ? add_node(b, op, x, y) : unary(b, op, x);
    }
    for (int i = 2; i < count; i++) {
        if (!xpu_value_at(b->graph, values[i])->uses.count) xpu_graph_output(b->graph, values[i]);
    }
}

/* The fewest changes of side that the dependences leave: the longest alternation along a path, for the better of the
 * two beginnings. */
static uint32_t fewest_regions(bench *b, const xpu_partition *partition) {
    uint32_t best = UINT32_MAX;
    for (int first = 0; first < 2; first++) {
        uint32_t *level = XPU_NEW_ARRAY(b->arena, uint32_t, b->graph->nodes.count), most = 0, present = 0;
        XPU_FOR_ALL_NODES(b->graph, node) {
            int side = (xpu_partition_refusal(partition, node) != NULL) ^ first;
            uint32_t here = side ? 2 : 1;
            for (uint32_t i = 0; i < xpu_node_at(b->graph, node)->input_count; i++) {
                xpu_node maker = xpu_value_at(b->graph, xpu_node_input(b->graph, node, i))->node;
                uint32_t before = maker.id ? level[maker.id] : 0;
                if (before > here) here = before;
            }
            if ((here & 1) == (side ? 1u : 0u)) here++;
            level[node.id] = here;
            if (here > most) most = here;
            present |= here == 1;
        }
        uint32_t regions = present ? most : most - 1;
        if (regions < best) best = regions;
    }
    return best;
}

/* No path leaves a region and comes back. */
static void check_convex(const xpu_graph *graph, const xpu_region *region, xpu_arena *arena) {
    uint8_t *outside = xpu_alloc(arena, graph->nodes.count); /* a path from the region came out to here */
    XPU_FOR_ALL_NODES(graph, node) {
        int reached = 0;
        for (uint32_t i = 0; i < xpu_node_at(graph, node)->input_count; i++) {
            xpu_node maker = xpu_value_at(graph, xpu_node_input(graph, node, i))->node;
            if (!maker.id) continue;
            int inside = xpu_node_at(graph, maker)->region == region->number;
            if (xpu_node_at(graph, node)->region == region->number) CU_ASSERT(inside || !outside[maker.id]);
            reached |= inside || outside[maker.id];
        }
        outside[node.id] = reached && xpu_node_at(graph, node)->region != region->number;
    }
}

static void check_regions(bench *b, const xpu_target_job *job, const xpu_partition *partition) {
    xpu_node expected = xpu_graph_first(b->graph);
    for (uint32_t i = 0; i < job->region_count; i++) {
        const xpu_region *region = &job->regions[i];
        CU_ASSERT_EQUAL(region->number, i + 1);
        CU_ASSERT(region->node_count > 0);
        CU_ASSERT(i == 0 || region->on_host != job->regions[i - 1].on_host);
        CU_ASSERT((region->reason != NULL) == region->on_host);
        for (uint32_t k = 0; k < region->node_count; k++) {
            CU_ASSERT_EQUAL(region->nodes[k].id, expected.id);
            CU_ASSERT_EQUAL(xpu_node_at(b->graph, expected)->region, region->number);
            CU_ASSERT_EQUAL(xpu_partition_refusal(partition, expected) != NULL, region->on_host);
            expected = xpu_node_next(b->graph, expected);
        }
        check_convex(b->graph, region, b->arena);
    }
    CU_ASSERT_EQUAL(expected.id, 0);
}

static void random_regions(void) {
    random_source r = random_open("regions");
    for (int round = 0; round < 300; round++) {
        BENCH_OPEN(b);
        random_graph(&b, &r);
        xpu_target_job job = job_of(&b);
        xpu_partition partition;
        xpu_checker *checker = xpu_checker_new(b.arena);
        uint32_t nodes = xpu_count_nodes(b.graph);
        CU_ASSERT_EQUAL(xpu_checker_run(checker, b.graph, "build", XPU_EFFECT_DEFINES, &b.diags), XPU_OK);
        CU_ASSERT_EQUAL(xpu_partition_check(&job, &toy, &partition), XPU_OK);
        uint32_t fewest = fewest_regions(&b, &partition);
        xpu_partition_carve(&job, &partition);
        CU_ASSERT_EQUAL(xpu_verify(b.graph, "carve", &b.diags), XPU_OK);
        CU_ASSERT_EQUAL(xpu_count_nodes(b.graph), nodes);
        CU_ASSERT_EQUAL(xpu_checker_run(checker, b.graph, "partition", XPU_EFFECT_EXACT, &b.diags), XPU_OK);
        check_regions(&b, &job, &partition);
        CU_ASSERT_EQUAL(job.region_count, fewest);
        /* A node that the target adds later is its own. */
        xpu_value x = b.graph->inputs.items[0];
        xpu_node added =
            xpu_build(b.graph, xpu_graph_first(b.graph), XPU_OP_IDENTITY, &x, 1, NULL, NULL, 0, NULL, 0, &b.diags);
        xpu_partition_update(&job, &partition);
        check_regions(&b, &job, &partition);
        CU_ASSERT_EQUAL(xpu_node_at(b.graph, added)->region, 1);
        CU_ASSERT(!job.regions[0].on_host);
        if (b.diags.errors) bench_print(&b);
        bench_close(&b);
    }
}

/* ---- several targets: products go to the first, exp to nobody ---- */

static const xpu_support first_support[] = {{XPU_OP_MUL, "mul", NULL}, {XPU_OP_COUNT, NULL, NULL}};
static const xpu_target first_target = {.name = "first", .support = first_support};

/* Each product is in the body of a region, with all that stands beside it; every other node is in none. */
static void check_bodies(const bench *b, const xpu_target_job *job) {
    uint32_t calls = 0;
    XPU_FOR_ALL_NODES(b->graph, node) {
        const xpu_region *region = &job->regions[xpu_node_at(b->graph, node)->region - 1];
        xpu_node owner = xpu_block_at(b->graph, xpu_node_at(b->graph, node)->parent)->owner;
        int is_call = xpu_node_is(b->graph, node, XPU_OP_REGION);
        int is_product = xpu_node_is(b->graph, node, XPU_OP_MUL);
        calls += (uint32_t)is_call;
        CU_ASSERT_EQUAL(is_product, owner.id != 0);
        CU_ASSERT_EQUAL(region->call.id != 0, is_product || is_call);
        CU_ASSERT_PTR_EQUAL(region->target, is_product || is_call                     ? &first_target
                                            : xpu_node_is(b->graph, node, XPU_OP_EXP) ? NULL
                                                                                      : &toy);
        if (is_product) CU_ASSERT_EQUAL(region->call.id, owner.id);
    }
    for (uint32_t i = 0; i < job->region_count; i++) {
        const xpu_region *region = &job->regions[i];
        CU_ASSERT(region->number == i + 1 && region->node_count > 0);
        calls -= region->call.id != 0;
    }
    CU_ASSERT_EQUAL(calls, 0);
}

static void several_targets(void) {
    random_source r = random_open("targets");
    for (int round = 0; round < 300; round++) {
        BENCH_OPEN(b);
        random_graph(&b, &r);
        xpu_target_job last = job_of(&b), earlier = job_of(&b);
        earlier.program_target = &toy;
        const xpu_offer offers[] = {{&first_target, &earlier}, {&toy, &last}};
        xpu_partition partition;
        xpu_checker *checker = xpu_checker_new(b.arena);
        CU_ASSERT_EQUAL(xpu_checker_run(checker, b.graph, "build", XPU_EFFECT_DEFINES, &b.diags), XPU_OK);
        CU_ASSERT_EQUAL(xpu_partition_check_all(offers, 2, &partition), XPU_OK);
        XPU_FOR_ALL_NODES(b.graph, node) {
            const xpu_refusal *refusal = xpu_partition_refusal_by(&partition, 0, node);
            CU_ASSERT_EQUAL(refusal == NULL, xpu_node_is(b.graph, node, XPU_OP_MUL));
            if (refusal) CU_ASSERT_PTR_NOT_NULL(strstr(xpu_refusal_text(refusal, b.arena), "[target-operator]"));
        }
        xpu_partition_carve(&last, &partition);
        CU_ASSERT_EQUAL(xpu_verify(b.graph, "carve", &b.diags), XPU_OK);
        CU_ASSERT_EQUAL(xpu_checker_run(checker, b.graph, "partition", XPU_EFFECT_EXACT, &b.diags), XPU_OK);
        check_bodies(&b, &last);
        CU_ASSERT_PTR_EQUAL(earlier.regions, last.regions);
        if (b.diags.errors) bench_print(&b);
        bench_close(&b);
    }
}

/* A pattern of the last target leaves alone what an earlier one takes as it is. */
static void patterns_in_turn(void) {
    static const xpu_support takes_abs[] = {{XPU_OP_ABS, "abs", NULL}, {XPU_OP_COUNT, NULL, NULL}};
    static const xpu_target abs_target = {.name = "abs", .support = takes_abs};
    for (int with_abs = 0; with_abs < 2; with_abs++) {
        BENCH_OPEN(b);
        xpu_value x = bench_input(&b, "x", XPU_F32, DIMS(3));
        xpu_graph_output(b.graph, unary(&b, XPU_OP_RELU, unary(&b, XPU_OP_ABS, x)));
        xpu_target_job last = job_of(&b), earlier = job_of(&b);
        const xpu_offer offers[] = {{with_abs ? &abs_target : &first_target, &earlier}, {&toy, &last}};
        CU_ASSERT_EQUAL(xpu_partition_match_all(offers, 2, &b.diags), XPU_OK);
        CU_ASSERT_EQUAL(xpu_count_nodes(b.graph), with_abs ? 2 : 1);
        bench_close(&b);
    }
}

XPU_TEST_MAIN("partition", {"several targets", several_targets}, {"patterns in turn", patterns_in_turn},
              {"matching", matching}, {"failing action", failing_action}, {"refusals", refusals},
              {"refused at once", refused_at_once}, {"random regions", random_regions})
