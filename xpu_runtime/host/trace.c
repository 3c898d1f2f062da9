/*
 * Traces: what every engine and core did when, as JSON that Perfetto and chrome://tracing open. One microsecond of the
 * trace is one cycle. Tracks: the layers, one of each engine (more where its descriptors overlap), one of each core.
 */
#include <string.h>

#include "base/file.h"
#include "xpu_runtime/host/host.h"

enum { LANES = 8, TRACK_LAYERS = 1, TRACK_ENGINES = 10, TRACK_CORES = 100 };

struct xpu_trace {
    xpu_text text;
    uint64_t lane_ends[XPURT_ENGINES][LANES];
    struct {
        uint64_t from, to;
        unsigned state;
    } last[XPURT_MAX_CORES + XPURT_ENGINES]; /* not written yet */
    uint32_t events;
};

static void name_track(xpu_trace *t, unsigned track, const char *name, unsigned order) {
    xpu_text_add(&t->text,
                 "%s{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}},\n"
                 "{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}",
                 t->events++ ? ",\n" : "", track, name, track, order);
}

/* A name in JSON: it is escaped already, but with backslashes. */
static void add_name(xpu_text *text, const char *name) {
    for (; *name; name++) xpu_text_add(text, *name == '\\' ? "\\\\" : "%c", *name);
}

static void add_event(xpu_trace *t, unsigned track, const char *name, const char *kind, uint64_t from, uint64_t to) {
    xpu_text_add(&t->text, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"ts\":%llu,\"dur\":%llu,\"name\":\"", track,
                 (unsigned long long)from, (unsigned long long)(to - from));
    add_name(&t->text, name);
    xpu_text_add(&t->text, "\",\"cat\":\"%s\"", kind);
}

void xpu_trace_begin(xpu_run *run) {
    xpu_trace *t = run->trace = XPU_NEW(run->arena, xpu_trace);
    xpu_text_init(&t->text, run->arena);
    xpu_text_add(&t->text,
                 "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"unit\":\"1 us is 1 cycle\"},\"traceEvents\":[\n");
    name_track(t, TRACK_LAYERS, "layers", 0);
    for (unsigned e = 0; e < xpu_chip_engines(&run->owner->chip); e++)
        name_track(t, TRACK_ENGINES * (e + 1), xpu_engine_name(e), TRACK_ENGINES * (e + 1));
    for (unsigned core = 0; core < run->owner->chip.cores; core++)
        name_track(t, TRACK_CORES + core, xpu_printf(run->arena, "core %u", core), TRACK_CORES + core);
}

static const char *layer_name(const xpu_run *run, uint32_t layer) {
    return layer < run->program->layers.count ? xpu_escape(run->arena, run->program->layers.items[layer].name, 80)
                                              : "?";
}

void xpu_trace_layer(xpu_run *run, uint32_t layer, uint64_t from, uint64_t to) {
    const char *name = xpu_printf(run->arena, "%s%s", layer_name(run, layer), xpu_run_path(run, layer));
    add_event(run->trace, TRACK_LAYERS, name, "layer", from, to);
    xpu_text_add(&run->trace->text, "}");
}

/* Descriptors of one engine that overlap stand in tracks of their own. */
static unsigned choose_lane(xpu_trace *t, const xpurt_completion *c) {
    unsigned lane = 0;
    while (lane + 1 < LANES && t->lane_ends[c->engine][lane] > c->begin) lane++;
    unsigned track = TRACK_ENGINES * (c->engine + 1) + lane;
    if (lane && !t->lane_ends[c->engine][lane]) name_track(t, track, xpu_engine_name(c->engine), track);
    t->lane_ends[c->engine][lane] = c->end;
    return track;
}

void xpu_trace_descriptor(xpu_run *run, const xpurt_completion *c) {
    xpu_trace *t = run->trace;
    const char *kind = xpu_desc_kind_name(c->opcode);
    if (c->engine >= XPURT_ENGINES) return;
    add_event(t, choose_lane(t, c), layer_name(run, xpu_run_layer_of_tag(run, c->layer)), kind ? kind : "?", c->begin,
              c->end);
    xpu_text_add(&t->text, ",\"args\":{\"kind\":\"%s\",\"queue\":%u,\"descriptor\":\"0x%08llx\",\"macs\":%llu}}",
                 kind ? kind : "?", c->core, (unsigned long long)c->descriptor, (unsigned long long)c->macs);
}

/* States of engines are to be seen from their descriptors. */
static void write_state(xpu_trace *t, unsigned unit) {
    if (unit >= XPURT_MAX_CORES || t->last[unit].from == t->last[unit].to) return;
    add_event(t, TRACK_CORES + unit, xpu_lost_text((xpu_lost_cause)t->last[unit].state), "state", t->last[unit].from,
              t->last[unit].to);
    xpu_text_add(&t->text, "}");
}

void xpu_trace_state(xpu_run *run, unsigned unit, unsigned state, uint64_t from, uint64_t to) {
    xpu_trace *t = run->trace;
    if (unit >= XPURT_MAX_CORES + XPURT_ENGINES || state >= XPU_LOST_COUNT) return;
    if (t->last[unit].state == state && t->last[unit].to == from) {
        t->last[unit].to = to;
        return;
    }
    write_state(t, unit);
    t->last[unit].state = state;
    t->last[unit].from = from;
    t->last[unit].to = to;
}

xpu_status xpu_trace_write(xpu_run *run) {
    xpu_trace *t = run->trace;
    if (!t) return XPU_OK;
    for (unsigned unit = 0; unit < XPURT_MAX_CORES; unit++) write_state(t, unit);
    xpu_text_add(&t->text, "\n]");
    if (run->incomplete) xpu_text_add(&t->text, ",\"incomplete\":\"%s\"", run->incomplete);
    xpu_text_add(&t->text, "}\n");
    return xpu_file_write(run->arena, run->options->trace_file, t->text.text, t->text.length, run->diags);
}
