/*
 * The bench of the kernel tests: a chip, functional or (XPU_KERNEL_DEVICE=rtl) Verilated and in lock-step, with the
 * test program in it, device memory filled with noise in which the operands of a call lie, and a comparison of all of
 * that memory with what it must hold afterwards.
 */
#ifndef XPU_TESTS_CHIP_RIG_H
#define XPU_TESTS_CHIP_RIG_H

#include "core/chip.h"
#include "tests/chip/rig/kernel_calls.h"
#include "tests/unit/ir.h"
#include "xpu_runtime/include/xpu_kernel_args.h"
#include "xpu_runtime/include/xpurt_device.h"

enum { RIG_SCRATCHES = 8 };
typedef enum { RIG_L3, RIG_GM, RIG_MEMORIES } rig_memory;

/* Part of device memory that calls use, and what it must hold. */
typedef struct {
    uint32_t base, bytes, used;
    uint8_t *expected, *actual;
} rig_region;

typedef struct {
    xpu_chip chip;
    const xpurt_device_driver *driver;
    xpurt_device *device;
    uint32_t entry, plan_address, control_address;
    rig_region regions[RIG_MEMORIES];
    random_source *random;
    uint32_t plan[XPU_CALL_WORDS], plan_words;
    struct {
        uint32_t address, bytes;
    } scratch[RIG_SCRATCHES];
    uint32_t scratches;
    uint32_t last_address, last_bytes;        /* what was expected last */
    char what[2048];                          /* the case in words, printed when it fails */
    uint64_t instructions, most_instructions; /* of the last run: all cores, and the core with most */
} rig;

/* A chip of configs/chip with the program of $XPU_BUILD/tests/chip/kernels.elf; 0 when something is missing. Races fail
 * rig_run; unchecked, for measurements, nobody looks for them. */
int rig_open(rig *r, const char *chip, random_source *random);
int rig_open_unchecked(rig *r, const char *chip, random_source *random);
void rig_close(rig *r);

/* Begins a case: memory is free again, noise everywhere, no calls. */
void rig_begin(rig *r);
/* Says what the case is; the texts of one case are joined. */
void rig_describe(rig *r, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* Room in a drawn memory (L3 or GM, where it fits) at a drawn address that is a multiple of `alignment`. `data`: what
 * lies there before the run; NULL: noise. */
uint32_t rig_place(rig *r, const void *data, uint32_t bytes, uint32_t alignment);
/* The same for a call's scratch, of which nobody asks what it holds afterwards. */
uint32_t rig_scratch(rig *r, uint32_t bytes);
/* What must lie at `address`, which rig_place gave, after the run. */
void rig_expect(rig *r, uint32_t address, const void *data, uint32_t bytes);

/* Adds a copy_nd of what was expected last to another place: it must wait for the call before. */
void rig_copy_last(rig *r);

/* Adds a call; `args` is the kernel's struct. */
void rig_call(rig *r, xpu_call_kernel kernel, xpu_call_body_id body, const void *args, uint32_t bytes);

/* Runs the calls and compares all memory. 4-byte words that are NaN on both sides are equal. Checks with CUnit. */
void rig_run(rig *r);

/* Runs the calls only; 0 when that fails. */
int rig_execute(rig *r);

/* A number from low to high. */
static inline int64_t draw(rig *r, int64_t low, int64_t high) {
    return random_range(r->random, low, high);
}

/* First address of SM that calls may use, behind the mailboxes. */
uint32_t rig_sm(void);

#endif
