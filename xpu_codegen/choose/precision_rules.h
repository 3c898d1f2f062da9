/* The user's precisions for single layers. */
#ifndef XPU_CODEGEN_CHOOSE_PRECISION_RULES_H
#define XPU_CODEGEN_CHOOSE_PRECISION_RULES_H

#include "xpu_codegen/state.h"

/* The mode's name, or NULL for no mode. */
const char *xpu_mode_name(int mode);

/* A precision of the user's for some layers. */
typedef struct {
    const char *match; /* glob over the names of layers and of the model's nodes, as in memory rules */
    xpu_precision_mode mode;
    int row_scales; /* 0: all rows of a product have one scale */
    int matched;
} xpu_precision_rule;
typedef struct xpu_precision_rules {
    const char *file;
    uint32_t count;
    xpu_precision_rule *items; /* the last that matches a node holds for it */
    int is_of_part;            /* of a part of a network */
} xpu_precision_rules;
/* Reads {"rules": [{"match": GLOB, "precision": NAME, "row_scales": BOOL}]}, the last key being optional. [json-...],
 * [rules-count], [rules-match] */
xpu_status xpu_precision_rules_read(xpu_arena *arena, const char *path, xpu_precision_rules *rules, xpu_diags *diags);
/* For each rule that matched no layer which has a choice: [rules-unused], an error (XPU_EUSAGE) where the match is a
 * name, a warning where it is a pattern; one severity milder with is_of_part. The hint is the nearest of `names`, which
 * ends with NULL. */
xpu_status xpu_precision_rules_unused(xpu_arena *arena, const xpu_precision_rules *rules, const char *const *names,
                                      xpu_diags *diags);

#endif
