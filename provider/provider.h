/*
 * The execution provider for onnxruntime (docs/onnxruntime.md): a shared library that stock releases from 1.23 load. It
 * compiles the parts of a graph that the chip takes with libxpuc, in memory, and runs them with libxpurt.
 *
 * Functions return NULL, or an OrtStatus that onnxruntime turns into its own error. Pointers to objects of onnxruntime
 * are valid during the call that gave them only.
 */
#ifndef XPU_PROVIDER_H
#define XPU_PROVIDER_H

#include <onnxruntime_c_api.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/name_table.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpuc/include/xpuc.h"

#define XPU_EP_NAME "XpuExecutionProvider"

enum { XPU_EP_API = 23 }; /* the API that is asked for: that of onnxruntime 1.23 */

#define XPU_TRY(call)                                                                                                  \
    do {                                                                                                               \
        OrtStatus *status_of_call = (call);                                                                            \
        if (status_of_call) return status_of_call;                                                                     \
    } while (0)

typedef struct {
    OrtEpFactory base;
    const OrtApi *api;
    const OrtEpApi *ep_api;
    const OrtApi *api_24; /* of onnxruntime 1.24 and newer, or NULL */
} xpu_ep_factory;

/* ---- options.c ---- */

/* Strings of the provider's arena; NULL where they are not given. */
typedef struct {
    const char *chip, *precision, *precision_rules, *memory_rules, *zig;
    const char *shapes, *values;       /* "x=1,3,H,W;state=2,1,128", as of xpuc --shape and --value */
    const char *bounds;                /* "boxes=100;n=8", as of xpuc --bound */
    const char *device;                /* "func", "rtl" or "ref" */
    const char *dump;                  /* folder: a folder in it for each run of each region */
    const char *profile;               /* file: a line of JSON for each run of each region */
    const char *report;                /* file: JSON, where each node runs */
    const char *min_products;          /* a number; NULL: 1 */
    int makes_context, embeds_context; /* a model with EPContext nodes is wanted; with programs in it */
    const char *context_path;          /* of that model; "": beside the model */
} xpu_ep_options;

/* What the user gave to the provider; an option that does not exist or has a wrong value is an error. */
OrtStatus *xpu_ep_read_options(const OrtApi *api, xpu_arena *arena, const OrtSessionOptions *from, xpu_ep_options *to);
/* Without memory_rules: where no memory is planned they are an error. */
xpuc_options xpu_ep_compile_options(const xpu_ep_options *options);

/* ---- provider.c ---- */

/* A program that is compiled, by the model that it is made of. */
typedef struct xpu_ep_compiled {
    xpu_hash key;
    xpuc_result result;
    char *messages; /* of the compiler, as JSON; or NULL */
    struct xpu_ep_compiled *next;
} xpu_ep_compiled;

typedef struct {
    OrtEp base;
    const xpu_ep_factory *factory;
    const OrtLogger *logger;
    xpu_mem mem; /* of the options */
    xpu_ep_options options;
    const struct xpurt_device_driver
        *driver;               /* of func; NULL: ref, or rtl, whose driver is that of the program's chip */
    xpu_ep_compiled *compiled; /* by GetCapability, for Compile */
    int rules_are_checked;     /* each matches something of a region */
    OrtStatus *refusal;        /* what Compile returns; or NULL */
} xpu_ep;

/* Runs `work` with an arena that lives as long; memory that runs out becomes an error. */
OrtStatus *xpu_ep_guarded(const OrtApi *api, OrtStatus *(*work)(void *context, xpu_arena *arena), void *context);
OrtStatus *xpu_ep_fail(const OrtApi *api, OrtErrorCode code, const char *text);
/* Texts of both name the tools' options: the user hears this provider's (base/words.h). */
void xpu_ep_log(const xpu_ep *ep, OrtLoggingLevel level, const char *text);

/* ---- graph.c: a graph of onnxruntime, with indices ---- */

enum { XPU_EP_NONE = UINT32_MAX };

typedef struct {
    const char *name;
    const OrtValueInfo *info;
    uint32_t producer; /* a node, or XPU_EP_NONE */
    int is_constant, is_output;
    int is_default;                /* an input of the model that has a value in it, which a run may replace */
    XPU_ARRAY(uint32_t) consumers; /* nodes; one that takes it twice stands here twice */
} xpu_ep_value;

typedef struct {
    const OrtNode *node;
    const char *name, *op, *domain;
    uint32_t *inputs, *outputs; /* values, XPU_EP_NONE: absent */
    uint32_t input_count;       /* those that nodes in its bodies take from outside included, ... */
    uint32_t operand_count;     /* ... and without them */
    uint32_t output_count;
    const char *why_not; /* why the compiler does not get it; or NULL */
    const char *hint;    /* what would help; or NULL */
} xpu_ep_node;

