/*
 * Tiles for the tensor engine: of those that fit SM and the accumulators and are about as fast as the fastest, by a
 * model of the engines, the one that reads least from GM. Where the size of images is free, one for each of several
 * ranges of sizes.
 */
#include "xpu_codegen/choose/tiles.h"

#include <math.h>

#include "xpu_codegen/choose/costs.h"
#include "xpu_codegen/choose/listed.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

enum {
    MAX_BYTE_FIELD = 255, /* kernel, stride and dilation in a descriptor */
    MAX_EXTENT = 65535,   /* rows, pixels and channels of a tile */
    LINE_BYTES = 64,      /* that an engine moves in a cycle */
    SHORT_PASS = 3,       /* times what its weights take */
    LISTED_OF_STEP = 5,   /* descriptors: two loads, a product, its drain, a store */
    FEW_COLUMN_TILES = 2,
    MAX_CHUNKS = 32 /* sizes of a chunk: halves of what is below 2^31 */
};

/* Tiles are as fast as the fastest with so many times its cycles: the model is not more exact than that. */
#define AS_FAST 1.012

/* Of the shorter of computing and moving images through GM what the longer does not hide: buffers are two. */
#define NOT_HIDDEN 0.1

/* Tiles for images in GM are taken where they are so much faster there than those for images in L3. */
#define WORTH 0.97

typedef struct {
    xpu_tiling_shape shape;                               /* the size that cycles are counted for */
    int32_t most_in_h, most_in_w, most_out_h, most_out_w; /* what must fit */
    int64_t batch;
    int32_t columns, acc_rows, widest; /* widest: input channels of the widest column tile */
    uint32_t sm_bytes;
    int has_branch, restored, own_weights, woven;
    xpu_listed listed;                  /* who makes descriptors */
    double x_pixels, x_pitch, gm_rate;  /* of an image; bytes from one to the next; bytes of weights in a cycle */
    double slow_x, slow_y, slow_branch; /* cycles of a line in GM; 0: it lies in L3 */
    xpu_tiling_format format;
    uint32_t input_bytes; /* of an element of x in memory */
    const xpu_chip *chip;
} problem;

static problem make_problem(xpu_codegen *cg, const xpu_conv_shape *s, int has_branch, xpu_tiling_format format) {
    const xpu_conv_shape loaded = xpu_loaded_shape(cg, s);
    const xpu_tiling_shape shape = xpu_tiling_shape_of(cg, &loaded);
    problem p = {.shape = shape,
                 .most_in_h = shape.in_h,
                 .most_in_w = shape.in_w,
                 .most_out_h = shape.out_h,
                 .most_out_w = shape.out_w,
                 .batch = xpu_bounded(cg, s->batch),
                 .columns = (int32_t)cg->chip.array_columns,
                 .acc_rows = (int32_t)cg->chip.acc_rows,
                 .sm_bytes = cg->chip.sm_bytes - XPU_MAILBOX_BYTES * XPU_MAX_CORES,
                 .has_branch = has_branch,
                 .restored = s->restored,
                 .woven = s->woven,
                 .own_weights = s->own_weights && xpu_bounded(cg, s->batch) > 1,
                 .listed = s->own_weights ? XPU_NOT_LISTED : xpu_when_listed(cg),
                 .format = format,
                 .input_bytes = format.operand == 2 || s->quantised ? 4 : 1,
                 .gm_rate = cg->chip.gm_rate < LINE_BYTES ? cg->chip.gm_rate : LINE_BYTES,
                 .chip = &cg->chip};
    const double line = LINE_BYTES / p.gm_rate;
    p.slow_x = s->slow & XPU_SLOW_X ? line : 0;
    p.slow_y = s->slow & XPU_SLOW_Y ? line : 0;
    p.slow_branch = s->slow & XPU_SLOW_BRANCH ? line : 0;
    p.x_pixels = (double)xpu_bounded(cg, s->in_h) * xpu_bounded(cg, s->in_w);
    const int64_t stride = s->stride[1] / loaded.stride[1]; /* of the pixels that are loaded */
    p.x_pitch = (double)shape.in_c * p.input_bytes * (double)stride;
    for (int32_t i = 0; i < xpu_tiling_column_tiles(p.shape.out_c, p.columns); i++) {
        int32_t begin, end;
        xpu_tiling_channels(p.shape.out_c, p.shape.in_c, p.shape.groups, p.columns, i, &begin, &end);
        if (end - begin > p.widest) p.widest = end - begin;
    }
    return p;
}

