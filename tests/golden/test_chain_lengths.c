/*
 * Loops of chains go through a block two vectors at a time and then through what is left: every length around the
 * borders of one, two and four vectors of 64 elements, on every core, against a plain formula.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/unit.h"

enum { MOST = 4 * 520 };

static float a[MOST], b[MOST];

/* clip(a + b, -1, 0.5), of N elements */
static const char *write_model(xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder builder;
    size_t length;
    const int64_t free_length[] = {-1};
    xpu_onnx_begin(&builder, arena, 7);
    xpu_onnx_input(&builder, "a", 1, free_length);
    xpu_onnx_input(&builder, "b", 1, free_length);
    xpu_onnx_node(&builder, "Add", "sum", "s", (const char *const[]){"a", "b", NULL});
    XpuOnnx__NodeProto *clip = xpu_onnx_node(&builder, "Clip", "clip", "y", (const char *const[]){"s", NULL});
    xpu_onnx_float(&builder, clip, "min", -1.0f);
    xpu_onnx_float(&builder, clip, "max", 0.5f);
    xpu_onnx_output(&builder, "y", 1, free_length);
    const char *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "chain.onnx");
    void *bytes = xpu_onnx_pack(&builder, "chain", &length);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(arena, path, bytes, length, diags), XPU_OK);
    return path;
}

static int is_right(const float *y, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        float sum = a[i] + b[i], right = isnan(sum) ? sum : fminf(fmaxf(sum, -1.0f), 0.5f);
        if (isnan(right) ? !isnan(y[i]) : memcmp(&right, &y[i], sizeof right) != 0) return 0;
    }
    return 1;
}

static void every_length(const char *model, const char *chip) {
    xpu_device_check check;
    int compiled = xpu_device_check_compile(&check, model, chip, "fp32");
    if (!compiled) printf("%s\n", check.message);
    CU_ASSERT_FATAL(compiled);
    for (int64_t around = 64; around <= 512; around *= 2) {
        for (int64_t near = -1; near <= 1; near++) {
            for (int64_t cores = 1; cores <= 4; cores += 3) {
                int64_t count = cores * (around + near);
                const xpurt_tensor inputs[] = {{"a", "float32", 1, {count}, a}, {"b", "float32", 1, {count}, b}};
                xpurt_tensor y = {0};
                int good = xpu_device_check_layers(&check, inputs, 2, &y);
                if (!good) printf("%s\n", check.message);
                CU_ASSERT_FATAL(good);
                CU_ASSERT(is_right(y.data, count));
                xpurt_tensor_clear(&y);
            }
        }
    }
    xpu_device_check_close(&check);
}

static void lengths(void) {
    xpu_mem mem;
    xpu_diags diags;
    for (int i = 0; i < MOST; i++) {
        a[i] = (float)(i % 37 - 18) / 16.0f;
        b[i] = i % 61 == 60 ? NAN : (float)(i % 23 - 11) / 32.0f;
    }
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        const char *model = write_model(xpu_arena_new(&mem, "test"), &diags);
        every_length(model, "standard");
        every_length(model, "nano");
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

XPU_TEST_MAIN("chain lengths", {"around one, two and four vectors", lengths})
