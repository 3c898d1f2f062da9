#include "tests/chip/rig/rig.h"

#include <elf.h>
#include <stdarg.h>

#include "sim/func/driver.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpurt_rtl.h"

enum { GM_BYTES = 24 << 20, GAP = 256, PAGE = 4096, REPORTS = 5, MAX_INSTRUCTIONS = 300000000 };

/* ---- The program ---- */

static uint8_t *read_whole(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("cannot read %s\n", path);
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*bytes);
    if (fread(data, 1, *bytes, file) != *bytes) *bytes = 0;
    fclose(file);
    return data;
}

static uint32_t symbol(const uint8_t *elf, const char *name) {
    const Elf32_Ehdr *header = (const void *)elf;
    const Elf32_Shdr *sections = (const void *)(elf + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        const Elf32_Sym *symbols = (const void *)(elf + sections[i].sh_offset);
        const char *names = (const char *)elf + sections[sections[i].sh_link].sh_offset;
        for (uint32_t j = 0; j < sections[i].sh_size / sizeof *symbols; j++)
            if (strcmp(names + symbols[j].st_name, name) == 0) return symbols[j].st_value;
    }
    return 0;
}

static int load_program(rig *r) {
    const char *build = getenv("XPU_BUILD");
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/chip/kernels.elf", build ? build : "build");
    size_t bytes = 0;
    uint8_t *elf = read_whole(path, &bytes);
    if (!elf || bytes < sizeof(Elf32_Ehdr)) return 0;
    const Elf32_Ehdr *header = (const void *)elf;
    const Elf32_Phdr *segments = (const void *)(elf + header->e_phoff);
    int fine = 1;
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            fine &= !r->driver->write(r->device, segments[i].p_paddr, elf + segments[i].p_offset, segments[i].p_filesz);
    r->entry = header->e_entry;
    r->plan_address = symbol(elf, "xpu_plan");
    r->control_address = symbol(elf, "xpu_control");
    r->regions[RIG_GM].base = symbol(elf, "xpu_image_end");
    free(elf);
    return fine && r->plan_address && r->control_address && r->regions[RIG_GM].base;
}

/* The chip in C, or with XPU_KERNEL_DEVICE=rtl the Verilated one in lock-step with it; NULL: not there. */
static const xpurt_device_driver *driver_for(const char *chip) {
    const char *device = getenv("XPU_KERNEL_DEVICE"), *build = getenv("XPU_BUILD");
    char folder[1024];
    xpurt_error error = {0, NULL};
    if (!device || strcmp(device, "rtl") != 0) return &xpu_func_driver;
    snprintf(folder, sizeof folder, "%s/lib", build ? build : "build");
    const xpurt_device_driver *driver = xpurt_rtl_load(chip, folder, &(xpurt_rtl_options){.lockstep = 1}, &error);
    if (!driver) printf("%s", error.text);
    xpurt_error_clear(&error);
    return driver;
}

static int open_rig(rig *r, const char *chip, random_source *random, int check_races) {
    memset(r, 0, sizeof *r);
    BENCH_OPEN(ir);
    r->random = random;
    xpu_func_configure(&(xpu_func_options){.check_races = check_races});
    r->driver = driver_for(chip);
    if (r->driver && xpu_chip_load(ir.arena, "configs/chip", chip, &r->chip, &ir.diags) == XPU_OK)
        r->device = r->driver->create(&r->chip, &ir.diags);
    xpu_func_configure(&(xpu_func_options){.check_races = 0});
    bench_print(&ir);
    bench_close(&ir);
    if (!r->device || !load_program(r)) return 0;
    r->regions[RIG_L3] = (rig_region){.base = XPU_L3_BASE, .bytes = r->chip.l3_bytes};
    if (r->regions[RIG_L3].bytes > GM_BYTES) r->regions[RIG_L3].bytes = GM_BYTES;
    r->regions[RIG_GM].bytes = GM_BYTES;
    for (int i = 0; i < RIG_MEMORIES; i++) {
        r->regions[i].expected = malloc(r->regions[i].bytes);
        r->regions[i].actual = malloc(r->regions[i].bytes);
    }
    return 1;
}

int rig_open(rig *r, const char *chip, random_source *random) {
    return open_rig(r, chip, random, 1);
}

