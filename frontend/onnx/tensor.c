#define _GNU_SOURCE 1
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/importer.h"

enum { LAZY = 64 << 10, CHUNK = 64 << 10, NAME_MAX_TEXT = 100, MAX_FILES = 1024 };
static const int64_t MAX_BYTES = (int64_t)1 << 40;

/* The numbers of the fields of TensorProto that hold elements. */
enum { FLOAT_DATA = 4, INT32_DATA = 5, INT64_DATA = 7, RAW_DATA = 9, DOUBLE_DATA = 10, UINT64_DATA = 11 };

/* Code, dtype and name of each element type, and the typed field that may hold its elements. */
static const struct {
    int code;
    xpu_dtype dtype;
    const char *name;
    uint32_t field;
} types[] = {
    {1, XPU_F32, "float32", FLOAT_DATA},     {2, XPU_U8, "uint8", INT32_DATA},
    {3, XPU_I8, "int8", INT32_DATA},         {4, XPU_U16, "uint16", INT32_DATA},
    {5, XPU_I16, "int16", INT32_DATA},       {6, XPU_I32, "int32", INT32_DATA},
    {7, XPU_I64, "int64", INT64_DATA},       {8, XPU_DTYPE_NONE, "string", 0},
    {9, XPU_BOOL, "bool", INT32_DATA},       {10, XPU_F16, "float16", INT32_DATA},
    {11, XPU_F64, "float64", DOUBLE_DATA},   {12, XPU_U32, "uint32", UINT64_DATA},
    {13, XPU_U64, "uint64", UINT64_DATA},    {14, XPU_DTYPE_NONE, "complex64", 0},
    {15, XPU_DTYPE_NONE, "complex128", 0},   {16, XPU_BF16, "bfloat16", INT32_DATA},
    {17, XPU_DTYPE_NONE, "float8e4m3fn", 0}, {18, XPU_DTYPE_NONE, "float8e4m3fnuz", 0},
    {19, XPU_DTYPE_NONE, "float8e5m2", 0},   {20, XPU_DTYPE_NONE, "float8e5m2fnuz", 0},
    {21, XPU_DTYPE_NONE, "uint4", 0},        {22, XPU_DTYPE_NONE, "int4", 0},
    {23, XPU_DTYPE_NONE, "float4e2m1", 0},
};
enum { TYPES = sizeof types / sizeof *types };

xpu_dtype xpu_onnx_dtype(int code) {
    return code >= 1 && code <= TYPES ? types[code - 1].dtype : XPU_DTYPE_NONE;
}

const char *xpu_onnx_dtype_name(int code) {
    return code >= 1 && code <= TYPES ? types[code - 1].name : "undefined";
}

/* A tensor while it is read. */
typedef struct {
    xpu_onnx_importer *importer;
    const xpu_onnx_tensor_proto *proto;
    const char *name, *where;
    xpu_tensor tensor;
    int64_t count;
    uint64_t bytes;
    xpu_arena *arena; /* for the bytes on their way into the graph */
} reading;

static xpu_value fail(const reading *read, const char *rule, const char *what, const char *why, const char *hint) {
    xpu_error(read->importer->diags, XPU_EMODEL, read->importer->source->name, rule, read->where, what, why, hint);
    return (xpu_value){0};
}

static xpu_value invalid(const reading *read, const char *why) {
    return fail(read, "onnx-tensor", "the tensor is invalid", why, XPU_ONNX_CHECK_MODEL);
}

#define TEXT(read, ...) xpu_printf((read)->importer->scratch, __VA_ARGS__)

static xpu_value mismatch(const reading *read, uint64_t have, uint64_t want, const char *unit) {
    char dims[128];
    xpu_dims_text(read->tensor.rank, read->tensor.dims, dims, sizeof dims);
    return invalid(read, TEXT(read, "it holds %" PRIu64 " %s; %s%s needs %" PRIu64, have, unit,
                              xpu_dtype_name(read->tensor.dtype), dims, want));
}

