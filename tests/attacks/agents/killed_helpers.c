/* Helpers that a POSIX timer kills while the agent is frozen: the work of their end is done in the opponent's time.
 *
 *     killed_helpers kill|alarm GIB HELPERS DELAY_MS
 *
 * Each maps GIB GiB of zeros, and is ended by SIGKILL of a POSIX timer or by SIGALRM of an interval timer. At its sixth
 * request the agent exits with code 3. */
#include "player.h"

static const char *kind;
static long size, delay_ms;
static int helpers;
static volatile int *ready, *go;

static void wait_for_word(void) {
    __atomic_add_fetch(ready, 1, __ATOMIC_ACQ_REL);
    while (!*go) syscall(SYS_futex, go, 0, 0, NULL, NULL, 0);
}

static void helper(void) {
    for (long i = 0; i < size; i++)
        mmap(NULL, 1L << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_NORESERVE, -1, 0);
    struct itimerspec at = {.it_value = {delay_ms / 1000, delay_ms % 1000 * 1000000 + 1}};
    if (!strcmp(kind, "alarm")) {
        wait_for_word();
        struct itimerval once = {.it_value = {delay_ms / 1000, delay_ms % 1000 * 1000 + 1}};
        setitimer(ITIMER_REAL, &once, NULL);
    } else {
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
        int timer;
        if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer)) say("MESSAGE no timer: %s", strerror(errno));
        wait_for_word();
        syscall(SYS_timer_settime, timer, 0, &at, NULL);
    }
    __atomic_add_fetch(ready, 1, __ATOMIC_ACQ_REL);
    for (;;) pause();
}

static void at_launch(int count, char **words) {
    if (count < 5) exit(2);
    kind = words[1], size = atol(words[2]), helpers = atoi(words[3]), delay_ms = atol(words[4]);
    ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    go = ready + 16;
    signal(SIGCHLD, SIG_IGN);
}

static void before(int request) {
    if (request == 6) exit(3);
    *ready = *go = 0;
    for (int i = 0; i < helpers; i++)
        if (!fork()) helper();
    while (*ready < helpers) usleep(200);
    *go = 1;
    syscall(SYS_futex, go, 1, 1000, NULL, NULL, 0);
    while (*ready < 2 * helpers) usleep(200);
}

static void after(int request) { (void)request; }
static void at_end(void) {}
