/* Chip descriptions: the shipped ones, errors, round trip; descriptor fields through the generated C header. */
#include <string.h>

#include "base/file.h"
#include "core/chip.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

static const char standard[] =
    "{\"name\": \"t\", \"array\": {\"rows\": 32, \"columns\": 32, \"accumulator_banks\": 2, \"accumulator_rows\": 512,"
    " \"weight_rows_per_cycle\": 2, \"post_lanes\": 32},"
    " \"window\": {\"channels\": 0, \"lines\": 8, \"line_bytes\": 4096},"
    " \"cores\": {\"count\": 4, \"lm_bytes\": 65536,"
    " \"lm_port_bytes\": 64, \"lanes\": 16, \"icache_bytes\": 16384, \"icache_line_bytes\": 64},"
    " \"sm\": {\"bytes\": 262144, \"banks\": 8, \"bank_bytes\": 64},"
    " \"l3\": {\"bytes\": 4194304, \"banks\": 8, \"bytes_per_cycle\": 64, \"latency\": 12},"
    " \"gm\": {\"bytes\": 1073741824, \"bytes_per_cycle\": 64, \"latency\": 100, \"outstanding\": 128,"
    " \"burst_bytes\": 64}}";

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpu_chip chip;
} fixture;

static void open_fixture(fixture *f) {
    xpu_mem_init(&f->mem);
    f->arena = xpu_arena_new(&f->mem, "test");
    xpu_diags_init(&f->diags);
}

static void close_fixture(fixture *f) {
    xpu_diags_clear(&f->diags);
    xpu_mem_release(&f->mem);
}

/* The standard text with `from` replaced by `to`; parses it. */
static xpu_status parse_changed(fixture *f, const char *from, const char *to) {
    const char *at = strstr(standard, from);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    char *text = xpu_printf(f->arena, "%.*s%s%s", (int)(at - standard), standard, to, at + strlen(from));
    return xpu_chip_parse(f->arena, text, strlen(text), "chip.json", &f->chip, &f->diags);
}

static void shipped_chips(void) {
    static const struct {
        const char *name;
        uint32_t rows, cores, acc_rows, lm, sm, l3, gm;
    } cases[] = {
        {"nano", 8, 1, 128, 16 << 10, 32 << 10, 64 << 10, 256u << 20},
        {"standard", 32, 4, 512, 64 << 10, 256 << 10, 4 << 20, 1u << 30},
        {"pro", 64, 8, 512, 64 << 10, 512 << 10, 16 << 20, 2u << 30},
    };
    fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL_FATAL(xpu_chip_load(f.arena, "configs/chip", cases[i].name, &f.chip, &f.diags), XPU_OK);
        CU_ASSERT_STRING_EQUAL(f.chip.name, cases[i].name);
        CU_ASSERT_EQUAL(f.chip.array_rows, cases[i].rows);
        CU_ASSERT_EQUAL(f.chip.array_columns, cases[i].rows);
        CU_ASSERT_EQUAL(f.chip.cores, cases[i].cores);
        CU_ASSERT_EQUAL(f.chip.acc_rows, cases[i].acc_rows);
        CU_ASSERT_EQUAL(f.chip.lm_bytes, cases[i].lm);
        CU_ASSERT_EQUAL(f.chip.sm_bytes, cases[i].sm);
        CU_ASSERT_EQUAL(f.chip.l3_bytes, cases[i].l3);
        CU_ASSERT_EQUAL(f.chip.gm_bytes, cases[i].gm);
        xpu_chip again;
        char *text = xpu_chip_json(f.arena, &f.chip);
        CU_ASSERT_EQUAL(xpu_chip_parse(f.arena, text, strlen(text), "again", &again, &f.diags), XPU_OK);
        CU_ASSERT_EQUAL(memcmp(&again, &f.chip, sizeof again), 0);
        char *path = xpu_printf(f.arena, "configs/chip/%s.json", cases[i].name);
        CU_ASSERT_EQUAL(xpu_chip_load(f.arena, "nowhere", path, &again, &f.diags), XPU_OK);
    }
    CU_ASSERT_EQUAL(f.diags.count, 0);
    close_fixture(&f);
}

