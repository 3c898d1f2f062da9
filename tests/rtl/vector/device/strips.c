/* Strip-mined loops with intrinsics: softmax with LMUL 4, the length of a text by fault-only-first loads, colours apart
 * and together by segments, a permutation. */
#include <riscv_vector.h>

#include "tests/rtl/core/device/kernel.h"

enum { N = 500 };

static float xs[N];
static uint8_t colours[3 * N], planes[3][N];
static uint16_t order[N];
static char text[300];

static vfloat32m4_t exponential(vfloat32m4_t x, size_t vl) {
    vint32m4_t n = __riscv_vfcvt_x_f_v_i32m4(__riscv_vfmul_vf_f32m4(x, 1.44269504f, vl), vl);
    vfloat32m4_t whole = __riscv_vfcvt_f_x_v_f32m4(n, vl);
    vfloat32m4_t r = __riscv_vfnmsac_vf_f32m4(x, 0.693147182f, whole, vl);
    vfloat32m4_t p = __riscv_vfmv_v_f_f32m4(8.3334519073e-3f, vl);
    p = __riscv_vfadd_vf_f32m4(__riscv_vfmul_vv_f32m4(p, r, vl), 4.1665795894e-2f, vl);
    p = __riscv_vfadd_vf_f32m4(__riscv_vfmul_vv_f32m4(p, r, vl), 1.6666665459e-1f, vl);
    p = __riscv_vfadd_vf_f32m4(__riscv_vfmul_vv_f32m4(p, r, vl), 0.5f, vl);
    p = __riscv_vfmadd_vv_f32m4(__riscv_vfmul_vv_f32m4(p, r, vl), r, __riscv_vfadd_vf_f32m4(r, 1.0f, vl), vl);
    vint32m4_t bits =
        __riscv_vadd_vv_i32m4(__riscv_vreinterpret_v_f32m4_i32m4(p), __riscv_vsll_vx_i32m4(n, 23, vl), vl);
    return __riscv_vreinterpret_v_i32m4_f32m4(bits);
}

static void softmax(float *x, size_t n) {
    vfloat32m1_t most = __riscv_vfmv_s_f_f32m1(-1e30f, 1), sum = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m4(n - i);
        most = __riscv_vfredmax_vs_f32m4_f32m1(__riscv_vle32_v_f32m4(x + i, vl), most, vl);
    }
    float top = __riscv_vfmv_f_s_f32m1_f32(most);
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m4(n - i);
        vfloat32m4_t e = exponential(__riscv_vfsub_vf_f32m4(__riscv_vle32_v_f32m4(x + i, vl), top, vl), vl);
        sum = __riscv_vfredosum_vs_f32m4_f32m1(e, sum, vl);
        __riscv_vse32_v_f32m4(x + i, e, vl);
    }
    float factor = 1.0f / __riscv_vfmv_f_s_f32m1_f32(sum);
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m4(n - i);
        __riscv_vse32_v_f32m4(x + i, __riscv_vfmul_vf_f32m4(__riscv_vle32_v_f32m4(x + i, vl), factor, vl), vl);
    }
}

static uint32_t length(const char *s) {
    for (uint32_t n = 0;;) {
        size_t vl = __riscv_vsetvlmax_e8m2();
        vuint8m2_t v = __riscv_vle8ff_v_u8m2((const uint8_t *)s + n, &vl, vl);
        long at = __riscv_vfirst_m_b4(__riscv_vmseq_vx_u8m2_b4(v, 0, vl), vl);
        if (at >= 0) return n + (uint32_t)at;
        n += vl;
    }
}

static void separate(void) {
    for (size_t i = 0, vl; i < N; i += vl) {
        vl = __riscv_vsetvl_e8m2(N - i);
        vuint8m2x3_t all = __riscv_vlseg3e8_v_u8m2x3(colours + 3 * i, vl);
        __riscv_vse8_v_u8m2(planes[0] + i, __riscv_vget_v_u8m2x3_u8m2(all, 2), vl);
        __riscv_vse8_v_u8m2(planes[1] + i, __riscv_vget_v_u8m2x3_u8m2(all, 0), vl);
        __riscv_vse8_v_u8m2(planes[2] + i, __riscv_vget_v_u8m2x3_u8m2(all, 1), vl);
        __riscv_vsseg3e8_v_u8m2x3(colours + 3 * i, all, vl);
    }
}

static void permute(void) {
    for (size_t i = 0, vl; i < N; i += vl) {
        vl = __riscv_vsetvl_e16m2(N - i);
        vuint16m2_t reversed = __riscv_vrsub_vx_u16m2(__riscv_vid_v_u16m2(vl), (uint16_t)(vl - 1), vl);
        vuint16m2_t v = __riscv_vrgather_vv_u16m2(__riscv_vle16_v_u16m2(order + i, vl), reversed, vl);
        vbool8_t odd = __riscv_vmsne_vx_u16m2_b8(__riscv_vand_vx_u16m2(v, 1, vl), 0, vl);
        __riscv_vse16_v_u16m2(order + i, __riscv_vcompress_vm_u16m2(v, odd, vl), __riscv_vcpop_m_b8(odd, vl));
    }
}

int main(void) {
    uint32_t state = 3, hash = 2166136261u;
    for (int i = 0; i < N; i++) {
        xs[i] = (float)(int32_t)(next_random(&state) % 20000) * 0.001f - 10.0f;
        order[i] = (uint16_t)next_random(&state);
    }
    for (int i = 0; i < 3 * N; i++) colours[i] = (uint8_t)next_random(&state);
    for (int i = 0; i < 291; i++) text[i] = 'x';
    softmax(xs, N);
    separate();
    permute();
    hash = mixed(hash, length(text));
    for (int i = 0; i < N; i++) {
        hash = mixed(mixed(hash, bits_of(xs[i])), order[i]);
        hash = mixed(mixed(mixed(hash, planes[0][i]), planes[1][i]), planes[2][i]);
    }
    return hash == 0xee865aed ? 0 : (int)hash;
}
