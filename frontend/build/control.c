/* Branches and loops. Types of results that only a run knows are worked out here: core/ops/control.h says in what form.
 */
#include "core/ops/control.h"

#include <string.h>

#include "frontend/build/counted.h"

/* ---- problems of bodies ---- */

/* Types and shapes that do not fit: a body of which that is said may stand where it never runs. */
static int may_raise(const xpu_diags *diags) {
    static const char *const rules[] = {"shape-", "dtype-", "onnx-shape", "onnx-dtype", "paddle-shape", "control-"};
    int found = 0;
    for (size_t i = 0; i < diags->count; i++) {
        const xpu_diag *item = &diags->items[i];
        if (item->severity != XPU_SEVERITY_ERROR) continue;
        int known = 0;
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
            known |= strncmp(item->rule, rules[k], strlen(rules[k])) == 0;
        }
        if (!known || item->status != XPU_EMODEL) return 0;
        found = 1;
    }
    return found;
}

static void pass_on(const fe_builder *b, const xpu_diags *diags, int errors) {
    for (size_t i = 0; i < diags->count; i++) {
        const xpu_diag *d = &diags->items[i];
        if (d->severity == XPU_SEVERITY_ERROR && !errors) continue;
        xpu_diag_add(b->diags, d->severity, d->status, d->file, d->rule, d->where, d->what, d->why, d->hint);
    }
}

static const xpu_diag *first_error(const xpu_diags *diags) {
    for (size_t i = 0; i < diags->count; i++) {
        if (diags->items[i].severity == XPU_SEVERITY_ERROR) return &diags->items[i];
    }
    return NULL;
}

/* ---- dims inside of bodies and around them ---- */

/* A dim as data: an int64 scalar. */
static xpu_value dim_value(fe_builder *b, xpu_dim dim) {
    int64_t value;
    if (xpu_dim_is_const(&b->graph->dims, dim, &value)) return fe_integer(b, XPU_I64, value);
    xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(VALUES, &dim, 1), XPU_ATTR_INT_OF(DTYPE, XPU_I64)};
    return fe_node(b, XPU_OP_DIM_VALUES, NULL, 0, attrs, 2, 0);
}

/* The value as a dim, where it is known as one. */
static xpu_dim known_dim(fe_builder *b, xpu_value value) {
    xpu_dim list[XPU_MOST_KNOWN];
    return value.id && xpu_value_as_dims(b->graph, value, list) == 1 ? list[0] : (xpu_dim){0};
}

