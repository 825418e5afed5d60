/* How long the kernel's files and long calls go on after SIGKILL.
 *
 *     uninterrupted MIB WHAT
 *
 * WHAT is `maps` (the longest call, and one file), `files` (calls, and files of /proc and of the process; minutes), or `all`
 * (also settings, networks and /sys).
 * A child with page tables for so much memory makes one call again and again, and is killed. What it then still uses of a
 * processor is printed, less what the end of an idle child of that size uses: one line each, MILLISECONDS NAME, or `denied NAME`.
 * Several kills each; the longest counts. Load of the host does not change it much, because only processor time counts.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20, PAGE = 4096, PIECE = 4 * MIB, AROUND = 16 * PAGE, VECTORS = 1024, MANY_TRIES = 3, TRIES = 1, PATIENCE = 3000, DEEP = 900 };
enum { CALLING = 1, DENIED = 2 };

static const size_t large = 2044UL * MIB, usual = 64UL * MIB; /* of a buffer: nearly the longest that a call may have, and a part */
static size_t span;
static char *buffer, *area;
static int one;             /* a file of one piece, which is the memory behind all addresses */
static volatile int *stage; /* shared with the child */
static const char *path;
static int is_all;

static int64_t cpu_ns(pid_t pid) {
    struct timespec used;
    return clock_gettime((~(clockid_t)pid << 3) | 2, &used) ? -1 : used.tv_sec * 1000000000LL + used.tv_nsec;
}

static char *map(size_t size) {
    char *begin = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t at = 0; begin != MAP_FAILED && at + PIECE <= size; at += PIECE)
        if (mmap(begin + at, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, one, 0) == MAP_FAILED)
            exit(3);
    return begin == MAP_FAILED ? (exit(3), NULL) : begin;
}

static void map_all(void) {
    area = map(span);
    buffer = map(span > MIB ? large : usual);
    for (size_t at = 0; at < span; at += AROUND)
        (void)*(volatile char *)(area + at);
}

static long again(long result) {
    if (result >= 0)
        *stage = CALLING;
    return result;
}

/* --- reading files ---------------------------------------------------------------------------------- */

static int is_pagemap(void) { return strstr(path, "pagemap") != NULL; }
static off_t place(void) { return is_pagemap() ? 0x100000000000 / PAGE * 8 : 0; }

static long read_once(int fd) {
    size_t sizes[] = {is_pagemap() ? large : usual, PAGE};
    long count = -1;
    for (int n = 0; n < 2 && count < 0; n++) {
        count = pread(fd, buffer, sizes[n], place());
        if (count < 0 && errno == ESPIPE)
            count = read(fd, buffer, sizes[n]);
    }
    return count;
}

static long read_file(void) {
    for (long count = 1; count >= 0;) {
        int fd = open(path, O_RDONLY | O_NONBLOCK);
        if (fd < 0)
            return -1;
        while ((count = again(read_once(fd))) > 0)
            ;
        close(fd);
    }
    return -1;
}

static long read_vectors(void) {
    static struct iovec parts[VECTORS];
    int fd = open(path, O_RDONLY);
    for (int n = 0; n < VECTORS; n++)
        parts[n] = (struct iovec){buffer, 2 * MIB - PAGE};
    while (fd >= 0 && again(preadv(fd, parts, VECTORS, place())) >= 0)
        ;
    return -1;
}

static long read_zeros(void) { return path = "/dev/zero", read_file(); }
static long read_zeros_in_parts(void) { return path = "/dev/zero", read_vectors(); }
static long read_random(void) { return path = "/dev/urandom", read_file(); }
static long read_pages_in_parts(void) { return path = "/proc/self/pagemap", read_vectors(); }

/* --- other calls ------------------------------------------------------------------------------------- */

static int make(const char *name, off_t size) {
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    return fd < 0 || ftruncate(fd, size) ? -1 : fd;
}

/* A call that is made until it is refused. */
#define REPEATED(name, call)                                                                                                  \
    static long name(void) {                                                                                                  \
        while (again(call) >= 0)                                                                                              \
            ;                                                                                                                 \
        return -1;                                                                                                            \
    }

static long fork_once(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return child < 0 ? -1 : waitpid(child, NULL, 0);
}

REPEATED(protect, mprotect(area, span, PROT_READ) | mprotect(area, span, PROT_READ | PROT_WRITE))
REPEATED(forget, madvise(area, span, MADV_DONTNEED))
REPEATED(mark, madvise(area, span, MADV_DONTDUMP) | madvise(area, span, MADV_DODUMP))
REPEATED(want, madvise(area, span, MADV_WILLNEED))
REPEATED(sync_later, msync(area, span, MS_ASYNC))
REPEATED(invalidate, msync(area, span, MS_INVALIDATE))
REPEATED(copy_process, fork_once())
REPEATED(random_bytes, getrandom(buffer, usual, 0))
REPEATED(order, syscall(SYS_membarrier, 8, 0, 0))

