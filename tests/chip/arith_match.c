/*
 * One program for host and device: prints a hash of the results of every elementwise operator and quantised function
 * on pseudo-random bit patterns. Equal output of both builds means equal bits. On the device each vector function is
 * compared with its scalar function as well; a difference ends the program with status 1.
 */
#include "core/arith_types.h"
#if defined(__riscv)
#include <riscv_vector.h>
/* QEMU 7.2 ends at vfcvt.rtz; the rounding mode says the same. Chains of types run the instruction itself. */
#define TOWARD_ZERO(to, name, instruction)                                                                             \
    static inline to name(vfloat32m4_t x, size_t vl) {                                                                 \
        to result;                                                                                                     \
        __asm__("vsetvli zero, %2, e32, m4, ta, ma\n fsrmi 1\n " instruction " %0, %1\n fsrmi 0"                       \
                : "=&vr"(result)                                                                                       \
                : "vr"(x), "r"(vl)                                                                                     \
                : "vl", "vtype");                                                                                      \
        return result;                                                                                                 \
    }
TOWARD_ZERO(vint32m4_t, toward_zero_i32, "vfcvt.x.f.v")
TOWARD_ZERO(vuint32m4_t, toward_zero_u32, "vfcvt.xu.f.v")
#define __riscv_vfcvt_rtz_x_f_v_i32m4  toward_zero_i32
#define __riscv_vfcvt_rtz_xu_f_v_u32m4 toward_zero_u32
#include "core/arith_types_rvv.h"
#endif

enum { MATCH_ELEMENTS = 64 };
#if !defined(MATCH_ROUNDS)
#define MATCH_ROUNDS 1024
#endif

#if defined(__riscv)
/* Linux system calls (qemu-riscv32). */
static long call(long number, long a, long b, long c) {
    register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c, a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}
static void put(const char *text, unsigned length) {
    call(64, 1, (long)text, (long)length);
}
#else
#include <stdio.h>
static void put(const char *text, unsigned length) {
    fwrite(text, 1, length, stdout);
}
#endif

static uint32_t random_state = 0x2545f491u;

static uint32_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

/* Half of them any bit pattern, half of common size, with special values in between. */
static float random_float(void) {
    static const uint32_t special[] = {0,           0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc12345u,
                                       0x7f800001u, 1,           0x807fffffu, 0x3f800000u, 0x4f000000u, 0xcf000001u};
    uint32_t kind = random_bits() >> 24, bits = random_bits();
    if (kind < 4) return xa_float(special[bits % (sizeof special / sizeof *special)]);
    if (kind < 130) return xa_float(bits);
    return xa_float((bits & 0x87ffffffu) + 0x3b000000u); /* 2^-9 to 2^6 */
}

static uint32_t hash;
static int differences;

static void add_to_hash(uint32_t bits) {
    hash = (hash ^ bits) * 0x01000193u;
    hash ^= hash >> 15;
}

static void print_line(const char *name) {
    char line[64];
    unsigned length = 0;
    while (name[length] && length < 40) {
        line[length] = name[length];
        length++;
    }
    line[length++] = ' ';
    for (int shift = 28; shift >= 0; shift -= 4) line[length++] = "0123456789abcdef"[hash >> shift & 15];
    if (differences) line[length++] = '!';
    line[length++] = '\n';
    put(line, length);
}

static float a[MATCH_ELEMENTS], b[MATCH_ELEMENTS], c[MATCH_ELEMENTS], y[MATCH_ELEMENTS], v[MATCH_ELEMENTS];
static int32_t p[MATCH_ELEMENTS], q[MATCH_ELEMENTS], k[MATCH_ELEMENTS], w[MATCH_ELEMENTS];
static float immediate[3];

static void fill(void) {
    for (int i = 0; i < MATCH_ELEMENTS; i++) {
        a[i] = random_float();
        b[i] = random_float();
        c[i] = random_float();
        p[i] = (int32_t)(random_bits() >> (random_bits() & 31)) - 100;
        q[i] = (int8_t)random_bits();
    }
    immediate[0] = random_float();
    immediate[1] = random_float();
    immediate[2] = random_float();
}

static void take_floats(void) {
    for (int i = 0; i < MATCH_ELEMENTS; i++) {
        add_to_hash(xa_bits(xa_canonical(y[i])));
        differences += !xa_same(y[i], v[i]);
    }
}

