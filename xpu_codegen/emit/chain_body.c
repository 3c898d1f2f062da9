/* The loop bodies of elementwise chains as C: vector code over dense blocks in LM. */
#include "xpu_codegen/emit/chain_body.h"

#include "xpu_codegen/choose/chain_loops.h"

static void load_operand(xpu_text *text, const xpu_chain *chain, uint32_t operand, uint32_t *loaded) {
    if (operand >= chain->input_count || *loaded >> operand & 1) return;
    xpu_text_add(text, "        vfloat32m4_t v%u = __riscv_vle32_v_f32m4(x%u, vl);\n", operand, operand);
    *loaded |= 1u << operand;
}

/* The compiler would interleave several polynomials and spill more than a core's stack holds: they become functions. */
static int calls_long_steps(const xpu_chain *chain) {
    uint32_t count = 0;
    for (uint32_t s = 0; s < chain->step_count; s++) count += (uint32_t)xpu_elementwise_is_long(chain->steps[s].op);
    return count > 1;
}

/* Parameters, or with types == 0 arguments: v, w, x the operands, c, d, e the immediates. */
static void long_step_parameters(xpu_text *text, xpu_elementwise op, int types) {
    for (int i = 0; i < xpu_elementwise_arity(op); i++) {
        xpu_text_add(text, "%s%c, ", types ? "vfloat32m4_t " : "", "vwx"[i]);
    }
    for (int i = 0; i < xpu_elementwise_immediates(op); i++) {
        xpu_text_add(text, "%s%c, ", types ? "float " : "", "cde"[i]);
    }
    xpu_text_add(text, "%svl)", types ? "size_t " : "");
}

static void long_step_function(xpu_text *text, const char *prefix, xpu_elementwise op) {
    xpu_text_add(text, "static __attribute__((noinline)) vfloat32m4_t %s_%s(", prefix, xpu_elementwise_name(op));
    long_step_parameters(text, op, 1);
    xpu_text_add(text, " {\n    return xv_%s(", xpu_elementwise_name(op));
    long_step_parameters(text, op, 0);
    xpu_text_add(text, ";\n}\n");
}

static int is_long_step(const xpu_chain_body_text *body, uint32_t s) {
    return xpu_elementwise_is_long(body->chain->steps[s].op) &&
           xpu_compute_of(body->types->computes[s]) == XPU_COMPUTE_F32;
}

static void emit_long_steps(xpu_text *text, const xpu_chain_body_text *body) {
    const xpu_chain *chain = body->chain;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        int again = 0;
        for (uint32_t before = 0; before < s; before++) {
            again |= chain->steps[before].op == chain->steps[s].op && is_long_step(body, before);
        }
        if (again || !is_long_step(body, s)) continue;
        long_step_function(text, body->name, chain->steps[s].op);
    }
}

/* values: what the names of values begin with */
static uint32_t emit_step(xpu_text *text, const xpu_chain_body_text *body, uint32_t s, char values,
                          uint32_t immediate) {
    const xpu_chain *chain = body->chain;
    const xpu_chain_step *step = &chain->steps[s];
    const char *function = xpu_elementwise_is_long(step->op) && calls_long_steps(chain) ? body->name : "xv";
    xpu_text_add(text, "        vfloat32m4_t %c%u = %s_%s(", values, chain->input_count + s, function,
                 xpu_elementwise_name(step->op));
    for (int i = 0; i < xpu_elementwise_arity(step->op); i++) xpu_text_add(text, "%c%u, ", values, step->operands[i]);
    for (int i = 0; i < xpu_elementwise_immediates(step->op); i++) xpu_text_add(text, "c%u, ", immediate++);
    xpu_text_add(text, "vl);\n");
    return immediate;
}

/* What it made is joined to the magnitudes so far. */
static void emit_most(xpu_text *text, const xpu_chain_body_text *body, char values) {
    const uint32_t last = body->chain->input_count + body->chain->step_count - 1;
    if (!body->finds_most) return;
    xpu_text_add(text, "        const vuint32m4_t bits_%c = xv_magnitude(%c%u, vl);\n", values, values, last);
    xpu_text_add(text, "        most = xv_most(most, bits_%c, vl);\n", values);
}

static uint32_t used_inputs(const xpu_chain *chain) {
    uint32_t used = 0;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        for (int i = 0; i < xpu_elementwise_arity(chain->steps[s].op); i++) {
            if (chain->steps[s].operands[i] < chain->input_count) used |= 1u << chain->steps[s].operands[i];
        }
    }
    return used;
}

