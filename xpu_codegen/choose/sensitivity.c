/*
 * Which results reach a logarithm, exponent, square root or divisor through linear operators: a small error becomes a
 * large one there.
 *
 * Not in norms and softmaxes, which end the way, however a model writes them: v / sqrt(mean(v * v) + epsilon) and
 * exp(v) / sum(exp(v)) are as exact as v is, as a root of a sum of squares is off by no more than v, and its quotient
 * with v has no scale. So has log(sum(exp(v))), which is linear in an error of v.
 *
 * Terms are values, and results of the steps of chains. Forwards each gets its form: what of a norm or softmax it is.
 * Backwards each learns whether it reaches a sensitive operator, and whether it is used otherwise than as a part of
 * its norm: only then its root, exponent or inverse is sensitive.
 */
#include "xpu_codegen/choose/sensitivity.h"

#include "core/ops/chain.h"
#include "core/ops/control.h"
#include "xpu_codegen/values.h"

typedef enum {
    FORM_NONE,
    FORM_SQUARE,         /* v * v */
    FORM_SUM_OF_SQUARES, /* along an axis, perhaps divided, and plus a number */
    FORM_LENGTH,         /* the square root of that */
    FORM_EXP,            /* v = exp(x) */
    FORM_SUM_OF_EXP,
    FORM_INVERSE /* 1 / length, 1 / sum of exponentials */
} norm_form;

/* By number; those of values are their ids, 0 is no term. */
typedef struct {
    norm_form form;
    uint32_t of;            /* v of the form */
    uint32_t made_from;     /* the term that gave it the form; 0: it starts it */
    uint32_t multiple_of;   /* this term times numbers or constants; itself where it is nothing else */
    uint32_t mean_of;       /* its mean along an axis */
    uint32_t centred, mean; /* it is `centred` without its mean */
    xpu_sensitive_use reaches;
    int is_free; /* used otherwise than as a part of a norm or softmax */
    int is_const;
} term;

typedef struct {
    const xpu_codegen *cg;
    term *terms;
    uint32_t count;
    uint32_t *first_step; /* by node id: the terms of its chain's steps; the last step's is the node's result */
    int changed;
} analysis;

/* ---- forms ---- */

static int is_const_term(const analysis *a, uint32_t number) {
    return a->terms[number].is_const;
}

static void set_form(analysis *a, uint32_t y, norm_form form, uint32_t of, uint32_t made_from) {
    a->terms[y].form = form;
    a->terms[y].of = of;
    a->terms[y].made_from = made_from;
}

static void keep_form(analysis *a, uint32_t y, uint32_t x) {
    if (a->terms[x].form != FORM_NONE) set_form(a, y, a->terms[x].form, a->terms[x].of, x);
}

static void keep_multiple(analysis *a, uint32_t y, uint32_t x) {
    a->terms[y].multiple_of = a->terms[x].multiple_of;
    keep_form(a, y, x);
}

/* Whether an epsilon is one: a constant without a negative element. */
static int is_positive(const analysis *a, uint32_t number) {
    const xpu_value value = {number};
    int64_t count = 1, dims[XPU_MAX_RANK];
    if (!is_const_term(a, number) || xpu_value_at(a->cg->graph, value)->dtype != XPU_F32) return 0;
    if (!xpu_value_dims(a->cg->graph, value, NULL, dims)) return 0;
    for (int i = 0; i < xpu_value_at(a->cg->graph, value)->rank; i++) count *= dims[i];
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(a->cg->arena), "epsilon");
    xpu_tensor tensor;
    int positive = xpu_const_tensor(a->cg->graph, value, arena, &tensor, a->cg->diags) == XPU_OK;
    for (int64_t i = 0; positive && i < count; i++) positive = ((const float *)tensor.data)[i] >= 0;
    xpu_arena_free(arena);
    return positive;
}

/* What stays what it is with a number added, or with a least value. */
static int is_sum(const analysis *a, uint32_t x) {
    norm_form form = a->terms[x].form;
    return form == FORM_SUM_OF_SQUARES || form == FORM_LENGTH || form == FORM_SUM_OF_EXP;
}

