/*
 * The generated C: one text per region, each with a plan struct (one member per kernel call), the loop bodies that it
 * uses first, and one function per layer; behind them the host layers, the plan table and the table of layers.
 */
#include <string.h>

#include "xpu_codegen/codegen.h"

static int in_region(const xpu_codegen *cg, uint32_t layer, uint32_t number) {
    const xpu_codegen_layer *item = &cg->layers.items[layer];
    return item->region == number && item->calls.count > 0;
}

static uint32_t count_layers(const xpu_codegen *cg, uint32_t number) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < cg->layers.count; i++) count += (uint32_t)in_region(cg, i, number);
    return count;
}

/* ---- chains ---- */

static void load_operand(xpu_text *text, const xpu_chain *chain, uint32_t operand, uint32_t *loaded) {
    if (operand >= chain->input_count || *loaded >> operand & 1) return;
    xpu_text_add(text, "        vfloat32m4_t v%u = __riscv_vle32_v_f32m4(x%u, vl);\n", operand, operand);
    *loaded |= 1u << operand;
}

/* A polynomial needs most of the vector registers. */
static int is_long(xpu_elementwise op) {
    return op == XPU_EW_sigmoid || op == XPU_EW_tanh || op == XPU_EW_exp || op == XPU_EW_log || op == XPU_EW_erf ||
           op == XPU_EW_softplus || op == XPU_EW_gelu;
}

/* The compiler would interleave several polynomials and spill more than a core's stack holds: they become functions. */
static int calls_long_steps(const xpu_chain *chain) {
    uint32_t count = 0;
    for (uint32_t s = 0; s < chain->step_count; s++) count += (uint32_t)is_long(chain->steps[s].op);
    return count > 1;
}

static void emit_long_steps(xpu_text *text, const xpu_chain_body_text *body) {
    const xpu_chain *chain = body->chain;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        const char *name = xpu_elementwise_name(chain->steps[s].op);
        int again = 0;
        for (uint32_t before = 0; before < s; before++) again |= chain->steps[before].op == chain->steps[s].op;
        if (again || !is_long(chain->steps[s].op)) continue;
        xpu_text_add(text,
                     "static __attribute__((noinline)) vfloat32m4_t %s_%s(vfloat32m4_t v, size_t vl) {\n"
                     "    return xv_%s(v, vl);\n}\n",
                     body->name, name, name);
    }
}

static uint32_t emit_step(xpu_text *text, const xpu_chain_body_text *body, uint32_t s, uint32_t immediate) {
    const xpu_chain *chain = body->chain;
    const xpu_chain_step *step = &chain->steps[s];
    const char *function = is_long(step->op) && calls_long_steps(chain) ? body->name : "xv";
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
static void emit_body(xpu_text *text, const xpu_chain_body_text *body) {
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

/* The first region that calls the body: there it is defined. */
static uint32_t region_of_body(const xpu_codegen *cg, const char *name) {
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        const xpu_codegen_layer *layer = &cg->layers.items[i];
        for (uint32_t c = 0; c < layer->calls.count; c++) {
            const char *body = layer->calls.items[c].body;
            if (body && strcmp(body, name) == 0) return layer->region;
        }
    }
    return 0;
}

/* ---- regions ---- */

static int has_bodies(const xpu_codegen *cg, uint32_t number) {
    for (uint32_t i = 0; i < cg->bodies.count; i++) {
        if (region_of_body(cg, cg->bodies.items[i].name) == number) return 1;
    }
    return 0;
}

static void emit_header(xpu_codegen *cg, xpu_text *text, uint32_t number) {
    /* For loops only: clang takes longer to read these than for the whole rest of a program. */
    static const char vector_headers[] = "#include <riscv_vector.h>\n\n#include \"core/arith_rvv.h\"\n";
    const xpu_program *program = &cg->program;
    xpu_text_add(
        text,
        "/*\n * %s: region %u, %u layers. Chip %s, precision %s. Generated by xpuc %s.\n"
        " *\n"
        " * Every function queues the kernel calls of one layer and returns the ticket of the last. Addresses and\n"
        " * sizes stand in the plan table, which is filled when the program is loaded.\n */\n"
        "%s#include \"xpu_runtime/include/xpu_kernels.h\"\n\n",
        xpu_escape(cg->arena, program->source, 80), number, count_layers(cg, number), cg->chip.name, program->precision,
        program->compiler, has_bodies(cg, number) ? vector_headers : "");
}

static void emit_plan(xpu_codegen *cg, xpu_text *text, uint32_t number) {
    xpu_text_add(text, "struct region_%u_plan {\n", number);
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        const xpu_codegen_layer *layer = &cg->layers.items[i];
        for (uint32_t c = 0; c < layer->calls.count && in_region(cg, i, number); c++) {
            const xpu_call *call = &layer->calls.items[c];
            xpu_text_add(text, "    struct xpu_%s_args %s;\n", xpu_kernel_of(call->kernel)->name, call->member);
        }
    }
    xpu_text_add(text, "};\nstatic const struct region_%u_plan *region_%u(const void *plan);\n\n", number, number);
}

