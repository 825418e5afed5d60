/* A brain with weights: it maps weights.bin, takes all memory that it is told of but 4 MiB, and reads every page of
   the weights before each move. It plays the first free square. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { LARGEST = 64, PAGE = 4096, SPARE = 4 << 20 };

static char taken[LARGEST][LARGEST];
static long limit;

static void clear(void) { memset(taken, 0, sizeof taken); }

static void take_memory(void)
{
    static int done;
    if (done++)
        return;
    char *memory = malloc(limit - SPARE);
    for (long at = 0; at < limit - SPARE; at += PAGE)
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

int main(void)
{
    char line[256];
    int side = 20, x, y, in_board = 0;
    volatile long sum = 0;
    int file = open("weights.bin", O_RDONLY);
    struct stat status;
    fstat(file, &status);
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
            take_memory();
            for (long at = 0; at < status.st_size; at += PAGE)
                sum += weights[at];
            move(side);
        }
    }
    return 0;
}
