/* Elementwise operators with broadcasting, chains; absmax. */
#include <string.h>

#include "core/arith_types.h"
#include "core/ops/ref_util.h"
#include "core/ops/rows.h"

/* Elements that one step works on at a time: the values of a chain stay in the cache. */
enum { BLOCK = 256 };

/* ---- loops, one per row of elementwise.def and class ---- */

typedef void (*block_fn)(const void *const *operands, const float *immediates, void *to, size_t count);

#define OPERANDS_1   a[i]
#define OPERANDS_2   OPERANDS_1, b[i]
#define OPERANDS_3   OPERANDS_2, c[i]
#define IMMEDIATES_0 /* none */
#define IMMEDIATES_1 , immediates[0]
#define IMMEDIATES_2 IMMEDIATES_1, immediates[1]
#define IMMEDIATES_3 IMMEDIATES_2, immediates[2]
#define LOOP(function, first, type, result, arity, immediate_count)                                                    \
    static void block_##function(const void *const *operands, const float *immediates, void *to, size_t count) {       \
        const first *a = operands[0];                                                                                  \
        const type *b = operands[1], *c = operands[2];                                                                 \
        result *out = to;                                                                                              \
        (void)a, (void)b, (void)c, (void)immediates;                                                                   \
        for (size_t i = 0; i < count; i++) out[i] = xa_##function(OPERANDS_##arity IMMEDIATES_##immediate_count);      \
    }

