#include "memplan/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "memplan/meetings.h"

enum { MAX_REPORTED = 100 };

typedef struct {
    xpu_arena *arena;
    const xpu_memplan_problem *problem;
    const xpu_memplan *plan;
    xpu_diags *diags;
    unsigned found;
} checker;

static const xpu_memplan_buffer *buffer_of(const checker *c, uint32_t i) {
    return &c->problem->buffers[i];
}
static const xpu_memplan_place *place_of(const checker *c, uint32_t i) {
    return &c->plan->places[i];
}

/* The alternative that the plan took for a buffer, or NULL. check_aliases has made sure that it exists. */
static const xpu_memplan_alias *taken(const checker *c, uint32_t i) {
    uint32_t alias = place_of(c, i)->alias;
    return alias == XPU_MEMPLAN_NONE ? NULL : &c->problem->aliases[alias];
}

const char *xpu_memplan_check_name(xpu_arena *arena, const xpu_memplan_problem *problem, uint32_t i) {
    const char *name = problem->buffers[i].name;
    return name && *name ? xpu_printf(arena, "'%s'", xpu_escape(arena, name, 100))
                         : xpu_printf(arena, "buffer %" PRIu32, i);
}

static const char *name_of(const checker *c, uint32_t i) {
    return xpu_memplan_check_name(c->arena, c->problem, i);
}

void xpu_memplan_check_wrong(xpu_diags *diags, const char *file, const char *rule, const char *where,
                             const char *what) {
    xpu_error(diags, file ? XPU_EUSAGE : XPU_EBUG, file, rule, where, what, "the memory plan is invalid",
              file ? "make the file again, with xpu-memplan plan or xpuc"
                   : "this is an error of the planner; please report it");
}

static void __attribute__((format(printf, 4, 5))) wrong(checker *c, const char *rule, const char *where,
                                                        const char *format, ...) {
    if (c->found++ >= MAX_REPORTED) return;
    va_list args;
    va_start(args, format);
    char *what = xpu_vprintf(c->arena, format, args);
    va_end(args);
    xpu_memplan_check_wrong(c->diags, c->plan->file, rule, where, what);
}

static void check_places(checker *c) {
    for (uint32_t i = 0; i < c->problem->buffer_count; i++) {
        const xpu_memplan_buffer *b = buffer_of(c, i);
        const xpu_memplan_place *p = place_of(c, i);
        int allowed = 0;
        for (uint32_t k = 0; k < b->level_count; k++) allowed |= b->levels[k] == p->level;
        if (p->level >= c->problem->level_count || !allowed) {
            wrong(c, "check-level", name_of(c, i), "it stands in level %" PRIu32 ", where it is not allowed", p->level);
            continue;
        }
        const xpu_memplan_level *level = &c->problem->levels[p->level];
        int own = p->alias == XPU_MEMPLAN_NONE;
        if (b->alignment && p->offset % b->alignment != 0) {
            wrong(c, "check-align", name_of(c, i), "offset %" PRIu64 " is not a multiple of %" PRIu32, p->offset,
                  b->alignment);
        } else if (own && !b->pinned && level->alignment && p->offset % level->alignment != 0) {
            wrong(c, "check-align", name_of(c, i), "offset %" PRIu64 " is not a multiple of the level's %" PRIu32,
                  p->offset, level->alignment);
        }
        if (b->pinned && (p->offset != b->pinned_offset || !own)) {
            wrong(c, "check-pinned", name_of(c, i), "it is pinned at %" PRIu64 " and stands at %" PRIu64,
                  b->pinned_offset, p->offset);
        }
        /* An alias lies within its other buffer, which is checked there; so does its bounds. */
        if (!own) continue;
        if (p->offset > level->bytes || b->bytes > level->bytes - p->offset) {
            wrong(c, "check-bounds", name_of(c, i), "bytes %" PRIu64 " + %" PRIu64 " reach out of the level's %" PRIu64,
                  p->offset, b->bytes, level->bytes);
        }
        if (!b->pinned && b->bytes > 0 && p->offset < level->reserved) {
            wrong(c, "check-bounds", name_of(c, i), "offset %" PRIu64 " is within the %" PRIu64 " reserved bytes",
                  p->offset, level->reserved);
        }
    }
}

