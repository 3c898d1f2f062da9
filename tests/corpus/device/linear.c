/* Matrices, convolutions, filters, transforms. */
#include "tests/corpus/device/support/corpus.h"

KERNEL(matrix_f32) {
    float a[15][20], b[20][16];
    for (int i = 0; i < 15; i++)
        for (int k = 0; k < 20; k++) a[i][k] = unit(&seed);
    for (int k = 0; k < 20; k++)
        for (int j = 0; j < 16; j++) b[k][j] = unit(&seed);
    for (int i = 0; i < 15; i++)
        for (int j = 0; j < 16; j++) {
            float sum = 0;
            for (int k = 0; k < 20; k++) sum += a[i][k] * b[k][j];
            out[i * 16 + j] = bits(sum);
        }
}

KERNEL(matrix_f32_rows) { /* the order of loops that vectorises over columns */
    float a[12][24], *b = SM_AREA, c[12][20] = {{0}};
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 24; k++) a[i][k] = unit(&seed);
    for (int i = 0; i < 24 * 20; i++) b[i] = unit(&seed);
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 24; k++)
            for (int j = 0; j < 20; j++) c[i][j] = __builtin_fmaf(a[i][k], b[k * 20 + j], c[i][j]);
    for (int i = 0; i < 12 * 20; i++) out[i] = bits(c[i / 20][i % 20]);
}

KERNEL(matrix_i8) {
    int8_t a[14][40], b[16][40];
    int32_t c[14][16];
    for (int i = 0; i < 14; i++)
        for (int k = 0; k < 40; k++) a[i][k] = (int8_t)next(&seed);
    for (int j = 0; j < 16; j++)
        for (int k = 0; k < 40; k++) b[j][k] = (int8_t)next(&seed);
    for (int i = 0; i < 14; i++)
        for (int j = 0; j < 16; j++) {
            c[i][j] = 0;
            for (int k = 0; k < 40; k++) c[i][j] += a[i][k] * b[j][k];
        }
    for (int i = 0; i < 14 * 16; i++) out[i] = (uint32_t)c[i / 16][i % 16];
}

KERNEL(matrix_i16) {
    int16_t a[10][24], b[24][12];
    for (int i = 0; i < 240; i++) a[i / 24][i % 24] = (int16_t)next(&seed);
    for (int i = 0; i < 288; i++) b[i / 12][i % 12] = (int16_t)next(&seed);
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 12; j++) {
            int64_t sum = 0;
            for (int k = 0; k < 24; k++) sum += a[i][k] * b[k][j];
            out[2 * (i * 12 + j)] = (uint32_t)sum, out[2 * (i * 12 + j) + 1] = (uint32_t)((uint64_t)sum >> 32);
        }
}

KERNEL(solve) {
    float a[12][13];
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 13; j++) a[i][j] = unit(&seed) + (i == j ? 4.0f : 0.0f);
    for (int p = 0; p < 12; p++) {
        int best = p;
        for (int i = p; i < 12; i++)
            if (__builtin_fabsf(a[i][p]) > __builtin_fabsf(a[best][p])) best = i;
        for (int j = 0; j < 13; j++) {
            float t = a[p][j];
            a[p][j] = a[best][j], a[best][j] = t;
        }
        for (int i = 0; i < 12; i++) {
            float factor = i == p ? 0 : a[i][p] / a[p][p];
            for (int j = p; j < 13; j++) a[i][j] -= factor * a[p][j];
        }
    }
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 13; j++) out[i * 13 + j] = bits(a[i][j] + 0.0f);
    for (int i = 0; i < 12; i++) out[160 + i] = bits(a[i][12] / a[i][i]);
}

