/* Attempts to earn a void by stalls (V11): the agent sleeps in the kernel by its own doing, answer for answer, and is
 * late. The first word is for how many milliseconds.
 *
 * Expected: turn-time. The pressure of its box, and of the host, may rise; but the judge's own process, beside the box,
 * is not stalled, and without that there is no stall of the host.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEBIBYTE = 1 << 20, WORKERS = 8, DEPTH = 4 };

static long until;
static int past_memory;

static int on(void) { return now_ms() < until; }

static volatile long *rounds; /* how often a thing was done, by all processes together */

static void begin(void) {
    rounds = mmap(NULL, sizeof *rounds, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    until = now_ms() + number(0);
}

static void end_round(void) { __atomic_add_fetch(rounds, 1, __ATOMIC_ACQ_REL); }

static char *map(size_t size) {
    char *begin = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return begin == MAP_FAILED ? NULL : begin;
}

static void touch(char *begin, size_t size) {
    for (size_t at = 0; begin && at < size; at += 4096)
        begin[at] = 1;
}

/* Reads every file of a folder past the memory, so that it comes from the disk each time; through the memory where that is
 * not possible. */
static void read_all(const char *folder, int depth) {
    static char block[1 << 16] __attribute__((aligned(4096)));
    char path[PATH_MAX];
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && on() && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.' && depth > 0)
            read_all(path, depth - 1);
        int fd = entry->d_type == DT_REG ? open(path, O_RDONLY | (past_memory ? O_DIRECT : 0)) : -1;
        if (fd < 0 && entry->d_type == DT_REG)
            fd = open(path, O_RDONLY);
        if (fd < 0)
            continue;
        while (on() && read(fd, block, sizeof block) > 0)
            ;
        close(fd);
    }
    if (dir)
        closedir(dir);
}

/* Does a thing in eight processes until the time is over. */
static void in_processes(void (*thing)(void)) {
    begin();
    for (int n = 0; n < WORKERS; n++)
        if (fork() == 0) {
            while (on()) {
                thing();
                end_round();
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    did("rounds", *rounds);
}

/* V11.thrash  Fills its memory up to nearly the cap (the second word, in MiB), and reads files: they do not fit. */
static void thrash(void) {
    static char *hoard;
    if (!hoard)
        touch(hoard = map((size_t)number(1) * MEBIBYTE), (size_t)number(1) * MEBIBYTE);
    begin();
    while (on()) {
        read_all("/agent", 0);
        end_round();
    }
    did("rounds", *rounds);
}

static void read_the_disk(void) {
    read_all("/agent", 0);
    read_all("/usr", DEPTH);
    read_all("/bin", 0);
    read_all("/lib", DEPTH);
}

/* V11.reads  Reads all that it sees, in eight processes, from the disk each time. */
static void keep_the_disk_busy(void) {
    past_memory = 1;
    in_processes(read_the_disk);
}

static void fault_once(void) {
    char *begin = map(8 * MEBIBYTE);
    if (!begin)
        return;
    madvise(begin, 8 * MEBIBYTE, MADV_HUGEPAGE);
    touch(begin, 8 * MEBIBYTE);
    munmap(begin, 8 * MEBIBYTE);
}

/* V11.faults  Takes memory and gives it back, in eight processes: faults, huge pages and their compaction. */
static void fault(void) { in_processes(fault_once); }

static void vfork_once(void) {
    pid_t child = vfork();
    if (child == 0)
        _exit(0);
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* V11.vforks  Makes processes that end, in eight processes, whose parents sleep uninterruptibly. */
static void vfork_often(void) { in_processes(vfork_once); }

static void *nothing(void *none) { return none; }

static void start_threads(void) {
    pthread_t threads[WORKERS / 2];
    int count = 0;
    while (count < WORKERS / 2 && pthread_create(&threads[count], NULL, nothing, NULL) == 0)
        count++;
    while (count > 0)
        pthread_join(threads[--count], NULL);
}

/* V11.threads  Makes threads that end. */
static void make_threads(void) { in_processes(start_threads); }

static void write_and_sync(void) {
    static char block[1 << 16];
    char path[64];
    snprintf(path, sizeof path, "sync-%d", getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return;
    put(fd, block, sizeof block);
    fsync(fd);
    fdatasync(fd);
    close(fd);
    unlink(path);
}

/* V11.syncs  Writes files, and waits until they are on the disk. */
static void sync_often(void) { in_processes(write_and_sync); }

/* O12  The same after each answer, while it ponders. Expected: plays on, and its opponent loses no time. */
const struct attack attacks[] = {
    {.name = "thrash", .always = thrash},     {.name = "reads", .always = keep_the_disk_busy},
    {.name = "faults", .always = fault},      {.name = "vforks", .always = vfork_often},
    {.name = "threads", .always = make_threads}, {.name = "syncs", .always = sync_often},
    {.name = "later-faults", .behind = fault},   {.name = "later-vforks", .behind = vfork_often},
    {.name = "later-threads", .behind = make_threads}, {.name = "later-syncs", .behind = sync_often},
    {.name = "later-reads", .behind = keep_the_disk_busy},
    {0},
};
