/* Attacks by processes and on processes: A7, A8, C1, C2, C4 to C10.
 *
 * What must stay true in all of them: no process of the agent's is left, the judge and others on the host are not
 * reached, and the opponent plays as if it were alone.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- A7, A8: living on ---------------------------------------------------------------------------
 *
 * The agent's process ends and a descendant plays on in its place. Expected: crash with `exited with code 3`: the
 * agent is the process that was started, and everything else dies with it.
 */

/* A7  A child plays on. */
static void leave_it_to_a_child(void) {
    if (fork() != 0)
        _exit(3);
}

/* A8  A grandchild in a session of its own plays on. */
static void leave_it_to_a_daemon(void) {
    pid_t child = fork();
    if (child != 0) {
        waitpid(child, NULL, 0);
        _exit(3);
    }
    setsid();
    if (fork() != 0)
        _exit(0);
}

/* --- C1, C2: too many ----------------------------------------------------------------------------
 *
 * The first word is how many are wanted, more than there may be. Expected: plays on, `denied fork EAGAIN`.
 */

/* C1  Processes that wait. */
static void fork_many(void) {
    static pid_t children[4096];
    int count = 0, error = 0;
    while (count < number(0) && count < 4096) {
        pid_t child = fork();
        if (child == 0)
            for (;;)
                pause();
        if (child < 0) {
            error = errno;
            break;
        }
        children[count++] = child;
    }
    if (error)
        denied("fork", error);
    else
        got("fork");
    say("MESSAGE there were %d processes", count);
    for (int n = 0; n < count; n++)
        kill(children[n], SIGKILL);
    while (wait(NULL) > 0)
        ;
}

enum { BOMBS = 5 };

/* C1.bomb  Processes that all do the same, for ever. Expected: turn-time. */
static void bomb(void) {
    volatile int *go = mmap(NULL, sizeof *go, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int count = 0;
    for (int n = 0; n < BOMBS; n++) {
        pid_t child = fork();
        count += child > 0;
        if (child == 0) {
            while (!*go)
                usleep(1000);
            break;
        }
    }
    if (!*go)
        did("processes", count);
    *go = 1;
    for (;;)
        fork();
}

/* C2  Threads. */
static void *rest(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void start_many_threads(void) {
    pthread_t thread;
    pthread_attr_t small;
    int count = 0, error = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    while (count < number(0) && (error = pthread_create(&thread, &small, rest, NULL)) == 0)
        count++;
    if (error)
        denied("thread", error);
    else
        got("thread");
}

/* --- C4: killing ---------------------------------------------------------------------------------
 *
 * Kills everything that it may, PID 1, and the judge by its number (the first word). Expected: plays on, `denied judge
 * ESRCH`: there is nobody else in its world, and PID 1 is moved by nothing.
 */
static void kill_all(void) {
    pid_t child = fork();
    int status = 0;
    if (child == 0)
        for (;;)
            pause();
    tried("judge", kill((pid_t)number(0), SIGKILL));
    kill(1, SIGKILL);
    kill(-1, SIGKILL);
    for (pid_t pid = 2; pid < 32768; pid++)
        if (pid != getpid())
            kill(pid, SIGKILL);
    waitpid(child, &status, 0);
    did("killed", WIFSIGNALED(status));
}

/* --- C5: looking into others ---------------------------------------------------------------------
 *
 * The first word is the number of PID 1, or `child` for one of the agent's own (the control). Expected:
 * plays on, everything denied.
 */
static pid_t target;
static char somewhere[64];

static long trace(void) { return ptrace(PTRACE_ATTACH, target, NULL, NULL); }

static long read_memory(void) {
    char here[8];
    struct iovec local = {here, sizeof here}, remote = {somewhere, sizeof here};
    return process_vm_readv(target, &local, 1, &remote, 1, 0);
}

static long write_memory(void) {
    char here[8] = "owned";
    struct iovec local = {here, sizeof here}, remote = {somewhere, sizeof here};
    return process_vm_writev(target, &local, 1, &remote, 1, 0);
}

static long take_descriptor(void) {
    int handle = (int)syscall(SYS_pidfd_open, target, 0);
    return handle < 0 ? -1 : syscall(SYS_pidfd_getfd, handle, 2, 0);
}

static long open_of(const char *name, int mode) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", target, name);
    return open(path, mode);
}

static long open_memory(void) { return open_of("mem", O_RDWR); }
static long open_environment(void) { return open_of("environ", O_RDONLY); }
static long open_stderr(void) { return open_of("fd/2", O_WRONLY); }
static long open_root(void) { return open_of("root/etc/passwd", O_RDONLY); }

static void look_into(void) {
    int is_own = !strcmp(word(0), "child");
    target = is_own ? fork() : 1;
    if (target == 0)
        for (;;)
            pause();
    try_apart("ptrace", trace);
    try_apart("process_vm_readv", read_memory);
    try_apart("process_vm_writev", write_memory);
    try_apart("pidfd_getfd", take_descriptor);
    try_apart("mem", open_memory);
    try_apart("environ", open_environment);
    try_apart("stderr", open_stderr);
    try_apart("root", open_root);
    if (is_own) {
        kill(target, SIGKILL);
        waitpid(target, NULL, 0);
    }
}

/* --- C10: acting on PID 1 ------------------------------------------------------------------------
 *
 * Signals it, limits it, and reads its processor time. Expected: plays on, everything denied: PID 1 is another user, and
 * the filter knows its clock. docs/system-calls.md has all calls.
 */
static long signal_first(void) { return kill(1, SIGUSR1); }
static long limit_first(void) { return prlimit(1, RLIMIT_CORE, &(struct rlimit){0, 0}, NULL); }
static long time_first(void) { return clock_gettime(-14, &(struct timespec){0, 0}); } /* ~1 * 8 | 2 */

static void reach_first(void) {
    try_apart("signal", signal_first);
    try_apart("limit", limit_first);
    try_apart("clock", time_first);
}

/* --- C6, C7, C8: rights --------------------------------------------------------------------------
 *
 * Expected: plays on, everything denied.
 */

/* C6  Looks for programs that run as another user, and asks to become one. */
static int count_of_setuid;

static int count_setuid(const char *path, const struct stat *found, int kind, struct FTW *level) {
    (void)path, (void)level;
    count_of_setuid += kind == FTW_F && (found->st_mode & (S_ISUID | S_ISGID));
    return 0;
}

static long become_root(void) { return setuid(0); }

static void look_for_setuid(void) {
    char text[4096] = "";
    nftw("/", count_setuid, 16, FTW_PHYS | FTW_MOUNT);
    if (count_of_setuid)
        got("setuid-file");
    else
        denied_by("setuid-file", "NONE");
    try_apart("setuid", become_root);
    FILE *status = fopen("/proc/self/status", "r");
    size_t size = status ? fread(text, 1, sizeof text - 1, status) : 0;
    text[size] = 0;
    if (strstr(text, "NoNewPrivs:\t1"))
        denied_by("new-privileges", "NONE");
    else
        got("new-privileges");
}

/* C7  Counts the groups that it has beside its own. */
static void look_at_groups(void) {
    gid_t groups[64];
    int count = getgroups(64, groups), more = 0;
    for (int n = 0; n < count; n++)
        more += groups[n] != getgid();
    if (more)
        got("group");
    else
        denied_by("group", "NONE");
    gid_t shadow = 42;
    tried("setgroups", setgroups(1, &shadow));
}

/* C8  Asks to leave a core dump. Where it may, it does not: a host may have a program that is started for each. */
static void dump_core(void) {
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    int status = 0;
    if (setrlimit(RLIMIT_CORE, &all) == 0) {
        got("core-limit");
        return;
    }
    denied("core-limit", errno);
    pid_t child = fork();
    if (child == 0)
        abort();
    waitpid(child, &status, 0);
    if (WCOREDUMP(status))
        got("core");
    else
        denied_by("core", "NONE");
}

/* --- C9: what the kernel counts by user ----------------------------------------------------------
 *
 * An agent of another game takes all the waiting signals and the pages for pipes that a user may have. Expected: this one,
 * in the same seat of its game, plays on and gets signals and a pipe of the usual size, for it is another user.
 */
enum { HOARDERS = 24, HOARDED_PIPES = 60, HOARDED_SIGNALS = 1 << 12, SIGNALS = 8, USUAL_BYTES = 1 << 16 };

/* Signals that wait are counted; of one that finds no room only the last is kept. */
static void send_signals(int number, int count) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int n = 0; n < count; n++)
        kill(getpid(), number);
}

