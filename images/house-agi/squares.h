/*
 * Rule: a square is two hexadecimal digits, the row 0 to E from the top and the column 1 to F from the
 * left; squares follow each other without a gap.
 */
#ifndef SQUARES_H
#define SQUARES_H

enum { AGI_SIDE = 15, MOST_SQUARES = AGI_SIDE * AGI_SIDE };

/* Reads the squares at the start of `*text`, which moves on behind them, and returns how many. */
int squares_read(const char **text, int *cells);
void squares_print(const int *cells, int count);

#endif
