#include "base/npy.h"

#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "base/zip.h"
#include "tests/unit/oom.h"
#include "tests/unit/unit.h"

typedef struct {
    char *bytes;
    size_t length;
} image;

/* A .npy image of this format version around a header text and data. */
static image make_npy(xpu_arena *arena, int version, const char *header, const char *data, size_t length) {
    xpu_text text;
    xpu_text_init(&text, arena);
    size_t head = strlen(header);
    char size[4] = {(char)(head & 0xff), (char)(head >> 8 & 0xff), 0, 0}, number[2] = {(char)version, 0};
    xpu_text_add_bytes(&text, "\x93NUMPY", 6);
    xpu_text_add_bytes(&text, number, 2);
    xpu_text_add_bytes(&text, size, version == 1 ? 2 : 4);
    xpu_text_add_bytes(&text, header, head);
    xpu_text_add_bytes(&text, data, length);
    return (image){xpu_copy(arena, text.text, text.length), text.length};
}

typedef struct {
    int version;
    const char *header;
    const char *data;
    size_t length;
    const char *shape; /* "float32 [2,3]", or the rule of the error */
    const char *values;
    const char *why; /* of the error */
} npy_case;

#define DICT(type, order, shape) "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }"

static const npy_case cases[] = {
    {1, DICT("<i2", "False", "(2, 3)") "   \n", "\1\0\2\0\3\0\4\0\5\0\6\0", 12, "int16 [2,3]",
     "\1\0\2\0\3\0\4\0\5\0\6\0", 0},
    {1, DICT("<i2", "True", "(2, 3)"), "\1\0\4\0\2\0\5\0\3\0\6\0", 12, "int16 [2,3]", "\1\0\2\0\3\0\4\0\5\0\6\0", 0},
    {2, DICT("|u1", "True", "(2, 2, 2)"), "\0\4\2\6\1\5\3\7", 8, "uint8 [2,2,2]", "\0\1\2\3\4\5\6\7", 0},
    {3, DICT(">f4", "False", "(1,)"), "\x3f\x80\0\0", 4, "float32 [1]", "\0\0\x80\x3f", 0},
    {1, DICT("=f8", "False", "()"), "12345678", 8, "float64 []", "12345678", 0},
    {1, DICT("|b1", "False", "(4,)"), "\0\1\2\xff", 4, "bool [4]", "\0\1\1\1", 0},
    {1, DICT("<V2", "False", "(1, 1)"), "\x80\x3f", 2, "bfloat16 [1,1]", "\x80\x3f", 0},
    {1, DICT("<i8", "False", "(3, 0, 99999999999)"), "", 0, "int64 [3,0,99999999999]", "", 0},
    {1, DICT("<i8", "True", "(3, 0)"), "", 0, "int64 [3,0]", "", 0},
    {1, "{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"<u2\"}", "abcd", 4, "uint16 [2]", "abcd", 0},
    {1, DICT("<f4", "False", "(2,)"), "1234567", 7, "npy-data", 0, "[2] of float32 has 8 bytes, 7 follow the header"},
    {1, DICT("<f4", "False", "(1,)"), "12345", 5, "npy-data", 0, "[1] of float32 has 4 bytes, 5 follow the header"},
    {1, DICT("<f4", "False", "(4294967296, 4294967296, 4)"), "", 0, "npy-header", 0,
     "its 'shape' has too many elements"},
    {1, DICT("<f4", "False", "(99999999999999999999,)"), "", 0, "npy-header", 0, "a dimension in 'shape' is too large"},
    {1, DICT("<f4", "False", "(-1,)"), "", 0, "npy-header", 0, "a dimension in 'shape' is no number"},
    {1, DICT("<f4", "False", "(1)"), "1234", 4, "npy-header", 0, "its 'shape' is no tuple"},
    {1, DICT("<f4", "False", "(1 1)"), "1234", 4, "npy-header", 0, "its 'shape' is no tuple"},
    {1, DICT("<f4", "False", "1"), "1234", 4, "npy-header", 0, "its 'shape' is no tuple"},
    {1, DICT("<f4", "False", "(1,1,1,1,1,1,1,1,1)"), "1234", 4, "npy-header", 0,
     "its 'shape' has more than 8 dimensions"},
    {1, DICT("<c8", "False", "(1,)"), "12345678", 8, "npy-header", 0,
     "its element type is not supported: only bool, int8 to uint64, float16, bfloat16 (V2), float32, float64 are"},
    {1, DICT("f4", "False", "(1,)"), "1234", 4, "npy-header", 0, "its 'descr' does not begin with a byte order"},
    {1, DICT("", "False", "(1,)"), "1234", 4, "npy-header", 0, "its 'descr' does not begin with a byte order"},
    {1, DICT("<f4", "0", "(1,)"), "1234", 4, "npy-header", 0, "its 'fortran_order' is neither True nor False"},
    {1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234", 4, "npy-header", 0,
     "it describes records with fields; arrays of numbers are supported"},
    {1, "{'descr': '<f4', 'shape': (1,)}", "1234", 4, "npy-header", 0,
     "one of the keys 'descr', 'fortran_order' and 'shape' is missing"},
    {1, "{'descr': '<f4', 'descr': '<f4'}", "", 0, "npy-header", 0, "a key stands in it twice"},
    {1, "{'discr': '<f4'}", "", 0, "npy-header", 0, "it holds a key other than 'descr', 'fortran_order' and 'shape'"},
    {1, "{'descr' '<f4'}", "", 0, "npy-header", 0, "a ':' is missing behind a key"},
    {1, "{'descr': '<f4' 'shape': ()}", "", 0, "npy-header", 0, "a ',' is missing in it"},
    {1, "{'descr': '<f4", "", 0, "npy-header", 0, "a string in it does not end or is too long"},
    {1, "{'descr': '<f4'", "", 0, "npy-header", 0, "a ',' is missing in it"},
    {1, "{descr: '<f4'}", "", 0, "npy-header", 0, "a string in quotes is expected"},
    {1, "", "", 0, "npy-header", 0, "it is no dictionary"},
    {1, DICT("<f4", "False", "()") " x", "1234", 4, "npy-header", 0, "something follows the dictionary"},
    {4, DICT("<f4", "False", "()"), "1234", 4, "npy-header", 0, "its format is 4.0; 1.0, 2.0 and 3.0 are known"},
};