static int is_known_bool(fe_builder *b, xpu_value value, int wanted) {
    const xpu_const *constant = xpu_value_at(b->graph, value)->constant;
    xpu_tensor tensor;
    if (!constant || xpu_const_tensor(b->graph, value, b->scratch, &tensor, b->diags) != XPU_OK) return 0;
    return tensor.dtype == XPU_BOOL && xpu_tensor_count(&tensor) == 1 && *(const uint8_t *)tensor.data == wanted;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* A node of control flow: the operator's results have its names; `extra` ones stand behind the first `first`. */
static xpu_node add_control(fe_builder *b, xpu_op_id op, const xpu_value *inputs, uint32_t input_count, uint32_t first,
                            uint32_t extra, uint32_t output_count) {
    const char **names = XPU_NEW_ARRAY(b->scratch, const char *, output_count);
    for (uint32_t i = 0; i < b->name_count; i++) {
        uint32_t at = i < first ? i : i + extra;
        if (!b->inner && at < output_count && b->names[i] && b->names[i][0]) names[at] = b->names[i];
    }
    return xpu_graph_add(b->graph, (xpu_node){0}, xpu_op_of(op), inputs, input_count, names, output_count, NULL, 0,
                         &b->origin, 1);
}

/* ---- if ---- */

typedef struct {
    fe_builder *b;
    xpu_node node;
    xpu_block blocks[XPU_BRANCHES];
    xpu_diags *diags[XPU_BRANCHES];
    int raises[XPU_BRANCHES];
    xpu_value *results[XPU_BRANCHES];
    uint32_t count;
} branching;

/* 0: the model cannot be read. */
static int read_branch(branching *p, uint32_t branch, const fe_bodies *bodies) {
    xpu_graph *graph = p->b->graph;
    p->blocks[branch] = xpu_graph_block(graph, p->node);
    p->diags[branch] = xpu_diags_new(p->b->scratch);
    xpu_graph_mark mark = xpu_graph_mark_now(graph);
    xpu_block around = xpu_graph_enter(graph, p->blocks[branch]);
    int ok = bodies->read(bodies->context, branch, NULL, p->results[branch], p->diags[branch]);
    xpu_graph_enter(graph, around);
    if (ok && !p->diags[branch]->errors) {
        pass_on(p->b, p->diags[branch], 0);
        return 1;
    }
    p->raises[branch] = may_raise(p->diags[branch]);
    if (p->raises[branch]) xpu_graph_take_back(graph, &mark);
    return p->raises[branch];
}

/* The branch that cannot run has the other one's types. A dim that only the other one knows becomes its least. */
static void raise(branching *p, uint32_t branch) {
    fe_builder *b = p->b;
    const xpu_diag *error = first_error(p->diags[branch]);
    const char *reason = fe_format(b, "%s%s%s%s%s", error->where ? error->where : "", error->where ? ": " : "",
                                   error->what, error->why ? "; " : "", error->why ? error->why : "");
    xpu_diag_add(b->diags, XPU_SEVERITY_NOTE, XPU_OK, b->file, "control-raise", b->where,
                 fe_format(b, "its %s branch cannot run, and ends the run where it is chosen",
                           branch == XPU_THEN ? "then" : "else"),
                 reason, NULL);
    xpu_block around = xpu_graph_enter(b->graph, p->blocks[branch]);
    for (uint32_t i = 0; i < p->count; i++) {
        const xpu_value_info info = *fe_info(b, p->results[!branch][i]);
        xpu_dim dims[XPU_MAX_RANK];
        for (int d = 0; d < info.rank; d++) {
            int inner = fe_dim_is_inner(b->graph, info.dims[d], p->blocks[!branch]);
            int64_t least = xpu_dim_min(&b->graph->dims, info.dims[d]);
            dims[d] = inner ? xpu_dim_const(&b->graph->dims, least > 0 ? least : 0) : info.dims[d];
        }
        xpu_attr attrs[] = {XPU_ATTR_INT_OF(DTYPE, info.dtype), XPU_ATTR_DIMS_OF(SHAPE, dims, (uint32_t)info.rank),
                            XPU_ATTR_STRING_OF(REASON, reason)};
        p->results[branch][i] = fe_node(b, XPU_OP_RAISE, NULL, 0, attrs, 3, 0);
    }
    xpu_graph_enter(b->graph, around);
}

/* The dim of a result that differs by branch: a symbol that one more result of the node defines. */
static xpu_dim chosen_dim(branching *p, const xpu_dim *sides) {
    fe_builder *b = p->b;
    xpu_dims *dims = &b->graph->dims;
    for (uint32_t i = 0; i < XPU_BRANCHES; i++) {
        xpu_block around = xpu_graph_enter(b->graph, p->blocks[i]);
        xpu_block_add_result(b->graph, p->blocks[i], dim_value(b, sides[i]));
        xpu_graph_enter(b->graph, around);
    }
    xpu_value size = xpu_node_add_output(b->graph, p->node, NULL);
    xpu_dim bound = {0};
    if (!fe_dim_is_inner(b->graph, sides[0], p->blocks[0]) && !fe_dim_is_inner(b->graph, sides[1], p->blocks[1]))
        bound = xpu_dim_op(dims, XPU_DIM_MAX, sides[0], sides[1]);
    int64_t min = xpu_dim_min(dims, sides[0]), other = xpu_dim_min(dims, sides[1]);
    int64_t max = larger(xpu_dim_max(dims, sides[0]), xpu_dim_max(dims, sides[1]));
    if (other < min) min = other;
    return xpu_dim_new_symbol(dims, fe_format(b, "%s/dim", b->names[0][0] ? b->names[0] : "if"), min > 0 ? min : 0, max,
                              size, 0, bound);
}

static void join_result(branching *p, uint32_t i) {
    fe_builder *b = p->b;
    const xpu_value_info then_info = *fe_info(b, p->results[XPU_THEN][i]);
    const xpu_value_info else_info = *fe_info(b, p->results[XPU_ELSE][i]);
    if (then_info.rank != else_info.rank || then_info.dtype != else_info.dtype) return; /* inference says so */
    xpu_dim dims[XPU_MAX_RANK];
    for (int d = 0; d < then_info.rank; d++) {
        xpu_dim sides[] = {then_info.dims[d], else_info.dims[d]};
        int same =
            xpu_dim_same(&b->graph->dims, sides[0], sides[1]) && !fe_dim_is_inner(b->graph, sides[0], p->blocks[0]);
        dims[d] = same ? sides[0] : chosen_dim(p, sides);
    }
    xpu_value_info *result = xpu_value_at(b->graph, xpu_node_output(b->graph, p->node, i));
    result->rank = then_info.rank;
    memcpy(result->dims, dims, sizeof dims);
}

int fe_if(fe_builder *b, xpu_value condition, const fe_bodies *bodies, uint32_t result_count, xpu_value *results) {
    branching p = {.b = b, .count = result_count};
    size_t errors = b->diags->errors;
    if (!condition.id) return 0;
    p.node = add_control(b, XPU_OP_IF, &condition, 1, result_count, 0, result_count);
    for (uint32_t i = 0; i < XPU_BRANCHES; i++) {
        p.results[i] = XPU_NEW_ARRAY(b->scratch, xpu_value, result_count);
        if (read_branch(&p, i, bodies)) continue;
        pass_on(b, p.diags[i], 1);
        return 0;
    }
    if (p.raises[XPU_THEN] && p.raises[XPU_ELSE]) { /* no path is left */
        pass_on(b, p.diags[XPU_THEN], 1);
        return 0;
    }
    for (uint32_t i = 0; i < XPU_BRANCHES; i++) {
        if (p.raises[i]) raise(&p, i);
    }
    for (uint32_t i = 0; i < XPU_BRANCHES; i++) {
        for (uint32_t k = 0; k < result_count; k++) xpu_block_add_result(b->graph, p.blocks[i], p.results[i][k]);
    }
    for (uint32_t i = 0; i < result_count; i++) join_result(&p, i);
    if (b->diags->errors == errors) xpu_op_infer(b->graph, p.node, b->diags);
    for (uint32_t i = 0; i < result_count; i++) results[i] = xpu_node_output(b->graph, p.node, i);
    return b->diags->errors == errors;
}

/* ---- loop ---- */

/* How a dim of a carried value changes. */
typedef enum {
    STAYS,  /* as before the loop */
    TRIED,  /* it does not: what an iteration makes of any size is looked at */
    GROWS,  /* by `step` in each iteration */
    CHANGES /* anything: one more carried value says what it is */
} change;

typedef struct {
    change how;
    xpu_dim first, step; /* before the loop; what an iteration adds */
    int64_t least, most; /* TRIED, CHANGES: what it is between, in the body and behind the loop */
    int64_t most_inside; /* in the body */
    int is_followed;     /* both were found iteration by iteration */
    int is_guessed;      /* GROWS: as what a counter says of the first iteration */
} carried_dim;

typedef struct {
    fe_builder *b;
    const fe_looping *loop;
    fe_looping own;                    /* with what is found out about how often it runs */
    int64_t *steps;                    /* by carried value: what an iteration adds to a counter; 0: it is none */
    int is_counted;                    /* `own` says how often it runs at most; */
    int runs_so_often;                 /* exactly so often */
    carried_dim (*dims)[XPU_MAX_RANK]; /* by carried value */
    uint32_t extra;                    /* carried values that are dims */
    xpu_dim trips;                     /* how often at most; unknown: not known as an expression */
    xpu_dim iteration;
    xpu_node node;
    xpu_block body;
    xpu_value *arguments, *results; /* of the body as it is read */
    xpu_diags *diags;
} looping;

static int64_t most_trips(const looping *l) {
    int64_t most = l->trips.id ? xpu_dim_max(&l->b->graph->dims, l->trips) : XPU_LOOP_MOST_TRIPS;
    return most < 0 ? 0 : most < XPU_LOOP_MOST_TRIPS ? most : XPU_LOOP_MOST_TRIPS;
}

static xpu_dim new_symbol(const looping *l, const char *what, int64_t min, int64_t max, xpu_value value,
                          xpu_dim bound) {
    const char *name = l->b->names[0] && l->b->names[0][0] ? l->b->names[0] : "loop";
    return xpu_dim_new_symbol(&l->b->graph->dims, fe_format(l->b, "%s/%s", name, what), min, max, value, 0, bound);
}

static xpu_value number_argument(const looping *l, xpu_dtype dtype, int rank) {
    xpu_dim one = xpu_dim_const(&l->b->graph->dims, 1);
    return xpu_block_argument(l->b->graph, l->body, NULL, dtype, rank, &one);
}

/* The dim inside of the body; a new argument where a carried value says it. */
static xpu_dim inner_dim(looping *l, const carried_dim *dim) {
    xpu_dims *dims = &l->b->graph->dims;
    switch (dim->how) {
    case STAYS: return dim->first;
    case GROWS: return xpu_dim_add(dims, dim->first, xpu_dim_mul(dims, l->iteration, dim->step));
    case TRIED:
    case CHANGES: break;
    }
    xpu_value size = number_argument(l, XPU_I64, 0);
    return new_symbol(l, "dim", dim->least, dim->most_inside, size, (xpu_dim){0});
}

/* A counter is known as what it is in each iteration. */
static void say_counter(const looping *l, uint32_t i) {
    xpu_dims *dims = &l->b->graph->dims;
    xpu_dim first = known_dim(l->b, l->loop->first[i]);
    xpu_known known = {xpu_dim_add(dims, first, xpu_dim_mul_const(dims, l->iteration, l->steps[i])), 1};
    if (known.dim.id) xpu_value_set_known(l->b->graph, l->arguments[XPU_BODY_FIRST + i], &known, 1);
}

static void add_arguments(looping *l) {
    fe_builder *b = l->b;
    l->arguments[XPU_BODY_ITERATION] = number_argument(l, XPU_I64, l->loop->iteration_rank);
    l->arguments[XPU_BODY_CONDITION] = number_argument(l, XPU_BOOL, l->loop->condition_rank);
    int64_t most = most_trips(l);
    xpu_dim last = {0};
    if (l->trips.id) {
        xpu_dims *dims = &b->graph->dims;
        last = xpu_dim_add_const(dims, xpu_dim_op(dims, XPU_DIM_MAX, l->trips, xpu_dim_const(dims, 1)), -1);
    }
    l->iteration = new_symbol(l, "i", 0, most > 0 ? most - 1 : 0, l->arguments[XPU_BODY_ITERATION], last);
    xpu_known known = {l->iteration, 1};
    xpu_value_set_known(b->graph, l->arguments[XPU_BODY_ITERATION], &known, 1);
    for (uint32_t i = 0; i < l->loop->carried_count; i++) {
        const xpu_value_info info = *fe_info(b, l->loop->first[i]);
        l->arguments[XPU_BODY_FIRST + i] =
            xpu_block_argument(b->graph, l->body, NULL, info.dtype, info.rank, info.dims);
    }
    for (uint32_t i = 0; i < l->loop->carried_count; i++) { /* those that are dims stand behind all others */
        const int rank = fe_info(b, l->loop->first[i])->rank;
        for (int d = 0; d < rank; d++) {
            xpu_dim dim = inner_dim(l, &l->dims[i][d]);
            xpu_value_at(b->graph, l->arguments[XPU_BODY_FIRST + i])->dims[d] = dim;
        }
        if (l->steps[i]) say_counter(l, i);
    }
}

static uint32_t count_extra(const looping *l) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->loop->carried_count; i++) {
        const int rank = fe_info(l->b, l->loop->first[i])->rank;
        for (int d = 0; d < rank; d++) count += l->dims[i][d].how == TRIED || l->dims[i][d].how == CHANGES;
    }
    return count;
}

