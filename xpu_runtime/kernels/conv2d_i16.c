/*
 * Convolution on the tensor engine: float32 images with 16x16 operands, and quantised images with 8x8 operands.
 *
 * For each tile of output pixels and each column tile of output channels, the chunks of input channels are accumulated
 * one after the other; the last one drains through the post-processor. A step is one chunk: its loads (DMA0), one
 * tensor descriptor, and behind a drain a store (DMA1). Inputs, weights, scales, branch and results each have two
 * buffers in SM, so the loads of a step run while the step before computes and an earlier result is stored.
 */
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/kernels/common.h"

enum { SLOTS = 3, LOADS = 5 };

/* The descriptors of one step; they may be written again once everything queued with them is done. */
struct slot {
    uint32_t load[LOADS][XPU_DESC_WORDS];
    uint32_t tensor[XPU_DESC_WORDS];
    uint32_t store[XPU_DESC_WORDS];
    xpu_ticket computed, stored;
};
static struct slot slots[SLOTS];

/* One of a pair of buffers, and the ticket after which it may be overwritten. */
struct pair {
    uint32_t address[2];
    xpu_ticket free[2];
    uint32_t now;
};

/* What the two kernels differ in; sizes are bytes of an element. */
struct format {
    xpu_tiling_format sizes;
    uint32_t x_type, x_bytes; /* of the image in memory; its tile in SM has sizes.operand */
    uint32_t y_type, branch_type;
    uint32_t mode, post_mode, x_unsigned, w_unsigned;
    int32_t x_zero, w_zero;
};

struct work {
    const struct xpu_conv2d_i16_args *a;
    const struct format *f;
    uint32_t layer;
    int32_t columns;
    struct pair x, w, y, branch, scale, bias;
    uint32_t params;
    uint32_t steps; /* so far */
    struct slot *slot;
    uint32_t loads;                      /* descriptors in the slot's list */
    xpu_ticket loaded, computed, stored; /* of what was queued last */
};

/* A tile of output pixels and the input that it reads. */
struct tile {
    int32_t image, oh, ow, rows, columns;           /* output */
    int32_t ih, iw, in_rows, in_columns, top, left; /* input: first row and column, what is outside before them */
};

/* Input channels and columns of a step. */
struct chunk {
    int32_t column_tile, first_out, outs; /* output channels */
    int32_t c, channels;                  /* input channels */
    uint32_t w;                           /* address of the block of weights */
    int first, last;
};

static struct pair make_pair(uint32_t base, uint32_t offset, uint32_t bytes) {
    xpu_ticket none = {XPU_NO_COUNTER, 0};
    return (struct pair){{base + offset, base + offset + bytes}, {none, none}, 1};
}

/* Turns to the other buffer; returns its address. */
static uint32_t flip(struct pair *p) {
    p->now ^= 1;
    return p->address[p->now];
}

/* Adds a copy to the step's loads. Sizes and strides of the three inner dims; from and to in elements of the types. */
static void add_load(struct work *k, const struct pair *to, xpu_desc_copy copy) {
    xpu_ticket free = to->free[to->now];
    copy.layer = k->layer;
    copy.wait0 = free.counter;
    copy.wait0_value = free.value;
    copy.wait1 = XPU_NO_COUNTER;
    copy.signal = XPU_COUNTER_LOAD;
    copy.signal_add = 1;
    copy.size0 = 1;
    copy.dst = to->address[to->now];
    xpu_desc_copy_pack(k->slot->load[k->loads++], &copy);
}

/* A dense copy of `bytes` bytes. */
static void add_dense_load(struct work *k, struct pair *to, uint32_t from, uint32_t bytes) {
    flip(to);
    add_load(k, to,
             (xpu_desc_copy){.src = from,
                             .src_type = XPU_TYPE_I32,
                             .dst_type = XPU_TYPE_I32,
                             .size1 = 1,
                             .size2 = 1,
                             .size3 = bytes / 4,
                             .src_stride3 = 4,
                             .dst_stride3 = 4});
}

