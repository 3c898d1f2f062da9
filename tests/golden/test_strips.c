/*
 * Convolutions in strips of rows: where GM is slow and L3 small, a convolution in int16 and the depthwise one behind it
 * in float32 become several of each. What comes out is bit for bit what comes out of whole ones, on func as on the
 * graph on the host, and one of them on rtl; and where GM is fast nothing is cut.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "core/chip.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { OUT = 8, MOST_ELEMENTS = 8 * 112 * 112 };

/* x, a convolution of it, a depthwise one of that, with a chain in between or not, and a product of its pixels. */
typedef struct {
    int64_t in, channels, height, width;
    struct {
        int64_t kernel, stride, pads[4];
    } first, second;
    int has_chain, stays_whole;
} network;

static float x[MOST_ELEMENTS], weights[4096];

static void add_conv(xpu_onnx_builder *b, const char *name, const char *from, const int64_t *dims, int64_t stride,
                     const int64_t *pads, int64_t group) {
    const char *w = xpu_printf(b->arena, "%s_w", name);
    xpu_onnx_initializer(b, w, &(xpu_tensor){XPU_F32, 4, {dims[0], dims[1], dims[2], dims[3]}, weights}, 0);
    XpuOnnx__NodeProto *node = xpu_onnx_node(b, "Conv", name, name, (const char *const[]){from, w, NULL});
    xpu_onnx_ints(b, node, "strides", (const int64_t[]){stride, stride}, 2);
    xpu_onnx_ints(b, node, "pads", pads, 4);
    xpu_onnx_int(b, node, "group", group);
}

static const char *write_model(const network *n, const char *folder, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    const int64_t first = n->first.kernel, second = n->second.kernel, none[4] = {0};
    xpu_onnx_begin(&b, arena, 14);
    xpu_onnx_input(&b, "x", 4, (const int64_t[]){1, n->in, n->height, n->width});
    add_conv(&b, "first", "x", (const int64_t[]){n->channels, n->in, first, first}, n->first.stride, n->first.pads, 1);
    if (n->has_chain) xpu_onnx_node(&b, "HardSwish", "swish", "swish", (const char *const[]){"first", NULL});
    add_conv(&b, "second", n->has_chain ? "swish" : "first", (const int64_t[]){n->channels, 1, second, second},
             n->second.stride, n->second.pads, n->channels);
    add_conv(&b, "y", "second", (const int64_t[]){OUT, n->channels, 1, 1}, 1, none, 1);
    xpu_onnx_output(&b, "y", 4, (const int64_t[]){1, OUT, -1, -1});
    return write_network_file(&b, "strips", folder, diags);
}

/* A chip of configs/chip whose GM moves so many bytes in a cycle. */
static const char *chip_at(const char *name, uint32_t rate, const char *folder, xpu_arena *arena, xpu_diags *diags) {
    xpu_chip chip;
    CU_ASSERT_EQUAL_FATAL(xpu_chip_load(arena, "configs/chip", name, &chip, diags), XPU_OK);
    chip.gm_rate = rate;
    const char *text = xpu_chip_json(arena, &chip);
    const char *path = xpu_path_join(arena, folder, xpu_printf(arena, "%s-%u.json", name, rate));
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(arena, path, text, strlen(text), diags), XPU_OK);
    return path;
}

static uint32_t count_layers(const xpurt_program *program, const char *name) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < xpurt_layer_count(program); i++) {
        const char *layer = xpurt_layer_name(program, i);
        count += strncmp(layer, name, strlen(name)) == 0 && !strchr(layer, '/'); /* not what finds magnitudes */
    }
    return count;
}

