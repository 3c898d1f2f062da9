/*
 * Bring your own codegen: the target "c", portable C for models that it supports whole. One function
 *     void network(const float *input..., float *output...);
 * comes out, with the weights in it. It shows all there is to a target: rules, a lowering, a packer.
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

typedef struct {
    int64_t at[XPU_MAX_RANK], count;
    int rank;
} dims;

static int dims_of(const xpu_target_job *job, xpu_value value, dims *d) {
    d->rank = xpu_value_at(job->graph, value)->rank;
    d->count = 1;
    if (!job->services->value_dims(job->graph, value, NULL, d->at)) return 0;
    for (int i = 0; i < d->rank; i++) d->count *= d->at[i];
    return 1;
}

static int has_fixed_float_values(xpu_rule_query *q) {
    const xpu_node_info *node = xpu_node_at(q->job->graph, q->node);
    for (uint32_t i = 0; i < node->input_count + node->output_count; i++) {
        xpu_value value = i < node->input_count ? node->inputs[i] : node->outputs[i - node->input_count];
        const xpu_value_info *info = xpu_value_at(q->job->graph, value);
        dims d;
        if (!value.id || (info->dtype == XPU_F32 && dims_of(q->job, value, &d))) continue;
        q->value = q->job->services->printf(q->job->arena, "'%s' is not", info->name);
        return 0;
    }
    return 1;
}
static const xpu_rule fixed_float_values = {"c-fixed-float", "all values are float32 with fixed dims",
                                            "fix free dims with --shape", has_fixed_float_values};

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

static const xpu_rule *const any_rules[] = {&fixed_float_values, NULL};
static const xpu_rule *const window_rules[] = {&fixed_float_values, &two_spatial_dims, NULL};
static const xpu_rule *const matmul_rules[] = {&fixed_float_values, &one_matrix, NULL};
static const xpu_rule *const chain_rules[] = {&fixed_float_values, &known_steps, NULL};

static const xpu_support support[] = {
    {XPU_OP_CONV, "seven loops", window_rules},       {XPU_OP_MAX_POOL, "six loops", window_rules},
    {XPU_OP_AVERAGE_POOL, "six loops", window_rules}, {XPU_OP_GLOBAL_AVERAGE_POOL, "two loops", any_rules},
    {XPU_OP_MATMUL, "three loops", matmul_rules},     {XPU_OP_CHAIN, "one loop", chain_rules},
    {XPU_OP_SOFTMAX, "three loops", any_rules},       {XPU_OP_RESHAPE, "memcpy", any_rules},
    {XPU_OP_IDENTITY, "memcpy", any_rules},           {XPU_OP_COUNT, NULL, NULL},
};

/* ---- lowering: a value is an array v<number>, a node a block of loops ---- */

typedef struct {
    xpu_target_job *job;
    const xpu_services *s;
    xpu_graph *graph;
    xpu_text text;
    xpu_node node;
    xpu_value x, y; /* first operand and result of the node */
    dims xd, yd;
} emitter;

#define EMIT(e, ...) (e)->s->text_add(&(e)->text, __VA_ARGS__)

