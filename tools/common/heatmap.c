/* The differences of two tensors as a picture. */
#include <math.h>
#include <string.h>

#include <png.h>

#include "base/file.h"
#include "tools/common/where.h"

enum {
    MOST_TILES = 1 << 16, /* with more of them each is a row of one tile */
    WANTED = 1024,        /* pixels along the longer side, where elements get more than one */
    MOST = 2048,          /* elements along a side, beyond which a pixel stands for several */
    LARGEST_CELL = 20,    /* pixels of an element */
    BETWEEN = 3,          /* pixels between tiles */
    LETTER = 2,           /* pixels of a dot of a letter */
    ADVANCE = 4 * LETTER,
    LINE = 8 * LETTER,
    BAR = 200,
    LEVELS = 30, /* the scale: pixels; powers of two at most */
};

typedef struct {
    uint8_t r, g, b;
} colour;

static const colour paper = {236, 236, 240}, ink = {40, 40, 48}, equal = {255, 255, 255}, within = {200, 232, 200},
                    not_finite = {30, 70, 230};

/* How elements become pixels. */
typedef struct {
    const xpu_where *where;
    int64_t tiles, columns, rows;  /* tiles in all, beside each other, below each other */
    int64_t width, height, count;  /* of a tile, in elements; of elements in a tile */
    int64_t block_x, block_y;      /* elements a cell */
    int cell_x, cell_y;            /* pixels a cell */
    int tile_x, tile_y, left, top; /* pixels of a tile; the margins */
    int low, high;                 /* exponents of the smallest and largest difference that have colours of their own */
    int64_t leading[XPU_MAX_RANK]; /* the axes before a tile's, without those of 1 */
    int leading_count, is_broken;  /* broken: one axis, in rows of `width` */
    int pixels_x, pixels_y;
    uint8_t *rgb;
} picture;

/* ---- drawing ---- */

static void fill(const picture *p, int x, int y, int width, int height, colour c) {
    for (int j = y < 0 ? 0 : y; j < y + height && j < p->pixels_y; j++) {
        for (int i = x < 0 ? 0 : x; i < x + width && i < p->pixels_x; i++) {
            uint8_t *to = p->rgb + 3 * ((size_t)j * (size_t)p->pixels_x + (size_t)i);
            to[0] = c.r;
            to[1] = c.g;
            to[2] = c.b;
        }
    }
}

/* Five rows of three dots, an octal digit each. */
static const char *glyph(char c) {
    static const char *const digits[] = {"75557", "26227", "71747", "71717", "55711",
                                         "74717", "74757", "71111", "75757", "75717"};
    static const char *const letters[] = {"25755", "65656", "34443", "65556", "74647", "74644", "34553",
                                          "55755", "72227", "11152", "55655", "44447", "57755", "65555",
                                          "25552", "65644", "25563", "65655", "34216", "72222", "55557",
                                          "55552", "55775", "55255", "55222", "71247"};
    static const char others[] = "-+.,^|=:";
    static const char *const other_glyphs[] = {"00700", "02720", "00002", "00024", "25000", "22222", "07070", "02020"};
    if (c >= '0' && c <= '9') return digits[c - '0'];
    if (c >= 'a' && c <= 'z') return letters[c - 'a'];
    const char *at = c ? strchr(others, c) : NULL;
    return at ? other_glyphs[at - others] : "00000";
}

static int text_width(const char *text) {
    return (int)strlen(text) * ADVANCE;
}

static void write_text(const picture *p, int x, int y, const char *text) {
    for (; *text; text++, x += ADVANCE) {
        const char *rows = glyph(*text);
        for (int row = 0; row < 5; row++) {
            for (int dot = 0; dot < 3; dot++) {
                if ((rows[row] - '0') & (4 >> dot)) fill(p, x + dot * LETTER, y + row * LETTER, LETTER, LETTER, ink);
            }
        }
    }
}

/* Yellow, orange, red, nearly black. */
static colour scale_colour(double part) {
    static const double stops[4][3] = {{255, 226, 110}, {246, 130, 30}, {196, 24, 36}, {52, 0, 30}};
    double at = part * 3;
    int i = at >= 2 ? 2 : at >= 1 ? 1 : 0;
    uint8_t rgb[3];
    for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)(stops[i][k] + (at - i) * (stops[i + 1][k] - stops[i][k]) + 0.5);
    return (colour){rgb[0], rgb[1], rgb[2]};
}

