#include "xpu_codegen/choose/elementwise.h"

#include <math.h>

#include "xpu_codegen/choose/costs.h"
#include "xpu_codegen/choose/listed.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpu_tiling.h"

/* Cycles, measured on the Verilated standard chip. */
enum {
    LINE = 64,
    COPY_CYCLES = 8,    /* between two copies */
    ROW_CYCLES = 2,     /* of a row that lies apart */
    JOB_CYCLES = 28,    /* of a group of columns, beside its rows */
    VECTOR_CYCLES = 38, /* for its scales, or biases, which are read while the group before runs */
    LEAST_STEP = 48,    /* where its descriptors were made before the start */
    MISSES = 1200,      /* and where core 0 makes them: it fetches the kernel anew each time, in place of others */
    MOST_FIELD = 65535,
    MOST_PARTS = 512
};

/* The sizes that cycles are counted for. */
typedef struct {
    const xpu_elementwise_shape *shape;
    double images, rows;
    int64_t columns; /* 0: flat */
    double lanes, least_step;
    uint64_t room;
} problem;

static xpu_tiling_elementwise_scratch scratch_of(const problem *p, int64_t tile) {
    const xpu_elementwise_shape *s = p->shape;
    const xpu_tiling_elementwise of = {.tile = (uint32_t)tile,
                                       .columns = (uint32_t)p->columns,
                                       .x = (uint32_t)s->x_bytes,
                                       .branch = (uint32_t)s->branch_bytes,
                                       .y = (uint32_t)s->y_bytes,
                                       .one_branch = s->branch_is_row,
                                       .scale = s->has_scale,
                                       .bias = s->has_bias,
                                       .by_image = s->vectors_by_image,
                                       .table = s->has_table};
    return xpu_tiling_elementwise_layout(&of);
}

/* Lines of SM that the engine reads for a group of columns of a row. */
static double lines_read(const problem *p, double width, int bytes) {
    const double own = width * bytes / LINE;
    return (double)p->columns > p->lanes ? ceil(own) : own; /* the next row's group lies elsewhere */
}

/* Of a group of the engine: a cycle, or what its bytes need. */
static double group_cycles(const problem *p, double width) {
    const xpu_elementwise_shape *s = p->shape;
    const double read =
                     lines_read(p, width, s->x_bytes) + (s->branch_is_row ? 0 : lines_read(p, width, s->branch_bytes)),
                 written = ceil(width * s->y_bytes / LINE);
    return fmax(1, fmax(read, written));
}

static double step_cycles(const problem *p, double rows, double *ends) {
    const xpu_elementwise_shape *s = p->shape;
    const double width = p->columns ? (double)p->columns : 1, apart = s->is_strided ? ROW_CYCLES * rows : 0;
    const double elements = rows * width, groups = p->columns ? ceil(width / p->lanes) : 1;
    const double all = p->columns ? rows : ceil(rows / p->lanes);
    const double run = all * group_cycles(p, p->columns ? fmin(width, p->lanes) : p->lanes) + JOB_CYCLES;
    const double post = groups * fmax(run, JOB_CYCLES + (s->has_scale + s->has_bias) * VECTOR_CYCLES);
    double load = elements * s->x_bytes / LINE + apart + COPY_CYCLES;
    if (s->branch_bytes && !s->branch_is_row) load += elements * s->branch_bytes / LINE + apart + COPY_CYCLES;
    const double store = elements * s->y_bytes / LINE + apart + COPY_CYCLES, step = fmax(load, fmax(post, store));
    *ends = load + post + store - step;
    return fmax(step, p->least_step);
}

static double cycles_of(const problem *p, int64_t tile) {
    const double steps = p->images * ceil(p->rows / (double)tile);
    double ends;
    const double step = step_cycles(p, fmin((double)tile, p->rows), &ends);
    const double whole = p->images * p->rows / fmin((double)tile, p->rows); /* the last step of an image is shorter */
    return (steps + whole) / 2 * step + ends;
}

int xpu_choose_elementwise(xpu_codegen *cg, const xpu_elementwise_shape *shape, xpu_elementwise_tile *tile) {
    const int64_t columns = shape->is_flat ? 0 : xpu_dim_upper(cg, shape->columns), unit = shape->is_flat ? LINE : 1;
    const int64_t upper = xpu_dim_upper(cg, shape->rows), rows = upper < INT32_MAX ? upper : INT32_MAX;
    const problem p = {
        .shape = shape,
        .images = shape->is_flat ? 1 : (double)xpu_dim_upper(cg, shape->images),
        .rows = (double)rows,
        .columns = columns,
        .lanes = cg->chip.array_columns,
        .least_step = xpu_when_listed(cg) == XPU_NOT_LISTED ? xpu_cost.step : LEAST_STEP,
        .room = (uint64_t)cg->chip.sm_bytes - (uint64_t)XPU_MAILBOX_BYTES * XPU_MAX_CORES,
    };
    const int64_t most = shape->is_flat ? (int64_t)MOST_FIELD * cg->chip.array_columns : MOST_FIELD;
    tile->cycles = -1;
    if (columns > MOST_FIELD || rows < 1) return 0;
    for (int64_t parts = 1; parts <= MOST_PARTS || tile->cycles < 0; parts += 1 + parts / 16) {
        const int64_t size = ((rows + parts - 1) / parts + unit - 1) / unit * unit;
        const xpu_tiling_elementwise_scratch at = scratch_of(&p, size < most ? size : most);
        if (size <= most && at.total <= p.room) {
            const double cycles = cycles_of(&p, size) + (at.total > p.room / 2 ? xpu_cost.half : 0);
            if (tile->cycles < 0 || cycles < tile->cycles)
                *tile = (xpu_elementwise_tile){(int32_t)size, (int64_t)at.total, cycles};
        }
        if (size <= unit) break;
    }
    return tile->cycles >= 0;
}

