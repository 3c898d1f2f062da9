/*
 * Every expression is kept as a canonical sum of products: a polynomial over "atoms" (symbols, and floor divisions,
 * remainders, minima and maxima that did not simplify). Adding, multiplying and dividing work on the polynomial form
 * and build the tree from it, so that expressions which the rules can prove equal get one handle.
 */
#include "core/ir/dim.h"

#include <string.h>

#include "base/diag.h"

enum {
    MAX_TERMS = XPU_DIM_MAX_TERMS,
    MAX_DEGREE = 12,      /* atoms of one product */
    MAX_BOUND_TERMS = 16, /* of a sum whose bounds are found from all terms together */
    WORK_OF_NODE = 16,    /* what a new node counts, in terms */
    MAX_TREE_SIZE = XPU_DIM_MAX_TREE_SIZE
};

typedef struct {
    int64_t coefficient;
    uint32_t count;
    uint32_t atoms[MAX_DEGREE]; /* ids in rising order */
} term;

typedef struct {
    uint32_t count;
    int overflow;
    uint32_t steps;        /* terms added so far */
    term terms[MAX_TERMS]; /* higher degrees first, then by atoms: a monomial order, the constant last */
} polynomial;

static const xpu_dim unknown = {0};

static int64_t clamp_to_64(__int128 value) {
    if (value > INT64_MAX) return INT64_MAX;
    if (value < INT64_MIN) return INT64_MIN;
    return (int64_t)value;
}

static int64_t floor_divide(int64_t a, int64_t b) {
    if (b == 0) return 0;
    __int128 quotient = (__int128)a / b;
    if ((__int128)a % b != 0 && (a < 0) != (b < 0)) quotient--;
    return clamp_to_64(quotient);
}

static int64_t floor_modulo(int64_t a, int64_t b) {
    if (b == 0) return 0;
    __int128 rest = (__int128)a % b;
    if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
    return (int64_t)rest;
}

static int64_t apply(xpu_dim_kind kind, int64_t a, int64_t b) {
    switch (kind) {
    case XPU_DIM_ADD: return clamp_to_64((__int128)a + b);
    case XPU_DIM_MUL: return clamp_to_64((__int128)a * b);
    case XPU_DIM_FLOORDIV: return floor_divide(a, b);
    case XPU_DIM_MOD: return floor_modulo(a, b);
    case XPU_DIM_MIN: return a < b ? a : b;
    case XPU_DIM_MAX: return a > b ? a : b;
    case XPU_DIM_CONST:
    case XPU_DIM_SYMBOL: break;
    }
    return 0;
}

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* ---- facts about a node, found once when it is made ---- */

static void bound(xpu_dim_node *node, const int64_t values[4]) {
    node->min = node->max = values[0];
    for (int i = 1; i < 4; i++) {
        if (values[i] < node->min) node->min = values[i];
        if (values[i] > node->max) node->max = values[i];
    }
}

static void find_bounds(xpu_dim_node *node, const xpu_dim_node *a, const xpu_dim_node *b) {
    switch (node->kind) {
    case XPU_DIM_ADD:
    case XPU_DIM_MIN:
    case XPU_DIM_MAX:
        node->min = apply(node->kind, a->min, b->min);
        node->max = apply(node->kind, a->max, b->max);
        break;
    case XPU_DIM_FLOORDIV:
        if (b->min <= 0) { /* the divisor may be zero or negative: |result| <= |a| */
            int64_t most = a->max > 0 ? a->max : 0, least = a->min < 0 ? a->min : 0;
            int64_t size = most > clamp_to_64(-(__int128)least) ? most : clamp_to_64(-(__int128)least);
            node->min = clamp_to_64(-(__int128)size - 1);
            node->max = size;
            break;
        } /* fall through */
    case XPU_DIM_MUL:
        bound(node, (const int64_t[4]){apply(node->kind, a->min, b->min), apply(node->kind, a->min, b->max),
                                       apply(node->kind, a->max, b->min), apply(node->kind, a->max, b->max)});
        break;
    case XPU_DIM_MOD:
        node->min = b->min < 0 ? clamp_to_64((__int128)b->min + 1) : 0;
        node->max = b->max > 0 ? b->max - 1 : 0;
        break;
    case XPU_DIM_CONST:
    case XPU_DIM_SYMBOL: break;
    }
}

