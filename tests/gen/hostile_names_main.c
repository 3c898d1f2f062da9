/* Writes models whose names are hostile to a terminal, and what belongs to them, for tests of what is printed. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"
#include "tests/gen/onnx_build.h"
#include "xpu_runtime/program/file.h"

static const char usage[] = "usage: hostile_names_main FOLDER | --json FILE | --program FILE.xpu OUT.xpu\n"
                            "Writes names.onnx (it compiles), its input names.npz, and models that do not compile; or "
                            "says whether\na file is JSON; or puts a hostile target and source into a program.\n"
                            "Example: hostile_names_main /tmp/names\n";

/* CSI and OSC, C1 alone and in UTF-8, DEL, line feed and carriage return, marks of direction, no UTF-8, quotes. */
#define HOSTILE                                                                                                        \
    "\033[31m\033]0;own\007\x9b"                                                                                       \
    "2J\xc2\x9b"                                                                                                       \
    "2J\x7f\r\n\xe2\x80\xaegnp\xe2\x81\xa6\xff'\"\\"

typedef struct {
    xpu_arena *arena;
    xpu_diags *diags;
    const char *folder;
    xpu_onnx_builder b;
} generator;

static const char *name(const generator *g, const char *what) {
    return xpu_printf(g->arena, "%s" HOSTILE "%s", what, what);
}

static xpu_status write_model(generator *g, const char *file) {
    size_t length;
    const void *bytes = xpu_onnx_pack(&g->b, name(g, "graph"), &length);
    return xpu_file_write(g->arena, xpu_path_join(g->arena, g->folder, file), bytes, length, g->diags);
}

static xpu_tensor weights(const generator *g, int rank, const int64_t *dims) {
    xpu_tensor t = {.dtype = XPU_F32, .rank = rank};
    memcpy(t.dims, dims, (size_t)rank * sizeof *dims);
    float *data = xpu_alloc(g->arena, xpu_tensor_bytes(&t));
    for (int64_t i = 0; i < xpu_tensor_count(&t); i++) data[i] = (float)(i % 7) / 8 - 0.375f;
    t.data = data;
    return t;
}

static void begin(generator *g) {
    static const int64_t in[] = {-1, 3, 8, 8};
    xpu_onnx_begin(&g->b, g->arena, 13);
    xpu_onnx_input(&g->b, name(g, "x"), 4, in);
    XpuOnnx__TensorShapeProto *shape = g->b.inputs.items[0]->type->tensor_type->shape;
    shape->dim[0]->dim_param = xpu_strdup(g->arena, name(g, "N"));
}

/* Two convolutions, a residual branch, an average and a product: layers on the engines and the cores. */
static xpu_status write_good(generator *g) {
    static const int64_t kernel[] = {4, 3, 3, 3}, second[] = {4, 4, 3, 3}, matrix[] = {4, 5}, out[] = {-1, 5};
    static const int64_t pads[] = {1, 1, 1, 1};
    begin(g);
    xpu_tensor w1 = weights(g, 4, kernel), w2 = weights(g, 4, second), m = weights(g, 2, matrix);
    xpu_onnx_initializer(&g->b, name(g, "w1"), &w1, 0);
    xpu_onnx_initializer(&g->b, name(g, "w2"), &w2, 0);
    xpu_onnx_initializer(&g->b, name(g, "m"), &m, 0);
    XpuOnnx__NodeProto *conv = xpu_onnx_node(&g->b, "Conv", name(g, "conv1"), name(g, "t1"),
                                             (const char *[]){name(g, "x"), name(g, "w1"), NULL});
    xpu_onnx_ints(&g->b, conv, "pads", pads, 4);
    xpu_onnx_node(&g->b, "Relu", name(g, "relu1"), name(g, "t2"), (const char *[]){name(g, "t1"), NULL});
    conv = xpu_onnx_node(&g->b, "Conv", name(g, "conv2"), name(g, "t3"),
                         (const char *[]){name(g, "t2"), name(g, "w2"), NULL});
    xpu_onnx_ints(&g->b, conv, "pads", pads, 4);
    xpu_onnx_node(&g->b, "Add", name(g, "add"), name(g, "t4"), (const char *[]){name(g, "t3"), name(g, "t2"), NULL});
    xpu_onnx_node(&g->b, "GlobalAveragePool", name(g, "pool"), name(g, "t5"), (const char *[]){name(g, "t4"), NULL});
    xpu_onnx_node(&g->b, "Flatten", name(g, "flat"), name(g, "t6"), (const char *[]){name(g, "t5"), NULL});
    xpu_onnx_node(&g->b, "MatMul", name(g, "fc"), name(g, "y"), (const char *[]){name(g, "t6"), name(g, "m"), NULL});
    xpu_onnx_output(&g->b, name(g, "y"), 2, out);
    static const int64_t dims[] = {2, 3, 8, 8};
    xpu_named_tensor input = {name(g, "x"), weights(g, 4, dims)};
    xpu_status status = write_model(g, "names.onnx");
    if (status != XPU_OK) return status;
    const char *npy = xpu_path_join(g->arena, g->folder, "names.npy");
    status = xpu_npy_write(g->arena, npy, &input.tensor, g->diags);
    const char *archive = xpu_path_join(g->arena, g->folder, "names.npz");
    return status == XPU_OK ? xpu_npz_write(g->arena, archive, &input, 1, g->diags) : status;
}

