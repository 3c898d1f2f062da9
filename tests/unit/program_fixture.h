/* What the tests of the .xpu file share: a linked executable of a few hundred bytes, and a program of three layers in
 * it. */
#ifndef XPU_TESTS_PROGRAM_FIXTURE_H
#define XPU_TESTS_PROGRAM_FIXTURE_H

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "core/chip.h"
#include "core/ops/op.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/program/file.h"
#include "xpu_runtime/program/metadata.h"

enum { BASE = 0x80000000u, TEXT_BYTES = 128, PLAN_WORDS = 4, WEIGHTS_AT = 0x80002000u, WEIGHTS_SIZE = 0x2000 };

/* ---- a linked executable as lld makes it, in a few hundred bytes ---- */

typedef struct {
    Elf32_Ehdr header;
    Elf32_Phdr segments[2];
    uint32_t text[TEXT_BYTES / 4]; /* code, plan table, control block */
    Elf32_Sym symbols[4];
    char symbol_names[64], section_names[64];
    Elf32_Shdr sections[6];
} executable;

static inline uint32_t add_name(char *names, uint32_t *length, const char *name) {
    uint32_t at = *length;
    strcpy(names + at, name);
    *length += (uint32_t)strlen(name) + 1;
    return at;
}

static inline Elf32_Shdr section(executable *e, uint32_t *names, const char *name, uint32_t type, size_t offset,
                                 size_t size) {
    return (Elf32_Shdr){.sh_name = add_name(e->section_names, names, name),
                        .sh_type = type,
                        .sh_offset = (Elf32_Off)offset,
                        .sh_size = (Elf32_Word)size,
                        .sh_addralign = 4};
}

static inline void make_executable(executable *e) {
    static const struct {
        const char *name;
        uint32_t value;
    } symbols[] = {{"xpu_plan", BASE + 16}, {"xpu_control", BASE + 48}, {"xpu_image_end", WEIGHTS_AT + WEIGHTS_SIZE}};
    uint32_t names = 1, symbol_names = 1;
    *e = (executable){.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                                 .e_type = ET_EXEC,
                                 .e_machine = EM_RISCV,
                                 .e_version = EV_CURRENT,
                                 .e_entry = BASE,
                                 .e_phoff = offsetof(executable, segments),
                                 .e_shoff = offsetof(executable, sections),
                                 .e_ehsize = sizeof(Elf32_Ehdr),
                                 .e_phentsize = sizeof(Elf32_Phdr),
                                 .e_phnum = 2,
                                 .e_shentsize = sizeof(Elf32_Shdr),
                                 .e_shnum = 6,
                                 .e_shstrndx = 5}};
    e->segments[0] =
        (Elf32_Phdr){PT_LOAD, offsetof(executable, text), BASE, BASE, TEXT_BYTES, TEXT_BYTES, PF_R | PF_X, 4};
    e->segments[1] = (Elf32_Phdr){PT_LOAD, 0, WEIGHTS_AT, WEIGHTS_AT, 0, WEIGHTS_SIZE, PF_R, 4096};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        uint32_t name = add_name(e->symbol_names, &symbol_names, symbols[i].name);
        e->symbols[i + 1] = (Elf32_Sym){.st_name = name, .st_value = symbols[i].value, .st_shndx = SHN_ABS};
        e->symbols[i + 1].st_info = ELF32_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    }
    e->sections[1] = section(e, &names, ".text", SHT_PROGBITS, offsetof(executable, text), TEXT_BYTES);
    e->sections[1].sh_addr = BASE;
    e->sections[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    e->sections[2] = section(e, &names, ".weights", SHT_NOBITS, 0, WEIGHTS_SIZE);
    e->sections[2].sh_addr = WEIGHTS_AT;
    e->sections[2].sh_flags = SHF_ALLOC;
    e->sections[3] = section(e, &names, ".symtab", SHT_SYMTAB, offsetof(executable, symbols), sizeof e->symbols);
    e->sections[3].sh_link = 4;
    e->sections[3].sh_info = 1;
    e->sections[3].sh_entsize = sizeof(Elf32_Sym);
    e->sections[4] = section(e, &names, ".strtab", SHT_STRTAB, offsetof(executable, symbol_names), symbol_names);
    e->sections[5] = section(e, &names, ".shstrtab", SHT_STRTAB, offsetof(executable, section_names), 64);
}

/* ---- a program: x[N,8] times a weight [8,4], plus a small constant ---- */

enum { IN = 8, OUT = 4, WEIGHT_OFFSET = 256 };
static const float small_data[1] = {0.5f};

static inline float weight_at(int i) {
    return (float)i * 0.25f - 1;
}

static inline xpu_node add_node(bench *b, xpu_graph *g, const char *op, xpu_value left, xpu_value right,
                                const char *result) {
    xpu_origin origin = {"onnx", op, 13, result, 7};
    uint32_t at = xpu_graph_origin(g, &origin);
    xpu_value inputs[] = {left, right};
    xpu_node node = xpu_graph_add(g, (xpu_node){0}, xpu_op_by_name(op), inputs, 2, &result, 1, NULL, 0, &at, 1);
    CU_ASSERT_EQUAL(xpu_op_by_name(op)->infer(g, node, &b->diags), XPU_OK);
    return node;
}

