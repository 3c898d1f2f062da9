/* The operators of networks made in C: each call of xpuc_build.h onto its builder (frontend/build). */
#include <string.h>

#include "base/option.h"
#include "xpuc/network.h"

static const xpu_value failed = {0};

/* ---- windows ---- */

/* Lists of the builder, made from the caller's arrays. */
typedef struct {
    int64_t lists[4][2 * XPUC_MAX_SPATIAL];
    fe_window window;
} window_lists;

/* The first `n` numbers, and those behind them that are not 0; `fallback` stands for 0. */
static fe_ints numbers(int64_t *list, const int64_t *given, int n, int64_t fallback) {
    int count = n;
    for (int i = 0; i < XPUC_MAX_SPATIAL; i++) {
        if (given[i] && i >= count) count = i + 1;
    }
    for (int i = 0; i < count; i++) list[i] = given[i] ? given[i] : fallback;
    return (fe_ints){list, (size_t)count};
}

static int any(const int64_t *given) {
    for (int i = 0; i < XPUC_MAX_SPATIAL; i++) {
        if (given[i]) return 1;
    }
    return 0;
}

/* The window over x, whose rank the builder checks. */
static void list_window(const fe_builder *b, xpu_value x, const xpuc_window *given, window_lists *out) {
    int n = fe_info(b, x)->rank - 2, most = XPUC_MAX_SPATIAL;
    n = n < 0 ? 0 : n > most ? most : n;
    *out = (window_lists){.window = {.auto_pad = given->auto_pad}};
    if (any(given->kernel_shape)) out->window.kernel_shape = numbers(out->lists[0], given->kernel_shape, n, 0);
    out->window.strides = numbers(out->lists[1], given->strides, n, 1);
    out->window.dilations = numbers(out->lists[2], given->dilations, n, 1);
    if (!any(given->pads_begin) && !any(given->pads_end)) return;
    int64_t ends[XPUC_MAX_SPATIAL], *pads = out->lists[3];
    size_t begin_count = numbers(pads, given->pads_begin, n, 0).count,
           end_count = numbers(ends, given->pads_end, n, 0).count;
    for (size_t i = 0; i < end_count; i++) pads[begin_count + i] = ends[i];
    out->window.pads = (fe_ints){pads, begin_count + end_count};
}

static int read_window(const fe_builder *b, const xpu_network_call *call, xpu_value x, xpuc_window *given,
                       window_lists *lists) {
    enum { LEAST = sizeof(xpuc_window) };
    *given = (xpuc_window){.size = 0};
    if (!xpu_network_form(b, call->form, LEAST, given, sizeof *given)) return 0;
    list_window(b, x, given, lists);
    return 1;
}

static int unused(const fe_builder *b, const char *name, int64_t value) {
    return !value || fe_bad_attr(b, name, "this operator has none");
}

static int read_convolution(const fe_builder *b, const xpu_network_call *call, xpu_value x, window_lists *lists,
                            fe_convolution *conv) {
    xpuc_window given;
    if (!read_window(b, call, x, &given, lists)) return 0;
    *conv = (fe_convolution){.window = lists->window, .group = given.group ? given.group : 1};
    return unused(b, "ceil_mode", given.ceil_mode) & unused(b, "count_include_pad", given.count_include_pad);
}

static xpu_value make_conv(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    window_lists lists;
    fe_convolution conv;
    return read_convolution(b, call, x[0], &lists, &conv) ? fe_conv(b, x[0], x[1], x[2], &conv) : failed;
}

xpuc_value xpuc_conv(xpuc_network *network, const char *name, xpuc_value x, xpuc_value w, xpuc_value bias,
                     const xpuc_window *window) {
    return xpu_network_build(network, CALL("conv", name, OPERANDS(3, 2, x, w, bias), .form = window), make_conv);
}

static xpu_value make_integer_conv(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    window_lists lists;
    fe_convolution conv;
    if (!read_convolution(b, call, x[0], &lists, &conv)) return failed;
    return fe_integer_conv(b, x[0], x[1], x[2], x[3], &conv);
}

xpuc_value xpuc_integer_conv(xpuc_network *network, const char *name, xpuc_value x, xpuc_value w, xpuc_value x_zero,
                             xpuc_value w_zero, const xpuc_window *window) {
    return xpu_network_build(network, CALL("integer_conv", name, OPERANDS(4, 2, x, w, x_zero, w_zero), .form = window),
                             make_integer_conv);
}

