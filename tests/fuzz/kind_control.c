/*
 * Control flow: models of tests/control and tests/loops (branches, loops, shapes that are computed), damaged; programs
 * made of them; and programs whose metadata get steps and symbols that the device sets or that data bind.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/hostile.h"
#include "xpu_runtime/program/file.h"
#include "xpu_runtime/program/program.h"
#include "xpu_runtime/program/program.pb-c.h"

/* ---- models ---- */

static glob_t paths;
static hostile_file *models;
static uint32_t model_count;

static void load_models(void) {
    if (model_count) return;
    if (glob("tests/control/*.onnx", 0, NULL, &paths) != 0) abort();
    if (glob("tests/loops/*.onnx", GLOB_APPEND, NULL, &paths) != 0) abort();
    models = calloc(paths.gl_pathc, sizeof *models);
    if (!models) abort();
    for (size_t i = 0; i < paths.gl_pathc; i++) hostile_load(&models[i], paths.gl_pathv[i]);
    model_count = (uint32_t)paths.gl_pathc;
}

static void make_control(hostile_random *random, hostile_file *file) {
    const hostile_file *seed = &models[hostile_below(random, model_count)];
    hostile_set(file, seed->data, seed->size);
    if (hostile_chance(random, 95))
        hostile_damage_wire(random, file);
    else
        hostile_damage(random, file);
}

static void feed_control(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_model.feed(random, file, result);
}

const hostile_kind hostile_control = {"control", ".onnx", load_models, make_control, feed_control};

/* ---- programs ---- */

enum { MAX_STEPS = 24, MAX_DEEP = 400, MAX_STATES = 4, PROGRAMS = 10 };
static hostile_file programs[PROGRAMS];

typedef struct {
    XpuMeta__Step steps[MAX_DEEP];
    uint32_t count;
    uint32_t layer, words, symbols; /* the layer that comes next; of the program */
} tree;

/* Steps up to layer `last` and behind it: some of a branch's or loop's, `depth` deep. */
static void grow(hostile_random *random, tree *t, uint32_t last, uint32_t depth) {
    while (t->count < MAX_STEPS && (t->layer < last || hostile_chance(random, 20))) {
        uint32_t index = t->count++, kind = depth < 4 ? hostile_below(random, XPU_DO_COUNT) : XPU_DO_RUN;
        if (kind == XPU_DO_SET && !t->symbols) kind = XPU_DO_IF;
        if (t->layer >= last && kind == XPU_DO_RUN) kind = XPU_DO_IF; /* of no layers */
        XpuMeta__Step *s = &t->steps[index];
        *s = (XpuMeta__Step)XPU_META__STEP__INIT;
        s->kind = hostile_chance(random, 1) ? (uint32_t)hostile_number(random) : kind;
        s->has_word = s->has_symbol = s->has_first = s->has_last = s->has_middle = s->has_end = 1;
        s->word = hostile_below(random, t->words - xpu_step_words(kind));
        s->symbol = hostile_below(random, t->symbols);
        if (kind == XPU_DO_RUN) {
            s->first = t->layer;
            t->layer += 1 + hostile_below(random, last - t->layer);
            s->last = t->layer - 1;
        } else if (kind != XPU_DO_SET) {
            grow(random, t, t->layer + (last - t->layer + 1) / 2, depth + 1);
            s->middle = t->count;
            if (kind == XPU_DO_IF) grow(random, t, t->layer + (last - t->layer) / 2, depth + 1);
            s->end = t->count;
        }
        if (hostile_chance(random, 2)) s->word = (uint32_t)hostile_number(random);
        if (hostile_chance(random, 2)) s->end = hostile_below(random, MAX_STEPS);
        if (hostile_chance(random, 2)) s->middle = hostile_below(random, MAX_STEPS);
    }
}

/* Branches or loops in each other, and all layers in the innermost. */
static void nest(hostile_random *random, tree *t, uint32_t layers) {
    uint32_t depth = 1 + hostile_below(random, MAX_DEEP - 1);
    for (uint32_t i = 0; i <= depth; i++) {
        XpuMeta__Step *s = &t->steps[t->count++];
        *s = (XpuMeta__Step)XPU_META__STEP__INIT;
        s->kind = i == depth ? XPU_DO_RUN : hostile_chance(random, 50) ? XPU_DO_IF : XPU_DO_LOOP;
        s->has_word = s->has_last = s->has_middle = s->has_end = 1;
        s->last = i == depth ? layers - 1 : 0;
        s->middle = s->end = depth + 1;
    }
}

static void add_steps(hostile_random *random, XpuMeta__Program *program, tree *t, XpuMeta__Step **list) {
    *t = (tree){.words = (uint32_t)program->n_plan, .symbols = (uint32_t)program->n_symbols};
    if (hostile_chance(random, 5))
        nest(random, t, (uint32_t)program->n_layers);
    else
        grow(random, t, (uint32_t)program->n_layers, 0);
    for (uint32_t i = 0; i < t->count; i++) list[i] = &t->steps[i];
    program->n_steps = t->count;
    program->steps = list;
}

