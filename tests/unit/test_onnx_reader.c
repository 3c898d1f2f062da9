/* The ONNX reader: tensors in all their encodings, external data, and bytes that are no model. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "core/passes/verify.h"
#include "core/ir/graph.h"
#include "frontend/onnx/skeleton.h"
#include "tests/unit/onnx_fixture.h"
#include "tests/unit/oom.h"

/* The first message; "" where there is none. */
static const char *message(fixture *f) {
    char text[4096] = "";
    if (f->diags.count) xpu_diag_text(&f->diags, 0, text, sizeof text);
    return xpu_strdup(f->arena, text);
}

static void import_bytes(fixture *f, const void *bytes, size_t length) {
    f->status = xpu_onnx_import_bytes(f->arena, bytes, length, "m.onnx", NULL, &f->graph, &f->diags);
}

/* y = k, the one weight of the model. */
static XpuOnnx__TensorProto *constant_model(fixture *f, xpu_dtype dtype, int64_t count) {
    void *zeros = xpu_alloc_array(f->arena, (size_t)count, xpu_dtype_bytes(dtype));
    xpu_onnx_initializer(&f->builder, "k", &(xpu_tensor){.dtype = dtype, .rank = 1, .dims = {count}, .data = zeros}, 0);
    xpu_onnx_node(&f->builder, "Identity", "n", "y", (const char *const[]){"k", NULL});
    xpu_onnx_output(&f->builder, "y", 0, NULL);
    XpuOnnx__TensorProto *tensor = f->builder.initializers.items[0];
    tensor->has_raw_data = 0;
    tensor->raw_data.len = 0;
    return tensor;
}

static xpu_value constant_of(fixture *f) {
    for (uint32_t i = 1; f->graph && i < f->graph->values.count; i++) {
        const xpu_value_info *info = &f->graph->values.items[i];
        if (info->kind == XPU_VALUE_CONST && strcmp(info->name, "k") == 0) return (xpu_value){i};
    }
    return (xpu_value){0};
}

/* ---- encodings ---- */

/* Values -3, -2, ... of every type in the field that ONNX gives it: short ones stay in the skeleton, long ones are read
 * from the model's bytes, and those over 64 KiB of a file stay there. */
static void fill_typed(fixture *f, XpuOnnx__TensorProto *tensor, xpu_dtype dtype, int64_t count, int raw) {
    size_t n = (size_t)count, size = xpu_dtype_bytes(dtype);
    uint8_t *bytes = xpu_alloc_array(f->arena, n, size);
    tensor->int32_data = XPU_NEW_ARRAY(f->arena, int32_t, n);
    tensor->int64_data = XPU_NEW_ARRAY(f->arena, int64_t, n);
    tensor->uint64_data = XPU_NEW_ARRAY(f->arena, uint64_t, n);
    for (size_t i = 0; i < n; i++) {
        int64_t value = (int64_t)(i % 100) - (dtype == XPU_I8 || dtype == XPU_I32 || dtype == XPU_I64 ? 3 : 0);
        if (dtype == XPU_BOOL) value &= 1;
        if (dtype == XPU_F32) ((float *)bytes)[i] = (float)value;
        if (dtype == XPU_F64) ((double *)bytes)[i] = (double)value;
        if (dtype == XPU_F32 || dtype == XPU_F64) continue;
        for (size_t k = 0; k < size; k++) bytes[i * size + k] = (uint8_t)((uint64_t)value >> (8 * k));
        tensor->int32_data[i] = (int32_t)value;
        tensor->int64_data[i] = value;
        tensor->uint64_data[i] = (uint64_t)value;
    }
    tensor->raw_data.data = bytes;
    tensor->float_data = (float *)bytes;
    tensor->double_data = (double *)bytes;
    tensor->has_raw_data = raw;
    if (raw) {
        tensor->raw_data.len = n * size;
    } else {
        switch (dtype) {
        case XPU_F32: tensor->n_float_data = n; break;
        case XPU_F64: tensor->n_double_data = n; break;
        case XPU_I64: tensor->n_int64_data = n; break;
        case XPU_U32:
        case XPU_U64: tensor->n_uint64_data = n; break;
        default: tensor->n_int32_data = n;
        }
    }
}

