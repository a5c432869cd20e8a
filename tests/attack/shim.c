/* Lets the n-th file-system call on paths below AUTOQD_SHIM_FOLDER fail: loaded with LD_PRELOAD.
 *
 * AUTOQD_SHIM_AT     which call, from 1 on; 0 only counts
 * AUTOQD_SHIM_FAULT  kill, torn (half of a write, then kill), EIO or ENOSPC
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

static long calls;

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
    fprintf(file, "%ld\n", calls);
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
