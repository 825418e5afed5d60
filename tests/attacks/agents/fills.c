/* Makes as many objects of one kind in the kernel as it may, says how many, and keeps them until it may read a line.
 *
 *     fills KIND MOST
 *
 * KIND is a row of the table at the end, MOST how many of it. What memory that takes is for the test to look at.
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

enum { PAGE = 4096, PROCESSES = 60, FILES = 250, MAPS = 65000, MIB = 1 << 20 };

static volatile long *made; /* shared by all processes */
static int part;            /* number of this process */
static long most;

static void stay(void);

static void add(long count) {
    if (__atomic_add_fetch(made, count, __ATOMIC_RELAXED) >= most)
        stay();
}

static int name_socket(struct sockaddr_un *address, int number) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%d-%d", part, number);
    return (int)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* Clients whose connections wait in the queue of a listener after the client has closed its own end. */
static void connections(void) {
    for (int n = 0; n < FILES - 4; n++) {
        struct sockaddr_un address;
        int size = name_socket(&address, n), listener = socket(AF_UNIX, SOCK_STREAM, 0);
        if (listener < 0 || bind(listener, (void *)&address, (socklen_t)size) || listen(listener, 65535))
            return;
        for (;;) {
            int client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
            if (client < 0)
                return;
            int full = connect(client, (void *)&address, (socklen_t)size);
            close(client);
            if (full)
                break;
            add(1);
        }
    }
}

static void addresses(void) {
    for (int n = 0; n < FILES; n++) {
        struct sockaddr_un address;
        memset(&address, 'x', sizeof address);
        name_socket(&address, n);
        int one = socket(AF_UNIX, SOCK_DGRAM, 0);
        if (one < 0 || bind(one, (void *)&address, sizeof address))
            return;
        add(1);
    }
}

static void send_all(int kind) {
    int ends[2], room = 1 << 30;
    for (int n = 0; n < FILES / 2; n++) {
        if (socketpair(AF_UNIX, kind | SOCK_NONBLOCK, 0, ends))
            return;
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

static void watches(void) {
    int epolls[FILES], count = 0;
    while (count < FILES / 2 && (epolls[count] = epoll_create1(0)) >= 0)
        count++;
    int file = eventfd(0, 0);
    for (int n = 0; n < count; n++) {
        struct epoll_event event = {.events = EPOLLIN};
        if (epoll_ctl(epolls[n], EPOLL_CTL_ADD, file, &event) == 0)
            add(1);
    }
}

static void open_files(void) {
    while (open("/proc/self/maps", O_RDONLY) >= 0)
        add(1);
}

/* Pages whose rights differ from those of their neighbours: each is a mapping, none has memory. */
static void mappings(void) {
    char *all = mmap(NULL, (size_t)MAPS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (long n = 0; all != MAP_FAILED && n < MAPS; n += 2) {
        if (mprotect(all + n * PAGE, PAGE, PROT_READ))
            return;
        add(2);
    }
}

static void named_mappings(void) {
    char *all = mmap(NULL, (size_t)MAPS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char name[80];
    for (long n = 0; all != MAP_FAILED && n < MAPS; n++) {
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

static void links(void) {
    char path[300], target[4000];
    memset(target, 'x', sizeof target);
    target[sizeof target - 1] = 0;
    for (long n = 0; n < 4000; n++) {
        snprintf(path, sizeof path, "%s/%0200ld-%d", n % 2 ? "/tmp" : "/home/agent", n, part);
        if (symlink(target, path) == 0)
            add(1);
    }
}

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

/* A poll of as many descriptors as a process may have. */
static void polls(void) {
    int ends[2];
    struct pollfd all[FILES];
    if (pipe(ends))
        return;
    for (int n = 0; n < FILES; n++)
        all[n] = (struct pollfd){dup(ends[0]), POLLIN, 0};
    add(FILES);
    poll(all, FILES, -1);
}

static const struct {
    const char *name;
    void (*fill)(void);
} kinds[] = {
    {"connections", connections}, {"addresses", addresses}, {"messages", messages}, {"stream-bytes", stream_bytes},
    {"packets", packets}, {"pipes", pipes}, {"events", events}, {"watches", watches}, {"open-files", open_files},
    {"mappings", mappings}, {"named-mappings", named_mappings}, {"page-tables", page_tables}, {"names", names},
    {"files", files}, {"links", links}, {"timers", timers}, {"signals", signals}, {"polls", polls},
};

static int done[2]; /* a byte from each process that is full */

static void stay(void) {
    if (write(done[1], "x", 1) == 1)
        for (;;)
            pause();
    _exit(1);
}

int main(int argc, char **argv) {
    char line[16];
    most = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    made = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (most < 1 || pipe(done))
        return 2;
    size_t kind = 0;
    while (kind < sizeof kinds / sizeof *kinds && strcmp(kinds[kind].name, argv[1]) != 0)
        kind++;
    if (kind == sizeof kinds / sizeof *kinds)
        return 2;
    for (part = 0; part < PROCESSES; part++)
        if (fork() == 0) {
            close(done[0]);
            kinds[kind].fill();
            stay();
        }
    close(done[1]);
    for (int full = 0; full < PROCESSES && (kinds[kind].fill != polls || *made < PROCESSES * FILES); full++)
        if (kinds[kind].fill == polls)
            usleep(10000);
        else if (read(done[0], line, 1) != 1)
            break;
    printf("made %ld\n", *made);
    fflush(stdout);
    return read(0, line, sizeof line) < 0;
}
