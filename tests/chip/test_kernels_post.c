/*
 * Elementwise layers on the post-processor alone (kernel elementwise), against the formulas of core/arith.h: both
 * modes, dense tensors and rows that lie apart, sizes around the edges of tiles, bit for bit.
 */
#include <math.h>

#include "core/arith.h"
#include "tests/chip/rig/operands.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpu_tiling.h"

enum { MOST_ELEMENTS = 40000, FLOAT_BYTES = 4 };

/* A tensor of a case as it lies in memory; row 0: one row is for all of an image. */
typedef struct {
    uint8_t *bytes;
    uint32_t size;
    int32_t image, row;
    uint32_t type;
} side;

typedef struct {
    struct xpu_elementwise_args a;
    int32_t images, rows, columns; /* of a dense tensor: 1, 1, all */
    side x, branch, y;
    float *scale, *bias, most;
    uint8_t *table;
} layer_case;

static int32_t bytes_of(uint32_t type) {
    return type == XPU_TYPE_F32 || type == XPU_TYPE_I32 ? 4 : type == XPU_TYPE_I16 ? 2 : 1;
}

/* ---- drawing ---- */

static float draw_float(rig *r) {
    return (float)draw(r, -4000, 4000) / 1000.0f;
}

static void draw_floats(rig *r, float *to, uint32_t count) {
    const int spoiled = draw(r, 0, 3) == 0;
    xpu_tensor all = {XPU_F32, 1, {count}, to};
    for (uint32_t i = 0; i < count; i++) to[i] = draw_float(r);
    if (spoiled) operand_spoil(r->random, &all, 60);
}

static side draw_side(rig *r, bench *b, const layer_case *c, uint32_t type, int one_row) {
    side s = {.type = type};
    const int32_t element = bytes_of(type), own = c->columns * element, rows = one_row ? 1 : c->rows;
    const int32_t apart = c->a.columns && draw(r, 0, 1) ? element * (int32_t)draw(r, 0, 40) : 0;
    s.row = one_row ? 0 : own + apart;
    s.image =
        one_row && draw(r, 0, 1) ? 0 : rows * (own + apart) + (c->images > 1 ? element * (int32_t)draw(r, 0, 9) : 0);
    s.size = (uint32_t)((c->images - 1) * s.image + (rows - 1) * s.row + own);
    s.bytes = xpu_alloc(b->arena, s.size + FLOAT_BYTES);
    for (uint32_t i = 0; i < s.size; i++) s.bytes[i] = (uint8_t)draw(r, 0, 255);
    if (type == XPU_TYPE_F32) draw_floats(r, (float *)(void *)s.bytes, s.size / FLOAT_BYTES);
    return s;
}

static uint32_t place_side(rig *r, const side *s) {
    return rig_place(r, s->bytes, s->size, s->type == XPU_TYPE_F32 ? 4 : (uint32_t)bytes_of(s->type));
}

/* ---- formulas ---- */

static int32_t at(const side *s, int32_t image, int32_t row, int32_t column) {
    return image * s->image + row * s->row + column * bytes_of(s->type);
}

static int32_t read_integer(const side *s, int32_t offset) {
    const uint8_t *from = s->bytes + offset;
    int16_t half;
    int32_t word;
    if (s->type == XPU_TYPE_U8) return *from;
    if (s->type == XPU_TYPE_I8) return (int8_t)*from;
    memcpy(&half, from, sizeof half);
    if (s->type == XPU_TYPE_I16) return half;
    memcpy(&word, from, sizeof word);
    return word;
}

static float read_float(const side *s, int32_t offset, float scale, int32_t zero) {
    float value;
    if (s->type != XPU_TYPE_F32) return xa_mul((float)(read_integer(s, offset) - zero), scale);
    memcpy(&value, s->bytes + offset, sizeof value);
    return value;
}

static void expect_byte(layer_case *c, int32_t to, int32_t x, int32_t b, float scale) {
    const struct xpu_elementwise_args *a = &c->a;
    const xa_post_quantised p = {.zero = a->zero, .lo = a->least, .hi = a->most};
    int32_t y;
    if (a->op == XPU_POST_MUL)
        y = xa_qmul(x, a->x_zero, b, a->b_zero, a->ra, a->zero, a->least, a->most);
    else if (a->op == XPU_POST_ADD && a->branch_first)
        y = xa_qadd(b, x, a->rb, a->ra, a->f, a->least, a->most);
    else if (a->op == XPU_POST_ADD)
        y = xa_qadd(x, b, a->ra, a->rb, a->f, a->least, a->most);
    else
        y = xa_post_quantise(x - a->x_zero, scale, 0, &p);
    c->y.bytes[to] = c->table ? c->table[y & 255] : (uint8_t)y;
}

