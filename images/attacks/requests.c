/* Attacks on the judge's own time, by how the agent is written to and read: I7, I8, O10, A14, V12.
 *
 * What must stay true in all of them: the judge looks at the clock and at other agents as if this one were honest, an
 * answer after the deadline is late, and no delay of the judge that an agent causes makes a game void.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256, PATIENCE_MS = 8000, LINE = 64 };

static char block[1 << 20];

/* --- I7: watches of its own stdin ------------------------------------------------------------------
 *
 * HELPERS processes (word 0) watch FILES duplicates of stdin (word 1) by EPOLLS epolls (word 2). Each write of the judge
 * walks through all of these watches, on the judge's core and with interrupts off. `did watches` counts them.
 */
static volatile long *watches;
static volatile int *ready;

static void watch_stdin(void) {
    int files[MOST], count = 0;
    long made = 0;
    while (count < number(1) && (files[count] = dup(0)) >= 0)
        count++;
    for (int n = 0; n < number(2); n++) {
        int set = epoll_create1(0);
        for (int k = 0; k < count; k++)
            made += epoll_ctl(set, EPOLL_CTL_ADD, files[k], &(struct epoll_event){.events = EPOLLIN}) == 0;
    }
    __atomic_add_fetch(watches, made, __ATOMIC_ACQ_REL);
    __atomic_add_fetch(ready, 1, __ATOMIC_ACQ_REL);
    for (;;)
        pause();
}

static void watch_in_helpers(void) {
    watches = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ready = (volatile int *)(watches + 64);
    for (int n = 0; n < number(0); n++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            watch_stdin();
        }
    for (long end = now_ms() + PATIENCE_MS; *ready < number(0) && now_ms() < end;)
        sleep_ms(5);
}

static void tell_watches(void) { did("watches", *watches); }

/* --- A14: lines that the judge answers -------------------------------------------------------------
 *
 * SUGGEST makes the judge write. At the end of its second turn, after the milliseconds of word 4, the agent sends as many
 * of them as word 3 says, thinks on for as long as word 5 says, and answers. Expected: turn-time.
 */
static size_t suggestions(const char *cell, long count) {
    size_t size = 0;
    for (long n = 0; n < count && size + LINE < sizeof block; n++)
        size += (size_t)snprintf(block + size, LINE, "SUGGEST %s\r\n", cell);
    return size;
}

static void suggest_and_think(void) {
    static char cell[LINE];
    long begin = now_ms();
    snprintf(cell, sizeof cell, "%s", choose());
    did("suggestions", number(3));
    sleep_ms(number(4));
    put(1, block, suggestions(cell, number(3)));
    sleep_ms(number(5));
    did("thinking", now_ms() - begin);
    say("%s", cell);
    answered = 1;
}

/* --- I8: a full pipe without a reader --------------------------------------------------------------
 *
 * The agent does not read a request that is larger than its stdin, so that the judge has more to write than there is room
 * for; then it closes its stdin. Such a pipe polls as an error and not as room. `did bytes` counts what was in the pipe.
 * It burns for as many milliseconds as the first word says, and answers; its next turn is late.
 */
static void leave_a_full_pipe(void) {
    int bytes = 0;
    fcntl(0, F_SETPIPE_SZ, 4096);
    poll(&(struct pollfd){0, POLLIN, 0}, 1, -1);
    sleep_ms(100);
    ioctl(0, FIONREAD, &bytes);
    close(0);
    did("bytes", bytes);
    burn_ms(number(0));
    say("%d,%d", 39, 39);
    for (;;)
        pause();
}

/* --- O10: lines behind an answer -------------------------------------------------------------------
 *
 * As many DEBUG lines as the first word says, in one write with each answer but the first. Expected: plays on, and what is read of them
 * is read before the opponent's clock runs.
 */
static void widen(void) { fcntl(1, F_SETPIPE_SZ, sizeof block); }

static void burst(void) {
    char cell[LINE];
    if (requests == 1) {
        did("lines", number(0)); /* of later lines only some are kept */
        return;
    }
    snprintf(cell, sizeof cell, "%s", choose());
    size_t size = (size_t)snprintf(block, LINE, "%s\r\n", cell);
    for (long n = 0; n < number(0) && size + LINE < sizeof block; n++)
        size += (size_t)snprintf(block + size, LINE, "DEBUG x\r\n");
    fcntl(1, F_SETFL, O_NONBLOCK);
    if (write(1, block, size) != (ssize_t)size)
        fprintf(stderr, "not all of %zu bytes were written\n", size);
    fcntl(1, F_SETFL, 0);
    answered = 1;
}

/* --- V12: delays of the judge, and then late -------------------------------------------------------
 *
 * The agent makes the judge busy when its turn ends, by its output (V12), by watches of its stdin (V12.watches), or by a
 * full pipe (V12.pipe), and is late by less than the judge is. Expected: turn-time; never void.
 */
static void print_and_be_late(void) {
    size_t size = 0;
    sleep_ms(number(1));
    while (size + LINE < (size_t)number(0) * 1024 && size + LINE < sizeof block)
        size += (size_t)snprintf(block + size, LINE, "DEBUG x\r\n");
    did("bytes", (long)size);
    sleep_ms(20); /* so that it is read before the others, of which only some are kept */
    put(1, block, size);
    sleep_ms(number(2));
}

const struct attack attacks[] = {
    {.name = "watch-stdin", .at_launch = watch_in_helpers, .before = tell_watches},
    {.name = "suggest", .at_launch = watch_in_helpers, .before = suggest_and_think},
    {.name = "full-pipe", .greeted = leave_a_full_pipe},
    {.name = "burst", .at_launch = widen, .always = burst},
    {.name = "print-late", .before = print_and_be_late},
    {0},
};
