/* Lists of descriptors: what kernels queue when they run on the host. */
#include "xpu_runtime/program/record.h"

#include <stddef.h>
#include <string.h>

#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpu_device.h"

enum { WORDS = sizeof(struct xpu_conv2d_i8_args) / sizeof(uint32_t), LISTS = 0x80100000, SM = 0x20000400 };
enum {
    LOAD = XPU_COUNTER_LISTS + XPU_COUNTER_LOAD,
    TENSOR = XPU_COUNTER_LISTS + XPU_COUNTER_TENSOR,
    STORE = XPU_COUNTER_LISTS + XPU_COUNTER_STORE,
    WINDOW = XPU_COUNTER_LISTS + XPU_COUNTER_WINDOW
};

/* A product of 8 x 8 pixels of 32 channels in tiles of two rows, weights whole. */
static struct xpu_conv2d_i8_args product(void) {
    struct xpu_conv2d_i8_args a = {.x = 0x80200000, .w = 0x80300000, .y = 0x80400000, .factors = 0x80500000};
    a.batch = a.kernel_h = a.kernel_w = a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = a.groups = 1;
    a.in_h = a.in_w = a.out_h = a.out_w = a.tile_w = 8;
    a.in_c = a.out_c = a.tile_c = a.x_pixel = 32;
    a.tile_h = 2;
    a.whole = 3;
    a.banks = 2;
    a.sm = SM;
    a.sm_bytes = 1 << 16;
    a.x_row = 8 * 32;
    a.x_image = 64 * 32;
    a.high = 127;
    return a;
}

static const char *record(bench *b, const struct xpu_conv2d_i8_args *args, uint32_t layer, uint32_t most,
                          xpu_recording *recording, xpu_recorded *recorded) {
    uint32_t words[WORDS];
    memcpy(words, args, sizeof words);
    const xpu_recorded_call call = {"conv2d_i8", words, layer};
    return xpu_record_layers(&call, 1, LISTS, 32, most, b->arena, recording, recorded);
}

static const uint32_t *place(const xpu_recorded *r, int32_t number) {
    return r->words + XPU_DESC_WORDS * number;
}

/* Parameters, loads, products and stores in this order; the counters are those of lists. */
static void lists(void) {
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 0};
    xpu_recorded r;
    const struct xpu_conv2d_i8_args args = product();
    CU_ASSERT_PTR_NULL_FATAL(record(&b, &args, 4, 100, &recording, &r));
    CU_ASSERT(r.args.engine == XPU_ENGINE_TENSOR && r.args.work == 8 && r.args.stores == 4);
    CU_ASSERT(r.args.loads == 1 + 1 + 4 &&
              r.args.early == 2); /* parameters and weights, which wait for no layer, tiles */
    CU_ASSERT_EQUAL(r.places, 19);
    CU_ASSERT(((const xpu_post_params *)r.words)->hi.i == 127);
    for (int32_t i = 1; i < (int32_t)r.places; i++) {
        const uint32_t signal = i <= 6    ? LOAD
                                : i <= 14 ? TENSOR
                                          : STORE,
                       kind = i > 6 && i <= 14 ? XPU_OPCODE_TENSOR : XPU_OPCODE_COPY;
        CU_ASSERT_EQUAL(place(&r, i)[0], kind | 4 << 16 | (place(&r, i)[0] & 0xff00));
        CU_ASSERT_EQUAL(place(&r, i)[1] >> 16 & 0xff, signal);
    }
    CU_ASSERT((place(&r, 1)[1] & 0xff) == STORE && place(&r, 1)[2] == 0);    /* the scratch is free */
    CU_ASSERT((place(&r, 15)[1] & 0xff) == TENSOR && place(&r, 15)[2] == 3); /* the first drain, behind two products */
    CU_ASSERT((place(&r, 18)[1] & 0xff) == TENSOR && place(&r, 18)[2] == 8);
    CU_ASSERT(recording.signals[XPU_COUNTER_LOAD] == 6 && recording.signals[XPU_COUNTER_STORE] == 4);
    bench_close(&b);
}

/* What a tile of x waits for besides its place: the stores of the layer before, where that has lists; else nothing, a
 * nop of core 0 stands in front of it. */
static void layers_before(void) {
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 0};
    xpu_recorded r;
    const struct xpu_conv2d_i8_args args = product();
    for (uint32_t layer = 0; layer < 5; layer += layer == 1 ? 2 : 1) { /* 0, 1, 3, 4 */
        CU_ASSERT_PTR_NULL_FATAL(record(&b, &args, layer, 100, &recording, &r));
        const int follows = layer == 1 || layer == 4;
        const uint32_t *tile = place(&r, follows ? 3 : 1 + r.args.early);
        CU_ASSERT_EQUAL(tile[1] >> 8 & 0xff, follows ? STORE : XPU_NO_COUNTER);
        if (follows) CU_ASSERT_EQUAL(tile[3], (uint32_t)r.args.store_base);
    }
    CU_ASSERT_EQUAL(r.args.store_base, 12);
    bench_close(&b);
}

/* There are no lists, and what comes later is as if they had not been tried. */
static void refused(void) {
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 7};
    xpu_recorded r;
    struct xpu_conv2d_i8_args none = product(), wide = product(), small = product(), endless = product();
    none.tile_h = 0;
    wide.groups = 64;
    small.sm_bytes = 64;
    endless.tile_c = 1;
    endless.whole = 0;
    endless.out_h = 1 << 24;
    const struct xpu_conv2d_i8_args good = product(), *const cases[] = {&none, &wide, &small, &endless};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_PTR_NOT_NULL(record(&b, cases[i], 9, 100, &recording, &r));
    CU_ASSERT_PTR_NOT_NULL(record(&b, &good, 9, 17, &recording, &r));
    CU_ASSERT(recording.after == 7 && recording.signals[XPU_COUNTER_LOAD] == 0);
    CU_ASSERT_PTR_NULL(record(&b, &good, 9, 18, &recording, &r));
    CU_ASSERT_EQUAL(xpu_recorded_words("conv2d_i8"), WORDS);
    CU_ASSERT_EQUAL(xpu_recorded_words("conv2d_f32"), 0);
    bench_close(&b);
}

