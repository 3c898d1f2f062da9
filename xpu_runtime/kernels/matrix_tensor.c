/*
 * Convolution on the tensor engine: float32 images with 16x16 or 16x8 operands, and quantised images with 8x8 operands.
 *
 * For each tile of output pixels and each column tile of output channels, the chunks of input channels are accumulated
 * one after the other; the last one drains through the post-processor. A step is one chunk: its loads (DMA0), one
 * tensor descriptor, and behind a drain a store (DMA1). Input tiles, blocks of weights, branch and results have two
 * buffers each in SM, results three where there is room (the array begins with a tile when its buffer is free, not when
 * it drains, but in lists that are made before the start: there drains are descriptors of their own), and input tiles,
 * too, where few steps read one (its place is free when the last of these has been computed); accumulators change the
 * bank with every drain. So the loads of coming steps run while a step is computed, the one before it drains and an
 * earlier result is stored.
 *
 * Core 0 only queues. Descriptors are made from templates, of which a step changes what is its own, and stand in rings
 * in LM. What has to wait for what stands in their waits: a buffer is loaded after the descriptor that read it last,
 * and what the layer before made is read after its ticket. Everything else, weights first, is loaded without waiting
 * for it.
 */
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/kernels/rings.h"

/* Powers of two, so that they divide the range of a counter. */
enum { LOADS = 8, TENSORS = 4, STORES = 4 };
enum { LOAD, TENSOR, STORE, RINGS };

static uint32_t loads[LOADS][XPU_DESC_WORDS], tensors[TENSORS][XPU_DESC_WORDS], stores[STORES][XPU_DESC_WORDS];

static struct ring rings[RINGS] = {{loads, LOADS, XPU_COUNTER_LOAD, XPU_ENGINE_DMA0, 0, 0, 0},
                                   {tensors, TENSORS, XPU_COUNTER_TENSOR, XPU_ENGINE_TENSOR, 0, 0, 0},
                                   {stores, STORES, XPU_COUNTER_STORE, XPU_ENGINE_DMA1, 0, 0, 0}};

/* What the two kernels differ in; sizes are bytes of an element. */
struct format {
    xpu_tiling_format sizes;
    uint32_t x_type, tile_type; /* of x in memory, and in SM */
    int32_t x_channel;          /* bytes of the image in memory from a channel to the next */
    float divisor;              /* of bytes that are made of float32, with the zero point `origin`; else 0 */
    int32_t origin;
    uint32_t y_type, branch_type;
    uint32_t mode, post_mode, branch_first, x_unsigned, w_unsigned;
    int32_t x_zero, w_zero;
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
    uint32_t w, w_bytes;                  /* the block of weights, from the start of all */
    int first, last;
};

/* Where the walk over the steps stands. */
struct cursor {
    struct tile tile;
    int32_t column_tile, begin, end, c; /* input channels of the column tile, and the next of them */
    uint32_t w;
};

struct work {
    struct xpu_conv2d_i16_args args;
    struct format format;
    struct cursor at;
    int32_t column_tiles;
    uint32_t w_channel; /* bytes of the weights of a channel in a block */
    uint32_t layer;
    xpu_ticket after;
    int32_t columns, x_pitch; /* x_pitch: of an input tile with all channels */
    struct pair branch;
    struct turns x, w, y;
    uint32_t scale, bias, params;
    uint32_t weights;                    /* of the image */
    uint16_t bank, first_tile;           /* LM is small */
    uint32_t all_w, loaded_w;            /* bytes of all weights; where these stay, so many have been loaded */
    xpu_ticket loaded, computed, stored; /* of what was queued last */
    uint32_t load_x[XPU_DESC_WORDS], load_dense[XPU_DESC_WORDS], load_branch[XPU_DESC_WORDS], tensor[XPU_DESC_WORDS],
        store[XPU_DESC_WORDS];
};

static uint32_t results_at(const struct work *k) {
    const struct xpu_row_ring *ring = xpu_recorded_ring();
    if (!ring) return address_now(&k->y);
    return ring->at.ring + (uint32_t)k->at.column_tile * ring->at.block_bytes +
           (uint32_t)(k->at.tile.oh % ring->rows) * ring->at.row_bytes;
}

/* When the result of a step may be written. */
static xpu_ticket results_free(const struct work *k) {
    const struct xpu_row_ring *ring = xpu_recorded_ring();
    return ring ? ring->free(k->at.tile.oh, k->at.column_tile) : k->y.free[k->y.now];
}

/* ---- loads ---- */

/* A dense copy of weights or what belongs to them; the template waits for those that were computed. */
static void load_dense(struct work *k, uint32_t to, uint32_t from, uint32_t bytes, xpu_ticket free) {
    uint32_t *words = ring_next(&rings[LOAD], k->load_dense, &k->loaded);
    xpu_desc_copy_set_wait0(words, free.counter);
    xpu_desc_copy_set_wait0_value(words, free.value);
    SET_ADDRESS(words, copy, src, from);
    SET_ADDRESS(words, copy, dst, to);
    xpu_desc_copy_set_size3(words, bytes / 4);
}