/* y is p or q, of which one is constant: a least length, or one of a vector without any. */
static void keep_form_beside(analysis *a, uint32_t y, uint32_t p, uint32_t q) {
    if (is_sum(a, p) && is_const_term(a, q)) keep_form(a, y, p);
    if (is_sum(a, q) && is_const_term(a, p)) keep_form(a, y, q);
}

static int is_divisor(const analysis *a, uint32_t x) {
    return a->terms[x].form == FORM_LENGTH || a->terms[x].form == FORM_SUM_OF_EXP;
}

static void keep_mean(analysis *a, uint32_t y, uint32_t x) {
    a->terms[y].mean_of = a->terms[x].mean_of;
}

/* Whether x times 1 / d, or x / d, is a norm or softmax, or the part of one that has the mean. */
static int is_whole(const analysis *a, uint32_t x, uint32_t d) {
    const term *v = &a->terms[a->terms[d].of];
    uint32_t base = a->terms[x].multiple_of;
    return base == a->terms[d].of || (v->centred && (base == v->centred || base == v->mean));
}

static int is_whole_quotient(const analysis *a, uint32_t x, uint32_t d) {
    return is_divisor(a, d) && is_whole(a, x, d);
}

static int is_whole_product(const analysis *a, uint32_t x, uint32_t d) {
    return a->terms[d].form == FORM_INVERSE && is_whole(a, x, d);
}

static void form_product(analysis *a, uint32_t y, uint32_t p, uint32_t q) {
    if (p == q)
        set_form(a, y, FORM_SQUARE, a->terms[p].multiple_of, 0);
    else if (is_const_term(a, q))
        keep_multiple(a, y, p);
    else if (is_const_term(a, p))
        keep_multiple(a, y, q);
}

static void form_step(analysis *a, const xpu_chain_step *step, uint32_t y, const uint32_t *x) {
    const term *terms = a->terms;
    switch (step->op) {
    case XPU_EW_mul: form_product(a, y, x[0], x[1]); break;
    case XPU_EW_neg:
    case XPU_EW_identity:
    case XPU_EW_mul_scalar: keep_multiple(a, y, x[0]); break;
    case XPU_EW_convert:
        if (xpu_compute_of((xpu_dtype)step->dtype) == XPU_COMPUTE_F32) keep_multiple(a, y, x[0]);
        break;
    case XPU_EW_add_scalar:
        if (step->immediates[0] >= 0 && is_sum(a, x[0])) keep_form(a, y, x[0]);
        break;
    case XPU_EW_add:
        for (int i = 0; i < 2; i++) {
            if (is_sum(a, x[i]) && is_positive(a, x[1 - i])) keep_form(a, y, x[i]);
        }
        break;
    case XPU_EW_clip:
        if (is_sum(a, x[0])) keep_form(a, y, x[0]);
        break;
    case XPU_EW_max: keep_form_beside(a, y, x[0], x[1]); break;
    case XPU_EW_where: keep_form_beside(a, y, x[1], x[2]); break;
    case XPU_EW_sub:
        if (terms[x[1]].mean_of && terms[x[1]].mean_of == terms[x[0]].multiple_of) {
            a->terms[y].centred = terms[x[0]].multiple_of;
            a->terms[y].mean = terms[x[1]].multiple_of;
        }
        break;
    case XPU_EW_sqrt:
        if (terms[x[0]].form == FORM_SUM_OF_SQUARES) set_form(a, y, FORM_LENGTH, terms[x[0]].of, x[0]);
        break;
    case XPU_EW_exp: set_form(a, y, FORM_EXP, y, 0); break;
    case XPU_EW_reciprocal:
        if (is_divisor(a, x[0])) set_form(a, y, FORM_INVERSE, terms[x[0]].of, x[0]);
        break;
    case XPU_EW_div:
        if (is_const_term(a, x[1]))
            keep_multiple(a, y, x[0]);
        else if (is_const_term(a, x[0]) && is_divisor(a, x[1]))
            set_form(a, y, FORM_INVERSE, terms[x[1]].of, x[1]);
        break;
    default: break;
    }
}

