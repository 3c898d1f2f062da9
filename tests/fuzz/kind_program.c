/* Compiled programs: opened, described, and run on ref and on the functional chip. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/func/driver.h"
#include "tests/fuzz/hostile.h"
#include "tests/gen/random_cnn.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/program/file.h"
#include "xpuc/include/xpuc.h"

enum { CUTS = 12, SEEDS = 15 + CUTS, MAX_TENSORS = 16, MAX_ELEMENTS = 200000, MAX_INSTRUCTIONS = 400000 };
static hostile_file seeds[SEEDS];

/* `is_free`: batch, height and width are symbols, with ranges beyond the chip's memory. */
static void compile_random(hostile_file *seed, uint64_t number, int is_free) {
    xpu_mem mem;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) abort();
    xpu_random_network network;
    xpu_random_cnn(xpu_arena_new(&mem, "network"), number, &network);
    hostile_file model = {NULL, 0, 0};
    hostile_set(&model, network.model, network.model_bytes);
    const int64_t *dims = network.input.dims;
    char shape[128];
    snprintf(shape, sizeof shape, "x=N=1..100000,%d,H=%d..100000,W=%d..100000", (int)dims[1], (int)dims[2],
             (int)dims[3]);
    xpu_mem_release(&mem);
    hostile_compile(seed, hostile_save(&model, ".onnx"), "nano", "auto", is_free ? shape : NULL);
    hostile_clear(&model);
}

/* A few nodes of a network of tests/sweep; of the next one where no program can be made of them. */
static void compile_cut(hostile_file *seed, uint64_t number) {
    int good = 0;
    for (int tries = 0; !good; tries++, number += CUTS) {
        if (tries == 10) abort();
        hostile_random random = {number * 0x9e3779b97f4a7c15u + 1};
        hostile_file model = {NULL, 0, 0};
        hostile_cut(&random, &model);
        good = hostile_try_compile(seed, hostile_save(&model, ".onnx"), "nano", "auto", NULL);
        hostile_clear(&model);
    }
}

/* A network with a state. */
static void compile_state(hostile_file *seed) {
    static const char *const states[] = {"hN=h", NULL};
    const xpuc_options options = {.chip = "nano", .states = states, .resources = getenv("XPU_RESOURCES")};
    xpuc_result result;
    if (xpuc_compile_file("tests/golden/frames/rnn.onnx", &options, &result, NULL)) abort();
    hostile_set(seed, result.bytes, result.size);
    xpuc_result_clear(&result);
}

/* Weights of which there are copies in L3. */
static void compile_copies(hostile_file *seed) {
    const xpuc_options options = {.chip = "standard",
                                  .precision = "int16",
                                  .memory_rules = "configs/memory/weights-in-l3.json",
                                  .resources = getenv("XPU_RESOURCES")};
    xpuc_result result;
    if (xpuc_compile_file("tests/models/mnist-8.onnx", &options, &result, NULL)) abort();
    hostile_set(seed, result.bytes, result.size);
    xpuc_result_clear(&result);
}

/* Regions of another target, in the body of a loop too; the plug-in stands beside the compiler's resources. */
static void compile_mixed(hostile_file *seed) {
    char plugin[4096];
    const char *resources = getenv("XPU_RESOURCES");
    snprintf(plugin, sizeof plugin, "%s/../../lib/xpu-target-byoc.so", resources ? resources : "build/share/xpu");
    const xpuc_options options = {
        .chip = "nano", .plugin = plugin, .target = "c,xpu-sim", .precision = "fp32", .resources = resources};
    xpuc_result result;
    if (xpuc_compile_file("tests/loops/loop_convolution.onnx", &options, &result, NULL)) abort();
    hostile_set(seed, result.bytes, result.size);
    xpuc_result_clear(&result);
}

static void load_programs(void) {
    hostile_compile(&seeds[0], "tests/models/mnist-8.onnx", "nano", "fp32", NULL);
    hostile_compile(&seeds[1], "tests/models/mnist-8.onnx", "standard", "int16", NULL);
    hostile_compile(&seeds[2], "examples/digits/digits.onnx", "nano", "int16", NULL);
    compile_random(&seeds[3], 2, 0);
    compile_random(&seeds[4], 7, 0);
    compile_random(&seeds[5], 91, 1);
    hostile_compile(&seeds[6], "tests/models/mnist-8.onnx", "nano", "auto",
                    "Input3=1,1,H=14..60,W=14..60"); /* with a guard */
    compile_state(&seeds[7]);
    compile_mixed(&seeds[8]);
    compile_copies(&seeds[9]);
    hostile_compile(&seeds[10], "tests/loops/loop_host.onnx", "nano", "fp32", NULL);
    hostile_compile(&seeds[11], "tests/sweep/Pad-11-float16.onnx", "nano", "fp32", NULL); /* an attribute is a text */
    hostile_compile(&seeds[12], "tests/networks/8.onnx", "nano", "auto", NULL);           /* norms, attention */
    hostile_compile(&seeds[13], "tests/networks/33.onnx", "nano", "auto", NULL);          /* products that merged */
    hostile_compile(&seeds[14], "tests/models/mnist-8.onnx", "tests/chip/slow-gm.json", "auto", NULL); /* transfers */
    for (uint32_t i = 0; i < CUTS; i++) compile_cut(&seeds[SEEDS - CUTS + i], i);
}

