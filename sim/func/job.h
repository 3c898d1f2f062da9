/* What all engines do with a descriptor. */
#ifndef XPU_SIM_FUNC_JOB_H
#define XPU_SIM_FUNC_JOB_H

#include "sim/func/func.h"

/* What a descriptor is executed with; reason is printf text. Engine functions return 0, or -1 after a fault. */
typedef struct {
    xpu_func *func;
    unsigned engine;
    uint64_t address;      /* of the descriptor */
    const uint32_t *words; /* its 32 words */
} xpu_func_job;
int xpu_func_engine_fault(const xpu_func_job *job, xpu_fault_cause cause, uint64_t address, const char *reason, ...)
    __attribute__((format(printf, 4, 5)));

/* As xpu_func_engine_memory for a read or write of a job: bounds, alignment, GM statistics; NULL after a fault. */
uint8_t *xpu_func_job_memory(const xpu_func_job *job, const char *field, uint64_t address, uint64_t length,
                             unsigned alignment, int write);

/* Counts bytes of an engine when the address is in GM. */
void xpu_func_count_gm(xpu_func *func, uint64_t address, uint64_t bytes, int write);

/* Whether the job is only looked at. */
static inline int xpu_func_checks(const xpu_func_job *job) {
    return job->func->extent != XPU_FUNC_EXECUTE;
}

/* Checks alignment and that the whole box is in one memory, counts its bytes. An empty box is fine. */
int xpu_func_job_box(const xpu_func_job *job, xpu_func_box *box, const char *field, unsigned alignment);

/* An element type of descriptors: its bytes, 0 for an unknown code. */
unsigned xpu_func_type_bytes(uint32_t type);

/* Checks a box of SM and tells nobody of it: more than what is accessed. */
int xpu_func_sm_bounds(const xpu_func_job *job, xpu_func_box *box, const char *field, unsigned alignment);

/* Checks a range of SM; as xpu_func_job_box, but the box must be in SM. */
int xpu_func_sm_box(const xpu_func_job *job, xpu_func_box *box, const char *field, unsigned alignment);

#endif
