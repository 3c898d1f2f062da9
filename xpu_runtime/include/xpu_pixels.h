/* Transfers of pixels of bytes between memory and LM, which kernels and generated programs agree about. */
#ifndef XPU_PIXELS_H
#define XPU_PIXELS_H

#include "xpu_runtime/include/xpu_kernels.h"

/* As xpu_load_2d and xpu_store_2d, of any number of bytes, at any address: where not all of it is words, as bytes. */
xpu_ticket xpu_load_any_bytes(void *lm, int32_t lm_stride, uint32_t source, int32_t source_stride, uint32_t row_bytes,
                              uint32_t rows);
xpu_ticket xpu_store_any_bytes(uint32_t target, int32_t target_stride, const void *lm, int32_t lm_stride,
                               uint32_t row_bytes, uint32_t rows);
/* Pixels of bytes: xpu_load_2d and xpu_store_2d, but in a program that says XPU_HAS_ODD_PIXELS. */
xpu_ticket xpu_load_pixels(void *lm, int32_t lm_stride, uint32_t source, int32_t source_stride, uint32_t row_bytes,
                           uint32_t rows);
xpu_ticket xpu_store_pixels(uint32_t target, int32_t target_stride, const void *lm, int32_t lm_stride,
                            uint32_t row_bytes, uint32_t rows);
#define XPU_HAS_ODD_PIXELS                                                                                             \
    xpu_ticket xpu_load_pixels(void *lm, int32_t lm_stride, uint32_t source, int32_t source_stride,                    \
                               uint32_t row_bytes, uint32_t rows) {                                                    \
        return xpu_load_any_bytes(lm, lm_stride, source, source_stride, row_bytes, rows);                              \
    }                                                                                                                  \
    xpu_ticket xpu_store_pixels(uint32_t target, int32_t target_stride, const void *lm, int32_t lm_stride,             \
                                uint32_t row_bytes, uint32_t rows) {                                                   \
        return xpu_store_any_bytes(target, target_stride, lm, lm_stride, row_bytes, rows);                             \
    }

#endif
