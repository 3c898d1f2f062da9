/* States in device memory: two buffers each, which change places after every run. */
#include "xpu_runtime/program/placement.h"

enum { NONE = UINT32_MAX };

/* The buffer that a value fills from its start, or NONE. */
static uint32_t buffer_of(const xpu_program *p, xpu_value value) {
    for (uint32_t i = 0; i < p->values.count; i++) {
        if (p->values.items[i].value.id == value.id)
            return p->values.items[i].offset.id ? NONE : p->values.items[i].buffer;
    }
    return NONE;
}

static const char *buffer_problem(const xpu_program *p, uint32_t buffer, uint8_t *used) {
    if (buffer == NONE) return "a state has no place in device memory";
    const xpu_program_buffer *b = &p->buffers.items[buffer];
    uint32_t last = p->layers.count ? p->layers.count - 1 : 0;
    if (used[buffer]++) return "a buffer is of two states";
    if (b->kind != XPU_BUFFER_ACTIVATION || b->alias_of >= 0 || b->level_count != 1 || b->levels[0] != XPU_LEVEL_GM)
        return "a state is not in a buffer of its own in GM";
    return b->first_layer == 0 && b->last_layer >= last ? NULL : "a state does not live as long as the program runs";
}

const char *xpu_program_find_states(xpu_program *p, xpu_arena *arena) {
    const xpu_graph *graph = p->graph;
    const char *problem = NULL;
    if (!graph->states.count) return NULL;
    uint8_t *used = XPU_NEW_ARRAY(arena, uint8_t, p->buffers.count);
    for (uint32_t i = 0; i < graph->states.count && !problem; i++) {
        xpu_program_state state = {buffer_of(p, graph->inputs.items[graph->states.items[i].input]),
                                   buffer_of(p, graph->outputs.items[graph->states.items[i].output])};
        problem = buffer_problem(p, state.input, used);
        if (!problem) problem = buffer_problem(p, state.output, used);
        if (problem) break;
        if (!xpu_dim_equal(p->buffers.items[state.input].bytes, p->buffers.items[state.output].bytes))
            problem = "a state's buffers have different sizes";
        XPU_PUSH(arena, &p->states, state);
    }
    for (uint32_t i = 0; i < p->in_place.count && !problem; i++) {
        if (used[p->in_place.items[i].buffer] || used[p->in_place.items[i].other])
            problem = "a state shares its buffer";
    }
    for (uint32_t i = 0; i < p->buffers.count && !problem; i++) {
        int32_t of = p->buffers.items[i].alias_of;
        if (of >= 0 && (uint32_t)of < p->buffers.count && used[of]) problem = "a state shares its buffer";
    }
    return problem;
}

void xpu_placement_swap(const xpu_program *program, xpu_place *places) {
    for (uint32_t i = 0; i < program->states.count; i++) {
        const xpu_program_state *state = &program->states.items[i];
        xpu_place place = places[state->input];
        places[state->input] = places[state->output];
        places[state->output] = place;
    }
}
