/* Lets the n-th file-system call on paths below AUTOQD_SHIM_FOLDER fail, or the n-th allocation and all that follow:
 * loaded with LD_PRELOAD.
 *
 * AUTOQD_SHIM_AT     which call, from 1 on; 0 only counts
 * AUTOQD_SHIM_FAULT  kill, torn (half of a write, then kill), EIO or ENOSPC
 * AUTOQD_SHIM_MEMORY from which allocation on all fail, from 1 on: those of AUTOQD_SHIM_SIZE bytes or more count
 * AUTOQD_SHIM_COUNT  a file for the number of calls, written when the process ends
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static long calls, allocations;

static int is_below(const char *path) {
    const char *folder = getenv("AUTOQD_SHIM_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_ours(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

/* Whether this call is the one to fail; a kill does not return. */
static int fails(void) {
    const char *at = getenv("AUTOQD_SHIM_AT"), *fault = getenv("AUTOQD_SHIM_FAULT");
    long now = __sync_add_and_fetch(&calls, 1);
    if (!at || !fault || now != atol(at)) return 0;
    if (strcmp(fault, "EIO") == 0) { errno = EIO; return 1; }
    if (strcmp(fault, "ENOSPC") == 0) { errno = ENOSPC; return 1; }
    if (strcmp(fault, "torn") == 0) return 2;
    kill(getpid(), SIGKILL);
    return 1;
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("AUTOQD_SHIM_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld %ld\n", calls, allocations);
    fclose(file);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define DIE() do { kill(getpid(), SIGKILL); return -1; } while (0)

#define OPEN(name)                                                              \
    int name(const char *path, int flags, ...) {                                \
        va_list rest;                                                           \
        va_start(rest, flags);                                                  \
        mode_t mode = va_arg(rest, mode_t);                                     \
        va_end(rest);                                                           \
        if ((flags & (O_CREAT | O_WRONLY | O_RDWR)) && is_below(path)) {        \
            int how = fails();                                                  \
            if (how == 2) DIE();                                                \
            if (how) return -1;                                                 \
        }                                                                       \
        return REAL(name)(path, flags, mode);                                   \
    }
OPEN(open)
OPEN(open64)

ssize_t write(int fd, const void *bytes, size_t count) {
    if (fd > 2 && is_ours(fd)) {
        int how = fails();
        if (how == 2) { REAL(write)(fd, bytes, count / 2); DIE(); }
        if (how) return -1;
    }
    return REAL(write)(fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (fd > 2 && is_ours(fd)) {
        int how = fails();
        if (how == 2) { REAL(writev)(fd, parts, count / 2); DIE(); }
        if (how) return -1;
    }
    return REAL(writev)(fd, parts, count);
}

#define OF_FD(name, declared, given)                                            \
    int name declared {                                                         \
        if (is_ours(fd)) {                                                      \
            int how = fails();                                                  \
            if (how == 2) DIE();                                                \
            if (how) return -1;                                                 \
        }                                                                       \
        return REAL(name) given;                                                \
    }
OF_FD(fsync, (int fd), (fd))
OF_FD(fdatasync, (int fd), (fd))
OF_FD(ftruncate, (int fd, off_t length), (fd, length))
OF_FD(ftruncate64, (int fd, off64_t length), (fd, length))

#define OF_PATH(name, declared, given)                                          \
    int name declared {                                                         \
        if (is_below(path)) {                                                   \
            int how = fails();                                                  \
            if (how == 2) DIE();                                                \
            if (how) return -1;                                                 \
        }                                                                       \
        return REAL(name) given;                                                \
    }
OF_PATH(rename, (const char *path, const char *to), (path, to))
OF_PATH(unlink, (const char *path), (path))
OF_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
OF_PATH(rmdir, (const char *path), (path))

int unlinkat(int fd, const char *path, int flags) {
    if (is_below(path) || is_ours(fd)) {
        int how = fails();
        if (how == 2) DIE();
        if (how) return -1;
    }
    return REAL(unlinkat)(fd, path, flags);
}

/* The allocator of glibc, under the names that it keeps for this. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static int in_main;

static int no_memory(size_t size) {
    static long at = -1, least;
    /* Before, constructors of C++ libraries allocate, which no program can answer for. */
    if (!in_main) return 0;
    if (at < 0) {
        const char *from = getenv("AUTOQD_SHIM_MEMORY"), *bytes = getenv("AUTOQD_SHIM_SIZE");
        least = bytes ? atol(bytes) : 1;
        at = from ? atol(from) : 0;
    }
    if ((long)size < least) return 0;
    long now = __sync_add_and_fetch(&allocations, 1);
    if (at == 0 || now < at) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return no_memory(size) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return no_memory(count * size) ? NULL : __libc_calloc(count, size); }

void *realloc(void *old, size_t size) { return no_memory(size) ? NULL : __libc_realloc(old, size); }

void *aligned_alloc(size_t alignment, size_t size) {
    return no_memory(size) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **found, size_t alignment, size_t size) {
    if (no_memory(size)) return ENOMEM;
    *found = __libc_memalign(alignment, size);
    return *found ? 0 : ENOMEM;
}

static int (*real_main)(int, char **, char **);

static int watched_main(int count, char **arguments, char **environment) {
    in_main = 1;
    int code = real_main(count, arguments, environment);
    in_main = 0;
    return code;
}

int __libc_start_main(int (*entry)(int, char **, char **), int count, char **arguments, void (*init)(void),
                      void (*end)(void), void (*unload)(void), void *stack) {
    real_main = entry;
    return REAL(__libc_start_main)(watched_main, count, arguments, init, end, unload, stack);
}