static long unmap(void) {
    again(0);
    return munmap(area, span);
}

static long move(void) {
    again(0);
    for (size_t at = 0; at < span / 2; at += MIB)
        mremap(area + span / 2 + at, MIB, MIB, MREMAP_MAYMOVE | MREMAP_FIXED, area + at);
    return 0;
}

static long execute(void) {
    static char word[64], *words[30002];
    memset(word, 'x', sizeof word - 1);
    for (int n = 0; n < 30000; n++)
        words[n] = word;
    words[1] = "again";
    again(0);
    return execv("/proc/self/exe", words);
}

static long write_nowhere(void) {
    int fd = open("/dev/null", O_WRONLY);
    while (again(write(fd, buffer, large)) >= 0)
        ;
    return -1;
}

static long send_file(void) {
    int in = make("/tmp/sparse", 60L * MIB), out = open("/dev/null", O_WRONLY);
    for (off_t at = 0; again(sendfile(out, in, &at, 1 << 30)) >= 0; at = 0)
        ;
    return -1;
}

static long copy_file(void) {
    int in = make("/home/agent/from", 9L * MIB), out = make("/home/agent/to", 0);
    for (off_t from = 0, to = 0; again(copy_file_range(in, &from, out, &to, 9L * MIB, 0)) >= 0; from = to = 0)
        ;
    return -1;
}

static long read_sparse(void) {
    int fd = make("/tmp/sparse", 60L * MIB);
    while (again(pread(fd, buffer, 60L * MIB, 0)) >= 0)
        ;
    return -1;
}

static long allocate(void) {
    int fd = make("/home/agent/to", 0);
    while (again(fallocate(fd, 0, 0, 9L * MIB)) >= 0 && ftruncate(fd, 0) == 0)
        ;
    return -1;
}

static long punch(void) {
    int fd = make("/tmp/sparse", 60L * MIB);
    while (again(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 60L * MIB)) >= 0)
        ;
    return -1;
}

static long write_file(void) {
    int fd = make("/home/agent/to", 0);
    while (again(pwrite(fd, buffer, 9L * MIB, 0)) >= 0)
        ;
    return -1;
}

static long write_vectors(void) {
    static struct iovec parts[VECTORS];
    int fd = make("/home/agent/to", 0);
    for (int n = 0; n < VECTORS; n++)
        parts[n] = (struct iovec){buffer, 9L * MIB / VECTORS};
    while (again(pwritev(fd, parts, VECTORS, 0)) >= 0)
        ;
    return -1;
}

static long list(void) {
    char name[64];
    mkdir("/tmp/many", 0700);
    for (int n = 0; n < DEEP; n++) {
        snprintf(name, sizeof name, "/tmp/many/%d", n);
        mkdir(name, 0700);
    }
    int fd = open("/tmp/many", O_RDONLY);
    while (lseek(fd, 0, SEEK_SET) == 0 && again(syscall(SYS_getdents64, fd, buffer, MIB)) >= 0)
        ;
    return -1;
}

static long where(void) {
    static char name[2 * PAGE];
    if (chdir("/home/agent"))
        return -1;
    for (int n = 0; n < DEEP && (mkdir("d", 0700) == 0 || errno == EEXIST) && chdir("d") == 0; n++)
        ;
    while (again(syscall(SYS_getcwd, name, sizeof name)) >= 0)
        ;
    return -1;
}

static long follow(void) {
    char name[16], target[PAGE] = "", before[16] = "";
    struct stat status;
    if (chdir("/home/agent"))
        return -1;
    mkdir("l", 0700);
    for (int n = 0; n < 39; n++) {
        *target = 0;
        for (int k = 0; k < 700; k++)
            strcat(target, "l/../");
        strcat(target, before);
        snprintf(name, sizeof name, "l%d", n);
        if (symlink(target, name) && errno != EEXIST)
            return -1;
        strcpy(before, name);
    }
    while (again(stat(before, &status) < 0 && errno != ENOENT ? -1 : 0) >= 0)
        ;
    return -1;
}

static long poll_all(void) {
    static struct pollfd all[256];
    int ends[2];
    if (pipe(ends))
        return -1;
    for (int n = 0; n < 256; n++)
        all[n] = (struct pollfd){ends[0], POLLIN, 0};
    while (again(poll(all, 256, 0)) >= 0)
        ;
    return -1;
}

static long send_and_receive(void) {
    int ends[2], room = 1 << 30;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return -1;
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    while (again(send(ends[0], buffer, usual, MSG_DONTWAIT)) >= 0)
        while (recv(ends[1], buffer, usual, MSG_DONTWAIT) > 0)
            ;
    return -1;
}