static void add_loop(looping *l) {
    fe_builder *b = l->b;
    const fe_looping *loop = l->loop;
    l->extra = count_extra(l);
    uint32_t count = XPU_LOOP_FIRST, results = loop->carried_count + loop->stacked_count;
    xpu_value *operands = XPU_NEW_ARRAY(b->scratch, xpu_value, XPU_LOOP_FIRST + loop->carried_count + l->extra);
    operands[XPU_LOOP_TRIPS] = loop->trips;
    operands[XPU_LOOP_CONDITION] = loop->condition;
    for (uint32_t i = 0; i < loop->carried_count; i++) operands[count++] = loop->first[i];
    for (uint32_t i = 0; i < loop->carried_count && l->extra; i++) {
        const xpu_value_info info = *fe_info(b, loop->first[i]);
        for (int d = 0; d < info.rank; d++) {
            int is_value = l->dims[i][d].how == TRIED || l->dims[i][d].how == CHANGES;
            if (is_value) operands[count++] = dim_value(b, info.dims[d]);
        }
    }
    l->node = add_control(b, XPU_OP_LOOP, operands, count, loop->carried_count, l->extra, results + l->extra + 1);
    l->body = xpu_graph_block(b->graph, l->node);
}

/* Reads the body with dims as they are thought to change. 0 after reporting. */
static int attempt(looping *l, const fe_bodies *bodies) {
    l->diags = xpu_diags_new(l->b->scratch);
    add_loop(l);
    add_arguments(l);
    xpu_block around = xpu_graph_enter(l->b->graph, l->body);
    int ok = bodies->read(bodies->context, 0, l->arguments, l->results, l->diags);
    xpu_graph_enter(l->b->graph, around);
    if (ok && !l->diags->errors) return 1;
    pass_on(l->b, l->diags, 1);
    return 0;
}

