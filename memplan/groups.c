/* Aliases: which alternatives are taken, and the groups of buffers that therefore share bytes. */
#include "memplan/internal.h"

#include <string.h>

enum { MAX_MEMBERS = 4096, MAX_PIN_WORK = 1 << 26 }; /* of a group, so that a hostile problem costs little */

/* A buffer while groups grow. Buffers that hold the same data (a whole, its parts, its views) form a class; its top is
 * the one that contains the others. */
typedef struct {
    uint32_t alias;   /* taken, or NONE */
    uint32_t group;   /* the buffer at the root of its group */
    uint32_t class_;  /* the buffer at the top of its class */
    uint32_t next;    /* of the members of the group */
    uint64_t offset;  /* in the group */
    uint32_t members; /* of a root: how many there are */
} node;

typedef struct {
    const xpu_memplan_problem *problem;
    const xpu_memplan_choice *choices;
    node *nodes;
    uint32_t *mask;      /* per root: the levels that all members are allowed */
    uint64_t *alignment; /* per root: with this alignment of the root all members are aligned */
    uint32_t *pins;      /* the pinned buffers */
    uint32_t pin_count;
    uint64_t pin_work; /* how often they were looked at */
} grouping;

static const xpu_memplan_buffer *buffer_at(const grouping *g, uint32_t i) {
    return &g->problem->buffers[i];
}

static const xpu_memplan_alias *alias_of(const grouping *g, uint32_t i) {
    return g->nodes[i].alias == XPU_MEMPLAN_NONE ? NULL : &g->problem->aliases[g->nodes[i].alias];
}

/* The bytes that a buffer covers in its group. */
typedef struct {
    uint64_t offset, rows, row_bytes, pitch;
} box;

static box box_of(uint64_t offset, uint64_t bytes, const xpu_memplan_alias *alias) {
    if (!alias || alias->rows == 0) return (box){offset, 1, bytes, bytes};
    return (box){offset, alias->rows, alias->row_bytes, alias->rows == 1 ? alias->row_bytes : alias->pitch};
}

static uint64_t box_end(const box *b) {
    return b->offset + (b->rows - 1) * b->pitch + b->row_bytes;
}

static int has_rows(const xpu_memplan_alias *alias) {
    return alias && alias->rows > 0;
}

/* Whether two boxes share bytes. Boxes of different pitch that interleave count as sharing. */
static int boxes_meet(const box *a, const box *b) {
    if (a->row_bytes == 0 || b->row_bytes == 0) return 0;
    if (a->offset >= box_end(b) || b->offset >= box_end(a)) return 0;
    if (a->rows == 1 && b->rows == 1) return 1;
    if (a->rows > 1 && b->rows > 1 && a->pitch != b->pitch) return 1;
    uint64_t pitch = a->rows > 1 ? a->pitch : b->pitch;
    uint64_t from_a =
        b->offset >= a->offset ? (b->offset - a->offset) % pitch : (pitch - (a->offset - b->offset) % pitch) % pitch;
    return from_a < a->row_bytes || from_a + b->row_bytes > pitch;
}

/* Whether the class of y, whose top lies in place of a buffer of the class of x (`of_top`), begins at the very step at
 * which x is read last. */
static int overwrites(const grouping *g, uint32_t x, uint32_t class_x, uint32_t y, uint32_t class_y,
                      const xpu_memplan_alias *of_top) {
    uint32_t step = buffer_at(g, class_y)->first;
    return of_top && of_top->kind == XPU_MEMPLAN_IN_PLACE && g->nodes[of_top->other].class_ == class_x &&
           buffer_at(g, x)->last == step && buffer_at(g, y)->first == step;
}

/* An alternative under trial: the root of one group would lie in a member of another group. */
typedef struct {
    const xpu_memplan_alias *alias;
    uint64_t offset; /* of the root in the other group */
} trial;

/* The class of a member of the moving group, as it would be. */
static uint32_t trial_class(const grouping *g, const trial *t, uint32_t i) {
    uint32_t own = g->nodes[i].class_;
    int joins = own == t->alias->buffer && t->alias->kind != XPU_MEMPLAN_IN_PLACE;
    return joins ? g->nodes[t->alias->other].class_ : own;
}

