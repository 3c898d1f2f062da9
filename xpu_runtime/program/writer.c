/* Makes the .xpu file from the linked executable: weights as a segment at the end, metadata as two more sections. */
#include <string.h>

#include "base/file.h"
#include "xpu_runtime/program/elf.h"
#include "xpu_runtime/program/file.h"
#include "xpu_runtime/program/metadata.h"

enum { PAGE = 4096, MAX_IMAGE = 256 << 20 };

typedef struct {
    const uint8_t *bytes;
    size_t size;
} memory_image;

static xpu_status read_memory(void *context, uint64_t offset, void *to, size_t length, xpu_diags *diags) {
    (void)diags;
    const memory_image *image = context;
    memcpy(to, image->bytes + offset, length);
    return XPU_OK;
}

static xpu_status broken(xpu_diags *diags, const char *path, const char *why) {
    return xpu_error(diags, XPU_EBUG, path, "xpu-link", NULL, "the linked program cannot be completed", why,
                     "report this with the model");
}

static uint64_t align(uint64_t value, uint64_t to) {
    return (value + to - 1) / to * to;
}

/* The value of a symbol, or 0. */
static uint32_t symbol(const xpu_elf *elf, const memory_image *image, const char *name) {
    uint32_t index = xpu_elf_section(elf, ".symtab");
    if (!index || elf->sections[index].sh_link >= elf->header.e_shnum) return 0;
    const Elf32_Shdr *table = &elf->sections[index], *strings = &elf->sections[table->sh_link];
    for (uint32_t i = 0; i < table->sh_size / sizeof(Elf32_Sym); i++) {
        Elf32_Sym s;
        memcpy(&s, image->bytes + table->sh_offset + i * sizeof s, sizeof s);
        if (s.st_name >= strings->sh_size) continue;
        const char *text = (const char *)image->bytes + strings->sh_offset + s.st_name;
        if (strncmp(text, name, strings->sh_size - s.st_name) == 0) return s.st_value;
    }
    return 0;
}

/* The addresses that only the linker knows. */
static xpu_status find_addresses(xpu_program *p, const xpu_elf *elf, const memory_image *image, const char *path,
                                 xpu_diags *diags) {
    uint32_t weights = xpu_elf_section(elf, ".weights");
    p->entry = elf->header.e_entry;
    p->plan_address = symbol(elf, image, "xpu_plan");
    p->control_address = symbol(elf, image, "xpu_control");
    p->image_end = symbol(elf, image, "xpu_image_end");
    p->weights_address = weights ? elf->sections[weights].sh_addr : 0;
    if (!p->plan_address || !p->control_address || !p->image_end) {
        return broken(diags, path, "a symbol of the start-up code is missing");
    }
    if (p->weights_bytes > (weights ? elf->sections[weights].sh_size : 0)) {
        return broken(diags, path, "the section .weights is smaller than the weights");
    }
    return XPU_OK;
}

typedef struct {
    xpu_output *output;
    uint64_t at;
} cursor;

static void put(cursor *c, const void *bytes, uint64_t length) {
    xpu_output_write_at(c->output, c->at, bytes, length);
    c->at += length;
}

static void pad_to(cursor *c, uint64_t offset) {
    static const uint8_t zeros[PAGE];
    while (c->at < offset) put(c, zeros, offset - c->at < PAGE ? offset - c->at : PAGE);
}

/* Weights one at a time, at their offsets in the segment. */
static xpu_status put_weights(cursor *c, const xpu_program *p, xpu_program_weight_fn weight, void *context,
                              xpu_arena *arena, xpu_diags *diags) {
    uint64_t base = c->at;
    for (uint32_t i = 0; i < p->buffers.count; i++) {
        const xpu_program_buffer *b = &p->buffers.items[i];
        if (b->kind != XPU_BUFFER_WEIGHT) continue;
        xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "weight");
        const void *bytes = NULL;
        uint64_t length = 0;
        xpu_status status = weight(context, i, scratch, &bytes, &length, diags);
        if (status == XPU_OK && (b->offset < c->at - base || length > p->weights_bytes - b->offset)) {
            status = broken(diags, c->output ? b->name : NULL, "weights overlap or leave their segment");
        }
        if (status == XPU_OK) {
            pad_to(c, base + b->offset);
            put(c, bytes, length);
        }
        xpu_arena_free(scratch);
        if (status != XPU_OK) return status;
    }
    pad_to(c, base + align(p->weights_bytes, PAGE));
    return XPU_OK;
}

/* Turns the NOBITS section and its segment into ones that are in the file at `offset`. */
static xpu_status back_weights(xpu_elf *elf, uint64_t offset, uint64_t bytes, const char *path, xpu_diags *diags) {
    Elf32_Shdr *section = &elf->sections[xpu_elf_section(elf, ".weights")];
    section->sh_type = SHT_PROGBITS;
    section->sh_offset = (Elf32_Off)offset;
    if (section->sh_size > bytes) section->sh_size = (Elf32_Word)bytes;
    for (uint32_t i = 0; i < elf->header.e_phnum; i++) {
        Elf32_Phdr *p = &elf->segments[i];
        if (p->p_type != PT_LOAD || p->p_vaddr != section->sh_addr) continue;
        p->p_offset = (Elf32_Off)offset;
        p->p_filesz = (Elf32_Word)bytes;
        if (p->p_memsz < p->p_filesz) p->p_memsz = p->p_filesz;
        return XPU_OK;
    }
    return broken(diags, path, "the section .weights has no segment of its own");
}

