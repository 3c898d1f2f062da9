/*
 * Memory plans of networks with branches and loops: every path of the program finds its values where they are
 * (tests/gen/plan_walk.h), and broken plans are found. XPU_ONLY=TEXT: only networks with this in their path.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/plan_walk.h"
#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "xpu_codegen/state.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/program/metadata.h"
#include "xpuc/pipeline.h"

typedef struct {
    bench *b;
    const char *path;
    xpu_program *program; /* as the file would carry it */
    const xpu_chip *chip;
} network;

static uint32_t plans, lives_cut, lives_found, laid_over, laid_over_found;

/* Up to where clang would begin; the metadata are written and read again. NULL: it is not compiled. */
static xpu_program *compile(bench *b, const char *path, const xpuc_options *options, const xpu_chip **chip) {
    xpu_pipeline *p = XPU_NEW(b->arena, xpu_pipeline);
    *p = (xpu_pipeline){.path = path, .wanted = options, .arena = b->arena, .diags = &b->diags};
    p->report = xpu_json_own(b->arena, json_object());
    p->facts = xpu_json_set(b->arena, p->report, "program", json_object());
    if (xpu_check_options(p) != XPU_OK || xpu_pipeline_run(p) != XPU_OK) return NULL;
    xpu_codegen *cg = p->job.state;
    cg->program.weights_address = XPU_GM_BASE;
    cg->program.image_end = XPU_GM_BASE + (uint32_t)((cg->program.weights_bytes + 63) / 64 * 64);
    cg->program.entry = cg->program.plan_address = cg->program.control_address = XPU_GM_BASE;
    xpu_blob metadata, graph;
    const char *why = NULL;
    if (xpu_metadata_encode(&cg->program, b->arena, &metadata, &graph, &b->diags) != XPU_OK) return NULL;
    xpu_program *program = xpu_metadata_decode(&metadata, &graph, b->arena, path, &why);
    if (!program) printf("%s\n", why);
    *chip = &cg->chip;
    return program;
}

/* Symbols at `steps` of their steps above the least, or above 0; 0: no such shape. */
static int set_symbols(const xpu_graph *graph, int64_t steps, int64_t *symbols) {
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) {
        const xpu_symbol *s = &graph->dims.symbols.items[i];
        int64_t negative = s->min < 0 ? (-s->min + s->step - 1) / s->step : 0, most = (s->max - s->min) / s->step;
        int64_t wanted = negative + steps;
        symbols[i] = s->min + (wanted < most ? wanted : most) * s->step;
    }
    if (xpu_graph_broken_guard(graph, symbols)) return 0;
    xpu_symbols_bound(graph, symbols);
    return 1;
}

static uint32_t walk(const network *n, const xpu_walked_plan *plan, int shown) {
    xpu_text text;
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(n->b->arena), "walk");
    xpu_text_init(&text, arena);
    uint32_t wrong = xpu_walk_plan(plan, arena, &text);
    if (wrong && shown) printf("%s: %u\n%s", n->path, wrong, text.text);
    xpu_arena_free(arena);
    return wrong;
}

/* ---- broken plans ---- */

/* Buffers whose life ends one layer earlier, or begins one later, than it has to. */
static void cut_lives(const network *n, const xpu_walked_plan *plan, const uint8_t *readers) {
    for (uint32_t i = 0; i < n->program->buffers.count; i++) {
        xpu_program_buffer *b = &n->program->buffers.items[i], whole = *b;
        if (b->kind != XPU_BUFFER_ACTIVATION || b->alias_of >= 0 || !readers[i] || b->first_layer == b->last_layer)
            continue;
        for (int end = 0; end < 2; end++) {
            if (end)
                b->last_layer--;
            else
                b->first_layer++;
            uint32_t found = walk(n, plan, 0) != 0;
            if (!found && getenv("XPU_VERBOSE"))
                printf("%s: %s of '%s' (%u to %u) is not needed\n", n->path, end ? "the end" : "the begin", b->name,
                       whole.first_layer, whole.last_layer);
            lives_found += found;
            lives_cut++;
            *b = whole;
        }
    }
}

