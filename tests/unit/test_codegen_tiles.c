/* Tiles of the tensor engine and tasks of windows over bytes: they fit the chip, at every size of images. */
#include "tests/unit/ir.h"
#include "xpu_codegen/lower/by_size.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/xpu_codegen.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpuc/pipeline.h"

/* The target with an empty graph. */
static xpu_codegen *start(bench *b, const char *chip, const char *precision) {
    xpu_compile_options *options = XPU_NEW(b->arena, xpu_compile_options);
    xpu_target_job *job = XPU_NEW(b->arena, xpu_target_job);
    *options = (xpu_compile_options){.target = "xpu-sim",
                                     .chip = chip,
                                     .precision = precision,
                                     .source_name = "test.onnx",
                                     .resources = ".",
                                     .emit = "c"};
    *job = (xpu_target_job){
        .services = &xpu_target_services, .options = options, .graph = b->graph, .arena = b->arena, .diags = &b->diags};
    CU_ASSERT_EQUAL_FATAL(xpu_sim_target.start(job), XPU_OK);
    return job->state;
}

/* ---- tiles ---- */

static void tiles(void) {
    static const char *const chips[] = {"nano", "standard", "pro"};
    random_source r = random_open("tiles");
    for (volatile int i = 0; i < 300; i++) {
        BENCH_OPEN(b);
        xpu_codegen *cg = start(&b, chips[i % 3], "int16");
        xpu_conv_shape s = {.groups = random_range(&r, 1, 4)};
        int64_t in_c = s.groups * random_range(&r, 1, 200), out_c = s.groups * random_range(&r, 1, 200);
        int64_t size = random_range(&r, 1, 300), kernel = random_range(&r, 1, size < 7 ? size : 7);
        xpu_dims *dims = &b.graph->dims;
        s.batch = xpu_dim_const(dims, random_range(&r, 1, 16));
        s.in_c = xpu_dim_const(dims, in_c);
        s.out_c = xpu_dim_const(dims, out_c);
        s.in_h = s.in_w = xpu_dim_const(dims, size);
        for (int a = 0; a < 2; a++) {
            s.kernel[a] = kernel;
            s.stride[a] = random_range(&r, 1, 3);
            s.dilation[a] = 1;
        }
        s.out_h = xpu_dim_const(dims, (size - kernel) / s.stride[0] + 1);
        s.out_w = xpu_dim_const(dims, (size - kernel) / s.stride[1] + 1);
        xpu_tile tile;
        int branch = (int)random_range(&r, 0, 1);
        const char *problem = xpu_choose_tile(cg, &s, branch, XPU_TILING_I16, &tile);
        CU_ASSERT_PTR_NULL(problem);
        const xpu_conv_shape loaded = xpu_loaded_shape(cg, &s);
        const xpu_tiling_shape shape = xpu_tiling_shape_of(cg, &loaded);
        xpu_tiling_scratch at = xpu_tiling_layout(&shape, tile.tile_h, tile.tile_w, tile.tile_c, tile.whole,
                                                  (int32_t)cg->chip.array_columns, branch, XPU_TILING_I16);
        CU_ASSERT_EQUAL(at.total, tile.sm_bytes);
        CU_ASSERT(at.total <= cg->chip.sm_bytes - XPU_MAILBOX_BYTES * XPU_MAX_CORES);
        CU_ASSERT((uint32_t)(tile.tile_h * tile.tile_w) <= cg->chip.acc_rows);
        bench_close(&b);
    }
    printf("\n");
}

/* ---- tiles by size ---- */

enum { SIZES_CHANNELS = 48, SIZES_MOST = 3000 };