/* Channels first .. first + count - 1 of the input tile, float32 being converted to int16 on its way. A tile that is
 * all padding has an empty copy, for its waits. */
static void load_channels(struct work *k, const struct tile *t, int32_t first, int32_t count, uint32_t to,
                          int32_t pixel) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    uint32_t at = (uint32_t)(t->image * a->x_image + t->ih * a->x_row + t->iw * a->x_pixel);
    uint32_t *words = ring_next(&rings[LOAD], k->load_x, &k->loaded);
    set_waits(words, k->x.free[k->x.now], k->after);
    SET_ADDRESS(words, copy, src, a->x + at + (uint32_t)(k->format.x_channel * first));
    SET_ADDRESS(words, copy, dst, to);
    xpu_desc_copy_set_size1(words, (uint32_t)t->in_rows);
    xpu_desc_copy_set_size2(words, (uint32_t)t->in_columns);
    xpu_desc_copy_set_size3(words, (uint32_t)count);
    xpu_desc_copy_set_dst_stride1(words, pixel * t->in_columns);
    xpu_desc_copy_set_dst_stride2(words, pixel);
}

static void load_input(struct work *k, const struct tile *t, int32_t first, int32_t count) {
    take_turn(&k->x);
    load_channels(k, t, first, count, address_now(&k->x),
                  (int32_t)xpu_tiling_x_pitch((uint32_t)count, k->format.sizes.operand));
}

/* Bytes from a tile's first element to the chunk's. */
static uint32_t output_offset(const struct work *k, const struct chunk *c) {
    return k->format.sizes.result * (uint32_t)c->first_out;
}

/* The branch of a tile where each pixel of it stands for several: runs of whole pixels, or what a tile cuts off one. */
__attribute__((noinline, section(".text_apart"))) static void load_repeated(struct work *k, const struct tile *t,
                                                                            const struct chunk *c) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    const int32_t result = (int32_t)k->format.sizes.result, pixel = result * k->columns, from = result * a->out_c,
                  row = pixel * t->columns;
    const uint32_t image = a->branch + output_offset(k, c) +
                           (uint32_t)(t->image * (a->out_h / a->repeat_h) * (a->out_w / a->repeat_w) * from);
    for (int32_t y = 0, rows; y < t->rows; y += rows) {
        const int32_t oh = t->oh + y;
        rows = min_i32(a->repeat_h - oh % a->repeat_h, t->rows - y);
        for (int32_t x = 0, columns; x < t->columns; x += columns) {
            const int32_t ow = t->ow + x, phase = ow % a->repeat_w, left = t->columns - x;
            const int32_t whole = phase ? 0 : left / a->repeat_w;
            const int32_t each = whole ? a->repeat_w : min_i32(a->repeat_w - phase, left);
            columns = whole ? whole * each : each;
            uint32_t *words = ring_next(&rings[LOAD], k->load_branch, &k->loaded);
            set_waits(words, k->branch.free[k->branch.now], k->after);
            SET_ADDRESS(words, copy, src,
                        image + (uint32_t)((oh / a->repeat_h * (a->out_w / a->repeat_w) + ow / a->repeat_w) * from));
            SET_ADDRESS(words, copy, dst, k->branch.address[k->branch.now] + (uint32_t)(y * row + x * pixel));
            xpu_desc_copy_set_size0(words, (uint32_t)rows);
            xpu_desc_copy_set_size1(words, (uint32_t)(whole ? whole : 1));
            xpu_desc_copy_set_size2(words, (uint32_t)each);
            xpu_desc_copy_set_size3(words, (uint32_t)c->outs);
            xpu_desc_copy_set_src_stride1(words, from);
            xpu_desc_copy_set_src_stride2(words, 0);
            xpu_desc_copy_set_dst_stride0(words, row);
            xpu_desc_copy_set_dst_stride1(words, each * pixel);
            ring_the_bell(&rings[LOAD]); /* there may be more than the ring holds */
        }
    }
}

static void load_branch(struct work *k, const struct tile *t, const struct chunk *c) {
    if (k->args.repeat_h) {
        flip(&k->branch);
        load_repeated(k, t, c);
        return;
    }
    uint32_t *words = ring_next(&rings[LOAD], k->load_branch, &k->loaded);
    flip(&k->branch);
    /* the product waits for its input and for this, which waits for the place of its result */
    const uint32_t next = k->y.now + 1 < k->y.count ? k->y.now + 1 : 0;
    set_waits(words, k->branch.free[k->branch.now], xpu_recorded_slots() ? k->y.free[next] : k->after);
    words[WORD_copy_src] += output_offset(k, c);
    SET_ADDRESS(words, copy, dst, k->branch.address[k->branch.now]);
    xpu_desc_copy_set_size1(words, (uint32_t)t->rows);
    xpu_desc_copy_set_size2(words, (uint32_t)t->columns);
    xpu_desc_copy_set_size3(words, (uint32_t)c->outs);
    xpu_desc_copy_set_dst_stride1(words, (int32_t)k->format.sizes.result * t->columns * k->columns);
}

