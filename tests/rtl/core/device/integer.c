/* Integer programs: sorting, CRC, primes, matrices, division, 64-bit arithmetic, bits. */
#include "tests/rtl/core/device/kernel.h"

static uint32_t numbers[400];
static uint32_t FAR far_numbers[64];

static void quicksort(uint32_t *a, int low, int high) {
    while (low < high) {
        uint32_t pivot = a[(low + high) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (a[i] < pivot) i++;
            while (a[j] > pivot) j--;
            if (i <= j) {
                uint32_t t = a[i];
                a[i++] = a[j];
                a[j--] = t;
            }
        }
        quicksort(a, low, j);
        low = i;
    }
}

static void heapsort(uint32_t *a, int n) {
    for (int start = n / 2 - 1, end = n; end > 1;) {
        if (start >= 0) {
            start--;
        } else {
            uint32_t t = a[--end];
            a[end] = a[0];
            a[0] = t;
        }
        int root = start + 1 > 0 ? start + 1 : 0;
        for (;;) {
            int child = 2 * root + 1;
            if (child >= end) break;
            if (child + 1 < end && a[child] < a[child + 1]) child++;
            if (a[root] >= a[child]) break;
            uint32_t t = a[root];
            a[root] = a[child];
            a[child] = t;
            root = child;
        }
    }
}

static int is_sorted(const uint32_t *a, int n) {
    for (int i = 1; i < n; i++)
        if (a[i - 1] > a[i]) return 0;
    return 1;
}

static uint32_t crc32(const uint8_t *bytes, uint32_t n) {
    uint32_t crc = 0xffffffff;
    for (uint32_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static uint32_t primes_below(uint32_t n) {
    static uint8_t composite[2000];
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) composite[i] = 0;
    for (uint32_t i = 2; i < n; i++) {
        if (composite[i]) continue;
        count++;
        for (uint32_t k = i * i; k < n; k += i) composite[k] = 1;
    }
    return count;
}

static uint32_t gcd(uint32_t a, uint32_t b) {
    while (b) {
        uint32_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* a * b mod m by 64-bit steps, without a 64-bit division. */
static uint32_t modular_power(uint32_t base, uint32_t exponent, uint32_t m) {
    uint64_t result = 1, power = base % m;
    for (; exponent; exponent >>= 1) {
        uint64_t both[2] = {result * power, power * power};
        for (int k = 0; k < 2; k++) {
            uint64_t value = both[k], rest = 0;
            for (int bit = 63; bit >= 0; bit--) {
                rest = rest << 1 | (value >> bit & 1);
                if (rest >= m) rest -= m;
            }
            both[k] = rest;
        }
        if (exponent & 1) result = both[0];
        power = both[1];
    }
    return (uint32_t)result;
}

static uint32_t matrix_hash(void) {
    static int16_t a[12][12], b[12][12];
    uint32_t state = 5, hash = 2166136261u;
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 12; k++) {
            a[i][k] = (int16_t)next_random(&state);
            b[i][k] = (int16_t)next_random(&state);
        }
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++) {
            int32_t sum = 0;
            for (int k = 0; k < 12; k++) sum += a[i][k] * b[k][j];
            hash = mixed(hash, (uint32_t)sum);
        }
    return hash;
}

int main(void) {
    uint32_t state = 1;
    for (int i = 0; i < 400; i++) numbers[i] = next_random(&state);
    quicksort(numbers, 0, 399);
    if (!is_sorted(numbers, 400)) return 1;
    for (int i = 0; i < 64; i++) far_numbers[i] = next_random(&state);
    heapsort(far_numbers, 64);
    if (!is_sorted(far_numbers, 64)) return 2;
    if (crc32((const uint8_t *)"123456789", 9) != 0xcbf43926) return 3;
    if (primes_below(2000) != 303) return 4;
    if (gcd(2u * 3 * 5 * 7 * 11 * 13 * 17, 13u * 17 * 19 * 23) != 221) return 5;
    if (modular_power(3, 1000002, 1000003) != 1) return 6; /* Fermat */
    uint32_t hash = matrix_hash();
    for (int32_t i = -300; i < 300; i += 7)
        for (int32_t k = -9; k < 10; k++)
            if (k) {
                hash = mixed(hash, (uint32_t)(i / k) ^ (uint32_t)(i % k) << 16);
                if (i / k * k + i % k != i) return 7;
            }
    uint32_t ones = 0;
    for (int i = 0; i < 400; i++)
        ones += (uint32_t)__builtin_popcount(numbers[i]) + (uint32_t)__builtin_clz(numbers[i] | 1);
    return hash == 0 || ones == 0 ? 8 : 0;
}