/* Whether x of the moving group and y of the other one may share bytes; both live at some step. */
static int may_share(const grouping *g, const trial *t, uint32_t x, uint32_t y) {
    uint32_t class_x = trial_class(g, t, x), class_y = g->nodes[y].class_;
    const xpu_memplan_alias *of_x = x == t->alias->buffer ? t->alias : alias_of(g, x);
    const xpu_memplan_alias *of_y = alias_of(g, y);
    if (class_x == class_y) { /* the same data, unless both are parts of one whole */
        return !(of_x && of_y && of_x->kind == XPU_MEMPLAN_PART && of_y->kind == XPU_MEMPLAN_PART &&
                 of_x->other == of_y->other);
    }
    const xpu_memplan_alias *top_x = class_x == t->alias->buffer ? t->alias : alias_of(g, class_x);
    const xpu_memplan_alias *top_y = alias_of(g, class_y);
    return overwrites(g, y, class_y, x, class_x, top_x) || overwrites(g, x, class_x, y, class_y, top_y);
}

static int members_agree(const grouping *g, const trial *t) {
    uint32_t other_root = g->nodes[t->alias->other].group;
    for (uint32_t x = t->alias->buffer; x != XPU_MEMPLAN_NONE; x = g->nodes[x].next) {
        const xpu_memplan_buffer *bx = buffer_at(g, x);
        box box_x =
            box_of(t->offset + g->nodes[x].offset, bx->bytes, x == t->alias->buffer ? t->alias : alias_of(g, x));
        for (uint32_t y = other_root; y != XPU_MEMPLAN_NONE; y = g->nodes[y].next) {
            const xpu_memplan_buffer *by = buffer_at(g, y);
            if (bx->first > by->last || by->first > bx->last) continue;
            box box_y = box_of(g->nodes[y].offset, by->bytes, alias_of(g, y));
            if (boxes_meet(&box_x, &box_y) && !may_share(g, t, x, y)) return 0;
        }
    }
    return 1;
}

/* Whether the bytes of a pinned root stay its own while the moving group lives, which may be longer. */
static int pin_stays_free(grouping *g, uint32_t root, uint32_t moving) {
    const xpu_memplan_buffer *pin = buffer_at(g, root);
    uint32_t first = UINT32_MAX, last = 0;
    for (uint32_t x = moving; x != XPU_MEMPLAN_NONE; x = g->nodes[x].next) {
        if (buffer_at(g, x)->first < first) first = buffer_at(g, x)->first;
        if (buffer_at(g, x)->last > last) last = buffer_at(g, x)->last;
    }
    g->pin_work += g->pin_count;
    for (uint32_t i = 0; i < g->pin_count && g->pin_work < MAX_PIN_WORK; i++) {
        const xpu_memplan_buffer *other = buffer_at(g, g->pins[i]);
        uint32_t begins = other->first, ends = other->last;
        for (uint32_t x = g->nodes[g->pins[i]].next; x != XPU_MEMPLAN_NONE; x = g->nodes[x].next) {
            if (buffer_at(g, x)->first < begins) begins = buffer_at(g, x)->first;
            if (buffer_at(g, x)->last > ends) ends = buffer_at(g, x)->last;
        }
        if (g->pins[i] == root || other->levels[0] != pin->levels[0]) continue;
        if (begins > last || ends < first) continue;
        if (other->pinned_offset < pin->pinned_offset + pin->bytes &&
            pin->pinned_offset < other->pinned_offset + other->bytes)
            return 0;
    }
    return g->pin_work < MAX_PIN_WORK;
}

