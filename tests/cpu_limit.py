"""Runs a function of a test module in a process with a limit on its CPU time, which the kernel enforces.

A step that grows with the square of its input would need hours for the inputs that are tried, so no test measures time.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run_limited(function: Callable[[], object], cpu_s: int) -> str:
    """What `function`, of the top level of a module, prints within `cpu_s` seconds of CPU time."""
    call = f"from tests.cpu_limit import limit; from {function.__module__} import {function.__name__} as it; "
    words = [sys.executable, "-c", f"{call}limit({cpu_s}); it()"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr}"
    return done.stdout


def limit(cpu_s: int) -> None:
    """Limit this process to so many more seconds."""
    end = int(time.process_time()) + 1 + cpu_s
    resource.setrlimit(resource.RLIMIT_CPU, (end, end))
