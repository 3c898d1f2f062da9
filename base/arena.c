#define _GNU_SOURCE 1
#include "base/arena.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Under AddressSanitizer each allocation is followed by poisoned bytes: an overrun inside an arena is reported too. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(ARENA_POISONS)
#define ARENA_POISONS 1
#endif
#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
#else
#define ARENA_POISONS                              0
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

enum {
    ALIGNMENT = 64,
    SMALL = 16, /* alignment of what has fewer bytes than ALIGNMENT */
    GAP = ARENA_POISONS ? 64 : 0,
    FIRST_CHUNK = 16 << 10, /* bytes; each further chunk is twice as large, up to LAST_CHUNK */
    LAST_CHUNK = 1 << 20    /* larger ones hold one allocation, in pages of their own */
};

typedef struct chunk {
    struct chunk *older;
    size_t bytes; /* this header included */
} chunk;

typedef struct cleanup {
    struct cleanup *older;
    void (*run)(void *object);
    void *object;
} cleanup;

struct xpu_arena {
    xpu_mem *mem;
    xpu_arena *older, *newer;
    const char *lifetime;
    chunk *chunks;
    char *next, *end; /* free room in the newest chunk; zeroed */
    size_t chunk_bytes;
    cleanup *cleanups;
};

static atomic_ulong allocations;
static atomic_ulong failing_allocation;

unsigned long xpu_alloc_fail_at(unsigned long n) {
    atomic_store(&failing_allocation, n);
    return atomic_exchange(&allocations, 0);
}

int xpu_alloc_fails(void) {
    return atomic_fetch_add(&allocations, 1) + 1 == atomic_load(&failing_allocation);
}

_Noreturn void xpu_out_of_memory(xpu_mem *mem) {
    longjmp(mem->out_of_memory, 1);
}

void xpu_mem_init(xpu_mem *mem) {
    mem->arenas = NULL;
    mem->bytes = 0;
    mem->peak_bytes = 0;
    mem->kept = NULL;
    mem->kept_arena = NULL;
    mem->given = NULL;
    mem->keeps_reads = 0;
    mem->stop = NULL;
    mem->stop_context = NULL;
    mem->doing_kind = mem->doing_name = mem->wanted_for = NULL;
    mem->wanted = 0;
}

void xpu_mem_release(xpu_mem *mem) {
    mem->kept = NULL;
    mem->kept_arena = NULL;
    while (mem->arenas) xpu_arena_free(mem->arenas);
}

xpu_arena *xpu_arena_new(xpu_mem *mem, const char *lifetime) {
    xpu_arena *arena = xpu_alloc_fails() ? NULL : calloc(1, sizeof *arena);
    if (!arena) xpu_out_of_memory(mem);
    arena->mem = mem;
    arena->lifetime = lifetime;
    arena->chunk_bytes = FIRST_CHUNK;
    arena->older = mem->arenas;
    if (arena->older) arena->older->newer = arena;
    mem->arenas = arena;
    return arena;
}

static void release_chunk(chunk *block) {
    ASAN_UNPOISON_MEMORY_REGION(block, block->bytes);
    if (block->bytes > LAST_CHUNK) {
        munmap(block, block->bytes);
    } else {
        free(block);
    }
}

void xpu_arena_free(xpu_arena *arena) {
    if (!arena) return;
    for (cleanup *entry = arena->cleanups; entry; entry = entry->older) entry->run(entry->object);
    for (chunk *block = arena->chunks, *older; block; block = older) {
        older = block->older;
        arena->mem->bytes -= block->bytes;
        release_chunk(block);
    }
    if (arena->newer) {
        arena->newer->older = arena->older;
    } else {
        arena->mem->arenas = arena->older;
    }
    if (arena->older) arena->older->newer = arena->newer;
    free(arena);
}

xpu_mem *xpu_arena_mem(const xpu_arena *arena) {
    return arena->mem;
}

