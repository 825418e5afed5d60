/* Makes as many objects of one kind in the kernel as it may, and keeps them.
 *
 *     fills KIND MOST MAPS
 *
 * KIND is a row of the table at the end, MOST how many of it, MAPS how many mappings a process makes. It prints `ready`
 * when all its processes run, reads a line, prints `made COUNT`, and keeps the objects until it may read another line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PROCESSES = 63, FILES = 4096, MIB = 1 << 20 };

static volatile long *made; /* shared by all processes */
static int part;            /* number of this process */
static long most, maps;
static int begin[2]; /* is closed when the processes may fill */
static int done[2];  /* a byte from each process that is full */

static void stay(void);

static void add(long count) {
    if (__atomic_add_fetch(made, count, __ATOMIC_RELAXED) >= most)
        stay();
}

static int name_socket(struct sockaddr_un *address, int number) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%0100d-%d", part, number);
    return (int)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* Clients whose connections wait in the queue of a listener after the client has closed its own end. */
static void connections(void) {
    for (int n = 0;; n++) {
        struct sockaddr_un address;
        int size = name_socket(&address, n), listener = socket(AF_UNIX, SOCK_STREAM, 0);
        if (listener < 0 || bind(listener, (void *)&address, (socklen_t)size) || listen(listener, 65535))
            return;
        for (int full = 0; !full;) {
            int client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
            if (client < 0)
                return;
            full = connect(client, (void *)&address, (socklen_t)size);
            close(client);
            if (!full)
                add(1);
        }
    }
}

static void addresses(void) {
    for (int n = 0;; n++) {
        struct sockaddr_un address;
        int size = name_socket(&address, n), one = socket(AF_UNIX, SOCK_DGRAM, 0);
        if (one < 0 || bind(one, (void *)&address, (socklen_t)size))
            return;
        add(1);
    }
}

static void send_all(int kind) {
    int ends[2], room = 1 << 30;
    while (socketpair(AF_UNIX, kind | SOCK_NONBLOCK, 0, ends) == 0) {
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
        while (send(ends[0], "x", 1, 0) == 1)
            add(1);
    }
}

static void messages(void) { send_all(SOCK_DGRAM); }
static void stream_bytes(void) { send_all(SOCK_STREAM); }
static void packets(void) { send_all(SOCK_SEQPACKET); }

static void pipes(void) {
    static char bytes[16 * PAGE];
    int ends[2];
    while (pipe2(ends, O_NONBLOCK) == 0 && write(ends[1], bytes, sizeof bytes) > 0)
        add(1);
}

static void events(void) {
    while (eventfd(0, 0) >= 0)
        add(1);
}

static void epolls(void) {
    while (epoll_create1(0) >= 0)
        add(1);
}

static void watches(void) {
    int file = eventfd(0, 0);
    for (int n = 0; n < 100; n++) {
        struct epoll_event event = {.events = EPOLLIN};
        if (epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, file, &event) == 0)
            add(1);
    }
}

static void open_files(void) {
    while (open("/proc/self/maps", O_RDONLY) >= 0)
        add(1);
}

static void system_files(void) {
    while (open("/sys/fs/cgroup/memory/memory.usage_in_bytes", O_RDONLY) >= 0 ||
           open("/sys/fs/cgroup/memory.max", O_RDONLY) >= 0)
        add(1);
}

static char *lay_out(long pages) {
    return mmap(NULL, (size_t)pages * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Pages with gaps between them, in an order that leaves the nodes of the kernel's tree half empty. */
static void mappings(void) {
    long pages = 64 * maps;
    char *all = lay_out(pages);
    for (long n = 0; n < maps; n++)
        if (munmap(all + (random() % (pages / 2) * 2 + 1) * PAGE, PAGE))
            return;
        else
            add(1);
}

static void named_mappings(void) {
    char *all = lay_out(maps), name[80];
    for (long n = 0; n < maps; n++) {
        snprintf(name, sizeof name, "%070ld", n);
        if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, all + n * PAGE, PAGE, name))
            return;
        add(1);
    }
}

static void page_tables(void) {
    size_t step = 2 * MIB, size = (size_t)12 << 30;
    char *all = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t at = 0; all != MAP_FAILED && at < size; at += step) {
        (void)*(volatile char *)(all + at);
        add(1);
    }
}

