/* Sorting. */
#include "tests/corpus/device/support/corpus.h"

enum { N = 240 };

static void fill(uint32_t *a, uint32_t *seed) {
    for (int i = 0; i < N; i++) a[i] = next(seed) >> (i % 3 ? 0 : 24);
}
static void swap(uint32_t *a, uint32_t *b) {
    uint32_t t = *a;
    *a = *b, *b = t;
}

static void quick(uint32_t *a, int low, int high) {
    while (low < high) {
        uint32_t pivot = a[(low + high) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (a[i] < pivot) i++;
            while (a[j] > pivot) j--;
            if (i <= j) swap(&a[i++], &a[j--]);
        }
        quick(a, low, j);
        low = i;
    }
}
KERNEL(quick_sort) {
    fill(out, &seed);
    quick(out, 0, N - 1);
}

KERNEL(heap_sort) {
    uint32_t a[N];
    fill(a, &seed);
    for (int start = N / 2, end = N; end > 1;) {
        if (start > 0)
            start--;
        else
            swap(&a[0], &a[--end]);
        int root = start;
        for (int child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && a[child] < a[child + 1]) child++;
            if (a[root] >= a[child]) break;
            swap(&a[root], &a[child]);
        }
    }
    for (int i = 0; i < N; i++) out[i] = a[i];
}

KERNEL(merge_sort) {
    uint32_t a[N], b[N], *from = a, *to = b;
    fill(a, &seed);
    for (int width = 1; width < N; width *= 2) {
        for (int left = 0; left < N; left += 2 * width) {
            int middle = left + width < N ? left + width : N, right = left + 2 * width < N ? left + 2 * width : N;
            for (int i = left, j = middle, k = left; k < right; k++)
                to[k] = i < middle && (j >= right || from[i] <= from[j]) ? from[i++] : from[j++];
        }
        uint32_t *t = from;
        from = to, to = t;
    }
    for (int i = 0; i < N; i++) out[i] = from[i];
}

KERNEL(insertion_and_shell) {
    float a[120];
    uint32_t b[120];
    for (int i = 0; i < 120; i++) a[i] = unit(&seed) * 10, b[i] = next(&seed);
    for (int i = 1; i < 120; i++) {
        float x = a[i];
        int j = i;
        for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
        a[j] = x;
    }
    for (int gap = 57; gap > 0; gap = gap == 1 ? 0 : (gap + 1) / 3)
        for (int i = gap; i < 120; i++)
            for (int j = i; j >= gap && b[j - gap] > b[j]; j -= gap) swap(&b[j], &b[j - gap]);
    for (int i = 0; i < 120; i++) out[i] = bits(a[i]), out[120 + i] = b[i];
}

KERNEL(radix_sort) {
    uint32_t a[N], b[N], *from = a, *to = b;
    fill(a, &seed);
    for (int shift = 0; shift < 32; shift += 8) {
        uint32_t starts[257] = {0};
        for (int i = 0; i < N; i++) starts[(from[i] >> shift & 255) + 1]++;
        for (int i = 0; i < 256; i++) starts[i + 1] += starts[i];
        for (int i = 0; i < N; i++) to[starts[from[i] >> shift & 255]++] = from[i];
        uint32_t *t = from;
        from = to, to = t;
    }
    for (int i = 0; i < N; i++) out[i] = from[i];
}

KERNEL(bitonic_sort) {
    int16_t a[256];
    for (int i = 0; i < 256; i++) a[i] = (int16_t)next(&seed);
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j > 0; j /= 2)
            for (int i = 0; i < 256; i++) {
                int other = i ^ j;
                if (other <= i) continue;
                int16_t low = a[i] < a[other] ? a[i] : a[other], high = a[i] < a[other] ? a[other] : a[i];
                a[i] = i & k ? high : low, a[other] = i & k ? low : high;
            }
    for (int i = 0; i < 128; i++) out[i] = (uint32_t)(uint16_t)a[2 * i] << 16 | (uint16_t)a[2 * i + 1];
}

KERNEL(counting_sort) {
    uint8_t a[900];
    uint32_t counts[256] = {0}, n = 0;
    for (int i = 0; i < 900; i++) a[i] = (uint8_t)next(&seed);
    for (int i = 0; i < 900; i++) counts[a[i]]++;
    for (uint32_t v = 0; v < 256; v++)
        for (uint32_t k = 0; k < counts[v]; k++) a[n++] = (uint8_t)v;
    __builtin_memcpy(out, a, 900);
}

KERNEL(selection) {
    uint32_t a[N];
    for (int rank = 0; rank < N; rank += 17) {
        fill(a, &seed);
        int low = 0, high = N - 1;
        while (low < high) {
            uint32_t pivot = a[rank];
            int i = low, j = high;
            while (i <= j) {
                while (a[i] < pivot) i++;
                while (pivot < a[j]) j--;
                if (i <= j) swap(&a[i++], &a[j--]);
            }
            if (j < rank) low = i;
            if (rank < i) high = j;
        }
        out[rank] = a[rank], out[rank + 1] = a[0];
    }
}

static int by_low_byte(const void *a, const void *b) {
    return (int)(*(const uint32_t *)a & 255) - (int)(*(const uint32_t *)b & 255);
}
static int by_value(const void *a, const void *b) {
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : *(const uint32_t *)a > *(const uint32_t *)b;
}
static void stable_sort(uint32_t *a, int n, int (*compare)(const void *, const void *)) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && compare(&a[j - 1], &a[j]) > 0; j--) swap(&a[j - 1], &a[j]);
}
KERNEL(sort_by_function) {
    for (int i = 0; i < 100; i++) out[i] = next(&seed);
    stable_sort(out, 100, by_value);
    stable_sort(out, 100, by_low_byte);
    stable_sort(out + 40, 30, OPAQUE(&by_value));
}

RUN(quick_sort, heap_sort, merge_sort, insertion_and_shell, radix_sort, bitonic_sort, counting_sort, selection,
    sort_by_function)
