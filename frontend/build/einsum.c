/*
 * Einsum: each operand loses its repeated letters (diagonals) and the letters that it alone has (sums); then pairs,
 * from the left, become products over the letters that nothing behind them needs; then the dims come into order.
 */
#include <inttypes.h>
#include <string.h>

#include "frontend/build/build.h"

/* A tensor whose dims have letters; those of an ellipsis are ELLIPSIS + their distance from its end. */
enum { ELLIPSIS = 128, LABELS = ELLIPSIS + XPU_MAX_RANK };
typedef struct {
    xpu_value value;
    int rank;
    unsigned char label[XPU_MAX_RANK];
} term;

static const term no_term;

static int is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int bad_equation(const fe_builder *b, const char *why) {
    return fe_bad_attr(b, "equation", why);
}

/* ---- the equation ---- */

/* The labels of a term up to ',', '-' or the end, of which an ellipsis has so many; NULL after reporting. */
static const char *read_term(const fe_builder *b, const char *at, int ellipsis, term *t) {
    int dots = 0;
    for (t->rank = 0; *at && *at != ',' && *at != '-'; at++) {
        if (*at == ' ') continue;
        int count = 1;
        if (strncmp(at, "...", 3) == 0 && !dots++) {
            count = ellipsis;
            at += 2;
        } else if (!is_letter(*at)) {
            bad_equation(b, "a term holds something else than letters and one ellipsis");
            return NULL;
        }
        if (t->rank + count > XPU_MAX_RANK) {
            bad_equation(b, fe_format(b, "a term has more than %d dims", XPU_MAX_RANK));
            return NULL;
        }
        for (int i = 0; i < count; i++) {
            t->label[t->rank++] = (unsigned char)(*at == '.' ? ELLIPSIS + count - 1 - i : *at);
        }
    }
    return at;
}

/* How many dims the ellipsis of a term stands for, of an operand of `rank`; 0 where there is none. */
static int ellipsis_of(const char *at, int rank) {
    int letters = 0, dots = 0;
    for (; *at && *at != ',' && *at != '-'; at++) letters += is_letter(*at), dots += *at == '.';
    return dots && rank > letters ? rank - letters : 0;
}

/* The result of an equation without one: the ellipsis, then the letters that occur once, in order. */
static int implicit_result(const fe_builder *b, const term *terms, uint32_t count, int ellipsis, term *result) {
    int uses[LABELS] = {0};
    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < terms[i].rank; k++) uses[terms[i].label[k]]++;
    }
    result->rank = 0;
    for (int i = ellipsis - 1; i >= 0; i--) result->label[result->rank++] = (unsigned char)(ELLIPSIS + i);
    for (int c = 0; c < ELLIPSIS; c++) {
        if (uses[c] != 1) continue;
        if (result->rank == XPU_MAX_RANK) return bad_equation(b, "the result has too many dims");
        result->label[result->rank++] = (unsigned char)c;
    }
    return 1;
}

static int place_of(const term *t, int label) {
    int at = 0;
    while (at < t->rank && t->label[at] != label) at++;
    return at < t->rank ? at : -1;
}

/* Labels of the result occur once in it, and in an operand. */
static int check_result(const fe_builder *b, const term *terms, uint32_t count, const term *result) {
    for (int i = 0; i < result->rank; i++) {
        int found = 0;
        for (uint32_t k = 0; k < count; k++) found |= place_of(&terms[k], result->label[i]) >= 0;
        if (!found || place_of(result, result->label[i]) != i) {
            return bad_equation(b, "a letter of the result is in no operand, or stands there twice");
        }
    }
    return 1;
}

static int read_equation(const fe_builder *b, const char *at, term *terms, uint32_t count, term *result) {
    int most = 0;
    for (uint32_t i = 0; i < count; i++) {
        const int rank = fe_info(b, terms[i].value)->rank, ellipsis = ellipsis_of(at, rank);
        if (!(at = read_term(b, at, ellipsis, &terms[i]))) return 0;
        if (terms[i].rank != rank) {
            return bad_equation(b, fe_format(b, "term %u has %d dims, the operand %d", i, terms[i].rank, rank));
        }
        if (ellipsis > most) most = ellipsis;
        if (i + 1 < count && *at++ != ',') return bad_equation(b, fe_format(b, "it has not %u terms", count));
    }
    if (!*at) return implicit_result(b, terms, count, most, result) && check_result(b, terms, count, result);
    if (at[0] != '-' || at[1] != '>') return bad_equation(b, fe_format(b, "it has not %u terms", count));
    if (!(at = read_term(b, at + 2, most, result))) return 0;
    return !*at ? check_result(b, terms, count, result) : bad_equation(b, "something stands behind the result");
}

