/* The pipeline: the one list of passes, in order. */
#include "xpuc/pipeline.h"

#include <string.h>

#include "core/ops/graph_text.h"
#include "core/passes/passes.h"
#include "core/passes/verify.h"

static xpu_status import(xpu_pipeline *p) {
    xpu_status status = xpu_import_model(p);
    if (status == XPU_OK) status = xpu_allow_outputs(p);
    if (status == XPU_OK) status = xpu_tie_states(p);
    if (status != XPU_OK) return status;
    for (uint32_t i = 0; i < p->offer_count; i++) p->offers[i].job->graph = p->graph;
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < p->graph->origins.count; i++)
        nodes += strcmp(p->graph->origins.items[i].op, "Output") != 0;
    p->options.source_nodes = nodes;
    return XPU_OK;
}

static xpu_status quantised(xpu_pipeline *p) {
    return xpu_pass_quantised(p->graph, p->diags);
}

static xpu_status fold(xpu_pipeline *p) {
    return xpu_pass_fold(p->graph, p->diags);
}

static xpu_status canonicalise(xpu_pipeline *p) {
    return xpu_pass_canonicalise(p->graph, p->diags);
}

/* Where all is float32 it keeps the order of the model's roundings, where several targets are offered operators what
 * each of them may take, and with --no-fuse the tensors. */
static xpu_status batch_norm(xpu_pipeline *p) {
    const int keeps_order = strcmp(p->options.precision, "fp32") == 0 || p->offer_count > 1 || p->wanted->no_fuse;
    if (keeps_order) return xpu_pass_fold_batch_norm(p->graph, p->diags);
    xpu_status status = xpu_pass_fold_biases(p->graph, p->diags);
    if (status == XPU_OK) status = xpu_pass_fold_batch_norm(p->graph, p->diags);
    return status == XPU_OK ? xpu_pass_averages_first(p->graph, p->diags) : status;
}

static xpu_status legalise(xpu_pipeline *p) {
    return p->target->keeps_composites ? XPU_OK : xpu_pass_legalise(p->graph, p->diags);
}

static xpu_status clean(xpu_pipeline *p) {
    xpu_status status = fold(p);
    return status == XPU_OK ? canonicalise(p) : status;
}

static xpu_status match(xpu_pipeline *p) {
    return p->wanted->no_fuse ? XPU_OK : xpu_partition_match_all(p->offers, p->offer_count, p->diags);
}

static xpu_status chains(xpu_pipeline *p) {
    return xpu_pass_chains(p->graph, p->diags);
}

static xpu_status partition(xpu_pipeline *p) {
    xpu_status status = xpu_check_states(p);
    if (status == XPU_OK) status = xpu_partition_check_all(p->offers, p->offer_count, &p->partition);
    if (status == XPU_OK) xpu_partition_carve(&p->job, &p->partition);
    return status;
}

static xpu_status prepare(xpu_pipeline *p) {
    xpu_status status = p->target->prepare ? p->target->prepare(&p->job) : XPU_OK;
    if (status == XPU_OK) xpu_partition_update(&p->job, &p->partition);
    return status;
}

static xpu_status cut(xpu_pipeline *p) {
    xpu_status status = p->target->cut ? p->target->cut(&p->job) : XPU_OK;
    if (status == XPU_OK) xpu_partition_update(&p->job, &p->partition);
    return status;
}

