/* Tuples of computed indices, as gather and scatter read them. */
#ifndef XPU_KERNELS_INDICES_H
#define XPU_KERNELS_INDICES_H

#include "xpu_runtime/include/xpu_control.h"
#include "xpu_runtime/kernels/common.h"

/* Indices lie outside their dims: entry `place` of the list is the first. */
static inline void abort_index(uint32_t place) {
    xpu_abort(XPU_ABORT_INDEX + min_u32(place, XPU_ABORT_INDEX_MOST));
}

/* The row among dims that the tuple `tuple` of a list picks. Indices are int32 or int64 (of 1 or 2 words), from the end
 * where they are negative. */
static inline uint32_t row_of_tuple(const uint32_t *entry, uint32_t words, uint32_t columns, const int32_t *dims,
                                    uint32_t tuple) {
    uint32_t row = 0;
    for (uint32_t c = 0; c < columns; c++, entry += words) {
        uint32_t size = (uint32_t)dims[c], index = entry[0], sign = (uint32_t)((int32_t)index >> 31);
        uint32_t high = words == 2 ? entry[1] : sign;
        if (sign) index += size;
        if (high != sign || index >= size) abort_index(tuple * columns + c);
        row = row * size + index;
    }
    return row;
}

#endif
