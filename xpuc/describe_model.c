/* --describe of a model: what its file says, and, where it can be imported, what becomes of it. */
#include <inttypes.h>
#include <string.h>

#include "base/name_table.h"
#include "frontend/onnx/onnx.h"
#include "frontend/paddle/paddle.h"
#include "xpuc/describe.h"

/* Operators of one type. */
typedef struct {
    const char *type;
    uint32_t count;
    const char *why_not; /* they are not imported; or NULL */
} operator_kind;

typedef struct {
    xpu_pipeline *p;
    xpu_model_facts facts;
    XPU_ARRAY(operator_kind) kinds; /* in the order of their first operators */
    int imported;                   /* p->graph is the model */
    xpu_placement placement;
    int is_placed;
} description;

static const char *shown(const description *d, const char *text, size_t most) {
    return xpu_escape(d->p->arena, text, most);
}

static void count_kinds(description *d) {
    xpu_name_table names = {.arena = d->p->arena};
    for (uint32_t i = 0; i < d->facts.operators.count; i++) {
        const xpu_model_operator *op = &d->facts.operators.items[i];
        const uint32_t *found = xpu_name_find(&names, op->type);
        if (found) {
            d->kinds.items[*found].count++;
            continue;
        }
        xpu_name_add(&names, op->type, d->kinds.count);
        XPU_PUSH(d->p->arena, &d->kinds, ((operator_kind){op->type, 1, op->why_not}));
    }
}

/* ---- text ---- */

static void add_declared(const description *d, xpu_text *text, const char *title, const xpu_model_value *values,
                         uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        xpu_text_add(text, "%-8s %s  %s\n", title, shown(d, values[i].name, 120), shown(d, values[i].type, 200));
    }
}

static void add_values(const description *d, xpu_text *text) {
    const xpu_graph *graph = d->p->graph;
    if (!d->imported) {
        add_declared(d, text, "input", d->facts.inputs.items, d->facts.inputs.count);
        add_declared(d, text, "output", d->facts.outputs.items, d->facts.outputs.count);
        return;
    }
    xpu_describe_values(d->p, text, "input", graph->inputs.items, graph->inputs.count);
    xpu_describe_symbols(d->p, text);
    xpu_describe_guards(d->p, text);
    xpu_describe_values(d->p, text, "output", graph->outputs.items, graph->outputs.count);
}

static void add_operators(const description *d, xpu_text *text) {
    uint32_t missing = 0;
    xpu_text_add(text, "%u operators", d->facts.operators.count);
    for (uint32_t i = 0; i < d->kinds.count; i++) {
        const operator_kind *kind = &d->kinds.items[i];
        xpu_text_add(text, "%s %s %u", i ? "," : ":", shown(d, kind->type, 60), kind->count);
        missing += kind->why_not != NULL;
    }
    xpu_text_add(text, "\n");
    if (missing) xpu_text_add(text, "%u kinds of operators are not imported:\n", missing);
    for (uint32_t i = 0; i < d->kinds.count; i++) {
        const operator_kind *kind = &d->kinds.items[i];
        if (kind->why_not) xpu_text_add(text, "  %-24s %s\n", shown(d, kind->type, 60), kind->why_not);
    }
}

static void add_placement(const description *d, xpu_text *text) {
    if (!d->is_placed) return;
    xpu_text_add(text, "target %s takes %s\n", d->placement.target,
                 d->placement.host.count ? "all operators but" : "all operators");
    for (uint32_t i = 0; i < d->placement.host.count; i++) {
        const xpu_host_operators *entry = &d->placement.host.items[i];
        xpu_text_add(text, "  %-24s %u on the host: %s\n", shown(d, entry->op, 60), entry->count,
                     xpu_escape_message(d->p->arena, entry->why, 400));
    }
}

static void add_constants(const description *d, xpu_text *text) {
    const char *file = d->facts.parameter_file;
    xpu_text_add(text, "%" PRIu64 " constants: %" PRIu64 " bytes", d->facts.parameters, d->facts.parameter_bytes);
    xpu_text_add(text, "%s%s\n", file[0] ? "; " : "", file[0] ? xpu_escape_message(d->p->arena, file, 400) : "");
}

static char *as_text(const description *d) {
    xpu_text text;
    xpu_text_init(&text, d->p->arena);
    xpu_text_add(&text, "%s: %s", xpu_escape_message(d->p->arena, xpu_path_name(d->p->path), 255), d->facts.format);
    if (d->facts.name[0]) xpu_text_add(&text, " '%s'", shown(d, d->facts.name, 120));
    xpu_text_add(&text, "\nformat   %s\n", shown(d, d->facts.version, 300));
    add_values(d, &text);
    add_operators(d, &text);
    add_placement(d, &text);
    add_constants(d, &text);
    return text.text;
}

/* ---- operator by operator ---- */

static void add_names(const description *d, xpu_text *text, const char *const *names, uint32_t count) {
    enum { MOST = 64 };
    for (uint32_t i = 0; i < count && i < MOST; i++) {
        xpu_text_add(text, "%s%s", i ? ", " : "", names[i][0] ? shown(d, names[i], 100) : "-");
    }
    if (count > MOST) xpu_text_add(text, ", and %u more", count - MOST);
}

