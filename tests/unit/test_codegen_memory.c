/* The XPU target and memory: placement rules, copies of weights in L3, chains in place. */
#include "base/json.h"
#include "tests/unit/codegen_fixture.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/program.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/program/placement.h"
#include "xpuc/include/xpuc.h"

/* ---- whole compilations ---- */

static json_t *compile_report(const char *rules, const char *text, xpu_arena *arena, xpu_diags *diags,
                              xpuc_error *error) {
    const char *folder = xpu_temporary_folder(arena, diags);
    const char *report = xpu_path_join(arena, folder, "report.json"), *path = xpu_path_join(arena, folder, rules);
    CU_ASSERT_EQUAL(xpu_file_write(arena, path, text, strlen(text), diags), XPU_OK);
    xpuc_options options = {.precision = "fp32", .memory_rules = path, .report = report};
    xpuc_result result = {0};
    int status = xpuc_compile_file(MODEL, &options, &result, error);
    xpuc_result_clear(&result);
    return status == 0 ? xpu_json_read(arena, report, diags) : NULL;
}

/* The level of a buffer in the report's memory plan. */
static const char *level_of(json_t *report, const char *name) {
    json_t *buffers = json_object_get(json_object_get(json_object_get(report, "program"), "memory"), "buffers"), *item;
    size_t i;
    json_array_foreach(buffers, i, item) {
        const char *found = json_string_value(json_object_get(item, "name"));
        if (found && strcmp(found, name) == 0) return json_string_value(json_object_get(item, "level"));
    }
    return "none";
}

static void placement_rules(void) {
    BENCH_OPEN(b);
    xpuc_error error = {0};
    json_t *report = compile_report("rules.json",
                                    "{\"rules\": [{\"match\": \"Pooling66*\", \"kind\": \"activation\", \"level\": "
                                    "\"GM\", \"strength\": \"must\"}]}",
                                    b.arena, &b.diags, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    CU_ASSERT_STRING_EQUAL(level_of(report, "Pooling66_Output_0"), "GM");
    CU_ASSERT_STRING_EQUAL(level_of(report, "Pooling160_Output_0"), "L3");
    xpuc_error_clear(&error);
    report = compile_report("rules.json",
                            "{\"rules\": [{\"match\": \"*/w\", \"kind\": \"weight\", \"level\": \"SM\", \"strength\": "
                            "\"must\"}]}",
                            b.arena, &b.diags, &error);
    CU_ASSERT_PTR_NULL(report);
    CU_ASSERT_EQUAL(error.status, XPU_EUSAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "[plan-rules]"));
    xpuc_error_clear(&error);
    bench_close(&b);
}

/* ---- weights in L3 ---- */

typedef struct {
    const char *what, *rules;
    int64_t columns;   /* two convolutions with weights of 256 bytes each a column; L3 has 4 MiB */
    uint32_t copies;   /* how many weights get one */
    const char *wrong; /* part of the message, NULL: it compiles */
    const char *spill; /* part of why a weight has none, NULL: every wish is met */
} copy_case;

#define RULE(match, level, strength)                                                                                   \
    "{\"match\": \"" match "\", \"kind\": \"weight\", \"level\": \"" level "\", \"strength\": \"" strength "\"}"

static const copy_case copy_cases[] = {
    {.what = "no rule about weights", .rules = "{\"rules\": []}", .columns = 64},
    {.what = "GM", .rules = "{\"rules\": [" RULE("*", "GM", "must") "]}", .columns = 64},
    {.what = "prefer", .rules = "{\"rules\": [" RULE("*", "L3", "prefer") "]}", .columns = 64, .copies = 2},
    {.what = "must", .rules = "{\"rules\": [" RULE("*", "L3", "must") "]}", .columns = 64, .copies = 2},
    {.what = "never GM", .rules = "{\"rules\": [" RULE("*", "GM", "never") "]}", .columns = 64, .copies = 2},
    {.what = "one of two", .rules = "{\"rules\": [" RULE("v2/w", "L3", "must") "]}", .columns = 64, .copies = 1},
    {.what = "room for one",
     .rules = "{\"rules\": [" RULE("*", "L3", "prefer") "]}",
     .columns = 10000,
     .copies = 1,
     .spill = "no room"},
    {.what = "no room", .rules = "{\"rules\": [" RULE("*", "L3", "prefer") "]}", .columns = 20000, .spill = "no room"},
    {.what = "no room, but a must",
     .rules = "{\"rules\": [" RULE("*", "L3", "must") "]}",
     .columns = 10000,
     .wrong = "[plan-rules] level 'L3': a placement rule leaves no room in L3"},
    {.what = "contradiction",
     .rules = "{\"rules\": [" RULE("*", "L3", "must") ", " RULE("*", "GM", "must") "]}",
     .columns = 64,
     .wrong = "the buffer may only be in GM or L3"},
};