/* What an iteration makes of a dim at most when that is at most `most`; it is a symbol of the body. */
static int64_t most_of_next(const looping *l, xpu_dim now, int64_t most, xpu_dim next) {
    const xpu_graph *graph = l->b->graph;
    const xpu_dims *dims = &graph->dims;
    int64_t *symbols = XPU_NEW_ARRAY(l->b->scratch, int64_t, dims->symbols.count);
    for (uint32_t i = 0; i < dims->symbols.count; i++) symbols[i] = dims->symbols.items[i].max;
    symbols[xpu_dim_at(dims, now)->value] = most;
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        xpu_dim bound = dims->symbols.items[i].bound;
        int64_t limit = bound.id ? xpu_dim_between(graph, bound, symbols).max : symbols[i];
        if (limit < symbols[i]) symbols[i] = limit;
    }
    return xpu_dim_between(graph, next, symbols).max;
}

/* How large the dim gets, iteration by iteration, until it grows no more or the loop ends. 0: nobody knows. */
static int follow(const looping *l, carried_dim *dim, xpu_dim now, xpu_dim next) {
    enum { FOLLOWED = 1000 };
    const int64_t trips = most_trips(l);
    dim->most = dim->most_inside = xpu_dim_max(&l->b->graph->dims, dim->first);
    if (xpu_dim_at(&l->b->graph->dims, now)->kind != XPU_DIM_SYMBOL) return 0;
    for (int64_t i = 0; i < trips; i++) {
        dim->most_inside = dim->most;
        dim->most = larger(dim->most, most_of_next(l, now, dim->most, next));
        if (dim->most == dim->most_inside) return 1;
        if (i == FOLLOWED || dim->most >= XPU_LOOP_MOST_TRIPS) return 0;
    }
    return 1;
}

