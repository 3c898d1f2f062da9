/* Constants: bytes in memory or a slice of a file, and the recipe that turns them into the value. */
#include <string.h>

#include "core/arith.h"
#include "core/ir/graph.h"

enum { SMALL_BYTES = 64 << 10, CHUNK_ELEMENTS = 32 << 10, MAX_ELEMENT_BYTES = 8 };

/* What a recipe has made so far. */
typedef struct {
    xpu_dtype dtype;
    int rank;
    int64_t dims[XPU_MAX_RANK];
} shape;

static size_t element_count(const shape *state) {
    return (size_t)xpu_product(state->dims, 0, state->rank);
}

/* ---- casts ---- */

static float half_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = (half >> 10) & 31, fraction = half & 0x3ff;
    if (exponent == 31) return xa_float(sign | 0x7f800000u | fraction << 13);
    if (exponent) return xa_float(sign | (exponent + 112) << 23 | fraction << 13);
    float value = (float)fraction * 0x1p-24f;
    return sign ? -value : value;
}

static int is_float(xpu_dtype dtype) {
    return dtype == XPU_F32 || dtype == XPU_F64 || dtype == XPU_F16 || dtype == XPU_BF16;
}

static int can_cast(xpu_dtype from, xpu_dtype to) {
    return from > XPU_DTYPE_NONE && from < XPU_DTYPE_COUNT && to > XPU_DTYPE_NONE && to < XPU_DTYPE_COUNT &&
           (from == to || (to != XPU_F16 && to != XPU_BF16));
}

static double load_real(xpu_dtype dtype, const void *in, size_t i) {
    switch (dtype) {
    case XPU_F32: return (double)((const float *)in)[i];
    case XPU_F64: return ((const double *)in)[i];
    case XPU_F16: return (double)half_to_float(((const uint16_t *)in)[i]);
    default: return (double)xa_float((uint32_t)((const uint16_t *)in)[i] << 16); /* bfloat16 */
    }
}

static int64_t load_integer(xpu_dtype dtype, const void *in, size_t i) {
    switch (dtype) {
    case XPU_I8: return ((const int8_t *)in)[i];
    case XPU_BOOL: return ((const uint8_t *)in)[i] != 0;
    case XPU_U8: return ((const uint8_t *)in)[i];
    case XPU_I16: return ((const int16_t *)in)[i];
    case XPU_U16: return ((const uint16_t *)in)[i];
    case XPU_I32: return ((const int32_t *)in)[i];
    case XPU_U32: return ((const uint32_t *)in)[i];
    default: return ((const int64_t *)in)[i];
    }
}

static void store_integer(xpu_dtype dtype, void *out, size_t i, int64_t value) {
    switch (dtype) {
    case XPU_BOOL: ((uint8_t *)out)[i] = value != 0; break;
    case XPU_I8:
    case XPU_U8: ((uint8_t *)out)[i] = (uint8_t)value; break;
    case XPU_I16:
    case XPU_U16: ((uint16_t *)out)[i] = (uint16_t)value; break;
    case XPU_I32:
    case XPU_U32: ((uint32_t *)out)[i] = (uint32_t)value; break;
    default: ((int64_t *)out)[i] = value; break;
    }
}

/* Towards zero; out of range saturates, NaN gives the largest integer (as RISC-V converts). */
static int64_t real_to_integer(double value) {
    if (!(value < 0x1p63)) return INT64_MAX;
    return value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

static void cast(xpu_dtype from, xpu_dtype to, const void *in, void *out, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!is_float(from) && !is_float(to)) {
            store_integer(to, out, i, load_integer(from, in, i));
        } else if (!is_float(to)) {
            double value = load_real(from, in, i);
            store_integer(to, out, i, to == XPU_BOOL ? value != 0 : real_to_integer(value));
        } else if (to == XPU_F32) {
            ((float *)out)[i] = is_float(from)    ? (float)load_real(from, in, i)
                                : from == XPU_U64 ? (float)((const uint64_t *)in)[i]
                                                  : (float)load_integer(from, in, i);
        } else {
            ((double *)out)[i] = is_float(from)    ? load_real(from, in, i)
                                 : from == XPU_U64 ? (double)((const uint64_t *)in)[i]
                                                   : (double)load_integer(from, in, i);
        }
    }
}

