/*
 * PIR programs: the JSON that PaddlePaddle 3 saves as inference.json. Keys are "#" kind, "%" number of a value,
 * "I" operands, "O" results, "A" attributes, "N" name, "AT" attribute, "D" data, "TT" type; dialects are numbers.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/name_table.h"
#include "frontend/paddle/program.h"

enum { MAX_FORMAT = 4, MAX_NESTED = 48, DEFAULT_MAX_OPS = 1 << 20 };

typedef struct {
    xpu_arena *arena;
    xpu_diags *diags;
    xpu_paddle_program *program;
    xpu_name_table values; /* "%7": index of the variable */
    const char *where;     /* of what is being read */
    int failed;
    uint32_t ops, max_ops;
} reader;

#define TEXT(r, ...) xpu_printf((r)->arena, __VA_ARGS__)

static int fail(reader *r, const char *what, const char *why) {
    if (r->failed) return 0;
    r->failed = 1;
    xpu_error(r->diags, XPU_EMODEL, r->program->file, "paddle-json", r->where, what, why,
              "check that this is a PaddlePaddle program (inference.json), and that it is complete");
    return 0;
}

static int malformed(reader *r, const char *why) {
    return fail(r, "this is no valid PIR program", why);
}

static const char *shown(const reader *r, const char *text) {
    return xpu_escape(r->arena, text, 60);
}

/* ---- members of objects ---- */

static const char *string_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text;
}

/* jansson's strings may hold NUL bytes; a text with one is cut there. */
static const char *keep(const reader *r, const char *text) {
    return text[0] ? xpu_strdup(r->arena, text) : "";
}

static double real_of(const json_t *data) {
    if (json_is_number(data)) return json_number_value(data);
    const char *text = json_string_value(data);
    if (!text) return json_is_true(data) ? 1 : 0;
    if (strcasecmp(text, "nan") == 0) return (double)NAN;
    return text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
}

/* What stands behind the dialect of "1.conv2d", "pd_op.conv2d" or "0.a_f32". */
static const char *behind_dialect(const char *name) {
    const char *point = strchr(name, '.');
    return point ? point + 1 : name;
}

static const char *dialect_of(const reader *r, const char *name) {
    static const char *const dialects[] = {"builtin", "pd_op", "cf", "custom_op", "dist"};
    const char *point = strchr(name, '.');
    if (!point) return "builtin";
    if (point == name + 1 && name[0] >= '0' && name[0] < '5') return dialects[name[0] - '0'];
    return xpu_strndup(r->arena, name, (size_t)(point - name));
}

/* ---- types ---- */

static void read_dims(reader *r, const json_t *list, xpu_paddle_var *var) {
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > XPU_PADDLE_MAX_DIMS) {
        malformed(r, json_is_array(list) ? "a tensor has more than 64 dims" : "the dims of a tensor are no list");
        return;
    }
    int64_t *dims = XPU_NEW_ARRAY(r->arena, int64_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        const json_t *dim = json_array_get(list, i);
        if (!json_is_integer(dim)) malformed(r, "a dim is no integer");
        dims[i] = json_integer_value(dim);
    }
    var->rank = (int)count;
    var->dims = dims;
}

/* {"#": "0.t_dtensor", "D": [element type, dims, layout, levels, offset]}; vectors and what has no elements else. */
static void read_type(reader *r, const json_t *type, xpu_paddle_var *var) {
    const char *kind = string_of(type, "#");
    const json_t *data = json_object_get(type, "D");
    var->kind = XPU_PADDLE_OTHER;
    var->code = -1;
    var->rank = XPU_PADDLE_NO_RANK;
    var->type_name = kind ? keep(r, behind_dialect(kind)) : "null";
    if (!kind) return;
    if (strcmp(var->type_name, "t_vec") == 0) var->kind = XPU_PADDLE_VECTOR;
    if (strstr(var->type_name, "tensor_array") || strstr(var->type_name, "dtarray")) var->kind = XPU_PADDLE_ARRAY;
    if (strcmp(var->type_name, "t_dtensor") != 0) return;
    const char *element = string_of(json_array_get(data, 0), "#");
    if (!element) {
        malformed(r, "a tensor has no element type");
        return;
    }
    var->kind = XPU_PADDLE_TENSOR;
    var->code = xpu_paddle_code_of_pir(behind_dialect(element));
    var->dtype = xpu_paddle_dtype(var->code);
    var->type_name = var->code >= 0 ? xpu_paddle_type_name(var->code) : keep(r, behind_dialect(element));
    read_dims(r, json_array_get(data, 1), var);
}