/* The input tile, float32 being converted to int16 on its way. */
static void load_input(struct work *k, const struct tile *t, const struct chunk *c) {
    const struct xpu_conv2d_i16_args *a = k->a;
    const struct format *f = k->f;
    int32_t from = (int32_t)f->x_bytes, to = (int32_t)f->sizes.operand;
    flip(&k->x);
    if (t->in_rows <= 0 || t->in_columns <= 0) return;
    uint32_t pixel = (uint32_t)((t->image * a->in_h + t->ih) * a->in_w + t->iw);
    add_load(k, &k->x,
             (xpu_desc_copy){.src = a->x + f->x_bytes * (pixel * (uint32_t)a->in_c + (uint32_t)c->c),
                             .src_type = f->x_type,
                             .dst_type = f->mode == XPU_OPERANDS_16X16 ? XPU_TYPE_I16 : f->x_type,
                             .scale_mode = XPU_SCALE_ABSMAX,
                             .scale_address = a->x_absmax,
                             .size1 = (uint32_t)t->in_rows,
                             .size2 = (uint32_t)t->in_columns,
                             .size3 = (uint32_t)c->channels,
                             .src_stride1 = from * a->in_w * a->in_c,
                             .src_stride2 = from * a->in_c,
                             .src_stride3 = from,
                             .dst_stride1 = to * t->in_columns * c->channels,
                             .dst_stride2 = to * c->channels,
                             .dst_stride3 = to});
}

static uint32_t output_offset(const struct work *k, const struct tile *t, const struct chunk *c) {
    const struct xpu_conv2d_i16_args *a = k->a;
    uint32_t pixel = (uint32_t)((t->image * a->out_h + t->oh) * a->out_w + t->ow);
    return k->f->sizes.result * (pixel * (uint32_t)a->out_c + (uint32_t)c->first_out);
}

static void load_branch(struct work *k, const struct tile *t, const struct chunk *c) {
    const struct xpu_conv2d_i16_args *a = k->a;
    int32_t size = (int32_t)k->f->sizes.result;
    flip(&k->branch);
    add_load(k, &k->branch,
             (xpu_desc_copy){.src = a->branch + output_offset(k, t, c),
                             .src_type = k->f->branch_type,
                             .dst_type = k->f->branch_type,
                             .size1 = (uint32_t)t->rows,
                             .size2 = (uint32_t)t->columns,
                             .size3 = (uint32_t)c->outs,
                             .src_stride1 = size * a->out_w * a->out_c,
                             .src_stride2 = size * a->out_c,
                             .src_stride3 = size,
                             .dst_stride1 = size * t->columns * k->columns,
                             .dst_stride2 = size * k->columns,
                             .dst_stride3 = size});
}

static void queue_tensor(struct work *k, const struct tile *t, const struct chunk *c) {
    const struct xpu_conv2d_i16_args *a = k->a;
    const struct format *f = k->f;
    int32_t operand = (int32_t)f->sizes.operand, result = (int32_t)f->sizes.result;
    uint32_t bias = a->bias ? k->bias.address[k->bias.now] : 0; /* the accumulators of bytes start from it */
    int floats = f->post_mode == XPU_POST_FLOAT;
    if (c->last) flip(&k->y);
    xpu_ticket room = c->last ? k->y.free[k->y.now] : (xpu_ticket){XPU_NO_COUNTER, 0};
    xpu_desc_tensor d = {
        .layer = k->layer,
        .wait0 = k->loaded.counter,
        .wait0_value = k->loaded.value,
        .wait1 = room.counter,
        .wait1_value = room.value,
        .signal = XPU_COUNTER_TENSOR,
        .signal_add = 1,
        .accumulate = !c->first,
        .drain = (uint32_t)c->last,
        .post_mode = f->post_mode,
        .activation = (uint32_t)a->activation,
        .act_after = !a->branch_after,
        .x = k->x.address[k->x.now],
        .w = k->w.address[k->w.now],
        .y = k->y.address[k->y.now],
        .params = k->params,
        .scale = k->scale.address[k->scale.now],
        .bias = floats ? bias : 0,
        .start = floats || !c->first ? 0 : bias,
        .branch = a->branch ? k->branch.address[k->branch.now] : 0,
        .findmax = a->y_absmax,
        .absmax = a->x_absmax,
        .y_type = f->y_type,
        .branch_type = f->branch_type,
        .mode = f->mode,
        .x_unsigned = f->x_unsigned,
        .w_unsigned = f->w_unsigned,
        .x_zero = f->x_zero,
        .w_zero = f->w_zero,
        .tile_rows = (uint32_t)t->in_rows,
        .tile_cols = (uint32_t)t->in_columns,
        .channels = (uint32_t)c->channels,
        .columns = (uint32_t)c->outs,
        .x_row_stride = operand * t->in_columns * c->channels,
        .x_pixel_stride = operand * c->channels,
        .kh = (uint32_t)a->kernel_h,
        .kw = (uint32_t)a->kernel_w,
        .stride_h = (uint32_t)a->stride_h,
        .stride_w = (uint32_t)a->stride_w,
        .pad_top = t->top,
        .pad_left = t->left,
        .dilation_h = (uint32_t)a->dilation_h,
        .dilation_w = (uint32_t)a->dilation_w,
        .w_row_stride = (uint32_t)(operand * k->columns),
        .oh = (uint32_t)t->rows,
        .ow = (uint32_t)t->columns,
        .y_row_stride = result * t->columns * k->columns,
        .y_pixel_stride = result * k->columns,
        .branch_row_stride = result * t->columns * k->columns,
        .branch_pixel_stride = result * k->columns,
    };
    xpu_desc_tensor_pack(k->slot->tensor, &d);
    xpu_enqueue(XPU_ENGINE_TENSOR, k->slot->tensor, 1);
    k->computed = k->slot->computed = xpu_expect(XPU_COUNTER_TENSOR, 1);
}

