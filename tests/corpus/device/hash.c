/* Checksums, hashes, ciphers, pseudo-random numbers. */
#include "tests/corpus/device/support/corpus.h"

static uint32_t table[256];

KERNEL(crc32) {
    uint8_t data[400];
    for (int i = 0; i < 400; i++) data[i] = (uint8_t)next(&seed);
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
        table[i] = c;
    }
    uint32_t slow = ~0u, fast = ~0u;
    for (int i = 0; i < 400; i++) {
        slow ^= data[i];
        for (int k = 0; k < 8; k++) slow = slow >> 1 ^ (0xedb88320 & -(slow & 1));
        fast = fast >> 8 ^ table[(fast ^ data[i]) & 255];
        if (i % 4 == 0) out[i / 4] = ~fast, out[100 + i / 4] = slow ^ fast;
    }
}

KERNEL(crc16_and_crc8) {
    uint16_t c = 0xffff;
    uint8_t d = 0;
    for (int i = 0; i < 250; i++) {
        uint8_t byte = (uint8_t)next(&seed);
        c ^= (uint16_t)(byte << 8), d ^= byte;
        for (int k = 0; k < 8; k++) {
            c = (uint16_t)(c & 0x8000 ? c << 1 ^ 0x1021 : c << 1);
            d = (uint8_t)(d & 0x80 ? d << 1 ^ 7 : d << 1);
        }
        out[i] = (uint32_t)c << 8 | d;
    }
}

KERNEL(sums) {
    uint32_t a = 1, b = 0, fletcher0 = 0, fletcher1 = 0, fnv = 2166136261u, djb = 5381;
    for (int i = 0; i < 250; i++) {
        uint8_t byte = (uint8_t)next(&seed);
        a = (a + byte) % 65521, b = (b + a) % 65521;
        fletcher0 = (fletcher0 + byte) % 255, fletcher1 = (fletcher1 + fletcher0) % 255;
        fnv = (fnv ^ byte) * 16777619u, djb = djb * 33 + byte;
        out[i] = (b << 16 | a) ^ (fletcher1 << 8 | fletcher0) ^ fnv ^ djb << 3;
    }
}

INLINE uint32_t rotate(uint32_t x, int n) {
    return x << n | x >> (32 - n);
}

KERNEL(murmur) {
    for (int n = 0; n < 60; n++) {
        uint32_t h = seed;
        for (int i = 0; i < n; i++)
            h = rotate(h ^ rotate(next(&seed) * 0xcc9e2d51u, 15) * 0x1b873593u, 13) * 5 + 0xe6546b64u;
        h ^= (uint32_t)n * 4, h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
        out[n] = h;
    }
}