/* ---- values ---- */

static const char *key_of(reader *r, const json_t *value) {
    const json_t *number = json_object_get(value, "%");
    if (!number) number = json_object_get(value, "#"); /* of a block's arguments */
    if (json_is_integer(number)) return TEXT(r, "%" JSON_INTEGER_FORMAT, json_integer_value(number));
    malformed(r, "a value has no number");
    return NULL;
}

static uint32_t define(reader *r, const json_t *value, uint32_t block) {
    const char *key = key_of(r, value);
    if (!key) return XPU_PADDLE_NO_VAR;
    if (strcmp(key, "0") == 0) return XPU_PADDLE_NO_VAR;
    if (xpu_name_find(&r->values, key)) {
        malformed(r, TEXT(r, "value %s is defined twice", key));
        return XPU_PADDLE_NO_VAR;
    }
    xpu_paddle_var var = {.name = "", .block = block};
    read_type(r, json_object_get(value, "TT"), &var);
    xpu_name_add(&r->values, key, r->program->vars.count);
    XPU_PUSH(r->arena, &r->program->vars, var);
    return r->program->vars.count - 1;
}

static uint32_t use(reader *r, const json_t *value) {
    const char *key = key_of(r, value);
    if (!key || strcmp(key, "0") == 0) return XPU_PADDLE_NO_VAR;
    const uint32_t *found = xpu_name_find(&r->values, key);
    if (found) return *found;
    malformed(r, TEXT(r, "value %s is used, and not defined before", key));
    return XPU_PADDLE_NO_VAR;
}

static const xpu_paddle_slot *read_slots(reader *r, const json_t *list, uint32_t *count, uint32_t block, int defines) {
    *count = (uint32_t)json_array_size(list);
    xpu_paddle_slot *slots = XPU_NEW_ARRAY(r->arena, xpu_paddle_slot, *count + 1);
    for (uint32_t i = 0; i < *count && !r->failed; i++) {
        const json_t *value = json_array_get(list, i);
        uint32_t *var = XPU_NEW(r->arena, uint32_t);
        *var = defines ? define(r, value, block) : use(r, value);
        slots[i] = (xpu_paddle_slot){.count = 1, .vars = var};
    }
    return slots;
}

/* ---- attributes ---- */

static void take_list(reader *r, const json_t *list, xpu_paddle_attr *attr);

/* {"#": "0.a_f32", "D": value} */
static void read_attr_value(reader *r, const json_t *value, xpu_paddle_attr *attr) {
    const char *kind = string_of(value, "#");
    const json_t *data = json_object_get(value, "D");
    if (!data) data = json_object_get(value, "VD"); /* infinities and NaN */
    attr->count = 1;
    attr->text = "";
    kind = kind ? behind_dialect(kind) : "";
    if (strcmp(kind, "a_bool") == 0) {
        attr->kind = XPU_PADDLE_INT;
        attr->integer = json_is_true(data);
    } else if (strcmp(kind, "a_i32") == 0 || strcmp(kind, "a_i64") == 0 || strcmp(kind, "a_index") == 0) {
        attr->kind = XPU_PADDLE_INT;
        attr->integer = json_is_integer(data) ? json_integer_value(data) : 0;
        if (!json_is_integer(data)) malformed(r, "an attribute of integers holds none");
    } else if (strcmp(kind, "a_f32") == 0 || strcmp(kind, "a_f64") == 0) {
        attr->kind = XPU_PADDLE_FLOAT;
        attr->number = real_of(data);
    } else if (strcmp(kind, "a_str") == 0 || strcmp(kind, "a_tn") == 0 || strcmp(kind, "a_layout") == 0) {
        attr->kind = XPU_PADDLE_STRING;
        attr->text = json_is_string(data) ? keep(r, json_string_value(data)) : "";
    } else if (strcmp(kind, "a_dtype") == 0) {
        attr->kind = XPU_PADDLE_INT;
        attr->is_type = 1;
        attr->integer = json_is_string(data) ? xpu_paddle_code_of(json_string_value(data)) : -1;
    } else if (strcmp(kind, "a_array") == 0 || strcmp(kind, "a_intarray") == 0) {
        take_list(r, data, attr);
    } else if (strcmp(kind, "a_scalar") == 0) {
        const json_t *inner = json_is_array(data) ? json_array_get(data, json_array_size(data) - 1) : data;
        attr->kind = json_is_integer(inner) ? XPU_PADDLE_INT : XPU_PADDLE_FLOAT;
        attr->integer = json_integer_value(inner);
        attr->number = real_of(inner);
    } else {
        attr->kind = XPU_PADDLE_NOTHING;
    }
    if (attr->kind == XPU_PADDLE_INT) attr->number = (double)attr->integer;
}

