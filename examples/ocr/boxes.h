/*
 * Lines of text in the probability map of a detector by differentiable binarization (Liao et al. 2019, arXiv
 * 1911.08947): what is above a threshold falls into regions; around each goes its smallest rectangle, which grows, as
 * the detector learned regions that are shrunk.
 */
#ifndef OCR_BOXES_H
#define OCR_BOXES_H

#include "rectangle.h"

typedef struct {
    rectangle place; /* in pixels, from the top left corner of the top left pixel */
    double score;    /* the mean probability within the region's rectangle */
} text_box;

/* map: [height][width]. Returns how many boxes there are; *boxes is malloc'd, the caller's to free, NULL where there
 * are none or memory is short (then the count is -1). */
long boxes_find(const float *map, int width, int height, text_box **boxes);

/* From a map to a picture: scaled, then moved up by `up`. */
void boxes_place(text_box *boxes, long count, double across, double down, double up);

/* In the order in which one reads: line by line from the top, each from the left. Boxes are of one line where the
 * centre of one is less than half its line's height away from that of the line's topmost one. */
void boxes_order(text_box *boxes, long count);

#endif
