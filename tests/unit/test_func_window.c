/* Window engine of the functional chip against plain loops, with random geometry. */
#include "tests/unit/post_formula.h"

static const uint64_t seed = 23;

enum { PLANE_AT = SMALL_AT + 0x10000, LARGEST_Y = 12000 /* elements that the branch has */ };

static uint32_t x_type(const xpu_desc_window *d) {
    return d->mode ? XPU_TYPE_I16 : d->x_unsigned ? XPU_TYPE_U8 : XPU_TYPE_I8;
}

static uint32_t w_type(const xpu_desc_window *d) {
    return d->mode == XPU_OPERANDS_16X16 ? XPU_TYPE_I16 : d->w_unsigned ? XPU_TYPE_U8 : XPU_TYPE_I8;
}

/* x - x_zero at a place of the tile; 0: it is outside. */
static int tap(const fixture *f, const xpu_desc_window *d, int64_t iy, int64_t ix, uint32_t c, int64_t *value) {
    if (iy < 0 || ix < 0 || iy >= d->tile_rows || ix >= d->tile_cols) return 0;
    int64_t row = d->x_ring_rows ? (iy + d->x_ring_first) % d->x_ring_rows : iy;
    int64_t at = row * d->x_row_stride + ix * d->x_pixel_stride + c * type_size[x_type(d)];
    *value = load(f, d->x + (uint64_t)at, x_type(d)) - d->x_zero;
    return 1;
}

/* The accumulator of one output. */
static int64_t accumulator(const fixture *f, const xpu_desc_window *d, uint32_t oy, uint32_t ox, uint32_t c) {
    static const int lowest[] = {-128, 0, -32768};
    uint32_t kh = d->whole ? d->tile_rows : d->kh, kw = d->whole ? d->tile_cols : d->kw;
    uint64_t at = d->accumulate ? (oy * d->ow + ox) * d->columns + c : c;
    int64_t result = d->op == XPU_WINDOW_MAX ? lowest[x_type(d)] - d->x_zero : 0, x;
    if (d->start) result = load(f, d->start + 4 * at, XPU_TYPE_I32);
    for (uint32_t ky = 0; ky < kh; ky++)
        for (uint32_t kx = 0; kx < kw; kx++) {
            int64_t iy = d->whole ? ky : (int64_t)(oy * d->stride_h + ky * d->dilation_h) - d->pad_top;
            int64_t ix = d->whole ? kx : (int64_t)(ox * d->stride_w + kx * d->dilation_w) - d->pad_left;
            if (!tap(f, d, iy, ix, c, &x)) continue;
            if (d->op == XPU_WINDOW_CONVOLUTION)
                result += x * (load(f, d->w + (ky * kw + kx) * d->w_row_stride + c * type_size[w_type(d)], w_type(d)) -
                               d->w_zero);
            else if (d->op == XPU_WINDOW_SUM)
                result += x;
            else if (x > result)
                result = x;
        }
    return result;
}

/* ---- Random descriptors ---- */

static void draw_kernel(fixture *f, xpu_desc_window *d) {
    d->op = draw(f, 3);
    d->mode = draw(f, d->op == XPU_WINDOW_CONVOLUTION ? 3 : 2);
    d->whole = d->op != XPU_WINDOW_CONVOLUTION && draw(f, 3) == 0;
    d->oh = d->whole ? 1 : 1 + draw(f, 6), d->ow = d->whole ? 1 : 1 + draw(f, 9);
    d->columns = draw(f, 8) ? 1 + draw(f, 70) : 250 + draw(f, 300);
    if (d->oh * d->ow * (d->columns + 2) > LARGEST_Y) d->oh = d->ow = 1;
    d->kh = 1 + draw(f, draw(f, 3) ? 3 : 7), d->kw = 1 + draw(f, draw(f, 3) ? 3 : 7);
    d->stride_h = 1 + draw(f, 3), d->stride_w = 1 + draw(f, 3);
    d->dilation_h = 1 + draw(f, 2), d->dilation_w = draw(f, 3) ? 1 : 2;
    d->pad_top = draw_between(f, -1, 3), d->pad_left = draw_between(f, -1, 3);
    if (d->mode == XPU_OPERANDS_8X8) {
        d->x_unsigned = draw(f, 2), d->w_unsigned = draw(f, 2);
        d->x_zero = draw_between(f, d->x_unsigned ? 0 : -128, d->x_unsigned ? 255 : 127);
        d->w_zero = draw_between(f, d->w_unsigned ? 0 : -128, d->w_unsigned ? 255 : 127);
    }
    d->drain = d->mode || draw(f, 4);
    d->post_mode = d->mode ? XPU_POST_FLOAT : draw(f, 2);
}

