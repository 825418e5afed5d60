/* Attacks through the network: F1 to F4. Expected: plays on, every way denied.
 *
 * What must stay true in all of them: no packet leaves the box, and nothing that listens on the host is reached. The
 * addresses are those that are kept for documentation, so that a box that leaks harms nobody.
 */
#define _GNU_SOURCE
#include "brain.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE_MS = 300 };

/* Connects; what is still under way after a while counts as connected: something has left. */
static long reach(int family, int type, int protocol, const void *address, socklen_t size) {
    int fd = socket(family, type | SOCK_NONBLOCK, protocol), error = 0;
    socklen_t room = sizeof error;
    if (fd < 0)
        return -1;
    if (connect(fd, address, size) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return -1;
    poll(&(struct pollfd){fd, POLLOUT, 0}, 1, PATIENCE_MS);
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &room);
    errno = error;
    return error ? -1 : 0;
}

static void try_v4(const char *what, int type, int protocol, const char *host, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, host, &address.sin_addr);
    tried(what, reach(AF_INET, type, protocol, &address, sizeof address));
}

static void try_v6(const char *what, const char *host) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(443), .sin6_scope_id = 1};
    inet_pton(AF_INET6, host, &address.sin6_addr);
    tried(what, reach(AF_INET6, SOCK_STREAM, 0, &address, sizeof address));
}

/* F1  Out into the world: TCP, UDP, ICMP, a name server. */
static void reach_out(void) {
    try_v4("tcp", SOCK_STREAM, 0, "192.0.2.1", 443);
    try_v4("udp", SOCK_DGRAM, 0, "192.0.2.1", 9);
    try_v4("dns", SOCK_DGRAM, 0, "198.51.100.53", 53);
    try_v4("icmp", SOCK_DGRAM, IPPROTO_ICMP, "192.0.2.1", 0);
    try_v4("raw", SOCK_RAW, IPPROTO_ICMP, "192.0.2.1", 0);
}

/* F2  To what clouds and neighbours offer: the metadata address, link-local ones, version 6. */
static void reach_neighbours(void) {
    try_v4("metadata", SOCK_STREAM, 0, "169.254.169.254", 80);
    try_v4("engine-bridge", SOCK_STREAM, 0, "172.17.0.1", 2375);
    try_v4("broadcast", SOCK_DGRAM, 0, "255.255.255.255", 67);
    try_v6("v6", "2001:db8::1");
    try_v6("v6-link-local", "fe80::1");
    try_v6("v6-metadata", "fd00:ec2::254");
}

/* F3  To the host's own loopback, where something listens on the port of the first word. */
static void reach_loopback(void) { try_v4("loopback", SOCK_STREAM, 0, "127.0.0.1", (int)number(0)); }

/* F4  To sockets without an address: an abstract one (the second word) and one in a folder (the third). */
static void reach_unix(void) {
    struct sockaddr_un hidden = {.sun_family = AF_UNIX}, named = {.sun_family = AF_UNIX};
    snprintf(hidden.sun_path + 1, sizeof hidden.sun_path - 1, "%s", word(1));
    snprintf(named.sun_path, sizeof named.sun_path, "%s", word(2));
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(word(1)));
    tried("abstract", reach(AF_UNIX, SOCK_STREAM, 0, &hidden, size));
    tried("unix", reach(AF_UNIX, SOCK_STREAM, 0, &named, sizeof named));
}

const struct attack attacks[] = {
    {.name = "out", .before = reach_out},
    {.name = "neighbours", .before = reach_neighbours},
    {.name = "loopback", .before = reach_loopback},
    {.name = "unix", .before = reach_unix},
    {0},
};