/* The bytes of the other buffer that an alias covers: runs of row_bytes, pitch apart. */
typedef struct {
    uint64_t start, rows, row_bytes, pitch, span;
} area;

static area area_of(const checker *c, uint32_t i) {
    const xpu_memplan_alias *alias = taken(c, i);
    uint64_t start = place_of(c, i)->offset, bytes = buffer_of(c, i)->bytes;
    if (!alias || alias->rows <= 1) {
        uint64_t one = alias && alias->rows == 1 ? alias->row_bytes : bytes;
        return (area){start, 1, one, 0, one};
    }
    return (area){start, alias->rows, alias->row_bytes, alias->pitch,
                  (alias->rows - 1) * alias->pitch + alias->row_bytes};
}

/* An alias must be declared, stand where it says, and make sense in time. Returns 0 when it cannot even be followed. */
static int check_alias(checker *c, uint32_t i) {
    const xpu_memplan_place *p = place_of(c, i);
    if (p->alias == XPU_MEMPLAN_NONE && p->alias_of == XPU_MEMPLAN_NONE) return 1;
    if (p->alias >= c->problem->alias_count || p->alias_of >= c->problem->buffer_count ||
        c->problem->aliases[p->alias].buffer != i || c->problem->aliases[p->alias].other != p->alias_of) {
        wrong(c, "check-alias", name_of(c, i), "it is an alias that was not declared");
        return 0;
    }
    const xpu_memplan_alias *alias = &c->problem->aliases[p->alias];
    const xpu_memplan_alias *of_other =
        place_of(c, p->alias_of)->alias < c->problem->alias_count ? taken(c, p->alias_of) : NULL;
    const xpu_memplan_buffer *b = buffer_of(c, i), *other = buffer_of(c, alias->other);
    const xpu_memplan_place *base = place_of(c, alias->other);
    if (p->level != base->level || p->offset != base->offset + alias->offset) {
        wrong(c, "check-alias", name_of(c, i), "it is not %" PRIu64 " bytes after the start of %s", alias->offset,
              name_of(c, alias->other));
    }
    if (b->gap_count || other->gap_count) {
        wrong(c, "check-alias", name_of(c, i), "it or %s has gaps, in which its bytes are not its own",
              name_of(c, alias->other));
    }
    if (alias->offset > other->bytes || area_of(c, i).span > other->bytes - alias->offset) {
        wrong(c, "check-alias", name_of(c, i), "it reaches out of %s", name_of(c, alias->other));
    }
    if (of_other && of_other->rows > 0) {
        wrong(c, "check-alias", name_of(c, i), "it is an alias of %s, which is laid out in rows",
              name_of(c, alias->other));
    }
    switch (alias->kind) {
    case XPU_MEMPLAN_IN_PLACE:
        if (other->last > b->first) {
            wrong(c, "check-alias", name_of(c, i), "it overwrites %s, which lives on", name_of(c, alias->other));
        }
        break;
    case XPU_MEMPLAN_PART:
        if (b->first > other->first || b->last < other->first) {
            wrong(c, "check-alias", name_of(c, i), "it does not live when %s begins", name_of(c, alias->other));
        }
        if (of_other && of_other->kind == XPU_MEMPLAN_VIEW) {
            wrong(c, "check-alias", name_of(c, i), "it writes into %s, which is a view", name_of(c, alias->other));
        }
        break;
    case XPU_MEMPLAN_VIEW:
        if (b->first < other->first || b->first > other->last) {
            wrong(c, "check-alias", name_of(c, i), "%s does not live when it begins", name_of(c, alias->other));
        }
        break;
    }
    return 1;
}