static void check_constant(fixture *f, const XpuOnnx__TensorProto *tensor, xpu_dtype dtype, int64_t count) {
    xpu_value value = constant_of(f);
    xpu_tensor found;
    CU_ASSERT_EQUAL(f->status, XPU_OK);
    if (!value.id || xpu_const_tensor(f->graph, value, f->arena, &found, &f->diags) != XPU_OK) {
        fprintf(stderr, "\n%s[%lld]: %s\n", xpu_dtype_name(dtype), (long long)count, message(f));
        CU_FAIL("no constant");
        return;
    }
    CU_ASSERT_EQUAL(found.dtype, dtype);
    CU_ASSERT_EQUAL(found.dims[0], count);
    CU_ASSERT_EQUAL(memcmp(found.data, tensor->raw_data.data, xpu_tensor_bytes(&found)), 0);
}

static void test_encodings(void) {
    static const struct {
        xpu_dtype dtype;
        int code;
    } types[] = {{XPU_F32, 1},  {XPU_U8, 2},   {XPU_I8, 3},   {XPU_U16, 4},  {XPU_I16, 5},  {XPU_I32, 6},  {XPU_I64, 7},
                 {XPU_BOOL, 9}, {XPU_F16, 10}, {XPU_F64, 11}, {XPU_U32, 12}, {XPU_U64, 13}, {XPU_BF16, 16}};
    static const int64_t counts[] = {0, 3, 300, 70001};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (int raw = 0; raw < 2; raw++) {
                fixture f;
                begin(&f, 13);
                XpuOnnx__TensorProto *tensor = constant_model(&f, types[t].dtype, counts[c]);
                tensor->data_type = types[t].code;
                fill_typed(&f, tensor, types[t].dtype, counts[c], raw);
                size_t length = 0;
                void *bytes = xpu_onnx_pack(&f.builder, "test", &length);
                import_bytes(&f, bytes, length);
                check_constant(&f, tensor, types[t].dtype, counts[c]);
                const char *path = xpu_path_join(f.arena, xpu_temporary_folder(f.arena, &f.diags), "m.onnx");
                xpu_file_write(f.arena, path, bytes, length, &f.diags);
                f.status = xpu_onnx_import(f.arena, path, NULL, &f.graph, &f.diags);
                check_constant(&f, tensor, types[t].dtype, counts[c]);
                int plain = raw || types[t].dtype == XPU_F32 || types[t].dtype == XPU_F64;
                int lazy = plain && counts[c] * (int64_t)xpu_dtype_bytes(types[t].dtype) > 64 << 10;
                xpu_value value = constant_of(&f);
                if (value.id) {
                    CU_ASSERT_EQUAL(xpu_value_at(f.graph, value)->constant->kind,
                                    lazy ? XPU_CONST_FILE : XPU_CONST_BYTES);
                }
                end(&f);
            }
        }
    }
}

/* A file that is cut after it was read: its constants that stayed there are an error when they are needed. */
static void test_cut_later(void) {
    fixture f;
    begin(&f, 13);
    fill_typed(&f, constant_model(&f, XPU_F32, 70001), XPU_F32, 70001, 1);
    size_t length = 0;
    void *bytes = xpu_onnx_pack(&f.builder, "test", &length);
    const char *path = xpu_path_join(f.arena, xpu_temporary_folder(f.arena, &f.diags), "m.onnx");
    xpu_file_write(f.arena, path, bytes, length, &f.diags);
    f.status = xpu_onnx_import(f.arena, path, NULL, &f.graph, &f.diags);
    CU_ASSERT_EQUAL_FATAL(f.status, XPU_OK);
    CU_ASSERT_EQUAL(truncate(path, 1000), 0);
    xpu_tensor tensor;
    CU_ASSERT_EQUAL(xpu_const_tensor(f.graph, constant_of(&f), f.arena, &tensor, &f.diags), XPU_EIO);
    CU_ASSERT_EQUAL_FATAL(f.diags.count, 1);
    expect(__func__, f.diags.items[0].rule, "io-short");
    end(&f);
}

