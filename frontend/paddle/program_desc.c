/* ProgramDesc: the messages of framework.proto as PaddlePaddle 1.x to 2.6 write them. Numbers of fields stand here
 * beside their names; what no reader of inference programs needs (call stacks, readers, distribution) is passed over.
 */
#include <inttypes.h>
#include <string.h>

#include "base/name_table.h"
#include "frontend/paddle/program.h"
#include "frontend/paddle/wire.h"

enum { DEFAULT_MAX_FIELDS = 2 << 20, MAX_BLOCKS = 4096, MAX_VERSION = 2999999 };

/* A block while it is read: its messages are walked again when all blocks are known. */
typedef struct {
    XPU_ARRAY(xpu_wire_message) vars;
    XPU_ARRAY(xpu_wire_message) ops;
    xpu_name_table names; /* variables, their index in the program */
    uint32_t parent;
} block_reading;

typedef struct {
    xpu_arena *arena;
    xpu_wire *wire;
    xpu_paddle_program *program;
    XPU_ARRAY(block_reading) blocks;
} reader;

static int missing(const xpu_wire_message *message, uint64_t start, const char *field) {
    return xpu_wire_malformed(message, start, field, "the field is required, and missing");
}

/* ---- variables ---- */

/* TensorDesc {data_type = 1, dims = 2}, also inside {tensor = 1} where `depth` is 1. */
static void read_tensor(reader *r, xpu_wire_message message, int depth, xpu_paddle_var *var) {
    xpu_wire_field field;
    xpu_wire_ints dims = {0};
    while (xpu_wire_next(&message, &field)) {
        if (depth && field.number == 1) {
            read_tensor(r, xpu_wire_inner(&message, &field, "TensorDesc"), 0, var);
        } else if (!depth && field.number == 1) {
            var->code = (int)(xpu_wire_int(&message, &field, "data_type") & INT32_MAX);
        } else if (!depth && field.number == 2) {
            xpu_wire_add_ints(&message, &field, "dims", &dims);
            if (dims.items.count > XPU_PADDLE_MAX_DIMS)
                xpu_wire_malformed(&message, field.start, "dims", "a tensor of more than 64 dims");
        }
    }
    if (depth) return;
    var->rank = (int)dims.items.count;
    var->dims = dims.items.items;
}

static xpu_paddle_var_kind kind_of(int64_t type) {
    enum { DENSE_TENSOR = 7, SELECTED_ROWS = 8, FEED = 9, FETCH = 10, ARRAY = 13, RAW = 17 };
    switch (type) {
    case DENSE_TENSOR:
    case SELECTED_ROWS: return XPU_PADDLE_TENSOR;
    case ARRAY: return XPU_PADDLE_ARRAY;
    case FEED:
    case FETCH:
    case RAW: return XPU_PADDLE_FEED;
    default: return XPU_PADDLE_OTHER;
    }
}

/* VarType {type = 1, selected_rows = 2, lod_tensor = 3, tensor_array = 4}. */
static void read_type(reader *r, xpu_wire_message message, xpu_paddle_var *var) {
    xpu_wire_field field;
    int64_t type = -1;
    uint64_t start = message.at;
    while (xpu_wire_next(&message, &field)) {
        if (field.number == 1) type = xpu_wire_int(&message, &field, "type");
        if (field.number == 2) read_tensor(r, xpu_wire_inner(&message, &field, "TensorDesc"), 0, var);
        if (field.number == 3) read_tensor(r, xpu_wire_inner(&message, &field, "LoDTensorDesc"), 1, var);
        if (field.number == 4) read_tensor(r, xpu_wire_inner(&message, &field, "LoDTensorArrayDesc"), 1, var);
    }
    if (type < 0) missing(&message, start, "type");
    var->kind = kind_of(type);
    var->dtype = xpu_paddle_dtype(var->code);
    var->type_name = xpu_paddle_type_name(var->code >= 0 ? var->code : type);
}

