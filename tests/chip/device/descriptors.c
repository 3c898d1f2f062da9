/*
 * Works through lists of actions, one for each core, that tests/gen/random_descriptors_main.c has put into GM:
 * doorbells, waits, signals, barriers, and work on memory by scalar and vector code. Core 0 leaves all counters in GM
 * at the end.
 */
#include <riscv_vector.h>

#include "tests/gen/random_descriptors.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

#define REG(offset) (*(volatile uint32_t *)(uintptr_t)(XPU_REGS_BASE + (offset)))

static void fence(void) {
    __asm__ volatile("fence" ::: "memory");
}

static void scalar_words(uint32_t *to, const uint32_t *from, uint32_t count) {
    uint32_t sum = count;
    for (uint32_t i = 0; i < count; i++) {
        sum = sum * 5 + from[i];
        to[i] ^= sum;
    }
}

static void scalar_bytes(uint8_t *to, const uint8_t *from, uint32_t count) {
    const uint16_t *halves = (const uint16_t *)(const void *)from;
    for (uint32_t i = 0; i < count; i++) to[i] = (uint8_t)(to[i] - from[3 * i] + (halves[i] >> 5));
}

static void vector_words(uint32_t *to, const uint32_t *from, uint32_t count) {
    size_t vl;
    for (uint32_t i = 0; i < count; i += vl) {
        vl = __riscv_vsetvl_e32m2(count - i);
        vuint32m2_t x = __riscv_vle32_v_u32m2(from + i, vl), y = __riscv_vle32_v_u32m2(to + i, vl);
        y = __riscv_vxor(__riscv_vmacc(x, y, x, vl), __riscv_vsrl(y, 5, vl), vl);
        __riscv_vse32(__riscv_vmsne(__riscv_vand(x, 7, vl), 3, vl), to + i, y, vl);
    }
}

static void vector_floats(float *to, const float *from, uint32_t count) {
    size_t vl;
    for (uint32_t i = 0; i < count; i += vl) {
        vl = __riscv_vsetvl_e32m4(count - i);
        vfloat32m4_t x = __riscv_vle32_v_f32m4(from + i, vl), y = __riscv_vle32_v_f32m4(to + i, vl);
        y = __riscv_vfmadd(x, y, y, vl);
        __riscv_vse32(to + i, __riscv_vfmin(y, __riscv_vfsub(x, 0.5f, vl), vl), vl);
    }
}

static void strided_halves(uint16_t *to, const uint16_t *from, uint32_t count) {
    size_t vl;
    for (uint32_t i = 0; i < count; i += vl) {
        vl = __riscv_vsetvl_e16m1(count - i);
        vuint16m1_t x = __riscv_vlse16_v_u16m1(from + 3 * i, 6, vl);
        __riscv_vsse16(to + 2 * i, 4, __riscv_vadd(x, (uint16_t)i, vl), vl);
    }
}

static void work(const rd_action *a) {
    void *to = (void *)(uintptr_t)a->to;
    const void *from = (const void *)(uintptr_t)a->from;
    switch (a->kind) {
    case RD_WORDS: scalar_words(to, from, a->count); break;
    case RD_BYTES: scalar_bytes(to, from, a->count); break;
    case RD_VECTOR: vector_words(to, from, a->count); break;
    case RD_FLOATS: vector_floats(to, from, a->count); break;
    default: strided_halves(to, from, a->count);
    }
}

static void follow(uint32_t core) {
    const rd_header *header = (const rd_header *)(uintptr_t)RD_HEADER;
    if (core == 0) REG(XPU_REG_SEED) = header->seed;
    for (const rd_action *a = (const rd_action *)(uintptr_t)header->actions[core]; a->kind != RD_END; a++)
        switch (a->kind) {
        case RD_RING:
            fence();
            REG(XPU_REG_DOORBELL_ADDRESS + 16 * a->to) = a->from;
            REG(XPU_REG_DOORBELL_COUNT + 16 * a->to) = a->count;
            break;
        case RD_WAIT:
            REG(XPU_REG_WAIT_VALUE + 4 * a->to) = a->from;
            (void)REG(XPU_REG_WAIT + 4 * a->to);
            __asm__ volatile("" ::: "memory");
            break;
        case RD_SIGNAL:
            fence();
            REG(XPU_REG_COUNTER + 4 * a->to) = a->from;
            break;
        case RD_BARRIER:
            fence();
            (void)REG(XPU_REG_BARRIER);
            break;
        default: work(a);
        }
}

void other_main(uint32_t core);
void other_main(uint32_t core) {
    follow(core);
}

int main(uint32_t core);
int main(uint32_t core) {
    follow(core);
    for (uint32_t i = 0; i < XPU_COUNTERS; i++) ((uint32_t *)(uintptr_t)RD_COUNTERS)[i] = REG(XPU_REG_COUNTER + 4 * i);
    return 0;
}
