/*
 * Bring your own codegen: the target "c", portable C for models that it supports whole. One function
 *     void network(const float *input..., float *output...);
 * comes out, with the weights in it. It shows all there is to a target: rules, a lowering, a packer. Before another
 * target (--target=c,xpu-sim) it takes the nodes that its rules admit, and gives a function for each region of them.
 * docs/bring-your-own-codegen.md walks along this file.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/target.h"

/* ---- the options ---- */

static xpu_status refuse(xpu_target_job *job, const char *option, const char *what, const char *why) {
    return job->services->error(job->diags, XPU_EUSAGE, NULL, "option", option, what, why, "leave the option out");
}

static xpu_status start(xpu_target_job *job) {
    const xpu_compile_options *o = job->options;
    if (job->program_target) return XPU_OK; /* the options are its own */
    if (strcmp(o->precision, "auto") != 0 && strcmp(o->precision, "fp32") != 0)
        return refuse(job, "--precision", "target 'c' has no such precision", "it computes in float32: auto or fp32");
    if (o->precision_rules)
        return refuse(job, "--precision-rules", "target 'c' has one precision", "it computes in float32");
    if (o->memory_rules) return refuse(job, "--memory", "target 'c' places nothing", "the C compiler does");
    if (strcmp(o->chip, "standard") != 0) return refuse(job, "--chip", "target 'c' is for no chip", "it makes C");
    if (o->strip) return refuse(job, "--strip", "target 'c' has nothing to leave out", "its C carries no graph");
    return XPU_OK;
}

/* ---- rules: one small function and one sentence each ---- */

static int all_values(xpu_rule_query *q, int with_dims) {
    const xpu_node_info *node = xpu_node_at(q->job->graph, q->node);
    int64_t dims[XPU_MAX_RANK];
    for (uint32_t i = 0; i < node->input_count + node->output_count; i++) {
        xpu_value value = i < node->input_count ? node->inputs[i] : node->outputs[i - node->input_count];
        const xpu_value_info *info = xpu_value_at(q->job->graph, value);
        int good = info->dtype == XPU_F32;
        if (good && with_dims) good = q->job->services->value_dims(q->job->graph, value, NULL, dims);
        if (!value.id || good) continue;
        q->value = q->job->services->printf(q->job->arena, "'%s' is not", info->name);
        return 0;
    }
    return 1;
}

/* As a program it has arrays of fixed sizes; before another target its functions are given sizes. */
static int has_fixed_float_values(xpu_rule_query *q) {
    return q->job->program_target || all_values(q, 1);
}
static const xpu_rule fixed_float_values = {"c-fixed-float", "all values are float32 with fixed dims",
                                            "fix free dims with --shape", has_fixed_float_values};

static int has_float_values(xpu_rule_query *q) {
    return !q->job->program_target || all_values(q, 0);
}
static const xpu_rule float_values = {"c-float", "all values are float32", "cast them", has_float_values};

static int has_two_spatial_dims(xpu_rule_query *q) {
    int rank = xpu_value_at(q->job->graph, xpu_node_input(q->job->graph, q->node, 0))->rank;
    q->value = q->job->services->printf(q->job->arena, "there are %d", rank - 2);
    return rank == 4;
}
static const xpu_rule two_spatial_dims = {"c-window-rank", "a window has two spatial dims",
                                          "reshape the operand to [N,C,H,W]", has_two_spatial_dims};

static int multiplies_by_one_matrix(xpu_rule_query *q) {
    int rank = xpu_value_at(q->job->graph, xpu_node_input(q->job->graph, q->node, XPU_IN_W))->rank;
    q->value = q->job->services->printf(q->job->arena, "it has %d dims", rank);
    return rank == 2;
}
static const xpu_rule one_matrix = {"c-matmul-rank", "the second operand of a matrix product has two dims",
                                    "reshape it to a matrix, or split the product", multiplies_by_one_matrix};

/* C for one step: $a, $b are operands, #0, #1 immediates; a NaN operand gives a NaN. NULL: this target does not have
 * the operator. */