static void check_case(xpu_arena *arena, const npy_case *c) {
    char shape[256] = "", dims[192];
    xpu_tensor tensor = {0};
    xpu_diags diags;
    xpu_diags_init(&diags);
    image file = make_npy(arena, c->version, c->header, c->data, c->length);
    if (xpu_npy_parse(arena, file.bytes, file.length, "f", &tensor, &diags) == XPU_OK) {
        xpu_dims_text(tensor.rank, tensor.dims, dims, sizeof dims);
        snprintf(shape, sizeof shape, "%s %s", xpu_dtype_name(tensor.dtype), dims);
        CU_ASSERT(c->values && memcmp(tensor.data, c->values, xpu_tensor_bytes(&tensor)) == 0);
        CU_ASSERT_EQUAL(diags.count, 0);
    } else if (diags.count == 1) {
        snprintf(shape, sizeof shape, "%s", diags.items[0].rule);
        CU_ASSERT(c->why && strcmp(diags.items[0].why, c->why) == 0);
        if (!c->why || strcmp(diags.items[0].why, c->why) != 0) fprintf(stderr, "why: %s\n", diags.items[0].why);
    }
    if (strcmp(shape, c->shape) != 0) fprintf(stderr, "%s: %s\n", c->header, shape);
    CU_ASSERT_STRING_EQUAL(shape, c->shape);
    xpu_diags_clear(&diags);
}

static xpu_status parse_table(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(arena, &cases[i]);
    return XPU_OK;
}

/* Runs `work`, which must end well. */
static void run(xpu_work work) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(work, &diags), XPU_OK);
    xpu_diags_print(&diags, stderr);
    xpu_diags_clear(&diags);
}

static void parsing(void) {
    run(parse_table);
}

static int same_tensor(const xpu_tensor *a, const xpu_tensor *b) {
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0 &&
           memcmp(a->data, b->data, xpu_tensor_bytes(a)) == 0;
}

static int same_tensors(const xpu_named_tensors *a, const xpu_named_tensors *b) {
    int same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++) {
        same = strcmp(a->items[i].name, b->items[i].name) == 0 && same_tensor(&a->items[i].tensor, &b->items[i].tensor);
    }
    return same;
}