/* The dim may be anything from now on; `bounded`: as far as can be followed. */
static void let_change(const looping *l, carried_dim *dim, int bounded, xpu_dim now, xpu_dim next) {
    const xpu_dims *dims = &l->b->graph->dims;
    dim->how = CHANGES;
    dim->is_followed = bounded && follow(l, dim, now, next);
    if (!dim->is_followed) dim->most = dim->most_inside = XPU_LOOP_MOST_TRIPS;
    dim->least = 0;
    if (!bounded) return;
    dim->least = xpu_dim_min(dims, dim->first) < xpu_dim_min(dims, next) ? xpu_dim_min(dims, dim->first)
                                                                         : xpu_dim_min(dims, next);
    if (dim->least < 0) dim->least = 0;
}

static void try_any(const looping *l, carried_dim *dim) {
    const int64_t least = xpu_dim_min(&l->b->graph->dims, dim->first);
    *dim = (carried_dim){
        .how = TRIED, .first = dim->first, .most = XPU_LOOP_MOST_TRIPS, .most_inside = XPU_LOOP_MOST_TRIPS};
    if (least > 0) dim->least = least;
}

/* A counter says where the loop writes: what it adds in the first iteration it may add in all. */
static int is_guess(const looping *l, carried_dim *dim, xpu_dim now, xpu_dim next) {
    xpu_dims *dims = &l->b->graph->dims;
    if (!l->loop->counts || xpu_dim_at(dims, l->iteration)->kind != XPU_DIM_SYMBOL) return 0;
    if (!xpu_dim_has_symbol(dims, next, (uint32_t)xpu_dim_at(dims, l->iteration)->value)) return 0;
    xpu_dim step = xpu_dim_add(dims, fe_dim_with(dims, next, l->iteration, 0), xpu_dim_mul_const(dims, now, -1));
    if (!step.id || fe_dim_is_inner(l->b->graph, step, l->body) || xpu_dim_min(dims, step) < 0) return 0;
    *dim = (carried_dim){.how = GROWS, .first = dim->first, .step = step, .is_guessed = 1};
    return 1;
}

/* What an iteration makes of a dim, and whether that is what was thought. */
static int is_confirmed(looping *l, carried_dim *dim, xpu_dim now, xpu_dim next) {
    xpu_dims *dims = &l->b->graph->dims;
    xpu_dim step = xpu_dim_add(dims, next, xpu_dim_mul_const(dims, now, -1));
    switch (dim->how) {
    case STAYS:
        if (xpu_dim_same(dims, now, next)) return 1;
        if (is_guess(l, dim, now, next)) return 0;
        try_any(l, dim);
        return 0;
    case TRIED:
        if (step.id && !fe_dim_is_inner(l->b->graph, step, l->body) && xpu_dim_min(dims, step) >= 0) {
            dim->how = GROWS;
            dim->step = step;
        } else {
            let_change(l, dim, 1, now, next);
        }
        return 0;
    case GROWS:
        if (step.id && xpu_dim_same(dims, step, dim->step)) return 1;
        if (dim->is_guessed) {
            try_any(l, dim);
            return 0;
        }
        let_change(l, dim, 0, now, next);
        return 0;
    case CHANGES:
        if (dim->least == 0 || dim->least <= xpu_dim_min(dims, next)) return 1;
        dim->least = 0;
        return 0;
    }
    return 1;
}

static int same_kind(const looping *l, uint32_t i) {
    const xpu_value_info *now = fe_info(l->b, l->arguments[XPU_BODY_FIRST + i]);
    const xpu_value_info *next = fe_info(l->b, l->results[XPU_BODY_NEXT + i]);
    return now->rank == next->rank && now->dtype == next->dtype;
}

static int all_confirmed(looping *l) {
    int confirmed = 1;
    for (uint32_t i = 0; i < l->loop->carried_count; i++) {
        if (!same_kind(l, i)) continue; /* inference says so */
        const int rank = fe_info(l->b, l->loop->first[i])->rank;
        for (int d = 0; d < rank; d++) {
            xpu_dim now = fe_info(l->b, l->arguments[XPU_BODY_FIRST + i])->dims[d];
            xpu_dim next = fe_info(l->b, l->results[XPU_BODY_NEXT + i])->dims[d];
            confirmed &= is_confirmed(l, &l->dims[i][d], now, next);
        }
    }
    return confirmed;
}

