/* Between xpu_program and the two protobuf messages of program.proto. */
#ifndef XPU_PROGRAM_METADATA_H
#define XPU_PROGRAM_METADATA_H

#include "xpu_runtime/program/program.h"

enum { XPU_MAX_METADATA = 256 << 20 }; /* bytes of a section */

typedef struct {
    void *bytes;
    size_t length;
} xpu_blob;

/* The section .xpu.program, and .xpu.graph (length 0 when program->stripped). Values and nodes are numbered anew in
 * the order of execution. Constants of the graph that are not placed in a buffer go along with their bytes. */
xpu_status xpu_metadata_encode(const xpu_program *program, xpu_arena *arena, xpu_blob *metadata, xpu_blob *graph,
                               xpu_diags *diags);

/* The way back: every index, count, enum and size is checked. On failure the result is NULL and *why says what is
 * wrong. `graph` may have length 0. */
xpu_program *xpu_metadata_decode(const xpu_blob *metadata, const xpu_blob *graph, xpu_arena *arena, const char *name,
                                 const char **why);

#endif