static const char *const step_forms[XPU_EW_COUNT] = {
    [XPU_EW_add] = "$a + $b",
    [XPU_EW_sub] = "$a - $b",
    [XPU_EW_mul] = "$a * $b",
    [XPU_EW_div] = "$a / $b",
    [XPU_EW_max] = "$a != $a || $a > $b ? $a : $b",
    [XPU_EW_min] = "$a != $a || $a < $b ? $a : $b",
    [XPU_EW_neg] = "-$a",
    [XPU_EW_abs] = "fabsf($a)",
    [XPU_EW_relu] = "$a <= 0 ? 0 : $a",
    [XPU_EW_leaky_relu] = "$a < 0 ? $a * #0 : $a",
    [XPU_EW_clip] = "$a != $a ? $a : fminf(fmaxf($a, #0), #1)",
    [XPU_EW_sigmoid] = "1 / (1 + expf(-$a))",
    [XPU_EW_tanh] = "tanhf($a)",
    [XPU_EW_exp] = "expf($a)",
    [XPU_EW_sqrt] = "sqrtf($a)",
};

static const xpu_chain *chain_of(const xpu_graph *graph, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    for (uint32_t i = 0; i < info->attrs.count; i++) {
        if (info->attrs.items[i].id == XPU_ATTR_STEPS) return info->attrs.items[i].chain;
    }
    return NULL;
}

static int has_known_steps(xpu_rule_query *q) {
    const xpu_chain *chain = chain_of(q->job->graph, q->node);
    for (uint32_t s = 0; s < chain->step_count; s++) {
        if (step_forms[chain->steps[s].op]) continue;
        q->value = q->job->services->printf(q->job->arena, "step %u is another one", s);
        return 0;
    }
    return 1;
}
static const xpu_rule known_steps = {"c-chain-step",
                                     "elementwise operators are add, sub, mul, div, max, min, neg, abs, relu, "
                                     "leaky_relu, clip, sigmoid, tanh, exp, sqrt",
                                     "replace the operator, or compile for another target", has_known_steps};

static const xpu_rule *const any_rules[] = {&fixed_float_values, &float_values, NULL};
static const xpu_rule *const window_rules[] = {&fixed_float_values, &float_values, &two_spatial_dims, NULL};
static const xpu_rule *const matmul_rules[] = {&fixed_float_values, &float_values, &one_matrix, NULL};
static const xpu_rule *const chain_rules[] = {&fixed_float_values, &float_values, &known_steps, NULL};

static const xpu_support support[] = {
    {XPU_OP_CONV, "seven loops", window_rules},       {XPU_OP_MAX_POOL, "six loops", window_rules},
    {XPU_OP_AVERAGE_POOL, "six loops", window_rules}, {XPU_OP_GLOBAL_AVERAGE_POOL, "two loops", any_rules},
    {XPU_OP_MATMUL, "three loops", matmul_rules},     {XPU_OP_CHAIN, "one loop", chain_rules},
    {XPU_OP_SOFTMAX, "three loops", any_rules},       {XPU_OP_RESHAPE, "memcpy", any_rules},
    {XPU_OP_IDENTITY, "memcpy", any_rules},           {XPU_OP_COUNT, NULL, NULL},
};

/* ---- lowering: a value is an array v<number>, a node a block of loops ---- */

/* Dims as C: numbers, or elements of the array `dims`. */
typedef struct {
    const char *at[XPU_MAX_RANK], *count;
    int is_one[XPU_MAX_RANK], rank;
} dims;

typedef struct {
    xpu_target_job *job;
    const xpu_services *s;
    xpu_graph *graph;
    xpu_text text;
    xpu_node node;
    xpu_value x, y; /* first operand and result of the node */
    dims xd, yd;
    XPU_ARRAY(xpu_dim) free; /* what stands in `dims` */
} emitter;

#define EMIT(e, ...) (e)->s->text_add(&(e)->text, __VA_ARGS__)
#define TEXT(e, ...) (e)->s->printf((e)->job->arena, __VA_ARGS__)

/* What XPU_PUSH does, without the function behind it. */
static uint32_t place_of(emitter *e, xpu_dim dim) {
    uint32_t i = 0;
    while (i < e->free.count && e->free.items[i].id != dim.id) i++;
    if (i < e->free.count) return i;
    xpu_dim *more = e->s->alloc(e->job->arena, (i + 1) * sizeof *more);
    if (i) memcpy(more, e->free.items, i * sizeof *more);
    e->free.items = more;
    e->free.items[e->free.count++] = dim;
    return i;
}