#define LOOPS_FLOATS(name, arity, count) LOOP(name, float, float, float, arity, count)
#define LOOPS_TEST(name, arity, count)   LOOP(name, float, float, int32_t, arity, count)
#define LOOPS_LOGIC(name, arity, count)  LOOP(name##_i32, int32_t, int32_t, int32_t, arity, count)
#define LOOPS_INTEGERS(name, arity, count)                                                                             \
    LOOP(name##_i32, int32_t, int32_t, int32_t, arity, count)                                                          \
    LOOP(name##_u32, uint32_t, uint32_t, uint32_t, arity, count)                                                       \
    LOOP(name##_i64, int64_t, int64_t, int64_t, arity, count)                                                          \
    LOOP(name##_u64, uint64_t, uint64_t, uint64_t, arity, count)
#define LOOPS_NUMBERS(name, arity, count) LOOPS_FLOATS(name, arity, count) LOOPS_INTEGERS(name, arity, count)
#define LOOPS_ANY(name, arity, count)     LOOPS_NUMBERS(name, arity, count)
#define LOOPS_COMPARE(name, arity, count)                                                                              \
    LOOP(name, float, float, int32_t, arity, count)                                                                    \
    LOOP(name##_i32, int32_t, int32_t, int32_t, arity, count)                                                          \
    LOOP(name##_u32, uint32_t, uint32_t, int32_t, arity, count)                                                        \
    LOOP(name##_i64, int64_t, int64_t, int32_t, arity, count)                                                          \
    LOOP(name##_u64, uint64_t, uint64_t, int32_t, arity, count)
#define LOOPS_SELECT(name, arity, count)                                                                               \
    LOOP(name, int32_t, float, float, arity, count)                                                                    \
    LOOP(name##_i32, int32_t, int32_t, int32_t, arity, count)                                                          \
    LOOP(name##_u32, int32_t, uint32_t, uint32_t, arity, count)                                                        \
    LOOP(name##_i64, int32_t, int64_t, int64_t, arity, count)                                                          \
    LOOP(name##_u64, int32_t, uint64_t, uint64_t, arity, count)
#define LOOPS_CONVERT(name, arity, count)                    /* below, by type */
#define EW_ROW(name, arity, immediate_count, signature, ...) LOOPS_##signature(name, arity, immediate_count)
#include "core/ops/elementwise.def"

#define ENTRIES_FLOATS(name)   {[XPU_COMPUTE_F32] = block_##name}
#define ENTRIES_TEST(name)     ENTRIES_FLOATS(name)
#define ENTRIES_LOGIC(name)    {[XPU_COMPUTE_I32] = block_##name##_i32}
#define ENTRIES_INTEGERS(name) {NULL, block_##name##_i32, block_##name##_u32, block_##name##_i64, block_##name##_u64}
#define ENTRIES_NUMBERS(name)                                                                                          \
    {block_##name, block_##name##_i32, block_##name##_u32, block_##name##_i64, block_##name##_u64}
#define ENTRIES_ANY(name)     ENTRIES_NUMBERS(name)
#define ENTRIES_COMPARE(name) ENTRIES_NUMBERS(name)
#define ENTRIES_SELECT(name)  ENTRIES_NUMBERS(name)
#define ENTRIES_CONVERT(name) {NULL}
static const block_fn block_functions[XPU_EW_COUNT][XPU_COMPUTE_COUNT] = {
#define EW_ROW(name, arity, immediate_count, signature, ...) [XPU_EW_##name] = ENTRIES_##signature(name),
#include "core/ops/elementwise.def"
};

/* ---- types: conversions, and between memory and class ---- */

#define DTYPE_float32  XPU_F32
#define DTYPE_float16  XPU_F16
#define DTYPE_bfloat16 XPU_BF16
#define DTYPE_int8     XPU_I8
#define DTYPE_uint8    XPU_U8
#define DTYPE_int16    XPU_I16
#define DTYPE_uint16   XPU_U16
#define DTYPE_int32    XPU_I32
#define DTYPE_uint32   XPU_U32
#define DTYPE_int64    XPU_I64
#define DTYPE_uint64   XPU_U64
#define DTYPE_bool     XPU_BOOL

#define CONVERSION(name, function, class, from)                                                                        \
    static void name(const void *x, void *y, size_t count) {                                                           \
        const xa_##from *in = x;                                                                                       \
        xa_##class *out = y;                                                                                           \
        for (size_t i = 0; i < count; i++) out[i] = function(in[i]);                                                   \
    }
#define X(type, memory, class)                                                                                         \
    CONVERSION(convert_f32_##type, xa_to_##type##_f32, class, f32)                                                     \
    CONVERSION(convert_i32_##type, xa_to_##type##_i32, class, i32)                                                     \
    CONVERSION(convert_u32_##type, xa_to_##type##_u32, class, u32)                                                     \
    CONVERSION(convert_i64_##type, xa_to_##type##_i64, class, i64)                                                     \
    CONVERSION(convert_u64_##type, xa_to_##type##_u64, class, u64)                                                     \
    static void load_##type(const void *x, void *y, size_t count) {                                                    \
        const memory *in = x;                                                                                          \
        xa_##class *out = y;                                                                                           \
        for (size_t i = 0; i < count; i++) out[i] = xa_load_##type(in + i);                                            \
    }                                                                                                                  \
    static void fit_##type(const void *x, void *y, size_t count) {                                                     \
        const xa_##class *in = x;                                                                                      \
        xa_##class *out = y;                                                                                           \
        for (size_t i = 0; i < count; i++) out[i] = xa_fit_##type(in[i]);                                              \
    }                                                                                                                  \
    static void store_##type(const void *x, void *y, size_t count) {                                                   \
        const xa_##class *in = x;                                                                                      \
        memory *out = y;                                                                                               \
        for (size_t i = 0; i < count; i++) xa_store_##type(out + i, in[i]);                                            \
    }
XA_TYPES(X)
#undef X

typedef void (*type_fn)(const void *x, void *y, size_t count);
static const struct {
    type_fn load, fit, store;
    type_fn convert[XPU_COMPUTE_COUNT]; /* from each class */
} type_functions[XPU_DTYPE_COUNT] = {
#define X(type, memory, class)                                                                                         \
    [DTYPE_##type] = {                                                                                                 \
        load_##type,                                                                                                   \
        fit_##type,                                                                                                    \
        store_##type,                                                                                                  \
        {convert_f32_##type, convert_i32_##type, convert_u32_##type, convert_i64_##type, convert_u64_##type}},
    XA_TYPES(X)
#undef X
};

/* Whether elements stand in memory as they are computed with. */
static int is_own_class(xpu_dtype dtype) {
    return xpu_dtype_bytes(dtype) == 8 || dtype == XPU_F32 || dtype == XPU_I32 || dtype == XPU_U32;
}

/* ---- broadcasting ---- */

/* Where an operand's elements stand, by the result's dims. */
typedef struct {
    const char *data;
    size_t bytes;               /* of one element */
    size_t steps[XPU_MAX_RANK]; /* elements; 0 where it is broadcast */
} operand;

static operand broadcast_operand(const xpu_tensor *tensor, const xpu_tensor *y) {
    operand result = {.data = tensor->data, .bytes = xpu_dtype_bytes(tensor->dtype)};
    size_t step = 1;
    for (int i = y->rank - 1, t = tensor->rank - 1; t >= 0; i--, t--) {
        result.steps[i] = tensor->dims[t] == 1 ? 0 : step;
        step *= (size_t)tensor->dims[t];
    }
    return result;
}

#define GATHER(type)                                                                                                   \
    for (size_t i = 0; i < count; i++) ((type *)buffer)[i] = ((const type *)data)[(first + i) * step]

/* `count` elements of an operand from the result's line `line`, element `first` of it; line length is the last dim. */
static const void *fetch(const operand *from, const xpu_tensor *y, size_t line, size_t first, size_t count,
                         void *buffer) {
    size_t offset = 0;
    for (int i = y->rank - 2; i >= 0; i--) {
        offset += line % (size_t)y->dims[i] * from->steps[i];
        line /= (size_t)y->dims[i];
    }
    size_t step = y->rank ? from->steps[y->rank - 1] : 0;
    const char *data = from->data + offset * from->bytes;
    if (step == 1) return data + first * from->bytes;
    switch (from->bytes) {
    case 1: GATHER(uint8_t); break;
    case 2: GATHER(uint16_t); break;
    case 4: GATHER(uint32_t); break;
    default: GATHER(uint64_t); break;
    }
    return buffer;
}

/* Makes one dim of two neighbours wherever every operand walks through both in one stride. */
static void merge_dims(operand *operands, uint32_t count, xpu_tensor *y) {
    for (int i = y->rank - 2; i >= 0; i--) {
        int together = 1;
        for (uint32_t k = 0; k < count; k++) {
            together &= operands[k].steps[i] == operands[k].steps[i + 1] * (size_t)y->dims[i + 1];
        }
        if (!together) continue;
        y->dims[i] *= y->dims[i + 1];
        y->rank--;
        for (uint32_t k = 0; k < count; k++) {
            memmove(&operands[k].steps[i], &operands[k].steps[i + 1], (size_t)(y->rank - i) * sizeof(size_t));
        }
        memmove(&y->dims[i + 1], &y->dims[i + 2], (size_t)(y->rank - i - 1) * sizeof(int64_t));
    }
}

/* ---- chains ---- */

/* A chain while it runs: one buffer of BLOCK elements of 8 bytes for each value. */
typedef struct {
    const xpu_chain *chain;
    const xpu_chain_types *types;
    unsigned char *buffers;
    const void *values[XPU_CHAIN_MAX_VALUES]; /* of the current block, as their classes have them */
} running;

static void *buffer_of(const running *r, uint32_t value) {
    return r->buffers + (size_t)value * BLOCK * sizeof(uint64_t);
}

/* One step over `count` elements; `to` (may be NULL) is where float32, or what stands in memory likewise, goes. */
static void run_step(running *r, uint32_t s, void *to, size_t count) {
    const xpu_chain_step *step = &r->chain->steps[s];
    uint32_t result = r->chain->input_count + s;
    xpu_dtype dtype = r->types->values[result];
    xpu_compute class_id = xpu_compute_of(r->types->computes[s]);
    const void *arguments[XPU_CHAIN_MAX_OPERANDS] = {NULL, NULL, NULL};
    for (int i = 0; i < xpu_elementwise_arity(step->op); i++) arguments[i] = r->values[step->operands[i]];
    void *out = to && is_own_class(dtype) ? to : buffer_of(r, result);
    if (xpu_elementwise_signature(step->op) == XPU_EW_CONVERT) {
        type_functions[dtype].convert[class_id](arguments[0], out, count);
    } else {
        block_functions[step->op][class_id](arguments, step->immediates, out, count);
        if (!is_own_class(dtype) && dtype != XPU_BOOL) type_functions[dtype].fit(out, out, count);
    }
    if (to && out != to) type_functions[dtype].store(out, to, count);
    r->values[result] = out;
}

/* Runs a chain over the whole result. */
static xpu_status run_chain(const xpu_chain *chain, const xpu_ref_args *args) {
    const xpu_tensor *const *inputs = args->inputs, *y = args->outputs[0];
    operand operands[XPU_CHAIN_MAX_INPUTS];
    xpu_dtype dtypes[XPU_CHAIN_MAX_INPUTS];
    xpu_chain_types types;
    xpu_tensor flat = *y;
    for (uint32_t i = 0; i < chain->input_count; i++) {
        operands[i] = broadcast_operand(inputs[i], y);
        dtypes[i] = inputs[i]->dtype;
    }
    if (!xpu_chain_types_of(chain, dtypes, &types)) return XPU_EBUG; /* its shape function refuses it */
    merge_dims(operands, chain->input_count, &flat);
    size_t length = flat.rank ? (size_t)flat.dims[flat.rank - 1] : 1, total = (size_t)xpu_tensor_count(y);
    running r = {.chain = chain, .types = &types};
    r.buffers = xpu_alloc(args->scratch, sizeof(uint64_t) * XPU_CHAIN_MAX_VALUES * BLOCK);
    unsigned char raw[BLOCK * sizeof(uint64_t)], *out = y->data;
    size_t bytes = xpu_dtype_bytes(y->dtype);
    for (size_t done = 0; done < total;) {
        size_t line = done / length, first = done % length;
        size_t count = length - first < BLOCK ? length - first : BLOCK;
        for (uint32_t i = 0; i < chain->input_count; i++) {
            int own = is_own_class(dtypes[i]);
            const void *data = fetch(&operands[i], &flat, line, first, count, own ? buffer_of(&r, i) : raw);
            if (!own) type_functions[dtypes[i]].load(data, buffer_of(&r, i), count);
            r.values[i] = own ? data : buffer_of(&r, i);
        }
        for (uint32_t s = 0; s < chain->step_count; s++) {
            run_step(&r, s, s + 1 == chain->step_count ? out + done * bytes : NULL, count);
        }
        done += count;
    }
    return XPU_OK;
}

xpu_status xpu_ref_chain(const xpu_ref_args *args) {
    xpu_status status = run_chain(xpu_chain_of(args->graph, args->node), args);
    if (status == XPU_OK) xpu_ref_write_absmax(args);
    return status;
}

xpu_status xpu_ref_prologue(const xpu_ref_args *args, const void **x) {
    const xpu_attr *steps = xpu_node_attr(args->graph, args->node, XPU_ATTR_STEPS);
    *x = args->inputs[XPU_IN_X]->data;
    if (!steps) return XPU_OK;
    xpu_tensor made = *args->inputs[XPU_IN_X];
    made.data = XPU_NEW_ARRAY(args->scratch, float, (size_t)xpu_tensor_count(&made));
    xpu_tensor *results[] = {&made};
    xpu_ref_args chain = *args;
    chain.outputs = results;
    *x = made.data;
    return run_chain(steps->chain, &chain);
}

int xpu_elementwise_step(const xpu_graph *graph, xpu_node node, xpu_chain_step *step) {
    const xpu_op *op = xpu_node_at(graph, node)->op;
    if (op->elementwise < 0) return 0;
    *step = (xpu_chain_step){.op = (xpu_elementwise)op->elementwise, .operands = {0, 1, 2}};
    for (int i = 0; i < xpu_elementwise_immediates(step->op); i++) {
        step->immediates[i] = xpu_node_float(graph, node, xpu_elementwise_attr(step->op, i));
    }
    if (xpu_elementwise_signature(step->op) == XPU_EW_CONVERT) {
        step->dtype = (uint8_t)xpu_node_int(graph, node, XPU_ATTR_DTYPE);
    }
    return 1;
}

xpu_status xpu_ref_elementwise(const xpu_ref_args *args) {
    xpu_chain chain = {.input_count = xpu_node_at(args->graph, args->node)->input_count, .step_count = 1};
    xpu_elementwise_step(args->graph, args->node, &chain.steps[0]);
    return run_chain(&chain, args);
}

/* ---- absmax ---- */

void xpu_ref_write_absmax(const xpu_ref_args *args) {
    if (xpu_node_at(args->graph, args->node)->output_count <= XPU_OUT_ABSMAX) return;
    const xpu_tensor *y = args->outputs[XPU_OUT_Y];
    *(float *)args->outputs[XPU_OUT_ABSMAX]->data = xa_absmax_of(y->data, (size_t)xpu_tensor_count(y));
}

xpu_status xpu_ref_absmax(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    *(float *)args->outputs[0]->data = xa_absmax_of(x->data, (size_t)xpu_tensor_count(x));
    return XPU_OK;
}
