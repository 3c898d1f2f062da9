/* Fields of calls that are a step function of the size of images. */
#ifndef XPU_CODEGEN_LOWER_BY_SIZE_H
#define XPU_CODEGEN_LOWER_BY_SIZE_H

#include "xpu_codegen/choose/byte_tasks.h"
#include "xpu_codegen/lower/calls.h"

/* A field of a call that is values[i] for images of size i. */
typedef struct {
    xpu_arg_int *field;
    int64_t values[XPU_MOST_SIZES];
} xpu_sized_field;
/* Sets all of them, to the values of the last size where an expression gets too large. */
void xpu_set_by_size(xpu_codegen *cg, const xpu_sizes *sizes, const xpu_sized_field *fields, uint32_t count);
/* Tiles and scratch of a layer on the window engine. */
/* The scratch of a layer on the window engine. */
xpu_arg_address xpu_window_scratch(xpu_codegen *cg, uint32_t layer, const xpu_byte_tasks *tasks, int64_t sm_bytes);
void xpu_place_window(xpu_codegen *cg, uint32_t layer, const xpu_byte_tasks *tasks, int64_t sm_bytes,
                      struct xpu_window_i8_call *call);
struct xpu_task_group xpu_task_of(xpu_codegen *cg, const xpu_byte_tasks *tasks);

#endif
