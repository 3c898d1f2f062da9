/*
 * The frame of generated elementwise loops: moves blocks of every input into LM, calls the loop's body, and moves the
 * result out, with inputs of the next block on their way meanwhile. A broadcast input arrives spread out, so the body
 * sees dense blocks only.
 *
 * The result may lie on an operand that stands in its order: blocks do not overlap, and each is loaded before it is
 * stored.
 */
#include "xpu_runtime/kernels/common.h"

enum { INPUTS = 6, VECTOR = 64 };

/* A block: `rows` rows (along d2) of `width` elements (along d3). */
struct block {
    uint32_t outer0, outer1, row, rows, column, width;
};

struct frame {
    const struct xpu_chain_args *a;
    uint32_t shift[INPUTS + 1]; /* typed: logarithms of element sizes, the last one of the result's */
    uint32_t inputs, rows, width, row_blocks, column_blocks;
    uint32_t loads; /* inputs that the next block needs */
    char *in[2][INPUTS], *out[2];
};

static inline uint32_t size_of(const struct frame *f, int dim) {
    return (uint32_t)f->a->d[dim];
}

/* `typed` is a literal in every call: without it elements have 4 bytes, and nothing is looked up. */
#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t shift_of(const struct frame *f, uint32_t i, int typed) {
    return typed ? f->shift[i] : 2;
}

/* Elements of every input and of the result that LM has room for twice. */
INLINE uint32_t room_of(const struct frame *f, uint32_t lm_bytes, int typed) {
    enum { LEAST = 16 }; /* of all types: six inputs and a result of 8 bytes fit the smallest LM */
    if (!typed) return round_down(lm_bytes / (8 * (f->inputs + 1)), VECTOR);
    uint32_t bytes = 1u << f->shift[INPUTS];
    for (uint32_t i = 0; i < f->inputs; i++) bytes += 1u << f->shift[i];
    uint32_t room = lm_bytes / (2 * bytes);
    return round_down(room, room < VECTOR ? LEAST : VECTOR);
}

/* Blocks fit LM twice, with every input; there are enough of them for all cores where there is enough to do. */
INLINE void choose_block(struct frame *f, uint32_t cores, int typed) {
    uint32_t available, all_rows = size_of(f, 0) * size_of(f, 1) * size_of(f, 2);
    char *lm = (char *)lm_floats(&available);
    uint32_t room = room_of(f, 4 * available, typed);
    const uint32_t rows = size_of(f, 2), columns = size_of(f, 3);
    f->width = min_u32(columns, room);
    if (all_rows < cores) {
        uint32_t share = quotient_up(columns, quotient_up(cores, all_rows));
        f->width = min_u32(f->width, round_up(share, VECTOR));
    }
    f->rows = f->width < columns ? 1 : min_u32(rows, quotient(room, f->width));
    f->rows = min_u32(f->rows, quotient_up(all_rows, cores));
    f->column_blocks = quotient_up(columns, f->width);
    f->row_blocks = quotient_up(rows, f->rows);
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t i = 0; i < f->inputs; i++) {
            f->in[half][i] = lm;
            lm += room << shift_of(f, i, typed);
        }
        f->out[half] = lm;
        lm += room << shift_of(f, INPUTS, typed);
    }
}

/* *index becomes a multiple of `count` less; returns what is left of it. */
static inline uint32_t take(uint32_t *index, uint32_t count) {
    uint32_t whole = quotient(*index, count), rest = *index - whole * count;
    *index = whole;
    return rest;
}

static struct block block_at(const struct frame *f, uint32_t index) {
    struct block b;
    b.column = take(&index, f->column_blocks) * f->width;
    b.row = take(&index, f->row_blocks) * f->rows;
    b.outer1 = take(&index, size_of(f, 1));
    b.outer0 = index;
    b.rows = min_u32(f->rows, size_of(f, 2) - b.row);
    b.width = min_u32(f->width, size_of(f, 3) - b.column);
    return b;
}

/* How many inputs every block loads: the last ones are left out that are the same row again and again, or the same
 * element. They stay where the first block of each half has them, which has the most rows. */