/* The section headers, with `count` more sections whose data stands at offsets[] already. */
static void put_sections(cursor *c, xpu_elf *elf, const char *const *names, const uint64_t *offsets,
                         const xpu_blob *data, uint32_t count, xpu_arena *arena) {
    xpu_text strings;
    xpu_text_init(&strings, arena);
    xpu_text_add_bytes(&strings, elf->names, elf->names_bytes);
    Elf32_Shdr *added = XPU_NEW_ARRAY(arena, Elf32_Shdr, count);
    for (uint32_t i = 0; i < count; i++) {
        added[i] = (Elf32_Shdr){.sh_name = (Elf32_Word)strings.length,
                                .sh_type = SHT_PROGBITS,
                                .sh_offset = (Elf32_Off)offsets[i],
                                .sh_size = (Elf32_Word)data[i].length,
                                .sh_addralign = 8};
        xpu_text_add_bytes(&strings, names[i], strlen(names[i]) + 1);
    }
    Elf32_Shdr *name_section = &elf->sections[elf->header.e_shstrndx];
    name_section->sh_offset = (Elf32_Off)c->at;
    name_section->sh_size = (Elf32_Word)strings.length;
    put(c, strings.text, strings.length);
    pad_to(c, align(c->at, 8));
    uint64_t table = c->at;
    put(c, elf->sections, elf->header.e_shnum * sizeof(Elf32_Shdr));
    put(c, added, count * sizeof(Elf32_Shdr));
    elf->header.e_shoff = (Elf32_Off)table;
    elf->header.e_shnum = (Elf32_Half)(elf->header.e_shnum + count);
}

/* What the reader would refuse is not written: a model can have more of something than a file may hold. */
static xpu_status check_limits(const xpu_program *p, const xpu_blob *data, xpu_arena *arena, xpu_diags *diags) {
    const char *why = "a section of metadata is over 8 MiB";
    if (data[0].length <= XPU_MAX_METADATA && data[1].length <= XPU_MAX_METADATA) {
        xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "limits of a program");
        xpu_metadata_decode(&data[0], &data[1], scratch, p->source, &why);
        xpu_arena_free(scratch);
    }
    if (!why) return XPU_OK;
    return xpu_error(diags, XPU_EMODEL, p->source, "program-limits", NULL, "the program is too large for its file", why,
                     "compile parts of the model, or fix free dimensions with --shape");
}

static xpu_status write_file(cursor *c, xpu_program *p, xpu_elf *elf, const memory_image *image, const char *path,
                             xpu_program_weight_fn weight, void *context, xpu_arena *arena, xpu_diags *diags) {
    static const char *const names[] = {".xpu.program", ".xpu.graph"};
    xpu_blob data[2];
    uint64_t offsets[2];
    xpu_status status = xpu_metadata_encode(p, arena, &data[0], &data[1], diags);
    if (status == XPU_OK) status = check_limits(p, data, arena, diags);
    if (status != XPU_OK) return status;
    put(c, image->bytes, image->size);
    if (p->weights_bytes) {
        pad_to(c, align(c->at, PAGE));
        uint64_t offset = c->at;
        status = put_weights(c, p, weight, context, arena, diags);
        if (status == XPU_OK) status = back_weights(elf, offset, c->at - offset, path, diags);
        if (status != XPU_OK) return status;
    }
    uint32_t count = data[1].length ? 2 : 1;
    for (uint32_t i = 0; i < count; i++) {
        pad_to(c, align(c->at, 8));
        offsets[i] = c->at;
        put(c, data[i].bytes, data[i].length);
    }
    put_sections(c, elf, names, offsets, data, count, arena);
    if (c->at >= (uint64_t)1 << 32) {
        return xpu_error(diags, XPU_EMODEL, p->source, "gm-capacity", NULL, "the program is larger than 4 GiB",
                         "an ELF32 file holds less", "compile a smaller model, or parts of it");
    }
    xpu_output_write_at(c->output, 0, &elf->header, sizeof elf->header);
    xpu_output_write_at(c->output, elf->header.e_phoff, elf->segments, elf->header.e_phnum * sizeof(Elf32_Phdr));
    return XPU_OK;
}

static xpu_status open_program(xpu_program *p, const char *elf_path, memory_image *image, xpu_elf *elf,
                               xpu_arena *arena, xpu_diags *diags) {
    const char *why;
    image->bytes = xpu_file_read_all(arena, elf_path, MAX_IMAGE, &image->size, diags);
    if (!image->bytes) return XPU_EIO;
    if (xpu_elf_open(elf, image->size, read_memory, image, arena, &why, diags) != XPU_OK) {
        return broken(diags, elf_path, why);
    }
    return find_addresses(p, elf, image, elf_path, diags);
}

xpu_status xpu_program_locate(xpu_program *program, const char *elf_path, xpu_arena *arena, xpu_diags *diags) {
    memory_image image;
    xpu_elf elf;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "locate");
    xpu_status status = open_program(program, elf_path, &image, &elf, scratch, diags);
    xpu_arena_free(scratch);
    return status;
}

xpu_status xpu_program_write(const xpu_program *program, const char *elf_path, const char *output_path,
                             xpu_program_weight_fn weight, void *context, xpu_arena *arena, xpu_diags *diags) {
    memory_image image;
    xpu_elf elf;
    xpu_program p = *program;
    xpu_status status = open_program(&p, elf_path, &image, &elf, arena, diags);
    if (status != XPU_OK) return status;
    cursor c = {.output = xpu_output_open(arena, output_path, diags)};
    if (!c.output) return XPU_EIO;
    status = write_file(&c, &p, &elf, &image, elf_path, weight, context, arena, diags);
    return status == XPU_OK ? xpu_output_commit(c.output) : status;
}
