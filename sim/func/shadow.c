#include "sim/func/shadow.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096, WORD = 4, PAGE_WORDS = PAGE_BYTES / WORD, PAGES = 1 << 20 };

/* Values of `write` and `read` that are no tags: an index into the splits, an index into the sets. */
#define KIND(x)  ((x) >> XPU_TAG_AGENT)
#define IS_SET   62u
#define IS_SPLIT 63u
#define INDEX(x) ((uint32_t)(x))

/* Who wrote and who has read since: a tag, or a set of tags. In a cell `write` may be a split. */
typedef struct {
    uint64_t write, read;
} cell;

typedef struct {
    cell bytes[WORD];
} split;

struct xpu_shadow {
    cell **pages;
    unsigned agents;
    xpu_shadow_race *race;
    void *context;
    uint64_t *sets; /* `agents` tags each; they never change, so cells share them */
    size_t set_count, set_capacity;
    split *splits;
    size_t split_count, split_capacity;
    uint32_t free_split; /* + 1; 0: none */
    int failed;
};

xpu_shadow *xpu_shadow_new(unsigned agents, xpu_shadow_race *race, void *context) {
    xpu_shadow *shadow = calloc(1, sizeof *shadow);
    if (!shadow) return NULL;
    shadow->pages = calloc(PAGES, sizeof *shadow->pages);
    shadow->agents = agents;
    shadow->race = race;
    shadow->context = context;
    if (shadow->pages) return shadow;
    free(shadow);
    return NULL;
}

void xpu_shadow_clear(xpu_shadow *shadow) {
    for (uint32_t i = 0; i < PAGES; i++) {
        if (!shadow->pages[i]) continue;
        free(shadow->pages[i]);
        shadow->pages[i] = NULL;
    }
    shadow->set_count = shadow->split_count = 0;
    shadow->free_split = 0;
    shadow->failed = 0;
}

void xpu_shadow_free(xpu_shadow *shadow) {
    if (!shadow) return;
    xpu_shadow_clear(shadow);
    free(shadow->pages);
    free(shadow->sets);
    free(shadow->splits);
    free(shadow);
}

int xpu_shadow_failed(const xpu_shadow *shadow) {
    return shadow->failed;
}

/* ---- Order ---- */

static int same_epoch(uint64_t a, uint64_t b) {
    return (a ^ b) >> XPU_TAG_EPOCH == 0;
}

static int same_agent(uint64_t a, uint64_t b) {
    return (a ^ b) >> XPU_TAG_AGENT == 0;
}

static int in_clock(const xpu_shadow_access *now, uint64_t before) {
    return xpu_tag_epoch(before) <= now->clock[xpu_tag_agent(before)];
}

/* Whether `before` is ordered before now. */
static int is_ordered(const xpu_shadow_access *now, uint64_t before, int writes) {
    if (before == 0 || in_clock(now, before) || same_epoch(before, now->tag)) return 1;
    if (!same_agent(before, now->tag)) return 0;
    if (now->write) return writes || xpu_tag_epoch(before) <= now->own_reads;
    return !now->overlaps;
}

static void check(const xpu_shadow *s, const xpu_shadow_access *now, uint64_t before, int writes, uint32_t address) {
    if (!is_ordered(now, before, writes)) s->race(s->context, before, writes, now, address);
}

static void check_readers(const xpu_shadow *s, const xpu_shadow_access *now, uint64_t read, uint32_t address) {
    if (KIND(read) != IS_SET) {
        check(s, now, read, 0, address);
        return;
    }
    const uint64_t *tags = s->sets + (size_t)INDEX(read) * s->agents;
    for (unsigned i = 0; i < s->agents; i++) check(s, now, tags[i], 0, address);
}

/* ---- Sets of readers ---- */

/* Whoever is ordered behind this access is ordered behind `before`, too. */
static int replaces(const xpu_shadow_access *now, uint64_t before) {
    return before == 0 || same_agent(before, now->tag) || in_clock(now, before);
}

/* The readers `read` and the one of now; a set is made only if there are two or more. */
static uint64_t with_reader(xpu_shadow *s, const xpu_shadow_access *now, uint64_t read) {
    unsigned me = xpu_tag_agent(now->tag), kept = 0;
    if (KIND(read) != IS_SET && replaces(now, read)) return same_epoch(read, now->tag) ? read : now->tag;
    if (KIND(read) == IS_SET && same_epoch(s->sets[(size_t)INDEX(read) * s->agents + me], now->tag)) return read;
    if (s->set_count == s->set_capacity) {
        size_t capacity = s->set_capacity ? 2 * s->set_capacity : 256;
        uint64_t *grown = realloc(s->sets, capacity * s->agents * sizeof *grown);
        if (!grown) {
            s->failed = 1;
            return now->tag;
        }
        s->sets = grown;
        s->set_capacity = capacity;
    }
    uint64_t *to = s->sets + s->set_count * s->agents;
    memset(to, 0, s->agents * sizeof *to);
    if (KIND(read) == IS_SET)
        memcpy(to, s->sets + (size_t)INDEX(read) * s->agents, s->agents * sizeof *to);
    else
        to[xpu_tag_agent(read)] = read;
    for (unsigned i = 0; i < s->agents; i++) {
        if (replaces(now, to[i])) to[i] = 0;
        kept += to[i] != 0;
    }
    to[me] = now->tag;
    return kept ? (uint64_t)IS_SET << XPU_TAG_AGENT | s->set_count++ : now->tag;
}

