/* Control flow: switches, recursion, function pointers, an interpreter, searches with backtracking, variable arguments.
 */
#include <stdarg.h>

#include "tests/corpus/device/support/corpus.h"

KERNEL(switches) {
    uint32_t a = 1, b = 2;
    for (int i = 0; i < 240; i++) {
        uint32_t x = next(&seed);
        switch (x % 17) { /* dense */
        case 0: a += b; break;
        case 1: b ^= a >> 3; break;
        case 2: a *= 5; /* fall through */
        case 3: a -= 7; break;
        case 4: b = b << 1 | b >> 31; break;
        case 5: a = ~a; break;
        case 6:
        case 7:
        case 8: b += x; break;
        case 9: a |= 0x1010; break;
        case 10: b &= 0xffefffff; break;
        case 11: a ^= b; break;
        case 12: continue;
        default: a++, b--;
        }
        switch (x >> 20) { /* sparse */
        case 3: a = 3; break;
        case 100: b = 100; break;
        case 1000: a = b; break;
        case 2000 ... 2999: a += 2; break;
        case 4095: b = 0; break;
        }
        out[i] = a ^ b << 7;
    }
}

static uint32_t ackermann(uint32_t m, uint32_t n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
static uint32_t hanoi(uint32_t n, uint32_t from, uint32_t to, uint32_t hash) {
    if (!n) return hash;
    hash = hanoi(n - 1, from, 6 - from - to, hash);
    return hanoi(n - 1, 6 - from - to, to, mix(hash, from << 4 | to));
}
static uint32_t fibonacci(uint32_t n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
static int is_odd(uint32_t n);
static __attribute__((noinline)) int is_even(uint32_t n) {
    return n == 0 ? 1 : is_odd(n - 1);
}
static __attribute__((noinline)) int is_odd(uint32_t n) {
    return n == 0 ? 0 : is_even(n - 1);
}
KERNEL(recursion) {
    for (uint32_t i = 0; i < 5; i++)
        out[i] = ackermann(i % 3, i + 1), out[10 + i] = hanoi(3 + i, 1, 3, 0), out[20 + i] = fibonacci(8 + i);
    for (uint32_t i = 0; i < 20; i++) out[30 + i] = (uint32_t)is_even(below(&seed, 200));
}

typedef uint32_t operation(uint32_t, uint32_t);
static uint32_t add(uint32_t a, uint32_t b) {
    return a + b;
}
static uint32_t subtract(uint32_t a, uint32_t b) {
    return a - b;
}
static uint32_t multiply(uint32_t a, uint32_t b) {
    return a * b;
}
static uint32_t divide(uint32_t a, uint32_t b) {
    return b ? a / b : ~0u;
}
static uint32_t exclusive(uint32_t a, uint32_t b) {
    return a ^ b;
}
static operation *const operations[] = {add, subtract, multiply, divide, exclusive};
static uint32_t fold(operation *f, const uint32_t *a, uint32_t n) {
    uint32_t r = a[0];
    for (uint32_t i = 1; i < n; i++) r = f(r, a[i]);
    return r;
}
KERNEL(function_pointers) {
    uint32_t a[60];
    for (int i = 0; i < 60; i++) a[i] = next(&seed) >> (i & 15);
    for (uint32_t i = 0; i < 55; i++)
        out[2 * i] = operations[a[i] % 5](a[i], a[i + 1]), out[2 * i + 1] = fold(operations[i % 5], a + i, 5);
}

KERNEL(interpreter) { /* a small stack machine: collatz lengths */
    enum { PUSH, LOAD, STORE, ADD, MUL, HALF, ODD, JUMP, ZERO, EQUAL, STOP };
    static const uint8_t code[] = {LOAD,  0,   PUSH, 1,  EQUAL, ZERO, 8,    STOP,  LOAD, 1,    PUSH, 1,   ADD,
                                   STORE, 1,   LOAD, 0,  ODD,   ZERO, 30,   LOAD,  0,    PUSH, 3,    MUL, PUSH,
                                   1,     ADD, JUMP, 33, LOAD,  0,    HALF, STORE, 0,    JUMP, 0};
    for (uint32_t n = 1; n < 60; n++) {
        uint32_t stack[8], variables[2] = {n, 0}, top = 0, pc = 0, steps = 0;
        for (int running = 1; running && steps < 5000; steps++) switch (code[pc++]) {
            case PUSH: stack[top++] = code[pc++]; break;
            case LOAD: stack[top++] = variables[code[pc++]]; break;
            case STORE: variables[code[pc++]] = stack[--top]; break;
            case ADD: top--, stack[top - 1] += stack[top]; break;
            case MUL: top--, stack[top - 1] *= stack[top]; break;
            case HALF: stack[top - 1] /= 2; break;
            case ODD: stack[top - 1] &= 1; break;
            case JUMP: pc = code[pc]; break;
            case ZERO: pc = stack[--top] ? pc + 1 : code[pc]; break;
            case EQUAL: top--, stack[top - 1] = stack[top - 1] == stack[top]; break;
            default: running = 0;
            }
        out[2 * n] = variables[1], out[2 * n + 1] = steps;
    }
}

KERNEL(loops) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t x = next(&seed), y = 0;
        do {
            y++;
            if (x % 11 == 5) continue;
            x = x / 2 + (x & 1 ? 77 : 0);
            if (y > 60) goto out_of_both;
        } while (x > 90 && y < 100);
        for (uint32_t a = 1; a < 50; a++) {
            for (uint32_t b = a; b < 50; b++)
                if (a * b == x) {
                    out[n++] = a << 16 | b;
                    goto out_of_both;
                }
            if (a * a > x) break;
        }
        out[n++] = y;
    out_of_both:
        out[n++] = x;
    }
}

