#include "tests/rtl/dma/draw.h"

#include <string.h>

#include "xpu_runtime/include/generated/xpu_chip_regs.h"

const uint32_t window_at[WINDOWS] = {0x80001000, 0x40002000, 0x20000800, 0x11000000, 0x11200000};

static const unsigned type_bytes[] = {1, 1, 2, 4, 4};

uint32_t draw(uint64_t *random, uint32_t bound) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*random >> 33) * bound >> 31);
}

uint32_t draw_float(uint64_t *random, float size) {
    static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc00000, 0,          0x80000000, 1,
                                       0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f800000, 0xbf000000};
    uint32_t kind = draw(random, 32), bits;
    if (kind == 0) return special[draw(random, 12)];
    if (kind == 1) return draw(random, 1u << 31) << 1 | draw(random, 2);
    float x = ((float)draw(random, 1u << 24) / (float)(1 << 23) - 1.0f) * size;
    memcpy(&bits, &x, 4);
    return bits;
}

/* Strides of a box for these sizes, dims nested in a random order, with gaps and at times backwards; the box's bytes
 * before and behind element 0. */
static void draw_strides(uint64_t *random, const uint32_t *size, unsigned bytes, int32_t *stride, int64_t *low,
                         int64_t *high) {
    unsigned order[4] = {3, 2, 1, 0}, style = draw(random, 4);
    int64_t step = bytes;
    *low = *high = 0;
    if (style == 0)
        for (unsigned i = 3; i > 0; i--) {
            unsigned j = draw(random, i + 1), swap = order[i];
            order[i] = order[j], order[j] = swap;
        }
    for (unsigned i = 0; i < 4; i++) {
        unsigned d = order[i];
        if (style != 1 && draw(random, 3) == 0) step += (int64_t)(bytes * draw(random, 5));
        if (style == 2 && draw(random, 3) == 0) step = (step + 63) & ~(int64_t)63;
        int64_t s = draw(random, 24) == 0 ? -step : draw(random, 64) == 0 ? 0 : step;
        stride[d] = (int32_t)s;
        int64_t reach = size[d] ? s * (int64_t)(size[d] - 1) : 0;
        *(reach < 0 ? low : high) += reach;
        if (s && size[d]) step = step * size[d];
    }
    *high += bytes;
}

/* Sizes and strides of planes that become elements side by side, or the other way: rows, pixels and images with gaps
 * and without, at times backwards, or over each other. */
static void draw_planes(uint64_t *random, uint32_t *size, unsigned from, unsigned to, int32_t *src, int32_t *dst) {
    const int back = draw(random, 2);
    int32_t *planes = back ? dst : src, *pixel = back ? src : dst;
    const uint32_t one = back ? to : from, other = back ? from : to;
    size[3] = 2 + draw(random, 17), size[2] = 1 + draw(random, draw(random, 3) ? 20 : 120);
    size[1] = draw(random, 2) ? 1 : 1 + draw(random, 3), size[0] = draw(random, 2) ? 1 : 1 + draw(random, 2);
    const uint32_t pixels = size[2] + (draw(random, 2) ? 0 : draw(random, 9)), gap = draw(random, 2) * draw(random, 5),
                   apart = size[3] + draw(random, 2) * draw(random, 40);
    pixel[3] = (int32_t)other, pixel[2] = (int32_t)(apart * other);
    pixel[1] = (int32_t)((size[2] * apart + gap) * other), pixel[0] = pixel[1] * (int32_t)size[1];
    planes[2] = (int32_t)one, planes[1] = (int32_t)(pixels * one);
    planes[3] = planes[1] * (int32_t)size[1] + (int32_t)(gap * one), planes[0] = planes[3] * (int32_t)size[3];
    if (draw(random, 16) == 0) planes[3] = (int32_t)(draw(random, size[2] + 2) * one);
    for (unsigned d = 0; d < 4; d++) {
        if (d != 2 && draw(random, 16) == 0) planes[d] = -planes[d];
        if (d != 3 && draw(random, 16) == 0) pixel[d] = -pixel[d];
    }
}

