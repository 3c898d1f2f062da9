#include "tools/common/device.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim/func/driver.h"

/* lib/libxpurtl-CHIP.so beside the folder that holds this tool. */
static const char *library_path(xpu_tool *tool, const char *chip) {
    char self[PATH_MAX];
    if (!realpath("/proc/self/exe", self)) return NULL;
    const char *prefix = xpu_path_folder(tool->arena, xpu_path_folder(tool->arena, self));
    return xpu_path_join(tool->arena, prefix, xpu_printf(tool->arena, "lib/libxpurtl-%s.so", chip));
}

static const xpurt_device_driver *missing(xpu_tool *tool, const xpu_chip *chip, const char *path, const char *why) {
    xpu_error(&tool->diags, XPU_EIO, path, "device-missing", NULL,
              xpu_printf(tool->arena, "there is no Verilated chip '%s'", xpu_escape(tool->arena, chip->name, 64)), why,
              "build it with make rtl CHIP=NAME or FILE.json");
    return NULL;
}

static const xpurt_device_driver *load_rtl(xpu_tool *tool, const xpu_chip *chip, const xpurt_rtl_options *options) {
    const char *path = library_path(tool, chip->name);
    if (!path || !xpu_file_exists(path)) return missing(tool, chip, path, "its library has not been built");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return missing(tool, chip, path, xpu_strdup(tool->arena, dlerror()));
    xpurt_rtl_driver_fn *driver;
    xpurt_rtl_configure_fn *configure;
    void *symbols[] = {dlsym(library, XPURT_RTL_DRIVER), dlsym(library, XPURT_RTL_CONFIGURE)};
    if (!symbols[0] || !symbols[1]) return missing(tool, chip, path, "the library is none of a Verilated chip");
    memcpy(&driver, &symbols[0], sizeof driver);
    memcpy(&configure, &symbols[1], sizeof configure);
    if (options) configure(options);
    return driver();
}

const xpurt_device_driver *xpu_tool_device(xpu_tool *tool, const char *name, const xpu_chip *chip,
                                           const xpurt_rtl_options *options) {
    if (strcmp(name, "func") == 0) return &xpu_func_driver;
    if (strcmp(name, "rtl") == 0) return load_rtl(tool, chip, options);
    xpu_tool_usage(tool, "option '--device'", "there is no such device",
                   xpu_printf(tool->arena, "'%s' is not one of func, rtl", xpu_escape(tool->arena, name, 80)),
                   "func is the functional chip, rtl the Verilated one");
    return NULL;
}