/* VarDesc {name = 1, type = 2, persistable = 3, is_parameter = 5}. */
static void read_var(reader *r, uint32_t block, xpu_wire_message message) {
    xpu_paddle_var var = {.block = block, .kind = XPU_PADDLE_OTHER, .code = -1, .rank = XPU_PADDLE_NO_RANK};
    var.type_name = "undefined";
    xpu_wire_field field;
    uint64_t start = message.at;
    int has_type = 0;
    while (xpu_wire_next(&message, &field)) {
        if (field.number == 1) var.name = xpu_wire_text(&message, &field, "name");
        if (field.number == 2) read_type(r, xpu_wire_inner(&message, &field, "VarType"), &var);
        if (field.number == 3) var.is_persistable = xpu_wire_int(&message, &field, "persistable") != 0;
        if (field.number == 5) var.is_parameter = xpu_wire_int(&message, &field, "is_parameter") != 0;
        has_type |= field.number == 2;
    }
    if (r->wire->failed) return;
    if (!var.name || !has_type) {
        missing(&message, start, var.name ? "type" : "name");
        return;
    }
    xpu_name_table *names = &r->blocks.items[block].names;
    if (xpu_name_find(names, var.name)) {
        xpu_wire_malformed(&message, start, "name", "a variable of the block has this name already");
        return;
    }
    xpu_name_add(names, var.name, r->program->vars.count);
    XPU_PUSH(r->arena, &r->program->vars, var);
}

/* The variable that operators of the block mean by a name; one that nothing declares gets an entry. */
static uint32_t find_var(reader *r, uint32_t block, const char *name) {
    if (!name[0] || strcmp(name, "@EMPTY@") == 0) return XPU_PADDLE_NO_VAR;
    for (uint32_t at = block; at != XPU_PADDLE_NO_VAR; at = r->blocks.items[at].parent) {
        const uint32_t *found = xpu_name_find(&r->blocks.items[at].names, name);
        if (found) return *found;
    }
    xpu_paddle_var var = {.name = name, .block = block, .kind = XPU_PADDLE_TENSOR, .code = -1};
    var.rank = XPU_PADDLE_NO_RANK;
    var.type_name = "undeclared";
    xpu_name_add(&r->blocks.items[block].names, name, r->program->vars.count);
    XPU_PUSH(r->arena, &r->program->vars, var);
    return r->program->vars.count - 1;
}

/* ---- attributes ---- */

/* AttrType of framework.proto, and the field that holds a value of it. */
enum { ATTR_NAME = 1, ATTR_TYPE = 2, MAX_ATTR_TYPE = 17 };
enum { TYPE_BLOCK = 8, TYPE_BLOCKS = 10, TYPE_SCALAR = 16 };
static const struct {
    const char *field;
    uint32_t number;
    xpu_paddle_attr_kind kind;
} attr_types[] = {{"i", 3, XPU_PADDLE_INT},
                  {"f", 4, XPU_PADDLE_FLOAT},
                  {"s", 5, XPU_PADDLE_STRING},
                  {"ints", 6, XPU_PADDLE_INTS},
                  {"floats", 7, XPU_PADDLE_FLOATS},
                  {"strings", 8, XPU_PADDLE_STRINGS},
                  {"b", 10, XPU_PADDLE_INT},
                  {"bools", 11, XPU_PADDLE_INTS},
                  {"block_idx", 12, XPU_PADDLE_INTS},
                  {"l", 13, XPU_PADDLE_INT},
                  {"blocks_idx", 14, XPU_PADDLE_INTS},
                  {"longs", 15, XPU_PADDLE_INTS},
                  {"float64s", 16, XPU_PADDLE_FLOATS},
                  {"var_name", 17, XPU_PADDLE_VARS},
                  {"vars_name", 18, XPU_PADDLE_VARS},
                  {"float64", 19, XPU_PADDLE_FLOAT},
                  {"scalar", 20, XPU_PADDLE_FLOAT},
                  {"scalars", 21, XPU_PADDLE_FLOATS}};

/* What inference has no use for. */
static int is_dropped(const char *name) {
    static const char *const names[] = {"op_callstack", "op_role", "op_role_var", "op_namescope", "op_device"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) return 1;
    }
    return 0;
}

/* Scalar {type = 1, b = 2, i = 3, r = 4, c = 5}; complex ones are not told apart from 0. */
static double read_scalar(xpu_wire_message message) {
    xpu_wire_field field;
    double value = 0;
    while (xpu_wire_next(&message, &field)) {
        if (field.number == 2) value = xpu_wire_int(&message, &field, "b") != 0;
        if (field.number == 3) value = (double)xpu_wire_int(&message, &field, "i");
        if (field.number == 4) value = xpu_wire_double(&message, &field, "r");
    }
    return value;
}

