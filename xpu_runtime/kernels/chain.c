/*
 * The frame of generated elementwise loops: moves blocks of every input into LM, calls the loop's body, and moves the
 * result out, with inputs of the next block on their way meanwhile. A broadcast input arrives spread out, so the body
 * sees dense blocks only.
 *
 * The result may lie on an operand that stands in its order: blocks do not overlap, and each is loaded before it is
 * stored.
 */
#include "xpu_runtime/kernels/common.h"

enum { INPUTS = 6, VECTOR = 64 };

/* A block: `rows` rows (along d2) of `width` elements (along d3). */
struct block {
    uint32_t outer0, outer1, row, rows, column, width;
};

struct frame {
    const struct xpu_chain_args *a;
    uint32_t size[4];
    uint32_t address[INPUTS];
    int32_t stride[INPUTS][4];
    uint32_t inputs, rows, width, row_blocks, column_blocks;
    float *in[2][INPUTS], *out[2];
};

static void unpack(struct frame *f, const struct xpu_chain_args *a) {
    const uint32_t size[4] = {(uint32_t)a->d[0], (uint32_t)a->d[1], (uint32_t)a->d[2], (uint32_t)a->d[3]};
    f->a = a;
    f->inputs = (uint32_t)a->inputs;
    for (int i = 0; i < 4; i++) f->size[i] = size[i];
    for (int i = 0; i < INPUTS; i++) {
        f->address[i] = a->x[i];
        for (int d = 0; d < 4; d++) f->stride[i][d] = a->strides[4 * i + d];
    }
}

/* Blocks fit LM twice, with every input; there are enough of them for all cores where there is enough to do. */
static void choose_block(struct frame *f, uint32_t cores) {
    uint32_t available, all_rows = f->size[0] * f->size[1] * f->size[2];
    float *lm = lm_floats(&available);
    uint32_t room = round_down(available / (2 * (f->inputs + 1)), VECTOR);
    f->width = min_u32(f->size[3], room);
    if (all_rows < cores) {
        uint32_t share = ceil_div(f->size[3], ceil_div(cores, all_rows));
        f->width = min_u32(f->width, ceil_div(share, VECTOR) * VECTOR);
    }
    f->rows = f->width < f->size[3] ? 1 : min_u32(f->size[2], room / f->width);
    f->rows = min_u32(f->rows, ceil_div(all_rows, cores));
    f->column_blocks = ceil_div(f->size[3], f->width);
    f->row_blocks = ceil_div(f->size[2], f->rows);
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t i = 0; i < f->inputs; i++, lm += room) f->in[half][i] = lm;
        f->out[half] = lm;
        lm += room;
    }
}

static struct block block_at(const struct frame *f, uint32_t index) {
    struct block b;
    b.column = index % f->column_blocks * f->width;
    index /= f->column_blocks;
    b.row = index % f->row_blocks * f->rows;
    index /= f->row_blocks;
    b.outer1 = index % f->size[1];
    b.outer0 = index / f->size[1];
    b.rows = min_u32(f->rows, f->size[2] - b.row);
    b.width = min_u32(f->width, f->size[3] - b.column);
    return b;
}

static xpu_ticket load_block(const struct frame *f, const struct block *b, uint32_t half) {
    xpu_ticket ticket = {XPU_COUNTER_CALL, 0};
    for (uint32_t i = 0; i < f->inputs; i++) {
        const int32_t *s = f->stride[i];
        int32_t at =
            (int32_t)b->outer0 * s[0] + (int32_t)b->outer1 * s[1] + (int32_t)b->row * s[2] + (int32_t)b->column * s[3];
        uint32_t from = f->address[i] + 4 * (uint32_t)at;
        uint32_t row_bytes = s[3] ? 4 * b->width : 4;
        if (row_bytes == 4 * b->width && s[2] == (int32_t)b->width) {
            ticket = GM2LM(f->in[half][i], from, row_bytes * b->rows);
        } else {
            ticket = xpu_load_2d(f->in[half][i], (int32_t)row_bytes, from, 4 * s[2], row_bytes, b->rows);
        }
    }
    return ticket;
}

/* Spreads one value per row over the row, last row first as they lie in the same place. */
static void spread(float *values, uint32_t rows, uint32_t width) {
    for (uint32_t row = rows; row-- > 0;) {
        float value = values[row];
        for (uint32_t done = 0; done < width;) {
            size_t vl = __riscv_vsetvl_e32m4(width - done);
            __riscv_vse32_v_f32m4(values + row * width + done, __riscv_vfmv_v_f_f32m4(value, vl), vl);
            done += (uint32_t)vl;
        }
    }
}

static xpu_ticket run_block(const struct frame *f, const struct block *b, uint32_t half, xpu_chain_body body) {
    const float *in[INPUTS];
    for (uint32_t i = 0; i < f->inputs; i++) {
        in[i] = f->in[half][i];
        if (!f->stride[i][3]) spread(f->in[half][i], b->rows, b->width);
    }
    body(in, f->a->c, f->out[half], b->rows * b->width);
    uint32_t row = (b->outer0 * f->size[1] + b->outer1) * f->size[2] + b->row;
    return LM2GM(f->a->y + 4 * (row * f->size[3] + b->column), f->out[half], 4 * b->rows * b->width);
}

static void chain_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_chain_args a = *(const struct xpu_chain_args *)args;
    struct frame f;
    uint32_t first, last;
    unpack(&f, &a);
    choose_block(&f, cores);
    partition(core, cores, f.size[0] * f.size[1] * f.row_blocks * f.column_blocks, 1, &first, &last);
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0}, stored[2] = {loaded, loaded};
    struct block next = {0};
    if (first < last) {
        next = block_at(&f, first);
        loaded = load_block(&f, &next, 0);
    }
    for (uint32_t i = first, half = 0; i < last; i++, half ^= 1) {
        struct block now = next;
        xpu_ticket ready = loaded;
        if (i + 1 < last) {
            next = block_at(&f, i + 1);
            loaded = load_block(&f, &next, half ^ 1);
        }
        xpu_wait(ready);
        xpu_wait(stored[half]);
        stored[half] = run_block(&f, &now, half, xpu_call_body());
    }
}

xpu_ticket xpu_chain(const struct xpu_chain_args *args, xpu_chain_body body, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores_with(chain_share, args, body, layer, after);
}
