/* poll(&pipe, 1, 0), which is all that the house agents ask for, by what Windows has for it. */
#ifndef POLL_H
#define POLL_H

#include <io.h>
#include <windows.h>

enum { POLLIN = 1 };

struct pollfd {
    int fd;
    short events, revents;
};

static inline int poll(struct pollfd *of, unsigned long count, int timeout)
{
    DWORD waiting = 0;

    (void)count;
    (void)timeout;
    if (!PeekNamedPipe((HANDLE)_get_osfhandle(of->fd), NULL, 0, NULL, &waiting, NULL))
        return -1;
    of->revents = waiting ? POLLIN : 0;
    return waiting != 0;
}

#endif
