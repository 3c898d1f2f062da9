/* .npy and .npz files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/npy.h"
#include "tests/fuzz/hostile.h"

static hostile_file image, archives[3];

static void load_npy(void) {
    hostile_load(&image, "tests/models/9.npy");
}

static void load_npz(void) {
    load_npy();
    hostile_load(&archives[0], "tests/models/mnist8_expected.npz");
    hostile_load(&archives[1], "tests/golden/random_cnn/2.npz");
    hostile_load(&archives[2], "tests/golden/random_cnn/28.npz");
}

/* ---- making ---- */

static void add_shape(hostile_random *random, hostile_file *header) {
    char text[32];
    uint32_t rank = hostile_below(random, hostile_chance(random, 90) ? 5 : 300);
    hostile_add_text(header, "(");
    for (uint32_t i = 0; i < rank; i++) {
        long long dim =
            hostile_chance(random, 80) ? (long long)hostile_below(random, 6) : (long long)hostile_number(random);
        snprintf(text, sizeof text, "%lld,%s", dim, i + 1 < rank ? " " : "");
        hostile_add_text(header, text);
    }
    hostile_add_text(header, ")");
}

/* A header by NumPy's rules, with values that are often wrong. */
static void make_header(hostile_random *random, hostile_file *file) {
    static const char *const types[] = {"'<f4'", "'<f8'",           "'<i8'", "'|b1'",          "'|u1'",  "'<i2'",
                                        "'>f4'", "'<f2'",           "'|O'",  "[('a', '<f4')]", "'<U10'", "''",
                                        "'<f4",  "'<f99999999999'", "4"};
    static const char *const orders[] = {"False", "True", "Maybe", "0"};
    hostile_file header = {NULL, 0, 0};
    hostile_add_text(&header, "{'descr': ");
    hostile_add_text(&header,
                     types[hostile_below(random, hostile_chance(random, 70) ? 6 : sizeof types / sizeof *types)]);
    hostile_add_text(&header, ", 'fortran_order': ");
    hostile_add_text(&header, orders[hostile_below(random, hostile_chance(random, 90) ? 2 : 4)]);
    hostile_add_text(&header, ", 'shape': ");
    add_shape(random, &header);
    hostile_add_text(&header, hostile_chance(random, 95) ? ", }" : ", 'descr': '<f4', 'x': ((((((1,),),),),),)}");
    while (header.size % 64 != 53) hostile_add_text(&header, " ");
    hostile_add_text(&header, "\n");
    if (hostile_chance(random, 15)) hostile_damage(random, &header);
    uint8_t version = hostile_chance(random, 90) ? 1 : (uint8_t)hostile_below(random, 5);
    uint8_t start[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', version, 0, (uint8_t)header.size, (uint8_t)(header.size >> 8)};
    hostile_set(file, start, version >= 2 ? 12 : 10);
    hostile_add(file, header.data, header.size);
    uint32_t data = hostile_below(random, 3000);
    for (uint32_t i = 0; i < data; i++) hostile_add(file, &(uint8_t){(uint8_t)hostile_draw(random)}, 1);
    hostile_clear(&header);
}

static void make_npy(hostile_random *random, hostile_file *file) {
    if (hostile_chance(random, 60)) {
        make_header(random, file);
        return;
    }
    hostile_set(file, image.data, image.size);
    hostile_damage(random, file);
}

static void put(hostile_file *file, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) hostile_add(file, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}

/* A field of a ZIP header: mostly right. */
static void put_field(hostile_random *random, hostile_file *file, uint64_t value, int bytes) {
    put(file, hostile_chance(random, 1) ? (uint64_t)hostile_number(random) : value, bytes);
}

typedef struct {
    char name[64];
    uint32_t crc, packed, size, header, method;
} entry;

static void add_entry(hostile_random *random, hostile_file *file, const hostile_file *contents, entry *e) {
    static const char *const names[] = {"x.npy", "x", "../x.npy", "", ".npy", "a\nb.npy", "\xff.npy", "x/y.npy"};
    snprintf(e->name, sizeof e->name, "%s", names[hostile_below(random, sizeof names / sizeof *names)]);
    if (hostile_chance(random, 60)) snprintf(e->name, sizeof e->name, "v%u.npy", hostile_below(random, 1000));
    e->method = hostile_chance(random, 50) ? 8 : 0;
    e->size = e->packed = (uint32_t)contents->size;
    e->crc = (uint32_t)crc32(0, contents->data, (uInt)contents->size);
    e->header = (uint32_t)file->size;
    uint8_t *packed = malloc(contents->size + 1024);
    if (!packed) abort();
    if (contents->size) memcpy(packed, contents->data, contents->size);
    if (e->method == 8) {
        z_stream z = {.next_in = contents->data,
                      .avail_in = (uInt)contents->size,
                      .next_out = packed,
                      .avail_out = (uInt)contents->size + 1024};
        if (deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) abort();
        deflate(&z, Z_FINISH);
        e->packed = (uint32_t)z.total_out;
        deflateEnd(&z);
    }
    const uint64_t fields[][2] = {{0x04034b50, 4}, {20, 2},        {0, 2},       {e->method, 2},       {0, 4},
                                  {e->crc, 4},     {e->packed, 4}, {e->size, 4}, {strlen(e->name), 2}, {0, 2}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        put_field(random, file, fields[i][0], (int)fields[i][1]);
    hostile_add_text(file, e->name);
    hostile_add(file, packed, e->packed);
    free(packed);
}

static void add_directory(hostile_random *random, hostile_file *file, const entry *e, uint32_t count) {
    size_t start = file->size;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t fields[][2] = {
            {0x02014b50, 4}, {20, 2},       {20, 2},          {0, 2},         {e[i].method, 2},
            {0, 4},          {e[i].crc, 4}, {e[i].packed, 4}, {e[i].size, 4}, {strlen(e[i].name), 2},
            {0, 2},          {0, 2},        {0, 2},           {0, 2},         {0, 4},
            {e[i].header, 4}};
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
            put_field(random, file, fields[k][0], (int)fields[k][1]);
        hostile_add_text(file, e[i].name);
    }
    const uint64_t end[][2] = {{0x06054b50, 4},         {0, 2},     {0, 2}, {count, 2}, {count, 2},
                               {file->size - start, 4}, {start, 4}, {0, 2}};
    for (size_t k = 0; k < sizeof end / sizeof *end; k++) put_field(random, file, end[k][0], (int)end[k][1]);
}

/* An archive of 0 to 4 entries, most of them right, so that a reader gets to the ones that are not. */
static void make_archive(hostile_random *random, hostile_file *file) {
    entry entries[40];
    uint32_t count = hostile_below(random, hostile_chance(random, 95) ? 5 : 40);
    file->size = 0;
    for (uint32_t i = 0; i < count; i++) {
        hostile_file contents = {NULL, 0, 0};
        if (hostile_chance(random, 50)) {
            hostile_set(&contents, image.data, image.size);
        } else {
            make_npy(random, &contents);
        }
        if (hostile_chance(random, 3)) {
            /* a small file that unpacks to a large one */
            hostile_set(&contents, "\x93NUMPY", 6);
            contents.size = 0;
            for (int k = 0; k < 32768; k++) put(&contents, 0, 8);
        }
        add_entry(random, file, &contents, &entries[i]);
        hostile_clear(&contents);
    }
    add_directory(random, file, entries, count);
}

static void make_npz(hostile_random *random, hostile_file *file) {
    if (hostile_chance(random, 55)) {
        make_archive(random, file);
        if (hostile_chance(random, 20)) hostile_damage(random, file);
        return;
    }
    const hostile_file *seed = &archives[hostile_below(random, 3)];
    hostile_set(file, seed->data, seed->size);
    hostile_damage(random, file);
}

/* ---- feeding ---- */

static xpu_status parse_npy(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    xpu_tensor tensor;
    if (hostile_chance(random, 10)) return xpu_npy_read(arena, hostile_save(file, ".npy"), &tensor, diags);
    return xpu_npy_parse(arena, file->data, file->size, "hostile.npy", &tensor, diags);
}

static xpu_status parse_npz(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    xpu_named_tensors tensors = {NULL, 0, 0};
    if (hostile_chance(random, 10)) return xpu_npz_read(arena, hostile_save(file, ".npz"), &tensors, diags);
    return xpu_npz_parse(arena, file->data, file->size, "hostile.npz", &tensors, diags);
}

static void feed_npy(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_guard(result, "xpu_npy_parse", parse_npy, random, file);
}

static void feed_npz(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_guard(result, "xpu_npz_parse", parse_npz, random, file);
}

const hostile_kind hostile_npy = {"npy", ".npy", load_npy, make_npy, feed_npy};
const hostile_kind hostile_npz = {"npz", ".npz", load_npz, make_npz, feed_npz};
