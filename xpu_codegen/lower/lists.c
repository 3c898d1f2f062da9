#include "xpu_codegen/lower/lists.h"

#include <string.h>

#include "xpu_codegen/choose/listed.h"
#include "xpu_codegen/lower/ahead.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_runtime/program/transfers.h"

enum {
    PLACE_BYTES = XPU_DESC_WORDS * 4,
    MOST_BYTES = XPU_MOST_LISTED_OF_ALL * PLACE_BYTES,
    PART_OF_GM = 32, /* that lists of free shapes may take */
};

/* What the lists of a layer say in the plan table; `places` 0: it has none. */
typedef struct {
    struct xpu_pipeline_lists_args args;
    uint32_t places, offset;
} layer_lists;

/* The arguments of a layer's only call, addresses being any; NULL where it is none of those. */
static const uint32_t *arguments_of(const xpu_codegen *cg, uint32_t layer, uint32_t word, const int64_t *symbols,
                                    xpu_arena *arena) {
    const xpu_codegen_layer *item = &cg->layers.items[layer];
    if (item->calls.count != 1) return NULL;
    const xpu_call *call = &item->calls.items[0];
    if (xpu_recorded_words(xpu_kernel_of(call->kernel)->name) != call->words) return NULL;
    uint32_t *words = XPU_NEW_ARRAY(arena, uint32_t, call->words);
    for (uint32_t i = 0; i < call->words; i++) {
        const xpu_plan_word *w = &cg->program.plan.items[word + i];
        if (w->kind == XPU_WORD_DIM && !symbols) return NULL;
        words[i] = w->kind == XPU_WORD_CONST ? w->bits
                   : w->kind == XPU_WORD_DIM ? (uint32_t)xpu_dim_eval(&cg->graph->dims, w->dim, symbols)
                                             : XPU_GM_BASE;
    }
    return words;
}

/* The layer, and the next ones where they are recorded with it. */
static uint32_t calls_from(const xpu_codegen *cg, uint32_t layer, uint32_t word, xpu_arena *arena,
                           xpu_recorded_call *calls) {
    uint32_t i = 0;
    for (; i < XPU_LISTED_TOGETHER && layer + i < cg->layers.count; i++) {
        const xpu_codegen_layer *item = &cg->layers.items[layer + i];
        const uint32_t *words = arguments_of(cg, layer + i, word, NULL, arena);
        if (!words) break;
        calls[i] = (xpu_recorded_call){xpu_kernel_of(item->calls.items[0].kernel)->name, words, layer + i};
        if (i == 1 && !xpu_is_recorded_with(&calls[1], &calls[0], 0)) break;
        if (i == 2 && !xpu_is_recorded_behind(&calls[2], &calls[1], 0)) break;
        word += item->calls.items[0].words;
    }
    return i;
}

static const char *record_some(xpu_codegen *cg, const xpu_recorded_call *calls, uint32_t count, uint32_t room,
                               xpu_arena *arena, xpu_recording *recording, xpu_recorded *recorded) {
    const xpu_recorded_moves moves = xpu_moves_of_layers(&cg->program, NULL, calls[0].layer, count, arena);
    recording->moves = &moves;
    const char *why =
        xpu_record_layers(calls, count, XPU_GM_BASE, cg->chip.array_columns, room, arena, recording, recorded);
    recording->moves = NULL;
    if (why || !moves.move_count) return why;
    const uint32_t loads = (uint32_t)(recorded[0].args.loads + recorded[0].args.more_loads);
    recorded[0].places += xpu_most_copies(&moves, loads);
    recorded[0].args.places = (int32_t)recorded[0].places;
    return recorded[0].places > room ? "its lists are too long" : NULL;
}

/* Lists of one layer or several; 0: there are none. Several, which a dump or a run of one layer tells apart, need room
 * for lists of their own. */
