/* What the tests share that write networks into files. */
#ifndef XPU_TESTS_UNIT_NETWORK_FILE_H
#define XPU_TESTS_UNIT_NETWORK_FILE_H

#include "base/file.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/unit.h"

/* Packs the network into the file NAME.onnx of `folder`, whose path it returns. */
static inline const char *write_network_file(xpu_onnx_builder *b, const char *name, const char *folder,
                                             xpu_diags *diags) {
    size_t length;
    const char *path = xpu_path_join(b->arena, folder, xpu_printf(b->arena, "%s.onnx", name));
    const void *bytes = xpu_onnx_pack(b, name, &length);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, path, bytes, length, diags), XPU_OK);
    return path;
}

#endif
