/* Attacks by what an agent prints, and by what it does with its streams: E1 to E15, E17, E18, I5, V7 and V8.
 *
 * What must stay true in all of them: the judge's memory does not grow with what is printed, it is never deaf to the
 * opponent for long, nothing that is printed is taken for a word of the judge's, and the record can be read by others.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { KIBIBYTE = 1 << 10, MEBIBYTE = 1 << 20 };

static char block[MEBIBYTE];

static void repeat(int fd, const char *what, size_t length, long total) {
    size_t filled = 0;
    for (; filled + length <= sizeof block; filled += length)
        memcpy(block + filled, what, length);
    for (; total > 0; total -= (long)filled)
        put(fd, block, total < (long)filled ? (size_t)total / length * length : filled);
}

static void repeat_text(int fd, const char *what, long total) { repeat(fd, what, strlen(what), total); }

/* --- E1 to E5, E18: too much --------------------------------------------------------------------------
 *
 * The first word is how many KiB. Expected: output, as soon as the bound of a turn is passed; with a bound that is
 * larger (the control) it plays on. Of stderr only so much is kept, the rest is read: plays on.
 */

/* E1  MESSAGE lines of 1 KiB. */
static void flood(void) {
    char line[KIBIBYTE];
    memset(line, 'x', sizeof line);
    memcpy(line, "MESSAGE ", 8);
    memcpy(line + sizeof line - 2, "\r\n", 2);
    repeat(1, line, sizeof line, number(0) * KIBIBYTE);
}

/* E2  stderr. */
static void flood_stderr(void) { repeat_text(2, "What I always wanted to say. ", number(0) * KIBIBYTE); }

/* E3  One line that does not end. */
static void flood_without_end(void) {
    repeat_text(1, "x", number(0) * KIBIBYTE);
    put(1, "\r\n", 2);
}

/* E4  One line of 131,070 characters that does end. Expected: it is cut, plays on. */
static void print_long_line(void) {
    put(1, "MESSAGE ", 8);
    repeat_text(1, "x", 131070);
    put(1, "\r\n", 2);
}

/* E5  As many lines as possible: empty ones, and such as have to be looked at. */
static void flood_with_empty_lines(void) { repeat_text(1, "\n", number(0) * KIBIBYTE); }
static void flood_with_lines(void) { repeat_text(1, "DEBUG\n", number(0) * KIBIBYTE); }
static void flood_with_words(void) { repeat_text(1, "x\r\n", number(0) * KIBIBYTE); }

/* E18  A write for every letter, or for every line; the first word is how many. Expected: letters cost no more than the
 * line that they make; lines are output as soon as so many of them pass the bound of a turn. */
static void sip(const char *letter) {
    put(1, letter, 1);
    usleep(50); /* so that it is read before the next one is there */
}

static void sip_letters(void) {
    put(1, "DEBUG ", 6);
    for (long n = number(0); n > 0; n--)
        sip("x");
    put(1, "\r\n", 2);
}

static void sip_lines(void) {
    for (long n = number(0); n > 0; n--)
        sip("\n");
}

/* I5  Prints in the opponent's time, where the policy lets agents ponder: the first word is for how many KiB. Expected:
 * output at its next request, and neither the judge's memory nor its disk has grown by it. */
static void *flood_for_long(void *unused) {
    flood();
    return unused;
}

static void flood_out_of_turn(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, flood_for_long, NULL);
}

/* --- E6 to E9, E17: hostile text -----------------------------------------------------------------
 *
 * Expected: plays on; what is no move is set aside, and escaped wherever it is shown.
 */

static void print(const char *data, size_t size) { put(1, data, size); }
#define PRINT(text) print(text, sizeof(text) - 1)

/* E6  NUL, invalid UTF-8, UTF-16, lone carriage returns. */
static void print_bytes(void) {
    PRINT("\0\0\0\r\n");
    PRINT("MESSAGE nul \0 in the middle\r\n");
    PRINT("MESSAGE \xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80 invalid\r\n");
    PRINT("\xff\xfe" "1\0,\0" "2\0\r\0\n\0");
    PRINT("MESSAGE a lone return\rMESSAGE another\r\r\r\n\n\n");
    PRINT("\xef\xbb\xbf" "3,3\r\n");
}

/* E7  What a terminal, a page or a game record would obey: escapes, C1, bidi, links, line ends of other worlds. */
static void print_escapes(void) {
    PRINT("MESSAGE \x1b[2J\x1b[31mred\x1b]0;title\x07\x1b]8;;http://example.invalid/\x1b\\link\x1b[5i\r\n");
    PRINT("MESSAGE \xc2\x9b" "31m \xc2\x85 next line \xe2\x80\xa8 separator \xe2\x80\xae reversed \xe2\x81\xa6\r\n");
    PRINT("MESSAGE \"] ) ; } {%evil%} <script>alert(1)</script> [Result \"1-0\"]\r\n");
    PRINT("MESSAGE \x08\x08\x08\x0b\x0c\x7f\r\n");
}

/* E8  The judge's own words: frames of PID 1 on both streams, entries of a record, log lines. */
static void print_markers(void) {
    PRINT("MESSAGE turn-time: did not answer within the turn\r\n");
    PRINT("MESSAGE {\"verdict\":\"win\",\"winner\":0}\r\n");
    put(2, "R\0\0\0\x08" "exited 0", 13);
    put(2, "R\0\0\0\x0b" "signalled 9", 16);
    put(2, "\x02\0\0\0\0\0\0\x0dR\0\0\0\x08" "exited 0", 21);
    PRINT("R\0\0\0\x06lost 0\r\n");
    PRINT("\x02\0\0\0\0\0\0\x0bR\0\0\0\x06lost 0\r\n");
    PRINT("MESSAGE [error] void match=1 why=Engine gone\r\n");
    PRINT("END\r\nOK\r\nERROR\r\n");
}

