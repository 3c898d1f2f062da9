/* A region of a graph at run time: a session of libxpurt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/tensor.h"
#include "provider/provider.h"
#include "xpu_runtime/include/xpurt_func.h"
#include "xpu_runtime/include/xpurt_rtl.h"

/* onnxruntime's element types, as NumPy names them; NULL: the chip has none such. */
static const char *type_name(ONNXTensorElementDataType type) {
    switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT: return xpu_dtype_name(XPU_F32);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE: return xpu_dtype_name(XPU_F64);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16: return xpu_dtype_name(XPU_F16);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16: return xpu_dtype_name(XPU_BF16);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8: return xpu_dtype_name(XPU_I8);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8: return xpu_dtype_name(XPU_U8);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16: return xpu_dtype_name(XPU_I16);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16: return xpu_dtype_name(XPU_U16);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32: return xpu_dtype_name(XPU_I32);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32: return xpu_dtype_name(XPU_U32);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64: return xpu_dtype_name(XPU_I64);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64: return xpu_dtype_name(XPU_U64);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL: return xpu_dtype_name(XPU_BOOL);
    default: return NULL;
    }
}

/* ---- opening ---- */

static uint32_t find_name(const char *const *names, size_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) return i;
    }
    return XPU_EP_NONE;
}

static OrtStatus *names_of(const OrtApi *api, xpu_arena *arena, const OrtNode *node, int of_outputs,
                           const char ***names, size_t *count) {
    XPU_TRY(of_outputs ? api->Node_GetNumOutputs(node, count) : api->Node_GetNumInputs(node, count));
    const OrtValueInfo **infos = XPU_NEW_ARRAY(arena, const OrtValueInfo *, *count + 1);
    *names = XPU_NEW_ARRAY(arena, const char *, *count + 1);
    if (*count)
        XPU_TRY(of_outputs ? api->Node_GetOutputs(node, infos, *count) : api->Node_GetInputs(node, infos, *count));
    for (size_t i = 0; i < *count; i++) {
        (*names)[i] = "";
        if (infos[i]) XPU_TRY(api->GetValueInfoName(infos[i], &(*names)[i]));
    }
    return NULL;
}

/* Where each of the program's inputs, or outputs, stands at the node: by its name. */
static OrtStatus *match(const xpu_ep_region *region, xpu_arena *arena, const OrtNode *fused, int of_outputs,
                        uint32_t *places, uint32_t count) {
    const OrtApi *api = region->ep->factory->api;
    const char **names;
    size_t name_count;
    XPU_TRY(names_of(api, arena, fused, of_outputs, &names, &name_count));
    for (uint32_t i = 0; i < count; i++) {
        xpurt_tensor tensor;
        (of_outputs ? xpurt_output : xpurt_input)(region->program, i, &tensor);
        places[i] = find_name(names, name_count, tensor.name ? tensor.name : "");
        if (places[i] != XPU_EP_NONE) continue;
        return xpu_ep_fail(api, ORT_EP_FAIL,
                           xpu_printf(arena,
                                      "error [provider-names] node '%s' is not that of its program\n  why: the "
                                      "program has '%s', the node not\n  hint: make the EPContext model again",
                                      region->name, xpu_escape(arena, tensor.name ? tensor.name : "", 100)));
    }
    return NULL;
}

static OrtStatus *load_driver(xpu_ep_region *region, xpurt_run_options *options) {
    const OrtApi *api = region->ep->factory->api;
    options->device = region->ep->driver;
    if (strcmp(region->ep->options.device, "rtl") != 0) return NULL;
    xpurt_error error;
    char chip[100] = "";
    const char *json = xpurt_chip_json(region->program), *name = json ? strstr(json, "\"name\"") : NULL;
    if (name) sscanf(name, "\"name\" : \"%99[^\"]", chip);
    if (name && !chip[0]) sscanf(name, "\"name\": \"%99[^\"]", chip);
    options->device = xpurt_rtl_load(chip, NULL, NULL, &error);
    OrtStatus *status = options->device ? NULL : xpu_ep_fail(api, ORT_EP_FAIL, error.text);
    xpurt_error_clear(&error);
    return status;
}

/* Those that the node has: of one that no run can give, the program's value is right. */
static OrtStatus *set_fixed(xpu_ep_region *region, xpu_arena *arena, const OrtNode *fused,
                            const xpu_ep_program *program) {
    const OrtApi *api = region->ep->factory->api;
    const char **names;
    size_t count;
    XPU_TRY(names_of(api, arena, fused, 0, &names, &count));
    region->fixed = calloc(program->fixed_count + 1, sizeof *region->fixed);
    if (!region->fixed) return xpu_ep_fail(api, ORT_EP_FAIL, NULL);
    for (uint32_t i = 0; i < program->fixed_count; i++) {
        xpu_ep_fixed fixed = program->fixed[i];
        fixed.input = find_name(names, count, fixed.name);
        if (fixed.input == XPU_EP_NONE) continue;
        fixed.name = strdup(fixed.name);
        region->fixed[region->fixed_count++] = fixed;
    }
    return NULL;
}