static void queue_store(struct work *k, const struct tile *t, const struct chunk *c) {
    const struct xpu_conv2d_i16_args *a = k->a;
    int32_t size = (int32_t)k->f->sizes.result;
    xpu_desc_copy copy = {
        .layer = k->layer,
        .wait0 = k->computed.counter,
        .wait0_value = k->computed.value,
        .wait1 = XPU_NO_COUNTER,
        .signal = XPU_COUNTER_STORE,
        .signal_add = 1,
        .src = k->y.address[k->y.now],
        .dst = a->y + output_offset(k, t, c),
        .src_type = k->f->y_type,
        .dst_type = k->f->y_type,
        .size0 = 1,
        .size1 = (uint32_t)t->rows,
        .size2 = (uint32_t)t->columns,
        .size3 = (uint32_t)c->outs,
        .src_stride1 = size * t->columns * k->columns,
        .src_stride2 = size * k->columns,
        .src_stride3 = size,
        .dst_stride1 = size * a->out_w * a->out_c,
        .dst_stride2 = size * a->out_c,
        .dst_stride3 = size,
    };
    xpu_desc_copy_pack(k->slot->store, &copy);
    xpu_enqueue(XPU_ENGINE_DMA1, k->slot->store, 1);
    k->stored = k->slot->stored = xpu_expect(XPU_COUNTER_STORE, 1);
    k->y.free[k->y.now] = k->stored;
}

/* Waits until a slot's descriptors of an earlier round are done. */
static void take_slot(struct work *k) {
    k->slot = &slots[k->steps++ % SLOTS];
    k->loads = 0;
    if (k->steps <= SLOTS) return;
    xpu_wait(k->slot->computed); /* so its operands were loaded */
    xpu_wait(k->slot->stored);
}

static void run_step(struct work *k, const struct tile *t, const struct chunk *c, int input_stays) {
    const struct xpu_conv2d_i16_args *a = k->a;
    take_slot(k);
    if (!input_stays) load_input(k, t, c);
    add_dense_load(k, &k->w, c->w,
                   xpu_tiling_block_bytes(a->kernel_h, a->kernel_w, c->channels, k->columns, k->f->sizes));
    if (c->first) {
        add_dense_load(k, &k->scale, a->w_scale + 4 * (uint32_t)c->first_out, 4 * (uint32_t)c->outs);
        if (a->bias) add_dense_load(k, &k->bias, a->bias + 4 * (uint32_t)c->first_out, 4 * (uint32_t)c->outs);
    }
    if (c->last && a->branch) load_branch(k, t, c);
    xpu_enqueue(XPU_ENGINE_DMA0, k->slot->load[0], k->loads);
    k->loaded = xpu_expect(XPU_COUNTER_LOAD, k->loads);
    k->slot->stored = k->stored;
    queue_tensor(k, t, c);
    k->x.free[k->x.now] = k->w.free[k->w.now] = k->computed;
    k->scale.free[k->scale.now] = k->bias.free[k->bias.now] = k->computed;
    if (c->last) {
        k->branch.free[k->branch.now] = k->computed;
        queue_store(k, t, c);
    }
}

