#include "xpu_codegen/lower/calls.h"

#include <string.h>

#include "xpu_runtime/include/xpu_kernel_args.h"

#define ADDRESS(name)              {#name, XPU_FIELD_ADDRESS, 1},
#define INT(name)                  {#name, XPU_FIELD_INT, 1},
#define FLOAT(name)                {#name, XPU_FIELD_FLOAT, 1},
#define ADDRESS_ARRAY(name, count) {#name, XPU_FIELD_ADDRESS, count},
#define INT_ARRAY(name, count)     {#name, XPU_FIELD_INT, count},
#define FLOAT_ARRAY(name, count)   {#name, XPU_FIELD_FLOAT, count},
#define KERNEL(kernel, unit, fields, about)                                                                            \
    static const xpu_kernel_field fields_of_##kernel[] = {fields{NULL, XPU_FIELD_INT, 0}};                             \
    _Static_assert(sizeof(struct xpu_##kernel##_call) / sizeof(xpu_arg) ==                                             \
                       sizeof(struct xpu_##kernel##_args) / sizeof(uint32_t),                                          \
                   "an argument for each word");
#include "xpu_runtime/include/kernels.def"
#undef ADDRESS
#undef INT
#undef FLOAT
#undef ADDRESS_ARRAY
#undef INT_ARRAY
#undef FLOAT_ARRAY
#undef KERNEL

const xpu_kernel_info *xpu_kernel_of(xpu_kernel kernel) {
    static const xpu_kernel_info kernels[XPU_KERNEL_COUNT] = {
#define KERNEL(kernel, unit, fields, text)                                                                             \
    [XPU_KERNEL_##kernel] = {#kernel, text, XPU_UNIT_##unit, fields_of_##kernel,                                       \
                             sizeof(struct xpu_##kernel##_args) / sizeof(uint32_t)},
#include "xpu_runtime/include/kernels.def"
#undef KERNEL
    };
    return &kernels[kernel];
}

xpu_arg_address xpu_arg_at(uint32_t buffer) {
    return (xpu_arg_address){{{.kind = XPU_WORD_ADDRESS, .buffer = buffer}, XPU_ARG_SET}};
}

xpu_arg_address xpu_arg_absent(void) {
    return (xpu_arg_address){{{.kind = XPU_WORD_CONST}, XPU_ARG_SET}};
}

xpu_arg_int xpu_arg_dim(xpu_dim value) {
    return (xpu_arg_int){{{.kind = XPU_WORD_DIM, .dim = value}, value.id ? XPU_ARG_SET : XPU_ARG_UNKNOWN}};
}

xpu_arg_int xpu_arg_number(int64_t value) {
    int fits = value == (int32_t)value;
    return (xpu_arg_int){{{.kind = XPU_WORD_CONST, .bits = (uint32_t)value}, fits ? XPU_ARG_SET : XPU_ARG_WIDE}};
}

xpu_arg_float xpu_arg_real(float value) {
    xpu_arg_float arg = {{{.kind = XPU_WORD_CONST}, XPU_ARG_SET}};
    memcpy(&arg.arg.word.bits, &value, sizeof value);
    return arg;
}

const char *xpu_call_problem(xpu_arena *arena, xpu_kernel kernel, const xpu_arg *args) {
    static const char *const problems[] = {[XPU_ARG_UNSET] = "has no value",
                                           [XPU_ARG_UNKNOWN] = "is an unknown dim",
                                           [XPU_ARG_WIDE] = "has more than 32 bits"};
    const xpu_kernel_info *info = xpu_kernel_of(kernel);
    for (const xpu_kernel_field *field = info->fields; field->name; args += field->count, field++) {
        for (uint32_t i = 0; i < field->count; i++) {
            if (args[i].state == XPU_ARG_SET) continue;
            const char *item = field->count > 1 ? xpu_printf(arena, "[%u]", i) : "";
            return xpu_printf(arena, "field '%s%s' of kernel %s %s", field->name, item, info->name,
                              problems[args[i].state]);
        }
    }
    return NULL;
}