/* The values of one attribute, of whichever type. */
typedef struct {
    xpu_wire_ints ints;
    xpu_wire_floats floats;
    XPU_ARRAY(const char *) texts;
} values;

static void read_value(reader *r, const xpu_wire_message *message, const xpu_wire_field *field, int type, values *to) {
    const char *name = attr_types[type].field;
    switch (attr_types[type].kind) {
    case XPU_PADDLE_STRING:
    case XPU_PADDLE_STRINGS:
    case XPU_PADDLE_VARS: {
        const char *text = xpu_wire_text(message, field, name);
        XPU_PUSH(r->arena, &to->texts, text);
        break;
    }
    case XPU_PADDLE_FLOAT:
    case XPU_PADDLE_FLOATS:
        if (type >= TYPE_SCALAR) {
            double value = read_scalar(xpu_wire_inner(message, field, "Scalar"));
            XPU_PUSH(r->arena, &to->floats.items, value);
        } else {
            int is_double = strncmp(name, "float64", 7) == 0;
            xpu_wire_add_floats(message, field, name, is_double ? 8 : 4, &to->floats);
        }
        break;
    default: xpu_wire_add_ints(message, field, name, &to->ints); break;
    }
}

static void read_vars(reader *r, uint32_t block, xpu_paddle_attr *attr) {
    uint32_t *vars = XPU_NEW_ARRAY(r->arena, uint32_t, attr->count + 1);
    for (size_t i = 0; i < attr->count; i++) vars[i] = find_var(r, block, attr->texts[i]);
    attr->vars = vars;
}

/* The last one of several single values counts, as in protobuf. */
static void take_values(const values *from, int type, xpu_paddle_attr *attr) {
    static const int64_t no_int = 0;
    static const double no_float = 0;
    static const char *const no_text = "";
    attr->kind = attr_types[type].kind;
    attr->is_block = type == TYPE_BLOCK || type == TYPE_BLOCKS;
    attr->integers = from->ints.items.count ? from->ints.items.items : &no_int;
    attr->numbers = from->floats.items.count ? from->floats.items.items : &no_float;
    attr->texts = from->texts.count ? from->texts.items : &no_text;
    uint32_t ints = from->ints.items.count, floats = from->floats.items.count, texts = from->texts.count;
    attr->integer = ints ? attr->integers[ints - 1] : 0;
    attr->number = floats ? attr->numbers[floats - 1] : 0;
    attr->text = texts ? attr->texts[texts - 1] : "";
    int is_single = attr->kind == XPU_PADDLE_INT || attr->kind == XPU_PADDLE_FLOAT || attr->kind == XPU_PADDLE_STRING;
    attr->count = is_single ? 1 : (size_t)ints + floats + texts;
}

/* OpDesc.Attr {name = 1, type = 2, and one of the fields above}. Returns 0 where it is passed over. */
static int read_attr(reader *r, uint32_t block, xpu_wire_message message, xpu_paddle_attr *attr) {
    xpu_wire_message again = message;
    xpu_wire_field field;
    int64_t type = -1;
    while (xpu_wire_next(&message, &field)) {
        if (field.number == ATTR_NAME) attr->name = xpu_wire_text(&message, &field, "name");
        if (field.number == ATTR_TYPE) type = xpu_wire_int(&message, &field, "type");
        if (attr->name && is_dropped(attr->name)) return 0;
    }
    if (r->wire->failed) return 0;
    if (!attr->name || type < 0) return missing(&message, again.at, attr->name ? "type" : "name");
    if (type > MAX_ATTR_TYPE) {
        return xpu_wire_malformed(&message, again.at, "type",
                                  xpu_printf(r->arena, "attribute type %" PRId64 " is not defined", type));
    }
    values found = {0};
    while (xpu_wire_next(&again, &field)) {
        if (field.number == attr_types[type].number) read_value(r, &again, &field, (int)type, &found);
    }
    take_values(&found, (int)type, attr);
    if (attr->kind == XPU_PADDLE_VARS) read_vars(r, block, attr);
    return !r->wire->failed;
}

/* ---- operators ---- */