static OrtStatus *fill(xpu_ep_region *region, xpu_arena *arena, const OrtNode *fused, const xpu_ep_program *program) {
    const OrtApi *api = region->ep->factory->api;
    const char *name;
    xpurt_error error;
    xpurt_run_options options = {.device = NULL};
    XPU_TRY(api->Node_GetName(fused, &name));
    region->name = strdup(name);
    region->program = xpurt_open_memory(program->bytes, program->size, region->name, &error);
    if (region->program) {
        XPU_TRY(load_driver(region, &options));
        region->session = xpurt_session_open(region->program, &options, &error);
    }
    if (!region->session) {
        OrtStatus *status = xpu_ep_fail(api, ORT_EP_FAIL, error.text);
        xpurt_error_clear(&error);
        return status;
    }
    region->input_count = xpurt_input_count(region->program);
    region->output_count = xpurt_output_count(region->program);
    region->inputs = calloc(region->input_count + 1, sizeof *region->inputs);
    region->outputs = calloc(region->output_count + 1, sizeof *region->outputs);
    if (!region->name || !region->inputs || !region->outputs) return xpu_ep_fail(api, ORT_EP_FAIL, NULL);
    XPU_TRY(set_fixed(region, arena, fused, program));
    XPU_TRY(match(region, arena, fused, 0, region->inputs, region->input_count));
    return match(region, arena, fused, 1, region->outputs, region->output_count);
}

void xpu_ep_close_region(xpu_ep_region *region) {
    if (!region) return;
    xpurt_session_close(region->session);
    xpurt_close(region->program);
    for (uint32_t i = 0; i < region->fixed_count; i++) free(region->fixed[i].name);
    free(region->fixed);
    free(region->inputs);
    free(region->outputs);
    free(region->name);
    free(region);
}

/* ---- running ---- */

typedef struct {
    xpu_ep_region *region;
    OrtKernelContext *kernel;
} run;

static OrtStatus *read_input(const run *r, xpu_arena *arena, uint32_t index, xpurt_tensor *tensor) {
    const OrtApi *api = r->region->ep->factory->api;
    const OrtValue *value = NULL;
    OrtTensorTypeAndShapeInfo *info = NULL;
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    size_t rank = 0;
    XPU_TRY(api->KernelContext_GetInput(r->kernel, r->region->inputs[index], &value));
    xpurt_input(r->region->program, index, tensor);
    if (!value) return xpu_ep_fail(api, ORT_INVALID_ARGUMENT, xpu_printf(arena, "input '%s' is missing", tensor->name));
    XPU_TRY(api->GetTensorTypeAndShape(value, &info));
    OrtStatus *status = api->GetTensorElementType(info, &type);
    if (!status) status = api->GetDimensionsCount(info, &rank);
    if (!status && rank <= XPU_MAX_RANK) status = api->GetDimensions(info, tensor->dims, rank);
    api->ReleaseTensorTypeAndShapeInfo(info);
    if (status) return status;
    tensor->dtype = type_name(type);
    tensor->rank = (int)rank;
    if (rank > XPU_MAX_RANK || !tensor->dtype) {
        return xpu_ep_fail(api, ORT_INVALID_ARGUMENT,
                           xpu_printf(arena, "input '%s' is of a type or rank that the chip has not", tensor->name));
    }
    return api->GetTensorMutableData((OrtValue *)(uintptr_t)value, &tensor->data); /* it is only read */
}

/* The program has the model's own value. */
static OrtStatus *check_fixed(const run *r, xpu_arena *arena, const xpu_ep_fixed *fixed) {
    const OrtApi *api = r->region->ep->factory->api;
    const OrtValue *value = NULL;
    void *data = NULL;
    size_t size = 0;
    XPU_TRY(api->KernelContext_GetInput(r->kernel, fixed->input, &value));
    if (!value) return NULL;
    XPU_TRY(api->GetTensorSizeInBytes(value, &size));
    XPU_TRY(api->GetTensorMutableData((OrtValue *)(uintptr_t)value, &data));
    xpu_hash hash = xpu_hash_of(data, size);
    if (xpu_hash_equal(&hash, &fixed->hash)) return NULL;
    return xpu_ep_fail(api, ORT_INVALID_ARGUMENT,
                       xpu_printf(arena,
                                  "error [provider-default] input '%s' cannot be replaced\n  why: it has a value in "
                                  "the model, which the compiled program was made with\n  hint: leave it out, or "
                                  "take its value out of the model",
                                  xpu_escape(arena, fixed->name, 100)));
}

