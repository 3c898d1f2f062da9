/* Sounds from WAV files: linear PCM of 8 or 16 bits, one channel or two. */
#ifndef VOICE_WAV_H
#define VOICE_WAV_H

#include <stddef.h>
#include <stdint.h>

#include "examples/common/file.h"

typedef struct {
    float *samples; /* -1 to 1, the mean of the channels; malloc'd, the caller's to free */
    size_t count;
    uint32_t rate, channels, bits;
} wav_sound;

/* Reads a file of this rate. Returns 0 or an exit code (2: the file's form, 3: it cannot be read); *sound is empty
 * then. */
int wav_read(const char *path, uint32_t rate, wav_sound *sound, file_error *error);

/* The same of a file's bytes. */
int wav_decode(const uint8_t *bytes, size_t size, uint32_t rate, wav_sound *sound, file_error *error);

#endif
