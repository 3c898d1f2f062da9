/*
 * Windows on the window engine: over images of bytes depthwise convolution, maxima, and means over an image; over
 * float32 depthwise convolution, maxima and means, whose input is quantised to int16 by its absmax on the way into SM
 * (window_i16).
 *
 * A step is a tile of output pixels of a block of channels: its loads (DMA0), one window descriptor, or, of bytes, one
 * for each part of a kernel that has more taps than the engine, a store (DMA1).
 * What belongs to a block of channels (weights, bias, factors) is loaded with its first tile. All of them
 * have two buffers in SM, so the loads of the next step run while one is computed and an earlier result is stored. Core
 * 0 only queues; the rest stands in the descriptors' waits.
 *
 * A layer that follows (args.follows) begins with the first rows, or channels, of the product before it, and queues
 * what that has left, too: a step comes behind the steps of the product that make its input, and `follows` more, whose
 * loads would else wait behind its own for a result. Its result is stored a step later, so that results of the product
 * do not wait in their queue for the window engine. Stores of windows have their own counter: the product's ticket is
 * known before. Where the product leaves its result in a ring of rows in SM (xpu_tiling_ring, on the host only),
 * nothing of it is loaded: channels are what changes from step to step then, before rows. Where a product reads the
 * windows' results in SM nothing is stored.
 */
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/kernels/rings.h"
#include "xpu_runtime/kernels/window_counts.h"
#include "xpu_runtime/kernels/window_parts.h"

/* Powers of two, so that they divide the range of a counter; few, since LM is small (XPU_LM_WINDOW). */
enum { LOADS = 4, WINDOWS = 2, STORES = 2 };
enum { TAPS = XPU_WINDOW_KERNEL }; /* in a row, at most */
enum { LOAD, WINDOW, STORE, RINGS };
enum { LATEST = 4 }; /* steps whose tickets are kept: a ring of input rows has room for the rows of few */

static uint32_t loads[LOADS][XPU_DESC_WORDS], windows[WINDOWS][XPU_DESC_WORDS], stores[STORES][XPU_DESC_WORDS];
static struct ring rings[RINGS] = {{loads, LOADS, XPU_COUNTER_LOAD, XPU_ENGINE_DMA0, 0, 0, 0},
                                   {windows, WINDOWS, XPU_COUNTER_WINDOW, XPU_ENGINE_WINDOW, 0, 0, 0},
                                   {stores, STORES, XPU_COUNTER_WINDOW_STORE, XPU_ENGINE_DMA1, 0, 0, 0}};

/* Where the walk over the steps stands: blocks of channels, images, rows and columns of tiles. */
struct cursor {
    int32_t channel, image, oh, ow;
};

/* A tile of output pixels and the input that it reads. */
struct tile {
    int32_t rows, columns, channels;                /* output */
    int32_t ih, iw, in_rows, in_columns, top, left; /* input: first row and column, what is outside before them */
};

/* The padding that counts, where windows are averages. */
struct counted {
    int16_t counted_top, counted_left, counted_bottom, counted_right;
};

/* What there is more of a layer over float32. */
struct wide {
    uint32_t x_absmax, y_absmax, activation;
    int32_t w_int8;
    struct counted counted;
};

/* What of xpu_tiling_window_buffers is needed later; LM is small. */
struct places {
    uint32_t bias, factors, params, row_bytes;
    int32_t ring_rows; /* 0: there is no ring */
};

static struct work {
    struct xpu_window_i8_args args;
    uint8_t has_unstored, has_begun, is_wide, step, image, operand, weight,
        result;                 /* bytes of elements of x, where it comes from and in SM, ... */
    int32_t parts;              /* of the kernel */
    struct cursor at, unstored; /* unstored: of the last step, if its result is not */
    xpu_ticket after, free;
    int (*product)(void); /* queues some more of the product that this follows; 0: nothing is left, or there is none */
    union {
        struct xpu_progress progress; /* of it; over float32 there is none: */
        struct {
            uint32_t ends[LATEST]; /* what the window engine has signalled behind a step, with a ring of input rows */
            struct counted counted;
        };
    };
    int follows;
    struct places places;
    int32_t next_row, first_place, rows_of_image; /* of those that come to a ring of input rows */
    struct pair x, y, w;
    xpu_ticket loaded, computed, stored; /* of what was queued last */
    uint32_t params;
    struct tile tile; /* of the templates of input, window and store */
    uint32_t dense[XPU_DESC_WORDS], input[XPU_DESC_WORDS], window[XPU_DESC_WORDS], store[XPU_DESC_WORDS];
} work; /* of the layer that is queued; there is one at a time */

/* The same, with a ring. */
static struct {
    struct turns y;
    uint32_t base;            /* what the window engine has signalled before */
    uint32_t products;        /* what the tensor engine has before the product that reads the results in SM */
    xpu_ticket blocks_loaded; /* what the first step waits for, too */
} in_ring;

/* On the host: where rows of the product before stand, and where results stay for one behind; 0: nowhere in SM. */
static struct xpu_row_ring *rows_in_sm(void) {
    struct xpu_row_ring *ring = xpu_recorded_ring();
    return ring && ring->rows ? ring : 0;
}

static struct xpu_row_ring *slots_in_sm(void) {
    struct xpu_row_ring *ring = xpu_recorded_ring();
    return ring && ring->slots ? ring : 0;
}

/* ---- copies ---- */

static void set_box(uint32_t *words, int32_t rows, int32_t columns, int32_t bytes) {
    xpu_desc_copy_set_size1(words, (uint32_t)rows);
    xpu_desc_copy_set_size2(words, (uint32_t)columns);
    xpu_desc_copy_set_size3(words, (uint32_t)bytes);
}