int rig_open_unchecked(rig *r, const char *chip, random_source *random) {
    return open_rig(r, chip, random, 0);
}

void rig_close(rig *r) {
    for (int i = 0; i < RIG_MEMORIES; i++) {
        free(r->regions[i].expected);
        free(r->regions[i].actual);
    }
    r->driver->destroy(r->device);
}

/* ---- A case ---- */

void rig_describe(rig *r, const char *what, ...) {
    size_t length = strlen(r->what);
    va_list args;
    va_start(args, what);
    if (length) length += (size_t)snprintf(r->what + length, sizeof r->what - length, "; ");
    if (length < sizeof r->what) vsnprintf(r->what + length, sizeof r->what - length, what, args);
    va_end(args);
}

void rig_begin(rig *r) {
    r->what[0] = 0;
    r->last_bytes = 0;
    r->scratches = 0;
    for (int i = 0; i < RIG_MEMORIES; i++) r->regions[i].used = 0;
    r->plan[0] = 0;
    r->plan[1] = random_range(r->random, 0, 3) ? (uint32_t)random_bits(r->random) : 0;
    r->plan_words = XPU_PLAN_HEAD;
}

static void noise(rig *r, uint8_t *bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; i += 8) {
        uint64_t bits = random_bits(r->random);
        memcpy(bytes + i, &bits, count - i < 8 ? count - i : 8);
    }
}

/* A piece of the region behind what is used, noise so far. */
static uint32_t take(rig *r, rig_region *region, uint32_t bytes) {
    uint32_t offset = region->used;
    noise(r, region->expected + offset, bytes);
    memcpy(region->actual + offset, region->expected + offset, bytes);
    region->used += bytes;
    return offset;
}

uint32_t rig_place(rig *r, const void *data, uint32_t bytes, uint32_t alignment) {
    uint32_t gap = GAP + alignment * (uint32_t)random_range(r->random, 0, 16 / alignment), room = bytes + 2 * GAP + 64;
    rig_region *region = &r->regions[random_range(r->random, 0, 1)];
    if (region->bytes - region->used < room) region = &r->regions[RIG_GM];
    if (region->bytes - region->used < room) {
        printf("%s: no room for %u bytes\n", r->what, bytes);
        exit(EXIT_FAILURE);
    }
    uint32_t offset = take(r, region, (room + 63) / 64 * 64) + gap;
    if (data) {
        memcpy(region->expected + offset, data, bytes);
        memcpy(region->actual + offset, data, bytes);
    }
    return region->base + offset;
}

void rig_expect(rig *r, uint32_t address, const void *data, uint32_t bytes) {
    rig_region *region = &r->regions[address >= XPU_GM_BASE ? RIG_GM : RIG_L3];
    memcpy(region->expected + (address - region->base), data, bytes);
    r->last_address = address;
    r->last_bytes = bytes;
}

uint32_t rig_scratch(rig *r, uint32_t bytes) {
    if (r->scratches == RIG_SCRATCHES) {
        printf("%s: too many scratches\n", r->what);
        exit(EXIT_FAILURE);
    }
    r->scratch[r->scratches].bytes = bytes;
    return r->scratch[r->scratches++].address = rig_place(r, NULL, bytes, 4);
}

/* What scratch holds is as expected. */
static void forget_scratch(rig *r) {
    for (uint32_t i = 0; i < r->scratches; i++) {
        rig_region *region = &r->regions[r->scratch[i].address >= XPU_GM_BASE ? RIG_GM : RIG_L3];
        const uint32_t offset = r->scratch[i].address - region->base;
        memcpy(region->actual + offset, region->expected + offset, r->scratch[i].bytes);
    }
}

void rig_copy_last(rig *r) {
    rig_region *region = &r->regions[r->last_address >= XPU_GM_BASE ? RIG_GM : RIG_L3];
    const uint8_t *data = region->expected + (r->last_address - region->base);
    struct xpu_copy_nd_args a = {.element_bytes = 1, .d = {1, 1, 1, 1, 1}, .xs = {[5] = 1}, .ys = {[5] = 1}};
    a.d[5] = (int32_t)r->last_bytes;
    a.x = r->last_address;
    a.y = rig_place(r, NULL, r->last_bytes, 4); /* words: NaNs are compared as such */
    rig_expect(r, a.y, data, r->last_bytes);
    rig_describe(r, "copy of the result");
    rig_call(r, XPU_CALL_copy_nd, XPU_BODY_IDENTITY, &a, sizeof a);
}

