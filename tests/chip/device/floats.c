/*
 * Float operations on the chip, see tests/chip/floats.h. Symbols of the linker choose what is done: seed_value,
 * first_block, block_count, parts (1 scalar, 2 vector); with detail_operation (1 + its number; 0: none) the results and
 * flags of the first block's operation are kept one by one.
 */
#include <riscv_vector.h>

#include "tests/chip/floats.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

extern char seed_value[], first_block[], block_count[], parts[], detail_operation[];
#define NUMBER(symbol) ((uint32_t)(uintptr_t)(symbol))

uint32_t hashes[1 << 22];
uint32_t details[2 * BLOCK];

static void keep(uint32_t at, uint32_t value, uint32_t flags) {
    details[2 * at] = value, details[2 * at + 1] = flags;
}

/* ---- One at a time ---- */

#define CLEARED(text) "csrwi fflags, 0\n " text "\n csrr %1, fflags"
#define DO_FF(text)   __asm__ volatile(CLEARED(text " %0, %2, %3") : "=f"(f), "=r"(flags) : "f"(a[i]), "f"(b[i]))
#define DO_F(text)    __asm__ volatile(CLEARED(text " %0, %2") : "=f"(f), "=r"(flags) : "f"(a[i]))
#define DO_FFF(text)                                                                                                   \
    __asm__ volatile(CLEARED(text " %0, %2, %3, %4") : "=f"(f), "=r"(flags) : "f"(a[i]), "f"(b[i]), "f"(c[i]))
#define DO_XFF(text) __asm__ volatile(CLEARED(text " %0, %2, %3") : "=r"(x), "=r"(flags) : "f"(a[i]), "f"(b[i]))
#define DO_XF(text)  __asm__ volatile(CLEARED(text " %0, %2") : "=r"(x), "=r"(flags) : "f"(a[i]))
#define DO_FX(text)  __asm__ volatile(CLEARED(text " %0, %2") : "=f"(f), "=r"(flags) : "r"(words[i]))
#define VALUE_FF     __builtin_bit_cast(uint32_t, f)
#define VALUE_F      VALUE_FF
#define VALUE_FFF    VALUE_FF
#define VALUE_FX     VALUE_FF
#define VALUE_XFF    x
#define VALUE_XF     x

