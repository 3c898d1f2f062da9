/*
 * Scales at the edges of quantised operators: QGemm's alpha and forms of C, biases of other scales than that of the
 * sums, scales that are negative, 0, tiny or huge, concatenations of many operands. What is expected is written out
 * here as onnxruntime 1.31 computes it; every layer on func equals ref.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/unit.h"

enum { ROWS = 5, DEPTH = 64, COLUMNS = 12, X_ZERO = 120, Y_ZERO = 100 };

typedef enum { QGEMM, QLINEAR_CONV, QDQ_CONV, QDQ_GEMM } form;

typedef struct {
    form form;
    float x_scale, w_scale[COLUMNS], y_scale;
    int channels;      /* of w_scale: 1 or COLUMNS */
    float alpha;       /* of QGEMM */
    const char *c;     /* its shape: "[N]", "[1,N]", "[]", "[1]", "[1,1]" */
    float bias_factor; /* of the QDQ forms: the bias' scale is x_scale * w_scale times this */
} product;

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpu_onnx_builder builder;
    uint8_t a[ROWS][DEPTH];
    int8_t b[DEPTH][COLUMNS];
    int32_t c[COLUMNS];
} fixture;

static void begin(fixture *f) {
    uint32_t state = 7;
    xpu_mem_init(&f->mem);
    xpu_diags_init(&f->diags);
    if (setjmp(f->mem.out_of_memory)) CU_FAIL_FATAL("out of memory");
    f->arena = xpu_arena_new(&f->mem, "test");
    xpu_onnx_begin(&f->builder, f->arena, 13);
    for (int i = 0; i < ROWS * DEPTH; i++) (&f->a[0][0])[i] = (uint8_t)((state = state * 1664525u + 1013904223u) >> 24);
    for (int i = 0; i < DEPTH * COLUMNS; i++) {
        (&f->b[0][0])[i] = (int8_t)((state = state * 1664525u + 1013904223u) >> 24);
    }
    for (int i = 0; i < COLUMNS; i++) f->c[i] = (int32_t)((state = state * 1664525u + 1013904223u) >> 16) - 32768;
}

static void end(fixture *f) {
    xpu_diags_clear(&f->diags);
    xpu_mem_release(&f->mem);
}

/* ---- models ---- */

static void weights(fixture *f, const char *name, xpu_dtype dtype, int rank, const int64_t *dims, const void *data) {
    xpu_tensor tensor = {.dtype = dtype, .rank = rank, .data = (void *)(uintptr_t)data};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    xpu_onnx_initializer(&f->builder, name, &tensor, 0);
}

static void scalar(fixture *f, const char *name, float value) {
    weights(f, name, XPU_F32, 0, NULL, &value);
}

static void zero(fixture *f, const char *name, int value) {
    weights(f, name, XPU_U8, 0, NULL, &(uint8_t){(uint8_t)value});
}

static XpuOnnx__NodeProto *node(fixture *f, const char *op, const char *output, const char *const *inputs) {
    return xpu_onnx_node(&f->builder, op, output, output, inputs);
}

#define NODE(f, op, output, ...) node(f, op, output, (const char *const[]){__VA_ARGS__, NULL})

/* Input x in whole numbers becomes the bytes xq; bytes yq become the output y. */
static void frame(fixture *f, int rank, const int64_t *dims, int y_rank, const int64_t *y_dims) {
    scalar(f, "one", 1);
    zero(f, "nought", 0);
    xpu_onnx_input(&f->builder, "x", rank, dims);
    xpu_onnx_output(&f->builder, "y", y_rank, y_dims);
    NODE(f, "QuantizeLinear", "xq", "x", "one", "nought");
    NODE(f, "DequantizeLinear", "y", "yq", "one", "nought");
}

static int is_conv(const product *p) {
    return p->form == QLINEAR_CONV || p->form == QDQ_CONV;
}

