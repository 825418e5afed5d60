"""`judge stats` refuses an export whose tables contradict each other, in one sentence that names it."""

import json
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.cli.stats import stats
from tests.publish.public import Public, change

CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "a round without pairings": ("games", {"round": -1}),
    "another agent": ("games", {"first": "nobody"}),
    "a winner that did not play": ("games", {"winner": "nobody"}),
    "a finished game without a result": ("games", {"verdict": None, "winner": None}),
    "a result of a game that is open": ("games", {"state": "pending"}),
    "a pairing of nobody": ("pairings", {"second": "nobody"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_contradictory_tables_are_refused(name: str, logged_copy: Public) -> None:
    table, values = CHANGES[name]
    change(logged_copy.directory / f"data/{table}.json", lambda rows: rows[0].update(values))
    with pytest.raises(InputError) as refused:
        stats([logged_copy.directory])
    assert str(logged_copy.directory) in str(refused.value)


def test_unchanged_tables_are_rated(logged: Public, capsys: pytest.CaptureFixture[str]) -> None:
    stats([logged.directory], as_json=True)
    document = json.loads(capsys.readouterr().out)
    assert {"anna", "bert"} == {rating["agent"] for rating in document["ratings"]["ratings"]}
