/* Strided copies and fills by DMA, queued by core 0. The innermost four dims go into one descriptor, the outer two are
 * walked; descriptors stand in a ring in LM. DMA moves elements that do not lie side by side one by one, but for planes
 * that become pixels and pixels that become planes, up to XPU_WOVEN_PLANES of them: more are cut into as many. */
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

/* ---- copies ---- */

/* A descriptor moves at most so many elements, or pixels of planes: DMA moves elements one by one where they do
 * not lie side by side, and a descriptor that takes 1,000,000 cycles would count as no progress. */
enum { DIMS = 4, MOST_ELEMENTS = 1 << 16, MOST_WOVEN = 1 << 14 };

static inline xpu_ticket queue(const xpu_desc_copy *copy) {
    xpu_ticket ticket;
    uint32_t *words = next_descriptor(&ticket);
    xpu_desc_copy_pack(words, copy);
    xpu_enqueue(XPU_ENGINE_DMA0, words, 1);
    return ticket;
}

/* What a descriptor of any size says, in pieces: `step` of each dim from `at` on. */
__attribute__((noinline)) static xpu_ticket queue_pieces(const uint32_t *words, uint32_t most) {
    xpu_desc_copy whole, *const copy = &whole;
    xpu_desc_copy_unpack(words, copy);
    const uint32_t size[DIMS] = {copy->size0, copy->size1, copy->size2, copy->size3};
    const int32_t from[DIMS] = {copy->src_stride0, copy->src_stride1, copy->src_stride2, copy->src_stride3};
    const int32_t to[DIMS] = {copy->dst_stride0, copy->dst_stride1, copy->dst_stride2, copy->dst_stride3};
    uint32_t step[DIMS], at[DIMS] = {0}, left = most;
    for (int i = DIMS - 1; i >= 0; i--) {
        step[i] = min_u32(size[i], left);
        left = step[i] < size[i] ? 1 : left / step[i];
    }
    for (;;) {
        xpu_desc_copy piece = *copy;
        uint32_t count[DIMS], src = (uint32_t)copy->src, dst = (uint32_t)copy->dst;
        for (int i = 0; i < DIMS; i++) {
            count[i] = min_u32(step[i], size[i] - at[i]);
            src += at[i] * (uint32_t)from[i];
            dst += at[i] * (uint32_t)to[i];
        }
        piece.src = src, piece.dst = dst;
        piece.size0 = count[0], piece.size1 = count[1], piece.size2 = count[2], piece.size3 = count[3];
        xpu_ticket ticket = queue(&piece);
        int i = DIMS - 1;
        for (; i >= 0 && (at[i] += step[i]) >= size[i]; i--) at[i] = 0;
        if (i < 0) return ticket;
    }
}

/* Whether DMA weaves d[5] planes, or makes them of pixels. */
static int is_woven(const struct xpu_copy_nd_args *a) {
    if (a->d[4] < 2 || a->d[5] < 2 || a->d[5] > (int32_t)XPU_WOVEN_PLANES || a->element_bytes > 4) return 0;
    return a->xs[4] == 1 ? a->ys[5] == 1 : a->xs[5] == 1 && a->ys[4] == 1;
}

static void swap_inner(struct xpu_copy_nd_args *a) {
    int32_t *const arrays[] = {a->d, a->xs, a->ys};
    for (int i = 0; i < 3; i++) {
        const int32_t word = arrays[i][4];
        arrays[i][4] = arrays[i][5], arrays[i][5] = word;
    }
}