/* A convolution of images of which height, width or both are free, in ranges that end anywhere. */
static xpu_conv_shape free_conv(bench *b, random_source *r) {
    xpu_dims *dims = &b->graph->dims;
    xpu_conv_shape s = {.groups = 1};
    int64_t kernel = random_range(r, 1, 5), free = random_range(r, 1, 3);
    s.batch = xpu_dim_symbol(dims, "N", 1, random_range(r, 1, 2), 1);
    s.in_c = s.out_c = xpu_dim_const(dims, SIZES_CHANNELS);
    for (int axis = 0; axis < 2; axis++) {
        int64_t least = kernel + random_range(r, 0, 40), most = least + random_range(r, 1, SIZES_MOST);
        s.kernel[axis] = kernel;
        s.stride[axis] = random_range(r, 1, 2);
        s.dilation[axis] = 1;
        xpu_dim in =
            free >> axis & 1 ? xpu_dim_symbol(dims, axis ? "W" : "H", least, most, 1) : xpu_dim_const(dims, least);
        xpu_dim room = xpu_dim_floordiv_const(dims, xpu_dim_add_const(dims, in, -kernel), s.stride[axis]);
        *(axis ? &s.in_w : &s.in_h) = in;
        *(axis ? &s.out_w : &s.out_h) = xpu_dim_add_const(dims, room, 1);
    }
    return s;
}

/* The geometry for values of the symbols. */
static xpu_tiling_shape bound_shape(const xpu_codegen *cg, const xpu_conv_shape *s, const int64_t *values) {
    const xpu_dims *dims = &cg->graph->dims;
    xpu_tiling_shape shape = xpu_tiling_shape_of(cg, s);
    shape.in_h = (int32_t)xpu_dim_eval(dims, s->in_h, values);
    shape.in_w = (int32_t)xpu_dim_eval(dims, s->in_w, values);
    shape.out_h = (int32_t)xpu_dim_eval(dims, s->out_h, values);
    shape.out_w = (int32_t)xpu_dim_eval(dims, s->out_w, values);
    return shape;
}

/* The item that holds. */
static uint32_t item_of(const xpu_codegen *cg, const xpu_sizes *sizes, const int64_t *values) {
    uint32_t i = 0;
    while (i + 1 < sizes->count &&
           xpu_dim_eval(&cg->graph->dims, sizes->items[i].measure, values) > sizes->items[i].most)
        i++;
    return i;
}

static int64_t value_of(const xpu_codegen *cg, const xpu_arg_int *field, const int64_t *values) {
    CU_ASSERT_EQUAL(field->arg.state, XPU_ARG_SET);
    return xpu_dim_eval(&cg->graph->dims, field->arg.word.dim, values);
}

/* What is chosen fits at every size, and fields of calls have the value of the size. */
static void check_sizes(xpu_codegen *cg, const xpu_conv_shape *s, random_source *r) {
    const xpu_dims *dims = &cg->graph->dims;
    const uint64_t room = cg->chip.lm_bytes - XPU_LM_RESERVED;
    xpu_tiles tiles;
    xpu_byte_tasks tasks;
    CU_ASSERT_PTR_NULL_FATAL(xpu_choose_tiles(cg, s, 1, XPU_TILING_I16, &tiles));
    CU_ASSERT_FATAL(xpu_choose_byte_tasks(cg, s, 1, &tasks));
    CU_ASSERT(tiles.sm_bytes <= cg->chip.sm_bytes - XPU_MAILBOX_BYTES * XPU_MAX_CORES);
    xpu_arg_int groups;
    xpu_sized_field number = {.field = &groups};
    for (uint32_t i = 0; i < tiles.sizes.count; i++) number.values[i] = (i * 7 + 3) % 5;
    xpu_set_by_size(cg, &tiles.sizes, &number, 1);
    const struct xpu_task_group fields = xpu_task_of(cg, &tasks);
    for (int round = 0; round < 30; round++) {
        int64_t values[8], reach = round % 2 ? SIZES_MOST : 60;
        for (uint32_t i = 0; i < dims->symbols.count; i++) {
            const xpu_symbol *symbol = &dims->symbols.items[i];
            int64_t most = symbol->min + reach < symbol->max ? symbol->min + reach : symbol->max;
            values[i] = random_range(r, symbol->min, most);
        }
        const xpu_conv_shape loaded_of = xpu_loaded_shape(cg, s);
        const xpu_tiling_shape shape = bound_shape(cg, s, values), loaded = bound_shape(cg, &loaded_of, values);
        uint32_t item = item_of(cg, &tiles.sizes, values);
        const xpu_tile *tile = &tiles.items[item];
        const xpu_tiling_task *task = &tasks.items[item];
        xpu_tiling_scratch at = xpu_tiling_layout(&loaded, tile->tile_h, tile->tile_w, tile->tile_c, tile->whole,
                                                  (int32_t)cg->chip.array_columns, 1, XPU_TILING_I16);
        CU_ASSERT(at.total <= tiles.sm_bytes);
        CU_ASSERT((uint32_t)(tile->tile_h * tile->tile_w) <= cg->chip.acc_rows);
        CU_ASSERT_EQUAL(tile->tile_c, tiles.items[0].tile_c);
        if (tile->whole & XPU_TILE_ONE_X) {
            CU_ASSERT(xpu_dim_eval(dims, s->batch, values) == 1);
            CU_ASSERT(tile->tile_h >= shape.out_h && tile->tile_w >= shape.out_w);
        }
        CU_ASSERT(xpu_tiling_window_of(&shape, task, 1).bytes <= room);
        CU_ASSERT_EQUAL(value_of(cg, &groups, values), number.values[item]);
        CU_ASSERT_EQUAL(value_of(cg, &fields.tile_c, values), task->tile_c);
        CU_ASSERT_EQUAL(value_of(cg, &fields.tile_h, values), task->tile_h);
        CU_ASSERT_EQUAL(value_of(cg, &fields.tile_w, values), task->tile_w);
    }
}

