#include "base/arena.h"
#include "base/name_table.h"

#include <stdint.h>
#include <string.h>

#include "tests/unit/oom.h"
#include "tests/unit/unit.h"

static int is_zero(const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (bytes[i]) return 0;
    }
    return 1;
}

static xpu_status allocate(xpu_arena *arena, xpu_diags *diags) {
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 4095, 16384, 20000, 1 << 20, (1 << 20) + 1, 5 << 20, 7};
    (void)diags;
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            unsigned char *block = xpu_alloc(arena, sizes[i]);
            CU_ASSERT_PTR_NOT_NULL(block);
            CU_ASSERT_EQUAL((uintptr_t)block % (sizes[i] < 64 ? 16 : 64), 0);
            CU_ASSERT(is_zero(block, sizes[i]));
            memset(block, 0xff, sizes[i]); /* an overlap with a later block would show there */
        }
    }
    CU_ASSERT(xpu_arena_mem(arena)->bytes >= 3 * (5 << 20));
    CU_ASSERT_EQUAL(xpu_arena_mem(arena)->bytes, xpu_arena_mem(arena)->peak_bytes);
    return XPU_OK;
}

static void allocation(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(allocate, &diags), XPU_OK);
    xpu_diags_clear(&diags);
}

static char trace[64];

static void leave_mark(void *object) {
    strcat(trace, object);
}

static void cleanup_order(void) {
    xpu_mem mem;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        CU_FAIL("memory ran out");
        return;
    }
    trace[0] = '\0';
    xpu_arena *first = xpu_arena_new(&mem, "first"), *second = xpu_arena_new(&mem, "second");
    xpu_arena *third = xpu_arena_new(&mem, "third");
    xpu_arena_defer(first, leave_mark, "a");
    xpu_arena_defer(second, leave_mark, "b");
    xpu_arena_defer(first, leave_mark, "c");
    xpu_arena_defer(third, leave_mark, "d");
    xpu_arena_defer(second, leave_mark, "e");
    CU_ASSERT_STRING_EQUAL(xpu_arena_lifetime(second), "second");
    xpu_arena_free(second);
    xpu_arena_free(NULL);
    CU_ASSERT_STRING_EQUAL(trace, "eb");
    xpu_mem_release(&mem);
    CU_ASSERT_STRING_EQUAL(trace, "ebdca");
    CU_ASSERT_EQUAL(mem.bytes, 0);
}

static xpu_status fill(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    struct {
        const char *name;
        uint32_t value;
    } item;
    XPU_ARRAY(uint32_t) numbers = {0};
    struct {
        __typeof__(item) *items;
        uint32_t count, capacity;
    } items = {0};
    xpu_text text;
    xpu_text_init(&text, arena);
    for (uint32_t i = 0; i < 1000; i++) {
        XPU_PUSH(arena, &numbers, i * i);
        item.name = xpu_printf(arena, "item %u", i);
        item.value = i;
        XPU_PUSH(arena, &items, item);
        xpu_text_add(&text, "%u,", i);
        xpu_text_add_bytes(&text, "\0", 1);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "item %u", i);
        CU_ASSERT_EQUAL(numbers.items[i], i * i);
        CU_ASSERT_EQUAL(items.items[i].value, i);
        CU_ASSERT_STRING_EQUAL(items.items[i].name, name);
    }
    CU_ASSERT_EQUAL(text.length, 2 * 10 + 3 * 90 + 4 * 900 + 1000);
    CU_ASSERT_EQUAL(text.text[text.length], '\0');
    return XPU_OK;
}

