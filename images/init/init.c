/* PID 1 of a box: starts one agent when the judge says so and tells what became of it, where the agent cannot reach.
 *
 *     init COMMAND [WORD...]
 *
 * stdin   The judge's word, once. 'P': the agent gets the named pipes /io/in, /io/out and /io/err. 'A' and 16 more
 *         bytes, the mark: the agent gets our own stdin and stdout, and the mark follows its last byte on stdout.
 *         The end of stdin means that the judge is gone: we exit, and the kernel kills everything in the container.
 * stderr  Frames that the agent cannot forge, for it never holds this descriptor: one byte kind, four bytes length
 *         (big endian), payload. 'R' is a report: `started 0`, `exec-failed ERRNO`, `exited CODE`, `signalled NUMBER`,
 *         or `killed 9` when a SIGTERM from outside the container ordered it. 'e' is what the agent wrote to its
 *         stderr (after word 'A' only); an empty one ends it.
 *
 * When the agent's first process ends, everything else in the container is killed and reaped before the report, so
 * the pipes are at their end when it arrives. Then we wait: the container's counters last as long as we do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 4096, MARK = 16, JUDGE_GONE = 0, HOST_FAULT = 71 };

struct streams {
    int in, out, err;
};

static void must(int ok) {
    if (!ok)
        _exit(HOST_FAULT);
}

/* Writes everything, also where the agent has made the shared description non-blocking. */
static void put(int fd, const void *data, size_t size) {
    const char *rest = data;
    while (size > 0) {
        ssize_t n = write(fd, rest, size);
        if (n > 0) {
            rest += n;
            size -= (size_t)n;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
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
    return n > 0;
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

static void become_agent(struct streams streams, char **command, int failure) {
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    setsid();
    dup2(streams.in, STDIN_FILENO);
    dup2(streams.out, STDOUT_FILENO);
    dup2(streams.err, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC); /* nothing else; an error needs `failure` until then */
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(command[0], command);
    put(failure, &errno, sizeof errno);
    _exit(127);
}

/* Starts the agent and returns its process id, or 0 and the errno if it cannot be executed. */
static pid_t start(struct streams streams, char **command, int *error) {
    int failure[2];
    must(pipe2(failure, O_CLOEXEC) == 0);
    pid_t agent = fork();
    must(agent >= 0);
    if (agent == 0)
        become_agent(streams, command, failure[1]);
    close(failure[1]);
    int failed = read(failure[0], error, sizeof *error) == sizeof *error;
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

/* A SIGTERM counts only from outside the container, where its sender has no process id: the agent may send one too. */
static int is_order(int signals) {
    struct signalfd_siginfo info;
    must(read(signals, &info, sizeof info) == sizeof info);
    return info.ssi_signo == SIGTERM && info.ssi_code == SI_USER && info.ssi_pid == 0;
}

/* Watches until the agent has ended; returns its wait status and whether it was ended by an order. */
static int watch(pid_t agent, int signals, int err, int *ordered) {
    for (int status;;) {
        struct pollfd on[] = {{.fd = STDIN_FILENO}, {.fd = signals, .events = POLLIN}, {.fd = err, .events = POLLIN}};
        if (poll(on, 3, -1) < 0)
            continue;
        if (on[0].revents)
            _exit(JUDGE_GONE);
        if (on[2].revents && !relay(err))
            err = -1; /* poll passes over it */
        if (!on[1].revents)
            continue;
        if (is_order(signals)) {
            *ordered = 1;
            kill(-1, SIGKILL);
        }
        if (has_ended(agent, &status))
            return status;
    }
}

static void tell_end(int status, int ordered) {
    if (WIFEXITED(status))
        report("exited", WEXITSTATUS(status));
    else
        report(ordered && WTERMSIG(status) == SIGKILL ? "killed" : "signalled", WTERMSIG(status));
}

int main(int argc, char **argv) {
    char word, mark[MARK];
    int status = 0, error = 0, ordered = 0, relayed = -1;
    sigset_t watched;
    struct streams streams = {STDIN_FILENO, STDOUT_FILENO, -1};

    must(argc > 1 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0); /* closes /proc/1 to the agent, who is the same user */
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    sigprocmask(SIG_BLOCK, &watched, NULL);
    int signals = signalfd(-1, &watched, SFD_CLOEXEC);
    must(signals >= 0);

    take(&word, 1);
    int attached = word == 'A';
    must(attached || word == 'P');
    if (attached) {
        int err[2];
        take(mark, sizeof mark);
        must(pipe2(err, O_CLOEXEC) == 0);
        relayed = err[0];
        streams.err = err[1];
    } else {
        streams = (struct streams){open_pipe("/io/in", O_RDONLY), open_pipe("/io/out", O_WRONLY),
                                   open_pipe("/io/err", O_WRONLY)};
    }
    pid_t agent = start(streams, argv + 1, &error);
    close(streams.err);
    if (!attached) {
        close(streams.in);
        close(streams.out);
    }
    if (agent) {
        report("started", 0);
        status = watch(agent, signals, relayed, &ordered);
    }
    do
        kill(-1, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0);
    if (attached) {
        while (relay(relayed))
            ;
        frame('e', "", 0);
    }
    if (agent)
        tell_end(status, ordered);
    else
        report("exec-failed", error);
    if (attached)
        put(STDOUT_FILENO, mark, sizeof mark);
    while (poll(&(struct pollfd){.fd = STDIN_FILENO}, 1, -1) <= 0)
        ;
    return JUDGE_GONE;
}
