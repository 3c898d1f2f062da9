/* The options of a compilation, before anything is read: values, and that each has an effect. */
#include <string.h>

#include "base/option.h"
#include "frontend/paddle/paddle.h"
#include "xpuc/pipeline.h"

/* ---- values ---- */

static xpu_status bad_choice(xpu_pipeline *p, const char *option, const char *value, const char *const *choices) {
    xpu_text known;
    xpu_text_init(&known, p->arena);
    for (int i = 0; choices[i]; i++) xpu_text_add(&known, "%s%s", i ? ", " : "", choices[i]);
    const char *nearest = xpu_nearest(value, choices);
    return xpu_error(p->diags, XPU_EUSAGE, NULL, "option", option,
                     xpu_printf(p->arena, "'%s' is not a value of this option", xpu_escape(p->arena, value, 80)),
                     xpu_printf(p->arena, "it takes %s", known.text),
                     nearest ? xpu_printf(p->arena, "did you mean '%s'?", nearest) : "use one of these values");
}

static void check_choice(xpu_pipeline *p, const char *option, const char *value, const char *const *choices) {
    for (int i = 0; value && choices[i]; i++) {
        if (strcmp(value, choices[i]) == 0) return;
    }
    if (value) bad_choice(p, option, value, choices);
}

static const char *or_default(const char *value, const char *fallback) {
    return value ? value : fallback;
}

static xpu_status read_shapes(xpu_pipeline *p) {
    uint32_t count = 0;
    while (p->wanted->shapes && p->wanted->shapes[count]) count++;
    xpu_shape_spec *specs = XPU_NEW_ARRAY(p->arena, xpu_shape_spec, count);
    for (uint32_t i = 0; i < count; i++) xpu_shape_parse(p->arena, p->wanted->shapes[i], &specs[i], p->diags);
    p->import.shapes = specs;
    p->import.shape_count = count;
    return xpu_diags_status(p->diags);
}

static xpu_status read_values(xpu_pipeline *p) {
    uint32_t count = 0;
    while (p->wanted->values && p->wanted->values[count]) count++;
    xpu_value_spec *specs = XPU_NEW_ARRAY(p->arena, xpu_value_spec, count);
    for (uint32_t i = 0; i < count; i++) xpu_values_parse(p->arena, p->wanted->values[i], &specs[i], p->diags);
    p->import.values = specs;
    p->import.value_count = count;
    return xpu_diags_status(p->diags);
}

static xpu_status read_bounds(xpu_pipeline *p) {
    uint32_t count = 0;
    while (p->wanted->bounds && p->wanted->bounds[count]) count++;
    xpu_bound_spec *specs = XPU_NEW_ARRAY(p->arena, xpu_bound_spec, count);
    for (uint32_t i = 0; i < count; i++) xpu_bounds_parse(p->arena, p->wanted->bounds[i], &specs[i], p->diags);
    p->import.bounds = specs;
    p->import.is_part = p->wanted->is_part;
    p->import.bound_count = count;
    return xpu_diags_status(p->diags);
}

/* ---- effects ---- */

/* What an option has no effect beside, as a letter of `beside`: d --describe, c --emit=c, i --emit=ir. */
typedef struct {
    const char *name;
    size_t member; /* of xpuc_options: a pointer, or an int where is_flag */
    int is_flag;
    const char *beside, *why;
} use;

#define TEXT_OPTION(name, member, ...) {name, offsetof(xpuc_options, member), 0, __VA_ARGS__}
#define FLAG(name, member, ...)        {name, offsetof(xpuc_options, member), 1, __VA_ARGS__}

static const char is_read_only[] = "a model or program is looked into as it is, and nothing is compiled";

static const use uses[] = {
    TEXT_OPTION("target", target, "d", is_read_only),
    TEXT_OPTION("chip", chip, "d", is_read_only),
    TEXT_OPTION("precision", precision, "d", is_read_only),
    TEXT_OPTION("precision-rules", precision_rules, "d", is_read_only),
    TEXT_OPTION("memory", memory_rules, "d", is_read_only),
    TEXT_OPTION("memory", memory_rules, "i", "memory is planned behind the lowered graph"),
    TEXT_OPTION("emit", emit, "d", is_read_only),
    TEXT_OPTION("dump-after", dump_after, "d", is_read_only),
    TEXT_OPTION("plugin", plugin, "d", is_read_only),
    TEXT_OPTION("report", report, "d", is_read_only),
    TEXT_OPTION("explain", explain, "d", is_read_only),
    TEXT_OPTION("sort", sort, "d", is_read_only),
    TEXT_OPTION("state", states, "d", is_read_only),
    FLAG("check-passes", check_passes, "d", is_read_only),
    FLAG("no-fuse", no_fuse, "d", is_read_only),
    FLAG("strip", strip, "d", is_read_only),
    FLAG("clang-seconds", clang_seconds, "dci", "neither clang nor lld is run"),
    FLAG("strip", strip, "ci", "there is no program that the graph could be left out of"),
};

static int is_set(const xpuc_options *wanted, const use *of) {
    const char *member = (const char *)wanted + of->member;
    return of->is_flag ? *(const int *)(const void *)member : *(const char *const *)(const void *)member != NULL;
}