static void draw_window(fixture *f, xpu_desc_window *d) {
    memset(d, 0, sizeof *d);
    d->wait0 = d->wait1 = d->signal = XPU_NO_COUNTER;
    draw_kernel(f, d);
    d->tile_rows = draw(f, 13), d->tile_cols = draw(f, d->columns > 100 ? 10 : 20);
    if (draw(f, 3) == 0) {
        d->x_ring_rows = d->tile_rows + 1 + draw(f, 4);
        d->x_ring_first = draw(f, d->x_ring_rows);
    }
    unsigned xb = type_size[x_type(d)], wb = type_size[w_type(d)];
    d->x = X_AT, d->w = W_AT, d->y = Y_AT;
    d->x_pixel_stride = (int32_t)((d->columns + (draw(f, 2) ? 0 : draw(f, 5))) * xb);
    d->x_row_stride = (int32_t)(d->tile_cols * (uint32_t)d->x_pixel_stride + draw(f, 3) * xb);
    d->w_row_stride = (d->columns + draw(f, 3)) * wb;
    if (d->op == XPU_WINDOW_MAX || draw(f, 3) == 0) return;
    d->accumulate = !d->mode && draw(f, 2);
    d->start = d->accumulate ? PLANE_AT : START_AT;
}

/* The words of a window descriptor with the fields of `p`, which it shares with kind post. */
static void pack_window(uint32_t *words, const xpu_desc_window *d, const xpu_desc_post *p) {
    xpu_desc_window all = *d;
    all.params = p->params, all.y = p->y, all.y_type = p->y_type, all.branch_type = p->branch_type;
    all.activation = p->activation, all.act_after = p->act_after, all.branch_first = p->branch_first,
    all.clip_last = p->clip_last;
    all.scale = p->scale, all.branch = p->branch;
    all.bias = p->bias, all.findmax = p->findmax, all.absmax = p->absmax, all.lookup = p->lookup;
    all.y_pixel_stride = p->y_pixel_stride, all.y_row_stride = p->y_row_stride;
    all.branch_pixel_stride = p->branch_pixel_stride, all.branch_row_stride = p->branch_row_stride;
    xpu_desc_window_pack(words, &all);
}

