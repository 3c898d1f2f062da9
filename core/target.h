/*
 * The target seam: bring your own codegen. A target is one table: its name, the composite patterns it wants kept, the
 * operators it supports and the rules they must meet, a lowering from a carved region to a program section, and a
 * packer that makes the output file. partition/ works from this table alone. Of several targets the last one makes the
 * program; the others lower what they take to portable C, which it compiles.
 *
 * A plug-in (xpuc --plugin=FILE.so) exports `const xpu_target *xpuc_plugin(void)`. It sees the graph through the inline
 * accessors of core/ir/graph.h and calls back through xpu_services only, so it links against nothing.
 */
#ifndef XPU_CORE_TARGET_H
#define XPU_CORE_TARGET_H

#include "core/ops/op.h"

enum { XPU_TARGET_VERSION = 4 };

/* What the user asked for; strings are NULL where not given. */
typedef struct {
    const char *target;          /* --target */
    const char *chip;            /* --chip: a name in <resources>/configs/chip or a .json file */
    const char *precision;       /* --precision: auto, fp32, int16, int16x8 */
    const char *precision_rules; /* --precision-rules: a file of precisions for single layers */
    const char *memory_rules;    /* --memory: a placement rules file */
    const char *emit;            /* --emit: xpu, c, ir */
    const char *source_name;     /* the model's file name without folders */
    const char *resources;       /* folder that holds configs/ and device/ (device headers, library, linker script) */
    uint32_t source_nodes;       /* operators in the source model */
    int strip;
    uint32_t clang_seconds; /* --clang-seconds: that a compiler or linker may run; 0: the target's own limit */
    const char *zig;        /* has clang and lld in it, for where they are not installed; or NULL */
    int is_part;            /* the model is a part of a network: rules may be for another part */
    int no_fuse; /* each tensor of the model stays one: patterns are not applied, nor the target's like them */
} xpu_compile_options;

struct xpu_match;

/* What a target may call. What changes the graph is for patterns (xpu_match.services) and for `prepare`:
 * core/ir/graph.h, core/ops/op.h and core/passes/passes.h say what the functions of the same names do. */