static const char *dim_text(emitter *e, xpu_dim dim) {
    int64_t number;
    if (e->s->dim_is_const(&e->graph->dims, dim, &number)) return TEXT(e, "%lld", (long long)number);
    return TEXT(e, "dims[%u]", place_of(e, dim));
}

static const char *product(emitter *e, const char *a, const char *b) {
    if (strcmp(a, "1") == 0) return b;
    return strcmp(b, "1") == 0 ? a : TEXT(e, "(%s * %s)", a, b);
}

/* The number of elements along dims first .. last - 1. */
static const char *count_of(emitter *e, xpu_value value, int first, int last) {
    const xpu_value_info *info = xpu_value_at(e->graph, value);
    xpu_dim count = e->s->dim_const(&e->graph->dims, 1);
    for (int i = first; i < last; i++) count = e->s->dim_op(&e->graph->dims, XPU_DIM_MUL, count, info->dims[i]);
    if (count.id) return dim_text(e, count);
    const char *text = "1";
    for (int i = first; i < last; i++) text = product(e, text, dim_text(e, info->dims[i]));
    return text;
}

static dims dims_of(emitter *e, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(e->graph, value);
    dims d = {.rank = info->rank};
    for (int i = 0; i < info->rank; i++) {
        int64_t number;
        d.at[i] = dim_text(e, info->dims[i]);
        d.is_one[i] = e->s->dim_is_const(&e->graph->dims, info->dims[i], &number) && number == 1;
    }
    d.count = count_of(e, value, 0, info->rank);
    return d;
}

static void emit_window(emitter *e) {
    const char *op = xpu_node_at(e->graph, e->node)->op->name;
    int is_conv = strcmp(op, "conv") == 0, is_max = strcmp(op, "max_pool") == 0;
    const int64_t *strides = e->s->node_ints(e->graph, e->node, XPU_ATTR_STRIDES, NULL);
    const int64_t *dilations = e->s->node_ints(e->graph, e->node, XPU_ATTR_DILATIONS, NULL);
    const int64_t *pads = e->s->node_ints(e->graph, e->node, XPU_ATTR_PADS, NULL);
    const int64_t *kernel = e->s->node_ints(e->graph, e->node, XPU_ATTR_KERNEL, NULL);
    xpu_value w = xpu_node_input(e->graph, e->node, XPU_IN_W), bias = xpu_node_input(e->graph, e->node, XPU_IN_BIAS);
    const dims wd = is_conv ? dims_of(e, w) : (dims){.at = {e->yd.at[1], "1"}};
    const char *kh = is_conv ? wd.at[2] : TEXT(e, "%lld", (long long)kernel[0]);
    const char *kw = is_conv ? wd.at[3] : TEXT(e, "%lld", (long long)kernel[1]), *in_group = wd.at[1];
    const char *group =
        is_conv ? TEXT(e, "%lld", (long long)e->s->node_int(e->graph, e->node, XPU_ATTR_GROUP)) : e->yd.at[1];
    int counts_pads = !is_conv && e->s->node_int(e->graph, e->node, XPU_ATTR_COUNT_INCLUDE_PAD) != 0;
    EMIT(e, "    for (int n = 0; n < %s; n++) for (int o = 0; o < %s; o++)\n", e->yd.at[0], e->yd.at[1]);
    EMIT(e, "    for (int y = 0; y < %s; y++) for (int x = 0; x < %s; x++) {\n", e->yd.at[2], e->yd.at[3]);
    EMIT(e, "        float r = %s;\n        int count = 0;\n", is_max ? "-INFINITY" : "0");
    EMIT(e, "        for (int i = 0; i < %s; i++) for (int j = 0; j < %s; j++) {\n", kh, kw);
    EMIT(e, "            int h = y * %lld - %lld + i * %lld, w = x * %lld - %lld + j * %lld;\n", (long long)strides[0],
         (long long)pads[0], (long long)dilations[0], (long long)strides[1], (long long)pads[1],
         (long long)dilations[1]);
    if (counts_pads) {
        EMIT(e, "            count += h < %s + %lld && w < %s + %lld;\n", e->xd.at[2], (long long)pads[2], e->xd.at[3],
             (long long)pads[3]);
    }
    EMIT(e, "            if (h < 0 || h >= %s || w < 0 || w >= %s) continue;\n", e->xd.at[2], e->xd.at[3]);
    if (!counts_pads) EMIT(e, "            count++;\n");
    EMIT(e, "            for (int c = 0; c < %s; c++) {\n", in_group);
    EMIT(e, "                float a = v%u[((n * %s + o / (%s / %s) * %s + c) * %s + h) * %s + w];\n", e->x.id,
         e->xd.at[1], e->yd.at[1], group, in_group, e->xd.at[2], e->xd.at[3]);
    if (is_conv) {
        EMIT(e, "                r += a * v%u[((o * %s + c) * %s + i) * %s + j];\n", w.id, in_group, kh, kw);
    } else {
        EMIT(e, "                r = %s;\n", is_max ? "a != a || a > r ? a : r" : "r + a");
    }
    EMIT(e, "            }\n        }\n%s        v%u[((n * %s + o) * %s + y) * %s + x] = r%s;\n    }\n",
         is_max ? "        if (!count) r = -FLT_MAX;\n" : "", e->y.id, e->yd.at[1], e->yd.at[2], e->yd.at[3],
         is_conv && bias.id  ? TEXT(e, " + v%u[o]", bias.id)
         : is_conv || is_max ? ""
                             : " / (float)count");
}

