/* What the recurrences in float32 and on the tensor engine share: a core's units, where its operands stand, the gates.
 */
#ifndef XPU_KERNELS_RECURRENT_H
#define XPU_KERNELS_RECURRENT_H

#include "core/arith_recurrent.h"
#include "xpu_runtime/kernels/common.h"

enum { RECURRENT_LANES = 16 };

/* A layer, and the step that it is at. */
struct recurrence {
    struct xpu_recurrent_f32_args a; /* the fields of GROUP(recurrence) */
    uint32_t gates, directions, batch, hidden, steps;
    uint32_t direction, step, time, before; /* time: the step's index in x and y; before: that of the step before */
};

/* Rows of the batch and units that a core works on. */
struct part {
    uint32_t row, rows, unit, units;
};

void recurrence_begin(struct recurrence *r, const struct xpu_recurrent_f32_args *args);
/* Turns to step `step` of the direction. */
void recurrence_step(struct recurrence *r, uint32_t step);

/* Whether there is a state in front of the step, and where it stands: [batch][hidden]. */
static inline int has_state(const struct recurrence *r) {
    return r->step > 0 || r->a.h;
}
uint32_t state_address(const struct recurrence *r);

/* Loads a part of [batch][hidden] at `from`, dense. */
xpu_ticket load_units(const struct recurrence *r, const struct part *p, float *to, uint32_t from);
xpu_ticket store_units(const struct recurrence *r, const struct part *p, uint32_t to, const float *from);
/* A part of the step's operand x, as [rows][gates][units]. */
xpu_ticket load_inputs(const struct recurrence *r, const struct part *p, float *to);
/* A part of the biases, as [gates][units]; zeros without them. Waits. */
void load_biases(const struct recurrence *r, const struct part *p, float *to);
/* Every row of z becomes the biases: where there is no state. */
void start_sums(const struct recurrence *r, const struct part *p, float *z, const float *biases);
/* Before the first step: the cells of an LSTM, the state of a GRU, or 0. Waits. */
void load_state(const struct recurrence *r, const struct part *p, float *state);

/* Gates of a part: z and x are [rows][gates][units], `state` the cells of an LSTM, of a GRU the state itself, which h
 * becomes: h may lie on it. */
void run_gates(const struct recurrence *r, const struct part *p, const float *z, const float *x, float *state,
               float *h);

#endif
