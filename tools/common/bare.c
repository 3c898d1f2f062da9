#include "tools/common/bare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "base/file.h"
#include "core/isa.h"
#include "tools/common/device.h"
#include "tools/common/instructions.h"
#include "tools/common/settings.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/program/elf.h"
#include "xpuc/pipeline.h"

#define DEFAULT_INSTRUCTIONS UINT64_C(10000000000) /* of all cores together, where --max-cycles gives no limit */

enum { STATUS_TIMEOUT = 124, STATUS_FAULT = 125, STATUS_DIFFERS = 126 };

typedef struct {
    xpu_tool *tool;
    const char *path;
    uint8_t *bytes;
    size_t size;
    xpu_elf elf;
    xpu_chip chip;
    const xpurt_device_driver *driver;
    xpurt_device *device;
} bare;

/* ---- the file ---- */

static xpu_status read_bytes(void *context, uint64_t offset, void *to, size_t length, xpu_diags *diags) {
    (void)diags;
    memcpy(to, ((const bare *)context)->bytes + offset, length);
    return XPU_OK;
}

static int bad_program(const bare *b, const char *what, const char *why) {
    return (int)xpu_error(&b->tool->diags, XPU_EIO, b->path, "bare-program", NULL, what, why,
                          "link it with xpu_runtime/devrt/bare/link.ld");
}

static int open_program(bare *b) {
    const char *why = NULL;
    b->bytes = xpu_file_read_all(b->tool->arena, b->path, (size_t)1 << 31, &b->size, &b->tool->diags);
    if (!b->bytes) return XPU_EIO;
    if (xpu_elf_open(&b->elf, b->size, read_bytes, b, b->tool->arena, &why, &b->tool->diags) != XPU_OK)
        return bad_program(b, "this is no program for the chip", why);
    return XPU_OK;
}

/* Where the host writes what lies at `address` for core `core`. */
static uint32_t host_address(uint32_t address, uint32_t core) {
    if (address - XPU_LM_BASE >= XPU_LM_ALIAS_STRIDE) return address;
    return address - XPU_LM_BASE + XPU_LM_ALL_BASE + core * XPU_LM_ALIAS_STRIDE;
}

static int load(const bare *b) {
    for (uint32_t i = 0; i < b->elf.header.e_phnum; i++) {
        const Elf32_Phdr *p = &b->elf.segments[i];
        int local = p->p_paddr - XPU_LM_BASE < XPU_LM_ALIAS_STRIDE;
        if (p->p_type != PT_LOAD || p->p_filesz == 0) continue;
        for (uint32_t core = 0; core < (local ? b->chip.cores : 1); core++) {
            if (b->driver->write(b->device, host_address(p->p_paddr, core), b->bytes + p->p_offset, p->p_filesz) == 0)
                continue;
            return bad_program(b, "the program does not fit the chip",
                               xpu_printf(b->tool->arena, "chip %s has no %" PRIu32 " bytes of memory at 0x%08" PRIx32,
                                          b->chip.name, p->p_filesz, p->p_paddr));
        }
    }
    return XPU_OK;
}

/* The value of a symbol; 0: there is none. */
static int find_symbol(const bare *b, const char *name, size_t length, uint32_t *value) {
    for (uint32_t i = 1; i < b->elf.header.e_shnum; i++) {
        const Elf32_Shdr *table = &b->elf.sections[i];
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= b->elf.header.e_shnum) continue;
        const Elf32_Shdr *names = &b->elf.sections[table->sh_link];
        if (names->sh_type != SHT_STRTAB) continue;
        for (uint32_t at = 0; table->sh_size - at >= sizeof(Elf32_Sym); at += (uint32_t)sizeof(Elf32_Sym)) {
            Elf32_Sym symbol;
            memcpy(&symbol, b->bytes + table->sh_offset + at, sizeof symbol);
            if (symbol.st_name >= names->sh_size || names->sh_size - symbol.st_name <= length) continue;
            const char *text = (const char *)b->bytes + names->sh_offset + symbol.st_name;
            if (symbol.st_shndx == SHN_UNDEF || memcmp(text, name, length) != 0 || text[length] != 0) continue;
            *value = symbol.st_value;
            return 1;
        }
    }
    return 0;
}

