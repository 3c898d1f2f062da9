/* What every unit-test program shares: one CUnit suite, CUnit's own summary, exit status 1 when a check failed. */
#ifndef XPU_TESTS_UNIT_H
#define XPU_TESTS_UNIT_H

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <stdlib.h>

typedef struct {
    const char *name;
    void (*run)(void);
} xpu_test;

static inline int xpu_test_main(const char *suite_name, const xpu_test *tests) {
    if (CU_initialize_registry() != CUE_SUCCESS) return EXIT_FAILURE;
    CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
    for (; suite && tests->name; tests++) {
        if (!CU_add_test(suite, tests->name, tests->run)) suite = NULL;
    }
    if (!suite) {
        CU_cleanup_registry();
        return EXIT_FAILURE;
    }
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* XPU_TEST_MAIN("json", {"unknown key", unknown_key}, {"depth", depth}) */
#define XPU_TEST_MAIN(suite_name, ...)                                                                                 \
    int main(void) {                                                                                                   \
        static const xpu_test tests[] = {__VA_ARGS__, {NULL, NULL}};                                                   \
        return xpu_test_main(suite_name, tests);                                                                       \
    }

#endif
