/*
 * Rule: speak Gomocup on the pipes and never think past the limits that the manager announced.
 *
 * Boards of 5 to 60 cells a side, square or not. A rule that the brain does not play is refused when a
 * move is asked for, as the protocol wants: the manager does not listen while it sends INFO.
 */
#ifndef GOMOCUP_H
#define GOMOCUP_H

#include <stdbool.h>
#include <stdint.h>

/* What sets one brain apart from another. */
struct brain {
    const char *about;
    const int *rules; /* INFO rule values, `rule_count` of them */
    int rule_count;
    const char *refusal; /* what to say to a move under any other */
    bool (*extra)(const char *line); /* takes a command that not all brains know; NULL: there is none */
};

/* Serves the manager until END or the end of input. */
int gomocup_serve(const struct brain *brain);

/* For extra commands. */
void gomocup_answer(const char *text);
bool gomocup_has_started(void);             /* answers ERROR if there was no START yet */
bool gomocup_plays_rule(void);              /* answers ERROR if it is not one of the brain's */
int gomocup_parse_cell(const char *text);   /* the cell "x,y", or NO_CELL if there is none */
int64_t gomocup_deadline(void);             /* for the current request */
void gomocup_charge_match(void);            /* after thinking */

/* Hands all lines up to DONE, that one included, to `take`. */
void gomocup_read_rows(void (*take)(const char *line));

#endif
