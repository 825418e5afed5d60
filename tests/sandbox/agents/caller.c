/* Makes system calls one by one, each in a child of its own, and tells how the kernel took them.
 *
 * A line of stdin names a table below, or `end`. For each of its entries a line says `NAME ERRNO` (0: it was done) or
 * `NAME signal NUMBER` (it ended the child); then `.`. The arguments are such that without a filter the kernel does
 * what is asked where that needs no rights.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

struct call {
    const char *name;
    long number, arguments[6];
};

enum { FAMILY_MAX = 46, OPTION_MAX = 128 };

static char page[4096] __attribute__((aligned(4096)));
static struct iovec vector = {page, 8};
static struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
static struct mmsghdr messages = {.msg_hdr = {.msg_iov = &vector, .msg_iovlen = 1}};
static struct sigevent silent = {.sigev_notify = SIGEV_NONE};
static unsigned long all_cores = ~0UL;
static const char file[] = "/home/agent/file", other[] = "/home/agent/other";
static int open_file; /* of ours, in /home/agent */

#define CALL(name, ...) {#name, SYS_##name, {__VA_ARGS__}}
#define CALL_AS(label, name, ...) {label, SYS_##name, {__VA_ARGS__}}
#define P(pointer) ((long)(pointer))
#define SOCKET_FD 8 /* so is one end of a pair of sockets */
#define PIPE_FD 7 /* so is one end of a pipe */
#define FILE_FD 9 /* `open_file` is there in every child */

