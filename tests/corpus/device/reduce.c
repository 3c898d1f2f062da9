/* Reductions, prefix sums, histograms, searches. */
#include "tests/corpus/device/support/corpus.h"

enum { N = 500 };

KERNEL(integer_sums) {
    int32_t a[N];
    int16_t h[N];
    uint8_t b[N];
    for (int i = 0; i < N; i++) a[i] = (int32_t)next(&seed), h[i] = (int16_t)next(&seed), b[i] = (uint8_t)next(&seed);
    for (int n = 0; n < 30; n++) {
        uint32_t sum = 0, all = ~0u, any = 0, odd = 0, bytes = 0;
        int32_t halves = 0;
        int64_t wide = 0;
        for (int i = n; i < N - 7 * n; i++) {
            sum += (uint32_t)a[i], all &= (uint32_t)a[i] | 0xff, any |= (uint32_t)a[i] & 0x10f0, odd ^= (uint32_t)a[i];
            halves += h[i], bytes += b[i], wide += a[i];
        }
        uint32_t *o = out + 8 * n;
        o[0] = sum, o[1] = all, o[2] = any, o[3] = odd, o[4] = (uint32_t)halves, o[5] = bytes, o[6] = (uint32_t)wide,
        o[7] = (uint32_t)((uint64_t)wide >> 32);
    }
}

KERNEL(extremes) {
    int32_t a[N];
    uint16_t h[N];
    int8_t b[N];
    float f[N];
    for (int i = 0; i < N; i++)
        a[i] = (int32_t)next(&seed), h[i] = (uint16_t)next(&seed), b[i] = (int8_t)next(&seed),
        f[i] = unit(&seed) * 1000;
    for (int n = 0; n < 25; n++) {
        int32_t low = INT32_MAX, high = INT32_MIN, byte = 127;
        uint32_t half = 0;
        int place = -1;
        float least = f[n], most = f[n];
        for (int i = n; i < N - 19 * n; i++) {
            low = a[i] < low ? a[i] : low;
            if (a[i] > high) high = a[i], place = i;
            half = h[i] > half ? h[i] : half, byte = b[i] < byte ? b[i] : byte;
            least = f[i] < least ? f[i] : least, most = f[i] > most ? f[i] : most;
        }
        uint32_t *o = out + 7 * n;
        o[0] = (uint32_t)low, o[1] = (uint32_t)high, o[2] = (uint32_t)place, o[3] = half, o[4] = (uint32_t)byte,
        o[5] = bits(least), o[6] = bits(most);
    }
}

KERNEL(float_sums) {
    float a[N], b[N];
    for (int i = 0; i < N; i++) a[i] = unit(&seed), b[i] = unit(&seed) * 100;
    for (int n = 0; n < 40; n++) {
        float sum = 0, dot = 0, squares = 0, lanes[8] = {0};
        for (int i = n; i < N - n; i++) sum += a[i], dot += a[i] * b[i], squares = __builtin_fmaf(a[i], a[i], squares);
        for (int i = 0; i + 8 <= N - n; i += 8)
            for (int k = 0; k < 8; k++) lanes[k] += a[i + k] * b[i + k];
        float total = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
        out[5 * n] = bits(sum), out[5 * n + 1] = bits(dot), out[5 * n + 2] = bits(squares),
                out[5 * n + 3] = bits(total), out[5 * n + 4] = bits(__builtin_sqrtf(squares));
    }
}

KERNEL(prefix_sums) {
    uint32_t a[240], exclusive[240];
    float f = 0;
    for (int i = 0; i < 240; i++) a[i] = next(&seed) >> 8;
    uint32_t sum = 0;
    for (int i = 0; i < 240; i++) exclusive[i] = sum, sum += a[i];
    for (uint32_t step = 1; step < 240; step *= 2)
        for (uint32_t i = 239; i >= step; i--) a[i] += a[i - step];
    for (int i = 0; i < 240; i++) {
        f = f * 0.75f + (float)(a[i] >> 10);
        out[i] = a[i] ^ exclusive[i] << 1 ^ bits(f);
    }
}