static uint32_t *load(struct work *k, const uint32_t *template, uint32_t to, uint32_t from, xpu_ticket after,
                      xpu_ticket free) {
    uint32_t *words = ring_next(&rings[LOAD], template, &k->loaded);
    set_waits(words, after, free);
    SET_ADDRESS(words, copy, src, from);
    SET_ADDRESS(words, copy, dst, to);
    return words;
}

static void load_dense(struct work *k, uint32_t to, uint32_t from, int32_t bytes, xpu_ticket free) {
    const xpu_ticket after = k->args.whole & XPU_WINDOW_COMPUTED ? k->after : no_ticket;
    set_box(load(k, k->dense, to, from, after, free), 1, 1, bytes);
}

/* Weights of each part one behind the other. */
static void load_weights(struct work *k, uint32_t to, int32_t channels) {
    const struct xpu_window_i8_args *a = &k->args;
    const int32_t weight = k->weight, pitch = weight * (int32_t)round_up((uint32_t)a->in_c, 16);
    const uint32_t from = a->w + (uint32_t)(weight * k->at.channel);
    const xpu_ticket free = k->w.free[k->w.now];
    struct part p = {0, 0, 0, 0};
    while (next_part(&k->args, &p)) {
        ring_the_bell(&rings[LOAD]);
        uint32_t *words =
            load(k, k->dense, to, from + (uint32_t)(pitch * (p.ky * a->kernel_w + p.kx)), no_ticket, free);
        set_box(words, p.rows, p.columns, weight * channels);
        xpu_desc_copy_set_src_stride1(words, pitch * a->kernel_w);
        xpu_desc_copy_set_src_stride2(words, pitch);
        xpu_desc_copy_set_dst_stride1(words, weight * channels * p.columns);
        xpu_desc_copy_set_dst_stride2(words, weight * channels);
        to += (uint32_t)(weight * channels * p.rows * p.columns);
    }
}

/* Weights, bias and factors of a block of channels: they wait for the layer before only where one makes them. */
static void load_block(struct work *k, int32_t channels) {
    const struct xpu_window_i8_args *a = &k->args;
    const uint32_t to = flip(&k->w), first = (uint32_t)k->at.channel;
    const xpu_ticket free = k->w.free[k->w.now];
    if (a->factors) load_dense(k, to + k->places.factors, a->factors + 4 * first, 4 * channels, free);
    if (a->bias) load_dense(k, to + k->places.bias, a->bias + 4 * first, 4 * channels, free);
    if (!a->w) return;
    if (k->parts > 1) {
        load_weights(k, to, channels);
        return;
    }
    const uint32_t weight = k->weight;
    uint32_t *words = load(k, k->dense, to, a->w + weight * first, no_ticket, free);
    set_box(words, 1, a->kernel_h * a->kernel_w, (int32_t)weight * channels);
    xpu_desc_copy_set_src_stride2(words, (int32_t)(weight * round_up((uint32_t)a->in_c, 16)));
    xpu_desc_copy_set_dst_stride2(words, (int32_t)weight * channels);
}

static void load_input(struct work *k, const struct tile *t, xpu_ticket made) {
    const struct xpu_window_i8_args *a = &k->args;
    uint32_t pixel = (uint32_t)((k->at.image * a->in_h + t->ih) * a->in_w + t->iw);
    flip(&k->x);
    const uint32_t element = pixel * (uint32_t)a->in_c + (uint32_t)k->at.channel;
    load(k, k->input, k->x.address[k->x.now], a->x + k->image * element, made, k->x.free[k->x.now]);
}

/* ---- input rows in a ring ---- */

/* Rows of input from a tile to the one below. */
static int32_t rows_down(const struct work *k) {
    return k->args.tile_h * k->args.stride_h;
}

/* Rows are counted on from one block of channels, and from one image, to the next, from a multiple of rows_down on; row
 * r of the image here is this + r, and stands in the ring at that, modulo its rows. What a tile needs more ends at such
 * a multiple, so it is one copy. */
static int32_t rows_before(const struct work *k) {
    const struct xpu_window_i8_args *a = &k->args;
    const int32_t images = k->at.channel / a->tile_c * a->batch + k->at.image;
    return images * k->rows_of_image + k->first_place;
}

static void number_rows(struct work *k) {
    const struct xpu_window_i8_args *a = &k->args;
    const int32_t down = rows_down(k), end = down - a->stride_h + (a->kernel_h - 1) * a->dilation_h + 1 - a->pad_top;
    k->first_place = (down - end % down) % down;
    k->rows_of_image = (int32_t)round_up((uint32_t)(k->first_place + a->in_h), (uint32_t)down);
}

/* When the place of a row is free: the last step that reads what stood there is done. */
static xpu_ticket place_free(const struct work *k, int32_t row) {
    const struct xpu_window_i8_args *a = &k->args;
    const int32_t gone = row - k->places.ring_rows - k->first_place;
    if (gone < 0) return k->free;
    const int32_t steps = (a->out_h + a->tile_h - 1) / a->tile_h;
    const int32_t last = min_i32((gone % k->rows_of_image + a->pad_top) / rows_down(k), steps - 1);
    const uint32_t step = (uint32_t)(gone / k->rows_of_image * steps + last);
    return (xpu_ticket){XPU_COUNTER_WINDOW, k->ends[step % LATEST]}; /* or of a later one, which is done behind it */
}

/* The rows of a tile that the ring does not have; the first of an image may be two copies, where the ring begins again.
 */
