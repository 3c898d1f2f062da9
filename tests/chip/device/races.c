/* A bare program for tests/chip/test_debug.sh; MODE: what it forgets. 0: nothing, 1: a fence, 2: a wait. */
#include "xpu_runtime/include/xpu_device.h"

enum { PUBLISHED = 8, TAKEN = 9, LOADED = 10, SHARED = XPU_SM_BASE + 1024 };

uint32_t source[64];

static uint32_t list[XPU_DESC_WORDS];

void other_main(uint32_t core);
void other_main(uint32_t core) {
    if (core != 1) return;
    xpu_wait((xpu_ticket){PUBLISHED, 1});
    *(volatile uint32_t *)SHARED += 1;
    xpu_signal(TAKEN, 1);
}

/* Core 0 hands a word to core 1 and takes it back, then has DMA0 copy into SM. */
int main(uint32_t core, uint32_t cores) {
    xpu_desc_copy copy = {.wait0 = XPU_NO_COUNTER,
                          .wait1 = XPU_NO_COUNTER,
                          .signal = LOADED,
                          .signal_add = 1,
                          .src = (uint32_t)(uintptr_t)source,
                          .dst = SHARED + 64,
                          .src_type = XPU_TYPE_I32,
                          .dst_type = XPU_TYPE_I32,
                          .size0 = 1,
                          .size1 = 1,
                          .size2 = 1,
                          .size3 = 64,
                          .src_stride3 = 4,
                          .dst_stride3 = 4};
    *(volatile uint32_t *)SHARED = core + 41;
    if (MODE != 1) mfence();
    xpu_reg_store(XPU_REG_COUNTER + 4 * PUBLISHED, 1);
    if (cores > 1) xpu_wait((xpu_ticket){TAKEN, 1});
    uint32_t result = *(volatile uint32_t *)SHARED;
    xpu_desc_copy_pack(list, &copy);
    mfence();
    xpu_reg_store(XPU_REG_DOORBELL_ADDRESS, (uint32_t)(uintptr_t)list);
    xpu_reg_store(XPU_REG_DOORBELL_COUNT, 1);
    if (MODE != 2) xpu_wait((xpu_ticket){LOADED, 1});
    result += *(volatile uint32_t *)(SHARED + 64);
    xpu_wait((xpu_ticket){LOADED, 1});
    return (int)result - 42;
}
