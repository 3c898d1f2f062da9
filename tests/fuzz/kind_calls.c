/*
 * Calls of xpuc_build.h: the bytes of a file say which functions are called with what, right and wrong: values that
 * failed, are absent or of nobody, shapes that do not fit, numbers that no operator takes, names given twice. The
 * network is checked, described, and compiled to C, twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/hostile.h"
#include "xpuc/include/xpuc_build.h"

enum { MAX_VALUES = 64, MOST_BYTES = 1024 };

/* The bytes as they are read, and what was made. */
typedef struct {
    const hostile_file *file;
    size_t at;
    int calm; /* nothing that is wrong on its own */
    xpuc_network *n;
    xpuc_value values[MAX_VALUES];
    uint32_t value_count;
    const char *name; /* of the call that comes */
    xpuc_value x[5];  /* and its operands */
    const char *dtype;
    int64_t axis;
    uint8_t count;
} player;

static uint8_t next(player *p) {
    return p->at < p->file->size ? p->file->data[p->at++] : 0;
}

/* 1 to 4; where it is not calm mostly 0 to 7, sometimes a number that nobody wants. */
static int64_t number(player *p) {
    static const int64_t odd[] = {-1,        -2,        -8,       8, 9, 16, 64, 255, 1 << 20, (1 << 20) + 1,
                                  INT32_MAX, INT64_MAX, INT64_MIN};
    uint8_t byte = next(p);
    if (p->calm) return 1 + byte % 4;
    return byte < 220 ? byte % 8 : odd[byte % (sizeof odd / sizeof *odd)];
}

/* That of a struct, or a smaller one: what the caller says of his memory is taken for true. */
static size_t size_of(player *p, size_t size) {
    uint8_t byte = next(p);
    return p->calm || byte > 10 ? size : byte % 2 ? 0 : byte;
}

static float real(player *p) {
    static const float odd[] = {0.0f, -0.0f, 1.0f, -1.0f, 6.0f, 0.1f, 1e30f, 1e-40f};
    uint8_t byte = next(p);
    return byte < 240 || p->calm ? odd[byte % 8] : byte < 248 ? __builtin_nanf("") : __builtin_inff();
}

static const char *text_of(player *p) {
    static const char *const names[] = {NULL, NULL, NULL, NULL, "", "a", "b", "a/1", "\n\x1b[2J", "\xff\xfe", "*/"};
    static char made[16];
    uint8_t byte = next(p);
    if (p->calm || byte % 3) return snprintf(made, sizeof made, "n%zu", p->at) > 0 ? made : NULL;
    return names[byte / 3 % (sizeof names / sizeof *names)];
}

static const char *type_of(player *p) {
    static const char *const types[] = {"float32", "float32", "float32", "float32", "float32", "uint8", "int8", "int32",
                                        "int64",   "bool",    "float16", "float64", "uint16",  "float", "",     NULL};
    return types[next(p) % (p->calm ? 6 : 16)];
}

static xpuc_value value(player *p) {
    uint8_t byte = next(p);
    if (!p->calm && byte > 252) return (xpuc_value){0};
    if (!p->calm && byte > 249) return (xpuc_value){(uint32_t)number(p)};
    /* the newest ones fit each other most often */
    return p->value_count ? p->values[(p->value_count - 1 - byte % 8 % p->value_count)] : (xpuc_value){0};
}

static void keep(player *p, xpuc_value made) {
    if (p->value_count == MAX_VALUES) p->value_count = MAX_VALUES / 2;
    p->values[p->value_count++] = made;
}

/* ---- tensors ---- */

static void add_input(player *p) {
    static const char *const symbols[] = {"N", "M", "n.a-m e", "\x01"};
    xpuc_dim dims[10];
    int rank = (int)number(p) % 10;
    for (int i = 0; i < 10; i++) {
        uint8_t kind = i < rank ? next(p) & (p->calm ? 31 : 255) : 1;
        dims[i] = (xpuc_dim){.size = i < rank ? number(p) | (kind & 1) : 1};
        if (kind % 4 != 0) continue;
        dims[i] = (xpuc_dim){.symbol = symbols[kind / 4 % 4], .min = 1, .max = 8};
        if (kind & 64) dims[i].max = number(p);
        if (kind & 128) dims[i].min = dims[i].max = 0;
    }
    p->dtype = type_of(p);
    p->name = text_of(p);
    keep(p, xpuc_input(p->n, p->name, p->dtype, rank, p->calm || next(p) > 2 ? dims : NULL));
}

