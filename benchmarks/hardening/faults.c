/* Counts the system calls of a process on the files below one folder, and lets one of them fail.

   Built and preloaded by faults.py. A process arms it with fault_arm(); nothing happens before. Calls that change files
   and calls that read them are counted apart or together. With a log, every change of a file is written down, so that
   faults.py can compute what a disk may hold after a loss of power. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { NONE, KILL_BEFORE, KILL_AFTER, KILL_HALFWAY, FAIL_ONCE, FAIL_FROM_HERE, SHORT_ONCE, PAUSE, INTERRUPT };
enum { CHANGES = 1, READS = 2 };
enum { WRITE = 1, SYNC, TRUNCATE, RENAME, UNLINK };

static char folder[PATH_MAX];
static size_t folder_length;
static int mode, kinds, failure, control = -1, log_file = -1;
static long target, seen;
static int sleeps = 1;
static char last_call[PATH_MAX + 64];

void fault_folder(const char *path) {
    snprintf(folder, sizeof folder, "%s", path);
    folder_length = strlen(folder);
}

/* error: the errno of a failure. control_socket: where a pause is announced and ended. */
void fault_arm(int new_mode, int new_kinds, long number, int error, int control_socket) {
    target = number;
    seen = 0;
    kinds = new_kinds;
    failure = error;
    control = control_socket;
    mode = new_mode;
}

long fault_disarm(void) {
    mode = NONE;
    return seen;
}

void fault_log(int file) { log_file = file; }

/* SQLite waits for others by sleeping; where all others stand still, that changes nothing but the time it takes. */
void fault_no_sleep(void) { sleeps = 0; }

const char *fault_last_call(void) { return last_call; }

static int is_below(const char *path) {
    return folder_length && path && strncmp(path, folder, folder_length) == 0;
}

