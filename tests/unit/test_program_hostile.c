/* Hostile .xpu files end in an error. */
#include "core/passes/verify.h"
#include "tests/unit/program_fixture.h"

/* ---- hostile files ---- */

/* Reads a file in memory that may be anything: it is a program, or there is one error [xpu-format] or [xpu-hash].
 * Returns 1 when it was read. What is read must also give its constants and pass the verifier. */
static int read_hostile(const void *bytes, size_t length) {
    xpu_mem mem;
    xpu_diags diags;
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    if (setjmp(mem.out_of_memory)) {
        xpu_mem_release(&mem);
        xpu_diags_clear(&diags);
        return 0;
    }
    xpu_arena *arena = xpu_arena_new(&mem, "hostile");
    xpu_program_image *image = xpu_program_parse(arena, bytes, length, "hostile.xpu", &diags);
    if (image) {
        CU_ASSERT_EQUAL(diags.errors, 0);
        if (xpu_program_load_constants(image, arena, &diags) == XPU_OK && !image->program.stripped) {
            if (xpu_verify(image->program.graph, "hostile", &diags) != XPU_OK) xpu_diags_print(&diags, stderr);
            CU_ASSERT_EQUAL(diags.errors, 0);
        }
        for (uint32_t i = 0; i < image->program.layers.count; i++) {
            const xpu_program_layer *layer = &image->program.layers.items[i];
            CU_ASSERT(image->program.stripped || layer->node.id || !layer->output_count);
        }
    } else {
        CU_ASSERT_EQUAL(diags.errors, 1);
        CU_ASSERT(diags.count == 1 &&
                  (strcmp(diags.items[0].rule, "xpu-format") == 0 || strcmp(diags.items[0].rule, "xpu-hash") == 0));
        CU_ASSERT_EQUAL(xpu_diags_status(&diags), XPU_EIO);
    }
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
    return image != NULL;
}

static void truncated(void) {
    BENCH_OPEN(b);
    size_t length;
    uint8_t *bytes = xpu_file_read_all(b.arena, write_program(&b, make_program(&b)), 1 << 24, &length, &b.diags);
    CU_ASSERT(read_hostile(bytes, length));
    for (size_t cut = 0; cut < length; cut += cut < 1500 || cut + 3000 > length ? 1 : 97) { /* the hash as it comes */
        CU_ASSERT(!read_hostile(bytes, cut));
    }
    bench_close(&b);
}

