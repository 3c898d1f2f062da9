/*
 * hwgen: prints the formats of core/chip.def and core/isa.def as a SystemVerilog package (--sv), a C header for device
 * and host (--c) or Markdown tables (--md). The outputs are committed; `make lint` compares them.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/chip.h"
#include "core/isa.h"

typedef struct {
    const char *name;
    unsigned long number;
    const char *doc;
} constant;

typedef struct {
    const char *name;
    unsigned long offset, count, stride;
    const char *access;
    unsigned long reset;
    const char *doc;
} reg;

typedef struct {
    const char *name;
    unsigned number;
    const char *access, *doc;
} csr;

typedef struct {
    const char *name;
    unsigned opcode;
    const char *engine, *doc;
} kind;

typedef struct {
    const char *name;
    unsigned word;
    const char *type, *doc;
} param;

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const constant constants[] = {
#define X(name, value, doc) {#name, value, doc},
    XPU_CHIP_CONSTANTS(X)
#undef X
};
static const reg regions[] = {
#define X(name, base, room, doc) {#name, base, room, 0, "", 0, doc},
    XPU_CHIP_REGIONS(X)
#undef X
};
static const reg registers[] = {
#define X(name, offset, count, stride, access, reset, doc) {#name, offset, count, stride, #access, reset, doc},
    XPU_CHIP_REGISTERS(X)
#undef X
};
static const csr csrs[] = {
#define X(name, number, access, doc) {#name, number, #access, doc},
    XPU_CHIP_CSRS(X)
#undef X
};
static const constant engines[] = {
#define X(name, number, doc) {#name, number, doc},
    XPU_CHIP_ENGINES(X)
#undef X
};
static const reg types[] = {
#define X(name, code, bytes, doc) {#name, code, bytes, 0, "", 0, doc},
    XPU_DESC_TYPES(X)
#undef X
};
static const constant enums[] = {
#define X(name, value, doc) {#name, value, doc},
    XPU_DESC_ENUMS(X)
#undef X
};
static const kind kinds[] = {
#define X(name, opcode, engine, doc) {#name, opcode, #engine, doc},
    XPU_DESC_KINDS(X)
#undef X
};
static const param params[] = {
#define X(name, word, type, doc) {#name, word, #type, doc},
    XPU_POST_PARAMS(X)
#undef X
};
typedef struct {
    const char *section, *key, *field, *kind;
    unsigned long long min, max;
    const char *doc;
} chip_key;
static const chip_key keys[] = {
#define X(section, key, field, kind, min, max, doc) {#section, #key, #field, #kind, min, max, doc},
    XPU_CHIP_KEYS(X)
#undef X
};
static const csr lost_causes[] = {
#define X(name, text, doc) {#name, XPU_LOST_##name, text, doc},
    XPU_LOST_CAUSES(X)
#undef X
};
static const csr fault_causes[] = {
#define X(name, text, doc) {#name, XPU_FAULT_##name, text, doc},
    XPU_FAULT_CAUSES(X)
#undef X
};
static const csr instructions[] = {
#define XPU_INSN(id, mnemonic, mask, match, format, class) {#id, XPU_INSN_##id, "", ""},
#include "core/isa.def"
};
static const csr classes[] = {
#define XPU_CLASS(id, text) {#id, XPU_CLASS_##id, "", text},
#include "core/isa.def"
};
static const csr perf_counters[] = {
#define X(name, unit, doc) {#name, 0, #unit, doc},
    XPU_PERF_COUNTERS(X)
#undef X
};

/* `name` in capital letters; the result is valid until the next call. */
static const char *upper(const char *name) {
    static char text[64];
    size_t i = 0;
    for (; name[i] && i + 1 < sizeof text; i++) text[i] = (char)toupper((unsigned char)name[i]);
    text[i] = 0;
    return text;
}

/* ---- C header ---- */