static void bad_chips(void) {
    static const struct {
        const char *from, *to, *rule, *in_text;
    } cases[] = {
        {"\"rows\": 32", "\"rows\": 33", "chip-array-power-of-two", "array.rows is 33"},
        {"\"rows\": 32", "\"rows\": 1024", NULL, "rows"},
        {"\"rows\": 32", "\"rows\": \"32\"", NULL, "rows"},
        {"\"rows\": 32, ", "", NULL, "rows"},
        {"\"rows\": 32", "\"rows\": 32, \"colour\": 1", NULL, "colour"},
        {"\"name\": \"t\"", "\"name\": \"a/b\"", "chip-name", "name"},
        {"\"outstanding\": 128", "\"outstanding\": 99", "chip-gm-latency", "gm.outstanding is 99"},
        {"\"post_lanes\": 32", "\"post_lanes\": 24", "chip-post-lanes", "array.post_lanes"},
        {"\"channels\": 0", "\"channels\": 24", "chip-window", "window.channels"},
        {"\"bytes\": 262144", "\"bytes\": 262145", "chip-sizes", "sm.bytes is 262145"},
        {"\"banks\": 8, \"bank_bytes\": 64", "\"banks\": 8, \"bank_bytes\": 48", "chip-ports", "48"},
        {"\"lanes\": 16", "\"lanes\": 12", "chip-lanes", "12"},
        {"\"icache_bytes\": 16384", "\"icache_bytes\": 3072", "chip-icache", "3072"},
        {"\"sm\": {\"bytes\": 262144, \"banks\": 8, \"bank_bytes\": 64},", "", "json-missing-key", "sm"},
        {"\"bytes_per_cycle\": 64, \"latency\": 12", "\"bytes_per_cycle\": 32, \"latency\": 12", "chip-l3-rate", "32"},
        {"}}", "}", NULL, "chip.json"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        char text[1024] = "";
        open_fixture(&f);
        CU_ASSERT_NOT_EQUAL(parse_changed(&f, cases[i].from, cases[i].to), XPU_OK);
        CU_ASSERT_NOT_EQUAL_FATAL(f.diags.count, 0);
        xpu_diag_text(&f.diags, 0, text, sizeof text);
        if (!strstr(text, cases[i].in_text)) printf("case %zu: %s\n", i, text);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, cases[i].in_text));
        if (cases[i].rule) CU_ASSERT_PTR_NOT_NULL(strstr(text, cases[i].rule));
        CU_ASSERT_PTR_NOT_NULL(f.diags.items[0].hint);
        close_fixture(&f);
    }
}

static void unknown_name(void) {
    fixture f;
    open_fixture(&f);
    CU_ASSERT_EQUAL(xpu_chip_load(f.arena, "configs/chip", "mega", &f.chip, &f.diags), XPU_EUSAGE);
    CU_ASSERT_STRING_EQUAL(f.diags.items[0].rule, "chip-unknown");
    close_fixture(&f);
}

static void abi_hash(void) {
    fixture f;
    open_fixture(&f);
    CU_ASSERT_EQUAL_FATAL(parse_changed(&f, "\"t\"", "\"t\""), XPU_OK);
    xpu_chip base = f.chip;
    CU_ASSERT_EQUAL(parse_changed(&f, "\"latency\": 100", "\"latency\": 50"), XPU_OK);
    CU_ASSERT_EQUAL(xpu_chip_abi_hash(&base), xpu_chip_abi_hash(&f.chip));
    CU_ASSERT_EQUAL(parse_changed(&f, "\"count\": 4", "\"count\": 2"), XPU_OK);
    CU_ASSERT_NOT_EQUAL(xpu_chip_abi_hash(&base), xpu_chip_abi_hash(&f.chip));
    CU_ASSERT_STRING_EQUAL(xpu_chip_abi_difference(f.arena, &base, &f.chip), "cores.count 4 against 2");
    close_fixture(&f);
}