/* ---- one step ---- */

/* Checks `step` against what it is applied to and gives what it makes. Returns NULL or what is wrong. */
static const char *step_result(const xpu_const_step *step, const shape *in, shape *out) {
    *out = *in;
    if (step->kind == XPU_STEP_CAST) {
        out->dtype = step->dtype;
        return can_cast(in->dtype, step->dtype) ? NULL : "there is no cast between these element types";
    }
    if (step->kind == XPU_STEP_RESHAPE) {
        if (step->rank < 0 || step->rank > XPU_MAX_RANK) return "the rank is out of range";
        out->rank = step->rank;
        memcpy(out->dims, step->dims, sizeof out->dims);
        int64_t count = 1;
        for (int i = 0; i < out->rank; i++) {
            if (out->dims[i] < 0) return "a dim is negative";
            if (__builtin_mul_overflow(count, out->dims[i], &count)) return "the dims are too large";
        }
        return (int64_t)element_count(in) == count ? NULL : "the number of elements changes";
    }
    if (step->kind == XPU_STEP_TRANSPOSE) {
        unsigned seen = 0;
        if (step->rank != in->rank) return "the permutation has another rank";
        for (int i = 0; i < in->rank; i++) {
            if (step->dims[i] < 0 || step->dims[i] >= in->rank) return "the permutation is out of range";
            seen |= 1u << step->dims[i];
            out->dims[i] = in->dims[step->dims[i]];
        }
        return seen == (1u << in->rank) - 1 ? NULL : "the permutation names a dim twice";
    }
    if (in->dtype != XPU_F32) return "scaling and quantising need float32";
    if (step->factor_count != 1 &&
        (step->axis < 0 || step->axis >= in->rank || in->dims[step->axis] != step->factor_count)) {
        return "the number of factors is not the size of the axis";
    }
    if (step->kind == XPU_STEP_QUANTISE) {
        if (step->dtype != XPU_I8 && step->dtype != XPU_I16) return "quantising gives int8 or int16";
        out->dtype = step->dtype;
    }
    return NULL;
}

/* Elements [first, first + count) of an elementwise step on a tensor of shape `state`. */
static void apply_factors(const xpu_const_step *step, const shape *state, size_t first, const float *in, void *out,
                          size_t count) {
    size_t inner = 1, axis_size = 1;
    if (step->factor_count > 1) {
        inner = (size_t)xpu_product(state->dims, step->axis + 1, state->rank);
        axis_size = (size_t)state->dims[step->axis];
    }
    for (size_t i = 0; i < count;) {
        size_t at = first + i, run = inner - at % inner;
        if (step->factor_count == 1 || run > count - i) run = count - i;
        float factor = step->factors[step->factor_count == 1 ? 0 : at / inner % axis_size];
        for (size_t end = i + run; i < end; i++) {
            if (step->kind == XPU_STEP_SCALE) {
                ((float *)out)[i] = xa_mul(in[i], factor);
            } else if (step->dtype == XPU_I16) {
                ((int16_t *)out)[i] = (int16_t)xa_absmax_quantize(in[i], factor, XA_I16_MAX);
            } else {
                ((int8_t *)out)[i] = (int8_t)xa_absmax_quantize(in[i], factor, 127);
            }
        }
    }
}

/* ---- running a recipe ---- */

typedef struct {
    const void *bytes; /* or NULL: from the file */
    const xpu_file *file;
    uint64_t offset;
} source;

static xpu_status read_source(const source *from, size_t first_byte, void *out, size_t length, xpu_diags *diags) {
    if (!from->bytes) return xpu_file_read(from->file, from->offset + first_byte, out, length, diags);
    memcpy(out, (const char *)from->bytes + first_byte, length);
    return XPU_OK;
}

