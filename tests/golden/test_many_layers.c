/* Memory and time of a compilation grow as the number of layers does; what comes out runs. */
#include "tests/golden/many_layers.h"

enum { FEW = 1000, MANY = 10000 };

static void growth_of(const many_form *form) {
    static const uint32_t layers[] = {FEW, MANY};
    char folder[] = "/tmp/many_layers_XXXXXX", few_path[64], path[64];
    CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
    snprintf(few_path, sizeof few_path, "%s/few.xpu", folder);
    snprintf(path, sizeof path, "%s/many.xpu", folder);
    many_cost cost[2];
    many_growth(layers, form, (const char *const[]){few_path, path}, cost);
    CU_ASSERT(cost[1].kilobytes - cost[0].kilobytes <= 16 * (MANY - FEW)); /* they are 1.7 layers each */
    CU_ASSERT(cost[1].seconds <= 12 * cost[0].seconds);
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

static void growth(void) {
    growth_of(&(many_form){0});
}

static void growth_free(void) {
    growth_of(&(many_form){.precision = "int16", .free_batch = 1});
}

XPU_TEST_MAIN("many layers", {"memory and time grow with the layers", growth},
              {"products in int16, any number of images", growth_free})
