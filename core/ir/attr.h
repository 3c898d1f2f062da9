/* Attribute values of nodes; the list of attributes is attrs.def. */
#ifndef XPU_CORE_IR_ATTR_H
#define XPU_CORE_IR_ATTR_H

#include <stdint.h>

#include "core/ir/dim.h"

typedef enum {
#define X(name, text, type) XPU_ATTR_##name,
#include "core/ir/attrs.def"
#undef X
    XPU_ATTR_COUNT
} xpu_attr_id;

typedef enum {
    XPU_ATTR_TYPE_INT,
    XPU_ATTR_TYPE_FLOAT,
    XPU_ATTR_TYPE_INTS,
    XPU_ATTR_TYPE_STRING,
    XPU_ATTR_TYPE_DIMS, /* a list of dim expressions */
    XPU_ATTR_TYPE_CHAIN /* an xpu_chain */
} xpu_attr_type;

struct xpu_chain;

typedef struct {
    xpu_attr_id id;
    int64_t i;
    float f;
    const char *s;
    const int64_t *ints;
    const xpu_dim *dims;
    const struct xpu_chain *chain;
    uint32_t count; /* of ints or dims; bytes of a chain */
} xpu_attr;

const char *xpu_attr_name(xpu_attr_id id);
xpu_attr_type xpu_attr_type_of(xpu_attr_id id);

#define XPU_ATTR_INT_OF(name, value)    ((xpu_attr){.id = XPU_ATTR_##name, .i = (value)})
#define XPU_ATTR_FLOAT_OF(name, value)  ((xpu_attr){.id = XPU_ATTR_##name, .f = (value)})
#define XPU_ATTR_INTS_OF(name, list, n) ((xpu_attr){.id = XPU_ATTR_##name, .ints = (list), .count = (n)})
#define XPU_ATTR_DIMS_OF(name, list, n) ((xpu_attr){.id = XPU_ATTR_##name, .dims = (list), .count = (n)})
#define XPU_ATTR_STRING_OF(name, text)  ((xpu_attr){.id = XPU_ATTR_##name, .s = (text)})
#define XPU_ATTR_CHAIN_OF(name, value)  ((xpu_attr){.id = XPU_ATTR_##name, .chain = (value), .count = sizeof *(value)})

#endif
