#include "tools/common/frames.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"

enum { MOST_AXIS = 7 };

static int refuse(xpu_tool *tool, const char *what, const char *why, const char *hint) {
    xpu_error(
        &tool->diags, XPU_EUSAGE, NULL, "frames",
        xpu_printf(tool->arena, "--frames %s", xpu_escape_message(tool->arena, xpu_tool_option(tool, "frames"), 120)),
        what, why, hint);
    return XPU_EUSAGE;
}

/* ---- the option ---- */

static int number(const char **at, int64_t least, int64_t *value) {
    char *end;
    if (!isdigit((unsigned char)**at)) return 0;
    errno = 0;
    *value = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0 && *value >= least && *value <= INT32_MAX;
}

/* "576:512" or "576:512:1"; axis -1: none is named. */
static int parse(const char *at, xpu_frames *frames) {
    int64_t axis = -1;
    if (!number(&at, 1, &frames->size) || *at++ != ':' || !number(&at, 1, &frames->hop)) return 0;
    if (*at == ':') {
        at++;
        if (!number(&at, 0, &axis) || axis > MOST_AXIS) return 0;
    }
    frames->axis = (int)axis;
    return !*at;
}

/* Names may hold '=': the last one ends the name. */
static int find_input(xpu_tool *tool, const xpu_inputs *inputs, const char *text, xpu_frames *frames) {
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || !parse(equals + 1, frames))
        return refuse(tool, "the frames cannot be read", "they are no INPUT=SIZE:HOP or INPUT=SIZE:HOP:AXIS",
                      "write for example --frames x=576:512");
    size_t length = (size_t)(equals - text);
    for (uint32_t i = 0; i < inputs->count; i++) {
        frames->input = i;
        if (strlen(inputs->items[i].name) == length && memcmp(inputs->items[i].name, text, length) == 0) return XPU_OK;
    }
    return refuse(tool, "no such input is given",
                  "frames are cut from a tensor that --input gives for the whole signal",
                  "add --input NAME=FILE.npy with that name");
}

/* The first axis that is not 1, where none is named. */
static int find_axis(const xpurt_tensor *x, int wanted) {
    int axis = 0;
    if (wanted >= 0) return wanted < x->rank ? wanted : -1;
    while (axis + 1 < x->rank && x->dims[axis] == 1) axis++;
    return x->rank ? axis : -1;
}

int xpu_frames_read(xpu_tool *tool, xpu_inputs *inputs, xpu_frames *frames) {
    const char *text = xpu_tool_option(tool, "frames");
    char shape[192];
    int status = find_input(tool, inputs, text, frames);
    if (status) return status;
    xpurt_tensor *x = &inputs->items[frames->input];
    const char *dims = xpu_dims_text(x->rank, x->dims, shape, sizeof shape);
    frames->axis = find_axis(x, frames->axis);
    if (frames->axis < 0)
        return refuse(tool, "the input has no such axis", xpu_printf(tool->arena, "its file has %s", dims),
                      "axes count from 0; without one the first that is not 1 is cut");
    int64_t length = x->dims[frames->axis];
    if (length < frames->size)
        return refuse(tool, "the input is shorter than one frame",
                      xpu_printf(tool->arena, "its file has %s, axis %d is cut", dims, frames->axis),
                      "pad it, or name another axis: INPUT=SIZE:HOP:AXIS");
    memcpy(frames->whole, x->dims, sizeof frames->whole);
    frames->count = (length - frames->size) / frames->hop + 1;
    int64_t rest = length - frames->size - (frames->count - 1) * frames->hop;
    if (rest)
        xpu_diag_add(
            &tool->diags, XPU_SEVERITY_NOTE, XPU_OK, NULL, "frames", NULL,
            xpu_printf(tool->arena, "%lld of %lld elements are in no frame", (long long)rest, (long long)length),
            "they are behind the last whole frame", "pad the input where they count");
    x->dims[frames->axis] = frames->size;
    return XPU_OK;
}

/* ---- running ---- */

