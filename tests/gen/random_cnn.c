#include "tests/gen/random_cnn.h"

#include <string.h>

#include "tests/gen/random_net.h"

/* The stage that a seed must contain, so that any run of xpu_net_stage_count seeds has every operator. */
static const xpu_net_stage *forced_stage(uint64_t seed) {
    return &xpu_net_stages[seed % xpu_net_stage_count];
}

static const xpu_net_stage *draw_stage(xpu_net *net) {
    uint32_t total = 0, i = 0;
    for (uint32_t k = 0; k < xpu_net_stage_count; k++) total += (uint32_t)xpu_net_stages[k].weight;
    for (int64_t ticket = xpu_net_below(net, total); ticket >= xpu_net_stages[i].weight; i++) {
        ticket -= xpu_net_stages[i].weight;
    }
    return &xpu_net_stages[i];
}

static int emit_stage(xpu_net *net, const xpu_net_stage *stage) {
    if (stage->first_opset > net->onnx.opset || !stage->emit(net, stage->op)) return 0;
    net->stage++;
    xpu_net_remember(net);
    return 1;
}

static void emit_body(xpu_net *net) {
    int stages = (int)xpu_net_range(net, 4, 14), forced_at = (int)xpu_net_below(net, 4);
    const xpu_net_stage *forced = forced_stage(net->seed);
    for (int attempts = 0, done = 0; done < stages && attempts < 100; attempts++) {
        int now = forced && done >= forced_at;
        if (!emit_stage(net, now ? forced : draw_stage(net))) continue;
        if (now) forced = NULL;
        done++;
    }
}

/* The current value [B, K] times weights [K, units], plus a bias: as Gemm in its forms, or MatMul and Add. */
static void dense(xpu_net *net, int64_t units) {
    static const int64_t swap[] = {1, 0};
    int64_t rows = net->now.dims[0], inner = net->now.dims[1];
    float scale = xpu_net_weight_scale(inner);
    uint32_t form = xpu_net_below(net, 8); /* 0, 1: MatMul; 2: Gemm with a transposed input */
    if (form == 2) xpu_net_transpose(net, swap);
    xpu_net_value x = net->now;
    int transposed = form > 1 && xpu_net_chance(net, 50);
    int64_t dims[2] = {transposed ? units : inner, transposed ? inner : units}, bias_dims[2] = {1, units};
    const char *weights = xpu_net_weights(net, 2, dims, -256, 256, scale);
    int bias_rank = (int)xpu_net_range(net, 1, 2), needed = form < 2 || net->onnx.opset < 11;
    const char *bias = needed || xpu_net_chance(net, 70)
                           ? xpu_net_weights(net, bias_rank, bias_rank == 1 ? &units : bias_dims, -128, 128, 1)
                           : NULL;
    if (form < 2) {
        xpu_net_node(net, "MatMul", x.name, weights, NULL);
        xpu_net_set_dims(net, 2, (const int64_t[]){rows, units});
        xpu_net_value y = net->now;
        xpu_net_node(net, "Add", y.name, bias, NULL);
        return;
    }
    XpuOnnx__NodeProto *node = xpu_net_node(net, "Gemm", x.name, weights, bias);
    if (form == 2) xpu_net_int(net, node, "transA", 1);
    if (transposed) xpu_net_int(net, node, "transB", 1);
    if (xpu_net_chance(net, 30)) xpu_onnx_float(&net->onnx, node, "alpha", xpu_net_real(net, 128, 320));
    if (xpu_net_chance(net, 30)) xpu_onnx_float(&net->onnx, node, "beta", xpu_net_real(net, 128, 320));
    xpu_net_set_dims(net, 2, (const int64_t[]){rows, units});
}

