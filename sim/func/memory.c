/*
 * Memory of the functional chip: the whole 32-bit address space is reserved on the host, each memory of the chip is
 * backed lazily inside of it.
 */
#include "sim/func/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t space_bytes = (uint64_t)1 << 32;

static int back(xpu_func *func, uint32_t base, uint64_t bytes) {
    uint64_t rounded = (bytes + 0xffff) & ~(uint64_t)0xffff;
    void *wanted = func->space + base;
    return mmap(wanted, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                0) == wanted
               ? 0
               : -1;
}

int xpu_func_memory_create(xpu_func *func) {
    const xpu_chip *chip = &func->chip;
    void *space = mmap(NULL, space_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return -1;
    func->space = space;
    for (unsigned core = 0; core < chip->cores; core++)
        if (back(func, XPU_LM_ALL_BASE + XPU_LM_ALIAS_STRIDE * core, chip->lm_bytes)) return -1;
    if (back(func, XPU_SM_BASE, chip->sm_bytes)) return -1;
    if (back(func, XPU_L3_BASE, chip->l3_bytes)) return -1;
    return back(func, XPU_GM_BASE, chip->gm_bytes);
}

void xpu_func_memory_destroy(xpu_func *func) {
    if (func->space) munmap(func->space, space_bytes);
    func->space = NULL;
}

/* Bytes of memory from `address` to the end of the memory that it is in; 0: none. */
static uint64_t room(const xpu_chip *chip, uint32_t address) {
    uint32_t base, size;
    if (address >= XPU_GM_BASE) {
        base = XPU_GM_BASE, size = chip->gm_bytes;
    } else if (address >= XPU_L3_BASE) {
        base = XPU_L3_BASE, size = chip->l3_bytes;
    } else if (address >= XPU_SM_BASE) {
        base = XPU_SM_BASE, size = chip->sm_bytes;
    } else {
        uint32_t core = (address - XPU_LM_ALL_BASE) / XPU_LM_ALIAS_STRIDE;
        if (address < XPU_LM_ALL_BASE || core >= chip->cores) return 0;
        base = XPU_LM_ALL_BASE + core * XPU_LM_ALIAS_STRIDE, size = chip->lm_bytes;
    }
    return address - base < size ? size - (address - base) : 0;
}

uint8_t *xpu_func_engine_memory(const xpu_func *func, uint64_t address, uint64_t length) {
    if (address >> 32 || length > room(&func->chip, (uint32_t)address)) return NULL;
    return room(&func->chip, (uint32_t)address) ? xpu_func_host(func, (uint32_t)address) : NULL;
}

int xpu_func_memory_map(xpu_func *func, uint64_t address, int file, uint64_t offset, size_t length) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct stat status;
    if (length == 0 || address % page || offset % page || address < XPU_GM_BASE) return -1;
    uint8_t *bytes = xpu_func_engine_memory(func, address, length);
    if (!bytes || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return -1;
    if (offset > (uint64_t)status.st_size || length > (uint64_t)status.st_size - offset) return -1;
    size_t whole = length / page * page, rest = length - whole;
    if (whole && mmap(bytes, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file,
                      (off_t)offset) != (void *)bytes)
        return -1;
    while (rest) { /* the last page is written: what follows it in memory is not the file's */
        ssize_t got = pread(file, bytes + length - rest, rest, (off_t)(offset + length - rest));
        if (got <= 0) return -1;
        rest -= (size_t)got;
    }
    return 0;
}
