#include "tests/chip/rig/operands.h"

#include "core/arith.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

xpu_tensor operand_random(bench *b, random_source *random, xpu_dtype dtype, int rank, const int64_t *dims) {
    xpu_tensor tensor = {.dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    tensor.data = xpu_alloc(b->arena, xpu_tensor_bytes(&tensor));
    int64_t count = xpu_tensor_count(&tensor);
    if (dtype == XPU_F32) {
        for (int64_t i = 0; i < count; i++) ((float *)tensor.data)[i] = random_float(random);
    } else {
        for (size_t i = 0; i < xpu_tensor_bytes(&tensor); i++)
            ((uint8_t *)tensor.data)[i] = (uint8_t)random_bits(random);
    }
    return tensor;
}

xpu_tensor operand_indices(rig *r, bench *b, int wide, int64_t size, int rank, const int64_t *dims) {
    xpu_tensor list = operand_random(b, r->random, wide ? XPU_I64 : XPU_I32, rank, dims);
    for (int64_t i = 0, count = xpu_tensor_count(&list); i < count; i++) {
        int64_t index = draw(r, -size, size - 1);
        if (wide)
            ((int64_t *)list.data)[i] = index;
        else
            ((int32_t *)list.data)[i] = (int32_t)index;
    }
    return list;
}

void operand_spoil(random_source *random, xpu_tensor *tensor, int64_t one_in) {
    static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345, 0x00000000,
                                       0x80000000, 0x00000001, 0x807fffff, 0x7f7fffff, 0xff7fffff, 0x00800000};
    int64_t count = xpu_tensor_count(tensor);
    for (int64_t i = 0; i < count; i++) {
        if (random_range(random, 1, one_in) != 1) continue;
        uint32_t bits = special[random_range(random, 0, (int64_t)(sizeof special / sizeof *special) - 1)];
        memcpy((float *)tensor->data + i, &bits, sizeof bits);
    }
}

xpu_tensor operand_reference(bench *b, xpu_op_id op, const xpu_tensor *const *inputs, uint32_t count,
                             const xpu_attr *attrs, uint32_t attr_count) {
    xpu_value values[XPU_IN_COUNT] = {{0}};
    for (uint32_t i = 0; i < count; i++)
        if (inputs[i]) values[i] = bench_input(b, "operand", inputs[i]->dtype, inputs[i]->rank, inputs[i]->dims);
    xpu_tensor result = {0};
    xpu_node node = bench_node(b, op, values, count, attrs, attr_count);
    if (xpu_diags_status(&b->diags) == XPU_OK) xpu_ref_node(b->graph, node, NULL, inputs, &result, b->arena, &b->diags);
    if (xpu_diags_status(&b->diags) != XPU_OK) {
        bench_print(b);
        CU_FAIL_FATAL("the reference kernel refuses the case");
    }
    return result;
}

void operand_both_references(bench *b, xpu_op_id op, const xpu_tensor *input, xpu_tensor results[2],
                             const xpu_attr *attrs, uint32_t attr_count) {
    static const char *const names[] = {"y", "more"};
    xpu_value value = bench_input(b, "operand", input->dtype, input->rank, input->dims);
    xpu_node node =
        xpu_graph_add(b->graph, (xpu_node){0}, xpu_op_of(op), &value, 1, names, 2, attrs, attr_count, NULL, 0);
    memset(results, 0, 2 * sizeof *results);
    xpu_op_infer(b->graph, node, &b->diags);
    if (xpu_diags_status(&b->diags) == XPU_OK) xpu_ref_node(b->graph, node, NULL, &input, results, b->arena, &b->diags);
    if (xpu_diags_status(&b->diags) == XPU_OK) return;
    bench_print(b);
    CU_FAIL_FATAL("the reference kernel refuses the case");
}

/* [N,C,...] as [N,...,C]. */
static void *channel_last(bench *b, const xpu_tensor *tensor) {
    size_t channels = (size_t)tensor->dims[1], inner = 1, outer = (size_t)tensor->dims[0];
    for (int i = 2; i < tensor->rank; i++) inner *= (size_t)tensor->dims[i];
    size_t bytes = xpu_dtype_bytes(tensor->dtype);
    char *data = xpu_alloc(b->arena, xpu_tensor_bytes(tensor));
    const char *from = tensor->data;
    for (size_t n = 0; n < outer; n++)
        for (size_t c = 0; c < channels; c++)
            for (size_t i = 0; i < inner; i++, from += bytes)
                memcpy(data + ((n * inner + i) * channels + c) * bytes, from, bytes);
    return data;
}

uint32_t operand_place_image(rig *r, bench *b, const xpu_tensor *tensor) {
    return tensor ? rig_place(r, channel_last(b, tensor), (uint32_t)xpu_tensor_bytes(tensor), 4) : 0;
}

uint32_t operand_place(rig *r, const xpu_tensor *tensor) {
    return tensor ? rig_place(r, tensor->data, (uint32_t)xpu_tensor_bytes(tensor), 4) : 0;
}