static void take_ints(void) {
    for (int i = 0; i < MATCH_ELEMENTS; i++) {
        add_to_hash((uint32_t)k[i]);
        differences += k[i] != w[i];
    }
}

static xa_divisor divisor(void) {
    return xa_divisor_of(xa_is_divisor(immediate[0]) ? immediate[0] : 0.02f);
}

#define SCALAR_1     a[i]
#define SCALAR_2     SCALAR_1, b[i]
#define SCALAR_3     SCALAR_2, c[i]
#define VECTOR_1     va
#define VECTOR_2     VECTOR_1, vb
#define VECTOR_3     VECTOR_2, vc
#define IMMEDIATES_0 /* none */
#define IMMEDIATES_1 , immediate[0]
#define IMMEDIATES_2 IMMEDIATES_1, immediate[1]
#define IMMEDIATES_3 IMMEDIATES_2, immediate[2]

#if defined(__riscv)
/* Of both results, which must be the same. */
static vint32m4_t quantize_bytes(vfloat32m4_t x, size_t vl) {
    vint16m2_t first, second;
    xv_quantize_bytes(x, x, divisor(), 3, -128, 127, &first, &second, vl);
    return __riscv_vsext_vf2_i32m4(__riscv_vadd_vv_i16m2(first, __riscv_vsub_vv_i16m2(first, second, vl), vl), vl);
}

#define VECTOR_FLOATS(expression)                                                                                      \
    size_t vl = MATCH_ELEMENTS;                                                                                        \
    vfloat32m4_t va = __riscv_vle32_v_f32m4(a, vl), vb = __riscv_vle32_v_f32m4(b, vl);                                 \
    vfloat32m4_t vc = __riscv_vle32_v_f32m4(c, vl);                                                                    \
    (void)vb, (void)vc;                                                                                                \
    __riscv_vse32_v_f32m4(v, expression, vl)
#define VECTOR_INTS(expression)                                                                                        \
    size_t vl = MATCH_ELEMENTS;                                                                                        \
    vfloat32m4_t va = __riscv_vle32_v_f32m4(a, vl), vb = __riscv_vle32_v_f32m4(b, vl);                                 \
    vint32m4_t vp = __riscv_vle32_v_i32m4(p, vl), vq = __riscv_vle32_v_i32m4(q, vl);                                   \
    (void)va, (void)vb, (void)vp, (void)vq;                                                                            \
    __riscv_vse32_v_i32m4(w, expression, vl)
#else
#define VECTOR_FLOATS(expression) __builtin_memcpy(v, y, sizeof v)
#define VECTOR_INTS(expression)   __builtin_memcpy(w, k, sizeof w)
#endif

#define EW_FLOAT_ROW(name, operands, immediates, ...)                                                                  \
    static void match_##name(void) {                                                                                   \
        for (int i = 0; i < MATCH_ELEMENTS; i++) y[i] = xa_##name(SCALAR_##operands IMMEDIATES_##immediates);          \
        VECTOR_FLOATS(xv_##name(VECTOR_##operands IMMEDIATES_##immediates, vl));                                       \
        take_floats();                                                                                                 \
    }
#include "core/ops/elementwise.def"

/* ---- other types: every row and class, and every conversion ---- */

static uint64_t wide_a[MATCH_ELEMENTS], wide_b[MATCH_ELEMENTS];

/* Integers of every size; divisors that are 0 and -1, shifts that fit. */
static void fill_integers(void) {
    for (int i = 0; i < MATCH_ELEMENTS; i++) {
        uint32_t kind = random_bits() & 7, shift = random_bits() & 63;
        wide_a[i] = ((uint64_t)random_bits() << 32 | random_bits()) >> shift;
        wide_b[i] = kind == 0 ? 0 : kind == 1 ? UINT64_MAX : kind == 2 ? random_bits() & 63 : wide_a[i] * random_bits();
        if (kind == 3) wide_b[i] = wide_a[i];
        p[i] = (int32_t)wide_a[i];
        q[i] = (int32_t)wide_b[i];
    }
}

