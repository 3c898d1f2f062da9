/* The public functions of libxpurt: each is an API boundary with its own memory. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/temporary.h"
#include "xpu_runtime/host/host.h"

void xpurt_end_temporaries(void) {
    xpu_temporaries_end();
}

void xpurt_error_clear(xpurt_error *error) {
    if (!error) return;
    free(error->text);
    free(error->json);
    *error = (xpurt_error){.status = 0};
}

int xpu_report(xpurt_error *error, xpu_diags *diags, xpu_status status) {
    size_t length = 0;
    for (size_t i = 0; i < diags->count; i++) length += xpu_diag_text(diags, i, NULL, 0) + 1;
    if (error) {
        *error = (xpurt_error){(int)status, length ? malloc(length + 1) : NULL, xpu_diags_json(diags)};
        size_t at = 0;
        for (size_t i = 0; error->text && i < diags->count; i++) {
            at += xpu_diag_text(diags, i, error->text + at, length + 1 - at);
            error->text[at++] = '\n';
            error->text[at] = '\0';
        }
    }
    xpu_diags_clear(diags);
    return (int)status;
}

xpu_status xpu_bad_argument(xpu_diags *diags, const char *call, const char *problem, const char *header) {
    char hint[64];
    snprintf(hint, sizeof hint, "%s says what it takes", header);
    return xpu_error(diags, XPU_EUSAGE, NULL, "argument", call, "the call cannot be made", problem, hint);
}

int xpu_is_refused(xpurt_error *error, const char *call, const char *problem) {
    xpu_diags diags;
    if (!problem) return 0;
    xpu_diags_init(&diags);
    xpu_report(error, &diags, xpu_bad_argument(&diags, call, problem, "xpurt.h"));
    return 1;
}

static const char *need_program(const xpurt_program *program) {
    return program ? NULL : "the program is NULL";
}

/* ---- opening ---- */

static xpu_status read_program(xpurt_program *p, const char *path, const void *bytes, size_t size, xpu_diags *diags) {
    p->arena = xpu_arena_new(&p->mem, "program");
    xpu_doing(&p->mem, "reading", path);
    p->image = bytes ? xpu_program_parse(p->arena, bytes, size, path, diags) : xpu_program_read(p->arena, path, diags);
    if (!p->image) return xpu_diags_status(diags);
    const xpu_program *program = &p->image->program;
    if (xpu_chip_parse(p->arena, program->chip_json, strlen(program->chip_json), path, &p->chip, diags) != XPU_OK) {
        return XPU_EIO;
    }
    uint32_t here = xpu_chip_abi_hash(&p->chip);
    if (here == program->abi_hash) return XPU_OK;
    return xpu_error(diags, XPU_EUSAGE, path, "chip-abi", NULL, "the program was compiled for another chip",
                     xpu_printf(p->arena, "its ABI hash is 0x%08x, that of its chip '%s' is 0x%08x here",
                                program->abi_hash, xpu_escape(p->arena, p->chip.name, 60), here),
                     "compile it again with this version of xpuc");
}

static xpurt_program *open_program(const char *path, const void *bytes, size_t size, xpurt_error *error) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpurt_program *p = calloc(1, sizeof *p);
    if (!p) {
        xpu_report(error, &diags, xpu_error_oom(&diags));
        return NULL;
    }
    xpu_mem_init(&p->mem);
    pthread_mutex_init(&p->lock, NULL);
    xpu_keep_what_is_read(&p->mem);
    xpu_status status;
    if (setjmp(p->mem.out_of_memory))
        status = xpu_error_oom_of(&diags, &p->mem);
    else
        status = read_program(p, path, bytes, size, &diags);
    xpu_report(error, &diags, status);
    if (status == XPU_OK) return p;
    xpurt_close(p);
    return NULL;
}

xpurt_program *xpurt_open(const char *path, xpurt_error *error) {
    if (xpu_is_refused(error, "xpurt_open", path ? NULL : "the path is NULL")) return NULL;
    return open_program(path, NULL, 0, error);
}

xpurt_program *xpurt_open_memory(const void *bytes, size_t size, const char *name, xpurt_error *error) {
    const char *problem = bytes || !size ? NULL : "the bytes are NULL";
    if (xpu_is_refused(error, "xpurt_open_memory", problem)) return NULL;
    return open_program(name ? name : "program", bytes ? bytes : "", size, error);
}

