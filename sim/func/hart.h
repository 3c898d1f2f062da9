/* The state of a core, and what the system around it offers. */
#ifndef XPU_SIM_FUNC_HART_H
#define XPU_SIM_FUNC_HART_H

#include "core/chip.h"
#include "core/isa.h"

enum { XPU_VLEN_BYTES = 64, XPU_CORE_RANGES = 32 };

/* A vector loop over n elements, n a multiple of 16: d[e] = a[e] op b[e], whatever their widths; d may be an operand
 * too. Returns whether something saturated (fixed point) or flags to add to fflags (float32). */
typedef uint32_t xpu_kernel(void *d, const void *a, const void *b, uint32_t n, uint32_t options);

/* A predecoded instruction. */
typedef struct {
    uint16_t op;      /* xpu_insn_id */
    uint8_t rd;       /* bits 11:7; 32 stands for an x0 that is written */
    uint8_t rs1, rs2; /* bits 19:15 and 24:20 */
    uint8_t class;    /* xpu_insn_class */
    uint8_t hot;      /* how the interpreter dispatches it */
    uint8_t checked;  /* vector: the vtype key for which the operands were found legal; 0 none */
    int32_t imm;      /* xpu_insn_immediate; auipc and lui: the result */
    uint32_t word;
    xpu_kernel *kernel; /* vector: its loop at the SEW of `checked`, NULL: none */
} xpu_decoded;

/* Code memory and its decoded pages. */
typedef struct xpu_code xpu_code;

/* Memory that the core reads and writes directly. Base is a multiple of 1 MiB, size of 64 bytes; two ranges never share
 * a MiB of addresses. */
typedef struct {
    uint32_t base, size;
    uint8_t *host;
    int writable;
    uint64_t bytes[2]; /* bytes read and written so far */
} xpu_core_range;

typedef enum {
    XPU_BUS_OK,
    XPU_BUS_STALL, /* the instruction is tried again by the next xpu_hart_run */
    XPU_BUS_STOP,  /* done; the run ends after this instruction */
    XPU_BUS_FAULT  /* *value holds the cause (xpu_fault_cause) */
} xpu_bus_result;

/* What the system offers a core. load and store get every aligned 32-bit scalar access outside the ranges; other
 * accesses there are faults. They may change neither the core's registers nor its code. */
typedef struct {
    void *context;
    xpu_bus_result (*load)(void *context, uint32_t address, uint32_t *value);
    xpu_bus_result (*store)(void *context, uint32_t address, uint32_t *value);
    uint64_t (*cycle)(void *context); /* CSR cycle; NULL: instret */
    /* Called for each access to a range before it happens, with the instruction's pc in the hart (slow), for race
     * checks; NULL: never. */
    void (*observe)(void *context, uint32_t address, uint32_t bytes, int store);
    void (*fence)(void *context); /* called for each fence; NULL: never */
} xpu_core_bus;

typedef enum {
    XPU_HART_BUDGET,  /* the budget is used up */
    XPU_HART_STALLED, /* at an instruction that waits for the system */
    XPU_HART_IDLE,    /* wfi was executed */
    XPU_HART_STOPPED, /* the bus said XPU_BUS_STOP */
    XPU_HART_BREAK,   /* before the instruction of a breakpoint */
    XPU_HART_FAULT    /* see fault; sticky */
} xpu_hart_reason;

typedef struct {
    xpu_fault_cause cause; /* XPU_FAULT_NONE: none; ecall and ebreak are XPU_FAULT_ABORT */
    uint32_t pc, word;     /* the instruction; word is 0 when it could not be fetched */
    uint32_t address;      /* the memory address, jump target or stored value at fault; 0 otherwise */
} xpu_hart_fault;

typedef struct {
    _Alignas(64) uint8_t v[32 * XPU_VLEN_BYTES]; /* v0 to v31, little endian */
    uint32_t x[33];                              /* x[0] is always 0; x[32] takes what is written to x0 */
    uint32_t f[32];                              /* float bits */
    uint32_t pc;
    uint32_t pass;              /* breakpoint that does not stop the core, or 1; also after a stall there */
    uint32_t vl, vtype, vstart; /* vtype as the CSR shows it: 0x80000000 is vill */
    uint8_t vxrm, vxsat, frm, fflags;
    uint64_t instret;

    /* Derived from vtype: log2 of SEW / 8, log2 of LMUL, the key that marks checked instructions (0: vill), VLMAX. */
    uint8_t sew;
    int8_t lmul;
    uint8_t vkey;
    uint32_t vlmax;

    unsigned id, cores;
    xpu_hart_fault fault;
    const xpu_core_bus *bus;
    const struct xpu_host *host; /* what the host computes vectors with */
    xpu_code *code;
    unsigned range_count;
    xpu_core_range ranges[XPU_CORE_RANGES + 1]; /* from entry 1; entry 0 is empty */
    uint8_t map[2][4096];                       /* MiB of the address space -> range for loads, stores; 0: slow way */
} xpu_hart;

#endif