/* Every layer on func and ref; how many layers the convolution became. */
static uint32_t run(const char *model, const char *rules, const char *chip, const network *n, int has_rtl,
                    xpurt_tensor *y) {
    xpu_device_check check;
    xpurt_tensor input = {"x", "float32", 4, {1, n->in, n->height, n->width}, x};
    int good = xpu_device_check_compile(&check, model, chip, rules);
    if (!good) printf("%s\n", check.message);
    CU_ASSERT_FATAL(good);
    good = xpu_device_check_layers(&check, &input, 1, y);
    if (!good) printf("%s\n", check.message);
    CU_ASSERT_FATAL(good);
    if (has_rtl) {
        char *stats =
            xpu_device_check_rtl(&check, &input, 1, y->data, sizeof(float) * (size_t)(OUT * y->dims[2] * y->dims[3]));
        CU_ASSERT_PTR_NOT_NULL(stats);
        free(stats);
    }
    const uint32_t first = count_layers(check.program, "first"), second = count_layers(check.program, "second");
    CU_ASSERT_EQUAL(first, second);
    xpu_device_check_close(&check);
    return first;
}

static const char *write_rules(const char *folder, xpu_arena *arena, xpu_diags *diags) {
    static const char text[] = "{\"rules\": [{\"match\": \"*\", \"precision\": \"int16\"}, "
                               "{\"match\": \"second\", \"precision\": \"fp32\"}]}\n";
    const char *path = xpu_path_join(arena, folder, "rules.json");
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(arena, path, text, sizeof text - 1, diags), XPU_OK);
    return path;
}

static void compare(const char *chip, const network *n, int has_rtl) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    for (int i = 0; i < MOST_ELEMENTS; i++) x[i] = (float)((i * 7919 + i / 97) % 1021 - 510) / 256.0f;
    for (int i = 0; i < 4096; i++) weights[i] = (float)((i * 6007 + i / 89) % 509 - 250) / 512.0f;
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        xpu_arena *arena = xpu_arena_new(&mem, "test");
        const char *folder = xpu_temporary_folder(arena, &diags);
        const char *model = write_model(n, folder, arena, &diags), *rules = write_rules(folder, arena, &diags);
        xpurt_tensor whole = {0}, strips = {0};
        CU_ASSERT_EQUAL(run(model, rules, chip_at(chip, 40, folder, arena, &diags), n, 0, &whole), 1);
        const uint32_t count = run(model, rules, chip_at(chip, 1, folder, arena, &diags), n, has_rtl, &strips);
        printf("%u strips; ", count);
        CU_ASSERT_EQUAL(count > 1, !n->stays_whole);
        CU_ASSERT_EQUAL_FATAL(whole.dims[2], strips.dims[2]);
        CU_ASSERT_EQUAL(memcmp(whole.data, strips.data, sizeof(float) * (size_t)(OUT * whole.dims[2] * whole.dims[3])),
                        0);
        xpurt_tensor_clear(&whole);
        xpurt_tensor_clear(&strips);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

static void shapes(void) {
    static const network networks[] = {
        {8, 24, 40, 40, {1, 1, {0}}, {3, 1, {1, 1, 1, 1}}, 0},
        {8, 24, 40, 40, {1, 1, {0}}, {3, 2, {1, 1, 1, 1}}, 0},
        {4, 24, 64, 61, {3, 2, {1, 1, 1, 1}}, {5, 1, {2, 2, 2, 2}}, 0},
        {4, 32, 41, 41, {3, 1, {0, 1, 2, 1}}, {3, 2, {0, 0, 1, 1}}, 0},
        {8, 32, 80, 60, {1, 2, {0}}, {5, 2, {4, 2, 4, 2}}, 0},
        /* a strip would lie wholly in the padding of the second, or of the first */
        {8, 24, 40, 40, {1, 1, {0}}, {3, 1, {1, 1, 12, 1}}, 0, 1},
        {8, 24, 40, 40, {1, 1, {12, 0, 12, 0}}, {3, 1, {1, 1, 1, 1}}, 0, 1},
    };
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) compare("nano", &networks[i], 0);
    compare("standard", &(network){8, 96, 112, 110, {1, 1, {0}}, {5, 2, {2, 2, 2, 2}}, 1}, 0);
}

static void on_rtl(void) {
    compare("standard", &(network){4, 96, 112, 112, {1, 1, {0}}, {3, 2, {1, 1, 1, 1}}, 0}, 1);
}

XPU_TEST_MAIN("strips", {"shapes", shapes}, {"on rtl", on_rtl})
