/*
 * Dump folders (xpu-run --dump-layers) and .npz archives as lists of tensors in order of execution, and their
 * comparison.
 */
#ifndef XPU_TOOLS_DUMP_H
#define XPU_TOOLS_DUMP_H

#include "base/diag.h"
#include "base/tensor.h"

/* One file of a dump folder, or one entry of an archive. Names are escaped (xpu_escape), as index.json has them. */
typedef struct {
    const char *layer;      /* the layer that made it; NULL for entries of an archive and for inputs */
    const char *tensor;     /* the tensor's name in the source model where it has one */
    const char *file;       /* folder: its path; data is read when it is needed */
    const char *dtype;      /* folder: as the index says */
    int64_t index;          /* of the layer; -1 where there is none */
    double min, max;        /* NaN where the index has none */
    int64_t nan, saturated; /* -1 where the index has none */
    int rank;
    int64_t dims[XPU_MAX_RANK];
    xpu_tensor value; /* archive: with data */
} xpu_dump_item;

/* A tensor of the source model that has no file of its own. */
typedef struct {
    const char *tensor, *fate, *layer; /* layer: NULL for folded ones */
} xpu_dump_fate;

typedef struct {
    const char *path;
    int is_folder;
    const char *source, *device, *chip, *precision; /* folder only */
    XPU_ARRAY(xpu_dump_item) items;                 /* layers' results in order of execution, or entries */
    XPU_ARRAY(xpu_dump_item) inputs;                /* folder only */
    XPU_ARRAY(xpu_dump_fate) fates;                 /* folder only: every tensor of the model */
} xpu_dump_list;

/* Opens a dump folder or an .npz archive. */
xpu_status xpu_dump_list_open(xpu_dump_list *list, xpu_arena *arena, const char *path, xpu_diags *diags);
/* The item that is this tensor, or NULL. */
const xpu_dump_item *xpu_dump_list_find(const xpu_dump_list *list, const char *tensor);
/* An item's data, in `arena`. */
xpu_status xpu_dump_item_read(const xpu_dump_item *item, xpu_arena *arena, xpu_tensor *tensor, xpu_diags *diags);

/* Elements a and b are equal when |a - b| <= relative * |b| + of_max * max|b|, or when both are NaN. With both 0 they
 * must have the same bits. */
typedef struct {
    double relative, of_max;
} xpu_tolerance;

typedef struct {
    int comparable; /* same element type and shape */
    int64_t count, differing;
    double max_difference; /* over elements where neither is NaN */
    double signal, noise;  /* sums of b^2 and (a - b)^2 over elements where both are finite */
    int64_t first;         /* row-major index of the first one that differs; -1: none */
    double first_a, first_b;
} xpu_comparison;

xpu_comparison xpu_compare(const xpu_tensor *a, const xpu_tensor *b, const xpu_tolerance *tolerance);
/* "[0,3,1]": the index of element `position` of a tensor. */
const char *xpu_index_text(xpu_arena *arena, const xpu_tensor *tensor, int64_t position);
/* Element `position` as a number. */
double xpu_element(const xpu_tensor *tensor, int64_t position);

/* What a comparison of two lists found. Items of `a` are looked up in `b` by tensor; an archive takes the order of the
 * folder beside it. */
typedef struct {
    uint32_t compared, differing, only_a, only_b;
    xpu_dump_item first; /* the first one that differs in order of execution */
    xpu_tensor first_a, first_b;
    xpu_comparison first_comparison;
} xpu_dump_difference;

/* Called for every pair that differs, in order of execution; may be NULL. */
typedef void (*xpu_dump_differs_fn)(void *context, const xpu_dump_item *item, const xpu_tensor *a, const xpu_tensor *b,
                                    const xpu_comparison *comparison);

xpu_status xpu_dump_compare(const xpu_dump_list *a, const xpu_dump_list *b, const xpu_tolerance *tolerance,
                            xpu_dump_differs_fn differs, void *context, xpu_dump_difference *result, xpu_arena *arena,
                            xpu_diags *diags);

#endif
