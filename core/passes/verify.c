/*
 * What must hold of the operators in a graph, by stage: each check says behind which passes. Every node is looked at,
 * blocks of control flow included. What the target promises behind prepare it checks itself (xpu_target.verify).
 */
#include "core/passes/verify.h"

#include <string.h>

#include "core/ops/window.h"

/* The passes, in order; BUILT: somewhere else. */
typedef enum {
    BUILT,
    IMPORT,
    QUANTISED,
    FOLD,
    CANONICALISE,
    BATCH_NORM,
    LEGALISE,
    CLEAN,
    MATCH,
    CHAINS,
    PARTITION,
    PREPARE,
    CUT
} stage;

static stage stage_of(const char *name) {
    static const char *const names[] = {
        [IMPORT] = "import",         [QUANTISED] = "quantised", [FOLD] = "fold",       [CANONICALISE] = "canonicalise",
        [BATCH_NORM] = "batch-norm", [LEGALISE] = "legalise",   [CLEAN] = "clean",     [MATCH] = "match",
        [CHAINS] = "chains",         [PARTITION] = "partition", [PREPARE] = "prepare", [CUT] = "cut"};
    for (stage s = IMPORT; s <= CUT; s++) {
        if (name && strcmp(names[s], name) == 0) return s;
    }
    return BUILT;
}

typedef struct {
    const xpu_graph *graph;
    const char *stage;
    const xpu_target_job *job;
    const xpu_target *target;
    xpu_diags *diags;
    xpu_arena *arena;  /* for messages */
    const char *check; /* that runs */
    size_t problems;
} verifier;

enum { MAX_PROBLEMS = 50 };

static void problem(verifier *v, xpu_node node, const char *what) {
    if (++v->problems > MAX_PROBLEMS) return;
    xpu_error(v->diags, XPU_EBUG, v->graph->file, "ir-verify", xpu_node_where(v->graph, node, v->arena), what,
              xpu_printf(v->arena, "an invariant of the graph does not hold after '%s': %s", v->stage, v->check),
              "this is a bug of the compiler: please report it with the model");
}

static const xpu_value_info *operand(const verifier *v, xpu_node node, uint32_t input) {
    xpu_value value = xpu_node_input(v->graph, node, input);
    return value.id ? xpu_value_at(v->graph, value) : NULL;
}

/* ---- behind every pass ---- */

static void check_types(verifier *v, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(v->graph, node);
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (!info->inputs[i].id) continue;
        xpu_dtype dtype = xpu_value_at(v->graph, info->inputs[i])->dtype;
        if (xpu_op_takes(info->op, i) & XPU_TYPE_SET(dtype)) continue;
        problem(v, node, xpu_printf(v->arena, "operand %u is %s, which is not in its row", i, xpu_dtype_name(dtype)));
    }
    for (uint32_t i = 0; i < info->output_count; i++) {
        xpu_dtype dtype = xpu_value_at(v->graph, info->outputs[i])->dtype;
        if (xpu_op_gives(info->op, i) & XPU_TYPE_SET(dtype)) continue;
        problem(v, node, xpu_printf(v->arena, "result %u is %s, which is not in its row", i, xpu_dtype_name(dtype)));
    }
}

static void check_chain(verifier *v, xpu_node node) {
    if (!xpu_node_is(v->graph, node, XPU_OP_CHAIN)) return;
    const xpu_attr *steps = xpu_node_attr(v->graph, node, XPU_ATTR_STEPS);
    if (!steps || !xpu_chain_is_valid(steps->chain, xpu_node_at(v->graph, node)->input_count)) {
        problem(v, node, "the chain's program is not valid");
        return;
    }
    int immediates = 0;
    for (uint32_t s = 0; s < steps->chain->step_count; s++) {
        immediates += xpu_elementwise_immediates(steps->chain->steps[s].op);
    }
    if (immediates > XPU_CHAIN_ALL_IMMEDIATES)
        problem(v, node, xpu_printf(v->arena, "the chain has %d immediates", immediates));
}

