/*
 * Parameter files: tensors as PaddlePaddle streams them, one after the other without names, or one in each file.
 *
 *     u32 0 | u64 levels, then for each level u64 bytes and so many bytes | u32 0 | i32 length of TensorDesc |
 * TensorDesc | the elements, row-major, little-endian
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/paddle/program.h"
#include "frontend/paddle/wire.h"

enum { MAX_LEVELS = 64, MAX_DESC = 4096, DESC_FIELDS = 1024 };
static const int64_t MAX_BYTES = (int64_t)1 << 40;

typedef struct {
    xpu_arena *arena;
    const xpu_file *file;
    uint64_t at;
    const char *name;
    xpu_diags *diags;
    int failed;
} stream;

#define TEXT(s, ...) xpu_printf((s)->arena, __VA_ARGS__)

static int fail(stream *s, const char *what, const char *why, const char *hint) {
    if (s->failed) return 0;
    s->failed = 1;
    xpu_error(s->diags, XPU_EMODEL, s->file->path, "paddle-params",
              TEXT(s, "parameter '%s'", xpu_escape(s->arena, s->name, 100)), what, why, hint);
    return 0;
}

static int needs(stream *s, uint64_t bytes, const char *of) {
    uint64_t left = s->file->size - s->at;
    if (bytes <= left) return 1;
    return fail(s, "the parameter is cut off",
                TEXT(s, "%s needs %" PRIu64 " bytes at byte %" PRIu64 " of the file, which has %" PRIu64 " there", of,
                     bytes, s->at, left),
                "the file is not complete, or belongs to another program");
}

static int read_bytes(stream *s, void *to, size_t bytes, const char *of) {
    if (s->failed || !needs(s, bytes, of)) return 0;
    if (xpu_file_read(s->file, s->at, to, bytes, s->diags) != XPU_OK) {
        s->failed = 1;
        return 0;
    }
    s->at += bytes;
    return 1;
}

static uint64_t read_number(stream *s, size_t bytes, const char *of) {
    uint8_t raw[8] = {0};
    uint64_t value = 0;
    if (!read_bytes(s, raw, bytes, of)) return 0;
    for (size_t i = 0; i < bytes; i++) value |= (uint64_t)raw[i] << (8 * i);
    return value;
}

static int is_version_0(stream *s, const char *of) {
    uint64_t version = read_number(s, 4, of);
    if (s->failed || version == 0) return !s->failed;
    return fail(s, "this is no tensor", TEXT(s, "%s is %" PRIu64 ", where 0 is defined", of, version),
                "check that the file holds parameters of this program");
}

static int skip_levels(stream *s) {
    uint64_t levels = read_number(s, 8, "the number of its levels");
    if (!s->failed && levels > MAX_LEVELS)
        return fail(s, "this is no tensor", TEXT(s, "it has %" PRIu64 " levels of detail", levels),
                    "check that the file holds parameters of this program");
    for (uint64_t i = 0; i < levels && !s->failed; i++) {
        uint64_t bytes = read_number(s, 8, "the length of a level");
        if (!s->failed && needs(s, bytes, "a level")) s->at += bytes;
    }
    return !s->failed;
}

/* Whose elements follow: TensorDesc {data_type = 1, dims = 2}. */
static int read_desc(stream *s, xpu_paddle_parameter *parameter) {
    uint64_t length = read_number(s, 4, "the length of its TensorDesc");
    if (s->failed) return 0;
    if (length > MAX_DESC)
        return fail(s, "this is no tensor", TEXT(s, "its TensorDesc has %" PRIu64 " bytes", length),
                    "check that the file holds parameters of this program");
    uint64_t start = s->at;
    uint8_t bytes[MAX_DESC];
    if (!read_bytes(s, bytes, (size_t)length, "its TensorDesc")) return 0;
    xpu_diags *diags = xpu_diags_new(s->arena);
    xpu_wire wire = {.bytes = bytes, .scratch = s->arena, .diags = diags, .max_fields = DESC_FIELDS};
    xpu_wire_message message = {.wire = &wire, .name = "TensorDesc", .end = length};
    xpu_wire_field field;
    xpu_wire_ints dims = {0};
    int64_t code = -1;
    while (xpu_wire_next(&message, &field)) {
        if (field.number == 1) code = xpu_wire_int(&message, &field, "data_type");
        if (field.number == 2) xpu_wire_add_ints(&message, &field, "dims", &dims);
    }
    if (wire.failed || dims.items.count > XPU_PADDLE_MAX_DIMS)
        return fail(s, "this is no tensor",
                    TEXT(s, "its TensorDesc at byte %" PRIu64 " is malformed%s%s", start, wire.failed ? ": " : "",
                         wire.failed ? diags->items[0].why : ", with more than 64 dims"),
                    "check that the file holds parameters of this program");
    if (xpu_paddle_dtype(code) == XPU_DTYPE_NONE)
        return fail(s, "the parameter's element type is not supported",
                    TEXT(s, "it is %s (%" PRId64 ")", xpu_paddle_type_name(code), code),
                    "save the program with float32 parameters");
    parameter->code = (int)code;
    parameter->rank = (int)dims.items.count;
    parameter->dims = dims.items.items;
    return 1;
}

static int count_bytes(stream *s, xpu_paddle_parameter *parameter) {
    int64_t count = 1, size = (int64_t)xpu_dtype_bytes(xpu_paddle_dtype(parameter->code));
    for (int i = 0; i < parameter->rank; i++) {
        int64_t dim = parameter->dims[i];
        if (dim < 0 || dim > MAX_BYTES || (count > 0 && dim > MAX_BYTES / size / count))
            return fail(s, "this is no tensor", TEXT(s, "dim %d is %" PRId64, i, dim),
                        "check that the file holds parameters of this program");
        count *= dim;
    }
    parameter->bytes = (uint64_t)(count * size);
    return 1;
}