/* The box's bytes before and behind element 0. */
static void find_reach(const uint32_t *size, const int32_t *stride, unsigned bytes, int64_t *low, int64_t *high) {
    *low = 0, *high = bytes;
    for (unsigned d = 0; d < 4; d++) *(stride[d] < 0 ? low : high) += (int64_t)stride[d] * (int64_t)(size[d] - 1);
}

/* An address for a box in a window; 0: it does not fit. */
static uint32_t place(uint64_t *random, int64_t low, int64_t high, unsigned bytes, draw_range *range) {
    uint32_t window = window_at[draw(random, WINDOWS)];
    if (high - low > WINDOW_BYTES) return 0;
    uint32_t room = (uint32_t)(WINDOW_BYTES - (high - low)), at = draw(random, room + 1);
    if (draw(random, 2)) at &= ~63u;
    at -= at % bytes;
    range->first = window + at;
    range->last = range->first + (uint64_t)(high - low) - 1;
    return (uint32_t)((int64_t)(window + at) - low);
}

static int overlap(const draw_range *a, const draw_range *b) {
    return a->first <= b->last && b->first <= a->last;
}

static void draw_sizes(uint64_t *random, uint32_t *size) {
    uint32_t most = draw(random, 6) == 0 ? 4096 : 600, total = 1;
    for (int d = 3; d >= 0; d--) {
        uint32_t room = most / total;
        size[d] = draw(random, 3) == 0 ? 1 : 1 + draw(random, room < 40 || d == 3 ? room : 40);
        if (size[d] > room) size[d] = room ? room : 1;
        if (d == 3 && draw(random, 2)) size[d] = 1 + draw(random, 64);
        total *= size[d];
    }
    if (draw(random, 100) == 0) size[draw(random, 4)] = 0;
}

static uint32_t finite(uint32_t bits) {
    return (bits & 0x7f800000) == 0x7f800000 ? bits & 0xff000000 : bits;
}

static void put_types(uint64_t *random, xpu_desc_gather *d) {
    static const uint32_t pairs[][2] = {{XPU_TYPE_F32, XPU_TYPE_I16}, {XPU_TYPE_F32, XPU_TYPE_I8},
                                        {XPU_TYPE_I8, XPU_TYPE_F32},  {XPU_TYPE_I16, XPU_TYPE_F32},
                                        {XPU_TYPE_I32, XPU_TYPE_F32}, {XPU_TYPE_F32, XPU_TYPE_U8}};
    unsigned pair = draw(random, 6);
    d->src_type = pairs[pair][0], d->dst_type = pair == 5 ? draw(random, 2) : pairs[pair][1];
    if (pair == 5) d->scale_mode = XPU_SCALE_DIVISOR, d->zero = draw(random, 256);
    if (draw(random, 2)) d->src_type = d->dst_type = draw(random, 5);
}

float draw_divisor(uint64_t *random) {
    uint32_t kind = draw(random, 16), bits = draw(random, 1u << 23) | (117 + draw(random, 16)) << 23;
    float scale;
    if (kind == 0) bits = draw(random, 0x7f000000) + 0x800000; /* any */
    if (kind == 1) bits = 0x800000 + draw(random, 3 << 23);    /* quotients of subnormal numbers */
    if (kind == 2) bits = (bits & 0x7f800000) + (draw(random, 8) + 0x7ffffc) % (1u << 23); /* about a power of two */
    memcpy(&scale, &bits, 4);
    return scale;
}

