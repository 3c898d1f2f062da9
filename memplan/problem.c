/* Checks that a problem makes sense, so that everything behind may rely on it. */
#include "memplan/internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_REPORTED = 100, MAX_BANKS = 256 };

static const char *const kind_names[] = {
#define X(name, text) text,
    XPU_MEMPLAN_KINDS(X)
#undef X
};

const char *xpu_memplan_kind_name(xpu_memplan_kind kind) {
    return (unsigned)kind < XPU_MEMPLAN_KIND_COUNT ? kind_names[kind] : "unknown";
}

const char *xpu_memplan_strength_name(xpu_memplan_strength strength) {
    static const char *const names[] = {"must", "prefer", "never"};
    return (unsigned)strength < 3 ? names[strength] : "unknown";
}

const char *xpu_memplan_quote(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t buffer) {
    const char *name = problem->buffers[buffer].name;
    if (!name || !*name) return xpu_printf(arena, "buffer %" PRIu32, buffer);
    return xpu_printf(arena, "'%s'", xpu_escape(arena, name, 100));
}

typedef struct {
    xpu_arena *arena;
    const xpu_memplan_problem *problem;
    xpu_diags *diags;
    unsigned bad;
    uint64_t gaps; /* of all buffers */
} checker;

static void __attribute__((format(printf, 4, 5))) complain(checker *c, const char *where, const char *why,
                                                           const char *format, ...) {
    if (c->bad++ >= MAX_REPORTED) return;
    va_list args;
    va_start(args, format);
    char *what = xpu_vprintf(c->arena, format, args);
    va_end(args);
    xpu_error(c->diags, XPU_EMODEL, c->problem->file, "plan-problem", where, what, why,
              "correct the description of the memory problem");
}

static int is_alignment(uint32_t alignment) {
    return (alignment & (alignment - 1)) == 0 && alignment <= XPU_MEMPLAN_MAX_ALIGNMENT;
}

static void check_levels(checker *c) {
    for (uint32_t i = 0; i < c->problem->level_count; i++) {
        const xpu_memplan_level *level = &c->problem->levels[i];
        const char *where = xpu_printf(c->arena, "level %" PRIu32, i);
        if (!level->name) complain(c, where, "every level has a name", "the level has no name");
        if (level->bytes > XPU_MEMPLAN_MAX_BYTES) {
            complain(c, where, "a level has at most 2^44 bytes", "the level has %" PRIu64 " bytes", level->bytes);
        }
        if (level->reserved > level->bytes) {
            complain(c, where, "the reserved bytes are the first of the level",
                     "%" PRIu64 " of %" PRIu64 " bytes are reserved", level->reserved, level->bytes);
        }
        if (!is_alignment(level->alignment)) {
            complain(c, where, "an alignment is a power of two, at most 2^30", "the alignment is %" PRIu32,
                     level->alignment);
        }
        if (level->banks && (!is_alignment(level->banks) || level->banks > MAX_BANKS || !level->bank_bytes ||
                             !is_alignment(level->bank_bytes) || !level->bank_fields || level->bank_fields > 8)) {
            complain(c, where, "there are at most 256 banks; they and their bytes are powers of two, of 1 to 8 fields",
                     "it has %" PRIu32 " banks of %" PRIu32 " bytes", level->banks, level->bank_bytes);
        }
    }
}

static void check_allowed_levels(checker *c, const xpu_memplan_buffer *buffer, const char *where) {
    uint32_t mask = 0;
    if (buffer->level_count == 0 || buffer->level_count > XPU_MEMPLAN_MAX_LEVELS) {
        complain(c, where, "a buffer is allowed 1 to 8 levels", "it is allowed %" PRIu32 " levels",
                 buffer->level_count);
        return;
    }
    for (uint32_t i = 0; i < buffer->level_count; i++) {
        uint32_t level = buffer->levels[i];
        if (level >= c->problem->level_count) {
            complain(c, where, "levels are numbered by their place in the problem", "it is allowed level %" PRIu32,
                     level);
        } else if (mask & 1u << level) {
            complain(c, where, "each level is named once", "it is allowed level %" PRIu32 " twice", level);
        } else {
            mask |= 1u << level;
        }
    }
}

static void check_pin(checker *c, const xpu_memplan_buffer *buffer, const char *where) {
    if (buffer->level_count != 1) {
        complain(c, where, "a pinned buffer is allowed one level", "it is pinned and allowed %" PRIu32 " levels",
                 buffer->level_count);
        return;
    }
    if (buffer->levels[0] >= c->problem->level_count) return;
    uint64_t size = c->problem->levels[buffer->levels[0]].bytes;
    if (buffer->pinned_offset > size || buffer->bytes > size - buffer->pinned_offset) {
        complain(c, where, "a pinned buffer lies within its level",
                 "it is pinned at %" PRIu64 " and reaches out of %" PRIu64 " bytes", buffer->pinned_offset, size);
    }
    if (buffer->pinned_offset % xpu_memplan_alignment(buffer->alignment)) {
        complain(c, where, "a pinned buffer is aligned", "it is pinned at %" PRIu64 ", aligned to %" PRIu32,
                 buffer->pinned_offset, buffer->alignment);
    }
}

