/* Attacks on files: D1 to D9, D11, D12, D16, D18, D20, and on what the judge does with files: I1, I2, I3.
 *
 * The agent's folder is its working directory (of the rows that end in `kept`: the persistent folder, which the judge
 * packs when the agent is gone and fills again for the next game), its scratch space $TMPDIR. Expected, unless said otherwise: plays on,
 * everything denied by the file system itself. What must stay true in all of them: no file of the host's is read or
 * written, nothing is left when the game is over, and neither the judge nor the opponent waits for the agent's files.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MEBIBYTE = 1 << 20, XATTR = 4000, XATTRS_A_FILE = 16 };

static char block[1 << 16];

static int create(const char *path) { return open(path, O_RDWR | O_CREAT, 0600); }

static long fill(int fd, long size) {
    for (long n = 0; n < size; n += (long)sizeof block)
        if (write(fd, block, sizeof block) != (ssize_t)sizeof block)
            return -1;
    return 0;
}

/* D1  One big file, written and reserved: the first word is its size in MiB. */
static void write_big(void) {
    tried("write", fill(create("big"), number(0) * MEBIBYTE));
    unlink("big");
    int error = posix_fallocate(create("reserved"), 0, number(0) * MEBIBYTE);
    if (error)
        denied("fallocate", error);
    else
        got("fallocate");
}

/* D2  Many folders: the first word is how many. */
static void make_many(void) {
    char path[32];
    long done = 0;
    for (long n = 0; n < number(0) && done == 0; n++) {
        snprintf(path, sizeof path, "%ld", n);
        done = mkdir(path, 0700);
    }
    tried("mkdir", done);
}

/* D3  A file of 10 GiB without a byte in it. */
static void make_sparse(void) {
    signal(SIGXFSZ, SIG_IGN);
    tried("sparse", ftruncate(create("sparse"), 10L << 30));
}

/* D4  A full file that has been deleted and is still open, and another: the first word is their size in MiB. */
static void keep_deleted(void) {
    fill(create("deleted"), number(0) * MEBIBYTE);
    unlink("deleted");
    tried("second", fill(create("second"), number(0) * MEBIBYTE));
}

/* D5  Extended attributes, which are in no file's size: the first word is how many MiB of them. */
static void hide_in_attributes(void) {
    char path[32], name[32];
    long done = 0;
    for (long n = 0; n < number(0) * MEBIBYTE / XATTR && done == 0; n++) {
        snprintf(path, sizeof path, "x%ld", n / XATTRS_A_FILE);
        snprintf(name, sizeof name, "user.%ld", n % XATTRS_A_FILE);
        close(create(path));
        done = setxattr(path, name, block, XATTR, 0);
    }
    tried("setxattr", done);
}

/* D6  Names that no host should have to read, and a path longer than a path may be (4,096 bytes; AppArmor ends it at
 * 8,192). Expected: plays on. */
static void make_strange_names(void) {
    char longest[NAME_MAX + 1];
    const char *names[] = {"-rf", "a\nb", "\x1b[2J", "\xff\xfe", "%s%n", "..;", " ", "$(reboot)", "con\r", longest};
    memset(longest, 'x', NAME_MAX);
    longest[NAME_MAX] = 0;
    long made = 0, depth = 0;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        int fd = create(names[n]);
        made += fd >= 0;
        close(fd);
    }
    longest[0] = 'y'; /* the first one is a file */
    for (; depth < 20; depth++)
        if (mkdir(longest, 0700) || chdir(longest))
            break;
    did("names", made);
    did("levels", depth);
    say("MESSAGE stands %s", getcwd(block, sizeof block) ? "in a path" : strerrorname_np(errno));
}

/* D7  Links to what should not be read: the first word is a file of the host's. Expected: plays on. */
static void make_links(void) {
    const char *targets[] = {"/etc/passwd", "/dev/urandom", "/proc/self/mem", "/proc/kcore", "nowhere", "link5",
                             "../../../../../../etc/shadow", word(0)};
    char name[32];
    for (size_t n = 0; n < sizeof targets / sizeof *targets; n++) {
        snprintf(name, sizeof name, "link%zu", n);
        if (symlink(targets[n], name))
            denied("symlink", errno);
        else
            did("links", 1);
    }
}

/* D8  Hard links to files of the judge's and the image's; with the word `own` to one of its own (the control). */
static void make_hard_links(void) {
    const char *theirs[] = {"/agent/disk", "/etc/passwd", "/judge/init", "/proc/self/exe"};
    if (!strcmp(word(0), "own")) {
        close(create("mine"));
        tried("link", link("mine", "link"));
        return;
    }
    for (size_t n = 0; n < sizeof theirs / sizeof *theirs; n++)
        tried(theirs[n], linkat(AT_FDCWD, theirs[n], AT_FDCWD, "link", AT_SYMLINK_FOLLOW));
}

/* D9  Devices, which are denied; pipes and sockets, which a reader of the folder could hang on, may be made. */
static void make_specials(void) {
    struct sockaddr_un here = {.sun_family = AF_UNIX, .sun_path = "socket"};
    tried("character-device", mknod("null", S_IFCHR | 0666, 1 << 8 | 3));
    tried("block-device", mknod("disk", S_IFBLK | 0666, 8 << 8));
    say("MESSAGE a pipe was %s", mkfifo("pipe", 0600) ? strerrorname_np(errno) : "made");
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    say("MESSAGE a socket was %s", bind(fd, (struct sockaddr *)&here, sizeof here) ? strerrorname_np(errno) : "made");
}

