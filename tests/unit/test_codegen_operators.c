/*
 * Random operators in random shapes and layouts: models of independent branches, one operator each, run on the
 * functional chip and on ref; every layer is equal bit for bit. XPU_RANDOM_SEED=N replays one seed.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "core/ops/op.h"
#include "frontend/onnx/onnx.h"
#include "tests/gen/devices.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/unit.h"
#include "xpuc/include/xpuc.h"

enum { BRANCHES = 14, MAX_OPERANDS = 4, BATCH = 3, OPSET = 14 };

typedef struct {
    uint64_t state;
    xpu_arena *arena;
    xpu_onnx_builder onnx;
    xpurt_tensor inputs[BRANCHES * MAX_OPERANDS];
    uint32_t input_count, made;
} model;

/* A value under construction: dims[0] is the free dimension where `free` is set. */
typedef struct {
    const char *name;
    int rank, free;
    int64_t dims[8];
} value;

static int64_t draw(model *m, int64_t low, int64_t high) {
    m->state ^= m->state << 13;
    m->state ^= m->state >> 7;
    m->state ^= m->state << 17;
    return low + (int64_t)(m->state % (uint64_t)(high - low + 1));
}

static const char *fresh(model *m, const char *stem) {
    return xpu_printf(m->arena, "%s_%u", stem, m->made++);
}

static float *random_floats(model *m, int64_t count) {
    float *data = XPU_NEW_ARRAY(m->arena, float, count);
    for (int64_t i = 0; i < count; i++) data[i] = (float)draw(m, -1000, 1000) / 256.0f;
    return data;
}

static int64_t count_of(int rank, const int64_t *dims) {
    int64_t count = 1;
    for (int i = 0; i < rank; i++) count *= dims[i];
    return count;
}

static value input(model *m, int rank, const int64_t *dims, int free_batch) {
    value v = {.name = fresh(m, "x"), .rank = rank, .free = free_batch};
    int64_t declared[8];
    memcpy(v.dims, dims, (size_t)rank * sizeof *dims);
    if (free_batch) v.dims[0] = BATCH;
    memcpy(declared, v.dims, sizeof declared);
    if (free_batch) declared[0] = -1;
    xpu_onnx_input(&m->onnx, v.name, rank, declared);
    xpurt_tensor *tensor = &m->inputs[m->input_count++];
    *tensor = (xpurt_tensor){.name = v.name, .dtype = "float32", .rank = rank};
    memcpy(tensor->dims, v.dims, sizeof tensor->dims);
    tensor->data = random_floats(m, count_of(rank, v.dims));
    return v;
}

static value random_input(model *m, int least_rank, int most_rank) {
    int64_t dims[8];
    int rank = (int)draw(m, least_rank, most_rank);
    for (int i = 0; i < rank; i++) dims[i] = draw(m, 0, 3) ? draw(m, 2, 6) : 1;
    return input(m, rank, dims, draw(m, 0, 1) == 1);
}

static const char *int64s(model *m, const int64_t *values, int count) {
    const char *name = fresh(m, "k");
    xpu_tensor tensor = {.dtype = XPU_I64, .rank = 1, .dims = {count}, .data = (void *)(uintptr_t)values};
    xpu_onnx_initializer(&m->onnx, name, &tensor, 0);
    return name;
}

static value constant(model *m, int rank, const int64_t *dims) {
    value v = {.name = fresh(m, "c"), .rank = rank};
    for (int i = 0; i < rank; i++) v.dims[i] = dims[i];
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = rank, .data = random_floats(m, count_of(rank, dims))};
    memcpy(tensor.dims, v.dims, sizeof tensor.dims);
    xpu_onnx_initializer(&m->onnx, v.name, &tensor, 0);
    return v;
}

static XpuOnnx__NodeProto *node(model *m, const char *op, value *result, const char *const *inputs) {
    result->name = fresh(m, op);
    return xpu_onnx_node(&m->onnx, op, result->name, result->name, inputs);
}

