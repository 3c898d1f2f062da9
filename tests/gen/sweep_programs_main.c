/*
 * sweep_programs MODEL...: a line for each model with a hash of what xpuc makes of it for the chip nano: the lowered
 * graph, the generated C, and where each node runs. Only what has another line runs otherwise (tests/mutation).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "xpuc/include/xpuc.h"

static void print_hash(const void *bytes, size_t size) {
    xpu_hash hash = xpu_hash_of(bytes, size);
    putchar(' ');
    for (int i = 0; i < XPU_HASH_BYTES; i++) printf("%02x", hash.bytes[i]);
}

static void print_form(const char *model, const char *emit) {
    xpuc_options options = {.chip = "nano", .emit = emit, .explain = "text"};
    xpuc_result result;
    xpuc_error error;
    if (xpuc_compile_file(model, &options, &result, &error)) {
        printf(" is not compiled");
    } else {
        print_hash(result.bytes, result.size);
        print_hash(result.explanation, strlen(result.explanation));
    }
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        printf("%s", argv[i]);
        print_form(argv[i], "c");
        print_form(argv[i], "ir");
        putchar('\n');
        fflush(stdout);
    }
    return ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
