/* What there is no row for, and why. */
#include <string.h>

#include "frontend/paddle/importer.h"

static const char own_form[] = "give the program that it was made from",
                  other_form[] = "replace it by supported operators";
static const char older[] = "save the model again with PaddlePaddle 2";

static const struct {
    const char *names, *why, *hint;
} reasons[] = {
    {"sgd,momentum,adam,adamw,lamb,rmsprop,lars_momentum,check_finite_and_unscale,update_loss_scaling",
     "it is an operator of training", "save the program for inference (paddle.jit.save, save_inference_model)"},
    {"calib,calib_once,calib_inplace,io_copy,io_copy_once,layout,layout_once,subgraph,write_back,relu_clipped,"
     "sparse_conv2d,fusion_elementwise_add_activation,fusion_elementwise_sub_activation,"
     "fusion_elementwise_mul_activation,fusion_elementwise_div_activation,fusion_elementwise_max_activation,"
     "fusion_elementwise_min_activation,fusion_elementwise_pow_activation",
     "it is an operator that Paddle-Lite's optimiser makes", own_form},
    {"search_aligned_mat_mul,search_attention_padding_mask,search_fc,search_grnn,search_group_padding,"
     "search_seq_arithmetic,search_seq_depadding,search_seq_fc,search_seq_softmax,attention_padding_mask,"
     "sequence_arithmetic,sequence_pool_concat,sequence_reverse_embedding,sequence_topk_avg_pooling,topk_pooling",
     "no PaddlePaddle that is public holds it, so there is nothing to compare it with", other_form},
    {"elementwise_prod,floor_mod,negative,pad1d,axpy,decode_bboxes", "no PaddlePaddle writes it", other_form},
    {"cos_sim,roi_perspective_transform", "no PaddlePaddle of version 2 has it", older},
    {"fused_feedforward,fused_multi_transformer", "PaddlePaddle computes it on GPUs alone",
     "save the program before it is optimised for a GPU"},
    {"fused_conv3d,fused_matmul,fused_transpose,fused_elementwise_add,fused_elementwise_mul",
     "the program was optimised for oneDNN", own_form},
};
enum { REASONS = sizeof reasons / sizeof *reasons };

static int ends_with(const char *text, const char *ending) {
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

static int is_among(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length])) return 1;
    }
    return 0;
}

const char *xpu_paddle_why_not(const xpu_paddle_op *op, const char **hint) {
    int trains = ends_with(op->type, "_grad") || ends_with(op->type, "_grad2");
    for (size_t i = 0; i < REASONS; i++) {
        if (!(i == 0 && trains) && !is_among(reasons[i].names, op->type)) continue;
        *hint = reasons[i].hint;
        return reasons[i].why;
    }
    *hint = "replace it by supported operators (docs/paddle-operators.md lists them)";
    if (strcmp(op->dialect, "custom_op") == 0) return "it is an operator of the model's own";
    return op->dialect[0] ? "the importer has no row for it in PIR" : "the importer has no row for it";
}

int xpu_paddle_reason_at(uint32_t index, const char **names, const char **why) {
    if (index >= REASONS) return 0;
    *names = reasons[index].names;
    *why = reasons[index].why;
    return 1;
}
