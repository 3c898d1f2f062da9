/*
 * Elementwise float layers on the tensor engine's post-processor: random chains of every form, random shapes, vectors
 * that are constants or operands, on nano, standard and pro. Every result is the formula's, computed here step by step
 * in float32, bit for bit, on func, and on rtl where the case is one of RTL_CASES; func's layers are ref's, without
 * races. NaN, infinities, zeros of both signs and subnormals are among the numbers. Each case asserts that the layer
 * was the engine's. XPU_RANDOM_SEED=N replays one case.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/devices.h"
#include "tests/golden/drawn_network.h"
#include "tests/unit/bench.h"
#include "tests/unit/network_file.h"
#include "tests/unit/unit.h"

enum { MOST = 1 << 17, MOST_STEPS = 6, CASES = 120, RTL_CASES = 24 };

/* What a step does with the value v; c is a number of each column, t of each element. */
typedef enum { MUL_C, MUL_K, NEG, ADD_C, C_SUB, RELU, CLIP, LEAKY, ADD_T, T_SUB, ADD_X, MUL_T, SWISH, ADD_K, OPS } op;

static const char *const names[OPS] = {"Mul",       "Mul", "Neg", "Add", "Sub", "Relu",      "Clip",
                                       "LeakyRelu", "Add", "Sub", "Add", "Mul", "HardSwish", "Add"};

/* Stages of each form in order, each with the steps that may be drawn for it, or none. */
static const struct {
    op steps[5][4];
    int counts[5];
} forms[] = {
    {{{MUL_C, MUL_K, NEG}, {ADD_C, C_SUB}, {RELU, CLIP, LEAKY}, {ADD_T, ADD_X}, {RELU, CLIP}}, {3, 1, 3, 2, 2}},
    {{{MUL_C, MUL_K, NEG}, {ADD_C}, {ADD_T, ADD_X}, {RELU, CLIP, LEAKY}, {CLIP}}, {3, 1, 2, 3, 1}},
    {{{MUL_C, MUL_K, NEG}, {ADD_C}, {MUL_T}, {RELU, CLIP, LEAKY}, {RELU, CLIP}}, {3, 1, 1, 3, 2}},
    {{{MUL_C, MUL_K}, {ADD_C}, {SWISH}, {MUL_K}}, {2, 1, 1, 1}},
    {{{MUL_C, MUL_K}, {ADD_C}, {SWISH}, {ADD_K}}, {2, 1, 1, 1}},
    {{{NEG, MUL_K}, {C_SUB}, {RELU, CLIP, LEAKY}, {ADD_T}, {RELU}}, {2, 1, 3, 1, 1}},
    {{{NEG, MUL_K}, {T_SUB}, {RELU, CLIP, LEAKY}, {CLIP}}, {2, 1, 3, 1}},
};
enum { FORMS = sizeof forms / sizeof *forms, SWISH_FORMS = 3 };

typedef struct {
    uint32_t seed, state;
    int rank, steps, is_pooled; /* is_pooled: the chain's operand is an image that a pooling makes */
    int64_t dims[4];
    op ops[MOST_STEPS];
    float numbers[MOST_STEPS][2];
    int computed[MOST_STEPS]; /* the vector is an input of the network */
    const char *chip;
} drawn_case;

static float x[MOST], tensors[MOST_STEPS][MOST], expected[MOST];

static const float special[] = {0.0f, -0.0f, 1e-40f, -1e-40f, INFINITY, -INFINITY, NAN, 3e38f, -3e38f, 1.17549435e-38f};

static void fill(uint32_t *state, float *to, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const uint32_t kind = draw(state, 40);
        to[i] = kind < sizeof special / sizeof *special ? special[kind] : ((float)draw(state, 20001) - 10000) / 1500;
    }
}

static int64_t count_of(const drawn_case *c) {
    int64_t count = 1;
    for (int i = 0; i < c->rank; i++) count *= c->dims[i];
    return count;
}

