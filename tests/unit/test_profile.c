/* Profiles, traces and lock-step reports of devices that have time: here the functional chip with a clock put on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "core/chip.h"
#include "sim/func/driver.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/include/xpurt_device.h"
#include "xpuc/include/xpuc.h"

/* The device that is under way: tests run one at a time. */
static struct {
    xpurt_observer observer;
    int wrong_states, differs, ends_early;
    uint64_t announced;
    xpurt_fault fault;
} timed;

static uint64_t cycles_of(const xpurt_counters *counters) {
    uint64_t cycles = 0;
    for (int i = 0; i < XPURT_MAX_CORES; i++) cycles += counters->instructions[i];
    return cycles;
}

/* A cycle for each instruction; core 0 works, the tensor engine works in half of them. */
static void counters(const xpurt_device *device, xpurt_counters *totals) {
    xpu_func_driver.counters(device, totals);
    uint64_t cycles = totals->cycles = cycles_of(totals);
    totals->edges = cycles / 4;
    totals->core_states[0][XPU_LOST_BUSY] = cycles;
    totals->core_states[1][XPU_LOST_COUNTER] = timed.wrong_states ? cycles / 3 : cycles;
    totals->engine_states[2][XPU_LOST_BUSY] = cycles / 2;
    totals->engine_states[2][XPU_LOST_WEIGHTS] = cycles - cycles / 2;
}

static void observe(xpurt_device *device, const xpurt_observer *observer) {
    (void)device;
    timed.observer = *observer;
}

static int run(xpurt_device *device, uint64_t budget, xpurt_event *event) {
    xpurt_counters now;
    int status = xpu_func_driver.run(device, budget, event);
    if (timed.ends_early && event->kind == XPURT_EVENT_LAYER && event->layer + 1 == (uint32_t)timed.ends_early)
        *event = (xpurt_event){.kind = XPURT_EVENT_ENDED};
    counters(device, &now);
    if (status || event->kind != XPURT_EVENT_LAYER) return status;
    const xpurt_observer *o = &timed.observer;
    xpurt_completion done = {.engine = 2,
                             .descriptor = 0x80001000,
                             .layer = event->layer,
                             .opcode = XPU_OPCODE_TENSOR,
                             .begin = now.cycles > timed.announced + 100 ? now.cycles - 100 : timed.announced,
                             .end = now.cycles,
                             .macs = 1000,
                             .array_cycles = 40,
                             .drain_cycles = 20,
                             .bytes = {0, 512, 768, 640},
                             .read = {0, 256, 512, 320},
                             .written = {0, 256, 256, 320}};
    o->complete(o->context, &done);
    done.begin += done.begin < done.end;
    o->complete(o->context, &done); /* overlaps */
    if (timed.announced) {          /* was at work in the layer before, too: no bound of this one */
        done.begin = timed.announced - 1;
        o->complete(o->context, &done);
    }
    if (o->state) {
        o->state(o->context, 0, XPU_LOST_BUSY, timed.announced, now.cycles);
        o->state(o->context, XPURT_MAX_CORES + 2, XPU_LOST_BUSY, timed.announced, now.cycles);
    }
    if (o->tick) o->tick(o->context, now.cycles);
    timed.announced = now.cycles;
    if (!timed.differs || event->layer < 2) return 0;
    timed.fault = (xpurt_fault){.cause_text = "lock-step: rtl and func differ",
                                .core = -1,
                                .engine = -1,
                                .layer = event->layer,
                                .differs = 1,
                                .reason = "cycle 17, core 0, x5 is 1 on rtl, 2 on func",
                                .state = ""};
    *event = (xpurt_event){.kind = XPURT_EVENT_FAULT, .fault = &timed.fault};
    return 0;
}

static xpurt_device_driver clocked(void) {
    xpurt_device_driver driver = xpu_func_driver;
    driver.name = "clocked";
    driver.counters = counters;
    driver.observe = observe;
    driver.run = run;
    memset(&timed, 0, sizeof timed);
    return driver;
}

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpuc_result compiled;
    xpurt_program *program;
} bench;