static uint64_t state;
static uint64_t random_next(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* Whatever bit is another one: the program is refused. */
static void flipped_bits(void) {
    BENCH_OPEN(b);
    size_t length;
    uint8_t *bytes = xpu_file_read_all(b.arena, write_program(&b, make_program(&b)), 1 << 24, &length, &b.diags);
    for (size_t at = 0; at < length; at++) {
        uint8_t bit = (uint8_t)(1u << (at * 5 + at / 8) % 8);
        bytes[at] ^= bit;
        int read = read_hostile(bytes, length);
        if (read) fprintf(stderr, "byte %zu of %zu\n", at, length);
        CU_ASSERT_FALSE_FATAL(read);
        bytes[at] ^= bit;
    }
    CU_ASSERT(read_hostile(bytes, length));
    bench_close(&b);
}

/* Bytes of the headers and of the metadata are changed, and the hash fits. */
static void flipped(void) {
    BENCH_OPEN(b);
    size_t length;
    uint8_t *bytes = xpu_file_read_all(b.arena, write_program(&b, make_program(&b)), 1 << 24, &length, &b.diags);
    const Elf32_Ehdr *header = (const Elf32_Ehdr *)bytes;
    size_t tail = WEIGHTS_SIZE < length ? length - header->e_shoff + 2500 : length;
    state = 20240601;
    printf("seed %llu\n", (unsigned long long)state);
    int read = 0, runs = 3000;
    for (int i = 0; i < runs; i++) {
        uint8_t *copy = malloc(length);
        memcpy(copy, bytes, length);
        int changes = 1 + (int)(random_next() % 4);
        for (int k = 0; k < changes; k++) {
            size_t at = random_next() % 4 == 0 ? random_next() % sizeof(executable) : length - 1 - random_next() % tail;
            copy[at] = random_next() % 2 ? (uint8_t)random_next() : copy[at] ^ (uint8_t)(1u << random_next() % 8);
        }
        xpu_program_seal(copy, length);
        read += read_hostile(copy, length);
        free(copy);
    }
    CU_ASSERT(read < runs);
    bench_close(&b);
}

/* ---- metadata that says what cannot be ---- */

typedef struct {
    const char *name;
    void (*change)(bench *b, xpu_program *p);
    const char *why;
} lie;

static void buffer_alignment(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].alignment = 3;
}
static void buffer_passes(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].passes = XPU_PROGRAM_MAX_PASSES + 1;
}
static void buffer_alias(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].alias_of = 0;
}
static void copy_of_activation(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[3].copy_of = 0;
}
static void copy_too_large(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[3].bytes = xpu_dim_const(&p->graph->dims, 1 << 20);
}
static void copy_of_nothing(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[3].copy_of = 9;
}
static void ahead_of_nothing(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[3].kind = XPU_BUFFER_AHEAD;
    p->buffers.items[3].copy_row = 0;
}
static void ahead_outside(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[3].kind = XPU_BUFFER_AHEAD;
    p->buffers.items[3].bytes = xpu_dim_const(&p->graph->dims, 8);
    p->buffers.items[3].copy_row = 4;
    p->buffers.items[3].copy_pitch = 124;
    p->buffers.items[3].copy_offset = 4;
}
static void ahead_never_comes(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[3].kind = XPU_BUFFER_AHEAD;
    p->buffers.items[3].copy_row = p->buffers.items[3].copy_pitch = 4;
}
static void transfer_of_copy(bench *b, xpu_program *p) {
    XPU_PUSH(b->arena, &p->transfers, ((xpu_program_transfer){3, 0, 4}));
}
static void transfer_of_nothing(bench *b, xpu_program *p) {
    XPU_PUSH(b->arena, &p->transfers, ((xpu_program_transfer){9, 0, 4}));
}
static void input_unlisted(bench *b, xpu_program *p) {
    (void)b;
    p->graph->inputs.count = 0;
}
static void in_place_of_nothing(bench *b, xpu_program *p) {
    (void)b;
    p->in_place.items[0].other = 4;
}
static void in_place_of_itself(bench *b, xpu_program *p) {
    (void)b;
    p->in_place.items[0].other = 2;
}
static void buffer_lifetime(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].first_layer = 5;
}
static void buffer_level(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].levels[0] = 9;
}
static void buffer_levels(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].level_count = 0;
}
static void buffer_negative(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].bytes = xpu_dim_const(&p->graph->dims, -4);
}
static void buffer_huge(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[0].bytes = xpu_dim_const(&p->graph->dims, INT64_MAX);
}
static void weight_outside(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[1].offset = p->weights_bytes - 4;
}
static void weight_not_placed(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[1].placed = 0;
}
static void weight_too_short(bench *b, xpu_program *p) {
    (void)b;
    p->buffers.items[1].bytes = xpu_dim_const(&p->graph->dims, 8);
}
static void packed_activation(bench *b, xpu_program *p) {
    (void)b;
    p->values.items[0].packing.kind = XPU_PACK_CONV_F32;
}
static void packing_unknown(bench *b, xpu_program *p) {
    (void)b;
    p->values.items[1].packing.kind = (xpu_packing_kind)77;
}
static void packing_wrong(bench *b, xpu_program *p) {
    (void)b;
    p->values.items[1].packing =
        (xpu_packing){.kind = XPU_PACK_CONV_F32, .out_c = 1 << 30, .in_c = 1 << 30, .groups = 1};
}
static void value_buffer(bench *b, xpu_program *p) {
    (void)b;
    p->values.items[0].buffer = 99;
}
static void plan_buffer(bench *b, xpu_program *p) {
    (void)b;
    p->plan.items[2].buffer = 99;
}
static void plan_kind(bench *b, xpu_program *p) {
    (void)b;
    p->plan.items[2].kind = (xpu_word_kind)5;
}
static void plan_nothing(bench *b, xpu_program *p) {
    (void)b;
    p->plan.items[1].dim = (xpu_dim){0};
}
static void tensor_layer(bench *b, xpu_program *p) {
    (void)b;
    p->tensors.items[0].layer = 9;
}
static void tensor_no_layer(bench *b, xpu_program *p) {
    (void)b;
    p->tensors.items[0].layer = -1;
}
static void layer_nowhere(bench *b, xpu_program *p) {
    (void)b;
    p->layers.items[1].unit = XPU_UNIT_COUNT;
}
static void layer_lacks_result(bench *b, xpu_program *p) {
    (void)b;
    p->layers.items[2].output_count = 2;
}
static void layer_without_node(bench *b, xpu_program *p) {
    (void)b;
    p->layers.items[0].node = (xpu_node){0};
}
static void weights_missing(bench *b, xpu_program *p) {
    (void)b;
    p->weights_bytes = 0;
}
static void wrong_dtype(bench *b, xpu_program *p) {
    (void)b;
    xpu_value_at(p->graph, xpu_graph_by_name(p->graph, "x*w"))->dtype = XPU_I16;
}
static void wrong_shape(bench *b, xpu_program *p) {
    (void)b;
    xpu_value_at(p->graph, xpu_graph_by_name(p->graph, "x*w"))->dims[1] = xpu_dim_const(&p->graph->dims, 5);
}
static void wrong_layout(bench *b, xpu_program *p) {
    (void)b;
    xpu_value_at(p->graph, xpu_graph_by_name(p->graph, "x*w"))->layout = XPU_LAYOUT_CHANNEL_LAST;
}

