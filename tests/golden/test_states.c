/*
 * States of sessions: a small recurrent network, whose states pass from run to run in device memory, gives what runs
 * give to which the states are handed by the caller, bit by bit, on ref, func and rtl.
 */
#include <malloc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "core/chip.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/include/xpurt_device.h"
#include "xpu_runtime/include/xpurt_func.h"
#include "xpu_runtime/include/xpurt_rtl.h"
#include "xpuc/include/xpuc_build.h"

enum {
    IN = 8,
    HIDDEN = 16,
    OUT = 5,
    MOST = 4,
    INPUTS = 5,
    OUTPUTS = 5,
    STATES = 4,
    STEPS = 7,
    LARGEST = MOST * HIDDEN
};

/* y is no state; the others are, in the order of the inputs behind x. */
static const char *const states[] = {"hN=h", "seen=last", "flat=h2", "next=count", NULL};

static float noise(uint32_t *seed) {
    *seed = *seed * 1664525 + 1013904223;
    return (float)(*seed >> 8) / (1 << 24) - 0.5f;
}

static xpuc_value weights(xpuc_network *n, const char *name, int64_t rows, int64_t columns, uint32_t seed) {
    float data[HIDDEN * HIDDEN];
    for (int64_t i = 0; i < rows * columns; i++) data[i] = noise(&seed);
    return xpuc_constant(n, name, "float32", 2, (int64_t[]){rows, columns}, data);
}

static xpuc_value add(xpuc_network *n, const char *name, xpuc_value a, xpuc_value b) {
    return xpuc_elementwise(n, name, "add", (xpuc_value[]){a, b}, 2, NULL, 0);
}

/* h = tanh(x W + h U + last P + h2 Q); last is the x before, h2 is h once more in another shape, count counts. */
static xpuc_network *cell(void) {
    xpuc_network *n = xpuc_network_new("cell", NULL);
    xpuc_dim batch = XPUC_SYMBOL("B", 1, MOST);
    xpuc_value x = xpuc_input(n, "x", "float32", 2, (xpuc_dim[]){batch, XPUC_SIZE(IN)});
    xpuc_value h = xpuc_input(n, "h", "float32", 2, (xpuc_dim[]){batch, XPUC_SIZE(HIDDEN)});
    xpuc_value last = xpuc_input(n, "last", "float32", 2, (xpuc_dim[]){batch, XPUC_SIZE(IN)});
    xpuc_value h2 = xpuc_input(n, "h2", "float32", 3, (xpuc_dim[]){batch, XPUC_SIZE(4), XPUC_SIZE(4)});
    xpuc_value count = xpuc_input(n, "count", "int64", 1, (xpuc_dim[]){XPUC_SIZE(1)});
    xpuc_value wide = xpuc_reshape(n, "wide", h2, 2, (int64_t[]){0, HIDDEN});
    xpuc_value sum = add(n, "sum1", xpuc_matmul(n, "xw", x, weights(n, "w", IN, HIDDEN, 1)),
                         xpuc_matmul(n, "hu", h, weights(n, "u", HIDDEN, HIDDEN, 2)));
    sum = add(n, "sum2", sum, xpuc_matmul(n, "lp", last, weights(n, "p", IN, HIDDEN, 3)));
    sum = add(n, "sum3", sum, xpuc_matmul(n, "hq", wide, weights(n, "q", HIDDEN, HIDDEN, 4)));
    xpuc_value hidden = xpuc_unary(n, "hidden", "tanh", sum);
    xpuc_output(n, xpuc_matmul(n, "y", hidden, weights(n, "v", HIDDEN, OUT, 5)), NULL);
    xpuc_output(n, hidden, "hN");
    xpuc_output(n, x, "seen");
    xpuc_output(n, xpuc_reshape(n, "flat", hidden, 3, (int64_t[]){0, 4, 4}), NULL);
    xpuc_output(n, add(n, "next", count, xpuc_constant(n, "one", "int64", 1, (int64_t[]){1}, (int64_t[]){1})), NULL);
    return n;
}

