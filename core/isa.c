#include "core/isa.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

const xpu_insn_info xpu_insn_infos[XPU_INSN_COUNT] = {
    {"", 0, 1, XPU_FORMAT_NONE, XPU_CLASS_SYSTEM},
#define XPU_INSN(id, mnemonic, mask, match, format, class)                                                             \
    {mnemonic, mask, match, XPU_FORMAT_##format, XPU_CLASS_##class},
#include "core/isa.def"
};

static const struct {
    const char *operands, *text;
} formats[] = {
#define XPU_FORMAT(id, operands, text) {operands, text},
#include "core/isa.def"
};

static const char *const classes[] = {
#define XPU_CLASS(id, text) text,
#include "core/isa.def"
};

const char *xpu_format_operands(xpu_insn_format format) {
    return formats[format].operands;
}
const char *xpu_format_text(xpu_insn_format format) {
    return formats[format].text;
}
const char *xpu_class_text(xpu_insn_class class) {
    return classes[class];
}

/* Rows by opcode and funct3: a row stands in the bucket of every funct3 that it can have, in the order of the table. */
enum { BUCKETS = 256, BUCKET_ENTRIES = 1024 };
static uint16_t bucket_start[BUCKETS + 1], bucket_rows[BUCKET_ENTRIES];

static void fill_buckets(void) {
    uint32_t used = 0;
    for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
        uint32_t word = (bucket >> 3) << 2 | 3 | (bucket & 7) << 12;
        bucket_start[bucket] = (uint16_t)used;
        for (unsigned id = 1; id < XPU_INSN_COUNT; id++) {
            const xpu_insn_info *info = &xpu_insn_infos[id];
            if (((word ^ info->match) & info->mask & 0x707f) == 0 && used < BUCKET_ENTRIES)
                bucket_rows[used++] = (uint16_t)id;
        }
    }
    bucket_start[BUCKETS] = (uint16_t)used;
}

xpu_insn_id xpu_insn_find(uint32_t word) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_buckets);
    if ((word & 3) != 3) return XPU_INSN_ILLEGAL;
    unsigned bucket = (word >> 2 & 31) << 3 | (word >> 12 & 7);
    for (unsigned i = bucket_start[bucket]; i < bucket_start[bucket + 1]; i++) {
        const xpu_insn_info *info = &xpu_insn_infos[bucket_rows[i]];
        if ((word & info->mask) == info->match) return (xpu_insn_id)bucket_rows[i];
    }
    return XPU_INSN_ILLEGAL;
}

static int32_t sign_extend(uint32_t value, unsigned bits) {
    return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

int32_t xpu_insn_immediate(uint32_t word, xpu_insn_format format) {
    switch (format) {
    case XPU_FORMAT_I:
    case XPU_FORMAT_LOAD:
    case XPU_FORMAT_FLOAD:
    case XPU_FORMAT_JALR: return sign_extend(word >> 20, 12);
    case XPU_FORMAT_STORE:
    case XPU_FORMAT_FSTORE: return sign_extend((word >> 25) << 5 | (word >> 7 & 31), 12);
    case XPU_FORMAT_B:
        return sign_extend((word >> 31) << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 63) << 5 | (word >> 8 & 15) << 1,
                           13);
    case XPU_FORMAT_U: return (int32_t)(word & 0xfffff000);
    case XPU_FORMAT_J:
        return sign_extend((word >> 31) << 20 | (word & 0xff000) | (word >> 20 & 1) << 11 | (word >> 21 & 1023) << 1,
                           21);
    case XPU_FORMAT_SHIFT: return (int32_t)(word >> 20 & 31);
    case XPU_FORMAT_CSR:
    case XPU_FORMAT_CSRI: return (int32_t)(word >> 20);
    case XPU_FORMAT_VSETVLI: return (int32_t)(word >> 20 & 0x7ff);
    case XPU_FORMAT_VSETIVLI: return (int32_t)(word >> 20 & 0x3ff);
    case XPU_FORMAT_VVI:
    case XPU_FORMAT_VVIM:
    case XPU_FORMAT_V_I: return sign_extend(word >> 15 & 31, 5);
    case XPU_FORMAT_VVU: return (int32_t)(word >> 15 & 31);
    default: return 0;
    }
}

