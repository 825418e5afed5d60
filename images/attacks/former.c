/* What the former game left: R1 to R27, R30, R31.
 *
 * Two games of the same agent in a box that is kept for it. In each the agent first looks for what it may have left in
 * the game before, then leaves it. What must stay true in all of them: in its second game it finds nothing, `denied
 * WHAT NONE`, or it could not leave it in the first place.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 300, BLOCK = 1 << 16 };

static void found(const char *what, int is_there) {
    if (is_there)
        got(what);
    else
        denied_by(what, "NONE");
}

/* --- R1 to R6: files ----------------------------------------------------------------------------- */

static void touch(const char *path) { close(open(path, O_CREAT | O_WRONLY, 0600)); }

/* R1  A file in the scratch space. */
static void file_in_scratch(void) {
    found("scratch-file", access("/tmp/left", F_OK) == 0);
    touch("/tmp/left");
}

/* R2  A file in the working directory, and a directory that nobody may enter. */
static void file_in_home(void) {
    found("home-file", access("left", F_OK) == 0 || access("closed", F_OK) == 0);
    touch("left");
    mkdir("closed", 0);
}

static int can_write(const char *path, int blocks) {
    static char block[BLOCK];
    int fd = open(path, O_CREAT | O_WRONLY, 0600), done = 0;
    while (fd >= 0 && done < blocks && write(fd, block, BLOCK) == BLOCK)
        done++;
    close(fd);
    return done == blocks;
}

/* R3  Scratch space without a free byte. */
static void full_scratch(void) {
    found("full", !can_write("/tmp/some", 100));
    unlink("/tmp/some");
    can_write("/tmp/rest", 1 << 16);
}

/* R4  Scratch space without a free inode. */
static void full_of_files(void) {
    char path[32];
    touch("/tmp/one");
    found("full-of-files", access("/tmp/one", F_OK) != 0);
    for (int n = 0; n < 4096; n++) {
        snprintf(path, sizeof path, "/tmp/%d", n);
        touch(path);
    }
    did("full", access("/tmp/4095", F_OK) != 0);
}

/* R5  Another mode, and times, of a directory that is the agent's own. */
static void changed_root(void) {
    struct stat seen;
    struct timespec then[] = {{1, 0}, {1, 0}};
    stat("/tmp", &seen);
    found("mode", (seen.st_mode & 07777) != 0700 || seen.st_mtime == 1);
    chmod("/tmp", 01755);
    utimensat(AT_FDCWD, "/tmp", then, 0);
}

/* R6  Numbers of inodes: a directory that was emptied counts on. */
static void inode_numbers(void) {
    char path[32];
    struct stat seen;
    unlink("/tmp/first");
    touch("/tmp/first");
    stat("/tmp/first", &seen);
    found("inode-number", seen.st_ino > MANY);
    for (int n = 0; n < 2 * MANY; n++) {
        snprintf(path, sizeof path, "/tmp/%d", n);
        touch(path);
        unlink(path);
    }
}

/* --- R7 to R10: processes ------------------------------------------------------------------------ */

/* R7  Numbers of processes: they tell how many there were. */
static void process_numbers(void) {
    found("process-number", getpid() > MANY);
    for (int n = 0; n < MANY; n++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
}

static void become_daemon(void) {
    if (fork() != 0)
        return;
    setsid();
    if (fork() != 0)
        _exit(0);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_IGN);
    for (int fd = 0; fd < 64; fd++)
        close(fd);
    for (;;)
        pause();
}

/* R8  A process that hides: of another session, which no signal moves. */
static void tell_processes(void) { did("processes", kill(-1, 0) == 0); }

static void hidden_process(void) {
    found("process", kill(-1, 0) == 0);
    become_daemon();
}

/* R9  A process that is stopped. */
static void stopped_process(void) {
    found("stopped-process", kill(-1, 0) == 0);
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    kill(child, SIGSTOP);
    did("stops", waitpid(child, NULL, WUNTRACED) == child);
}

/* R10  As many processes as there may be, each with a timer. */
static void many_processes(void) {
    int count = 0;
    struct itimerval later = {.it_value = {3600, 0}};
    found("many-processes", kill(-1, 0) == 0);
    while (count++ < MANY && fork() > 0)
        ;
    if (setitimer(ITIMER_REAL, &later, NULL) == 0 && getppid() == 1) {
        did("processes", count);
        return;
    }
    for (;;)
        pause();
}

