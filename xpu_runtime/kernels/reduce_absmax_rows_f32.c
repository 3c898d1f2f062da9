/* The largest magnitude of rows that lie apart, some channels of each pixel of an image: each core takes a part of
 * them. */
#include "xpu_runtime/kernels/findmax.h"

struct apart {
    const struct xpu_absmax_rows_f32_args *a;
    float *lm[2];
    uint32_t width, rows, columns; /* of a block: floats of a row, rows; blocks side by side */
};

/* Blocks are counted along a row first. Returns the floats of the one at `index`. */
static uint32_t load_block(const struct apart *p, uint32_t index, uint32_t half, xpu_ticket *loaded) {
    const uint32_t down = quotient(index, p->columns), column = (index - down * p->columns) * p->width;
    const uint32_t row = down * p->rows, rows = min_u32(p->rows, (uint32_t)p->a->rows - row);
    const uint32_t width = min_u32(p->width, (uint32_t)p->a->count - column), pitch = (uint32_t)p->a->pitch;
    *loaded = xpu_load_2d(p->lm[half], (int32_t)(4 * width), p->a->x + 4 * (row * pitch + column), (int32_t)(4 * pitch),
                          4 * width, rows);
    return width * rows;
}

__attribute__((section(".text_apart"))) static void absmax_rows_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_absmax_rows_f32_args a = *(const struct xpu_absmax_rows_f32_args *)args;
    struct apart p = {.a = &a};
    uint32_t available, first, last, count = 0;
    float *lm = lm_floats(&available);
    uint32_t *lanes = (uint32_t *)lm;
    const uint32_t room = round_down((available - FINDMAX_LANES) / 2, FINDMAX_LANES);
    p.lm[0] = lm + FINDMAX_LANES;
    p.lm[1] = p.lm[0] + room;
    p.width = min_u32((uint32_t)a.count, room);
    p.columns = quotient_up((uint32_t)a.count, p.width);
    p.rows = min_u32(quotient(room, p.width), quotient_up((uint32_t)a.rows, cores));
    findmax_begin(lanes);
    partition(core, cores, quotient_up((uint32_t)a.rows, p.rows) * p.columns, 1, &first, &last);
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0};
    if (first < last) count = load_block(&p, first, 0, &loaded);
    for (uint32_t half = 0; first < last; half ^= 1, first++) {
        const uint32_t n = count;
        const xpu_ticket ready = loaded;
        if (first + 1 < last) count = load_block(&p, first + 1, half ^ 1, &loaded);
        xpu_wait(ready);
        findmax_dense(lanes, p.lm[half], n);
    }
    findmax_end(lanes, a.y, core, cores);
}

xpu_ticket xpu_absmax_rows_f32(const struct xpu_absmax_rows_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(absmax_rows_share, args, layer, after);
}