static void one_window(fixture *f) {
    static uint8_t expected[Y_BYTES];
    xpu_desc_window d;
    xpu_post_params p;
    xpu_desc_post post = {0};
    uint32_t words[XPU_DESC_WORDS];
    draw_window(f, &d);
    post.post_mode = d.post_mode, post.columns = d.columns, post.oh = d.oh, post.ow = d.ow;
    draw_params(f, &p, d.post_mode == XPU_POST_QUANTISED);
    draw_post(f, &post, &p);
    post.absmax = draw(f, 2) ? ABSMAX_AT : 0;
    if (!d.drain) {
        post.y_type = XPU_TYPE_I32, post.params = 4; /* which nobody looks at */
        post.y_pixel_stride = (int32_t)(4 * (d.columns + draw(f, 3)));
        post.y_row_stride = (int32_t)d.ow * post.y_pixel_stride;
    }
    fill_small(f, d.mode == XPU_OPERANDS_16X16 ? 1e-7f : d.mode ? 1e-5f : 1e-4f);
    if (d.accumulate) scribble(f, PLANE_AT, 4 * d.oh * d.ow * d.columns);
    if (d.post_mode == XPU_POST_QUANTISED && draw(f, 8) == 0) scribble(f, START_AT, 0x1000); /* sums wrap */
    memcpy(host(f, PARAMS_AT), &p, sizeof p);
    scribble(f, X_AT, (size_t)(20 * d.x_row_stride));
    scribble(f, W_AT, (size_t)49 * d.w_row_stride);
    memcpy(expected, host(f, Y_AT), Y_BYTES);
    output_case o = {f,
                     &post,
                     &p,
                     XPU_POST_SCALE,
                     d.mode ? 32767.0f : 127.0f,
                     d.mode == XPU_OPERANDS_16X16 ? 32767.0f : 127.0f,
                     load_float(f, FINDMAX_AT),
                     expected};
    for (uint32_t i = 0; i < d.oh * d.ow; i++)
        for (uint32_t c = 0; c < d.columns; c++) {
            int64_t acc = accumulator(f, &d, i / d.ow, i % d.ow, c);
            int32_t low = (int32_t)(uint32_t)(uint64_t)acc;
            if (d.drain)
                expect_element(&o, i / d.ow, i % d.ow, c, low, d.mode ? (float)acc : (float)low);
            else
                memcpy(expected + at(0, post.y_row_stride, post.y_pixel_stride, i / d.ow, i % d.ow, c, XPU_TYPE_I32),
                       &low, 4);
        }
    pack_window(words, &d, &post);
    int cause = execute_words(f, XPU_ENGINE_WINDOW, words);
    if (cause) printf("fault: %s\n", f->func->reason);
    CU_ASSERT_EQUAL(cause, XPU_FAULT_NONE);
    CU_ASSERT(same_output(f, expected));
    if (post.findmax && d.drain) CU_ASSERT_EQUAL(load_float(f, FINDMAX_AT), o.findmax);
}

static void windows(void) {
    fixture f;
    open_fixture(&f, seed);
    printf("(seed %llu) ", (unsigned long long)seed);
    for (int i = 0; i < 600; i++) one_window(&f);
    close_fixture(&f);
}

/* A maximum with scale 1 gives the bytes of x, and an average what xa_mean gives. */
static void pooling(void) {
    fixture f;
    uint32_t words[XPU_DESC_WORDS];
    open_fixture(&f, seed + 1);
    scribble(&f, X_AT, 100 * 8);
    xpu_desc_window d = {ALONE, SMALL_WINDOW, .op = XPU_WINDOW_MAX, .x = X_AT, .y = Y_AT, .params = PARAMS_AT};
    d.post_mode = XPU_POST_QUANTISED, d.y_type = XPU_TYPE_U8, d.x_unsigned = 1, d.x_zero = 131;
    d.y_pixel_stride = 8, d.y_row_stride = 32;
    xpu_post_params p = {.x_scale = 1.0f, .w_scale = 1.0f, .zero = 131, .lo = {.i = 0}, .hi = {.i = 255}};
    memcpy(host(&f, PARAMS_AT), &p, sizeof p);
    xpu_desc_window_pack(words, &d);
    CU_ASSERT_EQUAL(execute_words(&f, XPU_ENGINE_WINDOW, words), XPU_FAULT_NONE);
    for (uint32_t i = 0; i < 4 * 4 * 8; i++)
        CU_ASSERT_EQUAL(*(const uint8_t *)host(&f, Y_AT + i), accumulator(&f, &d, i / 32, i / 8 % 4, i % 8) + d.x_zero);
    d.op = XPU_WINDOW_SUM, d.whole = 1, d.oh = d.ow = 1, d.tile_rows = d.tile_cols = 10, d.x_row_stride = 80;
    p.w_scale = xa_average_scale(0.37f, 0.21f, 100), p.zero = 7;
    memcpy(host(&f, PARAMS_AT), &p, sizeof p);
    xpu_desc_window_pack(words, &d);
    CU_ASSERT_EQUAL(execute_words(&f, XPU_ENGINE_WINDOW, words), XPU_FAULT_NONE);
    for (uint32_t c = 0; c < 8; c++) {
        int32_t sum = (int32_t)accumulator(&f, &d, 0, 0, c);
        CU_ASSERT_EQUAL(*(const uint8_t *)host(&f, Y_AT + c), xa_mean(sum >> 16, sum & 0xffff, p.w_scale, 7, 0, 255));
    }
    close_fixture(&f);
}

