/* Passes numbers on by what the kernel keeps for the files in /agent, which it can only read.
 *
 *     remembers pages     to its next game: which pages of /agent/data are in memory
 *     remembers futex     to the other seat: who waits on the pages of /agent/data
 *     remembers watch     to the other seat: who opens /agent/data
 *
 * It says `found PAGES (from a former game)` or `heard N`. It exits with code 3 at its fourth request. */
#include "player.h"
#include <linux/futex.h>
#include <sys/inotify.h>

enum { BITS = 64, STRIDE = 16, PAGE = 4096, SECRET = 21 };
static const char *kind;
static int file;
static char said[128];

static int is_in_memory(int page) {
    char byte;
    struct iovec part = {&byte, 1};
    return preadv2(file, &part, 1, (off_t)page * PAGE, RWF_NOWAIT) == 1;
}

static void pass_on_by_pages(void) {
    uint64_t found = 0;
    posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
    for (int i = 0; i < BITS; i++)
        if (is_in_memory(i * STRIDE)) found |= 1ULL << i;
    int is_known = found >> 32 == 0xC0FFEE11u;
    uint64_t next = 0xC0FFEE11ULL << 32 | (is_known ? (found & 0xffffffff) + 1 : 1);
    sleep_ms(100);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    for (int i = 0; i < BITS; i++) {
        char byte;
        if (next >> i & 1) pread(file, &byte, 1, (off_t)i * STRIDE * PAGE);
    }
    snprintf(said, sizeof said, "MESSAGE found %016llx (%s)", (unsigned long long)found,
             is_known ? "from a former game" : "nothing");
}

static int *words(void) {
    return mmap(NULL, BITS * sizeof(int), PROT_READ, MAP_SHARED, file, 0);
}

static int watch = -1;

static void at_launch(int count, char **arguments) {
    kind = count > 1 ? arguments[1] : "";
    file = open("/agent/data", O_RDONLY);
    if (!strcmp(kind, "pages")) pass_on_by_pages();
    if (!strcmp(kind, "watch") && (watch = inotify_init1(IN_NONBLOCK)) >= 0)
        inotify_add_watch(watch, "/agent/data", IN_OPEN);
}

static void tell(void) {
    for (int i = 0; i < SECRET; i++) {
        if (!strcmp(kind, "watch")) close(open("/agent/data", O_RDONLY));
        if (!strcmp(kind, "futex") && !fork()) {
            int *at = words();
            for (;;) syscall(SYS_futex, at, FUTEX_WAIT, *at, NULL, NULL, 0);
        }
    }
    usleep(20000);
}

static int hear(void) {
    int heard = 0;
    char events[4096];
    if (!strcmp(kind, "watch"))
        for (ssize_t n; (n = read(watch, events, sizeof events)) > 0;) heard++;
    if (!strcmp(kind, "futex")) heard = (int)syscall(SYS_futex, words(), FUTEX_WAKE, 1000, NULL, NULL, 0);
    return heard;
}

static void before(int request) {
    if (request == 4) exit(3);
    if (request == 1 && !strcmp(kind, "pages")) say("%s", said);
    if (request == 2 && colour == 0) tell();
    if (request == 2 && colour == 1) say("MESSAGE heard %d", hear());
}

static void after(int request) { (void)request; }
static void at_end(void) {}
