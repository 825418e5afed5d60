/* PID 1 of a box: starts one agent when the judge says so and tells what became of it, where the agent cannot reach.
 *
 *     init BYTES FILES USER COMMAND [WORD...]
 *
 * BYTES   How much address space each of the agent's processes may lay out; 0: no limit.
 * FILES   How many open files each of them may have. Our own limit is higher.
 * USER    The agent's user and group.
 * stdin   The judge's words. 'P': the agent gets the named pipes /io/in, /io/out and /io/err. 'A' and 16 more bytes, the
 *         mark: the agent gets our own stdin and stdout, and the mark follows its last byte on stdout; no word comes
 *         after it. 'C', while no agent runs: leave nothing of the former one, then say so; the next agent starts in
 *         what is mounted at its working directory by then.
 *         The end of stdin means that the judge is gone: we exit, and the kernel kills everything in the container.
 * stderr  Frames that the agent cannot forge, for it never holds this descriptor: one byte kind, four bytes length
 *         (big endian), payload. 'R' is a report: `started 0`, `exec-failed ERRNO`, `exited CODE`, `signalled NUMBER`.
 *         'e' is what the agent wrote to its stderr (after word 'A' only); an empty one ends it. 'C' answers the word.
 *
 * When the agent's first process ends, everything else in the container is killed and reaped before the report, so
 * the pipes are at their end when it arrives. Then we wait: the container's counters last as long as we do.
 *
 * We are started as root with the rights to change users, and become a user that no agent is. So the kernel refuses an agent
 * that tries to signal, limit, trace or schedule us. We keep the rights to start a process as the agent's user and to
 * kill it; the agent has no rights and can get none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 4096, MARK = 16, WATCHES = 256, ROW = 130, JUDGE_GONE = 0, HOST_FAULT = 71 };

/* Our own user. Agents' begin at 1000 (`box.uid`). */
enum { OWN_USER = 1 };

enum { HOST_FAILED = -1 }; /* instead of an errno */

#define RIGHT(number) (1U << (number))
enum { NO_RIGHTS = 0, OWN_RIGHTS = RIGHT(CAP_KILL) | RIGHT(CAP_SETGID) | RIGHT(CAP_SETUID) };

static const char WATCHED[] = "/proc/sys/kernel/ostype";

struct streams {
    int in, out, err;
};

static char home[PATH_MAX]; /* where the agent starts, once we have left it; until then it starts where we are */

static void must(int ok) {
    if (!ok)
        _exit(HOST_FAULT);
}

static void put(int fd, const void *data, size_t size) {
    const char *rest = data;
    while (size > 0) {
        ssize_t n = write(fd, rest, size);
        if (n > 0) {
            rest += n;
            size -= (size_t)n;
        } else {
            must(errno == EINTR);
        }
    }
}

static void frame(char kind, const void *payload, uint32_t size) {
    char bytes[5 + CHUNK] = {kind, (char)(size >> 24), (char)(size >> 16), (char)(size >> 8), (char)size};
    memcpy(bytes + 5, payload, size);
    put(STDERR_FILENO, bytes, 5 + size);
}

static void report(const char *what, int number) {
    char text[32];
    frame('R', text, (uint32_t)snprintf(text, sizeof text, "%s %d", what, number));
}

/* Takes what is there of the agent's stderr; false at its end. */
static int relay(int err) {
    char bytes[CHUNK];
    ssize_t n = read(err, bytes, sizeof bytes);
    if (n > 0)
        frame('e', bytes, (uint32_t)n);
    return n > 0 || (n < 0 && errno == EAGAIN); /* an agent can read its own stderr before us */
}

/* Reads exactly what the judge said to us: what follows may belong to the agent. */
static void take(char *data, size_t size) {
    while (size > 0) {
        ssize_t n = read(STDIN_FILENO, data, size);
        if (n <= 0)
            _exit(JUDGE_GONE);
        data += n;
        size -= (size_t)n;
    }
}

/* The judge holds the other end already; where it does not, failing is better than hanging. The agent gets it blocking. */
static int open_pipe(const char *path, int mode) {
    int fd = open(path, mode | O_NONBLOCK | O_CLOEXEC);
    must(fd > STDERR_FILENO && fcntl(fd, F_SETFL, 0) == 0);
    return fd;
}

/* Takes the epoll watches that the kernel allows the agent's user, which our real user is meanwhile (fs.epoll.max_user_watches), but for WATCHES. The kernel visits all
 * watches of a file at each event, with interrupts off, and an epoll may watch another one: n watches can be n * n / 4
 * visits. The limit is one number for all users, and a server of another user needs thousands of watches, so the
 * number cannot be small. We hold what the agent does not need. Where the limit is more than ROW * ROW, nothing is taken;
 * `judge doctor` reports such a host.
 *
 * A watch lasts as long as its file, so all descriptors of it but one are closed again. The file is a setting of the
 * kernel's that has no events: such a watch waits for nothing, and takes the least time to make and to free. */
