/*
 * Sums, products and tables of bytes on the tensor engine's post-processor: func equals ref in every layer on chips of
 * all sizes, with one shape, with free ones and inside a branch, where core 0 makes the descriptors; on rtl they take
 * fewer cycles than the cores need.
 */
#include "core/arith.h"
#include "tests/gen/onnx_build.h"
#include "tests/golden/random_quantised.h"
#include "tests/unit/network_file.h"

enum { MOST_ELEMENTS = 1 << 20, MOST_RANK = 4 };

static float input[2][MOST_ELEMENTS];

static void fill_inputs(void) {
    for (int i = 0; i < MOST_ELEMENTS; i++) {
        input[0][i] = (float)((i * 79 + i / 97) % 256 - 131) / 16;
        input[1][i] = (float)((i * 113 + i / 53) % 256 - 117) / 8;
    }
}

/* ---- models ---- */

typedef enum { SUM, PRODUCT, TABLE, OPERATORS } operator;
static const char *const names[] = {"Add", "Mul", "Sigmoid"};

typedef struct {
    operator op;
    int is_signed; /* the operands; the result is not */
    int64_t dims[MOST_RANK];
} layer;

static void scalar(xpu_onnx_builder *b, const char *name, xpu_dtype dtype, const void *value) {
    xpu_onnx_initializer(b, name, &(xpu_tensor){dtype, 0, {0}, (void *)(uintptr_t)value}, 0);
}

static const float scales[] = {1.0f / 16, 1.0f / 8, 0.21f};
static const uint8_t zeros[] = {131, 117, 90};

static void add_schemes(xpu_onnx_builder *b, int is_signed) {
    static const int8_t signed_zeros[] = {3, -11};
    static const char *const scale_names[] = {"xs", "zs", "ys"}, *const zero_names[] = {"xz", "zz", "yz"};
    for (int i = 0; i < 3; i++) {
        scalar(b, scale_names[i], XPU_F32, &scales[i]);
        if (is_signed && i < 2)
            scalar(b, zero_names[i], XPU_I8, &signed_zeros[i]);
        else
            scalar(b, zero_names[i], XPU_U8, &zeros[i]);
    }
}

/* DequantizeLinear, operator, QuantizeLinear of xq and perhaps zq to `y`. */
static void add_operator(xpu_onnx_builder *b, operator op, const char *y, xpu_arena *arena) {
    const char *a = xpu_printf(arena, "%s_a", y), *c = xpu_printf(arena, "%s_c", y), *f = xpu_printf(arena, "%s_f", y);
    xpu_onnx_node(b, "DequantizeLinear", a, a, (const char *const[]){"xq", "xs", "xz", NULL});
    if (op != TABLE) xpu_onnx_node(b, "DequantizeLinear", c, c, (const char *const[]){"zq", "zs", "zz", NULL});
    xpu_onnx_node(b, names[op], f, f, (const char *const[]){a, op == TABLE ? NULL : c, NULL});
    xpu_onnx_node(b, "QuantizeLinear", y, y, (const char *const[]){f, "ys", "yz", NULL});
}

static void add_inputs(xpu_onnx_builder *b, const int64_t *dims) {
    xpu_onnx_input(b, "x", MOST_RANK, dims);
    xpu_onnx_input(b, "z", MOST_RANK, dims);
    xpu_onnx_node(b, "QuantizeLinear", "q0", "xq", (const char *const[]){"x", "xs", "xz", NULL});
    xpu_onnx_node(b, "QuantizeLinear", "q1", "zq", (const char *const[]){"z", "zs", "zz", NULL});
}

static const char *write(xpu_onnx_builder *b, xpu_arena *arena, xpu_diags *diags) {
    return write_network_file(b, "bytes", xpu_temporary_folder(arena, diags), diags);
}

static const char *write_layer(const layer *l, xpu_arena *arena, xpu_diags *diags) {
    xpu_onnx_builder b;
    xpu_onnx_begin(&b, arena, 13);
    add_schemes(&b, l->is_signed);
    add_inputs(&b, l->dims);
    add_operator(&b, l->op, "yq", arena);
    xpu_onnx_node(&b, "DequantizeLinear", "d", "y", (const char *const[]){"yq", "ys", "yz", NULL});
    xpu_onnx_output(&b, "y", MOST_RANK, l->dims);
    return write(&b, arena, diags);
}

