#include "sim/func/post.h"

#include <string.h>

/* Reads a float that an optional address points at. */
static int read_float(const xpu_func_job *job, const char *field, uint64_t address, float *value) {
    const uint8_t *bytes = xpu_func_job_memory(job, field, address, 4, 4, 0);
    if (!bytes) return -1;
    memcpy(value, bytes, 4);
    return 0;
}

static int bad(const xpu_post *post, const char *reason) {
    return xpu_func_engine_fault(post->job, XPU_FAULT_DESCRIPTOR, post->job->address, "%s", reason);
}

static int is_byte(uint32_t type) {
    return type == XPU_TYPE_I8 || type == XPU_TYPE_U8;
}

static int is_float_type(uint32_t type) {
    return type == XPU_TYPE_F32 || type == XPU_TYPE_I16 || type == XPU_TYPE_I8;
}

/* What the two modes allow. */
static int check_fields(const xpu_post *post) {
    const xpu_desc_post *d = &post->d;
    int quantised = d->post_mode == XPU_POST_QUANTISED;
    if (!d->oh || !d->ow || !d->columns) return bad(post, "oh, ow and columns are at least 1");
    if (d->activation == XPU_ACT_HARD_SWISH && (quantised || d->y_type != XPU_TYPE_F32 || d->branch))
        return bad(post, "hard swish is for float mode with float32 results and no branch");
    if (d->clip_last && (quantised || d->y_type != XPU_TYPE_F32 || d->activation == XPU_ACT_HARD_SWISH))
        return bad(post, "clip_last is for float mode with float32 results and no hard swish");
    if (quantised ? !is_byte(d->y_type) : !is_float_type(d->y_type))
        return bad(post, "y_type is none of this post_mode");
    if (d->branch && (quantised ? !is_byte(d->branch_type) : !is_float_type(d->branch_type)))
        return bad(post, "branch_type is none of this post_mode");
    if (quantised && (d->bias || d->findmax)) return bad(post, "bias and findmax are for float mode only");
    if (!quantised && d->lookup) return bad(post, "lookup is for quantised mode only");
    return 0;
}

static int open_boxes(xpu_post *post) {
    const xpu_desc_post *d = &post->d;
    unsigned y_bytes = xpu_func_type_bytes(d->y_type), branch_bytes = xpu_func_type_bytes(d->branch_type);
    post->y = (xpu_func_box){
        d->y, {d->oh, d->ow, d->columns, 1}, {d->y_row_stride, d->y_pixel_stride, (int32_t)y_bytes, 0}, y_bytes, 1,
        NULL};
    if (xpu_func_sm_box(post->job, &post->y, "y", y_bytes)) return -1;
    if (!d->branch) return 0;
    post->branch = (xpu_func_box){d->branch,
                                  {d->oh, d->ow, d->columns, 1},
                                  {d->branch_row_stride, d->branch_pixel_stride, (int32_t)branch_bytes, 0},
                                  branch_bytes,
                                  0,
                                  NULL};
    return xpu_func_sm_box(post->job, &post->branch, "branch", branch_bytes);
}

/* The scale of x, from memory where the descriptor says so. */
static int open_absmax(xpu_post *post, int32_t x_limit) {
    float absmax;
    post->x_scale = post->params.x_scale;
    if (!post->d.absmax) return 0;
    if (!x_limit) return bad(post, "absmax goes with an int8 or int16 input only");
    if (read_float(post->job, "absmax", post->d.absmax, &absmax)) return -1;
    post->x_scale = xa_absmax_scale(absmax, x_limit);
    return 0;
}

/* An optional vector of a float per column. */
static int open_columns(const xpu_post *post, const char *field, uint64_t address, const uint8_t **bytes) {
    *bytes = address ? xpu_func_job_memory(post->job, field, address, (uint64_t)post->d.columns * 4, 4, 0) : NULL;
    return address && !*bytes ? -1 : 0;
}

int xpu_post_open(xpu_post *post, const xpu_func_job *job, int32_t x_limit) {
    post->job = job;
    post->rows = job->func->rows;
    xpu_desc_post_unpack(job->words, &post->d);
    const xpu_desc_post *d = &post->d;
    const uint8_t *params = xpu_func_job_memory(job, "params", d->params, sizeof post->params, 4, 0);
    if (!params) return -1;
    memcpy(&post->params, params, sizeof post->params);
    if (check_fields(post) || open_boxes(post)) return -1;
    post->lookup = NULL;
    if (d->lookup && !(post->lookup = xpu_func_job_memory(job, "lookup", d->lookup, 256, 1, 0))) return -1;
    post->findmax = NULL;
    if (d->findmax) {
        uint8_t *bytes = xpu_func_job_memory(job, "findmax", d->findmax, 4, 4, 1);
        if (!bytes) return -1;
        post->findmax = (float *)(void *)bytes;
    }
    return open_absmax(post, x_limit) || open_columns(post, "scale", d->scale, &post->scale_at) ||
                   open_columns(post, "bias", d->bias, &post->bias_at)
               ? -1
               : 0;
}

