/*
 * Command lines: a job of a tool and a few options with values that are right, damaged or of another kind. Every option
 * of the tools that takes a value is a row of the table; what --help lists and no row has ends the program. The bytes
 * of a case are the words, each with a NUL behind it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/hostile.h"

enum { MOST_WORDS = 24, MOST_VALUE = 400 }; /* bytes of a value */

typedef enum {
    TEXT,   /* values, of which pieces are replaced */
    CHOICE, /* values as they are: another port would be waited at */
    READS,
    WRITES
} value_kind;

typedef struct {
    const char *name;
    value_kind kind;
    const char *values; /* separated by blanks */
    const char *job;    /* beside which it has an effect; NULL: any */
} option;

static const option compile_options[] = {
    {"target", TEXT, "xpu-sim c,xpu-sim c xpu-sim,c c,c,xpu-sim xpu-sim,",
     "m.onnx --emit=c -o out.c --precision=fp32 --plugin=PLUGIN"},
    {"output", WRITES, "out.c", NULL},
    {"chip", TEXT, "nano standard pro chip.json", NULL},
    {"precision", TEXT, "auto fp32 int16 int16x8", NULL},
    {"precision-rules", READS, "precision.json", NULL},
    {"memory", READS, "rules.json", NULL},
    {"shape", TEXT, "Input3=1,1,28,28 Input3=N,1,28..56:28,W", NULL},
    {"value", TEXT, "Input3=1 n=1..9", NULL},
    {"bound", TEXT, "n=5", NULL},
    {"state", TEXT, "Plus214_Output_0=Input3", NULL},
    {"emit", TEXT, "c ir", NULL},
    {"dump-after", TEXT, "import chains layout fold", NULL},
    {"explain", TEXT, "json text", NULL},
    {"sort", TEXT, "cost", "m.onnx --explain"},
    {"report", WRITES, "out.json", NULL},
    {"plugin", READS, "", NULL},
    {"params", READS, "x.npy", NULL},
    {"clang-seconds", TEXT, "600", NULL},
    {NULL, TEXT, NULL, NULL},
};
static const option run_options[] = {
    {"input", TEXT, "x.npy Input3=x.npy", "p.xpu -d func"},
    {"image", READS, "x.npy", "p.xpu -d func"},
    {"mean", TEXT, "1,2,3 0.5", "p.xpu --image=x.npy -d func"},
    {"std", TEXT, "1,1,1 0", "p.xpu --image=x.npy -d func"},
    {"top", TEXT, "5", "p.xpu -i x.npy -d func"},
    {"labels", READS, "labels.txt", "p.xpu -i x.npy -d func"},
    {"output", WRITES, "out.npz", NULL},
    {"frames", TEXT, "Input3=1:1 Input3=28:14:2", "p.xpu -i x.npy -d func"},
    {"device", TEXT, "func ref", NULL},
    {"dump-layers", WRITES, "d2", "p.xpu -i x.npy -d ref"},
    {"dump-filter", TEXT, "Conv* * ReLU[0-9]?", "p.xpu -i x.npy -d func --dump-layers=d2"},
    {"dump-iterations", TEXT, "0..3 1..1", "p.xpu -i x.npy -d ref --dump-layers=d2"},
    {"layer", TEXT, "* ReLU32 Convolution28", "p.xpu --from-dump=d -d func"},
    {"iteration", TEXT, "1,2 .i0001 0", "p.xpu --layer=ReLU32 --from-dump=d -d ref"},
    {"from-dump", READS, "d", "p.xpu --layer=ReLU32 -d func"},
    {"heatmap", WRITES, "out.png", NULL},
    {"stats", WRITES, "out.json", "p.xpu -i x.npy -d ref"},
    {"gdb", CHOICE, "x -1 65536 1: 99999999999999999999", NULL},
    {"trace", WRITES, "out.json", NULL},
    {"wave", CHOICE, "ReLU32:w.fst ReLU32 : :w.fst *:w.fst", NULL},
    {"max-cycles", TEXT, "1000000 1", "p.xpu -i x.npy -d func"},
    {"seed", TEXT, "1", "p.xpu -i x.npy -d func"},
    {"core", TEXT, "0 1", "p.xpu -i x.npy -d func --instructions"},
    {"chip", TEXT, "nano", NULL},
    {"dump-mem", TEXT, "_start:4:out.bin", NULL},
    {"set", TEXT, "gm.bytes_per_cycle=16 l3.latency=9", NULL},
    {NULL, TEXT, NULL, NULL},
};
static const option dump_options[] = {
    {"tolerance", TEXT, "1e-3,1e-5 0 1", "diff d d"},
    {"tensor", TEXT, "Conv* *", "diff d d"},
    {"heatmap", WRITES, "out.png", NULL},
    {NULL, TEXT, NULL, NULL},
};
static const option regress_options[] = {
    {"suite", READS, "suite", NULL},
    {"device", TEXT, "ref func", NULL},
    {"chip", TEXT, "nano standard", NULL},
    {"jobs", TEXT, "2", NULL},
    {"junit", WRITES, "out.xml", NULL},
    {"make", TEXT, "nine", NULL},
    {"input", TEXT, "x.npy", NULL},
    {"precision", TEXT, "auto fp32", NULL},
    {"shape", TEXT, "Input3=N", NULL},
    {"plugin", READS, "", NULL},
    {NULL, TEXT, NULL, NULL},
};
static const option plan_options[] = {
    {"output", WRITES, "out.json", NULL},
    {"bytes", TEXT, "65536", NULL},
    {"budget", TEXT, "1000 1", "plan problem.json"},
    {"set", TEXT, "l3.bytes=32K,64K gm.bytes_per_cycle=16", "what-if p.xpu"},
    {"input", TEXT, "x.npy Input3=x.npy", "what-if p.xpu"},
    {"rules", READS, "problem.json", NULL},
    {NULL, TEXT, NULL, NULL},
};

