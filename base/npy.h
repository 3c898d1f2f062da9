/*
 * .npy (format 1.0 to 3.0) and .npz (ZIP of .npy, stored or deflated), NumPy's documented formats
 * (numpy.lib.format; PKWARE APPNOTE 4.3). C order, little endian; Fortran order is transposed on reading.
 * Every length is checked against the file before memory is taken.
 */
#ifndef XPU_BASE_NPY_H
#define XPU_BASE_NPY_H

#include "base/diag.h"
#include "base/tensor.h"

typedef struct {
    const char *name; /* entry name without ".npy"; "" for a plain .npy file */
    xpu_tensor tensor;
} xpu_named_tensor;

typedef struct {
    xpu_named_tensor *items;
    uint32_t count, capacity;
} xpu_named_tensors; /* an XPU_ARRAY */

/* Reads one .npy file; data lives in `arena`. */
xpu_status xpu_npy_read(xpu_arena *arena, const char *path, xpu_tensor *tensor, xpu_diags *diags);

/* Parses a .npy image in memory; `name` stands for the file in messages. */
xpu_status xpu_npy_parse(xpu_arena *arena, const void *bytes, size_t length, const char *name, xpu_tensor *tensor,
                         xpu_diags *diags);

/* Reads .npy or .npz, told apart by content. */
xpu_status xpu_npz_read(xpu_arena *arena, const char *path, xpu_named_tensors *tensors, xpu_diags *diags);
/* The same of the headers alone: names, element types and dims, without data. */
xpu_status xpu_npz_read_headers(xpu_arena *arena, const char *path, xpu_named_tensors *tensors, xpu_diags *diags);
/* The array at `index` of what xpu_npz_read lists; of an archive nothing else is unpacked. */
xpu_status xpu_npz_read_one(xpu_arena *arena, const char *path, uint32_t index, xpu_tensor *tensor, xpu_diags *diags);
xpu_status xpu_npz_parse(xpu_arena *arena, const void *bytes, size_t length, const char *name,
                         xpu_named_tensors *tensors, xpu_diags *diags);

/* Both write to a temporary name in the same folder, then rename. The same input gives the same bytes. */
xpu_status xpu_npy_write(xpu_arena *arena, const char *path, const xpu_tensor *tensor, xpu_diags *diags);
xpu_status xpu_npz_write(xpu_arena *arena, const char *path, const xpu_named_tensor *tensors, size_t count,
                         xpu_diags *diags);

#endif
