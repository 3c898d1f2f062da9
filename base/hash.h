/*
 * Content hashes: XXH3 with 128 bits, as xxh128sum prints it. They find damage and tell files apart; they are no
 * protection against who forges both.
 */
#ifndef XPU_BASE_HASH_H
#define XPU_BASE_HASH_H

#include "base/file.h"

enum { XPU_HASH_BYTES = 16 };

/* Canonical form: most significant byte first. */
typedef struct {
    uint8_t bytes[XPU_HASH_BYTES];
} xpu_hash;

xpu_hash xpu_hash_of(const void *bytes, size_t length);
int xpu_hash_equal(const xpu_hash *a, const xpu_hash *b);
/* 32 hexadecimal digits. */
const char *xpu_hash_text(xpu_arena *arena, const xpu_hash *hash);

/* The same of bytes that come in pieces. */
typedef struct xpu_hasher xpu_hasher;
xpu_hasher *xpu_hasher_new(xpu_arena *arena);
void xpu_hasher_add(xpu_hasher *hasher, const void *bytes, size_t length);
xpu_status xpu_hasher_add_bytes(xpu_hasher *hasher, const xpu_file *file, uint64_t offset, uint64_t length,
                                xpu_diags *diags);
/* The whole file's length, as 8 bytes, then its bytes. */
xpu_status xpu_hasher_add_file(xpu_hasher *hasher, const xpu_file *file, xpu_diags *diags);
xpu_hash xpu_hasher_result(const xpu_hasher *hasher);

#endif
