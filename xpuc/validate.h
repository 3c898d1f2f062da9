/* xpuc_validate: what its parts share. Everything lives in `arena`, what a sample needs in `scratch`. */
#ifndef XPU_XPUC_VALIDATE_H
#define XPU_XPUC_VALIDATE_H

#include "xpu_runtime/program/file.h"
#include "xpuc/include/xpuc_validate.h"
#include "xpuc/pipeline.h"

#define XPU_VALIDATE_TOLERANCE  1e-4
#define XPU_VALIDATE_MOST_WORK  0x1p38 /* operations and bytes of a run of a side */
#define XPU_VALIDATE_MOST_BYTES 0x1p32
#define XPU_VALIDATE_ROUNDINGS  0.02 /* of the tolerance: what one operator's may be */

/* One of the two models. */
typedef struct {
    char letter; /* A, B */
    const char *path;
    xpu_pipeline *p;
    xpuc_options wanted;
    xpu_program_image *image; /* of an .xpu file; else NULL */
    const xpu_graph *graph;
    const char **names; /* of the inputs that its file declares */
    uint32_t name_count;
    uint32_t *input_of; /* by input of the graph: which of A's it is */
    int64_t *symbols;   /* of this sample */
    xpu_tensor *inputs;
} xpu_side;

/* --range INPUT=MIN..MAX */
typedef struct {
    const char *input;
    double min, max;
} xpu_draw_range;

/* An element differs, and the tensors as a whole. */
typedef struct {
    double difference, largest; /* |a - b| at most, infinite where no number can say it; max|a| */
    double of_max;              /* difference / largest; 0: equal, infinite: shapes differ */
    int64_t at;                 /* where; -1: the shapes differ, or nothing does */
} xpu_apart;

/* A tensor of a run of A. A node in a body makes one each time that it runs. */
typedef struct {
    xpu_value value;
    uint32_t round;
    xpu_tensor tensor;
    double largest;
    uint32_t taken; /* a value of B that equals it; 0: none does */
    uint32_t next;  /* of the same number of elements, plus 1 */
    uint32_t later; /* of the same value, plus 1 */
} xpu_kept_tensor;

typedef struct {
    xpu_arena *arena;
    XPU_ARRAY(xpu_kept_tensor) kept;
    uint32_t *first, *last; /* by value: its first and last round in `kept`, plus 1 */
    uint32_t *by_count;     /* hash table of numbers of elements: entries, plus 1 */
    xpu_tensor *outputs;
    double bytes;
} xpu_record;

/* How B's tensors were found in A. */
typedef enum { XPU_MATCH_NONE, XPU_MATCH_NAME, XPU_MATCH_STRUCTURE, XPU_MATCH_VALUE, XPU_MATCH_KINDS } xpu_match_kind;

/* A result of B with its counterpart. */
typedef struct {
    xpu_node node; /* of B */
    xpu_value a, b;
    int is_sure; /* both nodes do the same to equal operands, and the results have one name or the graphs are alike */
    xpu_apart apart;
    double at_a, at_b;
    int64_t place[XPU_MAX_RANK];
    int rank;
} xpu_hit;

/* What a run of B beside A's record gave. */
typedef struct {
    uint32_t inner, matched, kinds[XPU_MATCH_KINDS], differing;
    XPU_ARRAY(xpu_hit) hits; /* differences, in order of execution */
    uint8_t *state;          /* by value of B: an xpu_match_kind */
    uint32_t *counterpart;   /* by value of B: A's */
    xpu_tensor *outputs;
} xpu_beside;

typedef struct {
    const xpuc_validate_options *wanted;
    xpuc_validation *result;
    xpu_arena *arena, *scratch;
    xpu_diags *diags;
    xpu_side a, b;
    int has_b;
    uint32_t *output_of;      /* by output of B: A's */
    uint32_t *output_b;       /* by output of A: B's */
    const xpu_tensor **given; /* by input of A: the caller's tensor, or NULL: it is drawn */
    unsigned samples, sample;
    double tolerance;
    xpu_draw_range *range_of; /* by input of A, where there is one */
    uint8_t *output_differs;  /* by output of A */
} xpu_validation;