/* Finds counters, then how often the body runs; 0 where something was found. */
static int nothing_found(looping *l) {
    fe_builder *b = l->b;
    int nothing = 1;
    if (!l->loop->counts || l->is_counted) return 1;
    for (uint32_t i = 0; i < l->loop->carried_count; i++) {
        if (l->steps[i] || !known_dim(b, l->loop->first[i]).id) continue;
        nothing &= !fe_is_counter(b, l->arguments[XPU_BODY_FIRST + i], l->results[XPU_BODY_NEXT + i], &l->steps[i]);
    }
    if (!nothing || l->loop->trips.id || !l->loop->condition.id) return nothing;
    const fe_counting form = {.goes_on = l->results[XPU_BODY_GOES_ON],
                              .first = l->loop->condition,
                              .iteration = l->iteration,
                              .body = l->body};
    l->trips = fe_count_trips(b, &form, &l->runs_so_often);
    l->is_counted = l->trips.id != 0;
    return !l->is_counted;
}

/* Nothing but the trip count ends the loop. */
static int runs_all(const looping *l) {
    fe_builder *b = l->b;
    xpu_value again = l->results[XPU_BODY_GOES_ON];
    while (fe_info(b, again)->kind == XPU_VALUE_NODE && xpu_node_is(b->graph, fe_info(b, again)->node, XPU_OP_IDENTITY))
        again = xpu_node_input(b->graph, fe_info(b, again)->node, 0);
    if (l->loop->condition.id && !is_known_bool(b, l->loop->condition, 1)) return 0;
    return again.id == l->arguments[XPU_BODY_CONDITION].id || is_known_bool(b, again, 1);
}

