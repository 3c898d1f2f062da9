/*
 * Dimensions as expressions over named symbols: hash-consed, so equal expressions have equal handles.
 * +, x, floor division, modulo, min, max; each symbol has a range and a step (`--shape x=N,3,32..224:32,W`).
 * Expressions are simplified when made: constants fold, sums and products are kept in one canonical order, so that an
 * equality that the rules can prove is an equality of handles.
 */
#ifndef XPU_CORE_IR_DIM_H
#define XPU_CORE_IR_DIM_H

#include "base/arena.h"
#include "core/ir/handle.h"

typedef struct {
    uint32_t id; /* index into the table; 0 is "unknown" */
} xpu_dim;

typedef enum {
    XPU_DIM_CONST,
    XPU_DIM_SYMBOL,
    XPU_DIM_ADD,
    XPU_DIM_MUL,
    XPU_DIM_FLOORDIV,
    XPU_DIM_MOD,
    XPU_DIM_MIN,
    XPU_DIM_MAX
} xpu_dim_kind;

typedef struct {
    xpu_dim_kind kind;
    int64_t value;            /* the constant, or the index of the symbol */
    xpu_dim a, b;             /* operands */
    int64_t min, max;         /* bounds over all symbols' ranges, saturated */
    int64_t modulus, residue; /* value mod modulus == residue; modulus 0: the value is residue, 1: nothing known */
    uint32_t size;            /* nodes of the expression, counted as a tree */
    int gone;                 /* it has a symbol that was dropped */
    xpu_dim same;             /* a dim that it is taken for equal to (xpu_dim_assume), nearer to their root; or none */
    xpu_dim settled;          /* what xpu_dim_settled gave ... */
    uint32_t settled_at;      /* ... after so many assumptions, plus 1 */
} xpu_dim_node;

typedef struct {
    const char *name;       /* "N" */
    int64_t min, max, step; /* min <= value <= max, (value - min) % step == 0 */
    int open;               /* nobody has given it a range */
    /* Who defines it. 0: dims of inputs. An input of the graph: element `element` of its data, which the host reads
     * when shapes are bound. A node's result or a block's argument: the device, which has the value in memory. */
    xpu_value value;
    uint32_t element;
    int relied;    /* something that is known was found from its range */
    xpu_dim bound; /* of what the device defines: it is at most this expression; unknown: max alone */
} xpu_symbol;

/* What an element of a small tensor is (core/ir/known.h). */
enum { XPU_MOST_KNOWN = 64 };
/* Whole numbers up to here are exact in float32. */
#define XPU_FLOAT_EXACT ((int64_t)1 << 24)

typedef struct {
    xpu_dim dim;  /* id 0: not known */
    int32_t over; /* what it is divided by; 1 but for float32 */
} xpu_known;

/* In row-major order; as many as the value's dims, which are constant, say. */
typedef struct {
    uint32_t count;
    xpu_known items[];
} xpu_known_list;

/* What the user says of sizes that only the run knows: those of a symbol, or of all symbols of a value ("y" of
 * "y/count"), are at most so large. */
typedef struct {
    const char *name;
    int64_t most;
    int used; /* there was a symbol, or somebody asked */
} xpu_size_bound;

typedef struct xpu_dims {
    xpu_arena *arena;
    xpu_size_bound *bounds;
    uint32_t bound_count;
    XPU_ARRAY(xpu_dim_node) nodes;
    XPU_ARRAY(xpu_symbol) symbols;
    uint32_t *table; /* hash table of node ids */
    uint32_t table_size;
    uint32_t assumptions; /* dims taken for equal */
    uint64_t work;        /* terms of polynomials computed so far */
} xpu_dims;

/* What one expression may have: larger results are unknown. */
enum {
    XPU_DIM_MAX_TERMS = 48,      /* of a polynomial */
    XPU_DIM_MAX_TREE_SIZE = 4096 /* nodes, counted as a tree: bounds recursion and evaluation */
};

/* All expressions of one table together take so much work at most: what is made beyond it is unknown. */
#define XPU_DIMS_MAX_WORK ((uint64_t)1 << 24)

void xpu_dims_init(xpu_dims *dims, xpu_arena *arena);
xpu_dim xpu_dim_const(xpu_dims *dims, int64_t value);
/* The symbol `name`, made with this range when it is new; an existing one is returned unchanged. A symbol whose range
 * is one value is that constant. */
