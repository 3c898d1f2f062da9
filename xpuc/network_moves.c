/* Networks made in C: parts, repeats, rows by index, counting, and operators that run through time. */
#include <string.h>

#include "xpuc/network.h"

static const xpu_value failed = {0};

static fe_dims dims_of(const fe_builder *b, uint32_t count, const int64_t *list) {
    xpu_dim *dims = XPU_NEW_ARRAY(b->scratch, xpu_dim, (size_t)count + 1);
    for (uint32_t i = 0; list && i < count; i++) dims[i] = xpu_dim_const(&b->graph->dims, list[i]);
    return (fe_dims){dims, list ? count : 0};
}

static xpu_value missing(const fe_builder *b, const char *what) {
    return fe_refuse(b, FE_OPERAND, fe_format(b, "the %s are missing", what), "the list is NULL", NULL);
}

/* ---- slice, split ---- */

typedef struct {
    uint32_t count;
    const int64_t *starts, *ends, *axes, *steps;
} slice_lists;

static xpu_value make_slice(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    const slice_lists *lists = call->form;
    if (lists->count > XPUC_MAX_RANK) {
        return fe_refuse(b, FE_OPERAND, "the slice has too many axes", fe_format(b, "%u", lists->count), NULL);
    }
    if (lists->count && (!lists->starts || !lists->ends)) return missing(b, lists->starts ? "ends" : "starts");
    fe_slicing slicing = {.starts = dims_of(b, lists->count, lists->starts),
                          .ends = dims_of(b, lists->count, lists->ends),
                          .axes = {lists->axes, lists->count},
                          .steps = {lists->steps, lists->count}};
    return fe_slice(b, x[0], &slicing);
}

xpuc_value xpuc_slice(xpuc_network *network, const char *name, xpuc_value x, uint32_t count, const int64_t *starts,
                      const int64_t *ends, const int64_t *axes, const int64_t *steps) {
    const slice_lists lists = {count, starts, ends, axes, steps};
    return xpu_network_build(network, CALL("slice", name, OPERANDS(1, 1, x), .form = &lists), make_slice);
}

enum { MOST_PARTS = 4096 };

static xpu_value make_split(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    uint32_t parts = call->float_count;
    if (parts < 1 || parts > MOST_PARTS) {
        return fe_refuse(b, FE_OPERAND, "the number of parts is invalid",
                         fe_format(b, "it is %u; from 1 to %d are supported", parts, MOST_PARTS), NULL);
    }
    xpu_value *results = XPU_NEW_ARRAY(b->scratch, xpu_value, parts);
    fe_splitting splitting = {.axis = call->axis, .parts = parts};
    if (call->ints.items) splitting.sizes = dims_of(b, parts, call->ints.items);
    if (!fe_split(b, x[0], &splitting, results)) return failed;
    for (uint32_t i = 0; call->more && i < parts; i++) call->more[i] = (xpuc_value){results[i].id};
    return results[0];
}

xpuc_value xpuc_split(xpuc_network *network, const char *name, xpuc_value x, int64_t axis, uint32_t parts,
                      const int64_t *sizes, xpuc_value *results) {
    for (uint32_t i = 0; results && i < parts && i < MOST_PARTS; i++) results[i] = XPU_NETWORK_FAILED;
    return xpu_network_build(network,
                             CALL("split", name, OPERANDS(1, 1, x), .ints = {sizes, sizes ? parts : 0}, .axis = axis,
                                  .float_count = parts, .more = results),
                             make_split);
}

/* ---- expand, tile ---- */

static xpu_value make_expand(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    if (call->ints.count > XPUC_MAX_RANK) {
        return fe_refuse(b, FE_SHAPE, "the result has too many dims", fe_format(b, "%zu", call->ints.count), NULL);
    }
    if (call->ints.count && !call->ints.items) return missing(b, "sizes");
    return fe_expand(b, x[0], dims_of(b, (uint32_t)call->ints.count, call->ints.items));
}

xpuc_value xpuc_expand(xpuc_network *network, const char *name, xpuc_value x, uint32_t rank, const int64_t *shape) {
    return xpu_network_build(network, CALL("expand", name, OPERANDS(1, 1, x), .ints = {shape, rank}), make_expand);
}

static xpu_value make_tile(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    if (call->ints.count > XPUC_MAX_RANK) {
        return fe_refuse(b, FE_SHAPE, "there are too many repeats", fe_format(b, "%zu", call->ints.count), NULL);
    }
    if (call->ints.count && !call->ints.items) return missing(b, "repeats");
    return fe_tile(b, x[0], dims_of(b, (uint32_t)call->ints.count, call->ints.items));
}

xpuc_value xpuc_tile(xpuc_network *network, const char *name, xpuc_value x, uint32_t rank, const int64_t *repeats) {
    return xpu_network_build(network, CALL("tile", name, OPERANDS(1, 1, x), .ints = {repeats, rank}), make_tile);
}

/* ---- gather ---- */

static xpu_value make_gather(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_gather(b, x[0], x[1], call->axis);
}

xpuc_value xpuc_gather(xpuc_network *network, const char *name, xpuc_value x, xpuc_value indices, int64_t axis) {
    return xpu_network_build(network, CALL("gather", name, OPERANDS(2, 2, x, indices), .axis = axis), make_gather);
}

static xpu_value make_gather_elements(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_gather_elements(b, x[0], x[1], call->axis);
}

xpuc_value xpuc_gather_elements(xpuc_network *network, const char *name, xpuc_value x, xpuc_value indices,
                                int64_t axis) {
    return xpu_network_build(network, CALL("gather_elements", name, OPERANDS(2, 2, x, indices), .axis = axis),
                             make_gather_elements);
}