/* Layer 0 fills the copies, all other calls read them, and they live until their last reader. */
static void check_copies(const xpu_codegen *cg) {
    CU_ASSERT_STRING_EQUAL(cg->program.layers.items[0].name, "weights/L3");
    CU_ASSERT_EQUAL(cg->program.layers.items[0].unit, XPU_UNIT_DMA);
    uint32_t word = 0;
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        for (uint32_t c = 0; c < cg->layers.items[i].calls.count; c++) {
            uint32_t fields = xpu_kernel_of(cg->layers.items[i].calls.items[c].kernel)->words;
            for (uint32_t f = 0; f < fields; f++, word++) {
                const xpu_plan_word *w = &cg->program.plan.items[word];
                if (w->kind != XPU_WORD_ADDRESS) continue;
                const xpu_program_buffer *buffer = &cg->program.buffers.items[w->buffer];
                CU_ASSERT(buffer->first_layer <= i && i <= buffer->last_layer);
                if (buffer->kind != XPU_BUFFER_COPY || i == 0) continue;
                CU_ASSERT(buffer->level_count == 1 && buffer->levels[0] == XPU_LEVEL_L3 && buffer->first_layer == 0);
            }
        }
    }
    CU_ASSERT_EQUAL(word, cg->program.plan.count);
}

static void copy_weights(const copy_case *c) {
    BENCH_OPEN(b);
    work w;
    xpu_value x = input(&b, "x", DIMS(1, c->columns, 1, 1)), y = conv(&b, x, 64, c->columns, 1, 1);
    xpu_graph_output(b.graph, conv(&b, y, c->columns, 64, 1, 1));
    xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
    CU_ASSERT_EQUAL(xpu_memory_rules_parse(b.arena, c->rules, strlen(c->rules), "rules", &cg->rules, &b.diags), XPU_OK);
    work_prepare(&b, &w);
    xpu_section section = {0};
    xpu_status status = xpu_sim_target.lower(&w.job, 0, &section);
    char text[2000] = "";
    if (b.diags.count) xpu_diag_text(&b.diags, 0, text, sizeof text);
    if ((status != XPU_OK) != (c->wrong != NULL)) fprintf(stderr, "%s: %s\n", c->what, text);
    CU_ASSERT_EQUAL(status != XPU_OK, c->wrong != NULL);
    if (c->wrong && !strstr(text, c->wrong)) fprintf(stderr, "%s: %s\n", c->what, text);
    CU_ASSERT(!c->wrong || strstr(text, c->wrong));
    uint32_t copies = 0;
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
        copies += cg->program.buffers.items[i].kind == XPU_BUFFER_COPY;
    }
    if (copies != c->copies) {
        fprintf(stderr, "%s: %u copies\n", c->what, copies);
        for (uint32_t i = 0; i < cg->program.buffers.count; i++) {
            fprintf(stderr, "    %s\n", cg->program.buffers.items[i].name);
        }
    }
    CU_ASSERT_EQUAL(copies, c->copies);
    CU_ASSERT_EQUAL(cg->layers.count, c->wrong ? cg->layers.count : 2 + (c->copies > 0));
    if (copies) check_copies(cg);
    int spilled = 0;
    for (uint32_t i = 0; c->spill && i < cg->wishes->spill_count; i++) {
        spilled |= strstr(cg->wishes->spills[i].why, c->spill) != NULL;
    }
    CU_ASSERT_EQUAL(spilled, c->spill != NULL);
    bench_close(&b);
}

static void weights_in_l3(void) {
    for (size_t i = 0; i < sizeof copy_cases / sizeof *copy_cases; i++) copy_weights(&copy_cases[i]);
}

/* The whole way: the weight stays in GM in the report, its copy stands in L3. */
static void copies_in_report(void) {
    BENCH_OPEN(b);
    xpuc_error error = {0};
    json_t *report =
        compile_report("rules.json", "{\"rules\": [" RULE("ReLU32*/w", "L3", "must") "]}", b.arena, &b.diags, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    json_t *layers = json_object_get(json_object_get(report, "program"), "layers");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(layers, 0), "name")), "weights/L3");
    CU_ASSERT_STRING_EQUAL(level_of(report, "ReLU32/w"), "GM");
    CU_ASSERT_STRING_EQUAL(level_of(report, "ReLU32/w@L3"), "L3");
    json_t *spills = json_object_get(json_object_get(json_object_get(report, "program"), "memory"), "spills");
    CU_ASSERT_EQUAL(json_array_size(spills), 0);
    xpuc_error_clear(&error);
    bench_close(&b);
}

/* ---- buffers ---- */

/* The program has a buffer for each value that is stored, and none besides; a weight that several layers read has one.
 */
static void buffers_of_values(void) {
    BENCH_OPEN(b);
    work w;
    xpu_value shared = constant(&b, DIMS(4, 4)), other = constant(&b, DIMS(1, 4));
    xpu_value x = input(&b, "x", DIMS(4, 4)), y = step2(&b, XPU_EW_max, step1(&b, XPU_EW_tanh, x), shared);
    y = step2(&b, XPU_EW_div, step2(&b, XPU_EW_min, y, shared), other);
    xpu_graph_output(b.graph, y);
    xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
    work_prepare(&b, &w);
    xpu_section section = {0};
    CU_ASSERT_EQUAL(xpu_sim_target.lower(&w.job, 0, &section), XPU_OK);
    uint32_t counts[XPU_BUFFER_COPY + 1] = {0};
    for (uint32_t i = 0; i < cg->program.buffers.count; i++) counts[cg->program.buffers.items[i].kind]++;
    CU_ASSERT_EQUAL(counts[XPU_BUFFER_WEIGHT], 2);
    CU_ASSERT_EQUAL(cg->program.buffers.count, 2 + 5); /* x and the results of four chains */
    bench_close(&b);
}