/* A buffer that lies where another one lies which lives at the same time. */
static void lay_over(const network *n, const xpu_walked_plan *plan, const uint8_t *readers) {
    for (uint32_t i = 0; i < n->program->buffers.count; i++) {
        const xpu_program_buffer *a = &n->program->buffers.items[i];
        if (a->kind == XPU_BUFFER_WEIGHT || a->alias_of >= 0 || !readers[i]) continue;
        for (uint32_t k = i + 1; k < n->program->buffers.count; k++) {
            const xpu_program_buffer *b = &n->program->buffers.items[k];
            if (b->kind == XPU_BUFFER_WEIGHT || b->alias_of >= 0 || !readers[k]) continue;
            if (a->first_layer > b->last_layer || b->first_layer > a->last_layer) continue;
            xpu_place before = plan->places[k];
            if (before.address == plan->places[i].address) continue; /* in place, or nothing */
            plan->places[k] = plan->places[i];
            uint32_t found = walk(n, plan, 0) != 0;
            if (!found && getenv("XPU_VERBOSE")) printf("%s: '%s' over '%s' harms nobody\n", n->path, b->name, a->name);
            laid_over_found += found;
            laid_over++;
            plan->places[k] = before;
        }
    }
}

/* ---- networks ---- */

static void check_shape(network *n, int64_t steps, int breaks) {
    int64_t *symbols = XPU_NEW_ARRAY(n->b->arena, int64_t, n->program->graph->dims.symbols.count + 1);
    if (!set_symbols(n->program->graph, steps, symbols)) return;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_walked_plan plan = {n->program, symbols, xpu_placement_make(n->program, n->chip, symbols, n->b->arena, &diags)};
    if (!plan.places && !steps) printf("%s: %s", n->path, xpu_diags_text(&diags, n->b->arena));
    CU_ASSERT(plan.places || steps);
    xpu_diags_clear(&diags);
    if (!plan.places) return;
    plans++;
    CU_ASSERT_EQUAL(walk(n, &plan, 1), 0);
    if (!breaks) return;
    const uint8_t *readers = xpu_walk_readers(&plan, n->b->arena);
    cut_lives(n, &plan, readers);
    lay_over(n, &plan, readers);
}

enum { MOST_OPTIONS = 8 };

/* What the network's .options file gives for an option, as "--name=TEXT" or "--name TEXT". */
static void read_options(bench *b, const char *path, const char *name, const char **list) {
    char text[400] = "";
    uint32_t count = 0;
    FILE *file = fopen(xpu_printf(b->arena, "%.*s.options", (int)(strlen(path) - strlen(".onnx")), path), "r");
    if (file && !fgets(text, sizeof text, file)) text[0] = 0;
    if (file) fclose(file);
    for (char *word = strtok(text, " \n"); word && count < MOST_OPTIONS; word = strtok(NULL, " \n")) {
        size_t length = strlen(name);
        if (strncmp(word, name, length) != 0) continue;
        const char *given = word[length] == '=' ? word + length + 1 : strtok(NULL, " \n");
        if (given) list[count++] = xpu_strdup(b->arena, given);
    }
}

static void check_network(const char *path, xpuc_options options, int breaks) {
    BENCH_OPEN(b);
    const char *shapes[MOST_OPTIONS + 1] = {NULL}, *values[MOST_OPTIONS + 1] = {NULL},
                                      *bounds[MOST_OPTIONS + 1] = {NULL};
    read_options(&b, path, "--shape", shapes);
    read_options(&b, path, "--value", values);
    read_options(&b, path, "--bound", bounds);
    options.emit = "c";
    if (!options.chip) options.chip = "nano";
    if (!options.shapes) options.shapes = shapes;
    if (!options.values) options.values = values;
    options.bounds = bounds;
    network n = {.b = &b, .path = path};
    n.program = compile(&b, path, &options, &n.chip);
    if (!n.program) printf("%s: %s", path, xpu_diags_text(&b.diags, b.arena));
    CU_ASSERT(n.program != NULL);
    static const int64_t steps[] = {4, 0, 1, 13};
    const int has_symbols = n.program && n.program->graph->dims.symbols.count;
    for (int i = 0; n.program && i < (has_symbols ? 4 : 1); i++) check_shape(&n, steps[i], breaks && i == 0);
    bench_close(&b);
}

