/*
 * Kernels that choose and place elements on the functional chip, against the reference kernels: random geometries, bit
 * for bit.
 */
#include "core/arith_pick.h"
#include "core/ops/scatter.h"
#include "tests/chip/rig/operands.h"

/* ---- scatter ---- */

static xpu_dtype draw_type(rig *r, int kind) {
    static const xpu_dtype types[] = {XPU_F32, XPU_I64, XPU_U32, XPU_U64, XPU_I32, XPU_I8, XPU_F16};
    return types[draw(r, 0, kind == XA_PLACE ? 6 : 4)];
}

static void call_scatter(rig *r, bench *b, xpu_op_id op, struct xpu_scatter_args *a, const xpu_tensor *const inputs[3],
                         const xpu_attr *attrs, uint32_t attr_count) {
    xpu_tensor y = operand_reference(b, op, inputs, 3, attrs, attr_count);
    a->index = operand_place(r, inputs[1]);
    a->updates = operand_place(r, inputs[2]);
    a->y = operand_place(r, inputs[0]); /* the layer copies it */
    rig_expect(r, a->y, y.data, (uint32_t)xpu_tensor_bytes(&y));
    a->element_bytes = (int32_t)xpu_dtype_bytes(y.dtype);
    a->index_bytes = (int32_t)xpu_dtype_bytes(inputs[1]->dtype);
    a->number = xpu_number_of(y.dtype);
    rig_call(r, XPU_CALL_scatter, 0, a, sizeof *a);
}

static void add_elements(rig *r, bench *b) {
    struct xpu_scatter_args a = {.outer = (int32_t)draw(r, 1, 8), .by_element = 1, .columns = 1};
    a.count = (int32_t)draw(r, 1, 60);
    a.inner = (int32_t)draw(r, 1, draw(r, 0, 1) ? 1 : 30);
    a.n = (int32_t)draw(r, 1, draw(r, 0, 3) ? 30 : 900);
    a.kind = (int32_t)draw(r, 0, XA_PLACINGS - 1);
    a.dims[0] = a.count;
    rig_describe(r, "%d elements of %d x %d x %d, kind %d", a.n, a.outer, a.count, a.inner, a.kind);
    const xpu_dtype dtype = draw_type(r, a.kind);
    xpu_tensor x = operand_random(b, r->random, dtype, DIMS(a.outer, a.count, a.inner));
    xpu_tensor list = operand_indices(r, b, draw(r, 0, 1) != 0, a.count, DIMS(a.outer, a.n, a.inner));
    xpu_tensor updates = operand_random(b, r->random, dtype, DIMS(a.outer, a.n, a.inner));
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(AXIS, 1), XPU_ATTR_INT_OF(KIND, a.kind)};
    call_scatter(r, b, XPU_OP_SCATTER_ELEMENTS, &a, (const xpu_tensor *const[]){&x, &list, &updates}, attrs, 2);
}

/* Pairs over [side][side][inner]. */
static void add_pairs(rig *r, bench *b) {
    struct xpu_scatter_args a = {.outer = 1, .columns = 2};
    int32_t side = (int32_t)draw(r, 1, 9);
    a.count = side * side;
    a.inner = (int32_t)(draw(r, 0, 4) == 0 ? draw(r, 500, 5000) : draw(r, 1, 40));
    a.n = (int32_t)draw(r, 1, draw(r, 0, 3) || a.inner > 40 ? 30 : 1500);
    a.kind = (int32_t)draw(r, 0, XA_PLACINGS - 1);
    a.dims[0] = a.dims[1] = side;
    rig_describe(r, "%d pairs of %d^2 x %d, kind %d", a.n, side, a.inner, a.kind);
    const xpu_dtype dtype = draw_type(r, a.kind);
    xpu_tensor x = operand_random(b, r->random, dtype, DIMS(side, side, a.inner));
    xpu_tensor list = operand_indices(r, b, draw(r, 0, 1) != 0, side, DIMS(a.n, 2));
    xpu_tensor updates = operand_random(b, r->random, dtype, DIMS(a.n, a.inner));
    call_scatter(r, b, XPU_OP_SCATTER_ND, &a, (const xpu_tensor *const[]){&x, &list, &updates},
                 &XPU_ATTR_INT_OF(KIND, a.kind), 1);
}

static void scatter(void) {
    rig_on_each_chip("elements placed", 30, add_elements);
    rig_on_each_chip("rows placed", 40, add_pairs);
}

/* ---- order ---- */

static void add_top(rig *r, bench *b) {
    static const xpu_dtype types[] = {XPU_F32, XPU_I32, XPU_U32, XPU_I64, XPU_U64};
    struct xpu_top_args a = {.rows = (int32_t)draw(r, 1, draw(r, 0, 2) ? 3 : 20)};
    a.count = (int32_t)draw(r, 1, draw(r, 0, 2) ? 300 : a.rows > 3 ? 900 : 6000);
    a.k = (int32_t)draw(r, 1, draw(r, 0, 1) ? a.count : (a.count + 19) / 20);
    a.largest = (int32_t)draw(r, 0, 1);
    const xpu_dtype dtype = types[draw(r, 0, 4)];
    rig_describe(r, "%d of %d x %d %s", a.k, a.rows, a.count, xpu_dtype_name(dtype));
    xpu_tensor x = operand_random(b, r->random, dtype, DIMS(a.rows, a.count));
    if (dtype == XPU_F32) operand_spoil(r->random, &x, 9);
    const size_t bytes = xpu_dtype_bytes(dtype);
    for (int64_t i = 1; i < xpu_tensor_count(&x); i++) { /* equal ones */
        char *element = (char *)x.data + (size_t)i * bytes;
        if (draw(r, 0, 3) == 0) memcpy(element, element - bytes, bytes);
    }
    const xpu_tensor *const inputs[] = {&x};
    xpu_dim k = xpu_dim_const(&b->graph->dims, a.k);
    const xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(SHAPE, &k, 1), XPU_ATTR_INT_OF(KIND, a.largest)};
    xpu_tensor y = operand_reference(b, XPU_OP_TOP, inputs, 1, attrs, 2);
    a.number = xpu_number_of(dtype);
    a.element_bytes = (int32_t)bytes;
    a.x = operand_place(r, &x);
    a.y = operand_expect(r, &y);
    a.scratch = rig_scratch(r, 2 * (uint32_t)(a.rows * a.count) * (uint32_t)(bytes + 4));
    rig_call(r, XPU_CALL_top, 0, &a, sizeof a);
}