static void load_scales(struct work *k, xpu_ticket free) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    uint32_t bytes = 4 * (uint32_t)a->out_c;
    load_dense(k, k->scale, a->w_scale, bytes, free);
    if (a->bias) load_dense(k, k->bias, a->bias, bytes, free);
}

static void clear_absmax(struct work *k) {
    const xpu_desc_fill fill = absmax_fill(k->layer, k->after, k->args.y_absmax);
    xpu_desc_fill_pack(ring_next(&rings[LOAD], k->load_dense, &k->loaded), &fill);
}

/* ---- steps ---- */

/* Whether the input of this tile comes in pieces, as the first steps of the array need it: else it would wait for all
 * of the first tile. For few pixels it waits for weights. */
static int in_pieces(const struct work *k) {
    enum { FEW_PIXELS = 8 };
    const struct xpu_conv2d_i16_args *a = &k->args;
    const struct tile *t = &k->at.tile;
    const int is_pixel = a->kernel_h == 1 && a->kernel_w == 1 && a->groups == 1;
    return XPU_RECORDED && k->first_tile && is_pixel && k->format.post_mode == XPU_POST_FLOAT &&
           a->whole & XPU_TILE_WHOLE_X && t->in_rows * t->in_columns >= FEW_PIXELS;
}

/* What is the same for all steps of a tile. */
static void begin_tile(struct work *k, const struct tile *t) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    int32_t result = (int32_t)k->format.sizes.result;
    int32_t y_row = result * t->columns * k->columns;
    xpu_desc_tensor_set_tile_rows(k->tensor, (uint32_t)t->in_rows);
    xpu_desc_tensor_set_tile_cols(k->tensor, (uint32_t)t->in_columns);
    xpu_desc_tensor_set_pad_top(k->tensor, t->top);
    xpu_desc_tensor_set_pad_left(k->tensor, t->left);
    xpu_desc_tensor_set_oh(k->tensor, (uint32_t)t->rows);
    xpu_desc_tensor_set_ow(k->tensor, (uint32_t)t->columns);
    xpu_desc_tensor_set_y_row_stride(k->tensor, y_row);
    xpu_desc_tensor_set_branch_row_stride(k->tensor, y_row);
    xpu_desc_tensor_set_x_row_stride(k->tensor, t->in_columns * k->x_pitch);
    xpu_desc_copy_set_size1(k->store, (uint32_t)t->rows);
    xpu_desc_copy_set_size2(k->store, (uint32_t)t->columns);
    xpu_desc_copy_set_src_stride1(k->store, y_row);
    if (k->first_tile && a->y_absmax) clear_absmax(k);
    if (k->first_tile && a->whole & XPU_TILE_LATE_SCALES) load_scales(k, k->after);
    if (in_pieces(k) || xpu_recorded_slots())
        take_turn(&k->x);
    else if (a->whole & XPU_TILE_WHOLE_X)
        load_input(k, t, 0, a->in_c);
}

/* All weights at once, where the layer before runs on the cores meanwhile, or, if these are few, has its scratch
 * elsewhere; behind a layer on the tensor engine whose scratch is here the first tile takes them as it needs them. */
enum { FEW_WEIGHTS = 1 << 16 };

static void load_whole_weights(struct work *k, const xpu_tiling_shape *shape, xpu_ticket free) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    if (!(a->whole & XPU_TILE_WHOLE_W)) return;
    k->all_w = (uint32_t)xpu_tiling_weights(shape, k->columns, k->format.sizes);
    const int come_early = xpu_recorded_slots() || (xpu_recorded_apart() && k->all_w <= FEW_WEIGHTS);
    if (is_engines(k->after) && !come_early) return;
    load_dense(k, k->w.at, a->w, k->all_w, free);
    k->loaded_w = k->all_w;
}

/* Address of the step's weights, which are loaded if they are not there. */
static uint32_t weights_of(struct work *k, const struct chunk *c) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    if (a->whole & XPU_TILE_WHOLE_W) {
        const uint32_t at = k->w.at, from = k->loaded_w, end = c->w + c->w_bytes;
        if (k->first_tile && end > from) { /* of lists as much again each time: few loads, and the first is short */
            const uint32_t more = XPU_RECORDED ? min_u32(from, k->all_w - from) : 0;
            k->loaded_w = from + more > end ? from + more : end;
            load_dense(k, at + from, k->weights + from, k->loaded_w - from, k->w.free[0]);
        }
        return at + c->w;
    }
    take_turn(&k->w);
    const uint32_t at = address_now(&k->w);
    load_dense(k, at, k->weights + c->w, c->w_bytes, k->w.free[k->w.now]);
    return at;
}

