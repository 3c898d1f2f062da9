/* The kernels' argument blocks in the plan table: struct xpu_NAME_args for each row of kernels.def. */
#ifndef XPU_KERNEL_ARGS_H
#define XPU_KERNEL_ARGS_H

#include <stdint.h>

#define ADDRESS(name) uint32_t name;
#define INT(name)     int32_t name;
#define FLOAT(name)   float name;
#define KERNEL(name, fields, about)                                                                                    \
    struct xpu_##name##_args {                                                                                         \
        fields                                                                                                         \
    };
#include "xpu_runtime/include/kernels.def"
#undef KERNEL
#undef ADDRESS
#undef INT
#undef FLOAT

#endif
