/*
 * Computed matrices as the weights of conv2d_i16: each column becomes integers by its largest magnitude. A task is a
 * block of columns of one matrix. Its rows come in slices of k, once for the magnitudes and once more for the integers;
 * a slice that is all of them comes once. The next slice is loaded while one is worked on, results are stored behind.
 */
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/kernels/common.h"

enum { INF_BITS = 0x7f800000, NAN_BITS = 0x7fc00000 };

static const float most_float = 0x1.fffffep127f;

/* Pass 0 finds the magnitudes, 1 makes integers; `whole`: both at once. */
struct step {
    uint32_t task, pass, first;
};

struct plan {
    struct xpu_pack_matrix_f32_args a;
    uint32_t blocks, depth, last; /* blocks of columns of a matrix; values of k in a slice; the task behind the last */
    uint32_t bytes;               /* of an integer */
    int whole;
    float *x[2];
    void *y[2];
    uint32_t *most;   /* by column: the largest magnitude, as bits */
    uint32_t *places; /* the same by place of a vector */
    float *inverses, *scales;
    xpu_ticket stored[2];
};

struct slice {
    uint32_t matrix, block, columns, count; /* columns that there are; values of k */
};

static struct slice slice_of(const struct plan *p, const struct step *s) {
    uint32_t matrix = s->task / p->blocks, block = s->task % p->blocks, width = (uint32_t)p->a.columns;
    return (struct slice){.matrix = matrix,
                          .block = block,
                          .columns = min_u32(width, (uint32_t)p->a.n - block * width),
                          .count = min_u32(p->depth, (uint32_t)p->a.k - s->first)};
}

static xpu_ticket load(const struct plan *p, const struct step *s, uint32_t half) {
    const struct slice c = slice_of(p, s);
    uint32_t column = c.block * (uint32_t)p->a.columns, k = (uint32_t)p->a.k, n = (uint32_t)p->a.n;
    uint32_t from = (uint32_t)p->a.x + 4 * c.matrix * (uint32_t)p->a.stride;
    if (p->a.transposed) {
        from += 4 * (column * k + s->first);
        if (c.count == k) return GM2LM(p->x[half], from, 4 * c.columns * k);
        return xpu_load_2d(p->x[half], (int32_t)(4 * c.count), from, (int32_t)(4 * k), 4 * c.count, c.columns);
    }
    from += 4 * (s->first * n + column);
    if (c.columns == n) return GM2LM(p->x[half], from, 4 * n * c.count);
    return xpu_load_2d(p->x[half], (int32_t)(4 * c.columns), from, (int32_t)(4 * n), 4 * c.columns, c.count);
}

/* ---- magnitudes ---- */

static inline vuint32m4_t magnitudes(const float *x, size_t vl) {
    return __riscv_vand_vx_u32m4(__riscv_vle32_v_u32m4((const uint32_t *)x, vl), 0x7fffffff, vl);
}

/* Rows without room between them: as many as a vector holds at once. */
static void find_of_columns(const struct plan *p, const struct slice *c, const float *x) {
    const uint32_t rows = XPU_PACK_MOST_COLUMNS / c->columns, total = c->count * c->columns, step = rows * c->columns;
    size_t vl = __riscv_vsetvl_e32m4(step);
    vuint32m4_t all = __riscv_vmv_v_x_u32m4(0, vl);
    for (uint32_t i = 0; i < total; i += step) {
        size_t part = __riscv_vsetvl_e32m4(min_u32(step, total - i));
        all = __riscv_vmaxu_vv_u32m4_tu(all, all, magnitudes(x + i, part), part);
    }
    __riscv_vse32_v_u32m4(p->places, all, vl);
    vl = __riscv_vsetvl_e32m4(c->columns);
    vuint32m4_t most = __riscv_vle32_v_u32m4(p->most, vl);
    for (uint32_t i = 0; i < rows; i++) {
        most = __riscv_vmaxu_vv_u32m4(most, __riscv_vle32_v_u32m4(p->places + i * c->columns, vl), vl);
    }
    __riscv_vse32_v_u32m4(p->most, most, vl);
}

