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
    char *known; /* an error that is remembered */
} making;

static void end_making(void *object) {
    making *m = object;
    xpuc_result_clear(&m->result);
    xpuc_error_clear(&m->error);
    xpu_ep_close_instance(m->instance);
    free(m->known);
    *m = (making){.instance = NULL};
}

/* What is open when this is done is made->instance, or made->error says what is wrong with the model. */
static OrtStatus *compile(const xpu_ep_region *region, xpu_arena *arena, const sizes *for_these, making *made) {
    const OrtApi *api = region->ep->factory->api;
    xpuc_options options = xpu_ep_compile_options(&region->ep->options);
    xpu_ep_set_sizes(&region->ep->options, arena, NULL, &options);
    options.memory_rules = region->ep->options.memory_rules;
    options.shapes = for_these->shapes;
    options.values = for_these->values;
    xpuc_compile_memory(region->model, region->model_size, "graph.onnx", &options, &made->result, &made->error);
    if (made->error.status == XPU_EMODEL || made->error.status == XPU_EUSAGE) return NULL;
    if (made->error.status) return xpu_ep_fail(api, ORT_EP_FAIL, made->error.text);
    return xpu_ep_open_instance(region, arena, made->result.bytes, made->result.size, &made->instance);
}

/* What is known of these sizes: a program, or in *why a copy of an error. */
static xpu_ep_instance *find(const xpu_ep_region *region, const xpu_hash *key, char **why) {
    xpu_ep_instance *found = region->special;
    while (found && !xpu_hash_equal(&found->key, key)) found = found->next;
    for (uint32_t i = 0; !found && !*why && i < XPU_EP_FAILURES; i++) { /* two runs may have met the same one */
        const xpu_ep_failure *failure = &region->failures[i];
        if (failure->text && xpu_hash_equal(&failure->key, key)) *why = strdup(failure->text);
    }
    return found;
}

static void remember(xpu_ep_region *region, const xpu_hash *key, char *text) {
    xpu_ep_failure *place = &region->failures[region->failure_count++ % XPU_EP_FAILURES];
    free(place->text);
    *place = (xpu_ep_failure){*key, text};
}

/* Runs of other sizes go on meanwhile: only the lists are locked, and a program may be compiled twice. */
OrtStatus *xpu_ep_special(xpu_ep_region *region, xpu_arena *arena, const xpurt_tensor *inputs, int with_values,
                          const xpu_ep_instance **instance, const char **why) {
    *instance = NULL;
    *why = NULL;
    for (uint32_t i = 0; i < region->general->input_count; i++) {
        if (count_of(&inputs[i]) == 0) return NULL; /* no program has such a size */
    }
    sizes wanted = sizes_of(region, arena, inputs, with_values);
    making *m = XPU_NEW(arena, making);
    xpu_arena_defer(arena, end_making, m);
    pthread_mutex_lock(&region->lock); /* no memory of the arena until it is unlocked */
    *instance = find(region, &wanted.key, &m->known);
    int is_full = region->special_count >= MOST;
    pthread_mutex_unlock(&region->lock);
    *why = m->known ? xpu_strdup(arena, m->known) : NULL;
    if (*instance || *why || is_full) return NULL;
    XPU_TRY(compile(region, arena, &wanted, m));
    if (!m->instance && m->error.text) *why = xpu_strdup(arena, m->error.text);
    pthread_mutex_lock(&region->lock);
    if (m->instance) {
        m->instance->key = wanted.key;
        m->instance->next = region->special;
        *instance = region->special = m->instance;
        region->special_count++;
        m->instance = NULL;
    } else if (m->error.text) {
        remember(region, &wanted.key, m->error.text);
        m->error.text = NULL;
    }
    pthread_mutex_unlock(&region->lock);
    end_making(m);
    return NULL;
}