/* Max pooling over one element changes nothing but the layout. */
static value channel_last(model *m, value x) {
    static const int64_t ones[] = {1, 1};
    if (x.rank != 3 && x.rank != 4) return x;
    value y = x;
    XpuOnnx__NodeProto *pool = node(m, "MaxPool", &y, (const char *[]){x.name, NULL});
    xpu_onnx_ints(&m->onnx, pool, "kernel_shape", ones, (size_t)x.rank - 2);
    return y;
}

static value maybe_channel_last(model *m, value x) {
    return draw(m, 0, 1) ? channel_last(m, x) : x;
}

static void output(model *m, value y) {
    int64_t declared[8];
    memcpy(declared, y.dims, sizeof declared);
    for (int i = 0; i < y.rank && y.free; i++) {
        if (y.free == i + 1) declared[i] = -1;
    }
    xpu_onnx_output(&m->onnx, y.name, y.rank, declared);
}

/* ---- the operators ---- */

static value transpose(model *m) {
    value x = maybe_channel_last(m, random_input(m, 2, 5)), y = x;
    int64_t perm[8];
    for (int i = 0; i < x.rank; i++) perm[i] = i;
    for (int i = x.rank - 1; i > 0; i--) {
        int j = (int)draw(m, 0, i);
        int64_t t = perm[i];
        perm[i] = perm[j];
        perm[j] = t;
    }
    for (int i = 0; i < x.rank; i++) {
        y.dims[i] = x.dims[perm[i]];
        if (x.free && perm[i] == 0) y.free = i + 1;
    }
    xpu_onnx_ints(&m->onnx, node(m, "Transpose", &y, (const char *[]){x.name, NULL}), "perm", perm, (size_t)x.rank);
    return y;
}

static value concat(model *m) {
    value x = random_input(m, 2, 5), y = x;
    int axis = (int)draw(m, x.free ? 1 : 0, x.rank - 1), count = (int)draw(m, 1, 3);
    const char *names[MAX_OPERANDS + 1] = {maybe_channel_last(m, x).name};
    for (int i = 1; i < count; i++) {
        int64_t dims[8];
        memcpy(dims, x.dims, sizeof dims);
        dims[axis] = draw(m, 1, 5);
        y.dims[axis] += dims[axis];
        names[i] = maybe_channel_last(m, input(m, x.rank, dims, x.free)).name;
    }
    xpu_onnx_int(&m->onnx, node(m, "Concat", &y, names), "axis", axis);
    return y;
}

static value pad(model *m) {
    static const char *const modes[] = {"constant", "reflect", "edge"};
    value x = maybe_channel_last(m, random_input(m, 2, 5)), y = x;
    int mode = (int)draw(m, 0, 2);
    int64_t pads[16] = {0};
    for (int i = x.free ? 1 : 0; i < x.rank; i++) {
        for (int end = 0; end < 2; end++) {
            int64_t most = mode == 1 ? x.dims[i] - 1 : 3;
            pads[i + end * x.rank] = draw(m, mode == 0 && x.dims[i] > 2 ? -1 : 0, most < 3 ? most : 3);
        }
        y.dims[i] += pads[i] + pads[i + x.rank];
    }
    value fill = constant(m, 0, NULL);
    const char *names[] = {x.name, int64s(m, pads, 2 * x.rank), mode == 0 ? fill.name : NULL, NULL};
    xpu_onnx_string(&m->onnx, node(m, "Pad", &y, names), "mode", modes[mode]);
    return y;
}

static value softmax(model *m) {
    value x = maybe_channel_last(m, random_input(m, 2, 4)), y = x;
    xpu_onnx_int(&m->onnx, node(m, "Softmax", &y, (const char *[]){x.name, NULL}), "axis", draw(m, 0, x.rank - 1));
    return y;
}

