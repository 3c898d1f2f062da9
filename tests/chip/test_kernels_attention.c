/*
 * Attention as one kernel, on the functional chip, against the reference kernel: blocks and chunks of every size, with
 * no mask, causal ones and masks by chance, masks under which all that a query has is masked, scores far apart, values
 * that are not finite.
 */
#include "core/arith.h"
#include "tests/chip/rig/operands.h"

/* Often around a vector or a block. */
static int64_t draw_size(rig *r, int64_t most) {
    int64_t kind = draw(r, 0, 5), near = 16 * draw(r, 1, 9) + draw(r, -1, 1);
    int64_t size = kind == 0 ? 1 : kind < 3 ? near : draw(r, 1, most);
    return size < most ? size : most;
}

/* Runs of every kind: causal, reversed, the same for all rows; by chance; some rows without a key. */
static void fill_mask(rig *r, xpu_tensor *mask) {
    const int64_t kind = draw(r, 0, 4), rows = mask->dims[0], keys = mask->dims[1], gap = keys - rows;
    const int64_t none = draw(r, 0, 3) ? -1 : draw(r, 0, rows - 1);
    for (int64_t i = 0; i < rows * keys; i++) {
        const int64_t row = i / keys, key = i % keys;
        int is_for = kind == 0   ? key <= row + (gap > 0 ? gap : 0)
                     : kind == 1 ? key >= row
                     : kind == 2 ? key < 1 + keys / 2
                     : kind == 3 ? key <= row && key + 20 > row
                                 : draw(r, 0, 2) > 0;
        ((uint8_t *)mask->data)[i] = (uint8_t)(row != none && is_for ? draw(r, 1, 255) : 0);
    }
}

static void add_attention(rig *r, bench *b) {
    const uint32_t lanes = XPU_ATTENTION_LANES;
    const int64_t room = (int64_t)(r->chip.lm_bytes - XPU_LM_RESERVED - XPU_LM_WINDOW) / 4;
    static const float masked[] = {-1e9f, -3.4e38f, -__builtin_inff(), -20, 0};
    struct xpu_attention_f32_args a = {.batch = (int32_t)draw(r, 1, 6), .scale = draw(r, 0, 1) ? 0.25f : 20.0f};
    do {
        a.inner = (int32_t)(draw(r, 0, 2) ? draw(r, 1, 20) : draw(r, 1, 130));
        a.width = (int32_t)(draw(r, 0, 2) ? draw(r, 1, 20) : draw(r, 1, 130));
    } while (xpu_attention_floats(lanes, lanes, (uint32_t)a.inner, (uint32_t)a.width) > room);
    a.rows = (int32_t)draw_size(r, 150);
    a.keys = (int32_t)draw_size(r, draw(r, 0, 3) ? 150 : 700);
    a.masked = masked[draw(r, 0, 4)];
    const int has_mask = draw(r, 0, 3) > 0;
    rig_describe(r, "attention %d x %d x %d, %d and %d wide%s", a.batch, a.rows, a.keys, a.inner, a.width,
                 has_mask ? ", masked" : "");
    xpu_tensor q = operand_random(b, r->random, XPU_F32, DIMS(a.batch, a.rows, a.inner));
    xpu_tensor k = operand_random(b, r->random, XPU_F32, DIMS(a.batch, a.keys, a.inner));
    xpu_tensor v = operand_random(b, r->random, XPU_F32, DIMS(a.batch, a.keys, a.width));
    xpu_tensor mask = operand_random(b, r->random, XPU_BOOL, DIMS(a.rows, a.keys));
    fill_mask(r, &mask);
    if (draw(r, 0, 3) == 0) operand_spoil(r->random, &v, 300);
    if (draw(r, 0, 3) == 0) operand_spoil(r->random, &k, 600);
    if (draw(r, 0, 5) == 0) operand_spoil(r->random, &q, 600);
    const xpu_tensor *const inputs[] = {&q, &k, &v, &mask};
    const xpu_attr attrs[] = {XPU_ATTR_FLOAT_OF(SCALE, a.scale), XPU_ATTR_FLOAT_OF(VALUE, a.masked)};
    xpu_tensor y = operand_reference(b, XPU_OP_ATTENTION, inputs, has_mask ? 4 : 3, attrs, 2);
    a.q = operand_place(r, &q);
    a.k = operand_place(r, &k);
    a.v = operand_place(r, &v);
    a.mask = has_mask ? operand_place(r, &mask) : 0;
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_attention_f32, 0, &a, sizeof a);
}

static void attention(void) {
    rig_on_each_chip("attention", 60, add_attention);
}

XPU_TEST_MAIN("kernel of attention", {"attention", attention})