int xpu_memplan_gaps_hold(const xpu_memplan_buffer *buffer) {
    uint32_t lives = buffer->first; /* at this step, before the next gap */
    for (uint32_t i = 0; i < buffer->gap_count; i++) {
        const xpu_memplan_steps *gap = &buffer->gaps[i];
        if (gap->first <= lives || gap->last < gap->first || gap->last >= buffer->last) return 0;
        lives = gap->last + 1;
    }
    return 1;
}

static void check_buffer(checker *c, uint32_t index) {
    const xpu_memplan_buffer *buffer = &c->problem->buffers[index];
    const char *where = xpu_memplan_quote(c->arena, c->problem, index);
    if (buffer->bytes > XPU_MEMPLAN_MAX_BYTES) {
        complain(c, where, "a buffer has at most 2^44 bytes", "it has %" PRIu64 " bytes", buffer->bytes);
        return;
    }
    if (!is_alignment(buffer->alignment)) {
        complain(c, where, "an alignment is a power of two, at most 2^30", "its alignment is %" PRIu32,
                 buffer->alignment);
        return;
    }
    if (buffer->first > buffer->last || buffer->last > XPU_MEMPLAN_MAX_STEP) {
        complain(c, where, "a life begins before it ends, at a step of at most 2^30",
                 "it lives from step %" PRIu32 " to %" PRIu32, buffer->first, buffer->last);
    }
    c->gaps += buffer->gap_count;
    if (!xpu_memplan_gaps_hold(buffer)) {
        complain(c, where, "gaps are in order, and the buffer lives before, between and behind them",
                 "it lives from step %" PRIu32 " to %" PRIu32 ", and one of its gaps is elsewhere", buffer->first,
                 buffer->last);
    }
    if ((unsigned)buffer->kind >= XPU_MEMPLAN_KIND_COUNT) {
        complain(c, where, "a kind is weight, activation or scratch", "its kind is %d", (int)buffer->kind);
    }
    check_allowed_levels(c, buffer, where);
    if (buffer->pinned) check_pin(c, buffer, where);
}

/* The bytes of `other` from the first to the last of the box, or UINT64_MAX when they are more than any buffer has. */
static uint64_t box_span(const xpu_memplan_alias *alias, uint64_t bytes) {
    if (alias->rows == 0) return bytes;
    if (alias->pitch > XPU_MEMPLAN_MAX_BYTES || alias->row_bytes > XPU_MEMPLAN_MAX_BYTES) return UINT64_MAX;
    if (alias->rows > 1 && alias->pitch > XPU_MEMPLAN_MAX_BYTES / (alias->rows - 1)) return UINT64_MAX;
    return (alias->rows - 1) * alias->pitch + alias->row_bytes;
}

static void check_alias(checker *c, uint32_t index) {
    const xpu_memplan_alias *alias = &c->problem->aliases[index];
    uint32_t count = c->problem->buffer_count;
    const char *where = xpu_printf(c->arena, "alias %" PRIu32, index);
    if (alias->buffer >= count || alias->other >= count || alias->buffer == alias->other) {
        complain(c, where, "an alias is of two buffers of the problem", "it is of buffers %" PRIu32 " and %" PRIu32,
                 alias->buffer, alias->other);
        return;
    }
    const xpu_memplan_buffer *buffer = &c->problem->buffers[alias->buffer];
    const xpu_memplan_buffer *other = &c->problem->buffers[alias->other];
    where = xpu_printf(c->arena, "%s in %s", xpu_memplan_quote(c->arena, c->problem, alias->buffer),
                       xpu_memplan_quote(c->arena, c->problem, alias->other));
    if ((unsigned)alias->kind > XPU_MEMPLAN_VIEW) {
        complain(c, where, "an alias is in place, a part or a view", "its kind is %d", (int)alias->kind);
        return;
    }
    if (alias->rows && (alias->row_bytes == 0 || (alias->rows > 1 && alias->row_bytes > alias->pitch))) {
        complain(c, where, "rows of a box do not overlap and are not empty",
                 "rows of %" PRIu64 " bytes stand %" PRIu64 " bytes apart", alias->row_bytes, alias->pitch);
        return;
    }
    if (alias->rows && alias->kind != XPU_MEMPLAN_PART) {
        complain(c, where, "only a part has gaps", "an alias that is no part has %" PRIu32 " rows", alias->rows);
        return;
    }
    if (alias->kind == XPU_MEMPLAN_IN_PLACE) return;
    uint64_t span = box_span(alias, buffer->bytes);
    if (alias->offset > other->bytes || span > other->bytes - alias->offset) {
        complain(c, where, "a part or view lies within its buffer",
                 "it reaches out of the %" PRIu64 " bytes from offset %" PRIu64, other->bytes, alias->offset);
    }
    int part = alias->kind == XPU_MEMPLAN_PART;
    uint32_t early = part ? buffer->first : other->first, middle = part ? other->first : buffer->first;
    if (early > middle || middle > (part ? buffer->last : other->last)) {
        complain(c, where,
                 part ? "the whole begins when its parts are there: part.first <= whole.first <= part.last"
                      : "a view begins while its buffer lives: whole.first <= view.first <= whole.last",
                 "it lives from step %" PRIu32 " to %" PRIu32 ", the whole from %" PRIu32 " to %" PRIu32, buffer->first,
                 buffer->last, other->first, other->last);
    }
}