/* A sum or product of x and one constant byte, on either side. */
static const char *write_one_byte(operator op, int is_first, const uint8_t *byte, const int64_t *dims, xpu_arena *arena,
                                  xpu_diags *diags) {
    xpu_onnx_builder b;
    xpu_onnx_begin(&b, arena, 13);
    add_schemes(&b, 0);
    xpu_onnx_input(&b, "x", MOST_RANK, dims);
    xpu_onnx_node(&b, "QuantizeLinear", "q0", "xq", (const char *const[]){"x", "xs", "xz", NULL});
    xpu_onnx_initializer(&b, "zq", &(xpu_tensor){XPU_U8, 1, {1}, (void *)(uintptr_t)byte}, 0);
    xpu_onnx_node(&b, "DequantizeLinear", "a", "a", (const char *const[]){"xq", "xs", "xz", NULL});
    xpu_onnx_node(&b, "DequantizeLinear", "c", "c", (const char *const[]){"zq", "zs", "zz", NULL});
    xpu_onnx_node(&b, names[op], "f", "f", (const char *const[]){is_first ? "c" : "a", is_first ? "a" : "c", NULL});
    xpu_onnx_node(&b, "QuantizeLinear", "yq", "yq", (const char *const[]){"f", "ys", "yz", NULL});
    xpu_onnx_node(&b, "DequantizeLinear", "d", "y", (const char *const[]){"yq", "ys", "yz", NULL});
    xpu_onnx_output(&b, "y", MOST_RANK, dims);
    return write(&b, arena, diags);
}

/* One operator where the input c is positive, another one where it is not. */
static const char *write_branches(const int64_t *dims, xpu_arena *arena, xpu_diags *diags) {
    static const char *const results[] = {"then_q", "else_q"}, *const attributes[] = {"then_branch", "else_branch"};
    static const float none = 0;
    xpu_onnx_builder b, bodies[2];
    xpu_onnx_begin(&b, arena, 13);
    add_schemes(&b, 0);
    add_inputs(&b, dims);
    xpu_onnx_input(&b, "c", 0, NULL);
    scalar(&b, "none", XPU_F32, &none);
    xpu_onnx_node(&b, "Greater", "g", "positive", (const char *const[]){"c", "none", NULL});
    XpuOnnx__NodeProto *node = xpu_onnx_node(&b, "If", "if", "y", (const char *const[]){"positive", NULL});
    for (int i = 0; i < 2; i++) {
        const char *y = i ? "else_y" : "then_y";
        xpu_onnx_begin(&bodies[i], arena, 13);
        add_operator(&bodies[i], i ? PRODUCT : SUM, results[i], arena);
        xpu_onnx_node(&bodies[i], "DequantizeLinear", y, y, (const char *const[]){results[i], "ys", "yz", NULL});
        xpu_onnx_output(&bodies[i], y, MOST_RANK, dims);
        xpu_onnx_graph(&b, node, attributes[i], &bodies[i]);
    }
    xpu_onnx_output(&b, "y", MOST_RANK, dims);
    return write(&b, arena, diags);
}

/* x, behind a maximum where it shall be an image, and z, which is a row of it; z is the first operand where swapped. */
typedef struct {
    int64_t dims[MOST_RANK], z[MOST_RANK];
    int z_rank, is_image, is_swapped;
} row_case;

