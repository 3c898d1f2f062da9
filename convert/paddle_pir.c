/* PIR: the program of PaddlePaddle 3 as JSON, made from the same operators as a ProgramDesc by a row for each. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convert/paddle_file.h"
#include "frontend/paddle/program.h"

/*
 * Operands, separated by ",": a slot; "*S" the list of a slot as one; "S|i:a" the slot, or where it is empty attribute
 * a as a constant; "i:a" a list of int64; "n:a:t" one number of type t. Attributes: "name=attribute:type", the name
 * alone where both have it: V a shape, b bool, i int32, l int64, f float32, d float64, s text, t element type, and
 * lists I L F. "name=:type:value" is always the same; "place" is where a tensor is made.
 */
typedef struct {
    const char *desc, *pir, *operands, *attrs;
    int results; /* 0: 1 */
} pir_row;

#define WINDOW "strides:I,paddings:I,padding_algorithm:s,dilations:I,groups:i,data_format:s"
#define INTERP(n)                                                                                                      \
    {n "_interp_v2", n "_interp", "X,OutSize,*SizeTensor,Scale",                                                       \
     "data_format=data_layout:s,out_d:i,out_h:i,out_w:i,scale:D,interp_method:s,align_corners:b,align_mode:i"}
#define REDUCE(desc, pir, more) {desc, pir, "X,i:dim", more "keepdim=keep_dim:b"}

