/* Strided copies and fills by DMA, queued by core 0. The innermost four dims go into one descriptor, the outer two are
 * walked; descriptors stand in a ring in LM. */
#include "xpu_runtime/kernels/common.h"

enum { RING = 4 };
static uint32_t ring[RING][XPU_DESC_WORDS];

/* The ring's next descriptor once its previous use is done; *ticket is that of its completion. */
static uint32_t *next_descriptor(xpu_ticket *ticket) {
    *ticket = xpu_expect(XPU_COUNTER_COPY, 1);
    if (ticket->value > RING) xpu_wait((xpu_ticket){XPU_COUNTER_COPY, ticket->value - RING});
    return ring[ticket->value % RING];
}

static uint32_t element_type(int32_t bytes) {
    return bytes == 1 ? XPU_TYPE_U8 : bytes == 2 ? XPU_TYPE_I16 : XPU_TYPE_I32;
}

xpu_ticket xpu_copy_nd(const struct xpu_copy_nd_args *a, uint32_t layer, xpu_ticket after) {
    int32_t bytes = a->element_bytes, wide = bytes == 8 ? 2 : 1; /* 8-byte elements move as pairs of words */
    int32_t unit = bytes / wide;
    xpu_ticket ticket = after;
    xpu_finish_queueing();
    if (wide == 2 && (a->xs5 != 1 || a->ys5 != 1)) xpu_abort(ABORT_WIDE_ELEMENTS);
    for (int32_t i = 0; i < a->d0; i++) {
        for (int32_t j = 0; j < a->d1; j++) {
            xpu_desc_copy copy = {
                .layer = layer,
                .wait0 = after.counter,
                .wait0_value = after.value,
                .wait1 = XPU_NO_COUNTER,
                .signal = XPU_COUNTER_COPY,
                .signal_add = 1,
                .src = a->x + (uint32_t)((a->x_offset + i * a->xs0 + j * a->xs1) * bytes),
                .dst = a->y + (uint32_t)((a->y_offset + i * a->ys0 + j * a->ys1) * bytes),
                .src_type = element_type(unit),
                .dst_type = element_type(unit),
                .size0 = (uint32_t)a->d2,
                .size1 = (uint32_t)a->d3,
                .size2 = (uint32_t)a->d4,
                .size3 = (uint32_t)(a->d5 * wide),
                .src_stride0 = a->xs2 * bytes,
                .src_stride1 = a->xs3 * bytes,
                .src_stride2 = a->xs4 * bytes,
                .src_stride3 = a->xs5 * unit,
                .dst_stride0 = a->ys2 * bytes,
                .dst_stride1 = a->ys3 * bytes,
                .dst_stride2 = a->ys4 * bytes,
                .dst_stride3 = a->ys5 * unit,
            };
            uint32_t *words = next_descriptor(&ticket);
            xpu_desc_copy_pack(words, &copy);
            xpu_enqueue(XPU_ENGINE_DMA0, words, 1);
        }
    }
    return ticket;
}

xpu_ticket xpu_fill(const struct xpu_fill_args *a, uint32_t layer, xpu_ticket after) {
    xpu_ticket ticket;
    xpu_finish_queueing();
    uint32_t *words = next_descriptor(&ticket);
    xpu_desc_fill fill = {
        .layer = layer,
        .wait0 = after.counter,
        .wait0_value = after.value,
        .wait1 = XPU_NO_COUNTER,
        .signal = XPU_COUNTER_COPY,
        .signal_add = 1,
        .dst = a->y,
        .dst_type = XPU_TYPE_F32,
        .size0 = 1,
        .size1 = 1,
        .size2 = 1,
        .size3 = (uint32_t)a->count,
        .dst_stride3 = 4,
        .value = xpu_desc_float_bits(a->value),
    };
    xpu_desc_fill_pack(words, &fill);
    xpu_enqueue(XPU_ENGINE_DMA0, words, 1);
    return ticket;
}