int xpu_stopped(const xpu_arena *arena) {
    const xpu_mem *mem = arena->mem;
    return mem->stop && mem->stop(mem->stop_context);
}

const char *xpu_arena_lifetime(const xpu_arena *arena) {
    return arena->lifetime;
}

/* The room behind a chunk's header. */
static char *chunk_room(chunk *block) {
    return (char *)(block + 1);
}

static void count_bytes(xpu_mem *mem, size_t bytes) {
    mem->bytes += bytes;
    if (mem->bytes > mem->peak_bytes) mem->peak_bytes = mem->bytes;
}

static chunk *new_chunk(xpu_arena *arena, size_t bytes) {
    chunk *block;
    if (bytes > LAST_CHUNK) {
        block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) return NULL;
    } else {
        block = calloc(1, bytes);
        if (!block) return NULL;
    }
    block->bytes = bytes;
    count_bytes(arena->mem, bytes);
    ASAN_POISON_MEMORY_REGION(chunk_room(block), bytes - sizeof *block);
    return block;
}

static char *align_up(char *address, size_t alignment) {
    return address + (-(uintptr_t)address & (uintptr_t)(alignment - 1));
}

static void *no_room(xpu_arena *arena, size_t bytes) {
    arena->mem->wanted = bytes;
    arena->mem->wanted_for = arena->lifetime;
    return NULL;
}

/* NULL when memory runs out. */
static void *try_alloc(xpu_arena *arena, size_t bytes, size_t alignment) {
    if (xpu_alloc_fails() || bytes > SIZE_MAX / 2) return no_room(arena, bytes);
    size_t room = bytes + GAP + alignment + sizeof(chunk);
    char *place = arena->next ? align_up(arena->next, alignment) : NULL;
    if (!place || place > arena->end || (size_t)(arena->end - place) < bytes + GAP) {
        int alone = room > arena->chunk_bytes / 4;
        chunk *block = new_chunk(arena, alone ? room : arena->chunk_bytes);
        if (!block) return no_room(arena, bytes);
        place = align_up(chunk_room(block), alignment);
        if (alone) { /* behind the newest chunk, whose room stays in use */
            chunk **link = arena->chunks ? &arena->chunks->older : &arena->chunks;
            block->older = *link;
            *link = block;
            ASAN_UNPOISON_MEMORY_REGION(place, bytes);
            return place;
        }
        block->older = arena->chunks;
        arena->chunks = block;
        arena->end = (char *)block + block->bytes;
        if (arena->chunk_bytes < LAST_CHUNK) arena->chunk_bytes *= 2;
    }
    arena->next = place + bytes + GAP;
    ASAN_UNPOISON_MEMORY_REGION(place, bytes);
    return place;
}

static void *alloc_aligned(xpu_arena *arena, size_t bytes, size_t alignment) {
    void *block = try_alloc(arena, bytes, alignment);
    if (!block) xpu_out_of_memory(arena->mem);
    return block;
}

void *xpu_alloc(xpu_arena *arena, size_t bytes) {
    return alloc_aligned(arena, bytes, bytes < ALIGNMENT ? SMALL : ALIGNMENT);
}

void *xpu_alloc_array(xpu_arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) xpu_out_of_memory(arena->mem);
    return xpu_alloc(arena, bytes);
}

void *xpu_copy(xpu_arena *arena, const void *data, size_t bytes) {
    void *copy = xpu_alloc(arena, bytes);
    if (bytes) memcpy(copy, data, bytes);
    return copy;
}

char *xpu_strndup(xpu_arena *arena, const char *text, size_t length) {
    if (length) length = strnlen(text, length);
    char *copy = alloc_aligned(arena, length + 1, 1);
    if (length) memcpy(copy, text, length);
    return copy;
}

char *xpu_strdup(xpu_arena *arena, const char *text) {
    return xpu_strndup(arena, text, strlen(text));
}