static const char *write_rows(const row_case *r, operator op, xpu_arena *arena, xpu_diags *diags) {
    static const int64_t kernel[] = {3, 3}, pads[] = {1, 1, 1, 1};
    xpu_onnx_builder b;
    xpu_onnx_begin(&b, arena, 13);
    add_schemes(&b, 0);
    xpu_onnx_input(&b, "x", MOST_RANK, r->dims);
    xpu_onnx_input(&b, "z", r->z_rank, r->z);
    xpu_onnx_node(&b, "QuantizeLinear", "q0", "xq", (const char *const[]){"x", "xs", "xz", NULL});
    xpu_onnx_node(&b, "QuantizeLinear", "q1", "zq", (const char *const[]){"z", "zs", "zz", NULL});
    if (r->is_image) {
        XpuOnnx__NodeProto *pool = xpu_onnx_node(&b, "MaxPool", "p", "xp", (const char *const[]){"xq", NULL});
        xpu_onnx_ints(&b, pool, "kernel_shape", kernel, 2);
        xpu_onnx_ints(&b, pool, "pads", pads, 4);
    }
    xpu_onnx_node(&b, "DequantizeLinear", "a", "a", (const char *const[]){r->is_image ? "xp" : "xq", "xs", "xz", NULL});
    xpu_onnx_node(&b, "DequantizeLinear", "c", "c", (const char *const[]){"zq", "zs", "zz", NULL});
    xpu_onnx_node(&b, names[op], "f", "f",
                  (const char *const[]){r->is_swapped ? "c" : "a", r->is_swapped ? "a" : "c", NULL});
    xpu_onnx_node(&b, "QuantizeLinear", "yq", "yq", (const char *const[]){"f", "ys", "yz", NULL});
    xpu_onnx_node(&b, "DequantizeLinear", "d", "y", (const char *const[]){"yq", "ys", "yz", NULL});
    xpu_onnx_output(&b, "y", MOST_RANK, r->dims);
    return write(&b, arena, diags);
}

/* ---- tests ---- */

static void set_inputs(xpurt_tensor inputs[2], const int64_t *dims) {
    static const char *const input_names[] = {"x", "z"};
    for (int i = 0; i < 2; i++) {
        inputs[i] =
            (xpurt_tensor){input_names[i], "float32", MOST_RANK, {dims[0], dims[1], dims[2], dims[3]}, input[i]};
    }
}

static int is_on_tensor_engine(xpurt_program *program) {
    return strstr(xpurt_describe(program, NULL), "\"kernel\": \"elementwise\"") != NULL;
}

static void run_layer(const layer *l, const char *chip, xpu_arena *arena, xpu_diags *diags) {
    xpu_device_check check;
    xpurt_tensor inputs[2], y = {0};
    int good = xpu_device_check_compile(&check, write_layer(l, arena, diags), chip, "auto");
    if (good) {
        CU_ASSERT_EQUAL(count_layers(check.program, "elementwise", arena), 1);
        set_inputs(inputs, l->dims);
        good = xpu_device_check_layers(&check, inputs, 2, &y);
    }
    if (!good)
        printf("%s, %s of %d x %d x %d: %s\n", chip, names[l->op], (int)l->dims[1], (int)l->dims[2], (int)l->dims[3],
               check.message);
    CU_ASSERT(good);
    xpurt_tensor_clear(&y);
    xpu_device_check_close(&check);
}

static void shapes(void) {
    static const int64_t dims[][MOST_RANK] = {{1, 1, 1, 1},    {1, 3, 1, 21},  {1, 32, 1, 2},    {2, 32, 8, 8},
                                              {1, 24, 56, 56}, {3, 5, 31, 33}, {1, 1, 251, 1023}};
    static const char *const chips[] = {"nano", "standard", "pro"};
    BENCH_OPEN(b);
    xpu_arena *arena = xpu_arena_new(&b.mem, "test");
    fill_inputs();
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
        for (int op = 0; op < OPERATORS; op++)
            for (size_t c = 0; c < sizeof chips / sizeof *chips; c++) {
                layer l = {.op = (operator)op, .is_signed = (int)(i + c) % 2};
                memcpy(l.dims, dims[i], sizeof l.dims);
                run_layer(&l, chips[c], arena, &b.diags);
            }
    bench_close(&b);
}