static long idle(void) {
    while (again(0) == 0)
        pause();
    return -1;
}

static const struct {
    const char *name;
    long (*call)(void);
} calls[] = {
    {"preadv of /proc/self/pagemap", read_pages_in_parts},
    {"read of /dev/zero", read_zeros},
    {"preadv of /dev/zero", read_zeros_in_parts},
    {"read of /dev/urandom", read_random},
    {"getrandom", random_bytes},
    {"read of a sparse file", read_sparse},
    {"write to /dev/null", write_nowhere},
    {"pwrite", write_file},
    {"pwritev", write_vectors},
    {"sendfile", send_file},
    {"copy_file_range", copy_file},
    {"fallocate", allocate},
    {"fallocate with PUNCH_HOLE", punch},
    {"getdents64", list},
    {"getcwd", where},
    {"stat through 39 symbolic links", follow},
    {"mprotect", protect},
    {"madvise with DONTNEED", forget},
    {"madvise with DONTDUMP", mark},
    {"madvise with WILLNEED", want},
    {"msync with ASYNC", sync_later},
    {"msync with INVALIDATE", invalidate},
    {"munmap", unmap},
    {"mremap", move},
    {"membarrier", order},
    {"fork", copy_process},
    {"execve with 30,000 words", execute},
    {"poll", poll_all},
    {"send and recv", send_and_receive},
};

/* --- measuring --------------------------------------------------------------------------------------- */

/* Milliseconds of processor time after SIGKILL: the longest of the tries; -1: denied. */
static double measure(long (*call)(void), int tries) {
    double longest = 0;
    struct rusage used;
    for (int n = 0; n < tries; n++) {
        *stage = 0;
        pid_t child = fork();
        if (child == 0) {
            map_all();
            call();
            if (*stage != CALLING)
                *stage = DENIED;
            _exit(0);
        }
        for (int k = 0; k < PATIENCE && !*stage; k++)
            nanosleep(&(struct timespec){0, 2000000}, NULL);
        nanosleep(&(struct timespec){0, 1000000 + 700000 * n}, NULL);
        kill(child, SIGKILL);
        int64_t before = cpu_ns(child); /* afterwards, so that a delay of this process counts for nothing */
        wait4(child, NULL, 0, &used);
        double all = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
                     (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
        if (*stage == DENIED)
            return -1;
        if (before >= 0 && all - (double)before / 1e6 > longest)
            longest = all - (double)before / 1e6;
    }
    return longest;
}

static void show(const char *name, long (*call)(void), int tries) {
    double least = tries > TRIES ? measure(idle, tries) : 0, all = measure(call, tries);
    if (all < 0)
        printf("denied %s\n", name);
    else
        printf("%.1f %s\n", all > least ? all - least : 0, name);
    fflush(stdout);
}

static void show_files(const char *folder) {
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char name[PAGE];
        struct stat status;
        int is_top = strcmp(folder, "/proc") == 0, is_self = is_top && strcmp(entry->d_name, "self") == 0;
        if (entry->d_name[0] == '.' || (is_top && entry->d_name[0] <= '9') || strcmp(entry->d_name, "task") == 0)
            continue;
        if (snprintf(name, sizeof name, "%s/%s", folder, entry->d_name) >= (int)sizeof name || lstat(name, &status))
            continue;
        if (!is_all && (strcmp(name, "/proc/sys") == 0 || strcmp(entry->d_name, "net") == 0))
            continue;
        if (S_ISDIR(status.st_mode) || is_self)
            show_files(name);
        else if (S_ISREG(status.st_mode) && status.st_mode & 0444) {
            size_t whole = span;
            if (strncmp(name, "/proc/self", 10) != 0) /* does not depend on the memory of the process */
                span = MIB;
            path = name;
            show(name, read_file, span > MIB ? MANY_TRIES : TRIES);
            span = whole;
        }
    }
    if (directory)
        closedir(directory);
}

int main(int argc, char **argv) {
    if (argc > 3)
        execv("/proc/self/exe", argv);
    if (argc < 3)
        return 2;
    span = (size_t)atol(argv[1]) * MIB;
    is_all = strcmp(argv[2], "all") == 0;
    int is_short = strcmp(argv[2], "maps") == 0;
    stage = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    one = make("/tmp/one", PIECE);
    if (one < 0 || stage == MAP_FAILED)
        return 2;
    syscall(SYS_membarrier, 16, 0, 0);
    for (size_t n = 0; n < (is_short ? 1 : sizeof calls / sizeof *calls); n++)
        show(calls[n].name, calls[n].call, MANY_TRIES);
    if (is_short)
        show(path = "/proc/self/maps", read_file, MANY_TRIES);
    else
        show_files("/proc");
    if (is_all)
        show_files("/sys");
    return 0;
}
