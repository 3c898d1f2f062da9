/*
 * Host time per simulated cycle of three programs on the Verilated standard chip, beside the bare array's in the same
 * run; results are compared with plain formulas.
 *     bench-sim FOLDER LIBRARY|func [JSON [PROGRAM]]
 * FOLDER has resnet.elf, exp.elf and scalar.elf. Then whole networks (network.h; PROGRAM is resnet50 or
 * mobilenet), where XPU_SHARED, or ../shared, has them. Exit status 1: a wrong result, or a limit is broken.
 */
#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "core/arith.h"
#include "core/chip.h"
#include "sim/func/driver.h"
#include "tests/rtl/bare/bare.h"
#include "tests/rtl/bench/bench.h"
#include "tests/rtl/bench/network.h"
#include "xpu_runtime/include/xpurt_rtl.h"

enum { ROUNDS = 5, BARE_CYCLES = 100000 };

typedef struct {
    const xpurt_device_driver *driver;
    xpurt_rtl_configure_fn *configure; /* NULL: a device without time */
    const xpu_chip *chip;
    const char *folder;
    xpu_diags *diags;
    uint32_t random;
    uint8_t *inputs;   /* of resnet, in L3 */
    uint8_t *expected; /* the same after the run */
} bench;

static uint32_t draw(bench *b) {
    b->random = b->random * 1664525u + 1013904223u;
    return b->random >> 8;
}

/* ---- Operands and results ---- */

static const resnet_layer layers[RESNET_LAYERS] = {RESNET_TABLE};
enum { RESNET_BYTES = RESNET_SMALL + RESNET_LAYERS * RESNET_SMALL_STRIDE - RESNET_INPUT };

/* In the expected L3, which has the operands too. */
static void *l3(const bench *b, uint32_t address) {
    return b->expected + (address - RESNET_INPUT);
}

static void resnet_inputs(bench *b) {
    int8_t *input = l3(b, RESNET_INPUT);
    for (uint32_t i = 0; i < RESNET_PIXELS * layers[0].channels; i++)
        input[i] = (int8_t)(draw(b) % 100 < 50 ? 0 : draw(b) & 127);
    for (uint32_t index = 0; index < RESNET_LAYERS; index++) {
        const resnet_layer *l = &layers[index];
        uint32_t depth = l->kernel * l->kernel * l->channels, small = RESNET_SMALL + index * RESNET_SMALL_STRIDE;
        int8_t *weights = l3(b, l->weights);
        float *parameters = l3(b, small), *scale = l3(b, small + RESNET_SCALE);
        int32_t *integers = l3(b, small), *bias = l3(b, small + RESNET_BIAS);
        for (uint32_t i = 0; i < depth * l->out; i++) weights[i] = (int8_t)(draw(b) % 255 - 127);
        for (uint32_t i = 0; i < l->out; i++) {
            scale[i] = (0.5f + (float)(draw(b) % 1000) * 1e-3f) * 0.02f / sqrtf((float)depth);
            bias[i] = (int32_t)(draw(b) % 20001) - 10000;
        }
        integers[0] = l->residual ? -128 : 0, integers[1] = 127;           /* lo, hi */
        parameters[3] = 0.75f, parameters[4] = 0.6f, parameters[5] = 0.0f; /* ra, rb, f */
        integers[7] = 0, integers[8] = 127, parameters[11] = 1.0f;         /* lo2, hi2, x_scale */
    }
}

static int32_t round_clamp(float v, int32_t low, int32_t high) {
    float r = rintf(v);
    return r<(float)low ? low : r>(float) high ? high : (int32_t)r;
}