static const option validate_options[] = {
    {"input", TEXT, "x.npy Input3=x.npy", NULL},
    {"shape", TEXT, "Input3=1,1,28,28 Input3=1,1,28..56:28,W", "m.onnx m.onnx"},
    {"value", TEXT, "Input3=1 n=1..9", NULL},
    {"bound", TEXT, "n=5", NULL},
    {"range", TEXT, "Input3=0..255 Input3=-1e3..2.5", "m.onnx m.onnx"},
    {"samples", TEXT, "1 2 1001", "m.onnx m.onnx"},
    {"seed", TEXT, "1 18446744073709551615", "m.onnx m.onnx"},
    {"expect", READS, "x.npy", "m.onnx -i x.npy"},
    {"tolerance", TEXT, "1e-3 1", NULL},
    {"device", TEXT, "ref func rtl", "m.onnx m.onnx -i x.npy --chip=nano"},
    {"chip", TEXT, "nano standard chip.json", "m.onnx m.onnx -i x.npy --device=ref"},
    {"precision", TEXT, "fp32 int16", "m.onnx m.onnx -i x.npy --device=ref"},
    {"params-a", READS, "x.npy", NULL},
    {"params-b", READS, "x.npy", NULL},
    {NULL, TEXT, NULL, NULL},
};

enum { JOBS = 8 };
static const struct {
    const char *name;
    const option *options;
    const char *jobs[JOBS], *flags[8];
} tools[] = {
    {"xpuc",
     compile_options,
     {"m.onnx --emit=c -o out.c", "m.onnx --emit=c -o out.c", "m.onnx --emit=ir", "--describe m.onnx"},
     {"--no-fuse", "--strip", "--explain", "-v", "-q", "--check-passes", "--version", "x"}},
    {"xpu-run",
     run_options,
     {"p.xpu -i x.npy -d func", "p.xpu -i x.npy -d ref", "p.xpu -d ref", "p.xpu --from-dump=d -d func"},
     {"--profile", "--check-races", "--bgr", "--instructions", "--no-skip", "--bare", "--lockstep", "-q"}},
    {"xpu-dump", dump_options, {"show d", "diff d d", "diff x.npy x.npy", "show"}, {"--all", "--snr", "--json", "-q"}},
    {"xpu-regress",
     regress_options,
     {"--suite=suite --list", "* --suite=suite --list", "--list", "--suite=suite -d ref nothing"},
     {"--lockstep", "-q", "-v"}},
    {"xpu-memplan",
     plan_options,
     {"plan problem.json", "plan problem.json -o out.json", "check problem.json out.json", "svg", "report p.xpu",
      "explain p.xpu *", "svg p.xpu -o out.svg", "what-if p.xpu"},
     {"--no-aliases", "--json", "-v", "-q"}},
    {"xpu-validate",
     validate_options,
     {"m.onnx m.onnx -i x.npy", "m.onnx p.xpu -i x.npy", "m.onnx m.onnx --samples=1", "m.onnx"},
     {"--json", "-v", "-q"}},
};
enum { TOOLS = sizeof tools / sizeof *tools };

/* ---- the folder ---- */

