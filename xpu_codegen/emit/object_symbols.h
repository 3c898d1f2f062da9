/* What an object file of a region defines and needs, and what the device library has. */
#ifndef XPU_CODEGEN_EMIT_OBJECT_SYMBOLS_H
#define XPU_CODEGEN_EMIT_OBJECT_SYMBOLS_H

#include "base/file.h"

typedef struct {
    XPU_ARRAY(const char *) defined;   /* external ones */
    XPU_ARRAY(const char *) undefined; /* what it calls or reads of others */
    uint64_t variable_bytes;           /* .data, .bss and their kin */
    uint64_t constant_bytes;           /* .rodata and its kin */
} xpu_object_symbols;

/* Of a relocatable ELF32 file. 0: it is none, or damaged. */
int xpu_object_read(const uint8_t *bytes, size_t length, xpu_object_symbols *symbols, xpu_arena *arena);
/* Whether a static library defines the symbol, by its own index. */
int xpu_library_has(const uint8_t *bytes, size_t length, const char *symbol);

#endif