/* clang-format off */
static const pir_row rows[] = {
    {"leaky_relu", "leaky_relu", "X", "negative_slope=alpha:d"}, {"hard_sigmoid", "hardsigmoid", "X", "slope:f,offset:f"},
    {"hard_swish", "hardswish", "X", ""}, {"swish", "swish", "X", ""}, {"softplus", "softplus", "X", "beta:d,threshold:d"},
    {"gelu", "gelu", "X", "approximate:b"}, {"mish", "mish", "X", "lambda=threshold:f"}, {"elu", "elu", "X", "alpha:f"},
    {"selu", "selu", "X", "scale:f,alpha:f"}, {"celu", "celu", "X", "alpha:f"}, {"hard_shrink", "hardshrink", "X", "threshold:f"},
    {"thresholded_relu", "thresholded_relu", "X", "threshold:f,value=:f:0"},
    {"softshrink", "softshrink", "X", "threshold=lambda:f"}, {"clip", "clip", "X,n:min:float32,n:max:float32", ""},
    {"scale", "scale", "X,n:scale:float32", "bias:f,bias_after_scale:b"}, {"cast", "cast", "X", "dtype=out_dtype:t"},
    {"elementwise_add", "add", "X,Y", ""}, {"elementwise_sub", "subtract", "X,Y", ""}, {"elementwise_mul", "multiply", "X,Y", ""},
    {"elementwise_div", "divide", "X,Y", ""}, {"elementwise_max", "maximum", "X,Y", ""}, {"elementwise_min", "minimum", "X,Y", ""},
    {"elementwise_pow", "elementwise_pow", "X,Y", ""}, {"elementwise_mod", "remainder", "X,Y", ""},
    {"elementwise_floordiv", "floor_divide", "X,Y", ""}, {"equal", "equal", "X,Y", ""}, {"less_than", "less_than", "X,Y", ""},
    {"less_equal", "less_equal", "X,Y", ""}, {"greater_than", "greater_than", "X,Y", ""}, {"greater_equal", "greater_equal", "X,Y", ""},
    {"logical_and", "logical_and", "X,Y", ""}, {"logical_or", "logical_or", "X,Y", ""}, {"logical_xor", "logical_xor", "X,Y", ""},
    {"bitwise_and", "bitwise_and", "X,Y", ""}, {"bitwise_or", "bitwise_or", "X,Y", ""}, {"bitwise_xor", "bitwise_xor", "X,Y", ""},
    {"where", "where", "Condition,X,Y", ""},
    {"conv2d", "conv2d", "Input,Filter", WINDOW}, {"depthwise_conv2d", "depthwise_conv2d", "Input,Filter", WINDOW},
    {"conv2d_transpose", "conv2d_transpose", "Input,Filter,i:output_size", "output_padding:I," WINDOW},
    {"pool2d", "pool2d", "X,i:ksize", "strides:L,paddings:L,ceil_mode:b,exclusive:b,data_format:s,pooling_type:s,global_pooling:b,adaptive:b,padding_algorithm:s"},
    {"batch_norm", "batch_norm_", "X,Mean,Variance,Scale,Bias", "is_test:b,momentum:f,epsilon:f,data_format=data_layout:s,use_global_stats:b,trainable_statistics:b", 6},
    {"layer_norm", "layer_norm", "X,Scale,Bias", "epsilon:f,begin_norm_axis:i", 3}, {"softmax", "softmax", "X", "axis:i"},
    REDUCE("reduce_sum", "sum", "dtype=out_dtype:t,"), REDUCE("reduce_mean", "mean", ""), REDUCE("reduce_max", "max", ""),
    REDUCE("reduce_min", "min", ""), REDUCE("reduce_prod", "prod", "reduce_all:b,"),
    {"matmul_v2", "matmul", "X,Y", "transpose_x=trans_x:b,transpose_y=trans_y:b"},
    {"reshape2", "reshape", "X,Shape|i:shape", ""}, {"squeeze2", "squeeze", "X,i:axes", ""}, {"unsqueeze2", "unsqueeze", "X,i:axes", ""}, {"transpose2", "transpose", "X", "perm=axis:I"}, {"concat", "concat", "*X,n:axis:int32", ""},
    {"slice", "slice", "Input,*StartsTensorList|i:starts,*EndsTensorList|i:ends", "axes:L,infer_flags:L,decrease_axis:L"},
    {"strided_slice", "strided_slice", "Input,*StartsTensorList|i:starts,*EndsTensorList|i:ends,i:strides", "axes:I"},
    {"flip", "flip", "X", "axis:I"}, {"expand_v2", "expand", "X,Shape|i:shape", ""}, {"gather", "gather", "X,Index,n:axis:int32", ""},
    {"take_along_axis", "take_along_axis", "Input,Index", "axis=Axis:i"}, {"gather_nd", "gather_nd", "X,Index", ""},
    {"put_along_axis", "put_along_axis", "Input,Index,Value", "axis=Axis:i,reduce=Reduce:s,include_self:b"},
    {"scatter_nd_add", "scatter_nd_add", "X,Index,Updates", ""}, {"scatter", "scatter", "X,Ids,Updates", "overwrite:b"},
    {"top_k_v2", "topk", "X,K|n:k:int32", "axis:i,largest:b,sorted:b", 2}, {"argsort", "argsort", "X", "axis:i,descending:b,stable=:b:true", 2},
    {"where_index", "nonzero", "Condition", ""}, {"cumsum", "cumsum", "X,n:axis:int32", "flatten:b,exclusive:b,reverse:b"},
    {"multiclass_nms3", "multiclass_nms3", "BBoxes,Scores,RoisNum", "score_threshold:f,nms_top_k:i,keep_top_k:i,nms_threshold:f,normalized:b,nms_eta:f,background_label:i", 3}, {"range", "arange", "Start,End,Step", "dtype=:t:int32,place"},
    {"pad", "pad", "X,n:pad_value:float32", "paddings:I"}, {"pad3d", "pad3d", "X,i:paddings", "mode:s,pad_value=value:d,data_format:s"}, {"shape", "shape", "Input", ""},
    {"fill_constant", "full", "", "shape:V,value=str_value:d,dtype:t,place"},
    {"uniform_random", "uniform", "ShapeTensor|i:shape,n:min:float32,n:max:float32", "dtype=:t:float32,seed:i,place"},
    INTERP("nearest"), INTERP("bilinear"), INTERP("bicubic"),
};
/* clang-format on */