/* ---- parts ---- */

static xpu_value slice_of(bench *b, xpu_value x, int rank, const int64_t *starts, const int64_t *shape,
                          const int64_t *by) {
    xpu_dim first[XPU_MAX_RANK], size[XPU_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        first[i] = xpu_dim_const(&b->graph->dims, starts[i]);
        size[i] = xpu_dim_const(&b->graph->dims, shape[i]);
    }
    xpu_attr attrs[] = {XPU_ATTR_DIMS_OF(STARTS, first, rank), XPU_ATTR_DIMS_OF(SHAPE, size, rank),
                        XPU_ATTR_INTS_OF(BY, by, rank)};
    return node1(b, XPU_OP_SLICE, x, attrs, 3);
}

/* Slices of a computed value of 6 x 8 elements: the bytes where each begins; -1: it is a copy. */
static const struct {
    const char *what;
    int64_t starts[2], shape[2], by[2];
    int64_t offset;
    enum { OF_LAYER, OF_INPUT, AS_OUTPUT, AS_RESHAPED_OUTPUT } place;
} parts[] = {
    {"rows", {2, 0}, {3, 8}, {1, 1}, 2 * 8 * 4, OF_LAYER},
    {"a run in a row", {3, 2}, {1, 5}, {1, 1}, (3 * 8 + 2) * 4, OF_LAYER},
    {"an element", {5, 7}, {1, 1}, {-1, 2}, (5 * 8 + 7) * 4, OF_LAYER},
    {"columns", {0, 2}, {6, 4}, {1, 1}, -1, OF_LAYER},
    {"every other row", {0, 0}, {3, 8}, {2, 1}, -1, OF_LAYER},
    {"rows backwards", {2, 0}, {3, 8}, {-1, 1}, -1, OF_LAYER},
    {"rows of an input", {2, 0}, {3, 8}, {1, 1}, -1, OF_INPUT},
    {"an output", {2, 0}, {3, 8}, {1, 1}, -1, AS_OUTPUT},
    {"an output under other dims", {2, 0}, {3, 8}, {1, 1}, -1, AS_RESHAPED_OUTPUT},
};

static void parts_of_values(void) {
    for (volatile size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        BENCH_OPEN(b);
        work w;
        xpu_value x = input(&b, "x", DIMS(6, 8)), whole = parts[i].place == OF_INPUT ? x : step1(&b, XPU_EW_tanh, x);
        xpu_value part = slice_of(&b, whole, 2, parts[i].starts, parts[i].shape, parts[i].by), y = part;
        xpu_dim count = xpu_dim_const(&b.graph->dims, parts[i].shape[0] * parts[i].shape[1]);
        if (parts[i].place != AS_OUTPUT) y = node1(&b, XPU_OP_RESHAPE, y, &XPU_ATTR_DIMS_OF(SHAPE, &count, 1), 1);
        if (parts[i].place < AS_OUTPUT) y = step1(&b, XPU_EW_sigmoid, y);
        xpu_graph_output(b.graph, y);
        if (parts[i].place != OF_INPUT) xpu_graph_output(b.graph, step1(&b, XPU_EW_relu, whole)); /* read once more */
        xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
        work_prepare(&b, &w);
        xpu_section section = {0};
        CU_ASSERT_EQUAL(xpu_sim_target.lower(&w.job, 0, &section), XPU_OK);
        const xpu_program_buffer *buffer = &cg->program.buffers.items[cg->buffer_of[part.id]];
        int64_t offset = -1;
        if (buffer->alias_of >= 0) {
            const xpu_program_buffer *of = &cg->program.buffers.items[buffer->alias_of];
            CU_ASSERT_EQUAL(buffer->alias_of, cg->buffer_of[whole.id]);
            CU_ASSERT(xpu_dim_is_const(&b.graph->dims, buffer->alias_offset, &offset));
            CU_ASSERT(of->last_layer == cg->program.layers.count - 1 && buffer->last_layer == of->last_layer);
        }
        if (offset != parts[i].offset) fprintf(stderr, "%s: %lld\n", parts[i].what, (long long)offset);
        CU_ASSERT_EQUAL(offset, parts[i].offset);
        CU_ASSERT_EQUAL(cg->layer_of[maker(&b, part).id] < 0, offset >= 0);
        bench_close(&b);
    }
}

/* A chain reads the whole and a part of it, which the result must not overwrite. */
static void parts_beside(void) {
    static const int64_t starts[] = {0, 0}, shape[] = {1, 8}, by[] = {1, 1};
    for (int reads_part = 0; reads_part < 2; reads_part++) {
        BENCH_OPEN(b);
        work w;
        xpu_value whole = step1(&b, XPU_EW_tanh, input(&b, "x", DIMS(6, 8)));
        xpu_value row = reads_part ? slice_of(&b, whole, 2, starts, shape, by) : input(&b, "row", DIMS(1, 8));
        xpu_value y = step2(&b, XPU_EW_mul, whole, row);
        xpu_graph_output(b.graph, y);
        xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
        work_prepare(&b, &w);
        xpu_section section = {0};
        CU_ASSERT_EQUAL(xpu_sim_target.lower(&w.job, 0, &section), XPU_OK);
        uint32_t pairs = 0;
        for (uint32_t i = 0; i < cg->program.in_place.count; i++) {
            const xpu_program_in_place pair = cg->program.in_place.items[i];
            pairs += (int32_t)pair.buffer == cg->buffer_of[y.id] && (int32_t)pair.other == cg->buffer_of[whole.id];
        }
        CU_ASSERT_EQUAL(pairs, !reads_part);
        bench_close(&b);
    }
}

