#include "tests/gen/mutate_onnx.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *kind;
    uint32_t node;
    XpuOnnx__AttributeProto *attribute; /* or NULL */
    XpuOnnx__TensorProto *tensor;       /* a weight, or an epsilon that is one */
} site;

typedef struct {
    XpuOnnx__GraphProto *graph;
    xpu_arena *arena;
    uint64_t state;
    XPU_ARRAY(site) sites;
} mutator;

static uint32_t below(mutator *m, uint32_t count) {
    uint64_t z = m->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 33) % count;
}

/* ---- elements of a tensor ---- */

static int64_t count_of(const XpuOnnx__TensorProto *tensor) {
    int64_t count = 1;
    for (size_t i = 0; i < tensor->n_dims; i++) count *= tensor->dims[i];
    return count;
}

/* Its float32 elements, or NULL. */
static float *floats_of(const mutator *m, const XpuOnnx__TensorProto *tensor) {
    if (tensor->data_type != XPU_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT || count_of(tensor) < 1) return NULL;
    if (tensor->float_data) return tensor->float_data;
    if (!tensor->has_raw_data || tensor->raw_data.len != (size_t)count_of(tensor) * sizeof(float)) return NULL;
    (void)m;
    return (float *)(void *)tensor->raw_data.data;
}

/* Elements in a file lie anywhere. */
static float get(const float *data, int64_t i) {
    float value;
    memcpy(&value, (const char *)data + (size_t)i * sizeof value, sizeof value);
    return value;
}

static int is_bytes(const XpuOnnx__TensorProto *tensor) {
    return (tensor->data_type == XPU_ONNX__TENSOR_PROTO__DATA_TYPE__INT8 ||
            tensor->data_type == XPU_ONNX__TENSOR_PROTO__DATA_TYPE__UINT8) &&
           tensor->has_raw_data && count_of(tensor) > 1;
}

static int is_epsilon(const mutator *m, const XpuOnnx__TensorProto *tensor) {
    const float *data = floats_of(m, tensor);
    return data && count_of(tensor) == 1 && get(data, 0) > 0 && get(data, 0) < 1e-3f;
}

/* ---- what there is ---- */

static void add(mutator *m, const char *kind, uint32_t node, XpuOnnx__AttributeProto *attribute,
                XpuOnnx__TensorProto *tensor) {
    XPU_PUSH(m->arena, &m->sites, ((site){kind, node, attribute, tensor}));
}

/* An initializer, or what a Constant gives. */
static XpuOnnx__TensorProto *find_tensor(const mutator *m, const char *name) {
    for (size_t i = 0; i < m->graph->n_initializer; i++) {
        if (strcmp(m->graph->initializer[i]->name, name) == 0) return m->graph->initializer[i];
    }
    for (size_t i = 0; i < m->graph->n_node; i++) {
        const XpuOnnx__NodeProto *node = m->graph->node[i];
        if (strcmp(node->op_type, "Constant") != 0 || strcmp(node->output[0], name) != 0 || !node->n_attribute)
            continue;
        return node->attribute[0]->t;
    }
    return NULL;
}

static int is_used_before(const mutator *m, uint32_t end, const char *name) {
    for (uint32_t i = 0; i < end; i++) {
        for (size_t k = 0; k < m->graph->node[i]->n_input; k++) {
            if (strcmp(m->graph->node[i]->input[k], name) == 0) return 1;
        }
    }
    return 0;
}

static void add_tensors(mutator *m, uint32_t number) {
    const XpuOnnx__NodeProto *node = m->graph->node[number];
    static const char *const shapes[] = {"Resize", "Upsample", "Reshape", "Shape", "Constant", "Identity"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (strcmp(node->op_type, shapes[i]) == 0) return;
    }
    for (size_t i = 0; i < node->n_input; i++) {
        XpuOnnx__TensorProto *tensor = find_tensor(m, node->input[i]);
        if (!tensor || is_used_before(m, number, node->input[i])) continue;
        if (is_epsilon(m, tensor))
            add(m, "epsilon", number, NULL, tensor);
        else if (floats_of(m, tensor) || is_bytes(tensor))
            add(m, "weight", number, NULL, tensor);
    }
}

