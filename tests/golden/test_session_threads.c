/* Sessions of one program in threads; tests/long/long_threads.sh runs this under the thread sanitizer. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/golden/digits.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/include/xpurt_func.h"
#include "xpuc/include/xpuc.h"

enum { CLASSES = 10, MOST = 4, THREADS = 3, ROUNDS = 12 };

typedef struct {
    xpurt_program *program;
    const digits *images;
    const struct xpurt_device_driver *device;
    int64_t number;
    int bad;
    float logits[ROUNDS][MOST * CLASSES];
} worker;

/* Shapes and images differ from thread to thread. */
static void *work(void *object) {
    worker *w = object;
    xpurt_session *session = xpurt_session_open(w->program, &(xpurt_run_options){.device = w->device}, NULL);
    for (int64_t round = 0; session && round < ROUNDS; round++) {
        int64_t count = 1 + (round + w->number) % MOST;
        xpurt_tensor input = digits_input(w->images, 20 * w->number + round, count), output;
        w->bad += xpurt_session_run(session, &input, 1, &output, NULL, NULL) != 0;
        if (output.data) memcpy(w->logits[round], output.data, (size_t)(count * CLASSES) * sizeof(float));
        xpurt_tensor_clear(&output);
    }
    w->bad += !session;
    xpurt_session_close(session);
    return NULL;
}

static void run_workers(worker *workers, xpurt_program *program, const digits *images,
                        const struct xpurt_device_driver *device) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.program = program, .images = images, .device = device, .number = i};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) CU_ASSERT_EQUAL(workers[i].bad, 0);
}

static void one_program(xpu_arena *arena, xpu_diags *diags) {
    static worker on_ref[THREADS], on_func[THREADS], alone[THREADS];
    static const char *const shapes[] = {"x=1..4,1,16,16", NULL};
    const xpuc_options options = {.shapes = shapes, .precision = "int16"};
    digits images;
    xpuc_result compiled;
    CU_ASSERT_FATAL(digits_read(&images, arena, diags));
    CU_ASSERT_EQUAL_FATAL(xpuc_compile_file("examples/digits/digits.onnx", &options, &compiled, NULL), 0);
    xpurt_program *program = xpurt_open_memory(compiled.bytes, compiled.size, "digits.xpu", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    run_workers(on_func, program, &images, xpurt_func_driver());
    run_workers(on_ref, program, &images, NULL);
    for (int i = 0; i < THREADS; i++) {
        alone[i] = (worker){.program = program, .images = &images, .device = xpurt_func_driver(), .number = i};
        work(&alone[i]);
        CU_ASSERT_EQUAL(memcmp(on_func[i].logits, alone[i].logits, sizeof alone[i].logits), 0);
        CU_ASSERT_EQUAL(memcmp(on_ref[i].logits, alone[i].logits, sizeof alone[i].logits), 0);
    }
    xpurt_close(program);
    xpuc_result_clear(&compiled);
}

static void threads(void) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("out of memory");
    } else {
        one_program(xpu_arena_new(&mem, "test"), &diags);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}

XPU_TEST_MAIN("session threads", {"sessions of one program", threads})
