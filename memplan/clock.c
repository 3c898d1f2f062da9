#include "memplan/clock.h"

#include "memplan/internal.h"

void xpu_memplan_clock_init(xpu_arena *arena, const xpu_memplan_problem *problem, xpu_memplan_clock *clock) {
    const xpu_memplan_timeline *line = problem->timeline;
    *clock = (xpu_memplan_clock){.problem = problem, .steps = line->step_count};
    clock->slots = XPU_NEW_ARRAY(arena, xpu_memplan_slot, (size_t)line->step_count * problem->level_count);
    clock->compute = XPU_NEW_ARRAY(arena, uint64_t, line->step_count);
    clock->cycles = XPU_NEW_ARRAY(arena, uint64_t, line->step_count);
    for (uint32_t i = 0; i < line->step_count; i++) {
        clock->compute[i] = clock->cycles[i] = line->cycles[i];
        clock->all += line->cycles[i];
    }
    for (uint32_t i = 0; i < problem->level_count; i++)
        clock->room[i] = problem->levels[i].bytes - problem->levels[i].reserved;
}

static xpu_memplan_slot *slot_of(const xpu_memplan_clock *clock, uint32_t step, uint32_t level) {
    return &clock->slots[(size_t)step * clock->problem->level_count + level];
}

static void count_again(xpu_memplan_clock *clock, uint32_t step) {
    uint64_t most = clock->compute[step], waits = 0;
    for (uint32_t i = 0; i < clock->problem->level_count; i++) {
        const xpu_memplan_level *level = &clock->problem->levels[i];
        const xpu_memplan_slot *slot = slot_of(clock, step, i);
        const uint64_t rate = level->bytes_per_cycle, moves = rate ? (slot->moved + rate - 1) / rate : 0;
        if (moves > most) most = moves;
        if (slot->accesses && level->latency > waits) waits = level->latency;
    }
    clock->all -= clock->cycles[step];
    clock->cycles[step] = most + waits;
    clock->all += clock->cycles[step];
    clock->work++;
}

static void move(xpu_memplan_clock *clock, xpu_memplan_slot *slot, uint32_t level, uint64_t bytes, uint64_t beside,
                 int in) {
    const int is_last = level + 1 == clock->problem->level_count;
    slot->moved = in ? slot->moved + bytes + beside : slot->moved - bytes - beside;
    if (is_last) clock->last_bytes = in ? clock->last_bytes + bytes : clock->last_bytes - bytes;
}

void xpu_memplan_clock_access(xpu_memplan_clock *clock, uint32_t step, uint32_t level, uint64_t bytes, int in) {
    xpu_memplan_slot *slot = slot_of(clock, step, level);
    if (!bytes) return;
    move(clock, slot, level, bytes, 0, in);
    slot->accesses = in ? slot->accesses + 1 : slot->accesses - 1;
    count_again(clock, step);
}

void xpu_memplan_clock_compute(xpu_memplan_clock *clock, uint32_t step, uint64_t cycles, int in) {
    clock->compute[step] = in ? clock->compute[step] + cycles : clock->compute[step] - cycles;
    count_again(clock, step);
}

/* What moves during the latency of a level. */
static uint64_t beside(const xpu_memplan_clock *clock, uint32_t level) {
    const xpu_memplan_level *l = &clock->problem->levels[level];
    return (uint64_t)l->latency * l->bytes_per_cycle;
}

void xpu_memplan_clock_share(xpu_memplan_clock *clock, uint32_t step, uint32_t from, uint32_t to, uint64_t bytes,
                             int in) {
    move(clock, slot_of(clock, step, from), from, bytes, beside(clock, from), in);
    move(clock, slot_of(clock, step, to), to, bytes, beside(clock, to), in);
    count_again(clock, step);
}

void xpu_memplan_clock_stand(xpu_memplan_clock *clock, uint32_t first, uint32_t last, uint32_t level, uint64_t bytes,
                             int in) {
    const uint64_t whole = xpu_memplan_align(bytes, xpu_memplan_alignment(clock->problem->levels[level].alignment));
    for (uint32_t i = first; i <= last; i++) {
        xpu_memplan_slot *slot = slot_of(clock, i, level);
        slot->live = in ? slot->live + whole : slot->live - whole;
    }
    clock->work += (last - first) / 8;
}

int xpu_memplan_clock_fits(xpu_memplan_clock *clock, uint32_t first, uint32_t last, uint32_t level, uint64_t bytes) {
    const uint64_t whole = xpu_memplan_align(bytes, xpu_memplan_alignment(clock->problem->levels[level].alignment));
    clock->work += (last - first) / 8;
    for (uint32_t i = first; i <= last; i++)
        if (slot_of(clock, i, level)->live + whole > clock->room[level]) return 0;
    return 1;
}

/* Bytes more that a level may move in a step as long as it is. */
static uint64_t idle(const xpu_memplan_clock *clock, uint32_t step, uint32_t level) {
    const xpu_memplan_level *l = &clock->problem->levels[level];
    const xpu_memplan_slot *slot = slot_of(clock, step, level);
    uint64_t waits = 0;
    for (uint32_t i = 0; i < clock->problem->level_count; i++) {
        const xpu_memplan_level *other = &clock->problem->levels[i];
        if (slot_of(clock, step, i)->accesses && other->latency > waits) waits = other->latency;
    }
    if (!l->bytes_per_cycle) return UINT64_MAX;
    const uint64_t most = (clock->cycles[step] - waits) * l->bytes_per_cycle, used = slot->moved + beside(clock, level);
    return most > used ? most - used : 0;
}

uint64_t xpu_memplan_clock_free(const xpu_memplan_clock *clock, uint32_t step, uint32_t from, uint32_t to) {
    const uint64_t a = idle(clock, step, from), b = idle(clock, step, to);
    return a < b ? a : b;
}