static void add_constant(player *p) {
    static const float data[MOST_BYTES / 4] = {1, -1, 0.5f, 2, 3, 1e-3f, 1e30f};
    int64_t dims[10], elements = 1;
    int rank = (int)number(p) % 10;
    for (int i = 0; i < 10; i++) {
        dims[i] = i < rank ? number(p) : 1;
        if (i < rank && __builtin_mul_overflow(elements, dims[i], &elements)) elements = INT64_MAX;
    }
    const void *there = elements >= 0 && elements <= MOST_BYTES / 8 ? data : NULL;
    p->dtype = type_of(p);
    if (next(p) & 1)
        keep(p, xpuc_constant(p->n, p->name, p->dtype, rank, dims, there));
    else
        keep(p, xpuc_constant_borrowed(p->n, p->name, p->dtype, rank, dims, there));
}

/* ---- operators ---- */

static xpuc_window window_of(player *p) {
    xpuc_window w = {.size = size_of(p, sizeof w)};
    uint8_t bits = next(p);
    static const char *const modes[] = {NULL, "SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET", "", "SAME", "x"};
    for (int i = 0; i < XPUC_MAX_SPATIAL; i++) {
        int used = i < 2 || (!p->calm && bits > 250);
        if (used && bits & 1) w.kernel_shape[i] = number(p);
        if (used && bits & 2) w.strides[i] = number(p);
        if (used && bits & 4) w.dilations[i] = number(p);
        if (used && bits & 8) w.pads_begin[i] = number(p);
        if (used && bits & 8) w.pads_end[i] = number(p);
    }
    if (p->calm) bits &= 0x4b;
    if (p->calm && bits & 64) w.auto_pad = "SAME_UPPER";
    if (p->calm) return w;
    if (bits & 16) w.auto_pad = modes[next(p) % 8];
    if (bits & 32) w.group = number(p);
    if (bits & 64) w.ceil_mode = number(p);
    if (bits & 128) w.count_include_pad = number(p);
    return w;
}

static xpuc_value add_window(player *p) {
    xpuc_window w = window_of(p);
    const xpuc_window *given = next(p) > 8 ? &w : NULL;
    switch (next(p) % 5) {
    case 0: return xpuc_conv(p->n, p->name, p->x[0], p->x[1], (xpuc_value){0}, given);
    case 1: return xpuc_conv(p->n, p->name, p->x[0], p->x[1], p->x[2], given);
    case 2: return xpuc_max_pool(p->n, p->name, p->x[0], given);
    case 3: return xpuc_average_pool(p->n, p->name, p->x[0], given);
    default: return xpuc_integer_conv(p->n, p->name, p->x[0], p->x[1], p->x[2], p->x[3], given);
    }
}

static xpuc_value add_product(player *p) {
    xpuc_gemm_form form = {.size = size_of(p, sizeof form)};
    form.alpha = real(p);
    form.beta = real(p);
    form.transpose_a = next(p) & 1;
    form.transpose_b = next(p) & 1;
    switch (next(p) % 4) {
    case 0: return xpuc_matmul(p->n, p->name, p->x[0], p->x[1]);
    case 1: return xpuc_gemm(p->n, p->name, p->x[0], p->x[1], p->x[2], next(p) & 1 ? &form : NULL);
    case 2: return xpuc_gemm(p->n, p->name, p->x[0], p->x[1], (xpuc_value){0}, &form);
    default: return xpuc_integer_matmul(p->n, p->name, p->x[0], p->x[1], p->x[2], p->x[3]);
    }
}

