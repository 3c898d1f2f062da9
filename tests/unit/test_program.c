/* The .xpu file: what is written is what is read; binutils read it. */
#include "core/ops/graph_text.h"
#include "core/passes/verify.h"
#include "tests/unit/program_fixture.h"

/* ---- round trip ---- */

static void check_header(const xpu_program *a, const xpu_program *b) {
    CU_ASSERT_STRING_EQUAL(a->target, b->target);
    CU_ASSERT_STRING_EQUAL(a->chip_json, b->chip_json);
    CU_ASSERT_EQUAL(a->abi_hash, b->abi_hash);
    CU_ASSERT(xpu_hash_equal(&a->source_hash, &b->source_hash));
    CU_ASSERT_STRING_EQUAL(a->precision, b->precision);
    CU_ASSERT_STRING_EQUAL(a->compiler, b->compiler);
    CU_ASSERT_STRING_EQUAL(a->clang, b->clang);
    CU_ASSERT_STRING_EQUAL(a->source, b->source);
    CU_ASSERT_EQUAL(a->source_nodes, b->source_nodes);
    CU_ASSERT_EQUAL(a->weights_bytes, b->weights_bytes);
    CU_ASSERT_EQUAL(b->entry, BASE);
    CU_ASSERT_EQUAL(b->plan_address, BASE + 16);
    CU_ASSERT_EQUAL(b->control_address, BASE + 48);
    CU_ASSERT_EQUAL(b->weights_address, WEIGHTS_AT);
    CU_ASSERT_EQUAL(b->image_end, WEIGHTS_AT + WEIGHTS_SIZE);
}

static int same_dim(const xpu_program *a, xpu_dim da, const xpu_program *b, xpu_dim db) {
    int64_t n = 5;
    if (!da.id || !db.id) return da.id == db.id;
    return xpu_dim_eval(&a->graph->dims, da, &n) == xpu_dim_eval(&b->graph->dims, db, &n);
}

static void check_lists(const xpu_program *a, const xpu_program *b) {
    CU_ASSERT_EQUAL_FATAL(a->buffers.count, b->buffers.count);
    for (uint32_t i = 0; i < a->buffers.count; i++) {
        const xpu_program_buffer *x = &a->buffers.items[i], *y = &b->buffers.items[i];
        CU_ASSERT_STRING_EQUAL(x->name, y->name);
        CU_ASSERT(x->kind == y->kind && x->alignment == y->alignment && x->first_layer == y->first_layer);
        CU_ASSERT(x->last_layer == y->last_layer && x->level_count == y->level_count && x->alias_of == y->alias_of);
        CU_ASSERT(x->placed == y->placed && x->level == y->level && x->offset == y->offset);
        CU_ASSERT_EQUAL(memcmp(x->levels, y->levels, sizeof x->levels), 0);
        CU_ASSERT(same_dim(a, x->bytes, b, y->bytes) && x->copy_of == y->copy_of);
    }
    CU_ASSERT_EQUAL_FATAL(a->in_place.count, b->in_place.count);
    CU_ASSERT_EQUAL(a->in_place.items[0].buffer, b->in_place.items[0].buffer);
    CU_ASSERT_EQUAL(a->in_place.items[0].other, b->in_place.items[0].other);
    CU_ASSERT_EQUAL_FATAL(a->plan.count, b->plan.count);
    for (uint32_t i = 0; i < a->plan.count; i++) {
        const xpu_plan_word *x = &a->plan.items[i], *y = &b->plan.items[i];
        CU_ASSERT(x->kind == y->kind && x->bits == y->bits && x->buffer == y->buffer && same_dim(a, x->dim, b, y->dim));
    }
    CU_ASSERT_EQUAL_FATAL(a->steps.count, b->steps.count);
    for (uint32_t i = 0; i < a->steps.count; i++) {
        const xpu_program_step *x = &a->steps.items[i], *y = &b->steps.items[i];
        CU_ASSERT(x->kind == y->kind && x->first == y->first && x->last == y->last && x->middle == y->middle);
        CU_ASSERT(x->end == y->end && x->word == y->word && x->symbol == y->symbol);
    }
    CU_ASSERT_EQUAL_FATAL(a->layers.count, b->layers.count);
    for (uint32_t i = 0; i < a->layers.count; i++) {
        const xpu_program_layer *x = &a->layers.items[i], *y = &b->layers.items[i];
        CU_ASSERT_STRING_EQUAL(x->name, y->name);
        CU_ASSERT_EQUAL(x->unit, y->unit);
        CU_ASSERT_STRING_EQUAL(x->kernel, y->kernel);
        CU_ASSERT_EQUAL(memcmp(&x->model, &y->model, sizeof x->model), 0);
        CU_ASSERT(!x->reason == !y->reason && x->output_count == y->output_count && same_dim(a, x->macs, b, y->macs));
        for (uint32_t k = 0; k < x->output_count; k++) {
            CU_ASSERT_STRING_EQUAL(xpu_value_at(a->graph, x->outputs[k])->name,
                                   xpu_value_at(b->graph, y->outputs[k])->name);
        }
    }
    CU_ASSERT_EQUAL(b->layers.items[2].output_count, 3);
    CU_ASSERT_EQUAL_FATAL(a->tensors.count, b->tensors.count);
    for (uint32_t i = 0; i < a->tensors.count; i++) {
        CU_ASSERT_STRING_EQUAL(a->tensors.items[i].name, b->tensors.items[i].name);
        CU_ASSERT(a->tensors.items[i].fate == b->tensors.items[i].fate);
        CU_ASSERT(a->tensors.items[i].layer == b->tensors.items[i].layer);
    }
    CU_ASSERT_EQUAL_FATAL(a->regions.count, b->regions.count);
    CU_ASSERT_STRING_EQUAL(b->regions.items[1].reason, "there is a reason");
    CU_ASSERT_PTR_NULL(b->regions.items[0].reason);
}