void xpurt_close(xpurt_program *program) {
    if (!program) return;
    xpu_mem_release(&program->mem);
    pthread_mutex_destroy(&program->lock);
    for (int i = 0; i < XPU_CACHED_SHAPES; i++) free(program->cache[i].places);
    free(program->description);
    free(program);
}

/* ---- queries ---- */

static void value_info(const xpurt_program *program, xpu_value value, xpurt_tensor *info) {
    const xpu_graph *graph = program->image->program.graph;
    const xpu_value_info *from = xpu_value_at(graph, value);
    *info = (xpurt_tensor){.name = from->name, .dtype = xpu_dtype_name(from->dtype), .rank = from->rank};
    for (int i = 0; i < from->rank; i++) {
        if (!xpu_dim_is_const(&graph->dims, from->dims[i], &info->dims[i])) info->dims[i] = -1;
    }
}

uint32_t xpurt_input_count(const xpurt_program *program) {
    return program ? program->image->program.graph->inputs.count : 0;
}

uint32_t xpurt_output_count(const xpurt_program *program) {
    return program ? program->image->program.graph->outputs.count : 0;
}

static int query(const xpurt_program *program, const xpu_value *values, uint32_t count, uint32_t index,
                 xpurt_tensor *info) {
    if (info) *info = (xpurt_tensor){.name = NULL};
    if (!info || index >= count) return XPU_EUSAGE;
    value_info(program, values[index], info);
    return XPU_OK;
}

int xpurt_input(const xpurt_program *program, uint32_t index, xpurt_tensor *info) {
    const xpu_value *values = program ? program->image->program.graph->inputs.items : NULL;
    return query(program, values, xpurt_input_count(program), index, info);
}

int xpurt_output(const xpurt_program *program, uint32_t index, xpurt_tensor *info) {
    const xpu_value *values = program ? program->image->program.graph->outputs.items : NULL;
    return query(program, values, xpurt_output_count(program), index, info);
}

int64_t xpurt_state_of_input(const xpurt_program *program, uint32_t index) {
    const xpu_graph_state *state =
        index < xpurt_input_count(program) ? xpu_graph_state_of_input(program->image->program.graph, index) : NULL;
    return state ? (int64_t)state->output : -1;
}

const char *xpurt_chip_json(const xpurt_program *program) {
    return program ? program->image->program.chip_json : NULL;
}

static xpu_status describe(xpurt_program *program, xpu_diags *diags) {
    xpu_mem mem;
    xpu_mem_init(&mem);
    xpu_status status;
    if (setjmp(mem.out_of_memory))
        status = xpu_error_oom_of(diags, &mem);
    else
        status = xpu_describe_program(program, xpu_arena_new(&mem, "describe"), diags);
    xpu_mem_release(&mem);
    return status;
}

const char *xpurt_describe(xpurt_program *program, xpurt_error *error) {
    xpu_diags diags;
    if (xpu_is_refused(error, "xpurt_describe", need_program(program))) return NULL;
    xpu_diags_init(&diags);
    pthread_mutex_lock(&program->lock);
    xpu_status status = program->description ? XPU_OK : describe(program, &diags);
    const char *text = program->description;
    pthread_mutex_unlock(&program->lock);
    return xpu_report(error, &diags, status) == 0 ? text : NULL;
}

const char *xpurt_version(void) {
    return XPU_VERSION;
}

/* ---- running ---- */

void xpurt_tensor_clear(xpurt_tensor *tensor) {
    if (!tensor) return;
    free(tensor->data);
    *tensor = (xpurt_tensor){0};
}

/* Copies a result to malloc'd memory of the caller's. */
static xpu_status give_output(const xpu_run *run, uint32_t index, xpurt_tensor *to) {
    const xpu_tensor *from = &run->outputs[index];
    value_info(run->owner, run->graph->outputs.items[index], to);
    if (!from->data || (run->options->leave_states && xpu_graph_state_of_output(run->graph, index))) return XPU_OK;
    size_t bytes = xpu_tensor_bytes(from);
    for (int i = 0; i < from->rank; i++) to->dims[i] = from->dims[i];
    to->data = xpu_alloc_fails() ? NULL : malloc(bytes ? bytes : 1);
    if (!to->data) return xpu_error_oom(run->diags);
    memcpy(to->data, from->data, bytes);
    return XPU_OK;
}

