#include "base/option.h"

#include <string.h>

#include "tests/unit/oom.h"
#include "tests/unit/unit.h"

static const xpu_option options[] = {
    {"target", 0, "NAME", "compile for this target"},
    {"output", 'o', "FILE", "write the program here"},
    {"explain", 0, "[json]", "say why"},
    {"strip", 's', NULL, "leave the graph out"},
    {"a-very-long-option-name-indeed", 0, "SOMETHING", "has a line of its own"},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {"xpuc", "MODEL [options]", "Compiles a model.", "xpuc m.onnx\nxpuc --help",
                                    options};

typedef struct {
    const char *words[6];
    const char *result; /* "name=value;" per argument, or the text of all diagnostics */
} parse_case;

static const parse_case parses[] = {
    {{"m.onnx"}, "=m.onnx;"},
    {{"--target=xpu-sim", "m", "-o", "x"}, "target=xpu-sim;=m;output=x;"},
    {{"--target", "xpu-sim", "-ox"}, "target=xpu-sim;output=x;"},
    {{"--target="}, "target=;"},
    {{"--target=a=b", "--target", "--strip"}, "target=a=b;target=--strip;"},
    {{"--explain", "m"}, "explain;=m;"},
    {{"--explain=json"}, "explain=json;"},
    {{"-sqv", "-so", "x"}, "strip;quiet;verbose;strip;output=x;"},
    {{"-sofile"}, "strip;output=file;"},
    {{"-", "--", "--strip", "-o"}, "=-;=--strip;=-o;"},
    {{"--help", "--version"}, "help;version;"},
    {{"--taget=x"},
     "error [usage] option '--taget': unknown option\n  why: xpuc has no option of this name\n"
     "  hint: did you mean --target?\n"},
    {{"--zzzzzz"},
     "error [usage] option '--zzzzzz': unknown option\n  why: xpuc has no option of this name\n"
     "  hint: xpuc --help lists the options\n"},
    {{"-sx"},
     "error [usage] option '-x': unknown option\n  why: xpuc has no option of this name\n"
     "  hint: xpuc --help lists the options\n"},
    {{"m", "--target"},
     "error [usage] option '--target': the option needs a value\n  why: the command line ends here\n"
     "  hint: write --target=NAME\n"},
    {{"-o"},
     "error [usage] option '-o': the option needs a value\n  why: the command line ends here\n"
     "  hint: write --output=FILE\n"},
    {{"--strip=yes", "--strop"},
     "error [usage] option '--strip': the option takes no value\n  why: the value 'yes' was given\n"
     "  hint: leave out '=' and what follows\n"
     "error [usage] option '--strop': unknown option\n  why: xpuc has no option of this name\n"
     "  hint: did you mean --strip?\n"},
    {{"--st\nrip"},
     "error [usage] option '--st\\x0arip': unknown option\n  why: xpuc has no option of this name\n"
     "  hint: did you mean --strip?\n"},
};

static const char *parse(xpu_arena *arena, const parse_case *c) {
    char *argv[8] = {"xpuc"};
    int argc = 1;
    for (; argc < 7 && c->words[argc - 1]; argc++) argv[argc] = xpu_strdup(arena, c->words[argc - 1]);
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_arguments arguments;
    xpu_status status = xpu_options_parse(arena, &command, argc, argv, &arguments, &diags);
    xpu_text text;
    xpu_text_init(&text, arena);
    if (status == XPU_OK) {
        for (uint32_t i = 0; i < arguments.count; i++) {
            const xpu_argument *a = &arguments.items[i];
            xpu_text_add(&text, "%s%s%s;", a->name ? a->name : "", a->value ? "=" : "", a->value ? a->value : "");
        }
    }
    for (size_t i = 0; i < diags.count; i++) {
        char buffer[512];
        xpu_diag_text(&diags, i, buffer, sizeof buffer);
        xpu_text_add(&text, "%s\n", buffer);
    }
    CU_ASSERT_EQUAL(status, diags.count ? XPU_EUSAGE : XPU_OK);
    CU_ASSERT_EQUAL(xpu_diags_status(&diags), status);
    xpu_diags_clear(&diags);
    return text.text;
}

static xpu_status parse_all(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    for (size_t i = 0; i < sizeof parses / sizeof *parses; i++) {
        const char *result = parse(arena, &parses[i]);
        if (strcmp(result, parses[i].result) != 0) fprintf(stderr, "case %zu: %s\n", i, result);
        CU_ASSERT_STRING_EQUAL(result, parses[i].result);
    }
    return XPU_OK;
}

static void parsing(void) {
    xpu_diags diags;
    xpu_diags_init(&diags);
    CU_ASSERT_EQUAL(xpu_run_work(parse_all, &diags), XPU_OK);
    xpu_diags_clear(&diags);
}

static xpu_status make_help(xpu_arena *arena, xpu_diags *diags) {
    (void)diags;
    static const char expected[] = "Usage: xpuc MODEL [options]\n"
                                   "\n"
                                   "Compiles a model.\n"
                                   "\n"
                                   "Options:\n"
                                   "      --target=NAME      compile for this target\n"
                                   "  -o, --output=FILE      write the program here\n"
                                   "      --explain[=json]   say why\n"
                                   "  -s, --strip            leave the graph out\n"
                                   "      --a-very-long-option-name-indeed=SOMETHING\n"
                                   "                         has a line of its own\n"
                                   "  -q, --quiet            say nothing but errors\n"
                                   "  -v, --verbose          say more\n"
                                   "      --help[=man|bash]  show this text, the man page, or completion for bash\n"
                                   "      --version          show the version\n"
                                   "\n"
                                   "Example:\n"
                                   "  xpuc m.onnx\n"
                                   "  xpuc --help\n";
    CU_ASSERT_STRING_EQUAL(xpu_options_help(arena, &command), expected);
    return XPU_OK;
}

static void help(void) {
    CU_ASSERT(xpu_fail_each_allocation(make_help, 1) > 10);
}

typedef struct {
    const char *word, *nearest;
} nearest_case;

static void nearest(void) {
    static const char *const words[] = {"output", "chip", "memory", "precision", "q", NULL};
    static const nearest_case cases[] = {
        {"output", "output"},
        {"outptu", "output"},
        {"ouput", "output"},
        {"memroy", "memory"},
        {"percision", "precision"},
        {"chips", "chip"},
        {"xyz", NULL},
        {"a", NULL},
        {"", NULL},
        {"shape", NULL},
        {"presition", "precision"},
        {"ooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = xpu_nearest(cases[i].word, words);
        int right = cases[i].nearest ? found && strcmp(found, cases[i].nearest) == 0 : !found;
        if (!right) fprintf(stderr, "nearest to %s: %s\n", cases[i].word, found ? found : "none");
        CU_ASSERT(right);
    }
}

XPU_TEST_MAIN("option", {"parsing", parsing}, {"help", help}, {"nearest word", nearest})
