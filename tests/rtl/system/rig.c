/* See rig.h. */
#include "tests/rtl/system/rig.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/program/elf.h"

system_chip chips[CHIPS] = {{"nano", "nano", {{0}}, NULL, NULL, NULL},
                            {"quad", "tests/rtl/system/quad.json", {{0}}, NULL, NULL, NULL}};
static xpu_mem mem;
xpu_arena *arena;
xpu_diags diags;
memory_hooks hooks;
uint32_t system_entry;
static const uint8_t *program;
static size_t program_size;
static xpu_elf elf;

static xpu_status read_program(void *context, uint64_t offset, void *to, size_t length, xpu_diags *unused) {
    (void)context;
    (void)unused;
    memcpy(to, program + offset, length);
    return XPU_OK;
}

static int load_library(system_chip *chip, const char *build) {
    void *library = dlopen(xpu_printf(arena, "%s/lib/libxpurtl-%s.so", build, chip->name), RTLD_NOW | RTLD_LOCAL);
    void *symbols[3] = {NULL};
    xpurt_rtl_driver_fn *driver;
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    symbols[0] = dlsym(library, XPURT_RTL_DRIVER);
    symbols[1] = dlsym(library, XPURT_RTL_CONFIGURE);
    symbols[2] = dlsym(library, XPURT_RTL_LOOK);
    memcpy(&driver, &symbols[0], sizeof driver);
    memcpy(&chip->configure, &symbols[1], sizeof chip->configure);
    memcpy(&chip->look, &symbols[2], sizeof chip->look);
    chip->driver = driver();
    return xpu_chip_load(arena, "configs/chip", chip->file, &chip->chip, &diags) == XPU_OK ? 0 : -1;
}

int set_up(void) {
    const char *build = getenv("XPU_BUILD"), *other = getenv("XPU_SYSTEM_CHIP"), *why = NULL;
    if (other) chips[1].name = chips[1].file = other;
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    arena = xpu_arena_new(&mem, "test");
    if (!build) build = "build";
    const char *path = xpu_printf(arena, "%s/tests/rtl/system/system.elf", build);
    program = xpu_file_read_all(arena, path, 1 << 20, &program_size, &diags);
    if (!program || xpu_elf_open(&elf, program_size, read_program, NULL, arena, &why, &diags) != XPU_OK) return -1;
    system_entry = elf.header.e_entry;
    for (int i = 0; i < CHIPS; i++)
        if (load_library(&chips[i], build)) return -1;
    return 0;
}

/* ---- running ---- */

static void put(void *context, char byte) {
    outcome *o = context;
    if (o->printed_count + 1 < sizeof o->printed) o->printed[o->printed_count++] = byte;
}

/* The host's part of a host call: the request's first word times 3, plus 1, into the second. */
static void answer(const xpurt_device_driver *driver, xpurt_device *device, uint32_t address) {
    uint32_t words[2];
    CU_ASSERT_EQUAL(driver->read(device, address, words, sizeof words), 0);
    words[1] = words[0] * 3 + 1;
    CU_ASSERT_EQUAL(driver->write(device, address, words, sizeof words), 0);
    CU_ASSERT_EQUAL(driver->answer(device), 0);
}

void follow(const xpurt_device_driver *driver, xpurt_device *device, outcome *o) {
    for (int done = 0; !done && o->event_count < MAX_EVENTS;) {
        xpurt_event *event = &o->events[o->event_count++];
        CU_ASSERT_EQUAL_FATAL(driver->run(device, 0, event), 0);
        done = event->kind != XPURT_EVENT_LAYER && event->kind != XPURT_EVENT_HOST_CALL;
        if (event->kind == XPURT_EVENT_HOST_CALL) answer(driver, device, event->address);
        if (event->kind != XPURT_EVENT_FAULT) continue;
        o->fault = *event->fault;
        snprintf(o->text, sizeof o->text, "%s: %s", event->fault->cause_text, event->fault->reason);
        if (event->fault->cause == XPU_FAULT_DEADLOCK) snprintf(o->state, sizeof o->state, "%s", event->fault->state);
    }
    driver->read(device, SYSTEM_RESULTS, o->results, sizeof o->results);
    driver->counters(device, &o->counters);
    if (hooks.after) hooks.after(hooks.context, driver, device);
}

xpurt_device *prepare(const xpurt_device_driver *driver, const xpu_chip *chip, const uint32_t *request, outcome *o) {
    xpurt_device *device = driver->create(chip, &diags);
    memset(o, 0, sizeof *o);
    CU_ASSERT_PTR_NOT_NULL_FATAL(device);
    for (unsigned i = 0; i < elf.header.e_phnum; i++) {
        const Elf32_Phdr *p = &elf.segments[i];
        if (p->p_type == PT_LOAD && p->p_filesz)
            CU_ASSERT_EQUAL(driver->write(device, p->p_paddr, program + p->p_offset, p->p_filesz), 0);
    }
    CU_ASSERT_EQUAL(driver->write(device, SYSTEM_REQUEST, request, 5 * sizeof *request), 0);
    if (hooks.before) hooks.before(hooks.context, driver, device);
    driver->output(device, put, o);
    CU_ASSERT_EQUAL_FATAL(driver->start(device, elf.header.e_entry), 0);
    return device;
}

void run_func(const xpu_chip *chip, const uint32_t *request, outcome *o) {
    xpurt_device *device = prepare(&xpu_func_driver, chip, request, o);
    follow(&xpu_func_driver, device, o);
    xpu_func_driver.destroy(device);
}

void run_rtl(const system_chip *chip, const uint32_t *request, const xpurt_rtl_options *options, outcome *o) {
    chip->configure(options);
    xpurt_device *device = prepare(chip->driver, &chip->chip, request, o);
    follow(chip->driver, device, o);
    chip->look(device, &o->statistics);
    chip->driver->destroy(device);
    for (unsigned core = 0; core < chip->chip.cores; core++) {
        uint64_t sum = 0;
        for (int i = 0; i < 32; i++) sum += o->statistics.states[core][i];
        CU_ASSERT_EQUAL(sum, o->statistics.cycles);
    }
    for (unsigned engine = 0; engine < xpu_chip_engines(&chip->chip); engine++) {
        uint64_t sum = 0;
        for (int i = 0; i < XPURT_STATES; i++) sum += o->counters.engine_states[engine][i];
        CU_ASSERT_EQUAL(sum, o->counters.cycles);
    }
}

int same_time(const outcome *a, const outcome *b) {
    return a->statistics.cycles == b->statistics.cycles && a->counters.cycles == b->counters.cycles &&
           memcmp(a->statistics.states, b->statistics.states, sizeof a->statistics.states) == 0 &&
           memcmp(a->counters.engine_states, b->counters.engine_states, sizeof a->counters.engine_states) == 0 &&
           memcmp(a->counters.instructions, b->counters.instructions, sizeof a->counters.instructions) == 0;
}

void release(void) {
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
}
