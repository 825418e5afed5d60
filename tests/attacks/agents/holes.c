/* holes BYTES MAPS: at its first request, leaves pages of the kernel that keep one object of many. The kernel charges
 * objects, so the rest of each page is outside of the cap.
 *
 * BYTES is the largest charge at a time, for one kind of object after the other. A process for each kind makes objects,
 * frees all but one of a page, and stays. MAPS is how many mappings a process may have. */
#include "player.h"

enum { PAGE = 4096, HEAD = 256, ROOM = 1 << 30, PAIRS = 60, MAPPING = 192, OF_A_PAGE = 21, MAPPER = 170000 };

static long bytes, maps, kept;
static int done[2]; /* a byte from each process that has made or freed its objects */

/* Messages: their kind and length, what is charged for each, and how many have one page together. */
static const struct {
    int kind;
    size_t length;
    long charged;
    int of_a_page;
} messages[] = {
    {SOCK_STREAM, 1, HEAD + 512, 16},
    {SOCK_STREAM, 600, HEAD + 1024, 16},
    {SOCK_STREAM, 1500, HEAD + 2048, 16},
    {SOCK_STREAM, 3500, HEAD + 4096, 8},
    {SOCK_SEQPACKET, 7000, HEAD + 8192, 4},
};

static void stay(void) {
    put(done[1], "x", 1);
    for (;;) pause();
}

static void wait_for(int count) {
    char byte;
    while (count-- > 0 && read(done[0], &byte, 1) == 1)
        ;
}

/* The messages of a page go to different sockets, of which only the first keeps them. */
static void send_messages(size_t phase) {
    static char packet[8192];
    static int ends[PAIRS][2];
    int count = 0, room = ROOM, each = messages[phase].of_a_page;
    for (; count < PAIRS && socketpair(AF_UNIX, messages[phase].kind | SOCK_NONBLOCK, 0, ends[count]) == 0; count++)
        for (int side = 0; side < 2; side++) setsockopt(ends[count][side], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    long most = (bytes - kept) / messages[phase].charged, sent = 0;
    int ways = 2 * count / each * each; /* both directions of each pair */
    for (int first = 0; first < ways; first += each)
        for (int full = 0; !full && sent < most;)
            for (int n = first; n < first + each; n++)
                if (write(ends[n / 2][n % 2], packet, messages[phase].length) < 0) full = 1;
                else sent++;
    for (int n = 0; n < ways; n++)
        while (n % each && read(ends[n / 2][1 - n % 2], packet, sizeof packet) > 0)
            ;
}

/* A mapping of its own for every other page; then most of them go. */
static void map_pages(int begin) {
    char *all = mmap(NULL, (size_t)(2 * maps) * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), byte;
    for (long n = 0; n < maps; n++) munmap(all + (2 * n + 1) * PAGE, PAGE);
    put(done[1], "x", 1);
    if (read(begin, &byte, 1) == 0)
        for (long n = 0; n < maps; n++)
            if (n % OF_A_PAGE) munmap(all + 2 * n * PAGE, PAGE);
}

static void make_mappings(void) {
    int begin[2], count = (int)((bytes - kept) / (MAPPER + maps * MAPPING)), started = 0;
    if (pipe(begin)) return;
    for (; started < count && started < 56; started++)
        if (fork() == 0) {
            close(begin[1]);
            map_pages(begin[0]);
            stay();
        }
    wait_for(started);
    close(begin[1]);
    wait_for(started);
}

static void at_launch(int count, char **words) {
    bytes = count > 1 ? atol(words[1]) : 0;
    maps = count > 2 ? atol(words[2]) : 0;
}
static void before(int request) {
    if (request > 1 || pipe(done)) return;
    for (size_t phase = 0; phase < sizeof messages / sizeof *messages; phase++) {
        if (fork() == 0) {
            send_messages(phase);
            stay();
        }
        wait_for(1);
        kept += (bytes - kept) / messages[phase].of_a_page;
    }
    if (maps) make_mappings();
}
static void after(int request) { (void)request; }
static void at_end(void) {}
