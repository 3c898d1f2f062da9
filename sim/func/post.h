/* The post-processor of the tensor engine: from accumulators, or values from memory, to the output in SM. */
#ifndef XPU_SIM_FUNC_POST_H
#define XPU_SIM_FUNC_POST_H

#include "core/arith.h"
#include "sim/func/job.h"
#include "sim/func/rows.h"

enum { XPU_POST_COLUMNS = 256 }; /* columns that are prepared at a time */

typedef struct {
    const xpu_func_job *job;
    const xpu_rows *rows;
    xpu_desc_post d; /* of a tensor descriptor too: the shared fields stand at the same places */
    xpu_post_params params;
    xpu_func_box y, branch;                     /* oh, ow, columns in dimensions 0, 1, 2 of 3 */
    const uint8_t *lookup, *scale_at, *bias_at; /* NULL: none */
    float *findmax;
    float x_scale;
    uint32_t op; /* of a tensor descriptor: XPU_POST_SCALE */

    /* Of the columns first_column .. first_column + columns - 1 */
    uint32_t first_column, columns;
    float scale[XPU_POST_COLUMNS], bias[XPU_POST_COLUMNS];
} xpu_post;

/* Reads parameters and scales and checks all fields. x_limit: what absmax is divided by, 0: x has no absmax. */
int xpu_post_open(xpu_post *post, const xpu_func_job *job, int32_t x_limit);

/* Takes up to XPU_POST_COLUMNS columns from first_column on. w_limit: what w_absmax is divided by. */
int xpu_post_columns(xpu_post *post, uint32_t first_column, int32_t w_limit);

/* One pixel of these columns. Quantised mode: q holds accumulators; float mode: v holds values of float type. */
void xpu_post_quantised_row(const xpu_post *post, uint32_t row, uint32_t pixel, const int32_t *q);
void xpu_post_float_row(const xpu_post *post, uint32_t row, uint32_t pixel, const float *v);

/* Executes a descriptor of the post-processor alone. */
int xpu_func_post(const xpu_func_job *job);

#endif