static const struct call denied[] = {
    /* other processes */
    CALL(ptrace, 0),
    CALL(process_vm_readv, 0, P(&vector), 1, P(&vector), 1, 0),
    CALL(process_vm_writev, 0, P(&vector), 1, P(&vector), 1, 0),
    /* namespaces and mounts */
    CALL_AS("unshare-user", unshare, CLONE_NEWUSER),
    CALL_AS("unshare-files", unshare, CLONE_FILES),
    CALL(setns, FILE_FD, 0),
    CALL_AS("clone-newns", clone, CLONE_NEWNS | SIGCHLD),
    CALL_AS("clone-newcgroup", clone, CLONE_NEWCGROUP | SIGCHLD),
    CALL_AS("clone-newuts", clone, CLONE_NEWUTS | SIGCHLD),
    CALL_AS("clone-newipc", clone, CLONE_NEWIPC | SIGCHLD),
    CALL_AS("clone-newuser", clone, CLONE_NEWUSER | SIGCHLD),
    CALL_AS("clone-newpid", clone, CLONE_NEWPID | SIGCHLD),
    CALL_AS("clone-newnet", clone, CLONE_NEWNET | SIGCHLD),
    CALL_AS("clone-newuser-newnet", clone, CLONE_NEWUSER | CLONE_NEWNET | SIGCHLD),
    CALL(mount, P("none"), P("/home/agent"), P("tmpfs"), 0, 0),
    CALL(umount2, P("/home/agent"), 0),
    CALL(pivot_root, P("/home/agent"), P("/home/agent")),
    CALL(chroot, P("/home/agent")),
    CALL(move_mount, -1, P("/home/agent"), -1, P("/home/agent"), 0),
    CALL(open_tree, AT_FDCWD, P("/home/agent"), 0),
    CALL(fsopen, P("tmpfs"), 0),
    CALL(fsconfig, -1, 0, 0, 0, 0),
    CALL(fsmount, -1, 0, 0),
    CALL(fspick, AT_FDCWD, P("/home/agent"), 0),
    CALL(mount_setattr, AT_FDCWD, P("/home/agent"), 0, P(page), 32),
    /* large parts of the kernel */
    CALL(bpf, 0, P(page), 48),
    CALL(perf_event_open, P(page), 0, -1, -1, 0),
    CALL(keyctl, 0, -3, 1),
    CALL(add_key, P("user"), P("name"), P("data"), 4, -3),
    CALL(request_key, P("user"), P("name"), 0, 0),
    CALL(io_setup, 1, P(page)),
    CALL(name_to_handle_at, AT_FDCWD, P("/home/agent"), P(page), P(page + 2048), 0),
    CALL(open_by_handle_at, AT_FDCWD, P(page), 0),
    CALL(fanotify_init, 0, 0),
    CALL(fanotify_mark, FILE_FD, 1, 2, AT_FDCWD, P("/home/agent")),
    CALL(inotify_init1, 0),
    CALL(remap_file_pages, P(page), 4096, 0, 0, 0),
    CALL(mbind, P(page), 4096, 0, 0, 0, 0),
    CALL(set_mempolicy, 0, 0, 0),
    CALL(migrate_pages, 0, 1, P(page), P(page)),
    CALL(move_pages, 0, 0, 0, 0, 0, 0),
    CALL(sendmsg, SOCKET_FD, P(&message), 0),
    CALL(sendmmsg, SOCKET_FD, P(&messages), 1, 0),
    CALL_AS("madvise-populate-read", madvise, P(page), 4096, 22),
    CALL_AS("madvise-populate-write", madvise, P(page), 4096, 23),
    CALL_AS("madvise-collapse", madvise, P(page), 4096, 25),
    CALL_AS("madvise-cold", madvise, P(page), 4096, 20),
    CALL_AS("madvise-pageout", madvise, P(page), 4096, 21),
    CALL_AS("madvise-mergeable", madvise, P(page), 4096, 12),
    CALL_AS("madvise-remove", madvise, P(page), 4096, 9),
    /* the machine */
    CALL(kexec_load, 0, 0, 0, 0),
    CALL(kexec_file_load, -1, -1, 0, 0, 0),
    CALL(init_module, P(page), 8, P("")),
    CALL(finit_module, -1, P(""), 0),
    CALL(delete_module, P("none"), 0),
    CALL(reboot, 0, 0, 0, 0),
    CALL(swapon, P(file), 0),
    CALL(swapoff, P(file)),
    CALL(acct, P(file)),
    CALL(syslog, 10, 0, 0),
    CALL(sethostname, P("x"), 1),
    CALL(setdomainname, P("x"), 1),
    CALL(vhangup, 0),
    CALL(quotactl, 0, 0, 0, 0),
    CALL(nfsservctl, 0, 0, 0),
    CALL(lookup_dcookie, 0, P(page), 8),
    CALL(settimeofday, P(page), 0),
    CALL(clock_settime, 0, P(page)),
    CALL(adjtimex, P(page)),
    CALL(clock_adjtime, 0, P(page)),
    /* noise for others */
    CALL(sched_setaffinity, 0, 8, P(&all_cores)),
    CALL(sched_setscheduler, 0, SCHED_BATCH, P(page)),
    CALL(sched_setparam, 0, P(page)),
    CALL(sched_setattr, 0, P(page), 0),
    CALL(setpriority, 0, 0, 10),
    CALL(ioprio_set, 1, 0, 0x4000),
    CALL(mlock, P(page), 4096),
    CALL(mlock2, P(page), 4096, 0),
    CALL(mlockall, 1),
    CALL(munlockall, 0),
    CALL(sync, 0),
    CALL(syncfs, FILE_FD),
    CALL(sync_file_range, FILE_FD, 0, 0, 2),
    /* memory and messages of nobody */
    CALL(shmget, IPC_PRIVATE, 4096, IPC_CREAT | 0600),
    CALL(shmat, 0, 0, 0),
    CALL(semget, IPC_PRIVATE, 1, IPC_CREAT | 0600),
    CALL(msgget, IPC_PRIVATE, IPC_CREAT | 0600),
    CALL(mq_open, P("name"), O_RDWR | O_CREAT, 0600, 0),
    /* files that are none, owners, attributes, signs to others */
    CALL_AS("mknod-fifo", mknodat, AT_FDCWD, P("/home/agent/fifo"), S_IFIFO | 0600, 0),
    CALL_AS("mknod-device", mknodat, AT_FDCWD, P("/home/agent/device"), S_IFCHR | 0600, 0x103),
    CALL(fchownat, AT_FDCWD, P(file), -1, -1, 0),
    CALL(fchown, FILE_FD, -1, -1),
    CALL(setxattr, P(file), P("user.x"), P("x"), 1, 0),
    CALL(lsetxattr, P(file), P("user.x"), P("x"), 1, 0),
    CALL(fsetxattr, FILE_FD, P("user.x"), P("x"), 1, 0),
    CALL(flock, FILE_FD, LOCK_EX | LOCK_NB),
    CALL_AS("fcntl-lease", fcntl, FILE_FD, F_SETLEASE, F_WRLCK),
    CALL_AS("fcntl-notify", fcntl, FILE_FD, F_NOTIFY, 0),
    CALL_AS("fcntl-ofd-lock", fcntl, FILE_FD, F_OFD_SETLK, P(page)),
    CALL_AS("fcntl-owner", fcntl, FILE_FD, F_SETOWN, 0),
    CALL_AS("fcntl-owner-ex", fcntl, FILE_FD, F_SETOWN_EX, P(page)),
    CALL_AS("fcntl-signal", fcntl, FILE_FD, F_SETSIG, SIGUSR1),
    CALL_AS("fcntl-async", fcntl, SOCKET_FD, F_SETFL, O_ASYNC),
    CALL_AS("fcntl-pipe-size", fcntl, PIPE_FD, F_SETPIPE_SZ, 4096),
    CALL_AS("ioctl-async", ioctl, SOCKET_FD, FIOASYNC, P(page)),
    CALL_AS("mmap-huge", mmap, 0, 1 << 21, 3, 0x40022, -1, 0),
    CALL_AS("membarrier-global", membarrier, 1, 0),
    CALL_AS("membarrier-global-expedited", membarrier, 2, 0),
    CALL_AS("ioctl-fssetxattr", ioctl, FILE_FD, 0x401c5820, P(page)),
    CALL_AS("ioctl-setflags", ioctl, FILE_FD, 0x40086602, P(page)),
    CALL_AS("ioctl-tiocsti", ioctl, 0, TIOCSTI, P(page)),
    CALL_AS("ioctl-tioclinux", ioctl, 0, TIOCLINUX, P(page)),
    CALL_AS("ioctl-ficlone", ioctl, FILE_FD, 0x40049409, FILE_FD),
    /* settings of a process */
    CALL_AS("personality-no-randomize", personality, 0x0040000),
    CALL_AS("personality-read-implies-exec", personality, 0x0400000),
    CALL_AS("personality-32", personality, 0x0008),
    CALL_AS("prctl-seccomp", prctl, PR_SET_SECCOMP, 1, 0),
    CALL_AS("prctl-speculation", prctl, PR_SET_SPECULATION_CTRL, 0, 2, 0, 0),
    CALL_AS("prctl-core-scheduling", prctl, 62, 1, 0, 0, 0),
    CALL_AS("prctl-ptracer", prctl, PR_SET_PTRACER, -1, 0, 0, 0),
    CALL(setuid, 0), /* the user that it is */
#ifdef __x86_64__
    CALL(mknod, P("/home/agent/fifo"), S_IFIFO | 0600, 0),
    CALL(chown, P(file), -1, -1),
    CALL(inotify_init, 0),
    CALL(iopl, 3),
    CALL(ioperm, 0, 1, 1),
    CALL(create_module, P("none"), 8),
    CALL(uselib, P(file)),
    CALL(ustat, 0, P(page)),
    CALL(sysfs, 3),
#endif
};

