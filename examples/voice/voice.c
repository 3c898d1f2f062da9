/*
 * Where speech is in a sound: Silero's voice detector, frame by frame through one session, whose state stays on the
 * chip.
 *
 *     xpuc silero_vad_16k_op15.onnx --shape=input=1,576 --shape=state=2,1,128 --value=sr=16000 --state=stateN=state
 *     voice silero_vad_16k_op15.xpu SOUND.wav [--device=func|rtl|ref] [--svg=FILE] [--threshold=0.5] [--frames]
 *
 * A frame is 512 samples of 16 kHz behind the 64 before them. Stretches of speech go to standard output, one a line:
 * begin, end in seconds, and the largest probability; --frames has the probability of each frame instead.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xpurt.h>

#include "examples/common/demo.h"
#include "speech.h"
#include "wav.h"

enum { RATE = 16000, HOP = 512, CONTEXT = 64, FRAME = HOP + CONTEXT, RESULTS = 8 };

typedef struct {
    const char *model, *path, *device, *svg;
    double threshold;
    int each_frame;
    wav_sound sound;
    float *probability;
    size_t frames;
    xpurt_program *program;
    int64_t rate_input; /* its index, or -1: the rate was decided by xpuc */
    long long cycles;
    speech_stretch *stretches;
    long stretch_count;
} job;

static int usage(const char *what, const char *why) {
    return demo_fails(2, NULL, "usage", what, why,
                      "voice PROGRAM.xpu SOUND.wav [--device=func|rtl|ref] [--svg=FILE] "
                      "[--threshold=0.5] [--frames]");
}

/* ---- program ---- */

/* Whether the program takes a frame and gives a probability. */
static int check_form(job *j) {
    xpurt_tensor frame = {0}, result = {0}, info;
    j->rate_input = -1;
    for (uint32_t i = 0; i < xpurt_input_count(j->program); i++) {
        xpurt_input(j->program, i, &info);
        if (strcmp(info.name, "input") == 0) frame = info;
        if (strcmp(info.name, "sr") == 0) j->rate_input = i;
        if (strcmp(info.name, "state") == 0 && xpurt_state_of_input(j->program, i) < 0) frame.name = NULL;
    }
    xpurt_output(j->program, 0, &result);
    int good = xpurt_output_count(j->program) <= RESULTS && frame.name && frame.rank == 2 && frame.dims[0] == 1 &&
               frame.dims[1] == FRAME && strcmp(frame.dtype, "float32") == 0 && result.dtype &&
               strcmp(result.dtype, "float32") == 0;
    if (good) return 0;
    return demo_fails(2, j->model, "voice-program", "the program is no voice detector",
                      "it needs an input 'input' float32 [1,576], and its 'state' tied by --state",
                      "xpuc silero_vad_16k_op15.onnx --shape=input=1,576 --shape=state=2,1,128 --value=sr=16000 "
                      "--state=stateN=state");
}

/* ---- frames ---- */

/* Frame i: its samples behind the last of the frame before; zeros before the sound and after it. */
static void take_frame(const job *j, size_t i, float *frame) {
    for (size_t k = 0; k < FRAME; k++) {
        size_t at = i * HOP + k;
        frame[k] = at >= CONTEXT && at - CONTEXT < j->sound.count ? j->sound.samples[at - CONTEXT] : 0;
    }
}

static int run_frame(job *j, xpurt_session *session, size_t i) {
    float frame[FRAME];
    int64_t rate = RATE;
    xpurt_error error = {0};
    char *stats = NULL;
    xpurt_tensor inputs[2] = {{"input", "float32", 2, {1, FRAME}, frame}, {"sr", "int64", 0, {0}, &rate}};
    xpurt_tensor outputs[RESULTS] = {{0}};
    xpurt_run_options options = {.leave_states = 1, .stats = strcmp(j->device, "rtl") == 0 ? &stats : NULL};
    take_frame(j, i, frame);
    int status = xpurt_session_run(session, inputs, j->rate_input >= 0 ? 2 : 1, outputs, &options, &error);
    if (!status) j->probability[i] = *(const float *)outputs[0].data;
    for (uint32_t k = 0; k < xpurt_output_count(j->program); k++) xpurt_tensor_clear(&outputs[k]);
    j->cycles += demo_cycles(stats);
    free(stats);
    return demo_passes_on(&error);
}

