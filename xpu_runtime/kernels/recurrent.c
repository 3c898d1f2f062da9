#include "xpu_runtime/kernels/recurrent.h"

#include "core/arith_rvv.h"

void recurrence_begin(struct recurrence *r, const struct xpu_recurrent_f32_args *args) {
    *r = (struct recurrence){.a = *args};
    r->gates = xa_gates_of((xa_recurrence)args->kind);
    r->directions = (uint32_t)args->directions;
    r->batch = (uint32_t)args->batch;
    r->hidden = (uint32_t)args->hidden;
    r->steps = (uint32_t)args->steps;
}

void recurrence_step(struct recurrence *r, uint32_t step) {
    int backwards = r->a.backwards || r->direction > 0;
    r->step = step;
    r->time = backwards ? r->steps - 1 - step : step;
    r->before = backwards ? r->time + 1 : r->time - 1;
}

/* ---- operands ---- */

static uint32_t floats_of(const struct recurrence *r) {
    return r->batch * r->hidden;
}

static uint32_t result_address(const struct recurrence *r, uint32_t time) {
    return r->a.y + 4 * (time * r->directions + r->direction) * floats_of(r);
}

uint32_t state_address(const struct recurrence *r) {
    return r->step > 0 ? result_address(r, r->before) : r->a.h + 4 * r->direction * floats_of(r);
}

static uint32_t unit_offset(const struct recurrence *r, const struct part *p) {
    return 4 * (p->row * r->hidden + p->unit);
}

xpu_ticket load_units(const struct recurrence *r, const struct part *p, float *to, uint32_t from) {
    uint32_t bytes = 4 * p->units;
    return xpu_load_2d(to, (int32_t)bytes, from + unit_offset(r, p), (int32_t)(4 * r->hidden), bytes, p->rows);
}

xpu_ticket store_units(const struct recurrence *r, const struct part *p, uint32_t to, const float *from) {
    uint32_t bytes = 4 * p->units;
    return xpu_store_2d(to + unit_offset(r, p), (int32_t)(4 * r->hidden), from, (int32_t)bytes, bytes, p->rows);
}

/* The gates of a row stand `hidden` apart, and so do its last and the next row's first where there is one direction. */
xpu_ticket load_inputs(const struct recurrence *r, const struct part *p, float *to) {
    uint32_t columns = r->gates * r->hidden, bytes = 4 * p->units, calls = r->directions > 1 ? p->rows : 1;
    uint32_t row = ((r->time * r->batch + p->row) * r->directions + r->direction) * columns + p->unit;
    xpu_ticket done = {XPU_COUNTER_CALL, 0};
    for (uint32_t i = 0; i < calls; i++, row += r->directions * columns, to += r->gates * p->units) {
        done = xpu_load_2d(to, (int32_t)bytes, r->a.x + 4 * row, (int32_t)(4 * r->hidden), bytes,
                           r->gates * (calls > 1 ? 1 : p->rows));
    }
    return done;
}

void load_biases(const struct recurrence *r, const struct part *p, float *to) {
    uint32_t bytes = 4 * p->units, from = r->a.bias + 4 * (r->direction * r->gates * r->hidden + p->unit);
    if (!r->a.bias)
        clear_words(to, r->gates * p->units);
    else
        xpu_wait(xpu_load_2d(to, (int32_t)bytes, from, (int32_t)(4 * r->hidden), bytes, r->gates));
}

void start_sums(const struct recurrence *r, const struct part *p, float *z, const float *biases) {
    uint32_t columns = r->gates * p->units;
    for (uint32_t row = 0; row < p->rows; row++) {
        const float *from = biases;
        for (uint32_t left = columns; left > 0;) {
            size_t vl = __riscv_vsetvl_e32m4(left);
            __riscv_vse32_v_f32m4(z, __riscv_vle32_v_f32m4(from, vl), vl);
            left -= (uint32_t)vl, z += vl, from += vl;
        }
    }
}

void load_state(const struct recurrence *r, const struct part *p, float *state) {
    uint32_t from = r->a.kind == XA_LSTM ? r->a.c : r->a.kind == XA_GRU ? r->a.h : 0;
    if (from)
        xpu_wait(load_units(r, p, state, from + 4 * r->direction * floats_of(r)));
    else
        clear_words(state, p->rows * p->units);
}

/* ---- gates ---- */

#define LOAD(from)  __riscv_vle32_v_f32m4(from, vl)
#define GATE(i)     xv_add(LOAD(z + (i) * units), LOAD(x + (i) * units), vl)
#define SIGMOID(v)  xv_sigmoid(v, vl)
#define TANH(v)     xv_tanh(v, vl)
#define KEEP(to, v) __riscv_vse32_v_f32m4(to, v, vl)

static void lstm_row(const float *z, const float *x, float *cells, float *h, uint32_t units) {
    for (uint32_t left = units; left > 0;) {
        size_t vl = __riscv_vsetvl_e32m4(left);
        vfloat32m4_t added = xv_mul(SIGMOID(GATE(0)), TANH(GATE(3)), vl);
        vfloat32m4_t now = xv_add(xv_mul(SIGMOID(GATE(2)), LOAD(cells), vl), added, vl);
        KEEP(cells, now);
        KEEP(h, xv_mul(SIGMOID(GATE(1)), TANH(now), vl));
        left -= (uint32_t)vl, z += vl, x += vl, cells += vl, h += vl;
    }
}

static void gru_row(const float *z, const float *x, const float *before, float *h, uint32_t units) {
    for (uint32_t left = units; left > 0;) {
        size_t vl = __riscv_vsetvl_e32m4(left);
        vfloat32m4_t now = xv_mul(SIGMOID(GATE(1)), LOAD(z + 2 * units), vl);
        now = TANH(xv_add(now, LOAD(x + 2 * units), vl));
        vfloat32m4_t update = SIGMOID(GATE(0));
        now = xv_mul(__riscv_vfrsub_vf_f32m4(update, 1.0f, vl), now, vl);
        KEEP(h, xv_add(now, xv_mul(update, LOAD(before), vl), vl));
        left -= (uint32_t)vl, z += vl, x += vl, before += vl, h += vl;
    }
}

static void rnn_row(const float *z, const float *x, float *h, uint32_t units) {
    for (uint32_t left = units; left > 0;) {
        size_t vl = __riscv_vsetvl_e32m4(left);
        KEEP(h, TANH(GATE(0)));
        left -= (uint32_t)vl, z += vl, x += vl, h += vl;
    }
}

void run_gates(const struct recurrence *r, const struct part *p, const float *z, const float *x, float *state,
               float *h) {
    uint32_t units = p->units, columns = r->gates * units;
    for (uint32_t row = 0; row < p->rows; row++, z += columns, x += columns, state += units, h += units) {
        if (r->a.kind == XA_LSTM)
            lstm_row(z, x, state, h, units);
        else if (r->a.kind == XA_GRU)
            gru_row(z, x, state, h, units);
        else
            rnn_row(z, x, h, units);
    }
}