static long take_signals(void) {
    sigset_t set;
    int count = 0;
    send_signals(SIGRTMIN, SIGNALS);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    while (sigtimedwait(&set, NULL, &(struct timespec){0, 0}) > 0)
        count++;
    errno = EAGAIN;
    return count == SIGNALS ? 0 : -1;
}

static long take_pipe(void) {
    int ends[2];
    if (pipe(ends))
        return -1;
    if (fcntl(ends[0], F_GETPIPE_SZ) >= USUAL_BYTES)
        return 0;
    errno = ENOSPC;
    return -1;
}

static void hoard_pipes(void) {
    int ends[2];
    for (int n = 0; n < HOARDED_PIPES && pipe(ends) == 0; n++)
        ;
}

/* What the other one does, before it reads a line: its OK to START says that all is taken. */
static void hoard(void) {
    int ready[2];
    char byte;
    send_signals(SIGRTMIN + 1, HOARDED_SIGNALS);
    if (pipe(ready))
        return;
    for (int n = 0; n < HOARDERS; n++)
        if (fork() == 0) {
            hoard_pipes();
            put(ready[1], "x", 1);
            for (;;)
                pause();
        }
    for (int n = 0; n < HOARDERS; n++)
        if (read(ready[0], &byte, 1) != 1)
            return;
}

static void probe(void) {
    try_apart("signals", take_signals);
    try_apart("pipe", take_pipe);
}

const struct attack attacks[] = {
    {.name = "child-plays-on", .before = leave_it_to_a_child},
    {.name = "daemon-plays-on", .before = leave_it_to_a_daemon},
    {.name = "fork", .before = fork_many},
    {.name = "bomb", .before = bomb},
    {.name = "threads", .before = start_many_threads},
    {.name = "kill", .before = kill_all},
    {.name = "look-into", .before = look_into},
    {.name = "reach", .before = reach_first},
    {.name = "setuid", .before = look_for_setuid},
    {.name = "groups", .before = look_at_groups},
    {.name = "core", .before = dump_core},
    {.name = "hoard", .at_launch = hoard},
    {.name = "probe", .before = probe},
    {0},
};
