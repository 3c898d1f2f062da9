/* For LD_PRELOAD: of the allocations that the execution provider's library makes, one fails. */
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
long fail_at(long number);

static uintptr_t first, last; /* addresses of the library */
static atomic_long failing, seen;

static int find(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size, (void)context;
    if (!strstr(info->dlpi_name, "libonnxruntime_ep_xpu")) return 0;
    first = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = start + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if (start < first) first = start;
        if (end > last) last = end;
    }
    return 1;
}

/* The number-th one from now on fails; 0: none. Returns how many there were since the last call. */
long fail_at(long number) {
    long before = seen;
    if (!last) dl_iterate_phdr(find, NULL);
    seen = 0;
    failing = number;
    return before;
}

static int fails(const void *caller) {
    uintptr_t address = (uintptr_t)caller;
    return address >= first && address < last && ++seen == failing;
}

void *malloc(size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