/* ---- before the passes that make something ---- */

static void check_no_chain(verifier *v, xpu_node node) {
    if (xpu_node_is(v->graph, node, XPU_OP_CHAIN)) problem(v, node, "a chain stands before the pass that makes chains");
}

static void check_no_region(verifier *v, xpu_node node) {
    if (xpu_node_at(v->graph, node)->region) problem(v, node, "the node has a region before there are any");
}

static int precision_of(const verifier *v, xpu_node node) {
    if (!xpu_op_attr(xpu_node_at(v->graph, node)->op, XPU_ATTR_PRECISION)) return XPU_PRECISION_FP32;
    return (int)xpu_node_int(v->graph, node, XPU_ATTR_PRECISION);
}

static void check_unprepared(verifier *v, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(v->graph, node);
    if (xpu_node_is(v->graph, node, XPU_OP_RELAYOUT) || xpu_node_is(v->graph, node, XPU_OP_ABSMAX))
        problem(v, node, "the target's operator stands before the target has run");
    if (precision_of(v, node) != XPU_PRECISION_FP32)
        problem(v, node, "a precision is chosen before the target has run");
    for (uint32_t i = 0; i < info->output_count; i++) {
        if (xpu_value_at(v->graph, info->outputs[i])->layout != XPU_LAYOUT_LINEAR)
            problem(v, node, xpu_printf(v->arena, "result %u is not row-major before the target has run", i));
    }
}

/* ---- behind the passes that take something away ---- */

static void check_folded(verifier *v, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(v->graph, node);
    for (uint32_t i = 0; i < info->output_count; i++) {
        const xpu_value_info *result = xpu_value_at(v->graph, info->outputs[i]);
        int stays = result->is_output || xpu_value_defines_symbol(v->graph, info->outputs[i]);
        if (!result->constant || (stays && xpu_node_is(v->graph, node, XPU_OP_IDENTITY))) continue;
        problem(v, node, xpu_printf(v->arena, "result %u is known, and is no constant", i));
    }
}

static void check_used(verifier *v, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(v->graph, node);
    int used = 0;
    for (uint32_t i = 0; i < info->output_count; i++) {
        const xpu_value_info *result = xpu_value_at(v->graph, info->outputs[i]);
        used |= result->uses.count || xpu_value_leaves(v->graph, info->outputs[i]) ||
                xpu_value_defines_symbol(v->graph, info->outputs[i]);
    }
    if (!used) problem(v, node, "nothing uses what the node makes");
}

static void check_identity(verifier *v, xpu_node node) {
    if (!xpu_node_is(v->graph, node, XPU_OP_IDENTITY)) return;
    xpu_value result = xpu_node_output(v->graph, node, 0);
    if (!xpu_value_at(v->graph, result)->is_output && !xpu_value_defines_symbol(v->graph, result))
        problem(v, node, "an identity makes no output of the graph");
}

static void check_primitive(verifier *v, xpu_node node) {
    if (v->target && !v->target->keeps_composites && xpu_node_at(v->graph, node)->op->expand)
        problem(v, node, "a composite operator is left");
}

static void check_in_chain(verifier *v, xpu_node node) {
    if (xpu_node_at(v->graph, node)->op->elementwise >= 0) problem(v, node, "an elementwise operator is in no chain");
}

/* ---- regions ---- */

static void check_region(verifier *v, xpu_node node) {
    if (!v->job || xpu_node_at(v->graph, node)->parent.id != XPU_TOP_BLOCK.id) return;
    uint32_t number = xpu_node_at(v->graph, node)->region;
    if (number < 1 || number > v->job->region_count) {
        problem(v, node, xpu_printf(v->arena, "the node's region is %u of %u", number, v->job->region_count));
        return;
    }
    const xpu_region *region = &v->job->regions[number - 1];
    if (region->number != number) problem(v, node, "the node's region has another number");
    if (region->on_host && !region->reason) problem(v, node, "a region is on the host for no reason");
}