/* value = residue (mod modulus), 0 <= residue < modulus; modulus 0 stands for "equal to residue". */
static void set_residue(xpu_dim_node *node, __int128 modulus, __int128 residue) {
    if (modulus < 0) modulus = -modulus;
    if (modulus > INT64_MAX || (modulus == 0 && (residue > INT64_MAX || residue < INT64_MIN))) {
        node->modulus = 1;
        node->residue = 0;
        return;
    }
    if (modulus) residue = ((residue % modulus) + modulus) % modulus;
    node->modulus = (int64_t)modulus;
    node->residue = (int64_t)residue;
}

static __int128 gcd_128(__int128 a, __int128 b) {
    while (b) {
        __int128 rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static void find_residue(xpu_dim_node *node, const xpu_dim_node *a, const xpu_dim_node *b) {
    node->modulus = 1;
    node->residue = 0;
    if (node->kind == XPU_DIM_ADD) {
        set_residue(node, gcd_128(a->modulus, b->modulus), (__int128)a->residue + b->residue);
    } else if (node->kind == XPU_DIM_MUL) {
        __int128 both = (__int128)a->modulus * b->modulus;
        __int128 left = (__int128)a->modulus * b->residue, right = (__int128)b->modulus * a->residue;
        set_residue(node, gcd_128(both, gcd_128(left, right)), (__int128)a->residue * b->residue);
    } else if (node->kind == XPU_DIM_FLOORDIV && b->kind == XPU_DIM_CONST && b->value > 0 && a->modulus > 0 &&
               a->modulus % b->value == 0) {
        set_residue(node, a->modulus / b->value, floor_divide(a->residue, b->value));
    }
}

static uint32_t hash_of(const xpu_dim_node *node) {
    uint64_t hash = (uint64_t)node->kind * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (uint64_t)node->value) * 0xff51afd7ed558ccdu;
    hash = (hash ^ (hash >> 29) ^ node->a.id) * 0xc4ceb9fe1a85ec53u;
    hash = (hash ^ (hash >> 31) ^ node->b.id) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 32);
}

static int same_node(const xpu_dim_node *a, const xpu_dim_node *b) {
    return a->kind == b->kind && a->value == b->value && a->a.id == b->a.id && a->b.id == b->b.id;
}

static void make_table(xpu_dims *dims, uint32_t size) {
    uint32_t *table = XPU_NEW_ARRAY(dims->arena, uint32_t, size);
    for (uint32_t id = 1; id < dims->nodes.count; id++) {
        if (dims->nodes.items[id].gone) continue;
        uint32_t slot = hash_of(&dims->nodes.items[id]) & (size - 1);
        while (table[slot]) slot = (slot + 1) & (size - 1);
        table[slot] = id;
    }
    dims->table = table;
    dims->table_size = size;
}

static void grow_table(xpu_dims *dims) {
    make_table(dims, dims->table_size ? dims->table_size * 2 : 64);
}

void xpu_dims_drop_symbols(xpu_dims *dims, const uint8_t *gone) {
    int64_t *numbers = XPU_NEW_ARRAY(dims->arena, int64_t, dims->symbols.count + 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        numbers[i] = gone[i] ? INT32_MAX : kept; /* of no symbol that there will be */
        if (!gone[i]) dims->symbols.items[kept++] = dims->symbols.items[i];
    }
    for (uint32_t id = 1; id < dims->nodes.count; id++) { /* operands stand before what is made of them */
        xpu_dim_node *node = &dims->nodes.items[id];
        if (node->kind > XPU_DIM_SYMBOL)
            node->gone |= xpu_dim_at(dims, node->a)->gone | xpu_dim_at(dims, node->b)->gone;
        if (node->kind != XPU_DIM_SYMBOL || node->value >= dims->symbols.count) continue;
        node->gone |= gone[node->value];
        node->value = numbers[node->value];
    }
    dims->symbols.count = kept;
    make_table(dims, dims->table_size);
}

static void tighten_bounds(xpu_dims *dims, xpu_dim_node *sum);