typedef XPU_ARRAY(xpu_paddle_slot) slot_list;
typedef XPU_ARRAY(xpu_paddle_attr) attr_list;

/* OpDesc.Var {parameter = 1, arguments = 2}. */
static void read_slot(reader *r, uint32_t block, xpu_wire_message message, slot_list *list) {
    XPU_ARRAY(uint32_t) vars = {0};
    xpu_paddle_slot slot = {.name = NULL};
    xpu_wire_field field;
    uint64_t start = message.at;
    while (xpu_wire_next(&message, &field)) {
        if (field.number == 1) slot.name = xpu_wire_text(&message, &field, "parameter");
        if (field.number != 2) continue;
        uint32_t var = find_var(r, block, xpu_wire_text(&message, &field, "arguments"));
        XPU_PUSH(r->arena, &vars, var);
    }
    if (!slot.name && !r->wire->failed) missing(&message, start, "parameter");
    slot.vars = vars.items;
    slot.count = vars.count;
    XPU_PUSH(r->arena, list, slot);
}

/* OpDesc {inputs = 1, outputs = 2, type = 3, attrs = 4}. */
static xpu_paddle_op read_op(reader *r, uint32_t block, uint32_t index, xpu_wire_message message) {
    xpu_paddle_op op = {.dialect = "", .index = index, .block = block};
    slot_list inputs = {0}, outputs = {0};
    attr_list attrs = {0};
    xpu_wire_field field;
    uint64_t start = message.at;
    while (xpu_wire_next(&message, &field)) {
        xpu_paddle_attr attr = {.kind = XPU_PADDLE_NOTHING};
        switch (field.number) {
        case 1: read_slot(r, block, xpu_wire_inner(&message, &field, "OpDesc.Var"), &inputs); break;
        case 2: read_slot(r, block, xpu_wire_inner(&message, &field, "OpDesc.Var"), &outputs); break;
        case 3: op.type = xpu_wire_text(&message, &field, "type"); break;
        case 4:
            if (read_attr(r, block, xpu_wire_inner(&message, &field, "OpDesc.Attr"), &attr))
                XPU_PUSH(r->arena, &attrs, attr);
            break;
        default: break;
        }
    }
    if (!op.type && !r->wire->failed) missing(&message, start, "type");
    op.inputs = inputs.items;
    op.input_count = inputs.count;
    op.outputs = outputs.items;
    op.output_count = outputs.count;
    op.attrs = attrs.items;
    op.attr_count = attrs.count;
    return op;
}

/* ---- blocks ---- */

/* BlockDesc {idx = 1, parent_idx = 2, vars = 3, ops = 4}: blocks stand in the order of their indices, behind their
 * parents. */
static void read_block(reader *r, xpu_wire_message message) {
    block_reading block = {.names = {.arena = r->arena}, .parent = XPU_PADDLE_NO_VAR};
    uint32_t index = r->blocks.count;
    int64_t said = -1, parent = -1;
    uint64_t start = message.at;
    xpu_wire_field field;
    while (xpu_wire_next(&message, &field)) {
        if (field.number == 1) said = xpu_wire_int(&message, &field, "idx");
        if (field.number == 2) parent = (int32_t)xpu_wire_int(&message, &field, "parent_idx");
        if (field.number == 3) XPU_PUSH(r->arena, &block.vars, xpu_wire_inner(&message, &field, "VarDesc"));
        if (field.number == 4) XPU_PUSH(r->arena, &block.ops, xpu_wire_inner(&message, &field, "OpDesc"));
    }
    if (r->wire->failed) return;
    if (said != index)
        xpu_wire_malformed(&message, start, "idx", xpu_printf(r->arena, "it is %" PRId64 " in block %u", said, index));
    else if (index && (parent < 0 || parent >= index))
        xpu_wire_malformed(&message, start, "parent_idx",
                           xpu_printf(r->arena, "it is %" PRId64 " in block %u", parent, index));
    else if (index == MAX_BLOCKS)
        xpu_wire_malformed(&message, start, NULL, "the program has more than 4096 blocks");
    if (index) block.parent = (uint32_t)parent;
    XPU_PUSH(r->arena, &r->blocks, block);
}