/* Channels of one tile of output channels at one pixel. */
static void resnet_pixel(const bench *b, const resnet_layer *l, uint32_t index, int32_t oy, int32_t ox, uint32_t tile) {
    uint32_t small = RESNET_SMALL + index * RESNET_SMALL_STRIDE, first = tile * RESNET_COLUMNS;
    const int8_t *x = l3(b, l->input), *residual = l3(b, RESNET_INPUT);
    const int8_t *w = (const int8_t *)l3(b, l->weights) + (size_t)first * l->kernel * l->kernel * l->channels;
    const float *p = l3(b, small), *scale = l3(b, small + RESNET_SCALE);
    const int32_t *q = l3(b, small), *bias = l3(b, small + RESNET_BIAS);
    int8_t *y = l3(b, l->output);
    int32_t sum[RESNET_COLUMNS], kernel = (int32_t)l->kernel;
    for (uint32_t n = 0; n < RESNET_COLUMNS; n++) sum[n] = bias[first + n];
    for (int32_t ky = 0; ky < kernel; ky++)
        for (int32_t kx = 0; kx < kernel; kx++) {
            int32_t iy = oy + ky - kernel / 2, ix = ox + kx - kernel / 2;
            if (iy < 0 || ix < 0 || iy >= RESNET_EXTENT || ix >= RESNET_EXTENT) continue;
            const int8_t *from = x + (size_t)(iy * RESNET_EXTENT + ix) * l->channels;
            const int8_t *rows = w + (size_t)(ky * kernel + kx) * l->channels * RESNET_COLUMNS;
            for (uint32_t c = 0; c < l->channels; c++)
                for (uint32_t n = 0; n < RESNET_COLUMNS; n++) sum[n] += from[c] * rows[c * RESNET_COLUMNS + n];
        }
    for (uint32_t n = 0; n < RESNET_COLUMNS; n++) {
        size_t at = (size_t)(oy * RESNET_EXTENT + ox) * l->out + first + n;
        int32_t v = round_clamp((float)sum[n] * scale[first + n], q[0], q[1]);
        if (l->residual) v = round_clamp(fmaf((float)v, p[3], fmaf(residual[at], p[4], p[5])), q[7], q[8]);
        y[at] = (int8_t)v;
    }
}

static int write_resnet(bench *b, xpurt_device *device) {
    return b->driver->write(device, RESNET_INPUT, b->inputs, RESNET_BYTES);
}

/* 1 when all three outputs are right. */
static int check_resnet(bench *b, xpurt_device *device) {
    static int8_t got[RESNET_PIXELS * 1024];
    for (uint32_t index = 0; index < RESNET_LAYERS; index++) {
        const resnet_layer *l = &layers[index];
        size_t bytes = (size_t)RESNET_PIXELS * l->out;
        if (b->driver->read(device, l->output, got, bytes)) return 0;
        const int8_t *expected = l3(b, l->output);
        uint32_t some = 0;
        for (size_t i = 0; i < bytes; i++) {
            some += expected[i] != 0 && expected[i] != 127;
            if (got[i] == expected[i]) continue;
            printf("resnet: layer %" PRIu32 ", pixel %zu, channel %zu: %d, expected %d\n", index, i / l->out,
                   i % l->out, got[i], expected[i]);
            return 0;
        }
        if (some < bytes / 4) printf("resnet: layer %" PRIu32 " has few different values\n", index);
    }
    return 1;
}

static float exp_input(uint32_t core, uint32_t i) {
    return ((float)((core * 7919 + i * 104729) % 20011) - 10000.0f) * 1e-2f;
}

static int write_exp(bench *b, xpurt_device *device) {
    static float x[EXP_FLOATS];
    for (uint32_t core = 0; core < b->chip->cores; core++) {
        for (uint32_t i = 0; i < EXP_FLOATS; i++) x[i] = exp_input(core, i);
        if (b->driver->write(device, 0x11000000 + 0x100000 * core, x, sizeof x)) return -1;
    }
    return 0;
}

static int check_exp(bench *b, xpurt_device *device) {
    static float x[EXP_FLOATS];
    for (uint32_t core = 0; core < b->chip->cores; core++) {
        if (b->driver->read(device, 0x11000000 + 0x100000 * core, x, sizeof x)) return 0;
        for (uint32_t i = 0; i < EXP_FLOATS; i++)
            if (xa_bits(x[i]) != xa_bits(xa_exp(exp_input(core, i)))) {
                printf("exp: core %" PRIu32 ", element %" PRIu32 ": %a\n", core, i, (double)x[i]);
                return 0;
            }
    }
    return 1;
}

static int check_scalar(bench *b, xpurt_device *device) {
    static uint32_t words[SCALAR_WORDS];
    uint32_t got = 0, expected = scalar_work(words);
    if (b->driver->read(device, SCALAR_RESULT, &got, sizeof got) == 0 && got == expected) return 1;
    printf("scalar: 0x%" PRIx32 ", expected 0x%" PRIx32 "\n", got, expected);
    return 0;
}

/* ---- Runs ---- */

typedef struct {
    const char *name, *about;
    int (*write)(bench *b, xpurt_device *device);
    int (*check)(bench *b, xpurt_device *device);
    double limit; /* of the ratio to the bare array */
} program;

static const program programs[] = {
    {"resnet", "layer3.1, int8, operands in L3", write_resnet, check_resnet, 6.0},
    {"exp", "exp of 32 KiB in each LM", write_exp, check_exp, 12.0},
    {"scalar", "integer code on one core", NULL, check_scalar, 1.5},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };
static const double busy_limit = 0.85;

static int load_elf(const bench *b, xpurt_device *device, const char *name, uint32_t *entry) {
    static uint8_t bytes[1 << 20];
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.elf", b->folder, name);
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file) fclose(file);
    const Elf32_Ehdr *header = (const void *)bytes;
    if (size < sizeof *header || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
        printf("%s is no program\n", path);
        return -1;
    }
    for (unsigned i = 0; i < header->e_phnum; i++) {
        const Elf32_Phdr *p = (const void *)(bytes + header->e_phoff + i * sizeof *p);
        if (p->p_type != PT_LOAD || p->p_filesz == 0) continue;
        if (b->driver->write(device, p->p_paddr, bytes + p->p_offset, p->p_filesz)) return -1;
    }
    *entry = header->e_entry;
    return 0;
}

typedef struct {
    double ns;
    xpurt_counters counters;
    int good;
} outcome;

static outcome run_once(bench *b, const program *p, int no_skip) {
    outcome out = {0};
    uint32_t entry;
    xpurt_event event;
    if (b->configure) b->configure(&(xpurt_rtl_options){.no_skip = no_skip});
    xpurt_device *device = b->driver->create(b->chip, b->diags);
    if (!device) return out;
    if (load_elf(b, device, p->name, &entry) == 0 && (!p->write || p->write(b, device) == 0) &&
        b->driver->start(device, entry) == 0) {
        double start = bare_now();
        int status = b->driver->run(device, 0, &event);
        out.ns = bare_now() - start;
        if (status == 0 && event.kind == XPURT_EVENT_ENDED && event.status == 0)
            out.good = p->check(b, device);
        else if (status == 0 && event.kind == XPURT_EVENT_FAULT)
            printf("%s: %s: %s\n%s\n", p->name, event.fault->cause_text, event.fault->reason, event.fault->state);
        else
            printf("%s: ended with status %" PRIu32 "\n", p->name, event.status);
        b->driver->counters(device, &out.counters);
    }
    b->driver->destroy(device);
    return out;
}

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* 1 when every unit was in exactly one state in each cycle. */
static int states_sum_up(const bench *b, const program *p, const xpurt_counters *c) {
    for (unsigned unit = 0; unit < b->chip->cores + xpu_chip_engines(b->chip); unit++) {
        const uint64_t *states = unit < b->chip->cores ? c->core_states[unit] : c->engine_states[unit - b->chip->cores];
        uint64_t sum = 0;
        for (unsigned s = 0; s < XPURT_STATES; s++) sum += states[s];
        if (sum == c->cycles) continue;
        printf("%s: states of unit %u are %" PRIu64 " of %" PRIu64 " cycles\n", p->name, unit, sum, c->cycles);
        return 0;
    }
    return 1;
}

/* One program, ROUNDS times between runs of the bare array, once more without skipping. Returns 0 when all is well. */
static int measure(bench *b, const program *p, json_t *json) {
    double ratio[ROUNDS], ns[ROUNDS], bare[ROUNDS], before = bare_ns_per_cycle(BARE_CYCLES);
    outcome out = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        out = run_once(b, p, 0);
        if (!out.good) return 1;
        double after = bare_ns_per_cycle(BARE_CYCLES), edges = (double)out.counters.edges;
        bare[round] = (before + after) / 2, ns[round] = out.ns / edges, ratio[round] = ns[round] / bare[round];
        before = after;
    }
    qsort(ratio, ROUNDS, sizeof *ratio, compare_numbers);
    qsort(ns, ROUNDS, sizeof *ns, compare_numbers);
    qsort(bare, ROUNDS, sizeof *bare, compare_numbers);
    outcome plain = run_once(b, p, 1);
    const xpurt_counters *c = &out.counters;
    double busy = (double)c->engine_states[2][XPU_LOST_BUSY] / (double)c->cycles, r = ratio[ROUNDS / 2];
    int is_tensor = c->descriptors[2] != 0, equal = plain.good && plain.counters.cycles == c->cycles;
    int good = r <= p->limit && equal && states_sum_up(b, p, c) && (!is_tensor || busy >= busy_limit);
    printf("%-8s %9" PRIu64 " cycles, %8" PRIu64
           " skipped, %6.0f ns per cycle simulated, %5.2f times the bare array (limit %g)",
           p->name, c->cycles, c->cycles - c->edges, ns[ROUNDS / 2], r, p->limit);
    if (is_tensor) printf(", tensor engine busy %.1f %% (limit %.0f %%)", 100.0 * busy, 100.0 * busy_limit);
    if (!equal) printf(", %" PRIu64 " cycles without skipping", plain.counters.cycles);
    printf("%s\n", good ? "" : "  BROKEN");
    if (is_tensor) {
        printf("         tensor engine:");
        for (unsigned s = 0; s < XPURT_STATES; s++)
            if (c->engine_states[2][s])
                printf(" %s %" PRIu64, xpu_lost_text((xpu_lost_cause)s), c->engine_states[2][s]);
        printf("\n");
    }
    json_t *row = json_object();
    json_object_set_new(row, "program", json_string(p->name));
    json_object_set_new(row, "about", json_string(p->about));
    json_object_set_new(row, "cycles", json_integer((json_int_t)c->cycles));
    json_object_set_new(row, "cycles_without_skipping", json_integer((json_int_t)plain.counters.cycles));
    json_object_set_new(row, "skipped", json_integer((json_int_t)(c->cycles - c->edges)));
    json_object_set_new(row, "ns_per_cycle", json_real(ns[ROUNDS / 2]));
    json_object_set_new(row, "bare_ns_per_cycle", json_real(bare[ROUNDS / 2]));
    json_object_set_new(row, "ratio", json_real(r));
    json_object_set_new(row, "limit", json_real(p->limit));
    if (is_tensor) json_object_set_new(row, "tensor_busy", json_real(busy));
    json_object_set_new(row, "good", json_boolean(good));
    json_array_append_new(json, row);
    return !good;
}