void draw_one(uint64_t *random, draw_descriptor *out, unsigned extra, int nans, uint8_t *(*at)(void *, uint32_t),
              void *context) {
    xpu_desc_gather d;
    uint32_t size[4], kind = draw(random, 8), count, window = window_at[draw(random, 3)];
    int32_t src_stride[4], dst_stride[4];
    int64_t low, high;
    draw_range *ranges = out->ranges;
    do {
        memset(&d, 0, sizeof d);
        for (unsigned i = 0; i < DRAW_RANGES; i++) ranges[i] = (draw_range){1, 0};
        put_types(random, &d);
        draw_sizes(random, size);
        d.gather_dim = draw(random, 4);
        const unsigned from = type_bytes[d.src_type], to = type_bytes[d.dst_type];
        const int woven = draw(random, 5) < 2;
        if (woven) draw_planes(random, size, from, to, src_stride, dst_stride);
        woven ? find_reach(size, dst_stride, to, &low, &high) : draw_strides(random, size, to, dst_stride, &low, &high);
        d.dst = place(random, low, high, to, &ranges[DRAW_DST]);
        woven ? find_reach(size, src_stride, from, &low, &high)
              : draw_strides(random, size, from, src_stride, &low, &high);
        d.src = place(random, low, high, from, &ranges[DRAW_SRC]);
    } while (!d.src || !d.dst || overlap(&ranges[DRAW_SRC], &ranges[DRAW_DST]));
    d.size0 = size[0], d.size1 = size[1], d.size2 = size[2], d.size3 = size[3];
    d.src_stride0 = src_stride[0], d.src_stride1 = src_stride[1], d.src_stride2 = src_stride[2];
    d.src_stride3 = src_stride[3], d.dst_stride0 = dst_stride[0], d.dst_stride1 = dst_stride[1];
    d.dst_stride2 = dst_stride[2], d.dst_stride3 = dst_stride[3];
    /* scale: as a field or in memory */
    uint32_t space = window + WINDOW_BYTES + GUARD + EXTRA_BYTES * extra, bits;
    bits = draw_float(random, d.dst_type == XPU_TYPE_I16 ? 3000.0f : d.dst_type == XPU_TYPE_F32 ? 0.01f : 50.0f);
    if (!nans && d.dst_type == XPU_TYPE_F32) bits = finite(bits);
    memcpy(&d.scale, &bits, 4);
    if (d.scale_mode == XPU_SCALE_DIVISOR && d.src_type != d.dst_type)
        d.scale = draw_divisor(random);
    else
        d.scale_mode = draw(random, d.src_type == XPU_TYPE_I32 ? 2 : 3);
    if (d.scale_mode == XPU_SCALE_ABSMAX) bits = draw_float(random, 100.0f) & (draw(random, 8) ? 0x7fffffff : ~0u);
    if (!nans && d.dst_type == XPU_TYPE_F32) bits = finite(bits);
    d.scale_address = space + 4 * draw(random, 32);
    memcpy(at(context, (uint32_t)d.scale_address), &bits, 4);
    if (d.src_type != d.dst_type && d.scale_mode && d.scale_mode != XPU_SCALE_DIVISOR)
        ranges[DRAW_SCALE] = (draw_range){d.scale_address, d.scale_address + 3};
    /* indices: positions within the source box */
    count = size[d.gather_dim];
    d.index = space + 128 + 4 * draw(random, 16);
    if (kind < 2 && count <= (EXTRA_BYTES - 256) / 4) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t index = draw(random, count);
            memcpy(at(context, (uint32_t)d.index + 4 * i), &index, 4);
        }
        ranges[DRAW_INDEX] = (draw_range){d.index, d.index + 4 * (uint64_t)count - 1};
    } else if (kind < 2) {
        kind = 7;
    }
    d.wait0 = d.wait1 = d.signal = XPU_NO_COUNTER;
    d.layer = draw(random, 65536);
    out->elements = size[0] * size[1] * size[2] * size[3];
    xpu_desc_gather_pack(out->words, &d);
    if (kind >= 2) {
        xpu_desc_gather_set_gather_dim(out->words, 0);
        xpu_desc_gather_set_index(out->words, 0);
        out->words[0] = (out->words[0] & ~255u) | (kind == 2 ? XPU_OPCODE_FILL : XPU_OPCODE_COPY);
    }
    if (kind == 2) {
        ranges[DRAW_SRC] = ranges[DRAW_SCALE] = (draw_range){1, 0};
        out->words[20] = draw(random, 1u << 31) << 1 | draw(random, 2);
    }
}
