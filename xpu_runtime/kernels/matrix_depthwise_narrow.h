/*
 * Windows of 3 x 3 over a block of NARROW_BLOCK channels, one register of them: the nine weights stay in registers
 * along the line, and one load brings several neighbouring pixels, which lie side by side in the ring. Included by
 * matrix_depthwise_strips.h.
 */
enum { NARROW_BLOCK = 16 };

/* clang-format off */
#define BEGIN "vfmul.vv v"
#define GO_ON "vfmacc.vv v"
#define FOUR(by, w, a0, a1, a2, a3, x0, x1, x2, x3)                                                                    \
    by #a0 ", v" #x0 ", v" #w "\n" by #a1 ", v" #x1 ", v" #w "\n"                                                      \
    by #a2 ", v" #x2 ", v" #w "\n" by #a3 ", v" #x3 ", v" #w "\n"
#define ADD_BIAS(a0, a1, a2, a3, bias)                                                                                 \
    "vfadd.vv v" #a0 ", v" #a0 ", v" #bias "\nvfadd.vv v" #a1 ", v" #a1 ", v" #bias "\n"                               \
    "vfadd.vv v" #a2 ", v" #a2 ", v" #bias "\nvfadd.vv v" #a3 ", v" #a3 ", v" #bias "\n"
/* Of four results, in t0 to t3 of which none is needed: the largest magnitude is in v7. */
#define LARGEST(a0, a1, a2, a3, t0, t1, t2, t3)                                                                        \
    "vand.vx v" #t0 ", v" #a0 ", %[bits]\nvand.vx v" #t1 ", v" #a1 ", %[bits]\n"                                       \
    "vand.vx v" #t2 ", v" #a2 ", %[bits]\nvand.vx v" #t3 ", v" #a3 ", %[bits]\n"                                       \
    "vmaxu.vv v" #t0 ", v" #t0 ", v" #t1 "\nvmaxu.vv v" #t2 ", v" #t2 ", v" #t3 "\n"                                   \
    "vmaxu.vv v" #t0 ", v" #t0 ", v" #t2 "\n"
/* Weights in v24 to v31 and `last`. */
#define WEIGHTS(last)                                                                                                  \
    "vl8re32.v v24, (%[w])\naddi %[t], %[w], 512\nvl1re32.v v" #last ", (%[t])\n"
#define EXPAND_FOUR(...) FOUR(__VA_ARGS__)

/*
 * One pixel apart: six pixels of a row are in v0 to v5 or v8 to v13, in turn; sums in v16 to v19 or v20 to v23, the bias
 * in v14. Loads of the next row stand between the sums.
 */
