/* The instruction table: no two rows collide, and the disassembler agrees with llvm-mc on random words of every row. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/isa.h"
#include "tests/unit/unit.h"

enum { PER_ROW = 6 };

static uint32_t random_state = 12345;
static uint32_t random_word(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    return random_state ^= random_state << 5;
}

/* A random instruction of a row whose operands the assembler knows too: no reserved rounding mode, vtype or CSR. */
static uint32_t random_instruction(const xpu_insn_info *info) {
    static const uint16_t csrs[] = {0x001, 0x002, 0x003, 0x008, 0x009, 0x00a, 0x00f, 0xc00,
                                    0xc02, 0xc20, 0xc21, 0xc22, 0xc80, 0xc82, 0xf14, 0xfc0};
    uint32_t word = (random_word() & ~info->mask) | info->match;
    const char *operands = xpu_format_operands((xpu_insn_format)info->format);
    if (strstr(operands, "rm") && (word >> 12 & 7) > 4) word |= 7 << 12;
    if (strstr(operands, "vtype")) word = (word & ~0x07000000u) & ~(word >> 22 & 1 ? 0x01c00000u & (4u << 20) : 0);
    if (strstr(operands, "csr")) word = (word & 0xfffff) | (uint32_t)csrs[word >> 20 & 15] << 20;
    if (strchr(info->mnemonic, '#') && word >> 29 == 0) word |= 0x20000000;
    if (info->format == XPU_FORMAT_FENCE) word = (word & 0x0ff0007f) | 0x00100000 | 0x01000000;
    if (!strcmp(info->mnemonic, "fence.i")) word = info->match;
    uint32_t group = info->class == XPU_CLASS_VMOVE_WHOLE ? word >> 15 & 7 : word >> 29;
    if (info->class == XPU_CLASS_VLOAD_WHOLE || info->class == XPU_CLASS_VSTORE_WHOLE) word &= ~(group << 7);
    if (info->class == XPU_CLASS_VMOVE_WHOLE) word &= ~(group << 7 | group << 20);
    return word;
}

static void rows(void) {
    unsigned bad = 0;
    for (unsigned id = 1; id < XPU_INSN_COUNT; id++) {
        const xpu_insn_info *info = &xpu_insn_infos[id];
        if (info->match & ~info->mask) bad++;
        for (unsigned i = 0; i < 50; i++) {
            uint32_t word = random_instruction(info);
            if (xpu_insn_find(word) != id) {
                printf("row %s: %08x is found as '%s'\n", info->mnemonic, word,
                       xpu_insn_infos[xpu_insn_find(word)].mnemonic);
                bad++;
            }
        }
    }
    CU_ASSERT_EQUAL(bad, 0);
}

static void illegal(void) {
    static const uint32_t words[] = {
        0x00000000,
        0xffffffff,
        0x0000000b,
        0x00002063 /* branch, funct3 2 */,
        0x00003003 /* ld */,
        0x02000057 | 16u << 26 /* vadc, unmasked */,
        0x00007007 /* vle64 */,
        0x90007057 /* vsetvl, bit 28 */,
        0x0200100f | 0x00002000 /* cbo */,
        0x30200073 /* mret */,
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        CU_ASSERT_EQUAL(xpu_insn_find(words[i]), XPU_INSN_ILLEGAL);
}

static void text_is_cut(void) {
    char small[8];
    CU_ASSERT_EQUAL(xpu_disassemble(0x00c58533, 0, small, sizeof small), strlen("add\ta0, a1, a2"));
    CU_ASSERT_STRING_EQUAL(small, "add\ta0,");
    char text[64];
    xpu_disassemble(0xfe000ee3, 0x80000010, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "beq\tzero, zero, 0x8000000c");
    xpu_disassemble(0, 0, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, ".word\t0x00000000");
}

/* llvm-mc prints distances of branches in decimal; the disassembler prints targets, here from pc 0. */
static void to_distance(char *text, const xpu_insn_info *info, uint32_t word) {
    if (info->format != XPU_FORMAT_B && info->format != XPU_FORMAT_J) return;
    char *last = strrchr(text, ' ') + 1;
    sprintf(last, "%d", xpu_insn_immediate(word, (xpu_insn_format)info->format));
}

static void against_llvm(void) {
    if (system("command -v llvm-mc-19 >/dev/null 2>&1") != 0) {
        printf("skipped: no llvm-mc-19 here\n");
        return;
    }
    static uint32_t words[XPU_INSN_COUNT * PER_ROW];
    char path[] = "/tmp/test_isa_XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    FILE *file = fdopen(fd, "w");
    for (unsigned id = 1; id < XPU_INSN_COUNT; id++) {
        for (unsigned i = 0; i < PER_ROW; i++) {
            uint32_t word = words[id * PER_ROW + i] = random_instruction(&xpu_insn_infos[id]);
            fprintf(file, "0x%02x 0x%02x 0x%02x 0x%02x\n", word & 255, word >> 8 & 255, word >> 16 & 255, word >> 24);
        }
    }
    fclose(file);
    char command[256];
    snprintf(
        command, sizeof command,
        "llvm-mc-19 --disassemble --triple=riscv32 --mattr=+m,+f,+zicsr,+zifencei,+zve32f,+zvl512b -M no-aliases %s "
        "2>/dev/null",
        path);
    FILE *pipe = popen(command, "r");
    char line[256], text[128];
    unsigned next = PER_ROW, bad = 0;
    while (fgets(line, sizeof line, pipe)) {
        if (line[0] != '\t' || line[1] == '.') continue;
        if (next == XPU_INSN_COUNT * PER_ROW) break;
        line[strcspn(line, "\n")] = 0;
        unsigned id = next / PER_ROW;
        xpu_disassemble(words[next], 0, text, sizeof text);
        to_distance(text, &xpu_insn_infos[id], words[next]);
        if (strcmp(text, line + 1) != 0) printf("%08x: '%s', llvm-mc says '%s'\n", words[next], text, line + 1), bad++;
        next++;
    }
    pclose(pipe);
    unlink(path);
    CU_ASSERT_EQUAL(next, XPU_INSN_COUNT * PER_ROW);
    CU_ASSERT_EQUAL(bad, 0);
}

XPU_TEST_MAIN("isa", {"rows", rows}, {"illegal words", illegal}, {"text is cut", text_is_cut},
              {"every row against llvm-mc", against_llvm})
