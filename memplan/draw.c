/* A plan as a picture: SVG. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "memplan/file.h"

enum { WIDTH = 1200, PANEL = 320, MARGIN = 60, GAP = 50 };

static void add_escaped(xpu_text *text, xpu_arena *arena, const char *name) {
    for (const char *c = xpu_escape(arena, name, 200); *c; c++) {
        if (*c == '<')
            xpu_text_add(text, "&lt;");
        else if (*c == '>')
            xpu_text_add(text, "&gt;");
        else if (*c == '&')
            xpu_text_add(text, "&amp;");
        else if (*c == '"')
            xpu_text_add(text, "&quot;");
        else
            xpu_text_add_bytes(text, c, 1);
    }
}

/* A colour for each kind, lighter where the buffer is another one's alias. */
static const char *colour_of(const xpu_memplan_buffer *buffer, int is_alias) {
    static const char *const colours[XPU_MEMPLAN_KIND_COUNT][2] = {[XPU_MEMPLAN_WEIGHT] = {"#4e79a7", "#a0bbd8"},
                                                                   [XPU_MEMPLAN_ACTIVATION] = {"#f28e2b", "#fbd0a4"},
                                                                   [XPU_MEMPLAN_SCRATCH] = {"#59a14f", "#b6d9b0"}};
    return colours[buffer->kind][is_alias];
}

static uint32_t last_step(const xpu_memplan_problem *problem) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        if (problem->buffers[i].last > last) last = problem->buffers[i].last;
    }
    return last;
}

typedef struct {
    double left, bottom, per_step, per_byte;
} axes;

static void add_buffer(xpu_text *text, xpu_arena *arena, const axes *a, const xpu_memplan_buffer *buffer,
                       const xpu_memplan_place *place) {
    double width = (double)(buffer->last - buffer->first + 1) * a->per_step,
           height = (double)buffer->bytes * a->per_byte;
    double x = a->left + (double)buffer->first * a->per_step;
    double y = a->bottom - (double)place->offset * a->per_byte - height;
    xpu_text_add(text,
                 "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" stroke=\"#333\" "
                 "stroke-width=\"0.3\"><title>",
                 x, y, width, height, colour_of(buffer, place->alias != XPU_MEMPLAN_NONE));
    add_escaped(text, arena, buffer->name);
    xpu_text_add(text, ": %" PRIu64 " bytes at %" PRIu64 ", steps %" PRIu32 " to %" PRIu32 "</title></rect>\n",
                 buffer->bytes, place->offset, buffer->first, buffer->last);
}

static void add_panel(xpu_text *text, xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                      uint32_t level) {
    const xpu_memplan_usage *usage = &plan->usage[level];
    uint64_t top = problem->levels[level].reserved + usage->peak;
    double bottom = MARGIN + (double)(level + 1) * PANEL + (double)level * GAP, steps = (double)last_step(problem) + 1;
    axes a = {MARGIN, bottom, (WIDTH - 2 * MARGIN) / steps, PANEL / (double)(top ? top : 1)};
    xpu_text_add(text, "<text x=\"%d\" y=\"%.0f\" font-size=\"14\">", MARGIN, bottom - PANEL - 8);
    add_escaped(text, arena, problem->levels[level].name);
    xpu_text_add(text, ": %" PRIu64 " of %" PRIu64 " bytes, lower bound %" PRIu64 " (step %" PRIu32 ")</text>\n",
                 usage->peak, usage->capacity, usage->lower_bound, usage->worst_step);
    xpu_text_add(text, "<rect x=\"%d\" y=\"%.0f\" width=\"%d\" height=\"%d\" fill=\"#f7f7f7\" stroke=\"#999\"/>\n",
                 MARGIN, bottom - PANEL, WIDTH - 2 * MARGIN, PANEL);
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        if (plan->places[i].level == level) add_buffer(text, arena, &a, &problem->buffers[i], &plan->places[i]);
    }
    xpu_text_add(text, "<text x=\"%d\" y=\"%.0f\" font-size=\"11\">step 0</text>", MARGIN, bottom + 14);
    xpu_text_add(text, "<text x=\"%d\" y=\"%.0f\" font-size=\"11\" text-anchor=\"end\">%" PRIu32 "</text>\n",
                 WIDTH - MARGIN, bottom + 14, last_step(problem));
}

xpu_status xpu_memplan_draw(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                            const xpu_memplan *plan, xpu_diags *diags) {
    xpu_text text;
    xpu_text_init(&text, arena);
    int height = 2 * MARGIN + (int)problem->level_count * (PANEL + GAP);
    xpu_text_add(&text,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\">\n",
                 WIDTH, height);
    for (uint32_t level = 0; level < problem->level_count; level++) add_panel(&text, arena, problem, plan, level);
    xpu_text_add(&text, "</svg>\n");
    return xpu_file_write(arena, path, text.text, text.length, diags);
}
