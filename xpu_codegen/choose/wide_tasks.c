#include "xpu_codegen/choose/wide_tasks.h"

#include <math.h>

#include "xpu_codegen/choose/long_rows.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

/* Cycles of a core, by its instructions. */
enum {
    TASK_CYCLES = 900,
    ROW_CYCLES = 120,
    TAP_CYCLES = 4, /* of a row */
    TAP_ISSUE = 12, /* instructions of a tap of a group of vectors, and passes of the vector unit for each 16 lanes */
    PRODUCTS = 4,
    PIXEL_PASSES = 10, /* of the vector unit behind the sums; to join two of them */
    JOIN_PASSES = 9,
    GROUP_ISSUE = 40,
    BLOCK_CYCLES = 700, /* weights of a block of channels */
    LANES = 16,
    DMA_LANES = 16, /* float32 that a DMA engine converts in a cycle */
    DMA_PIXEL = 2,
    MOST_CHANNELS = 64,
    MOST_STEP = 255,
    LEAST_LM = 16384 /* of any chip */
};

typedef struct {
    xpu_tiling_shape shape, upper; /* the size that cycles are counted for, and what must fit */
    double batch, cores;
    uint64_t room;
    int narrow;
} problem;

static int32_t parts(int32_t total, int32_t part) {
    return (total + part - 1) / part;
}

static double task_cycles(const problem *p, const xpu_tiling_task *t, const xpu_tiling_depthwise *in_lm) {
    const double taps = (double)p->shape.kernel_h * p->shape.kernel_w, passes = parts(t->tile_c, LANES);
    const double at_once = p->narrow ? XPU_DEPTHWISE_NARROW : XPU_DEPTHWISE_WIDE, pixels = at_once * in_lm->together;
    const double arithmetic = PRODUCTS * passes * in_lm->together;
    const double behind = at_once * passes * in_lm->together * (PIXEL_PASSES + (p->narrow ? 0 : JOIN_PASSES));
    const double group =
        taps * (arithmetic > TAP_ISSUE ? arithmetic : TAP_ISSUE) + (behind > GROUP_ISSUE ? behind : GROUP_ISSUE);
    return TASK_CYCLES + t->tile_h * (ROW_CYCLES + TAP_CYCLES * taps + ceil(t->tile_w / pixels) * group);
}

/* About the cycles of the core that has most to do, or of the DMA engine that they share. */
static double cycles_of(const problem *p, const xpu_tiling_task *t, const xpu_tiling_depthwise *in_lm) {
    const xpu_tiling_shape *s = &p->shape;
    const double blocks = parts(s->in_c, t->tile_c);
    const double tasks = p->batch * blocks * parts(s->out_h, t->tile_h) * parts(s->out_w, t->tile_w);
    const double pixels = (double)in_lm->in_rows * in_lm->segment;
    const double load = pixels * (parts(t->tile_c, DMA_LANES) + DMA_PIXEL);
    const double work = task_cycles(p, t, in_lm) + (in_lm->halves == 1 ? load : 0);
    const double cycles = ceil(tasks / p->cores) * work + ceil(blocks / p->cores) * BLOCK_CYCLES;
    return cycles > tasks * load ? cycles : tasks * load;
}

static double choose(const problem *p, xpu_tiling_task *best) {
    const xpu_tiling_shape *s = &p->shape;
    double least = -1;
    for (int32_t c = MOST_CHANNELS; c > 0; c -= LANES) {
        if (c - LANES >= s->in_c) continue;
        for (int32_t across = 1; across <= s->out_w; across += 1 + across / 8) {
            for (int32_t down = 1; down <= s->out_h; down += 1 + down / 8) {
                const xpu_tiling_task t = {c, parts(s->out_h, down), parts(s->out_w, across)};
                if (xpu_tiling_depthwise_of(&p->upper, &t, p->narrow, p->room).bytes > p->room) continue;
                const xpu_tiling_depthwise in_lm = xpu_tiling_depthwise_of(s, &t, p->narrow, p->room);
                const double cycles = cycles_of(p, &t, &in_lm);
                if (least >= 0 && cycles >= least) continue;
                least = cycles;
                *best = t;
            }
        }
    }
    const xpu_tiling_task lone = {LANES, 1, 1};
    if (least < 0 && xpu_tiling_depthwise_of(&p->upper, &lone, p->narrow, p->room).bytes <= p->room) {
        const xpu_tiling_depthwise in_lm = xpu_tiling_depthwise_of(s, &lone, p->narrow, p->room);
        *best = lone;
        least = cycles_of(p, &lone, &in_lm);
    }
    return least;
}

int xpu_choose_wide_tasks(xpu_codegen *cg, const xpu_conv_shape *shape, int narrow, xpu_byte_tasks *tasks) {
    const xpu_tiling_shape upper = xpu_tiling_shape_of(cg, shape);
    problem p = {.upper = upper,
                 .batch = (double)xpu_dim_upper(cg, shape->batch),
                 .cores = cg->chip.cores,
                 .room = (uint64_t)xpu_lm_room(cg),
                 .narrow = narrow};
    xpu_list_sizes(cg, shape, &tasks->sizes);
    for (uint32_t i = 0; i < tasks->sizes.count; i++) {
        p.shape = xpu_shape_of_size(&upper, &tasks->sizes.items[i]);
        tasks->cycles = tasks->predicted = choose(&p, &tasks->items[i]);
        if (tasks->cycles < 0) return 0;
    }
    return 1;
}

const char *xpu_why_not_wide_depthwise(xpu_codegen *cg, const xpu_conv_shape *shape, int has_branch) {
    xpu_tiling_shape upper = xpu_tiling_shape_of(cg, shape);
    const xpu_tiling_task lone = {LANES, 1, 1};
    if (has_branch) return "a depthwise convolution with a sum behind it runs on the cores";
    if (!xpu_padding_fits(shape)) return "its padding is larger than a descriptor's fields";
    for (int axis = 0; axis < 2; axis++) {
        if (shape->kernel[axis] > XPU_WINDOW_KERNEL && !xpu_is_long_row(cg, shape))
            return "a depthwise kernel of more than 7 x 7 runs on the cores";
        if (shape->stride[axis] > MOST_STEP || shape->dilation[axis] > MOST_STEP)
            return "its stride or dilation is larger than a descriptor's fields";
    }
    const uint64_t room = LEAST_LM - XPU_LM_RESERVED;
    upper.in_h = INT32_MAX; /* a program of open dims computes as one of each size does */
    if (xpu_tiling_depthwise_of(&upper, &lone, 0, room).bytes > room)
        return "a depthwise kernel that reaches this far runs on the cores";
    return NULL;
}
