/* One compilation: what the passes of pipeline.c work on. Everything lives in `arena`. */
#ifndef XPU_XPUC_PIPELINE_H
#define XPU_XPUC_PIPELINE_H

#include "base/json.h"
#include "core/target.h"
#include "frontend/import.h"
#include "partition/partition.h"
#include "xpuc/include/xpuc.h"

/* What a pass may do to the results of the network. */
typedef enum {
    XPU_EFFECT_EXACT,     /* nothing: bit for bit the same (the sign of a zero apart) */
    XPU_EFFECT_TOLERANCE, /* other roundings: within |a-b| <= 1e-3 |b| + 1e-5 max|b| */
    XPU_EFFECT_PRECISION, /* as tolerance; layers that become int16 within what half a step of x and w adds up to */
    XPU_EFFECT_DEFINES    /* it chooses them: import, and operators on integers for those between Q and DQ */
} xpu_effect;

typedef struct {
    const char *pass;
    double seconds;
    uint32_t nodes; /* of the graph behind it */
} xpu_pass_record;

typedef struct xpu_checker xpu_checker;

/* A network that was made in C (xpuc_build.h). */
typedef struct {
    const char *name;
    const xpu_graph *graph;
    const xpu_diags *diags; /* what was wrong with it */
} xpu_built;

typedef struct {
    const char *path;               /* of the model; the name of a network made in C */
    const xpu_built *built;         /* that network, or NULL */
    const char *output;             /* file to write, or NULL: into memory */
    xpu_output *file, *report_file; /* open from before the passes run; NULL: none */
    const xpuc_options *wanted;
    xpu_compile_options options;
    xpu_import_options import;
    const xpu_target *target; /* that makes the program: the last one */
    const xpu_offer *offers;  /* all targets, in the order of --target */
    uint32_t offer_count;
    xpu_arena *arena;
    xpu_diags *diags;
    xpu_graph *graph;
    xpu_target_job job; /* of `target` */
    xpu_partition partition;
    xpu_section *sections;
    xpu_checker *checker; /* --check-passes */
    json_t *report;
    json_t *facts; /* what the target adds to the report */
    XPU_ARRAY(xpu_pass_record) records;
    char *text;        /* of --emit=c or ir */
    char *dump;        /* of --dump-after */
    const void *bytes; /* the target's file where `output` is NULL */
    size_t size;
    double started;
} xpu_pipeline;

/* Runs every pass as far as --emit asks for. */
xpu_status xpu_pipeline_run(xpu_pipeline *pipeline);

/* As far as it is known which target takes which node. */
xpu_status xpu_pipeline_place(xpu_pipeline *pipeline);

/* The names that --dump-after takes, NULL terminated. */
const char *const *xpu_pipeline_passes(void);
const char *xpu_effect_text(xpu_effect effect);
uint32_t xpu_count_nodes(const xpu_graph *graph);

/* options.c: what the caller wants into pipeline->options, ->import and ->target, which is started; all problems are
 * reported together. For a description: the shapes only, all else is refused. */
xpu_status xpu_check_options(xpu_pipeline *pipeline);
xpu_status xpu_check_describe_options(xpu_pipeline *pipeline);
xpu_status xpu_check_convert_options(xpu_pipeline *pipeline);

/* targets.c: the targets that `names` lists ("mine,xpu-sim"; NULL: that of the plug-in, else xpu-sim), the last one
 * makes the program. `plugin`: a path, or NULL. Ends with NULL; NULL after reporting. */
const xpu_target *const *xpu_find_targets(xpu_arena *arena, const char *names, const char *plugin, xpu_diags *diags);

/* portable.c: the C of regions that other targets than the last one take. [portable] */
xpu_status xpu_lower_portable_regions(xpu_pipeline *pipeline);

/* output.c: the files are opened under temporary names before work begins; the target writes its own; all get their
 * names together at the end. */
xpu_status xpu_open_outputs(xpu_pipeline *pipeline);
/* Once more when the model has been read, with its files of external data. */
xpu_status xpu_allow_outputs(xpu_pipeline *pipeline);
xpu_status xpu_pack_output(xpu_pipeline *pipeline);
xpu_status xpu_commit_outputs(xpu_pipeline *pipeline);

/* services.c: what targets may call. */
extern const xpu_services xpu_target_services;

/* resources.c: the folder that holds configs/ and device/. */
const char *xpu_find_resources(xpu_arena *arena, const char *wanted);
/* A variable of the environment; NULL where it is not set, or empty. */
const char *xpu_environment(const char *name);

/* shape.c: "x=N,3,32..224:32,W=1..8". */
xpu_status xpu_shape_parse(xpu_arena *arena, const char *text, xpu_shape_spec *spec, xpu_diags *diags);
/* values.c: one --bound; what is wrong with it is [bound-option]. */
xpu_status xpu_bounds_parse(xpu_arena *arena, const char *text, xpu_bound_spec *spec, xpu_diags *diags);
/* values.c: one --value; what is wrong with it is [value-option]. */
xpu_status xpu_values_parse(xpu_arena *arena, const char *text, xpu_value_spec *spec, xpu_diags *diags);

