"""Sources whose build fails, and the line that their author needs: the rows of build_logs/failures.toml.

NAME.log is the real output of the toolchain. `python -m tests.submissions.build_failures [NAME ...]` records it again.
"""

import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from judge.base.owner import owned_directory
from judge.sandbox.box import BoxPolicy
from judge.submissions.trees import Built, TaskHost
from tests.submissions.building import built

FOLDER = Path(__file__).with_name("build_logs")


@dataclass(frozen=True)
class Failure:
    """`reason` is part of the expected line, `fix` of the expected advice."""

    files: dict[str, str]
    reason: str
    fix: str = ""
    table: dict[str, object] = field(default_factory=dict)


FAILURES = {name: Failure(**row) for name, row in tomllib.loads((FOLDER / "failures.toml").read_text()).items()}


def build(name: str, task_host: TaskHost) -> Built:
    failure = FAILURES[name]
    return built(task_host, failure.files, name="mine", **failure.table)  # type: ignore[arg-type]


def record(names: list[str]) -> None:
    """Write the logs."""
    for name in names or FAILURES:
        with owned_directory() as room:
            come = build(name, TaskHost(BoxPolicy(freeze="none"), (), room))
        (FOLDER / f"{name}.log").write_text(come.log)
        sys.stdout.write(f"{name}: {come.failure or 'NO FAILURE'}\n")


if __name__ == "__main__":
    record(sys.argv[1:])
