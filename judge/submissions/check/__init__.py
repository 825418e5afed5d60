"""`examine(agent, policy)`: check for authors, and last stage of a submission."""

from judge.submissions.check.report import CheckReport, Finding, Grade
from judge.submissions.check.runner import OverlongError
from judge.submissions.check.suite import examine

__all__ = ["CheckReport", "Finding", "Grade", "OverlongError", "examine"]