typedef struct {
    const xpu_ep_factory *factory;
    xpu_arena *arena;
    const OrtGraph *graph;
    xpu_ep_node *nodes; /* in topological order */
    uint32_t node_count;
    XPU_ARRAY(xpu_ep_value) values;
    xpu_name_table by_name;
} xpu_ep_graph;

OrtStatus *xpu_ep_read_graph(const xpu_ep_factory *factory, xpu_arena *arena, const OrtGraph *from, xpu_ep_graph *to);

/* ---- regions.c ---- */

/* Cuts the nodes with takes[node] into regions, numbered from 1 on, so that no path leaves one and enters it again.
 * region_of[node] is 0 for the others. Returns how many there are. */
uint32_t xpu_ep_regions(const xpu_ep_graph *graph, const uint8_t *takes, uint32_t *region_of);

/* Values that regions of the chip and other nodes exchange: with the region on the chip, and without it. */
typedef struct {
    uint32_t with, without;
} xpu_ep_copies;
xpu_ep_copies xpu_ep_count_copies(const xpu_ep_graph *graph, const uint32_t *region_of, uint32_t region);

/* ---- model.c ---- */

typedef struct {
    void *bytes; /* an ONNX file, in the arena */
    size_t size;
    uint32_t *nodes; /* by index in the file */
    uint32_t node_count;
    const char **inputs; /* their names, ended by NULL */
    uint32_t input_count;
    uint32_t *defaults; /* values that are inputs of the graph and constants of the file */
    uint32_t default_count;
} xpu_ep_model;

/* The nodes with region_of[node] == region as a model of their own. Its inputs are the values that come from outside,
 * its outputs those that are used outside, in the graph's order. What keeps a node from being written is put into its
 * why_not: then model->bytes is NULL. */
OrtStatus *xpu_ep_write_model(xpu_ep_graph *graph, const uint32_t *region_of, uint32_t region, xpu_ep_model *model);

/* A small model, to try options with. */
xpu_ep_model xpu_ep_small_model(xpu_arena *arena);

/* What the user says of sizes and values of the model's inputs, and of sizes within, in lists of the arena. */
void xpu_ep_set_sizes(const xpu_ep_options *from, xpu_arena *arena, const xpu_ep_model *model, xpuc_options *to);
/* Says of an input that the graph does not have that it does not. */
OrtStatus *xpu_ep_check_sizes(const OrtApi *api, const xpu_ep_options *options, xpu_arena *arena,
                              const OrtGraph *graph);

/* ---- attributes.c ---- */

struct XpuOnnx__AttributeProto;
struct XpuOnnx__TensorProto;
/* *why_not: what the compiler cannot be told, or NULL. */
OrtStatus *xpu_ep_read_tensor(xpu_ep_graph *graph, const OrtValue *value, struct XpuOnnx__TensorProto *tensor,
                              const char **why_not);
OrtStatus *xpu_ep_read_attribute(xpu_ep_graph *graph, const OrtOpAttr *from, struct XpuOnnx__AttributeProto *to,
                                 const char **why_not);
/* The text of a node's attribute, *length bytes without the 0 behind them; NULL where there is none. */
OrtStatus *xpu_ep_text_attribute(const OrtApi *api, xpu_arena *arena, const OrtNode *node, const char *name,
                                 const char **text, size_t *length);
OrtStatus *xpu_ep_number_attribute(const OrtApi *api, const OrtNode *node, const char *name, int64_t fallback,
                                   int64_t *number);

/* ---- capability.c, compile.c, compute.c ---- */

OrtStatus *ORT_API_CALL xpu_ep_get_capability(OrtEp *ep, const OrtGraph *graph, OrtEpGraphSupportInfo *info);

/* Compiles, or finds what was compiled of the same bytes. *compiled belongs to the provider; on failure `error` is
 * filled in, which the caller clears, and *compiled is NULL. */
void xpu_ep_compile_once(xpu_ep *ep, xpu_arena *arena, const xpu_ep_model *model, const xpu_ep_compiled **compiled,
                         xpuc_error *error);
void xpu_ep_free_compiled(xpu_ep *ep);
OrtStatus *ORT_API_CALL xpu_ep_compile(OrtEp *ep, const OrtGraph **graphs, const OrtNode **fused, size_t count,
                                       OrtNodeComputeInfo **infos, OrtNode **contexts);
void ORT_API_CALL xpu_ep_release_infos(OrtEp *ep, OrtNodeComputeInfo **infos, size_t count);

/* An input of the fused node whose value is in the program: a run has to give the same. */
typedef struct {
    char *name;
    uint32_t input; /* of the fused node */
    xpu_hash hash;  /* of its bytes */
} xpu_ep_fixed;

