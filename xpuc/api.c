/* libxpuc: the API boundary. Memory that runs out comes back here; nothing leaves by exit or abort. */
#include "xpuc/include/xpuc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/temporary.h"
#include "base/words.h"
#include "xpuc/convert.h"
#include "xpuc/pipeline.h"

const char *xpuc_version(void) {
    return XPU_VERSION;
}

char *xpuc_words(const char *text, const char *interface) {
    int is_python = interface && strcmp(interface, "python") == 0;
    if (!text || !interface || (!is_python && strcmp(interface, "onnxruntime") != 0)) return NULL;
    return xpu_words_of(text, is_python ? XPU_WORDS_PYTHON : XPU_WORDS_ONNXRUNTIME);
}

void xpuc_end_temporaries(void) {
    xpu_temporaries_end();
}

void xpuc_error_clear(xpuc_error *error) {
    if (!error) return;
    free(error->text);
    free(error->json);
    *error = (xpuc_error){.status = 0};
}

void xpuc_result_clear(xpuc_result *result) {
    if (!result) return;
    free(result->bytes);
    free(result->dump);
    free(result->explanation);
    free(result->log);
    free(result->summary);
    *result = (xpuc_result){.bytes = NULL};
}

/* ---- what goes out ---- */

xpuc_error xpu_error_of(int status, const xpu_diags *diags, int grouped) {
    xpuc_error error = {.status = status, .json = xpu_diags_json(diags)};
    size_t length = 0;
    FILE *stream = diags->count ? open_memstream(&error.text, &length) : NULL;
    if (!stream) return error;
    if (grouped)
        xpu_diags_print_grouped(diags, stream);
    else
        xpu_diags_print(diags, stream);
    fclose(stream);
    return error;
}

static void *give(xpu_arena *arena, const void *data, size_t length) {
    char *copy = xpu_alloc_fails() ? NULL : malloc(length + 1);
    if (!copy) xpu_out_of_memory(xpu_arena_mem(arena));
    memcpy(copy, data, length);
    copy[length] = '\0';
    return copy;
}

char *xpu_give_text(xpu_arena *arena, const char *text) {
    return text ? give(arena, text, strlen(text)) : NULL;
}

/* ---- entry points ---- */

typedef struct {
    const char *call, *path, *output;
    const xpu_built *built;       /* instead of the file at path */
    const xpu_given_file *memory; /* the same, under that path */
    int to_file;                  /* 0: into result->bytes */
    const xpuc_options *options;
    xpuc_result *result;
    xpu_diags *diags;
} request;

static xpu_pipeline *new_pipeline(const request *r, xpu_arena *arena) {
    static const xpuc_options defaults = {0};
    xpu_pipeline *p = XPU_NEW(arena, xpu_pipeline);
    p->path = r->path;
    p->built = r->built;
    p->output = r->output;
    p->wanted = r->options ? r->options : &defaults;
    p->arena = arena;
    p->diags = r->diags;
    p->started = xpu_seconds();
    p->report = xpu_json_own(arena, json_object());
    p->facts = xpu_json_set(arena, p->report, "program", json_object());
    /* Nobody reads them: the target may say how many layers there are and leave out the rest. */
    if (!p->wanted->report && !p->wanted->explain) xpu_json_set(arena, p->facts, "brief", json_true());
    return p;
}

/* Texts are given or written here; the target's file was written by the pass that packs. */
static void deliver(xpu_pipeline *p, const request *r) {
    if (p->text && p->file) xpu_output_write(p->file, p->text, strlen(p->text)); /* the commit reports what fails */
    if (p->file) return;
    r->result->size = p->text ? strlen(p->text) : p->size;
    r->result->bytes = give(p->arena, p->text ? p->text : p->bytes, r->result->size);
}

/* "digits.onnx" gives "digits.xpu" in the current folder. */
static const char *default_output(const xpu_pipeline *p) {
    const char *name = xpu_path_name(p->path), *dot = strrchr(name, '.');
    int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    int is_program = strcmp(p->options.emit, "xpu") == 0;
    return xpu_printf(p->arena, "%.*s%s%s", length, name, is_program ? "" : ".",
                      is_program ? p->target->extension : p->options.emit);
}

static xpu_status compile(const request *r, xpu_arena *arena) {
    xpu_pipeline *p = new_pipeline(r, arena);
    xpu_status status = p->built ? XPU_OK : xpu_check_format(p);
    if (status == XPU_OK) status = xpu_check_options(p);
    if (status == XPU_OK && r->to_file && !p->output) p->output = default_output(p);
    if (status == XPU_OK) status = xpu_open_outputs(p);
    if (status == XPU_OK) status = xpu_pipeline_run(p);
    if (status == XPU_OK) deliver(p, r);
    r->result->dump = xpu_give_text(arena, p->dump);
    if (status != XPU_OK) return status;
    xpu_report_make(p);
    status = xpu_commit_outputs(p);
    if (p->wanted->explain) {
        const int as_json = strcmp(p->wanted->explain, "json") == 0;
        r->result->explanation =
            xpu_give_text(arena, p->wanted->sort ? xpu_explain_cost(p, as_json) : xpu_explain(p, as_json));
    }
    r->result->log = xpu_give_text(arena, xpu_pass_log(p));
    r->result->summary = xpu_give_text(arena, xpu_summary(p));
    return status;
}

