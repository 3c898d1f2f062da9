/* Programs for one set of sizes, where the general one refuses a run: onnxruntime would have computed it. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "provider/provider.h"

enum { MOST = 64, MOST_VALUES = 256 };

int xpu_ep_wants_special(const xpu_ep_region *region, const xpurt_error *error, int *with_values) {
    *with_values = error->text && strstr(error->text, "[value-range]") != NULL;
    return region->model && error->text &&
           (*with_values || strstr(error->text, "[shape-range]") || strstr(error->text, "[shape-guard]"));
}

static int64_t count_of(const xpurt_tensor *tensor) {
    int64_t count = 1;
    for (int d = 0; d < tensor->rank; d++) count *= tensor->dims[d];
    return count;
}

static int has_values(const xpurt_tensor *tensor) {
    int64_t count = count_of(tensor);
    return tensor->rank <= 1 && count > 0 && count <= MOST_VALUES &&
           (strcmp(tensor->dtype, "int64") == 0 || strcmp(tensor->dtype, "int32") == 0);
}

/* As of xpuc: "x=1,3,48" for --shape. */
static char *shape_text(xpu_arena *arena, const xpurt_tensor *tensor) {
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, "%s=", tensor->name);
    for (int d = 0; d < tensor->rank; d++) xpu_text_add(&text, "%s%lld", d ? "," : "", (long long)tensor->dims[d]);
    return text.text;
}

/* And "shape=2,-1" for --value. */
static char *value_text(xpu_arena *arena, const xpurt_tensor *tensor) {
    int is_long = strcmp(tensor->dtype, "int64") == 0;
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, "%s=", tensor->name);
    for (int64_t i = 0; i < count_of(tensor); i++) {
        long long value = is_long ? ((const int64_t *)tensor->data)[i] : ((const int32_t *)tensor->data)[i];
        xpu_text_add(&text, "%s%lld", i ? "," : "", value);
    }
    return text.text;
}

typedef struct {
    const char **shapes, **values; /* ended by NULL */
    xpu_hash key;
} sizes;

static sizes sizes_of(const xpu_ep_region *region, xpu_arena *arena, const xpurt_tensor *inputs, int with_values) {
    uint32_t count = region->general->input_count, shapes = 0, values = 0;
    sizes made = {XPU_NEW_ARRAY(arena, const char *, count + 1), XPU_NEW_ARRAY(arena, const char *, count + 1)};
    xpu_text all;
    xpu_text_init(&all, arena);
    for (uint32_t i = 0; i < count; i++) {
        if (with_values && has_values(&inputs[i])) {
            made.values[values++] = value_text(arena, &inputs[i]);
            xpu_text_add(&all, "value %s\n", made.values[values - 1]);
        }
        if (inputs[i].rank == 0) continue;
        made.shapes[shapes++] = shape_text(arena, &inputs[i]);
        xpu_text_add(&all, "shape %s\n", made.shapes[shapes - 1]);
    }
    made.key = xpu_hash_of(all.text, all.length);
    return made;
}

/* What is not done when memory runs out. */
typedef struct {
    xpuc_result result;
    xpuc_error error;
    xpu_ep_instance *instance;
} making;

static void end_making(void *object) {
    making *m = object;
    xpuc_result_clear(&m->result);
    xpuc_error_clear(&m->error);
    xpu_ep_close_instance(m->instance);
    m->instance = NULL;
}

static xpu_ep_instance *compile(xpu_ep_region *region, xpu_arena *arena, const sizes *for_these) {
    xpuc_options options = xpu_ep_compile_options(&region->ep->options);
    making *m = XPU_NEW(arena, making);
    options.memory_rules = region->ep->options.memory_rules;
    options.shapes = for_these->shapes;
    options.values = for_these->values;
    xpu_arena_defer(arena, end_making, m);
    if (xpuc_compile_memory(region->model, region->model_size, "graph.onnx", &options, &m->result, &m->error)) {
        if (m->error.status != XPU_EMODEL && m->error.text)
            xpu_ep_log(region->ep, ORT_LOGGING_LEVEL_WARNING, m->error.text);
        end_making(m);
        return NULL;
    }
    OrtStatus *status = xpu_ep_open_instance(region, arena, m->result.bytes, m->result.size, &m->instance);
    xpu_ep_instance *instance = m->instance;
    if (status) {
        region->ep->factory->api->ReleaseStatus(status);
        instance = NULL;
    } else {
        m->instance = NULL;
        instance->key = for_these->key;
    }
    end_making(m);
    return instance;
}

/* Runs of other sizes go on meanwhile: only the list is locked, and a program may be compiled twice. */
xpu_ep_instance *xpu_ep_special(xpu_ep_region *region, xpu_arena *arena, const xpurt_tensor *inputs, int with_values) {
    sizes wanted = sizes_of(region, arena, inputs, with_values);
    pthread_mutex_lock(&region->lock);
    xpu_ep_instance *found = region->special;
    while (found && !xpu_hash_equal(&found->key, &wanted.key)) found = found->next;
    int is_full = region->special_count >= MOST;
    pthread_mutex_unlock(&region->lock);
    if (found || is_full) return found;
    found = compile(region, arena, &wanted);
    if (!found) return NULL;
    pthread_mutex_lock(&region->lock);
    found->next = region->special;
    region->special = found;
    region->special_count++;
    pthread_mutex_unlock(&region->lock);
    return found;
}
