#define _GNU_SOURCE 1
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef enum { FILE_OF_ITS_OWN, TREE, GROUP } temporary_kind;
enum { FREE, TAKEN, NOTED };

/* Slots are never given back, only used again: a handler can walk the list at any time. */
struct xpu_temporary {
    struct xpu_temporary *next;
    atomic_int state;
    temporary_kind kind;
    pid_t owner, group;
    char path[PATH_MAX];
};

static _Atomic(struct xpu_temporary *) slots;

static xpu_temporary *take_slot(void) {
    for (xpu_temporary *slot = atomic_load(&slots); slot; slot = slot->next) {
        int is_free = FREE;
        if (atomic_compare_exchange_strong(&slot->state, &is_free, TAKEN)) return slot;
    }
    xpu_temporary *slot = calloc(1, sizeof *slot);
    if (!slot) return NULL;
    atomic_init(&slot->state, TAKEN);
    slot->next = atomic_load(&slots);
    while (!atomic_compare_exchange_weak(&slots, &slot->next, slot)) continue;
    return slot;
}

static xpu_temporary *note(temporary_kind kind, const char *path, pid_t group) {
    size_t length = strlen(path);
    xpu_temporary *slot = length < PATH_MAX ? take_slot() : NULL;
    if (!slot) return NULL;
    slot->kind = kind;
    slot->owner = getpid();
    slot->group = group;
    memcpy(slot->path, path, length + 1);
    atomic_store(&slot->state, NOTED);
    return slot;
}

xpu_temporary *xpu_temporary_file(const char *path) {
    return note(FILE_OF_ITS_OWN, path, 0);
}

xpu_temporary *xpu_temporary_tree(const char *path) {
    return note(TREE, path, 0);
}

xpu_temporary *xpu_temporary_group(pid_t group) {
    return note(GROUP, "", group);
}

void xpu_temporary_forget(xpu_temporary *temporary) {
    if (temporary) atomic_store(&temporary->state, FREE);
}

/* What getdents64 fills in. */
typedef struct {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
} entry;

static void remove_entry(int parent, const char *name);

/* Removes all in an open folder. */
static void empty_folder(int folder) {
    _Alignas(entry) char buffer[4096];
    for (;;) {
        long got = syscall(SYS_getdents64, folder, buffer, sizeof buffer);
        if (got <= 0) return;
        for (long at = 0; at < got;) {
            const entry *e = (const entry *)(const void *)(buffer + at);
            if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0) remove_entry(folder, e->name);
            at += e->length;
        }
    }
}

/* A process that is being killed may add a file meanwhile. */
static void remove_entry(int parent, const char *name) {
    static const struct timespec moment = {0, 1000000};
    if (unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
    for (int attempt = 0; attempt < 50; attempt++) {
        if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
            return; /* an empty one needs no descriptor, of which none may be left */
        int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0) return;
        empty_folder(folder);
        close(folder);
        if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY) return;
        nanosleep(&moment, NULL);
    }
}

void xpu_remove_tree(const char *path) {
    remove_entry(AT_FDCWD, path);
}

static void end_noted(temporary_kind kind, pid_t self) {
    for (xpu_temporary *slot = atomic_load(&slots); slot; slot = slot->next) {
        if (atomic_load(&slot->state) != NOTED || slot->kind != kind || slot->owner != self) continue;
        switch (kind) {
        case GROUP:
            kill(-slot->group, SIGKILL);
            waitpid(slot->group, NULL, 0);
            break;
        case TREE: xpu_remove_tree(slot->path); break;
        case FILE_OF_ITS_OWN: unlink(slot->path); break;
        }
    }
}

void xpu_temporaries_end(void) {
    pid_t self = getpid();
    end_noted(GROUP, self); /* first those that may still write */
    end_noted(TREE, self);
    end_noted(FILE_OF_ITS_OWN, self);
}

void xpu_signals_hold(sigset_t *before) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

void xpu_signals_release(const sigset_t *before) {
    pthread_sigmask(SIG_SETMASK, before, NULL);
}
