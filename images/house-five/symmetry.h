/*
 * Rule: two cells are the same choice if some symmetry of the board keeps all stones in their places,
 * colours too, and takes one to the other (RIF's "not symmetric" fifth moves).
 */
#ifndef SYMMETRY_H
#define SYMMETRY_H

#include "board.h"

/* Fills `cells` with one free cell of each class of same choices that lies within `reach` steps of the
 * middle, row and column alike, and returns how many. */
int symmetry_choices(int *cells, int reach);

#endif
