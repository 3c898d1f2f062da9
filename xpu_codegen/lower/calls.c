#include "xpu_codegen/lower/calls.h"

#include <string.h>

#define ADDRESS(name) {#name, XPU_FIELD_ADDRESS},
#define INT(name)     {#name, XPU_FIELD_INT},
#define FLOAT(name)   {#name, XPU_FIELD_FLOAT},
#define KERNEL(kernel, fields, about)                                                                                  \
    static const xpu_kernel_field fields_of_##kernel[] = {fields{NULL, XPU_FIELD_INT}};
#include "xpu_runtime/include/kernels.def"
#undef KERNEL
#undef ADDRESS
#undef INT
#undef FLOAT

static const xpu_kernel_info kernels[XPU_KERNEL_COUNT] = {
#define KERNEL(kernel, fields, text)                                                                                   \
    [XPU_KERNEL_##                                                                                                     \
        kernel] = {#kernel, text, fields_of_##kernel, sizeof fields_of_##kernel / sizeof *fields_of_##kernel - 1},
#include "xpu_runtime/include/kernels.def"
#undef KERNEL
};

#define KERNEL(kernel, fields, about)                                                                                  \
    _Static_assert(sizeof fields_of_##kernel / sizeof *fields_of_##kernel - 1 <= 64, "xpu_call.set has 64 bits");
#include "xpu_runtime/include/kernels.def"
#undef KERNEL

const xpu_kernel_info *xpu_kernel_of(xpu_kernel kernel) {
    return &kernels[kernel];
}

xpu_call xpu_call_begin(xpu_arena *arena, xpu_kernel kernel) {
    xpu_call call = {.kernel = kernel, .arena = arena};
    call.words = XPU_NEW_ARRAY(arena, xpu_plan_word, kernels[kernel].field_count);
    return call;
}

static void set(xpu_call *call, const char *field, xpu_field_type type, xpu_plan_word word) {
    const xpu_kernel_info *kernel = &kernels[call->kernel];
    const char *what = "it does not exist";
    for (uint32_t i = 0; i < kernel->field_count; i++) {
        if (strcmp(kernel->fields[i].name, field) != 0) continue;
        what = kernel->fields[i].type != type ? "it has another type" : call->set >> i & 1 ? "it is set twice" : NULL;
        if (!what) {
            call->words[i] = word;
            call->set |= (uint64_t)1 << i;
        }
        break;
    }
    if (what && !call->problem) {
        call->problem = xpu_printf(call->arena, "field '%s' of kernel %s: %s", field, kernel->name, what);
    }
}

void xpu_set_int(xpu_call *call, const char *field, xpu_dim value) {
    set(call, field, XPU_FIELD_INT, (xpu_plan_word){.kind = XPU_WORD_DIM, .dim = value});
    if (!value.id && !call->problem) call->problem = xpu_printf(call->arena, "field '%s' is an unknown dim", field);
}

void xpu_set_number(xpu_call *call, const char *field, int64_t value) {
    set(call, field, XPU_FIELD_INT, (xpu_plan_word){.kind = XPU_WORD_CONST, .bits = (uint32_t)value});
    if (value != (int32_t)value && !call->problem) {
        call->problem = xpu_printf(call->arena, "field '%s' is %lld: more than 32 bits", field, (long long)value);
    }
}

void xpu_set_float(xpu_call *call, const char *field, float value) {
    xpu_plan_word word = {.kind = XPU_WORD_CONST};
    memcpy(&word.bits, &value, sizeof word.bits);
    set(call, field, XPU_FIELD_FLOAT, word);
}

void xpu_set_address(xpu_call *call, const char *field, uint32_t buffer) {
    set(call, field, XPU_FIELD_ADDRESS, (xpu_plan_word){.kind = XPU_WORD_ADDRESS, .buffer = buffer});
}

void xpu_set_absent(xpu_call *call, const char *field) {
    set(call, field, XPU_FIELD_ADDRESS, (xpu_plan_word){.kind = XPU_WORD_CONST});
}

const char *xpu_call_problem(const xpu_call *call) {
    if (call->problem) return call->problem;
    const xpu_kernel_info *kernel = &kernels[call->kernel];
    for (uint32_t i = 0; i < kernel->field_count; i++) {
        if (call->set >> i & 1) continue;
        return xpu_printf(call->arena, "field '%s' of kernel %s has no value", kernel->fields[i].name, kernel->name);
    }
    return NULL;
}
