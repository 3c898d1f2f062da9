#include "xpuc/pipeline.h"

const xpu_services xpu_target_services = {
    .alloc = xpu_alloc,
    .error = xpu_error,
    .node_where = xpu_node_where,
    .node_name = xpu_node_name,
    .node_int = xpu_node_int,
    .node_float = xpu_node_float,
    .node_ints = xpu_node_ints,
    .value_dims = xpu_value_dims,
    .const_data = xpu_const_data,
    .printf = xpu_printf,
    .text_add = xpu_text_add,
    .text_init = xpu_text_init,
};