/* The one node that is equal to (kind, value, a, b). Operands are canonical already. */
static xpu_dim intern(xpu_dims *dims, xpu_dim_kind kind, int64_t value, xpu_dim a, xpu_dim b) {
    xpu_dim_node node = {.kind = kind, .value = value, .a = a, .b = b};
    if (2 * (dims->nodes.count + 1) > dims->table_size) grow_table(dims);
    uint32_t slot = hash_of(&node) & (dims->table_size - 1);
    for (; dims->table[slot]; slot = (slot + 1) & (dims->table_size - 1)) {
        if (same_node(&dims->nodes.items[dims->table[slot]], &node)) return (xpu_dim){dims->table[slot]};
    }
    if (kind == XPU_DIM_CONST) {
        node.min = node.max = node.residue = value;
        node.size = 1;
    } else if (kind == XPU_DIM_SYMBOL) {
        const xpu_symbol *symbol = &dims->symbols.items[value];
        node.min = symbol->min;
        node.max = symbol->max;
        node.size = 1;
        set_residue(&node, symbol->step, symbol->min);
    } else {
        const xpu_dim_node *left = xpu_dim_at(dims, a), *right = xpu_dim_at(dims, b);
        node.size = left->size + right->size + 1;
        if (node.size > MAX_TREE_SIZE) return unknown;
        find_bounds(&node, left, right);
        if (kind == XPU_DIM_ADD) tighten_bounds(dims, &node);
        find_residue(&node, left, right);
    }
    uint32_t id = dims->nodes.count;
    dims->work += WORK_OF_NODE;
    XPU_PUSH(dims->arena, &dims->nodes, node);
    dims->table[slot] = id;
    return (xpu_dim){id};
}

/* ---- polynomials ---- */

static int term_order(const term *a, const term *b) {
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->atoms[i] != b->atoms[i]) return a->atoms[i] < b->atoms[i] ? -1 : 1;
    }
    return 0;
}

static void add_term(polynomial *sum, const term *added) {
    sum->steps++;
    if (added->coefficient == 0 || sum->overflow) return;
    uint32_t i = 0;
    while (i < sum->count && term_order(&sum->terms[i], added) < 0) i++;
    if (i < sum->count && term_order(&sum->terms[i], added) == 0) {
        int64_t *coefficient = &sum->terms[i].coefficient;
        if (__builtin_add_overflow(*coefficient, added->coefficient, coefficient)) sum->overflow = 1;
        if (*coefficient == 0) {
            sum->count--;
            memmove(&sum->terms[i], &sum->terms[i + 1], (sum->count - i) * sizeof(term));
        }
        return;
    }
    if (sum->count == MAX_TERMS) {
        sum->overflow = 1;
        return;
    }
    memmove(&sum->terms[i + 1], &sum->terms[i], (sum->count - i) * sizeof(term));
    sum->terms[i] = *added;
    sum->count++;
}

static int multiply_terms(const term *a, const term *b, term *product) {
    if (a->count + b->count > MAX_DEGREE) return 0;
    if (__builtin_mul_overflow(a->coefficient, b->coefficient, &product->coefficient)) return 0;
    product->count = a->count + b->count;
    uint32_t i = 0, j = 0;
    for (uint32_t k = 0; k < product->count; k++) {
        int left = j == b->count || (i < a->count && a->atoms[i] <= b->atoms[j]);
        product->atoms[k] = left ? a->atoms[i++] : b->atoms[j++];
    }
    return 1;
}

static void add_scaled(polynomial *sum, const polynomial *added, const term *factor) {
    for (uint32_t i = 0; i < added->count; i++) {
        term product;
        if (!multiply_terms(&added->terms[i], factor, &product)) {
            sum->overflow = 1;
            return;
        }
        add_term(sum, &product);
    }
}

/* The canonical trees are sums of products, read back without recursion: a sum leans to the left. */
static void read_product(const xpu_dims *dims, xpu_dim dim, term *out) {
    *out = (term){.coefficient = 1};
    uint32_t reversed[MAX_DEGREE];
    for (;;) {
        const xpu_dim_node *node = xpu_dim_at(dims, dim);
        xpu_dim factor = node->kind == XPU_DIM_MUL ? node->b : dim;
        if (xpu_dim_at(dims, factor)->kind == XPU_DIM_CONST) {
            out->coefficient = xpu_dim_at(dims, factor)->value;
        } else {
            reversed[out->count++] = factor.id;
        }
        if (node->kind != XPU_DIM_MUL) break;
        dim = node->a;
    }
    for (uint32_t i = 0; i < out->count; i++) out->atoms[i] = reversed[out->count - 1 - i];
}

static void read_polynomial(const xpu_dims *dims, xpu_dim dim, polynomial *out) {
    out->count = 0;
    out->overflow = 0;
    out->steps = 0;
    for (;;) {
        const xpu_dim_node *node = xpu_dim_at(dims, dim);
        int is_sum = node->kind == XPU_DIM_ADD;
        term product;
        read_product(dims, is_sum ? node->b : dim, &product);
        add_term(out, &product);
        if (!is_sum) return;
        dim = node->a;
    }
}

/* ---- bounds of sums ---- */

typedef struct {
    int64_t min, max;
} interval;