/* Whether drains are descriptors of their own, behind the next product: its operands are free when it is computed, and
 * the array waits for no place of a result. Core 0 makes one descriptor instead of two. Not of bytes whose windows are
 * recorded with them: a load of these would stand in front of what the drain waits for. */
static int drains_apart(const struct work *k) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    const int one_drain = a->batch == 1 && a->tile_h >= a->out_h && a->tile_w >= a->out_w && k->column_tiles == 1;
    const int can = k->format.post_mode == XPU_POST_FLOAT || xpu_recorded_alone();
    return XPU_RECORDED && can && a->banks > 1 && !one_drain;
}

/* Of a product behind windows: these have made its input when the first column tile is computed; what is loaded are
 * branches, weights that do not stay, and for the first step those that do. The first results have room. */
static void set_waits_behind(const struct work *k, const struct tile *t, const struct chunk *c, uint32_t *words,
                             xpu_ticket loaded) {
    const int is_loaded = k->args.branch || !(k->args.whole & XPU_TILE_WHOLE_W) || (t->oh == 0 && c->column_tile == 0);
    const xpu_ticket room = c->last ? results_free(k) : no_ticket;
    if (c->column_tile == 0)
        set_waits(words, xpu_recorded_slots()->made(t->oh, c->c + c->channels), is_loaded ? loaded : room);
    else
        set_waits(words, is_loaded ? loaded : no_ticket, room);
}

static uint32_t *queue_tensor(struct work *k, const struct tile *t, const struct chunk *c, uint32_t w,
                              xpu_ticket loaded) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    const struct format *f = &k->format;
    int whole = a->whole & XPU_TILE_WHOLE_X;
    uint32_t bias = a->bias ? k->bias + 4 * (uint32_t)c->first_out : 0; /* the accumulators of bytes start from it */
    const int drains = c->last && !drains_apart(k);
    uint32_t *words = ring_next(&rings[TENSOR], k->tensor, &k->computed);
    if (c->last) take_turn(&k->y);
    if (xpu_recorded_slots())
        set_waits_behind(k, t, c, words, loaded);
    else
        set_waits(words, loaded, drains ? results_free(k) : no_ticket);
    uint32_t first_word = k->tensor[0];
    xpu_desc_tensor_set_bank(&first_word, k->bank);
    xpu_desc_tensor_set_accumulate(&first_word, !c->first);
    xpu_desc_tensor_set_drain(&first_word, (uint32_t)drains);
    words[0] = first_word;
    SET_ADDRESS(words, tensor, x, address_now(&k->x) + (whole ? f->sizes.operand * (uint32_t)c->c : 0));
    SET_ADDRESS(words, tensor, w, w);
    SET_ADDRESS(words, tensor, y, results_at(k));
    SET_ADDRESS(words, tensor, scale, k->scale + 4 * (uint32_t)c->first_out);
    if (f->post_mode == XPU_POST_FLOAT)
        SET_ADDRESS(words, tensor, bias, bias);
    else
        SET_ADDRESS(words, tensor, start, c->first ? bias : 0);
    if (a->branch) SET_ADDRESS(words, tensor, branch, k->branch.address[k->branch.now]);
    xpu_desc_tensor_set_channels(words, (uint32_t)c->channels);
    xpu_desc_tensor_set_columns(words, (uint32_t)c->outs);
    if (!whole) {
        const int32_t pixel = (int32_t)xpu_tiling_x_pitch((uint32_t)c->channels, f->sizes.operand);
        xpu_desc_tensor_set_x_pixel_stride(words, pixel);
        xpu_desc_tensor_set_x_row_stride(words, pixel * t->in_columns);
    }
    if (c->last && ++k->bank >= (uint32_t)a->banks) k->bank = 0;
    return words;
}

/* A drain that is queued behind the next product, and the store behind it. */
struct drain {
    int is_due;
    uint32_t result, branch; /* buffers */
    xpu_ticket loaded;       /* the branch */
    uint32_t tensor[XPU_DESC_WORDS], store[XPU_DESC_WORDS];
};
static struct drain drain;

static void set_store(const struct work *k, const struct chunk *c, uint32_t *words) {
    SET_ADDRESS(words, copy, src, results_at(k));
    words[WORD_copy_dst] += output_offset(k, c);
    xpu_desc_copy_set_size3(words, (uint32_t)c->outs);
}

static void queue_store(struct work *k, const struct chunk *c) {
    uint32_t *words = ring_next(&rings[STORE], k->store, &k->stored);
    xpu_desc_copy_set_wait0_value(words, k->computed.value);
    set_store(k, c, words);
    k->y.free[k->y.now] = k->stored;
}

