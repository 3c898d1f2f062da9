/*
 * States of a session. On a device they lie in their buffers of GM, two for each, which change places when a run has
 * ended well; on ref in two pieces of memory. So a run that ends early leaves them as they were: all it may have
 * written over is what the caller gave, and that was saved.
 */
#include <stdlib.h>
#include <string.h>

#include "xpu_runtime/host/host.h"

static int has_states(const xpu_run *run) {
    return run->session && run->session->has_states;
}

static uint32_t state_count(const xpurt_session *session) {
    return session->program->image->program.graph->states.count;
}

static const char *where(const xpu_run *run, uint32_t index) {
    const char *name = xpu_value_at(run->graph, run->graph->inputs.items[index])->name;
    return xpu_printf(run->arena, "state '%s'", xpu_escape(run->arena, name, 80));
}

static xpu_status read_device(xpu_run *run, const xpu_session_state *state, xpu_tensor *tensor) {
    size_t bytes = xpu_tensor_bytes(tensor);
    const xpurt_session *session = run->session;
    xpu_value value = run->graph->inputs.items[run->graph->states.items[state - session->states].input];
    void *physical = xpu_alloc(run->arena, bytes);
    tensor->data = xpu_alloc(run->arena, bytes);
    if (session->driver->read(session->device, state->address, physical, bytes))
        return xpu_error(run->diags, XPU_EFAULT, run->owner->image->name, "device-memory", NULL,
                         "a state cannot be read", "the program asks for something that its chip does not have",
                         "compile the model again with xpuc");
    xpu_layout_to_logical(xpu_value_at(run->graph, value)->layout, physical, tensor);
    return XPU_OK;
}

/* The data of a state that the caller does not give. */
static xpu_status fetch(xpu_run *run, xpu_session_state *state, xpu_tensor *tensor) {
    if (has_states(run) && run->session->driver) return read_device(run, state, tensor);
    tensor->data = has_states(run) ? state->value : XPU_NEW_ARRAY(run->arena, uint8_t, xpu_tensor_bytes(tensor));
    return XPU_OK;
}

static int is_small(const xpu_tensor *tensor) {
    if (tensor->dtype != XPU_I32 && tensor->dtype != XPU_I64) return 0;
    for (int i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] < 0 || tensor->dims[i] > XPU_PROGRAM_MAX_ELEMENTS) return 0;
    }
    return xpu_tensor_count(tensor) <= XPU_PROGRAM_MAX_ELEMENTS;
}

