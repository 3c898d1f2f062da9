#include "rectangle.h"

#include <math.h>
#include <stdlib.h>

/* Twice the signed area of a triangle. */
static double turn(point a, point b, point c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static int from_left(const void *a, const void *b) {
    const point *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

/* Andrew's monotone chain: the lower half from left to right, the upper one back, both on top of `points`' copy. */
size_t hull_of(point *points, size_t count) {
    if (count < 2) return count;
    qsort(points, count, sizeof *points, from_left);
    size_t different = 1;
    for (size_t i = 1; i < count; i++) {
        if (from_left(&points[i], &points[different - 1])) points[different++] = points[i];
    }
    count = different;
    point *hull = malloc(2 * count * sizeof *hull);
    if (!hull) return 0;
    size_t n = 0, start = 1;
    for (int half = 0; half < 2; half++, start = n) {
        for (size_t i = 0; i < count; i++) {
            point p = points[half ? count - 1 - i : i];
            if (half && i == 0) continue;
            while (n > start && turn(hull[n - 2], hull[n - 1], p) <= 0) n--;
            hull[n++] = p;
        }
    }
    n -= n > 1; /* the first point again */
    for (size_t i = 0; i < n; i++) points[i] = hull[i];
    free(hull);
    return n;
}

static double length(point a, point b) {
    return hypot(b.x - a.x, b.y - a.y);
}

double rectangle_width(const rectangle *r) {
    return length(r->corner[0], r->corner[1]);
}

double rectangle_height(const rectangle *r) {
    return length(r->corner[1], r->corner[2]);
}

/* The rectangle around the hull with a side in direction (x, y), of length 1. */
static rectangle around(const point *hull, size_t count, double x, double y) {
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < count; i++) {
        double along[2] = {hull[i].x * x + hull[i].y * y, hull[i].y * x - hull[i].x * y};
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], along[k]);
            high[k] = fmax(high[k], along[k]);
        }
    }
    rectangle r;
    for (int i = 0; i < 4; i++) {
        double u = i == 1 || i == 2 ? high[0] : low[0], v = i >= 2 ? high[1] : low[1];
        r.corner[i] = (point){u * x - v * y, u * y + v * x};
    }
    return r;
}

rectangle rectangle_around(const point *hull, size_t count) {
    rectangle best = around(hull, count, 1, 0);
    for (size_t i = 0; i < count; i++) {
        point a = hull[i], b = hull[(i + 1) % count];
        double side = length(a, b);
        if (side == 0) continue;
        double x = (b.x - a.x) / side, y = (b.y - a.y) / side;
        /* a quarter turn is the same rectangle: the one that is nearest to upright */
        while (x < fabs(y) || (x == fabs(y) && y > 0)) {
            double quarter = x;
            x = y;
            y = -quarter;
        }
        rectangle r = around(hull, count, x, y);
        if (rectangle_width(&r) * rectangle_height(&r) < rectangle_width(&best) * rectangle_height(&best) - 1e-9)
            best = r;
    }
    return best;
}

rectangle rectangle_grown(const rectangle *r, double distance) {
    double width = rectangle_width(r);
    point across = {1, 0};
    if (width > 0)
        across = (point){(r->corner[1].x - r->corner[0].x) / width, (r->corner[1].y - r->corner[0].y) / width};
    point down = {-across.y, across.x};
    rectangle grown;
    for (int i = 0; i < 4; i++) {
        double u = i == 1 || i == 2 ? distance : -distance, v = i >= 2 ? distance : -distance;
        grown.corner[i] =
            (point){r->corner[i].x + u * across.x + v * down.x, r->corner[i].y + u * across.y + v * down.y};
    }
    return grown;
}