static int run_frames(job *j) {
    xpurt_run_options options = {0};
    xpurt_error error = {0};
    int status = demo_find_device(j->program, j->device, &options.device);
    if (status) return status;
    j->frames = (j->sound.count + HOP - 1) / HOP;
    j->probability = malloc(j->frames * sizeof *j->probability);
    if (!j->probability)
        return demo_fails(3, j->path, "memory", "there is not enough memory", "the sound is long", "cut it");
    xpurt_session *session = xpurt_session_open(j->program, &options, &error);
    status = demo_passes_on(&error);
    for (size_t i = 0; !status && i < j->frames; i++) status = run_frame(j, session, i);
    xpurt_session_close(session);
    return status;
}

/* ---- what is said ---- */

static void print(const job *j) {
    double all = 0, most = 0;
    for (size_t i = 0; i < j->frames; i++) {
        if (j->each_frame) printf("%.3f  %.4f\n", (double)(i * HOP) / RATE, (double)j->probability[i]);
        if ((double)j->probability[i] > most) most = (double)j->probability[i];
    }
    for (long i = 0; i < j->stretch_count; i++) {
        const speech_stretch *s = &j->stretches[i];
        all += s->end - s->begin;
        if (!j->each_frame) printf("%.2f - %.2f  speech (%.3f)\n", s->begin, s->end, (double)s->most);
    }
    if (!j->stretch_count) printf("no speech (%.3f at most)\n", most);
    printf("%s: %ld stretch%s of speech, %.2f of %.2f seconds; %zu frames on %s", file_base(j->path), j->stretch_count,
           j->stretch_count == 1 ? "" : "es", all, (double)j->sound.count / RATE, j->frames, j->device);
    if (j->cycles) printf(", %lld cycles each", j->cycles / (long long)j->frames);
    putchar('\n');
}

static int draw(const job *j) {
    speech_picture picture = {.title = file_base(j->path), .samples = j->sound.samples, .sample_count = j->sound.count};
    picture.probability = j->probability;
    picture.frames = j->frames;
    picture.seconds = (double)j->sound.count / RATE;
    picture.frame_seconds = (double)HOP / RATE;
    picture.threshold = j->threshold;
    picture.stretches = j->stretches;
    picture.stretch_count = j->stretch_count;
    int failure = speech_draw(j->svg, &picture);
    if (!failure) return 0;
    return demo_fails(3, j->svg, "io-write", "the picture cannot be written", strerror(failure),
                      "another file for --svg");
}

static int work(job *j) {
    xpurt_error error = {0};
    file_error wrong = {0};
    int status = wav_read(j->path, RATE, &j->sound, &wrong);
    if (status) return demo_fails(status, j->path, wrong.rule, wrong.what, wrong.why, wrong.hint);
    j->program = xpurt_open(j->model, &error);
    status = demo_passes_on(&error);
    if (!status) status = check_form(j);
    if (!status) status = run_frames(j);
    if (status) return status;
    j->stretch_count = speech_find(j->probability, j->frames, (double)HOP / RATE, (double)j->sound.count / RATE,
                                   j->threshold, &j->stretches);
    if (j->stretch_count < 0)
        return demo_fails(3, j->path, "memory", "there is not enough memory", "the sound is long", "cut it");
    print(j);
    return j->svg ? draw(j) : 0;
}

static int read_options(job *j, int argc, char **argv) {
    static const struct option options[] = {
        {"device", 1, NULL, 'd'}, {"svg", 1, NULL, 's'}, {"threshold", 1, NULL, 't'}, {"frames", 0, NULL, 'f'}, {0}};
    char *end = "";
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "d:", options, NULL)) != -1;) {
        if (c == 'd') j->device = optarg;
        if (c == 's') j->svg = optarg;
        if (c == 't') j->threshold = strtod(optarg, &end);
        if (c == 'f') j->each_frame = 1;
        if (c == '?') return usage("there is no such option, or it has no value", argv[optind - 1]);
    }
    if (*end || !(j->threshold > 0 && j->threshold <= 1)) return usage("--threshold is no probability", "0 to 1");
    if (strcmp(j->device, "func") && strcmp(j->device, "rtl") && strcmp(j->device, "ref"))
        return usage("there is no such device", j->device);
    if (argc - optind != 2) return usage("two files are needed", "a program and a sound");
    j->model = argv[optind];
    j->path = argv[optind + 1];
    return 0;
}

int main(int argc, char **argv) {
    job j = {.device = "func", .threshold = 0.5};
    int status = read_options(&j, argc, argv);
    if (!status) status = work(&j);
    free(j.stretches);
    free(j.probability);
    free(j.sound.samples);
    xpurt_close(j.program);
    return status;
}