static void expect_float(layer_case *c, int32_t to, float v, float b, float scale, float bias) {
    const struct xpu_elementwise_args *a = &c->a;
    const xa_post_float p = {.has_bias = c->bias != NULL,
                             .has_branch = c->branch.bytes && a->op == XPU_POST_SCALE,
                             .act_after = a->branch_after || a->op == XPU_POST_MUL,
                             .activation = (xa_activation)a->activation,
                             .lo = a->activation == XPU_ACT_HARD_SWISH ? a->f : a->low,
                             .hi = a->high,
                             .slope = a->activation == XPU_ACT_HARD_SWISH ? a->ra : a->slope};
    float y;
    if (a->op == XPU_POST_MUL) {
        y = xa_mul(v, scale);
        if (c->bias) y += bias;
        y = xa_activate(xa_mul(y, b), &p);
    } else {
        y = xa_post_floating(v, scale, bias, b, &p);
    }
    if (a->clips_last) y = xa_clip(y, a->ra, a->rb);
    c->most = xa_absmax(c->most, y);
    if (c->y.type == XPU_TYPE_F32) {
        memcpy(c->y.bytes + to, &y, sizeof y);
        return;
    }
    const int32_t limit = c->y.type == XPU_TYPE_I16 ? INT16_MAX : INT8_MAX;
    const int32_t level = xa_clamp_i32(xa_rne_i32(xa_mul(y, a->out_scale)), -limit, limit);
    memcpy(c->y.bytes + to, &level, (size_t)bytes_of(c->y.type));
}

static void expect_all(layer_case *c) {
    const struct xpu_elementwise_args *a = &c->a;
    for (int32_t image = 0; image < c->images; image++) {
        const int32_t vector = image * a->vector_image / FLOAT_BYTES;
        for (int32_t i = 0; i < c->rows * c->columns; i++) {
            const int32_t row = i / c->columns, column = i % c->columns, to = at(&c->y, image, row, column);
            const int32_t x = at(&c->x, image, row, column);
            const int has_branch = c->branch.bytes != NULL;
            const int32_t b = has_branch ? at(&c->branch, image, row, column) : 0;
            const float scale = c->scale ? c->scale[vector + column] : a->factor,
                        bias = c->bias ? c->bias[vector + column] : 0;
            if (a->is_float)
                expect_float(c, to, read_float(&c->x, x, 1, a->x_zero),
                             has_branch ? read_float(&c->branch, b, a->branch_scale, 0) : 0, scale, bias);
            else
                expect_byte(c, to, read_integer(&c->x, x), has_branch ? read_integer(&c->branch, b) : 0, scale);
        }
    }
}

/* ---- cases ---- */

static int64_t scratch_of(const layer_case *c, int64_t tile) {
    const struct xpu_elementwise_args *a = &c->a;
    const xpu_tiling_elementwise s = {.tile = (uint32_t)tile,
                                      .columns = (uint32_t)a->columns,
                                      .x = (uint32_t)bytes_of(c->x.type),
                                      .branch = c->branch.bytes ? (uint32_t)bytes_of(c->branch.type) : 0,
                                      .y = (uint32_t)bytes_of(c->y.type),
                                      .one_branch = a->columns && c->branch.bytes && !c->branch.row,
                                      .scale = c->scale != NULL,
                                      .bias = c->bias != NULL,
                                      .by_image = a->vector_image != 0,
                                      .table = c->table != NULL};
    return (int64_t)xpu_tiling_elementwise_layout(&s).total;
}

/* Sizes around the edges of tiles and of rows of the engine. */
static void draw_sizes(rig *r, layer_case *c) {
    struct xpu_elementwise_args *a = &c->a;
    c->images = c->rows = 1;
    a->tile = (int32_t)(draw(r, 0, 1) ? draw(r, 1, 40) : draw(r, 1, 3000));
    const int32_t steps = (int32_t)draw(r, 1, 7), edge = a->tile * steps + (int32_t)draw(r, -1, 1);
    if (draw(r, 0, 1)) { /* dense */
        c->columns = edge < 1 ? 1 : edge;
        a->images = 1, a->rows = c->columns;
        return;
    }
    static const int32_t widths[] = {1, 7, 8, 9, 16, 31, 32, 33, 63, 64, 65, 96, 130, 200};
    c->columns = draw(r, 0, 1) ? widths[draw(r, 0, 13)] : (int32_t)draw(r, 1, 200);
    c->rows = edge < 1 ? 1 : edge;
    if (c->rows * c->columns > MOST_ELEMENTS) c->rows = MOST_ELEMENTS / c->columns;
    if (c->rows * c->columns < MOST_ELEMENTS / 3) c->images = (int32_t)draw(r, 1, 3);
    a->images = c->images, a->rows = c->rows, a->columns = c->columns;
}

