/* Texts: lengths, searches, numbers, compression, distances. */
#include "tests/corpus/device/support/corpus.h"

static void text(char *to, uint32_t n, uint32_t *seed) {
    for (uint32_t i = 0; i + 1 < n; i++) to[i] = next(seed) >> 29 ? (char)('a' + below(seed, 6)) : ' ';
    to[n - 1] = 0;
}
static uint32_t length(const char *s) {
    uint32_t n = 0;
    while (s[n]) n++;
    return n;
}
static int compare(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return (uint8_t)*a - (uint8_t)*b;
}

KERNEL(lengths_and_comparisons) {
    char a[260], b[260];
    for (int i = 0; i < 60; i++) {
        uint32_t n = 1 + below(&seed, 250), cut = below(&seed, n);
        text(a, n, &seed);
        char *p = b;
        for (const char *q = a; (*p++ = *q++);) {
        }
        if (i & 1) b[cut] = 'z';
        out[4 * i] = length(a), out[4 * i + 1] = (uint32_t)compare(a, b),
                out[4 * i + 2] = (uint32_t)compare(b + cut, a + cut);
        out[4 * i + 3] = length(b + cut / 2);
    }
}

KERNEL(searches) {
    char hay[500], needle[6];
    text(hay, 500, &seed);
    for (int k = 0; k < 60; k++) {
        uint32_t n = 2 + below(&seed, 4), count = 0, first = 0, last = 0;
        text(needle, n, &seed);
        for (uint32_t at = 0; hay[at]; at++) {
            uint32_t i = 0;
            while (needle[i] && hay[at + i] == needle[i]) i++;
            if (needle[i]) continue;
            if (!count++) first = at;
            last = at;
        }
        out[3 * k] = count, out[3 * k + 1] = first, out[3 * k + 2] = last;
    }
}

KERNEL(numbers) {
    char line[40];
    for (int i = 0; i < 60; i++) {
        int32_t value = (int32_t)next(&seed) >> (i % 32), back = 0;
        uint32_t u = value < 0 ? -(uint32_t)value : (uint32_t)value, n = 0, base = 2 + (uint32_t)i % 15;
        char *p = line + 39;
        *p = 0;
        do *--p = "0123456789abcdef"[u % base];
        while (u /= base);
        if (value < 0) *--p = '-';
        for (char *q = p + (*p == '-'); *q; q++)
            back = (int32_t)((uint32_t)back * base + (uint32_t)(*q <= '9' ? *q - '0' : *q - 'a' + 10));
        if (*p == '-') back = (int32_t)-(uint32_t)back;
        uint32_t hash = 0;
        for (; *p; p++, n++) hash = mix(hash, (uint8_t)*p);
        out[3 * i] = hash, out[3 * i + 1] = n, out[3 * i + 2] = (uint32_t)back ^ (uint32_t)value;
    }
}

KERNEL(words) {
    char s[600];
    text(s, 600, &seed);
    uint32_t n = 0, here = 0;
    for (char *p = s;; p++) { /* capitals, lengths */
        if (*p && *p != ' ') {
            if (!here++) *p = (char)(*p - 'a' + 'A');
            continue;
        }
        if (here && n < 120) out[n++] = here;
        here = 0;
        if (!*p) break;
    }
    for (uint32_t i = 0, j = 598; i < j; i++, j--) {
        char t = s[i];
        s[i] = s[j], s[j] = t;
    }
    __builtin_memcpy(out + 120, s, 512);
}

KERNEL(run_lengths) {
    uint8_t in[300], packed[620], back[300];
    for (int i = 0; i < 300; i++) in[i] = (uint8_t)(i && next(&seed) & 3 ? in[i - 1] : next(&seed) & 15);
    uint32_t n = 0, m = 0;
    for (uint32_t i = 0; i < 300;) {
        uint32_t run = 1;
        while (i + run < 300 && run < 255 && in[i + run] == in[i]) run++;
        packed[n++] = (uint8_t)run, packed[n++] = in[i], i += run;
    }
    for (uint32_t i = 0; i < n; i += 2)
        for (uint32_t k = 0; k < packed[i]; k++) back[m++] = packed[i + 1];
    out[0] = n, out[1] = m, out[2] = (uint32_t)__builtin_memcmp(in, back, 300);
    for (uint32_t i = 0; i < n && i < 240; i++) out[4 + i] = packed[i];
}

