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

#include "sim/func/hart.h"

/* Code memory of `size` bytes at `base` (both multiples of 4), whose contents stand at `host`. A jump outside it is a
 * fault. NULL: out of memory. */
xpu_code *xpu_code_new(uint32_t base, uint32_t size, const uint8_t *host);
void xpu_code_free(xpu_code *code);

/* To be called when the host has written code memory: [address, address + size) is decoded again when next executed. */
void xpu_code_invalidate(xpu_code *code, uint32_t address, uint32_t size);

/* Sets or removes a breakpoint: a core that arrives there stops before the instruction. 0: there are too many, or this
 * is no address of an instruction. */
int xpu_code_break(xpu_code *code, uint32_t address, int set);

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

#endif