static xpuc_value add_elementwise(player *p) {
    static const char *const rows[] = {"add",  "sub", "mul",   "div",        "max",  "min",        "neg",     "abs",
                                       "relu", "exp", "where", "leaky_relu", "clip", "hard_swish", "sigmoid", "equal",
                                       "less", "and", "not",   "bit_and",    "mod",  "convert",    "rel",     NULL};
    const char *row = rows[next(p) % (sizeof rows / sizeof *rows)];
    float immediates[3];
    for (int i = 0; i < 3; i++) immediates[i] = real(p);
    switch (next(p) % 6) {
    case 0: return xpuc_variadic(p->n, p->name, row, p->x, p->count % 5);
    case 1: return xpuc_clip(p->n, p->name, p->x[0], immediates[0], immediates[1]);
    case 2: return xpuc_cast(p->n, p->name, p->x[0], p->dtype);
    case 3: return xpuc_mean(p->n, p->name, p->x, p->count % 5);
    case 4: return xpuc_pow(p->n, p->name, p->x[0], p->x[1]);
    default: return xpuc_elementwise(p->n, p->name, row, p->x, 1 + p->count % 3, immediates, p->count & 2);
    }
}

static xpuc_value add_move(player *p) {
    static const int64_t whole = -1;
    int64_t list[10];
    static const char *const modes[] = {NULL, NULL, "edge", "reflect", "constant", "wrap"};
    xpuc_padding pad = {.size = size_of(p, sizeof pad), .mode = modes[next(p) % 6]};
    uint32_t count = p->count % 10;
    for (int i = 0; i < 10; i++) list[i] = number(p) - (p->calm ? 2 : 0);
    for (int i = 0; i < XPUC_MAX_RANK; i++) {
        if (next(p) % 4 == 0) pad.pads_begin[i] = number(p);
        if (next(p) % 4 == 0) pad.pads_end[i] = number(p);
    }
    xpuc_value x = p->x[0], operands[4] = {x, p->x[1], p->x[2], x};
    static const char *const reductions[] = {"sum", "mean", "max", "min", "prod", "median", NULL, "sum"};
    xpuc_value parts[4];
    switch (next(p) % 19) {
    case 9: return xpuc_slice(p->n, p->name, x, count, list, list + 1, NULL, p->count & 1 ? list + 1 : NULL);
    case 10: return xpuc_split(p->n, p->name, x, list[0], 1 + count % 4, p->count & 1 ? list : NULL, parts);
    case 11: return xpuc_expand(p->n, p->name, x, count, list);
    case 12: return xpuc_tile(p->n, p->name, x, count, list);
    case 13: return xpuc_gather(p->n, p->name, x, p->x[1], list[0]);
    case 14: return xpuc_gather_nd(p->n, p->name, x, p->x[1], list[0]);
    case 15: return xpuc_arg(p->n, p->name, p->count & 1 ? "max" : "min", x, list[0], p->count & 2);
    case 16: return xpuc_triangle(p->n, p->name, x, p->x[1], p->count & 1);
    case 17: return xpuc_depth_to_space(p->n, p->name, x, list[0], p->count & 1);
    case 18: return xpuc_recurrent(p->n, p->name, p->count & 1 ? "lstm" : "gru", x, p->x[1], p->x[2], NULL, NULL, NULL);
    case 7: return xpuc_reduce(p->n, p->name, reductions[p->count % 8], x, count % 4, list, p->count & 1);
    case 0: return xpuc_flatten(p->n, p->name, x, list[0]);
    case 1: return xpuc_reshape(p->n, p->name, x, p->calm ? 1 : count, p->calm ? &whole : list);
    case 2: return xpuc_squeeze(p->n, p->name, x, count, next(p) & 1 ? list : NULL);
    case 3: return xpuc_unsqueeze(p->n, p->name, x, count % 3, list);
    case 4: return xpuc_transpose(p->n, p->name, x, count, next(p) & 1 ? list : NULL);
    case 5: return xpuc_concat(p->n, p->name, operands, next(p) % 5, list[0]);
    case 6: return xpuc_pad(p->n, p->name, x, p->calm || next(p) > 8 ? &pad : NULL);
    default: return xpuc_softmax(p->n, p->name, x, list[0]);
    }
}