KERNEL(dictionary_compression) {
    uint8_t in[400], back[400];
    uint16_t codes[400];
    for (int i = 0; i < 400; i++) in[i] = (uint8_t)(next(&seed) & next(&seed) & 7);
    uint32_t n = 0, m = 0;
    for (uint32_t i = 0; i < 400;) { /* (distance, length) of the longest match behind */
        uint32_t best = 0, distance = 0;
        for (uint32_t d = 1; d <= i && d < 64; d++) {
            uint32_t k = 0;
            while (k < 31 && i + k < 400 && in[i + k] == in[i + k - d]) k++;
            if (k > best) best = k, distance = d;
        }
        if (best < 3) best = 1, distance = 0;
        codes[n++] = (uint16_t)(distance ? 0x8000 | distance << 8 | best : in[i]), i += best;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!(codes[i] & 0x8000))
            back[m++] = (uint8_t)codes[i];
        else
            for (uint32_t k = 0, d = codes[i] >> 8 & 127; k < (codes[i] & 255u); k++, m++) back[m] = back[m - d];
    }
    out[0] = n, out[1] = m, out[2] = (uint32_t)__builtin_memcmp(in, back, 400);
    for (uint32_t i = 0; i < n && i < 240; i++) out[4 + i] = codes[i];
}

KERNEL(edit_distances) {
    char a[40], b[40];
    for (int k = 0; k < 12; k++) {
        uint8_t row[41];
        uint32_t n = 10 + below(&seed, 30), m = 10 + below(&seed, 30);
        text(a, n, &seed), text(b, m, &seed);
        for (uint32_t j = 0; j < m; j++) row[j] = (uint8_t)j;
        for (uint32_t i = 1; i < n; i++) {
            uint8_t diagonal = row[0];
            row[0] = (uint8_t)i;
            for (uint32_t j = 1; j < m; j++) {
                uint8_t substitute = (uint8_t)(diagonal + (a[i - 1] != b[j - 1])),
                        best = row[j] < row[j - 1] ? row[j] : row[j - 1];
                diagonal = row[j];
                row[j] = substitute < best + 1 ? substitute : (uint8_t)(best + 1);
            }
        }
        for (uint32_t j = 0; j < 20; j++) out[20 * k + (int)j] = j < m ? row[m - 1 - j] : 0;
    }
}

KERNEL(base64_and_utf8) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t in[90], utf[400];
    char line[124];
    for (int i = 0; i < 90; i++) in[i] = (uint8_t)next(&seed);
    for (int i = 0; i < 30; i++) {
        uint32_t v = (uint32_t)in[3 * i] << 16 | (uint32_t)in[3 * i + 1] << 8 | in[3 * i + 2];
        for (int k = 0; k < 4; k++) line[4 * i + k] = digits[v >> (18 - 6 * k) & 63];
    }
    __builtin_memcpy(out, line, 120);
    uint32_t n = 0, m = 40;
    for (int i = 0; i < 80; i++) {
        uint32_t c = next(&seed) >> (11 + i % 14);
        if (c < 0x80)
            utf[n++] = (uint8_t)c;
        else if (c < 0x800)
            utf[n++] = (uint8_t)(0xc0 | c >> 6), utf[n++] = (uint8_t)(0x80 | (c & 63));
        else if (c < 0x10000)
            utf[n++] = (uint8_t)(0xe0 | c >> 12), utf[n++] = (uint8_t)(0x80 | (c >> 6 & 63)),
            utf[n++] = (uint8_t)(0x80 | (c & 63));
        else
            utf[n++] = (uint8_t)(0xf0 | c >> 18), utf[n++] = (uint8_t)(0x80 | (c >> 12 & 63)),
            utf[n++] = (uint8_t)(0x80 | (c >> 6 & 63)), utf[n++] = (uint8_t)(0x80 | (c & 63));
    }
    for (uint32_t i = 0; i < n && m < 250; m++) {
        uint32_t c = utf[i++], more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        if (more) c &= 0x3fu >> more;
        while (more--) c = c << 6 | (utf[i++] & 63);
        out[m] = c;
    }
}

KERNEL(parsing) { /* recursive descent over random expressions */
    char s[200];
    for (int k = 0; k < 40; k++) {
        uint32_t n = 0, depth = 0;
        for (int i = 0; i < 25; i++) {
            if (below(&seed, 4) == 0) s[n++] = '(', depth++;
            s[n++] = (char)('0' + below(&seed, 10));
            if (depth && below(&seed, 3) == 0) s[n++] = ')', depth--;
            s[n++] = "+-*"[below(&seed, 3)];
        }
        s[n++] = '1';
        while (depth--) s[n++] = ')';
        s[n] = 0;
        /* two stacks */
        uint32_t values[64], v = 0;
        char operators[64];
        uint32_t o = 0;
        for (const char *p = s;; p++) {
            if (*p >= '0' && *p <= '9') {
                values[v++] = (uint32_t)(*p - '0');
                continue;
            }
            if (*p != '(')
                while (o && operators[o - 1] != '(' && (operators[o - 1] == '*' || *p != '*')) {
                    uint32_t b = values[--v], a = values[--v];
                    char op = operators[--o];
                    values[v++] = op == '+' ? a + b : op == '-' ? a - b : a * b;
                }
            if (!*p) break;
            if (*p == ')')
                o--;
            else
                operators[o++] = *p;
        }
        out[2 * k] = values[0], out[2 * k + 1] = v << 8 | n;
    }
}

RUN(lengths_and_comparisons, searches, numbers, words, run_lengths, dictionary_compression, edit_distances,
    base64_and_utf8, parsing)