static inline void add_buffers(bench *b, xpu_program *p, xpu_dim bytes, xpu_dim weight_bytes) {
    xpu_program_buffer x = {.name = "x",
                            .kind = XPU_BUFFER_ACTIVATION,
                            .bytes = bytes,
                            .alignment = 64,
                            .last_layer = 1,
                            .levels = {XPU_LEVEL_L3, XPU_LEVEL_GM},
                            .level_count = 2,
                            .alias_of = -1};
    xpu_program_buffer w = {.name = "w",
                            .kind = XPU_BUFFER_WEIGHT,
                            .bytes = weight_bytes,
                            .alignment = 64,
                            .last_layer = 1,
                            .levels = {XPU_LEVEL_GM},
                            .level_count = 1,
                            .alias_of = -1,
                            .placed = 1,
                            .level = XPU_LEVEL_GM,
                            .offset = WEIGHT_OFFSET};
    xpu_program_buffer alias = x;
    alias.name = "y";
    alias.alias_of = 0;
    XPU_PUSH(b->arena, &p->buffers, x);
    XPU_PUSH(b->arena, &p->buffers, w);
    XPU_PUSH(b->arena, &p->buffers, alias);
    xpu_program_buffer copy = {.name = "w@L3",
                               .kind = XPU_BUFFER_COPY,
                               .bytes = xpu_dim_const(&p->graph->dims, 4),
                               .alignment = 64,
                               .levels = {XPU_LEVEL_L3},
                               .level_count = 1,
                               .alias_of = -1,
                               .copy_of = 1};
    XPU_PUSH(b->arena, &p->buffers, copy);
    XPU_PUSH(b->arena, &p->in_place, ((xpu_program_in_place){2, 0}));
}

enum { CONTROL_WORDS = 11 };
static inline void add_lists(bench *b, xpu_program *p, xpu_dim n) {
    XPU_PUSH(b->arena, &p->plan, ((xpu_plan_word){.kind = XPU_WORD_CONST, .bits = 0xdeadbeef}));
    XPU_PUSH(b->arena, &p->plan, ((xpu_plan_word){.kind = XPU_WORD_DIM, .dim = n}));
    XPU_PUSH(b->arena, &p->plan, ((xpu_plan_word){.kind = XPU_WORD_ADDRESS, .buffer = 1}));
    XPU_PUSH(b->arena, &p->plan, ((xpu_plan_word){.kind = XPU_WORD_ADDRESS, .buffer = 0, .dim = n}));
    for (uint32_t i = 0; i < CONTROL_WORDS; i++) XPU_PUSH(b->arena, &p->plan, ((xpu_plan_word){.bits = i}));
    const xpu_program_step steps[] = {
        {.kind = XPU_DO_LOOP, .middle = 1, .end = 6, .word = 4},
        {.kind = XPU_DO_SET, .middle = 2, .end = 2, .word = 9},
        {.kind = XPU_DO_IF, .middle = 4, .end = 5, .word = 14},
        {.kind = XPU_DO_RUN, .first = 0, .last = 0, .middle = 4, .end = 4},
        {.kind = XPU_DO_RUN, .first = 1, .last = 1, .middle = 5, .end = 5},
        {.kind = XPU_DO_IF, .middle = 6, .end = 6, .word = 14}, /* of no layers */
        {.kind = XPU_DO_RUN, .first = 2, .last = 2, .middle = 7, .end = 7},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) XPU_PUSH(b->arena, &p->steps, steps[i]);
    XPU_PUSH(b->arena, &p->tensors, ((xpu_program_tensor){"x*w", XPU_TENSOR_DUMPED, 0}));
    XPU_PUSH(b->arena, &p->tensors, ((xpu_program_tensor){"between", XPU_TENSOR_FUSED, 1}));
    XPU_PUSH(b->arena, &p->tensors, ((xpu_program_tensor){"half", XPU_TENSOR_FOLDED, -1}));
    XPU_PUSH(b->arena, &p->regions, ((xpu_program_region){"xpu-sim", 2, NULL}));
    XPU_PUSH(b->arena, &p->regions, ((xpu_program_region){"host", 1, "there is a reason"}));
}