#define A_PIXELS_0 0, 1, 2, 3
#define A_PIXELS_1 1, 2, 3, 4
#define A_PIXELS_2 2, 3, 4, 5
#define B_PIXELS_0 8, 9, 10, 11
#define B_PIXELS_1 9, 10, 11, 12
#define B_PIXELS_2 10, 11, 12, 13
#define NARROW_ROW(by, s, w0, w1, w2, a0, a1, a2, a3, load_0, load_1)                                                  \
    EXPAND_FOUR(by, w0, a0, a1, a2, a3, s##_PIXELS_0) load_0                                                           \
    EXPAND_FOUR(GO_ON, w1, a0, a1, a2, a3, s##_PIXELS_1) load_1                                                        \
    EXPAND_FOUR(GO_ON, w2, a0, a1, a2, a3, s##_PIXELS_2)
#define SUMS_0 16, 17, 18, 19
#define SUMS_1 20, 21, 22, 23
#define SIX(to, and_to, x)                                                                                             \
    "vl4re32.v v" #to ", (%[" #x "])\n", "addi %[t], %[" #x "], 256\nvl2re32.v v" #and_to ", (%[t])\n"
#define EXPAND_NARROW(...) NARROW_ROW(__VA_ARGS__)
#define EXPAND_BIAS(...) ADD_BIAS(__VA_ARGS__)
#define NARROW_PIXELS(s, o, sums, most, s0, s1, o0, o1, sum)                                                           \
    EXPAND_NARROW(BEGIN, s, 24, 25, 26, sums, SIX(o0, o1, x1))                                                         \
    EXPAND_NARROW(GO_ON, o, 27, 28, 29, sums, SIX(s0, s1, x2))                                                         \
    "addi %[x0], %[x0], 256\n"                                                                                         \
    EXPAND_NARROW(GO_ON, s, 30, 31, 6, sums, SIX(o0, o1, x0)) EXPAND_BIAS(sums, 14)                                    \
    "addi %[x1], %[x1], 256\naddi %[x2], %[x2], 256\naddi %[count], %[count], -4\n" most                               \
    "vs4r.v v" #sum ", (%[out])\naddi %[out], %[out], 256\n"
#define NARROW_LOOP(most_a, most_b)                                                                                    \
    "vsetvli zero, %[vl], e32, m1, ta, ma\n" WEIGHTS(6)                                                                \
    "vmv.v.i v7, 0\nvl1re32.v v14, (%[bias])\n"                                                                        \
    "vl4re32.v v0, (%[x0])\naddi %[t], %[x0], 256\nvl2re32.v v4, (%[t])\n"                                             \
    "1:\n" NARROW_PIXELS(A, B, SUMS_0, most_a, 0, 4, 8, 12, 16) "beqz %[count], 2f\n"                              \
    NARROW_PIXELS(B, A, SUMS_1, most_b, 8, 12, 0, 4, 20) "bnez %[count], 1b\n2:\n"
#define MOST_A LARGEST(16, 17, 18, 19, 0, 1, 2, 3) "vmaxu.vv v7, v7, v0\n"
#define MOST_B LARGEST(20, 21, 22, 23, 8, 9, 10, 11) "vmaxu.vv v7, v7, v8\n"

/*
 * Two pixels apart: nine pixels of a row, in v0 to v7 or v8 to v15, and v16; sums in v20 to v23, the bias in v18.
 */
#define NARROW_ROW_2(by, s0, s1, s2, s3, s4, s5, s6, s7, w0, w1, w2, load_0, load_1, load_2)                           \
    FOUR(by, w0, 20, 21, 22, 23, s0, s2, s4, s6) load_0 FOUR(GO_ON, w1, 20, 21, 22, 23, s1, s3, s5, s7) load_1         \
    FOUR(GO_ON, w2, 20, 21, 22, 23, s2, s4, s6, 16) load_2
#define NINE(to, and_to, x)                                                                                            \
    "vl4re32.v v" #to ", (%[" #x "])\n", "addi %[t], %[" #x "], 256\nvl4re32.v v" #and_to ", (%[t])\n",                \
        "addi %[t], %[" #x "], 512\nvl1re32.v v16, (%[t])\n"
#define EXPAND_NARROW_2(...) NARROW_ROW_2(__VA_ARGS__)
#define A_NINE 0, 1, 2, 3, 4, 5, 6, 7
#define B_NINE 8, 9, 10, 11, 12, 13, 14, 15
#define NARROW_PIXELS_2(s, o, most, s0, s1, o0, o1)                                                                    \
    EXPAND_NARROW_2(BEGIN, s##_NINE, 24, 25, 26, NINE(o0, o1, x1))                                                            \
    EXPAND_NARROW_2(GO_ON, o##_NINE, 27, 28, 29, NINE(s0, s1, x2))                                                            \
    "addi %[x0], %[x0], 512\n"                                                                                         \
    EXPAND_NARROW_2(GO_ON, s##_NINE, 30, 31, 17, NINE(o0, o1, x0)) ADD_BIAS(20, 21, 22, 23, 18)                        \
    "addi %[x1], %[x1], 512\naddi %[x2], %[x2], 512\naddi %[count], %[count], -4\n" most                               \
    "vs4r.v v20, (%[out])\naddi %[out], %[out], 256\n"
#define NARROW_LOOP_2(most_a, most_b)                                                                                  \
    "vsetvli zero, %[vl], e32, m1, ta, ma\n" WEIGHTS(17)                                                               \
    "vmv.v.i v19, 0\nvl1re32.v v18, (%[bias])\n"                                                                       \
    "vl4re32.v v0, (%[x0])\naddi %[t], %[x0], 256\nvl4re32.v v4, (%[t])\naddi %[t], %[x0], 512\n"                      \
    "vl1re32.v v16, (%[t])\n"                                                                                          \
    "1:\n" NARROW_PIXELS_2(A, B, most_a, 0, 4, 8, 12) "beqz %[count], 2f\n"                                            \
    NARROW_PIXELS_2(B, A, most_b, 8, 12, 0, 4) "bnez %[count], 1b\n2:\n"
#define MOST_A_2 LARGEST(20, 21, 22, 23, 0, 1, 2, 3) "vmaxu.vv v19, v19, v0\n"
#define MOST_B_2 LARGEST(20, 21, 22, 23, 8, 9, 10, 11) "vmaxu.vv v19, v19, v8\n"
/* Joined with what other lines left, of the channels that there are. */
#define KEEP_MOST(from)                                                                                                \
    "vsetvli zero, %[channels], e32, m1, ta, ma\nvle32.v v0, (%[most])\nvmaxu.vv v0, v0, v" #from "\n"                 \
    "vse32.v v0, (%[most])\n"
#define NARROW(code)                                                                                                   \
    __asm__ volatile(code                                                                                              \
        : [x0] "+&r"(x0), [x1] "+&r"(x1), [x2] "+&r"(x2), [out] "+&r"(out), [count] "+&r"(count), [t] "=&r"(t)         \
        : [w] "r"(l->w), [bias] "r"(l->bias), [vl] "r"(NARROW_BLOCK), [bits] "r"(0x7fffffff), [most] "r"(l->most),     \
          [channels] "r"(channels)                                                                                     \
        : "memory", "vl", "vtype", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",    \
          "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",     \
          "v28", "v29", "v30", "v31")
/* clang-format on */

/* Pixels pixel .. pixel + count - 1, a multiple of NARROW_AT_ONCE of them, whose columns are all inside the image. */
static APART void inner_narrow(const struct line *l, uint32_t pixel, uint32_t count, size_t channels) {
    const uint32_t stride = (uint32_t)l->a->stride_w, at = pixel * stride * NARROW_BLOCK;
    const float *x0 = l->x[0] + at, *x1 = l->x[1] + at, *x2 = l->x[2] + at, *t;
    float *out = l->out + pixel * NARROW_BLOCK;
    if (stride == 1) {
        if (l->most)
            NARROW(NARROW_LOOP(MOST_A, MOST_B) KEEP_MOST(7));
        else
            NARROW(NARROW_LOOP("", ""));
    } else {
        if (l->most)
            NARROW(NARROW_LOOP_2(MOST_A_2, MOST_B_2) KEEP_MOST(19));
        else
            NARROW(NARROW_LOOP_2("", ""));
    }
}
