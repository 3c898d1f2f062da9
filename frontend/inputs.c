/* The graph's inputs: what the model says about their shapes, what the user asked for (--shape), and defaults. */
#include <inttypes.h>
#include <string.h>

#include "base/option.h"
#include "frontend/inputs.h"

/* A name of the model for a dim, once --shape has given it a meaning. */
typedef struct {
    const char *name;
    xpu_dim dim;
} binding;

typedef struct {
    const xpu_input_reader *importer;
    XPU_ARRAY(binding) bindings;
} reader;

/* One input of the model while it is read. */
typedef struct {
    const xpu_input *from;
    const char *shown; /* its name for messages */
    const xpu_shape_spec *spec;
    int rank;
    xpu_dim dims[XPU_MAX_RANK];
    const char *open[XPU_MAX_RANK]; /* names of the dims without a bound, where they come first */
    int asks_open;                  /* a dim that the model fixes is among them */
} input;

#define TEXT(read, ...) xpu_printf((read)->importer->scratch, __VA_ARGS__)

static int fail(const reader *read, const input *in, const char *what, const char *why, const char *hint) {
    xpu_error(read->importer->diags, XPU_EMODEL, read->importer->file, read->importer->rule,
              TEXT(read, "input '%s'", in->shown), what, why, hint ? hint : read->importer->hint);
    return 0;
}

static int fail_option(const reader *read, const char *input_name, const char *what, const char *why,
                       const char *hint) {
    xpu_error(read->importer->diags, XPU_EUSAGE, NULL, "shape-option",
              TEXT(read, "--shape %s", xpu_escape(read->importer->scratch, input_name, 100)), what, why, hint);
    return 0;
}

/* ---- --shape ---- */

static const xpu_shape_spec *find_spec(const xpu_import_options *options, const char *name) {
    for (uint32_t i = 0; i < options->shape_count; i++) {
        if (strcmp(options->shapes[i].input, name) == 0) return &options->shapes[i];
    }
    return NULL;
}

/* Every --shape names an input of the model, once, and its numbers make sense. */
static int check_specs(const reader *read, const xpu_input *inputs, uint32_t input_count) {
    const xpu_input_reader *importer = read->importer;
    const xpu_import_options *options = importer->options;
    const char **names = XPU_NEW_ARRAY(importer->scratch, const char *, input_count + 1);
    xpu_text all;
    xpu_text_init(&all, importer->scratch);
    size_t count = 0;
    for (uint32_t i = 0; i < input_count; i++) {
        names[count++] = inputs[i].name;
        xpu_text_add(&all, "%s'%s'", count > 1 ? ", " : "", xpu_escape(importer->scratch, inputs[i].name, 100));
    }
    int ok = 1;
    for (uint32_t i = 0; i < options->shape_count; i++) {
        const xpu_shape_spec *spec = &options->shapes[i];
        size_t at = 0;
        while (at < count && strcmp(names[at], spec->input) != 0) at++;
        if (at == count) {
            const char *nearest = xpu_nearest(spec->input, names);
            ok =
                fail_option(read, spec->input, "the model has no such input", TEXT(read, "its inputs are %s", all.text),
                            nearest ? TEXT(read, "the nearest one is '%s'", xpu_escape(importer->scratch, nearest, 100))
                                    : "write the name of one of them");
        } else if (find_spec(options, spec->input) != spec) {
            ok = fail_option(read, spec->input, "the option is given twice", "an input has one shape",
                             "give one shape per input");
        }
        for (int d = 0; d < spec->rank; d++) {
            const xpu_shape_dim *dim = &spec->dims[d];
            int valid = dim->min == 0 ? dim->symbol != NULL && dim->max == 0
                                      : dim->min > 0 && dim->max >= dim->min && dim->max <= INT32_MAX && dim->step > 0;
            if (!valid) {
                ok = fail_option(read, spec->input, TEXT(read, "dim %d is invalid", d),
                                 TEXT(read, "%" PRId64 "..%" PRId64 ":%" PRId64, dim->min, dim->max, dim->step),
                                 "write a number, FIRST..LAST or FIRST..LAST:STEP, each at least 1");
            }
        }
    }
    return ok;
}

/* The range that some --shape gives symbol `name`; NULL when there is none. *twice: there are two that differ. */
static const xpu_shape_dim *range_of(const xpu_import_options *options, const char *name, int *twice) {
    const xpu_shape_dim *found = NULL;
    for (uint32_t i = 0; i < options->shape_count; i++) {
        for (int d = 0; d < options->shapes[i].rank; d++) {
            const xpu_shape_dim *dim = &options->shapes[i].dims[d];
            if (!dim->symbol || strcmp(dim->symbol, name) != 0 || dim->min == 0) continue;
            *twice |= found && (dim->min != found->min || dim->max != found->max || dim->step != found->step);
            if (!found) found = dim;
        }
    }
    return found;
}

/* ---- dims ---- */

