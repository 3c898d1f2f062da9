/*
 * Memory in arenas named by lifetime. Nothing taken from an arena is freed alone.
 *
 * Allocation never returns NULL: when memory runs out, control goes to the API boundary by longjmp. Every public entry
 * point owns one xpu_mem and does
 *
 *     xpu_mem mem;
 *     xpu_mem_init(&mem);
 *     if (setjmp(mem.out_of_memory)) { xpu_error_oom_of(diags, &mem); xpu_mem_release(&mem); return XPU_EIO; }
 *     ... work ...
 *     xpu_mem_release(&mem);
 *
 * Files, maps and child processes stand on an arena's clean-up list, so unwinding closes them. An xpu_mem and its
 * arenas belong to one thread: the one that set the boundary.
 */
#ifndef XPU_BASE_ARENA_H
#define XPU_BASE_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct xpu_arena xpu_arena;
typedef struct xpu_kept xpu_kept; /* base/keep.h */

typedef struct xpu_mem {
    jmp_buf out_of_memory; /* set by the API boundary before the first allocation */
    xpu_arena *arenas;     /* every live arena, newest first */
    size_t bytes;          /* bytes held now, and the most there ever were */
    size_t peak_bytes;
    xpu_kept *kept; /* files that no output may replace, newest first; in an arena of their own */
    xpu_arena *kept_arena;
    const struct xpu_given_file *given; /* base/file.h: a file that is in memory; or NULL */
    int keeps_reads;                    /* files that are read are kept */
    int (*stop)(void *context);         /* the caller's hook: not 0 when the work shall end; or NULL */
    void *stop_context;
    /* For the error that memory ran out. What is being done, "pass" and "fold"; NULL: nobody has said. */
    const char *doing_kind, *doing_name;
    size_t wanted;          /* bytes of the allocation that failed; 0: not known, or none did */
    const char *wanted_for; /* the lifetime of its arena */
} xpu_mem;

void xpu_mem_init(xpu_mem *mem);

/* Frees every arena that is still alive, newest first, clean-up lists included. */
void xpu_mem_release(xpu_mem *mem);

/* Says what is being done from now on; both strings outlive the work. */
static inline void xpu_doing(xpu_mem *mem, const char *kind, const char *name) {
    mem->doing_kind = kind;
    mem->doing_name = name;
}

/* A new arena. `lifetime` names it in reports ("graph", "pass", "program") and must outlive it. */
xpu_arena *xpu_arena_new(xpu_mem *mem, const char *lifetime);

/* Runs the clean-up list in reverse order, then frees the memory. NULL is allowed. */
void xpu_arena_free(xpu_arena *arena);

/* The name given to xpu_arena_new. */
const char *xpu_arena_lifetime(const xpu_arena *arena);

/* The memory context that an arena was made from. */
xpu_mem *xpu_arena_mem(const xpu_arena *arena);

/* `bytes` zeroed bytes, aligned to 64, fewer than 64 to 16. Never NULL; 0 bytes give a valid pointer. */
void *xpu_alloc(xpu_arena *arena, size_t bytes);

/* count * size zeroed bytes; an overflow counts as running out of memory. */
void *xpu_alloc_array(xpu_arena *arena, size_t count, size_t size);

/* A copy of `bytes` bytes, aligned as xpu_alloc does. Strings have no alignment. */
void *xpu_copy(xpu_arena *arena, const void *data, size_t bytes);
char *xpu_strdup(xpu_arena *arena, const char *text);
/* Copies at most `length` bytes of `text`, up to its first NUL byte. */
char *xpu_strndup(xpu_arena *arena, const char *text, size_t length);
char *xpu_printf(xpu_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *xpu_vprintf(xpu_arena *arena, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Calls cleanup(object) when the arena is freed; cleanup must not allocate from an arena. When this call itself runs
 * out of memory, cleanup(object) runs at once, so nothing that was opened just before is lost. */
void xpu_arena_defer(xpu_arena *arena, void (*cleanup)(void *object), void *object);

/* Whether the caller wants the work to end; work that may take longer than a moment asks now and then, and returns
 * xpu_error_stopped. */
int xpu_stopped(const xpu_arena *arena);

/* Leaves to the API boundary as if an allocation had failed; for libraries that report it by a NULL of their own. */
_Noreturn void xpu_out_of_memory(xpu_mem *mem);

/* Makes the N-th allocation from now fail (1 = the next one), in every arena of the process; 0 turns it off.
 * Returns how many allocations were made since the last call. For tests. */
unsigned long xpu_alloc_fail_at(unsigned long n);

/* Counts one allocation that is made outside the arenas; non-zero when it is the one that has to fail. */
int xpu_alloc_fails(void);

#define XPU_NEW(arena, type)          ((type *)xpu_alloc((arena), sizeof(type)))
#define XPU_NEW_ARRAY(arena, type, n) ((type *)xpu_alloc_array((arena), (size_t)(n), sizeof(type)))

/* A growing array in an arena: { type *items; uint32_t count, capacity; }. The old block is
 * gone as soon as it grows. */
#define XPU_ARRAY(type)                                                                                                \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        uint32_t count, capacity;                                                                                      \
    }
/* A block for `needed` items of `size` bytes that begins with the old *capacity ones: `items` itself where it suffices.
 * needed == 0 stands for a count that overflowed, which counts as running out of memory. */
void *xpu_array_reserve(xpu_arena *arena, void *items, uint32_t *capacity, uint32_t needed, size_t size);
#define XPU_PUSH(arena, array, value)                                                                                  \
    do {                                                                                                               \
        (array)->items = xpu_array_reserve((arena), (array)->items, &(array)->capacity, (array)->count + 1,            \
                                           sizeof *(array)->items);                                                    \
        (array)->items[(array)->count++] = (value);                                                                    \
    } while (0)

/* Text that grows: printf-style appending into an arena. `text` is always terminated. */
typedef struct {
    xpu_arena *arena;
    char *text;
    size_t length, capacity;
} xpu_text;
void xpu_text_init(xpu_text *text, xpu_arena *arena);
void xpu_text_add(xpu_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xpu_text_add_bytes(xpu_text *text, const char *bytes, size_t length);
/* Adds `length` bytes that the caller writes there, at once. */
char *xpu_text_room(xpu_text *text, size_t length);

#endif