static void add_weights(fixture *f, const product *p) {
    static const int8_t zeros[COLUMNS];
    int8_t turned[COLUMNS][DEPTH];
    for (int n = 0; n < COLUMNS; n++) {
        for (int k = 0; k < DEPTH; k++) turned[n][k] = f->b[k][n];
    }
    int64_t dims[] = {is_conv(p) ? COLUMNS : DEPTH, is_conv(p) ? DEPTH : COLUMNS, 1, 1}, channels = p->channels;
    weights(f, "w", XPU_I8, is_conv(p) ? 4 : 2, dims, is_conv(p) ? (void *)turned : (void *)f->b);
    weights(f, "ws", XPU_F32, p->channels > 1, &channels, p->w_scale);
    weights(f, "wz", XPU_I8, p->channels > 1, &channels, zeros);
    float bias_scales[COLUMNS];
    for (int n = 0; n < p->channels; n++) bias_scales[n] = p->x_scale * p->w_scale[n] * p->bias_factor;
    if (p->bias_factor != 0) weights(f, "cs", XPU_F32, p->channels > 1, &channels, bias_scales);
}

static void add_c(fixture *f, const product *p) {
    int64_t dims[2] = {1, 1};
    const char *shape = p->c ? p->c : "[N]", *n = strchr(shape, 'N');
    int rank = shape[1] == ']' ? 0 : strchr(shape, ',') ? 2 : 1;
    if (n) dims[rank - 1] = COLUMNS;
    for (int i = 0; i < COLUMNS && !n; i++) f->c[i] = f->c[0];
    weights(f, "c", XPU_I32, rank, dims, f->c);
}

static void add_product(fixture *f, const product *p) {
    if (p->form == QGEMM) {
        XpuOnnx__NodeProto *made = NODE(f, "QGemm", "yq", "xq", "xs", "xz", "w", "ws", "wz", "c", "ys", "yz");
        xpu_onnx_domain(&f->builder, made, "com.microsoft");
        xpu_onnx_float(&f->builder, made, "alpha", p->alpha);
    } else if (p->form == QLINEAR_CONV) {
        NODE(f, "QLinearConv", "yq", "xq", "xs", "xz", "w", "ws", "wz", "ys", "yz", "c");
    } else {
        NODE(f, "DequantizeLinear", "xf", "xq", "xs", "xz");
        XpuOnnx__NodeProto *made = NODE(f, "DequantizeLinear", "wf", "w", "ws", "wz");
        xpu_onnx_int(&f->builder, made, "axis", is_conv(p) ? 0 : 1);
        xpu_onnx_int(&f->builder, NODE(f, "DequantizeLinear", "cf", "c", "cs"), "axis", 0);
        NODE(f, is_conv(p) ? "Conv" : "Gemm", "yf", "xf", "wf", "cf");
        NODE(f, "QuantizeLinear", "yq", "yf", "ys", "yz");
    }
}

static void build(fixture *f, const product *p) {
    static const int64_t image[] = {1, DEPTH, ROWS, 1}, result[] = {1, COLUMNS, ROWS, 1};
    static const int64_t matrix[] = {ROWS, DEPTH}, y_matrix[] = {ROWS, COLUMNS};
    frame(f, is_conv(p) ? 4 : 2, is_conv(p) ? image : matrix, is_conv(p) ? 4 : 2, is_conv(p) ? result : y_matrix);
    scalar(f, "xs", p->x_scale);
    zero(f, "xz", X_ZERO);
    scalar(f, "ys", p->y_scale);
    zero(f, "yz", Y_ZERO);
    add_weights(f, p);
    add_c(f, p);
    add_product(f, p);
}

/* ---- runs ---- */

/* Compiles the model and runs it on `x`; the output is the caller's. 0 after saying what went wrong. */
static int run(fixture *f, const char *chip, const char *precision, const xpurt_tensor *x, xpurt_tensor *y) {
    size_t length = 0;
    void *bytes = xpu_onnx_pack(&f->builder, "scales", &length);
    const char *path = xpu_path_join(f->arena, xpu_temporary_folder(f->arena, &f->diags), "model.onnx");
    xpu_device_check check = {0};
    int good = xpu_file_write(f->arena, path, bytes, length, &f->diags) == XPU_OK &&
               xpu_device_check_compile(&check, path, chip, precision) && xpu_device_check_layers(&check, x, 1, y);
    if (!good) printf("%s\n", check.message);
    if (check.program) xpu_device_check_close(&check);
    return good;
}

static int64_t sum_at(const fixture *f, int row, int column) {
    int64_t sum = 0;
    for (int k = 0; k < DEPTH; k++) sum += (f->a[row][k] - X_ZERO) * f->b[k][column];
    return sum;
}

static double clamped(double y) {
    return fmin(fmax(y + Y_ZERO, 0), 255);
}

