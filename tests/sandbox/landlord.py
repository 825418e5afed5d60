"""A judge process that a test can kill: makes one box, says `ready`, and waits.

python -m tests.sandbox.landlord KIND TRANSPORT PROGRAM prepared|started|frozen
"""

import sys
from pathlib import Path

from judge.sandbox import BoxKind, BoxPolicy, Limits, Tenant, open_box


def keep(kind: BoxKind, transport: str, program: Path, stage: str) -> None:
    """Bring a box with a burning agent to a stage, and keep it until this process is killed."""
    tenant = Tenant("puppet", program, ("puppet",), "native", 0, "landlord")
    policy = BoxPolicy.model_validate({"transport": transport})
    box = open_box(kind, tenant, Limits(), policy)
    box.prepare()
    box.enter()
    if stage != "prepared":
        box.start()
        box.write(b"burn-alone\n")
    if stage == "frozen":
        box.freeze()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    keep(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4])  # type: ignore[arg-type]