static inline xpu_program *make_program(bench *b) {
    xpu_program *p = XPU_NEW(b->arena, xpu_program);
    xpu_chip chip;
    xpu_graph *g = p->graph = xpu_graph_new(b->arena, "test", "test.onnx");
    CU_ASSERT_EQUAL_FATAL(xpu_chip_load(b->arena, "configs/chip", "nano", &chip, &b->diags), XPU_OK);
    float data[IN * OUT];
    for (int i = 0; i < IN * OUT; i++) data[i] = weight_at(i);
    xpu_tensor weight = {.dtype = XPU_F32, .rank = 2, .dims = {IN, OUT}, .data = data};
    xpu_tensor half = {.dtype = XPU_F32, .rank = 1, .dims = {1}, .data = (void *)(uintptr_t)small_data};
    xpu_dim n = xpu_dim_symbol(&g->dims, "N", 1, 16, 1);
    xpu_value x = xpu_graph_input(g, "x", XPU_F32, 2, (xpu_dim[]){n, xpu_dim_const(&g->dims, IN)});
    xpu_value w = xpu_graph_const_bytes(g, "w", &weight), h = xpu_graph_const_bytes(g, "half", &half);
    xpu_node first = add_node(b, g, "matmul", x, w, "x*w");
    xpu_value product = xpu_node_output(g, first, 0);
    xpu_node second = add_node(b, g, "add", product, h, "y");
    xpu_value y = xpu_node_output(g, second, 0);
    xpu_graph_output(g, y);
    xpu_dim bytes = xpu_dim_mul_const(&g->dims, n, IN * (int64_t)sizeof(float));
    add_buffers(b, p, bytes, xpu_dim_const(&g->dims, IN * OUT * (int64_t)sizeof(float)));
    XPU_PUSH(b->arena, &p->values, ((xpu_program_value){.value = x, .buffer = 0}));
    XPU_PUSH(b->arena, &p->values, ((xpu_program_value){.value = w, .buffer = 1}));
    XPU_PUSH(b->arena, &p->values, ((xpu_program_value){.value = y, .buffer = 2}));
    xpu_node third = xpu_graph_add(g, (xpu_node){0}, xpu_op_of(XPU_OP_DYNAMIC_QUANTIZE), &y, 1,
                                   (const char *const[]){"q", "scale", "zero"}, 3, NULL, 0, NULL, 0);
    CU_ASSERT_EQUAL(xpu_op_infer(g, third, &b->diags), XPU_OK);
    const xpu_node nodes[] = {first, second, third};
    static const char *const names[] = {"product", "sum", "bytes"}, *const kernels[] = {"matmul_f32", "chain", "none"};
    xpu_program_layer layers[3];
    for (int i = 0; i < 3; i++) {
        const xpu_node_info *info = xpu_node_at(g, nodes[i]);
        layers[i] = (xpu_program_layer){
            .name = names[i], .node = nodes[i], .outputs = info->outputs, .output_count = info->output_count};
        layers[i].unit = XPU_UNIT_CORE;
        layers[i].kernel = kernels[i];
        layers[i].macs = i ? xpu_dim_const(&g->dims, 0) : xpu_dim_mul_const(&g->dims, n, IN * OUT);
        if (!i) layers[i].model = (xpu_program_model){1000, 20, 3, 4, UINT64_C(1) << 40};
        if (i == 1) layers[i].model = (xpu_program_model){.load = 7};
        layers[i].reason = i ? NULL : "it is a float model";
        XPU_PUSH(b->arena, &p->layers, layers[i]);
    }
    add_lists(b, p, n);
    p->target = "xpu-sim";
    p->chip_json = xpu_chip_json(b->arena, &chip);
    p->abi_hash = xpu_chip_abi_hash(&chip);
    p->precision = "fp32";
    p->compiler = "0.1.0";
    p->clang = "clang 19";
    p->source = "test.onnx";
    p->source_hash = xpu_hash_of("test", 4);
    p->source_nodes = 3;
    p->weights_bytes = WEIGHT_OFFSET + sizeof data;
    return p;
}

static inline xpu_status give_weight(void *context, uint32_t buffer, xpu_arena *scratch, const void **bytes,
                                     uint64_t *length, xpu_diags *diags) {
    (void)diags;
    CU_ASSERT_EQUAL(buffer, 1);
    ++*(int *)context;
    float *data = XPU_NEW_ARRAY(scratch, float, IN *OUT);
    for (int i = 0; i < IN * OUT; i++) data[i] = weight_at(i);
    *bytes = data;
    *length = IN * OUT * sizeof *data;
    return XPU_OK;
}

/* Writes the program; the path of the file. */
static inline xpu_status try_to_write(bench *b, const xpu_program *p, const char *path, int *asked) {
    executable e;
    const char *elf = xpu_path_join(b->arena, b->folder, "linked.elf");
    make_executable(&e);
    CU_ASSERT_EQUAL_FATAL(xpu_file_write(b->arena, elf, &e, sizeof e, &b->diags), XPU_OK);
    return xpu_program_write(p, elf, path, give_weight, asked, b->arena, &b->diags);
}

static inline const char *write_program(bench *b, const xpu_program *p) {
    int asked = 0;
    const char *path = xpu_path_join(b->arena, b->folder, "test.xpu");
    xpu_status status = try_to_write(b, p, path, &asked);
    xpu_diags_print(&b->diags, stderr);
    CU_ASSERT_EQUAL_FATAL(status, XPU_OK);
    CU_ASSERT_EQUAL(asked, 1);
    return path;
}

#endif