/* Of a row of x, to `most`: nothing waits for it here. */
static inline void find_of_row(const float *x, uint32_t count, uint32_t *most) {
    size_t vl = __riscv_vsetvl_e32m4(count);
    const size_t first = vl;
    vuint32m4_t all = magnitudes(x, vl);
    for (uint32_t done = (uint32_t)vl; done < count; done += (uint32_t)vl) {
        vl = __riscv_vsetvl_e32m4(count - done);
        all = __riscv_vmaxu_vv_u32m4_tu(all, all, magnitudes(x + done, vl), vl);
    }
    vuint32m1_t start = __riscv_vle32_v_u32m1(most, 1);
    __riscv_vse32_v_u32m1(most, __riscv_vredmaxu_vs_u32m4_u32m1(all, start, first), 1);
}

/* A column lies side by side. Four by four: the loads of a row do not wait for the store of the one before. */
static void find_of_rows(const struct plan *p, const struct slice *c, const float *x) {
    uint32_t j = 0, n = c->count;
    for (; n <= 64 && j + 4 <= c->columns; j += 4, x += 4 * n) {
        size_t vl = __riscv_vsetvl_e32m4(n);
        vuint32m1_t most = __riscv_vle32_v_u32m1(p->most + j, 4);
        vuint32m4_t a = magnitudes(x, vl), b = magnitudes(x + n, vl);
        vuint32m4_t d = magnitudes(x + 2 * n, vl), e = magnitudes(x + 3 * n, vl);
        vuint32m1_t first = __riscv_vredmaxu_vs_u32m4_u32m1(a, most, vl);
        vuint32m1_t second = __riscv_vredmaxu_vs_u32m4_u32m1(b, __riscv_vslidedown_vx_u32m1(most, 1, 4), vl);
        vuint32m1_t third = __riscv_vredmaxu_vs_u32m4_u32m1(d, __riscv_vslidedown_vx_u32m1(most, 2, 4), vl);
        vuint32m1_t fourth = __riscv_vredmaxu_vs_u32m4_u32m1(e, __riscv_vslidedown_vx_u32m1(most, 3, 4), vl);
        __riscv_vse32_v_u32m1(p->most + j, first, 1);
        __riscv_vse32_v_u32m1(p->most + j + 1, second, 1);
        __riscv_vse32_v_u32m1(p->most + j + 2, third, 1);
        __riscv_vse32_v_u32m1(p->most + j + 3, fourth, 1);
    }
    for (; j < c->columns; j++, x += n) find_of_row(x, n, p->most + j);
}

/* xa_absmax_inverse and xa_absmax_scale of each column; a NaN counts as infinity. */
static xpu_ticket find_scales(const struct plan *p, const struct slice *c) {
    const float limit = p->a.narrow ? 127.0f : 32767.0f;
    size_t vl = __riscv_vsetvl_e32m4(c->columns);
    vuint32m4_t bits = __riscv_vminu_vx_u32m4(__riscv_vle32_v_u32m4(p->most, vl), INF_BITS, vl);
    vfloat32m4_t most = __riscv_vreinterpret_v_u32m4_f32m4(bits);
    vfloat32m4_t inverse = __riscv_vfmin_vf_f32m4(__riscv_vfrdiv_vf_f32m4(most, limit, vl), most_float, vl);
    inverse = __riscv_vfmerge_vfm_f32m4(inverse, 0.0f, __riscv_vmseq_vx_u32m4_b8(bits, 0, vl), vl);
    for (uint32_t i = 0; i + c->columns <= XPU_PACK_MOST_COLUMNS; i += c->columns) {
        __riscv_vse32_v_f32m4(p->inverses + i, inverse, vl);
    }
    vuint32m4_t scale = __riscv_vreinterpret_v_f32m4_u32m4(__riscv_vfdiv_vf_f32m4(most, limit, vl));
    scale = __riscv_vmerge_vxm_u32m4(scale, NAN_BITS, __riscv_vmseq_vx_u32m4_b8(bits, INF_BITS, vl), vl);
    __riscv_vse32_v_u32m4((uint32_t *)p->scales, scale, vl);
    uint32_t column = c->block * (uint32_t)p->a.columns;
    return LM2GM((uint32_t)p->a.scales + 4 * (c->matrix * (uint32_t)p->a.n + column), p->scales, 4 * c->columns);
}

/* ---- integers ---- */

