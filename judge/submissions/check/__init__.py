"""`examine(agent, policy)`: what an author runs before entering, and the last gate of a submission."""

from judge.submissions.check.examination import examine
from judge.submissions.check.examinee import OverlongError
from judge.submissions.check.report import Finding, Grade, Report

__all__ = ["Finding", "Grade", "OverlongError", "Report", "examine"]
