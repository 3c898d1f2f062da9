/*
 * The steps of a program: ranges of layers, and between them what control flow does. Words of the plan table that
 * depend on symbols which the run finds are computed again where such a symbol is set.
 */
#ifndef XPU_CODEGEN_LOWER_STEPS_H
#define XPU_CODEGEN_LOWER_STEPS_H

#include "xpu_codegen/state.h"

enum { XPU_STEP_MOST_WORDS = 8 };

/* What a step of program.steps has besides. */
typedef struct xpu_step_control {
    const char *comment; /* the node that it is of */
    xpu_plan_word words[XPU_STEP_MOST_WORDS];
} xpu_step_control;

/* A word of the plan table that is `dim`, behind the address in term `base` where that is not -1. */
typedef struct {
    uint32_t word;
    int32_t base;
    xpu_dim dim;
} xpu_updated_word;

/* What the step that sets a symbol computes again. */
typedef struct xpu_update {
    uint32_t step;
    uint8_t *others; /* [i]: expressions have symbol i too, which the run has found before */
    XPU_ARRAY(xpu_updated_word) words;
    XPU_ARRAY(uint32_t) guards; /* that can be checked now */
} xpu_update;

/* The words behind those of the kernel calls: those of the steps, then terms, which no step changes. */
typedef struct xpu_control {
    uint32_t first_word, first_term;
    XPU_ARRAY(xpu_plan_word) terms;
    XPU_ARRAY(xpu_update) updates;
} xpu_control;

/* The layer runs next. */
void xpu_step_layer(xpu_codegen *cg, uint32_t layer);
/* Whether `layer` is the first of its range: nothing is known about which layer runs before it. */
int xpu_begins_range(const xpu_codegen *cg, uint32_t layer);
/* What comes next begins another range. Returns the index of the next step. */
uint32_t xpu_end_range(xpu_codegen *cg);
/* A step other than RUN; `comment` stays. Its words are set by xpu_step_control_of(...)->words; `middle` and `end` are
 * the caller's. */
uint32_t xpu_add_step(xpu_codegen *cg, xpu_program_step_kind kind, const char *comment);
xpu_step_control *xpu_step_control_of(xpu_codegen *cg, uint32_t step);
/* A layer has come before all others. */
void xpu_steps_behind_first(xpu_codegen *cg);
/* Adds the words of control to the plan table and finds what each symbol updates; no steps where all layers are one
 * range. */
void xpu_finish_steps(xpu_codegen *cg);
/* The index of an expression among the terms. */
uint32_t xpu_control_term(const xpu_codegen *cg, xpu_dim dim);

#endif
