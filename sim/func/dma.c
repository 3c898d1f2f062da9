/* DMA engines: 4-D strided copies with conversion, fills, gathers. */
#include "sim/func/dma.h"

#include <string.h>

#include "core/arith.h"
#include "sim/func/post.h"

enum { CHUNK = 256 };

/* Rows of a copy: `n` elements with strides in bytes. */
typedef struct {
    uint32_t src_type, dst_type;
    unsigned src_bytes, dst_bytes;
    float scale; /* multiplier of a conversion, or divisor */
    int divides;
    xpu_row_limits limits; /* of one that divides */
    const xpu_rows *rows;
} conversion;

/* A row of `n` elements; dst and src do not overlap. */
static void copy_strided(uint8_t *dst, int64_t dst_stride, const uint8_t *src, int64_t src_stride, size_t n,
                         unsigned bytes) {
    if (bytes == 1) {
        for (size_t i = 0; i < n; i++) dst[(int64_t)i * dst_stride] = src[(int64_t)i * src_stride];
    } else if (bytes == 2) {
        for (size_t i = 0; i < n; i++) memcpy(dst + (int64_t)i * dst_stride, src + (int64_t)i * src_stride, 2);
    } else {
        for (size_t i = 0; i < n; i++) memcpy(dst + (int64_t)i * dst_stride, src + (int64_t)i * src_stride, 4);
    }
}

static void copy_row(uint8_t *dst, int64_t dst_stride, const uint8_t *src, int64_t src_stride, size_t n,
                     unsigned bytes) {
    if (dst_stride == bytes && src_stride == bytes)
        memmove(dst, src, n * bytes);
    else
        copy_strided(dst, dst_stride, src, src_stride, n, bytes);
}

typedef union {
    uint8_t bytes[4 * CHUNK];
    float f32[CHUNK];
    int32_t i32[CHUNK];
    int16_t i16[CHUNK];
    int8_t i8[CHUNK];
} chunk;

/* Dense elements, which do not overlap, aligned to their types. */
static void convert(const void *src, void *dst, size_t n, const conversion *c) {
    if (c->divides)
        c->rows->quantise(src, n, c->scale, c->limits, dst);
    else if (c->dst_type == XPU_TYPE_I16)
        c->rows->to_int16(src, n, c->scale, dst);
    else if (c->dst_type == XPU_TYPE_I8)
        c->rows->to_int8(src, n, c->scale, dst);
    else if (c->src_type == XPU_TYPE_I16)
        c->rows->of_int16(src, n, c->scale, dst);
    else if (c->src_type == XPU_TYPE_I8)
        c->rows->of_int8(src, n, c->scale, dst);
    else
        c->rows->of_int32(src, n, c->scale, dst);
}

static void convert_row(uint8_t *dst, int64_t dst_stride, const uint8_t *src, int64_t src_stride, size_t n,
                        const conversion *c) {
    chunk in, out;
    int dense = src_stride == (int64_t)c->src_bytes && dst_stride == (int64_t)c->dst_bytes;
    if (dense && (src + n * c->src_bytes <= dst || dst + n * c->dst_bytes <= src)) {
        convert(src, dst, n, c);
        return;
    }
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t count = n - i < CHUNK ? n - i : CHUNK;
        copy_row(in.bytes, c->src_bytes, src + (int64_t)i * src_stride, src_stride, count, c->src_bytes);
        convert(&in, &out, count, c);
        copy_row(dst + (int64_t)i * dst_stride, dst_stride, out.bytes, c->dst_bytes, count, c->dst_bytes);
    }
}

static void move_row(uint8_t *dst, int64_t dst_stride, const uint8_t *src, int64_t src_stride, size_t n,
                     const conversion *c) {
    if (c->src_type == c->dst_type)
        copy_row(dst, dst_stride, src, src_stride, n, c->src_bytes);
    else
        convert_row(dst, dst_stride, src, src_stride, n, c);
}

/* Joins dimension 3 with 2 where both sides allow it, so that rows become long. */
static void join_rows(xpu_func_box *dst, xpu_func_box *src) {
    for (int tries = 0; tries < 3; tries++) {
        if (dst->size[3] == 1) dst->stride[3] = dst->stride[2], src->stride[3] = src->stride[2];
        int64_t d = (int64_t)dst->size[3] * dst->stride[3], s = (int64_t)src->size[3] * src->stride[3];
        uint64_t joined = (uint64_t)dst->size[3] * dst->size[2];
        int fits = d == dst->stride[2] && s == src->stride[2] && joined <= UINT32_MAX;
        if (!fits && dst->size[2] != 1) return;
        xpu_func_box *boxes[] = {dst, src};
        for (int b = 0; b < 2; b++) {
            xpu_func_box *box = boxes[b];
            box->size[3] = (uint32_t)joined;
            for (int i = 2; i > 0; i--) box->size[i] = box->size[i - 1], box->stride[i] = box->stride[i - 1];
            box->size[0] = 1, box->stride[0] = 0;
        }
    }
}