static void emit_global_pool(emitter *e) {
    const char *channels = count_of(e, e->x, 0, 2), *size = count_of(e, e->x, 2, e->xd.rank);
    EMIT(e, "    for (int c = 0; c < %s; c++) {\n        float r = 0;\n", channels);
    EMIT(e, "        for (int i = 0; i < %s; i++) r += v%u[c * %s + i];\n", size, e->x.id, size);
    EMIT(e, "        v%u[c] = r / (float)%s;\n    }\n", e->y.id, size);
}

static void emit_matmul(emitter *e) {
    xpu_value w = xpu_node_input(e->graph, e->node, XPU_IN_W), bias = xpu_node_input(e->graph, e->node, XPU_IN_BIAS);
    const char *k = e->xd.at[e->xd.rank - 1], *n = e->yd.at[e->yd.rank - 1];
    EMIT(e, "    for (int m = 0; m < %s; m++) for (int n = 0; n < %s; n++) {\n        float r = 0;\n",
         count_of(e, e->y, 0, e->yd.rank - 1), n);
    EMIT(e, "        for (int k = 0; k < %s; k++) r += v%u[m * %s + k] * v%u[k * %s + n];\n", k, e->x.id, k, w.id, n);
    EMIT(e, "        v%u[m * %s + n] = r%s;\n    }\n", e->y.id, n, bias.id ? TEXT(e, " + v%u[n]", bias.id) : "");
}

static void emit_step(emitter *e, const xpu_chain_step *step) {
    for (const char *c = step_forms[step->op]; *c; c++) {
        if (*c == '$') {
            EMIT(e, "s%u", step->operands[*++c - 'a']);
        } else if (*c == '#') {
            float value = step->immediates[*++c - '0'];
            EMIT(e, isinf(value) ? "%sINFINITY" : "%s%af", value < 0 ? "-" : "", (double)fabsf(value));
        } else {
            EMIT(e, "%c", *c);
        }
    }
}

/* Where element i of the result finds its element of an operand that is broadcast. */
static void emit_index(emitter *e, const dims *operand) {
    const char *stride = "1", *inner = "1";
    EMIT(e, "0");
    for (int r = e->yd.rank - 1, o = operand->rank - 1; r >= 0; r--, o--) {
        if (o >= 0 && !operand->is_one[o]) {
            EMIT(e, " + i / %s %% %s * %s", inner, e->yd.at[r], stride);
            stride = product(e, stride, operand->at[o]);
        }
        inner = product(e, inner, e->yd.at[r]);
    }
}