static void order(void) {
    rig_on_each_chip("first by order", 60, add_top);
}

/* ---- boxes ---- */

static xpu_tensor draw_boxes(rig *r, bench *b, const struct xpu_nms_args *a) {
    xpu_tensor boxes = operand_random(b, r->random, XPU_F32, DIMS(a->tasks / a->classes, a->count, 4));
    float *side = boxes.data;
    for (int64_t i = 0; i < xpu_tensor_count(&boxes); i++, side++) *side = (float)draw(r, 0, 80) * 0.125f;
    if (draw(r, 0, 3) == 0) operand_spoil(r->random, &boxes, 30);
    return boxes;
}

static void add_nms(rig *r, bench *b) {
    struct xpu_nms_args a = {.classes = (int32_t)draw(r, 1, 4), .kind = (int32_t)draw(r, 0, XA_BOX_KINDS - 1)};
    a.tasks = a.classes * (int32_t)draw(r, 1, 2);
    a.count = (int32_t)draw(r, 1, draw(r, 0, 3) ? 60 : 1500);
    a.most = (int32_t)draw(r, 1, a.count < 60 ? a.count : 30);
    const int thresholds = (int)draw(r, 0, 2);
    float limits[] = {(float)draw(r, 0, 10) * 0.1f, (float)draw(r, -10, 10) * 0.2f};
    rig_describe(r, "%d of %d boxes of kind %d, %d classes, thresholds %.1f %.1f", a.most, a.count, a.kind, a.tasks,
                 (double)limits[0], (double)limits[1]);
    xpu_tensor boxes = draw_boxes(r, b, &a), limit[2];
    xpu_tensor scores = operand_random(b, r->random, XPU_F32, DIMS(a.tasks / a.classes, a.classes, a.count));
    operand_spoil(r->random, &scores, 20);
    for (int i = 0; i < 2; i++) limit[i] = (xpu_tensor){.dtype = XPU_F32, .data = &limits[i]};
    const xpu_tensor *const inputs[] = {&boxes, &scores, &limit[0], &limit[1]};
    xpu_dim most = xpu_dim_const(&b->graph->dims, a.most);
    const xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(SHAPE, &most, 1), XPU_ATTR_INT_OF(KIND, a.kind)};
    xpu_tensor y = operand_reference(b, XPU_OP_NMS, inputs, 2 + (uint32_t)thresholds, attrs, 2);
    a.boxes = operand_place(r, &boxes);
    a.scores = operand_place(r, &scores);
    if (thresholds > 0) a.overlap = operand_place(r, &limit[0]);
    if (thresholds > 1) a.threshold = operand_place(r, &limit[1]);
    a.y = operand_expect(r, &y);
    a.scratch_bytes = XA_NMS_PLANES_BYTES * (XA_NMS_SPARSE * a.count + XA_NMS_ROOM);
    a.scratch = rig_scratch(r, (uint32_t)a.scratch_bytes * r->chip.cores);
    rig_call(r, XPU_CALL_nms, 0, &a, sizeof a);
}

static void suppress(void) {
    rig_on_each_chip("boxes", 40, add_nms);
}

/* ---- chance ---- */

static void add_random(rig *r, bench *b) {
    struct xpu_random_args a = {.count = (int32_t)draw(r, 1, draw(r, 0, 1) ? 90 : 9000)};
    const uint64_t seed = random_bits(r->random);
    xpu_dim count = xpu_dim_const(&b->graph->dims, a.count);
    const xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(SHAPE, &count, 1), XPU_ATTR_INT_OF(SEED, (int64_t)seed)};
    rig_describe(r, "%d numbers by chance", a.count);
    xpu_tensor y = operand_reference(b, XPU_OP_RANDOM, NULL, 0, attrs, 2);
    a.y = operand_expect(r, &y);
    a.seed = (int32_t)(uint32_t)seed;
    a.stream = (int32_t)(uint32_t)(seed >> 32);
    rig_call(r, XPU_CALL_random, 0, &a, sizeof a);
}

/* The published answer of Philox4x32-10 of zeros. */
static void chance(void) {
    const xa_random_words zeros = xa_philox(0, 0, 0);
    CU_ASSERT_EQUAL(zeros.word[0], 0x6627e8d5);
    CU_ASSERT_EQUAL(zeros.word[1], 0xe169c58d);
    CU_ASSERT_EQUAL(zeros.word[2], 0xbc57ac4c);
    CU_ASSERT_EQUAL(zeros.word[3], 0x9b00dbd8);
    rig_on_each_chip("numbers", 20, add_random);
}

static void sequences(void) {
    static const rig_add adds[] = {add_elements, add_pairs, add_top, add_nms, add_random};
    rig_sequences("sequences", 10, adds, (int)(sizeof adds / sizeof *adds));
}

XPU_TEST_MAIN("kernels that choose and place", {"scatter", scatter}, {"order", order}, {"boxes", suppress},
              {"chance", chance}, {"sequences", sequences})
