/* Attacks by what ends: O9, O11, O13 (O9 with one helper, within the bound of a turn).
 *
 * What must stay true in all: the opponent has the core when it is asked, and what the agent uses of it is charged.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { GIBIBYTE = 1 << 30, MEBIBYTE = 1 << 20 };

/* --- O9: helpers that die in the opponent's time ---------------------------------------------------
 *
 * Before each answer HELPERS processes (word 1) are started that have much to give back: pages of zeros
 * (`exit-maps`), or memory (`exit-memory`), SIZE of it each (word 0: GiB, MiB). A timer kills them DELAY ms after the answer
 * (word 2): the exit is work of the kernel that a freezer does not stop. `did helpers` counts them.
 */
static volatile int *ready, *go;

static void take_maps(void) {
    for (long n = 0; n < number(0); n++)
        mmap(NULL, GIBIBYTE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_NORESERVE, -1, 0);
}

static void take_memory(void) {
    size_t size = (size_t)number(0) * MEBIBYTE;
    char *begin = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED)
        return;
    madvise(begin, size, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < size; at += 4096)
        begin[at] = 1;
}

static void help(void (*take)(void)) {
    take();
    __atomic_add_fetch(ready, 1, __ATOMIC_ACQ_REL);
    while (!*go)
        syscall(SYS_futex, go, FUTEX_WAIT, 0, NULL, NULL, 0);
    signal(SIGALRM, SIG_DFL);
    struct itimerval once = {.it_value = {number(2) / 1000, number(2) % 1000 * 1000}};
    setitimer(ITIMER_REAL, &once, NULL);
    __atomic_add_fetch(ready, 1, __ATOMIC_ACQ_REL);
    for (;;)
        pause();
}

static void await_ready(int count) {
    for (long end = now_ms() + 10000; *ready < count && now_ms() < end;)
        usleep(200);
}

static void share(void) {
    ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    go = ready + 16;
    signal(SIGCHLD, SIG_IGN);
}

static void start_helpers(void (*take)(void)) {
    int count = (int)number(1);
    *ready = *go = 0;
    for (int n = 0; n < count; n++)
        if (fork() == 0)
            help(take);
    await_ready(count);
    *go = 1;
    syscall(SYS_futex, go, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    await_ready(2 * count);
    did("helpers", *ready / 2);
}

static void with_maps(void) { start_helpers(take_maps); }
static void with_memory(void) { start_helpers(take_memory); }

/* --- O11: burning at the end -----------------------------------------------------------------------
 *
 * When END has come, as many processes as the first word says burn until they are killed. The opponent has work to do
 * then: it saves what it has learned.
 */
static void burn_at_the_end(void) {
    for (long n = 0; n < number(0); n++)
        if (fork() == 0)
            for (;;)
                ;
    for (;;)
        pause();
}

const struct attack attacks[] = {
    {.name = "exit-maps", .at_launch = share, .always = with_maps},
    {.name = "exit-memory", .at_launch = share, .always = with_memory},
    {.name = "burn-at-end", .at_end = burn_at_the_end},
    {0},
};
