/* The runtime, inside: what its parts know of each other. One run is one xpu_run with an arena of its own. */
#ifndef XPU_RUNTIME_HOST_H
#define XPU_RUNTIME_HOST_H

#include <jansson.h>
#include <pthread.h>

#include "base/compare.h"
#include "core/chip.h"
#include "core/ops/ref.h"
#include "xpu_runtime/host/iterations.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/include/xpurt_device.h"
#include "xpu_runtime/program/file.h"
#include "xpu_runtime/program/placement.h"

enum { XPU_CACHED_SHAPES = 16 };

/* Where the buffers lie when the symbols have these values. */
typedef struct {
    int64_t symbols[XPU_PROGRAM_MAX_SYMBOLS];
    xpu_place *places;
    uint64_t last_used; /* 0: the entry is empty */
} xpu_cached_places;

/* What is below the lock changes while the program is used; the rest does not. */
struct xpurt_program {
    xpu_mem mem;
    xpu_arena *arena; /* lives as long as the program; taken from under the lock only */
    xpu_program_image *image;
    xpu_chip chip;
    pthread_mutex_t lock;
    xpu_cached_places cache[XPU_CACHED_SHAPES];
    uint64_t plans, plan_hits; /* memory plans made when shapes were bound, and found in the cache */
    int has_constants;
    char *description; /* malloc'd; made once */
};

/* What a session keeps of a state of the graph. */
typedef struct {
    int64_t dims[XPU_MAX_RANK]; /* of its value, which every later run must have */
    uint32_t address;           /* where it lies on the device, at the next run as input */
    void *value;                /* where there is no device: its value, malloc'd */
    void *other;        /* the value that a run has made, or (device) the one that it has written over; malloc'd */
    size_t saved_bytes; /* of `other`, which goes back if the run ends early */
    int64_t next_dims[XPU_MAX_RANK];
    uint32_t next_address;
} xpu_session_state;

/* A program on a device that stays as it is between runs. For ref there is no device. */
struct xpurt_session {
    xpurt_program *program;
    const xpurt_device_driver *driver; /* NULL: ref */
    xpu_mem mem;
    xpu_arena *arena;
    xpu_chip chip;             /* that it runs on: the program's but for what changes time only */
    xpurt_device *device;      /* made by the first run that gets as far */
    xpu_session_state *states; /* in the order of the graph's */
    int has_states;            /* a run has ended well since the session was opened or reset */
    int is_swapped;            /* states: input and output have changed places */
    int is_loaded;             /* the device holds the program as its file has it, but for what every run writes */
    pthread_mutex_t lock;      /* of idle and its list; in a session with states of a whole run */
    xpurt_session *idle;       /* that no thread uses: the session that was opened, and those made beside it when a
                                * thread found none; without states they are alike */
    xpurt_session *next;       /* in that list */
};

/* What descriptors need at least: cycles of the array and of the drain, bytes. */
typedef struct {
    uint64_t array, drain, read[XPURT_MEMORIES], written[XPURT_MEMORIES];
} xpu_least_work;

/* Where a layer's cycles went, on a device that has time. Cycles and states are those from the completion of the layer
 * before to its own. Its descriptors may be at work before: `all` is what they need, `inside` what those of them need
 * that begin and end within its cycles; `open` the same while these have not ended, which began in cycle `since`. */
typedef struct {
    uint64_t cycles, macs, bytes[XPURT_MEMORIES], since;
    xpu_least_work all, inside, open;
    uint64_t cores[XPURT_MAX_CORES][XPURT_STATES], engines[XPURT_ENGINES][XPURT_STATES];
} xpu_layer_times;

/* What a run has learnt of a layer. */
typedef struct {
    xpu_layer_times *times;         /* NULL: the device has no time */
    uint64_t instructions;          /* of all cores, since the layer before */
    uint8_t announced, host_called; /* in this run, or the last time that it ran */
    uint64_t executions;
    int64_t macs;                /* of all executions */
    struct xpu_executions *each; /* of a layer in a loop; NULL: none yet, or nobody asks */
} xpu_layer_record;