static void emit_chain(emitter *e) {
    const xpu_chain *chain = chain_of(e->graph, e->node);
    EMIT(e, "    for (int i = 0; i < %s; i++) {\n", e->yd.count);
    for (uint32_t i = 0; i < chain->input_count; i++) {
        xpu_value input = xpu_node_input(e->graph, e->node, i);
        const dims d = dims_of(e, input);
        EMIT(e, "        float s%u = v%u[", i, input.id);
        emit_index(e, &d);
        EMIT(e, "];\n");
    }
    for (uint32_t s = 0; s < chain->step_count; s++) {
        EMIT(e, "        float s%u = ", chain->input_count + s);
        emit_step(e, &chain->steps[s]);
        EMIT(e, ";\n");
    }
    EMIT(e, "        v%u[i] = s%u;\n    }\n", e->y.id, chain->input_count + chain->step_count - 1);
}

static void emit_softmax(emitter *e) {
    int axis = (int)e->s->node_int(e->graph, e->node, XPU_ATTR_AXIS);
    const char *size = e->xd.at[axis], *inner = count_of(e, e->x, axis + 1, e->xd.rank);
    EMIT(e, "    for (int o = 0; o < %s; o++) for (int i = 0; i < %s; i++) {\n", count_of(e, e->x, 0, axis), inner);
    EMIT(e, "        const float *a = v%u + o * %s * %s + i;\n        float *b = v%u + o * %s * %s + i;\n", e->x.id,
         size, inner, e->y.id, size, inner);
    EMIT(e, "        float most = -INFINITY, sum = 0;\n");
    EMIT(e, "        for (int k = 0; k < %s; k++) most = fmaxf(most, a[k * %s]);\n", size, inner);
    EMIT(e, "        for (int k = 0; k < %s; k++) sum += b[k * %s] = expf(a[k * %s] - most);\n", size, inner, inner);
    EMIT(e, "        for (int k = 0; k < %s; k++) b[k * %s] /= sum;\n    }\n", size, inner);
}

static void emit_copy(emitter *e) {
    EMIT(e, "    memcpy(v%u, v%u, sizeof(float) * %s);\n", e->y.id, e->x.id, e->yd.count);
}

static const struct {
    const char *op;
    void (*emit)(emitter *e);
} lowerings[] = {
    {"conv", emit_window},   {"max_pool", emit_window}, {"average_pool", emit_window},
    {"matmul", emit_matmul}, {"chain", emit_chain},     {"global_average_pool", emit_global_pool},
    {"reshape", emit_copy},  {"identity", emit_copy},   {"softmax", emit_softmax},
};

static void emit_node(emitter *e, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(e->graph, node);
    e->node = node;
    e->x = info->inputs[0];
    e->y = info->outputs[0];
    e->xd = dims_of(e, e->x);
    e->yd = dims_of(e, e->y);
    EMIT(e, "\n    /* %s */\n", e->s->node_where(e->graph, node, e->job->arena));
    if (!e->job->program_target && !xpu_value_at(e->graph, e->y)->is_output) {
        EMIT(e, "    static float v%u[%s];\n", e->y.id, strcmp(e->yd.count, "0") == 0 ? "1" : e->yd.count);
    }
    for (size_t i = 0; i < sizeof lowerings / sizeof *lowerings; i++) {
        if (strcmp(info->op->name, lowerings[i].op) == 0) lowerings[i].emit(e);
    }
}

/* ---- the whole model: one function, with the weights in it ---- */

static xpu_status emit_constants(emitter *e) {
    for (uint32_t id = 1; id < e->graph->values.count; id++) {
        const xpu_value_info *info = &e->graph->values.items[id];
        int64_t at[XPU_MAX_RANK], count = 1;
        if (info->kind != XPU_VALUE_CONST || !info->uses.count) continue;
        if (!e->s->value_dims(e->graph, (xpu_value){id}, NULL, at)) continue;
        const float *data = e->s->const_data(e->graph, (xpu_value){id}, e->job->arena, e->job->diags);
        if (!data) return XPU_EIO;
        for (int i = 0; i < info->rank; i++) count *= at[i];
        EMIT(e, "static const float v%u[] = {", id);
        for (int64_t i = 0; i < count; i++) {
            const char *form = isnan(data[i]) ? "%sNAN," : isinf(data[i]) ? "%sINFINITY," : "%s%af,";
            EMIT(e, form, signbit(data[i]) ? "-" : "", (double)fabsf(data[i]));
        }
        EMIT(e, "%s};\n", count ? "" : "0");
    }
    return XPU_OK;
}

