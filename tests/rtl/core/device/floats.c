/* Float programs: series, Newton's method, matrices, conversions, a particle system. */
#include "tests/rtl/core/device/kernel.h"

static float absolute(float x) {
    return x < 0 ? -x : x;
}

static float exponential(float x) {
    float scaled = x * 1.44269504f;
    int n = (int)(scaled + (scaled < 0 ? -0.5f : 0.5f));
    float r = x - (float)n * 0.693147182f, sum = 1, term = 1;
    for (int i = 1; i < 10; i++) {
        term *= r / (float)i;
        sum += term;
    }
    for (; n > 0; n--) sum *= 2;
    for (; n < 0; n++) sum *= 0.5f;
    return sum;
}

static float sine(float x) {
    float square = x * x, term = x, sum = x;
    for (int i = 1; i < 9; i++) {
        term *= -square / (float)((2 * i) * (2 * i + 1));
        sum += term;
    }
    return sum;
}

static float newton_root(float x) {
    float y = x > 1 ? x : 1;
    for (int i = 0; i < 20; i++) y = 0.5f * (y + x / y);
    return y;
}

static int solve(void) {
    static float a[8][9];
    uint32_t state = 9;
    for (int i = 0; i < 8; i++) {
        a[i][8] = 0;
        for (int k = 0; k < 8; k++) {
            a[i][k] = (float)(int)(next_random(&state) % 200) / 10.0f - 10.0f + (i == k ? 40.0f : 0.0f);
            a[i][8] += a[i][k] * (float)(k + 1);
        }
    }
    for (int p = 0; p < 8; p++)
        for (int i = 0; i < 8; i++) {
            if (i == p) continue;
            float factor = a[i][p] / a[p][p];
            for (int k = p; k < 9; k++) a[i][k] -= factor * a[p][k];
        }
    for (int i = 0; i < 8; i++)
        if (absolute(a[i][8] / a[i][i] - (float)(i + 1)) > 1e-3f) return 0;
    return 1;
}

static int mandelbrot(void) {
    int inside = 0;
    for (int row = 0; row < 12; row++)
        for (int column = 0; column < 16; column++) {
            float cx = -2.0f + 3.0f * (float)column / 16.0f, cy = -1.0f + 2.0f * (float)row / 12.0f, x = 0, y = 0;
            int n = 0;
            while (n < 40 && x * x + y * y < 4.0f) {
                float t = x * x - y * y + cx;
                y = 2 * x * y + cy;
                x = t;
                n++;
            }
            inside += n == 40;
        }
    return inside;
}

static uint32_t particles(void) {
    static struct {
        float x, y, vx, vy, mass;
    } p[5];
    uint32_t state = 3, hash = 1;
    for (int i = 0; i < 5; i++) {
        p[i].x = (float)(next_random(&state) % 1000);
        p[i].y = (float)(next_random(&state) % 1000);
        p[i].vx = p[i].vy = 0;
        p[i].mass = (float)(1 + next_random(&state) % 9);
    }
    for (int step = 0; step < 10; step++) {
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < 5; k++) {
                if (i == k) continue;
                float dx = p[k].x - p[i].x, dy = p[k].y - p[i].y, d = __builtin_sqrtf(dx * dx + dy * dy) + 1.0f;
                float force = p[k].mass / (d * d * d);
                p[i].vx = __builtin_fmaf(force, dx, p[i].vx);
                p[i].vy = __builtin_fmaf(force, dy, p[i].vy);
            }
        for (int i = 0; i < 5; i++) {
            p[i].x += p[i].vx;
            p[i].y += p[i].vy;
            hash = mixed(hash, bits_of(p[i].x) ^ bits_of(p[i].y));
        }
    }
    return hash;
}

int main(void) {
    if (absolute(exponential(1.0f) - 2.71828183f) > 1e-6f * 4) return 1;
    if (absolute(exponential(-3.5f) - 0.0301973834f) > 1e-8f) return 2;
    if (absolute(sine(1.0f) - 0.841470985f) > 1e-6f) return 3;
    for (int i = 1; i < 30; i++)
        if (absolute(newton_root((float)i) - __builtin_sqrtf((float)i)) > 1e-6f * (float)i) return 4;
    if (!solve()) return 5;
    if (mandelbrot() < 10) return 6;
    if (particles() == 0) return 7;
    for (int32_t i = -100000; i < 100000; i += 3331)
        if ((int32_t)(float)i != i || (uint32_t)(float)(uint32_t)(i + 100000) != (uint32_t)(i + 100000)) return 8;
    float least = 3e38f, most = -3e38f;
    for (int i = 0; i < 50; i++) {
        float value = sine((float)(i % 7) - 3.0f);
        least = __builtin_fminf(least, value);
        most = __builtin_fmaxf(most, value);
    }
    return least < most && __builtin_copysignf(1.0f, least) == -1.0f ? 0 : 9;
}
