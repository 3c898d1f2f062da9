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
    if (!target->name || !target->start || !target->lower || !target->pack || !target->extension) {
        return plugin_error(arena, diags, path, XPU_EUSAGE, "the plug-in's table is not complete",
                            "name, extension, start, lower and pack have to be there");
    }
    return target;
}

static const xpu_target *unused_plugin(xpu_arena *arena, xpu_diags *diags, const char *path, const xpu_target *extra,
                                       const char *name) {
    xpu_error(diags, XPU_EUSAGE, path, "usage", "option '--plugin'",
              xpu_printf(arena, "the option has no effect beside --target=%s", name),
              xpu_printf(arena, "the plug-in's target is '%s'", xpu_escape(arena, extra->name, 80)),
              "leave one of them out");
    return NULL;
}

const xpu_target *xpu_find_target(xpu_arena *arena, const char *name, const char *plugin, xpu_diags *diags) {
    const char *names[TARGET_COUNT + 2] = {NULL};
    const xpu_target *extra = NULL;
    uint32_t count = 0;
    if (plugin) {
        extra = load_plugin(arena, plugin, diags);
        if (!extra) return NULL;
        if (!name || strcmp(name, extra->name) == 0) return extra;
        names[count++] = extra->name;
    }
    if (!name) return targets[0].target;
    xpu_text known;
    xpu_text_init(&known, arena);
    for (int i = 0; i < TARGET_COUNT; i++) {
        if (strcmp(targets[i].name, name) == 0 && extra) return unused_plugin(arena, diags, plugin, extra, name);
        if (strcmp(targets[i].name, name) == 0) return targets[i].target;
        names[count++] = targets[i].name;
    }
    for (uint32_t i = 0; i < count; i++) xpu_text_add(&known, "%s%s", i ? ", " : "", names[i]);
    const char *nearest = xpu_nearest(name, names);
    xpu_error(diags, XPU_EUSAGE, NULL, "target", NULL,
              xpu_printf(arena, "there is no target '%s'", xpu_escape(arena, name, 80)),
              xpu_printf(arena, "the targets are %s", known.text),
              nearest ? xpu_printf(arena, "did you mean '%s'?", nearest) : "--plugin=FILE.so adds a target");
    return NULL;
}