/* Depthwise windows of 3 x 3 over what the product makes, in tiles of two rows. */
static struct xpu_window_i8_args windows(int32_t follows) {
    struct xpu_window_i8_args a = {.x = 0x80400000, .w = 0x80600000, .y = 0x80700000, .factors = 0x80800000};
    a.batch = a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = a.pad_top = a.pad_left = 1;
    a.kernel_h = a.kernel_w = 3;
    a.in_h = a.in_w = a.out_h = a.out_w = a.tile_w = 8;
    a.in_c = a.out_c = a.groups = a.tile_c = 32;
    a.tile_h = 2;
    a.sm = SM + (1 << 16);
    a.sm_bytes = 1 << 16;
    a.high = 127;
    a.follows = follows;
    return a;
}

/* A product and the windows behind it: the first window comes behind the second tile of the product and one more, and
 * waits for two stores; results of both take turns; by itself the product has four drains, too. */
static void together(void) {
    enum { WINDOW_STORE = XPU_COUNTER_LISTS + XPU_COUNTER_COPY };
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 0}, apart = recording;
    xpu_recorded r[2], alone;
    const struct xpu_conv2d_i8_args first = product();
    const struct xpu_window_i8_args second = windows(1);
    xpu_recorded_call calls[2] = {{"conv2d_i8", (const uint32_t *)&first, 4},
                                  {"window_i8", (const uint32_t *)&second, 5}};
    CU_ASSERT(xpu_is_recorded_with(&calls[1], &calls[0], 1) && !xpu_is_recorded_with(&calls[0], &calls[1], 1));
    CU_ASSERT_PTR_NULL_FATAL(xpu_record_layers(calls, 2, LISTS, 32, 100, b.arena, &recording, r));
    const struct xpu_pipeline_lists_args *a = &r[0].args, *w = &r[1].args;
    CU_ASSERT(a->more_loads == w->loads && a->more_work == 4 && a->more_stores == 4 && w->is_rung && !a->is_rung);
    CU_ASSERT_EQUAL(w->lists, a->lists + r[0].places * XPU_DESC_WORDS * 4);
    CU_ASSERT(a->store_base == 0 && a->other_base == 0 && w->store_base == 0 && w->other_base == a->stores);
    int32_t at = 2;
    while (xpu_desc_nop_get_layer(place(&r[0], at)) == 4) at++;
    uint32_t least = UINT32_MAX; /* store that x waits for, behind the first, which all else waits for */
    for (int32_t i = at; i < 2 + a->loads + w->loads; i++) {
        const uint32_t *load = place(&r[0], i), value = xpu_desc_nop_get_wait0_value(load);
        const int waits = xpu_desc_nop_get_layer(load) == 5 && xpu_desc_nop_get_wait0(load) == STORE;
        if (waits && value > 1 && value < least) least = value;
    }
    CU_ASSERT_EQUAL(least, 2);             /* rows 0 to 2 */
    CU_ASSERT_EQUAL(at, 2 + a->loads - 1); /* three tiles of the product came first, one is left */
    const int32_t stores = 2 + a->loads + w->loads + a->work + w->work;
    for (int32_t i = 0; i < 8; i++) {
        const uint32_t signal = xpu_desc_nop_get_signal(place(&r[0], stores + i));
        CU_ASSERT_EQUAL(signal, i < 4 ? STORE : WINDOW_STORE); /* the first window's is stored a step later */
    }
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_PTR_NULL_FATAL(xpu_record_layers(&calls[i], 1, LISTS, 32, 100, b.arena, &apart, &alone));
        CU_ASSERT(alone.places == r[i].places + (i == 0 ? 4 : 0) && !alone.args.is_rung && !alone.args.more_work);
    }
    apart.signals[XPU_COUNTER_TENSOR] -= 4;
    CU_ASSERT_EQUAL(memcmp(&apart, &recording, offsetof(xpu_recording, last)), 0);
    const struct xpu_window_i8_args behind = windows(0);
    calls[1].words = (const uint32_t *)&behind;
    CU_ASSERT(!xpu_is_recorded_with(&calls[1], &calls[0], 1));
    bench_close(&b);
}

/* Only products have what windows may follow, or rows that stay in SM; programs may say otherwise. */
static void together_with_others(void) {
    static const uint32_t words[sizeof(struct xpu_elementwise_args) / sizeof(uint32_t)] = {0};
    struct xpu_window_i8_args second = windows(1);
    const xpu_recorded_call window = {"window_i8", (const uint32_t *)&second, 5};
    CU_ASSERT(xpu_is_recorded_with(&window, &(xpu_recorded_call){"conv2d_i8_f32", words, 4}, 1));
    CU_ASSERT(!xpu_is_recorded_with(&window, &(xpu_recorded_call){"elementwise", words, 4}, 1));
    second.ring_rows = 4;
    CU_ASSERT(!xpu_is_recorded_with(&window, &(xpu_recorded_call){"conv2d_i8_f32", words, 4}, 0));
    CU_ASSERT(!xpu_is_recorded_with(&window, &(xpu_recorded_call){"elementwise", words, 4}, 0));
}

/* What meets in SM: the product stores nothing and is done with its last descriptor; its rows wait until the windows
 * have read what stood there, windows wait for the product's descriptor that made their last row. */