static value reshape(model *m) {
    value x = maybe_channel_last(m, random_input(m, 2, 4));
    value y = {.rank = 2, .free = x.free, .dims = {x.dims[0], count_of(x.rank - 1, x.dims + 1)}};
    int64_t target[2] = {x.free ? -1 : x.dims[0], y.dims[1]};
    node(m, "Reshape", &y, (const char *[]){x.name, int64s(m, target, 2), NULL});
    return y;
}

/* A reshape that splits dims, a transpose, a reshape that joins dims: channels shuffled, made of pixels, or pixels made
 * of channels. */
static value shuffle(model *m) {
    static const int64_t perms[][6] = {{0, 2, 1, 3, 4, 5}, {0, 1, 3, 5, 2, 4}, {0, 1, 4, 2, 5, 3}};
    const int kind = (int)draw(m, 0, 2), free_batch = (int)draw(m, 0, 1);
    const int64_t c = draw(m, 1, 20), h = draw(m, 1, 4), w = draw(m, 1, 4), r = draw(m, 1, 3), s = draw(m, 1, 3);
    const int64_t split[][6] = {{1, r, c, h, w, 1}, {1, c, h, r, w, s}, {1, c, r, s, h, w}};
    const int64_t dims[][4] = {{1, r * c, h, w}, {1, c, h * r, w * s}, {1, c * r * s, h, w}};
    const int64_t joined[][4] = {{1, r * c, h, w}, {1, c * r * s, h, w}, {1, c, h * r, w * s}};
    value x = maybe_channel_last(m, input(m, 4, dims[kind], free_batch)), y = x, between = {0};
    int64_t to_split[6], to_joined[4];
    memcpy(to_split, split[kind], sizeof to_split);
    memcpy(to_joined, joined[kind], sizeof to_joined);
    to_split[0] = to_joined[0] = free_batch ? -1 : 1;
    node(m, "Reshape", &between, (const char *[]){x.name, int64s(m, to_split, 6), NULL});
    const char *parts = between.name;
    XpuOnnx__NodeProto *moved = node(m, "Transpose", &between, (const char *[]){parts, NULL});
    xpu_onnx_ints(&m->onnx, moved, "perm", perms[kind], 6);
    if (!draw(m, 0, 7)) output(m, (value){.name = between.name}); /* an output, too: each makes a layer */
    memcpy(y.dims + 1, to_joined + 1, 3 * sizeof *y.dims);
    node(m, "Reshape", &y, (const char *[]){between.name, int64s(m, to_joined, 4), NULL});
    if (draw(m, 0, 2)) return y;
    static const int64_t last[] = {0, 2, 3, 1}; /* the second reshape may begin another one */
    value z = {.rank = 4, .free = y.free, .dims = {y.dims[0], y.dims[2], y.dims[3], y.dims[1]}};
    xpu_onnx_ints(&m->onnx, node(m, "Transpose", &z, (const char *[]){y.name, NULL}), "perm", last, 4);
    return z;
}

static value matmul(model *m) {
    int64_t rows = draw(m, 1, 5), depth = draw(m, 1, 9), columns = draw(m, 1, 20), lead = draw(m, 2, 3);
    int form = (int)draw(m, 0, 4), free_batch = form < 4 && draw(m, 0, 1);
    value a = input(m, 3, (int64_t[]){lead, rows, depth}, free_batch), b;
    if (form == 0) b = constant(m, 2, (int64_t[]){depth, columns});
    if (form == 1) b = input(m, 2, (int64_t[]){depth, columns}, 0);
    if (form == 2) b = input(m, 3, (int64_t[]){lead, depth, columns}, free_batch);
    if (form == 3) b = input(m, 3, (int64_t[]){1, depth, columns}, 0);
    if (form == 4) b = constant(m, 3, (int64_t[]){lead, depth, columns});
    value y = {.rank = 3, .free = free_batch, .dims = {a.dims[0], rows, columns}};
    node(m, "MatMul", &y, (const char *[]){a.name, b.name, NULL});
    return y;
}