/* Integers, one product with a factor in float32. */
static double exact_at(const fixture *f, const product *p, int row, int column) {
    float alpha = p->form == QGEMM ? p->alpha : 1.0f;
    volatile float factor = alpha * p->x_scale;
    factor = factor * p->w_scale[p->channels > 1 ? column : 0];
    factor = factor / p->y_scale;
    volatile float y = (float)(sum_at(f, row, column) + f->c[column]) * factor;
    return clamped(rint((double)y));
}

/* The literal meaning: a bias of a scale of its own. */
static double literal_at(const fixture *f, const product *p, int row, int column) {
    double scale = (double)p->x_scale * (double)p->w_scale[p->channels > 1 ? column : 0];
    double sum = (double)sum_at(f, row, column) + f->c[column] * (double)p->bias_factor;
    return clamped(rint(sum * scale / (double)p->y_scale));
}

/* The largest difference from what is expected; 1000 when it does not run. */
static double run_product(const product *p, int is_literal, const char *chip) {
    fixture f;
    float x[ROWS * DEPTH];
    xpurt_tensor input = {"x", "float32", 2, {ROWS, DEPTH}, x}, output = {0};
    begin(&f);
    build(&f, p);
    for (int row = 0; row < ROWS; row++) {
        for (int k = 0; k < DEPTH; k++) x[is_conv(p) ? k * ROWS + row : row * DEPTH + k] = f.a[row][k];
    }
    if (is_conv(p)) input = (xpurt_tensor){"x", "float32", 4, {1, DEPTH, ROWS, 1}, x};
    double worst = run(&f, chip, is_literal ? "fp32" : "auto", &input, &output) ? 0 : 1000;
    for (int row = 0; row < ROWS && worst < 1000; row++) {
        for (int n = 0; n < COLUMNS; n++) {
            double y = ((const float *)output.data)[is_conv(p) ? n * ROWS + row : row * COLUMNS + n];
            double wanted = is_literal ? literal_at(&f, p, row, n) : exact_at(&f, p, row, n);
            worst = fmax(worst, fabs(y - wanted));
        }
    }
    xpurt_tensor_clear(&output);
    end(&f);
    return worst;
}

static void set_scales(product *p, int channels) {
    p->channels = channels;
    for (int n = 0; n < COLUMNS; n++) p->w_scale[n] = 0.01f * (1 + 0.3f * (float)n);
}

static void alpha(void) {
    static const char *const shapes[] = {"[N]", "[1,N]", "[]", "[1]", "[1,1]"};
    static const float alphas[] = {1, 0.5f, -0.5f, 0, 3, 0.3f};
    for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++) {
        for (size_t j = i; j < i + 3; j++) {
            product p = {.form = QGEMM, .x_scale = 0.02f, .y_scale = 0.3f, .alpha = alphas[i], .c = shapes[j % 5]};
            set_scales(&p, (i + j) % 2 ? COLUMNS : 1);
            CU_ASSERT_EQUAL(run_product(&p, 0, (i + j) % 3 ? "nano" : "standard"), 0);
        }
    }
}

/* A bias of the sums' scale, but for a rounding, is part of the integer sum; any other keeps its meaning. */
static void bias_scales(void) {
    static const float factors[] = {1, 1 + 0x1p-22f, 1.1f, 2, -1};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        for (int j = 0; j < 4; j++) {
            product p = {
                .form = j % 2 ? QDQ_CONV : QDQ_GEMM, .x_scale = 0.02f, .y_scale = 0.3f, .bias_factor = factors[i]};
            set_scales(&p, j / 2 ? COLUMNS : 1);
            int is_literal = i > 1;
            double worst = run_product(&p, is_literal, "nano");
            if (worst > is_literal) printf("bias times %g, %d: %g\n", (double)factors[i], j, worst);
            CU_ASSERT(worst <= is_literal);
        }
    }
}

