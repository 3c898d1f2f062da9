/* What every importer takes from its caller: the shapes that the user asked for (--shape) and limits on the input. */
#ifndef XPU_FRONTEND_IMPORT_H
#define XPU_FRONTEND_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/tensor.h"

/* One dim of --shape: "3" is {3, 3, 1, NULL}, "32..224:32" is {32, 224, 32, NULL}, "N" is {0, 0, 0, "N"}, and
 * "N" with a range of its own has all four. min 0 stands for "no range given". */
typedef struct {
    int64_t min, max, step; /* min <= dim <= max, (dim - min) % step == 0 */
    const char *symbol;     /* inputs that share a name share the dim; NULL: the model's name, or a made-up one */
} xpu_shape_dim;

/* --shape NAME=... */
typedef struct {
    const char *input;
    int rank;
    xpu_shape_dim dims[XPU_MAX_RANK];
} xpu_shape_spec;

/* --value NAME=...: what an input of integers holds, all of it, or a range for each of its elements. */
enum { XPU_MOST_VALUES = 16 };
typedef struct {
    const char *input;
    int is_range;
    int64_t min, max; /* a range */
    uint32_t count;   /* numbers, in row-major order */
    int64_t numbers[XPU_MOST_VALUES];
} xpu_value_spec;

/* --bound NAME=N: a size that only the run knows is at most N. NAME is its symbol, or the tensor that says it. */
enum { XPU_MOST_BOUND = 1 << 30 };
typedef struct {
    const char *name;
    int64_t most;
} xpu_bound_spec;

/* The least value of a dim that neither model nor user bounds, by its name; 1 where there is none. */
typedef struct {
    const char *symbol;
    int64_t least;
} xpu_open_dim;

typedef struct {
    const xpu_shape_spec *shapes;
    uint32_t shape_count;
    const xpu_value_spec *values;
    uint32_t value_count;
    const xpu_bound_spec *bounds;
    uint32_t bound_count;
    int is_part; /* the model is a part of a network: a bound may be for another part, and is warned of only */
    const xpu_open_dim *open;
    uint32_t open_count;
    struct xpu_graph **partial; /* NULL, or what takes the graph of a model that cannot be read, as far as it was */
    const char *params;    /* the file of a PaddlePaddle program's parameters, or NULL: it lies beside the program */
    uint64_t memory_bytes; /* of the target's largest memory: no input is larger; 0: not known */
    /* Limits on hostile input; 0 takes the default in brackets. */
    uint32_t max_fields;       /* fields of the file's messages, tensor payloads not counted (2 million) */
    size_t max_skeleton_bytes; /* the model without tensor payloads (256 MiB) */
} xpu_import_options;

/* Gives `*graph` what was made where nothing was reported since there were `errors` errors and `first` entries; else
 * `options->partial`, and returns the status of the first error since. */
xpu_status xpu_import_end(const xpu_import_options *options, struct xpu_graph *made, size_t errors, size_t first,
                          const xpu_diags *diags, struct xpu_graph **graph);

#endif