KERNEL(sha256) {
    uint32_t k[64], h[8], n = 0;
    for (uint32_t p = 2; n < 64; p++) { /* fractions of the roots of primes, by integers */
        uint32_t d = 2;
        while (d * d <= p && p % d) d++;
        if (d * d <= p) continue;
        uint64_t cube = 0, square = 0;
        for (int bit = 34; bit >= 0; bit--) {
            uint64_t t = cube | (uint64_t)1 << bit, hi = t >> 16; /* t * t * t <= p << 96 in parts */
            if (hi > 0x7ffff) continue;
            uint64_t t2 = t * hi + (t * (t & 0xffff) >> 16); /* t^2 / 2^16 */
            uint64_t t3 = (t2 >> 24) * (t >> 8);             /* about t^3 / 2^48 */
            if (t3 <= (uint64_t)p << 48) cube = t;
        }
        for (int bit = 36; bit >= 0; bit--) {
            uint64_t t = square | (uint64_t)1 << bit;
            if (t < (uint64_t)1 << 37 && (t >> 5) * (t >> 5) <= (uint64_t)p << 54) square = t;
        }
        k[n] = (uint32_t)cube;
        if (n < 8) h[n] = (uint32_t)square;
        n++;
    }
    for (int block = 0; block < 4; block++) {
        uint32_t w[64], s[8];
        for (int i = 0; i < 16; i++) w[i] = next(&seed);
        for (int i = 16; i < 64; i++) {
            uint32_t a = w[i - 15], b = w[i - 2];
            w[i] = w[i - 16] + (rotate(a, 25) ^ rotate(a, 14) ^ a >> 3) + w[i - 7] +
                   (rotate(b, 15) ^ rotate(b, 13) ^ b >> 10);
        }
        for (int i = 0; i < 8; i++) s[i] = h[i];
        for (int i = 0; i < 64; i++) {
            uint32_t t1 = s[7] + (rotate(s[4], 26) ^ rotate(s[4], 21) ^ rotate(s[4], 7)) +
                          ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
            uint32_t t2 = (rotate(s[0], 30) ^ rotate(s[0], 19) ^ rotate(s[0], 10)) +
                          ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            for (int j = 7; j > 0; j--) s[j] = s[j - 1];
            s[4] += t1, s[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++) h[i] += s[i], out[8 * block + i] = h[i];
    }
    for (int i = 0; i < 64; i++) out[40 + i] = k[i];
}

KERNEL(siphash) {
    uint64_t key0 = (uint64_t)next(&seed) << 32 | next(&seed), key1 = (uint64_t)next(&seed) << 32 | next(&seed);
    for (int n = 0; n < 16; n++) {
        uint64_t v[4] = {key0 ^ 0x736f6d6570736575u, key1 ^ 0x646f72616e646f6du, key0 ^ 0x6c7967656e657261u,
                         key1 ^ 0x7465646279746573u};
        for (int i = 0; i < n + 4; i++) {
            uint64_t m = i < n ? (uint64_t)next(&seed) << 32 | (uint32_t)i : 0xff;
            v[3] ^= m;
            for (int round = 0; round < 2; round++) {
                v[0] += v[1], v[1] = (v[1] << 13 | v[1] >> 51) ^ v[0], v[0] = v[0] << 32 | v[0] >> 32;
                v[2] += v[3], v[3] = (v[3] << 16 | v[3] >> 48) ^ v[2];
                v[0] += v[3], v[3] = (v[3] << 21 | v[3] >> 43) ^ v[0];
                v[2] += v[1], v[1] = (v[1] << 17 | v[1] >> 47) ^ v[2], v[2] = v[2] << 32 | v[2] >> 32;
            }
            v[0] ^= m;
        }
        uint64_t h = v[0] ^ v[1] ^ v[2] ^ v[3];
        out[2 * n] = (uint32_t)h, out[2 * n + 1] = (uint32_t)(h >> 32);
    }
}

KERNEL(xtea) {
    uint32_t key[4];
    for (int i = 0; i < 4; i++) key[i] = next(&seed);
    for (int n = 0; n < 30; n++) {
        uint32_t a = next(&seed), b = next(&seed), sum = 0, x = a, y = b;
        for (int i = 0; i < 32; i++) {
            a += ((b << 4 ^ b >> 5) + b) ^ (sum + key[sum & 3]);
            sum += 0x9e3779b9;
            b += ((a << 4 ^ a >> 5) + a) ^ (sum + key[sum >> 11 & 3]);
        }
        out[4 * n] = a, out[4 * n + 1] = b;
        for (int i = 0; i < 32; i++) {
            b -= ((a << 4 ^ a >> 5) + a) ^ (sum + key[sum >> 11 & 3]);
            sum -= 0x9e3779b9;
            a -= ((b << 4 ^ b >> 5) + b) ^ (sum + key[sum & 3]);
        }
        out[4 * n + 2] = a ^ x, out[4 * n + 3] = b ^ y;
    }
}

KERNEL(stream_cipher) { /* a block function of quarter rounds, as ChaCha's */
    uint32_t s[16], x[16];
    for (int i = 0; i < 16; i++) s[i] = next(&seed);
    for (uint32_t block = 0; block < 12; block++) {
        s[12] = block;
        for (int i = 0; i < 16; i++) x[i] = s[i];
        for (int round = 0; round < 20; round++)
            for (int q = 0; q < 4; q++) {
                int odd = round & 1;
                uint32_t *a = x + q, *b = x + 4 + ((q + odd) & 3), *c = x + 8 + ((q + 2 * odd) & 3),
                         *d = x + 12 + ((q + 3 * odd) & 3);
                *a += *b, *d = rotate(*d ^ *a, 16), *c += *d, *b = rotate(*b ^ *c, 12);
                *a += *b, *d = rotate(*d ^ *a, 8), *c += *d, *b = rotate(*b ^ *c, 7);
            }
        for (int i = 0; i < 16; i++) out[block * 16 + (uint32_t)i] = x[i] + s[i];
    }
}

KERNEL(hash_table) {
    uint32_t *keys = L3_AREA, *values = keys + 256, probes = 0;
    for (int i = 0; i < 512; i++) keys[i] = 0;
    for (int i = 0; i < 180; i++) {
        uint32_t key = next(&seed) % 150 + 1, at = key * 2654435761u >> 24;
        while (keys[at] && keys[at] != key) at = (at + 1) & 255, probes++;
        keys[at] = key, values[at] += (uint32_t)i;
    }
    for (uint32_t key = 1; key <= 150; key++) {
        uint32_t at = key * 2654435761u >> 24;
        while (keys[at] && keys[at] != key) at = (at + 1) & 255;
        out[key] = keys[at] ? values[at] : ~0u;
    }
    out[200] = probes;
}

KERNEL(generators) {
    uint32_t lfsr = seed | 1, lag[17], pcg_high;
    uint64_t pcg = seed;
    for (int i = 0; i < 17; i++) lag[i] = next(&seed);
    for (int i = 0; i < 80; i++) {
        lfsr = lfsr >> 1 ^ (-(lfsr & 1) & 0x80200003u);
        lag[i % 17] = lag[i % 17] * 3 + rotate(lag[(i + 5) % 17], 9);
        pcg = pcg * 6364136223846793005u + 1442695040888963407u;
        pcg_high = (uint32_t)((pcg >> 18 ^ pcg) >> 27);
        uint32_t turn = (uint32_t)(pcg >> 59);
        out[3 * i] = lfsr, out[3 * i + 1] = lag[i % 17], out[3 * i + 2] = pcg_high >> turn | pcg_high << (-turn & 31);
    }
}

RUN(crc32, crc16_and_crc8, sums, murmur, sha256, siphash, xtea, stream_cipher, hash_table, generators)
