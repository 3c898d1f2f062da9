/* Where the files are that a target reads: chips, device headers, the device library. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "xpuc/pipeline.h"

const char *xpu_environment(const char *name) {
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

/* Found beside the library or program that holds this code: lib/../share/xpu, bin/../share/xpu; a program of the build
 * folder may lie deeper. Where nothing is found, the first place is named, so that messages show where to look. */
const char *xpu_find_resources(xpu_arena *arena, const char *wanted) {
    enum { LEVELS = 3 };
    if (wanted) return wanted;
    const char *environment = xpu_environment("XPU_RESOURCES");
    if (environment) return environment;
    static const char inside; /* the library or program */
    Dl_info info;
    char resolved[PATH_MAX];
    const char *self = "/proc/self/exe";
    if (dladdr(&inside, &info) && info.dli_fname && info.dli_fname[0]) self = info.dli_fname;
    if (!realpath(self, resolved) && !realpath("/proc/self/exe", resolved)) return "share/xpu";
    const char *folder = resolved, *first = NULL;
    for (int i = 0; i < LEVELS; i++) {
        folder = xpu_path_folder(arena, folder);
        const char *place = xpu_path_join(arena, xpu_path_folder(arena, folder), "share/xpu");
        if (xpu_file_exists(xpu_path_join(arena, place, "configs"))) return place;
        if (!first) first = place;
    }
    return first;
}