xpu_status xpu_run_take_states(xpu_run *run) {
    const xpu_graph *g = run->graph;
    run->is_kept = XPU_NEW_ARRAY(run->arena, uint8_t, g->inputs.count);
    for (uint32_t i = 0; i < g->states.count; i++) {
        xpu_tensor *tensor = &run->inputs[g->states.items[i].input];
        if (tensor->dtype != XPU_DTYPE_NONE) continue;
        const xpu_value_info *info = xpu_value_at(g, g->inputs.items[g->states.items[i].input]);
        run->is_kept[g->states.items[i].input] = 1;
        *tensor = (xpu_tensor){.dtype = info->dtype, .rank = info->rank};
        for (int d = 0; d < info->rank; d++) {
            if (has_states(run)) {
                tensor->dims[d] = run->session->states[i].dims[d];
            } else if (!xpu_dim_is_const(&g->dims, info->dims[d], &tensor->dims[d])) {
                tensor->dims[d] = XPU_DIM_UNKNOWN;
            }
        }
        if (!is_small(tensor) || run->only_check) continue; /* symbols may be its elements */
        xpu_status status = fetch(run, &run->session->states[i], tensor);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

/* What the session has, against what the run wants or is given. */
static xpu_status check_shape(const xpu_run *run, const xpu_session_state *state, uint32_t index,
                              const xpu_tensor *wanted) {
    char shape[192], kept[192];
    if (memcmp(state->dims, wanted->dims, (size_t)wanted->rank * sizeof *wanted->dims) == 0) return XPU_OK;
    return xpu_error(run->diags, XPU_EUSAGE, run->owner->image->name, "state-shape", where(run, index),
                     "the session's state has another shape",
                     xpu_printf(run->arena, "it is %s since the first run, this one needs %s",
                                xpu_dims_text(wanted->rank, state->dims, kept, sizeof kept),
                                xpu_dims_text(wanted->rank, wanted->dims, shape, sizeof shape)),
                     "reset the session first (xpurt_session_reset), or open another one");
}

xpu_status xpu_run_check_states(xpu_run *run) {
    const xpu_graph *g = run->graph;
    for (uint32_t i = 0; has_states(run) && i < g->states.count; i++) {
        uint32_t index = g->states.items[i].input;
        xpu_tensor wanted = xpu_run_shape(run, g->inputs.items[index]);
        xpu_status status = check_shape(run, &run->session->states[i], index, &wanted);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

xpu_status xpu_run_fetch_states(xpu_run *run) {
    const xpu_graph *g = run->graph;
    for (uint32_t i = 0; i < g->states.count && !run->only_check; i++) {
        xpu_tensor *tensor = &run->inputs[g->states.items[i].input];
        if (!run->is_kept[g->states.items[i].input] || tensor->data) continue;
        int stays = has_states(run) && run->driver && !run->options->dump_folder; /* in the device's memory */
        xpu_status status = stays ? XPU_OK : fetch(run, &run->session->states[i], tensor);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

int xpu_run_state_stays(const xpu_run *run, uint32_t input) {
    return run->is_kept[input] && run->session->has_states;
}

static void *allocate(xpu_run *run, size_t bytes) {
    void *memory = xpu_alloc_fails() ? NULL : malloc(bytes ? bytes : 1);
    if (!memory) xpu_out_of_memory(xpu_arena_mem(run->arena));
    return memory;
}

xpu_status xpu_run_save_state(xpu_run *run, uint32_t input) {
    const xpu_graph_state *tied = xpu_graph_state_of_input(run->graph, input);
    if (!tied || !has_states(run)) return XPU_OK;
    xpu_session_state *state = &run->session->states[tied - run->graph->states.items];
    size_t bytes = xpu_tensor_bytes(&run->inputs[input]);
    state->other = allocate(run, bytes);
    if (run->driver->read(run->device, state->address, state->other, bytes))
        return xpu_error(run->diags, XPU_EFAULT, run->owner->image->name, "device-memory", where(run, input),
                         "a state cannot be saved", "the program asks for something that its chip does not have",
                         "compile the model again with xpuc");
    state->saved_bytes = bytes;
    return XPU_OK;
}

void xpu_run_prepare_states(xpu_run *run) {
    const xpu_graph *g = run->graph;
    for (uint32_t i = 0; i < g->states.count; i++) {
        xpu_session_state *state = &run->session->states[i];
        uint32_t output = g->states.items[i].output;
        xpu_tensor shape = xpu_run_shape(run, g->outputs.items[output]);
        memcpy(state->next_dims, shape.dims, sizeof state->next_dims);
        if (run->driver) {
            state->next_address = run->places[run->program->states.items[i].output].address;
        } else {
            state->other = allocate(run, xpu_tensor_bytes(&shape));
            memcpy(state->other, run->outputs[output].data, xpu_tensor_bytes(&shape));
        }
    }
}

void xpu_session_keep(xpurt_session *session) {
    for (uint32_t i = 0; i < state_count(session); i++) {
        xpu_session_state *state = &session->states[i];
        memcpy(state->dims, state->next_dims, sizeof state->dims);
        state->address = state->next_address;
        void *old = state->value;
        if (!session->driver) state->value = state->other;
        free(session->driver ? state->other : old);
        state->other = NULL;
        state->saved_bytes = 0;
    }
    session->is_swapped = !session->is_swapped;
    session->has_states = 1;
}

void xpu_session_restore(xpurt_session *session) {
    for (uint32_t i = 0; i < state_count(session); i++) {
        xpu_session_state *state = &session->states[i];
        if (state->saved_bytes)
            session->driver->write(session->device, state->address, state->other, state->saved_bytes);
        free(state->other);
        state->other = NULL;
        state->saved_bytes = 0;
    }
}

void xpu_session_clear_states(xpurt_session *session) {
    for (uint32_t i = 0; session->states && i < state_count(session); i++) {
        free(session->states[i].value);
        free(session->states[i].other);
        session->states[i] = (xpu_session_state){.value = NULL};
    }
    session->has_states = session->is_swapped = 0;
}
