/* Strided copies and fills by DMA, queued by core 0. The innermost four dims go into one descriptor, the outer two are
 * walked; descriptors stand in a ring in LM. DMA moves elements that do not lie side by side one by one, but for up to
 * XPU_WOVEN_PLANES planes that become channel-last; all cores weave what has a few more. */
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

/* ---- weaving ---- */

enum { MOST_CHANNELS = 16, LEAST_WOVEN = 4096, VECTOR = 64 };

/* Pixels whose channels lie in planes, and side by side in y. */
static int has_planes(const struct xpu_copy_nd_args *a) {
    return a->d[5] > 1 && a->xs[4] == 1 && a->ys[5] == 1 && a->ys[4] == a->d[5];
}

static int is_woven_by_dma(const struct xpu_copy_nd_args *a) {
    return has_planes(a) && a->d[5] <= (int32_t)XPU_WOVEN_PLANES && a->element_bytes <= 4;
}

/* d4 pixels of d5 planes, which are too many for DMA; of bytes, whole words of them. */
static int is_woven(const struct xpu_copy_nd_args *a) {
    if (a->element_bytes == 1 && ((a->d[4] | a->xs[5] | a->x_offset | a->y_offset) & 3)) return 0;
    return (a->element_bytes == 4 || a->element_bytes == 1) && a->d[0] * a->d[1] * a->d[2] * a->d[3] == 1 &&
           has_planes(a) && a->d[5] > (int32_t)XPU_WOVEN_PLANES && a->d[5] <= MOST_CHANNELS &&
           a->d[4] * a->d[5] >= LEAST_WOVEN;
}

static void weave_words(const uint32_t *plane, uint32_t *to, uint32_t pixels, uint32_t channels) {
    for (size_t vl; pixels > 0; pixels -= (uint32_t)vl, plane += vl, to += vl * channels) {
        vl = __riscv_vsetvl_e32m4(pixels);
        __riscv_vsse32_v_u32m4(to, (ptrdiff_t)(4 * channels), __riscv_vle32_v_u32m4(plane, vl), vl);
    }
}

static void weave_bytes(const uint8_t *plane, uint8_t *to, uint32_t pixels, uint32_t channels) {
    for (size_t vl; pixels > 0; pixels -= (uint32_t)vl, plane += vl, to += vl * channels) {
        vl = __riscv_vsetvl_e8m4(pixels);
        __riscv_vsse8_v_u8m4(to, (ptrdiff_t)channels, __riscv_vle8_v_u8m4(plane, vl), vl);
    }
}

static void weave(const uint8_t *planes, uint8_t *out, uint32_t pixels, uint32_t channels, uint32_t bytes) {
    for (uint32_t c = 0; c < channels; c++, planes += pixels * bytes, out += bytes) {
        if (bytes == 1)
            weave_bytes(planes, out, pixels, channels);
        else
            weave_words((const uint32_t *)planes, (uint32_t *)out, pixels, channels);
    }
}

static void weave_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_copy_nd_args a = *(const struct xpu_copy_nd_args *)args;
    uint32_t available, first, last, channels = (uint32_t)a.d[5], bytes = (uint32_t)a.element_bytes;
    uint8_t *lm = (uint8_t *)lm_floats(&available);
    uint32_t pixel = channels * bytes, block = round_down(available / pixel, 4);
    uint32_t x = a.x + bytes * (uint32_t)a.x_offset, y = a.y + bytes * (uint32_t)a.y_offset;
    if (block > VECTOR) block = round_down(block, VECTOR);
    uint8_t *in[2] = {lm, lm + block * pixel}, *out[2] = {lm + 2 * block * pixel, lm + 3 * block * pixel};
    partition(core, cores, (uint32_t)a.d[4], 16, &first, &last);
    xpu_ticket none = {XPU_COUNTER_CALL, 0}, loaded = none, stored[2] = {none, none};
    for (uint32_t at = first, next = first, half = 0; at < last; half ^= 1) {
        uint32_t pixels = min_u32(block, last - at);
        xpu_ticket ready = loaded;
        for (; next < last && next <= at + block; next += block) {
            uint32_t count = bytes * min_u32(block, last - next);
            loaded = xpu_load_2d(in[next == at ? half : half ^ 1], (int32_t)count, x + bytes * next,
                                 (int32_t)bytes * a.xs[5], count, channels);
            if (next == at) ready = loaded;
        }
        xpu_wait(ready);
        xpu_wait(stored[half]);
        weave(in[half], out[half], pixels, channels, bytes);
        stored[half] = LM2GM(y + at * pixel, out[half], pixels * pixel);
        at += pixels;
    }
}

/* ---- copies ---- */

/* A descriptor moves at most so many elements, or pixels that are woven: DMA moves elements one by one where they do
 * not lie side by side, and a descriptor that takes 1,000,000 cycles would count as no progress. */
enum { DIMS = 4, MOST_ELEMENTS = 1 << 16, MOST_WOVEN = 1 << 17 };

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

xpu_ticket xpu_copy_nd(const struct xpu_copy_nd_args *args, uint32_t layer, xpu_ticket after) {
    struct xpu_copy_nd_args copied, *const a = &copied; /* args may lie in GM, where each word would be waited for */
    copy_words(a, args, sizeof copied / 4);
    int32_t bytes = a->element_bytes, wide = bytes == 8 ? 2 : 1; /* 8-byte elements move as pairs of words */
    int32_t unit = bytes / wide;
    const int32_t most = is_woven_by_dma(a) ? MOST_WOVEN * a->d[5] : MOST_ELEMENTS;
    const int is_large = a->d[2] * a->d[3] * a->d[4] * a->d[5] > most / wide;
    uint32_t large[XPU_DESC_WORDS];
    xpu_ticket ticket = after;
    if (is_woven(a)) return xpu_run_on_cores(weave_share, args, layer, after);
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