/* ---- chains with other types ---- */

/* Values are vectors, or where they have 64 bits or are too many for the registers, scalars. */
enum { MOST_TYPED_VECTORS = 5 };
static int is_scalar(const xpu_chain_body_text *body) {
    return body->types->is_wide || xpu_chain_most_live(body->chain) > MOST_TYPED_VECTORS;
}

const char *xpu_memory_type(xpu_dtype dtype) {
    switch (dtype) {
    case XPU_F32: return "float";
    case XPU_I8: return "int8_t";
    case XPU_U8:
    case XPU_BOOL: return "uint8_t";
    case XPU_I16: return "int16_t";
    case XPU_U16:
    case XPU_F16:
    case XPU_BF16: return "uint16_t";
    case XPU_I32: return "int32_t";
    case XPU_U32: return "uint32_t";
    case XPU_I64: return "int64_t";
    default: return "uint64_t";
    }
}

static const char *value_type(xpu_dtype dtype, int scalar) {
    static const char *const types[XPU_COMPUTE_COUNT][2] = {
        {"vfloat32m4_t", "float"}, {"vint32m4_t", "int32_t"}, {"vuint32m4_t", "uint32_t"},
        {NULL, "int64_t"},         {NULL, "uint64_t"},
    };
    return types[xpu_compute_of(dtype)][scalar];
}

/* "xv_add_i32", "xv_to_int8_f32", "chain_1_exp" */
static void typed_function(xpu_text *text, const xpu_chain_body_text *body, uint32_t s) {
    const xpu_chain_step *step = &body->chain->steps[s];
    xpu_compute class_id = xpu_compute_of(body->types->computes[s]);
    const char *prefix = is_scalar(body) ? "xa" : "xv";
    if (xpu_elementwise_signature(step->op) == XPU_EW_CONVERT) {
        xpu_text_add(text, "%s_to_%s_%s", prefix, xpu_dtype_name((xpu_dtype)step->dtype), xpu_compute_name(class_id));
        return;
    }
    int is_long = is_long_step(body, s) && calls_long_steps(body->chain) && !is_scalar(body);
    xpu_text_add(text, "%s_%s", is_long ? body->name : prefix, xpu_elementwise_name(step->op));
    if (class_id != XPU_COMPUTE_F32) xpu_text_add(text, "_%s", xpu_compute_name(class_id));
}

/* Whether the class of a result holds more than its type. */
static int needs_fit(const xpu_chain_body_text *body, uint32_t s, xpu_dtype dtype) {
    return xpu_elementwise_signature(body->chain->steps[s].op) != XPU_EW_CONVERT && dtype != XPU_BOOL &&
           xpu_dtype_bytes(dtype) < 4;
}

static uint32_t typed_step(xpu_text *text, const xpu_chain_body_text *body, uint32_t s, uint32_t immediate) {
    const xpu_chain_step *step = &body->chain->steps[s];
    uint32_t result = body->chain->input_count + s;
    int scalar = is_scalar(body);
    xpu_dtype dtype = body->types->values[result];
    const char *separator = "", *length = scalar ? "" : ", vl";
    xpu_text_add(text, "        %s v%u = ", value_type(dtype, scalar), result);
    if (needs_fit(body, s, dtype)) xpu_text_add(text, "%s_fit_%s(", scalar ? "xa" : "xv", xpu_dtype_name(dtype));
    typed_function(text, body, s);
    xpu_text_add(text, "(");
    for (int i = 0; i < xpu_elementwise_arity(step->op); i++, separator = ", ") {
        xpu_text_add(text, "%sv%u", separator, step->operands[i]);
    }
    for (int i = 0; i < xpu_elementwise_immediates(step->op); i++) xpu_text_add(text, ", c[%u]", immediate++);
    xpu_text_add(text, "%s)", length);
    if (needs_fit(body, s, dtype)) xpu_text_add(text, "%s)", length);
    xpu_text_add(text, ";\n");
    return immediate;
}

static void typed_operand(xpu_text *text, const xpu_chain_body_text *body, uint32_t operand, uint32_t *loaded) {
    if (operand >= body->chain->input_count || *loaded >> operand & 1) return;
    *loaded |= 1u << operand;
    xpu_dtype dtype = body->types->values[operand];
    int scalar = is_scalar(body);
    xpu_text_add(text, "        %s v%u = %s_load_%s(x%u%s);\n", value_type(dtype, scalar), operand,
                 scalar ? "xa" : "xv", xpu_dtype_name(dtype), operand, scalar ? " + i" : ", vl");
}

