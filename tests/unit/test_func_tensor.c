/* Tensor engine and post-processor of the functional chip against plain loops, with random geometry. */
#include "sim/func/matmul.h"
#include "sim/func/rows.h"
#include "tests/unit/post_formula.h"

static const uint64_t seed = 11;

/* ---- The formulas, one element at a time ---- */

/* The sum over all taps, as a plain integer. */
static int64_t convolve(const fixture *f, const xpu_desc_tensor *d, uint32_t oy, uint32_t ox, uint32_t n) {
    int64_t sum = 0;
    uint32_t k = 0;
    uint32_t x_type = d->mode ? XPU_TYPE_I16 : d->x_unsigned ? XPU_TYPE_U8 : XPU_TYPE_I8;
    uint32_t w_type = d->mode == XPU_OPERANDS_16X16 ? XPU_TYPE_I16 : d->w_unsigned ? XPU_TYPE_U8 : XPU_TYPE_I8;
    for (uint32_t ky = 0; ky < d->kh; ky++)
        for (uint32_t kx = 0; kx < d->kw; kx++)
            for (uint32_t c = 0; c < d->channels; c++, k++) {
                int iy = (int)(oy * d->stride_h + ky * d->dilation_h) - d->pad_top;
                int ix = (int)(ox * d->stride_w + kx * d->dilation_w) - d->pad_left;
                if (iy < 0 || ix < 0 || iy >= (int)d->tile_rows || ix >= (int)d->tile_cols) continue;
                int64_t at = (int64_t)iy * d->x_row_stride + (int64_t)ix * d->x_pixel_stride + c * type_size[x_type];
                int64_t x = load(f, d->x + (uint64_t)at, x_type) - d->x_zero;
                int64_t w = load(f, d->w + k * d->w_row_stride + n * type_size[w_type], w_type) - d->w_zero;
                sum += x * w;
            }
    return sum;
}

/* ---- Random descriptors ---- */

static void draw_tensor(fixture *f, xpu_desc_tensor *d) {
    memset(d, 0, sizeof *d);
    d->wait0 = d->wait1 = d->signal = XPU_NO_COUNTER;
    d->mode = draw(f, 3);
    d->kh = 1 + draw(f, 3), d->kw = 1 + draw(f, 4);
    d->channels = draw(f, 4) ? 1 + draw(f, 20) : 1 + draw(f, 200);
    d->stride_h = 1 + draw(f, 2), d->stride_w = 1 + draw(f, 2);
    d->dilation_h = 1 + draw(f, 2), d->dilation_w = draw(f, 3) ? 1 : 2;
    d->pad_top = draw_between(f, -1, 2), d->pad_left = draw_between(f, -1, 2);
    d->oh = 1 + draw(f, 6), d->ow = 1 + draw(f, 9);
    d->columns = 1 + draw(f, 64);
    d->tile_rows = draw(f, 13), d->tile_cols = draw(f, 17);
    d->bank = draw(f, 2);
    unsigned xb = d->mode ? 2 : 1, wb = d->mode == XPU_OPERANDS_16X16 ? 2 : 1;
    d->x = X_AT, d->w = W_AT;
    d->x_pixel_stride = (int32_t)((d->channels + (draw(f, 2) ? 0 : draw(f, 5))) * xb);
    d->x_row_stride = (int32_t)(d->tile_cols * (uint32_t)d->x_pixel_stride + draw(f, 3) * xb);
    d->w_row_stride = (d->columns + draw(f, 3)) * wb;
    if (d->mode == XPU_OPERANDS_8X8) {
        d->x_unsigned = draw(f, 2), d->w_unsigned = draw(f, 2);
        d->x_zero = draw_between(f, d->x_unsigned ? 0 : -128, d->x_unsigned ? 255 : 127);
        d->w_zero = draw_between(f, d->w_unsigned ? 0 : -128, d->w_unsigned ? 255 : 127);
    }
    d->post_mode = d->mode == XPU_OPERANDS_8X8 ? draw(f, 2) : XPU_POST_FLOAT;
}

/* The words of a tensor descriptor with the fields of `p`, which it shares with kind post. */
static void pack_tensor(uint32_t *words, const xpu_desc_tensor *d, const xpu_desc_post *p) {
    uint32_t shared[XPU_DESC_WORDS];
    xpu_desc_post copy = *p;
    copy.x = copy.oh = copy.ow = copy.columns = 0, copy.x_row_stride = copy.x_pixel_stride = 0;
    copy.opcode = 0, copy.wait0 = copy.wait1 = copy.signal = copy.post_mode = 0;
    xpu_desc_post_pack(shared, &copy);
    xpu_desc_post_set_opcode(shared, 0);
    xpu_desc_tensor_pack(words, d);
    for (unsigned i = 0; i < XPU_DESC_WORDS; i++) words[i] |= shared[i];
}