/* From [B, C, H, W] to [B, K], in one of the usual ways. */
static void to_vector(xpu_net *net, uint64_t kind) {
    static const int64_t spatial[] = {2, 3};
    if (kind % 6 < 2) {
        const int64_t pooled[] = {net->now.dims[0], net->now.dims[1], 1, 1};
        xpu_net_unary(net, "GlobalAveragePool");
        xpu_net_set_dims(net, 4, pooled);
        if (kind % 6 == 0) {
            xpu_net_squeeze(net, spatial, 2);
            return;
        }
    }
    int64_t batch = net->now.dims[0], features = xpu_net_elements(&net->now) / batch;
    if (kind % 2) {
        xpu_net_reshape(net, 2, (const int64_t[]){batch, features});
        return;
    }
    xpu_net_unary(net, "Flatten");
    xpu_net_set_dims(net, 2, (const int64_t[]){batch, features});
}

/* A head: pixels classified one by one, a small feature map, or (mostly) vectors through one or two dense layers. */
static void emit_head(xpu_net *net) {
    static const int64_t to_last[] = {0, 2, 3, 1};
    uint64_t kind = net->seed % 7;
    xpu_net_shrink(net, kind < 2 ? 7 : 6);
    if (net->now.dims[1] > 64 && kind < 5) kind = 5;
    net->stage++;
    if (kind == 0 && net->now.dims[1] > 1) {
        xpu_net_transpose(net, to_last);
        xpu_net_softmax(net, 3);
    } else if (kind < 2) {
        xpu_net_activation(net);
    } else {
        if (net->now.dims[1] > 100) xpu_net_shrink(net, 2);
        to_vector(net, kind == 5 ? 1 : net->seed / 7);
        if (xpu_net_chance(net, 40)) {
            dense(net, xpu_net_range(net, 4, 64));
            xpu_net_activation(net);
        }
        dense(net, xpu_net_range(net, 2, 33));
        if (xpu_net_chance(net, 50)) xpu_net_softmax(net, 1);
    }
}

static void add_output(xpu_net *net, const xpu_net_value *value) {
    int64_t dims[XPU_MAX_RANK];
    memcpy(dims, value->dims, sizeof dims);
    if (net->free_batch) dims[0] = -1;
    xpu_onnx_output(&net->onnx, value->name, value->rank, dims);
}

/* The result, and in some networks a value inside that other nodes use too. */
static void add_outputs(xpu_net *net) {
    add_output(net, &net->now);
    for (int i = 1; i < net->seen_count && xpu_net_chance(net, 80); i++) {
        if (xpu_net_elements(&net->seen[i]) > 2000 || !strcmp(net->seen[i].name, net->now.name)) continue;
        add_output(net, &net->seen[i]);
        return;
    }
}

void xpu_random_cnn(xpu_arena *arena, uint64_t seed, xpu_random_network *network) {
    static const int64_t budgets[] = {500000, 2000000, 6000000, 20000000};
    xpu_net net = {.arena = arena, .seed = seed, .weights_left = 200000};
    int first_opset = forced_stage(seed)->first_opset;
    xpu_onnx_begin(&net.onnx, arena, (int)xpu_net_range(&net, first_opset, 22));
    net.macs_left = budgets[xpu_net_below(&net, 4)];
    net.free_batch = xpu_net_chance(&net, 30);
    net.unnamed = xpu_net_chance(&net, 10);

    xpu_net_value x = {.name = "x", .rank = 4};
    x.dims[0] = xpu_net_range(&net, 1, 3);
    x.dims[1] = xpu_net_range(&net, 1, xpu_net_chance(&net, 20) ? 40 : 6);
    x.dims[2] = xpu_net_range(&net, 5, 37);
    x.dims[3] = xpu_net_chance(&net, 40) ? x.dims[2] : xpu_net_range(&net, 5, 37);
    xpu_tensor input = xpu_net_tensor(&net, 4, x.dims, -256, 256, 1);
    int64_t declared[4] = {net.free_batch ? -1 : x.dims[0], x.dims[1], x.dims[2], x.dims[3]};
    xpu_onnx_input(&net.onnx, x.name, 4, declared);
    net.now = x;
    xpu_net_remember(&net);
    emit_body(&net);
    emit_head(&net);
    add_outputs(&net);

    network->model =
        xpu_onnx_pack(&net.onnx, xpu_printf(arena, "random-cnn-%llu", (unsigned long long)seed), &network->model_bytes);
    network->input_name = "x";
    network->input = input;
    network->opset = net.onnx.opset;
    network->free_batch = net.free_batch;
}
