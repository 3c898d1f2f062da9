/* Plane geometry: the convex hull of points, and the smallest rectangle around it. x goes to the right, y down. */
#ifndef OCR_RECTANGLE_H
#define OCR_RECTANGLE_H

#include <stddef.h>

typedef struct {
    double x, y;
} point;

/* Corners as one reads what is in it: top left, top right, bottom right, bottom left. The first side is the one whose
 * direction is nearest to that of x. */
typedef struct {
    point corner[4];
} rectangle;

/* Puts the corners of the points' convex hull first, in order around it; points on its sides are none. Returns how many
 * they are (1 or 2 where all points are one, or on one line). */
size_t hull_of(point *points, size_t count);

/* The rectangle of the smallest area around a hull, at any angle: a side of it lies on a side of the hull. */
rectangle rectangle_around(const point *hull, size_t count);

double rectangle_width(const rectangle *r);
double rectangle_height(const rectangle *r);

/* Each side moved outwards by `distance`. */
rectangle rectangle_grown(const rectangle *r, double distance);

#endif
