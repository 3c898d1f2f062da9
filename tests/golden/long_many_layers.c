/* 100,000 operators, which become more layers than a tag of the chip can tell apart. */
#include "tests/golden/many_layers.h"

enum { MANY = 10000, MOST = 100000, BEHIND = 46668 }; /* the operator whose layer has a number above 65,536 */

static char folder[] = "/tmp/many_layers_XXXXXX";
static char most_path[64];

static void growth(void) {
    char path[64];
    CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/many.xpu", folder);
    snprintf(most_path, sizeof most_path, "%s/most.xpu", folder);
    many_cost many, most;
    CU_ASSERT_EQUAL_FATAL(many_compile(MANY, path, &many), 0);
    CU_ASSERT_EQUAL_FATAL(many_compile(MOST, most_path, &most), 0);
    printf("%d layers: %ld KB, %.2f s; %d layers: %ld KB, %.2f s\n", MANY, many.kilobytes, many.seconds, MOST,
           most.kilobytes, most.seconds);
    xpurt_error error;
    xpurt_program *program = xpurt_open(most_path, &error);
    CU_ASSERT_FATAL(program != NULL);
    CU_ASSERT(most.kilobytes <= 8 * MOST + 150 * 1024);
    CU_ASSERT(most.seconds <= 12 * many.seconds);
    xpurt_close(program);
    remove(path);
}

/* Results, the dump of a late layer, rows of statistics, and that layer alone. */
static void runs(void) {
    char dump[80], name[32];
    xpurt_error error;
    xpurt_program *program = xpurt_open(most_path, &error);
    CU_ASSERT_FATAL(program != NULL);
    snprintf(dump, sizeof dump, "%s/dump", folder);
    snprintf(name, sizeof name, "l%d*", BEHIND);
    char *stats = NULL;
    xpurt_run_options options = {.dump_folder = dump, .dump_filter = "l4666*", .stats = &stats};
    CU_ASSERT_EQUAL(many_differ(program, &options), 0);
    snprintf(name, sizeof name, "l%d", BEHIND);
    int64_t layer = xpurt_find_layer(program, name, 0, 1, &error);
    CU_ASSERT(layer > UINT16_MAX);
    char row[64];
    snprintf(row, sizeof row, "\"index\": %lld,", (long long)layer);
    CU_ASSERT(stats && strstr(stats, row));
    free(stats);
    uint64_t differs = 0; /* counts on */
    xpurt_run_options alone = {
        .device = xpurt_func_driver(), .layer = name, .from_dump = dump, .layer_differs = &differs};
    xpurt_tensor none = {0};
    CU_ASSERT_EQUAL(xpurt_run(program, NULL, 0, &none, &alone, &error), 0);
    if (error.text) fprintf(stderr, "%s", error.text);
    CU_ASSERT_EQUAL(differs, 0);
    xpurt_close(program);
    char remove_all[128];
    snprintf(remove_all, sizeof remove_all, "rm -r %s", folder);
    CU_ASSERT_EQUAL(system(remove_all), 0);
}

XPU_TEST_MAIN("very many layers", {"memory and time grow with the layers", growth},
              {"results, dump, statistics, replay", runs})