static void form_reduction(analysis *a, uint32_t y, uint32_t x) {
    const term *from = &a->terms[x];
    a->terms[y].mean_of = from->mean_of ? from->mean_of : from->multiple_of;
    if (from->form == FORM_SQUARE || from->form == FORM_SUM_OF_SQUARES)
        set_form(a, y, FORM_SUM_OF_SQUARES, from->of, x);
    if (from->form == FORM_EXP || from->form == FORM_SUM_OF_EXP) set_form(a, y, FORM_SUM_OF_EXP, from->of, x);
}

/* The terms of a step's operands, and its own. */
static uint32_t step_terms(const analysis *a, xpu_node node, uint32_t s, uint32_t *operands) {
    const xpu_chain *chain = xpu_chain_of(a->cg->graph, node);
    const xpu_chain_step *step = &chain->steps[s];
    uint32_t first = a->first_step[node.id];
    for (int i = 0; i < xpu_elementwise_arity(step->op); i++) {
        uint32_t operand = step->operands[i];
        operands[i] = operand < chain->input_count ? xpu_node_input(a->cg->graph, node, operand).id
                                                   : first + operand - chain->input_count;
    }
    return s + 1 == chain->step_count ? xpu_node_output(a->cg->graph, node, 0).id : first + s;
}

static void form_node(analysis *a, xpu_node node) {
    const xpu_graph *graph = a->cg->graph;
    const xpu_node_info *info = xpu_node_at(graph, node);
    uint32_t operands[XPU_CHAIN_MAX_OPERANDS] = {0};
    if (info->block_count || !info->input_count || !info->output_count) return;
    uint32_t x = info->inputs[0].id, y = info->outputs[0].id;
    switch (xpu_op_id_of(info->op)) {
    case XPU_OP_CHAIN:
        for (uint32_t s = 0; s < xpu_chain_of(graph, node)->step_count; s++) {
            y = step_terms(a, node, s, operands);
            form_step(a, &xpu_chain_of(graph, node)->steps[s], y, operands);
        }
        return;
    case XPU_OP_REDUCE_SUM:
    case XPU_OP_REDUCE_MEAN:
    case XPU_OP_GLOBAL_AVERAGE_POOL: form_reduction(a, y, x); return;
    case XPU_OP_EXPAND:
        keep_form(a, y, x);
        keep_mean(a, y, x);
        return;
    default:
        if (!xpu_op_has(info->op, XPU_TRAIT_VIEW)) return;
        keep_multiple(a, y, x);
        keep_mean(a, y, x);
    }
}

/* ---- what reaches a sensitive operator ---- */

static void mark(analysis *a, uint32_t x, xpu_sensitive_use use) {
    if (!x || !use.what || a->terms[x].reaches.what) return;
    a->terms[x].reaches = use;
    a->changed = 1;
}

static void mark_free(analysis *a, uint32_t x) {
    if (!x || a->terms[x].is_free) return;
    a->terms[x].is_free = 1;
    a->changed = 1;
}

/* x is an operand of y: it is used as y is where y has its form from it. */
static void use(analysis *a, uint32_t x, uint32_t y) {
    if (a->terms[y].made_from != x || a->terms[y].is_free) mark_free(a, x);
}

/* x is an operand of y, which is linear in it, or may be of the same form. */
static void carry(analysis *a, uint32_t x, uint32_t y) {
    mark(a, x, a->terms[y].reaches);
    use(a, x, y);
}

/* x is the operand of y, which is sensitive unless it is a part of a norm or softmax. */
static void part(analysis *a, uint32_t x, uint32_t y, norm_form form, xpu_sensitive_use sensitive) {
    mark(a, x, a->terms[y].form == form && !a->terms[y].is_free ? a->terms[y].reaches : sensitive);
    use(a, x, y);
}

static void visit_quotient(analysis *a, uint32_t y, const uint32_t *x, xpu_node node) {
    if (is_whole_quotient(a, x[0], x[1])) return;
    carry(a, x[0], y);
    part(a, x[1], y, FORM_INVERSE, (xpu_sensitive_use){"the divisor", node});
}