static void in_a_ring(void) {
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 0};
    xpu_recorded r[2], alone;
    const struct xpu_conv2d_i8_args first = product();
    struct xpu_window_i8_args second = windows(0);
    second.ring_rows = 4, second.made_rows = 2, second.step_rows = 1, second.ring_whole_w = 1;
    xpu_recorded_call calls[2] = {{"conv2d_i8", (const uint32_t *)&first, 4},
                                  {"window_i8", (const uint32_t *)&second, 5}};
    CU_ASSERT(xpu_is_recorded_with(&calls[1], &calls[0], 0) && !xpu_is_recorded_with(&calls[1], &calls[0], 1));
    CU_ASSERT_PTR_NULL_FATAL(xpu_record_layers(calls, 2, LISTS, 32, 100, b.arena, &recording, r));
    const struct xpu_pipeline_lists_args *a = &r[0].args, *w = &r[1].args;
    CU_ASSERT(a->stores == 0 && a->work == 4 && w->work == 8 && w->stores == 8 && a->y == 0 && w->is_rung);
    const int32_t work = 2 + a->loads + w->loads;
    const uint32_t y = xpu_desc_tensor_get_y(place(&r[0], work));
    for (int32_t tile = 0; tile < 4; tile++) { /* of rows 2 tile, which stand where those four rows before did */
        const uint32_t *words = place(&r[0], work + tile);
        CU_ASSERT_EQUAL(xpu_desc_tensor_get_y(words), y + (uint32_t)(tile % 2) * 2 * 8 * 32);
        CU_ASSERT_EQUAL(xpu_desc_nop_get_wait1(words), tile < 2 ? XPU_NO_COUNTER : WINDOW);
        if (tile >= 2)
            CU_ASSERT_EQUAL(xpu_desc_nop_get_wait1_value(words), 2 * (uint32_t)tile - 1); /* step 2 tile - 2 */
    }
    for (int32_t step = 0; step < 8; step++) {
        const uint32_t *words = place(&r[0], work + 4 + step);
        const uint32_t last = step < 7 ? (uint32_t)step + 1 : 7, ih = step ? (uint32_t)step - 1 : 0;
        CU_ASSERT(xpu_desc_nop_get_wait0(words) == TENSOR && xpu_desc_nop_get_wait0_value(words) == last / 2 + 1);
        CU_ASSERT(xpu_desc_window_get_x_ring_rows(words) == 4 && xpu_desc_window_get_x_ring_first(words) == ih % 4);
    }
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_PTR_NULL_FATAL(xpu_record_layers(&calls[i], 1, LISTS, 32, 100, b.arena, &recording, &alone));
        CU_ASSERT(alone.args.stores == 4 && !alone.args.is_rung);
    }
    bench_close(&b);
}

/* A product of the windows' pixels between the steps of the one before them: windows leave their results in slots, and
 * wait for the product that read what stood there; that one waits for a step of the windows, nothing between the three
 * is stored. Where it comes so late that the engines would wait for each other there are no lists. */
static void in_a_pipeline(void) {
    static const uint32_t order[] = {4, 4, 6, 6, 4, 6, 6, 6, 6, 4, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6};
    enum { PRODUCTS = sizeof order / sizeof *order, STEPS = 8, READERS = 2 };
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 0};
    xpu_recorded r[XPU_LISTED_TOGETHER];
    const struct xpu_conv2d_i8_args first = product();
    struct xpu_window_i8_args second = windows(0);
    struct xpu_conv2d_i8_args third = product();
    third.x = second.y, third.y = second.y + 0x100000, third.out_c = third.y_pixel = 64;
    second.ring_rows = 4, second.made_rows = 2, second.step_rows = 1, second.ring_whole_w = 1;
    second.slots = 2, second.lag = 1;
    second.y_pixel = 32;
    const xpu_recorded_call calls[] = {{"conv2d_i8", (const uint32_t *)&first, 4},
                                       {"window_i8", (const uint32_t *)&second, 5},
                                       {"conv2d_i8", (const uint32_t *)&third, 6}};
    CU_ASSERT(xpu_is_recorded_behind(&calls[2], &calls[1], 0) && !xpu_is_recorded_behind(&calls[2], &calls[1], 1));
    CU_ASSERT_PTR_NULL_FATAL(xpu_record_layers(calls, 3, LISTS, 32, 200, b.arena, &recording, r));
    const struct xpu_pipeline_lists_args *a = &r[0].args;
    CU_ASSERT(a->work == 10 && a->tail == 10 && a->more_work == STEPS && a->windows_done == STEPS && a->stores == 0);
    CU_ASSERT(a->more_stores == STEPS * READERS && r[1].args.is_rung && r[2].args.is_rung && !r[1].args.stores);
    const int32_t work = 3 + a->loads + a->more_loads;
    uint32_t read = 0, end_of[STEPS];
    for (uint32_t i = 0; i < PRODUCTS; i++) {
        const uint32_t *words = place(&r[0], work + (int32_t)i);
        CU_ASSERT(xpu_desc_nop_get_layer(words) == order[i] && xpu_desc_tensor_get_bank(words) == i % 2);
        if (order[i] == 4) continue;
        if (read % READERS == 0)
            CU_ASSERT(xpu_desc_nop_get_wait0(words) == WINDOW &&
                      xpu_desc_nop_get_wait0_value(words) == read / READERS + 1);
        end_of[read++ / READERS] = i + 1;
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t *words = place(&r[0], work + PRODUCTS + (int32_t)step),
                       *reader = place(&r[0], work + (int32_t)end_of[step] - 1);
        CU_ASSERT_EQUAL(xpu_desc_window_get_y(words), xpu_desc_tensor_get_x(reader));
        if (step < 2) continue;
        CU_ASSERT(xpu_desc_nop_get_wait1(words) == TENSOR && xpu_desc_nop_get_wait1_value(words) == end_of[step - 2]);
        CU_ASSERT_EQUAL(xpu_desc_window_get_y(words), xpu_desc_window_get_y(words - 2 * XPU_DESC_WORDS));
    }
    second.lag = 2;
    CU_ASSERT_PTR_NOT_NULL(xpu_record_layers(calls, 3, LISTS, 32, 200, b.arena, &recording, r));
    second.lag = 1, second.slots = 4;
    CU_ASSERT_PTR_NOT_NULL(xpu_record_layers(calls, 3, LISTS, 32, 200, b.arena, &recording, r));
    second.slots = 2, third.x += 64;
    CU_ASSERT_PTR_NOT_NULL(xpu_record_layers(calls, 3, LISTS, 32, 200, b.arena, &recording, r));
    bench_close(&b);
}

/* Windows, and a product that reads their results in two slots: a step of it comes behind one step of the windows more,
 * its branch between their loads; windows wait for the products that read what stood in their slot, and nothing of
 * theirs is stored. */
