#include "tools/common/where.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/json.h"

/* ---- axes ---- */

static const char *axis_name(xpu_arena *arena, int rank, int axis) {
    static const char *const images[] = {"sample", "channel", "row", "column"};
    if (rank == 4) return images[axis];
    if (rank >= 2 && axis >= rank - 2) return images[axis - rank + 4];
    return rank == 1 ? "element" : xpu_printf(arena, "axis %d", axis);
}

/* From how many elements differ at each index of the axis. */
static void finish_axis(xpu_where_axis *axis, const int64_t *counts) {
    int64_t before = -1, gap = 0;
    int even = 1;
    axis->first = -1;
    for (int64_t i = 0; i < axis->size; i++) {
        if (!counts[i]) continue;
        if (counts[i] > axis->most_count) {
            axis->most = i;
            axis->most_count = counts[i];
        }
        if (axis->first < 0) axis->first = i;
        if (before >= 0 && gap && i - before != gap) even = 0;
        if (before >= 0) gap = i - before;
        int neighbours = before >= 0 && i == before + 1;
        if (!neighbours && axis->range_count <= XPU_WHERE_RANGES) axis->range_count++;
        if (axis->range_count <= XPU_WHERE_RANGES) {
            int64_t *range = axis->ranges[axis->range_count - 1];
            if (!neighbours) range[0] = i;
            range[1] = i;
        }
        axis->touched++;
        axis->last = before = i;
    }
    axis->step = even ? gap : 0;
}

static const char *ordinal(xpu_arena *arena, int64_t n) {
    static const char *const ends[] = {"th", "st", "nd", "rd"};
    int64_t last = n % 10, is_teen = n / 10 % 10 == 1;
    return xpu_printf(arena, "%lld%s", (long long)n, ends[is_teen || last > 3 ? 0 : last]);
}

/* "all 8", "3, 5..7 of 16", "every 2nd from 0 to 14 of 16", "9 from 1 to 60 of 64". */
static void add_axis(xpu_text *text, xpu_arena *arena, const xpu_where_axis *axis, int64_t differing) {
    xpu_text_add(text, "%s ", axis->name);
    if (axis->touched == axis->size && axis->size > 1) {
        xpu_text_add(text, "all %lld", (long long)axis->size);
    } else if (axis->step > 1 && axis->touched > 2) {
        xpu_text_add(text, "every %s from %lld to %lld of %lld", ordinal(arena, axis->step), (long long)axis->first,
                     (long long)axis->last, (long long)axis->size);
    } else if (axis->range_count <= XPU_WHERE_RANGES) {
        for (int i = 0; i < axis->range_count; i++) {
            const int64_t *range = axis->ranges[i];
            xpu_text_add(text, "%s%lld", i ? ", " : "", (long long)range[0]);
            if (range[1] > range[0])
                xpu_text_add(text, "%s%lld", range[1] > range[0] + 1 ? ".." : ", ", (long long)range[1]);
        }
        xpu_text_add(text, " of %lld", (long long)axis->size);
    } else {
        xpu_text_add(text, "%lld from %lld to %lld of %lld", (long long)axis->touched, (long long)axis->first,
                     (long long)axis->last, (long long)axis->size);
    }
    /* most of them in one index, where that is more than chance */
    if (axis->touched > 1 && axis->most_count * 2 > differing && axis->most_count * axis->touched * 2 > 3 * differing)
        xpu_text_add(text, " (%.0f %% in %lld)", 100 * (double)axis->most_count / (double)differing,
                     (long long)axis->most);
}

const char *xpu_where_axes_text(xpu_arena *arena, const xpu_where *where) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (int i = 0; i < where->rank; i++) {
        if (where->axes[i].size == 1) continue;
        if (text.length) xpu_text_add(&text, "; ");
        add_axis(&text, arena, &where->axes[i], where->comparison.differing);
    }
    return text.length ? text.text : "the only element";
}

/* ---- the look ---- */

enum { EXPONENTS = 2200, LOWEST = -1100 }; /* of differences of float64 */

/* Buckets of one power of two each, or of 2, 4, 8... where there are too many of them. */
static void fill_buckets(xpu_where *where, const int64_t *counts) {
    int low = EXPONENTS, high = -1, width = 1;
    for (int i = 0; i < EXPONENTS; i++) {
        if (!counts[i]) continue;
        if (low == EXPONENTS) low = i;
        high = i;
    }
    while ((high - low) / width >= XPU_WHERE_BUCKETS) width *= 2;
    for (int i = low; i <= high; i++) {
        int at = (i - low) / width;
        if (at == where->bucket_count) where->buckets[where->bucket_count++].from = ldexp(1, i + LOWEST);
        where->buckets[at].count += counts[i];
    }
}