typedef struct {
    xpu_tool *tool;
    const xpu_frames *frames;
    uint32_t output_count;
    xpurt_tensor *one, *outputs;
    json_t *sums, *list; /* what all frames took together, and each of them */
} work;

static int64_t product(const int64_t *dims, int from, int to) {
    int64_t count = 1;
    for (int i = from; i < to; i++) count *= dims[i];
    return count;
}

static size_t bytes_of(const xpurt_tensor *t) {
    xpu_tensor tensor = xpu_from_runtime(t);
    return xpu_tensor_bytes(&tensor);
}

/* Frame `index` of the whole input into `to`. */
static void cut(const xpu_frames *f, const xpurt_tensor *x, const uint8_t *whole, int64_t index, uint8_t *to) {
    xpurt_tensor one = *x;
    memset(one.dims, 0, sizeof one.dims);
    one.rank = 0;
    int64_t inner = product(f->whole, f->axis + 1, x->rank) * (int64_t)bytes_of(&one);
    int64_t outer = product(f->whole, 0, f->axis), length = f->whole[f->axis];
    for (int64_t i = 0; i < outer; i++) {
        memcpy(to + i * f->size * inner, whole + (i * length + index * f->hop) * inner, (size_t)(f->size * inner));
    }
}

/* States are given to the first frame only; its own run after that. */
static uint32_t inputs_of(const xpurt_program *program, const xpu_inputs *all, int64_t frame, xpurt_tensor *inputs) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        int is_state = 0;
        for (uint32_t k = 0; k < xpurt_input_count(program); k++) {
            xpurt_tensor info;
            xpurt_input(program, k, &info);
            if (strcmp(info.name, all->items[i].name) == 0) is_state = xpurt_state_of_input(program, k) >= 0;
        }
        if (!is_state || frame == 0) inputs[count++] = all->items[i];
    }
    return count;
}

static int no_stack(xpu_tool *tool, const xpurt_tensor *output, const char *why) {
    return refuse(tool,
                  xpu_printf(tool->arena, "output '%s' cannot be stacked", xpu_escape(tool->arena, output->name, 80)),
                  why, "run the frames one by one");
}

static int stack(const work *w, int64_t frame) {
    for (uint32_t i = 0; i < w->output_count; i++) {
        xpurt_tensor *one = &w->one[i], *all = &w->outputs[i];
        size_t bytes = bytes_of(one), whole;
        if (frame == 0) {
            if (one->rank > MOST_AXIS) return no_stack(w->tool, one, "it has 8 dims, a tensor has no more");
            if (__builtin_mul_overflow(bytes, (size_t)w->frames->count, &whole)) whole = SIZE_MAX;
            *all = *one;
            memmove(all->dims + 1, one->dims, (size_t)one->rank * sizeof *one->dims);
            all->dims[0] = w->frames->count;
            all->rank++;
            all->data = whole == SIZE_MAX ? NULL : malloc(whole ? whole : 1);
            if (!all->data) return (int)xpu_error_oom(&w->tool->diags);
        } else if (memcmp(all->dims + 1, one->dims, (size_t)one->rank * sizeof *one->dims) != 0) {
            return no_stack(w->tool, one, "its shape changes from frame to frame");
        }
        if (bytes) memcpy((uint8_t *)all->data + (size_t)frame * bytes, one->data, bytes);
    }
    return XPU_OK;
}