static xpu_value make_pool(fe_builder *b, const xpu_network_call *call, xpu_value x, xpu_op_id op) {
    window_lists lists;
    xpuc_window given;
    if (!read_window(b, call, x, &given, &lists) || !unused(b, "group", given.group)) return failed;
    if (op == XPU_OP_MAX_POOL && !unused(b, "count_include_pad", given.count_include_pad)) return failed;
    fe_pooling pool = {
        .window = lists.window, .ceil_mode = given.ceil_mode, .count_include_pad = given.count_include_pad};
    return fe_pool(b, op, x, &pool);
}

static xpu_value make_max_pool(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return make_pool(b, call, x[0], XPU_OP_MAX_POOL);
}

xpuc_value xpuc_max_pool(xpuc_network *network, const char *name, xpuc_value x, const xpuc_window *window) {
    return xpu_network_build(network, CALL("max_pool", name, OPERANDS(1, 1, x), .form = window), make_max_pool);
}

static xpu_value make_average_pool(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return make_pool(b, call, x[0], XPU_OP_AVERAGE_POOL);
}

xpuc_value xpuc_average_pool(xpuc_network *network, const char *name, xpuc_value x, const xpuc_window *window) {
    return xpu_network_build(network, CALL("average_pool", name, OPERANDS(1, 1, x), .form = window), make_average_pool);
}

static xpu_value make_global(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    (void)call;
    return fe_global_average_pool(b, x[0]);
}

xpuc_value xpuc_global_average_pool(xpuc_network *network, const char *name, xpuc_value x) {
    return xpu_network_build(network, CALL("global_average_pool", name, OPERANDS(1, 1, x)), make_global);
}

static xpu_value make_batch_norm(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_batch_norm(b, x[0], x[1], x[2], x[3], x[4], call->floats[0] != 0 ? call->floats[0] : 1e-5f);
}

xpuc_value xpuc_batch_norm(xpuc_network *network, const char *name, xpuc_value x, xpuc_value scale, xpuc_value bias,
                           xpuc_value mean, xpuc_value variance, float epsilon) {
    return xpu_network_build(
        network, CALL("batch_norm", name, OPERANDS(5, 5, x, scale, bias, mean, variance), .floats = &epsilon),
        make_batch_norm);
}

/* ---- products ---- */

static xpu_value make_matmul(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    (void)call;
    return fe_matmul(b, x[0], x[1]);
}

xpuc_value xpuc_matmul(xpuc_network *network, const char *name, xpuc_value a, xpuc_value b) {
    return xpu_network_build(network, CALL("matmul", name, OPERANDS(2, 2, a, b)), make_matmul);
}

static xpu_value make_gemm(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    enum { LEAST = sizeof(xpuc_gemm_form) };
    xpuc_gemm_form given = XPUC_GEMM_INIT;
    if (!xpu_network_form(b, call->form, LEAST, &given, sizeof given)) return failed;
    fe_gemm_form form = {given.alpha, given.beta, given.transpose_a != 0, given.transpose_b != 0};
    return fe_gemm(b, x[0], x[1], x[2], &form);
}

xpuc_value xpuc_gemm(xpuc_network *network, const char *name, xpuc_value a, xpuc_value b, xpuc_value c,
                     const xpuc_gemm_form *form) {
    return xpu_network_build(network, CALL("gemm", name, OPERANDS(3, 2, a, b, c), .form = form), make_gemm);
}

static xpu_value make_integer_matmul(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    (void)call;
    return fe_integer_matmul(b, x[0], x[1], x[2], x[3]);
}

xpuc_value xpuc_integer_matmul(xpuc_network *network, const char *name, xpuc_value x, xpuc_value w, xpuc_value x_zero,
                               xpuc_value w_zero) {
    return xpu_network_build(network, CALL("integer_matmul", name, OPERANDS(4, 2, x, w, x_zero, w_zero)),
                             make_integer_matmul);
}

/* ---- elementwise ---- */

/* The row of this name; NULL after reporting. */
static const xpu_op *row_of(const fe_builder *b, const char *name) {
    const char *names[XPU_OP_COUNT + 1];
    size_t count = 0;
    for (int i = 0; i < XPU_OP_COUNT; i++) {
        const xpu_op *op = xpu_op_of((xpu_op_id)i);
        if (op->elementwise < 0 || i == XPU_OP_CONVERT) continue; /* xpuc_cast */
        if (name && strcmp(op->name, name) == 0) return op;
        names[count++] = op->name;
    }
    names[count] = NULL;
    const char *nearest = name && strlen(name) <= 60 ? xpu_nearest(name, names) : NULL;
    fe_refuse(b, FE_FORM, "the operator is unknown",
              name ? fe_format(b, "no elementwise operator is called '%s'", xpu_escape(b->scratch, name, 60))
                   : "its name is NULL",
              nearest ? fe_format(b, "the nearest one is %s", nearest) : "docs/generated/core_operators.md lists them");
    return NULL;
}