KERNEL(cholesky) {
    float m[10][10], a[10][10], l[10][10] = {{0}};
    for (int i = 0; i < 100; i++) m[i / 10][i % 10] = unit(&seed);
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 10; j++) {
            a[i][j] = i == j ? 2.0f : 0.0f;
            for (int k = 0; k < 10; k++) a[i][j] += m[i][k] * m[j][k];
        }
    for (int i = 0; i < 10; i++)
        for (int j = 0; j <= i; j++) {
            float sum = a[i][j];
            for (int k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? __builtin_sqrtf(sum) : sum / l[j][j];
        }
    for (int i = 0; i < 100; i++) out[i] = bits(l[i / 10][i % 10]), out[100 + i] = bits(a[i / 10][i % 10]);
}

KERNEL(convolution_i8) {
    int8_t image[18][18], filter[4][3][3];
    for (int i = 0; i < 18 * 18; i++) image[i / 18][i % 18] = (int8_t)next(&seed);
    for (int i = 0; i < 36; i++) filter[i / 9][i / 3 % 3][i % 3] = (int8_t)next(&seed);
    for (int f = 0; f < 4; f++)
        for (int y = 0; y < 7; y++)
            for (int x = 0; x < 8; x++) {
                int32_t sum = 64;
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) sum += image[2 * y + i][2 * x + j] * filter[f][i][j];
                sum = (sum + 64) >> 7;
                out[(f * 7 + y) * 8 + x] = (uint32_t)(sum < -128 ? -128 : sum > 127 ? 127 : sum);
            }
}

KERNEL(convolution_f32) {
    float image[12][14], filter[9], row[14];
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 14; j++) image[i][j] = unit(&seed);
    for (int i = 0; i < 9; i++) filter[i] = unit(&seed);
    for (int y = 0; y < 12; y++) {
        for (int x = 0; x < 14; x++) row[x] = 0.125f;
        for (int i = -1; i <= 1; i++)
            for (int j = -1; j <= 1; j++)
                for (int x = 0; x < 14; x++)
                    if (y + i >= 0 && y + i < 12 && x + j >= 0 && x + j < 14)
                        row[x] += image[y + i][x + j] * filter[3 * i + j + 4];
        for (int x = 0; x < 14; x++) out[y * 14 + x] = bits(row[x] > 0 ? row[x] : 0);
    }
}

KERNEL(depthwise) {
    float x[6][6][16], w[3][3][16], y[4][4][16];
    for (int i = 0; i < 576; i++) x[i / 96][i / 16 % 6][i % 16] = unit(&seed);
    for (int i = 0; i < 144; i++) w[i / 48][i / 16 % 3][i % 16] = unit(&seed);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int c = 0; c < 16; c++) {
                y[i][j][c] = 0;
                for (int k = 0; k < 9; k++) y[i][j][c] += x[i + k / 3][j + k % 3][c] * w[k / 3][k % 3][c];
            }
    for (int i = 0; i < 250; i++) out[i] = bits(y[i / 64][i / 16 % 4][i % 16]);
}

KERNEL(pooling) {
    int16_t a[20][20];
    for (int i = 0; i < 400; i++) a[i / 20][i % 20] = (int16_t)next(&seed);
    for (int y = 0; y < 9; y++)
        for (int x = 0; x < 9; x++) {
            int32_t most = INT32_MIN, sum = 0;
            for (int k = 0; k < 9; k++) {
                int32_t v = a[2 * y + k / 3][2 * x + k % 3];
                most = v > most ? v : most, sum += v;
            }
            out[2 * (y * 9 + x)] = (uint32_t)most, out[2 * (y * 9 + x) + 1] = (uint32_t)(sum / 9);
        }
}

KERNEL(fir_filters) {
    int16_t x[160], h[16];
    float fx[160], fh[16];
    for (int i = 0; i < 160; i++) x[i] = (int16_t)next(&seed), fx[i] = unit(&seed);
    for (int i = 0; i < 16; i++) h[i] = (int16_t)next(&seed), fh[i] = unit(&seed);
    for (int n = 0; n < 120; n++) {
        int32_t sum = 1 << 14;
        float f = 0;
        for (int k = 0; k < 16; k++) sum += (x[n + k] * h[k]) >> 5, f += fx[n + 16 - k] * fh[k];
        out[2 * n] = (uint32_t)(sum >> 15), out[2 * n + 1] = bits(f);
    }
}

