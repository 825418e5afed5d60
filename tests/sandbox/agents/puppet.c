/* An agent that does what a test tells it: one word a line on stdin, one line of answer on stdout.
 *
 * Attacks that end the agent have no answer. Words take at most one argument.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEBIBYTE = 1 << 20 };

static void answer(const char *what, long number) {
    char line[256];
    int size = snprintf(line, sizeof line, "%s %ld\n", what, number);
    if (write(1, line, (size_t)size) != size)
        _exit(99);
}

static long number_of(const char *text) { return strtol(text, NULL, 10); }

static void say(const char *text) {
    dprintf(1, "%s\n", text);
}

static void complain(const char *text) {
    dprintf(2, "%s\n", text);
    say("complained");
}

static void leave(const char *code) { exit((int)number_of(code)); }

static void fail(const char *unused) {
    (void)unused;
    abort();
}

/* `SIGNAL PID`, such as `9 1`. */
static void send(const char *words) {
    int number = 0, pid = 0;
    sscanf(words, "%d %d", &number, &pid);
    answer("kill", kill(pid ? pid : getpid(), number) ? errno : 0);
}

/* A grandchild in a session of its own, which keeps all streams open and never ends. */
static void daemonise(const char *unused) {
    (void)unused;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        pid_t grandchild = fork();
        if (grandchild != 0) {
            answer("daemon", grandchild);
            _exit(0);
        }
        for (;;)
            pause();
    }
    waitpid(child, NULL, 0);
}

static volatile long turns; /* the compiler must keep the loop */

static void burn(const char *unused) {
    (void)unused;
    if (fork() == 0)
        for (;;)
            turns++;
    say("burning");
}

static void burn_alone(const char *unused) {
    (void)unused;
    say("burning");
    for (;;)
        turns++;
}

/* A parent that is hardly ever in a state in which it can be stopped. */
static void vfork_loop(const char *unused) {
    (void)unused;
    say("burning");
    for (;;) {
        pid_t child = vfork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
}

static void eat(const char *unused) {
    (void)unused;
    for (;;) {
        char *block = malloc(MEBIBYTE);
        if (block)
            memset(block, 1, MEBIBYTE);
    }
}

/* So many MiB, in place of those of before. */
static void hold(const char *mebibytes) {
    static char *held;
    static size_t size;
    if (size)
        munmap(held, size);
    size = strtoul(mebibytes, NULL, 10) * MEBIBYTE;
    if (size) {
        held = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(held, 1, size);
    }
    answer("holds", (int)(size / MEBIBYTE));
}

static void eat_in_child(const char *unused) {
    int status;
    pid_t child = fork();
    if (child == 0)
        eat(unused);
    waitpid(child, &status, 0);
    answer("child killed by", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* Memory that belongs to no process's resident set: a file without a name. */
static void eat_file(const char *unused) {
    (void)unused;
    static char block[65536];
    int fd = memfd_create("hog", 0);
    signal(SIGXFSZ, SIG_IGN);
    for (;;)
        if (write(fd, block, sizeof block) < 0 && errno == EFBIG)
            fd = memfd_create("hog", 0); /* the file size limit: begin the next one */
}

static void fill(const char *path) {
    static char block[4096];
    long total = 0;
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    for (ssize_t n; (n = write(fd, block, sizeof block)) > 0;)
        total += n;
    answer(errno == ENOSPC ? "no space after" : strerror(errno), total);
}

static void fill_inodes(const char *directory) {
    char path[256];
    for (long count = 0;; count++) {
        snprintf(path, sizeof path, "%s/%ld", directory, count);
        int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (fd < 0) {
            answer(errno == ENOSPC ? "no inode after" : strerror(errno), count);
            return;
        }
        close(fd);
    }
}

static void read_file(const char *path) {
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    answer("open", fd < 0 ? errno : 0);
    close(fd);
}

static void write_file(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK, 0600);
    answer("open", fd < 0 ? errno : 0);
    close(fd);
}

/* Tries to run what it has just written there: ENOEXEC (8) where that is allowed, for it is no program. */
static void run_own(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT, 0700);
    if (write(fd, "x", 1) != 1)
        say("not written");
    close(fd);
    execl(path, path, NULL);
    answer("exec", errno);
}

/* All open descriptors, or all names in a directory, in one line. */
static void list(const char *path) {
    char line[1024] = "";
    DIR *directory = opendir(path);
    if (!directory) {
        answer("opendir", errno);
        return;
    }
    int own = dirfd(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_name[0] != '.' && !(strstr(path, "/fd") && atoi(entry->d_name) == own)) {
            strcat(line, entry->d_name);
            strcat(line, " ");
        }
    closedir(directory);
    say(line);
}

/* The value of one line of /proc/self/status. */
static void status(const char *name) {
    char line[512];
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':') {
            line[strcspn(line, "\n")] = 0;
            say(strtok(line + strlen(name) + 1, "\t"));
        }
    fclose(file);
}

