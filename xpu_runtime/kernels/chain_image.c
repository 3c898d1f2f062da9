/*
 * Generated elementwise loops over channel-last images, some operands of which are smaller by whole factors: each of
 * their pixels stands for repeat_h x repeat_w of the result's, one pixel of an image for all of them. Pixels move into
 * LM as they lie and are spread there along a row, once for all rows that they stand for; the loop's body sees dense
 * blocks. Where the largest magnitude is wanted, the body finds it.
 *
 * The result may lie on an operand that stands in its order: blocks do not overlap, and each is loaded before it is
 * stored.
 */
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/kernels/findmax.h"

enum { INPUTS = 6, NO_SHIFT = 32 };

/* An operand that is smaller: where it is read, and what of it lies in LM. A dense one has no `raw`. */
struct level {
    uint32_t row_bytes, pixels; /* of it: of a row */
    uint32_t shift_h, shift_w;  /* the logarithms of its repeats, or NO_SHIFT */
    uint32_t from, phase,
        count;     /* of the block to come: its first pixel, for how many it stands before; pixels of it */
    uint32_t left; /* rows that its row stands for, from the block's on */
    uint32_t turn; /* raw[turn] was loaded last */
    float *raw[2], *spread;
};

struct block {
    uint32_t at, pixels;   /* of the result's */
    uint32_t is_new, turn; /* bits of inputs: pixels of raw[turn] are to be spread, from `phase` on */
    uint32_t phase[INPUTS];
};

struct image {
    const struct xpu_chain_image_args *a;
    uint32_t inputs, channels, width, columns; /* width: of a block */
    uint32_t row, column;                      /* of the block to come, in its image */
    struct level level[INPUTS];
    struct block block[2];
    float *in[2][INPUTS + 1], *out[2]; /* behind the operands the lanes of findmax */
};

/* Whether an operand stands in the result's order. One pixel may also be all of an image of one pixel: several images
 * may share it. */
static int is_dense(const struct xpu_chain_image_args *a, uint32_t i) {
    return a->repeat_h[i] == 1 && a->repeat_w[i] == 1 &&
           (a->batch == 1 || a->image[i] == a->height * a->width * a->channels);
}

static uint32_t shift_of(uint32_t repeat) {
    return repeat & (repeat - 1) ? NO_SHIFT : (uint32_t)__builtin_ctz(repeat);
}

static uint32_t divide(uint32_t a, uint32_t b, uint32_t shift) {
    if (a < b) return 0;
    return shift == NO_SHIFT ? a / b : a >> shift;
}

static uint32_t floats_of(const struct image *f, uint32_t width) {
    const struct xpu_chain_image_args *a = f->a;
    uint32_t floats = FINDMAX_LANES + xpu_image_result_floats(f->channels, width);
    for (uint32_t i = 0; i < f->inputs; i++)
        floats +=
            xpu_image_operand_floats(f->channels, width, (uint32_t)a->width, (uint32_t)a->repeat_w[i], is_dense(a, i));
    return floats;
}

/* As wide as fits LM, all alike, and enough of them for all cores where images have one row. */
static void choose_width(struct image *f, uint32_t available, uint32_t cores) {
    const uint32_t width = (uint32_t)f->a->width;
    uint32_t most = min_u32(width, quotient(available, f->channels * (f->inputs + 2)) + 1);
    while (most > 1 && floats_of(f, most) > available) most -= quotient_up(most, 16);
    if (floats_of(f, most) > available) xpu_abort(ABORT_LOCAL_MEMORY);
    f->columns = quotient_up(width, most);
    if (f->a->batch * f->a->height == 1) f->columns = min_u32(round_up(f->columns, cores), width);
    f->width = quotient_up(width, f->columns);
    /* blocks begin with a line of memory where they may */
    const uint32_t line = XPU_IMAGE_LINE >> min_u32((uint32_t)__builtin_ctz(f->channels), 4);
    if (round_up(f->width, line) <= most) f->width = round_up(f->width, line);
    f->columns = quotient_up(width, f->width);
}

static float *take(float **lm, uint32_t floats) {
    float *place = *lm;
    *lm += xpu_image_lines(floats);
    return place;
}