static const char *check_fields(const xpu_conv_shape *s) {
    for (int axis = 0; axis < 2; axis++) {
        if (s->kernel[axis] > MAX_BYTE_FIELD) return "a kernel over 255 does not fit a tensor descriptor";
        if (s->stride[axis] > MAX_BYTE_FIELD) return "a stride over 255 does not fit a tensor descriptor";
        if (s->dilation[axis] > MAX_BYTE_FIELD) return "a dilation over 255 does not fit a tensor descriptor";
    }
    return xpu_padding_fits(s) ? NULL : "padding over 32767 does not fit a tensor descriptor";
}

/* ---- cycles ---- */

/* How a layer is cut. */
typedef struct {
    int32_t tile_h, tile_w, tile_c, whole;
} cut;

static double parts(double total, double part) {
    return ceil(total / part);
}

/* Lines of memory that a box of `rows` rows x `pixels` pixels of `bytes` bytes takes, `pitch` bytes from pixel to
 * pixel: neighbouring pixels without gaps are one run. */
static double lines_of(double rows, double pixels, double bytes, double pitch) {
    return bytes == pitch ? rows * parts(pixels * bytes, LINE_BYTES) : rows * pixels * parts(bytes, LINE_BYTES);
}

/* The same of the input of a tile. Planes that are woven come in runs of 16 elements, a line each, or two where rows do
 * not begin at a line. */
static double input_lines_of(const problem *p, const cut *c, double rows, double pixels, double channels) {
    if (!p->woven) return lines_of(rows, pixels, channels * p->input_bytes, p->x_pitch);
    return rows * channels * parts(pixels * p->input_bytes, LINE_BYTES) * (c->tile_w < p->shape.out_w ? 2 : 1);
}

static double tiles_of(const problem *p, const cut *c) {
    return (double)p->batch * parts(p->shape.out_h, c->tile_h) * parts(p->shape.out_w, c->tile_w);
}

/* Bytes of the weights of all column tiles. */
static double weights_of(const problem *p) {
    const xpu_tiling_shape *s = &p->shape;
    double columns = (double)xpu_tiling_column_tiles(s->out_c, p->columns) * p->columns;
    return (double)s->kernel_h * s->kernel_w * p->widest * columns * p->format.weight;
}

/* Bytes that are read from GM, where weights are. */
static double gm_bytes_of(const problem *p, const cut *c) {
    return weights_of(p) * (c->whole & XPU_TILE_WHOLE_W ? 1 : tiles_of(p, c));
}

/* How often x is loaded: neighbouring tiles share rows, and each column tile needs all of a tile that is loaded by
 * chunks. */