/* Every key is found by its name and changes what it names; what runs may change leaves the ABI alone. */
static void keys_by_name(void) {
    fixture f;
    open_fixture(&f);
    CU_ASSERT_EQUAL_FATAL(parse_changed(&f, "\"t\"", "\"t\""), XPU_OK);
    const xpu_chip base = f.chip;
    const char *const *names = xpu_chip_key_names(f.arena, XPU_CHIP_ABI);
    int runs = 0, count = 0;
    for (; names[count]; count++) {
        int key = xpu_chip_key(names[count]);
        CU_ASSERT_EQUAL_FATAL(key, count);
        xpu_chip chip = base;
        xpu_chip_key_set(&chip, key, xpu_chip_key_value(&chip, key) + 1);
        CU_ASSERT_EQUAL(memcmp(&chip, &base, sizeof chip) != 0, 1);
        CU_ASSERT_EQUAL(xpu_chip_abi_hash(&chip) != xpu_chip_abi_hash(&base), xpu_chip_key_is(key) == XPU_CHIP_ABI);
        runs += xpu_chip_key_is(key) == XPU_CHIP_RUN;
    }
    CU_ASSERT_EQUAL(count, 27);
    CU_ASSERT_EQUAL(runs, 5);
    CU_ASSERT_EQUAL(xpu_chip_key_value(&base, xpu_chip_key("gm.outstanding")), 128);
    CU_ASSERT_STRING_EQUAL(xpu_chip_key_names(f.arena, XPU_CHIP_RUN)[0], "l3.bytes_per_cycle");
    static const char *const strangers[] = {"",      "gm",   "gm.",   "gm.byte", "gm.bytes_per_cycles",
                                            "bytes", "name", ".bytes"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) CU_ASSERT_EQUAL(xpu_chip_key(strangers[i]), -1);
    close_fixture(&f);
}

static void fields_do_not_overlap(void) {
    unsigned char used[XPU_CHIP_DESC_WORDS * 32];
    const char *kind = "";
    for (unsigned i = 0; i < xpu_desc_field_count; i++) {
        const xpu_desc_field *f = &xpu_desc_fields[i];
        if (strcmp(kind, f->kind) != 0) memset(used, 0, sizeof used);
        kind = f->kind;
        for (unsigned b = 0; b < f->width; b++) {
            unsigned at = b < 32 ? f->word * 32 + f->bit + b : f->hi + b - 32;
            CU_ASSERT_FATAL(at < sizeof used && (b >= 32 || f->bit + b < 32));
            CU_ASSERT_EQUAL(used[at], 0);
            used[at] = 1;
        }
    }
}

static uint64_t random_state = 20240229;
static uint64_t next_random(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state ^ random_state >> 29;
}

/* Whether the bits of two fields of a descriptor are all as before but those of `field`. */
static int only_changed(const uint32_t *before, const uint32_t *after, const xpu_desc_field *field) {
    for (unsigned i = 0; i < xpu_desc_field_count; i++) {
        const xpu_desc_field *other = &xpu_desc_fields[i];
        if (other == field || strcmp(other->kind, field->kind) != 0) continue;
        if (xpu_desc_get(before, other) != xpu_desc_get(after, other)) return 0;
    }
    return 1;
}

/* Sets a field by the generated header and gives back what the header reads, widened to 64 bits. */
#define VALUE_U(x)  (x)
#define VALUE_S(x)  ((int32_t)(x))
#define VALUE_A(x)  (x)
#define VALUE_F(x)  xpu_desc_float((uint32_t)(x))
#define RESULT_U(x) (x)
#define RESULT_S(x) ((uint64_t)(int64_t)(x))
#define RESULT_A(x) (x)
#define RESULT_F(x) xpu_desc_float_bits(x)
#define ACCESS(kind, name, word, bit, width, hi, type, doc)                                                            \
    static uint64_t access_##kind##_##name(uint32_t *words, uint64_t bits) {                                           \
        xpu_desc_##kind##_set_##name(words, VALUE_##type(bits));                                                       \
        return RESULT_##type(xpu_desc_##kind##_get_##name(words));                                                     \
    }
