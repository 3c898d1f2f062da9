/* What onnxruntime finds in the library: the factory of the provider. */
#include "provider/provider.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "xpu_runtime/include/xpurt_func.h"

#define EXPORTED __attribute__((visibility("default")))

/* ---- for all ---- */

OrtStatus *xpu_ep_fail(const OrtApi *api, OrtErrorCode code, const char *text) {
    char *own = text ? xpu_words_of(text, XPU_WORDS_ONNXRUNTIME) : NULL;
    OrtStatus *status = api->CreateStatus(code, own ? own : text ? text : "out of memory");
    free(own);
    return status;
}

OrtStatus *xpu_ep_guarded(const OrtApi *api, OrtStatus *(*work)(void *context, xpu_arena *arena), void *context) {
    xpu_mem mem;
    OrtStatus *status;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        xpu_mem_release(&mem);
        return xpu_ep_fail(api, ORT_EP_FAIL, "error [out-of-memory] memory ran out in the execution provider");
    }
    status = work(context, xpu_arena_new(&mem, "provider"));
    xpu_mem_release(&mem);
    return status;
}

void xpu_ep_log(const xpu_ep *ep, OrtLoggingLevel level, const char *text) {
    const OrtApi *api = ep->factory->api;
    char *own = xpu_words_of(text, XPU_WORDS_ONNXRUNTIME);
    OrtStatus *status = api->Logger_LogMessage(ep->logger, level, own ? own : text, "", 0, XPU_EP_NAME);
    free(own);
    if (status) api->ReleaseStatus(status);
}

static const xpu_ep_factory *factory_of(const OrtEpFactory *factory) {
    return (const xpu_ep_factory *)factory;
}

/* ---- the provider ---- */

static const char *ORT_API_CALL name_of_ep(const OrtEp *ep) {
    (void)ep;
    return XPU_EP_NAME;
}

static void ORT_API_CALL release_ep(OrtEpFactory *factory, OrtEp *base) {
    xpu_ep *ep = (xpu_ep *)base;
    (void)factory;
    if (!ep) return;
    xpu_ep_free_compiled(ep);
    if (ep->refusal) ep->factory->api->ReleaseStatus(ep->refusal);
    xpu_mem_release(&ep->mem);
    free(ep);
}

/* A chip or rules that do not exist are said now, not when a graph is there that they matter to. */
static OrtStatus *try_options(xpu_ep *ep, xpu_arena *arena) {
    xpuc_options options = xpu_ep_compile_options(&ep->options);
    xpu_ep_model model = xpu_ep_small_model(arena);
    xpuc_result result;
    xpuc_error error;
    OrtStatus *status = NULL;
    options.emit = "ir";
    if (xpuc_compile_memory(model.bytes, model.size, "options.onnx", &options, &result, &error))
        status = xpu_ep_fail(ep->factory->api, ORT_INVALID_ARGUMENT, error.text);
    xpuc_error_clear(&error);
    xpuc_result_clear(&result);
    return status;
}

static OrtStatus *set_up(void *context, xpu_arena *arena) {
    xpu_ep *ep = context;
    if (strcmp(ep->options.device, "func") == 0) ep->driver = xpurt_func_driver();
    return ep->options.chip || ep->options.precision_rules ? try_options(ep, arena) : NULL;
}

static OrtStatus *ORT_API_CALL create_ep(OrtEpFactory *factory, const OrtHardwareDevice *const *devices,
                                         const OrtKeyValuePairs *const *metadata, size_t count,
                                         const OrtSessionOptions *options, const OrtLogger *logger, OrtEp **result) {
    const OrtApi *api = factory_of(factory)->api;
    xpu_ep *ep = calloc(1, sizeof *ep);
    OrtStatus *status;
    (void)devices, (void)metadata, (void)count;
    *result = NULL;
    if (!ep) return xpu_ep_fail(api, ORT_EP_FAIL, NULL);
    ep->base = (OrtEp){.ort_version_supported = XPU_EP_API,
                       .GetName = name_of_ep,
                       .GetCapability = xpu_ep_get_capability,
                       .Compile = xpu_ep_compile,
                       .ReleaseNodeComputeInfos = xpu_ep_release_infos};
    ep->factory = factory_of(factory);
    ep->logger = logger;
    xpu_mem_init(&ep->mem);
    if (setjmp(ep->mem.out_of_memory))
        status = xpu_ep_fail(api, ORT_EP_FAIL, NULL);
    else
        status = xpu_ep_read_options(api, xpu_arena_new(&ep->mem, "options"), options, &ep->options);
    if (!status) status = xpu_ep_guarded(api, set_up, ep);
    if (status)
        release_ep(factory, &ep->base);
    else
        *result = &ep->base;
    return status;
}

