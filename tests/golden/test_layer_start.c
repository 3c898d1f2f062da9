/*
 * What a small layer costs on the Verilated chip: chains of 256 elements between softmaxes, and products of one row,
 * in the middle of a program, where code is in the caches. Bounds are a little above what was measured (decision 24).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { COUNT = 256, PAIRS = 8, MIDDLE = 4, MOST_CHAIN = 1000, MOST_PRODUCT = 7500 };

static float x[COUNT], w[COUNT * COUNT];

static const char *node_name(xpu_arena *arena, const char *kind, int i) {
    return xpu_printf(arena, "%s%d", kind, i);
}

/* PAIRS times a magnitude and a softmax, or products only. */
static const char *write_model(int products, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    const char *at = "x";
    const int64_t dims[] = {1, COUNT};
    xpu_onnx_begin(&b, arena, 13);
    xpu_onnx_input(&b, "x", 2, dims);
    for (int i = 0; i < PAIRS; i++) {
        const char *name = node_name(arena, "small", i), *next = i == PAIRS - 1 ? "y" : node_name(arena, "t", i);
        if (products) {
            const char *weights = node_name(arena, "w", i);
            xpu_onnx_initializer(&b, weights, &(xpu_tensor){XPU_F32, 2, {COUNT, COUNT}, w}, 0);
            xpu_onnx_node(&b, "MatMul", name, next, (const char *const[]){at, weights, NULL});
        } else {
            const char *between = node_name(arena, "s", i);
            xpu_onnx_node(&b, "Abs", name, between, (const char *const[]){at, NULL});
            xpu_onnx_node(&b, "Softmax", node_name(arena, "softmax", i), next, (const char *const[]){between, NULL});
        }
        at = next;
    }
    xpu_onnx_output(&b, "y", 2, dims);
    return write_network_file(&b, "small", xpu_temporary_folder(arena, diags), diags);
}

static char *statistics(xpu_device_check *check) {
    const xpurt_tensor input = {"x", "float32", 2, {1, COUNT}, x};
    xpurt_tensor y = {0};
    CU_ASSERT_TRUE_FATAL(xpu_device_check_layers(check, &input, 1, &y));
    char *stats = xpu_device_check_rtl(check, &input, 1, y.data, sizeof x);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stats);
    xpurt_tensor_clear(&y);
    return stats;
}

static void small_layers(int products, const char *precision, const char *unit, long most) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    for (int i = 0; i < COUNT; i++) x[i] = (float)(i % 31 - 15) / 8.0f;
    for (int i = 0; i < COUNT * COUNT; i++) w[i] = (float)(i % 29 - 14) / 512.0f;
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        xpu_device_check check;
        xpu_arena *arena = xpu_arena_new(&mem, "test");
        CU_ASSERT_FATAL(xpu_device_check_compile(&check, write_model(products, arena, &diags), "standard", precision));
        char *stats = statistics(&check), *again = statistics(&check);
        for (int i = MIDDLE; i < PAIRS - 1; i++) {
            const char *name = node_name(arena, "small", i);
            long cycles = xpu_device_check_cycles(stats, name, unit);
            if (i == MIDDLE) printf("%ld cycles; ", cycles);
            CU_ASSERT(cycles > 0 && cycles <= most);
            CU_ASSERT_EQUAL(cycles, xpu_device_check_cycles(again, name, unit));
        }
        free(stats);
        free(again);
        xpu_device_check_close(&check);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void chains(void) {
    small_layers(0, "fp32", "core", MOST_CHAIN);
}

static void products_of_a_row(void) {
    small_layers(1, "int16", "tensor", MOST_PRODUCT);
}

XPU_TEST_MAIN("layer start", {"chains of 256 elements", chains}, {"products of one row", products_of_a_row})
