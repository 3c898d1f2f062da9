/*
 * Boxes that no better one overlaps. Each core takes some of the classes of the images. Of a class the boxes whose
 * scores are above the threshold become candidates, in planes: order of the score, sides, index. A pass over them takes
 * out those that the last box overlaps, and finds the best of the rest. Candidates that LM has no room for are blocks
 * in scratch.
 */
#include "core/arith_pick.h"
#include "core/arith_rvv.h"
#include "xpu_runtime/kernels/common.h"

enum { KEY, LEFT, TOP, RIGHT, BOTTOM, INDEX, PLANES, LEAST_LOADED = 64 };
static const uint32_t nobody = UINT32_MAX;

typedef struct {
    struct xpu_nms_args args;
    float overlap, threshold;
    uint32_t scratch;         /* this core's */
    uint32_t *scores, *boxes; /* `loaded` of them */
    uint32_t loaded;
    uint32_t *planes, room; /* of a block: candidates of a plane */
    uint32_t blocks, last;  /* candidates are in so many; those of the last one */
    uint32_t task;
} suppression;

static inline vuint32m4_t plane(const suppression *s, uint32_t which, uint32_t at, size_t vl) {
    return __riscv_vle32_v_u32m4(s->planes + which * s->room + at, vl);
}

static inline vfloat32m4_t side(const suppression *s, uint32_t which, uint32_t at, size_t vl) {
    return __riscv_vreinterpret_v_u32m4_f32m4(plane(s, which, at, vl));
}

/* ---- candidates ---- */

static void move_block(const suppression *s, uint32_t block, int store) {
    const uint32_t bytes = PLANES * s->room * 4, address = s->scratch + block * bytes;
    mfence();
    xpu_wait(store ? LM2GM(address, s->planes, bytes) : GM2LM(s->planes, address, bytes));
}

static void add_plane(const suppression *s, uint32_t which, vfloat32m4_t x, vbool8_t held, uint32_t found, size_t vl) {
    vuint32m4_t bits = __riscv_vcompress_vm_u32m4(__riscv_vreinterpret_v_f32m4_u32m4(x), held, vl);
    __riscv_vse32_v_u32m4(s->planes + which * s->room + s->last, bits, found);
}

/* Of vl boxes from `at` on in LM, the first of which is box `index`, those that `held` has. */
static void add_boxes(const suppression *s, uint32_t at, uint32_t index, vbool8_t held, uint32_t found, size_t vl) {
    const ptrdiff_t apart = 4 * sizeof(float);
    const float *box = (const float *)s->boxes + 4 * at;
    vfloat32m4_t a = __riscv_vlse32_v_f32m4(box, apart, vl), b = __riscv_vlse32_v_f32m4(box + 1, apart, vl);
    vfloat32m4_t c = __riscv_vlse32_v_f32m4(box + 2, apart, vl), d = __riscv_vlse32_v_f32m4(box + 3, apart, vl);
    if (s->args.kind >= XA_BOX_SIDES) {
        add_plane(s, LEFT, a, held, found, vl);
        add_plane(s, TOP, b, held, found, vl);
        add_plane(s, RIGHT, c, held, found, vl);
        add_plane(s, BOTTOM, d, held, found, vl);
    } else if (s->args.kind == XA_BOX_CENTRE) {
        c = __riscv_vfmul_vf_f32m4(c, 0.5f, vl);
        d = __riscv_vfmul_vf_f32m4(d, 0.5f, vl);
        add_plane(s, LEFT, __riscv_vfsub_vv_f32m4(a, c, vl), held, found, vl);
        add_plane(s, TOP, __riscv_vfsub_vv_f32m4(b, d, vl), held, found, vl);
        add_plane(s, RIGHT, __riscv_vfadd_vv_f32m4(a, c, vl), held, found, vl);
        add_plane(s, BOTTOM, __riscv_vfadd_vv_f32m4(b, d, vl), held, found, vl);
    } else {
        add_plane(s, LEFT, __riscv_vfmin_vv_f32m4(b, d, vl), held, found, vl);
        add_plane(s, TOP, __riscv_vfmin_vv_f32m4(a, c, vl), held, found, vl);
        add_plane(s, RIGHT, __riscv_vfmax_vv_f32m4(b, d, vl), held, found, vl);
        add_plane(s, BOTTOM, __riscv_vfmax_vv_f32m4(a, c, vl), held, found, vl);
    }
    vuint32m4_t places = __riscv_vadd_vx_u32m4(__riscv_vid_v_u32m4(vl), index, vl);
    __riscv_vse32_v_u32m4(s->planes + INDEX * s->room + s->last, __riscv_vcompress_vm_u32m4(places, held, vl), found);
}