static void draw_vectors(rig *r, bench *b, layer_case *c, int bias) {
    const uint32_t columns = (uint32_t)c->columns;
    uint32_t count = columns;
    if (!c->a.columns) return;
    if (draw(r, 0, 1)) {
        c->a.vector_image = FLOAT_BYTES * ((int32_t)columns + (int32_t)draw(r, 0, 3));
        count = (uint32_t)c->images * (uint32_t)c->a.vector_image / FLOAT_BYTES;
    }
    c->a.vectors_computed = (int32_t)draw(r, 0, 1);
    if (draw(r, 0, 1)) draw_floats(r, c->scale = xpu_alloc(b->arena, FLOAT_BYTES * count), count);
    if (bias && draw(r, 0, 1)) draw_floats(r, c->bias = xpu_alloc(b->arena, FLOAT_BYTES * count), count);
    if (!c->scale && !c->bias) c->a.vector_image = 0;
    const uint32_t bytes = FLOAT_BYTES * count;
    if (c->scale) c->a.scale = rig_place(r, c->scale, bytes, 4);
    if (c->bias) c->a.bias = rig_place(r, c->bias, bytes, 4);
}

static void finish(rig *r, layer_case *c) {
    struct xpu_elementwise_args *a = &c->a;
    const int64_t room = (int64_t)XPU_SM_BASE + r->chip.sm_bytes - rig_sm();
    while (a->tile > 1 && scratch_of(c, a->tile) > room) a->tile = (a->tile + 1) / 2;
    a->sm = rig_sm(), a->sm_bytes = (int32_t)scratch_of(c, a->tile);
    CU_ASSERT_FATAL(a->sm_bytes <= room);
    a->x_type = (int32_t)c->x.type, a->y_type = (int32_t)c->y.type, a->branch_type = (int32_t)c->branch.type;
    a->x = place_side(r, &c->x), a->y = place_side(r, &c->y);
    if (c->branch.bytes) a->branch = place_side(r, &c->branch);
    if (a->columns) {
        a->x_image = c->x.image, a->x_row = c->x.row, a->y_image = c->y.image, a->y_row = c->y.row;
        a->branch_image = c->branch.image, a->branch_row = c->branch.row;
    }
    expect_all(c);
    rig_expect(r, a->y, c->y.bytes, c->y.size);
    if (a->y_absmax) rig_expect(r, a->y_absmax, &c->most, sizeof c->most);
    rig_describe(r, "%s: op %d, %d images of %d rows of %d columns, tile %d, types %d %d %d, rows apart %d %d %d%s%s%s",
                 a->is_float ? "floats" : "bytes", a->op, c->images, c->rows, a->columns, a->tile, a->x_type,
                 a->branch ? a->branch_type : -1, a->y_type, a->x_row, a->branch_row, a->y_row,
                 a->scale ? ", scale" : "", a->bias ? ", bias" : "", a->table ? ", table" : "");
    rig_call(r, XPU_CALL_elementwise, 0, a, sizeof *a);
}

static uint32_t draw_byte(rig *r) {
    return draw(r, 0, 1) ? XPU_TYPE_I8 : XPU_TYPE_U8;
}

static int32_t draw_zero(rig *r, uint32_t type) {
    return (int32_t)(type == XPU_TYPE_I8 ? draw(r, -128, 127) : draw(r, 0, 255));
}