/* Aliases lead from buffer to buffer and must end somewhere. Follows every chain once. */
static int chains_end(checker *c) {
    uint32_t n = c->problem->buffer_count;
    uint32_t *walk = XPU_NEW_ARRAY(c->arena, uint32_t, n); /* the walk that passed here first, counted from 1 */
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = i; k != XPU_MEMPLAN_NONE; k = place_of(c, k)->alias_of) {
            if (walk[k] == i + 1) {
                wrong(c, "check-alias", name_of(c, i), "its aliases run in a circle");
                return 0;
            }
            if (walk[k]) break;
            walk[k] = i + 1;
        }
    }
    return 1;
}

static int check_aliases(checker *c) {
    int sound = 1;
    for (uint32_t i = 0; i < c->problem->buffer_count; i++) sound &= check_alias(c, i);
    return sound && chains_end(c);
}

/* For every buffer: the buffer whose data it shows (parts and views lead there), and the one whose bytes it uses. */
typedef struct {
    uint32_t *data, *storage;
} owners;

static owners find_owners(checker *c) {
    uint32_t n = c->problem->buffer_count;
    owners o = {XPU_NEW_ARRAY(c->arena, uint32_t, n), XPU_NEW_ARRAY(c->arena, uint32_t, n)};
    uint32_t *stack = XPU_NEW_ARRAY(c->arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) o.data[i] = o.storage[i] = XPU_MEMPLAN_NONE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t depth = 0;
        for (uint32_t k = i; k != XPU_MEMPLAN_NONE && o.storage[k] == XPU_MEMPLAN_NONE; k = place_of(c, k)->alias_of) {
            stack[depth++] = k;
        }
        while (depth > 0) {
            uint32_t k = stack[--depth];
            const xpu_memplan_alias *alias = taken(c, k);
            o.storage[k] = alias ? o.storage[alias->other] : k;
            o.data[k] = alias && alias->kind != XPU_MEMPLAN_IN_PLACE ? o.data[alias->other] : k;
        }
    }
    return o;
}

static int areas_share_bytes(const area *a, const area *b) {
    if (a->row_bytes == 0 || b->row_bytes == 0) return 0;
    if (a->start >= b->start + b->span || b->start >= a->start + a->span) return 0;
    if (a->rows == 1 && b->rows == 1) return 1;
    if (a->rows > 1 && b->rows > 1 && a->pitch != b->pitch) return 1; /* not told apart */
    /* Both repeat with one pitch, so compare where their rows begin modulo the pitch. */
    uint64_t pitch = a->rows > 1 ? a->pitch : b->pitch;
    uint64_t at_a = a->start % pitch, at_b = b->start % pitch;
    if (a->row_bytes >= pitch || b->row_bytes >= pitch) return 1;
    uint64_t a_to_b = (at_b + pitch - at_a) % pitch, b_to_a = (at_a + pitch - at_b) % pitch;
    return a_to_b < a->row_bytes || b_to_a < b->row_bytes;
}

/* Whether `late` overwrites `early` in place, at the one step at which both live. */
static int is_overwritten(const checker *c, const owners *o, uint32_t early, uint32_t late) {
    uint32_t writer = o->data[late];
    const xpu_memplan_alias *alias = taken(c, writer);
    return alias && alias->kind == XPU_MEMPLAN_IN_PLACE && o->data[alias->other] == o->data[early] &&
           buffer_of(c, early)->last == buffer_of(c, writer)->first &&
           buffer_of(c, late)->first == buffer_of(c, writer)->first;
}