/* ---- what is read through ---- */

/* Slices of a value of 6 x 8 elements that make nothing, as concats read them from there: how many layers there are. */
typedef struct {
    const char *what;
    void (*build)(bench *b, xpu_value slice);
    uint32_t layers;
} through_case;

static xpu_value joined(bench *b, xpu_value x, xpu_value y) {
    return node2(b, XPU_OP_CONCAT, x, y, &XPU_ATTR_INT_OF(AXIS, 0), 1);
}
static xpu_value reshaped(bench *b, xpu_value x, int rank, const int64_t *dims) {
    xpu_dim target[XPU_MAX_RANK];
    for (int i = 0; i < rank; i++) target[i] = xpu_dim_const(&b->graph->dims, dims[i]);
    return node1(b, XPU_OP_RESHAPE, x, &XPU_ATTR_DIMS_OF(SHAPE, target, (uint32_t)rank), 1);
}
static void by_one(bench *b, xpu_value slice) {
    xpu_graph_output(b->graph, joined(b, slice, slice));
}
static void by_two(bench *b, xpu_value slice) {
    xpu_graph_output(b->graph, joined(b, slice, slice));
    xpu_graph_output(b->graph, step1(b, XPU_EW_relu, joined(b, slice, slice)));
}
static void with_ones(bench *b, xpu_value slice) {
    slice = reshaped(b, slice, DIMS(6, 1, 4));
    xpu_graph_output(b->graph, joined(b, slice, slice));
}
static void as_other_dims(bench *b, xpu_value slice) {
    slice = reshaped(b, slice, DIMS(2, 3, 4));
    xpu_graph_output(b->graph, joined(b, slice, slice));
}
static void by_others_too(bench *b, xpu_value slice) {
    xpu_graph_output(b->graph, joined(b, slice, slice));
    xpu_graph_output(b->graph, step1(b, XPU_EW_relu, slice));
}
static void as_output(bench *b, xpu_value slice) {
    xpu_graph_output(b->graph, slice);
    xpu_graph_output(b->graph, joined(b, slice, slice));
}

static void read_through(void) {
    static const through_case cases[] = {
        {"by a concat", by_one, 2},
        {"by two", by_two, 4},
        {"with a dim of 1 between", with_ones, 2},
        {"under other dims", as_other_dims, 3},
        {"by a chain, too", by_others_too, 4},
        {"an output", as_output, 3},
    };
    static const int64_t starts[] = {0, 1}, shape[] = {6, 4}, by[] = {1, 2};
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        work w;
        xpu_value x = step1(&b, XPU_EW_tanh, input(&b, "x", DIMS(6, 8)));
        xpu_value slice = slice_of(&b, x, 2, starts, shape, by);
        cases[i].build(&b, slice);
        xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
        work_prepare(&b, &w);
        xpu_section section = {0};
        CU_ASSERT_EQUAL(xpu_sim_target.lower(&w.job, 0, &section), XPU_OK);
        if (cg->program.layers.count != cases[i].layers)
            fprintf(stderr, "%s: %u\n", cases[i].what, cg->program.layers.count);
        CU_ASSERT_EQUAL(cg->program.layers.count, cases[i].layers);
        const xpu_program_buffer *read = &cg->program.buffers.items[cg->buffer_of[x.id]];
        CU_ASSERT_EQUAL(read->last_layer, cg->buffer_of[slice.id] < 0 ? cg->program.layers.count - 1 - (i == 1) : 1);
        bench_close(&b);
    }
}

/* ---- shuffled images ---- */

static xpu_value moved(bench *b, xpu_value x, const int64_t *perm, uint32_t rank) {
    return node1(b, XPU_OP_TRANSPOSE, x, &XPU_ATTR_INTS_OF(PERM, perm, rank), 1);
}

static xpu_value shuffled_channels(bench *b, xpu_value x) {
    static const int64_t perm[] = {0, 2, 1, 3, 4};
    return reshaped(b, moved(b, reshaped(b, x, DIMS(1, 2, 4, 6, 10)), perm, 5), DIMS(1, 8, 6, 10));
}
static xpu_value pixels_of_channels(bench *b, xpu_value x) {
    static const int64_t perm[] = {0, 1, 4, 2, 5, 3};
    return reshaped(b, moved(b, reshaped(b, x, DIMS(1, 2, 2, 2, 6, 10)), perm, 6), DIMS(1, 2, 12, 20));
}
static xpu_value moved_again(bench *b, xpu_value x) { /* the second reshape is read by a transpose alone */
    static const int64_t perm[] = {0, 2, 3, 1};
    return moved(b, shuffled_channels(b, x), perm, 4);
}
static xpu_value over_other_dims(bench *b, xpu_value x) { /* pixels of two rows are one dim of the transpose */
    static const int64_t perm[] = {0, 2, 1};
    return reshaped(b, moved(b, reshaped(b, x, DIMS(1, 16, 30)), perm, 3), DIMS(1, 30, 4, 4));
}
static xpu_value left_on_the_way(bench *b, xpu_value x) {
    static const int64_t perm[] = {0, 2, 1, 3, 4};
    xpu_value between = moved(b, reshaped(b, x, DIMS(1, 2, 4, 6, 10)), perm, 5);
    xpu_graph_output(b->graph, between);
    return reshaped(b, between, DIMS(1, 8, 6, 10));
}

