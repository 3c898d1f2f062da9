#include "frontend/paddle/files.h"

#include <dirent.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "frontend/paddle/paddle.h"

enum { DEFAULT_MAX_BYTES = 256 << 20, MAX_FILES = 100000 };

typedef struct {
    xpu_arena *arena, *scratch;
    const xpu_import_options *options;
    xpu_paddle_files *files;
    xpu_diags *diags;
} finder;

#define TEXT(f, ...) xpu_printf((f)->scratch, __VA_ARGS__)

static int ends_with(const char *name, const char *ending) {
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcasecmp(name + length - tail, ending) == 0;
}

static int is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Files that are no programs, and what they are. */
static const struct {
    const char *ending, *what, *hint;
} others[] = {
    {".encrypted", "it is encrypted", "decrypt it with the key that it was encrypted with"},
    {".nb", "it is a model that Paddle-Lite has optimised (naive buffer)",
     "give the program that it was made from (inference.pdmodel or inference.json)"},
    {".pdiparams", "it holds parameters; which operators use them stands in the program beside it",
     "give the program (inference.pdmodel or inference.json)"},
};

int xpu_paddle_is_model(const char *path) {
    static const char *const endings[] = {".pdmodel", ".json", "__model__"};
    if (is_folder(path)) return 1;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (ends_with(path, endings[i])) return 1;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (ends_with(path, others[i].ending)) return 1;
    }
    return 0;
}

static int refuse(const finder *f, const char *why, const char *hint) {
    xpu_error(f->diags, XPU_EMODEL, f->files->path, "paddle-format", NULL, "the file is no PaddlePaddle program", why,
              hint);
    return 0;
}

static int refuse_other(const finder *f, size_t which) {
    return refuse(f, others[which].what, others[which].hint);
}

/* ---- which program ---- */

/* The names of a folder's files that end so, separated by ", ", and how many there are; `only` is the last of them. */
static uint32_t list_files(const finder *f, const char *folder, const char *ending, xpu_text *all, const char **only) {
    DIR *dir = opendir(folder);
    uint32_t count = 0, seen = 0;
    xpu_text_init(all, f->scratch);
    if (!dir) return 0;
    XPU_ARRAY(const char *) names = {0};
    xpu_arena_defer(f->scratch, (void (*)(void *))(void *)closedir, dir);
    for (struct dirent *entry; seen < MAX_FILES && (entry = readdir(dir)) != NULL; seen++) {
        if (ends_with(entry->d_name, ending)) XPU_PUSH(f->scratch, &names, xpu_strdup(f->scratch, entry->d_name));
    }
    for (; count < names.count; count++) {
        uint32_t least = count;
        for (uint32_t k = count + 1; k < names.count; k++) {
            if (strcmp(names.items[k], names.items[least]) < 0) least = k;
        }
        const char *name = names.items[least];
        names.items[least] = names.items[count];
        names.items[count] = name;
        if (count < 10) xpu_text_add(all, "%s'%s'", count ? ", " : "", xpu_escape(f->scratch, name, 100));
        *only = name;
    }
    return count;
}

/* The program in a folder; NULL after reporting. */
static const char *find_program(const finder *f, const char *folder) {
    static const char *const names[] = {"inference.pdmodel", "model.pdmodel", "__model__", "inference.json",
                                        "__model__.json"};
    static const char *const endings[] = {".pdmodel", ".json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = xpu_path_join(f->scratch, folder, names[i]);
        if (xpu_file_exists(path)) return path;
    }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        xpu_text all;
        const char *only = NULL;
        uint32_t count = list_files(f, folder, endings[i], &all, &only);
        if (count == 1) return xpu_path_join(f->scratch, folder, only);
        if (count == 0) continue;
        xpu_error(f->diags, XPU_EMODEL, folder, "paddle-folder", NULL, "it is not plain which program is meant",
                  TEXT(f, "the folder has %u files %s: %s", count, endings[i], all.text), "give one of these files");
        return NULL;
    }
    xpu_error(f->diags, XPU_EMODEL, folder, "paddle-folder", NULL, "the folder holds no PaddlePaddle program",
              "it has neither __model__ nor a file .pdmodel or .json", "give a model's file");
    return NULL;
}

/* ---- what is no program ---- */

/* Random bytes have each value about equally often. */
static int looks_random(const uint8_t *bytes, size_t length) {
    enum { LEAST = 1024, MOST = 4096 };
    uint32_t counts[256] = {0};
    size_t n = length < MOST ? length : MOST;
    double expected = (double)n / 256, sum = 0;
    if (n < LEAST) return 0;
    for (size_t i = 0; i < n; i++) counts[bytes[i]]++;
    for (int i = 0; i < 256; i++) sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    return sum < 400;
}

/* Paddle-Lite's: a version of two bytes, then that of its optimiser as 16 characters. */
static int looks_like_lite(const uint8_t *bytes, size_t length) {
    return length > 18 && bytes[0] <= 2 && bytes[1] == 0 && (bytes[2] == 'v' || (bytes[2] >= '0' && bytes[2] <= '9')) &&
           memchr(bytes + 2, '.', 16) != NULL;
}