/* ---- dumps ---- */

static int bad_dump(const bare *b, const char *option, const char *why) {
    return xpu_tool_usage(b->tool, "option '--dump-mem'", "this memory cannot be dumped",
                          xpu_printf(b->tool->arena, "'%s': %s", xpu_escape(b->tool->arena, option, 200), why),
                          "write --dump-mem=SYMBOL:BYTES:FILE, for example --dump-mem=results:256:results.bin");
}

typedef struct {
    uint32_t address;
    size_t bytes;
    const char *path;
} stretch;

static int read_stretch(const bare *b, const char *option, stretch *s) {
    const char *colon = strchr(option, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
    char *end;
    if (!second) return bad_dump(b, option, "it does not have three parts");
    unsigned long long bytes = strtoull(colon + 1, &end, 0);
    if (end != second || end == colon + 1 || bytes > (1ull << 31))
        return bad_dump(b, option, "the number of bytes is none");
    if (!find_symbol(b, option, (size_t)(colon - option), &s->address)) {
        unsigned long long number = strtoull(option, &end, 0);
        if (end != colon || end == option || number >> 32)
            return bad_dump(b, option, "the program has no such symbol, and it is no address");
        s->address = (uint32_t)number;
    }
    s->bytes = (size_t)bytes;
    s->path = second + 1;
    return XPU_OK;
}

/* Before the run: whether it can be written. */
static int check_dump(const bare *b, const char *option) {
    stretch s;
    int status = read_stretch(b, option, &s);
    if (status) return status;
    const char *kept = xpu_kept_path(&b->tool->mem, s.path); /* of the chip's file, too, which has been read by now */
    if (kept) return (int)xpu_kept_error(b->tool->arena, &b->tool->diags, "option '--dump-mem'", s.path, kept);
    return (int)xpu_output_check(b->tool->arena, s.path, &b->tool->diags);
}

static int dump(const bare *b, const char *option) {
    stretch s;
    int status = read_stretch(b, option, &s);
    if (status) return status;
    void *data = xpu_alloc(b->tool->arena, s.bytes);
    if (b->driver->read(b->device, host_address(s.address, 0), data, s.bytes))
        return bad_dump(b, option, "the memory of the chip ends before");
    return (int)xpu_file_write(b->tool->arena, s.path, data, s.bytes, &b->tool->diags);
}

static int for_all_dumps(const bare *b, int (*act)(const bare *b, const char *option)) {
    int status = XPU_OK;
    for (uint32_t i = 0; i < b->tool->arguments.count; i++) {
        const xpu_argument *a = &b->tool->arguments.items[i];
        if (!a->name || strcmp(a->name, "dump-mem") != 0) continue;
        int done = act(b, a->value);
        if (done) status = done;
    }
    return status;
}

/* ---- running ---- */

static void put(void *context, char byte) {
    (void)context;
    putchar(byte);
}

static int fault_status(const xpurt_fault *fault) {
    fprintf(stderr, "%s: %s\n", fault->cause_text, fault->reason);
    if (fault->core >= 0) {
        char text[80];
        xpu_disassemble(fault->instruction, fault->pc, text, sizeof text);
        fprintf(stderr, "core %d, pc 0x%08" PRIx32 ": %08" PRIx32 " %s\n", fault->core, fault->pc, fault->instruction,
                text);
        fprintf(stderr, "address 0x%08" PRIx64 ", code %" PRIu32 "\n", fault->address, fault->code);
    }
    if (fault->engine >= 0)
        fprintf(stderr, "engine %s, descriptor at 0x%08" PRIx64 ", address 0x%08" PRIx64 "\n",
                xpu_engine_name((unsigned)fault->engine), fault->descriptor, fault->address);
    fputs(fault->state, stderr);
    if (fault->differs) return STATUS_DIFFERS;
    return fault->cause == XPU_FAULT_TIMEOUT || fault->cause == XPU_FAULT_DEADLOCK ? STATUS_TIMEOUT : STATUS_FAULT;
}

/* A status that a process can have, 0 only for 0. */
static int exit_status(uint32_t status) {
    return status != 0 && (status & 255) == 0 ? 1 : (int)(status & 255);
}

static uint64_t instructions(const bare *b) {
    xpurt_counters now;
    uint64_t total = 0;
    b->driver->counters(b->device, &now);
    for (int i = 0; i < XPURT_MAX_CORES; i++) total += now.instructions[i];
    return total;
}

/* Nobody runs layers for a bare program: whatever its request is, the call ends it. */
static int host_call(const bare *b, uint32_t address) {
    uint32_t request[2];
    fputs("bad host call: a bare program has no host that answers\n", stderr);
    fprintf(stderr, "core 0, address 0x%08" PRIx32 ": ", address);
    if (b->driver->read(b->device, address, request, sizeof request))
        fputs("there is no request, these bytes are not in one memory of this chip\n", stderr);
    else
        fprintf(stderr, "the request is layer %" PRIu32 ", status %" PRIu32 "\n", request[0], request[1]);
    return STATUS_FAULT;
}

static int stopped(const bare *b) {
    xpurt_position at;
    xpurt_counters now;
    xpu_text why;
    b->driver->position(b->device, &at);
    b->driver->counters(b->device, &now);
    xpu_text_init(&why, b->tool->arena);
    if (now.cycles)
        xpu_text_add(&why, "cycle %" PRIu64, now.cycles);
    else
        xpu_text_add(&why, "%" PRIu64 " instructions", instructions(b));
    for (unsigned i = 0; i < at.cores; i++) xpu_text_add(&why, "; core %u at pc 0x%08" PRIx32, i, at.core[i].pc);
    return (int)xpu_error_stopped(&b->tool->diags, b->path,
                                  xpu_printf(b->tool->arena, "layer %" PRIu32, at.core[0].layer), why.text);
}

static int follow(const bare *b, uint64_t limit) {
    for (;;) {
        xpurt_event event = {.kind = XPURT_EVENT_BUDGET};
        uint64_t used = limit ? instructions(b) : 0;
        if ((!limit || used < limit) && b->driver->run(b->device, limit - used, &event))
            return (int)xpu_error(&b->tool->diags, XPU_EIO, b->path, "device-run", NULL, "the device cannot run",
                                  "the host gave it no memory", NULL);
        switch (event.kind) {
        case XPURT_EVENT_ENDED: return exit_status(event.status);
        case XPURT_EVENT_FAULT: return fault_status(event.fault);
        case XPURT_EVENT_BUDGET:
            if (xpu_tool_flag(b->tool, "max-cycles"))
                fprintf(stderr, "--max-cycles=%s has passed\n", xpu_tool_option(b->tool, "max-cycles"));
            else
                fprintf(stderr, "%" PRIu64 " instructions have passed; raise the limit: --max-cycles=N\n", limit);
            return STATUS_TIMEOUT;
        case XPURT_EVENT_STOPPED: return stopped(b);
        case XPURT_EVENT_LAYER: break;
        case XPURT_EVENT_HOST_CALL: return host_call(b, event.address);
        }
    }
}

static void print_access(const xpurt_access *a) {
    const char *verb = a->write ? "writes" : "reads";
    if (a->engine >= 0)
        fprintf(stderr, "  %s, queue of core %d, %s descriptor at 0x%08" PRIx64 ": %s (%s)\n",
                xpu_engine_name((unsigned)a->engine), a->core, a->kind ? a->kind : "unknown", a->descriptor, verb,
                a->field);
    else if (a->core >= 0)
        fprintf(stderr, "  core %d, pc 0x%08" PRIx32 ": %s\n", a->core, a->pc, verb);
    else
        fprintf(stderr, "  the host: %s\n", verb);
}

/* Prints the races that the device has found; the status, which they make that of a fault. */
static int print_races(const bare *b, int status) {
    xpurt_race race;
    for (size_t i = 0; b->driver->race && b->driver->race(b->device, i, &race); i++) {
        if (race.counter >= 0)
            fprintf(stderr, "race: either of two signals may fulfil a wait for counter %d >= %" PRIu32 "\n",
                    race.counter, race.value);
        else
            fprintf(stderr, "race: nothing orders two accesses to 0x%08" PRIx64 "\n", race.address);
        print_access(&race.before);
        print_access(&race.after);
        fprintf(stderr, "  hint: %s\n", race.hint);
        status = STATUS_FAULT;
    }
    return status;
}

static void print_work(const bare *b, int status) {
    xpurt_counters counters;
    b->driver->counters(b->device, &counters);
    fflush(stdout);
    fprintf(stderr, "%s on %s (chip %s): status %d, %" PRIu64 " instructions",
            xpu_tool_path(b->tool, xpu_path_name(b->path)), b->driver->name,
            xpu_escape(b->tool->arena, b->chip.name, 60), status, instructions(b));
    if (counters.cycles) fprintf(stderr, ", %" PRIu64 " cycles", counters.cycles);
    fputc('\n', stderr);
}

static void destroy(void *object) {
    const bare *b = object;
    b->driver->destroy(b->device);
}

static int run_program(bare *b, const xpu_device_options *options) {
    b->device = b->driver->create(&b->chip, &b->tool->diags);
    if (!b->device) return (int)xpu_diags_status(&b->tool->diags);
    xpu_arena_defer(b->tool->arena, destroy, b);
    int status = load(b);
    if (!status) status = for_all_dumps(b, check_dump);
    if (status) return status;
    b->driver->output(b->device, put, NULL);
    b->driver->seed(b->device, options->rtl.seed);
    if (b->driver->start(b->device, b->elf.header.e_entry))
        return bad_program(b, "the program cannot be started", "its entry is no address of the chip");
    b->driver->stop(b->device, xpu_stop_requested, NULL);
    xpu_stop_begin();
    uint64_t limit = options->rtl.max_cycles;
    status = follow(b, !limit ? DEFAULT_INSTRUCTIONS : options->has_time ? 0 : limit);
    int dumped = for_all_dumps(b, dump);
    xpu_stop_end();
    status = print_races(b, status);
    if (!b->tool->quiet) print_work(b, status);
    return dumped ? dumped : status;
}

/* --wave=NUMBER:FILE: from the cycle in which core 0 stores this layer to LAYER, or a later one; 0: from the start. */
static int wave_option(xpu_tool *tool, xpurt_rtl_options *rtl) {
    const char *wave = xpu_tool_option(tool, "wave");
    char *end;
    if (!wave) return XPU_OK;
    rtl->wave_layer = (uint32_t)strtoul(wave, &end, 10);
    rtl->wave_file = end + 1;
    if (end != wave && *end == ':' && end[1]) return XPU_OK;
    return xpu_tool_usage(tool, "option '--wave'", "this is no layer and file", xpu_escape(tool->arena, wave, 200),
                          "a bare program's layers are what it stores to LAYER: write --wave=0:FILE.fst");
}

int xpu_bare_run(xpu_tool *tool) {
    bare *b = XPU_NEW(tool->arena, bare);
    const char *chip = xpu_tool_option(tool, "chip");
    xpu_device_options options;
    b->tool = tool;
    b->path = xpu_tool_word(tool, 0);
    int status = xpu_device_options_read(tool, &options);
    if (!status) status = wave_option(tool, &options.rtl);
    if (status) return status;
    const char *folder = xpu_path_join(tool->arena, xpu_find_resources(tool->arena, NULL), "configs/chip");
    status = (int)xpu_chip_load(tool->arena, folder, chip ? chip : "standard", &b->chip, &tool->diags);
    if (!status) status = xpu_settings_of_run(tool, &b->chip);
    if (status) return status;
    status = xpu_instructions_configure(tool, NULL, &b->chip, &options);
    if (!status) status = open_program(b);
    if (!status) status = xpu_device_open(tool, &options, &b->chip, &b->driver);
    return status ? status : run_program(b, &options);
}
