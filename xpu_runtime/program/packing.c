#include "xpu_runtime/program/packing.h"

#include <string.h>

#include "xpu_runtime/include/xpu_tiling.h"

/* Weights as [out_c][in_c / groups][kernel_h][kernel_w], or transposed [in_c][out_c]: index of an element. */
static uint64_t logical_index(const xpu_packing *p, int64_t o, int64_t c, int64_t kh, int64_t kw) {
    if (p->transposed) return (uint64_t)(c * p->out_c + o);
    int64_t group_in = p->in_c / p->groups;
    return (uint64_t)(((o * group_in + c) * p->kernel_h + kh) * p->kernel_w + kw);
}

static int64_t padded(int64_t channels) {
    return (channels + 15) / 16 * 16;
}

static int is_tiled(xpu_packing_kind kind) {
    return kind == XPU_PACK_CONV_I16 || kind == XPU_PACK_CONV_I8;
}

static int is_depthwise(xpu_packing_kind kind) {
    return kind == XPU_PACK_DEPTHWISE_F32 || kind == XPU_PACK_DEPTHWISE_I8;
}

static int holds(xpu_packing_kind kind, xpu_dtype dtype) {
    if (kind == XPU_PACK_CONV_I8 || kind == XPU_PACK_DEPTHWISE_I8) return xpu_is_byte(dtype);
    return dtype == (kind == XPU_PACK_CONV_I16 ? XPU_I16 : XPU_F32);
}

/* Whether the packing's numbers make sense and describe `count` elements. */
static int consistent(const xpu_packing *p, xpu_dtype dtype, uint64_t count) {
    const int64_t limit = 1 << 28; /* so that sums of two stay below 32 bits; tensors of the chip end at 2 GiB */
    if (p->kind == XPU_PACK_LINEAR) return 1;
    if (p->kind >= XPU_PACK_COUNT || !holds(p->kind, dtype)) return 0;
    if (p->out_c < 1 || p->in_c < 1 || p->groups < 1 || p->kernel_h < 1 || p->kernel_w < 1) return 0;
    if (p->out_c > limit || p->in_c > limit || p->kernel_h > limit || p->kernel_w > limit) return 0;
    if (p->out_c % p->groups || p->in_c % p->groups) return 0;
    if (p->transposed && (p->groups != 1 || p->kernel_h != 1 || p->kernel_w != 1)) return 0;
    if (is_depthwise(p->kind) && (p->in_c != p->groups || p->out_c != p->groups)) return 0;
    if (is_tiled(p->kind) && (p->columns < 1 || p->columns > 4096 || p->tile_c < 1)) return 0;
    uint64_t each = (uint64_t)p->out_c * (uint64_t)(p->in_c / p->groups);
    uint64_t taps = (uint64_t)p->kernel_h * (uint64_t)p->kernel_w, elements;
    return !__builtin_mul_overflow(each, taps, &elements) && elements == count;
}

/* The order of a packed form, element by element: calls visit(context, position, logical index or -1 in padding). */
typedef void (*visitor)(void *context, uint64_t position, int64_t index);

static uint64_t walk_conv_f32(const xpu_packing *p, visitor visit, void *context) {
    int64_t group_in = p->in_c / p->groups, group_out = p->out_c / p->groups, pad = padded(group_out);
    uint64_t at = 0;
    if (!visit) return (uint64_t)(p->groups * p->kernel_h) * (uint64_t)(p->kernel_w * group_in) * (uint64_t)pad;
    for (int64_t g = 0; g < p->groups; g++) {
        for (int64_t tap = 0; tap < (int64_t)p->kernel_h * p->kernel_w; tap++) {
            for (int64_t c = 0; c < group_in; c++) {
                for (int64_t o = 0; o < pad; o++, at++) {
                    int64_t index =
                        (int64_t)logical_index(p, g * group_out + o, c, tap / p->kernel_w, tap % p->kernel_w);
                    visit(context, at, o < group_out ? index : -1);
                }
            }
        }
    }
    return at;
}

static uint64_t walk_depthwise(const xpu_packing *p, visitor visit, void *context) {
    int64_t pad = padded(p->out_c);
    uint64_t at = 0;
    if (!visit) return (uint64_t)p->kernel_h * (uint64_t)p->kernel_w * (uint64_t)pad;
    for (int64_t tap = 0; tap < (int64_t)p->kernel_h * p->kernel_w; tap++) {
        for (int64_t o = 0; o < pad; o++, at++) {
            int64_t index = (int64_t)logical_index(p, o, 0, tap / p->kernel_w, tap % p->kernel_w);
            visit(context, at, o < p->out_c ? index : -1);
        }
    }
    return at;
}

