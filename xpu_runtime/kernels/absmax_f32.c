/* The largest magnitude of a tensor: each core takes a part, core 0 joins the parts, which stand in SM. Magnitudes are
 * compared as bits: NaN counts as infinity, as core/arith.h says. */
#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"

static uint32_t *part_of(uint32_t sm, uint32_t core) {
    return (uint32_t *)(sm + 64 * core);
}

/* Largest magnitude's bits of x[0..n) in LM. */
static uint32_t magnitude(const float *x, uint32_t n) {
    size_t vlmax = __riscv_vsetvlmax_e32m4();
    vuint32m4_t most = __riscv_vmv_v_x_u32m4(0, vlmax);
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vuint32m4_t bits = __riscv_vle32_v_u32m4((const uint32_t *)x + done, vl);
        bits = __riscv_vand_vx_u32m4(bits, 0x7fffffff, vl);
        bits = __riscv_vminu_vx_u32m4(bits, 0x7f800000, vl);
        most = __riscv_vmaxu_vv_u32m4_tu(most, most, bits, vl);
        done += (uint32_t)vl;
    }
    vuint32m1_t zero = __riscv_vmv_v_x_u32m1(0, 1);
    return __riscv_vmv_x_s_u32m1_u32(__riscv_vredmaxu_vs_u32m4_u32m1(most, zero, vlmax));
}

static void absmax_share(const void *args, uint32_t core, uint32_t cores) {
    const struct xpu_absmax_f32_args a = *(const struct xpu_absmax_f32_args *)args;
    uint32_t available, first, last, most = 0;
    float *lm = lm_floats(&available);
    uint32_t block = round_down(available / 2, 16);
    partition(core, cores, (uint32_t)a.count, 16, &first, &last);
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0};
    if (first < last) loaded = GM2LM(lm, a.x + 4 * first, 4 * min_u32(block, last - first));
    for (uint32_t half = 0; first < last; half ^= 1) {
        uint32_t n = min_u32(block, last - first), next = first + n;
        xpu_ticket ready = loaded;
        if (next < last) loaded = GM2LM(lm + (half ^ 1) * block, a.x + 4 * next, 4 * min_u32(block, last - next));
        xpu_wait(ready);
        uint32_t here = magnitude(lm + half * block, n);
        if (here > most) most = here;
        first = next;
    }
    *part_of(a.sm, core) = most;
    sync_cluster();
    if (core != 0) return;
    for (uint32_t i = 1; i < cores; i++) {
        uint32_t other = *part_of(a.sm, i);
        if (other > most) most = other;
    }
    *(volatile uint32_t *)a.y = most;
}

xpu_ticket xpu_absmax_f32(const struct xpu_absmax_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(absmax_share, args, layer, after);
}