int xpu_paddle_read_record(xpu_arena *arena, const xpu_file *file, uint64_t *offset, const char *name,
                           xpu_paddle_parameter *parameter, xpu_diags *diags) {
    stream s = {.arena = arena, .file = file, .at = *offset, .name = name, .diags = diags};
    *parameter = (xpu_paddle_parameter){.name = name, .file = file};
    if (!is_version_0(&s, "the version of its record") || !skip_levels(&s) ||
        !is_version_0(&s, "the version of its tensor") || !read_desc(&s, parameter) || !count_bytes(&s, parameter))
        return 0;
    parameter->offset = s.at;
    char dims[192];
    const char *elements = "its elements";
    if (parameter->rank <= XPU_MAX_RANK)
        elements = TEXT(&s, "%s%s", xpu_paddle_type_name(parameter->code),
                        xpu_dims_text(parameter->rank, parameter->dims, dims, sizeof dims));
    if (!needs(&s, parameter->bytes, elements)) return 0;
    *offset = s.at + parameter->bytes;
    return 1;
}

/* ---- all of a program ---- */

static int by_name(const void *a, const void *b) {
    return strcmp(((const xpu_paddle_parameter *)a)->name, ((const xpu_paddle_parameter *)b)->name);
}

/* Whether the tensor is what the program declares; a dim of -1 is whatever it is. */
static int fits(const xpu_paddle_var *var, const xpu_paddle_parameter *parameter) {
    if (var->code >= 0 && var->code != parameter->code) return 0;
    if (var->rank == XPU_PADDLE_NO_RANK) return 1;
    int same = var->rank == parameter->rank;
    for (int i = 0; same && i < var->rank; i++) same = var->dims[i] < 0 || var->dims[i] == parameter->dims[i];
    return same;
}

static const char *shape_text(xpu_arena *arena, int rank, const int64_t *dims) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (int i = 0; i < rank; i++) xpu_text_add(&text, "%s%" PRId64, i ? "," : "", dims[i]);
    return xpu_printf(arena, "[%s]", text.length ? text.text : "");
}

static int check_fit(xpu_arena *arena, const xpu_paddle_var *var, const xpu_paddle_parameter *parameter,
                     xpu_diags *diags) {
    if (fits(var, parameter)) return 1;
    const char *why = xpu_printf(arena, "it is %s%s, the program declares %s%s", xpu_paddle_type_name(parameter->code),
                                 shape_text(arena, parameter->rank, parameter->dims), var->type_name,
                                 var->rank == XPU_PADDLE_NO_RANK ? "" : shape_text(arena, var->rank, var->dims));
    xpu_error(diags, XPU_EMODEL, parameter->file->path, "paddle-params",
              xpu_printf(arena, "parameter '%s'", xpu_escape(arena, var->name, 100)),
              "the parameter is not what the program declares", why,
              "give the parameter file of this program: --params");
    return 0;
}

/* The file of one variable: below `folder`, under its name. */
static const xpu_file *own_file(xpu_arena *arena, const char *folder, const char *name, xpu_diags *diags) {
    int bad = name[0] == '/';
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        bad |= strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0');
    }
    if (!bad) return xpu_file_open(arena, xpu_path_join(arena, folder, name), diags);
    xpu_error(diags, XPU_EMODEL, folder, "paddle-params",
              xpu_printf(arena, "parameter '%s'", xpu_escape(arena, name, 100)), "the parameter has no file of its own",
              "its name leads out of the program's folder", "save the parameters in one file");
    return NULL;
}

static void list_parameters(xpu_arena *arena, const xpu_paddle_program *program, xpu_paddle_parameters *parameters) {
    for (uint32_t i = 0; i < program->vars.count; i++) {
        const xpu_paddle_var *var = &program->vars.items[i];
        if (!var->is_persistable || var->kind != XPU_PADDLE_TENSOR || var->block != 0) continue;
        xpu_paddle_parameter parameter = {.name = var->name, .code = (int)i};
        XPU_PUSH(arena, &parameters->items, parameter);
    }
    if (parameters->items.count)
        qsort(parameters->items.items, parameters->items.count, sizeof *parameters->items.items, by_name);
}

int xpu_paddle_read_parameters(xpu_arena *arena, const xpu_paddle_program *program, const xpu_file *file,
                               const char *folder, xpu_paddle_parameters *parameters, xpu_diags *diags) {
    size_t errors = diags->errors;
    uint64_t offset = 0;
    list_parameters(arena, program, parameters);
    for (uint32_t i = 0; i < parameters->items.count; i++) {
        xpu_paddle_parameter *parameter = &parameters->items.items[i];
        const xpu_paddle_var *var = &program->vars.items[parameter->code];
        const xpu_file *from = file ? file : own_file(arena, folder, var->name, diags);
        if (!file) offset = 0;
        if (!from) continue;
        if (!xpu_paddle_read_record(arena, from, &offset, var->name, parameter, diags)) {
            if (file) return 0;
            continue;
        }
        if (!check_fit(arena, var, parameter, diags) && file) return 0;
    }
    if (file && diags->errors == errors && offset < file->size) {
        xpu_error(diags, XPU_EMODEL, file->path, "paddle-params", xpu_printf(arena, "byte %" PRIu64, offset),
                  "the file holds more than the program's parameters",
                  xpu_printf(arena, "%u parameters end there, %" PRIu64 " bytes follow", parameters->items.count,
                             file->size - offset),
                  "give the parameter file of this program: --params");
    }
    return diags->errors == errors;
}
