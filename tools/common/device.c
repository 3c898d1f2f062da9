#include "tools/common/device.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim/func/driver.h"

/* ---- the command line ---- */

static int number_option(xpu_tool *tool, const char *name, uint64_t most, uint64_t *value) {
    const char *text = xpu_tool_option(tool, name);
    char *end;
    if (!text) return XPU_OK;
    errno = 0;
    *value = strtoull(text, &end, 0);
    const int is_number = isdigit((unsigned char)text[0]) && *end == 0;
    if (is_number && !errno && *value <= most) return XPU_OK;
    return xpu_tool_usage(
        tool, xpu_printf(tool->arena, "option '--%s'", name),
        is_number ? "the number is too large" : "this is no number", xpu_escape(tool->arena, text, 80),
        is_number ? xpu_printf(tool->arena, "at most %" PRIu64, most) : "write a number without a unit");
}

int xpu_device_options_read(xpu_tool *tool, xpu_device_options *options) {
    const char *device = xpu_tool_option(tool, "device");
    uint64_t seed = 0;
    *options = (xpu_device_options){.device = device ? device : XPU_DEFAULT_DEVICE};
    options->is_ref = strcmp(options->device, "ref") == 0;
    options->has_time = strcmp(options->device, "rtl") == 0;
    if (!options->is_ref && !options->has_time && strcmp(options->device, "func") != 0)
        return xpu_tool_usage(
            tool, "option '--device'", "there is no such device",
            xpu_printf(tool->arena, "'%s' is not one of rtl, func, ref", xpu_escape(tool->arena, device, 80)),
            "rtl is the Verilated chip, func the same chip in C, ref the reference on the host");
    int status = number_option(tool, "max-cycles", UINT64_MAX, &options->rtl.max_cycles);
    if (!status) status = number_option(tool, "seed", UINT32_MAX, &seed);
    options->rtl.seed = (uint32_t)seed;
    options->rtl.lockstep = xpu_tool_flag(tool, "lockstep");
    options->rtl.no_skip = xpu_tool_flag(tool, "no-skip");
    return status;
}

/* ---- the Verilated chip ---- */

const xpurt_device_driver *xpu_device_rtl(xpu_arena *arena, const xpurt_rtl_options *options, const xpu_chip *chip,
                                          xpurt_error *error) {
    char self[PATH_MAX];
    const char *folder = NULL;
    if (realpath("/proc/self/exe", self))
        folder = xpu_path_join(arena, xpu_path_folder(arena, xpu_path_folder(arena, self)), "lib");
    return xpurt_rtl_load(chip->name, folder, options, error);
}

int xpu_device_open(xpu_tool *tool, const xpu_device_options *options, const xpu_chip *chip,
                    const xpurt_device_driver **driver) {
    xpurt_error error = {0};
    int status = XPU_OK;
    *driver = &xpu_func_driver;
    if (!options->has_time) return XPU_OK;
    const char *file = options->rtl.wave_file;
    if (file && xpu_output_check(tool->arena, file, &tool->diags) != XPU_OK) return XPU_EIO;
    *driver = xpu_device_rtl(tool->arena, &options->rtl, chip, &error);
    if (!*driver) status = xpu_tool_report(tool, error.status, error.text);
    xpurt_error_clear(&error);
    if (!status && file) status = (int)xpu_file_write(tool->arena, file, "", 0, &tool->diags);
    return status;
}