/* One node that is refused, in several ways. */
static xpu_status write_bad(generator *g, const char *file, const char *op, const char *domain, const char *attribute,
                            const char *operand) {
    static const int64_t out[] = {-1, 3, 8, 8};
    begin(g);
    XpuOnnx__NodeProto *node = xpu_onnx_node(&g->b, op, name(g, "node"), name(g, "y"), (const char *[]){operand, NULL});
    if (domain) xpu_onnx_domain(&g->b, node, domain);
    if (attribute) xpu_onnx_int(&g->b, node, attribute, 1);
    xpu_onnx_output(&g->b, name(g, "y"), 4, out);
    return write_model(g, file);
}

/* A program in whose metadata words are others of the same length; its hash fits. */
static xpu_status write_program(xpu_arena *arena, const char *from, const char *to, xpu_diags *diags) {
    static const char *const words[][2] = {{"xpu-sim", "\033[31mT!"},
                                           {"names.onnx", "\x9b"
                                                          "2J\xc2\x9b"
                                                          "2J\r\n\x7f"}};
    size_t length;
    uint8_t *bytes = xpu_file_read_all(arena, from, SIZE_MAX, &length, diags);
    if (!bytes) return XPU_EIO;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i][0]);
        for (uint8_t *at = bytes; (at = memmem(at, length - (size_t)(at - bytes), words[i][0], n)); at += n)
            memcpy(at, words[i][1], n);
    }
    xpu_program_seal(bytes, length);
    return xpu_file_write(arena, to, bytes, length, diags);
}

static xpu_status write_all(generator *g) {
    const char *x = name(g, "x");
    xpu_status status = write_good(g);
    if (status == XPU_OK) status = write_bad(g, "op.onnx", name(g, "Op"), NULL, NULL, x);
    if (status == XPU_OK) status = write_bad(g, "domain.onnx", "Relu", name(g, "domain"), NULL, x);
    if (status == XPU_OK) status = write_bad(g, "attribute.onnx", "Relu", NULL, name(g, "attribute"), x);
    if (status == XPU_OK) status = write_bad(g, "operand.onnx", "Relu", NULL, NULL, name(g, "nobody"));
    return status;
}

int main(int argc, char **argv) {
    int help = argc == 2 && strcmp(argv[1], "--help") == 0, check = argc == 3 && strcmp(argv[1], "--json") == 0;
    int program = argc == 4 && strcmp(argv[1], "--program") == 0;
    if (help || (argc != 2 && !check && !program)) {
        fputs(usage, help ? stdout : stderr);
        return help ? XPU_OK : XPU_EUSAGE;
    }
    xpu_diags diags;
    xpu_mem mem;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    xpu_status status;
    if (setjmp(mem.out_of_memory)) {
        status = xpu_error_oom(&diags);
    } else {
        xpu_arena *arena = xpu_arena_new(&mem, "names");
        generator *g = XPU_NEW(arena, generator);
        g->arena = arena;
        g->diags = &diags;
        g->folder = argv[1];
        if (check)
            status = xpu_json_read(arena, argv[2], &diags) ? XPU_OK : XPU_EUSAGE;
        else if (program)
            status = write_program(arena, argv[2], argv[3], &diags);
        else
            status = write_all(g);
    }
    xpu_diags_print(&diags, stderr);
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
    return (int)status;
}
