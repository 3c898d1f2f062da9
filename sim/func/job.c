/* What all engines do with a descriptor: its faults, its operands in memory. */
#include "sim/func/job.h"

#include <stdarg.h>
#include <stdio.h>

#include "sim/func/memory.h"
#include "sim/func/races.h"

int xpu_func_engine_fault(const xpu_func_job *job, xpu_fault_cause cause, uint64_t address, const char *reason, ...) {
    xpu_func *func = job->func;
    xpurt_fault *fault = &func->fault;
    if (fault->cause != XPU_FAULT_NONE) return -1;
    va_list args;
    va_start(args, reason);
    vsnprintf(func->reason, sizeof func->reason, reason, args);
    va_end(args);
    *fault = (xpurt_fault){.cause = cause,
                           .cause_text = xpu_fault_text(cause),
                           .core = -1,
                           .engine = (int)job->engine,
                           .address = (uint32_t)address, /* the chip's report has 32 bits */
                           .descriptor = job->address,
                           .layer = job->words ? xpu_desc_nop_get_layer(job->words) : 0,
                           .reason = func->reason};
    return -1;
}

uint8_t *xpu_func_job_memory(const xpu_func_job *job, const char *field, uint64_t address, uint64_t length,
                             unsigned alignment, int write) {
    if (address % alignment != 0) {
        xpu_func_engine_fault(job, XPU_FAULT_MISALIGNED, address, "%s at 0x%llx is not aligned to %u bytes", field,
                              (unsigned long long)address, alignment);
        return NULL;
    }
    uint8_t *bytes = xpu_func_engine_memory(job->func, address, length);
    if (!bytes) {
        xpu_func_engine_fault(job, XPU_FAULT_ENGINE_ADDRESS, address,
                              "%s: %llu bytes at 0x%llx are not in one memory of this chip", field,
                              (unsigned long long)length, (unsigned long long)address);
        return NULL;
    }
    if (xpu_func_checks(job)) return bytes;
    if (write && job->func->writes)
        job->func->writes(job->func->writes_context,
                          &(xpu_func_box){address, {1, 1, 1, 1}, {0}, (unsigned)length, 1, bytes});
    xpu_func_count_gm(job->func, address, length, write);
    if (job->func->races) xpu_races_bytes(job->func->races, field, address, length, write);
    return bytes;
}

void xpu_func_count_gm(xpu_func *func, uint64_t address, uint64_t bytes, int write) {
    if (address < XPU_GM_BASE) return;
    *(write ? &func->totals.gm_write_bytes : &func->totals.gm_read_bytes) += bytes;
}

static uint64_t elements_of(const xpu_func_box *box) {
    return (uint64_t)box->size[0] * box->size[1] * box->size[2] * box->size[3];
}

/* Checks a box: size, alignment, that it is in one memory. 1: it is empty; -1: a fault. */
static int bounds(const xpu_func_job *job, xpu_func_box *box, const char *field, unsigned alignment) {
    int64_t low = 0, high = 0;
    uint64_t elements = 1;
    for (int d = 0; d < 4; d++) {
        if (box->size[d] == 0) return 1;
        int64_t reach = (int64_t)(box->size[d] - 1) * box->stride[d];
        *(reach < 0 ? &low : &high) += reach;
        elements *= box->size[d];
        if (elements > (uint64_t)1 << 31)
            return xpu_func_engine_fault(job, XPU_FAULT_DESCRIPTOR, job->address, "%s has more than 2^31 elements",
                                         field);
        if (box->size[d] > 1 && box->stride[d] % (int)alignment != 0)
            return xpu_func_engine_fault(job, XPU_FAULT_MISALIGNED, box->address,
                                         "%s: stride %d of dimension %d is no multiple of %u", field, box->stride[d], d,
                                         alignment);
    }
    if (box->address % alignment != 0)
        return xpu_func_engine_fault(job, XPU_FAULT_MISALIGNED, box->address, "%s at 0x%llx is not aligned to %u bytes",
                                     field, (unsigned long long)box->address, alignment);
    uint64_t first = box->address + (uint64_t)low, length = (uint64_t)(high - low) + box->bytes;
    uint8_t *bytes = xpu_func_engine_memory(job->func, first, length);
    if (!bytes)
        return xpu_func_engine_fault(job, XPU_FAULT_ENGINE_ADDRESS, box->address,
                                     "%s: the elements from 0x%llx to 0x%llx are not in one memory of this chip", field,
                                     (unsigned long long)first, (unsigned long long)(first + length - 1));
    box->bytes_at = bytes - low;
    return 0;
}

int xpu_func_job_box(const xpu_func_job *job, xpu_func_box *box, const char *field, unsigned alignment) {
    int result = bounds(job, box, field, alignment);
    if (result) return result < 0 ? -1 : 0;
    if (xpu_func_checks(job)) return 0;
    if (box->write && job->func->writes) job->func->writes(job->func->writes_context, box);
    xpu_func_count_gm(job->func, box->address, elements_of(box) * box->bytes, box->write);
    if (job->func->races)
        xpu_races_box(job->func->races, field, box->address, box->size, box->stride, box->bytes, box->write);
    return 0;
}

unsigned xpu_func_type_bytes(uint32_t type) {
    switch (type) {
#define X(name, code, bytes, doc)                                                                                      \
    case code: return bytes;
        XPU_DESC_TYPES(X)
#undef X
    default: return 0;
    }
}

static int in_sm(const xpu_func_job *job, const xpu_func_box *box, const char *field) {
    if (box->address >= XPU_SM_BASE && box->address < XPU_L3_BASE) return 0;
    return xpu_func_engine_fault(
        job, XPU_FAULT_ENGINE_ADDRESS, box->address, "%s at 0x%llx is not in SM, where the %s engine has its operands",
        field, (unsigned long long)box->address, job->engine == XPU_ENGINE_WINDOW ? "window" : "tensor");
}

int xpu_func_sm_box(const xpu_func_job *job, xpu_func_box *box, const char *field, unsigned alignment) {
    return in_sm(job, box, field) || xpu_func_job_box(job, box, field, alignment) ? -1 : 0;
}

int xpu_func_sm_bounds(const xpu_func_job *job, xpu_func_box *box, const char *field, unsigned alignment) {
    return in_sm(job, box, field) || bounds(job, box, field, alignment) < 0 ? -1 : 0;
}
