/* What small inputs of integers hold: numbers that the user gives (--value), or symbols that shapes may be made of. */
#include <inttypes.h>
#include <string.h>

#include "base/option.h"
#include "core/ir/known.h"
#include "frontend/inputs.h"

#define TEXT(importer, ...) xpu_printf((importer)->scratch, __VA_ARGS__)

static void fail(const xpu_input_reader *importer, const char *input, const char *what, const char *why,
                 const char *hint) {
    xpu_error(importer->diags, XPU_EUSAGE, NULL, "value-option",
              TEXT(importer, "--value %s", xpu_escape(importer->scratch, input, 100)), what, why, hint);
}

static const xpu_value_spec *find_spec(const xpu_import_options *options, const char *name) {
    for (uint32_t i = 0; i < options->value_count; i++) {
        if (strcmp(options->values[i].input, name) == 0) return &options->values[i];
    }
    return NULL;
}

int xpu_has_value(const xpu_import_options *options, const char *input) {
    return find_spec(options, input) != NULL;
}

void xpu_check_values(const xpu_input_reader *importer, const xpu_input *inputs, uint32_t input_count) {
    const xpu_import_options *options = importer->options;
    const char **names = XPU_NEW_ARRAY(importer->scratch, const char *, input_count + 1);
    size_t count = 0;
    for (; count < input_count; count++) names[count] = inputs[count].name;
    for (uint32_t i = 0; i < options->value_count; i++) {
        const xpu_value_spec *spec = &options->values[i];
        size_t at = 0;
        while (at < count && strcmp(names[at], spec->input) != 0) at++;
        const char *nearest = at < count ? NULL : xpu_nearest(spec->input, names);
        if (at == count) {
            fail(importer, spec->input, "the model has no such input", "no input has this name",
                 nearest ? TEXT(importer, "the nearest one is '%s'", xpu_escape(importer->scratch, nearest, 100))
                         : "write the name of one of its inputs: xpuc --describe names them");
        } else if (find_spec(options, spec->input) != spec) {
            fail(importer, spec->input, "the option is given twice", "an input has one value",
                 "give one value per input");
        }
    }
}

/* How many elements an input of integers has that may be symbols; 0: none. */
static int64_t count_of(const xpu_input_reader *importer, xpu_dtype dtype, int rank, const xpu_dim *dims) {
    int64_t count = 1, size;
    if (dtype != XPU_I32 && dtype != XPU_I64) return 0;
    for (int i = 0; i < rank; i++) {
        if (!xpu_dim_is_const(&importer->graph->dims, dims[i], &size) || size > XPU_MOST_VALUES) return 0;
        count *= size;
        if (count > XPU_MOST_VALUES) return 0;
    }
    return count;
}

/* The input as a constant; {0} after reporting. */
static xpu_value constant(const xpu_input_reader *importer, const xpu_input *input, const xpu_value_spec *spec,
                          int rank, const xpu_dim *dims, int64_t count) {
    const xpu_dtype dtype = input->dtype;
    int64_t wide[XPU_MOST_VALUES];
    int32_t narrow[XPU_MOST_VALUES];
    xpu_tensor tensor = {.dtype = dtype, .rank = rank, .data = dtype == XPU_I64 ? (void *)wide : (void *)narrow};
    for (int i = 0; i < rank; i++) xpu_dim_is_const(&importer->graph->dims, dims[i], &tensor.dims[i]);
    for (int64_t i = 0; i < count; i++) {
        wide[i] = spec->numbers[i];
        narrow[i] = (int32_t)spec->numbers[i];
        if (dtype == XPU_I64 || narrow[i] == wide[i]) continue;
        fail(importer, spec->input, "a number does not fit the input", "it is int32", "give a number of 32 bits");
        return (xpu_value){0};
    }
    return xpu_graph_const_bytes(importer->graph, input->constant_name ? input->constant_name : input->name, &tensor);
}

xpu_value xpu_add_input(const xpu_input_reader *importer, const xpu_input *input, int rank, const xpu_dim *dims) {
    const char *name = input->name;
    const xpu_dtype dtype = input->dtype;
    const xpu_value_spec *spec = find_spec(importer->options, name);
    int64_t count = count_of(importer, dtype, rank, dims);
    if (spec && !count) {
        fail(importer, name, "the input's value cannot be given",
             TEXT(importer, "it is %s%s", xpu_dtype_name(dtype),
                  xpu_dim_list_text(&importer->graph->dims, rank, dims, importer->scratch)),
             TEXT(importer, "it is for inputs of at most %d int32 or int64", XPU_MOST_VALUES));
        return (xpu_value){0};
    }
    if (spec && !spec->is_range && spec->count != count) {
        fail(importer, name, "the number of values is wrong",
             TEXT(importer, "%" PRIu32 " are given, the input has %" PRId64, spec->count, count),
             "separate them by commas, in row-major order");
        return (xpu_value){0};
    }
    if (spec && !spec->is_range) return constant(importer, input, spec, rank, dims, count);
    return xpu_graph_input(importer->graph, name, dtype, rank, dims);
}

/* ---- symbols ---- */

static int has_symbol(const xpu_dims *dims, const char *name) {
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        if (strcmp(dims->symbols.items[i].name, name) == 0) return 1;
    }
    return 0;
}

void xpu_name_elements(const xpu_input_reader *importer) {
    xpu_graph *graph = importer->graph;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value input = graph->inputs.items[i];
        const xpu_value_info info = *xpu_value_at(graph, input);
        const xpu_value_spec *spec = find_spec(importer->options, info.name);
        int64_t count = count_of(importer, info.dtype, info.rank, info.dims);
        xpu_known list[XPU_MOST_VALUES];
        for (uint32_t k = 0; k < count; k++) {
            const char *name = count == 1 ? info.name : TEXT(importer, "%s.%u", info.name, k);
            while (has_symbol(&graph->dims, name)) name = TEXT(importer, "%s'", name);
            xpu_dim symbol = xpu_dim_symbol_of(&graph->dims, name, spec ? spec->min : INT32_MIN,
                                               spec ? spec->max : INT32_MAX, 1, input, k);
            list[k] = (xpu_known){symbol, 1};
        }
        if (count) xpu_value_set_known(graph, input, list, (int)count);
    }
}
