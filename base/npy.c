#define _GNU_SOURCE 1
#include "base/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/zip.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors are kept little endian; this host is not"
#endif

static const char magic[] = "\x93NUMPY";
static const char suffix[] = ".npy";

enum {
    MAGIC_BYTES = 6,
    PREFIX_BYTES = MAGIC_BYTES + 2, /* with the version */
    MAX_HEADER = 64 << 10,          /* more than any header needs; NumPy itself refuses beyond 10000 */
    ALIGNMENT = 64                  /* of the data in files that are written */
};

static const char *const npy_types[XPU_DTYPE_COUNT] = {[XPU_DTYPE_NONE] = "",
#define X(name, text, bytes, npy) [XPU_##name] = npy,
                                                       XPU_DTYPES(X)
#undef X
};

/* A .npy image being read from its beginning: a part of a file, memory, or an entry of an archive. */
typedef struct {
    xpu_arena *arena;   /* for the tensor */
    xpu_arena *scratch; /* for everything else */
    const xpu_bytes *bytes;
    xpu_zip_stream *stream; /* NULL: `bytes` themselves */
    const char *where;      /* "entry 'x'" or NULL */
    uint64_t offset, left;
    xpu_diags *diags;
    int only_header;
} source;

/* Which arrays of a file, and whether their data. */
typedef struct {
    uint32_t index; /* ALL: every one */
    int only_headers;
} choice;
enum { ALL = UINT32_MAX };
static const choice everything = {ALL, 0};

typedef struct {
    xpu_tensor tensor; /* without data */
    int swapped;       /* big endian */
    int fortran;
    unsigned seen; /* keys found: bits of enum key */
} header;

static xpu_status npy_error(source *from, const char *rule, const char *what, const char *why, const char *hint) {
    xpu_error(from->diags, XPU_EIO, from->bytes->name, rule, from->where, what, why, hint);
    return XPU_EIO;
}

static xpu_status header_error(source *from, const char *why) {
    return npy_error(from, "npy-header", "the array's header cannot be read", why,
                     "write it with numpy.save, as an array of bool, integers or floats");
}

static xpu_status source_read(source *from, void *buffer, size_t length) {
    if (length > from->left) return header_error(from, "the file ends within it");
    xpu_status status = from->stream ? xpu_zip_entry_read(from->stream, buffer, length, from->diags)
                                     : xpu_bytes_read(from->bytes, from->offset, buffer, length, from->diags);
    from->offset += length;
    from->left -= length;
    return status;
}

/* The header is the text of a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 * Each parse function moves *text behind what it read and returns why it cannot be read, or NULL. */
static void skip_space(const char **text) {
    *text += strspn(*text, " \t\r\n\v\f");
}

static int take(const char **text, const char *token) {
    size_t length = strlen(token);
    skip_space(text);
    if (strncmp(*text, token, length) != 0) return 0;
    *text += length;
    return 1;
}

static const char *parse_string(const char **text, char *value, size_t size) {
    skip_space(text);
    char quote = **text;
    if (quote != '\'' && quote != '"') return "a string in quotes is expected";
    const char *end = strchr(*text + 1, quote);
    if (!end || (size_t)(end - *text) > size) return "a string in it does not end or is too long";
    size_t length = (size_t)(end - *text) - 1;
    memcpy(value, *text + 1, length);
    value[length] = '\0';
    *text = end + 1;
    return NULL;
}

static const char *parse_type(const char **text, header *out) {
    char type[32];
    skip_space(text);
    if (**text == '[') return "it describes records with fields; arrays of numbers are supported";
    const char *why = parse_string(text, type, sizeof type);
    if (why) return why;
    if (!strchr("<>=|", type[0]) || type[0] == '\0') return "its 'descr' does not begin with a byte order";
    for (int i = XPU_DTYPE_NONE + 1; i < XPU_DTYPE_COUNT; i++) {
        if (strcmp(type + 1, npy_types[i] + 1) != 0) continue;
        out->tensor.dtype = (xpu_dtype)i;
        out->swapped = type[0] == '>' && xpu_dtype_bytes((xpu_dtype)i) > 1;
        return NULL;
    }
    return "its element type is not supported: only bool, int8 to uint64, float16, bfloat16 (V2), float32, float64 are";
}