/* Those that have one operand, no attributes, and one name. */
static const char *const same[] = {"abs",   "relu",       "sigmoid",  "tanh",   "exp",         "log",        "sqrt",
                                   "erf",   "reciprocal", "softsign", "floor",  "ceil",        "sign",       "sin",
                                   "cos",   "tan",        "asin",     "acos",   "atan",        "sinh",       "cosh",
                                   "asinh", "acosh",      "atanh",    "assign", "logical_not", "bitwise_not"};

typedef struct {
    pw *w;
    xpu_text *out;
    int32_t *values; /* by variable; 0: none yet; negative: an argument of a body */
    int32_t made;    /* values so far */
    int32_t arguments, regions;
    int ops; /* operators of the body so far */
    const pw_op *op;
} pir;

/* ---- JSON ---- */

static void add(pir *p, const char *text) {
    xpu_text_add_bytes(p->out, text, strlen(text));
}

static void add_string(pir *p, const char *text) {
    add(p, "\"");
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            xpu_text_add(p->out, "\\%c", c);
        else if (c < 0x20)
            xpu_text_add(p->out, "\\u%04x", c);
        else
            xpu_text_add_bytes(p->out, text, 1);
    }
    add(p, "\"");
}

/* -1: whatever it is. */
static const char *type_of_code(int64_t code) {
    return code < 0 ? "Undefined(ALL_DTYPE)" : xpu_paddle_type_name(code);
}

static void add_type(pir *p, xpu_dtype dtype, int rank, const int64_t *dims) {
    xpu_text_add(p->out, "{\"#\":\"0.t_dtensor\",\"D\":[{\"#\":\"0.%s\"},[", xpu_paddle_pir_type(pw_code(dtype)));
    for (int i = 0; i < rank; i++) xpu_text_add(p->out, "%s%" PRId64, i ? "," : "", dims[i]);
    add(p, "],\"NCHW\",[],0]}");
}

static const pw_var *var_of(const pir *p, const char *name) {
    return &p->w->vars.items[*xpu_name_find(&p->w->names, name)];
}

static int32_t new_value(pir *p, const char *name) {
    const int32_t value = ++p->made;
    if (name) p->values[*xpu_name_find(&p->w->names, name)] = value;
    return value;
}

static void add_result(pir *p, int32_t value, const pw_var *var) {
    xpu_text_add(p->out, "{\"%%\":%d,\"TT\":", value);
    add_type(p, var->dtype, var->rank, var->dims);
    add(p, "}");
}

/* ---- attributes ---- */

static void begin_attr(pir *p, int *count, const char *name, const char *type) {
    xpu_text_add(p->out, "%s{\"N\":\"%s\",\"AT\":{\"#\":\"%s\",\"D\":", (*count)++ ? "," : "", name, type);
}

static void end_attr(pir *p) {
    add(p, "}}");
}

/* JSON has no infinities and no NaN: they are words under another key. */
static void add_number(pir *p, double value) {
    if (isfinite(value))
        xpu_text_add(p->out, "\"D\":%.17g", value);
    else
        xpu_text_add(p->out, "\"VD\":\"%s\"", isnan(value) ? "NaN" : value > 0 ? "INF" : "-INF");
}

static void float_attr(pir *p, int *count, const char *name, const char *type, double value) {
    xpu_text_add(p->out, "%s{\"N\":\"%s\",\"AT\":{\"#\":\"%s\",", (*count)++ ? "," : "", name, type);
    add_number(p, value);
    end_attr(p);
}

static void add_place(pir *p, int *count, int is_constant) {
    begin_attr(p, count, "place", "1.a_place");
    xpu_text_add(p->out, "[%d,0,\"\"]", is_constant);
    end_attr(p);
}