static void check_all(const char *pattern, uint32_t least, int breaks) {
    static const char *const precisions[] = {"fp32", "auto", "int16x8"};
    glob_t found;
    const char *only = getenv("XPU_ONLY");
    CU_ASSERT_EQUAL_FATAL(glob(pattern, 0, NULL, &found), 0);
    CU_ASSERT(found.gl_pathc >= least);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (only && !strstr(found.gl_pathv[i], only)) continue;
        check_network(found.gl_pathv[i], (xpuc_options){.precision = precisions[i % 3]}, breaks);
    }
    globfree(&found);
}

static void networks(void) {
    check_all("tests/loops/*.onnx", 60, 0);
    check_all("tests/control/*.onnx", 8, 0);
}

static void random_networks(void) {
    check_all("tests/loops/random/*.onnx", 200, 0);
}

/* Models with branches, a loop that carries its cache, and states; without them nothing is checked. */
static void models(void) {
    static const char *const frame[] = {"input=1,576", "state=2,1,128", NULL}, *const rate[] = {"sr=16000", NULL};
    static const char *const prompt[] = {"prompt=1..32", NULL}, *const count[] = {"max_new=0..600", NULL};
    static const char *const none[] = {NULL}, *const state[] = {"stateN=state", NULL}, *const hidden[] = {"hN=h", NULL};
    static const struct {
        const char *name;
        xpuc_options options;
    } rows[] = {
        {"silero_vad_16k_op15", {.shapes = frame, .values = none, .states = state, .chip = "standard"}},
        {"silero_vad", {.shapes = frame, .values = rate, .states = state, .chip = "standard"}},
        {"stories260K_generate_loop", {.shapes = prompt, .values = count, .chip = "standard"}},
    };
    const char *folder = getenv("XPU_SHARED");
    check_network("tests/golden/frames/rnn.onnx", (xpuc_options){.states = hidden}, 1);
    for (size_t i = 0; folder && i < sizeof rows / sizeof *rows; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/models/onnx/%s.onnx", folder, rows[i].name);
        if (xpu_file_exists(path)) check_network(path, rows[i].options, 0);
    }
}

/* ---- one mistake each ---- */

static xpu_program_buffer *buffer_called(const network *n, const char *name) {
    for (uint32_t i = 0; i < n->program->buffers.count; i++) {
        if (strcmp(n->program->buffers.items[i].name, name) == 0) return &n->program->buffers.items[i];
    }
    CU_FAIL_FATAL("no such buffer");
    return NULL;
}

static void expect_found(const network *n, const xpu_walked_plan *plan, const char *wanted) {
    xpu_text text;
    xpu_text_init(&text, n->b->arena);
    uint32_t wrong = xpu_walk_plan(plan, n->b->arena, &text);
    CU_ASSERT_EQUAL(wrong != 0, wanted != NULL);
    CU_ASSERT(!wanted || (wrong && strstr(text.text, wanted)));
    if ((wrong != 0) != (wanted != NULL) || (wanted && wrong && !strstr(text.text, wanted)))
        printf("%s: wanted %s\n%s", n->path, wanted ? wanted : "nothing", wrong ? text.text : "");
}

static xpu_walked_plan plan_of(network *n, const char *path) {
    const xpuc_options options = {.emit = "c", .chip = "nano", .precision = "fp32"};
    n->path = path;
    n->program = compile(n->b, path, &options, &n->chip);
    CU_ASSERT_FATAL(n->program != NULL);
    int64_t *symbols = XPU_NEW_ARRAY(n->b->arena, int64_t, n->program->graph->dims.symbols.count + 1);
    CU_ASSERT_FATAL(set_symbols(n->program->graph, 4, symbols));
    xpu_place *places = xpu_placement_make(n->program, n->chip, symbols, n->b->arena, &n->b->diags);
    CU_ASSERT_FATAL(places != NULL);
    return (xpu_walked_plan){n->program, symbols, places};
}