KERNEL(running_extremes) {
    int32_t a[200], most = INT32_MIN;
    uint32_t rises = 0, longest = 0, run = 0;
    for (int i = 0; i < 200; i++) a[i] = (int32_t)next(&seed) >> 20;
    for (int i = 0; i < 200; i++) {
        if (a[i] > most) most = a[i], rises++;
        run = i && a[i] > a[i - 1] ? run + 1 : 1;
        longest = run > longest ? run : longest;
        out[i] = (uint32_t)most << 16 | longest;
    }
    int32_t best = 0, here = 0; /* the largest sum of a piece */
    for (int i = 0; i < 200; i++) here = here + a[i] > 0 ? here + a[i] : 0, best = here > best ? here : best;
    out[200] = (uint32_t)best, out[201] = rises;
}

KERNEL(histograms) {
    uint32_t counts[64] = {0}, sums[64] = {0};
    uint8_t *pixels = SM_AREA;
    for (int i = 0; i < 3000; i++) pixels[i] = (uint8_t)(next(&seed) & next(&seed));
    for (int i = 0; i < 3000; i++) counts[pixels[i] >> 2]++, sums[pixels[i] & 63] += (uint32_t)i;
    uint32_t total = 0, median = 64;
    for (uint32_t i = 0; i < 64; i++) {
        total += counts[i];
        if (total > 1500 && median == 64) median = i;
        out[2 * i] = counts[i], out[2 * i + 1] = sums[i];
    }
    out[130] = median;
}

KERNEL(searches) {
    uint32_t a[256];
    a[0] = 3;
    for (int i = 1; i < 256; i++) a[i] = a[i - 1] + below(&seed, 50);
    for (int k = 0; k < 120; k++) {
        uint32_t key = below(&seed, a[255] + 10), low = 0, high = 256, linear = 0;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (a[middle] < key)
                low = middle + 1;
            else
                high = middle;
        }
        while (linear < 256 && a[linear] < key) linear++;
        out[2 * k] = low << 16 | key, out[2 * k + 1] = linear - low;
    }
}

KERNEL(counts_and_selections) {
    int16_t a[600], kept[600];
    uint32_t n = 0, positive = 0, matching = 0, first = 600;
    for (int i = 0; i < 600; i++) a[i] = (int16_t)next(&seed);
    for (int i = 0; i < 600; i++) positive += a[i] > 0, matching += (a[i] & 0x111) == 0x101;
    for (int i = 0; i < 600; i++)
        if (a[i] % 3 == 0) kept[n++] = a[i];
    for (uint32_t i = 0; i < 600; i++)
        if (a[i] == kept[n / 2]) {
            first = i;
            break;
        }
    out[0] = n, out[1] = positive, out[2] = matching, out[3] = first;
    for (uint32_t i = 0; i < 240 && i < n; i++) out[4 + i] = (uint32_t)kept[i];
}

KERNEL(moments) {
    float x[200], y[200];
    for (int i = 0; i < 200; i++) x[i] = (float)i * 0.25f + unit(&seed), y[i] = 3.0f * x[i] - 7.0f + unit(&seed);
    float mx = 0, my = 0, sxx = 0, sxy = 0, syy = 0;
    for (int i = 0; i < 200; i++) mx += x[i], my += y[i];
    mx /= 200.0f, my /= 200.0f;
    for (int i = 0; i < 200; i++)
        sxx += (x[i] - mx) * (x[i] - mx), sxy += (x[i] - mx) * (y[i] - my), syy += (y[i] - my) * (y[i] - my);
    float slope = sxy / sxx;
    out[0] = bits(mx), out[1] = bits(my), out[2] = bits(slope), out[3] = bits(my - slope * mx),
    out[4] = bits(sxy / __builtin_sqrtf(sxx * syy));
    for (int i = 0; i < 200; i++) out[5 + i] = bits((x[i] - mx) / __builtin_sqrtf(sxx / 199.0f));
}

RUN(integer_sums, extremes, float_sums, prefix_sums, running_extremes, histograms, searches, counts_and_selections,
    moments)