static void visit_step(analysis *a, xpu_node node, uint32_t s) {
    const xpu_chain_step *step = &xpu_chain_of(a->cg->graph, node)->steps[s];
    uint32_t x[XPU_CHAIN_MAX_OPERANDS] = {0}, y = step_terms(a, node, s, x);
    const int arity = xpu_elementwise_arity(step->op);
    switch (step->op) {
    case XPU_EW_log:
        if (a->terms[x[0]].form == FORM_SUM_OF_EXP) {
            mark(a, x[0], a->terms[y].reaches);
            return;
        }
        mark(a, x[0], (xpu_sensitive_use){"the logarithm", node});
        mark_free(a, x[0]);
        return;
    case XPU_EW_sqrt: part(a, x[0], y, FORM_LENGTH, (xpu_sensitive_use){"the square root", node}); return;
    case XPU_EW_exp: part(a, x[0], y, FORM_EXP, (xpu_sensitive_use){"the exponent", node}); return;
    case XPU_EW_reciprocal: part(a, x[0], y, FORM_INVERSE, (xpu_sensitive_use){"the divisor", node}); return;
    case XPU_EW_div: visit_quotient(a, y, x, node); return;
    case XPU_EW_mul:
        if (!is_whole_product(a, x[0], x[1]) && !is_whole_product(a, x[1], x[0])) break;
        return;
    case XPU_EW_convert: /* what becomes an integer is off by less than 1, or by 1 and more: no matter of scale */
        if (xpu_compute_of((xpu_dtype)step->dtype) != XPU_COMPUTE_F32) {
            mark_free(a, x[0]);
            return;
        }
        break;
    case XPU_EW_where:
    case XPU_EW_add:
    case XPU_EW_sub:
    case XPU_EW_add_scalar:
    case XPU_EW_mul_scalar:
    case XPU_EW_mul_add: /* no front end and no pass makes one */
    case XPU_EW_neg:
    case XPU_EW_identity: break;
    case XPU_EW_equal:
    case XPU_EW_less:
    case XPU_EW_less_or_equal:
    case XPU_EW_greater:
    case XPU_EW_greater_or_equal: return;
    default: /* not linear; it may keep a form */
        for (int i = 0; i < arity; i++) {
            if (a->terms[y].made_from == x[i]) mark(a, x[i], a->terms[y].reaches);
            use(a, x[i], y);
        }
        return;
    }
    for (int i = 0; i < arity; i++) carry(a, x[i], y);
}

/* Whether a node other than a chain is linear in operand `input`. */
static int is_linear_in(const xpu_graph *graph, xpu_node node, uint32_t input) {
    const xpu_op *op = xpu_node_at(graph, node)->op;
    if (!xpu_op_has(op, XPU_TRAIT_LINEAR)) return 0;
    if (!xpu_op_has(op, XPU_TRAIT_PRODUCT)) return 1;
    if (input == XPU_IN_BRANCH && xpu_node_int(graph, node, XPU_ATTR_BRANCH_AFTER)) return 1;
    return xpu_node_int(graph, node, XPU_ATTR_ACTIVATION) == XPU_ACTIVATION_NONE;
}

static void visit_node(analysis *a, xpu_node node) {
    const xpu_graph *graph = a->cg->graph;
    const xpu_node_info *info = xpu_node_at(graph, node);
    if (xpu_node_is(graph, node, XPU_OP_CHAIN)) {
        for (uint32_t s = xpu_chain_of(graph, node)->step_count; s-- > 0;) visit_step(a, node, s);
        return;
    }
    for (uint32_t i = 0; i < info->input_count; i++) {
        uint32_t x = info->inputs[i].id, y = info->outputs[0].id;
        if (is_linear_in(graph, node, i)) mark(a, x, a->terms[y].reaches);
        use(a, x, y);
    }
}

/* A body's results are the node's, and a loop's carried ones its arguments of the next iteration; a first value is also
 * the last where no iteration runs. */