static xpu_status describe(const request *r, xpu_arena *arena) {
    xpu_pipeline *p = new_pipeline(r, arena);
    xpu_doing(xpu_arena_mem(arena), "describing", r->path);
    if (xpu_check_describe_options(p) != XPU_OK) return xpu_diags_status(p->diags);
    char *text = xpu_describe(p);
    if (!text) return xpu_diags_status(p->diags);
    xpu_diags_drop_notes(p->diags); /* symbols and guards stand in the text */
    r->result->dump = xpu_give_text(arena, text);
    return XPU_OK;
}

static xpu_status convert(const request *r, xpu_arena *arena) {
    xpu_pipeline *p = new_pipeline(r, arena);
    xpu_doing(xpu_arena_mem(arena), "converting", r->path);
    if (!r->output) {
        return xpu_error(p->diags, XPU_EUSAGE, NULL, "argument", r->call, "the call cannot be made",
                         "the output is NULL", "xpuc.h says what it takes");
    }
    xpu_status status = xpu_convert(p);
    if (status == XPU_OK) r->result->summary = xpu_give_text(arena, p->text);
    return status;
}

/* The one setjmp: what runs out of memory below comes back here, with files, maps and children closed. */
static void attempt(const request *r, xpu_status (*work)(const request *, xpu_arena *), xpuc_error *error) {
    xpu_mem mem;
    xpu_mem_init(&mem);
    xpu_keep_what_is_read(&mem);
    mem.given = r->memory;
    if (r->options) {
        mem.stop = r->options->stop;
        mem.stop_context = r->options->stop_context;
    }
    if (setjmp(mem.out_of_memory)) {
        xpu_error_oom_of(r->diags, &mem);
        error->status = XPU_EIO;
    } else {
        error->status = (int)work(r, xpu_arena_new(&mem, "compilation"));
        if (!error->status) error->status = (int)xpu_diags_status(r->diags);
    }
    xpu_mem_release(&mem);
    *error = xpu_error_of(error->status, r->diags, r->options && r->options->group_messages);
    if (error->status) {
        char *dump = r->result->dump;
        r->result->dump = NULL;
        xpuc_result_clear(r->result);
        r->result->dump = dump;
    }
}

/* What is wrong with the call itself; NULL: nothing. */
static const char *problem_of(const request *r) {
    if (!r->path) return r->built ? "the network is NULL" : "the path is NULL";
    if (r->memory && !r->memory->bytes) return "the bytes are NULL";
    if (!r->result) return "the result is NULL";
    if (r->built && r->options && r->options->values) return "options.values is set; a network is built with constants";
    if (r->built && r->options && r->options->shapes) return "options.shapes is set; inputs of a network have shapes";
    return NULL;
}

/* A caller may leave out `error`, and nothing else. */
static int guarded(request *r, xpu_status (*work)(const request *, xpu_arena *), xpuc_error *error) {
    xpu_diags diags;
    xpuc_error own = {.status = 0};
    const char *problem = problem_of(r);
    xpu_diags_init(&diags);
    r->diags = &diags;
    if (r->result) *r->result = (xpuc_result){.bytes = NULL};
    if (problem) {
        xpu_error(&diags, XPU_EUSAGE, NULL, "argument", r->call, "the call cannot be made", problem,
                  r->built ? "xpuc_build.h says what it takes" : "xpuc.h says what it takes");
        own = xpu_error_of(XPU_EUSAGE, &diags, 0);
    } else if (r->built && r->built->diags->errors) {
        own = xpu_error_of((int)xpu_diags_status(r->built->diags), r->built->diags,
                           r->options && r->options->group_messages);
    } else {
        attempt(r, work, &own);
    }
    xpu_diags_clear(&diags);
    int status = own.status;
    if (error)
        *error = own;
    else
        xpuc_error_clear(&own);
    return status;
}

int xpu_compile_built(const char *call, const xpu_built *built, const char *output, int to_file,
                      const xpuc_options *options, xpuc_result *result, xpuc_error *error) {
    return guarded(&(request){.call = call,
                              .path = built->name,
                              .output = output,
                              .built = built,
                              .to_file = to_file,
                              .options = options,
                              .result = result},
                   compile, error);
}

int xpuc_compile_file(const char *path, const xpuc_options *options, xpuc_result *result, xpuc_error *error) {
    return guarded(&(request){"xpuc_compile_file", path, .options = options, .result = result}, compile, error);
}

int xpuc_compile_memory(const void *bytes, size_t size, const char *name, const xpuc_options *options,
                        xpuc_result *result, xpuc_error *error) {
    const xpu_given_file memory = {name, bytes, size};
    return guarded(&(request){"xpuc_compile_memory", name, .memory = &memory, .options = options, .result = result},
                   compile, error);
}

int xpuc_compile_to_file(const char *path, const char *output, const xpuc_options *options, xpuc_result *result,
                         xpuc_error *error) {
    return guarded(
        &(request){"xpuc_compile_to_file", path, .output = output, .to_file = 1, .options = options, .result = result},
        compile, error);
}

int xpuc_describe(const char *path, const xpuc_options *options, xpuc_result *result, xpuc_error *error) {
    return guarded(&(request){"xpuc_describe", path, .options = options, .result = result}, describe, error);
}

int xpuc_convert(const char *path, const char *output, const xpuc_options *options, xpuc_result *result,
                 xpuc_error *error) {
    return guarded(&(request){"xpuc_convert", path, .output = output, .options = options, .result = result}, convert,
                   error);
}
