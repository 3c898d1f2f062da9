/* Windows over bytes: the fastest task that fits LM (depthwise_i8, max_pool_i8) or SM (window_i8), by a model of the
 * cores or of the engine, or none. */
#include "xpu_codegen/choose/byte_tasks.h"

#include <math.h>

#include "xpu_codegen/choose/costs.h"
#include "xpu_codegen/choose/listed.h"
#include "xpu_codegen/choose/long_rows.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

/* Cycles of a core, measured on the Verilated standard chip. */
enum {
    TASK_CYCLES = 500,
    TRANSFER_CYCLES = 90, /* to queue one */
    ROW_CYCLES = 90,      /* of output */
    INPUT_CYCLES = 60,    /* a row of input, to begin with */
    WIDEN_CYCLES = 32,    /* 256 bytes to int16 */
    TAP_ISSUE = 3,        /* instructions of a tap, and of a vector of pixels; */
    VECTOR_ISSUE = 18,
    RESCALE_PASSES = 5, /* passes of the vector unit over the sums of a vector to rescale them */
    LANES = 16,
    WEIGHTS_CYCLES = 600, /* of a block of channels */
    MAX_TAP_ISSUE = 9,    /* of max_pool_i8: of a tap, and of a pixel */
    MAX_PIXEL_ISSUE = 90,
    LARGE_CYCLES = 550, /* of large_max_pool_i8: of a pixel, and of a line of its taps */
    LARGE_LINE_CYCLES = 165,
    LARGE_GROUP_BYTES = 256, /* of taps, side by side */
    LARGE_GROUP_CYCLES = 6
};

typedef struct {
    xpu_tiling_shape shape, upper; /* the size that cycles are counted for, and what must fit */
    double batch;                  /* at the upper end of a free dim this and its products may be huge */
    int64_t room;                  /* bytes */
    uint32_t cores;
    int has;                  /* XPU_WINDOW_WEIGHTS .. of xpu_tiling.h */
    double least_step;        /* cycles that a step of the window engine is taken to need at least */
    xpu_tiling_format format; /* of elements in SM; 16-bit ones are float32 where they come from */
    int is_free;              /* images may be smaller than `upper` */
} problem;

static int64_t parts(int64_t total, int64_t part) {
    return (total + part - 1) / part;
}

/* The largest part of an even cut that has at most `most`. */
static int32_t largest_part(int32_t total, int64_t most) {
    return most >= total ? total : (int32_t)parts(total, parts(total, most));
}

/* The next smaller part that cuts `total` into more pieces of about one size; 0 behind 1. */
static int32_t next_part(int32_t total, int32_t part) {
    return part == 1 ? 0 : (int32_t)parts(total, parts(total, part - 1));
}

/* Of one output row of a task. */
static int64_t row_cycles(const problem *p, const xpu_tiling_task *t, const xpu_tiling_window *w) {
    int64_t taps = (int64_t)p->shape.kernel_h * p->shape.kernel_w;
    int64_t issue = p->has ? TAP_ISSUE * taps + VECTOR_ISSUE : MAX_TAP_ISSUE * taps + MAX_PIXEL_ISSUE;
    int64_t passes = parts((int64_t)t->tile_c * w->together, LANES);
    int64_t arithmetic = p->has ? passes * (taps + RESCALE_PASSES) : 0;
    return ROW_CYCLES + parts(t->tile_w, w->together) * (issue > arithmetic ? issue : arithmetic);
}

/* About the cycles of the core that has most to do. */
static double cycles_of(const problem *p, const xpu_tiling_task *t, const xpu_tiling_window *w) {
    const xpu_tiling_shape *s = &p->shape;
    int64_t blocks = parts(s->in_c, t->tile_c), tiles = parts(s->out_w, t->tile_w);
    double tasks = p->batch * (double)blocks * (double)tiles * (double)parts(s->out_h, t->tile_h);
    int64_t transfers = tiles > 1 ? (int64_t)w->in_rows + t->tile_h : 2;
    int64_t task = TASK_CYCLES + transfers * TRANSFER_CYCLES + t->tile_h * row_cycles(p, t, w);
    if (p->has)
        task += ((int64_t)w->in_rows + 1) * (INPUT_CYCLES + parts((int64_t)w->segment * t->tile_c, 256) * WIDEN_CYCLES);
    int64_t weights = p->has ? parts(blocks, p->cores) * WEIGHTS_CYCLES : 0;
    return ceil(tasks / p->cores) * (double)task + (double)weights;
}