/* Nothing runs on the host, so there is one region: the model. */
static xpu_status lower(xpu_target_job *job, uint32_t region, xpu_section *section) {
    emitter e = {.job = job, .s = job->services, .graph = job->graph};
    e.s->text_init(&e.text, job->arena);
    EMIT(&e, "/* Made by xpuc --target=c. Arrays are float32, row-major. */\n#include <float.h>\n#include <math.h>\n"
             "#include <string.h>\n\n");
    xpu_status status = emit_constants(&e);
    if (status != XPU_OK) return status;
    EMIT(&e, "\nvoid network(");
    for (uint32_t i = 0; i < e.graph->inputs.count; i++) {
        EMIT(&e, "%sconst float *v%u", i ? ", " : "", e.graph->inputs.items[i].id);
    }
    for (uint32_t i = 0; i < e.graph->outputs.count; i++) EMIT(&e, ", float *v%u", e.graph->outputs.items[i].id);
    EMIT(&e, ") {");
    for (uint32_t i = 0; i < job->regions[region].node_count; i++) emit_node(&e, job->regions[region].nodes[i]);
    EMIT(&e, "}\n");
    section->source = e.text.text;
    return XPU_OK;
}

/* ---- before another target: a function for each region, whose constants and scratch are given ---- */

/* There is no libm on the device. */
static const char portable_head[] =
    "#include <float.h>\n#include <stdint.h>\n"
    "#define INFINITY __builtin_inff()\n#define fabsf __builtin_fabsf\n#define sqrtf __builtin_sqrtf\n"
    "#define memcpy __builtin_memcpy\n"
    "static inline float fmaxf(float a, float b) { return a > b ? a : b; }\n"
    "static inline float fminf(float a, float b) { return a < b ? a : b; }\n"
    "/* e^x = 2^k e^r with |r| <= log(2) / 2, and that as the first terms of its series */\n"
    "static inline float expf(float x) {\n"
    "    if (x != x) return x;\n    if (x > 88.7f) return x > 88.72283f ? INFINITY : expf(x - 1) * 2.7182817f;\n"
    "    if (x < -87.3f) return 0;\n"
    "    int k = (int)(x * 1.44269504f + (x < 0 ? -0.5f : 0.5f));\n"
    "    float r = x - (float)k * 0.693145751953125f - (float)k * 1.42860677e-6f, sum = 1;\n"
    "    for (int i = 7; i > 0; i--) sum = 1 + sum * r / (float)i;\n"
    "    union { uint32_t bits; float value; } power = {.bits = (uint32_t)(k + 127) << 23};\n"
    "    return sum * power.value;\n}\n"
    "static inline float tanhf(float x) {\n"
    "    if (fabsf(x) < 0.1f) return x - x * x * x * (1 / 3.0f - x * x * (2 / 15.0f));\n"
    "    return x > 10 ? 1 : x < -10 ? -1 : 1 - 2 / (expf(2 * x) + 1);\n}\n\n";

typedef struct {
    emitter e;
    xpu_value *operands;
    uint32_t operand_count;
} portable;

static const xpu_block_info *body_of(const xpu_target_job *job, const xpu_region *region) {
    return xpu_block_at(job->graph, xpu_node_at(job->graph, region->call)->blocks[0]);
}

static void add_operand(portable *p, xpu_value value) {
    for (uint32_t i = 0; i < p->operand_count; i++) {
        if (p->operands[i].id == value.id) return;
    }
    EMIT(&p->e, "%sconst float *v%u", p->operand_count ? ", " : "", value.id);
    p->operands[p->operand_count++] = value;
}

