/* What a descriptor needs at least: cycles of the array and of the drain, bytes moved. Made from its words alone. */
#include "sim/harness/harness.h"

enum { LM, SM, L3, GM };

static unsigned type_bytes(uint32_t type) {
    switch (type) {
#define X(name, code, bytes, doc)                                                                                      \
    case code: return bytes;
        XPU_DESC_TYPES(X)
#undef X
    default: return 0;
    }
}

static void add_bytes(xpurt_completion *c, uint64_t address, uint64_t bytes) {
    c->bytes[address >= XPU_GM_BASE ? GM : address >= XPU_L3_BASE ? L3 : address >= XPU_SM_BASE ? SM : LM] += bytes;
}

static uint64_t times_rounded_up(uint64_t a, uint64_t b) {
    return b ? (a + b - 1) / b : 0;
}

/* Copy, fill and gather: sizes and the destination stand at the same places. */
static void transfer(const uint32_t *words, xpurt_completion *c) {
    xpu_desc_gather d;
    xpu_desc_gather_unpack(words, &d);
    uint64_t count = (uint64_t)d.size0 * d.size1 * d.size2 * d.size3;
    add_bytes(c, d.dst, count * type_bytes(d.dst_type));
    if (c->opcode != XPU_OPCODE_FILL) add_bytes(c, d.src, count * type_bytes(d.src_type));
    if (c->opcode == XPU_OPCODE_GATHER) {
        const uint32_t sizes[] = {d.size0, d.size1, d.size2, d.size3};
        add_bytes(c, d.index, 4 * (uint64_t)sizes[d.gather_dim]);
    }
}

static void post(const xpu_chip *chip, const uint32_t *words, xpurt_completion *c, int from_memory) {
    xpu_desc_post d;
    xpu_desc_post_unpack(words, &d);
    uint64_t pixels = (uint64_t)d.oh * d.ow, elements = pixels * d.columns;
    c->drain_cycles = pixels * times_rounded_up(d.columns, chip->post_lanes);
    add_bytes(c, d.y, elements * type_bytes(d.y_type));
    if (d.branch) add_bytes(c, d.branch, elements * type_bytes(d.branch_type));
    if (from_memory) add_bytes(c, d.x, elements * type_bytes(d.x_type));
}

static void multiply(const xpu_chip *chip, const uint32_t *words, xpurt_completion *c) {
    xpu_desc_tensor d;
    xpu_desc_tensor_unpack(words, &d);
    uint64_t pixels = (uint64_t)d.oh * d.ow, depth = (uint64_t)d.kh * d.kw * d.channels;
    uint64_t steps = d.mode == XPU_OPERANDS_16X16 ? 4 : d.mode == XPU_OPERANDS_16X8 ? 2 : 1;
    c->macs = pixels * depth * d.columns;
    c->array_cycles = pixels * times_rounded_up(depth, chip->array_rows) * steps;
    add_bytes(c, d.w, depth * d.columns * (d.mode == XPU_OPERANDS_16X16 ? 2 : 1));
    add_bytes(c, d.x, (uint64_t)d.tile_rows * d.tile_cols * d.channels * (d.mode == XPU_OPERANDS_8X8 ? 1 : 2));
    if (d.drain) post(chip, words, c, 0);
}

void xpu_rtl_bounds(const xpu_chip *chip, const uint32_t *words, xpurt_completion *completion) {
    switch (completion->opcode) {
    case XPU_OPCODE_COPY:
    case XPU_OPCODE_FILL:
    case XPU_OPCODE_GATHER: transfer(words, completion); break;
    case XPU_OPCODE_TENSOR: multiply(chip, words, completion); break;
    case XPU_OPCODE_POST: post(chip, words, completion, 1); break;
    default: break;
    }
}