static int64_t columns_of(const drawn_case *c) {
    return c->dims[c->is_pooled ? 1 : c->rank - 1];
}

static int is_vector(op o) {
    return o == MUL_C || o == ADD_C || o == C_SUB;
}

static int is_tensor(op o) {
    return o == ADD_T || o == T_SUB || o == MUL_T;
}

/* ---- the case ---- */

static void draw_steps(drawn_case *c) {
    const uint32_t form = draw(&c->state, FORMS);
    do {
        c->steps = 0;
        for (int stage = 0; stage < 5; stage++) {
            const int choices = forms[form].counts[stage], is_needed = form >= SWISH_FORMS && stage == 1 + (form < 5);
            if (!choices || (!is_needed && draw(&c->state, 2))) continue;
            c->ops[c->steps++] = forms[form].steps[stage][draw(&c->state, (uint32_t)choices)];
        }
    } while (!c->steps);
    for (int s = 0; s < c->steps; s++) {
        const float a = ((float)draw(&c->state, 4001) - 2000) / 700;
        c->numbers[s][0] = c->ops[s] == LEAKY ? fabsf(a) / 4 : a;
        c->numbers[s][1] = a + (float)draw(&c->state, 3000) / 1000;
        c->computed[s] = (int)draw(&c->state, 2);
    }
}

static void draw_case(drawn_case *c, uint32_t seed) {
    static const char *const chips[] = {"standard", "nano", "pro"};
    *c = (drawn_case){.seed = seed, .state = seed * 2654435761u + 12345};
    for (int i = 0; i < 9; i++) draw(&c->state, 2);
    c->chip = chips[seed < RTL_CASES ? 0 : seed % 3];
    c->is_pooled = draw(&c->state, 3) == 0;
    c->rank = c->is_pooled ? 4 : 1 + (int)draw(&c->state, 4);
    do {
        for (int i = 0; i < c->rank; i++) c->dims[i] = 1 + (int64_t)draw(&c->state, i ? 90 : c->rank == 2 ? 900 : 4);
        if (c->rank == 1)
            c->dims[0] = 4096 + (int64_t)draw(&c->state, 40000);
        else if (draw(&c->state, 2))
            c->dims[c->is_pooled ? 1 : c->rank - 1] = 8 * (1 + (int64_t)draw(&c->state, 24));
    } while (count_of(c) < 4096 || count_of(c) > MOST);
    draw_steps(c);
    const uint32_t state = c->state;
    fill(&c->state, x, count_of(c));
    for (int s = 0; s < c->steps; s++) fill(&c->state, tensors[s], count_of(c));
    c->state = state;
}

/* ---- the formula ---- */

static float larger(float a, float b) {
    return a != a || b != b ? NAN : a > b || (a == b && signbit(b)) ? a : b;
}

static float clipped(float v, float low, float high) {
    const float most = larger(v, low);
    return v != v ? NAN : most > high || (most == high && signbit(high)) ? high : most;
}

/* -ffp-contract=off: each operation rounds. */
static float step(const drawn_case *c, int s, float v, int64_t element, int64_t column) {
    const float k = c->numbers[s][0], vector = tensors[s][column], tensor = tensors[s][element];
    switch (c->ops[s]) {
    case MUL_C: return v * vector;
    case MUL_K: return v * k;
    case NEG: return -v;
    case ADD_C: return v + vector;
    case C_SUB: return vector - v;
    case RELU: return clipped(v, 0.0f, INFINITY);
    case CLIP: return clipped(v, k, c->numbers[s][1]);
    case LEAKY: return v < 0 ? v * k : v;
    case ADD_T: return v + tensor;
    case T_SUB: return tensor - v;
    case ADD_X: return v + x[element];
    case MUL_T: return v * tensor;
    case SWISH: return v * clipped(v * (1.0f / 6.0f) + 0.5f, 0.0f, 1.0f);
    default: return v + k;
    }
}

