/* Sorting by keys. */
#include "memplan/internal.h"

int xpu_memplan_compare_keys(const void *a, const void *b) {
    const xpu_memplan_sort_key *x = a, *y = b;
    for (int i = 0; i < 3; i++) {
        if (x->keys[i] != y->keys[i]) return x->keys[i] > y->keys[i] ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}