static const pw_attr *attr_of(const pw_op *op, const char *name) {
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        if (strcmp(op->attrs.items[i].name, name) == 0) return &op->attrs.items[i];
    }
    return NULL;
}

static double number_of(const pw_attr *attr) {
    if (attr && attr->type == PW_STRING) return strtod(attr->s, NULL);
    return !attr ? 0 : attr->type == PW_FLOAT ? (double)attr->f : (double)attr->i;
}

static void add_list(pir *p, const pw_attr *attr, const char *type, int is_float) {
    add(p, "[");
    for (uint32_t i = 0; attr && i < attr->count; i++) {
        xpu_text_add(p->out, "%s{\"#\":\"0.%s\",", i ? "," : "", type);
        if (is_float)
            add_number(p, (double)attr->floats[i]);
        else
            xpu_text_add(p->out, "\"D\":%" PRId64, attr->ints[i]);
        add(p, "}");
    }
    add(p, "]");
}

/* "name=attribute:type:value" */
static void add_attr(pir *p, int *count, char *text) {
    char *colon = strchr(text, ':'), *equals = strchr(text, '='), *fixed = colon ? strchr(colon + 1, ':') : NULL;
    if (strcmp(text, "place") == 0) {
        add_place(p, count, 0);
        return;
    }
    const char type = colon[1];
    *colon = '\0';
    if (equals && equals < colon) *equals = '\0';
    const pw_attr *attr = fixed ? NULL : attr_of(p->op, equals && equals < colon ? equals + 1 : text);
    static const struct {
        char letter;
        const char *type;
    } types[] = {{'b', "0.a_bool"},     {'i', "0.a_i32"},   {'l', "0.a_i64"},   {'s', "0.a_str"},  {'t', "1.a_dtype"},
                 {'V', "1.a_intarray"}, {'I', "0.a_array"}, {'L', "0.a_array"}, {'D', "0.a_array"}};
    if (type == 'f' || type == 'd') {
        float_attr(p, count, text, type == 'f' ? "0.a_f32" : "0.a_f64", number_of(attr));
        return;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].letter == type) begin_attr(p, count, text, types[i].type);
    }
    switch (type) {
    case 'b': add(p, (fixed ? fixed[1] == 't' : number_of(attr) != 0) ? "true" : "false"); break;
    case 'i':
    case 'l': xpu_text_add(p->out, "%" PRId64, attr ? attr->i : 0); break;
    case 's': add_string(p, attr && attr->s ? attr->s : ""); break;
    case 't': add_string(p, fixed ? fixed + 1 : type_of_code(attr ? attr->i : pw_code(XPU_F32))); break;
    case 'V':
        add(p, "[");
        for (uint32_t i = 0; attr && i < attr->count; i++)
            xpu_text_add(p->out, "%s%" PRId64, i ? "," : "", attr->ints[i]);
        add(p, "]");
        break;
    case 'I': add_list(p, attr, "a_i32", 0); break;
    case 'L': add_list(p, attr, "a_i64", 0); break;
    default: add_list(p, attr, "a_f64", 1); break;
    }
    end_attr(p);
}

/* ---- operators ---- */

static void begin_op(pir *p, const char *name) {
    xpu_text_add(p->out, "%s{\"#\":\"%s\",\"I\":[", p->ops++ ? "," : "", name);
}

/* A tensor of one number. */
static int32_t full(pir *p, const char *type, double value) {
    int count = 0;
    const xpu_dtype dtype = strcmp(type, "int32") == 0 ? XPU_I32 : strcmp(type, "uint8") == 0 ? XPU_U8 : XPU_F32;
    const int64_t one = 1;
    const int32_t made = new_value(p, NULL);
    begin_op(p, "1.full");
    add(p, "],\"O\":[");
    add_result(p, made, &(pw_var){.dtype = dtype, .rank = 1, .dims = {one}});
    add(p, "],\"A\":[");
    begin_attr(p, &count, "shape", "1.a_intarray");
    add(p, "[1]");
    end_attr(p);
    float_attr(p, &count, "value", "0.a_f64", value);
    begin_attr(p, &count, "dtype", "1.a_dtype");
    add_string(p, type);
    end_attr(p);
    add_place(p, &count, 1);
    add(p, "]}");
    return made;
}

