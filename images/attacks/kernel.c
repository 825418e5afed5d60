/* Attacks on the kernel's surface: G1 to G12, G14 to G21. Each call is made in a process of its own, with arguments that a
 * kernel which lets it through would take; what came of it is said. Expected: plays on, every call denied.
 *
 * What must stay true in all of them: the box is the same afterwards, and so is the host.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/fs.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

enum { KEY_SESSION = -3, USERFAULTFD_USER_ONLY = 1, AF_VSOCK_ = 40, AF_ALG_ = 38, MADV_POPULATE_READ_ = 22, SO_PEERPIDFD_ = 77 };

static char zeros[4096] __attribute__((aligned(4096)));

/* G1  Changing what is mounted. */
static long mount_something(void) { return mount("none", "/tmp", "tmpfs", 0, NULL); }
static long mount_again(void) { return mount("none", "/", NULL, MS_REMOUNT | MS_BIND, NULL); }
static long unmount(void) { return umount2("/tmp", MNT_DETACH); }
static long pivot(void) { return syscall(SYS_pivot_root, "/", "/"); }
static long open_filesystem(void) { return syscall(SYS_fsopen, "tmpfs", 0); }
static long change_root(void) { return chroot("/tmp"); }

static void g1(void) {
    try_apart("mount", mount_something);
    try_apart("remount", mount_again);
    try_apart("umount", unmount);
    try_apart("pivot_root", pivot);
    try_apart("fsopen", open_filesystem);
    try_apart("chroot", change_root);
}

/* G2  A world of its own, in which it would be root. */
static long unshare_user(void) { return unshare(CLONE_NEWUSER); }
static long unshare_net(void) { return unshare(CLONE_NEWNET); }

static long clone_user(void) {
    long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0)
        _exit(0);
    return child;
}

static long enter(void) { return setns(open("/proc/self/ns/net", O_RDONLY), 0); }

static void g2(void) {
    try_apart("unshare-user", unshare_user);
    try_apart("unshare-net", unshare_net);
    try_apart("clone-user", clone_user);
    try_apart("setns", enter);
}

/* G3  Programs in the kernel, its counters, and faults that are handled outside of it. */
static long make_map(void) {
    union bpf_attr attributes = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    return syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes);
}

static long count_events(void) {
    struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event, .exclude_kernel = 1};
    return syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
}

static long handle_faults(void) { return syscall(SYS_userfaultfd, USERFAULTFD_USER_ONLY); }

static void g3(void) {
    try_apart("bpf", make_map);
    try_apart("perf_event_open", count_events);
    try_apart("userfaultfd", handle_faults);
}

/* G4  Keys, which belong to a user of the whole host. */
static long find_keyring(void) { return syscall(SYS_keyctl, 0, KEY_SESSION, 1); }
static long add_a_key(void) { return syscall(SYS_add_key, "user", "attack", "x", 1, KEY_SESSION); }
static long request_a_key(void) { return syscall(SYS_request_key, "user", "attack", NULL, KEY_SESSION); }

static void g4(void) {
    try_apart("keyctl", find_keyring);
    try_apart("add_key", add_a_key);
    try_apart("request_key", request_a_key);
}

/* G5  Calls that are queued. */
static long set_up_ring(void) { return syscall(SYS_io_uring_setup, 1, zeros); }

static void g5(void) { try_apart("io_uring_setup", set_up_ring); }

/* G6  Sockets that reach the kernel's own machinery. */
static long crypto(void) { return socket(AF_ALG_, SOCK_SEQPACKET, 0); }
static long hypervisor(void) { return socket(AF_VSOCK_, SOCK_STREAM, 0); }
static long packet(void) { return socket(AF_PACKET, SOCK_RAW, 0); }
static long netlink(void) { return socket(AF_NETLINK, SOCK_RAW, 0); }

static void g6(void) {
    try_apart("alg", crypto);
    try_apart("vsock", hypervisor);
    try_apart("packet", packet);
    try_apart("netlink", netlink);
}

/* G6.old  The same through the door for 32-bit programs, where one call makes sockets of every family and has its
 * arguments in memory.
 */
#ifdef __x86_64__
static long old_socket(unsigned family, unsigned kind) {
    static unsigned words[3]; /* in the lowest 4 GiB: the program is static */
    long done;
    words[0] = family, words[1] = kind;
    __asm__ volatile("int $0x80" : "=a"(done) : "a"(102L), "b"(1L), "c"(words) : "memory", "r8", "r9", "r10", "r11");
    if ((int)done >= 0)
        return (int)done;
    errno = -(int)done;
    return -1;
}
#else
static long old_socket(unsigned family, unsigned kind) {
    (void)family, (void)kind, errno = ENOSYS;
    return -1;
}
#endif

static long old_internet(void) { return old_socket(AF_INET, SOCK_DGRAM); }
static long old_hypervisor(void) { return old_socket(AF_VSOCK_, SOCK_STREAM); }
static long old_netlink(void) { return old_socket(AF_NETLINK, SOCK_RAW); }

