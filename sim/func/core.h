/*
 * One core of the functional chip: RV32IMF, Zicsr, Zve32f (VLEN 512, ELEN 32), in order, one instruction at a time.
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

#include "base/arena.h"
#include "core/isa.h"

enum { XPU_VLEN_BYTES = 64, XPU_CORE_RANGES = 32 };

/* A predecoded instruction. */
typedef struct {
    uint16_t op;      /* xpu_insn_id, or an internal mark */
    uint8_t rd;       /* bits 11:7; 32 stands for an x0 that is written */
    uint8_t rs1, rs2; /* bits 19:15 and 24:20 */
    uint8_t class;    /* xpu_insn_class */
    uint8_t rm;       /* bits 14:12 */
    uint8_t checked;  /* vector: the vtype key for which the operands were found legal; 0 none */
    int32_t imm;      /* xpu_insn_immediate; auipc and lui: the result */
    uint32_t word;
} xpu_decoded;

/* Code memory and its decoded pages. */
typedef struct xpu_code xpu_code;

/* Code memory of `size` bytes at `base` (both multiples of 4), whose contents stand at `host`. A jump outside it is a
 * fault. */
xpu_code *xpu_code_new(xpu_arena *arena, uint32_t base, uint32_t size, const uint8_t *host);

/* To be called when the host has written code memory: [address, address + size) is decoded again when next executed. */
void xpu_code_invalidate(xpu_code *code, uint32_t address, uint32_t size);

/* Memory that the core reads and writes directly. Base is a multiple of 1 MiB, size of 64 bytes; two ranges never share
 * a MiB of addresses. */
typedef struct {
    uint32_t base, size;
    uint8_t *host;
    int writable;
} xpu_core_range;

typedef enum {
    XPU_BUS_OK,
    XPU_BUS_STALL, /* the instruction is tried again by the next xpu_core_run */
    XPU_BUS_FAULT, /* bad address */
    XPU_BUS_ABORT, /* the program announces a fault of its own; the value stored is the fault's address */
    XPU_BUS_EXIT   /* done, and the program ends after this instruction */
} xpu_bus_result;

/* What the system offers a core. load and store get every aligned 32-bit scalar access outside the ranges; other
 * accesses there are faults. */
typedef struct {
    void *context;
    xpu_bus_result (*load)(void *context, unsigned core, uint32_t address, uint32_t *value);
    xpu_bus_result (*store)(void *context, unsigned core, uint32_t address, uint32_t value);
    uint64_t (*cycle)(void *context, unsigned core); /* CSR cycle; NULL: instret */
    /* Called for each access to a range before it happens (slow), for race checks; NULL: never. */
    void (*observe)(void *context, unsigned core, uint32_t address, uint32_t bytes, int store);
} xpu_core_bus;

typedef enum {
    XPU_CORE_BUDGET,  /* the budget is used up */
    XPU_CORE_STALLED, /* at an instruction that waits for the system */
    XPU_CORE_IDLE,    /* wfi was executed; it counts as a no-operation when the core runs on */
    XPU_CORE_EXIT,    /* the system reported XPU_BUS_EXIT */
    XPU_CORE_FAULT    /* see the core's fault; sticky */
} xpu_core_reason;

/* X(id, text) */
#define XPU_CORE_CAUSES(X)                                                                                             \
    X(NONE, "none")                                                                                                    \
    X(ILLEGAL, "illegal instruction")                                                                                  \
    X(ADDRESS, "bad address")                                                                                          \
    X(MISALIGNED, "misaligned address")                                                                                \
    X(JUMP, "jump outside code memory")                                                                                \
    X(ECALL, "ecall")                                                                                                  \
    X(EBREAK, "ebreak")                                                                                                \
    X(ABORT, "software abort")

typedef enum {
#define X(id, text) XPU_CAUSE_##id,
    XPU_CORE_CAUSES(X)
#undef X
} xpu_core_cause;
const char *xpu_core_cause_text(xpu_core_cause cause);

typedef struct {
    xpu_core_cause cause;
    uint32_t pc, word; /* the instruction; word is 0 when it could not be fetched */
    uint32_t address;  /* the memory address, jump target or abort code at fault; 0 otherwise */
} xpu_core_fault;

typedef struct xpu_core {
    _Alignas(64) uint8_t v[32 * XPU_VLEN_BYTES]; /* v0 to v31, little endian */
    uint32_t x[33];                              /* x[0] is always 0; x[32] takes what is written to x0 */
    uint32_t f[32];                              /* float bits */
    uint32_t pc;
    uint32_t vl, vtype, vstart; /* vtype as the CSR shows it: 0x80000000 is vill */
    uint8_t vxrm, vxsat, frm, fflags;
    uint64_t instret;

    /* Derived from vtype: log2 of SEW / 8, log2 of LMUL, VLMAX, the key that marks checked instructions. */
    uint8_t sew;
    int8_t lmul;
    uint8_t vkey;
    uint8_t native_modes; /* bit m: instructions with rm = m may use the host's rounding mode as it is */
    uint32_t vlmax;

    unsigned id, cores;
    xpu_core_fault fault;
    uint32_t pending; /* reason (xpu_core_reason) with which the instruction under way ends the run; 0 none */
    const xpu_core_bus *bus;
    xpu_code *code;
    unsigned range_count;
    xpu_core_range ranges[XPU_CORE_RANGES + 1]; /* entry 0 is empty */
    uint8_t map[4096];      /* MiB of the address space -> entry of ranges; 0 where an access is slow */
    uint8_t slow_map[4096]; /* the same even while accesses are observed */
} xpu_core;

/* Reset: pc = entry, registers 0, vill set, no fault. The bus and the ranges' memory must outlive the core.
 * Returns 0 when a range breaks the rules above or there are too many. */
int xpu_core_init(xpu_core *core, unsigned id, unsigned cores, const xpu_core_bus *bus, const xpu_core_range *ranges,
                  unsigned range_count, xpu_code *code, uint32_t entry);

/* Executes at most `budget` instructions and says why it stopped. A core with a fault stays where it is. */
xpu_core_reason xpu_core_run(xpu_core *core, uint64_t budget);

/* Continues at `pc` as if there had been no fault. For tests and debuggers. */
void xpu_core_clear_fault(xpu_core *core, uint32_t pc);

/* CSRs as the program sees them. Return 0 where there is none, or none that can be written. */
int xpu_core_read_csr(xpu_core *core, unsigned number, uint32_t *value);
int xpu_core_write_csr(xpu_core *core, unsigned number, uint32_t value);

#endif
