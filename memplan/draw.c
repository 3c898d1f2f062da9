/* A plan as a picture: SVG. Time to the right, addresses upwards, a panel for each level that holds bytes. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "memplan/file.h"
#include "memplan/moves.h"

enum { LEFT = 90, RIGHT = 30, TOP = 40, HEAD = 34, FOOT = 26, NAMES = 110, PANEL = 420, LOW_PANEL = 240 };
enum { LEAST_WIDTH = 1100, MOST_WIDTH = 4000, STEP_WIDTH = 14, LETTER = 6, LINE = 11 };

#define HATCHES                                                                                                        \
    "<pattern id=\"arrives\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "                                \
    "patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#333\" "                       \
    "stroke-width=\"2\"/></pattern>\n"

/* A panel's scales. */
typedef struct {
    double left, right, bottom, height, per_step, per_byte;
} axes;

typedef struct {
    xpu_arena *arena;
    xpu_text text;
    const xpu_memplan_problem *problem;
    const xpu_memplan *plan;
    const xpu_memplan_moves *moves; /* whose stays are shown, or NULL */
    uint32_t steps;
    double width;
} picture;

/* Text that is escaped for people already. */
static void add_text(picture *p, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        const char *entity = text[i] == '<' ? "&lt;" : text[i] == '>' ? "&gt;" : text[i] == '&' ? "&amp;" : NULL;
        if (text[i] == '"') entity = "&quot;";
        if (entity)
            xpu_text_add(&p->text, "%s", entity);
        else
            xpu_text_add_bytes(&p->text, text + i, 1);
    }
}

static void add_whole(picture *p, const char *text) {
    add_text(p, text, strlen(text));
}

static void add_name(picture *p, const char *name) {
    add_whole(p, xpu_escape(p->arena, name ? name : "", 200));
}

/* At most `room` bytes of a name; what is longer ends, or with `tail` begins, with dots. */
static void add_short(picture *p, const char *name, size_t room, int tail) {
    const char *text = xpu_escape(p->arena, name ? name : "", 200);
    size_t length = strlen(text), from = 0, to = length;
    if (length > room) {
        if (tail)
            from = length - room + 1;
        else
            to = room - 1;
    }
    while (from > 0 && from < length && (text[from] & 0xc0) == 0x80) from++;
    while (to < length && (text[to] & 0xc0) == 0x80) to--;
    if (from > 0) xpu_text_add(&p->text, "…");
    add_text(p, text + from, to - from);
    if (to < length) xpu_text_add(&p->text, "…");
}

/* A colour for each kind, lighter where the buffer uses another one's bytes. */
static const char *colour_of(const xpu_memplan_buffer *buffer, int is_alias) {
    static const char *const colours[XPU_MEMPLAN_KIND_COUNT][2] = {[XPU_MEMPLAN_WEIGHT] = {"#8fb3d9", "#d2e2f1"},
                                                                   [XPU_MEMPLAN_ACTIVATION] = {"#f6b26b", "#fde5c8"},
                                                                   [XPU_MEMPLAN_SCRATCH] = {"#93c47d", "#d9ead3"}};
    return colours[buffer->kind][is_alias];
}

static uint32_t last_step(const xpu_memplan_problem *problem) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        if (problem->buffers[i].last > last) last = problem->buffers[i].last;
    }
    return last;
}

/* "4.5 MiB", "96 KiB", "640" */
static const char *bytes_text(picture *p, uint64_t bytes) {
    static const char *const units[] = {"", " KiB", " MiB", " GiB", " TiB"};
    int unit = 0;
    double value = (double)bytes;
    while (unit < 4 && value >= 1024) value /= 1024, unit++;
    return xpu_printf(p->arena, "%.10g%s", value, units[unit]);
}

static void add_line(picture *p, double x1, double y1, double x2, double y2, const char *style) {
    xpu_text_add(&p->text, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style);
}

