/* PaddlePaddle's files: programs in both forms, and parameters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/paddle/importer.h"
#include "tests/fuzz/hostile.h"
#include "xpuc/include/xpuc.h"

/* Of control: branches, loops and tensor arrays of all kinds. */
static const char *const controls[] = {"greedy",         "array_first",        "array_again",
                                       "if_nested",      "if_in_while",        "while_grows",
                                       "while_in_while", "array_read_in_loop", "if_switch"};
enum { CONTROLS = sizeof controls / sizeof *controls, OTHERS = 12, DESCS = OTHERS + CONTROLS, PIRS = DESCS };
static hostile_file descs[DESCS], pirs[PIRS], params, ranges;

/* tests/paddle/programs.tar.xz, in the scratch folder: a process of its own unpacks it once. */
static const char *unpacked(const char *name, const char *form) {
    static char folder[128], path[256];
    if (!folder[0]) {
        char command[400];
        snprintf(folder, sizeof folder, "%s/paddle-%d", hostile_folder(), (int)getpid());
        snprintf(command, sizeof command, "mkdir '%s' && python3 tests/gen/paddle_programs.py unpack '%s'", folder,
                 folder);
        if (system(command) != 0) exit(EXIT_FAILURE);
    }
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, form);
    return path;
}

static void load(void) {
    static const char *const kept[] = {"linear", "everything", "quantised/freeze"};
    static const char *const packed[] = {"operators_3", "operators_5", "quantised", "more", "boxes", "rest", "fourier"};
    enum { KEPT = sizeof kept / sizeof *kept, PACKED = sizeof packed / sizeof *packed };
    static const char *const ends[] = {"older_desc", "formulas", "older", "adaptive"};
    if (params.data) return;
    char path[100];
    for (size_t i = 0; i < KEPT; i++) {
        snprintf(path, sizeof path, "tests/paddle/%s.pdmodel", kept[i]);
        hostile_load(&descs[i], path);
        snprintf(path, sizeof path, "tests/paddle/%s.json", kept[i]);
        hostile_load(&pirs[i], path);
    }
    for (size_t i = 0; i < PACKED; i++) {
        snprintf(path, sizeof path, "operators/%s", packed[i]);
        hostile_load(&descs[KEPT + i], unpacked(path, "pdmodel"));
        hostile_load(&pirs[KEPT + i], unpacked(path, "json"));
    }
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "operators/%s", ends[i]);
        hostile_load(&descs[KEPT + PACKED + i], unpacked(path, "pdmodel"));
        snprintf(path, sizeof path, "operators/%s", ends[2 + i]);
        hostile_load(&pirs[KEPT + PACKED + i], unpacked(path, "json"));
    }
    for (size_t i = 0; i < CONTROLS; i++) {
        snprintf(path, sizeof path, "control/%s", controls[i]);
        hostile_load(&descs[OTHERS + i], unpacked(path, "pdmodel"));
        hostile_load(&pirs[OTHERS + i], unpacked(path, "json"));
    }
    hostile_load(&params, "tests/paddle/linear.pdiparams");
    hostile_load(&ranges, "tests/paddle/ranges/inference.yml");
}

/* The smaller one of two, mostly: the time of a case goes with the size of its program. */
static const hostile_file *seed_of(hostile_random *random, const hostile_file *seeds, uint32_t count) {
    const hostile_file *one = &seeds[hostile_below(random, count)], *other = &seeds[hostile_below(random, count)];
    return one->size < other->size || hostile_chance(random, 10) ? one : other;
}

static void make_desc(hostile_random *random, hostile_file *file) {
    const hostile_file *seed = seed_of(random, descs, DESCS);
    static const uint8_t fields[] = {1, 4, 4, 20};
    file->size = 0;
    if (hostile_chance(random, 3)) {
        hostile_nest_wire(file, fields, sizeof fields, 1 + hostile_below(random, 100000));
        return;
    }
    hostile_set(file, seed->data, seed->size);
    if (hostile_chance(random, 85))
        hostile_damage_wire(random, file);
    else
        hostile_damage(random, file);
}

static void make_pir(hostile_random *random, hostile_file *file) {
    const hostile_file *seed = seed_of(random, pirs, PIRS);
    hostile_set(file, seed->data, seed->size);
    if (hostile_chance(random, 85))
        hostile_damage_json(random, file);
    else
        hostile_damage(random, file);
}

/* Numbers of the records' heads, beside damage anywhere. */
static void make_params(hostile_random *random, hostile_file *file) {
    hostile_set(file, params.data, params.size);
    if (hostile_chance(random, 40)) {
        hostile_damage(random, file);
        return;
    }
    for (uint32_t n = 1 + hostile_below(random, 3); n > 0; n--) {
        int64_t number = hostile_number(random);
        size_t bytes = (size_t)1 << hostile_below(random, 4), at = hostile_below(random, (uint32_t)file->size - 8);
        if (hostile_chance(random, 50)) at = hostile_below(random, 50);
        memcpy(file->data + at, &number, bytes);
    }
}

static void use_program(const char *path, const char *parameters, hostile_random *random, hostile_result *result) {
    static const char *const forms[] = {"text", "graph", "json"};
    xpuc_options options = {
        .describe = forms[hostile_below(random, 3)], .params = parameters, .resources = getenv("XPU_RESOURCES")};
    xpuc_result made;
    xpuc_error error;
    if (hostile_chance(random, 30)) {
        xpuc_describe(path, &options, &made, &error);
        hostile_judge(result, "xpuc_describe", error.status, error.text);
        xpuc_result_clear(&made);
        xpuc_error_clear(&error);
    }
    options.describe = NULL;
    options.emit = hostile_chance(random, 20) ? "c" : "ir";
    xpuc_compile_file(path, &options, &made, &error);
    hostile_judge(result, "xpuc_compile_file", error.status, error.text);
    xpuc_result_clear(&made);
    xpuc_error_clear(&error);
}