/* Immediates as the row's attributes; how many there are, or -1 after reporting. */
static int read_immediates(const fe_builder *b, const xpu_network_call *call, const xpu_op *op, xpu_attr *attrs) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < op->attr_count && count < call->float_count; i++) {
        if (xpu_attr_type_of(op->attrs[i].id) != XPU_ATTR_TYPE_FLOAT) break;
        attrs[count] = (xpu_attr){.id = op->attrs[i].id, .f = call->floats[count]};
        count++;
    }
    if (count == call->float_count) return (int)count;
    fe_refuse(b, FE_ATTRIBUTE, "there are too many immediates",
              fe_format(b, "%s has %u; given: %u", op->name, count, call->float_count), NULL);
    return -1;
}

static xpu_value no_operands(const fe_builder *b) {
    return fe_refuse(b, FE_OPERAND, "the number of operands is wrong", "it is 0; at least one is needed", NULL);
}

static xpu_value make_elementwise(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    const xpu_op *op = row_of(b, call->text);
    if (!op) return failed;
    if (call->value_count < (uint32_t)op->min_inputs || call->value_count > (uint32_t)op->max_inputs) {
        return fe_refuse(b, FE_OPERAND, "the number of operands is wrong",
                         fe_format(b, "it is %u; %s takes %d", call->value_count, op->name, op->min_inputs), NULL);
    }
    xpu_attr *attrs = XPU_NEW_ARRAY(b->scratch, xpu_attr, op->attr_count + 1);
    int count = read_immediates(b, call, op, attrs);
    if (count < 0) return failed;
    return fe_elementwise(b, xpu_op_id_of(op), x, call->value_count, attrs, (uint32_t)count);
}

xpuc_value xpuc_elementwise(xpuc_network *network, const char *name, const char *op, const xpuc_value *operands,
                            uint32_t operand_count, const float *immediates, uint32_t immediate_count) {
    return xpu_network_build(network,
                             CALL(op ? op : "elementwise", name, operands, operands ? operand_count : 0, operand_count,
                                  .floats = immediates, .float_count = immediates ? immediate_count : 0, .text = op),
                             make_elementwise);
}

static xpu_value make_variadic(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    const xpu_op *op = row_of(b, call->text);
    if (!op) return failed;
    if (op->min_inputs != 2) {
        return fe_refuse(b, FE_OPERAND, fe_format(b, "%s does not take any number of operands", op->name),
                         fe_format(b, "it takes %d", op->min_inputs), NULL);
    }
    if (!call->value_count) return no_operands(b);
    return fe_variadic(b, xpu_op_id_of(op), x, call->value_count);
}

xpuc_value xpuc_variadic(xpuc_network *network, const char *name, const char *op, const xpuc_value *operands,
                         uint32_t operand_count) {
    return xpu_network_build(
        network, CALL(op ? op : "variadic", name, operands, operands ? operand_count : 0, operand_count, .text = op),
        make_variadic);
}

static xpu_value make_mean(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return call->value_count ? fe_mean(b, x, call->value_count) : no_operands(b);
}

xpuc_value xpuc_mean(xpuc_network *network, const char *name, const xpuc_value *operands, uint32_t operand_count) {
    return xpu_network_build(network, CALL("mean", name, operands, operands ? operand_count : 0, operand_count),
                             make_mean);
}

static xpu_value make_pow(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    (void)call;
    return fe_pow(b, x[0], x[1]);
}

xpuc_value xpuc_pow(xpuc_network *network, const char *name, xpuc_value x, xpuc_value y) {
    return xpu_network_build(network, CALL("pow", name, OPERANDS(2, 2, x, y)), make_pow);
}

static xpu_value make_cast(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    xpu_dtype dtype = xpu_network_dtype(call->text);
    if (dtype != XPU_DTYPE_NONE) return fe_convert(b, x[0], dtype);
    fe_bad_attr(b, "dtype",
                call->text ? fe_format(b, "it is '%s'", xpu_escape(b->scratch, call->text, 40)) : "it is NULL");
    return failed;
}

xpuc_value xpuc_cast(xpuc_network *network, const char *name, xpuc_value x, const char *dtype) {
    return xpu_network_build(network, CALL("cast", name, OPERANDS(1, 1, x), .text = dtype), make_cast);
}

