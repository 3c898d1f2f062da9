#include "xpu_runtime/kernels/findmax.h"

enum { INFINITY_BITS = 0x7f800000 };

static volatile uint32_t parts[XPU_MAX_CORES]; /* core 0's: what each core found */

void findmax_begin(uint32_t *lanes) {
    size_t vl = __riscv_vsetvlmax_e32m4();
    __riscv_vse32_v_u32m4(lanes, __riscv_vmv_v_x_u32m4(0, vl), vl);
}

void findmax_rows(uint32_t *lanes, const float *rows, uint32_t pitch, uint32_t n, uint32_t count) {
    for (uint32_t done = 0; done < n;) {
        size_t vl = __riscv_vsetvl_e32m4(n - done);
        vuint32m4_t most = __riscv_vle32_v_u32m4(lanes, vl);
        const float *row = rows + done;
        for (uint32_t i = count; i > 0; i--, row += pitch) {
            most = findmax_join(most, __riscv_vle32_v_f32m4(row, vl), vl);
        }
        __riscv_vse32_v_u32m4(lanes, most, vl);
        done += (uint32_t)vl;
    }
}

void findmax_dense(uint32_t *lanes, const float *x, uint32_t n) {
    size_t vl = __riscv_vsetvlmax_e32m4();
    vuint32m4_t most = __riscv_vle32_v_u32m4(lanes, vl);
    for (; n >= FINDMAX_LANES; n -= FINDMAX_LANES, x += FINDMAX_LANES) {
        most = findmax_join(most, __riscv_vle32_v_f32m4(x, vl), vl);
    }
    __riscv_vse32_v_u32m4(lanes, most, vl);
    if (n) findmax_rows(lanes, x, 0, n, 1);
}

void findmax_end(const uint32_t *lanes, uint32_t y, uint32_t core, uint32_t cores) {
    size_t vl = __riscv_vsetvlmax_e32m4();
    vuint32m1_t zero = __riscv_vmv_v_x_u32m1(0, 1);
    vuint32m1_t most = __riscv_vredmaxu_vs_u32m4_u32m1(__riscv_vle32_v_u32m4(lanes, vl), zero, vl);
    uint32_t part = (uint32_t)(uintptr_t)&parts[core] - XPU_LM_BASE + XPU_LM_ALL_BASE;
    *(volatile uint32_t *)(uintptr_t)part = __riscv_vmv_x_s_u32m1_u32(most);
    sync_cluster();
    if (core != 0) return;
    uint32_t result = 0;
    for (uint32_t i = 0; i < cores; i++) {
        if (parts[i] > result) result = parts[i];
    }
    *(volatile uint32_t *)(uintptr_t)y = min_u32(result, INFINITY_BITS);
}
