/* The ELF file that a program is: its tables, and its sections of metadata. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/hostile.h"
#include "xpu_runtime/program/file.h"
#include "xpuc/include/xpuc.h"

uint32_t hostile_table(const hostile_file *file, uint32_t wanted, size_t *offset) {
    Elf32_Ehdr h;
    memcpy(&h, file->data, sizeof h);
    *offset = wanted == PT_LOAD ? h.e_phoff : h.e_shoff;
    return wanted == PT_LOAD ? h.e_phnum : h.e_shnum;
}

static Elf32_Shdr section_at(const hostile_file *file, uint32_t index) {
    Elf32_Shdr section;
    size_t offset;
    hostile_table(file, 0, &offset);
    memcpy(&section, file->data + offset + index * sizeof section, sizeof section);
    return section;
}

static uint32_t find_section(const hostile_file *file, const char *name) {
    Elf32_Ehdr h;
    memcpy(&h, file->data, sizeof h);
    Elf32_Shdr names = section_at(file, h.e_shstrndx);
    for (uint32_t i = 1; i < h.e_shnum; i++) {
        if (strcmp((const char *)file->data + names.sh_offset + section_at(file, i).sh_name, name) == 0) return i;
    }
    return 0;
}

int hostile_section(const hostile_file *file, const char *name, hostile_file *contents) {
    uint32_t index = find_section(file, name);
    if (!index) return 0;
    Elf32_Shdr section = section_at(file, index);
    hostile_set(contents, file->data + section.sh_offset, section.sh_size);
    return 1;
}

void hostile_set_section(hostile_file *file, const char *name, const hostile_file *contents) {
    static const uint8_t hash[XPU_HASH_BYTES];
    uint32_t index = find_section(file, name);
    Elf32_Shdr section = section_at(file, index);
    section.sh_offset = (Elf32_Off)file->size;
    section.sh_size = (Elf32_Word)contents->size;
    hostile_add(file, contents->data, contents->size);
    size_t offset;
    hostile_table(file, 0, &offset);
    memcpy(file->data + offset + index * sizeof section, &section, sizeof section);
    hostile_add(file, hash, sizeof hash);
    xpu_program_seal(file->data, file->size);
}

static int compile(hostile_file *program, const char *model, const char *chip, const char *precision, const char *shape,
                   xpuc_error *error) {
    const char *shapes[] = {shape, NULL};
    xpuc_options options = {
        .chip = chip, .precision = precision, .shapes = shapes, .resources = getenv("XPU_RESOURCES")};
    xpuc_result result;
    int good = xpuc_compile_file(model, &options, &result, error) == 0;
    if (good) hostile_set(program, result.bytes, result.size);
    xpuc_result_clear(&result);
    return good;
}

int hostile_try_compile(hostile_file *program, const char *model, const char *chip, const char *precision,
                        const char *shape) {
    xpuc_error error;
    int good = compile(program, model, chip, precision, shape, &error);
    xpuc_error_clear(&error);
    return good;
}

void hostile_compile(hostile_file *program, const char *model, const char *chip, const char *precision,
                     const char *shape) {
    xpuc_error error;
    if (!compile(program, model, chip, precision, shape, &error)) {
        fprintf(stderr, "%s cannot be compiled:\n%s", model, error.text ? error.text : "");
        exit(EXIT_FAILURE);
    }
    xpuc_error_clear(&error);
}
