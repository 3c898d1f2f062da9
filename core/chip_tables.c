/* Tables and names made from core/chip.def. */
#include "core/chip.h"

#include <string.h>

const char *xpu_lost_text(xpu_lost_cause cause) {
    static const char *const texts[] = {
#define X(name, text, doc) text,
        XPU_LOST_CAUSES(X)
#undef X
    };
    return (unsigned)cause < XPU_LOST_COUNT ? texts[cause] : "unknown";
}

const char *xpu_fault_text(xpu_fault_cause cause) {
    static const char *const texts[] = {
#define X(name, text, doc) text,
        XPU_FAULT_CAUSES(X)
#undef X
    };
    return (unsigned)cause < XPU_FAULT_COUNT ? texts[cause] : "unknown";
}

enum {
#define X(name, opcode, engine, doc) OPCODE_##name = opcode,
    XPU_DESC_KINDS(X)
#undef X
};

const xpu_desc_field xpu_desc_fields[] = {
#define X(kind, name, word, bit, width, hi, type, doc)                                                                 \
    {#kind, #name, OPCODE_##kind, word, bit, width, hi, #type[0], doc},
    XPU_DESC_FIELDS(X)
#undef X
};
const unsigned xpu_desc_field_count = sizeof xpu_desc_fields / sizeof *xpu_desc_fields;

static uint32_t low_bits(unsigned width) {
    return width >= 32 ? ~(uint32_t)0 : ((uint32_t)1 << width) - 1;
}

uint64_t xpu_desc_get(const uint32_t *words, const xpu_desc_field *field) {
    uint64_t bits = (words[field->word] >> field->bit) & low_bits(field->width);
    if (field->hi) bits |= (uint64_t)((words[field->hi / 32] >> (field->hi % 32)) & 0xff) << 32;
    return bits;
}

static void set_bits(uint32_t *word, unsigned bit, unsigned width, uint32_t value) {
    uint32_t mask = low_bits(width) << bit;
    *word = (*word & ~mask) | ((value << bit) & mask);
}

void xpu_desc_set(uint32_t *words, const xpu_desc_field *field, uint64_t bits) {
    set_bits(&words[field->word], field->bit, field->width, (uint32_t)bits);
    if (field->hi) set_bits(&words[field->hi / 32], field->hi % 32, 8, (uint32_t)(bits >> 32));
}

const char *xpu_desc_kind_name(unsigned opcode) {
    switch (opcode) {
#define X(name, opcode, engine, doc)                                                                                   \
    case opcode: return #name;
        XPU_DESC_KINDS(X)
#undef X
    default: return NULL;
    }
}

const char *xpu_engine_name(unsigned engine) {
    switch (engine) {
#define X(name, number, doc)                                                                                           \
    case number: return #name;
        XPU_CHIP_ENGINES(X)
#undef X
    default: return "unknown";
    }
}

enum {
#define X(name, number, doc) ENGINE_##name = number,
    XPU_CHIP_ENGINES(X)
#undef X
};

unsigned xpu_chip_engines(const xpu_chip *chip) {
    return chip->window_channels ? ENGINE_WINDOW + 1 : ENGINE_WINDOW;
}

unsigned xpu_chip_queues(const xpu_chip *chip, unsigned engine) {
    return engine < ENGINE_TENSOR ? chip->cores : 1;
}

const char *xpu_register_name(uint32_t offset) {
#define X(name, base, count, stride, access, reset, doc)                                                               \
    if (offset - base < count * stride && (offset - base) % stride == 0) return #name;
    XPU_CHIP_REGISTERS(X)
#undef X
    return NULL;
}