static void move_box(const xpu_func_job *job, xpu_func_box dst, xpu_func_box src, const conversion *c) {
    if (xpu_func_checks(job)) return;
    join_rows(&dst, &src);
    for (uint32_t i = 0; i < dst.size[0]; i++)
        for (uint32_t j = 0; j < dst.size[1]; j++)
            for (uint32_t k = 0; k < dst.size[2]; k++)
                move_row(
                    dst.bytes_at + (int64_t)i * dst.stride[0] + (int64_t)j * dst.stride[1] + (int64_t)k * dst.stride[2],
                    dst.stride[3],
                    src.bytes_at + (int64_t)i * src.stride[0] + (int64_t)j * src.stride[1] + (int64_t)k * src.stride[2],
                    src.stride[3], dst.size[3], c);
}

/* scale_mode SCALE_DIVISOR. */
static int read_divisor(const xpu_func_job *job, const xpu_desc_copy *d, conversion *c) {
    int is_signed = d->dst_type == XPU_TYPE_I8;
    if (d->src_type != XPU_TYPE_F32 || (!is_signed && d->dst_type != XPU_TYPE_U8))
        return xpu_func_engine_fault(job, XPU_FAULT_DESCRIPTOR, job->address,
                                     "scale_mode %u is from type 4 to 0 or 1, and not from %u to %u", d->scale_mode,
                                     d->src_type, d->dst_type);
    if (!(d->scale >= 0x1p-126f && d->scale < xa_inf()))
        return xpu_func_engine_fault(job, XPU_FAULT_DESCRIPTOR, job->address,
                                     "scale %g is no divisor: it is a positive normal number", (double)d->scale);
    c->divides = 1;
    c->limits = is_signed ? (xpu_row_limits){(int8_t)d->zero, INT8_MIN, INT8_MAX}
                          : (xpu_row_limits){(int32_t)d->zero, 0, UINT8_MAX};
    return 0;
}

/* The types and the scale of a copy. */
static int read_conversion(const xpu_func_job *job, const xpu_desc_copy *d, conversion *c) {
    *c = (conversion){.src_type = d->src_type,
                      .dst_type = d->dst_type,
                      .src_bytes = xpu_func_type_bytes(d->src_type),
                      .dst_bytes = xpu_func_type_bytes(d->dst_type),
                      .scale = d->scale,
                      .rows = job->func->rows};
    if (!c->src_bytes || !c->dst_bytes)
        return xpu_func_engine_fault(job, XPU_FAULT_DESCRIPTOR, job->address, "element types %u to %u do not exist",
                                     d->src_type, d->dst_type);
    if (d->src_type == d->dst_type) return 0;
    if (d->scale_mode == XPU_SCALE_DIVISOR) return read_divisor(job, d, c);
    int narrows = d->src_type == XPU_TYPE_F32 && (d->dst_type == XPU_TYPE_I8 || d->dst_type == XPU_TYPE_I16);
    int widens = d->dst_type == XPU_TYPE_F32 && d->src_type != XPU_TYPE_U8;
    if (!narrows && !widens)
        return xpu_func_engine_fault(job, XPU_FAULT_DESCRIPTOR, job->address,
                                     "there is no conversion from type %u to %u", d->src_type, d->dst_type);
    uint32_t integer = narrows ? d->dst_type : d->src_type;
    if (d->scale_mode == XPU_SCALE_IMMEDIATE) return 0;
    if (d->scale_mode == XPU_SCALE_ABSMAX && integer == XPU_TYPE_I32)
        return xpu_func_engine_fault(job, XPU_FAULT_DESCRIPTOR, job->address,
                                     "scale_mode %u is none of this conversion", d->scale_mode);
    const uint8_t *bytes = xpu_func_job_memory(job, "scale_address", d->scale_address, 4, 4, 0);
    if (!bytes) return -1;
    memcpy(&c->scale, bytes, 4);
    if (d->scale_mode == XPU_SCALE_MEMORY) return 0;
    int32_t limit = integer == XPU_TYPE_I16 ? XA_I16_MAX : 127;
    c->scale = narrows ? xa_absmax_inverse(c->scale, limit) : xa_absmax_scale(c->scale, limit);
    return 0;
}

static int is_empty(const xpu_func_box *box) {
    return !box->size[0] || !box->size[1] || !box->size[2] || !box->size[3];
}

int xpu_func_dma_copy(const xpu_func_job *job) {
    xpu_desc_copy d;
    conversion c;
    xpu_desc_copy_unpack(job->words, &d);
    if (read_conversion(job, &d, &c)) return -1;
    xpu_func_box src = {d.src,
                        {d.size0, d.size1, d.size2, d.size3},
                        {d.src_stride0, d.src_stride1, d.src_stride2, d.src_stride3},
                        c.src_bytes,
                        0,
                        NULL};
    xpu_func_box dst = {d.dst,
                        {d.size0, d.size1, d.size2, d.size3},
                        {d.dst_stride0, d.dst_stride1, d.dst_stride2, d.dst_stride3},
                        c.dst_bytes,
                        1,
                        NULL};
    if (xpu_func_job_box(job, &src, "src", c.src_bytes) || xpu_func_job_box(job, &dst, "dst", c.dst_bytes)) return -1;
    if (!is_empty(&dst)) move_box(job, dst, src, &c);
    return 0;
}