/* D11  Files of others, read: the words are paths of the host's (its canary, the opponent's program, the Engine's
 * socket); and files of its own world, written. */
static void reach_for_others(void) {
    const char *writes[] = {"/agent/disk", "/agent/new", "/judge/init", "/etc/passwd", "/new", "/dev/new", "/io/new",
                            "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/fs/cgroup/cgroup.procs"};
    for (int n = 0; *word(n); n++)
        tried(word(n), open(word(n), O_RDONLY));
    for (size_t n = 0; n < sizeof writes / sizeof *writes; n++)
        tried(writes[n], open(writes[n], O_WRONLY | O_CREAT, 0666));
}

/* D12  Leaves a file wherever it may, for the next game to find. Played twice. */
static void leave_behind(void) {
    const char *places[] = {".", "/tmp", "/dev/shm", "/var/tmp", "/run", "/run/lock", "/io", "/agent", "/dev/mqueue"};
    char path[64];
    int found = 0, left = 0;
    for (size_t n = 0; n < sizeof places / sizeof *places; n++) {
        snprintf(path, sizeof path, "%s/left-behind", places[n]);
        found += access(path, F_OK) == 0;
        int fd = create(path);
        left += fd >= 0;
    }
    say("MESSAGE left a file in %d places", left);
    if (found)
        got("leftover");
    else
        denied_by("leftover", "NONE");
}

/* D16  Changes what a file counts towards, and marks it as not to be removed. */
static void change_flags(void) {
    struct fsxattr attributes = {.fsx_projid = 4711};
    int fd = create("flags");
    long immutable = FS_IMMUTABLE_FL;
    tried("project", ioctl(fd, FS_IOC_FSSETXATTR, &attributes));
    tried("immutable", ioctl(fd, FS_IOC_SETFLAGS, &immutable));
}

/* D18  Exchanges a file and a link to one of the host's (the first word) for ever, also when the game is over.
 * Expected: plays on. */
static volatile long *exchanges;

static void race(void) {
    exchanges = mmap(NULL, sizeof *exchanges, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    close(create("a"));
    if (symlink(word(0), "b") || fork() != 0)
        return;
    setsid();
    for (;;)
        *exchanges += renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE) == 0;
}

static void tell_exchanges(void) {
    sleep_ms(100);
    did("exchanges", *exchanges);
}

/* D20  Fills shared memory: the first word is a size in MiB, the second one a number of files. */
static void fill_shared_memory(void) {
    char path[64];
    long done = 0;
    tried("shared-memory", fill(create("/dev/shm/big"), number(0) * MEBIBYTE));
    unlink("/dev/shm/big");
    for (long n = 0; n < number(1) && done == 0; n++) {
        snprintf(path, sizeof path, "/dev/shm/%ld", n);
        done = mkdir(path, 0700);
    }
    tried("shared-files", done);
}

/* I1  Puts links where somebody on the host writes: beside its streams and in its program's folder. */
static void plant_links(void) {
    tried("pipe-link", symlink(word(0), "/io/link"));
    tried("pipe-rename", rename("/io/out", "/io/other"));
    tried("pipe-remove", unlink("/io/in"));
    tried("program-link", symlink(word(0), "/agent/link"));
    tried("program-remove", unlink("/agent/disk"));
}

/* I2  Puts programs where somebody who copies files out of a running container runs them. Expected: plays on, and the
 * Engine was asked for nothing but to create, attach, start, kill and remove. */
static void plant_programs(void) {
    const char *names[] = {"xz", "unpigz", "tar", "gzip", "sh"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        int fd = open(names[n], O_WRONLY | O_CREAT, 0777);
        if (fd >= 0)
            did("programs", 1);
        put(fd, "#!/bin/sh\n", 10);
        close(fd);
    }
    setenv("PATH", ".", 1);
}

/* I3  Logs that are links to a file of the host's. Expected: plays on, and nothing of that file is in the record. */
static void plant_logs(void) {
    const char *names[] = {"agent.log", "judge.log", "0.log", "stderr", "error.log"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (symlink(word(0), names[n]))
            denied(names[n], errno);
        else
            did("logs", 1);
}

const struct attack attacks[] = {
    {.name = "big", .before = write_big},
    {.name = "many", .before = make_many},
    {.name = "sparse", .before = make_sparse},
    {.name = "deleted", .before = keep_deleted},
    {.name = "attributes", .before = hide_in_attributes},
    {.name = "names", .before = make_strange_names},
    {.name = "links", .before = make_links},
    {.name = "hard-links", .before = make_hard_links},
    {.name = "specials", .before = make_specials},
    {.name = "others", .before = reach_for_others},
    {.name = "leave", .before = leave_behind},
    {.name = "flags", .before = change_flags},
    {.name = "race", .before = race, .next = tell_exchanges},
    {.name = "shared-memory", .before = fill_shared_memory},
    {.name = "plant-links", .before = plant_links},
    {.name = "plant-programs", .before = plant_programs},
    {.name = "plant-logs", .before = plant_logs},
    {0},
};