static void tiles_by_size(void) {
    static const char *const chips[] = {"nano", "standard", "pro"};
    random_source r = random_open("tiles by size");
    for (volatile int i = 0; i < 60; i++) {
        BENCH_OPEN(b);
        xpu_codegen *cg = start(&b, chips[i % 3], "int16");
        const xpu_conv_shape s = free_conv(&b, &r);
        check_sizes(cg, &s, &r);
        bench_close(&b);
    }
    printf("\n");
}

/* Small images have other tiles than large ones; a fixed size has one, that for it. */
static void tiles_of_sizes(void) {
    BENCH_OPEN(b);
    xpu_codegen *cg = start(&b, "standard", "int16");
    xpu_dims *dims = &b.graph->dims;
    xpu_dim side = xpu_dim_symbol(dims, "S", 1, 4096, 1), channels = xpu_dim_const(dims, 320);
    xpu_conv_shape s = {.batch = xpu_dim_const(dims, 1),
                        .in_h = side,
                        .in_w = side,
                        .in_c = channels,
                        .out_h = side,
                        .out_w = side,
                        .out_c = channels,
                        .kernel = {1, 1},
                        .stride = {1, 1},
                        .dilation = {1, 1},
                        .groups = 1};
    xpu_tiles tiles;
    xpu_tile fixed;
    CU_ASSERT_PTR_NULL(xpu_choose_tiles(cg, &s, 0, XPU_TILING_I16, &tiles));
    const xpu_tile *small = &tiles.items[item_of(cg, &tiles.sizes, &(int64_t){7})];
    CU_ASSERT(small->tile_h <= 8 && small->tile_w == 8);
    const xpu_tile *large = &tiles.items[tiles.sizes.count - 1];
    CU_ASSERT(small->tile_h != large->tile_h || small->tile_w != large->tile_w);
    s.in_h = s.in_w = s.out_h = s.out_w = xpu_dim_const(dims, 56);
    CU_ASSERT_PTR_NULL(xpu_choose_tiles(cg, &s, 0, XPU_TILING_I16, &tiles));
    CU_ASSERT_PTR_NULL(xpu_choose_tile(cg, &s, 0, XPU_TILING_I16, &fixed));
    CU_ASSERT_EQUAL(tiles.sizes.count, 1);
    CU_ASSERT(tiles.items[0].tile_h == fixed.tile_h && tiles.items[0].tile_w == fixed.tile_w);
    CU_ASSERT(tiles.items[0].tile_c == fixed.tile_c && tiles.items[0].whole == fixed.whole);
    CU_ASSERT_EQUAL(tiles.sm_bytes, fixed.sm_bytes);
    bench_close(&b);
}