typedef struct {
    xpurt_program *owner;
    xpurt_session *session; /* NULL: inputs are only checked */
    const xpu_program *program;
    const xpu_graph *graph;
    const xpurt_run_options *options;
    xpu_arena *arena;
    xpu_diags *diags;
    int64_t symbols[XPU_PROGRAM_MAX_SYMBOLS];
    xpu_tensor *inputs;                 /* in the order of graph->inputs */
    uint8_t *is_kept;                   /* by input: the session's state, as the caller gives none */
    xpu_tensor *outputs;                /* in the order of graph->outputs */
    const xpurt_device_driver *driver;  /* the session's; NULL: ref */
    xpurt_device *device;               /* the session's */
    xpu_place *places;                  /* one per buffer */
    uint32_t only_layer;                /* UINT32_MAX: all */
    int only_check;                     /* of the inputs, which may have no data */
    int may_be_empty;                   /* sizes of inputs may be 0, whatever the program was compiled for */
    xpu_ref_cost host_cost;             /* of the nodes that the host has run, or (ref) of all */
    uint64_t host_nodes;                /* how often the host has run a node or an iteration */
    struct xpu_dump *dump;              /* NULL: none */
    struct xpu_replay *replay;          /* one layer alone; NULL: none */
    uint32_t *layer_of;                 /* by node id: its layer, or UINT32_MAX; made at the first use */
    const xpu_program_value **place_of; /* by value id: where it lies, or NULL; made at the first use */
    uint8_t *is_rounded;                /* by value id: computed from C of another target; made at the first use */
    xpu_layer_record *layers;
    uint32_t layers_done, last_layer;
    uint8_t *nesting;        /* by layer; made at the first use */
    const int64_t *found;    /* ref: symbols as the run has found them, while it runs */
    int64_t *iteration_of;   /* ref: by node id of a loop: its iteration that runs; made at the first use */
    xpurt_counters counters; /* of this run, when the last layer was complete */
    xpurt_counters before;   /* the device's, before the start */
    int has_times;
    int counts_executions;        /* statistics are wanted */
    xpu_iteration_ranges rows_of; /* which iterations have rows in them; without a range: none */
    uint32_t rows;
    uint64_t rows_left_out;
    struct xpu_executions *last_each; /* of the layer that was complete last; NULL: it is in no loop */
    struct xpu_trace *trace;          /* NULL: none */
    double seconds, bind_seconds, plan_seconds;
    const char *incomplete;    /* the rule of the error that ended the run early; NULL: none did */
    uint64_t plans, plan_hits; /* of the program, when this run had its places */
} xpu_run;

/* ---- api.c ---- */
/* Moves the diagnostics into the caller's error object; returns its status. */
int xpu_report(xpurt_error *error, xpu_diags *diags, xpu_status status);
/* The error [argument] of a call of the API that cannot be made. */
xpu_status xpu_bad_argument(xpu_diags *diags, const char *call, const char *problem, const char *header);

/* The error [argument] of a call that cannot be made; `problem` is NULL where it can. Returns whether it is one. */
int xpu_is_refused(xpurt_error *error, const char *call, const char *problem);
/* Why a program cannot take these arguments, or NULL. */
const char *xpu_need_inputs(const xpurt_program *program, const xpurt_tensor *inputs, uint32_t count);
/* One run in a session, behind a boundary of its own. */
xpu_status xpu_guarded_run(xpurt_session *session, const xpurt_tensor *inputs, uint32_t input_count,
                           xpurt_tensor *outputs, const xpurt_run_options *options, xpu_diags *diags);

/* ---- bind.c ---- */
/* Matches the caller's tensors with the program's inputs and binds the symbols. */
xpu_status xpu_run_bind(xpu_run *run, const xpurt_tensor *inputs, uint32_t count);
/* No value and no layer is too large at the bound shape. [shape-negative] [shape-too-large] */
xpu_status xpu_run_check_sizes(const xpu_run *run);
/* The dims of a value under the run's binding as a tensor without data. */
xpu_tensor xpu_run_shape(const xpu_run *run, xpu_value value);

/* ---- states.c ---- */
enum { XPU_DIM_UNKNOWN = -1 };
/* States that the caller does not give: types, dims where they are known, and the data of small integers. */
xpu_status xpu_run_take_states(xpu_run *run);
/* [state-shape] where the run does not fit the session's states. */
xpu_status xpu_run_check_states(xpu_run *run);
/* Data of the states that the run takes from the host. */
xpu_status xpu_run_fetch_states(xpu_run *run);
/* Whether an input is in the device's memory already. */
int xpu_run_state_stays(const xpu_run *run, uint32_t input);
/* Before a given value takes the place of a state. */
xpu_status xpu_run_save_state(xpu_run *run, uint32_t input);
/* When the run has ended well: what xpu_session_keep makes the states. */
void xpu_run_prepare_states(xpu_run *run);
void xpu_session_keep(xpurt_session *session);
/* When it has ended early. */
void xpu_session_restore(xpurt_session *session);
void xpu_session_clear_states(xpurt_session *session);