static void load_rows(struct work *k, const struct tile *t, xpu_ticket made) {
    const struct xpu_window_i8_args *a = &k->args;
    const int32_t before = rows_before(k), end = t->ih + t->in_rows, ring = k->places.ring_rows;
    if (k->at.oh == 0) k->next_row = t->ih;
    while (k->next_row < end) {
        const int32_t row = k->next_row, place = (before + row) % ring, rows = min_i32(end - row, ring - place);
        const int32_t pixel = (k->at.image * a->in_h + row) * a->in_w, is_dense = t->in_columns == a->in_w;
        const int32_t pixels = t->in_columns * a->in_c;
        ring_the_bell(&rings[LOAD]);
        uint32_t *words = load(k, k->input, k->x.address[0] + (uint32_t)place * k->places.row_bytes,
                               a->x + k->image * (uint32_t)(pixel * a->in_c + k->at.channel), made,
                               place_free(k, before + row + rows - 1));
        if (t->channels < a->in_c) {
            set_box(words, rows, t->in_columns, t->channels);
            xpu_desc_copy_set_dst_stride1(words, (int32_t)k->places.row_bytes);
        } else {
            set_box(words, 1, is_dense ? 1 : rows, is_dense ? rows * pixels : pixels);
            xpu_desc_copy_set_dst_stride2(words, (int32_t)k->places.row_bytes);
        }
        k->next_row = row + rows;
    }
}

static void set_ring(const struct work *k, const struct tile *t, uint32_t *words) {
    xpu_desc_window_set_x_ring_rows(words, (uint32_t)k->places.ring_rows);
    xpu_desc_window_set_x_ring_first(words, (uint32_t)((rows_before(k) + t->ih) % k->places.ring_rows));
    xpu_desc_window_set_x_row_stride(words, (int32_t)k->places.row_bytes);
}

/* ---- stores ---- */

static void queue_store(struct work *k, const struct cursor *at, xpu_ticket also) {
    const struct xpu_window_i8_args *a = &k->args;
    uint32_t pixel = (uint32_t)((at->image * a->out_h + at->oh) * a->out_w + at->ow);
    uint32_t *words = ring_next(&rings[STORE], k->store, &k->stored);
    set_waits(words, k->computed, also);
    const int is_ring = rows_in_sm() != 0;
    struct turns *y = &in_ring.y;
    SET_ADDRESS(words, copy, src, is_ring ? address_now(y) : k->y.address[k->y.now]);
    SET_ADDRESS(words, copy, dst, a->y + k->result * (pixel * (uint32_t)a->y_pixel + (uint32_t)at->channel));
    *(is_ring ? &y->free[y->now] : &k->y.free[k->y.now]) = k->stored;
    ring_the_bell(&rings[STORE]);
}

/* ---- steps ---- */

/* Sizes and strides of the copy of a tile's input from its image, or of its results to theirs. */
static void set_pixels(uint32_t *words, const struct work *k, const struct tile *t, int is_input) {
    const struct xpu_window_i8_args *a = &k->args;
    const int32_t rows = is_input ? t->in_rows : t->rows, columns = is_input ? t->in_columns : t->columns;
    const int32_t width = is_input ? a->in_w : a->out_w, row = columns * t->channels;
    const int32_t pixel = is_input ? a->in_c : a->y_pixel;
    int32_t image1 = width * pixel, image2 = pixel, tile2 = t->channels;
    if (t->channels < pixel) {
        set_box(words, rows, columns, t->channels);
    } else { /* whole pixels, or whole rows */
        set_box(words, 1, columns == width ? 1 : rows, columns == width ? rows * row : row);
        image2 = image1, tile2 = row;
    }
    const int32_t from = is_input ? k->image : k->result, to = is_input ? k->operand : k->result;
    xpu_desc_copy_set_src_stride1(words, from * (is_input ? image1 : row));
    xpu_desc_copy_set_src_stride2(words, from * (is_input ? image2 : tile2));
    xpu_desc_copy_set_dst_stride1(words, to * (is_input ? row : image1));
    xpu_desc_copy_set_dst_stride2(words, to * (is_input ? tile2 : image2));
}

/* A row of more taps, of 16-bit operands: as rows of taps over rows of pixels that overlap. */
static int is_row_of_rows(const struct work *k) {
    return k->is_wide && k->args.w && k->args.kernel_w > TAPS;
}

/* What is the same for all tiles of one size at one place of the image's edge, in the templates. */
static void set_tile(struct work *k, const struct tile *t) {
    const int32_t operand = k->operand * t->channels, result = k->result * t->channels;
    set_pixels(k->input, k, t, 1);
    set_pixels(k->store, k, t, 0);
    xpu_desc_window_set_tile_rows(k->window, (uint32_t)t->in_rows);
    xpu_desc_window_set_tile_cols(k->window, (uint32_t)t->in_columns);
    xpu_desc_window_set_pad_top(k->window, t->top);
    xpu_desc_window_set_pad_left(k->window, t->left);
    xpu_desc_window_set_oh(k->window, (uint32_t)t->rows);
    xpu_desc_window_set_ow(k->window, (uint32_t)t->columns);
    xpu_desc_window_set_columns(k->window, (uint32_t)t->channels);
    const struct xpu_row_ring *ring = rows_in_sm();
    xpu_desc_window_set_w_row_stride(k->window, k->weight * (uint32_t)(ring ? k->args.in_c : t->channels));
    xpu_desc_window_set_x_pixel_stride(k->window, ring ? ring->columns : operand);
    xpu_desc_window_set_x_row_stride(k->window, ring ? (int32_t)ring->at.row_bytes : t->in_columns * operand);
    const int32_t pixel = slots_in_sm() ? (int32_t)xpu_tiling_x_pitch((uint32_t)k->args.in_c, 1) : result;
    xpu_desc_window_set_y_pixel_stride(k->window, pixel);
    xpu_desc_window_set_y_row_stride(k->window, t->columns * pixel);
    if (is_row_of_rows(k)) {
        const int32_t step = TAPS * k->args.dilation_w;
        xpu_desc_window_set_tile_rows(k->window, (uint32_t)(k->args.kernel_w / TAPS));
        xpu_desc_window_set_tile_cols(k->window, (uint32_t)(t->in_columns - (k->args.kernel_w / TAPS - 1) * step));
        xpu_desc_window_set_x_row_stride(k->window, step * operand);
    }
    k->tile = *t;
}