/* An operand that broadcasts to the shape of x: some dims 1, some leading ones left out. */
static value broadcast_operand(model *m, value x) {
    int cut = (int)draw(m, 0, x.rank - 1), rank = x.rank - cut, keeps_batch = 0;
    int64_t dims[8];
    for (int i = 0; i < rank; i++) {
        int keep = (int)draw(m, 0, 2) > 0;
        dims[i] = keep ? x.dims[i + cut] : 1;
        if (cut == 0 && i == 0) keeps_batch = keep && x.free;
    }
    if (!keeps_batch && draw(m, 0, 1)) {
        if (x.free && cut == 0) dims[0] = 1;
        return constant(m, rank, dims);
    }
    return maybe_channel_last(m, input(m, rank, dims, keeps_batch));
}

static int takes_floats(const xpu_op *row) {
    xpu_signature signature = xpu_elementwise_signature((xpu_elementwise)row->elementwise);
    return signature == XPU_EW_FLOATS || signature == XPU_EW_NUMBERS;
}

/* An ONNX operator of OPSET that is one elementwise operator of the core on float32, of so many operands. */
static const char *any_elementwise(model *m, int operands) {
    for (;;) {
        xpu_onnx_operator op = xpu_onnx_operator_at((uint32_t)draw(m, 0, xpu_onnx_operator_count() - 1));
        const xpu_op *row = xpu_op_by_name(op.core);
        if (row && row->elementwise >= 0 && takes_floats(row) && row->max_inputs == operands &&
            op.versions[0] <= OPSET && !op.domain[0]) {
            return op.name;
        }
    }
}

static value elementwise(model *m) {
    value y = maybe_channel_last(m, random_input(m, 1, 5)); /* five loops run on the host */
    for (int steps = (int)draw(m, 1, 4); steps > 0; steps--) {
        value x = y;
        if (draw(m, 0, 1)) {
            value other = broadcast_operand(m, x);
            node(m, any_elementwise(m, 2), &y, (const char *[]){x.name, other.name, NULL});
        } else {
            node(m, any_elementwise(m, 1), &y, (const char *[]){x.name, NULL});
        }
    }
    return y;
}

static value pool(model *m) {
    value x = random_input(m, 3, 4), y = x;
    int average = (int)draw(m, 0, 2);
    if (average == 2) {
        for (int i = 2; i < x.rank; i++) y.dims[i] = 1;
        node(m, "GlobalAveragePool", &y, (const char *[]){x.name, NULL});
        return y;
    }
    int64_t kernel[2], strides[2], pads[4];
    int dims = x.rank - 2;
    for (int i = 0; i < dims; i++) {
        kernel[i] = draw(m, 1, x.dims[2 + i]);
        strides[i] = draw(m, 1, 2);
        pads[i] = draw(m, 0, kernel[i] - 1);
        pads[dims + i] = draw(m, 0, kernel[i] - 1);
        y.dims[2 + i] = (x.dims[2 + i] + pads[i] + pads[dims + i] - kernel[i]) / strides[i] + 1;
    }
    XpuOnnx__NodeProto *proto = node(m, average ? "AveragePool" : "MaxPool", &y, (const char *[]){x.name, NULL});
    xpu_onnx_ints(&m->onnx, proto, "kernel_shape", kernel, (size_t)dims);
    xpu_onnx_ints(&m->onnx, proto, "strides", strides, (size_t)dims);
    xpu_onnx_ints(&m->onnx, proto, "pads", pads, (size_t)dims * 2);
    if (average) xpu_onnx_int(&m->onnx, proto, "count_include_pad", draw(m, 0, 1));
    return y;
}

static value conv(model *m) {
    value x = random_input(m, 3, 4), y = x;
    int64_t shape[4] = {draw(m, 1, 9), x.dims[1], 1, 1};
    for (int i = 2; i < x.rank; i++) {
        shape[i] = draw(m, 1, x.dims[i]);
        y.dims[i] = x.dims[i] - shape[i] + 1;
    }
    y.dims[1] = shape[0];
    value w = draw(m, 0, 3) ? constant(m, x.rank, shape) : input(m, x.rank, shape, 0); /* computed: on the host */
    node(m, "Conv", &y, (const char *[]){x.name, w.name, NULL});
    return y;
}

