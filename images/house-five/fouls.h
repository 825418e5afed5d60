/*
 * Rule: in renju Black may not make an overline, two fours or two real threes, unless the stone makes
 * exactly five.
 */
#ifndef FOULS_H
#define FOULS_H

#include "board.h"

/* Whether the rules forbid `side` a stone on a free cell; never under other rules than renju. Puts
 * stones on the board and takes them away, which leaves the frontier in another order. */
bool is_forbidden(int at, enum side side);

#endif