static int32_t full_list(pir *p, const pw_attr *attr) {
    int count = 0;
    const int32_t made = new_value(p, NULL);
    begin_op(p, "1.full_int_array");
    add(p, "],\"O\":[");
    add_result(p, made, &(pw_var){.dtype = XPU_I64, .rank = 1, .dims = {attr ? (int64_t)attr->count : 0}});
    add(p, "],\"A\":[");
    begin_attr(p, &count, "value", "0.a_array");
    add_list(p, attr, "a_i64", 0);
    end_attr(p);
    begin_attr(p, &count, "dtype", "1.a_dtype");
    add_string(p, "int64");
    end_attr(p);
    add_place(p, &count, 1);
    add(p, "]}");
    return made;
}

static void add_list_type(pir *p, const pw_slot *slot) {
    add(p, "{\"#\":\"0.t_vec\",\"D\":[");
    for (uint32_t i = 0; i < slot->vars.count; i++) {
        const pw_var *var = var_of(p, slot->vars.items[i]);
        if (i) add(p, ",");
        add_type(p, var->dtype, var->rank, var->dims);
    }
    add(p, "]}");
}

static int32_t combine(pir *p, const pw_slot *slot) {
    const int32_t made = new_value(p, NULL);
    begin_op(p, "0.combine");
    for (uint32_t i = 0; i < slot->vars.count; i++)
        xpu_text_add(p->out, "%s{\"%%\":%d}", i ? "," : "",
                     p->values[*xpu_name_find(&p->w->names, slot->vars.items[i])]);
    xpu_text_add(p->out, "],\"O\":[{\"%%\":%d,\"TT\":", made);
    add_list_type(p, slot);
    add(p, "}],\"A\":[]}");
    return made;
}

static const pw_slot *slot_of(const pw_op *op, const char *name) {
    for (uint32_t i = 0; i < op->inputs.count; i++) {
        if (strcmp(op->inputs.items[i].name, name) == 0) return &op->inputs.items[i];
    }
    return NULL;
}

/* y, which stands at dim 1 of x, with dims of 1 behind it. */
static int32_t at_channels(pir *p, int32_t y, const pw_var *var, int rank) {
    int64_t shape[XPU_MAX_RANK];
    pw_var to = {.dtype = var->dtype, .rank = rank - 1};
    for (int i = 0; i < rank - 1; i++) to.dims[i] = shape[i] = i ? 1 : var->dims[0];
    const int32_t list = full_list(p, &(pw_attr){.ints = shape, .count = (uint32_t)rank - 1}),
                  made = new_value(p, NULL);
    begin_op(p, "1.reshape");
    xpu_text_add(p->out, "{\"%%\":%d},{\"%%\":%d}],\"O\":[", y, list);
    add_result(p, made, &to);
    add(p, "],\"A\":[]}");
    return made;
}

/* "S", "*S", "S|i:a", "i:a", "n:a:t"; 0: absent. */
static int32_t operand(pir *p, char *text) {
    char *or = strchr(text, '|');
    if (or) *or = '\0';
    if (text[1] == ':') {
        char *type = strchr(text + 2, ':');
        if (text[0] == 'i') return full_list(p, attr_of(p->op, text + 2));
        *type = '\0';
        return full(p, type + 1, number_of(attr_of(p->op, text + 2)));
    }
    const pw_slot *slot = slot_of(p->op, text + (text[0] == '*'));
    if (!slot) return or ? operand(p, or +1) : 0;
    if (text[0] == '*') return combine(p, slot);
    const int32_t value = p->values[*xpu_name_find(&p->w->names, slot->vars.items[0])];
    const pw_attr *axis = attr_of(p->op, "axis");
    const pw_var *var = var_of(p, slot->vars.items[0]), *y = var_of(p, p->op->outputs.items[0].vars.items[0]);
    const int aligned = strcmp(text, "Y") == 0 && axis && axis->i == 1 && var->rank == 1 && y->rank > 2;
    return aligned ? at_channels(p, value, var, y->rank) : value;
}