/* Whether the templates are for tiles like this one. */
static int is_set(const struct tile *set, const struct tile *t) {
    return set->rows == t->rows && set->columns == t->columns && set->channels == t->channels &&
           set->in_rows == t->in_rows && set->in_columns == t->in_columns && set->top == t->top && set->left == t->left;
}

/* Where a step's result goes that a product reads there, and the ticket of what of it stood there before. */
static uint32_t slot_of(const struct work *k, const struct xpu_row_ring *ring, xpu_ticket *free) {
    const int32_t step = k->at.oh / k->args.tile_h, before = step + 1 - ring->slots;
    if (before > 0 && k->at.channel == 0)
        *free = (xpu_ticket){XPU_COUNTER_TENSOR, in_ring.products + (uint32_t)(before * ring->readers)};
    return ring->at.y + (uint32_t)(step % ring->slots) * ring->at.y_bytes + (uint32_t)k->at.channel;
}

/* A part of bytes adds to the sums that the one before has left; the last one drains. */
static void set_part(const struct work *k, const struct tile *t, const struct part *p, int is_last, uint32_t *words) {
    const struct xpu_window_i8_args *a = &k->args;
    const uint32_t sums = k->args.sm + k->places.params + XPU_TILING_PARAMS;
    xpu_desc_window_set_kh(words, (uint32_t)p->rows);
    xpu_desc_window_set_kw(words, (uint32_t)p->columns);
    xpu_desc_window_set_pad_top(words, t->top - p->ky * a->dilation_h);
    xpu_desc_window_set_pad_left(words, t->left - p->kx * a->dilation_w);
    if (p->ky + p->kx) {
        xpu_desc_window_set_accumulate(words, 1);
        SET_ADDRESS(words, window, start, sums);
    }
    if (is_last) return;
    const int32_t pixel = 4 * t->channels;
    xpu_desc_window_set_drain(words, 0);
    xpu_desc_window_set_y_type(words, XPU_TYPE_I32);
    xpu_desc_window_set_y_pixel_stride(words, pixel);
    xpu_desc_window_set_y_row_stride(words, t->columns * pixel);
    SET_ADDRESS(words, window, y, sums);
}

/* The first one waits for its operands, and for the sums of the tile before, the last one for the place of the result.
 */
static void queue_parts(struct work *k, const struct tile *t) {
    const uint32_t block = k->w.address[k->w.now];
    struct part p = {0, 0, 0, 0};
    uint32_t w = block;
    for (int32_t i = 1; next_part(&k->args, &p); i++) {
        const int is_last = i == k->parts;
        const xpu_ticket before = k->computed;
        uint32_t *words = ring_next(&rings[WINDOW], k->window, &k->computed);
        set_waits(words, i == 1 ? k->loaded : is_last ? k->y.free[k->y.now] : no_ticket, before);
        SET_ADDRESS(words, window, x, k->x.address[k->x.now]);
        SET_ADDRESS(words, window, y, k->y.address[k->y.now]);
        SET_ADDRESS(words, window, w, w);
        SET_ADDRESS(words, window, start, k->args.bias ? block + k->places.bias : 0);
        SET_ADDRESS(words, window, scale, k->args.factors ? block + k->places.factors : 0);
        set_part(k, t, &p, is_last, words);
        ring_the_bell(&rings[WINDOW]);
        w += (uint32_t)(k->weight * t->channels * p.rows * p.columns);
    }
}

static uint32_t *queue_window(struct work *k, const struct tile *t) {
    const struct xpu_window_i8_args *a = &k->args;
    const uint32_t block = k->w.address[k->w.now];
    uint32_t *words = ring_next(&rings[WINDOW], k->window, &k->computed);
    xpu_ticket free = k->y.free[k->y.now];
    uint32_t to = k->y.address[k->y.now];
    if (slots_in_sm()) free = no_ticket, to = slot_of(k, slots_in_sm(), &free);
    set_waits(words, k->loaded, free);
    SET_ADDRESS(words, window, x, k->x.address[k->places.ring_rows ? 0 : k->x.now]);
    if (k->places.ring_rows) set_ring(k, t, words);
    SET_ADDRESS(words, window, y, to);
    SET_ADDRESS(words, window, w, a->w ? block : 0);
    const uint32_t bias = a->bias ? block + k->places.bias : 0; /* sums of bytes start from it */
    if (k->is_wide)
        SET_ADDRESS(words, window, bias, bias);
    else
        SET_ADDRESS(words, window, start, bias);
    SET_ADDRESS(words, window, scale, a->factors ? block + k->places.factors : 0);
    return words;
}

static int is_average(const struct work *k) {
    return (k->args.whole & XPU_WINDOW_AVERAGE) != 0;
}

/* The parameters of averages of so many taps. */
static uint32_t params_of(const struct work *k, int32_t taps) {
    return k->args.sm + k->places.params + XPU_TILING_PARAMS * (uint32_t)(taps - 1);
}