static OrtStatus *write_output(const run *r, uint32_t index, const xpurt_tensor *tensor) {
    const OrtApi *api = r->region->ep->factory->api;
    OrtValue *value = NULL;
    void *data = NULL;
    size_t bytes = 0;
    XPU_TRY(
        api->KernelContext_GetOutput(r->kernel, r->region->outputs[index], tensor->dims, (size_t)tensor->rank, &value));
    XPU_TRY(api->GetTensorSizeInBytes(value, &bytes));
    XPU_TRY(api->GetTensorMutableData(value, &data));
    if (bytes) memcpy(data, tensor->data, bytes);
    return NULL;
}

/* One line of JSON more. Runs of several threads write whole lines. */
static OrtStatus *add_profile(const run *r, xpu_arena *arena, unsigned number, const char *stats) {
    const char *path = r->region->ep->options.profile;
    xpu_text line;
    xpu_text_init(&line, arena);
    xpu_text_add(&line, "{\"region\": \"%s\", \"run\": %u, \"stats\": ", xpu_escape(arena, r->region->name, 200),
                 number);
    for (const char *c = stats; *c; c++) {
        if (*c != '\n') xpu_text_add_bytes(&line, c, 1);
    }
    xpu_text_add(&line, "}\n");
    FILE *file = fopen(path, "a");
    int is_written = file && fwrite(line.text, 1, line.length, file) == line.length;
    if (file && fclose(file) != 0) is_written = 0;
    return is_written ? NULL
                      : xpu_ep_fail(r->region->ep->factory->api, ORT_EP_FAIL,
                                    xpu_printf(arena, "error [io-write] the profile cannot be written to '%s'", path));
}

static OrtStatus *execute(const run *r, xpu_arena *arena, const xpurt_tensor *inputs, xpurt_tensor *outputs) {
    const xpu_ep_options *wanted = &r->region->ep->options;
    const OrtApi *api = r->region->ep->factory->api;
    unsigned number = atomic_fetch_add(&r->region->runs, 1);
    char *stats = NULL;
    xpurt_error error;
    xpurt_run_options options = {.stats = wanted->profile ? &stats : NULL};
    if (wanted->dump) {
        mkdir(wanted->dump, 0777);
        options.dump_folder = xpu_printf(arena, "%s/%s-%u", wanted->dump, r->region->name, number);
    }
    int failed = xpurt_session_run(r->region->session, inputs, r->region->input_count, outputs, &options, &error);
    OrtStatus *status = failed ? xpu_ep_fail(api, ORT_EP_FAIL, error.text) : NULL;
    if (!failed && stats) status = add_profile(r, arena, number, stats);
    xpurt_error_clear(&error);
    free(stats);
    return status;
}

static OrtStatus *run_region(void *context, xpu_arena *arena) {
    const run *r = context;
    xpurt_tensor *inputs = XPU_NEW_ARRAY(arena, xpurt_tensor, r->region->input_count + 1);
    xpurt_tensor *outputs = XPU_NEW_ARRAY(arena, xpurt_tensor, r->region->output_count + 1);
    for (uint32_t i = 0; i < r->region->input_count; i++) XPU_TRY(read_input(r, arena, i, &inputs[i]));
    for (uint32_t i = 0; i < r->region->fixed_count; i++) XPU_TRY(check_fixed(r, arena, &r->region->fixed[i]));
    XPU_TRY(execute(r, arena, inputs, outputs));
    OrtStatus *status = NULL;
    for (uint32_t i = 0; i < r->region->output_count; i++) {
        if (!status) status = write_output(r, i, &outputs[i]);
        xpurt_tensor_clear(&outputs[i]);
    }
    return status;
}

static OrtStatus *ORT_API_CALL compute(OrtNodeComputeInfo *info, void *state, OrtKernelContext *kernel) {
    xpu_ep_region *region = state;
    (void)info;
    return xpu_ep_guarded(region->ep->factory->api, run_region, &(run){region, kernel});
}

static OrtStatus *ORT_API_CALL create_state(OrtNodeComputeInfo *info, OrtNodeComputeContext *context, void **state) {
    (void)context;
    *state = info;
    return NULL;
}

static void ORT_API_CALL release_state(OrtNodeComputeInfo *info, void *state) {
    (void)info, (void)state;
}

OrtStatus *xpu_ep_open_region(xpu_ep *ep, xpu_arena *arena, const OrtNode *fused, const xpu_ep_program *program,
                              xpu_ep_region **result) {
    xpu_ep_region *region = calloc(1, sizeof *region);
    *result = NULL;
    if (!region) return xpu_ep_fail(ep->factory->api, ORT_EP_FAIL, NULL);
    region->base = (OrtNodeComputeInfo){.ort_version_supported = XPU_EP_API,
                                        .CreateState = create_state,
                                        .Compute = compute,
                                        .ReleaseState = release_state};
    region->ep = ep;
    OrtStatus *status = fill(region, arena, fused, program);
    if (status)
        xpu_ep_close_region(region);
    else
        *result = region;
    return status;
}