/* Each spoils a tensor of 3 float32; the message follows "initializer 'k': ". */
static void no_type(XpuOnnx__TensorProto *tensor) {
    tensor->data_type = 0;
}
static void strings(XpuOnnx__TensorProto *tensor) {
    tensor->data_type = 8;
}
static void too_short(XpuOnnx__TensorProto *tensor) {
    tensor->has_raw_data = 1;
    tensor->raw_data.data = (uint8_t *)"12345678";
    tensor->raw_data.len = 8;
}
static void no_data(XpuOnnx__TensorProto *tensor) {
    (void)tensor;
}
static void negative_dim(XpuOnnx__TensorProto *tensor) {
    tensor->dims[0] = -3;
}
static void huge(XpuOnnx__TensorProto *tensor) {
    static int64_t dims[] = {1 << 20, 1 << 20, 1 << 20, 1 << 20};
    tensor->dims = dims;
    tensor->n_dims = 4;
}
static void many_dims(XpuOnnx__TensorProto *tensor) {
    static int64_t dims[9] = {1, 1, 1, 1, 1, 1, 1, 1, 3};
    tensor->dims = dims;
    tensor->n_dims = 9;
}
static void out_of_range(XpuOnnx__TensorProto *tensor) {
    static int32_t data[] = {1, 2, 300};
    tensor->data_type = 2;
    tensor->int32_data = data;
    tensor->n_int32_data = 3;
}
static void external_bytes(XpuOnnx__TensorProto *tensor) {
    static XpuOnnx__StringStringEntryProto entry = XPU_ONNX__STRING_STRING_ENTRY_PROTO__INIT, *entries[] = {&entry};
    entry.key = (char *)"location";
    entry.value = (char *)"w.bin";
    tensor->has_data_location = 1;
    tensor->data_location = 1;
    tensor->external_data = entries;
    tensor->n_external_data = 1;
}

