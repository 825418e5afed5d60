/*
 * Rule: a four leaves the opponent one reply, so a chain of fours can be searched deep and cheaply.
 */
#ifndef VCF_H
#define VCF_H

#include "board.h"

/* Plies to the five if `side`, which is to move, can win by `depth` fours or fewer, and in `first` the
 * move to begin with; 0 if it cannot, or if that was not found within so many nodes. */
int vcf_search(enum side side, int depth, long node_limit, int *first);
void vcf_forget(void);

#endif
