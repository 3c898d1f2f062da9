/* The kernels' argument blocks in the plan table: struct xpu_NAME_args for each row of kernels.def. */
#ifndef XPU_KERNEL_ARGS_H
#define XPU_KERNEL_ARGS_H

#include <stdint.h>

#define ADDRESS(name)              uint32_t name;
#define INT(name)                  int32_t name;
#define FLOAT(name)                float name;
#define ADDRESS_ARRAY(name, count) uint32_t name[count];
#define INT_ARRAY(name, count)     int32_t name[count];
#define FLOAT_ARRAY(name, count)   float name[count];
#define KERNEL(name, unit, fields, about)                                                                              \
    struct xpu_##name##_args {                                                                                         \
        fields                                                                                                         \
    };
#include "xpu_runtime/include/kernels.def"
#undef KERNEL
#undef ADDRESS
#undef INT
#undef FLOAT
#undef ADDRESS_ARRAY
#undef INT_ARRAY
#undef FLOAT_ARRAY

/* Numbers that the rows say, in words: dims of a copy; immediates of a chain. */
enum {
    XPU_COPY_DIMS = sizeof((struct xpu_copy_nd_args *)0)->d / 4,
    XPU_CHAIN_ARGUMENT_IMMEDIATES = sizeof((struct xpu_chain_args *)0)->c / 4
};

#endif