/* Equal pieces of the planes, a dim of their own in front of the pixels, and what is left. */
__attribute__((noinline)) static xpu_ticket copy_pieces(struct xpu_copy_nd_args *a, uint32_t layer, xpu_ticket after) {
    enum { MOST = XPU_WOVEN_PLANES, PIECE = 3, PLANE = 5 };
    const int32_t planes = a->d[PLANE], pieces = (planes + MOST - 1) / MOST, each = (planes + pieces - 1) / pieces,
                  rest = planes % each, count = a->d[0], x_step = a->xs[0], y_step = a->ys[0];
    xpu_ticket ticket = after;
    for (int i = 0; i < PIECE; i++) a->d[i] = a->d[i + 1], a->xs[i] = a->xs[i + 1], a->ys[i] = a->ys[i + 1];
    a->d[PIECE] = planes / each, a->xs[PIECE] = each * a->xs[PLANE], a->ys[PIECE] = each * a->ys[PLANE];
    a->d[PLANE] = each;
    for (int32_t i = 0; i < count; i++) {
        ticket = xpu_copy_nd(a, layer, after);
        if (rest) {
            struct xpu_copy_nd_args last = *a;
            last.d[PIECE] = 1, last.d[PLANE] = rest;
            last.x_offset += a->d[PIECE] * a->xs[PIECE];
            last.y_offset += a->d[PIECE] * a->ys[PIECE];
            ticket = xpu_copy_nd(&last, layer, after);
        }
        a->x_offset += x_step;
        a->y_offset += y_step;
    }
    return ticket;
}

xpu_ticket xpu_copy_nd(const struct xpu_copy_nd_args *args, uint32_t layer, xpu_ticket after) {
    struct xpu_copy_nd_args copied, *const a = &copied; /* args may lie in GM, where each word would be waited for */
    copy_words(a, args, sizeof copied / 4);
    if (a->xs[4] == 1 && a->ys[5] == 1 && a->element_bytes <= 4) {
        if (a->d[4] < a->d[5] && a->xs[5] != 1) swap_inner(a); /* fewer planes in y than in x */
        if (a->d[4] > 1 && a->d[5] > (int32_t)XPU_WOVEN_PLANES) return copy_pieces(a, layer, after);
    }
    int32_t bytes = a->element_bytes, wide = bytes == 8 ? 2 : 1; /* 8-byte elements move as pairs of words */
    int32_t unit = bytes / wide;
    const int32_t count = a->d[2] * a->d[3] * a->d[4] * a->d[5];
    const int32_t most = count > MOST_ELEMENTS / wide && is_woven(a) ? MOST_WOVEN * a->d[5] : MOST_ELEMENTS;
    const int is_large = count > most / wide;
    uint32_t large[XPU_DESC_WORDS];
    xpu_ticket ticket = after;
    xpu_finish_queueing();
    if (wide == 2 && (a->xs[5] != 1 || a->ys[5] != 1)) xpu_abort(ABORT_WIDE_ELEMENTS);
    for (int32_t i = 0; i < a->d[0]; i++) {
        for (int32_t j = 0; j < a->d[1]; j++) {
            uint32_t *words = is_large ? large : next_descriptor(&ticket);
            const xpu_desc_copy copy = {
                .layer = layer,
                .wait0 = after.counter,
                .wait0_value = after.value,
                .wait1 = XPU_NO_COUNTER,
                .signal = XPU_COUNTER_COPY,
                .signal_add = 1,
                .src = a->x + (uint32_t)((a->x_offset + i * a->xs[0] + j * a->xs[1]) * bytes),
                .dst = a->y + (uint32_t)((a->y_offset + i * a->ys[0] + j * a->ys[1]) * bytes),
                .src_type = element_type(unit),
                .dst_type = element_type(unit),
                .size0 = (uint32_t)a->d[2],
                .size1 = (uint32_t)a->d[3],
                .size2 = (uint32_t)a->d[4],
                .size3 = (uint32_t)(a->d[5] * wide),
                .src_stride0 = a->xs[2] * bytes,
                .src_stride1 = a->xs[3] * bytes,
                .src_stride2 = a->xs[4] * bytes,
                .src_stride3 = a->xs[5] * unit,
                .dst_stride0 = a->ys[2] * bytes,
                .dst_stride1 = a->ys[3] * bytes,
                .dst_stride2 = a->ys[4] * bytes,
                .dst_stride3 = a->ys[5] * unit,
            };
            xpu_desc_copy_pack(words, &copy);
            if (is_large)
                ticket = queue_pieces(words, (uint32_t)most);
            else
                xpu_enqueue(XPU_ENGINE_DMA0, words, 1);
        }
    }
    return ticket;
}