/* ---- one operand ---- */

static void drop(term *t, int at) {
    memmove(t->label + at, t->label + at + 1, (size_t)(t->rank - at - 1));
    t->rank--;
}

/* The dims at `order` first, the others behind them. */
static term permuted(fe_builder *b, const term *t, const int64_t *order, int count) {
    int64_t perm[XPU_MAX_RANK];
    unsigned taken = 0;
    int same = 1, rank = 0;
    term result = {.rank = t->rank};
    for (int i = 0; i < count; i++) perm[rank++] = order[i], taken |= 1u << order[i];
    for (int i = 0; i < t->rank; i++) {
        if (!(taken >> i & 1)) perm[rank++] = i;
    }
    for (int i = 0; i < rank; i++) {
        result.label[i] = t->label[perm[i]];
        same = same && perm[i] == i;
    }
    result.value = same || !t->value.id ? t->value
                                        : fe_node(b, XPU_OP_TRANSPOSE, &t->value, 1,
                                                  &XPU_ATTR_INTS_OF(PERM, perm, (uint32_t)rank), 1, 0);
    return result;
}

/* Of dims i and k, which have one letter, the elements with equal indices: as one dim, each (n + 1)th. */
static int take_diagonal(fe_builder *b, term *t, int i, int k) {
    *t = permuted(b, t, (const int64_t[]){i, k}, 2);
    if (!t->value.id) return 0;
    const xpu_value_info info = *fe_info(b, t->value);
    xpu_dims *table = &b->graph->dims;
    int64_t size, other;
    if (!xpu_dim_is_const(table, info.dims[0], &size) || !xpu_dim_is_const(table, info.dims[1], &other) ||
        size != other || size < 1 || size > FE_MAX_EXTENT) {
        fe_refuse(b, FE_FORM, "a letter stands twice in a term, and its dims are not known and equal",
                  fe_format(b, "they are the first two of %s", fe_shape_text(b, t->value)), NULL);
        return 0;
    }
    xpu_dim dims[XPU_MAX_RANK] = {xpu_dim_const(table, size * size)};
    for (int d = 2; d < info.rank; d++) dims[d - 1] = info.dims[d];
    t->value = fe_reshape_to(b, t->value, dims, info.rank - 1, 0);
    t->value = fe_part(b, t->value, 0, xpu_dim_const(table, 0), info.dims[0], size + 1, 0);
    drop(t, 0);
    return t->value.id != 0;
}

static int take_diagonals(fe_builder *b, term *t) {
    for (int i = 0; i < t->rank; i++) {
        for (int k = i + 1; k < t->rank; k++) {
            if (t->label[i] != t->label[k]) continue;
            if (!take_diagonal(b, t, i, k)) return 0;
            i = -1;
            break;
        }
    }
    return 1;
}

static int is_one(const fe_builder *b, xpu_dim dim) {
    int64_t size;
    return xpu_dim_is_const(&b->graph->dims, dim, &size) && size == 1;
}

/* Dims of 1 whose letter has another size elsewhere broadcast: they go. */
static int drop_ones(fe_builder *b, term *terms, uint32_t count, uint32_t index) {
    term *t = &terms[index];
    xpu_dim dims[XPU_MAX_RANK];
    const xpu_value_info info = *fe_info(b, t->value);
    int rank = 0;
    for (int i = 0, at = 0; i < info.rank; i++) {
        int larger = 0;
        for (uint32_t k = 0; is_one(b, info.dims[i]) && k < count; k++) {
            int place = k == index ? -1 : place_of(&terms[k], t->label[at]);
            larger |= place >= 0 && !is_one(b, fe_info(b, terms[k].value)->dims[place]);
        }
        if (larger) {
            drop(t, at);
        } else {
            dims[rank++] = info.dims[i], at++;
        }
    }
    if (rank < info.rank) t->value = fe_reshape_to(b, t->value, dims, rank, 0);
    return t->value.id != 0;
}

