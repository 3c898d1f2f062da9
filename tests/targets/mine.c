/*
 * The target "mine" of test_targets.sh: what a plug-in can do right and wrong before another target. It takes products
 * by a matrix, with the bias that its pattern puts into them, and elementwise chains, of which it makes what the
 * environment variable MINE says.
 */
#include <stdlib.h>
#include <string.h>

#include "core/target.h"

static int is_mode(const char *mode) {
    const char *wanted = getenv("MINE");
    return wanted && strcmp(wanted, mode) == 0;
}

static xpu_status start(xpu_target_job *job) {
    (void)job;
    return XPU_OK;
}

/* ---- the stock target's fusion, through the services ---- */

static int accepts_bias(const xpu_graph *graph, const xpu_match *match) {
    return match->services->accepts_bias(graph, match);
}
static xpu_status fuse_bias(xpu_graph *graph, const xpu_match *match, xpu_diags *diags) {
    return match->services->fuse_bias(graph, match, diags);
}
static const xpu_pattern patterns[] = {
    {"bias", "a bias starts the accumulation", {"matmul", "add"}, accepts_bias, fuse_bias},
    {NULL, NULL, {NULL}, NULL, NULL},
};

/* ---- rules ---- */

static int has_one_row(xpu_rule_query *q) {
    int64_t dims[XPU_MAX_RANK];
    xpu_value x = xpu_node_input(q->job->graph, q->node, XPU_IN_X);
    if (q->job->services->value_dims(q->job->graph, x, NULL, dims) && dims[0] == 1) return 1;
    q->value = "it has more";
    return 0;
}
static const xpu_rule one_row = {"mine-rows", "the first operand has one row", "set the batch to 1", has_one_row};
static int wants_chains(xpu_rule_query *q) {
    (void)q;
    return getenv("MINE") != NULL;
}
static const xpu_rule chains = {"mine-chains", "chains are wanted", NULL, wants_chains};
static const xpu_rule *const product_rules[] = {&one_row, NULL}, *const chain_rules[] = {&chains, NULL};
static const xpu_support support[] = {
    {XPU_OP_MATMUL, "a product with its bias", product_rules},
    {XPU_OP_CHAIN, "what MINE says", chain_rules},
    {XPU_OP_COUNT, NULL, NULL},
};

/* ---- C ---- */

static void lower_product(xpu_target_job *job, xpu_node node, xpu_portable *c) {
    const xpu_services *s = job->services;
    xpu_value *operands = s->alloc(job->arena, 3 * sizeof *operands);
    int64_t dims[XPU_MAX_RANK];
    operands[0] = xpu_node_input(job->graph, node, XPU_IN_X);
    operands[1] = xpu_node_input(job->graph, node, XPU_IN_W);
    operands[2] = xpu_node_input(job->graph, node, XPU_IN_BIAS);
    s->value_dims(job->graph, operands[1], NULL, dims);
    c->operands = operands;
    c->operand_count = operands[2].id ? 3 : 2;
    c->source = s->printf(job->arena,
                          "#include <stdint.h>\n"
                          "void %s(const float *x, const float *w, %sfloat *y, void *scratch, const int32_t *dims) {\n"
                          "    for (int n = 0; n < %lld; n++) {\n        float r = %s;\n"
                          "        for (int k = 0; k < %lld; k++) r += x[k] * w[k * %lld + n];\n"
                          "        y[n] = r;\n    }\n}\n",
                          c->entry, operands[2].id ? "const float *bias, " : "", (long long)dims[1],
                          operands[2].id ? "bias[n]" : "0", (long long)dims[0], (long long)dims[1]);
}

/* The text around which a chain's mode is: the declaration of the function with one operand. */
static const char *function(xpu_target_job *job, const xpu_portable *c, const char *before, const char *body) {
    return job->services->printf(job->arena,
                                 "#include <stdint.h>\n%s\n"
                                 "void %s(const float *x, float *y, void *scratch, const int32_t *dims) {\n%s}\n",
                                 before, c->entry, body);
}