static interval combine(xpu_dim_kind kind, interval a, interval b) {
    xpu_dim_node node = {.kind = kind};
    find_bounds(&node, &(xpu_dim_node){.min = a.min, .max = a.max}, &(xpu_dim_node){.min = b.min, .max = b.max});
    return (interval){node.min, node.max};
}

static interval atom_bounds(const xpu_dims *dims, uint32_t atom) {
    const xpu_dim_node *node = xpu_dim_at(dims, (xpu_dim){atom});
    return (interval){node->min, node->max};
}

/* The sum with each atom written as its minimum plus x, or its maximum minus x, where x is 0 or more; `atoms` of the
 * result stand for x. 0: it gets too large. */
static int shift(const xpu_dims *dims, const polynomial *sum, int from_max, polynomial *shifted) {
    *shifted = (polynomial){0};
    for (uint32_t i = 0; i < sum->count; i++) {
        polynomial product = {.count = 1, .terms = {{.coefficient = sum->terms[i].coefficient}}};
        for (uint32_t k = 0; k < sum->terms[i].count; k++) {
            interval atom = atom_bounds(dims, sum->terms[i].atoms[k]);
            const term base = {.coefficient = from_max ? atom.max : atom.min};
            const term x = {.coefficient = from_max ? -1 : 1, .count = 1, .atoms = {sum->terms[i].atoms[k]}};
            polynomial next = {0};
            add_scaled(&next, &product, &base);
            add_scaled(&next, &product, &x);
            product = next;
            shifted->steps += product.steps;
            if (product.overflow) return 0;
        }
        add_scaled(shifted, &product, &(term){.coefficient = 1});
        if (shifted->overflow) return 0;
    }
    return 1;
}

static interval shifted_bounds(const xpu_dims *dims, const polynomial *shifted) {
    interval result = {0, 0};
    for (uint32_t i = 0; i < shifted->count; i++) {
        const term *part = &shifted->terms[i];
        interval product = {part->coefficient, part->coefficient};
        for (uint32_t k = 0; k < part->count; k++) {
            interval atom = atom_bounds(dims, part->atoms[k]);
            product = combine(XPU_DIM_MUL, product, (interval){0, clamp_to_64((__int128)atom.max - atom.min)});
        }
        result = combine(XPU_DIM_ADD, result, product);
    }
    return result;
}

/* What the sum's terms say together may be more than what its two operands say: a*b - a is (a' + 1)*(b' + 1) - (a' + 1)
 * = a'*b' + b', where a and b are at least 1, and never negative. */
static void tighten_bounds(xpu_dims *dims, xpu_dim_node *sum) {
    polynomial terms, shifted;
    term last;
    read_polynomial(dims, sum->a, &terms);
    read_product(dims, sum->b, &last);
    add_term(&terms, &last);
    if (terms.overflow || terms.count > MAX_BOUND_TERMS) return;
    for (int from_max = 0; from_max < 2; from_max++) {
        int small = shift(dims, &terms, from_max, &shifted);
        dims->work += shifted.steps;
        if (!small) continue;
        interval bounds = shifted_bounds(dims, &shifted);
        if (bounds.min > sum->min) sum->min = bounds.min;
        if (bounds.max < sum->max) sum->max = bounds.max;
    }
}

static xpu_dim build_product(xpu_dims *dims, const term *product) {
    if (product->count == 0) return intern(dims, XPU_DIM_CONST, product->coefficient, unknown, unknown);
    xpu_dim dim = {product->atoms[0]};
    for (uint32_t i = 1; i < product->count && dim.id; i++) {
        dim = intern(dims, XPU_DIM_MUL, 0, dim, (xpu_dim){product->atoms[i]});
    }
    if (product->coefficient == 1 || !dim.id) return dim;
    xpu_dim coefficient = intern(dims, XPU_DIM_CONST, product->coefficient, unknown, unknown);
    return intern(dims, XPU_DIM_MUL, 0, dim, coefficient);
}

static xpu_dim build_polynomial(xpu_dims *dims, const polynomial *sum) {
    dims->work += sum->steps;
    if (sum->overflow) return unknown;
    if (sum->count == 0) return intern(dims, XPU_DIM_CONST, 0, unknown, unknown);
    xpu_dim dim = build_product(dims, &sum->terms[0]);
    for (uint32_t i = 1; i < sum->count && dim.id; i++) {
        xpu_dim next = build_product(dims, &sum->terms[i]);
        if (!next.id) return unknown;
        dim = intern(dims, XPU_DIM_ADD, 0, dim, next);
    }
    return dim;
}