static xpu_value always(fe_builder *b) {
    uint8_t yes = 1;
    xpu_tensor tensor = {.dtype = XPU_BOOL, .rank = 0, .data = &yes};
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

static void add_results(looping *l) {
    fe_builder *b = l->b;
    const fe_looping *loop = l->loop;
    for (uint32_t i = 0; i < XPU_BODY_NEXT + loop->carried_count; i++) {
        xpu_block_add_result(b->graph, l->body, l->results[i]);
    }
    xpu_block around = xpu_graph_enter(b->graph, l->body);
    for (uint32_t i = 0; i < loop->carried_count; i++) {
        const xpu_value_info next = *fe_info(b, l->results[XPU_BODY_NEXT + i]);
        for (int d = 0; d < next.rank && same_kind(l, i); d++) {
            if (l->dims[i][d].how == CHANGES) xpu_block_add_result(b->graph, l->body, dim_value(b, next.dims[d]));
        }
    }
    xpu_graph_enter(b->graph, around);
    for (uint32_t i = 0; i < loop->stacked_count; i++) {
        xpu_block_add_result(b->graph, l->body, l->results[XPU_BODY_NEXT + loop->carried_count + i]);
    }
}

/* How often the body runs. */
static xpu_dim count_of(const looping *l, xpu_value count) {
    xpu_dims *dims = &l->b->graph->dims;
    xpu_dim none = xpu_dim_const(dims, 0);
    if (l->loop->condition.id && is_known_bool(l->b, l->loop->condition, 0)) return none;
    if (l->trips.id && runs_all(l)) return xpu_dim_op(dims, XPU_DIM_MAX, l->trips, none);
    xpu_dim bound = l->trips.id ? xpu_dim_op(dims, XPU_DIM_MAX, l->trips, none) : l->trips;
    return new_symbol(l, "trips", 0, most_trips(l), count, bound);
}

static int set_stack(looping *l, uint32_t i, xpu_dim count) {
    fe_builder *b = l->b;
    const uint32_t output = l->loop->carried_count + i;
    const xpu_value_info entry = *fe_info(b, l->results[XPU_BODY_NEXT + output]);
    xpu_value_info *stack = xpu_value_at(b->graph, xpu_node_output(b->graph, l->node, output + l->extra));
    stack->rank = entry.rank + 1;
    stack->dims[0] = count;
    for (int d = 0; d < entry.rank; d++) {
        if (entry.rank + 1 > XPU_MAX_RANK || fe_dim_is_inner(b->graph, entry.dims[d], l->body)) {
            fe_refuse(b, FE_SHAPE, fe_format(b, "output %u has not the same shape in all iterations", output),
                      fe_format(b, "it is %s", fe_shape_text(b, l->results[XPU_BODY_NEXT + output])),
                      "carry the value and append to it");
            return 0;
        }
        stack->dims[d + 1] = entry.dims[d];
    }
    return 1;
}

/* Dims of results that change, in terms of how often the body has run. */
static int set_types(looping *l) {
    fe_builder *b = l->b;
    xpu_dims *dims = &b->graph->dims;
    uint32_t extra = l->loop->carried_count;
    const uint32_t last = xpu_node_at(b->graph, l->node)->output_count - 1;
    xpu_dim count = {0};
    for (uint32_t i = 0; i < l->loop->carried_count; i++) {
        const xpu_value_info first = *fe_info(b, l->loop->first[i]);
        xpu_value result = xpu_node_output(b->graph, l->node, i);
        xpu_value_at(b->graph, result)->rank = first.rank;
        for (int d = 0; d < first.rank; d++) {
            const carried_dim *dim = &l->dims[i][d];
            xpu_dim size = dim->first;
            if (dim->how == GROWS) {
                if (!count.id) count = count_of(l, xpu_node_output(b->graph, l->node, last));
                size = xpu_dim_add(dims, dim->first, xpu_dim_mul(dims, count, dim->step));
            } else if (dim->how == CHANGES) {
                size = new_symbol(l, "size", dim->least, dim->most, xpu_node_output(b->graph, l->node, extra++),
                                  (xpu_dim){0});
            }
            xpu_value_at(b->graph, result)->dims[d] = size;
        }
    }
    for (uint32_t i = 0; i < l->loop->stacked_count; i++) {
        if (!count.id) count = count_of(l, xpu_node_output(b->graph, l->node, last));
        if (!set_stack(l, i, count)) return 0;
    }
    return 1;
}

/* Takes back an attempt; what it has found about the dims stays. */
static void take_back(looping *l, const xpu_graph_mark *mark) {
    xpu_dims *dims = &l->b->graph->dims;
    const xpu_dim_node *nodes = xpu_copy(l->b->scratch, dims->nodes.items, dims->nodes.count * sizeof *nodes);
    xpu_graph_take_back(l->b->graph, mark);
    const uint32_t kept = dims->nodes.count;
    for (uint32_t i = 0; i < l->loop->carried_count; i++) {
        const int rank = fe_info(l->b, l->loop->first[i])->rank;
        for (int d = 0; d < rank; d++) {
            carried_dim *dim = &l->dims[i][d];
            if (dim->how == GROWS) dim->step = fe_dim_again(dims, nodes, kept, dim->step);
        }
    }
    if (l->is_counted) l->trips = fe_dim_again(dims, nodes, kept, l->trips);
}

/* The trip count that was found becomes the loop's. */
static void count_trips(looping *l) {
    l->own = *l->loop;
    l->own.trips = dim_value(l->b, l->trips);
    if (l->runs_so_often) l->own.condition = (xpu_value){0};
    l->loop = &l->own;
}

static int read_loop(looping *l, const fe_bodies *bodies) {
    for (;;) {
        xpu_graph_mark mark = xpu_graph_mark_now(l->b->graph);
        if (!attempt(l, bodies)) return 0;
        int found = !nothing_found(l);
        if (!found && all_confirmed(l)) return 1;
        take_back(l, &mark);
        if (l->is_counted && l->loop != &l->own) count_trips(l);
    }
}

int fe_loop(fe_builder *b, const fe_looping *loop, const fe_bodies *bodies, xpu_value *results) {
    looping l = {.b = b, .loop = loop};
    size_t errors = b->diags->errors;
    uint32_t count = loop->carried_count + loop->stacked_count;
    l.dims = xpu_alloc_array(b->scratch, loop->carried_count + 1, sizeof *l.dims);
    for (uint32_t i = 0; i < loop->carried_count; i++) {
        if (!loop->first[i].id) return 0;
        const xpu_value_info *info = fe_info(b, loop->first[i]);
        for (int d = 0; d < info->rank; d++) l.dims[i][d] = (carried_dim){.how = STAYS, .first = info->dims[d]};
    }
    l.trips = known_dim(b, loop->trips);
    l.steps = XPU_NEW_ARRAY(b->scratch, int64_t, loop->carried_count + 1);
    l.arguments = XPU_NEW_ARRAY(b->scratch, xpu_value, XPU_BODY_FIRST + loop->carried_count);
    l.results = XPU_NEW_ARRAY(b->scratch, xpu_value, XPU_BODY_NEXT + count);
    if (!read_loop(&l, bodies)) return 0;
    pass_on(b, l.diags, 0);
    if (l.runs_so_often) l.results[XPU_BODY_GOES_ON] = always(b);
    add_results(&l);
    if (!set_types(&l)) return 0;
    xpu_op_infer(b->graph, l.node, b->diags);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t output = i < loop->carried_count ? i : i + l.extra;
        results[i] = xpu_node_output(b->graph, l.node, output);
    }
    return b->diags->errors == errors;
}

/* ---- scan ---- */

typedef struct {
    fe_builder *b;
    const fe_scanning *scan;
    const fe_bodies *bodies;
    xpu_dim length;
} scanning;

/* The slice of an input for this iteration, without the axis. */
static xpu_value slice_of(scanning *s, fe_builder *b, uint32_t i, xpu_dim iteration) {
    xpu_dims *dims = &b->graph->dims;
    xpu_value x = s->scan->inputs[i];
    const fe_scan_way *way = &s->scan->input_ways[i];
    const xpu_value_info info = *fe_info(b, x);
    const int axis = (int)way->axis;
    xpu_dim start = iteration, rest[XPU_MAX_RANK];
    if (way->backward)
        start = xpu_dim_add_const(dims, xpu_dim_add(dims, s->length, xpu_dim_mul_const(dims, iteration, -1)), -1);
    xpu_value part = fe_part(b, x, axis, start, xpu_dim_const(dims, 1), 1, 0);
    if (!part.id) return part;
    for (int d = 0; d + 1 < info.rank; d++) rest[d] = info.dims[d < axis ? d : d + 1];
    return fe_reshape_to(b, part, rest, info.rank - 1, 0);
}

