/*
 * Rule: whoever visits a node asks here whether the search may go on.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

extern bool out_of_time; /* set once the deadline has passed: results are no longer complete */
extern long nodes;       /* visited since clock_start */

int64_t milliseconds_now(void); /* monotonic */
void clock_start(int64_t deadline);
void clock_move_deadline(int64_t deadline); /* keeps the nodes, takes back out_of_time */
bool clock_must_stop(void);                 /* counts one node */

#endif
