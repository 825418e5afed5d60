/* Attacks on what the whole host has one of: K1 to K7.
 *
 * What must stay true in all of them: the memory, the locks and the limits of the host are the same afterwards, and others
 * get what they ask for.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOCKETS = 100, INSTRUCTIONS = 64, COUNTED = 4000, NAME = 255, OOM_TEXT = 16 };

/* --- K1, K2: record locks --------------------------------------------------------------------------
 *
 * A lock of a wide range, of which single bytes are released: each call splits a lock, and no cgroup is charged for the
 * memory of one. The first word is how many. `did locks` counts those that another process is refused for, up to some
 * thousands.
 */
static int file_of_locks = -1;

/* How many locks another process meets between a beginning and the end of the file. */
static long count_locks(void) {
    int ends[2];
    long count = 0;
    if (pipe(ends))
        return -1;
    pid_t child = fork();
    if (child == 0) {
        struct flock other = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        while (count < COUNTED && fcntl(file_of_locks, F_GETLK, &other) == 0 && other.l_type != F_UNLCK) {
            count++;
            if (!other.l_len)
                break;
            other = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = other.l_start + other.l_len};
        }
        _exit(write(ends[1], &count, sizeof count) != sizeof count);
    }
    if (read(ends[0], &count, sizeof count) != sizeof count)
        count = -1;
    waitpid(child, NULL, 0);
    return count;
}

static void make_locks(void) {
    long count = number(0);
    file_of_locks = open("/tmp/locks", O_RDWR | O_CREAT, 0600);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 2 * count + 2};
    if (fcntl(file_of_locks, F_SETLK, &lock)) {
        denied("lock", errno);
        return;
    }
    lock.l_type = F_UNLCK;
    lock.l_len = 1;
    for (long n = count; n > 0; n--) {
        lock.l_start = 2 * n - 1;
        if (fcntl(file_of_locks, F_SETLK, &lock))
            break;
    }
    did("locks", count_locks());
}

/* K2  Goes through all locks of the host by a single call, as often as the second word says, with the lock of their list
 * held. `did walked` is the milliseconds of the longest. */
static void walk_locks(void) {
    long longest = 0;
    char some[64];
    make_locks();
    int fd = open("/proc/locks", O_RDONLY);
    if (fd < 0 || read(fd, some, sizeof some) <= 0) {
        denied("list", fd < 0 ? errno : ENOENT);
        return;
    }
    got("list");
    for (long n = 0; n < number(1); n++) {
        lseek(fd, 0, SEEK_SET);
        long begin = now_ms();
        lseek(fd, 1L << 40, SEEK_SET);
        if (now_ms() - begin > longest)
            longest = now_ms() - begin;
    }
    did("walked", longest);
}

/* --- K3: compiled filters --------------------------------------------------------------------------
 *
 * Programs that filter what a socket receives. The host has a limited room for their compiled form, and every container
 * needs some of it. One is attached by each of the ways that there are; `did filters` counts them.
 */
static void attach(const char *what, int option, const void *value, socklen_t size) {
    int sockets[SOCKETS], count = 0;
    for (int n = 0; n < SOCKETS; n++) {
        sockets[n] = socket(AF_UNIX, SOCK_DGRAM, 0);
        if (setsockopt(sockets[n], SOL_SOCKET, option, value, size))
            break;
        count++;
    }
    if (count == 0)
        denied(what, errno);
    else
        got(what);
    did("filters", count);
    for (int n = 0; n < count; n++)
        close(sockets[n]);
}

static void attach_filters(void) {
    static struct sock_filter code[INSTRUCTIONS];
    int one = 1;
    for (int n = 0; n < INSTRUCTIONS - 1; n++)
        code[n] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 7);
    code[INSTRUCTIONS - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0xffff);
    struct sock_fprog program = {INSTRUCTIONS, code};
    attach("filter", SO_ATTACH_FILTER, &program, sizeof program);
    attach("lock-filter", SO_LOCK_FILTER, &one, sizeof one);
}

/* --- K4: names that are not there ------------------------------------------------------------------
 *
 * Asks for as many names as the first word says among the agent's files. The kernel remembers that they are not
 * there, and that outlives the box if the directory does. `did names` counts them.
 */