static const char *parse_dim(const char **text, int64_t *dim) {
    skip_space(text);
    int64_t value = 0;
    size_t digits = strspn(*text, "0123456789");
    if (digits == 0) return "a dimension in 'shape' is no number";
    for (size_t i = 0; i < digits; i++) {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (*text)[i] - '0', &value)) {
            return "a dimension in 'shape' is too large";
        }
    }
    *text += digits;
    take(text, "L"); /* as Python 2 wrote it */
    *dim = value;
    return NULL;
}

static const char *parse_shape(const char **text, header *out) {
    if (!take(text, "(")) return "its 'shape' is no tuple";
    int rank = 0;
    while (!take(text, ")")) {
        if (rank == XPU_MAX_RANK) return "its 'shape' has more than 8 dimensions";
        const char *why = parse_dim(text, &out->tensor.dims[rank]);
        if (why) return why;
        rank++;
        int comma = take(text, ",");
        skip_space(text);
        if (!comma && (**text != ')' || rank == 1)) return "its 'shape' is no tuple";
    }
    out->tensor.rank = rank;
    return NULL;
}

static const char *parse_order(const char **text, header *out) {
    out->fortran = take(text, "True");
    return out->fortran || take(text, "False") ? NULL : "its 'fortran_order' is neither True nor False";
}

static const char *parse_key(const char **text, header *out) {
    static const struct {
        const char *name;
        const char *(*parse)(const char **text, header *out);
    } keys[] = {{"descr", parse_type}, {"fortran_order", parse_order}, {"shape", parse_shape}};
    char name[32];
    const char *why = parse_string(text, name, sizeof name);
    if (why) return why;
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(name, keys[i].name) != 0) continue;
        if (out->seen & 1U << i) return "a key stands in it twice";
        out->seen |= 1U << i;
        return take(text, ":") ? keys[i].parse(text, out) : "a ':' is missing behind a key";
    }
    return "it holds a key other than 'descr', 'fortran_order' and 'shape'";
}

static const char *parse_header(const char *text, header *out) {
    if (!take(&text, "{")) return "it is no dictionary";
    while (!take(&text, "}")) {
        const char *why = parse_key(&text, out);
        if (why) return why;
        skip_space(&text);
        if (!take(&text, ",") && *text != '}') return "a ',' is missing in it";
    }
    skip_space(&text);
    if (*text) return "something follows the dictionary";
    return out->seen == 7 ? NULL : "one of the keys 'descr', 'fortran_order' and 'shape' is missing";
}

static xpu_status read_header(source *from, header *out) {
    unsigned char prefix[PREFIX_BYTES + 4];
    if (source_read(from, prefix, PREFIX_BYTES) != XPU_OK) return XPU_EIO;
    if (memcmp(prefix, magic, MAGIC_BYTES) != 0) return header_error(from, "it does not begin with \\x93NUMPY");
    int version = prefix[MAGIC_BYTES];
    if (version < 1 || version > 3 || prefix[MAGIC_BYTES + 1] != 0) {
        return header_error(from, xpu_printf(from->scratch, "its format is %d.%d; 1.0, 2.0 and 3.0 are known", version,
                                             prefix[MAGIC_BYTES + 1]));
    }
    size_t width = version == 1 ? 2 : 4, length = 0;
    if (source_read(from, prefix + PREFIX_BYTES, width) != XPU_OK) return XPU_EIO;
    for (size_t i = width; i-- > 0;) length = length << 8 | prefix[PREFIX_BYTES + i];
    if (length > MAX_HEADER) return header_error(from, "it has more than 65536 bytes");
    char *text = xpu_alloc(from->scratch, length + 1);
    if (source_read(from, text, length) != XPU_OK) return XPU_EIO;
    *out = (header){0};
    const char *why = strlen(text) == length ? parse_header(text, out) : "it holds a NUL byte";
    return why ? header_error(from, why) : XPU_OK;
}

