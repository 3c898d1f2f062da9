/* Sessions: a program on a device that is made once and run many times. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "xpu_runtime/host/host.h"

static xpu_status choose_chip(xpurt_session *session, const char *json, xpu_diags *diags) {
    const xpurt_program *program = session->program;
    xpu_chip *chip = &session->chip;
    xpu_arena *arena = session->arena;
    *chip = program->chip;
    if (!json || !session->driver) return XPU_OK;
    xpu_status status = xpu_chip_parse(arena, json, strlen(json), "--chip", chip, diags);
    if (status != XPU_OK) return status;
    uint32_t wanted = program->image->program.abi_hash, here = xpu_chip_abi_hash(chip);
    if (wanted == here) return XPU_OK;
    return xpu_error(
        diags, XPU_EUSAGE, program->image->name, "chip-abi", NULL, "the program was compiled for another chip",
        xpu_printf(arena, "its ABI hash is 0x%08x (%s), that of chip %s is 0x%08x: %s", wanted, program->chip.name,
                   chip->name, here, xpu_chip_abi_difference(arena, &program->chip, chip)),
        xpu_printf(arena, "compile it with xpuc --chip=%s", chip->name));
}

/* What begin has started is ended by end, also after an error. */
static xpu_status begin(xpurt_session *session, xpurt_program *program, const xpurt_run_options *options,
                        xpu_diags *diags) {
    session->program = program;
    session->driver = options->device;
    session->idle = session;
    pthread_mutex_init(&session->lock, NULL);
    xpu_mem_init(&session->mem);
    if (setjmp(session->mem.out_of_memory)) return xpu_error_oom_of(diags, &session->mem);
    session->arena = xpu_arena_new(&session->mem, "session");
    session->states = XPU_NEW_ARRAY(session->arena, xpu_session_state, program->image->program.graph->states.count);
    return choose_chip(session, options->chip_json, diags);
}

static void end(xpurt_session *session) {
    if (session->device) session->driver->destroy(session->device);
    xpu_session_clear_states(session);
    xpu_mem_release(&session->mem);
    pthread_mutex_destroy(&session->lock);
}

/* ---- several threads ---- */

static int has_states(const xpurt_session *session) {
    return session->program->image->program.graph->states.count > 0;
}

static void free_session(xpurt_session *session) {
    end(session);
    free(session);
}

static xpurt_session *make(xpurt_program *program, const xpurt_run_options *options, xpu_diags *diags) {
    xpurt_session *session = xpu_alloc_fails() ? NULL : calloc(1, sizeof *session);
    if (!session) {
        xpu_error_oom(diags);
        return NULL;
    }
    if (begin(session, program, options, diags) == XPU_OK) return session;
    free_session(session);
    return NULL;
}

/* A session that this thread alone uses until it gives it back; NULL after reporting. One that has states is there
 * once: threads wait for each other. */
static xpurt_session *take(xpurt_session *session, xpu_diags *diags) {
    pthread_mutex_lock(&session->lock);
    if (has_states(session)) return session;
    xpurt_session *mine = session->idle;
    if (mine) session->idle = mine->next;
    pthread_mutex_unlock(&session->lock);
    if (mine) return mine;
    mine = make(session->program, &(xpurt_run_options){.device = session->driver}, diags);
    if (mine) mine->chip = session->chip;
    return mine;
}

static void give_back(xpurt_session *session, xpurt_session *mine) {
    if (!has_states(session)) {
        pthread_mutex_lock(&session->lock);
        mine->next = session->idle;
        session->idle = mine;
    }
    pthread_mutex_unlock(&session->lock);
}

/* ---- the interface ---- */

static const char *need_program(const xpurt_program *program, const xpurt_run_options *options) {
    if (!program) return "the program is NULL";
    if (options->device && options->device->version != XPURT_DEVICE_VERSION)
        return "the device's table has another version than XPURT_DEVICE_VERSION";
    return NULL;
}

static const char *need_run(const xpurt_program *program, const xpurt_tensor *inputs, uint32_t count,
                            const xpurt_tensor *outputs) {
    const char *problem = xpu_need_inputs(program, inputs, count);
    return problem || outputs || !xpurt_output_count(program) ? problem : "the outputs are NULL";
}

static const xpurt_run_options *or_defaults(const xpurt_run_options *options) {
    static const xpurt_run_options defaults;
    return options ? options : &defaults;
}

static void clear(const xpurt_program *program, xpurt_tensor *outputs, const xpurt_run_options *options) {
    if (options->stats) *options->stats = NULL;
    if (outputs) memset(outputs, 0, xpurt_output_count(program) * sizeof *outputs);
}

xpurt_session *xpurt_session_open(xpurt_program *program, const xpurt_run_options *options, xpurt_error *error) {
    xpu_diags diags;
    options = or_defaults(options);
    if (xpu_is_refused(error, "xpurt_session_open", need_program(program, options))) return NULL;
    xpu_diags_init(&diags);
    xpurt_session *session = make(program, options, &diags);
    xpu_report(error, &diags, xpu_diags_status(&diags));
    return session;
}

int xpurt_session_run(xpurt_session *session, const xpurt_tensor *inputs, uint32_t input_count, xpurt_tensor *outputs,
                      const xpurt_run_options *options, xpurt_error *error) {
    xpu_diags diags;
    options = or_defaults(options);
    clear(session ? session->program : NULL, outputs, options);
    const char *problem = session ? need_run(session->program, inputs, input_count, outputs) : "the session is NULL";
    if (xpu_is_refused(error, "xpurt_session_run", problem)) return XPU_EUSAGE;
    xpu_diags_init(&diags);
    xpurt_session *mine = take(session, &diags);
    xpu_status status =
        mine ? xpu_guarded_run(mine, inputs, input_count, outputs, options, &diags) : xpu_diags_status(&diags);
    if (mine) give_back(session, mine);
    return xpu_report(error, &diags, status);
}

void xpurt_session_reset(xpurt_session *session) {
    if (!session || !has_states(session)) return;
    pthread_mutex_lock(&session->lock);
    xpu_session_clear_states(session);
    pthread_mutex_unlock(&session->lock);
}

void xpurt_session_close(xpurt_session *session) {
    if (!session) return;
    for (xpurt_session *beside = session->idle, *next; beside; beside = next) {
        next = beside->next;
        if (beside != session) free_session(beside);
    }
    free_session(session);
}

int xpurt_run(xpurt_program *program, const xpurt_tensor *inputs, uint32_t input_count, xpurt_tensor *outputs,
              const xpurt_run_options *options, xpurt_error *error) {
    xpurt_session session = {0};
    xpu_diags diags;
    options = or_defaults(options);
    clear(program, outputs, options);
    const char *problem = need_run(program, inputs, input_count, outputs);
    if (!problem) problem = need_program(program, options);
    if (xpu_is_refused(error, "xpurt_run", problem)) return XPU_EUSAGE;
    xpu_diags_init(&diags);
    xpu_status status = begin(&session, program, options, &diags);
    if (status == XPU_OK) status = xpu_guarded_run(&session, inputs, input_count, outputs, options, &diags);
    end(&session);
    return xpu_report(error, &diags, status);
}