static char *as_graph(const description *d) {
    xpu_text text;
    xpu_text_init(&text, d->p->arena);
    add_declared(d, &text, "input", d->facts.inputs.items, d->facts.inputs.count);
    const char *block = "";
    for (uint32_t i = 0; i < d->facts.operators.count; i++) {
        const xpu_model_operator *op = &d->facts.operators.items[i];
        if (strcmp(op->block, block) != 0)
            xpu_text_add(&text, "%s:\n", op->block[0] ? xpu_escape_message(d->p->arena, op->block, 300) : "the model");
        block = op->block;
        xpu_text_add(&text, "%5u  %-24s ", op->index, shown(d, op->type, 60));
        add_names(d, &text, op->outputs, op->output_count);
        xpu_text_add(&text, " <- ");
        add_names(d, &text, op->inputs, op->input_count);
        if (op->why_not) xpu_text_add(&text, "  (not imported: %s)", op->why_not);
        xpu_text_add(&text, "\n");
    }
    add_declared(d, &text, "output", d->facts.outputs.items, d->facts.outputs.count);
    return text.text;
}

/* ---- JSON ---- */

static void set_text(const description *d, json_t *object, const char *key, const char *text) {
    xpu_json_set(d->p->arena, object, key, json_string(shown(d, text, 400)));
}

static void add_json_values(const description *d, json_t *top, const char *key, const xpu_model_value *values,
                            uint32_t count) {
    json_t *list = xpu_json_set(d->p->arena, top, key, json_array());
    for (uint32_t i = 0; i < count; i++) {
        json_t *entry = xpu_json_append(d->p->arena, list, json_object());
        set_text(d, entry, "name", values[i].name);
        set_text(d, entry, "type", values[i].type);
    }
}

static void add_json_names(const description *d, json_t *entry, const char *key, const char *const *names,
                           uint32_t count) {
    json_t *list = xpu_json_set(d->p->arena, entry, key, json_array());
    for (uint32_t i = 0; i < count; i++) xpu_json_append(d->p->arena, list, json_string(shown(d, names[i], 400)));
}

static void add_json_operators(const description *d, json_t *top) {
    xpu_arena *arena = d->p->arena;
    json_t *kinds = xpu_json_set(arena, top, "operators", json_array());
    for (uint32_t i = 0; i < d->kinds.count; i++) {
        json_t *entry = xpu_json_append(arena, kinds, json_object());
        set_text(d, entry, "op", d->kinds.items[i].type);
        xpu_json_set(arena, entry, "count", json_integer(d->kinds.items[i].count));
        if (d->kinds.items[i].why_not) set_text(d, entry, "not_imported", d->kinds.items[i].why_not);
    }
    json_t *nodes = xpu_json_set(arena, top, "nodes", json_array());
    for (uint32_t i = 0; i < d->facts.operators.count; i++) {
        const xpu_model_operator *op = &d->facts.operators.items[i];
        json_t *entry = xpu_json_append(arena, nodes, json_object());
        if (op->block[0]) set_text(d, entry, "block", op->block);
        xpu_json_set(arena, entry, "index", json_integer(op->index));
        set_text(d, entry, "op", op->type);
        set_text(d, entry, "name", op->name);
        add_json_names(d, entry, "inputs", op->inputs, op->input_count);
        add_json_names(d, entry, "outputs", op->outputs, op->output_count);
    }
}

static void add_json_placement(const description *d, json_t *top) {
    xpu_arena *arena = d->p->arena;
    if (!d->is_placed) return;
    set_text(d, top, "target", d->placement.target);
    json_t *list = xpu_json_set(arena, top, "on_host", json_array());
    for (uint32_t i = 0; i < d->placement.host.count; i++) {
        json_t *entry = xpu_json_append(arena, list, json_object());
        set_text(d, entry, "op", d->placement.host.items[i].op);
        xpu_json_set(arena, entry, "count", json_integer(d->placement.host.items[i].count));
        set_text(d, entry, "why", d->placement.host.items[i].why);
    }
}

static char *as_json(const description *d) {
    json_t *top = xpu_json_own(d->p->arena, json_object());
    set_text(d, top, "file", xpu_path_name(d->p->path));
    set_text(d, top, "kind", d->facts.format);
    set_text(d, top, "name", d->facts.name);
    set_text(d, top, "format", d->facts.version);
    add_json_values(d, top, "inputs", d->facts.inputs.items, d->facts.inputs.count);
    add_json_values(d, top, "outputs", d->facts.outputs.items, d->facts.outputs.count);
    xpu_json_set(d->p->arena, top, "constants", json_integer((json_int_t)d->facts.parameters));
    xpu_json_set(d->p->arena, top, "constant_bytes", json_integer((json_int_t)d->facts.parameter_bytes));
    add_json_placement(d, top);
    add_json_operators(d, top);
    char *text = json_dumps(top, JSON_INDENT(2));
    if (!text) xpu_out_of_memory(xpu_arena_mem(d->p->arena));
    char *copy = xpu_printf(d->p->arena, "%s\n", text);
    free(text);
    return copy;
}

/* ---- entry ---- */

static int misses_operators(const description *d) {
    for (uint32_t i = 0; i < d->kinds.count; i++) {
        if (d->kinds.items[i].why_not) return 1;
    }
    return 0;
}

char *xpu_describe_model(xpu_pipeline *p) {
    description d = {.p = p};
    const char *form = p->wanted->describe ? p->wanted->describe : "text";
    int is_paddle = xpu_paddle_is_model(p->path);
    if (!is_paddle && xpu_check_format(p) != XPU_OK) return NULL;
    int read = is_paddle ? xpu_paddle_facts(p->arena, p->path, &p->import, &d.facts, p->diags)
                         : xpu_onnx_facts(p->arena, p->path, &p->import, &d.facts, p->diags);
    if (!read) return NULL;
    count_kinds(&d);
    if (!misses_operators(&d) && !d.facts.has_no_parameters) {
        if (xpu_import_model(p) != XPU_OK) return NULL;
        d.imported = 1;
        d.is_placed = xpu_describe_placement(p, &d.placement);
    }
    if (strcmp(form, "graph") == 0) return as_graph(&d);
    return strcmp(form, "json") == 0 ? as_json(&d) : as_text(&d);
}
