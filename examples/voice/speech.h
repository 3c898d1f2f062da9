/* Where speech is, from the probability of each frame; and a picture of it. */
#ifndef VOICE_SPEECH_H
#define VOICE_SPEECH_H

#include <stddef.h>

typedef struct {
    double begin, end; /* seconds */
    float most;        /* the largest probability in it */
} speech_stretch;

/* Speech begins with a frame of at least `threshold`, and ends where 0.1 s follow of less than threshold - 0.15.
 * Shorter than 0.1 s is none. Returns how many stretches there are; *stretches is malloc'd, the caller's to free, NULL
 * where there are none or memory is short (then the count is -1). */
long speech_find(const float *probability, size_t frames, double frame_seconds, double seconds, double threshold,
                 speech_stretch **stretches);

typedef struct {
    const char *title;
    const float *samples, *probability;
    size_t sample_count, frames;
    double seconds, frame_seconds, threshold;
    const speech_stretch *stretches;
    long stretch_count;
} speech_picture;

/* The sound, the probability over time, and the stretches, as an SVG file, which is whole or not there. Returns 0 or
 * errno. */
int speech_draw(const char *path, const speech_picture *picture);

#endif
