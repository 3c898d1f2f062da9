/* The program's file. */
#ifndef XPU_CODEGEN_PACK_FILE_H
#define XPU_CODEGEN_PACK_FILE_H

#include "xpu_codegen/state.h"

xpu_status xpu_pack_program(xpu_codegen *cg, const char *elf, const char *path);

#endif
