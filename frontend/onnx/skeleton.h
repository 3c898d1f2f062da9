/*
 * The first stage of the ONNX reader: a walk over the protobuf wire format, driven by the message descriptors of
 * onnx.proto, that copies a model into a skeleton without tensor payloads. Only the skeleton is decoded by protobuf-c,
 * which has no depth limit of its own and copies whatever it decodes.
 */
#ifndef XPU_FRONTEND_ONNX_SKELETON_H
#define XPU_FRONTEND_ONNX_SKELETON_H

#include "base/file.h"
#include "frontend/import.h"
#include "frontend/onnx/onnx.pb-c.h"

enum {
    XPU_ONNX_MAX_DEPTH = 64,      /* nested messages */
    XPU_ONNX_INLINE_PAYLOAD = 256 /* bytes; longer fields of tensors become references */
};

/* Where the bytes of a model come from: a file, or memory. Files are read with pread, never mapped. */
typedef struct {
    const char *name;     /* for messages */
    const xpu_file *file; /* NULL: in memory */
    const uint8_t *bytes; /* in memory: all of them */
    uint64_t size;
} xpu_onnx_source;

/* Reads exactly `length` bytes; a file that was cut short meanwhile is [io-short]. */
xpu_status xpu_onnx_source_read(const xpu_onnx_source *source, uint64_t offset, void *buffer, size_t length,
                                xpu_diags *diags);

/*
 * Walks the model and decodes its skeleton into `scratch`. In every TensorProto, numeric payloads over 256 bytes are
 * replaced by entries of `payload` with their place in the source; payload entries of the file itself, unknown fields,
 * doc strings and metadata are dropped. NULL with one diagnostic: [onnx-wire], [onnx-limit], or an I/O error.
 */
XpuOnnx__ModelProto *xpu_onnx_decode(xpu_arena *scratch, const xpu_onnx_source *source,
                                     const xpu_import_options *options, xpu_diags *diags);

#endif