static void c_constants(void) {
    puts("/* constants */");
    for (size_t i = 0; i < COUNT(constants); i++)
        printf("#define XPU_%s %luu /* %s */\n", constants[i].name, constants[i].number, constants[i].doc);
    puts("\n/* memory map: XPU_NAME_BASE */");
    for (size_t i = 0; i < COUNT(regions); i++)
        printf("#define XPU_%s_BASE 0x%08lxu /* %s */\n", regions[i].name, regions[i].offset, regions[i].doc);
    puts("\n/* registers: offsets from XPU_REGS_BASE; with _STRIDE where there are several */");
    for (size_t i = 0; i < COUNT(registers); i++) {
        printf("#define XPU_REG_%s 0x%04lxu /* %s: %s */\n", registers[i].name, registers[i].offset,
               registers[i].access, registers[i].doc);
        if (registers[i].count > 1) printf("#define XPU_REG_%s_STRIDE %luu\n", registers[i].name, registers[i].stride);
    }
    puts("\n/* CSR numbers */");
    for (size_t i = 0; i < COUNT(csrs); i++)
        printf("#define XPU_CSR_%s 0x%03x /* %s: %s */\n", csrs[i].name, csrs[i].number, csrs[i].access, csrs[i].doc);
    puts("\n/* engines */");
    for (size_t i = 0; i < COUNT(engines); i++)
        printf("#define XPU_ENGINE_%s %luu /* %s */\n", engines[i].name, engines[i].number, engines[i].doc);
    printf("#define XPU_ENGINES %zuu\n", COUNT(engines));
    puts("\n/* element types of descriptors */");
    for (size_t i = 0; i < COUNT(types); i++)
        printf("#define XPU_TYPE_%s %luu /* %s, %lu bytes */\n", types[i].name, types[i].offset, types[i].doc,
               types[i].count);
    puts("\n/* values of descriptor fields */");
    for (size_t i = 0; i < COUNT(enums); i++)
        printf("#define XPU_%s %luu /* %s */\n", enums[i].name, enums[i].number, enums[i].doc);
    puts("\n/* opcodes of descriptors */");
    for (size_t i = 0; i < COUNT(kinds); i++)
        printf("#define XPU_OPCODE_%s %uu /* %s */\n", upper(kinds[i].name), kinds[i].opcode, kinds[i].doc);
}

static void c_params(void) {
    puts("\n/* A word of a parameter block whose type depends on the mode. */\n"
         "typedef union {\n    int32_t i;\n    uint32_t u;\n    float f;\n} xpu_word;\n\n"
         "/* A post-processor parameter block, as it lies in memory. */\ntypedef struct {");
    for (size_t i = 0; i < COUNT(params); i++) {
        const char *type = strcmp(params[i].type, "F32") == 0   ? "float"
                           : strcmp(params[i].type, "I32") == 0 ? "int32_t"
                           : strcmp(params[i].type, "A32") == 0 ? "uint32_t"
                                                                : "xpu_word";
        printf("    %s %s; /* %s */\n", type, params[i].name, params[i].doc);
    }
    puts("} xpu_post_params;");
}

static const char *c_type(const xpu_desc_field *field) {
    if (field->type == 'A') return "uint64_t";
    if (field->type == 'F') return "float";
    return field->type == 'S' ? "int32_t" : "uint32_t";
}

static void c_struct(const kind *k) {
    printf("\n/* %s: %s */\ntypedef struct {\n", k->name, k->doc);
    for (unsigned i = 0; i < xpu_desc_field_count; i++) {
        const xpu_desc_field *field = &xpu_desc_fields[i];
        if (strcmp(field->kind, k->name) != 0) continue;
        printf("    %s %s; /* %s */\n", c_type(field), field->name, field->doc);
    }
    printf("} xpu_desc_%s;\n", k->name);
}