/* A float per column of the current group, from memory or the same for all. */
static void read_columns(const xpu_post *post, const uint8_t *from, float same, float *out) {
    if (from)
        memcpy(out, from + (size_t)post->first_column * 4, (size_t)post->columns * 4);
    else
        for (uint32_t i = 0; i < post->columns; i++) out[i] = same;
}

int xpu_post_columns(xpu_post *post, uint32_t first_column, int32_t w_limit) {
    uint32_t rest = post->d.columns - first_column;
    post->first_column = first_column;
    post->columns = rest < XPU_POST_COLUMNS ? rest : XPU_POST_COLUMNS;
    float w_scale = post->params.w_scale;
    if (!post->d.scale && post->params.w_absmax) {
        float absmax;
        if (read_float(post->job, "w_absmax", post->params.w_absmax, &absmax)) return -1;
        w_scale = xa_absmax_scale(absmax, w_limit);
    }
    read_columns(post, post->scale_at, w_scale, post->scale);
    for (uint32_t i = 0; i < post->columns; i++) post->scale[i] = xa_channel_scale(post->x_scale, post->scale[i]);
    read_columns(post, post->bias_at, 0.0f, post->bias);
    return 0;
}

/* Host address of a pixel's first column of the current group. */
static uint8_t *at(const xpu_post *post, const xpu_func_box *box, uint32_t row, uint32_t pixel) {
    return box->bytes_at + (int64_t)row * box->stride[0] + (int64_t)pixel * box->stride[1] +
           (size_t)post->first_column * box->bytes;
}

/* A combination of two operands in quantised mode: residual after stage 1, or the operators of kind post. */
static void quantised_branch(const xpu_post *post, uint32_t op, const uint8_t *branch, const int32_t *q, int32_t *y) {
    const xpu_post_params *p = &post->params;
    const float factors[] = {p->ra, p->rb, p->f}, swapped[] = {p->rb, p->ra, p->f};
    const xpu_row_limits limits = {0, p->lo2, p->hi2};
    int32_t b[XPU_POST_COLUMNS];
    for (uint32_t i = 0; i < post->columns; i++)
        b[i] = post->d.branch_type == XPU_TYPE_U8 ? branch[i] : (int8_t)branch[i];
    if (op == XPU_POST_MUL)
        for (uint32_t i = 0; i < post->columns; i++)
            y[i] = xa_qmul(q[i], p->za, b[i], p->zb, p->ra, p->zero, p->lo2, p->hi2);
    else if (post->d.branch_first)
        post->rows->quantised_add(b, q, swapped, limits, post->columns, y);
    else
        post->rows->quantised_add(q, b, factors, limits, post->columns, y);
}

void xpu_post_quantised_row(const xpu_post *post, uint32_t row, uint32_t pixel, const int32_t *q) {
    const xpu_post_params *p = &post->params;
    uint32_t n = post->columns, op = post->op;
    int32_t y[XPU_POST_COLUMNS];
    uint8_t *out = at(post, &post->y, row, pixel);
    if (op == XPU_POST_SCALE) {
        post->rows->requantise(q, post->scale, (xpu_row_limits){p->zero, p->lo.i, p->hi.i}, n, y);
        q = y;
    }
    if (post->d.branch) quantised_branch(post, op, at(post, &post->branch, row, pixel), q, y);
    post->rows->to_bytes(y, n, out);
    if (post->lookup)
        for (uint32_t i = 0; i < n; i++) out[i] = post->lookup[out[i]];
}

/* The branch as float32. */
static void read_branch(const xpu_post *post, uint32_t row, uint32_t pixel, float *out) {
    const uint8_t *bytes = at(post, &post->branch, row, pixel);
    uint32_t n = post->columns;
    if (post->d.branch_type == XPU_TYPE_F32)
        memcpy(out, bytes, (size_t)n * 4);
    else if (post->d.branch_type == XPU_TYPE_I16)
        post->rows->of_int16((const int16_t *)(const void *)bytes, n, post->params.branch_scale, out);
    else
        post->rows->of_int8((const int8_t *)bytes, n, post->params.branch_scale, out);
}

static void activate(const xpu_post *post, float *y) {
    const xpu_post_params *p = &post->params;
    if (post->d.activation == XPU_ACT_CLIP) post->rows->clip(p->lo.f, p->hi.f, post->columns, y);
    if (post->d.activation == XPU_ACT_LEAKY) post->rows->leaky(p->slope, post->columns, y);
    if (post->d.activation == XPU_ACT_HARD_SWISH) post->rows->hard_swish(p->ra, p->f, post->columns, y);
}

/* xa_post_floating; op mul: the branch is a factor before the activation; perhaps clipped then. */
static void float_row(const xpu_post *post, const float *v, const float *branch, float *y) {
    uint32_t n = post->columns;
    int last = post->op == XPU_POST_MUL || post->d.act_after;
    post->rows->scale(v, post->scale, post->d.bias ? post->bias : NULL, n, y);
    if (!last) activate(post, y);
    if (branch) (post->op == XPU_POST_MUL ? post->rows->multiply : post->rows->add)(branch, n, y);
    if (last) activate(post, y);
    if (post->d.clip_last) post->rows->clip(post->params.ra, post->params.rb, n, y);
}