xpu_dim xpu_dim_symbol(xpu_dims *dims, const char *name, int64_t min, int64_t max, int64_t step);
/* The symbol that stands for element `element` of `value`; otherwise as xpu_dim_symbol. */
xpu_dim xpu_dim_symbol_of(xpu_dims *dims, const char *name, int64_t min, int64_t max, int64_t step, xpu_value value,
                          uint32_t element);
/* The bound that the user gives for a symbol or value; -1: none. */
int64_t xpu_dims_bound(const xpu_dims *dims, const char *name);
/* A new one: `name` with a number behind it where there is one of this name already. Its range ends at the user's bound
 * where there is one. */
xpu_dim xpu_dim_new_symbol(xpu_dims *dims, const char *name, int64_t min, int64_t max, xpu_value value,
                           uint32_t element, xpu_dim bound);
/* Symbols i with gone[i] go, and so do all expressions with them; the others get new numbers. */
void xpu_dims_drop_symbols(xpu_dims *dims, const uint8_t *gone);
/* Whether symbol `index` of the table is in the expression. */
int xpu_dim_has_symbol(const xpu_dims *dims, xpu_dim dim, uint32_t index);
/* Results that overflow, become too large an expression or come after XPU_DIMS_MAX_WORK are unknown (id 0), as is what
 * is made from unknown. */
xpu_dim xpu_dim_op(xpu_dims *dims, xpu_dim_kind kind, xpu_dim a, xpu_dim b);
xpu_dim xpu_dim_add(xpu_dims *dims, xpu_dim a, xpu_dim b);
xpu_dim xpu_dim_mul(xpu_dims *dims, xpu_dim a, xpu_dim b);
xpu_dim xpu_dim_add_const(xpu_dims *dims, xpu_dim a, int64_t b);
xpu_dim xpu_dim_mul_const(xpu_dims *dims, xpu_dim a, int64_t b);
xpu_dim xpu_dim_floordiv_const(xpu_dims *dims, xpu_dim a, int64_t b);

/* 1 and the value in *value (may be NULL) when `dim` is a constant. */
int xpu_dim_is_const(const xpu_dims *dims, xpu_dim dim, int64_t *value);
int64_t xpu_dim_min(const xpu_dims *dims, xpu_dim dim); /* bounds over all symbols' ranges */
int64_t xpu_dim_max(const xpu_dims *dims, xpu_dim dim);
/* The value when symbol i has symbol_values[i], NULL: its least; saturated. Division by zero gives 0. */
int64_t xpu_dim_eval(const xpu_dims *dims, xpu_dim dim, const int64_t *symbol_values);
/* "N*3+1" in the arena. */
const char *xpu_dim_text(const xpu_dims *dims, xpu_dim dim, xpu_arena *arena);
/* "[N,3,32]" in the arena. */
const char *xpu_dim_list_text(const xpu_dims *dims, int rank, const xpu_dim *list, xpu_arena *arena);

/* Symbols that `dim` holds: seen[i] becomes 1. Those that are gone do not count. */
void xpu_dim_find_symbols(const xpu_dims *dims, xpu_dim dim, uint8_t *seen);
/* The node of a handle; that of "unknown" for one that does not exist. Valid until a dim is made. */
static inline const xpu_dim_node *xpu_dim_at(const xpu_dims *dims, xpu_dim dim) {
    return &dims->nodes.items[dim.id < dims->nodes.count ? dim.id : 0];
}

static inline int xpu_dim_equal(xpu_dim a, xpu_dim b) {
    return a.id == b.id;
}

/* For how many shapes a and b are equal: 0, 1, or 2 for more. Where they depend on several symbols it is 2 unless their
 * bounds or remainders differ; of one symbol at least the first 1,024 values are tried. 0 where one is unknown. */
int xpu_dim_solutions(xpu_dims *dims, xpu_dim a, xpu_dim b);
/* From now on a and b are the same (xpu_dim_same), and so is what was the same as one of them. Their root is a constant
 * where there is one, else the shortest. A symbol's range then begins where both can. The handles stay different. */
void xpu_dim_assume(xpu_dims *dims, xpu_dim a, xpu_dim b);
int xpu_dim_same(const xpu_dims *dims, xpu_dim a, xpu_dim b);
xpu_dim xpu_dim_root(const xpu_dims *dims, xpu_dim dim);
/* Its root, made of the roots of its parts. */
xpu_dim xpu_dim_settled(xpu_dims *dims, xpu_dim dim);
/* Whether they are the same, or made of the same. */
int xpu_dim_agree(xpu_dims *dims, xpu_dim a, xpu_dim b);

#endif
