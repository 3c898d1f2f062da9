/* Silero's voice detectors through one session: a second of sound frame by frame, the state in device memory, against
 * what onnxruntime gave (tests/gen/record_voice.py). Models and sounds are in ../shared (XPU_SHARED). */
#ifndef XPU_TESTS_VOICE_H
#define XPU_TESTS_VOICE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/npy.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/include/xpurt_func.h"
#include "xpu_runtime/include/xpurt_rtl.h"
#include "xpuc/include/xpuc.h"

enum {
    VOICE_FRAME = 576,
    VOICE_HOP = 512,
    VOICE_SAMPLES = 16000,
    VOICE_SIGNAL = VOICE_FRAME - VOICE_HOP + VOICE_SAMPLES,
    VOICE_FRAMES = 31,
    VOICE_STATE = 256, /* elements for one sound */
    VOICE_BATCH = 3,
    VOICE_TURN = 5000 /* what the third sound of a batch is: the first one, turned round by so many samples */
};

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    const char *shared;
    xpu_named_tensors recorded;
    xpurt_program *program;
    const char *model;
    int batch;
} voice;

static inline const float *voice_recorded(const voice *v, const char *sound, const char *what) {
    const char *name = xpu_printf(v->arena, "%s/%s%s", v->model, sound, what);
    for (uint32_t i = 0; i < v->recorded.count; i++) {
        if (strcmp(v->recorded.items[i].name, name) == 0) return v->recorded.items[i].tensor.data;
    }
    CU_FAIL_FATAL("nothing was recorded");
    return NULL;
}