/* ---- making ---- */

/* Damages the messages of a section; what comes out stands at the end of the file. */
static void damage_section(hostile_random *random, hostile_file *file, const char *name) {
    hostile_file contents = {NULL, 0, 0};
    if (!hostile_section(file, name, &contents)) return;
    if (hostile_chance(random, 90))
        hostile_damage_wire(random, &contents);
    else
        hostile_damage(random, &contents);
    hostile_set_section(file, name, &contents);
    hostile_clear(&contents);
}

/* Changes words of what the device gets: instructions, descriptors, weights. */
static void damage_code(hostile_random *random, hostile_file *file) {
    static const uint32_t odd[] = {
        0x00000000, 0xffffffff, 0x0000006f /* j . */, 0x00008067 /* ret */, 0x00100073 /* ebreak */, 0x7f7f7f7f,
        0x80000000, 0x02000000};
    size_t offset;
    uint32_t count = hostile_table(file, PT_LOAD, &offset);
    Elf32_Phdr segment;
    memcpy(&segment, file->data + offset + hostile_below(random, count) * sizeof segment, sizeof segment);
    if (segment.p_type != PT_LOAD || segment.p_filesz < 4) return;
    uint32_t times = 1 + hostile_below(random, 8);
    for (uint32_t i = 0; i < times; i++) {
        uint32_t word, other;
        uint8_t *at = file->data + segment.p_offset + 4 * hostile_below(random, segment.p_filesz / 4);
        memcpy(&word, at, 4);
        memcpy(&other, file->data + segment.p_offset + 4 * hostile_below(random, segment.p_filesz / 4), 4);
        switch (hostile_below(random, 4)) {
        case 0: word ^= 1u << hostile_below(random, 32); break;
        case 1: word = odd[hostile_below(random, sizeof odd / sizeof *odd)]; break;
        case 2: word = other; break;
        default: word = (uint32_t)hostile_draw(random);
        }
        memcpy(at, &word, 4);
    }
}

static void damage_header(hostile_random *random, hostile_file *file) {
    size_t offset, size = sizeof(Elf32_Ehdr), width = hostile_chance(random, 50) ? 4 : 2;
    uint32_t kind = hostile_below(random, 3);
    if (kind == 0) {
        offset = 0;
    } else {
        uint32_t count = hostile_table(file, kind == 1 ? PT_LOAD : 0, &offset);
        size = count * (kind == 1 ? sizeof(Elf32_Phdr) : sizeof(Elf32_Shdr));
        width = 4;
    }
    uint64_t value = (uint64_t)hostile_number(random);
    uint8_t *at = file->data + offset + width * hostile_below(random, (uint32_t)(size / width));
    if (hostile_chance(random, 50)) {
        memcpy(at, &value, width);
    } else {
        at[hostile_below(random, (uint32_t)width)] ^= (uint8_t)(1 << hostile_below(random, 8));
    }
}

void hostile_program_seed(hostile_random *random, hostile_file *file) {
    const hostile_file *seed = &seeds[hostile_below(random, SEEDS)];
    hostile_set(file, seed->data, seed->size);
}

void hostile_program_seeds(hostile_take take, void *context) {
    for (uint32_t i = 0; i < SEEDS; i++) take(context, &seeds[i]);
}

void hostile_program_damage(hostile_random *random, hostile_file *file) {
    uint32_t kind = hostile_below(random, 100);
    if (kind < 35) {
        damage_section(random, file, ".xpu.program");
    } else if (kind < 55) {
        damage_section(random, file, ".xpu.graph");
    } else if (kind < 75) {
        damage_code(random, file);
    } else if (kind < 90) {
        damage_header(random, file);
    } else {
        hostile_damage(random, file);
    }
    if (hostile_chance(random, 90)) xpu_program_seal(file->data, file->size); /* or else the hash finds it */
}

static void make_program(hostile_random *random, hostile_file *file) {
    hostile_program_seed(random, file);
    hostile_program_damage(random, file);
}

/* ---- feeding ---- */