static const struct call missing[] = {
    CALL(clone3, P(page), 64),
    CALL(io_uring_setup, 1, P(page)),
    CALL(io_uring_enter, -1, 0, 0, 0, 0, 0),
    CALL(io_uring_register, -1, 0, 0, 0),
    CALL(userfaultfd, 1),
    CALL(memfd_create, P("name"), 0),
    CALL(memfd_secret, 0),
    CALL(pidfd_open, 1, 0),
    CALL(pidfd_send_signal, -1, 0, 0, 0),
    CALL(pidfd_getfd, -1, 0, 0),
    CALL(process_madvise, -1, 0, 0, 0, 0),
    CALL(mincore, P(page), 4096, P(page)),
    {"cachestat", 451, {FILE_FD, 0, 0, 0}},
    CALL(process_mrelease, -1, 0),
    CALL(kcmp, 1, 1, 0, 0, 0),
    CALL(seccomp, 2, 0, P(page)),
    CALL(landlock_create_ruleset, 0, 0, 1),
    CALL(quotactl_fd, -1, 0, 0, 0),
    CALL(splice, -1, 0, -1, 0, 0, 0),
    CALL(tee, -1, -1, 0, 0),
    CALL(vmsplice, -1, 0, 0, 0),
    CALL(pkey_alloc, 0, 0),
    CALL_AS("signalfd", signalfd4, -1, P(page), 8, 0),
    CALL(timerfd_create, CLOCK_MONOTONIC, 0),
    CALL(timerfd_settime, -1, 0, P(page), 0),
    CALL(timer_create, CLOCK_MONOTONIC, P(&silent), P(page)),
    CALL(timer_settime, 0, 0, P(page), 0),
    CALL(preadv2, FILE_FD, P(&vector), 1, 0, 0, 8),
    CALL(pwritev2, FILE_FD, P(&vector), 1, 0, 0, 8),
    CALL_AS("futex_waitv", futex_waitv, P(page), 0, 0, 0, 0),
    {"a-call-of-the-future", 1000, {0}},
};

