/* Attacks by timers that expire in the opponent's time: O5 to O8. A freezer stops tasks, not timers: the interrupt of
 * a timer runs on the core of its agent, whoever has that core.
 *
 * Before each answer the timers are set; their first moment is some milliseconds later. Expected: plays on, and the
 * opponent loses no more of its time to interrupts than against an honest agent. `did timers` counts timers that were
 * set, `did fired` those that have expired when they are set again.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256, MILLISECOND_NS = 1000000, PATIENCE_MS = 5000, STACK = 1 << 16 };
static const long SECOND_NS = 1000000000, FAR_S = 3600;

/* What the agent and its helpers share. */
static struct shared {
    volatile int go;     /* the number of the round */
    volatile int ready;  /* helpers that have what they need */
    volatile int armed;  /* helpers that have set their timers, of all rounds */
    volatile long begin; /* when the first timer expires, in ns */
    volatile long timers, fired, error;
} *shared;
static int helpers;    /* how many there are */
static long arming_ns; /* how long it last took to set the timers */

static struct timespec moment(long ns) { return (struct timespec){ns / SECOND_NS, ns % SECOND_NS}; }

static void share(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void add(volatile long *sum, long count) { __atomic_add_fetch(sum, count, __ATOMIC_ACQ_REL); }

/* Waits until a counter is there, or for some seconds: a helper may have failed. */
static void await(volatile int *counter, int count) {
    for (long end = now_ms() + PATIENCE_MS; *counter < count && now_ms() < end;)
        syscall(SYS_futex, counter, FUTEX_WAIT, *counter, &(struct timespec){0, MILLISECOND_NS}, NULL, 0);
}

static void count_up(volatile int *counter) {
    __atomic_add_fetch(counter, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, counter, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Of a helper: waits for the next round. */
static void await_round(int seen) {
    while (shared->go == seen)
        syscall(SYS_futex, &shared->go, FUTEX_WAIT, seen, NULL, NULL, 0);
}

/* The helpers set their timers. Returns how long that took, in ns. */
static long arm(long begin) {
    long asked = now_ns();
    shared->begin = begin;
    int round = __atomic_add_fetch(&shared->go, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, &shared->go, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    await(&shared->armed, round * helpers);
    return now_ns() - asked;
}

/* At launch: how long it takes to set the timers. Timers that expired before the answer would cost the opponent nothing. */
static void try_to_arm(void) { arming_ns = arm(now_ns() + FAR_S * SECOND_NS); }

/* Before each answer. */
static void set_timers(void) {
    long timers = shared->timers, fired = shared->fired;
    arming_ns = arm(now_ns() + 2 * arming_ns + number(2) * MILLISECOND_NS);
    did("timers", shared->timers - timers);
    did("fired", shared->fired - fired);
}

static void tell_what_failed(const char *what) {
    if (shared->error)
        denied(what, (int)shared->error);
}

static void start_helpers(void (*helper)(int)) {
    share();
    helpers = (int)number(0);
    for (int n = 0; n < helpers; n++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            helper(n);
            _exit(0);
        }
    await(&shared->ready, helpers);
    try_to_arm();
}

/* --- O5: timerfds ----------------------------------------------------------------------------------
 *
 * HELPERS processes with TIMERS timerfds each, in words 0 and 1. The first expires DELAY ms after the answer (word 2), the
 * others SPREAD us apart (word 3). Each is watched by EPOLLS epolls of its process (word 4).
 */
static int make_timerfds(int *timers) {
    for (int n = 0; n < number(1); n++)
        if ((timers[n] = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)) < 0) {
            shared->error = errno;
            return n;
        }
    return (int)number(1);
}

static void watch(const int *files, int count) {
    for (int n = 0; n < number(4); n++) {
        int set = epoll_create1(0);
        for (int k = 0; k < count; k++)
            if (epoll_ctl(set, EPOLL_CTL_ADD, files[k], &(struct epoll_event){.events = EPOLLIN})) {
                shared->error = errno;
                return;
            }
    }
}

static void help_with_timerfds(int id) {
    int timers[MOST], count = make_timerfds(timers);
    watch(timers, count);
    count_up(&shared->ready);
    for (int round = 0;; round++) {
        await_round(round);
        for (int n = 0; n < count; n++) {
            uint64_t expired;
            if (read(timers[n], &expired, sizeof expired) > 0)
                add(&shared->fired, 1);
            struct itimerspec when = {.it_value = moment(shared->begin + number(3) * 1000 * (n * helpers + id))};
            timerfd_settime(timers[n], TFD_TIMER_ABSTIME, &when, NULL);
        }
        add(&shared->timers, count);
        count_up(&shared->armed);
    }
}

static void begin_timerfds(void) { start_helpers(help_with_timerfds); }

/* --- O6: signals of one wait queue -----------------------------------------------------------------
 *
 * SHARERS processes share one table of signal handlers without sharing files. Each has FILES signalfds (words 0 and 1), each
 * watched by EPOLLS epolls (word 4), so that all these watches are in one wait queue. A signal to the first process walks
 * the whole queue with interrupts off. TIMERS POSIX timers (word 5) send it such signals, DELAY ms after the answer (word
 * 2) and SPREAD us apart (word 3).
 */
static timer_t signal_timers[1 << 14];
static int count_of_timers;

static int watch_signals(void *unused) {
    int files[MOST], count = 0;
    sigset_t set;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    close_range(3, ~0U, 0);
    for (; count < number(1); count++)
        if ((files[count] = signalfd(-1, &set, 0)) < 0) {
            shared->error = errno;
            break;
        }
    watch(files, count);
    count_up(&shared->ready);
    for (;;)
        pause();
    return unused != NULL;
}

/* POSIX timers that send a signal, each a signal of its own number where there are enough. */
static void make_signal_timers(long wanted) {
    for (count_of_timers = 0; count_of_timers < wanted; count_of_timers++) {
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
        if (timer_create(CLOCK_MONOTONIC, &event, &signal_timers[count_of_timers]) < 0) {
            shared->error = errno;
            return;
        }
    }
}

static void set_signal_timers(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    while (sigtimedwait(&set, NULL, &(struct timespec){0, 0}) > 0)
        add(&shared->fired, 1);
    for (int n = 0; n < count_of_timers; n++) {
        struct itimerspec when = {.it_value = moment(shared->begin + number(3) * 1000 * n)};
        timer_settime(signal_timers[n], TIMER_ABSTIME, &when, NULL);
    }
    add(&shared->timers, count_of_timers);
}

static void send_signals(int id) {
    sigset_t all;
    (void)id;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (int n = 0; n < number(0); n++) {
        char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (clone(watch_signals, stack + STACK, CLONE_VM | CLONE_SIGHAND, NULL) < 0)
            shared->error = errno;
    }
    await(&shared->ready, (int)number(0));
    make_signal_timers(number(5));
    count_up(&shared->ready);
    for (int round = 0;; round++) {
        await_round(round);
        set_signal_timers();
        count_up(&shared->armed);
    }
}

static void begin_signals(void) {
    share();
    helpers = 1;
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        send_signals(0);
    }
    await(&shared->ready, (int)number(0) + 1);
    try_to_arm();
}

/* --- O7: POSIX timers ------------------------------------------------------------------------------
 *
 * One process with TIMERS POSIX timers (word 1), DELAY ms after the answer (word 2) and SPREAD us apart (word 3).
 */
static void help_with_posix_timers(int id) {
    sigset_t all;
    (void)id;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    make_signal_timers(number(1));
    count_up(&shared->ready);
    for (int round = 0;; round++) {
        await_round(round);
        set_signal_timers();
        count_up(&shared->armed);
    }
}

static void begin_posix_timers(void) { start_helpers(help_with_posix_timers); }

/* --- O8: interval timers ---------------------------------------------------------------------------
 *
 * HELPERS processes (word 0), each with an interval timer that is to expire every SPREAD us (word 3) for ever.
 */
static void help_with_itimers(int id) {
    sigset_t alarm;
    (void)id;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, NULL);
    count_up(&shared->ready);
    for (int round = 0;; round++) {
        await_round(round);
        if (sigtimedwait(&alarm, NULL, &(struct timespec){0, 0}) > 0)
            add(&shared->fired, 1);
        struct itimerval often = {{0, number(3)}, {0, number(2) * 1000 + 1}};
        if (setitimer(ITIMER_REAL, &often, NULL))
            shared->error = errno;
        add(&shared->timers, 1);
        count_up(&shared->armed);
    }
}

static void begin_itimers(void) { start_helpers(help_with_itimers); }

static void tell_timerfd(void) { tell_what_failed("timerfd"); }
static void tell_signalfd(void) { tell_what_failed("signalfd"); }
static void tell_timer(void) { tell_what_failed("timer"); }

const struct attack attacks[] = {
    {.name = "timerfds", .at_launch = begin_timerfds, .always = set_timers, .before = tell_timerfd},
    {.name = "signalfds", .at_launch = begin_signals, .always = set_timers, .before = tell_signalfd},
    {.name = "posix-timers", .at_launch = begin_posix_timers, .always = set_timers, .before = tell_timer},
    {.name = "itimers", .at_launch = begin_itimers, .always = set_timers},
    {0},
};
