/*
 * Random networks of images that are joined along channels: dense blocks, where each concat begins with the one before,
 * branches that meet, parts that others read too, shuffled channels that are split, in float32, int16, int16x8 and as
 * bytes. On func every layer is ref's bit for bit and nothing races.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/gen/devices.h"
#include "tests/unit/ir.h"
#include "tests/unit/unit.h"
#include "xpuc/include/xpuc_build.h"

enum { MOST_IMAGES = 24, MOST_CHANNELS = 200, SEEDS = 24 };

typedef struct {
    xpuc_value value;
    int64_t channels;
} image;

typedef struct {
    random_source *random;
    xpuc_network *net;
    int64_t batch, height, width;
    int is_bytes; /* convolutions and pools between bytes of one scale */
    image images[MOST_IMAGES];
    int count;
} drawing;

static xpuc_value floats(drawing *d, int rank, const int64_t *dims, float scale) {
    int64_t count = 1;
    for (int i = 0; i < rank; i++) count *= dims[i];
    float *data = malloc((size_t)count * sizeof *data);
    if (!data) exit(EXIT_FAILURE);
    for (int64_t i = 0; i < count; i++) data[i] = scale * random_float(d->random);
    xpuc_value value = xpuc_constant(d->net, NULL, "float32", rank, dims, data);
    free(data);
    return value;
}

/* The value as bytes of the scale that all images have, and back. */
static xpuc_value rounded(drawing *d, xpuc_value x) {
    if (!d->is_bytes) return x;
    const xpuc_value scale = xpuc_scalar(d->net, 0.0625f), zero = xpuc_constant(d->net, NULL, "int8", 0, NULL, "\3");
    return xpuc_dequantize(d->net, NULL, xpuc_quantize(d->net, NULL, x, scale, zero, 0, NULL), scale, zero, 0);
}

static xpuc_value weights(drawing *d, const int64_t *dims) {
    const float scale = 1 / (float)(dims[1] * dims[2]);
    if (!d->is_bytes) return floats(d, 4, dims, scale);
    const int64_t count = dims[0] * dims[1] * dims[2] * dims[3];
    int8_t *data = malloc((size_t)count);
    if (!data) exit(EXIT_FAILURE);
    for (int64_t i = 0; i < count; i++) data[i] = (int8_t)random_range(d->random, -127, 127);
    const xpuc_value bytes = xpuc_constant(d->net, NULL, "int8", 4, dims, data);
    free(data);
    return xpuc_dequantize(d->net, NULL, bytes, xpuc_scalar(d->net, scale / 64),
                           xpuc_constant(d->net, NULL, "int8", 0, NULL, "\0"), 0);
}

static image convolved(drawing *d, image x) {
    const int depthwise = random_range(d->random, 0, 4) == 0 && x.channels > 1;
    const int64_t kernel = random_range(d->random, 0, 1) ? 3 : 1;
    const int64_t out = depthwise                       ? x.channels
                        : random_range(d->random, 0, 2) ? 4 * random_range(d->random, 1, 12)
                                                        : random_range(d->random, 1, 40);
    xpuc_window window = {.size = sizeof window, .group = depthwise ? x.channels : 1};
    for (int i = 0; i < 2; i++) window.pads_begin[i] = window.pads_end[i] = kernel / 2;
    const int64_t dims[] = {out, depthwise ? 1 : x.channels, kernel, kernel};
    xpuc_value y = xpuc_conv(d->net, NULL, x.value, weights(d, dims), (xpuc_value){0}, &window);
    if (random_range(d->random, 0, 1)) y = xpuc_unary(d->net, NULL, "relu", y);
    return (image){rounded(d, y), out};
}

static image pooled(drawing *d, image x) {
    const xpuc_window window = {
        .size = sizeof window, .kernel_shape = {3, 3}, .pads_begin = {1, 1}, .pads_end = {1, 1}};
    const int is_max = d->is_bytes || random_range(d->random, 0, 1);
    const xpuc_value y =
        is_max ? xpuc_max_pool(d->net, NULL, x.value, &window) : xpuc_average_pool(d->net, NULL, x.value, &window);
    return (image){rounded(d, y), x.channels};
}

static image normed(drawing *d, image x) {
    const int64_t dims[] = {1, x.channels, 1, 1};
    xpuc_value y = xpuc_binary(d->net, NULL, "mul", x.value, floats(d, 4, dims, 1));
    y = xpuc_unary(d->net, NULL, random_range(d->random, 0, 1) ? "relu" : "sigmoid", y);
    return (image){rounded(d, y), x.channels};
}

/* Mostly begins with the image before, which mostly is such a concat or a convolution of it. */
static image joined(drawing *d) {
    const int count = (int)random_range(d->random, 2, 4);
    image y = {{0}, 0};
    xpuc_value operands[4];
    int used = 0;
    for (int i = 0; i < count; i++) {
        const int from =
            i == 0 && random_range(d->random, 0, 2) ? d->count - 1 : (int)random_range(d->random, 0, d->count - 1);
        if (y.channels + d->images[from].channels > MOST_CHANNELS) continue;
        operands[used++] = d->images[from].value;
        y.channels += d->images[from].channels;
    }
    if (used == 0) return d->images[d->count - 1];
    y.value = rounded(d, xpuc_concat(d->net, NULL, operands, (uint32_t)used, 1));
    return y;
}

