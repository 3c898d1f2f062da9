#include "tools/common/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 64 };

static int bad_key(xpu_tool *tool, const char *key, const char *what, const char *why, const char *hint) {
    return (int)xpu_error(&tool->diags, XPU_EUSAGE, NULL, "set-key",
                          xpu_printf(tool->arena, "option '--set %s'", xpu_escape(tool->arena, key, 80)), what, why,
                          hint);
}

static const char *list_of(xpu_tool *tool, xpu_chip_key_kind kind) {
    xpu_text text;
    const char *const *names = xpu_chip_key_names(tool->arena, kind);
    xpu_text_init(&text, tool->arena);
    for (uint32_t i = 0; names[i]; i++)
        xpu_text_add(&text, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : " and ", names[i]);
    return text.text;
}

static int bad_setting(xpu_tool *tool, const char *text, const char *what) {
    return xpu_tool_usage(tool, "option '--set'", what, xpu_escape(tool->arena, text, 200),
                          "write KEY=VALUE, for example --set gm.bytes_per_cycle=16");
}

static const char no_setting[] = "this is no key and value";

/* "64K", ends at a comma or the end. NULL: *what says why it is no value. */
static const char *read_value(const char *text, uint32_t *value, const char **what) {
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    int is_large = errno || number > UINT32_MAX;
    *what = no_setting;
    if (end == text || *text < '0' || *text > '9') return NULL;
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        number = is_large ? number : number << 10 * (unit - units + 1);
        end++;
    }
    if (*end && *end != ',') return NULL;
    *what = "a value has more than 32 bits";
    if (is_large || number > UINT32_MAX) return NULL;
    *value = (uint32_t)number;
    return end;
}

static int read_setting(xpu_tool *tool, const char *text, xpu_setting *setting) {
    const char *equals = strchr(text, '='), *what;
    if (!equals || !equals[1]) return bad_setting(tool, text, no_setting);
    setting->name = xpu_strndup(tool->arena, text, (size_t)(equals - text));
    setting->key = xpu_chip_key(setting->name);
    if (setting->key < 0) {
        const char *near = xpu_nearest(setting->name, xpu_chip_key_names(tool->arena, XPU_CHIP_ABI));
        return bad_key(tool, setting->name, "a chip has no such key", "the keys are those of configs/chip/NAME.json",
                       near ? xpu_printf(tool->arena, "did you mean '%s'?", near) : "see docs/chip.md");
    }
    setting->values = XPU_NEW_ARRAY(tool->arena, uint32_t, MAX_VALUES);
    for (const char *at = equals; *at; setting->count++) {
        if (setting->count == MAX_VALUES) return bad_setting(tool, text, "a key has at most 64 values");
        at = read_value(at + 1, &setting->values[setting->count], &what);
        if (!at) return bad_setting(tool, text, what);
    }
    return XPU_OK;
}

int xpu_settings_read(xpu_tool *tool, xpu_setting **settings, uint32_t *count) {
    const char *const *texts = xpu_tool_options(tool, "set");
    *count = 0;
    while (texts[*count]) ++*count;
    *settings = XPU_NEW_ARRAY(tool->arena, xpu_setting, *count);
    for (uint32_t i = 0; i < *count; i++) {
        int status = read_setting(tool, texts[i], &(*settings)[i]);
        if (status) return status;
        for (uint32_t k = 0; k < i; k++) {
            if ((*settings)[k].key == (*settings)[i].key)
                return bad_key(tool, (*settings)[i].name, "the key is set twice", "each key is given once",
                               "leave one out");
        }
    }
    return XPU_OK;
}

int xpu_settings_of_run(xpu_tool *tool, xpu_chip *chip) {
    xpu_setting *settings;
    uint32_t count;
    int status = xpu_settings_read(tool, &settings, &count);
    for (uint32_t i = 0; i < count && !status; i++) {
        if (xpu_chip_key_is(settings[i].key) != XPU_CHIP_RUN)
            return bad_key(tool, settings[i].name, "a run cannot change this key",
                           xpu_printf(tool->arena, "%s can be changed; all else is built into the chip",
                                      list_of(tool, XPU_CHIP_RUN)),
                           "write it into a chip's JSON, make chip CHIP=FILE.json, and compile with xpuc "
                           "--chip=FILE.json");
        if (settings[i].count != 1)
            return bad_key(tool, settings[i].name, "a run has one value of each key",
                           xpu_printf(tool->arena, "%u are given", settings[i].count),
                           "name one, or compare them with xpu-memplan what-if");
        xpu_chip_key_set(chip, settings[i].key, settings[i].values[0]);
    }
    return status || count == 0 ? status : (int)xpu_chip_check(tool->arena, chip, "--set", &tool->diags);
}
