/*
 * The instruction set of the core: decoder and disassembler, both from core/isa.def.
 */
#ifndef XPU_CORE_ISA_H
#define XPU_CORE_ISA_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    XPU_INSN_ILLEGAL,
#define XPU_INSN(id, mnemonic, mask, match, format, class) XPU_INSN_##id,
#include "core/isa.def"
    XPU_INSN_COUNT
} xpu_insn_id;

typedef enum {
#define XPU_FORMAT(id, operands, text) XPU_FORMAT_##id,
#include "core/isa.def"
    XPU_FORMAT_COUNT
} xpu_insn_format;

typedef enum {
#define XPU_CLASS(id, text) XPU_CLASS_##id,
#include "core/isa.def"
    XPU_CLASS_COUNT
} xpu_insn_class;

/* One row of core/isa.def. Entry XPU_INSN_ILLEGAL has an empty mnemonic and matches nothing. */
typedef struct {
    const char *mnemonic;
    uint32_t mask, match;
    uint8_t format, class; /* xpu_insn_format, xpu_insn_class */
} xpu_insn_info;

extern const xpu_insn_info xpu_insn_infos[XPU_INSN_COUNT];
const char *xpu_format_operands(xpu_insn_format format); /* "rd, rs1, imm" */
const char *xpu_format_text(xpu_insn_format format);
const char *xpu_class_text(xpu_insn_class class);

/* The instruction that `word` encodes, or XPU_INSN_ILLEGAL. Operands that are illegal only together with vtype (or a
 * reserved rounding mode) are not looked at. */
xpu_insn_id xpu_insn_find(uint32_t word);

/* The immediate of an instruction by its format: branch and jump distances, offsets, shift amounts, the upper 20 bits
 * (shifted up), CSR numbers, vtype, signed or unsigned 5-bit immediates; 0 where there is none. */
int32_t xpu_insn_immediate(uint32_t word, xpu_insn_format format);

/* The name of a CSR, or NULL for one that the core does not have. */
const char *xpu_csr_name(unsigned number);

/* Writes the text of the instruction at `pc`, mnemonic and operands separated by a tab, without aliases (as
 * llvm-objdump -M no-aliases prints it); ".word 0x..." for an illegal one. Always terminated; returns the length it
 * needs.
 */
size_t xpu_disassemble(uint32_t word, uint32_t pc, char *buffer, size_t size);

#endif
