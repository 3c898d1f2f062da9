#include "core/ir/attr.h"

static const struct {
    const char *name;
    xpu_attr_type type;
} attributes[] = {
#define X(name, text, type) [XPU_ATTR_##name] = {text, XPU_ATTR_TYPE_##type},
#include "core/ir/attrs.def"
#undef X
};

const char *xpu_attr_name(xpu_attr_id id) {
    return attributes[id].name;
}

xpu_attr_type xpu_attr_type_of(xpu_attr_id id) {
    return attributes[id].type;
}