/* None of these can be done: descriptors and addresses are wrong. */
static const struct call skipped[] = {
    CALL(fsync, -1),
    CALL(fdatasync, -1),
    CALL_AS("msync-sync", msync, -4096, 4096, MS_SYNC),
    CALL_AS("msync-sync-invalidate", msync, -4096, 4096, MS_SYNC | MS_INVALIDATE),
    CALL_AS("fcntl-setlk", fcntl, -1, F_SETLK, P(page)),
    CALL_AS("fcntl-setlkw", fcntl, -1, F_SETLKW, P(page)),
    CALL_AS("fadvise-dontneed", fadvise64, -1, 0, 0, POSIX_FADV_DONTNEED),
    CALL_AS("fadvise-willneed", fadvise64, -1, 0, 0, POSIX_FADV_WILLNEED),
};

/* What names another process, here PID 1; the clock of its processor time is ~1 * 8 | 2. */
#define FIRST_CLOCK (-16L | 2)
static struct { long fields[6]; } attributes_of_48_bytes = {{48}};
static struct { uint32_t version, pid; } rights_of_first = {0x20080522, 1};
static const struct call on_first[] = {
    CALL(kill, 1, SIGKILL),
    CALL_AS("kill-nothing", kill, 1, 0),
    CALL(tkill, 1, SIGKILL),
    CALL(tgkill, 1, 1, SIGKILL),
    CALL(rt_sigqueueinfo, 1, SIGUSR1, P(page)),
    CALL(rt_tgsigqueueinfo, 1, 1, SIGUSR1, P(page)),
    CALL(pidfd_open, 1, 0),
    CALL(pidfd_send_signal, FILE_FD, SIGKILL, 0, 0),
    CALL(pidfd_getfd, FILE_FD, 0, 0),
    CALL_AS("prlimit64-get", prlimit64, 1, RLIMIT_CPU, 0, P(page)),
    CALL_AS("prlimit64-set", prlimit64, 1, RLIMIT_CORE, P(page), 0),
    CALL(sched_setscheduler, 1, SCHED_OTHER, P(page)),
    CALL(sched_setparam, 1, P(page)),
    CALL(sched_setattr, 1, P(&attributes_of_48_bytes), 0),
    CALL(sched_setaffinity, 1, sizeof all_cores, P(&all_cores)),
    CALL(setpriority, 0, 1, 1),
    CALL(ioprio_set, 1, 1, 2 << 13),
    CALL(ioprio_get, 1, 1),
    CALL(sched_getscheduler, 1),
    CALL(sched_getparam, 1, P(page)),
    CALL(sched_getattr, 1, P(page), 48, 0),
    CALL(sched_getaffinity, 1, 128, P(page)),
    CALL(sched_rr_get_interval, 1, P(page)),
    CALL(getpriority, 0, 1),
    CALL(getpgid, 1),
    CALL(getsid, 1),
    CALL(setpgid, 1, 1),
    CALL(get_robust_list, 1, P(page), P(page + 8)),
    CALL(clock_gettime, FIRST_CLOCK, P(page)),
    CALL_AS("clock_gettime-32", clock_gettime, FIRST_CLOCK & 0xFFFFFFFF, P(page)),
    CALL_AS("clock_gettime-user", clock_gettime, FIRST_CLOCK - 1, P(page)),
    CALL_AS("clock_gettime-all", clock_gettime, FIRST_CLOCK - 2, P(page)),
    CALL_AS("clock_gettime-thread", clock_gettime, FIRST_CLOCK | 4, P(page)),
    CALL(clock_getres, FIRST_CLOCK, P(page)),
    CALL(clock_nanosleep, FIRST_CLOCK, 1, P(page), 0),
    CALL(timer_create, FIRST_CLOCK, P(&silent), P(page)),
    CALL(ptrace, 0x4206, 1, 0, 0), /* PTRACE_SEIZE */
    CALL(process_vm_readv, 1, P(&vector), 1, P(&vector), 1, 0),
    CALL(process_vm_writev, 1, P(&vector), 1, P(&vector), 1, 0),
    CALL(process_madvise, FILE_FD, P(&vector), 1, MADV_COLD, 0),
    CALL(process_mrelease, FILE_FD, 0),
    CALL(kcmp, 1, 1, 0, 0, 0),
    CALL(move_pages, 1, 1, P(&vector), 0, P(page), 0),
    CALL(migrate_pages, 1, 64, P(page), P(page)),
    CALL(perf_event_open, P(page), 1, -1, -1, 0),
    CALL(capget, P(&rights_of_first), P(page)),
    CALL(wait4, 1, 0, WNOHANG, 0),
    CALL(waitid, P_PID, 1, P(page), WNOHANG | WEXITED, 0),
    CALL_AS("fcntl-owner", fcntl, SOCKET_FD, F_SETOWN, 1),
    CALL_AS("ioctl-owner", ioctl, SOCKET_FD, 0x8901, P(page)), /* FIOSETOWN */
    CALL_AS("prctl-core", prctl, 62, 0, 1, 0, P(page)), /* PR_SCHED_CORE_GET */
};

