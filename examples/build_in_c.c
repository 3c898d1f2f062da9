/*
 * A network that is made, compiled and run in C, without any file: it reads digits that a printer has smudged.
 *
 *     build_in_c [CHIP]                                         (standard)
 *
 * Features of an image are what four edge filters see, averaged over 2 x 2 pixels (convolution, relu, average pooling).
 * The network compares them with the features of the ten digits below: 2 <f,t> - |t|^2 is largest for the nearest
 * template t, so its last layer is a matrix product. Those templates come from the first half of the network, compiled
 * on its own and run on ref: their results are constants of the whole one.
 *
 * The number of images in a run is a symbol: one program serves all numbers from 1 to 64. It runs on the functional
 * chip and, where `make chip` has built its library, on the Verilated one; both give the same bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xpuc_build.h>
#include <xpurt.h>
#include <xpurt_func.h>
#include <xpurt_rtl.h>

enum { DIGITS = 10, HEIGHT = 8, WIDTH = 6, PIXELS = HEIGHT * WIDTH, FILTERS = 4, FEATURES = FILTERS * PIXELS / 4 };

static const char *const font[DIGITS] = {
    ".####.#....##....##....##....##....##....#.####.", "..##...###....##....##....##....##....##...####.",
    "######.....#....##...##...##...##...##....######", "#####......#.....#..###......#.....##....#.####.",
    "...##...###..#.##.#..########...##....##....##..", "#######.....#.....#####......#.....##....#.####.",
    "..###..#....#.....#####.#....##....##....#.####.", "######.....#....##...##...##....##....##....##..",
    ".####.#....##....#.####.#....##....##....#.####.", ".####.#....##....##....#.#####.....#....#..###..",
};

static const float edges[FILTERS][3][3] = {
    {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}}, /* left to right, right to left, down, up */
    {{1, 0, -1}, {2, 0, -2}, {1, 0, -1}},
    {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}},
    {{1, 2, 1}, {0, 0, 0}, {-1, -2, -1}},
};

/* ---- networks ---- */

/* x [N,1,HEIGHT,WIDTH] to [N,FEATURES]. The filters are not copied: they stay where they are. */
static xpuc_value features(xpuc_network *n, xpuc_value x) {
    int64_t dims[] = {FILTERS, 1, 3, 3};
    xpuc_window around = {.size = sizeof around, .pads_begin = {1, 1}, .pads_end = {1, 1}};
    xpuc_window halves = {.size = sizeof halves, .kernel_shape = {2, 2}, .strides = {2, 2}};
    xpuc_value filters = xpuc_constant_borrowed(n, "filters", "float32", 4, dims, edges);
    xpuc_value seen = xpuc_conv(n, "edges", x, filters, (xpuc_value){0}, &around);
    xpuc_value strong = xpuc_unary(n, "strong edges", "relu", seen);
    return xpuc_flatten(n, "features", xpuc_average_pool(n, "averages", strong, &halves), 1);
}

static xpuc_value images(xpuc_network *n) {
    xpuc_dim dims[] = {XPUC_SYMBOL("N", 1, 64), XPUC_SIZE(1), XPUC_SIZE(HEIGHT), XPUC_SIZE(WIDTH)};
    return xpuc_input(n, "images", "float32", 4, dims);
}

/* The softmax of what the features have in common with each template, [N,DIGITS]. */
static void reader(xpuc_network *n, const float *templates) {
    float bias[DIGITS] = {0};
    for (int d = 0; d < DIGITS; d++) {
        for (int i = 0; i < FEATURES; i++) bias[d] -= templates[d * FEATURES + i] * templates[d * FEATURES + i] / 2;
    }
    xpuc_gemm_form form = XPUC_GEMM_INIT;
    form.transpose_b = 1;
    xpuc_value w = xpuc_constant(n, "templates", "float32", 2, (int64_t[]){DIGITS, FEATURES}, templates);
    xpuc_value b = xpuc_constant(n, "squares", "float32", 1, (int64_t[]){DIGITS}, bias);
    xpuc_value scores = xpuc_gemm(n, "scores", features(n, images(n)), w, b, &form);
    xpuc_output(n, xpuc_softmax(n, "probabilities", scores, -1), NULL);
}

/* ---- running ---- */

/* Ends the example where something went wrong. */
static void check(int status, const char *text) {
    if (!status) return;
    fputs(text ? text : "there is not enough memory\n", stderr);
    exit(status);
}