/* A comparison of two values of 64 bits, as masks are made of: vectors read their words from memory. */
static int is_wide_comparison(const xpu_chain_body_text *body) {
    const xpu_chain_step *step = &body->chain->steps[0];
    xpu_compute class_id = xpu_compute_of(body->types->computes[0]);
    return body->chain->step_count == 1 && xpu_elementwise_signature(step->op) == XPU_EW_COMPARE &&
           (class_id == XPU_COMPUTE_I64 || class_id == XPU_COMPUTE_U64);
}

static void emit_wide_comparison(xpu_text *text, const xpu_chain_body_text *body) {
    const xpu_chain_step *step = &body->chain->steps[0];
    const char *class_name = xpu_compute_name(xpu_compute_of(body->types->computes[0]));
    const char *type = xpu_memory_type(body->types->values[0]);
    xpu_text_add(text,
                 "static void %s(const float *const *in, const float *c, float *out, uint32_t n) {\n"
                 "    const %s *x0 = (const %s *)in[%u], *x1 = (const %s *)in[%u];\n"
                 "    uint8_t *y = (uint8_t *)out;\n    (void)c;\n"
                 "    for (size_t vl; n > 0; n -= (uint32_t)vl, x0 += vl, x1 += vl, y += vl) {\n"
                 "        vl = __riscv_vsetvl_e32m4(n);\n"
                 "        xv_store_bool(y, xv_%s_%s(x0, x1, vl), vl);\n    }\n}\n\n",
                 body->name, type, type, step->operands[0], type, step->operands[1], xpu_elementwise_name(step->op),
                 class_name);
}

/* link.ld says why. */
static const char *section_of(const xpu_chain_body_text *body) {
    if (body->is_prologue) return "__attribute__((section(\".text_prologue\"))) ";
    return body->is_image ? "__attribute__((section(\".text_image\"))) " : "";
}

static void emit_typed_body(xpu_text *text, const xpu_chain_body_text *body) {
    const xpu_chain *chain = body->chain;
    uint32_t used = used_inputs(chain), loaded = 0, immediate = 0, last = chain->input_count + chain->step_count - 1;
    int scalar = is_scalar(body);
    xpu_dtype dtype = body->types->values[last];
    if (calls_long_steps(chain) && !scalar) emit_long_steps(text, body);
    xpu_text_add(text, "static %svoid %s(const float *const *in, const float *c, float *out, uint32_t n) {\n",
                 section_of(body), body->name);
    for (uint32_t i = 0; i < chain->input_count; i++) {
        const char *type = xpu_memory_type(body->types->values[i]);
        if (used >> i & 1) xpu_text_add(text, "    const %s *x%u = (const %s *)in[%u];\n", type, i, type, i);
    }
    xpu_text_add(text, "    %s *y = (%s *)out;\n    (void)c;\n", xpu_memory_type(dtype), xpu_memory_type(dtype));
    xpu_text_add(text, scalar ? "#pragma clang loop vectorize(disable)\n    for (uint32_t i = 0; i < n; i++) {\n"
                              : "    for (size_t vl; n > 0; n -= (uint32_t)vl) {\n"
                                "        vl = __riscv_vsetvl_e32m4(n);\n");
    for (uint32_t s = 0; s < chain->step_count; s++) {
        for (int i = 0; i < xpu_elementwise_arity(chain->steps[s].op); i++) {
            typed_operand(text, body, chain->steps[s].operands[i], &loaded);
        }
        immediate = typed_step(text, body, s, immediate);
    }
    xpu_text_add(text, "        %s_store_%s(y%s, v%u%s);\n", scalar ? "xa" : "xv", xpu_dtype_name(dtype),
                 scalar ? " + i" : "", last, scalar ? "" : ", vl");
    for (uint32_t i = 0; i < chain->input_count && !scalar; i++) {
        if (used >> i & 1) xpu_text_add(text, "        x%u += vl;\n", i);
    }
    xpu_text_add(text, scalar ? "    }\n}\n\n" : "        y += vl;\n    }\n}\n\n");
}

/* ---- chains of float32 ---- */

/* Two vectors at a time, where registers hold the operands of both: the second is loaded before the first is computed.
 */
static int goes_in_pairs(const xpu_chain_body_text *body, uint32_t used) {
    enum { MOST_GROUPS = 6 }; /* eight, without that of masks and one for what a step makes in between */
    uint32_t inputs = (uint32_t)__builtin_popcount(used);
    for (uint32_t s = 0; s < body->chain->step_count; s++) {
        if (xpu_elementwise_is_long(body->chain->steps[s].op)) return 0;
    }
    return inputs + xpu_chain_most_live(body->chain) <= MOST_GROUPS;
}

