/*
 * What says sizes: --value, --shape and --bound of models whose inputs are sizes, trip counts and conditions. The bytes
 * of a case are lines: the model's number, then an option each (v: --value, s: --shape, b:
 * --bound).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/hostile.h"
#include "xpuc/include/xpuc.h"

enum { MOST_LINES = 6 };

/* Options that are right, together. */
static const struct {
    const char *model, *options;
} seeds[] = {
    {"tests/control/value_folded.onnx", "vrate=16000\n"},
    {"tests/control/value_slice.onnx", "vends=1..8\n"},
    {"tests/control/value_slice.onnx", "vends=3,7\n"},
    {"tests/control/value_as_data.onnx", "vids=0..9\n"},
    {"tests/control/shape_arithmetic.onnx", "sx=1..4,3,2..16,2..16:2\n"},
    {"tests/control/shape_as_data.onnx", "sx=1..8,1..16\n"},
    {"tests/control/shape_decides.onnx", "sx=1..8,1,1..16\n"},
    {"tests/loops/opset16.onnx", "vn=3\nsx=4\n"},
    {"tests/loops/opset16.onnx", "vn=0..9\nsx=4\n"},
    {"tests/loops/loop_for.onnx", "vn=0..6\n"},
    {"tests/loops/loop_count.onnx", "vn=17\nsx=3\n"},
    {"tests/control/shape_by_gather.onnx", "sx=1..4,1..8,12\n"},
    {"tests/loops/if_sizes.onnx", "sx=4,3\n"},
    {"tests/loops/bound_loop.onnx", "bg_loop1_0=9\n"},
    {"tests/loops/bound_range.onnx", "blimit=40\n"},
    {"tests/loops/bound_shapes.onnx", "bn=12\n"},
    {"tests/loops/random/1.onnx", "vn=0..5\nsx=2,7\n"},
};
enum { SEEDS = sizeof seeds / sizeof *seeds };

static void load_sizes(void) {}

static void make_sizes(hostile_random *random, hostile_file *file) {
    static const char *const pieces[] = {"v",   "s", "b",  "bn=7", "=",  ",",   "..",   "\n",
                                         ":",   "-", "0",  "1",    "x",  "vn",  "sx",   "vx",
                                         "n=1", "N", "%n", "\x80", "\\", "n=,", "..-1", "1..1"};
    uint32_t seed = hostile_below(random, SEEDS);
    hostile_set(file, seeds[seed].options, strlen(seeds[seed].options));
    for (uint32_t i = hostile_below(random, 4); i > 0; i--) {
        char number[24];
        size_t at = hostile_below(random, (uint32_t)file->size + 1), removed = hostile_below(random, 3);
        if (removed > file->size - at) removed = file->size - at;
        if (hostile_chance(random, 30) && at < file->size && file->data[at] >= '0' && file->data[at] <= '9') {
            file->data[at] = (uint8_t)('0' + hostile_below(random, 10)); /* often legal */
            continue;
        }
        snprintf(number, sizeof number, "%lld", (long long)hostile_number(random));
        const char *piece =
            hostile_chance(random, 40) ? number : pieces[hostile_below(random, sizeof pieces / sizeof *pieces)];
        hostile_replace(file, at, removed, piece, strlen(piece));
        if (hostile_chance(random, 5)) hostile_damage(random, file);
    }
    uint8_t number[] = {(uint8_t)('A' + seed), '\n'};
    hostile_replace(file, 0, 0, number, sizeof number);
}

static void feed_sizes(hostile_random *random, const hostile_file *file, hostile_result *result) {
    char *text = calloc(1, file->size + 1);
    const char *values[MOST_LINES + 1] = {NULL}, *shapes[MOST_LINES + 1] = {NULL};
    const char *bounds[MOST_LINES + 1] = {NULL};
    uint32_t value_count = 0, shape_count = 0, bound_count = 0;
    if (!text) return;
    memcpy(text, file->data, file->size);
    for (char *line = text + 2, *end; *line && line < text + file->size; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = 0;
        if (*line == 'v' && value_count < MOST_LINES) values[value_count++] = line + 1;
        if (*line == 's' && shape_count < MOST_LINES) shapes[shape_count++] = line + 1;
        if (*line == 'b' && bound_count < MOST_LINES) bounds[bound_count++] = line + 1;
    }
    const xpuc_options options = {.emit = hostile_chance(random, 80) ? "c" : "ir",
                                  .chip = "nano",
                                  .values = values,
                                  .shapes = shapes,
                                  .bounds = bounds,
                                  .resources = getenv("XPU_RESOURCES")};
    xpuc_result compiled;
    xpuc_error error;
    xpuc_compile_file(seeds[(uint32_t)(text[0] - 'A') % SEEDS].model, &options, &compiled, &error);
    hostile_judge(result, "xpuc_compile_file with these sizes", error.status, error.text);
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
    free(text);
}

const hostile_kind hostile_sizes = {"sizes", ".txt", load_sizes, make_sizes, feed_sizes};
