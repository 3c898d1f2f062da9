/*
 * libxpurt: load, query, run, dump and close compiled programs. It never prints or exits. The device is a struct from
 * the tool that links one (xpurt_device.h).
 *
 * Arguments: a pointer that must not be NULL and is, or an index that does not exist, is an error (status 2 [argument];
 * from queries 2, 0 or NULL), never a crash. `error` may be NULL everywhere. It is written, not read: it need not be
 * initialised, and is cleared before it is used again. Clearing or closing NULL does nothing. libxpuc is alike.
 *
 * Threads: all functions may be called at the same time, also with one program, where each call has its own tensors,
 * options and error; only xpurt_close comes after the last call that uses the program. What a query returns stays as it
 * is until xpurt_close. Runs of one program share its file's bytes, its constants and its plans; statistics, dumps and
 * outputs belong to the run. Several threads may run one session at the same time: each has a device, which the session
 * makes when a thread finds none that is free, and keeps. Where the program has states they run one after the other, in
 * any order. xpurt_session_close comes after the last run; a hook of a run (stop, progress) does not run its session.
 */
#ifndef XPURT_H
#define XPURT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XPURT_API __attribute__((visibility("default")))

/* What went wrong: the caller owns it. status is 0 (ok) or a tool exit code (docs/errors.md). text holds every message,
 * warnings and notes too, one or more lines each; json the same one by one, for programs (docs/errors.md#for-programs).
 * Both are malloc'd, and NULL where there is none. */
typedef struct {
    int status;
    char *text;
    char *json;
} xpurt_error;
XPURT_API void xpurt_error_clear(xpurt_error *error);

typedef struct xpurt_program xpurt_program;
struct xpurt_device_driver; /* xpurt_device.h; NULL stands for ref */

/* Element types as NumPy names them. */
typedef struct {
    const char *name;
    const char *dtype; /* "float32" */
    int rank;
    int64_t dims[8]; /* -1 where a symbol stands (query before binding); logical order (NCHW) */
    void *data;      /* row-major, little endian */
} xpurt_tensor;

/* Opens a program from a file, or from memory (copied). NULL with error filled in on failure. */
XPURT_API xpurt_program *xpurt_open(const char *path, xpurt_error *error);
XPURT_API xpurt_program *xpurt_open_memory(const void *bytes, size_t size, const char *name, xpurt_error *error);
XPURT_API void xpurt_close(xpurt_program *program);

XPURT_API uint32_t xpurt_input_count(const xpurt_program *program);
XPURT_API uint32_t xpurt_output_count(const xpurt_program *program);
/* Name, element type and dims; data is NULL. 0, or 2 where there is no such input: then *info is all zeros. */
XPURT_API int xpurt_input(const xpurt_program *program, uint32_t index, xpurt_tensor *info);
XPURT_API int xpurt_output(const xpurt_program *program, uint32_t index, xpurt_tensor *info);
/* Input `index` is a state (xpuc --state): the output whose value it is in the next run of a session, or -1: it is not,
 * or there is no such input. */
XPURT_API int64_t xpurt_state_of_input(const xpurt_program *program, uint32_t index);
XPURT_API const char *xpurt_chip_json(const xpurt_program *program);
/* Facts of the program as JSON text (layers, regions, tensors, sizes); belongs to the program. */
XPURT_API const char *xpurt_describe(xpurt_program *program, xpurt_error *error);

/* Layers in order of execution. NULL: there is no such layer. */
XPURT_API uint32_t xpurt_layer_count(const xpurt_program *program);
XPURT_API const char *xpurt_layer_name(const xpurt_program *program, uint32_t index);
/* The first layer from `from` on that `pattern` means: the layer of this name (with control characters as messages
 * print them, too) or, where there is none, one whose name matches it as a glob. With makes_tensor only layers that
 * make one count. Returns its index, or -1 and error->status 2 [layer-unknown]; error may be NULL. */
XPURT_API int64_t xpurt_find_layer(const xpurt_program *program, const char *pattern, uint32_t from, int makes_tensor,
                                   xpurt_error *error);

