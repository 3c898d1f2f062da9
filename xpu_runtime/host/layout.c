#include <string.h>

#include "xpu_runtime/host/host.h"

/* Channel last: [outer][channels][inner] in logical order is [outer][inner][channels] in memory. */
static void move_channels(const xpu_tensor *shape, const uint8_t *from, uint8_t *to, int to_device) {
    size_t bytes = xpu_dtype_bytes(shape->dtype);
    size_t outer = (size_t)shape->dims[0], channels = (size_t)shape->dims[1], inner = 1;
    for (int i = 2; i < shape->rank; i++) inner *= (size_t)shape->dims[i];
    for (size_t n = 0; n < outer; n++) {
        for (size_t c = 0; c < channels; c++) {
            for (size_t i = 0; i < inner; i++) {
                size_t logical = ((n * channels + c) * inner + i) * bytes,
                       last = ((n * inner + i) * channels + c) * bytes;
                memcpy(to + (to_device ? last : logical), from + (to_device ? logical : last), bytes);
            }
        }
    }
}

void xpu_layout_to_device(xpu_layout layout, const xpu_tensor *logical, void *physical) {
    if (layout == XPU_LAYOUT_LINEAR)
        memcpy(physical, logical->data, xpu_tensor_bytes(logical));
    else
        move_channels(logical, logical->data, physical, 1);
}

void xpu_layout_to_logical(xpu_layout layout, const void *physical, xpu_tensor *logical) {
    if (layout == XPU_LAYOUT_LINEAR)
        memcpy(logical->data, physical, xpu_tensor_bytes(logical));
    else
        move_channels(logical, physical, logical->data, 0);
}
