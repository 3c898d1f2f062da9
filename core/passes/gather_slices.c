/* A gather by constant indices that are a box of its operand, perhaps backwards, is a slice: of rotary embeddings,
 * pairs and halves that change places. */
#include "core/passes/rewrite.h"

enum { MOST_INDICES = 4096 };

typedef struct {
    int64_t first, by; /* index i is first + i * by */
    int64_t block;     /* or, where this is not 0: of blocks of so many, which go forwards or backwards, each element */
    int outer_by, inner_by; /* 1 or -1 */
} box_of_indices;

static int is_progression(const int64_t *index, int64_t count, box_of_indices *box) {
    box->first = index[0];
    box->by = count > 1 ? index[1] - index[0] : 1;
    for (int64_t i = 1; i < count; i++) {
        if (index[i] != box->first + i * box->by) return 0;
    }
    return box->by != 0;
}

static int64_t digit(int64_t value, int64_t size, int by) {
    return by > 0 ? value : size - 1 - value;
}

static int is_of_blocks(const int64_t *index, int64_t count, const box_of_indices *box) {
    for (int64_t i = 0; i < count; i++) {
        int64_t outer = digit(i / box->block, count / box->block, box->outer_by);
        if (index[i] != outer * box->block + digit(i % box->block, box->block, box->inner_by)) return 0;
    }
    return 1;
}

static int find_blocks(const int64_t *index, int64_t count, box_of_indices *box) {
    for (int64_t block = 2; block < count; block++) {
        if (count % block) continue;
        for (int way = 0; way < 4; way++) {
            *box = (box_of_indices){.block = block, .outer_by = way & 1 ? -1 : 1, .inner_by = way & 2 ? -1 : 1};
            if (is_of_blocks(index, count, box)) return 1;
        }
    }
    return 0;
}

/* The constant indices, from 0 on; their number, or 0 where they are no list of few, or one is outside. */
static int64_t read_indices(const xpu_graph *graph, xpu_value value, int64_t size, xpu_arena *arena, int64_t *index,
                            xpu_diags *diags) {
    xpu_tensor tensor;
    const xpu_value_info *info = xpu_value_at(graph, value);
    int64_t dims[XPU_MAX_RANK];
    if (info->rank != 1 || !xpu_value_dims(graph, value, NULL, dims) || dims[0] < 1 || dims[0] > MOST_INDICES) return 0;
    if (xpu_const_tensor(graph, value, arena, &tensor, diags) != XPU_OK) return 0;
    for (int64_t i = 0; i < dims[0]; i++) {
        index[i] = tensor.dtype == XPU_I64 ? ((const int64_t *)tensor.data)[i] : ((const int32_t *)tensor.data)[i];
        if (index[i] < 0) index[i] += size;
        if (index[i] < 0 || index[i] >= size) return 0;
    }
    return dims[0];
}

/* A box whose starts are 0 and whose steps are 1 but for those of one or two dims. */
typedef struct {
    xpu_dim starts[XPU_MAX_RANK + 1], shape[XPU_MAX_RANK + 1];
    int64_t by[XPU_MAX_RANK + 1];
    uint32_t rank;
} slice_attrs;

static void add_dim(xpu_graph *graph, slice_attrs *s, int64_t start, xpu_dim size, int64_t by) {
    s->starts[s->rank] = xpu_dim_const(&graph->dims, start);
    s->shape[s->rank] = size;
    s->by[s->rank++] = by;
}

static void put_slice(xpu_graph *graph, xpu_node node, xpu_value x, int axis, const box_of_indices *box, int64_t count,
                      xpu_diags *diags) {
    const xpu_value_info y = *xpu_value_at(graph, xpu_node_output(graph, node, 0));
    slice_attrs s = {.rank = 0};
    for (int i = 0; i < y.rank; i++) {
        if (i != axis) {
            add_dim(graph, &s, 0, y.dims[i], 1);
        } else if (!box->block) {
            add_dim(graph, &s, box->first, y.dims[i], box->by);
        } else {
            int64_t blocks = count / box->block;
            add_dim(graph, &s, box->outer_by > 0 ? 0 : blocks - 1, xpu_dim_const(&graph->dims, blocks), box->outer_by);
            add_dim(graph, &s, box->inner_by > 0 ? 0 : box->block - 1, xpu_dim_const(&graph->dims, box->block),
                    box->inner_by);
        }
    }
    xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(STARTS, s.starts, s.rank), XPU_ATTR_DIMS_OF(SHAPE, s.shape, s.rank),
                        XPU_ATTR_INTS_OF(BY, s.by, s.rank)};
    if (box->block) {
        const xpu_node_info *info = xpu_node_at(graph, node);
        xpu_node cut = xpu_build(graph, node, XPU_OP_RESHAPE, &x, 1, NULL, &attrs[1], 1, info->origins.items,
                                 info->origins.count, diags);
        x = xpu_node_output(graph, cut, 0);
        info = xpu_node_at(graph, node);
        xpu_node slice = xpu_build(graph, node, XPU_OP_SLICE, &x, 1, NULL, attrs, 3, info->origins.items,
                                   info->origins.count, diags);
        x = xpu_node_output(graph, slice, 0);
        xpu_rewrite(graph, node, XPU_OP_RESHAPE, &x, 1, &XPU_ATTR_DIMS_OF(SHAPE, y.dims, (uint32_t)y.rank), 1);
    } else {
        xpu_rewrite(graph, node, XPU_OP_SLICE, &x, 1, attrs, 3);
    }
    xpu_op_infer(graph, node, diags);
}

int xpu_gather_as_slice(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_value x = xpu_node_input(graph, node, 0), indices = xpu_node_input(graph, node, 1);
    const xpu_value_info *info = xpu_value_at(graph, x);
    int axis = (int)xpu_node_int(graph, node, XPU_ATTR_AXIS);
    int64_t size;
    if (!xpu_is_constant(graph, indices) || xpu_is_constant(graph, x)) return 0;
    if (axis < 0 || axis >= info->rank || info->rank >= XPU_MAX_RANK) return 0;
    if (!xpu_dim_is_const(&graph->dims, info->dims[axis], &size)) return 0;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(graph->arena), "indices");
    int64_t *index = XPU_NEW_ARRAY(arena, int64_t, MOST_INDICES);
    box_of_indices box = {0};
    int64_t count = read_indices(graph, indices, size, arena, index, diags);
    int found = count > 0 && (is_progression(index, count, &box) || (count == size && find_blocks(index, count, &box)));
    xpu_arena_free(arena);
    if (found) put_slice(graph, node, x, axis, &box, count, diags);
    return found;
}