/* Letters that neither the result nor another operand has. */
static int sum_own(fe_builder *b, term *terms, uint32_t count, uint32_t index, const term *result) {
    term *t = &terms[index];
    int64_t axes[XPU_MAX_RANK];
    size_t sums = 0;
    for (int i = 0; i < t->rank; i++) {
        int used = place_of(result, t->label[i]) >= 0;
        for (uint32_t k = 0; k < count; k++) used |= k != index && place_of(&terms[k], t->label[i]) >= 0;
        if (!used) axes[sums++] = i;
    }
    if (sums) t->value = fe_reduce(b, XPU_OP_REDUCE_SUM, t->value, (fe_ints){axes, sums}, 0);
    for (size_t i = sums; i-- > 0;) drop(t, (int)axes[i]);
    return t->value.id != 0;
}

/* ---- a pair ---- */

/* The dims of two operands by what becomes of them. */
typedef struct {
    int64_t left[3][XPU_MAX_RANK], right[3][XPU_MAX_RANK];
    int batch, sums, left_free, right_free;
} pairing;

enum { BATCH, SUMS, FREE };

static pairing pair_of(const term *a, const term *c, const term *rest, uint32_t rest_count, const term *result) {
    pairing p = {.batch = 0};
    for (int i = 0; i < a->rank; i++) {
        int other = place_of(c, a->label[i]), kept = place_of(result, a->label[i]) >= 0;
        for (uint32_t k = 0; k < rest_count; k++) kept |= place_of(&rest[k], a->label[i]) >= 0;
        if (other < 0) {
            p.left[FREE][p.left_free++] = i;
        } else if (kept) {
            p.right[BATCH][p.batch] = other;
            p.left[BATCH][p.batch++] = i;
        } else {
            p.right[SUMS][p.sums] = other;
            p.left[SUMS][p.sums++] = i;
        }
    }
    for (int i = 0; i < c->rank; i++) {
        if (place_of(a, c->label[i]) < 0) p.right[FREE][p.right_free++] = i;
    }
    return p;
}

/* The operand with its dims in the order batch, x, y, as [batch...][x][y], both products of dims. */
static xpu_value arranged(fe_builder *b, const term *t, const int64_t lists[3][XPU_MAX_RANK], int batch,
                          const int order[2], const int counts[2]) {
    int64_t perm[XPU_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < batch; i++) perm[rank++] = lists[BATCH][i];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < counts[k]; i++) perm[rank++] = lists[order[k]][i];
    }
    term turned = permuted(b, t, perm, rank);
    if (!turned.value.id) return turned.value;
    const xpu_value_info info = *fe_info(b, turned.value);
    xpu_dim dims[XPU_MAX_RANK + 2];
    for (int i = 0; i < batch; i++) dims[i] = info.dims[i];
    dims[batch] = fe_dim_product(b, info.dims, batch, batch + counts[0]);
    dims[batch + 1] = fe_dim_product(b, info.dims, batch + counts[0], rank);
    return fe_reshape_to(b, turned.value, dims, batch + 2, 0);
}

/* [batch][m][k] and [batch][k][n]: a matrix product of floats; of integers, and where nothing is summed, products of
 * elements. */
static xpu_value multiplied(fe_builder *b, xpu_value x, xpu_value y, int sums, int batch) {
    if (!x.id || !y.id) return (xpu_value){0};
    if (!sums) return fe_binary(b, XPU_OP_MUL, x, y);
    if (fe_info(b, x)->dtype == XPU_F32) return fe_matmul(b, x, y);
    const xpu_value_info left = *fe_info(b, x), right = *fe_info(b, y);
    xpu_dim dims[XPU_MAX_RANK + 1];
    if (batch + 3 > XPU_MAX_RANK) {
        return fe_refuse(b, FE_FORM, "a product of integers has too many dims", fe_shape_text(b, x), NULL);
    }
    for (int i = 0; i < batch + 2; i++) dims[i] = left.dims[i];
    dims[batch + 2] = xpu_dim_const(&b->graph->dims, 1);
    x = fe_reshape_to(b, x, dims, batch + 3, 0);
    dims[batch] = xpu_dim_const(&b->graph->dims, 1);
    dims[batch + 1] = right.dims[batch], dims[batch + 2] = right.dims[batch + 1];
    y = fe_reshape_to(b, y, dims, batch + 3, 0);
    const int64_t axis[] = {batch + 1};
    return fe_reduce(b, XPU_OP_REDUCE_SUM, fe_binary(b, XPU_OP_MUL, x, y), (fe_ints){axis, 1}, 0);
}

