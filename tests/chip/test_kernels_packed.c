/*
 * Products of two computed matrices, on the functional chip: pack_matrix against the reference kernel, conv2d_i16 with
 * weights that an earlier call made, and softmax in two parts. Matrices of every size around the array's; rows and
 * columns of zeros, subnormals, infinities and NaNs.
 */
#include "core/arith.h"
#include "tests/chip/rig/operands.h"

static int32_t columns_of(const rig *r) {
    return (int32_t)r->chip.array_columns;
}

/* Often 1, often around a block of columns. */
static int32_t draw_size(rig *r, int64_t most) {
    int64_t kind = draw(r, 0, 5), near = columns_of(r) * draw(r, 1, 3) + draw(r, -1, 1);
    int64_t size = kind == 0 ? 1 : kind < 3 ? near : draw(r, 1, most);
    return (int32_t)(size < most ? size : most);
}

static void spoil_columns(rig *r, xpu_tensor *x) {
    static const float factors[] = {0, 1, 0x1p-149f, 0x1p-130f, 0x1p100f, 1000, 0x1p-30f};
    int64_t width = x->dims[2];
    for (int64_t i = 0; i < xpu_tensor_count(x); i++) ((float *)x->data)[i] *= factors[(i % width + i / 97) % 7];
    if (draw(r, 0, 2) == 0) operand_spoil(r->random, x, 300);
}

static void add_pack(rig *r, bench *b) {
    struct xpu_pack_matrix_f32_args a = {.batch = (int32_t)draw(r, 1, 4), .columns = columns_of(r)};
    a.k = draw_size(r, draw(r, 0, 4) ? 120 : 2000);
    a.n = draw_size(r, 150);
    a.transposed = (int32_t)draw(r, 0, 1);
    a.narrow = (int32_t)draw(r, 0, 1);
    a.stride = a.k * a.n;
    rig_describe(r, "pack_matrix %d x %d x %d%s%s", a.batch, a.k, a.n, a.transposed ? " transposed" : "",
                 a.narrow ? " int8" : "");
    xpu_tensor x =
        operand_random(b, r->random, XPU_F32, DIMS(a.batch, a.transposed ? a.n : a.k, a.transposed ? a.k : a.n));
    spoil_columns(r, &x);
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(COLUMNS, a.columns), XPU_ATTR_INT_OF(TRANSPOSED, a.transposed),
                              XPU_ATTR_INT_OF(DTYPE, a.narrow ? XPU_I8 : XPU_I16)};
    xpu_tensor results[2];
    operand_both_references(b, XPU_OP_PACK_MATRIX, &x, results, attrs, 3);
    a.x = operand_place(r, &x);
    a.y = operand_expect(r, &results[0]);
    a.scales = operand_expect(r, &results[1]);
    rig_call(r, XPU_CALL_pack_matrix_f32, 0, &a, sizeof a);
}
static void pack(void) {
    rig_on_each_chip("pack_matrix", 60, add_pack);
}

/* Each image has its own weights, or all have one matrix. */
static void add_product(rig *r, bench *b) {
    struct xpu_conv2d_i16_args a = {
        .x_plane = sizeof(float), .batch = (int32_t)draw(r, 1, 4), .in_w = 1, .out_w = 1, .kernel_h = 1, .kernel_w = 1};
    int own = (int)draw(r, 0, 2) > 0;
    a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = a.groups = 1;
    a.in_h = a.out_h = draw_size(r, 100);
    a.in_c = draw_size(r, 150);
    a.out_c = a.y_pixel = draw_size(r, 150);
    a.w_int8 = (int32_t)draw(r, 0, 1);
    rig_describe(r, "product of %d x %d x %d x %d, weights of %s", a.batch, a.in_h, a.in_c, a.out_c,
                 own ? "each" : "all");
    int64_t matrices = own ? a.batch : 1;
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a.batch, a.in_h, a.in_c));
    xpu_tensor w = operand_random(b, r->random, XPU_F32, DIMS(matrices, a.in_c, a.out_c));
    xpu_tensor absmax = operand_random(b, r->random, XPU_F32, 0, NULL), packed[2];
    *(float *)absmax.data = 2;
    if (draw(r, 0, 3) == 0) operand_spoil(r->random, &w, 300);
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(COLUMNS, columns_of(r)),
                              XPU_ATTR_INT_OF(DTYPE, a.w_int8 ? XPU_I8 : XPU_I16)};
    operand_both_references(b, XPU_OP_PACK_MATRIX, &w, packed, attrs, 2);
    const xpu_tensor *const inputs[] = {&x, &packed[0], NULL, NULL, &packed[1], &absmax};
    const xpu_attr precision = XPU_ATTR_INT_OF(PRECISION, a.w_int8 ? XPU_PRECISION_INT16X8 : XPU_PRECISION_INT16);
    xpu_tensor y = operand_reference(b, XPU_OP_PACKED_MATMUL, inputs, 6, &precision, 1);
    a.w_image = own ? (int32_t)(xpu_tensor_bytes(&packed[0]) / (size_t)matrices) : 0;
    a.scale_image = 4 * a.out_c;
    a.x = operand_place(r, &x);
    a.w = operand_place(r, &packed[0]);
    a.w_scale = operand_place(r, &packed[1]);
    a.x_absmax = operand_place(r, &absmax);
    a.y = operand_expect(r, &y);
    a.sm = rig_sm() + 64 * (uint32_t)draw(r, 0, 20);
    do DRAW_TILE(r, &a, 0, a.w_int8 ? XPU_TILING_I16X8 : XPU_TILING_I16);
    while (own && a.whole & (XPU_TILE_WHOLE_W | XPU_TILE_SCALES));
    rig_call(r, XPU_CALL_conv2d_i16, 0, &a, sizeof a);
}
static void product(void) {
    rig_on_each_chip("products of computed matrices", 40, add_product);
}

static void add_parts(rig *r, bench *b) {
    struct xpu_softmax_parts_f32_args a = {.rows = (int32_t)draw(r, 1, 90), .count = (int32_t)draw(r, 1, 300)};
    rig_describe(r, "softmax_parts %d x %d", a.rows, a.count);
    xpu_tensor x = operand_random(b, r->random, XPU_F32, DIMS(a.rows, a.count)), results[2];
    for (int64_t i = 0; i < xpu_tensor_count(&x) && draw(r, 0, 99); i++) ((float *)x.data)[i] *= 60;
    if (draw(r, 0, 2) == 0) operand_spoil(r->random, &x, 300);
    operand_both_references(b, XPU_OP_SOFTMAX_PARTS, &x, results, NULL, 0);
    a.x = operand_place(r, &x);
    a.y = operand_expect(r, &results[0]);
    a.inverses = operand_expect(r, &results[1]);
    rig_call(r, XPU_CALL_softmax_parts_f32, 0, &a, sizeof a);
}
static void parts(void) {
    rig_on_each_chip("softmax_parts", 40, add_parts);
}

static void sequences(void) {
    static const rig_add adds[] = {add_pack, add_product, add_parts};
    rig_sequences("computed matrices, sequences", 15, adds, 3);
}

XPU_TEST_MAIN("kernels of computed matrices", {"pack", pack}, {"product", product}, {"parts", parts},
              {"sequences", sequences})
