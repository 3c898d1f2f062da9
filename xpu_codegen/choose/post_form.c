#include "xpu_codegen/choose/post_form.h"

#include <math.h>

#include "xpu_runtime/include/generated/xpu_chip_regs.h"

/* What the post-processor does, one behind the other; each may be left out. */
typedef enum { END, SCALE, BIAS, ACTIVATION, SUM, PRODUCT, CLIP, SWISH, FACTOR, ADDEND } stage;

enum { MOST_STAGES = 6 };

/* The forms, one row each; the first that fits is taken. */
static const stage forms[][MOST_STAGES] = {
    {SCALE, BIAS, ACTIVATION, SUM, CLIP},
    {SCALE, BIAS, SUM, ACTIVATION, CLIP},
    {SCALE, BIAS, PRODUCT, ACTIVATION, CLIP},
    {SCALE, BIAS, SWISH, FACTOR},
    {SCALE, BIAS, SWISH, ADDEND},
};

typedef struct {
    const uint8_t *is_vector;
    const stage *at;   /* the next stage that may be taken */
    int inputs, value; /* value: the number of what was computed last */
    xpu_post_form *form;
} reader;

/* A step of one operation, of the value and perhaps another operand. */
typedef struct {
    xpu_elementwise op;
    int other;     /* XPU_NO_OPERAND: none */
    int is_second; /* the value is the second of two */
    const float *numbers;
} operation;

/* A number for each channel as the scale: no factor was there before. */
static int take_scale(reader *r, const operation *o) {
    xpu_post_form *form = r->form;
    if (o->op == XPU_EW_mul_scalar || o->op == XPU_EW_neg) {
        form->factor = o->op == XPU_EW_neg ? -1.0f : o->numbers[0];
        return 1;
    }
    if (o->op != XPU_EW_mul || o->other == XPU_NO_OPERAND || !r->is_vector[o->other]) return 0;
    form->scale = o->other;
    return 1;
}

/* v + operand, or operand - v where v is x times a number: that is x times less the number, plus the operand. */
static int take_sum(reader *r, const operation *o, int *operand, int wants_vector) {
    if (o->other == XPU_NO_OPERAND || (wants_vector && !r->is_vector[o->other])) return 0;
    const int is_difference = o->op == XPU_EW_sub && o->is_second;
    if (o->op != XPU_EW_add && !is_difference) return 0;
    if (is_difference && (r->form->scale >= 0 || r->form->bias >= 0 || r->form->activation != XPU_ACT_NONE)) return 0;
    if (is_difference) r->form->factor = -r->form->factor;
    *operand = o->other;
    return 1;
}

static int take_limits(const operation *o, float *low, float *high) {
    if (o->op != XPU_EW_relu && o->op != XPU_EW_clip) return 0;
    *low = o->op == XPU_EW_relu ? 0.0f : o->numbers[0];
    *high = o->op == XPU_EW_relu ? INFINITY : o->numbers[1];
    return 1;
}

static int take_activation(reader *r, const operation *o) {
    xpu_post_form *form = r->form;
    const int is_leaky = o->op == XPU_EW_leaky_relu;
    if (!is_leaky && !take_limits(o, &form->low, &form->high)) return 0;
    form->activation = is_leaky ? XPU_ACT_LEAKY : XPU_ACT_CLIP;
    if (is_leaky) form->slope = o->numbers[0];
    form->branch_after = form->branch >= 0;
    return 1;
}

/* The result is fma(hard swish, ra, f): of a factor and an addend one rounding would be lost. */
static int take_swish(reader *r, const operation *o) {
    if (o->op != XPU_EW_hard_swish) return 0;
    r->form->activation = XPU_ACT_HARD_SWISH;
    r->form->ra = 1.0f;
    r->form->f = -0.0f;
    return 1;
}

static int take_number(reader *r, const operation *o, xpu_elementwise op, float *number) {
    if (o->op != op || r->form->activation != XPU_ACT_HARD_SWISH) return 0;
    *number = o->numbers[0];
    return 1;
}

