/*
 * The converter: damaged models of every reader, written in each form. A refused one leaves no file behind; what is
 * written is whole, so that its reader finds nothing wrong with the file's form.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/hostile.h"
#include "xpuc/include/xpuc.h"

static const hostile_kind *const sources[] = {&hostile_model, &hostile_control, &hostile_pdmodel, &hostile_pir,
                                              &hostile_operators};
enum { SOURCES = sizeof sources / sizeof *sources };
static const hostile_kind *source; /* of the case that was made last */
static const char *folder;

static void load_sources(void) {
    for (size_t i = 0; i < SOURCES; i++) sources[i]->prepare();
    folder = hostile_own_folder("convert");
}

/* Half of the cases are models of every operator; every sixth is whole, so that much is written. */
static void make_source(hostile_random *random, hostile_file *file) {
    source = sources[hostile_below(random, SOURCES + 3) % SOURCES];
    if (hostile_chance(random, 50)) source = &hostile_operators;
    if (source == &hostile_operators && hostile_chance(random, 30))
        hostile_cut(random, file);
    else
        source->make(random, file);
}

/* Removes what stands in the folder; returns how many files that were. */
static int sweep(void) {
    DIR *list = opendir(folder);
    int count = 0;
    char path[512];
    for (struct dirent *entry = list ? readdir(list) : NULL; entry; entry = readdir(list)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) == 0) count++;
    }
    if (list) closedir(list);
    return count;
}

static void complain(hostile_result *result, const char *problem, const char *text) {
    if (!result->problem[0]) snprintf(result->problem, sizeof result->problem, "%s\n%s", problem, text ? text : "");
}

/* Rules of readers that say that a file is damaged: no writer makes one. */
static int says_damaged(const char *text) {
    static const char *const rules[] = {
        "[onnx-wire]",           "[onnx-model]",   "[onnx-opset]",    "[onnx-input]",         "[onnx-output]",
        "[onnx-name]",           "[onnx-cycle]",   "[onnx-tensor]",   "[onnx-external-data]", "[onnx-attribute]",
        "[onnx-unsupported-op]", "[paddle-wire]",  "[paddle-json]",   "[paddle-model]",       "[paddle-format]",
        "[paddle-params]",       "[paddle-input]", "[paddle-output]", "[paddle-name]",        "[paddle-attribute]"};
    for (size_t i = 0; text && i < sizeof rules / sizeof *rules; i++) {
        if (strstr(text, rules[i])) return 1;
    }
    return 0;
}

static void read_again(const char *path, hostile_result *result) {
    const xpuc_options options = {.emit = "ir", .resources = getenv("XPU_RESOURCES")};
    hostile_result unused = {.refused = 0};
    xpuc_result made;
    xpuc_error error;
    xpuc_compile_file(path, &options, &made, &error);
    hostile_judge(&unused, "xpuc_compile_file of what was written", error.status, error.text);
    if (unused.problem[0]) complain(result, unused.problem, NULL);
    if (says_damaged(error.text)) complain(result, "what was written cannot be read", error.text);
    xpuc_result_clear(&made);
    xpuc_error_clear(&error);
}

static void feed_converter(hostile_random *random, const hostile_file *file, hostile_result *result) {
    static const char *const endings[] = {".onnx", ".pdmodel", ".json"};
    static const int opsets[] = {0, 0, 0, 13, 15, 18, 22, 28};
    const char *from = hostile_save(file, source->extension);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const int opset = opsets[hostile_below(random, sizeof opsets / sizeof *opsets)];
        const int is_external = (int)hostile_below(random, 2), is_onnx = i == 0;
        const xpuc_options options = {.opset = is_onnx ? opset : 0,
                                      .external_data = is_onnx && is_external,
                                      .params = hostile_chance(random, 90) ? NULL : "tests/paddle/linear.pdiparams",
                                      .resources = getenv("XPU_RESOURCES")};
        xpuc_result made;
        xpuc_error error;
        char path[512];
        snprintf(path, sizeof path, "%s/out%s", folder, endings[i]);
        xpuc_convert(from, path, &options, &made, &error);
        const int status = hostile_judge(result, "xpuc_convert", error.status, error.text);
        if (!status && access(path, R_OK) != 0) complain(result, "xpuc_convert: nothing was written", error.text);
        if (!status && hostile_chance(random, 50)) read_again(path, result);
        const int files = sweep(); /* a program without parameters is one file */
        if (status ? files != 0 : files < 1 || files > 2)
            complain(result, status ? "xpuc_convert: a file stays behind" : "xpuc_convert: other files than a model's",
                     error.text);
        xpuc_result_clear(&made);
        xpuc_error_clear(&error);
    }
}

const hostile_kind hostile_convert = {"convert", ".model", load_sources, make_source, feed_converter};