/* Keys of the scores of those: xa_order_word of what is no NaN. */
static void add_keys(const suppression *s, vfloat32m4_t score, vbool8_t held, uint32_t found, size_t vl) {
    const uint32_t top = 0x80000000u;
    vuint32m4_t bits = __riscv_vreinterpret_v_f32m4_u32m4(score);
    bits = __riscv_vmerge_vxm_u32m4(bits, 0, __riscv_vmseq_vx_u32m4_b8(bits, top, vl), vl);
    vbool8_t negative = __riscv_vmsgtu_vx_u32m4_b8(bits, top, vl);
    vuint32m4_t mask = __riscv_vmerge_vxm_u32m4(__riscv_vmv_v_x_u32m4(top, vl), nobody, negative, vl);
    bits = __riscv_vcompress_vm_u32m4(__riscv_vxor_vv_u32m4(bits, mask, vl), held, vl);
    __riscv_vse32_v_u32m4(s->planes + KEY * s->room + s->last, bits, found);
}

/* Of `n` boxes from `first` on, whose scores are in LM. */
static void find_candidates(suppression *s, uint32_t first, uint32_t n) {
    int loaded = 0;
    for (uint32_t at = 0, vl; at < n; at += vl) {
        vl = (uint32_t)__riscv_vsetvl_e32m4(n - at);
        vfloat32m4_t score = __riscv_vle32_v_f32m4((const float *)s->scores + at, vl);
        vbool8_t held = s->args.threshold ? __riscv_vmfgt_vf_f32m4_b8(score, s->threshold, vl)
                                          : __riscv_vmfeq_vv_f32m4_b8(score, score, vl);
        const uint32_t found = (uint32_t)__riscv_vcpop_m_b8(held, vl);
        if (!found) continue;
        if (!loaded) {
            const uint32_t image = s->task / (uint32_t)s->args.classes;
            xpu_wait(GM2LM(s->boxes, (uint32_t)s->args.boxes + (image * (uint32_t)s->args.count + first) * 16, n * 16));
            loaded = 1;
        }
        if (s->last + found > s->room) { /* the block is full: 0 is no key */
            for (uint32_t i = s->last; i < s->room; i++) s->planes[i] = 0;
            move_block(s, s->blocks++, 1);
            s->last = 0;
        }
        add_boxes(s, at, first + at, held, found, vl);
        add_keys(s, score, held, found, vl);
        s->last += found;
    }
}

/* ---- passes ---- */

/* The best candidate so far, and where it is. */
typedef struct {
    uint32_t key, block, place, index;
    xa_box box;
} best;

/* How far two intervals have in common, and `more`. */
static vfloat32m4_t common_extent(vfloat32m4_t first, vfloat32m4_t end, float b_first, float b_end, float more,
                                  size_t vl) {
    vfloat32m4_t size =
        __riscv_vfsub_vv_f32m4(__riscv_vfmin_vf_f32m4(end, b_end, vl), __riscv_vfmax_vf_f32m4(first, b_first, vl), vl);
    return __riscv_vfadd_vf_f32m4(size, more, vl);
}

