#include "xpu_runtime/program/packing.h"

#include <string.h>

#include "xpu_runtime/include/xpu_tiling.h"

static int64_t padded(int64_t channels) {
    return (channels + 15) / 16 * 16;
}

static int is_tiled(xpu_packing_kind kind) {
    return kind == XPU_PACK_CONV_I16 || kind == XPU_PACK_CONV_I8;
}

static int is_depthwise(xpu_packing_kind kind) {
    return kind == XPU_PACK_DEPTHWISE_F32 || kind == XPU_PACK_DEPTHWISE_I8 || kind == XPU_PACK_DEPTHWISE_I16;
}

static int holds(xpu_packing_kind kind, xpu_dtype dtype) {
    if (kind == XPU_PACK_CONV_I8 || kind == XPU_PACK_DEPTHWISE_I8) return xpu_is_byte(dtype);
    return dtype == (kind == XPU_PACK_CONV_I16 || kind == XPU_PACK_DEPTHWISE_I16 ? XPU_I16 : XPU_F32);
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

/*
 * A part of a packed form: rows (tap, channel) of `columns` elements, those of one group filled. Outputs `out` to
 * `out + outs` stand in a row from column `column` on; the inputs `in` to `in + ins` of the group are channels
 * `channel` and up of the `channels` of each tap.
 */
typedef struct {
    uint64_t at; /* of the first row */
    int64_t columns, channels;
    int64_t column, channel;
    int64_t out, outs, in, ins;
} patch;

typedef void (*visitor)(void *context, const patch *part);

static uint64_t walk_conv_f32(const xpu_packing *p, visitor visit, void *context) {
    int64_t group_in = p->in_c / p->groups, group_out = p->out_c / p->groups, pad = padded(group_out);
    uint64_t each = (uint64_t)p->kernel_h * (uint64_t)p->kernel_w * (uint64_t)group_in * (uint64_t)pad;
    for (int64_t g = 0; g < p->groups && visit; g++) {
        visit(context, &(patch){(uint64_t)g * each, pad, group_in, 0, 0, g * group_out, group_out, 0, group_in});
    }
    return (uint64_t)p->groups * each;
}

static uint64_t walk_depthwise(const xpu_packing *p, visitor visit, void *context) {
    int64_t pad = padded(p->out_c);
    if (visit) visit(context, &(patch){0, pad, 1, 0, 0, 0, p->out_c, 0, 1});
    return (uint64_t)p->kernel_h * (uint64_t)p->kernel_w * (uint64_t)pad;
}

/* One block: taps x channels [first, first + channels) x the columns of a column tile. */
static void walk_block(const xpu_packing *p, int32_t tile, int32_t first, int32_t channels, uint64_t at, visitor visit,
                       void *context) {
    int64_t group_in = p->in_c / p->groups, group_out = p->out_c / p->groups;
    int64_t tile_out = (int64_t)tile * p->columns, tile_end = tile_out + p->columns, end = (int64_t)first + channels;
    for (int64_t g = first / group_in; g * group_in < end; g++) {
        int64_t out = g * group_out, out_end = out + group_out, in = g * group_in, in_end = in + group_in;
        if (out < tile_out) out = tile_out;
        if (out_end > tile_end) out_end = tile_end;
        if (in < first) in = first;
        if (in_end > end) in_end = end;
        if (out >= out_end) continue;
        visit(context, &(patch){at, p->columns, channels, out - tile_out, in - first, out, out_end - out,
                                in - g * group_in, in_end - in});
    }
}

static uint64_t walk_tiles(const xpu_packing *p, visitor visit, void *context) {
    uint64_t at = 0, row = (uint64_t)p->kernel_h * (uint64_t)p->kernel_w * (uint64_t)p->columns;
    for (int32_t tile = 0; tile < xpu_tiling_column_tiles(p->out_c, p->columns); tile++) {
        int32_t begin, end;
        xpu_tiling_channels(p->out_c, p->in_c, p->groups, p->columns, tile, &begin, &end);
        for (int64_t c = begin; c < end && visit; c += p->tile_c) {
            int32_t first = (int32_t)c, channels = xpu_tiling_min(p->tile_c, end - first);
            walk_block(p, tile, first, channels, at + (uint64_t)(first - begin) * row, visit, context);
        }
        at += (uint64_t)(end - begin) * row;
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
    const xpu_packing *packing;
    uint8_t *packed, *plain;
    size_t bytes; /* of an element */
    int unpacks;
} copier;

enum { STRIP = 16 };

/* `count` elements between a row of the packed form and every `step`-th element of the logical tensor. */
__attribute__((always_inline)) static inline void copy_row(uint8_t *packed, uint8_t *plain, size_t bytes, size_t step,
                                                           size_t count, int unpacks) {
    for (size_t i = 0; i < count; i++) {
        memcpy(unpacks ? plain + i * step * bytes : packed + i * bytes,
               unpacks ? packed + i * bytes : plain + i * step * bytes, bytes);
    }
}

/* The logical tensor is [out_c][in_c / groups][kernel_h][kernel_w], or transposed [in_c][out_c]. Strips of outputs, so
 * that the lines of the logical tensor that a row needs stay in the cache for the next rows. */
__attribute__((always_inline)) static inline void copy_part(const copier *c, const patch *part, size_t bytes,
                                                            int unpacks) {
    const xpu_packing *p = c->packing;
    int64_t taps = (int64_t)p->kernel_h * p->kernel_w, group_in = p->in_c / p->groups;
    int64_t step_out = p->transposed ? 1 : group_in * taps, step_in = p->transposed ? p->out_c : taps;
    for (int64_t o = 0; o < part->outs; o += STRIP) {
        size_t count = part->outs - o < STRIP ? (size_t)(part->outs - o) : STRIP;
        for (int64_t i = 0; i < part->ins; i++) {
            for (int64_t tap = 0; tap < taps; tap++) {
                uint64_t row = (uint64_t)(tap * part->channels + part->channel + i);
                uint64_t to = part->at + row * (uint64_t)part->columns + (uint64_t)(part->column + o);
                uint64_t from = (uint64_t)((part->out + o) * step_out + (part->in + i) * step_in + tap);
                uint8_t *packed = c->packed + to * bytes, *plain = c->plain + from * bytes;
                if (count == STRIP) {
                    copy_row(packed, plain, bytes, (size_t)step_out, STRIP, unpacks);
                } else {
                    copy_row(packed, plain, bytes, (size_t)step_out, count, unpacks);
                }
            }
        }
    }
}

static void copy_patch(void *context, const patch *part) {
    const copier *c = context;
    if (c->unpacks) {
        copy_part(c, part, c->bytes, 1);
    } else if (c->bytes == 1) {
        copy_part(c, part, 1, 0);
    } else if (c->bytes == 2) {
        copy_part(c, part, 2, 0);
    } else {
        copy_part(c, part, 4, 0);
    }
}

xpu_status xpu_pack(const xpu_packing *packing, const xpu_tensor *tensor, void *packed) {
    uint64_t total = xpu_packed_bytes(packing, tensor->dtype, (uint64_t)xpu_tensor_count(tensor));
    if (total == 0 && xpu_tensor_count(tensor) != 0) return XPU_EBUG;
    if (packing->kind == XPU_PACK_LINEAR) {
        memcpy(packed, tensor->data, total);
        return XPU_OK;
    }
    if (total != xpu_tensor_bytes(tensor)) memset(packed, 0, total);
    walk(packing, copy_patch, &(copier){packing, packed, tensor->data, xpu_dtype_bytes(tensor->dtype), 0});
    return XPU_OK;
}

xpu_status xpu_unpack(const xpu_packing *packing, const void *packed, uint64_t packed_bytes, xpu_tensor *tensor) {
    uint64_t total = xpu_packed_bytes(packing, tensor->dtype, (uint64_t)xpu_tensor_count(tensor));
    if (total != packed_bytes) return XPU_EBUG;
    if (packing->kind == XPU_PACK_LINEAR) {
        memcpy(tensor->data, packed, total);
        return XPU_OK;
    }
    uint8_t *from = (uint8_t *)(uintptr_t)packed;
    walk(packing, copy_patch, &(copier){packing, from, tensor->data, xpu_dtype_bytes(tensor->dtype), 1});
    return XPU_OK;
}
