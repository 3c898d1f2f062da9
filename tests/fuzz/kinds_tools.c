/*
 * What happens around a tool, not in its files: outputs that meet inputs (outputs), signals at any time (signals), a
 * program that is changed while it runs (changed). The bytes of a case are the command, a text.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/fuzz/hostile.h"
#include "xpu_runtime/include/xpurt.h"

enum { INPUTS = 5, MOST_WORDS = 24 };

/* What every folder holds. */
static struct {
    const char *name, *from, *reader; /* the tool that reads it */
    hostile_file bytes;
} inputs[INPUTS] = {{"m.onnx", "tests/models/mnist-8.onnx", "xpuc", {NULL, 0, 0}},
                    {"x.npy", "tests/models/9.npy", "xpu-run", {NULL, 0, 0}},
                    {"chip.json", "configs/chip/nano.json", "xpuc", {NULL, 0, 0}},
                    {"rules.json", "configs/memory/weights-in-l3.json", "xpuc", {NULL, 0, 0}},
                    {"p.xpu", NULL, "xpu-run", {NULL, 0, 0}}};
static const char *folder;

static void load_folder(void) {
    char path[256];
    folder = hostile_own_folder("tools");
    for (int i = 0; i < INPUTS; i++) {
        if (inputs[i].bytes.data) continue;
        if (inputs[i].from)
            hostile_load(&inputs[i].bytes, inputs[i].from);
        else
            hostile_compile(&inputs[i].bytes, "tests/models/mnist-8.onnx", "nano", "fp32", NULL);
    }
    for (int i = 0; i < INPUTS; i++) hostile_put(folder, inputs[i].name, &inputs[i].bytes);
    snprintf(path, sizeof path, "%s/sub", folder);
    mkdir(path, 0700);
    const char *links[][2] = {{"m.onnx", "soft.onnx"}, {"x.npy", "soft.npy"}, {"p.xpu", "soft.xpu"}, {".", "here"}};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, links[i][1]);
        unlink(path);
        if (symlink(links[i][0], path)) perror(path);
    }
}

/* Names that were links to an input become links again, and inputs what they were. */
static void restore(int input) {
    hostile_put(folder, inputs[input].name, &inputs[input].bytes);
}

static int is_whole(int input) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, inputs[input].name);
    FILE *stream = fopen(path, "rb");
    size_t size = inputs[input].bytes.size;
    char *bytes = malloc(size + 2);
    size_t got = stream && bytes ? fread(bytes, 1, size + 1, stream) : 0;
    int whole = stream && bytes && got == size && memcmp(bytes, inputs[input].bytes.data, size) == 0;
    if (stream) fclose(stream);
    free(bytes);
    return whole;
}