/* A random layer in one to three descriptors: the channels of the second and third accumulate onto the first. */
static void one_tensor(fixture *f) {
    static uint8_t expected[Y_BYTES];
    static int64_t acc[256][64];
    xpu_desc_tensor d;
    xpu_post_params p;
    xpu_desc_post post = {0};
    uint32_t words[XPU_DESC_WORDS], parts = 1 + draw(f, 3);
    int starts = draw(f, 2) != 0;
    draw_tensor(f, &d);
    post.post_mode = d.post_mode, post.columns = d.columns, post.oh = d.oh, post.ow = d.ow;
    draw_params(f, &p, d.post_mode == XPU_POST_QUANTISED);
    draw_post(f, &post, &p);
    post.absmax = draw(f, 2) ? ABSMAX_AT : 0;
    fill_small(f, d.mode == XPU_OPERANDS_16X16 ? 1e-9f : 1e-6f);
    memcpy(host(f, PARAMS_AT), &p, sizeof p);
    memcpy(expected, host(f, Y_AT), Y_BYTES);
    for (uint32_t part = 0; part < parts; part++) {
        scribble(f, X_AT, 0x10000);
        scribble(f, W_AT, 0x10000);
        for (uint32_t i = 0; i < d.oh * d.ow; i++)
            for (uint32_t n = 0; n < d.columns; n++) {
                if (part == 0) acc[i][n] = starts ? load(f, START_AT + 4 * n, XPU_TYPE_I32) : 0;
                acc[i][n] += convolve(f, &d, i / d.ow, i % d.ow, n);
            }
        d.accumulate = part > 0;
        d.drain = part + 1 == parts;
        d.start = starts ? START_AT : 0;
        if (part + 1 < parts) {
            xpu_desc_tensor_pack(words, &d);
            CU_ASSERT_EQUAL(execute_words(f, XPU_ENGINE_TENSOR, words), XPU_FAULT_NONE);
        }
    }
    output_case o = {f,
                     &post,
                     &p,
                     XPU_POST_SCALE,
                     d.mode ? 32767.0f : 127.0f,
                     d.mode == XPU_OPERANDS_16X16 ? 32767.0f : 127.0f,
                     load_float(f, FINDMAX_AT),
                     expected};
    for (uint32_t i = 0; i < d.oh * d.ow; i++)
        for (uint32_t n = 0; n < d.columns; n++)
            expect_element(&o, i / d.ow, i % d.ow, n, (int32_t)acc[i][n],
                           d.mode ? (float)acc[i][n] : (float)(int32_t)acc[i][n]);
    pack_tensor(words, &d, &post);
    int cause = execute_words(f, XPU_ENGINE_TENSOR, words);
    if (cause) printf("fault: %s\n", f->func->reason);
    CU_ASSERT_EQUAL(cause, XPU_FAULT_NONE);
    CU_ASSERT(same_output(f, expected));
    if (post.findmax) CU_ASSERT_EQUAL(load_float(f, FINDMAX_AT), o.findmax);
}

static void tensors(const xpu_matmul *matmul, uint64_t from, int rounds) {
    fixture f;
    open_fixture(&f, from);
    f.func->matmul = matmul;
    if (matmul == xpu_matmul_all()[0]) f.func->rows = &xpu_rows_any;
    printf("(seed %llu, %s) ", (unsigned long long)from, matmul->name);
    for (int i = 0; i < rounds; i++) one_tensor(&f);
    close_fixture(&f);
}

static void tensors_all(void) {
    const xpu_matmul *const *list = xpu_matmul_all();
    for (uint64_t i = 0; list[i]; i++) tensors(list[i], seed + i, list[i + 1] ? 40 : 120);
}