/* Says of a program that cannot be decoded what it is, if that can be told; 1 where it was said. */
static int explain_bytes(const finder *f, const uint8_t *bytes, size_t length) {
    if (looks_like_lite(bytes, length)) return !refuse_other(f, 1);
    if (!looks_random(bytes, length)) return 0;
    refuse(f, "its bytes are as random as those of an encrypted file", others[0].hint);
    return 1;
}

static int is_json(const char *bytes, size_t length) {
    size_t at = 0;
    while (at < length && strchr(" \t\r\n", bytes[at]) && bytes[at]) at++;
    return at < length && bytes[at] == '{';
}

/* Programs that oneDNN's passes have rewritten hold operators of another dialect. */
static int check_dialects(const finder *f) {
    const xpu_paddle_program *program = f->files->program;
    for (uint32_t b = 0; b < program->blocks.count; b++) {
        for (uint32_t i = 0; i < program->blocks.items[b].op_count; i++) {
            if (strcmp(program->blocks.items[b].ops[i].dialect, "onednn_op") == 0) {
                return refuse(f, "it was optimised for oneDNN: its operators are of the dialect onednn_op",
                              "save the program before it is optimised for a device");
            }
        }
    }
    return 1;
}

static int read_program(const finder *f) {
    xpu_paddle_files *files = f->files;
    size_t length = 0, limit = f->options->max_skeleton_bytes ? f->options->max_skeleton_bytes : DEFAULT_MAX_BYTES;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (ends_with(files->path, others[i].ending)) return refuse_other(f, i);
    }
    files->file = xpu_file_open(f->arena, files->path, f->diags);
    char *bytes = files->file ? xpu_file_read_all(f->scratch, files->path, limit, &length, f->diags) : NULL;
    if (!bytes) return 0;
    xpu_diags *own = xpu_diags_new(f->scratch);
    if (is_json(bytes, length) || ends_with(files->path, ".json"))
        files->program = xpu_paddle_read_pir(f->scratch, bytes, length, files->path, f->options, own);
    else
        files->program = xpu_paddle_read_desc(f->scratch, bytes, length, files->path, f->options, own);
    if (files->program) return check_dialects(f);
    if (explain_bytes(f, (const uint8_t *)bytes, length)) return 0;
    for (size_t i = 0; i < own->count; i++) {
        const xpu_diag *d = &own->items[i];
        xpu_diag_add(f->diags, d->severity, d->status, d->file, d->rule, d->where, d->what, d->why, d->hint);
    }
    if (!own->count) xpu_error_oom(f->diags);
    return 0;
}

/* ---- which parameters ---- */

static int has_parameters(const xpu_paddle_program *program, const char **first) {
    for (uint32_t i = 0; i < program->vars.count; i++) {
        const xpu_paddle_var *var = &program->vars.items[i];
        if (!var->is_persistable || var->kind != XPU_PADDLE_TENSOR || var->block != 0) continue;
        *first = var->name;
        return 1;
    }
    return 0;
}

/* "inference.pdmodel" and "pdiparams" to "inference.pdiparams". */
static const char *with_ending(const finder *f, const char *path, const char *ending) {
    const char *name = xpu_path_name(path), *point = strrchr(name, '.');
    int length = (int)(point && point != name ? point - path : (ptrdiff_t)strlen(path));
    return TEXT(f, "%.*s%s", length, path, ending);
}

static int open_parameters(const finder *f) {
    xpu_paddle_files *files = f->files;
    const char *first = NULL, *only = NULL;
    if (f->options->params) {
        files->params = xpu_file_open(f->arena, f->options->params, f->diags);
        return files->params != NULL;
    }
    if (!has_parameters(files->program, &first)) return 1;
    const char *candidates[] = {with_ending(f, files->path, ".pdiparams"),
                                xpu_path_join(f->scratch, files->folder, "__params__"),
                                xpu_path_join(f->scratch, files->folder, "params")};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        if (!xpu_file_exists(candidates[i]) || is_folder(candidates[i])) continue;
        files->params = xpu_file_open(f->arena, candidates[i], f->diags);
        return files->params != NULL;
    }
    if (xpu_file_exists(xpu_path_join(f->scratch, files->folder, first))) return 1; /* one file for each */
    xpu_text all;
    if (list_files(f, files->folder, ".pdiparams", &all, &only) == 1 &&
        strcmp(xpu_path_name(files->path), "__model__") == 0) {
        files->params = xpu_file_open(f->arena, xpu_path_join(f->scratch, files->folder, only), f->diags);
        return files->params != NULL;
    }
    files->missing =
        TEXT(f, "there is neither '%s' nor '__params__' beside the program, nor a file '%s'",
             xpu_escape(f->scratch, xpu_path_name(candidates[0]), 100), xpu_escape(f->scratch, first, 100));
    return 1;
}

xpu_status xpu_paddle_open(xpu_arena *arena, xpu_arena *scratch, const char *path, const xpu_import_options *options,
                           xpu_paddle_files *files, xpu_diags *diags) {
    finder f = {.arena = arena, .scratch = scratch, .options = options, .files = files, .diags = diags};
    *files = (xpu_paddle_files){.path = path};
    if (is_folder(path)) {
        files->path = find_program(&f, path);
        if (!files->path) return xpu_diags_status(diags);
        files->path = xpu_strdup(arena, files->path);
    }
    files->folder = xpu_path_folder(scratch, files->path);
    return read_program(&f) && open_parameters(&f) ? XPU_OK : xpu_diags_status(diags);
}