/* All channels of one tile. */
static void run_tile(struct work *k, const struct tile *t) {
    const struct xpu_conv2d_i16_args *a = k->a;
    int32_t tiles = xpu_tiling_column_tiles(a->out_c, k->columns), had_begin = -1, had_end = -1;
    uint32_t w = a->w;
    for (int32_t i = 0; i < tiles; i++) {
        int32_t begin, end;
        xpu_tiling_channels(a->out_c, a->in_c, a->groups, k->columns, i, &begin, &end);
        for (int32_t c = begin; c < end; c += a->tile_c) {
            struct chunk chunk = {.column_tile = i, .first_out = i * k->columns, .c = c, .w = w};
            chunk.outs = min_i32(k->columns, a->out_c - chunk.first_out);
            chunk.channels = min_i32(a->tile_c, end - c);
            chunk.first = c == begin;
            chunk.last = c + chunk.channels == end;
            run_step(k, t, &chunk, chunk.first && chunk.last && begin == had_begin && end == had_end);
            w += xpu_tiling_block_bytes(a->kernel_h, a->kernel_w, chunk.channels, k->columns, k->f->sizes);
        }
        had_begin = begin;
        had_end = end;
    }
}

/* The input rows (or columns) behind outputs first .. first + count - 1, cut to the image. */
static void input_range(int32_t first, int32_t count, int32_t stride, int32_t pad, int32_t reach, int32_t limit,
                        int32_t *from, int32_t *size, int32_t *outside) {
    int32_t begin = first * stride - pad, end = begin + (count - 1) * stride + reach;
    *from = min_i32(max_i32(begin, 0), limit);
    *size = max_i32(min_i32(end, limit) - *from, 0);
    *outside = *from - begin;
}

static void run_tiles(struct work *k) {
    const struct xpu_conv2d_i16_args *a = k->a;
    int32_t reach_h = (a->kernel_h - 1) * a->dilation_h + 1, reach_w = (a->kernel_w - 1) * a->dilation_w + 1;
    for (int32_t image = 0; image < a->batch; image++) {
        for (int32_t oh = 0; oh < a->out_h; oh += a->tile_h) {
            for (int32_t ow = 0; ow < a->out_w; ow += a->tile_w) {
                struct tile t = {.image = image, .oh = oh, .ow = ow};
                t.rows = min_i32(a->tile_h, a->out_h - oh);
                t.columns = min_i32(a->tile_w, a->out_w - ow);
                input_range(oh, t.rows, a->stride_h, a->pad_top, reach_h, a->in_h, &t.ih, &t.in_rows, &t.top);
                input_range(ow, t.columns, a->stride_w, a->pad_left, reach_w, a->in_w, &t.iw, &t.in_columns, &t.left);
                run_tile(k, &t);
            }
        }
    }
}

static void write_params(const xpu_post_params *params, uint32_t address) {
    const uint32_t *from = (const uint32_t *)params;
    for (uint32_t i = 0; i < XPU_POST_WORDS; i++) ((volatile uint32_t *)address)[i] = from[i];
}