/* A name inside its rectangle, as much as fits; upright where that is more. */
static void add_label(picture *p, double x, double y, double width, double height, const char *name) {
    enum { LEAST = 4 };
    int upright = width < LEAST * LETTER + 4 || (height > width && width < (double)strlen(name) * LETTER + 4);
    double along = upright ? height : width, across = upright ? width : height;
    size_t room = along > 4 ? (size_t)((along - 4) / LETTER) : 0;
    if (across < LINE || room < LEAST) return;
    if (upright)
        xpu_text_add(&p->text, "<text class=\"b\" transform=\"translate(%.1f %.1f) rotate(-90)\">", x + width / 2 + 3,
                     y + height - 2);
    else
        xpu_text_add(&p->text, "<text class=\"b\" x=\"%.1f\" y=\"%.1f\">", x + 2, y + height / 2 + 3);
    add_short(p, name, room, 0);
    xpu_text_add(&p->text, "</text>\n");
}

static double part_width(const axes *a, xpu_memplan_steps part) {
    return ((double)part.last - (double)part.first + 1) * a->per_step;
}

/* Hatches the steps in which a stay arrives. */
static void add_arrival(picture *p, const axes *a, uint32_t stay, double y, double height) {
    for (uint32_t i = 0; i < p->moves->transfer_count; i++) {
        const xpu_memplan_transfer *t = &p->moves->transfers[i];
        if (t->target != stay) continue;
        const xpu_memplan_steps steps = {t->begin, t->end};
        xpu_text_add(&p->text, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"url(#arrives)\"/>",
                     a->left + (double)t->begin * a->per_step, y, part_width(a, steps), height);
        return;
    }
}

static void add_buffer(picture *p, const axes *a, uint32_t index) {
    const xpu_memplan_buffer *buffer = &p->problem->buffers[index];
    const xpu_memplan_place *place = &p->plan->places[index];
    const xpu_memplan_life life = xpu_memplan_life_of(buffer);
    double height = (double)buffer->bytes * a->per_byte;
    double y = a->bottom - (double)place->offset * a->per_byte - height;
    const char *name = buffer->name && *buffer->name ? buffer->name : xpu_printf(p->arena, "%" PRIu32, index);
    xpu_text_add(&p->text, "<g>");
    for (uint32_t i = 0; i <= life.gap_count; i++) { /* one name and one life, a rectangle between its gaps */
        const xpu_memplan_steps part = xpu_memplan_part(&life, i);
        xpu_text_add(&p->text, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>",
                     a->left + (double)part.first * a->per_step, y, part_width(a, part), height,
                     colour_of(buffer, place->alias_of != XPU_MEMPLAN_NONE));
    }
    const char *arrival = p->moves ? xpu_memplan_arrival_text(p->arena, p->moves, index) : NULL;
    if (arrival) add_arrival(p, a, index, y, height);
    xpu_text_add(&p->text, "<title>");
    add_name(p, name);
    xpu_text_add(&p->text, ": %" PRIu64 " bytes at %" PRIu64 ", ", buffer->bytes, place->offset);
    add_whole(p, xpu_memplan_life_text(p->arena, p->problem, life));
    xpu_text_add(&p->text, ", %s", xpu_memplan_kind_name(buffer->kind));
    if (place->alias_of != XPU_MEMPLAN_NONE) {
        xpu_text_add(&p->text, ", in the bytes of ");
        add_name(p, p->problem->buffers[place->alias_of].name);
    }
    if (arrival) {
        xpu_text_add(&p->text, ", ");
        add_whole(p, arrival);
    }
    xpu_text_add(&p->text, "</title>\n");
    for (uint32_t i = 0; i <= life.gap_count; i++) {
        const xpu_memplan_steps part = xpu_memplan_part(&life, i);
        add_label(p, a->left + (double)part.first * a->per_step, y, part_width(a, part), height, name);
    }
    xpu_text_add(&p->text, "</g>\n");
}

/* A distance of marks so that at most `most` of them stand on `range`: 1, 2, 5, 10, ... or powers of 2 for bytes. */
static uint64_t mark_distance(uint64_t range, uint64_t most, int binary) {
    static const uint64_t factors[] = {2, 5, 10};
    uint64_t distance = 1;
    for (uint64_t unit = 1, i = 0; range / distance > most; i++) {
        if (binary) {
            distance *= 2;
            continue;
        }
        distance = unit * factors[i % 3];
        if (i % 3 == 2) unit *= 10;
    }
    return distance;
}

