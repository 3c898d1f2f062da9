/* Pictures: BMP, PNG and JPEG files. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/fuzz/hostile.h"
#include "tools/common/image.h"

enum { SEEDS = 5 };
static hostile_file seeds[SEEDS];
static hostile_file text; /* a chunk of a PNG file: 8 MB of zeros, compressed */

/* The chunk zTXt: its keyword, a NUL, the method 0, and the data. */
static void make_text(void) {
    enum { BYTES = 7900000, KEYWORD = 7 };
    static uint8_t zeros[BYTES], packed[16 + BYTES / 500];
    uLongf size = sizeof packed - KEYWORD;
    memcpy(packed, "zTXtk\0\0", KEYWORD);
    if (compress2(packed + KEYWORD, &size, zeros, BYTES, 9) != Z_OK) abort();
    size += KEYWORD;
    uint32_t length = (uint32_t)size - 4, crc = (uint32_t)crc32(0, packed, (uInt)size);
    uint8_t head[4] = {(uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8), (uint8_t)length};
    uint8_t tail[4] = {(uint8_t)(crc >> 24), (uint8_t)(crc >> 16), (uint8_t)(crc >> 8), (uint8_t)crc};
    hostile_set(&text, head, sizeof head);
    hostile_add(&text, packed, size);
    hostile_add(&text, tail, sizeof tail);
}

static void load_pictures(void) {
    static const char *const paths[SEEDS] = {"tests/models/pictures/gradient.bmp", "tests/models/pictures/palette.bmp",
                                             "tests/models/pictures/gradient.png", "tests/models/pictures/half.png",
                                             "tests/models/pictures/gradient.jpg"};
    for (int i = 0; i < SEEDS; i++) hostile_load(&seeds[i], paths[i]);
    make_text();
}

/* A number of a BMP header in little endian, at one of its places. */
static void change_header(hostile_random *random, hostile_file *file) {
    static const uint8_t places[] = {2, 10, 14, 18, 22, 26, 28, 30, 34, 46};
    uint32_t place = places[hostile_below(random, sizeof places)], value = (uint32_t)hostile_number(random);
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    if (place + 4 <= file->size) hostile_replace(file, place, 4, bytes, 4);
}

static void make_picture(hostile_random *random, hostile_file *file) {
    const hostile_file *seed = &seeds[hostile_below(random, SEEDS)];
    hostile_set(file, seed->data, seed->size);
    if (hostile_chance(random, 2) && file->data[0] == 0x89) {
        enum { BEHIND_HEADER = 33, MOST = 400 };
        for (uint32_t i = hostile_below(random, MOST); i > 0; i--)
            hostile_replace(file, BEHIND_HEADER, 0, text.data, text.size);
        return;
    }
    if (hostile_chance(random, 60) && file->data[0] == 'B')
        change_header(random, file);
    else
        hostile_damage(random, file);
}

/* Reads the picture and scales it to a drawn input. */
static xpu_status read_picture(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    static const int64_t inputs[][4] = {{1, 3, 8, 8}, {1, 1, 16, 16}, {-1, 33, 7, 3}, {1, 3, -1, -1}, {1, 5, 5, 5}};
    xpu_image image;
    xpu_tensor tensor;
    xpu_status status = xpu_image_parse(arena, file->data, file->size, "hostile.png", &image, diags);
    if (status != XPU_OK || (int64_t)image.width * image.height > 1 << 20) return status;
    const xpu_image_scale scale = {.std = {1, 1, 1}};
    const int64_t *dims = inputs[hostile_below(random, 5)];
    return xpu_image_tensor(arena, &image, &scale, hostile_chance(random, 50) ? XPU_F32 : XPU_U8, 4, dims, "x", &tensor,
                            diags);
}

static void feed_picture(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_guard(result, "xpu_image_parse", read_picture, random, file);
}

const hostile_kind hostile_picture = {"picture", ".png", load_pictures, make_picture, feed_picture};