/* The same of large_max_pool_i8. */
static double large_cycles_of(const problem *p) {
    const xpu_tiling_shape *s = &p->shape;
    double h = s->kernel_h < s->in_h ? s->kernel_h : s->in_h, w = s->kernel_w < s->in_w ? s->kernel_w : s->in_w;
    double tasks = p->batch * s->out_h * s->out_w * (double)parts(s->in_c, XPU_BYTE_CHANNELS);
    double block = s->in_c < XPU_BYTE_CHANNELS ? s->in_c : XPU_BYTE_CHANNELS, lines = h < w ? h : w;
    double taps = h * w * block / LARGE_GROUP_BYTES * LARGE_GROUP_CYCLES;
    return ceil(tasks / p->cores) * (LARGE_CYCLES + LARGE_LINE_CYCLES * lines + taps);
}

/* Its cycles; -1 where none fits. */
static double choose(const problem *p, xpu_tiling_task *best) {
    const xpu_tiling_shape *s = &p->shape;
    double least = -1;
    for (int32_t c = XPU_BYTE_CHANNELS; c > 0; c -= 16) {
        int64_t pixels = p->room / ((int64_t)2 * c); /* of results, which LM holds twice */
        if (c - 16 >= s->in_c || pixels < 1) continue;
        for (int32_t w = largest_part(s->out_w, pixels); w > 0; w = next_part(s->out_w, w)) {
            for (int32_t h = largest_part(s->out_h, pixels / w); h > 0; h = next_part(s->out_h, h)) {
                const xpu_tiling_task t = {c, h, w};
                if (xpu_tiling_window_of(&p->upper, &t, p->has).bytes > (uint64_t)p->room) continue;
                const xpu_tiling_window in_lm = xpu_tiling_window_of(s, &t, p->has);
                double cycles = cycles_of(p, &t, &in_lm);
                if (least >= 0 && cycles >= least) continue;
                least = cycles;
                *best = t;
            }
        }
    }
    return least;
}

int xpu_byte_window_fits(const xpu_codegen *cg, const xpu_conv_shape *s, int has_weights) {
    return xpu_tiling_window_bytes(s->kernel[0], s->kernel[1], s->dilation[0], s->dilation[1], s->stride[1],
                                   xpu_dim_upper(cg, s->in_w), has_weights) <= (uint64_t)xpu_lm_room(cg);
}

int xpu_choose_byte_tasks(xpu_codegen *cg, const xpu_conv_shape *conv, int has_weights, xpu_byte_tasks *tasks) {
    if (!xpu_byte_window_fits(cg, conv, has_weights)) return 0;
    const xpu_tiling_shape upper = xpu_tiling_shape_of(cg, conv);
    problem p = {upper, upper, (double)xpu_dim_upper(cg, conv->batch), xpu_lm_room(cg), cg->chip.cores, has_weights};
    xpu_list_sizes(cg, conv, &tasks->sizes);
    for (uint32_t i = 0; i < tasks->sizes.count; i++) {
        p.shape = xpu_shape_of_size(&upper, &tasks->sizes.items[i]);
        tasks->cycles = choose(&p, &tasks->items[i]);
        if (tasks->cycles < 0) return 0;
    }
    tasks->predicted = tasks->cycles;
    return has_weights || tasks->cycles <= large_cycles_of(&p);
}

/* ---- the window engine ---- */

enum {
    ENGINE_STEP = 1000, /* cycles that one is taken to need at least: small tasks read rows again */
    WIDE_STEP = 600,    /* the same of 16-bit operands, on mobilenet_v2 with lists */
    ENGINE_START = 300,
    ENGINE_LINE = 64,
    FLOAT_BYTES = 4,
    ENGINE_GROUP = 110,      /* of a group of channels, beside its pixels */
    ENGINE_PIXEL = 2,        /* cycles of DMA for one that lies apart */
    ENGINE_COPY = 40,        /* between two copies of 16-bit operands */
    ENGINE_MOST_STRIDE = 255 /* fields of 8 bits */
};

/* Cycles of the slowest part of a step, and of its load and store. */
typedef struct {
    double step, ends;
} engine_cycles;

