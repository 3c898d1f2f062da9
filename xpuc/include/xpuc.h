/*
 * libxpuc: compile a neural network. It never prints or exits.
 *
 * Arguments: a path or result that is NULL is an error (status 2 [argument]), never a crash. `options` may be NULL: the
 * defaults; `error`, too. *result and *error are written, not read: they need not be initialised, and are cleared
 * before they are used again. Clearing NULL does nothing. libxpurt is alike.
 *
 * Threads: all functions may be called at the same time where each call has its own result, error and output files.
 */
#ifndef XPUC_H
#define XPUC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XPUC_API __attribute__((visibility("default")))

/* What went wrong: the caller owns it. status is 0 (ok) or a tool exit code (docs/errors.md). text holds every message,
 * warnings and notes too, one or more lines each; json the same one by one, for programs (docs/errors.md#for-programs).
 * Both are malloc'd, and NULL where there is none. */
typedef struct {
    int status;
    char *text;
    char *json;
} xpuc_error;
XPUC_API void xpuc_error_clear(xpuc_error *error);

/* NULL members take the defaults in brackets. Strings stay the caller's. */
typedef struct {
    const char *target;          /* "mine,xpu-sim": each node to the first that takes it ["xpu-sim"] */
    const char *chip;            /* a chip's name or a .json file ["standard"] */
    const char *precision;       /* auto, fp32, int16, int16x8 ["auto"] */
    const char *precision_rules; /* precisions of single layers: file [none] */
    const char *memory_rules;    /* placement rules file [none] */
    const char *emit;            /* xpu, c, ir ["xpu"] */
    const char *dump_after;      /* pass whose result is returned as text through dump */
    const char *plugin;          /* shared library with a target */
    const char *report;          /* JSON file to write */
    const char *explain;         /* "text" or "json": where each node runs and why, returned through explanation */
    const char *sort;            /* "cost": explain tells of layers, the dearest first by the target's model [none] */
    const char *params;          /* the file of a PaddlePaddle program's parameters [found beside the program] */
    const char *describe;        /* xpuc_describe: "text", "graph" (a model operator by operator), "json" ["text"] */
    const char *resources;       /* folder with configs/ and device/ [found beside the library, or $XPU_RESOURCES] */
    const char *zig;           /* the program zig of version 0.14, which has clang and lld in it, for where clang-19 or
                                * ld.lld-19 is not in PATH [$XPU_ZIG] */
    const char *const *values; /* "sr=16000", "axes=0,2", "k=1..9", NULL terminated: small inputs of integers */
    const char *const *bounds; /* "boxes=100", NULL terminated: sizes that only the run knows are at most so large */
    const char *const *shapes; /* "x=N,3,32..224:32,W", NULL terminated [as the model says] */
    const char *const *states; /* "out=in": the output is that input of the next run, NULL terminated [none] */
    int check_passes;          /* run ref before and after every pass on random input */
    int no_fuse;               /* the target's patterns are not applied: each tensor of the model can be dumped */
    int strip;
    int opset;                  /* xpuc_convert: of ONNX [the first from 17 on that has all operators] */
    int external_data;          /* xpuc_convert: ONNX's weights in OUTPUT.data, which is so above 2 GiB at any rate */
    int group_messages;         /* error.text: what is said of many nodes once, with a count and the first five */
    unsigned clang_seconds;     /* clang and lld are ended after so long [600] */
    int (*stop)(void *context); /* asked now and then: not 0 ends the call with status 130 [nobody is asked] */
    void *stop_context;
    int is_part; /* the model is a part of a network, and rules and bounds may be for another part: [rules-unused] and
                  * [bound-option] are warnings where they would be errors, and notes where they would be warnings */
} xpuc_options;

/* Results in malloc'd memory; xpuc_result_clear frees them. */
typedef struct {
    void *bytes; /* the program, or with emit c or ir its text */
    size_t size;
    char *dump;        /* text asked for by dump_after */
    char *explanation; /* text or JSON asked for by explain */
    char *log;         /* one line per pass: time, nodes behind it */
    char *summary;     /* one line: what was done */
} xpuc_result;
XPUC_API void xpuc_result_clear(xpuc_result *result);

/* Compiles a model file into memory. Returns error->status. */
XPUC_API int xpuc_compile_file(const char *path, const xpuc_options *options, xpuc_result *result, xpuc_error *error);

/* The same of a model that is in memory, as its file would be. `name` stands for the file: in messages, its ending says
 * the format as a file's does ("model.onnx"), and files that the model refers to are looked for in its folder. The
 * bytes stay the caller's, and are not read any more when the call returns. */
XPUC_API int xpuc_compile_memory(const void *bytes, size_t size, const char *name, const xpuc_options *options,
                                 xpuc_result *result, xpuc_error *error);

/* Compiles a model file and writes the output file (temporary name, then rename); result->bytes stays NULL. `output`
 * NULL: the model's name with the target's extension, in the current folder; result->summary names the file. */
XPUC_API int xpuc_compile_to_file(const char *path, const char *output, const xpuc_options *options,
                                  xpuc_result *result, xpuc_error *error);

/* A readable description of a model or an .xpu file in result->dump. */
XPUC_API int xpuc_describe(const char *path, const xpuc_options *options, xpuc_result *result, xpuc_error *error);

/* Writes a model as `output`, whose ending says in which format: .onnx, .pdmodel or .json
 * (PIR) with .pdiparams beside it. Names stay, sizes that are open stay open,
 * quantised operators stay. Of the options those that say what the model's inputs are, params, opset and external_data
 * count. Operators without a counterpart are listed in error->text, all of them, before anything is written; nothing is
 * half-written. result->summary says what was done. */
XPUC_API int xpuc_convert(const char *path, const char *output, const xpuc_options *options, xpuc_result *result,
                          xpuc_error *error);

/* Ends the children of all calls that are running, and removes their temporary files and folders: for a signal handler
 * (it is async-signal-safe) that ends the process next. */
XPUC_API void xpuc_end_temporaries(void);

/* A message's text, which names options of the tools, in the words of another interface: "python" (arguments of the
 * package xpu) or "onnxruntime" (options of the execution provider). malloc'd; NULL: memory ran out, or there is no
 * such interface. */
XPUC_API char *xpuc_words(const char *text, const char *interface);

XPUC_API const char *xpuc_version(void);

#ifdef __cplusplus
}
#endif
#endif
