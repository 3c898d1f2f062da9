/* Makes the .xpu file from the linked executable: weights as a segment at the end, metadata as two more sections. */
#include <string.h>

#include "base/file.h"
#include "xpu_runtime/program/elf.h"
#include "xpu_runtime/program/file.h"
#include "xpu_runtime/program/metadata.h"

enum { PAGE = 4096, MAX_IMAGE = 256 << 20 };

typedef struct {
    uint8_t *bytes;
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

/* The file is written from its beginning to its end, and hashed meanwhile. */
typedef struct {
    xpu_output *output;
    xpu_hasher *hasher;
    uint64_t at;
} cursor;

static void put(cursor *c, const void *bytes, uint64_t length) {
    xpu_output_write(c->output, bytes, length); /* errors are the commit's */
    xpu_hasher_add(c->hasher, bytes, length);
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

enum { DATA = 2, ADDED = DATA + 1 }; /* metadata and graph; these and the hash */
static const char *const added_names[ADDED] = {".xpu.program", ".xpu.graph", ".xpu.hash"};

/* What comes behind the linked image, at which offsets of the file. */
typedef struct {
    uint64_t weights, weights_end, data[DATA], names, table, hash;
    uint32_t added; /* sections: without .xpu.graph where it is empty */
    xpu_text strings;
    Elf32_Shdr sections[ADDED];
} layout;

static layout lay_out(const xpu_program *p, const xpu_elf *elf, uint64_t image_bytes, const xpu_blob *data,
                      xpu_arena *arena) {
    layout l = {.weights = image_bytes, .weights_end = image_bytes};
    if (p->weights_bytes) {
        l.weights = align(image_bytes, PAGE);
        l.weights_end = l.weights + align(p->weights_bytes, PAGE);
    }
    xpu_text_init(&l.strings, arena);
    xpu_text_add_bytes(&l.strings, elf->names, elf->names_bytes);
    uint64_t at = l.weights_end;
    for (int i = 0; i < ADDED; i++) {
        if (i < DATA && !data[i].length) continue;
        if (i < DATA) {
            l.data[i] = align(at, 8);
            at = l.data[i] + data[i].length;
        }
        l.sections[l.added++] = (Elf32_Shdr){.sh_name = (Elf32_Word)l.strings.length,
                                             .sh_type = SHT_PROGBITS,
                                             .sh_offset = i < DATA ? (Elf32_Off)l.data[i] : 0,
                                             .sh_size = i < DATA ? (Elf32_Word)data[i].length : XPU_HASH_BYTES,
                                             .sh_addralign = 8};
        xpu_text_add_bytes(&l.strings, added_names[i], strlen(added_names[i]) + 1);
    }
    l.names = at;
    l.table = align(l.names + l.strings.length, 8);
    l.hash = l.table + (elf->header.e_shnum + l.added) * sizeof(Elf32_Shdr);
    l.sections[l.added - 1].sh_offset = (Elf32_Off)l.hash;
    return l;
}

/* Header, segments and section names say where everything will be. */
static void patch_tables(xpu_elf *elf, const layout *l, memory_image *image) {
    Elf32_Shdr *names = &elf->sections[elf->header.e_shstrndx];
    uint32_t sections = elf->header.e_shnum;
    names->sh_offset = (Elf32_Off)l->names;
    names->sh_size = (Elf32_Word)l->strings.length;
    elf->header.e_shoff = (Elf32_Off)l->table;
    elf->header.e_shnum = (Elf32_Half)(sections + l->added);
    memcpy(image->bytes, &elf->header, sizeof elf->header);
    memcpy(image->bytes + elf->header.e_phoff, elf->segments, elf->header.e_phnum * sizeof(Elf32_Phdr));
}

/* What the reader would refuse is not written: a model can have more of something than a file may hold. */
static xpu_status check_limits(const xpu_program *p, const xpu_blob *data, xpu_arena *arena, xpu_diags *diags) {
    static const char *const names[] = {".xpu.program", ".xpu.graph"};
    const char *why = NULL;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "limits of a program");
    for (int i = 0; i < 2 && !why; i++) {
        if (data[i].length <= XPU_MAX_METADATA) continue;
        why = xpu_printf(scratch, "its section %s has %zu bytes, at most %d can be read", names[i], data[i].length,
                         XPU_MAX_METADATA);
    }
    if (!why && !p->is_checked) xpu_metadata_decode(&data[0], &data[1], scratch, p->source, &why);
    if (why) {
        xpu_error(diags, XPU_EMODEL, p->source, "program-limits", NULL, "the program is too large for its file",
                  xpu_printf(scratch, "%s; the program has %u layers", why, p->layers.count),
                  "compile parts of the model, or fix free dimensions with --shape");
    }
    xpu_arena_free(scratch);
    return why ? XPU_EMODEL : XPU_OK;
}

xpu_status xpu_program_check(const xpu_program *program, xpu_arena *arena, xpu_diags *diags) {
    xpu_blob data[2];
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "limits of a program");
    xpu_status status = xpu_metadata_encode(program, scratch, &data[0], &data[1], diags);
    if (status == XPU_OK) status = check_limits(program, data, scratch, diags);
    xpu_arena_free(scratch);
    return status;
}

static xpu_status check_size(const xpu_program *p, const layout *l, xpu_diags *diags) {
    if (l->hash + XPU_HASH_BYTES < (uint64_t)1 << 32) return XPU_OK;
    return xpu_error(diags, XPU_EMODEL, p->source, "gm-capacity", NULL, "the program is larger than 4 GiB",
                     "an ELF32 file holds less", "compile a smaller model, or parts of it");
}

static xpu_status write_file(cursor *c, xpu_program *p, xpu_elf *elf, memory_image *image, const char *path,
                             xpu_program_weight_fn weight, void *context, xpu_arena *arena, xpu_diags *diags) {
    xpu_blob data[DATA];
    xpu_status status = xpu_metadata_encode(p, arena, &data[0], &data[1], diags);
    if (status == XPU_OK) status = check_limits(p, data, arena, diags);
    if (status != XPU_OK) return status;
    uint32_t linked = elf->header.e_shnum;
    layout l = lay_out(p, elf, image->size, data, arena);
    status = check_size(p, &l, diags);
    if (status == XPU_OK && p->weights_bytes) {
        status = back_weights(elf, l.weights, l.weights_end - l.weights, path, diags);
    }
    if (status != XPU_OK) return status;
    patch_tables(elf, &l, image);
    put(c, image->bytes, image->size);
    pad_to(c, l.weights);
    if (p->weights_bytes) status = put_weights(c, p, weight, context, arena, diags);
    if (status != XPU_OK) return status;
    for (int i = 0; i < DATA; i++) {
        if (!data[i].length) continue;
        pad_to(c, l.data[i]);
        put(c, data[i].bytes, data[i].length);
    }
    put(c, l.strings.text, l.strings.length);
    pad_to(c, l.table);
    put(c, elf->sections, linked * sizeof(Elf32_Shdr));
    put(c, l.sections, l.added * sizeof(Elf32_Shdr));
    xpu_hash hash = xpu_hasher_result(c->hasher);
    put(c, hash.bytes, sizeof hash.bytes);
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
    cursor c = {.output = xpu_output_open(arena, output_path, diags), .hasher = xpu_hasher_new(arena)};
    if (!c.output) return xpu_diags_status(diags);
    status = write_file(&c, &p, &elf, &image, elf_path, weight, context, arena, diags);
    return status == XPU_OK ? xpu_output_commit(c.output) : status;
}
