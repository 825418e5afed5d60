"""How much a test tries in each lane of `scripts/test`."""

import os
from collections.abc import Callable, Container, Iterable

import pytest
from _pytest.mark import ParameterSet

LANE = os.environ.get("JUDGE_TESTS", "full")
"""`fast`, `full`, `languages` (as `full`, with images of all languages) or `evidence`; set by `scripts/test`."""

FAST = LANE == "fast"
EVIDENCE = LANE == "evidence"

RecordFigure = Callable[[str, object], None]
"""The type of the fixture `record_property`: a property `figure` is a sentence that `tests.figures` prints."""

evidence = pytest.mark.skipif(not EVIDENCE, reason="./scripts/test --evidence runs it")


def of_evidence(*values: object) -> list[ParameterSet]:
    """Parameters with which only the evidence runs a test, after those of the full lane."""
    return [pytest.param(value, marks=evidence) for value in values]


def of_lanes(every: Iterable[object], full: Container[object]) -> list[object]:
    """Parameters of a test; the evidence alone runs it with those that are not of the full lane."""
    return [each if each in full else pytest.param(each, marks=evidence) for each in every]


def examples(number: int) -> int:
    """The examples of Hypothesis, of `number` in the full lane."""
    return max(number // 10, 5) if FAST else number


def sized(full: int, of_evidence: int) -> int:
    """Kills, simulations or requests of a test."""
    return of_evidence if EVIDENCE else full
