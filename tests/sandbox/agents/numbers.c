/* Prints every number that an agent can read: for a comparison of a kept box with a fresh one.
 *
 *     numbers
 *
 * A line of stdin is `print`, `work` or `end`. `print` writes lines `NAME VALUE` and then `.`; `work` uses all that may be
 * used up in a box, then writes `.`. auxv has random addresses only, pagemap and mem are the process itself.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MOST = 1 << 16, LINE_MOST = 300, DEPTH = 12, CLOCKS = 12, PROCESSES = 40 };

static char text[FILE_MOST + 1];

/* One line for each line of a file; a long one is cut. */
static void print_file(const char *path) {
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        printf("open:%s %d\n", path, errno);
        return;
    }
    ssize_t size = read(fd, text, FILE_MOST);
    close(fd);
    if (size < 0) {
        printf("read:%s %d\n", path, errno);
        return;
    }
    for (ssize_t n = 0; n < size; n++)
        if (text[n] == 0 || text[n] == '\r')
            text[n] = ' ';
    text[size] = 0;
    int number = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        printf("%s:%d %.*s\n", path, ++number, LINE_MOST, line);
}

static void print_status(const char *path) {
    struct statx seen;
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_ALL | 0x1000, &seen)) {
        printf("statx:%s %d\n", path, errno);
        return;
    }
    printf("statx-ino:%s %llu\n", path, (unsigned long long)seen.stx_ino);
    printf("statx-mount:%s %llu\n", path, (unsigned long long)seen.stx_mnt_id);
    printf("statx-device:%s %u:%u\n", path, seen.stx_dev_major, seen.stx_dev_minor);
    printf("statx-kind:%s %o %u %llu %llu\n", path, seen.stx_mode, seen.stx_nlink, (unsigned long long)seen.stx_size,
           (unsigned long long)seen.stx_blocks);
    printf("statx-owner:%s %u %u\n", path, seen.stx_uid, seen.stx_gid);
    printf("statx-times:%s %lld %lld %lld\n", path, (long long)seen.stx_atime.tv_sec, (long long)seen.stx_mtime.tv_sec,
           (long long)seen.stx_ctime.tv_sec);
}

static void print_space(const char *path) {
    struct statfs seen;
    if (statfs(path, &seen) == 0)
        printf("statfs:%s %ld %lu %lu %lu %lu %lu %ld\n", path, seen.f_type, seen.f_blocks, seen.f_bfree, seen.f_bavail,
               seen.f_files, seen.f_ffree, seen.f_flags);
}

static int is_number(const char *name) { return name[strspn(name, "0123456789")] == 0; }

static void print_below(const char *directory, int depth) {
    char path[512], target[512];
    struct dirent **names;
    int count = scandir(directory, &names, NULL, alphasort);
    if (count < 0)
        printf("list:%s %d\n", directory, errno);
    for (int n = 0; n < count; n++) {
        struct stat seen;
        const char *name = names[n]->d_name;
        snprintf(path, sizeof path, "%s/%s", strcmp(directory, "/") ? directory : "", name);
        int skipped = !strcmp(name, ".") || !strcmp(name, "..") || (!strcmp(directory, "/proc") && is_number(name));
        if (!skipped && lstat(path, &seen) == 0) {
            if (S_ISLNK(seen.st_mode)) {
                ssize_t size = readlink(path, target, sizeof target - 1);
                printf("link:%s %.*s\n", path, size < 0 ? 0 : (int)size, target);
            } else if (S_ISDIR(seen.st_mode) && depth > 0) {
                print_below(path, depth - 1);
            } else if (S_ISREG(seen.st_mode) && strcmp(name, "pagemap") && strcmp(name, "mem") && strcmp(name, "auxv")) {
                print_file(path);
            }
        }
        free(names[n]);
    }
    if (count >= 0)
        free(names);
}

static void print_clock(const char *name, clockid_t clock) {
    struct timespec now = {0, 0};
    int failed = clock_gettime(clock, &now) ? errno : 0;
    printf("clock:%s %d %lld.%09ld\n", name, failed, (long long)now.tv_sec, now.tv_nsec);
}

static void print_usage(const char *name, int who) {
    struct rusage used;
    getrusage(who, &used);
    printf("rusage-time:%s %ld.%06ld %ld.%06ld\n", name, used.ru_utime.tv_sec, used.ru_utime.tv_usec,
           used.ru_stime.tv_sec, used.ru_stime.tv_usec);
    printf("rusage-memory:%s %ld %ld %ld\n", name, used.ru_maxrss, used.ru_minflt, used.ru_majflt);
    printf("rusage-switches:%s %ld %ld\n", name, used.ru_nvcsw, used.ru_nivcsw);
    printf("rusage-blocks:%s %ld %ld\n", name, used.ru_inblock, used.ru_oublock);
}