/* One tensor of every type; ranks 0 to 8. */
static xpu_named_tensors make_tensors(xpu_arena *arena) {
    xpu_named_tensors tensors = {0};
    for (int type = XPU_DTYPE_NONE + 1; type < XPU_DTYPE_COUNT; type++) {
        xpu_tensor tensor = {.dtype = (xpu_dtype)type, .rank = type % 9};
        for (int i = 0; i < tensor.rank; i++) tensor.dims[i] = 1 + (i * 7 + type) % 3;
        size_t bytes = xpu_tensor_bytes(&tensor);
        unsigned char *data = xpu_alloc(arena, bytes);
        for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)(type == XPU_BOOL ? i % 2 : i * 31 + (size_t)type);
        tensor.data = data;
        xpu_named_tensor named = {xpu_printf(arena, type % 2 ? "t%d" : "caf\xc3\xa9/%d", type), tensor};
        XPU_PUSH(arena, &tensors, named);
    }
    return tensors;
}

static xpu_status write_and_read(xpu_arena *arena, xpu_diags *diags) {
    char *folder = xpu_temporary_folder(arena, diags);
    if (!folder) return XPU_EIO;
    char *paths[2] = {xpu_path_join(arena, folder, "a.npz"), xpu_path_join(arena, folder, "b.npz")};
    char *single = xpu_path_join(arena, folder, "c.npy");
    xpu_named_tensors tensors = make_tensors(arena), again;
    size_t length[2];
    char *bytes[2];
    for (int i = 0; i < 2; i++) {
        if (xpu_npz_write(arena, paths[i], tensors.items, tensors.count, diags) != XPU_OK) return XPU_EIO;
        bytes[i] = xpu_file_read_all(arena, paths[i], 1 << 20, &length[i], diags);
        if (!bytes[i]) return XPU_EIO;
    }
    CU_ASSERT(length[0] == length[1] && memcmp(bytes[0], bytes[1], length[0]) == 0);
    if (xpu_npz_read(arena, paths[0], &again, diags) != XPU_OK) return XPU_EIO;
    CU_ASSERT(same_tensors(&tensors, &again));
    for (uint32_t i = 0; i < tensors.count; i++) {
        xpu_tensor tensor;
        if (xpu_npy_write(arena, single, &tensors.items[i].tensor, diags) != XPU_OK) return XPU_EIO;
        if (xpu_npy_read(arena, single, &tensor, diags) != XPU_OK) return XPU_EIO;
        CU_ASSERT(same_tensor(&tensor, &tensors.items[i].tensor));
    }
    if (xpu_npz_read(arena, single, &again, diags) != XPU_OK) return XPU_EIO;
    CU_ASSERT(again.count == 1 && again.items[0].name[0] == '\0');
    return XPU_OK;
}

static void writing_and_reading(void) {
    run(write_and_read);
}

/* What NumPy 2 writes, byte for byte. */
static xpu_status compare_numpy(xpu_arena *arena, xpu_diags *diags) {
    static const char expected[] = "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }"
                                   "                                                          \n\0\0\x80\x3f\0\0\0\x40";
    char *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "a.npy");
    float values[] = {1, 2};
    xpu_tensor tensor = {XPU_F32, 2, {1, 2}, values};
    if (xpu_npy_write(arena, path, &tensor, diags) != XPU_OK) return XPU_EIO;
    size_t length;
    char *bytes = xpu_file_read_all(arena, path, 1 << 20, &length, diags);
    CU_ASSERT(bytes && length == sizeof expected - 1 && memcmp(bytes, expected, length) == 0);
    return XPU_OK;
}

static void as_numpy(void) {
    run(compare_numpy);
}

static void put(xpu_text *text, int bytes, uint32_t value) {
    for (int i = 0; i < bytes; i++, value >>= 8) {
        char byte = (char)(value & 0xff);
        xpu_text_add_bytes(text, &byte, 1);
    }
}

enum { DEFLATED_PART = 1 << 16, END_RECORD = 22 };

typedef struct {
    const char *name;
    image data;
    int deflate;
    uint32_t claimed; /* the size that the headers say; 0: the true one */
    uint32_t inside;  /* not 0: no data of its own, its header stands at this offset */
    uint32_t header;  /* filled in by make_zip */
    image packed;
} zip_part;

