/*
 * What the program file needs of ELF32 (System V ABI, "Object Files"; RISC-V ELF psABI): a checked view of the linked
 * executable.
 */
#ifndef XPU_PROGRAM_ELF_H
#define XPU_PROGRAM_ELF_H

#include <elf.h>

#include "base/diag.h"

/* The tables of an executable. Pointers go into `arena` copies; every offset in them was checked against the file. */
typedef struct {
    Elf32_Ehdr header;
    Elf32_Phdr *segments; /* header.e_phnum */
    Elf32_Shdr *sections; /* header.e_shnum */
    char *names;          /* section names, terminated */
    uint32_t names_bytes;
} xpu_elf;

/* Reads `length` bytes at `offset` of the file into `to`; anything but XPU_OK is an error that was reported. */
typedef xpu_status (*xpu_elf_read_fn)(void *context, uint64_t offset, void *to, size_t length, xpu_diags *diags);

/* Why a file of `size` bytes with this header is none that can be read here, or NULL. */
const char *xpu_elf_header_problem(const Elf32_Ehdr *header, uint64_t size);

/* Checks the header and reads the tables. `size`: bytes of the file. On failure *why is the reason, or NULL when
 * reading failed and was reported. */
xpu_status xpu_elf_open(xpu_elf *elf, uint64_t size, xpu_elf_read_fn read, void *context, xpu_arena *arena,
                        const char **why, xpu_diags *diags);

/* Index of the section `name`, or 0. */
uint32_t xpu_elf_section(const xpu_elf *elf, const char *name);

#endif