static xpu_value make_clip(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_clip(b, x[0], call->floats[0], call->floats[1]);
}

xpuc_value xpuc_clip(xpuc_network *network, const char *name, xpuc_value x, float low, float high) {
    float bounds[] = {low, high};
    return xpu_network_build(network, CALL("clip", name, OPERANDS(1, 1, x), .floats = bounds), make_clip);
}

static xpu_value make_identity(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    (void)call;
    return fe_elementwise(b, XPU_OP_IDENTITY, x, 1, NULL, 0);
}

xpuc_value xpuc_identity(xpuc_network *network, const char *name, xpuc_value x) {
    return xpu_network_build(network, CALL("identity", name, OPERANDS(1, 1, x)), make_identity);
}

/* ---- moves ---- */

static xpu_value make_flatten(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_flatten(b, x[0], call->axis);
}

xpuc_value xpuc_flatten(xpuc_network *network, const char *name, xpuc_value x, int64_t axis) {
    return xpu_network_build(network, CALL("flatten", name, OPERANDS(1, 1, x), .axis = axis), make_flatten);
}

/* A list that has no elements is one, too. */
static fe_ints list_of(uint32_t count, const int64_t *items) {
    static const int64_t none = 0;
    return (fe_ints){items || count ? items : &none, items ? count : 0};
}

static xpu_value make_reshape(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    if (!call->ints.items) return fe_refuse(b, FE_OPERAND, "the shape is missing", "it is NULL", NULL);
    return fe_reshape(b, x[0], fe_dims_of(b, call->ints), 0);
}

xpuc_value xpuc_reshape(xpuc_network *network, const char *name, xpuc_value x, uint32_t rank, const int64_t *shape) {
    return xpu_network_build(network, CALL("reshape", name, OPERANDS(1, 1, x), .ints = list_of(rank, shape)),
                             make_reshape);
}

static xpu_value make_squeeze(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_squeeze(b, x[0], call->ints);
}

xpuc_value xpuc_squeeze(xpuc_network *network, const char *name, xpuc_value x, uint32_t count, const int64_t *axes) {
    fe_ints given = {axes, axes ? count : 0};
    return xpu_network_build(network, CALL("squeeze", name, OPERANDS(1, 1, x), .ints = given), make_squeeze);
}

static xpu_value make_unsqueeze(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_unsqueeze(b, x[0], call->ints);
}

xpuc_value xpuc_unsqueeze(xpuc_network *network, const char *name, xpuc_value x, uint32_t count, const int64_t *axes) {
    return xpu_network_build(network, CALL("unsqueeze", name, OPERANDS(1, 1, x), .ints = list_of(count, axes)),
                             make_unsqueeze);
}

static xpu_value make_transpose(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_transpose(b, x[0], call->ints);
}

xpuc_value xpuc_transpose(xpuc_network *network, const char *name, xpuc_value x, uint32_t rank, const int64_t *perm) {
    fe_ints given = {perm, perm ? rank : 0};
    return xpu_network_build(network, CALL("transpose", name, OPERANDS(1, 1, x), .ints = given), make_transpose);
}

static xpu_value make_concat(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    if (!call->value_count) return no_operands(b);
    return fe_concat(b, x, call->value_count, call->axis);
}

xpuc_value xpuc_concat(xpuc_network *network, const char *name, const xpuc_value *operands, uint32_t operand_count,
                       int64_t axis) {
    return xpu_network_build(network,
                             CALL("concat", name, operands, operands ? operand_count : 0, operand_count, .axis = axis),
                             make_concat);
}

static xpu_value make_pad(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    enum { LEAST = sizeof(xpuc_padding) };
    xpuc_padding given = {.size = 0};
    int64_t pads[2 * XPUC_MAX_RANK];
    if (!xpu_network_form(b, call->form, LEAST, &given, sizeof given)) return failed;
    int rank = fe_info(b, x[0])->rank;
    for (int i = 0; i < XPUC_MAX_RANK; i++) {
        if (i < rank) {
            pads[i] = given.pads_begin[i];
            pads[rank + i] = given.pads_end[i];
        } else if (given.pads_begin[i] || given.pads_end[i]) {
            return fe_refuse(b, FE_OPERAND, "the pads do not fit the input",
                             fe_format(b, "there is one for dim %d, and the input has rank %d", i, rank), NULL);
        }
    }
    fe_padding padding = {
        .mode = given.mode ? given.mode : "constant", .value = given.value, .pads = {pads, 2 * (size_t)rank}};
    return fe_pad(b, x[0], &padding);
}

