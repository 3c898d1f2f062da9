/* Files and arguments of xpuc's options: precision rules, --shape. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/hostile.h"
#include "xpuc/include/xpuc.h"

static void compile(const xpuc_options *options, const char *call, hostile_result *result) {
    xpuc_result compiled;
    xpuc_error error;
    xpuc_compile_file("tests/models/mnist-8.onnx", options, &compiled, &error);
    hostile_judge(result, call, error.status, error.text);
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
}

/* ---- precision rules ---- */

static hostile_file precision_rules;

static void load_precision(void) {
    static const char text[] = "{\"rules\": [\n"
                               "  {\"match\": \"*\", \"precision\": \"int16x8\"},\n"
                               "  {\"match\": \"Conv[a-z]*2?\", \"precision\": \"int16\"},\n"
                               "  {\"match\": \"Plus214\", \"precision\": \"fp32\"},\n"
                               "  {\"match\": \"nothing*\", \"precision\": \"auto\"}]}\n";
    hostile_set(&precision_rules, text, sizeof text - 1);
}

static void make_precision(hostile_random *random, hostile_file *file) {
    hostile_set(file, precision_rules.data, precision_rules.size);
    if (hostile_chance(random, 88))
        hostile_damage_json(random, file);
    else
        hostile_damage(random, file);
}

static void feed_precision(hostile_random *random, const hostile_file *file, hostile_result *result) {
    (void)random;
    compile(&(xpuc_options){.emit = "ir",
                            .precision_rules = hostile_save(file, ".json"),
                            .resources = getenv("XPU_RESOURCES")},
            "xpuc_compile_file with these precision rules", result);
}

/* ---- shapes: the bytes are the argument ---- */

static const char *const shapes[] = {"Input3=1,1,28,28", "Input3=N=1..16,1,28,28", "Input3=N,1,28..56:28,W",
                                     "Input3=1..4,1,H=28..64,W=28..64", "Input3=2,1,32,N"};

static void load_shapes(void) {}

/* A number, name or sign at a random place, or damage that knows nothing. */
static void make_shape(hostile_random *random, hostile_file *file) {
    static const char *const pieces[] = {
        ",", "=", "..", ":", "N", "Input3", "0", "-1", "%n", "\"", "18446744073709551616"};
    const char *seed = shapes[hostile_below(random, sizeof shapes / sizeof *shapes)];
    hostile_set(file, seed, strlen(seed));
    if (hostile_chance(random, 30)) { /* another digit, which is often legal */
        size_t at = hostile_below(random, (uint32_t)file->size);
        if (file->data[at] >= '0' && file->data[at] <= '9') file->data[at] = (uint8_t)('0' + hostile_below(random, 10));
        return;
    }
    for (uint32_t i = 1 + hostile_below(random, 3); i > 0; i--) {
        if (hostile_chance(random, 30)) {
            hostile_damage(random, file);
            continue;
        }
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)hostile_number(random));
        const char *piece =
            hostile_chance(random, 50) ? number : pieces[hostile_below(random, sizeof pieces / sizeof *pieces)];
        size_t at = hostile_below(random, (uint32_t)file->size + 1);
        size_t removed = hostile_below(random, 4);
        if (removed > file->size - at) removed = file->size - at;
        hostile_replace(file, at, removed, piece, strlen(piece));
    }
}

static void feed_shape(hostile_random *random, const hostile_file *file, hostile_result *result) {
    (void)random;
    char *text = malloc(file->size + 1);
    if (!text) return;
    if (file->size) memcpy(text, file->data, file->size);
    text[file->size] = 0;
    const char *given[] = {text, NULL};
    compile(&(xpuc_options){.emit = "ir", .shapes = given, .resources = getenv("XPU_RESOURCES")},
            "xpuc_compile_file with this shape", result);
    free(text);
}

/* ---- states: the bytes are the argument ---- */

static void make_state(hostile_random *random, hostile_file *file) {
    static const char *const pieces[] = {"hN", "h", "y", "x", "=", "==", "\\", "%n", "\"", "\n", "\xff", "hN=h", ""};
    hostile_set(file, "hN=h", 4);
    for (uint32_t i = 1 + hostile_below(random, 3); i > 0; i--) {
        const char *piece = pieces[hostile_below(random, sizeof pieces / sizeof *pieces)];
        size_t at = hostile_below(random, (uint32_t)file->size + 1), removed = hostile_below(random, 4);
        if (removed > file->size - at) removed = file->size - at;
        hostile_replace(file, at, removed, piece, strlen(piece));
        if (hostile_chance(random, 20)) hostile_damage(random, file);
    }
}

static void feed_state(hostile_random *random, const hostile_file *file, hostile_result *result) {
    char *text = malloc(file->size + 1);
    if (!text) return;
    if (file->size) memcpy(text, file->data, file->size);
    text[file->size] = 0;
    const char *given[] = {text, hostile_chance(random, 20) ? "hN=h" : NULL, NULL};
    xpuc_result compiled;
    xpuc_error error;
    const xpuc_options options = {.emit = "ir", .states = given, .resources = getenv("XPU_RESOURCES")};
    xpuc_compile_file("tests/golden/frames/rnn.onnx", &options, &compiled, &error);
    hostile_judge(result, "xpuc_compile_file with this state", error.status, error.text);
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
    free(text);
}

const hostile_kind hostile_state = {"state", ".txt", load_shapes, make_state, feed_state};
const hostile_kind hostile_precision = {"precision", ".json", load_precision, make_precision, feed_precision};
const hostile_kind hostile_shape = {"shape", ".txt", load_shapes, make_shape, feed_shape};
