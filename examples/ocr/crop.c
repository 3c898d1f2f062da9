#include "crop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TURN_FROM 1.5 /* height / width of a line that runs downwards */

/* ---- cutting ---- */

static int clamp(double value, int end) {
    return value < 0 ? 0 : value > end - 1 ? end - 1 : (int)value;
}

static void sample(const picture *p, double x, double y, uint8_t *rgb) {
    double left = floor(x - 0.5), top = floor(y - 0.5), across = x - 0.5 - left, down = y - 0.5 - top;
    int x0 = clamp(left, p->width), x1 = clamp(left + 1, p->width);
    int y0 = clamp(top, p->height), y1 = clamp(top + 1, p->height);
    const uint8_t *upper = p->rgb + 3 * (size_t)y0 * (size_t)p->width,
                  *lower = p->rgb + 3 * (size_t)y1 * (size_t)p->width;
    for (int c = 0; c < 3; c++) {
        double a = upper[3 * x0 + c] * (1 - across) + upper[3 * x1 + c] * across;
        double b = lower[3 * x0 + c] * (1 - across) + lower[3 * x1 + c] * across;
        rgb[c] = (uint8_t)(a * (1 - down) + b * down + 0.5);
    }
}

static int pixels_of(double side) {
    return side < 1 ? 1 : side > PICTURE_MAX_SIDE ? PICTURE_MAX_SIDE : (int)lround(side);
}

picture crop_cut(const picture *p, const rectangle *place) {
    int width = pixels_of(rectangle_width(place)), height = pixels_of(rectangle_height(place));
    const point *c = place->corner;
    int turned = height >= TURN_FROM * width;
    picture cut = turned ? picture_make(height, width) : picture_make(width, height);
    for (int y = 0; cut.rgb && y < cut.height; y++) {
        for (int x = 0; x < cut.width; x++) {
            double u = turned ? 1 - (y + 0.5) / cut.height : (x + 0.5) / cut.width;
            double v = turned ? (x + 0.5) / cut.width : (y + 0.5) / cut.height;
            double at_x = c[0].x + u * (c[1].x - c[0].x) + v * (c[3].x - c[0].x);
            double at_y = c[0].y + u * (c[1].y - c[0].y) + v * (c[3].y - c[0].y);
            sample(p, at_x, at_y, cut.rgb + 3 * ((size_t)y * (size_t)cut.width + (size_t)x));
        }
    }
    return cut;
}

void crop_turn(picture *p) {
    size_t count = (size_t)p->width * (size_t)p->height;
    for (size_t i = 0; i < count / 2; i++) {
        uint8_t *a = p->rgb + 3 * i, *b = p->rgb + 3 * (count - 1 - i), kept[3];
        memcpy(kept, a, 3);
        memcpy(a, b, 3);
        memcpy(b, kept, 3);
    }
}

/* ---- scaling ---- */

/* For each target position the first source position and the weights from there on, `taps` of them. */
typedef struct {
    int taps, *first;
    float *weights;
} filter;

static int make_filter(filter *f, int from, int to) {
    double step = (double)from / to, reach = step > 1 ? step : 1;
    f->taps = (int)(2 * reach) + 2;
    f->first = malloc((size_t)to * sizeof *f->first);
    f->weights = calloc((size_t)to * (size_t)f->taps, sizeof *f->weights);
    if (!f->first || !f->weights) return 0;
    for (int i = 0; i < to; i++) {
        double centre = (i + 0.5) * step, sum = 0;
        int first = (int)fmax(ceil(centre - reach - 0.5), 0);
        float *weights = f->weights + (size_t)i * (size_t)f->taps;
        f->first[i] = first;
        for (int pass = 0; pass < 2; pass++) {
            for (int t = 0; t < f->taps && first + t < from; t++) {
                double weight = fmax(1 - fabs(first + t + 0.5 - centre) / reach, 0);
                if (pass) weights[t] = (float)(weight / sum);
                if (!pass) sum += weight;
            }
        }
    }
    return 1;
}

static void free_filter(filter *f) {
    free(f->first);
    free(f->weights);
}

/* One colour of a source row, in the target's width. */
static void scale_row(const filter *f, const uint8_t *row, int from, int to, float *out) {
    for (int x = 0; x < to; x++) {
        const float *weights = f->weights + (size_t)x * (size_t)f->taps;
        out[x] = 0;
        for (int t = 0; t < f->taps && f->first[x] + t < from; t++)
            out[x] += weights[t] * (float)row[3 * (f->first[x] + t)];
    }
}

typedef struct {
    const picture *p;
    filter across, down;
    int width, height, room;
    float *row; /* [width] */
} scaling;

/* A plane of one colour, 0 to 255. */
static void scale_plane(const scaling *s, int colour, float *plane) {
    int done = 0; /* rows of the target that no later row of the source is part of */
    for (int y = 0; y < s->p->height; y++) {
        const uint8_t *from = s->p->rgb + 3 * (size_t)y * (size_t)s->p->width + colour;
        scale_row(&s->across, from, s->p->width, s->width, s->row);
        while (done < s->height && s->down.first[done] + s->down.taps <= y) done++;
        for (int to = done; to < s->height && s->down.first[to] <= y; to++) {
            float weight = s->down.weights[(size_t)to * (size_t)s->down.taps + (size_t)(y - s->down.first[to])];
            float *out = plane + (size_t)to * (size_t)s->room;
            for (int x = 0; x < s->width; x++) out[x] += weight * s->row[x];
        }
    }
}

float *crop_planes(const picture *p, int width, int height, int room, const crop_scale *scale) {
    size_t plane = (size_t)height * (size_t)room;
    scaling s = {p, .width = width, .height = height, .room = room, .row = malloc((size_t)width * sizeof(float))};
    float *planes = calloc(3 * plane, sizeof *planes);
    int good = planes && s.row;
    good = make_filter(&s.across, p->width, width) && good;
    good = make_filter(&s.down, p->height, height) && good;
    for (int c = 0; good && c < 3; c++) {
        float *out = planes + (size_t)c * plane;
        scale_plane(&s, 2 - c, out);
        for (size_t i = 0; i < plane; i++) {
            if (i % (size_t)room < (size_t)width) out[i] = (out[i] / 255 - scale->mean[c]) / scale->deviation[c];
        }
    }
    free_filter(&s.across);
    free_filter(&s.down);
    free(s.row);
    if (!good) free(planes);
    return good ? planes : NULL;
}