/* [usage] for each option without an effect beside `other`, whose letter is `beside`. */
static void check_use(xpu_pipeline *p, char beside, const char *other) {
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (!strchr(uses[i].beside, beside) || !is_set(p->wanted, &uses[i])) continue;
        xpu_error(p->diags, XPU_EUSAGE, NULL, "usage", xpu_printf(p->arena, "option '--%s'", uses[i].name),
                  xpu_printf(p->arena, "the option has no effect beside %s", other), uses[i].why,
                  "leave one of them out");
    }
}

/* The parameters of a PaddlePaddle program have a file; those of an ONNX model are in it, or it names theirs. */
static void read_params(xpu_pipeline *p) {
    p->import.params = p->wanted->params;
    if (p->wanted->params && !xpu_paddle_is_model(p->path))
        xpu_error(p->diags, XPU_EUSAGE, NULL, "usage", "option '--params'", "the option has no effect with this model",
                  xpu_printf(p->arena, "'%s' is no PaddlePaddle program", xpu_escape(p->arena, p->path, 200)),
                  "leave it out");
}

xpu_status xpu_check_describe_options(xpu_pipeline *p) {
    static const char *const forms[] = {"text", "graph", "json", NULL};
    check_use(p, 'd', "--describe");
    check_choice(p, "--describe", p->wanted->describe, forms);
    read_params(p);
    read_values(p);
    read_bounds(p);
    return read_shapes(p);
}

xpu_status xpu_check_convert_options(xpu_pipeline *p) {
    read_params(p);
    read_values(p);
    read_bounds(p);
    read_shapes(p);
    return xpu_diags_status(p->diags);
}

/* Each has a job of its own. */
static xpu_status start_targets(xpu_pipeline *p, const xpu_target *const *targets) {
    xpu_offer *offers = XPU_NEW_ARRAY(p->arena, xpu_offer, p->offer_count);
    xpu_status first = XPU_OK;
    p->offers = offers;
    for (uint32_t i = 0; i < p->offer_count; i++) {
        int is_last = i + 1 == p->offer_count;
        offers[i] = (xpu_offer){targets[i], is_last ? &p->job : XPU_NEW(p->arena, xpu_target_job)};
        *offers[i].job = (xpu_target_job){.services = &xpu_target_services,
                                          .options = &p->options,
                                          .arena = p->arena,
                                          .diags = p->diags,
                                          .program_target = is_last ? NULL : p->target};
        xpu_status status = targets[i]->start(offers[i].job);
        if (first == XPU_OK) first = status;
    }
    p->import.memory_bytes = p->job.memory_bytes;
    return first;
}

xpu_status xpu_check_options(xpu_pipeline *p) {
    static const char *const emits[] = {"xpu", "c", "ir", NULL}, *const explains[] = {"text", "json", NULL};
    static const char *const sorts[] = {"cost", NULL};
    const xpuc_options *wanted = p->wanted;
    read_params(p);
    check_choice(p, "--emit", wanted->emit, emits);
    check_choice(p, "--explain", wanted->explain, explains);
    check_choice(p, "--sort", wanted->sort, sorts);
    if (wanted->sort && !wanted->explain)
        xpu_error(p->diags, XPU_EUSAGE, NULL, "usage", "option '--sort'", "the option has no effect without --explain",
                  "it says what --explain prints first", "add --explain");
    check_choice(p, "--dump-after", wanted->dump_after, xpu_pipeline_passes());
    read_shapes(p);
    read_values(p);
    read_bounds(p);
    if (wanted->emit && strcmp(wanted->emit, "c") == 0) check_use(p, 'c', "--emit=c");
    if (wanted->emit && strcmp(wanted->emit, "ir") == 0) check_use(p, 'i', "--emit=ir");
    const xpu_target *const *targets = xpu_find_targets(p->arena, wanted->target, wanted->plugin, p->diags);
    if (p->diags->errors) return xpu_diags_status(p->diags);
    for (p->target = *targets; targets[p->offer_count]; p->offer_count++) p->target = targets[p->offer_count];
    p->options = (xpu_compile_options){.target = p->target->name,
                                       .chip = or_default(wanted->chip, "standard"),
                                       .precision = or_default(wanted->precision, "auto"),
                                       .precision_rules = wanted->precision_rules,
                                       .memory_rules = wanted->memory_rules,
                                       .emit = or_default(wanted->emit, "xpu"),
                                       .source_name = xpu_path_name(p->path),
                                       .resources = xpu_find_resources(p->arena, wanted->resources),
                                       .strip = wanted->strip,
                                       .clang_seconds = wanted->clang_seconds,
                                       .is_part = wanted->is_part,
                                       .no_fuse = wanted->no_fuse,
                                       .zig = wanted->zig ? wanted->zig : xpu_environment("XPU_ZIG")};
    const char *device = xpu_path_join(p->arena, p->options.resources, "device"); /* clang and lld read what is there */
    xpu_keep_files(p->arena, device, "*");
    xpu_keep_files(p->arena, xpu_path_join(p->arena, device, "include"), "*");
    return start_targets(p, targets);
}
