/*
 * Rule: look at the time once in so many nodes, for looking costs about as much as a node's work.
 */
#define _POSIX_C_SOURCE 200809L
#include "clock.h"

#include <stddef.h>
#include <time.h>

enum { NODES_PER_LOOK = 128 }; /* well below a millisecond */

bool out_of_time;
long nodes;
static int64_t stop_at;
static bool (*watch_said_stop)(void);
static bool interrupted;

int64_t milliseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void clock_watch(bool (*watch)(void))
{
    watch_said_stop = watch;
    interrupted = false;
}

void clock_start(int64_t deadline)
{
    nodes = 0;
    clock_move_deadline(deadline);
}

void clock_move_deadline(int64_t deadline)
{
    stop_at = deadline;
    out_of_time = interrupted;
}

bool clock_must_stop(void)
{
    if (++nodes % NODES_PER_LOOK != 0)
        return out_of_time;
    interrupted = interrupted || (watch_said_stop != NULL && watch_said_stop());
    if (interrupted || milliseconds_now() >= stop_at)
        out_of_time = true;
    return out_of_time;
}
