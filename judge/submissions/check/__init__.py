"""`examine(agent, policy)`: what an author runs before entering, and the last gate of a submission."""

from judge.submissions.check.report import CheckReport, Finding, Grade
from judge.submissions.check.runner import OverlongError
from judge.submissions.check.suite import examine

__all__ = ["CheckReport", "Finding", "Grade", "OverlongError", "examine"]