static void emit_pair_loads(xpu_text *text, uint32_t used, uint32_t count) {
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t i = 0; i < count; i++) {
            if (!(used >> i & 1)) continue;
            xpu_text_add(text, "        vfloat32m4_t %c%u = __riscv_vle32_v_f32m4(x%u%s, vl);\n", "vw"[half], i, i,
                         half ? " + vl" : "");
        }
    }
}

static void emit_advance(xpu_text *text, uint32_t used, uint32_t count, const char *step) {
    for (uint32_t i = 0; i < count; i++) {
        if (used >> i & 1) xpu_text_add(text, "        x%u += %s;\n", i, step);
    }
}

static void emit_steps(xpu_text *text, const xpu_chain_body_text *body, char values, uint32_t loaded) {
    const xpu_chain *chain = body->chain;
    uint32_t immediate = 0;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        for (int i = 0; i < xpu_elementwise_arity(chain->steps[s].op); i++) {
            load_operand(text, chain, chain->steps[s].operands[i], &loaded);
        }
        immediate = emit_step(text, body, s, values, immediate);
    }
}

static void emit_pairs(xpu_text *text, const xpu_chain_body_text *body, uint32_t used) {
    const xpu_chain *chain = body->chain;
    uint32_t last = chain->input_count + chain->step_count - 1;
    xpu_text_add(text, "    for (const size_t vl = __riscv_vsetvlmax_e32m4(); n >= 2 * vl; n -= 2 * (uint32_t)vl) {\n");
    emit_pair_loads(text, used, chain->input_count);
    emit_advance(text, used, chain->input_count, "2 * vl");
    emit_steps(text, body, 'v', used);
    emit_most(text, body, 'v');
    xpu_text_add(text, "        __riscv_vse32_v_f32m4(out, v%u, vl);\n", last);
    emit_steps(text, body, 'w', used);
    emit_most(text, body, 'w');
    xpu_text_add(text, "        __riscv_vse32_v_f32m4(out + vl, w%u, vl);\n        out += 2 * vl;\n    }\n", last);
}

/* Whether sums take long enough that loads and stores can stand between them. */
static int goes_in_turns(const xpu_chain_body_text *body, uint32_t used) {
    enum { HARD_SWISH_SUMS = 5 };
    const xpu_chain *chain = body->chain;
    uint32_t sums = 0;
    if (body->finds_most) return 1;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        sums += chain->steps[s].op == XPU_EW_hard_swish ? HARD_SWISH_SUMS : 1;
    }
    return sums > 2 * ((uint32_t)__builtin_popcount(used) + 1);
}

/* What goes on beside the steps of a vector: a store of the other one, and loads. */
struct beside {
    const char *store;   /* "": none, or it was emitted */
    const char *format;  /* of a load: name and input, twice */
    uint32_t used, next; /* inputs; the one to be loaded next */
};

static void emit_load_beside(xpu_text *text, struct beside *b) {
    while (b->next < XPU_CHAIN_MAX_INPUTS && !(b->used >> b->next & 1)) b->next++;
    if (b->next == XPU_CHAIN_MAX_INPUTS) return;
    xpu_text_add(text, b->format, b->next, b->next);
    b->next++;
}

static void emit_beside(xpu_text *text, struct beside *b) {
    if (!*b->store) return emit_load_beside(text, b);
    xpu_text_add(text, "%s", b->store);
    b->store = "";
}

/* Instructions begin in the order of the text. */
static void emit_half(xpu_text *text, const xpu_chain_body_text *body, char values, struct beside *b) {
    const xpu_chain *chain = body->chain;
    const uint32_t last = chain->input_count + chain->step_count - 1;
    uint32_t immediate = 0;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        const uint32_t result = chain->input_count + s, operand = chain->steps[s].operands[0];
        if (chain->steps[s].op == XPU_EW_hard_swish) {
            xpu_text_add(text, "        vfloat32m4_t %cl%u = xv_swish_line(%c%u, vl);\n", values, s, values, operand);
            emit_beside(text, b);
            xpu_text_add(text, "        %cl%u = xv_swish_gate(%cl%u, vl);\n", values, s, values, s);
            emit_beside(text, b);
            xpu_text_add(text, "        vfloat32m4_t %c%u = xv_mul(%c%u, %cl%u, vl);\n", values, result, values,
                         operand, values, s);
        } else {
            immediate = emit_step(text, body, s, values, immediate);
        }
        emit_beside(text, b);
    }
    if (body->finds_most) {
        xpu_text_add(text, "        const vuint32m4_t bits_%c = xv_magnitude(%c%u, vl);\n", values, values, last);
        emit_beside(text, b);
        xpu_text_add(text, "        most = xv_most(most, bits_%c, vl);\n", values);
    }
    for (uint32_t i = 0; i <= XPU_CHAIN_MAX_INPUTS; i++) emit_beside(text, b);
}

