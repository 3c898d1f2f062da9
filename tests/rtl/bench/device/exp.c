/* exp of 32 KiB in each core's LM, strip-mined over groups of four vector registers. */
#include "core/arith_rvv.h"
#include "tests/rtl/bench/bench.h"
#include "xpu_runtime/include/xpu_device.h"

int main(uint32_t core, uint32_t cores);
void other_main(uint32_t core, uint32_t cores);

static void work(float *x, uint32_t n) {
    while (n > 0) {
        size_t vl = __riscv_vsetvl_e32m4(n);
        __riscv_vse32_v_f32m4(x, xv_exp(__riscv_vle32_v_f32m4(x, vl), vl), vl);
        x += vl, n -= (uint32_t)vl;
    }
    xpu_signal(XPU_COUNTER_DONE, 1);
}

int main(uint32_t core, uint32_t cores) {
    (void)core;
    work((float *)(uintptr_t)XPU_LM_BASE, EXP_FLOATS);
    xpu_wait((xpu_ticket){XPU_COUNTER_DONE, cores});
    return 0;
}

void other_main(uint32_t core, uint32_t cores) {
    (void)core, (void)cores;
    work((float *)(uintptr_t)XPU_LM_BASE, EXP_FLOATS);
}