/* clamp(rne(v)); |v| is at most the limit but for NaN, which gives the largest. */
static inline vint16m2_t to_int16(vfloat32m4_t v, size_t vl) {
    return __riscv_vnclip_wx_i16m2(__riscv_vfcvt_x_f_v_i32m4(v, vl), 0, __RISCV_VXRM_RNU, vl);
}
static inline vint8m1_t to_int8(vfloat32m4_t v, size_t vl) {
    return __riscv_vnclip_wx_i8m1(to_int16(v, vl), 0, __RISCV_VXRM_RNU, vl);
}

/* Rows without room between them, as one: inverses repeat. */
static void pack_columns(const struct plan *p, const struct slice *c, const float *x, void *to) {
    const uint32_t width = (uint32_t)p->a.columns, dense = c->columns == width;
    const uint32_t step = dense ? XPU_PACK_MOST_COLUMNS : width, total = c->count * width;
    const size_t most = dense ? XPU_PACK_MOST_COLUMNS : c->columns;
    vfloat32m4_t inverse = __riscv_vle32_v_f32m4(p->inverses, most);
    for (uint32_t i = 0; i < total; i += step, x += most) {
        size_t vl = dense ? __riscv_vsetvl_e32m4(total - i) : most;
        vfloat32m4_t v = __riscv_vfmul_vv_f32m4(__riscv_vle32_v_f32m4(x, vl), inverse, vl);
        if (p->a.narrow)
            __riscv_vse8_v_i8m1((int8_t *)to + i, to_int8(v, vl), vl);
        else
            __riscv_vse16_v_i16m2((int16_t *)to + i, to_int16(v, vl), vl);
    }
}

static inline void store_column(const struct plan *p, void *to, uint32_t at, vint16m2_t q, size_t vl) {
    const ptrdiff_t width = p->a.columns;
    if (p->a.narrow)
        __riscv_vsse8_v_i8m1((int8_t *)to + at, width, __riscv_vnclip_wx_i8m1(q, 0, __RISCV_VXRM_RNU, vl), vl);
    else
        __riscv_vsse16_v_i16m2((int16_t *)to + at, 2 * width, q, vl);
}

/* A vector of a column of x. */
struct piece {
    const struct plan *p;
    const float *x;
    uint8_t *to;
    uint32_t pitch;
    size_t vl;
};

static inline vint16m2_t integers_of(const struct piece *c, vfloat32m4_t v, float inverse) {
    return to_int16(__riscv_vfmul_vf_f32m4(v, inverse, c->vl), c->vl);
}

static inline float inverse_of(const struct piece *c, uint32_t j) {
    float inverse = c->p->inverses[j];
    __asm__ volatile("" : "+f"(inverse));
    return inverse;
}

/* The registers of q are not those of what is computed while it is stored. */
static inline void keep(vint16m2_t q) {
    __asm__ volatile("" : : "vr"(q));
}

/* A store takes a cycle for each element, and reads wait for it: what the next column needs is read before, and
 * computed meanwhile. */
static void pack_piece(const struct piece *c, uint32_t columns) {
    const struct plan *p = c->p;
    const float *x = c->x;
    vint16m2_t even = integers_of(c, __riscv_vle32_v_f32m4(x, c->vl), p->inverses[0]);
    uint32_t j = 0;
    for (; j + 2 < columns; j += 2) {
        vfloat32m4_t v = __riscv_vle32_v_f32m4(x += c->pitch, c->vl);
        float inverse = inverse_of(c, j + 1);
        store_column(p, c->to, j, even, c->vl);
        vint16m2_t odd = integers_of(c, v, inverse);
        keep(even);
        v = __riscv_vle32_v_f32m4(x += c->pitch, c->vl);
        inverse = inverse_of(c, j + 2);
        store_column(p, c->to, j + 1, odd, c->vl);
        even = integers_of(c, v, inverse);
        keep(odd);
    }
    store_column(p, c->to, j, even, c->vl);
    if (++j == columns) return;
    store_column(p, c->to, j, integers_of(c, __riscv_vle32_v_f32m4(x + c->pitch, c->vl), p->inverses[j]), c->vl);
}

