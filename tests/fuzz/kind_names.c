/*
 * Names that a terminal would obey: models and programs whose names have control bytes, escape sequences and bytes that
 * are no UTF-8, through every tool that prints them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/hostile.h"

enum { MODEL, PROGRAM, FREE, SEEDS };
static hostile_file seeds[SEEDS];
static const char *folder;

static const char *const names[] = {"Input3",     "Plus214_Output_0", "Plus214",   "ReLU32",       "Pooling66",
                                    "Pooling160", "Times212",         "ReLU114",   "Parameter193", "Convolution28",
                                    "Parameter5", "CNTKGraph",        "sym_height"};

static void load_names(void) {
    hostile_file image = {NULL, 0, 0};
    char path[256];
    folder = hostile_own_folder("names");
    if (!seeds[MODEL].data) {
        hostile_load(&seeds[MODEL], "tests/models/mnist-8.onnx");
        hostile_compile(&seeds[PROGRAM], "tests/models/mnist-8.onnx", "nano", "fp32", NULL);
        hostile_compile(&seeds[FREE], "tests/models/mnist-8.onnx", "nano", "auto",
                        "Input3=1,1,sym_height=14..60,W=14..60");
    }
    hostile_load(&image, "tests/models/9.npy");
    hostile_put(folder, "x.npy", &image);
    hostile_put(folder, "m.onnx", &seeds[MODEL]);
    snprintf(path, sizeof path, "%s/index", folder);
    mkdir(path, 0700);
    hostile_clear(&image);
}

/* As many bytes as `length`, none of them 0. */
static void draw_name(hostile_random *random, uint8_t *name, size_t length) {
    static const char *const pieces[] = {"\033[31m",
                                         "\033]0;x\007",
                                         "\r",
                                         "\n",
                                         "\b",
                                         "\177",
                                         ("\xc2\x9b"
                                          "1m"),
                                         "\xff",
                                         "\xe2\x80\xae",
                                         "%n%s",
                                         "'",
                                         "\"",
                                         "\\",
                                         "\t",
                                         "\x01",
                                         "\xc3",
                                         "\xed\xa0\x80",
                                         "a",
                                         "B",
                                         "/",
                                         ".."};
    for (size_t at = 0; at < length;) {
        const char *piece = pieces[hostile_below(random, sizeof pieces / sizeof *pieces)];
        size_t n = strlen(piece) < length - at ? strlen(piece) : length - at;
        memcpy(name + at, piece, n);
        at += n;
    }
}

/* Every place of some names gets other bytes, the same everywhere: lengths stay as they are. */
static void rename_all(hostile_random *random, hostile_file *file) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint8_t other[32];
        size_t length = strlen(names[i]);
        if (hostile_chance(random, 40)) continue;
        draw_name(random, other, length);
        for (size_t at = 0; at + length <= file->size; at++) {
            if (memcmp(file->data + at, names[i], length) == 0) memcpy(file->data + at, other, length);
        }
    }
}

/* A string of JSON that stands for such a name. */
static void add_string(hostile_random *random, hostile_file *file) {
    uint8_t name[24];
    char text[8];
    size_t length = 1 + hostile_below(random, sizeof name);
    draw_name(random, name, length);
    hostile_add_text(file, "\"");
    for (size_t i = 0; i < length; i++) {
        int plain = name[i] >= 0x20 && name[i] < 0x7f && name[i] != '"' && name[i] != '\\';
        snprintf(text, sizeof text, plain ? "%c" : "\\u%04x", name[i]); /* a byte over 0x7f is U+0080 to U+00FF */
        hostile_add_text(file, text);
    }
    hostile_add_text(file, "\"");
}

/* Rules, chips, plan problems, cases and indices of dumps: all of their keys, and strings drawn. */
static void make_json(hostile_random *random, hostile_file *file) {
    static const char *const pieces[] = {"{\"version\": 1, \"name\": ",
                                         ", ",
                                         ": 1, \"model\": ",
                                         ", \"rules\": [{\"match\": ",
                                         ", \"level\": ",
                                         ", \"precision\": ",
                                         "}], \"levels\": [{\"name\": ",
                                         ", \"bytes\": 64}], \"buffers\": [{\"name\": ",
                                         ", \"bytes\": 4, \"first\": 0, \"last\": 1, \"levels\": [",
                                         "]}], \"layers\": [{\"layer\": ",
                                         ", \"tensor\": ",
                                         ", \"file\": "};
    file->size = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        hostile_add_text(file, pieces[i]);
        add_string(random, file);
    }
    hostile_add_text(file, "}]}");
}

