/*
 * Lock-step of descriptors and vector instructions without RTL: a second functional chip stands in for it, and is
 * damaged on purpose.
 */
#include <stdio.h>
#include <string.h>

#include "core/chip.h"
#include "sim/func/core.h"
#include "sim/func/driver.h"
#include "sim/func/engine.h"
#include "sim/func/memory.h"
#include "sim/harness/harness.h"
#include "tests/gen/descriptors.h"
#include "tests/unit/unit.h"

enum { SOURCE = 0x80010000, LIST = 0x80020000, TARGET = 0x20001000, CODE = 0x80000000, DATA = 0x80030000 };

typedef struct {
    xpu_mem mem;
    xpu_diags diags;
    xpu_chip chip;
    xpurt_device *device; /* that stands in for the RTL */
    xpu_func *func;
    xpu_lockstep *lockstep;
} bench;

static const uint8_t *memory(void *context, uint64_t address, uint64_t length) {
    return xpu_func_engine_memory(((bench *)context)->func, address, length);
}

static const uint8_t *vectors(void *context, unsigned core) {
    return ((bench *)context)->func->harts[core].v;
}

static uint32_t layer(void *context, unsigned core) {
    return ((bench *)context)->func->core_state[core].layer >> 16;
}

static void open_bench(bench *b) {
    memset(b, 0, sizeof *b);
    xpu_mem_init(&b->mem);
    xpu_diags_init(&b->diags);
    if (setjmp(b->mem.out_of_memory)) exit(EXIT_FAILURE);
    CU_ASSERT_EQUAL_FATAL(xpu_chip_load(xpu_arena_new(&b->mem, "test"), "configs/chip", "nano", &b->chip, &b->diags),
                          0);
    b->device = xpu_func_driver.create(&b->chip, &b->diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->device);
    b->func = xpu_func_of(b->device);
    b->lockstep = xpu_lockstep_new(&b->chip, &(xpu_lockstep_rtl){b, memory, vectors, layer});
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->lockstep);
}