static void print_cwd(const char *unused) {
    char path[512];
    (void)unused;
    say(getcwd(path, sizeof path));
}

static void environment(const char *name) { say(getenv(name) ? getenv(name) : "(none)"); }

static void how_many(const char *unused) {
    long count = 0;
    (void)unused;
    for (char **variable = environ; *variable; variable++)
        count++;
    answer("variables", count);
}

/* Lays out that many MiB of addresses, which it does not use; tells the errno. */
static void reserve(const char *size) {
    void *at = mmap(NULL, (size_t)number_of(size) << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    answer("reserve", at == MAP_FAILED ? errno : 0);
}

/* Reads that many bytes, then tells their sum. */
static void swallow(const char *bytes) {
    static unsigned char block[65536];
    long rest = number_of(bytes), sum = 0;
    while (rest > 0) {
        ssize_t n = read(0, block, rest < (long)sizeof block ? (size_t)rest : sizeof block);
        if (n <= 0)
            break;
        for (ssize_t at = 0; at < n; at++)
            sum += block[at];
        rest -= n;
    }
    answer("swallowed", sum);
}

/* Writes that many bytes without a line end. */
static void spout(const char *bytes) {
    static char block[65536];
    memset(block, 'x', sizeof block);
    for (long rest = number_of(bytes); rest > 0;) {
        ssize_t n = write(1, block, rest < (long)sizeof block ? (size_t)rest : sizeof block);
        if (n > 0)
            rest -= n;
    }
    say("");
}

/* Writes to its stderr for ever. */
static void shout(const char *unused) {
    (void)unused;
    static char block[MEBIBYTE];
    for (;;)
        if (write(2, block, sizeof block) < 0)
            _exit(98);
}

/* Makes the streams non-blocking for everybody who shares them, then leaves with a full stdout behind. */
static void spoil(const char *code) {
    static char block[65536];
    fcntl(0, F_SETFL, O_NONBLOCK);
    fcntl(1, F_SETFL, O_NONBLOCK);
    while (write(1, block, sizeof block) > 0)
        ;
    leave(code);
}

static const struct {
    const char *word;
    void (*act)(const char *);
} ACTS[] = {
    {"say", say},
    {"complain", complain},
    {"leave", leave},
    {"fail", fail},
    {"kill", send},
    {"daemonise", daemonise},
    {"burn", burn},
    {"burn-alone", burn_alone},
    {"vfork-loop", vfork_loop},
    {"eat", eat},
    {"eat-in-child", eat_in_child},
    {"eat-file", eat_file},
    {"hold", hold},
    {"fill", fill},
    {"fill-inodes", fill_inodes},
    {"read", read_file},
    {"write", write_file},
    {"run-own", run_own},
    {"list", list},
    {"status", status},
    {"cwd", print_cwd},
    {"environment", environment},
    {"variables", how_many},
    {"reserve", reserve},
    {"swallow", swallow},
    {"spout", spout},
    {"shout", shout},
    {"spoil", spoil},
};

/* One line, byte by byte: what follows may be meant for an act. */
static int read_line(char *line, size_t size) {
    for (size_t at = 0; at + 1 < size; at++) {
        if (read(0, line + at, 1) != 1)
            return 0;
        if (line[at] == '\n') {
            line[at] = 0;
            return 1;
        }
    }
    return 0;
}

int main(void) {
    char line[4096];
    while (read_line(line, sizeof line)) {
        char *argument = strchr(line, ' ');
        if (argument)
            *argument++ = 0;
        for (size_t n = 0; n < sizeof ACTS / sizeof *ACTS; n++)
            if (!strcmp(line, ACTS[n].word))
                ACTS[n].act(argument ? argument : "");
    }
    return 0;
}