static colour difference_colour(const picture *p, double difference) {
    double level = difference > 0 ? log2(difference) : p->low;
    double part = p->high > p->low ? (level - p->low) / (p->high + 1 - p->low) : 1;
    return scale_colour(part < 0 ? 0 : part > 1 ? 1 : part);
}

/* ---- elements ---- */

/* The colour of a cell: that of its largest difference; what is not finite before all others. */
static colour cell_colour(const picture *p, int64_t tile, int64_t x, int64_t y) {
    double largest = -1;
    int differs = 0, other_bits = 0;
    for (int64_t j = y; j < y + p->block_y && j < p->height; j++) {
        for (int64_t i = x; i < x + p->block_x && i < p->width; i++) {
            int64_t at = j * p->width + i;
            double difference;
            if (at >= p->count) continue;
            int is_different = xpu_pair_differs(&p->where->pair, tile * p->count + at, &difference);
            if (is_different && !isfinite(difference)) return not_finite;
            other_bits |= difference != 0;
            differs |= is_different;
            if (is_different && difference > largest) largest = difference;
        }
    }
    return differs ? difference_colour(p, largest) : other_bits ? within : equal;
}

static void draw_tile(const picture *p, int64_t tile) {
    int left = p->left + (int)(tile % p->columns) * (p->tile_x + BETWEEN);
    int top = p->top + (int)(tile / p->columns) * (p->tile_y + BETWEEN);
    for (int64_t y = 0; y < p->height; y += p->block_y) {
        for (int64_t x = 0; x < p->width; x += p->block_x) {
            if (y * p->width + x >= p->count) continue;
            fill(p, left + (int)(x / p->block_x) * p->cell_x, top + (int)(y / p->block_y) * p->cell_y, p->cell_x,
                 p->cell_y, cell_colour(p, tile, x, y));
        }
    }
}

/* ---- layout ---- */

static int64_t at_least_1(int64_t n) {
    return n > 1 ? n : 1;
}

/* Tiles are what the last two axes of more than one element span. */
static void find_tiles(picture *p) {
    const xpu_tensor *t = p->where->pair.a;
    int64_t dims[XPU_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < t->rank; i++) {
        if (t->dims[i] != 1) dims[rank++] = t->dims[i];
    }
    p->tiles = p->width = p->height = 1;
    if (rank == 1) {
        p->count = dims[0];
        p->width = dims[0] <= 64 ? dims[0] : (int64_t)ceil(sqrt((double)dims[0]));
        p->height = (dims[0] + p->width - 1) / p->width;
        p->is_broken = p->height > 1;
        return;
    }
    if (rank >= 2) {
        p->width = dims[rank - 1];
        p->height = dims[rank - 2];
    }
    p->count = p->width * p->height;
    for (int i = 0; i < rank - 2; i++) {
        p->leading[p->leading_count++] = dims[i];
        p->tiles *= dims[i];
    }
    if (p->tiles <= MOST_TILES) return;
    p->height = p->tiles;
    p->width = p->count;
    p->count *= p->tiles;
    p->tiles = 1;
    p->leading_count = 0;
}

/* About as wide as high; a whole axis of tiles beside each other where that is not far from it. */
static void arrange(picture *p) {
    double square = sqrt((double)p->tiles * (double)p->height / (double)p->width);
    int64_t columns = at_least_1((int64_t)(square + 0.5)),
            last = p->leading_count ? p->leading[p->leading_count - 1] : 1;
    if (columns > p->tiles) columns = p->tiles;
    if (p->leading_count > 1 && last <= 3 * columns && last * 3 >= columns) columns = last;
    p->columns = columns;
    p->rows = (p->tiles + columns - 1) / columns;
    p->block_x = (columns * p->width + MOST - 1) / MOST;
    p->block_y = (p->rows * p->height + MOST - 1) / MOST;
    int64_t cells_x = (p->width + p->block_x - 1) / p->block_x, cells_y = (p->height + p->block_y - 1) / p->block_y;
    int64_t fit_x = at_least_1(WANTED / (columns * cells_x)), fit_y = at_least_1(WANTED / (p->rows * cells_y));
    int64_t both = fit_x < fit_y ? fit_x : fit_y;
    if (both > LARGEST_CELL) both = LARGEST_CELL;
    int64_t narrow = both > 8 ? both : 8; /* a long strip is not a hair */
    p->cell_x = (int)(fit_x < narrow ? fit_x : narrow);
    p->cell_y = (int)(fit_y < narrow ? fit_y : narrow);
    p->tile_x = (int)cells_x * p->cell_x;
    p->tile_y = (int)cells_y * p->cell_y;
}