static xpu_dim *binding_of(reader *read, const char *name) {
    for (uint32_t i = 0; i < read->bindings.count; i++) {
        if (strcmp(read->bindings.items[i].name, name) == 0) return &read->bindings.items[i].dim;
    }
    return NULL;
}

static int has_symbol(const xpu_dims *dims, const char *name) {
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        if (strcmp(dims->symbols.items[i].name, name) == 0) return 1;
    }
    return 0;
}

/* What the model fixes, 0 included; -1: nothing. Negative ones stand for "unknown" in files of some
 * exporters. */
static int64_t value_of(const input *in, int index) {
    int64_t value = in->from->rank < 0 ? -1 : in->from->dims[index];
    return value < 0 ? -1 : value;
}

/* The least that dim `index` can be, as far as is known before it is read. */
static int64_t least_of(const reader *read, const input *in, int index) {
    const xpu_shape_dim *asked = in->spec ? &in->spec->dims[index] : NULL;
    int twice = 0;
    const xpu_shape_dim *range =
        asked && asked->symbol ? range_of(read->importer->options, asked->symbol, &twice) : asked;
    if (range && range->min > 0) return range->min;
    int64_t value = asked ? 1 : value_of(in, index);
    return value > 0 ? value : 1;
}

/* The largest value of an open dim: with it, and all others at their least, the input fills the target's memory. */
static int64_t open_limit(const reader *read, const input *in, int index) {
    uint64_t room = read->importer->options->memory_bytes / xpu_dtype_bytes(in->from->dtype);
    if (!room) return INT32_MAX;
    for (int i = 0; i < in->rank; i++) {
        if (i != index) room /= (uint64_t)least_of(read, in, i);
    }
    return room > INT32_MAX ? INT32_MAX : room > 0 ? (int64_t)room : 1;
}

/* A symbol that only memory limits, and what the model needs at least. */
static xpu_dim open_symbol(reader *read, input *in, int index, const char *name) {
    xpu_dims *dims = &read->importer->graph->dims;
    const xpu_import_options *options = read->importer->options;
    if (has_symbol(dims, name)) return xpu_dim_symbol(dims, name, 1, 1, 1);
    int64_t least = 1, most = open_limit(read, in, index);
    for (uint32_t i = 0; i < options->open_count; i++) {
        if (strcmp(options->open[i].symbol, name) == 0) least = options->open[i].least;
    }
    in->open[index] = name;
    xpu_dim dim = xpu_dim_symbol(dims, name, least, most, 1);
    dims->symbols.items[dims->symbols.count - 1].open = 1;
    return dim;
}

/* Says which dims have no bound, and how to give them one. */
static void report_open_dims(const reader *read, const input *in) {
    const xpu_input_reader *importer = read->importer;
    xpu_text open, example;
    xpu_text_init(&open, importer->scratch);
    xpu_text_init(&example, importer->scratch);
    for (int i = 0; i < in->rank; i++) {
        const char *size = xpu_dim_text(&importer->graph->dims, in->dims[i], importer->scratch);
        if (in->open[i])
            xpu_text_add(&open, "%sdim %d ('%s')", open.length ? ", " : "", i,
                         xpu_escape(importer->scratch, in->open[i], 80));
        xpu_text_add(&example, "%s%s", i ? "," : "", !in->open[i] ? size : i ? "32..224" : "1..16");
    }
    if (!open.length) return;
    xpu_diag_add(importer->diags, XPU_SEVERITY_NOTE, XPU_OK, importer->file, "shape-open",
                 TEXT(read, "input '%s'", in->shown), TEXT(read, "%s may be as large as memory allows", open.text),
                 in->asks_open ? "--shape gives no range" : "the model leaves that open",
                 TEXT(read, "for code that fits a range: --shape %s=%s", in->shown, example.text));
}

/* A symbol's name for dim `index` that no other dim has. */
static const char *made_name(const reader *read, const input *in, int index) {
    const char *name = TEXT(read, "%s_%d", in->from->name, index);
    while (has_symbol(&read->importer->graph->dims, name)) name = TEXT(read, "%s_", name);
    return name;
}

static const char *param_of(const input *in, int index) {
    if (in->from->rank < 0 || !in->from->params) return NULL;
    const char *param = in->from->params[index];
    return param && param[0] ? param : NULL;
}

/* A dim that the model fixes may be asked for in another size: nodes that depend on it say so. */
static void report_override(const reader *read, const input *in, int index, int64_t value) {
    xpu_diag_add(read->importer->diags, XPU_SEVERITY_NOTE, XPU_OK, read->importer->file, "shape-override",
                 TEXT(read, "input '%s'", in->shown), TEXT(read, "dim %d is %" PRId64 " in the model", index, value),
                 "--shape asks for something else",
                 "results of other sizes are as good as the network's training for them");
}

