#include "xpu_runtime/program/record_accesses.h"

#include "xpu_runtime/include/xpu_device.h"

typedef struct {
    xpu_recorded_access *items;
    int32_t count;
} collector;

/* `size` elements in up to four dimensions from an address on. */
typedef struct {
    uint32_t size[4];
    int32_t stride[4]; /* bytes */
    uint32_t bytes;    /* of an element */
} box;

static void add_box(collector *c, uint64_t address, const box *b, int writes) {
    uint64_t begin = address, end = address + b->bytes;
    if (!address) return;
    for (int i = 0; i < 4; i++) {
        const int64_t reach = ((int64_t)b->size[i] - 1) * b->stride[i];
        if (!b->size[i]) return;
        if (reach < 0)
            begin -= (uint64_t)-reach;
        else
            end += (uint64_t)reach;
    }
    c->items[c->count++] = (xpu_recorded_access){begin, end, writes};
}

static void add_bytes(collector *c, uint64_t address, uint64_t bytes, int writes) {
    if (address && bytes) c->items[c->count++] = (xpu_recorded_access){address, address + bytes, writes};
}

/* ---- DMA ---- */

#define BOX_OF(side, words)                                                                                            \
    (box) {                                                                                                            \
        {xpu_desc_copy_get_size0(words), xpu_desc_copy_get_size1(words), xpu_desc_copy_get_size2(words),               \
         xpu_desc_copy_get_size3(words)},                                                                              \
            {xpu_desc_copy_get_##side##_stride0(words), xpu_desc_copy_get_##side##_stride1(words),                     \
             xpu_desc_copy_get_##side##_stride2(words), xpu_desc_copy_get_##side##_stride3(words)},                    \
            xpu_bytes_of_type(xpu_desc_copy_get_##side##_type(words))                                                  \
    }

static void add_copy(collector *c, const uint32_t *words) {
    const box from = BOX_OF(src, words), to = BOX_OF(dst, words);
    add_box(c, xpu_desc_copy_get_src(words), &from, 0);
    add_box(c, xpu_desc_copy_get_dst(words), &to, 1);
    const uint32_t mode = xpu_desc_copy_get_scale_mode(words);
    if (xpu_desc_copy_get_src_type(words) == xpu_desc_copy_get_dst_type(words)) return;
    if (mode == XPU_SCALE_ABSMAX || mode == XPU_SCALE_MEMORY)
        add_bytes(c, xpu_desc_copy_get_scale_address(words), sizeof(float), 0);
}

/* Its fields stand where a copy has them. */
static void add_fill(collector *c, const uint32_t *words) {
    const box to = BOX_OF(dst, words);
    add_box(c, xpu_desc_fill_get_dst(words), &to, 1);
}

#undef BOX_OF

/* ---- engines: fields that their kinds share stand at the same places ---- */

/* Rows and pixels of a tile, whose pixels are so many bytes. */
static box tile_box(uint32_t rows, int32_t row_stride, uint32_t pixels, int32_t pixel_stride, uint32_t bytes) {
    return (box){{1, 1, rows, pixels}, {0, 0, row_stride, pixel_stride}, bytes};
}

static uint32_t bytes_of_operand(uint32_t mode) {
    return mode == XPU_OPERANDS_8X8 ? 1 : 2;
}

/* What the post-processor reads and writes. */
static void add_post(collector *c, const uint32_t *words) {
    const uint32_t rows = xpu_desc_post_get_oh(words), pixels = xpu_desc_post_get_ow(words),
                   columns = xpu_desc_post_get_columns(words), vector = (uint32_t)sizeof(float) * columns;
    const box y = tile_box(rows, xpu_desc_post_get_y_row_stride(words), pixels, xpu_desc_post_get_y_pixel_stride(words),
                           columns * xpu_bytes_of_type(xpu_desc_post_get_y_type(words))),
              branch = tile_box(rows, xpu_desc_post_get_branch_row_stride(words), pixels,
                                xpu_desc_post_get_branch_pixel_stride(words),
                                columns * xpu_bytes_of_type(xpu_desc_post_get_branch_type(words)));
    add_box(c, xpu_desc_post_get_y(words), &y, 1);
    add_box(c, xpu_desc_post_get_branch(words), &branch, 0);
    add_bytes(c, xpu_desc_post_get_params(words), XPU_TILING_PARAMS, 0);
    add_bytes(c, xpu_desc_post_get_scale(words), vector, 0);
    add_bytes(c, xpu_desc_post_get_bias(words), vector, 0);
    add_bytes(c, xpu_desc_post_get_lookup(words), XPU_TILING_TABLE, 0);
    add_bytes(c, xpu_desc_post_get_absmax(words), sizeof(float), 0);
    add_bytes(c, xpu_desc_post_get_findmax(words), sizeof(float), 1);
}

static void add_post_input(collector *c, const uint32_t *words) {
    const box x = tile_box(xpu_desc_post_get_oh(words), xpu_desc_post_get_x_row_stride(words),
                           xpu_desc_post_get_ow(words), xpu_desc_post_get_x_pixel_stride(words),
                           xpu_desc_post_get_columns(words) * xpu_bytes_of_type(xpu_desc_post_get_x_type(words)));
    add_box(c, xpu_desc_post_get_x(words), &x, 0);
}

static void add_product(collector *c, const uint32_t *words) {
    const uint32_t channels = xpu_desc_tensor_get_channels(words);
    const box x = tile_box(xpu_desc_tensor_get_tile_rows(words), xpu_desc_tensor_get_x_row_stride(words),
                           xpu_desc_tensor_get_tile_cols(words), xpu_desc_tensor_get_x_pixel_stride(words),
                           channels * bytes_of_operand(xpu_desc_tensor_get_mode(words)));
    const uint64_t taps = (uint64_t)xpu_desc_tensor_get_kh(words) * xpu_desc_tensor_get_kw(words);
    if (!channels) return;
    add_box(c, xpu_desc_tensor_get_x(words), &x, 0);
    add_bytes(c, xpu_desc_tensor_get_w(words), taps * channels * xpu_desc_tensor_get_w_row_stride(words), 0);
    add_bytes(c, xpu_desc_tensor_get_start(words), (uint64_t)sizeof(int32_t) * xpu_desc_tensor_get_columns(words), 0);
}

/* Accumulators that are not drained. */
static void add_sums(collector *c, const uint32_t *words) {
    const box y = tile_box(xpu_desc_window_get_oh(words), xpu_desc_window_get_y_row_stride(words),
                           xpu_desc_window_get_ow(words), xpu_desc_window_get_y_pixel_stride(words),
                           (uint32_t)sizeof(int32_t) * xpu_desc_window_get_columns(words));
    add_box(c, xpu_desc_window_get_y(words), &y, 1);
}

/* Of a ring all rows. */
static void add_window(collector *c, const uint32_t *words) {
    const uint32_t ring = xpu_desc_window_get_x_ring_rows(words), columns = xpu_desc_window_get_columns(words);
    const box x = tile_box(ring ? ring : xpu_desc_window_get_tile_rows(words), xpu_desc_window_get_x_row_stride(words),
                           xpu_desc_window_get_tile_cols(words), xpu_desc_window_get_x_pixel_stride(words),
                           columns * bytes_of_operand(xpu_desc_window_get_mode(words)));
    const uint64_t taps = (uint64_t)xpu_desc_window_get_kh(words) * xpu_desc_window_get_kw(words),
                   sums = xpu_desc_window_get_accumulate(words)
                              ? (uint64_t)xpu_desc_window_get_oh(words) * xpu_desc_window_get_ow(words)
                              : 1;
    add_box(c, xpu_desc_window_get_x(words), &x, 0);
    add_bytes(c, xpu_desc_window_get_w(words), taps * xpu_desc_window_get_w_row_stride(words), 0);
    add_bytes(c, xpu_desc_window_get_start(words), sizeof(int32_t) * sums * columns, 0);
}

int32_t xpu_recorded_accesses(const uint32_t *words, xpu_recorded_access accesses[XPU_MOST_ACCESSES]) {
    collector c = {accesses, 0};
    switch (xpu_desc_nop_get_opcode(words)) {
    case XPU_OPCODE_NOP: return 0;
    case XPU_OPCODE_COPY: add_copy(&c, words); return c.count;
    case XPU_OPCODE_FILL: add_fill(&c, words); return c.count;
    case XPU_OPCODE_POST:
        add_post(&c, words);
        add_post_input(&c, words);
        return c.count;
    case XPU_OPCODE_TENSOR:
        if (xpu_desc_tensor_get_drain(words)) add_post(&c, words);
        add_product(&c, words);
        return c.count;
    case XPU_OPCODE_WINDOW:
        if (xpu_desc_window_get_drain(words))
            add_post(&c, words);
        else
            add_sums(&c, words);
        add_window(&c, words);
        return c.count;
    default: return -1;
    }
}