static value identity(model *m) {
    value x = random_input(m, 1, 4), y = x;
    node(m, "Identity", &y, (const char *[]){x.name, NULL});
    return y;
}

/* ---- running ---- */

static void build(model *m) {
    static value (*const makers[])(model *) = {transpose,   concat,      pad,  softmax, reshape,  matmul,
                                               elementwise, elementwise, pool, conv,    identity, shuffle};
    xpu_onnx_begin(&m->onnx, m->arena, OPSET);
    for (int i = 0; i < BRANCHES; i++) {
        value y = makers[draw(m, 0, sizeof makers / sizeof *makers - 1)](m);
        output(m, draw(m, 0, 2) ? y : maybe_channel_last(m, y));
    }
}

static int run_seed(xpu_mem *mem, uint64_t seed, xpu_diags *diags) {
    static const char *const chips[] = {"nano", "standard", "pro"}, *const precisions[] = {"fp32", "int16"};
    xpu_arena *arena = xpu_arena_new(mem, "model");
    model *m = XPU_NEW(arena, model);
    m->arena = arena;
    m->state = seed * 0x9e3779b97f4a7c15u + 1;
    build(m);
    size_t length;
    const void *bytes = xpu_onnx_pack(&m->onnx, "operators", &length);
    const char *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "operators.onnx");
    xpu_device_check check;
    int good = xpu_file_write(arena, path, bytes, length, diags) == XPU_OK &&
               xpu_device_check_compile(&check, path, chips[seed % 3], precisions[seed / 3 % 2]);
    uint32_t outputs = good ? xpurt_output_count(check.program) : 0;
    xpurt_tensor *results = XPU_NEW_ARRAY(arena, xpurt_tensor, outputs + 1);
    if (good) good = xpu_device_check_layers(&check, m->inputs, m->input_count, results);
    if (!good) printf("seed %d, %s: %s\n", (int)seed, chips[seed % 3], check.message);
    for (uint32_t i = 0; i < outputs; i++) xpurt_tensor_clear(&results[i]);
    xpu_device_check_close(&check);
    xpu_arena_free(arena);
    return good;
}

static void random_operators(void) {
    enum { SEEDS = 12 };
    xpu_mem mem;
    xpu_diags diags;
    const char *one = getenv("XPU_RANDOM_SEED");
    uint64_t first = one ? strtoull(one, NULL, 10) : 1, last = one ? first : SEEDS;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        for (uint64_t seed = first; seed <= last; seed++) CU_ASSERT(run_seed(&mem, seed, &diags));
    }
    xpu_diags_print(&diags, stdout);
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
}

/* ---- sizes that are bound at run time ---- */