static image deflated(xpu_arena *arena, image data) {
    image packed = {xpu_alloc(arena, data.length + DEFLATED_PART), 0};
    z_stream stream = {.next_in = (Bytef *)data.bytes,
                       .avail_in = (uInt)data.length,
                       .next_out = (Bytef *)packed.bytes,
                       .avail_out = (uInt)data.length + DEFLATED_PART};
    CU_ASSERT_EQUAL(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
    CU_ASSERT_EQUAL(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.length = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

static void put_entry(xpu_text *text, const zip_part *part) {
    uint32_t crc = xpu_crc32(0, part->data.bytes, part->data.length);
    put(text, 2, 20);
    put(text, 2, 0);
    put(text, 2, part->deflate ? 8 : 0);
    put(text, 4, 0);
    put(text, 4, crc);
    put(text, 4, (uint32_t)part->packed.length);
    put(text, 4, part->claimed ? part->claimed : (uint32_t)part->data.length);
    put(text, 2, (uint32_t)strlen(part->name));
    put(text, 2, 0);
}

/* An archive made without the code under test. */
static image make_zip(xpu_arena *arena, zip_part *parts, size_t count) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (size_t i = 0; i < count; i++) {
        parts[i].header = (uint32_t)text.length;
        parts[i].packed = parts[i].deflate ? deflated(arena, parts[i].data) : parts[i].data;
        if (parts[i].inside) {
            parts[i].header = parts[i].inside;
            continue;
        }
        put(&text, 4, 0x04034b50);
        put_entry(&text, &parts[i]);
        xpu_text_add(&text, "%s", parts[i].name);
        xpu_text_add_bytes(&text, parts[i].packed.bytes, parts[i].packed.length);
    }
    size_t directory = text.length;
    for (size_t i = 0; i < count; i++) {
        put(&text, 4, 0x02014b50);
        put(&text, 2, 20);
        put_entry(&text, &parts[i]);
        for (int k = 0; k < 10; k++) put(&text, 1, 0);
        put(&text, 4, parts[i].header);
        xpu_text_add(&text, "%s", parts[i].name);
    }
    size_t end = text.length;
    put(&text, 4, 0x06054b50);
    put(&text, 4, 0);
    put(&text, 2, (uint32_t)count);
    put(&text, 2, (uint32_t)count);
    put(&text, 4, (uint32_t)(end - directory));
    put(&text, 4, (uint32_t)directory);
    put(&text, 2, 0);
    return (image){xpu_copy(arena, text.text, text.length), text.length};
}

static const char dict[] = DICT("<i2", "False", "(2, 3)");
static const char data[] = "\1\0\2\0\3\0\4\0\5\0\6\0";

/* A small archive with a stored and a deflated entry. */
static image make_sample(xpu_arena *arena) {
    image array = make_npy(arena, 1, dict, data, 12);
    zip_part parts[] = {{.name = "a.npy", .data = array}, {.name = "b/c.npy", .data = array, .deflate = 1}};
    return make_zip(arena, parts, 2);
}

typedef struct {
    zip_part parts[3];
    const char *why; /* NULL: it can be read */
} zip_case;

static xpu_status parse_archives(xpu_arena *arena, xpu_diags *unused) {
    (void)unused;
    image array = make_npy(arena, 1, dict, data, 12);
    image short_array = make_npy(arena, 1, dict, data, 10);
    image zeroes = make_npy(arena, 1, DICT("|i1", "False", "(1000000,)"), xpu_alloc(arena, 1000000), 1000000);
    image nothing = {"", 0};
    const zip_case archives[] = {
        {{{.name = "a.npy", .data = array}}, NULL},
        {{{.name = "a.npy", .data = array, .deflate = 1}, {.name = "b.npy", .data = zeroes, .deflate = 1}}, NULL},
        {{{.name = NULL}}, NULL},
        {{{.name = "a.npy", .data = array}, {.name = "a.npy", .data = array}}, "two entries have this name"},
        {{{.name = "a.txt", .data = array}}, "its name does not end with .npy"},
        {{{.name = ".npy", .data = array}}, "its name does not end with .npy"},
        {{{.name = "a.npy", .data = nothing}}, "the file ends within it"},
        {{{.name = "a.npy", .data = short_array}}, "[2,3] of int16 has 12 bytes, 10 follow the header"},
        {{{.name = "a.npy", .data = array, .deflate = 1, .claimed = 4000000000u}},
         "its size is larger than its data can yield"},
        {{{.name = "a.npy", .data = array, .claimed = 4}}, "it is stored, but its two sizes differ"},
        {{{.name = "a.npy", .data = short_array, .deflate = 1, .claimed = (uint32_t)array.length}},
         "its data ends before its size"},
        {{{.name = "a.npy",
           .data = make_npy(arena, 1, dict, data, 13),
           .deflate = 1,
           .claimed = (uint32_t)array.length}},
         "its data goes on after its size"},
    };
    for (size_t i = 0; i < sizeof archives / sizeof *archives; i++) {
        zip_part parts[3];
        size_t count = 0;
        memcpy(parts, archives[i].parts, sizeof parts);
        while (count < 3 && parts[count].name) count++;
        image file = make_zip(arena, parts, count);
        xpu_named_tensors tensors;
        xpu_diags diags;
        xpu_diags_init(&diags);
        xpu_status status = xpu_npz_parse(arena, file.bytes, file.length, "f", &tensors, &diags);
        const char *why = diags.count ? diags.items[0].why : "none";
        int right = archives[i].why ? status == XPU_EIO && diags.count == 1 && strcmp(why, archives[i].why) == 0
                                    : status == XPU_OK && diags.count == 0 && tensors.count == count;
        if (!right) fprintf(stderr, "archive %zu: %d, %zu, %s\n", i, (int)status, diags.count, why);
        CU_ASSERT(right);
        xpu_diags_clear(&diags);
    }
    return XPU_OK;
}

static void archives(void) {
    run(parse_archives);
}

/* The one message of an archive that cannot be read. */
static void expect_why(xpu_arena *arena, image file, const char *why) {
    xpu_named_tensors tensors;
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_npz_parse(arena, file.bytes, file.length, "f", &tensors, &diags), XPU_EIO);
    CU_ASSERT(diags.count == 1 && strcmp(diags.items[0].why, why) == 0);
    if (diags.count && strcmp(diags.items[0].why, why) != 0) fprintf(stderr, "why: %s\n", diags.items[0].why);
    xpu_diags_clear(&diags);
}

/* Entries that share bytes would make large tensors of small files. */
static xpu_status share_data(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    image array = make_npy(arena, 1, dict, data, 12);
    zip_part parts[] = {{.name = "a.npy", .data = array}, {.name = "b.npy", .data = array}};
    image file = make_zip(arena, parts, 2);
    memset(file.bytes + file.length - END_RECORD - 9, 0, 4); /* b's header is now a's */
    expect_why(arena, file, "its header contradicts the central directory");

    /* The data of the outer entry is an archive's beginning: another entry lies within it. */
    image inner = make_zip(arena, parts, 1);
    zip_part nested[] = {{.name = "outer.npy", .data = inner},
                         {.name = "a.npy", .data = array, .inside = 30 + sizeof "outer.npy" - 1}};
    expect_why(arena, make_zip(arena, nested, 2), "entries share their data");
    return XPU_OK;
}

static xpu_status refuse_zip64(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    image file = make_sample(arena);
    char *bytes = xpu_alloc(arena, file.length + 20);
    size_t end = file.length - END_RECORD;
    memcpy(bytes, file.bytes, end);
    memcpy(bytes + end, "PK\6\7", 4);
    memcpy(bytes + end + 20, file.bytes + end, END_RECORD);
    expect_why(arena, (image){bytes, file.length + 20}, "it is a ZIP64 archive, which is not supported");
    return XPU_OK;
}

static void refused_archives(void) {
    run(share_data);
    run(refuse_zip64);
}

static xpu_status small_load(xpu_arena *arena, xpu_diags *diags) {
    char *folder = xpu_temporary_folder(arena, diags);
    if (!folder) return XPU_EIO;
    char *path = xpu_path_join(arena, folder, "a.npz");
    image file = make_sample(arena);
    xpu_named_tensors tensors, again;
    if (xpu_npz_parse(arena, file.bytes, file.length, "f", &tensors, diags) != XPU_OK) return XPU_EIO;
    if (xpu_npz_write(arena, path, tensors.items, tensors.count, diags) != XPU_OK) return XPU_EIO;
    if (xpu_npz_read(arena, path, &again, diags) != XPU_OK) return XPU_EIO;
    CU_ASSERT(same_tensors(&tensors, &again));
    return XPU_OK;
}

static void every_allocation_fails(void) {
    CU_ASSERT(xpu_fail_each_allocation(small_load, 1) > 50);
}

/* The outcome of a damaged image: an error of one message, or the very tensors of the undamaged one. */
static void read_damaged(xpu_arena *arena, const char *bytes, size_t length, const xpu_named_tensors *original) {
    xpu_arena *own = xpu_arena_new(xpu_arena_mem(arena), "case");
    char *copy = xpu_copy(own, bytes, length); /* ends where ASan sees an overrun */
    xpu_named_tensors tensors;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_status status = xpu_npz_parse(own, copy, length, "f", &tensors, &diags);
    CU_ASSERT_EQUAL(diags.count, status != XPU_OK);
    CU_ASSERT(status == XPU_EIO || (status == XPU_OK && (!original || same_tensors(&tensors, original))));
    xpu_diags_clear(&diags);
    xpu_arena_free(own);
}

static xpu_status damage_all(xpu_arena *arena, xpu_diags *diags) {
    image npz = make_sample(arena), npy = make_npy(arena, 1, DICT("<i2", "True", "(2, 3)"), data, 12);
    xpu_named_tensors original;
    if (xpu_npz_parse(arena, npz.bytes, npz.length, "f", &original, diags) != XPU_OK) return XPU_EIO;
    for (size_t length = 0; length < npz.length; length++) read_damaged(arena, npz.bytes, length, NULL);
    for (size_t length = 0; length < npy.length; length++) read_damaged(arena, npy.bytes, length, NULL);
    for (size_t bit = 0; bit < 8 * npz.length; bit++) {
        npz.bytes[bit / 8] = (char)(npz.bytes[bit / 8] ^ 1 << bit % 8);
        read_damaged(arena, npz.bytes, npz.length, &original);
        npz.bytes[bit / 8] = (char)(npz.bytes[bit / 8] ^ 1 << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * npy.length; bit++) {
        npy.bytes[bit / 8] = (char)(npy.bytes[bit / 8] ^ 1 << bit % 8);
        read_damaged(arena, npy.bytes, npy.length, NULL);
        npy.bytes[bit / 8] = (char)(npy.bytes[bit / 8] ^ 1 << bit % 8);
    }
    return XPU_OK;
}

static void every_bit(void) {
    run(damage_all);
}

static uint64_t random_state;

static uint32_t next_random(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

static xpu_status damage_at_random(xpu_arena *arena, xpu_diags *diags) {
    const char *seed = getenv("XPU_TEST_SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : 1;
    printf("seed %llu (XPU_TEST_SEED) ", (unsigned long long)random_state);
    (void)diags;
    image images[] = {make_sample(arena), make_npy(arena, 1, dict, data, 12)};
    for (int round = 0; round < 4000; round++) {
        const image *from = &images[round % 2];
        xpu_arena *own = xpu_arena_new(xpu_arena_mem(arena), "round");
        char *bytes = xpu_copy(own, from->bytes, from->length);
        for (uint32_t i = 1 + next_random() % 6; i > 0; i--) {
            static const char extremes[] = {0, 1, '\x7f', '\x80', '\xff'};
            uint32_t choice = next_random() % 6;
            bytes[next_random() % from->length] = choice < 5 ? extremes[choice] : (char)next_random();
        }
        read_damaged(own, bytes, from->length, NULL);
        xpu_arena_free(own);
    }
    return XPU_OK;
}

static void at_random(void) {
    run(damage_at_random);
}

XPU_TEST_MAIN("npy", {"parsing", parsing}, {"writing and reading", writing_and_reading}, {"as NumPy writes", as_numpy},
              {"every allocation fails", every_allocation_fails}, {"archives", archives},
              {"refused archives", refused_archives}, {"every bit and every length", every_bit},
              {"damaged at random", at_random})
