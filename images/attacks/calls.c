/* Attacks by system calls that nothing interrupts, neither a freezer nor SIGKILL: O1 to O5, O14. The attacker answers in
 * time; it is its opponent who must not lose, nor be blamed, nor be charged.
 *
 * The first word names the call, the second says how long it is: N times as much as is said here. `many-at-the-end` makes the
 * call in as many processes as the third word says, and lives until it is killed.
 *
 *     page-table N   what the kernel says of 2^19 pages, also where nothing is mapped: at most 511, a second or so
 *     mincore N      a tenth of a second of looking which pages are in memory, of a file that is mapped far beyond its end
 *     populate N     mapping 2^19 pages (for comparison with the others: 2 GiB), all of them one page of zeros
 */
#define _GNU_SOURCE
#include "brain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

enum { MOST = 511, PIECE = 4 << 20, ANSWERS = 8 << 20, MOST_MAPS = 1900 };
static const size_t PAGE = 4096;

static int page_table = -1;
static int open_error;
static struct iovec pieces[MOST];
static unsigned char *answers;
static char *wide;
static size_t width;

static void *room(size_t size) {
    return mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Processor time of a call of mincore for a piece of answers, that of 2^23 pages. Hosts differ tenfold. */
static long piece_ns(void) {
    struct timespec before, after;
    mincore(wide, PAGE * ANSWERS, answers);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    mincore(wide, PAGE * ANSWERS, answers);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    return (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec + 1;
}

/* One file of 8 MiB, mapped again and again side by side: a call may fill it as if it were as large as that.
 * The host may bound the maps of a process to 2,048. */
static void fold_the_answers(long tenths) {
    char path[256];
    snprintf(path, sizeof path, "%s/answers", getenv("TMPDIR"));
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, ANSWERS))
        denied("answers", errno);
    answers = room((size_t)MOST_MAPS * ANSWERS);
    for (size_t n = 0; n < MOST_MAPS; n++)
        mmap(answers + n * ANSWERS, ANSWERS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    wide = mmap(NULL, PAGE * ANSWERS * MOST_MAPS, PROT_READ, MAP_SHARED | MAP_NORESERVE, file, 0);
    long count = tenths * 100000000L / piece_ns() + 1;
    width = (size_t)(count < MOST_MAPS ? count : MOST_MAPS) * ANSWERS * PAGE;
}

static void prepare(void) {
    size_t count = (size_t)number(1);
    if (!strcmp(word(0), "mincore")) {
        fold_the_answers(number(1));
    } else if (!strcmp(word(0), "populate")) {
        width = count * (2L << 30);
        wide = room(width);
        madvise(wide, width, MADV_NOHUGEPAGE);
    } else {
        void *sink = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        page_table = open("/proc/self/pagemap", O_RDONLY);
        open_error = page_table < 0 ? errno : 0;
        for (int n = 0; n < MOST; n++)
            pieces[n] = (struct iovec){sink, PIECE};
    }
}

static void tell_denial(void) {
    if (open_error)
        denied("page-table", open_error);
}

/* The kernel's answer to a call that it takes; the call itself is made behind the agent's answer to the judge. */
static void ask_for_little(void) {
    unsigned char one;
    uint64_t entry;
    static char page[4096] __attribute__((aligned(4096)));
    if (!strcmp(word(0), "mincore"))
        tried("mincore", mincore(page, PAGE, &one));
    else if (!strcmp(word(0), "populate"))
        tried("populate", madvise(page, PAGE, MADV_POPULATE_READ));
    else if (open_error)
        tell_denial();
    else
        tried("page-table", pread(page_table, &entry, sizeof entry, 0));
}

static void call(void) {
    if (!strcmp(word(0), "mincore"))
        mincore(wide, width, answers);
    else if (!strcmp(word(0), "populate"))
        madvise(wide, width, MADV_POPULATE_READ);
    else
        preadv(page_table, pieces, (int)number(1), 0);
}

static void call_often(void) {
    for (long n = 0; n < number(2); n++)
        if (fork() == 0) {
            for (int times = 0; times < 100; times++)
                call();
            _exit(0);
        }
    for (;;)
        pause();
}

const struct attack attacks[] = {
    {.name = "in-the-turn", .at_launch = prepare, .before = ask_for_little, .after = call},
    {.name = "in-the-start", .at_launch = prepare, .greeted = call, .before = ask_for_little},
    {.name = "at-the-end", .at_launch = prepare, .before = ask_for_little, .at_end = call},
    {.name = "many-at-the-end", .at_launch = prepare, .before = tell_denial, .at_end = call_often},
    {0},
};
