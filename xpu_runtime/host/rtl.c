/* The Verilated chips: libraries that are loaded when they are needed. */
#include "xpu_runtime/include/xpurt_rtl.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "xpu_runtime/host/host.h"

typedef struct {
    xpu_arena *arena;
    xpu_diags *diags;
    const char *chip, *path;
    int waves;
} library;

/* The folder of the file that holds this function. */
static const char *own_folder(xpu_arena *arena) {
    Dl_info info;
    char path[PATH_MAX];
    void *here;
    xpurt_rtl_load_fn *self = xpurt_rtl_load;
    memcpy(&here, &self, sizeof here);
    if (!dladdr(here, &info) || !realpath(info.dli_fname, path)) return ".";
    return xpu_path_folder(arena, path);
}

/* The library in `folder`; or else the one for the best level of x86-64 that this processor has, in the folder where
 * glibc looks for such. What is named where there is none is the first. */
static const char *find_library(xpu_arena *arena, const char *folder, const char *name) {
    const char *plain = xpu_path_join(arena, folder, name);
    if (xpu_file_exists(plain)) return plain;
#ifdef __x86_64__
    const char *const levels[] = {__builtin_cpu_supports("x86-64-v3") ? "v3" : NULL,
                                  __builtin_cpu_supports("x86-64-v2") ? "v2" : NULL};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (!levels[i]) continue;
        const char *path = xpu_printf(arena, "%s/glibc-hwcaps/x86-64-%s/%s", folder, levels[i], name);
        if (xpu_file_exists(path)) return path;
    }
#endif
    return plain;
}

static const xpurt_device_driver *missing(const library *l, const char *why) {
    xpu_error(l->diags, XPU_EIO, l->path, "device-missing", NULL,
              xpu_printf(l->arena, "there is no Verilated chip '%s'%s", l->chip, l->waves ? " with waveforms" : ""),
              why,
              xpu_printf(l->arena, "build it with make chip CHIP=%s%s (or CHIP=FILE.json)%s", l->chip,
                         l->waves ? " WAVE=1" : "", l->waves ? "" : "; --device=func runs without"));
    return NULL;
}

static const xpurt_device_driver *load(const library *l, const xpurt_rtl_options *options) {
    static const xpurt_rtl_options none;
    if (!xpu_file_exists(l->path)) return missing(l, "its library has not been built");
    void *handle = dlopen(l->path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return missing(l, xpu_strdup(l->arena, dlerror()));
    xpurt_rtl_driver_fn *driver;
    xpurt_rtl_configure_fn *configure;
    void *symbols[] = {dlsym(handle, XPURT_RTL_DRIVER), dlsym(handle, XPURT_RTL_CONFIGURE)};
    if (!symbols[0] || !symbols[1]) return missing(l, "the library is none of a Verilated chip");
    memcpy(&driver, &symbols[0], sizeof driver);
    memcpy(&configure, &symbols[1], sizeof configure);
    if (driver()->version != XPURT_DEVICE_VERSION) return missing(l, "the library was built for another version");
    configure(options ? options : &none);
    return driver();
}

const xpurt_device_driver *xpurt_rtl_load(const char *chip, const char *folder, const xpurt_rtl_options *options,
                                          xpurt_error *error) {
    xpu_mem mem;
    xpu_diags diags;
    const xpurt_device_driver *volatile driver = NULL;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) {
        xpu_error_oom_of(&diags, &mem);
    } else if (!chip) {
        xpu_bad_argument(&diags, "xpurt_rtl_load", "the chip's name is NULL", "xpurt_rtl.h");
    } else {
        library l = {.arena = xpu_arena_new(&mem, "library"), .diags = &diags, .waves = options && options->wave_file};
        l.chip = xpu_escape(l.arena, chip, XPU_CHIP_NAME_BYTES);
        const char *name = xpu_printf(l.arena, "libxpurtl-%s%s.so", chip, l.waves ? "-wave" : "");
        l.path = find_library(l.arena, folder ? folder : own_folder(l.arena), name);
        driver = load(&l, options);
    }
    xpu_mem_release(&mem);
    xpu_report(error, &diags, xpu_diags_status(&diags));
    return driver;
}