xpu_ticket xpu_copy_quantize(const struct xpu_copy_quantize_args *args, uint32_t layer, xpu_ticket after) {
    enum { MOST = 1 << 23 }; /* elements of a descriptor, 16 in a cycle */
    const struct xpu_copy_quantize_args a = *args;
    xpu_desc_copy copy = {.layer = layer,
                          .wait0 = after.counter,
                          .wait0_value = after.value,
                          .wait1 = XPU_NO_COUNTER,
                          .signal = XPU_COUNTER_COPY,
                          .signal_add = 1,
                          .src_type = XPU_TYPE_F32,
                          .dst_type = a.y_signed ? XPU_TYPE_I8 : XPU_TYPE_U8,
                          .scale_mode = XPU_SCALE_DIVISOR,
                          .zero = (uint32_t)a.zero & 0xff,
                          .scale = a.scale,
                          .size0 = 1,
                          .size1 = 1,
                          .size2 = 1,
                          .src_stride3 = sizeof(float),
                          .dst_stride3 = 1};
    xpu_ticket ticket = after;
    xpu_finish_queueing();
    for (int32_t at = 0; at < a.count; at += MOST) {
        copy.src = a.x + sizeof(float) * (uint32_t)at;
        copy.dst = a.y + (uint32_t)at;
        copy.size3 = (uint32_t)min_i32(a.count - at, MOST);
        ticket = queue(&copy);
    }
    return ticket;
}

/* Words from `at` on, `stride` bytes apart, all of one value. */
static xpu_ticket queue_fill(uint32_t at, int32_t stride, int32_t count, uint32_t value, uint32_t layer,
                             xpu_ticket after) {
    xpu_ticket ticket;
    uint32_t *words = next_descriptor(&ticket);
    xpu_desc_fill fill = {
        .layer = layer,
        .wait0 = after.counter,
        .wait0_value = after.value,
        .wait1 = XPU_NO_COUNTER,
        .signal = XPU_COUNTER_COPY,
        .signal_add = 1,
        .dst = at,
        .dst_type = XPU_TYPE_F32,
        .size0 = 1,
        .size1 = 1,
        .size2 = 1,
        .size3 = (uint32_t)count,
        .dst_stride3 = stride,
        .value = value,
    };
    xpu_desc_fill_pack(words, &fill);
    xpu_enqueue(XPU_ENGINE_DMA0, words, 1);
    return ticket;
}

xpu_ticket xpu_fill(const struct xpu_fill_args *a, uint32_t layer, xpu_ticket after) {
    xpu_ticket ticket = after;
    xpu_finish_queueing();
    for (int32_t at = 0; at < a->count; at += MOST_ELEMENTS) {
        ticket = queue_fill(a->y + 4 * (uint32_t)at, 4, min_i32(a->count - at, MOST_ELEMENTS),
                            xpu_desc_float_bits(a->value), layer, after);
    }
    return ticket;
}

xpu_ticket xpu_put(const struct xpu_put_args *a, uint32_t layer, xpu_ticket after) {
    xpu_ticket ticket = after;
    xpu_finish_queueing();
    for (int32_t i = 0; i < a->count; i++)
        ticket = queue_fill(a->y + 4 * (uint32_t)(a->first + i), 4, 1, (uint32_t)a->words[i], layer, after);
    return ticket;
}

/* Of a range's first layer, core 0 says itself that it is done: behind the words that it has stored before the range.
 */
xpu_ticket xpu_when_empty(const struct xpu_when_empty_args *a, uint32_t layer, xpu_ticket after) {
    const int32_t bytes = a->element_bytes;
    xpu_ticket ticket = after;
    xpu_finish_queueing();
    if (a->count == 0 && after.counter == XPU_COUNTER_CALL && after.value == 0) {
        ticket = xpu_expect(XPU_COUNTER_HOST, 1);
        xpu_signal(XPU_COUNTER_HOST, 1);
    }
    for (int32_t at = 0; at < a->count; at += MOST_ELEMENTS) {
        uint32_t y = a->y + (uint32_t)(at * bytes);
        int32_t count = min_i32(a->count - at, MOST_ELEMENTS);
        ticket = queue_fill(y, bytes, count, (uint32_t)a->low, layer, after);
        if (bytes == 8) ticket = queue_fill(y + 4, bytes, count, (uint32_t)a->high, layer, after);
    }
    return ticket;
}