/* Symbols that are elements of a value: of an input, a constant, a result, one that is not there. */
static void define_symbols(hostile_random *random, XpuMeta__Program *program) {
    for (size_t i = 0; i < program->n_symbols; i++) {
        XpuMeta__Symbol *symbol = program->symbols[i];
        if (hostile_chance(random, 30)) continue;
        symbol->has_value = symbol->has_element = 1;
        symbol->value = hostile_below(random, (uint32_t)program->n_values + 3);
        symbol->element = hostile_chance(random, 80) ? hostile_below(random, 4) : (uint32_t)hostile_number(random);
        if (hostile_chance(random, 60)) continue;
        symbol->has_bound = 1;
        symbol->bound = hostile_below(random, (uint32_t)program->n_dims + 3);
    }
    if (hostile_chance(random, 20))
        program->values[hostile_below(random, (uint32_t)program->n_values)]->dtype = hostile_below(random, 16);
}

/* Outputs that are inputs of the next run, or nothing of the kind. */
static void add_states(hostile_random *random, XpuMeta__Program *program, XpuMeta__State *states,
                       XpuMeta__State **list) {
    program->n_states = 1 + hostile_below(random, MAX_STATES);
    program->states = list;
    for (size_t i = 0; i < program->n_states; i++) {
        list[i] = &states[i];
        states[i] = (XpuMeta__State)XPU_META__STATE__INIT;
        states[i].input = hostile_below(random, (uint32_t)program->n_inputs + hostile_chance(random, 10));
        states[i].output = hostile_below(random, (uint32_t)program->n_outputs + hostile_chance(random, 10));
    }
}

/* Bodies with other owners, arguments and results, and nodes in other bodies. */
static void move_bodies(hostile_random *random, hostile_file *file) {
    hostile_file bytes = {NULL, 0, 0};
    if (!hostile_section(file, ".xpu.graph", &bytes)) return;
    XpuMeta__Graph *graph = xpu_meta__graph__unpack(NULL, bytes.size, bytes.data);
    if (!graph) abort();
    for (uint32_t i = 1 + hostile_below(random, 2); i > 0 && graph->n_nodes; i--) {
        XpuMeta__Node *node = graph->nodes[hostile_below(random, (uint32_t)graph->n_nodes)];
        XpuMeta__Block *block =
            graph->n_blocks ? graph->blocks[hostile_below(random, (uint32_t)graph->n_blocks)] : NULL;
        switch (hostile_below(random, block ? 4 : 1)) {
        case 0: node->has_block = 1, node->block = hostile_below(random, (uint32_t)graph->n_blocks + 2); break;
        case 1: block->owner = hostile_below(random, (uint32_t)graph->n_nodes + 2); break;
        case 2:
            if (block->n_arguments) block->arguments[hostile_below(random, (uint32_t)block->n_arguments)]++;
            break;
        default:
            if (block->n_results) block->n_results -= hostile_below(random, 2);
        }
    }
    uint8_t *packed = malloc(xpu_meta__graph__get_packed_size(graph));
    if (!packed) abort();
    hostile_set(&bytes, packed, xpu_meta__graph__pack(graph, packed));
    free(packed);
    xpu_meta__graph__free_unpacked(graph, NULL);
    hostile_set_section(file, ".xpu.graph", &bytes);
    hostile_clear(&bytes);
}

static void make_steps(hostile_random *random, hostile_file *file) {
    hostile_file metadata = {NULL, 0, 0};
    if (hostile_chance(random, 50)) {
        const hostile_file *seed = &programs[hostile_below(random, PROGRAMS)];
        hostile_set(file, seed->data, seed->size);
        if (hostile_chance(random, 20))
            move_bodies(random, file);
        else
            hostile_program_damage(random, file);
        return;
    }
    hostile_program_seed(random, file);
    if (!hostile_section(file, ".xpu.program", &metadata)) abort();
    XpuMeta__Program *program = xpu_meta__program__unpack(NULL, metadata.size, metadata.data), all;
    if (!program) abort();
    all = *program;
    tree t;
    XpuMeta__Step *list[MAX_DEEP];
    XpuMeta__State states[MAX_STATES], *state_list[MAX_STATES];
    if (hostile_chance(random, 25)) add_states(random, program, states, state_list);
    if (hostile_chance(random, 70)) add_steps(random, program, &t, list);
    if (hostile_chance(random, 50)) define_symbols(random, program);
    uint8_t *bytes = malloc(xpu_meta__program__get_packed_size(program));
    if (!bytes) abort();
    hostile_set(&metadata, bytes, xpu_meta__program__pack(program, bytes));
    free(bytes);
    program->n_steps = all.n_steps;
    program->steps = all.steps;
    program->n_states = all.n_states;
    program->states = all.states;
    xpu_meta__program__free_unpacked(program, NULL);
    if (hostile_chance(random, 40)) hostile_damage_wire(random, &metadata);
    hostile_set_section(file, ".xpu.program", &metadata);
    hostile_clear(&metadata);
}

static void load_programs(void) {
    hostile_program.prepare();
    load_models();
    for (uint32_t i = 0, at = 0; i < PROGRAMS; at++) {
        if (at == model_count) abort(); /* hardly any is compiled */
        const char *path = paths.gl_pathv[at * 7 % model_count];
        i += (uint32_t)hostile_try_compile(&programs[i], path, "nano", "fp32", NULL);
    }
}

void hostile_steps_seeds(hostile_take take, void *context) {
    for (uint32_t i = 0; i < PROGRAMS; i++) take(context, &programs[i]);
}

static void feed_steps(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_program.feed(random, file, result);
}

const hostile_kind hostile_steps = {"steps", ".xpu", load_programs, make_steps, feed_steps};
