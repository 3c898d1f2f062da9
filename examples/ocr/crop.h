/* Lines of text cut out of a picture, turned upright, and scaled to what a network takes. */
#ifndef OCR_CROP_H
#define OCR_CROP_H

#include "picture.h"
#include "rectangle.h"

/* The part of a picture within a rectangle, in its size, between pixels linearly; the picture's edge goes on outside.
 * One that is at least 1.5 times as high as wide is turned by a quarter to the left. Its rgb is NULL where memory is
 * short. */
picture crop_cut(const picture *p, const rectangle *place);

/* By half a turn. */
void crop_turn(picture *p);

/* How a network wants its pixels: blue, green and red planes, each (value / 255 - mean) / deviation. */
typedef struct {
    float mean[3], deviation[3]; /* of blue, green, red */
} crop_scale;

/* The picture scaled to width x height, in planes [3][height][room] whose columns behind width are 0. Each result is
 * the mean of the pixels around it, weighted by a triangle whose half width is a pixel of the coarser picture. NULL
 * where memory is short; malloc'd, the caller's to free. */
float *crop_planes(const picture *p, int width, int height, int room, const crop_scale *scale);

#endif
