"""Constant files in place of those of /proc by which an agent could send messages to other boxes."""

from judge.sandbox.box import Limits

PROC = "/proc"
NAMES = ("loadavg", "meminfo", "stat", "uptime")
"""Runtimes accept mounts on these."""


def texts(limits: Limits, processors: int) -> dict[str, str]:
    """Contents by name."""
    total, ticks = f"{limits.cap_bytes // 1024:>8} kB\n", " 0" * 10
    rest = ("Buffers", "Cached", "SwapCached", "Active", "Inactive", "Shmem", "SwapTotal", "SwapFree")
    counters = ("intr", "ctxt", "btime", "processes")
    return {
        "loadavg": "0.00 0.00 0.00 1/1 1\n",
        "meminfo": f"MemTotal:       {total}MemFree:        {total}MemAvailable:   {total}"
        + "".join(f"{name + ':':<16}{0:>8} kB\n" for name in rest),
        "stat": f"cpu {ticks}\n"
        + "".join(f"cpu{number}{ticks}\n" for number in range(processors))
        + "".join(f"{name} 0\n" for name in counters)
        + f"procs_running 1\nprocs_blocked 0\nsoftirq{ticks} 0\n",
        "uptime": "1.00 1.00\n",
    }
