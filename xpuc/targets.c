/* The targets: those that are built in, and plug-ins. */
#include <dlfcn.h>
#include <string.h>

#include "base/keep.h"
#include "base/option.h"
#include "xpu_codegen/xpu_codegen.h"
#include "xpuc/pipeline.h"

static const struct {
    const char *name;
    const xpu_target *target;
} targets[] = {
    {"xpu-sim", &xpu_sim_target},
};
enum { TARGET_COUNT = sizeof targets / sizeof *targets };

static void close_plugin(void *handle) {
    dlclose(handle);
}

static const xpu_target *plugin_error(xpu_arena *arena, xpu_diags *diags, const char *path, xpu_status status,
                                      const char *what, const char *why) {
    xpu_error(diags, status, path, "plugin", NULL, what, xpu_escape(arena, why, 400),
              "a plug-in is a shared library that exports xpuc_plugin, see docs/bring-your-own-codegen.md");
    return NULL;
}

static const xpu_target *load_plugin(xpu_arena *arena, const char *path, xpu_diags *diags) {
    /* dlopen searches the system's folders for a name without a slash. */
    const char *file = strchr(path, '/') ? path : xpu_printf(arena, "./%s", path);
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return plugin_error(arena, diags, path, XPU_EIO, "the plug-in cannot be loaded", dlerror());
    xpu_arena_defer(arena, close_plugin, handle);
    xpu_keep(arena, file);
    xpuc_plugin_function entry = NULL;
    void *symbol = dlsym(handle, "xpuc_plugin");
    memcpy(&entry, &symbol, sizeof entry);
    if (!entry) {
        return plugin_error(arena, diags, path, XPU_EUSAGE, "the file is no plug-in",
                            "it does not export the function xpuc_plugin");
    }
    const xpu_target *target = entry();
    if (!target || target->version != XPU_TARGET_VERSION) {
        return plugin_error(arena, diags, path, XPU_EUSAGE, "the plug-in was built for another version of xpuc",
                            xpu_printf(arena, "its table has version %u, this xpuc takes version %d",
                                       target ? target->version : 0, XPU_TARGET_VERSION));
    }
    int is_whole = target->name && target->start && target->lower && target->pack && target->extension;
    int is_part = target->name && target->start && target->lower_portable;
    if (!is_whole && !is_part) {
        return plugin_error(
            arena, diags, path, XPU_EUSAGE, "the plug-in's table is not complete",
            "name, extension, start, lower and pack have to be there; or name, start and lower_portable");
    }
    return target;
}

static void unused_plugin(xpu_arena *arena, xpu_diags *diags, const char *path, const xpu_target *extra,
                          const char *names) {
    xpu_error(diags, XPU_EUSAGE, path, "usage", "option '--plugin'",
              xpu_printf(arena, "the option has no effect beside --target=%s", xpu_escape(arena, names, 80)),
              xpu_printf(arena, "the plug-in's target is '%s'", xpu_escape(arena, extra->name, 80)),
              "leave one of them out");
}

/* `extra`: of a plug-in, or NULL. */
static const xpu_target *find_one(xpu_arena *arena, const char *name, const xpu_target *extra, xpu_diags *diags) {
    const char *names[TARGET_COUNT + 2] = {NULL};
    uint32_t count = 0;
    if (extra) names[count++] = extra->name;
    if (extra && strcmp(name, extra->name) == 0) return extra;
    for (int i = 0; i < TARGET_COUNT; i++) {
        if (strcmp(targets[i].name, name) == 0) return targets[i].target;
        names[count++] = targets[i].name;
    }
    xpu_text known;
    xpu_text_init(&known, arena);
    for (uint32_t i = 0; i < count; i++) xpu_text_add(&known, "%s%s", i ? ", " : "", xpu_escape(arena, names[i], 80));
    const char *nearest = xpu_nearest(name, names);
    xpu_error(diags, XPU_EUSAGE, NULL, "target", NULL,
              xpu_printf(arena, "there is no target '%s'", xpu_escape(arena, name, 80)),
              xpu_printf(arena, "the targets are %s", known.text),
              nearest ? xpu_printf(arena, "did you mean '%s'?", nearest) : "--plugin=FILE.so adds a target");
    return NULL;
}

static void bad_list(xpu_arena *arena, xpu_diags *diags, const char *name, const char *what, const char *why,
                     const char *hint) {
    xpu_error(diags, XPU_EUSAGE, NULL, "target", NULL, xpu_printf(arena, what, xpu_escape(arena, name, 80)), why, hint);
}

/* Whether each target can stand where it does. */
static void check_order(xpu_arena *arena, const xpu_target *const *list, uint32_t count, xpu_diags *diags) {
    const xpu_target *last = list[count - 1];
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (list[k] != list[i]) continue;
            bad_list(arena, diags, list[i]->name, "target '%s' is given twice", "nodes are offered to each target once",
                     "leave one of them out");
            return;
        }
        if (i + 1 < count && !list[i]->lower_portable)
            bad_list(arena, diags, list[i]->name, "target '%s' cannot stand before another one",
                     "it makes programs, and no portable C (lower_portable)", "let it be the last one");
    }
    if (!last->lower || !last->pack || !last->extension)
        bad_list(arena, diags, last->name, "target '%s' cannot be the last one",
                 "it makes portable C for others, and no program", "put xpu-sim behind it: --target=...,xpu-sim");
    else if (count > 1 && !last->takes_portable)
        bad_list(arena, diags, last->name, "target '%s' cannot be the last one of several",
                 "it does not compile the C of others (takes_portable)", "let xpu-sim be the last one");
}

/* The targets that stand in "mine,xpu-sim". */
static uint32_t find_listed(xpu_arena *arena, const char *names, const xpu_target *extra, const xpu_target **list,
                            xpu_diags *diags) {
    uint32_t count = 0;
    for (const char *at = names, *end;; at = end + 1) {
        end = at + strcspn(at, ",");
        list[count] = find_one(arena, xpu_strndup(arena, at, (size_t)(end - at)), extra, diags);
        count += list[count] != NULL;
        if (!*end) return count;
    }
}

const xpu_target *const *xpu_find_targets(xpu_arena *arena, const char *names, const char *plugin, xpu_diags *diags) {
    const xpu_target *extra = plugin ? load_plugin(arena, plugin, diags) : NULL;
    if (plugin && !extra) return NULL;
    uint32_t most = 2, count = 1;
    for (const char *c = names; c && *c; c++) most += *c == ',';
    const xpu_target **list = XPU_NEW_ARRAY(arena, const xpu_target *, most);
    list[0] = extra ? extra : targets[0].target;
    if (names) count = find_listed(arena, names, extra, list, diags);
    if (diags->errors) return NULL;
    int is_used = !extra;
    for (uint32_t i = 0; i < count; i++) is_used |= list[i] == extra;
    if (!is_used) unused_plugin(arena, diags, plugin, extra, names);
    check_order(arena, list, count, diags);
    return diags->errors ? NULL : list;
}
