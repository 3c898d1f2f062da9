/*
 * Placement rules, configs/memory/NAME.json:
 *     {"rules": [{"match": "layer3.*", "kind": "weight", "level": "L3", "strength": "must"},
 *                {"match": "conv1/tiles", "level": "SM", "offset": 4096, "strength": "prefer"},
 *                {"match": "conv?", "level": "SM", "bank": 0, "strength": "never"}]}
 * match: a glob over buffer names: * any run of characters ('/' and '.' too), ? one, [a-z] and [!a-z] a set, \ quotes.
 * kind: weight, activation or scratch; absent: any. level: a level's name ("SM", "L3", "GM").
 * offset: of the first byte, from the start of the level; bank: the one that the first byte lies in. Both may be
 * absent. strength: must (there or an error), prefer (there if it fits), never (anywhere else; with an offset or a
 * bank: any other place, also in this level).
 */
#ifndef XPU_MEMPLAN_RULES_H
#define XPU_MEMPLAN_RULES_H

#include "memplan/memplan.h"

typedef struct {
    const char *match;
    int kind; /* an xpu_memplan_kind, or -1 for any */
    const char *level;
    xpu_memplan_strength strength;
    int has_offset, has_bank;
    uint64_t offset;
    uint32_t bank;
    const char *text; /* for messages: rules.json:3: rule 1 ("layer3.*", weight, must be in L3) */
    int matched;      /* set by apply when it matched a buffer */
} xpu_memory_rule;

typedef struct {
    const char *file; /* for messages; NULL when there is none */
    xpu_memory_rule *items;
    uint32_t count;
    int is_of_part; /* of a part of a network */
} xpu_memory_rules;

/* Reads a rules file. Problems are XPU_EUSAGE (XPU_EIO when it cannot be read); all of them are reported. */
xpu_status xpu_memory_rules_read(xpu_arena *arena, const char *path, xpu_memory_rules *rules, xpu_diags *diags);

/* The same for text in memory; `name` stands for the file in messages. */
xpu_status xpu_memory_rules_parse(xpu_arena *arena, const char *text, size_t length, const char *name,
                                  xpu_memory_rules *rules, xpu_diags *diags);

/* Sets the problem's rules and matches (in `arena`). May be called for several problems, one after the other. A level
 * that no problem has is [rules-level], a bank that its level has not [rules-bank] (XPU_EUSAGE), with those there are.
 * `rules` must outlive the problem. */
xpu_status xpu_memory_rules_apply(xpu_arena *arena, xpu_memory_rules *rules, xpu_memplan_problem *problem,
                                  xpu_diags *diags);

/* After the last apply, for each rule that matched no buffer of it: [rules-unused], an error (XPU_EUSAGE) where the
 * rule says must, a warning otherwise; one severity milder with is_of_part. The hint is the nearest name in `problem`.
 */
xpu_status xpu_memory_rules_unused(xpu_arena *arena, const xpu_memory_rules *rules, const xpu_memplan_problem *problem,
                                   xpu_diags *diags);

/* Whether `name` matches the glob. Linear in both for one star, never worse than their product. */
int xpu_glob_match(const char *glob, const char *name);

#endif