/* A tensor for an input; 0 where its shape is too large to try. */
static int make_input(hostile_random *random, xpurt_tensor *tensor) {
    int64_t count = 1;
    if (tensor->rank < 0 || tensor->rank > 8) return 0;
    for (int i = 0; i < tensor->rank; i++) {
        int odd = hostile_chance(random, 3);
        if (odd) tensor->dims[i] = hostile_below(random, 40) - 4;
        if (tensor->dims[i] < 0 && !odd) tensor->dims[i] = 1 + hostile_below(random, i ? 30 : 3);
        if (tensor->dims[i] > MAX_ELEMENTS) return 0;
        count *= tensor->dims[i] < 0 ? 1 : tensor->dims[i];
        if (count > MAX_ELEMENTS) return 0;
    }
    float *data = malloc((size_t)count * 8 + 1);
    if (!data) return 0;
    for (int64_t i = 0; i < 2 * count; i++) data[i] = (float)hostile_below(random, 256) / 128 - 1;
    tensor->data = data;
    return 1;
}

/* Twice in one session; the second run comes after whatever the first one has met, and gives no state that is last. */
static void run_session(xpurt_program *program, const xpurt_tensor *inputs, uint32_t count,
                        const xpurt_run_options *options, hostile_result *result) {
    xpurt_tensor outputs[MAX_TENSORS];
    xpurt_error error = {0, NULL};
    xpurt_session *session = xpurt_session_open(program, options, &error);
    hostile_judge(result, "xpurt_session_open", error.status, error.text);
    xpurt_error_clear(&error);
    for (int i = 0; session && i < 2; i++) {
        int status = xpurt_session_run(session, inputs, count, outputs, options, &error);
        if (count && xpurt_state_of_input(program, count - 1) >= 0) count--;
        hostile_judge(result, "xpurt_session_run", status, error.text);
        xpurt_error_clear(&error);
        for (uint32_t k = 0; k < xpurt_output_count(program); k++) xpurt_tensor_clear(&outputs[k]);
    }
    xpurt_session_close(session);
}

static void run_program(hostile_random *random, xpurt_program *program, const struct xpurt_device_driver *device,
                        const xpurt_tensor *inputs, uint32_t count, hostile_result *result) {
    static const char *const layers[] = {"Convolution28", "Plus30", "conv1", "nothing"};
    char dump[128];
    xpurt_tensor outputs[MAX_TENSORS];
    xpurt_error error = {0, NULL};
    xpurt_run_options options = {.device = device, .max_instructions = MAX_INSTRUCTIONS};
    snprintf(dump, sizeof dump, "%s/dump", hostile_folder());
    if (hostile_chance(random, 8)) {
        options.dump_folder = dump;
        options.max_instructions = MAX_INSTRUCTIONS / 10; /* a loop writes a file for each iteration */
    }
    if (hostile_chance(random, 2)) {
        options.layer = layers[hostile_below(random, 4)];
        options.from_dump = dump;
    }
    if (hostile_chance(random, 20)) {
        run_session(program, inputs, count, &options, result);
        return;
    }
    int status = xpurt_run(program, inputs, count, outputs, &options, &error);
    hostile_judge(result, device ? "xpurt_run on func" : "xpurt_run on ref", status, error.text);
    xpurt_error_clear(&error);
    for (uint32_t i = 0; i < xpurt_output_count(program); i++) xpurt_tensor_clear(&outputs[i]);
}

static void use_program(hostile_random *random, xpurt_program *program, hostile_result *result) {
    xpurt_error error = {0, NULL};
    const char *text = xpurt_describe(program, &error);
    hostile_judge(result, "xpurt_describe", error.status, error.text);
    if (!text != (error.status != 0)) hostile_judge(result, "xpurt_describe", XPU_EBUG, "text and status contradict");
    xpurt_error_clear(&error);
    xpurt_tensor inputs[MAX_TENSORS];
    uint32_t count = xpurt_input_count(program), made = 0;
    if (count > MAX_TENSORS || xpurt_output_count(program) > MAX_TENSORS) return;
    for (; made < count; made++) {
        xpurt_input(program, made, &inputs[made]);
        if (!make_input(random, &inputs[made])) break;
    }
    if (made == count) {
        if (hostile_chance(random, 50)) run_program(random, program, NULL, inputs, count, result);
        run_program(random, program, &xpu_func_driver, inputs, count, result);
    }
    for (uint32_t i = 0; i < made; i++) free(inputs[i].data);
}

static void feed_program(hostile_random *random, const hostile_file *file, hostile_result *result) {
    xpurt_error error = {0, NULL};
    xpurt_program *program = hostile_chance(random, 20)
                                 ? xpurt_open(hostile_save(file, ".xpu"), &error)
                                 : xpurt_open_memory(file->data, file->size, "hostile.xpu", &error);
    hostile_judge(result, "xpurt_open", error.status, error.text);
    if (!program != (error.status != 0)) hostile_judge(result, "xpurt_open", XPU_EBUG, "program and status contradict");
    xpurt_error_clear(&error);
    if (program) use_program(random, program, result);
    xpurt_close(program);
}

const hostile_kind hostile_program = {"program", ".xpu", load_programs, make_program, feed_program};