double xpu_elementwise_cycles(xpu_codegen *cg, const xpu_elementwise_tile *tile) {
    return tile->cycles +
           (xpu_when_listed(cg) == XPU_NOT_LISTED ? xpu_cost.start_tensor + MISSES : xpu_cost.start_listed);
}

double xpu_bytes_on_cores_cycles(xpu_codegen *cg, xpu_dim elements, int tensors, double cycles_of_64) {
    const double lines = (double)xpu_dim_upper(cg, elements) / LINE;
    return xpu_cost.start_core + fmax(lines * cycles_of_64 / cg->chip.cores, lines * tensors * xpu_cost.line);
}

/* ---- rows of bytes ---- */

static int has_dims_of(const xpu_codegen *cg, xpu_value value, xpu_value y) {
    const xpu_value_info *a = xpu_value_at(cg->graph, value), *b = xpu_value_at(cg->graph, y);
    int same = a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++) same = xpu_dim_same(&cg->graph->dims, a->dims[i], b->dims[i]);
    return same;
}

/* All dims of the value but one are 1, that being y's, counted from the last; the first may be y's, too: by_first. */
static int is_row(const xpu_codegen *cg, xpu_value value, xpu_value y, int from_last, int *by_first) {
    const xpu_value_info *row = xpu_value_at(cg->graph, value), *all = xpu_value_at(cg->graph, y);
    const int own = row->rank - 1 - from_last;
    if (own < 0 || row->rank > all->rank) return 0;
    *by_first = 0;
    for (int i = 0; i < row->rank; i++) {
        const int is_first = i == 0 && row->rank == all->rank && own > 0;
        const xpu_dim dim = row->dims[i], of_y = all->dims[i + all->rank - row->rank];
        if (i == own && !xpu_dim_same(&cg->graph->dims, dim, of_y)) return 0;
        if (i == own || xpu_is_one(cg, dim)) continue;
        if (!is_first || !xpu_dim_same(&cg->graph->dims, dim, of_y)) return 0;
        *by_first = 1;
    }
    return 1;
}

/* The layer of a pair whose operands are known. */
static xpu_elementwise_shape shape_of_rows(xpu_codegen *cg, xpu_value y, const xpu_row_pair *pair) {
    const int rank = xpu_value_at(cg->graph, y)->rank, first = pair->is_image ? 2 : 1, last = rank - !pair->is_image;
    const xpu_dim of_image = xpu_dims_product(cg, y, first, last), images = xpu_value_dim(cg, y, 0);
    return (xpu_elementwise_shape){.images = pair->row_by_image ? images : xpu_dim_of(cg, 1),
                                   .rows =
                                       pair->row_by_image ? of_image : xpu_dim_mul(&cg->graph->dims, images, of_image),
                                   .columns = xpu_value_dim(cg, y, pair->is_image ? 1 : rank - 1),
                                   .x_bytes = 1,
                                   .branch_bytes = 1,
                                   .y_bytes = 1,
                                   .branch_is_row = 1};
}

int xpu_find_row_pair(xpu_codegen *cg, xpu_node node, xpu_row_pair *pair) {
    const xpu_value y = xpu_node_output(cg->graph, node, 0);
    const int rank = xpu_value_at(cg->graph, y)->rank;
    for (uint32_t i = 0; i < 2; i++) {
        const xpu_value row = xpu_node_input(cg->graph, node, !i);
        if (rank < 2 || !has_dims_of(cg, xpu_node_input(cg->graph, node, i), y) || has_dims_of(cg, row, y)) continue;
        *pair = (xpu_row_pair){.full = i};
        pair->is_image = (rank == 3 || rank == 4) && is_row(cg, row, y, rank - 2, &pair->row_by_image);
        if (!pair->is_image && !is_row(cg, row, y, 0, &pair->row_by_image)) continue;
        pair->shape = shape_of_rows(cg, y, pair);
        return xpu_choose_elementwise(cg, &pair->shape, &pair->tile);
    }
    return 0;
}