static int is_one_of(const char *name, const char *list) {
    const char *at = strstr(list, name);
    size_t length = strlen(name);
    return at && (at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]);
}

static void add_attributes(mutator *m, uint32_t number) {
    const XpuOnnx__NodeProto *node = m->graph->node[number];
    for (size_t i = 0; i < node->n_attribute; i++) {
        XpuOnnx__AttributeProto *a = node->attribute[i];
        if (strcmp(a->name, "epsilon") == 0)
            add(m, "epsilon", number, a, NULL);
        else if (is_one_of(a->name, "axis axes perm"))
            add(m, "axis", number, a, NULL);
        else if (strcmp(a->name, "pads") == 0 && a->n_ints >= 2)
            add(m, "pad", number, a, NULL);
        else if (is_one_of(a->name, "alpha beta gamma bias min max value transA transB keepdims count_include_pad "
                                    "dilations strides nearest_mode coordinate_transformation_mode mode direction "
                                    "exclusive reverse largest select_last_index batch_dims linear_before_reset") &&
                 !a->t)
            add(m, "attribute", number, a, NULL);
    }
}

/* ---- changes ---- */

static int change_ints(mutator *m, XpuOnnx__AttributeProto *a, const char *kind) {
    if (strcmp(kind, "pad") == 0) { /* one moves from the begin of an axis to its end, or back */
        size_t axis = below(m, (uint32_t)(a->n_ints / 2)), end = axis + a->n_ints / 2;
        size_t from = a->ints[axis] > 0 ? axis : end, to = from == axis ? end : axis;
        if (a->ints[from] == 0) return 0;
        a->ints[from]--;
        a->ints[to]++;
        return 1;
    }
    if (strcmp(a->name, "perm") == 0) {
        size_t i = below(m, (uint32_t)a->n_ints), k = below(m, (uint32_t)a->n_ints);
        int64_t kept = a->ints[i];
        a->ints[i] = a->ints[k];
        a->ints[k] = kept;
        return i != k;
    }
    a->ints[below(m, (uint32_t)a->n_ints)] += below(m, 2) ? 1 : -1;
    return 1;
}

static int change_string(mutator *m, XpuOnnx__AttributeProto *a) {
    static const char *const values[][2] = {{"asymmetric", "half_pixel"},
                                            {"half_pixel", "asymmetric"},
                                            {"align_corners", "half_pixel"},
                                            {"pytorch_half_pixel", "align_corners"},
                                            {"floor", "round_prefer_ceil"},
                                            {"round_prefer_floor", "ceil"},
                                            {"nearest", "linear"},
                                            {"linear", "nearest"},
                                            {"constant", "edge"},
                                            {"edge", "reflect"},
                                            {"reflect", "edge"},
                                            {"forward", "reverse"},
                                            {"reverse", "forward"}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (a->s.len != strlen(values[i][0]) || memcmp(a->s.data, values[i][0], a->s.len) != 0) continue;
        a->s.len = strlen(values[i][1]);
        a->s.data = xpu_copy(m->arena, values[i][1], a->s.len);
        return 1;
    }
    return 0;
}

static int change_attribute(mutator *m, const site *s) {
    XpuOnnx__AttributeProto *a = s->attribute;
    if (strcmp(s->kind, "epsilon") == 0) {
        a->f *= (float)(10 << below(m, 8));
        return 1;
    }
    if (a->n_ints) return change_ints(m, a, s->kind);
    if (a->has_s) return change_string(m, a);
    if (a->has_f) {
        a->f = a->f == 0 ? 0.25f : a->f * (below(m, 2) ? 0.75f : 1.3f);
        return 1;
    }
    if (!a->has_i) return 0;
    if (strcmp(s->kind, "axis") == 0)
        a->i += below(m, 2) ? 1 : -1;
    else
        a->i = !a->i;
    return 1;
}

