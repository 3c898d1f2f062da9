#define _GNU_SOURCE 1
#include "base/snapshot.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

/* What the bytes come from: a file, or memory where `file` is NULL. */
typedef struct {
    const xpu_file *file;
    const uint8_t *bytes;
    uint64_t size;
} source;

static void drop(void *object) {
    xpu_snapshot *snapshot = object;
    if (snapshot->fd < 0) return;
    if (snapshot->size) munmap((void *)(uintptr_t)snapshot->bytes, (size_t)snapshot->size);
    close(snapshot->fd);
    snapshot->fd = -1;
}

static xpu_status read_source(const source *from, uint64_t at, void *to, size_t length, xpu_diags *diags) {
    if (from->file) return xpu_file_read(from->file, at, to, length, diags);
    if (length) memcpy(to, from->bytes + at, length);
    return XPU_OK;
}

/* Copies everything into the memory file; *written is 0 where that takes no more. */
static xpu_status fill(int fd, const source *from, uint8_t *chunk, int *written, xpu_diags *diags) {
    xpu_status status = XPU_OK;
    *written = 1;
    for (uint64_t at = 0; status == XPU_OK && *written && at < from->size; at += CHUNK) {
        size_t length = from->size - at < CHUNK ? (size_t)(from->size - at) : CHUNK;
        status = read_source(from, at, chunk, length, diags);
        if (status == XPU_OK) *written = xpu_write_all(fd, chunk, length, -1) == 0;
    }
    return status;
}

/* A sealed memory file, mapped; snapshot->fd stays -1 where the system has none to give. */
static xpu_status try_memory_file(xpu_arena *arena, const source *from, xpu_snapshot *snapshot, xpu_diags *diags) {
    int fd = memfd_create("xpu", MFD_CLOEXEC | MFD_ALLOW_SEALING), written = 0;
    if (fd < 0) return XPU_OK;
    snapshot->fd = fd;
    snapshot->size = 0;
    xpu_arena_defer(arena, drop, snapshot);
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "snapshot");
    xpu_status status = fill(fd, from, xpu_alloc(scratch, CHUNK), &written, diags);
    xpu_arena_free(scratch);
    void *bytes = NULL;
    if (written && from->size) bytes = mmap(NULL, (size_t)from->size, PROT_READ, MAP_PRIVATE, fd, 0);
    int sealed = written && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0;
    if (bytes == MAP_FAILED || !sealed) {
        if (bytes && bytes != MAP_FAILED) munmap(bytes, (size_t)from->size);
        drop(snapshot);
        return status;
    }
    snapshot->bytes = bytes ? bytes : (const uint8_t *)"";
    snapshot->size = from->size;
    return status;
}

static xpu_snapshot *take(xpu_arena *arena, const source *from, xpu_diags *diags) {
    xpu_snapshot *snapshot = XPU_NEW(arena, xpu_snapshot);
    snapshot->fd = -1;
    if (try_memory_file(arena, from, snapshot, diags) != XPU_OK) return NULL;
    if (snapshot->fd >= 0) return snapshot;
    uint8_t *bytes = xpu_alloc(arena, (size_t)from->size);
    if (read_source(from, 0, bytes, (size_t)from->size, diags) != XPU_OK) return NULL;
    snapshot->bytes = bytes;
    snapshot->size = from->size;
    return snapshot;
}

xpu_snapshot *xpu_snapshot_file(xpu_arena *arena, const xpu_file *file, xpu_diags *diags) {
    return take(arena, &(source){.file = file, .size = file->size}, diags);
}

xpu_snapshot *xpu_snapshot_bytes(xpu_arena *arena, const void *bytes, uint64_t size) {
    return take(arena, &(source){.bytes = bytes, .size = size}, NULL);
}