/* c * (x // b) where b divides x: with g = gcd(c, b) it is (c/g) * (x // (b/g)), so that (W // 2) * 2 is W again. */
static int reduce_exact_division(xpu_dims *dims, const term *product, polynomial *out) {
    for (uint32_t i = 0; i < product->count; i++) {
        const xpu_dim_node node = *xpu_dim_at(dims, (xpu_dim){product->atoms[i]});
        if (node.kind != XPU_DIM_FLOORDIV) continue;
        const xpu_dim_node numerator = *xpu_dim_at(dims, node.a), divisor = *xpu_dim_at(dims, node.b);
        if (divisor.kind != XPU_DIM_CONST || divisor.value <= 1 || numerator.modulus % divisor.value != 0 ||
            numerator.residue % divisor.value != 0) {
            continue;
        }
        int64_t common = gcd(product->coefficient, divisor.value);
        if (common <= 1) continue;
        term rest = {.coefficient = product->coefficient / common};
        for (uint32_t j = 0; j < product->count; j++) {
            if (j != i) rest.atoms[rest.count++] = product->atoms[j];
        }
        xpu_dim quotient = xpu_dim_floordiv_const(dims, node.a, divisor.value / common);
        if (!quotient.id) return 0;
        polynomial quotient_terms;
        read_polynomial(dims, quotient, &quotient_terms);
        add_scaled(out, &quotient_terms, &rest);
        return 1;
    }
    return 0;
}

static xpu_dim finish(xpu_dims *dims, const polynomial *sum) {
    if (sum->overflow) return unknown;
    polynomial current = *sum;
    for (int changed = 1, rounds = 0; changed && rounds < 64; rounds++) {
        changed = 0;
        polynomial next = {0};
        for (uint32_t i = 0; i < current.count; i++) {
            if (reduce_exact_division(dims, &current.terms[i], &next)) {
                changed = 1;
            } else {
                add_term(&next, &current.terms[i]);
            }
        }
        dims->work += current.steps;
        if (next.overflow) return unknown;
        current = next;
    }
    return build_polynomial(dims, &current);
}

static xpu_dim add(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    polynomial sum, other;
    read_polynomial(dims, a, &sum);
    read_polynomial(dims, b, &other);
    add_scaled(&sum, &other, &(term){.coefficient = 1});
    return finish(dims, &sum);
}

static xpu_dim multiply(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    polynomial left, right, product = {0};
    read_polynomial(dims, a, &left);
    read_polynomial(dims, b, &right);
    for (uint32_t i = 0; i < right.count; i++) add_scaled(&product, &left, &right.terms[i]);
    return finish(dims, &product);
}

/* a - b when it is a constant. */
static int constant_difference(const xpu_dims *dims, xpu_dim a, xpu_dim b, int64_t *difference) {
    polynomial sum, other;
    read_polynomial(dims, a, &sum);
    read_polynomial(dims, b, &other);
    add_scaled(&sum, &other, &(term){.coefficient = -1});
    if (sum.overflow || sum.count > 1 || (sum.count == 1 && sum.terms[0].count)) return 0;
    *difference = sum.count ? sum.terms[0].coefficient : 0;
    return 1;
}

/* ---- division ---- */

static int divide_term(const term *a, const term *b, term *quotient) {
    if (b->coefficient == 0 || (a->coefficient == INT64_MIN && b->coefficient == -1)) return 0;
    if (a->coefficient % b->coefficient != 0) return 0;
    quotient->coefficient = a->coefficient / b->coefficient;
    quotient->count = 0;
    uint32_t j = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        if (j < b->count && a->atoms[i] == b->atoms[j]) {
            j++;
        } else {
            quotient->atoms[quotient->count++] = a->atoms[i];
        }
    }
    return j == b->count;
}

/* a / b as polynomials when it leaves no remainder. */
static int divide_exactly(xpu_dims *dims, const polynomial *a, const polynomial *b, polynomial *quotient) {
    polynomial rest = *a;
    *quotient = (polynomial){0};
    for (int steps = 0; rest.count && steps < 2 * MAX_TERMS; steps++) {
        term factor;
        if (!b->count || !divide_term(&rest.terms[0], &b->terms[0], &factor)) return 0;
        add_term(quotient, &factor);
        if (factor.coefficient == INT64_MIN) return 0;
        factor.coefficient = -factor.coefficient;
        dims->work += b->count;
        add_scaled(&rest, b, &factor);
        if (rest.overflow || quotient->overflow) return 0;
    }
    return rest.count == 0;
}