/* One element moves by 5 to 50 % of the largest; an 8-bit one by 3 to 63. */
static int change_tensor(mutator *m, const site *s, xpu_mutation *made) {
    XpuOnnx__TensorProto *tensor = s->tensor;
    int64_t count = count_of(tensor), at = below(m, (uint32_t)count);
    made->what =
        xpu_printf(m->arena, "%s[%lld]", tensor->name && tensor->name[0] ? tensor->name : "constant", (long long)at);
    if (is_bytes(tensor)) {
        tensor->raw_data.data[at] ^= (uint8_t)(3 + below(m, 61));
        return 1;
    }
    float *data = floats_of(m, tensor), largest = 0;
    for (int64_t i = 0; i < count; i++) largest = fmaxf(largest, fabsf(get(data, i)));
    float value = get(data, at), by = (largest > 0 ? largest : 1) * (0.05f + 0.45f * (float)below(m, 1000) / 1000);
    value = strcmp(s->kind, "epsilon") == 0 ? value * (float)(10 << below(m, 8))
            : below(m, 2)                   ? value + by
                                            : value - by;
    memcpy((char *)data + (size_t)at * sizeof value, &value, sizeof value);
    return 1;
}

/* First the kind is drawn, then the place: weights would be nearly all. */
int xpu_mutate_onnx(XpuOnnx__GraphProto *graph, uint64_t seed, xpu_arena *arena, xpu_mutation *made) {
    static const char *const kinds[] = {"weight", "attribute", "axis", "epsilon", "pad"};
    enum { KINDS = sizeof kinds / sizeof *kinds, TRIES = 64 };
    mutator m = {.graph = graph, .arena = arena, .state = seed};
    for (uint32_t i = 0; i < graph->n_node; i++) {
        add_tensors(&m, i);
        add_attributes(&m, i);
    }
    for (int tries = 0; tries < TRIES && m.sites.count; tries++) {
        const char *kind = kinds[below(&m, KINDS)];
        const site *s = &m.sites.items[below(&m, m.sites.count)];
        for (uint32_t look = 0; strcmp(s->kind, kind) != 0 && look < 200; look++)
            s = &m.sites.items[below(&m, m.sites.count)];
        if (strcmp(s->kind, kind) != 0) continue;
        *made = (xpu_mutation){s->kind, s->node, s->attribute ? s->attribute->name : NULL};
        if (s->attribute ? change_attribute(&m, s) : change_tensor(&m, s, made)) return 1;
    }
    return 0;
}

/* ---- names ---- */

static int is_declared(const XpuOnnx__GraphProto *graph, const char *name) {
    for (size_t i = 0; i < graph->n_input; i++) {
        if (strcmp(graph->input[i]->name, name) == 0) return 1;
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        if (strcmp(graph->output[i]->name, name) == 0) return 1;
    }
    return !name[0];
}

/* Bodies see the names of the graph around them: models with bodies are left as they are. */
void xpu_rename_onnx(XpuOnnx__GraphProto *graph, xpu_arena *arena) {
    for (size_t i = 0; i < graph->n_node; i++) {
        for (size_t k = 0; k < graph->node[i]->n_attribute; k++) {
            if (graph->node[i]->attribute[k]->g) return;
        }
    }
    for (size_t i = 0; i < graph->n_node; i++) {
        XpuOnnx__NodeProto *node = graph->node[i];
        for (size_t k = 0; k < node->n_input + node->n_output; k++) {
            char **name = k < node->n_input ? &node->input[k] : &node->output[k - node->n_input];
            if (!is_declared(graph, *name)) *name = xpu_printf(arena, "renamed/%s", *name);
        }
    }
    for (size_t i = 0; i < graph->n_initializer; i++) {
        char **name = &graph->initializer[i]->name;
        if (!is_declared(graph, *name)) *name = xpu_printf(arena, "renamed/%s", *name);
    }
    graph->n_value_info = 0;
    graph->n_quantization_annotation = 0;
}