/* OpVersionMap {pair = 1 {op_name = 1, op_version = 2 {version = 1}}}. */
static void read_op_versions(reader *r, xpu_wire_message map) {
    xpu_wire_field field, inner, number;
    while (xpu_wire_next(&map, &field)) {
        if (field.number != 1) continue;
        xpu_paddle_op_version entry = {.op = NULL};
        xpu_wire_message pair = xpu_wire_inner(&map, &field, "OpVersionPair");
        while (xpu_wire_next(&pair, &inner)) {
            if (inner.number == 1) entry.op = xpu_wire_text(&pair, &inner, "op_name");
            if (inner.number != 2) continue;
            xpu_wire_message version = xpu_wire_inner(&pair, &inner, "OpVersion");
            while (xpu_wire_next(&version, &number)) {
                if (number.number == 1) entry.version = xpu_wire_int(&version, &number, "version");
            }
        }
        if (entry.op) XPU_PUSH(r->arena, &r->program->op_versions, entry);
    }
}

/* ProgramDesc {blocks = 1, version = 4 {version = 1}, op_version_map = 5}. */
static void read_program(reader *r, xpu_wire_message message) {
    xpu_wire_field field, inner;
    while (xpu_wire_next(&message, &field)) {
        if (field.number == 1) read_block(r, xpu_wire_inner(&message, &field, "BlockDesc"));
        if (field.number == 5) read_op_versions(r, xpu_wire_inner(&message, &field, "OpVersionMap"));
        if (field.number != 4) continue;
        xpu_wire_message version = xpu_wire_inner(&message, &field, "Version");
        while (xpu_wire_next(&version, &inner)) {
            if (inner.number == 1) r->program->version = xpu_wire_int(&version, &inner, "version");
        }
    }
    for (uint32_t i = 0; i < r->blocks.count && !r->wire->failed; i++) {
        const block_reading *block = &r->blocks.items[i];
        for (uint32_t k = 0; k < block->vars.count && !r->wire->failed; k++) read_var(r, i, block->vars.items[k]);
    }
    for (uint32_t i = 0; i < r->blocks.count && !r->wire->failed; i++) {
        const block_reading *block = &r->blocks.items[i];
        xpu_paddle_op *ops = XPU_NEW_ARRAY(r->arena, xpu_paddle_op, block->ops.count + 1);
        for (uint32_t k = 0; k < block->ops.count && !r->wire->failed; k++)
            ops[k] = read_op(r, i, k, block->ops.items[k]);
        xpu_paddle_block done = {.parent = block->parent, .ops = ops, .op_count = block->ops.count};
        XPU_PUSH(r->arena, &r->program->blocks, done);
    }
}

static int check_program(const reader *r, const char *file, xpu_diags *diags) {
    const char *hint = "check that this is a PaddlePaddle program (.pdmodel, __model__), and that it is complete";
    int64_t version = r->program->version;
    if (!r->program->blocks.count) {
        xpu_error(diags, XPU_EMODEL, file, "paddle-model", NULL, "the program has no block",
                  "field ProgramDesc.blocks is missing", hint);
        return 0;
    }
    if (version >= 0 && version <= MAX_VERSION) return 1;
    xpu_error(
        diags, XPU_EMODEL, file, "paddle-model", NULL, "the program's version is not supported",
        xpu_printf(r->arena, "it is %" PRId64 "; PaddlePaddle 1.x and 2.x (2006002 is 2.6.2) can be read", version),
        "save it with PaddlePaddle 2.6, or with 3.x as inference.json");
    return 0;
}

xpu_paddle_program *xpu_paddle_read_desc(xpu_arena *arena, const void *bytes, size_t length, const char *file,
                                         const xpu_import_options *options, xpu_diags *diags) {
    xpu_wire wire = {.bytes = bytes, .file = file, .scratch = arena, .diags = diags};
    wire.max_fields = options->max_fields ? options->max_fields : DEFAULT_MAX_FIELDS;
    reader r = {.arena = arena, .wire = &wire, .program = XPU_NEW(arena, xpu_paddle_program)};
    r.program->file = file;
    r.program->dialect = XPU_PADDLE_DESC;
    read_program(&r, (xpu_wire_message){.wire = &wire, .name = "ProgramDesc", .end = length});
    if (wire.failed || !check_program(&r, file, diags)) return NULL;
    return r.program;
}
