/* The loop bodies of elementwise chains as C: vector code over dense blocks in LM. */
#include "xpu_codegen/emit/chain_body.h"

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

static void emit_long_steps(xpu_text *text, const xpu_chain_body_text *body) {
    const xpu_chain *chain = body->chain;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        int again = 0;
        for (uint32_t before = 0; before < s; before++) again |= chain->steps[before].op == chain->steps[s].op;
        if (again || !xpu_elementwise_is_long(chain->steps[s].op)) continue;
        long_step_function(text, body->name, chain->steps[s].op);
    }
}

static uint32_t emit_step(xpu_text *text, const xpu_chain_body_text *body, uint32_t s, uint32_t immediate) {
    const xpu_chain *chain = body->chain;
    const xpu_chain_step *step = &chain->steps[s];
    const char *function = xpu_elementwise_is_long(step->op) && calls_long_steps(chain) ? body->name : "xv";
    xpu_text_add(text, "        vfloat32m4_t v%u = %s_%s(", chain->input_count + s, function,
                 xpu_elementwise_name(step->op));
    for (int i = 0; i < xpu_elementwise_arity(step->op); i++) xpu_text_add(text, "v%u, ", step->operands[i]);
    for (int i = 0; i < xpu_elementwise_immediates(step->op); i++) xpu_text_add(text, "c[%u], ", immediate++);
    xpu_text_add(text, "vl);\n");
    return immediate;
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

/* Inputs are loaded where they are first used, which keeps few vector registers busy. */
void xpu_emit_chain_body(xpu_text *text, const xpu_chain_body_text *body) {
    const xpu_chain *chain = body->chain;
    uint32_t used = used_inputs(chain), loaded = 0, immediate = 0;
    if (calls_long_steps(chain)) emit_long_steps(text, body);
    xpu_text_add(text, "static void %s(const float *const *in, const float *c, float *out, uint32_t n) {\n",
                 body->name);
    for (uint32_t i = 0; i < chain->input_count; i++) {
        if (used >> i & 1) xpu_text_add(text, "    const float *x%u = in[%u];\n", i, i);
    }
    xpu_text_add(text, "    (void)c;\n    for (size_t vl; n > 0; n -= (uint32_t)vl) {\n"
                       "        vl = __riscv_vsetvl_e32m4(n);\n");
    for (uint32_t s = 0; s < chain->step_count; s++) {
        for (int i = 0; i < xpu_elementwise_arity(chain->steps[s].op); i++) {
            load_operand(text, chain, chain->steps[s].operands[i], &loaded);
        }
        immediate = emit_step(text, body, s, immediate);
    }
    xpu_text_add(text, "        __riscv_vse32_v_f32m4(out, v%u, vl);\n", chain->input_count + chain->step_count - 1);
    for (uint32_t i = 0; i < chain->input_count; i++) {
        if (used >> i & 1) xpu_text_add(text, "        x%u += vl;\n", i);
    }
    xpu_text_add(text, "        out += vl;\n    }\n}\n\n");
}