typedef struct {
    const struct xpurt_device_driver *device; /* NULL: ref */
    const char *dump_folder;                  /* write every layer's output there; NULL: do not */
    const char *dump_filter;                  /* a layer, or a glob over their names; NULL: all */
    const char *dump_iterations;              /* in loops: these iterations, "0..3" of every loop around a layer, or a
                                               * range for each from the outermost on, "2,0..3", "*,1"; NULL: all */
    uint64_t dump_bytes;          /* without dump_iterations: results of iterations take at most so many bytes
                                   * of the disk, later ones are left out [dump-limit]; 0: 2^30 */
    const char *layer;            /* run this layer (a name, or a glob that only it matches) alone ... */
    const char *from_dump;        /* ... with its inputs from this dump folder */
    const char *layer_iteration;  /* in a loop: which iteration of it, "2,1" of loops in loops, from the
                                   * outermost on; NULL: the first one that the dump has [layer-iteration] */
    const char *stats_file;       /* write --stats JSON there; NULL: do not */
    const char *stats_iterations; /* in loops: statistics have rows of these iterations, as dump_iterations
                                   * names them, at most 10,000 in all; NULL: none */
    char **stats;                 /* out: the same as text, also of a run that was stopped or ended with
                                   * a fault; malloc'd, the caller's to free; NULL: not wanted */
    int *layer_ran;               /* out, with layer: 0 where the run that was dumped did not run it, so that
                                   * nothing is compared (status 0); NULL: that is [layer-not-run] */
    uint64_t *layer_differs;      /* with layer: how many elements differ from the dump's; may be NULL */
    const char *chip_json;        /* run on this chip, which must have the program's ABI; NULL: its own */
    const char *memory_json;      /* plan memory as if the chip had the sizes of this one, which are no larger than its
                                   * own [memory-larger]; NULL: its own */
    uint64_t max_instructions;    /* give up after so many in all cores; on ref, and in layers that
                                   * the host runs, element operations. 0: what the program's layers and
                                   * tensors need many times over, 2^40 on the host; UINT64_MAX: no limit */
    uint32_t seed;                /* register SEED of the device at the start */
    const char *trace_file;       /* write what every unit did when as Chrome JSON; NULL: do not */
    const char *const *keep;      /* files that no output of the run may replace, besides the program's and
                                   * the dump's that it reads: NULL-terminated; NULL: none */
    void (*progress)(void *context, uint32_t layers_done, uint32_t layers, const char *layer);
    void (*tick)(void *context, uint64_t cycles); /* every now and then, on a device that has time */
    void *context;
    /* With layer: each result beside the dump's tensor of the same name, type and shape, before layer_differs counts.
     */
    void (*layer_result)(void *context, const xpurt_tensor *result, const xpurt_tensor *dumped);
    void *layer_context;
    double
        *layer_tolerance; /* out, before layer_result: 0 where bits decide; 1e-5, relative and of the largest magnitude,
                           * between ref and a device where the layer is C of another target; NULL: not wanted */
    /* Asked now and then: not 0 ends the run with status 130 [stopped]. Dump, statistics and trace are written as far
     * as it got, and say "incomplete", as they do after a fault. */
    int (*stop)(void *context);
    int leave_states; /* outputs that are states are not fetched from the device: their tensors have no data */
} xpurt_run_options;

/* Whether xpurt_run would take these inputs, by their names, element types and dims; their data may be NULL. Returns
 * error->status. */
XPURT_API int xpurt_check_inputs(xpurt_program *program, const xpurt_tensor *inputs, uint32_t input_count,
                                 xpurt_error *error);

/* What a run gives where sizes that are open are 0, which no program runs with: outputs (room for xpurt_output_count,
 * written, not read) with their dims and without data, if none of them has elements. Their names belong to the program.
 * Returns error->status: where an output has elements, or its size is only known by a run, that of [shape-range]. */
XPURT_API int xpurt_empty_outputs(xpurt_program *program, const xpurt_tensor *inputs, uint32_t input_count,
                                  xpurt_tensor *outputs, xpurt_error *error);

/* Runs once. inputs: one per program input, by name, or by position where name is NULL; dims bind the symbols.
 * outputs: room for xpurt_output_count tensors, which are written, not read; data is malloc'd and belongs to the caller
 * (xpurt_tensor_clear), NULL after a failure; names belong to the program. Returns error->status. */
XPURT_API int xpurt_run(xpurt_program *program, const xpurt_tensor *inputs, uint32_t input_count, xpurt_tensor *outputs,
                        const xpurt_run_options *options, xpurt_error *error);
XPURT_API void xpurt_tensor_clear(xpurt_tensor *tensor);

/*
 * A session runs a program many times on one device: the device is made and the program loaded into it by the first
 * run, and again after a run that ended early; later runs write what a run changes. xpurt_run is a session of one run.
 *
 * xpurt_session_open: of `options` it takes device and chip_json, whose text need not stay; NULL: ref. The program must
 * stay open until the session is closed. NULL with error filled in on failure: [chip-abi] and those of --chip.
 * xpurt_session_run: like xpurt_run, with the session's device and chip, whatever options say of them. An error ends
 * the run, never the session.
 *
 * States (xpuc --state out=in): an input that is one may be left out. It then has what the run before gave as that
 * output, zeros in the first run; given, it sets the state. A run that returns an error leaves the states as they were.
 * Their shapes are those of the first run until the session is reset: [state-shape].
 * xpurt_session_reset: as if no run had been made; the device and the program in it stay.
 */
typedef struct xpurt_session xpurt_session;
XPURT_API xpurt_session *xpurt_session_open(xpurt_program *program, const xpurt_run_options *options,
                                            xpurt_error *error);
XPURT_API int xpurt_session_run(xpurt_session *session, const xpurt_tensor *inputs, uint32_t input_count,
                                xpurt_tensor *outputs, const xpurt_run_options *options, xpurt_error *error);
XPURT_API void xpurt_session_reset(xpurt_session *session);
XPURT_API void xpurt_session_close(xpurt_session *session);

/* Removes the temporary files and folders of all calls that are running: for a signal handler (it is async-signal-safe)
 * that ends the process next. */
XPURT_API void xpurt_end_temporaries(void);
XPURT_API const char *xpurt_version(void);

#ifdef __cplusplus
}
#endif
#endif