static uint32_t find_loads(const struct frame *f) {
    uint32_t loads = f->inputs;
    if (size_of(f, 0) != 1 || size_of(f, 1) != 1 || f->column_blocks != 1) return loads;
    while (loads > 1 && f->a->strides[4 * loads - 2] == 0) loads--;
    return loads;
}

INLINE xpu_ticket load_block(const struct frame *f, const struct block *b, uint32_t half, int typed) {
    xpu_ticket ticket = {XPU_COUNTER_CALL, 0};
    for (uint32_t i = 0; i < f->loads; i++) {
        const int32_t *s = f->a->strides + 4 * i;
        uint32_t shift = shift_of(f, i, typed);
        int32_t at =
            (int32_t)b->outer0 * s[0] + (int32_t)b->outer1 * s[1] + (int32_t)b->row * s[2] + (int32_t)b->column * s[3];
        uint32_t from = f->a->x[i] + ((uint32_t)at << shift);
        uint32_t width = s[3] ? b->width : 1, rows = b->rows;
        if (width == b->width && s[2] == (int32_t)b->width) {
            width *= rows;
            rows = 1;
        }
        int32_t stride = (int32_t)((uint32_t)s[2] << shift), row_bytes = (int32_t)(width << shift);
        ticket = typed ? xpu_load_elements(f->in[half][i], row_bytes, from, stride, width, rows, 1u << shift)
                       : xpu_load_2d(f->in[half][i], row_bytes, from, stride, (uint32_t)row_bytes, rows);
    }
    return ticket;
}

