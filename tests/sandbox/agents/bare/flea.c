/* The smallest agent: no library, less memory of its own than PID 1 has, and as willing to be spared as it may be.
 *
 * It eats memory that no process owns (files without names), so that the kernel looks for somebody to kill.
 */
enum { WRITE = 1, OPEN = 2, MEMFD_CREATE = 319, WRITE_ONLY = 1 };

static long call(long number, long first, long second, long third) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second), "d"(third)
                     : "rcx", "r11", "memory");
    return result;
}

static char block[4096];
static char file[] = "flea";
static char adjustment[] = "/proc/self/oom_score_adj";

void _start(void) {
    call(WRITE, call(OPEN, (long)adjustment, WRITE_ONLY, 0), (long)"500", 3);
    for (;;) {
        long fd = call(MEMFD_CREATE, (long)file, 0, 0);
        while (call(WRITE, fd, (long)block, sizeof block) > 0)
            ;
    }
}