/* Sums, products, and bytes rescaled or by a table. */
static void add_bytes(rig *r, bench *b) {
    layer_case c = {.a = {.factor = (float)draw(r, 1, 3000) / 1000.0f, .out_scale = 1, .branch_scale = 1}};
    struct xpu_elementwise_args *a = &c.a;
    draw_sizes(r, &c);
    a->op = (int32_t)draw(r, XPU_POST_SCALE, XPU_POST_MUL);
    c.x = draw_side(r, b, &c, draw_byte(r), 0);
    c.y = draw_side(r, b, &c, draw_byte(r), 0);
    if (a->op != XPU_POST_SCALE) c.branch = draw_side(r, b, &c, draw_byte(r), a->columns && draw(r, 0, 2) == 0);
    a->least = c.y.type == XPU_TYPE_I8 ? -128 : 0, a->most = a->least + 255;
    if (draw(r, 0, 3) == 0) a->least += (int32_t)draw(r, 0, 100), a->most -= (int32_t)draw(r, 0, 100);
    a->x_zero = a->op == XPU_POST_ADD ? 0 : draw_zero(r, c.x.type);
    a->b_zero = a->op == XPU_POST_MUL ? draw_zero(r, c.branch.type) : 0;
    a->zero = draw_zero(r, c.y.type);
    a->branch_first = a->op == XPU_POST_ADD && draw(r, 0, 1);
    a->ra = (float)draw(r, 1, 2000) / (a->op == XPU_POST_MUL ? 60000.0f : 1000.0f);
    a->rb = (float)draw(r, 1, 2000) / 1000.0f, a->f = (float)draw(r, -40000, 40000) / 128.0f;
    if (a->op == XPU_POST_SCALE) draw_vectors(r, b, &c, 0);
    if (draw(r, 0, 2) == 0) {
        c.table = xpu_alloc(b->arena, XPU_TILING_TABLE);
        for (int i = 0; i < XPU_TILING_TABLE; i++) c.table[i] = (uint8_t)draw(r, 0, 255);
        a->table = rig_place(r, c.table, XPU_TILING_TABLE, 1);
        a->vectors_computed = (int32_t)draw(r, 0, 1);
    }
    finish(r, &c);
}
static void bytes(void) {
    rig_on_each_chip("elementwise layers of bytes", 60, add_bytes);
}

static void add_floats(rig *r, bench *b) {
    static const uint32_t types[] = {XPU_TYPE_F32, XPU_TYPE_I16, XPU_TYPE_I8}, more[] = {XPU_TYPE_U8, XPU_TYPE_I32};
    layer_case c = {.a = {.is_float = 1,
                          .factor = draw(r, 0, 1) ? 1.0f : -0.3f,
                          .low = -1.5f,
                          .high = draw(r, 0, 1) ? 6.0f : INFINITY,
                          .slope = 0.125f,
                          .out_scale = 20,
                          .branch_scale = 0.03125f}};
    struct xpu_elementwise_args *a = &c.a;
    draw_sizes(r, &c);
    const int mixed = draw(r, 0, 2) == 0;
    a->op = draw(r, 0, 2) ? XPU_POST_SCALE : XPU_POST_MUL;
    const int has_branch = a->op == XPU_POST_MUL || draw(r, 0, 1);
    c.x = draw_side(r, b, &c, !mixed ? XPU_TYPE_F32 : draw(r, 0, 2) ? types[draw(r, 0, 2)] : more[draw(r, 0, 1)], 0);
    c.y = draw_side(r, b, &c, mixed ? types[draw(r, 0, 2)] : XPU_TYPE_F32, 0);
    if (has_branch)
        c.branch = draw_side(r, b, &c, mixed ? types[draw(r, 0, 2)] : XPU_TYPE_F32, a->columns && draw(r, 0, 2) == 0);
    a->activation =
        (int32_t)draw(r, XPU_ACT_NONE, c.y.type == XPU_TYPE_F32 && !has_branch ? XPU_ACT_HARD_SWISH : XPU_ACT_LEAKY);
    a->branch_after = a->op == XPU_POST_SCALE && has_branch && draw(r, 0, 1);
    a->ra = 0.75f, a->rb = 3, a->f = 0.3f;
    if (c.y.type == XPU_TYPE_F32 && a->activation != XPU_ACT_HARD_SWISH && draw(r, 0, 2) == 0)
        a->clips_last = 1, a->ra = -1;
    if (c.x.type != XPU_TYPE_F32) a->x_zero = (int32_t)draw(r, -9, 9);
    draw_vectors(r, b, &c, 1);
    if (draw(r, 0, 1)) a->y_absmax = rig_place(r, NULL, sizeof c.most, 4);
    finish(r, &c);
}
static void floats(void) {
    rig_on_each_chip("elementwise layers of floats", 60, add_floats);
}

/* Behind each other: buffers, counters and parameters of one layer are those of the next. */
static void sequences(void) {
    static const rig_add adds[] = {add_bytes, add_floats};
    rig_sequences("elementwise layers behind each other", 15, adds, 2);
}

XPU_TEST_MAIN("elementwise layers on the post-processor", {"bytes", bytes}, {"floats", floats},
              {"sequences", sequences})
