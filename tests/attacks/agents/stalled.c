/* A correct agent: for each line it does a thing that takes no time on a host that does not stall, and says `ok`.
 *
 *     stalled memory | process | file
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEMORY = 2 << 20, PAGE = 4096, STEP = 8 * PAGE };

/* It has the mapping already: where there is no memory a new one is refused, and a fault in an old one waits. */
static void use_memory(void) {
    static char *begin;
    if (!begin)
        begin = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int at = 0; at < MEMORY; at += PAGE)
        begin[at] = 1;
    madvise(begin, MEMORY, MADV_DONTNEED);
}

static void use_processes(void) {
    if (fork() == 0)
        _exit(0);
    wait(NULL);
}

/* The next page of a file that nobody has read yet, as a network or a book is read. */
static void use_file(void) {
    static volatile char *begin;
    static off_t at, size;
    if (!begin) {
        struct stat file;
        int fd = open("/agent/data", O_RDONLY);
        if (fd < 0 || fstat(fd, &file))
            return;
        size = file.st_size;
        void *map = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED)
            return;
        madvise(map, (size_t)size, MADV_RANDOM);
        begin = map;
    }
    (void)begin[at];
    at = (at + STEP) % size;
}

int main(int argc, char **argv) {
    char line[64];
    void (*use)(void) = argc > 1 && !strcmp(argv[1], "memory") ? use_memory
                        : argc > 1 && !strcmp(argv[1], "file") ? use_file
                                                               : use_processes;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        use();
        puts("ok");
    }
    return 0;
}