static const char *graph_text(bench *b, const xpu_graph *graph) {
    xpu_text text;
    xpu_text_init(&text, b->arena);
    xpu_graph_text(graph, &text);
    return text.text;
}

static void round_trip(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    const char *path = write_program(&b, p);
    xpu_program_image *image = xpu_program_read(b.arena, path, &b.diags);
    xpu_diags_print(&b.diags, stderr);
    CU_ASSERT_PTR_NOT_NULL_FATAL(image);
    check_header(p, &image->program);
    check_lists(p, &image->program);
    CU_ASSERT_EQUAL(xpu_program_load_constants(image, b.arena, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_verify(image->program.graph, "read", &b.diags), XPU_OK);
    CU_ASSERT_STRING_EQUAL(graph_text(&b, p->graph), graph_text(&b, image->program.graph));
    xpu_tensor weight;
    xpu_value w = xpu_graph_by_name(image->program.graph, "w");
    CU_ASSERT_EQUAL_FATAL(xpu_const_tensor(image->program.graph, w, b.arena, &weight, &b.diags), XPU_OK);
    for (int i = 0; i < IN * OUT; i++) CU_ASSERT_EQUAL(((float *)weight.data)[i], weight_at(i));
    CU_ASSERT_EQUAL_FATAL(image->segments.count, 2);
    CU_ASSERT(image->segments.items[1].is_weights && image->segments.items[1].offset % 4096 == 0);
    CU_ASSERT_EQUAL(image->segments.items[1].address, WEIGHTS_AT);
    /* The same from memory, and written again the same bytes. */
    size_t length, again;
    void *bytes = xpu_file_read_all(b.arena, path, 1 << 24, &length, &b.diags);
    CU_ASSERT_PTR_NOT_NULL(xpu_program_parse(b.arena, bytes, length, "memory", &b.diags));
    void *second = xpu_file_read_all(b.arena, write_program(&b, p), 1 << 24, &again, &b.diags);
    CU_ASSERT(length == again && memcmp(bytes, second, length) == 0);
    bench_close(&b);
}

static void stripped(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    p->stripped = 1;
    xpu_program_image *image = xpu_program_read(b.arena, write_program(&b, p), &b.diags);
    xpu_diags_print(&b.diags, stderr);
    CU_ASSERT_PTR_NOT_NULL_FATAL(image);
    CU_ASSERT(image->program.stripped);
    CU_ASSERT_EQUAL(image->program.layers.items[0].node.id, 0);
    CU_ASSERT_EQUAL(xpu_graph_first(image->program.graph).id, 0);
    check_lists(p, &image->program);
    bench_close(&b);
}

/* binutils of LLVM read the file, and find the sections. */
static void binutils(void) {
    BENCH_OPEN(b);
    const char *path = write_program(&b, make_program(&b));
    static const char *const tools[][3] = {{"llvm-readelf-19", "-SWlh", ".xpu.program"},
                                           {"llvm-objdump-19", "-hd", ".xpu.graph"}};
    for (int i = 0; i < 2; i++) {
        xpu_child child;
        const char *argv[] = {tools[i][0], tools[i][1], path, NULL};
        xpu_status status = xpu_child_run(b.arena, argv, 0, &child, &b.diags);
        if (!child.found) {
            printf("skipped: %s is not installed\n", tools[i][0]);
            continue;
        }
        CU_ASSERT_EQUAL_FATAL(status, XPU_OK);
        CU_ASSERT_EQUAL(child.exit_code, 0);
        CU_ASSERT_STRING_EQUAL(child.error, "");
        CU_ASSERT_PTR_NOT_NULL(strstr(child.output, tools[i][2]));
        CU_ASSERT_PTR_NOT_NULL(strstr(child.output, ".weights"));
    }
    bench_close(&b);
}

/* ---- writing fails ---- */

static xpu_status fail_weight(void *context, uint32_t buffer, xpu_arena *scratch, const void **bytes, uint64_t *length,
                              xpu_diags *diags) {
    (void)context, (void)buffer, (void)scratch;
    *bytes = NULL;
    *length = 0;
    return xpu_error(diags, XPU_EIO, "weights.bin", "io-short", NULL, "the file is shorter than it was", NULL, NULL);
}

/* A write that fails leaves what the path held before, and nothing beside it. */
static void failed_write(void) {
    BENCH_OPEN(b);
    executable e;
    xpu_program *p = make_program(&b);
    const char *path = write_program(&b, p), *elf = xpu_path_join(b.arena, b.folder, "linked.elf");
    size_t length, after;
    void *before = xpu_file_read_all(b.arena, path, 1 << 24, &length, &b.diags);
    CU_ASSERT_EQUAL(xpu_program_write(p, elf, path, fail_weight, NULL, b.arena, &b.diags), XPU_EIO);
    xpu_diags_clear(&b.diags);
    int asked = 0;
    make_executable(&e);
    e.sections[2].sh_size = 16; /* too small for the weights */
    xpu_file_write(b.arena, elf, &e, sizeof e, &b.diags);
    CU_ASSERT_EQUAL(xpu_program_write(p, elf, path, give_weight, &asked, b.arena, &b.diags), XPU_EBUG);
    make_executable(&e);
    e.symbols[1].st_name = 0; /* no plan */
    xpu_file_write(b.arena, elf, &e, sizeof e, &b.diags);
    CU_ASSERT_EQUAL(xpu_program_write(p, elf, path, give_weight, &asked, b.arena, &b.diags), XPU_EBUG);
    void *now = xpu_file_read_all(b.arena, path, 1 << 24, &after, &b.diags);
    CU_ASSERT(length == after && memcmp(before, now, length) == 0);
    bench_close(&b);
}

XPU_TEST_MAIN("program", {"round trip", round_trip}, {"stripped", stripped}, {"binutils read it", binutils},
              {"a write that fails", failed_write})