/* Host regions are nodes of the graph. */
static xpu_status check_host_layers(const xpu_run *run) {
    for (uint32_t i = 0; run->program->stripped && i < run->program->layers.count; i++) {
        const xpu_program_layer *l = &run->program->layers.items[i];
        if (l->unit != XPU_UNIT_HOST) continue;
        return xpu_error(run->diags, XPU_EUSAGE, run->owner->image->name, "ref-stripped",
                         xpu_printf(run->arena, "layer '%s' (#%u)", xpu_escape(run->arena, l->name, 80), i),
                         "the layer cannot run on the host",
                         "the program was compiled with --strip, which leaves the graph out",
                         "compile it without --strip");
    }
    return XPU_OK;
}

/* What is read stays as it is: the program's file, the dump, and what the caller names. */
static void keep_files(const xpu_run *run) {
    const char *dump = run->options->from_dump;
    xpu_keep_all(run->arena, &run->owner->mem);
    for (const char *const *path = run->options->keep; path && *path; path++) xpu_keep(run->arena, *path);
    if (!dump) return;
    xpu_keep(run->arena, dump);
    xpu_keep_files(run->arena, dump, "*.npy");
    xpu_keep_files(run->arena, dump, "index.json");
}

/* Before work begins; path NULL: not wanted. */
static xpu_status check_output(const xpu_run *run, const char *option, const char *path) {
    const char *kept = path ? xpu_kept_path(xpu_arena_mem(run->arena), path) : NULL;
    if (kept) return xpu_kept_error(run->arena, run->diags, option, path, kept);
    return path ? xpu_output_check(run->arena, path, run->diags) : XPU_OK;
}

static xpu_status run_once(xpurt_session *session, const xpurt_tensor *inputs, uint32_t input_count,
                           xpurt_tensor *outputs, const xpurt_run_options *options, xpu_arena *arena,
                           xpu_diags *diags) {
    xpurt_program *program = session->program;
    xpu_doing(xpu_arena_mem(arena), "running", program->image->name);
    const xpu_graph *graph = program->image->program.graph;
    xpu_run *run = XPU_NEW(arena, xpu_run); /* the arena's clean-up list refers to it */
    *run = (xpu_run){.owner = program,
                     .session = session,
                     .program = &program->image->program,
                     .graph = graph,
                     .options = options,
                     .arena = arena,
                     .diags = diags,
                     .driver = session->driver,
                     .only_layer = UINT32_MAX};
    run->outputs = XPU_NEW_ARRAY(arena, xpu_tensor, graph->outputs.count);
    run->layers = XPU_NEW_ARRAY(arena, xpu_layer_record, run->program->layers.count);
    xpu_status status = XPU_OK;
    if (options->trace_file && !(run->driver && run->driver->observe)) {
        return xpu_error(diags, XPU_EUSAGE, NULL, "trace-device", NULL, "this device gives no trace",
                         "only a device that has time can tell when something happened", "run on rtl");
    }
    keep_files(run);
    status = check_output(run, "option '--stats'", options->stats_file);
    if (status == XPU_OK) status = check_output(run, "option '--trace'", options->trace_file);
    if (status == XPU_OK) status = xpu_executions_begin(run);
    if (status != XPU_OK) return status;
    if (options->layer) {
        status = xpu_replay_prepare(run);
    } else {
        run->inputs = XPU_NEW_ARRAY(arena, xpu_tensor, graph->inputs.count);
        status = xpu_run_bind(run, inputs, input_count);
    }
    if (status == XPU_OK && xpu_replay_is_absent(run)) return XPU_OK;
    if (status == XPU_OK) status = xpu_run_check_sizes(run);
    if (status == XPU_OK) status = check_host_layers(run);
    if (status == XPU_OK) status = xpu_dump_open(run);
    double start = xpu_seconds();
    if (status == XPU_OK) status = run->driver ? xpu_run_on_device(run) : xpu_run_on_ref(run);
    if (status == XPU_ESTOPPED && !diags->errors) xpu_run_stopped(run);
    run->seconds = xpu_seconds() - start;
    xpu_run_set_incomplete(run, status);
    if (status == XPU_OK || run->incomplete) { /* after a fault the layers before it are worth a look */
        xpu_status closed = xpu_dump_close(run);
        if (status == XPU_OK) status = closed;
        xpu_status counted = xpu_run_stats(run);
        if (status == XPU_OK) status = counted;
    }
    for (uint32_t i = 0; status == XPU_OK && i < graph->outputs.count; i++) status = give_output(run, i, &outputs[i]);
    if (status == XPU_OK && !options->layer) xpu_run_prepare_states(run);
    return status;
}

