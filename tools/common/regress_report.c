/* Runs the cases of a suite, and prints what comes of them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/stop.h"
#include "tools/common/pool.h"
#include "tools/common/regress_suite.h"

/* What a case's process says: a header, and three texts that end with 0. A message without `ran` announces a chip. */
typedef struct {
    int32_t ran, status;
    uint32_t chip; /* of the case; UINT32_MAX: of its file */
    double seconds;
} message;

typedef struct {
    xpu_tool *tool;
    xpu_regress_suite *suite;
    XPU_ARRAY(uint32_t) order; /* the entries that run, by job */
    uint32_t planned, done;    /* chips */
    int is_terminal;
} session;

/* ---- in the process of a case ---- */

static void say(int pipe, xpu_arena *arena, const message *head, const char *what, const char *details,
                const char *errors) {
    const char *texts[] = {what, details, errors};
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add_bytes(&text, (const char *)head, sizeof *head);
    for (size_t i = 0; i < 3; i++)
        xpu_text_add_bytes(&text, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) + 1 : 1);
    xpu_pool_send(pipe, text.text, text.length);
}

static void record(xpu_arena *arena, const xpu_regress_chip *chip, const xpu_regress_result *result) {
    if (result->checksum) xpu_json_set(arena, chip->entry, "checksum", json_string(result->checksum));
    if (!result->cycles) return;
    xpu_json_set(arena, chip->rtl.entry, "cycles", json_integer(result->cycles));
    xpu_json_set(arena, chip->rtl.entry, "layers", json_incref(result->layers));
}

/* The layers whose cycles are not those that are recorded, a line each. */
static const char *cycles_table(xpu_arena *arena, const xpu_regress_chip *chip, const xpu_regress_result *result) {
    const char *name;
    json_t *value;
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, "        %-40s %12s %12s %9s\n", "layer", "recorded", "now", "");
    json_object_foreach(result->layers, name, value) {
        const json_t *recorded = json_object_get(chip->rtl.layers, name);
        long long was = json_integer_value(recorded), now = json_integer_value(value);
        if (recorded && was == now) continue;
        xpu_text_add(&text, "        %-40s %12lld %12lld", xpu_escape(arena, name, 80), was, now);
        if (was) xpu_text_add(&text, " %+8.2f %%", 100.0 * (double)(now - was) / (double)was);
        xpu_text_add(&text, "\n");
    }
    json_object_foreach(chip->rtl.layers, name, value) {
        if (!json_object_get(result->layers, name))
            xpu_text_add(&text, "        %-40s %12lld %12s\n", xpu_escape(arena, name, 80),
                         (long long)json_integer_value(value), "gone");
    }
    xpu_text_add(&text, "        %-40s %12lld %12lld\n", "all", (long long)chip->rtl.cycles, (long long)result->cycles);
    return text.text;
}

/* The recorded numbers against the new ones: why it failed, or NULL. */
static const char *against_record(xpu_arena *arena, const xpu_regress_chip *chip, const xpu_regress_result *result,
                                  const char **details) {
    if (chip->checksum && result->checksum && strcmp(chip->checksum, result->checksum) != 0) {
        return xpu_printf(arena, "the outputs have changed: checksum %s, recorded %s (--update records it)",
                          result->checksum, chip->checksum);
    }
    if (!result->cycles || chip->rtl.cycles < 0) return NULL;
    if (result->cycles == chip->rtl.cycles && json_equal(result->layers, chip->rtl.layers)) return NULL;
    if (!json_equal(result->layers, chip->rtl.layers)) *details = cycles_table(arena, chip, result);
    return xpu_printf(arena, "cycles have changed: %lld, recorded %lld (--update records it)",
                      (long long)result->cycles, (long long)chip->rtl.cycles);
}