static int may_share(const checker *c, const owners *o, uint32_t x, uint32_t y) {
    if (o->data[x] == o->data[y]) {
        const xpu_memplan_alias *ax = taken(c, x), *ay = taken(c, y);
        int both_parts = ax && ay && ax->kind == XPU_MEMPLAN_PART && ay->kind == XPU_MEMPLAN_PART;
        return !(both_parts && ax->other == ay->other);
    }
    return is_overwritten(c, o, x, y) || is_overwritten(c, o, y, x);
}

typedef struct {
    uint32_t x, y;
} overlap;

typedef struct {
    checker *c;
    const owners *o;
    XPU_ARRAY(overlap) found;
} overlaps;

/* Of all buffers. */
static uint32_t all_gaps(const checker *c) {
    uint32_t gaps = 0;
    for (uint32_t i = 0; i < c->problem->buffer_count; i++) gaps += buffer_of(c, i)->gap_count;
    return gaps;
}

static int note_overlap(void *context, uint32_t a, uint32_t b) {
    overlaps *all = context;
    area x = area_of(all->c, a), y = area_of(all->c, b);
    if (!areas_share_bytes(&x, &y) || may_share(all->c, all->o, a, b)) return 0;
    int a_first = x.start != y.start ? x.start < y.start : a < b;
    overlap found = a_first ? (overlap){a, b} : (overlap){b, a};
    XPU_PUSH(all->c->arena, &all->found, found);
    return all->found.count > MAX_REPORTED;
}

static int compare_overlaps(const void *a, const void *b) {
    const overlap *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return p->y < q->y ? -1 : p->y > q->y;
}

/* Every two buffers whose lives meet and whose bytes meet need an alias that allows it. There is a box for each time
 * between the gaps of a buffer. */
static void check_overlaps(checker *c, const owners *o) {
    uint32_t n = c->problem->buffer_count;
    xpu_memplan_box *boxes = XPU_NEW_ARRAY(c->arena, xpu_memplan_box, n + all_gaps(c));
    overlaps all = {.c = c, .o = o};
    for (uint32_t level = 0; level < c->problem->level_count; level++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (place_of(c, i)->level != level) continue;
            const xpu_memplan_buffer *b = buffer_of(c, i);
            area where = area_of(c, i);
            uint32_t begins = b->first;
            for (uint32_t k = 0; k < b->gap_count; k++) {
                boxes[count++] =
                    (xpu_memplan_box){begins, b->gaps[k].first - 1, where.start, where.start + where.span, i};
                begins = b->gaps[k].last + 1;
            }
            boxes[count++] = (xpu_memplan_box){begins, b->last, where.start, where.start + where.span, i};
        }
        xpu_memplan_meetings(c->arena, boxes, count, note_overlap, &all);
    }
    if (all.found.count) qsort(all.found.items, all.found.count, sizeof *all.found.items, compare_overlaps);
    for (uint32_t i = 0; i < all.found.count; i++) {
        if (i && compare_overlaps(&all.found.items[i], &all.found.items[i - 1]) == 0) continue; /* between other gaps */
        wrong(c, "check-overlap", name_of(c, all.found.items[i].x), "it shares bytes with %s while both live",
              name_of(c, all.found.items[i].y));
    }
}

/* Whether the buffer begins where the rule says, as far as it says more than the level. */
static int begins_there(const checker *c, uint32_t i, const xpu_memplan_rule *rule) {
    const xpu_memplan_level *level = &c->problem->levels[rule->level];
    uint64_t offset = place_of(c, i)->offset;
    if (rule->has_offset && rule->offset != offset) return 0;
    if (!rule->has_bank) return 1;
    uint64_t bank = 0, line = offset / level->bank_bytes;
    for (uint32_t field = 0; field < level->bank_fields; field++) {
        bank ^= line & (level->banks - 1);
        line /= level->banks;
    }
    return bank == rule->bank;
}