/* What PID 1 does with its rights, and an agent without rights can not. */
static struct { uint32_t version, pid; } rights_of_self = {0x20080522, 0};
static uint32_t all_rights[6] = {~0U, ~0U, ~0U, ~0U, ~0U, ~0U}, one_right_to_inherit[6] = {0, 0, 1 << 5, 0, 0, 0};
static const struct call of_rights[] = {
    CALL(setgroups, 0, 0),
    CALL_AS("setresuid-root", setresuid, 0, 0, 0),
    CALL_AS("setresuid-first", setresuid, 1, 1, 1),
    CALL_AS("setresgid-root", setresgid, 0, 0, 0),
    CALL_AS("capset-all", capset, P(&rights_of_self), P(all_rights)),
    CALL_AS("capset-inherit", capset, P(&rights_of_self), P(one_right_to_inherit)),
    CALL_AS("capset-first", capset, P(&rights_of_first), P(page)),
    CALL_AS("prctl-drop", prctl, PR_CAPBSET_DROP, 5, 0, 0, 0),
};

static const struct call reading_segments[] = {
#ifdef __x86_64__
    CALL(modify_ldt, 0, P(page), 16),
#endif
};

/* Runs one thing in a child; the line of how that ended. */
static void tell(const char *name, int (*thing)(const void *), const void *what) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(thing(what));
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("%s signal %d\n", name, WTERMSIG(status));
    else
        printf("%s %d\n", name, WEXITSTATUS(status));
}