/* Bare numbers, or attributes of one kind; a list of other things is nothing. */
static void take_list(reader *r, const json_t *list, xpu_paddle_attr *attr) {
    size_t count = json_array_size(list);
    int64_t *integers = XPU_NEW_ARRAY(r->arena, int64_t, count + 1);
    double *numbers = XPU_NEW_ARRAY(r->arena, double, count + 1);
    const char **texts = XPU_NEW_ARRAY(r->arena, const char *, count + 1);
    xpu_paddle_attr_kind kind = XPU_PADDLE_INT;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        xpu_paddle_attr one = {.kind = XPU_PADDLE_INT, .text = ""};
        const char *name = string_of(item, "#");
        if (name && strcmp(behind_dialect(name), "a_array") != 0)
            read_attr_value(r, item, &one);
        else if (json_is_integer(item))
            one.integer = json_integer_value(item);
        else
            one.kind = XPU_PADDLE_NOTHING;
        if (i && one.kind != kind) one.kind = XPU_PADDLE_NOTHING;
        kind = one.kind;
        integers[i] = one.integer;
        numbers[i] = one.number;
        texts[i] = one.text;
    }
    attr->kind = kind == XPU_PADDLE_INT      ? XPU_PADDLE_INTS
                 : kind == XPU_PADDLE_FLOAT  ? XPU_PADDLE_FLOATS
                 : kind == XPU_PADDLE_STRING ? XPU_PADDLE_STRINGS
                                             : XPU_PADDLE_NOTHING;
    attr->count = count;
    attr->integers = integers;
    attr->numbers = numbers;
    attr->texts = texts;
}

static int is_dropped(const char *name) {
    return strcmp(name, "struct_name") == 0 || strcmp(name, "op_callstack") == 0;
}

static void read_attrs(reader *r, const json_t *list, xpu_paddle_op *op) {
    uint32_t count = (uint32_t)json_array_size(list);
    xpu_paddle_attr *attrs = XPU_NEW_ARRAY(r->arena, xpu_paddle_attr, count + 1);
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        const json_t *item = json_array_get(list, i);
        const char *name = string_of(item, "N");
        if (!name) {
            malformed(r, "an attribute has no name");
        } else if (!is_dropped(name)) {
            xpu_paddle_attr *attr = &attrs[op->attr_count++];
            attr->name = keep(r, name);
            read_attr_value(r, json_object_get(item, "AT"), attr);
        }
    }
    op->attrs = attrs;
}

/* ---- operators ---- */

static uint32_t read_block(reader *r, const json_t *object, uint32_t parent, int depth);

/* {"#": "p", "A": [distributed, parameter, clips, name], "O": value} */
static void read_parameter(reader *r, const json_t *object, xpu_paddle_op *op) {
    const char *name = json_string_value(json_array_get(json_object_get(object, "A"), 3));
    if (!name) {
        malformed(r, "a parameter has no name");
        return;
    }
    uint32_t *var = XPU_NEW(r->arena, uint32_t);
    xpu_paddle_slot *slot = XPU_NEW(r->arena, xpu_paddle_slot);
    *var = define(r, json_object_get(object, "O"), op->block);
    *slot = (xpu_paddle_slot){.count = 1, .vars = var};
    op->dialect = "builtin";
    op->type = "parameter";
    op->outputs = slot;
    op->output_count = 1;
    if (*var == XPU_PADDLE_NO_VAR) return;
    xpu_paddle_var *value = &r->program->vars.items[*var];
    value->name = keep(r, name);
    value->is_parameter = value->is_persistable = 1;
}