/* Of a shape that is computed. */
static const pir_row filled_with_tensor = {"fill_constant", "full_with_tensor", "n:value:float32,ShapeTensor",
                                           "dtype:t", 1};

/* 0 stands for an operand that is absent. */
static const pir_row recurrent = {"rnn", "rnn", "Input,*PreState,*WeightList,SequenceLength,n:seed:uint8",
                                  "dropout_prob:f,is_bidirec:b,input_size:i,hidden_size:i,num_layers:i,mode:s,seed:i,"
                                  "is_test:b",
                                  4};

static const pir_row *find_row(const pw_op *op, pir_row *unary) {
    const char *type = op->type;
    if (strcmp(type, recurrent.desc) == 0) return &recurrent;
    if (strcmp(type, filled_with_tensor.desc) == 0 && slot_of(op, "ShapeTensor")) return &filled_with_tensor;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].desc, type) == 0) return &rows[i];
    }
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (strcmp(same[i], type) != 0) continue;
        *unary = (pir_row){type, type, "X", "", 1};
        return unary;
    }
    return NULL;
}

/* Several variables of one slot are a list; returns its value. */
static int32_t add_list_result(pir *p, const pw_slot *slot) {
    const int32_t made = new_value(p, NULL);
    xpu_text_add(p->out, "{\"%%\":%d,\"TT\":", made);
    add_list_type(p, slot);
    add(p, "}");
    return made;
}

static void split_list(pir *p, int32_t list) {
    const pw_slot *slot = NULL;
    for (uint32_t i = 0; i < p->op->outputs.count; i++) {
        if (strcmp(p->op->outputs.items[i].name, "State") == 0) slot = &p->op->outputs.items[i];
    }
    begin_op(p, "0.split");
    xpu_text_add(p->out, "{\"%%\":%d}],\"O\":[", list);
    for (uint32_t i = 0; slot && i < slot->vars.count; i++) {
        if (i) add(p, ",");
        add_result(p, new_value(p, slot->vars.items[i]), var_of(p, slot->vars.items[i]));
    }
    add(p, "],\"A\":[]}");
}

static void write_op(pir *p, const pir_row *row) {
    enum { MOST = 8 };
    int32_t operands[MOST];
    int count = 0, attrs = 0, results = row->results ? row->results : 1;
    int32_t list = 0;
    char *save = NULL, *text = xpu_strdup(p->w->arena, row->operands);
    for (char *one = strtok_r(text, ",", &save); one && count < MOST; one = strtok_r(NULL, ",", &save))
        operands[count++] = operand(p, one);
    begin_op(p, xpu_printf(p->w->arena, "1.%s", row->pir));
    for (int i = 0; i < count; i++) xpu_text_add(p->out, "%s{\"%%\":%d}", i ? "," : "", operands[i]);
    add(p, "],\"O\":[");
    for (int i = 0; i < results; i++) {
        if (i) add(p, ",");
        if ((uint32_t)i >= p->op->outputs.count) {
            xpu_text_add(p->out, "{\"%%\":%d,\"TT\":{\"#\":\"NULL\"}}", new_value(p, NULL));
            continue;
        }
        if (p->op->outputs.items[i].vars.count > 1 || strcmp(p->op->outputs.items[i].name, "State") == 0) {
            list = add_list_result(p, &p->op->outputs.items[i]);
            continue;
        }
        const char *name = p->op->outputs.items[i].vars.items[0];
        const int is_parameter = var_of(p, name)->is_parameter; /* of a norm: written in place */
        add_result(p, new_value(p, is_parameter ? NULL : name), var_of(p, name));
    }
    add(p, "],\"A\":[");
    text = xpu_strdup(p->w->arena, row->attrs);
    for (char *one = strtok_r(text, ",", &save); one; one = strtok_r(NULL, ",", &save)) add_attr(p, &attrs, one);
    add(p, "]}");
    if (list) split_list(p, list);
}