static void add_addresses(picture *p, const axes *a, uint64_t top) {
    uint64_t distance = mark_distance(top, 10, 1);
    for (uint64_t at = 0; at <= top; at += distance) {
        double y = a->bottom - (double)at * a->per_byte;
        add_line(p, a->left - 4, y, a->right, y, "stroke=\"#ddd\"");
        xpu_text_add(&p->text, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", a->left - 8, y + 4,
                     bytes_text(p, at));
    }
}

/* Numbers of steps below the panel. */
static void add_times(picture *p, const axes *a) {
    uint64_t distance = mark_distance(p->steps, (uint64_t)((a->right - a->left) / 50), 0);
    for (uint64_t step = 0; step < p->steps; step += distance) {
        double x = a->left + ((double)step + 0.5) * a->per_step;
        add_line(p, x, a->bottom, x, a->bottom + 4, "stroke=\"#666\"");
        xpu_text_add(&p->text, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%" PRIu64 "</text>\n", x,
                     a->bottom + 16, step);
    }
}

/* A dashed line, named at its right end above it or at its left end below it. */
static void add_bound(picture *p, const axes *a, uint64_t at, const char *colour, const char *name, int above) {
    double y = a->bottom - (double)at * a->per_byte;
    const char *style = xpu_printf(p->arena, "stroke=\"%s\" stroke-width=\"1.5\" stroke-dasharray=\"6 3\"", colour);
    add_line(p, a->left, y, a->right, y, style);
    xpu_text_add(&p->text, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n",
                 above ? a->right - 2 : a->left + 2, above ? y - 3 : y + 11, above ? "end" : "start", colour, name);
}

static uint32_t buffers_with_bytes(const picture *p, uint32_t level) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->problem->buffer_count; i++)
        count += p->plan->places[i].level == level && p->problem->buffers[i].bytes > 0;
    return count;
}

static double panel_height(const picture *p, uint32_t level) {
    uint32_t count = buffers_with_bytes(p, level);
    return count == 0 ? 0 : count < 8 ? LOW_PANEL : PANEL;
}

/* Returns where the next panel begins. */
static double add_panel(picture *p, uint32_t level, double y) {
    const xpu_memplan_usage *usage = &p->plan->usage[level];
    uint64_t reserved = p->problem->levels[level].reserved, top = reserved + usage->peak, size = reserved;
    double height = panel_height(p, level);
    axes a = {LEFT, p->width - RIGHT, y + HEAD + height, height, 0, 0};
    a.per_step = (a.right - a.left) / (double)p->steps;
    size += usage->capacity;
    int shows_end = size <= top + top / 4;
    uint64_t shown = (shows_end ? size : top) + top / 20;
    a.per_byte = height / (double)(shown ? shown : 1);
    xpu_text_add(&p->text, "<text class=\"h\" x=\"%.0f\" y=\"%.0f\">", a.left, y + HEAD - 12);
    add_name(p, p->problem->levels[level].name);
    if (height <= 0) {
        xpu_text_add(&p->text, ": nothing lies here, of %s</text>\n", bytes_text(p, size));
        return y + HEAD;
    }
    xpu_text_add(&p->text, ": %" PRIu32 " buffers, peak %" PRIu64 " of %" PRIu64 " bytes, lower bound %" PRIu64 " (",
                 usage->buffers, usage->peak, usage->capacity, usage->proved_bound);
    add_whole(p, xpu_memplan_step(p->arena, p->problem, usage->worst_step));
    xpu_text_add(&p->text, "), gap %" PRIu64 ", holes %" PRIu32 ".%" PRIu32 " %%</text>\n",
                 usage->peak - usage->proved_bound, usage->fragmentation_permille / 10,
                 usage->fragmentation_permille % 10);
    xpu_text_add(&p->text, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#fafafa\"/>\n", a.left,
                 a.bottom - height, a.right - a.left, height);
    add_addresses(p, &a, shown);
    if (reserved)
        xpu_text_add(&p->text,
                     "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.2f\" fill=\"#ccc\">"
                     "<title>reserved: %" PRIu64 " bytes</title></rect>\n",
                     a.left, a.bottom - (double)reserved * a.per_byte, a.right - a.left, (double)reserved * a.per_byte,
                     reserved);
    for (int aliases = 0; aliases < 2; aliases++) { /* those that use the bytes of others lie on them */
        for (uint32_t i = 0; i < p->problem->buffer_count; i++) {
            const xpu_memplan_place *place = &p->plan->places[i];
            int is_alias = place->alias_of != XPU_MEMPLAN_NONE;
            if (place->level == level && p->problem->buffers[i].bytes && is_alias == aliases) add_buffer(p, &a, i);
        }
    }
    if (shows_end) add_bound(p, &a, size, "#333", "end of the level", 0);
    add_bound(p, &a, reserved + usage->proved_bound, "#c00", "lower bound", 1);
    add_times(p, &a);
    return a.bottom + FOOT;
}