/* Type and dims; 0 after reporting. */
static int read_head(reading *read) {
    const xpu_onnx_tensor_proto *proto = read->proto;
    read->tensor.dtype = xpu_onnx_dtype(proto->data_type);
    if (read->tensor.dtype == XPU_DTYPE_NONE) {
        fail(read, "onnx-tensor", "the tensor's element type is not supported",
             TEXT(read, "it is %s (%d)", xpu_onnx_dtype_name(proto->data_type), proto->data_type),
             "export the model with float32 weights");
        return 0;
    }
    if (proto->segment) {
        invalid(read, "it is one segment of a larger tensor");
        return 0;
    }
    if (proto->n_dims > XPU_MAX_RANK) {
        invalid(read, TEXT(read, "it has %zu dims; at most %d are supported", proto->n_dims, XPU_MAX_RANK));
        return 0;
    }
    int64_t bytes = (int64_t)xpu_dtype_bytes(read->tensor.dtype);
    read->tensor.rank = (int)proto->n_dims;
    read->count = 1;
    for (size_t i = 0; i < proto->n_dims; i++) {
        int64_t dim = proto->dims[i];
        if (dim < 0 || dim > MAX_BYTES || (read->count > 0 && dim > MAX_BYTES / bytes / read->count)) {
            invalid(read, TEXT(read, "dim %zu is %" PRId64, i, dim));
            return 0;
        }
        read->tensor.dims[i] = dim;
        read->count *= dim;
    }
    read->bytes = (uint64_t)(read->count * bytes);
    return 1;
}

static xpu_value keep(reading *read, const void *bytes) {
    read->tensor.data = read->bytes ? (void *)bytes : (void *)"";
    return xpu_graph_const_bytes(read->importer->graph, read->name, &read->tensor);
}

/* Row-major little-endian elements that stand in a file. */
static xpu_value keep_slice(reading *read, const xpu_file *file, uint64_t offset) {
    if (read->bytes > LAZY) {
        return xpu_graph_const_file(read->importer->graph, read->name, read->tensor.dtype, read->tensor.rank,
                                    read->tensor.dims, file, offset);
    }
    void *bytes = xpu_alloc(read->arena, (size_t)read->bytes);
    if (xpu_file_read(file, offset, bytes, (size_t)read->bytes, read->importer->diags) != XPU_OK) {
        return (xpu_value){0};
    }
    return keep(read, bytes);
}

/* The same at `offset` of the model itself. */
static xpu_value keep_payload(reading *read, uint64_t offset, uint64_t length) {
    if (length != read->bytes) return mismatch(read, length, read->bytes, "bytes");
    const xpu_onnx_source *source = read->importer->source;
    return source->file ? keep_slice(read, source->file, offset) : keep(read, source->bytes + offset);
}

/* ---- elements as varints ---- */

/* Stores element `index`; the varint's 64 bits stand for a signed number except in uint64_data. */
static int store(reading *read, uint8_t *out, int64_t index, uint64_t bits) {
    int64_t value = (int64_t)bits, least = 0, most = UINT16_MAX;
    size_t size = xpu_dtype_bytes(read->tensor.dtype);
    switch (read->tensor.dtype) {
    case XPU_I8: least = INT8_MIN, most = INT8_MAX; break;
    case XPU_U8: most = UINT8_MAX; break;
    case XPU_BOOL: most = 1; break;
    case XPU_I16: least = INT16_MIN, most = INT16_MAX; break;
    case XPU_I32: least = INT32_MIN, most = INT32_MAX; break;
    case XPU_U32: most = UINT32_MAX; break;
    case XPU_I64:
    case XPU_U64: least = INT64_MIN, most = INT64_MAX; break;
    default: break; /* the bits of a 16-bit float */
    }
    if (value < least || value > most) {
        invalid(read, TEXT(read, "element %" PRId64 " is %" PRId64 ", which %s cannot hold", index, value,
                           xpu_dtype_name(read->tensor.dtype)));
        return 0;
    }
    for (size_t i = 0; i < size; i++) out[(size_t)index * size + i] = (uint8_t)(bits >> (8 * i));
    return 1;
}

static xpu_value decode_varints(reading *read, uint64_t offset, uint64_t length) {
    if (length < (uint64_t)read->count) return mismatch(read, length, (uint64_t)read->count, "elements at most");
    if (length / 10 > (uint64_t)read->count) {
        return mismatch(read, length / 10, (uint64_t)read->count, "elements at least");
    }
    uint8_t *out = xpu_alloc(read->arena, (size_t)read->bytes), *chunk = xpu_alloc(read->arena, CHUNK);
    int64_t index = 0;
    uint64_t bits = 0;
    unsigned shift = 0;
    for (uint64_t done = 0; done < length;) {
        size_t part = length - done < CHUNK ? (size_t)(length - done) : CHUNK;
        xpu_status status =
            xpu_onnx_source_read(read->importer->source, offset + done, chunk, part, read->importer->diags);
        if (status != XPU_OK) return (xpu_value){0};
        for (size_t i = 0; i < part; i++) {
            if (shift > 63) return invalid(read, TEXT(read, "element %" PRId64 " has more than 64 bits", index));
            bits |= (uint64_t)(chunk[i] & 0x7f) << shift;
            shift += 7;
            if (chunk[i] & 0x80) continue;
            if (index == read->count) return mismatch(read, (uint64_t)index + 1, (uint64_t)index, "elements or more");
            if (!store(read, out, index++, bits)) return (xpu_value){0};
            bits = shift = 0;
        }
        done += part;
    }
    if (shift || index != read->count) return mismatch(read, (uint64_t)index, (uint64_t)read->count, "elements");
    return keep(read, out);
}