/* ---- Cells ---- */

/* A cell that is not split, or one byte of one that is. */
static void visit_one(xpu_shadow *s, const xpu_shadow_access *now, cell *c, uint32_t address) {
    check(s, now, c->write, 1, address);
    if (now->write) {
        check_readers(s, now, c->read, address);
        *c = (cell){now->tag, 0};
    } else if (now->tag) {
        c->read = with_reader(s, now, c->read);
    }
}

/* Gives every byte of a cell a cell of its own. 0: out of memory. */
static int split_cell(xpu_shadow *s, cell *c) {
    uint32_t index = s->free_split - 1;
    if (s->free_split) {
        s->free_split = (uint32_t)s->splits[index].bytes[0].write;
    } else {
        if (s->split_count == s->split_capacity) {
            size_t capacity = s->split_capacity ? 2 * s->split_capacity : 256;
            split *grown = realloc(s->splits, capacity * sizeof *grown);
            if (!grown) {
                s->failed = 1;
                return 0;
            }
            s->splits = grown;
            s->split_capacity = capacity;
        }
        index = (uint32_t)s->split_count++;
    }
    for (unsigned i = 0; i < WORD; i++) s->splits[index].bytes[i] = *c;
    *c = (cell){(uint64_t)IS_SPLIT << XPU_TAG_AGENT | index, 0};
    return 1;
}

/* `count` bytes of a word from `address` on. */
static void visit_bytes(xpu_shadow *s, const xpu_shadow_access *now, cell *c, uint32_t address, uint32_t count) {
    if (KIND(c->write) != IS_SPLIT) {
        int mine_read = same_epoch(c->read, now->tag), mine = same_epoch(c->write, now->tag) && (!c->read || mine_read);
        if (now->write ? mine : !now->tag || (mine_read && is_ordered(now, c->write, 1))) {
            check(s, now, c->write, 1, address);
            return;
        }
        if (!split_cell(s, c)) return;
    }
    uint32_t index = INDEX(c->write), at = address % WORD;
    for (uint32_t i = 0; i < count; i++) visit_one(s, now, &s->splits[index].bytes[at + i], address + i);
}

/* A word that is split, as a whole. */
static void visit_split(xpu_shadow *s, const xpu_shadow_access *now, cell *c, uint32_t address) {
    uint32_t index = INDEX(c->write);
    for (uint32_t i = 0; i < WORD; i++) visit_one(s, now, &s->splits[index].bytes[i], address + i);
    if (!now->write) return;
    s->splits[index].bytes[0].write = s->free_split;
    s->free_split = index + 1;
    *c = (cell){now->tag, 0};
}

/* Whole words; neighbours are mostly alike, so what was found of one is kept for the next. */
static void visit_words(xpu_shadow *s, const xpu_shadow_access *now, cell *c, uint32_t address, uint32_t count) {
    cell known = {0, 0};
    uint64_t becomes = now->write ? 0 : now->tag;
    for (uint32_t i = 0; i < count; i++, c++) {
        if (c->write != known.write || c->read != known.read) {
            if (KIND(c->write) == IS_SPLIT) {
                visit_split(s, now, c, address + WORD * i);
                continue;
            }
            known = *c;
            visit_one(s, now, c, address + WORD * i);
            becomes = c->read;
            continue;
        }
        if (now->write)
            *c = (cell){now->tag, 0};
        else if (now->tag)
            c->read = becomes;
    }
}

static cell *page_at(xpu_shadow *s, uint32_t address) {
    cell **page = &s->pages[address / PAGE_BYTES];
    if (!*page && !(*page = calloc(PAGE_WORDS, sizeof **page))) s->failed = 1;
    return *page;
}

void xpu_shadow_visit(xpu_shadow *s, const xpu_shadow_access *now, uint32_t address, uint64_t bytes) {
    while (bytes) {
        uint32_t here = PAGE_BYTES - address % PAGE_BYTES;
        if (here > bytes) here = (uint32_t)bytes;
        bytes -= here;
        cell *page = page_at(s, address);
        if (!page) return;
        while (here) {
            uint32_t offset = address % WORD, part;
            cell *c = page + address % PAGE_BYTES / WORD;
            if (offset || here < WORD) {
                part = here < WORD - offset ? here : WORD - offset;
                visit_bytes(s, now, c, address, part);
            } else {
                part = here / WORD * WORD;
                visit_words(s, now, c, address, part / WORD);
            }
            address += part;
            here -= part;
        }
    }
}
