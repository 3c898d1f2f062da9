/* A program of a region that is open: a session, and where its inputs and outputs stand. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/json.h"
#include "provider/provider.h"
#include "xpu_runtime/include/xpurt_rtl.h"

uint32_t xpu_ep_find_name(char *const *names, size_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) return i;
    }
    return XPU_EP_NONE;
}

static OrtStatus *fail_match(const xpu_ep_region *region, xpu_arena *arena, const char *name, const char *why) {
    return xpu_ep_fail(region->ep->factory->api, ORT_EP_FAIL,
                       xpu_printf(arena,
                                  "error [provider-names] node '%s' is not that of its program\n  why: '%s' %s\n"
                                  "  hint: make the EPContext model again",
                                  region->name, xpu_escape(arena, name, 100), why));
}

/* Where each of the program's inputs, or outputs, stands at the node: by its name. The program gives all outputs. */
static OrtStatus *match(const xpu_ep_region *region, const xpu_ep_instance *instance, xpu_arena *arena, int of_outputs,
                        uint32_t *places, uint32_t count) {
    uint8_t *is_given = XPU_NEW_ARRAY(arena, uint8_t, region->counts[of_outputs] + 1);
    for (uint32_t i = 0; i < count; i++) {
        xpurt_tensor tensor;
        (of_outputs ? xpurt_output : xpurt_input)(instance->program, i, &tensor);
        const char *name = tensor.name ? tensor.name : "";
        places[i] = xpu_ep_find_name(region->names[of_outputs], region->counts[of_outputs], name);
        if (places[i] == XPU_EP_NONE) return fail_match(region, arena, name, "is in the program, not at the node");
        const char *type = region->types[of_outputs][places[i]];
        if (!type || !tensor.dtype || strcmp(type, tensor.dtype) != 0)
            return fail_match(region, arena, name, "is of another type in the program");
        is_given[places[i]] = 1;
    }
    for (size_t i = 0; of_outputs && i < region->counts[1]; i++) {
        const char *name = region->names[1][i];
        if (name[0] && !is_given[i]) return fail_match(region, arena, name, "is at the node, not in the program");
    }
    return NULL;
}

const char *xpu_ep_chip_name(const xpu_ep_instance *instance, xpu_arena *arena) {
    json_t *chip = xpu_json_own(arena, json_loads(xpurt_chip_json(instance->program), 0, NULL));
    const char *name = json_string_value(json_object_get(chip, "name"));
    return name ? name : "";
}

static OrtStatus *find_device(const xpu_ep_region *region, xpu_arena *arena, const xpu_ep_instance *instance,
                              xpurt_run_options *options) {
    const OrtApi *api = region->ep->factory->api;
    options->device = region->ep->driver;
    if (strcmp(region->ep->options.device, "rtl") != 0) return NULL;
    xpurt_error error;
    options->device = xpurt_rtl_load(xpu_ep_chip_name(instance, arena), NULL, NULL, &error);
    OrtStatus *status = options->device ? NULL : xpu_ep_fail(api, ORT_EP_FAIL, error.text);
    xpurt_error_clear(&error);
    return status;
}

static OrtStatus *fill(const xpu_ep_region *region, xpu_arena *arena, const void *bytes, size_t size,
                       xpu_ep_instance *instance) {
    const OrtApi *api = region->ep->factory->api;
    xpurt_error error;
    xpurt_run_options options = {.device = NULL};
    instance->program = xpurt_open_memory(bytes, size, region->name, &error);
    if (instance->program) {
        XPU_TRY(find_device(region, arena, instance, &options));
        instance->session = xpurt_session_open(instance->program, &options, &error);
    }
    if (!instance->session) {
        OrtStatus *status = xpu_ep_fail(api, ORT_EP_FAIL, error.text);
        xpurt_error_clear(&error);
        return status;
    }
    instance->input_count = xpurt_input_count(instance->program);
    instance->output_count = xpurt_output_count(instance->program);
    instance->inputs = calloc(instance->input_count + 1, sizeof *instance->inputs);
    instance->outputs = calloc(instance->output_count + 1, sizeof *instance->outputs);
    if (!instance->inputs || !instance->outputs) return xpu_ep_fail(api, ORT_EP_FAIL, NULL);
    XPU_TRY(match(region, instance, arena, 0, instance->inputs, instance->input_count));
    return match(region, instance, arena, 1, instance->outputs, instance->output_count);
}

OrtStatus *xpu_ep_open_instance(const xpu_ep_region *region, xpu_arena *arena, const void *bytes, size_t size,
                                xpu_ep_instance **result) {
    xpu_ep_instance *instance = calloc(1, sizeof *instance);
    *result = NULL;
    if (!instance) return xpu_ep_fail(region->ep->factory->api, ORT_EP_FAIL, NULL);
    *result = instance;
    return fill(region, arena, bytes, size, instance);
}

void xpu_ep_close_instance(xpu_ep_instance *instance) {
    if (!instance) return;
    xpurt_session_close(instance->session);
    xpurt_close(instance->program);
    free(instance->inputs);
    free(instance->outputs);
    free(instance);
}
