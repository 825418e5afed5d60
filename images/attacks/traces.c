/* Attacks by traces that one box can leave and another read: D19, D21.
 *
 * What must stay true in both: a game knows nothing of former games or of other boxes.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, BITS = 32, MAGIC = 0xC0FF, FIRST = 1000000 };

/* --- D19: pages of files that are in memory --------------------------------------------------------
 *
 * Played twice. Which pages of a file are in memory outlives a box. The agent looks for 32 bits in the pages of the file of the
 * first word, or of the largest file of the image; half of them are a mark. Then it clears all pages, and reads those of
 * the mark. Expected: `denied residue NONE` in the second game. `did bits` counts pages that it has read.
 */
static char largest[4096];
static off_t size_of_largest;

static int keep_largest(const char *path, const struct stat *found, int kind, struct FTW *level) {
    (void)level;
    if (kind == FTW_F && S_ISREG(found->st_mode) && found->st_size > size_of_largest) {
        size_of_largest = found->st_size;
        snprintf(largest, sizeof largest, "%s", path);
    }
    return 0;
}

static const char *file_of_bits(void) {
    if (*word(0))
        return word(0);
    nftw("/usr", keep_largest, 16, FTW_PHYS | FTW_MOUNT);
    return largest;
}

static long faults(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_majflt;
}

/* Whether a page was in memory: to map one that was not is a major fault. */
static int is_there(const volatile char *page) {
    long before = faults();
    (void)*page;
    return faults() == before;
}

static void leave_pages(void) {
    unsigned found = 0, mark = (unsigned)MAGIC << 16 | 0x5A5A;
    struct stat status = {0};
    char byte;
    int file = open(file_of_bits(), O_RDONLY), set = 0;
    fstat(file, &status);
    long step = status.st_size / BITS / PAGE * PAGE; /* from one bit's page to the next */
    char *pages = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
    if (file < 0 || pages == MAP_FAILED) {
        denied("file", errno);
        return;
    }
    madvise(pages, (size_t)status.st_size, MADV_RANDOM);
    for (int bit = 0; bit < BITS; bit++)
        found |= (unsigned)is_there(pages + bit * step) << bit;
    if (found == mark)
        got("residue");
    else
        denied_by("residue", "NONE");
    say("MESSAGE found %08x", found);
    munmap(pages, (size_t)status.st_size);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
    for (int bit = 0; bit < BITS; bit++)
        if (mark >> bit & 1)
            set += pread(file, &byte, 1, bit * step) == 1;
    did("bits", set);
}

/* --- D21: locks on a file that two boxes have ------------------------------------------------------
 *
 * The accomplice of the other seat holds locks on the agent's files, at the bits of a number. The agent asks whose they are.
 * `did held` counts locks that the accomplice was given.
 */
static void hold_locks(void) {
    int file = open("/agent/pages.dat", O_RDONLY), count = 0;
    for (int bit = 0; bit < BITS; bit++)
        if (MAGIC >> bit & 1) {
            struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = FIRST + bit, .l_len = 1};
            count += fcntl(file, F_SETLK, &lock) == 0;
        }
    did("held", count);
}

static void play_from_the_top(void) { from_the_top = 1; }

static void ask_for_locks(void) {
    unsigned heard = 0;
    int file = open("/agent/pages.dat", O_RDONLY);
    for (int bit = 0; bit < BITS; bit++) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = FIRST + bit, .l_len = 1};
        if (fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
            heard |= 1u << bit;
    }
    if (heard)
        got("lock-of-another-box");
    else
        denied_by("lock-of-another-box", "NONE");
    say("MESSAGE heard %08x", heard);
}

const struct attack attacks[] = {
    {.name = "pages", .before = leave_pages},
    {.name = "hold-locks", .at_launch = play_from_the_top, .before = hold_locks},
    {.name = "ask-for-locks", .next = ask_for_locks},
    {0},
};
