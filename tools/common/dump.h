/*
 * Dump folders (xpu-run --dump-layers) and .npz archives as lists of tensors in order of execution, and their
 * comparison.
 */
#ifndef XPU_TOOLS_DUMP_H
#define XPU_TOOLS_DUMP_H

#include "base/compare.h"
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
    xpu_tolerance tolerance; /* folder: between ref and a device; not 0 where C of another target is in it */
    xpu_tensor value;        /* archive: with data */
} xpu_dump_item;

/* A tensor of the source model that has no file of its own. */
typedef struct {
    const char *tensor, *fate, *layer; /* layer: NULL for folded ones */
} xpu_dump_fate;

typedef struct {
    const char *path;
    int is_folder;
    const char *source, *device, *chip, *precision; /* folder only */
    const char *program_hash, *source_hash;         /* folder only: which program, and of which model */
    const char *incomplete;                         /* folder only: the rule that ended its run early, or NULL */
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

/* What a comparison of two lists found. Items of `a` are looked up in `b` by tensor; an archive takes the order of the
 * folder beside it. */
typedef struct {
    uint32_t compared, differing, only_a, only_b;
    xpu_tolerance loosest; /* of those of layers that were compared so */
    uint32_t rounded;      /* within the tolerance of their layers, and not equal in bits */
    xpu_dump_item first;   /* the first one that differs in order of execution */
    xpu_tensor first_a, first_b;
    xpu_comparison first_comparison;
} xpu_dump_difference;

/* Called for every pair that differs, in order of execution, with the tolerance that it was compared with; may be NULL.
 */
typedef void (*xpu_dump_differs_fn)(void *context, const xpu_dump_item *item, const xpu_tensor *a, const xpu_tensor *b,
                                    const xpu_tolerance *tolerance, const xpu_comparison *comparison);

/* `tolerance` NULL: bits decide, but between a folder of ref and one of a device that of the layer. */
xpu_status xpu_dump_compare(const xpu_dump_list *a, const xpu_dump_list *b, const xpu_tolerance *tolerance,
                            xpu_dump_differs_fn differs, void *context, xpu_dump_difference *result, xpu_arena *arena,
                            xpu_diags *diags);

#endif