/* A kernel of 9 x 9 taps in four descriptors: the first three keep their sums. */
static void repetition(void) {
    enum { SIZE = 9, PIXELS = 36, CHANNELS = 5 };
    fixture f;
    uint32_t words[XPU_DESC_WORDS];
    open_fixture(&f, seed + 2);
    scribble(&f, X_AT, PIXELS * CHANNELS);
    scribble(&f, W_AT, SIZE * SIZE * CHANNELS);
    for (uint32_t part = 0; part < 4; part++) {
        uint32_t top = part / 2 * 5, left = part % 2 * 5;
        xpu_desc_window d = {ALONE, SMALL_WINDOW, .x = X_AT, .y = Y_AT};
        d.columns = CHANNELS, d.oh = d.ow = 6;
        d.kh = top ? 4 : 5, d.kw = left ? 4 : 5, d.pad_top = 4 - (int)top, d.pad_left = 4 - (int)left;
        d.tile_rows = d.tile_cols = 6, d.x_pixel_stride = CHANNELS, d.x_row_stride = 6 * CHANNELS;
        d.w = W_AT + 0x1000, d.w_row_stride = CHANNELS; /* taps of this part */
        for (uint32_t k = 0; k < d.kh * d.kw; k++)
            memcpy(host(&f, d.w + k * CHANNELS),
                   host(&f, W_AT + ((top + k / d.kw) * SIZE + left + k % d.kw) * CHANNELS), CHANNELS);
        d.drain = 0, d.y_type = XPU_TYPE_I32, d.y_pixel_stride = 4 * CHANNELS, d.y_row_stride = 6 * 4 * CHANNELS;
        if (part) d.accumulate = 1, d.start = Y_AT;
        xpu_desc_window_pack(words, &d);
        CU_ASSERT_EQUAL(execute_words(&f, XPU_ENGINE_WINDOW, words), XPU_FAULT_NONE);
    }
    xpu_desc_window whole = {.kh = SIZE,
                             .kw = SIZE,
                             .stride_h = 1,
                             .stride_w = 1,
                             .dilation_h = 1,
                             .dilation_w = 1,
                             .pad_top = 4,
                             .pad_left = 4,
                             .tile_rows = 6,
                             .tile_cols = 6,
                             .x = X_AT,
                             .w = W_AT,
                             .w_row_stride = CHANNELS,
                             .x_pixel_stride = CHANNELS,
                             .x_row_stride = 6 * CHANNELS};
    for (uint32_t i = 0; i < PIXELS; i++)
        for (uint32_t c = 0; c < CHANNELS; c++)
            CU_ASSERT_EQUAL(load(&f, Y_AT + 4 * (i * CHANNELS + c), XPU_TYPE_I32),
                            accumulator(&f, &whole, i / 6, i % 6, c));
    close_fixture(&f);
}

