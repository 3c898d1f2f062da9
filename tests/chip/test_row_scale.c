/*
 * The kernels that divide rows by powers of two and multiply by them again, on the functional chip: against powers that
 * frexp finds, and against the reference kernel. Rows of every length, longer ones than LM holds; zeros, subnormals,
 * infinities and NaNs.
 */
#include <math.h>

#include "core/arith.h"
#include "tests/chip/rig/operands.h"

static void draw_rows(rig *r, int32_t *rows, int32_t *count) {
    int kind = (int)draw(r, 0, 9);
    *rows = (int32_t)draw(r, 1, 90);
    *count = (int32_t)(kind < 3 ? 64 * draw(r, 1, 5) : draw(r, 1, 300));
    if (kind == 9) *rows = (int32_t)draw(r, 1, 3), *count = (int32_t)draw(r, 9000, 40000);
    if (kind == 8) *rows = (int32_t)draw(r, 1000, 2000), *count = (int32_t)draw(r, 1, 20);
}

/* The power of a row, from what docs/arithmetic.md says: at least 2^-127, NaN with an inf or NaN. */
static float power_of(const float *row, int32_t count) {
    float most = 0;
    int exponent;
    for (int32_t i = 0; i < count; i++) {
        if (!isfinite(row[i])) return NAN;
        if (fabsf(row[i]) > most) most = fabsf(row[i]);
    }
    if (most == 0) return 0x1p-127f;
    (void)frexp((double)most, &exponent); /* 1/2 <= most / 2^exponent < 1 */
    return (float)ldexp(1, exponent - 1 < -127 ? -127 : exponent - 1);
}

static void spoil_rows(rig *r, xpu_tensor *x) {
    static const float factors[] = {0, 1, 0x1p-149f, 0x1p-126f, 0x1p-120f, 0x1p100f, 0x1p126f, 1000, 0x1p-30f};
    int64_t width = x->dims[1];
    for (int64_t i = 0; i < x->dims[0]; i++) {
        float factor = factors[draw(r, 0, 8)], *row = (float *)x->data + i * width;
        for (int64_t j = 0; j < width && draw(r, 0, 1); j++) row[j] *= factor;
    }
    if (draw(r, 0, 2) == 0) operand_spoil(r->random, x, 300);
}

static void add_scale(rig *r, bench *b) {
    struct xpu_row_scale_f32_args a = {0};
    draw_rows(r, &a.rows, &a.count);
    rig_describe(r, "row_scale %d x %d", a.rows, a.count);
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a.rows, a.count));
    spoil_rows(r, &x);
    xpu_tensor y = operand_random(b, r->random, XPU_F32, DIMS(a.rows, a.count));
    xpu_tensor powers = operand_random(b, r->random, XPU_F32, DIMS(a.rows, 1));
    for (int32_t i = 0; i < a.rows; i++) {
        const float *row = (const float *)x.data + (int64_t)i * a.count;
        float *to = (float *)y.data + (int64_t)i * a.count, power = power_of(row, a.count);
        ((float *)powers.data)[i] = power;
        for (int32_t j = 0; j < a.count; j++) to[j] = row[j] / power;
    }
    const xpu_tensor *const inputs[] = {&x};
    xpu_tensor reference = operand_reference(b, XPU_OP_ROW_SCALE, inputs, 1, NULL, 0);
    for (int64_t i = 0; i < xpu_tensor_count(&y); i++) {
        CU_ASSERT(xa_same(((const float *)reference.data)[i], ((const float *)y.data)[i]));
    }
    a.x = operand_place(r, &x);
    a.powers = operand_expect(r, &powers);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_row_scale_f32, 0, &a, sizeof a);
}
static void scale(void) {
    rig_on_each_chip("row_scale", 25, add_scale);
}

static void add_restore(rig *r, bench *b) {
    struct xpu_row_restore_f32_args a = {.low = -1, .high = 2, .alpha = 0.3f};
    draw_rows(r, &a.rows, &a.count);
    a.activation = (int32_t)draw(r, 0, 2);
    a.branch_after = (int32_t)draw(r, 0, 1);
    int has_bias = (int)draw(r, 0, 1), has_branch = (int)draw(r, 0, 1);
    rig_describe(r, "row_restore %d x %d activation %d%s%s", a.rows, a.count, a.activation, has_bias ? " bias" : "",
                 has_branch ? " branch" : "");
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a.rows, a.count));
    xpu_tensor powers = operand_random(b, r->random, XPU_F32, DIMS(a.rows, 1));
    xpu_tensor bias = operand_random(b, r->random, XPU_F32, DIMS(a.count));
    xpu_tensor branch = operand_random(b, r->random, XPU_F32, DIMS(a.rows, a.count));
    for (int32_t i = 0; i < a.rows; i++) {
        ((float *)powers.data)[i] = draw(r, 0, 20) ? (float)ldexp(1, (int)draw(r, -127, 127)) : NAN;
    }
    if (draw(r, 0, 2) == 0) operand_spoil(r->random, &x, 300);
    const xpu_tensor *const inputs[] = {&x, &powers, has_bias ? &bias : NULL, has_branch ? &branch : NULL};
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(ACTIVATION, a.activation), XPU_ATTR_FLOAT_OF(LOW, a.low),
                              XPU_ATTR_FLOAT_OF(HIGH, a.high), XPU_ATTR_FLOAT_OF(ALPHA, a.alpha),
                              XPU_ATTR_INT_OF(BRANCH_AFTER, a.branch_after)};
    xpu_tensor y = operand_reference(b, XPU_OP_ROW_RESTORE, inputs, 4, attrs, 5);
    a.x = operand_place(r, &x);
    a.powers = operand_place(r, &powers);
    if (has_bias) a.bias = operand_place(r, &bias);
    if (has_branch) a.branch = operand_place(r, &branch);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_row_restore_f32, 0, &a, sizeof a);
}
static void restore(void) {
    rig_on_each_chip("row_restore", 25, add_restore);
}

static void sequences(void) {
    static const rig_add adds[] = {add_scale, add_restore};
    rig_sequences("row sequences", 10, adds, 2);
}

XPU_TEST_MAIN("row scale kernels", {"scale", scale}, {"restore", restore}, {"sequences", sequences})
