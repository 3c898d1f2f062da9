/*
 * Rows by index, ranges and places of what is not 0 on the functional chip, against the reference kernels and a plain
 * formula: random geometries, bit for bit. Indices are of both types, negative ones too.
 */
#include "core/arith.h"
#include "tests/chip/rig/operands.h"

static xpu_dtype draw_type(rig *r) {
    static const xpu_dtype types[] = {XPU_F32, XPU_I8, XPU_F16, XPU_I64, XPU_U8};
    return types[draw(r, 0, 4)];
}

static void call_gather(rig *r, bench *b, xpu_op_id op, struct xpu_gather_args *a, const xpu_tensor *x,
                        const xpu_tensor *list, const xpu_attr *attr) {
    const xpu_tensor *const inputs[] = {x, list};
    xpu_tensor y = operand_reference(b, op, inputs, 2, attr, 1);
    a->x = operand_place(r, x);
    a->index = operand_place(r, list);
    a->y = operand_expect(r, &y);
    a->element_bytes = (int32_t)xpu_dtype_bytes(x->dtype);
    a->index_bytes = (int32_t)xpu_dtype_bytes(list->dtype);
    rig_call(r, XPU_CALL_gather, 0, a, sizeof *a);
}

static void add_rows(rig *r, bench *b) {
    struct xpu_gather_args a = {.outer = (int32_t)draw(r, 1, draw(r, 0, 2) ? 3 : 40), .shared = 1, .columns = 1};
    a.count = (int32_t)draw(r, 1, 60);
    a.inner = (int32_t)(draw(r, 0, 4) == 0 ? draw(r, 500, 3000) : draw(r, 1, 40));
    a.n = (int32_t)(draw(r, 0, 4) == 0 ? draw(r, 1500, 6000) : draw(r, 1, 70));
    if (a.n > 100) a.inner = (int32_t)draw(r, 1, 6), a.outer = (int32_t)draw(r, 1, 3);
    a.dims[0] = a.count;
    rig_describe(r, "%d rows of %d x %d x %d", a.n, a.outer, a.count, a.inner);
    xpu_tensor x = operand_random(b, r->random, draw_type(r), DIMS(a.outer, a.count, a.inner));
    xpu_tensor list = operand_indices(r, b, draw(r, 0, 1) != 0, a.count, DIMS(a.n));
    call_gather(r, b, XPU_OP_GATHER, &a, &x, &list, &XPU_ATTR_INT_OF(AXIS, 1));
}

static void add_elements(rig *r, bench *b) {
    struct xpu_gather_args a = {.outer = (int32_t)draw(r, 1, 8), .by_element = 1, .columns = 1};
    a.count = (int32_t)draw(r, 1, 60);
    a.inner = (int32_t)draw(r, 1, draw(r, 0, 1) ? 1 : 30);
    a.n = (int32_t)draw(r, 1, draw(r, 0, 3) ? 30 : 900);
    a.dims[0] = a.count;
    rig_describe(r, "%d elements of %d x %d x %d", a.n, a.outer, a.count, a.inner);
    xpu_tensor x = operand_random(b, r->random, draw_type(r), DIMS(a.outer, a.count, a.inner));
    xpu_tensor list = operand_indices(r, b, draw(r, 0, 1) != 0, a.count, DIMS(a.outer, a.n, a.inner));
    call_gather(r, b, XPU_OP_GATHER_ELEMENTS, &a, &x, &list, &XPU_ATTR_INT_OF(AXIS, 1));
}

/* Pairs over [outer][side][side][inner]. */
static void add_pairs(rig *r, bench *b) {
    struct xpu_gather_args a = {.outer = (int32_t)draw(r, 1, 4), .columns = 2};
    int32_t side = (int32_t)draw(r, 1, 9);
    a.count = side * side;
    a.inner = (int32_t)draw(r, 1, 40);
    a.n = (int32_t)draw(r, 1, draw(r, 0, 3) ? 30 : 1500);
    a.dims[0] = a.dims[1] = side;
    rig_describe(r, "%d pairs of %d x %d^2 x %d", a.n, a.outer, side, a.inner);
    xpu_tensor x = operand_random(b, r->random, draw_type(r), DIMS(a.outer, side, side, a.inner));
    xpu_tensor list = operand_indices(r, b, 1, side, DIMS(a.outer, a.n, 2));
    call_gather(r, b, XPU_OP_GATHER_ND, &a, &x, &list, &XPU_ATTR_INT_OF(BATCH_DIMS, 1));
}

static void gather(void) {
    rig_on_each_chip("rows by index", 40, add_rows);
    rig_on_each_chip("elements by index", 30, add_elements);
    rig_on_each_chip("rows by pairs", 25, add_pairs);
}

static void add_range(rig *r, bench *b) {
    static const xpu_dtype types[] = {XPU_F32, XPU_I16, XPU_I32, XPU_I64};
    const xpu_dtype dtype = types[draw(r, 0, 3)];
    const size_t bytes = xpu_dtype_bytes(dtype);
    struct xpu_range_args a = {.count = (int32_t)draw(r, 1, draw(r, 0, 2) ? 300 : 20000),
                               .element_bytes = (int32_t)bytes};
    a.is_float = dtype == XPU_F32;
    rig_describe(r, "range of %d %s", a.count, xpu_dtype_name(dtype));
    xpu_tensor start = operand_random(b, r->random, dtype, 0, NULL),
               step = operand_random(b, r->random, dtype, 0, NULL);
    xpu_tensor y = operand_random(b, r->random, dtype, DIMS(a.count));
    uint64_t value = 0, by = 0;
    memcpy(&value, start.data, bytes);
    memcpy(&by, step.data, bytes);
    for (int32_t i = 0; i < a.count; i++, value += by) {
        float number = *(const float *)step.data * (float)i;
        number = *(const float *)start.data + number;
        memcpy((char *)y.data + bytes * (size_t)i, a.is_float ? (const void *)&number : (const void *)&value, bytes);
    }
    a.start = operand_place(r, &start);
    a.step = operand_place(r, &step);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_range, 0, &a, sizeof a);
}
static void range(void) {
    rig_on_each_chip("range", 40, add_range);
}

