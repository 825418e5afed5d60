/* A brain that begins a game as it should and fails when it is to move, in the way that its first argument names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *how)
{
    if (strcmp(how, "null") == 0)
        *(volatile int *)NULL = 1;
    for (volatile char *more; (more = malloc(1 << 20)) != NULL;)
        for (int n = 0; n < 1 << 20; n += 4096)
            more[n] = 1;
}

int main(int count, char **words)
{
    char line[256];

    setvbuf(stdout, NULL, _IONBF, 0);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strncmp(line, "START ", 6) == 0)
            puts("OK");
        if (strncmp(line, "BEGIN", 5) == 0)
            fail(count > 1 ? words[1] : "null");
    }
    return 0;
}
