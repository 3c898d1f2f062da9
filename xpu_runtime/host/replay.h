/* What a replay knows: shared by replay.c and replay_values.c. */
#ifndef XPU_RUNTIME_HOST_REPLAY_H
#define XPU_RUNTIME_HOST_REPLAY_H

#include "xpu_runtime/host/host.h"

struct xpu_replay {
    json_t *index;      /* of the dump */
    json_t *entries;    /* of its tensors, by name */
    json_t *symbols;    /* by iteration (".i0002.i0001"): what the device had found when its last layer was complete */
    xpu_iterations now; /* that of the layer, which so many loops are around */
    uint32_t loops;
    xpu_tensor *values; /* by value id, in this iteration; without a dtype: not found yet */
    uint64_t found;     /* how many values have been looked for */
    int is_absent;      /* the dump's run did not run the layer, which is said by options->layer_ran */
};

/* The symbols that an object of the dump has; NULL: none. [dump-symbols] where a value is out of its symbol's range. */
xpu_status xpu_replay_take_symbols(xpu_run *run, const json_t *symbols);
/* `name` is part of what is asked for and not in the dump: [dump-missing]. */
xpu_status xpu_replay_missing(const xpu_run *run, const char *what, const char *kind, const char *name);
/* A value as it was in an iteration, if the dump has it: *found. */
xpu_status xpu_replay_read(xpu_run *run, xpu_value value, const xpu_iterations *when, xpu_tensor *tensor, int *found);

#endif
