/*
 * Files that stay as they are: what a caller names, and behind an API boundary that asks for it whatever is read
 * (xpu_file_open adds it). Outputs refuse to take their place (base/file.h), whichever way leads there: links, hard
 * links, other spellings. Devices such as /dev/null take everything.
 */
#ifndef XPU_BASE_KEEP_H
#define XPU_BASE_KEEP_H

#include "base/diag.h"

/* For API boundaries, tools' mains too: from now on every file that is opened for reading is kept. */
void xpu_keep_what_is_read(xpu_mem *mem);

/* A file, which may be missing, or a folder as such. */
void xpu_keep(xpu_arena *arena, const char *path);
/* The files that are in a folder under names that match the glob. */
void xpu_keep_files(xpu_arena *arena, const char *folder, const char *glob);
/* What another xpu_mem keeps, too. */
void xpu_keep_all(xpu_arena *arena, const xpu_mem *of);
/* The owner of a file that was read is going to write it anew. */
void xpu_keep_no_more(xpu_mem *mem, const char *path);

/* The kept path whose file an output to `path` would replace, or NULL. */
const char *xpu_kept_path(const xpu_mem *mem, const char *path);
/* The error [output-read] about it. `where`: "option '--output'", or NULL. */
xpu_status xpu_kept_error(xpu_arena *arena, xpu_diags *diags, const char *where, const char *path, const char *kept);

/* Whether both paths stand for the same name in the same folder, links followed: what is written to one of them would
 * replace the other. */
int xpu_paths_clash(const char *a, const char *b);

#endif
