/* The memory functions that clang may call, as vectors of bytes. */
#include <riscv_vector.h>
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
    uint8_t *t = to;
    const uint8_t *f = from;
    for (size_t vl; bytes > 0; bytes -= vl, t += vl, f += vl) {
        vl = __riscv_vsetvl_e8m8(bytes);
        __riscv_vse8_v_u8m8(t, __riscv_vle8_v_u8m8(f, vl), vl);
    }
    return to;
}

void *memset(void *to, int value, size_t bytes) {
    uint8_t *t = to;
    vuint8m8_t values = __riscv_vmv_v_x_u8m8((uint8_t)value, __riscv_vsetvlmax_e8m8());
    for (size_t vl; bytes > 0; bytes -= vl, t += vl) {
        vl = __riscv_vsetvl_e8m8(bytes);
        __riscv_vse8_v_u8m8(t, values, vl);
    }
    return to;
}

void *memmove(void *to, const void *from, size_t bytes) {
    uint8_t *t = to;
    const uint8_t *f = from;
    if (t <= f || t >= f + bytes) return memcpy(to, from, bytes);
    while (bytes > 0) {
        size_t vl = __riscv_vsetvl_e8m8(bytes);
        bytes -= vl;
        __riscv_vse8_v_u8m8(t + bytes, __riscv_vle8_v_u8m8(f + bytes, vl), vl);
    }
    return to;
}
