/* The demonstration's reader of WAV files: every beginning of a file, and files with bytes changed, end with a sound or
 * an error; what it reads lies in a buffer of its own, for the sanitizers. */
#include <CUnit/CUnit.h>

#include "examples/common/file.c"
#include "examples/voice/wav.c"
#include "tests/unit/unit.h"

enum { SAMPLES = 50, FILE_BYTES = 44 + 2 * SAMPLES, RATE = 16000, MUTATIONS = 20000 };

static void put(uint8_t *at, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> 8 * i);
}

static void make(uint8_t file[FILE_BYTES]) {
    memcpy(file, "RIFF....WAVEfmt ", 16);
    put(file + 4, FILE_BYTES - 8, 4);
    put(file + 16, 16, 4);
    put(file + 20, 1, 2);
    put(file + 22, 1, 2);
    put(file + 24, RATE, 4);
    put(file + 28, 2 * RATE, 4);
    put(file + 32, 2, 2);
    put(file + 34, 16, 2);
    memcpy(file + 36, "data", 4);
    put(file + 40, 2 * SAMPLES, 4);
    for (int i = 0; i < SAMPLES; i++) put(file + 44 + 2 * i, (uint32_t)(1000 * i - 25000), 2);
}

/* Decodes a copy that ends where the file does. */
static int decode(const uint8_t *file, size_t size, wav_sound *sound, file_error *error) {
    uint8_t *copy = malloc(size ? size : 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    memcpy(copy, file, size);
    int status = wav_decode(copy, size, RATE, sound, error);
    free(copy);
    return status;
}

static void whole(void) {
    uint8_t file[FILE_BYTES];
    wav_sound sound;
    file_error error;
    make(file);
    CU_ASSERT_EQUAL_FATAL(decode(file, FILE_BYTES, &sound, &error), 0);
    CU_ASSERT_EQUAL(sound.count, SAMPLES);
    for (int i = 0; i < SAMPLES; i++) CU_ASSERT_EQUAL(sound.samples[i], (float)(1000 * i - 25000) / 32768);
    free(sound.samples);
}

static void beginnings(void) {
    uint8_t file[FILE_BYTES];
    make(file);
    for (size_t size = 0; size < FILE_BYTES; size++) {
        wav_sound sound;
        file_error error;
        CU_ASSERT_EQUAL(decode(file, size, &sound, &error), 2);
        CU_ASSERT(error.what && error.rule && *error.why && !sound.samples);
    }
}

static void mutations(void) {
    static const uint8_t extremes[] = {0, 1, 0x7f, 0x80, 0xff};
    uint32_t random = 1;
    int read = 0;
    for (int i = 0; i < MUTATIONS; i++) {
        uint8_t file[FILE_BYTES];
        wav_sound sound;
        file_error error;
        make(file);
        for (int k = 0; k < 3; k++) {
            random = random * 1664525 + 1013904223;
            file[(random >> 8) % 48] = (random >> 7 & 1) ? (uint8_t)(random >> 24) : extremes[(random >> 20) % 5];
        }
        int status = decode(file, FILE_BYTES, &sound, &error);
        CU_ASSERT(status ? status == 2 && error.what && !sound.samples : sound.count > 0 && sound.count <= 2 * SAMPLES);
        read += status == 0;
        free(sound.samples);
    }
    CU_ASSERT(read > 100 && read < MUTATIONS / 2);
}

XPU_TEST_MAIN("wav", {"whole", whole}, {"beginnings", beginnings}, {"mutations", mutations})