static void emit_window(emitter *e) {
    const char *op = xpu_node_at(e->graph, e->node)->op->name;
    int is_conv = strcmp(op, "conv") == 0, is_max = strcmp(op, "max_pool") == 0;
    const int64_t *strides = e->s->node_ints(e->graph, e->node, XPU_ATTR_STRIDES, NULL);
    const int64_t *dilations = e->s->node_ints(e->graph, e->node, XPU_ATTR_DILATIONS, NULL);
    const int64_t *pads = e->s->node_ints(e->graph, e->node, XPU_ATTR_PADS, NULL);
    const int64_t *kernel = e->s->node_ints(e->graph, e->node, XPU_ATTR_KERNEL, NULL);
    xpu_value w = xpu_node_input(e->graph, e->node, XPU_IN_W), bias = xpu_node_input(e->graph, e->node, XPU_IN_BIAS);
    dims wd = {.at = {e->yd.at[1], 1}};
    if (is_conv) dims_of(e->job, w, &wd);
    long long kh = is_conv ? wd.at[2] : kernel[0], kw = is_conv ? wd.at[3] : kernel[1], in_group = wd.at[1];
    long long group = is_conv ? e->s->node_int(e->graph, e->node, XPU_ATTR_GROUP) : e->yd.at[1];
    int counts_pads = !is_conv && e->s->node_int(e->graph, e->node, XPU_ATTR_COUNT_INCLUDE_PAD) != 0;
    EMIT(e, "    for (int n = 0; n < %lld; n++) for (int o = 0; o < %lld; o++)\n", (long long)e->yd.at[0],
         (long long)e->yd.at[1]);
    EMIT(e, "    for (int y = 0; y < %lld; y++) for (int x = 0; x < %lld; x++) {\n", (long long)e->yd.at[2],
         (long long)e->yd.at[3]);
    EMIT(e, "        float r = %s;\n        int count = 0;\n", is_max ? "-INFINITY" : "0");
    if (is_conv && bias.id) EMIT(e, "        r = v%u[o];\n", bias.id);
    EMIT(e, "        for (int i = 0; i < %lld; i++) for (int j = 0; j < %lld; j++) {\n", kh, kw);
    EMIT(e, "            int h = y * %lld - %lld + i * %lld, w = x * %lld - %lld + j * %lld;\n", (long long)strides[0],
         (long long)pads[0], (long long)dilations[0], (long long)strides[1], (long long)pads[1],
         (long long)dilations[1]);
    if (counts_pads) {
        EMIT(e, "            count += h < %lld && w < %lld;\n", (long long)(e->xd.at[2] + pads[2]),
             (long long)(e->xd.at[3] + pads[3]));
    }
    EMIT(e, "            if (h < 0 || h >= %lld || w < 0 || w >= %lld) continue;\n", (long long)e->xd.at[2],
         (long long)e->xd.at[3]);
    if (!counts_pads) EMIT(e, "            count++;\n");
    EMIT(e, "            for (int c = 0; c < %lld; c++) {\n", in_group);
    EMIT(e, "                float a = v%u[((n * %lld + o / %lld * %lld + c) * %lld + h) * %lld + w];\n", e->x.id,
         (long long)e->xd.at[1], (long long)(e->yd.at[1] / group), in_group, (long long)e->xd.at[2],
         (long long)e->xd.at[3]);
    if (is_conv) {
        EMIT(e, "                r += a * v%u[((o * %lld + c) * %lld + i) * %lld + j];\n", w.id, in_group, kh, kw);
    } else {
        EMIT(e, "                r = %s;\n", is_max ? "a != a || a > r ? a : r" : "r + a");
    }
    EMIT(e, "            }\n        }\n%s        v%u[((n * %lld + o) * %lld + y) * %lld + x] = r%s;\n    }\n",
         is_max ? "        if (!count) r = -FLT_MAX;\n" : "", e->y.id, (long long)e->yd.at[1], (long long)e->yd.at[2],
         (long long)e->yd.at[3], is_conv || is_max ? "" : " / (float)count");
}

static void emit_global_pool(emitter *e) {
    long long channels = e->xd.at[0] * e->xd.at[1], size = channels ? e->xd.count / channels : 0;
    EMIT(e, "    for (int c = 0; c < %lld; c++) {\n        float r = 0;\n", channels);
    EMIT(e, "        for (int i = 0; i < %lld; i++) r += v%u[c * %lld + i];\n", size, e->x.id, size);
    EMIT(e, "        v%u[c] = r / %lld;\n    }\n", e->y.id, size);
}

static void emit_matmul(emitter *e) {
    xpu_value w = xpu_node_input(e->graph, e->node, XPU_IN_W), bias = xpu_node_input(e->graph, e->node, XPU_IN_BIAS);
    long long k = e->xd.at[e->xd.rank - 1], n = e->yd.at[e->yd.rank - 1], rows = n ? e->yd.count / n : 0;
    EMIT(e, "    for (int m = 0; m < %lld; m++) for (int n = 0; n < %lld; n++) {\n        float r = 0;\n", rows, n);
    if (bias.id) EMIT(e, "        r = v%u[n];\n", bias.id);
    EMIT(e, "        for (int k = 0; k < %lld; k++) r += v%u[m * %lld + k] * v%u[k * %lld + n];\n", k, e->x.id, k, w.id,
         n);
    EMIT(e, "        v%u[m * %lld + n] = r;\n    }\n", e->y.id, n);
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
    long long stride = 1, inner = 1;
    EMIT(e, "0");
    for (int r = e->yd.rank - 1, o = operand->rank - 1; r >= 0; r--, o--) {
        if (o >= 0 && operand->at[o] != 1) {
            EMIT(e, " + i / %lld %% %lld * %lld", inner, (long long)e->yd.at[r], stride);
            stride *= operand->at[o];
        }
        inner *= e->yd.at[r];
    }
}

