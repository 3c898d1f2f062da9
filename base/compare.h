/* Two tensors element by element: which differ, by how much, and what that is as a whole. */
#ifndef XPU_BASE_COMPARE_H
#define XPU_BASE_COMPARE_H

#include "base/arena.h"
#include "base/tensor.h"

/* Elements a and b are equal when |a - b| <= relative * |b| + of_max * max|b| (over finite b), when both are NaN, and
 * when they are the same infinity. With both 0 they are equal when their bits are, or both are NaN. */
typedef struct {
    double relative, of_max;
} xpu_tolerance;

typedef struct {
    int comparable; /* same type and shape; else only this is set */
    int64_t count, differing;
    int64_t not_finite;    /* of those that differ: how many have an infinity or NaN on one side or both */
    double max_difference; /* over elements where both are finite */
    /* Where both are finite; of tensors with the same bytes they are INFINITY and 0 without a look. */
    double snr;    /* 10 * log10(sum b^2 / sum (a - b)^2); INFINITY: the differences are 0; -INFINITY: b is;
                    * NaN: there are no such elements */
    double angle;  /* 1 - cosine of a and b; NaN: one of them is 0, or there are no such elements */
    int64_t first; /* row-major index of the first one that differs; -1: none */
    double first_a, first_b;
} xpu_comparison;

xpu_comparison xpu_compare(const xpu_tensor *a, const xpu_tensor *b, const xpu_tolerance *tolerance);

/* What decides element by element; for tensors of one type and shape. */
typedef struct {
    const xpu_tensor *a, *b;
    double relative, slack;
    int exact;
} xpu_pair;
xpu_pair xpu_pair_of(const xpu_tensor *a, const xpu_tensor *b, const xpu_tolerance *tolerance);
/* Whether element `i` differs. *difference is |a - b|: NaN or infinite where one of them is, 0 where both are the same
 * infinity or NaN; exact for integers, too. */
int xpu_pair_differs(const xpu_pair *pair, int64_t i, double *difference);

/* Element `position` as a number, and as text that gives back its bits. */
double xpu_element(const xpu_tensor *tensor, int64_t position);
const char *xpu_element_text(xpu_arena *arena, const xpu_tensor *tensor, int64_t position);
/* "[0,3,1]": the index of element `position` of a tensor. */
const char *xpu_index_text(xpu_arena *arena, const xpu_tensor *tensor, int64_t position);

/* "signal to noise 52.10 dB", or why it is none: differences that are not finite are counted in it. */
const char *xpu_snr_text(xpu_arena *arena, const xpu_comparison *comparison);
/* "cosine 0.999871", "cosine 1 - 3.2e-13"; "cosine none". */
const char *xpu_cosine_text(xpu_arena *arena, const xpu_comparison *comparison);
/* "3 of 100 elements differ, by at most 0.5, 1 of them by NaN or infinity". */
const char *xpu_differing_text(xpu_arena *arena, const xpu_comparison *comparison);

#endif