/* clang-format off */
XPU_DESC_FIELDS(ACCESS)
/* clang-format on */

static uint64_t (*const accesses[])(uint32_t *words, uint64_t bits) = {
#define X(kind, name, word, bit, width, hi, type, doc) access_##kind##_##name,
    XPU_DESC_FIELDS(X)
#undef X
};

static void check_field(const xpu_desc_field *field, uint64_t (*access)(uint32_t *words, uint64_t bits)) {
    uint32_t before[XPU_DESC_WORDS], after[XPU_DESC_WORDS];
    for (unsigned i = 0; i < XPU_DESC_WORDS; i++) before[i] = after[i] = (uint32_t)next_random();
    uint64_t bits = next_random() & (((uint64_t)1 << field->width) - 1), expected = bits;
    if (field->type == 'F') bits = expected = bits % 0x7f800000;
    if (field->type == 'S' && bits >> (field->width - 1)) expected |= ~(uint64_t)0 << field->width;
    uint64_t got = access(after, bits);
    if (got != expected) printf("%s.%s: %llx\n", field->kind, field->name, (unsigned long long)bits);
    CU_ASSERT_EQUAL(got, expected);
    CU_ASSERT_EQUAL(xpu_desc_get(after, field), bits);
    CU_ASSERT(only_changed(before, after, field));
}

static void fields_round_trip(void) {
    printf("(seed %llu) ", (unsigned long long)random_state);
    for (unsigned i = 0; i < xpu_desc_field_count; i++)
        for (int round = 0; round < 8; round++) check_field(&xpu_desc_fields[i], accesses[i]);
}

/* pack and unpack are inverse, and pack sets the opcode. */
#define CHECK_PACK(K, opcode_, engine, doc)                                                                            \
    static void check_pack_##K(void) {                                                                                 \
        uint32_t words[XPU_DESC_WORDS], again[XPU_DESC_WORDS];                                                         \
        xpu_desc_##K d;                                                                                                \
        memset(&d, 0, sizeof d);                                                                                       \
        for (unsigned i = 0; i < XPU_DESC_WORDS; i++) words[i] = 0;                                                    \
        for (unsigned i = 0; i < xpu_desc_field_count; i++)                                                            \
            if (strcmp(xpu_desc_fields[i].kind, #K) == 0)                                                              \
                xpu_desc_set(words, &xpu_desc_fields[i], next_random() & 0x7fffffff);                                  \
        xpu_desc_##K##_set_opcode(words, opcode_);                                                                     \
        xpu_desc_##K##_unpack(words, &d);                                                                              \
        d.opcode = 0;                                                                                                  \
        xpu_desc_##K##_pack(again, &d);                                                                                \
        for (unsigned i = 0; i < XPU_DESC_WORDS; i++) CU_ASSERT_EQUAL(words[i], again[i]);                             \
        CU_ASSERT_STRING_EQUAL(xpu_desc_kind_name(opcode_), #K);                                                       \
    }
/* clang-format off */
XPU_DESC_KINDS(CHECK_PACK)
/* clang-format on */

static void pack_round_trip(void) {
#define X(kind, opcode, engine, doc) check_pack_##kind();
    XPU_DESC_KINDS(X)
#undef X
    CU_ASSERT_EQUAL(sizeof(xpu_post_params), XPU_POST_WORDS * 4);
    CU_ASSERT_STRING_EQUAL(xpu_register_name(XPU_REG_WAIT + 4 * 63), "WAIT");
    CU_ASSERT_PTR_NULL(xpu_register_name(XPU_REG_ACC_ROWS + 4));
}

XPU_TEST_MAIN("chip", {"shipped chips", shipped_chips}, {"bad chips", bad_chips}, {"unknown name", unknown_name},
              {"ABI hash", abi_hash}, {"keys by name", keys_by_name}, {"fields do not overlap", fields_do_not_overlap},
              {"fields round trip", fields_round_trip}, {"pack round trip", pack_round_trip})
