/*
 * Kernel calls under construction: struct xpu_NAME_call for each row of xpu_runtime/include/kernels.def, with an
 * argument for each field. A field that does not exist or has another type does not compile; one that is not set, which
 * is what an initialiser leaves of it, is an internal error when the call is added.
 */
#ifndef XPU_CODEGEN_LOWER_CALLS_H
#define XPU_CODEGEN_LOWER_CALLS_H

#include "base/diag.h"
#include "xpu_runtime/program/program.h"

typedef enum {
#define KERNEL(name, unit, fields, about) XPU_KERNEL_##name,
#include "xpu_runtime/include/kernels.def"
#undef KERNEL
    XPU_KERNEL_COUNT
} xpu_kernel;

typedef enum { XPU_FIELD_ADDRESS, XPU_FIELD_INT, XPU_FIELD_FLOAT } xpu_field_type;
typedef struct {
    const char *name;
    xpu_field_type type;
    uint32_t count; /* words: 1, or those of an array */
} xpu_kernel_field;
typedef struct {
    const char *name, *about;
    xpu_unit unit;
    const xpu_kernel_field *fields; /* ends with name == NULL */
    uint32_t words;
} xpu_kernel_info;
const xpu_kernel_info *xpu_kernel_of(xpu_kernel kernel);

/* ---- arguments ---- */

typedef enum { XPU_ARG_UNSET, XPU_ARG_SET, XPU_ARG_UNKNOWN, XPU_ARG_WIDE } xpu_arg_state;
typedef struct {
    xpu_plan_word word;
    xpu_arg_state state;
} xpu_arg;
/* One type for each type of field. */
typedef struct {
    xpu_arg arg;
} xpu_arg_address;
typedef struct {
    xpu_arg arg;
} xpu_arg_int;
typedef struct {
    xpu_arg arg;
} xpu_arg_float;

xpu_arg_address xpu_arg_at(uint32_t buffer);
xpu_arg_address xpu_arg_absent(void);
xpu_arg_int xpu_arg_dim(xpu_dim value);
xpu_arg_int xpu_arg_number(int64_t value); /* one that is known */
xpu_arg_float xpu_arg_real(float value);

#define ADDRESS(name)              xpu_arg_address name;
#define INT(name)                  xpu_arg_int name;
#define FLOAT(name)                xpu_arg_float name;
#define ADDRESS_ARRAY(name, count) xpu_arg_address name[count];
#define INT_ARRAY(name, count)     xpu_arg_int name[count];
#define FLOAT_ARRAY(name, count)   xpu_arg_float name[count];
#define GROUP_TYPE(name)                                                                                               \
    struct xpu_##name##_group {                                                                                        \
        XPU_FIELDS_##name                                                                                              \
    };
#define GROUP(name)                                                                                                    \
    union {                                                                                                            \
        struct {                                                                                                       \
            XPU_FIELDS_##name                                                                                          \
        };                                                                                                             \
        struct xpu_##name##_group name;                                                                                \
    };
#define KERNEL(name, unit, fields, about)                                                                              \
    struct xpu_##name##_call {                                                                                         \
        fields                                                                                                         \
    };
#include "xpu_runtime/include/kernels.def"
#undef ADDRESS
#undef INT
#undef FLOAT
#undef ADDRESS_ARRAY
#undef INT_ARRAY
#undef FLOAT_ARRAY
#undef KERNEL

/* A call of a layer; its words stand in the plan table. */
typedef struct {
    xpu_kernel kernel;
    uint32_t
        unlisted; /* of engine_lists: the kernel, plus 1, that is called at shapes without lists; 0: there are none */
    const char *member; /* of the plan struct */
    const char *body;   /* of KERNEL_WITH_BODY: the C function */
    uint32_t words;     /* in the plan table: those of the kernel's arguments, and perhaps more behind them */
    int is_rung;        /* of engine_lists: the layer before queues it, too */
} xpu_call;

/* Words of the lists of a layer in the plan table, behind which stand those that these were made of. */
static inline uint32_t xpu_list_words(void) {
    return xpu_kernel_of(XPU_KERNEL_pipeline_lists)->words;
}

/* Of these, what is fetched for the kernel: behind the words of engine_lists stand those that its lists were made of.
 */
static inline uint32_t xpu_call_fetched_words(const xpu_call *call) {
    if (call->is_rung) return 0;
    const int has_lists = call->kernel == XPU_KERNEL_engine_lists || call->kernel == XPU_KERNEL_pipeline_lists;
    return has_lists ? xpu_kernel_of(call->kernel)->words : call->words;
}

/* NULL when all arguments of a call (the members of its struct) have values, else what is wrong, in words. */
const char *xpu_call_problem(xpu_arena *arena, xpu_kernel kernel, const xpu_arg *args);

#endif