void rig_call(rig *r, xpu_call_kernel kernel, xpu_call_body_id body, const void *args, uint32_t bytes) {
    uint32_t *head = r->plan + r->plan_words;
    r->plan_words += XPU_CALL_HEAD + bytes / 4;
    if (r->plan_words > XPU_CALL_WORDS) exit(EXIT_FAILURE);
    head[0] = kernel;
    head[1] = body;
    head[2] = bytes / 4;
    memcpy(head + XPU_CALL_HEAD, args, bytes);
    r->plan[0]++;
}

uint32_t rig_sm(void) {
    return XPU_SM_BASE + XPU_MAILBOX_BYTES * XPU_MAX_CORES;
}

static int is_nan(uint32_t bits) {
    return (bits & 0x7fffffff) > 0x7f800000;
}

static void compare(const rig *r, const rig_region *region) {
    unsigned wrong = 0;
    for (uint32_t i = 0; i < region->used; i += 4) {
        uint32_t expected, actual;
        memcpy(&expected, region->expected + i, 4);
        memcpy(&actual, region->actual + i, 4);
        if (expected == actual || (is_nan(expected) && is_nan(actual))) continue;
        if (wrong == 0) printf("\n%s, chip %s:", r->what, r->chip.name);
        if (wrong < REPORTS) printf("\n  0x%08x: %08x, not %08x", region->base + i, actual, expected);
        wrong++;
    }
    if (wrong) printf("\n  %u words differ\n", wrong);
    CU_ASSERT_EQUAL(wrong, 0);
}

static int run_program(rig *r) {
    xpurt_event event = {0};
    const uint32_t control[2] = {0, 0};
    r->driver->write(r->device, r->plan_address, r->plan, 4 * r->plan_words);
    r->driver->write(r->device, r->control_address, control, sizeof control);
    if (r->driver->start(r->device, r->entry)) return 0;
    do {
        if (r->driver->run(r->device, MAX_INSTRUCTIONS, &event)) return 0;
    } while (event.kind == XPURT_EVENT_LAYER);
    if (event.kind == XPURT_EVENT_ENDED && event.status == 0) return 1;
    printf("\n%s, chip %s: event %d\n", r->what, r->chip.name, event.kind);
    if (event.kind == XPURT_EVENT_FAULT)
        printf("%s: %s\ncore %d, pc %08x, address %08llx, descriptor %08llx, code %x\n%s\n", event.fault->cause_text,
               event.fault->reason, event.fault->core, event.fault->pc, (unsigned long long)event.fault->address,
               (unsigned long long)event.fault->descriptor, event.fault->code,
               event.fault->state ? event.fault->state : "");
    return 0;
}

static void check_races(const rig *r) {
    xpurt_race race;
    if (!r->driver->race || !r->driver->race(r->device, 0, &race)) return;
    printf("\n%s, chip %s: race at 0x%08llx, core %d, pc 0x%08x and core %d, pc 0x%08x\n", r->what, r->chip.name,
           (unsigned long long)race.address, race.before.core, race.before.pc, race.after.core, race.after.pc);
    CU_FAIL("race");
}

int rig_execute(rig *r) {
    xpurt_counters before, after;
    for (int i = 0; i < RIG_MEMORIES; i++)
        r->driver->write(r->device, r->regions[i].base, r->regions[i].actual, r->regions[i].used);
    r->driver->counters(r->device, &before);
    int fine = run_program(r);
    r->driver->counters(r->device, &after);
    r->instructions = r->most_instructions = 0;
    for (int i = 0; i < XPURT_MAX_CORES; i++) {
        uint64_t spent = after.instructions[i] - before.instructions[i];
        r->instructions += spent;
        if (spent > r->most_instructions) r->most_instructions = spent;
    }
    return fine;
}

void rig_run(rig *r) {
    int fine = rig_execute(r);
    CU_ASSERT(fine);
    for (int i = 0; i < RIG_MEMORIES && fine; i++)
        r->driver->read(r->device, r->regions[i].base, r->regions[i].actual, r->regions[i].used);
    forget_scratch(r);
    for (int i = 0; i < RIG_MEMORIES && fine; i++) compare(r, &r->regions[i]);
    check_races(r);
}
