/* Regression cases, read as xpu-regress does. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/hostile.h"
#include "tools/common/regress.h"

enum { SEEDS = 4 };
static hostile_file seeds[SEEDS];

static void replace_all(hostile_file *file, const char *text, const char *by) {
    for (size_t at = 0; at + strlen(text) <= file->size; at++) {
        if (memcmp(file->data + at, text, strlen(text)) == 0) {
            hostile_replace(file, at, strlen(text), by, strlen(by));
        }
    }
}

/* Paths in a case are relative to its folder: they get to the repository by "repo", a link in the scratch folder. */
static void load_cases(void) {
    static const char *const names[SEEDS] = {"digits-fp32", "digits-int16", "mnist8-fp32", "mnist8-int16"};
    char path[600], root[512];
    snprintf(path, sizeof path, "%s/repo", hostile_folder());
    if (!getcwd(root, sizeof root) || (symlink(root, path) && errno != EEXIST)) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    for (int i = 0; i < SEEDS; i++) {
        snprintf(path, sizeof path, "tests/regress/%s.json", names[i]);
        hostile_load(&seeds[i], path);
        replace_all(&seeds[i], "\"../../", "\"repo/");
        replace_all(&seeds[i], "\"../models/", "\"repo/tests/models/");
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

/* Some of those that are taken, and are small, also run on their first chip: that is a whole compilation. */
static xpu_status read_case(xpu_arena *arena, const hostile_file *file, hostile_random *random, xpu_diags *diags) {
    xpu_regress_case c;
    xpu_status status = xpu_regress_read(&c, arena, hostile_save(file, ".json"), diags);
    int small = status == XPU_OK && c.chips.count && strstr(c.model, "mnist") != NULL;
    if (!small || !hostile_chance(random, 15)) return status;
    xpu_regress_result result = xpu_regress_run(&c, &c.chips.items[0], NULL, arena, diags);
    return result.passed || diags->errors ? xpu_diags_status(diags) : result.what && result.what[0] ? XPU_OK : XPU_EBUG;
}

static void feed_case(hostile_random *random, const hostile_file *file, hostile_result *result) {
    hostile_guard(result, "xpu_regress_read", read_case, random, file);
}

const hostile_kind hostile_regress = {"regress", ".json", load_cases, make_case, feed_case};