static void emit_layer(const xpu_codegen *cg, xpu_text *text, uint32_t index, uint32_t number) {
    const xpu_codegen_layer *layer = &cg->layers.items[index];
    xpu_text_add(text, "/* %s */\nstatic xpu_ticket %s(const void *plan, xpu_ticket after) {\n", layer->comment,
                 layer->identifier);
    xpu_text_add(text, "    const struct region_%u_plan *p = region_%u(plan);\n", number, number);
    for (uint32_t c = 0; c < layer->calls.count; c++) {
        const xpu_call *call = &layer->calls.items[c];
        int last = c + 1 == layer->calls.count;
        xpu_text_add(text, "    %s xpu_%s(&p->%s, ", last ? "return" : "after =", xpu_kernel_of(call->kernel)->name,
                     call->member);
        if (call->body) xpu_text_add(text, "%s, ", call->body);
        xpu_text_add(text, "%u, after);\n", index);
    }
    xpu_text_add(text, "}\n\n");
}

const char *xpu_emit_region(xpu_codegen *cg, uint32_t region) {
    uint32_t number = region + 1;
    if (!count_layers(cg, number)) return NULL;
    xpu_text text;
    xpu_text_init(&text, cg->arena);
    emit_header(cg, &text, number);
    emit_plan(cg, &text, number);
    for (uint32_t i = 0; i < cg->bodies.count; i++) {
        if (region_of_body(cg, cg->bodies.items[i].name) == number) emit_body(&text, &cg->bodies.items[i]);
    }
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        if (in_region(cg, i, number)) emit_layer(cg, &text, i, number);
    }
    return text.text;
}

/* ---- behind the regions ---- */

static void emit_host_layers(const xpu_codegen *cg, xpu_text *text) {
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        const xpu_codegen_layer *layer = &cg->layers.items[i];
        if (layer->calls.count) continue;
        xpu_text_add(text, "/* On the host: %s */\nstatic xpu_ticket %s(const void *plan, xpu_ticket after) {\n",
                     layer->comment, layer->identifier);
        xpu_text_add(text, "    (void)plan;\n    return xpu_host_call(%u, after);\n}\n\n", i);
    }
}

static void emit_plan_table(const xpu_codegen *cg, xpu_text *text) {
    xpu_text_add(text, "/* The plan table: the arguments of every kernel call. */\nstruct program_plan {\n");
    for (uint32_t i = 0; i < cg->job->region_count; i++) {
        if (count_layers(cg, i + 1)) xpu_text_add(text, "    struct region_%u_plan region_%u;\n", i + 1, i + 1);
    }
    xpu_text_add(text, "    uint32_t end;\n};\n"
                       "extern const uint32_t xpu_plan[];\n"
                       "__attribute__((section(\".xpu_plan\"), used)) const uint32_t\n"
                       "    xpu_plan[sizeof(struct program_plan) / sizeof(uint32_t)];\n\n");
    for (uint32_t i = 0; i < cg->job->region_count; i++) {
        if (!count_layers(cg, i + 1)) continue;
        xpu_text_add(text,
                     "static const struct region_%u_plan *region_%u(const void *plan) {\n"
                     "    return &((const struct program_plan *)plan)->region_%u;\n}\n",
                     i + 1, i + 1, i + 1);
    }
}

const char *xpu_emit_tail(xpu_codegen *cg) {
    xpu_text text;
    xpu_text_init(&text, cg->arena);
    xpu_text_add(&text, "#include \"xpu_runtime/include/xpu_kernels.h\"\n\n");
    emit_host_layers(cg, &text);
    emit_plan_table(cg, &text);
    xpu_text_add(&text, "\nconst xpu_layer_function xpu_layers[] = {\n");
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        xpu_text_add(&text, "    %s,\n", cg->layers.items[i].identifier);
    }
    xpu_text_add(&text, "    0,\n};\nconst uint32_t xpu_layer_count = sizeof xpu_layers / sizeof *xpu_layers - 1;\n\n");
    xpu_text_add(&text, "const uint8_t xpu_layers_ahead[] = {\n");
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        const char *name = xpu_escape(cg->arena, cg->program.layers.items[i].name, 80);
        xpu_text_add(&text, "    %d, /* %s */\n", cg->layers.items[i].called_ahead, name);
    }
    xpu_text_add(&text, "    0,\n};\n\n");
    xpu_text_add(&text,
                 "/* The weights: room only, their bytes are appended to the program after linking. */\n"
                 "__asm__(\".section .weights, \\\"aw\\\", @nobits\\n\"\n"
                 "        \".globl xpu_weights\\n\"\n"
                 "        \"xpu_weights: .zero %llu\\n\"\n"
                 "        \".previous\\n\");\n",
                 (unsigned long long)(cg->program.weights_bytes ? cg->program.weights_bytes : 64));
    return text.text;
}