/* Averages over windows with one number of taps that count: `rows` x `columns` outputs of the tile, from `row` and
 * `column` on. */
static void queue_area(struct work *k, const struct tile *t, int32_t row, int32_t rows, int32_t column, int32_t columns,
                       int32_t taps) {
    uint32_t *words = queue_window(k, t);
    const uint32_t pixel = k->result * (uint32_t)t->channels;
    SET_ADDRESS(words, window, y, k->y.address[k->y.now] + (uint32_t)(row * t->columns + column) * pixel);
    SET_ADDRESS(words, window, params, params_of(k, taps));
    xpu_desc_window_set_pad_top(words, t->top - row * k->args.stride_h);
    xpu_desc_window_set_pad_left(words, t->left - column * k->args.stride_w);
    xpu_desc_window_set_oh(words, (uint32_t)rows);
    xpu_desc_window_set_ow(words, (uint32_t)columns);
    ring_the_bell(&rings[WINDOW]);
}

static void queue_averages(struct work *k, const struct tile *t) {
    const struct xpu_window_i8_args *a = &k->args;
    const struct counted *c = &k->counted;
    const struct window_axis down = WINDOW_ROWS(a, c), across = WINDOW_COLUMNS(a, c);
    const int32_t last = k->at.ow + t->columns;
    int32_t height, width;
    for (int32_t row = 0, rows; row < t->rows; row += rows) {
        rows = equal_windows(&down, k->at.oh + row, k->at.oh + t->rows, &height);
        for (int32_t column = 0, columns; column < t->columns; column += columns) {
            columns = equal_windows(&across, k->at.ow + column, last, &width);
            queue_area(k, t, row, rows, column, columns, height * width);
        }
    }
}

static void queue_windows(struct work *k, const struct tile *t) {
    flip(&k->y);
    if (is_average(k))
        queue_averages(k, t);
    else if (k->parts > 1)
        queue_parts(k, t);
    else
        queue_window(k, t);
    ring_the_bell(&rings[WINDOW]);
    k->x.free[k->x.now] = k->w.free[k->w.now] = k->computed;
    if (k->places.ring_rows) k->ends[k->step++ % LATEST] = k->computed.value;
}

static struct tile tile_here(const struct work *k) {
    const struct xpu_window_i8_args *a = &k->args;
    const int32_t reach_h = (a->kernel_h - 1) * a->dilation_h + 1, reach_w = (a->kernel_w - 1) * a->dilation_w + 1;
    struct tile t;
    t.rows = min_i32(a->tile_h, a->out_h - k->at.oh);
    t.columns = min_i32(a->tile_w, a->out_w - k->at.ow);
    t.channels = min_i32(a->tile_c, a->in_c - k->at.channel);
    input_range(k->at.oh, t.rows, a->stride_h, a->pad_top, reach_h, a->in_h, &t.ih, &t.in_rows, &t.top);
    input_range(k->at.ow, t.columns, a->stride_w, a->pad_left, reach_w, a->in_w, &t.iw, &t.in_columns, &t.left);
    return t;
}

/* Goes on to the next tile; 0 behind the last. */
static int advance(struct work *k) {
    const struct xpu_window_i8_args *a = &k->args;
    struct cursor *at = &k->at;
    if (rows_in_sm()) { /* tiles are whole rows of one image */
        at->channel += a->tile_c;
        if (at->channel >= a->in_c) at->channel = 0, at->oh += a->tile_h;
        return at->oh < a->out_h;
    }
    at->ow += a->tile_w;
    if (at->ow >= a->out_w) at->ow = 0, at->oh += a->tile_h;
    if (at->oh >= a->out_h) at->oh = 0, at->image++;
    if (at->image >= a->batch) at->image = 0, at->channel += a->tile_c;
    return at->channel < a->in_c;
}

/* When the product has made the input of a tile. */
static xpu_ticket made_by_product(const struct work *k, const struct tile *t) {
    const struct xpu_progress *p = &k->progress;
    const uint32_t rows = min_u32(((uint32_t)(t->ih + t->in_rows) + p->rows - 1) / p->rows, p->steps);
    const uint32_t channels = (uint32_t)(k->at.channel + t->channels);
    uint32_t steps = (uint32_t)k->at.image * p->steps + (rows ? rows : 1), missing = 0;
    if (p->columns) missing = p->signals - ceil_div(channels, p->columns);
    return (xpu_ticket){p->counter, p->base + p->signals * steps - missing};
}

/* Has the product queue what a tile needs, and some more; behind the last tile nothing of it is left. */
static xpu_ticket queue_product(struct work *k, const struct tile *t, int is_last) {
    if (!k->follows) return k->after;
    const xpu_ticket made = made_by_product(k, t);
    const uint32_t ahead = made.value + (uint32_t)k->follows;
    while (k->product && (is_last || (int32_t)(ahead - xpu_expect(made.counter, 0).value) > 0)) {
        if (!k->product()) k->product = 0;
    }
    return is_last && !rows_in_sm() ? k->after : made;
}

/* ---- rows in SM, on the host ---- */

/* The last step that reads a row is done with it, in the ring of a block of channels. */
static xpu_ticket rows_free(int32_t row, int32_t block) {
    const struct work *k = &work;
    const struct xpu_window_i8_args *a = &k->args;
    const int32_t last =
        row - xpu_recorded_ring()->rows + (int32_t)k->progress.rows - 1; /* of those that stood there */
    const int32_t steps = (a->out_h + a->tile_h - 1) / a->tile_h, blocks = (a->in_c + a->tile_c - 1) / a->tile_c;
    if (last < 0 || last + a->pad_top < 0) return no_ticket;
    const int32_t step = min_i32((last + a->pad_top) / (a->tile_h * a->stride_h), steps - 1);
    return (xpu_ticket){XPU_COUNTER_WINDOW, in_ring.base + (uint32_t)(step * blocks + block + 1)};
}