static void emit_chain(emitter *e) {
    const xpu_chain *chain = chain_of(e->graph, e->node);
    EMIT(e, "    for (int i = 0; i < %lld; i++) {\n", (long long)e->yd.count);
    for (uint32_t i = 0; i < chain->input_count; i++) {
        xpu_value input = xpu_node_input(e->graph, e->node, i);
        dims d;
        dims_of(e->job, input, &d);
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
    long long axis = e->s->node_int(e->graph, e->node, XPU_ATTR_AXIS), inner = 1, size = e->xd.at[axis], outer;
    for (int i = (int)axis + 1; i < e->xd.rank; i++) inner *= e->xd.at[i];
    outer = size && inner ? (long long)e->xd.count / (size * inner) : 0;
    EMIT(e, "    for (int o = 0; o < %lld; o++) for (int i = 0; i < %lld; i++) {\n", outer, inner);
    EMIT(e, "        const float *a = v%u + o * %lld + i;\n        float *b = v%u + o * %lld + i;\n", e->x.id,
         size * inner, e->y.id, size * inner);
    EMIT(e, "        float most = -INFINITY, sum = 0;\n");
    EMIT(e, "        for (int k = 0; k < %lld; k++) most = fmaxf(most, a[k * %lld]);\n", size, inner);
    EMIT(e, "        for (int k = 0; k < %lld; k++) sum += b[k * %lld] = expf(a[k * %lld] - most);\n", size, inner,
         inner);
    EMIT(e, "        for (int k = 0; k < %lld; k++) b[k * %lld] /= sum;\n    }\n", size, inner);
}

static void emit_copy(emitter *e) {
    EMIT(e, "    memcpy(v%u, v%u, sizeof(float) * %lld);\n", e->y.id, e->x.id, (long long)e->yd.count);
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
    dims_of(e->job, e->x, &e->xd);
    dims_of(e->job, e->y, &e->yd);
    EMIT(e, "\n    /* %s */\n", e->s->node_where(e->graph, node, e->job->arena));
    if (!xpu_value_at(e->graph, e->y)->is_output) {
        EMIT(e, "    static float v%u[%lld];\n", e->y.id, (long long)(e->yd.count ? e->yd.count : 1));
    }
    for (size_t i = 0; i < sizeof lowerings / sizeof *lowerings; i++) {
        if (strcmp(lowerings[i].op, info->op->name) == 0) lowerings[i].emit(e);
    }
}

static xpu_status emit_constants(emitter *e) {
    for (uint32_t id = 1; id < e->graph->values.count; id++) {
        const xpu_value_info *info = &e->graph->values.items[id];
        dims d;
        if (info->kind != XPU_VALUE_CONST || !info->uses.count || !dims_of(e->job, (xpu_value){id}, &d)) continue;
        const float *data = e->s->const_data(e->graph, (xpu_value){id}, e->job->arena, e->job->diags);
        if (!data) return XPU_EIO;
        EMIT(e, "static const float v%u[] = {", id);
        for (int64_t i = 0; i < d.count; i++) {
            const char *form = isnan(data[i]) ? "%sNAN," : isinf(data[i]) ? "%sINFINITY," : "%s%af,";
            EMIT(e, form, signbit(data[i]) ? "-" : "", (double)fabsf(data[i]));
        }
        EMIT(e, "%s};\n", d.count ? "" : "0");
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
};

__attribute__((visibility("default"))) const xpu_target *xpuc_plugin(void);
const xpu_target *xpuc_plugin(void) {
    return &target;
}
