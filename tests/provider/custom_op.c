/* A custom operator of onnxruntime that no compiler knows: tests.xpu:Backwards, a tensor with its elements in the
   opposite order. */
#include <onnxruntime_c_api.h>

enum { API = 23 };

ORT_EXPORT OrtStatus *ORT_API_CALL RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base);

static const OrtApi *api;

static void *create(const OrtCustomOp *op, const OrtApi *given, const OrtKernelInfo *info) {
    (void)op, (void)info;
    return (void *)given; /* any pointer but NULL */
}

static const char *name(const OrtCustomOp *op) {
    (void)op;
    return "Backwards";
}

static const char *provider(const OrtCustomOp *op) {
    (void)op;
    return NULL; /* the CPU's */
}

static ONNXTensorElementDataType type(const OrtCustomOp *op, size_t index) {
    (void)op, (void)index;
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
}

static size_t one(const OrtCustomOp *op) {
    (void)op;
    return 1;
}

static int first_version(const OrtCustomOp *op) {
    (void)op;
    return 1;
}

static OrtCustomOpInputOutputCharacteristic required(const OrtCustomOp *op, size_t index) {
    (void)op, (void)index;
    return INPUT_OUTPUT_REQUIRED;
}

static OrtMemType memory(const OrtCustomOp *op, size_t index) {
    (void)op, (void)index;
    return OrtMemTypeDefault;
}

static OrtStatus *compute(void *kernel, OrtKernelContext *context) {
    enum { MAX_RANK = 8 };
    const OrtValue *x;
    OrtValue *y;
    OrtTensorTypeAndShapeInfo *shape = NULL;
    OrtStatus *status;
    int64_t dims[MAX_RANK];
    size_t rank, count;
    void *from, *to;
    (void)kernel;
    if ((status = api->KernelContext_GetInput(context, 0, &x)) || (status = api->GetTensorTypeAndShape(x, &shape)) ||
        (status = api->GetDimensionsCount(shape, &rank)) ||
        (status = rank > MAX_RANK ? api->CreateStatus(ORT_INVALID_ARGUMENT, "the rank is over 8") : NULL) ||
        (status = api->GetDimensions(shape, dims, rank)) || (status = api->GetTensorShapeElementCount(shape, &count)) ||
        (status = api->KernelContext_GetOutput(context, 0, dims, rank, &y)) ||
        (status = api->GetTensorMutableData((OrtValue *)x, &from)) || (status = api->GetTensorMutableData(y, &to))) {
        if (shape) api->ReleaseTensorTypeAndShapeInfo(shape);
        return status;
    }
    for (size_t i = 0; i < count; i++) ((float *)to)[i] = ((const float *)from)[count - 1 - i];
    api->ReleaseTensorTypeAndShapeInfo(shape);
    return NULL;
}

static void destroy(void *kernel) {
    (void)kernel;
}

static OrtStatus *infer(const OrtCustomOp *op, OrtShapeInferContext *context) {
    OrtTensorTypeAndShapeInfo *shape;
    OrtStatus *status = api->ShapeInferContext_GetInputTypeShape(context, 0, &shape);
    (void)op;
    return status ? status : api->ShapeInferContext_SetOutputTypeShape(context, 0, shape);
}

OrtStatus *ORT_API_CALL RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base) {
    static const OrtCustomOp op = {
        .version = API,
        .CreateKernel = create,
        .GetName = name,
        .GetExecutionProviderType = provider,
        .GetInputType = type,
        .GetInputTypeCount = one,
        .GetOutputType = type,
        .GetOutputTypeCount = one,
        .KernelDestroy = destroy,
        .GetInputCharacteristic = required,
        .GetOutputCharacteristic = required,
        .GetInputMemoryType = memory,
        .KernelComputeV2 = compute,
        .InferOutputShapeFn = infer,
        .GetStartVersion = first_version,
        .GetEndVersion = first_version,
    };
    OrtCustomOpDomain *domain; /* lives as long as the process */
    OrtStatus *status;
    api = base->GetApi(API);
    if ((status = api->CreateCustomOpDomain("tests.xpu", &domain)) || (status = api->CustomOpDomain_Add(domain, &op)))
        return status;
    return api->AddCustomOpDomain(options, domain);
}
