/* Attacks on the clock: A1 to A6, A9, A13 and the attempts to earn a void, V1 to V9 (but V7 and V8: streams.c).
 *
 * What must stay true in all of them: the opponent's moves are answered and its clock is its own, the judge is never
 * late by more than its policy tolerates, and nothing of the agent runs or stays when the game is over.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, TICK_NS = 4000000, SECOND_NS = 1000000000 };

/* --- A1 to A6: using up the turn ----------------------------------------------------------------
 *
 * The first word is for how many milliseconds; then the agent plays on. Expected: turn-time, at the first look at the
 * clock after the limit, whether or not any processor time was used and whoever used it.
 */

static long cpu_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * SECOND_NS + used.tv_nsec;
}

/* A1  A busy loop. */
static void loop(void) {
    long before = cpu_ns();
    burn_ms(number(0));
    did("burned", (cpu_ns() - before) / 1000000);
}

/* A2  The same without using the processor, in three ways. */
static void doze(void) {
    long begin = now_ms();
    sleep_ms(number(0));
    did("slept", now_ms() - begin);
}

static void nothing(int signal_number) { (void)signal_number; }

static void wait_for_a_signal(void) {
    long span = number(0);
    struct itimerval timer = {.it_value = {span / 1000, span % 1000 * 1000}};
    signal(SIGALRM, nothing);
    setitimer(ITIMER_REAL, &timer, NULL);
    did("waits", pause() < 0 && errno == EINTR);
}

static void wait_in_select(void) {
    long span = number(0);
    did("waits", select(0, NULL, NULL, NULL, &(struct timeval){span / 1000, span % 1000 * 1000}) == 0);
}

/* A3  Stops itself; a child lets it go on. A stopped process can be killed. */
static void stop_itself(void) {
    pid_t me = getpid(), child = fork();
    int status = 0;
    if (child == 0) {
        char path[64], text[256] = "", state = 0;
        sleep_ms(number(0));
        snprintf(path, sizeof path, "/proc/%d/stat", me);
        int fd = open(path, O_RDONLY);
        if (read(fd, text, sizeof text - 1) > 0)
            sscanf(text, "%*d (%*[^)]) %c", &state);
        kill(me, SIGCONT);
        _exit(state == 'T');
    }
    raise(SIGSTOP);
    waitpid(child, &status, 0);
    did("stops", WEXITSTATUS(status));
}

/* A4  Stops, terminates and kills its parent, which is PID 1, then exits with 7.
 * Expected: crash with `exited with code 7`: PID 1 lives and tells. (A shell in its place would be stopped: the control.) */
static void stop_its_parent(void) {
    const int signals[] = {SIGTERM, SIGTSTP, SIGSTOP, SIGKILL};
    signal(SIGTERM, SIG_IGN);
    for (size_t n = 0; n < sizeof signals / sizeof *signals; n++)
        kill(getppid(), signals[n]);
    sleep_ms(50);
    _exit(7);
}

/* A5  Blocks every signal that can be blocked, and never answers. */
static void ignore_all(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    kill(getpid(), SIGTERM);
    for (long end = now_ms() + number(0); now_ms() < end;)
        sleep_ms(10);
    sigpending(&all);
    did("blocked", sigismember(&all, SIGTERM));
}

