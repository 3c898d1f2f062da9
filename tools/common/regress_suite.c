/* Which cases of a suite are run, and on what. */
#include "tools/common/regress_suite.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "memplan/rules.h"
#include "tools/common/device.h"
#include "xpuc/pipeline.h"

const char *xpu_regress_own_suite(xpu_arena *arena) {
    const char *path = xpu_path_join(arena, xpu_find_resources(arena, NULL), "suite/tests/regress");
    char *resolved = realpath(path, NULL);
    if (resolved) path = xpu_strdup(arena, resolved);
    free(resolved);
    return path;
}

static xpu_status nothing(xpu_tool *tool, const xpu_regress_suite *suite, const char *why, const char *hint) {
    return xpu_error(&tool->diags, XPU_EUSAGE, suite->folder, "regress-nothing", NULL, "there is nothing to run", why,
                     hint);
}

/* ---- files and names ---- */

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int is_case(const char *name) {
    size_t length = strlen(name);
    return length > 5 && name[0] != '.' && strcmp(name + length - 5, ".json") == 0;
}

static xpu_status list_folder(xpu_tool *tool, const char *folder, xpu_regress_suite *to) {
    DIR *handle = opendir(folder);
    if (!handle) {
        return xpu_error(&tool->diags, XPU_EIO, folder, "io-open", NULL, "the suite cannot be opened", strerror(errno),
                         "name its folder: --suite=DIR");
    }
    XPU_ARRAY(const char *) names = {0};
    for (struct dirent *entry; (entry = readdir(handle));) {
        if (is_case(entry->d_name)) XPU_PUSH(tool->arena, &names, xpu_strdup(tool->arena, entry->d_name));
    }
    closedir(handle);
    if (names.count) qsort(names.items, names.count, sizeof *names.items, by_name);
    for (uint32_t i = 0; i < names.count; i++) {
        XPU_PUSH(tool->arena, &to->paths, xpu_path_join(tool->arena, folder, names.items[i]));
    }
    return XPU_OK;
}

static const char *name_of(xpu_arena *arena, const char *path) {
    const char *name = xpu_path_name(path);
    size_t length = strlen(name);
    return xpu_strndup(arena, name, is_case(name) ? length - 5 : length);
}

static int matches(xpu_arena *arena, const char *word, const char *path) {
    return xpu_glob_match(word, name_of(arena, path)) || strcmp(word, xpu_path_name(path)) == 0;
}

/* Every word must stand for a case; each case is taken once, files in the order of the words, then the suite's by name.
 */
static xpu_status take_words(xpu_tool *tool, const xpu_regress_suite *all, xpu_regress_suite *to) {
    XPU_ARRAY(const char *) names = {0};
    for (uint32_t k = 0; k < all->paths.count; k++)
        XPU_PUSH(tool->arena, &names, name_of(tool->arena, all->paths.items[k]));
    XPU_PUSH(tool->arena, &names, NULL);
    for (uint32_t i = 0; i < xpu_tool_words(tool); i++) {
        const char *word = xpu_tool_word(tool, i);
        uint32_t found = strchr(word, '/') != NULL;
        if (found) XPU_PUSH(tool->arena, &to->paths, word);
        for (uint32_t k = 0; !found && k < all->paths.count; k++)
            found += matches(tool->arena, word, all->paths.items[k]) != 0;
        if (found) continue;
        const char *nearest = xpu_nearest(word, names.items);
        return (xpu_status)xpu_tool_usage(
            tool, xpu_printf(tool->arena, "'%s'", xpu_escape(tool->arena, word, 80)), "there is no such case",
            xpu_printf(tool->arena, "the suite has %u cases", all->paths.count),
            nearest ? xpu_printf(tool->arena, "did you mean %s?", nearest) : "xpu-regress --list names them");
    }
    for (uint32_t k = 0; k < all->paths.count; k++) {
        int wanted = 0;
        for (uint32_t i = 0; i < xpu_tool_words(tool); i++)
            wanted |= matches(tool->arena, xpu_tool_word(tool, i), all->paths.items[k]);
        if (wanted) XPU_PUSH(tool->arena, &to->paths, all->paths.items[k]);
    }
    return XPU_OK;
}

xpu_status xpu_regress_choose(xpu_tool *tool, xpu_regress_suite *suite) {
    const char *folder = xpu_tool_option(tool, "suite");
    xpu_regress_suite all = {0};
    uint32_t words = xpu_tool_words(tool), files = 0;
    for (uint32_t i = 0; i < words; i++) files += strchr(xpu_tool_word(tool, i), '/') != NULL;
    suite->folder = folder ? folder : xpu_regress_own_suite(tool->arena);
    xpu_status status = words && files == words ? XPU_OK : list_folder(tool, suite->folder, &all);
    if (status == XPU_OK && !all.paths.count && files < words + !words)
        status = nothing(tool, suite, "no file in this folder ends in .json",
                         "name a folder with cases: --suite=DIR; xpu-regress --make=NAME makes one");
    if (status == XPU_OK && words) return take_words(tool, &all, suite);
    if (status == XPU_OK) suite->paths = all.paths;
    return status;
}

/* ---- devices and chips ---- */

static int has_device(const xpu_regress_case *c, uint32_t count, const xpu_regress_device *device) {
    for (uint32_t i = 0; i < count; i++) {
        if (c->devices[i] == device) return 1;
    }
    return 0;
}