/* ---- elements inside the skeleton ---- */

static size_t inline_count(const xpu_onnx_tensor_proto *proto, uint32_t field) {
    switch (field) {
    case FLOAT_DATA: return proto->n_float_data;
    case INT32_DATA: return proto->n_int32_data;
    case INT64_DATA: return proto->n_int64_data;
    case DOUBLE_DATA: return proto->n_double_data;
    case UINT64_DATA: return proto->n_uint64_data;
    default: return 0;
    }
}

static xpu_value keep_inline(reading *read, uint32_t field) {
    const xpu_onnx_tensor_proto *proto = read->proto;
    size_t count = inline_count(proto, field);
    if (count != (uint64_t)read->count) return mismatch(read, count, (uint64_t)read->count, "elements");
    if (field == FLOAT_DATA) return keep(read, proto->float_data);
    if (field == DOUBLE_DATA) return keep(read, proto->double_data);
    uint8_t *out = xpu_alloc(read->arena, (size_t)read->bytes);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = field == INT32_DATA   ? (uint64_t)(int64_t)proto->int32_data[i]
                        : field == INT64_DATA ? (uint64_t)proto->int64_data[i]
                                              : proto->uint64_data[i];
        if (!store(read, out, (int64_t)i, bits)) return (xpu_value){0};
    }
    return keep(read, out);
}

static const XpuOnnx__TensorProto__Payload *payload_of(const xpu_onnx_tensor_proto *proto, uint32_t field) {
    for (size_t i = 0; i < proto->n_payload; i++) {
        if (proto->payload[i]->field == field) return proto->payload[i];
    }
    return NULL;
}

static xpu_value read_internal(reading *read) {
    const xpu_onnx_tensor_proto *proto = read->proto;
    const XpuOnnx__TensorProto__Payload *raw = payload_of(proto, RAW_DATA);
    if (raw) return keep_payload(read, raw->offset, raw->length);
    if (proto->has_raw_data && (proto->raw_data.len > 0 || read->bytes == 0)) {
        if (proto->raw_data.len != read->bytes) return mismatch(read, proto->raw_data.len, read->bytes, "bytes");
        return keep(read, proto->raw_data.data);
    }
    uint32_t field = types[proto->data_type - 1].field;
    const XpuOnnx__TensorProto__Payload *payload = payload_of(proto, field);
    if (!payload) return keep_inline(read, field);
    if (field == FLOAT_DATA || field == DOUBLE_DATA) return keep_payload(read, payload->offset, payload->length);
    return decode_varints(read, payload->offset, payload->length);
}

/* ---- external data ---- */

static xpu_value external(const reading *read, const char *why, const char *hint) {
    return fail(read, "onnx-external-data", "the tensor's external data cannot be used", why, hint);
}

/* A path below the model's folder: relative, no "..", and no link that leads out of it. NULL after reporting. */
static const char *resolve(const reading *read, const char *location) {
    const char *shown = xpu_escape(read->importer->scratch, location, NAME_MAX_TEXT);
    const char *hint = "keep the files of external data in the model's folder";
    if (!read->importer->folder) {
        external(read, TEXT(read, "it is in file '%s', and a model in memory has no folder", shown),
                 "give the model as a file");
        return NULL;
    }
    int bad = location[0] == '\0' || location[0] == '/';
    for (const char *part = location; part; part = strchr(part, '/')) {
        part += *part == '/';
        bad |= strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0');
    }
    if (bad) {
        external(read, TEXT(read, "its location '%s' is not below the model's folder", shown), hint);
        return NULL;
    }
    char path[PATH_MAX];
    const char *joined = xpu_path_join(read->importer->scratch, read->importer->folder, location);
    if (!realpath(joined, path)) return joined; /* opening it reports why */
    size_t length = strlen(read->importer->folder);
    int inside = strncmp(path, read->importer->folder, length) == 0 &&
                 (path[length] == '/' || strcmp(read->importer->folder, "/") == 0);
    if (!inside) {
        external(read, TEXT(read, "its location '%s' is a link that leads out of the model's folder", shown), hint);
        return NULL;
    }
    return xpu_strdup(read->importer->scratch, path);
}