static void emit_turns(xpu_text *text, const xpu_chain_body_text *body, uint32_t used) {
    const xpu_chain *chain = body->chain;
    char store[80];
    const uint32_t last = chain->input_count + chain->step_count - 1;
    struct beside second = {"", "        vfloat32m4_t w%u = __riscv_vle32_v_f32m4(x%u + vl, vl);\n", used, 0};
    struct beside next = {store, "        v%u = __riscv_vle32_v_f32m4(x%u + ahead, vl);\n", used, 0};
    snprintf(store, sizeof store, "        __riscv_vse32_v_f32m4(out, v%u, vl);\n", last);
    xpu_text_add(text, "    for (const size_t vl = __riscv_vsetvlmax_e32m4(); n >= 2 * vl;) {\n");
    for (uint32_t i = 0, loaded = 0; i < chain->input_count; i++) {
        if (used >> i & 1) load_operand(text, chain, i, &loaded);
    }
    xpu_text_add(text, "    do {\n");
    emit_half(text, body, 'v', &second);
    xpu_text_add(text, "        n -= 2 * (uint32_t)vl;\n        const size_t ahead = n >= 2 * vl ? 2 * vl : 0;\n");
    emit_half(text, body, 'w', &next);
    emit_advance(text, used, chain->input_count, "2 * vl");
    xpu_text_add(text, "        __riscv_vse32_v_f32m4(out + vl, w%u, vl);\n        out += 2 * vl;\n", last);
    xpu_text_add(text, "    } while (n >= 2 * vl);\n    }\n");
}

/* Inputs are loaded where they are first used, which keeps few vector registers busy. */
void xpu_emit_chain_body(xpu_text *text, const xpu_chain_body_text *body) {
    const xpu_chain *chain = body->chain;
    uint32_t used = used_inputs(chain), immediates = 0;
    if (!body->types->is_float32) {
        if (is_wide_comparison(body))
            emit_wide_comparison(text, body);
        else
            emit_typed_body(text, body);
        return;
    }
    if (calls_long_steps(chain)) emit_long_steps(text, body);
    xpu_text_add(text, "static %svoid %s(const float *const *in, const float *c, float *out, uint32_t n) {\n",
                 section_of(body), body->name);
    for (uint32_t i = 0; i < chain->input_count; i++) {
        if (used >> i & 1) xpu_text_add(text, "    const float *x%u = in[%u];\n", i, i);
    }
    if (body->finds_most)
        xpu_text_add(text,
                     "    uint32_t *lanes = (uint32_t *)(uintptr_t)in[%u];\n"
                     "    vuint32m4_t most = __riscv_vle32_v_u32m4(lanes, __riscv_vsetvlmax_e32m4());\n",
                     chain->input_count);
    for (uint32_t s = 0; s < chain->step_count; s++) {
        for (int i = 0; i < xpu_elementwise_immediates(chain->steps[s].op); i++, immediates++) {
            xpu_text_add(text, "    const float c%u = c[%u];\n", immediates, immediates);
        }
    }
    if (!immediates) xpu_text_add(text, "    (void)c;\n");
    if (goes_in_pairs(body, used) && goes_in_turns(body, used))
        emit_turns(text, body, used);
    else if (goes_in_pairs(body, used))
        emit_pairs(text, body, used);
    xpu_text_add(text, "    for (size_t vl; n > 0; n -= (uint32_t)vl) {\n"
                       "        vl = __riscv_vsetvl_e32m4(n);\n");
    emit_steps(text, body, 'v', 0);
    emit_most(text, body, 'v');
    xpu_text_add(text, "        __riscv_vse32_v_f32m4(out, v%u, vl);\n", chain->input_count + chain->step_count - 1);
    emit_advance(text, used, chain->input_count, "vl");
    xpu_text_add(text, "        out += vl;\n    }\n");
    if (body->finds_most) xpu_text_add(text, "    __riscv_vse32_v_u32m4(lanes, most, __riscv_vsetvlmax_e32m4());\n");
    xpu_text_add(text, "}\n\n");
}
