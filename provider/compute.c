/* A region of a graph at run time: a session of libxpurt. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/tensor.h"
#include "provider/provider.h"

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

/* NULL: no tensor of the chip. */
static OrtStatus *find_type(const OrtApi *api, const OrtValueInfo *value, const char **type) {
    const OrtTypeInfo *of_value = NULL;
    const OrtTensorTypeAndShapeInfo *info = NULL;
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    XPU_TRY(api->GetValueInfoTypeInfo(value, &of_value));
    if (of_value) XPU_TRY(api->CastTypeInfoToTensorInfo(of_value, &info));
    if (info) XPU_TRY(api->GetTensorElementType(info, &element));
    *type = type_name(element);
    return NULL;
}

static OrtStatus *copy_names(xpu_ep_region *region, xpu_arena *arena, const OrtNode *node, int of_outputs) {
    const OrtApi *api = region->ep->factory->api;
    size_t count;
    XPU_TRY(of_outputs ? api->Node_GetNumOutputs(node, &count) : api->Node_GetNumInputs(node, &count));
    const OrtValueInfo **infos = XPU_NEW_ARRAY(arena, const OrtValueInfo *, count + 1);
    if (count) XPU_TRY(of_outputs ? api->Node_GetOutputs(node, infos, count) : api->Node_GetInputs(node, infos, count));
    region->names[of_outputs] = calloc(count + 1, sizeof **region->names);
    region->types[of_outputs] = calloc(count + 1, sizeof **region->types);
    if (!region->names[of_outputs] || !region->types[of_outputs]) return xpu_ep_fail(api, ORT_EP_FAIL, NULL);
    for (size_t i = 0; i < count; i++) {
        const char *name = "";
        if (infos[i]) XPU_TRY(api->GetValueInfoName(infos[i], &name));
        if (infos[i]) XPU_TRY(find_type(api, infos[i], &region->types[of_outputs][i]));
        region->names[of_outputs][i] = strdup(name);
        if (!region->names[of_outputs][i]) return xpu_ep_fail(api, ORT_EP_FAIL, NULL);
        region->counts[of_outputs] = i + 1;
    }
    return NULL;
}

/* Those that the node has: of one that no run can give, the program's value is right. */
static OrtStatus *set_fixed(xpu_ep_region *region, const xpu_ep_program *program) {
    region->fixed = calloc(program->fixed_count + 1, sizeof *region->fixed);
    if (!region->fixed) return xpu_ep_fail(region->ep->factory->api, ORT_EP_FAIL, NULL);
    for (uint32_t i = 0; i < program->fixed_count; i++) {
        xpu_ep_fixed fixed = program->fixed[i];
        fixed.input = xpu_ep_find_name(region->names[0], region->counts[0], fixed.name);
        if (fixed.input == XPU_EP_NONE) continue;
        fixed.name = region->names[0][fixed.input];
        region->fixed[region->fixed_count++] = fixed;
    }
    return NULL;
}

/* Whether runs differ in sizes, or in what decides sizes. */
static int is_open(const xpu_ep_instance *instance) {
    for (uint32_t i = 0; i < instance->input_count; i++) {
        xpurt_tensor tensor;
        xpurt_input(instance->program, i, &tensor);
        if (tensor.dtype && strncmp(tensor.dtype, "int", 3) == 0) return 1;
        for (int d = 0; d < tensor.rank; d++) {
            if (tensor.dims[d] < 0) return 1;
        }
    }
    return 0;
}

static OrtStatus *fill(xpu_ep_region *region, xpu_arena *arena, const OrtNode *fused, xpu_ep_program *program) {
    const OrtApi *api = region->ep->factory->api;
    const char *name;
    XPU_TRY(api->Node_GetName(fused, &name));
    region->name = strdup(name);
    if (!region->name) return xpu_ep_fail(api, ORT_EP_FAIL, NULL);
    XPU_TRY(copy_names(region, arena, fused, 0));
    XPU_TRY(copy_names(region, arena, fused, 1));
    XPU_TRY(set_fixed(region, program));
    XPU_TRY(xpu_ep_open_instance(region, arena, program->bytes, program->size, &region->general));
    program->chip = xpu_ep_chip_name(region->general, arena);
    program->chip_json = xpurt_chip_json(region->general->program);
    if (!program->model || !is_open(region->general)) return NULL;
    region->model = malloc(program->model->size);
    if (!region->model) return xpu_ep_fail(api, ORT_EP_FAIL, NULL);
    memcpy(region->model, program->model->bytes, program->model->size);
    region->model_size = program->model->size;
    return NULL;
}

