/*
 * A network with a state, in a session: a leaky integrator watches a stream of samples, frame by frame.
 *
 *     stream [CHIP]                                             (standard)
 *
 * Each run takes one frame x [1,16] and the level [1,1] that the run before has left, and gives
 * level' = 0.9 level + 0.1 mean(|x|). The level is a state: it stays in the device's memory, and the program never sees
 * it but as an output. The same numbers are computed here in double, as a check.
 */
#include <math.h>
#include <stdio.h>
#include <xpuc_build.h>
#include <xpurt.h>
#include <xpurt_func.h>

enum { FRAME = 16, FRAMES = 12 };

static int fails(int status, char *text) {
    if (status) fputs(text ? text : "there is not enough memory\n", stderr);
    return status;
}

/* level' = keep level + rest mean(|x|) */
static xpuc_network *integrator(xpuc_error *error) {
    xpuc_network *n = xpuc_network_new("integrator", error);
    xpuc_value x = xpuc_input(n, "x", "float32", 2, (xpuc_dim[]){XPUC_SIZE(1), XPUC_SIZE(FRAME)});
    xpuc_value level = xpuc_input(n, "level", "float32", 2, (xpuc_dim[]){XPUC_SIZE(1), XPUC_SIZE(1)});
    xpuc_value loud = xpuc_reduce(n, "loud", "mean", xpuc_unary(n, "size", "abs", x), 1, (int64_t[]){1}, 1);
    xpuc_value kept = xpuc_binary(n, "kept", "mul", level, xpuc_scalar(n, 0.9f));
    xpuc_value more = xpuc_binary(n, "more", "mul", loud, xpuc_scalar(n, 0.1f));
    xpuc_output(n, xpuc_binary(n, "next", "add", kept, more), NULL);
    return n;
}

static xpurt_program *compile(const char *chip) {
    static const char *const states[] = {"next=level", NULL};
    const xpuc_options options = {.chip = chip, .precision = "fp32", .states = states};
    xpuc_error error = {0};
    xpurt_error open_error = {0};
    xpuc_result compiled = {0};
    xpuc_network *n = integrator(&error);
    xpurt_program *program = NULL;
    if (n && !fails(xpuc_network_compile(n, &options, &compiled, &error), error.text)) {
        program = xpurt_open_memory(compiled.bytes, compiled.size, "integrator", &open_error);
        fails(open_error.status, open_error.text);
    }
    xpurt_error_clear(&open_error);
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
    xpuc_network_free(n);
    return program;
}

/* One frame: quiet, then loud from the fourth on. */
static double fill(float *x, int frame) {
    double sum = 0;
    for (int i = 0; i < FRAME; i++) {
        x[i] = (frame < 4 ? 0.1f : 1.0f) * sinf(0.7f * (float)(frame * FRAME + i));
        sum += fabs((double)x[i]);
    }
    return sum / FRAME;
}

static int run(xpurt_session *session) {
    double expected = 0;
    int wrong = 0;
    for (int frame = 0; frame < FRAMES; frame++) {
        float x[FRAME];
        xpurt_error error = {0};
        expected = 0.9 * expected + 0.1 * fill(x, frame);
        const xpurt_tensor input = {.name = "x", .dtype = "float32", .rank = 2, .dims = {1, FRAME}, .data = x};
        xpurt_tensor output;
        int status = fails(xpurt_session_run(session, &input, 1, &output, NULL, &error), error.text);
        xpurt_error_clear(&error);
        if (status) return status;
        double level = (double)*(float *)output.data;
        printf("frame %2d  level %.4f\n", frame, level);
        wrong += fabs(level - expected) > 1e-5;
        xpurt_tensor_clear(&output);
    }
    printf("as computed in double: %s\n", wrong ? "NO" : "yes");
    return wrong != 0;
}

int main(int argc, char **argv) {
    xpurt_error error = {0};
    xpurt_program *program = compile(argc > 1 ? argv[1] : NULL);
    if (!program) return 1;
    const xpurt_run_options options = {.device = xpurt_func_driver()};
    xpurt_session *session = xpurt_session_open(program, &options, &error);
    int status = fails(error.status, error.text);
    xpurt_error_clear(&error);
    if (session) status = run(session);
    xpurt_session_close(session);
    xpurt_close(program);
    return status;
}