static xpu_status lower(xpu_pipeline *p) {
    p->sections = XPU_NEW_ARRAY(p->arena, xpu_section, p->job.region_count + 1);
    xpu_status portable = xpu_lower_portable_regions(p);
    if (portable != XPU_OK) return portable;
    for (uint32_t i = 0; i < p->job.region_count; i++) {
        xpu_status status = p->target->lower(&p->job, i, &p->sections[i]);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

static xpu_status pack(xpu_pipeline *p) {
    if (strcmp(p->options.emit, "c") != 0) return xpu_pack_output(p);
    xpu_status status = p->target->pack(&p->job, p->sections, NULL, p->facts);
    if (status != XPU_OK) return status;
    xpu_text text;
    xpu_text_init(&text, p->arena);
    for (uint32_t i = 0; i < p->job.region_count; i++) {
        if (p->sections[i].source) xpu_text_add_bytes(&text, p->sections[i].source, strlen(p->sections[i].source));
    }
    p->text = text.text;
    return XPU_OK;
}

typedef struct {
    const char *name;
    xpu_effect effect;
    int keeps_graph; /* it makes something out of the graph instead of changing it */
    xpu_status (*run)(xpu_pipeline *pipeline);
} pass;

static const pass passes[] = {
    {"import", XPU_EFFECT_DEFINES, 0, import},           /* the model; shapes and values of small constants */
    {"quantised", XPU_EFFECT_DEFINES, 0, quantised},     /* groups of Q and DQ into operators on integers */
    {"fold", XPU_EFFECT_EXACT, 0, fold},                 /* what depends on constants only */
    {"canonicalise", XPU_EFFECT_EXACT, 0, canonicalise}, /* what does nothing, or the same twice */
    {"batch-norm", XPU_EFFECT_TOLERANCE, 0, batch_norm}, /* into the weights before it; hard swish */
    {"legalise", XPU_EFFECT_EXACT, 0, legalise},         /* composites into primitives, unless the target keeps them */
    {"clean", XPU_EFFECT_EXACT, 0, clean},               /* fold and canonicalise what these left */
    {"match", XPU_EFFECT_TOLERANCE, 0, match},           /* the target's patterns; a bias starts the accumulation */
    {"chains", XPU_EFFECT_EXACT, 0, chains},             /* elementwise operators into loops */
    {"partition", XPU_EFFECT_EXACT, 0, partition},       /* support rules, regions */
    {"prepare", XPU_EFFECT_PRECISION, 0, prepare},       /* the target's precision and layout */
    {"cut", XPU_EFFECT_EXACT, 0, cut},                   /* the target's parts of operators */
    {"lower", XPU_EFFECT_EXACT, 1, lower},               /* each region to a section */
    {"pack", XPU_EFFECT_EXACT, 1, pack},                 /* the sections to a file */
};
enum { PASS_COUNT = sizeof passes / sizeof *passes };

const char *const *xpu_pipeline_passes(void) {
    static const char *const names[] = {"import",   "quantised", "fold",  "canonicalise", "batch-norm",
                                        "legalise", "clean",     "match", "chains",       "partition",
                                        "prepare",  "cut",       NULL};
    return names;
}

const char *xpu_effect_text(xpu_effect effect) {
    static const char *const texts[] = {"exact", "tolerance", "precision", "defines"};
    return texts[effect];
}

uint32_t xpu_count_nodes(const xpu_graph *graph) {
    uint32_t count = 0;
    XPU_FOR_ALL_NODES(graph, node) count++;
    return count;
}

static char *graph_text(xpu_pipeline *p) {
    xpu_text text;
    xpu_text_init(&text, p->arena);
    xpu_graph_text(p->graph, &text);
    return text.text;
}

static xpu_status after_pass(xpu_pipeline *p, const pass *done) {
    if (done->keeps_graph) return XPU_OK;
    xpu_status status = xpu_verify_stage(p->graph, done->name, &p->job, p->target, p->diags);
    if (status == XPU_OK && p->checker) {
        status = xpu_checker_run(p->checker, p->graph, done->name, done->effect, p->diags);
    }
    if (p->wanted->dump_after && strcmp(p->wanted->dump_after, done->name) == 0) p->dump = graph_text(p);
    return status;
}

/* The model stands in what a pass says of it, too: clang, the planner and a target do not know its name. */
static xpu_status stopped(const xpu_pipeline *p, int number) {
    xpu_diags_rename_file(p->diags, NULL, p->path);
    if (p->diags->errors) return XPU_ESTOPPED;
    return xpu_error_stopped(p->diags, p->path, xpu_printf(p->arena, "pass '%s'", passes[number].name),
                             xpu_printf(p->arena, "%d of %d passes were done; nothing is written", number, PASS_COUNT));
}

xpu_status xpu_pipeline_place(xpu_pipeline *p) {
    xpu_status status = XPU_OK;
    for (int i = 0; status == XPU_OK && i < PASS_COUNT; i++) {
        status = passes[i].run(p);
        if (strcmp(passes[i].name, "partition") == 0) break;
    }
    return status;
}

xpu_status xpu_pipeline_run(xpu_pipeline *p) {
    if (p->wanted->check_passes) p->checker = xpu_checker_new(p->arena);
    for (int i = 0; i < PASS_COUNT; i++) {
        if (passes[i].keeps_graph && strcmp(p->options.emit, "ir") == 0) break;
        double start = xpu_seconds();
        xpu_doing(xpu_arena_mem(p->arena), "pass", passes[i].name);
        xpu_status status = xpu_stopped(p->arena) ? XPU_ESTOPPED : passes[i].run(p);
        xpu_pass_record record = {.pass = passes[i].name, .seconds = xpu_seconds() - start};
        if (status == XPU_ESTOPPED) return stopped(p, i);
        if (status != XPU_OK) return status;
        record.nodes = xpu_count_nodes(p->graph);
        XPU_PUSH(p->arena, &p->records, record);
        status = after_pass(p, &passes[i]);
        if (status == XPU_ESTOPPED) return stopped(p, i + 1 < PASS_COUNT ? i + 1 : i);
        if (status != XPU_OK) return status;
    }
    if (strcmp(p->options.emit, "ir") == 0) p->text = graph_text(p);
    return XPU_OK;
}