#define BENCH_OPEN(b)                                                                                                  \
    bench b = {.program = NULL};                                                                                       \
    xpu_mem_init(&b.mem);                                                                                              \
    if (setjmp(b.mem.out_of_memory)) exit(EXIT_FAILURE);                                                               \
    bench_open(&b)

static void bench_open(bench *b) {
    xpuc_options options = {.precision = "int16"};
    xpuc_error compile_error = {0};
    xpurt_error error = {0};
    xpu_diags_init(&b->diags);
    b->arena = xpu_arena_new(&b->mem, "test");
    CU_ASSERT_EQUAL_FATAL(xpuc_compile_file("examples/digits/digits.onnx", &options, &b->compiled, &compile_error), 0);
    xpuc_error_clear(&compile_error);
    b->program = xpurt_open_memory(b->compiled.bytes, b->compiled.size, "digits.xpu", &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->program);
}

static void bench_close(bench *b) {
    xpurt_close(b->program);
    xpuc_result_clear(&b->compiled);
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

static int run_once(bench *b, const xpurt_run_options *options, xpurt_error *error) {
    static float image[256];
    xpurt_tensor output, input = {.dtype = "float32", .rank = 4, .dims = {1, 1, 16, 16}, .data = image};
    for (int i = 0; i < 256; i++) image[i] = (float)(i % 16) / 16;
    int status = xpurt_run(b->program, &input, 1, &output, options, error);
    xpurt_tensor_clear(&output);
    return status;
}

static json_int_t count_of(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static void layers_sum(void) {
    BENCH_OPEN(b);
    xpurt_device_driver driver = clocked();
    xpurt_error error = {0};
    char *text = NULL;
    CU_ASSERT_EQUAL_FATAL(run_once(&b, &(xpurt_run_options){.device = &driver, .stats = &text}, &error), 0);
    json_t *stats = xpu_json_parse(b.arena, text, strlen(text), "stats", &b.diags);
    free(text);
    json_int_t sum = 0, cycles = count_of(stats, "cycles");
    int with_bounds = 0;
    size_t i;
    json_t *layer;
    CU_ASSERT(cycles > 5000);
    CU_ASSERT_EQUAL(count_of(stats, "edges"), cycles / 4);
    CU_ASSERT(count_of(stats, "bound_cycles") > 100 && count_of(stats, "bound_cycles") < cycles);
    CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(stats, "utilisation")),
                           (double)count_of(stats, "bound_cycles") / (double)cycles, 1e-12);
    json_array_foreach(json_object_get(stats, "layers"), i, layer) {
        json_t *units = json_object_get(layer, "units"), *bounds = json_object_get(layer, "bounds");
        json_int_t own = count_of(layer, "cycles");
        sum += own;
        CU_ASSERT_EQUAL(count_of(json_object_get(units, "core 0"), "busy"), own);
        CU_ASSERT_EQUAL(count_of(json_object_get(units, "core 1"), "waiting for a counter"), own);
        CU_ASSERT_PTR_NULL(json_object_get(units, "DMA0"));
        if (!bounds || !json_object_size(bounds)) continue;
        CU_ASSERT_EQUAL(count_of(bounds, "array"), 80);
        CU_ASSERT_EQUAL(count_of(bounds, "drain"), 40);
        CU_ASSERT_EQUAL(count_of(bounds, "SM"), 2);  /* 1024 bytes at 512 in a cycle */
        CU_ASSERT_EQUAL(count_of(bounds, "L3"), 16); /* 1024 bytes read at 64 in a cycle; 512 are written meanwhile */
        CU_ASSERT_EQUAL(count_of(bounds, "GM"), 20); /* 640 read, 640 written at 64 */
        CU_ASSERT_EQUAL(count_of(json_object_get(layer, "bytes"), "L3"), (i ? 3 : 2) * 768);
        with_bounds++;
    }
    CU_ASSERT_EQUAL(sum, cycles);
    CU_ASSERT(with_bounds > 3);
    bench_close(&b);
}

/* A device whose states do not is wrong, and says so. */
static void states_must_sum(void) {
    BENCH_OPEN(b);
    xpurt_device_driver driver = clocked();
    xpurt_error error = {0};
    timed.wrong_states = 1;
    CU_ASSERT_EQUAL(run_once(&b, &(xpurt_run_options){.device = &driver}, &error), XPU_EBUG);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "[profile-sum] the states of core 1 do not add up to the cycles"));
    xpurt_error_clear(&error);
    bench_close(&b);
}