/* Of a bool that chooses: the low bit. */
#define TYPED_1(name, type) name((type)wide_a[i])
#define TYPED_2(name, type) name((type)wide_a[i], (type)wide_b[i])
#define CHOOSE(name, type)  name((int32_t)(wide_b[i] & 1), (type)wide_a[i], (type)wide_b[i])
#define HASH_WIDE(value)                                                                                               \
    uint64_t result = (uint64_t)(value);                                                                               \
    add_to_hash((uint32_t)result), add_to_hash((uint32_t)(result >> 32))
#define MATCH_WIDE(name, type, call)                                                                                   \
    static void match_##name(void) {                                                                                   \
        fill_integers();                                                                                               \
        for (int i = 0; i < MATCH_ELEMENTS; i++) {                                                                     \
            HASH_WIDE(call(xa_##name, type));                                                                          \
        }                                                                                                              \
    }
#if defined(__riscv)
#define LOAD_i32(from)        __riscv_vle32_v_i32m4(from, MATCH_ELEMENTS)
#define LOAD_u32(from)        __riscv_vle32_v_u32m4((const uint32_t *)(from), MATCH_ELEMENTS)
#define STORE_i32(to, x)      __riscv_vse32_v_i32m4(to, x, MATCH_ELEMENTS)
#define STORE_u32(to, x)      __riscv_vse32_v_u32m4((uint32_t *)(to), x, MATCH_ELEMENTS)
#define STORE_f32(to, x)      __riscv_vse32_v_f32m4((float *)(to), x, MATCH_ELEMENTS)
#define LOAD_f32(from)        __riscv_vle32_v_f32m4((const float *)(from), MATCH_ELEMENTS)
#define ODD                   __riscv_vand_vx_i32m4(LOAD_i32(q), 1, MATCH_ELEMENTS)
#define VTYPED_1(name, class) name(LOAD_##class(p), MATCH_ELEMENTS)
#define VTYPED_2(name, class) name(LOAD_##class(p), LOAD_##class(q), MATCH_ELEMENTS)
#define VCHOOSE(name, class)  name(ODD, LOAD_##class(p), LOAD_##class(q), MATCH_ELEMENTS)
#else
#define STORE_i32(to, x) __builtin_memcpy(to, k, sizeof k)
#define STORE_u32(to, x) STORE_i32(to, x)
#define STORE_f32(to, x) __builtin_memcpy(to, y, sizeof y)
#endif
#define MATCH_NARROW(name, class, type, call, result)                                                                  \
    static void match_##name(void) {                                                                                   \
        fill_integers();                                                                                               \
        for (int i = 0; i < MATCH_ELEMENTS; i++) k[i] = (int32_t)call(xa_##name, type);                                \
        STORE_##result(w, V##call(xv_##name, class));                                                                  \
        take_ints();                                                                                                   \
    }
#define MATCH_CLASSES(name, call, of_i32, of_u32)                                                                      \
    MATCH_NARROW(name##_i32, i32, int32_t, call, of_i32)                                                               \
    MATCH_NARROW(name##_u32, u32, uint32_t, call, of_u32)                                                              \
    MATCH_WIDE(name##_i64, int64_t, call)                                                                              \
    MATCH_WIDE(name##_u64, uint64_t, call)
/* A comparison of floats, or a choice between them. */
#define MATCH_FLOATS(name, call, vector)                                                                               \
    static void match_##name(void) {                                                                                   \
        for (int i = 0; i < MATCH_ELEMENTS; i++) k[i] = (int32_t)(call);                                               \
        STORE_i32(w, vector);                                                                                          \
        take_ints();                                                                                                   \
    }
#define MATCH_OF_FLOATS(name, operands)
#define MATCH_OF_CONVERT(name, operands)
#define MATCH_OF_NUMBERS(name, operands)  MATCH_CLASSES(name, TYPED_##operands, i32, u32)
#define MATCH_OF_ANY(name, operands)      MATCH_CLASSES(name, TYPED_##operands, i32, u32)
#define MATCH_OF_INTEGERS(name, operands) MATCH_CLASSES(name, TYPED_##operands, i32, u32)
#define MATCH_OF_COMPARE(name, operands)                                                                               \
    MATCH_CLASSES(name, TYPED_##operands, i32, i32)                                                                    \
    MATCH_FLOATS(name, xa_##name(a[i], b[i]), xv_##name(LOAD_f32(a), LOAD_f32(b), MATCH_ELEMENTS))
#define MATCH_OF_TEST(name, operands) MATCH_FLOATS(name, xa_##name(a[i]), xv_##name(LOAD_f32(a), MATCH_ELEMENTS))
#define MATCH_OF_LOGIC(name, operands)                                                                                 \
    static void match_##name##_i32(void) {                                                                             \
        fill_integers();                                                                                               \
        for (int i = 0; i < MATCH_ELEMENTS; i++) wide_a[i] &= 1, wide_b[i] &= 1, p[i] &= 1, q[i] &= 1;                 \
        for (int i = 0; i < MATCH_ELEMENTS; i++) k[i] = TYPED_##operands(xa_##name##_i32, int32_t);                    \
        STORE_i32(w, VTYPED_##operands(xv_##name##_i32, i32));                                                         \
        take_ints();                                                                                                   \
    }
#define MATCH_OF_SELECT(name, operands)                                                                                \
    MATCH_CLASSES(name, CHOOSE, i32, u32)                                                                              \
    static void match_##name(void) {                                                                                   \
        for (int i = 0; i < MATCH_ELEMENTS; i++) y[i] = xa_##name(q[i] & 1, a[i], b[i]);                               \
        STORE_f32(v, xv_##name(ODD, LOAD_f32(a), LOAD_f32(b), MATCH_ELEMENTS));                                        \
        take_floats();                                                                                                 \
    }
#define EW_ROW(name, operands, immediates, signature, ...) MATCH_OF_##signature(name, operands)
#include "core/ops/elementwise.def"

#define ENTRY(name)            {#name, match_##name},
#define ENTRIES(name)          ENTRY(name##_i32) ENTRY(name##_u32) ENTRY(name##_i64) ENTRY(name##_u64)
#define ENTRIES_FLOATS(name)   /* are floats alone */
#define ENTRIES_CONVERT(name)  /* by type */
#define ENTRIES_NUMBERS(name)  ENTRIES(name)
#define ENTRIES_ANY(name)      ENTRIES(name)
#define ENTRIES_INTEGERS(name) ENTRIES(name)
#define ENTRIES_COMPARE(name)  ENTRIES(name) ENTRY(name)
#define ENTRIES_SELECT(name)   ENTRIES(name) ENTRY(name)
#define ENTRIES_TEST(name)     ENTRY(name)
#define ENTRIES_LOGIC(name)    ENTRY(name##_i32)

/* Every conversion, then through memory, which has as few bytes as the type. */
#define CONVERT_INTEGER(function, class, type, to)                                                                     \
    static void match_##function(void) {                                                                               \
        fill_integers();                                                                                               \
        for (int i = 0; i < MATCH_ELEMENTS; i++) TAKE_##to(xa_##function((type)wide_a[i]));                            \
        STORE_##to(RESULT_##to, xv_##function(LOAD_##class(p), MATCH_ELEMENTS));                                       \
        TAKEN_##to();                                                                                                  \
    }
#define CONVERT_FLOAT(function, to)                                                                                    \
    static void match_##function(void) {                                                                               \
        for (int i = 0; i < MATCH_ELEMENTS; i++) TAKE_##to(xa_##function(a[i]));                                       \
        STORE_##to(RESULT_##to, xv_##function(LOAD_f32(a), MATCH_ELEMENTS));                                           \
        TAKEN_##to();                                                                                                  \
    }
#define TAKE_i32(x) k[i] = (x)
#define TAKE_u32(x) k[i] = (int32_t)(x)
#define TAKE_f32(x) y[i] = (x)
#define RESULT_i32  w
#define RESULT_u32  w
#define RESULT_f32  v
#define TAKEN_i32   take_ints
#define TAKEN_u32   take_ints
#define TAKEN_f32   take_floats
#define CONVERT_WIDE(function, type)                                                                                   \
    static void match_##function(void) {                                                                               \
        fill_integers();                                                                                               \
        for (int i = 0; i < MATCH_ELEMENTS; i++) {                                                                     \
            add_to_hash(xa_bits(xa_##function((type)wide_a[i])));                                                      \
        }                                                                                                              \
    }
#define NARROW_TYPES(X)                                                                                                \
    X(int8, i32)                                                                                                       \
    X(uint8, u32)                                                                                                      \
    X(int16, i32)                                                                                                      \
    X(uint16, u32) X(int32, i32) X(uint32, u32) X(bool, i32) X(float32, f32) X(float16, f32) X(bfloat16, f32)
#define X(type, to)                                                                                                    \
    CONVERT_FLOAT(to_##type##_f32, to)                                                                                 \
    CONVERT_INTEGER(to_##type##_i32, i32, int32_t, to)                                                                 \
    CONVERT_INTEGER(to_##type##_u32, u32, uint32_t, to)
NARROW_TYPES(X)
#undef X
CONVERT_WIDE(to_float32_i64, int64_t)
CONVERT_WIDE(to_float32_u64, uint64_t)
CONVERT_WIDE(to_float16_i64, int64_t)
static void match_to_wide(void) {
    for (int i = 0; i < MATCH_ELEMENTS; i++) {
        HASH_WIDE(xa_to_int64_f32(a[i]));
        result = xa_to_uint64_f32(a[i]);
        add_to_hash((uint32_t)result), add_to_hash((uint32_t)(result >> 32));
    }
}

/* Bytes in memory become the same values, and the values the same bytes. */
#define MEMORY(type, memory, to)                                                                                       \
    static void match_memory_##type(void) {                                                                            \
        memory bytes[MATCH_ELEMENTS], scalar[MATCH_ELEMENTS], vector[MATCH_ELEMENTS];                                  \
        fill_integers();                                                                                               \
        for (int i = 0; i < MATCH_ELEMENTS; i++) {                                                                     \
            bytes[i] = (memory)q[i];                                                                                   \
            TAKE_##to(xa_load_##type(bytes + i));                                                                      \
            xa_store_##type(scalar + i, xa_load_##type(bytes + i));                                                    \
            vector[i] = scalar[i];                                                                                     \
        }                                                                                                              \
        STORE_##to(RESULT_##to, xv_load_##type(bytes, MATCH_ELEMENTS));                                                \
        STORE_MEMORY(xv_store_##type(vector, xv_load_##type(bytes, MATCH_ELEMENTS), MATCH_ELEMENTS));                  \
        TAKEN_##to();                                                                                                  \
        for (int i = 0; i < MATCH_ELEMENTS; i++) {                                                                     \
            add_to_hash((uint32_t)scalar[i]);                                                                          \
            differences += scalar[i] != vector[i];                                                                     \
        }                                                                                                              \
    }
#if defined(__riscv)
#define STORE_MEMORY(call) call
#else
#define STORE_MEMORY(call) (void)0
#endif
MEMORY(int8, int8_t, i32)
MEMORY(uint8, uint8_t, u32)
MEMORY(int16, int16_t, i32)
MEMORY(uint16, uint16_t, u32)
MEMORY(int32, int32_t, i32)
MEMORY(uint32, uint32_t, u32)
MEMORY(bool, uint8_t, i32)
MEMORY(float16, uint16_t, f32)
MEMORY(bfloat16, uint16_t, f32)

/* X(name, scalar expression, vector expression) */
#define INT_FUNCTIONS(X)                                                                                               \
    X(rne, xa_rne_i32(a[i]), xv_rne_i32(va, vl))                                                                       \
    X(quantize, xa_quantize(a[i], immediate[0], 3, -128, 127), xv_quantize(va, immediate[0], 3, -128, 127, vl))        \
    X(quantize_shifted, xa_quantize_shifted(a[i], immediate[0], 3, -128, 127),                                         \
      xv_quantize_shifted(va, immediate[0], 3, -128, 127, vl))                                                         \
    X(quantize_byte, xa_quantize_byte(a[i], divisor(), 3, -128, 127), quantize_bytes(va, vl))                          \
    X(requantize, xa_requantize(p[i], b[i], -5, -128, 127),                                                            \
      __riscv_vsext_vf2_i32m4(xv_requantize(vp, vb, -5, -128, 127, vl), vl))                                           \
    X(mean, xa_mean(p[i] >> 7, p[i] & 0xffff, immediate[0], -5, -128, 127),                                            \
      __riscv_vsext_vf2_i32m4(xv_mean(__riscv_vsra_vx_i32m4(vp, 7, vl), __riscv_vand_vx_i32m4(vp, 0xffff, vl),         \
                                      immediate[0], -5, -128, 127, vl),                                                \
                              vl))                                                                                     \
    X(qadd, xa_qadd(q[i], p[i] & 255, immediate[0], immediate[1], 0.75f, 0, 255),                                      \
      xv_qadd(vq, __riscv_vand_vx_i32m4(vp, 255, vl), immediate[0], immediate[1], 0.75f, 0, 255, vl))                  \
    X(qmul, xa_qmul(q[i], 3, p[i] & 255, 128, immediate[0], -7, -128, 127),                                            \
      xv_qmul(vq, 3, __riscv_vand_vx_i32m4(vp, 255, vl), 128, immediate[0], -7, -128, 127, vl))                        \
    X(absmax_quantize, xa_absmax_quantize(a[i], immediate[0], 32767), xv_absmax_quantize(va, immediate[0], 32767, vl))
#define X(name, scalar, vector)                                                                                        \
    static void match_##name(void) {                                                                                   \
        for (int i = 0; i < MATCH_ELEMENTS; i++) k[i] = scalar;                                                        \
        VECTOR_INTS(vector);                                                                                           \
        take_ints();                                                                                                   \
    }
INT_FUNCTIONS(X)
#undef X

static void match_dequantize(void) {
    for (int i = 0; i < MATCH_ELEMENTS; i++) y[i] = xa_dequantize(p[i], immediate[0], -9);
#if defined(__riscv)
    vint32m4_t vp = __riscv_vle32_v_i32m4(p, MATCH_ELEMENTS);
    __riscv_vse32_v_f32m4(v, xv_dequantize(vp, immediate[0], -9, MATCH_ELEMENTS), MATCH_ELEMENTS);
#else
    __builtin_memcpy(v, y, sizeof v);
#endif
    take_floats();
}

/* Sum, maximum and absmax of the first n elements, n from 1 to 64. */
static void match_reductions(void) {
    size_t n = 1 + random_bits() % MATCH_ELEMENTS;
    for (int i = 0; i < MATCH_ELEMENTS; i++) y[i] = v[i] = 0;
    y[0] = xa_reduce_sum(a, n, 1);
    y[1] = xa_reduce_max(a, n, 1);
    y[2] = xa_absmax_of(a, n);
#if defined(__riscv)
    vfloat32m4_t va = __riscv_vle32_v_f32m4(a, n);
    vuint32m4_t zeros = __riscv_vmv_v_x_u32m4(0, MATCH_ELEMENTS);
    v[0] = xv_reduce_sum(a, n);
    v[1] = xv_reduce_max(-xa_inf(), va, n);
    v[2] = xv_absmax_result(xv_absmax(zeros, va, n), MATCH_ELEMENTS);
#else
    for (int i = 0; i < 3; i++) v[i] = y[i];
#endif
    take_floats();
}

static const struct {
    const char *name;
    void (*run)(void);
} matches[] = {
#define EW_FLOAT_ROW(name, ...) {#name, match_##name},
#include "core/ops/elementwise.def"
#define X(name, scalar, vector) {#name, match_##name},
    INT_FUNCTIONS(X)
#undef X
#define EW_ROW(name, operands, immediates, signature, ...) ENTRIES_##signature(name)
#include "core/ops/elementwise.def"
#define X(type, to) ENTRY(to_##type##_f32) ENTRY(to_##type##_i32) ENTRY(to_##type##_u32)
        NARROW_TYPES(X)
#undef X
            ENTRY(to_float32_i64) ENTRY(to_float32_u64) ENTRY(to_float16_i64) ENTRY(to_wide) ENTRY(memory_int8)
                ENTRY(memory_uint8) ENTRY(memory_int16) ENTRY(memory_uint16) ENTRY(memory_int32) ENTRY(memory_uint32)
                    ENTRY(memory_bool) ENTRY(memory_float16) ENTRY(memory_bfloat16){"dequantize", match_dequantize},
    {"reductions", match_reductions},
};

static int match_all(void) {
    int bad = 0;
    for (unsigned m = 0; m < sizeof matches / sizeof *matches; m++) {
        hash = 0x811c9dc5u;
        differences = 0;
        for (int round = 0; round < MATCH_ROUNDS; round++) {
            fill();
            matches[m].run();
        }
        print_line(matches[m].name);
        bad |= differences != 0;
    }
    return bad;
}

#if defined(__riscv)
void _start(void);

void _start(void) {
    call(93, match_all(), 0, 0);
    __builtin_unreachable();
}
#else
int main(void) {
    return match_all();
}
#endif
