/*
 * Archives of inputs that unpack to far more than their size: entries of zeros under names that the model has or has
 * not, with headers that are right, or of other types, ranks and sizes. They are given to a program as xpu-run does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/zip.h"
#include "tests/fuzz/hostile.h"
#include "tools/common/inputs.h"

enum { BLOCK = 4 << 20, MOST_BLOCKS = 256 };

static xpurt_program *program;
static hostile_file zeros; /* a deflated block of zeros, which ends at a byte */
static uint32_t zeros_crc;

static void load_inputs(void) {
    static const uint8_t block[BLOCK];
    static uint8_t packed[BLOCK / 64];
    hostile_file compiled = {NULL, 0, 0};
    xpurt_error error = {0, NULL};
    z_stream z = {
        .next_in = (Bytef *)(uintptr_t)block, .avail_in = BLOCK, .next_out = packed, .avail_out = sizeof packed};
    if (deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK) abort();
    deflate(&z, Z_FULL_FLUSH);
    hostile_set(&zeros, packed, z.total_out);
    deflateEnd(&z);
    zeros_crc = xpu_crc32(0, block, BLOCK);
    hostile_compile(&compiled, "tests/models/mnist-8.onnx", "nano", "fp32", "Input3=1,1,H=14..60,W=14..60");
    program = xpurt_open_memory(compiled.data, compiled.size, "seed.xpu", &error);
    if (!program) abort();
    hostile_clear(&compiled);
}

/* ---- making ---- */

static void put(hostile_file *file, uint64_t value, size_t bytes) {
    hostile_add(file, &value, bytes);
}

typedef struct {
    char name[32];
    uint32_t crc, packed, size, header;
} entry;

/* A header of a .npy file and `blocks` blocks of zeros behind it. */
static void make_contents(hostile_random *random, hostile_file *packed, entry *e, uint32_t blocks) {
    static const char *const types[] = {"<f4", "<f4", "<f4", "<f8", "|b1", ">i2"};
    char shape[64], header[136], text[120];
    uint64_t bytes = (uint64_t)blocks * BLOCK;
    const char *type = types[hostile_below(random, 6)];
    uint64_t elements = bytes / (uint64_t)(type[2] - '0');
    switch (hostile_chance(random, 95) ? hostile_below(random, 3) : 3) {
    case 0: snprintf(shape, sizeof shape, "(%llu,)", (unsigned long long)elements); break;
    case 1: snprintf(shape, sizeof shape, "(%llu, 1, 2, 2)", (unsigned long long)elements / 4); break;
    case 2: snprintf(shape, sizeof shape, "(1, 1, %llu, 1)", (unsigned long long)elements); break;
    default: snprintf(shape, sizeof shape, "(1, 1, %u, 28)", hostile_below(random, 60)); /* not what follows */
    }
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    int length = snprintf(header, sizeof header, "\x93NUMPY\x01%c\x76%c%-117.117s\n", 0, 0, text);
    uint8_t stored[5] = {0, (uint8_t)length, 0, (uint8_t)~length, 0xff};
    hostile_add(packed, stored, sizeof stored);
    hostile_add(packed, header, (size_t)length);
    e->crc = xpu_crc32(0, header, (size_t)length);
    for (uint32_t i = 0; i < blocks; i++) {
        hostile_add(packed, zeros.data, zeros.size);
        e->crc = (uint32_t)crc32_combine(e->crc, zeros_crc, BLOCK);
    }
    hostile_add(packed, "\x03\x00", 2);
    e->size = (uint32_t)(bytes + (uint64_t)length);
    e->packed = (uint32_t)packed->size;
}

static void make_inputs(hostile_random *random, hostile_file *file) {
    static const char *const names[] = {"Input3", "Input3", "x", "Plus214_Output_0", "a\033[31mb\177", ""};
    entry entries[8];
    uint32_t count = 1 + hostile_below(random, 8), first = hostile_below(random, count);
    file->size = 0;
    for (uint32_t i = 0; i < count; i++) {
        entry *e = &entries[i];
        hostile_file packed = {NULL, 0, 0};
        uint32_t blocks = hostile_chance(random, 90) ? hostile_below(random, 8) : hostile_below(random, MOST_BLOCKS);
        snprintf(e->name, sizeof e->name, "%s%.*s.npy", names[hostile_below(random, 6)], (int)((i + first) % count),
                 "aaaaaaaa");
        make_contents(random, &packed, e, blocks);
        e->header = (uint32_t)file->size;
        const uint64_t fields[][2] = {
            {0x04034b50, 4},      {20, 2}, {0, 2}, {8, 2}, {0, 4}, {e->crc, 4}, {e->packed, 4}, {e->size, 4},
            {strlen(e->name), 2}, {0, 2}};
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) put(file, fields[k][0], fields[k][1]);
        hostile_add_text(file, e->name);
        hostile_add(file, packed.data, packed.size);
        hostile_clear(&packed);
    }
    size_t start = file->size;
    for (uint32_t i = 0; i < count; i++) {
        const entry *e = &entries[i];
        const uint64_t fields[][2] = {
            {0x02014b50, 4},      {20, 2}, {20, 2}, {0, 2}, {8, 2}, {0, 4}, {e->crc, 4},   {e->packed, 4}, {e->size, 4},
            {strlen(e->name), 2}, {0, 2},  {0, 2},  {0, 2}, {0, 2}, {0, 4}, {e->header, 4}};
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) put(file, fields[k][0], fields[k][1]);
        hostile_add_text(file, e->name);
    }
    const uint64_t end[][2] = {{0x06054b50, 4},         {0, 2},     {0, 2}, {count, 2}, {count, 2},
                               {file->size - start, 4}, {start, 4}, {0, 2}};
    for (size_t k = 0; k < sizeof end / sizeof *end; k++) put(file, end[k][0], end[k][1]);
    if (hostile_chance(random, 10)) hostile_damage(random, file);
}

/* ---- feeding ---- */

static xpu_status give_inputs(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    xpu_inputs inputs = {0};
    xpurt_error error = {0, NULL};
    const char *path = hostile_save(file, ".npz");
    if (hostile_chance(random, 50)) path = xpu_printf(arena, "Input3=%s", path);
    xpu_status status = xpu_inputs_add(&inputs, program, path, arena, diags);
    if (status != XPU_OK) return status;
    status = (xpu_status)xpurt_check_inputs(program, inputs.items, inputs.count, &error);
    if (status != XPU_OK) xpu_error(diags, status, path, "inputs", NULL, "they do not fit", error.text, NULL);
    xpurt_error_clear(&error);
    return status == XPU_OK ? xpu_inputs_load(&inputs, arena, diags) : status;
}

static void feed_inputs(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_guard(result, "inputs of a program", give_inputs, random, file);
}

const hostile_kind hostile_inputs = {"inputs", ".npz", load_inputs, make_inputs, feed_inputs};
