/*
 * The cores of the functional chip as RISC-V sees them (harts): RV32IMF, Zicsr, Zve32f (VLEN 512, ELEN 32), in order,
 * one instruction at a time.
 *
 * Sources: The RISC-V Instruction Set Manual, volume I; "RISC-V V" 1.0. Where they leave a choice: vector tails and
 * masked-off elements are undisturbed whatever vta and vma say; vill if and only if SEW > LMUL * 32 or vtype is
 * reserved; vl = min(AVL, VLMAX); vfredusum is computed in element order; every NaN that an operation makes is
 * 7fc00000; reserved encodings are illegal instructions, but one: a register group may be read as operands of two
 * widths.
 *
 * Everything outside the core comes in by xpu_core_bus; the code memory by xpu_code, which several cores may share. All
 * cores that share an xpu_code must run on one host thread.
 */
#ifndef XPU_SIM_FUNC_CORE_H
#define XPU_SIM_FUNC_CORE_H

#include "core/chip.h"
#include "core/isa.h"

enum { XPU_VLEN_BYTES = 64, XPU_CORE_RANGES = 32 };

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
} xpu_decoded;

/* Code memory and its decoded pages. */
typedef struct xpu_code xpu_code;

/* Code memory of `size` bytes at `base` (both multiples of 4), whose contents stand at `host`. A jump outside it is a
 * fault. NULL: out of memory. */
xpu_code *xpu_code_new(uint32_t base, uint32_t size, const uint8_t *host);
void xpu_code_free(xpu_code *code);

/* To be called when the host has written code memory: [address, address + size) is decoded again when next executed. */
void xpu_code_invalidate(xpu_code *code, uint32_t address, uint32_t size);

/* Sets or removes a breakpoint: a core that arrives there stops before the instruction. 0: there are too many, or this
 * is no address of an instruction. */
int xpu_code_break(xpu_code *code, uint32_t address, int set);

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
    xpu_code *code;
    unsigned range_count;
    xpu_core_range ranges[XPU_CORE_RANGES + 1]; /* from entry 1; entry 0 is empty */
    uint8_t map[2][4096];                       /* MiB of the address space -> range for loads, stores; 0: slow way */
} xpu_hart;

/* Reset: pc = entry, registers 0, vill set, no fault. The bus and the ranges' memory must outlive the core.
 * Returns 0 when a range breaks the rules above or there are too many. */
int xpu_hart_init(xpu_hart *hart, unsigned id, unsigned cores, const xpu_core_bus *bus, const xpu_core_range *ranges,
                  unsigned range_count, xpu_code *code, uint32_t entry);

/* Executes at most `budget` instructions and says why it stopped. A core with a fault stays where it is. */
xpu_hart_reason xpu_hart_run(xpu_hart *hart, uint64_t budget);

/* Whether bus->observe is called; after xpu_hart_init it is if there is one. */
void xpu_hart_observe(xpu_hart *hart, int on);

/* Continues at `pc` as if there had been no fault. For tests and debuggers. */
void xpu_hart_clear_fault(xpu_hart *hart, uint32_t pc);

/* CSRs as the program sees them, while the core does not run. Return 0 where there is none, or none to be written. */
int xpu_hart_read_csr(xpu_hart *hart, unsigned number, uint32_t *value);
int xpu_hart_write_csr(xpu_hart *hart, unsigned number, uint32_t value);

#endif