int xpu_func_dma_fill(const xpu_func_job *job) {
    xpu_desc_fill d;
    xpu_desc_fill_unpack(job->words, &d);
    unsigned bytes = xpu_func_type_bytes(d.dst_type);
    if (!bytes)
        return xpu_func_engine_fault(job, XPU_FAULT_DESCRIPTOR, job->address, "element type %u does not exist",
                                     d.dst_type);
    xpu_func_box dst = {d.dst,
                        {d.size0, d.size1, d.size2, d.size3},
                        {d.dst_stride0, d.dst_stride1, d.dst_stride2, d.dst_stride3},
                        bytes,
                        1,
                        NULL};
    if (xpu_func_job_box(job, &dst, "dst", bytes)) return -1;
    if (is_empty(&dst) || xpu_func_checks(job)) return 0;
    chunk values;
    for (unsigned i = 0; i < CHUNK; i++) memcpy(values.bytes + (size_t)i * bytes, &d.value, bytes);
    for (uint32_t i = 0; i < d.size0; i++)
        for (uint32_t j = 0; j < d.size1; j++)
            for (uint32_t k = 0; k < d.size2; k++) {
                uint8_t *row =
                    dst.bytes_at + (int64_t)i * d.dst_stride0 + (int64_t)j * d.dst_stride1 + (int64_t)k * d.dst_stride2;
                for (uint32_t l = 0; l < d.size3; l += CHUNK)
                    copy_row(row + (int64_t)l * d.dst_stride3, d.dst_stride3, values.bytes, bytes,
                             d.size3 - l < CHUNK ? d.size3 - l : CHUNK, bytes);
            }
    return 0;
}

/* What is common to all steps of a gather. */
typedef struct {
    const xpu_func_job *job;
    xpu_func_box dst, src; /* size[dim] is 1 */
    conversion c;
    unsigned dim;
} gather;

/* Position i of the gathered dimension, from source position `index`. */
static int gather_step(const gather *g, uint32_t i, int32_t index, int32_t src_stride, int32_t dst_stride) {
    xpu_func_box src = g->src, dst = g->dst;
    src.address += (uint64_t)((int64_t)index * src_stride);
    dst.address += (uint64_t)((int64_t)i * dst_stride);
    if (xpu_func_job_box(g->job, &src, "src at an index of the list", g->c.src_bytes)) return -1;
    if (xpu_func_job_box(g->job, &dst, "dst", g->c.dst_bytes)) return -1;
    move_box(g->job, dst, src, &g->c);
    return 0;
}

int xpu_func_dma_gather(const xpu_func_job *job) {
    xpu_desc_gather d;
    xpu_desc_copy as_copy;
    xpu_desc_gather_unpack(job->words, &d);
    xpu_desc_copy_unpack(job->words, &as_copy); /* all fields of a copy are at the same places */
    gather g = {.job = job, .dim = d.gather_dim};
    if (read_conversion(job, &as_copy, &g.c)) return -1;
    g.src = (xpu_func_box){d.src,
                           {d.size0, d.size1, d.size2, d.size3},
                           {d.src_stride0, d.src_stride1, d.src_stride2, d.src_stride3},
                           g.c.src_bytes,
                           0,
                           NULL};
    g.dst = (xpu_func_box){d.dst,
                           {d.size0, d.size1, d.size2, d.size3},
                           {d.dst_stride0, d.dst_stride1, d.dst_stride2, d.dst_stride3},
                           g.c.dst_bytes,
                           1,
                           NULL};
    if (is_empty(&g.dst)) return 0;
    uint32_t count = g.dst.size[g.dim];
    int32_t src_stride = g.src.stride[g.dim], dst_stride = g.dst.stride[g.dim];
    if (src_stride % (int)g.c.src_bytes || dst_stride % (int)g.c.dst_bytes)
        return xpu_func_engine_fault(job, XPU_FAULT_MISALIGNED, d.src, "a stride of dimension %u is not aligned",
                                     g.dim);
    const uint8_t *indices = xpu_func_job_memory(job, "index", d.index, (uint64_t)count * 4, 4, 0);
    if (!indices) return -1;
    if (job->func->extent == XPU_FUNC_CHECK_BEGIN) return 0;
    g.src.size[g.dim] = g.dst.size[g.dim] = 1;
    g.src.stride[g.dim] = g.dst.stride[g.dim] = 0;
    for (uint32_t i = 0; i < count; i++) {
        int32_t index;
        memcpy(&index, indices + 4 * (size_t)i, 4);
        if (gather_step(&g, i, index, src_stride, dst_stride)) return -1;
    }
    return 0;
}