static term contracted(fe_builder *b, const term *a, const term *c, const term *rest, uint32_t rest_count,
                       const term *result) {
    const pairing p = pair_of(a, c, rest, rest_count, result);
    const xpu_value_info left = *fe_info(b, a->value), right = *fe_info(b, c->value);
    term product = {.rank = p.batch + p.left_free + p.right_free};
    if (product.rank > XPU_MAX_RANK || p.batch + 2 > XPU_MAX_RANK) {
        fe_refuse(b, FE_FORM, "a product has too many dims",
                  fe_format(b, "of %s and %s", fe_shape_text(b, a->value), fe_shape_text(b, c->value)), NULL);
        return no_term;
    }
    static const int left_order[] = {FREE, SUMS}, right_order[] = {SUMS, FREE};
    xpu_value x = arranged(b, a, p.left, p.batch, left_order, (const int[]){p.left_free, p.sums});
    xpu_value y = arranged(b, c, p.right, p.batch, right_order, (const int[]){p.sums, p.right_free});
    product.value = multiplied(b, x, y, p.sums, p.batch);
    if (!product.value.id) return no_term;
    xpu_dim dims[XPU_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < p.batch; i++) {
        product.label[rank] = a->label[p.left[BATCH][i]];
        dims[rank] = fe_info(b, product.value)->dims[i], rank++;
    }
    for (int i = 0; i < p.left_free; i++) {
        product.label[rank] = a->label[p.left[FREE][i]];
        dims[rank++] = left.dims[p.left[FREE][i]];
    }
    for (int i = 0; i < p.right_free; i++) {
        product.label[rank] = c->label[p.right[FREE][i]];
        dims[rank++] = right.dims[p.right[FREE][i]];
    }
    product.value = fe_reshape_to(b, product.value, dims, rank, 0);
    return product;
}

/* ---- all ---- */

/* A type in which sums are there. */
static xpu_dtype sum_type(xpu_dtype dtype) {
    if (dtype == XPU_F16 || dtype == XPU_BF16) return XPU_F32;
    const size_t bytes = xpu_dtype_bytes(dtype);
    return bytes >= 4 ? dtype : dtype == XPU_U8 || dtype == XPU_U16 ? XPU_U32 : XPU_I32;
}

xpu_value fe_einsum(fe_builder *b, const char *equation, const xpu_value *operands, uint32_t count) {
    static const xpu_value none = {0};
    term *terms = XPU_NEW_ARRAY(b->scratch, term, count + 1), result;
    for (uint32_t i = 0; i < count; i++) {
        if (!operands[i].id) return none;
        terms[i].value = operands[i];
    }
    if (!read_equation(b, equation, terms, count, &result)) return none;
    const xpu_dtype dtype = fe_info(b, operands[0])->dtype, wide = sum_type(dtype);
    fe_builder inside = fe_inside(b);
    for (uint32_t i = 0; i < count; i++) {
        if (wide != dtype) terms[i].value = fe_convert(&inside, terms[i].value, wide);
        if (!terms[i].value.id || !take_diagonals(&inside, &terms[i])) return none;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!drop_ones(&inside, terms, count, i)) return none;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!sum_own(&inside, terms, count, i, &result)) return none;
    }
    for (uint32_t i = 1; i < count; i++) {
        terms[i] = contracted(&inside, &terms[i - 1], &terms[i], terms + i + 1, count - i - 1, &result);
        if (!terms[i].value.id) return none;
        if (!sum_own(&inside, terms + i, count - i, 0, &result)) return none;
    }
    int64_t order[XPU_MAX_RANK];
    for (int i = 0; i < result.rank; i++) order[i] = place_of(&terms[count - 1], result.label[i]);
    xpu_value y = permuted(&inside, &terms[count - 1], order, result.rank).value;
    if (wide != dtype && y.id) y = fe_convert(&inside, y, dtype);
    return fe_finish(b, &inside, y);
}
