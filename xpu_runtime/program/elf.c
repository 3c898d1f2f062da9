#include "xpu_runtime/program/elf.h"

#include <string.h>

enum { MAX_TABLE = 1024, MAX_NAMES = 1 << 20 };

static int inside(uint64_t size, uint64_t offset, uint64_t length) {
    return offset <= size && length <= size - offset;
}

const char *xpu_elf_header_problem(const Elf32_Ehdr *h, uint64_t size) {
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0) return "it does not begin with the ELF signature";
    if (h->e_ident[EI_CLASS] != ELFCLASS32 || h->e_ident[EI_DATA] != ELFDATA2LSB) {
        return "it is not a 32-bit little-endian ELF file";
    }
    if (h->e_type != ET_EXEC || h->e_machine != EM_RISCV) return "it is not a RISC-V executable";
    if (h->e_phentsize != sizeof(Elf32_Phdr) || h->e_shentsize != sizeof(Elf32_Shdr)) {
        return "its table entries have the wrong size";
    }
    if (h->e_phnum == 0 || h->e_phnum > MAX_TABLE || h->e_shnum == 0 || h->e_shnum > MAX_TABLE) {
        return "it has no program or section headers, or too many";
    }
    if (!inside(size, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf32_Phdr)) ||
        !inside(size, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf32_Shdr))) {
        return "its program or section headers lie outside of the file";
    }
    if (h->e_shstrndx == 0 || h->e_shstrndx >= h->e_shnum) return "it has no section names";
    return NULL;
}

static const char *check_tables(const xpu_elf *elf, uint64_t size) {
    for (uint32_t i = 0; i < elf->header.e_phnum; i++) {
        const Elf32_Phdr *p = &elf->segments[i];
        if (p->p_type != PT_LOAD) continue;
        if (!inside(size, p->p_offset, p->p_filesz)) return "a segment lies outside of the file";
        if (p->p_filesz > p->p_memsz) return "a segment is larger in the file than in memory";
        if ((uint64_t)p->p_paddr + p->p_memsz > (uint64_t)1 << 32) return "a segment leaves the address space";
    }
    for (uint32_t i = 0; i < elf->header.e_shnum; i++) {
        const Elf32_Shdr *s = &elf->sections[i];
        if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL && !inside(size, s->sh_offset, s->sh_size)) {
            return "a section lies outside of the file";
        }
        if (s->sh_name >= elf->names_bytes) return "a section's name lies outside of the names";
    }
    return NULL;
}

xpu_status xpu_elf_open(xpu_elf *elf, uint64_t size, xpu_elf_read_fn read, void *context, xpu_arena *arena,
                        const char **why, xpu_diags *diags) {
    Elf32_Ehdr *h = &elf->header;
    *why = "it is shorter than an ELF header";
    if (size < sizeof *h) return XPU_EIO;
    *why = NULL;
    if (read(context, 0, h, sizeof *h, diags) != XPU_OK) return XPU_EIO;
    *why = xpu_elf_header_problem(h, size);
    if (*why) return XPU_EIO;
    elf->segments = XPU_NEW_ARRAY(arena, Elf32_Phdr, h->e_phnum);
    elf->sections = XPU_NEW_ARRAY(arena, Elf32_Shdr, h->e_shnum);
    if (read(context, h->e_phoff, elf->segments, h->e_phnum * sizeof(Elf32_Phdr), diags) != XPU_OK ||
        read(context, h->e_shoff, elf->sections, h->e_shnum * sizeof(Elf32_Shdr), diags) != XPU_OK) {
        return XPU_EIO;
    }
    const Elf32_Shdr *names = &elf->sections[h->e_shstrndx];
    *why = "its section names are missing or too long";
    if (names->sh_type != SHT_STRTAB || names->sh_size == 0 || names->sh_size > MAX_NAMES ||
        !inside(size, names->sh_offset, names->sh_size)) {
        return XPU_EIO;
    }
    *why = NULL;
    elf->names_bytes = names->sh_size;
    elf->names = xpu_alloc(arena, (size_t)names->sh_size + 1);
    if (read(context, names->sh_offset, elf->names, names->sh_size, diags) != XPU_OK) return XPU_EIO;
    *why = check_tables(elf, size);
    return *why ? XPU_EIO : XPU_OK;
}

uint32_t xpu_elf_section(const xpu_elf *elf, const char *name) {
    for (uint32_t i = 1; i < elf->header.e_shnum; i++) {
        if (strcmp(elf->names + elf->sections[i].sh_name, name) == 0) return i;
    }
    return 0;
}
