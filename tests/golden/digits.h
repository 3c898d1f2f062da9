/* The held-out digits: examples/digits/digits_heldout.npz. */
#ifndef XPU_TESTS_DIGITS_H
#define XPU_TESTS_DIGITS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/npy.h"
#include "xpu_runtime/include/xpurt.h"

enum { DIGITS = 360, DIGIT_SIZE = 16, DIGIT_PIXELS = DIGIT_SIZE * DIGIT_SIZE };

typedef struct {
    const float *x;           /* [360,1,16,16] */
    const int64_t *ort_class; /* [360] */
    const float *ort_logits;  /* [360,10] */
} digits;

static inline int digits_read(digits *d, xpu_arena *arena, xpu_diags *diags) {
    xpu_named_tensors all = {0};
    if (xpu_npz_read(arena, "examples/digits/digits_heldout.npz", &all, diags) != XPU_OK) return 0;
    for (uint32_t i = 0; i < all.count; i++) {
        const xpu_named_tensor *t = &all.items[i];
        if (strcmp(t->name, "x") == 0) d->x = t->tensor.data;
        if (strcmp(t->name, "ort_class") == 0) d->ort_class = t->tensor.data;
        if (strcmp(t->name, "ort_logits") == 0) d->ort_logits = t->tensor.data;
    }
    return d->x && d->ort_class && d->ort_logits;
}

/* Images first .. first + count - 1 as the network's input. */
static inline xpurt_tensor digits_input(const digits *d, int64_t first, int64_t count) {
    return (xpurt_tensor){.name = "x",
                          .dtype = "float32",
                          .rank = 4,
                          .dims = {count, 1, DIGIT_SIZE, DIGIT_SIZE},
                          .data = (void *)(d->x + first * DIGIT_PIXELS)};
}

static inline int64_t digits_class(const float *logits) {
    int64_t best = 0;
    for (int64_t i = 1; i < 10; i++) {
        if (logits[i] > logits[best]) best = i;
    }
    return best;
}

#endif