static int path_of(int file, char *path) {
    char link[64];
    if (!folder_length) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static void note(int kind, const char *path, const char *other, const void *data, uint64_t offset, uint64_t length) {
    if (log_file < 0) return;
    struct { uint32_t kind, path, other, data; uint64_t offset; } head = {
        kind, strlen(path), other ? strlen(other) : 0, data ? length : 0, offset,
    };
    struct iovec parts[4] = {
        {&head, sizeof head}, {(void *)path, head.path}, {(void *)other, head.other}, {(void *)data, head.data},
    };
    if (syscall(SYS_writev, log_file, parts, 4) < 0) _exit(99);
}

/* Returns what to do with this call: NONE for nothing, else the mode. */
static int check(int kind, const char *name, const char *path) {
    if (mode == NONE || !(kinds & kind)) return NONE;
    seen++;
    if (seen != target && !(mode == FAIL_FROM_HERE && seen > target)) return NONE;
    int saved = errno;
    snprintf(last_call, sizeof last_call, "%s %s", name, path + folder_length);
    int now = mode;
    if (mode != FAIL_FROM_HERE) mode = NONE;
    if (now == KILL_BEFORE) kill(getpid(), SIGKILL);
    if (now == INTERRUPT) kill(getpid(), SIGINT);
    if (now == PAUSE) {
        char byte = 'p';
        if (syscall(SYS_write, control, &byte, 1) != 1 || syscall(SYS_read, control, &byte, 1) != 1) _exit(98);
    }
    errno = saved;
    return now;
}

static int fails(int what) { return what == FAIL_ONCE || what == FAIL_FROM_HERE; }

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define FAIL(result) do { errno = failure; return result; } while (0)

#define END(what) do { if ((what) == KILL_AFTER || (what) == KILL_HALFWAY) kill(getpid(), SIGKILL); } while (0)

static ssize_t changed(int what, ssize_t done) {
    END(what);
    return done;
}

#define WRITES(name, offset_type) \
ssize_t name(int file, const void *data, size_t length, offset_type offset) { \
    REAL(name); \
    char path[PATH_MAX]; \
    if (!path_of(file, path)) return real(file, data, length, offset); \
    int what = check(CHANGES, "write", path); \
    if (fails(what)) FAIL(-1); \
    if ((what == KILL_HALFWAY || what == SHORT_ONCE) && length > 1) length /= 2; \
    ssize_t done = real(file, data, length, offset); \
    if (done > 0) note(WRITE, path, 0, data, offset, done); \
    return changed(what, done); \
}
WRITES(pwrite, off_t)
WRITES(pwrite64, off64_t)

ssize_t write(int file, const void *data, size_t length) {
    REAL(write);
    char path[PATH_MAX];
    if (!path_of(file, path)) return real(file, data, length);
    int what = check(CHANGES, "write", path);
    if (fails(what)) FAIL(-1);
    if ((what == KILL_HALFWAY || what == SHORT_ONCE) && length > 1) length /= 2;
    off_t offset = lseek(file, 0, SEEK_CUR);
    ssize_t done = real(file, data, length);
    if (done > 0) note(WRITE, path, 0, data, offset, done);
    return changed(what, done);
}

#define READ_AT(name, offset_type) \
ssize_t name(int file, void *data, size_t length, offset_type offset) { \
    REAL(name); \
    char path[PATH_MAX]; \
    if (mode == NONE || !(kinds & READS) || !path_of(file, path)) return real(file, data, length, offset); \
    int what = check(READS, "read", path); \
    if (fails(what)) FAIL(-1); \
    return changed(what, real(file, data, length, offset)); \
}
READ_AT(pread, off_t)
READ_AT(pread64, off64_t)

#define SYNCS(name) \
int name(int file) { \
    REAL(name); \
    char path[PATH_MAX]; \
    if (!path_of(file, path)) return real(file); \
    int what = check(CHANGES, #name, path); \
    if (fails(what)) FAIL(-1); \
    int done = real(file); \
    if (!done) note(SYNC, path, 0, 0, 0, 0); \
    return changed(what, done); \
}
SYNCS(fsync)
SYNCS(fdatasync)

#define TRUNCATES(name, offset_type) \
int name(int file, offset_type length) { \
    REAL(name); \
    char path[PATH_MAX]; \
    if (!path_of(file, path)) return real(file, length); \
    int what = check(CHANGES, "truncate", path); \
    if (fails(what)) FAIL(-1); \
    int done = real(file, length); \
    if (!done) note(TRUNCATE, path, 0, 0, length, 0); \
    return changed(what, done); \
}
TRUNCATES(ftruncate, off_t)
TRUNCATES(ftruncate64, off64_t)

int rename(const char *from, const char *to) {
    REAL(rename);
    if (!is_below(from)) return real(from, to);
    int what = check(CHANGES, "rename", from);
    if (fails(what)) FAIL(-1);
    int done = real(from, to);
    if (!done) note(RENAME, from, to, 0, 0, 0);
    return changed(what, done);
}

int unlink(const char *path) {
    REAL(unlink);
    if (!is_below(path)) return real(path);
    int what = check(CHANGES, "unlink", path);
    if (fails(what)) FAIL(-1);
    int done = real(path);
    if (!done) note(UNLINK, path, 0, 0, 0, 0);
    return changed(what, done);
}

int mkdir(const char *path, mode_t permissions) {
    REAL(mkdir);
    if (!is_below(path)) return real(path, permissions);
    int what = check(CHANGES, "mkdir", path);
    if (fails(what)) FAIL(-1);
    return changed(what, real(path, permissions));
}

#define OPENS(name) \
int name(const char *path, int flags, ...) { \
    REAL(name); \
    mode_t permissions = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        permissions = va_arg(rest, mode_t); \
        va_end(rest); \
    } \
    if (!is_below(path)) return real(path, flags, permissions); \
    int what = check(flags & (O_CREAT | O_TRUNC) ? CHANGES : READS, "open", path); \
    if (fails(what)) FAIL(-1); \
    int file = real(path, flags, permissions); \
    if (file >= 0 && flags & O_TRUNC) note(TRUNCATE, path, 0, 0, 0, 0); \
    return changed(what, file); \
}
OPENS(open)
OPENS(open64)

int usleep(useconds_t microseconds) {
    REAL(usleep);
    return sleeps ? real(microseconds) : 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
    REAL(nanosleep);
    return sleeps ? real(wanted, left) : 0;
}