static void in_slots(void) {
    enum { STEPS = 4, READERS = 2, ROWS = 2 };
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 0};
    xpu_recorded r[2], alone;
    struct xpu_window_i8_args first = windows(0);
    struct xpu_conv2d_i8_args second = product();
    second.x = first.y, second.y = first.y + 0x100000, second.branch = first.x, second.out_c = second.y_pixel = 64;
    first.step_rows = ROWS, first.slots = 2, first.y_pixel = 32;
    const xpu_recorded_call calls[] = {{"window_i8", (const uint32_t *)&first, 5},
                                       {"conv2d_i8", (const uint32_t *)&second, 6}};
    CU_ASSERT(xpu_is_recorded_with(&calls[1], &calls[0], 0) && !xpu_is_recorded_with(&calls[1], &calls[0], 1));
    CU_ASSERT_PTR_NULL_FATAL(xpu_record_layers(calls, 2, LISTS, 32, 200, b.arena, &recording, r));
    const struct xpu_pipeline_lists_args *a = &r[0].args;
    CU_ASSERT(a->engine == XPU_ENGINE_TENSOR && a->work == STEPS * READERS && a->more_work == STEPS);
    CU_ASSERT(a->tail == XPU_WINDOWS_FIRST && a->windows_done == STEPS && a->stores == STEPS * READERS);
    CU_ASSERT(r[1].args.is_rung && r[0].places + r[1].places == 3U + (uint32_t)(a->loads + STEPS + 2 * a->stores) - 1U);
    int32_t inputs = 0, branches = 0;
    for (int32_t i = 2; i < 2 + a->loads; i++) {
        const uint32_t *load = place(&r[0], i), from = xpu_desc_copy_get_src(load);
        if (xpu_desc_nop_get_layer(load) == 5 && from - first.x < 8 * 8 * 32) inputs++;
        if (xpu_desc_nop_get_layer(load) != 6 || from - first.x >= 8 * 8 * 64) continue;
        CU_ASSERT(inputs == (branches / READERS + 2 < STEPS ? branches / READERS + 2 : STEPS));
        branches++;
    }
    CU_ASSERT(inputs == STEPS && branches == STEPS * READERS);
    const int32_t work = 2 + a->loads, slides = work + a->work;
    for (int32_t step = 0; step < STEPS; step++) {
        const uint32_t *slide = place(&r[0], slides + step), *reader = place(&r[0], work + step * READERS);
        CU_ASSERT_EQUAL(xpu_desc_window_get_y(slide), xpu_desc_tensor_get_x(reader));
        CU_ASSERT(xpu_desc_nop_get_wait0(reader) == WINDOW &&
                  xpu_desc_nop_get_wait0_value(reader) == (uint32_t)step + 1);
        CU_ASSERT_EQUAL(xpu_desc_nop_get_wait1(slide), step < 2 ? XPU_NO_COUNTER : TENSOR);
        if (step >= 2) CU_ASSERT_EQUAL(xpu_desc_nop_get_wait1_value(slide), (uint32_t)(step - 1) * READERS);
    }
    CU_ASSERT_PTR_NULL_FATAL(xpu_record_layers(calls, 1, LISTS, 32, 200, b.arena, &recording, &alone));
    CU_ASSERT(alone.args.stores == STEPS && alone.args.engine == XPU_ENGINE_WINDOW && !alone.args.tail);
    static const int32_t bad[][2] = {{0, 2}, {1 << 16, 2}, {ROWS, 4}, {ROWS, -1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        first.step_rows = bad[i][0], first.slots = bad[i][1];
        CU_ASSERT_PTR_NOT_NULL(xpu_record_layers(calls, 2, LISTS, 32, 200, b.arena, &recording, r));
    }
    first.step_rows = ROWS, first.slots = 2, second.x += 64;
    CU_ASSERT_PTR_NOT_NULL(xpu_record_layers(calls, 2, LISTS, 32, 200, b.arena, &recording, r));
    bench_close(&b);
}

/* Where the layer before has its scratch elsewhere, parameters and weights wait for the one before that, whose place
 * they take; x waits for the layer before. */
static void scratch_apart(void) {
    static const uint32_t places[] = {SM, SM + 0x10000, SM, SM + 64};
    static const uint32_t free[] = {0, 0, 4, 12}; /* stores: of none, none, the first layer, all three */
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 0};
    for (uint32_t i = 0; i < 4; i++) {
        xpu_recorded r;
        struct xpu_conv2d_i8_args args = product();
        args.sm = places[i];
        CU_ASSERT_PTR_NULL_FATAL(record(&b, &args, 4 + i, 100, &recording, &r));
        for (int32_t load = 1; load <= 2; load++) {
            CU_ASSERT_EQUAL(xpu_desc_nop_get_wait0(place(&r, load)), STORE);
            CU_ASSERT_EQUAL(xpu_desc_nop_get_wait0_value(place(&r, load)), free[i]);
        }
        const uint32_t *x = place(&r, 3);
        CU_ASSERT(xpu_desc_nop_get_wait0(x) == STORE && xpu_desc_nop_get_wait0_value(x) == free[i]);
        CU_ASSERT(i == 0 || (xpu_desc_nop_get_wait1(x) == STORE && xpu_desc_nop_get_wait1_value(x) == 4 * i));
    }
    bench_close(&b);
}

/* No file makes the recorder read or divide by what is not there, nor compute (make test SAN=undefined) what has no
 * value. */
static void bad_rings(void) {
    static const int32_t bad[][3] = {{5, 2, 1},       {4, 0, 1},       {4, 2, 0}, {-4, 2, 1},
                                     {4, 2, 1 << 20}, {1 << 16, 2, 1}, {4, 2, 1}};
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 0};
    xpu_recorded r[2];
    struct xpu_conv2d_i8_args first = product();
    struct xpu_window_i8_args second = windows(0);
    const xpu_recorded_call calls[2] = {{"conv2d_i8", (const uint32_t *)&first, 4},
                                        {"window_i8", (const uint32_t *)&second, 5}};
    enum { COUNT = sizeof bad / sizeof *bad };
    for (size_t i = 0; i < COUNT; i++) {
        const int32_t *n = bad[i];
        if (i == COUNT - 1) second.x += 64; /* a ring that is good, of another input */
        second.ring_rows = n[0], second.made_rows = n[1], second.step_rows = n[2], second.ring_whole_w = 1;
        CU_ASSERT_PTR_NOT_NULL(xpu_record_layers(calls, 2, LISTS, 32, 100, b.arena, &recording, r));
    }
    second = windows(0);
    second.ring_rows = 4, second.made_rows = 2, second.step_rows = 1;
    second.kernel_h = second.kernel_w = second.dilation_h = second.pad_top = first.kernel_h = first.stride_h = 1 << 24;
    CU_ASSERT_PTR_NOT_NULL(xpu_record_layers(calls, 2, LISTS, 32, 100, b.arena, &recording, r));
    bench_close(&b);
}