/* A6  Four children burn while the parent waits. Expected: turn-time, and the processor time of all in the record. */
static void let_children_burn(void) {
    for (int n = 0; n < 4; n++)
        if (fork() == 0) {
            burn_ms(number(0));
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

/* --- A9: thinking in the opponent's time ---------------------------------------------------------
 *
 * A helper burns all the time, the main thread is quiet. Expected: plays on, `denied pondering FREEZER`: between the
 * answer and the next request the helper had less than a tenth of the time that passed. The opponent takes its time.
 *
 * O12.burns  The same where agents may ponder. Expected: `got pondering`, and its opponent loses no time.
 */
static volatile long *helper_ns; /* the helper's processor time, in memory that it shares */
static long helper_before, answered_at;

static void *burn_for_ever(void *unused) {
    for (;;)
        *helper_ns = cpu_ns();
    return unused;
}

static void share_helper(void) {
    helper_ns = mmap(NULL, sizeof *helper_ns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void start_thread(void) {
    pthread_t thread;
    share_helper();
    pthread_create(&thread, NULL, burn_for_ever, NULL);
}

/* The same in a process that has left the session. */
static void start_process(void) {
    share_helper();
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            burn_for_ever(NULL);
        _exit(0);
    }
    wait(NULL);
}

static void note_answer(void) {
    helper_before = *helper_ns;
    answered_at = now_ms();
}

static void tell_of_pondering(void) {
    long used = (*helper_ns - helper_before) / 1000000, passed = now_ms() - answered_at;
    if (10 * used > passed)
        got("pondering");
    else
        denied_by("pondering", "FREEZER");
    say("MESSAGE the helper had %ld of %ld ms", used, passed);
}

/* --- A13: a slow trickle -------------------------------------------------------------------------
 *
 * A byte every 10 ms, an unfinished line. Expected: turn-time: one deadline a turn, not one a read.
 */
static void trickle(void) {
    long count = 0;
    for (long end = now_ms() + number(0); now_ms() < end; sleep_ms(10), count++)
        put(1, "x", 1);
    put(1, "\r\n", 2);
    did("bytes", count);
}

/* --- V1 to V9: trying to earn a void ------------------------------------------------------------
 *
 * An agent about to lose would rather not have played. Expected: it loses (turn-time, or crash where it dies), or plays
 * on; never void.
 */

/* V1  Eight threads of its own wait for one core, so each of them looks starved. */
static void *burn_a_while(void *until) {
    while (now_ms() < *(long *)until)
        ;
    return NULL;
}

static void starve_itself(void) {
    static long until;
    pthread_t threads[THREADS];
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    until = now_ms() + number(0);
    for (int n = 0; n < THREADS; n++)
        pthread_create(&threads[n], NULL, burn_a_while, &until);
    for (int n = 0; n < THREADS; n++)
        pthread_join(threads[n], NULL);
    getrusage(RUSAGE_SELF, &after);
    did("switches", after.ru_nivcsw - before.ru_nivcsw); /* of a thread that still wanted the core */
}

/* V2  A loop of vfork, whose parents cannot be frozen by every freezer. The agent sleeps over its turn meanwhile. */
static volatile long *vforks;

static void dodge_the_freezer(void) {
    vforks = mmap(NULL, sizeof *vforks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fork() == 0)
        for (;;) {
            pid_t child = vfork();
            if (child == 0)
                _exit(0);
            waitpid(child, NULL, 0);
            ++*vforks;
        }
}

static void doze_meanwhile(void) {
    sleep_ms(number(0));
    did("vforks", *vforks);
}

/* V3  Kills itself, as an outsider would. Expected: crash by signal 9. */
static void kill_itself(void) { kill(getpid(), SIGKILL); }

/* V4  Has the kernel kill PID 1, then exits with 7: it takes away PID 1's processor time, which the kernel checks at a tick,
 * and leaves work for several ticks. Who reaps a process drops each name below /proc/PID that was looked up; so the
 * children have many open files, and everything of them is looked up. Expected: crash with `exited with code 7`: PID 1
 * is another user. (As the same user it ends without a report: the control.) */
enum { LEFT_TO_REAP = 6 };

static void look_up_all(const char *directory) {
    char path[512];
    struct stat seen;
    DIR *names = opendir(directory);
    for (struct dirent *entry; names && (entry = readdir(names));) {
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        lstat(path, &seen);
    }
    if (names)
        closedir(names);
}

static void leave_work_to_reap(void) {
    static const char *const places[] = {"fd", "fdinfo", "task/%1$d/fd", "task/%1$d/fdinfo", "", "net"};
    char format[64], directory[64];
    for (int n = 0; n < LEFT_TO_REAP; n++) {
        pid_t child = fork();
        if (child == 0) {
            while (dup(STDOUT_FILENO) >= 0)
                ;
            for (;;)
                pause();
        }
        sleep_ms(20);
        for (size_t place = 0; place < sizeof places / sizeof *places; place++) {
            snprintf(format, sizeof format, "/proc/%%1$d/%s", places[place]);
            snprintf(directory, sizeof directory, format, child);
            look_up_all(directory);
        }
    }
}

static void meddle_with_its_parent(void) {
    const int what[] = {RLIMIT_STACK, RLIMIT_AS, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_NPROC,
                        RLIMIT_SIGPENDING, RLIMIT_CPU};
    struct rlimit none = {0, 0};
    leave_work_to_reap();
    for (size_t n = 0; n < sizeof what / sizeof *what; n++)
        prlimit(1, (enum __rlimit_resource)what[n], &none, NULL);
    for (int n = 1; n < NSIG; n++)
        kill(1, n);
    _exit(7);
}

/* V5  Fills what it can fill: files, inodes, descriptors, processes, and memory up to nearly the cap; then sleeps. */
static void fill_everything(void) {
    static char block[1 << 16];
    long folders_made = 0, copies = 0, children = 0;
    const char *folders[] = {".", getenv("TMPDIR")};
    char path[256];
    for (int n = 0; n < 2; n++) {
        snprintf(path, sizeof path, "%s/big", folders[n]);
        int fd = open(path, O_WRONLY | O_CREAT, 0600);
        while (write(fd, block, sizeof block) > 0)
            ;
        for (int k = 0; k < 5000; k++) {
            snprintf(path, sizeof path, "%s/%d", folders[n], k);
            if (mkdir(path, 0700))
                break;
            folders_made++;
        }
    }
    while (dup(1) >= 0)
        copies++;
    for (pid_t child; (child = fork()) >= 0; children++)
        if (child == 0) {
            pause();
            _exit(0);
        }
    size_t room = (size_t)number(1) << 20;
    memset(mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, room);
    sleep_ms(number(0));
    did("folders", folders_made);
    did("copies", copies);
    did("children", children);
}

/* V6  Dies while it is frozen: of a timer that ends in the opponent's time. Expected: crash by signal 14. */
static void die_in_the_opponents_time(void) {
    struct itimerval timer = {.it_value = {0, 50000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* V9  Runs only when the kernel's tick looks, and sleeps otherwise: where processor time is counted by ticks the core
 * seems busy all the time, and this agent has hardly used any. Expected: turn-time. */
static void ride_the_tick(void) {
    long ticks = 0;
    for (long end = now_ms() + number(0); now_ms() < end; ticks++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        long at = now.tv_sec * SECOND_NS + now.tv_nsec, tick = (at / TICK_NS + 1) * TICK_NS, wake = tick - 200000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
                        &(struct timespec){wake / SECOND_NS, wake % SECOND_NS}, NULL);
        do
            clock_gettime(CLOCK_MONOTONIC, &now);
        while (now.tv_sec * SECOND_NS + now.tv_nsec < tick + 100000);
    }
    did("ticks", ticks);
}

/* V10  Has the kernel work for it where no process pays: a storm of a timer, whose signals are taken, and of processes
 * that end. */
static volatile sig_atomic_t count_of_signals;

static void count_signal(int signal_number) {
    (void)signal_number;
    count_of_signals++;
}

static void storm(void) {
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    long end = now_ms() + number(0), children = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (now_ms() < end) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
        children += child > 0;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    did("signals", count_of_signals);
    did("children", children);
}

const struct attack attacks[] = {
    {.name = "busy", .before = loop},
    {.name = "sleep", .before = doze},
    {.name = "pause", .before = wait_for_a_signal},
    {.name = "select", .before = wait_in_select},
    {.name = "stop", .before = stop_itself},
    {.name = "stop-parent", .before = stop_its_parent},
    {.name = "ignore", .before = ignore_all},
    {.name = "children", .before = let_children_burn},
    {.name = "ponder-thread", .at_launch = start_thread, .after = note_answer, .next = tell_of_pondering},
    {.name = "ponder-process", .at_launch = start_process, .after = note_answer, .next = tell_of_pondering},
    {.name = "trickle", .before = trickle},
    {.name = "threads", .before = starve_itself},
    {.name = "vfork", .at_launch = dodge_the_freezer, .next = doze_meanwhile},
    {.name = "kill-itself", .before = kill_itself},
    {.name = "meddle", .before = meddle_with_its_parent},
    {.name = "fill", .before = fill_everything},
    {.name = "die-frozen", .after = die_in_the_opponents_time},
    {.name = "tick", .before = ride_the_tick},
    {.name = "storm", .before = storm},
    {0},
};
