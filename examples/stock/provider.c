/*
 * A network in onnxruntime's C API, with the chip before the CPU.
 *
 *     cc provider.c -I ORT_INCLUDE -lonnxruntime -o provider
 *     ./provider libonnxruntime_ep_xpu.so digits.onnx
 *
 * The model has one input and one output of float32; open dims are 1, and the input is drawn. docs/onnxruntime.md is
 * the manual.
 */
#include <onnxruntime_c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 8, API = 23 };

static const OrtApi *api;

static void check(OrtStatus *status) {
    if (!status) return;
    fprintf(stderr, "%s\n", api->GetErrorMessage(status));
    api->ReleaseStatus(status);
    exit(1);
}

/* Registers the library and puts its provider, on the chip in SystemVerilog, before the CPU. */
static void add_provider(OrtEnv *env, OrtSessionOptions *options, const char *library) {
    const OrtEpDevice *const *devices;
    size_t count;
    const char *keys[] = {"device"}, *values[] = {"rtl"};
    check(api->RegisterExecutionProviderLibrary(env, "xpu", library));
    check(api->GetEpDevices(env, &devices, &count));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(api->EpDevice_EpName(devices[i]), "XpuExecutionProvider") != 0) continue;
        check(api->SessionOptionsAppendExecutionProvider_V2(options, env, &devices[i], 1, keys, values, 1));
        return;
    }
    fprintf(stderr, "%s has no device\n", library);
    exit(1);
}

static OrtValue *draw_input(OrtSession *session, OrtAllocator *allocator) {
    OrtTypeInfo *type;
    const OrtTensorTypeAndShapeInfo *info;
    OrtValue *value;
    int64_t dims[MAX_RANK] = {0}, elements = 1;
    size_t rank;
    float *data;
    check(api->SessionGetInputTypeInfo(session, 0, &type));
    check(api->CastTypeInfoToTensorInfo(type, &info));
    check(api->GetDimensionsCount(info, &rank));
    if (rank > MAX_RANK) {
        fprintf(stderr, "the input has %zu dimensions; this program takes at most %d\n", rank, MAX_RANK);
        exit(1);
    }
    check(api->GetDimensions(info, dims, rank));
    api->ReleaseTypeInfo(type);
    for (size_t i = 0; i < rank; i++) elements *= dims[i] = dims[i] < 0 ? 1 : dims[i];
    check(api->CreateTensorAsOrtValue(allocator, dims, rank, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
    check(api->GetTensorMutableData(value, (void **)&data));
    for (int64_t i = 0; i < elements; i++) data[i] = (float)(i * 37 % 101) / 101;
    return value;
}

static void run(OrtSession *session) {
    OrtAllocator *allocator;
    char *input, *output;
    float *data;
    size_t bytes;
    check(api->GetAllocatorWithDefaultOptions(&allocator));
    check(api->SessionGetInputName(session, 0, allocator, &input));
    check(api->SessionGetOutputName(session, 0, allocator, &output));
    OrtValue *given = draw_input(session, allocator), *result = NULL;
    check(api->Run(session, NULL, (const char *const *)&input, (const OrtValue *const *)&given, 1,
                   (const char *const *)&output, 1, &result));
    check(api->GetTensorMutableData(result, (void **)&data));
    check(api->GetTensorSizeInBytes(result, &bytes));
    printf("%s:", output);
    for (size_t i = 0; i < bytes / sizeof *data && i < 10; i++) printf(" %.3f", data[i]);
    printf("\n");
    api->ReleaseValue(result);
    api->ReleaseValue(given);
    allocator->Free(allocator, output);
    allocator->Free(allocator, input);
}

int main(int argc, char **argv) {
    OrtEnv *env;
    OrtSessionOptions *options;
    OrtSession *session;
    if (argc != 3) return fprintf(stderr, "usage: provider LIBRARY MODEL.onnx\n"), 2;
    api = OrtGetApiBase()->GetApi(API);
    if (!api) return fprintf(stderr, "this onnxruntime is older than 1.23\n"), 1;
    check(api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "provider", &env));
    check(api->CreateSessionOptions(&options));
    add_provider(env, options, argv[1]);
    check(api->CreateSession(env, argv[2], options, &session));
    run(session);
    api->ReleaseSession(session);
    api->ReleaseSessionOptions(options);
    check(api->UnregisterExecutionProviderLibrary(env, "xpu"));
    api->ReleaseEnv(env);
    return 0;
}