static void g6_x86(void) {
    try_apart("inet", old_internet);
    try_apart("vsock", old_hypervisor);
    try_apart("netlink", old_netlink);
}

/* G7  Another process's inside: of its own child, which no right protects. */
static long trace_child(void) {
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    long result = ptrace(PTRACE_SEIZE, child, NULL, NULL);
    int error = errno;
    kill(child, SIGKILL);
    errno = error;
    return result;
}

static long read_child(void) {
    char here[8];
    struct iovec local = {here, sizeof here}, remote = {zeros, sizeof here};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
}

static void g7(void) {
    try_apart("ptrace", trace_child);
    try_apart("process_vm_readv", read_child);
}

/* G8  Memory in files without names. */
static long secret(void) { return syscall(SYS_memfd_secret, 0); }
static long nameless(void) { return syscall(SYS_memfd_create, "x", 0); }

static void g8(void) {
    try_apart("memfd_secret", secret);
    try_apart("memfd_create", nameless);
}

/* G9  What System V and POSIX have for talking between processes. */
static long shared_memory(void) { return syscall(SYS_shmget, 0, 4096L, 01600); }
static long semaphores(void) { return syscall(SYS_semget, 0, 1, 01600); }
static long messages(void) { return syscall(SYS_msgget, 0, 01600); }
static long queue(void) { return syscall(SYS_mq_open, "x", O_RDWR | O_CREAT, 0600, NULL); }

static void g9(void) {
    try_apart("shmget", shared_memory);
    try_apart("semget", semaphores);
    try_apart("msgget", messages);
    try_apart("mq_open", queue);
}

/* G10  Old ways to lay out memory. */
static long execute_data(void) { return personality(READ_IMPLIES_EXEC | ADDR_NO_RANDOMIZE); }

#ifdef SYS_modify_ldt
static long change_segments(void) { return syscall(SYS_modify_ldt, 0, zeros, sizeof zeros); }
#endif

static void g10(void) {
    try_apart("personality", execute_data);
#ifdef SYS_modify_ldt
    try_apart("modify_ldt", change_segments);
#else
    denied_by("modify_ldt", "ENOSYS");
#endif
}

/* G11  Files by number, which know no folder to stay in. */
static struct {
    struct file_handle handle;
    char room[128];
} found = {.handle = {.handle_bytes = 128}};

static long find_number(void) {
    int mount;
    return name_to_handle_at(AT_FDCWD, "/agent", &found.handle, &mount, 0);
}

static long open_number(void) { return open_by_handle_at(open("/", O_RDONLY), &found.handle, O_RDONLY); }

static void g11(void) {
    try_apart("name_to_handle_at", find_number);
    try_apart("open_by_handle_at", open_number);
}

/* G12  Devices. */
static long make_disk(void) { return mknod("disk", S_IFBLK | 0666, 8 << 8); }
static long make_memory(void) { return mknod("memory", S_IFCHR | 0666, 1 << 8 | 1); }

static void g12(void) {
    try_apart("block-device", make_disk);
    try_apart("character-device", make_memory);
}

/* G14  Requests to files and terminals: quotas, flags, and typing what the judge would read. */
static long set_project(void) {
    struct fsxattr attributes = {.fsx_projid = 4711};
    return ioctl(open("flags", O_RDWR | O_CREAT, 0600), FS_IOC_FSSETXATTR, &attributes);
}

static long set_flags(void) {
    long flags = FS_IMMUTABLE_FL;
    return ioctl(open("flags", O_RDWR | O_CREAT, 0600), FS_IOC_SETFLAGS, &flags);
}

static long type_a_key(void) { return ioctl(0, TIOCSTI, "x"); }
static long ask_console(void) { return ioctl(0, TIOCLINUX, zeros); }

static void g14(void) {
    try_apart("fssetxattr", set_project);
    try_apart("setflags", set_flags);
    try_apart("tiocsti", type_a_key);
    try_apart("tioclinux", ask_console);
}

/* G15  Calls that walk through all the addresses that they are given, with no look at what wants to stop them: over
 * terabytes each lasts for seconds, which are the opponent's. Here they are made small, and the terabytes apart.
 */
