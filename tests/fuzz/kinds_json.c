/* Chip files, placement rules. What is taken is used: a chip that is accepted must also work. */
#include <stdlib.h>
#include <string.h>

#include "core/chip.h"
#include "memplan/check.h"
#include "memplan/rules.h"
#include "sim/func/driver.h"
#include "tests/fuzz/hostile.h"
#include "xpuc/include/xpuc.h"

enum { CHIPS = 3, RULES = 2 };
static hostile_file chips[CHIPS], rules[RULES];

static void load_chips(void) {
    hostile_load(&chips[0], "configs/chip/nano.json");
    hostile_load(&chips[1], "configs/chip/standard.json");
    hostile_load(&chips[2], "configs/chip/pro.json");
}

static void load_rules(void) {
    hostile_load(&rules[0], "configs/memory/weights-in-l3.json");
    static const char text[] =
        "{\"rules\": [\n"
        "  {\"match\": \"layer3.*\", \"kind\": \"weight\", \"level\": \"L3\", \"strength\": \"must\"},\n"
        "  {\"match\": \"*\", \"kind\": \"activation\", \"level\": \"SM\", \"strength\": \"prefer\"},\n"
        "  {\"match\": \"*/s[a-z]?\", \"kind\": \"scratch\", \"level\": \"GM\", \"strength\": \"never\"},\n"
        "  {\"match\": \"layer1/w\", \"level\": \"L3\", \"strength\": \"never\"}]}\n";
    hostile_set(&rules[1], text, sizeof text - 1);
}

static void damage(hostile_random *random, hostile_file *file) {
    if (hostile_chance(random, 88))
        hostile_damage_json(random, file);
    else
        hostile_damage(random, file);
}

static void make_chip(hostile_random *random, hostile_file *file) {
    const hostile_file *seed = &chips[hostile_below(random, CHIPS)];
    hostile_set(file, seed->data, seed->size);
    damage(random, file);
}

static void make_rules(hostile_random *random, hostile_file *file) {
    const hostile_file *seed = &rules[hostile_below(random, RULES)];
    hostile_set(file, seed->data, seed->size);
    damage(random, file);
}

/* ---- chips ---- */

static xpu_status parse_chip(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    xpu_chip chip, again;
    (void)random;
    xpu_status status = xpu_chip_parse(arena, (const char *)file->data, file->size, "hostile.json", &chip, diags);
    if (status != XPU_OK) return status;
    char *text = xpu_chip_json(arena, &chip);
    if (xpu_chip_parse(arena, text, strlen(text), "again", &again, diags) != XPU_OK ||
        xpu_chip_abi_hash(&chip) != xpu_chip_abi_hash(&again)) {
        return XPU_EBUG;
    }
    xpurt_device *device = xpu_func_driver.create(&chip, diags);
    xpu_func_driver.destroy(device);
    return device ? XPU_OK : xpu_diags_status(diags);
}

static void feed_chip(hostile_random *random, const hostile_file *file, hostile_result *result) {
    int status = hostile_guard(result, "xpu_chip_parse", parse_chip, random, file);
    if (status != 0 && !hostile_chance(random, 5)) return;
    xpuc_options options = {.emit = "c", .chip = hostile_save(file, ".json"), .resources = getenv("XPU_RESOURCES")};
    xpuc_result compiled;
    xpuc_error error;
    xpuc_compile_file("tests/models/mnist-8.onnx", &options, &compiled, &error);
    hostile_judge(result, "xpuc_compile_file for this chip", error.status, error.text);
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
}

/* ---- rules ---- */

static xpu_status use_rules(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    static const xpu_memplan_level levels[] = {
        {"SM", 65536, 1024, 64, 64}, {"L3", 1 << 20, 0, 64, 64}, {"GM", 1 << 28, 1 << 16, 64, 16}};
    static const char *const names[] = {"layer1/w",   "layer1",           "layer2/w", "layer2",
                                        "layer3.0/w", "layer3.0/scratch", "out"};
    enum { BUFFERS = sizeof names / sizeof *names };
    xpu_memplan_buffer buffers[BUFFERS];
    for (uint32_t i = 0; i < BUFFERS; i++) {
        int weight = strchr(names[i], 'w') != NULL;
        buffers[i] = (xpu_memplan_buffer){.name = names[i],
                                          .bytes = 5000u * (i + 1),
                                          .alignment = 64,
                                          .first = weight ? 0 : i / 2,
                                          .last = weight ? 4 : i / 2 + 1,
                                          .kind = weight ? XPU_MEMPLAN_WEIGHT : XPU_MEMPLAN_ACTIVATION,
                                          .levels = {0, 1, 2},
                                          .level_count = 3};
    }
    xpu_memplan_problem problem = {.levels = levels, .level_count = 3, .buffers = buffers, .buffer_count = BUFFERS};
    xpu_memory_rules read;
    (void)random;
    xpu_status status =
        xpu_memory_rules_parse(arena, (const char *)file->data, file->size, "hostile.json", &read, diags);
    if (status == XPU_OK) status = xpu_memory_rules_apply(arena, &read, &problem, diags);
    xpu_memplan *plan;
    if (status == XPU_OK) status = xpu_memplan_make(arena, &problem, NULL, &plan, diags);
    if (status == XPU_OK) status = xpu_memplan_check(arena, &problem, plan, diags);
    if (status == XPU_OK) status = xpu_memory_rules_unused(arena, &read, &problem, diags);
    return status;
}

static void feed_rules(hostile_random *random, const hostile_file *file, hostile_result *result) {
    int status = hostile_guard(result, "xpu_memory_rules_parse", use_rules, random, file);
    if (!hostile_chance(random, status ? 2 : 15)) return;
    xpuc_options options = {
        .emit = "c", .memory_rules = hostile_save(file, ".json"), .resources = getenv("XPU_RESOURCES")};
    xpuc_result compiled;
    xpuc_error error;
    xpuc_compile_file("tests/models/mnist-8.onnx", &options, &compiled, &error);
    hostile_judge(result, "xpuc_compile_file with these rules", error.status, error.text);
    xpuc_result_clear(&compiled);
    xpuc_error_clear(&error);
}

const hostile_kind hostile_chip = {"chip", ".json", load_chips, make_chip, feed_chip};
const hostile_kind hostile_rules = {"rules", ".json", load_rules, make_rules, feed_rules};
