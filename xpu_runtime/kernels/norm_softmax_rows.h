/* Softmax over rows that fit LM. */
#ifndef XPU_KERNELS_NORM_SOFTMAX_ROWS_H
#define XPU_KERNELS_NORM_SOFTMAX_ROWS_H

#include <stdint.h>

/* `rows` dense rows of `count` floats at x, results at y. inverses: 0, or where 1 / sum of each row goes; then results
 * are not divided. */
struct softmax_rows {
    uint32_t x, y, inverses, rows, count;
};

/* Whether LM holds two rows of `count` floats. */
int softmax_rows_fit(uint32_t count);

/* This core's share of the rows. */
void softmax_rows_share(const struct softmax_rows *s, uint32_t core, uint32_t cores);

#endif