static int compare_pins(const void *a, const void *b) {
    const xpu_memplan_item *x = a, *y = b;
    if (x->benefit != y->benefit) return x->benefit < y->benefit ? -1 : 1; /* the level */
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* No two pinned buffers share bytes while both live. */
static void check_pins(checker *c) {
    const xpu_memplan_problem *problem = c->problem;
    xpu_memplan_item *pins = XPU_NEW_ARRAY(c->arena, xpu_memplan_item, problem->buffer_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        const xpu_memplan_buffer *buffer = &problem->buffers[i];
        if (!buffer->pinned || !buffer->bytes) continue;
        pins[count++] = (xpu_memplan_item){.id = i,
                                           .life = xpu_memplan_life_of(buffer),
                                           .bytes = buffer->bytes,
                                           .offset = buffer->pinned_offset,
                                           .benefit = buffer->levels[0]};
    }
    qsort(pins, count, sizeof *pins, compare_pins);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = i + 1; k < count && pins[k].benefit == pins[i].benefit; k++) {
            if (pins[k].offset >= pins[i].offset + pins[i].bytes) break;
            if (!xpu_memplan_items_meet(&pins[k], &pins[i])) continue;
            complain(c, xpu_memplan_quote(c->arena, problem, pins[k].id), "pinned buffers do not share bytes",
                     "it is pinned on bytes of %s while both live", xpu_memplan_quote(c->arena, problem, pins[i].id));
            if (c->bad > MAX_REPORTED) return;
        }
    }
}

xpu_status xpu_memplan_problem_check(xpu_arena *arena, const xpu_memplan_problem *problem, xpu_diags *diags) {
    checker c = {.arena = arena, .problem = problem, .diags = diags};
    if (problem->level_count == 0 || problem->level_count > XPU_MEMPLAN_MAX_LEVELS) {
        complain(&c, NULL, "a problem has 1 to 8 levels", "the problem has %" PRIu32 " levels", problem->level_count);
    }
    if (problem->buffer_count > XPU_MEMPLAN_MAX_BUFFERS) {
        complain(&c, NULL, "a problem has at most 1048576 buffers", "the problem has %" PRIu32 " buffers",
                 problem->buffer_count);
    }
    if (problem->alias_count > XPU_MEMPLAN_MAX_MATCHES || problem->match_count > XPU_MEMPLAN_MAX_MATCHES) {
        complain(&c, NULL, "a problem has at most 2^22 aliases and matches",
                 "the problem has %" PRIu32 " aliases and %" PRIu32 " matches", problem->alias_count,
                 problem->match_count);
    }
    if (c.bad) return XPU_EMODEL;
    check_levels(&c);
    for (uint32_t i = 0; i < problem->buffer_count; i++) check_buffer(&c, i);
    if (c.gaps > XPU_MEMPLAN_MAX_MATCHES) {
        complain(&c, NULL, "a problem has at most 2^22 gaps", "the problem has %" PRIu64 " gaps", c.gaps);
    }
    for (uint32_t i = 0; i < problem->alias_count; i++) check_alias(&c, i);
    for (uint32_t i = 0; i < problem->rule_count; i++) {
        const xpu_memplan_rule *rule = &problem->rules[i];
        if (rule->level >= problem->level_count || (unsigned)rule->strength > XPU_MEMPLAN_NEVER || !rule->text) {
            complain(&c, xpu_printf(arena, "rule %" PRIu32, i),
                     "a rule has a level of the problem, a strength and a text", "the rule is of level %" PRIu32,
                     rule->level);
        } else if (rule->has_bank && rule->bank >= problem->levels[rule->level].banks) {
            complain(&c, xpu_printf(arena, "rule %" PRIu32, i), "a rule names a bank that its level has",
                     "the rule is of bank %" PRIu32 " of %" PRIu32, rule->bank, problem->levels[rule->level].banks);
        }
    }
    for (uint32_t i = 0; i < problem->match_count; i++) {
        const xpu_memplan_match *match = &problem->matches[i];
        if (match->buffer >= problem->buffer_count || match->rule >= problem->rule_count) {
            complain(&c, xpu_printf(arena, "match %" PRIu32, i), "a match is of a buffer and a rule of the problem",
                     "it is of buffer %" PRIu32 " and rule %" PRIu32, match->buffer, match->rule);
        }
    }
    if (!c.bad) check_pins(&c);
    if (!c.bad && problem->timeline) return xpu_memplan_timeline_check(arena, problem, diags);
    return c.bad ? XPU_EMODEL : XPU_OK;
}