/* ---- the factory ---- */

static const char *ORT_API_CALL name_of(const OrtEpFactory *factory) {
    (void)factory;
    return XPU_EP_NAME;
}

static const char *ORT_API_CALL vendor_of(const OrtEpFactory *factory) {
    (void)factory;
    return "xpu-stack";
}

/* A number that the list of PCI vendors does not have: there is no device on a bus. */
static uint32_t ORT_API_CALL vendor_id_of(const OrtEpFactory *factory) {
    (void)factory;
    return 0xFFFFFFFE;
}

static const char *ORT_API_CALL version_of(const OrtEpFactory *factory) {
    (void)factory;
    return XPU_VERSION;
}

/* The simulated chip runs on the processor. */
static OrtStatus *ORT_API_CALL find_devices(OrtEpFactory *factory, const OrtHardwareDevice *const *devices,
                                            size_t count, OrtEpDevice **results, size_t most, size_t *number) {
    const xpu_ep_factory *f = factory_of(factory);
    *number = 0;
    for (size_t i = 0; i < count && *number < most; i++) {
        if (f->api->HardwareDevice_Type(devices[i]) != OrtHardwareDeviceType_CPU) continue;
        XPU_TRY(f->ep_api->CreateEpDevice(factory, devices[i], NULL, NULL, &results[*number]));
        ++*number;
    }
    return NULL;
}

/* Tensors stay in the processor's memory: no allocator, no copies between devices, no streams. */
static OrtStatus *ORT_API_CALL no_allocator(OrtEpFactory *factory, const OrtMemoryInfo *memory,
                                            const OrtKeyValuePairs *options, OrtAllocator **allocator) {
    (void)factory, (void)memory, (void)options;
    *allocator = NULL;
    return NULL;
}

static void ORT_API_CALL release_allocator(OrtEpFactory *factory, OrtAllocator *allocator) {
    (void)factory, (void)allocator;
}

static OrtStatus *ORT_API_CALL no_transfer(OrtEpFactory *factory, OrtDataTransferImpl **transfer) {
    (void)factory;
    *transfer = NULL;
    return NULL;
}

static bool ORT_API_CALL has_streams(const OrtEpFactory *factory) {
    (void)factory;
    return false;
}

/* "1.24.0" gives 24; asking for an API that a release lacks makes it print. */
static int minor_version(const OrtApiBase *base) {
    char *end;
    long major = strtol(base->GetVersionString(), &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major == 1 ? (int)minor : major > 1 ? INT_MAX : 0;
}

OrtStatus *CreateEpFactories(const char *registered_name, const OrtApiBase *base, const OrtLogger *logger,
                             OrtEpFactory **factories, size_t most, size_t *number);
OrtStatus *ReleaseEpFactory(OrtEpFactory *factory);

EXPORTED OrtStatus *CreateEpFactories(const char *registered_name, const OrtApiBase *base, const OrtLogger *logger,
                                      OrtEpFactory **factories, size_t most, size_t *number) {
    int minor = minor_version(base);
    (void)registered_name, (void)logger;
    *number = 0;
    if (minor < XPU_EP_API) {
        return base->GetApi(1)->CreateStatus(ORT_FAIL,
                                             "error [provider-release] this onnxruntime is too old for " XPU_EP_NAME
                                             "\n  why: it has not the API of 1.23\n  hint: install 1.23 or newer");
    }
    const OrtApi *api = base->GetApi(XPU_EP_API);
    if (most < 1) return xpu_ep_fail(api, ORT_INVALID_ARGUMENT, "there is no room for a factory");
    xpu_ep_factory *factory = calloc(1, sizeof *factory);
    if (!factory) return xpu_ep_fail(api, ORT_EP_FAIL, NULL);
    factory->api = api;
    factory->ep_api = api->GetEpApi();
    factory->api_24 = minor > XPU_EP_API ? base->GetApi(XPU_EP_API + 1) : NULL;
    factory->base = (OrtEpFactory){.ort_version_supported = XPU_EP_API,
                                   .GetName = name_of,
                                   .GetVendor = vendor_of,
                                   .GetVendorId = vendor_id_of,
                                   .GetVersion = version_of,
                                   .GetSupportedDevices = find_devices,
                                   .CreateEp = create_ep,
                                   .ReleaseEp = release_ep,
                                   .CreateAllocator = no_allocator,
                                   .ReleaseAllocator = release_allocator,
                                   .CreateDataTransfer = no_transfer,
                                   .IsStreamAware = has_streams};
    factories[0] = &factory->base;
    *number = 1;
    return NULL;
}

EXPORTED OrtStatus *ReleaseEpFactory(OrtEpFactory *factory) {
    free(factory);
    return NULL;
}
