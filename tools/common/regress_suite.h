/*
 * Several regression cases: chosen, run in processes of their own, some at a time, and reported in the order of the
 * cases.
 */
#ifndef XPU_TOOLS_REGRESS_SUITE_H
#define XPU_TOOLS_REGRESS_SUITE_H

#include "tools/common/regress.h"
#include "tools/common/tool.h"

/* A file of the suite. Where it could not be read status is not XPU_OK, `errors` says why, and only path and name hold.
 */
typedef struct {
    const char *path, *name;
    xpu_status status;
    const char *errors;
    xpu_regress_case c;
} xpu_regress_entry;

/* What came of a case on a chip (NULL: of its file). */
typedef struct {
    const char *name, *chip;
    xpu_status status; /* XPU_OK; XPU_EDIFF: it failed; another one: it could not be run */
    double seconds;
    const char *what, *details, *errors;
} xpu_regress_outcome;

typedef struct {
    const char *folder; /* of the cases, for messages */
    XPU_ARRAY(const char *) paths;
    XPU_ARRAY(xpu_regress_entry) entries;
    XPU_ARRAY(const char *) chips; /* of --chip; none: all */
    const char *plugin;            /* of cases that name a target; NULL: none */
    int update, lockstep, model;   /* model: print what the compiler's model says of each layer */
    uint32_t jobs;
    XPU_ARRAY(xpu_regress_outcome) outcomes;
    uint32_t passed, failed, not_run;
} xpu_regress_suite;

/* The folder of the suite that belongs to the tools: beside their chips and device library. */
const char *xpu_regress_own_suite(xpu_arena *arena);

/* The cases of a folder, by name; or, of the words that are given, those whose names match a glob, and files where a
 * word has a '/'. Errors are [io-open], [usage], [regress-nothing]. */
xpu_status xpu_regress_choose(xpu_tool *tool, xpu_regress_suite *suite);

/* Reads the chosen cases and prints what is wrong with the files that cannot be read. */
void xpu_regress_read_all(xpu_tool *tool, xpu_regress_suite *suite);

/* Whether a chip of a case is to run, and on any device. */
int xpu_regress_is_planned(const xpu_regress_suite *suite, const xpu_regress_entry *entry,
                           const xpu_regress_chip *chip);

/* Runs all, prints a line for each case and chip, and fills in `outcomes`. The least exit code of all that is not 0:
 * XPU_EUSAGE, a file cannot be read; XPU_EIO, what a case needs is missing; XPU_EDIFF, a case failed; XPU_EBUG, one was
 * ended by a signal. Nothing to run is [regress-nothing]. */
xpu_status xpu_regress_run_all(xpu_tool *tool, xpu_regress_suite *suite);

/* Writes the outcomes as JUnit XML; XPU_EIO [io-write]. */
xpu_status xpu_regress_junit(xpu_arena *arena, const xpu_regress_suite *suite, const char *path, xpu_diags *diags);
/* Text for XML: markup is replaced, and what is no character of XML 1.0 becomes \xNN. */
void xpu_xml_add(xpu_text *to, const char *text);

/* --build-chips: makes the libraries for rtl that the planned runs lack, with make chip in the source tree that the
 * tools were built in. XPU_EIO [build-chips]. */
xpu_status xpu_regress_build_chips(xpu_tool *tool, const xpu_regress_suite *suite);

/* --make=NAME: from a model and inputs a new case in the suite's folder, NAME.json and NAME.npz; see
 * docs/commands.md. The exit code of the first run, which must pass, else nothing is left. */
xpu_status xpu_regress_make(xpu_tool *tool, xpu_regress_suite *suite, const char *name);

/* Reads --device: leaves the devices of the case where it is not given. */
xpu_status xpu_regress_devices(xpu_tool *tool, xpu_regress_case *c);

#endif
