#include "xpu_runtime/program/placement.h"

#include "memplan/check.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

enum {
    LEVEL_ALIGNMENT = 64,
    SHOWN_INPUTS = 4,
    BIND_BUDGET = 250000 /* comparisons of the planner where a run waits for the plan: of 400 buffers half a millisecond
                            where all have room, up to 15 where results in place are tried one by one */
};

static const char gm_full[] = "gm-capacity";

static const uint32_t level_base[XPU_LEVEL_COUNT] = {
    [XPU_LEVEL_SM] = XPU_SM_BASE, [XPU_LEVEL_L3] = XPU_L3_BASE, [XPU_LEVEL_GM] = XPU_GM_BASE};

static uint64_t round_up(uint64_t bytes) {
    return (bytes + LEVEL_ALIGNMENT - 1) / LEVEL_ALIGNMENT * LEVEL_ALIGNMENT;
}

static void reserve(const xpu_program *program, uint64_t *reserved) {
    reserved[XPU_LEVEL_SM] = (uint64_t)XPU_MAILBOX_BYTES * XPU_MAX_CORES;
    reserved[XPU_LEVEL_L3] = 0;
    reserved[XPU_LEVEL_GM] = round_up(program->image_end - XPU_GM_BASE);
}

static xpu_memplan_level *make_levels(const xpu_chip *chip, const uint64_t *reserved, xpu_arena *arena) {
    xpu_memplan_level *levels = XPU_NEW_ARRAY(arena, xpu_memplan_level, XPU_LEVEL_COUNT);
    levels[XPU_LEVEL_SM] = (xpu_memplan_level){
        .name = "SM", .bytes = chip->sm_bytes, .bytes_per_cycle = chip->sm_banks * chip->sm_bank_bytes};
    levels[XPU_LEVEL_L3] = (xpu_memplan_level){.name = "L3", .bytes = chip->l3_bytes, .bytes_per_cycle = chip->l3_rate};
    levels[XPU_LEVEL_GM] = (xpu_memplan_level){
        .name = "GM", .bytes = chip->gm_bytes, .bytes_per_cycle = chip->gm_rate, .full_rule = gm_full};
    for (int i = 0; i < XPU_LEVEL_COUNT; i++) {
        levels[i].reserved = reserved[i];
        levels[i].alignment = LEVEL_ALIGNMENT;
        levels[i].bank_bytes = LEVEL_ALIGNMENT;
    }
    levels[XPU_LEVEL_SM].banks = chip->sm_banks;
    levels[XPU_LEVEL_SM].bank_fields = 3; /* folded: docs/decisions/0014-banks-of-sm.md */
    levels[XPU_LEVEL_L3].banks = chip->l3_banks;
    levels[XPU_LEVEL_L3].bank_fields = 1;
    return levels;
}

static xpu_memplan_kind kind_of(xpu_buffer_kind kind) {
    return kind == XPU_BUFFER_WEIGHT || kind == XPU_BUFFER_COPY || kind == XPU_BUFFER_AHEAD ? XPU_MEMPLAN_WEIGHT
           : kind == XPU_BUFFER_SCRATCH                                                     ? XPU_MEMPLAN_SCRATCH
                                                                                            : XPU_MEMPLAN_ACTIVATION;
}

/* ---- the shape, for messages ---- */

static int has_symbol(const xpu_graph *graph, const xpu_value_info *info) {
    for (int i = 0; i < info->rank; i++) {
        if (!xpu_dim_is_const(&graph->dims, info->dims[i], NULL)) return 1;
    }
    return 0;
}

const char *xpu_placement_shape(const xpu_program *program, const int64_t *symbols, xpu_arena *arena) {
    const xpu_graph *graph = program->graph;
    uint32_t shown = 0;
    xpu_text text;
    xpu_text_init(&text, arena);
    for (uint32_t i = 0; symbols && i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        if (!has_symbol(graph, info)) continue;
        if (shown++ == SHOWN_INPUTS) {
            xpu_text_add(&text, ", ...");
            break;
        }
        xpu_text_add(&text, "%s%s=", shown == 1 ? "shape " : ", ", xpu_escape(arena, info->name, 80));
        for (int d = 0; d < info->rank; d++) {
            long long size = (long long)xpu_dim_eval(&graph->dims, info->dims[d], symbols);
            xpu_text_add(&text, "%s%lld", d ? "," : "", size);
        }
    }
    return shown ? text.text : NULL;
}

/* ---- the problem ---- */