/* --- R11 to R15: PID 1, of which every agent is made --------------------------------------------- */

static void limit_first(int resource, rlim_t soft, rlim_t hard) {
    prlimit(1, (enum __rlimit_resource)resource, &(struct rlimit){soft, hard}, NULL);
}

static struct rlimit limit_of(int resource) {
    struct rlimit limit = {0, 0};
    prlimit(0, (enum __rlimit_resource)resource, NULL, &limit);
    return limit;
}

/* R11  A lowered limit. */
static void lowered_limit(void) {
    found("lowered-limit", limit_of(RLIMIT_STACK).rlim_cur <= 1 << 20);
    limit_first(RLIMIT_STACK, 1 << 20, limit_of(RLIMIT_STACK).rlim_max);
}

/* R12  A raised limit. */
static void raised_limit(void) {
    found("raised-limit", limit_of(RLIMIT_STACK).rlim_cur > 64 << 20);
    limit_first(RLIMIT_STACK, limit_of(RLIMIT_STACK).rlim_max, limit_of(RLIMIT_STACK).rlim_max);
}

/* R13  A PID 1 that is stopped. */
static void stopped_first(void) {
    found("stop", 0);
    kill(1, SIGSTOP);
    kill(1, SIGTSTP);
    kill(1, SIGTTIN);
}

/* R14  Signals that wait for PID 1. */
static void signalled_first(void) {
    tried("signal", kill(1, SIGUSR1));
}

static void try_to_open(const char *what, const char *path) {
    int fd = open(path, O_RDONLY);
    tried(what, fd);
    close(fd);
}

/* R15  What /proc says of PID 1: the processor time of its children. */
static void numbers_of_first(void) {
    try_to_open("stat", "/proc/1/stat");
}

/* R31  The clock of PID 1's processor time, whose number is ~1 * 8 | 2: a game could leave a number in it. */
static void clock_of_first(void) { tried("clock", clock_gettime(-14, &(struct timespec){0, 0})); }

/* --- R16, R17: counters of the box --------------------------------------------------------------- */

/* R16  The counters of its cgroups. */
static void counters(void) {
    static const char *const paths[] = {
        "cpuacct/cpuacct.usage", "pids/pids.peak", "memory/memory.failcnt", "memory/memory.stat", "cpu.stat", "pids.peak",
        "memory.events", "memory.stat",
    };
    int count = 0;
    for (size_t n = 0; n < sizeof paths / sizeof *paths; n++) {
        char path[64];
        snprintf(path, sizeof path, "/sys/fs/cgroup/%s", paths[n]);
        count += access(path, R_OK) == 0;
    }
    found("counter", count > 0);
}

/* R17  What the judge counts: processor time and memory, of which the record of each game has its own. */
static void work(void) {
    enum { BYTES = 48 << 20 };
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) {
        memset(memory, 1, BYTES);
        munmap(memory, BYTES);
    }
    /* Processor time, not time: on a busy host one game would get more of it than another. */
    for (clock_t end = clock() + 3 * CLOCKS_PER_SEC / 10; clock() < end;)
        ;
}

/* --- R18, R19: times ----------------------------------------------------------------------------- */

static long milliseconds(struct timespec time) { return time.tv_sec * 1000 + time.tv_nsec / 1000000; }

/* R18  The times of a device: whoever may write to it may set them to now. */
static void device_time(void) {
    struct stat null, zero;
    stat("/dev/null", &null);
    stat("/dev/zero", &zero);
    found("device-time", milliseconds(null.st_mtim) > milliseconds(zero.st_mtim) + 10);
    tried("touch", utimensat(AT_FDCWD, "/dev/null", NULL, 0));
}

/* R19  The time at which a link was last followed. */
static void access_time(void) {
    struct stat seen;
    char target[64];
    lstat("/proc/mounts", &seen);
    found("access-time", milliseconds(seen.st_atim) > milliseconds(seen.st_mtim) + 10);
    sleep_ms(100);
    tried("follow", readlink("/proc/mounts", target, sizeof target));
}

/* --- R20 to R24: what belongs to no process ------------------------------------------------------ */

static long shared_memory(void) { return shmget(0x1eaf, 4096, IPC_CREAT | 0600); }
static long semaphore(void) { return semget(0x1eaf, 1, IPC_CREAT | 0600); }
static long key(void) { return syscall(SYS_add_key, "user", "left", "1", (size_t)1, -4); }
static long watch(void) { return inotify_add_watch(inotify_init(), "/tmp", IN_CREATE); }
static long queue(void) { return syscall(SYS_mq_open, "left", O_CREAT | O_RDWR, 0600, NULL); }

