"""What an examination found: a grade for each check, what was seen, and how to fix it; plain data that survives JSON.

A check *fails* where the agent would lose a game by it, or could not play at all. It is a *warning* where it costs no
game but is most likely a mistake: weak play, words that nobody asked for, an exit that has to be forced.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict


class Grade(StrEnum):
    """How an agent did in a check."""

    PASS = "pass"  # noqa: S105 - not a secret
    WARNING = "warning"
    FAIL = "fail"


class Finding(BaseModel):
    """The result of one check. `evidence` may quote the agent: it is as hostile as the agent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    check: str
    """The check's name, as the table of its protocol has it."""
    tried: str = ""
    grade: Grade
    evidence: str
    fix: str = ""
    """What the author can do; empty where the check passed."""


def passed(check: str, evidence: str) -> Finding:
    """The agent passed a check."""
    return Finding(check=check, grade=Grade.PASS, evidence=evidence)


def warned(check: str, evidence: str, fix: str = "") -> Finding:
    """A warning; without a `fix` the report takes the one of the table of checks."""
    return Finding(check=check, grade=Grade.WARNING, evidence=evidence, fix=fix)


def failed(check: str, evidence: str, fix: str = "") -> Finding:
    """The agent failed a check; without a `fix` the report takes the one of the table of checks."""
    return Finding(check=check, grade=Grade.FAIL, evidence=evidence, fix=fix)


class CheckReport(BaseModel):
    """All findings on one agent under one policy, in the order of the table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["judge-check-1"] = "judge-check-1"
    judge: str
    """Version of the judge."""
    agent: str
    digest: str
    policy: str
    protocol: str
    box: str
    partner: str
    """The house agent that it was played against."""
    findings: tuple[Finding, ...]
    line_ending: str = ""
    """How the lines ended that it was asked with, where it does not understand those that a contest would send it."""
    untried: tuple[str, ...] = ()
    """Checks that could not be tried, or had no sense, after what was found before."""

    @property
    def grade(self) -> Grade:
        """The worst grade of all."""
        return worst_grade([finding.grade for finding in self.findings])


_ORDER = (Grade.PASS, Grade.WARNING, Grade.FAIL)


def worst_grade(grades: Sequence[Grade]) -> Grade:
    """The worst of some grades; PASS where there are none."""
    return max(grades, key=_ORDER.index, default=Grade.PASS)