static xpurt_program *compile(const char *precision, const char *memory) {
    const xpuc_options options = {.precision = precision, .states = states, .memory_rules = memory};
    xpuc_network *n = cell();
    xpuc_result result;
    xpuc_error error = {0};
    int status = xpuc_network_compile(n, &options, &result, &error);
    if (status) fprintf(stderr, "%s", error.text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    xpurt_program *program = xpurt_open_memory(result.bytes, result.size, "cell.xpu", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
    xpuc_network_free(n);
    return program;
}

static const xpurt_device_driver *rtl(void) {
    const char *build = getenv("XPU_BUILD");
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/lib", build ? build : "build");
    const xpurt_device_driver *driver = xpurt_rtl_load("standard", folder, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(driver);
    return driver;
}

/* ---- runs ---- */

/* Input x of a step, in memory of the caller. */
static xpurt_tensor input_of(int step, int64_t batch, float *data) {
    uint32_t seed = (uint32_t)(1000 + step);
    for (int64_t i = 0; i < batch * IN; i++) data[i] = 4 * noise(&seed);
    return (xpurt_tensor){"x", "float32", 2, {batch, IN}, data};
}

static size_t bytes_of(const xpurt_tensor *t) {
    size_t bytes = strcmp(t->dtype, "int64") == 0 ? 8 : 4;
    for (int i = 0; i < t->rank; i++) bytes *= (size_t)t->dims[i];
    return bytes;
}

static void clear(xpurt_tensor *tensors) {
    for (int i = 0; i < OUTPUTS; i++) xpurt_tensor_clear(&tensors[i]);
}

/* What the host does without states: it keeps them, and hands them to every run. */
typedef struct {
    xpurt_program *program;
    int64_t batch;
    xpurt_tensor kept[OUTPUTS]; /* of the step before; data NULL: zeros */
} by_hand;

static void step_by_hand(by_hand *b, int step) {
    static const char *const names[] = {NULL, "h", "last", "h2", "count"};
    static float zeros[LARGEST];
    float data[MOST * IN];
    xpurt_tensor inputs[INPUTS] = {input_of(step, b->batch, data)}, outputs[OUTPUTS];
    for (uint32_t i = 1; i < INPUTS; i++) {
        xpurt_output(b->program, i, &inputs[i]);
        inputs[i].name = names[i];
        if (inputs[i].dims[0] < 0) inputs[i].dims[0] = b->batch;
        inputs[i].data = b->kept[i].data ? b->kept[i].data : zeros;
    }
    CU_ASSERT_EQUAL_FATAL(xpurt_run(b->program, inputs, INPUTS, outputs, NULL, NULL), 0);
    clear(b->kept);
    memcpy(b->kept, outputs, sizeof outputs);
}

static int is_same(const xpurt_tensor *a, const xpurt_tensor *b) {
    for (int i = 0; i < OUTPUTS; i++) {
        if (!a[i].data || !b[i].data || bytes_of(&a[i]) != bytes_of(&b[i]) || a[i].rank != b[i].rank) return 0;
        if (memcmp(a[i].data, b[i].data, bytes_of(&a[i])) != 0) return 0;
    }
    return 1;
}

static int step_in_session(xpurt_session *session, int step, int64_t batch, const xpurt_run_options *options,
                           xpurt_tensor *outputs) {
    float data[MOST * IN];
    xpurt_tensor input = input_of(step, batch, data);
    return xpurt_session_run(session, &input, 1, outputs, options, NULL);
}

static void expect_step(xpurt_session *session, by_hand *hand, int step) {
    xpurt_tensor outputs[OUTPUTS];
    step_by_hand(hand, step);
    CU_ASSERT_EQUAL_FATAL(step_in_session(session, step, hand->batch, NULL, outputs), 0);
    CU_ASSERT(is_same(outputs, hand->kept));
    CU_ASSERT_EQUAL(*(int64_t *)outputs[4].data, *(int64_t *)hand->kept[4].data);
    clear(outputs);
}

static xpurt_session *open_session(xpurt_program *program, const xpurt_device_driver *device) {
    xpurt_session *session = xpurt_session_open(program, &(xpurt_run_options){.device = device}, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    return session;
}

/* ---- the tests ---- */

static void same_as_by_hand(xpurt_program *program, const xpurt_device_driver *device, int64_t batch) {
    xpurt_session *session = open_session(program, device);
    by_hand hand = {program, batch, {{0}}};
    for (int step = 0; step < STEPS; step++) expect_step(session, &hand, step);
    CU_ASSERT_EQUAL(*(int64_t *)hand.kept[4].data, STEPS);
    xpurt_session_reset(session);
    clear(hand.kept);
    for (int step = 3; step < 5; step++) expect_step(session, &hand, step);
    clear(hand.kept);
    xpurt_session_close(session);
}

static void on_all_devices(void) {
    for (int k = 0; k < 3; k++) {
        xpurt_program *program = compile(k ? "int16" : "fp32", k == 2 ? "configs/memory/weights-in-l3.json" : NULL);
        for (int64_t batch = 1; batch <= MOST; batch += 3) {
            same_as_by_hand(program, NULL, batch);
            same_as_by_hand(program, xpurt_func_driver(), batch);
        }
        if (k == 1) same_as_by_hand(program, rtl(), 2);
        xpurt_close(program);
    }
}

/* Given, a state is set; a run that ends early leaves all states as they were, also those that were given to it. */
static void early_ends(void) {
    xpurt_program *program = compile("int16", NULL);
    const xpurt_device_driver *const devices[] = {NULL, xpurt_func_driver()};
    for (int d = 0; d < 2; d++) {
        xpurt_session *session = open_session(program, devices[d]);
        by_hand hand = {program, 2, {{0}}};
        int ended = 0;
        for (int step = 0; step < 12; step++) {
            float data[MOST * IN], other[MOST * HIDDEN] = {1, 2, 3};
            int64_t count = 77;
            xpurt_tensor outputs[OUTPUTS], inputs[] = {input_of(50 + step, 2, data),
                                                       {"h", "float32", 2, {2, HIDDEN}, other},
                                                       {"count", "int64", 1, {1}, &count}};
            const xpurt_run_options few = {.max_instructions = (uint64_t)40 << step};
            int status = xpurt_session_run(session, inputs, step % 2 ? 3 : 1, outputs, &few, NULL);
            if (status == 0) break;
            CU_ASSERT_EQUAL(status, XPU_ETIMEOUT);
            ended++;
            expect_step(session, &hand, step);
        }
        CU_ASSERT(ended >= 4);
        clear(hand.kept);
        xpurt_session_close(session);
    }
    xpurt_close(program);
}

static const xpurt_device_driver *faulty;
static int events_left;

/* The chip runs until so many events have come, and then has a fault. */
static int run_to_fault(xpurt_device *device, uint64_t budget, xpurt_event *event) {
    static const xpurt_fault fault = {
        .cause = XPU_FAULT_ABORT, .cause_text = "software abort", .reason = "for the test", .core = 0, .engine = -1};
    int status = faulty->run(device, budget, event);
    if (status == 0 && events_left-- == 0) {
        event->kind = XPURT_EVENT_FAULT;
        event->fault = &fault;
    }
    return status;
}

/* A fault, wherever the run is, leaves all states as they were, also those that were given to it. */
static void faults(void) {
    xpurt_program *program = compile("int16", NULL);
    faulty = xpurt_func_driver();
    xpurt_device_driver device = *faulty;
    device.run = run_to_fault;
    xpurt_session *session = open_session(program, &device);
    by_hand hand = {program, 2, {{0}}};
    int status = -1, faulted = 0;
    for (int step = 0; status && step < 40; step++) {
        float data[MOST * IN], other[MOST * HIDDEN] = {4, 5, 6};
        xpurt_error error = {0};
        xpurt_tensor outputs[OUTPUTS],
            inputs[] = {input_of(50 + step, 2, data), {"h", "float32", 2, {2, HIDDEN}, other}};
        events_left = step;
        status = xpurt_session_run(session, inputs, step % 2 ? 2 : 1, outputs, NULL, &error);
        if (status) CU_ASSERT(status == XPU_EFAULT && error.text && strstr(error.text, "[device-fault]"));
        xpurt_error_clear(&error);
        if (!status) clear(outputs);
        events_left = INT_MAX;
        if (status) expect_step(session, &hand, step);
        faulted += status != 0;
    }
    CU_ASSERT(faulted >= 4 && status == 0);
    clear(hand.kept);
    xpurt_session_close(session);
    xpurt_close(program);
}

static void given_states(void) {
    xpurt_program *program = compile("int16", NULL);
    const xpurt_device_driver *const devices[] = {NULL, xpurt_func_driver()};
    for (int d = 0; d < 2; d++) {
        xpurt_session *session = open_session(program, devices[d]);
        by_hand hand = {program, 2, {{0}}};
        for (int step = 0; step < 4; step++) {
            int64_t count = 1000 * step;
            float data[MOST * IN];
            xpurt_tensor outputs[OUTPUTS], inputs[] = {input_of(step, 2, data), {"count", "int64", 1, {1}, &count}};
            step_by_hand(&hand, step);
            CU_ASSERT_EQUAL_FATAL(xpurt_session_run(session, inputs, 2, outputs, NULL, NULL), 0);
            CU_ASSERT_EQUAL(*(int64_t *)outputs[4].data, count + 1);
            CU_ASSERT_EQUAL(memcmp(outputs[0].data, hand.kept[0].data, bytes_of(&outputs[0])), 0);
            *(int64_t *)hand.kept[4].data = count + 1;
            clear(outputs);
            const xpurt_run_options leave = {.leave_states = 1};
            step_by_hand(&hand, 20 + step);
            CU_ASSERT_EQUAL_FATAL(step_in_session(session, 20 + step, 2, &leave, outputs), 0);
            CU_ASSERT_EQUAL(memcmp(outputs[0].data, hand.kept[0].data, bytes_of(&outputs[0])), 0);
            for (int i = 1; i < OUTPUTS; i++) CU_ASSERT(!outputs[i].data && outputs[i].name);
            clear(outputs);
        }
        expect_step(session, &hand, 9);
        clear(hand.kept);
        xpurt_session_close(session);
    }
    xpurt_close(program);
}

/* The shapes of the states are those of the first run that ended well. */
static void shapes(void) {
    xpurt_program *program = compile("fp32", NULL);
    const xpurt_device_driver *const devices[] = {NULL, xpurt_func_driver()};
    CU_ASSERT(xpurt_state_of_input(program, 0) == -1 && xpurt_state_of_input(program, 1) == 1);
    CU_ASSERT(xpurt_state_of_input(program, 4) == 4 && xpurt_state_of_input(program, 5) == -1);
    CU_ASSERT_EQUAL(xpurt_state_of_input(NULL, 0), -1);
    for (int d = 0; d < 2; d++) {
        float data[MOST * IN];
        xpurt_session *session = open_session(program, devices[d]);
        xpurt_tensor outputs[OUTPUTS], input = input_of(0, 3, data);
        xpurt_error error = {0};
        by_hand hand = {program, 2, {{0}}};
        CU_ASSERT_EQUAL(
            xpurt_session_run(session, &input, 1, outputs, &(xpurt_run_options){.max_instructions = 9}, NULL),
            XPU_ETIMEOUT);
        expect_step(session, &hand, 0);
        CU_ASSERT_EQUAL(xpurt_session_run(session, &input, 1, outputs, NULL, &error), XPU_EUSAGE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(error.text);
        CU_ASSERT_STRING_EQUAL(error.text,
                               "cell.xpu: error [state-shape] state 'h': the session's state has another shape\n"
                               "  why: it is [2,16] since the first run, this one needs [3,16]\n"
                               "  hint: reset the session first (xpurt_session_reset), or open another one\n");
        xpurt_error_clear(&error);
        expect_step(session, &hand, 1);
        clear(hand.kept);
        xpurt_session_reset(session);
        hand.batch = 3;
        expect_step(session, &hand, 0);
        clear(hand.kept);
        xpurt_session_close(session);
    }
    xpurt_session_reset(NULL);
    xpurt_close(program);
}

/* Allocation n fails, for every n of three runs: the states are those of the runs that ended well. */
static void out_of_memory(void) {
    xpurt_program *program = compile("int16", NULL);
    const xpurt_device_driver *const devices[] = {NULL, xpurt_func_driver()};
    for (int d = 0; d < 2; d++) {
        xpurt_session *session = open_session(program, devices[d]);
        by_hand hand = {program, 1, {{0}}};
        expect_step(session, &hand, 0);
        size_t used = 0;
        for (unsigned long n = 1;; n++) {
            float data[MOST * IN], other[HIDDEN] = {1, 2};
            xpurt_tensor outputs[OUTPUTS], inputs[] = {input_of(1, 1, data), {"h", "float32", 2, {1, HIDDEN}, other}};
            xpu_alloc_fail_at(n);
            int status = xpurt_session_run(session, inputs, 2, outputs, NULL, NULL);
            xpu_alloc_fail_at(0);
            if (status == 0) {
                CU_ASSERT(n > 20);
                clear(outputs);
                break;
            }
            CU_ASSERT_EQUAL(status, XPU_EIO);
            if (n % 5 == 0) expect_step(session, &hand, (int)n);
            if (n == 10) used = mallinfo2().uordblks;
        }
        CU_ASSERT(mallinfo2().uordblks < used + 8192);
        clear(hand.kept);
        xpurt_session_close(session);
    }
    xpurt_close(program);
}

/* ---- --state ---- */

static void wrong_states(void) {
    static const struct {
        const char *state, *second, *text;
    } cases[] = {
        {"hN", NULL, "--state hN: the state cannot be read"},
        {"=h", NULL, "--state =h: the state cannot be read"},
        {"hN=", NULL, "--state hN=: the state cannot be read"},
        {"", NULL, "--state : the state cannot be read"},
        {"nothing=h", NULL,
         "--state nothing=h: the model has no such output\n  why: its outputs are 'y', 'hN', 'seen', 'flat', 'next'"},
        {"hN=nothing", NULL,
         "--state hN=nothing: the model has no such input\n  why: its inputs are 'x', 'h', 'last', 'h2', 'count'"},
        {"hN=h=h", NULL, "--state hN=h=h: the model has no such input"},
        {"hN=last", NULL,
         "--state hN=last: the output does not fit the input\n"
         "  why: output 'hN' is float32[B,16], input 'last' is float32[B,8]\n"},
        {"next=h", NULL, "why: output 'next' is int64[1], input 'h' is float32[B,16]\n"},
        {"hN=h", "hN=h", "--state hN=h: it is tied twice"},
        {"seen=last", "seen=x", "--state seen=x: it is tied twice"},
    };
    xpuc_network *n = cell();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const list[] = {cases[i].state, cases[i].second, NULL};
        xpuc_result result;
        xpuc_error error = {0};
        int status = xpuc_network_compile(n, &(xpuc_options){.states = list}, &result, &error);
        int good = status == XPU_EUSAGE && error.text && strstr(error.text, "[state-option]") &&
                   strstr(error.text, cases[i].text) && !result.bytes;
        if (!good) fprintf(stderr, "%s: %d %s\n", cases[i].state, status, error.text ? error.text : "");
        CU_ASSERT(good);
        xpuc_result_clear(&result);
        xpuc_error_clear(&error);
    }
    xpuc_network_free(n);
}

XPU_TEST_MAIN("states", {"as by hand on all devices", on_all_devices}, {"runs that end early", early_ends},
              {"faults", faults}, {"given and left", given_states}, {"shapes", shapes},
              {"memory that runs out", out_of_memory}, {"--state", wrong_states})