static uint32_t expect(rig *r, const void *data, uint32_t bytes) {
    uint32_t address = rig_place(r, NULL, bytes, 4);
    rig_expect(r, address, data, bytes);
    return address;
}

uint32_t operand_expect_image(rig *r, bench *b, const xpu_tensor *tensor) {
    return expect(r, channel_last(b, tensor), (uint32_t)xpu_tensor_bytes(tensor));
}

uint32_t operand_expect(rig *r, const xpu_tensor *tensor) {
    return expect(r, tensor->data, (uint32_t)xpu_tensor_bytes(tensor));
}

uint32_t operand_expect_pixels(rig *r, bench *b, const xpu_tensor *tensor, int32_t multiple, int32_t *pitch) {
    const uint32_t element = (uint32_t)xpu_dtype_bytes(tensor->dtype), channels = (uint32_t)tensor->dims[1];
    const int64_t more = random_range(r->random, 0, 1) ? multiple * random_range(r->random, 1, 40) : 0;
    *pitch = (int32_t)channels + (int32_t)more;
    const uint32_t pixel = channels * element, step = (uint32_t)*pitch * element;
    const uint32_t pixels = (uint32_t)xpu_tensor_bytes(tensor) / pixel, span = (pixels - 1) * step + pixel;
    const uint8_t *data = channel_last(b, tensor);
    const uint32_t address = rig_place(r, NULL, span, 4);
    for (uint32_t i = 0; i < pixels; i++) rig_expect(r, address + i * step, data + i * pixel, pixel);
    r->last_address = address;
    r->last_bytes = span;
    return address;
}

static void run_case(rig *r, const rig_add *adds, int add_count, int calls) {
    BENCH_OPEN(b);
    rig_begin(r);
    for (int i = 0; i < calls; i++) {
        adds[random_range(r->random, 0, add_count - 1)](r, &b);
        if (random_range(r->random, 0, 3) == 0) rig_copy_last(r);
    }
    rig_run(r);
    bench_close(&b);
}

static void run_cases(const char *name, int cases, const rig_add *adds, int add_count, int most_calls) {
    static const char *const chips[] = {"nano", "standard", "pro"};
    random_source random = random_open(name);
    const char *factor = getenv("XPU_CASES"), *part = getenv("XPU_KERNEL_PART"), *chosen = getenv("XPU_KERNEL_CHIPS");
    if (factor) cases *= atoi(factor);
    if (part) cases = (cases + atoi(part) - 1) / atoi(part);
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        rig r;
        if (chosen && !strstr(chosen, chips[i])) continue;
        CU_ASSERT_FATAL(rig_open(&r, chips[i], &random));
        for (int k = 0; k < cases; k++)
            run_case(&r, adds, add_count, (int)random_range(&random, most_calls > 1 ? 2 : 1, most_calls));
        rig_close(&r);
    }
}

void rig_on_each_chip(const char *name, int cases, rig_add add) {
    run_cases(name, cases, &add, 1, 1);
}

void rig_sequences(const char *name, int cases, const rig_add *adds, int add_count) {
    run_cases(name, cases, adds, add_count, 5);
}

operand_tile operand_draw_tile(rig *r, const xpu_tiling_shape *shape, int32_t batch, uint32_t sm, int has_branch,
                               xpu_tiling_format format) {
    int32_t columns = (int32_t)r->chip.array_columns, room = (int32_t)(XPU_SM_BASE + r->chip.sm_bytes - sm);
    operand_tile t = {.tile_h = (int32_t)draw(r, 1, shape->out_h), .tile_w = (int32_t)draw(r, 1, shape->out_w)};
    t.tile_c = (int32_t)draw(r, 1, shape->in_c);
    t.whole = (int32_t)draw(r, 0, 31) | (int32_t)draw(r, 0, 3) * XPU_TILE_THREE_X;
    t.banks = (int32_t)draw(r, 1, r->chip.acc_banks);
    while (t.tile_h * t.tile_w > (int32_t)r->chip.acc_rows) *(t.tile_h > 1 ? &t.tile_h : &t.tile_w) /= 2;
    int one_tile = batch == 1 && t.tile_h == shape->out_h && t.tile_w == shape->out_w && t.whole & XPU_TILE_WHOLE_X;
    if (!one_tile) t.whole &= ~XPU_TILE_ONE_X;
    for (;;) {
        t.sm_bytes =
            (int32_t)xpu_tiling_layout(shape, t.tile_h, t.tile_w, t.tile_c, t.whole, columns, has_branch, format).total;
        if (t.sm_bytes <= room) return t;
        t.whole &= ~XPU_TILE_ONE_X;
        if (draw(r, 0, 1) && t.whole) {
            t.whole &= (int32_t)draw(r, 0, 255) & ~XPU_TILE_NO_Y;
            continue;
        }
        int32_t *less = t.tile_c > 1 && draw(r, 0, 1) ? &t.tile_c : t.tile_h > 1 ? &t.tile_h : &t.tile_w;
        if (*less == 1) less = &t.tile_c;
        *less = (*less + 1) / 2;
    }
}
