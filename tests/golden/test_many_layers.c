/* Memory and time of a compilation grow as the number of layers does; what comes out runs. */
#include "tests/golden/many_layers.h"

enum { FEW = 1000, MANY = 10000 };

static void growth(void) {
    char folder[] = "/tmp/many_layers_XXXXXX", few_path[64], path[64];
    CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
    snprintf(few_path, sizeof few_path, "%s/few.xpu", folder);
    snprintf(path, sizeof path, "%s/many.xpu", folder);
    many_cost few, many;
    CU_ASSERT_EQUAL_FATAL(many_compile(FEW, few_path, &few), 0);
    CU_ASSERT_EQUAL_FATAL(many_compile(MANY, path, &many), 0);
    printf("%d layers: %ld KB, %.2f s; %d layers: %ld KB, %.2f s\n", FEW, few.kilobytes, few.seconds, MANY,
           many.kilobytes, many.seconds);
    CU_ASSERT(many.kilobytes - few.kilobytes <= 16 * (MANY - FEW)); /* they are 1.7 layers each */
    CU_ASSERT(many.seconds <= 12 * few.seconds);
    xpurt_error error;
    xpurt_program *program = xpurt_open(path, &error);
    CU_ASSERT_FATAL(program != NULL);
    CU_ASSERT(xpurt_layer_count(program) >= MANY);
    xpurt_run_options options = {0};
    CU_ASSERT_EQUAL(many_differ(program, &options), 0);
    xpurt_close(program);
    remove(few_path);
    remove(path);
    rmdir(folder);
}

XPU_TEST_MAIN("many layers", {"memory and time grow with the layers", growth})
