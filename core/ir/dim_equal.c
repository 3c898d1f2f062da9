/* Dims that no rule proves equal: for which shapes they are, and those that are taken for equal; symbols of dims. */
#include "core/ir/dim.h"

#include <string.h>

enum {
    MOST_TRIED = 1 << 16, /* values of a symbol */
    MOST_WORK = 1 << 22   /* nodes evaluated */
};

/* ---- dims that are taken for equal: trees of handles, a root for each set ---- */

xpu_dim xpu_dim_root(const xpu_dims *dims, xpu_dim dim) {
    while (xpu_dim_at(dims, dim)->same.id) dim = xpu_dim_at(dims, dim)->same;
    return dim;
}

int xpu_dim_same(const xpu_dims *dims, xpu_dim a, xpu_dim b) {
    return xpu_dim_equal(a, b) || xpu_dim_equal(xpu_dim_root(dims, a), xpu_dim_root(dims, b));
}

/* Whether `a` is the better one to go on with: a constant, or shorter, or larger at the least shape. A root is never
 * longer than what it stands for, and so no part of it either. */
static int is_better(const xpu_dims *dims, xpu_dim a, xpu_dim b) {
    const xpu_dim_node *left = xpu_dim_at(dims, a), *right = xpu_dim_at(dims, b);
    if ((left->kind == XPU_DIM_CONST) != (right->kind == XPU_DIM_CONST)) return left->kind == XPU_DIM_CONST;
    return left->size != right->size ? left->size < right->size : left->min > right->min;
}

/* A symbol that equals something is not smaller than that. */
static void raise_symbol(xpu_dims *dims, xpu_dim dim, int64_t least) {
    xpu_dim_node *node = &dims->nodes.items[dim.id];
    if (node->kind != XPU_DIM_SYMBOL || least <= node->min) return;
    xpu_symbol *symbol = &dims->symbols.items[node->value];
    int64_t steps = (least - symbol->min + symbol->step - 1) / symbol->step;
    if (steps >= (symbol->max - symbol->min) / symbol->step) return;
    symbol->min += steps * symbol->step;
    node->min = symbol->min;
}

/* A symbol that equals the larger, or smaller, one of itself and a constant is on that side of it. */
static void bound_symbol(xpu_dims *dims, xpu_dim dim, xpu_dim extreme) {
    xpu_dim_node *node = &dims->nodes.items[dim.id];
    const xpu_dim_node *of = xpu_dim_at(dims, extreme);
    int64_t limit;
    if (node->kind != XPU_DIM_SYMBOL || (of->kind != XPU_DIM_MAX && of->kind != XPU_DIM_MIN)) return;
    xpu_dim other = xpu_dim_equal(of->a, dim) ? of->b : of->a;
    if (!(xpu_dim_equal(of->a, dim) || xpu_dim_equal(of->b, dim)) || !xpu_dim_is_const(dims, other, &limit)) return;
    xpu_symbol *symbol = &dims->symbols.items[node->value];
    if (symbol->step != 1) return;
    if (of->kind == XPU_DIM_MAX && limit > symbol->min && limit <= symbol->max) node->min = symbol->min = limit;
    if (of->kind == XPU_DIM_MIN && limit < symbol->max && limit >= symbol->min) node->max = symbol->max = limit;
}

void xpu_dim_assume(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    bound_symbol(dims, a, b);
    bound_symbol(dims, b, a);
    xpu_dim left = xpu_dim_root(dims, a), right = xpu_dim_root(dims, b);
    if (!left.id || !right.id || left.id == right.id) return;
    raise_symbol(dims, left, xpu_dim_at(dims, right)->min);
    raise_symbol(dims, right, xpu_dim_at(dims, left)->min);
    int swap = is_better(dims, right, left);
    dims->assumptions++;
    dims->nodes.items[swap ? left.id : right.id].same = swap ? right : left;
}

xpu_dim xpu_dim_settled(xpu_dims *dims, xpu_dim dim) {
    const xpu_dim from = xpu_dim_root(dims, dim);
    const xpu_dim_node node = *xpu_dim_at(dims, from);
    if (node.kind <= XPU_DIM_SYMBOL) return from;
    if (node.settled_at == dims->assumptions + 1) return node.settled;
    xpu_dim made = xpu_dim_op(dims, node.kind, xpu_dim_settled(dims, node.a), xpu_dim_settled(dims, node.b));
    made = xpu_dim_root(dims, made);
    dims->nodes.items[from.id].settled = made;
    dims->nodes.items[from.id].settled_at = dims->assumptions + 1;
    return made;
}

int xpu_dim_agree(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    return xpu_dim_same(dims, a, b) || xpu_dim_same(dims, xpu_dim_settled(dims, a), xpu_dim_settled(dims, b));
}

/* ---- symbols ---- */

xpu_dim xpu_dim_symbol_of(xpu_dims *dims, const char *name, int64_t min, int64_t max, int64_t step, xpu_value value,
                          uint32_t element) {
    uint32_t count = dims->symbols.count;
    xpu_dim dim = xpu_dim_symbol(dims, name, min, max, step);
    if (dims->symbols.count == count) return dim;
    dims->symbols.items[count].value = value;
    dims->symbols.items[count].element = element;
    return dim;
}

static int has_name(const xpu_dims *dims, const char *name) {
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        if (strcmp(dims->symbols.items[i].name, name) == 0) return 1;
    }
    return 0;
}