static void edges(void) {
    static const struct {
        float x, w, y;
        int alternates; /* the channels' signs */
    } rows[] = {
        {-0.02f, 0.01f, 0.5f, 0}, {0.02f, -0.01f, 0.5f, 0},  {0.02f, 0.01f, -0.5f, 0},    {0.02f, 0.01f, 0.5f, 1},
        {0, 0.01f, 0.5f, 0},      {0.02f, 0, 0.5f, 0},       {1e-30f, 1e-30f, 1e-30f, 0}, {1e-40f, 0.1f, 1e-40f, 0},
        {1e-40f, 1, 1e-38f, 0},   {1e-39f, 0.5f, 1e-38f, 0}, {1e30f, 1e5f, 1e35f, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        product p = {.form = i % 2 ? QLINEAR_CONV : QGEMM, .x_scale = rows[i].x, .y_scale = rows[i].y, .alpha = 1};
        p.channels = rows[i].alternates ? COLUMNS : 1;
        for (int n = 0; n < COLUMNS; n++) p.w_scale[n] = rows[i].alternates && n % 2 ? -rows[i].w : rows[i].w;
        double worst = run_product(&p, 0, "nano");
        if (worst != 0) printf("row %d: %g\n", (int)i, worst);
        CU_ASSERT_EQUAL(worst, 0);
    }
}

/* ---- other operators ---- */

/* A maximum of values with a negative scale is a minimum of the bytes; so it keeps its place behind DequantizeLinear.
 */
static void negative_maximum(void) {
    fixture f;
    float x[16];
    const int64_t dims[] = {1, 1, 4, 4}, y_dims[] = {1, 1, 2, 2};
    xpurt_tensor input = {"x", "float32", 4, {1, 1, 4, 4}, x}, output = {0};
    begin(&f);
    frame(&f, 4, dims, 4, y_dims);
    scalar(&f, "s", -0.5f);
    zero(&f, "z", 10);
    NODE(&f, "DequantizeLinear", "xf", "xq", "s", "z");
    XpuOnnx__NodeProto *pool = NODE(&f, "MaxPool", "yf", "xf");
    xpu_onnx_ints(&f.builder, pool, "kernel_shape", (int64_t[]){2, 2}, 2);
    xpu_onnx_ints(&f.builder, pool, "strides", (int64_t[]){2, 2}, 2);
    NODE(&f, "QuantizeLinear", "yq", "yf", "s", "z");
    for (int i = 0; i < 16; i++) x[i] = f.a[0][i];
    int good = run(&f, "nano", "auto", &input, &output);
    CU_ASSERT(good);
    for (int i = 0; i < 4 && good; i++) {
        const float *corner = x + i / 2 * 8 + i % 2 * 2;
        float least = fminf(fminf(corner[0], corner[1]), fminf(corner[4], corner[5]));
        CU_ASSERT_EQUAL(((const float *)output.data)[i], least);
    }
    xpurt_tensor_clear(&output);
    end(&f);
}

enum { PARTS = 100 };

/* The input beside itself, each time with other scales. */
static void long_concat(void) {
    fixture f;
    float x[ROWS];
    const int64_t dims[] = {1, ROWS}, y_dims[] = {1, PARTS * ROWS};
    const char *inputs[2 + 3 * PARTS + 1] = {"ys", "yz"};
    xpurt_tensor input = {"x", "float32", 2, {1, ROWS}, x}, output = {0};
    begin(&f);
    frame(&f, 2, dims, 2, y_dims);
    scalar(&f, "ys", 0.25f);
    zero(&f, "yz", Y_ZERO);
    zero(&f, "xz", X_ZERO);
    for (int i = 0; i < PARTS; i++) {
        inputs[2 + 3 * i] = "xq";
        inputs[3 + 3 * i] = xpu_printf(f.arena, "s%d", i);
        inputs[4 + 3 * i] = "xz";
        scalar(&f, inputs[3 + 3 * i], 0.03f * (float)(i + 1));
    }
    XpuOnnx__NodeProto *concat = node(&f, "QLinearConcat", "yq", inputs);
    xpu_onnx_domain(&f.builder, concat, "com.microsoft");
    xpu_onnx_int(&f.builder, concat, "axis", 1);
    for (int i = 0; i < ROWS; i++) x[i] = f.a[0][i];
    int good = run(&f, "nano", "auto", &input, &output), different = 0;
    CU_ASSERT(good);
    for (int i = 0; i < PARTS * ROWS && good; i++) {
        volatile float value = (x[i % ROWS] - X_ZERO) * (0.03f * (float)(i / ROWS + 1));
        value = value / 0.25f;
        different += ((const float *)output.data)[i] != (float)clamped(rint((double)value));
    }
    CU_ASSERT_EQUAL(different, 0);
    xpurt_tensor_clear(&output);
    end(&f);
}

XPU_TEST_MAIN("scales of quantised operators", {"alpha and C of QGemm", alpha}, {"scales of biases", bias_scales},
              {"negative, 0, tiny, huge", edges}, {"maximum with a negative scale", negative_maximum},
              {"concatenation of 100", long_concat})