/* Whether the alternative is possible at all: kinds, levels, sizes, alignment. */
static int is_possible(grouping *g, const xpu_memplan_alias *alias) {
    uint32_t root = g->nodes[alias->other].group;
    const xpu_memplan_buffer *buffer = buffer_at(g, alias->buffer), *other = buffer_at(g, alias->other);
    const xpu_memplan_alias *of_other = alias_of(g, alias->other);
    if (buffer->pinned || root == alias->buffer) return 0; /* the latter would be a circle */
    if (buffer->gap_count || other->gap_count) return 0;   /* in a gap its bytes are anybody's */
    if (g->choices[alias->buffer].places) return 0;        /* its place is its own */
    if (has_rows(of_other) || (has_rows(alias) && g->nodes[alias->buffer].members > 1)) return 0;
    if (alias->kind == XPU_MEMPLAN_PART && of_other && of_other->kind == XPU_MEMPLAN_VIEW) return 0;
    if (!(g->mask[alias->buffer] & g->mask[root])) return 0;
    if (g->nodes[alias->buffer].members + g->nodes[root].members > MAX_MEMBERS) return 0;
    if (alias->kind == XPU_MEMPLAN_IN_PLACE) {
        if (other->last > buffer->first) return 0;
        if (alias->offset > other->bytes || buffer->bytes > other->bytes - alias->offset) return 0;
        if (buffer->bytes < buffer_at(g, root)->bytes / 2) return 0; /* would keep more bytes than it saves */
        if (g->choices[alias->buffer].order[0] != g->choices[alias->other].order[0]) return 0;
    }
    uint64_t offset = g->nodes[alias->other].offset + alias->offset, alignment = g->alignment[alias->buffer];
    uint64_t base = buffer_at(g, root)->pinned ? buffer_at(g, root)->pinned_offset : 0;
    if ((base + offset) % alignment) return 0;
    return !buffer_at(g, root)->pinned || pin_stays_free(g, root, alias->buffer);
}

/* A view is never written, so nothing that is one may have parts. */
static int parts_stay_writable(const grouping *g, const xpu_memplan_alias *alias) {
    if (alias->kind != XPU_MEMPLAN_VIEW) return 1;
    for (uint32_t x = g->nodes[alias->buffer].next; x != XPU_MEMPLAN_NONE; x = g->nodes[x].next) {
        const xpu_memplan_alias *of_x = alias_of(g, x);
        if (of_x->kind == XPU_MEMPLAN_PART && of_x->other == alias->buffer) return 0;
    }
    return 1;
}

/* Moves the group of alias->buffer, whose root that is, into the group of alias->other. */
static void merge(grouping *g, const trial *t) {
    const xpu_memplan_alias *alias = t->alias;
    uint32_t root = g->nodes[alias->other].group, tail = alias->buffer;
    for (uint32_t x = alias->buffer; x != XPU_MEMPLAN_NONE; x = g->nodes[x].next) {
        g->nodes[x].class_ = trial_class(g, t, x);
        g->nodes[x].group = root;
        g->nodes[x].offset += t->offset;
        tail = x;
    }
    g->nodes[tail].next = g->nodes[root].next;
    g->nodes[root].next = alias->buffer;
    g->nodes[root].members += g->nodes[alias->buffer].members;
    g->nodes[alias->buffer].alias = (uint32_t)(alias - g->problem->aliases);
    g->mask[root] &= g->mask[alias->buffer];
    if (g->alignment[alias->buffer] > g->alignment[root]) g->alignment[root] = g->alignment[alias->buffer];
}

static void take_aliases(xpu_arena *arena, grouping *g, xpu_memplan_alias_mode mode) {
    const xpu_memplan_problem *problem = g->problem;
    uint32_t n = problem->buffer_count;
    uint32_t *start = XPU_NEW_ARRAY(arena, uint32_t, n + 1);
    uint32_t *by_buffer = XPU_NEW_ARRAY(arena, uint32_t, problem->alias_count);
    for (uint32_t i = 0; i < problem->alias_count; i++) start[problem->aliases[i].buffer + 1]++;
    for (uint32_t i = 0; i < n; i++) start[i + 1] += start[i];
    uint32_t *fill = xpu_copy(arena, start, (n + 1) * sizeof *start);
    for (uint32_t i = 0; i < problem->alias_count; i++) by_buffer[fill[problem->aliases[i].buffer]++] = i;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = start[i]; k < start[i + 1] && g->nodes[i].alias == XPU_MEMPLAN_NONE; k++) {
            const xpu_memplan_alias *alias = &problem->aliases[by_buffer[k]];
            if (mode == XPU_MEMPLAN_NO_PARTS && alias->kind == XPU_MEMPLAN_PART) continue;
            if (!is_possible(g, alias) || !parts_stay_writable(g, alias)) continue;
            trial t = {alias, g->nodes[alias->other].offset + alias->offset};
            if (members_agree(g, &t)) merge(g, &t);
        }
    }
}

