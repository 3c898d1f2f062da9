/*
 * The 40 recorded random networks through the target-neutral pipeline: every pass is checked against the one before,
 * value by value, and the reference kernels then give what onnxruntime recorded, within |a-b| <= 1e-3 |b| + 1e-5
 * max|b|.
 */
#include <stdio.h>
#include <string.h>

#include "base/npy.h"
#include "core/passes/verify.h"
#include "core/ops/ref.h"
#include "core/passes/passes.h"
#include "frontend/onnx/onnx.h"
#include "tests/gen/random_cnn.h"
#include "tests/gen/compare.h"
#include "tests/unit/unit.h"
#include "xpuc/pipeline.h"

enum { RECORDED = 40, TRIED = 120 };

static const xpu_pattern patterns[] = {
    {"bias", "adds a constant vector", {"conv|matmul", "add"}, xpu_accepts_bias, xpu_fuse_bias},
    {"branch", "adds a tensor", {"conv|matmul", "add"}, xpu_accepts_branch, xpu_fuse_branch},
    {"activation", "clips", {"conv|matmul", "relu|clip|leaky_relu"}, xpu_accepts_activation, xpu_fuse_activation},
    {NULL, NULL, {NULL}, NULL, NULL},
};
static const xpu_target target = {.version = XPU_TARGET_VERSION, .name = "test", .patterns = patterns};

static xpu_status match(xpu_graph *graph, xpu_diags *diags) {
    return xpu_partition_match(graph, &target, NULL, diags);
}

static const struct {
    const char *name;
    xpu_effect effect;
    xpu_status (*run)(xpu_graph *graph, xpu_diags *diags);
} passes[] = {
    {"fold", XPU_EFFECT_EXACT, xpu_pass_fold},
    {"canonicalise", XPU_EFFECT_EXACT, xpu_pass_canonicalise},
    {"biases", XPU_EFFECT_TOLERANCE, xpu_pass_fold_biases},
    {"batch-norm", XPU_EFFECT_TOLERANCE, xpu_pass_fold_batch_norm},
    {"averages", XPU_EFFECT_TOLERANCE, xpu_pass_averages_first},
    {"legalise", XPU_EFFECT_EXACT, xpu_pass_legalise},
    {"clean", XPU_EFFECT_EXACT, xpu_pass_fold},
    {"match", XPU_EFFECT_TOLERANCE, match},
    {"chains", XPU_EFFECT_EXACT, xpu_pass_chains},
};

static xpu_status run_passes(xpu_graph *graph, xpu_arena *arena, xpu_diags *diags) {
    xpu_checker *checker = xpu_checker_new(arena);
    xpu_status status = xpu_checker_run(checker, graph, "import", XPU_EFFECT_DEFINES, diags);
    for (size_t i = 0; i < sizeof passes / sizeof *passes && status == XPU_OK; i++) {
        status = passes[i].run(graph, diags);
        if (status == XPU_OK) status = xpu_verify(graph, passes[i].name, diags);
        if (status == XPU_OK) status = xpu_checker_run(checker, graph, passes[i].name, passes[i].effect, diags);
    }
    return status;
}

static int is_lowered(const xpu_graph *graph) {
    XPU_FOR_ALL_NODES(graph, node) {
        const xpu_op *op = xpu_node_at(graph, node)->op;
        if (op->elementwise >= 0 || op->expand) return 0;
    }
    return 1;
}

static const xpu_tensor *recorded_output(const xpu_named_tensors *recorded, const char *name) {
    for (uint32_t i = 0; i < recorded->count; i++) {
        if (strcmp(recorded->items[i].name, name) == 0) return &recorded->items[i].tensor;
    }
    return NULL;
}

static void compare_outputs(const xpu_graph *graph, uint64_t seed, const xpu_tensor *input, xpu_arena *arena,
                            xpu_diags *diags) {
    xpu_named_tensors recorded = {NULL, 0, 0};
    xpu_npz_read(arena, xpu_printf(arena, "tests/golden/random_cnn/%d.npz", (int)seed), &recorded, diags);
    xpu_tensor *outputs = XPU_NEW_ARRAY(arena, xpu_tensor, graph->outputs.count);
    int64_t batch = input->dims[0];
    CU_ASSERT(graph->dims.symbols.count <= 1);
    xpu_ref_options options = {.symbols = &batch, .inputs = input};
    CU_ASSERT_EQUAL_FATAL(xpu_ref_run(graph, &options, outputs, arena, diags), XPU_OK);
    CU_ASSERT_EQUAL(graph->outputs.count + 1, recorded.count);
    for (uint32_t i = 0; i < graph->outputs.count; i++) {
        const char *name = xpu_value_at(graph, graph->outputs.items[i])->name;
        const xpu_tensor *expected = recorded_output(&recorded, name);
        CU_ASSERT_PTR_NOT_NULL(expected);
        double used = expected ? xpu_tolerance_used(&outputs[i], expected) : INFINITY;
        if (!(used <= 1)) printf("seed %d: output '%s' uses %g of the tolerance\n", (int)seed, name, used);
        CU_ASSERT(used <= 1);
    }
}

static void run_network(xpu_mem *mem, uint64_t seed, xpu_diags *diags) {
    xpu_arena *arena = xpu_arena_new(mem, "network");
    xpu_random_network network;
    xpu_graph *graph;
    xpu_random_cnn(arena, seed, &network);
    xpu_status status =
        xpu_onnx_import_bytes(arena, network.model, network.model_bytes, "random.onnx", NULL, &graph, diags);
    if (status == XPU_OK) status = run_passes(graph, arena, diags);
    if (status != XPU_OK) {
        printf("seed %d\n", (int)seed);
        xpu_diags_print(diags, stdout);
    }
    CU_ASSERT_EQUAL(status, XPU_OK);
    if (status == XPU_OK) {
        CU_ASSERT(is_lowered(graph));
        if (seed <= RECORDED) compare_outputs(graph, seed, &network.input, arena, diags);
    }
    xpu_arena_free(arena);
}

static void networks(void) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
        return;
    }
    for (uint64_t seed = 1; seed <= TRIED; seed++) run_network(&mem, seed, &diags);
    CU_ASSERT_EQUAL(diags.errors, 0);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

XPU_TEST_MAIN("networks", {"passes and recorded outputs", networks})