/* ---- bodies ---- */

static int32_t value_of(const pir *p, const char *name) {
    return p->values[*xpu_name_find(&p->w->names, name)];
}

static void write_ops(pir *p, const pw_ops *ops);

static void write_region(pir *p, const pw_body *body) {
    const int ops = p->ops;
    const int32_t number = ++p->regions;
    xpu_text_add(p->out, "{\"#\":\"region_%d\",\"blocks\":[{\"#\":\"block_%d\",\"args\":[", number, number);
    for (uint32_t i = 0; i < body->arguments.count; i++) {
        const pw_var *var = var_of(p, body->arguments.items[i]);
        const int32_t value = p->values[*xpu_name_find(&p->w->names, var->name)] = -++p->arguments;
        xpu_text_add(p->out, "%s{\"#\":%d,\"TT\":", i ? "," : "", value);
        add_type(p, var->dtype, var->rank, var->dims);
        add(p, "}");
    }
    add(p, "],\"ops\":[");
    p->ops = 0;
    write_ops(p, &body->ops);
    begin_op(p, "2.yield");
    for (uint32_t i = 0; i < body->results.count; i++)
        xpu_text_add(p->out, "%s{\"%%\":%d}", i ? "," : "", value_of(p, body->results.items[i]));
    add(p, "],\"O\":[],\"A\":[]}]}]}");
    p->ops = ops;
}

/* "if" and "while": operands in the order of their slots. */
static void write_control(pir *p) {
    const pw_op *op = p->op;
    int count = 0;
    begin_op(p, xpu_printf(p->w->arena, "1.%s", op->type));
    for (uint32_t i = 0; i < op->inputs.count; i++) {
        const pw_slot *slot = &op->inputs.items[i];
        for (uint32_t v = 0; v < slot->vars.count; v++)
            xpu_text_add(p->out, "%s{\"%%\":%d}", count++ ? "," : "", value_of(p, slot->vars.items[v]));
    }
    add(p, "],\"O\":[");
    for (uint32_t i = 0; i < op->outputs.count; i++) {
        const char *name = op->outputs.items[i].vars.items[0];
        if (i) add(p, ",");
        add_result(p, new_value(p, name), var_of(p, name));
    }
    add(p, "],\"A\":[],\"regions\":[");
    for (uint32_t i = 0; i < op->body_count; i++) {
        if (i) add(p, ",");
        write_region(p, op->bodies[i]);
    }
    add(p, "]}");
}

static void write_ops(pir *p, const pw_ops *ops) {
    for (uint32_t i = 0; i < ops->count; i++) {
        pir_row unary;
        p->op = ops->items[i];
        if (p->op->body_count)
            write_control(p);
        else
            write_op(p, find_row(p->op, &unary));
    }
}

/* ---- the program ---- */

static void write_parameters(pir *p) {
    for (uint32_t i = 0; i < p->w->vars.count; i++) {
        const pw_var *var = &p->w->vars.items[i];
        if (!var->is_parameter || !var->is_used) continue;
        xpu_text_add(p->out, "%s{\"#\":\"p\",\"A\":[0,1,1,", p->ops++ ? "," : "");
        add_string(p, var->name);
        add(p, "],\"DA\":[],\"O\":");
        add_result(p, new_value(p, var->name), var);
        add(p, ",\"OA\":[1,1,0],\"QA\":[]}");
    }
}

