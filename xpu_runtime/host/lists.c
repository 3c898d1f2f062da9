/* The lists of descriptors of layers on engines, made for the places that a run has. */
#include <string.h>

#include "xpu_runtime/host/host.h"
#include "xpu_runtime/program/transfers.h"

enum { PLACE_BYTES = XPU_DESC_WORDS * sizeof(uint32_t) };

static xpu_status refuse(const xpu_run *run, uint32_t layer, const char *why) {
    return xpu_error(run->diags, XPU_EMODEL, run->owner->image->name, "program-lists",
                     xpu_escape(run->arena, run->program->layers.items[layer].name, 80),
                     "the layer's lists of descriptors cannot be made", why, "compile the model again");
}

/* A call as the plan table has it, behind the words of its lists. */
static xpu_recorded_call call_of(const xpu_run *run, uint32_t layer, const uint32_t *words) {
    const xpu_program_layer *item = &run->program->layers.items[layer];
    return (xpu_recorded_call){item->kernel, words + item->lists - 1 + XPU_LISTS_WORDS, layer};
}

/* Where the plan says that a layer's lists are, and of how many places; NULL, or what is wrong. */
static const char *find_places(const xpu_run *run, uint32_t layer, const uint32_t *words, xpu_recorded_call *call,
                               struct xpu_pipeline_lists_args *args, uint64_t *places) {
    const xpu_program *p = run->program;
    const uint32_t first = p->layers.items[layer].lists - 1, buffer = p->plan.items[first].buffer;
    memcpy(args, words + first, sizeof *args);
    const int64_t room = xpu_dim_eval(&run->graph->dims, p->buffers.items[buffer].bytes, run->symbols);
    *places = (uint32_t)args->places;
    const uint64_t at = (uint64_t)args->lists - run->places[buffer].address;
    if (at > (uint64_t)room || *places * PLACE_BYTES > (uint64_t)room - at) return "they leave their buffer";
    *call = call_of(run, layer, words);
    return NULL;
}

/* How many layers from this one on are recorded together. In a run of one layer each is by itself. */
static uint32_t count_together(const xpu_run *run, uint32_t layer, const uint32_t *words) {
    const xpu_program_layer *items = run->program->layers.items;
    struct xpu_pipeline_lists_args args;
    memcpy(&args, words + items[layer].lists - 1, sizeof args);
    if (!args.more_work || run->only_layer != UINT32_MAX) return 1;
    if (layer + 1 >= run->program->layers.count || !items[layer + 1].lists) return 1;
    const int dumps = run->dump != NULL;
    const xpu_recorded_call calls[] = {call_of(run, layer, words), call_of(run, layer + 1, words)};
    if (!xpu_is_recorded_with(&calls[1], &calls[0], dumps)) return 1;
    if (!args.tail || layer + 2 >= run->program->layers.count || !items[layer + 2].lists) return 2;
    const xpu_recorded_call behind = call_of(run, layer + 2, words);
    return xpu_is_recorded_behind(&behind, &calls[1], dumps) ? 3 : 2;
}

/* The lists of `count` layers as their words in the plan table want them; these then say what the lists are. *total:
 * places of those before. */
