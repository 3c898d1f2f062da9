/*
 * Copies of weights in L3. Weights lie in the program's image in GM; where placement rules want one in L3, a buffer
 * there takes its bytes at the start of every run. Which weights get a copy is the planner's choice: it is asked before
 * the program is linked, with every weight free to lie in GM or L3. Who has a copy may lie only there in the final
 * plan.
 */
#include "xpu_codegen/lower/weight_copies.h"

#include <string.h>

#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/largest_shape.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

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
            uint32_t words = xpu_kernel_of(layer->calls.items[c].kernel)->words;
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

/* All lives move by one step, for a layer before the first one; what is there from the start still is. */
static void shift_lives(xpu_codegen *cg, const uint8_t *from_start, int32_t by) {
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
        xpu_program_buffer *buffer = &cg->program.buffers.items[i];
        buffer->last_layer += (uint32_t)by;
        if (!from_start[i]) buffer->first_layer += (uint32_t)by;
    }
}

static uint8_t *find_from_start(xpu_codegen *cg) {
    uint8_t *from_start = XPU_NEW_ARRAY(cg->arena, uint8_t, cg->program.buffers.count);
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
        from_start[i] = cg->program.buffers.items[i].kind == XPU_BUFFER_WEIGHT;
    }
    for (uint32_t i = 0; i < cg->graph->inputs.count; i++) {
        from_start[xpu_activation_buffer(cg, cg->graph->inputs.items[i])] = 1;
    }
    return from_start;
}

/* The planner's view: weights that calls read are free to lie in GM, which they prefer, or in L3. */
static xpu_status make_problem(xpu_codegen *cg, const int64_t *symbols, xpu_arena *arena, xpu_placement *placement,
                               xpu_diags *diags) {
    const int32_t *last = last_readers(cg, arena);
    xpu_program unlinked = cg->program;
    unlinked.weights_address = unlinked.image_end = XPU_GM_BASE;
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

static xpu_status plan_wishes(xpu_codegen *cg) {
    xpu_largest_plan largest;
    xpu_status status = xpu_plan_largest(cg, make_problem, &largest);
    cg->wishes = largest.plan;
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
    enum { COPY_DIMS = 6 };
    struct xpu_copy_nd_call call = {0};
    call.x = xpu_arg_at(weight);
    call.y = xpu_arg_at(copy);
    call.element_bytes = xpu_arg_number(WORD_BYTES);
    call.x_offset = xpu_arg_number(0);
    call.y_offset = xpu_arg_number(0);
    for (int d = 0; d < COPY_DIMS; d++) {
        int inner = d == COPY_DIMS - 1;
        call.d[d] = xpu_arg_number(inner ? words_of(cg, weight) : 1);
        call.xs[d] = xpu_arg_number(inner);
        call.ys[d] = xpu_arg_number(inner);
    }
    return xpu_add_copy_nd(cg, 0, &call);
}

/* A layer before all others, in the region of the first one that runs on the chip. */
static void insert_layer(xpu_codegen *cg) {
    uint32_t region = 0;
    for (uint32_t i = cg->layers.count; i-- > 0;) {
        if (cg->layers.items[i].calls.count) region = cg->layers.items[i].region;
    }
    xpu_codegen_layer layer = {.region = region, .comment = "copies of weights, made by the compiler"};
    xpu_program_layer item = {.name = xpu_unique_layer_name(cg, "weights/L3")};
    XPU_PUSH(cg->arena, &cg->layers, layer);
    XPU_PUSH(cg->arena, &cg->program.layers, item);
    uint32_t others = cg->layers.count - 1;
    memmove(cg->layers.items + 1, cg->layers.items, others * sizeof layer);
    memmove(cg->program.layers.items + 1, cg->program.layers.items, others * sizeof item);
    cg->layers.items[0] = layer;
    cg->program.layers.items[0] = item;
    for (uint32_t i = 0; i < cg->graph->nodes.count; i++) {
        if (cg->layer_of[i] >= 0) cg->layer_of[i]++;
    }
    xpu_describe_layer(cg, 0, XPU_KERNEL_copy_nd, xpu_dim_of(cg, 0));
    cg->program.layers.items[0].reason = "placement rules want weights in L3";
}

/* The last `count` words of the plan table become its first. */
static void rotate_plan(xpu_codegen *cg, uint32_t count) {
    xpu_plan_word *words = cg->program.plan.items;
    uint32_t others = cg->program.plan.count - count;
    const xpu_plan_word *tail = xpu_copy(cg->arena, words + others, count * sizeof *words);
    memmove(words + count, words, others * sizeof *words);
    memcpy(words, tail, count * sizeof *words);
}

static xpu_status make_copies(xpu_codegen *cg, const int32_t *last) {
    uint32_t buffers = cg->program.buffers.count, words = cg->program.plan.count;
    int64_t *copy_of = XPU_NEW_ARRAY(cg->arena, int64_t, buffers);
    insert_layer(cg);
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; i < buffers; i++) {
        copy_of[i] = -1;
        if (cg->program.buffers.items[i].kind != XPU_BUFFER_WEIGHT || cg->wishes->places[i].level != XPU_LEVEL_L3) {
            continue;
        }
        copy_of[i] = add_copy(cg, i, (uint32_t)last[i] + 1);
        if (status == XPU_OK) status = add_fill(cg, i, (uint32_t)copy_of[i]);
    }
    for (uint32_t i = 0; i < words; i++) {
        xpu_plan_word *word = &cg->program.plan.items[i];
        if (word->kind == XPU_WORD_ADDRESS && copy_of[word->buffer] >= 0)
            word->buffer = (uint32_t)copy_of[word->buffer];
    }
    rotate_plan(cg, cg->program.plan.count - words);
    for (uint32_t i = 0; i < cg->layers.count; i++) xpu_name_layer(cg, i);
    return status;
}

xpu_status xpu_copy_weights(xpu_codegen *cg) {
    if (!rules_are_about_weights(cg)) return XPU_OK;
    const int32_t *last = last_readers(cg, cg->arena);
    const uint8_t *from_start = find_from_start(cg);
    shift_lives(cg, from_start, 1);
    xpu_status status = plan_wishes(cg);
    if (status != XPU_OK) return status;
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
        int is_weight = cg->program.buffers.items[i].kind == XPU_BUFFER_WEIGHT;
        if (is_weight && cg->wishes->places[i].level == XPU_LEVEL_L3) return make_copies(cg, last);
    }
    shift_lives(cg, from_start, -1);
    return XPU_OK;
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
