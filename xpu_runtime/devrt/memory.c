/* The memory functions that clang may call. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);

__attribute__((no_builtin("memcpy"))) void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
    uint8_t *t = to;
    const uint8_t *f = from;
    for (size_t i = 0; i < bytes; i++) t[i] = f[i];
    return to;
}

__attribute__((no_builtin("memset"))) void *memset(void *to, int value, size_t bytes) {
    uint8_t *t = to;
    for (size_t i = 0; i < bytes; i++) t[i] = (uint8_t)value;
    return to;
}

__attribute__((no_builtin("memmove", "memcpy"))) void *memmove(void *to, const void *from, size_t bytes) {
    uint8_t *t = to;
    const uint8_t *f = from;
    if (t <= f || t >= f + bytes) return memcpy(to, from, bytes);
    while (bytes--) t[bytes] = f[bytes];
    return to;
}