static xpu_dim floordiv_by_const(xpu_dims *dims, xpu_dim a, int64_t divisor) {
    const xpu_dim_node numerator = *xpu_dim_at(dims, a);
    polynomial terms, whole = {0}, rest = {0};
    read_polynomial(dims, a, &terms);
    if (numerator.modulus && numerator.modulus % divisor == 0) { /* a known remainder: take it off */
        add_term(&terms, &(term){.coefficient = -(numerator.residue % divisor)});
    }
    for (uint32_t i = 0; i < terms.count; i++) {
        term part = terms.terms[i];
        int64_t coefficient = part.coefficient;
        if (part.count == 0 || coefficient > 0 || coefficient % divisor == 0) {
            part.coefficient = floor_divide(coefficient, divisor);
            add_term(&whole, &part);
            part.coefficient = floor_modulo(coefficient, divisor);
        }
        add_term(&rest, &part);
    }
    dims->work += whole.steps;
    xpu_dim below = build_polynomial(dims, &rest);
    if (!below.id) return unknown;
    const xpu_dim_node inner = *xpu_dim_at(dims, below);
    xpu_dim quotient;
    if (inner.min >= 0 && inner.max < divisor) {
        quotient = xpu_dim_const(dims, 0);
    } else if (inner.kind == XPU_DIM_FLOORDIV && xpu_dim_at(dims, inner.b)->kind == XPU_DIM_CONST &&
               xpu_dim_at(dims, inner.b)->value > 0) {
        int64_t product; /* (x // b) // c = x // (b * c) */
        if (__builtin_mul_overflow(xpu_dim_at(dims, inner.b)->value, divisor, &product)) return unknown;
        quotient = xpu_dim_floordiv_const(dims, inner.a, product);
    } else {
        quotient = intern(dims, XPU_DIM_FLOORDIV, 0, below, xpu_dim_const(dims, divisor));
    }
    if (!quotient.id) return unknown;
    polynomial quotient_terms;
    read_polynomial(dims, quotient, &quotient_terms);
    add_scaled(&whole, &quotient_terms, &(term){.coefficient = 1});
    return finish(dims, &whole);
}

static xpu_dim floordiv(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    const xpu_dim_node divisor = *xpu_dim_at(dims, b), numerator = *xpu_dim_at(dims, a);
    if (divisor.kind == XPU_DIM_CONST) {
        if (divisor.value == 0) return xpu_dim_const(dims, 0);
        if (divisor.value == 1) return a;
        if (divisor.value > 1) return floordiv_by_const(dims, a, divisor.value);
    }
    if (divisor.min > 0) {
        polynomial left, right, quotient;
        read_polynomial(dims, a, &left);
        read_polynomial(dims, b, &right);
        if (divide_exactly(dims, &left, &right, &quotient)) return finish(dims, &quotient);
        int64_t coefficient = right.terms[0].coefficient;
        if (right.count == 1 && coefficient > 1) { /* a // (m * c) = (a / m) // c */
            right.terms[0].coefficient = 1;
            if (divide_exactly(dims, &left, &right, &quotient)) {
                return xpu_dim_floordiv_const(dims, build_polynomial(dims, &quotient), coefficient);
            }
        }
        if (numerator.min >= 0 && numerator.max < divisor.min) return xpu_dim_const(dims, 0);
    }
    return intern(dims, XPU_DIM_FLOORDIV, 0, a, b);
}

static xpu_dim modulo(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    const xpu_dim_node divisor = *xpu_dim_at(dims, b), numerator = *xpu_dim_at(dims, a);
    if (divisor.kind == XPU_DIM_CONST && divisor.value == 0) return xpu_dim_const(dims, 0);
    if (divisor.kind == XPU_DIM_CONST && divisor.value > 0) {
        if (numerator.modulus && numerator.modulus % divisor.value == 0) {
            return xpu_dim_const(dims, numerator.residue % divisor.value);
        }
        polynomial terms, rest = {0};
        read_polynomial(dims, a, &terms);
        for (uint32_t i = 0; i < terms.count; i++) {
            terms.terms[i].coefficient = floor_modulo(terms.terms[i].coefficient, divisor.value);
            add_term(&rest, &terms.terms[i]);
        }
        a = build_polynomial(dims, &rest);
        if (!a.id) return unknown;
    } else if (divisor.min > 0) {
        polynomial left, right, quotient;
        read_polynomial(dims, a, &left);
        read_polynomial(dims, b, &right);
        if (divide_exactly(dims, &left, &right, &quotient)) return xpu_dim_const(dims, 0);
    }
    const xpu_dim_node reduced = *xpu_dim_at(dims, a);
    if (reduced.min >= 0 && reduced.max < divisor.min) return a;
    return intern(dims, XPU_DIM_MOD, 0, a, b);
}