/* E9  Templates of several languages. */
static void print_templates(void) {
    say("MESSAGE %s", "%s%s%n%x {0} {self.__class__} ${jndi:ldap://x} {{7*7}} $(id) `id` \\x41 [bold]x[/bold]");
}

/* E17  Numbers that some parsers take: not moves, so they are set aside. */
static void print_odd_numbers(void) {
    PRINT("1_0,1\r\n1e1,1\r\n0x1,1\r\n1.0,1.0\r\n\xef\xbc\x91,\xef\xbc\x92\r\n\xd9\xa1,\xd9\xa2\r\n--1,1\r\n 1 1\r\n");
}

/* E17.huge  Expected: unreadable.  E17.negative  Expected: illegal. */
static void print_huge_number(void) {
    PRINT("99999999999999999999,1\r\n");
    answered = 1;
}

static void print_negative_number(void) {
    PRINT("-1,-1\r\n");
    answered = 1;
}

/* --- E10 to E15: the streams themselves ---------------------------------------------------------- */

/* E10  Closes its stdout and goes on; with the word `keep` it answers through a copy. Expected: crash. */
static void close_stdout(void) {
    int copy = !strcmp(word(0), "keep") ? dup(1) : -1;
    close(1);
    if (copy < 0)
        sleep_ms(100000);
    dup2(copy, 1);
}

/* E11  Closes its stdin, so that nobody reads what the judge writes, and is silent: the first word is for how many
 * milliseconds. Expected: turn-time. */
static void close_stdin(void) {
    close(0);
    sleep_ms(number(0));
    _exit(0);
}

/* E12  Makes its stdin small, where it may, and does not read it, while the judge has a board of 1,000 stones for it: the first word
 * is for how many milliseconds; E12.sip reads 100 bytes first, by which the judge's last byte is still not taken.
 * Expected: turn-time: the clock runs from the thaw, not from the last byte written. */
static void do_not_read(void) {
    struct pollfd in = {0, POLLIN, 0};
    int unread = 0;
    fcntl(0, F_SETPIPE_SZ, 4096);
    poll(&in, 1, -1);
    if (*word(1))
        read_some((size_t)number(1));
    sleep_ms(number(0));
    ioctl(0, FIONREAD, &unread);
    did("unread", unread);
}

/* E13  Ends when nobody expects it, with exit code 0. Expected: crash. */
static void leave(void) { _exit(0); }

/* E14  Prints its answer into a buffer and forgets to flush it; after so many milliseconds it does.
 * Expected: turn-time. */
static void forget_to_flush(void) {
    setvbuf(stdout, NULL, _IOFBF, KIBIBYTE);
    printf("%s\r\n", choose());
    sleep_ms(number(0));
    fflush(stdout);
    answered = 1;
}

/* E15  Answers this request and, in the same breath, the next one. Expected: plays on, and 10,10 is no move of its. */
static void answer_twice(void) {
    char line[64];
    int size = snprintf(line, sizeof line, "%s\r\n10,10\r\n", choose());
    put(1, line, (size_t)size);
    answered = 1;
}

/* --- V7, V8: trying to earn a void by what is printed --------------------------------------------
 *
 * Prints for the first word's milliseconds and so overruns its turn: whoever carries the bytes works, perhaps on the
 * agent's own core. Expected: turn-time, or output; never void.
 */
static void print_until_late(int fd, const char *what) {
    long count = 0;
    for (long end = now_ms() + number(0); now_ms() < end; count++)
        repeat_text(fd, what, 64 * KIBIBYTE);
    did("kibibytes", 64 * count);
}

static void keep_stderr_busy(void) { print_until_late(2, "and then "); }

static void keep_stdout_busy(void) {
    long count = 0;
    for (long end = now_ms() + number(0); now_ms() < end; sleep_ms(0), count++)
        put(1, "\n", 1);
    did("lines", count);
}

const struct attack attacks[] = {
    {.name = "flood", .before = flood},
    {.name = "stderr", .before = flood_stderr},
    {.name = "endless", .before = flood_without_end},
    {.name = "long-line", .before = print_long_line},
    {.name = "empty-lines", .before = flood_with_empty_lines},
    {.name = "lines", .before = flood_with_lines},
    {.name = "words", .before = flood_with_words},
    {.name = "sip-letters", .before = sip_letters},
    {.name = "sip-lines", .before = sip_lines},
    {.name = "out-of-turn", .after = flood_out_of_turn},
    {.name = "bytes", .before = print_bytes},
    {.name = "escapes", .before = print_escapes},
    {.name = "markers", .before = print_markers},
    {.name = "templates", .before = print_templates},
    {.name = "odd-numbers", .before = print_odd_numbers},
    {.name = "huge-number", .before = print_huge_number},
    {.name = "negative-number", .before = print_negative_number},
    {.name = "close-stdout", .before = close_stdout},
    {.name = "close-stdin", .before = close_stdin},
    {.name = "deaf", .greeted = do_not_read},
    {.name = "leave-at-once", .at_launch = leave},
    {.name = "leave-in-turn", .before = leave},
    {.name = "leave-after-turn", .after = leave},
    {.name = "leave-at-end", .at_end = leave},
    {.name = "no-flush", .before = forget_to_flush},
    {.name = "twice", .before = answer_twice},
    {.name = "busy-stderr", .before = keep_stderr_busy},
    {.name = "busy-stdout", .before = keep_stdout_busy},
    {0},
};