void xpu_post_float_row(const xpu_post *post, uint32_t row, uint32_t pixel, const float *v) {
    uint32_t n = post->columns;
    float y[XPU_POST_COLUMNS], branch[XPU_POST_COLUMNS];
    uint8_t *out = at(post, &post->y, row, pixel);
    if (post->d.branch) read_branch(post, row, pixel, branch);
    float_row(post, v, post->d.branch ? branch : NULL, y);
    if (post->findmax) *post->findmax = xa_absmax(*post->findmax, post->rows->absmax(y, n));
    if (post->d.y_type == XPU_TYPE_F32) {
        post->rows->canonical(n, y); /* the chip makes no other NaN */
        memcpy(out, y, (size_t)n * 4);
    } else if (post->d.y_type == XPU_TYPE_I16) {
        post->rows->to_int16(y, n, post->params.out_scale, (int16_t *)(void *)out);
    } else {
        post->rows->to_int8(y, n, post->params.out_scale, (int8_t *)out);
    }
}

/* ---- kind post: x from SM ---- */

/* Integers of one type less za, which wraps, and their values. */
#define READ_INTEGERS(type)                                                                                            \
    for (uint32_t i = 0; i < n; i++) {                                                                                 \
        type word;                                                                                                     \
        memcpy(&word, bytes + i * sizeof word, sizeof word);                                                           \
        q[i] = (int32_t)((uint32_t)word - za);                                                                         \
        v[i] = (float)q[i];                                                                                            \
    }

/* The columns of one pixel of x: integers less za into q, or values into v. */
static void read_x(const xpu_post *post, const uint8_t *bytes, int subtract, int32_t *q, float *v) {
    uint32_t n = post->columns, za = subtract ? (uint32_t)post->params.za : 0;
    switch (post->d.x_type) {
    case XPU_TYPE_F32: memcpy(v, bytes, (size_t)n * 4); break;
    case XPU_TYPE_I32: READ_INTEGERS(int32_t); break;
    case XPU_TYPE_I16: READ_INTEGERS(int16_t); break;
    case XPU_TYPE_U8: READ_INTEGERS(uint8_t); break;
    default: READ_INTEGERS(int8_t);
    }
}

static int check_post(const xpu_post *post) {
    const xpu_desc_post *d = &post->d;
    int quantised = d->post_mode == XPU_POST_QUANTISED;
    if (d->op > XPU_POST_MUL) return bad(post, "op is 0, 1 or 2");
    if (d->op != XPU_POST_SCALE && !d->branch) return bad(post, "add and multiply need a branch");
    if (d->op == XPU_POST_ADD && !quantised)
        return bad(post, "op add is of quantised mode; use op scale with a branch");
    if (quantised && d->x_type == XPU_TYPE_F32) return bad(post, "x is an integer in quantised mode");
    if (quantised && d->op != XPU_POST_SCALE && !is_byte(d->x_type))
        return bad(post, "x has 8 bits in a quantised add or multiply");
    return 0;
}

int xpu_func_post(const xpu_func_job *job) {
    xpu_post post;
    uint32_t x_type = xpu_desc_post_get_x_type(job->words);
    unsigned bytes = xpu_func_type_bytes(x_type);
    int32_t x_limit = x_type == XPU_TYPE_I16 ? XA_I16_MAX : x_type == XPU_TYPE_I8 ? 127 : 0;
    if (!bytes)
        return xpu_func_engine_fault(job, XPU_FAULT_DESCRIPTOR, job->address, "x_type %u does not exist", x_type);
    if (xpu_post_open(&post, job, x_limit)) return -1;
    const xpu_desc_post *d = &post.d;
    post.op = d->op;
    if (check_post(&post)) return -1;
    xpu_func_box x = {
        d->x, {d->oh, d->ow, d->columns, 1}, {d->x_row_stride, d->x_pixel_stride, (int32_t)bytes, 0}, bytes, 0, NULL};
    if (xpu_func_sm_box(job, &x, "x", bytes)) return -1;
    for (uint32_t first = 0; first < d->columns; first += XPU_POST_COLUMNS) {
        if (job->func->extent == XPU_FUNC_CHECK_BEGIN) return 0;
        if (xpu_post_columns(&post, first, XA_I16_MAX)) return -1;
        if (xpu_func_checks(job)) return 0; /* w_absmax is the same for all columns */
        for (uint32_t row = 0; row < d->oh; row++)
            for (uint32_t pixel = 0; pixel < d->ow; pixel++) {
                int32_t q[XPU_POST_COLUMNS];
                float v[XPU_POST_COLUMNS];
                read_x(&post, at(&post, &x, row, pixel), d->op == XPU_POST_SCALE || d->post_mode == XPU_POST_FLOAT, q,
                       v);
                if (d->post_mode == XPU_POST_QUANTISED)
                    xpu_post_quantised_row(&post, row, pixel, q);
                else
                    xpu_post_float_row(&post, row, pixel, v);
            }
    }
    return 0;
}
