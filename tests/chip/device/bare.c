/* A bare program for tests/chip/test_bare.sh; MODE chooses what it does. */
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

#define REG(offset) (*(volatile uint32_t *)(uintptr_t)(XPU_REGS_BASE + (offset)))

enum { COUNT = 64 };

static const uint32_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
static uint32_t start = 1;
float roots[16];
uint32_t results[COUNT];

static void say(const char *text) {
    while (*text) REG(XPU_REG_PUTCHAR) = (uint8_t)*text++;
}

/* Other cores wait for a signal, add their number to a counter and end. */
void other_main(uint32_t core);
void other_main(uint32_t core) {
    REG(XPU_REG_WAIT_VALUE) = 1;
    (void)REG(XPU_REG_WAIT);
    REG(XPU_REG_COUNTER + 4) = core;
}

int main(uint32_t core, uint32_t cores) {
    uint32_t x = start, sum = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        x = x * 1664525 + primes[i % 8];
        results[i] = x;
        sum += x % (i + 1);
    }
    for (int i = 0; i < 16; i++) roots[i] = __builtin_sqrtf((float)i);
    say("bare\n");
    if (MODE == 1) REG(XPU_REG_ABORT) = 77;
    if (MODE == 2) return *(volatile int *)(uintptr_t)core; /* null */
    if (MODE == 3) REG(XPU_REG_WATCHDOG_LIMIT) = 20000;
    if (MODE == 3 || MODE == 4)
        for (;;) __asm__ volatile("" ::: "memory");
    if (MODE == 6) { /* a descriptor that waits for a signal that nobody gives */
        static uint32_t words[XPU_DESC_WORDS];
        xpu_desc_nop d = {
            .layer = 3, .wait0 = 7, .wait0_value = 2, .wait1 = XPU_NO_COUNTER, .signal = 2, .signal_add = 9};
        xpu_desc_nop_pack(words, &d);
        __asm__ volatile("fence" ::: "memory");
        REG(XPU_REG_DOORBELL_ADDRESS) = (uint32_t)(uintptr_t)words;
        REG(XPU_REG_DOORBELL_COUNT) = 1;
    }
    if (MODE == 7) /* layers without end, each complete at once */
        for (;;) {
            REG(XPU_REG_TICKET_COUNTER) = 3;
            REG(XPU_REG_TICKET_VALUE) = 0;
            REG(XPU_REG_TICKET_LAYER) = 1;
        }
    if (MODE == 8) REG(XPU_REG_HOST_CALL) = 0x7ffffffd;
    if (MODE == 9) REG(XPU_REG_HOST_CALL) = (uint32_t)(uintptr_t)results;
    if (MODE == 10) { /* alive, but without progress */
        REG(XPU_REG_WATCHDOG_LIMIT) = 1000;
        for (;;) REG(XPU_REG_WATCHDOG) = 1;
    }
    if (MODE == 12) { /* long lists of descriptors that do nothing */
        static uint32_t words[4096][XPU_DESC_WORDS];
        xpu_desc_nop d = {.wait0 = XPU_NO_COUNTER, .wait1 = XPU_NO_COUNTER, .signal = XPU_NO_COUNTER};
        for (uint32_t i = 0; i < 4096; i++) xpu_desc_nop_pack(words[i], &d);
        __asm__ volatile("fence" ::: "memory");
        for (;;) {
            REG(XPU_REG_DOORBELL_ADDRESS) = (uint32_t)(uintptr_t)words;
            REG(XPU_REG_DOORBELL_COUNT) = 4096;
        }
    }
    if (MODE == 11) /* layers without end, none complete */
        for (uint32_t layer = 0;; layer++) {
            REG(XPU_REG_TICKET_COUNTER) = 3;
            REG(XPU_REG_TICKET_VALUE) = 1;
            REG(XPU_REG_TICKET_LAYER) = layer;
        }
    if (MODE >= 5) {
        REG(XPU_REG_WAIT_VALUE + 8) = 9;
        return (int)REG(XPU_REG_WAIT + 8);
    }
    REG(XPU_REG_COUNTER) = 1;
    REG(XPU_REG_WAIT_VALUE + 4) = cores * (cores - 1) / 2;
    (void)REG(XPU_REG_WAIT + 4);
    return (int)(sum & 127);
}
