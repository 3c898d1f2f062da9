/* Symbols whose values a run finds, and what expressions with them can be. */
#include "core/ir/graph.h"

int xpu_symbol_is_dynamic(const xpu_graph *graph, uint32_t symbol) {
    xpu_value value = graph->dims.symbols.items[symbol].value;
    return value.id && xpu_value_at(graph, value)->kind != XPU_VALUE_INPUT;
}

void xpu_symbols_bound(const xpu_graph *graph, int64_t *symbols) {
    const uint32_t count = graph->dims.symbols.count;
    for (uint32_t i = 0; i < count; i++) {
        if (xpu_symbol_is_dynamic(graph, i)) symbols[i] = graph->dims.symbols.items[i].max;
    }
    for (uint32_t i = 0; i < count; i++) {
        const xpu_symbol *symbol = &graph->dims.symbols.items[i];
        if (!xpu_symbol_is_dynamic(graph, i) || !symbol->bound.id) continue;
        int64_t most = xpu_dim_between(graph, symbol->bound, symbols).max;
        if (most < symbols[i]) symbols[i] = most < symbol->min ? symbol->min : most;
    }
}

static int64_t clamp(__int128 value) {
    return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static int64_t divide(int64_t a, int64_t b) {
    __int128 quotient = (__int128)a / b;
    return clamp(quotient - ((__int128)a % b != 0 && (a < 0) != (b < 0)));
}

/* The least and the largest of four. */
static xpu_dim_interval spanned(const int64_t *values) {
    xpu_dim_interval all = {values[0], values[0], 0};
    for (int i = 1; i < 4; i++) {
        if (values[i] < all.min) all.min = values[i];
        if (values[i] > all.max) all.max = values[i];
    }
    return all;
}

static xpu_dim_interval combine(xpu_dim_kind kind, xpu_dim_interval a, xpu_dim_interval b) {
    switch (kind) {
    case XPU_DIM_ADD: return (xpu_dim_interval){clamp((__int128)a.min + b.min), clamp((__int128)a.max + b.max), 0};
    case XPU_DIM_MUL:
        return spanned((int64_t[]){clamp((__int128)a.min * b.min), clamp((__int128)a.min * b.max),
                                   clamp((__int128)a.max * b.min), clamp((__int128)a.max * b.max)});
    case XPU_DIM_FLOORDIV: {
        if (b.min > 0)
            return spanned(
                (int64_t[]){divide(a.min, b.min), divide(a.min, b.max), divide(a.max, b.min), divide(a.max, b.max)});
        int64_t size = clamp(a.min < 0 ? -(__int128)a.min : a.min), other = clamp(a.max < 0 ? -(__int128)a.max : a.max);
        if (other > size) size = other;
        return (xpu_dim_interval){clamp(-(__int128)size - 1), size, 0};
    }
    case XPU_DIM_MOD:
        if (a.min == a.max && b.min == b.max && b.min > 0) {
            int64_t rest = a.min - divide(a.min, b.min) * b.min;
            return (xpu_dim_interval){rest, rest, 0};
        }
        return (xpu_dim_interval){b.min < 0 ? b.min + 1 : 0, b.max > 0 ? b.max - 1 : 0, 0};
    case XPU_DIM_MIN: return (xpu_dim_interval){a.min < b.min ? a.min : b.min, a.max < b.max ? a.max : b.max, 0};
    case XPU_DIM_MAX: return (xpu_dim_interval){a.min > b.min ? a.min : b.min, a.max > b.max ? a.max : b.max, 0};
    case XPU_DIM_CONST:
    case XPU_DIM_SYMBOL: break;
    }
    return (xpu_dim_interval){0, 0, 0};
}

static int64_t magnitude(xpu_dim_interval interval) {
    int64_t low = clamp(interval.min < 0 ? -(__int128)interval.min : interval.min);
    int64_t high = clamp(interval.max < 0 ? -(__int128)interval.max : interval.max);
    return low > high ? low : high;
}

xpu_dim_interval xpu_dim_between(const xpu_graph *graph, xpu_dim dim, const int64_t *symbols) {
    const xpu_dim_node *node = xpu_dim_at(&graph->dims, dim);
    xpu_dim_interval result = {node->value, node->value, 0};
    if (node->kind == XPU_DIM_SYMBOL) {
        const xpu_symbol *symbol = &graph->dims.symbols.items[node->value];
        int found = xpu_symbol_is_dynamic(graph, (uint32_t)node->value);
        int64_t value = symbols ? symbols[node->value] : found ? symbol->max : symbol->min;
        result = (xpu_dim_interval){found ? symbol->min : value, value, 0};
        if (result.max < result.min) result.max = result.min;
    } else if (node->kind > XPU_DIM_SYMBOL) {
        xpu_dim_interval a = xpu_dim_between(graph, node->a, symbols), b = xpu_dim_between(graph, node->b, symbols);
        result = combine(node->kind, a, b);
        result.largest = a.largest > b.largest ? a.largest : b.largest;
    }
    int64_t own = magnitude(result);
    if (own > result.largest) result.largest = own;
    return result;
}