static void take_watches(void) {
    int epolls[ROW], files[ROW], taken = 0, is_full = 0;
    struct epoll_event never = {0};
    for (int n = 0; n < ROW; n++) {
        must((files[n] = n ? fcntl(files[0], F_DUPFD_CLOEXEC, 0) : open(WATCHED, O_RDONLY | O_CLOEXEC)) >= 0);
        must((epolls[n] = epoll_create1(EPOLL_CLOEXEC)) >= 0);
    }
    while (taken < ROW * ROW && !is_full)
        if (epoll_ctl(epolls[taken / ROW], EPOLL_CTL_ADD, files[taken % ROW], &never) == 0)
            taken++;
        else
            must((is_full = errno == ENOSPC));
    for (int left = WATCHES; is_full && left > 0 && taken > 0; left--) {
        taken--;
        must(epoll_ctl(epolls[taken / ROW], EPOLL_CTL_DEL, files[taken % ROW], NULL) == 0);
    }
    for (int n = is_full ? (taken + ROW - 1) / ROW : 0; n < ROW; n++)
        close(epolls[n]);
    for (int n = is_full ? 1 : 0; n < ROW; n++)
        close(files[n]);
}

/* Becomes another user in every respect, with these rights and no other ones. */
static int become(uid_t user, uint32_t rights) {
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{.effective = rights, .permitted = rights}};
    return setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0 &&
           syscall(SYS_capset, &head, sets) == 0;
}

/* What the agent is and may have at most: the hard limits, which nothing in here can raise. Reserved addresses are no
 * memory, but one call that walks through terabytes of them lasts for seconds, and nothing stops it meanwhile. The
 * Engine has no word for that limit. */
struct bounds {
    rlim_t addresses, files;
    uid_t user;
};

static int bound(int resource, rlim_t value) {
    struct rlimit limit;
    if (value && getrlimit(resource, &limit) == 0 && value < limit.rlim_max)
        return setrlimit(resource, &(struct rlimit){value, value}) == 0;
    return 1;
}

static void become_agent(struct streams streams, struct bounds bounds, char **command, int failure) {
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    setpgid(0, 0); /* the filter answers setsid without making it */
    int ready = bound(RLIMIT_AS, bounds.addresses) && bound(RLIMIT_NOFILE, bounds.files);
    dup2(streams.in, STDIN_FILENO);
    dup2(streams.out, STDOUT_FILENO);
    dup2(streams.err, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC); /* nothing else; an error needs `failure` until then */
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (!ready || !become(bounds.user, NO_RIGHTS) || (*home && chdir(home))) {
        put(failure, &(int){HOST_FAILED}, sizeof(int));
        _exit(HOST_FAULT);
    }
    (strchr(command[0], '/') ? execv : execvp)(command[0], command); /* execvp would give anything to /bin/sh */
    put(failure, &errno, sizeof errno);
    _exit(127);
}

/* Starts the agent and returns its process id, or 0 and the errno if it cannot be executed. What fails before that is not the
 * agent's fault. */
static pid_t start(struct streams streams, struct bounds bounds, char **command, int *error) {
    int failure[2];
    must(pipe2(failure, O_CLOEXEC) == 0);
    pid_t agent = fork();
    must(agent >= 0);
    if (agent == 0)
        become_agent(streams, bounds, command, failure[1]);
    close(failure[1]);
    int failed = read(failure[0], error, sizeof *error) == sizeof *error;
    must(!failed || *error != HOST_FAILED);
    close(failure[0]);
    return failed ? 0 : agent;
}

/* Reaps what has ended; true when the agent has, with its wait status. */
static int has_ended(pid_t agent, int *status) {
    int one, ended = 0;
    for (pid_t pid; (pid = waitpid(-1, &one, WNOHANG)) > 0;)
        if (pid == agent) {
            *status = one;
            ended = 1;
        }
    return ended;
}

/* Watches until the agent has ended and returns its wait status. */
static int watch(pid_t agent, int err) {
    sigset_t none;
    sigemptyset(&none);
    for (int status;;) {
        struct pollfd on[] = {{.fd = STDIN_FILENO}, {.fd = err, .events = POLLIN}};
        must(ppoll(on, 2, NULL, &none) >= 0 || errno == EINTR); /* the only place where SIGCHLD arrives */
        if (on[0].revents)
            _exit(JUDGE_GONE);
        if (on[1].revents && !relay(err))
            err = -1; /* poll passes over it */
        if (has_ended(agent, &status))
            return status;
    }
}