/* ---- places.c ---- */
/* Finds run->places: those of the program, of an earlier run with the same shapes, or of a plan that is made now. */
xpu_status xpu_run_find_places(xpu_run *run);
/* Makes the lists of descriptors of all layers that have some and writes them to the device; `words`: the plan table,
 * in which the words of these layers are set. [program-lists] where the program's own numbers contradict them. */
xpu_status xpu_run_write_lists(xpu_run *run, uint32_t *words);

/* ---- limits.c ---- */
/* How many instructions a device may execute; UINT64_MAX: any number. */
uint64_t xpu_run_limit(const xpu_run *run);
/* Whether the host may run this node, or the whole graph. [device-budget] [shape-too-large] */
xpu_status xpu_run_afford_node(xpu_run *run, xpu_node node);
xpu_status xpu_run_afford_graph(xpu_run *run);
/* Counts what the host runs, with the run as context: a meter of the reference kernels. [device-budget] */
xpu_status xpu_run_meter(void *context, xpu_node node, double work);

/* ---- layout.c ---- */
/* Between logical row-major order and the layout of a value in device memory. */
void xpu_layout_to_device(xpu_layout layout, const xpu_tensor *logical, void *physical);
void xpu_layout_to_logical(xpu_layout layout, const void *physical, xpu_tensor *logical);

/* ---- layers.c ---- */
/* The first layer from `from` on that `pattern` means, as xpurt_find_layer says; -1: there is none. */
int64_t xpu_find_layer(const xpu_program *program, const char *pattern, uint32_t from, int makes_tensor,
                       xpu_arena *arena);
/* The error [layer-unknown]: with the nearest name, or what became of the tensor or node of this name. */
xpu_status xpu_layer_unknown(const xpurt_program *program, const char *pattern, int makes_tensor, xpu_arena *arena,
                             xpu_diags *diags);

/* ---- races.c ---- */
/* Reports the races that the device has found, if it looks for them. */
xpu_status xpu_run_races(const xpu_run *run);

/* ---- device.c, ref.c ---- */
/* What the device has done in this run so far. */
void xpu_run_counters(const xpu_run *run, xpurt_counters *counters);
xpu_status xpu_run_on_device(xpu_run *run);
xpu_status xpu_run_on_ref(xpu_run *run);
/* Runs one node, which the run can afford, with the reference kernels; what its bodies run is counted too.
 * [device-budget] */
xpu_status xpu_run_node(xpu_run *run, xpu_node node, const xpu_tensor *const *inputs, xpu_tensor *results);
/* Constants of the graph get their data (once per program). */
xpu_status xpu_run_constants(xpu_run *run);
/* Where a value lies in device memory; 0: it has no place there. */
uint32_t xpu_run_address_of(xpu_run *run, xpu_value value);
/* Layer whose node this is, or UINT32_MAX. */
uint32_t xpu_run_layer_of(xpu_run *run, xpu_node node);
void xpu_run_progress(xpu_run *run, uint32_t layer);

/* ---- control.c ---- */
/* Where a layer stands: bits of these. */
enum { XPU_NESTED_BRANCH = 1, XPU_NESTED_LOOP = 2 };
unsigned xpu_run_nesting(xpu_run *run, uint32_t layer);
/* The iteration in which a layer runs now; returns how many loops are around it. */
uint32_t xpu_run_iterations(xpu_run *run, uint32_t layer, xpu_iterations *iterations);
/* The same as part of a name: ".i0007.i0003"; "" outside of loops. */
const char *xpu_run_path(xpu_run *run, uint32_t layer);
/* Loops around a block of the graph. */
uint32_t xpu_loops_around(const xpu_graph *graph, xpu_block block);
/* ".i0007.i0003": of the first `count`. */
const char *xpu_iterations_text(xpu_arena *arena, const xpu_iterations *iterations, uint32_t count);
/* The values of symbols, as far as the run has found them. */
const int64_t *xpu_run_symbols(const xpu_run *run);
/* run->symbols become what the device has found so far. */
xpu_status xpu_run_refresh(xpu_run *run);
/* The error of a fault that control flow ends a run with; XPU_OK where it is another one. */
xpu_status xpu_run_control_fault(const xpu_run *run, const xpurt_fault *f, const char *where, const char *node);

/* ---- tags.c ---- */
/* The layer that a tag of a core or a descriptor means: tags are 16 bits wide. */
uint32_t xpu_run_layer_of_tag(const xpu_run *run, uint32_t tag);

