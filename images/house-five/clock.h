/*
 * Rule: whoever visits a node asks here whether the search may go on.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

extern bool out_of_time; /* the deadline has passed or the watch said so: results are not complete */
extern long nodes;       /* visited since clock_start */

int64_t milliseconds_now(void); /* monotonic */

/* Asks `watch` too, as often as the time, whether to stop; one yes holds until the next call. */
void clock_watch(bool (*watch)(void));
void clock_start(int64_t deadline);
void clock_move_deadline(int64_t deadline); /* keeps the nodes, takes back out_of_time */
bool clock_must_stop(void);                 /* counts one node */

#endif