/* Of the product `words`, whose branch comes with `loaded`. */
static void put_drain_off(struct work *k, const struct chunk *c, const uint32_t *words, xpu_ticket loaded) {
    struct drain *d = &drain;
    *d = (struct drain){.is_due = 1, .result = k->y.now, .branch = k->branch.now, .loaded = loaded};
    for (uint32_t i = 0; i < XPU_DESC_WORDS; i++) d->tensor[i] = words[i], d->store[i] = k->store[i];
    xpu_desc_tensor_set_channels(d->tensor, 0);
    xpu_desc_tensor_set_accumulate(d->tensor, 1);
    xpu_desc_tensor_set_drain(d->tensor, 1);
    set_store(k, c, d->store);
}

static void queue_drain(struct work *k) {
    struct drain *d = &drain;
    if (!d->is_due) return;
    d->is_due = 0;
    set_waits(ring_next(&rings[TENSOR], d->tensor, &k->computed), d->loaded, k->y.free[d->result]);
    k->branch.free[d->branch] = k->computed;
    xpu_desc_copy_set_wait0_value(ring_next(&rings[STORE], d->store, &k->stored), k->computed.value);
    k->y.free[d->result] = k->stored;
}

/* Products of the first channels of a chunk, which `c` and its weights lose. */
static void run_pieces(struct work *k, const struct tile *t, struct chunk *c, uint32_t *w) {
    enum { ELEMENTS = 96 * 16 }; /* of a piece: so many lines, each a cycle; passes of the array stay whole */
    const uint32_t pixels = (uint32_t)max_i32(t->in_rows * t->in_columns, 1);
    const int32_t piece = (int32_t)round_up(ceil_div(ELEMENTS, pixels), (uint32_t)k->columns);
    for (;;) {
        struct chunk part = *c;
        part.channels = min_i32(piece, c->channels);
        load_channels(k, t, part.c, part.channels, address_now(&k->x) + k->format.sizes.operand * (uint32_t)part.c,
                      k->x_pitch);
        if (part.channels == c->channels) return;
        part.last = 0;
        queue_tensor(k, t, &part, *w, k->loaded);
        *w += k->w_channel * (uint32_t)piece;
        c->c += piece, c->channels -= piece, c->first = 0;
    }
}

static void run_step(struct work *k, const struct tile *t, const struct chunk *all) {
    struct chunk rest = *all, *c = &rest;
    uint32_t w = weights_of(k, c);
    if (c->column_tile == 0 && c->first) begin_tile(k, t);
    if (c->column_tile == 0 && in_pieces(k)) run_pieces(k, t, c, &w);
    if (!(k->args.whole & XPU_TILE_WHOLE_X)) load_input(k, t, c->c, c->channels);
    const xpu_ticket operands = k->loaded;
    if (c->last && k->args.branch) load_branch(k, t, c);
    const int apart = drains_apart(k);
    ring_the_bell(&rings[LOAD]);
    const uint32_t *words = queue_tensor(k, t, c, w, apart ? operands : k->loaded);
    ring_the_bell(&rings[TENSOR]);
    k->x.free[k->x.now] = k->w.free[k->w.now] = k->computed;
    if (apart) {
        queue_drain(k);
        if (c->last) put_drain_off(k, c, words, k->args.branch ? k->loaded : no_ticket);
        if (k->y.count == 3) queue_drain(k); /* its place is free before */
        return;
    }
    k->branch.free[k->branch.now] = k->computed;
    if (!c->last || xpu_recorded_ring()) return;
    queue_store(k, c);
    ring_the_bell(&rings[STORE]);
}

/* ---- the walk: images, rows and columns of tiles, column tiles, chunks ---- */

static void enter_tile(struct work *k, int32_t image, int32_t oh, int32_t ow) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    int32_t reach_h = (a->kernel_h - 1) * a->dilation_h + 1, reach_w = (a->kernel_w - 1) * a->dilation_w + 1;
    struct tile *t = &k->at.tile;
    *t = (struct tile){.image = image, .oh = oh, .ow = ow};
    const uint32_t at = k->format.sizes.result * (uint32_t)((image * a->out_h + oh) * a->out_w + ow);
    SET_ADDRESS(k->store, copy, dst, a->y + at * (uint32_t)a->y_pixel);
    SET_ADDRESS(k->load_branch, copy, src, a->branch + at * (uint32_t)a->out_c);
    t->rows = min_i32(a->tile_h, a->out_h - oh);
    t->columns = min_i32(a->tile_w, a->out_w - ow);
    input_range(oh, t->rows, a->stride_h, a->pad_top, reach_h, a->in_h, &t->ih, &t->in_rows, &t->top);
    input_range(ow, t->columns, a->stride_w, a->pad_left, reach_w, a->in_w, &t->iw, &t->in_columns, &t->left);
}