static int record_calls(xpu_codegen *cg, const xpu_recorded_call *calls, uint32_t count, uint32_t used,
                        xpu_arena *arena, xpu_recording *recording, xpu_recorded *recorded) {
    const uint32_t left = used < XPU_MOST_LISTED_OF_ALL ? XPU_MOST_LISTED_OF_ALL - used : 0,
                   room = left < XPU_MOST_LISTED ? left : XPU_MOST_LISTED;
    const xpu_recording before = *recording;
    if (!count || !room || record_some(cg, calls, count, room, arena, recording, recorded)) return 0;
    if (count < 2) return 1;
    xpu_recording alone = before;
    uint32_t places = 0;
    for (uint32_t i = 0; i < count; i++) {
        xpu_recorded of;
        if (record_some(cg, &calls[i], 1, room, arena, &alone, &of)) break;
        if (of.places > recorded[i].places) recorded[i].places = of.places;
        recorded[i].args.places = (int32_t)recorded[i].places;
        places += recorded[i].places;
        if (i + 1 == count && places <= room) return 1;
    }
    *recording = before;
    return 0;
}

static void record_layers(xpu_codegen *cg, layer_lists *lists, xpu_arena *arena) {
    xpu_recording recording = {.after = 0};
    uint32_t word = 0, places = 0;
    for (uint32_t layer = 0, count = 1; layer < cg->layers.count; layer += count) {
        xpu_recorded_call calls[XPU_LISTED_TOGETHER];
        xpu_recorded recorded[XPU_LISTED_TOGETHER];
        const uint32_t found = calls_from(cg, layer, word, arena, calls), used = places + XPU_LISTED_PARAMETERS;
        int made = record_calls(cg, calls, found, used, arena, &recording, recorded);
        count = made && found > 1 ? found : 1;
        if (!made && found > 1) made = record_calls(cg, calls, 1, used, arena, &recording, recorded);
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

/* ---- scratch of neighbours ---- */

/* Layers with lists made together from `layer` on, whose scratch is one buffer; 0: none. */
static uint32_t count_with_scratch(const xpu_codegen *cg, const layer_lists *lists, uint32_t layer) {
    const xpu_codegen_layer *item = &cg->layers.items[layer];
    uint32_t count = 1;
    if (!lists[layer].places || lists[layer].args.is_rung) return 0;
    if (!item->tiles && item->kernel != XPU_KERNEL_elementwise && item->ring_cycles <= 0) return 0;
    while (layer + count < cg->layers.count && lists[layer + count].args.is_rung) count++;
    return count > 1 && item->ring_cycles <= 0 ? 0 : count;
}

/* Scratch is there while the layers before run, too, where SM has room for both: then weights come meanwhile.
 * Neighbours always fit at the two ends of SM in turn. */
static void begin_scratch_early(xpu_codegen *cg, const layer_lists *lists) {
    const uint64_t room = cg->chip.sm_bytes - XPU_MAILBOX_BYTES * XPU_MAX_CORES - 2 * PLACE_BYTES;
    uint64_t before = room;
    uint32_t first = 0;
    for (uint32_t layer = 0, count; layer < cg->layers.count; layer += count ? count : 1) {
        count = count_with_scratch(cg, lists, layer);
        if (!count) {
            before = room;
            continue;
        }
        xpu_program_buffer *buffer = &cg->program.buffers.items[cg->layers.items[layer].scratch];
        const uint64_t bytes = (uint64_t)xpu_dim_eval(&cg->graph->dims, buffer->bytes, NULL);
        if (bytes + before <= room && buffer->first_layer == layer) buffer->first_layer = first;
        before = bytes;
        first = layer;
    }
}

/* With what is fetched ahead; where lists of a layer have no room for it, without. */
static void record_ahead(xpu_codegen *cg, layer_lists *lists, xpu_arena *arena) {
    const uint32_t layers = cg->layers.count, buffers = cg->program.buffers.count;
    xpu_lists_kind *kinds = XPU_NEW_ARRAY(arena, xpu_lists_kind, layers);
    layer_lists *more = XPU_NEW_ARRAY(arena, layer_lists, layers);
    for (uint32_t i = 0; i < layers; i++)
        kinds[i] = !lists[i].places ? XPU_LISTS_NONE : lists[i].args.is_rung ? XPU_LISTS_BESIDE : XPU_LISTS_OWN;
    xpu_fetch_ahead(cg, kinds);
    if (cg->program.buffers.count == buffers) return;
    record_layers(cg, more, arena);
    int all = 1;
    for (uint32_t i = 0; i < layers; i++)
        all &= !lists[i].places == !more[i].places && lists[i].args.is_rung == more[i].args.is_rung;
    if (all) {
        memcpy(lists, more, layers * sizeof *lists);
        return;
    }
    cg->program.buffers.count = buffers;
    cg->program.transfers.count = 0;
}

/* ---- free shapes ---- */

static const int64_t *bounds_of_symbols(const xpu_codegen *cg, int upper, xpu_arena *arena) {
    const xpu_dims *dims = &cg->graph->dims;
    int64_t *symbols = XPU_NEW_ARRAY(arena, int64_t, dims->symbols.count);
    for (uint32_t i = 0; i < dims->symbols.count; i++)
        symbols[i] = upper ? dims->symbols.items[i].max : dims->symbols.items[i].min;
    xpu_symbols_bound(cg->graph, symbols);
    return symbols;
}

/* Places of a layer's lists at a shape; 0: it has none there. */
static uint32_t places_at(const xpu_codegen *cg, uint32_t layer, uint32_t word, const int64_t *symbols) {
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(cg->arena), "lists of a layer");
    xpu_recording recording = {.after = 0};
    xpu_recorded recorded;
    const xpu_recorded_call call = {xpu_kernel_of(cg->layers.items[layer].kernel)->name,
                                    arguments_of(cg, layer, word, symbols, arena), layer};
    const int made = call.words && !xpu_record_layers(&call, 1, XPU_GM_BASE, cg->chip.array_columns, XPU_MOST_LISTED,
                                                      arena, &recording, &recorded);
    const uint32_t places = made ? recorded.places : 0;
    xpu_arena_free(arena);
    return places;
}

/* Room for what the largest shape needs; a layer has lists where the smallest shape has. */
static void reserve_lists(xpu_codegen *cg, layer_lists *lists, xpu_arena *arena) {
    const int64_t *least = bounds_of_symbols(cg, 0, arena), *most = bounds_of_symbols(cg, 1, arena);
    uint32_t word = 0;
    for (uint32_t layer = 0; layer < cg->layers.count; layer++) {
        const xpu_codegen_layer *item = &cg->layers.items[layer];
        if (places_at(cg, layer, word, least)) {
            const uint32_t places = places_at(cg, layer, word, most);
            lists[layer].args.late = item->called_ahead;
            lists[layer].places = places ? places : XPU_MOST_LISTED;
        }
        for (uint32_t c = 0; c < item->calls.count; c++) word += item->calls.items[c].words;
    }
}

/* ---- the plan table ---- */

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

/* The words of pipeline_lists, of which engine_lists has the first, in front of those of the kernel that it stands for.
 */
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
        layer->list_bytes = xpu_is_listed(cg) ? lists[i].places * PLACE_BYTES : 0;
        layer->calls.items[0].unlisted = xpu_is_listed(cg) ? 0 : layer->calls.items[0].kernel + 1;
        const int in_pipeline = lists[i].args.tail || (i > 1 && lists[i - 2].args.tail > 0) ||
                                (i > 0 && lists[i - 1].args.tail == XPU_WINDOWS_FIRST);
        layer->calls.items[0].kernel = in_pipeline ? XPU_KERNEL_pipeline_lists : XPU_KERNEL_engine_lists;
        layer->calls.items[0].words += XPU_LISTS_WORDS;
        layer->calls.items[0].is_rung = lists[i].args.is_rung;
    }
}

void xpu_make_lists(xpu_codegen *cg) {
    const xpu_listed when = xpu_when_listed(cg);
    if (when == XPU_NOT_LISTED || cg->program.steps.count || !cg->layers.count) return;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "lists");
    layer_lists *lists = XPU_NEW_ARRAY(scratch, layer_lists, cg->layers.count);
    if (when == XPU_LISTED) {
        record_layers(cg, lists, scratch);
        begin_scratch_early(cg, lists);
        record_ahead(cg, lists, scratch);
    } else
        reserve_lists(cg, lists, scratch);
    const uint64_t most = (uint64_t)cg->chip.gm_bytes / PART_OF_GM;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < cg->layers.count; i++) bytes += (uint64_t)lists[i].places * PLACE_BYTES;
    if (bytes > MOST_BYTES) bytes = MOST_BYTES;
    if (when == XPU_LISTED_WHEN_BOUND && bytes > most) bytes = most / PLACE_BYTES * PLACE_BYTES;
    if (bytes) use_lists(cg, lists, add_buffer(cg, (uint32_t)bytes));
    xpu_arena_free(scratch);
}