static uint32_t *scalar(uint32_t *out, const float *a, const float *b, const float *c, uint32_t wanted) {
    const uint32_t *words = (const uint32_t *)(const void *)a;
    (void)c;
#define X(name, instruction, operands)                                                                                 \
    {                                                                                                                  \
        uint32_t hash = SCALAR_##name, flags, x;                                                                       \
        float f;                                                                                                       \
        for (uint32_t i = 0; i < BLOCK; i++) {                                                                         \
            DO_##operands(instruction);                                                                                \
            hash = float_mix(hash, VALUE_##operands) + flags;                                                          \
            if (wanted == SCALAR_##name + 1) keep(i, VALUE_##operands, flags);                                         \
        }                                                                                                              \
        (void)x, (void)f;                                                                                              \
        *out++ = hash;                                                                                                 \
    }
    SCALAR_OPERATIONS(X)
#undef X
    return out;
}

/* ---- Sixteen lanes ---- */

#define GROUP(type, text) "csrwi fflags, 0\n vsetvli zero, %2, " type ", tu, mu\n " text "\n csrr %1, fflags"
#define INTO(text, ...)                                                                                                \
    __asm__ volatile(GROUP("e32, m1", text) : "+vr"(r), "=r"(flags) : "r"(vl), __VA_ARGS__ : "vl", "vtype")
#define FRESH                                                                                                          \
    r = __riscv_vmv_v_x_u32m1(0, LANES);                                                                               \
    __asm__ volatile("" : "+vr"(r))
#define DO_VV(text)                                                                                                    \
    FRESH;                                                                                                             \
    INTO(text " %0, %3, %4", "vr"(x), "vr"(y))
#define DO_VF(text)                                                                                                    \
    FRESH;                                                                                                             \
    INTO(text " %0, %3, %4", "vr"(x), "f"(s))
#define DO_V(text)                                                                                                     \
    FRESH;                                                                                                             \
    INTO(text " %0, %3", "vr"(x))
#define DO_ACC(text)                                                                                                   \
    r = z;                                                                                                             \
    INTO(text " %0, %3, %4", "vr"(x), "vr"(y))
#define DO_ACCF(text)                                                                                                  \
    r = z;                                                                                                             \
    INTO(text " %0, %3, %4", "f"(s), "vr"(y))
#define DO_MASK(text)                                                                                                  \
    FRESH;                                                                                                             \
    INTO(text " %0, %3, %4", "vr"(x), "vr"(y))
#define DO_MASKF(text)                                                                                                 \
    FRESH;                                                                                                             \
    INTO(text " %0, %3, %4", "vr"(x), "f"(s))
#define DO_RED(text)                                                                                                   \
    FRESH;                                                                                                             \
    INTO(text " %0, %3, %4", "vr"(x), "vr"(y))
#define DO_NARROW(text)                                                                                                \
    FRESH;                                                                                                             \
    __asm__ volatile(GROUP("e16, mf2", text " %0, %3") : "+&vr"(r), "=r"(flags) : "r"(vl), "vr"(x) : "vl", "vtype")
#define DO_WIDEN(text)                                                                                                 \
    FRESH;                                                                                                             \
    __asm__ volatile(GROUP("e16, mf2", text " %0, %3") : "+&vr"(r), "=r"(flags) : "r"(vl), "vr"(h) : "vl", "vtype")

static uint32_t *vector(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t vl,
                        uint32_t wanted) {
    uint32_t lanes[LANES];
    uint16_t halves[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++) halves[i] = (uint16_t)(a[i] >> 8);
#define X(name, instruction, operands)                                                                                 \
    {                                                                                                                  \
        uint32_t hash = VECTOR_##name, flags;                                                                          \
        vuint32m1_t fold = __riscv_vmv_v_x_u32m1(0, LANES);                                                            \
        for (uint32_t i = 0; i < BLOCK; i += LANES) {                                                                  \
            vuint32m1_t x = __riscv_vle32_v_u32m1(a + i, LANES), y = __riscv_vle32_v_u32m1(b + i, LANES);              \
            vuint32m1_t z = __riscv_vle32_v_u32m1(c + i, LANES), r;                                                    \
            vuint16mf2_t h = __riscv_vle16_v_u16mf2(halves + i, LANES);                                                \
            float s = ((const float *)(const void *)c)[i];                                                             \
            (void)x, (void)y, (void)z, (void)h, (void)s;                                                               \
            DO_##operands(instruction);                                                                                \
            hash = float_mix(hash, flags);                                                                             \
            fold = __riscv_vmul(__riscv_vxor(fold, r, LANES), 0x9e3779b1u, LANES);                                     \
            if (wanted == VECTOR_##name + 1) {                                                                         \
                __riscv_vse32(lanes, r, LANES);                                                                        \
                for (uint32_t k = 0; k < LANES; k++) keep(i + k, lanes[k], flags);                                     \
            }                                                                                                          \
        }                                                                                                              \
        __riscv_vse32(lanes, fold, LANES);                                                                             \
        for (uint32_t k = 0; k < LANES; k++) hash = float_mix(hash, lanes[k]);                                         \
        *out++ = hash;                                                                                                 \
    }
    VECTOR_OPERATIONS(X)
#undef X
    return out;
}

int main(void);
int main(void) {
    uint32_t *out = hashes;
    float f[3][BLOCK];
    uint32_t *a = (uint32_t *)(void *)f[0], *b = (uint32_t *)(void *)f[1], *c = (uint32_t *)(void *)f[2];
    uint32_t first = NUMBER(first_block), wanted = NUMBER(detail_operation), which = NUMBER(parts);
    *(volatile uint32_t *)(uintptr_t)(XPU_REGS_BASE + XPU_REG_WATCHDOG_LIMIT) = 100000000;
    for (uint32_t n = 0; n < NUMBER(block_count); n++) {
        *(volatile uint32_t *)(uintptr_t)(XPU_REGS_BASE + XPU_REG_WATCHDOG) = 1;
        float_block(NUMBER(seed_value), first + n, a, b, c);
        __asm__ volatile("csrw frm, %0" ::"r"((first + n) % MODES) : "memory");
        if (which & 1) out = scalar(out, f[0], f[1], f[2], n == 0 ? wanted : 0);
        if (which & 2) out = vector(out, a, b, c, float_lanes(first + n), n == 0 ? wanted : 0);
        __asm__ volatile("csrwi frm, 0" ::: "memory");
    }
    return 0;
}
