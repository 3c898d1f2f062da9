/* The chip's layer tags are 16 bits wide: a program with more layers has the same tag again after 65,536. */
#include "xpu_runtime/host/host.h"

enum { TAGS = 1 << 16 };

/* Layers are announced nearly in order, so of those with the tag it is the one that is nearest to the last. */
uint32_t xpu_run_layer_of_tag(const xpu_run *run, uint32_t tag) {
    uint32_t count = run->program->layers.count;
    if (count <= TAGS) return tag;
    int64_t near = run->only_layer != UINT32_MAX ? run->only_layer : run->layers_done ? run->last_layer : 0;
    int64_t layer = near / TAGS * TAGS + tag % TAGS;
    if (layer - near > TAGS / 2) layer -= TAGS;
    if (near - layer > TAGS / 2) layer += TAGS;
    return layer < 0 ? tag % TAGS : layer < count ? (uint32_t)layer : count - 1;
}