/* NULL after reporting which tensor of which model needs the file, and what is wrong with it. */
static const xpu_file *open_external(const reading *read, const char *location, const char *path) {
    xpu_onnx_importer *importer = read->importer;
    xpu_diags *diags = xpu_diags_new(importer->scratch);
    const xpu_file *file = xpu_file_open(importer->arena, path, diags);
    if (file) return file;
    const char *why = diags->count && diags->items[0].why ? diags->items[0].why : "there is not enough memory";
    xpu_error(
        importer->diags, XPU_EIO, importer->source->name, "onnx-external-data", read->where,
        "the file of the tensor's external data cannot be opened",
        TEXT(read, "file '%s' in the model's folder: %s", xpu_escape(importer->scratch, location, NAME_MAX_TEXT), why),
        "keep the files of external data in the model's folder, under the names that the model has for them");
    return NULL;
}

static const xpu_file *external_file(reading *read, const char *location) {
    xpu_onnx_importer *importer = read->importer;
    for (uint32_t i = 0; i < importer->external.count; i++) {
        if (strcmp(importer->external.items[i].location, location) == 0) return importer->external.items[i].file;
    }
    if (importer->external.count == MAX_FILES) {
        external(read, TEXT(read, "the model's tensors are in more than %d files", MAX_FILES),
                 "export the model with its tensors in one file");
        return NULL;
    }
    const char *path = resolve(read, location);
    xpu_onnx_external entry = {location, path ? open_external(read, location, path) : NULL};
    XPU_PUSH(importer->scratch, &importer->external, entry);
    if (entry.file) XPU_PUSH(importer->arena, &importer->graph->sources, ((xpu_graph_source){.file = entry.file}));
    return entry.file;
}

/* A decimal number of 64 bits, nothing else. */
static int parse_number(const char *text, uint64_t *value) {
    *value = 0;
    if (!*text) return 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return 0;
        if (__builtin_mul_overflow(*value, (uint64_t)10, value)) return 0;
        if (__builtin_add_overflow(*value, (uint64_t)(*text - '0'), value)) return 0;
    }
    return 1;
}

static xpu_value read_external(reading *read) {
    const xpu_onnx_tensor_proto *proto = read->proto;
    const char *location = NULL;
    uint64_t offset = 0, length = read->bytes;
    for (size_t i = 0; i < proto->n_external_data; i++) {
        const char *key = proto->external_data[i]->key, *value = proto->external_data[i]->value;
        if (!key || !value) continue;
        uint64_t *number = strcmp(key, "offset") == 0 ? &offset : strcmp(key, "length") == 0 ? &length : NULL;
        if (strcmp(key, "location") == 0) location = value;
        if (number && !parse_number(value, number)) {
            return external(read, TEXT(read, "'%s' is no %s", xpu_escape(read->importer->scratch, value, 40), key),
                            "export the model again");
        }
    }
    if (!location) return external(read, "it names no location", "export the model again");
    if (length != read->bytes) return mismatch(read, length, read->bytes, "bytes");
    const xpu_file *file = external_file(read, location);
    if (!file) return (xpu_value){0};
    if (offset > file->size || read->bytes > file->size - offset) {
        return external(read,
                        TEXT(read, "bytes %" PRIu64 " to %" PRIu64 " of file '%s' are needed, which has %" PRIu64,
                             offset, offset + length, xpu_escape(read->importer->scratch, location, NAME_MAX_TEXT),
                             file->size),
                        "the file is cut short, or belongs to another model");
    }
    return keep_slice(read, file, offset);
}

const char *xpu_onnx_constant_name(xpu_onnx_importer *importer, const char *name) {
    return xpu_onnx_name_of(importer, name)->is_output ? xpu_printf(importer->scratch, "%s/value", name) : name;
}

xpu_value xpu_onnx_constant(xpu_onnx_importer *importer, const xpu_onnx_tensor_proto *tensor, const char *name,
                            const char *where) {
    reading read = {.importer = importer, .proto = tensor, .where = where};
    read.name = xpu_onnx_constant_name(importer, name);
    if (!read_head(&read)) return (xpu_value){0};
    read.arena = xpu_arena_new(xpu_arena_mem(importer->arena), "tensor");
    int is_external = tensor->data_location == XPU_ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    xpu_value value = is_external ? read_external(&read) : read_internal(&read);
    xpu_arena_free(read.arena);
    return value;
}