void xpu_ep_close_region(xpu_ep_region *region) {
    if (!region) return;
    xpu_ep_close_instance(region->general);
    while (region->special) {
        xpu_ep_instance *next = region->special->next;
        xpu_ep_close_instance(region->special);
        region->special = next;
    }
    for (uint32_t i = 0; i < XPU_EP_FAILURES; i++) free(region->failures[i].text);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < region->counts[side]; i++) free(region->names[side][i]);
        free(region->names[side]);
        free(region->types[side]);
    }
    pthread_mutex_destroy(&region->lock);
    free(region->fixed);
    free(region->model);
    free(region->name);
    free(region);
}

/* ---- running ---- */

/* What libxpurt gives to a run; released with the run's arena, also where memory runs out. */
typedef struct {
    xpurt_tensor *outputs;
    uint32_t output_count;
    xpurt_error error;
    char *stats;
} given;

static void release_given(void *object) {
    given *g = object;
    for (uint32_t i = 0; i < g->output_count; i++) xpurt_tensor_clear(&g->outputs[i]);
    xpurt_error_clear(&g->error);
    free(g->stats);
}

typedef struct {
    xpu_ep_region *region;
    OrtKernelContext *kernel;
    given *given;
} run;

static OrtStatus *read_input(const run *r, xpu_arena *arena, const xpu_ep_instance *instance, uint32_t index,
                             xpurt_tensor *tensor) {
    const OrtApi *api = r->region->ep->factory->api;
    const OrtValue *value = NULL;
    OrtTensorTypeAndShapeInfo *info = NULL;
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    size_t rank = 0;
    XPU_TRY(api->KernelContext_GetInput(r->kernel, instance->inputs[index], &value));
    xpurt_input(instance->program, index, tensor);
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

static size_t bytes_of(const xpurt_tensor *tensor) {
    size_t bytes = 0;
    for (int i = XPU_F32; i < XPU_DTYPE_COUNT; i++) {
        if (strcmp(xpu_dtype_name((xpu_dtype)i), tensor->dtype) == 0) bytes = xpu_dtype_bytes((xpu_dtype)i);
    }
    for (int d = 0; d < tensor->rank; d++) bytes *= (size_t)tensor->dims[d];
    return bytes;
}

static OrtStatus *write_output(const run *r, xpu_arena *arena, uint32_t place, const xpurt_tensor *tensor) {
    const OrtApi *api = r->region->ep->factory->api;
    OrtValue *value = NULL;
    void *data = NULL;
    size_t bytes = 0;
    XPU_TRY(api->KernelContext_GetOutput(r->kernel, place, tensor->dims, (size_t)tensor->rank, &value));
    XPU_TRY(api->GetTensorSizeInBytes(value, &bytes));
    XPU_TRY(api->GetTensorMutableData(value, &data));
    if (bytes != bytes_of(tensor)) {
        return xpu_ep_fail(api, ORT_EP_FAIL,
                           xpu_printf(arena,
                                      "error [provider-names] output '%s' is not that of its program\n  why: it has "
                                      "another size\n  hint: make the EPContext model again",
                                      xpu_escape(arena, tensor->name, 100)));
    }
    if (bytes) memcpy(data, tensor->data, bytes);
    return NULL;
}

/* One line of JSON more, in one write at the file's end: runs of other threads and processes do not come between. */
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
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int is_written = file >= 0 && write(file, line.text, line.length) == (ssize_t)line.length;
    if (file >= 0 && close(file) != 0) is_written = 0;
    return is_written ? NULL
                      : xpu_ep_fail(r->region->ep->factory->api, ORT_EP_FAIL,
                                    xpu_printf(arena, "error [io-write] the profile cannot be written to '%s'", path));
}

static OrtStatus *read_inputs(const run *r, xpu_arena *arena, const xpu_ep_instance *instance, xpurt_tensor **inputs) {
    *inputs = XPU_NEW_ARRAY(arena, xpurt_tensor, instance->input_count + 1);
    for (uint32_t i = 0; i < instance->input_count; i++) XPU_TRY(read_input(r, arena, instance, i, &(*inputs)[i]));
    return NULL;
}

/* Whether there is nothing to compute: an input has no elements, and so no output has some. */
static int is_empty(const xpu_ep_instance *general, const xpurt_tensor *inputs, xpurt_tensor *outputs) {
    int found = 0;
    for (uint32_t i = 0; i < general->input_count; i++) {
        for (int d = 0; d < inputs[i].rank; d++) found |= inputs[i].dims[d] == 0;
    }
    return found && !xpurt_empty_outputs(general->program, inputs, general->input_count, outputs, NULL);
}