/* Elementwise steps, a chunk at a time; the result is in `arena`, `state` is its shape. NULL on I/O errors. */
static void *run_chunks(const source *from, const xpu_const_step *steps, uint32_t count, shape *state, xpu_arena *arena,
                        xpu_diags *diags) {
    size_t total = element_count(state), in_bytes = xpu_dtype_bytes(state->dtype);
    shape last = *state;
    for (uint32_t s = 0; s < count; s++) {
        shape in = last;
        step_result(&steps[s], &in, &last);
    }
    size_t out_bytes = xpu_dtype_bytes(last.dtype);
    char *out = xpu_alloc_array(arena, total, out_bytes);
    if (count == 0) return read_source(from, 0, out, total * in_bytes, diags) == XPU_OK ? out : NULL;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "chunks");
    void *buffers[2] = {xpu_alloc(scratch, (size_t)CHUNK_ELEMENTS * MAX_ELEMENT_BYTES),
                        xpu_alloc(scratch, (size_t)CHUNK_ELEMENTS * MAX_ELEMENT_BYTES)};
    for (size_t first = 0; first < total && out; first += CHUNK_ELEMENTS) {
        size_t elements = total - first < CHUNK_ELEMENTS ? total - first : CHUNK_ELEMENTS;
        if (read_source(from, first * in_bytes, buffers[0], elements * in_bytes, diags) != XPU_OK) {
            out = NULL;
            break;
        }
        int current = 0;
        shape now = *state, next;
        for (uint32_t s = 0; s < count; s++, now = next) {
            step_result(&steps[s], &now, &next);
            if (steps[s].kind == XPU_STEP_RESHAPE) continue;
            if (steps[s].kind == XPU_STEP_CAST) {
                cast(now.dtype, next.dtype, buffers[current], buffers[!current], elements);
            } else {
                apply_factors(&steps[s], &now, first, buffers[current], buffers[!current], elements);
            }
            current = !current;
        }
        memcpy(out + first * out_bytes, buffers[current], elements * out_bytes);
    }
    xpu_arena_free(scratch);
    *state = last;
    return out;
}

/* Elementwise steps run in chunks, a transpose on the whole tensor. Only the last result is in `arena`. */
static void *run_recipe(const xpu_const *constant, xpu_arena *arena, xpu_diags *diags) {
    shape state = {.dtype = constant->source_dtype, .rank = constant->source_rank};
    memcpy(state.dims, constant->source_dims, sizeof state.dims);
    source from = {.bytes = constant->kind == XPU_CONST_BYTES ? constant->bytes : NULL,
                   .file = constant->file,
                   .offset = constant->offset};
    const xpu_const_step *steps = constant->steps.items;
    uint32_t count = constant->steps.count, s = 0;
    xpu_arena *held = NULL;
    void *bytes = NULL;
    do {
        uint32_t end = s;
        while (end < count && steps[end].kind != XPU_STEP_TRANSPOSE) end++;
        int transposes = end == s && end < count && from.bytes;
        if (transposes) end++;
        xpu_arena *target = end == count ? arena : xpu_arena_new(xpu_arena_mem(arena), "constant");
        if (transposes) {
            shape in = state;
            size_t element = xpu_dtype_bytes(in.dtype);
            bytes = xpu_alloc_array(target, element_count(&in), element);
            xpu_permute(from.bytes, bytes, element, in.rank, in.dims, steps[s].dims);
            step_result(&steps[s], &in, &state);
        } else {
            bytes = run_chunks(&from, end > s ? &steps[s] : NULL, end - s, &state, target, diags);
        }
        xpu_arena_free(held);
        held = target == arena ? NULL : target;
        from = (source){.bytes = bytes};
        s = end;
    } while (bytes && s < count);
    xpu_arena_free(held);
    return bytes;
}

/* ---- the interface ---- */

static xpu_status bug(const xpu_graph *graph, xpu_value value, xpu_arena *arena, const char *rule, const char *what,
                      const char *why, xpu_diags *diags) {
    const char *name = xpu_escape(arena, xpu_value_at(graph, value)->name, 120);
    return xpu_error(diags, XPU_EBUG, graph->file, rule, xpu_printf(arena, "value '%s'", name), what, why,
                     "report this as a bug of the compiler");
}