static void report_end(int status) {
    if (WIFEXITED(status))
        report("exited", WEXITSTATUS(status));
    else
        report("signalled", WTERMSIG(status));
}

/* SIGCHLD is blocked but in `watch`, and would wait for ever: a container with it is not as it was before a game. */
static void kill_all_and_reap(void) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    do
        kill(-1, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0);
    while (sigtimedwait(&children, NULL, &(struct timespec){0, 0}) > 0)
        ;
}

/* The agent may have left its streams, which it shared with us, in a state that does not wait. */
static void make_blocking(int fd) { must(fcntl(fd, F_SETFL, 0) == 0); }

/* Until the judge goes; what it has still written for the agent is nobody's. */
static void wait_for_the_judge(void) {
    char bytes[CHUNK];
    make_blocking(STDIN_FILENO);
    while (read(STDIN_FILENO, bytes, sizeof bytes) > 0 || errno == EINTR)
        errno = 0;
}

static void interrupt(int number) { (void)number; }

/* Leaves root for ever. The agent may open our stdin and stdout by name when it gets them, so every user may. */
static void become_ourselves(uid_t agent) {
    fchmod(STDIN_FILENO, 0666);
    fchmod(STDOUT_FILENO, 0666);
    must(setresuid(agent, -1, -1) == 0);
    take_watches();
    int right = 0;
    while (prctl(PR_CAPBSET_DROP, right, 0, 0, 0) == 0)
        right++;
    must(errno == EINVAL && right > CAP_SETPCAP); /* the kernel has no more */
    must(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && become(OWN_USER, OWN_RIGHTS));
}

/* Closes /proc/1 to the agent and lets SIGCHLD interrupt `ppoll` in `watch`; no other signal has an effect. A signalfd
 * would need a system call that agents are denied, and they have the same filter. */
static void set_up_process(void) {
    sigset_t children;
    must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    must(sigprocmask(SIG_BLOCK, &children, NULL) == 0);
    must(sigaction(SIGCHLD, &(struct sigaction){.sa_handler = interrupt}, NULL) == 0);
}

/* The streams that the judge's word means for the agent; *err is where its stderr is to be read, or -1. */
static struct streams streams_of(char word, int *err) {
    int ends[2];
    if (word == 'P')
        return (struct streams){open_pipe("/io/in", O_RDONLY), open_pipe("/io/out", O_WRONLY),
                                open_pipe("/io/err", O_WRONLY)};
    must(word == 'A' && pipe2(ends, O_CLOEXEC) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    must(fchmod(ends[1], 0666) == 0);
    *err = ends[0];
    return (struct streams){STDIN_FILENO, STDOUT_FILENO, ends[1]};
}

/* The agent's ends of its streams are its own, so that they end with it; our standard streams stay. */
static void let_go(struct streams streams) {
    const int fds[] = {streams.in, streams.out, streams.err};
    for (int n = 0; n < 3; n++)
        if (fds[n] > STDERR_FILENO)
            close(fds[n]);
}

/* Waits for the agent's end and tells it, once nothing else of it is left. */
static void play(char word, struct bounds bounds, char **command) {
    int status = 0, error = 0, err = -1;
    struct streams streams = streams_of(word, &err);
    pid_t agent = start(streams, bounds, command, &error);
    let_go(streams);
    if (agent) {
        report("started", 0);
        status = watch(agent, err);
    }
    kill_all_and_reap();
    if (word == 'A') {
        while (relay(err))
            ;
        frame('e', "", 0);
    }
    if (agent)
        report_end(status);
    else
        report("exec-failed", error);
}

/* Removes what is left of a former agent: its processes and the directory that it wrote to. */
static void clean(void) {
    kill_all_and_reap();
    must(*home || getcwd(home, sizeof home));
    must(chdir("/") == 0);
    frame('C', "", 0);
}

int main(int argc, char **argv) {
    char word, mark[MARK];

    must(argc > 4);
    struct bounds bounds = {strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10), (uid_t)strtoul(argv[3], NULL, 10)};
    become_ourselves(bounds.user);
    set_up_process();
    for (;;) {
        take(&word, 1);
        if (word == 'A')
            break;
        if (word == 'C')
            clean();
        else
            play(word, bounds, argv + 4);
    }
    take(mark, sizeof mark);
    play(word, bounds, argv + 4);
    make_blocking(STDOUT_FILENO);
    put(STDOUT_FILENO, mark, sizeof mark);
    wait_for_the_judge();
    return JUDGE_GONE;
}
