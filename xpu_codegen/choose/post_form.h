/*
 * Elementwise chains that one pass of the tensor engine's post-processor is (docs/chip.md, kind post), with every
 * rounding of the chain.
 */
#ifndef XPU_CODEGEN_CHOOSE_POST_FORM_H
#define XPU_CODEGEN_CHOOSE_POST_FORM_H

#include "xpu_codegen/values.h"

enum { XPU_NO_OPERAND = -1 };

/* In the order in which the post-processor computes: (x * scale + bias), then as `op`, `activation` and `branch_after`
 * say. Operands are numbers of the chain's. */
typedef struct {
    int x, scale, bias, branch;        /* XPU_NO_OPERAND: there is none */
    float factor;                      /* of all elements, where there is no scale */
    int is_product;                    /* times the branch, else plus it */
    int branch_after, clips_last;      /* the activation comes behind the branch; the result is clipped */
    int activation;                    /* XPU_ACT_* */
    float low, high, slope, ra, rb, f; /* as its parameters are called */
} xpu_post_form;

/* The operands of which an element stands for a column, in all rows or in those of an image: `is_vector`, by operand.
 * Returns whether the chain is a form; all its values are float32. */
int xpu_post_form_of(const xpu_chain *chain, const uint8_t *is_vector, xpu_post_form *form);

#endif