/* A load of 1024 bytes of weights, 256 of which have been fetched in runs of 64 bytes; 4096 bytes are to be fetched for
 * later layers: loads of the same bytes in as many copies as there are runs, copies between the loads of x, in the
 * order of bytes, and products that wait for the loads that they waited for. */
static void ahead(void) {
    enum { RUN = 64, PITCH = 256, FAST = 0x30000000, SLOW = 0x80600000, LATER = 4096 };
    BENCH_OPEN(b);
    const struct xpu_conv2d_i8_args args = product();
    const xpu_recorded_move fetched = {args.w, FAST, RUN, PITCH, 0, 4 * RUN},
                            later = {SLOW, FAST + 1024, 512, 1024, 512, LATER};
    const xpu_recorded_moves moves = {&later, 1, &fetched, 1};
    xpu_recording recording = {.after = 0}, plain = {.after = 0};
    xpu_recorded r, without;
    CU_ASSERT_PTR_NULL_FATAL(record(&b, &args, 4, 100, &plain, &without));
    recording.moves = &moves;
    CU_ASSERT_PTR_NULL_FATAL(record(&b, &args, 4, 100, &recording, &r));
    CU_ASSERT(r.args.early == without.args.early && r.args.work == without.args.work && !recording.moves);
    CU_ASSERT_EQUAL(recording.signals[XPU_COUNTER_LOAD], (uint32_t)r.args.loads);
    uint32_t weights = 0, runs = 0, come = 0, loads = 0, before[8] = {0};
    for (int32_t i = 1; i <= r.args.loads; i++) {
        const uint32_t *words = place(&r, i);
        const uint32_t from = (uint32_t)xpu_desc_copy_get_src(words), to = (uint32_t)xpu_desc_copy_get_dst(words),
                       bytes = 4 * xpu_desc_copy_get_size3(words), rows = xpu_desc_copy_get_size2(words);
        if (to >= FAST && to < FAST + 1024 + 512 + LATER) { /* what is fetched */
            CU_ASSERT(i > r.args.early && to == FAST + 1024 + 512 + come);
            CU_ASSERT_EQUAL(from, SLOW + (512 + come) / 512 * 1024 + come % 512);
            come += rows * bytes;
            continue;
        }
        const int is_weight = weights < 1024 && i > 1;
        if (is_weight && from >= FAST && from < FAST + 4 * RUN) {
            CU_ASSERT(bytes == RUN && from == FAST + runs * RUN && weights == runs * PITCH);
            runs++;
        } else if (is_weight) {
            CU_ASSERT_EQUAL(from, args.w + weights);
        }
        if (is_weight) weights += bytes;
        if (!is_weight || weights == 1024) before[loads++] = (uint32_t)i;
    }
    CU_ASSERT(weights == 1024 && runs == 4 && come == LATER && loads == (uint32_t)without.args.loads);
    for (int32_t i = 0; i < r.args.work; i++) {
        const uint32_t *words = place(&r, 1 + r.args.loads + i), *other = place(&without, 1 + without.args.loads + i);
        const uint32_t waits_for = xpu_desc_tensor_get_channels(other) ? LOAD : XPU_NO_COUNTER;
        CU_ASSERT((words[1] & 0xff) == waits_for && (other[1] & 0xff) == waits_for);
        if (waits_for != LOAD) continue; /* a drain */
        CU_ASSERT_EQUAL(words[2], before[other[2] - 1]);
    }
    recording = (xpu_recording){.moves = &moves};
    CU_ASSERT_PTR_NOT_NULL(record(&b, &args, 4, 20, &recording, &r)); /* no room */
    bench_close(&b);
}

/* A product in int16 of 8 x 8 pixels of 64 channels in chunks of tile_c, in tiles of two rows. */
static struct xpu_conv2d_i16_args float_product(int32_t whole, int32_t tile_c) {
    const struct xpu_conv2d_i8_args bytes = product();
    struct xpu_conv2d_i16_args a = {.x = bytes.x, .w = bytes.w, .y = bytes.y, .x_absmax = 0x80500000, .x_plane = 4};
    a.w_scale = a.x_absmax + 64;
    a.batch = a.kernel_h = a.kernel_w = a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = a.groups = 1;
    a.in_h = a.in_w = a.out_h = a.out_w = a.tile_w = 8;
    a.in_c = 64;
    a.out_c = a.y_pixel = 32;
    a.tile_c = tile_c;
    a.tile_h = a.banks = 2;
    a.whole = whole;
    a.sm = bytes.sm;
    a.sm_bytes = bytes.sm_bytes;
    a.x_pixel = 4 * a.in_c;
    a.x_row = 8 * a.x_pixel;
    a.x_image = 8 * a.x_row;
    return a;
}

static const char *record_float(bench *b, const struct xpu_conv2d_i16_args *args, uint32_t most, xpu_recorded *r) {
    xpu_recording recording = {.after = 0};
    const xpu_recorded_call call = {"conv2d_i16", (const uint32_t *)args, 4};
    return xpu_record_layers(&call, 1, LISTS, 32, most, b->arena, &recording, r);
}

enum { TILES = 4, MOST_PRODUCTS = 2 * TILES };