/* The program for these sizes; NULL: there is nothing to compute, and the outputs of the general one are there. */
static OrtStatus *choose(const run *r, xpu_arena *arena, const xpu_ep_instance **instance, xpurt_tensor **inputs) {
    xpu_ep_region *region = r->region;
    xpurt_error *error = &r->given->error;
    int with_values = 0;
    *instance = region->general;
    XPU_TRY(read_inputs(r, arena, *instance, inputs));
    if (!xpurt_check_inputs(region->general->program, *inputs, region->general->input_count, error)) return NULL;
    const xpu_ep_instance *special = NULL;
    const char *why = NULL;
    if (is_empty(*instance, *inputs, r->given->outputs)) {
        *instance = NULL;
        return NULL;
    }
    if (xpu_ep_wants_special(region, error, &with_values)) {
        if (!with_values) XPU_TRY(xpu_ep_special(region, arena, *inputs, 0, &special, &why));
        if (!special) XPU_TRY(xpu_ep_special(region, arena, *inputs, 1, &special, &why));
    }
    if (!special) {
        return xpu_ep_fail(region->ep->factory->api, ORT_EP_FAIL,
                           why ? xpu_printf(arena, "%s%s", error->text, why) : error->text);
    }
    *instance = special;
    return read_inputs(r, arena, special, inputs);
}

static OrtStatus *execute(const run *r, xpu_arena *arena, const xpu_ep_instance *instance, const xpurt_tensor *inputs) {
    const xpu_ep_options *wanted = &r->region->ep->options;
    unsigned number = atomic_fetch_add(&r->region->runs, 1);
    given *g = r->given;
    xpurt_run_options options = {.stats = wanted->profile ? &g->stats : NULL};
    if (wanted->dump) {
        mkdir(wanted->dump, 0777);
        options.dump_folder = xpu_printf(arena, "%s/%s-%u", wanted->dump, r->region->name, number);
    }
    xpurt_error_clear(&g->error);
    if (xpurt_session_run(instance->session, inputs, instance->input_count, g->outputs, &options, &g->error))
        return xpu_ep_fail(r->region->ep->factory->api, ORT_EP_FAIL, g->error.text);
    g->output_count = instance->output_count;
    return g->stats ? add_profile(r, arena, number, g->stats) : NULL;
}

static OrtStatus *run_region(void *context, xpu_arena *arena) {
    run *r = context;
    const xpu_ep_instance *instance;
    xpurt_tensor *inputs;
    r->given = XPU_NEW(arena, given);
    r->given->outputs = XPU_NEW_ARRAY(arena, xpurt_tensor, r->region->general->output_count + 1);
    xpu_arena_defer(arena, release_given, r->given);
    for (uint32_t i = 0; i < r->region->fixed_count; i++) XPU_TRY(check_fixed(r, arena, &r->region->fixed[i]));
    XPU_TRY(choose(r, arena, &instance, &inputs));
    if (instance) XPU_TRY(execute(r, arena, instance, inputs));
    if (!instance) instance = r->region->general;
    for (uint32_t i = 0; i < instance->output_count; i++)
        XPU_TRY(write_output(r, arena, instance->outputs[i], &r->given->outputs[i]));
    return NULL;
}

static OrtStatus *ORT_API_CALL compute(OrtNodeComputeInfo *info, void *state, OrtKernelContext *kernel) {
    xpu_ep_region *region = state;
    (void)info;
    return xpu_ep_guarded(region->ep->factory->api, run_region, &(run){.region = region, .kernel = kernel});
}

static OrtStatus *ORT_API_CALL create_state(OrtNodeComputeInfo *info, OrtNodeComputeContext *context, void **state) {
    (void)context;
    *state = info;
    return NULL;
}

static void ORT_API_CALL release_state(OrtNodeComputeInfo *info, void *state) {
    (void)info, (void)state;
}

OrtStatus *xpu_ep_open_region(xpu_ep *ep, xpu_arena *arena, const OrtNode *fused, xpu_ep_program *program,
                              xpu_ep_region **result) {
    xpu_ep_region *region = calloc(1, sizeof *region);
    *result = NULL;
    if (!region) return xpu_ep_fail(ep->factory->api, ORT_EP_FAIL, NULL);
    region->base = (OrtNodeComputeInfo){.ort_version_supported = XPU_EP_API,
                                        .CreateState = create_state,
                                        .Compute = compute,
                                        .ReleaseState = release_state};
    region->ep = ep;
    pthread_mutex_init(&region->lock, NULL);
    *result = region;
    return fill(region, arena, fused, program);
}