static void compute(const drawn_case *c) {
    const int64_t columns = columns_of(c), plane = c->is_pooled ? c->dims[2] * c->dims[3] : 1;
    for (int64_t i = 0; i < count_of(c); i++) {
        float v = x[i];
        for (int s = 0; s < c->steps; s++) v = step(c, s, v, i, i / plane % columns);
        expected[i] = v != v ? NAN : v;
    }
}

/* ---- the network ---- */

static void add_step(xpu_onnx_builder *b, const drawn_case *c, int s, const char *from, const char *to) {
    const op o = c->ops[s];
    const int64_t columns = columns_of(c), image[] = {columns, 1, 1};
    char operand[16], high[16];
    const char *inputs[4] = {from, operand, NULL};
    snprintf(operand, sizeof operand, "c%d", s);
    snprintf(high, sizeof high, "h%d", s);
    if (is_tensor(o))
        xpu_onnx_input(b, operand, c->rank, c->dims);
    else if (is_vector(o) && c->computed[s])
        xpu_onnx_input(b, operand, c->is_pooled ? 3 : 1, c->is_pooled ? image : &columns);
    else if (is_vector(o))
        constant(b, operand, XPU_F32, c->is_pooled ? 3 : 1, c->is_pooled ? image : &columns, tensors[s]);
    else if (o == MUL_K || o == ADD_K || o == CLIP)
        constant(b, operand, XPU_F32, 0, NULL, &c->numbers[s][0]);
    else
        inputs[1] = o == ADD_X ? (c->is_pooled ? "pooled" : "x") : NULL;
    if (o == CLIP) constant(b, high, XPU_F32, 0, NULL, &c->numbers[s][1]);
    if (o == CLIP) inputs[2] = high;
    if (o == C_SUB || o == T_SUB) {
        inputs[0] = operand;
        inputs[1] = from;
    }
    XpuOnnx__NodeProto *node = xpu_onnx_node(b, names[o], to, to, inputs);
    if (o == LEAKY) xpu_onnx_float(b, node, "alpha", c->numbers[s][0]);
}

static const char *write_model(const drawn_case *c, bench *t) {
    static const int64_t kernel[] = {1, 2}, pads[] = {0, 0, 0, 1};
    xpu_onnx_builder b;
    xpu_onnx_begin(&b, t->arena, 14);
    xpu_onnx_input(&b, "x", c->rank, c->dims);
    const char *from = "x";
    if (c->is_pooled) {
        XpuOnnx__NodeProto *pool = xpu_onnx_node(&b, "MaxPool", "pooled", "pooled", (const char *const[]){"x", NULL});
        xpu_onnx_ints(&b, pool, "kernel_shape", kernel, 2);
        xpu_onnx_ints(&b, pool, "pads", pads, 4);
        from = "pooled";
    }
    for (int s = 0; s < c->steps; s++) {
        const char *to = s + 1 == c->steps ? "y" : xpu_printf(t->arena, "v%d", s);
        add_step(&b, c, s, from, to);
        from = to;
    }
    xpu_onnx_output(&b, "y", c->rank, c->dims);
    return write_network_file(&b, "chain", t->folder, &t->diags);
}

static uint32_t set_inputs(const drawn_case *c, xpurt_tensor *inputs, char (*labels)[16]) {
    uint32_t count = 0;
    inputs[count++] = (xpurt_tensor){"x", "float32", c->rank, {0}, x};
    for (int s = 0; s < c->steps; s++) {
        const int vector = is_vector(c->ops[s]) && c->computed[s];
        if (!vector && !is_tensor(c->ops[s])) continue;
        snprintf(labels[s], sizeof labels[s], "c%d", s);
        xpurt_tensor *input = &inputs[count++];
        *input = (xpurt_tensor){labels[s], "float32", vector ? 1 : c->rank, {columns_of(c), 1, 1}, tensors[s]};
        if (vector && c->is_pooled) input->rank = 3;
        if (!vector) memcpy(input->dims, c->dims, sizeof c->dims);
    }
    memcpy(inputs[0].dims, c->dims, sizeof c->dims);
    return count;
}