/* The largest size is the layer as it is, with rows of x that a stride leaves behind the last window. */
static void shape_of_largest_size(void) {
    const xpu_tiling_shape upper = {.in_h = 8,
                                    .in_w = 9,
                                    .in_c = 4,
                                    .out_h = 4,
                                    .out_w = 5,
                                    .out_c = 4,
                                    .kernel_h = 1,
                                    .kernel_w = 1,
                                    .stride_h = 2,
                                    .stride_w = 2,
                                    .dilation_h = 1,
                                    .dilation_w = 1};
    const xpu_tiling_shape same = xpu_shape_of_size(&upper, &(xpu_size){.out_h = 4, .out_w = 5});
    CU_ASSERT(same.in_h == 8 && same.in_w == 9 && same.out_h == 4 && same.out_w == 5);
    const xpu_tiling_shape less = xpu_shape_of_size(&upper, &(xpu_size){.out_h = 3, .out_w = 5});
    CU_ASSERT(less.in_h == 5 && less.in_w == 9 && less.out_h == 3 && less.out_w == 5);
}

/* Cycles that the model counts for whole layers. */
static void modelled_cycles(void) {
    static const struct {
        int64_t batch, side, in_c, out_c, kernel, stride;
        double cycles;
    } cases[] = {
        {1, 14, 256, 256, 3, 1, 453528},   /* products */
        {1, 160, 96, 24, 3, 1, 2766736},   /* the weights of tiles of few pixels would be late */
        {1, 4, 256, 1024, 1, 1, 20080},    /* x is one tile, and comes in pieces */
        {64, 1, 2048, 32, 1, 1, 150116},   /* weights into the array for every pixel: they stay in SM */
        {1, 28, 512, 128, 1, 2, 51360},    /* every other pixel of x; it stays in SM */
        {1, 28, 4096, 128, 1, 2, 403096},  /* x for every block of weights: it does not fit */
        {1, 28, 8192, 512, 1, 3, 1639744}, /* the same with more of it left out */
    };
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        xpu_codegen *cg = start(&b, "standard", "int16");
        const xpu_dim side = xpu_dim_const(&b.graph->dims, cases[i].side);
        const xpu_dim out = xpu_dim_const(&b.graph->dims, (cases[i].side - 1) / cases[i].stride + 1);
        const int64_t kernel = cases[i].kernel, pad = kernel / 2, stride = cases[i].stride;
        const xpu_conv_shape s = {.batch = xpu_dim_const(&b.graph->dims, cases[i].batch),
                                  .in_h = side,
                                  .in_w = side,
                                  .in_c = xpu_dim_const(&b.graph->dims, cases[i].in_c),
                                  .out_h = out,
                                  .out_w = out,
                                  .out_c = xpu_dim_const(&b.graph->dims, cases[i].out_c),
                                  .kernel = {kernel, kernel},
                                  .stride = {stride, stride},
                                  .dilation = {1, 1},
                                  .begin = {pad, pad},
                                  .end = {pad, pad},
                                  .groups = 1};
        xpu_tile tile;
        CU_ASSERT_PTR_NULL(xpu_choose_tile(cg, &s, 0, XPU_TILING_I16, &tile));
        if (tile.cycles != cases[i].cycles) fprintf(stderr, "%.17g cycles\n", tile.cycles);
        CU_ASSERT_EQUAL(tile.cycles, cases[i].cycles);
        CU_ASSERT_EQUAL((tile.whole & XPU_TILE_ONE_X) != 0, cases[i].side == 4); /* one buffer is enough */
        bench_close(&b);
    }
}