xpu_value xpu_const_derive(xpu_graph *graph, xpu_value constant, const xpu_const_step *step, const char *name,
                           xpu_diags *diags) {
    const xpu_value_info *info = xpu_value_at(graph, constant);
    shape in = {.dtype = info->dtype, .rank = info->rank}, out;
    if (!info->constant || !xpu_value_dims(graph, constant, NULL, in.dims)) {
        bug(graph, constant, graph->arena, "const-derive", "the value is no constant", NULL, diags);
        return (xpu_value){0};
    }
    const char *problem = step_result(step, &in, &out);
    if (problem) {
        bug(graph, constant, graph->arena, "const-derive", "a step of a constant's recipe cannot be applied", problem,
            diags);
        return (xpu_value){0};
    }
    xpu_const derived = *info->constant;
    derived.steps.items = NULL;
    derived.steps.count = derived.steps.capacity = 0;
    for (uint32_t i = 0; i < info->constant->steps.count; i++) {
        XPU_PUSH(graph->arena, &derived.steps, info->constant->steps.items[i]);
    }
    xpu_const_step copy = *step;
    if (copy.factor_count) {
        copy.factors = xpu_copy(graph->arena, step->factors, step->factor_count * sizeof *step->factors);
    }
    XPU_PUSH(graph->arena, &derived.steps, copy);
    if (element_count(&out) * xpu_dtype_bytes(out.dtype) <= SMALL_BYTES) {
        void *bytes = run_recipe(&derived, graph->arena, diags);
        if (!bytes) return (xpu_value){0};
        xpu_tensor tensor = {.dtype = out.dtype, .rank = out.rank, .data = bytes};
        memcpy(tensor.dims, out.dims, sizeof tensor.dims);
        return xpu_graph_const_bytes(graph, name, &tensor);
    }
    xpu_value value = xpu_graph_const_file(graph, name, out.dtype, out.rank, out.dims, NULL, 0);
    *xpu_value_at(graph, value)->constant = derived;
    return value;
}

void *xpu_const_data(const xpu_graph *graph, xpu_value constant, xpu_arena *arena, xpu_diags *diags) {
    const xpu_value_info *info = xpu_value_at(graph, constant);
    if (!info->constant) {
        bug(graph, constant, arena, "const-data", "the value is no constant", NULL, diags);
        return NULL;
    }
    return run_recipe(info->constant, arena, diags);
}

xpu_status xpu_const_tensor(const xpu_graph *graph, xpu_value constant, xpu_arena *arena, xpu_tensor *tensor,
                            xpu_diags *diags) {
    const xpu_value_info *info = xpu_value_at(graph, constant);
    *tensor = (xpu_tensor){.dtype = info->dtype, .rank = info->rank};
    if (!xpu_value_dims(graph, constant, NULL, tensor->dims)) {
        return bug(graph, constant, arena, "const-data", "the dims of a constant are not known", NULL, diags);
    }
    size_t before = diags->errors;
    tensor->data = xpu_const_data(graph, constant, arena, diags);
    if (tensor->data) return XPU_OK;
    return diags->errors > before ? diags->items[diags->count - 1].status : XPU_EBUG;
}

/* ---- the source model ---- */

xpu_status xpu_graph_source_hash(const xpu_graph *graph, xpu_hash *hash, xpu_diags *diags) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(graph->arena), "source hash");
    xpu_hasher *hasher = xpu_hasher_new(scratch);
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; status == XPU_OK && i < graph->sources.count; i++) {
        const xpu_graph_source *from = &graph->sources.items[i];
        if (from->file)
            status = xpu_hasher_add_file(hasher, from->file, diags);
        else
            xpu_hasher_add(hasher, from->hash.bytes, sizeof from->hash.bytes);
    }
    *hash = xpu_hasher_result(hasher);
    xpu_arena_free(scratch);
    return status;
}
