/* The Verilated chip as a device, inside: what its parts (driver, lock-step, reports) know of each other. */
#ifndef XPU_SIM_HARNESS_HARNESS_H
#define XPU_SIM_HARNESS_HARNESS_H

#include "sim/func/func.h"
#include "sim/harness/model.h"
#include "xpu_runtime/include/xpurt_rtl.h"

typedef struct xpu_lockstep xpu_lockstep;

/* A device of this driver. */
struct xpurt_device {
    xpu_chip chip;
    xpurt_rtl_options options;
    xpu_func memory; /* only its memory is used: GM, and the checks of host accesses */
    xpu_model_host host;
    xpu_model *model;
    xpu_lockstep *lockstep; /* NULL: none */

    xpu_sim_events events;

    int started;
    xpurt_counters before; /* counts of the runs before the last start; descriptors and macs: all */
    xpurt_observer observer;
    uint64_t states_at;                                         /* cycle up to which the observer knows the states */
    uint64_t states[XPU_MAX_CORES + XPU_ENGINES][XPURT_STATES]; /* then */
    uint32_t layers[XPU_MAX_CORES]; /* the layer that each core was in when that was asked last */
    enum { WAVE_NONE, WAVE_WAITING, WAVE_OPEN } wave;

    xpurt_fault fault;
    int has_fault;
    char reason[512];
    int (*stop)(void *context); /* the caller's hook, or NULL */
    void *stop_context;
};

/* What lock-step sees of the RTL. */
typedef struct {
    void *context;
    /* The bytes of a range as engines address it, and the vector registers of a core; NULL: not there. */
    const uint8_t *(*memory)(void *context, uint64_t address, uint64_t length);
    const uint8_t *(*vectors)(void *context, unsigned core);
    uint32_t (*layer)(void *context, unsigned core); /* register LAYER, >> 16 */
} xpu_lockstep_rtl;

/* Lock-step: a functional chip that executes what the RTL retires. `rtl` NULL: only what retires is compared. NULL:
 * out of memory. */
xpu_lockstep *xpu_lockstep_new(const xpu_chip *chip, const xpu_lockstep_rtl *rtl);
void xpu_lockstep_free(xpu_lockstep *lockstep);
int xpu_lockstep_write(xpu_lockstep *lockstep, uint64_t address, const void *bytes, size_t length);
int xpu_lockstep_map(xpu_lockstep *lockstep, uint64_t address, int file, uint64_t offset, size_t length);
int xpu_lockstep_start(xpu_lockstep *lockstep, uint32_t entry, uint32_t seed);

/* The functional chip executes this instruction too. 0: a difference, described by xpu_lockstep_text. `cause` and
 * `address` are those of the RTL's fault where the instruction has one. */
int xpu_lockstep_retire(xpu_lockstep *lockstep, const xpu_retired *retired);
int xpu_lockstep_fault(xpu_lockstep *lockstep, unsigned core, uint32_t cause, uint32_t address);
/* Core 0 has written `status` to EXIT, which never retires; all before it has. */
int xpu_lockstep_exit(xpu_lockstep *lockstep, uint64_t cycle, uint32_t status);
/* The functional chip executes this descriptor too; the bytes that it writes must be those of the RTL. */
int xpu_lockstep_complete(xpu_lockstep *lockstep, const xpurt_completion *completion);
/* An engine has stopped at a descriptor with this fault: func finds the same one there. */
int xpu_lockstep_engine_fault(xpu_lockstep *lockstep, const xpurt_fault *rtl, uint64_t cycle_now);
/* The first difference, "" while there is none, and the layer in which it is. */
const char *xpu_lockstep_text(const xpu_lockstep *lockstep);
uint32_t xpu_lockstep_layer(const xpu_lockstep *lockstep);

/* The host's bytes of a range as engines address it; NULL: not there. */
uint8_t *xpu_rtl_memory(const xpurt_device *device, uint64_t address, size_t length);

/* Fills in what a descriptor needs at least; `words` are its 32 words. */
void xpu_rtl_bounds(const xpu_chip *chip, const uint32_t *words, xpurt_completion *completion);

/* Fills in fault.state: the state of all cores and counters as text. */
void xpu_rtl_describe(xpurt_device *device, const xpu_model_state *state);

#endif
