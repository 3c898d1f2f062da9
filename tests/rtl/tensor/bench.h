/* What the benches of engines with a post-processor share: memory of a list of descriptors, random post-processor
 * fields, the functional engine beside the RTL. */
#ifndef XPU_TESTS_RTL_TENSOR_BENCH_H
#define XPU_TESTS_RTL_TENSOR_BENCH_H

#include "sim/func/driver.h"
#include "sim/func/func.h"
#include "tests/rtl/tensor/rtl.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

/* Memory of a list: inputs, then what descriptor i owns. */
enum {
    X_AT = 0x20001000,
    X_BYTES = 0x20000,
    W_AT = 0x20021000,
    W_BYTES = 0x20000,
    BRANCH_AT = 0x20041000,
    BRANCH_BYTES = 0x20000,
    Y_AT = 0x20061000,
    Y_BYTES = 0x18000,
    LIST = 6,
    SMALL_AT = 0x40000000,
    SMALL_BYTES = 0x2000,
    PARAMS = 0,
    SCALE = 0x80,
    BIAS = 0x880,
    START = 0x1080,
    TABLE = 0x1900,
    FINDMAX = 0x1a10,
    ABSMAX = 0x1a20,
    W_ABSMAX = 0x1a24,
    NOWHERE = 0x30000040
};

/* Prints descriptor i of a list that went wrong. */
typedef void describe_fn(const uint32_t *words, unsigned i);

typedef struct {
    xpurt_device *device;
    xpu_func *func;
    rtl *rtl;
    uint64_t random;
    unsigned passed, failed;
    uint32_t fault_address;
    unsigned engine;
    describe_fn *describe;
} bench;

/* Both chips for an engine; 0 if the functional one cannot be had. bench_close prints the counts and returns the
 * program's exit code. */
int bench_open(bench *b, const xpu_chip *chip, unsigned engine, describe_fn *describe, xpu_diags *diags);
int bench_close(bench *b, xpu_diags *diags);

/* Bytes of an element type. */
extern const unsigned type_size[5];

uint32_t bits_int(int x);

/* A number below bound; from low to high. */
uint32_t draw(bench *b, uint32_t bound);
int draw_between(bench *b, int low, int high);

/* Memory of the functional chip: the byte at an address, a word, random words. */
uint8_t *host(const bench *b, uint32_t address);
void store(const bench *b, uint32_t address, uint32_t word);
void scribble(bench *b, uint32_t address, uint32_t bytes);

/* The bits of a float: mostly of moderate size, at times any pattern. */
uint32_t draw_float(bench *b, float size);

/* Parameters and vectors of one descriptor at `at`. */
void draw_small(bench *b, uint32_t at, int quantised, float scale);

/* Strides of rows of pixels, at times backwards; pixels or rows that are only read may all be the same one. Returns how
 * far the first pixel is behind the lowest address. */
uint32_t draw_strides(bench *b, const xpu_desc_post *d, unsigned element, int is_read, int32_t *pixel, int32_t *row);

/* What the kinds tensor, post and window share. */
void draw_post(bench *b, xpu_desc_post *d, unsigned index);

/* Runs a list on the functional engine. Returns the cause of a fault; its address is in b->fault_address then. */
int func_run(bench *b, const uint32_t *words, unsigned count);

/* Words that differ other than in the bits of a NaN. */
unsigned differences(const bench *b, uint32_t from, uint32_t bytes, uint32_t *where);

/* The functional chip's SM and L3 to the RTL's. */
void copy_memory(const bench *b);

/* Runs a list that must have no fault on the functional engine. Returns whether it has none. */
int func_runs(bench *b, const uint32_t *words, unsigned count, uint32_t seed);

/* Runs the list on the RTL and compares memory with what the functional engine has left. */
void compare_list(bench *b, const uint32_t *words, unsigned count, uint32_t seed, uint32_t timing);

/* Sets one field of a legal descriptor: both engines must have the same fault then, or none. */
void compare_fault(bench *b, uint32_t *words, const char *kind, const char *field, uint64_t value);

#endif
