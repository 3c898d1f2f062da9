/* Writes a random legal description of a small chip, of which a Verilated library is made in a minute or two. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "core/chip.h"

static uint64_t random_state;

static uint32_t draw(uint32_t bound) {
    uint64_t x = random_state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(((x ^ x >> 31) >> 32) * bound >> 32);
}
static uint32_t one_of(const uint32_t *values) { /* ends with 0 */
    uint32_t n = 0;
    while (values[n]) n++;
    return values[draw(n)];
}
#define ONE_OF(...) one_of((const uint32_t[]){__VA_ARGS__, 0})

/* Keys within their ranges; the rules over several keys may be broken. */
static void draw_chip(xpu_chip *c) {
    c->array_rows = ONE_OF(4, 8, 8, 16), c->array_columns = ONE_OF(4, 8, 8, 16);
    c->acc_banks = 1 + draw(3), c->acc_rows = ONE_OF(16, 48, 64, 100, 128);
    c->weight_rows = ONE_OF(1, 2, 4, 8, 16), c->post_lanes = ONE_OF(1, 2, 4, 8, 16);
    c->window_channels = 0, c->window_lines = 7 + draw(10), c->window_line_bytes = 1024 << draw(4);
    c->cores = 1 + draw(3), c->lm_bytes = 1024 * ONE_OF(16, 16, 20, 32, 64);
    c->lm_port_bytes = 64, c->lanes = 16;
    c->icache_line_bytes = 64, c->icache_bytes = 1024 * ONE_OF(1, 2, 4, 8, 16);
    c->sm_bytes = 1024 * ONE_OF(32, 32, 40, 64, 100), c->sm_banks = ONE_OF(1, 2, 4, 8, 16);
    c->sm_bank_bytes = ONE_OF(8, 16, 32, 64, 128);
    c->l3_bytes = 1024 * ONE_OF(64, 65, 96, 128, 512), c->l3_banks = ONE_OF(1, 2, 4, 8);
    c->l3_rate = ONE_OF(8, 16, 32, 48, 64, 128), c->l3_latency = 1 + draw(40);
    c->gm_bytes = 4096 * (1024 + draw(15 * 1024)), c->gm_rate = ONE_OF(4, 8, 16, 33, 64);
    c->gm_latency = 1 + draw(150), c->gm_outstanding = 1 + draw(100), c->gm_burst_bytes = ONE_OF(16, 32, 64, 128, 256);
}

static int run(xpu_mem *mem, char **argv, xpu_diags *diags) {
    xpu_arena *arena = xpu_arena_new(mem, "chip");
    xpu_chip chip;
    memset(&chip, 0, sizeof chip);
    random_state = strtoull(argv[1], NULL, 0) << 20;
    snprintf(chip.name, sizeof chip.name, "random-%s", argv[1]);
    for (;;) {
        xpu_diags broken;
        xpu_diags_init(&broken);
        draw_chip(&chip);
        int legal = xpu_chip_check(arena, &chip, argv[2], &broken) == XPU_OK;
        xpu_diags_clear(&broken);
        if (legal) break;
    }
    const char *json = xpu_chip_json(arena, &chip);
    return (int)xpu_file_write(arena, argv[2], json, strlen(json), diags);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fputs("usage: random_chip_main SEED OUT.json\n", stderr);
        return XPU_EUSAGE;
    }
    xpu_diags diags;
    xpu_mem mem;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    int status;
    if (setjmp(mem.out_of_memory))
        status = (int)xpu_error_oom(&diags);
    else
        status = run(&mem, argv, &diags);
    xpu_diags_print(&diags, stderr);
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
    return status;
}
