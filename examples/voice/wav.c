#include "wav.h"

#include <stdlib.h>
#include <string.h>

enum { PCM = 1, EXTENSIBLE = 0xfffe, FORMAT_BYTES = 16, EXTENSIBLE_BYTES = 40 };

typedef struct {
    uint32_t kind, channels, rate, frame_bytes, bits;
} wav_format;

typedef struct {
    const uint8_t *bytes;
    size_t size;
} chunk;

/* The file's form is not that of a sound. */
#define fails(error, rule, what, hint, ...) file_fails(error, 2, rule, what, hint, __VA_ARGS__)

static uint32_t word(const uint8_t *b) {
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static uint32_t half(const uint8_t *b) {
    return b[0] | (uint32_t)b[1] << 8;
}

static int truncated(file_error *error, const char *name, size_t wanted, size_t there) {
    return fails(error, "wav-truncated", "the sound ends before its time", "copy or record it again",
                 "its part '%.4s' has %zu bytes, %zu are there", name, wanted, there);
}

/* The parts "fmt " and "data"; others are stepped over. A part of odd length has a byte behind it that does not count.
 */
static int find_chunks(const uint8_t *bytes, size_t size, chunk *format, chunk *data, file_error *error) {
    for (size_t at = 12; at + 8 <= size;) {
        const char *name = (const char *)bytes + at;
        size_t length = word(bytes + at + 4), left = size - at - 8;
        int wanted = memcmp(name, "fmt ", 4) == 0 || memcmp(name, "data", 4) == 0;
        if (wanted && length > left) return truncated(error, memcmp(name, "data", 4) ? "fmt " : "data", length, left);
        if (memcmp(name, "fmt ", 4) == 0) *format = (chunk){bytes + at + 8, length};
        if (memcmp(name, "data", 4) == 0 && !data->bytes) *data = (chunk){bytes + at + 8, length};
        if (length + (length & 1) > left) break;
        at += 8 + length + (length & 1);
    }
    const char *missing = !format->bytes ? "fmt " : !data->bytes ? "data" : NULL;
    if (!missing) return 0;
    return fails(error, "wav-truncated", "the sound ends before its time", "copy or record it again",
                 "its part '%s' is not there", missing);
}

static int read_format(chunk c, uint32_t rate, wav_format *f, file_error *error) {
    static const char convert[] = "16-bit PCM at 16 kHz is what is wanted: sox SOUND -r 16000 -b 16 -c 1 NEW.wav";
    static const char what[] = "the sound is of a form that is not read";
    if (c.size < FORMAT_BYTES) return truncated(error, "fmt ", FORMAT_BYTES, c.size);
    *f = (wav_format){half(c.bytes), half(c.bytes + 2), word(c.bytes + 4), half(c.bytes + 12), half(c.bytes + 14)};
    if (f->kind == EXTENSIBLE && c.size >= EXTENSIBLE_BYTES) f->kind = half(c.bytes + 24);
    if (f->kind != PCM) return fails(error, "wav-format", what, convert, "its format is number %u, PCM is 1", f->kind);
    if (f->channels != 1 && f->channels != 2)
        return fails(error, "wav-format", what, convert, "it has %u channels, not 1 or 2", f->channels);
    if (f->bits != 8 && f->bits != 16)
        return fails(error, "wav-format", what, convert, "a sample has %u bits, not 8 or 16", f->bits);
    if (f->frame_bytes != f->channels * f->bits / 8)
        return fails(error, "wav-format", what, convert, "%u samples of %u bits are not %u bytes", f->channels, f->bits,
                     f->frame_bytes);
    if (f->rate != rate)
        return fails(error, "wav-rate", "the sound is of another rate", convert, "it has %u samples a second, not %u",
                     f->rate, rate);
    return 0;
}

static float sample(const uint8_t *b, uint32_t bits) {
    return bits == 8 ? ((float)b[0] - 128) / 128 : (float)(int16_t)half(b) / 32768;
}

int wav_decode(const uint8_t *bytes, size_t size, uint32_t rate, wav_sound *sound, file_error *error) {
    chunk format = {0}, data = {0};
    wav_format f = {0};
    *sound = (wav_sound){0};
    *error = (file_error){0};
    if (size < 12 || memcmp(bytes, "RIFF", 4) != 0 || memcmp(bytes + 8, "WAVE", 4) != 0) {
        return fails(error, "wav-format", "this is no WAV file", "another file, or: sox SOUND NEW.wav",
                     "it does not begin with RIFF and WAVE");
    }
    int status = find_chunks(bytes, size, &format, &data, error);
    if (!status) status = read_format(format, rate, &f, error);
    if (status) return status;
    size_t count = data.size / f.frame_bytes;
    if (data.size % f.frame_bytes) return truncated(error, "data", (count + 1) * f.frame_bytes, data.size);
    if (!count) {
        return fails(error, "wav-empty", "there is no sound in the file", "record it again",
                     "its part 'data' has no bytes");
    }
    float *samples = malloc(count * sizeof *samples);
    if (!samples) {
        return file_fails(error, 3, "memory", "there is not enough memory", "a shorter sound", "%zu samples", count);
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *frame = data.bytes + i * f.frame_bytes;
        samples[i] = sample(frame, f.bits);
        if (f.channels == 2) samples[i] = (samples[i] + sample(frame + f.bits / 8, f.bits)) / 2;
    }
    *sound = (wav_sound){samples, count, f.rate, f.channels, f.bits};
    return 0;
}

int wav_read(const char *path, uint32_t rate, wav_sound *sound, file_error *error) {
    const char *why = NULL;
    size_t size;
    *sound = (wav_sound){0};
    uint8_t *bytes = file_read(path, &size, &why);
    if (!bytes) return file_fails(error, 3, "io-read", "the sound cannot be read", "a WAV file of 16 kHz", "%s", why);
    int status = wav_decode(bytes, size, rate, sound, error);
    free(bytes);
    return status;
}
