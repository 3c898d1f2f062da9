/* How much a run may do where nobody says it: what the layers of the program need, as often as its loops run them. */
#include "tests/unit/program_fixture.h"
#include "xpu_runtime/host/host.h"

/* A device that has the word of the loop's trip count, and that number. */
enum { TRIPS_WORD = 7, TRIPS_AT = 0x1000 };
static uint32_t plan_address;
static int64_t trips;

static int read_device(xpurt_device *device, uint64_t address, void *bytes, size_t length) {
    (void)device;
    const uint32_t at = TRIPS_AT;
    if (address == plan_address + 4 * TRIPS_WORD && length == sizeof at) {
        memcpy(bytes, &at, sizeof at);
    } else if (address == TRIPS_AT && length == sizeof trips) {
        memcpy(bytes, &trips, sizeof trips);
    } else {
        return 1;
    }
    return 0;
}

static double limit_of(xpu_run *run, int64_t count) {
    trips = count;
    return (double)xpu_run_limit(run);
}

/* 8 layers and steps in the loop, 2 behind it. */
static void loops(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    p->plan_address = plan_address = 0x2000;
    const xpurt_run_options options = {.max_instructions = 0};
    const xpurt_device_driver driver = {.read = read_device};
    xpu_run run = {.program = p, .graph = p->graph, .options = &options, .arena = b.arena, .driver = &driver};
    run.symbols[0] = 2;
    double unknown = limit_of(&run, 5);
    p->plan.items[TRIPS_WORD] = (xpu_plan_word){.kind = XPU_WORD_ADDRESS, .buffer = 1}; /* a weight */
    double once = limit_of(&run, 1), each = limit_of(&run, 2) - once;
    CU_ASSERT(once > 1.1e8 && once < 1.11e8);
    CU_ASSERT(each > 8e6 && each < 8.1e6);
    CU_ASSERT_EQUAL(limit_of(&run, 1000), once + 999 * each);
    CU_ASSERT_EQUAL(limit_of(&run, 1000000), once + 999999 * each);
    CU_ASSERT_EQUAL(limit_of(&run, 0), once);
    CU_ASSERT_EQUAL(limit_of(&run, -7), once);
    CU_ASSERT_EQUAL(limit_of(&run, INT64_MAX), unknown); /* the condition ends it */
    CU_ASSERT_EQUAL(unknown, once + 65535 * each);
    p->plan.items[TRIPS_WORD].buffer = 0; /* an input */
    CU_ASSERT_EQUAL(limit_of(&run, 3), once + 2 * each);
    p->plan.items[TRIPS_WORD].buffer = 2; /* a layer's result: not there yet */
    CU_ASSERT_EQUAL(limit_of(&run, 3), unknown);
    p->steps.count = 0;
    CU_ASSERT(limit_of(&run, 1) < once && limit_of(&run, 1) > 1.03e8);
    bench_close(&b);
}

/* On the host: element operations, and where nobody gives a limit how often nodes run, which takes a minute at most. */
static void nodes_of_host(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    const xpurt_run_options unlimited = {.max_instructions = 0}, limited = {.max_instructions = (uint64_t)1 << 40};
    xpu_program_image image = {.name = "m.xpu"};
    xpurt_program owner = {.image = &image};
    xpu_run run = {.owner = &owner, .program = p, .graph = p->graph, .options = &unlimited, .arena = b.arena};
    run.diags = &b.diags;
    const uint64_t most = (uint64_t)1 << 26;
    const xpu_node node = {1};
    run.host_nodes = most - 1;
    CU_ASSERT_EQUAL(xpu_run_meter(&run, node, 1), XPU_OK);
    CU_ASSERT_EQUAL(run.host_nodes, most);
    CU_ASSERT_EQUAL(xpu_run_meter(&run, node, 1), XPU_ETIMEOUT);
    CU_ASSERT_STRING_EQUAL(b.diags.items[0].rule, "device-budget");
    CU_ASSERT_PTR_NOT_NULL(strstr(b.diags.items[0].why, "at most 67108864 nodes and iterations"));
    run.options = &limited;
    CU_ASSERT_EQUAL(xpu_run_meter(&run, node, 1), XPU_OK);
    bench_close(&b);
}

/* A size that the run finds counts as the largest that it may be. */
static void found_sizes(void) {
    BENCH_OPEN(b);
    xpu_program *p = make_program(&b);
    const xpurt_run_options options = {.max_instructions = 0};
    xpu_run run = {.program = p, .graph = p->graph, .options = &options, .arena = b.arena};
    p->steps.count = 0;
    run.symbols[0] = 16;
    double largest = limit_of(&run, 0);
    run.symbols[0] = 1;
    CU_ASSERT(limit_of(&run, 0) < largest);
    p->graph->dims.symbols.items[0].value = p->values.items[2].value;
    CU_ASSERT_EQUAL(limit_of(&run, 0), largest);
    bench_close(&b);
}

XPU_TEST_MAIN("limits", {"nodes of the host", nodes_of_host}, {"loops", loops}, {"sizes that a run finds", found_sizes})