static void visit_bodies(analysis *a, xpu_node node) {
    const xpu_graph *graph = a->cg->graph;
    const xpu_node_info *info = xpu_node_at(graph, node);
    int is_loop = xpu_node_is(graph, node, XPU_OP_LOOP);
    const uint32_t own = is_loop ? XPU_BODY_NEXT : 0, carried = is_loop ? xpu_loop_of(graph, node).carried : 0;
    for (uint32_t b = 0; b < info->block_count; b++) {
        const xpu_block_info *body = xpu_block_at(graph, info->blocks[b]);
        for (uint32_t i = own; i < body->results.count; i++) {
            uint32_t result = body->results.items[i].id;
            mark(a, result, a->terms[info->outputs[i - own].id].reaches);
            if (i - own >= carried) continue;
            uint32_t argument = body->arguments.items[XPU_BODY_FIRST + i - own].id;
            mark(a, result, a->terms[argument].reaches);
            uint32_t first = info->inputs[XPU_LOOP_FIRST + i - own].id;
            mark(a, first, a->terms[argument].reaches);
            mark(a, first, a->terms[result].reaches);
        }
        for (uint32_t i = 0; xpu_node_is(graph, node, XPU_OP_REGION) && i < body->arguments.count; i++)
            mark(a, info->inputs[i].id, a->terms[body->arguments.items[i].id].reaches);
    }
    for (uint32_t i = 0; i < info->input_count; i++) mark_free(a, info->inputs[i].id);
}

/* Terms of all values and steps; results of blocks and programs are used. */
static analysis begin(const xpu_codegen *cg, xpu_arena *arena) {
    const xpu_graph *graph = cg->graph;
    uint32_t count = graph->values.count;
    analysis a = {.cg = cg, .first_step = XPU_NEW_ARRAY(arena, uint32_t, graph->nodes.count)};
    XPU_FOR_ALL_NODES(graph, node) {
        a.first_step[node.id] = count;
        if (xpu_node_is(graph, node, XPU_OP_CHAIN)) count += xpu_chain_of(graph, node)->step_count;
    }
    a.count = count;
    a.terms = XPU_NEW_ARRAY(arena, term, count);
    for (uint32_t i = 0; i < count; i++) a.terms[i].multiple_of = i;
    for (uint32_t i = 1; i < graph->values.count; i++) {
        a.terms[i].is_free = xpu_value_leaves(graph, (xpu_value){i});
        a.terms[i].is_const = xpu_is_const_value(cg, (xpu_value){i});
    }
    return a;
}

const xpu_sensitive_use *xpu_find_sensitive_uses(const xpu_codegen *cg, xpu_arena *arena) {
    const xpu_graph *graph = cg->graph;
    analysis a = begin(cg, arena);
    xpu_node *order = XPU_NEW_ARRAY(arena, xpu_node, graph->nodes.count);
    uint32_t count = 0;
    int has_bodies = 0;
    XPU_FOR_ALL_NODES(graph, node) {
        order[count++] = node;
        form_node(&a, node);
    }
    do { /* from the end backwards, bodies before their owner: once, but where bodies hand values on, until nothing
            changes */
        a.changed = 0;
        for (uint32_t i = count; i-- > 0;) {
            int is_control = xpu_node_at(graph, order[i])->block_count != 0;
            has_bodies |= is_control;
            if (is_control)
                visit_bodies(&a, order[i]);
            else
                visit_node(&a, order[i]);
        }
    } while (has_bodies && a.changed);
    xpu_sensitive_use *uses = XPU_NEW_ARRAY(arena, xpu_sensitive_use, graph->values.count);
    for (uint32_t i = 1; i < graph->values.count; i++) uses[i] = a.terms[i].reaches;
    for (uint32_t i = 1; i < graph->values.count; i++) uses[i].in_norm = a.terms[i].form != FORM_NONE;
    for (uint32_t i = 1; i < a.count; i++) {
        if (a.terms[i].mean && a.terms[i].mean < graph->values.count) uses[a.terms[i].mean].in_norm = 1;
    }
    return uses;
}