static xpu_ticket step_made(int32_t row, int32_t end) {
    const struct xpu_window_i8_args *a = &work.args;
    const int32_t blocks = (a->in_c + a->tile_c - 1) / a->tile_c, made = (end + a->tile_c - 1) / a->tile_c;
    return (xpu_ticket){XPU_COUNTER_WINDOW, in_ring.base + (uint32_t)(row / a->tile_h * blocks + made)};
}

static void queue_window_of_ring(struct work *k, const struct tile *t, xpu_ticket made) {
    const struct xpu_window_i8_args *a = &k->args;
    const struct xpu_row_ring *ring = xpu_recorded_ring();
    const uint32_t channel = (uint32_t)k->at.channel, block = (uint32_t)(k->at.channel / a->tile_c);
    uint32_t *words = ring_next(&rings[WINDOW], k->window, &k->computed);
    struct turns *y = &in_ring.y;
    take_turn(y);
    xpu_ticket free = ring->slots ? no_ticket : y->free[y->now];
    const uint32_t to = ring->slots ? slot_of(k, ring, &free) : address_now(y);
    set_waits(words, made, in_ring.blocks_loaded.counter == XPU_NO_COUNTER ? free : in_ring.blocks_loaded);
    in_ring.blocks_loaded = no_ticket;
    SET_ADDRESS(words, window, x, ring->at.ring + block * ring->at.block_bytes);
    xpu_desc_window_set_x_ring_rows(words, (uint32_t)ring->rows);
    xpu_desc_window_set_x_ring_first(words, (uint32_t)(t->ih % ring->rows));
    SET_ADDRESS(words, window, y, to);
    SET_ADDRESS(words, window, w, ring->at.w + channel);
    SET_ADDRESS(words, window, start, a->bias ? ring->at.bias + 4 * channel : 0);
    SET_ADDRESS(words, window, scale, a->factors ? ring->at.factors + 4 * channel : 0);
}

/* On the host: of lists they stand in GM, and from SM they come at once. */
static void load_params(struct work *k) {
    const uint32_t at = k->args.sm + k->places.params;
    load_dense(k, at, k->params, XPU_TILING_PARAMS, k->free);
    xpu_desc_window_set_params(k->window, at);
}

/* `words` words become `value`. */
static void fill(struct work *k, uint32_t to, float value, uint32_t words, xpu_ticket after) {
    xpu_desc_fill fill = absmax_fill(xpu_desc_copy_get_layer(k->dense), after, to);
    fill.value = xpu_desc_float_bits(value);
    fill.size3 = words;
    xpu_desc_fill_pack(ring_next(&rings[LOAD], k->dense, &k->loaded), &fill);
    ring_the_bell(&rings[LOAD]);
}

/* Blocks of parameters by the number of taps. */
static void make_params(struct work *k) {
    const struct xpu_window_i8_args *a = &k->args;
    const struct counted *c = &k->counted;
    const struct window_axis down = WINDOW_ROWS(a, c), across = WINDOW_COLUMNS(a, c);
    const uint32_t heights = numbers_of_taps(&down, a->out_h), widths = numbers_of_taps(&across, a->out_w);
    fill(k, params_of(k, 1), 0, (uint32_t)(a->kernel_h * a->kernel_w) * XPU_TILING_PARAMS / 4, k->free);
    const xpu_ticket zeros = k->loaded; /* w_scale is written over these */
    for (int32_t h = 1; h <= a->kernel_h; h++) {
        for (int32_t w = 1; w <= a->kernel_w; w++)
            if (heights >> h & widths >> w & 1)
                fill(k, params_of(k, h * w) + offsetof(xpu_post_params, w_scale), 1.0f / (float)(h * w), 1, zeros);
    }
}

/* What comes before all tiles. */
static void begin(struct work *k) {
    if (is_average(k))
        make_params(k);
    else if (XPU_RECORDED)
        load_params(k);
    const uint32_t absmax = k->window[WORD_window_findmax];
    if (absmax) fill(k, absmax, 0, 1, k->after);
    ring_the_bell(&rings[LOAD]);
    k->has_begun = 1;
}

/* What belongs to all channels, behind the first loads of the product: so the scratch is free. */
static void begin_ring(struct work *k) {
    if (!k->product()) k->product = 0;
    begin(k);
    load_block(k, k->args.in_c);
    in_ring.blocks_loaded = k->loaded;
}

static void queue_tile(struct work *k, const struct tile *t, xpu_ticket made) {
    if (!k->has_begun) begin(k);
    if (!is_set(&k->tile, t)) set_tile(k, t);
    if (rows_in_sm()) {
        queue_window_of_ring(k, t, made);
        return;
    }
    if (k->at.image == 0 && k->at.oh == 0 && k->at.ow == 0) load_block(k, t->channels); /* with the input, LOADS */
    if (k->places.ring_rows)
        load_rows(k, t, made);
    else
        load_input(k, t, made);
    ring_the_bell(&rings[LOAD]);
    queue_windows(k, t);
}