const char *xpu_csr_name(unsigned number) {
    static const struct {
        uint16_t number;
        const char *name;
    } names[] = {
        {0x001, "fflags"},   {0x002, "frm"},     {0x003, "fcsr"},    {0x008, "vstart"},     {0x009, "vxsat"},
        {0x00a, "vxrm"},     {0x00f, "vcsr"},    {0xc00, "cycle"},   {0xc01, "time"},       {0xc81, "timeh"},
        {0xc02, "instret"},  {0xc20, "vl"},      {0xc21, "vtype"},   {0xc22, "vlenb"},      {0xc80, "cycleh"},
        {0xc82, "instreth"}, {0xf14, "mhartid"}, {0xfc0, "core_id"}, {0xfc1, "cluster_id"}, {0xfc2, "core_num"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number) return names[i].name;
    return NULL;
}

static const char *const x_names[32] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                        "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                        "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static const char *const f_names[32] = {"ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
                                        "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
                                        "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

typedef struct {
    char *text;
    size_t size, length;
} output;

static void put(output *out, const char *text) {
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (out->length + i + 1 < out->size) out->text[out->length + i] = text[i];
    out->length += length;
}

static void put_number(output *out, const char *format, uint32_t value) {
    char text[24];
    snprintf(text, sizeof text, format, value);
    put(out, text);
}

static void put_vtype(output *out, uint32_t vtype) {
    static const char *const lmul[8] = {"m1", "m2", "m4", "m8", NULL, "mf8", "mf4", "mf2"};
    unsigned sew = vtype >> 3 & 7;
    if (vtype >> 8 || sew > 3 || !lmul[vtype & 7]) {
        put_number(out, "%u", vtype);
        return;
    }
    put_number(out, "e%u, ", 8u << sew);
    put(out, lmul[vtype & 7]);
    put(out, vtype & 64 ? ", ta" : ", tu");
    put(out, vtype & 128 ? ", ma" : ", mu");
}

static void put_order(output *out, unsigned set) {
    if (!set) put(out, "0");
    for (unsigned i = 0; i < 4; i++)
        if (set >> (3 - i) & 1) put(out, (const char *const[]){"i", "o", "r", "w"}[i]);
}

static void put_csr(output *out, unsigned number) {
    const char *name = number < 0xfc0 ? xpu_csr_name(number) : NULL;
    if (name)
        put(out, name);
    else
        put_number(out, "%u", number);
}

/* One operand of the format's text; `vm` leaves nothing for an unmasked instruction. */
static void put_operand(output *out, const char *name, size_t length, uint32_t word, uint32_t pc, int32_t immediate) {
    static const char *const modes[8] = {"rne", "rtz", "rdn", "rup", "rmm", "5", "6", "dyn"};
    static const struct {
        const char *name;
        char kind; /* register file, or what to print */
        uint8_t shift;
    } operands[] = {
        {"rd", 'x', 7},    {"rs1", 'x', 15},   {"rs2", 'x', 20},  {"fd", 'f', 7},    {"fs1", 'f', 15},
        {"fs2", 'f', 20},  {"fs3", 'f', 27},   {"vd", 'v', 7},    {"vs1", 'v', 15},  {"vs2", 'v', 20},
        {"imm", 'd', 0},   {"simm5", 'd', 0},  {"uimm5", 'd', 0}, {"shamt", 'd', 0}, {"zimm", 'z', 0},
        {"upper", 'u', 0}, {"target", 't', 0}, {"csr", 'c', 0},   {"vtype", 'y', 0}, {"rm", 'r', 0},
        {"v0", '0', 0},    {"pred", 'o', 24},  {"succ", 'o', 20},
    };
    unsigned i = 0;
    while (strncmp(operands[i].name, name, length) != 0 || operands[i].name[length]) i++;
    unsigned field = word >> operands[i].shift;
    switch (operands[i].kind) {
    case 'x': put(out, x_names[field & 31]); break;
    case 'f': put(out, f_names[field & 31]); break;
    case 'v': put_number(out, "v%u", field & 31); break;
    case 'd': put_number(out, "%d", (uint32_t)immediate); break;
    case 'z': put_number(out, "%u", word >> 15 & 31); break;
    case 'u': put_number(out, "%u", (uint32_t)immediate >> 12); break;
    case 't': put_number(out, "0x%x", pc + (uint32_t)immediate); break;
    case 'c': put_csr(out, (unsigned)immediate); break;
    case 'y': put_vtype(out, (uint32_t)immediate); break;
    case 'r': put(out, modes[word >> 12 & 7]); break;
    case '0': put(out, "v0"); break;
    default: put_order(out, field & 15); break;
    }
}

static void put_mnemonic(output *out, const char *mnemonic, uint32_t word) {
    for (; *mnemonic; mnemonic++) {
        char letter[2] = {*mnemonic, 0};
        if (*mnemonic == '#') letter[0] = (char)('1' + (word >> 29));
        put(out, letter);
    }
}

size_t xpu_disassemble(uint32_t word, uint32_t pc, char *buffer, size_t size) {
    output out = {buffer, size, 0};
    const xpu_insn_info *info = &xpu_insn_infos[xpu_insn_find(word)];
    if (!*info->mnemonic) {
        put_number(&out, ".word\t0x%08x", word);
    } else {
        put_mnemonic(&out, info->mnemonic, word);
        const char *at = formats[info->format].operands;
        int32_t immediate = xpu_insn_immediate(word, info->format);
        if (*at) put(&out, "\t");
        while (*at) {
            size_t length = strcspn(at, ",() ");
            if (length == 0) {
                put(&out, (char[2]){*at++, 0});
            } else if (length == 2 && !strncmp(at, "vm", 2)) {
                if (!(word >> 25 & 1)) put(&out, "v0.t");
                at += length;
            } else {
                put_operand(&out, at, length, word, pc, immediate);
                at += length;
            }
            if (!strcmp(at, ", vm") && word >> 25 & 1) break;
        }
    }
    if (size) buffer[out.length < size ? out.length : size - 1] = 0;
    return out.length;
}