static void step_kind(bench *b, xpu_program *p) {
    (void)b;
    p->steps.items[3].kind = XPU_DO_COUNT;
}
static void step_backwards(bench *b, xpu_program *p) {
    (void)b;
    p->steps.items[0].end = 0;
}
static void step_too_long(bench *b, xpu_program *p) {
    (void)b;
    p->steps.items[2].end = 7;
}
static void branch_too_long(bench *b, xpu_program *p) {
    (void)b;
    p->steps.items[2].middle = 6;
}
static void step_layers(bench *b, xpu_program *p) {
    (void)b;
    p->steps.items[4].last = 2;
}
static void step_no_layer(bench *b, xpu_program *p) {
    (void)b;
    p->steps.items[6].last = 3;
}
static void step_word(bench *b, xpu_program *p) {
    (void)b;
    p->steps.items[1].word = p->plan.count - 4;
}
static void step_symbol(bench *b, xpu_program *p) {
    (void)b;
    p->steps.items[1].symbol = 1;
}
static void steps_miss_layer(bench *b, xpu_program *p) {
    (void)b;
    p->steps.count--;
}
static void steps_deep(bench *b, xpu_program *p) {
    enum { DEPTH = 80 };
    p->steps.count = 0;
    for (uint32_t i = 0; i <= DEPTH; i++) {
        xpu_program_step loop = {.kind = XPU_DO_LOOP, .middle = i + 1, .end = DEPTH + 1, .word = 4};
        xpu_program_step run = {.kind = XPU_DO_RUN, .first = 0, .last = 2, .middle = i + 1, .end = i + 1};
        XPU_PUSH(b->arena, &p->steps, i == DEPTH ? run : loop);
    }
}

/* An input of y's type, in `buffer`, as the state of y. */
static void add_state(bench *b, xpu_program *p, uint32_t buffer) {
    const xpu_value_info *y = xpu_value_at(p->graph, p->graph->outputs.items[0]);
    const xpu_dim dims[] = {y->dims[0], y->dims[1]};
    xpu_value h = xpu_graph_input(p->graph, "h", XPU_F32, 2, dims);
    XPU_PUSH(b->arena, &p->values, ((xpu_program_value){.value = h, .buffer = buffer}));
    xpu_graph_tie(p->graph, 0, 1);
}
static void state_of_nothing(bench *b, xpu_program *p) {
    (void)b;
    xpu_graph_tie(p->graph, 1, 0);
}
static void state_of_huge_index(bench *b, xpu_program *p) {
    (void)b;
    xpu_graph_tie(p->graph, 0, UINT32_MAX);
}
static void state_of_two_types(bench *b, xpu_program *p) {
    (void)b;
    xpu_graph_tie(p->graph, 0, 0);
}
static void state_twice(bench *b, xpu_program *p) {
    add_state(b, p, 0);
    xpu_graph_tie(p->graph, 0, 1);
}
static void state_without_place(bench *b, xpu_program *p) {
    add_state(b, p, 0);
    p->values.count--;
}
static void state_in_l3(bench *b, xpu_program *p) {
    add_state(b, p, 0);
}
static void state_in_weights(bench *b, xpu_program *p) {
    add_state(b, p, 1);
}
static void keep_in_gm(xpu_program_buffer *buffer) {
    buffer->levels[0] = XPU_LEVEL_GM;
    buffer->level_count = 1;
    buffer->last_layer = 2;
    buffer->alias_of = -1;
}
static void states_in_one(bench *b, xpu_program *p) {
    add_state(b, p, 2);
    keep_in_gm(&p->buffers.items[2]);
}
static void state_dies_early(bench *b, xpu_program *p) {
    add_state(b, p, 0);
    keep_in_gm(&p->buffers.items[0]);
    p->buffers.items[0].last_layer = 1;
}
static void state_in_place(bench *b, xpu_program *p) {
    add_state(b, p, 0);
    keep_in_gm(&p->buffers.items[0]);
    keep_in_gm(&p->buffers.items[2]);
}