/* Spreads one value per row over the row, last row first as they lie in the same place. */
#define SPREAD(name, type, bits, suffix, set)                                                                          \
    static void name(type *values, uint32_t rows, uint32_t width) {                                                    \
        for (uint32_t row = rows; row-- > 0;) {                                                                        \
            type value = values[row];                                                                                  \
            for (uint32_t done = 0; done < width;) {                                                                   \
                size_t vl = __riscv_vsetvl_e##bits##m4(width - done);                                                  \
                __riscv_vse##bits##_v_##suffix(values + row * width + done, __riscv_##set##_##suffix(value, vl), vl);  \
                done += (uint32_t)vl;                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }
SPREAD(spread, float, 32, f32m4, vfmv_v_f)
SPREAD(spread_bytes, uint8_t, 8, u8m4, vmv_v_x)
SPREAD(spread_halves, uint16_t, 16, u16m4, vmv_v_x)
#undef SPREAD

static void spread_wide(uint32_t *words, uint32_t rows, uint32_t width) {
    for (uint32_t row = rows; row-- > 0;) {
        uint32_t low = words[2 * row], high = words[2 * row + 1], *to = words + 2 * row * width;
        for (uint32_t done = 0; done < width;) {
            size_t vl = __riscv_vsetvl_e32m4(width - done);
            __riscv_vsse32_v_u32m4(to + 2 * done, 8, __riscv_vmv_v_x_u32m4(low, vl), vl);
            __riscv_vsse32_v_u32m4(to + 2 * done + 1, 8, __riscv_vmv_v_x_u32m4(high, vl), vl);
            done += (uint32_t)vl;
        }
    }
}

static void spread_typed(char *values, uint32_t rows, uint32_t width, uint32_t shift) {
    switch (shift) {
    case 0: spread_bytes((uint8_t *)values, rows, width); break;
    case 1: spread_halves((uint16_t *)values, rows, width); break;
    case 2: spread((float *)values, rows, width); break;
    default: spread_wide((uint32_t *)values, rows, width); break;
    }
}

INLINE xpu_ticket run_block(const struct frame *f, const struct block *b, uint32_t half, xpu_chain_body body,
                            int typed) {
    const float *in[INPUTS];
    for (uint32_t i = 0; i < f->inputs; i++) {
        in[i] = (const float *)f->in[half][i];
        if (f->a->strides[4 * i + 3]) continue;
        if (typed)
            spread_typed(f->in[half][i], b->rows, b->width, f->shift[i]);
        else
            spread((float *)f->in[half][i], b->rows, b->width);
    }
    body(in, f->a->c, (float *)f->out[half], b->rows * b->width);
    uint32_t row = (b->outer0 * size_of(f, 1) + b->outer1) * size_of(f, 2) + b->row, shift = shift_of(f, INPUTS, typed);
    uint32_t to = f->a->y + ((row * size_of(f, 3) + b->column) << shift), count = b->rows * b->width;
    return typed ? xpu_store_elements(to, f->out[half], count, 1u << shift) : LM2GM(to, f->out[half], 4 * count);
}

/* Of a chain of few elements core 0 takes none: it prepares the next layer meanwhile, which costs it as much. */
static inline int leaves_core_0_out(const struct xpu_chain_args *a, uint32_t cores) {
    enum { FEW = 1024 };
    return cores > 1 && a->d[0] * a->d[1] * a->d[2] <= FEW && a->d[0] * a->d[1] * a->d[2] * a->d[3] <= FEW;
}

INLINE void run_share(const struct xpu_chain_args *a, uint32_t sizes, uint32_t core, uint32_t cores, int typed) {
    struct frame f;
    uint32_t first, last;
    if (leaves_core_0_out(a, cores)) {
        if (core == 0) return;
        core--;
        cores--;
    }
    f.a = a;
    f.inputs = f.loads = (uint32_t)a->inputs;
    for (uint32_t i = 0; typed && i <= INPUTS; i++) f.shift[i] = sizes >> 2 * i & 3;
    choose_block(&f, cores, typed);
    partition(core, cores, size_of(&f, 0) * size_of(&f, 1) * f.row_blocks * f.column_blocks, 1, &first, &last);
    const uint32_t loads = find_loads(&f);
    xpu_ticket loaded = {XPU_COUNTER_CALL, 0}, stored[2] = {loaded, loaded};
    struct block next = {0};
    if (first < last) {
        next = block_at(&f, first);
        loaded = load_block(&f, &next, 0, typed);
    }
    for (uint32_t i = first, half = 0; i < last; i++, half ^= 1) {
        struct block now = next;
        xpu_ticket ready = loaded;
        if (i + 1 < last) {
            next = block_at(&f, i + 1);
            loaded = load_block(&f, &next, half ^ 1, typed);
            f.loads = loads;
        }
        xpu_wait(ready);
        xpu_wait(stored[half]);
        stored[half] = run_block(&f, &now, half, xpu_call_body(), typed);
    }
}

static void chain_share(const void *args, uint32_t core, uint32_t cores) {
    struct xpu_chain_args a;
    copy_words(&a, args, sizeof a / 4);
    run_share(&a, 0, core, cores, 0);
}

/* The words of chain, and one more. */
static void chain_typed_share(const void *args, uint32_t core, uint32_t cores) {
    struct xpu_chain_typed_args typed;
    copy_words(&typed, args, sizeof typed / 4);
    _Static_assert(sizeof typed == sizeof(struct xpu_chain_args) + sizeof(uint32_t), "sizes is the last word");
    run_share((const struct xpu_chain_args *)&typed, (uint32_t)typed.sizes, core, cores, 1);
}

/* ---- small planes ---- */

/* Planes are the elements of d[2] x d[3]: `rows` of `width`. */
struct planes {
    const struct xpu_chain_args *a;
    uint32_t inputs, rows, width, most; /* most: planes of a block */
    char *in[2][INPUTS], *out[2];
};

/* `count` planes of d[1], from `first` of index `outer` of d[0] on. */
struct plane_block {
    uint32_t outer, first, count;
};

static void place_planes(struct planes *p, uint32_t cores) {
    uint32_t available, plane = p->rows * p->width, all = (uint32_t)(p->a->d[0] * p->a->d[1]);
    char *lm = (char *)lm_floats(&available);
    uint32_t room = round_down(available / (2 * (p->inputs + 1)), VECTOR);
    if (room < plane) xpu_abort(ABORT_LOCAL_MEMORY);
    p->most = min_u32(min_u32((uint32_t)p->a->d[1], room / plane), quotient_up(all, cores));
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t i = 0; i < p->inputs; i++, lm += 4 * room) p->in[half][i] = lm;
        p->out[half] = lm;
        lm += 4 * room;
    }
}

/* An input's planes, one behind the other: in one transfer where they lie so, else in one for each row of a plane, or
 * for each plane. */