char *xpu_vprintf(xpu_arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : try_alloc(arena, (size_t)length + 1, 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    if (!text) xpu_out_of_memory(arena->mem);
    return text;
}

char *xpu_printf(xpu_arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = xpu_vprintf(arena, format, args);
    va_end(args);
    return text;
}

void xpu_arena_defer(xpu_arena *arena, void (*run)(void *object), void *object) {
    cleanup *entry = try_alloc(arena, sizeof *entry, _Alignof(cleanup));
    if (!entry) {
        run(object);
        xpu_out_of_memory(arena->mem);
    }
    *entry = (cleanup){arena->cleanups, run, object};
    arena->cleanups = entry;
}

/* A larger block that begins with the `had` bytes of `old`. One with a chunk of its own moves with its pages. */
static void *grow(xpu_arena *arena, void *old, size_t had, size_t bytes, size_t alignment) {
    chunk **link = had > LAST_CHUNK ? &arena->chunks : NULL;
    while (link && *link && (char *)old != align_up(chunk_room(*link), alignment)) link = &(*link)->older;
    if (!link || !*link || xpu_alloc_fails() || bytes > SIZE_MAX / 2) {
        void *block = alloc_aligned(arena, bytes, alignment);
        if (had) memcpy(block, old, had);
        if (had) ASAN_POISON_MEMORY_REGION(old, had);
        return block;
    }
    size_t room = bytes + GAP + alignment + sizeof(chunk), before = (*link)->bytes;
    ASAN_UNPOISON_MEMORY_REGION(*link, before);
    chunk *moved = mremap(*link, before, room, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) {
        no_room(arena, bytes);
        xpu_out_of_memory(arena->mem);
    }
    *link = moved;
    moved->bytes = room;
    count_bytes(arena->mem, room - before);
    return align_up(chunk_room(moved), alignment);
}

void *xpu_array_reserve(xpu_arena *arena, void *items, uint32_t *capacity, uint32_t needed, size_t size) {
    size_t bytes;
    if (needed == 0) xpu_out_of_memory(arena->mem);
    if (needed <= *capacity) return items;
    uint32_t larger = !*capacity ? 1 : *capacity > UINT32_MAX / 2 ? UINT32_MAX : *capacity * 2;
    if (larger < needed) larger = needed;
    if (__builtin_mul_overflow(larger, size, &bytes)) xpu_out_of_memory(arena->mem);
    void *block = grow(arena, items, *capacity * size, bytes, bytes < ALIGNMENT ? SMALL : ALIGNMENT);
    *capacity = larger;
    return block;
}

void xpu_text_init(xpu_text *text, xpu_arena *arena) {
    *text = (xpu_text){arena, alloc_aligned(arena, 64, 1), 0, 64};
}

/* Room for `length` more bytes and the NUL. */
static void text_reserve(xpu_text *text, size_t length) {
    size_t needed;
    if (__builtin_add_overflow(text->length + 1, length, &needed)) xpu_out_of_memory(text->arena->mem);
    if (needed <= text->capacity) return;
    size_t larger = needed > text->capacity * 2 ? needed : text->capacity * 2;
    text->text = grow(text->arena, text->text, text->capacity, larger, ALIGNMENT);
    text->capacity = larger;
}

char *xpu_text_room(xpu_text *text, size_t length) {
    text_reserve(text, length);
    char *room = text->text + text->length;
    text->length += length;
    text->text[text->length] = '\0';
    return room;
}

void xpu_text_add_bytes(xpu_text *text, const char *bytes, size_t length) {
    text_reserve(text, length);
    if (length) memcpy(text->text + text->length, bytes, length);
    text->length += length;
    text->text[text->length] = '\0';
}

void xpu_text_add(xpu_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) xpu_out_of_memory(text->arena->mem);
    text_reserve(text, (size_t)length);
    va_start(args, format);
    vsnprintf(text->text + text->length, (size_t)length + 1, format, args);
    va_end(args);
    text->length += (size_t)length;
}
