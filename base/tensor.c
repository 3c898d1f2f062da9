#include "base/tensor.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    const char *name;
    size_t bytes;
} dtypes[XPU_DTYPE_COUNT] = {[XPU_DTYPE_NONE] = {"none", 0},
#define X(name, text, bytes, npy) [XPU_##name] = {text, bytes},
                             XPU_DTYPES(X)
#undef X
};

const char *xpu_dtype_name(xpu_dtype dtype) {
    return dtypes[dtype].name;
}

int xpu_is_byte(xpu_dtype dtype) {
    return dtype == XPU_I8 || dtype == XPU_U8;
}

size_t xpu_dtype_bytes(xpu_dtype dtype) {
    return dtypes[dtype].bytes;
}

int64_t xpu_tensor_count(const xpu_tensor *tensor) {
    int64_t count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= tensor->dims[i];
    return count;
}

size_t xpu_tensor_bytes(const xpu_tensor *tensor) {
    return (size_t)xpu_tensor_count(tensor) * xpu_dtype_bytes(tensor->dtype);
}

const char *xpu_dims_text(int rank, const int64_t *dims, char *buffer, size_t size) {
    size_t length = 0;
    for (int i = 0; i < rank && length < size; i++) {
        length += (size_t)snprintf(buffer + length, size - length, "%c%" PRId64, i ? ',' : '[', dims[i]);
    }
    if (length < size) snprintf(buffer + length, size - length, rank > 0 ? "]" : "[]");
    return buffer;
}
