/* What descriptors read and write, as ranges of addresses: for each operand the least one that has all of it. */
#ifndef XPU_PROGRAM_RECORD_ACCESSES_H
#define XPU_PROGRAM_RECORD_ACCESSES_H

#include <stdint.h>

typedef struct {
    uint64_t begin, end; /* addresses; end is behind the last byte */
    int writes;
} xpu_recorded_access;

enum { XPU_MOST_ACCESSES = 12 };

/* How many; -1: it is of a kind that lists do not have. */
int32_t xpu_recorded_accesses(const uint32_t *words, xpu_recorded_access accesses[XPU_MOST_ACCESSES]);

#endif