/* The words of a case's command. */
static int split(const hostile_file *file, char *text, size_t size, const char **words) {
    int count = 0;
    snprintf(text, size, "%.*s", (int)file->size, (const char *)file->data);
    for (char *word = strtok(text, " "); word && count < MOST_WORDS - 1; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    return count;
}

/* ---- outputs that meet inputs ---- */

static const char *way_to(hostile_random *random, int input, char *text, size_t size) {
    static const char *const ways[] = {
        "%s", "./%s", "sub/../%s", "here/%s", "here/here/./%s", "../%s", "/proc/self/cwd/%s", "hard-%s"};
    uint32_t way = hostile_below(random, sizeof ways / sizeof *ways);
    if (hostile_chance(random, 15) && (input == 0 || input == 1 || input == 4)) {
        snprintf(text, size, "%s", input == 0 ? "soft.onnx" : input == 1 ? "soft.npy" : "soft.xpu");
        return text;
    }
    snprintf(text, size, ways[way], inputs[input].name);
    return text;
}

static void make_outputs(hostile_random *random, hostile_file *file) {
    static const char *const compile[] = {"-o", "--report=", "-o", "--report=", "-o"};
    static const char *const run[] = {"-o", "--stats=", "--dump-layers=", "-o", "--heatmap="};
    char text[256], command[1024];
    int is_run = hostile_chance(random, 50), at = 0;
    at = snprintf(command, sizeof command, "%s",
                  is_run ? "xpu-run p.xpu -i x.npy" : "xpuc m.onnx --emit=c --chip=chip.json --memory=rules.json");
    if (is_run)
        at += snprintf(command + at, sizeof command - (size_t)at, " --device=%s",
                       hostile_chance(random, 50) ? "ref" : "func");
    uint32_t count = 1 + hostile_below(random, 2);
    for (uint32_t i = 0; i < count; i++) {
        const char *option = is_run ? run[hostile_below(random, 5)] : compile[hostile_below(random, 5)];
        const char *target = way_to(random, (int)hostile_below(random, INPUTS), text, sizeof text);
        if (hostile_chance(random, 10)) target = "sub/new.out";
        at +=
            snprintf(command + at, sizeof command - (size_t)at, " %s%s%s", option, option[1] == 'o' ? " " : "", target);
    }
    hostile_set(file, command, (size_t)at);
}

static void feed_outputs(hostile_random *random, const hostile_file *file, hostile_result *result) {
    char text[1024], path[256], hard[256];
    const char *words[MOST_WORDS];
    (void)random;
    if (split(file, text, sizeof text, words) < 1) return;
    for (int i = 0; i < INPUTS; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, inputs[i].name);
        snprintf(hard, sizeof hard, "%s/hard-%s", folder, inputs[i].name);
        unlink(hard);
        if (link(path, hard)) perror(hard);
    }
    hostile_tool_run(result, words, folder, 0);
    for (int i = 0; i < INPUTS; i++) {
        if (is_whole(i)) continue;
        if (!result->problem[0] && strcmp(inputs[i].reader, words[0]) == 0)
            snprintf(result->problem, sizeof result->problem, "%s has lost %s", text, inputs[i].name);
        restore(i);
    }
}

/* ---- signals ---- */

static const char *const jobs[] = {
    "xpuc m.onnx --chip=chip.json --emit=c -o out.c --report=out.json",
    "xpuc m.onnx --chip=chip.json --emit=c -o out.c --report=out.json",
    "xpuc m.onnx --chip=chip.json -o out.xpu",
    "xpu-run p.xpu -i x.npy --device=ref -o out.npz --dump-layers=dump --stats=out.json",
    "xpu-run p.xpu -i x.npy --device=func -o out.npz --dump-layers=dump --stats=out.json",
    "xpu-run p.xpu -i x.npy --device=func -o out.npz",
    "xpu-dump show dump",
};

static void make_job(hostile_random *random, hostile_file *file) {
    const char *job = jobs[hostile_below(random, sizeof jobs / sizeof *jobs)];
    if (job == jobs[2] && hostile_chance(random, 60)) job = jobs[5]; /* clang takes long */
    hostile_set(file, job, strlen(job));
}

static void wait_microseconds(uint32_t time) {
    nanosleep(&(struct timespec){time / 1000000, (long)(time % 1000000) * 1000}, NULL);
}

/* An output is not there, or whole. */
static void check_output(hostile_result *result, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    hostile_file bytes = {NULL, 0, 0};
    if (access(path, F_OK) == 0) {
        hostile_load(&bytes, path);
        const char *end = (const char *)bytes.data + bytes.size;
        int whole = strstr(name, ".json")  ? bytes.size > 2 && end[-2] == '}'
                    : strstr(name, ".npz") ? bytes.size > 22 && memcmp(end - 22, "PK\5\6", 4) == 0
                                           : bytes.size > 4;
        if (strstr(name, ".xpu")) {
            xpurt_program *program = xpurt_open_memory(bytes.data, bytes.size, name, NULL);
            whole = program != NULL;
            xpurt_close(program);
        }
        if (!whole && !result->problem[0])
            snprintf(result->problem, sizeof result->problem, "%s is half-written", name);
    }
    unlink(path);
    hostile_clear(&bytes);
}