/* 64 zeros and the samples of a 16-bit WAV file with a header of 44 bytes. */
static inline void voice_read(const voice *v, const char *sound, float *signal) {
    static int16_t samples[VOICE_SAMPLES];
    FILE *file = fopen(xpu_printf(v->arena, "%s/models/data/%s_1000ms.wav", v->shared, sound), "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_FATAL(fseek(file, 44, SEEK_SET) == 0 && fread(samples, 2, VOICE_SAMPLES, file) == VOICE_SAMPLES);
    fclose(file);
    for (int i = 0; i < VOICE_FRAME - VOICE_HOP; i++) signal[i] = 0;
    for (int i = 0; i < VOICE_SAMPLES; i++) signal[VOICE_FRAME - VOICE_HOP + i] = (float)samples[i] / 32768;
}

/* The sounds of a recording, each [VOICE_SIGNAL]: "yes", "silence", or of a batch. */
static inline void voice_signals(const voice *v, const char *sound, float *signals) {
    if (strncmp(sound, "batch", 5) != 0) {
        voice_read(v, sound, signals);
        return;
    }
    const int first = VOICE_FRAME - VOICE_HOP;
    float *third = signals + 2 * VOICE_SIGNAL;
    voice_read(v, "yes", signals);
    voice_read(v, "silence", signals + VOICE_SIGNAL);
    if (v->batch < VOICE_BATCH) return;
    for (int i = 0; i < VOICE_SIGNAL; i++)
        third[i] = i < first ? 0 : signals[first + (i - first + VOICE_TURN) % VOICE_SAMPLES];
}

static inline void voice_compile(voice *v, const char *input, const char *state) {
    const char *const shapes[] = {input, state, NULL};
    static const char *const values[] = {"sr=16000", NULL}, *const states[] = {"stateN=state", NULL};
    const xpuc_options options = {.shapes = shapes, .values = values, .states = states, .precision = "fp32"};
    const char *path = xpu_printf(v->arena, "%s/models/onnx/%s.onnx", v->shared, v->model);
    xpuc_result result;
    xpuc_error error = {0};
    int status = xpuc_compile_file(path, &options, &result, &error);
    if (status) fprintf(stderr, "%s", error.text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    v->program = xpurt_open_memory(result.bytes, result.size, v->model, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(v->program);
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
}

/* One frame of each sound, from `signals` on; the state that it leaves goes to `state` where that is not NULL. */
static inline void voice_step(const voice *v, xpurt_session *session, const float *signals, float *probabilities,
                              float *state) {
    static float frames[VOICE_BATCH * VOICE_FRAME];
    int64_t rate = 16000;
    xpurt_tensor inputs[2] = {{"input", "float32", 2, {v->batch, VOICE_FRAME}, frames}, {"sr", "int64", 0, {0}, &rate}};
    xpurt_tensor outputs[2];
    xpurt_error error = {0};
    int takes_rate = 0;
    for (int i = 0; i < v->batch; i++)
        memcpy(frames + i * VOICE_FRAME, signals + i * VOICE_SIGNAL, VOICE_FRAME * sizeof *frames);
    for (uint32_t i = 0; i < xpurt_input_count(v->program); i++) {
        xpurt_tensor info;
        xpurt_input(v->program, i, &info);
        takes_rate |= strcmp(info.name, "sr") == 0;
    }
    const xpurt_run_options options = {.leave_states = !state};
    int status = xpurt_session_run(session, inputs, 1 + (uint32_t)takes_rate, outputs, &options, &error);
    if (status) fprintf(stderr, "%s", error.text);
    xpurt_error_clear(&error);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    memcpy(probabilities, outputs[0].data, (size_t)v->batch * sizeof *probabilities);
    if (state) memcpy(state, outputs[1].data, (size_t)(v->batch * VOICE_STATE) * sizeof *state);
    for (int i = 0; i < 2; i++) xpurt_tensor_clear(&outputs[i]);
}

static inline void voice_check(const voice *v, const struct xpurt_device_driver *device, const char *sound,
                               int frames) {
    static float signals[VOICE_BATCH * VOICE_SIGNAL], state[VOICE_BATCH * VOICE_STATE];
    const float *expected = voice_recorded(v, sound, ""), *last = voice_recorded(v, sound, "/state");
    double worst = 0;
    voice_signals(v, sound, signals);
    xpurt_session *session = xpurt_session_open(v->program, &(xpurt_run_options){.device = device}, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    for (int i = 0; i < frames; i++) {
        float got[VOICE_BATCH];
        voice_step(v, session, signals + i * VOICE_HOP, got, i == VOICE_FRAMES - 1 ? state : NULL);
        for (int k = 0; k < v->batch; k++)
            worst = fmax(worst, fabs((double)got[k] - (double)expected[i * v->batch + k]));
    }
    for (int i = 0; frames == VOICE_FRAMES && i < v->batch * VOICE_STATE; i++)
        worst = fmax(worst, fabs((double)state[i] - (double)last[i]));
    if (worst > 1e-4) fprintf(stderr, "%s, %s: %g off\n", v->model, sound, worst);
    CU_ASSERT(worst <= 1e-4);
    xpurt_session_close(session);
}

static inline const struct xpurt_device_driver *voice_rtl(void) {
    const char *build = getenv("XPU_BUILD");
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/lib", build ? build : "build");
    const struct xpurt_device_driver *driver = xpurt_rtl_load("standard", folder, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(driver);
    return driver;
}

typedef struct {
    const char *input, *state; /* shapes */
    const char *sounds[3];     /* NULL terminated */
    int batch;
} voice_kind;

/* One sound in a batch of one, two in a batch of two, three in a batch that is free. */
static const voice_kind voice_kinds[] = {
    {"input=1,576", "state=2,1,128", {"yes", "silence"}, 1},
    {"input=2,576", "state=2,2,128", {"batch2"}, 2},
    {"input=B=1..3,576", "state=2,B,128", {"batch3"}, 3},
};

/* All frames on func, `frames` of each sound on rtl. */
static inline void voice_test(const char *model, const voice_kind *kind, int frames) {
    voice v = {.model = model, .shared = getenv("XPU_SHARED"), .batch = kind->batch};
    if (!v.shared) {
        printf("\nskipped: %s is in ../shared\n", model);
        return;
    }
    xpu_mem_init(&v.mem);
    xpu_diags_init(&v.diags);
    if (setjmp(v.mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        v.arena = xpu_arena_new(&v.mem, "test");
        CU_ASSERT_EQUAL_FATAL(xpu_npz_read(v.arena, "tests/golden/voice.npz", &v.recorded, &v.diags), XPU_OK);
        voice_compile(&v, kind->input, kind->state);
        for (int i = 0; kind->sounds[i]; i++) {
            voice_check(&v, xpurt_func_driver(), kind->sounds[i], VOICE_FRAMES);
            voice_check(&v, voice_rtl(), kind->sounds[i], frames);
        }
        xpurt_close(v.program);
    }
    xpu_diags_clear(&v.diags);
    xpu_mem_release(&v.mem);
}

#endif