static const lie lies[] = {
    {"state of no output", state_of_nothing, "a state names no input or output, or one twice"},
    {"state of no input", state_of_huge_index, "a state names no input or output, or one twice"},
    {"state twice", state_twice, "a state names no input or output, or one twice"},
    {"state of two types", state_of_two_types, "a state's input and output have different types"},
    {"state without a place", state_without_place, "a state has no place in device memory"},
    {"state that the planner moves", state_in_l3, "a state is not in a buffer of its own in GM"},
    {"state among the weights", state_in_weights, "a state is not in a buffer of its own in GM"},
    {"state in one buffer", states_in_one, "a buffer is of two states"},
    {"state that dies early", state_dies_early, "a state does not live as long as the program runs"},
    {"state that is written over", state_in_place, "a state shares its buffer"},
    {"step that does nothing known", step_kind, "a step has an unknown kind"},
    {"body that ends before it begins", step_backwards, "a step's branches or body are not within its own"},
    {"branch longer than its loop", step_too_long, "a step's branches or body are not within its own"},
    {"branch longer than its step", branch_too_long, "a step's branches or body are not within its own"},
    {"layers in two steps", step_layers, "a step has wrong layers, a wrong word or no symbol"},
    {"layer that does not exist", step_no_layer, "a step has wrong layers, a wrong word or no symbol"},
    {"words behind the plan table", step_word, "a step has wrong layers, a wrong word or no symbol"},
    {"symbol that does not exist", step_symbol, "a step has wrong layers, a wrong word or no symbol"},
    {"layer in no step", steps_miss_layer, "a layer is in no step"},
    {"deep loops", steps_deep, "its branches and loops are nested too deeply"},
    {"alignment is no power of two", buffer_alignment, "a buffer is malformed"},
    {"a buffer is read too often", buffer_passes, "a buffer is malformed"},
    {"a buffer is an alias of itself", buffer_alias, "a buffer is malformed"},
    {"a buffer lives backwards", buffer_lifetime, "a buffer is malformed"},
    {"a copy of no weight", copy_of_activation, "a copy of a weight is malformed"},
    {"a copy larger than its weight", copy_too_large, "a copy of a weight is malformed"},
    {"a copy of nothing", copy_of_nothing, "a copy of a weight is malformed"},
    {"runs of no bytes ahead", ahead_of_nothing, "a copy of a weight is malformed"},
    {"runs outside of the weight", ahead_outside, "a copy of a weight is malformed"},
    {"what never comes", ahead_never_comes, "a transfer of a weight is malformed"},
    {"a transfer of a copy", transfer_of_copy, "a transfer of a weight is malformed"},
    {"a transfer of nothing", transfer_of_nothing, "a transfer of a weight is malformed"},
    {"an input nobody lists", input_unlisted, "an input is not in the list of inputs"},
    {"in place of nothing", in_place_of_nothing, "a buffer does not exist"},
    {"in place of itself", in_place_of_itself, "a buffer does not exist"},
    {"unknown memory level", buffer_level, "a memory level does not exist"},
    {"no memory level", buffer_levels, "a buffer has no memory level"},
    {"negative size", buffer_negative, "a size is missing, negative or too large"},
    {"huge size", buffer_huge, "a size is missing, negative or too large"},
    {"weight outside", weight_outside, "a weight lies outside of the weights"},
    {"weight without a place", weight_not_placed, "a weight lies outside of the weights"},
    {"weight larger than its buffer", weight_too_short, "a constant's packing does not fit its buffer"},
    {"packed activation", packed_activation, "a computed value cannot be packed"},
    {"unknown packing", packing_unknown, "a packing does not exist"},
    {"packing of another shape", packing_wrong, "a constant's packing does not fit its buffer"},
    {"value in no buffer", value_buffer, "a buffer does not exist"},
    {"address of no buffer", plan_buffer, "a buffer does not exist"},
    {"unknown word", plan_kind, "a word of its plan table has an unknown kind"},
    {"word without expression", plan_nothing, "a word of its plan table has no expression"},
    {"tensor of no layer", tensor_layer, "the fate of a source tensor is malformed"},
    {"dumped tensor without a layer", tensor_no_layer, "the fate of a source tensor is malformed"},
    {"layer without a node", layer_without_node, "a layer is malformed"},
    {"layer that runs nowhere", layer_nowhere, "a layer is malformed"},
    {"layer without one of its results", layer_lacks_result, "a layer has not the results of its node"},
    {"no weights", weights_missing, "a weight lies outside of the weights"},
    {"wrong element type", wrong_dtype, "a node's result has not the shape that its operator gives"},
    {"wrong shape", wrong_shape, "a node's result has not the shape that its operator gives"},
    {"layout of a matrix", wrong_layout, "a value's layout needs rank 3 or 4"},
};

