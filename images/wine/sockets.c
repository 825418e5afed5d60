/* Sockets of 32-bit programs by calls that a filter can look at.
 *
 * The 32-bit C library makes every call on sockets through `socketcall`, whose arguments are in memory, where no filter
 * of system calls looks: it could open sockets of any family. The kernel has a call for each since 4.3. Every program of
 * the image loads this library first (/etc/ld.so.preload); here are the functions that Wine's 32-bit libraries use. In
 * a 64-bit program there is nothing to do.
 */
#ifdef __i386__
enum {
    SOCKET = 359,
    SOCKETPAIR = 360,
    CONNECT = 362,
    GETSOCKOPT = 365,
    SETSOCKOPT = 366,
    GETSOCKNAME = 367,
    GETPEERNAME = 368,
    SENDTO = 369,
    SENDMSG = 370,
    RECVFROM = 371,
    RECVMSG = 372,
    SHUTDOWN = 373,
};

extern long syscall(long number, ...);

#define CALL(name, number, parameters, ...)                                                                            \
    int name parameters;                                                                                               \
    int name parameters { return (int)syscall(number, __VA_ARGS__); }

CALL(socket, SOCKET, (int family, int kind, int protocol), family, kind, protocol)
CALL(socketpair, SOCKETPAIR, (int family, int kind, int protocol, int *ends), family, kind, protocol, ends)
CALL(connect, CONNECT, (int fd, const void *address, unsigned size), fd, address, size)
CALL(getsockname, GETSOCKNAME, (int fd, void *address, unsigned *size), fd, address, size)
CALL(getpeername, GETPEERNAME, (int fd, void *address, unsigned *size), fd, address, size)
CALL(__getsockopt64, GETSOCKOPT, (int fd, int level, int name, void *value, unsigned *size), fd, level, name, value, size)
CALL(__setsockopt64, SETSOCKOPT, (int fd, int level, int name, const void *value, unsigned size), fd, level, name, value,
     size)
CALL(send, SENDTO, (int fd, const void *data, unsigned long size, int flags), fd, data, size, flags, 0, 0)
CALL(recv, RECVFROM, (int fd, void *data, unsigned long size, int flags), fd, data, size, flags, 0, 0)
CALL(__sendmsg64, SENDMSG, (int fd, const void *message, int flags), fd, message, flags)
CALL(__recvmsg64, RECVMSG, (int fd, void *message, int flags), fd, message, flags)
CALL(shutdown, SHUTDOWN, (int fd, int how), fd, how)
#else
typedef int nothing;
#endif
