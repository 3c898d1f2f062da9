/*
 * Programs that go wrong: whatever a program does, a run ends with a report (docs/chip.md, "Faults") and exit code 5,
 * or 6 for a time-out. A few instructions take the place of the first ones of a compiled program.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "sim/func/driver.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/program/file.h"
#include "xpu_runtime/include/xpurt_rtl.h"
#include "xpuc/include/xpuc.h"

#define MODEL "tests/models/mnist-8.onnx"

enum { T0 = 5, T1 = 6, A0 = 10, MAX_WORDS = 40, SECONDS = 10 };
#define LUI(rd, upper)       ((uint32_t)(upper) << 12 | (rd) << 7 | 0x37)
#define ADDI(rd, rs, value)  ((uint32_t)(value) << 20 | (rs) << 15 | (rd) << 7 | 0x13)
#define LW(rd, base, offset) ((uint32_t)(offset) << 20 | (base) << 15 | 2 << 12 | (rd) << 7 | 0x03)
#define SW(source, base, offset)                                                                                       \
    ((uint32_t)(offset) >> 5 << 25 | (source) << 20 | (base) << 15 | 2 << 12 | ((uint32_t)(offset) & 31) << 7 | 0x23)
#define JALR(base)         ((uint32_t)(base) << 15 | 0x67)
#define JUMP_TO_ITSELF     0x0000006f
#define AUIPC(rd)          ((uint32_t)(rd) << 7 | 0x17)
#define SET(offset, value) ADDI(T1, 0, value), SW(T1, T0, offset) /* a register of the chip; T0 holds their base */
#define IN_LAYER(layer)    LUI(T0, XPU_REGS_BASE >> 12), LUI(T1, (layer) << 4), SW(T1, T0, XPU_REG_LAYER)

typedef struct {
    const char *name;
    uint32_t words[MAX_WORDS];
    int status;
    const char *texts[4]; /* what the report has to contain */
} bad_program;

