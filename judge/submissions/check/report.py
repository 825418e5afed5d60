"""Results of an examination as plain data.

A check *fails* if it would lose a game or prevent one. A *warning* is a probable mistake without such an effect: weak
play, unrequested output, a forced exit.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from judge.base.parsing import FailFastTuple, FrozenModel
from judge.base.text import sentence


class Grade(StrEnum):
    """Result of a check."""

    PASS = "pass"  # noqa: S105 - not a secret
    WARNING = "warning"
    FAIL = "fail"


class Finding(FrozenModel):
    """Result of one check. `evidence` may quote the agent and is untrusted."""

    check: str
    tried: str = ""
    grade: Grade
    evidence: str
    fix: str = ""
    stderr: FailFastTuple[str] = ()
    """Last lines, numbered; untrusted."""


def passed(check: str, evidence: str) -> Finding:
    """A passed check."""
    return Finding(check=check, grade=Grade.PASS, evidence=evidence)


def warned(check: str, evidence: str, fix: str = "", stderr: tuple[str, ...] = ()) -> Finding:
    """The checks' table has the default `fix`."""
    return Finding(check=check, grade=Grade.WARNING, evidence=evidence, fix=fix, stderr=stderr)


def failed(check: str, evidence: str, fix: str = "", stderr: tuple[str, ...] = ()) -> Finding:
    """See `warned`."""
    return Finding(check=check, grade=Grade.FAIL, evidence=evidence, fix=fix, stderr=stderr)


def without_repetitions(findings: Sequence[Finding]) -> list[Finding]:
    """Of equal crashes the first with the worst grade keeps its evidence."""
    kept: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda each: _ORDER.index(each.grade), reverse=True):
        if finding.stderr:
            kept.setdefault(_crash_of(finding), finding)
    found = []
    for finding in findings:
        shown = kept[_crash_of(finding)] if finding.stderr else finding
        if shown is not finding:
            what = sentence(f"the same crash as in {shown.check}")
            finding = finding.model_copy(update={"evidence": what, "fix": "", "stderr": ()})
        found.append(finding)
    return found


def _crash_of(finding: Finding) -> str:
    return "\n".join([finding.evidence.split("; ")[0], *(line[4:] for line in finding.stderr[-3:])])


def turns_text(turns_ms: Sequence[float], limit_ms: float) -> str:
    """Describe the times of an agent's turns."""
    slowest = max(turns_ms)
    if len(turns_ms) == 1:
        return sentence(f"one turn, {slowest:.0f} of {limit_ms:.0f} ms")
    return sentence(f"{len(turns_ms)} turns, the longest {slowest:.0f} of {limit_ms:.0f} ms")


class CheckReport(FrozenModel):
    """All findings on one agent under one policy, in the order of the table."""

    format: Literal["judge-check-1"] = "judge-check-1"
    judge: str
    agent: str
    digest: str
    policy: str
    clock: str = ""
    protocol: str
    box: str
    partner: str
    findings: FailFastTuple[Finding]
    line_ending: str = ""
    """Set if the agent does not understand the contest's."""
    untried: FailFastTuple[str] = ()
    """Skipped because of earlier results."""

    @property
    def grade(self) -> Grade:
        return worst_grade([finding.grade for finding in self.findings])


_ORDER = (Grade.PASS, Grade.WARNING, Grade.FAIL)


def worst_grade(grades: Sequence[Grade]) -> Grade:
    """The worst; PASS if there is no grade."""
    return max(grades, key=_ORDER.index, default=Grade.PASS)