/* The bytes of the data, checked against what is there. */
static xpu_status data_bytes(source *from, const xpu_tensor *tensor, size_t *bytes) {
    uint64_t product = xpu_dtype_bytes(tensor->dtype);
    int empty = 0, overflow = 0;
    for (int i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] == 0) {
            empty = 1;
        } else {
            overflow |= __builtin_mul_overflow(product, (uint64_t)tensor->dims[i], &product);
        }
    }
    if (overflow || product > INT64_MAX / 2) return header_error(from, "its 'shape' has too many elements");
    if (empty) product = 0;
    *bytes = (size_t)product;
    if (product == from->left) return XPU_OK;
    char dims[192];
    xpu_dims_text(tensor->rank, tensor->dims, dims, sizeof dims);
    return npy_error(from, "npy-data", "the array's data does not have the size that its header says",
                     xpu_printf(from->scratch, "%s of %s has %" PRIu64 " bytes, %" PRIu64 " follow the header", dims,
                                xpu_dtype_name(tensor->dtype), product, from->left),
                     product > from->left ? "the file is cut short; write it again" : "write one array per file");
}

static void swap_bytes(unsigned char *data, size_t count, size_t size) {
    for (unsigned char *element = data; count-- > 0; element += size) {
        for (size_t i = 0; i < size / 2; i++) {
            unsigned char byte = element[i];
            element[i] = element[size - 1 - i];
            element[size - 1 - i] = byte;
        }
    }
}

/* From Fortran order (first index fastest) to C order. */
static void transpose(const xpu_tensor *tensor, const unsigned char *from, unsigned char *to, size_t size) {
    int64_t index[XPU_MAX_RANK] = {0}, stride[XPU_MAX_RANK + 1] = {1}, offset = 0;
    for (int i = 0; i < tensor->rank; i++) stride[i + 1] = stride[i] * tensor->dims[i];
    for (int64_t count = xpu_tensor_count(tensor); count > 0; count--, to += size) {
        memcpy(to, from + (size_t)offset * size, size);
        for (int axis = tensor->rank - 1; axis >= 0; axis--) {
            offset += stride[axis];
            if (++index[axis] < tensor->dims[axis]) break;
            offset -= stride[axis] * tensor->dims[axis];
            index[axis] = 0;
        }
    }
}

static xpu_status read_array(source *from, xpu_tensor *tensor) {
    header head;
    size_t bytes;
    if (read_header(from, &head) != XPU_OK || data_bytes(from, &head.tensor, &bytes) != XPU_OK) return XPU_EIO;
    *tensor = head.tensor;
    if (from->only_header) return XPU_OK;
    int moved = head.fortran && head.tensor.rank > 1;
    size_t size = xpu_dtype_bytes(head.tensor.dtype);
    unsigned char *data = xpu_alloc(moved ? from->scratch : from->arena, bytes);
    if (source_read(from, data, bytes) != XPU_OK) return XPU_EIO;
    if (head.swapped) swap_bytes(data, bytes / size, size);
    if (head.tensor.dtype == XPU_BOOL) {
        for (size_t i = 0; i < bytes; i++) data[i] = data[i] != 0;
    }
    head.tensor.data = data;
    if (moved) {
        head.tensor.data = xpu_alloc(from->arena, bytes);
        transpose(&head.tensor, data, head.tensor.data, size);
    }
    *tensor = head.tensor;
    return XPU_OK;
}

static xpu_status read_single(xpu_arena *arena, xpu_arena *scratch, const xpu_bytes *bytes, int only_header,
                              xpu_tensor *tensor, xpu_diags *diags) {
    source from = {arena, scratch, bytes, NULL, NULL, 0, bytes->size, diags, only_header};
    return read_array(&from, tensor);
}