/* Every rule of the descriptor is a reported fault. */
static void faults(void) {
    static const struct {
        const char *field;
        uint64_t value;
        const char *also; /* another field, with also_value */
        uint64_t also_value;
        int cause;
    } cases[] = {
        {"op", 3, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"mode", 3, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"mode", 2, "op", XPU_WINDOW_SUM, XPU_FAULT_DESCRIPTOR},
        {"mode", 1, "op", XPU_WINDOW_SUM, XPU_FAULT_NONE},
        {"mode", 1, "post_mode", XPU_POST_QUANTISED, XPU_FAULT_DESCRIPTOR},
        {"mode", 1, "drain", 0, XPU_FAULT_DESCRIPTOR},
        {"mode", 1, "x_zero", 1, XPU_FAULT_DESCRIPTOR},
        {"whole", 1, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"whole", 1, "op", XPU_WINDOW_SUM, XPU_FAULT_DESCRIPTOR},
        {"kh", 0, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"kw", 8, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"stride_w", 0, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"dilation_h", 0, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"oh", 0, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"columns", 0, "w_row_stride", 8, XPU_FAULT_DESCRIPTOR},
        {"x_zero", 128, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"w_zero", 200, "w_unsigned", 1, XPU_FAULT_NONE},
        {"start", START_AT, "op", XPU_WINDOW_MAX, XPU_FAULT_DESCRIPTOR},
        {"accumulate", 1, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"x_ring_rows", 3, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"x_ring_rows", 4, "x_ring_first", 4, XPU_FAULT_DESCRIPTOR},
        {"x_ring_first", 1, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"x_ring_rows", 65535, NULL, 0, XPU_FAULT_ENGINE_ADDRESS},
        {"w_row_stride", 7, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"w_row_stride", 7, "op", XPU_WINDOW_SUM, XPU_FAULT_NONE},
        {"drain", 0, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"tile_cols", 0, "x", 0, XPU_FAULT_NONE},
        {"y_type", XPU_TYPE_I32, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"lookup", TABLE_AT, NULL, 0, XPU_FAULT_DESCRIPTOR},
        {"x", XPU_GM_BASE, NULL, 0, XPU_FAULT_ENGINE_ADDRESS},
        {"w", 0, NULL, 0, XPU_FAULT_ENGINE_ADDRESS},
        {"w", 0, "op", XPU_WINDOW_SUM, XPU_FAULT_NONE},
        {"x", X_AT + 1, "mode", 1, XPU_FAULT_MISALIGNED},
        {"y", Y_AT + 2, NULL, 0, XPU_FAULT_MISALIGNED},
        {"start", START_AT + 2, NULL, 0, XPU_FAULT_MISALIGNED},
        {"params", 0, NULL, 0, XPU_FAULT_ENGINE_ADDRESS},
        {"tile_rows", 65535, NULL, 0, XPU_FAULT_ENGINE_ADDRESS},
        {"layer", 7, NULL, 0, XPU_FAULT_NONE},
    };
    fixture f;
    open_fixture(&f, seed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const xpu_desc_window d = {ALONE,
                                   SMALL_WINDOW,
                                   .x = X_AT,
                                   .w = W_AT,
                                   .y = Y_AT,
                                   .params = PARAMS_AT,
                                   .y_pixel_stride = 32,
                                   .y_row_stride = 128,
                                   .y_type = XPU_TYPE_F32};
        uint32_t words[XPU_DESC_WORDS];
        xpu_desc_window_pack(words, &d);
        set_field(words, "window", cases[i].field, cases[i].value);
        if (cases[i].also) set_field(words, "window", cases[i].also, cases[i].also_value);
        int cause = execute_words(&f, XPU_ENGINE_WINDOW, words);
        if (cause != cases[i].cause)
            printf("%s = %llu: %s\n", cases[i].field, (unsigned long long)cases[i].value, xpu_fault_text(cause));
        CU_ASSERT_EQUAL(cause, cases[i].cause);
        CU_ASSERT_EQUAL(execute_words(&f, XPU_ENGINE_TENSOR, words), XPU_FAULT_DESCRIPTOR); /* not its kind */
    }
    close_fixture(&f);
}

XPU_TEST_MAIN("func window", {"windows", windows}, {"pooling", pooling}, {"repetition", repetition}, {"faults", faults})
