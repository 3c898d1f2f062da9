/*
 * Generated elementwise loops over operands that all lie in the order of the result, without gaps: no block knows of
 * rows or strides. Blocks move into LM, through the loop's body and out, operands of the next block on their way
 * meanwhile. Where the largest magnitude is wanted, the body finds it (lanes of findmax behind its operands).
 *
 * The result may lie on an operand: blocks do not overlap, and each is loaded before it is stored.
 */
#include "xpu_runtime/kernels/findmax.h"

enum { INPUTS = 6, VECTOR = 64, FINE = 8 /* blocks of each core at least, where operands come by rows */ };

struct dense {
    const struct xpu_chain_dense_args *a;
    uint32_t width, *most;             /* of a block; of findmax */
    float *in[2][INPUTS + 1], *out[2]; /* behind the operands the lanes of findmax */
};

static uint32_t elements_at(const struct dense *f, uint32_t at) {
    return min_u32(f->width, (uint32_t)f->a->count - at);
}

/* Blocks fit LM twice, with every operand; there are enough of them for all cores. */
static uint32_t choose_blocks(struct dense *f, uint32_t shares) {
    const uint32_t inputs = (uint32_t)f->a->inputs, count = (uint32_t)f->a->count;
    uint32_t available;
    float *lm = lm_floats(&available);
    f->most = (uint32_t *)lm;
    if (f->a->y_absmax) {
        lm += FINDMAX_LANES;
        available -= FINDMAX_LANES;
    }
    uint32_t room = round_down(available / (2 * (inputs + 1)), VECTOR);
    f->width = min_u32(room, round_up(quotient_up(count, shares), VECTOR));
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t i = 0; i < inputs; i++, lm += room) f->in[half][i] = lm;
        f->in[half][inputs] = (float *)f->most;
        f->out[half] = lm;
        lm += room;
    }
    return quotient_up(count, f->width);
}

/* When the elements of x[0] before `end` are there. */
static xpu_ticket row_made(const struct dense *f, uint32_t end) {
    const struct xpu_progress *p = xpu_call_progress();
    if (p->counter == XPU_NO_COUNTER) return (xpu_ticket){XPU_NO_COUNTER, 0};
    uint32_t row = (end - 1) / (uint32_t)f->a->row, rows = (uint32_t)f->a->rows;
    uint32_t image = quotient(row, rows), step = quotient(row - image * rows, p->rows) + 1;
    return (xpu_ticket){p->counter, p->base + p->signals * (image * p->steps + step)};
}

static xpu_ticket load(const struct dense *f, uint32_t at, uint32_t half) {
    const uint32_t n = elements_at(f, at), bytes = 4 * n;
    xpu_ticket ticket = xpu_load_2d_after(f->in[half][0], (int32_t)bytes, f->a->x[0] + 4 * at, (int32_t)bytes, bytes, 1,
                                          row_made(f, at + n));
    for (uint32_t i = 1; i < (uint32_t)f->a->inputs; i++) ticket = GM2LM(f->in[half][i], f->a->x[i] + 4 * at, bytes);
    return ticket;
}

/* Blocks first, first + step .. below last. */
static void run_blocks(const struct dense *f, uint32_t first, uint32_t last, uint32_t step) {
    const struct xpu_chain_dense_args *a = f->a;
    const xpu_chain_body body = xpu_call_body();
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0}, stored[2] = {loaded, loaded};
    if (first < last) loaded = load(f, first * f->width, 0);
    for (uint32_t i = first, half = 0; i < last; i += step, half ^= 1) {
        const uint32_t at = i * f->width, n = elements_at(f, at);
        xpu_ticket ready = loaded;
        if (i + step < last) loaded = load(f, at + step * f->width, half ^ 1);
        xpu_wait(ready);
        xpu_wait(stored[half]);
        body((const float *const *)f->in[half], a->c, f->out[half], n);
        stored[half] = LM2GM(a->y + 4 * at, f->out[half], 4 * n);
    }
}

/* Of few elements core 0 takes none, unless it is needed for their maximum: it prepares the next layer meanwhile, which
 * costs it as much. Where the operand comes by rows, it comes late and takes the last blocks. */
static void chain_dense_share(const void *args, uint32_t core, uint32_t cores) {
    enum { FEW = 1024 };
    struct xpu_chain_dense_args a;
    struct dense f = {.a = &a};
    uint32_t first, last, step = 1;
    copy_words(&a, args, sizeof a / 4);
    const int by_rows = xpu_call_progress()->counter != XPU_NO_COUNTER;
    if (cores > 1 && a.count <= FEW && !a.y_absmax && !by_rows) {
        if (core == 0) return;
        core--;
        cores--;
    }
    const uint32_t blocks = choose_blocks(&f, by_rows ? FINE * cores : cores);
    if (by_rows) {
        const uint32_t late = blocks * (uint32_t)a.late_share / 1000;
        first = core == 0 ? blocks - late : core - 1;
        last = core == 0 ? blocks : blocks - late;
        step = core == 0 ? 1 : cores - 1;
    } else {
        partition(core, cores, blocks, 1, &first, &last);
    }
    if (a.y_absmax) findmax_begin(f.most);
    run_blocks(&f, first, last, step);
    if (a.y_absmax) findmax_end(f.most, a.y_absmax, core, cores);
}

xpu_ticket xpu_chain_dense(const struct xpu_chain_dense_args *args, xpu_chain_body body, uint32_t layer,
                           xpu_ticket after) {
    struct xpu_progress progress;
    int by_rows = args->late_share >= 0 && core_num() > 1 && xpu_find_progress(layer - 1, args->x[0], &progress);
    if (by_rows) return xpu_run_on_cores_behind(chain_dense_share, args, body, layer, after, &progress);
    return xpu_run_on_cores_with(chain_dense_share, args, body, layer, after);
}