static void check_rules(checker *c) {
    for (uint32_t i = 0; i < c->problem->match_count; i++) {
        const xpu_memplan_match *match = &c->problem->matches[i];
        const xpu_memplan_rule *rule = &c->problem->rules[match->rule];
        int there = place_of(c, match->buffer)->level == rule->level && begins_there(c, match->buffer, rule);
        if ((rule->strength == XPU_MEMPLAN_MUST && !there) || (rule->strength == XPU_MEMPLAN_NEVER && there)) {
            wrong(c, "check-rule", name_of(c, match->buffer), "it breaks %s", rule->text);
        }
    }
}

typedef struct {
    uint64_t step;
    uint64_t begins, ends; /* bytes */
} change;

static int compare_changes(const void *a, const void *b) {
    const change *x = a, *y = b;
    return x->step < y->step ? -1 : x->step > y->step;
}

/* The most bytes that live at one step in a level: storage counts from the first to the last step of all who use it,
 * less the gaps of one that uses it alone. */
static uint64_t most_live(checker *c, const uint32_t *first, const uint32_t *last, const owners *o, uint32_t level) {
    uint32_t n = c->problem->buffer_count, count = 0;
    uint64_t reserved = c->problem->levels[level].reserved, live = 0, most = 0;
    change *changes = XPU_NEW_ARRAY(c->arena, change, 2 * ((size_t)n + all_gaps(c)));
    for (uint32_t i = 0; i < n; i++) {
        if (o->storage[i] != i || place_of(c, i)->level != level) continue;
        uint64_t start = place_of(c, i)->offset, end = start + buffer_of(c, i)->bytes;
        uint64_t bytes = end <= reserved ? 0 : end - (start > reserved ? start : reserved);
        changes[count++] = (change){first[i], bytes, 0};
        changes[count++] = (change){(uint64_t)last[i] + 1, 0, bytes};
        for (uint32_t k = 0; k < buffer_of(c, i)->gap_count; k++) { /* no other buffer uses its bytes then */
            changes[count++] = (change){buffer_of(c, i)->gaps[k].first, 0, bytes};
            changes[count++] = (change){(uint64_t)buffer_of(c, i)->gaps[k].last + 1, bytes, 0};
        }
    }
    if (count) qsort(changes, count, sizeof *changes, compare_changes);
    for (uint32_t i = 0; i < count; i++) {
        live += changes[i].begins;
        live -= changes[i].ends;
        int last_of_step = i + 1 == count || changes[i + 1].step != changes[i].step;
        if (last_of_step && live > most) most = live;
    }
    return most;
}

static void check_usage(checker *c, const owners *o) {
    uint32_t n = c->problem->buffer_count;
    uint32_t *first = XPU_NEW_ARRAY(c->arena, uint32_t, n), *last = XPU_NEW_ARRAY(c->arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) first[i] = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t s = o->storage[i];
        if (buffer_of(c, i)->first < first[s]) first[s] = buffer_of(c, i)->first;
        if (buffer_of(c, i)->last > last[s]) last[s] = buffer_of(c, i)->last;
    }
    for (uint32_t level = 0; level < c->problem->level_count; level++) {
        const xpu_memplan_usage *usage = &c->plan->usage[level];
        uint64_t reserved = c->problem->levels[level].reserved, peak = 0;
        uint32_t buffers = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (place_of(c, i)->level != level) continue;
            buffers++;
            uint64_t end = place_of(c, i)->offset + buffer_of(c, i)->bytes;
            int own = place_of(c, i)->alias == XPU_MEMPLAN_NONE;
            if (own && buffer_of(c, i)->bytes && end > reserved && end - reserved > peak) peak = end - reserved;
        }
        uint64_t bound = most_live(c, first, last, o, level);
        if (usage->buffers != buffers || usage->peak != peak || usage->lower_bound != bound ||
            usage->gap != peak - bound || usage->proved_bound < bound || usage->proved_bound > peak ||
            usage->capacity != c->problem->levels[level].bytes - reserved) {
            wrong(c, "check-usage", xpu_printf(c->arena, "level %" PRIu32, level),
                  "%" PRIu32 " buffers, peak %" PRIu64 " and lower bound %" PRIu64 " are reported as %" PRIu32
                  ", %" PRIu64 " and %" PRIu64,
                  buffers, peak, bound, usage->buffers, usage->peak, usage->lower_bound);
        }
    }
}