/* The shape of an output that has no elements. */
static xpu_status give_empty(const xpu_run *run, uint32_t index, xpurt_tensor *to) {
    const xpu_tensor shape = xpu_run_shape(run, run->graph->outputs.items[index]);
    int is_open = 0;
    for (uint32_t i = 0; i < run->graph->dims.symbols.count; i++) is_open |= xpu_symbol_is_dynamic(run->graph, i);
    value_info(run->owner, run->graph->outputs.items[index], to);
    for (int i = 0; i < shape.rank; i++) to->dims[i] = shape.dims[i];
    if (!is_open && xpu_tensor_count(&shape) == 0) return XPU_OK;
    return xpu_error(run->diags, XPU_EUSAGE, run->owner->image->name, "shape-range",
                     xpu_printf(run->arena, "output '%s'", xpu_escape(run->arena, to->name, 80)),
                     "it is not empty, or its size is not known", "an input has no elements", "run with some elements");
}

/* outputs: NULL, or their shapes, which have no elements. */
static xpu_status check_inputs(xpurt_program *program, const xpurt_tensor *inputs, uint32_t count,
                               xpurt_tensor *outputs, xpu_arena *arena, xpu_diags *diags) {
    const xpu_graph *graph = program->image->program.graph;
    xpu_run *run = XPU_NEW(arena, xpu_run);
    *run = (xpu_run){.owner = program,
                     .program = &program->image->program,
                     .graph = graph,
                     .arena = arena,
                     .diags = diags,
                     .only_check = 1,
                     .may_be_empty = outputs != NULL};
    run->inputs = XPU_NEW_ARRAY(arena, xpu_tensor, graph->inputs.count);
    xpu_status status = xpu_run_bind(run, inputs, count);
    if (status == XPU_OK) status = xpu_run_check_sizes(run);
    for (uint32_t i = 0; outputs && status == XPU_OK && i < graph->outputs.count; i++)
        status = give_empty(run, i, &outputs[i]);
    return status;
}

const char *xpu_need_inputs(const xpurt_program *program, const xpurt_tensor *inputs, uint32_t count) {
    return !program           ? need_program(program)
           : inputs || !count ? NULL
                              : "the inputs are NULL, and their number is not 0";
}

static int guarded_check(const char *function, xpurt_program *program, const xpurt_tensor *inputs, uint32_t count,
                         xpurt_tensor *outputs, xpurt_error *error) {
    xpu_mem mem;
    xpu_diags diags;
    if (xpu_is_refused(error, function, xpu_need_inputs(program, inputs, count))) return XPU_EUSAGE;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    xpu_status status;
    if (setjmp(mem.out_of_memory))
        status = xpu_error_oom_of(&diags, &mem);
    else
        status = check_inputs(program, inputs, count, outputs, xpu_arena_new(&mem, "inputs"), &diags);
    xpu_mem_release(&mem);
    return xpu_report(error, &diags, status);
}

int xpurt_check_inputs(xpurt_program *program, const xpurt_tensor *inputs, uint32_t input_count, xpurt_error *error) {
    return guarded_check("xpurt_check_inputs", program, inputs, input_count, NULL, error);
}

int xpurt_empty_outputs(xpurt_program *program, const xpurt_tensor *inputs, uint32_t input_count, xpurt_tensor *outputs,
                        xpurt_error *error) {
    if (xpu_is_refused(error, "xpurt_empty_outputs", outputs ? NULL : "the outputs are NULL")) return XPU_EUSAGE;
    return guarded_check("xpurt_empty_outputs", program, inputs, input_count, outputs, error);
}

xpu_status xpu_guarded_run(xpurt_session *session, const xpurt_tensor *inputs, uint32_t input_count,
                           xpurt_tensor *outputs, const xpurt_run_options *options, xpu_diags *diags) {
    xpu_mem mem;
    xpu_status status;
    xpu_mem_init(&mem);
    xpu_keep_what_is_read(&mem);
    mem.stop = options->stop;
    mem.stop_context = options->context;
    if (setjmp(mem.out_of_memory))
        status = xpu_error_oom_of(diags, &mem);
    else
        status = run_once(session, inputs, input_count, outputs, options, xpu_arena_new(&mem, "run"), diags);
    xpu_mem_release(&mem);
    if (status == XPU_OK && !options->layer)
        xpu_session_keep(session);
    else
        xpu_session_restore(session);
    uint32_t count = xpurt_output_count(session->program);
    for (uint32_t i = 0; status != XPU_OK && i < count; i++) xpurt_tensor_clear(&outputs[i]);
    return status;
}