static void pack_rows(const struct plan *p, const struct slice *c, const float *x, void *to) {
    for (uint32_t done = 0; done < c->count;) {
        struct piece piece = {.p = p, .x = x + done, .pitch = c->count, .vl = __riscv_vsetvl_e32m4(c->count - done)};
        piece.to = (uint8_t *)to + done * (uint32_t)p->a.columns * p->bytes;
        pack_piece(&piece, c->columns);
        done += (uint32_t)piece.vl;
    }
}

/* ---- steps ---- */

static int next_step(const struct plan *p, struct step *s) {
    s->first += p->depth;
    if (s->first >= (uint32_t)p->a.k) {
        s->first = 0;
        if (p->whole || s->pass == 1) {
            s->pass = 0;
            s->task++;
        } else {
            s->pass = 1;
        }
    }
    return s->task < p->last;
}

static void make_integers(struct plan *p, const struct step *s, const struct slice *c, uint32_t half) {
    uint32_t width = (uint32_t)p->a.columns, line = width * p->bytes;
    xpu_wait(p->stored[half]);
    if (c->columns < width) clear_words(p->y[half], c->count * line / 4);
    if (p->a.transposed)
        pack_rows(p, c, p->x[half], p->y[half]);
    else
        pack_columns(p, c, p->x[half], p->y[half]);
    uint32_t to = (uint32_t)p->a.y + ((c->matrix * p->blocks + c->block) * (uint32_t)p->a.k + s->first) * line;
    p->stored[half] = LM2GM(to, p->y[half], c->count * line);
}

static void run_step(struct plan *p, const struct step *s, uint32_t half) {
    const struct slice c = slice_of(p, s);
    if (s->pass == 0 && s->first == 0) clear_words(p->most, XPU_PACK_MOST_COLUMNS);
    if (s->pass == 0 && p->a.transposed) find_of_rows(p, &c, p->x[half]);
    if (s->pass == 0 && !p->a.transposed) find_of_columns(p, &c, p->x[half]);
    if (p->whole || (s->pass == 1 && s->first == 0)) {
        xpu_wait(p->stored[half ^ 1]); /* scales of the task before are on their way in front of it */
        xpu_ticket ticket = find_scales(p, &c);
        if (!p->whole) xpu_wait(ticket);
    }
    if (p->whole || s->pass == 1) make_integers(p, s, &c, half);
}

static void place(struct plan *p) {
    uint32_t available, width = (uint32_t)p->a.columns;
    float *lm = lm_floats(&available);
    p->bytes = p->a.narrow ? 1 : 2;
    p->blocks = ceil_div((uint32_t)p->a.n, width);
    /* floats and integers of a value of k, in floats, twice */
    p->depth = (available - 4 * XPU_PACK_MOST_COLUMNS - 32) / (2 * width + width);
    p->whole = (uint32_t)p->a.k <= p->depth;
    p->most = (uint32_t *)lm;
    p->inverses = lm + XPU_PACK_MOST_COLUMNS;
    p->scales = p->inverses + XPU_PACK_MOST_COLUMNS;
    p->places = (uint32_t *)p->scales + XPU_PACK_MOST_COLUMNS;
    lm = p->scales + 2 * XPU_PACK_MOST_COLUMNS;
    uint32_t floats = p->depth * width;
    for (uint32_t i = 0; i < 2; i++) {
        p->x[i] = lm + i * floats;
        p->y[i] = lm + 2 * floats + i * (floats / 2);
    }
}

static void pack_share(const void *args, uint32_t core, uint32_t cores) {
    const xpu_ticket none = {XPU_COUNTER_CALL, 0};
    struct plan p = {.a = *(const struct xpu_pack_matrix_f32_args *)args, .stored = {none, none}};
    struct step now = {0};
    place(&p);
    share_tasks(core, cores, (uint32_t)p.a.batch * p.blocks, &now.task, &p.last);
    int more = now.task < p.last;
    xpu_ticket loaded = none;
    if (more) loaded = load(&p, &now, 0);
    for (uint32_t half = 0; more; half ^= 1) {
        struct step next = now;
        xpu_ticket ready = loaded;
        more = next_step(&p, &next);
        if (more) loaded = load(&p, &next, half ^ 1);
        xpu_wait(ready);
        run_step(&p, &now, half);
        now = next;
    }
}

xpu_ticket xpu_pack_matrix_f32(const struct xpu_pack_matrix_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(pack_share, args, layer, after);
}