/* Channels of `groups` groups in turns. */
static xpuc_value shuffled(drawing *d, image x, int64_t groups) {
    static const int64_t perm[] = {0, 2, 1, 3, 4};
    const int64_t split[] = {d->batch, groups, x.channels / groups, d->height, d->width};
    const int64_t joined[] = {d->batch, x.channels, d->height, d->width};
    const xpuc_value y = xpuc_transpose(d->net, NULL, xpuc_reshape(d->net, NULL, x.value, 5, split), 5, perm);
    return xpuc_reshape(d->net, NULL, y, 4, joined);
}

/* Two images: the channels of one, mostly shuffled, and mostly cut where each part has as many of each group. */
static void cut(drawing *d, image x) {
    const int64_t groups = x.channels % 3 == 0 ? 3 : x.channels % 2 == 0 ? 2 : 1;
    if (groups > 1 && random_range(d->random, 0, 3)) x.value = shuffled(d, x, groups);
    int64_t first = random_range(d->random, 1, x.channels - 1);
    if (first > groups && random_range(d->random, 0, 3)) first -= first % groups;
    xpuc_value parts[2];
    xpuc_split(d->net, NULL, x.value, 1, 2, (const int64_t[]){first, x.channels - first}, parts);
    d->images[d->count++] = (image){rounded(d, parts[0]), first};
    d->images[d->count] = (image){rounded(d, parts[1]), x.channels - first};
}

static void draw_network(drawing *d) {
    const int steps = (int)random_range(d->random, 4, MOST_IMAGES - 2);
    d->batch = random_range(d->random, 1, 2), d->height = random_range(d->random, 2, 9);
    d->width = random_range(d->random, 2, 9);
    const xpuc_dim dims[] = {XPUC_SIZE(d->batch), XPUC_SIZE(3), XPUC_SIZE(d->height), XPUC_SIZE(d->width)};
    d->images[d->count++] = (image){rounded(d, xpuc_input(d->net, "x", "float32", 4, dims)), 3};
    for (int i = 0; i < steps && d->count < MOST_IMAGES - 1; i++) {
        const image x = d->images[random_range(d->random, d->count > 4 ? d->count - 4 : 0, d->count - 1)];
        const int kind = (int)random_range(d->random, 0, 11);
        if (kind > 9 && x.channels > 1)
            cut(d, x);
        else
            d->images[d->count] = kind < 4   ? convolved(d, x)
                                  : kind < 5 ? pooled(d, x)
                                  : kind < 6 ? normed(d, x)
                                             : joined(d);
        d->count++;
    }
    const image y = convolved(d, d->images[d->count - 1]);
    xpuc_output(d->net, y.value, NULL);
    if (random_range(d->random, 0, 3) == 0) xpuc_output(d->net, d->images[d->count / 2].value, "other");
}

static int run_precision(drawing *d, const char *chip, const char *precision) {
    xpu_device_check check = {0};
    const xpuc_options options = {.chip = chip, .precision = precision};
    xpuc_result result = {0};
    xpuc_error error = {0};
    xpurt_error opening = {0};
    xpurt_tensor outputs[2] = {{0}};
    float data[2 * 3 * 9 * 9];
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) data[i] = random_float(d->random);
    const xpurt_tensor input = {"x", "float32", 4, {d->batch, 3, d->height, d->width}, data};
    int good = xpuc_network_compile(d->net, &options, &result, &error) == 0;
    if (!good) printf("%s\n", error.text ? error.text : "does not compile");
    if (good) check.program = xpurt_open_memory(result.bytes, result.size, "joined.xpu", &opening);
    good = good && check.program && xpu_device_check_layers(&check, &input, 1, outputs);
    if (check.message[0]) printf("%s, %s: %s\n", chip, precision, check.message);
    for (int i = 0; i < 2; i++) xpurt_tensor_clear(&outputs[i]);
    xpu_device_check_close(&check);
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
    xpurt_error_clear(&opening);
    return good;
}

static int run_seed(uint64_t seed) {
    static const char *const precisions[] = {"fp32", "int16", "int16x8"};
    static const char *const chips[] = {"nano", "standard", "small-l3"};
    random_source random = {seed};
    drawing d = {.random = &random, .net = xpuc_network_new("joined", NULL), .is_bytes = seed % 4 == 0};
    int good = d.net != NULL;
    if (good) draw_network(&d);
    for (int i = 0; i < (d.is_bytes ? 1 : 3) && good; i++)
        good = run_precision(&d, chips[seed / 4 % 3], d.is_bytes ? "auto" : precisions[i]);
    xpuc_network_free(d.net);
    if (!good) printf("seed %llu\n", (unsigned long long)seed);
    return good;
}

static void seeds(void) {
    const char *one = getenv("XPU_RANDOM_SEED"), *many = getenv("XPU_RANDOM_SEEDS");
    const uint64_t first = one ? strtoull(one, NULL, 10) : 1, count = one ? 1 : many ? strtoull(many, NULL, 10) : SEEDS;
    for (uint64_t seed = first; seed < first + count; seed++) CU_ASSERT(run_seed(seed));
}

XPU_TEST_MAIN("random concats on func", {"seeds 1 to 24", seeds})