/* Queues a step; 0: it was the last. */
static int queue_step(void) {
    struct work *k = &work;
    const struct tile t = tile_here(k);
    const struct cursor at = k->at;
    const int is_last = !advance(k);
    k->at = at;
    if (rows_in_sm() && !k->has_begun) begin_ring(k);
    const xpu_ticket made = queue_product(k, &t, is_last);
    if (k->has_unstored) queue_store(k, &k->unstored, no_ticket);
    queue_tile(k, &t, made);
    if (slots_in_sm()) return advance(k);
    k->has_unstored = k->follows && !is_last && !rows_in_sm();
    k->unstored = at;
    /* rows of the product that no window reads are done, too, when the layer is: then the scratch is free */
    if (!k->has_unstored) queue_store(k, &at, is_last && rows_in_sm() ? k->after : no_ticket);
    return advance(k);
}

/* ---- the layer ---- */

static void make_templates(struct work *k, const struct wide *w, uint32_t layer) {
    const struct xpu_window_i8_args *a = &k->args;
    const uint32_t type = k->is_wide ? XPU_TYPE_F32 : XPU_TYPE_I8; /* the low bytes of uint8 are the same */
    xpu_desc_copy copy = {.layer = layer,
                          .signal = XPU_COUNTER_LOAD,
                          .signal_add = 1,
                          .src_type = XPU_TYPE_I8,
                          .dst_type = XPU_TYPE_I8,
                          .size0 = 1,
                          .src_stride3 = 1,
                          .dst_stride3 = 1};
    const int whole = a->whole & XPU_WINDOW_WHOLE;
    const xpu_desc_window window = {.layer = layer,
                                    .signal = XPU_COUNTER_WINDOW,
                                    .signal_add = 1,
                                    .op = (uint32_t)a->op,
                                    .whole = (uint32_t)whole,
                                    .params = k->params,
                                    .drain = 1,
                                    .post_mode = k->is_wide ? XPU_POST_FLOAT : XPU_POST_QUANTISED,
                                    .activation = w->activation,
                                    .absmax = w->x_absmax,
                                    .findmax = w->y_absmax,
                                    .y_type = type,
                                    .mode = !k->is_wide ? XPU_OPERANDS_8X8
                                            : w->w_int8 ? XPU_OPERANDS_16X8
                                                        : XPU_OPERANDS_16X16,
                                    .x_unsigned = (uint32_t)a->x_unsigned,
                                    .w_unsigned = (uint32_t)a->w_unsigned,
                                    .x_zero = a->x_zero,
                                    .w_zero = a->w_zero,
                                    .kh = whole ? 0 : (uint32_t)(is_row_of_rows(k) ? a->kernel_w / TAPS : a->kernel_h),
                                    .kw = whole ? 0 : (uint32_t)(is_row_of_rows(k) ? TAPS : a->kernel_w),
                                    .stride_h = whole ? 0 : (uint32_t)a->stride_h,
                                    .stride_w = whole ? 0 : (uint32_t)a->stride_w,
                                    .dilation_h = is_row_of_rows(k) ? 1 : (uint32_t)a->dilation_h,
                                    .dilation_w = (uint32_t)a->dilation_w};
    xpu_desc_copy_pack(k->dense, &copy);
    copy.src_type = type, copy.dst_type = k->is_wide ? XPU_TYPE_I16 : XPU_TYPE_I8;
    copy.src_stride3 = k->image, copy.dst_stride3 = k->operand;
    if (k->is_wide) copy.scale_mode = XPU_SCALE_ABSMAX, copy.scale_address = w->x_absmax;
    xpu_desc_copy_pack(k->input, &copy);
    copy.signal = XPU_COUNTER_WINDOW_STORE;
    copy.scale_mode = 0, copy.scale_address = 0;
    copy.dst_type = type;
    copy.src_stride3 = copy.dst_stride3 = k->result;
    xpu_desc_copy_pack(k->store, &copy);
    xpu_desc_window_pack(k->window, &window);
}

static void set_up_buffers(struct work *k) {
    const struct xpu_window_i8_args *a = &k->args;
    const xpu_tiling_shape shape = {.in_h = a->in_h,
                                    .in_w = a->in_w,
                                    .in_c = a->in_c,
                                    .out_h = a->out_h,
                                    .out_w = a->out_w,
                                    .kernel_h = a->kernel_h,
                                    .kernel_w = a->kernel_w,
                                    .stride_h = a->stride_h,
                                    .stride_w = a->stride_w,
                                    .dilation_h = a->dilation_h,
                                    .dilation_w = a->dilation_w};
    const xpu_tiling_task task = {min_i32(a->tile_c, a->in_c), min_i32(a->tile_h, a->out_h),
                                  min_i32(a->tile_w, a->out_w)};
    const int has = is_average(k) ? XPU_WINDOW_COUNTS : a->w ? XPU_WINDOW_WEIGHTS : XPU_WINDOW_PLAIN;
    const xpu_tiling_format format = {k->operand, k->weight, slots_in_sm() ? 0 : k->result};
    const xpu_tiling_window_buffers at = xpu_tiling_window_buffers_of(&shape, &task, has, format);
    if (at.total > (uint64_t)a->sm_bytes) xpu_abort(ABORT_SHARED_MEMORY);
    k->places = (struct places){at.bias, at.factors, at.params, at.row_bytes, at.ring_rows};
    if (k->places.ring_rows) number_rows(k);
    k->x = make_pair(a->sm, 0, at.x_bytes, k->free);
    k->y = make_pair(a->sm, at.y, at.y_bytes, k->free);
    k->w = make_pair(a->sm, at.w, at.w_bytes, k->free);
}