static void enter_column_tile(struct work *k, int32_t column_tile) {
    struct cursor *at = &k->at;
    at->column_tile = column_tile;
    xpu_tiling_channels(k->args.out_c, k->args.in_c, k->args.groups, k->columns, column_tile, &at->begin, &at->end);
    at->c = at->begin;
}

/* Weights and scales of an image, where it has its own. */
static void enter_image(struct work *k, int32_t image) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    k->weights = a->w + (uint32_t)(image * a->w_image);
    if (a->w_image) k->scale = a->w_scale + (uint32_t)(image * a->scale_image);
}

/* Goes on to the next tile; 0 behind the last. */
static int advance_tile(struct work *k) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    const struct tile *t = &k->at.tile;
    int32_t image = t->image, oh = t->oh, ow = t->ow + a->tile_w;
    if (ow >= a->out_w) ow = 0, oh += a->tile_h;
    if (oh >= a->out_h) oh = 0, image++;
    if (image >= a->batch) return 0;
    if (oh == 0 && ow == 0) enter_image(k, image);
    k->first_tile = 0;
    k->at.w = 0;
    enter_tile(k, image, oh, ow);
    return 1;
}

static struct work work; /* of the layer that is queued; there is one at a time */

/* Queues a step; 0: it was the last. */
static int queue_step(void) {
    struct work *k = &work;
    struct cursor *at = &k->at;
    struct chunk c = {
        .column_tile = at->column_tile, .first_out = at->column_tile * k->columns, .c = at->c, .w = at->w};
    c.outs = min_i32(k->columns, k->args.out_c - c.first_out);
    c.channels = min_i32(k->args.tile_c, at->end - at->c);
    c.first = at->c == at->begin;
    c.last = at->c + c.channels == at->end;
    c.w_bytes = k->w_channel * (uint32_t)c.channels;
    run_step(k, &at->tile, &c);
    at->w += c.w_bytes;
    at->c += c.channels;
    if (at->c < at->end) return 1;
    int32_t next_tile = at->column_tile + 1;
    if (next_tile == k->column_tiles) {
        next_tile = 0;
        if (!advance_tile(k)) {
            if (drains_apart(k)) queue_drain(k);
            return 0;
        }
    }
    enter_column_tile(k, next_tile);
    return 1;
}

/* ---- templates ---- */

static void make_copies(struct work *k) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    const struct format *f = &k->format;
    int32_t to = (int32_t)f->sizes.operand, result = (int32_t)f->sizes.result;
    xpu_desc_copy copy = {.layer = k->layer,
                          .wait0 = XPU_NO_COUNTER,
                          .wait1 = XPU_NO_COUNTER,
                          .signal = XPU_COUNTER_LOAD,
                          .signal_add = 1,
                          .size0 = 1};
    xpu_desc_copy dense = copy, image = copy;
    dense.src_type = dense.dst_type = XPU_TYPE_I32;
    dense.size1 = dense.size2 = 1;
    dense.src_stride3 = dense.dst_stride3 = 4;
    if (a->scale_image) dense.wait1 = k->after.counter, dense.wait1_value = k->after.value;
    xpu_desc_copy_pack(k->load_dense, &dense);
    image.src_type = f->x_type;
    image.dst_type = f->tile_type;
    image.scale_mode = f->divisor > 0 ? XPU_SCALE_DIVISOR : XPU_SCALE_ABSMAX;
    image.scale = f->divisor;
    image.zero = (uint32_t)f->origin & 0xff;
    image.scale_address = a->x_absmax;
    image.src_stride1 = a->x_row;
    image.src_stride2 = a->x_pixel;
    image.src_stride3 = f->x_channel;
    image.dst_stride3 = to;
    xpu_desc_copy_pack(k->load_x, &image);
    copy.src_type = copy.dst_type = f->branch_type;
    copy.src_stride1 = result * a->out_w * a->out_c;
    copy.src_stride2 = result * a->out_c;
    copy.dst_stride2 = result * k->columns;
    copy.src_stride3 = copy.dst_stride3 = result;
    xpu_desc_copy_pack(k->load_branch, &copy);
    copy.src_type = copy.dst_type = f->y_type;
    copy.wait0 = XPU_COUNTER_TENSOR;
    copy.signal = XPU_COUNTER_STORE;
    copy.dst_stride1 = result * a->out_w * a->y_pixel;
    copy.dst_stride2 = result * a->y_pixel;
    copy.src_stride2 = result * k->columns;
    xpu_desc_copy_pack(k->store, &copy);
}

