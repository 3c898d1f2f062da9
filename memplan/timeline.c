/* Checks that a time line makes sense, as problem.c does it for all else. */
#include <inttypes.h>

#include "memplan/internal.h"

enum { MAX_REPORTED = 100, MAX_OPERANDS = 64 };

/* So that no sum of bytes overflows, and no search takes for ever. */
#define MAX_MOVED (UINT64_C(1) << 60)
#define MAX_LIVED (UINT64_C(1) << 27)

typedef struct {
    xpu_arena *arena;
    const xpu_memplan_problem *problem;
    xpu_diags *diags;
    unsigned bad;
} checker;

static void __attribute__((format(printf, 4, 5))) complain(checker *c, const char *where, const char *why,
                                                           const char *format, ...) {
    if (c->bad++ >= MAX_REPORTED) return;
    va_list args;
    va_start(args, format);
    char *what = xpu_vprintf(c->arena, format, args);
    va_end(args);
    xpu_error(c->diags, XPU_EMODEL, c->problem->file, "plan-problem", where, what, why,
              "correct the description of the time line");
}

static int is_allowed(const xpu_memplan_buffer *buffer, uint32_t level) {
    for (uint32_t i = 0; i < buffer->level_count; i++)
        if (buffer->levels[i] == level) return 1;
    return 0;
}

static void check_operands(checker *c, uint32_t buffer, const xpu_memplan_traffic *t, const char *where) {
    if (t->anew_cycles > XPU_MEMPLAN_MAX_CYCLES)
        complain(c, where, "a step has at most 2^40 cycles", "computing it anew takes %" PRIu64, t->anew_cycles);
    if (t->anew_cycles && t->home != XPU_MEMPLAN_NONE)
        complain(c, where, "a constant is never computed", "it has a home and is computed anew");
    if (t->operand_count > MAX_OPERANDS)
        complain(c, where, "there are at most 64 operands", "it is computed anew from %" PRIu32, t->operand_count);
    for (uint32_t i = 0; i < t->operand_count; i++)
        if (t->operands[i] >= c->problem->buffer_count || t->operands[i] == buffer)
            complain(c, where, "operands are other buffers", "it is computed anew from buffer %" PRIu32,
                     t->operands[i]);
}

static void check_traffic(checker *c, uint32_t i) {
    const xpu_memplan_buffer *b = &c->problem->buffers[i];
    const xpu_memplan_traffic *t = &c->problem->timeline->traffic[i];
    const char *where = xpu_memplan_quote(c->arena, c->problem, i);
    for (uint32_t k = 0; k < t->use_count; k++) {
        const xpu_memplan_use *use = &t->uses[k];
        if (use->step < b->first || use->step > b->last)
            complain(c, where, "a buffer is used while it lives", "it is used in step %" PRIu32, use->step);
        else if (k && use->step <= t->uses[k - 1].step)
            complain(c, where, "uses are in order, one of a step", "step %" PRIu32 " comes behind step %" PRIu32,
                     use->step, t->uses[k - 1].step);
        if (use->bytes > XPU_MEMPLAN_MAX_BYTES)
            complain(c, where, "a step moves at most 2^44 bytes of a buffer", "step %" PRIu32 " moves %" PRIu64,
                     use->step, use->bytes);
    }
    if (t->use_count && b->last >= c->problem->timeline->step_count)
        complain(c, where, "what is used lives in steps of the time line",
                 "it lives until step %" PRIu32 " of %" PRIu32, b->last, c->problem->timeline->step_count);
    if (t->home != XPU_MEMPLAN_NONE && !is_allowed(b, t->home))
        complain(c, where, "the home is one of its levels", "its home is level %" PRIu32, t->home);
    if (t->home != XPU_MEMPLAN_NONE && b->pinned && t->home != b->levels[0])
        complain(c, where, "it is pinned in its home", "its home is level %" PRIu32, t->home);
    check_operands(c, i, t, where);
}

/* Sums over all buffers. */
static void check_sums(checker *c) {
    const uint32_t steps = c->problem->timeline->step_count;
    uint64_t moved = 0, lived = 0, uses = 0;
    for (uint32_t i = 0; i < c->problem->buffer_count && moved <= MAX_MOVED && uses <= XPU_MEMPLAN_MAX_MATCHES; i++) {
        const xpu_memplan_buffer *b = &c->problem->buffers[i];
        const xpu_memplan_traffic *t = &c->problem->timeline->traffic[i];
        uses += t->use_count;
        if (b->first < steps) lived += (b->last < steps ? b->last : steps - 1) - b->first + 1;
        moved += b->bytes;
        for (uint32_t k = 0; k < t->use_count && moved <= MAX_MOVED; k++) moved += t->uses[k].bytes + 2 * b->bytes;
        for (uint32_t k = 0; k < t->operand_count && t->anew_cycles; k++)
            moved += (t->use_count + UINT64_C(1)) * c->problem->buffers[t->operands[k]].bytes;
    }
    if (uses > XPU_MEMPLAN_MAX_MATCHES) complain(c, NULL, "a problem has at most 2^22 uses", "there are more uses");
    if (moved > MAX_MOVED)
        complain(c, NULL, "all uses together, and twice the bytes of what is used, are at most 2^60",
                 "the steps move too many bytes");
    if (lived > MAX_LIVED)
        complain(c, NULL, "all lives together are at most 2^27 steps of the time line",
                 "the buffers live for %" PRIu64 " steps", lived);
}

xpu_status xpu_memplan_timeline_check(xpu_arena *arena, const xpu_memplan_problem *problem, xpu_diags *diags) {
    checker c = {arena, problem, diags, 0};
    const xpu_memplan_timeline *line = problem->timeline;
    if (line->step_count > XPU_MEMPLAN_MAX_TIMELINE)
        complain(&c, NULL, "a time line has at most 65536 steps", "this one has %" PRIu32, line->step_count);
    for (uint32_t i = 0; i < line->step_count && !c.bad; i++)
        if (line->cycles[i] > XPU_MEMPLAN_MAX_CYCLES)
            complain(&c, xpu_printf(arena, "step %" PRIu32, i), "a step has at most 2^40 cycles", "it takes %" PRIu64,
                     line->cycles[i]);
    for (uint32_t i = 0; i < problem->level_count; i++)
        if (problem->levels[i].latency > XPU_MEMPLAN_MAX_TIMELINE)
            complain(&c, xpu_printf(arena, "level %" PRIu32, i), "a latency is at most 65536 cycles",
                     "the latency is %" PRIu32, problem->levels[i].latency);
    for (uint32_t i = 0; i < problem->buffer_count; i++) check_traffic(&c, i);
    if (!c.bad) check_sums(&c);
    return c.bad ? XPU_EMODEL : XPU_OK;
}