/* Of four tiles with so many products each, whose results have `places` places. */
static void check_drains(const xpu_recorded *r, uint32_t chunks, uint32_t places) {
    uint32_t products = 0, drained = 0, signals[TILES], of[MOST_PRODUCTS];
    const uint32_t all = TILES * chunks;
    CU_ASSERT_FATAL(r->args.work == (int32_t)(all + TILES) && r->args.stores == TILES);
    for (int32_t i = 0; i < r->args.work; i++) {
        const uint32_t *words = place(r, 1 + r->args.loads + i), bank = xpu_desc_tensor_get_bank(words);
        if (xpu_desc_tensor_get_channels(words)) {
            CU_ASSERT_FATAL(products < all);
            CU_ASSERT(!xpu_desc_tensor_get_drain(words) && bank == products / chunks % 2);
            CU_ASSERT(xpu_desc_nop_get_wait0(words) == LOAD && xpu_desc_nop_get_wait1(words) == XPU_NO_COUNTER);
            CU_ASSERT_EQUAL(xpu_desc_tensor_get_accumulate(words), products % chunks != 0);
            of[products++] = (uint32_t)i + 1;
            continue;
        }
        CU_ASSERT_FATAL(drained < TILES);
        const uint32_t wanted = (drained + 1) * chunks + (places == 2);
        CU_ASSERT_EQUAL(products, wanted < all ? wanted : all);
        CU_ASSERT(xpu_desc_tensor_get_drain(words) && xpu_desc_tensor_get_accumulate(words) && bank == drained % 2);
        CU_ASSERT(xpu_desc_nop_get_wait0(words) == XPU_NO_COUNTER && xpu_desc_nop_get_wait1(words) == STORE);
        CU_ASSERT_EQUAL(xpu_desc_nop_get_wait1_value(words), drained < places ? 0 : drained - places + 1);
        signals[drained++] = (uint32_t)i + 1;
    }
    CU_ASSERT_FATAL(drained == TILES && products == all);
    for (uint32_t i = 0; i < TILES; i++) {
        const uint32_t *words = place(r, 1 + r->args.loads + r->args.work + (int32_t)i);
        CU_ASSERT(xpu_desc_nop_get_wait0(words) == TENSOR && xpu_desc_nop_get_wait0_value(words) == signals[i]);
    }
    const uint32_t *last_x = place(r, r->args.loads); /* has two places */
    CU_ASSERT(xpu_desc_nop_get_wait0(last_x) == TENSOR && xpu_desc_nop_get_wait0_value(last_x) == of[all - 3]);
}

/* Products of a tile have a bank, which drains behind the first product of the next tile where results have two places,
 * else at once. A drain waits for the store that was in its place, a store for its drain, and operands for the last
 * product that reads what is in their place, not for a drain behind it. */
static void drains(void) {
    BENCH_OPEN(b);
    for (uint32_t chunks = 1; chunks <= 2; chunks++) {
        for (int32_t whole = 0; whole <= XPU_TILE_THREE_Y; whole += XPU_TILE_THREE_Y) {
            const struct xpu_conv2d_i16_args args = float_product(whole, 64 / (int32_t)chunks);
            xpu_recorded r;
            CU_ASSERT_PTR_NULL_FATAL(record_float(&b, &args, 100, &r));
            check_drains(&r, chunks, whole ? 3 : 2);
        }
    }
    bench_close(&b);
}

/* However far a layer comes for which there is no room, the next one's lists have nothing of it. */
static void refused_within(void) {
    BENCH_OPEN(b);
    const struct xpu_conv2d_i16_args args = float_product(0, 32);
    xpu_recorded first, r;
    CU_ASSERT_PTR_NULL_FATAL(record_float(&b, &args, 100, &first));
    for (uint32_t most = 1; most + 1 < first.places; most++) {
        CU_ASSERT_PTR_NOT_NULL(record_float(&b, &args, most, &r));
        CU_ASSERT_PTR_NULL_FATAL(record_float(&b, &args, 100, &r));
        CU_ASSERT_EQUAL_FATAL(r.places, first.places);
        CU_ASSERT_EQUAL(memcmp(r.words, first.words, (size_t)r.places * XPU_DESC_WORDS * sizeof(uint32_t)), 0);
    }
    bench_close(&b);
}

/* The first tile of pixels comes in pieces of channels: each product of its first column tile waits for its own. */
static void pieces(void) {
    enum { PIECES = 8, PIECE = 32 };
    const int32_t whole = XPU_TILE_WHOLE_X | XPU_TILE_WHOLE_W | XPU_TILE_ONE_X | XPU_TILE_SCALES;
    struct xpu_conv2d_i16_args args = float_product(whole, PIECES * PIECE);
    xpu_recorded r;
    BENCH_OPEN(b);
    args.in_c = PIECES * PIECE, args.out_c = args.y_pixel = 64, args.tile_h = 8, args.w_int8 = 1;
    args.sm_bytes = 1 << 18;
    args.x_pixel = 4 * args.in_c, args.x_row = 8 * args.x_pixel;
    CU_ASSERT_PTR_NULL_FATAL(record_float(&b, &args, 100, &r));
    uint32_t products = 0, loaded = 0;
    for (int32_t i = 0; i < r.args.work; i++) {
        const uint32_t *words = place(&r, 1 + r.args.loads + i), channels = xpu_desc_tensor_get_channels(words);
        const uint32_t waits_for = xpu_desc_nop_get_wait0_value(words);
        if (!channels) continue;
        CU_ASSERT_EQUAL(channels, products < PIECES ? PIECE : PIECES * PIECE);
        CU_ASSERT_EQUAL(xpu_desc_tensor_get_accumulate(words), products > 0 && products < PIECES);
        CU_ASSERT(xpu_desc_nop_get_wait0(words) == LOAD && waits_for >= loaded + (products < PIECES));
        loaded = waits_for;
        if (products < PIECES) {
            const uint32_t *load = place(&r, (int32_t)loaded);
            CU_ASSERT_EQUAL(xpu_desc_copy_get_src(load), args.x + 4 * PIECE * products);
            CU_ASSERT_EQUAL(xpu_desc_copy_get_dst(load), xpu_desc_tensor_get_x(words));
            CU_ASSERT(xpu_desc_copy_get_size2(load) * xpu_desc_copy_get_size1(load) == 64 &&
                      xpu_desc_copy_get_size3(load) == PIECE);
        }
        products++;
    }
    CU_ASSERT_EQUAL(products, PIECES + 1);
    args.kernel_h = 3, args.pad_top = 1; /* rows of weights are not those of channels */
    CU_ASSERT_PTR_NULL_FATAL(record_float(&b, &args, 100, &r));
    CU_ASSERT_EQUAL(xpu_desc_tensor_get_channels(place(&r, 1 + r.args.loads)), PIECES * PIECE);
    bench_close(&b);
}

/* ---- windows whose input rows stand in a ring ---- */

enum { ROW_CASES = 300, MOST_PLACES = 128, NO_ROW = -1 };