static double rank_of(double difference) {
    return isnan(difference) ? (double)INFINITY : difference;
}

static void keep_largest(xpu_where *where, int64_t position, double difference) {
    int at = where->largest_count;
    while (at > 0 && rank_of(difference) > rank_of(where->largest[at - 1].difference)) at--;
    if (at == XPU_WHERE_LARGEST) return;
    if (where->largest_count < XPU_WHERE_LARGEST) where->largest_count++;
    for (int k = where->largest_count - 1; k > at; k--) where->largest[k] = where->largest[k - 1];
    where->largest[at] = (xpu_where_element){position, difference};
}

xpu_where xpu_where_find(xpu_arena *arena, const xpu_tensor *a, const xpu_tensor *b, const xpu_tolerance *tolerance,
                         const xpu_comparison *comparison) {
    xpu_where where = {.pair = xpu_pair_of(a, b, tolerance), .comparison = *comparison, .rank = a->rank};
    int64_t *counts[XPU_MAX_RANK], *exponents = XPU_NEW_ARRAY(arena, int64_t, EXPONENTS);
    for (int i = 0; i < a->rank; i++) {
        where.axes[i].name = axis_name(arena, a->rank, i);
        where.axes[i].size = a->dims[i];
        counts[i] = XPU_NEW_ARRAY(arena, int64_t, a->dims[i] + 1);
    }
    for (int64_t i = 0; i < comparison->count; i++) {
        double difference;
        if (!xpu_pair_differs(&where.pair, i, &difference)) continue;
        int64_t rest = i;
        for (int k = a->rank - 1; k >= 0; k--) {
            counts[k][rest % a->dims[k]]++;
            rest /= a->dims[k];
        }
        keep_largest(&where, i, difference);
        if (difference == 0)
            where.zeros++;
        else if (isfinite(difference))
            exponents[ilogb(difference) - LOWEST]++;
    }
    for (int i = 0; i < a->rank; i++) finish_axis(&where.axes[i], counts[i]);
    fill_buckets(&where, exponents);
    return where;
}

/* ---- text ---- */

static void add_largest(xpu_text *text, xpu_arena *arena, const xpu_where *where) {
    for (int i = 0; i < where->largest_count; i++) {
        const xpu_where_element *e = &where->largest[i];
        xpu_text_add(
            text, "  %s %s %s against %s", i ? "       " : "largest", xpu_index_text(arena, where->pair.a, e->position),
            xpu_element_text(arena, where->pair.a, e->position), xpu_element_text(arena, where->pair.b, e->position));
        if (isfinite(e->difference)) xpu_text_add(text, ", by %.6g", e->difference);
        xpu_text_add(text, "\n");
    }
}

static void add_row(xpu_text *text, const char *name, int64_t count, int64_t most) {
    int length = (int)((40 * count + most - 1) / most);
    xpu_text_add(text, "  %-20s %10lld %.*s\n", name, (long long)count, length,
                 "########################################");
}

static void add_histogram(xpu_text *text, xpu_arena *arena, const xpu_where *where) {
    int64_t not_finite = where->comparison.not_finite, most = not_finite > where->zeros ? not_finite : where->zeros;
    for (int i = 0; i < where->bucket_count; i++)
        if (where->buckets[i].count > most) most = where->buckets[i].count;
    xpu_text_add(text, "  %-20s %10s\n", "|difference| from", "elements");
    if (where->zeros) add_row(text, "0 (signs of zeros)", where->zeros, most);
    for (int i = 0; i < where->bucket_count; i++) {
        double from = where->buckets[i].from;
        if (!where->buckets[i].count) continue;
        add_row(text, xpu_printf(arena, "2^%-5d %.3g", ilogb(from), from), where->buckets[i].count, most);
    }
    if (not_finite) add_row(text, "NaN or infinity", not_finite, most);
}

const char *xpu_where_text(xpu_arena *arena, const xpu_where *where, int all) {
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, "  at      %s\n", xpu_where_axes_text(arena, where));
    xpu_text_add(&text, "  as a whole: %s, %s\n", xpu_cosine_text(arena, &where->comparison),
                 xpu_snr_text(arena, &where->comparison));
    if (!all) return text.text;
    add_largest(&text, arena, where);
    add_histogram(&text, arena, where);
    return text.text;
}