static int read_scan(void *context, uint32_t body, const xpu_value *arguments, xpu_value *results, xpu_diags *diags) {
    scanning *s = context;
    const fe_scanning *scan = s->scan;
    fe_builder b = *s->b;
    b.diags = diags;
    xpu_dim iteration = known_dim(&b, arguments[XPU_BODY_ITERATION]);
    xpu_value *inner = XPU_NEW_ARRAY(b.scratch, xpu_value, scan->state_count + scan->input_count);
    for (uint32_t i = 0; i < scan->state_count; i++) inner[i] = arguments[XPU_BODY_FIRST + i];
    for (uint32_t i = 0; i < scan->input_count; i++) {
        inner[scan->state_count + i] = slice_of(s, &b, i, iteration);
        if (!inner[scan->state_count + i].id) return 0;
    }
    results[XPU_BODY_GOES_ON] = arguments[XPU_BODY_CONDITION];
    return s->bodies->read(s->bodies->context, body, inner, results + XPU_BODY_NEXT, diags);
}

/* A stack in the order and at the axis that is asked for. */
static xpu_value place_stack(fe_builder *b, xpu_value stack, const fe_scan_way *way) {
    const xpu_value_info info = *fe_info(b, stack);
    int axis = fe_axis(b, way->axis, info.rank);
    if (axis < 0) return (xpu_value){0};
    if (way->backward) {
        xpu_dim start = xpu_dim_add_const(&b->graph->dims, info.dims[0], -1);
        start = xpu_dim_op(&b->graph->dims, XPU_DIM_MAX, start, xpu_dim_const(&b->graph->dims, 0));
        stack = fe_part(b, stack, 0, start, info.dims[0], -1, axis == 0);
    }
    int64_t perm[XPU_MAX_RANK];
    for (int d = 0; d < info.rank; d++) perm[d] = d < axis ? d + 1 : d == axis ? 0 : d;
    return axis == 0 ? stack : fe_transpose(b, stack, (fe_ints){perm, (size_t)info.rank});
}

static int check_inputs(fe_builder *b, const fe_scanning *scan, fe_scan_way *ways, xpu_dim *length) {
    for (uint32_t i = 0; i < scan->input_count; i++) {
        if (!scan->inputs[i].id) return 0;
        const xpu_value_info info = *fe_info(b, scan->inputs[i]);
        ways[i] = scan->input_ways[i];
        ways[i].axis = fe_axis(b, ways[i].axis, info.rank);
        if (ways[i].axis < 0) return 0;
        xpu_dim size = info.dims[ways[i].axis];
        if (i == 0) *length = size;
        if (xpu_dim_same(&b->graph->dims, *length, size)) continue;
        fe_refuse(b, FE_SHAPE, "the scanned inputs differ in length",
                  fe_format(b, "input %u has %s places, the first one %s", i,
                            xpu_dim_text(&b->graph->dims, size, b->scratch),
                            xpu_dim_text(&b->graph->dims, *length, b->scratch)),
                  NULL);
        return 0;
    }
    return 1;
}

int fe_scan(fe_builder *b, const fe_scanning *scan, const fe_bodies *bodies, xpu_value *results) {
    fe_scanning own = *scan;
    scanning s = {.b = b, .scan = &own, .bodies = bodies};
    fe_scan_way *ways = XPU_NEW_ARRAY(b->scratch, fe_scan_way, scan->input_count + 1);
    const char **names = XPU_NEW_ARRAY(b->scratch, const char *, b->name_count);
    if (!check_inputs(b, scan, ways, &s.length)) return 0;
    own.input_ways = ways;
    fe_looping loop = {.trips = dim_value(b, s.length),
                       .first = scan->states,
                       .carried_count = scan->state_count,
                       .stacked_count = scan->output_count};
    for (uint32_t i = 0; i < scan->state_count && i < b->name_count; i++) names[i] = b->names[i];
    fe_builder inner = *b;
    for (uint32_t i = scan->state_count; i < b->name_count; i++) names[i] = "";
    if (b->name_count && !names[0]) names[0] = "";
    inner.names = names;
    if (!fe_loop(&inner, &loop, &(fe_bodies){read_scan, &s}, results)) return 0;
    b->made = inner.made;
    for (uint32_t i = 0; i < scan->output_count; i++) {
        fe_builder stack = *b;
        const uint32_t at = scan->state_count + i;
        if (at < b->name_count) stack.names = b->names + at;
        results[at] = place_stack(&stack, results[at], &scan->output_ways[i]);
        if (!results[at].id) return 0;
    }
    return 1;
}