/* "y" or "y/count" of "y/count". */
static int names_symbol(const char *bound, const char *name) {
    size_t length = strlen(bound);
    if (strncmp(bound, name, length) != 0) return 0;
    return !name[length] || (name[length] == '/' && !strchr(name + length + 1, '/'));
}

int64_t xpu_dims_bound(const xpu_dims *dims, const char *name) {
    int64_t most = -1;
    for (uint32_t i = 0; i < dims->bound_count; i++) {
        if (!names_symbol(dims->bounds[i].name, name)) continue;
        dims->bounds[i].used = 1;
        if (most < 0 || dims->bounds[i].most < most) most = dims->bounds[i].most;
    }
    return most;
}

xpu_dim xpu_dim_new_symbol(xpu_dims *dims, const char *name, int64_t min, int64_t max, xpu_value value,
                           uint32_t element, xpu_dim bound) {
    const char *unique = name;
    for (uint32_t i = 2; has_name(dims, unique); i++) unique = xpu_printf(dims->arena, "%s_%u", name, i);
    uint32_t index = dims->symbols.count;
    int64_t most = xpu_dims_bound(dims, unique);
    if (most >= 0 && most < max) max = most > min ? most : min;
    xpu_dim dim = xpu_dim_symbol_of(dims, unique, min, max, 1, value, element);
    dims->symbols.items[index].bound = bound;
    return dim;
}

int xpu_dim_has_symbol(const xpu_dims *dims, xpu_dim dim, uint32_t index) {
    const xpu_dim_node *node = xpu_dim_at(dims, dim);
    if (node->kind <= XPU_DIM_SYMBOL) return node->kind == XPU_DIM_SYMBOL && node->value == (int64_t)index;
    return xpu_dim_has_symbol(dims, node->a, index) || xpu_dim_has_symbol(dims, node->b, index);
}

void xpu_dim_find_symbols(const xpu_dims *dims, xpu_dim dim, uint8_t *seen) {
    const xpu_dim_node *node = xpu_dim_at(dims, dim);
    if (node->kind == XPU_DIM_SYMBOL && node->value < dims->symbols.count) seen[node->value] = 1;
    if (node->kind <= XPU_DIM_SYMBOL) return;
    xpu_dim_find_symbols(dims, node->a, seen);
    xpu_dim_find_symbols(dims, node->b, seen);
}

/* ---- for which shapes ---- */

enum { NO_SYMBOL = -1, SEVERAL = -2 };

/* The one symbol of an expression. */
static int64_t symbol_of(const xpu_dims *dims, xpu_dim dim) {
    const xpu_dim_node *node = xpu_dim_at(dims, dim);
    if (node->kind == XPU_DIM_CONST) return NO_SYMBOL;
    if (node->kind == XPU_DIM_SYMBOL) return node->value;
    int64_t a = symbol_of(dims, node->a), b = symbol_of(dims, node->b);
    return a == NO_SYMBOL ? b : b == NO_SYMBOL || a == b ? a : SEVERAL;
}

/* symbol * factor + constant, either absent. */
static int is_linear(const xpu_dims *dims, xpu_dim dim) {
    const xpu_dim_node *node = xpu_dim_at(dims, dim);
    for (int i = 0; i < 2 && (node->kind == XPU_DIM_ADD || node->kind == XPU_DIM_MUL); i++) {
        if (xpu_dim_at(dims, node->b)->kind != XPU_DIM_CONST) return 0;
        node = xpu_dim_at(dims, node->a);
    }
    return node->kind == XPU_DIM_SYMBOL;
}

static int in_range(const xpu_symbol *symbol, int64_t value) {
    return value >= symbol->min && value <= symbol->max && (value - symbol->min) % symbol->step == 0;
}

/* How many values of the one symbol make `difference` 0: 0, 1, 2 for more. Not all of a long range are tried. */
static int count_zeros(xpu_dims *dims, xpu_dim difference, int64_t index) {
    const xpu_symbol *symbol = &dims->symbols.items[index];
    int64_t *values = XPU_NEW_ARRAY(dims->arena, int64_t, dims->symbols.count);
    if (is_linear(dims, difference)) {
        int64_t at_zero = xpu_dim_eval(dims, difference, values);
        values[index] = 1;
        int64_t slope = xpu_dim_eval(dims, difference, values) - at_zero;
        return slope && at_zero % slope == 0 && in_range(symbol, -(at_zero / slope));
    }
    int64_t most = MOST_WORK / xpu_dim_at(dims, difference)->size, span = (symbol->max - symbol->min) / symbol->step;
    if (most > MOST_TRIED) most = MOST_TRIED;
    int zeros = 0;
    for (int64_t i = 0; i <= span && i < most && zeros < 2; i++) {
        values[index] = symbol->min + i * symbol->step;
        zeros += xpu_dim_eval(dims, difference, values) == 0;
    }
    return zeros;
}

int xpu_dim_solutions(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    xpu_dim difference = xpu_dim_add(dims, a, xpu_dim_mul_const(dims, b, -1));
    if (!difference.id) return 0;
    const xpu_dim_node *node = xpu_dim_at(dims, difference);
    if (node->min > 0 || node->max < 0 || node->residue != 0) return 0;
    int64_t symbol = symbol_of(dims, difference);
    return symbol < 0 ? 2 : count_zeros(dims, difference, symbol); /* without a symbol it is 0 */
}