static xpu_status strings(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    CU_ASSERT_STRING_EQUAL(xpu_strdup(arena, ""), "");
    CU_ASSERT_STRING_EQUAL(xpu_strdup(arena, "abc"), "abc");
    CU_ASSERT_STRING_EQUAL(xpu_strndup(arena, "abcdef", 3), "abc");
    CU_ASSERT_STRING_EQUAL(xpu_strndup(arena, "ab\0cd", 5), "ab");
    CU_ASSERT_STRING_EQUAL(xpu_strndup(arena, NULL, 0), "");
    CU_ASSERT_STRING_EQUAL(xpu_printf(arena, "%d-%s", 7, "x"), "7-x");
    CU_ASSERT_EQUAL(memcmp(xpu_copy(arena, "xyz", 3), "xyz", 3), 0);
    CU_ASSERT_PTR_NOT_NULL(xpu_copy(arena, NULL, 0));
    return XPU_OK;
}

static void growing(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(fill, &diags), XPU_OK);
    CU_ASSERT_EQUAL(xpu_run_work(strings, &diags), XPU_OK);
    xpu_diags_clear(&diags);
}

/* Sizes that no machine has end at the API boundary. */
static xpu_status array_overflow(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    xpu_alloc_array(arena, SIZE_MAX / 2, 3);
    return XPU_OK;
}

static xpu_status huge_block(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    xpu_alloc(arena, SIZE_MAX - 16);
    return XPU_OK;
}

static xpu_status count_overflow(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    uint32_t capacity = UINT32_MAX;
    xpu_array_reserve(arena, NULL, &capacity, 0, 1);
    return XPU_OK;
}

static xpu_status library_failure(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    xpu_out_of_memory(xpu_arena_mem(arena));
}

static void overflow(void) {
    static const xpu_work cases[] = {array_overflow, huge_block, count_overflow, library_failure};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_diags diags;
        xpu_diags_init(&diags);
        CU_ASSERT_EQUAL(xpu_run_work(cases[i], &diags), XPU_EIO);
        CU_ASSERT_EQUAL(diags.count, 1);
        CU_ASSERT_STRING_EQUAL(diags.items[0].rule, "out-of-memory");
        xpu_diags_clear(&diags);
    }
}

static int balance;

static void decrement(void *object) {
    (void)object;
    balance--;
}

static xpu_status nested(xpu_arena *arena, xpu_diags *diags) {
    for (int i = 0; i < 5; i++) {
        xpu_arena *inner = xpu_arena_new(xpu_arena_mem(arena), "inner");
        balance++; /* something is opened; what comes next must not lose it */
        xpu_arena_defer(inner, decrement, NULL);
        strings(inner, diags);
        xpu_alloc(inner, 100000);
        balance++;
        xpu_arena_defer(arena, decrement, NULL);
        if (i % 2) xpu_arena_free(inner);
    }
    return fill(arena, diags);
}

static xpu_status name_tables(xpu_arena *arena, xpu_diags *diags) {
    enum { NAMES = 5000 };
    xpu_name_table table = {.arena = arena};
    (void)diags;
    CU_ASSERT_PTR_NULL(xpu_name_find(&table, "n0"));
    for (uint32_t i = 0; i < NAMES; i++) xpu_name_add(&table, xpu_printf(arena, "n%u", i), i);
    for (uint32_t i = 0; i < NAMES; i++) {
        const uint32_t *value = xpu_name_find(&table, xpu_printf(arena, "n%u", i));
        CU_ASSERT(value && *value == i);
    }
    CU_ASSERT_PTR_NULL(xpu_name_find(&table, "n5000"));
    CU_ASSERT_PTR_NULL(xpu_name_find(&table, ""));
    return XPU_OK;
}

static void names(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(name_tables, &diags), XPU_OK);
    xpu_diags_clear(&diags);
}

static void every_allocation_fails(void) {
    balance = 0;
    unsigned long count = xpu_fail_each_allocation(nested, 1);
    CU_ASSERT(count > 1000);
    CU_ASSERT_EQUAL(balance, 0);
}

XPU_TEST_MAIN("arena", {"alignment and zeroes", allocation}, {"clean-up order", cleanup_order},
              {"arrays, text, strings", growing}, {"overflow", overflow}, {"names", names},
              {"every allocation fails", every_allocation_fails})