static void ask_for_names(void) {
    const char *folder = access("/agent/names", X_OK) == 0 ? "/agent/names" : "/agent";
    char path[NAME + 32];
    long count = 0;
    for (; count < number(0); count++) {
        snprintf(path, sizeof path, "%s/%0200ld-%d", folder, count, getpid());
        if (access(path, F_OK) == 0 || errno != ENOENT)
            break;
    }
    did("names", count);
}

/* --- K5: who is killed when memory is short --------------------------------------------------------
 *
 * Tries to be killed later than others: a lower oom_score_adj than it was given.
 */
static int open_score(int mode) { return open("/proc/self/oom_score_adj", mode); }

static void lower_its_score(void) {
    char text[OOM_TEXT] = "1000";
    int fd = open_score(O_WRONLY); /* everyone may raise it, and then knows what to lower it from */
    put(fd, text, strlen(text));
    close(fd);
    fd = open_score(O_RDONLY);
    ssize_t size = read(fd, text, sizeof text - 1);
    long before = size > 0 ? strtol(text, NULL, 10) : 0, lowest = before;
    close(fd);
    for (long wanted = 0; wanted < before; wanted += 100) {
        int length = snprintf(text, sizeof text, "%ld", wanted);
        fd = open_score(O_WRONLY);
        long written = fd < 0 ? -1 : write(fd, text, (size_t)length);
        int error = errno;
        close(fd);
        errno = error;
        if (written == length) {
            lowest = wanted;
            break;
        }
    }
    say("MESSAGE its score is %ld, and was %ld", lowest, before);
    if (lowest < before)
        got("lower-score");
    else
        denied("lower-score", errno);
}

/* --- K6: connections that nobody accepts -----------------------------------------------------------
 *
 * Each waits at its listener after the client has closed its end, in a message whose head is charged to no box. `did
 * connections` counts them, up to the first word.
 */
static void connect_in_vain(void) {
    long count = 0;
    for (int n = 0; n < SOCKETS && count < number(0); n++) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int listener = socket(AF_UNIX, SOCK_STREAM, 0), is_full = 0;
        size_t length = (size_t)sprintf(address.sun_path + 1, "vain-%d", n);
        socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
        if (bind(listener, (void *)&address, size) || listen(listener, 65535))
            break;
        while (!is_full && count < number(0)) {
            int client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
            is_full = connect(client, (void *)&address, size) != 0;
            close(client);
            count += !is_full;
        }
    }
    did("connections", count);
}

/* --- K7: numbers of the whole host ------------------------------------------------------------------
 *
 * Moves a number by which it could send a message to other boxes and to its next game, and looks whether it has moved: that
 * of sessions, and that of all processes that were ever started.
 */
enum { MOVES = 50 };

static long read_number(const char *path, const char *before) {
    static char text[1 << 16];
    int fd = open(path, O_RDONLY);
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = 0;
    const char *found = strstr(text, before);
    return found ? strtol(found + strlen(before), NULL, 10) : 0;
}

static long move_number(const char *path, const char *before) {
    int ends[2];
    long first = 0, last = 0;
    if (pipe(ends))
        return 0;
    for (int n = 0; n < MOVES; n++) {
        if (fork() == 0) {
            setsid();
            last = read_number(path, before);
            _exit(write(ends[1], &last, sizeof last) != sizeof last);
        }
        wait(NULL);
        if (read(ends[0], &last, sizeof last) != sizeof last)
            break;
        first = n ? first : last;
    }
    close(ends[0]);
    close(ends[1]);
    return last - first;
}

static void report_number(const char *what, const char *path, const char *before) {
    if (move_number(path, before) >= MOVES - 1)
        got(what);
    else
        denied_by(what, "NONE");
}

static void move_numbers(void) {
    report_number("sessions", "/proc/self/autogroup", "/autogroup-");
    report_number("processes", "/proc/stat", "processes ");
}

const struct attack attacks[] = {
    {.name = "locks", .before = make_locks},
    {.name = "walk", .before = walk_locks},
    {.name = "filters", .before = attach_filters},
    {.name = "names", .before = ask_for_names},
    {.name = "score", .before = lower_its_score},
    {.name = "connections", .before = connect_in_vain},
    {.name = "numbers", .before = move_numbers},
    {0},
};