/* *before is the outputs of the chip before; they are compared and then replaced. */
static void run_chip(const xpu_regress_suite *suite, const xpu_regress_case *c, uint32_t index,
                     const xpu_tensor **before, xpu_arena *arena, int pipe) {
    const xpu_regress_chip *chip = &c->chips.items[index];
    const char *details = NULL, *changed = NULL;
    xpu_diags *diags = xpu_diags_new(arena);
    message head = {.chip = index};
    say(pipe, arena, &head, NULL, NULL, NULL);
    xpu_regress_result result = xpu_regress_run(c, chip, *before, arena, diags);
    if (result.outputs) *before = result.outputs;
    if (result.passed && suite->update) record(arena, chip, &result);
    if (result.passed && !suite->update) changed = against_record(arena, chip, &result, &details);
    if (suite->model && !details) details = result.model;
    head = (message){1, changed ? (int32_t)XPU_EDIFF : (int32_t)result.status, index, result.seconds};
    say(pipe, arena, &head, changed ? changed : result.what, details, xpu_diags_text(diags, arena));
}

static void run_case(const session *s, const xpu_regress_entry *entry, xpu_arena *arena, int pipe) {
    const xpu_tensor *before = NULL;
    for (uint32_t i = 0; i < entry->c.chips.count; i++) {
        if (!xpu_regress_is_planned(s->suite, entry, &entry->c.chips.items[i])) continue;
        run_chip(s->suite, &entry->c, i, &before, arena, pipe);
    }
    if (!s->suite->update) return;
    xpu_diags *diags = xpu_diags_new(arena);
    xpu_keep_no_more(xpu_arena_mem(arena), entry->path);
    xpu_status status = xpu_json_write(arena, entry->c.json, entry->path, diags);
    const message head = {1, (int)status, UINT32_MAX, 0};
    if (status != XPU_OK) say(pipe, arena, &head, "what is new cannot be recorded", NULL, xpu_diags_text(diags, arena));
}

static void work(void *context, uint32_t job, int pipe) {
    const session *s = context;
    static xpu_mem mem; /* static: its contents are needed after a longjmp */
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        struct {
            message head;
            char texts[64];
        } last = {{1, XPU_EIO, UINT32_MAX, 0}, "out of memory\0\0"};
        xpu_pool_send(pipe, &last, sizeof last);
    } else {
        run_case(s, &s->suite->entries.items[s->order.items[job]], xpu_arena_new(&mem, "case"), pipe);
    }
    xpu_mem_release(&mem);
}

/* ---- in the tool's process ---- */

static void clear_progress(const session *s) {
    if (s->is_terminal) fputs("\r\033[K", stderr);
}

static void show_progress(const session *s, const char *name, const char *chip) {
    if (!s->is_terminal) return;
    fprintf(stderr, "\r\033[K%u of %u: %s on %s ...", s->done + 1, s->planned, xpu_escape(s->tool->arena, name, 40),
            xpu_escape(s->tool->arena, chip, 40));
    fflush(stderr);
}

static void count(xpu_regress_suite *suite, xpu_arena *arena, const xpu_regress_outcome *outcome) {
    suite->passed += outcome->status == XPU_OK;
    suite->failed += outcome->status == XPU_EDIFF || outcome->status == XPU_EBUG;
    suite->not_run += outcome->status != XPU_OK && outcome->status != XPU_EDIFF && outcome->status != XPU_EBUG;
    XPU_PUSH(arena, &suite->outcomes, *outcome);
}

enum { SAID = 1 << 16 }; /* bytes that are printed of a message */

static void print_outcome(session *s, const xpu_regress_outcome *o) {
    const char *label = o->status == XPU_OK                               ? "ok"
                        : o->status == XPU_EDIFF || o->status == XPU_EBUG ? "FAILED"
                                                                          : "not run";
    clear_progress(s);
    if (o->status == XPU_OK && s->tool->quiet) return;
    printf("%-7s %-20s %-9s %6.2f s  %s\n%s", label, xpu_escape(s->tool->arena, o->name, 80),
           xpu_escape(s->tool->arena, o->chip ? o->chip : "", 80), o->seconds,
           xpu_escape_lines(s->tool->arena, o->what, SAID), xpu_escape_lines(s->tool->arena, o->details, SAID));
    fflush(stdout);
    fputs(xpu_escape_lines(s->tool->arena, o->errors, SAID), stderr);
}