/* validate_sides.c: reads both, and finds what belongs together. [validate-interface] [validate-input] */
xpu_status xpu_validate_read(xpu_validation *v);
/* The caller's tensor with an element type of ours; 0 after reporting. */
int xpu_validate_tensor(const xpu_validation *v, const xpuc_tensor *from, xpu_tensor *to);
/* "input 'x' of A" */
const char *xpu_validate_name(const xpu_validation *v, const xpu_side *side, xpu_value value);

/* validate_draw.c: symbols and inputs of this sample, of both sides. [validate-size] [validate-input] */
xpu_status xpu_validate_draw(xpu_validation *v);
xpu_status xpu_validate_read_ranges(xpu_validation *v);

/* validate_match.c: runs A, keeping every tensor; runs B beside it. With `hold` B goes on with A's tensors wherever one
 * is found, so that no difference spreads. */
xpu_status xpu_validate_record(xpu_validation *v, xpu_record *record);
xpu_status xpu_validate_beside(xpu_validation *v, xpu_record *record, int hold, xpu_beside *beside);
/* Result `round` of the value; NULL: there is none. */
xpu_kept_tensor *xpu_validate_kept(const xpu_record *record, xpu_value value, uint32_t round);
/* validate_apart.c: how far two tensors are apart, no further looked at than `enough` of max|a|; `largest` is max|a|.
 * Of what is quantised one step in one of 1000 elements is a rounding. */
xpu_apart xpu_validate_apart(const xpu_tensor *a, const xpu_tensor *b, double largest, double enough, int quantised);
/* Where one framework has no scalars, the other's [] is its [1]. */
int xpu_validate_same_dims(const xpu_tensor *a, const xpu_tensor *b);
/* Of tensors whose dims are not the same. */
xpu_apart xpu_validate_other_dims(const xpu_tensor *a);
/* Whether a quantisation made the bytes, or what these were made of. */
int xpu_validate_is_quantised(const xpu_graph *graph, xpu_value value);
double xpu_validate_largest(const xpu_tensor *tensor);

/* validate_locate.c: the first difference of a run with `hold`; NULL: none that is larger than roundings. With `sure`
 * only differences that need no output to tell that they are some. *cause: the node of B that made it: where operands
 * have no counterparts, the first of those that they come from. */
const xpu_hit *xpu_validate_first(const xpu_validation *v, const xpu_beside *beside, int sure, xpu_node *cause);
/* The node of A that belongs to it: where its operands have no counterparts in B, the first of those that they come
 * from. */
xpu_node xpu_validate_cause_in_a(const xpu_validation *v, const xpu_record *record, const xpu_hit *hit);
/* Of graphs that are alike: the first operator with a constant of another value, which no sample may have met. Returns
 * whether there is one, in *node_a and hit->node; hit->a and hit->b are the constants. */
int xpu_validate_constants(const xpu_validation *v, xpu_node *node_a, xpu_hit *hit);
/* Whether both graphs have the same operators in the same order. */
int xpu_validate_is_alike(const xpu_validation *v);

/* validate_device.c: both models on the caller's device; pairs are those of a run of ref. [validate-compile]
 * [validate-device] */
xpu_status xpu_validate_on_device(xpu_validation *v, const xpu_beside *beside);

/* validate_expect.c: the expected tensors against a run of A, and of B where there is one; what differs goes into the
 * result. [validate-expect] */
xpu_status xpu_validate_expect(xpu_validation *v, const xpu_record *record, const xpu_beside *beside);

/* validate.c */
void xpu_validate_clear_difference(xpuc_difference *difference);

/* validate_text.c: a difference with names of both sides; nodes {0}: none. */
xpuc_difference xpu_validate_difference(const xpu_validation *v, const xpu_hit *hit, xpu_node node_a, xpu_node node_b);
/* Where the largest difference is, and what stands there. */
void xpu_validate_place(xpu_hit *hit, const xpu_tensor *a, const xpu_tensor *b);
/* result->text and result->json. */
void xpu_validate_texts(xpu_validation *v);

#endif
