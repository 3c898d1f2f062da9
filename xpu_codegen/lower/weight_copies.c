/*
 * Copies of weights in L3. Weights lie in the program's image in GM; where placement rules want one in L3, a buffer
 * there takes its bytes at the start of every run. Which weights get a copy is the planner's choice: it is asked before
 * layers have numbers, with every weight free to lie in GM or L3. Who has a copy may lie only there in the final plan.
 */
#include "xpu_codegen/lower/weight_copies.h"

#include <string.h>

#include "xpu_codegen/lower/buffers.h"
#include "xpu_runtime/program/largest_shape.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpu_kernel_args.h"

enum { WORD_BYTES = 4, NOT_READ = -1 };

static const char *const l3_name = "L3";

/* ---- who reads what ---- */

/* By buffer: the last layer whose calls have its address, or NOT_READ. The plan table is in the order of layers. */
static int32_t *last_readers(const xpu_codegen *cg, xpu_arena *arena) {
    int32_t *last = XPU_NEW_ARRAY(arena, int32_t, cg->program.buffers.count);
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) last[i] = NOT_READ;
    uint32_t word = 0;
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        const xpu_codegen_layer *layer = &cg->layers.items[i];
        for (uint32_t c = 0; c < layer->calls.count; c++) {
            uint32_t words = layer->calls.items[c].words;
            for (uint32_t end = word + words; word < end; word++) {
                const xpu_plan_word *w = &cg->program.plan.items[word];
                if (w->kind == XPU_WORD_ADDRESS) last[w->buffer] = (int32_t)i;
            }
        }
    }
    return last;
}

/* Whether a rule may move a weight out of GM. */
static int rules_are_about_weights(const xpu_codegen *cg) {
    for (uint32_t i = 0; i < cg->rules.count; i++) {
        const xpu_memory_rule *rule = &cg->rules.items[i];
        if (rule->kind >= 0 && rule->kind != XPU_MEMPLAN_WEIGHT) continue;
        int is_l3 = strcmp(rule->level, l3_name) == 0;
        if (rule->strength == XPU_MEMPLAN_NEVER ? !is_l3 : is_l3) return 1;
    }
    return 0;
}

/* ---- the choice ---- */

/* Weights are there from the start, as the program's inputs and the places of its states are. */
static const uint8_t *find_from_start(xpu_codegen *cg, xpu_arena *arena) {
    uint8_t *from_start = XPU_NEW_ARRAY(arena, uint8_t, cg->program.buffers.count);
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
        from_start[i] = cg->program.buffers.items[i].kind == XPU_BUFFER_WEIGHT;
    }
    for (uint32_t i = 0; i < cg->graph->inputs.count; i++) {
        from_start[xpu_activation_buffer(cg, cg->graph->inputs.items[i])] = 1;
    }
    for (uint32_t i = 0; i < cg->program.states.count; i++) from_start[cg->program.states.items[i].output] = 1;
    return from_start;
}

void xpu_live_behind_copies(xpu_codegen *cg, xpu_program_buffer *buffers) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "lives");
    const uint8_t *from_start = find_from_start(cg, scratch);
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
        buffers[i].last_layer++;
        if (!from_start[i]) buffers[i].first_layer++;
    }
    xpu_arena_free(scratch);
}

/* The planner's view: a layer of copies before all others, and weights that calls read free to lie in GM, which they
 * prefer, or in L3. */
static xpu_status make_problem(void *context, const int64_t *symbols, xpu_arena *arena, xpu_placement *placement,
                               xpu_diags *diags) {
    xpu_codegen *cg = context;
    const int32_t *last = last_readers(cg, arena);
    xpu_program unlinked = cg->program;
    unlinked.weights_address = unlinked.image_end = XPU_GM_BASE;
    unlinked.buffers.items =
        xpu_copy(arena, unlinked.buffers.items, unlinked.buffers.count * sizeof *unlinked.buffers.items);
    xpu_live_behind_copies(cg, unlinked.buffers.items);
    xpu_status status = xpu_placement_problem(&unlinked, &cg->chip, symbols, arena, placement, diags);
    if (status != XPU_OK) return status;
    xpu_memplan_problem *problem = &placement->problem;
    xpu_memplan_buffer *buffers = xpu_copy(arena, problem->buffers, problem->buffer_count * sizeof *buffers);
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        if (cg->program.buffers.items[i].kind != XPU_BUFFER_WEIGHT) continue;
        buffers[i].pinned = 0;
        if (last[i] == NOT_READ) continue;
        buffers[i].levels[buffers[i].level_count++] = XPU_LEVEL_L3;
        buffers[i].last = (uint32_t)last[i] + 1;
    }
    problem->buffers = buffers;
    return xpu_memory_rules_apply(arena, &cg->rules, problem, diags);
}

static int wants_copy(const xpu_codegen *cg, uint32_t buffer) {
    return cg->program.buffers.items[buffer].kind == XPU_BUFFER_WEIGHT &&
           cg->wishes->places[buffer].level == XPU_LEVEL_L3;
}