/* The network as a program, opened from memory. */
static xpurt_program *compile(xpuc_network *n, const char *chip) {
    xpuc_result compiled;
    xpuc_error error;
    xpurt_error open_error = {0};
    xpuc_options options = {.chip = chip, .precision = "fp32"};
    xpuc_network_compile(n, &options, &compiled, &error);
    check(error.status, error.text);
    printf("%s\n", compiled.summary);
    xpurt_program *program = xpurt_open_memory(compiled.bytes, compiled.size, "built in C", &open_error);
    check(open_error.status, open_error.text);
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
    xpuc_network_free(n);
    return program;
}

/* The program's only output for `count` images; the caller clears it. */
static xpurt_tensor run(xpurt_program *program, const float *pixels, int count, const xpurt_run_options *options) {
    xpurt_tensor in = {.dtype = "float32", .rank = 4, .dims = {count, 1, HEIGHT, WIDTH}, .data = (void *)pixels}, out;
    xpurt_error error;
    xpurt_run(program, &in, 1, &out, options, &error);
    check(error.status, error.text);
    return out;
}

/* Digit d in grey, smudged where `seed` is not 0. */
static void draw(float *pixels, int d, unsigned seed) {
    for (int i = 0; i < PIXELS; i++) {
        seed = seed * 1664525u + (seed != 0) * 1013904223u;
        float smudge = (float)(seed >> 16) / 65536.0f - (seed ? 0.5f : 0.0f);
        pixels[i] = (font[d][i] == '#' ? 1.0f : 0.0f) + 0.8f * smudge;
    }
}

static int best(const float *probabilities) {
    int most = 0;
    for (int d = 1; d < DIGITS; d++) {
        if (probabilities[d] > probabilities[most]) most = d;
    }
    return most;
}

static void show(const float *pixels, const int *read, int count) {
    for (int y = 0; y < HEIGHT; y++) {
        for (int i = 0; i < count; i++) {
            for (int x = 0; x < WIDTH; x++) {
                float grey = pixels[i * PIXELS + y * WIDTH + x];
                putchar(grey > 0.9f ? '#' : grey > 0.6f ? '+' : grey > 0.3f ? '.' : ' ');
            }
            printf(i + 1 < count ? "  " : "\n");
        }
    }
    for (int i = 0; i < count; i++) printf("%-8d", read[i]);
    putchar('\n');
}

/* Reads `count` smudged digits on the device; returns how many are right. */
static int read_digits(xpurt_program *program, int count, const xpurt_run_options *options, const char *device,
                       float *probabilities) {
    float *pixels = malloc((size_t)count * PIXELS * sizeof *pixels);
    int *read = malloc((size_t)count * sizeof *read), right = 0;
    if (!pixels || !read) check(4, NULL);
    for (int i = 0; i < count; i++) draw(&pixels[i * PIXELS], i % DIGITS, (unsigned)i + 1);
    xpurt_tensor out = run(program, pixels, count, options);
    memcpy(probabilities, out.data, (size_t)count * DIGITS * sizeof *probabilities);
    for (int i = 0; i < count; i++) {
        read[i] = best(&probabilities[i * DIGITS]);
        right += read[i] == i % DIGITS;
    }
    if (count <= DIGITS) show(pixels, read, count);
    printf("%s: %d of %d right\n", device, right, count);
    xpurt_tensor_clear(&out);
    free(pixels);
    free(read);
    return right;
}

int main(int argc, char **argv) {
    const char *chip = argc > 1 ? argv[1] : "standard";
    static float clean[DIGITS * PIXELS], on_func[64 * DIGITS], on_rtl[64 * DIGITS];
    xpuc_error error;
    xpuc_network *n = xpuc_network_new("features", &error);
    check(error.status, error.text);
    xpuc_output(n, features(n, images(n)), NULL);
    xpurt_program *program = compile(n, chip);
    for (int d = 0; d < DIGITS; d++) draw(&clean[d * PIXELS], d, 0);
    xpurt_tensor templates = run(program, clean, DIGITS, NULL);
    xpurt_close(program);

    n = xpuc_network_new("reader", &error);
    check(error.status, error.text);
    reader(n, templates.data);
    program = compile(n, chip);
    xpurt_tensor_clear(&templates);

    xpurt_run_options options = {.device = xpurt_func_driver()};
    int wrong = DIGITS - read_digits(program, DIGITS, &options, "func", on_func);
    wrong += 64 - read_digits(program, 64, &options, "func", on_func);
    xpurt_error missing;
    options.device = xpurt_rtl_load(chip, NULL, NULL, &missing);
    if (options.device) {
        wrong += 64 - read_digits(program, 64, &options, "rtl", on_rtl);
        int same = memcmp(on_func, on_rtl, sizeof on_rtl) == 0;
        printf("rtl = func: %s\n", same ? "yes" : "no");
        wrong += !same;
    } else {
        printf("no Verilated chip: %s", missing.text);
    }
    xpurt_error_clear(&missing);
    xpurt_close(program);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
