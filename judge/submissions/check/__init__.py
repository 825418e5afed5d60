"""`examine(agent, policy)`: what an author runs before entering, and the last gate of a submission."""

from judge.submissions.check.report import Finding, Grade, Report
from judge.submissions.check.runner import OverlongError
from judge.submissions.check.suite import examine

__all__ = ["Finding", "Grade", "OverlongError", "Report", "examine"]
