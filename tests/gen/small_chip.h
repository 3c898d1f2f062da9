/* What the small chips of tests have in common, as members of an initialiser; sizes of memories and array are the
 * test's. */
#ifndef XPU_TESTS_SMALL_CHIP_H
#define XPU_TESTS_SMALL_CHIP_H

#include "core/chip.h"

#define SMALL_CHIP                                                                                                     \
    .name = "test", .lm_port_bytes = 64, .lanes = 16, .icache_bytes = 4096, .icache_line_bytes = 64, .sm_banks = 8,    \
    .sm_bank_bytes = 64, .l3_banks = 8, .l3_rate = 64, .l3_latency = 10, .gm_rate = 64, .gm_latency = 100,             \
    .gm_outstanding = 128, .gm_burst_bytes = 64

#endif