static void c_accessors(const kind *k) {
    for (unsigned i = 0; i < xpu_desc_field_count; i++) {
        const xpu_desc_field *f = &xpu_desc_fields[i];
        if (strcmp(f->kind, k->name) != 0) continue;
        printf("static inline %s xpu_desc_%s_get_%s(const uint32_t *words) {\n", c_type(f), k->name, f->name);
        if (f->type == 'A')
            printf("    return words[%u] | (uint64_t)xpu_desc_bits(words[%u], %u, 8) << 32;\n}\n", f->word, f->hi / 32,
                   f->hi % 32);
        else if (f->type == 'F')
            printf("    return xpu_desc_float(words[%u]);\n}\n", f->word);
        else
            printf("    return %s(words[%u], %u, %u);\n}\n", f->type == 'S' ? "xpu_desc_signed" : "xpu_desc_bits",
                   f->word, f->bit, f->width);
        printf("static inline void xpu_desc_%s_set_%s(uint32_t *words, %s value) {\n", k->name, f->name, c_type(f));
        if (f->type == 'A')
            printf("    words[%u] = (uint32_t)value;\n    xpu_desc_insert(&words[%u], %u, 8, (uint32_t)(value >> "
                   "32));\n}\n",
                   f->word, f->hi / 32, f->hi % 32);
        else if (f->type == 'F')
            printf("    words[%u] = xpu_desc_float_bits(value);\n}\n", f->word);
        else
            printf("    xpu_desc_insert(&words[%u], %u, %u, (uint32_t)value);\n}\n", f->word, f->bit, f->width);
    }
}

static void c_pack(const kind *k) {
    printf("/* Writes all %u words; the opcode is set whatever d->opcode says. */\n"
           "static inline void xpu_desc_%s_pack(uint32_t *words, const xpu_desc_%s *d) {\n"
           "    for (int i = 0; i < %u; i++) words[i] = 0;\n",
           XPU_CHIP_DESC_WORDS, k->name, k->name, XPU_CHIP_DESC_WORDS);
    for (unsigned i = 0; i < xpu_desc_field_count; i++) {
        const xpu_desc_field *f = &xpu_desc_fields[i];
        if (strcmp(f->kind, k->name) == 0 && strcmp(f->name, "opcode") != 0)
            printf("    xpu_desc_%s_set_%s(words, d->%s);\n", k->name, f->name, f->name);
    }
    printf("    xpu_desc_%s_set_opcode(words, %uu);\n}\n", k->name, k->opcode);
    printf("static inline void xpu_desc_%s_unpack(const uint32_t *words, xpu_desc_%s *d) {\n", k->name, k->name);
    for (unsigned i = 0; i < xpu_desc_field_count; i++) {
        const xpu_desc_field *f = &xpu_desc_fields[i];
        if (strcmp(f->kind, k->name) == 0)
            printf("    d->%s = xpu_desc_%s_get_%s(words);\n", f->name, k->name, f->name);
    }
    puts("}");
}

static void print_c(void) {
    puts("/* Made by tools/hwgen from core/chip.def; do not edit. For freestanding C on the device and for the host. "
         "*/\n"
         "#ifndef XPU_CHIP_REGS_H\n#define XPU_CHIP_REGS_H\n\n#include <stdint.h>\n\n/* clang-format off */\n");
    c_constants();
    c_params();
    puts("\nstatic inline uint32_t xpu_desc_bits(uint32_t word, unsigned bit, unsigned width) {\n"
         "    return word >> bit & (width < 32 ? (1u << width) - 1 : ~0u);\n}\n"
         "static inline int32_t xpu_desc_signed(uint32_t word, unsigned bit, unsigned width) {\n"
         "    return (int32_t)(word << (32 - bit - width)) >> (32 - width);\n}\n"
         "static inline void xpu_desc_insert(uint32_t *word, unsigned bit, unsigned width, uint32_t value) {\n"
         "    uint32_t mask = (width < 32 ? (1u << width) - 1 : ~0u) << bit;\n"
         "    *word = (*word & ~mask) | (value << bit & mask);\n}\n"
         "static inline float xpu_desc_float(uint32_t bits) {\n    xpu_word w;\n    w.u = bits;\n    return w.f;\n}\n"
         "static inline uint32_t xpu_desc_float_bits(float value) {\n    xpu_word w;\n    w.f = value;\n    return "
         "w.u;\n}");
    for (size_t i = 0; i < COUNT(kinds); i++) {
        c_struct(&kinds[i]);
        c_accessors(&kinds[i]);
        c_pack(&kinds[i]);
    }
    puts("\n/* clang-format on */\n\n#endif");
}

/* ---- SystemVerilog package ---- */