static void make_tensor(struct work *k) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    const struct format *f = &k->format;
    int32_t result = (int32_t)f->sizes.result;
    const xpu_desc_tensor d = {
        .layer = k->layer,
        .signal = XPU_COUNTER_TENSOR,
        .signal_add = 1,
        .post_mode = f->post_mode,
        .activation = (uint32_t)a->activation,
        .act_after = !a->branch_after,
        .branch_first = f->branch_first,
        .clip_last = (uint32_t)a->clips_last,
        .params = k->params,
        .findmax = a->y_absmax,
        .absmax = a->x_absmax,
        .y_type = f->y_type,
        .branch_type = f->branch_type,
        .mode = f->mode,
        .x_unsigned = f->x_unsigned,
        .w_unsigned = f->w_unsigned,
        .x_zero = f->x_zero,
        .w_zero = f->w_zero,
        .x_pixel_stride = k->x_pitch,
        .kh = (uint32_t)a->kernel_h,
        .kw = (uint32_t)a->kernel_w,
        .stride_h = (uint32_t)a->stride_h,
        .stride_w = (uint32_t)a->stride_w,
        .dilation_h = (uint32_t)a->dilation_h,
        .dilation_w = (uint32_t)a->dilation_w,
        .w_row_stride = (uint32_t)k->columns * f->sizes.weight,
        .y_pixel_stride = result * k->columns,
        .branch_pixel_stride = result * k->columns,
    };
    xpu_desc_tensor_pack(k->tensor, &d);
}

static void set_up_buffers(struct work *k, xpu_ticket free) {
    const struct xpu_conv2d_i16_args *a = &k->args;
    int scales = a->whole & XPU_TILE_SCALES;
    xpu_tiling_shape shape = {a->in_h,       a->in_w,       a->in_c,     a->out_h,    a->out_w,
                              a->out_c,      a->kernel_h,   a->kernel_w, a->stride_h, a->stride_w,
                              a->dilation_h, a->dilation_w, a->groups};
    xpu_tiling_scratch at = xpu_tiling_layout(&shape, a->tile_h, a->tile_w, a->tile_c, a->whole, k->columns,
                                              a->branch != 0, k->format.sizes);
    if (at.total > (uint32_t)a->sm_bytes) xpu_abort(ABORT_SHARED_MEMORY);
    k->x = make_turns(a->sm + at.x, at.x_bytes, xpu_tiling_x_buffers(a->whole), free);
    k->w = make_turns(a->sm + at.w, at.w_bytes, xpu_tiling_w_buffers(a->whole), free);
    k->y = make_turns(a->sm + at.y, at.y_bytes, a->whole & XPU_TILE_THREE_Y ? 3 : 2, free);
    k->branch = make_pair(a->sm, at.branch, at.branch_bytes, free);
    k->scale = scales ? a->sm + at.scale : a->w_scale;
    k->bias = scales ? a->sm + at.bias : a->bias;
    if (XPU_RECORDED) { /* they stand in GM: from SM they come at once */
        load_dense(k, a->sm + at.params, k->params, XPU_TILING_PARAMS, free);
        xpu_desc_tensor_set_params(k->tensor, a->sm + at.params);
    }
    if (scales && !(a->whole & XPU_TILE_LATE_SCALES)) load_scales(k, free);
    load_whole_weights(k, &shape, free);
    /* what waits for the layer before would hold up the loads of core 0's share of that */
    if (!is_engines(k->after) && !a->scale_image) ring_the_bell(&rings[LOAD]);
}

static xpu_ticket run(const struct xpu_conv2d_i16_args *a, const struct format *f, const xpu_post_params *params,
                      uint32_t layer, xpu_ticket after) {
    struct work *k = &work;
    xpu_finish_queueing();
    if (XPU_RECORDED) drain.is_due = 0; /* of a layer that was given up */
    *k = (struct work){.args = *a, .format = *f, .layer = layer, .after = after, .first_tile = 1};
    k->columns = (int32_t)xpu_reg_load(XPU_REG_ARRAY_COLUMNS);
    k->column_tiles = xpu_tiling_column_tiles(a->out_c, k->columns);
    k->w_channel = xpu_tiling_block_bytes(a->kernel_h, a->kernel_w, 1, k->columns, f->sizes);
    k->x_pitch = (int32_t)xpu_tiling_x_pitch((uint32_t)a->in_c, f->sizes.operand);
    k->params = place_params(&xpu_engine_parameters, params);
    make_copies(k);
    make_tensor(k);
    set_up_buffers(k, xpu_engines_done);
    k->weights = a->w;
    enter_tile(k, 0, 0, 0);
    enter_column_tile(k, 0);
    const uint32_t counter = xpu_recorded_ring() ? XPU_COUNTER_TENSOR : XPU_COUNTER_STORE;
    const uint32_t base = xpu_expect(counter, 0).value;
    struct xpu_progress progress = {.counter = counter, .base = base, .rows = (uint32_t)a->tile_h};
    progress.signals = (uint32_t)((a->out_w + a->tile_w - 1) / a->tile_w * k->column_tiles);
    if (a->tile_w >= a->out_w) progress.columns = (uint32_t)k->columns;
    progress.steps = (uint32_t)((a->out_h + a->tile_h - 1) / a->tile_h);
    if (a->w_image) { /* the rows of all images are those of one matrix */
        progress.rows = (uint32_t)a->out_h;
        progress.signals *= progress.steps;
        progress.steps = (uint32_t)a->batch;
    }
    xpu_continue_later(queue_step, layer, a->y, &progress);
    uint32_t images = a->w_image ? 1 : (uint32_t)a->batch;
    xpu_engines_done = (xpu_ticket){counter, base + progress.signals * progress.steps * images};
    return params_needed_until(&xpu_engine_parameters, xpu_engines_done);
}