static void trace(void) {
    BENCH_OPEN(b);
    xpurt_device_driver driver = clocked();
    xpurt_error error = {0};
    char *folder = xpu_temporary_folder(b.arena, &b.diags);
    const char *path = xpu_path_join(b.arena, folder, "trace.json");
    CU_ASSERT_EQUAL_FATAL(run_once(&b, &(xpurt_run_options){.device = &driver, .trace_file = path}, &error), 0);
    json_t *file = xpu_json_read(b.arena, path, &b.diags), *event;
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    int layers = 0, descriptors = 0, states = 0, other_lanes = 0;
    json_int_t end = 0;
    size_t i;
    json_array_foreach(json_object_get(file, "traceEvents"), i, event) {
        const char *kind = json_string_value(json_object_get(event, "cat"));
        if (!kind) continue;
        json_int_t to = count_of(event, "ts") + count_of(event, "dur");
        layers += strcmp(kind, "layer") == 0;
        descriptors += strcmp(kind, "tensor") == 0;
        states += strcmp(kind, "state") == 0;
        other_lanes += count_of(event, "tid") > 30 && count_of(event, "tid") < 40;
        if (to > end) end = to;
    }
    CU_ASSERT(layers > 5);
    CU_ASSERT_EQUAL(descriptors, 3 * layers - 1);
    CU_ASSERT(other_lanes >= layers); /* more where layers end together */
    CU_ASSERT_EQUAL(states, 1);       /* equal ones are joined */
    CU_ASSERT(end > 5000);
    CU_ASSERT_EQUAL(run_once(&b, &(xpurt_run_options){.device = &xpu_func_driver, .trace_file = path}, &error),
                    XPU_EUSAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "[trace-device]"));
    xpurt_error_clear(&error);
    bench_close(&b);
}

static void lockstep_difference(void) {
    BENCH_OPEN(b);
    xpurt_device_driver driver = clocked();
    xpurt_error error = {0};
    timed.differs = 1;
    CU_ASSERT_EQUAL(run_once(&b, &(xpurt_run_options){.device = &driver}, &error), XPU_ELOCKSTEP);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error.text);
    static const char *const parts[] = {"[device-differs] layer '", "), node '", "lock-step: rtl and func differ",
                                        "cycle 17, core 0, x5 is 1 on rtl, 2 on func"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) CU_ASSERT_PTR_NOT_NULL(strstr(error.text, parts[i]));
    xpurt_error_clear(&error);
    bench_close(&b);
}

static void on_tick(void *context, uint64_t cycles) {
    uint64_t *last = context;
    CU_ASSERT(cycles >= *last);
    *last = cycles;
}

static void ticks(void) {
    BENCH_OPEN(b);
    xpurt_device_driver driver = clocked();
    xpurt_error error = {0};
    uint64_t last = 0;
    CU_ASSERT_EQUAL(run_once(&b, &(xpurt_run_options){.device = &driver, .tick = on_tick, .context = &last}, &error),
                    0);
    CU_ASSERT(last > 5000);
    bench_close(&b);
}

/* A program that ends with status 0 at its layer 0, or at layer 2: its fault, whatever the device counts. */
static void early_end(void) {
    BENCH_OPEN(b);
    for (int at = 1; at <= 3; at += 2) {
        xpurt_device_driver driver = clocked();
        xpurt_error error = {0};
        timed.ends_early = at;
        CU_ASSERT_EQUAL(run_once(&b, &(xpurt_run_options){.device = &driver}, &error), XPU_EFAULT);
        CU_ASSERT(error.text && strstr(error.text, "[device-status]") && strstr(error.text, "ended before this layer"));
        CU_ASSERT(error.text && strstr(error.text, at == 1 ? "(#0)" : "(#2)"));
        xpurt_error_clear(&error);
    }
    bench_close(&b);
}

XPU_TEST_MAIN("profile", {"early end", early_end}, {"layers sum to the run", layers_sum},
              {"states sum to the cycles", states_must_sum}, {"trace", trace},
              {"lock-step difference", lockstep_difference}, {"ticks", ticks})