static void add_stats(const work *w, const char *text) {
    static const char *const summed[] = {"instructions",   "descriptors", "engine_macs", "gm_read_bytes",
                                         "gm_write_bytes", "cycles",      "host_calls",  "macs"};
    static const char *const kept[] = {"program_hash", "source_hash", "chip", "device", "precision"};
    xpu_arena *arena = w->tool->arena;
    json_t *stats = xpu_json_parse(arena, text, strlen(text), "statistics", &w->tool->diags);
    json_t *own = xpu_json_append(arena, w->list, json_object());
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const char *value = json_string_value(json_object_get(stats, kept[i]));
        if (value) xpu_json_set(arena, w->sums, kept[i], json_string(value));
    }
    for (size_t i = 0; i < sizeof summed / sizeof *summed; i++) {
        const json_t *value = json_object_get(stats, summed[i]);
        if (!value) continue;
        json_int_t sum = json_integer_value(json_object_get(w->sums, summed[i])) + json_integer_value(value);
        xpu_json_set(arena, w->sums, summed[i], json_integer(sum));
        xpu_json_set(arena, own, summed[i], json_integer(json_integer_value(value)));
    }
    double seconds = json_number_value(json_object_get(stats, "wall_s"));
    double all = seconds + json_number_value(json_object_get(w->sums, "wall_s"));
    xpu_json_set(arena, own, "wall_s", json_real(seconds));
    xpu_json_set(arena, w->sums, "wall_s", json_real(all));
    json_int_t cycles = json_integer_value(json_object_get(w->sums, "cycles"));
    if (cycles && all > 0) xpu_json_set(arena, w->sums, "cycles_per_s", json_real((double)cycles / all));
}

static int run_frames(const work *w, xpurt_session *session, const xpurt_program *program, const xpu_inputs *inputs,
                      xpurt_run_options *options) {
    xpu_tool *tool = w->tool;
    const xpu_frames *f = w->frames;
    xpurt_tensor *x = &inputs->items[f->input], *given = XPU_NEW_ARRAY(tool->arena, xpurt_tensor, inputs->count);
    const uint8_t *whole = x->data;
    int status = XPU_OK;
    x->dims[f->axis] = f->size;
    x->data = xpu_alloc(tool->arena, bytes_of(x));
    for (int64_t frame = 0; !status && frame < f->count; frame++) {
        xpurt_error error = {0};
        char *stats = NULL;
        options->stats = &stats;
        cut(f, x, whole, frame, x->data);
        if (f->begin) f->begin(f->context, frame, f->count);
        uint32_t count = inputs_of(program, inputs, frame, given);
        status = xpurt_session_run(session, given, count, w->one, options, &error);
        if (status) xpu_tool_report(tool, status, error.text);
        xpurt_error_clear(&error);
        if (!status) status = stack(w, frame);
        if (!status) add_stats(w, stats);
        if (status)
            xpu_diag_add(&tool->diags, XPU_SEVERITY_NOTE, XPU_OK, NULL, "frames", NULL,
                         xpu_printf(tool->arena, "it was frame %lld of %lld", (long long)frame, (long long)f->count),
                         "frames count from 0; no outputs are written", NULL);
        for (uint32_t i = 0; i < w->output_count; i++) xpurt_tensor_clear(&w->one[i]);
        free(stats);
    }
    return status;
}

int xpu_frames_run(xpu_tool *tool, xpurt_program *program, const xpu_inputs *inputs, const xpu_frames *frames,
                   const xpurt_run_options *run, xpurt_tensor *outputs, char **stats) {
    xpurt_run_options options = *run;
    xpurt_error error = {0};
    uint32_t count = xpurt_output_count(program);
    work w = {.tool = tool,
              .frames = frames,
              .output_count = count,
              .one = XPU_NEW_ARRAY(tool->arena, xpurt_tensor, count + 1),
              .outputs = outputs,
              .sums = xpu_json_own(tool->arena, json_object())};
    xpu_json_set(tool->arena, w.sums, "frames", json_integer(frames->count));
    options.stats_file = NULL;
    if (run->stats_file && xpu_output_check(tool->arena, run->stats_file, &tool->diags) != XPU_OK) return XPU_EIO;
    xpurt_session *session = xpurt_session_open(program, run, &error);
    int status = xpu_tool_report(tool, error.status, error.text);
    xpurt_error_clear(&error);
    if (!session) return status;
    w.list = xpu_json_set(tool->arena, w.sums, "frame", json_array());
    status = run_frames(&w, session, program, inputs, &options);
    xpurt_session_close(session);
    if (status) return status;
    *stats = json_dumps(w.sums, JSON_INDENT(2));
    if (!*stats) return (int)xpu_error_oom(&tool->diags);
    return run->stats_file ? (int)xpu_json_write(tool->arena, w.sums, run->stats_file, &tool->diags) : XPU_OK;
}