/* Weights are pinned inside the image; an alias takes no room of its own. */
static xpu_status convert(const xpu_program *program, uint32_t index, const int64_t *symbols, uint64_t gm_bytes,
                          xpu_memplan_buffer *to, xpu_arena *arena, xpu_diags *diags) {
    const xpu_program_buffer *from = &program->buffers.items[index];
    int64_t bytes = xpu_dim_is_dynamic(program->graph, from->bytes)
                        ? xpu_dim_between(program->graph, from->bytes, symbols).max
                        : xpu_dim_eval(&program->graph->dims, from->bytes, symbols);
    if (bytes < 0) {
        return xpu_error(diags, XPU_EMODEL, program->source, "plan-problem",
                         xpu_printf(arena, "buffer '%s'", xpu_escape(arena, from->name, 80)),
                         "a buffer's size is negative",
                         xpu_printf(arena, "it has %lld bytes with these input shapes", (long long)bytes),
                         "check the shapes of the inputs");
    }
    if ((uint64_t)bytes > gm_bytes) {
        int is_huge = bytes > XPU_PROGRAM_MAX_SIZE; /* and may be more than 64 bits hold */
        uint64_t shown = is_huge ? (uint64_t)XPU_PROGRAM_MAX_SIZE : (uint64_t)bytes;
        const char *more = is_huge ? "more than " : "";
        return xpu_error(diags, XPU_EMODEL, program->source, gm_full, xpu_placement_shape(program, symbols, arena),
                         xpu_printf(arena, "GM has no room: %s%llu bytes short for one value", more,
                                    (unsigned long long)(shown - gm_bytes)),
                         xpu_printf(arena, "'%s' has %s%llu bytes, GM has %llu", xpu_escape(arena, from->name, 80),
                                    more, (unsigned long long)shown, (unsigned long long)gm_bytes),
                         "use a chip with more GM, or smaller shapes");
    }
    *to = (xpu_memplan_buffer){.name = from->name,
                               .bytes = from->alias_of >= 0 ? 0 : (uint64_t)bytes,
                               .alignment = from->alignment,
                               .first = from->first_layer,
                               .last = from->last_layer,
                               .kind = kind_of(from->kind),
                               .access_bytes = (uint64_t)bytes * from->passes,
                               .level_count = from->level_count};
    for (uint32_t i = 0; i < from->level_count; i++) to->levels[i] = from->levels[i];
    if (from->kind == XPU_BUFFER_WEIGHT) {
        to->levels[0] = XPU_LEVEL_GM;
        to->level_count = 1;
        to->pinned = 1;
        to->pinned_offset = program->weights_address - XPU_GM_BASE + from->offset;
    }
    return XPU_OK;
}

/* States lie at the start of the planned area, wherever the other buffers of this shape are. */
static void pin_states(const xpu_program *program, const uint64_t *reserved, xpu_memplan_buffer *buffers) {
    uint64_t at = reserved[XPU_LEVEL_GM];
    for (uint32_t i = 0; i < program->states.count; i++) {
        const uint32_t pair[] = {program->states.items[i].input, program->states.items[i].output};
        for (int k = 0; k < 2; k++) {
            buffers[pair[k]].pinned = 1;
            buffers[pair[k]].pinned_offset = at;
            at += round_up(buffers[pair[k]].bytes);
        }
    }
}

static xpu_memplan_alias *make_aliases(const xpu_program *program, xpu_arena *arena) {
    xpu_memplan_alias *aliases = XPU_NEW_ARRAY(arena, xpu_memplan_alias, program->in_place.count);
    for (uint32_t i = 0; i < program->in_place.count; i++) {
        const xpu_program_in_place *pair = &program->in_place.items[i];
        aliases[i] = (xpu_memplan_alias){.buffer = pair->buffer, .other = pair->other, .kind = XPU_MEMPLAN_IN_PLACE};
    }
    return aliases;
}

static const char *const *layer_names(const xpu_program *program, xpu_arena *arena) {
    const char **names = XPU_NEW_ARRAY(arena, const char *, program->layers.count);
    for (uint32_t i = 0; i < program->layers.count; i++) names[i] = program->layers.items[i].name;
    return names;
}

xpu_status xpu_placement_problem(const xpu_program *program, const xpu_chip *chip, const int64_t *symbols,
                                 xpu_arena *arena, xpu_placement *placement, xpu_diags *diags) {
    *placement = (xpu_placement){.planning.step_budget = program->graph->dims.symbols.count ? BIND_BUDGET : 0};
    reserve(program, placement->reserved);
    uint64_t image = placement->reserved[XPU_LEVEL_GM];
    if (image > chip->gm_bytes) {
        return xpu_error(diags, XPU_EMODEL, program->source, gm_full, NULL, "the program does not fit GM",
                         xpu_printf(arena, "it has %llu bytes with its weights, GM of chip '%s' %u: %llu bytes short",
                                    (unsigned long long)image, chip->name, chip->gm_bytes,
                                    (unsigned long long)(image - chip->gm_bytes)),
                         "compile for a chip with more GM");
    }
    xpu_memplan_buffer *buffers = XPU_NEW_ARRAY(arena, xpu_memplan_buffer, program->buffers.count);
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        xpu_status status = convert(program, i, symbols, chip->gm_bytes, &buffers[i], arena, diags);
        if (status != XPU_OK) return status;
    }
    pin_states(program, placement->reserved, buffers);
    placement->problem = (xpu_memplan_problem){.levels = make_levels(chip, placement->reserved, arena),
                                               .level_count = XPU_LEVEL_COUNT,
                                               .buffers = buffers,
                                               .buffer_count = program->buffers.count,
                                               .aliases = make_aliases(program, arena),
                                               .alias_count = program->in_place.count,
                                               .file = program->source,
                                               .subject = xpu_placement_shape(program, symbols, arena),
                                               .step_names = layer_names(program, arena),
                                               .step_name_count = program->layers.count};
    return XPU_OK;
}