static void write_input(pir *p, const char *name) {
    const pw_var *var = var_of(p, name);
    int count = 0;
    begin_op(p, "1.data");
    add(p, "],\"O\":[");
    add_result(p, new_value(p, name), var);
    add(p, "],\"A\":[");
    begin_attr(p, &count, "name", "0.a_str");
    add_string(p, name);
    end_attr(p);
    begin_attr(p, &count, "shape", "1.a_intarray");
    add(p, "[");
    for (int i = 0; i < var->rank; i++) xpu_text_add(p->out, "%s%" PRId64, i ? "," : "", var->dims[i]);
    add(p, "]");
    end_attr(p);
    begin_attr(p, &count, "dtype", "1.a_dtype");
    add_string(p, xpu_dtype_name(var->dtype));
    end_attr(p);
    add_place(p, &count, 0);
    add(p, "]}");
}

static void write_output(pir *p, const char *name, uint32_t column) {
    int count = 0;
    begin_op(p, "1.fetch");
    xpu_text_add(p->out, "{\"%%\":%d}],\"O\":[", p->values[*xpu_name_find(&p->w->names, name)]);
    add_result(p, new_value(p, NULL), var_of(p, name));
    add(p, "],\"A\":[");
    begin_attr(p, &count, "name", "0.a_str");
    add_string(p, name);
    end_attr(p);
    begin_attr(p, &count, "col", "0.a_i32");
    xpu_text_add(p->out, "%u", column);
    end_attr(p);
    add(p, "]}");
}

/* What PIR does not have. */
static int check(const pw *w, const pw_ops *ops) {
    const size_t errors = w->diags->errors;
    const xpu_refused_row *row = xpu_refused_row_of(XPU_REFUSED_PIR);
    for (uint32_t i = 0; i < ops->count; i++) {
        const pw_op *op = ops->items[i];
        pir_row unary;
        for (uint32_t k = 0; k < op->body_count; k++) check(w, &op->bodies[k]->ops);
        if (op->body_count || find_row(op, &unary)) continue;
        xpu_error(w->diags, XPU_EMODEL, w->graph->file, "convert-operator",
                  xpu_printf(w->arena, "tensor '%s'", xpu_escape(w->arena, op->outputs.items[0].vars.items[0], 100)),
                  xpu_printf(w->arena, "the operator has no counterpart in PIR (%s)", op->type), row->why, row->hint);
    }
    return w->diags->errors == errors;
}

xpu_status xpu_convert_pir(xpu_arena *arena, xpu_graph *graph, xpu_output *program, xpu_output *parameters,
                           xpu_diags *diags) {
    const size_t errors = diags->errors;
    pw *w = xpu_paddle_program_of(arena, graph, 0, diags);
    if (!w || !check(w, &w->ops)) return xpu_diags_since(diags, errors);
    xpu_text text;
    xpu_text_init(&text, arena);
    pir p = {.w = w, .out = &text, .values = XPU_NEW_ARRAY(arena, int32_t, w->vars.count + 1)};
    add(&p, "{\"base_code\":{\"magic\":\"pir\",\"version\":4,\"trainable\":false},\"program\":{\"regions\":[{\"#\":"
            "\"region_0\",\"blocks\":[{\"#\":\"block_0\",\"args\":[],\"ops\":[");
    write_parameters(&p);
    for (uint32_t i = 0; i < graph->inputs.count; i++) write_input(&p, pw_name(w, graph->inputs.items[i]));
    write_ops(&p, &w->ops);
    for (uint32_t i = 0; i < graph->outputs.count; i++) write_output(&p, pw_name(w, graph->outputs.items[i]), i);
    add(&p, "]}]}]}}");
    xpu_output_write(program, text.text, text.length);
    return xpu_paddle_write_parameters(w, parameters);
}