/* Of the taps of an output; parts read and write sums, too. */
static double output_cycles_of(const problem *p) {
    enum { SUM_LINES = 4 };
    const xpu_tiling_shape *s = &p->shape;
    if (p->has != XPU_WINDOW_WEIGHTS || p->format.operand > 1)
        return (double)parts((int64_t)s->kernel_h * s->kernel_w, XPU_WINDOW_TAPS);
    const int64_t rows = xpu_tiling_window_parts(s->kernel_h), columns = xpu_tiling_window_parts(s->kernel_w);
    const int64_t taps = (int64_t)xpu_tiling_window_part(s->kernel_h) * xpu_tiling_window_part(s->kernel_w);
    int64_t part = parts(taps, XPU_WINDOW_TAPS);
    if (rows * columns > 1 && part < SUM_LINES) part = SUM_LINES;
    return (double)(rows * columns * part);
}

static engine_cycles step_cycles_of(const problem *p, const xpu_tiling_task *t, uint32_t channels) {
    const xpu_tiling_shape *s = &p->shape;
    const xpu_tiling_window_buffers at = xpu_tiling_window_buffers_of(s, t, p->has, p->format);
    const double rate = p->format.operand * p->format.weight; /* cycles for the products of a byte and a byte */
    const double taps = rate * output_cycles_of(p);
    /* bytes that do not lie side by side; 16 floats are a line */
    const double pixel = t->tile_c < s->in_c && p->format.operand == 1 ? ENGINE_PIXEL : 0;
    const double rows = xpu_tiling_input_extent(t->tile_h, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
    const double columns = xpu_tiling_input_extent(t->tile_w, s->stride_w, s->kernel_w, s->dilation_w, s->in_w);
    const double loaded = at.ring_rows ? (double)t->tile_h * s->stride_h : rows;
    const double elements = loaded * columns * t->tile_c, source = p->format.operand > 1 ? FLOAT_BYTES : 1;
    const double copy = p->format.operand > 1 ? ENGINE_COPY : 0;
    const double load = elements * source / ENGINE_LINE + pixel * elements / t->tile_c + copy;
    const double store = (double)at.y_bytes / ENGINE_LINE + pixel * t->tile_h * t->tile_w + copy;
    const double outputs = taps * t->tile_h * t->tile_w, groups = (double)parts(t->tile_c, channels);
    const double inputs = rows * columns;
    double step = groups * ((outputs > inputs ? outputs : inputs) + ENGINE_GROUP);
    if (step < load) step = load;
    if (step < store) step = store;
    if (step < p->least_step) step = p->least_step;
    return (engine_cycles){step, load * rows / loaded + store};
}

static uint64_t bytes_of_image(const problem *p, const xpu_tiling_task *t, int32_t out_h, int32_t out_w) {
    xpu_tiling_shape s = p->upper;
    s.out_h = out_h, s.out_w = out_w;
    return xpu_tiling_window_buffers_of(&s, t, p->has, p->format).total;
}

/* Bytes of SM; also of smaller images, which have a ring or none where the largest does not: all their rows may be one
 * tile, or all their columns. */
static uint64_t engine_bytes_of(const problem *p, const xpu_tiling_task *t) {
    uint64_t bytes = bytes_of_image(p, t, p->upper.out_h, p->upper.out_w);
    if (!p->is_free) return bytes;
    const uint64_t low = bytes_of_image(p, t, t->tile_h, p->upper.out_w);
    const uint64_t narrow = bytes_of_image(p, t, p->upper.out_h, t->tile_w);
    if (bytes < low) bytes = low;
    return bytes < narrow ? narrow : bytes;
}

/* Steps overlap: each takes what its slowest part takes; the first load and the last store are seen. */
static double engine_cycles_of(const problem *p, const xpu_tiling_task *t, uint32_t channels) {
    const xpu_tiling_shape *s = &p->shape;
    const double steps = p->batch * (double)parts(s->in_c, t->tile_c) * (double)parts(s->out_h, t->tile_h) *
                         (double)parts(s->out_w, t->tile_w);
    const engine_cycles of = step_cycles_of(p, t, channels);
    return steps * of.step + of.ends + ENGINE_START;
}

/* A tile has at most so many rows or columns of results. */
static int64_t most_extent(int64_t pixels) {
    return pixels < XPU_WINDOW_MOST_EXTENT ? pixels : XPU_WINDOW_MOST_EXTENT;
}

/* Whether its fields have room for the input of a tile. */
static int is_describable(const problem *p, const xpu_tiling_task *t) {
    const xpu_tiling_shape *s = &p->upper;
    /* where windows of a tile begin in it is negative padding to them, with 16 bits and a sign */
    const int32_t most = p->has == XPU_WINDOW_COUNTS ? INT16_MAX : XPU_WINDOW_MOST_EXTENT;
    return xpu_tiling_input_extent(t->tile_h, s->stride_h, s->kernel_h, s->dilation_h, s->in_h) <= most &&
           xpu_tiling_input_extent(t->tile_w, s->stride_w, s->kernel_w, s->dilation_w, s->in_w) <= most;
}

/* The fastest task with blocks of `block` channels, where it is faster than `least`, if that is not negative. */
static double try_block(const problem *p, uint32_t channels, int32_t block, double least, xpu_tiling_task *best) {
    const xpu_tiling_shape *s = &p->shape;
    const int64_t pixels = p->room / ((int64_t)2 * block);
    if (pixels < 1 || block > XPU_WINDOW_MOST_EXTENT) return least;
    for (int32_t w = largest_part(s->out_w, most_extent(pixels)); w > 0; w = next_part(s->out_w, w)) {
        for (int32_t h = largest_part(s->out_h, most_extent(pixels / w)); h > 0; h = next_part(s->out_h, h)) {
            const xpu_tiling_task t = {block, h, w};
            if (!is_describable(p, &t)) continue;
            if (engine_bytes_of(p, &t) > (uint64_t)p->room) continue;
            double cycles = engine_cycles_of(p, &t, channels);
            if (least >= 0 && cycles >= least) continue;
            least = cycles;
            *best = t;
        }
    }
    return least;
}

/* As choose, of SM. Fewer channels than the engine has only where no more have room, and 16-bit operands, which may
 * have no room in LM either. */
static double choose_for_engine(const problem *p, uint32_t channels, xpu_tiling_task *best) {
    enum { LEAST_BLOCK = 4 };
    const int32_t all = p->shape.in_c, group = (int32_t)channels;
    double least = -1;
    for (int32_t c = all; c > 0; c = c > group ? (int32_t)(parts(c / 2, group) * group) : 0)
        least = try_block(p, channels, c, least, best);
    for (int32_t c = group / 2; p->format.operand > 1 && least < 0 && c >= LEAST_BLOCK; c /= 2)
        if (c < all) least = try_block(p, channels, c, least, best);
    return least;
}

/* Whether the engine sees a row of 16-bit operands as rows of 7 taps: none of them are outside. */
static int is_row_of_rows(const xpu_codegen *cg, const xpu_conv_shape *s) {
    return xpu_is_long_row(cg, s) && s->kernel[1] % XPU_WINDOW_KERNEL == 0 && !s->begin[1] && !s->end[1];
}

/* Whether fields of descriptors have room for the window and its padding; depthwise kernels of bytes may be parts,
 * whose sums fit 32 bits. */
static int is_window(const xpu_conv_shape *s, int may_be_parts) {
    enum { MOST_TAPS = INT32_MAX / (UINT8_MAX * UINT8_MAX) - 1 };
    for (int d = 0; d < 2; d++)
        if ((s->kernel[d] > XPU_WINDOW_KERNEL && !may_be_parts) || s->stride[d] > ENGINE_MOST_STRIDE ||
            s->dilation[d] > ENGINE_MOST_STRIDE || s->kernel[d] > MOST_TAPS)
            return 0;
    return s->kernel[0] * s->kernel[1] <= MOST_TAPS && xpu_padding_fits(s);
}

static int choose_window_tasks(xpu_codegen *cg, const xpu_conv_shape *conv, int has, int is_whole,
                               xpu_tiling_format format, xpu_byte_tasks *tasks, int64_t *sm_bytes) {
    const int may_be_large = has == XPU_WINDOW_WEIGHTS && (format.operand == 1 || is_row_of_rows(cg, conv));
    if (!cg->chip.window_channels || (!is_whole && !is_window(conv, may_be_large))) return 0;
    const xpu_tiling_shape upper = xpu_tiling_shape_of(cg, conv);
    if (is_whole && (upper.in_h > XPU_WINDOW_MOST_EXTENT || upper.in_w > XPU_WINDOW_MOST_EXTENT)) return 0;
    problem p = {upper,
                 upper,
                 (double)xpu_dim_upper(cg, conv->batch),
                 (int64_t)cg->chip.sm_bytes - (int64_t)XPU_MAILBOX_BYTES * XPU_MAX_CORES,
                 cg->chip.cores,
                 has,
                 format.operand > 1 ? WIDE_STEP : ENGINE_STEP,
                 format,
                 !xpu_dim_is_const(&cg->graph->dims, conv->in_h, NULL) ||
                     !xpu_dim_is_const(&cg->graph->dims, conv->in_w, NULL)};
    *sm_bytes = 0;
    xpu_list_sizes(cg, conv, &tasks->sizes);
    for (uint32_t i = 0; i < tasks->sizes.count; i++) {
        p.shape = xpu_shape_of_size(&upper, &tasks->sizes.items[i]);
        tasks->cycles = choose_for_engine(&p, cg->chip.window_channels, &tasks->items[i]);
        if (tasks->cycles < 0) return 0;
        const int64_t bytes = (int64_t)engine_bytes_of(&p, &tasks->items[i]);
        if (bytes > *sm_bytes) *sm_bytes = bytes;
    }
    if (xpu_when_listed(cg) != XPU_NOT_LISTED) p.least_step = xpu_cost.listed_step;
    tasks->predicted = engine_cycles_of(&p, &tasks->items[tasks->sizes.count - 1], cg->chip.window_channels);
    return 1;
}

int xpu_choose_window_tasks(xpu_codegen *cg, const xpu_conv_shape *conv, int has, int is_whole, xpu_byte_tasks *tasks,
                            int64_t *sm_bytes) {
    return choose_window_tasks(cg, conv, has, is_whole, XPU_TILING_I8, tasks, sm_bytes);
}

int xpu_choose_wide_window_tasks(xpu_codegen *cg, const xpu_conv_shape *conv, int has, int is_whole,
                                 xpu_tiling_format format, xpu_byte_tasks *tasks, int64_t *sm_bytes) {
    return choose_window_tasks(cg, conv, has, is_whole, format, tasks, sm_bytes);
}

/* ---- beside a product ---- */

/* A step waits for what the product stores, one tile and column tile after the other. `tiles` of so many rows stand one
 * below the other; each has `signals` stores, which are for `columns` channels each (0: they are not in this order). */
typedef struct {
    double cycles;
    int32_t tiles, rows, signals, columns;
    int32_t follows; /* so many stores of it come in front of a step that needs none of them */
} followed;

static followed followed_by(const xpu_tile *product, const xpu_tiling_shape *s, int32_t columns) {
    enum { SOME = 3 }; /* where one tile has all rows; each step of the product loads weights then */
    followed f = {.cycles = product->cycles, .rows = product->tile_h};
    const int32_t across = (int32_t)parts(s->in_w, product->tile_w);
    f.tiles = (int32_t)parts(s->in_h, product->tile_h);
    f.signals = across * (int32_t)parts(s->in_c, columns);
    f.columns = across > 1 ? 0 : columns;
    f.follows = f.tiles > 1 ? f.signals + 1 : SOME;
    return f;
}

/* Stores of the product in front of a step whose last row and channel of output these are. */
static int64_t stores_before(const followed *f, const xpu_tiling_shape *s, int32_t row, int32_t channel) {
    const int64_t last = (int64_t)row * s->stride_h + (int64_t)(s->kernel_h - 1) * s->dilation_h;
    const int64_t tile = last / f->rows < f->tiles ? last / f->rows : f->tiles - 1;
    const int64_t all = (int64_t)f->tiles * f->signals, of_tile = f->columns ? channel / f->columns + 1 : f->signals;
    const int64_t stores = tile * f->signals + of_tile + 1;
    return stores < all ? stores : all;
}

/* Cycles until the last step ends, from the product's begin. */
static double following_cycles_of(const problem *p, const xpu_tiling_task *t, const followed *f, uint32_t channels) {
    const xpu_tiling_shape *s = &p->shape;
    const engine_cycles of = step_cycles_of(p, t, channels);
    const double store = f->cycles / ((double)f->tiles * f->signals);
    double now = 0;
    const double across = (double)parts(s->out_w, t->tile_w);
    for (int32_t c = 0; c < s->in_c; c += t->tile_c) {
        for (int32_t row = 0; row < s->out_h; row += t->tile_h) {
            const int32_t last = (row + t->tile_h < s->out_h ? row + t->tile_h : s->out_h) - 1;
            const int32_t channel = (c + t->tile_c < s->in_c ? c + t->tile_c : s->in_c) - 1;
            const double ready = store * (double)stores_before(f, s, last, channel);
            now = (now > ready ? now : ready) + across * of.step;
        }
    }
    return now + of.ends;
}

/* The fastest tasks in the room that the product leaves. */
static double choose_beside(const problem *p, const followed *f, uint32_t channels, xpu_tiling_task *best) {
    const xpu_tiling_shape *s = &p->shape;
    double least = -1;
    for (int32_t c = s->in_c; c > 0; c = c > (int32_t)channels ? (int32_t)(parts(c / 2, channels) * channels) : 0) {
        for (int32_t w = s->out_w; w > 0; w = next_part(s->out_w, w)) {
            for (int32_t h = s->out_h; h > 0; h = next_part(s->out_h, h)) {
                const xpu_tiling_task t = {c, h, w};
                if (xpu_tiling_window_buffers_of(s, &t, p->has, p->format).total > (uint64_t)p->room) continue;
                const double cycles = following_cycles_of(p, &t, f, channels);
                if (least >= 0 && cycles >= least) continue;
                least = cycles;
                *best = t;
            }
        }
    }
    return least;
}

const char *xpu_choose_following_tasks(xpu_codegen *cg, const xpu_conv_shape *conv, const xpu_tile *product,
                                       xpu_byte_tasks *tasks, int64_t *sm_bytes, int32_t *follows) {
    const xpu_tiling_shape shape = xpu_tiling_shape_of(cg, conv);
    const int64_t room = (int64_t)cg->chip.sm_bytes - (int64_t)XPU_MAILBOX_BYTES * XPU_MAX_CORES - product->sm_bytes;
    const problem p = {shape, shape, 1, room, cg->chip.cores, 1, ENGINE_STEP, XPU_TILING_I8, 0};
    if (xpu_dim_upper(cg, conv->batch) != 1) return "there are several images";
    if (shape.out_w > XPU_WINDOW_MOST_EXTENT || shape.out_h > XPU_WINDOW_MOST_EXTENT ||
        shape.in_c > XPU_WINDOW_MOST_EXTENT)
        return "its rows are too long";
    const followed f = followed_by(product, &shape, (int32_t)cg->chip.array_columns);
    xpu_tiling_task best;
    const double cycles = choose_beside(&p, &f, cg->chip.window_channels, &best);
    if (cycles < 0) return "shared memory has no room for the tiles of both";
    if (cycles >= product->cycles + tasks->cycles) return "one after the other is faster";
    tasks->items[0] = best;
    tasks->cycles = tasks->predicted = cycles - product->cycles;
    *sm_bytes = (int64_t)xpu_tiling_window_buffers_of(&shape, &best, 1, p.format).total;
    *follows = f.follows;
    return NULL;
}

/* ---- what is taken ---- */

xpu_tiling_format xpu_byte_format(const xpu_codegen *cg, xpu_node node) {
    return xpu_node_int(cg->graph, node, XPU_ATTR_DTYPE) == XPU_F32 ? XPU_TILING_I8F : XPU_TILING_I8;
}

/* Whether LM or the window engine has room for it. */
static int has_depthwise_tasks(xpu_codegen *cg, const xpu_conv_shape *s) {
    xpu_byte_tasks tasks;
    int64_t sm_bytes;
    return (s->kernel[0] <= XPU_BYTE_ROWS && xpu_byte_window_fits(cg, s, 1)) ||
           xpu_choose_window_tasks(cg, s, 1, 0, &tasks, &sm_bytes);
}

int xpu_is_byte_depthwise(xpu_codegen *cg, xpu_node node) {
    if (xpu_node_int(cg->graph, node, XPU_ATTR_DTYPE) == XPU_F32) return 0;
    xpu_conv_shape s = xpu_conv_shape_of(cg, node);
    int64_t channels;
    return s.groups > 1 && xpu_dim_is_const(&cg->graph->dims, s.in_c, &channels) && channels == s.groups &&
           xpu_dim_upper(cg, s.out_c) == channels && has_depthwise_tasks(cg, &s) &&
           !xpu_node_input(cg->graph, node, XPU_IN_BRANCH).id;
}
