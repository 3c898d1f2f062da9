/* Sounds from WAV files: linear PCM of 8 or 16 bits, one channel or two. */
#ifndef VOICE_WAV_H
#define VOICE_WAV_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    float *samples; /* -1 to 1, the mean of the channels; malloc'd, the caller's to free */
    size_t count;
    uint32_t rate, channels, bits;
} wav_sound;

/* What is wrong with a file; "what" is NULL where nothing is. */
typedef struct {
    const char *rule, *what, *hint;
    char why[120];
} wav_error;

/* Reads a file of this rate. Returns 0 or an exit code (2: the file's form, 3: it cannot be read); *sound is empty
 * then. */
int wav_read(const char *path, uint32_t rate, wav_sound *sound, wav_error *error);

/* The same of a file's bytes. */
int wav_decode(const uint8_t *bytes, size_t size, uint32_t rate, wav_sound *sound, wav_error *error);

#endif