static void test_bad_tensors(void) {
    static const struct {
        void (*spoil)(XpuOnnx__TensorProto *tensor);
        const char *rule, *message;
    } rows[] = {
        {no_type, "onnx-tensor",
         "the tensor's element type is not supported\n  why: it is undefined (0)\n"
         "  hint: export the model with float32 weights"},
        {strings, "onnx-tensor",
         "the tensor's element type is not supported\n  why: it is string (8)\n"
         "  hint: export the model with float32 weights"},
        {too_short, "onnx-tensor",
         "the tensor is invalid\n  why: it holds 8 bytes; float32[3] needs 12\n"
         "  hint: export the model again, or check it with onnx.checker"},
        {no_data, "onnx-tensor",
         "the tensor is invalid\n  why: it holds 0 elements; float32[3] needs 3\n"
         "  hint: export the model again, or check it with onnx.checker"},
        {negative_dim, "onnx-tensor",
         "the tensor is invalid\n  why: dim 0 is -3\n  hint: export the model again, or check it with onnx.checker"},
        {huge, "onnx-tensor",
         "the tensor is invalid\n  why: dim 1 is 1048576\n"
         "  hint: export the model again, or check it with onnx.checker"},
        {many_dims, "onnx-tensor",
         "the tensor is invalid\n  why: it has 9 dims; at most 8 are supported\n"
         "  hint: export the model again, or check it with onnx.checker"},
        {out_of_range, "onnx-tensor",
         "the tensor is invalid\n  why: element 2 is 300, which uint8 cannot hold\n"
         "  hint: export the model again, or check it with onnx.checker"},
        {external_bytes, "onnx-external-data",
         "the tensor's external data cannot be used\n"
         "  why: it is in file 'w.bin', and a model in memory has no folder\n  hint: give the model as a file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, 13);
        rows[i].spoil(constant_model(&f, XPU_F32, 3));
        size_t length = 0;
        void *bytes = xpu_onnx_pack(&f.builder, "test", &length);
        import_bytes(&f, bytes, length);
        CU_ASSERT_EQUAL(f.status, XPU_EMODEL);
        CU_ASSERT_EQUAL(f.diags.count, 1);
        expect(__func__, message(&f),
               xpu_printf(f.arena, "m.onnx: error [%s] initializer 'k': %s", rows[i].rule, rows[i].message));
        end(&f);
    }
}

/* ---- external data ---- */

typedef struct {
    const char *location, *offset, *length;
    const char *why; /* NULL: it works */
    const char *rule;
} external_case;

static void set_external(fixture *f, XpuOnnx__TensorProto *tensor, const external_case *row) {
    const char *const pairs[][2] = {{"location", row->location}, {"offset", row->offset}, {"length", row->length}};
    tensor->external_data = XPU_NEW_ARRAY(f->arena, XpuOnnx__StringStringEntryProto *, 3);
    for (size_t i = 0; i < 3; i++) {
        if (!pairs[i][1]) continue;
        XpuOnnx__StringStringEntryProto *entry = XPU_NEW(f->arena, XpuOnnx__StringStringEntryProto);
        xpu_onnx__string_string_entry_proto__init(entry);
        entry->key = xpu_strdup(f->arena, pairs[i][0]);
        entry->value = xpu_strdup(f->arena, pairs[i][1]);
        tensor->external_data[tensor->n_external_data++] = entry;
    }
    tensor->has_data_location = 1;
    tensor->data_location = 1;
}

static void test_external_data(void) {
    static const external_case rows[] = {
        {"w.bin", NULL, NULL, NULL, NULL},
        {"sub/w.bin", "4", "12", NULL, NULL},
        {"./inside", "0", NULL, NULL, NULL},
        {"../w.bin", NULL, NULL, "its location '../w.bin' is not below the model's folder", "onnx-external-data"},
        {"sub/../../w.bin", NULL, NULL, "its location 'sub/../../w.bin' is not below the model's folder",
         "onnx-external-data"},
        {"/etc/hostname", NULL, NULL, "its location '/etc/hostname' is not below the model's folder",
         "onnx-external-data"},
        {"outside", NULL, NULL, "its location 'outside' is a link that leads out of the model's folder",
         "onnx-external-data"},
        {"w.bin", "8", NULL, "bytes 8 to 20 of file 'w.bin' are needed, which has 16", "onnx-external-data"},
        {"w.bin", "18446744073709551615", NULL,
         "bytes 18446744073709551615 to 11 of file 'w.bin' are needed, which has 16", "onnx-external-data"},
        {"w.bin", "-4", NULL, "'-4' is no offset", "onnx-external-data"},
        {"w.bin", "18446744073709551616", NULL, "'18446744073709551616' is no offset", "onnx-external-data"},
        {"w.bin", NULL, "16", "it holds 16 bytes; float32[3] needs 12", "onnx-tensor"},
        {NULL, NULL, NULL, "it names no location", "onnx-external-data"},
        {"none", NULL, NULL, "file 'none' in the model's folder: No such file or directory (errno 2)",
         "onnx-external-data"},
        {"sub", NULL, NULL, "file 'sub' in the model's folder: it is a folder", "onnx-external-data"},
    };
    static const float weights[] = {1, 2, 3, 4};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, 13);
        const char *outer = xpu_temporary_folder(f.arena, &f.diags);
        const char *folder = xpu_path_join(f.arena, outer, "model"), *sub = xpu_path_join(f.arena, folder, "sub");
        xpu_make_folder(sub, &f.diags);
        xpu_file_write(f.arena, xpu_path_join(f.arena, outer, "w.bin"), weights, sizeof weights, &f.diags);
        xpu_file_write(f.arena, xpu_path_join(f.arena, folder, "w.bin"), weights, sizeof weights, &f.diags);
        xpu_file_write(f.arena, xpu_path_join(f.arena, sub, "w.bin"), weights, sizeof weights, &f.diags);
        CU_ASSERT_EQUAL(symlink("../w.bin", xpu_path_join(f.arena, folder, "outside")), 0);
        CU_ASSERT_EQUAL(symlink("sub/w.bin", xpu_path_join(f.arena, folder, "inside")), 0);
        XpuOnnx__TensorProto *tensor = constant_model(&f, XPU_F32, 3);
        set_external(&f, tensor, &rows[i]);
        size_t length = 0;
        void *bytes = xpu_onnx_pack(&f.builder, "test", &length);
        const char *path = xpu_path_join(f.arena, folder, "m.onnx");
        xpu_file_write(f.arena, path, bytes, length, &f.diags);
        f.status = xpu_onnx_import(f.arena, path, NULL, &f.graph, &f.diags);
        if (rows[i].why) {
            CU_ASSERT_EQUAL_FATAL(f.diags.count, 1);
            expect(__func__, f.diags.items[0].why, rows[i].why);
            expect(__func__, f.diags.items[0].rule, rows[i].rule);
            CU_ASSERT_STRING_EQUAL(f.diags.items[0].file, path);
            CU_ASSERT(f.diags.items[0].where && strstr(f.diags.items[0].where, "initializer '"));
            CU_ASSERT_PTR_NULL(f.graph);
        } else {
            tensor->raw_data.data = (uint8_t *)&weights[rows[i].offset && rows[i].offset[0] == '4'];
            check_constant(&f, tensor, XPU_F32, 3);
        }
        end(&f);
    }
}