/* What the body is given, then the constants that its nodes read. */
static void add_operands(portable *p, const xpu_region *region) {
    xpu_graph *graph = p->e.graph;
    const xpu_block_info *body = body_of(p->e.job, region);
    uint32_t most = body->arguments.count;
    for (uint32_t n = 0; n < region->node_count; n++) most += xpu_node_at(graph, region->nodes[n])->input_count;
    p->operands = p->e.s->alloc(p->e.job->arena, (most + 1) * sizeof *p->operands);
    for (uint32_t i = 0; i < body->arguments.count; i++) add_operand(p, body->arguments.items[i]);
    for (uint32_t n = 0; n < region->node_count; n++) {
        const xpu_node_info *node = xpu_node_at(graph, region->nodes[n]);
        for (uint32_t i = 0; i < node->input_count; i++) {
            if (node->inputs[i].id && xpu_value_at(graph, node->inputs[i])->kind == XPU_VALUE_CONST)
                add_operand(p, node->inputs[i]);
        }
    }
}

/* Results that stay in the region lie one behind the other in scratch; returns the bytes of all. */
static xpu_dim add_scratch(portable *p, const xpu_region *region) {
    emitter *e = &p->e;
    xpu_dims *all = &e->graph->dims;
    xpu_dim bytes = {0};
    for (uint32_t n = 0; n < region->node_count; n++) {
        xpu_value y = xpu_node_output(e->graph, region->nodes[n], 0);
        const xpu_value_info *info = xpu_value_at(e->graph, y);
        if (info->results) continue;
        xpu_dim own = e->s->dim_const(all, sizeof(float));
        for (int i = 0; i < info->rank; i++) own = e->s->dim_op(all, XPU_DIM_MUL, own, info->dims[i]);
        if (!bytes.id) EMIT(e, "\n    float *next = scratch;");
        EMIT(e, "\n    float *v%u = next;\n    next += %s;", y.id, dims_of(e, y).count);
        bytes = bytes.id ? e->s->dim_op(all, XPU_DIM_ADD, bytes, own) : own;
    }
    return bytes;
}

static xpu_status lower_portable(xpu_target_job *job, uint32_t index, xpu_portable *c) {
    const xpu_region *region = &job->regions[index];
    const xpu_block_info *body = body_of(job, region);
    portable p = {.e = {.job = job, .s = job->services, .graph = job->graph}};
    emitter *e = &p.e;
    e->s->text_init(&e->text, job->arena);
    c->entry = TEXT(e, "c_region_%u", region->number);
    EMIT(e, "%svoid %s(", portable_head, c->entry);
    add_operands(&p, region);
    for (uint32_t i = 0; i < body->results.count; i++)
        EMIT(e, "%sfloat *v%u", i || p.operand_count ? ", " : "", body->results.items[i].id);
    EMIT(e, ", void *scratch, const int32_t *dims) {\n    (void)scratch;\n    (void)dims;");
    c->scratch_bytes = add_scratch(&p, region);
    EMIT(e, "\n");
    for (uint32_t i = 0; i < region->node_count; i++) emit_node(e, region->nodes[i]);
    EMIT(e, "}\n");
    c->source = e->text.text;
    c->operands = p.operands;
    c->operand_count = p.operand_count;
    c->results = body->results.items;
    c->result_count = body->results.count;
    c->dims = e->free.items;
    c->dim_count = e->free.count;
    return XPU_OK;
}

/* ---- packing: the output file is the source ---- */

static xpu_status pack(xpu_target_job *job, xpu_section *sections, const char *path, void *report) {
    (void)report;
    if (!path) return XPU_OK;
    FILE *file = fopen(path, "w");
    int failed = !file || fputs(sections[0].source, file) < 0;
    if (file && fclose(file) != 0) failed = 1;
    if (!failed) return XPU_OK;
    return job->services->error(job->diags, XPU_EIO, path, "io-write", NULL, "the file cannot be written",
                                strerror(errno), "check that the folder exists and may be written to");
}

static const xpu_target target = {
    .version = XPU_TARGET_VERSION,
    .name = "c",
    .about = "portable C for models that it supports whole",
    .extension = ".c",
    .support = support,
    .start = start,
    .lower = lower,
    .pack = pack,
    .lower_portable = lower_portable,
};

__attribute__((visibility("default"))) const xpu_target *xpuc_plugin(void);
const xpu_target *xpuc_plugin(void) {
    return &target;
}