static void finish_group(const grouping *g, uint32_t root, xpu_memplan_group *group) {
    const xpu_memplan_buffer *buffer = buffer_at(g, root);
    *group = (xpu_memplan_group){.root = root,
                                 .life = xpu_memplan_life_of(buffer),
                                 .bytes = buffer->bytes,
                                 .alignment = g->alignment[root],
                                 .offset = buffer->pinned_offset};
    uint32_t leader = root; /* the member whose accesses count most chooses the order of levels */
    uint64_t most = 0;
    for (uint32_t x = root; x != XPU_MEMPLAN_NONE; x = g->nodes[x].next) {
        const xpu_memplan_buffer *bx = buffer_at(g, x);
        uint64_t access = bx->access_bytes ? bx->access_bytes : 2 * bx->bytes;
        if (access > XPU_MEMPLAN_MAX_BYTES) access = XPU_MEMPLAN_MAX_BYTES;
        if (access > most) most = access, leader = x;
        group->access_bytes += access;
        if (bx->first < group->life.first) group->life.first = bx->first;
        if (bx->last > group->life.last) group->life.last = bx->last;
    }
    group->window = xpu_memplan_window_of(g->problem, &g->choices[root], group->alignment);
    if (group->window.count > 1 && !buffer->pinned) {
        group->bytes += group->window.step * (group->window.count - 1);
        group->alignment = group->window.alignment;
    }
    const xpu_memplan_choice *choice = &g->choices[leader];
    for (uint32_t i = 0; i < choice->order_count; i++) {
        if (g->mask[root] & 1u << choice->order[i]) group->order[group->order_count++] = choice->order[i];
    }
}

void xpu_memplan_group_buffers(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan_choice *choices,
                               xpu_memplan_alias_mode mode, xpu_memplan_groups *groups) {
    uint32_t n = problem->buffer_count;
    grouping g = {.problem = problem,
                  .choices = choices,
                  .nodes = XPU_NEW_ARRAY(arena, node, n),
                  .mask = XPU_NEW_ARRAY(arena, uint32_t, n),
                  .alignment = XPU_NEW_ARRAY(arena, uint64_t, n),
                  .pins = XPU_NEW_ARRAY(arena, uint32_t, n)};
    for (uint32_t i = 0; i < n; i++) {
        if (problem->buffers[i].pinned) g.pins[g.pin_count++] = i;
        g.nodes[i] = (node){XPU_MEMPLAN_NONE, i, i, XPU_MEMPLAN_NONE, 0, 1};
        g.mask[i] = choices[i].mask;
        g.alignment[i] = xpu_memplan_alignment(problem->buffers[i].alignment);
    }
    if (mode != XPU_MEMPLAN_NO_ALIASES) take_aliases(arena, &g, mode);
    groups->items = XPU_NEW_ARRAY(arena, xpu_memplan_group, n);
    groups->count = 0;
    groups->group_of = XPU_NEW_ARRAY(arena, uint32_t, n);
    groups->alias = XPU_NEW_ARRAY(arena, uint32_t, n);
    groups->delta = XPU_NEW_ARRAY(arena, uint64_t, n);
    for (uint32_t i = 0; i < n; i++) {
        if (g.nodes[i].group != i) continue;
        for (uint32_t x = i; x != XPU_MEMPLAN_NONE; x = g.nodes[x].next) groups->group_of[x] = groups->count;
        finish_group(&g, i, &groups->items[groups->count++]);
    }
    for (uint32_t i = 0; i < n; i++) {
        groups->alias[i] = g.nodes[i].alias;
        groups->delta[i] = g.nodes[i].offset;
    }
}