/* ---- bytes ---- */

static void test_wire(void) {
#define BYTES(text) text, sizeof text - 1
    static const struct {
        const char *bytes;
        size_t length;
        const char *where, *why;
    } rows[] = {
        {BYTES(""), NULL, "field ModelProto.graph is missing"},
        {BYTES("\x08"), "byte 1 (ModelProto.ir_version)", "a number is cut off"},
        {BYTES("\x08\x80"), "byte 1 (ModelProto.ir_version)", "a number is cut off"},
        {BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), "byte 1 (ModelProto.ir_version)",
         "a number has more than 64 bits"},
        {BYTES("\x00\x01"), "byte 0 (ModelProto)", "a field number is invalid"},
        {BYTES("\x3b"), "byte 0 (ModelProto.graph)", "wire type 3 (a group)"},
        {BYTES("\x3f"), "byte 0 (ModelProto.graph)", "wire type 7 (undefined)"},
        {BYTES("\x38\x01"), "byte 0 (ModelProto.graph)", "wire type 0, not 2"},
        {BYTES("\x3a\x05\x0a"), "byte 0 (ModelProto.graph)", "a field of 5 bytes where 1 are left"},
        {BYTES("\x3a\x03\x0a\x05\x00"), "byte 2 (GraphProto.node)", "a field of 5 bytes where 1 are left"},
        {BYTES("\x3a\x00\x3a\x00"), "byte 2 (ModelProto.graph)", "the field occurs twice"},
        {BYTES("\x12\x03\x61\x00\x62"), "byte 2 (ModelProto.producer_name)", "a string holds a NUL byte"},
        {BYTES("\x3a\x06\x2a\x04\x22\x02zz"), "byte 4 (TensorProto.float_data)", "a list ends inside an element"},
        {BYTES("\x3a\x05\x2a\x03\x3a\x01\x80"), "byte 6 (TensorProto.int64_data)", "a number is cut off"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, 13);
        import_bytes(&f, rows[i].bytes, rows[i].length);
        CU_ASSERT_EQUAL(f.status, XPU_EMODEL);
        CU_ASSERT_EQUAL_FATAL(f.diags.count, 1);
        expect(__func__, f.diags.items[0].why, rows[i].why);
        if (rows[i].where) expect(__func__, f.diags.items[0].where, rows[i].where);
        end(&f);
    }