static void lay(const network *n, const xpu_walked_plan *plan, const char *name, const char *over) {
    const xpu_program_buffer *first = n->program->buffers.items;
    plan->places[buffer_called(n, name) - first] = plan->places[buffer_called(n, over) - first];
}

/* A value from outside that the body reads ends with its reader: the next iteration may find something else there. */
static void outside_of_loop(void) {
    BENCH_OPEN(b);
    network n = {.b = &b};
    xpu_walked_plan plan = plan_of(&n, "tests/loops/opset9.onnx"); /* the body adds x to what it carries */
    expect_found(&n, &plan, NULL);
    xpu_program_buffer *x = buffer_called(&n, "x");
    uint32_t last = x->last_layer;
    x->last_layer = 1;
    expect_found(&n, &plan, "buffer 'x' lives to 1, and the loop that reads it to 2");
    x->last_layer = last;
    lay(&n, &plan, "g_loop1_1",
        "x"); /* the stack: its first entry is written behind the last reader of this iteration */
    expect_found(&n, &plan, "'x' was overwritten by layer");
    bench_close(&b);
}

/* Results of two branches are never there together; what comes behind both is. */
static void branches(void) {
    BENCH_OPEN(b);
    network n = {.b = &b};
    xpu_walked_plan plan = plan_of(&n, "tests/loops/if_in_if.onnx");
    const xpu_program_buffer *first = n.program->buffers.items;
    uint32_t shared = 0, wrong = 0;
    for (uint32_t i = 0; i < n.program->buffers.count; i++) {
        for (uint32_t k = i + 1; k < n.program->buffers.count; k++) {
            int apart = first[i].last_layer < first[k].first_layer || first[k].last_layer < first[i].first_layer;
            if (first[i].kind != XPU_BUFFER_ACTIVATION || first[k].kind != XPU_BUFFER_ACTIVATION || !apart) continue;
            xpu_place before = plan.places[k];
            plan.places[k] = plan.places[i];
            wrong += walk(&n, &plan, 1);
            plan.places[k] = before;
            shared++;
        }
    }
    CU_ASSERT(shared > 10);
    CU_ASSERT_EQUAL(wrong, 0);
    bench_close(&b);
}

static void order_of_steps(void) {
    BENCH_OPEN(b);
    network n = {.b = &b};
    xpu_walked_plan plan = plan_of(&n, "tests/loops/if_relu.onnx");
    for (uint32_t i = 0; i < n.program->steps.count; i++) {
        if (n.program->steps.items[i].kind == XPU_DO_IF) n.program->steps.items[i].middle++; /* else begins later */
    }
    CU_ASSERT_NOT_EQUAL(walk(&n, &plan, 0), 0);
    bench_close(&b);
}

static void broken_plans(void) {
    plans = lives_cut = lives_found = laid_over = laid_over_found = 0;
    check_all("tests/loops/*.onnx", 60, 1);
    printf("(%u of %u lives cut, %u of %u buffers laid over others) ", lives_found, lives_cut, laid_over_found,
           laid_over);
    /* The others harm nobody: what a loop carries lives in the plan from before the loop, and some results may lie over
     * values that nothing reads any more. */
    if (getenv("XPU_ONLY")) return;
    CU_ASSERT(lives_cut > 1000 && 100 * lives_found > 90 * lives_cut);
    CU_ASSERT(laid_over > 2000 && 100 * laid_over_found > 75 * laid_over);
}

XPU_TEST_MAIN("plans", {"networks", networks}, {"random networks", random_networks}, {"models", models},
              {"outside of a loop", outside_of_loop}, {"branches", branches}, {"order of steps", order_of_steps},
              {"broken plans", broken_plans})