/* Whether the post-processor does the operation as this stage. */
static int take_as(reader *r, stage as, const operation *o) {
    xpu_post_form *form = r->form;
    switch (as) {
    case SCALE: return take_scale(r, o);
    case BIAS: return take_sum(r, o, &form->bias, 1);
    case SUM: return take_sum(r, o, &form->branch, 0);
    case PRODUCT:
        if (o->op != XPU_EW_mul || o->other == XPU_NO_OPERAND) return 0;
        form->branch = o->other;
        return form->is_product = 1;
    case ACTIVATION: return take_activation(r, o);
    case CLIP: return form->clips_last = take_limits(o, &form->ra, &form->rb);
    case SWISH: return take_swish(r, o);
    case FACTOR: return take_number(r, o, XPU_EW_mul_scalar, &form->ra);
    case ADDEND: return take_number(r, o, XPU_EW_add_scalar, &form->f);
    default: return 0;
    }
}

static int take(reader *r, const operation *o) {
    while (*r->at != END) {
        if (take_as(r, *r->at++, o)) return 1;
    }
    return 0;
}

/* The step as an operation of r->value and an operand of the chain, in that order or the other. */
static int take_pair(reader *r, xpu_elementwise op, int a, int b) {
    const int is_second = a != r->value, other = is_second ? a : b;
    if ((is_second && b != r->value) || other >= r->inputs) return 0;
    return take(r, &(operation){.op = op, .other = other, .is_second = is_second});
}

static int take_step(reader *r, const xpu_chain_step *step) {
    const int a = step->operands[0];
    if (step->op == XPU_EW_mul_add) {
        const int c = step->operands[2];
        if (!take_pair(r, XPU_EW_mul, a, step->operands[1]) || c >= r->inputs) return 0;
        return take(r, &(operation){.op = XPU_EW_add, .other = c});
    }
    if (xpu_elementwise_arity(step->op) == 2) return take_pair(r, step->op, a, step->operands[1]);
    if (xpu_elementwise_arity(step->op) != 1 || a != r->value) return 0;
    return take(r, &(operation){.op = step->op, .other = XPU_NO_OPERAND, .numbers = step->immediates});
}

static int is_form(const xpu_chain *chain, const uint8_t *is_vector, int x, uint32_t row, xpu_post_form *form) {
    reader r = {is_vector, forms[row], (int)chain->input_count, x, form};
    *form = (xpu_post_form){
        .x = x, .scale = XPU_NO_OPERAND, .bias = XPU_NO_OPERAND, .branch = XPU_NO_OPERAND, .factor = 1.0f};
    for (uint32_t s = 0; s < chain->step_count; s++) {
        if (!take_step(&r, &chain->steps[s])) return 0;
        r.value = r.inputs + (int)s;
    }
    return 1;
}

/* A number of each column comes sooner as a branch that is the same row for all: the engine gets scales and biases
 * ready one in a cycle, for each group of columns of a step. */
static void prefer_branch(xpu_post_form *form) {
    if (form->branch >= 0 || form->activation == XPU_ACT_HARD_SWISH) return;
    if (form->bias >= 0) {
        form->branch = form->bias;
        form->bias = XPU_NO_OPERAND;
        form->branch_after = form->activation != XPU_ACT_NONE;
    } else if (form->scale >= 0) {
        form->branch = form->scale;
        form->scale = XPU_NO_OPERAND;
        form->is_product = 1;
    }
}

int xpu_post_form_of(const xpu_chain *chain, const uint8_t *is_vector, xpu_post_form *form) {
    const xpu_chain_step *first = chain->steps;
    if (!chain->step_count) return 0;
    for (int i = 0; i < 2 && i < xpu_elementwise_arity(first->op); i++) {
        const int x = first->operands[i];
        if (x >= (int)chain->input_count || is_vector[x]) continue;
        for (uint32_t row = 0; row < sizeof forms / sizeof *forms; row++)
            if (is_form(chain, is_vector, x, row, form)) {
                prefer_branch(form);
                return 1;
            }
    }
    return 0;
}
