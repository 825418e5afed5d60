"""Tables of an export that contradict each other are refused in one sentence that names the export."""

from collections.abc import Callable
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.contest_view.export import load_claimed
from tests.publish.public import Public, change

CHANGES: dict[str, tuple[str, Callable[[Any], object]]] = {
    "a round without pairings": ("games", lambda rows: rows[0].update(round=-1)),
    "no round": ("games", lambda rows: rows[0].update(round="x")),
    "another agent": ("games", lambda rows: rows[0].update(first="nobody")),
    "a winner that did not play": ("games", lambda rows: rows[0].update(winner="nobody")),
    "no verdict": ("games", lambda rows: rows[0].update(verdict="luck")),
    "a finished game without a result": ("games", lambda rows: rows[0].update(verdict=None, winner=None)),
    "a result of a game that is open": ("games", lambda rows: rows[0].update(state="pending")),
    "no games": ("games", lambda rows: rows.clear()),
    "a pairing of nobody": ("pairings", lambda rows: rows[0].update(second="nobody")),
    "no pairings": ("pairings", lambda rows: rows.clear()),
    "two entries of one name": ("../contest", lambda contest: contest["entries"].append(contest["entries"][0])),
    "a disqualified number": ("disqualified", lambda rows: rows.append({"agent": 3})),
}


@pytest.mark.parametrize("name", CHANGES)
def test_contradictory_tables_are_refused(name: str, logged_copy: Public) -> None:
    table, how = CHANGES[name]
    directory = logged_copy.directory
    load_claimed(directory)
    change(directory / f"data/{table}.json", how)
    with pytest.raises(InputError) as refused:
        load_claimed(directory)
    assert str(directory) in str(refused.value) or ".json: " in str(refused.value)