/* What a region needs, in memory of somebody else. */
typedef struct xpu_ep_program {
    const void *bytes; /* an .xpu file */
    size_t size;
    const xpu_ep_model *model; /* of which it was made; or NULL */
    const char *chip;          /* its chip's name, behind xpu_ep_open_region */
    const char *chip_json;     /* the same chip, whole; as long as the region is open */
    xpu_ep_fixed *fixed;
    uint32_t fixed_count;
    const char **kept; /* of an EPContext node: options it was compiled with, as kept.c orders them; or NULL */
} xpu_ep_program;

/* context.c: is it an EPContext node of this provider? */
OrtStatus *xpu_ep_is_context(const OrtApi *api, xpu_arena *arena, const OrtNode *node, int *is);
/* The program that is in such a node, or in the file that it names beside the model. */
OrtStatus *xpu_ep_read_context(const OrtApi *api, xpu_arena *arena, const OrtGraph *graph, const OrtNode *node,
                               xpu_ep_program *program);
OrtStatus *xpu_ep_make_context(const xpu_ep *ep, xpu_arena *arena, const OrtGraph *graph, const OrtNode *fused,
                               const xpu_ep_program *program, OrtNode **context);

/* kept.c: what the notes of an EPContext node say. Reading: whether all of it was understood. */
char *xpu_ep_write_notes(const xpu_ep *ep, xpu_arena *arena, const xpu_ep_program *program);
int xpu_ep_read_notes(xpu_arena *arena, const char *text, xpu_ep_program *program);
/* An error that names each option of the session that the program was compiled otherwise with. */
OrtStatus *xpu_ep_check_kept(const xpu_ep *ep, xpu_arena *arena, const xpu_ep_program *program);

/* A program that is open. */
typedef struct xpu_ep_instance {
    xpurt_program *program;
    xpurt_session *session;
    uint32_t input_count, output_count; /* of the program */
    uint32_t *inputs, *outputs;         /* by index in the program: index in the fused node */
    xpu_hash key;                       /* of sizes and values that it was made for */
    struct xpu_ep_instance *next;
} xpu_ep_instance;

/* Sizes that a program could not be compiled for, and the error; malloc'd. */
typedef struct {
    xpu_hash key;
    char *text;
} xpu_ep_failure;

enum { XPU_EP_FAILURES = 64 };

/* A region that is compiled. */
typedef struct {
    OrtNodeComputeInfo base;
    xpu_ep *ep;
    char *name;               /* of the fused node */
    char **names[2];          /* of its inputs and outputs */
    const char **types[2];    /* their element types, as NumPy names them; NULL: the chip has none such */
    size_t counts[2];         /* how many they are */
    xpu_ep_instance *general; /* for all sizes that it can have */
    xpu_ep_instance *special; /* for one set of sizes each, newest first; `lock` guards the list */
    uint32_t special_count;
    xpu_ep_failure failures[XPU_EP_FAILURES]; /* number i in place i % XPU_EP_FAILURES; under `lock`, too */
    uint32_t failure_count;
    void *model; /* what they are made of; NULL: there is nothing open, or only a program was there */
    size_t model_size;
    pthread_mutex_t lock;
    xpu_ep_fixed *fixed;
    uint32_t fixed_count;
    atomic_uint runs;
} xpu_ep_region;

/* *region is the caller's to close also where this fails or memory runs out. */
OrtStatus *xpu_ep_open_region(xpu_ep *ep, xpu_arena *arena, const OrtNode *fused, xpu_ep_program *program,
                              xpu_ep_region **region);
void xpu_ep_close_region(xpu_ep_region *region);

/* ---- instance.c, special.c ---- */

/* Opens a program for the region; *instance is the caller's to close also where this fails or memory runs out. */
OrtStatus *xpu_ep_open_instance(const xpu_ep_region *region, xpu_arena *arena, const void *bytes, size_t size,
                                xpu_ep_instance **instance);
void xpu_ep_close_instance(xpu_ep_instance *instance);
const char *xpu_ep_chip_name(const xpu_ep_instance *instance, xpu_arena *arena); /* of its program */
uint32_t xpu_ep_find_name(char *const *names, size_t count, const char *name);   /* XPU_EP_NONE: there is none */

/* Whether a run that ended in `error` can be made by a program for its sizes (and with_values, too: for what its inputs
 * of integers hold) alone. */
int xpu_ep_wants_special(const xpu_ep_region *region, const xpurt_error *error, int *with_values);
/* That program for these inputs, which are those of region->general; compiled unless it is there. Where it cannot be
 * compiled *instance is NULL, and *why says why, or is NULL where there are too many; that is remembered for these
 * sizes. An error is no matter of the model: clang is missing, memory ran out. */
OrtStatus *xpu_ep_special(xpu_ep_region *region, xpu_arena *arena, const xpurt_tensor *inputs, int with_values,
                          const xpu_ep_instance **instance, const char **why);

#endif
