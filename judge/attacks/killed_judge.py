"""`python -m judge.attacks.killed_judge` makes a box, reports it, and waits."""

import signal
import sys

from judge.attacks.programs import build_attacks
from judge.sandbox import BoxPolicy, Limits, Tenant, open_box


def wait_in_a_game() -> None:
    """Start a busy agent, freeze it, and wait."""
    tenant = Tenant("attack", build_attacks(), ("cpu", "ponder-thread"), "native", 0, "doomed")
    box = open_box("docker", tenant, Limits(), BoxPolicy())
    try:
        box.prepare()
        box.enter()
        box.start()
        box.freeze()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        signal.pause()
    finally:
        box.close()


if __name__ == "__main__":
    wait_in_a_game()