static void place_operands(struct image *f, float *lm) {
    const struct xpu_chain_image_args *a = f->a;
    const uint32_t block = f->width * f->channels;
    f->in[0][f->inputs] = f->in[1][f->inputs] = take(&lm, FINDMAX_LANES);
    for (uint32_t half = 0; half < 2; half++) f->out[half] = take(&lm, block);
    for (uint32_t i = 0; i < f->inputs; i++) {
        struct level *x = &f->level[i];
        const uint32_t repeat = (uint32_t)a->repeat_w[i];
        f->in[0][i] = f->in[1][i] = take(&lm, block);
        x->raw[0] = NULL;
        if (is_dense(a, i)) {
            f->in[1][i] = take(&lm, block);
            continue;
        }
        x->spread = f->in[0][i];
        x->pixels = quotient((uint32_t)a->width, repeat);
        x->row_bytes = 4 * f->channels * x->pixels;
        x->shift_h = shift_of((uint32_t)a->repeat_h[i]);
        x->shift_w = shift_of(repeat);
        x->from = x->phase = x->turn = 0;
        const uint32_t raw = f->channels * xpu_image_level_pixels(f->width, (uint32_t)a->width, repeat);
        for (uint32_t half = 0; half < 2; half++) x->raw[half] = take(&lm, raw);
    }
}

/* Where the block to come reads a level; returns whether that is elsewhere than the block before. */
static int find_level(struct image *f, uint32_t i, uint32_t image, const struct block *b) {
    const struct xpu_chain_image_args *a = f->a;
    struct level *x = &f->level[i];
    const uint32_t repeat_h = (uint32_t)a->repeat_h[i], repeat_w = (uint32_t)a->repeat_w[i];
    const uint32_t pixel = divide(f->column, repeat_w, x->shift_w), row = divide(f->row, repeat_h, x->shift_h);
    const uint32_t phase = x->pixels == 1 ? 0 : f->column - pixel * repeat_w;
    const uint32_t from = a->x[i] + 4 * ((uint32_t)a->image[i] * image + f->channels * pixel) + row * x->row_bytes;
    const int is_new = from != x->from || phase != x->phase;
    x->left = repeat_h - (f->row - row * repeat_h);
    x->count = x->pixels == 1 ? 1 : divide(phase + b->pixels - 1, repeat_w, x->shift_w) + 1;
    x->from = from;
    x->phase = phase;
    return is_new;
}

/* Blocks go down the rows of all images, then to the next columns. `index` is that of a block behind none, or behind
 * the last one in its image. */
static void find_block(struct image *f, uint32_t index, struct block *b) {
    const struct xpu_chain_image_args *a = f->a;
    const uint32_t height = (uint32_t)a->height, rows = (uint32_t)a->batch * height, width = (uint32_t)a->width;
    const uint32_t column = quotient(index, rows), at = index - column * rows, image = quotient(at, height);
    f->row = at - image * height;
    f->column = column * f->width;
    b->at = at * width + f->column;
    b->pixels = min_u32(f->width, width - f->column);
    for (uint32_t i = 0; i < f->inputs; i++) {
        if (f->level[i].raw[0] && find_level(f, i, image, b)) b->is_new |= 1u << i;
    }
}

/* The row below: what levels have for the one before stays. */
static void go_down(struct image *f, const struct block *before, struct block *b) {
    f->row++;
    b->at = before->at + (uint32_t)f->a->width;
    b->pixels = before->pixels;
    for (uint32_t i = 0; i < f->inputs; i++) {
        struct level *x = &f->level[i];
        if (!x->raw[0] || --x->left > 0) continue;
        x->left = (uint32_t)f->a->repeat_h[i];
        x->from += x->row_bytes;
        b->is_new |= 1u << i;
    }
}