/* Of tiles that are about as fast, those with which weights come from GM once. A slower GM is in the model. */
static void bytes_from_gm(void) {
    static const struct {
        int64_t side, in_c, out_c, kernel;
    } cases[] = {{28, 128, 128, 3},  {14, 256, 256, 3}, {56, 256, 128, 1},
                 {14, 1024, 512, 1}, {7, 512, 512, 3},  {7, 64, 64, 1}};
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        xpu_codegen *cg = start(&b, "standard", "int16");
        xpu_dims *dims = &b.graph->dims;
        const int64_t kernel = cases[i].kernel;
        const xpu_dim side = xpu_dim_const(dims, cases[i].side);
        const xpu_conv_shape s = {.batch = xpu_dim_const(dims, 1),
                                  .in_h = side,
                                  .in_w = side,
                                  .in_c = xpu_dim_const(dims, cases[i].in_c),
                                  .out_h = side,
                                  .out_w = side,
                                  .out_c = xpu_dim_const(dims, cases[i].out_c),
                                  .kernel = {kernel, kernel},
                                  .stride = {1, 1},
                                  .dilation = {1, 1},
                                  .begin = {kernel / 2, kernel / 2},
                                  .end = {kernel / 2, kernel / 2},
                                  .groups = 1};
        xpu_tile tile, slow;
        CU_ASSERT_PTR_NULL(xpu_choose_tile(cg, &s, 0, XPU_TILING_I8, &tile));
        const double weights = (double)(kernel * kernel * cases[i].in_c * cases[i].out_c);
        CU_ASSERT_EQUAL(tile.gm_bytes, weights);
        CU_ASSERT_EQUAL((tile.whole & XPU_TILE_THREE_Y) != 0, cases[i].out_c > 64); /* there are two tiles */
        cg->chip.gm_rate = 4;
        CU_ASSERT_PTR_NULL(xpu_choose_tile(cg, &s, 0, XPU_TILING_I8, &slow));
        CU_ASSERT(slow.cycles > tile.cycles && slow.cycles >= weights / 4);
        bench_close(&b);
    }
}

/* Tasks that the model of windows over bytes chooses on standard: channels, rows and columns of a task. */
static void modelled_tasks(void) {
    static const struct {
        int64_t side, channels, kernel, stride;
        int has_weights;
        xpu_tiling_task task;
    } cases[] = {
        {112, 32, 3, 1, 1, {16, 3, 112}}, {56, 144, 3, 2, 1, {48, 1, 28}}, {14, 576, 3, 1, 1, {64, 7, 14}},
        {7, 960, 3, 1, 1, {64, 7, 7}},    {112, 64, 3, 2, 0, {64, 1, 56}}, {300, 16, 5, 1, 1, {16, 5, 60}},
        {33, 48, 7, 1, 0, {48, 3, 33}},   {200, 4, 3, 1, 1, {16, 3, 100}},
    };
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        xpu_codegen *cg = start(&b, "standard", "int16");
        xpu_dims *dims = &b.graph->dims;
        const int64_t kernel = cases[i].kernel, stride = cases[i].stride;
        const xpu_dim in = xpu_dim_const(dims, cases[i].side), channels = xpu_dim_const(dims, cases[i].channels);
        const xpu_dim out = xpu_dim_const(dims, (cases[i].side - 1) / stride + 1);
        const xpu_conv_shape s = {.batch = xpu_dim_const(dims, 1),
                                  .in_h = in,
                                  .in_w = in,
                                  .in_c = channels,
                                  .out_h = out,
                                  .out_w = out,
                                  .out_c = channels,
                                  .kernel = {kernel, kernel},
                                  .stride = {stride, stride},
                                  .dilation = {1, 1},
                                  .begin = {kernel / 2, kernel / 2},
                                  .end = {kernel / 2, kernel / 2},
                                  .groups = cases[i].channels};
        xpu_byte_tasks tasks;
        CU_ASSERT_FATAL(xpu_choose_byte_tasks(cg, &s, cases[i].has_weights, &tasks));
        const xpu_tiling_task t = tasks.items[0], want = cases[i].task;
        if (t.tile_c != want.tile_c || t.tile_h != want.tile_h || t.tile_w != want.tile_w)
            printf("{%d, %d, %d}\n", t.tile_c, t.tile_h, t.tile_w);
        CU_ASSERT(t.tile_c == want.tile_c && t.tile_h == want.tile_h && t.tile_w == want.tile_w);
        bench_close(&b);
    }
}

XPU_TEST_MAIN("tiles of the XPU target", {"tiles fit the chip", tiles}, {"tiles by size fit the chip", tiles_by_size},
              {"tiles of sizes", tiles_of_sizes}, {"shape of the largest size", shape_of_largest_size},
              {"modelled cycles", modelled_cycles}, {"bytes from GM", bytes_from_gm},
              {"modelled tasks", modelled_tasks})