/* "0,8": the tile's index along the axes before it. */
static const char *tile_label(xpu_arena *arena, const picture *p, int64_t tile) {
    int64_t index[XPU_MAX_RANK];
    for (int i = p->leading_count - 1; i >= 0; i--) {
        index[i] = tile % p->leading[i];
        tile /= p->leading[i];
    }
    xpu_text text;
    xpu_text_init(&text, arena);
    for (int i = 0; i < p->leading_count; i++) xpu_text_add(&text, "%s%lld", i ? "," : "", (long long)index[i]);
    return text.text;
}

/* Every how many rows or columns of cells there is room for a number of `room` pixels: 1, 2, 5, 10, 20... */
static int64_t tick_step(int cell, int64_t block, int room) {
    static const int64_t steps[] = {1, 2, 5};
    for (int64_t ten = 1;; ten *= 10) {
        for (int i = 0; i < 3; i++) {
            if (steps[i] * ten * cell >= room * block) return steps[i] * ten;
        }
    }
}

/* What the numbers above the tiles count: columns of tiles, or those of the elements of a single one. */
static int64_t across(const picture *p) {
    return p->tiles > 1 ? p->columns : p->width;
}

static int64_t across_step(const picture *p) {
    return p->tiles > 1 ? tick_step(p->tile_x + BETWEEN, 1, text_width("+1000"))
                        : tick_step(p->cell_x, p->block_x, text_width("100000"));
}

static int across_left(const picture *p, int64_t at) {
    return p->left + (p->tiles > 1 ? (int)at * (p->tile_x + BETWEEN) : (int)(at / p->block_x) * p->cell_x);
}

static const char *across_label(xpu_arena *arena, const picture *p, int64_t at) {
    return xpu_printf(arena, "%s%lld", p->tiles > 1 || p->is_broken ? "+" : "", (long long)at);
}

/* Where the last number above the tiles ends. */
static int across_end(xpu_arena *arena, const picture *p) {
    int64_t last = (across(p) - 1) / across_step(p) * across_step(p);
    return across_left(p, last) + text_width(across_label(arena, p, last));
}

static void write_ticks(xpu_arena *arena, const picture *p) {
    for (int64_t at = 0; at < across(p); at += across_step(p))
        write_text(p, across_left(p, at), p->top - LINE, across_label(arena, p, at));
    if (p->tiles > 1) {
        for (int64_t row = 0; row < p->rows; row++) {
            if (p->tile_y + BETWEEN < LINE && row % ((LINE + p->tile_y) / (p->tile_y + BETWEEN))) continue;
            const char *label = tile_label(arena, p, row * p->columns);
            write_text(p, p->left - text_width(label) - ADVANCE / 2, p->top + (int)row * (p->tile_y + BETWEEN), label);
        }
        return;
    }
    int64_t step = tick_step(p->cell_y, p->block_y, LINE);
    for (int64_t y = 0; y < p->height; y += step) {
        const char *label = xpu_printf(arena, "%lld", (long long)(p->is_broken ? y * p->width : y));
        write_text(p, p->left - text_width(label) - ADVANCE / 2, p->top + (int)(y / p->block_y) * p->cell_y, label);
    }
}

static int key(const picture *p, int x, int y, colour c, const char *text) {
    fill(p, x, y, 5 * LETTER, 5 * LETTER, c);
    write_text(p, x + 6 * LETTER, y, text);
    return x + 6 * LETTER + text_width(text) + 2 * ADVANCE;
}

/* Below the tiles: the scale with its ends, and what the other colours are. */
static void write_scale(xpu_arena *arena, const picture *p, int y) {
    const char *low = xpu_printf(arena, "2^%d", p->low), *high = xpu_printf(arena, "2^%d", p->high);
    int x = ADVANCE;
    if (p->where->comparison.not_finite < p->where->comparison.differing) {
        write_text(p, x, y, low);
        x += text_width(low);
        for (int i = 0; i < BAR; i++) fill(p, x + i, y, 1, 5 * LETTER, scale_colour((double)i / BAR));
        write_text(p, x + BAR + ADVANCE / 2, y, high);
    }
    x = key(p, ADVANCE, y + LINE, equal, "equal");
    if (!p->where->pair.exact) x = key(p, x, y + LINE, within, "within tolerance");
    key(p, x, y + LINE, not_finite, "nan or inf");
}

