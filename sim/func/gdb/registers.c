/* Registers as gdb sees them, and their description. */
#include "sim/func/gdb/registers.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/func/core_csr.h"

/* In this order: x0 .. x31, pc, f0 .. f31, CSRs, v0 .. v31. */
enum { PC = 32, F = 33, CSR = 65, V = XPU_GDB_REGISTERS - 32 };

static const struct {
    const char *name;
    unsigned number;
    int in_fpu;
} csrs[] = {
    {"fflags", XPU_CSR_FFLAGS, 1}, {"frm", XPU_CSR_FRM, 1},         {"fcsr", XPU_CSR_FCSR, 1},
    {"vstart", XPU_CSR_VSTART, 0}, {"vxsat", XPU_CSR_VXSAT, 0},     {"vxrm", XPU_CSR_VXRM, 0},
    {"vcsr", XPU_CSR_VCSR, 0},     {"vl", XPU_CSR_VL, 0},           {"vtype", XPU_CSR_VTYPE, 0},
    {"vlenb", XPU_CSR_VLENB, 0},   {"mhartid", XPU_CSR_MHARTID, 0},
};
_Static_assert(CSR + sizeof csrs / sizeof *csrs == V, "every register has a number");

static const char *const x_names[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
                                      "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                      "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

typedef struct {
    char text[16384];
    size_t length;
} writer;

static void add(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int got = vsnprintf(w->text + w->length, sizeof w->text - w->length, format, args);
    va_end(args);
    if (got > 0) w->length += (size_t)got;
}

static void add_register(writer *w, const char *name, unsigned number, unsigned bits, const char *type) {
    add(w, "<reg name=\"%s\" bitsize=\"%u\" regnum=\"%u\" type=\"%s\"/>\n", name, bits, number, type);
}

const char *xpu_gdb_description(size_t *length) {
    static const char *const elements[] = {"uint8", "uint16", "uint32", "ieee_single"};
    static const char *const fields[] = {"b", "s", "w", "f"};
    static const unsigned counts[] = {64, 32, 16, 16};
    static _Thread_local writer w;
    char name[16];
    w.length = 0;
    add(&w, "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n"
            "<architecture>riscv:rv32</architecture>\n<feature name=\"org.gnu.gdb.riscv.cpu\">\n");
    for (unsigned i = 0; i < PC; i++) add_register(&w, x_names[i], i, 32, i == 2 || i == 8 ? "data_ptr" : "int");
    add_register(&w, "pc", PC, 32, "code_ptr");
    add(&w, "</feature>\n<feature name=\"org.gnu.gdb.riscv.fpu\">\n");
    for (unsigned i = 0; i < 32; i++) {
        snprintf(name, sizeof name, "f%u", i);
        add_register(&w, name, F + i, 32, "ieee_single");
    }
    for (int in_fpu = 1; in_fpu >= 0; in_fpu--) {
        if (!in_fpu) add(&w, "</feature>\n<feature name=\"org.gnu.gdb.riscv.csr\">\n");
        for (unsigned i = 0; i < V - CSR; i++)
            if (csrs[i].in_fpu == in_fpu) add_register(&w, csrs[i].name, CSR + i, 32, "int");
    }
    add(&w, "</feature>\n<feature name=\"org.gnu.gdb.riscv.vector\">\n");
    for (unsigned i = 0; i < 4; i++)
        add(&w, "<vector id=\"v%s\" type=\"%s\" count=\"%u\"/>\n", fields[i], elements[i], counts[i]);
    add(&w, "<union id=\"riscv_vector\">\n");
    for (unsigned i = 0; i < 4; i++) add(&w, "<field name=\"%s\" type=\"v%s\"/>\n", fields[i], fields[i]);
    add(&w, "</union>\n");
    for (unsigned i = 0; i < 32; i++) {
        snprintf(name, sizeof name, "v%u", i);
        add_register(&w, name, V + i, 8 * XPU_VLEN_BYTES, "riscv_vector");
    }
    add(&w, "</feature>\n</target>\n");
    *length = w.length;
    return w.text;
}

unsigned xpu_gdb_register_bytes(unsigned number) {
    return number >= XPU_GDB_REGISTERS ? 0 : number >= V ? XPU_VLEN_BYTES : 4;
}

void xpu_gdb_read_register(xpu_hart *hart, unsigned number, uint8_t *bytes) {
    uint32_t value = 0;
    if (number >= V) {
        memcpy(bytes, hart->v + (size_t)(number - V) * XPU_VLEN_BYTES, XPU_VLEN_BYTES);
        return;
    }
    if (number >= CSR)
        xpu_hart_read_csr(hart, csrs[number - CSR].number, &value);
    else
        value = number >= F ? hart->f[number - F] : number == PC ? hart->pc : hart->x[number];
    memcpy(bytes, &value, 4);
}

void xpu_gdb_write_register(xpu_hart *hart, unsigned number, const uint8_t *bytes) {
    uint32_t value;
    if (number >= V) {
        memcpy(hart->v + (size_t)(number - V) * XPU_VLEN_BYTES, bytes, XPU_VLEN_BYTES);
        return;
    }
    memcpy(&value, bytes, 4);
    if (number >= CSR)
        xpu_hart_write_csr(hart, csrs[number - CSR].number, value);
    else if (number >= F)
        hart->f[number - F] = value;
    else if (number == PC)
        hart->pc = value;
    else if (number != 0)
        hart->x[number] = value;
}
