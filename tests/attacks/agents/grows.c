/* grows MIB: fills MIB MiB at its first request, a page at a time. */
#include "player.h"

static long mib;
static void at_launch(int count, char **words) { mib = count > 1 ? atol(words[1]) : 0; }
static void before(int request) {
    if (request == 1) memset(mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, mib << 20);
}
static void after(int request) { (void)request; }
static void at_end(void) {}
