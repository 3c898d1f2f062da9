/*
 * A small language model tells a story on the chip: stories260K, a Llama of 260,000 parameters, greedy.
 *
 *     story PROGRAM.xpu tok512.bin [--tokens=256] [--device=func|rtl|ref]
 *
 * PROGRAM is one of two forms (tests/gen/make_stories.py): stories260K_step.onnx, one token a run, in a session whose
 * states are the caches of keys and values:
 *
 *     xpuc stories260K_step.onnx --value=pos=0..511 --state=keys_out=keys --state=values_out=values
 *
 * or stories260K_loop.onnx, an ONNX Loop over the same step, which stays on the device until the story is told:
 *
 *     xpuc stories260K_loop.onnx --value=count=1..512
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xpurt.h>

#include "examples/common/demo.h"
#include "words.h"

enum { WORDS = 512, LENGTH = 512, RESULTS = 8 };

typedef struct {
    const char *model, *vocabulary, *device;
    long tokens; /* wanted */
    words_table words;
    xpurt_program *program;
    const struct xpurt_device_driver *driver;
    long told;
    long long cycles;
} job;

static int usage(const char *what, const char *why) {
    return demo_fails(2, NULL, "usage", what, why,
                      "story PROGRAM.xpu tok512.bin [--tokens=256] [--device=func|rtl|ref]");
}

static int has_input(const job *j, const char *name, const char *dtype) {
    for (uint32_t i = 0; i < xpurt_input_count(j->program); i++) {
        xpurt_tensor info;
        xpurt_input(j->program, i, &info);
        if (strcmp(info.name, name) == 0 && strcmp(info.dtype, dtype) == 0) return 1;
    }
    return 0;
}

/* Whether its first output is what the form gives: a float for each word, or a list of words. */
static int has_words(const job *j, int steps) {
    xpurt_tensor info;
    int64_t count = 1;
    xpurt_output(j->program, 0, &info);
    if (!info.dtype || strcmp(info.dtype, steps ? "float32" : "int64") != 0) return 0;
    if (!steps) return info.rank == 1;
    for (int i = 0; i < info.rank; i++) {
        if (info.dims[i] < 1 || info.dims[i] > WORDS) return 0; /* open, or none of 512 */
        count *= info.dims[i];
    }
    return count == WORDS;
}

static void say(job *j, uint32_t before, uint32_t token) {
    uint8_t room;
    uint32_t length;
    const uint8_t *text = words_text(&j->words, before, token, &room, &length);
    fwrite(text, 1, length, stdout);
    fflush(stdout);
    j->told++;
}

/* One run in the session; its outputs, and on a device with time its cycles. */
static int run(job *j, xpurt_session *session, const xpurt_tensor inputs[2], xpurt_tensor *outputs) {
    xpurt_error error = {0};
    char *text = NULL;
    xpurt_run_options options = {.leave_states = 1};
    if (strcmp(j->device, "rtl") == 0) options.stats = &text;
    xpurt_session_run(session, inputs, 2, outputs, &options, &error);
    j->cycles += demo_cycles(text);
    free(text);
    return demo_passes_on(&error);
}

static void clear(const job *j, xpurt_tensor *outputs) {
    for (uint32_t i = 0; i < xpurt_output_count(j->program); i++) xpurt_tensor_clear(&outputs[i]);
}

/* ---- step by step ---- */

static uint32_t likeliest(const float *logits) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < WORDS; i++) best = logits[i] > logits[best] ? i : best;
    return best;
}

static int tell_by_steps(job *j, xpurt_session *session) {
    int64_t token = WORDS_BEGIN;
    for (int64_t place = 0; place < j->tokens; place++) {
        xpurt_tensor outputs[RESULTS] = {{0}};
        const xpurt_tensor inputs[2] = {{"token", "int64", 1, {1}, &token}, {"pos", "int64", 1, {1}, &place}};
        int status = run(j, session, inputs, outputs);
        uint32_t next = status ? 0 : likeliest(outputs[0].data);
        clear(j, outputs);
        if (status || next == WORDS_BEGIN) return status;
        say(j, (uint32_t)token, next);
        token = next;
    }
    return 0;
}