static void make_names(hostile_random *random, hostile_file *file) {
    static const char *const sections[] = {".xpu.program", ".xpu.graph"};
    uint32_t which = hostile_below(random, SEEDS + 1);
    if (which == SEEDS) {
        make_json(random, file);
        return;
    }
    hostile_set(file, seeds[which].data, seeds[which].size);
    if (which == MODEL) {
        rename_all(random, file);
        return;
    }
    hostile_random same = *random; /* both sections get the same names */
    for (int i = 0; i < 2; i++) {
        hostile_file contents = {NULL, 0, 0};
        *random = same;
        if (!hostile_section(file, sections[i], &contents)) continue;
        rename_all(random, &contents);
        hostile_set_section(file, sections[i], &contents);
        hostile_clear(&contents);
    }
}

static void feed_names(hostile_random *random, const hostile_file *file, hostile_result *result) {
    static const char *const of_model[][8] = {
        {"xpuc", "-v", "f.bin", "--emit=c", "-o", "out.c", NULL},
        {"xpuc", "f.bin", "--emit=ir", NULL},
        {"xpuc", "f.bin", "--emit=c", "--explain", "-o", "out.c", NULL},
        {"xpuc", "f.bin", "--emit=c", "--dump-after=chains", "-o", "out.c", NULL},
        {"xpuc", "--describe", "f.bin", NULL},
        {"xpuc", "f.bin", "--emit=c", "--shape=Input3=N,1,28,28", "-o", "out.c", NULL},
        {"xpuc", "f.bin", "--emit=c", "--shape=no\033[1m=N,1,28,28", "-o", "out.c", NULL},
    };
    static const char *const of_program[][9] = {
        {"xpuc", "--describe", "f.bin", NULL},
        {"xpuc", "-v", "--describe", "f.bin", NULL},
        {"xpu-run", "-v", "f.bin", "-i", "x.npy", "--device=ref", NULL},
        {"xpu-run", "-v", "f.bin", "-i", "x.npy", "--device=func", "--dump-layers=dump", NULL},
        {"xpu-run", "f.bin", "-i", "no\033[1m=x.npy", "--device=ref", NULL},
        {"xpu-run", "f.bin", "--device=ref", NULL},
        {"xpu-run", "f.bin", "--device=func", "--max-cycles=3000", "-i", "x.npy", NULL},
        {"xpu-run", "f.bin", "--device=ref", "--layer=no\r", "--from-dump=dump", NULL},
        {"xpu-run", "f.bin", "--device=ref", "--layer=*", "--from-dump=dump", NULL},
        {"xpu-dump", "show", "dump", NULL},
        {"xpu-dump", "diff", "dump", "dump", NULL},
    };
    static const char *const of_json[][6] = {
        {"xpu-memplan", "check", "f.json", "f.json", NULL},
        {"xpu-memplan", "plan", "f.json", "-v", NULL},
        {"xpuc", "m.onnx", "--emit=ir", "--memory=f.json", NULL},
        {"xpuc", "m.onnx", "--emit=ir", "--chip=f.json", NULL},
        {"xpuc", "m.onnx", "--emit=ir", "--precision-rules=f.json", NULL},
        {"xpu-regress", "f.json", NULL},
        {"xpu-dump", "show", "index", NULL},
        {"xpu-dump", "diff", "index", "index", NULL},
    };
    if (file->size && file->data[0] == '{') {
        hostile_put(folder, "f.json", file);
        hostile_put(folder, "index/index.json", file);
        hostile_tool_run(result, of_json[hostile_below(random, sizeof of_json / sizeof *of_json)], folder,
                         hostile_chance(random, 50));
        return;
    }
    int is_program = file->size > 4 && memcmp(file->data, "\177ELF", 4) == 0;
    hostile_put(folder, "f.bin", file);
    const char *const *argv = is_program ? of_program[hostile_below(random, sizeof of_program / sizeof *of_program)]
                                         : of_model[hostile_below(random, sizeof of_model / sizeof *of_model)];
    hostile_tool_run(result, argv, folder, hostile_chance(random, 50));
}

const hostile_kind hostile_names = {"names", ".bin", load_names, make_names, feed_names};