/* The largest of each two neighbours, as the pooling makes it. */
static void pool(const drawn_case *c) {
    const int64_t width = c->dims[3];
    for (int64_t i = 0; i < count_of(c); i++)
        if (i % width + 1 < width) x[i] = larger(x[i], x[i + 1]);
}

static void show(const drawn_case *c, const char *message) {
    printf("case %u, %s, %d dims (%d %d %d %d)%s:", c->seed, c->chip, c->rank, (int)c->dims[0], (int)c->dims[1],
           (int)c->dims[2], (int)c->dims[3], c->is_pooled ? " pooled" : "");
    for (int s = 0; s < c->steps; s++) printf(" %s%s", names[c->ops[s]], is_vector(c->ops[s]) ? "/c" : "");
    printf(": %s\n", message);
}

static int64_t first_difference(const float *y, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const float canonical = y[i] != y[i] ? NAN : y[i];
        if (memcmp(&canonical, &expected[i], sizeof canonical) != 0) return i;
    }
    return -1;
}

/* Whether the chain is on the engine, or, on a chip whose shared memory has no room for it, on the cores. */
static int on_engine(xpurt_program *program) {
    return strstr(xpurt_describe(program, NULL), "\"kernel\": \"elementwise\"") != NULL;
}

/* Returns whether the engine had it. */
static int run_case(bench *t, uint32_t seed) {
    static float before[MOST];
    drawn_case c;
    char labels[MOST_STEPS][16], message[128];
    xpurt_tensor inputs[MOST_STEPS + 1], y = {0};
    xpu_device_check check;
    draw_case(&c, seed);
    const int64_t count = count_of(&c);
    const uint32_t operands = set_inputs(&c, inputs, labels);
    int good = xpu_device_check_compile(&check, write_model(&c, t), c.chip, "auto");
    const int is_there = good && on_engine(check.program);
    good = good && xpu_device_check_layers(&check, inputs, operands, &y);
    memcpy(before, x, (size_t)count * sizeof *x);
    if (c.is_pooled) pool(&c);
    compute(&c);
    memcpy(x, before, (size_t)count * sizeof *x);
    const int64_t at = good ? first_difference(y.data, count) : -1;
    if (at >= 0) {
        snprintf(message, sizeof message, "element %d is %a, not %a", (int)at, (double)((float *)y.data)[at],
                 (double)expected[at]);
        show(&c, message);
    }
    if (good && seed < RTL_CASES) {
        char *stats = xpu_device_check_rtl(&check, inputs, operands, y.data, (size_t)count * sizeof *x);
        good = stats && (!is_there || xpu_device_check_cycles(stats, "y", "tensor") > 0);
        free(stats);
    }
    if (!good) show(&c, check.message);
    CU_ASSERT(good && at < 0);
    if (!is_there) show(&c, "is on the cores");
    xpurt_tensor_clear(&y);
    xpu_device_check_close(&check);
    return is_there;
}

static int run_alone(uint32_t seed) {
    BENCH_OPEN(t);
    const int is_there = run_case(&t, seed);
    bench_close(&t);
    return is_there;
}

static void random_chains(void) {
    const char *one = getenv("XPU_RANDOM_SEED");
    int there = 0;
    for (uint32_t seed = one ? (uint32_t)strtoul(one, NULL, 10) : 0; seed < CASES; seed++) {
        there += run_alone(seed);
        if (one) return;
    }
    printf("%d of %d chains on the engine ", there, CASES);
    CU_ASSERT(there > CASES * 4 / 5);
}

XPU_TEST_MAIN("chains on the post-processor", {"random", random_chains})
