#include "base/words.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

typedef struct {
    const char *text, *python, *onnxruntime;
} words_case;

static const words_case cases[] = {
    {"for code that fits: --shape x=1..16,1", "for code that fits: shapes={\"x\": \"1..16,1\"}",
     "for code that fits: shapes=x=1..16,1"},
    {"write for example --value sr=16000, --value axes=0,2 or --value k=1..9",
     "write for example values={\"sr\": \"16000\"}, values={\"axes\": \"0,2\"} or values={\"k\": \"1..9\"}",
     "write for example values=sr=16000, values=axes=0,2 or values=k=1..9"},
    {"give --shape a:0=1,3 --shape b=N=1..4,128", "give shapes={\"a:0\": \"1,3\", \"b\": \"N=1..4,128\"}",
     "give shapes=a:0=1,3;b=N=1..4,128"},
    {"--shape x=1 --value k=2", "shapes={\"x\": \"1\"} values={\"k\": \"2\"}", "shapes=x=1 values=k=2"},
    {"--shape x=1 --shape", "shapes={\"x\": \"1\"} the argument shapes", "shapes=x=1 the option shapes"},
    {"m.onnx: error [shape] --shape x=1,2: no such input",
     "m.onnx: error [shape] shapes={\"x\": \"1,2\"}: no such input",
     "m.onnx: error [shape] shapes=x=1,2: no such input"},
    {"say how large it may be: --bound=n=N", "say how large it may be: bounds={\"n\": \"N\"}",
     "say how large it may be: bounds=n=N"},
    {"give one: --shape x=...", "give one: shapes={\"x\": \"...\"}", "give one: shapes=x=..."},
    {"hint: xpuc --value", "hint: the argument values", "hint: the option values"},
    {"give a --shape or --value that decides", "give an argument shapes or the argument values that decides",
     "give an option shapes or the option values that decides"},
    {"option '--chip'", "option 'chip'", "option 'chip'"},
    {"option '--emit'", "option '--emit'", "option '--emit'"},
    {"compile it with xpuc --chip=nano", "compile it with chip=\"nano\"", "compile it with chip=nano"},
    {"(xpuc --clang-seconds=N)", "(clang_seconds=N)", "(xpuc --clang-seconds=N)"},
    {"raise the limit: --max-cycles=N (all)", "raise the limit: max_cycles=N (all)",
     "raise the limit: xpu-run --max-cycles=N (all)"},
    {"give their file: --params=FILE", "give their file: params=\"FILE\"", "give their file: xpuc --params=FILE"},
    {"--dump-iterations='*' all of them", "dump_iterations=\"*\" all of them",
     "xpu-run --dump-iterations='*' all of them"},
    {"compile it without --strip", "compile it without the argument strip", "compile it without xpuc --strip"},
    {"see --explain, or --explain=json", "see xpu.explain, or xpu.explain",
     "see the option report, or the option report"},
    {"leave --precision out", "leave the argument precision out", "leave the option precision out"},
    {"--precision-rules", "the argument precision_rules", "the option precision_rules"},
    {"xpu-run --dump-layers=DIR", "dump=\"DIR\"", "dump=DIR"},
    {"xpuc --emit=c", "xpuc --emit=c", "xpuc --emit=c"},
    {"ld.lld --gc-sections, x--shape, a/--shape, --shapely, --shape_x --",
     "ld.lld --gc-sections, x--shape, a/--shape, --shapely, --shape_x --",
     "ld.lld --gc-sections, x--shape, a/--shape, --shapely, --shape_x --"},
    {"", "", ""},
    {"--", "--", "--"},
    {"x", "x", "x"},
    {"--chip=", "the argument chip=", "the option chip="},
    {"--value =3", "the argument values =3", "the option values =3"},
    {"--dump-iterations='", "the argument dump_iterations='", "xpu-run --dump-iterations='"},
    {"leave one --state out", "leave one argument states out", "leave one xpuc --state out"},
    {"contradicts another --shape", "contradicts another argument shapes", "contradicts another option shapes"},
};

static void check(const char *text, xpu_interface interface, const char *wanted) {
    size_t size = strlen(text) + 1;
    char *exact = malloc(size); /* nothing behind it is read */
    memcpy(exact, text, size);
    char *own = xpu_words_of(exact, interface);
    if (!own || strcmp(own, wanted) != 0) fprintf(stderr, "%s:\n  %s\n  wanted %s\n", text, own ? own : "none", wanted);
    CU_ASSERT(own && strcmp(own, wanted) == 0);
    free(own);
    free(exact);
}

static void texts(void) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check(cases[i].text, XPU_WORDS_PYTHON, cases[i].python);
        check(cases[i].text, XPU_WORDS_ONNXRUNTIME, cases[i].onnxruntime);
    }
}

XPU_TEST_MAIN("words", {"texts", texts})
