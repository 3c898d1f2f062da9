/* Layers by name: which one a name or a pattern means, and what to say where there is none. */
#include <fnmatch.h>
#include <setjmp.h>
#include <string.h>

#include "base/option.h"
#include "xpu_runtime/host/host.h"

/* As a name, and as messages print it where that differs. */
static int is_name(const char *name, const char *wanted, xpu_arena *arena) {
    if (strcmp(name, wanted) == 0) return 1;
    return strpbrk(wanted, "\\.") && strcmp(xpu_escape(arena, name, 200), wanted) == 0;
}

int64_t xpu_find_layer(const xpu_program *p, const char *pattern, uint32_t from, int makes_tensor, xpu_arena *arena) {
    for (uint32_t i = 0; i < p->layers.count; i++) {
        const xpu_program_layer *layer = &p->layers.items[i];
        if (!is_name(layer->name, pattern, arena)) continue;
        return i >= from && (layer->output_count || !makes_tensor) ? (int64_t)i : -1;
    }
    for (uint32_t i = from; i < p->layers.count; i++) {
        const xpu_program_layer *layer = &p->layers.items[i];
        if ((layer->output_count || !makes_tensor) && fnmatch(pattern, layer->name, 0) == 0) return (int64_t)i;
    }
    return -1;
}

/* ---- there is none ---- */

/* "tensor 'conv1' was fused into layer 'conv1/relu'", or NULL. */
static const char *fate_of(const xpu_program *p, const char *name, const char **layer, xpu_arena *arena) {
    for (uint32_t i = 0; i < p->tensors.count; i++) {
        const xpu_program_tensor *t = &p->tensors.items[i];
        if (!is_name(t->name, name, arena)) continue;
        const char *text = xpu_printf(arena, "tensor '%s'", xpu_escape(arena, t->name, 80));
        if (t->layer < 0) return xpu_printf(arena, "%s was folded: it is a constant", text);
        *layer = xpu_escape(arena, p->layers.items[t->layer].name, 80);
        return xpu_printf(arena, "%s %s layer '%s'", text,
                          t->fate == XPU_TENSOR_FUSED ? "was fused into" : "is made by", *layer);
    }
    return NULL;
}

/* The same of a node of the source model. */
static const char *node_of(const xpu_program *p, const char *name, const char **layer, xpu_arena *arena) {
    for (uint32_t i = 0; i < p->layers.count; i++) {
        if (!p->layers.items[i].node.id) continue;
        const xpu_node_info *node = xpu_node_at(p->graph, p->layers.items[i].node);
        for (uint32_t k = 0; k < node->origins.count; k++) {
            const char *origin = p->graph->origins.items[node->origins.items[k]].name;
            if (!origin || !is_name(origin, name, arena)) continue;
            *layer = xpu_escape(arena, p->layers.items[i].name, 80);
            return xpu_printf(arena, "node '%s' is part of layer '%s'", xpu_escape(arena, name, 80), *layer);
        }
    }
    return NULL;
}

static const char *nearest(const xpu_program *p, const char *name, int makes_tensor, xpu_arena *arena) {
    const char **names = XPU_NEW_ARRAY(arena, const char *, p->layers.count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->layers.count; i++) {
        if (p->layers.items[i].output_count || !makes_tensor) names[count++] = p->layers.items[i].name;
    }
    return xpu_nearest(name, names);
}

static const char *names_of(const xpu_program *p, int makes_tensor, xpu_arena *arena) {
    enum { LISTED = 12 };
    xpu_text text;
    uint32_t count = 0;
    xpu_text_init(&text, arena);
    for (uint32_t i = 0; i < p->layers.count; i++) {
        if (!p->layers.items[i].output_count && makes_tensor) continue;
        if (count++ < LISTED)
            xpu_text_add(&text, "%s%s", count > 1 ? ", " : "its layers are ",
                         xpu_escape(arena, p->layers.items[i].name, 80));
    }
    if (count > LISTED) xpu_text_add(&text, " and %u more", count - LISTED);
    return count ? text.text : "it has none";
}

xpu_status xpu_layer_unknown(const xpurt_program *program, const char *pattern, int makes_tensor, xpu_arena *arena,
                             xpu_diags *diags) {
    const xpu_program *p = &program->image->program;
    int glob = strpbrk(pattern, "*?[") != NULL, moves = !glob && xpu_find_layer(p, pattern, 0, 0, arena) >= 0;
    const char *shown = xpu_escape_message(arena, pattern, 80), *hint = "xpuc --describe FILE.xpu lists them";
    const char *what = xpu_printf(arena, glob ? "no layer matches '%s'" : "the program has no layer '%s'", shown);
    const char *near = nearest(p, pattern, makes_tensor, arena), *layer = NULL;
    const char *why = fate_of(p, pattern, &layer, arena);
    if (moves) {
        what = xpu_printf(arena, "layer '%s' makes no tensor", shown);
        why = "it only moves weights: there is nothing to compare or dump";
    }
    if (!why) why = node_of(p, pattern, &layer, arena);
    if (layer) hint = xpu_printf(arena, "name the layer: '%s'", layer);
    if (!why) {
        why = names_of(p, makes_tensor, arena);
        if (near) hint = xpu_printf(arena, "did you mean '%s'?", xpu_escape(arena, near, 80));
    }
    return xpu_error(diags, XPU_EUSAGE, program->image->name, "layer-unknown", NULL, what, why, hint);
}

/* ---- the public functions ---- */

uint32_t xpurt_layer_count(const xpurt_program *program) {
    return program ? program->image->program.layers.count : 0;
}

const char *xpurt_layer_name(const xpurt_program *program, uint32_t index) {
    return index < xpurt_layer_count(program) ? program->image->program.layers.items[index].name : NULL;
}

static xpu_status find(const xpurt_program *program, const char *pattern, uint32_t from, int makes_tensor,
                       volatile int64_t *found, xpu_arena *arena, xpu_diags *diags) {
    if (!program || !pattern)
        return xpu_bad_argument(diags, "xpurt_find_layer", "the program or the name is NULL", "xpurt.h");
    *found = xpu_find_layer(&program->image->program, pattern, from, makes_tensor, arena);
    return *found < 0 ? xpu_layer_unknown(program, pattern, makes_tensor, arena, diags) : XPU_OK;
}

int64_t xpurt_find_layer(const xpurt_program *program, const char *pattern, uint32_t from, int makes_tensor,
                         xpurt_error *error) {
    xpu_mem mem;
    xpu_diags diags;
    volatile int64_t found = -1; /* volatile: it is needed after a longjmp */
    xpu_status status;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory))
        status = xpu_error_oom_of(&diags, &mem);
    else
        status = find(program, pattern, from, makes_tensor, &found, xpu_arena_new(&mem, "layers"), &diags);
    xpu_mem_release(&mem);
    return xpu_report(error, &diags, status) == 0 ? found : -1;
}