static void read_bodies(reader *r, const json_t *regions, xpu_paddle_op *op, int depth) {
    XPU_ARRAY(uint32_t) bodies = {0};
    for (size_t i = 0; i < json_array_size(regions) && !r->failed; i++) {
        const json_t *blocks = json_object_get(json_array_get(regions, i), "blocks");
        if (json_array_size(blocks) > 1) malformed(r, "a region has several blocks");
        if (json_array_size(blocks) != 1 || r->failed) continue;
        uint32_t body = read_block(r, json_array_get(blocks, 0), op->block, depth + 1);
        XPU_PUSH(r->arena, &bodies, body);
    }
    op->bodies = bodies.items;
    op->body_count = bodies.count;
}

/* The operand that the operator's first result takes the place of, -1: none. */
static int overwritten(const xpu_paddle_op *op) {
    static const struct {
        const char *type;
        int place;
    } others[] = {{"array_pop", 0},
                  {"assign_out_", 1},
                  {"where_", 1},
                  {"share_data_", -1},
                  {"batch_norm_", -1}, /* from here on: other results than the first */
                  {"sync_batch_norm_", -1},
                  {"quantize_linear_", -1},
                  {"dequantize_linear_", -1},
                  {"fake_quantize_range_abs_max_", -1},
                  {"fake_quantize_moving_average_abs_max_", -1},
                  {"fake_quantize_dequantize_moving_average_abs_max_", -1},
                  {"moving_average_abs_max_scale_", -1}};
    size_t length = strlen(op->type);
    if (strcmp(op->dialect, "pd_op") != 0) return -1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(op->type, others[i].type) == 0) return others[i].place;
    }
    return length > 1 && op->type[length - 1] == '_' ? 0 : -1;
}

/* Results are new values; one that is written where an operand is, is that operand with another value. */
static const xpu_paddle_slot *read_results(reader *r, const json_t *list, xpu_paddle_op *op) {
    int place = overwritten(op);
    uint32_t same = place >= 0 && (uint32_t)place < op->input_count ? op->inputs[place].vars[0] : XPU_PADDLE_NO_VAR;
    if (same == XPU_PADDLE_NO_VAR || !json_array_size(list))
        return read_slots(r, list, &op->output_count, op->block, 1);
    const char *key = key_of(r, json_array_get(list, 0));
    if (key && strcmp(key, "0") != 0 && xpu_name_find(&r->values, key))
        malformed(r, TEXT(r, "value %s is defined twice", key));
    if (key && !r->failed) xpu_name_add(&r->values, key, same);
    op->output_count = (uint32_t)json_array_size(list);
    xpu_paddle_slot *slots = XPU_NEW_ARRAY(r->arena, xpu_paddle_slot, op->output_count + 1);
    for (uint32_t i = 0; i < op->output_count && !r->failed; i++) {
        uint32_t *var = XPU_NEW(r->arena, uint32_t);
        *var = i ? define(r, json_array_get(list, i), op->block) : same;
        slots[i] = (xpu_paddle_slot){.count = 1, .vars = var};
    }
    return slots;
}

static void read_op(reader *r, const json_t *object, xpu_paddle_op *op, int depth) {
    const char *name = string_of(object, "#");
    if (!name) {
        malformed(r, "an operator has no name");
        return;
    }
    r->where = TEXT(r, "operator %s (block %u, #%u)", shown(r, name), op->block, op->index);
    if (++r->ops > r->max_ops) malformed(r, TEXT(r, "the program has more than %u operators", r->max_ops));
    if (strcmp(name, "p") == 0) {
        read_parameter(r, object, op);
        return;
    }
    op->dialect = dialect_of(r, name);
    op->type = keep(r, behind_dialect(name));
    op->inputs = read_slots(r, json_object_get(object, "I"), &op->input_count, op->block, 0);
    read_attrs(r, json_object_get(object, "A"), op);
    read_bodies(r, json_object_get(object, "regions"), op, depth);
    op->outputs = read_results(r, json_object_get(object, "O"), op);
}