/* Slices of `count` of 8 channels each, of which a convolution reads every second one, joined again. */
static xpu_value in_slices(bench *b, xpu_value x, int64_t count) {
    const xpu_attr axis = XPU_ATTR_INT_OF(AXIS, 1);
    xpu_value shuffled = shuffled_channels(b, x), pieces[8];
    uint32_t n = 0;
    for (int64_t first = 0; first < 8; first += count) {
        const int64_t starts[] = {0, first, 0, 0}, shape[] = {1, count, 6, 10}, by[] = {1, 1, 1, 1};
        pieces[n] = slice_of(b, shuffled, 4, starts, shape, by);
        if (n % 2) pieces[n] = conv(b, pieces[n], count, count, 1, 1);
        n++;
    }
    return xpu_node_output(b->graph, bench_node(b, XPU_OP_CONCAT, pieces, n, &axis, 1), 0);
}
static xpu_value in_halves(bench *b, xpu_value x) { /* the slices are the shuffle, the first of them in the concat */
    return in_slices(b, x, 4);
}
static xpu_value in_single_channels(bench *b, xpu_value x) { /* of one of both groups: sliced behind the shuffle */
    return in_slices(b, x, 1);
}

/* Behind a convolution a shuffle is one copy, which reads the image as it lies; another makes the program's
 * output. */
static void shuffled_images(void) {
    static const struct {
        const char *what;
        xpu_value (*build)(bench *b, xpu_value x);
        int64_t channels;
        uint32_t copies;
    } cases[] = {{"channels", shuffled_channels, 8, 2},
                 {"pixels of channels", pixels_of_channels, 2, 2},
                 {"and moved again", moved_again, 6, 4},
                 {"over other dims", over_other_dims, 30, 4},
                 {"an output on the way", left_on_the_way, 8, 4},
                 {"in halves", in_halves, 8, 3},
                 {"in single channels", in_single_channels, 8, 10}};
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        work w;
        xpu_value y = cases[i].build(&b, conv(&b, input(&b, "x", DIMS(1, 1, 6, 10)), 8, 1, 1, 1));
        xpu_graph_output(b.graph, conv(&b, y, 3, cases[i].channels, 1, 1));
        xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
        work_prepare(&b, &w);
        CU_ASSERT_EQUAL_FATAL(xpu_lower_program(cg), XPU_OK);
        uint32_t copies = 0;
        for (uint32_t l = 0; l < cg->layers.count; l++) copies += cg->layers.items[l].kernel == XPU_KERNEL_copy_nd;
        if (copies != cases[i].copies) fprintf(stderr, "%s: %u\n", cases[i].what, copies);
        CU_ASSERT_EQUAL(copies, cases[i].copies);
        bench_close(&b);
    }
}

/* ---- smaller images ---- */

/* Pixels of `small`, each for 2 x 2 of the result's. */
static xpu_value repeated(bench *b, xpu_value small) {
    static const int64_t repeats[] = {1, 1, 2, 2};
    return node1(b, XPU_OP_REPEAT, small, &XPU_ATTR_INTS_OF(REPEATS, repeats, 4), 1);
}

typedef struct {
    const char *what;
    void (*build)(bench *b, xpu_value large, xpu_value small); /* of what two convolutions made */
    int is_through;
} level_case;

static void by_sum(bench *b, xpu_value large, xpu_value small) {
    xpu_graph_output(b->graph, step2(b, XPU_EW_add, large, repeated(b, small)));
}
static void by_sum_and_concat(bench *b, xpu_value large, xpu_value small) {
    xpu_value level = repeated(b, small);
    const xpu_attr axis = XPU_ATTR_INT_OF(AXIS, 1);
    xpu_graph_output(b->graph, step2(b, XPU_EW_add, large, level));
    xpu_graph_output(b->graph, node2(b, XPU_OP_CONCAT, large, level, &axis, 1));
}
static void by_sum_and_window(bench *b, xpu_value large, xpu_value small) {
    xpu_value level = repeated(b, small);
    xpu_graph_output(b->graph, step2(b, XPU_EW_add, large, level));
    xpu_graph_output(b->graph, conv(b, level, 4, 8, 3, 1));
}
static void by_rows(bench *b, xpu_value large, xpu_value small) {
    xpu_value rows = input(b, "rows", DIMS(1, 1, 6, 1));
    xpu_chain chain = {.input_count = 3,
                       .step_count = 2,
                       .steps = {{.op = XPU_EW_add, .operands = {0, 1}}, {.op = XPU_EW_mul, .operands = {3, 2}}}};
    xpu_value operands[] = {large, repeated(b, small), rows};
    xpu_node node = bench_node(b, XPU_OP_CHAIN, operands, 3, &XPU_ATTR_CHAIN_OF(STEPS, &chain), 1);
    xpu_graph_output(b->graph, xpu_node_output(b->graph, node, 0));
}
static void as_level_output(bench *b, xpu_value large, xpu_value small) {
    xpu_value level = repeated(b, small);
    xpu_graph_output(b->graph, level);
    xpu_graph_output(b->graph, step2(b, XPU_EW_add, large, level));
}