/* Returns the ticket of the last load, or `ticket`. */
static xpu_ticket load(struct image *f, const struct block *before, uint32_t index, uint32_t half, xpu_ticket ticket) {
    struct block *b = &f->block[half];
    const uint32_t pixel = 4 * f->channels;
    b->is_new = b->turn = 0;
    if (before && f->row + 1 < (uint32_t)f->a->height)
        go_down(f, before, b);
    else
        find_block(f, index, b);
    for (uint32_t i = 0; i < f->inputs; i++) {
        struct level *x = &f->level[i];
        if (!x->raw[0]) {
            ticket = GM2LM(f->in[half][i], f->a->x[i] + pixel * b->at, pixel * b->pixels);
        } else if (b->is_new >> i & 1) {
            x->turn ^= 1;
            b->turn |= x->turn << i;
            b->phase[i] = x->phase;
            ticket = GM2LM(x->raw[x->turn], x->from, pixel * x->count);
        }
    }
    return ticket;
}

/* The first pixel of `from` stands for what is `left` of its `repeat`. */
static void spread_pixels(const float *from, float *to, uint32_t channels, uint32_t repeat, uint32_t left,
                          uint32_t pixels) {
    while (pixels > 0) {
        const uint32_t count = min_u32(left, pixels);
        for (uint32_t done = 0; done < channels;) {
            size_t vl = __riscv_vsetvl_e32m8(channels - done);
            vfloat32m8_t v = __riscv_vle32_v_f32m8(from + done, vl);
            float *at = to + done;
            for (uint32_t i = count; i > 0; i--, at += channels) __riscv_vse32_v_f32m8(at, v, vl);
            done += (uint32_t)vl;
        }
        from += channels;
        to += count * channels;
        pixels -= count;
        left = repeat;
    }
}

static void spread_new(struct image *f, const struct block *b) {
    for (uint32_t i = 0, bits = b->is_new; bits; i++, bits >>= 1) {
        const struct level *x = &f->level[i];
        if (!(bits & 1)) continue;
        const uint32_t repeat = (uint32_t)f->a->repeat_w[i], pixels = x->pixels == 1 ? f->width : b->pixels;
        spread_pixels(x->raw[b->turn >> i & 1], x->spread, f->channels, repeat, repeat - b->phase[i], pixels);
    }
}

static xpu_ticket store(const struct image *f, const struct block *b, const float *out) {
    const uint32_t channels = f->channels, pitch = (uint32_t)f->a->pitch, to = f->a->y + 4 * pitch * b->at;
    if (pitch == channels) return LM2GM(to, out, 4 * channels * b->pixels);
    return xpu_store_2d(to, (int32_t)(4 * pitch), out, (int32_t)(4 * channels), 4 * channels, b->pixels);
}

static void run_blocks(struct image *f, uint32_t first, uint32_t last) {
    const xpu_chain_body body = xpu_call_body();
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0}, stored[2] = {loaded, loaded};
    if (first < last) loaded = load(f, NULL, first, 0, loaded);
    for (uint32_t i = first, half = 0; i < last; i++, half ^= 1) {
        const struct block *b = &f->block[half];
        xpu_ticket ready = loaded;
        if (i + 1 < last) loaded = load(f, b, i + 1, half ^ 1, loaded);
        xpu_wait(ready);
        spread_new(f, b);
        xpu_wait(stored[half]);
        body((const float *const *)f->in[half], f->a->c, f->out[half], b->pixels * f->channels);
        stored[half] = store(f, b, f->out[half]);
    }
}

static void chain_image_share(const void *args, uint32_t core, uint32_t cores) {
    struct xpu_chain_image_args a;
    struct image f = {.a = &a};
    uint32_t first, last, available;
    copy_words(&a, args, sizeof a / 4);
    float *lm = lm_floats(&available);
    f.inputs = (uint32_t)a.inputs;
    f.channels = (uint32_t)a.channels;
    choose_width(&f, available, cores);
    place_operands(&f, lm);
    partition(core, cores, f.columns * (uint32_t)(a.batch * a.height), 1, &first, &last);
    if (a.y_absmax) findmax_begin((uint32_t *)f.in[0][f.inputs]);
    run_blocks(&f, first, last);
    if (a.y_absmax) findmax_end((const uint32_t *)f.in[0][f.inputs], a.y_absmax, core, cores);
}

xpu_ticket xpu_chain_image(const struct xpu_chain_image_args *args, xpu_chain_body body, uint32_t layer,
                           xpu_ticket after) {
    return xpu_run_on_cores_with(chain_image_share, args, body, layer, after);
}
