/* A brain with weights: it maps weights.bin, takes all memory that it is told of, and reads the weights, every page of
   them before its first move. It plays the first free square, and ends if it may write to the weights. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST = 64, PAGE = 4096, FEWER = 512 };

static char taken[LARGEST][LARGEST];
static long limit;

static void clear(void) { memset(taken, 0, sizeof taken); }

static void take_memory(void)
{
    volatile char *memory = malloc(limit); /* or a compiler leaves out what nobody reads */
    for (long at = 0; at < limit; at += PAGE)
        memory[at] = 1;
}

static void move(int side)
{
    for (int i = 0; i < side * side; i++)
        if (!taken[i % side][i / side]) {
            taken[i % side][i / side] = 1;
            printf("%d,%d\n", i % side, i / side);
            return;
        }
}

static int open_weights(const char *program, int how)
{
    char path[PAGE];
    snprintf(path, sizeof path, "%.*sweights.bin", (int)(strrchr(program, '/') + 1 - program), program);
    return open(path, how);
}

int main(int count, char **words)
{
    char line[256];
    int side = 20, x, y, in_board = 0, has_moved = 0;
    volatile long sum = 0;
    int file = open_weights(words[0], O_RDONLY);
    if (count != 1 || file < 0 || open_weights(words[0], O_RDWR) >= 0)
        return 9;
    struct stat status;
    fstat(file, &status);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED); /* so that their pages are read for this program, and count for it */
    const char *weights = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, file, 0);

    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "INFO max_memory %ld", &limit) == 1)
            continue;
        if (in_board && sscanf(line, "%d,%d", &x, &y) == 2) {
            taken[x][y] = 1;
            continue;
        }
        if (sscanf(line, "START %d", &side) == 1 || !strncmp(line, "RESTART", 7)) {
            clear();
            puts("OK");
        } else if (!strncmp(line, "ABOUT", 5))
            puts("name=\"weights\", version=\"1\"");
        else if (!strncmp(line, "END", 3))
            return 0;
        else if (!strncmp(line, "BOARD", 5)) {
            clear();
            in_board = 1;
        } else if (sscanf(line, "TURN %d,%d", &x, &y) == 2 || !strncmp(line, "BEGIN", 5) || !strncmp(line, "DONE", 4)) {
            if (!strncmp(line, "TURN", 4))
                taken[x][y] = 1;
            in_board = 0;
            if (!has_moved)
                take_memory();
            for (long at = 0; at < status.st_size; at += has_moved ? FEWER * PAGE : PAGE)
                sum += weights[at];
            has_moved = 1;
            move(side);
        }
    }
    return 0;
}