static xpu_dim extreme(xpu_dims *dims, xpu_dim_kind kind, xpu_dim a, xpu_dim b) {
    const xpu_dim_node left = *xpu_dim_at(dims, a), right = *xpu_dim_at(dims, b);
    int64_t difference;
    int a_is_less = 0, b_is_less = 0;
    if (constant_difference(dims, a, b, &difference)) {
        a_is_less = difference <= 0;
        b_is_less = !a_is_less;
    } else {
        a_is_less = left.max <= right.min;
        b_is_less = right.max <= left.min;
    }
    if (a_is_less) return kind == XPU_DIM_MIN ? a : b;
    if (b_is_less) return kind == XPU_DIM_MIN ? b : a;
    return a.id < b.id ? intern(dims, kind, 0, a, b) : intern(dims, kind, 0, b, a);
}

/* ---- the interface ---- */

void xpu_dims_init(xpu_dims *dims, xpu_arena *arena) {
    memset(dims, 0, sizeof *dims);
    dims->arena = arena;
    xpu_dim_node none = {.kind = XPU_DIM_CONST, .min = INT64_MIN, .max = INT64_MAX, .modulus = 1, .size = 1};
    XPU_PUSH(arena, &dims->nodes, none);
}

xpu_dim xpu_dim_const(xpu_dims *dims, int64_t value) {
    return intern(dims, XPU_DIM_CONST, value, unknown, unknown);
}

xpu_dim xpu_dim_symbol(xpu_dims *dims, const char *name, int64_t min, int64_t max, int64_t step) {
    uint32_t index = 0;
    while (index < dims->symbols.count && strcmp(dims->symbols.items[index].name, name) != 0) index++;
    if (index == dims->symbols.count) {
        xpu_symbol symbol = {.name = xpu_strdup(dims->arena, name), .min = min, .max = max, .step = step};
        if (symbol.max < symbol.min) symbol.max = symbol.min;
        if (symbol.step < 1) symbol.step = 1;
        __int128 span = (__int128)symbol.max - symbol.min;
        symbol.max = (int64_t)(symbol.min + span / symbol.step * symbol.step);
        XPU_PUSH(dims->arena, &dims->symbols, symbol);
    }
    const xpu_symbol *symbol = &dims->symbols.items[index];
    if (symbol->min == symbol->max) return xpu_dim_const(dims, symbol->min);
    return intern(dims, XPU_DIM_SYMBOL, index, unknown, unknown);
}

xpu_dim xpu_dim_op(xpu_dims *dims, xpu_dim_kind kind, xpu_dim a, xpu_dim b) {
    if (!a.id || !b.id || a.id >= dims->nodes.count || b.id >= dims->nodes.count) return unknown;
    if (dims->work > XPU_DIMS_MAX_WORK) return unknown;
    int64_t left, right;
    if (kind >= XPU_DIM_FLOORDIV && xpu_dim_is_const(dims, a, &left) && xpu_dim_is_const(dims, b, &right)) {
        return xpu_dim_const(dims, apply(kind, left, right));
    }
    switch (kind) {
    case XPU_DIM_ADD: return add(dims, a, b);
    case XPU_DIM_MUL: return multiply(dims, a, b);
    case XPU_DIM_FLOORDIV: return floordiv(dims, a, b);
    case XPU_DIM_MOD: return modulo(dims, a, b);
    case XPU_DIM_MIN:
    case XPU_DIM_MAX: return extreme(dims, kind, a, b);
    case XPU_DIM_CONST:
    case XPU_DIM_SYMBOL: break;
    }
    return unknown;
}

xpu_dim xpu_dim_add(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    return xpu_dim_op(dims, XPU_DIM_ADD, a, b);
}
xpu_dim xpu_dim_mul(xpu_dims *dims, xpu_dim a, xpu_dim b) {
    return xpu_dim_op(dims, XPU_DIM_MUL, a, b);
}

xpu_dim xpu_dim_add_const(xpu_dims *dims, xpu_dim a, int64_t b) {
    return xpu_dim_op(dims, XPU_DIM_ADD, a, xpu_dim_const(dims, b));
}

xpu_dim xpu_dim_mul_const(xpu_dims *dims, xpu_dim a, int64_t b) {
    return xpu_dim_op(dims, XPU_DIM_MUL, a, xpu_dim_const(dims, b));
}