static xpu_ticket run(const struct xpu_conv2d_i16_args *a, const struct format *f, const xpu_post_params *params,
                      uint32_t layer, xpu_ticket after) {
    struct work k = {.a = a, .f = f, .layer = layer, .columns = (int32_t)xpu_reg_load(XPU_REG_ARRAY_COLUMNS)};
    xpu_tiling_shape shape = {a->in_h,       a->in_w,       a->in_c,     a->out_h,    a->out_w,
                              a->out_c,      a->kernel_h,   a->kernel_w, a->stride_h, a->stride_w,
                              a->dilation_h, a->dilation_w, a->groups};
    xpu_tiling_scratch at =
        xpu_tiling_layout(&shape, a->tile_h, a->tile_w, a->tile_c, k.columns, a->branch != 0, f->sizes);
    if (at.total > (uint32_t)a->sm_bytes) xpu_abort(ABORT_SHARED_MEMORY);
    k.x = make_pair(a->sm, at.x, at.x_bytes);
    k.w = make_pair(a->sm, at.w, at.w_bytes);
    k.y = make_pair(a->sm, at.y, at.y_bytes);
    k.branch = make_pair(a->sm, at.branch, at.branch_bytes);
    k.scale = make_pair(a->sm, at.scale, at.scale_bytes);
    k.bias = make_pair(a->sm, at.bias, at.bias_bytes);
    k.params = a->sm + at.params;
    xpu_wait(after); /* the scratch may be the layer before's */
    k.stored = xpu_expect(XPU_COUNTER_STORE, 0);
    write_params(params, k.params);
    if (a->y_absmax) *(volatile float *)a->y_absmax = 0.0f;
    run_tiles(&k);
    return k.stored;
}

xpu_ticket xpu_conv2d_i16(const struct xpu_conv2d_i16_args *args, uint32_t layer, xpu_ticket after) {
    const struct xpu_conv2d_i16_args a = *args;
    const struct format f = {.sizes = XPU_TILING_I16,
                             .x_type = XPU_TYPE_F32,
                             .x_bytes = 4,
                             .y_type = XPU_TYPE_F32,
                             .branch_type = XPU_TYPE_F32,
                             .mode = XPU_OPERANDS_16X16,
                             .post_mode = XPU_POST_FLOAT};
    xpu_post_params params = {.slope = a.alpha, .out_scale = 1.0f, .branch_scale = 1.0f};
    params.lo.f = a.low;
    params.hi.f = a.high;
    return run(&a, &f, &params, layer, after);
}

static uint32_t byte_type(int32_t is_unsigned) {
    return is_unsigned ? XPU_TYPE_U8 : XPU_TYPE_I8;
}

xpu_ticket xpu_conv2d_i8(const struct xpu_conv2d_i8_args *args, uint32_t layer, xpu_ticket after) {
    const struct xpu_conv2d_i8_args q = *args;
    const struct xpu_conv2d_i16_args a = {
        .x = q.x,
        .w = q.w,
        .bias = q.bias,
        .branch = q.branch,
        .y = q.y,
        .w_scale = q.factors,
        .batch = q.batch,
        .in_h = q.in_h,
        .in_w = q.in_w,
        .in_c = q.in_c,
        .out_h = q.out_h,
        .out_w = q.out_w,
        .out_c = q.out_c,
        .kernel_h = q.kernel_h,
        .kernel_w = q.kernel_w,
        .stride_h = q.stride_h,
        .stride_w = q.stride_w,
        .dilation_h = q.dilation_h,
        .dilation_w = q.dilation_w,
        .pad_top = q.pad_top,
        .pad_left = q.pad_left,
        .groups = q.groups,
        .tile_h = q.tile_h,
        .tile_w = q.tile_w,
        .tile_c = q.tile_c,
        .sm = q.sm,
        .sm_bytes = q.sm_bytes,
    };
    const struct format f = {.sizes = XPU_TILING_I8,
                             .x_type = byte_type(q.x_unsigned),
                             .x_bytes = 1,
                             .y_type = byte_type(q.y_unsigned),
                             .branch_type = byte_type(q.branch_unsigned),
                             .mode = XPU_OPERANDS_8X8,
                             .post_mode = XPU_POST_QUANTISED,
                             .x_unsigned = (uint32_t)q.x_unsigned,
                             .w_unsigned = (uint32_t)q.w_unsigned,
                             .x_zero = q.x_zero,
                             .w_zero = q.w_zero};
    xpu_post_params params = {.x_scale = 1.0f,
                              .zero = q.zero,
                              .ra = q.x_factor,
                              .rb = q.b_factor,
                              .f = q.addend,
                              .lo2 = q.low2,
                              .hi2 = q.high2};
    params.lo.i = q.low;
    params.hi.i = q.high;
    return run(&a, &f, &params, layer, after);
}
