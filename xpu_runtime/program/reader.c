/* Reads and checks .xpu files, from disk or from memory. */
#include <string.h>

#include "base/file.h"
#include "xpu_runtime/program/elf.h"
#include "xpu_runtime/program/file.h"
#include "xpu_runtime/program/metadata.h"

enum { LARGE = 128 << 20 };

static xpu_status refuse(const xpu_program_image *image, const char *why, xpu_diags *diags) {
    return xpu_error(diags, XPU_EIO, image->name, "xpu-format", NULL, "this is not a program that xpuc made", why,
                     "compile the model again with xpuc");
}

xpu_status xpu_program_bytes(const xpu_program_image *image, uint64_t offset, void *to, size_t length,
                             xpu_diags *diags) {
    if (offset > image->data->size || length > image->data->size - offset) {
        return refuse(image, "something in it lies outside of the file", diags);
    }
    if (length) memcpy(to, image->data->bytes + offset, length);
    return XPU_OK;
}

static xpu_status read_image(void *context, uint64_t offset, void *to, size_t length, xpu_diags *diags) {
    return xpu_program_bytes(context, offset, to, length, diags);
}

static xpu_status read_section(xpu_program_image *image, const xpu_elf *elf, const char *name, xpu_arena *arena,
                               xpu_blob *blob, xpu_diags *diags) {
    uint32_t index = xpu_elf_section(elf, name);
    *blob = (xpu_blob){NULL, 0};
    if (!index) return XPU_OK;
    const Elf32_Shdr *section = &elf->sections[index];
    if (section->sh_type == SHT_NOBITS) return refuse(image, "a section of metadata has no bytes", diags);
    if (section->sh_size > XPU_MAX_METADATA) return refuse(image, "a section of metadata is over 256 MiB", diags);
    blob->length = section->sh_size;
    blob->bytes = xpu_alloc(arena, blob->length);
    return xpu_program_bytes(image, section->sh_offset, blob->bytes, blob->length, diags);
}

/* What the loader puts into the device: the segments, by their physical addresses. */
static xpu_status collect_segments(xpu_program_image *image, const xpu_elf *elf, xpu_arena *arena, xpu_diags *diags) {
    xpu_program *p = &image->program;
    uint32_t begin = 0x80000000u;
    int has_weights = 0, has_plan = 0, has_entry = 0;
    for (uint32_t i = 0; i < elf->header.e_phnum; i++) {
        const Elf32_Phdr *h = &elf->segments[i];
        if (h->p_type != PT_LOAD || h->p_memsz == 0) continue;
        xpu_program_segment s = {h->p_paddr, h->p_offset, h->p_filesz, h->p_memsz, h->p_paddr == p->weights_address};
        uint64_t end = (uint64_t)s.address + s.memory_bytes;
        if (s.address < begin || end > p->image_end)
            return refuse(image, "a segment leaves the program's memory", diags);
        for (uint32_t k = 0; k < image->segments.count; k++) {
            const xpu_program_segment *other = &image->segments.items[k];
            if (s.address < other->address + (uint64_t)other->memory_bytes && other->address < end) {
                return refuse(image, "two segments overlap", diags);
            }
        }
        has_weights |= s.is_weights && s.file_bytes >= p->weights_bytes;
        has_plan |= p->plan_address >= s.address && p->plan_address % 4 == 0 &&
                    p->plan_address + 4 * (uint64_t)p->plan.count <= end;
        has_entry |= p->entry >= s.address && p->entry < end;
        XPU_PUSH(arena, &image->segments, s);
    }
    if (p->weights_bytes && !has_weights) return refuse(image, "its weights are missing", diags);
    if (p->plan.count && !has_plan) return refuse(image, "its plan table is in no segment", diags);
    if (!has_entry) return refuse(image, "its entry is in no segment", diags);
    if (p->control_address < begin || p->control_address % 4 || p->control_address + (uint64_t)16 > p->image_end) {
        return refuse(image, "its control block lies outside of its memory", diags);
    }
    return XPU_OK;
}

/* The hash at the end of a file. */
static xpu_hash hash_at_end(const uint8_t *bytes, uint64_t size) {
    xpu_hash hash;
    memcpy(hash.bytes, bytes + size - XPU_HASH_BYTES, sizeof hash.bytes);
    return hash;
}

void xpu_program_seal(void *bytes, uint64_t size) {
    if (size < XPU_HASH_BYTES) return;
    xpu_hash hash = xpu_hash_of(bytes, (size_t)size - XPU_HASH_BYTES);
    memcpy((uint8_t *)bytes + size - XPU_HASH_BYTES, hash.bytes, sizeof hash.bytes);
}

static xpu_status compare_hashes(const xpu_program_image *image, const xpu_hash *said, xpu_arena *arena,
                                 xpu_diags *diags) {
    if (xpu_hash_equal(said, &image->hash)) return XPU_OK;
    return xpu_error(diags, XPU_EIO, image->name, "xpu-hash", NULL, "the program is damaged, or of another version",
                     xpu_printf(arena, "its content has the hash %s, it says %s", xpu_hash_text(arena, &image->hash),
                                xpu_hash_text(arena, said)),
                     "copy the file again, or compile the model again with xpuc");
}

static xpu_status check_hash(xpu_program_image *image, xpu_arena *arena, xpu_diags *diags) {
    const xpu_snapshot *data = image->data;
    xpu_hash said = hash_at_end(data->bytes, data->size);
    image->hash = xpu_hash_of(data->bytes, (size_t)data->size - XPU_HASH_BYTES);
    return compare_hashes(image, &said, arena, diags);
}

