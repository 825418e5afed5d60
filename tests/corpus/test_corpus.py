"""The corpus has no difference, and reaches what it has to reach."""

import pytest

from tests.corpus import contests, records
from tests.corpus.archive import SOURCE, TEXT, parts, read
from tests.corpus.corpus import compare

FIRST = "records-00"
"""The records that reach most."""

HINT = "If you intend these differences, write the corpus again: python -m tests.corpus --write"


@pytest.mark.parametrize(
    "part", [part if part == FIRST else pytest.param(part, marks=pytest.mark.slow) for part in parts()]
)
def test_computed_texts_do_not_differ(part: str) -> None:
    assert [] == compare(part), HINT


def test_every_item_of_the_lists_of_the_code_is_reached() -> None:
    """A new cause, protocol, format, event or forgery needs a record or a contest."""
    found: set[str] = set()
    for part in parts():
        for name, text in read(part, TEXT).items():
            if name.rpartition(": ")[2] == "features":
                found.update(text.splitlines())
            elif name.startswith("forgery: "):
                found.add(name)

    assert set() == (records.wanted() | contests.wanted()) - found


def test_number_of_records_and_contests() -> None:
    of_records = [part for part in parts() if part.startswith("records-")]
    assert 200 <= sum(len(read(part, SOURCE)) for part in of_records)
    assert 12 <= len(parts()) - len(of_records)
