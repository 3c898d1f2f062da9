/*
 * Regression cases: one JSON file each (docs/commands.md lists the keys). A case compiles its model once for each chip,
 * runs it on its devices in batches, and demands: every layer bit-equal between the first device and the others,
 * outputs within the tolerance of the expected ones, the same checksum of all outputs as recorded. Where the case says
 * so it runs some samples on the chip's Verilated library too: every layer equal again, and the same cycles as
 * recorded.
 */
#ifndef XPU_TOOLS_REGRESS_H
#define XPU_TOOLS_REGRESS_H

#include <jansson.h>

#include "base/diag.h"
#include "tools/common/dump.h"
#include "tools/common/image.h"
#include "xpu_runtime/include/xpurt_device.h"

enum { XPU_REGRESS_MAX_DEVICES = 4, XPU_REGRESS_MAX_BATCHES = 16, XPU_REGRESS_MODEL_ERROR = 40 };

typedef struct {
    const char *name;
    const xpurt_device_driver *driver; /* NULL: ref */
} xpu_regress_device;

/* The device of this name, or NULL. */
const xpu_regress_device *xpu_regress_device_by_name(const char *name);

/* Where a tensor comes from: an entry of an archive, a .npy file (entry NULL), or a picture. */
typedef struct {
    const char *name; /* of the input or output */
    const char *file, *entry;
    const xpu_image_scale *picture; /* inputs: the file is a picture, and how its pixels become numbers; or NULL */
    const char *classes; /* expected: entry of the same file with the numbers of the largest elements along the last
                            axis, which must be the same too; or NULL */
    xpu_tolerance tolerance;
} xpu_regress_tensor;

typedef struct {
    const char *chip;     /* as the case has it: a name or a file */
    const char *file;     /* the same for the compiler, files beside the case */
    int64_t samples;      /* how many of the inputs' first axis are run; 0: all */
    const char *checksum; /* recorded CRC-32 of all outputs, or NULL */
    json_t *entry;        /* of the case's JSON, for --update */
    struct {
        int64_t samples;    /* how many in one run; 0: it does not run on rtl */
        int64_t cycles;     /* recorded; -1: none */
        double model_error; /* percent that the compiler's model may be off by */
        json_t *layers;     /* recorded cycles by name, or NULL */
        json_t *entry;
    } rtl;
} xpu_regress_chip;

typedef struct {
    const char *path, *name; /* of the file; name without folder and .json */
    const char *model, *precision;
    const char *target, *plugin; /* as xpuc takes them; NULL: not given. The plug-in is no part of the case's file */
    const char **shapes;         /* "INPUT=DIMS" as xpuc takes them, ends with NULL; NULL: none */
    json_t *json;
    XPU_ARRAY(xpu_regress_tensor) inputs;
    XPU_ARRAY(xpu_regress_tensor) expected;
    XPU_ARRAY(xpu_regress_chip) chips;
    const xpu_regress_device *devices[XPU_REGRESS_MAX_DEVICES]; /* the first one is what the others must equal */
    uint32_t device_count;                                      /* 0: rtl alone, held against `reference` */
    const xpu_regress_device *reference;
    int with_rtl, lockstep;                   /* lockstep: on rtl, with func */
    int64_t batches[XPU_REGRESS_MAX_BATCHES]; /* sizes of the first axis, used in turn; none: the whole at once */
    uint32_t batch_count;
} xpu_regress_case;

/* Reads and checks a case. Paths in it are relative to its folder. */
xpu_status xpu_regress_read(xpu_regress_case *to, xpu_arena *arena, const char *path, xpu_diags *diags);

/* What a run of a case on one chip found. */
typedef struct {
    int passed;
    xpu_status status; /* XPU_OK; XPU_EDIFF: it failed; XPU_EIO: there is no library of its chip for rtl */
    const char *what;  /* one line: what was compared, or why it failed */
    const char *checksum;
    int64_t cycles;    /* on rtl; 0: it did not run there */
    json_t *layers;    /* their cycles, by name */
    const char *model; /* of a run on rtl: what the compiler's model says of each layer, a line each; or NULL */
    double seconds;
    const xpu_tensor *outputs; /* of the first device, all samples; in the run's arena */
} xpu_regress_result;

/* Runs a case on one chip. Failures of the case are in the result; `diags` is for what they were made of. With
 * `before`, another chip's outputs, those of the samples that both ran must have the same bits. */
xpu_regress_result xpu_regress_run(const xpu_regress_case *c, const xpu_regress_chip *chip, const xpu_tensor *before,
                                   xpu_arena *arena, xpu_diags *diags);

#endif