xpu_dim xpu_dim_floordiv_const(xpu_dims *dims, xpu_dim a, int64_t b) {
    return xpu_dim_op(dims, XPU_DIM_FLOORDIV, a, xpu_dim_const(dims, b));
}

int xpu_dim_is_const(const xpu_dims *dims, xpu_dim dim, int64_t *value) {
    if (!dim.id || xpu_dim_at(dims, dim)->kind != XPU_DIM_CONST) return 0;
    if (value) *value = xpu_dim_at(dims, dim)->value;
    return 1;
}

int64_t xpu_dim_min(const xpu_dims *dims, xpu_dim dim) {
    return xpu_dim_at(dims, dim)->min;
}
int64_t xpu_dim_max(const xpu_dims *dims, xpu_dim dim) {
    return xpu_dim_at(dims, dim)->max;
}

int64_t xpu_dim_eval(const xpu_dims *dims, xpu_dim dim, const int64_t *symbol_values) {
    const xpu_dim_node *node = xpu_dim_at(dims, dim);
    if (node->kind == XPU_DIM_CONST) return node->value;
    if (node->kind == XPU_DIM_SYMBOL) return symbol_values ? symbol_values[node->value] : node->min;
    return apply(node->kind, xpu_dim_eval(dims, node->a, symbol_values), xpu_dim_eval(dims, node->b, symbol_values));
}

/* ---- text ---- */

enum { LONGEST_TEXT = 1000 }; /* bytes, about: "..." stands for the rest */

/* Nothing behind the longest text, the brackets that end what is cut off neither. */
static void put(xpu_text *text, const char *part) {
    if (text->length <= LONGEST_TEXT) xpu_text_add_bytes(text, part, strlen(part));
}

static void add_text(const xpu_dims *dims, xpu_dim dim, int inside_product, xpu_text *text) {
    static const char *const names[] = {
        [XPU_DIM_MIN] = "min", [XPU_DIM_MAX] = "max", [XPU_DIM_FLOORDIV] = "/",
        [XPU_DIM_MOD] = "%",   [XPU_DIM_MUL] = "*",
    };
    const xpu_dim_node *node = xpu_dim_at(dims, dim);
    if (text->length > LONGEST_TEXT) return;
    switch (node->kind) {
    case XPU_DIM_CONST:
        if (dim.id) {
            put(text, xpu_printf(text->arena, "%lld", (long long)node->value));
        } else {
            put(text, "?");
        }
        break;
    case XPU_DIM_SYMBOL: put(text, xpu_escape(text->arena, dims->symbols.items[node->value].name, 80)); break;
    case XPU_DIM_MIN:
    case XPU_DIM_MAX:
        put(text, names[node->kind]);
        put(text, "(");
        add_text(dims, node->a, 0, text);
        put(text, ",");
        add_text(dims, node->b, 0, text);
        put(text, ")");
        break;
    case XPU_DIM_ADD:
        if (inside_product) put(text, "(");
        add_text(dims, node->a, 0, text);
        if (xpu_dim_at(dims, node->b)->kind != XPU_DIM_CONST || xpu_dim_at(dims, node->b)->value >= 0) put(text, "+");
        add_text(dims, node->b, 0, text);
        if (inside_product) put(text, ")");
        break;
    case XPU_DIM_MUL:
        add_text(dims, node->a, 1, text);
        put(text, "*");
        add_text(dims, node->b, 1, text);
        break;
    case XPU_DIM_FLOORDIV:
    case XPU_DIM_MOD:
        if (inside_product) put(text, "(");
        add_text(dims, node->a, 1, text);
        put(text, names[node->kind]);
        add_text(dims, node->b, 1, text);
        if (inside_product) put(text, ")");
        break;
    }
}

const char *xpu_dim_text(const xpu_dims *dims, xpu_dim dim, xpu_arena *arena) {
    xpu_text text;
    xpu_text_init(&text, arena);
    add_text(dims, dim, 0, &text);
    if (text.length > LONGEST_TEXT) xpu_text_add(&text, "...");
    return text.text;
}

const char *xpu_dim_list_text(const xpu_dims *dims, int rank, const xpu_dim *list, xpu_arena *arena) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (int i = 0; i < rank; i++) {
        xpu_text_add(&text, i ? "," : "[");
        add_text(dims, list[i], 0, &text);
    }
    if (text.length > LONGEST_TEXT) xpu_text_add(&text, "...");
    xpu_text_add(&text, rank > 0 ? "]" : "[]");
    return text.text;
}