static const struct {
    const char *mode, *before, *body;
} texts[] = {
    {"absolute", "", "    for (int i = 0; i < 960; i++) y[i] = x[i] < 0 ? -x[i] : x[i];\n"},
    {"syntax", "", "    y[0] = x[0] +;\n"},
    {"include", "#include <math.h>", "    y[0] = expf(x[0]);\n"},
    {"libm", "float expf(float);", "    y[0] = expf(x[0]);\n"},
    {"malloc", "void *malloc(__SIZE_TYPE__);", "    y[0] = *(float *)malloc(4);\n"},
    {"internal", "uint32_t xpu_lm_bytes(void);", "    y[0] = (float)xpu_lm_bytes();\n"},
    {"external", "void other(float *y) { y[0] = 1; }", "    other(y);\n"},
    {"variable", "static float last;", "    y[0] = last;\n    last = x[0];\n"},
    {"constants", "static const float many[1000] = {1, 2, 3};", "    y[0] = many[(int)x[0]];\n"},
    {"frame", "static float sum(volatile float *all) { return all[0] + all[999]; }",
     "    volatile float all[1000];\n    for (int i = 0; i < 1000; i++) all[i] = x[i];\n    y[0] = sum(all);\n"},
    {"endless", "", "    for (volatile int i = 0; i >= 0; i = 1) y[0] = x[0];\n"},
};

/* The first region has the name of a function of the library. */
static void take_name(xpu_target_job *job, const char *name, xpu_portable *c) {
    static int taken;
    if (taken++) return;
    c->entry = name;
    c->source = function(job, c, "", "    y[0] = x[0];\n");
}

static xpu_status lower_chain(xpu_target_job *job, xpu_portable *c) {
    static const xpu_value nowhere[] = {{1u << 30}};
    if (is_mode("silent")) return XPU_EBUG;
    if (is_mode("null-text")) c->source = NULL;
    if (is_mode("null-entry")) c->entry = NULL;
    if (is_mode("bad-entry")) c->entry = "no name";
    if (is_mode("reserved-entry")) c->entry = "xpu_wait";
    if (is_mode("library-entry")) take_name(job, "GM2LM", c);
    if (is_mode("memcpy-entry")) take_name(job, "memcpy", c);
    if (is_mode("same-entry")) c->entry = "same";
    if (is_mode("same-entry")) c->source = function(job, c, "", "    y[0] = x[0];\n");
    if (is_mode("null-operands")) c->operands = NULL;
    if (is_mode("null-operands")) c->operand_count = 99;
    if (is_mode("no-operand")) c->operands = nowhere;
    if (is_mode("outer-operand")) c->operands = job->graph->inputs.items;
    if (is_mode("no-results")) c->result_count = 0;
    if (is_mode("more-results")) c->result_count = 7;
    if (is_mode("other-results")) c->results = c->operands;
    if (is_mode("null-dims")) c->dim_count = 3;
    if (is_mode("scratch")) c->scratch_bytes = job->services->dim_const(&job->graph->dims, (int64_t)1 << 50);
    if (is_mode("unknown-scratch")) c->scratch_bytes = (xpu_dim){1u << 30};
    if (is_mode("types"))
        c->source =
            job->services->printf(job->arena, "void %s(const float *x, int *y) { y[0] = (int)x[0]; }\n", c->entry);
    if (is_mode("no-entry")) c->source = "static int nothing;";
    return XPU_OK;
}

static xpu_status lower_portable(xpu_target_job *job, uint32_t index, xpu_portable *c) {
    const xpu_region *region = &job->regions[index];
    const xpu_block_info *body = xpu_block_at(job->graph, xpu_node_at(job->graph, region->call)->blocks[0]);
    c->entry = job->services->printf(job->arena, "mine_%u", region->number);
    c->operands = body->arguments.items;
    c->operand_count = 1;
    c->results = body->results.items;
    c->result_count = body->results.count;
    if (strcmp(xpu_node_at(job->graph, region->nodes[0])->op->name, "matmul") == 0) {
        lower_product(job, region->nodes[0], c);
        return XPU_OK;
    }
    c->source = function(job, c, "", "    y[0] = x[0];\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (is_mode(texts[i].mode)) c->source = function(job, c, texts[i].before, texts[i].body);
    }
    return lower_chain(job, c);
}

static xpu_target target = {.version = XPU_TARGET_VERSION,
                            .name = "mine",
                            .about = "products with a bias",
                            .patterns = patterns,
                            .support = support,
                            .start = start,
                            .lower_portable = lower_portable};

__attribute__((visibility("default"))) const xpu_target *xpuc_plugin(void);
const xpu_target *xpuc_plugin(void) {
    if (is_mode("version")) target.version = 2;
    if (is_mode("incomplete")) target.lower_portable = NULL;
    return &target;
}