/* The writer is not asked: the metadata is put into a file that was good. */
static void check_lie(const lie *l) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    xpu_program_image *image = xpu_program_read(b.arena, write_program(&b, p), &b.diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(image);
    const xpu_program addresses = image->program;
    l->change(&b, p);
    p->entry = addresses.entry;
    p->plan_address = addresses.plan_address;
    p->control_address = addresses.control_address;
    p->weights_address = addresses.weights_address;
    p->image_end = addresses.image_end;
    xpu_blob metadata, graph;
    CU_ASSERT_EQUAL_FATAL(xpu_metadata_encode(p, b.arena, &metadata, &graph, &b.diags), XPU_OK);
    const char *why = NULL;
    const xpu_program *read = xpu_metadata_decode(&metadata, &graph, b.arena, "lie.xpu", &why);
    if (read || !why || strcmp(why, l->why) != 0) {
        fprintf(stderr, "%s: %s\n", l->name, why ? why : read ? "read" : "no reason");
    }
    CU_ASSERT_PTR_NULL(read);
    CU_ASSERT(why && strcmp(why, l->why) == 0);
    bench_close(&b);
}

static void metadata_lies(void) {
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) check_lie(&lies[i]);
}

/* The writer believes its caller; the reader does not believe the file. */
static void plan_too_long(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    for (int i = 0; i < TEXT_BYTES; i++) XPU_PUSH(b.arena, &p->plan, ((xpu_plan_word){.kind = XPU_WORD_CONST}));
    CU_ASSERT_PTR_NULL(xpu_program_read(b.arena, write_program(&b, p), &b.diags));
    CU_ASSERT(b.diags.count == 1 && strcmp(b.diags.items[0].why, "its plan table is in no segment") == 0);
    bench_close(&b);
}

/* What a file cannot hold is refused when it is written: nothing is left behind. */
static void limits(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    for (int i = 0; i < XPU_PROGRAM_MAX_SYMBOLS; i++) {
        xpu_dim_symbol(&p->graph->dims, xpu_printf(b.arena, "s%d", i), 1, 4, 1);
    }
    int asked = 0;
    const char *path = xpu_path_join(b.arena, b.folder, "test.xpu");
    CU_ASSERT_EQUAL(try_to_write(&b, p, path, &asked), XPU_EMODEL);
    CU_ASSERT(b.diags.count == 1 && strcmp(b.diags.items[0].rule, "program-limits") == 0);
    CU_ASSERT(b.diags.count == 1 && strstr(b.diags.items[0].why, "it has 257 symbols, at most 256 can be read; the"));
    CU_ASSERT(!asked && !xpu_file_exists(path));
    bench_close(&b);
}

/* A plan table as 55,000 convolutions have it is read; of a list with more entries than are read both numbers are said.
 */
static void long_lists(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    for (int i = 0; i < 2 << 20; i++) XPU_PUSH(b.arena, &p->plan, ((xpu_plan_word){.kind = XPU_WORD_CONST, .bits = 1}));
    CU_ASSERT_EQUAL(xpu_program_check(p, b.arena, &b.diags), XPU_OK);
    while (p->in_place.count <= 1 << 22) XPU_PUSH(b.arena, &p->in_place, ((xpu_program_in_place){0, 1}));
    CU_ASSERT_EQUAL(xpu_program_check(p, b.arena, &b.diags), XPU_EMODEL);
    CU_ASSERT(b.diags.count == 1 &&
              strstr(b.diags.items[0].why, "it has 4194305 buffers in place, at most 4194304 can be read"));
    bench_close(&b);
}

