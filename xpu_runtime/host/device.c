/* A run on a device: load, start, answer events, read back. */
#include <string.h>

#include "core/ops/ref.h"
#include "xpu_runtime/host/host.h"

enum { CHUNK = 1 << 20, PAGE = 4096 };

/* What only a damaged program does: xpuc places everything inside of the chip's memories. */
static xpu_status device_error(const xpu_run *run, const char *what) {
    return xpu_error(run->diags, XPU_EFAULT, run->owner->image->name, "device-memory", NULL, what,
                     "the program asks for something that its chip does not have", "compile the model again with xpuc");
}

/* ---- values in device memory ---- */

static const xpu_program_value *place_of(xpu_run *run, xpu_value value) {
    const xpu_program *p = run->program;
    if (!run->place_of) {
        run->place_of = XPU_NEW_ARRAY(run->arena, const xpu_program_value *, run->graph->values.count);
        for (uint32_t i = p->values.count; i-- > 0;) { /* the first of several is the value's */
            run->place_of[p->values.items[i].value.id] = &p->values.items[i];
        }
    }
    return run->place_of[value.id];
}

static uint32_t address_of(const xpu_run *run, const xpu_program_value *placed) {
    int64_t offset = placed->offset.id ? xpu_dim_eval(&run->graph->dims, placed->offset, run->symbols) : 0;
    return run->places[placed->buffer].address + (uint32_t)offset;
}

uint32_t xpu_run_address_of(xpu_run *run, xpu_value value) {
    const xpu_program_value *placed = place_of(run, value);
    return placed ? address_of(run, placed) : 0;
}

/* Moves a value's bytes in its physical order; runs of a value with room along an axis lie apart. */
static int transfer(xpu_run *run, const xpu_program_value *placed, const xpu_tensor *shape, void *bytes, int is_write) {
    uint64_t rows = 1, places = 1, run_bytes = xpu_tensor_bytes(shape);
    const int is_image = xpu_value_at(run->graph, placed->value)->layout == XPU_LAYOUT_CHANNEL_LAST;
    for (int i = 0; placed->extent.id && i < (is_image ? shape->rank : placed->axis); i++)
        if (i != placed->axis) rows *= (uint64_t)shape->dims[i];
    if (placed->extent.id && shape->dims[placed->axis]) places = (uint64_t)shape->dims[placed->axis];
    if (!run_bytes) rows = 0;
    if (rows) run_bytes /= rows;
    uint64_t room = places;
    if (placed->extent.id) room = (uint64_t)xpu_dim_eval(&run->graph->dims, placed->extent, run->symbols);
    if (room < places || room > UINT32_MAX || run_bytes / places > UINT32_MAX) return 1;
    const uint64_t pitch = run_bytes / places * room, first = address_of(run, placed);
    for (uint64_t row = 0; row < rows; row++) {
        uint8_t *at = (uint8_t *)bytes + row * run_bytes;
        const uint64_t address = first + row * pitch;
        if (address > UINT32_MAX) return 1;
        if (is_write ? run->driver->write(run->device, (uint32_t)address, at, run_bytes)
                     : run->driver->read(run->device, (uint32_t)address, at, run_bytes))
            return 1;
    }
    return 0;
}

static xpu_status write_value(xpu_run *run, xpu_value value, const xpu_tensor *tensor) {
    const xpu_program_value *placed = place_of(run, value);
    if (!placed) return device_error(run, "a value has no place in device memory");
    size_t bytes = xpu_tensor_bytes(tensor);
    void *physical = xpu_alloc(run->arena, bytes);
    xpu_layout_to_device(xpu_value_at(run->graph, value)->layout, tensor, physical);
    if (transfer(run, placed, tensor, physical, 1)) {
        return device_error(run, "a value cannot be written");
    }
    return XPU_OK;
}

/* Its data are in `arena`. */
static xpu_status read_value(xpu_run *run, xpu_value value, xpu_arena *arena, xpu_tensor *tensor) {
    const xpu_value_info *info = xpu_value_at(run->graph, value);
    *tensor = xpu_run_shape(run, value);
    const xpu_program_value *placed = place_of(run, value);
    if (!placed && info->kind == XPU_VALUE_CONST) {
        return xpu_const_tensor(run->graph, value, arena, tensor, run->diags);
    }
    if (!placed) return device_error(run, "a value has no place in device memory");
    size_t bytes = xpu_tensor_bytes(tensor);
    void *physical = xpu_alloc(arena, bytes);
    if (transfer(run, placed, tensor, physical, 0)) {
        return device_error(run, "a value cannot be read");
    }
    tensor->data = xpu_alloc(arena, bytes);
    xpu_layout_to_logical(info->layout, physical, tensor);
    return XPU_OK;
}