static const struct {
    const char *name, *from;
} inputs[] = {{"m.onnx", "tests/models/mnist-8.onnx"},
              {"x.npy", "tests/models/9.npy"},
              {"chip.json", "configs/chip/nano.json"},
              {"rules.json", "configs/memory/weights-in-l3.json"}};
enum { INPUTS = sizeof inputs / sizeof *inputs };
static hostile_file bytes[INPUTS], program;
static const char *folder;
static char plugin[MOST_VALUE];

static void put_text(const char *name, const char *text) {
    hostile_file file = {NULL, 0, 0};
    hostile_set(&file, text, strlen(text));
    hostile_put(folder, name, &file);
    hostile_clear(&file);
}

/* What a case may have written over. */
static void fill_folder(void) {
    for (int i = 0; i < INPUTS; i++) hostile_put(folder, inputs[i].name, &bytes[i]);
    hostile_put(folder, "p.xpu", &program);
    put_text("labels.txt", "zero\none\n");
    put_text("precision.json", "{\"rules\": [{\"match\": \"Conv*\", \"precision\": \"int16\"}]}");
    put_text("problem.json",
             "{\"levels\": [{\"name\": \"SM\", \"bytes\": 64}], \"buffers\": [{\"name\": \"a\", \"bytes\": 4, "
             "\"first\": 0, \"last\": 1}]}");
    put_text("suite/nine.json",
             "{\"version\": 1, \"name\": \"nine\", \"model\": \"../m.onnx\", \"inputs\": [\"../x.npy\"]}");
}

/* Ends the program where the tool has an option that no case reaches. */
static void check_options(hostile_tool *help, const option *options) {
    for (char *line = strtok((char *)help->text.data, "\n"); line; line = strtok(NULL, "\n")) {
        char name[64] = "", *dashes = strstr(line, "--");
        if (line[0] != ' ' || !dashes || dashes > line + 6 || sscanf(dashes + 2, "%63[a-z-]=%*c", name) != 1) continue;
        const option *row = options;
        if (dashes[2 + strlen(name)] != '=') continue; /* a flag */
        while (row->name && strcmp(row->name, name) != 0) row++;
        if (row->name) continue;
        fprintf(stderr, "%s --%s is in no row of tests/fuzz/kind_arguments.c\n", help->name, name);
        exit(EXIT_FAILURE);
    }
}

static void load_arguments(void) {
    char path[256], *bin = realpath(hostile_bin(), NULL);
    hostile_result result = {.refused = 0};
    folder = hostile_own_folder("arguments");
    if (!bin || strlen(bin) > MOST_VALUE - 40) abort();
    snprintf(plugin, sizeof plugin, "%s/../lib/xpu-target-byoc.so", bin);
    free(bin);
    for (int i = 0; i < INPUTS; i++) hostile_load(&bytes[i], inputs[i].from);
    hostile_compile(&program, "tests/models/mnist-8.onnx", "nano", "fp32", NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i ? "sub" : "suite");
        mkdir(path, 0700);
    }
    fill_folder();
    hostile_tool_run(&result, (const char *[]){"xpu-run", "p.xpu", "-ix.npy", "-dfunc", "--dump-layers=d", NULL},
                     folder, 0);
    if (result.refused || result.problem[0]) abort();
    for (int i = 0; i < TOOLS; i++) {
        hostile_tool help;
        hostile_tool_start(&help, (const char *[]){tools[i].name, "--help", NULL}, folder, 0);
        hostile_tool_finish(&help);
        check_options(&help, tools[i].options);
        hostile_tool_clear(&help);
    }
}

/* ---- making ---- */

/* One of the words, separated by blanks. */
static void draw_word(hostile_random *random, const char *words, char *text, size_t size) {
    uint32_t count = 1;
    for (const char *c = words; *c; c++) count += *c == ' ';
    for (uint32_t skip = hostile_below(random, count); skip > 0; skip--) words = strchr(words, ' ') + 1;
    snprintf(text, size, "%.*s", (int)strcspn(words, " "), words);
}

static void damage_value(hostile_random *random, char *text, size_t size) {
    /* no '/': what is written stays in the folder */
    static const char *const pieces[] = {"",    ",",    "=",     ":",  "..", "-",    "0",        "1e999",
                                         "nan", "%s%n", "\n",    "\\", "\"", "\xff", "\033[31m", "\xe2\x80\xae",
                                         "*",   "[",    "x.npy", "d",  " ",  "--"};
    hostile_file value = {NULL, 0, 0};
    hostile_set(&value, text, strlen(text));
    for (uint32_t i = 1 + hostile_below(random, 3); i > 0; i--) {
        char number[24];
        size_t at = hostile_below(random, (uint32_t)value.size + 1), removed = hostile_below(random, 5);
        if (removed > value.size - at) removed = value.size - at;
        snprintf(number, sizeof number, "%lld", (long long)hostile_number(random));
        const char *piece =
            hostile_chance(random, 30) ? number : pieces[hostile_below(random, sizeof pieces / sizeof *pieces)];
        hostile_replace(&value, at, removed, piece, strlen(piece));
    }
    snprintf(text, size, "%.*s", (int)value.size, (const char *)value.data);
    hostile_clear(&value);
}