typedef struct xpu_services {
    void *(*alloc)(xpu_arena *arena, size_t bytes);
    xpu_status (*error)(xpu_diags *diags, xpu_status status, const char *file, const char *rule, const char *where,
                        const char *what, const char *why, const char *hint);
    const char *(*node_where)(const xpu_graph *graph, xpu_node node, xpu_arena *arena);
    const char *(*node_name)(const xpu_graph *graph, xpu_node node);
    int64_t (*node_int)(const xpu_graph *graph, xpu_node node, xpu_attr_id id);
    float (*node_float)(const xpu_graph *graph, xpu_node node, xpu_attr_id id);
    const int64_t *(*node_ints)(const xpu_graph *graph, xpu_node node, xpu_attr_id id, uint32_t *count);
    int (*value_dims)(const xpu_graph *graph, xpu_value value, const int64_t *symbols, int64_t *dims);
    void *(*const_data)(const xpu_graph *graph, xpu_value constant, xpu_arena *arena, xpu_diags *diags);
    char *(*printf)(xpu_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
    void (*text_add)(xpu_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
    void (*text_init)(xpu_text *text, xpu_arena *arena);
    /* dims as expressions */
    xpu_dim (*dim_const)(xpu_dims *dims, int64_t value);
    xpu_dim (*dim_op)(xpu_dims *dims, xpu_dim_kind kind, xpu_dim a, xpu_dim b);
    int (*dim_is_const)(const xpu_dims *dims, xpu_dim dim, int64_t *value);
    const char *(*dim_text)(const xpu_dims *dims, xpu_dim dim, xpu_arena *arena);
    /* rewriting */
    const xpu_op *(*op_of)(xpu_op_id op);
    xpu_node (*graph_add)(xpu_graph *graph, xpu_node before, const xpu_op *op, const xpu_value *inputs,
                          uint32_t input_count, const char *const *output_names, uint32_t output_count,
                          const xpu_attr *attrs, uint32_t attr_count, const uint32_t *origins, uint32_t origin_count);
    xpu_status (*op_infer)(xpu_graph *graph, xpu_node node, xpu_diags *diags);
    void (*node_set_input)(xpu_graph *graph, xpu_node node, uint32_t input, xpu_value value);
    void (*node_set_attr)(xpu_graph *graph, xpu_node node, const xpu_attr *attr);
    void (*node_add_origins)(xpu_graph *graph, xpu_node node, xpu_node from);
    void (*node_remove)(xpu_graph *graph, xpu_node node);
    int (*value_replace)(xpu_graph *graph, xpu_value from, xpu_value to);
    xpu_value (*const_bytes)(xpu_graph *graph, const char *name, const xpu_tensor *tensor);
    xpu_value (*const_derive)(xpu_graph *graph, xpu_value constant, const xpu_const_step *step, const char *name,
                              xpu_diags *diags);
    /* actions of patterns */
    int (*accepts_bias)(const xpu_graph *graph, const struct xpu_match *match);
    xpu_status (*fuse_bias)(xpu_graph *graph, const struct xpu_match *match, xpu_diags *diags);
    int (*accepts_branch)(const xpu_graph *graph, const struct xpu_match *match);
    xpu_status (*fuse_branch)(xpu_graph *graph, const struct xpu_match *match, xpu_diags *diags);
    int (*accepts_activation)(const xpu_graph *graph, const struct xpu_match *match);
    xpu_status (*fuse_activation)(xpu_graph *graph, const struct xpu_match *match, xpu_diags *diags);
    int (*accepts_quantised_branch)(const xpu_graph *graph, const struct xpu_match *match);
    xpu_status (*fuse_quantised_branch)(xpu_graph *graph, const struct xpu_match *match, xpu_diags *diags);
} xpu_services;

struct xpu_target;
struct xpu_portable;

/* A stretch of nodes that one target compiles; its nodes are connected in the order of execution. */
typedef struct {
    uint32_t number;    /* from 1; node.region */
    int on_host;        /* no target takes these nodes: they run on the host with the reference kernels */
    const char *reason; /* on_host: which rule of which node failed, in words */
    const char *hint;   /* on_host: what to do */
    uint32_t node_count;
    const xpu_node *nodes;           /* in order of execution */
    const struct xpu_target *target; /* that takes them; NULL: on_host */
    /* Of a target before the last one: the REGION whose body the nodes are, and its C, once that is made. The body's
     * arguments are what the region reads, besides constants, its results what others read. */
    xpu_node call;
    const struct xpu_portable *portable;
} xpu_region;

typedef struct xpu_target_job {
    const xpu_services *services;
    const xpu_compile_options *options;
    xpu_graph *graph;
    const xpu_region *regions;
    uint32_t region_count;
    xpu_arena *arena;
    xpu_diags *diags;
    void *state; /* made by target->start, belongs to the arena */
    /* Set by target->start where dims may be free: bytes of its largest memory. Dims that nobody bounds are such that
     * the model's inputs fit it. 0: not known. */
    uint64_t memory_bytes;
    /* The target that makes the program, where that is another one, which compiles what lower_portable gives; NULL:
     * this target makes the output. Known when start is called. */
    const struct xpu_target *program_target;
} xpu_target_job;

/* What lowering one region gives. */
typedef struct {
    const char *source; /* generated source text (--emit=c), or NULL */
    void *data;         /* the target's own */
} xpu_section;

/*
 * A region as portable C, which the program's target compiles for the device: freestanding C11 that includes headers of
 * the compiler alone (stdint.h, float.h, ...), calls memcpy, memset, memmove and what it defines itself, no libm and no
 * malloc, and has no variables of static storage. Its one external definition is
 *
 *     void ENTRY(const T *operand, ..., T *result, ..., void *scratch, const int32_t *dims);
 *
 * with row-major elements behind each pointer: T is float, int8_t to int64_t, uint8_t to uint64_t; uint8_t for bool,
 * uint16_t for float16 and bfloat16. Nothing overlaps; scratch and dims are NULL where there are none.
 */
typedef struct xpu_portable {
    const char *source;
    const char *entry;         /* a C identifier, which no other region has */
    const xpu_value *operands; /* in the order of the parameters: arguments of the body, and constants */
    uint32_t operand_count;
    const xpu_value *results; /* those of the body, each once */
    uint32_t result_count;
    const xpu_dim *dims; /* what dims[0], dims[1], ... are */
    uint32_t dim_count;
    xpu_dim scratch_bytes; /* {0}: none; 64-byte aligned, as operands and results are */
} xpu_portable;

/* A support rule: one small function, one sentence. The sentence is the error text, the document and the test name. */
typedef struct {
    const xpu_target_job *job; /* options and state; graph; arena for `value` */
    xpu_node node;
    const char *value; /* out, where the rule does not hold: the offending value, in words */
} xpu_rule_query;
typedef struct {
    const char *id;       /* "pool-rank" */
    const char *sentence; /* "a convolution has one or two spatial dimensions" */
    const char *hint;
    int (*holds)(xpu_rule_query *query);
} xpu_rule;

/* An operator that the target lowers. */
typedef struct {
    xpu_op_id op;
    const char *lowering;         /* what it becomes, for the documents: "conv2d_i16, conv2d_f32 or depthwise_f32" */
    const xpu_rule *const *rules; /* NULL terminated */
} xpu_support;

/* A composite pattern: a chain of nodes, each using the result of the one before (whose only use it is). Patterns are
 * tried in table order at each node, until none applies. */
enum { XPU_PATTERN_LENGTH = 4 };
typedef struct xpu_match {
    xpu_node nodes[XPU_PATTERN_LENGTH];
    uint32_t operand[XPU_PATTERN_LENGTH]; /* which operand of nodes[i] is the result of nodes[i - 1] */
    uint32_t count;
    const xpu_services *services;
} xpu_match;
typedef struct {
    const char *name;                      /* "conv+activation" */
    const char *sentence;                  /* what it does to results, in words */
    const char *chain[XPU_PATTERN_LENGTH]; /* operator names, alternatives separated by '|' */
    int (*accepts)(const xpu_graph *graph, const xpu_match *match);
    xpu_status (*fuse)(xpu_graph *graph, const xpu_match *match, xpu_diags *diags);
} xpu_pattern;

/* Bytes that names are cut to in a target's facts. */
enum { XPU_REPORTED_NAME = 200 };

typedef void (*xpu_verify_report)(void *context, xpu_node node, const char *check, const char *what);

typedef struct xpu_target {
    uint32_t version; /* XPU_TARGET_VERSION */
    const char *name; /* "xpu-sim" */
    const char *about;
    const char *extension;       /* of the output: ".xpu", ".c" */
    int keeps_composites;        /* 1: composite rows are not expanded before partition */
    int host_regions;            /* 1: nodes that no rule admits may run on the host; 0: they are errors */
    const xpu_pattern *patterns; /* ends with name == NULL; NULL for none */
    const xpu_support *support;  /* ends with lowering == NULL */
    /* Checks the options (chip, precision, rules file) and makes job->state. */
    xpu_status (*start)(xpu_target_job *job);
    /* The target's own rewriting of the whole graph before lowering (precision, layout); may be NULL. */
    xpu_status (*prepare)(xpu_target_job *job);
    /* Rewriting behind it that changes no result, such as operators cut into parts; may be NULL. */
    xpu_status (*cut)(xpu_target_job *job);
    /* What the target promises of the graph behind prepare and cut, beside what the compiler checks of every target:
     * `report` is called for each node of which it does not hold, with the check's name and a sentence. May be NULL. */
    void (*verify)(xpu_target_job *job, xpu_verify_report report, void *context);
    /* One carved region to one section. */
    xpu_status (*lower)(xpu_target_job *job, uint32_t region, xpu_section *section);
    /* All sections into the bytes of the output file, written to `path`; `report` (a jansson object) gets the target's
     * facts. --explain shows of its "layers" the "name", "unit", "precision" and "reason" (why there) of the layer
     * whose first "result" is the value of that name; names are escaped and cut to XPU_REPORTED_NAME bytes. `path`
     * NULL: stop after generating source (--emit=c). */
    xpu_status (*pack)(xpu_target_job *job, xpu_section *sections, const char *path, void *report);
    /* One region (index into job->regions) to portable C, where this target stands before the one that makes the
     * program: start, rules and patterns are then all that is used besides. What *portable points to is copied or lives
     * in job->arena. NULL: the target can only be the last. */
    xpu_status (*lower_portable)(xpu_target_job *job, uint32_t region, xpu_portable *portable);
    int takes_portable; /* 1: it may be the last of several: it compiles region->portable where region->call is set */
} xpu_target;

typedef const xpu_target *(*xpuc_plugin_function)(void);

#endif
