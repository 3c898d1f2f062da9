/* Integer code on core 0; all else is idle. */
#include "tests/rtl/bench/bench.h"
#include "xpu_runtime/include/xpu_device.h"

int main(void);

int main(void) {
    *(volatile uint32_t *)(uintptr_t)SCALAR_RESULT = scalar_work((uint32_t *)(uintptr_t)XPU_LM_BASE);
    mfence();
    return 0;
}