/* Dim `index` as --shape asks for it; binds the model's name for it. */
static int specified_dim(reader *read, input *in, int index) {
    const xpu_input_reader *importer = read->importer;
    xpu_dims *dims = &importer->graph->dims;
    const xpu_shape_dim *asked = &in->spec->dims[index];
    const char *param = param_of(in, index);
    int twice = 0;
    const xpu_shape_dim *range = asked->symbol ? range_of(importer->options, asked->symbol, &twice) : asked;
    if (twice) {
        return fail_option(read, in->spec->input, TEXT(read, "'%s' has two ranges", asked->symbol),
                           "a name stands for one dim, wherever it is",
                           "give the range once, and the name alone elsewhere");
    }
    int64_t value = value_of(in, index);
    if (value >= 0 && range && range->min == value && range->max == value) {
        in->dims[index] = xpu_dim_const(dims, value);
        return 1;
    }
    if (value >= 0) report_override(read, in, index, value);
    if (value >= 0 && !range) in->asks_open = 1;
    if (range && range->min == range->max) {
        in->dims[index] = xpu_dim_const(dims, range->min);
    } else {
        const char *name = asked->symbol ? asked->symbol : param ? param : made_name(read, in, index);
        in->dims[index] = range ? xpu_dim_symbol(dims, name, range->min, range->max, range->step)
                                : open_symbol(read, in, index, name);
    }
    if (!param) return 1;
    const xpu_dim *bound = binding_of(read, param);
    if (bound && !xpu_dim_equal(*bound, in->dims[index])) {
        return fail_option(
            read, in->spec->input, TEXT(read, "dim %d contradicts another --shape", index),
            TEXT(read, "the model calls both '%s'; they are %s and %s", xpu_escape(importer->scratch, param, 100),
                 xpu_dim_text(dims, *bound, importer->scratch), xpu_dim_text(dims, in->dims[index], importer->scratch)),
            "give them the same size or name");
    }
    if (!bound) XPU_PUSH(importer->scratch, &read->bindings, ((binding){param, in->dims[index]}));
    return 1;
}

static int model_dim(reader *read, input *in, int index) {
    xpu_dims *dims = &read->importer->graph->dims;
    const char *param = param_of(in, index);
    int64_t value = value_of(in, index);
    if (value > INT32_MAX) {
        return fail(read, in, TEXT(read, "dim %d is too large", index), TEXT(read, "it is %" PRId64, value), NULL);
    }
    if (value >= 0) {
        in->dims[index] = xpu_dim_const(dims, value);
    } else if (param) {
        const xpu_dim *bound = binding_of(read, param);
        in->dims[index] = bound ? *bound : open_symbol(read, in, index, param);
    } else {
        in->dims[index] = open_symbol(read, in, index, made_name(read, in, index));
    }
    return 1;
}

/* ---- inputs ---- */

/* What is known of the rank. */
static int read_rank(reader *read, input *in) {
    int rank = in->from->rank;
    if (rank < 0 && !in->spec) {
        return fail(read, in, "the input's rank is not known", "the model gives no shape for it",
                    TEXT(read, "give one: --shape %s=...", in->shown));
    }
    if (rank > XPU_MAX_RANK) {
        return fail(read, in, "the input has too many dims",
                    TEXT(read, "it has %d; at most %d are supported", rank, XPU_MAX_RANK), NULL);
    }
    in->rank = rank < 0 ? in->spec->rank : rank;
    if (in->spec && in->spec->rank != in->rank) {
        return fail_option(read, in->spec->input, "the shape has the wrong rank",
                           TEXT(read, "it has %d dims, the input has %d", in->spec->rank, in->rank),
                           "give a number, a range or a name for each dim of the input");
    }
    return 1;
}

static int read_dims(reader *read, input *in) {
    int ok = 1;
    for (int i = 0; i < in->rank; i++) ok &= in->spec ? specified_dim(read, in, i) : model_dim(read, in, i);
    if (ok) report_open_dims(read, in);
    return ok;
}

void xpu_add_inputs(const xpu_input_reader *importer, xpu_input *inputs, uint32_t count) {
    reader read = {.importer = importer};
    int specs_are_valid = check_specs(&read, inputs, count);
    xpu_check_values(importer, inputs, count);
    input *list = XPU_NEW_ARRAY(importer->scratch, input, count + 1);
    int *ok = XPU_NEW_ARRAY(importer->scratch, int, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (input){.from = &inputs[i], .shown = xpu_escape(importer->scratch, inputs[i].name, 100)};
        list[i].spec = find_spec(importer->options, inputs[i].name);
        ok[i] = specs_are_valid && !inputs[i].is_faulty && read_rank(&read, &list[i]);
    }
    /* Those of --shape first: they give the model's names for dims a meaning. */
    for (int specified = 1; specified >= 0; specified--) {
        for (uint32_t i = 0; i < count; i++) {
            if (ok[i] && (list[i].spec != NULL) == specified) ok[i] = read_dims(&read, &list[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (ok[i]) inputs[i].value = xpu_add_input(importer, &inputs[i], list[i].rank, list[i].dims);
    }
    xpu_name_elements(importer);
}