/* One block: taps x channels [first, first + channels) x the columns of a column tile. */
static uint64_t walk_block(const xpu_packing *p, int32_t tile, int32_t first, int32_t channels, uint64_t at,
                           visitor visit, void *context) {
    int64_t group_in = p->in_c / p->groups, group_out = p->out_c / p->groups;
    for (int64_t tap = 0; tap < (int64_t)p->kernel_h * p->kernel_w; tap++) {
        for (int64_t c = first; c < first + channels; c++) {
            for (int64_t column = 0; column < p->columns; column++, at++) {
                int64_t o = (int64_t)tile * p->columns + column, index = -1;
                if (o < p->out_c && o / group_out == c / group_in) {
                    index = (int64_t)logical_index(p, o, c % group_in, tap / p->kernel_w, tap % p->kernel_w);
                }
                visit(context, at, index);
            }
        }
    }
    return at;
}

static uint64_t walk_tiles(const xpu_packing *p, visitor visit, void *context) {
    uint64_t at = 0;
    for (int32_t tile = 0; tile < xpu_tiling_column_tiles(p->out_c, p->columns); tile++) {
        int32_t begin, end;
        xpu_tiling_channels(p->out_c, p->in_c, p->groups, p->columns, tile, &begin, &end);
        if (!visit) {
            at += (uint64_t)(end - begin) * (uint64_t)p->kernel_h * (uint64_t)p->kernel_w * (uint64_t)p->columns;
            continue;
        }
        for (int32_t c = begin; c < end; c += p->tile_c) {
            at = walk_block(p, tile, c, xpu_tiling_min(p->tile_c, end - c), at, visit, context);
        }
    }
    return at;
}

static uint64_t walk(const xpu_packing *p, visitor visit, void *context) {
    if (p->kind == XPU_PACK_CONV_F32) return walk_conv_f32(p, visit, context);
    if (is_depthwise(p->kind)) return walk_depthwise(p, visit, context);
    return walk_tiles(p, visit, context);
}

uint64_t xpu_packed_bytes(const xpu_packing *packing, xpu_dtype dtype, uint64_t count) {
    if (!consistent(packing, dtype, count)) return 0;
    if (packing->kind == XPU_PACK_LINEAR) return count * xpu_dtype_bytes(dtype);
    return walk(packing, NULL, NULL) * xpu_dtype_bytes(dtype);
}

typedef struct {
    const uint8_t *from;
    uint8_t *to;
    size_t bytes;
} copier;

static void pack_one(void *context, uint64_t position, int64_t index) {
    copier *c = context;
    if (index >= 0) memcpy(c->to + position * c->bytes, c->from + (uint64_t)index * c->bytes, c->bytes);
}

static void unpack_one(void *context, uint64_t position, int64_t index) {
    copier *c = context;
    if (index >= 0) memcpy(c->to + (uint64_t)index * c->bytes, c->from + position * c->bytes, c->bytes);
}

xpu_status xpu_pack(const xpu_packing *packing, const xpu_tensor *tensor, void *packed) {
    uint64_t total = xpu_packed_bytes(packing, tensor->dtype, (uint64_t)xpu_tensor_count(tensor));
    if (total == 0 && xpu_tensor_count(tensor) != 0) return XPU_EBUG;
    if (packing->kind == XPU_PACK_LINEAR) {
        memcpy(packed, tensor->data, total);
        return XPU_OK;
    }
    memset(packed, 0, total);
    copier c = {tensor->data, packed, xpu_dtype_bytes(tensor->dtype)};
    walk(packing, pack_one, &c);
    return XPU_OK;
}

xpu_status xpu_unpack(const xpu_packing *packing, const void *packed, uint64_t packed_bytes, xpu_tensor *tensor) {
    uint64_t total = xpu_packed_bytes(packing, tensor->dtype, (uint64_t)xpu_tensor_count(tensor));
    if (total != packed_bytes) return XPU_EBUG;
    if (packing->kind == XPU_PACK_LINEAR) {
        memcpy(tensor->data, packed, total);
        return XPU_OK;
    }
    copier c = {packed, tensor->data, xpu_dtype_bytes(tensor->dtype)};
    walk(packing, unpack_one, &c);
    return XPU_OK;
}
