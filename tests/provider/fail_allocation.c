/* For LD_PRELOAD: of the allocations that the execution provider's library makes, one fails; those that it and the
 * libraries below it have made and nobody has freed are counted. */
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *old);
/* Of AddressSanitizer, where that is there: behind this library in LD_PRELOAD. */
extern void *__interceptor_malloc(size_t size) __attribute__((weak));
extern void *__interceptor_calloc(size_t count, size_t size) __attribute__((weak));
extern void *__interceptor_realloc(void *old, size_t size) __attribute__((weak));
extern void __interceptor_free(void *old) __attribute__((weak));
#define BELOW(name) (__interceptor_##name ? __interceptor_##name : __libc_##name)
long fail_at(long number);
long live(void);

enum { MOST_LIBRARIES = 16, TABLE = 1 << 20 };
typedef struct {
    uintptr_t first, last;
} range;
static range ours[MOST_LIBRARIES]; /* addresses of the libraries, that of the provider first */
static int library_count;
static atomic_long failing, seen;

static int find(struct dl_phdr_info *info, size_t size, void *wanted) {
    (void)size;
    if (!strstr(info->dlpi_name, wanted) || library_count == MOST_LIBRARIES) return 0;
    range *r = &ours[library_count++];
    r->first = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = start + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if (start < r->first) r->first = start;
        if (end > r->last) r->last = end;
    }
    return 0;
}

/* The number-th one from now on fails; 0: none. Returns how many there were since the last call. */
long fail_at(long number) {
    long before = seen;
    if (!library_count) {
        dl_iterate_phdr(find, "libonnxruntime_ep_xpu");
        dl_iterate_phdr(find, "libxpu");
    }
    seen = 0;
    failing = number;
    return before;
}

/* ---- blocks that are there ---- */

static atomic_flag lock = ATOMIC_FLAG_INIT;
static void *blocks[TABLE]; /* NULL: never used; GONE: used before */
static long block_count;
#define GONE ((void *)1)

static void change(void *from, void *to, void *start) {
    size_t at = ((uintptr_t)start >> 4) * 0x9E3779B97F4A7C15U >> 44;
    while (atomic_flag_test_and_set(&lock)) continue;
    for (size_t i = 0; i < TABLE; i++, at = (at + 1) % TABLE) {
        if (blocks[at] == from || (!from && blocks[at] == GONE)) {
            blocks[at] = to;
            block_count += from ? -1 : 1;
            break;
        }
        if (!blocks[at]) break;
    }
    atomic_flag_clear(&lock);
}

/* How many blocks of the libraries are there. */
long live(void) {
    return block_count;
}

static int is_in(const range *r, const void *caller) {
    return (uintptr_t)caller >= r->first && (uintptr_t)caller < r->last;
}

static int fails(const void *caller) {
    return library_count && is_in(&ours[0], caller) && ++seen == failing;
}

static void *taken(const void *caller, void *block) {
    for (int i = 0; block && i < library_count; i++) {
        if (!is_in(&ours[i], caller)) continue;
        change(NULL, block, block);
        break;
    }
    return block;
}

void *malloc(size_t size) {
    const void *caller = __builtin_return_address(0);
    return fails(caller) ? NULL : taken(caller, BELOW(malloc)(size));
}

void *calloc(size_t count, size_t size) {
    const void *caller = __builtin_return_address(0);
    return fails(caller) ? NULL : taken(caller, BELOW(calloc)(count, size));
}

char *strdup(const char *text) {
    const void *caller = __builtin_return_address(0);
    size_t size = strlen(text) + 1;
    char *block = fails(caller) ? NULL : taken(caller, BELOW(malloc)(size));
    return block ? memcpy(block, text, size) : NULL;
}

void free(void *old) {
    if (old && block_count) change(old, GONE, old);
    BELOW(free)(old);
}

void *realloc(void *old, size_t size) {
    const void *caller = __builtin_return_address(0);
    if (fails(caller)) return NULL;
    if (old && block_count) change(old, GONE, old);
    void *block = BELOW(realloc)(old, size);
    return taken(caller, block);
}
