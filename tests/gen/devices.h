/* Compiles a model in process, runs it on ref and on the functional chip, and compares every layer. For tests. */
#ifndef XPU_TESTS_DEVICES_H
#define XPU_TESTS_DEVICES_H

#include "base/diag.h"
#include "base/npy.h"
#include "xpu_runtime/include/xpurt.h"

typedef struct {
    xpurt_program *program;
    char message[1024]; /* what went wrong, or which layer differs first; empty when all is well */
    uint32_t layers;    /* results of layers that were compared */
} xpu_device_check;

/* Compiles `model` (a path) for a chip ("standard") at a precision ("fp32"; FILE.json: precision rules). 0 with
 * check->message on failure. xpu_device_check_close releases the program. `shape`: as --shape, several with blanks
 * between them, or NULL. */
int xpu_device_check_compile_shape(xpu_device_check *check, const char *model, const char *chip, const char *precision,
                                   const char *shape);
int xpu_device_check_compile(xpu_device_check *check, const char *model, const char *chip, const char *precision);
void xpu_device_check_close(xpu_device_check *check);

/* Runs on func only; outputs[i] belong to the caller (xpurt_tensor_clear). */
int xpu_device_check_run(xpu_device_check *check, const xpurt_tensor *inputs, uint32_t count, xpurt_tensor *outputs);

/* Runs on func and ref with dumps in a temporary folder and compares every layer bit for bit; on func without a dump,
 * where layers run together, the outputs are the same. func sees no races. `outputs` are func's. */
int xpu_device_check_layers(xpu_device_check *check, const xpurt_tensor *inputs, uint32_t count, xpurt_tensor *outputs);

/* Runs a program of one or two outputs on the Verilated chip "standard", the first being `bytes` bytes as `expected`.
 * The statistics, which the caller frees; NULL with check->message where it does not. */
char *xpu_device_check_rtl(xpu_device_check *check, const xpurt_tensor *inputs, uint32_t count, const void *expected,
                           size_t bytes);
/* Cycles of a layer in statistics; -1: it is not there, or ran on another unit than `unit` (NULL: any). */
long xpu_device_check_cycles(const char *stats, const char *layer, const char *unit);

#endif
