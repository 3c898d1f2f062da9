/* Reading the metadata of a program: what the files that do it share. Nothing is believed. */
#ifndef XPU_PROGRAM_DECODE_H
#define XPU_PROGRAM_DECODE_H

#include "base/name_table.h"
#include "core/ops/op.h"
#include "xpu_runtime/program/entries.h"
#include "xpu_runtime/program/metadata.h"
#include "xpu_runtime/program/program.pb-c.h"

enum {
    MAX_ITEMS = 1 << 22, /* entries of any list */
    MAX_LAYERS = 1 << 20,
    MAX_PLAN = 1 << 25,       /* words of the plan table */
    MAX_EXPRESSION = 1 << 12, /* operations of one dim expression, shared parts counted each time */
    MAX_REFERRED = 1 << 26,   /* the same, of all expressions wherever they stand: what a run evaluates */
    MAX_WALKED = 1 << 30,     /* layers times transfers: each layer of lists looks at all of them */
    MAX_DECODED = 160 << 20   /* bytes of one decoded entry */
};

typedef struct {
    xpu_arena *arena;
    const char *name;
    const char **why;
    xpu_program *program;
    xpu_graph *graph;
    xpu_dim *dims; /* by id of the file; [0] unknown */
    uint32_t dim_count, referred;
    xpu_value *values; /* by id of the file; [0] absent */
    uint32_t value_count;
    xpu_node *nodes;
    uint32_t node_count;
    xpu_message *message; /* the one that is read now */
    xpu_dim symbols[XPU_PROGRAM_MAX_SYMBOLS];
    uint32_t bounds[XPU_PROGRAM_MAX_SYMBOLS]; /* dims of the file */
    uint32_t symbol_count;
    struct decoded_block *blocks; /* bodies of control flow, in the order of their owners */
    uint32_t block_count, blocks_made;
    xpu_name_table words;
} decoder;

/* Reports and is 0, so that checks read: if (!check(...)) return 0. */
static inline int check(decoder *d, int holds, const char *why) {
    if (!holds && !*d->why) *d->why = why;
    return holds;
}

/* The same for how many of something there are. */
static inline int check_count(decoder *d, size_t count, size_t most, const char *what) {
    return count <= most ||
           check(d, 0, xpu_printf(d->arena, "it has %zu %s, at most %zu can be read", count, what, most));
}

/* ---- lists ---- */

static inline xpu_entries list_of(decoder *d, const char *name) {
    return xpu_message_list(d->message, name);
}

static const char damaged_program[] = "its section .xpu.program is damaged, or has too many entries";
static const char damaged_graph[] = "its section .xpu.graph is damaged, or has too many entries";

/* Whether all entries were read. */
static inline int ended(decoder *d, const xpu_entries *list) {
    int is_graph = list->message->descriptor == &xpu_meta__graph__descriptor;
    return check(d, !list->damaged, is_graph ? damaged_graph : damaged_program);
}

/* Texts of entries, which are gone with them: a name, and one that many entries have; NULL stays NULL. */
static inline const char *name_of(decoder *d, const char *text) {
    return xpu_strdup(d->arena, text);
}
static inline const char *word_of(decoder *d, const char *text) {
    return text ? xpu_name_keep(&d->words, text) : NULL;
}

static inline int dim_of(decoder *d, uint32_t id, xpu_dim *dim) {
    if (!check(d, id <= d->dim_count, "a dim does not exist")) return 0;
    *dim = d->dims[id];
    d->referred += xpu_dim_at(&d->graph->dims, *dim)->size;
    return check_count(d, d->referred, MAX_REFERRED, "operations in all uses of dim expressions");
}

static inline int value_of(decoder *d, uint32_t id, xpu_value *value) {
    if (!check(d, id >= 1 && id <= d->value_count, "a value does not exist")) return 0;
    *value = d->values[id];
    return 1;
}

/* The section .xpu.graph, which d->message is. */
int xpu_decode_graph(decoder *d);

#endif
