#include "xpu_codegen/lower/lists.h"

#include <string.h>

#include "xpu_codegen/choose/listed.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_runtime/program/record.h"

enum { PLACE_BYTES = XPU_DESC_WORDS * 4 };

/* What the lists of a layer say in the plan table; `places` 0: it has none. */
typedef struct {
    struct xpu_engine_lists_args args;
    uint32_t places, offset;
} layer_lists;

/* The arguments of a layer's only call, addresses being any; NULL where it depends on the shape, or is none of those.
 */
static const uint32_t *arguments_of(const xpu_codegen *cg, uint32_t layer, uint32_t word, xpu_arena *arena) {
    const xpu_codegen_layer *item = &cg->layers.items[layer];
    if (item->calls.count != 1) return NULL;
    const xpu_call *call = &item->calls.items[0];
    if (xpu_recorded_words(xpu_kernel_of(call->kernel)->name) != call->words) return NULL;
    uint32_t *words = XPU_NEW_ARRAY(arena, uint32_t, call->words);
    for (uint32_t i = 0; i < call->words; i++) {
        const xpu_plan_word *w = &cg->program.plan.items[word + i];
        if (w->kind == XPU_WORD_DIM) return NULL;
        words[i] = w->kind == XPU_WORD_CONST ? w->bits : XPU_GM_BASE;
    }
    return words;
}

/* The layer, and the next one where it is recorded with it. */
static uint32_t calls_from(const xpu_codegen *cg, uint32_t layer, uint32_t word, xpu_arena *arena,
                           xpu_recorded_call *calls) {
    for (uint32_t i = 0; i < 2 && layer + i < cg->layers.count; i++) {
        const xpu_codegen_layer *item = &cg->layers.items[layer + i];
        calls[i] =
            (xpu_recorded_call){xpu_kernel_of(item->kernel)->name, arguments_of(cg, layer + i, word, arena), layer + i};
        if (!calls[i].words) return i;
        if (i == 1 && !xpu_is_recorded_with(&calls[1], &calls[0])) return 1;
        word += item->calls.items[0].words;
    }
    return layer + 1 < cg->layers.count ? 2 : 1;
}

static void record_layers(xpu_codegen *cg, layer_lists *lists, xpu_arena *arena) {
    xpu_recording recording = {.after = 0};
    uint32_t word = 0, places = 0;
    for (uint32_t layer = 0, count = 1; layer < cg->layers.count; layer += count) {
        xpu_recorded_call calls[2];
        xpu_recorded recorded[2];
        const uint32_t found = calls_from(cg, layer, word, arena, calls), used = places + XPU_LISTED_PARAMETERS,
                       left = used < XPU_MOST_LISTED_OF_ALL ? XPU_MOST_LISTED_OF_ALL - used : 0,
                       room = left < XPU_MOST_LISTED ? left : XPU_MOST_LISTED;
        const int made =
            found && room &&
            !xpu_record_layers(calls, found, XPU_GM_BASE, cg->chip.array_columns, room, arena, &recording, recorded);
        count = found > 1 ? found : 1;
        for (uint32_t i = 0; i < count; i++) {
            const xpu_codegen_layer *item = &cg->layers.items[layer + i];
            for (uint32_t c = 0; c < item->calls.count; c++) word += item->calls.items[c].words;
            if (!made) continue;
            lists[layer + i] = (layer_lists){recorded[i].args, recorded[i].places, places * PLACE_BYTES};
            lists[layer + i].args.late = item->called_ahead;
            places += recorded[i].places;
        }
    }
}

static uint32_t add_buffer(xpu_codegen *cg, uint32_t bytes) {
    const xpu_program_buffer buffer = {.name = "descriptors",
                                       .kind = XPU_BUFFER_ACTIVATION,
                                       .bytes = xpu_dim_of(cg, bytes),
                                       .alignment = PLACE_BYTES,
                                       .last_layer = cg->program.layers.count - 1,
                                       .levels = {XPU_LEVEL_GM},
                                       .level_count = 1,
                                       .passes = 1,
                                       .alias_of = -1};
    XPU_PUSH(cg->arena, &cg->program.buffers, buffer);
    return cg->program.buffers.count - 1;
}

/* The words of engine_lists, in front of those of the kernel that it stands for. */
static void add_words(xpu_codegen *cg, const layer_lists *lists, uint32_t buffer) {
    uint32_t words[XPU_LISTS_WORDS];
    memcpy(words, &lists->args, sizeof words);
    const xpu_plan_word at = {.kind = XPU_WORD_ADDRESS, .buffer = buffer, .dim = xpu_dim_of(cg, lists->offset)};
    XPU_PUSH(cg->arena, &cg->program.plan, at);
    for (uint32_t i = 1; i < XPU_LISTS_WORDS; i++)
        XPU_PUSH(cg->arena, &cg->program.plan, ((xpu_plan_word){.kind = XPU_WORD_CONST, .bits = words[i]}));
}

static void use_lists(xpu_codegen *cg, const layer_lists *lists, uint32_t buffer) {
    const xpu_plan_word *old = cg->program.plan.items;
    memset(&cg->program.plan, 0, sizeof cg->program.plan);
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        xpu_codegen_layer *layer = &cg->layers.items[i];
        if (lists[i].places) {
            cg->program.layers.items[i].lists = cg->program.plan.count + 1;
            add_words(cg, &lists[i], buffer);
        }
        for (uint32_t c = 0; c < layer->calls.count; c++) {
            for (uint32_t k = 0; k < layer->calls.items[c].words; k++) XPU_PUSH(cg->arena, &cg->program.plan, *old++);
        }
        if (!lists[i].places) continue;
        layer->list_bytes = lists[i].places * PLACE_BYTES;
        layer->calls.items[0].kernel = XPU_KERNEL_engine_lists;
        layer->calls.items[0].words += XPU_LISTS_WORDS;
    }
}

void xpu_make_lists(xpu_codegen *cg) {
    if (!xpu_is_listed(cg) || cg->program.steps.count || !cg->layers.count) return;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "lists");
    layer_lists *lists = XPU_NEW_ARRAY(scratch, layer_lists, cg->layers.count);
    record_layers(cg, lists, scratch);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < cg->layers.count; i++) bytes += (uint64_t)lists[i].places * PLACE_BYTES;
    if (bytes) use_lists(cg, lists, add_buffer(cg, (uint32_t)bytes));
    xpu_arena_free(scratch);
}
