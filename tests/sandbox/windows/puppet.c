/* A Windows console program that does what it is told, line by line, and answers each line with one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static const char *after(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 ? line + length : NULL;
}

static void write_file(const char *path)
{
    FILE *file = fopen(path, "w");
    puts(file != NULL && fputs("hello", file) >= 0 && fclose(file) == 0 ? "written" : strerror(errno));
}

static void read_file(const char *path)
{
    char text[256] = "";
    FILE *file = fopen(path, "r");
    puts(file != NULL && fgets(text, sizeof text, file) != NULL ? text : strerror(errno));
}

static void fill(unsigned long megabytes)
{
    size_t size = (size_t)megabytes << 20;
    volatile char *memory = malloc(size); /* volatile: else the compiler knows that nobody reads it */
    for (size_t n = 0; memory != NULL && n < size; n += 4096)
        memory[n] = 1;
    puts(memory != NULL ? "filled" : "no memory");
}

static DWORD WINAPI sleep_on(void *nothing)
{
    (void)nothing;
    Sleep(INFINITE);
    return 0;
}

static void start_threads(int wanted)
{
    int count = 0;
    while (count < wanted && CreateThread(NULL, 1 << 16, sleep_on, NULL, 0, NULL) != NULL)
        count++;
    printf("%d\n", count);
}

static void burn(void)
{
    static volatile long turns; /* the compiler must keep the loop */
    for (;;)
        turns++;
}

static void start_another(char *program)
{
    STARTUPINFOA how = {.cb = sizeof how};
    PROCESS_INFORMATION what;
    puts(CreateProcessA(NULL, program, NULL, NULL, FALSE, 0, NULL, NULL, &how, &what) ? "started" : "not started");
}

static void overflow(volatile char *above)
{
    volatile char frame[4096];
    frame[0] = *above;
    if (frame[0] == 0)
        overflow(frame);
    *above = frame[0];
}

static void obey(char *line, int count, char **words)
{
    const char *rest;

    if (strcmp(line, "argv") == 0) {
        for (int n = 0; n < count; n++)
            printf("%s%s", n > 0 ? "|" : "", words[n]);
        puts("");
    } else if (strcmp(line, "cwd") == 0) {
        char path[MAX_PATH];
        GetCurrentDirectoryA(sizeof path, path);
        puts(path);
    } else if (strcmp(line, "temp") == 0) {
        char path[MAX_PATH];
        GetTempPathA(sizeof path, path);
        puts(path);
    } else if ((rest = after(line, "write ")) != NULL) {
        write_file(rest);
    } else if ((rest = after(line, "read ")) != NULL) {
        read_file(rest);
    } else if ((rest = after(line, "fill ")) != NULL) {
        fill(strtoul(rest, NULL, 10));
    } else if ((rest = after(line, "threads ")) != NULL) {
        start_threads(atoi(rest));
    } else if ((rest = after(line, "exit ")) != NULL) {
        exit(atoi(rest));
    } else if (strcmp(line, "start") == 0) {
        start_another(words[0]);
    } else if (strcmp(line, "burn") == 0) {
        puts("burning");
        burn();
    } else if (strcmp(line, "abort") == 0) {
        abort();
    } else if (strcmp(line, "null") == 0) {
        *(volatile int *)NULL = 1;
    } else if (strcmp(line, "overflow") == 0) {
        volatile char top = 0;
        overflow(&top);
    } else if (strcmp(line, "window") == 0) {
        printf("%d\n", MessageBoxA(NULL, "text", "title", MB_OK));
    } else {
        puts(line);
    }
}

int main(int count, char **words)
{
    char line[4096];

    setvbuf(stdout, NULL, _IONBF, 0);
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        obey(line, count, words);
    }
    return 0;
}
