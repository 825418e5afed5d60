"""`python -m tests.figures`: what the last run of `scripts/test` measured.

It prints how many cases of each test passed, and the figures that tests give. docs/enforcement.md, docs/performance.md
and docs/correctness.md show those of the evidence. As a plug-in of pytest it writes the file that it reads.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

DURATIONS = Path(__file__).parents[1] / ".build/durations.jsonl"


def main() -> None:
    for line in figures_of(DURATIONS.read_text(encoding="utf-8").splitlines()):
        print(line)  # noqa: T201


def figures_of(lines: Iterable[str]) -> Iterator[str]:
    """Sentences from the lines of the file of durations."""
    tried: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    figures = []
    for line in lines:
        phase = json.loads(line)
        if phase["phase"] != "call" or phase["result"] == "skipped":
            continue
        function = phase["test"].partition("[")[0]
        tried[function] += 1
        passed[function] += phase["result"] == "passed"
        figures += [f"{phase['test']}: {text}" for text in phase.get("figures", ())]
    yield from (f"{function}: {passed[function]} of {count}" for function, count in tried.items() if count > 1)
    yield from figures


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add a phase of a test, its seconds and its figures to the file of durations that `scripts/test` names."""
    if (path := os.environ.get("JUDGE_DURATIONS")) and "PYTEST_XDIST_WORKER" not in os.environ:
        line = {"test": report.nodeid, "phase": report.when, "result": report.outcome, "s": round(report.duration, 3)}
        if report.when == "call" and (figures := [text for name, text in report.user_properties if name == "figure"]):
            line["figures"] = figures
        with Path(path).open("a") as lines:
            lines.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