static int32_t draw(uint32_t *state, int32_t least, int32_t most) {
    *state = *state * 1664525u + 1013904223u;
    return least + (int32_t)((*state >> 8) % (uint32_t)(most - least + 1));
}

static int32_t least_of(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* Whole rows, at least two tiles, and windows that share rows with those below. */
static struct xpu_window_i16_args draw_windows(uint32_t *state) {
    struct xpu_window_i16_args a = {.x = 0x80200000, .w = 0x80300000, .y = 0x80400000, .w_scale = 0x80500000};
    a.x_absmax = 0x80600000, a.y_absmax = 0x80600040;
    a.groups = a.dilation_w = a.w_int8 = 1;
    a.batch = draw(state, 1, 3), a.in_c = a.out_c = a.y_pixel = draw(state, 1, 3) * 16;
    a.tile_c = draw(state, 0, 1) ? a.in_c : 32;
    a.stride_h = draw(state, 1, 3), a.stride_w = draw(state, 1, 2), a.dilation_h = draw(state, 1, 2);
    do a.kernel_h = draw(state, 2, 7);
    while ((a.kernel_h - 1) * a.dilation_h < a.stride_h);
    a.kernel_w = draw(state, 1, 3), a.pad_left = draw(state, 0, a.kernel_w - 1), a.pad_top = draw(state, 0, 9);
    a.tile_h = draw(state, 1, 6), a.out_h = a.tile_h + draw(state, 1, 20);
    const int32_t reach = (a.kernel_h - 1) * a.dilation_h + 1, end = (a.out_h - 1) * a.stride_h + reach - a.pad_top;
    a.in_h = end > 3 ? end - draw(state, 0, 2) : 1;
    a.in_w = draw(state, 4, 9);
    a.out_w = a.tile_w = (a.in_w + a.pad_left - a.kernel_w) / a.stride_w + 1;
    a.sm = SM, a.sm_bytes = 1 << 18;
    return a;
}

/* What stands in a place of the ring, and the windows that have read it. */
typedef struct {
    int32_t row, readers;
} row_place;

typedef struct {
    const struct xpu_window_i16_args *args;
    xpu_tiling_window_buffers at;
    row_place places[MOST_PLACES];
    int32_t first_load, loads; /* of rows that have come */
} row_ring;

/* Rows of all images, one block of channels behind the other. */
static int32_t numbered(const struct xpu_window_i16_args *a, int32_t block, int32_t row_of_all) {
    return block * a->batch * a->in_h + row_of_all;
}

/* The load's rows come: whoever reads what stood there is over by then. */
static void come(row_ring *ring, const uint32_t *words) {
    const struct xpu_window_i16_args *a = ring->args;
    const int32_t row_bytes = 4 * a->in_w * a->in_c, from = (int32_t)(xpu_desc_copy_get_src(words) - a->x);
    const int32_t block = from % (4 * a->in_c) / (4 * a->tile_c), first = from / row_bytes;
    const int32_t place = (int32_t)(xpu_desc_copy_get_dst(words) - SM) / (int32_t)ring->at.row_bytes;
    const int32_t is_apart = xpu_desc_copy_get_size1(words) > 1, sized = (int32_t)xpu_desc_copy_get_size2(words);
    const int32_t pixels = (int32_t)xpu_desc_copy_get_size3(words) / a->in_c;
    const int32_t rows = a->tile_c < a->in_c ? (int32_t)xpu_desc_copy_get_size1(words)
                         : sized > 1         ? sized
                                             : (pixels + a->in_w - 1) / a->in_w;
    const int waits = xpu_desc_nop_get_wait1(words) == WINDOW;
    CU_ASSERT_FATAL((!is_apart || a->tile_c < a->in_c) && rows > 0 && place + rows <= ring->at.ring_rows);
    for (int32_t i = 0; i < rows; i++) {
        row_place *p = &ring->places[place + i];
        CU_ASSERT(p->readers == 0 || (waits && (int32_t)xpu_desc_nop_get_wait1_value(words) >= p->readers));
        *p = (row_place){numbered(a, block, first + i), 0};
    }
}

/* Each row that a window reads stands where it looks, when the loads that it waits for have come. 0: there is no ring.
 */
static int check_rows(const struct xpu_window_i16_args *a, const xpu_recorded *r) {
    const int32_t downs = (a->out_h + a->tile_h - 1) / a->tile_h;
    const xpu_tiling_shape shape = {a->in_h,       a->in_w,       a->in_c,     a->out_h,    a->out_w,
                                    a->out_c,      a->kernel_h,   a->kernel_w, a->stride_h, a->stride_w,
                                    a->dilation_h, a->dilation_w, a->groups};
    const xpu_tiling_task task = {least_of(a->tile_c, a->in_c), a->tile_h, a->tile_w};
    row_ring ring = {.args = a, .at = xpu_tiling_window_buffers_of(&shape, &task, 1, XPU_TILING_I16X8)};
    if (!ring.at.ring_rows) return 0; /* two tiles are less */
    CU_ASSERT_FATAL(ring.at.ring_rows <= MOST_PLACES);
    for (int32_t i = 0; i < MOST_PLACES; i++) ring.places[i].row = NO_ROW;
    for (int32_t window = 0; window < r->args.work; window++) {
        const uint32_t *words = place(r, 1 + r->args.loads + window);
        CU_ASSERT_FATAL(xpu_desc_nop_get_wait0(words) == LOAD);
        for (; ring.loads < (int32_t)xpu_desc_nop_get_wait0_value(words); ring.loads++) {
            const uint32_t *load = place(r, 1 + ring.loads);
            if (xpu_desc_copy_get_src(load) >= a->x && xpu_desc_copy_get_src(load) < a->w) come(&ring, load);
        }
        const int32_t images = window / downs, block = images / a->batch, image = images % a->batch;
        const int32_t begin = window % downs * a->tile_h * a->stride_h - a->pad_top, top = begin < 0 ? 0 : begin;
        const int32_t rows = (int32_t)xpu_desc_window_get_tile_rows(words);
        const int32_t outs = least_of(a->tile_h, a->out_h - window % downs * a->tile_h);
        const int32_t reach = (a->kernel_h - 1) * a->dilation_h + 1;
        const int32_t end = least_of(begin + (outs - 1) * a->stride_h + reach, a->in_h);
        CU_ASSERT(rows == (end > top ? end - top : 0) &&
                  xpu_desc_window_get_x_ring_rows(words) == (uint32_t)ring.at.ring_rows);
        for (int32_t i = 0; i < rows; i++) {
            const int32_t at = ((int32_t)xpu_desc_window_get_x_ring_first(words) + i) % ring.at.ring_rows;
            CU_ASSERT_EQUAL(ring.places[at].row, numbered(a, block, image * a->in_h + top + i));
            ring.places[at].readers = window + 1;
        }
    }
    return 1;
}

static void rows_in_a_ring(void) {
    BENCH_OPEN(b);
    uint32_t state = 11;
    int rings = 0;
    for (int i = 0; i < ROW_CASES; i++) {
        const struct xpu_window_i16_args args = draw_windows(&state);
        xpu_recording recording = {.after = 0};
        xpu_recorded r;
        const xpu_recorded_call call = {"window_i16", (const uint32_t *)&args, 4};
        const char *why = xpu_record_layers(&call, 1, LISTS, 32, 4096, b.arena, &recording, &r);
        if (why) printf("%s\n", why);
        CU_ASSERT_PTR_NULL_FATAL(why);
        rings += check_rows(&args, &r);
    }
    CU_ASSERT(rings > ROW_CASES / 2);
    bench_close(&b);
}

/* ---- elementwise layers ---- */

/* A sum of 1000 bytes and as many in steps of 256. */
static struct xpu_elementwise_args sum(void) {
    struct xpu_elementwise_args a = {.x = 0x80200000, .branch = 0x80300000, .y = 0x80400000, .images = 1, .rows = 1000};
    a.op = XPU_POST_ADD;
    a.most = 127;
    a.tile = 256;
    a.sm = SM;
    a.sm_bytes = 64 + 9 * 256;
    return a;
}

static const char *record_sum(bench *b, const struct xpu_elementwise_args *args, uint32_t most,
                              xpu_recording *recording, xpu_recorded *r) {
    uint32_t words[sizeof *args / sizeof(uint32_t)];
    memcpy(words, args, sizeof words);
    const xpu_recorded_call call = {"elementwise", words, 4};
    return xpu_record_layers(&call, 1, LISTS, 32, most, b->arena, recording, r);
}

/* Parameters, two loads a step; the last step has whole rows of the array and what is left of one; stores. Buffers are
 * overwritten when the engine has read them, or their result is stored, three steps before. */
static void elementwise(void) {
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 0};
    xpu_recorded r;
    const struct xpu_elementwise_args args = sum();
    CU_ASSERT_PTR_NULL_FATAL(record_sum(&b, &args, 100, &recording, &r));
    CU_ASSERT(r.args.engine == XPU_ENGINE_TENSOR && r.args.loads == 9 && r.args.work == 5 && r.args.stores == 4);
    for (int32_t i = 0; i < 5; i++) {
        const uint32_t *words = place(&r, 10 + i);
        CU_ASSERT(xpu_desc_nop_get_opcode(words) == XPU_OPCODE_POST);
        CU_ASSERT_EQUAL(xpu_desc_post_get_columns(words), i < 4 ? 32u : 8u);
        CU_ASSERT_EQUAL(xpu_desc_post_get_ow(words), i < 3 ? 8u : i == 3 ? 7u : 1u);
        CU_ASSERT(xpu_desc_nop_get_wait0(words) == LOAD &&
                  xpu_desc_nop_get_wait0_value(words) == (i < 4 ? 2u * (uint32_t)i + 3 : 9u));
        CU_ASSERT(xpu_desc_nop_get_wait1(words) == STORE && xpu_desc_nop_get_wait1_value(words) == (i < 3 ? 0u : 1u));
    }
    const uint32_t *load = place(&r, 1 + 1 + 2 * 3); /* x of the fourth step */
    CU_ASSERT(xpu_desc_nop_get_wait1(load) == TENSOR && xpu_desc_nop_get_wait1_value(load) == 1);
    CU_ASSERT_EQUAL(xpu_desc_copy_get_size3(load), 1000 - 3 * 256);
    CU_ASSERT_EQUAL(xpu_desc_copy_get_size3(place(&r, 18)), 1000 - 3 * 256);
    bench_close(&b);
}