static void draw_path(hostile_random *random, const option *row, char *text, size_t size) {
    static const char *const there[] = {"m.onnx",        "x.npy", "p.xpu", "chip.json", "rules.json", "problem.json",
                                        "labels.txt",    "d",     "suite", "sub",       ".",          "/dev/null",
                                        "precision.json"};
    static const char *const odd[] = {"",         "no/such/file", "/dev/full", "\n\033[31m", "%s%n",
                                      "\xff\xfe", "x.npy/y",      "..",        "-"};
    uint32_t kind = hostile_below(random, 10);
    if (kind < 4) {
        draw_word(random, row->values, text, size);
        if (strcmp(row->name, "plugin") == 0) snprintf(text, size, "%s", plugin);
    } else if (kind < 7) {
        snprintf(text, size, "%s", there[hostile_below(random, sizeof there / sizeof *there)]);
    } else if (kind < 9) {
        snprintf(text, size, "%s", odd[hostile_below(random, sizeof odd / sizeof *odd)]);
    } else {
        memset(text, 'a', size - 1);
        text[size - 1] = 0;
    }
}

static void add_words(hostile_file *file, const char *words) {
    size_t first = file->size;
    hostile_add(file, words, strlen(words) + 1);
    for (size_t i = first; i < file->size; i++) {
        if (file->data[i] == ' ') file->data[i] = 0;
    }
}

static void add_job(hostile_file *file, const char *job) {
    static const char place[] = "PLUGIN";
    const char *at = strstr(job, place);
    char text[2 * MOST_VALUE];
    snprintf(text, sizeof text, "%.*s%s%s", at ? (int)(at - job) : (int)strlen(job), job, at ? plugin : "",
             at ? at + strlen(place) : "");
    add_words(file, text);
}

static void make_arguments(hostile_random *random, hostile_file *file) {
    static const uint32_t of_tool[] = {0, 0, 0, 1, 1, 1, 1, 2, 3, 4, 5};
    uint32_t tool = of_tool[hostile_below(random, sizeof of_tool / sizeof *of_tool)], rows = 0, flags = 0, jobs = 0;
    while (tools[tool].options[rows].name) rows++;
    while (flags < 8 && tools[tool].flags[flags]) flags++;
    while (jobs < JOBS && tools[tool].jobs[jobs]) jobs++;
    const option *row = &tools[tool].options[hostile_below(random, rows)];
    file->size = 0;
    add_words(file, tools[tool].name);
    add_job(file, row->job && hostile_chance(random, 90) ? row->job : tools[tool].jobs[hostile_below(random, jobs)]);
    for (uint32_t i = hostile_chance(random, 65) ? 1 : 2 + hostile_below(random, 2); i > 0; i--) {
        char value[MOST_VALUE], word[MOST_VALUE + 64];
        if (row->kind == READS || row->kind == WRITES) {
            draw_path(random, row, value, sizeof value);
        } else {
            draw_word(random, row->values, value, sizeof value);
            if (row->kind == TEXT && hostile_chance(random, 45)) damage_value(random, value, sizeof value);
        }
        snprintf(word, sizeof word, "--%s=%s", row->name, value);
        hostile_add(file, word, strlen(word) + 1);
        row = &tools[tool].options[hostile_below(random, rows)];
    }
    if (hostile_chance(random, 15)) add_words(file, tools[tool].flags[hostile_below(random, flags)]);
}

/* ---- feeding ---- */

static void feed_arguments(hostile_random *random, const hostile_file *file, hostile_result *result) {
    const char *words[MOST_WORDS];
    int count = 0;
    (void)random;
    const char *at = (const char *)file->data, *end = at + file->size;
    for (; at < end && count < MOST_WORDS - 1; at += strlen(at) + 1) words[count++] = at;
    words[count] = NULL;
    fill_folder();
    hostile_tool_run(result, words, folder, 0);
}

const hostile_kind hostile_arguments = {"arguments", ".args", load_arguments, make_arguments, feed_arguments};
