/* The lists of descriptors of layers on engines, made for the places that a run has. */
#include <string.h>

#include "xpu_runtime/host/host.h"
#include "xpu_runtime/program/record.h"

static xpu_status refuse(const xpu_run *run, uint32_t layer, const char *why) {
    return xpu_error(run->diags, XPU_EMODEL, run->owner->image->name, "program-lists",
                     xpu_escape(run->arena, run->program->layers.items[layer].name, 80),
                     "the layer's lists of descriptors cannot be made", why, "compile the model again");
}

/* A layer's lists as its words in the plan table want them; these then say what the lists are. */
static xpu_status write_layer(xpu_run *run, uint32_t layer, uint32_t *words, xpu_recording *recording) {
    const xpu_program *p = run->program;
    const uint32_t buffer = p->plan.items[p->layers.items[layer].lists - 1].buffer;
    struct xpu_engine_lists_args args;
    xpu_recorded recorded;
    memcpy(&args, words, sizeof args);
    const int64_t room = xpu_dim_eval(&run->graph->dims, p->buffers.items[buffer].bytes, run->symbols);
    const uint64_t places = 1 + (uint64_t)(uint32_t)args.loads + (uint32_t)args.work + (uint32_t)args.stores,
                   bytes = places * XPU_DESC_WORDS * sizeof(uint32_t),
                   at = (uint64_t)args.lists - run->places[buffer].address;
    if (at > (uint64_t)room || bytes > (uint64_t)room - at) return refuse(run, layer, "they leave their buffer");
    const char *why =
        xpu_record_layer(p->layers.items[layer].kernel, words + XPU_LISTS_WORDS, layer, args.lists,
                         run->owner->chip.array_columns, (uint32_t)places, run->arena, recording, &recorded);
    if (!why && recorded.places != places) why = "they have another length";
    if (why) return refuse(run, layer, why);
    recorded.args.late = args.late;
    memcpy(words, &recorded.args, sizeof recorded.args);
    if (run->driver->write(run->device, args.lists, recorded.words, (size_t)bytes))
        return refuse(run, layer, "the device has no memory where they lie");
    return XPU_OK;
}

xpu_status xpu_run_write_lists(xpu_run *run, uint32_t *words) {
    const xpu_program *p = run->program;
    xpu_recording recording = {.after = 0};
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; i < p->layers.count && status == XPU_OK; i++) {
        const uint32_t lists = p->layers.items[i].lists;
        if (lists) status = write_layer(run, i, words + lists - 1, &recording);
    }
    return status;
}