static xpu_status read_entry(xpu_arena *arena, xpu_arena *scratch, const xpu_zip *zip, const xpu_zip_entry *entry,
                             int only_header, xpu_named_tensor *named, xpu_diags *diags) {
    const char *where = xpu_printf(scratch, "entry '%s'", xpu_escape(scratch, entry->name, 80));
    size_t length = strlen(entry->name), tail = sizeof suffix - 1;
    if (length <= tail || strcmp(entry->name + length - tail, suffix) != 0) {
        return xpu_error(diags, XPU_EIO, zip->bytes->name, "npz-zip", where, "the entry is no array",
                         "its name does not end with .npy", "keep only arrays in the archive");
    }
    xpu_zip_stream *stream = xpu_zip_entry_open(scratch, zip, entry, diags);
    if (!stream) return XPU_EIO;
    source from = {arena, scratch, zip->bytes, stream, where, 0, entry->size, diags, only_header};
    named->name = xpu_strndup(arena, entry->name, length - tail);
    return read_array(&from, &named->tensor);
}

static xpu_status read_archive(xpu_arena *arena, xpu_arena *scratch, const xpu_bytes *bytes, choice which,
                               xpu_named_tensors *tensors, xpu_diags *diags) {
    xpu_zip zip;
    xpu_status status = xpu_zip_open(scratch, bytes, &zip, diags);
    for (uint32_t i = 0; i < zip.entries.count && status == XPU_OK; i++) {
        if (which.index != ALL && which.index != i) continue;
        xpu_arena *own = xpu_arena_new(xpu_arena_mem(arena), "npz entry");
        xpu_named_tensor named;
        status = read_entry(arena, own, &zip, &zip.entries.items[i], which.only_headers, &named, diags);
        if (status == XPU_OK) XPU_PUSH(arena, tensors, named);
        xpu_arena_free(own);
    }
    return status;
}

/* Reads .npy (one tensor without a name) or .npz. */
static xpu_status read_any(xpu_arena *arena, xpu_arena *scratch, const xpu_bytes *bytes, choice which,
                           xpu_named_tensors *tensors, xpu_diags *diags) {
    char first[2];
    *tensors = (xpu_named_tensors){0};
    if (bytes->size >= sizeof first) {
        if (xpu_bytes_read(bytes, 0, first, sizeof first, diags) != XPU_OK) return XPU_EIO;
        if (memcmp(first, "PK", sizeof first) == 0) return read_archive(arena, scratch, bytes, which, tensors, diags);
    }
    xpu_named_tensor named = {"", {0}};
    xpu_status status = read_single(arena, scratch, bytes, which.only_headers, &named.tensor, diags);
    if (status == XPU_OK) XPU_PUSH(arena, tensors, named);
    return status;
}

xpu_status xpu_npy_parse(xpu_arena *arena, const void *bytes, size_t length, const char *name, xpu_tensor *tensor,
                         xpu_diags *diags) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "npy");
    xpu_bytes image = {NULL, bytes, length, name};
    xpu_status status = read_single(arena, scratch, &image, 0, tensor, diags);
    xpu_arena_free(scratch);
    return status;
}

xpu_status xpu_npz_parse(xpu_arena *arena, const void *bytes, size_t length, const char *name,
                         xpu_named_tensors *tensors, xpu_diags *diags) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "npz");
    xpu_bytes image = {NULL, bytes, length, name};
    xpu_status status = read_any(arena, scratch, &image, everything, tensors, diags);
    xpu_arena_free(scratch);
    return status;
}

xpu_status xpu_npy_read(xpu_arena *arena, const char *path, xpu_tensor *tensor, xpu_diags *diags) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "npy");
    xpu_file *file = xpu_file_open(scratch, path, diags);
    xpu_bytes image = {file, NULL, file ? file->size : 0, path};
    xpu_status status = file ? read_single(arena, scratch, &image, 0, tensor, diags) : XPU_EIO;
    xpu_arena_free(scratch);
    return status;
}

static xpu_status read_path(xpu_arena *arena, const char *path, choice which, xpu_named_tensors *tensors,
                            xpu_diags *diags) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "npz");
    xpu_file *file = xpu_file_open(scratch, path, diags);
    xpu_bytes image = {file, NULL, file ? file->size : 0, path};
    xpu_status status = file ? read_any(arena, scratch, &image, which, tensors, diags) : XPU_EIO;
    xpu_arena_free(scratch);
    return status;
}

xpu_status xpu_npz_read(xpu_arena *arena, const char *path, xpu_named_tensors *tensors, xpu_diags *diags) {
    return read_path(arena, path, everything, tensors, diags);
}

