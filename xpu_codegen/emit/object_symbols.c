#include "xpu_codegen/emit/object_symbols.h"

#include <elf.h>
#include <string.h>

/* ---- objects ---- */

typedef struct {
    const uint8_t *bytes;
    size_t length;
} object;

static const void *at(const object *o, uint64_t offset, uint64_t length) {
    return offset <= o->length && length <= o->length - offset ? o->bytes + offset : NULL;
}

static int section_at(const object *o, const Elf32_Ehdr *header, uint32_t index, Elf32_Shdr *section) {
    const void *from =
        index < header->e_shnum ? at(o, header->e_shoff + (uint64_t)index * sizeof *section, sizeof *section) : NULL;
    if (from) memcpy(section, from, sizeof *section);
    return from != NULL;
}

/* The terminated text at `offset` of a table of names. */
static const char *text_at(const object *o, const Elf32_Shdr *names, uint32_t offset) {
    const char *text = offset < names->sh_size ? at(o, names->sh_offset, names->sh_size) : NULL;
    return text && memchr(text + offset, 0, names->sh_size - offset) ? text + offset : NULL;
}

static int read_symbols(const object *o, const Elf32_Ehdr *header, const Elf32_Shdr *table, xpu_object_symbols *symbols,
                        xpu_arena *arena) {
    Elf32_Shdr names;
    if (!section_at(o, header, table->sh_link, &names)) return 0;
    for (uint64_t i = 1; i < table->sh_size / sizeof(Elf32_Sym); i++) {
        Elf32_Sym symbol;
        const void *from = at(o, table->sh_offset + i * sizeof symbol, sizeof symbol);
        if (!from) return 0;
        memcpy(&symbol, from, sizeof symbol);
        const char *name = text_at(o, &names, symbol.st_name);
        if (!name) return 0;
        if (ELF32_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
        if (symbol.st_shndx == SHN_UNDEF)
            XPU_PUSH(arena, &symbols->undefined, xpu_strdup(arena, name));
        else
            XPU_PUSH(arena, &symbols->defined, xpu_strdup(arena, name));
    }
    return 1;
}

int xpu_object_read(const uint8_t *bytes, size_t length, xpu_object_symbols *symbols, xpu_arena *arena) {
    const object o = {bytes, length};
    Elf32_Ehdr header;
    const void *from = at(&o, 0, sizeof header);
    *symbols = (xpu_object_symbols){.variable_bytes = 0};
    if (!from) return 0;
    memcpy(&header, from, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_REL) return 0;
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        Elf32_Shdr section;
        if (!section_at(&o, &header, i, &section)) return 0;
        if (section.sh_type == SHT_SYMTAB && !read_symbols(&o, &header, &section, symbols, arena)) return 0;
        if (!(section.sh_flags & SHF_ALLOC) || section.sh_flags & SHF_EXECINSTR) continue;
        if (section.sh_flags & SHF_WRITE)
            symbols->variable_bytes += section.sh_size;
        else
            symbols->constant_bytes += section.sh_size;
    }
    return 1;
}

/* ---- libraries ---- */

static uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The first member of a System V archive is its index: a count, as many offsets, as many names. */
int xpu_library_has(const uint8_t *bytes, size_t length, const char *symbol) {
    enum { MAGIC = 8, HEADER = 60, SIZE_AT = 48, SIZE_DIGITS = 10 };
    if (length < MAGIC + HEADER + 4 || memcmp(bytes + MAGIC, "/ ", 2) != 0) return 0;
    uint64_t size = 0;
    for (int i = 0; i < SIZE_DIGITS; i++) {
        uint8_t digit = bytes[MAGIC + SIZE_AT + i];
        if (digit >= '0' && digit <= '9') size = size * 10 + (digit - '0');
    }
    const uint8_t *index = bytes + MAGIC + HEADER;
    if (size > length - MAGIC - HEADER) return 0;
    const uint64_t names = 4 + (uint64_t)big_endian(index) * 4;
    for (uint64_t i = names; i < size;) {
        const char *name = (const char *)index + i;
        size_t letters = strnlen(name, (size_t)(size - i));
        if (letters < size - i && strcmp(name, symbol) == 0) return 1;
        i += letters + 1;
    }
    return 0;
}