static int make(const void *what) {
    const struct call *call = what;
    const long *with = call->arguments;
    pid_t self = getpid();
    page[0] = (char)getpid(); /* process_vm_* reads and writes itself */
    long number = call->number, first = with[0];
    if (number == SYS_process_vm_readv || number == SYS_process_vm_writev)
        first = self;
    if (number == SYS_setuid)
        first = getuid();
    if (number == SYS_kcmp)
        return syscall(number, self, self, 0, 0, 0) == -1 ? errno : 0;
    long done = syscall(number, first, with[1], with[2], with[3], with[4], with[5]);
    return done == -1 ? errno : 0;
}

static int make_exactly(const void *what) {
    const struct call *call = what;
    const long *with = call->arguments;
    return syscall(call->number, with[0], with[1], with[2], with[3], with[4], with[5]) == -1 ? errno : 0;
}

static void make_all_exactly(const struct call *calls, size_t count) {
    for (size_t n = 0; n < count; n++)
        tell(calls[n].name, make_exactly, &calls[n]);
}

/* Sets and gets each option of a socket, at the socket's level and at others. */
static void try_options(void) {
    static const int levels[] = {0, SOL_SOCKET, 6, 17, 41, 263, 270};
    char name[32];
    for (size_t level = 0; level < sizeof levels / sizeof *levels; level++)
        for (int option = 0; option < OPTION_MAX; option++) {
            snprintf(name, sizeof name, "set-%d-%d", levels[level], option);
            tell(name, make, &(struct call)CALL_AS(name, setsockopt, SOCKET_FD, levels[level], option, P(page), 0));
            snprintf(name, sizeof name, "get-%d-%d", levels[level], option);
            tell(name, make, &(struct call)CALL_AS(name, getsockopt, SOCKET_FD, levels[level], option, 0, 0));
        }
}

static void make_all(const struct call *calls, size_t count) {
    for (size_t n = 0; n < count; n++)
        tell(calls[n].name, make, &calls[n]);
}

static int open_socket(const void *family) {
    return socket(*(const int *)family, SOCK_STREAM, 0) >= 0 || errno == ESOCKTNOSUPPORT || errno == EPROTONOSUPPORT ? 0
                                                                                                                    : errno;
}

static void open_sockets(void) {
    char name[16];
    for (int family = 0; family < FAMILY_MAX; family++) {
        snprintf(name, sizeof name, "%d", family);
        tell(name, open_socket, &family);
    }
}

/* ---- other doors into the kernel ---------------------------------------------------------------------------------- */

#ifdef __x86_64__
struct old_call {
    const char *name;
    uint32_t number, arguments[4];
};

static uint32_t inet_socket[] = {AF_INET, SOCK_DGRAM, 0}, vsock_socket[] = {AF_VSOCK, SOCK_STREAM, 0};

static int make_old(const void *what) {
    const struct old_call *call = what;
    const uint32_t *with = call->arguments;
    int done;
    __asm__ volatile("int $0x80"
                     : "=a"(done)
                     : "a"(call->number), "b"(with[0]), "c"(with[1]), "d"(with[2]), "S"(with[3])
                     : "memory", "r8", "r9", "r10", "r11");
    return done < 0 ? -done : 0;
}

static int make_x32(const void *what) {
    (void)what;
    return syscall(0x40000000 | SYS_getpid) == -1 ? errno : 0;
}