/* ---- JSON ---- */

static json_t *number(double value) {
    if (isfinite(value)) return json_real(value);
    return json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static json_t *element(const xpu_tensor *tensor, int64_t position) {
    switch (tensor->dtype) {
    case XPU_F32:
    case XPU_F64:
    case XPU_F16:
    case XPU_BF16: return number(xpu_element(tensor, position));
    case XPU_I64: return json_integer(((const int64_t *)tensor->data)[position]);
    case XPU_U64:
        if (((const uint64_t *)tensor->data)[position] > INT64_MAX) return number(xpu_element(tensor, position));
        return json_integer((json_int_t)((const uint64_t *)tensor->data)[position]);
    default: return json_integer((json_int_t)xpu_element(tensor, position));
    }
}

static void place_json(xpu_arena *arena, const xpu_where *where, int64_t position, json_t *object) {
    const xpu_tensor *a = where->pair.a;
    json_t *index = xpu_json_set(arena, object, "index", json_array());
    int64_t count = xpu_tensor_count(a);
    for (int i = 0; i < a->rank; i++) {
        count /= a->dims[i];
        xpu_json_append(arena, index, json_integer(position / count));
        position %= count;
    }
}

static void axes_json(xpu_arena *arena, const xpu_where *where, json_t *list) {
    for (int i = 0; i < where->rank; i++) {
        const xpu_where_axis *axis = &where->axes[i];
        json_t *entry = xpu_json_append(arena, list, json_object());
        xpu_json_set(arena, entry, "name", json_string(axis->name));
        xpu_json_set(arena, entry, "size", json_integer(axis->size));
        xpu_json_set(arena, entry, "indices", json_integer(axis->touched));
        xpu_json_set(arena, entry, "first", json_integer(axis->first));
        xpu_json_set(arena, entry, "last", json_integer(axis->last));
        xpu_json_set(arena, entry, "step", json_integer(axis->step));
        xpu_json_set(arena, entry, "most", json_integer(axis->most));
        xpu_json_set(arena, entry, "most_elements", json_integer(axis->most_count));
        if (axis->range_count > XPU_WHERE_RANGES) continue;
        json_t *ranges = xpu_json_set(arena, entry, "ranges", json_array());
        for (int k = 0; k < axis->range_count; k++) {
            json_t *range = xpu_json_append(arena, ranges, json_array());
            xpu_json_append(arena, range, json_integer(axis->ranges[k][0]));
            xpu_json_append(arena, range, json_integer(axis->ranges[k][1]));
        }
    }
}

void xpu_where_json(xpu_arena *arena, const xpu_where *where, json_t *object) {
    const xpu_comparison *c = &where->comparison;
    xpu_json_set(arena, object, "elements", json_integer(c->count));
    xpu_json_set(arena, object, "differing", json_integer(c->differing));
    xpu_json_set(arena, object, "not_finite", json_integer(c->not_finite));
    xpu_json_set(arena, object, "max_difference", number(c->max_difference));
    xpu_json_set(arena, object, "snr_db", c->not_finite ? json_null() : number(c->snr));
    xpu_json_set(arena, object, "cosine", c->not_finite || isnan(c->angle) ? json_null() : json_real(1 - c->angle));
    place_json(arena, where, c->first, xpu_json_set(arena, object, "first", json_object()));
    axes_json(arena, where, xpu_json_set(arena, object, "axes", json_array()));
    json_t *largest = xpu_json_set(arena, object, "largest", json_array());
    for (int i = 0; i < where->largest_count; i++) {
        json_t *entry = xpu_json_append(arena, largest, json_object());
        place_json(arena, where, where->largest[i].position, entry);
        xpu_json_set(arena, entry, "a", element(where->pair.a, where->largest[i].position));
        xpu_json_set(arena, entry, "b", element(where->pair.b, where->largest[i].position));
        xpu_json_set(arena, entry, "difference", number(where->largest[i].difference));
    }
    json_t *histogram = xpu_json_set(arena, object, "histogram", json_array());
    for (int i = 0; i < where->bucket_count; i++) {
        json_t *entry = xpu_json_append(arena, histogram, json_object());
        xpu_json_set(arena, entry, "from", json_real(where->buckets[i].from));
        xpu_json_set(arena, entry, "elements", json_integer(where->buckets[i].count));
    }
}