/* ---- behind the target's own rewriting ---- */

static int on_host(const verifier *v, xpu_node node) {
    uint32_t number = xpu_node_at(v->graph, node)->region;
    return v->job && number >= 1 && number <= v->job->region_count && v->job->regions[number - 1].on_host;
}

/* Whether it is a chain that takes the largest of its operands. */
static int is_largest(const verifier *v, xpu_node node) {
    if (!xpu_node_is(v->graph, node, XPU_OP_CHAIN)) return 0;
    const xpu_chain *chain = xpu_chain_of(v->graph, node);
    for (uint32_t s = 0; s < chain->step_count; s++) {
        if (chain->steps[s].op != XPU_EW_max) return 0;
    }
    return 1;
}

/* A value that holds the largest magnitude of another one, or a constant that bounds it. */
static int is_absmax(const verifier *v, const xpu_value_info *value) {
    if (!value || value->rank != 0 || value->dtype != XPU_F32) return 0;
    if (value->kind != XPU_VALUE_NODE) return value->kind == XPU_VALUE_CONST;
    if (xpu_node_is(v->graph, value->node, XPU_OP_ABSMAX)) return 1;
    if (is_largest(v, value->node)) {
        const xpu_node_info *chain = xpu_node_at(v->graph, value->node);
        for (uint32_t i = 0; i < chain->input_count; i++) {
            if (!is_absmax(v, xpu_value_at(v->graph, chain->inputs[i]))) return 0;
        }
        return 1;
    }
    if (xpu_node_is(v->graph, value->node, XPU_OP_ROW_SCALE)) return value->output == XPU_OUT_ROW_ABSMAX;
    return xpu_node_has(v->graph, value->node, XPU_TRAIT_FINDS_ABSMAX) && value->output == XPU_OUT_ABSMAX;
}

static int is_packed(const verifier *v, const xpu_value_info *w, int precision) {
    return w->kind == XPU_VALUE_NODE && xpu_node_is(v->graph, w->node, XPU_OP_PACK_MATRIX) &&
           w->dtype == (precision == XPU_PRECISION_INT16X8 ? XPU_I8 : XPU_I16);
}

/* Constants, or these times what the network computes. */
static int has_scales(const verifier *v, const xpu_value_info *scale) {
    return scale && (scale->kind == XPU_VALUE_CONST ||
                     (scale->kind == XPU_VALUE_NODE && xpu_node_is(v->graph, scale->node, XPU_OP_CHAIN)));
}

static void check_precision(verifier *v, xpu_node node) {
    if (!xpu_op_attr(xpu_node_at(v->graph, node)->op, XPU_ATTR_PRECISION)) return;
    const xpu_value_info *w = operand(v, node, XPU_IN_W), *scale = operand(v, node, XPU_IN_WSCALE);
    const xpu_value_info *absmax = operand(v, node, XPU_IN_ABSMAX);
    int precision = precision_of(v, node);
    if (precision == XPU_PRECISION_FP32) {
        if (w && w->dtype != XPU_F32) problem(v, node, "a float32 layer has integer weights");
        if (scale || absmax) problem(v, node, "a float32 layer has the operands of an integer one");
        return;
    }
    if (on_host(v, node)) problem(v, node, "a layer on the host has another precision than float32");
    if (xpu_node_is(v->graph, node, XPU_OP_PACKED_MATMUL)) {
        if (!is_packed(v, w, precision) || !scale || scale->kind != XPU_VALUE_NODE || scale->node.id != w->node.id)
            problem(v, node, "the weights are no matrices that were packed for the layer");
        if (!is_absmax(v, absmax)) problem(v, node, "its absmax is no largest magnitude of a value");
        return;
    }
    if (xpu_is_pooling(v->graph, node)) {
        if (w || scale || !is_absmax(v, absmax)) problem(v, node, "a pooling has other operands than its absmax");
        return;
    }
    if (w->dtype != (precision == XPU_PRECISION_INT16X8 ? XPU_I8 : XPU_I16) || w->kind != XPU_VALUE_CONST)
        problem(v, node, "the weights are no constants of the layer's precision");
    if (!has_scales(v, scale)) problem(v, node, "the weights have no scales");
    if (xpu_node_is(v->graph, node, XPU_OP_RECURRENT)) return; /* it finds that of each step */
    if (!is_absmax(v, absmax)) problem(v, node, "its absmax is no largest magnitude of a value");
}

