/* Rotary embedding on the functional chip against the reference kernel. */
#include "core/ops/rotary.h"

#include "tests/chip/rig/operands.h"

/* Often one, or a power of two. */
static int64_t draw_size(rig *r, int64_t most) {
    int64_t kind = draw(r, 0, 5), size = kind == 0 ? 1 : kind == 1 ? 1 << draw(r, 1, 6) : draw(r, 1, most);
    return size < most ? size : most;
}

enum { MOST_ELEMENTS = 60000 };

static void add_rotary(rig *r, bench *b) {
    struct xpu_rotary_f32_args a = {.interleaved = (int32_t)draw(r, 0, 1)};
    a.outer = (int32_t)draw_size(r, 20);
    a.middle = (int32_t)draw_size(r, 12);
    a.inner = (int32_t)(draw(r, 0, 1) ? 1 : draw_size(r, 30));
    a.size = 2 * (int32_t)(draw(r, 0, 2) ? draw(r, 1, 40) : draw(r, 1, XPU_ROTARY_MOST / 2));
    if (draw(r, 0, 9) == 0) a.outer = 1, a.inner = (int32_t)draw(r, 100, 300);
    if (draw(r, 0, 9) == 0) a.outer = (int32_t)draw(r, 1, 3), a.middle = (int32_t)draw(r, 50, 200);
    while (a.outer * a.middle * a.inner * a.size > MOST_ELEMENTS)
        a.middle = a.middle / 2 + 1, a.inner = a.inner / 2 + 1;
    rig_describe(r, "rotary %d x %d x %d x %d%s", a.outer, a.middle, a.inner, a.size, a.interleaved ? ", pairs" : "");
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a.outer, a.middle, a.inner, a.size));
    xpu_tensor cosines = operand_random(b, r->random, XPU_F32, DIMS(a.outer, 1, a.inner, a.size)),
               sines = operand_random(b, r->random, XPU_F32, DIMS(a.outer, 1, a.inner, a.size));
    if (draw(r, 0, 3) == 0) operand_spoil(r->random, &x, 300);
    const xpu_tensor *const inputs[] = {&x, &cosines, &sines};
    const xpu_attr attr = XPU_ATTR_INT_OF(INTERLEAVED, a.interleaved);
    xpu_tensor y = operand_reference(b, XPU_OP_ROTARY, inputs, 3, &attr, 1);
    a.x = operand_place(r, &x);
    a.cosines = operand_place(r, &cosines);
    a.sines = operand_place(r, &sines);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_rotary_f32, 0, &a, sizeof a);
}
static void rotary(void) {
    rig_on_each_chip("rotary", 120, add_rotary);
}

XPU_TEST_MAIN("rotary kernel", {"rotary", rotary})