/* ---- loading ---- */

static xpu_status load_segment(xpu_run *run, const xpu_program_segment *s) {
    const xpu_program_image *image = run->owner->image;
    if (s->is_weights && image->data->fd >= 0 && run->driver->map && s->address % PAGE == 0 && s->offset % PAGE == 0 &&
        run->driver->map(run->device, s->address, image->data->fd, s->offset, s->file_bytes) == 0) {
        return XPU_OK;
    }
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(run->arena), "segment");
    size_t most = s->file_bytes < CHUNK ? (size_t)s->file_bytes : CHUNK; /* a large block costs a map and an unmap */
    uint8_t *chunk = xpu_alloc(scratch, most);
    xpu_status status = XPU_OK;
    for (uint64_t at = 0; status == XPU_OK && at < s->file_bytes; at += most) {
        size_t n = s->file_bytes - at < most ? (size_t)(s->file_bytes - at) : most;
        status = xpu_program_bytes(image, s->offset + at, chunk, n, run->diags);
        if (status == XPU_OK && run->driver->write(run->device, s->address + at, chunk, n)) {
            status = device_error(run, "the program does not fit the device's memory");
        }
    }
    xpu_arena_free(scratch);
    return status;
}

/* Words that the device computes again are within 32 bits whatever it finds, and so is all that they are made of. */
static int is_word(const xpu_run *run, xpu_dim dim, int64_t value) {
    if (value < INT32_MIN || value > INT32_MAX) return 0;
    return !run->program->steps.count || !xpu_dim_is_dynamic(run->graph, dim) ||
           xpu_dim_between(run->graph, dim, run->symbols).largest <= INT32_MAX;
}

static xpu_status write_plan(xpu_run *run) {
    const xpu_program *p = run->program;
    uint32_t *words = XPU_NEW_ARRAY(run->arena, uint32_t, p->plan.count);
    for (uint32_t i = 0; i < p->plan.count; i++) {
        const xpu_plan_word *w = &p->plan.items[i];
        int64_t value = w->dim.id ? xpu_dim_eval(&run->graph->dims, w->dim, run->symbols) : 0;
        if (!is_word(run, w->dim, value)) return device_error(run, "a word of the plan table overflows");
        words[i] = w->kind == XPU_WORD_CONST     ? w->bits
                   : w->kind == XPU_WORD_ADDRESS ? run->places[w->buffer].address + (uint32_t)value
                                                 : (uint32_t)value;
    }
    uint32_t last = p->steps.count ? XPU_WHOLE_PROGRAM : p->layers.count - 1;
    const xpu_status lists = xpu_run_write_lists(run, words);
    if (lists != XPU_OK) return lists;
    uint32_t control[2] = {run->only_layer == UINT32_MAX ? 0 : run->only_layer,
                           run->only_layer == UINT32_MAX ? last : run->only_layer};
    if (run->driver->write(run->device, p->plan_address, words, p->plan.count * sizeof *words) ||
        run->driver->write(run->device, p->control_address, control, sizeof control)) {
        return device_error(run, "the plan table cannot be written");
    }
    return XPU_OK;
}

/* One layer alone finds the copies of weights that the program's first layer would have made. */
static xpu_status write_copies(xpu_run *run) {
    const xpu_program *p = run->program;
    for (uint32_t i = 0; i < p->buffers.count; i++) {
        const xpu_program_buffer *b = &p->buffers.items[i];
        if (b->kind != XPU_BUFFER_COPY || b->last_layer < run->only_layer) continue;
        size_t bytes = (size_t)xpu_dim_eval(&run->graph->dims, b->bytes, run->symbols);
        void *copy = xpu_alloc(run->arena, bytes);
        if (run->driver->read(run->device, run->places[b->copy_of].address, copy, bytes) ||
            run->driver->write(run->device, run->places[i].address, copy, bytes)) {
            return device_error(run, "a weight cannot be copied");
        }
    }
    return XPU_OK;
}

