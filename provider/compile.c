/* Compile: from regions of a graph to sessions, by way of libxpuc or of EPContext nodes. */
#include <stdlib.h>

#include "provider/provider.h"

static const xpu_ep_compiled *find_compiled(const xpu_ep *ep, const xpu_hash *key) {
    for (const xpu_ep_compiled *c = ep->compiled; c; c = c->next) {
        if (xpu_hash_equal(&c->key, key)) return c;
    }
    return NULL;
}

void xpu_ep_free_compiled(xpu_ep *ep) {
    while (ep->compiled) {
        xpu_ep_compiled *next = ep->compiled->next;
        xpuc_result_clear(&ep->compiled->result);
        free(ep->compiled->messages);
        free(ep->compiled);
        ep->compiled = next;
    }
}

void xpu_ep_compile_once(xpu_ep *ep, xpu_arena *arena, const xpu_ep_model *model, const xpu_ep_compiled **compiled,
                         xpuc_error *error) {
    xpu_hash key = xpu_hash_of(model->bytes, model->size);
    *error = (xpuc_error){.status = 0};
    *compiled = find_compiled(ep, &key);
    if (*compiled) return;
    xpuc_options options = xpu_ep_compile_options(&ep->options);
    options.memory_rules = ep->options.memory_rules;
    xpu_ep_set_sizes(&ep->options, arena, model, &options);
    xpu_ep_compiled *made = calloc(1, sizeof *made);
    if (!made) {
        error->status = 3; /* no text: memory ran out */
        return;
    }
    if (xpuc_compile_memory(model->bytes, model->size, "graph.onnx", &options, &made->result, error)) {
        free(made);
        return;
    }
    made->key = key;
    made->next = ep->compiled;
    made->messages = error->json;
    error->json = NULL;
    *compiled = ep->compiled = made;
}

typedef struct {
    xpu_ep *ep;
    const OrtGraph *graph;
    const OrtNode *fused;
    OrtNodeComputeInfo **info;
    OrtNode **context;
} job;

static OrtStatus *list_fixed(const xpu_ep_graph *graph, const xpu_ep_model *model, xpu_ep_program *program) {
    const OrtApi *api = graph->factory->api;
    program->fixed = XPU_NEW_ARRAY(graph->arena, xpu_ep_fixed, model->default_count + 1);
    for (uint32_t i = 0; i < model->default_count; i++) {
        const xpu_ep_value *from = &graph->values.items[model->defaults[i]];
        const OrtValue *value = NULL;
        void *data = NULL;
        size_t size = 0;
        XPU_TRY(api->ValueInfo_GetInitializerValue(from->info, &value));
        XPU_TRY(api->GetTensorSizeInBytes(value, &size));
        XPU_TRY(api->GetTensorMutableData((OrtValue *)(uintptr_t)value, &data)); /* it is only read */
        program->fixed[program->fixed_count++] =
            (xpu_ep_fixed){.name = xpu_strdup(graph->arena, from->name), .hash = xpu_hash_of(data, size)};
    }
    return NULL;
}

static OrtStatus *compile_region(const job *j, xpu_arena *arena, xpu_ep_graph *graph, xpu_ep_region **region) {
    const OrtApi *api = j->ep->factory->api;
    uint32_t *region_of = XPU_NEW_ARRAY(arena, uint32_t, graph->node_count + 1);
    xpu_ep_model model;
    const xpu_ep_compiled *compiled;
    xpuc_error error;
    for (uint32_t i = 0; i < graph->node_count; i++) region_of[i] = 1;
    XPU_TRY(xpu_ep_write_model(graph, region_of, 1, &model));
    if (!model.bytes) {
        for (uint32_t i = 0; i < graph->node_count; i++) {
            if (graph->nodes[i].why_not) return xpu_ep_fail(api, ORT_EP_FAIL, graph->nodes[i].why_not);
        }
    }
    xpu_ep_compile_once(j->ep, arena, &model, &compiled, &error);
    OrtStatus *status = error.status ? xpu_ep_fail(api, ORT_EP_FAIL, error.text) : NULL;
    xpuc_error_clear(&error);
    if (status) return status;
    xpu_ep_program program = {.bytes = compiled->result.bytes, .size = compiled->result.size, .model = &model};
    XPU_TRY(list_fixed(graph, &model, &program));
    XPU_TRY(xpu_ep_open_region(j->ep, arena, j->fused, &program, region));
    if (!j->ep->options.makes_context || !j->context) return NULL;
    return xpu_ep_make_context(j->ep, arena, j->graph, j->fused, &program, j->context);
}

static void close_held(void *object) {
    xpu_ep_close_region(*(xpu_ep_region **)object);
}

static OrtStatus *do_job(void *context, xpu_arena *arena) {
    const job *j = context;
    const OrtApi *api = j->ep->factory->api;
    xpu_ep_region **held = XPU_NEW(arena, xpu_ep_region *); /* closed with the arena, unless the job is done */
    xpu_arena_defer(arena, close_held, held);
    xpu_ep_graph graph;
    int is_context = 0;
    XPU_TRY(xpu_ep_read_graph(j->ep->factory, arena, j->graph, &graph));
    if (graph.node_count == 1) XPU_TRY(xpu_ep_is_context(api, arena, graph.nodes[0].node, &is_context));
    if (is_context) {
        xpu_ep_program program;
        XPU_TRY(xpu_ep_read_context(api, arena, j->graph, graph.nodes[0].node, &program));
        XPU_TRY(xpu_ep_open_region(j->ep, arena, j->fused, &program, held));
        XPU_TRY(xpu_ep_check_kept(j->ep, arena, &program));
    } else {
        XPU_TRY(compile_region(j, arena, &graph, held));
    }
    *j->info = &(*held)->base;
    *held = NULL;
    return NULL;
}

static OrtStatus *compile_all(xpu_ep *ep, const OrtGraph **graphs, const OrtNode **fused, size_t count,
                              OrtNodeComputeInfo **infos, OrtNode **contexts) {
    for (size_t i = 0; i < count; i++) infos[i] = NULL;
    for (size_t i = 0; i < count; i++) {
        job j = {ep, graphs[i], fused[i], &infos[i], contexts ? &contexts[i] : NULL};
        OrtStatus *status = xpu_ep_guarded(ep->factory->api, do_job, &j);
        if (!status) continue;
        xpu_ep_release_infos(&ep->base, infos, i);
        for (size_t k = 0; k < i; k++) infos[k] = NULL;
        return status;
    }
    return NULL;
}

/* Sessions have copies of their programs. */
OrtStatus *ORT_API_CALL xpu_ep_compile(OrtEp *base, const OrtGraph **graphs, const OrtNode **fused, size_t count,
                                       OrtNodeComputeInfo **infos, OrtNode **contexts) {
    xpu_ep *ep = (xpu_ep *)base;
    OrtStatus *status = ep->refusal;
    ep->refusal = NULL;
    if (!status) status = compile_all(ep, graphs, fused, count, infos, contexts);
    xpu_ep_free_compiled(ep);
    return status;
}

void ORT_API_CALL xpu_ep_release_infos(OrtEp *base, OrtNodeComputeInfo **infos, size_t count) {
    (void)base;
    for (size_t i = 0; i < count; i++) xpu_ep_close_region((xpu_ep_region *)infos[i]);
}
