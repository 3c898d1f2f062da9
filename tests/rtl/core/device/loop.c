/* A scalar loop for measurements of speed: loads, stores, branches, multiplication; never ends. */
#include "tests/rtl/core/device/kernel.h"

static uint32_t table[256];

int main(void) {
    uint32_t state = 1, hash = 0;
    for (;;) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t value = next_random(&state);
            if (value & 4) table[i] = value;
            hash = mixed(hash, table[value & 255]);
        }
        if (hash == 1) return 1;
        table[hash & 255] = hash;
    }
}