/* xa_sides_overlap */
static vuint32m4_t without_sides(const suppression *s, const best *b, vuint32m4_t keys, uint32_t at, size_t vl) {
    const float more = s->args.kind == XA_BOX_PIXELS ? 1 : 0;
    vfloat32m4_t left = side(s, LEFT, at, vl), right = side(s, RIGHT, at, vl);
    vfloat32m4_t top = side(s, TOP, at, vl), bottom = side(s, BOTTOM, at, vl);
    vbool8_t apart = __riscv_vmor_mm_b8(__riscv_vmfgt_vf_f32m4_b8(left, b->box.right, vl),
                                        __riscv_vmflt_vf_f32m4_b8(right, b->box.left, vl), vl);
    apart = __riscv_vmor_mm_b8(apart, __riscv_vmfgt_vf_f32m4_b8(top, b->box.bottom, vl), vl);
    apart = __riscv_vmor_mm_b8(apart, __riscv_vmflt_vf_f32m4_b8(bottom, b->box.top, vl), vl);
    vfloat32m4_t common = __riscv_vfmul_vv_f32m4(common_extent(left, right, b->box.left, b->box.right, more, vl),
                                                 common_extent(top, bottom, b->box.top, b->box.bottom, more, vl), vl);
    vbool8_t inverted =
        __riscv_vmor_mm_b8(__riscv_vmflt_vv_f32m4_b8(right, left, vl), __riscv_vmflt_vv_f32m4_b8(bottom, top, vl), vl);
    vfloat32m4_t w = __riscv_vfadd_vf_f32m4(__riscv_vfsub_vv_f32m4(right, left, vl), more, vl);
    vfloat32m4_t h = __riscv_vfadd_vf_f32m4(__riscv_vfsub_vv_f32m4(bottom, top, vl), more, vl);
    vfloat32m4_t area = __riscv_vfmerge_vfm_f32m4(__riscv_vfmul_vv_f32m4(w, h, vl), 0, inverted, vl);
    vfloat32m4_t both =
        __riscv_vfsub_vv_f32m4(__riscv_vfadd_vf_f32m4(area, xa_sides_area(b->box, more), vl), common, vl);
    vfloat32m4_t part = __riscv_vfmerge_vfm_f32m4(__riscv_vfdiv_vv_f32m4(common, both, vl), 0, apart, vl);
    vbool8_t stays = __riscv_vmfle_vf_f32m4_b8(part, s->overlap, vl);
    return __riscv_vmerge_vvm_u32m4(__riscv_vmv_v_x_u32m4(0, vl), keys, stays, vl);
}

/* Which of vl keys stay when `b` is chosen. */
static vuint32m4_t without(const suppression *s, const best *b, vuint32m4_t keys, uint32_t at, size_t vl) {
    if (s->args.kind >= XA_BOX_SIDES) return without_sides(s, b, keys, at, vl);
    vfloat32m4_t left = side(s, LEFT, at, vl), right = side(s, RIGHT, at, vl);
    vfloat32m4_t top = side(s, TOP, at, vl), bottom = side(s, BOTTOM, at, vl);
    vfloat32m4_t w = __riscv_vfsub_vv_f32m4(__riscv_vfmin_vf_f32m4(right, b->box.right, vl),
                                            __riscv_vfmax_vf_f32m4(left, b->box.left, vl), vl);
    vfloat32m4_t h = __riscv_vfsub_vv_f32m4(__riscv_vfmin_vf_f32m4(bottom, b->box.bottom, vl),
                                            __riscv_vfmax_vf_f32m4(top, b->box.top, vl), vl);
    vbool8_t meets = __riscv_vmfgt_vf_f32m4_b8(w, 0, vl);
    meets = __riscv_vmand_mm_b8(meets, __riscv_vmfgt_vf_f32m4_b8(h, 0, vl), vl);
    if (!__riscv_vcpop_m_b8(meets, vl)) return keys;
    const float area = xa_mul(xa_sub(b->box.right, b->box.left), xa_sub(b->box.bottom, b->box.top));
    vfloat32m4_t own =
        __riscv_vfmul_vv_f32m4(__riscv_vfsub_vv_f32m4(right, left, vl), __riscv_vfsub_vv_f32m4(bottom, top, vl), vl);
    vfloat32m4_t common = __riscv_vfmul_vv_f32m4(w, h, vl);
    vfloat32m4_t both = __riscv_vfsub_vv_f32m4(__riscv_vfadd_vf_f32m4(own, area, vl), common, vl);
    meets = __riscv_vmand_mm_b8(meets, __riscv_vmfgt_vf_f32m4_b8(common, 0, vl), vl);
    meets = __riscv_vmand_mm_b8(meets, __riscv_vmfgt_vf_f32m4_b8(own, 0, vl), vl);
    meets = __riscv_vmand_mm_b8(meets, __riscv_vmfgt_vf_f32m4_b8(both, 0, vl), vl);
    vbool8_t much = __riscv_vmfgt_vf_f32m4_b8(__riscv_vfdiv_vv_f32m4(common, both, vl), s->overlap, vl);
    if (!(area > 0)) return keys;
    return __riscv_vmerge_vxm_u32m4(keys, 0, __riscv_vmand_mm_b8(meets, much, vl), vl);
}