/* Its place in the program's list of blocks. */
static uint32_t read_block(reader *r, const json_t *object, uint32_t parent, int depth) {
    uint32_t index = r->program->blocks.count;
    xpu_paddle_block block = {.parent = parent};
    if (depth > MAX_NESTED) malformed(r, TEXT(r, "more than %d blocks stand inside each other", MAX_NESTED));
    XPU_PUSH(r->arena, &r->program->blocks, block);
    const json_t *arguments = json_object_get(object, "args"), *list = json_object_get(object, "ops");
    if (!json_is_array(list)) malformed(r, "a block has no operators");
    uint32_t *vars = XPU_NEW_ARRAY(r->arena, uint32_t, json_array_size(arguments) + 1);
    for (size_t i = 0; i < json_array_size(arguments) && !r->failed; i++)
        vars[block.argument_count++] = define(r, json_array_get(arguments, i), index);
    xpu_paddle_op *ops = XPU_NEW_ARRAY(r->arena, xpu_paddle_op, json_array_size(list) + 1);
    for (size_t i = 0; i < json_array_size(list) && !r->failed; i++) {
        ops[i] = (xpu_paddle_op){.block = index, .index = (uint32_t)i, .dialect = "", .type = ""};
        read_op(r, json_array_get(list, i), &ops[i], depth);
        block.op_count++;
    }
    block.arguments = vars;
    block.ops = ops;
    r->program->blocks.items[index] = block;
    return index;
}

/* ---- the file ---- */

static int check_header(reader *r, const json_t *top) {
    const json_t *header = json_object_get(top, "base_code"), *version = json_object_get(header, "version");
    const char *magic = string_of(header, "magic"), *hint = "save the program with PaddlePaddle 3.0 to 3.3";
    if (!magic || strcmp(magic, "pir") != 0) {
        xpu_error(r->diags, XPU_EMODEL, r->program->file, "paddle-model", NULL, "the file is no PIR program",
                  "base_code.magic is not \"pir\"", "give the inference.json of a PaddlePaddle model");
        return 0;
    }
    if (json_is_integer(version) && json_integer_value(version) >= 0 && json_integer_value(version) <= MAX_FORMAT) {
        r->program->version = json_integer_value(version);
        return 1;
    }
    xpu_error(r->diags, XPU_EMODEL, r->program->file, "paddle-model", NULL,
              "the version of the format is not supported",
              json_is_integer(version) ? TEXT(r, "it is %" JSON_INTEGER_FORMAT "; 0 to %d can be read",
                                              json_integer_value(version), MAX_FORMAT)
                                       : "base_code.version is no integer",
              hint);
    return 0;
}

static json_t *parse(reader *r, const char *text, size_t length) {
    xpu_diags *diags = xpu_diags_new(r->arena);
    json_t *top = xpu_json_parse(r->arena, text, length, r->program->file, diags);
    if (top) return top;
    const xpu_diag *problem = diags->count ? &diags->items[0] : NULL;
    r->where = problem ? problem->where : NULL;
    malformed(r, problem && problem->why ? problem->why : problem ? problem->what : "there is not enough memory");
    return NULL;
}

xpu_paddle_program *xpu_paddle_read_pir(xpu_arena *arena, const char *text, size_t length, const char *file,
                                        const xpu_import_options *options, xpu_diags *diags) {
    reader r = {.arena = arena, .diags = diags, .program = XPU_NEW(arena, xpu_paddle_program)};
    r.values.arena = arena;
    r.max_ops = options->max_fields ? options->max_fields : DEFAULT_MAX_OPS;
    r.program->file = file;
    r.program->dialect = XPU_PADDLE_PIR;
    const json_t *top = parse(&r, text, length);
    if (!top || !check_header(&r, top)) return NULL;
    const json_t *regions = json_object_get(json_object_get(top, "program"), "regions");
    const json_t *blocks = json_object_get(json_array_get(regions, 0), "blocks");
    if (json_array_size(blocks) != 1)
        malformed(&r, "the program has no region with one block");
    else
        read_block(&r, json_array_get(blocks, 0), XPU_PADDLE_NO_VAR, 0);
    return r.failed ? NULL : r.program;
}
