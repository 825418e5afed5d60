/*
 * Rule: read the pipe itself, not through stdio, to know when a request came: its time is running.
 */
#define _POSIX_C_SOURCE 200809L
#include "lines.h"

#include "clock.h"

#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { INPUT_BYTES = 1 << 14 };

int64_t lines_came;
static char input[INPUT_BYTES];
static size_t begin, end; /* what was read and not yet served */

bool lines_read(void)
{
    end -= begin;
    memmove(input, input + begin, end);
    begin = 0;
    if (end == sizeof input)
        end = 0; /* no request is this long: forget it */
    ssize_t n = read(STDIN_FILENO, input + end, sizeof input - end);
    lines_came = milliseconds_now();
    end += n > 0 ? (size_t)n : 0;
    return n > 0;
}

bool lines_are_coming(void)
{
    struct pollfd standard_input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&standard_input, 1, 0) > 0;
}

static bool ends_a_line(char byte)
{
    return byte == '\n' || byte == '\r' || byte == '\0'; /* '\0': a peek was here */
}

char *lines_peek(void)
{
    while (begin < end && ends_a_line(input[begin]))
        begin++;
    for (size_t i = begin; i < end; i++)
        if (ends_a_line(input[i])) {
            input[i] = '\0';
            return input + begin;
        }
    return NULL;
}

char *lines_next(void)
{
    char *line = lines_peek();
    if (line != NULL)
        begin += strlen(line);
    return line;
}

const char *arguments(const char *line, const char *keyword)
{
    size_t length = strlen(keyword);
    if (strncmp(line, keyword, length) != 0 || (line[length] != '\0' && line[length] != ' '))
        return NULL;
    return line + length;
}