/* Arguments that no compiler makes. */
static void elementwise_refused(void) {
    BENCH_OPEN(b);
    struct xpu_elementwise_args cases[10];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) cases[i] = sum();
    cases[0].tile = 0;
    cases[1].tile = -1;
    cases[2].rows = 0;
    cases[3].images = 0;
    cases[4].columns = -1;
    cases[5].columns = 1 << 16;
    cases[6].rows = INT32_MAX; /* more steps than lists have room for */
    cases[7].images = INT32_MAX;
    cases[8].sm_bytes--;
    cases[9].columns = 32, cases[9].tile = 1 << 16;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_recording recording = {.after = 7};
        xpu_recorded r;
        CU_ASSERT_PTR_NOT_NULL(record_sum(&b, &cases[i], 100, &recording, &r));
        CU_ASSERT(recording.after == 7 && recording.signals[XPU_COUNTER_LOAD] == 0);
    }
    xpu_recording recording = {.after = 7};
    xpu_recorded r;
    const struct xpu_elementwise_args good = sum();
    CU_ASSERT_PTR_NOT_NULL(record_sum(&b, &good, 17, &recording, &r));
    CU_ASSERT_PTR_NULL(record_sum(&b, &good, 18, &recording, &r));
    CU_ASSERT_EQUAL(xpu_recorded_words("elementwise"), sizeof good / sizeof(uint32_t));
    bench_close(&b);
}

XPU_TEST_MAIN("lists of descriptors", {"ahead", ahead}, {"together", together},
              {"together with others", together_with_others}, {"in a ring", in_a_ring},
              {"in a pipeline", in_a_pipeline}, {"in slots", in_slots}, {"bad rings", bad_rings},
              {"scratch apart", scratch_apart}, {"lists", lists}, {"layers before", layers_before},
              {"refused", refused}, {"elementwise", elementwise}, {"elementwise refused", elementwise_refused},
              {"drains", drains}, {"refused within", refused_within}, {"rows in a ring", rows_in_a_ring},
              {"pieces", pieces})
