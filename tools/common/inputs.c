#include "tools/common/inputs.h"

#include <string.h>

#include "base/file.h"
#include "base/npy.h"

xpurt_tensor xpu_to_runtime(const char *name, const xpu_tensor *tensor) {
    xpurt_tensor result = {
        .name = name, .dtype = xpu_dtype_name(tensor->dtype), .rank = tensor->rank, .data = tensor->data};
    memcpy(result.dims, tensor->dims, sizeof result.dims);
    return result;
}

xpu_tensor xpu_from_runtime(const xpurt_tensor *tensor) {
    xpu_tensor result = {.rank = tensor->rank, .data = tensor->data};
    memcpy(result.dims, tensor->dims, sizeof result.dims);
    for (int i = XPU_DTYPE_NONE + 1; i < XPU_DTYPE_COUNT; i++) {
        if (strcmp(xpu_dtype_name((xpu_dtype)i), tensor->dtype) == 0) result.dtype = (xpu_dtype)i;
    }
    return result;
}

static int is_given(const xpu_inputs *inputs, const char *name) {
    for (uint32_t i = 0; i < inputs->count; i++) {
        if (inputs->items[i].name && strcmp(inputs->items[i].name, name) == 0) return 1;
    }
    return 0;
}

/* The name of the first input that has no tensor yet, states behind the others; NULL when all have one. */
static const char *next_input(const xpu_inputs *inputs, const xpurt_program *program) {
    const char *state = NULL;
    for (uint32_t i = 0; i < xpurt_input_count(program); i++) {
        xpurt_tensor info;
        xpurt_input(program, i, &info);
        if (is_given(inputs, info.name)) continue;
        if (xpurt_state_of_input(program, i) < 0) return info.name;
        if (!state) state = info.name;
    }
    return state;
}

static xpu_status refuse(const char *file, const char *what, const char *why, const char *hint, xpu_diags *diags) {
    return xpu_error(diags, XPU_EUSAGE, file, "input-file", NULL, what, why, hint);
}

static const char *names_of(const xpu_named_tensors *tensors, xpu_arena *arena) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (uint32_t i = 0; i < tensors->count; i++) {
        xpu_text_add(&text, "%s'%s'", i ? ", " : "", xpu_escape(arena, tensors->items[i].name, 80));
    }
    return tensors->count ? text.text : "none";
}

/* The index of an entry, or the count of all. */
static uint32_t find_entry(const xpu_named_tensors *tensors, const char *name) {
    uint32_t i = 0;
    while (i < tensors->count && strcmp(tensors->items[i].name, name) != 0) i++;
    return i;
}

static void add(xpu_inputs *inputs, const char *name, const xpu_named_tensors *tensors, uint32_t index,
                const char *file, xpu_arena *arena) {
    XPU_PUSH(arena, &inputs->sources, ((xpu_input_source){inputs->count, file, index}));
    XPU_PUSH(arena, inputs, xpu_to_runtime(name, &tensors->items[index].tensor));
}

/* Every entry that is named as an input. */
static xpu_status add_archive(xpu_inputs *inputs, const xpurt_program *program, const xpu_named_tensors *tensors,
                              const char *file, xpu_arena *arena, xpu_diags *diags) {
    uint32_t before = inputs->count;
    xpurt_tensor info;
    for (uint32_t i = 0; i < xpurt_input_count(program); i++) {
        xpurt_input(program, i, &info);
        uint32_t index = find_entry(tensors, info.name);
        if (index < tensors->count) add(inputs, info.name, tensors, index, file, arena);
    }
    if (inputs->count > before) return XPU_OK;
    return refuse(file, "no entry of the archive is named as an input of the model",
                  xpu_printf(arena, "its entries are %s", names_of(tensors, arena)), "name one: --input NAME=FILE.npz",
                  diags);
}

static xpu_status add_one(xpu_inputs *inputs, const xpurt_program *program, const char *name, const char *file,
                          xpu_arena *arena, xpu_diags *diags) {
    xpu_named_tensors tensors = {0};
    xpu_status status = xpu_npz_read_headers(arena, file, &tensors, diags);
    if (status != XPU_OK) return status;
    int is_npy = tensors.count == 1 && tensors.items[0].name[0] == '\0';
    if (!name && !is_npy) return add_archive(inputs, program, &tensors, file, arena, diags);
    uint32_t index = tensors.count == 1 ? 0 : find_entry(&tensors, name);
    if (index == tensors.count) {
        return refuse(file, xpu_printf(arena, "the archive has no entry '%s'", xpu_escape(arena, name, 80)),
                      xpu_printf(arena, "its entries are %s", names_of(&tensors, arena)),
                      "name an entry, or give a file with one", diags);
    }
    if (!name) name = next_input(inputs, program);
    if (!name) {
        return refuse(file, "there is no input left for it",
                      xpu_printf(arena, "the model has %u, which have their tensors", xpurt_input_count(program)),
                      "give one file for each input", diags);
    }
    add(inputs, name, &tensors, index, file, arena);
    return XPU_OK;
}

xpu_status xpu_inputs_add(xpu_inputs *inputs, const xpurt_program *program, const char *spec, xpu_arena *arena,
                          xpu_diags *diags) {
    const char *equals = strchr(spec, '=');
    if (!equals || xpu_file_exists(spec)) return add_one(inputs, program, NULL, spec, arena, diags);
    const char *name = xpu_strndup(arena, spec, (size_t)(equals - spec));
    return add_one(inputs, program, name, equals + 1, arena, diags);
}

xpu_status xpu_inputs_load(xpu_inputs *inputs, xpu_arena *arena, xpu_diags *diags) {
    for (uint32_t i = 0; i < inputs->sources.count; i++) {
        const xpu_input_source *source = &inputs->sources.items[i];
        xpurt_tensor *to = &inputs->items[source->input];
        xpu_tensor tensor;
        xpu_status status = xpu_npz_read_one(arena, source->file, source->entry, &tensor, diags);
        if (status != XPU_OK) return status;
        *to = xpu_to_runtime(to->name, &tensor); /* the run looks at it again: the file may be another by now */
    }
    inputs->sources.count = 0;
    return XPU_OK;
}