/* ---- all at once ---- */

static int tell_at_once(job *j, xpurt_session *session) {
    int64_t prompt = WORDS_BEGIN, count = j->tokens;
    xpurt_tensor outputs[RESULTS] = {{0}};
    const xpurt_tensor inputs[2] = {{"prompt", "int64", 1, {1}, &prompt}, {"count", "int64", 0, {0}, &count}};
    int status = run(j, session, inputs, outputs);
    const int64_t *tokens = outputs[0].data;
    for (int64_t i = 0; !status && i < outputs[0].dims[0] && tokens[i] != WORDS_BEGIN; i++)
        say(j, i ? (uint32_t)tokens[i - 1] : WORDS_BEGIN, (uint32_t)tokens[i]);
    clear(j, outputs);
    return status;
}

static int work(job *j) {
    xpurt_error error = {0};
    const char *why = NULL;
    int status = words_read(j->vocabulary, WORDS, &j->words, &why);
    if (status) {
        return demo_fails(status, j->vocabulary, status == 2 ? "story-words" : "io-read",
                          "this is no vocabulary of 512 words", why, "examples/story/tok512.bin");
    }
    j->program = xpurt_open(j->model, &error);
    status = demo_passes_on(&error);
    if (!status) status = demo_find_device(j->program, j->device, &j->driver);
    if (status) return status;
    int steps = has_input(j, "token", "int64") && has_input(j, "pos", "int64");
    const char *wrong = NULL;
    if (!steps && !(has_input(j, "prompt", "int64") && has_input(j, "count", "int64")))
        wrong = "it takes neither token and pos nor prompt and count, integers of 64 bits";
    else if (xpurt_output_count(j->program) > RESULTS)
        wrong = "it has more than 8 outputs";
    else if (!has_words(j, steps))
        wrong = steps ? "its first output is not a float32 for each of 512 words" : "its first output is no int64 list";
    if (wrong) {
        return demo_fails(2, j->model, "story-program", "the program tells no stories", wrong,
                          "xpuc examples/story/stories260K_loop.onnx --value=count=1..512");
    }
    xpurt_session *session = xpurt_session_open(j->program, &(xpurt_run_options){.device = j->driver}, &error);
    status = demo_passes_on(&error);
    if (session) status = steps ? tell_by_steps(j, session) : tell_at_once(j, session);
    xpurt_session_close(session);
    if (status) return status;
    printf("\n%s: %ld tokens, %s, on %s", j->model, j->told, steps ? "step by step" : "one loop", j->device);
    if (j->cycles && j->told) printf(", %lld cycles each", j->cycles / j->told);
    putchar('\n');
    return 0;
}

static int read_options(job *j, int argc, char **argv) {
    static const struct option options[] = {{"device", 1, NULL, 'd'}, {"tokens", 1, NULL, 't'}, {0}};
    char *end = "";
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "d:", options, NULL)) != -1;) {
        if (c == 'd') j->device = optarg;
        if (c == 't') j->tokens = strtol(optarg, &end, 10);
        if (c == '?') return usage("there is no such option, or it has no value", argv[optind - 1]);
    }
    if (*end || j->tokens < 1 || j->tokens > LENGTH)
        return usage("--tokens is not 1 to 512", "the caches have 512 places");
    if (strcmp(j->device, "func") && strcmp(j->device, "rtl") && strcmp(j->device, "ref"))
        return usage("there is no such device", j->device);
    if (argc - optind != 2) return usage("two files are needed", "a program and a vocabulary");
    j->model = argv[optind];
    j->vocabulary = argv[optind + 1];
    return 0;
}

int main(int argc, char **argv) {
    job j = {.device = "func", .tokens = 256};
    int status = read_options(&j, argc, argv);
    if (!status) status = work(&j);
    words_clear(&j.words);
    xpurt_close(j.program);
    return status;
}
