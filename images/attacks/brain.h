/* What all attacks have in common: an agent that plays Gomocup honestly, but for one thing that it does at one moment.
 *
 *     PROGRAM NAME [WORD...]
 *
 * NAME is the attack's (a row of the program's table); the words are its arguments. Left alone such an agent takes the
 * last free cell of the board, then the one before it, and so has five in a row with its fifth stone. What an attack was
 * given or denied it says in MESSAGE lines of these forms, which the judge's table of attacks is held against:
 *
 *     MESSAGE denied WHAT ERRNO
 *     MESSAGE got WHAT
 *     MESSAGE did WHAT COUNT          how often it did something, such as armed a timer: proof that it acted
 *     MESSAGE measured WHAT NUMBER    an honest opponent's measurement of its answer
 */
#ifndef BRAIN_H
#define BRAIN_H

#include <stddef.h>

/* An attack does one of these things at its moment and then plays on, if it still can. */
struct attack {
    const char *name;
    void (*at_launch)(void); /* before anything is read */
    void (*greeted)(void);   /* after the answer to ABOUT: the first request is not read yet */
    void (*always)(void);    /* before the answer to every request */
    void (*behind)(void);    /* after every answer */
    void (*before)(void);    /* before the answer to the second request */
    void (*after)(void);     /* behind that answer */
    void (*next)(void);      /* before the answer to the third request */
    void (*at_end)(void);    /* when END has come */
};

extern const struct attack attacks[]; /* each program's own; ended by one without a name */

/* The attack's arguments; a missing word is empty, a missing number 0. */
const char *word(int n);
long number(int n);

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void put(int fd, const char *data, size_t size);
void got(const char *what);
void denied(const char *what, int error);
void denied_by(const char *what, const char *by); /* denied by something that has no errno */
void tried(const char *what, long result);        /* of a system call: -1 is a denial with errno */
void did(const char *what, long count);

long now_ns(void);
long now_ms(void);
void sleep_ms(long span);
void burn_ms(long span);

/* For attacks that answer, or read, by themselves. */
extern int answered;     /* set it before returning: the answer has been given */
extern int from_the_top; /* set it once: take the first free cell of a pattern without five in a row, not the last cell */
extern int requests;     /* how many there were, with the one that is being answered */
const char *choose(void); /* the cell of the next answer, such as `18,19` */
void read_some(size_t limit);

/* Does one thing in a process of its own and says what came of it: its result, -1 with errno, or the signal. */
void try_apart(const char *what, long (*thing)(void));

#endif
