/*
 * Kernel calls under construction: a row of xpu_runtime/include/kernels.def with an expression for each field. A field
 * that is not set, or set twice, is an internal error.
 */
#ifndef XPU_CODEGEN_LOWER_CALLS_H
#define XPU_CODEGEN_LOWER_CALLS_H

#include "base/diag.h"
#include "xpu_runtime/program/program.h"

typedef enum {
#define KERNEL(name, fields, about) XPU_KERNEL_##name,
#include "xpu_runtime/include/kernels.def"
#undef KERNEL
    XPU_KERNEL_COUNT
} xpu_kernel;

typedef enum { XPU_FIELD_ADDRESS, XPU_FIELD_INT, XPU_FIELD_FLOAT } xpu_field_type;
typedef struct {
    const char *name;
    xpu_field_type type;
} xpu_kernel_field;
typedef struct {
    const char *name, *about;
    const xpu_kernel_field *fields; /* ends with name == NULL */
    uint32_t field_count;
} xpu_kernel_info;
const xpu_kernel_info *xpu_kernel_of(xpu_kernel kernel);

typedef struct {
    xpu_kernel kernel;
    const char *member;   /* of the plan struct */
    const char *body;     /* chain: the C function of its loop body */
    xpu_plan_word *words; /* field_count */
    uint64_t set;         /* bit i: field i has a value */
    const char *problem;  /* the first field that was unknown, of another type, or set twice; NULL: none */
    xpu_arena *arena;
} xpu_call;

xpu_call xpu_call_begin(xpu_arena *arena, xpu_kernel kernel);
void xpu_set_int(xpu_call *call, const char *field, xpu_dim value);
void xpu_set_number(xpu_call *call, const char *field, int64_t value); /* an INT that is known */
void xpu_set_float(xpu_call *call, const char *field, float value);
void xpu_set_address(xpu_call *call, const char *field, uint32_t buffer);
void xpu_set_absent(xpu_call *call, const char *field); /* an ADDRESS that is 0 */
/* NULL when every field has a value, else what is wrong, in words. */
const char *xpu_call_problem(const xpu_call *call);

#endif