KERNEL(iir_filters) {
    float y1 = 0, y2 = 0;
    int32_t state = 0;
    for (int i = 0; i < 120; i++) {
        float x = unit(&seed), y = 0.2f * x + 1.5f * y1 - 0.7f * y2;
        y2 = y1, y1 = y;
        state += ((int32_t)(next(&seed) >> 8) - state) >> 4;
        out[2 * i] = bits(y), out[2 * i + 1] = (uint32_t)state;
    }
}

KERNEL(fourier) {
    float re[32], im[32];
    for (int i = 0; i < 32; i++) {
        int r = (i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2 | i >> 4;
        re[r] = unit(&seed), im[r] = unit(&seed);
    }
    float wr = -1, wi = 0; /* the root of unity of this stage; halving the angle */
    for (int size = 2; size <= 32; size *= 2) {
        float cr = 1, ci = 0;
        for (int k = 0; k < size / 2; k++) {
            for (int i = k; i < 32; i += size) {
                int j = i + size / 2;
                float tr = re[j] * cr - im[j] * ci, ti = re[j] * ci + im[j] * cr;
                re[j] = re[i] - tr, im[j] = im[i] - ti, re[i] += tr, im[i] += ti;
            }
            float t = cr * wr - ci * wi;
            ci = cr * wi + ci * wr, cr = t;
        }
        float c = __builtin_sqrtf((1 + wr) / 2), s = -__builtin_sqrtf((1 - wr) / 2);
        wr = c, wi = s;
    }
    for (int i = 0; i < 32; i++) out[2 * i] = bits(re[i]), out[2 * i + 1] = bits(im[i]);
}

KERNEL(butterflies) { /* 8-point transform of rows and columns in fixed point, Walsh-Hadamard of 64 */
    int32_t a[8][8], w[64];
    for (int i = 0; i < 64; i++) a[i / 8][i % 8] = (int32_t)(next(&seed) & 255) - 128, w[i] = a[i / 8][i % 8];
    static const int16_t table[8][8] = {
        {91, 91, 91, 91, 91, 91, 91, 91},         {126, 106, 71, 25, -25, -71, -106, -126},
        {118, 49, -49, -118, -118, -49, 49, 118}, {106, -25, -126, -71, 71, 126, 25, -106},
        {91, -91, -91, 91, 91, -91, -91, 91},     {71, -126, 25, 106, -106, -25, 126, -71},
        {49, -118, 118, -49, -49, 118, -118, 49}, {25, -71, 106, -126, 126, -106, 71, -25}};
    for (int pass = 0; pass < 2; pass++) {
        int32_t b[8][8];
        for (int u = 0; u < 8; u++)
            for (int x = 0; x < 8; x++) {
                int32_t sum = 128;
                for (int k = 0; k < 8; k++) sum += table[u][k] * a[x][k];
                b[u][x] = sum >> 8;
            }
        for (int i = 0; i < 64; i++) a[i / 8][i % 8] = b[i / 8][i % 8];
    }
    for (int h = 1; h < 64; h *= 2)
        for (int i = 0; i < 64; i++)
            if (!(i & h)) {
                int32_t x = w[i], y = w[i + h];
                w[i] = x + y, w[i + h] = x - y;
            }
    for (int i = 0; i < 64; i++) out[i] = (uint32_t)a[i / 8][i % 8], out[64 + i] = (uint32_t)w[i];
}

RUN(matrix_f32, matrix_f32_rows, matrix_i8, matrix_i16, solve, cholesky, convolution_i8, convolution_f32, depthwise,
    pooling, fir_filters, iir_filters, fourier, butterflies)