/* Often those of another program. */
static const char *parameters_of(hostile_random *random) {
    static const char *const paths[] = {"tests/paddle/linear.pdiparams",
                                        "tests/paddle/operators/operators_3.pdiparams",
                                        "tests/paddle/operators/operators_5.pdiparams",
                                        "tests/paddle/operators/quantised.pdiparams",
                                        "tests/paddle/operators/more.pdiparams",
                                        "tests/paddle/operators/rest.pdiparams",
                                        "tests/paddle/quantised/freeze.pdiparams",
                                        "tests/paddle/control/greedy.pdiparams"};
    return paths[hostile_below(random, sizeof paths / sizeof *paths)];
}

static void feed_desc(hostile_random *random, const hostile_file *file, hostile_result *result) {
    use_program(hostile_save(file, ".pdmodel"), parameters_of(random), random, result);
}

static void feed_pir(hostile_random *random, const hostile_file *file, hostile_result *result) {
    use_program(hostile_save(file, ".json"), parameters_of(random), random, result);
}

static xpu_status read_params(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    const xpu_import_options options = {.params = hostile_save(file, ".pdiparams")};
    xpu_paddle_parameters parameters = {0};
    xpu_paddle_files files;
    (void)random;
    xpu_status status = xpu_paddle_open(arena, arena, "tests/paddle/linear.pdmodel", &options, &files, diags);
    if (status != XPU_OK) return status;
    int read = xpu_paddle_read_parameters(arena, files.program, files.params, files.folder, &parameters, diags);
    for (uint32_t i = 0; read && i < parameters.items.count; i++) {
        const xpu_paddle_parameter *parameter = &parameters.items.items[i];
        if (parameter->offset > parameter->file->size || parameter->bytes > parameter->file->size - parameter->offset)
            return XPU_EBUG;
    }
    return read ? XPU_OK : xpu_diags_status(diags);
}

static void feed_params(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_guard(result, "xpu_paddle_read_parameters", read_params, random, file);
    if (hostile_chance(random, 30))
        use_program("tests/paddle/linear.pdmodel", hostile_save(file, ".pdiparams"), random, result);
}

/* ---- inference.yml ---- */

static void make_ranges(hostile_random *random, hostile_file *file) {
    static const char *const parts[] = {"[",    "]",   "{",       "}",  "*id001", "&id001", "&a", "*a", "x: ",
                                        "- - ", "- 1", "\n     ", "\n", "!!int ", "? ",     "| ", "1",  "9999999999"};
    hostile_set(file, ranges.data, ranges.size);
    if (hostile_chance(random, 30)) {
        hostile_damage(random, file);
        return;
    }
    char text[8192];
    for (uint32_t n = 1 + hostile_below(random, 3); n > 0 && file->size < sizeof text / 2; n--) {
        const char *part = parts[hostile_below(random, sizeof parts / sizeof *parts)];
        size_t at = hostile_below(random, (uint32_t)file->size), gone = hostile_below(random, 4), length = strlen(part);
        uint32_t times = hostile_chance(random, 10) ? 1 + hostile_below(random, 2000) : 1;
        if (at + gone > file->size) gone = 0;
        memcpy(text, file->data, at);
        size_t size = at;
        for (; times > 0 && size + length + file->size < sizeof text; times--, size += length)
            memcpy(text + size, part, length);
        memcpy(text + size, (const char *)file->data + at + gone, file->size - at - gone);
        hostile_set(file, (const uint8_t *)text, size + file->size - at - gone);
    }
}

static xpu_status read_ranges(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    static const xpu_import_options options = {0};
    xpu_paddle_files files;
    (void)random;
    const char *saved = hostile_save(file, ".yml");
    char folder[160], path[192];
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(saved) - strlen(".yml")), saved);
    snprintf(path, sizeof path, "%s/inference.yml", folder);
    mkdir(folder, 0700);
    if (rename(saved, path) != 0) return XPU_EBUG;
    xpu_status status = xpu_paddle_open(arena, arena, "tests/paddle/linear.json", &options, &files, diags);
    if (status != XPU_OK) return status;
    files.folder = folder;
    files.path = "inference.json";
    const xpu_import_options *with = xpu_paddle_with_ranges(arena, &files, &options, diags);
    for (uint32_t i = 0; i < with->shape_count; i++) {
        const xpu_shape_dim *dim = with->shapes[i].dims;
        if (with->shapes[i].rank != 2 || dim->min < 1 || dim->max < dim->min || dim->max > INT32_MAX) return XPU_EBUG;
    }
    return xpu_diags_status(diags);
}

static void feed_ranges(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_guard(result, "xpu_paddle_with_ranges", read_ranges, random, file);
}

const hostile_kind hostile_pdmodel = {"pdmodel", ".pdmodel", load, make_desc, feed_desc};
const hostile_kind hostile_pir = {"pir", ".json", load, make_pir, feed_pir};
const hostile_kind hostile_params = {"params", ".pdiparams", load, make_params, feed_params};
const hostile_kind hostile_ranges = {"ranges", ".yml", load, make_ranges, feed_ranges};