static xpu_ticket load_planes(const struct planes *p, const struct plane_block *b, uint32_t half, uint32_t i) {
    const int32_t *s = p->a->strides + 4 * i;
    uint32_t width = s[3] ? p->width : 1, plane = p->rows * width, row_bytes = 4 * width, plane_bytes = 4 * plane;
    uint32_t from = p->a->x[i] + 4 * ((uint32_t)s[0] * b->outer + (uint32_t)s[1] * b->first);
    int32_t row_stride = 4 * s[2], plane_stride = 4 * s[1];
    char *to = p->in[half][i];
    xpu_ticket ticket = {XPU_COUNTER_CALL, 0};
    if (p->rows == 1 || s[2] == (int32_t)width)
        return xpu_load_2d(to, (int32_t)plane_bytes, from, plane_stride, plane_bytes, b->count);
    if (p->rows <= b->count) {
        for (uint32_t row = 0; row < p->rows; row++, to += row_bytes, from += (uint32_t)row_stride)
            ticket = xpu_load_2d(to, (int32_t)plane_bytes, from, plane_stride, row_bytes, b->count);
        return ticket;
    }
    for (uint32_t n = 0; n < b->count; n++, to += plane_bytes, from += (uint32_t)plane_stride)
        ticket = xpu_load_2d(to, (int32_t)row_bytes, from, row_stride, row_bytes, p->rows);
    return ticket;
}

static xpu_ticket run_planes(const struct planes *p, const struct plane_block *b, uint32_t half, xpu_chain_body body) {
    const float *in[INPUTS];
    uint32_t count = b->count * p->rows * p->width;
    for (uint32_t i = 0; i < p->inputs; i++) {
        in[i] = (const float *)p->in[half][i];
        if (!p->a->strides[4 * i + 3]) spread((float *)p->in[half][i], b->count * p->rows, p->width);
    }
    body(in, p->a->c, (float *)p->out[half], count);
    uint32_t at = ((uint32_t)p->a->d[1] * b->outer + b->first) * p->rows * p->width;
    return LM2GM(p->a->y + 4 * at, p->out[half], 4 * count);
}

static void chain_planes_share(const void *args, uint32_t core, uint32_t cores) {
    struct xpu_chain_args a;
    copy_words(&a, args, sizeof a / 4);
    struct planes p = {.a = &a, .inputs = (uint32_t)a.inputs, .rows = (uint32_t)a.d[2], .width = (uint32_t)a.d[3]};
    uint32_t first, last;
    place_planes(&p, cores);
    const uint32_t blocks = quotient_up((uint32_t)a.d[1], p.most);
    partition(core, cores, (uint32_t)a.d[0] * blocks, 1, &first, &last);
    xpu_ticket loaded[2] = {{XPU_COUNTER_CALL, 0}, {XPU_COUNTER_CALL, 0}}, stored[2] = {loaded[0], loaded[0]};
    struct plane_block block[2];
    for (uint32_t i = first; i <= last; i++) {
        uint32_t half = i & 1;
        if (i < last) { /* the block to come */
            uint32_t index = i, column = take(&index, blocks) * p.most;
            block[half] = (struct plane_block){index, column, min_u32(p.most, (uint32_t)a.d[1] - column)};
            for (uint32_t k = 0; k < p.inputs; k++) loaded[half] = load_planes(&p, &block[half], half, k);
        }
        if (i == first) continue;
        xpu_wait(loaded[half ^ 1]);
        xpu_wait(stored[half ^ 1]);
        stored[half ^ 1] = run_planes(&p, &block[half ^ 1], half ^ 1, xpu_call_body());
    }
}

xpu_ticket xpu_chain_planes(const struct xpu_chain_planes_args *args, xpu_chain_body body, uint32_t layer,
                            xpu_ticket after) {
    _Static_assert(sizeof *args == sizeof(struct xpu_chain_args), "the words are those of chain");
    return xpu_run_on_cores_with(chain_planes_share, args, body, layer, after);
}

xpu_ticket xpu_chain(const struct xpu_chain_args *args, xpu_chain_body body, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores_with(chain_share, args, body, layer, after);
}

xpu_ticket xpu_chain_typed(const struct xpu_chain_typed_args *args, xpu_chain_body body, uint32_t layer,
                           xpu_ticket after) {
    return xpu_run_on_cores_with(chain_typed_share, args, body, layer, after);
}