static uint32_t x_reads_of(const problem *p, const cut *c) {
    const xpu_tiling_shape *s = &p->shape;
    double rows = xpu_tiling_input_extent(c->tile_h, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
    double pixels = xpu_tiling_input_extent(c->tile_w, s->stride_w, s->kernel_w, s->dilation_w, s->in_w);
    double loads = c->whole & XPU_TILE_WHOLE_X ? 1 : xpu_tiling_column_tiles(s->out_c, p->columns);
    double reads = loads * tiles_of(p, c) * rows * pixels / ((double)p->batch * p->x_pixels);
    return reads < 1 ? 1 : (uint32_t)(reads + 0.5);
}

/* Cycles of a pass, which needs so many steps: the array loads the weights of the next one meanwhile, a row at least as
 * fast as its lines come. 16-bit weights are loaded once for each byte or, where the steps are few, both at once before
 * them (sim/rtl/xpu_tensor_array.svh). */
static double pass_of(const problem *p, double pixels, double steps) {
    const double rows = p->chip->array_rows, lines = (double)p->columns * p->format.weight / LINE_BYTES;
    const double least = 1.0 / p->chip->weight_rows, load = rows * (lines > least ? lines : least);
    if (p->format.weight > 1 && 4 * pixels < p->chip->array_rows) return load + steps;
    const double loads = p->format.weight * load;
    return steps > loads ? steps : loads;
}

/* Cycles of the array for the passes of a tile of so many pixels. */
static double tile_cycles_of(const problem *p, double pixels, double passes, double drain, int could_be_larger) {
    double steps = pixels * p->format.operand * p->format.weight; /* 16-bit operands pass the cells byte by byte */
    double row_loads = (double)p->format.weight * parts(p->chip->array_rows, p->chip->weight_rows);
    double pass = pass_of(p, pixels, steps);
    double cycles = passes * pass > pixels * drain ? passes * pass : pixels * drain;
    return cycles + (could_be_larger && steps < SHORT_PASS * row_loads ? xpu_cost.pass * passes : 0);
}

/* Of all tiles for one column tile: those at the right and at the lower edge have fewer pixels. */
static double array_of(const problem *p, const cut *c, double passes, double drain) {
    const xpu_tiling_shape *s = &p->shape;
    const int32_t h[] = {c->tile_h, s->out_h % c->tile_h}, w[] = {c->tile_w, s->out_w % c->tile_w};
    const int32_t down[] = {s->out_h / c->tile_h, h[1] > 0}, across[] = {s->out_w / c->tile_w, w[1] > 0};
    const int could_be_larger = c->tile_h < s->out_h || c->tile_w < s->out_w;
    double cycles = 0;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            double tiles = (double)p->batch * down[i] * across[k];
            if (tiles > 0) cycles += tiles * tile_cycles_of(p, (double)h[i] * w[k], passes, drain, could_be_larger);
        }
    }
    return cycles;
}

/* Whether lists are expected: with free shapes most are smaller than the largest, which this is. */
static int is_listed(const problem *p, double steps) {
    return p->listed == XPU_LISTED_WHEN_BOUND || (p->listed == XPU_LISTED && LISTED_OF_STEP * steps <= XPU_MOST_LISTED);
}

/* What steps are taken to cost where a cut is chosen. More than they take where lists are there: small tiles read
 * weights again. At another of the free shapes core 0 may have to make the descriptors. */
static double steps_of(const problem *p, double steps, double tiles) {
    const int at_all_shapes = p->listed == XPU_LISTED && is_listed(p, steps);
    return steps * xpu_cost.step + (at_all_shapes ? 0 : tiles * xpu_cost.tile);
}