static void names(void) {
    char path[300];
    for (long n = 0; n < 20000; n++) {
        snprintf(path, sizeof path, "/tmp/%0200ld-%d", n, part);
        access(path, F_OK);
        add(1);
    }
}

static void files(void) {
    char path[300];
    for (long n = 0; n < 4000; n++) {
        snprintf(path, sizeof path, "%s/%0200ld-%d", n % 2 ? "/tmp" : "/home/agent", n, part);
        int fd = open(path, O_RDWR | O_CREAT, 0600);
        if (fd < 0)
            continue;
        close(fd);
        add(1);
    }
}

static void link_all(size_t length) {
    char path[300], target[4000] = "";
    memset(target, 'x', length);
    for (long n = 0; n < 4000; n++) {
        snprintf(path, sizeof path, "%s/%0200ld-%d", n % 2 ? "/tmp" : "/home/agent", n, part);
        if (symlink(target, path) == 0)
            add(1);
    }
}

static void links(void) { link_all(3999); }
static void short_links(void) { link_all(120); }

static void *nap(void) {
    struct itimerval hour = {{3600, 0}, {3600, 0}};
    for (int kind = 0; kind < 3; kind++)
        setitimer(kind, &hour, NULL);
    return NULL;
}

static void timers(void) {
    nap();
    add(3);
}

static void on_usr1(int number) { (void)number; }

static void signals(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGUSR1, on_usr1);
    for (int number = 1; number < NSIG; number++)
        for (int n = 0; number != SIGKILL && number != SIGSTOP && n < 200; n++)
            if (kill(getpid(), number) == 0)
                add(1);
}

/* A poll of as many descriptors as a process may have, each of a pipe that is open for both: two queues each. */
static void wait_for(int pipe_end) {
    static struct pollfd all[FILES];
    struct rlimit files;
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", pipe_end);
    int both = open(path, O_RDWR);
    getrlimit(RLIMIT_NOFILE, &files);
    for (rlim_t n = 0; n < files.rlim_cur; n++)
        all[n] = (struct pollfd){both, POLLPRI, 0};
    add(1);
    if (both >= 0 && write(done[1], "x", 1) == 1)
        poll(all, files.rlim_cur, -1);
    _exit(1);
}

static void polls(void) {
    int ends[2];
    if (pipe(ends) == 0)
        wait_for(ends[0]);
}

/* All that is outside of the cap, at once. */
static void everything(void) {
    int ends[2], room;
    if (pipe(ends))
        return;
    mappings();
    short_links();
    room = dup(ends[1]);
    connections();
    close(room);
    wait_for(ends[0]);
}

static const struct {
    const char *name;
    void (*fill)(void);
} kinds[] = {
    {"connections", connections}, {"addresses", addresses}, {"messages", messages}, {"stream-bytes", stream_bytes},
    {"packets", packets}, {"pipes", pipes}, {"events", events}, {"epolls", epolls}, {"watches", watches},
    {"open-files", open_files}, {"system-files", system_files}, {"mappings", mappings}, {"named-mappings", named_mappings},
    {"page-tables", page_tables}, {"names", names}, {"files", files}, {"links", links}, {"short-links", short_links},
    {"timers", timers}, {"signals", signals}, {"polls", polls}, {"everything", everything},
};

static void stay(void) {
    if (write(done[1], "x", 1) == 1)
        for (;;)
            pause();
    _exit(1);
}

int main(int argc, char **argv) {
    char line[16];
    if (argc < 4)
        return 2;
    most = strtol(argv[2], NULL, 10);
    maps = strtol(argv[3], NULL, 10);
    made = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t kind = 0;
    while (kind < sizeof kinds / sizeof *kinds && strcmp(kinds[kind].name, argv[1]) != 0)
        kind++;
    if (kind == sizeof kinds / sizeof *kinds || pipe(begin) || pipe(done))
        return 2;
    for (part = 0; part < PROCESSES; part++)
        if (fork() == 0) {
            close(begin[1]);
            close(done[0]);
            if (read(begin[0], line, 1) == 0)
                kinds[kind].fill();
            stay();
        }
    close(done[1]);
    puts("ready");
    fflush(stdout);
    if (read(0, line, sizeof line) < 1)
        return 1;
    close(begin[1]);
    for (int full = 0; full < PROCESSES; full++)
        if (read(done[0], line, 1) != 1)
            break;
    printf("made %ld\n", *made);
    fflush(stdout);
    return read(0, line, sizeof line) < 0;
}