/* Over the candidates of a block in LM: takes out what `chosen` overlaps, looks for one that is better than `found`. */
static void pass_block(const suppression *s, uint32_t block, uint32_t n, const best *chosen, best *found) {
    vuint32m1_t zero = __riscv_vmv_v_x_u32m1(0, 1);
    if (chosen->key && chosen->block == block) s->planes[chosen->place] = 0;
    for (uint32_t at = 0, vl; at < n; at += vl) {
        vl = (uint32_t)__riscv_vsetvl_e32m4(n - at);
        vuint32m4_t keys = plane(s, KEY, at, vl);
        if (chosen->key) {
            keys = without(s, chosen, keys, at, vl);
            __riscv_vse32_v_u32m4(s->planes + KEY * s->room + at, keys, vl);
        }
        uint32_t most = __riscv_vmv_x_s_u32m1_u32(__riscv_vredmaxu_vs_u32m4_u32m1(keys, zero, vl));
        if (most <= found->key) continue;
        found->key = most;
        found->block = block;
        found->place = at + (uint32_t)__riscv_vfirst_m_b8(__riscv_vmseq_vx_u32m4_b8(keys, most, vl), vl);
    }
    if (found->key && found->block == block) {
        const uint32_t *candidate = s->planes + found->place;
        const float *sides = (const float *)candidate;
        found->index = candidate[INDEX * s->room];
        found->box =
            (xa_box){sides[LEFT * s->room], sides[TOP * s->room], sides[RIGHT * s->room], sides[BOTTOM * s->room]};
    }
}

static best pass(const suppression *s, const best *chosen) {
    best found = {.key = 0};
    for (uint32_t block = 0; block <= s->blocks; block++) {
        if (s->blocks) move_block(s, block, 0);
        pass_block(s, block, block < s->blocks ? s->room : s->last, chosen, &found);
        if (s->blocks && chosen->key) move_block(s, block, 1);
        xpu_alive();
    }
    return found;
}

/* ---- a class of an image ---- */

static void suppress(suppression *s) {
    const struct xpu_nms_args *a = &s->args;
    const uint32_t count = (uint32_t)a->count, most = (uint32_t)a->most, y = (uint32_t)a->y + s->task * most * 4;
    s->blocks = s->last = 0;
    for (uint32_t i = 0; i < s->loaded; i++) s->scores[i] = nobody;
    mfence();
    for (uint32_t at = 0, n; at < most; at += n) {
        n = min_u32(s->loaded, most - at);
        xpu_wait(LM2GM(y + at * 4, s->scores, n * 4));
    }
    for (uint32_t first = 0, n; first < count; first += n) {
        n = min_u32(s->loaded, count - first);
        xpu_wait(GM2LM(s->scores, (uint32_t)a->scores + (s->task * count + first) * 4, n * 4));
        find_candidates(s, first, n);
    }
    if (s->blocks) move_block(s, s->blocks, 1);
    best chosen = {.key = 0};
    for (uint32_t i = 0; i < most; i++) {
        chosen = pass(s, &chosen);
        if (!chosen.key) return;
        *(volatile uint32_t *)(uintptr_t)(y + i * 4) = chosen.index;
    }
}

static float scalar(uint32_t address) {
    return address ? *(const volatile float *)(uintptr_t)address : 0;
}

static void nms_share(const void *args, uint32_t core, uint32_t cores) {
    suppression s = {.args = *(const struct xpu_nms_args *)args};
    uint32_t available, first, last;
    s.scores = (uint32_t *)lm_floats(&available);
    s.loaded = round_up(available / 20, LEAST_LOADED);
    s.boxes = s.scores + s.loaded;
    s.planes = s.boxes + 4 * s.loaded;
    s.room = round_down((available - 5 * s.loaded) / PLANES, 16);
    s.room = min_u32(s.room, XA_NMS_ROOM);
    s.scratch = (uint32_t)s.args.scratch + core * (uint32_t)s.args.scratch_bytes;
    s.overlap = scalar(s.args.overlap);
    s.threshold = scalar(s.args.threshold);
    partition(core, cores, (uint32_t)s.args.tasks, 1, &first, &last);
    for (s.task = first; s.task < last; s.task++) suppress(&s);
}

xpu_ticket xpu_nms(const struct xpu_nms_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(nms_share, args, layer, after);
}