xpu_status xpu_regress_devices(xpu_tool *tool, xpu_regress_case *c) {
    uint32_t chosen = 0, rtl = 0;
    for (uint32_t i = 0; i < tool->arguments.count; i++) {
        const xpu_argument *a = &tool->arguments.items[i];
        if (!a->name || strcmp(a->name, "device") != 0) continue;
        if (strcmp(a->value, "rtl") == 0) {
            rtl = 1;
            continue;
        }
        const xpu_regress_device *device = xpu_regress_device_by_name(a->value);
        if (!device) {
            return (xpu_status)xpu_tool_usage(
                tool, "option '--device'", "there is no such device",
                xpu_printf(tool->arena, "'%s' is not one of ref, func, rtl", xpu_escape(tool->arena, a->value, 80)),
                "leave it out to run on the devices of the case");
        }
        if (!has_device(c, chosen, device)) c->devices[chosen++] = device;
    }
    if (chosen || rtl) {
        c->device_count = chosen;
        c->with_rtl = (int)rtl;
    }
    return XPU_OK;
}

void xpu_regress_read_all(xpu_tool *tool, xpu_regress_suite *suite) {
    for (uint32_t i = 0; i < suite->paths.count; i++) {
        xpu_regress_entry entry = {.path = suite->paths.items[i], .name = name_of(tool->arena, suite->paths.items[i])};
        xpu_diags diags;
        xpu_diags_init(&diags);
        entry.status = xpu_regress_read(&entry.c, tool->arena, entry.path, &diags);
        if (entry.status == XPU_OK) entry.c.lockstep = suite->lockstep;
        if (entry.status == XPU_OK && entry.c.target) entry.c.plugin = suite->plugin;
        entry.errors = xpu_diags_text(&diags, tool->arena);
        xpu_diags_print(&diags, stderr);
        xpu_diags_clear(&diags);
        XPU_PUSH(tool->arena, &suite->entries, entry);
    }
}

int xpu_regress_is_planned(const xpu_regress_suite *suite, const xpu_regress_entry *entry,
                           const xpu_regress_chip *chip) {
    int chosen = !suite->chips.count;
    for (uint32_t i = 0; i < suite->chips.count; i++) chosen |= strcmp(suite->chips.items[i], chip->chip) == 0;
    return chosen && (entry->c.device_count || (entry->c.with_rtl && chip->rtl.samples));
}

/* ---- libraries of chips ---- */

static xpu_status build_chip(xpu_tool *tool, const char *root, const char *build, const xpu_regress_chip *chip) {
    xpu_child child;
    char *path = chip->file == chip->chip ? NULL : realpath(chip->file, NULL);
    const char *argv[] = {"make",
                          "-C",
                          root,
                          "--no-print-directory",
                          "chip",
                          xpu_printf(tool->arena, "CHIP=%s", path ? path : chip->file),
                          xpu_printf(tool->arena, "BUILD=%s", build),
                          NULL};
    free(path);
    if (!tool->quiet)
        fprintf(stderr, "building the Verilated chip '%s' ...\n", xpu_escape(tool->arena, chip->chip, 80));
    xpu_status status = xpu_child_run(tool->arena, argv, 0, &child, &tool->diags);
    if (status == XPU_OK && child.exit_code == 0) return XPU_OK;
    const char *error = status == XPU_OK ? child.error : child.found ? "" : "there is no make";
    return xpu_error(
        &tool->diags, XPU_EIO, root, "build-chips", NULL,
        xpu_printf(tool->arena, "the Verilated chip '%s' cannot be built", xpu_escape(tool->arena, chip->chip, 80)),
        xpu_escape_message(tool->arena, error, 2000), "run make chip CHIP=NAME in the source tree");
}

xpu_status xpu_regress_build_chips(xpu_tool *tool, const xpu_regress_suite *suite) {
    char *root = realpath(xpu_path_join(tool->arena, xpu_find_resources(tool->arena, NULL), "suite"), NULL);
    char *self = realpath("/proc/self/exe", NULL);
    const char *source = root ? xpu_strdup(tool->arena, root) : "",
               *build = self ? xpu_path_folder(tool->arena, xpu_path_folder(tool->arena, self)) : "";
    xpu_status status = XPU_OK;
    free(root);
    free(self);
    for (uint32_t i = 0; i < suite->entries.count; i++) {
        const xpu_regress_entry *e = &suite->entries.items[i];
        for (uint32_t k = 0; e->status == XPU_OK && k < e->c.chips.count; k++) {
            const xpu_regress_chip *chip = &e->c.chips.items[k];
            if (!xpu_regress_is_planned(suite, e, chip) || !e->c.with_rtl || !chip->rtl.samples) continue;
            xpu_diags *ignored = xpu_diags_new(tool->arena); /* of a bad chip the run tells */
            xpu_chip description;
            const char *configs = xpu_path_join(tool->arena, xpu_find_resources(tool->arena, NULL), "configs/chip");
            if (xpu_chip_load(tool->arena, configs, chip->file, &description, ignored) != XPU_OK) continue;
            xpurt_error error = {0};
            const xpurt_rtl_options rtl = {0};
            int is_there = xpu_device_rtl(tool->arena, &rtl, &description, &error) != NULL;
            xpurt_error_clear(&error);
            if (is_there) continue; /* and of this version */
            if (!xpu_file_exists(xpu_path_join(tool->arena, source, "Makefile"))) {
                return xpu_error(&tool->diags, XPU_EIO, NULL, "build-chips", "option '--build-chips'",
                                 "there is no source tree", "these tools are installed, or were moved",
                                 xpu_printf(tool->arena, "run make chip CHIP=%s there, and make install", chip->chip));
            }
            status = build_chip(tool, source, build, chip);
            if (status != XPU_OK) return status;
        }
    }
    return status;
}
