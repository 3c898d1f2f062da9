/* Handles of what a graph is made of: places in its arrays. 0 is "absent". */
#ifndef XPU_CORE_IR_HANDLE_H
#define XPU_CORE_IR_HANDLE_H

#include <stdint.h>

typedef struct {
    uint32_t id;
} xpu_value;
typedef struct {
    uint32_t id;
} xpu_node;
typedef struct {
    uint32_t id;
} xpu_block;

#endif
