/*
 * params FOLDER NAME|FILE.json: what a chip's RTL is built with, as lines for make: NAME (of the library), GENERICS
 * (-G options of Verilator), DEFINES (-D options for model.cpp).
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/chip.h"

int main(int argc, char **argv) {
    static xpu_mem mem;
    static xpu_diags diags;
    xpu_chip chip;
    if (argc != 3) {
        fputs("usage: params FOLDER NAME|FILE.json\n", stderr);
        return XPU_EUSAGE;
    }
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    if (setjmp(mem.out_of_memory)) return XPU_EIO;
    if (xpu_chip_load(xpu_arena_new(&mem, "params"), argv[1], argv[2], &chip, &diags) != XPU_OK) {
        xpu_diags_print(&diags, stderr);
        return (int)xpu_diags_status(&diags);
    }
    uint32_t entries = 16;
    while (entries < chip.gm_outstanding) entries *= 2;
    uint32_t sm_rate = chip.sm_banks * chip.sm_bank_bytes, l3_entries = 16;
    while (l3_entries < chip.l3_latency) l3_entries *= 2;
    const struct {
        const char *name;
        uint32_t value;
    } parameters[] = {{"CORES", chip.cores},
                      {"LM_BYTES", chip.lm_bytes},
                      {"ICACHE_BYTES", chip.icache_bytes},
                      {"SM_BYTES", chip.sm_bytes},
                      {"SM_BANKS", sm_rate < 64 ? 1 : sm_rate / 64},
                      {"SM_HOLD", sm_rate < 64 ? 64 / sm_rate : 1},
                      {"L3_BYTES", chip.l3_bytes},
                      {"L3_BANKS", chip.l3_banks},
                      {"L3_ENTRIES", l3_entries},
                      {"GM_BYTES", chip.gm_bytes},
                      {"ARRAY_ROWS", chip.array_rows},
                      {"ARRAY_COLUMNS", chip.array_columns},
                      {"ACC_BANKS", chip.acc_banks},
                      {"ACC_ROWS", chip.acc_rows},
                      {"WEIGHT_ROWS", chip.weight_rows},
                      {"POST_LANES", chip.post_lanes},
                      {"WINDOW_CHANNELS", chip.window_channels},
                      {"WINDOW_LINES", chip.window_lines},
                      {"WINDOW_LINE_BYTES", chip.window_line_bytes},
                      {"ABI_HASH", xpu_chip_abi_hash(&chip)},
                      {"GM_ENTRIES", entries}};
    printf("NAME := %s\nGENERICS :=", chip.name);
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        printf(" -G%s=32'h%08" PRIx32, parameters[i].name, parameters[i].value);
    printf("\nDEFINES :=");
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        printf(" -DCHIP_%s=0x%08" PRIx32 "u", parameters[i].name, parameters[i].value);
    putchar('\n');
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
    return 0;
}