static void smaller_images(void) {
    static const level_case cases[] = {
        {"a sum", by_sum, 1},
        {"a sum and a concat", by_sum_and_concat, 1},
        {"a sum and a convolution", by_sum_and_window, 0},
        {"a factor for each row, too", by_rows, 0},
        {"an output, too", as_level_output, 0},
    };
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        work w;
        xpu_value large = conv(&b, input(&b, "x", DIMS(1, 4, 6, 10)), 8, 4, 1, 1);
        xpu_value small = conv(&b, input(&b, "s", DIMS(1, 4, 3, 5)), 8, 4, 1, 1);
        cases[i].build(&b, large, small);
        xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
        work_prepare(&b, &w);
        CU_ASSERT_EQUAL_FATAL(xpu_lower_program(cg), XPU_OK);
        int images = 0, is_through = 1;
        for (uint32_t l = 0; l < cg->layers.count; l++) {
            images += cg->layers.items[l].kernel == XPU_KERNEL_chain_image;
            is_through &= !xpu_node_is(b.graph, cg->layers.items[l].node, XPU_OP_REPEAT);
        }
        if (is_through != cases[i].is_through) fprintf(stderr, "%s: %d\n", cases[i].what, is_through);
        CU_ASSERT_EQUAL(is_through, cases[i].is_through);
        CU_ASSERT_EQUAL(images, cases[i].is_through);
        bench_close(&b);
    }
}

/* The largest magnitude of joined images is the largest of their parts', where those are found beside the parts. */
static void joined_magnitudes(void) {
    for (volatile int count = 1; count <= 14; count += 1 + count / 4) {
        BENCH_OPEN(b);
        work w;
        xpu_value x = input(&b, "x", DIMS(1, 4, 6, 10)), items[16];
        for (int i = 0; i < count; i++) items[i] = conv(&b, x, 8, 4, 1, 1);
        items[count] = step1(&b, XPU_EW_exp, input(&b, "other", DIMS(1, 8, 6, 10)));
        items[count + 1] = items[0];
        const xpu_attr axis = XPU_ATTR_INT_OF(AXIS, 1);
        xpu_node concat = bench_node(&b, XPU_OP_CONCAT, items, (uint32_t)count + 2, &axis, 1);
        xpu_value joined = xpu_node_output(b.graph, concat, 0);
        xpu_graph_output(b.graph, conv(&b, joined, 16, 8 * (count + 2), 1, 1));
        work_start(&b, &w, "standard", "int16");
        work_prepare(&b, &w);
        CU_ASSERT_EQUAL(count_ops(&b, XPU_OP_ABSMAX), 1); /* of x */
        const xpu_node user = xpu_value_at(b.graph, joined)->uses.items[0].node;
        const xpu_value absmax = xpu_node_input(b.graph, user, XPU_IN_ABSMAX);
        CU_ASSERT_TRUE(xpu_node_is(b.graph, maker(&b, absmax), XPU_OP_CHAIN));
        bench_close(&b);
    }
}

/* What a concat is made in: the layer of that operand which is made last, wherever it stands. */
static void layer_of_joined(void) {
    for (volatile int swapped = 0; swapped <= 1; swapped++) {
        BENCH_OPEN(b);
        work w;
        const xpu_origin origin = {.name = "both"};
        const uint32_t origins[] = {xpu_graph_origin(b.graph, &origin)};
        const xpu_value first = step1(&b, XPU_EW_relu, input(&b, "x", DIMS(5, 7)));
        const xpu_value second = step1(&b, XPU_EW_tanh, input(&b, "y", DIMS(3, 7)));
        xpu_value operands[] = {swapped ? second : first, swapped ? first : second};
        const xpu_attr axis = XPU_ATTR_INT_OF(AXIS, 0);
        const xpu_node concat =
            xpu_build(b.graph, (xpu_node){0}, XPU_OP_CONCAT, operands, 2, NULL, &axis, 1, origins, 1, &b.diags);
        const xpu_value softmax = node1(&b, XPU_OP_SOFTMAX, xpu_node_output(b.graph, concat, 0), NULL, 0);
        xpu_graph_output(b.graph, softmax);
        xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
        work_prepare(&b, &w);
        xpu_section section = {0};
        CU_ASSERT_EQUAL(xpu_sim_target.lower(&w.job, 0, &section), XPU_OK);
        CU_ASSERT_EQUAL(cg->layer_of[concat.id], -1);
        CU_ASSERT_EQUAL(cg->layer_of[maker(&b, first).id], 0);
        CU_ASSERT_EQUAL_FATAL(cg->program.tensors.count, 1);
        CU_ASSERT_EQUAL(cg->program.tensors.items[0].fate, XPU_TENSOR_FUSED);
        CU_ASSERT_EQUAL(cg->program.tensors.items[0].layer, cg->layer_of[maker(&b, second).id]);
        bench_close(&b);
    }
}

/* ---- phases ---- */