static uint32_t place(uint32_t n, uint32_t columns, uint32_t left, uint32_t right, uint32_t *first) {
    uint32_t all = (1u << n) - 1, count = 0;
    if (columns == all) return 1;
    for (uint32_t free = all & ~(columns | left | right); free; free &= free - 1) {
        uint32_t bit = free & -free;
        count += place(n, columns | bit, (left | bit) << 1, (right | bit) >> 1, first + 1);
        if (count == 1) *first = bit;
    }
    return count;
}
KERNEL(queens) {
    for (uint32_t n = 1; n < 7; n++) out[16 * n] = place(n, 0, 0, 0, out + 16 * n + 1);
}

KERNEL(permutations) {
    uint8_t p[6] = {0, 1, 2, 3, 4, 5}, counts[6] = {0};
    uint32_t hash = 0, n = 0, i = 1;
    while (i < 6) {
        if (counts[i] < i) {
            uint32_t k = i & 1 ? counts[i] : 0;
            uint8_t t = p[k];
            p[k] = p[i], p[i] = t, counts[i]++, i = 1, n++;
            for (int j = 0; j < 6; j++) hash = mix(hash, p[j]);
            if (n % 4 == 0) out[n / 4] = hash;
        } else {
            counts[i++] = 0;
        }
    }
    out[0] = n;
}

KERNEL(life) {
    uint8_t world[18][18] = {{0}}, next_world[18][18] = {{0}};
    for (int i = 1; i < 17; i++)
        for (int j = 1; j < 17; j++) world[i][j] = (uint8_t)(next(&seed) >> 31);
    for (int g = 0; g < 15; g++) {
        for (int i = 1; i < 17; i++)
            for (int j = 1; j < 17; j++) {
                int n = world[i - 1][j - 1] + world[i - 1][j] + world[i - 1][j + 1] + world[i][j - 1] +
                        world[i][j + 1] + world[i + 1][j - 1] + world[i + 1][j] + world[i + 1][j + 1];
                next_world[i][j] = n == 3 || (n == 2 && world[i][j]);
            }
        for (int i = 1; i < 17; i++) {
            uint32_t row = 0;
            for (int j = 1; j < 17; j++) world[i][j] = next_world[i][j], row = row << 1 | world[i][j];
            out[g * 16 + i - 1] = row;
        }
    }
}

static uint32_t sum_of(uint32_t n, ...) {
    va_list list;
    uint32_t sum = 0;
    va_start(list, n);
    for (uint32_t i = 0; i < n; i++)
        sum = i % 3 == 2 ? sum + (uint32_t)(va_arg(list, uint64_t) >> 16) : sum * 3 + va_arg(list, uint32_t);
    va_end(list);
    return sum;
}
struct big {
    uint32_t a[9];
};
static __attribute__((noinline)) struct big shuffle(struct big x, float f, uint64_t w, uint8_t b, int16_t h, uint32_t c,
                                                    uint32_t d, uint32_t e, uint32_t g, float k) {
    for (uint32_t i = 0; i < 9; i++)
        x.a[i] = x.a[(i * 2) % 9] + b + (uint32_t)h + c + d * e + g + (uint32_t)w + bits(f * k);
    return x;
}
KERNEL(calls) {
    struct big x;
    for (int i = 0; i < 9; i++) x.a[i] = next(&seed);
    for (int i = 0; i < 20; i++) {
        x = shuffle(x, unit(&seed), (uint64_t)next(&seed) * 3, (uint8_t)i, (int16_t)-i, 1, 2, next(&seed), 4, 0.5f);
        for (int k = 0; k < 9; k++) out[10 * i + k] = x.a[k];
        out[10 * i + 9] = sum_of(7, 1u, x.a[0], (uint64_t)x.a[1] << 20, x.a[2], 4u, (uint64_t)5 << 32, x.a[3]);
    }
}

KERNEL(state_machine) {
    enum { START, SIGN, DIGITS, POINT, FRACTION, EXPONENT, BAD } state = START;
    uint32_t counts[7] = {0};
    for (int i = 0; i < 1000; i++) {
        char c = "0123456789+-.e e"[next(&seed) >> 28];
        int digit = c >= '0' && c <= '9';
        switch (state) {
        case START: state = digit ? DIGITS : c == '+' || c == '-' ? SIGN : c == '.' ? POINT : BAD; break;
        case SIGN: state = digit ? DIGITS : c == '.' ? POINT : BAD; break;
        case DIGITS: state = digit ? DIGITS : c == '.' ? FRACTION : c == 'e' ? EXPONENT : c == ' ' ? START : BAD; break;
        case POINT:
        case FRACTION: state = digit ? FRACTION : c == 'e' ? EXPONENT : c == ' ' ? START : BAD; break;
        case EXPONENT: state = digit ? DIGITS : c == '-' ? SIGN : BAD; break;
        default: state = c == ' ' || digit ? START : BAD;
        }
        counts[state]++;
        if (i % 5 == 0) out[i / 5] = (uint32_t)state << 16 | counts[state];
    }
}

RUN(switches, recursion, function_pointers, interpreter, loops, queens, permutations, life, calls, state_machine)
