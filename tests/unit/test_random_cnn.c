/* The generator of random networks: the same bytes as when onnxruntime's answers were recorded, and what it promises.
 */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/npy.h"
#include "frontend/onnx/onnx.pb-c.h"
#include "tests/gen/random_cnn.h"
#include "tests/unit/unit.h"

enum { RECORDED = 40, TRIED = 300 };

static const char *const operators[] = {"Conv",
                                        "Gemm",
                                        "MatMul",
                                        "Relu",
                                        "Clip",
                                        "LeakyRelu",
                                        "Sigmoid",
                                        "Tanh",
                                        "HardSigmoid",
                                        "HardSwish",
                                        "Add",
                                        "Sub",
                                        "Mul",
                                        "Div",
                                        "MaxPool",
                                        "AveragePool",
                                        "GlobalAveragePool",
                                        "BatchNormalization",
                                        "Flatten",
                                        "Reshape",
                                        "Squeeze",
                                        "Unsqueeze",
                                        "Transpose",
                                        "Concat",
                                        "Softmax",
                                        "Pad",
                                        "Identity",
                                        "Dropout",
                                        "Constant"};
enum { OPERATORS = sizeof operators / sizeof *operators };

typedef struct {
    int uses[OPERATORS];
    int other, free_batch;
    int64_t channels; /* most output channels of a convolution */
} census;

static void count_nodes(const XpuOnnx__GraphProto *graph, census *found) {
    for (size_t i = 0; i < graph->n_node; i++) {
        int op = 0;
        while (op < OPERATORS && strcmp(operators[op], graph->node[i]->op_type) != 0) op++;
        if (op == OPERATORS)
            found->other++;
        else
            found->uses[op]++;
    }
    for (size_t i = 0; i < graph->n_initializer; i++) {
        const XpuOnnx__TensorProto *tensor = graph->initializer[i];
        if (tensor->n_dims == 4 && tensor->dims[0] > found->channels) found->channels = tensor->dims[0];
    }
}

static void take_census(xpu_arena *arena, uint64_t seed, census *found) {
    xpu_random_network network;
    xpu_random_cnn(arena, seed, &network);
    XpuOnnx__ModelProto *model = xpu_onnx__model_proto__unpack(NULL, network.model_bytes, network.model);
    CU_ASSERT_PTR_NOT_NULL_FATAL(model);
    CU_ASSERT_EQUAL(model->opset_import[0]->version, network.opset);
    CU_ASSERT(network.opset >= 7 && network.opset <= 22);
    CU_ASSERT(network.input.dims[0] >= 1 && network.input.dims[0] <= 3);
    found->free_batch += network.free_batch;
    count_nodes(model->graph, found);
    xpu_onnx__model_proto__free_unpacked(model, NULL);
}

static void all_operators(void) {
    for (int last = RECORDED; last <= TRIED; last += TRIED - RECORDED) {
        census found = {.channels = 0};
        xpu_mem mem;
        xpu_mem_init(&mem);
        if (setjmp(mem.out_of_memory)) {
            CU_FAIL("out of memory");
            break;
        }
        for (int seed = 1; seed <= last; seed++) {
            xpu_arena *arena = xpu_arena_new(&mem, "network");
            take_census(arena, (uint64_t)seed, &found);
            xpu_arena_free(arena);
        }
        for (int i = 0; i < OPERATORS; i++) {
            if (!found.uses[i]) printf("no %s in seeds 1 to %d\n", operators[i], last);
            CU_ASSERT(found.uses[i] > 0);
        }
        CU_ASSERT_EQUAL(found.other, 0);
        CU_ASSERT(found.free_batch > 0);
        CU_ASSERT(found.channels > 100 && found.channels <= 200);
        xpu_mem_release(&mem);
    }
}

static void same_as_recorded(void) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
        return;
    }
    for (int seed = 1; seed <= RECORDED; seed++) {
        xpu_arena *arena = xpu_arena_new(&mem, "network");
        xpu_random_network network;
        xpu_named_tensors recorded = {NULL, 0, 0};
        uint32_t expected = 0;
        xpu_random_cnn(arena, (uint64_t)seed, &network);
        xpu_npz_read(arena, xpu_printf(arena, "tests/golden/random_cnn/%d.npz", seed), &recorded, &diags);
        for (uint32_t i = 0; i < recorded.count; i++) {
            if (strcmp(recorded.items[i].name, "model_crc32") != 0) continue;
            memcpy(&expected, recorded.items[i].tensor.data, sizeof expected);
        }
        uint32_t crc = (uint32_t)crc32(0, network.model, (uInt)network.model_bytes);
        if (crc != expected) printf("seed %d: the model changed: run tests/gen/record_random.py\n", seed);
        CU_ASSERT_EQUAL(crc, expected);
        xpu_arena_free(arena);
    }
    CU_ASSERT_EQUAL(diags.count, 0);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

XPU_TEST_MAIN("random_cnn", {"every operator occurs", all_operators}, {"same as recorded", same_as_recorded})
