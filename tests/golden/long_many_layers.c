/* 100,000 operators, which become more layers than a tag of the chip can tell apart. */
#include "tests/golden/many_layers.h"

enum { MANY = 10000, MOST = 100000, BEHIND = 46668 }; /* the operator whose layer has a number above 65,536 */

static char folder[] = "/tmp/many_layers_XXXXXX";
static char most_path[64];

static void growth_of(const many_form *form, const char *path) {
    static const uint32_t layers[] = {MANY, MOST};
    many_cost cost[2];
    many_growth(layers, form, (const char *const[]){path, path}, cost);
    CU_ASSERT(cost[1].kilobytes <= 8 * MOST + 150 * 1024);
    CU_ASSERT(cost[1].seconds <= 12 * cost[0].seconds);
}

static void growth(void) {
    CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
    snprintf(most_path, sizeof most_path, "%s/most.xpu", folder);
    growth_of(&(many_form){0}, most_path);
}

/* Layers on the tensor engine, whose sizes are bound when the program runs. */
static void growth_free(void) {
    char path[64];
    snprintf(path, sizeof path, "%s/free.xpu", folder);
    growth_of(&(many_form){.precision = "int16", .free_batch = 1}, path);
    xpurt_error error;
    xpurt_program *program = xpurt_open(path, &error);
    CU_ASSERT_FATAL(program != NULL);
    xpurt_run_options options = {0};
    CU_ASSERT_EQUAL(many_differ(program, &options), 0);
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

/* ---- on the Verilated chip ---- */

enum { SHORT = 66000, LATE = 65900, SHORT_ELEMENTS = 16 };

static int short_program(const char *path) {
    char name[16];
    xpuc_network *n = xpuc_network_new("short layers", NULL);
    xpuc_value x = xpuc_input(n, "x", "float32", 2, (xpuc_dim[]){XPUC_SIZE(2), XPUC_SIZE(8)});
    for (int i = 0; i < SHORT; i++) {
        snprintf(name, sizeof name, "s%d", i);
        x = xpuc_softmax(n, name, x, 1 - i % 2);
    }
    xpuc_output(n, x, "y");
    xpuc_result result;
    xpuc_error error;
    xpuc_options nano = {.chip = "nano"};
    int status = xpuc_network_compile_to_file(n, path, &nano, &result, &error);
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
    xpuc_network_free(n);
    return status;
}

static int write_npy(const char *path) {
    static const char header[] =
        "\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 8), }          \n";
    float data[SHORT_ELEMENTS];
    uint32_t state = 3;
    for (int i = 0; i < SHORT_ELEMENTS; i++) data[i] = many_weight(&state);
    FILE *file = fopen(path, "wb");
    int whole = file && fwrite(header, 1, 80, file) == 80 && fwrite(data, sizeof data, 1, file) == 1;
    return file && fclose(file) == 0 && whole ? 0 : -1;
}

/* Each instruction is told with its layer, whose tag another layer has had before; results are those of ref. */
static void runs_on_rtl(void) {
    char place[] = "/tmp/many_layers_XXXXXX", path[64], line[512], command[512];
    const char *bin = getenv("XPU_BIN") ? getenv("XPU_BIN") : "build/bin";
    CU_ASSERT_FATAL(mkdtemp(place) != NULL);
    snprintf(path, sizeof path, "%s/short.xpu", place);
    CU_ASSERT_EQUAL_FATAL(short_program(path), 0);
    snprintf(path, sizeof path, "%s/x.npy", place);
    CU_ASSERT_EQUAL_FATAL(write_npy(path), 0);
    snprintf(command, sizeof command, "%s/xpu-run -q %s/short.xpu -d rtl -i %s/x.npy -o %s/rtl.npz --instructions=s%d",
             bin, place, place, place, LATE);
    FILE *said = popen(command, "r");
    CU_ASSERT_FATAL(said != NULL);
    int retired = 0;
    char layer[32];
    snprintf(layer, sizeof layer, " layer %d ", LATE);
    while (fgets(line, sizeof line, said)) {
        CU_ASSERT(strstr(line, layer) != NULL);
        retired++;
    }
    CU_ASSERT_EQUAL(pclose(said), 0);
    CU_ASSERT(retired > 100 && retired < 10000);
    printf("%d layers on rtl; layer %d: %d instructions\n", SHORT, LATE, retired);
    snprintf(command, sizeof command,
             "%s/xpu-run -q %s/short.xpu -d ref -i %s/x.npy -o %s/ref.npz && "
             "%s/xpu-dump diff %s/rtl.npz %s/ref.npz --all >%s/diff",
             bin, place, place, place, bin, place, place, place);
    CU_ASSERT_EQUAL(system(command), 0);
    snprintf(command, sizeof command, "rm -r %s", place);
    CU_ASSERT_EQUAL(system(command), 0);
}

XPU_TEST_MAIN("very many layers", {"memory and time grow with the layers", growth},
              {"products in int16, any number of images", growth_free}, {"results, dump, statistics, replay", runs},
              {"the Verilated chip", runs_on_rtl})