static void sv_constants(void) {
    for (size_t i = 0; i < COUNT(constants); i++)
        printf("  localparam int unsigned %s = %lu;  // %s\n", constants[i].name, constants[i].number,
               constants[i].doc);
    for (size_t i = 0; i < COUNT(regions); i++)
        printf("  localparam logic [31:0] %s_BASE = 32'h%08lx;  // %s\n", regions[i].name, regions[i].offset,
               regions[i].doc);
    for (size_t i = 0; i < COUNT(registers); i++)
        printf("  localparam logic [15:0] REG_%s = 16'h%04lx;  // %s\n", registers[i].name, registers[i].offset,
               registers[i].doc);
    for (size_t i = 0; i < COUNT(csrs); i++)
        printf("  localparam logic [11:0] CSR_%s = 12'h%03x;  // %s\n", csrs[i].name, csrs[i].number, csrs[i].doc);
    for (size_t i = 0; i < COUNT(engines); i++)
        printf("  localparam int unsigned ENGINE_%s = %lu;  // %s\n", engines[i].name, engines[i].number,
               engines[i].doc);
    for (size_t i = 0; i < COUNT(types); i++)
        printf("  localparam logic [3:0] TYPE_%s = 4'd%lu;\n", types[i].name, types[i].offset);
    for (size_t i = 0; i < COUNT(enums); i++)
        printf("  localparam logic [1:0] %s = 2'd%lu;  // %s\n", enums[i].name, enums[i].number, enums[i].doc);
    for (size_t i = 0; i < COUNT(kinds); i++)
        printf("  localparam logic [7:0] OPCODE_%s = 8'd%u;  // %s\n", upper(kinds[i].name), kinds[i].opcode,
               kinds[i].doc);
    for (size_t i = 0; i < COUNT(params); i++)
        printf("  localparam int unsigned POST_PARAM_%s = %u;  // %s\n", upper(params[i].name), params[i].word,
               params[i].doc);
    for (size_t i = 0; i < COUNT(lost_causes); i++)
        printf("  localparam logic [4:0] LOST_%s = 5'd%u;  // %s\n", lost_causes[i].name, lost_causes[i].number,
               lost_causes[i].doc);
    for (size_t i = 0; i < COUNT(fault_causes); i++)
        printf("  localparam logic [3:0] FAULT_%s = 4'd%u;  // %s\n", fault_causes[i].name, fault_causes[i].number,
               fault_causes[i].doc);
}

/* A run of bits of a packed struct: a field, the high byte of an address, or a gap. */
typedef struct {
    unsigned low, width;
    const char *name, *suffix;
} sv_run;

static int compare_runs(const void *a, const void *b) {
    unsigned la = ((const sv_run *)a)->low, lb = ((const sv_run *)b)->low;
    return la < lb ? 1 : la > lb ? -1 : 0;
}

/* A packed struct of 1024 bits: word i of the descriptor is bits 32 * i and up. */
static void sv_struct(const kind *k) {
    sv_run runs[128];
    size_t count = 0;
    for (unsigned i = 0; i < xpu_desc_field_count; i++) {
        const xpu_desc_field *f = &xpu_desc_fields[i];
        if (strcmp(f->kind, k->name) != 0) continue;
        runs[count++] = (sv_run){f->word * 32 + f->bit, f->width > 32 ? 32 : f->width, f->name, ""};
        if (f->hi) runs[count++] = (sv_run){f->hi, 8, f->name, "_hi"};
    }
    qsort(runs, count, sizeof *runs, compare_runs);
    printf("\n  // %s\n  typedef struct packed {\n", k->doc);
    unsigned top = XPU_CHIP_DESC_WORDS * 32, gaps = 0;
    for (size_t i = 0; i <= count; i++) {
        unsigned end = i < count ? runs[i].low + runs[i].width : 0;
        if (top > end) printf("    logic [%u:0] reserved%u;\n", top - end - 1, gaps++);
        if (i == count) break;
        printf("    logic [%u:0] %s%s;\n", runs[i].width - 1, runs[i].name, runs[i].suffix);
        top = runs[i].low;
    }
    printf("  } desc_%s_t;\n", k->name);
}

