/* Which results reach an operator that makes much of a small error. */
#ifndef XPU_CODEGEN_CHOOSE_SENSITIVITY_H
#define XPU_CODEGEN_CHOOSE_SENSITIVITY_H

#include "xpu_codegen/state.h"

/* The operator that a value reaches through linear ones. */
typedef struct {
    const char *what; /* "the square root"; NULL: the value reaches none */
    xpu_node node;    /* of which layer */
    int in_norm;      /* it is the sum, mean or length of a norm or softmax */
} xpu_sensitive_use;

/* By value id; scratch memory from `arena`, where the answer is, too. */
const xpu_sensitive_use *xpu_find_sensitive_uses(const xpu_codegen *cg, xpu_arena *arena);

#endif