/* ---- stop.c: runs that end early ---- */
/* The layer that core 0 is in; on ref the next one. */
uint32_t xpu_run_current_layer(const xpu_run *run);
/* The error [stopped], which says where the run stood. */
xpu_status xpu_run_stopped(const xpu_run *run);
/* Whether what there is of a run with this status is written; set_incomplete: it will say that it is not the whole. */
int xpu_run_has_part(xpu_status status);
void xpu_run_set_incomplete(xpu_run *run, xpu_status status);

/* ---- dump.c: dump folders ---- */
enum { XPU_DUMP_VERSION = 2 }; /* of index.json */
typedef struct xpu_dump xpu_dump;
xpu_status xpu_dump_open(xpu_run *run);
/* Whether it takes results of this layer, in the iteration that runs now. */
int xpu_dump_wants(xpu_run *run, uint32_t layer);
/* Writes result `output` of a layer. */
xpu_status xpu_dump_write(xpu_run *run, uint32_t layer, uint32_t output, const xpu_tensor *tensor);
xpu_status xpu_dump_close(xpu_run *run); /* writes index.json */

/* ---- replay.c: one layer alone ---- */
/* Finds the layer, binds the symbols as the dump says, and checks the options. */
xpu_status xpu_replay_prepare(xpu_run *run);
/* Whether there is nothing to replay, as the dump's run did not run the layer; else an error said so. */
int xpu_replay_is_absent(const xpu_run *run);
/* A value as the dump has it; values that are not layers' results are computed from those that are. */
xpu_status xpu_replay_value(xpu_run *run, xpu_value value, xpu_tensor *tensor);
/* The iteration that is replayed; returns how many loops are around the layer. */
uint32_t xpu_replay_iterations(const xpu_run *run, xpu_iterations *iterations);
/* The same for statistics: "iteration". */
void xpu_replay_stats(const xpu_run *run, json_t *top);
/* Compares a result of the replayed layer with the dump's. */
xpu_status xpu_replay_compare(xpu_run *run, uint32_t layer, uint32_t output, const xpu_tensor *tensor);

/* ---- tolerance.c ---- */
/* How far the results of a layer may differ between ref and a device where its operands are the same. */
xpu_tolerance xpu_layer_tolerance(const xpu_run *run, uint32_t layer);
/* The same in two whole runs: a layer's operands may differ, too. */
xpu_tolerance xpu_result_tolerance(xpu_run *run, uint32_t layer);

/* ---- profile.c, trace.c: devices that have time ---- */
typedef struct xpu_trace xpu_trace;
void xpu_profile_begin(xpu_run *run);                                            /* before the start */
void xpu_profile_layer(xpu_run *run, uint32_t layer, const xpurt_counters *now); /* it is complete */
void xpu_profile_stats(xpu_run *run, json_t *top);                               /* of the whole run */
void xpu_profile_times_stats(const xpu_run *run, json_t *entry, const xpu_layer_times *times);
void xpu_trace_begin(xpu_run *run);
void xpu_trace_layer(xpu_run *run, uint32_t layer, uint64_t from, uint64_t to);
void xpu_trace_descriptor(xpu_run *run, const xpurt_completion *completion);
void xpu_trace_state(xpu_run *run, unsigned unit, unsigned state, uint64_t from, uint64_t to);
xpu_status xpu_trace_write(xpu_run *run);

/* ---- executions.c: layers in loops ---- */
/* Which iterations have rows of their own, as the options say. */
xpu_status xpu_executions_begin(xpu_run *run);
/* An execution is complete, and what it took; cycles that follow it and are counted as its own. */
void xpu_executions_add(xpu_run *run, uint32_t layer, uint64_t cycles, uint64_t instructions);
void xpu_executions_extend(xpu_run *run, uint32_t layer, uint64_t cycles);
/* Least, mean and most of an execution of this layer, and the rows. */
void xpu_executions_stats(const xpu_run *run, json_t *entry, uint32_t layer);

/* ---- stats.c, describe.c ---- */
/* Of one execution, with the symbols as they are now. */
int64_t xpu_run_layer_macs(const xpu_run *run, uint32_t layer);
/* Of all of them. */
int64_t xpu_run_all_macs(xpu_run *run, uint32_t layer);
const char *xpu_run_layer_precision(const xpu_run *run, uint32_t layer); /* "fp32"; "" where it is not known */
/* Which program and which model: "program_hash" and "source_hash" of statistics and dump indexes. */
void xpu_run_identity(const xpu_run *run, json_t *top);
xpu_status xpu_run_stats(xpu_run *run);
xpu_status xpu_describe_program(xpurt_program *program, xpu_arena *arena, xpu_diags *diags);

#endif