/* R20  Shared memory of System V. */
static void leave_shared_memory(void) { try_apart("shm", shared_memory); }
/* R21  A semaphore of System V. */
static void leave_semaphore(void) { try_apart("sem", semaphore); }
/* R22  A key in the user's keyring. */
static void leave_key(void) { try_apart("key", key); }
/* R23  A file that is watched. */
static void leave_watch(void) { try_apart("watch", watch); }
/* R24  A message queue. */
static void leave_queue(void) { try_apart("queue", queue); }

/* --- R25 to R27: streams, names and locks -------------------------------------------------------- */

/* R25  A socket of the abstract namespace, which a process that hides listens on. */
static int reach_listener(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0left"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    int is_there = connect(fd, (struct sockaddr *)&name, offsetof(struct sockaddr_un, sun_path) + 5) == 0;
    close(fd);
    return is_there;
}

static void tell_listener(void) { did("listeners", reach_listener()); }

static void abstract_socket(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0left"};
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + 5;
    found("socket", reach_listener());
    if (fork() == 0) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (bind(fd, (struct sockaddr *)&name, size) || listen(fd, 1))
            _exit(1);
        setsid();
        for (;;)
            pause();
    }
}

/* R26  A filled pipe: it says more than anybody reads when the game is over. */
static void filled_pipe(void) { found("pipe", 0); }

static void fill_pipe(void) {
    char line[] = "MESSAGE got stale\r\n";
    fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
    for (int n = 0; n < 1 << 12; n++) /* more than a pipe takes, less than is too much where the judge reads on */
        if (write(STDOUT_FILENO, line, sizeof line - 1) < 0)
            break;
}

/* R27  A lock on a file that both games have. `did locks` says whether a process met it in the game that it was made in. */
static int is_locked(int fd) {
    struct flock other = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_GETLK, &other) == 0 && other.l_type != F_UNLCK;
}

static void tell_lock(void) { did("locks", is_locked(open("/agent/pages.dat", O_RDONLY))); }

static void lock(void) {
    struct flock all = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int fd = open("/agent/pages.dat", O_RDONLY);
    found("lock", is_locked(fd));
    if (fork() == 0) {
        fcntl(fd, F_SETLK, &all);
        setsid();
        for (;;)
            pause();
    }
}

/* R30  A POSIX semaphore, which is a file in shared memory. */
static void posix_semaphore(void) {
    sem_t *semaphore = sem_open("/left", 0);
    found("posix-semaphore", semaphore != SEM_FAILED);
    sem_open("/left", O_CREAT, 0600, 1);
}

const struct attack attacks[] = {
    {.name = "scratch", .before = file_in_scratch},
    {.name = "home", .before = file_in_home},
    {.name = "full", .before = full_scratch},
    {.name = "full-of-files", .before = full_of_files},
    {.name = "mode", .before = changed_root},
    {.name = "inode-number", .before = inode_numbers},
    {.name = "process-number", .before = process_numbers},
    {.name = "hide", .before = hidden_process, .next = tell_processes},
    {.name = "stop", .before = stopped_process},
    {.name = "many", .before = many_processes},
    {.name = "lower", .before = lowered_limit},
    {.name = "raise", .before = raised_limit},
    {.name = "stop-first", .before = stopped_first},
    {.name = "signal-first", .before = signalled_first},
    {.name = "first", .before = numbers_of_first},
    {.name = "first-clock", .before = clock_of_first},
    {.name = "counters", .before = counters},
    {.name = "work", .before = work},
    {.name = "device-time", .before = device_time},
    {.name = "access-time", .before = access_time},
    {.name = "shm", .before = leave_shared_memory},
    {.name = "sem", .before = leave_semaphore},
    {.name = "key", .before = leave_key},
    {.name = "watch", .before = leave_watch},
    {.name = "queue", .before = leave_queue},
    {.name = "socket", .before = abstract_socket, .next = tell_listener},
    {.name = "pipe", .before = filled_pipe, .at_end = fill_pipe},
    {.name = "lock", .before = lock, .next = tell_lock},
    {.name = "posix-semaphore", .before = posix_semaphore},
    {0},
};