xpu_status xpu_choose_copies(xpu_codegen *cg, int *any) {
    *any = 0;
    if (!rules_are_about_weights(cg)) return XPU_OK;
    xpu_largest_plan largest;
    xpu_status status =
        xpu_plan_largest(&(xpu_shape_search){cg->graph, make_problem, cg, cg->arena, cg->diags}, &largest);
    cg->wishes = largest.plan;
    for (uint32_t i = 0; status == XPU_OK && i < cg->program.buffers.count; i++) *any |= wants_copy(cg, i);
    return status;
}

/* ---- the copies ---- */

static int64_t words_of(const xpu_codegen *cg, uint32_t weight) {
    return (xpu_dim_upper(cg, cg->program.buffers.items[weight].bytes) + WORD_BYTES - 1) / WORD_BYTES;
}

static uint32_t add_copy(xpu_codegen *cg, uint32_t weight, uint32_t last_layer) {
    const xpu_program_buffer *from = &cg->program.buffers.items[weight];
    xpu_program_buffer copy = {.name = xpu_printf(cg->arena, "%s@%s", from->name, l3_name),
                               .kind = XPU_BUFFER_COPY,
                               .bytes = xpu_dim_of(cg, words_of(cg, weight) * WORD_BYTES),
                               .alignment = from->alignment,
                               .last_layer = last_layer,
                               .levels = {XPU_LEVEL_L3},
                               .level_count = 1,
                               .alias_of = -1,
                               .copy_of = weight};
    XPU_PUSH(cg->arena, &cg->program.buffers, copy);
    return cg->program.buffers.count - 1;
}

static xpu_status add_fill(xpu_codegen *cg, uint32_t weight, uint32_t copy) {
    struct xpu_copy_nd_call call = {0};
    call.x = xpu_arg_at(weight);
    call.y = xpu_arg_at(copy);
    call.element_bytes = xpu_arg_number(WORD_BYTES);
    call.x_offset = xpu_arg_number(0);
    call.y_offset = xpu_arg_number(0);
    for (int d = 0; d < XPU_COPY_DIMS; d++) {
        int inner = d == XPU_COPY_DIMS - 1;
        call.d[d] = xpu_arg_number(inner ? words_of(cg, weight) : 1);
        call.xs[d] = xpu_arg_number(inner);
        call.ys[d] = xpu_arg_number(inner);
    }
    return xpu_add_copy_nd(cg, 0, &call);
}

xpu_status xpu_make_copies(xpu_codegen *cg) {
    uint32_t buffers = cg->program.buffers.count;
    const int32_t *last = last_readers(cg, cg->arena);
    int64_t *copy_of = XPU_NEW_ARRAY(cg->arena, int64_t, buffers);
    const xpu_plan_word *words = cg->program.plan.items;
    uint32_t count = cg->program.plan.count;
    cg->program.plan.items = NULL;
    cg->program.plan.count = cg->program.plan.capacity = 0;
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; i < buffers; i++) {
        copy_of[i] = -1;
        if (!wants_copy(cg, i)) continue;
        copy_of[i] = add_copy(cg, i, (uint32_t)last[i]);
        if (status == XPU_OK) status = add_fill(cg, i, (uint32_t)copy_of[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        xpu_plan_word word = words[i];
        if (word.kind == XPU_WORD_ADDRESS && copy_of[word.buffer] >= 0) word.buffer = (uint32_t)copy_of[word.buffer];
        XPU_PUSH(cg->arena, &cg->program.plan, word);
    }
    return status;
}

/* ---- the final plan ---- */

void xpu_rules_of_copies(const xpu_codegen *cg, xpu_arena *arena, xpu_memplan_problem *problem) {
    const xpu_program *program = &cg->program;
    uint32_t *holder = XPU_NEW_ARRAY(arena, uint32_t, program->buffers.count);
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        holder[i] = i;
        if (program->buffers.items[i].kind == XPU_BUFFER_COPY) holder[program->buffers.items[i].copy_of] = i;
    }
    xpu_memplan_match *matches = XPU_NEW_ARRAY(arena, xpu_memplan_match, problem->match_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < problem->match_count; i++) {
        xpu_memplan_match match = problem->matches[i];
        if (program->buffers.items[match.buffer].kind == XPU_BUFFER_COPY) continue; /* it has its weight's rules */
        match.buffer = holder[match.buffer];
        matches[count++] = match;
    }
    problem->matches = matches;
    problem->match_count = count;
}

void xpu_explain_missing_copies(xpu_codegen *cg, xpu_memplan *plan) {
    for (uint32_t i = 0; cg->wishes && i < plan->spill_count; i++) {
        xpu_memplan_spill *spill = &plan->spills[i];
        if (cg->program.buffers.items[spill->buffer].kind != XPU_BUFFER_WEIGHT) continue;
        for (uint32_t k = 0; k < cg->wishes->spill_count; k++) {
            if (cg->wishes->spills[k].buffer == spill->buffer) spill->why = cg->wishes->spills[k].why;
        }
    }
}
