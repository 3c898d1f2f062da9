/* Element types, versions, and what is looked up of an operator. */
#include <inttypes.h>
#include <string.h>

#include "frontend/paddle/program.h"

/* VarType.Type of framework.proto. */
static const struct {
    const char *name;
    xpu_dtype dtype;
} types[] = {
    [0] = {"bool", XPU_BOOL},
    [1] = {"int16", XPU_I16},
    [2] = {"int32", XPU_I32},
    [3] = {"int64", XPU_I64},
    [4] = {"float16", XPU_F16},
    [5] = {"float32", XPU_F32},
    [6] = {"float64", XPU_F64},
    [7] = {"dense_tensor", XPU_DTYPE_NONE},
    [8] = {"selected_rows", XPU_DTYPE_NONE},
    [9] = {"feed_minibatch", XPU_DTYPE_NONE},
    [10] = {"fetch_list", XPU_DTYPE_NONE},
    [11] = {"step_scopes", XPU_DTYPE_NONE},
    [12] = {"lod_rank_table", XPU_DTYPE_NONE},
    [13] = {"dense_tensor_array", XPU_DTYPE_NONE},
    [14] = {"place_list", XPU_DTYPE_NONE},
    [15] = {"reader", XPU_DTYPE_NONE},
    [17] = {"raw", XPU_DTYPE_NONE},
    [18] = {"tuple", XPU_DTYPE_NONE},
    [19] = {"size_t", XPU_U64},
    [20] = {"uint8", XPU_U8},
    [21] = {"int8", XPU_I8},
    [22] = {"bfloat16", XPU_BF16},
    [23] = {"complex64", XPU_DTYPE_NONE},
    [24] = {"complex128", XPU_DTYPE_NONE},
    [25] = {"string", XPU_DTYPE_NONE},
    [26] = {"strings", XPU_DTYPE_NONE},
    [27] = {"vocab", XPU_DTYPE_NONE},
    [28] = {"feed_list", XPU_DTYPE_NONE},
    [29] = {"pstring", XPU_DTYPE_NONE},
    [30] = {"sparse_coo", XPU_DTYPE_NONE},
    [31] = {"sparse_csr", XPU_DTYPE_NONE},
    [32] = {"float8_e4m3fn", XPU_DTYPE_NONE},
    [33] = {"float8_e5m2", XPU_DTYPE_NONE},
    [36] = {"uint16", XPU_U16},
    [37] = {"uint32", XPU_U32},
    [38] = {"uint64", XPU_U64},
};
enum { TYPES = sizeof types / sizeof *types };

xpu_dtype xpu_paddle_dtype(int64_t code) {
    return code >= 0 && code < TYPES ? types[code].dtype : XPU_DTYPE_NONE;
}

const char *xpu_paddle_type_name(int64_t code) {
    return code >= 0 && code < TYPES && types[code].name ? types[code].name : "undefined";
}

int xpu_paddle_code_of(const char *name) {
    for (int code = 0; code < TYPES; code++) {
        if (types[code].name && strcmp(types[code].name, name) == 0) return code;
    }
    return -1;
}

const char *xpu_paddle_version_text(xpu_arena *arena, const xpu_paddle_program *program) {
    int64_t version = program->version;
    if (program->dialect == XPU_PADDLE_PIR) return xpu_printf(arena, "PIR, format %" PRId64, version);
    if (version == 0) return "PaddlePaddle 1.x";
    return xpu_printf(arena, "PaddlePaddle %" PRId64 ".%" PRId64 ".%" PRId64, version / 1000000, version / 1000 % 1000,
                      version % 1000);
}

const xpu_paddle_attr *xpu_paddle_attr_of(const xpu_paddle_op *op, const char *name) {
    for (uint32_t i = 0; i < op->attr_count; i++) {
        if (strcmp(op->attrs[i].name, name) == 0) return &op->attrs[i];
    }
    return NULL;
}

const xpu_paddle_slot *xpu_paddle_slot_of(const xpu_paddle_slot *slots, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i].name && strcmp(slots[i].name, name) == 0) return &slots[i];
    }
    return NULL;
}

/* ---- inputs and outputs ---- */

int xpu_paddle_is_input(const xpu_paddle_op *op) {
    if (strcmp(op->type, "feed") == 0) return 1;
    return strcmp(op->type, "data") == 0 && strcmp(op->dialect, "pd_op") == 0;
}

int xpu_paddle_is_output(const xpu_paddle_op *op) {
    return strcmp(op->type, "fetch") == 0;
}

int xpu_paddle_is_parameter(const xpu_paddle_op *op) {
    return strcmp(op->type, "parameter") == 0 && strcmp(op->dialect, "builtin") == 0;
}

static int port_of(const xpu_paddle_op *op, int inputs, xpu_paddle_port *port) {
    const xpu_paddle_slot *slots = inputs ? op->outputs : op->inputs;
    uint32_t count = inputs ? op->output_count : op->input_count;
    const xpu_paddle_attr *name = xpu_paddle_attr_of(op, "name"), *column = xpu_paddle_attr_of(op, "col");
    if (inputs ? !xpu_paddle_is_input(op) : !xpu_paddle_is_output(op)) return 0;
    if (!count || !slots[0].count || slots[0].vars[0] == XPU_PADDLE_NO_VAR) return 0;
    *port = (xpu_paddle_port){.name = name && name->text ? name->text : "", .var = slots[0].vars[0]};
    port->column = column ? column->integer : 0;
    return 1;
}

/* An insertion behind those of the same column. */
const xpu_paddle_port *xpu_paddle_ports(xpu_arena *arena, const xpu_paddle_program *program, int inputs,
                                        uint32_t *count) {
    const xpu_paddle_block *block = &program->blocks.items[0];
    xpu_paddle_port *ports = XPU_NEW_ARRAY(arena, xpu_paddle_port, block->op_count + 1), port;
    *count = 0;
    for (uint32_t i = 0; i < block->op_count; i++) {
        if (!port_of(&block->ops[i], inputs, &port)) continue;
        uint32_t at = (*count)++;
        for (; at > 0 && ports[at - 1].column > port.column; at--) ports[at] = ports[at - 1];
        ports[at] = port;
    }
    return ports;
}