/* What the formulas of core/arith.h make of x and the constant. */
static float formula(operator op, int is_first, float x, uint8_t byte) {
    const int32_t q = xa_quantize(x, scales[0], zeros[0], 0, UINT8_MAX);
    if (op == PRODUCT) {
        const float r = xa_qmul_scale(scales[0], scales[1], scales[2]);
        return xa_dequantize(xa_qmul(q, zeros[0], byte, zeros[1], r, zeros[2], 0, UINT8_MAX), scales[2], zeros[2]);
    }
    const int first = is_first, second = !is_first; /* the schemes of the operands */
    const int32_t levels[] = {q, byte};
    const xa_qadd_constants k =
        xa_qadd_prepare(scales[first], zeros[first], scales[second], zeros[second], scales[2], zeros[2]);
    const int32_t y = xa_qadd(levels[first], levels[second], k.ra, k.rb, k.f, 0, UINT8_MAX);
    return xa_dequantize(y, scales[2], zeros[2]);
}

/* Of a byte and a constant: a table. */
static void constants(void) {
    enum { ELEMENTS = 5 * 16 * 16 };
    static const int64_t dims[] = {1, 5, 16, 16};
    static const uint8_t byte = 203;
    BENCH_OPEN(b);
    xpu_arena *arena = xpu_arena_new(&b.mem, "test");
    fill_inputs();
    for (int i = 0; i < 4; i++) {
        const operator op = i & 1 ? PRODUCT : SUM;
        xpu_device_check check;
        xpurt_tensor inputs[2], y = {0};
        set_inputs(inputs, dims);
        int good = xpu_device_check_compile(&check, write_one_byte(op, i / 2, &byte, dims, arena, &b.diags), "standard",
                                            "auto");
        if (good) {
            CU_ASSERT_EQUAL(count_layers(check.program, "elementwise", arena), 1);
            good = xpu_device_check_layers(&check, inputs, 1, &y);
        }
        if (!good) printf("%s: %s\n", names[op], check.message);
        CU_ASSERT_FATAL(good);
        for (int64_t e = 0; e < ELEMENTS; e++)
            CU_ASSERT_EQUAL(((const float *)y.data)[e], formula(op, i / 2, input[0][e], byte));
        xpurt_tensor_clear(&y);
        xpu_device_check_close(&check);
    }
    bench_close(&b);
}

static void rows(void) {
    static const row_case cases[] = {
        {{2, 36, 9, 11}, {2, 36, 1, 1}, 4, 1, 0},  {{3, 16, 7, 7}, {1, 16, 1, 1}, 4, 1, 1},
        {{1, 72, 30, 28}, {1, 72, 1, 1}, 4, 1, 0}, {{2, 40, 5, 6}, {40, 1, 1}, 3, 1, 1},
        {{2, 33, 5, 6}, {2, 33, 1, 1}, 4, 0, 0},   {{1, 1, 60, 130}, {130}, 1, 0, 0},
        {{2, 3, 20, 9}, {1, 1, 1, 9}, 4, 0, 1},    {{1, 8, 300, 300}, {1, 8, 1, 1}, 4, 1, 1},
    };
    static const char *const chips[] = {"nano", "standard", "pro"};
    BENCH_OPEN(b);
    xpu_arena *arena = xpu_arena_new(&b.mem, "test");
    fill_inputs();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int op = SUM; op <= PRODUCT; op++) {
            const row_case *r = &cases[i];
            xpu_device_check check;
            xpurt_tensor inputs[2], y = {0};
            set_inputs(inputs, r->dims);
            inputs[1] = (xpurt_tensor){"z", "float32", r->z_rank, {r->z[0], r->z[1], r->z[2], r->z[3]}, input[1]};
            int good = xpu_device_check_compile(&check, write_rows(r, (operator)op, arena, &b.diags),
                                                chips[(i + (size_t)op) % 3], "auto");
            if (good) {
                CU_ASSERT_EQUAL(count_layers(check.program, "elementwise", arena), 1);
                good = xpu_device_check_layers(&check, inputs, 2, &y);
            }
            if (!good) printf("case %d, %s: %s\n", (int)i, names[op], check.message);
            CU_ASSERT(good);
            xpurt_tensor_clear(&y);
            xpu_device_check_close(&check);
        }
    bench_close(&b);
}

