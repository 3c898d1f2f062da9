/* Where two tensors differ: along each axis, in which elements most, and by how much how often; and as a picture. */
#ifndef XPU_TOOLS_WHERE_H
#define XPU_TOOLS_WHERE_H

#include <jansson.h>

#include "base/compare.h"
#include "base/diag.h"

enum { XPU_WHERE_LARGEST = 10, XPU_WHERE_RANGES = 6, XPU_WHERE_BUCKETS = 12 };

/* One axis: its indices that have an element that differs. */
typedef struct {
    const char *name; /* "sample", "channel", "row", "column", or "axis 2" */
    int64_t size;
    int64_t touched, first, last,
        step; /* how many, from where to where; step: between all of them, 0 where it varies */
    int64_t ranges[XPU_WHERE_RANGES][2];
    int range_count;          /* runs of neighbours; XPU_WHERE_RANGES + 1: more of them */
    int64_t most, most_count; /* the index with the most elements that differ, and how many these are */
} xpu_where_axis;

typedef struct {
    int64_t position;  /* row-major */
    double difference; /* |a - b|, NaN or infinite where a side is */
} xpu_where_element;

/* Differences from `from` on, to the next bucket's; a power of two. */
typedef struct {
    double from;
    int64_t count;
} xpu_where_bucket;

typedef struct {
    xpu_pair pair;
    xpu_comparison comparison;
    int rank;
    xpu_where_axis axes[XPU_MAX_RANK];
    xpu_where_element largest[XPU_WHERE_LARGEST]; /* NaN and infinity first; then in order of size, then of position */
    int largest_count;
    xpu_where_bucket buckets[XPU_WHERE_BUCKETS]; /* of finite differences that are not 0 */
    int bucket_count;
    int64_t zeros; /* differences of 0: signs of zeros */
} xpu_where;

/* Looks at two tensors that xpu_compare has found comparable and different. */
xpu_where xpu_where_find(xpu_arena *arena, const xpu_tensor *a, const xpu_tensor *b, const xpu_tolerance *tolerance,
                         const xpu_comparison *comparison);

/* "channel 3, 5 of 16; row all 8; column 0..3 of 8" */
const char *xpu_where_axes_text(xpu_arena *arena, const xpu_where *where);
/* Lines for a person, each indented: axes, cosine and signal to noise; with `all` the largest differences and the
 * histogram, too. */
const char *xpu_where_text(xpu_arena *arena, const xpu_where *where, int all);
/* The same as members of `object`; a number that JSON does not have is "inf", "-inf" or "nan". */
void xpu_where_json(xpu_arena *arena, const xpu_where *where, json_t *object);

/* Writes the differences as a PNG picture: the last two axes are the tiles, which stand in reading order; 1 to 16
 * pixels an element, or several elements a pixel, which shows the largest. *legend: a line that says how to read it. */
xpu_status xpu_heatmap_write(xpu_arena *arena, const char *path, const xpu_where *where, const char **legend,
                             xpu_diags *diags);

#endif