static long lay_out_terabytes(void) {
    return mmap(NULL, 4L << 40, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED ? -1 : 0;
}

static long look_what_is_there(void) {
    unsigned char there;
    return mincore(zeros, sizeof zeros, &there);
}

static long populate(void) { return madvise(zeros, sizeof zeros, MADV_POPULATE_READ_); }
static long page_out(void) { return madvise(zeros, sizeof zeros, MADV_PAGEOUT); }

static void g15(void) {
    try_apart("terabytes", lay_out_terabytes);
    try_apart("mincore", look_what_is_there);
    try_apart("populate", populate);
    try_apart("pageout", page_out);
}

/* G16  Terminals of its own. The host has some thousands for all, and kernel threads do the work of writing to one. */
static long open_terminal(const char *path) {
    int terminal = open(path, O_RDWR | O_NOCTTY);
    return terminal < 0 || !isatty(terminal) ? -1 : 0;
}

static long open_ptmx(void) { return open_terminal("/dev/ptmx"); }
static long open_ptmx_itself(void) { return open_terminal("/dev/pts/ptmx"); }

static void g16(void) {
    try_apart("ptmx", open_ptmx);
    try_apart("pts/ptmx", open_ptmx_itself);
}

/* G17  Hands descriptors to itself. Those that are lost on their way are collected by kernel threads, on its core. */
static long send_descriptor(void) {
    int ends[2], one = 1;
    union {
        char bytes[CMSG_SPACE(sizeof one)];
        struct cmsghdr head;
    } control = {.head = {.cmsg_len = CMSG_LEN(sizeof one), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct msghdr message = {
        .msg_iov = &(struct iovec){zeros, 1},
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes,
    };
    memcpy(CMSG_DATA(&control.head), &one, sizeof one);
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == -1 ? -1 : sendmsg(ends[0], &message, 0);
}

static void g17(void) { try_apart("descriptor", send_descriptor); }

/* G18  A descriptor of the process at the other end of a socket, which pidfd_open would not give. */
static long take_peer(void) {
    int ends[2], handle = -1;
    socklen_t size = sizeof handle;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == -1)
        return -1;
    return getsockopt(ends[0], SOL_SOCKET, SO_PEERPIDFD_, &handle, &size);
}

static void g18(void) { try_apart("peer-pidfd", take_peer); }

/* G19  Clears the pages of a file from memory, for which kernel threads of every core work. Whether they are gone the
 * faults tell of a process that reads them: `did faults`.
 */
static void g19(void) {
    struct rusage before, after;
    int file = open("/agent/pages.dat", O_RDONLY);
    off_t size = lseek(file, 0, SEEK_END);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    char *pages = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, file, 0);
    if (file < 0 || pages == MAP_FAILED) {
        denied("file", errno);
        return;
    }
    madvise(pages, (size_t)size, MADV_RANDOM);
    getrusage(RUSAGE_SELF, &before);
    for (off_t at = 0; at < size; at += 4096)
        (void)*(const volatile char *)(pages + at);
    getrusage(RUSAGE_SELF, &after);
    did("faults", after.ru_majflt - before.ru_majflt);
    if (after.ru_majflt - before.ru_majflt > size / 4096 / 2)
        got("cleared-pages");
    else
        denied_by("cleared-pages", "NONE");
}

/* G20  Has a kernel thread look at the pressure of the host and of its box, and tell it of changes. */
static long set_trigger(const char *path) {
    const char trigger[] = "some 150000 2000000";
    int file = open(path, O_RDWR);
    struct stat found;
    if (file >= 0 && (fstat(file, &found) || !S_ISREG(found.st_mode))) {
        errno = ENOENT; /* it is masked */
        return -1;
    }
    return file < 0 || write(file, trigger, sizeof trigger) != sizeof trigger ? -1 : 0;
}

static long trigger_of_host(void) { return set_trigger("/proc/pressure/cpu"); }
static long trigger_of_box(void) { return set_trigger("/sys/fs/cgroup/cpu.pressure"); }

static long watch_box(void) {
    struct epoll_event event = {.events = EPOLLPRI};
    int file = open("/sys/fs/cgroup/cgroup.events", O_RDONLY);
    return file < 0 ? -1 : epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, file, &event);
}

static void g20(void) {
    try_apart("host-pressure", trigger_of_host);
    try_apart("box-pressure", trigger_of_box);
    try_apart("box-events", watch_box);
}

/* G21  One read of the map of its pages writes 8 bytes for each page of a terabyte, whether there is one or not. */
static long read_pages(void) {
    static char bytes[1 << 16];
    int fd = open("/proc/self/pagemap", O_RDONLY);
    return fd < 0 ? -1 : pread(fd, bytes, sizeof bytes, 0x10000000);
}

static long read_pages_as_dumpable(void) { return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) ? -1 : read_pages(); }

static void g21(void) {
    try_apart("pagemap", read_pages);
    try_apart("pagemap-as-dumpable", read_pages_as_dumpable);
}

const struct attack attacks[] = {
    {.name = "mounts", .before = g1},
    {.name = "namespaces", .before = g2},
    {.name = "programs", .before = g3},
    {.name = "keys", .before = g4},
    {.name = "rings", .before = g5},
    {.name = "families", .before = g6},
    {.name = "old-families", .before = g6_x86},
    {.name = "insides", .before = g7},
    {.name = "nameless", .before = g8},
    {.name = "ipc", .before = g9},
    {.name = "layout", .before = g10},
    {.name = "numbers", .before = g11},
    {.name = "devices", .before = g12},
    {.name = "ioctls", .before = g14},
    {.name = "walks", .before = g15},
    {.name = "terminals", .before = g16},
    {.name = "descriptors", .before = g17},
    {.name = "peers", .before = g18},
    {.name = "advice", .before = g19},
    {.name = "pressure", .before = g20},
    {.name = "pagemap", .before = g21},
    {0},
};