/* One program for several sizes, whose lists are made when a shape is bound. */
static void free_sizes(void) {
    static const int64_t sizes[][MOST_RANK] = {{1, 24, 1, 1}, {2, 24, 9, 7}, {1, 24, 64, 60}, {3, 24, 33, 64}};
    BENCH_OPEN(b);
    xpu_arena *arena = xpu_arena_new(&b.mem, "test");
    fill_inputs();
    for (int op = 0; op < OPERATORS; op++) {
        const layer l = {.op = (operator)op, .dims = {1, 24, 9, 9}};
        xpu_device_check check;
        int good = xpu_device_check_compile_shape(&check, write_layer(&l, arena, &b.diags), op ? "standard" : "nano",
                                                  "auto", "x=N=1..3,24,H=1..64,W=1..64 z=N,24,H,W");
        CU_ASSERT(good && is_on_tensor_engine(check.program));
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && good; i++) {
            xpurt_tensor inputs[2], y = {0};
            set_inputs(inputs, sizes[i]);
            good = xpu_device_check_layers(&check, inputs, 2, &y);
            xpurt_tensor_clear(&y);
        }
        if (!good) printf("%s: %s\n", names[op], check.message);
        CU_ASSERT(good);
        xpu_device_check_close(&check);
    }
    bench_close(&b);
}

/* Without lists: core 0 makes the descriptors. */
static void branches(void) {
    static const int64_t dims[] = {1, 40, 30, 31};
    static float condition[] = {1, -1};
    static const char *const chips[] = {"nano", "standard"};
    BENCH_OPEN(b);
    xpu_arena *arena = xpu_arena_new(&b.mem, "test");
    fill_inputs();
    for (size_t c = 0; c < 2; c++) {
        xpu_device_check check;
        int good = xpu_device_check_compile(&check, write_branches(dims, arena, &b.diags), chips[c], "auto");
        if (good) CU_ASSERT_EQUAL(count_layers(check.program, "elementwise", arena), 2);
        for (int i = 0; i < 2 && good; i++) {
            xpurt_tensor inputs[3], y = {0};
            set_inputs(inputs, dims);
            inputs[2] = (xpurt_tensor){"c", "float32", 0, {0}, &condition[i]};
            good = xpu_device_check_layers(&check, inputs, 3, &y);
            xpurt_tensor_clear(&y);
        }
        if (!good) printf("%s: %s\n", chips[c], check.message);
        CU_ASSERT(good);
        xpu_device_check_close(&check);
    }
    bench_close(&b);
}

/* The sum of 75,264 bytes took 26,783 cycles on the cores, a table 20,000. */
static void on_rtl(void) {
    enum { ELEMENTS = 24 * 56 * 56, MOST_CYCLES = 4500 };
    BENCH_OPEN(b);
    xpu_arena *arena = xpu_arena_new(&b.mem, "test");
    fill_inputs();
    for (int op = 0; op < OPERATORS; op++) {
        const layer l = {.op = (operator)op, .dims = {1, 24, 56, 56}};
        xpu_device_check check;
        xpurt_tensor inputs[2], y = {0};
        set_inputs(inputs, l.dims);
        const uint32_t count = 2;
        int good = xpu_device_check_compile(&check, write_layer(&l, arena, &b.diags), "standard", "auto") &&
                   xpu_device_check_run(&check, inputs, count, &y);
        char *stats = good ? xpu_device_check_rtl(&check, inputs, count, y.data, sizeof(float) * ELEMENTS) : NULL;
        const long cycles = stats ? xpu_device_check_cycles(stats, "yq", "tensor") : -1;
        if (!stats) printf("%s: %s\n", names[op], check.message);
        printf("%s %ld ", names[op], cycles);
        CU_ASSERT(cycles > 0 && cycles < MOST_CYCLES);
        free(stats);
        xpurt_tensor_clear(&y);
        xpu_device_check_close(&check);
    }
    bench_close(&b);
}

XPU_TEST_MAIN("elementwise layers of bytes", {"shapes", shapes}, {"constants", constants}, {"rows", rows},
              {"free sizes", free_sizes}, {"branches", branches}, {"on rtl", on_rtl})