static void check_relayout(verifier *v, xpu_node node) {
    if (!xpu_node_is(v->graph, node, XPU_OP_RELAYOUT)) return;
    xpu_value x = xpu_node_input(v->graph, node, 0), y = xpu_node_output(v->graph, node, 0);
    if ((int64_t)xpu_value_at(v->graph, y)->layout != xpu_node_int(v->graph, node, XPU_ATTR_LAYOUT))
        problem(v, node, "the result has not the layout that it is brought to");
    if (!xpu_value_same_shape(v->graph, x, y)) problem(v, node, "a change of layout changes dims");
}

static void check_host_layout(verifier *v, xpu_node node) {
    if (!on_host(v, node)) return;
    const xpu_node_info *info = xpu_node_at(v->graph, node);
    for (uint32_t i = 0; i < info->output_count; i++) {
        if (xpu_value_at(v->graph, info->outputs[i])->layout != XPU_LAYOUT_LINEAR)
            problem(v, node, xpu_printf(v->arena, "result %u of a layer on the host is not row-major", i));
    }
}

/* ---- by stage ---- */

static const struct {
    const char *name;
    stage first, last;
    void (*check)(verifier *v, xpu_node node);
} checks[] = {
    {"types", BUILT, CUT, check_types},
    {"chain-program", BUILT, CUT, check_chain},
    {"no-chains-yet", IMPORT, MATCH, check_no_chain},
    {"no-regions-yet", IMPORT, CHAINS, check_no_region},
    {"unprepared", IMPORT, PARTITION, check_unprepared},
    {"folded", FOLD, FOLD, check_folded},
    {"used", FOLD, CUT, check_used},
    {"identity", CANONICALISE, CUT, check_identity},
    {"primitive", LEGALISE, CUT, check_primitive},
    {"in-chains", CHAINS, CUT, check_in_chain},
    {"region", PARTITION, CUT, check_region},
    {"precision", PREPARE, CUT, check_precision},
    {"relayout", PREPARE, CUT, check_relayout},
    {"host-layout", PREPARE, CUT, check_host_layout},
};

static void target_problem(void *context, xpu_node node, const char *check, const char *what) {
    verifier *v = context;
    v->check = check;
    problem(v, node, what);
}

xpu_status xpu_verify_stage(const xpu_graph *graph, const char *stage_name, xpu_target_job *job,
                            const xpu_target *target, xpu_diags *diags) {
    xpu_status status = xpu_graph_verify(graph, stage_name, diags);
    if (status != XPU_OK) return status;
    verifier v = {.graph = graph, .stage = stage_name ? stage_name : "", .job = job, .target = target, .diags = diags};
    stage now = stage_of(stage_name);
    v.arena = xpu_arena_new(xpu_arena_mem(graph->arena), "verify");
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (now < checks[i].first || now > checks[i].last) continue;
        v.check = checks[i].name;
        for (uint32_t id = 1; id < graph->nodes.count; id++) {
            if (!graph->nodes.items[id].dead) checks[i].check(&v, (xpu_node){id});
        }
    }
    if (now >= PREPARE && !v.problems && job && target && target->verify) target->verify(job, target_problem, &v);
    xpu_arena_free(v.arena);
    return v.problems ? XPU_EBUG : XPU_OK;
}
