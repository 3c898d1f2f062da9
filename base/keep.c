#define _GNU_SOURCE 1
#include "base/keep.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a path leads to. A name that does not exist yet has a folder, too. */
typedef struct {
    char path[PATH_MAX]; /* links resolved; what does not exist keeps its own */
    const char *name;    /* its last component */
    int exists, has_folder;
    struct stat file, folder;
} place;

struct xpu_kept {
    xpu_kept *older;
    const char *path, *name;
    const char *glob; /* of files in the folder; NULL: the file itself */
    int exists, has_folder, forgotten;
    dev_t device, folder_device;
    ino_t node, folder_node;
};

static const char *last_component(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void find(const char *path, place *p) {
    char folder[PATH_MAX];
    if (!realpath(path, p->path)) {
        snprintf(p->path, sizeof p->path, "%s", path);
        for (size_t n = strlen(p->path); n > 1 && p->path[n - 1] == '/';) p->path[--n] = '\0';
    }
    p->name = last_component(p->path);
    p->exists = stat(p->path, &p->file) == 0;
    size_t length = (size_t)(p->name - p->path);
    memcpy(folder, p->path, length);
    folder[length] = '\0';
    p->has_folder = stat(length ? folder : ".", &p->folder) == 0;
}

static int is_stream(const char *path) {
    return strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0;
}

/* Neither a file nor a folder: writing to it replaces nothing. */
static int is_device(const place *p) {
    return p->exists && !S_ISREG(p->file.st_mode) && !S_ISDIR(p->file.st_mode);
}

static void add(xpu_arena *arena, const char *path, const char *glob) {
    place p;
    xpu_mem *mem = xpu_arena_mem(arena);
    find(path, &p);
    if (is_device(&p) || (glob && !p.exists)) return;
    const xpu_kept *last = mem->kept;
    if (!glob && last && !last->glob && !last->forgotten && strcmp(last->path, path) == 0 && p.exists && last->exists &&
        last->device == p.file.st_dev && last->node == p.file.st_ino) {
        return; /* again and again the same */
    }
    if (!mem->kept_arena) mem->kept_arena = xpu_arena_new(mem, "files that are kept");
    xpu_kept *kept = XPU_NEW(mem->kept_arena, xpu_kept);
    *kept = (xpu_kept){.older = mem->kept,
                       .path = xpu_strdup(mem->kept_arena, path),
                       .name = xpu_strdup(mem->kept_arena, p.name),
                       .glob = glob ? xpu_strdup(mem->kept_arena, glob) : NULL,
                       .exists = p.exists,
                       .has_folder = p.has_folder};
    if (p.exists) kept->device = p.file.st_dev, kept->node = p.file.st_ino;
    if (p.has_folder) kept->folder_device = p.folder.st_dev, kept->folder_node = p.folder.st_ino;
    mem->kept = kept;
}

void xpu_keep_what_is_read(xpu_mem *mem) {
    mem->keeps_reads = 1;
}

void xpu_keep(xpu_arena *arena, const char *path) {
    add(arena, path, NULL);
}

void xpu_keep_files(xpu_arena *arena, const char *folder, const char *glob) {
    add(arena, folder, glob);
}

void xpu_keep_all(xpu_arena *arena, const xpu_mem *of) {
    xpu_mem *mem = xpu_arena_mem(arena);
    for (const xpu_kept *from = of->kept; from; from = from->older) {
        if (!mem->kept_arena) mem->kept_arena = xpu_arena_new(mem, "files that are kept");
        xpu_kept *kept = xpu_copy(mem->kept_arena, from, sizeof *from);
        kept->older = mem->kept; /* the texts are those of `of`, which lives longer */
        mem->kept = kept;
    }
}

static int is_same_file(const xpu_kept *kept, const place *p) {
    int same_node = kept->exists && p->exists && kept->device == p->file.st_dev && kept->node == p->file.st_ino;
    return same_node || (kept->has_folder && p->has_folder && kept->folder_device == p->folder.st_dev &&
                         kept->folder_node == p->folder.st_ino && strcmp(kept->name, p->name) == 0);
}

static int is_kept_in_folder(const xpu_kept *kept, const place *p) {
    return p->exists && p->has_folder && kept->device == p->folder.st_dev && kept->node == p->folder.st_ino &&
           fnmatch(kept->glob, p->name, 0) == 0;
}

static int is_kept(const xpu_kept *kept, const place *p) {
    if (kept->forgotten) return 0;
    return kept->glob ? is_kept_in_folder(kept, p) : is_same_file(kept, p);
}

void xpu_keep_no_more(xpu_mem *mem, const char *path) {
    place p;
    find(path, &p);
    for (xpu_kept *kept = mem->kept; kept; kept = kept->older) kept->forgotten |= is_kept(kept, &p);
}

const char *xpu_kept_path(const xpu_mem *mem, const char *path) {
    place p;
    if (!mem->kept) return NULL;
    find(path, &p);
    if (is_device(&p)) return NULL;
    for (const xpu_kept *kept = mem->kept; kept; kept = kept->older) {
        if (is_kept(kept, &p)) return kept->path;
    }
    return NULL;
}

xpu_status xpu_kept_error(xpu_arena *arena, xpu_diags *diags, const char *where, const char *path, const char *kept) {
    return xpu_error(diags, XPU_EUSAGE, NULL, "output-read", where, "a file that is read would be overwritten",
                     xpu_printf(arena, "the output is '%s', the file to read is '%s'", xpu_escape(arena, path, 200),
                                xpu_escape(arena, kept, 200)),
                     "give the output another name");
}

int xpu_paths_clash(const char *a, const char *b) {
    place one, other;
    find(a, &one);
    find(b, &other);
    if (is_stream(a) || is_stream(b)) return strcmp(a, b) == 0;
    if (strcmp(one.name, other.name) != 0 || (one.exists && S_ISCHR(one.file.st_mode))) return 0;
    return one.has_folder && other.has_folder && one.folder.st_dev == other.folder.st_dev &&
           one.folder.st_ino == other.folder.st_ino;
}
