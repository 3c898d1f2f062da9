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
    uint64_t cycles; /* of the runs before the last start */
    uint64_t instructions[XPU_MAX_CORES];

    xpurt_fault fault;
    int has_fault;
    char reason[512];
};

/* Lock-step: a functional chip that executes what the RTL retires. NULL: out of memory. */
xpu_lockstep *xpu_lockstep_new(const xpu_chip *chip);
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
const char *xpu_lockstep_text(const xpu_lockstep *lockstep);

/* Fills in fault.state: the state of all cores and counters as text. */
void xpu_rtl_describe(xpurt_device *device, const xpu_model_state *state);

#endif
