#include "tools/common/instructions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "core/isa.h"

enum { TAGS = 1 << 16 }; /* numbers that register LAYER can have */

typedef struct {
    const uint8_t *layers; /* by number, whether its instructions are printed; NULL: all */
    uint32_t count;        /* of layers */
    uint32_t first;        /* a multiple of TAGS: the layer of tag 0 where one layer runs alone */
    int64_t core;          /* -1: all */
} choice;

static void print_instruction(void *context, uint64_t cycle, unsigned core, uint32_t layer, uint32_t pc,
                              uint32_t instruction) {
    const choice *c = context;
    char text[80];
    layer += c->first;
    if ((c->core >= 0 && core != c->core) || (c->layers && (layer >= c->count || !c->layers[layer]))) return;
    xpu_disassemble(instruction, pc, text, sizeof text);
    printf("%8" PRIu64 " core %u layer %u  %08" PRIx32 "  %08" PRIx32 "  %s\n", cycle, core, layer, pc, instruction,
           text);
    if (ferror(stdout)) xpu_stop_without_reader();
}

static int choose_layers(xpu_tool *tool, const xpurt_program *program, const char *pattern, uint8_t *layers) {
    xpurt_error error = {0};
    char *end;
    if (!program) {
        unsigned long number = strtoul(pattern, &end, 0);
        if (*end == '\0' && end != pattern && pattern[0] != '-' && number < TAGS) {
            layers[number] = 1;
            return XPU_OK;
        }
        return xpu_tool_usage(tool, "option '--instructions'", "this is no layer", xpu_escape(tool->arena, pattern, 80),
                              "a bare program's layers are the numbers that it stores to LAYER");
    }
    int64_t found = xpurt_find_layer(program, pattern, 0, 0, &error);
    int status = found < 0 ? xpu_tool_report(tool, error.status, error.text) : XPU_OK;
    xpurt_error_clear(&error);
    for (; found >= 0; found = xpurt_find_layer(program, pattern, (uint32_t)found + 1, 0, NULL)) layers[found] = 1;
    return status;
}

static int choose_core(xpu_tool *tool, const xpu_chip *chip, int64_t *core) {
    const char *text = xpu_tool_option(tool, "core");
    char *end;
    if (!text) return XPU_OK;
    unsigned long number = strtoul(text, &end, 0);
    *core = (int64_t)number;
    if (*end == '\0' && end != text && text[0] != '-' && number < chip->cores) return XPU_OK;
    return xpu_tool_usage(
        tool, "option '--core'", "the chip has no such core",
        xpu_printf(tool->arena, "'%s' is not one of 0 to %u", xpu_escape(tool->arena, text, 80), chip->cores - 1),
        "leave it out for all of them");
}

int xpu_instructions_configure(xpu_tool *tool, const xpurt_program *program, const xpu_chip *chip,
                               xpu_device_options *options) {
    const char *pattern = xpu_tool_option(tool, "instructions");
    if (!xpu_tool_flag(tool, "instructions")) return XPU_OK;
    const char *alone = program ? xpu_tool_option(tool, "layer") : NULL;
    int64_t only = alone ? xpurt_find_layer(program, alone, 0, 1, NULL) : -1;
    uint32_t count = program ? xpurt_layer_count(program) : TAGS;
    uint8_t *layers = XPU_NEW_ARRAY(tool->arena, uint8_t, count);
    choice *c = XPU_NEW(tool->arena, choice);
    *c = (choice){.layers = pattern ? layers : NULL, .count = count, .core = -1};
    if (only > 0) c->first = (uint32_t)only / TAGS * TAGS;
    options->rtl.trace = print_instruction;
    options->rtl.context = c;
    int status = pattern ? choose_layers(tool, program, pattern, layers) : XPU_OK;
    return status ? status : choose_core(tool, chip, &c->core);
}
