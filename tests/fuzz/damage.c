/* Random numbers, files in memory, and damage that knows nothing of the format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/hostile.h"

/* ---- random numbers (splitmix64) ---- */

uint64_t hostile_draw(hostile_random *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t hostile_below(hostile_random *random, uint32_t bound) {
    return bound ? (uint32_t)((hostile_draw(random) >> 32) * bound >> 32) : 0;
}

int hostile_chance(hostile_random *random, uint32_t percent) {
    return hostile_below(random, 100) < percent;
}

int64_t hostile_number(hostile_random *random) {
    static const int64_t known[] = {0, 1,  -1,  2,    3,         5,         7,         8,
                                    9, 10, 100, 1000, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    switch (hostile_below(random, 4)) {
    case 0: return known[hostile_below(random, sizeof known / sizeof *known)];
    case 1: return (int64_t)((UINT64_C(1) << hostile_below(random, 64)) + hostile_below(random, 3) - 1);
    case 2: return (int64_t)hostile_below(random, 64) - 8;
    default: return (int64_t)(hostile_draw(random) >> hostile_below(random, 64));
    }
}

/* ---- files ---- */

static void reserve(hostile_file *file, size_t size) {
    if (size <= file->capacity) return;
    file->capacity = size + size / 2 + 64;
    file->data = realloc(file->data, file->capacity);
    if (!file->data) abort();
}

void hostile_clear(hostile_file *file) {
    free(file->data);
    *file = (hostile_file){NULL, 0, 0};
}

void hostile_set(hostile_file *file, const void *data, size_t size) {
    file->size = 0;
    hostile_add(file, data, size);
}

void hostile_add(hostile_file *file, const void *data, size_t size) {
    reserve(file, file->size + size);
    if (size) memcpy(file->data + file->size, data, size);
    file->size += size;
}

void hostile_add_text(hostile_file *file, const char *text) {
    hostile_add(file, text, strlen(text));
}

void hostile_replace(hostile_file *file, size_t at, size_t removed, const void *data, size_t size) {
    reserve(file, file->size - removed + size);
    memmove(file->data + at + size, file->data + at + removed, file->size - at - removed);
    if (size) memcpy(file->data + at, data, size);
    file->size += size - removed;
}

void hostile_load(hostile_file *file, const char *path) {
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(EXIT_FAILURE);
    }
    *file = (hostile_file){NULL, 0, 0};
    size_t got;
    do {
        reserve(file, file->size + 65536);
        got = fread(file->data + file->size, 1, 65536, stream);
        file->size += got;
    } while (got > 0);
    fclose(stream);
}

/* ---- damage ---- */

static void flip_bits(hostile_random *random, hostile_file *file) {
    uint32_t count = 1 + hostile_below(random, hostile_chance(random, 80) ? 4 : 200);
    for (uint32_t i = 0; i < count && file->size; i++) {
        file->data[hostile_below(random, (uint32_t)file->size)] ^= (uint8_t)(1 << hostile_below(random, 8));
    }
}

static void overwrite(hostile_random *random, hostile_file *file) {
    static const uint8_t bytes[] = {0x00, 0xff, 0x7f, 0x80, 0x01};
    size_t at = hostile_below(random, (uint32_t)file->size);
    size_t length = 1 + hostile_below(random, 16);
    int same = hostile_chance(random, 50);
    uint8_t byte = bytes[hostile_below(random, sizeof bytes)];
    for (size_t i = at; i < at + length && i < file->size; i++)
        file->data[i] = same ? byte : (uint8_t)hostile_draw(random);
}

/* Removes, repeats, or moves a stretch. */
static void move_stretch(hostile_random *random, hostile_file *file) {
    size_t at = hostile_below(random, (uint32_t)file->size);
    size_t length = 1 + hostile_below(random, hostile_chance(random, 70) ? 32 : (uint32_t)file->size);
    if (length > file->size - at) length = file->size - at;
    uint8_t *copy = malloc(length ? length : 1);
    if (!copy) abort();
    memcpy(copy, file->data + at, length);
    uint32_t kind = hostile_below(random, 3);
    if (kind != 1) hostile_replace(file, at, length, NULL, 0);
    if (kind != 0) hostile_replace(file, hostile_below(random, (uint32_t)file->size + 1), 0, copy, length);
    free(copy);
}

static void all_random(hostile_random *random, hostile_file *file) {
    uint8_t start[16] = {0};
    size_t kept = hostile_chance(random, 50) ? hostile_below(random, 16) : 0;
    if (kept > file->size) kept = file->size;
    if (kept) memcpy(start, file->data, kept);
    hostile_set(file, start, kept);
    uint32_t size = hostile_below(random, hostile_chance(random, 50) ? 64 : 4096);
    for (uint32_t i = 0; i < size; i++) hostile_add(file, &(uint8_t){(uint8_t)hostile_draw(random)}, 1);
}

void hostile_damage(hostile_random *random, hostile_file *file) {
    uint32_t kind = hostile_below(random, 100);
    if (!file->size) return;
    if (kind < 20) {
        file->size = hostile_below(random, (uint32_t)file->size);
    } else if (kind < 55) {
        flip_bits(random, file);
    } else if (kind < 75) {
        overwrite(random, file);
    } else if (kind < 92) {
        move_stretch(random, file);
    } else {
        all_random(random, file);
    }
}