static void take_message(void *context, uint32_t job, const void *bytes, size_t length) {
    session *s = context;
    const xpu_regress_entry *entry = &s->suite->entries.items[s->order.items[job]];
    const message *head = bytes;
    const char *text = (const char *)bytes + sizeof *head, *texts[3] = {"", "", ""};
    for (size_t i = 0; i < 3 && text < (const char *)bytes + length; i++) {
        texts[i] = xpu_strdup(s->tool->arena, text);
        text += strlen(text) + 1;
    }
    const char *chip = head->chip < entry->c.chips.count ? entry->c.chips.items[head->chip].chip : NULL;
    if (!head->ran) {
        show_progress(s, entry->name, chip);
        return;
    }
    xpu_regress_outcome outcome = {entry->name, chip,    (xpu_status)head->status, head->seconds, texts[0],
                                   texts[1],    texts[2]};
    s->done++;
    count(s->suite, s->tool->arena, &outcome);
    print_outcome(s, &outcome);
}

static void take_end(void *context, uint32_t job, int signal, int code) {
    session *s = context;
    if (!signal && !code) return;
    const char *what =
        signal ? xpu_printf(s->tool->arena, "its process was ended by signal %d (%s)", signal, strsignal(signal))
               : xpu_printf(s->tool->arena, "its process ended with exit code %d", code);
    xpu_regress_outcome outcome = {.name = s->suite->entries.items[s->order.items[job]].name,
                                   .status = XPU_EBUG,
                                   .what = what,
                                   .details = "",
                                   .errors = ""};
    count(s->suite, s->tool->arena, &outcome);
    print_outcome(s, &outcome);
}

static uint32_t plan(session *s) {
    for (uint32_t i = 0; i < s->suite->entries.count; i++) {
        const xpu_regress_entry *e = &s->suite->entries.items[i];
        uint32_t chips = 0;
        for (uint32_t k = 0; e->status == XPU_OK && k < e->c.chips.count; k++)
            chips += xpu_regress_is_planned(s->suite, e, &e->c.chips.items[k]) != 0;
        if (chips) XPU_PUSH(s->tool->arena, &s->order, i);
        if (!chips && e->status == XPU_OK && !s->tool->quiet)
            printf("%-7s %s\n", "none", xpu_escape(s->tool->arena, e->name, 80));
        s->planned += chips;
        if (e->status == XPU_OK) continue;
        xpu_regress_outcome outcome = {e->name, NULL,     e->status, 0, "the file is no case that can be read",
                                       "",      e->errors};
        count(s->suite, s->tool->arena, &outcome);
    }
    return s->planned;
}

/* The least of the exit codes. */
static xpu_status worst(const xpu_regress_suite *suite) {
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; i < suite->outcomes.count; i++) {
        xpu_status one = suite->outcomes.items[i].status;
        if (one != XPU_OK && (status == XPU_OK || one < status)) status = one;
    }
    return status;
}

xpu_status xpu_regress_run_all(xpu_tool *tool, xpu_regress_suite *suite) {
    session s = {.tool = tool, .suite = suite, .is_terminal = isatty(STDERR_FILENO) && !tool->quiet};
    plan(&s);
    if (!suite->outcomes.count && !s.planned) {
        return xpu_error(&tool->diags, XPU_EUSAGE, suite->folder, "regress-nothing", NULL, "there is nothing to run",
                         "no case that was chosen has a chip and a device that were chosen",
                         "on rtl a case runs on chips with the key rtl; leave out --chip or --device");
    }
    const xpu_pool pool = {.jobs = s.order.count,
                           .parallel = suite->jobs,
                           .context = &s,
                           .work = work,
                           .message = take_message,
                           .ended = take_end};
    fflush(stdout);
    tool->mem.stop = xpu_stop_requested;
    xpu_stop_begin();
    xpu_status status = xpu_pool_run(tool->arena, &pool, &tool->diags);
    clear_progress(&s);
    if (status == XPU_ESTOPPED) {
        const char *how_far = xpu_printf(tool->arena, "%u of %u runs of cases are complete", s.done, s.planned);
        const xpu_regress_outcome outcome = {"xpu-regress", NULL, status, 0, "stopped by a signal", how_far, ""};
        XPU_PUSH(tool->arena, &suite->outcomes, outcome);
        xpu_error_stopped(&tool->diags, suite->folder, NULL, how_far);
    }
    xpu_stop_end();
    return status != XPU_OK ? status : worst(suite);
}