/* state.c: --state OUT=IN. [state-option] */
xpu_status xpu_tie_states(xpu_pipeline *pipeline);
/* When constants have been folded. */
xpu_status xpu_check_states(const xpu_pipeline *pipeline);

/* check.c: ref behind every pass, on random input with small values for the symbols. */
xpu_checker *xpu_checker_new(xpu_arena *arena);
/* The graph behind `pass` against the one before: every layer on the operands that it had before, so that what a pass
 * may change is not blamed where it has grown on its way. The first call, and what DEFINES, only record.
 * [check-passes], XPU_EBUG. */
xpu_status xpu_checker_run(xpu_checker *checker, const xpu_graph *graph, const char *pass, xpu_effect effect,
                           xpu_diags *diags);

/* narrowed.c: how much further than float32 from the layer before a layer may be that computes in int16. */
typedef struct {
    const double *extra;    /* by row and channel; infinite or NaN: no limit */
    int64_t channels, rows; /* rows: those that have a scale of their own; 1: all have one */
    int is_conv;            /* channels are axis 1 of the result, else the last one */
} xpu_margin;
int xpu_is_narrowed(const xpu_graph *graph, xpu_node node);
/* The operand that the layer read before its rows were scaled, the scales of its weights, and the margin of the layer
 * for the former. scales: those that a layer computes, NULL of constants. */
xpu_value xpu_narrowed_operand(const xpu_graph *graph, xpu_node node);
xpu_value xpu_narrowed_scales(const xpu_graph *graph, xpu_node node);
xpu_status xpu_narrowed_margin(const xpu_graph *graph, xpu_node node, const xpu_tensor *x, const xpu_tensor *scales,
                               xpu_margin *margin, xpu_arena *arena, xpu_diags *diags);
/* The product of two computed matrices whose rows `node` restores; {0}: it does not. Its margin comes from the rows
 * that it multiplied, their powers, the packed matrices and their scales. */
xpu_node xpu_packed_product(const xpu_graph *graph, xpu_node node);
void xpu_packed_margin(const xpu_tensor *rows, const xpu_tensor *powers, const xpu_tensor *w, const xpu_tensor *scales,
                       float absmax, double slope, xpu_margin *margin, xpu_arena *arena);
double xpu_narrowed_slope(const xpu_graph *graph, xpu_node node);

/* report.c: --report and --explain. */
void xpu_report_make(xpu_pipeline *pipeline);
char *xpu_explain(xpu_pipeline *pipeline, int as_json);
/* Which convolutions and products stay in fp32, by reason: text, and the key "kept_in_fp32" of `top`. */
void xpu_explain_kept(const xpu_pipeline *pipeline, xpu_text *text);
void xpu_explain_kept_json(const xpu_pipeline *pipeline, json_t *top);
/* Layers, the dearest first by the model of the target, and what stands between those on the tensor engine. */
char *xpu_explain_cost(xpu_pipeline *pipeline, int as_json);
char *xpu_pass_log(const xpu_pipeline *pipeline);
char *xpu_summary(const xpu_pipeline *pipeline);

/* describe.c: whether the file is an ELF file, as programs are. */
int xpu_is_program(const xpu_pipeline *pipeline);
/* What is in a model or an .xpu file. NULL after reporting. */
char *xpu_describe(xpu_pipeline *pipeline);

/* api.c: xpuc_network_compile (`output` NULL and to_file 0) and xpuc_network_compile_to_file. */
int xpu_compile_built(const char *call, const xpu_built *built, const char *output, int to_file,
                      const xpuc_options *options, xpuc_result *result, xpuc_error *error);
/* The caller's error object: every message on lines of its own, or grouped, and as JSON; no texts where there is no
 * message, or no memory for them. */
xpuc_error xpu_error_of(int status, const xpu_diags *diags, int grouped);
/* A malloc'd copy for the caller of the API; NULL of NULL. */
char *xpu_give_text(xpu_arena *arena, const char *text);

/* import.c: whether the file's name or its first bytes say that it is no model, said before anything else of it; then
 * the model into pipeline->graph. */
xpu_status xpu_check_format(const xpu_pipeline *pipeline);
/* Reads the model with these options, by the importer that its path asks for. */
xpu_status xpu_read_model(const xpu_pipeline *pipeline, xpu_arena *arena, const xpu_import_options *options,
                          xpu_graph **graph, xpu_diags *diags);
xpu_status xpu_import_model(xpu_pipeline *pipeline);
/* sizes.c: where shapes are what is wrong with a model, and its open dims the reason, hints get sizes that fit. `read`
 * is the graph as far as it was read, or NULL. */
void xpu_suggest_sizes(xpu_pipeline *pipeline, const xpu_graph *read);

#endif