static void sv_instructions(void) {
    puts("\n  // Instructions: a word is the first one for which (word & MASK) == MATCH.");
    for (size_t i = 0; i < COUNT(classes); i++)
        printf("  localparam logic [6:0] CLASS_%s = 7'd%u;  // %s\n", classes[i].name, classes[i].number,
               classes[i].doc);
    for (size_t i = 0; i < COUNT(instructions); i++) {
        const xpu_insn_info *info = &xpu_insn_infos[instructions[i].number];
        printf("  localparam logic [31:0] INSN_%s_MASK = 32'h%08x;  // %s\n", instructions[i].name, info->mask,
               info->mnemonic);
        printf("  localparam logic [31:0] INSN_%s_MATCH = 32'h%08x;\n", instructions[i].name, info->match);
        printf("  localparam logic [6:0] INSN_%s_CLASS = CLASS_%s;\n", instructions[i].name, classes[info->class].name);
    }
}

static void print_sv(void) {
    puts("// Made by tools/hwgen from core/chip.def and core/isa.def; do not edit.\n"
         "package xpu_chip_pkg;\n"
         "  // Each module uses some of these only.\n  /* verilator lint_off UNUSEDPARAM */");
    sv_constants();
    for (size_t i = 0; i < COUNT(kinds); i++) sv_struct(&kinds[i]);
    sv_instructions();
    puts("  /* verilator lint_on UNUSEDPARAM */\nendpackage");
}

/* ---- Markdown ---- */

static void md_map(void) {
    puts("## Constants\n\n| name | value | meaning |\n|---|---|---|");
    for (size_t i = 0; i < COUNT(constants); i++)
        printf("| %s | %lu | %s |\n", constants[i].name, constants[i].number, constants[i].doc);
    puts("\n## Memory map\n\n| region | first address | room | what |\n|---|---|---|---|");
    for (size_t i = 0; i < COUNT(regions); i++)
        printf("| %s | 0x%08lx | 0x%lx | %s |\n", regions[i].name, regions[i].offset, regions[i].count, regions[i].doc);
    puts("\n## Registers\n\nOffsets from 0x02000000; 32-bit accesses only.\n\n"
         "| register | offset | access | reset | what |\n|---|---|---|---|---|");
    for (size_t i = 0; i < COUNT(registers); i++) {
        printf("| %s", registers[i].name);
        if (registers[i].count > 1)
            printf("[%lu] | 0x%04lx + %lu * i", registers[i].count, registers[i].offset, registers[i].stride);
        else
            printf(" | 0x%04lx", registers[i].offset);
        printf(" | %s | %lu | %s |\n", registers[i].access, registers[i].reset, registers[i].doc);
    }
    puts("\n## CSRs\n\n| CSR | number | access | what |\n|---|---|---|---|");
    for (size_t i = 0; i < COUNT(csrs); i++)
        printf("| %s | 0x%03x | %s | %s |\n", csrs[i].name, csrs[i].number, csrs[i].access, csrs[i].doc);
    puts("\n## Engines\n\n| engine | number | what |\n|---|---|---|");
    for (size_t i = 0; i < COUNT(engines); i++)
        printf("| %s | %lu | %s |\n", engines[i].name, engines[i].number, engines[i].doc);
}

static void md_bits(const xpu_desc_field *f) {
    if (f->width == 1)
        printf("%u", f->bit);
    else if (f->hi)
        printf("31:0, word %u bits %u:%u", f->hi / 32, f->hi % 32 + 7, f->hi % 32);
    else
        printf("%u:%u", f->bit + f->width - 1, f->bit);
}

