/* What libxpufunc.so exports. */
#include "sim/func/driver.h"
#include "xpu_runtime/include/xpurt_func.h"

const xpurt_device_driver *xpurt_func_driver(void) {
    return &xpu_func_driver;
}