xpuc_value xpuc_pad(xpuc_network *network, const char *name, xpuc_value x, const xpuc_padding *padding) {
    return xpu_network_build(network, CALL("pad", name, OPERANDS(1, 1, x), .form = padding), make_pad);
}

static xpu_value make_softmax(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_softmax(b, x[0], call->axis, 0);
}

xpuc_value xpuc_softmax(xpuc_network *network, const char *name, xpuc_value x, int64_t axis) {
    return xpu_network_build(network, CALL("softmax", name, OPERANDS(1, 1, x), .axis = axis), make_softmax);
}

static xpu_value make_reduce(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    static const struct {
        const char *name;
        xpu_op_id op;
    } rows[] = {{"sum", XPU_OP_REDUCE_SUM},
                {"mean", XPU_OP_REDUCE_MEAN},
                {"max", XPU_OP_REDUCE_MAX},
                {"min", XPU_OP_REDUCE_MIN},
                {"prod", XPU_OP_REDUCE_PROD}};
    static const char *const functions[] = {[FE_L1] = "l1",
                                            [FE_L2] = "l2",
                                            [FE_SUM_SQUARE] = "sum_square",
                                            [FE_LOG_SUM] = "log_sum",
                                            [FE_LOG_SUM_EXP] = "log_sum_exp"};
    const char *name = call->text ? call->text : "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0) return fe_reduce(b, rows[i].op, x[0], call->ints, call->axis != 0);
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i], name) != 0) continue;
        return fe_reduce_function(b, (fe_reduction)i, x[0], call->ints, call->axis != 0, 0);
    }
    return fe_refuse(
        b, FE_FORM, "the reduction is unknown",
        fe_format(b, "it is '%s'; sum, mean, max, min and prod are there", xpu_escape(b->scratch, name, 60)), NULL);
}

xpuc_value xpuc_reduce(xpuc_network *network, const char *name, const char *op, xpuc_value x, uint32_t count,
                       const int64_t *axes, int keep_dims) {
    fe_ints given = {axes, axes ? count : 0};
    return xpu_network_build(
        network, CALL("reduce", name, OPERANDS(1, 1, x), .ints = given, .axis = keep_dims, .text = op), make_reduce);
}

/* ---- quantised ---- */

static xpu_value make_dequantize(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    return fe_dequantize(b, x[0], &(fe_scales){x[1], x[2], call->axis});
}

xpuc_value xpuc_dequantize(xpuc_network *network, const char *name, xpuc_value x, xpuc_value scale, xpuc_value zero,
                           int64_t axis) {
    return xpu_network_build(network, CALL("dequantize", name, OPERANDS(3, 2, x, scale, zero), .axis = axis),
                             make_dequantize);
}

static xpu_value make_quantize(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    xpu_dtype dtype = call->text ? xpu_network_dtype(call->text) : x[2].id ? fe_info(b, x[2])->dtype : XPU_U8;
    if (dtype == XPU_DTYPE_NONE || (x[2].id && dtype != fe_info(b, x[2])->dtype)) {
        const char *shown = xpu_escape(b->scratch, call->text, 40);
        fe_bad_attr(b, "dtype", fe_format(b, "it is '%s'%s", shown, dtype ? ", and the zero point's is another" : ""));
        return failed;
    }
    return fe_quantize(b, x[0], &(fe_scales){x[1], x[2], call->axis}, dtype, 0);
}

xpuc_value xpuc_quantize(xpuc_network *network, const char *name, xpuc_value x, xpuc_value scale, xpuc_value zero,
                         int64_t axis, const char *dtype) {
    return xpu_network_build(
        network, CALL("quantize", name, OPERANDS(3, 2, x, scale, zero), .axis = axis, .text = dtype), make_quantize);
}

static xpu_value make_dynamic(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    xpu_value results[3];
    if (!fe_dynamic_quantize(b, x[0], results)) return failed;
    for (int i = 0; i < 2; i++) call->more[i] = (xpuc_value){results[1 + i].id};
    return results[0];
}

xpuc_value xpuc_dynamic_quantize(xpuc_network *network, const char *name, xpuc_value x, xpuc_value *scale,
                                 xpuc_value *zero) {
    xpuc_value more[2] = {XPU_NETWORK_FAILED, XPU_NETWORK_FAILED};
    xpuc_value y =
        xpu_network_build(network, CALL("dynamic_quantize", name, OPERANDS(1, 1, x), .more = more), make_dynamic);
    if (scale) *scale = more[0];
    if (zero) *zero = more[1];
    return y;
}
