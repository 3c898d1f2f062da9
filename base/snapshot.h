/* The bytes of a file in memory that belongs to this process alone: who changes, cuts or removes the file afterwards
 * harms nobody. */
#ifndef XPU_BASE_SNAPSHOT_H
#define XPU_BASE_SNAPSHOT_H

#include "base/file.h"

typedef struct {
    const uint8_t *bytes;
    uint64_t size;
    int fd; /* the same bytes, which nobody can write to any more, for mapping them at other places; -1: none */
} xpu_snapshot;

/* Lives as long as the arena. NULL with a diagnostic on failure. */
xpu_snapshot *xpu_snapshot_file(xpu_arena *arena, const xpu_file *file, xpu_diags *diags);
xpu_snapshot *xpu_snapshot_bytes(xpu_arena *arena, const void *bytes, uint64_t size);

#endif
