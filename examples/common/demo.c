#include "examples/common/demo.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <xpurt_func.h>
#include <xpurt_rtl.h>

int demo_fails(int status, const char *file, const char *rule, const char *what, const char *why, const char *hint) {
    fprintf(stderr, "%s%serror [%s] %s\n  why: %s\n  hint: %s\n", file ? file : "", file ? ": " : "", rule, what, why,
            hint);
    return status;
}

int demo_passes_on(xpurt_error *error) {
    int status = error->status;
    if (status) fputs(error->text ? error->text : "there is not enough memory\n", stderr);
    xpurt_error_clear(error);
    return status;
}

int demo_find_device(const xpurt_program *program, const char *device, const struct xpurt_device_driver **driver) {
    xpurt_error error = {0};
    *driver = strcmp(device, "func") == 0 ? xpurt_func_driver() : NULL;
    if (strcmp(device, "rtl") != 0) return 0;
    json_t *chip = json_loads(xpurt_chip_json(program), 0, NULL);
    const char *name = json_string_value(json_object_get(chip, "name"));
    *driver = xpurt_rtl_load(name ? name : "standard", NULL, NULL, &error);
    json_decref(chip);
    return demo_passes_on(&error);
}

long long demo_cycles(const char *stats) {
    json_t *json = stats ? json_loads(stats, 0, NULL) : NULL;
    const long long cycles = json_integer_value(json_object_get(json, "cycles"));
    json_decref(json);
    return cycles;
}
