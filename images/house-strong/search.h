/*
 * Rule: deepen until the deadline, then return the best move found so far.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdint.h>

enum { LONGEST_REPORT = 256 };

/* Memory for remembered positions; 0 means no limit. Never uses more than 16 MiB. */
void search_limit_memory(int64_t bytes);
void search_forget(void); /* before a new game */

/* The cell to play for OWN, or NO_CELL if none is free. A deadline that has passed asks for a move by
 * static evaluation. `report` receives one line of text about the search. */
int search_move(int64_t deadline, char report[LONGEST_REPORT]);

#endif