/* Nothing stays in the folder for temporary files, nor beside the outputs. */
static void check_left(hostile_result *result, const char *job) {
    char command[512], line[200];
    snprintf(command, sizeof command, "cd '%s' && find tmp -mindepth 1; find . -maxdepth 1 -name '.*' -type f", folder);
    FILE *found = popen(command, "r");
    if (found && fgets(line, sizeof line, found) && !result->problem[0])
        snprintf(result->problem, sizeof result->problem, "%s leaves %s", job, line);
    if (found) pclose(found);
    if (!result->problem[0]) return;
    snprintf(command, sizeof command, "cd '%s' && rm -rf tmp dump .??* && mkdir tmp", folder);
    if (system(command)) perror(command);
}

static void feed_signals(hostile_random *random, const hostile_file *file, hostile_result *result) {
    static const int all[] = {SIGINT, SIGTERM, SIGHUP};
    static const char *const outputs[] = {"out.c", "out.json", "out.xpu", "out.npz"};
    char text[1024];
    const char *words[MOST_WORDS];
    hostile_tool tool;
    int sent = all[hostile_below(random, 3)];
    int count = split(file, text, sizeof text, words);
    if (count < 1) return;
    uint32_t most = strcmp(words[count - 1], "out.xpu") == 0 ? 300000 : 20000;
    hostile_tool_start(&tool, words, folder, 0);
    wait_microseconds(hostile_below(random, most));
    kill(tool.process, sent);
    hostile_tool_finish(&tool);
    if (tool.status == 3 && strcmp(words[0], "xpu-dump") == 0) tool.status = 0; /* there is no dump yet */
    hostile_tool_judge(result, &tool, sent);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) check_output(result, outputs[i]);
    check_left(result, words[0]);
    hostile_tool_clear(&tool);
}

/* ---- a program that changes while it runs ---- */

static void make_change(hostile_random *random, hostile_file *file) {
    static const char *const runs[] = {"xpu-run r.xpu -i x.npy --device=func", "xpu-run r.xpu -i x.npy --device=ref",
                                       "xpuc --describe r.xpu"};
    const char *run = runs[hostile_below(random, 3)];
    hostile_set(file, run, strlen(run));
}

static void change_file(hostile_random *random, const char *path, size_t size) {
    FILE *stream = NULL;
    switch (hostile_below(random, 4)) {
    case 0:
        if (truncate(path, (off_t)hostile_below(random, (uint32_t)size))) perror(path);
        return;
    case 1: unlink(path); return;
    case 2: stream = fopen(path, "r+b"); break;
    default: unlink(path), stream = fopen(path, "wb");
    }
    if (!stream) return;
    for (uint32_t i = 0; i < 64; i++) {
        fseek(stream, (long)hostile_below(random, (uint32_t)size), SEEK_SET);
        fputc((int)hostile_below(random, 256), stream);
    }
    fclose(stream);
}

static void feed_changed(hostile_random *random, const hostile_file *file, hostile_result *result) {
    char text[1024], path[256];
    const char *words[MOST_WORDS];
    hostile_tool tool;
    if (split(file, text, sizeof text, words) < 1) return;
    hostile_put(folder, "r.xpu", &inputs[4].bytes);
    snprintf(path, sizeof path, "%s/r.xpu", folder);
    hostile_tool_start(&tool, words, folder, 0);
    wait_microseconds(hostile_below(random, 12000));
    change_file(random, path, inputs[4].bytes.size);
    hostile_tool_finish(&tool);
    hostile_tool_judge(result, &tool, 0);
    if (!tool.status && strcmp(words[0], "xpu-run") == 0 && !strstr((const char *)tool.text.data, "9: ") &&
        !result->problem[0])
        snprintf(result->problem, sizeof result->problem, "another result: %.500s", (const char *)tool.text.data);
    hostile_tool_clear(&tool);
}

const hostile_kind hostile_outputs = {"outputs", ".txt", load_folder, make_outputs, feed_outputs};
const hostile_kind hostile_signals = {"signals", ".txt", load_folder, make_job, feed_signals};
const hostile_kind hostile_changed = {"changed", ".txt", load_folder, make_change, feed_changed};
