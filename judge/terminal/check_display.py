"""Output of `judge check`: each new finding; on a terminal also the running check."""

from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.base.text import printable
from judge.submissions.check import CheckReport, Finding, Grade
from judge.terminal.output import SENTENCE_CHARACTERS, finding_lines, stderr_lines

_COUNTED = {Grade.PASS: "passed", Grade.WARNING: "with a warning", Grade.FAIL: "failed"}
_COLOURS = {Grade.PASS: "green", Grade.WARNING: "yellow", Grade.FAIL: "red"}


class CheckDisplay:
    """Prints findings; nothing if `is_silent`."""

    def __init__(self, is_silent: bool) -> None:
        self._console = Console(highlight=False, quiet=is_silent)
        self._status = self._console.status("") if self._console.is_terminal and not is_silent else None
        self._printed: list[Finding] = []

    def close(self) -> None:
        if self._status is not None:
            self._status.stop()

    def trying(self, what: str) -> None:
        """Show the running check."""
        if self._status is not None:
            self._status.update(_plain(f"trying: {what}"))
            self._status.start()

    def progress(self, report: CheckReport) -> None:
        """Print new findings, and those that became worse."""
        if not self._printed:
            self._line(_plain(f"{report.agent}, {report.policy}, {report.protocol}, {report.box}"))
        for finding in report.findings:
            if finding not in self._printed:
                self._printed.append(finding)
                if self._console.is_terminal:
                    self._console.print(_row(finding))
                else:
                    for line in finding_lines([finding]):
                        self._line(_plain(line))
                for line in stderr_lines(finding):
                    self._line(Text(line))

    def end(self, report: CheckReport, next_step: str) -> None:
        """Print skipped checks, grade and next step."""
        if report.untried:
            self._line(_plain(f"not tried: {', '.join(report.untried)}"))
        counts = Counter(finding.grade for finding in report.findings)
        parts = [
            f"{counts[grade]} {_COUNTED[grade]}" for grade in (Grade.PASS, Grade.WARNING, Grade.FAIL) if counts[grade]
        ]
        grade = Text(report.grade.value, style=f"bold {_COLOURS[report.grade]}")
        self._line(grade.append(f": {', '.join(parts)}", style="not bold default"))
        self._line(_plain(f"next: {next_step}"))

    def _line(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)


def _row(finding: Finding) -> Table:
    seen = _plain(finding.evidence)
    if finding.fix:
        seen.append(f"\n{printable(finding.fix, SENTENCE_CHARACTERS)}", style="bold")
    row = Table(box=None, pad_edge=False, show_header=False, expand=True)
    row.add_column(width=7)
    row.add_column(ratio=2)
    row.add_column(ratio=3)
    tried = _plain(f"{finding.check}: {finding.tried}")
    row.add_row(Text(finding.grade.value, style=_COLOURS[finding.grade]), tried, seen)
    return row


def _plain(text: str) -> Text:
    return Text(printable(text, SENTENCE_CHARACTERS))