static void close_bench(bench *b) {
    xpu_lockstep_free(b->lockstep);
    xpu_func_driver.destroy(b->device);
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

static void write_both(bench *b, uint64_t address, const void *bytes, size_t length) {
    CU_ASSERT_EQUAL(xpu_func_driver.write(b->device, address, bytes, length), 0);
    CU_ASSERT_EQUAL(xpu_lockstep_write(b->lockstep, address, bytes, length), 0);
}

static void start(bench *b) {
    CU_ASSERT_EQUAL(xpu_func_driver.start(b->device, CODE), 0);
    CU_ASSERT_EQUAL(xpu_lockstep_start(b->lockstep, CODE, 0), 0);
}

static void expect(const bench *b, int equal, const char *text) {
    const char *got = xpu_lockstep_text(b->lockstep);
    CU_ASSERT_EQUAL(equal, text == NULL);
    if (text && !strstr(got, text)) fprintf(stderr, "wanted \"%s\", got \"%s\"\n", text, got);
    if (text) CU_ASSERT_PTR_NOT_NULL(strstr(got, text));
    if (!text) CU_ASSERT_STRING_EQUAL(got, "");
}

/* ---- descriptors ---- */

#define BOX                                                                                                            \
    .src = SOURCE, .dst = TARGET, .src_type = XPU_TYPE_F32, .dst_type = XPU_TYPE_F32, .size0 = 1, .size1 = 2,          \
    .size2 = 3, .size3 = 4, .src_stride1 = 48, .src_stride2 = 16, .src_stride3 = 4

static void pack_copy(uint32_t *words) {
    xpu_desc_copy d = {ALONE, .layer = 7, BOX, .dst_stride1 = 256, .dst_stride2 = 64, .dst_stride3 = 4};
    xpu_desc_copy_pack(words, &d);
}

static void pack_transpose(uint32_t *words) {
    xpu_desc_copy d = {ALONE, .layer = 7, BOX, .dst_stride1 = 256, .dst_stride2 = 4, .dst_stride3 = 16};
    xpu_desc_copy_pack(words, &d);
}

static void pack_fill(uint32_t *words) {
    xpu_desc_fill d = {ALONE,      .layer = 7,   .dst = TARGET, .dst_type = XPU_TYPE_I16, .size0 = 1, .size1 = 1,
                       .size2 = 1, .size3 = 100, .value = 9,    .dst_stride3 = 2};
    xpu_desc_fill_pack(words, &d);
}

static void pack_gather(uint32_t *words) {
    xpu_desc_gather d = {ALONE,
                         .layer = 7,
                         BOX,
                         .dst_stride1 = 256,
                         .dst_stride2 = 64,
                         .dst_stride3 = 4,
                         .gather_dim = 2,
                         .index = SOURCE + 1024};
    xpu_desc_gather_pack(words, &d);
}

static void pack_bad(uint32_t *words) {
    xpu_desc_copy d = {ALONE, .layer = 7, BOX, .dst_stride1 = 1 << 20, .dst_stride2 = 64, .dst_stride3 = 4};
    xpu_desc_copy_pack(words, &d);
}

static void descriptors(void) {
    static const struct {
        void (*pack)(uint32_t *words);
        int64_t damaged; /* offset from TARGET of a byte that the RTL gets wrong; -1: none */
        const char *text;
    } cases[] = {
        {pack_copy, -1, NULL},
        {pack_copy, 256 + 128 + 15,
         "copy, queue of core 2): memory at 0x2000118c is 0x40c00000 on rtl, 0x41c00000 on func"},
        {pack_copy, 16, NULL}, /* between the rows */
        {pack_transpose, -1, NULL},
        {pack_transpose, 256 + 8 + 48, "memory at 0x20001138 is"},
        {pack_fill, -1, NULL},
        {pack_fill, 198,
         "cycle 1234, engine DMA1, descriptor at 0x80020000 (fill, queue of core 2): memory at 0x200010c4"},
        {pack_fill, 200, NULL}, /* behind the box */
        {pack_gather, -1, NULL},
        {pack_gather, 64, "(gather, queue of core 2): memory at 0x20001040 is"},
        {pack_bad, -1, "func has the fault bad engine address: dst: the elements from"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        bench b;
        float source[256];
        static const int32_t indices[] = {2, 0, 1};
        uint32_t words[XPU_DESC_WORDS];
        xpurt_completion done = {.engine = 1, .core = 2, .descriptor = LIST, .layer = 7, .end = 1234};
        open_bench(&b);
        for (int i = 0; i < 256; i++) source[i] = (float)(i + 1);
        cases[c].pack(words);
        done.opcode = xpu_desc_nop_get_opcode(words);
        write_both(&b, SOURCE, source, sizeof source);
        write_both(&b, SOURCE + 1024, indices, sizeof indices);
        write_both(&b, LIST, words, sizeof words);
        start(&b);
        xpu_func_descriptor_run(b.func, 1, LIST);
        if (cases[c].damaged >= 0) *xpu_func_host(b.func, (uint32_t)(TARGET + cases[c].damaged)) ^= 1;
        expect(&b, xpu_lockstep_complete(b.lockstep, &done), cases[c].text);
        if (cases[c].text) CU_ASSERT_EQUAL(xpu_lockstep_layer(b.lockstep), 7);
        close_bench(&b);
    }
}

/* ---- vector instructions ---- */

static void vector_instructions(void) {
    static const uint32_t code[] = {
        0xcd027057, /* vsetivli zero, 4, e32, m1, ta, ma */
        0x5e02b457, /* vmv.v.i v8, 5 */
        0x02843557, /* vadd.vi v10, v8, 8 */
        0x80030537, /* lui a0, 0x80030 */
        0x02056527, /* vse32.v v10, (a0) */
        0x5e023457, /* vmv.v.i v8, 4 */
        0x02843557, /* vadd.vi v10, v8, 8 */
        0x02056527, /* vse32.v v10, (a0) */
    };
    enum { COUNT = sizeof code / sizeof *code, NOP = 0x13, ALL = COUNT + 70 };
    static const struct {
        int index;              /* of the instruction after which the RTL is damaged; -1: never */
        int in_memory, for_now; /* for_now: only while it retires, with what a younger one writes there */
        uint32_t at;            /* register and byte, or address */
        const char *text;
    } cases[] = {
        {-1, 0, 0, 0, NULL},
        {1, 0, 1, 8 * XPU_VLEN_BYTES, NULL},
        {4, 1, 1, DATA, NULL},
        {1, 0, 0, 8 * XPU_VLEN_BYTES + 4, "vmv.v.i v8, 5: v8 from byte 4 on is 0x00000007 on rtl, 0x00000005 on func"},
        {2, 0, 0, 10 * XPU_VLEN_BYTES + 32, "v10 from byte 32 on is 0x00000002 on rtl, 0x00000000 on func"},
        {2, 0, 0, 9 * XPU_VLEN_BYTES, NULL}, /* a register that nobody has written is not looked at */
        {4, 1, 0, DATA + 12, "memory at 0x8003000c is 0x0000000f on rtl, 0x0000000d on func"},
        {4, 1, 0, DATA + 16, NULL}, /* behind the vector */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        bench b;
        int equal = 1;
        open_bench(&b);
        uint32_t program[ALL];
        for (int i = 0; i < ALL; i++) program[i] = i < COUNT ? code[i] : NOP;
        write_both(&b, CODE, program, sizeof program);
        start(&b);
        for (int i = 0; i < ALL && equal; i++) {
            xpu_hart *hart = &b.func->harts[0];
            xpu_retired retired = {.order = (uint64_t)i, .insn = program[i], .pc = hart->pc};
            CU_ASSERT_EQUAL(xpu_hart_run(hart, 1), XPU_HART_BUDGET);
            retired.next = hart->pc;
            if (i == 3) retired.rd = 10, retired.rd_value = hart->x[10];
            uint8_t *damaged = cases[c].in_memory ? xpu_func_host(b.func, cases[c].at) : &hart->v[cases[c].at];
            if (i == cases[c].index) *damaged ^= cases[c].for_now ? 1 : 2;
            equal = xpu_lockstep_retire(b.lockstep, &retired);
            if (i == cases[c].index && cases[c].for_now) *damaged ^= 1;
        }
        expect(&b, equal, cases[c].text);
        close_bench(&b);
    }
}

XPU_TEST_MAIN("lock-step", {"descriptors", descriptors}, {"vector instructions", vector_instructions})