xpu_ticket xpu_conv2d_i16(const struct xpu_conv2d_i16_args *args, uint32_t layer, xpu_ticket after) {
    const struct xpu_conv2d_i16_args a = *args;
    const struct format f = {.sizes = a.w_int8 ? XPU_TILING_I16X8 : XPU_TILING_I16,
                             .x_type = XPU_TYPE_F32,
                             .tile_type = XPU_TYPE_I16,
                             .x_channel = a.x_plane,
                             .y_type = XPU_TYPE_F32,
                             .branch_type = XPU_TYPE_F32,
                             .mode = a.w_int8 ? XPU_OPERANDS_16X8 : XPU_OPERANDS_16X16,
                             .post_mode = XPU_POST_FLOAT};
    xpu_post_params params = {.slope = a.alpha, .ra = a.alpha, .f = a.low, .out_scale = 1.0f, .branch_scale = 1.0f};
    params.lo.f = a.low;
    params.hi.f = a.high;
    if (a.clips_last) params.ra = a.last_low, params.rb = a.last_high;
    return run(&a, &f, &params, layer, after);
}

static uint32_t byte_type(int32_t is_unsigned) {
    return is_unsigned ? XPU_TYPE_U8 : XPU_TYPE_I8;
}

/* A byte that the layer before, or an earlier one, has made. Core 0 has queued what that may wait for. */
static int32_t read_byte(uint32_t address, int32_t is_unsigned, xpu_ticket after) {
    xpu_finish_queueing();
    xpu_wait(after);
    const uint8_t byte = *(volatile const uint8_t *)(uintptr_t)address;
    return is_unsigned ? byte : (int8_t)byte;
}

/* Operands, geometry and tile of a product of bytes `q`, in the form of one of int16. */
#define ADDRESS(name)  .name = q.name,
#define INT(name)      .name = q.name,
#define BYTES_AS_INT16 .w_scale = q.factors, XPU_FIELDS_operands XPU_FIELDS_geometry XPU_FIELDS_tile

xpu_ticket xpu_conv2d_i8_f32(const struct xpu_conv2d_i8_f32_args *args, uint32_t layer, xpu_ticket after) {
    const struct xpu_conv2d_i8_f32_args q = *args;
    const struct xpu_conv2d_i16_args a = {BYTES_AS_INT16};
    const struct format f = {
        .sizes = XPU_TILING_I8F,
        .x_type = byte_type(q.x_unsigned),
        .tile_type = byte_type(q.x_unsigned),
        .x_channel = 1,
        .y_type = XPU_TYPE_F32,
        .branch_type = XPU_TYPE_F32,
        .mode = XPU_OPERANDS_8X8,
        .post_mode = XPU_POST_FLOAT,
        .x_unsigned = (uint32_t)q.x_unsigned,
        .w_unsigned = (uint32_t)q.w_unsigned,
        .x_zero = q.x_zero_byte ? read_byte(q.x_zero_byte, q.x_unsigned, after) : q.x_zero,
        .w_zero = q.w_zero,
    };
    const xpu_post_params params = {.x_scale = 1.0f, .out_scale = 1.0f, .branch_scale = 1.0f};
    return run(&a, &f, &params, layer, after);
}

xpu_ticket xpu_conv2d_i8(const struct xpu_conv2d_i8_args *args, uint32_t layer, xpu_ticket after) {
    const struct xpu_conv2d_i8_args q = *args;
    const struct xpu_conv2d_i16_args a = {BYTES_AS_INT16};
    const struct format f = {.sizes = XPU_TILING_I8,
                             .x_type = q.x_divisor > 0 ? XPU_TYPE_F32 : byte_type(q.x_unsigned),
                             .tile_type = byte_type(q.x_unsigned),
                             .x_channel = q.x_divisor > 0 ? q.x_plane : 1,
                             .divisor = q.x_divisor,
                             .origin = q.x_origin,
                             .y_type = byte_type(q.y_unsigned),
                             .branch_type = byte_type(q.branch_unsigned),
                             .mode = XPU_OPERANDS_8X8,
                             .post_mode = XPU_POST_QUANTISED,
                             .branch_first = (uint32_t)q.branch_first,
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

#undef BYTES_AS_INT16
#undef ADDRESS
#undef INT
