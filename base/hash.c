#include "base/hash.h"

#include <string.h>

#include "base/hash_avx2.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { CHUNK = 1 << 18 };

_Static_assert(sizeof(XXH128_canonical_t) == XPU_HASH_BYTES, "XXH3 has 128 bits");

struct xpu_hasher {
    XXH3_state_t state; /* aligned to 64, as arenas are */
    xpu_arena *arena;
};

static xpu_hash canonical(XXH128_hash_t value) {
    XXH128_canonical_t bytes;
    xpu_hash hash;
    XXH128_canonicalFromHash(&bytes, value);
    memcpy(hash.bytes, &bytes, sizeof hash.bytes);
    return hash;
}

static void update(XXH3_state_t *state, const void *bytes, size_t length) {
    if (length && xpu_hash_avx2_here())
        xpu_hash_avx2_update(state, bytes, length);
    else if (length)
        XXH3_128bits_update(state, bytes, length);
}

xpu_hash xpu_hash_of(const void *bytes, size_t length) {
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    update(&state, bytes, length);
    return canonical(XXH3_128bits_digest(&state));
}

int xpu_hash_equal(const xpu_hash *a, const xpu_hash *b) {
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

const char *xpu_hash_text(xpu_arena *arena, const xpu_hash *hash) {
    char text[2 * XPU_HASH_BYTES + 1];
    for (size_t i = 0; i < XPU_HASH_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", hash->bytes[i]);
    return xpu_strdup(arena, text);
}

xpu_hasher *xpu_hasher_new(xpu_arena *arena) {
    xpu_hasher *hasher = XPU_NEW(arena, xpu_hasher);
    hasher->arena = arena;
    XXH3_128bits_reset(&hasher->state);
    return hasher;
}

void xpu_hasher_add(xpu_hasher *hasher, const void *bytes, size_t length) {
    update(&hasher->state, bytes, length);
}

xpu_status xpu_hasher_add_bytes(xpu_hasher *hasher, const xpu_file *file, uint64_t offset, uint64_t length,
                                xpu_diags *diags) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(hasher->arena), "hash");
    uint8_t *chunk = xpu_alloc(scratch, CHUNK);
    xpu_status status = XPU_OK;
    for (uint64_t at = 0; status == XPU_OK && at < length; at += CHUNK) {
        size_t part = length - at < CHUNK ? (size_t)(length - at) : CHUNK;
        status = xpu_file_read(file, offset + at, chunk, part, diags);
        if (status == XPU_OK) xpu_hasher_add(hasher, chunk, part);
    }
    xpu_arena_free(scratch);
    return status;
}

xpu_status xpu_hasher_add_file(xpu_hasher *hasher, const xpu_file *file, xpu_diags *diags) {
    xpu_hasher_add(hasher, &file->size, sizeof file->size);
    return xpu_hasher_add_bytes(hasher, file, 0, file->size, diags);
}

xpu_hash xpu_hasher_result(const xpu_hasher *hasher) {
    return canonical(XXH3_128bits_digest(&hasher->state));
}