static void try_doors(void) {
    const struct old_call calls[] = {
        {"x86-getpid", 20, {0}},
        {"x86-ptrace", 26, {0}},
        {"x86-clone-newuser", 120, {CLONE_NEWUSER | SIGCHLD}},
        {"x86-clone3", 435, {0}},
        {"x86-unshare", 310, {CLONE_NEWUSER}},
        {"x86-socket-inet", 359, {AF_INET, SOCK_DGRAM}},
        {"x86-socket-unix", 359, {AF_UNIX, SOCK_DGRAM}},
        {"x86-socketcall-inet", 102, {1, (uint32_t)(uintptr_t)inet_socket}},
        {"x86-socketcall-vsock", 102, {1, (uint32_t)(uintptr_t)vsock_socket}},
        {"x86-fcntl64-lease", 221, {FILE_FD, F_SETLEASE, F_WRLCK}},
        {"x86-ioctl-tiocsti", 54, {0, TIOCSTI}},
        {"x86-personality", 136, {0x0040000}},
        {"x86-ipc", 117, {23, 0, 4096, IPC_CREAT | 0600}},
        {"x86-keyctl", 288, {0, (uint32_t)-3, 1}},
        {"x86-io_uring_setup", 425, {1}},
        {"x86-vm86", 166, {0}},
        {"x86-fcntl-setlk", 55, {(uint32_t)-1, F_SETLK}},
        {"x86-fcntl64-setlk64", 221, {(uint32_t)-1, 13}},
        {"x86-fcntl64-setlkw64", 221, {(uint32_t)-1, 14}},
        {"x86-fadvise64", 250, {(uint32_t)-1, 0, 0, 0, POSIX_FADV_DONTNEED}},
        {"x86-fadvise64_64", 272, {(uint32_t)-1, 0, 0, 0, 0}},
        {"x86-fsync", 118, {(uint32_t)-1}},
        {"x86-signalfd4", 327, {(uint32_t)-1}},
        {"x86-timer_create", 259, {0}},
        {"x86-timerfd_create", 322, {0}},
        {"x86-timerfd_settime64", 411, {0}},
        {"x86-setsockopt-filter", 366, {SOCKET_FD, SOL_SOCKET, SO_ATTACH_FILTER}},
        {"x86-getsockopt-pidfd", 365, {SOCKET_FD, SOL_SOCKET, 77}},
    };
    tell("x32-getpid", make_x32, NULL);
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++)
        tell(calls[n].name, make_old, &calls[n]);
}
#else
static void try_doors(void) {}
#endif

/* ---- what a program needs ----------------------------------------------------------------------------------------- */

static int result(long done) { return done == -1 ? errno : 0; }

static void *nothing(void *given) { return given; }

static int thread(const void *what) {
    pthread_t one;
    (void)what;
    int error = pthread_create(&one, NULL, nothing, NULL);
    return error ? error : pthread_join(one, NULL);
}

static int spawn(const void *what) {
    pid_t child;
    int status;
    (void)what;
    char *words[] = {"/bin/true", NULL}, *variables[] = {NULL};
    int error = posix_spawn(&child, words[0], NULL, NULL, words, variables);
    return error ? error : waitpid(child, &status, 0) != child || status ? ECHILD : 0;
}

static int socket_pair(const void *what) {
    int ends[2];
    (void)what;
    return result(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}

static int record_lock(const void *what) {
    struct flock lock = {.l_type = F_WRLCK};
    (void)what;
    return result(fcntl(FILE_FD, F_SETLK, &lock));
}

static int terminal(const void *what) {
    struct termios settings;
    (void)what;
    if (tcgetattr(FILE_FD, &settings) != -1 || errno != ENOTTY)
        return EPERM;
    return ioctl(FILE_FD, 0x802c542aUL, page) == -1 && errno == ENOTTY ? 0 : EPERM; /* TCGETS2, of newer libraries */
}

static int timers(const void *what) {
    struct timespec moment = {0, 1000};
    struct itimerval never = {{0, 0}, {0, 0}};
    (void)what;
    return result(setitimer(ITIMER_REAL, &never, NULL) | (int)alarm(0) | clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL));
}

