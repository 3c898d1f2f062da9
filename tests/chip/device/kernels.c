/* The device's half of the kernel tests: one layer, which makes the calls that the plan names. */
#include "core/arith_rvv.h"
#include "tests/chip/rig/kernel_calls.h"
#include "xpu_runtime/include/xpu_device.h"

__attribute__((section(".xpu_plan"), used)) const uint32_t xpu_plan[XPU_CALL_WORDS] = {0};

/* ---- Chain bodies ---- */

#define FOR_EACH_VECTOR(i, n, vl)                                                                                      \
    for (size_t i = 0, vl = __riscv_vsetvl_e32m4(n); i < n; i += vl, vl = __riscv_vsetvl_e32m4(n - i))

static inline vfloat32m4_t vector(const float *x, size_t i, size_t vl) {
    return __riscv_vle32_v_f32m4(x + i, vl);
}

static void identity(const float *const *in, const float *c, float *out, uint32_t n) {
    (void)c;
    FOR_EACH_VECTOR(i, n, vl) __riscv_vse32_v_f32m4(out + i, vector(in[0], i, vl), vl);
}

static void affine(const float *const *in, const float *c, float *out, uint32_t n) {
    FOR_EACH_VECTOR(i, n, vl) {
        vfloat32m4_t v = xv_mul_add(vector(in[0], i, vl), vector(in[1], i, vl), vector(in[2], i, vl), vl);
        __riscv_vse32_v_f32m4(out + i, xv_clip(v, c[0], c[1], vl), vl);
    }
}

static void six(const float *const *in, const float *c, float *out, uint32_t n) {
    (void)c;
    FOR_EACH_VECTOR(i, n, vl) {
        vfloat32m4_t v = xv_sigmoid(xv_add(vector(in[0], i, vl), vector(in[1], i, vl), vl), vl);
        v = xv_mul(v, xv_max(vector(in[2], i, vl), vector(in[3], i, vl), vl), vl);
        v = xv_sub(v, xv_min(vector(in[4], i, vl), vector(in[5], i, vl), vl), vl);
        __riscv_vse32_v_f32m4(out + i, v, vl);
    }
}

static void leaky(const float *const *in, const float *c, float *out, uint32_t n) {
    FOR_EACH_VECTOR(i, n, vl) __riscv_vse32_v_f32m4(out + i, xv_leaky_relu(vector(in[0], i, vl), c[0], vl), vl);
}

static void most(const float *const *in, const float *c, float *out, uint32_t n) {
    uint32_t *lanes = (uint32_t *)(uintptr_t)in[3];
    (void)c;
    FOR_EACH_VECTOR(i, n, vl) {
        vfloat32m4_t v = xv_sub(xv_mul(vector(in[0], i, vl), vector(in[1], i, vl), vl), vector(in[2], i, vl), vl);
        vuint32m4_t so_far = __riscv_vle32_v_u32m4(lanes, vl);
        __riscv_vse32_v_u32m4(lanes, xv_most(so_far, xv_magnitude(v, vl), vl), vl);
        __riscv_vse32_v_f32m4(out + i, v, vl);
    }
}

/* ---- Calls ---- */

static xpu_ticket call(const uint32_t *head, xpu_ticket after) {
    static const xpu_chain_body bodies[XPU_BODY_COUNT] = {identity, affine, six, leaky, most};
    const void *args = head + XPU_CALL_HEAD;
    switch ((xpu_call_kernel)head[0]) {
/* Lists are made by the runtime: nobody calls them here, and the program of all kernels just fits the LM of nano. */
#define xpu_engine_lists(args, layer, after)   after
#define xpu_pipeline_lists(args, layer, after) after
#define KERNEL(name, unit, fields, about)                                                                              \
    case XPU_CALL_##name: return xpu_##name(args, 0, after);
#define KERNEL_WITH_BODY(name, unit, fields, about)                                                                    \
    case XPU_CALL_##name: return xpu_##name(args, bodies[head[1]], 0, after);
#include "xpu_runtime/include/kernels.def"
#undef KERNEL
    case XPU_CALL_COUNT: break;
    }
    xpu_abort(head[0]);
    return after;
}

static xpu_ticket run_calls(const void *plan, xpu_ticket after) {
    const volatile uint32_t *words = plan;
    const uint32_t *head = (const uint32_t *)plan + XPU_PLAN_HEAD;
    xpu_reg_store(XPU_REG_SEED, words[1]);
    for (uint32_t i = words[0]; i > 0; i--) {
        after = call(head, after);
        head += XPU_CALL_HEAD + head[2];
    }
    return after;
}

const xpu_layer_function xpu_layers[] = {run_calls};
const uint32_t xpu_layer_count = 1;
const uint8_t xpu_layers_ahead[] = {0};
const uint32_t xpu_layer_args[] XPU_LAYER_ARGS_SECTION = {0};