static xpu_value interleaved(bench *b, xpu_value phases, int64_t h, int64_t w, int64_t crop) {
    const int64_t strides[] = {2, 2}, crops[] = {crop, 0}, all[] = {0, 2, 0, 2};
    const xpu_dim shape[] = {xpu_dim_const(&b->graph->dims, h), xpu_dim_const(&b->graph->dims, w)};
    const xpu_attr attrs[] = {XPU_ATTR_INTS_OF(STRIDES, strides, 2), XPU_ATTR_INTS_OF(CROP, crops, 2),
                              XPU_ATTR_DIMS_OF(SHAPE, shape, 2), XPU_ATTR_INT_OF(GROUP, 1),
                              XPU_ATTR_INTS_OF(PHASES, all, 4)};
    return node1(b, XPU_OP_INTERLEAVE, phases, attrs, 5);
}

/* What follows a transposed convolution, and how many layers then put phases side by side. */
static const struct {
    const char *what, *precision;
    int64_t kernel, crop;
    int is_read_twice;
    uint32_t interleaves;
} phase_cases[] = {
    {"another one", "int16", 1, 0, 0, 1},
    {"in int16x8", "int16x8", 1, 0, 0, 1},
    {"in float32", "fp32", 1, 0, 0, 2},
    {"that sees more pixels", "int16", 3, 0, 0, 2},
    {"behind a cropped one", "int16", 1, 1, 0, 2},
    {"beside another use", "int16", 1, 0, 1, 2},
};

static void phases_together(void) {
    for (volatile size_t i = 0; i < sizeof phase_cases / sizeof *phase_cases; i++) {
        BENCH_OPEN(b);
        work w;
        const int64_t crop = phase_cases[i].crop, kernel = phase_cases[i].kernel;
        xpu_value up = interleaved(&b, conv(&b, input(&b, "x", DIMS(1, 4, 6, 10)), 32, 4, 1, 1), 12 - crop, 20, crop);
        xpu_value last = conv(&b, up, 4, 8, kernel, 1);
        if (phase_cases[i].is_read_twice) xpu_graph_output(b.graph, step1(&b, XPU_EW_relu, up));
        const int64_t less = kernel - 1;
        xpu_graph_output(b.graph,
                         interleaved(&b, step1(&b, XPU_EW_sigmoid, last), 2 * (12 - crop - less), 2 * (20 - less), 0));
        work_start(&b, &w, "standard", phase_cases[i].precision);
        work_prepare(&b, &w);
        const uint32_t found = count_ops(&b, XPU_OP_INTERLEAVE);
        if (found != phase_cases[i].interleaves) fprintf(stderr, "%s: %u\n", phase_cases[i].what, found);
        CU_ASSERT_EQUAL(found, phase_cases[i].interleaves);
        bench_close(&b);
    }
}

/* Transposes of the second operand of a product: what it multiplies, and whether it is read from where that is. */
static const struct {
    const char *what;
    int64_t rows, perm[3];
    int is_used_twice, is_x, is_through;
} transposes[] = {
    {"a row", 1, {0, 2, 1}, 0, 0, 1},           {"four rows", 4, {0, 2, 1}, 0, 0, 1},
    {"five rows", 5, {0, 2, 1}, 0, 0, 0},       {"of other dims", 1, {1, 0, 2}, 0, 0, 0},
    {"by a chain, too", 1, {0, 2, 1}, 1, 0, 0}, {"the first operand", 1, {0, 2, 1}, 0, 1, 0},
};

static void transposed_matrices(void) {
    for (volatile size_t i = 0; i < sizeof transposes / sizeof *transposes; i++) {
        BENCH_OPEN(b);
        work w;
        int64_t rows = transposes[i].is_x ? 5 : transposes[i].rows;
        xpu_value x = step1(&b, XPU_EW_tanh, input(&b, "x", DIMS(5, 5, 5)));
        xpu_value other = step1(&b, XPU_EW_tanh, input(&b, "y", DIMS(5, rows, 5)));
        xpu_value t = node1(&b, XPU_OP_TRANSPOSE, x, &XPU_ATTR_INTS_OF(PERM, transposes[i].perm, 3), 1);
        int is_x = transposes[i].is_x;
        xpu_graph_output(b.graph, node2(&b, XPU_OP_MATMUL, is_x ? t : other, is_x ? other : t, NULL, 0));
        if (transposes[i].is_used_twice) xpu_graph_output(b.graph, step1(&b, XPU_EW_relu, t));
        xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
        work_prepare(&b, &w);
        xpu_section section = {0};
        CU_ASSERT_EQUAL(xpu_sim_target.lower(&w.job, 0, &section), XPU_OK);
        int is_through = cg->layer_of[maker(&b, t).id] < 0;
        if (is_through != transposes[i].is_through) fprintf(stderr, "%s: %d\n", transposes[i].what, is_through);
        CU_ASSERT_EQUAL(is_through, transposes[i].is_through);
        if (is_through) CU_ASSERT_EQUAL(cg->program.buffers.items[cg->buffer_of[x.id]].last_layer, 2);
        bench_close(&b);
    }
}

/* ---- chains in place ---- */

