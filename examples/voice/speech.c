#include "speech.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE   0.1  /* s: a shorter one is within speech */
#define WORD    0.1  /* s: less is no speech */
#define BETWEEN 0.15 /* speech goes on down to threshold - BETWEEN */

long speech_find(const float *probability, size_t frames, double frame_seconds, double seconds, double threshold,
                 speech_stretch **stretches) {
    speech_stretch *found = malloc((frames / 2 + 1) * sizeof *found), now = {0};
    long count = 0;
    int speaking = 0;
    *stretches = NULL;
    if (!found) return -1;
    for (size_t i = 0; i <= frames; i++) {
        double time = (double)i * frame_seconds;
        float p = i < frames ? probability[i] : 0;
        if (i < frames && p >= threshold && !speaking) {
            now = (speech_stretch){time, time, p};
            speaking = 1;
        }
        if (i < frames && speaking && p >= threshold - BETWEEN) now.end = fmin(time + frame_seconds, seconds);
        if (speaking && p > now.most) now.most = p;
        if (!speaking || (i < frames && time + frame_seconds - now.end < PAUSE)) continue;
        if (now.end - now.begin >= WORD) found[count++] = now;
        speaking = 0;
    }
    if (count) *stretches = found;
    if (!count) free(found);
    return count;
}

/* ---- the picture ---- */

enum { WIDTH = 960, LEFT = 50, RIGHT = 940, TOP = 40, BOTTOM = 240, HEIGHT = 290, COLUMNS = RIGHT - LEFT };

static double x_of(const speech_picture *p, double time) {
    return LEFT + (RIGHT - LEFT) * time / p->seconds;
}

static double y_of(double probability) {
    return BOTTOM - (BOTTOM - TOP) * probability;
}

static void put_text(FILE *file, const char *text) {
    for (; *text; text++) {
        const char *name = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        if (name) fputs(name, file);
        if (!name) fputc((unsigned char)*text < ' ' ? '?' : *text, file);
    }
}

static void draw_axes(FILE *file, const speech_picture *p) {
    static const double steps[] = {0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 600, 3600};
    size_t step = 0;
    while (step + 1 < sizeof steps / sizeof *steps && p->seconds / steps[step] > 12) step++;
    for (int i = 0; i <= 4; i++) {
        double y = y_of(i / 4.0);
        fprintf(file, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>", LEFT, y, RIGHT);
        fprintf(file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 6, y + 4, i / 4.0);
    }
    for (double time = 0; time <= p->seconds * 1.0001; time += steps[step]) {
        fprintf(file, "<path d=\"M%.1f %dv5\" stroke=\"#666\"/>", x_of(p, time), BOTTOM);
        fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.10g s</text>\n", x_of(p, time), BOTTOM + 20,
                time);
    }
}

/* The sound: in each column from its smallest to its largest sample. */
static void draw_sound(FILE *file, const speech_picture *p) {
    float peak = 1e-3f;
    for (size_t i = 0; i < p->sample_count; i++) peak = fmaxf(peak, fabsf(p->samples[i]));
    fputs("<path stroke=\"#bcd\" fill=\"none\" d=\"", file);
    for (size_t column = 0; column < COLUMNS; column++) {
        size_t from = p->sample_count * column / COLUMNS, to = p->sample_count * (column + 1) / COLUMNS;
        float low = 0, high = 0;
        for (size_t i = from; i < to; i++) {
            low = fminf(low, p->samples[i]);
            high = fmaxf(high, p->samples[i]);
        }
        double middle = (TOP + BOTTOM) / 2.0, half = (BOTTOM - TOP) / 2.0 / (double)peak;
        fprintf(file, "M%zu %.1fV%.1f", LEFT + column, middle - half * (double)high, middle - half * (double)low + 0.5);
    }
    fputs("\"/>\n", file);
}

static void draw(FILE *file, const speech_picture *p) {
    fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" ", WIDTH,
            HEIGHT, WIDTH, HEIGHT);
    fputs("font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", file);
    fprintf(file, "<text x=\"%d\" y=\"22\" font-size=\"15\">", LEFT);
    put_text(file, p->title);
    fputs(": probability of speech</text>\n", file);
    for (long i = 0; i < p->stretch_count; i++) {
        double from = x_of(p, p->stretches[i].begin), to = x_of(p, p->stretches[i].end);
        fprintf(file,
                "<rect class=\"speech\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#fd8\" "
                "fill-opacity=\"0.5\"/>\n",
                from, TOP, to - from, BOTTOM - TOP);
    }
    draw_sound(file, p);
    draw_axes(file, p);
    fprintf(file, "<path d=\"M%d %.1fH%d\" stroke=\"#a33\" stroke-dasharray=\"4 4\"/>\n", LEFT, y_of(p->threshold),
            RIGHT);
    fputs("<path stroke=\"#037\" stroke-width=\"2\" fill=\"none\" d=\"", file);
    for (size_t i = 0; i < p->frames; i++) {
        double end = fmin((double)(i + 1) * p->frame_seconds, p->seconds);
        fprintf(file, "%c%.1f %.1fH%.1f", i ? 'L' : 'M', x_of(p, (double)i * p->frame_seconds),
                y_of((double)p->probability[i]), x_of(p, end));
    }
    fputs("\"/>\n</svg>\n", file);
}

int speech_draw(const char *path, const speech_picture *picture) {
    size_t length = strlen(path) + sizeof ".new";
    char *fresh = malloc(length);
    if (!fresh) return ENOMEM;
    snprintf(fresh, length, "%s.new", path);
    FILE *file = fopen(fresh, "w");
    int failure = file ? 0 : errno;
    if (file) {
        draw(file, picture);
        int written = !ferror(file);
        if (fclose(file) || !written || rename(fresh, path)) failure = errno ? errno : EIO;
        if (failure) remove(fresh);
    }
    free(fresh);
    return failure;
}
