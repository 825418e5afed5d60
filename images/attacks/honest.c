/* Honest players, which the attacks play against. What an attack takes from one it measures itself.
 *
 *     instant         answers at once
 *     think MS        waits for so long before each answer
 *     work MS         needs so much time of an undisturbed core for each answer
 *     save MS         answers at once, and at END needs so much processor time before it exits
 *
 * `work` reports, for each answer and in microseconds:
 *
 *     took_us    how long it took
 *     lost_us    for how much of that it did not run: others had the core, or the kernel interrupted it
 *     irq_us     for how much of that no other task had the core, so that it was taken by interrupts; other load on the
 *                host does not change this figure
 */
#define _GNU_SOURCE
#include "brain.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 2001, GAP_NS = 1000, GAPS = 8 };

static long gap_ns = GAP_NS; /* between two looks at the clock: above this it did not run */

static long cpu_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1000000000L + used.tv_nsec;
}

/* For how long it wanted a core that another task had; -1 where the kernel does not tell. */
static long waited_ns(void) {
    char text[128];
    int fd = open("/proc/thread-self/schedstat", O_RDONLY);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    unsigned long long ran, waited;
    close(fd);
    if (size <= 0)
        return -1;
    text[size] = 0;
    return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? (long)waited : -1;
}

static int compare(const void *left, const void *right) {
    long difference = *(const long *)left - *(const long *)right;
    return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

/* A look at the clock takes longer on some hosts, such as emulated ones. */
static void learn_the_gap(void) {
    static long steps[STEPS];
    long last = now_ns();
    for (int n = 0; n < STEPS; n++) {
        long now = now_ns();
        steps[n] = now - last;
        last = now;
    }
    qsort(steps, STEPS, sizeof *steps, compare);
    if (GAPS * steps[STEPS / 2] > gap_ns)
        gap_ns = GAPS * steps[STEPS / 2];
}

static void think(void) {
    from_the_top = 1;
    sleep_ms(number(0));
}

static void work(void) {
    long ran = 0, begin = now_ns(), last = begin, cpu = cpu_ns(), waited = waited_ns();
    from_the_top = 1;
    while (ran < number(0) * 1000000) {
        long now = now_ns();
        if (now - last <= gap_ns)
            ran += now - last;
        last = now;
    }
    long took = last - begin, lost = took - ran;
    long by_tasks = waited < 0 ? took - (cpu_ns() - cpu) : waited_ns() - waited;
    say("MESSAGE measured took_us %ld", took / 1000);
    say("MESSAGE measured lost_us %ld", lost / 1000);
    say("MESSAGE measured irq_us %ld", (lost - by_tasks) / 1000);
}

static void play(void) { from_the_top = 1; }

static void save(void) {
    for (long end = cpu_ns() + number(0) * 1000000; cpu_ns() < end;)
        ;
}

const struct attack attacks[] = {
    {.name = "instant"},
    {.name = "think", .always = think},
    {.name = "work", .at_launch = learn_the_gap, .always = work},
    {.name = "save", .always = play, .at_end = save},
    {0},
};
