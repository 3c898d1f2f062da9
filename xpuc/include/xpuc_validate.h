/*
 * Whether two models are the same network: both run on the same inputs, on the host (the reference kernels) or on a
 * device of the caller's, and their outputs and inner tensors are compared. Part of libxpuc; xpuc.h says what holds of
 * arguments, errors and threads.
 */
#ifndef XPUC_VALIDATE_H
#define XPUC_VALIDATE_H

#include "xpuc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor of the caller's: row-major, little endian, element types as NumPy names them. */
typedef struct {
    const char *name;
    const char *dtype; /* "float32" */
    int rank;          /* at most 8 */
    int64_t dims[8];
    const void *data;
} xpuc_tensor;

/* Runs one of the models on a device: compiled for it, on one sample. */
typedef struct xpuc_device_run {
    const char *name;    /* of the model's file */
    const void *program; /* the .xpu file */
    size_t size;
    const xpuc_tensor *inputs; /* under their names in this model */
    uint32_t input_count;
    /* To be called with each output, in the order of the program, then with the inner tensors that there are, under
     * their names; they are copied. */
    void (*give)(struct xpuc_device_run *run, const xpuc_tensor *tensor);
    void *own; /* the library's */
} xpuc_device_run;

enum { XPUC_MOST_SAMPLES = 1000 };

/* NULL and 0 take the defaults in brackets. Strings and tensors stay the caller's. */
typedef struct {
    const char *params_a, *params_b; /* the parameter file of a PaddlePaddle program [found beside it] */
    const char *const *shapes;       /* "x=1,3,64..256:32,W", by A's names, NULL terminated [as the models say] */
    const char *const *values;       /* "sr=16000": what an input of integers holds [drawn] */
    const char *const *bounds;       /* "boxes=100": sizes that only the run knows, of both models */
    const char *const *ranges;       /* "x=0..255": between what elements of an input are drawn [by its type] */
    const xpuc_tensor *inputs;       /* by A's names, or NULL names: in A's order [drawn] */
    uint32_t input_count;
    const xpuc_tensor
        *expected; /* outputs, and perhaps inner tensors, that both models must have; with B NULL A alone */
    uint32_t expected_count;
    unsigned samples; /* how often inputs and open dims are drawn [2; 1 where all inputs are given] */
    uint64_t seed;
    double tolerance; /* elements are equal when |a - b| <= tolerance * max|a| [1e-4] */
    /* A device besides the host: both models are compiled for `chip` in `precision` and run there, too. Returns 0, or
     * an exit code with *text malloc'd or NULL [none]. */
    int (*device)(void *context, xpuc_device_run *run, char **text);
    const char *device_name; /* for texts */
    const char *chip;        /* ["standard"] */
    const char *precision;   /* ["fp32"] */
    const char *resources;   /* as in xpuc_options */
    /* Told what is being done ("sample 1 of 2: A") [nobody is]. */
    void (*progress)(void *context, const char *doing);
    int (*stop)(void *context); /* asked now and then: not 0 ends the call with status 130 [nobody is asked] */
    void *context;              /* of all three */
} xpuc_validate_options;

/* One pair of tensors that differ. Texts are malloc'd, NULL where there is none. */
typedef struct {
    char *tensor_a, *tensor_b;
    char *operator_a, *operator_b; /* types in their models: "Conv", "conv2d"; of a graph's input NULL */
    char *node_a, *node_b;         /* names of the nodes, or made ones: "Conv_5" */
    char *where_a, *where_b;       /* "node 'conv1' (Conv-11, #5)" */
    unsigned sample;               /* from 0 on */
    int rank;                      /* of the place; -1: the shapes differ */
    int64_t place[8];              /* of the largest difference, in A's tensor */
    double a, b;                   /* elements there */
    double difference;             /* the largest one; infinite where one side alone is NaN or infinite */
    double largest;                /* max|a| over finite elements */
    int is_expected;               /* `a` is what was expected, `b` what the model gives that has names */
    int is_constant;               /* the tensors are operands of the nodes: constants that no sample shows to differ */
} xpuc_difference;

typedef struct {
    int differ;                 /* 1: they are not the same network: outputs differ, or an operator that both have */
    int grown;                  /* 1: outputs differ, but no operator does on equal operands: roundings have grown */
    unsigned samples;           /* that ran */
    uint32_t outputs;           /* of A */
    uint32_t differing_outputs; /* in any sample, by more than the tolerance */
    uint32_t inner, matched;    /* results of operators of B, and for how many one of A was found */
    uint32_t by_name, by_structure, by_value;
    uint32_t differing; /* matched ones that differ by more than the tolerance, each on its own model's operands */
    uint32_t expected, expected_differing; /* expected tensors that were looked at, and that a model does not have */
    double largest;                        /* difference of an output, in max|a| of it */
    int has_first;                         /* `first` is set */
    xpuc_difference first;                 /* first in order of execution whose result differs on equal operands */
    xpuc_difference output;                /* the output that differs most; its tensors are NULL where none does */
    /* On the device: pairs of tensors that were compared, those that differ by more than the tolerance, whether outputs
     * do, the largest difference of an output in max|a|, and the first pair. */
    uint32_t device_compared, device_differing;
    int device_differs, has_device_first;
    double device_largest;
    xpuc_difference device_first;
    char *text, *json; /* all of this for people and for programs */
} xpuc_validation;
XPUC_API void xpuc_validation_clear(xpuc_validation *validation);

/*
 * Compares the models at `a` and `b`: ONNX, PaddlePaddle's ProgramDesc or PIR, or .xpu files, which carry a lowered
 * graph. Inputs and outputs belong together by name, and where names differ by position. Returns error->status: 0 they
 * agree, 4 they differ (*result says how), or what went wrong. `b` may be NULL where `options` has expected tensors.
 */
XPUC_API int xpuc_validate(const char *a, const char *b, const xpuc_validate_options *options, xpuc_validation *result,
                           xpuc_error *error);

#ifdef __cplusplus
}
#endif
#endif
