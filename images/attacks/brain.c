/* The honest part of every attack; see brain.h. */
#define _GNU_SOURCE
#include "brain.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIDE = 64, LINE = 1 << 16 };

static int count_of_words, width = 20, height = 20, reading_board;
static char **words;
static unsigned char taken[SIDE][SIDE];
static const struct attack *attack;
static char text[LINE]; /* what has been read and not been heeded */
static size_t size;
int answered, from_the_top, requests;

const char *word(int n) { return n < count_of_words ? words[n] : ""; }
long number(int n) { return strtol(word(n), NULL, 10); }

void put(int fd, const char *data, size_t count) {
    while (count > 0) {
        ssize_t n = write(fd, data, count);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return;
        if (n > 0) {
            data += n;
            count -= (size_t)n;
        }
    }
}

void say(const char *format, ...) {
    char line[512];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(line, sizeof line - 2, format, list);
    va_end(list);
    if (length > (int)sizeof line - 3)
        length = sizeof line - 3;
    memcpy(line + length, "\r\n", 2);
    put(1, line, (size_t)length + 2);
}

void got(const char *what) { say("MESSAGE got %s", what); }
void denied_by(const char *what, const char *by) { say("MESSAGE denied %s %s", what, by); }
void denied(const char *what, int error) { denied_by(what, strerrorname_np(error) ? strerrorname_np(error) : "?"); }

void did(const char *what, long count) { say("MESSAGE did %s %ld", what, count); }

void tried(const char *what, long result) {
    if (result == -1)
        denied(what, errno);
    else
        got(what);
}

long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

long now_ms(void) { return now_ns() / 1000000; }

void sleep_ms(long span) {
    for (long end = now_ms() + span, left = span; left > 0; left = end - now_ms())
        nanosleep(&(struct timespec){left / 1000, left % 1000 * 1000000}, NULL);
}

void burn_ms(long span) {
    for (long end = now_ms() + span; now_ms() < end;)
        ;
}

void try_apart(const char *what, long (*thing)(void)) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        errno = 0;
        _exit(thing() == -1 ? errno : 0);
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        denied_by(what, sigabbrev_np(WTERMSIG(status)));
    else if (WEXITSTATUS(status))
        denied(what, WEXITSTATUS(status));
    else
        got(what);
}

static void take(const char *pair) {
    int x = -1, y = -1;
    if (sscanf(pair, "%d,%d", &x, &y) == 2 && x >= 0 && y >= 0 && x < SIDE && y < SIDE)
        taken[y][x] = 1;
}

/* Whether a cell is one of a pattern that has no five in a row. */
static int is_of_the_pattern(int x, int y) { return (x / 2 + y) % 2 == 0; }

const char *choose(void) {
    static char cell[32];
    for (int n = 0; n < width * height; n++) {
        int at = from_the_top ? n : width * height - 1 - n, x = at % width, y = at / width;
        if (!taken[y][x] && (!from_the_top || is_of_the_pattern(x, y))) {
            taken[y][x] = 1;
            snprintf(cell, sizeof cell, "%d,%d", x, y);
            return cell;
        }
    }
    exit(0);
}

static void at(void (*moment)(void)) {
    if (moment)
        moment();
}

static void answer(void) {
    requests++;
    answered = 0;
    at(attack->always);
    if (requests == 2)
        at(attack->before);
    if (requests == 3)
        at(attack->next);
    if (!answered)
        say("%s", choose());
    at(attack->behind);
    if (requests == 2)
        at(attack->after);
}

/* Where it has a folder that is kept, that is where its attacks on files are made. */
static void enter(char *folder) {
    folder[strcspn(folder, "\r")] = 0;
    if (chdir(folder))
        denied("folder", errno);
}

static void heed(char *line) {
    if (reading_board && strncmp(line, "DONE", 4) != 0) {
        take(line);
    } else if (reading_board) {
        reading_board = 0;
        answer();
    } else if (!strncmp(line, "START ", 6)) {
        width = height = atoi(line + 6);
        say("OK");
    } else if (!strncmp(line, "INFO folder ", 12)) {
        enter(line + 12);
    } else if (!strncmp(line, "ABOUT", 5)) {
        say("name=\"attack\", version=\"1\"");
        at(attack->greeted);
    } else if (!strncmp(line, "TURN ", 5)) {
        take(line + 5);
        answer();
    } else if (!strncmp(line, "BEGIN", 5)) {
        answer();
    } else if (!strncmp(line, "BOARD", 5)) {
        reading_board = 1;
    } else if (!strncmp(line, "END", 3)) {
        at(attack->at_end);
        exit(0);
    }
}

void read_some(size_t limit) {
    size_t room = sizeof text - 1 - size;
    ssize_t n;
    do
        n = read(0, text + size, limit < room ? limit : room);
    while (n < 0 && (errno == EINTR || errno == EAGAIN));
    if (n <= 0)
        exit(0);
    size += (size_t)n;
    text[size] = 0;
}

/* A line that is longer than the room for it ends the agent: none of the judge's is. */
static void listen_and_play(void) {
    for (;;) {
        read_some(sizeof text);
        char *begin = text;
        for (char *end; (end = strchr(begin, '\n')); begin = end + 1) {
            *end = 0;
            heed(begin);
        }
        size = strlen(begin);
        memmove(text, begin, size);
    }
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    for (attack = attacks; attack->name && strcmp(attack->name, name) != 0; attack++)
        ;
    if (!attack->name) {
        fprintf(stderr, "there is no attack %s\n", name);
        return 2;
    }
    words = argv + 2;
    count_of_words = argc > 2 ? argc - 2 : 0;
    at(attack->at_launch);
    listen_and_play();
}