static xpuc_value add_other(player *p) {
    xpuc_value scale, zero;
    switch (next(p) % 6) {
    case 0: return xpuc_global_average_pool(p->n, p->name, p->x[0]);
    case 1: return xpuc_batch_norm(p->n, p->name, p->x[0], p->x[1], p->x[2], p->x[3], p->x[4], real(p));
    case 2: return xpuc_quantize(p->n, p->name, p->x[0], p->x[1], p->x[2], p->axis, p->dtype);
    case 3: return xpuc_dequantize(p->n, p->name, p->x[0], p->x[1], p->x[2], p->axis);
    case 4: return xpuc_identity(p->n, p->name, p->x[0]);
    default: {
        xpuc_value y = xpuc_dynamic_quantize(p->n, p->name, p->x[0], &scale, &zero);
        keep(p, scale);
        keep(p, zero);
        return y;
    }
    }
}

static void play(player *p) {
    p->calm = next(p) % 4 != 0;
    p->name = NULL;
    add_input(p);
    while (p->at < p->file->size) {
        uint8_t kind = next(p) % 32;
        p->name = text_of(p);
        for (int i = 0; i < 5; i++) p->x[i] = value(p);
        p->dtype = type_of(p);
        p->axis = number(p);
        p->count = next(p);
        if (kind < 3)
            add_input(p);
        else if (kind < 7)
            add_constant(p);
        else if (kind < 8)
            keep(p, xpuc_scalar(p->n, real(p)));
        else if (kind < 12)
            keep(p, add_window(p));
        else if (kind < 15)
            keep(p, add_product(p));
        else if (kind < 21)
            keep(p, add_elementwise(p));
        else if (kind < 27)
            keep(p, add_move(p));
        else if (kind < 30)
            keep(p, add_other(p));
        else
            xpuc_output(p->n, p->x[0], p->name);
    }
    xpuc_output(p->n, value(p), NULL);
}

/* ---- the kind ---- */

static void prepare(void) {}

/* A few calls, so that half of the networks are right. */
static void make_calls(hostile_random *random, hostile_file *file) {
    uint32_t bytes = 30 + hostile_below(random, hostile_chance(random, 70) ? 60 : 600);
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)hostile_draw(random);
        hostile_add(file, &byte, 1);
    }
}

static int compile(const player *p, hostile_result *result, char **text) {
    xpuc_options options = {.emit = "c", .chip = "nano"};
    xpuc_result compiled;
    xpuc_error error;
    int status = xpuc_network_compile(p->n, &options, &compiled, &error);
    hostile_judge(result, "xpuc_network_compile", status, error.text);
    *text = status ? NULL : strdup(compiled.bytes);
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
    return status;
}

static void feed_calls(hostile_random *random, const hostile_file *file, hostile_result *result) {
    (void)random;
    xpuc_error error;
    player p = {.file = file, .n = xpuc_network_new("calls", &error)};
    if (hostile_judge(result, "xpuc_network_new", error.status, error.text)) return;
    play(&p);
    for (uint32_t i = 0; i < p.value_count; i++) xpuc_type(p.n, p.values[i]);
    int wrong = xpuc_network_check(p.n, &error);
    hostile_judge(result, "xpuc_network_check", wrong, error.text);
    xpuc_error_clear(&error);
    char *first, *second;
    int status = compile(&p, result, &first);
    int again = compile(&p, result, &second);
    if (!result->problem[0] && wrong && status != wrong)
        snprintf(result->problem, sizeof result->problem, "check gives %d, the compilation %d", wrong, status);
    int same = status == again && (status || (first && second && strcmp(first, second) == 0));
    if (!result->problem[0] && !same)
        snprintf(result->problem, sizeof result->problem, "the second compilation differs from the first");
    free(first);
    free(second);
    xpuc_network_free(p.n);
}

const hostile_kind hostile_calls = {"calls", ".calls", prepare, make_calls, feed_calls};