static void md_descriptors(void) {
    puts("\n## Descriptors\n\n32 words of 32 bits. Type U: unsigned, S: two's complement, F: float32, A: address of 40 "
         "bits.\nBits that no field uses are 0.\n\n| element type | code | bytes |\n|---|---|---|");
    for (size_t i = 0; i < COUNT(types); i++)
        printf("| %s | %lu | %lu |\n", types[i].doc, types[i].offset, types[i].count);
    puts("\n| value | number | of field: meaning |\n|---|---|---|");
    for (size_t i = 0; i < COUNT(enums); i++)
        printf("| %s | %lu | %s |\n", enums[i].name, enums[i].number, enums[i].doc);
    for (size_t k = 0; k < COUNT(kinds); k++) {
        printf("\n### %s (opcode %u, %s engine%s)\n\n%s.\n\n| word | bits | field | type | meaning "
               "|\n|---|---|---|---|---|\n",
               kinds[k].name, kinds[k].opcode, kinds[k].engine, strcmp(kinds[k].engine, "dma") == 0 ? "s" : "",
               kinds[k].doc);
        for (unsigned i = 0; i < xpu_desc_field_count; i++) {
            const xpu_desc_field *f = &xpu_desc_fields[i];
            if (strcmp(f->kind, kinds[k].name) != 0) continue;
            printf("| %u | ", f->word);
            md_bits(f);
            printf(" | %s | %c | %s |\n", f->name, f->type, f->doc);
        }
    }
    puts("\n### Post-processor parameter block\n\n| word | name | type | meaning |\n|---|---|---|---|");
    for (size_t i = 0; i < COUNT(params); i++)
        printf("| %u | %s | %s | %s |\n", params[i].word, params[i].name, params[i].type, params[i].doc);
}

static void md_causes(void) {
    puts("\n## Fault causes\n\n| cause | meaning |\n|---|---|");
    for (size_t i = 0; i < COUNT(fault_causes); i++)
        printf("| %s | %s |\n", fault_causes[i].access, fault_causes[i].doc);
    puts("\n## States of a unit in a cycle\n\n| state | meaning |\n|---|---|");
    for (size_t i = 0; i < COUNT(lost_causes); i++) printf("| %s | %s |\n", lost_causes[i].access, lost_causes[i].doc);
    puts("\n## Performance counters\n\n| counter | unit | meaning |\n|---|---|---|");
    for (size_t i = 0; i < COUNT(perf_counters); i++)
        printf("| %s | %s | %s |\n", perf_counters[i].name, perf_counters[i].access, perf_counters[i].doc);
    puts("\n## Keys of a chip's JSON\n\nABI keys change results or layout and are part of the ABI hash; the others "
         "change time only:\nrun keys are inputs of the Verilated chip (`xpu-run --set`), the rest is built into "
         "it.\n\n| key | smallest | largest | kind | meaning |\n|---|---|---|---|---|");
    for (size_t i = 0; i < COUNT(keys); i++)
        printf("| %s.%s | %llu | %llu | %s | %s |\n", keys[i].section, keys[i].key, keys[i].min, keys[i].max,
               strcmp(keys[i].kind, "ABI") == 0   ? "ABI"
               : strcmp(keys[i].kind, "RUN") == 0 ? "run"
                                                  : "",
               keys[i].doc);
}

static void md_instructions(void) {
    puts("\n## Instructions\n\nThe first row that matches counts: (word & mask) == match.\n\n"
         "| instruction | operands | mask | match | class |\n|---|---|---|---|---|");
    for (size_t i = 0; i < COUNT(instructions); i++) {
        const xpu_insn_info *info = &xpu_insn_infos[instructions[i].number];
        printf("| %s | %s | 0x%08x | 0x%08x | %s |\n", info->mnemonic, xpu_format_operands(info->format), info->mask,
               info->match, xpu_class_text(info->class));
    }
}

static void print_md(void) {
    puts("<!-- Made by tools/hwgen from core/chip.def and core/isa.def; do not edit. -->\n\n# Tables of the chip\n");
    md_map();
    md_descriptors();
    md_causes();
    md_instructions();
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--c") == 0)
        print_c();
    else if (argc == 2 && strcmp(argv[1], "--sv") == 0)
        print_sv();
    else if (argc == 2 && strcmp(argv[1], "--md") == 0)
        print_md();
    else {
        int help = argc == 2 && strcmp(argv[1], "--help") == 0;
        fputs("Usage: hwgen --sv | --c | --md\nPrints the chip's formats as SystemVerilog, C or Markdown.\n"
              "Example: hwgen --c > xpu_runtime/include/generated/xpu_chip_regs.h\n",
              help ? stdout : stderr);
        return help ? 0 : 2;
    }
    return ferror(stdout) || fflush(stdout) != 0 ? 3 : 0;
}