/* The names of steps, upright below the last panel, as many as there is room for. */
static void add_names(picture *p, double y) {
    double per_step = (p->width - LEFT - RIGHT) / (double)p->steps;
    uint32_t every = per_step >= LINE ? 1 : (uint32_t)(LINE / per_step) + 1;
    for (uint32_t step = 0; step < p->steps && step < p->problem->step_name_count; step += every) {
        double x = LEFT + ((double)step + 0.5) * per_step + 3;
        xpu_text_add(&p->text, "<text class=\"b\" transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"end\">",
                     x, y);
        add_short(p, p->problem->step_names[step], NAMES / LETTER, 1);
        xpu_text_add(&p->text, "<title>");
        add_whole(p, xpu_memplan_step(p->arena, p->problem, step));
        xpu_text_add(&p->text, "</title></text>\n");
    }
}

static xpu_status draw(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem, const xpu_memplan *plan,
                       const xpu_memplan_moves *moves, xpu_diags *diags) {
    picture p = {.arena = arena, .problem = problem, .plan = plan, .moves = moves, .steps = last_step(problem) + 1};
    xpu_text_init(&p.text, arena);
    p.width = (double)p.steps * STEP_WIDTH + LEFT + RIGHT;
    if (p.width < LEAST_WIDTH) p.width = LEAST_WIDTH;
    if (p.width > MOST_WIDTH) p.width = MOST_WIDTH;
    double height = TOP + NAMES, y = TOP;
    for (uint32_t level = 0; level < problem->level_count; level++) {
        double panel = panel_height(&p, level);
        height += HEAD + panel + (panel > 0 ? FOOT : 0);
    }
    xpu_text_add(&p.text,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                 "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
                 "<style>.h{font-size:12px;font-weight:bold}.b{font-size:9px}"
                 "g rect{stroke:#444;stroke-width:.4}g:hover rect{stroke:#000;stroke-width:2}</style>\n"
                 "%s<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text class=\"h\" x=\"%d\" y=\"24\">",
                 p.width, height, p.width, height, moves ? HATCHES : "", LEFT);
    add_name(&p, problem->file ? xpu_path_name(problem->file) : "memory");
    if (problem->subject) xpu_text_add(&p.text, ", ");
    add_whole(&p, problem->subject ? problem->subject : "");
    xpu_text_add(&p.text, ": %" PRIu32 " buffers; %s</text>\n", problem->buffer_count,
                 problem->step_names ? "layers to the right, addresses upwards"
                                     : "steps to the right, addresses upwards");
    for (uint32_t level = 0; level < problem->level_count; level++) y = add_panel(&p, level, y);
    if (problem->step_names) add_names(&p, y + 4);
    xpu_text_add(&p.text, "</svg>\n");
    return xpu_file_write(arena, path, p.text.text, p.text.length, diags);
}

xpu_status xpu_memplan_draw(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                            const xpu_memplan *plan, xpu_diags *diags) {
    return draw(arena, path, problem, plan, NULL, diags);
}

xpu_status xpu_memplan_draw_moves(xpu_arena *arena, const char *path, const xpu_memplan_moves *moves,
                                  xpu_diags *diags) {
    return draw(arena, path, &moves->problem, &moves->plan, moves, diags);
}