/* Square images of N x N pixels through everything whose geometry depends on them. */
static const char *sized_model(model *m, xpu_diags *diags) {
    static const int64_t declared[] = {2, 3, -1, -1}, kernel[] = {3, 3}, strides[] = {2, 2}, ones[] = {1, 1, 1, 1};
    static const int64_t pads[] = {0, 0, 1, 2, 0, 0, 2, 0}, perm[] = {0, 2, 3, 1};
    value x = {.name = "x", .rank = 4}, y = x, z = x;
    xpu_onnx_begin(&m->onnx, m->arena, OPSET);
    xpu_onnx_input(&m->onnx, x.name, 4, declared);
    value w = constant(m, 4, (int64_t[]){5, 3, 3, 3}), scale = constant(m, 3, (int64_t[]){5, 1, 1});
    XpuOnnx__NodeProto *proto = node(m, "Conv", &y, (const char *[]){x.name, w.name, NULL});
    xpu_onnx_ints(&m->onnx, proto, "strides", strides, 2);
    xpu_onnx_ints(&m->onnx, proto, "pads", ones, 4);
    proto = node(m, "MaxPool", &z, (const char *[]){y.name, NULL});
    xpu_onnx_ints(&m->onnx, proto, "kernel_shape", kernel, 2);
    xpu_onnx_ints(&m->onnx, proto, "pads", ones, 4);
    node(m, "Mul", &z, (const char *[]){z.name, scale.name, NULL});
    proto = node(m, "Concat", &y, (const char *[]){y.name, z.name, y.name, NULL});
    xpu_onnx_int(&m->onnx, proto, "axis", 2);
    proto = node(m, "Pad", &y, (const char *[]){y.name, int64s(m, pads, 8), NULL});
    xpu_onnx_string(&m->onnx, proto, "mode", "reflect");
    value turned = y, mean = y;
    xpu_onnx_ints(&m->onnx, node(m, "Transpose", &turned, (const char *[]){y.name, NULL}), "perm", perm, 4);
    xpu_onnx_int(&m->onnx, node(m, "Softmax", &turned, (const char *[]){turned.name, NULL}), "axis", 1);
    node(m, "GlobalAveragePool", &mean, (const char *[]){y.name, NULL});
    xpu_onnx_output(&m->onnx, turned.name, 4, (int64_t[]){2, -1, -1, 5});
    xpu_onnx_output(&m->onnx, mean.name, 4, (int64_t[]){2, 5, 1, 1});
    size_t length;
    const void *bytes = xpu_onnx_pack(&m->onnx, "sizes", &length);
    const char *path = xpu_path_join(m->arena, xpu_temporary_folder(m->arena, diags), "sizes.onnx");
    CU_ASSERT_EQUAL(xpu_file_write(m->arena, path, bytes, length, diags), XPU_OK);
    return path;
}

static void run_sizes(model *m, xpu_device_check *check) {
    static const int64_t sizes[] = {6, 7, 13, 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        xpurt_tensor image = {.name = "x", .dtype = "float32", .rank = 4, .dims = {2, 3, sizes[i], sizes[i]}};
        xpurt_tensor results[2] = {0};
        image.data = random_floats(m, count_of(4, image.dims));
        int good = xpu_device_check_layers(check, &image, 1, results);
        CU_ASSERT(good);
        if (!good) printf("size %d: %s\n", (int)sizes[i], check->message);
        CU_ASSERT_EQUAL(results[0].dims[2], (sizes[i] + 1) / 2 + 2);
        for (int o = 0; o < 2; o++) xpurt_tensor_clear(&results[o]);
    }
}

static void sizes_bound_later(void) {
    static const char *const shapes[] = {"x=2,3,N=6..20,N", NULL}, *const precisions[] = {"fp32", "int16"};
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) exit(EXIT_FAILURE);
    model *m = XPU_NEW(xpu_arena_new(&mem, "model"), model);
    m->arena = xpu_arena_new(&mem, "model");
    m->state = 1;
    const char *path = sized_model(m, &diags);
    for (int p = 0; p < 2; p++) {
        xpuc_result result = {0};
        xpuc_error error = {0};
        xpurt_error opening = {0};
        xpu_device_check check = {0};
        xpuc_options options = {.chip = "nano", .precision = precisions[p], .shapes = shapes};
        CU_ASSERT_EQUAL(xpuc_compile_file(path, &options, &result, &error), 0);
        if (error.status) printf("%s\n", error.text);
        if (!error.status) check.program = xpurt_open_memory(result.bytes, result.size, "sizes.xpu", &opening);
        CU_ASSERT_PTR_NOT_NULL(check.program);
        if (check.program) run_sizes(m, &check);
        xpu_device_check_close(&check);
        xpurt_error_clear(&opening);
        xpuc_error_clear(&error);
        xpuc_result_clear(&result);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

XPU_TEST_MAIN("operators of the XPU target", {"sizes that are bound at run time", sizes_bound_later},
              {"random operators, func equals ref", random_operators})