/* Kind post. */
static void one_post(fixture *f) {
    static uint8_t expected[Y_BYTES];
    xpu_desc_post d = {ALONE, .x = X_AT};
    xpu_post_params p;
    uint32_t words[XPU_DESC_WORDS];
    d.post_mode = draw(f, 2), d.op = d.post_mode == XPU_POST_QUANTISED ? draw(f, 3) : draw(f, 2) * XPU_POST_MUL;
    d.columns = draw(f, 8) ? 1 + draw(f, 60) : 250 + draw(f, 300);
    d.oh = 1 + draw(f, 4), d.ow = 1 + draw(f, 6);
    draw_params(f, &p, d.post_mode == XPU_POST_QUANTISED);
    draw_post(f, &d, &p);
    if (d.op != XPU_POST_SCALE) d.branch = BRANCH_AT;
    d.x_type = d.post_mode == XPU_POST_FLOAT ? draw(f, 5) : draw(f, d.op == XPU_POST_SCALE ? 4 : 2);
    d.absmax = d.x_type == XPU_TYPE_I8 || d.x_type == XPU_TYPE_I16 ? draw(f, 2) * (uint64_t)ABSMAX_AT : 0;
    unsigned xb = type_size[d.x_type];
    d.x_pixel_stride = (int32_t)((d.columns + draw(f, 3)) * xb);
    d.x_row_stride = (int32_t)(d.ow * (uint32_t)d.x_pixel_stride);
    fill_small(f, 1e-3f);
    memcpy(host(f, PARAMS_AT), &p, sizeof p);
    scribble(f, X_AT, 0x10000);
    for (uint32_t i = 0; i < 0x8000 && d.x_type == XPU_TYPE_F32; i++) store_float(f, X_AT + 4 * i, draw_float(f));
    memcpy(expected, host(f, Y_AT), Y_BYTES);
    output_case o = {
        f, &d, &p, d.op, d.x_type == XPU_TYPE_I16 ? 32767.0f : 127.0f, 32767.0f, load_float(f, FINDMAX_AT), expected};
    for (uint32_t i = 0; i < d.oh * d.ow; i++)
        for (uint32_t n = 0; n < d.columns; n++) {
            uint64_t address = at(X_AT, d.x_row_stride, d.x_pixel_stride, i / d.ow, i % d.ow, n, d.x_type);
            int subtract = d.op == XPU_POST_SCALE || d.post_mode == XPU_POST_FLOAT;
            int32_t q = (int32_t)((uint32_t)load(f, address, d.x_type) - (subtract ? (uint32_t)p.za : 0));
            expect_element(&o, i / d.ow, i % d.ow, n, q, d.x_type == XPU_TYPE_F32 ? load_float(f, address) : (float)q);
        }
    xpu_desc_post_pack(words, &d);
    int cause = execute_words(f, XPU_ENGINE_TENSOR, words);
    if (cause) printf("fault: %s\n", f->func->reason);
    CU_ASSERT_EQUAL(cause, XPU_FAULT_NONE);
    CU_ASSERT(same_output(f, expected));
    if (d.findmax) CU_ASSERT_EQUAL(load_float(f, FINDMAX_AT), o.findmax);
}

static void posts(void) {
    fixture f;
    open_fixture(&f, seed + 2);
    printf("(seed %llu) ", (unsigned long long)seed + 2);
    for (int i = 0; i < 400; i++) {
        f.func->rows = i % 4 ? xpu_rows_best() : &xpu_rows_any;
        one_post(&f);
    }
    close_fixture(&f);
}

/* The largest numbers: sums that need all 48 bits, and accumulators that wrap at 32. */
static void extremes(void) {
    static const struct {
        uint32_t mode;
        int16_t x, w;
        uint32_t channels, passes;
        float expected;
    } cases[] = {
        {XPU_OPERANDS_16X16, -32768, -32768, 4000, 1, 4000.0f * 1073741824.0f},
        {XPU_OPERANDS_16X16, -32768, 32767, 4000, 2, -8000.0f * 32768.0f * 32767.0f},
        {XPU_OPERANDS_16X8, -32768, -128, 4000, 3, 12000.0f * 4194304.0f},
        {XPU_OPERANDS_16X16, -32768, -32768, 4000, 40, 160000.0 * 1073741824.0 - 281474976710656.0},
        {XPU_OPERANDS_8X8, 127, 127, 4000, 1, 64516000.0f},
        {XPU_OPERANDS_8X8, -128, -128, 4000, 33, (float)(33 * 65536000LL)},
    };
    fixture f;
    open_fixture(&f, seed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_desc_tensor d = {ALONE, .mode = cases[i].mode, .channels = cases[i].channels, .columns = 1};
        unsigned xb = d.mode ? 2 : 1, wb = d.mode == XPU_OPERANDS_16X16 ? 2 : 1;
        d.kh = d.kw = d.stride_h = d.stride_w = d.dilation_h = d.dilation_w = 1;
        d.tile_rows = d.tile_cols = d.oh = d.ow = 1;
        d.x = X_AT, d.w = W_AT, d.y = Y_AT, d.params = PARAMS_AT, d.w_row_stride = wb;
        d.post_mode = XPU_POST_FLOAT, d.y_type = XPU_TYPE_F32;
        for (uint32_t k = 0; k < d.channels; k++) {
            memcpy(host(&f, X_AT + (uint64_t)k * xb), &cases[i].x, xb);
            memcpy(host(&f, W_AT + (uint64_t)k * wb), &cases[i].w, wb);
        }
        xpu_post_params p = {.x_scale = 1.0f, .w_scale = 1.0f};
        memcpy(host(&f, PARAMS_AT), &p, sizeof p);
        for (uint32_t pass = 0; pass < cases[i].passes; pass++) {
            uint32_t words[XPU_DESC_WORDS];
            d.accumulate = pass > 0;
            d.drain = pass + 1 == cases[i].passes;
            xpu_desc_tensor_pack(words, &d);
            CU_ASSERT_EQUAL(execute_words(&f, XPU_ENGINE_TENSOR, words), XPU_FAULT_NONE);
        }
        float got = load_float(&f, Y_AT), expected = cases[i].expected;
        if (cases[i].mode == XPU_OPERANDS_8X8) expected = (float)(int32_t)(uint32_t)(int64_t)expected;
        if (got != expected) printf("case %zu: %a, expected %a\n", i, (double)got, (double)expected);
        CU_ASSERT_EQUAL(got, expected);
    }
    close_fixture(&f);
}