/* The level that each buffer would like best: the first prefer rule's, else the first that no rule forbids. */
static uint32_t *preferred_levels(checker *c) {
    uint32_t n = c->problem->buffer_count;
    uint32_t *rule_of = XPU_NEW_ARRAY(c->arena, uint32_t, n), *level_of = XPU_NEW_ARRAY(c->arena, uint32_t, n);
    uint8_t *forbidden = XPU_NEW_ARRAY(c->arena, uint8_t, n);
    for (uint32_t i = 0; i < n; i++) rule_of[i] = UINT32_MAX;
    for (uint32_t i = 0; i < c->problem->match_count; i++) {
        const xpu_memplan_match *match = &c->problem->matches[i];
        const xpu_memplan_rule *rule = &c->problem->rules[match->rule];
        uint8_t bit = (uint8_t)(1u << rule->level);
        if (rule->strength == XPU_MEMPLAN_MUST) forbidden[match->buffer] |= (uint8_t)~bit;
        int whole = !rule->has_offset && !rule->has_bank; /* otherwise one place of the level is forbidden */
        if (rule->strength == XPU_MEMPLAN_NEVER && whole) forbidden[match->buffer] |= bit;
        if (rule->strength == XPU_MEMPLAN_PREFER && match->rule < rule_of[match->buffer]) {
            rule_of[match->buffer] = match->rule;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        level_of[i] = XPU_MEMPLAN_NONE;
        for (uint32_t k = buffer_of(c, i)->level_count; k-- > 0;) {
            uint8_t level = buffer_of(c, i)->levels[k];
            if (!(forbidden[i] & 1u << level)) level_of[i] = level;
        }
        if (rule_of[i] != UINT32_MAX) level_of[i] = c->problem->rules[rule_of[i]].level;
    }
    return level_of;
}

static void check_spills(checker *c) {
    const uint32_t *preferred = preferred_levels(c);
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->problem->buffer_count; i++) {
        const xpu_memplan_spill *spill = at < c->plan->spill_count ? &c->plan->spills[at] : NULL;
        int reported = spill && spill->buffer == i;
        int spilled = place_of(c, i)->level != preferred[i];
        if (reported) at++;
        if (reported != spilled) {
            wrong(c, "check-spill", name_of(c, i),
                  spilled ? "it is spilled and that is not reported" : "it is reported as spilled and is not");
        } else if (reported && (spill->preferred != preferred[i] || !spill->why)) {
            wrong(c, "check-spill", name_of(c, i), "its spill is reported wrongly");
        }
    }
    if (at != c->plan->spill_count) wrong(c, "check-spill", NULL, "there are spills of no buffer, or out of order");
}

xpu_status xpu_memplan_check(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                             xpu_diags *diags) {
    checker c = {xpu_arena_new(xpu_arena_mem(arena), "check of a memory plan"), problem, plan, diags, 0};
    if (plan->buffer_count != problem->buffer_count || plan->level_count != problem->level_count) {
        wrong(&c, "check-size", NULL, "the plan has %" PRIu32 " buffers, the problem %" PRIu32, plan->buffer_count,
              problem->buffer_count);
    } else {
        check_places(&c);
        int can_follow = check_aliases(&c);
        if (c.found == 0 && can_follow) {
            owners o = find_owners(&c);
            check_overlaps(&c, &o);
            check_rules(&c);
            check_usage(&c, &o);
            check_spills(&c);
        }
    }
    xpu_status status = !c.found ? XPU_OK : plan->file ? XPU_EUSAGE : XPU_EBUG;
    xpu_arena_free(c.arena);
    return status;
}
