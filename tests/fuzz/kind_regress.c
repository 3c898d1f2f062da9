/* Regression cases, read as xpu-regress does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/hostile.h"
#include "tools/common/regress.h"

enum { SEEDS = 4 };
static hostile_file seeds[SEEDS];

static void load_cases(void) {
    static const char *const names[SEEDS] = {"digits-fp32", "digits-int16", "mnist8-fp32", "mnist8-int16"};
    char path[256];
    for (int i = 0; i < SEEDS; i++) {
        snprintf(path, sizeof path, "tests/regress/%s.json", names[i]);
        hostile_load(&seeds[i], path);
    }
}

static void make_case(hostile_random *random, hostile_file *file) {
    const hostile_file *seed = &seeds[hostile_below(random, SEEDS)];
    hostile_set(file, seed->data, seed->size);
    if (hostile_chance(random, 88))
        hostile_damage_json(random, file);
    else
        hostile_damage(random, file);
}

static xpu_status read_case(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    xpu_regress_case c;
    (void)random;
    return xpu_regress_read(&c, arena, hostile_save(file, ".json"), diags);
}

static void feed_case(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_guard(result, "xpu_regress_read", read_case, random, file);
}

const hostile_kind hostile_regress = {"regress", ".json", load_cases, make_case, feed_case};
