/*
 * The chip description: the numbers of configs/chip/NAME.json, and tables made from core/chip.def.
 * Constants for programs (registers, descriptor fields) are in xpu_runtime/include/generated/xpu_chip_regs.h.
 */
#ifndef XPU_CORE_CHIP_H
#define XPU_CORE_CHIP_H

#include "base/diag.h"
#include "core/chip.def"

enum { XPU_CHIP_NAME_BYTES = 64 };

/* XPU_CHIP_COUNTERS, XPU_CHIP_DESC_WORDS, XPU_CHIP_ABI_VERSION, ... */
enum {
#define X(name, value, doc) XPU_CHIP_##name = value,
    XPU_CHIP_CONSTANTS(X)
#undef X
};

/* Plain numbers, one per key of XPU_CHIP_KEYS: array_rows, array_columns, acc_banks, acc_rows, weight_rows, post_lanes,
 * cores, lm_bytes, ..., sm_bytes, ..., l3_bytes, ..., gm_bytes, gm_rate, gm_latency, ... */
typedef struct xpu_chip {
    char name[XPU_CHIP_NAME_BYTES];
#define X(section, key, field, kind, min, max, doc) uint32_t field;
    XPU_CHIP_KEYS(X)
#undef X
} xpu_chip;

/* Reads a chip by name ("standard": folder/standard.json) or, where `name` holds a '/' or ends in ".json", by path.
 * `folder` is the chip folder (configs/chip of the installation). All problems are reported (XPU_EUSAGE): unknown,
 * missing and out-of-range keys [json-...], contradictory keys [chip-...]. */
xpu_status xpu_chip_load(xpu_arena *arena, const char *folder, const char *name, xpu_chip *chip, xpu_diags *diags);

/* The same from JSON text; `file` stands for the file in messages. */
xpu_status xpu_chip_parse(xpu_arena *arena, const char *text, size_t length, const char *file, xpu_chip *chip,
                          xpu_diags *diags);

/* Which keys a run may change: ABI keys change results or layout, TIME keys are built into the Verilated chip. */
typedef enum { XPU_CHIP_ABI, XPU_CHIP_TIME, XPU_CHIP_RUN } xpu_chip_key_kind;

/* Number of a key by its name ("gm.bytes_per_cycle"), or -1: there is none. */
int xpu_chip_key(const char *name);
xpu_chip_key_kind xpu_chip_key_is(int key);
uint32_t xpu_chip_key_value(const xpu_chip *chip, int key);
void xpu_chip_key_set(xpu_chip *chip, int key, uint32_t value);
/* The names of all keys of at least this kind, NULL terminated, in `arena`. */
const char *const *xpu_chip_key_names(xpu_arena *arena, xpu_chip_key_kind kind);

/* Checks the cross-key rules on a description that was made or changed in memory. */
xpu_status xpu_chip_check(xpu_arena *arena, const xpu_chip *chip, const char *file, xpu_diags *diags);

/* JSON text that xpu_chip_parse reads back to the same description. */
char *xpu_chip_json(xpu_arena *arena, const xpu_chip *chip);

/* Hash of the keys that change results or layout (FNV-1a, 32 bits); register ABI_HASH. */
uint32_t xpu_chip_abi_hash(const xpu_chip *chip);

/* The ABI keys in which two chips differ as text for a message, for example "array.rows 32 against 8". */
char *xpu_chip_abi_difference(xpu_arena *arena, const xpu_chip *a, const xpu_chip *b);

typedef enum {
#define X(name, text, doc) XPU_LOST_##name,
    XPU_LOST_CAUSES(X)
#undef X
        XPU_LOST_COUNT
} xpu_lost_cause;
const char *xpu_lost_text(xpu_lost_cause cause);

typedef enum {
#define X(name, text, doc) XPU_FAULT_##name,
    XPU_FAULT_CAUSES(X)
#undef X
        XPU_FAULT_COUNT
} xpu_fault_cause;
const char *xpu_fault_text(xpu_fault_cause cause);

/* One field of a descriptor, see XPU_DESC_FIELDS. */
typedef struct {
    const char *kind, *name;
    unsigned opcode, word, bit, width, hi;
    char type; /* 'U', 'S', 'F' or 'A' */
    const char *doc;
} xpu_desc_field;
extern const xpu_desc_field xpu_desc_fields[];
extern const unsigned xpu_desc_field_count;

/* The raw bits of a field in the 32 words of a descriptor, not sign-extended. */
uint64_t xpu_desc_get(const uint32_t *words, const xpu_desc_field *field);
void xpu_desc_set(uint32_t *words, const xpu_desc_field *field, uint64_t bits);

/* Engines of this chip: numbers 0 to this - 1. */
unsigned xpu_chip_engines(const xpu_chip *chip);
/* Queues of an engine of the chip: one of each core, or core 0's alone. */
unsigned xpu_chip_queues(const xpu_chip *chip, unsigned engine);

const char *xpu_desc_kind_name(unsigned opcode); /* "copy"; NULL for an unknown opcode */
const char *xpu_engine_name(unsigned engine);    /* "DMA0" */
const char *xpu_register_name(uint32_t offset);  /* "BARRIER"; NULL where there is none */

#endif