/* ---- places of what is not 0 ---- */

/* Of x: how much of it is 0 differs from block to block. */
static xpu_tensor draw_sparse(rig *r, bench *b, xpu_dtype dtype, int rank, const int64_t *dims) {
    xpu_tensor x = operand_random(b, r->random, dtype, rank, dims);
    const size_t bytes = xpu_dtype_bytes(dtype);
    int64_t one_in = 1;
    for (int64_t i = 0, count = xpu_tensor_count(&x); i < count; i++) {
        if (i % 200 == 0) one_in = draw(r, 0, 3) ? draw(r, 1, 30) : 1000000;
        unsigned char *element = (unsigned char *)x.data + (size_t)i * bytes;
        if (draw(r, 1, one_in) > 1) memset(element, 0, bytes);
        if (one_in > 1 && draw(r, 0, 9) == 0) element[bytes - 1] = 0x80; /* of floats perhaps -0 */
    }
    return x;
}

static int is_nonzero(const xpu_tensor *x, int64_t i) {
    const size_t bytes = xpu_dtype_bytes(x->dtype);
    const unsigned char *element = (const unsigned char *)x->data + (size_t)i * bytes;
    int found = element[bytes - 1] & (x->dtype == XPU_F32 || x->dtype == XPU_F16 ? 0x7f : 0xff);
    for (size_t k = 0; k + 1 < bytes; k++) found |= element[k];
    return found != 0;
}

static xpu_tensor draw_places(rig *r, bench *b) {
    int64_t dims[XPU_MAX_RANK];
    const int rank = (int)draw(r, 1, 4), most = draw(r, 0, 2) ? 6 : 19;
    for (int d = 0; d < rank; d++) dims[d] = draw(r, d == 0 && draw(r, 0, 9) == 0 ? 0 : 1, most);
    if (rank == 1) dims[0] = draw(r, 0, 20000);
    return draw_sparse(r, b, draw_type(r), rank, dims);
}

static void add_counts(rig *r, bench *b) {
    xpu_tensor x = draw_places(r, b);
    struct xpu_nonzero_counts_args a = {.count = (int32_t)xpu_tensor_count(&x)};
    a.element_bytes = (int32_t)xpu_dtype_bytes(x.dtype);
    a.is_float = x.dtype == XPU_F32 || x.dtype == XPU_F16;
    rig_describe(r, "counts of %d %s", a.count, xpu_dtype_name(x.dtype));
    xpu_tensor y = operand_random(b, r->random, XPU_I32, DIMS(a.count ? (a.count + 255) / 256 : 1));
    memset(y.data, 0, xpu_tensor_bytes(&y));
    for (int32_t i = 0; i < a.count; i++) ((int32_t *)y.data)[i / 256] += is_nonzero(&x, i);
    a.x = operand_place(r, &x);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_nonzero_counts, 0, &a, sizeof a);
}

static void add_nonzero(rig *r, bench *b) {
    xpu_tensor x = draw_places(r, b);
    struct xpu_nonzero_args a = {.count = (int32_t)xpu_tensor_count(&x), .rank = x.rank};
    a.element_bytes = (int32_t)xpu_dtype_bytes(x.dtype);
    a.is_float = x.dtype == XPU_F32 || x.dtype == XPU_F16;
    rig_describe(r, "places of %d %s of rank %d", a.count, xpu_dtype_name(x.dtype), x.rank);
    xpu_tensor counts = operand_random(b, r->random, XPU_I32, DIMS(a.count ? (a.count + 255) / 256 : 1));
    memset(counts.data, 0, xpu_tensor_bytes(&counts));
    for (int32_t i = 0; i < a.count; i++) {
        ((int32_t *)counts.data)[i / 256] += is_nonzero(&x, i);
        a.found += is_nonzero(&x, i);
    }
    xpu_tensor y = operand_random(b, r->random, XPU_I64, DIMS(x.rank, a.found));
    for (int32_t i = 0, at = 0; i < a.count; i++) {
        if (!is_nonzero(&x, i)) continue;
        for (int64_t d = x.rank, rest = i; d-- > 0; rest /= x.dims[d])
            ((int64_t *)y.data)[d * a.found + at] = rest % x.dims[d];
        at++;
    }
    for (int d = 0; d < XPU_MAX_RANK; d++) a.dims[d] = d < x.rank ? (int32_t)x.dims[d] : 1;
    a.x = operand_place(r, &x);
    a.counts = operand_place(r, &counts);
    a.y = operand_expect(r, &y);
    rig_call(r, XPU_CALL_nonzero, 0, &a, sizeof a);
}

static void nonzero(void) {
    rig_on_each_chip("counts", 40, add_counts);
    rig_on_each_chip("places", 60, add_nonzero);
}

static void sequences(void) {
    static const rig_add adds[] = {add_rows, add_elements, add_pairs, add_range, add_counts, add_nonzero};
    rig_sequences("sequences", 15, adds, (int)(sizeof adds / sizeof *adds));
}

XPU_TEST_MAIN("kernels that gather", {"gather", gather}, {"range", range}, {"nonzero", nonzero},
              {"sequences", sequences})
