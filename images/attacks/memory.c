/* Attacks on the cap of memory: B1, B3, B4, B9, B10, B12, B13. The first word is how many MiB the agent takes, which is
 * more than its cap (but for B12 and B13); then it plays on.
 *
 * Expected: memory, with the peak in the record, whoever in the box took it, whatever it is called, and whomever the
 * kernel killed for it. What must stay true: the judge and the opponent are not slowed, and the host does not swap.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEBIBYTE = 1 << 20, CHILDREN = 16, PAIRS = 48, OF_A_PAGE = 16, MESSAGE = 768 };

static void touch(char *begin, size_t size) {
    for (size_t at = 0; at < size; at += 4096)
        begin[at] = 1;
}

static char *map(size_t size, int flags) {
    char *begin = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    return begin == MAP_FAILED ? NULL : begin;
}

/* B1  Takes memory and touches it. */
static void eat(void) {
    for (long n = 0; n < number(0); n++) {
        char *begin = malloc(MEBIBYTE);
        if (begin)
            touch(begin, MEBIBYTE);
    }
}

/* B3  Splits it over sixteen children, each of which is small. */
static void eat_in_children(void) {
    int ready[2], done[2];
    char byte;
    if (pipe(ready) || pipe(done))
        return;
    for (int n = 0; n < CHILDREN; n++)
        if (fork() == 0) {
            close(done[1]);
            close(ready[0]);
            size_t size = (size_t)number(0) * MEBIBYTE / CHILDREN;
            touch(map(size, MAP_PRIVATE), size);
            put(ready[1], "x", 1);
            _exit((int)read(done[0], &byte, 1)); /* until the parent closes it */
        }
    struct pollfd news = {ready[0], POLLIN, 0};
    for (int fed = 0; fed < CHILDREN && waitpid(-1, NULL, WNOHANG) <= 0;)
        if (poll(&news, 1, 10) > 0)
            fed += (int)read(ready[0], &byte, 1);
    close(done[1]);
    while (wait(NULL) > 0)
        ;
}

/* B4  Takes memory that belongs to no process: System V, a file without a name, a shared mapping; what it is given. */
static void eat_shared(void) {
    size_t size = (size_t)number(0) * MEBIBYTE;
    int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600), fd = -1;
    char *begin = id < 0 ? NULL : shmat(id, NULL, 0);
    if (id < 0 && (fd = memfd_create("eat", 0)) >= 0 && ftruncate(fd, (off_t)size) == 0) {
        begin = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (begin == MAP_FAILED)
            begin = NULL;
    }
    if (!begin)
        begin = map(size, MAP_SHARED);
    say("MESSAGE eating %s", id >= 0 ? "System V memory" : fd >= 0 ? "a memfd" : "a shared mapping");
    if (begin)
        touch(begin, size);
}

/* B9  Asks the kernel to swap out what it has taken, so that it can take more. */
static void eat_and_swap(void) {
    char *one = map(MEBIBYTE, MAP_PRIVATE);
    touch(one, MEBIBYTE);
    tried("pageout", madvise(one, MEBIBYTE, MADV_PAGEOUT));
    for (long n = 0; n < number(0); n++) {
        char *begin = map(MEBIBYTE, MAP_PRIVATE);
        if (begin) {
            touch(begin, MEBIBYTE);
            madvise(begin, MEBIBYTE, MADV_PAGEOUT);
        }
    }
}

/* B10  Has a child take it, whom the kernel shall kill first, and lives on. */
static void eat_in_a_victim(void) {
    pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen("/proc/self/oom_score_adj", "w");
        if (file) {
            fputs("1000", file);
            fclose(file);
        }
        eat();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* B12  Takes less than the cap for a moment and gives it back. Expected: plays on, and the peak is in the record. */
static void spike(void) {
    size_t size = (size_t)number(0) * MEBIBYTE;
    char *begin = map(size, MAP_PRIVATE);
    if (begin) {
        touch(begin, size);
        munmap(begin, size);
    }
}

/* B13  Fills sockets with messages, and takes all but one of a page: the kernel charges messages, not pages. */
static void leave_holes(void) {
    static int ends[PAIRS][2];
    char byte = 0;
    int room = 1 << 30;
    for (int n = 0; n < PAIRS; n++) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends[n]))
            return;
        for (int side = 0; side < 2; side++)
            setsockopt(ends[n][side], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    }
    long most = number(0) * MEBIBYTE / MESSAGE, sent = 0;
    for (int first = 0; first < 2 * PAIRS; first += OF_A_PAGE)
        for (int full = 0; !full && sent < most;)
            for (int n = first; n < first + OF_A_PAGE; n++)
                if (write(ends[n / 2][n % 2], &byte, 1) < 0)
                    full = 1;
                else
                    sent++;
    for (int n = 0; n < 2 * PAIRS; n++)
        while (n % OF_A_PAGE && read(ends[n / 2][1 - n % 2], &byte, 1) > 0)
            ;
}

const struct attack attacks[] = {
    {.name = "eat", .before = eat},
    {.name = "eat-later", .after = eat}, /* B1.ponder, in the opponent's time */
    {.name = "children", .before = eat_in_children},
    {.name = "shared", .before = eat_shared},
    {.name = "swap", .before = eat_and_swap},
    {.name = "victim", .before = eat_in_a_victim},
    {.name = "spike", .before = spike},
    {.name = "holes", .before = leave_holes},
    {0},
};