/* The same, of xpu_tiling_ring_layout: what is loaded stands behind loads of the product that wait. */
static void set_up_ring(struct work *k) {
    struct xpu_row_ring *ring = xpu_recorded_ring();
    k->places.bias = ring->at.bias - ring->at.w;
    k->places.factors = ring->at.factors - ring->at.w;
    k->places.params = ring->at.params - k->args.sm;
    k->free = no_ticket;
    in_ring.y = make_turns(ring->at.y, ring->at.y_bytes, 3, no_ticket);
    k->w = make_pair(ring->at.w, 0, 0, no_ticket);
    ring->free = rows_free;
}

/* Where a product reads the results in SM: when it may, and when these may be overwritten. */
static void set_up_slots(const struct work *k, struct xpu_row_ring *slots) {
    in_ring.base = xpu_expect(XPU_COUNTER_WINDOW, 0).value;
    in_ring.products = k->product ? k->progress.base + k->progress.signals * k->progress.steps
                                  : xpu_expect(XPU_COUNTER_TENSOR, 0).value;
    slots->made = step_made;
}

/* `wide`: of a layer over float32, else NULL. */
static xpu_ticket run(const struct xpu_window_i8_args *args, const struct wide *wide, const xpu_post_params *params,
                      uint32_t layer, xpu_ticket after) {
    struct work *k = &work;
    struct xpu_progress progress = {.counter = XPU_NO_COUNTER};
    int (*product)(void) = args->follows ? xpu_take_over(layer - 1, args->x, &progress) : 0;
    if (!product) xpu_finish_queueing();
    *k = (struct work){.args = *args, .after = after, .product = product, .progress = progress};
    k->is_wide = wide != 0;
    k->image = k->result = wide ? 4 : 1;
    k->operand = wide ? 2 : 1;
    k->weight = wide && !wide->w_int8 ? 2 : 1;
    k->computed = no_ticket;
    k->parts = args->w && !wide ? xpu_tiling_window_parts(args->kernel_h) * xpu_tiling_window_parts(args->kernel_w) : 1;
    if (wide) k->counted = wide->counted;
    const struct xpu_window_i8_args *a = &k->args;
    k->follows = product ? a->follows : 0;
    /* of the layer whose scratch was here; of a product that is followed it is elsewhere, and that began behind others
     */
    k->free = product ? (xpu_ticket){progress.counter, progress.base + 1} : xpu_engines_done;
    if (product && rows_in_sm())
        set_up_ring(k);
    else
        set_up_buffers(k);
    if (xpu_recorded_ring()) set_up_slots(k, xpu_recorded_ring());
    k->params = place_params(&xpu_engine_parameters, params);
    make_templates(k, wide ? wide : &(struct wide){0}, layer);
    const uint32_t tiles =
        ceil_div((uint32_t)a->out_h, (uint32_t)a->tile_h) * ceil_div((uint32_t)a->out_w, (uint32_t)a->tile_w);
    const uint32_t steps = tiles * (uint32_t)a->batch * ceil_div((uint32_t)a->in_c, (uint32_t)a->tile_c);
    xpu_continue_later(queue_step, layer, 0, &(struct xpu_progress){.counter = XPU_NO_COUNTER});
    const uint32_t counter = !slots_in_sm() ? XPU_COUNTER_WINDOW_STORE : XPU_COUNTER_WINDOW;
    xpu_engines_done = (xpu_ticket){counter, xpu_expect(counter, 0).value + steps};
    return params_needed_until(&xpu_engine_parameters, xpu_engines_done);
}

xpu_ticket xpu_window_i8(const struct xpu_window_i8_args *args, uint32_t layer, xpu_ticket after) {
    xpu_post_params params = {.x_scale = 1.0f, .w_scale = args->factor, .zero = args->zero};
    params.lo.i = args->low;
    params.hi.i = args->high;
    return run(args, 0, &params, layer, after);
}

xpu_ticket xpu_window_i16(const struct xpu_window_i16_args *args, uint32_t layer, xpu_ticket after) {
    const struct xpu_window_i16_args q = *args;
    const int is_mean = q.whole & XPU_WINDOW_WHOLE, is_max = q.whole & XPU_WINDOW_MAXIMUM;
    const int is_sum = q.whole & (XPU_WINDOW_WHOLE | XPU_WINDOW_AVERAGE);
#define ADDRESS(name) .name = q.name,
#define INT(name)     .name = q.name,
    const struct xpu_window_i8_args a = {.x = q.x,
                                         .w = q.w,
                                         .bias = q.bias,
                                         .y = q.y,
                                         .factors = q.w_scale,
                                         .op = is_sum   ? XPU_WINDOW_SUM
                                               : is_max ? XPU_WINDOW_MAX
                                                        : XPU_WINDOW_CONVOLUTION,
                                         .whole = q.whole,
                                         .sm = q.sm,
                                         .sm_bytes = q.sm_bytes,
                                         XPU_FIELDS_geometry XPU_FIELDS_task};
#undef ADDRESS
#undef INT
    const struct wide wide = {.x_absmax = q.x_absmax,
                              .y_absmax = q.y_absmax,
                              .activation = (uint32_t)q.activation,
                              .w_int8 = q.w_int8,
                              .counted = {(int16_t)q.counted_top, (int16_t)q.counted_left, (int16_t)q.counted_bottom,
                                          (int16_t)q.counted_right}};
    xpu_post_params params = {.slope = q.alpha, .ra = q.alpha, .f = q.low, .out_scale = 1.0f, .branch_scale = 1.0f};
    params.lo.f = q.low;
    params.hi.f = q.high;
    if (is_max) params.w_scale = 1;
    if (is_mean) params.w_scale = 1.0f / (float)(q.in_h * q.in_w);
    return run(&a, &wide, &params, layer, after);
}