static void find_range(picture *p) {
    const xpu_where *w = p->where;
    p->high = w->comparison.max_difference > 0 ? ilogb(w->comparison.max_difference) : 0;
    p->low = w->bucket_count ? ilogb(w->buckets[0].from) : p->high;
    if (p->low < p->high - LEVELS) p->low = p->high - LEVELS;
}

static void draw(xpu_arena *arena, picture *p) {
    find_tiles(p);
    arrange(p);
    find_range(p);
    int label = 0, widest = text_width("2^-1000 2^-1000") + BAR, keys = 40 * ADVANCE;
    const char *labels[] = {tile_label(arena, p, p->tiles - 1), xpu_printf(arena, "%lld", (long long)p->count)};
    for (int i = 0; i < 2; i++) label = text_width(labels[i]) > label ? text_width(labels[i]) : label;
    p->left = label + 2 * ADVANCE;
    p->top = LINE + LINE / 2;
    int tiles_x = (int)p->columns * (p->tile_x + BETWEEN), tiles_y = (int)p->rows * (p->tile_y + BETWEEN);
    widest = keys > widest ? keys : widest;
    widest = p->left + tiles_x + ADVANCE > widest ? p->left + tiles_x + ADVANCE : widest;
    p->pixels_x = across_end(arena, p) > widest ? across_end(arena, p) : widest;
    p->pixels_y = p->top + tiles_y + 3 * LINE;
    p->rgb = xpu_alloc(arena, 3 * (size_t)p->pixels_x * (size_t)p->pixels_y);
    fill(p, 0, 0, p->pixels_x, p->pixels_y, paper);
    for (int64_t tile = 0; tile < p->tiles; tile++) draw_tile(p, tile);
    write_ticks(arena, p);
    write_scale(arena, p, p->top + tiles_y + LINE / 2);
}

/* ---- the file ---- */

static const char *legend_of(xpu_arena *arena, const picture *p) {
    xpu_text text;
    xpu_text_init(&text, arena);
    if (p->tiles > 1)
        xpu_text_add(&text, "%lld tiles in reading order, %lld a row, each ", (long long)p->tiles,
                     (long long)p->columns);
    xpu_text_add(&text, "%lld x %lld elements%s, ", (long long)p->height, (long long)p->width,
                 p->is_broken ? " of one axis" : "");
    if (p->block_x * p->block_y > 1)
        xpu_text_add(&text, "a point is the largest of %lld x %lld", (long long)p->block_y, (long long)p->block_x);
    else
        xpu_text_add(&text, "%d x %d pixels each", p->cell_y, p->cell_x);
    xpu_text_add(&text, "; white: equal");
    if (!p->where->pair.exact) xpu_text_add(&text, ", green: within the tolerance");
    if (p->where->comparison.not_finite < p->where->comparison.differing)
        xpu_text_add(&text, ", yellow to black: |difference| from 2^%d (%.3g) to 2^%d (%.3g) and more", p->low,
                     ldexp(1, p->low), p->high, ldexp(1, p->high));
    if (p->where->comparison.not_finite) xpu_text_add(&text, ", blue: NaN or infinity");
    return text.text;
}

xpu_status xpu_heatmap_write(xpu_arena *arena, const char *path, const xpu_where *where, const char **legend,
                             xpu_diags *diags) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "heatmap");
    picture p = {.where = where};
    draw(scratch, &p);
    *legend = legend_of(arena, &p);
    png_image png;
    memset(&png, 0, sizeof png);
    png.version = PNG_IMAGE_VERSION;
    png.width = (png_uint_32)p.pixels_x;
    png.height = (png_uint_32)p.pixels_y;
    png.format = PNG_FORMAT_RGB;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
    void *bytes = xpu_alloc(scratch, size);
    xpu_status status;
    if (png_image_write_to_memory(&png, bytes, &size, 0, p.rgb, 0, NULL))
        status = xpu_file_write(arena, path, bytes, size, diags);
    else
        status = xpu_error(diags, XPU_EIO, path, "io-write", NULL, "the picture cannot be made",
                           xpu_strdup(arena, png.message), NULL);
    xpu_arena_free(scratch);
    return status;
}
