/* Arithmetic of operators that choose and place elements: the same bits on host and device. */
#ifndef XPU_CORE_ARITH_PICK_H
#define XPU_CORE_ARITH_PICK_H

#include "core/arith.h"

/* How the bits of an element are a number. */
typedef enum { XA_UNSIGNED, XA_SIGNED, XA_FLOATING } xa_number;

/* What becomes of an element that an update meets. */
typedef enum { XA_PLACE, XA_PLACE_SUM, XA_PLACE_PRODUCT, XA_PLACE_MAX, XA_PLACE_MIN, XA_PLACINGS } xa_placing;

/* Of 8-byte integers; sums and products wrap. */
XA_INLINE uint64_t xa_place_wide(xa_placing kind, xa_number number, uint64_t old, uint64_t update) {
    int less = number == XA_SIGNED ? (int64_t)old < (int64_t)update : old < update;
    if (kind == XA_PLACE_SUM) return old + update;
    if (kind == XA_PLACE_PRODUCT) return old * update;
    if (kind == XA_PLACE) return update;
    return less == (kind == XA_PLACE_MAX) ? update : old;
}

/* Of float32 and 4-byte integers. */
XA_INLINE uint32_t xa_place_word(xa_placing kind, xa_number number, uint32_t old, uint32_t update) {
    float a = xa_float(old), b = xa_float(update);
    int less = number == XA_SIGNED ? (int32_t)old < (int32_t)update : old < update;
    if (number == XA_FLOATING) {
        if (kind == XA_PLACE_SUM) return xa_bits(xa_add(a, b));
        if (kind == XA_PLACE_PRODUCT) return xa_bits(xa_mul(a, b));
        if (kind == XA_PLACE_MAX) return xa_bits(xa_max(a, b));
        if (kind == XA_PLACE_MIN) return xa_bits(xa_min(a, b));
    }
    if (kind == XA_PLACE_SUM) return old + update;
    if (kind == XA_PLACE_PRODUCT) return old * update;
    if (kind == XA_PLACE) return update;
    return less == (kind == XA_PLACE_MAX) ? update : old;
}

/* ---- order ---- */

/* Numbers in the order of these keys: of floats -0 and 0 are equal, NaN is the largest. */
XA_INLINE uint32_t xa_order_word(xa_number number, uint32_t bits) {
    const uint32_t top = 0x80000000u;
    if (number == XA_UNSIGNED) return bits;
    if (number == XA_SIGNED) return bits ^ top;
    if (bits << 1 > 0xff000000u) return UINT32_MAX;
    if (bits == top) bits = 0;
    return bits ^ (bits & top ? UINT32_MAX : top);
}

/* ---- chance ---- */

typedef struct {
    uint32_t word[4];
} xa_random_words;

/* Philox4x32-10 (Salmon and others, 2011) of a counter by a key of two words. */
XA_INLINE xa_random_words xa_philox(uint32_t counter, uint32_t key0, uint32_t key1) {
    uint32_t c0 = counter, c1 = 0, c2 = 0, c3 = 0;
    for (int round = 0; round < 10; round++, key0 += 0x9e3779b9u, key1 += 0xbb67ae85u) {
        const uint64_t a = (uint64_t)0xd2511f53u * c0, b = (uint64_t)0xcd9e8d57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ key0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ key1;
        c3 = (uint32_t)a;
    }
    return (xa_random_words){{c0, c1, c2, c3}};
}

/* From 0 to 1 - 2^-24, in steps of 2^-24. */
XA_INLINE float xa_uniform(uint32_t bits) {
    return xa_mul((float)(int32_t)(bits >> 8), 0x1p-24f);
}

/* ---- boxes ---- */

/* Candidates of the kernel nms that stand in LM at most.
 * Blocks of candidates in its scratch are at least a third full: so many planes' bytes for each box, and of one block.
 */
enum { XA_NMS_ROOM = 4096, XA_NMS_PLANES_BYTES = 24, XA_NMS_SPARSE = 3 };

/* What four numbers say of a box: y and x of two corners in any order; x and y of its centre, then width and height
 * (both as in ONNX); left, top, right and bottom as PaddlePaddle takes them, in general or of pixels that it ends with.
 */
typedef enum { XA_BOX_CORNERS, XA_BOX_CENTRE, XA_BOX_SIDES, XA_BOX_PIXELS, XA_BOX_KINDS } xa_box_kind;

typedef struct {
    float left, top, right, bottom;
} xa_box;

XA_INLINE xa_box xa_box_of(const float *b, xa_box_kind kind) {
    if (kind >= XA_BOX_SIDES) return (xa_box){b[0], b[1], b[2], b[3]};
    if (kind == XA_BOX_CENTRE) {
        const float w = xa_mul(b[2], 0.5f), h = xa_mul(b[3], 0.5f);
        return (xa_box){xa_sub(b[0], w), xa_sub(b[1], h), xa_add(b[0], w), xa_add(b[1], h)};
    }
    return (xa_box){xa_fmin(b[1], b[3]), xa_fmin(b[0], b[2]), xa_fmax(b[1], b[3]), xa_fmax(b[0], b[2])};
}

/* Of sides as they are; `more`: 1 for pixels. */
XA_INLINE float xa_sides_area(xa_box a, float more) {
    const float w = xa_add(xa_sub(a.right, a.left), more), h = xa_add(xa_sub(a.bottom, a.top), more);
    return ((a.right < a.left) | (a.bottom < a.top)) ? 0 : xa_mul(w, h);
}

/* As PaddlePaddle does: boxes that touch overlap, and what is no number (0 of 0) is more than anything. */
XA_INLINE bool xa_sides_overlap(xa_box a, xa_box b, float most, float more) {
    if ((b.left > a.right) | (b.right < a.left) | (b.top > a.bottom) | (b.bottom < a.top)) return !(0 <= most);
    const float w = xa_add(xa_sub(xa_fmin(a.right, b.right), xa_fmax(a.left, b.left)), more);
    const float h = xa_add(xa_sub(xa_fmin(a.bottom, b.bottom), xa_fmax(a.top, b.top)), more);
    const float common = xa_mul(w, h);
    const float both = xa_sub(xa_add(xa_sides_area(a, more), xa_sides_area(b, more)), common);
    return !(xa_div(common, both) <= most);
}

/* Whether the intersection of two boxes is more than `most` of their union. */
XA_INLINE bool xa_boxes_overlap(xa_box a, xa_box b, float most, xa_box_kind kind) {
    if (kind >= XA_BOX_SIDES) return xa_sides_overlap(a, b, most, kind == XA_BOX_PIXELS ? 1 : 0);
    const float w = xa_sub(xa_fmin(a.right, b.right), xa_fmax(a.left, b.left));
    const float h = xa_sub(xa_fmin(a.bottom, b.bottom), xa_fmax(a.top, b.top));
    const float common = xa_mul(w, h);
    const float a_area = xa_mul(xa_sub(a.right, a.left), xa_sub(a.bottom, a.top));
    const float b_area = xa_mul(xa_sub(b.right, b.left), xa_sub(b.bottom, b.top));
    const float both = xa_sub(xa_add(a_area, b_area), common);
    return (w > 0) & (h > 0) & (common > 0) & (a_area > 0) & (b_area > 0) & (both > 0) && xa_div(common, both) > most;
}

#endif
