"""What does not share the code of `judge contest verify`: verify.mjs for files and log, the independent reading for all
that follows from records and journal."""

from pathlib import Path

from judge.publish.verify.export import VerificationReport, verify_export
from tests.publish.public import Public
from tests.verify import independent_reading
from tests.verify.by_node import problems as problems_by_node


def second_opinion(directory: Path, *key: Path) -> list[str]:
    """The problems of both; `key` and options are those of verify.mjs."""
    return [*problems_by_node(directory, *key), *independent_reading.problems(directory)]


def accepted(public: Public) -> VerificationReport:
    """The report of an export in which none of them finds a problem."""
    report = verify_export(public.directory, public.public_key)
    found = [*report.problems, *second_opinion(public.directory, public.public_key)]
    assert not found, "\n".join(found)
    return report
