/*
 * Hostile files: seeds are damaged, generated and fed to the reader of their kind, in process, with sanitizers. Each
 * file must be taken (status 0) or refused with a documented status (1 to 6) and a message that names its rule.
 *
 * A case is (kind, seed): the same two give the same bytes and the same calls on every host.
 */
#ifndef XPU_TESTS_FUZZ_HOSTILE_H
#define XPU_TESTS_FUZZ_HOSTILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

/* ---- random numbers ---- */

typedef struct {
    uint64_t state;
} hostile_random;
uint64_t hostile_draw(hostile_random *random);
uint32_t hostile_below(hostile_random *random, uint32_t bound); /* 0 .. bound-1; 0 for bound 0 */
int hostile_chance(hostile_random *random, uint32_t percent);
/* A number that readers get wrong: a limit of a type, a power of two or its neighbour, a negative one, or any. */
int64_t hostile_number(hostile_random *random);

/* ---- the bytes of a file (malloc'd) ---- */

typedef struct {
    uint8_t *data;
    size_t size, capacity;
} hostile_file;
void hostile_clear(hostile_file *file);
void hostile_set(hostile_file *file, const void *data, size_t size);
void hostile_add(hostile_file *file, const void *data, size_t size);
void hostile_add_text(hostile_file *file, const char *text);
/* Replaces `removed` bytes at `at` by `size` others. */
void hostile_replace(hostile_file *file, size_t at, size_t removed, const void *data, size_t size);
/* Reads a file of the repository; ends the program when there is none. */
void hostile_load(hostile_file *file, const char *path);
/* Writes the file into the scratch folder under a name with this extension; the path stays valid until the next call.
 */
const char *hostile_save(const hostile_file *file, const char *extension);
/* The scratch folder, removed at the end. */
const char *hostile_folder(void);

/* ---- damage ---- */

/* Without knowledge of the format: cut, flip bits, overwrite, insert, remove or repeat stretches, or all random. */
void hostile_damage(hostile_random *random, hostile_file *file);
/* Protobuf: changes numbers, strings and whole fields somewhere in the tree of messages; lengths stay right. */
void hostile_damage_wire(hostile_random *random, hostile_file *file);
/* JSON: numbers, strings, keys given twice, members lost, other types, nesting. */
void hostile_damage_json(hostile_random *random, hostile_file *file);
/* Protobuf messages inside of each other: fields[i % count] around fields[(i + 1) % count], `depth` times. */
void hostile_nest_wire(hostile_file *file, const uint8_t *fields, size_t count, size_t depth);

/* ---- models (kind_operators.c) ---- */

/* A few nodes of one of the networks of tests/sweep as a model. */
void hostile_cut(hostile_random *random, hostile_file *file);

/* ---- compiled programs (program_file.c) ---- */

/* One of the programs that kind_program.c damages (once they are loaded). */
void hostile_program_seed(hostile_random *random, hostile_file *file);
/* Every program that kinds program and steps damage, once they are loaded. */
typedef void (*hostile_take)(void *context, const hostile_file *seed);
void hostile_program_seeds(hostile_take take, void *context);
void hostile_steps_seeds(hostile_take take, void *context);
/* Damages one: its metadata, its code, its headers. */
void hostile_program_damage(hostile_random *random, hostile_file *file);
/* Compiles a model of the repository. 0: it cannot be compiled. */
int hostile_try_compile(hostile_file *program, const char *model, const char *chip, const char *precision,
                        const char *shape);
/* Compiles a model of the repository, or ends the program. `shape` may be NULL. */
void hostile_compile(hostile_file *program, const char *model, const char *chip, const char *precision,
                     const char *shape);
/* How many entries the table of segments (PT_LOAD) or of sections (0) of an ELF file has, and where it begins. */
uint32_t hostile_table(const hostile_file *file, uint32_t wanted, size_t *offset);
/* Copies a section's bytes; 0: there is none. What replaces it stands at the end of the file. */
int hostile_section(const hostile_file *file, const char *name, hostile_file *contents);
void hostile_set_section(hostile_file *file, const char *name, const hostile_file *contents);

/* ---- kinds ---- */

typedef struct {
    char problem[2000]; /* what was wrong; empty: nothing */
    int refused;        /* some call gave a status that is not 0 */
    char rule[40];      /* the first one's rule id, and why */
    char why[100];
    size_t declared; /* bytes of the tensors that the file declares: allowed beyond the limit */
} hostile_result;

/* Judges one call into a library: its status and its messages. Returns the status. */
int hostile_judge(hostile_result *result, const char *call, int status, const char *text);

typedef struct {
    const char *name;
    const char *extension;
    void (*prepare)(void); /* loads the seeds, once per process */
    void (*make)(hostile_random *random, hostile_file *file);
    void (*feed)(hostile_random *random, const hostile_file *file, hostile_result *result);
} hostile_kind;

/* ---- tools as processes (tool.c) ---- */

typedef struct {
    const char *name;
    int process, output;  /* the end of a pipe, or of a terminal */
    int terminal, binary; /* binary: a file was asked for on standard output */
    double began;
    int status, signal;  /* how it ended */
    int timed_out, left; /* it was killed; its group has a process behind its end */
    long kilobytes;      /* of memory, at most */
    hostile_file text;   /* both outputs, with a NUL behind them */
} hostile_tool;

const char *hostile_bin(void); /* where the tools are: XPU_BIN, or build/bin */
/* Starts argv[0] of there in `folder`, with its temporary files in `folder`/tmp, and a group of processes of its own;
 * its outputs go to a pipe, or to a terminal. */
void hostile_tool_start(hostile_tool *tool, const char *const *argv, const char *folder, int terminal);
void hostile_tool_finish(hostile_tool *tool);
/* Its end: a documented status with a message, nothing left behind, no byte that a terminal obeys, little memory.
 * `sent`: the signal that it may end by, or 0. */
void hostile_tool_judge(hostile_result *result, const hostile_tool *tool, int sent);
void hostile_tool_clear(hostile_tool *tool);
void hostile_tool_run(hostile_result *result, const char *const *argv, const char *folder, int terminal); /* all */

/* A folder of this process in the scratch folder; the path stays valid. */
const char *hostile_own_folder(const char *name);
/* Writes a file there, anew: links to what was there are cut. */
void hostile_put(const char *folder, const char *name, const hostile_file *file);

extern const hostile_kind hostile_model, hostile_npy, hostile_npz, hostile_program, hostile_chip, hostile_rules,
    hostile_regress, hostile_picture, hostile_precision, hostile_shape, hostile_cost, hostile_inputs, hostile_outputs,
    hostile_names, hostile_signals, hostile_changed, hostile_operators, hostile_calls, hostile_control, hostile_steps,
    hostile_state, hostile_sizes, hostile_frames, hostile_dumps, hostile_arguments, hostile_pdmodel, hostile_pir,
    hostile_params, hostile_ranges, hostile_convert, hostile_csv, hostile_problem, hostile_plan, hostile_view;

/* Runs `work` behind an API boundary of its own, and judges what it reports. */
typedef xpu_status (*hostile_work)(xpu_arena *arena, const hostile_file *file, hostile_random *random,
                                   xpu_diags *diags);
int hostile_guard(hostile_result *result, const char *call, hostile_work work, hostile_random *random,
                  const hostile_file *file);

/* allocations.c: prints and returns how many tries were wrong. */
uint64_t hostile_allocations(void);
/* fields.c: prints and returns how many fields of programs no seed has. */
uint64_t hostile_fields(void);

#endif
