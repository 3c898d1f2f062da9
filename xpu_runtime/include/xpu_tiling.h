/*
 * How conv2d_i16 and conv2d_i8 cut their work for the tensor engine: shared by the kernel, by the packer of its weights
 * and by the choice of tiles, so that they cannot disagree. Freestanding C.
 *
 * Output channels are cut into column tiles of the array's width. A column tile needs the input channels of the groups
 * that its output channels belong to (weights are block-diagonal there); these are cut into chunks of tile_c channels.
 * Packed weights are the blocks (column tile, chunk) one after the other; a block is [kernel_h * kernel_w * channels of
 * the chunk][columns] int16 or bytes, K in (kh, kw, c) order, absent channels and the other groups' weights 0.
 */
#ifndef XPU_TILING_H
#define XPU_TILING_H

#include <stdint.h>

#include "xpu_runtime/include/generated/xpu_chip_regs.h"

typedef struct {
    int32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w,
        groups;
} xpu_tiling_shape;

static inline int32_t xpu_tiling_min(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* Rows (or columns) of input that `outputs` consecutive output rows (columns) read, at most what there is. */
static inline int32_t xpu_tiling_input_extent(int32_t outputs, int32_t stride, int32_t kernel, int32_t dilation,
                                              int32_t limit) {
    return xpu_tiling_min((outputs - 1) * stride + (kernel - 1) * dilation + 1, limit);
}

/* Windows over bytes (depthwise_i8, max_pool_i8). BYTE_ROWS: most rows of the window of depthwise_i8. BYTE_CHANNELS:
 * most channels of a task. LM_RESERVED: bytes of LM for the stack and what kernels keep; LM_WINDOW: what they keep more
 * where there is a window engine. */
enum { XPU_BYTE_ROWS = 16, XPU_BYTE_CHANNELS = 64, XPU_LM_RESERVED = 10240, XPU_LM_WINDOW = 2048 };

/* Attention on the cores: floats of LM for blocks of `lanes` queries (a multiple of 16, at most 64) and `chunk` keys (a
 * multiple of 16) at a time, of `inner` and values of `width` elements. */
enum { XPU_ATTENTION_LANES = 16, XPU_ATTENTION_MOST_INNER = 256 };
static inline uint32_t xpu_attention_floats(uint32_t lanes, uint32_t chunk, uint32_t inner, uint32_t width) {
    const uint32_t columns = (width + 3) / 4 * 4;
    return lanes * (2 * inner + width + columns + 18) + chunk * (lanes + inner + width + 4) + 2 * lanes;
}

/* Chains over images (kernel chain_image): floats of LM for blocks of `width` pixels. Everything begins with a line. */
enum { XPU_IMAGE_LINE = 16 };
static inline uint32_t xpu_image_lines(uint32_t floats) {
    return (floats + XPU_IMAGE_LINE - 1) / XPU_IMAGE_LINE * XPU_IMAGE_LINE;
}
/* The most pixels of an operand, each of which stands for `repeat` in rows of `row` pixels, that a block needs. */
static inline uint32_t xpu_image_level_pixels(uint32_t width, uint32_t row, uint32_t repeat) {
    return repeat >= row ? 1 : (width + repeat - 2) / repeat + 1;
}
/* Of one that stands in the result's order, two blocks; of another, pixels as they come, twice, and a block. */
static inline uint32_t xpu_image_operand_floats(uint32_t channels, uint32_t width, uint32_t row, uint32_t repeat_w,
                                                int is_dense) {
    const uint32_t block = xpu_image_lines(channels * width);
    if (is_dense) return 2 * block;
    return block + 2 * xpu_image_lines(channels * xpu_image_level_pixels(width, row, repeat_w));
}
static inline uint32_t xpu_image_result_floats(uint32_t channels, uint32_t width) {
    return 2 * xpu_image_lines(channels * width);
}

/* A task: tile_h x tile_w output pixels of tile_c channels, a multiple of 16. */
typedef struct {
    int32_t tile_c, tile_h, tile_w;
} xpu_tiling_task;

/* What a task has in LM: bytes of the input and the result, twice, its input rows as they come; with weights these, and
 * the input as int16 with padding and one more row of it. */
typedef struct {
    uint32_t in_rows, in_columns; /* most input rows of a task, and most pixels of one as they come */
    uint32_t segment;             /* pixels of a row that windows cover */
    uint32_t together;            /* neighbouring output pixels whose inputs lie side by side, in one vector */
    uint64_t bytes;
} xpu_tiling_window;

static inline xpu_tiling_window xpu_tiling_window_of(const xpu_tiling_shape *s, const xpu_tiling_task *t,
                                                     int has_weights) {
    xpu_tiling_window w = {.together = 1};
    int32_t segment = xpu_tiling_input_extent(t->tile_w, s->stride_w, s->kernel_w, s->dilation_w, INT32_MAX);
    w.segment = (uint32_t)segment;
    w.in_rows = (uint32_t)xpu_tiling_input_extent(t->tile_h, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
    /* tasks of whole rows take also what a stride leaves behind the last window */
    w.in_columns = (uint32_t)xpu_tiling_min(segment + s->stride_w - 1, s->in_w);
    uint64_t pixels = 2 * ((uint64_t)w.in_rows * w.in_columns + (uint64_t)t->tile_h * (uint64_t)t->tile_w);
    if (has_weights) {
        uint64_t taps = (uint64_t)s->kernel_h * (uint64_t)s->kernel_w;
        if (s->stride_w == 1) w.together = (uint32_t)xpu_tiling_min(XPU_BYTE_CHANNELS / t->tile_c, t->tile_w);
        pixels += 2 * ((uint64_t)w.in_rows + 1) * w.segment + taps + w.together * (2 * taps + 8);
    }
    w.bytes = pixels * (uint64_t)t->tile_c;
    return w;
}

/* Bytes of LM that the smallest task takes: one output pixel of 16 channels. in_w: the most pixels of a row. */
static inline uint64_t xpu_tiling_window_bytes(int64_t kernel_h, int64_t kernel_w, int64_t dilation_h,
                                               int64_t dilation_w, int64_t stride_w, int64_t in_w, int has_weights) {
    const int64_t limit = 1 << 16;
    if (kernel_h > limit || kernel_w > limit || dilation_h > limit || dilation_w > limit) return UINT64_MAX;
    if ((kernel_h - 1) * dilation_h >= limit || (kernel_w - 1) * dilation_w >= limit) return UINT64_MAX;
    if (stride_w > INT32_MAX / 2) return UINT64_MAX;
    const xpu_tiling_shape s = {.in_h = INT32_MAX,
                                .in_w = in_w < INT32_MAX ? (int32_t)in_w : INT32_MAX,
                                .kernel_h = (int32_t)kernel_h,
                                .kernel_w = (int32_t)kernel_w,
                                .stride_h = 1,
                                .stride_w = (int32_t)stride_w,
                                .dilation_h = (int32_t)dilation_h,
                                .dilation_w = (int32_t)dilation_w};
    return xpu_tiling_window_of(&s, &(xpu_tiling_task){16, 1, 1}, has_weights).bytes;
}

/* Depthwise windows over int16 on the cores (depthwise_i16): so many vectors of neighbouring pixels at once, where
 * weights are int16 or int8. */
enum { XPU_DEPTHWISE_WIDE = 2, XPU_DEPTHWISE_NARROW = 4, XPU_DEPTHWISE_CHANNELS = 64 };

/* What a task of it has in LM: one or two input tiles as int16 with their padding, which have room for the windows of
 * whole groups of vectors (of a lone pixel: of itself), and a row of zeros; one or two results; weights by their high
 * and low bytes, or as they are, scales and bias, for a vector each; largest magnitudes and descriptors. */
typedef struct {
    uint32_t in_rows, segment; /* rows and columns of an input tile */
    uint32_t together;         /* neighbouring output pixels whose inputs lie side by side, in one vector */
    uint32_t halves;           /* 2, or 1 where there is no room for two */
    uint64_t result;           /* bytes of a result, whose last vector may be longer than its last row */
    uint64_t weights, bytes;   /* of weights, scales and bias; of all */
} xpu_tiling_depthwise;

/* `together` and halves being chosen. */
static inline void xpu_tiling_set_depthwise(const xpu_tiling_shape *s, const xpu_tiling_task *t, int narrow,
                                            xpu_tiling_depthwise *d) {
    enum { DESCRIPTOR = 128, MAGNITUDES = 256 };
    const int32_t group = (narrow ? XPU_DEPTHWISE_NARROW : XPU_DEPTHWISE_WIDE) * (int32_t)d->together;
    const int32_t columns = t->tile_w > 1 ? (t->tile_w + group - 1) / group * group : 1;
    const uint64_t channels = (uint64_t)t->tile_c, taps = (uint64_t)s->kernel_h * (uint64_t)s->kernel_w;
    d->segment = (uint32_t)xpu_tiling_input_extent(columns, s->stride_w, s->kernel_w, s->dilation_w, INT32_MAX);
    d->result = 4 * channels * ((uint64_t)t->tile_h * (uint64_t)t->tile_w + d->together - 1);
    d->weights = d->together * channels * (taps * (narrow ? 2 : 4) + 8);
    const uint64_t row = 2 * channels * d->segment;
    d->bytes = d->halves * (row * d->in_rows + d->result + DESCRIPTOR) + row + d->weights + MAGNITUDES;
}

/* As many pixels in a vector as leave room: weights take half of it at most, if there are several. */
static inline xpu_tiling_depthwise xpu_tiling_depthwise_of(const xpu_tiling_shape *s, const xpu_tiling_task *t,
                                                           int narrow, uint64_t room) {
    xpu_tiling_depthwise d = {.halves = 2};
    const int32_t most = s->stride_w == 1 ? xpu_tiling_min(XPU_DEPTHWISE_CHANNELS / t->tile_c, t->tile_w) : 1;
    d.in_rows = (uint32_t)xpu_tiling_input_extent(t->tile_h, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
    for (d.together = (uint32_t)most;; d.together--) {
        for (d.halves = 2; d.halves; d.halves--) {
            xpu_tiling_set_depthwise(s, t, narrow, &d);
            if (d.bytes <= room && (d.weights <= room / 2 || d.together == 1)) return d;
        }
        if (d.together == 1) break;
    }
    d.halves = 1;
    xpu_tiling_set_depthwise(s, t, narrow, &d);
    return d;
}

/* Of an array for which the cores pack computed weights (pack_matrix_f32). */
enum { XPU_PACK_MOST_COLUMNS = 64 };
/* Products of so many rows in float32 share their columns among the cores, and take transposed matrices. */
enum { XPU_FEW_ROWS = 4 };

static inline int32_t xpu_tiling_column_tiles(int32_t out_c, int32_t columns) {
    return (out_c + columns - 1) / columns;
}

/* Input channels [*begin, *end) of column tile `tile`. */
static inline void xpu_tiling_channels(int32_t out_c, int32_t in_c, int32_t groups, int32_t columns, int32_t tile,
                                       int32_t *begin, int32_t *end) {
    if (groups == 1) { /* without divisions */
        *begin = 0;
        *end = in_c;
        return;
    }
    int32_t group_out = out_c / groups, group_in = in_c / groups;
    int32_t first = tile * columns, last = xpu_tiling_min(first + columns, out_c) - 1;
    *begin = first / group_out * group_in;
    *end = (last / group_out + 1) * group_in;
}

static inline int32_t xpu_tiling_chunks(int32_t begin, int32_t end, int32_t tile_c) {
    return (end - begin + tile_c - 1) / tile_c;
}

/* Bytes of an element in SM: of x, of w, of y and branch. */
typedef struct {
    uint32_t operand, weight, result;
} xpu_tiling_format;
#define XPU_TILING_I16   ((xpu_tiling_format){2, 2, 4}) /* float32 results */
#define XPU_TILING_I16X8 ((xpu_tiling_format){2, 1, 4})
#define XPU_TILING_I8    ((xpu_tiling_format){1, 1, 1})
#define XPU_TILING_I8F   ((xpu_tiling_format){1, 1, 4}) /* float32 results */

/* Bytes of one block of packed weights. */
static inline uint32_t xpu_tiling_block_bytes(int32_t kernel_h, int32_t kernel_w, int32_t channels, int32_t columns,
                                              xpu_tiling_format format) {
    return (uint32_t)kernel_h * (uint32_t)kernel_w * (uint32_t)channels * (uint32_t)columns * format.weight;
}

static inline uint32_t xpu_tiling_align(uint32_t bytes) {
    return (bytes + 63u) & ~63u;
}

/* Bytes of the post-processor's parameters, which stand in SM where a layer has lists of descriptors. */
enum { XPU_TILING_PARAMS = 64 };

/* Rows of input that a task of windows over 16-bit operands has in a ring in SM; 0: each tile is loaded as a whole. The
 * tile has whole rows, and others stand below it, with which it shares some. The ring has room for a tile and what the
 * next one needs more; it begins again where a tile does. */
static inline int32_t xpu_tiling_window_ring(const xpu_tiling_shape *s, const xpu_tiling_task *t,
                                             xpu_tiling_format format) {
    enum { MOST_ROWS = 65535 };
    const int32_t reach = (s->kernel_h - 1) * s->dilation_h + 1;
    if (format.operand == 1u || t->tile_w < s->out_w || t->tile_h >= s->out_h || reach <= s->stride_h) return 0;
    const int64_t down = (int64_t)t->tile_h * s->stride_h, rows = 2 * down - s->stride_h + reach;
    const int64_t whole = (rows + down - 1) / down * down;
    if (s->stride_h == 1 && whole > 2 * (down - s->stride_h + reach)) return 0;
    return whole <= MOST_ROWS ? (int32_t)whole : 0;
}

/* What windows on the window engine have: nothing, weights, or parameters of the post-processor for each number of taps
 * that count. */
enum { XPU_WINDOW_PLAIN, XPU_WINDOW_WEIGHTS, XPU_WINDOW_COUNTS };

/* What a task of the window engine has in SM, in bytes from the start of its scratch: the ring of input rows, or twice
 * the input tile; twice the result, and of a block of channels weights [kernel_h * kernel_w][tile_c], bias and factors,
 * each from the start of the block's copy on; then the post-processor's parameters, and where the kernel is parts the
 * sums of a tile. Elements as the format says. */
typedef struct {
    int32_t ring_rows; /* 0: there is no ring */
    uint32_t row_bytes, x_bytes, y, y_bytes, w, w_bytes, bias, factors, params;
    uint64_t total;
} xpu_tiling_window_buffers;

/* A kernel of more taps than the engine has is parts of about one size along the axis; taps of each but perhaps the
 * last. */
static inline int32_t xpu_tiling_window_parts(int32_t kernel) {
    enum { MOST = XPU_WINDOW_KERNEL };
    return (kernel + MOST - 1) / MOST;
}
static inline int32_t xpu_tiling_window_part(int32_t kernel) {
    const int32_t count = xpu_tiling_window_parts(kernel);
    return (kernel + count - 1) / count;
}

static inline xpu_tiling_window_buffers
xpu_tiling_window_buffers_of(const xpu_tiling_shape *s, const xpu_tiling_task *t, int has, xpu_tiling_format format) {
    xpu_tiling_window_buffers at;
    const uint32_t taps = (uint32_t)s->kernel_h * (uint32_t)s->kernel_w;
    const uint32_t channels = (uint32_t)t->tile_c;
    const uint64_t rows =
        (uint64_t)xpu_tiling_input_extent(t->tile_h, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
    const uint64_t cols =
        (uint64_t)xpu_tiling_input_extent(t->tile_w, s->stride_w, s->kernel_w, s->dilation_w, s->in_w);
    const uint64_t row = cols * channels * format.operand;
    at.ring_rows = xpu_tiling_window_ring(s, t, format);
    const uint64_t x = at.ring_rows ? (uint64_t)at.ring_rows * row : rows * row, inputs = at.ring_rows ? 1 : 2;
    const uint64_t y = (uint64_t)t->tile_h * (uint64_t)t->tile_w * channels * format.result;
    at.row_bytes = (uint32_t)row;
    at.x_bytes = xpu_tiling_align((uint32_t)x);
    at.y_bytes = xpu_tiling_align((uint32_t)y);
    at.y = (uint32_t)inputs * at.x_bytes;
    at.w = at.y + 2 * at.y_bytes;
    at.bias = has == XPU_WINDOW_WEIGHTS ? xpu_tiling_align(taps * channels * format.weight) : 0;
    at.factors = at.bias + xpu_tiling_align(4 * channels);
    at.w_bytes = at.factors + xpu_tiling_align(4 * channels);
    at.params = at.w + 2 * at.w_bytes;
    const int is_parts = has == XPU_WINDOW_WEIGHTS && format.operand == 1u &&
                         xpu_tiling_window_parts(s->kernel_h) * xpu_tiling_window_parts(s->kernel_w) > 1;
    const uint64_t sums = is_parts ? y / format.result * 4 : 0;
    const uint32_t params = XPU_TILING_PARAMS * (has == XPU_WINDOW_COUNTS ? taps : 1);
    at.total = inputs * x + 2 * (y + at.w_bytes) + 4 * 64 + params + sums;
    return at;
}

/* Bits of `whole` of window_i8 and window_i16. */
enum {
    XPU_WINDOW_WHOLE = 1,    /* as in descriptors: the window is all of the tile */
    XPU_WINDOW_COMPUTED = 2, /* an earlier layer makes bias or factors: they are loaded behind it */
    XPU_WINDOW_MAXIMUM = 4,  /* of window_i16: it has no weights */
    XPU_WINDOW_AVERAGE = 8   /* the same, and it has parameters for each number of taps that count */
};

/* `tail` of pipeline_lists: the first layer are windows, the next one a product that reads their results in SM. */
enum { XPU_WINDOWS_FIRST = -1 };

/* What of a layer stays in SM, bits of `whole`. */
enum {
    XPU_TILE_WHOLE_X = 1,      /* the input tile has all input channels, for all column tiles; else a chunk's */
    XPU_TILE_WHOLE_W = 2,      /* all weights are loaded once; else two blocks take turns */
    XPU_TILE_ONE_X = 4,        /* one buffer for input tiles instead of two: there is one tile */
    XPU_TILE_SCALES = 8,       /* scales and bias are loaded once, at once; else they are read where they are */
    XPU_TILE_THREE_Y = 16,     /* three buffers for output tiles instead of two: the engine waits for no store */
    XPU_TILE_NO_Y = 32,        /* none: results go to a ring of rows (xpu_tiling_ring) */
    XPU_TILE_THREE_X = 64,     /* three buffers for input tiles: a tile is loaded while two are computed */
    XPU_TILE_THREE_W = 128,    /* three blocks of weights take turns instead of two */
    XPU_TILE_LATE_SCALES = 256 /* an earlier layer computes scales or bias: they are loaded behind it */
};

static inline uint32_t xpu_tiling_x_buffers(int32_t whole) {
    return whole & XPU_TILE_ONE_X ? 1 : whole & XPU_TILE_THREE_X ? 3 : 2;
}

/* Blocks of weights that take turns, where not all are there. */
static inline uint32_t xpu_tiling_w_buffers(int32_t whole) {
    return (whole & (XPU_TILE_THREE_W | XPU_TILE_WHOLE_W)) == XPU_TILE_THREE_W ? 3 : 2;
}

/* Bytes from a pixel of an input tile to the next: what the array reads of bytes in a cycle, 32 channels of a pixel,
 * lies in one line. int16 is converted on its way here, 16 elements a cycle, best without gaps. */
static inline uint32_t xpu_tiling_x_pitch(uint32_t channels, uint32_t operand) {
    return operand == 1u && channels > 32u ? (channels + 31u) & ~31u : channels * operand;
}

/* Where things lie in the layer's scratch in SM, in bytes from its start; of x, y and branch there are two, of x and y
 * perhaps three, each *_bytes after the one before. */
typedef struct {
    uint32_t x, x_bytes;           /* input tile, channel last */
    uint32_t w, w_bytes;           /* a block of weights; two or three of them, or all weights in their packed order */
    uint32_t y, y_bytes;           /* output tile [tile_h][tile_w][columns] */
    uint32_t branch, branch_bytes; /* the same of the branch; 0 bytes without one */
    uint32_t scale, bias;          /* float32 or int32 [out_c] */
    uint32_t params;
    uint32_t total;
} xpu_tiling_scratch;

/* Bytes of all weights of a layer as they are packed. */
static inline uint64_t xpu_tiling_weights(const xpu_tiling_shape *s, int32_t columns, xpu_tiling_format format) {
    uint64_t channels = 0;
    for (int32_t i = 0; i < xpu_tiling_column_tiles(s->out_c, columns); i++) {
        int32_t begin, end;
        xpu_tiling_channels(s->out_c, s->in_c, s->groups, columns, i, &begin, &end);
        channels += (uint64_t)(end - begin);
    }
    return channels * (uint64_t)s->kernel_h * (uint64_t)s->kernel_w * (uint64_t)columns * format.weight;
}

static inline xpu_tiling_scratch xpu_tiling_layout(const xpu_tiling_shape *s, int32_t tile_h, int32_t tile_w,
                                                   int32_t tile_c, int32_t whole, int32_t columns, int has_branch,
                                                   xpu_tiling_format format) {
    xpu_tiling_scratch at = {0};
    int32_t rows = xpu_tiling_input_extent(tile_h, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
    int32_t cols = xpu_tiling_input_extent(tile_w, s->stride_w, s->kernel_w, s->dilation_w, s->in_w);
    uint32_t channels = (uint32_t)(whole & XPU_TILE_WHOLE_X ? s->in_c : tile_c);
    uint32_t block = xpu_tiling_align(xpu_tiling_block_bytes(s->kernel_h, s->kernel_w, tile_c, columns, format));
    uint32_t all = xpu_tiling_align((uint32_t)xpu_tiling_weights(s, columns, format));
    at.x_bytes = xpu_tiling_align((uint32_t)rows * (uint32_t)cols * xpu_tiling_x_pitch(channels, format.operand));
    at.w_bytes = whole & XPU_TILE_WHOLE_W ? 0 : block;
    at.y_bytes = xpu_tiling_align((uint32_t)tile_h * (uint32_t)tile_w * (uint32_t)columns * format.result);
    at.branch_bytes = has_branch ? at.y_bytes : 0;
    at.x = 0;
    at.w = at.x + xpu_tiling_x_buffers(whole) * at.x_bytes;
    at.y = at.w + (whole & XPU_TILE_WHOLE_W ? all : xpu_tiling_w_buffers(whole) * block);
    at.branch = at.y + (whole & XPU_TILE_NO_Y ? 0 : whole & XPU_TILE_THREE_Y ? 3 : 2) * at.y_bytes;
    at.scale = at.branch + 2 * at.branch_bytes;
    uint32_t scales = whole & XPU_TILE_SCALES ? xpu_tiling_align((uint32_t)s->out_c * 4u) : 0;
    at.bias = at.scale + scales;
    at.params = at.bias + scales;
    at.total = at.params + XPU_TILING_PARAMS;
    return at;
}

/* A product and the windows over its result, which passes through SM only: of each column tile a ring of `rows` rows
 * [rows][width][columns], which the product fills made_rows at a time and the windows read for step_rows rows of
 * theirs. The product has whole rows and pixels, and a step of the windows is a column tile's channels. */
typedef struct {
    int32_t rows, made_rows, step_rows;
    int32_t whole_w; /* all weights of the product have room; else one tile has all rows, which needs each block once */
    int32_t slots;   /* places in turn of a step's rows with all channels, of which a product behind reads them; 0: the
                        windows' results are stored */
    int32_t lag;     /* descriptors of the first product that come before a step of that one, behind those it needs */
} xpu_tiling_ring;

/* The bits of `whole` of such a product. */
static inline int32_t xpu_tiling_ring_whole(const xpu_tiling_ring *r, int32_t height) {
    const int32_t common = XPU_TILE_WHOLE_X | XPU_TILE_SCALES | XPU_TILE_NO_Y;
    return common | (r->whole_w ? XPU_TILE_WHOLE_W : XPU_TILE_THREE_W) |
           (r->made_rows >= height ? XPU_TILE_ONE_X : XPU_TILE_THREE_X);
}

/* The fewest rows: windows hold up their own while the product makes a tile. */
static inline int32_t xpu_tiling_least_ring(const xpu_tiling_shape *windows, int32_t made_rows, int32_t step_rows) {
    const int32_t least =
        made_rows - 1 +
        xpu_tiling_input_extent(step_rows, windows->stride_h, windows->kernel_h, windows->dilation_h, windows->in_h);
    return (least + made_rows - 1) / made_rows * made_rows;
}

/* The tile of the product with the last row that a step of the windows reads. */
static inline int32_t xpu_tiling_last_tile(const xpu_tiling_shape *windows, const xpu_tiling_ring *r, int32_t pad_top,
                                           int32_t step) {
    const int32_t reach = (windows->kernel_h - 1) * windows->dilation_h + 1;
    const int32_t end = xpu_tiling_min((step + 1) * r->step_rows, windows->out_h);
    const int32_t last = (end - 1) * windows->stride_h - pad_top + reach - 1;
    return (last < 0 ? 0 : xpu_tiling_min(last, windows->in_h - 1)) / r->made_rows;
}

/* How many descriptors of the first product stand in front of the step of the one behind the windows: `blocks` for each
 * tile. Behind the last step there is none. */
static inline int32_t xpu_tiling_before_step(const xpu_tiling_shape *windows, const xpu_tiling_ring *r, int32_t pad_top,
                                             int32_t blocks, int32_t step) {
    const int32_t all = (windows->in_h + r->made_rows - 1) / r->made_rows * blocks;
    if ((step + 1) * r->step_rows >= windows->out_h) return all;
    return xpu_tiling_min((xpu_tiling_last_tile(windows, r, pad_top, step) + 1) * blocks + r->lag, all);
}

/* Where things lie in the scratch of both, which begins at `sm`: what the product has, the ring, what the windows have:
 * three buffers of results (slots are elsewhere), weights, bias and factors of all channels, parameters. */
typedef struct {
    uint32_t ring, row_bytes, block_bytes; /* of a row, of a column tile's ring */
    uint32_t y, y_bytes, w, bias, factors, params;
    uint64_t total; /* bytes */
} xpu_tiling_ring_scratch;

static inline xpu_tiling_ring_scratch xpu_tiling_ring_layout(const xpu_tiling_shape *product,
                                                             const xpu_tiling_shape *windows, const xpu_tiling_ring *r,
                                                             int32_t columns, uint32_t sm, xpu_tiling_format format) {
    xpu_tiling_ring_scratch at;
    const uint32_t channels = (uint32_t)windows->in_c, taps = (uint32_t)(windows->kernel_h * windows->kernel_w);
    const uint64_t row = (uint64_t)windows->in_w * (uint64_t)columns, ring = (uint64_t)r->rows * row;
    const uint64_t pixel = r->slots ? xpu_tiling_x_pitch(channels, format.result) : (uint64_t)columns;
    const uint64_t y = (uint64_t)r->step_rows * (uint64_t)windows->out_w * pixel;
    const uint32_t results = r->slots ? 0 : 3;
    const uint64_t blocks = (uint64_t)xpu_tiling_column_tiles(windows->in_c, columns);
    const int32_t whole = xpu_tiling_ring_whole(r, product->out_h);
    at.ring =
        sm + xpu_tiling_layout(product, r->made_rows, product->out_w, product->in_c, whole, columns, 0, format).total;
    at.row_bytes = (uint32_t)row;
    at.block_bytes = xpu_tiling_align((uint32_t)ring);
    at.y = at.ring + (uint32_t)blocks * at.block_bytes;
    at.y_bytes = xpu_tiling_align((uint32_t)y);
    at.w = at.y + results * at.y_bytes;
    at.bias = at.w + xpu_tiling_align(taps * channels);
    at.factors = at.bias + xpu_tiling_align(4 * channels);
    at.params = at.factors + xpu_tiling_align(4 * channels);
    at.total = at.ring - sm + blocks * (ring + 63) + results * (y + 63) + (at.params - at.w) + XPU_TILING_PARAMS;
    return at;
}

/* The bits of `whole` of the product behind the windows, whose input tiles are the slots, and bytes of its scratch,
 * which begins with these. Weights stay, but where one step has all rows, which needs each block once. */
static inline int32_t xpu_tiling_behind_whole(const xpu_tiling_ring *r, int32_t height) {
    const int32_t common = XPU_TILE_WHOLE_X | XPU_TILE_SCALES | XPU_TILE_THREE_Y;
    return common | (r->step_rows >= height ? XPU_TILE_THREE_W : XPU_TILE_WHOLE_W) |
           (r->slots == 1   ? XPU_TILE_ONE_X
            : r->slots == 3 ? XPU_TILE_THREE_X
                            : 0);
}

static inline uint64_t xpu_tiling_behind(const xpu_tiling_shape *s, const xpu_tiling_ring *r, int32_t tile_c,
                                         int32_t columns, int has_branch, xpu_tiling_format format) {
    const int32_t whole = xpu_tiling_behind_whole(r, s->out_h);
    return xpu_tiling_layout(s, r->step_rows, s->out_w, tile_c, whole, columns, has_branch, format).total;
}

/* Windows with no product before them, whose results a product reads in slots as above: what they have in SM
 * themselves, tiles of step_rows whole rows with all channels, in whole lines. */
static inline uint64_t xpu_tiling_before_slots(const xpu_tiling_shape *windows, int32_t step_rows, int has_weights) {
    const xpu_tiling_task task = {windows->in_c, xpu_tiling_min(step_rows, windows->out_h), windows->out_w};
    const xpu_tiling_format format = {1, 1, 0};
    return (xpu_tiling_window_buffers_of(windows, &task, has_weights, format).total + 63) / 64 * 64;
}

/* Bytes from a slot to the next. */
static inline uint32_t xpu_tiling_slot_bytes(const xpu_tiling_shape *windows, int32_t step_rows) {
    const uint32_t pixel = xpu_tiling_x_pitch((uint32_t)windows->in_c, 1);
    return xpu_tiling_align((uint32_t)step_rows * (uint32_t)windows->out_w * pixel);
}

/* What recurrent_i16 has in SM, in bytes from the start of its scratch. Blocks of weights as above: a column tile, and
 * all of the state. Where not all stay, XPU_RECURRENT_RING of them take turns. */
enum { XPU_RECURRENT_RING = 4 };
typedef struct {
    uint32_t h;           /* the state as int16 [batch][hidden] */
    uint32_t z;           /* its products [batch][gates * hidden] */
    uint32_t scale, bias; /* float32 [gates * hidden] */
    uint32_t absmax;      /* of the state, then each core's */
    uint32_t w, block;    /* blocks of weights, bytes of one */
    uint32_t total;
} xpu_tiling_recurrence;

static inline xpu_tiling_recurrence xpu_tiling_recurrence_of(uint32_t batch, uint32_t hidden, uint32_t gates,
                                                             uint32_t columns, uint32_t weight, uint32_t slots) {
    enum { WORDS = 64 };
    xpu_tiling_recurrence at = {.h = 0};
    at.z = xpu_tiling_align(batch * hidden * 2u);
    at.scale = at.z + xpu_tiling_align(batch * gates * hidden * 4u);
    at.bias = at.scale + xpu_tiling_align(gates * hidden * 4u);
    at.absmax = at.bias + xpu_tiling_align(gates * hidden * 4u);
    at.w = at.absmax + WORDS * 4u;
    at.block = xpu_tiling_align(hidden * columns * weight);
    at.total = at.w + slots * at.block;
    return at;
}

/* Elementwise layers on the post-processor (kernel elementwise): a step is `tile` rows of `columns` elements, or where
 * columns is 0 `tile` elements. x, branch, y, where they are there: bytes of an element. one_branch: a row of it is for
 * all; by_image: scale and bias are not those of the image before. */
enum { XPU_TILING_TABLE = 256, XPU_ELEMENTWISE_BUFFERS = 3 };
typedef struct {
    uint32_t tile, columns, x, branch, y;
    int one_branch, scale, bias, by_image, table;
} xpu_tiling_elementwise;

/* What it has in SM; bias: from scale on. */
typedef struct {
    uint32_t params, table, vectors, vector_bytes, bias, x, x_bytes, branch, branch_bytes, y, y_bytes;
    uint64_t total;
} xpu_tiling_elementwise_scratch;

static inline xpu_tiling_elementwise_scratch xpu_tiling_elementwise_layout(const xpu_tiling_elementwise *s) {
    const uint64_t row = s->columns ? s->columns : 1, line = 63, vector = (4 * row + line) & ~line;
    const uint64_t x = (s->tile * row * s->x + line) & ~line, y = (s->tile * row * s->y + line) & ~line;
    const uint64_t branch = ((s->one_branch ? 1 : s->tile) * row * s->branch + line) & ~line;
    const uint64_t vectors = (s->scale ? vector : 0) + (s->bias ? vector : 0);
    xpu_tiling_elementwise_scratch at = {.table = XPU_TILING_PARAMS};
    at.vectors = at.table + (s->table ? XPU_TILING_TABLE : 0);
    at.vector_bytes = (uint32_t)vectors;
    at.bias = s->scale ? (uint32_t)vector : 0;
    at.x_bytes = (uint32_t)x, at.branch_bytes = (uint32_t)branch, at.y_bytes = (uint32_t)y;
    at.x = at.vectors + (s->by_image ? 2 : 1) * at.vector_bytes;
    at.branch = at.x + XPU_ELEMENTWISE_BUFFERS * at.x_bytes;
    at.y = at.branch + XPU_ELEMENTWISE_BUFFERS * at.branch_bytes;
    at.total = at.vectors + (s->by_image ? 2 : 1) * vectors + XPU_ELEMENTWISE_BUFFERS * (x + branch + y);
    return at;
}

#endif