static xpu_value make_gather_nd(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_gather_nd(b, x[0], x[1], call->axis);
}

xpuc_value xpuc_gather_nd(xpuc_network *network, const char *name, xpuc_value x, xpuc_value indices,
                          int64_t batch_dims) {
    return xpu_network_build(network, CALL("gather_nd", name, OPERANDS(2, 2, x, indices), .axis = batch_dims),
                             make_gather_nd);
}

/* ---- counting ---- */

static xpu_value make_range(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    if (call->axis < 0) return fe_refuse(b, FE_OPERAND, "the range has a negative number of elements", "", NULL);
    return fe_range(b, x[0], x[1], xpu_dim_const(&b->graph->dims, call->axis));
}

xpuc_value xpuc_range(xpuc_network *network, const char *name, xpuc_value start, xpuc_value step, int64_t count) {
    return xpu_network_build(network, CALL("range", name, OPERANDS(2, 2, start, step), .axis = count), make_range);
}

static xpu_value make_arg(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    const char *op = call->text ? call->text : "";
    if (strcmp(op, "max") != 0 && strcmp(op, "min") != 0) {
        fe_bad_attr(b, "op", fe_format(b, "it is '%s'; max and min are there", xpu_escape(b->scratch, op, 40)));
        return failed;
    }
    return fe_arg_extreme(b, strcmp(op, "max") == 0, x[0], call->axis, call->float_count != 0, 0);
}

xpuc_value xpuc_arg(xpuc_network *network, const char *name, const char *op, xpuc_value x, int64_t axis,
                    int keep_dims) {
    return xpu_network_build(
        network, CALL("arg", name, OPERANDS(1, 1, x), .axis = axis, .float_count = keep_dims != 0, .text = op),
        make_arg);
}

static xpu_value make_triangle(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_triangle(b, x[0], x[1], call->axis != 0);
}

xpuc_value xpuc_triangle(xpuc_network *network, const char *name, xpuc_value x, xpuc_value diagonal, int upper) {
    return xpu_network_build(network, CALL("triangle", name, OPERANDS(2, 1, x, diagonal), .axis = upper),
                             make_triangle);
}

static xpu_value make_depth_to_space(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_depth_to_space(b, x[0], call->axis, call->float_count != 0);
}

xpuc_value xpuc_depth_to_space(xpuc_network *network, const char *name, xpuc_value x, int64_t block,
                               int columns_first) {
    return xpu_network_build(
        network, CALL("depth_to_space", name, OPERANDS(1, 1, x), .axis = block, .float_count = columns_first != 0),
        make_depth_to_space);
}

static xpu_value make_space_to_depth(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_space_to_depth(b, x[0], call->axis);
}

xpuc_value xpuc_space_to_depth(xpuc_network *network, const char *name, xpuc_value x, int64_t block) {
    return xpu_network_build(network, CALL("space_to_depth", name, OPERANDS(1, 1, x), .axis = block),
                             make_space_to_depth);
}

/* ---- recurrent ---- */

static xpu_value make_recurrent(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    static const char *const kinds[] = {[FE_LSTM] = "lstm", [FE_GRU] = "gru", [FE_RNN] = "rnn"};
    enum { LEAST = sizeof(xpuc_recurrence), KINDS = sizeof kinds / sizeof *kinds };
    xpuc_recurrence given = {.size = 0};
    const char *op = call->text ? call->text : "";
    int kind = 0;
    xpu_value results[3];
    if (!xpu_network_form(b, call->form, LEAST, &given, sizeof given)) return failed;
    while (kind < KINDS && strcmp(kinds[kind], op) != 0) kind++;
    if (kind == KINDS) {
        fe_bad_attr(b, "op", fe_format(b, "it is '%s'; lstm, gru and rnn are there", xpu_escape(b->scratch, op, 40)));
        return failed;
    }
    for (int i = 0; i < 8; i++) {
        xpu_dtype wanted = i == 4 ? XPU_I32 : XPU_F32;
        if (!x[i].id || fe_info(b, x[i])->dtype == wanted) continue;
        return fe_refuse(
            b, FE_OPERAND, fe_format(b, "operand %d is of a type that is not supported", i),
            fe_format(b, "it is %s, not %s", xpu_dtype_name(fe_info(b, x[i])->dtype), xpu_dtype_name(wanted)), NULL);
    }
    fe_recurrent_operands in = {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]};
    fe_recurrence form = {.direction = given.direction,
                          .clip = given.clip,
                          .input_forget = given.input_forget != 0,
                          .linear_before_reset = given.linear_before_reset != 0,
                          .layout = given.layout != 0};
    uint32_t count = fe_recurrent(b, (fe_recurrent_kind)kind, &in, &form, results);
    for (uint32_t i = 1; i < count; i++) call->more[i - 1] = (xpuc_value){results[i].id};
    return count ? results[0] : failed;
}

xpuc_value xpuc_recurrent(xpuc_network *network, const char *name, const char *op, xpuc_value x, xpuc_value w,
                          xpuc_value r, const xpuc_recurrence *form, xpuc_value *last_h, xpuc_value *last_c) {
    static const xpuc_value none = {0};
    xpuc_value more[2] = {XPU_NETWORK_FAILED, XPU_NETWORK_FAILED};
    xpuc_value y = xpu_network_build(
        network,
        CALL("recurrent", name,
             OPERANDS(8, 3, x, w, r, form ? form->bias : none, form ? form->lengths : none,
                      form ? form->initial_h : none, form ? form->initial_c : none, form ? form->peepholes : none),
             .form = form, .text = op, .more = more),
        make_recurrent);
    if (last_h) *last_h = more[0];
    if (last_c) *last_c = more[1];
    return y;
}