/* Every rule of the descriptor is a reported fault. */
static void faults(void) {
    static const struct {
        const char *field;
        uint64_t value;
        int cause;
        int clips; /* the rest of it clips last */
    } cases[] = {
        {"mode", 3, XPU_FAULT_DESCRIPTOR},
        {"kh", 0, XPU_FAULT_DESCRIPTOR},
        {"channels", 0, XPU_FAULT_DESCRIPTOR},
        {"stride_h", 0, XPU_FAULT_DESCRIPTOR},
        {"dilation_w", 0, XPU_FAULT_DESCRIPTOR},
        {"tile_cols", 0, XPU_FAULT_NONE},
        {"columns", 65, XPU_FAULT_DESCRIPTOR},
        {"columns", 0, XPU_FAULT_DESCRIPTOR},
        {"oh", 257, XPU_FAULT_DESCRIPTOR},
        {"ow", 0, XPU_FAULT_DESCRIPTOR},
        {"bank", 2, XPU_FAULT_DESCRIPTOR},
        {"x_zero", 128, XPU_FAULT_DESCRIPTOR},
        {"w_row_stride", 1, XPU_FAULT_DESCRIPTOR},
        {"y_type", XPU_TYPE_I32, XPU_FAULT_DESCRIPTOR},
        {"lookup", TABLE_AT, XPU_FAULT_DESCRIPTOR},
        {"x", XPU_GM_BASE, XPU_FAULT_ENGINE_ADDRESS},
        {"w", 0, XPU_FAULT_ENGINE_ADDRESS},
        {"y", XPU_L3_BASE, XPU_FAULT_ENGINE_ADDRESS},
        {"y", Y_AT + 2, XPU_FAULT_MISALIGNED},
        {"params", 0, XPU_FAULT_ENGINE_ADDRESS},
        {"x_row_stride", 1 << 20, XPU_FAULT_ENGINE_ADDRESS},
        {"tile_rows", 65535, XPU_FAULT_ENGINE_ADDRESS},
        {"scale", 4, XPU_FAULT_ENGINE_ADDRESS},
        {"findmax", XPU_LM_BASE, XPU_FAULT_ENGINE_ADDRESS},
        {"bias", SMALL_AT + 2, XPU_FAULT_MISALIGNED},
        {"layer", 7, XPU_FAULT_NONE},
        {"clip_last", 1, XPU_FAULT_NONE},
        {"y_type", XPU_TYPE_I16, XPU_FAULT_DESCRIPTOR, 1},
        {"activation", XPU_ACT_HARD_SWISH, XPU_FAULT_DESCRIPTOR, 1},
        {"activation", XPU_ACT_CLIP, XPU_FAULT_NONE, 1},
    };
    fixture f;
    open_fixture(&f, seed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const xpu_desc_tensor d = {ALONE,
                                   SMALL_TENSOR,
                                   .x = X_AT,
                                   .w = W_AT,
                                   .y = Y_AT,
                                   .params = PARAMS_AT,
                                   .y_pixel_stride = 16,
                                   .y_row_stride = 32,
                                   .clip_last = (uint32_t)cases[i].clips,
                                   .y_type = XPU_TYPE_F32};
        uint32_t words[XPU_DESC_WORDS];
        xpu_desc_tensor_pack(words, &d);
        set_field(words, "tensor", cases[i].field, cases[i].value);
        int cause = execute_words(&f, XPU_ENGINE_TENSOR, words);
        if (cause != cases[i].cause)
            printf("%s = %llu: %s\n", cases[i].field, (unsigned long long)cases[i].value, xpu_fault_text(cause));
        CU_ASSERT_EQUAL(cause, cases[i].cause);
    }
    close_fixture(&f);
}

XPU_TEST_MAIN("func tensor", {"tensors", tensors_all}, {"post", posts}, {"extremes", extremes}, {"faults", faults})