xpu_status xpu_placement_plan(const xpu_placement *placement, xpu_arena *arena, xpu_memplan **plan, xpu_diags *diags) {
    xpu_status status = xpu_memplan_make(arena, &placement->problem, &placement->planning, plan, diags);
    return status == XPU_OK ? xpu_memplan_check(arena, &placement->problem, *plan, diags) : status;
}

/* ---- the places ---- */

static xpu_place place_at(const xpu_program *program, const xpu_program_buffer *buffer, xpu_level level,
                          uint64_t offset, const uint64_t *reserved) {
    uint64_t base = buffer->kind == XPU_BUFFER_WEIGHT ? program->weights_address : level_base[level] + reserved[level];
    return (xpu_place){.level = level, .offset = offset, .address = (uint32_t)(base + offset)};
}

/* An alias lies in a buffer that stands before it in the list. */
static void resolve_aliases(const xpu_program *program, const int64_t *symbols, xpu_place *places) {
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        const xpu_program_buffer *buffer = &program->buffers.items[i];
        if (buffer->alias_of < 0 || (uint32_t)buffer->alias_of >= i) continue;
        int64_t more = buffer->alias_offset.id ? xpu_dim_eval(&program->graph->dims, buffer->alias_offset, symbols) : 0;
        places[i] = places[buffer->alias_of];
        places[i].offset += (uint64_t)more;
        places[i].address += (uint32_t)more;
    }
}

xpu_place *xpu_placement_places(const xpu_program *program, const xpu_placement *placement, const xpu_memplan *plan,
                                xpu_arena *arena) {
    xpu_place *places = XPU_NEW_ARRAY(arena, xpu_place, program->buffers.count);
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        const xpu_program_buffer *buffer = &program->buffers.items[i];
        xpu_level level = (xpu_level)plan->places[i].level;
        uint64_t offset =
            buffer->kind == XPU_BUFFER_WEIGHT ? buffer->offset : plan->places[i].offset - placement->reserved[level];
        places[i] = place_at(program, buffer, level, offset, placement->reserved);
    }
    return places;
}

int xpu_placement_is_stored(const xpu_program *program) {
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        const xpu_program_buffer *buffer = &program->buffers.items[i];
        if (!buffer->placed && buffer->alias_of < 0) return 0;
    }
    return 1;
}

static xpu_place *stored_places(const xpu_program *program, const xpu_placement *placement, xpu_arena *arena) {
    xpu_place *places = XPU_NEW_ARRAY(arena, xpu_place, program->buffers.count);
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        const xpu_program_buffer *buffer = &program->buffers.items[i];
        places[i] = place_at(program, buffer, buffer->level, buffer->offset, placement->reserved);
    }
    return places;
}

static xpu_place *make_places(const xpu_program *program, const xpu_chip *chip, const int64_t *symbols, int stored,
                              xpu_arena *arena, xpu_diags *diags) {
    xpu_placement placement;
    xpu_memplan *plan;
    if (xpu_placement_problem(program, chip, symbols, arena, &placement, diags) != XPU_OK) return NULL;
    if (!stored && xpu_placement_plan(&placement, arena, &plan, diags) != XPU_OK) return NULL;
    xpu_place *places =
        stored ? stored_places(program, &placement, arena) : xpu_placement_places(program, &placement, plan, arena);
    resolve_aliases(program, symbols, places);
    return places;
}

xpu_place *xpu_placement_make_new(const xpu_program *program, const xpu_chip *chip, const int64_t *symbols,
                                  xpu_arena *arena, xpu_diags *diags) {
    return make_places(program, chip, symbols, 0, arena, diags);
}

xpu_place *xpu_placement_make(const xpu_program *program, const xpu_chip *chip, const int64_t *symbols,
                              xpu_arena *arena, xpu_diags *diags) {
    return make_places(program, chip, symbols, xpu_placement_is_stored(program), arena, diags);
}