static void dense(bench *b) { /* sigmoid and tanh take the input's bytes */
    xpu_value x = input(b, "x", DIMS(1, 8, 16, 16));
    xpu_graph_output(b->graph, step1(b, XPU_EW_tanh, step1(b, XPU_EW_sigmoid, x)));
}
static void used_later(bench *b) { /* the second chain is the last reader of both operands */
    xpu_value x = input(b, "x", DIMS(8, 8));
    xpu_graph_output(b->graph, step2(b, XPU_EW_div, step1(b, XPU_EW_tanh, x), x));
}
static void broadcast(bench *b) { /* a row that every row divides has fewer bytes than the result */
    xpu_value x = input(b, "x", DIMS(8)), y = input(b, "y", DIMS(8, 8));
    xpu_graph_output(b->graph, step2(b, XPU_EW_div, x, y));
}
static void output_stays(bench *b) { /* the last layer reads an output */
    xpu_value y = step1(b, XPU_EW_tanh, input(b, "x", DIMS(8, 8)));
    xpu_graph_output(b->graph, y);
    xpu_graph_output(b->graph, step1(b, XPU_EW_sigmoid, y));
}
static void with_constant(bench *b) { /* weights are not overwritten */
    xpu_graph_output(b->graph, step2(b, XPU_EW_div, constant(b, DIMS(8, 8)), input(b, "x", DIMS(1, 1))));
}
static void product(bench *b) { /* not a chain */
    xpu_value x = input(b, "x", DIMS(8, 8));
    xpu_graph_output(b->graph, node2(b, XPU_OP_MATMUL, x, x, NULL, 0));
}

/* How many alternatives are left, and bytes of SM and L3 at their peaks with and without them. */
typedef struct {
    void (*build)(bench *b);
    uint32_t alternatives;
    uint64_t peaks[2];
} in_place_case;

static uint64_t peak_of(bench *b, const xpu_codegen *cg, int no_aliases) {
    xpu_placement placement;
    xpu_memplan *plan;
    xpu_memplan_options planning = {.no_aliases = no_aliases};
    CU_ASSERT_EQUAL(xpu_placement_problem(&cg->program, &cg->chip, NULL, b->arena, &placement, &b->diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_memplan_make(b->arena, &placement.problem, &planning, &plan, &b->diags), XPU_OK);
    return plan->usage[XPU_LEVEL_SM].peak + plan->usage[XPU_LEVEL_L3].peak;
}

static void chain_in_place(const in_place_case *c) {
    BENCH_OPEN(b);
    work w;
    c->build(&b);
    xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
    work_prepare(&b, &w);
    xpu_section section = {0};
    CU_ASSERT_EQUAL(xpu_sim_target.lower(&w.job, 0, &section), XPU_OK);
    CU_ASSERT_EQUAL(cg->program.in_place.count, c->alternatives);
    cg->program.weights_address = cg->program.image_end = XPU_GM_BASE + 65536;
    for (int i = 0; i < 2; i++) {
        uint64_t peak = peak_of(&b, cg, i);
        if (peak != c->peaks[i])
            fprintf(stderr, "peak %llu, not %llu\n", (unsigned long long)peak, (unsigned long long)c->peaks[i]);
        CU_ASSERT_EQUAL(peak, c->peaks[i]);
    }
    bench_close(&b);
}

static void chains_in_place(void) {
    static const in_place_case cases[] = {
        {dense, 2, {8192, 16384}},     {used_later, 2, {512, 768}},    {broadcast, 1, {288, 544}},
        {output_stays, 1, {512, 512}}, {with_constant, 0, {260, 260}}, {product, 0, {512, 512}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) chain_in_place(&cases[i]);
}

/* A chain whose operands do not lie alike: planes of the last two dims go through LM where four of them fit, and rows
 * elsewhere. */
static void chains_of_planes(void) {
    static const struct {
        int64_t rows, width;
        xpu_kernel kernel;
    } cases[] = {{8, 16, XPU_KERNEL_chain_planes}, {23, 24, XPU_KERNEL_chain_planes}, {17, 32, XPU_KERNEL_chain_planes},
                 {18, 32, XPU_KERNEL_chain},       {32, 18, XPU_KERNEL_chain},        {2, 1025, XPU_KERNEL_chain},
                 {1025, 2, XPU_KERNEL_chain}};
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        work w;
        const int64_t rows = cases[i].rows, width = cases[i].width;
        xpu_value x = input(&b, "x", DIMS(8, rows, width)), factor = input(&b, "factor", DIMS(8, 1, width));
        xpu_value y = step2(&b, XPU_EW_div, x, factor);
        xpu_graph_output(b.graph, y);
        xpu_codegen *cg = work_start(&b, &w, "standard", "fp32");
        work_prepare(&b, &w);
        CU_ASSERT_EQUAL_FATAL(xpu_lower_program(cg), XPU_OK);
        const int32_t layer = cg->layer_of[maker(&b, y).id];
        CU_ASSERT_FATAL(layer >= 0);
        CU_ASSERT_EQUAL(cg->layers.items[layer].calls.items[0].kernel, cases[i].kernel);
        bench_close(&b);
    }
}

XPU_TEST_MAIN("XPU target: memory", {"placement rules", placement_rules}, {"weights in L3", weights_in_l3},
              {"copies in the report", copies_in_report}, {"buffers of values", buffers_of_values},
              {"parts of values", parts_of_values}, {"parts beside", parts_beside},
              {"what is read through", read_through}, {"shuffled images", shuffled_images},
              {"smaller images", smaller_images}, {"joined magnitudes", joined_magnitudes},
              {"layer of joined parts", layer_of_joined}, {"phases together", phases_together},
              {"transposed matrices", transposed_matrices}, {"chains in place", chains_in_place},
              {"chains of planes", chains_of_planes})