static xpu_program_image *open_image(xpu_program_image *image, xpu_arena *arena, xpu_diags *diags) {
    xpu_elf elf;
    const char *why;
    xpu_blob metadata, graph;
    if (xpu_elf_open(&elf, image->data->size, read_image, image, arena, &why, diags) != XPU_OK) {
        if (why) refuse(image, why, diags);
        return NULL;
    }
    if (check_hash(image, arena, diags) != XPU_OK) return NULL;
    if (read_section(image, &elf, ".xpu.program", arena, &metadata, diags) != XPU_OK ||
        read_section(image, &elf, ".xpu.graph", arena, &graph, diags) != XPU_OK) {
        return NULL;
    }
    if (!metadata.bytes) {
        refuse(image, "it has no section .xpu.program", diags);
        return NULL;
    }
    const xpu_program *program = xpu_metadata_decode(&metadata, &graph, arena, image->name, &why);
    if (!program) {
        refuse(image, why, diags);
        return NULL;
    }
    image->program = *program;
    image->program.entry = elf.header.e_entry;
    return collect_segments(image, &elf, arena, diags) == XPU_OK ? image : NULL;
}

/* A large file takes no memory before its hash is right. */
static xpu_status check_large(xpu_program_image *image, const xpu_file *file, xpu_arena *scratch, xpu_diags *diags) {
    xpu_hash said;
    xpu_hasher *hasher = xpu_hasher_new(scratch);
    uint64_t length = file->size - XPU_HASH_BYTES;
    xpu_status status = xpu_hasher_add_bytes(hasher, file, 0, length, diags);
    if (status == XPU_OK) status = xpu_file_read(file, length, said.bytes, sizeof said.bytes, diags);
    image->hash = xpu_hasher_result(hasher);
    return status == XPU_OK ? compare_hashes(image, &said, scratch, diags) : status;
}

/* Before a file that may be anything is taken into memory. */
static xpu_status look_at_file(xpu_program_image *image, const xpu_file *file, xpu_arena *scratch, xpu_diags *diags) {
    Elf32_Ehdr header;
    if (file->size < sizeof header) return refuse(image, "it is shorter than an ELF header", diags);
    if (file->size >> 32) return refuse(image, "it is larger than 4 GiB", diags);
    if (xpu_file_read(file, 0, &header, sizeof header, diags) != XPU_OK) return XPU_EIO;
    const char *why = xpu_elf_header_problem(&header, file->size);
    if (why) return refuse(image, why, diags);
    return file->size > LARGE ? check_large(image, file, scratch, diags) : XPU_OK;
}

xpu_program_image *xpu_program_read(xpu_arena *arena, const char *path, xpu_diags *diags) {
    xpu_program_image *image = XPU_NEW(arena, xpu_program_image);
    image->name = xpu_strdup(arena, path);
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "program file");
    const xpu_file *file = xpu_file_open(scratch, path, diags);
    if (file && look_at_file(image, file, scratch, diags) == XPU_OK)
        image->data = xpu_snapshot_file(arena, file, diags);
    xpu_arena_free(scratch);
    return image->data ? open_image(image, arena, diags) : NULL;
}

xpu_program_image *xpu_program_parse(xpu_arena *arena, const void *bytes, uint64_t size, const char *name,
                                     xpu_diags *diags) {
    xpu_program_image *image = XPU_NEW(arena, xpu_program_image);
    image->name = xpu_strdup(arena, name);
    image->data = xpu_snapshot_bytes(arena, bytes, size);
    return open_image(image, arena, diags);
}

static const xpu_program_segment *weights_segment(const xpu_program_image *image) {
    for (uint32_t i = 0; i < image->segments.count; i++) {
        if (image->segments.items[i].is_weights) return &image->segments.items[i];
    }
    return NULL;
}

xpu_status xpu_program_load_constants(xpu_program_image *image, xpu_arena *arena, xpu_diags *diags) {
    const xpu_program *p = &image->program;
    const xpu_program_segment *segment = weights_segment(image);
    for (uint32_t i = 0; i < p->values.count; i++) {
        const xpu_program_value *placed = &p->values.items[i];
        const xpu_value_info *info = xpu_value_at(p->graph, placed->value);
        if (info->kind != XPU_VALUE_CONST || info->constant->bytes) continue;
        xpu_tensor tensor = {.dtype = info->dtype, .rank = info->rank};
        xpu_value_dims(p->graph, placed->value, NULL, tensor.dims);
        uint64_t packed_bytes = xpu_packed_bytes(&placed->packing, tensor.dtype, (uint64_t)xpu_tensor_count(&tensor));
        if (!segment) return refuse(image, "its weights are missing", diags);
        xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "packed weight");
        void *packed = xpu_alloc(scratch, packed_bytes);
        uint64_t offset = segment->offset + p->buffers.items[placed->buffer].offset;
        xpu_status status = xpu_program_bytes(image, offset, packed, packed_bytes, diags);
        if (status == XPU_OK) {
            tensor.data = xpu_alloc(arena, xpu_tensor_bytes(&tensor));
            if (xpu_unpack(&placed->packing, packed, packed_bytes, &tensor) != XPU_OK) {
                status = refuse(image, "a weight's packing does not fit its shape", diags);
            }
        }
        xpu_arena_free(scratch);
        if (status != XPU_OK) return status;
        info->constant->bytes = tensor.data;
        info->constant->length = xpu_tensor_bytes(&tensor);
    }
    return XPU_OK;
}