static void print_process(pid_t pid) {
    char name[16];
    cpu_set_t cores;
    struct sched_param parameter = {0};
    snprintf(name, sizeof name, "%d", pid);
    print_clock(name, (clockid_t)(~(unsigned)pid * 8 | 2));
    CPU_ZERO(&cores);
    sched_getaffinity(pid, sizeof cores, &cores);
    sched_getparam(pid, &parameter);
    printf("process:%d %d %d %d %d %d %d\n", pid, getpgid(pid), getsid(pid), getpriority(PRIO_PROCESS, (id_t)pid),
           sched_getscheduler(pid), parameter.sched_priority, CPU_COUNT(&cores));
    for (int limit = 0; limit < RLIM_NLIMITS; limit++) {
        struct rlimit found = {0, 0};
        int failed = prlimit(pid, (enum __rlimit_resource)limit, NULL, &found) ? errno : 0;
        printf("limit:%d:%d %d %lu %lu\n", pid, limit, failed, found.rlim_cur, found.rlim_max);
    }
}

static void print_new_inodes(void) {
    int ends[2];
    struct stat seen;
    if (pipe(ends) == 0 && fstat(ends[0], &seen) == 0)
        printf("inode-of-a-pipe %lu\n", seen.st_ino);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && fstat(ends[0], &seen) == 0)
        printf("inode-of-a-socket %lu\n", seen.st_ino);
    const char *const files[] = {"/tmp/new", "/home/agent/new", "/dev/shm/new"};
    for (size_t n = 0; n < sizeof files / sizeof *files; n++) {
        close(open(files[n], O_CREAT | O_WRONLY, 0600));
        print_status(files[n]);
        unlink(files[n]);
    }
}

static void print_numbers(void) {
    static const char *const places[] = {"/", "/tmp", "/home", "/home/agent", "/dev", "/dev/shm", "/dev/null", "/dev/zero",
        "/dev/urandom", "/agent", "/agent/numbers", "/io", "/io/in", "/io/out", "/proc", "/proc/1", "/proc/self", "/sys",
        "/sys/fs/cgroup", "/etc/passwd", "/etc/group", "/etc/hostname", "/etc/hosts", "/judge/init"};
    struct utsname names;
    struct sysinfo system;
    struct tms used;
    sigset_t waiting;
    printf("pid %d %d %d\n", getpid(), getppid(), gettid());
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    printf("next-pid %d\n", child);
    waitpid(child, NULL, 0);
    uname(&names);
    printf("uname %s %s %s %s %s\n", names.sysname, names.nodename, names.release, names.version, names.machine);
    sysinfo(&system);
    printf("sysinfo %ld %lu %lu %lu %d\n", system.uptime, system.loads[0], system.freeram, system.sharedram, system.procs);
    times(&used);
    printf("times %ld %ld %ld %ld\n", used.tms_utime, used.tms_stime, used.tms_cutime, used.tms_cstime);
    sigpending(&waiting);
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&waiting, number) > 0)
            printf("pending %d\n", number);
    printf("prctl %d %d %d\n", prctl(PR_GET_DUMPABLE), prctl(PR_GET_TIMERSLACK), prctl(PR_GET_NO_NEW_PRIVS));
    for (int clock = 0; clock < CLOCKS; clock++) {
        char name[16];
        snprintf(name, sizeof name, "kind-%d", clock);
        print_clock(name, clock);
    }
    print_process(1);
    print_process(getpid());
    print_usage("self", RUSAGE_SELF);
    print_usage("children", RUSAGE_CHILDREN);
    for (size_t n = 0; n < sizeof places / sizeof *places; n++) {
        print_status(places[n]);
        print_space(places[n]);
    }
    print_new_inodes();
    print_below("/proc/self", 2);
    print_below("/proc/1", 2);
    print_below("/proc", DEPTH);
    print_below("/sys", DEPTH);
    print_below("/dev", 2);
    print_below("/etc", 1);
    puts(".");
    fflush(stdout);
}

static void fill(const char *folder) {
    char path[64];
    for (int n = 0; n < 3000; n++) {
        snprintf(path, sizeof path, "%s/%d", folder, n);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        if (fd < 0 || write(fd, path, sizeof path) < 0)
            break;
        close(fd);
    }
}

/* Files, processes, threads' time, memory, pipes, signals, looks at PID 1, and orphans for it to reap. */
static void work(void) {
    fill("/tmp");
    fill("/home/agent");
    fill("/dev/shm");
    for (int n = 0; n < 10 * PROCESSES; n++) {
        pid_t child = fork();
        if (child == 0) {
            if (fork() == 0)
                _exit(0);
            for (int twice = 0; twice < 2; twice++)
                print_file("/proc/1/stat");
            kill(1, SIGCHLD);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    char *memory = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 1, 64 << 20);
    for (clock_t end = clock() + CLOCKS_PER_SEC; clock() < end;)
        ;
    signal(SIGUSR1, SIG_IGN);
    chmod("/tmp", 0755);
    puts(".");
    fflush(stdout);
}

int main(void) {
    char line[32];
    while (scanf("%31s", line) == 1 && strcmp(line, "end"))
        (!strcmp(line, "print") ? print_numbers : work)();
    return 0;
}
