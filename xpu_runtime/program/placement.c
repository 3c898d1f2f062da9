#include "xpu_runtime/program/placement.h"

#include "memplan/check.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

enum { LEVEL_ALIGNMENT = 64 };

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
    levels[XPU_LEVEL_SM] = (xpu_memplan_level){"SM", chip->sm_bytes, reserved[XPU_LEVEL_SM], LEVEL_ALIGNMENT,
                                               chip->sm_banks * chip->sm_bank_bytes};
    levels[XPU_LEVEL_L3] =
        (xpu_memplan_level){"L3", chip->l3_bytes, reserved[XPU_LEVEL_L3], LEVEL_ALIGNMENT, chip->l3_rate};
    levels[XPU_LEVEL_GM] =
        (xpu_memplan_level){"GM", chip->gm_bytes, reserved[XPU_LEVEL_GM], LEVEL_ALIGNMENT, chip->gm_rate};
    return levels;
}

static xpu_memplan_kind kind_of(xpu_buffer_kind kind) {
    return kind == XPU_BUFFER_WEIGHT || kind == XPU_BUFFER_COPY ? XPU_MEMPLAN_WEIGHT
           : kind == XPU_BUFFER_SCRATCH                         ? XPU_MEMPLAN_SCRATCH
                                                                : XPU_MEMPLAN_ACTIVATION;
}

/* Weights are pinned inside the image; an alias takes no room of its own. */
static xpu_status convert(const xpu_program *program, uint32_t index, const int64_t *symbols, xpu_memplan_buffer *to,
                          xpu_arena *arena, xpu_diags *diags) {
    const xpu_program_buffer *from = &program->buffers.items[index];
    int64_t bytes = xpu_dim_eval(&program->graph->dims, from->bytes, symbols);
    if (bytes < 0) {
        return xpu_error(diags, XPU_EMODEL, program->source, "plan-problem",
                         xpu_printf(arena, "buffer '%s'", xpu_escape(arena, from->name, 80)),
                         "a buffer's size is negative",
                         xpu_printf(arena, "it has %lld bytes with these input shapes", (long long)bytes),
                         "check the shapes of the inputs");
    }
    *to = (xpu_memplan_buffer){.name = from->name,
                               .bytes = from->alias_of >= 0 ? 0 : (uint64_t)bytes,
                               .alignment = from->alignment,
                               .first = from->first_layer,
                               .last = from->last_layer,
                               .kind = kind_of(from->kind),
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

static xpu_memplan_alias *make_aliases(const xpu_program *program, xpu_arena *arena) {
    xpu_memplan_alias *aliases = XPU_NEW_ARRAY(arena, xpu_memplan_alias, program->in_place.count);
    for (uint32_t i = 0; i < program->in_place.count; i++) {
        const xpu_program_in_place *pair = &program->in_place.items[i];
        aliases[i] = (xpu_memplan_alias){.buffer = pair->buffer, .other = pair->other, .kind = XPU_MEMPLAN_IN_PLACE};
    }
    return aliases;
}

xpu_status xpu_placement_problem(const xpu_program *program, const xpu_chip *chip, const int64_t *symbols,
                                 xpu_arena *arena, xpu_placement *placement, xpu_diags *diags) {
    *placement = (xpu_placement){0};
    reserve(program, placement->reserved);
    uint64_t image = placement->reserved[XPU_LEVEL_GM];
    if (image > chip->gm_bytes) {
        return xpu_error(diags, XPU_EMODEL, program->source, "gm-capacity", NULL, "the program does not fit GM",
                         xpu_printf(arena, "it has %llu bytes with its weights, GM of chip '%s' %u: %llu bytes short",
                                    (unsigned long long)image, chip->name, chip->gm_bytes,
                                    (unsigned long long)(image - chip->gm_bytes)),
                         "compile for a chip with more GM");
    }
    xpu_memplan_buffer *buffers = XPU_NEW_ARRAY(arena, xpu_memplan_buffer, program->buffers.count);
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        xpu_status status = convert(program, i, symbols, &buffers[i], arena, diags);
        if (status != XPU_OK) return status;
    }
    placement->problem = (xpu_memplan_problem){.levels = make_levels(chip, placement->reserved, arena),
                                               .level_count = XPU_LEVEL_COUNT,
                                               .buffers = buffers,
                                               .buffer_count = program->buffers.count,
                                               .aliases = make_aliases(program, arena),
                                               .alias_count = program->in_place.count};
    return XPU_OK;
}

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

static int all_placed(const xpu_program *program) {
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        const xpu_program_buffer *buffer = &program->buffers.items[i];
        if (!buffer->placed && buffer->alias_of < 0) return 0;
    }
    return 1;
}

xpu_place *xpu_placement_make(const xpu_program *program, const xpu_chip *chip, const int64_t *symbols,
                              xpu_arena *arena, xpu_diags *diags) {
    xpu_placement placement;
    if (xpu_placement_problem(program, chip, symbols, arena, &placement, diags) != XPU_OK) return NULL;
    xpu_place *places;
    if (all_placed(program)) {
        places = XPU_NEW_ARRAY(arena, xpu_place, program->buffers.count);
        for (uint32_t i = 0; i < program->buffers.count; i++) {
            const xpu_program_buffer *buffer = &program->buffers.items[i];
            places[i] = place_at(program, buffer, buffer->level, buffer->offset, placement.reserved);
        }
    } else {
        xpu_memplan *plan;
        if (xpu_memplan_make(arena, &placement.problem, NULL, &plan, diags) != XPU_OK) return NULL;
        if (xpu_memplan_check(arena, &placement.problem, plan, diags) != XPU_OK) return NULL;
        places = xpu_placement_places(program, &placement, plan, arena);
    }
    resolve_aliases(program, symbols, places);
    return places;
}