/* ---- the ELF around it ---- */

typedef struct {
    const char *name;
    size_t offset; /* in the file */
    uint32_t value;
    int bytes;
    const char *why;
} header_case;

#define EHDR(field, value, bytes, why) {#field, offsetof(Elf32_Ehdr, field), value, bytes, why}
#define PHDR(index, field, value, why)                                                                                 \
    {#field, offsetof(executable, segments) + (index) * sizeof(Elf32_Phdr) + offsetof(Elf32_Phdr, field), value, 4, why}

static const header_case header_cases[] = {
    EHDR(e_ident, 0x46, 1, "it does not begin with the ELF signature"),
    {"class", EI_CLASS, ELFCLASS64, 1, "it is not a 32-bit little-endian ELF file"},
    {"data", EI_DATA, ELFDATA2MSB, 1, "it is not a 32-bit little-endian ELF file"},
    EHDR(e_type, ET_DYN, 2, "it is not a RISC-V executable"),
    EHDR(e_machine, EM_X86_64, 2, "it is not a RISC-V executable"),
    EHDR(e_phnum, 0, 2, "it has no program or section headers, or too many"),
    EHDR(e_phnum, 0xffff, 2, "it has no program or section headers, or too many"),
    EHDR(e_shnum, 0, 2, "it has no program or section headers, or too many"),
    EHDR(e_shoff, 0xfffffff0u, 4, "its program or section headers lie outside of the file"),
    EHDR(e_phoff, 0xfffffff0u, 4, "its program or section headers lie outside of the file"),
    EHDR(e_shstrndx, 0, 2, "it has no section names"),
    EHDR(e_shstrndx, 99, 2, "it has no section names"),
    EHDR(e_shstrndx, 1, 2, "its section names are missing or too long"),
    EHDR(e_phentsize, 8, 2, "its table entries have the wrong size"),
    EHDR(e_entry, 0x10, 4, "its entry is in no segment"),
    PHDR(0, p_offset, 0xfffffff0u, "a segment lies outside of the file"),
    PHDR(0, p_filesz, 0xffffffffu, "a segment lies outside of the file"),
    PHDR(0, p_memsz, 4, "a segment is larger in the file than in memory"),
    PHDR(0, p_paddr, 0x1000, "a segment leaves the program's memory"),
    PHDR(0, p_paddr, 0xfffffff0u, "a segment leaves the address space"),
    PHDR(0, p_paddr, WEIGHTS_AT + 16, "two segments overlap"),
    PHDR(1, p_paddr, 0x80001000u, "its weights are missing"),
    PHDR(1, p_type, PT_NOTE, "its weights are missing"),
    PHDR(0, p_type, PT_NOTE, "its plan table is in no segment"),
};

static void elf_lies(void) {
    BENCH_OPEN(b);
    size_t length;
    const uint8_t *bytes = xpu_file_read_all(b.arena, write_program(&b, make_program(&b)), 1 << 24, &length, &b.diags);
    for (size_t i = 0; i < sizeof header_cases / sizeof *header_cases; i++) {
        const header_case *c = &header_cases[i];
        uint8_t *copy = xpu_copy(b.arena, bytes, length);
        memcpy(copy + c->offset, &c->value, (size_t)c->bytes);
        xpu_program_seal(copy, length);
        xpu_program_image *image = xpu_program_parse(b.arena, copy, length, "lie.xpu", &b.diags);
        const char *why = b.diags.count ? b.diags.items[0].why : "read";
        if (strcmp(why, c->why) != 0) fprintf(stderr, "%s: %s\n", c->name, why);
        CU_ASSERT_PTR_NULL(image);
        CU_ASSERT_STRING_EQUAL(why, c->why);
        xpu_diags_clear(&b.diags);
    }
    bench_close(&b);
}

XPU_TEST_MAIN("hostile programs", {"truncated", truncated}, {"bits flipped", flipped_bits},
              {"bits flipped, hash right", flipped}, {"metadata that lies", metadata_lies},
              {"plan table too long", plan_too_long}, {"limits", limits}, {"plan words", long_lists},
              {"headers that lie", elf_lies})