#undef BYTES
}

/* A message inside a message, `depth` of them: graphs in attributes of nodes. */
static size_t nest(uint8_t *out, int depth) {
    static const uint8_t tags[] = {0x3a, 0x0a, 0x2a, 0x32}; /* model.graph, graph.node, node.attribute, attribute.g */
    size_t total = 0;
    uint8_t *head = out;
    for (int level = 0; level < depth; level++) {
        uint32_t inner = (uint32_t)(depth - level - 1) * 6;
        *head++ = level == 0 ? tags[0] : tags[1 + (level - 1) % 3];
        for (int i = 0; i < 5; i++) *head++ = (uint8_t)((inner >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
        total += 6;
    }
    return total;
}

static void test_limits(void) {
    static uint8_t bytes[6 * 120000];
    fixture f;
    begin(&f, 13);
    import_bytes(&f, bytes, nest(bytes, 120000));
    expect(__func__, message(&f),
           "m.onnx: error [onnx-limit] byte 378 (AttributeProto.g): the model is nested too deeply\n"
           "  why: more than 64 messages stand inside each other\n"
           "  hint: models of this size are not supported");
    end(&f);

    begin(&f, 13);
    memset(bytes, 0, sizeof bytes);
    for (size_t i = 0; i < 1000; i++) bytes[2 * i] = 0x78; /* field 15, a number that nothing reads */
    xpu_import_options options = {.max_fields = 999};
    f.status = xpu_onnx_import_bytes(f.arena, bytes, 2000, "m.onnx", &options, &f.graph, &f.diags);
    expect(__func__, message(&f),
           "m.onnx: error [onnx-limit] byte 1998 (ModelProto): the model is too large\n"
           "  why: it has more than 999 fields\n  hint: models of this size are not supported");
    end(&f);

    begin(&f, 13);
    options = (xpu_import_options){.max_skeleton_bytes = 1000};
    memset(bytes, 'a', 2000);
    bytes[0] = 0x12, bytes[1] = 0xd0, bytes[2] = 0x0f; /* producer_name of 2000 bytes */
    f.status = xpu_onnx_import_bytes(f.arena, bytes, 2003, "m.onnx", &options, &f.graph, &f.diags);
    expect(__func__, message(&f),
           "m.onnx: error [onnx-limit] byte 0 (ModelProto.producer_name): the model is too large\n"
           "  why: without its tensors it has more than 1000 bytes\n"
           "  hint: models of this size are not supported");
    end(&f);

    begin(&f, 13); /* ir_version 7, an empty graph, and opset imports that hold nothing */
    memcpy(bytes, (const uint8_t[]){0x08, 7, 0x3a, 0}, 4);
    for (size_t i = 0; i < 300; i++) bytes[4 + 2 * i] = 0x42, bytes[5 + 2 * i] = 0;
    import_bytes(&f, bytes, 604);
    expect(__func__, message(&f),
           "m.onnx: error [onnx-limit] the model imports too many opsets\n"
           "  why: it imports 300; at most 256 are supported\n"
           "  hint: check that this is the file that was meant");
    end(&f);
}

/* The skeleton has no long payloads, and none of the file's own making. */
static void test_skeleton(void) {
    fixture f;
    begin(&f, 13);
    XpuOnnx__TensorProto *tensor = constant_model(&f, XPU_F32, 100);
    fill_typed(&f, tensor, XPU_F32, 100, 1);
    XpuOnnx__TensorProto__Payload own = XPU_ONNX__TENSOR_PROTO__PAYLOAD__INIT, *payloads[] = {&own};
    own.has_field = own.has_offset = own.has_length = 1;
    own.field = 9;
    own.length = 400;
    tensor->payload = payloads;
    tensor->n_payload = 1;
    tensor->doc_string = (char *)"a long story";
    size_t length = 0;
    uint8_t *bytes = xpu_onnx_pack(&f.builder, "test", &length);
    xpu_onnx_source source = {.name = "m.onnx", .bytes = bytes, .size = length};
    XpuOnnx__ModelProto *model = xpu_onnx_decode(f.arena, &source, &(xpu_import_options){0}, &f.diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(model);
    const XpuOnnx__TensorProto *read = model->graph->initializer[0];
    CU_ASSERT_EQUAL(read->has_raw_data, 0);
    CU_ASSERT_PTR_NULL(read->doc_string);
    CU_ASSERT_EQUAL_FATAL(read->n_payload, 1);
    CU_ASSERT_EQUAL(read->payload[0]->field, 9);
    CU_ASSERT_EQUAL(read->payload[0]->length, 400);
    CU_ASSERT_EQUAL(memcmp(bytes + read->payload[0]->offset, tensor->raw_data.data, 400), 0);
    import_bytes(&f, bytes, length);
    check_constant(&f, tensor, XPU_F32, 100);
    end(&f);
}

/* ---- hostile ---- */

/* A model with a bit of everything, short. */
static void *small_model(xpu_arena *arena, size_t *length) {
    static float weights[2 * 2 * 3 * 3], matrix[80 * 3];
    xpu_onnx_builder builder;
    xpu_onnx_begin(&builder, arena, 13);
    xpu_onnx_input(&builder, "x", 4, (const int64_t[]){-1, 2, 5, 4});
    xpu_onnx_initializer(&builder, "w",
                         &(xpu_tensor){.dtype = XPU_F32, .rank = 4, .dims = {2, 2, 3, 3}, .data = weights}, 0);
    xpu_onnx_initializer(&builder, "m", &(xpu_tensor){.dtype = XPU_F32, .rank = 2, .dims = {3, 40}, .data = matrix}, 1);
    int64_t shape[] = {0, -1};
    xpu_onnx_initializer(&builder, "s", &(xpu_tensor){.dtype = XPU_I64, .rank = 1, .dims = {2}, .data = shape}, 1);
    XpuOnnx__NodeProto *conv = xpu_onnx_node(&builder, "Conv", "conv", "a", (const char *const[]){"x", "w", NULL});
    xpu_onnx_string(&builder, conv, "auto_pad", "SAME_UPPER");
    XpuOnnx__NodeProto *pool = xpu_onnx_node(&builder, "MaxPool", NULL, "b", (const char *const[]){"a", NULL});
    xpu_onnx_ints(&builder, pool, "kernel_shape", (const int64_t[]){3, 3}, 2);
    xpu_onnx_ints(&builder, pool, "pads", (const int64_t[]){1, 1, 1, 1}, 4);
    xpu_onnx_node(&builder, "Reshape", NULL, "c", (const char *const[]){"b", "s", NULL});
    XpuOnnx__NodeProto *gemm = xpu_onnx_node(&builder, "Gemm", NULL, "d", (const char *const[]){"c", "m", NULL});
    xpu_onnx_int(&builder, gemm, "transB", 1);
    xpu_onnx_float(&builder, gemm, "alpha", 0.5f);
    XpuOnnx__NodeProto *softmax = xpu_onnx_node(&builder, "Softmax", NULL, "y", (const char *const[]){"d", NULL});
    xpu_onnx_int(&builder, softmax, "axis", -1);
    xpu_onnx_output(&builder, "y", 2, (const int64_t[]){-1, 3});
    return xpu_onnx_pack(&builder, "small", length);
}

/* Importing ends in success, or in a documented status with a message. */
static int survives(const uint8_t *bytes, size_t length) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem mem;
    xpu_mem_init(&mem);
    xpu_graph *graph = NULL;
    xpu_status status;
    if (setjmp(mem.out_of_memory)) {
        status = xpu_error_oom(&diags);
    } else {
        status = xpu_onnx_import_bytes(xpu_arena_new(&mem, "test"), bytes, length, "m.onnx", NULL, &graph, &diags);
        if (graph && xpu_verify(graph, "import", &diags) != XPU_OK) status = XPU_EBUG;
    }
    int ok = status == XPU_OK ? graph != NULL : status == XPU_EMODEL && diags.errors > 0;
    if (!ok) xpu_diags_print(&diags, stderr);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
    return ok;
}

static void test_truncated(void) {
    fixture f;
    begin(&f, 13);
    size_t length = 0;
    uint8_t *bytes = small_model(f.arena, &length);
    import_bytes(&f, bytes, length);
    CU_ASSERT_EQUAL_FATAL(f.status, XPU_OK);
    const char *path = xpu_path_join(f.arena, xpu_temporary_folder(f.arena, &f.diags), "m.onnx");
    for (size_t cut = 0; cut < length; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1); /* exactly so long that a read behind the end is noticed */
        memcpy(copy, bytes, cut);
        CU_ASSERT(survives(copy, cut));
        free(copy);
        if (cut % 32) continue;
        xpu_diags_clear(&f.diags);
        xpu_file_write(f.arena, path, bytes, cut, &f.diags);
        CU_ASSERT_EQUAL(xpu_onnx_import(f.arena, path, NULL, &f.graph, &f.diags), XPU_EMODEL);
        CU_ASSERT_EQUAL(f.diags.errors, 1);
    }
    end(&f);
}

static void test_flipped(void) {
    fixture f;
    begin(&f, 13);
    size_t length = 0, failures = 0;
    uint8_t *bytes = small_model(f.arena, &length);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        failures += !survives(bytes, length);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    CU_ASSERT_EQUAL(failures, 0);
    uint64_t seed = 20240229, state = seed;
    printf("(seed %llu) ", (unsigned long long)seed);
    uint8_t *copy = xpu_alloc(f.arena, length);
    for (int round = 0; round < 3000; round++) {
        memcpy(copy, bytes, length);
        for (int change = 0; change < 1 + round % 5; change++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            copy[(state >> 33) % length] = (uint8_t)(state >> 25);
        }
        failures += !survives(copy, length);
    }
    CU_ASSERT_EQUAL(failures, 0);
    end(&f);
}

static xpu_status import_small(xpu_arena *arena, xpu_diags *diags) {
    size_t length = 0;
    void *bytes = small_model(arena, &length);
    const char *path = xpu_path_join(arena, xpu_temporary_folder(arena, diags), "m.onnx");
    xpu_status status = xpu_file_write(arena, path, bytes, length, diags);
    xpu_graph *graph = NULL;
    if (status != XPU_OK) return status;
    size_t before = diags->count;
    status = xpu_onnx_import(arena, path, NULL, &graph, diags);
    if (status == XPU_OK && before == 0) xpu_diags_clear(diags); /* the note about N */
    return status;
}

static void test_out_of_memory(void) {
    CU_ASSERT(xpu_fail_each_allocation(import_small, 1) > 20);
}

XPU_TEST_MAIN("onnx reader", {"encodings", test_encodings}, {"cut later", test_cut_later},
              {"bad tensors", test_bad_tensors}, {"external data", test_external_data}, {"wire format", test_wire},
              {"limits", test_limits}, {"skeleton", test_skeleton}, {"truncated", test_truncated},
              {"flipped bits", test_flipped}, {"out of memory", test_out_of_memory})
