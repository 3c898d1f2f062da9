#include "boxes.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define THRESHOLD   0.3f /* a pixel is of text */
#define LEAST_SCORE 0.6  /* mean probability of a box */
#define GROWTH      1.8  /* distance of growth: times area / perimeter */
#define LEAST_SIDE  3    /* pixels of a region's rectangle; 2 more of a box */

enum { MOST_BOXES = 1000 };

typedef struct {
    const float *map;
    int width, height;
    uint8_t *seen;   /* [height][width] */
    int *region;     /* its pixels, as they were found */
    int *low, *high; /* [height]: the region's first and last column in each row */
    point *outline;  /* 4 for each row */
} search;

static int is_new_text(const search *s, int x, int y) {
    if (x < 0 || y < 0 || x >= s->width || y >= s->height) return 0;
    size_t at = (size_t)y * (size_t)s->width + (size_t)x;
    return !s->seen[at] && s->map[at] > THRESHOLD;
}

static void take(search *s, int x, int y, size_t *count) {
    size_t at = (size_t)y * (size_t)s->width + (size_t)x;
    s->seen[at] = 1;
    s->region[(*count)++] = (int)at;
}

/* The pixels that hang together with the first one of a region, also across corners: it lies in the topmost row.
 * Returns how many corners their rows have. */
static size_t outline_region(search *s, int x, int y) {
    size_t count = 0, corners = 0;
    const int top = y;
    int bottom = y - 1;
    take(s, x, y, &count);
    for (size_t i = 0; i < count; i++) {
        x = s->region[i] % s->width;
        y = s->region[i] / s->width;
        for (int k = 0; k < 9; k++) {
            int to_x = x + k % 3 - 1, to_y = y + k / 3 - 1;
            if (is_new_text(s, to_x, to_y)) take(s, to_x, to_y, &count);
        }
        if (y > bottom) { /* by one: a pixel is found from its neighbours */
            bottom = y;
            s->low[y] = s->high[y] = x;
        }
        if (x < s->low[y]) s->low[y] = x;
        if (x > s->high[y]) s->high[y] = x;
    }
    for (y = top; y <= bottom; y++) {
        for (int k = 0; k < 4; k++) s->outline[corners++] = (point){k & 1 ? s->high[y] + 1 : s->low[y], y + (k >> 1)};
    }
    return corners;
}

/* The mean of the map over the pixels whose centres lie in the rectangle. */
static double mean_within(const search *s, const rectangle *r) {
    double width = rectangle_width(r), height = rectangle_height(r), sum = 0;
    const point *c = r->corner;
    double ax = (c[1].x - c[0].x) / width, ay = (c[1].y - c[0].y) / width;
    double low[2] = {s->width, s->height}, high[2] = {0, 0};
    long count = 0;
    for (int i = 0; i < 4; i++) {
        low[0] = fmin(low[0], c[i].x);
        low[1] = fmin(low[1], c[i].y);
        high[0] = fmax(high[0], c[i].x);
        high[1] = fmax(high[1], c[i].y);
    }
    for (int y = (int)fmax(low[1], 0); y < s->height && y < high[1]; y++) {
        for (int x = (int)fmax(low[0], 0); x < s->width && x < high[0]; x++) {
            double dx = x + 0.5 - c[0].x, dy = y + 0.5 - c[0].y, u = dx * ax + dy * ay, v = dy * ax - dx * ay;
            if (u < 0 || v < 0 || u > width || v > height) continue;
            sum += (double)s->map[(size_t)y * (size_t)s->width + (size_t)x];
            count++;
        }
    }
    return count ? sum / (double)count : 0;
}

static double shorter_side(const rectangle *r) {
    return fmin(rectangle_width(r), rectangle_height(r));
}

/* Whether the region at a pixel is a box. -1: memory is short. */
static int box_at(search *s, int x, int y, text_box *box) {
    size_t corners = outline_region(s, x, y), hull = hull_of(s->outline, corners);
    if (!hull) return -1;
    rectangle r = rectangle_around(s->outline, hull);
    double width = rectangle_width(&r), height = rectangle_height(&r);
    if (shorter_side(&r) < LEAST_SIDE) return 0;
    box->score = mean_within(s, &r);
    if (box->score < LEAST_SCORE) return 0;
    box->place = rectangle_grown(&r, GROWTH * width * height / (2 * (width + height)));
    return shorter_side(&box->place) >= LEAST_SIDE + 2;
}

static long find(search *s, text_box *boxes) {
    long count = 0;
    for (int y = 0; y < s->height; y++) {
        for (int x = 0; x < s->width && count < MOST_BOXES; x++) {
            int found = is_new_text(s, x, y) ? box_at(s, x, y, &boxes[count]) : 0;
            if (found < 0) return -1;
            count += found;
        }
    }
    return count;
}

long boxes_find(const float *map, int width, int height, text_box **boxes) {
    size_t pixels = (size_t)width * (size_t)height, rows = (size_t)height;
    search s = {map, width, height, calloc(pixels, 1), malloc(pixels * sizeof(int))};
    s.low = malloc(rows * sizeof *s.low);
    s.high = malloc(rows * sizeof *s.high);
    s.outline = malloc(4 * rows * sizeof *s.outline);
    text_box *found = malloc(MOST_BOXES * sizeof *found);
    long count = s.seen && s.region && s.low && s.high && s.outline && found ? find(&s, found) : -1;
    free(s.seen);
    free(s.region);
    free(s.low);
    free(s.high);
    free(s.outline);
    if (count < 1) free(found);
    *boxes = count < 1 ? NULL : found;
    return count;
}

void boxes_place(text_box *boxes, long count, double across, double down, double up) {
    for (long i = 0; i < count; i++) {
        for (int k = 0; k < 4; k++) {
            boxes[i].place.corner[k].x *= across;
            boxes[i].place.corner[k].y = boxes[i].place.corner[k].y * down - up;
        }
    }
}

/* ---- order ---- */

static point centre(const text_box *b) {
    return (point){(b->place.corner[0].x + b->place.corner[2].x) / 2,
                   (b->place.corner[0].y + b->place.corner[2].y) / 2};
}

static int from_top(const void *a, const void *b) {
    double p = centre(a).y, q = centre(b).y;
    return (p > q) - (p < q);
}

static int from_left(const void *a, const void *b) {
    double p = centre(a).x, q = centre(b).x;
    return (p > q) - (p < q);
}

void boxes_order(text_box *boxes, long count) {
    if (count > 1) qsort(boxes, (size_t)count, sizeof *boxes, from_top);
    for (long first = 0, end; first < count; first = end) {
        double y = centre(&boxes[first]).y, reach = rectangle_height(&boxes[first].place) / 2;
        for (end = first + 1; end < count && centre(&boxes[end]).y - y < reach;) end++;
        qsort(boxes + first, (size_t)(end - first), sizeof *boxes, from_left);
    }
}
