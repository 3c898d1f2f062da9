#include "core/ir/operator.h"

#include <stddef.h>

const xpu_attr *xpu_op_attr(const xpu_op *op, xpu_attr_id id) {
    for (uint32_t i = 0; i < op->attr_count; i++) {
        if (op->attrs[i].id == id) return &op->attrs[i];
    }
    return NULL;
}