static int options(const void *what) {
    int value = 0;
    struct ucred peer;
    struct timeval second = {1, 0};
    socklen_t size = sizeof value, peer_size = sizeof peer;
    (void)what;
    return result(getsockopt(SOCKET_FD, SOL_SOCKET, SO_ERROR, &value, &size) |
                  getsockopt(SOCKET_FD, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) |
                  setsockopt(SOCKET_FD, SOL_SOCKET, SO_PASSCRED, &value, sizeof value) |
                  setsockopt(SOCKET_FD, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second));
}

static int events(const void *what) {
    (void)what;
    return result(epoll_create1(0) | eventfd(0, 0));
}

static int code_at_run_time(const void *what) {
    (void)what;
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return result(mprotect(code, 4096, PROT_READ | PROT_EXEC));
}

static int folder(const void *what) {
    struct stat status;
    (void)what;
    return result(mkdir("/home/agent/a", 0700) | rename("/home/agent/a", "/home/agent/b") | symlink(other, "/home/agent/c") |
                  lstat("/home/agent/c", &status) | unlink("/home/agent/c") | rmdir("/home/agent/b") | fsync(FILE_FD) |
                  ftruncate(FILE_FD, 10) | chmod(file, 0600));
}

static int settings(const void *what) {
    (void)what;
    return result(prctl(PR_SET_NAME, "name") | prctl(PR_SET_PDEATHSIG, 0) | (syscall(SYS_personality, 0xffffffff) & -2));
}

static int chance(const void *what) {
    (void)what;
    return result(getrandom(page, 16, 0));
}

static int attributes(const void *what) {
    (void)what;
    return getxattr(file, "user.x", page, 8) == -1 && errno == EPERM ? EPERM : 0;
}

static void do_what_is_needed(void) {
    tell("thread", thread, NULL);
    tell("spawn", spawn, NULL);
    tell("socket pair", socket_pair, NULL);
    tell("record lock", record_lock, NULL);
    tell("terminal", terminal, NULL);
    tell("timers", timers, NULL);
    tell("options", options, NULL);
    tell("events", events, NULL);
    tell("code at run time", code_at_run_time, NULL);
    tell("folder", folder, NULL);
    tell("settings", settings, NULL);
    tell("chance", chance, NULL);
    tell("attributes", attributes, NULL);
}

int main(void) {
    char line[32];
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
        dup2(pair[0], SOCKET_FD);
    if (pipe(pair) == 0)
        dup2(pair[0], PIPE_FD);
    open_file = dup2(open(file, O_RDWR | O_CREAT, 0600), FILE_FD);
    while (open_file == FILE_FD && scanf("%31s", line) == 1 && strcmp(line, "end")) {
        if (!strcmp(line, "denied"))
            make_all(denied, sizeof denied / sizeof *denied);
        else if (!strcmp(line, "missing"))
            make_all(missing, sizeof missing / sizeof *missing);
        else if (!strcmp(line, "skipped"))
            make_all(skipped, sizeof skipped / sizeof *skipped);
        else if (!strcmp(line, "options"))
            try_options();
        else if (!strcmp(line, "segments"))
            make_all(reading_segments, sizeof reading_segments / sizeof *reading_segments);
        else if (!strcmp(line, "sockets"))
            open_sockets();
        else if (!strcmp(line, "first"))
            make_all_exactly(on_first, sizeof on_first / sizeof *on_first);
        else if (!strcmp(line, "rights"))
            make_all_exactly(of_rights, sizeof of_rights / sizeof *of_rights);
        else if (!strcmp(line, "doors"))
            try_doors();
        else if (!strcmp(line, "needed"))
            do_what_is_needed();
        puts(".");
        fflush(stdout);
    }
    return 0;
}
