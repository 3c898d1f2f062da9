/*
 * Published models on the functional chip, standard, fp32: super_resolution_10 within the tolerance of its published
 * output, every layer equal to ref. The model and its data are in ../shared (XPU_SHARED); without it the test is
 * skipped.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "frontend/onnx/onnx.pb-c.h"
#include "tests/gen/compare.h"
#include "tests/gen/devices.h"
#include "tests/unit/unit.h"
#include "tools/common/inputs.h"

enum { MAX_FILE = 1 << 26 };

/* A serialised TensorProto with raw data. */
static int read_tensor(xpu_arena *arena, const char *path, xpurt_tensor *tensor, xpu_diags *diags) {
    size_t length;
    void *bytes = xpu_file_read_all(arena, path, MAX_FILE, &length, diags);
    XpuOnnx__TensorProto *proto = bytes ? xpu_onnx__tensor_proto__unpack(NULL, length, bytes) : NULL;
    if (!proto || proto->n_dims > 8) return 0;
    *tensor = (xpurt_tensor){.dtype = "float32", .rank = (int)proto->n_dims};
    for (size_t i = 0; i < proto->n_dims; i++) tensor->dims[i] = proto->dims[i];
    tensor->data = proto->raw_data.len ? xpu_copy(arena, proto->raw_data.data, proto->raw_data.len)
                                       : xpu_copy(arena, proto->float_data, proto->n_float_data * sizeof(float));
    xpu_onnx__tensor_proto__free_unpacked(proto, NULL);
    return 1;
}

static void check_super_resolution(xpu_arena *arena, const char *shared, xpu_diags *diags) {
    const char *data = xpu_printf(arena, "%s/models/data/super_resolution_10_test_data_set_0", shared);
    const char *model = xpu_printf(arena, "%s/models/onnx/super_resolution_10.onnx", shared);
    xpurt_tensor input, wanted, output = {0};
    xpu_device_check check;
    CU_ASSERT_FATAL(read_tensor(arena, xpu_path_join(arena, data, "input_0.pb"), &input, diags));
    CU_ASSERT_FATAL(read_tensor(arena, xpu_path_join(arena, data, "output_0.pb"), &wanted, diags));
    int good = xpu_device_check_compile(&check, model, "standard", "fp32") &&
               xpu_device_check_layers(&check, &input, 1, &output);
    if (!good) printf(" %s\n", check.message);
    CU_ASSERT(good);
    if (good) {
        xpu_tensor got = xpu_from_runtime(&output), published = xpu_from_runtime(&wanted);
        CU_ASSERT(xpu_tolerance_used(&got, &published) <= 1);
    }
    xpurt_tensor_clear(&output);
    xpu_device_check_close(&check);
}

static void super_resolution(void) {
    const char *shared = getenv("XPU_SHARED");
    xpu_mem mem;
    xpu_diags diags;
    if (!shared) {
        printf("\nskipped: super_resolution_10 needs ../shared\n");
        return;
    }
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        check_super_resolution(xpu_arena_new(&mem, "test"), shared, &diags);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

XPU_TEST_MAIN("models", {"super_resolution_10", super_resolution})