/* Lines of x that all tiles load. */
static double x_lines_of(const problem *p, const cut *c) {
    const xpu_tiling_shape *s = &p->shape;
    const int32_t rows = xpu_tiling_input_extent(c->tile_h, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
    const int32_t pixels = xpu_tiling_input_extent(c->tile_w, s->stride_w, s->kernel_w, s->dilation_w, s->in_w);
    const int whole = c->whole & XPU_TILE_WHOLE_X;
    const double channels = whole ? s->in_c : c->tile_c, column_tiles = xpu_tiling_column_tiles(s->out_c, p->columns);
    const double loads = whole ? 1 : column_tiles * xpu_tiling_chunks(0, p->widest, c->tile_c);
    return tiles_of(p, c) * loads * input_lines_of(p, c, rows, pixels, channels);
}

/* Bytes that loads read from GM: weights, and x where it lies there. */
static double crossing_of(const problem *p, const cut *c) {
    return gm_bytes_of(p, c) + (p->slow_x > 0 ? LINE_BYTES * x_lines_of(p, c) : 0);
}

/* Cycles of loads and stores where images lie in GM, the longest of what either engine and GM have to do; *tail: how
 * much longer the first load and the last drain take. 0: no image does. */
static double slow_cycles_of(const problem *p, const cut *c, const xpu_layer_model *model, double y_lines,
                             double *tail) {
    *tail = 0;
    if (p->slow_x + p->slow_y + p->slow_branch <= 0) return 0;
    const double x = x_lines_of(p, c), weights = gm_bytes_of(p, c) / p->gm_rate;
    const double tile = (double)c->tile_h * c->tile_w, y = (double)p->batch * p->shape.out_h * p->shape.out_w *
                                                           xpu_tiling_column_tiles(p->shape.out_c, p->columns) *
                                                           y_lines;
    const double load = model->load + weights + (p->slow_x > 0 ? x * (p->slow_x - 1) : 0) +
                        (p->slow_branch > 0 ? y * (p->slow_branch - 1) : 0);
    const double store = model->store + (p->slow_y > 0 ? y * (p->slow_y - 1) : 0);
    const double all = weights + x * p->slow_x + y * p->slow_y + y * p->slow_branch;
    const double loads =
        tiles_of(p, c) * (c->whole & XPU_TILE_WHOLE_X ? 1
                                                      : xpu_tiling_column_tiles(p->shape.out_c, p->columns) *
                                                            xpu_tiling_chunks(0, p->widest, c->tile_c));
    if (p->slow_x > 0) *tail += x / loads * (p->slow_x - 1);
    if (p->slow_y > 0) *tail += tile * y_lines * (p->slow_y - 1);
    const double most = load > store ? load : store;
    return most > all ? most : all;
}

/* What of the first load of x is seen before the array begins: that of pixels comes in pieces where descriptors are
 * made before the start (matrix_tensor.c), which 16-bit weights take longer to multiply than to load. */
static double first_load_of(const problem *p, const cut *c, double steps, double x) {
    enum { PIECE = 200, FEW_PIXELS = 8 };
    const int is_pixel = p->shape.kernel_h == 1 && p->shape.kernel_w == 1 && p->shape.groups == 1 &&
                         (double)c->tile_h * c->tile_w >= FEW_PIXELS;
    const int in_pieces = is_pixel && p->format.operand == 2 && p->format.weight == 2 && c->whole & XPU_TILE_WHOLE_X;
    return in_pieces && x > PIECE && is_listed(p, steps) ? PIECE : x;
}

/* Cycles of all steps, by the unit that has most to do: array, the two DMA engines or core 0, which makes the
 * descriptors; and what nothing overlaps: the first loads and the last drain. */
static double cycles_of(const problem *p, const cut *c, xpu_layer_model *model) {
    const xpu_tiling_shape *s = &p->shape;
    int32_t rows = xpu_tiling_input_extent(c->tile_h, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
    int32_t pixels = xpu_tiling_input_extent(c->tile_w, s->stride_w, s->kernel_w, s->dilation_w, s->in_w);
    double column_tiles = xpu_tiling_column_tiles(s->out_c, p->columns), taps = (double)s->kernel_h * s->kernel_w;
    double chunks = xpu_tiling_chunks(0, p->widest, c->tile_c), last = p->widest - (chunks - 1) * c->tile_c;
    double tiles = tiles_of(p, c);
    double results = (double)p->batch * s->out_h * s->out_w, result = p->format.result, weight = p->format.weight;
    double passes =
        (chunks - 1) * parts(taps * c->tile_c, p->chip->array_rows) + parts(taps * last, p->chip->array_rows);
    double y_lines = parts(p->columns * result, LINE_BYTES), groups = parts(p->columns, p->chip->post_lanes);
    double drain = y_lines > groups ? y_lines : groups, tile = (double)c->tile_h * c->tile_w;
    double array = column_tiles * array_of(p, c, passes, drain);
    int whole_x = c->whole & XPU_TILE_WHOLE_X, whole_w = c->whole & XPU_TILE_WHOLE_W;
    double channels = whole_x ? s->in_c : c->tile_c, inputs = whole_x ? 1 : column_tiles * chunks;
    double x = input_lines_of(p, c, rows, pixels, channels) + xpu_cost.copy;
    double block = taps * c->tile_c * p->columns * weight / p->gm_rate + xpu_cost.copy;
    double weights = weights_of(p) / p->gm_rate;
    double load = tiles * inputs * x + (whole_w ? weights : tiles * (weights + column_tiles * chunks * xpu_cost.copy));
    double store = results * column_tiles * y_lines + tiles * column_tiles * xpu_cost.copy;
    if (p->has_branch) load += store;
    double count = tiles * column_tiles * chunks, steps = steps_of(p, count, tiles);
    double queued = is_listed(p, count) ? count * xpu_cost.listed_step : steps;
    double most = array > load ? array : load;
    if (store > most) most = store;
    if (steps > most) most = steps;
    double behind = p->restored ? xpu_cost.restore * tile * s->out_c / p->chip->cores : 0; /* the last tile's rows */
    double tail = first_load_of(p, c, count, x) + block + tile * (drain + y_lines) + behind + 2 * xpu_cost.copy;
    *model = (xpu_layer_model){array > queued ? array : queued, load - gm_bytes_of(p, c) / p->gm_rate, store, tail};
    double later;
    const double slow = slow_cycles_of(p, c, model, y_lines, &later);
    return (most > slow ? most + NOT_HIDDEN * slow : slow + NOT_HIDDEN * most) + tail + later;
}

static int fits(const problem *p, const cut *c, uint32_t *bytes) {
    xpu_tiling_shape largest_of = p->shape;
    const xpu_tiling_shape *s = &largest_of;
    largest_of.in_h = p->most_in_h;
    largest_of.in_w = p->most_in_w;
    int32_t rows = xpu_tiling_input_extent(c->tile_h, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
    int32_t pixels = xpu_tiling_input_extent(c->tile_w, s->stride_w, s->kernel_w, s->dilation_w, s->in_w);
    int32_t channels = c->whole & XPU_TILE_WHOLE_X ? s->in_c : c->tile_c;
    double each = (double)s->kernel_h * s->kernel_w * c->tile_c * p->columns * p->format.weight;
    if (rows > MAX_EXTENT || pixels > MAX_EXTENT || channels > MAX_EXTENT) return 0;
    if (each > p->sm_bytes || (double)rows * pixels * channels * p->format.operand > p->sm_bytes) return 0;
    if (c->whole & XPU_TILE_WHOLE_W && xpu_tiling_weights(s, p->columns, p->format) > p->sm_bytes) return 0;
    xpu_tiling_scratch at =
        xpu_tiling_layout(s, c->tile_h, c->tile_w, c->tile_c, c->whole, p->columns, p->has_branch, p->format);
    *bytes = at.total;
    return *bytes <= p->sm_bytes;
}

static int32_t half(int32_t value) {
    return value == 1 ? 0 : (value + 1) / 2;
}

/* A cut of `total` into even parts, about a third smaller than `part`: 0 behind 1. */
static int32_t smaller(int32_t total, int32_t part) {
    if (part == 1) return 0;
    int32_t wanted = part < 3 ? 1 : part * 2 / 3, count = (total + wanted - 1) / wanted;
    return (total + count - 1) / count;
}

/* The largest even cut that has at most `most`. */
static int32_t largest(int32_t total, int32_t most) {
    int32_t count = (total + most - 1) / most;
    return (total + count - 1) / count;
}

/* Whether all pixels are one tile. */
static int is_one_tile(const problem *p, const cut *c) {
    return p->batch == 1 && c->tile_h >= p->most_out_h && c->tile_w >= p->most_out_w;
}

/* The best tile, and the best with each size of a chunk; cycles < 0: there is none. `fastest`: the least cycles, from a
 * search before, in the same order; NULL: this is that search. */
typedef struct choice {
    xpu_tile best, of_chunk[MAX_CHUNKS];
    const struct choice *fastest;
} choice;

/* Keeps the faster tile; behind the search for the fastest the one that reads less from GM, of those as fast as it. */
static void keep_better(xpu_tile *best, const xpu_tile *tile, const xpu_tile *fastest) {
    if (fastest && tile->cycles > AS_FAST * fastest->cycles) return;
    int is_better = best->cycles < 0 || tile->cycles < best->cycles;
    if (fastest && best->cycles >= 0 && tile->crossing != best->crossing) is_better = tile->crossing < best->crossing;
    if (is_better) *best = *tile;
}

static void add_buffer(const problem *p, cut *c, uint32_t *bytes, int32_t which) {
    cut more = *c;
    uint32_t more_bytes;
    more.whole |= which;
    if (!fits(p, &more, &more_bytes)) return;
    *c = more;
    *bytes = more_bytes;
}

/* Whether a step takes about as long as the load of its block of weights, or less. */
static int waits_for_weights(const problem *p, const cut *c) {
    const xpu_tiling_shape *s = &p->shape;
    const double rows = (double)s->kernel_h * s->kernel_w * c->tile_c;
    const double load = rows * p->columns * p->format.weight / p->gm_rate + xpu_cost.copy;
    const double pass =
        pass_of(p, (double)c->tile_h * c->tile_w, (double)c->tile_h * c->tile_w * p->format.operand * p->format.weight);
    return !(c->whole & XPU_TILE_WHOLE_W) && load + xpu_cost.copy > pass * parts(rows, p->chip->array_rows);
}

/* A third buffer for results, for blocks of weights that come as slowly as they are used, and for input tiles that few
 * steps read, where they fit: a place is free when its descriptor is done, a drain after the array has read it. */
static void add_buffers(const problem *p, cut *c, uint32_t *bytes) {
    const double columns = xpu_tiling_column_tiles(p->shape.out_c, p->columns), tiles = tiles_of(p, c);
    if (tiles * columns >= 3) add_buffer(p, c, bytes, XPU_TILE_THREE_Y);
    if (tiles >= 3 && columns <= FEW_COLUMN_TILES) add_buffer(p, c, bytes, XPU_TILE_THREE_X);
    if (waits_for_weights(p, c)) add_buffer(p, c, bytes, XPU_TILE_THREE_W);
}

static void try_cut(const problem *p, cut c, int chunk, choice *found) {
    uint32_t bytes;
    if (c.whole & XPU_TILE_WHOLE_X && is_one_tile(p, &c)) c.whole |= XPU_TILE_ONE_X;
    if (p->own_weights && c.whole & XPU_TILE_WHOLE_W) return; /* those of an image only are in SM */
    if (64.0 * p->shape.out_c <= p->sm_bytes && !p->own_weights) c.whole |= XPU_TILE_SCALES;
    if (!fits(p, &c, &bytes)) return;
    add_buffers(p, &c, &bytes);
    xpu_layer_model model;
    const double cycles = cycles_of(p, &c, &model);
    const xpu_tile tile = {c.tile_h, c.tile_w,           c.tile_c,           c.whole,          bytes, cycles,
                           model,    gm_bytes_of(p, &c), crossing_of(p, &c), x_reads_of(p, &c)};
    const choice *fastest = found->fastest;
    keep_better(&found->best, &tile, fastest ? &fastest->best : NULL);
    keep_better(&found->of_chunk[chunk], &tile, fastest ? &fastest->of_chunk[chunk] : NULL);
}

static void try_all(const problem *p, choice *found) {
    int32_t out_h = p->shape.out_h, out_w = p->shape.out_w;
    found->best.cycles = -1;
    for (int i = 0; i < MAX_CHUNKS; i++) found->of_chunk[i].cycles = -1;
    for (int32_t w = largest(out_w, p->acc_rows); w > 0; w = smaller(out_w, w)) {
        for (int32_t h = largest(out_h, p->acc_rows / w); h > 0; h = smaller(out_h, h)) {
            int chunk = 0;
            try_cut(p, (cut){h, w, p->widest, XPU_TILE_WHOLE_X | XPU_TILE_WHOLE_W}, 0, found);
            for (int32_t c = p->widest; c > 0; c = half(c), chunk++) {
                try_cut(p, (cut){h, w, c, XPU_TILE_WHOLE_X}, chunk, found);
                try_cut(p, (cut){h, w, c, 0}, chunk, found);
            }
        }
    }
}

static void search(const problem *p, choice *found) {
    choice fastest = {.fastest = NULL};
    try_all(p, &fastest);
    found->fastest = &fastest;
    try_all(p, found);
    found->fastest = NULL;
}

/* With images in GM, unless the tiles for images in L3 are about as fast there, or none lies in GM: 0. */
static int search_where_it_lies(const problem *p, choice *found) {
    problem fast = *p;
    choice slow;
    fast.slow_x = fast.slow_y = fast.slow_branch = 0;
    search(&fast, found);
    if (p->slow_x + p->slow_y + p->slow_branch <= 0 || found->best.cycles < 0) return 0;
    search(p, &slow);
    const xpu_tile *tile = &found->best;
    xpu_layer_model model;
    const double cycles = cycles_of(p, &(cut){tile->tile_h, tile->tile_w, tile->tile_c, tile->whole}, &model);
    if (slow.best.cycles >= WORTH * cycles) return 0;
    *found = slow;
    return 1;
}

static const char *const no_tile = "no tile of it fits this chip's shared memory";

const char *xpu_choose_tile(xpu_codegen *cg, const xpu_conv_shape *s, int has_branch, xpu_tiling_format format,
                            xpu_tile *tile) {
    const char *wrong = check_fields(s);
    if (wrong) return wrong;
    problem p = make_problem(cg, s, has_branch, format);
    choice found;
    search_where_it_lies(&p, &found);
    *tile = found.best;
    return tile->cycles < 0 ? no_tile : NULL;
}

/* ---- tiles by size ---- */

/* The chunk with which the tiles of all sizes lose least: weights are packed for one. */
static int choose_chunk(const choice *found, uint32_t count) {
    int best = -1;
    double least = 0;
    for (int chunk = 0; chunk < MAX_CHUNKS; chunk++) {
        double loss = 0;
        for (uint32_t i = 0; i < count && loss >= 0; i++) {
            double cycles = found[i].of_chunk[chunk].cycles;
            loss = cycles < 0 ? -1 : loss + cycles / found[i].best.cycles;
        }
        if (loss < 0 || (best >= 0 && loss >= least)) continue;
        least = loss;
        best = chunk;
    }
    return best;
}

/* Where half of SM is hardly slower, the layers before and behind have room for theirs: weights come early then. */
static void leave_half(const problem *whole, choice *found) {
    problem p = *whole;
    choice half;
    p.sm_bytes /= 2;
    p.slow_x = p.slow_y = p.slow_branch = 0;
    if (p.listed != XPU_LISTED || p.format.result != 1 || found->best.cycles < 0) return;
    search(&p, &half);
    const xpu_tile *tile = &half.best, *best = &found->best;
    if (tile->cycles < 0 || tile->cycles > best->cycles + xpu_cost.half || tile->gm_bytes > best->gm_bytes) return;
    if (best->whole & ~tile->whole & XPU_TILE_THREE_W) return;
    if (tile->tile_c == best->tile_c) found->best = *tile;
}

const char *xpu_choose_tiles(xpu_codegen *cg, const xpu_conv_shape *s, int has_branch, xpu_tiling_format format,
                             xpu_tiles *tiles) {
    const char *wrong = check_fields(s);
    if (wrong) return wrong;
    const problem upper = make_problem(cg, s, has_branch, format);
    choice found[XPU_MOST_SIZES];
    xpu_list_sizes(cg, s, &tiles->sizes);
    for (uint32_t i = 0; i < tiles->sizes.count; i++) {
        const xpu_size *size = &tiles->sizes.items[i];
        problem p = upper;
        p.shape = xpu_shape_of_size(&upper.shape, size);
        p.most_out_h = size->most_h;
        p.most_out_w = size->out_w;
        if (!search_where_it_lies(&p, &found[i]) && tiles->sizes.count == 1) leave_half(&p, &found[i]);
    }
    int chunk = choose_chunk(found, tiles->sizes.count);
    if (chunk < 0) return no_tile;
    tiles->sm_bytes = 0;
    for (uint32_t i = 0; i < tiles->sizes.count; i++) {
        tiles->items[i] = tiles->sizes.count == 1 ? found[i].best : found[i].of_chunk[chunk];
        if (tiles->items[i].sm_bytes > tiles->sm_bytes) tiles->sm_bytes = tiles->items[i].sm_bytes;
    }
    return NULL;
}