/* Results only, on a device without time. */
static int check_only(bench *b, const program *p) {
    outcome out = run_once(b, p, 0);
    uint64_t instructions = 0;
    for (unsigned i = 0; i < XPURT_MAX_CORES; i++) instructions += out.counters.instructions[i];
    printf("%-8s %s, %" PRIu64 " instructions, %" PRIu64 " MACs\n", p->name, out.good ? "right" : "WRONG", instructions,
           out.counters.macs);
    return !out.good;
}

static int open_device(bench *b, const char *library) {
    b->driver = &xpu_func_driver;
    if (strcmp(library, "func") == 0) return 0;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        printf("%s\n", dlerror());
        return -1;
    }
    xpurt_rtl_driver_fn *driver;
    *(void **)&driver = dlsym(handle, XPURT_RTL_DRIVER);
    *(void **)&b->configure = dlsym(handle, XPURT_RTL_CONFIGURE);
    if (!driver || !b->configure) return -1;
    b->driver = driver();
    return 0;
}

int main(int argc, char **argv) {
    xpu_diags diags;
    xpu_chip chip;
    int broken = 0;
    xpu_mem mem;
    xpu_mem_init(&mem);
    xpu_arena *arena = xpu_arena_new(&mem, "bench-sim");
    xpu_diags_init(&diags);
    if (argc < 3) return 2;
    bench b = {.chip = &chip, .folder = argv[1], .diags = &diags, .random = 1};
    if (xpu_chip_load(arena, "configs/chip", "standard", &chip, &diags) != XPU_OK || open_device(&b, argv[2])) return 1;
    b.inputs = malloc(RESNET_BYTES), b.expected = calloc(1, RESNET_BYTES);
    if (!b.inputs || !b.expected) return 1;
    resnet_inputs(&b);
    memcpy(b.inputs, b.expected, RESNET_BYTES);
    int whole = argc <= 4 || strcmp(argv[4], "resnet") == 0;
    for (uint32_t index = 0; whole && index < RESNET_LAYERS; index++)
        for (int32_t at = 0; at < RESNET_PIXELS; at++)
            for (uint32_t tile = 0; tile < layers[index].out / RESNET_COLUMNS; tile++)
                resnet_pixel(&b, &layers[index], index, at / RESNET_EXTENT, at % RESNET_EXTENT, tile);
    json_t *json = json_array();
    for (unsigned i = 0; i < PROGRAMS; i++) {
        if (argc > 4 && strcmp(argv[4], programs[i].name) != 0) continue;
        broken |= b.configure ? measure(&b, &programs[i], json) : check_only(&b, &programs[i]);
    }
    const char *shared = getenv("XPU_SHARED");
    if (b.configure) {
        b.configure(&(xpurt_rtl_options){0});
        broken |=
            bench_network(b.driver, argc > 4 ? argv[4] : NULL, shared ? shared : "../shared", json, arena, &diags);
    }
    if (argc > 3 && json_dump_file(json, argv[3], JSON_INDENT(2))) printf("cannot write %s\n", argv[3]);
    json_decref(json);
    free(b.expected);
    free(b.inputs);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
    return broken;
}