static xpu_status write_layers(xpu_run *run, uint32_t layer, uint32_t count, uint32_t *words, xpu_recording *recording,
                               uint64_t *total) {
    struct xpu_pipeline_lists_args args[XPU_LISTED_TOGETHER];
    xpu_recorded_call calls[XPU_LISTED_TOGETHER];
    xpu_recorded recorded[XPU_LISTED_TOGETHER];
    uint64_t places[XPU_LISTED_TOGETHER], all = 0;
    const char *why = NULL;
    for (uint32_t i = 0; i < count && !why; i++) {
        why = find_places(run, layer + i, words, &calls[i], &args[i], &places[i]);
        if (!why && i > 0 && args[i].lists != args[i - 1].lists + places[i - 1] * PLACE_BYTES)
            why = "they do not follow each other";
        all += places[i];
    }
    *total += all;
    if (!why && *total > XPU_MOST_LISTED_OF_ALL) why = "the program's are longer than xpuc makes them";
    if (!why && (all < XPU_LISTED_PARAMETERS || all > XPU_MOST_LISTED + XPU_LISTED_PARAMETERS))
        why = "they are longer than xpuc makes them";
    xpu_recorded_moves moves = {0};
    if (run->only_layer == UINT32_MAX) moves = xpu_moves_of_layers(run->program, run->places, layer, count, run->arena);
    recording->moves = &moves;
    if (!why)
        why = xpu_record_layers(calls, count, args[0].lists, run->owner->chip.array_columns, (uint32_t)all, run->arena,
                                recording, recorded);
    uint64_t made = 0;
    for (uint32_t i = 0; i < count && !why; i++) made += recorded[i].places;
    if (!why && made > all) why = "they have no room for their descriptors";
    if (why) return refuse(run, layer, why);
    /* behind these comes no layer on the cores, which might begin with the first rows */
    if (layer + count < run->program->layers.count && run->program->layers.items[layer + count].lists)
        recorded[count - 1].args.y = 0;
    for (uint32_t i = 0; i < count; i++) {
        recorded[i].args.late = args[i].late;
        memcpy(words + run->program->layers.items[layer + i].lists - 1, &recorded[i].args, sizeof recorded[i].args);
    }
    if (run->driver->write(run->device, args[0].lists, recorded[0].words, (size_t)(made * PLACE_BYTES)))
        return refuse(run, layer, "the device has no memory where they lie");
    return XPU_OK;
}

/* The lists of a program of free shapes follow each other in their buffer, `used` places of which are taken. A layer
 * for which there is no room, or which has none at this shape, says so by no work: core 0 makes its descriptors. */
static xpu_status write_bound(xpu_run *run, uint32_t layer, uint32_t *words, xpu_recording *recording, uint32_t *used) {
    const xpu_program *p = run->program;
    const uint32_t first = p->layers.items[layer].lists - 1, buffer = p->plan.items[first].buffer;
    const int64_t bytes = xpu_dim_eval(&run->graph->dims, p->buffers.items[buffer].bytes, run->symbols);
    const uint64_t room = (uint64_t)bytes / PLACE_BYTES, left = room > *used ? room - *used : 0;
    const uint32_t most = left < XPU_MOST_LISTED + 1 ? (uint32_t)left : XPU_MOST_LISTED + 1;
    const xpu_recorded_call call = {p->layers.items[layer].kernel, words + first + XPU_LISTS_WORDS, layer};
    struct xpu_pipeline_lists_args args, none = {.lists = run->places[buffer].address + *used * PLACE_BYTES};
    xpu_recorded recorded;
    memcpy(&args, words + first, sizeof args);
    memcpy(words + first, &none, sizeof none);
    if (most < 2 || xpu_record_layers(&call, 1, none.lists, run->owner->chip.array_columns, most - 1, run->arena,
                                      recording, &recorded))
        return XPU_OK;
    recorded.args.late = args.late;
    memcpy(words + first, &recorded.args, sizeof recorded.args);
    *used += recorded.places;
    if (run->driver->write(run->device, none.lists, recorded.words, (size_t)recorded.places * PLACE_BYTES))
        return refuse(run, layer, "the device has no memory where they lie");
    return XPU_OK;
}

xpu_status xpu_run_write_lists(xpu_run *run, uint32_t *words) {
    const xpu_program *p = run->program;
    const int bound = run->graph->dims.symbols.count != 0;
    xpu_recording recording = {.is_run = run->only_layer == UINT32_MAX};
    xpu_status status = XPU_OK;
    uint64_t total = 0;
    uint32_t used = 0;
    for (uint32_t i = 0, count = 1; i < p->layers.count && status == XPU_OK; i += count) {
        count = p->layers.items[i].lists && !bound ? count_together(run, i, words) : 1;
        if (!p->layers.items[i].lists) continue;
        status = bound ? write_bound(run, i, words, &recording, &used)
                       : write_layers(run, i, count, words, &recording, &total);
    }
    return status;
}