/* The tag of layer 2 is set first; the program's fourth word is therefore the first one at fault, entry + 12. */
static const bad_program programs[] = {
    {"loops for ever",
     {IN_LAYER(2), JUMP_TO_ITSELF},
     6,
     {"error [device-timeout] layer 'ReLU114' (#2): time-out: ", "why: core 0, pc 0x80000", "instruction 0x0000006f",
      "\ncore 0: pc 0x80000"}},
    {"jumps into nothing",
     {IN_LAYER(2), JALR(0)},
     5,
     {"error [device-fault] layer 'ReLU114' (#2): bad instruction address: ", "core 0, pc 0x00000000, instruction ",
      "address 0x00000000"}},
    {"jumps to where no code is",
     {IN_LAYER(2), LUI(A0, 0x30000), JALR(A0)},
     5,
     {"bad instruction address: ", "core 0, pc 0x30000000", "address 0x30000000"}},
    {"reads a null pointer",
     {IN_LAYER(2), LW(A0, 0, 0)},
     5,
     {"error [device-fault] layer 'ReLU114' (#2): bad address: ", "core 0, pc 0x80000", "instruction 0x00002503",
      "address 0x00000000"}},
    {"reads behind the memories",
     {IN_LAYER(2), LUI(A0, 0xffff0), LW(A0, A0, 0)},
     5,
     {"bad address: ", "address 0xffff0000"}},
    {"writes a register that is none", {IN_LAYER(2), SW(T1, T0, 0x700)}, 5, {"bad address: ", "address 0x02000700"}},
    {"reads a word at an odd address",
     {IN_LAYER(2), LUI(A0, 0x80000), LW(A0, A0, 2)},
     5,
     {"misaligned access: ", "address 0x80000002"}},
    {"is no instruction", {IN_LAYER(2), 0xffffffff}, 5, {"illegal instruction: ", "instruction 0xffffffff"}},
    {"is all zeros", {IN_LAYER(2), 0}, 5, {"illegal instruction: ", "instruction 0x00000000"}},
    {"executes ebreak", {IN_LAYER(2), 0x00100073}, 5, {"software abort: ", "instruction 0x00100073"}},
    {"aborts", {IN_LAYER(2), SET(XPU_REG_ABORT, 77)}, 5, {"software abort: ", ", code 77\n"}},
    {"waits for a counter that nobody signals",
     {IN_LAYER(2), SET(XPU_REG_WAIT_VALUE + 4 * 9, 3), LW(A0, T0, XPU_REG_WAIT + 4 * 9)},
     6,
     {"error [device-timeout] layer 'ReLU114' (#2): dead lock: ", "core 0: pc 0x80000",
      "waits for counter 9 >= 3 (it is 0)"}},
    {"gives an engine a descriptor that is none",
     {IN_LAYER(2), AUIPC(A0), ADDI(A0, A0, 4 * 6), SW(A0, T0, XPU_REG_DOORBELL_ADDRESS), SET(XPU_REG_DOORBELL_COUNT, 1),
      JUMP_TO_ITSELF, 0xffffffff, 0xffffffff, 0xffffffff},
     5,
     {"error [device-fault] ", "bad descriptor: opcode 255 (unknown) is none of engine DMA0\n",
      "engine DMA0, descriptor at 0x80000"}},
    {"gives an engine a list in no memory",
     {IN_LAYER(2), LUI(A0, 0x70000), SW(A0, T0, XPU_REG_DOORBELL_ADDRESS), SET(XPU_REG_DOORBELL_COUNT, 1),
      JUMP_TO_ITSELF},
     5,
     {"bad engine address: the descriptor list leaves the memories of this chip\n",
      "engine DMA0, descriptor at 0x70000000"}},
    {"rings with an empty list", {IN_LAYER(2), SET(XPU_REG_DOORBELL_COUNT, 0)}, 5, {"bad doorbell: ", "core 0"}},
    {"ends with a status", {IN_LAYER(2), SET(XPU_REG_EXIT, 3)}, 5, {"error [device-status] ", "status 3"}},
    {"announces a layer that does not exist",
     {IN_LAYER(2), SET(XPU_REG_TICKET_COUNTER, 0), SET(XPU_REG_TICKET_VALUE, 0), SET(XPU_REG_TICKET_LAYER, 999),
      JUMP_TO_ITSELF},
     5,
     {"error [device-memory] the device announced a layer that does not exist"}},
    {"announces a layer twice",
     {IN_LAYER(2), SET(XPU_REG_TICKET_COUNTER, 0), SET(XPU_REG_TICKET_VALUE, 0), SET(XPU_REG_TICKET_LAYER, 1),
      SET(XPU_REG_TICKET_LAYER, 1), JUMP_TO_ITSELF},
     5,
     {"error [device-memory] the device announced a layer twice"}},
    {"calls the host without a request",
     {IN_LAYER(2), LUI(A0, 0x70000), SW(A0, T0, XPU_REG_HOST_CALL), JUMP_TO_ITSELF},
     5,
     {"error [device-memory] the request of a host call cannot be read"}},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static xpuc_result compiled;

static int compile(void) {
    xpuc_error error;
    xpuc_options options = {.chip = "nano", .precision = "fp32"};
    if (compiled.bytes) return 1;
    xpuc_compile_file(MODEL, &options, &compiled, &error);
    if (error.status) fprintf(stderr, "%s\n", error.text);
    CU_ASSERT_EQUAL(error.status, 0);
    xpuc_error_clear(&error);
    return compiled.bytes != NULL;
}

/* The compiled program with other instructions at its entry; malloc'd. */
static uint8_t *patched(const bad_program *bad) {
    uint8_t *bytes = malloc(compiled.size);
    Elf32_Ehdr header;
    Elf32_Phdr segment;
    if (!bytes) return NULL;
    memcpy(bytes, compiled.bytes, compiled.size);
    memcpy(&header, bytes, sizeof header);
    for (uint32_t i = 0; i < header.e_phnum; i++) {
        memcpy(&segment, bytes + header.e_phoff + i * sizeof segment, sizeof segment);
        uint32_t within = header.e_entry - segment.p_paddr;
        if (segment.p_type != PT_LOAD || within + sizeof bad->words > segment.p_filesz) continue;
        memcpy(bytes + segment.p_offset + within, bad->words, sizeof bad->words);
        xpu_program_seal(bytes, compiled.size);
        return bytes;
    }
    CU_FAIL("the entry is in no segment");
    return bytes;
}

static int run(xpurt_program *program, const xpurt_run_options *options, xpurt_error *error) {
    static float image[28 * 28];
    xpurt_tensor input = {.dtype = "float32", .rank = 4, .dims = {1, 1, 28, 28}, .data = image}, output;
    int status = xpurt_run(program, &input, 1, &output, options, error);
    xpurt_tensor_clear(&output);
    return status;
}

static void expect(const bad_program *bad, int status, const char *text) {
    if (status != bad->status)
        fprintf(stderr, "\na program that %s: status %d\n%s", bad->name, status, text ? text : "");
    CU_ASSERT_EQUAL(status, bad->status);
    for (int i = 0; i < 4 && bad->texts[i]; i++) {
        int found = text && strstr(text, bad->texts[i]);
        if (!found)
            fprintf(stderr, "\na program that %s: '%s' is not in\n%s", bad->name, bad->texts[i], text ? text : "");
        CU_ASSERT(found);
    }
}

static void on_device(const xpurt_device_driver *driver) {
    if (!compile()) return;
    for (int i = 0; i < PROGRAMS; i++) {
        xpurt_error error = {0, NULL};
        uint8_t *bytes = patched(&programs[i]);
        xpurt_program *program = xpurt_open_memory(bytes, compiled.size, "bad.xpu", &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(program);
        double began = xpu_seconds();
        int status = run(program, &(xpurt_run_options){.device = driver}, &error);
        expect(&programs[i], status, error.text);
        CU_ASSERT(xpu_seconds() - began < SECONDS);
        xpurt_error_clear(&error);
        xpurt_close(program);
        free(bytes);
    }
}

static void on_func(void) {
    on_device(&xpu_func_driver);
}

/* The Verilated chip nano. */
static const xpurt_device_driver *rtl_driver(int lockstep) {
    const char *build = getenv("XPU_BUILD");
    char folder[1024];
    xpurt_error error = {0, NULL};
    snprintf(folder, sizeof folder, "%s/lib", build ? build : "build");
    const xpurt_device_driver *driver =
        xpurt_rtl_load("nano", folder, &(xpurt_rtl_options){.lockstep = lockstep}, &error);
    if (!driver) fprintf(stderr, "%s", error.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(driver);
    return driver;
}

/* It finds the same faults, and func with it. */
static void on_rtl(void) {
    for (int lockstep = 0; lockstep < 2; lockstep++) on_device(rtl_driver(lockstep));
}

/* The tool: exit code and report on stderr. */
static void by_xpu_run(const char *device) {
    const char *tools = getenv("XPU_BIN");
    char folder[] = "/tmp/xpu-faults-XXXXXX", command[600], path[64], log[64];
    if (!tools || !compile() || !mkdtemp(folder)) return;
    snprintf(path, sizeof path, "%s/bad.xpu", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(command, sizeof command, "timeout %d '%s/xpu-run' '%s' --device=%s --input=tests/models/9.npy >'%s' 2>&1",
             SECONDS, tools, path, device, log);
    for (int i = 0; i < PROGRAMS; i++) {
        char text[16384] = "";
        uint8_t *bytes = patched(&programs[i]);
        FILE *file = fopen(path, "wb");
        CU_ASSERT_FATAL(file && fwrite(bytes, 1, compiled.size, file) == compiled.size && fclose(file) == 0);
        int status = system(command);
        file = fopen(log, "rb");
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
        expect(&programs[i], WIFEXITED(status) ? WEXITSTATUS(status) : -1, text);
        free(bytes);
    }
    unlink(path);
    unlink(log);
    rmdir(folder);
}

static void by_xpu_run_on_func(void) {
    by_xpu_run("func");
}
static void by_xpu_run_on_rtl(void) {
    by_xpu_run("rtl");
}

static void budget(void) {
    xpurt_error error = {0, NULL};
    if (!compile()) return;
    xpurt_program *program = xpurt_open_memory(compiled.bytes, compiled.size, "slow.xpu", &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    int status = run(program, &(xpurt_run_options){.device = &xpu_func_driver, .max_instructions = 5000}, &error);
    CU_ASSERT_EQUAL(status, 6);
    CU_ASSERT_STRING_EQUAL(error.text ? error.text : "",
                           "slow.xpu: error [device-budget] the program needs more instructions than allowed\n"
                           "  why: the limit is 5000 instructions\n"
                           "  hint: raise the limit: --max-cycles=N (xpurt_run_options.max_instructions)\n");
    xpurt_error_clear(&error);
    xpurt_close(program);
}

/* A program runs only on a chip with the ABI that it was compiled for. */
static void another_chip(void) {
    xpurt_error error = {0, NULL};
    xpuc_error compiling;
    xpuc_result other;
    if (!compile()) return;
    xpuc_compile_file(MODEL, &(xpuc_options){.chip = "standard", .precision = "fp32"}, &other, &compiling);
    CU_ASSERT_EQUAL_FATAL(compiling.status, 0);
    xpurt_program *nano = xpurt_open_memory(compiled.bytes, compiled.size, "nano.xpu", &error);
    xpurt_program *standard = xpurt_open_memory(other.bytes, other.size, "standard.xpu", &error);
    CU_ASSERT_FATAL(nano && standard);
    xpurt_run_options options = {.device = rtl_driver(0), .chip_json = xpurt_chip_json(standard)};
    CU_ASSERT_EQUAL(run(nano, &options, &error), 2);
    xpurt_error_clear(&error);
    CU_ASSERT_EQUAL(run(standard, &options, &error), 2); /* the library is nano's */
    CU_ASSERT_PTR_NOT_NULL(error.text && strstr(error.text, "[device-chip]") ? error.text : NULL);
    xpurt_error_clear(&error);
    options.device = &xpu_func_driver;
    CU_ASSERT_EQUAL(run(nano, &options, &error), 2);
    static const char expected[] =
        "nano.xpu: error [chip-abi] the program was compiled for another chip\n  why: its ABI hash is 0x";
    const char *text = error.text ? error.text : "";
    CU_ASSERT(strncmp(text, expected, sizeof expected - 1) == 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, " (nano), that of chip standard is 0x"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ": array.rows 8 against 32, array.columns 8 against 32"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n  hint: compile it with xpuc --chip=standard\n"));
    options.chip_json = xpurt_chip_json(nano);
    xpurt_error_clear(&error);
    CU_ASSERT_EQUAL(run(nano, &options, &error), 0);
    xpurt_error_clear(&error);
    xpurt_close(nano);
    xpurt_close(standard);
    xpuc_result_clear(&other);
    xpuc_error_clear(&compiling);
}

static void last(void) {
    xpuc_result_clear(&compiled);
}

XPU_TEST_MAIN("faults", {"on func", on_func}, {"on rtl", on_rtl}, {"xpu-run on func", by_xpu_run_on_func},
              {"xpu-run on rtl", by_xpu_run_on_rtl}, {"budget", budget}, {"another chip", another_chip},
              {"release", last})
