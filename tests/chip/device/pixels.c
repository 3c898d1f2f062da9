/* The kernel tests have pixels of any number of bytes. */
#include "xpu_runtime/include/xpu_pixels.h"

XPU_HAS_ODD_PIXELS
