/*
 * The .xpu file: writer and checked reader.
 *
 * The file is the ELF32 executable that the linker made, plus the weights' segment, plus two sections: .xpu.program
 * (metadata) and .xpu.graph (nodes of the lowered graph; left out when stripped). Both are protobuf messages of
 * program.proto. Its last 16 bytes, section .xpu.hash, are the hash of all before them: a file with one other bit is no
 * program. llvm-readelf and llvm-objdump read the whole.
 */
#ifndef XPU_PROGRAM_FILE_H
#define XPU_PROGRAM_FILE_H

#include "base/hash.h"
#include "base/snapshot.h"
#include "xpu_runtime/program/program.h"

/* Delivers the packed bytes of weight buffer `buffer`: *length of them, in `scratch`, which is freed afterwards. */
typedef xpu_status (*xpu_program_weight_fn)(void *context, uint32_t buffer, xpu_arena *scratch, const void **bytes,
                                            uint64_t *length, xpu_diags *diags);

/* [program-limits] (XPU_EMODEL) where the program has more of something than a reader takes, with both numbers. What
 * only the linker knows need not be there yet. */
xpu_status xpu_program_check(const xpu_program *program, xpu_arena *arena, xpu_diags *diags);

/* Finds what only the linker knows: entry, plan, control and weights addresses, and the end of the image. */
xpu_status xpu_program_locate(xpu_program *program, const char *elf_path, xpu_arena *arena, xpu_diags *diags);

/*
 * Writes `output_path` from the linked program at `elf_path`. Weight buffers (kind WEIGHT, placed) lie at their offset
 * in the weights' segment; weights are asked for one at a time, in the order of buffers. Fields of `program` that come
 * from the ELF file are not read but found there (symbols xpu_plan, xpu_control, xpu_image_end, section .weights).
 */
xpu_status xpu_program_write(const xpu_program *program, const char *elf_path, const char *output_path,
                             xpu_program_weight_fn weight, void *context, xpu_arena *arena, xpu_diags *diags);

/* A stretch of device memory that the loader fills from the file: `file_bytes` bytes, zeros up to `memory_bytes`. */
typedef struct {
    uint32_t address;
    uint64_t offset; /* in the file */
    uint32_t file_bytes, memory_bytes;
    int is_weights;
} xpu_program_segment;

/* A program that was read: whole, into memory that nobody else writes to. */
typedef struct {
    xpu_program program;
    const char *name; /* of the file, for messages */
    const xpu_snapshot *data;
    xpu_hash hash; /* of the file, without its last 16 bytes */
    XPU_ARRAY(xpu_program_segment) segments;
} xpu_program_image;

/* Reads and checks: the hash, and every offset, size, index and count. Constants of the graph have no data until
 * xpu_program_load_constants. `bytes` are copied. NULL with [xpu-format] or [xpu-hash] on failure. */
xpu_program_image *xpu_program_read(xpu_arena *arena, const char *path, xpu_diags *diags);
xpu_program_image *xpu_program_parse(xpu_arena *arena, const void *bytes, uint64_t size, const char *name,
                                     xpu_diags *diags);

/* Writes the hash of the bytes before into the last 16 of a file in memory; for tests. */
void xpu_program_seal(void *bytes, uint64_t size);

/* Copies bytes of the file. */
xpu_status xpu_program_bytes(const xpu_program_image *image, uint64_t offset, void *to, size_t length,
                             xpu_diags *diags);

/* Gives every constant of the graph its bytes, unpacked from the weights: what ref needs. */
xpu_status xpu_program_load_constants(xpu_program_image *image, xpu_arena *arena, xpu_diags *diags);

#endif
