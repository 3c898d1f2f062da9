/* Loops that the compiler turns into vector code: e^x, dot products, conversions, table look-ups, min and max. */
#include "tests/rtl/core/device/kernel.h"

enum { N = 333 };

static float xs[N], ys[N];
static int32_t ints[N];
static int16_t halves[N];
static uint8_t bytes[N], table[256];
FAR float far_values[N];

static float exponential(float x) {
    float n = __builtin_rintf(x * 1.44269504f);
    float r = x - n * 0.693359375f + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    union {
        float f;
        uint32_t u;
    } both = {p};
    both.u += (uint32_t)(int32_t)n << 23;
    return both.f;
}

int main(void) {
    uint32_t state = 7, hash = 2166136261u;
    for (int i = 0; i < N; i++) {
        xs[i] = (float)(int32_t)(next_random(&state) % 20000) * 0.001f - 10.0f;
        bytes[i] = (uint8_t)next_random(&state);
        table[i & 255] = (uint8_t)next_random(&state);
    }
    for (int i = 0; i < N; i++) ys[i] = exponential(xs[i]);
    for (int i = 0; i < N; i++) far_values[i] = ys[i] / (1.0f + ys[i]);
    float most = xs[0];
    int32_t sum = 0;
    for (int i = 0; i < N; i++) {
        ints[i] = (int32_t)(xs[i] * 1000.0f);
        halves[i] = (int16_t)(ints[i] >> 2);
    }
    for (int i = 0; i < N; i++) sum += halves[i] * bytes[i];
    for (int i = 0; i < N; i++) most = xs[i] > most ? xs[i] : most;
    for (int i = 0; i < N; i++) bytes[i] = table[bytes[i]];
    for (int i = 0; i + 3 < N; i += 3) ints[i / 3] = ints[i] + ints[i + 1] - ints[i + 2];
    for (int i = 0; i < N; i++)
        hash = mixed(mixed(mixed(mixed(hash, bits_of(ys[i])), bits_of(far_values[i])), (uint32_t)ints[i]), bytes[i]);
    hash = mixed(mixed(hash, (uint32_t)sum), bits_of(most));
    return hash == 0x78cfefe4 ? 0 : (int)hash;
}