/* What a layer reads; of an operand without a place, what that is made of. */
static xpu_status write_operands(xpu_run *run, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(run->graph, node);
    for (uint32_t i = 0; i < info->input_count; i++) {
        xpu_tensor tensor;
        xpu_value value = info->inputs[i];
        if (!value.id || xpu_value_at(run->graph, value)->kind == XPU_VALUE_CONST) continue;
        int is_made = xpu_value_at(run->graph, value)->kind == XPU_VALUE_NODE;
        xpu_node maker = xpu_value_at(run->graph, value)->node;
        if (is_made && !place_of(run, value) && xpu_run_layer_of(run, maker) == UINT32_MAX) {
            xpu_status status = write_operands(run, maker);
            if (status != XPU_OK) return status;
            continue;
        }
        xpu_status status = xpu_replay_value(run, value, &tensor);
        if (status == XPU_OK) status = write_value(run, value, &tensor);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

static xpu_status write_inputs(xpu_run *run) {
    if (run->only_layer == UINT32_MAX) {
        for (uint32_t i = 0; i < run->graph->inputs.count; i++) {
            if (xpu_run_state_stays(run, i)) continue;
            xpu_status status = xpu_run_save_state(run, i);
            if (status == XPU_OK) status = write_value(run, run->graph->inputs.items[i], &run->inputs[i]);
            if (status != XPU_OK) return status;
        }
        return XPU_OK;
    }
    xpu_status copied = write_copies(run);
    if (copied != XPU_OK) return copied;
    return write_operands(run, run->program->layers.items[run->only_layer].node);
}

/* What of the program's memory a run may have changed: the segments of the control words and of the plan table. */
static int is_restored(const xpu_program *p, const xpu_program_segment *s) {
    return (p->control_address >= s->address && p->control_address - s->address < s->memory_bytes) ||
           (p->plan_address >= s->address && p->plan_address - s->address < s->memory_bytes);
}

/* Until the run has ended well, what the device holds is not known. */
static xpu_status load(xpu_run *run) {
    const xpu_program_image *image = run->owner->image;
    int is_loaded = run->session->is_loaded;
    run->session->is_loaded = 0;
    xpu_status status = xpu_run_find_places(run);
    if (status == XPU_OK && run->session->is_swapped) xpu_placement_swap(run->program, run->places);
    for (uint32_t i = 0; status == XPU_OK && i < image->segments.count; i++) {
        const xpu_program_segment *s = &image->segments.items[i];
        if (!is_loaded || is_restored(run->program, s)) status = load_segment(run, s);
    }
    if (status == XPU_OK) status = write_plan(run);
    return status == XPU_OK ? write_inputs(run) : status;
}

/* ---- events ---- */

static const char *layer_name(const xpu_run *run, uint32_t layer) {
    const char *name = layer < run->program->layers.count ? run->program->layers.items[layer].name : "?";
    return xpu_escape(run->arena, name, 80);
}

/* "layer 'conv1' (#1), node 'conv1' (Conv-11, #5)" */
static const char *layer_and_node(const xpu_run *run, uint32_t layer) {
    const char *text = xpu_printf(run->arena, "layer '%s' (#%u)", layer_name(run, layer), layer);
    if (layer >= run->program->layers.count || !run->program->layers.items[layer].node.id) return text;
    return xpu_printf(run->arena, "%s, %s", text,
                      xpu_node_where(run->graph, run->program->layers.items[layer].node, run->arena));
}

/* Lock-step: the reason says cycle, place, disassembly and both values. */
static xpu_status on_difference(const xpu_run *run, const xpurt_fault *f) {
    return xpu_error(run->diags, XPU_ELOCKSTEP, run->owner->image->name, "device-differs",
                     layer_and_node(run, xpu_run_layer_of_tag(run, f->layer)), f->cause_text, f->reason,
                     "report this with the program; --wave=LAYER:FILE.fst shows the signals");
}

static xpu_status on_fault(const xpu_run *run, const xpurt_fault *f) {
    if (f->differs) return on_difference(run, f);
    uint32_t layer = xpu_run_layer_of_tag(run, f->layer);
    const char *where = xpu_printf(run->arena, "layer '%s' (#%u)", layer_name(run, layer), layer);
    xpu_status control = xpu_run_control_fault(run, f, where, layer_and_node(run, layer));
    if (control != XPU_OK) return control;
    int timed_out = f->cause == XPU_FAULT_TIMEOUT || f->cause == XPU_FAULT_DEADLOCK;
    const char *what = xpu_printf(run->arena, "%s: %s", f->cause_text, f->reason);
    xpu_text why;
    xpu_text_init(&why, run->arena);
    if (f->core >= 0) {
        xpu_text_add(&why, "core %d, pc 0x%08x, instruction 0x%08x, address 0x%08llx", f->core, f->pc, f->instruction,
                     (unsigned long long)f->address);
    } else if (f->engine >= 0) {
        xpu_text_add(&why, "engine %s, descriptor at 0x%08llx, address 0x%08llx", xpu_engine_name((unsigned)f->engine),
                     (unsigned long long)f->descriptor, (unsigned long long)f->address);
    }
    if (f->cause == XPU_FAULT_ABORT) xpu_text_add(&why, ", code %u", f->code);
    size_t length = f->state ? strlen(f->state) : 0;
    while (length && f->state[length - 1] == '\n') length--;
    if (length && why.length) xpu_text_add(&why, "\n");
    xpu_text_add_bytes(&why, f->state, length);
    return xpu_error(run->diags, timed_out ? XPU_ETIMEOUT : XPU_EFAULT, run->owner->image->name,
                     timed_out ? "device-timeout" : "device-fault", where, what, why.text,
                     "run with --dump-layers to see how far the results are right");
}

void xpu_run_counters(const xpu_run *run, xpurt_counters *counters) {
    const xpurt_counters *before = &run->before;
    run->driver->counters(run->device, counters);
    counters->cycles -= before->cycles;
    counters->macs -= before->macs;
    counters->gm_read_bytes -= before->gm_read_bytes;
    counters->gm_write_bytes -= before->gm_write_bytes;
    counters->edges -= before->edges;
    for (int i = 0; i < XPURT_MAX_CORES; i++) {
        counters->instructions[i] -= before->instructions[i];
        for (int k = 0; k < XPURT_STATES; k++) counters->core_states[i][k] -= before->core_states[i][k];
    }
    for (int i = 0; i < XPURT_ENGINES; i++) {
        counters->descriptors[i] -= before->descriptors[i];
        for (int k = 0; k < XPURT_STATES; k++) counters->engine_states[i][k] -= before->engine_states[i][k];
    }
}

static uint64_t instructions(const xpurt_counters *counters) {
    uint64_t total = 0;
    for (int i = 0; i < XPURT_MAX_CORES; i++) total += counters->instructions[i];
    return total;
}

/* To the dump, or to the comparison with one. */
static xpu_status take_result(xpu_run *run, uint32_t layer, uint32_t output, int dumped) {
    xpu_tensor tensor;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(run->arena), "result");
    xpu_status status = read_value(run, run->program->layers.items[layer].outputs[output], scratch, &tensor);
    if (status == XPU_OK && dumped) status = xpu_dump_write(run, layer, output, &tensor);
    if (status == XPU_OK && run->only_layer == layer) status = xpu_replay_compare(run, layer, output, &tensor);
    xpu_arena_free(scratch);
    return status;
}

static xpu_status on_layer(xpu_run *run, uint32_t layer) {
    if (layer >= run->program->layers.count)
        return device_error(run, "the device announced a layer that does not exist");
    const xpu_program_layer *l = &run->program->layers.items[layer];
    int again = run->layers[layer].announced;
    if (again && !(xpu_run_nesting(run, layer) & XPU_NESTED_LOOP))
        return device_error(run, "the device announced a layer twice");
    xpu_status status = xpu_run_refresh(run);
    if (status != XPU_OK) return status;
    run->layers[layer].host_called = 0;
    xpu_run_progress(run, layer);
    xpurt_counters now;
    xpu_run_counters(run, &now);
    const uint64_t executed = instructions(&now) - instructions(&run->counters), since = run->counters.cycles;
    run->layers[layer].instructions += executed;
    xpu_profile_layer(run, layer, &now);
    xpu_executions_add(run, layer, now.cycles - since, executed);
    if (run->trace) xpu_trace_layer(run, layer, since, now.cycles);
    run->counters = now;
    const int dumped = xpu_dump_wants(run, layer);
    for (uint32_t i = 0; i < l->output_count && (dumped || run->only_layer == layer) && status == XPU_OK; i++)
        status = take_result(run, layer, i, dumped);
    return status;
}

/* Runs a host layer's node on device memory. The request block is {layer, status}. */
static xpu_status on_host_call(xpu_run *run, uint32_t address) {
    uint32_t request[2];
    if (run->driver->read(run->device, address, request, sizeof request)) {
        return device_error(run, "the request of a host call cannot be read");
    }
    if (request[0] >= run->program->layers.count || !run->program->layers.items[request[0]].node.id) {
        return device_error(run, "a host call names a layer that does not exist");
    }
    if (run->layers[request[0]].host_called) return device_error(run, "the device called the host twice for a layer");
    run->layers[request[0]].host_called = 1;
    xpu_node node = run->program->layers.items[request[0]].node;
    const xpu_node_info *info = xpu_node_at(run->graph, node);
    xpu_tensor *inputs = XPU_NEW_ARRAY(run->arena, xpu_tensor, info->input_count);
    const xpu_tensor **pointers = XPU_NEW_ARRAY(run->arena, const xpu_tensor *, info->input_count);
    xpu_tensor *results = XPU_NEW_ARRAY(run->arena, xpu_tensor, info->output_count);
    xpu_status status = xpu_run_refresh(run);
    if (status == XPU_OK) status = xpu_run_afford_node(run, node);
    if (status == XPU_OK) status = xpu_run_constants(run);
    for (uint32_t i = 0; status == XPU_OK && i < info->input_count; i++) {
        if (!info->inputs[i].id) continue;
        int constant = xpu_value_at(run->graph, info->inputs[i])->kind == XPU_VALUE_CONST;
        status = constant ? xpu_const_tensor(run->graph, info->inputs[i], run->arena, &inputs[i], run->diags)
                          : read_value(run, info->inputs[i], run->arena, &inputs[i]);
        pointers[i] = &inputs[i];
    }
    if (status == XPU_OK) {
        status = xpu_run_node(run, node, pointers, results);
    }
    for (uint32_t i = 0; status == XPU_OK && i < info->output_count; i++) {
        status = write_value(run, info->outputs[i], &results[i]);
    }
    request[1] = 0;
    if (status == XPU_OK &&
        (run->driver->write(run->device, address, request, sizeof request) || run->driver->answer(run->device))) {
        status = device_error(run, "a host call cannot be answered");
    }
    return status;
}

/* A device counts its cycles itself, where it has them. */
static xpu_status over_budget(const xpu_run *run, uint64_t limit) {
    xpurt_counters now;
    xpu_run_counters(run, &now);
    int by_cycles = now.cycles && instructions(&now) < limit;
    const char *unit = by_cycles ? "cycles" : "instructions";
    const char *given = run->options->max_instructions || by_cycles ? "" : ", which its layers and tensors give";
    return xpu_error(run->diags, XPU_ETIMEOUT, run->owner->image->name, "device-budget", NULL,
                     xpu_printf(run->arena, "the program needs more %s than allowed", unit),
                     xpu_printf(run->arena, "the limit is %llu %s%s",
                                (unsigned long long)(by_cycles ? now.cycles : limit), unit, given),
                     "raise the limit: --max-cycles=N (xpurt_run_options.max_instructions)");
}

/* A program that works announces each layer that it was asked for before it ends. */
static xpu_status check_end(xpu_run *run) {
    uint32_t count = run->program->layers.count, done = 0, missing = count;
    for (uint32_t i = count; i-- > 0;) {
        int wanted = run->only_layer == i || (run->only_layer == UINT32_MAX && !xpu_run_nesting(run, i));
        if (!wanted || run->layers[i].announced)
            done++;
        else
            missing = i;
    }
    if (missing == count) return XPU_OK;
    return xpu_error(run->diags, XPU_EFAULT, run->owner->image->name, "device-status",
                     xpu_printf(run->arena, "layer '%s' (#%u)", layer_name(run, missing), missing),
                     "the program ended before this layer was done",
                     xpu_printf(run->arena, "%u of %u layers are", done, count),
                     "the program is not as xpuc made it: compile the model again");
}

static xpu_status follow_events(xpu_run *run) {
    const uint64_t limit = xpu_run_limit(run);
    for (;;) {
        xpurt_counters now;
        xpu_run_counters(run, &now);
        uint64_t used = instructions(&now);
        if (used >= limit) return over_budget(run, limit);
        xpurt_event event;
        if (run->driver->run(run->device, limit == UINT64_MAX ? 0 : limit - used, &event))
            return device_error(run, "the device cannot run");
        xpu_status status = XPU_OK;
        switch (event.kind) {
        case XPURT_EVENT_ENDED:
            if (event.status == 0) return check_end(run);
            return xpu_error(run->diags, XPU_EFAULT, run->owner->image->name, "device-status", NULL,
                             xpu_printf(run->arena, "the program ended with status %u", event.status),
                             "a program that works ends with 0", "report this with the program");
        case XPURT_EVENT_LAYER: status = on_layer(run, event.layer); break;
        case XPURT_EVENT_HOST_CALL: status = on_host_call(run, event.address); break;
        case XPURT_EVENT_FAULT: return on_fault(run, event.fault);
        case XPURT_EVENT_BUDGET: return over_budget(run, limit);
        case XPURT_EVENT_STOPPED: return xpu_run_stopped(run);
        }
        if (status != XPU_OK) return status;
    }
}

static xpu_status read_outputs(xpu_run *run) {
    xpu_status refreshed = xpu_run_refresh(run);
    if (refreshed != XPU_OK) return refreshed;
    for (uint32_t i = 0; i < run->graph->outputs.count; i++) {
        xpu_value value = run->graph->outputs.items[i];
        if (run->options->leave_states && xpu_graph_state_of_output(run->graph, i)) continue;
        xpu_status status = xpu_value_at(run->graph, value)->kind == XPU_VALUE_CONST
                                ? xpu_const_tensor(run->graph, value, run->arena, &run->outputs[i], run->diags)
                                : read_value(run, value, run->arena, &run->outputs[i]);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

static int has_constant_output(const xpu_run *run) {
    for (uint32_t i = 0; i < run->graph->outputs.count; i++) {
        if (xpu_value_at(run->graph, run->graph->outputs.items[i])->kind == XPU_VALUE_CONST) return 1;
    }
    return 0;
}

/* What came after the last layer's completion counts as that layer's, or as that of the layer that did not end. */
static xpu_status take_counters(xpu_run *run, xpu_status status) {
    xpurt_counters now;
    xpu_run_counters(run, &now);
    xpu_run_set_incomplete(run, status);
    const uint64_t since = run->counters.cycles;
    if (run->incomplete && run->program->layers.count) {
        uint32_t layer = xpu_run_current_layer(run);
        xpu_profile_layer(run, layer, &now);
        if (run->trace && !run->layers[layer].announced) xpu_trace_layer(run, layer, since, now.cycles);
    } else if (run->layers_done) {
        xpu_profile_layer(run, run->last_layer, &now);
        xpu_executions_extend(run, run->last_layer, now.cycles - since);
    }
    run->counters = now;
    xpu_status written = xpu_trace_write(run);
    return status == XPU_OK ? written : status;
}

/* The session's device; its hooks are those of this run. */
static xpu_status open_device(xpu_run *run) {
    xpurt_session *session = run->session;
    if (!session->device) session->device = run->driver->create(&session->chip, run->diags);
    run->device = session->device;
    if (!run->device) return xpu_diags_status(run->diags);
    run->driver->counters(run->device, &run->before);
    return XPU_OK;
}

static xpu_status start(xpu_run *run) {
    run->driver->seed(run->device, run->options->seed);
    if (run->driver->stop) run->driver->stop(run->device, run->options->stop, run->options->context);
    xpu_profile_begin(run);
    if (run->driver->start(run->device, run->program->entry)) return device_error(run, "the device does not start");
    return follow_events(run);
}

xpu_status xpu_run_on_device(xpu_run *run) {
    double begin = xpu_seconds();
    xpu_status status = open_device(run);
    if (status != XPU_OK) return status;
    if (run->only_layer != UINT32_MAX || has_constant_output(run)) status = xpu_run_constants(run);
    if (status == XPU_OK) status = load(run);
    run->bind_seconds = xpu_seconds() - begin;
    if (status == XPU_OK && run->program->layers.count) status = start(run);
    if (status == XPU_ESTOPPED && !run->diags->errors) xpu_run_stopped(run);
    status = take_counters(run, status);
    if (status == XPU_OK && run->only_layer == UINT32_MAX) status = read_outputs(run);
    xpu_status races = xpu_run_races(run);
    if (status == XPU_OK) status = races;
    run->session->is_loaded = status == XPU_OK;
    return status;
}