xpu_status xpu_npz_read_headers(xpu_arena *arena, const char *path, xpu_named_tensors *tensors, xpu_diags *diags) {
    return read_path(arena, path, (choice){ALL, 1}, tensors, diags);
}

xpu_status xpu_npz_read_one(xpu_arena *arena, const char *path, uint32_t index, xpu_tensor *tensor, xpu_diags *diags) {
    xpu_named_tensors one = {0};
    xpu_status status = read_path(arena, path, (choice){index, 0}, &one, diags);
    *tensor = one.count ? one.items[0].tensor : (xpu_tensor){0};
    return status;
}

/* The header of format 1.0, padded so that the data is aligned. */
static void make_header(xpu_text *text, const xpu_tensor *tensor) {
    xpu_text_add_bytes(text, magic, MAGIC_BYTES);
    xpu_text_add_bytes(text, "\1\0\0\0", 4); /* version 1.0, then the length, filled in below */
    xpu_text_add(text, "{'descr': '%s', 'fortran_order': False, 'shape': (", npy_types[tensor->dtype]);
    for (int i = 0; i < tensor->rank; i++) {
        xpu_text_add(text, "%s%" PRId64 "%s", i ? " " : "", tensor->dims[i],
                     i + 1 < tensor->rank || tensor->rank == 1 ? "," : "");
    }
    xpu_text_add(text, "), }");
    while (text->length % ALIGNMENT != ALIGNMENT - 1) xpu_text_add_bytes(text, " ", 1);
    xpu_text_add_bytes(text, "\n", 1);
    size_t length = text->length - PREFIX_BYTES - 2;
    text->text[PREFIX_BYTES] = (char)(length & 0xff);
    text->text[PREFIX_BYTES + 1] = (char)(length >> 8);
}

xpu_status xpu_npy_write(xpu_arena *arena, const char *path, const xpu_tensor *tensor, xpu_diags *diags) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "npy");
    xpu_status status = XPU_EIO;
    xpu_output *output = xpu_output_open(scratch, path, diags);
    if (output) {
        xpu_text head;
        xpu_text_init(&head, scratch);
        make_header(&head, tensor);
        xpu_output_write(output, head.text, head.length);
        xpu_output_write(output, tensor->data, xpu_tensor_bytes(tensor));
        status = xpu_output_commit(output);
    } else {
        status = xpu_diags_status(diags);
    }
    xpu_arena_free(scratch);
    return status;
}

static xpu_status write_entry(xpu_arena *arena, xpu_zip_writer *writer, xpu_output *output,
                              const xpu_named_tensor *named) {
    xpu_text head;
    xpu_text_init(&head, arena);
    make_header(&head, &named->tensor);
    size_t bytes = xpu_tensor_bytes(&named->tensor);
    uint32_t crc = xpu_crc32(xpu_crc32(0, head.text, head.length), named->tensor.data, bytes);
    const char *name = xpu_printf(arena, "%s%s", named->name, suffix);
    if (xpu_zip_writer_begin(writer, name, crc, head.length + (uint64_t)bytes) != XPU_OK) return XPU_EIO;
    xpu_output_write(output, head.text, head.length);
    return xpu_output_write(output, named->tensor.data, bytes);
}

xpu_status xpu_npz_write(xpu_arena *arena, const char *path, const xpu_named_tensor *tensors, size_t count,
                         xpu_diags *diags) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "npz");
    size_t errors = diags->errors;
    xpu_output *output = xpu_output_open(scratch, path, diags);
    xpu_status status = XPU_EIO;
    if (output) {
        xpu_zip_writer *writer = xpu_zip_writer_new(scratch, output, path, diags);
        for (size_t i = 0; i < count && diags->errors == errors; i++) write_entry(scratch, writer, output, &tensors[i]);
        if (diags->errors == errors) {
            xpu_zip_writer_finish(writer);
            status = xpu_output_commit(output);
        }
    } else {
        status = xpu_diags_status(diags);
    }
    xpu_arena_free(scratch);
    return status;
}
