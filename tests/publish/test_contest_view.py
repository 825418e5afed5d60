"""One view of a contest: read from a store part by part, at one moment, and from an export, it says the same.

Tables of an export that contradict each other are refused in one sentence that names the export.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.contest.contest import Contest
from judge.contest_view.documents import agents_document, standings_document
from judge.contest_view.export import load_claimed
from judge.contest_view.view import ContestView
from judge.publish.export.export import publish
from judge.transparency.keys import make_key
from judge.transparency.log import WITNESS_FOLDER
from tests.contests import LATE_AND_WITHDRAWN, ROUND_ROBIN, WITHDRAWN, Recipe
from tests.publish.public import Public, change

RECIPES = {"round robin": ROUND_ROBIN, "late": LATE_AND_WITHDRAWN, "groups": WITHDRAWN["groups"]}


def values(view: ContestView) -> Mapping[str, Any]:
    return {
        "standings": standings_document(view),
        "results": [result._replace(record="") for result in view.results],
        **{name: getattr(view, name) for name in ("counts", "failures", "to_come", "is_over", "out")},
        **{name: getattr(view, name) for name in ("secret", "entered", "absent", "stages", "copies", "snapshot")},
    }


@pytest.mark.parametrize("name", RECIPES)
def test_views_of_a_store_and_of_its_export_are_equal(name: str, tmp_path: Path) -> None:
    recipe: Recipe = RECIPES[name]
    with recipe.contest(tmp_path / "cup") as cup:
        expected = values(cup.contest.read())
        parts = values(cup.contest.view())
    exported = values(load_claimed(recipe.export(tmp_path / "public").directory))

    assert expected == parts
    assert expected == exported


@pytest.mark.parametrize("form", WITHDRAWN)
def test_an_agent_that_withdrew_is_not_called_disqualified(form: str, tmp_path: Path) -> None:
    """Also where its results are annulled."""
    with WITHDRAWN[form].contest(tmp_path / "cup") as cup:
        states = {
            agent["name"]: (agent["state"], agent["why"]) for agent in agents_document(cup.contest.view())["agents"]
        }

    assert ("withdrawn", "the author asked for it") == states.pop("anna")
    assert {("plays", "")} == set(states.values())


def test_checkpoint_signed_during_an_export_is_not_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be of a longer log than the one that is exported, which would look rewritten."""
    with ROUND_ROBIN.contest(tmp_path / "cup") as cup:
        witnesses = cup.folder / WITNESS_FOLDER
        witnesses.mkdir(exist_ok=True)
        read = Contest.read

        def read_and_be_signed(contest: Contest) -> ContestView:
            view = read(contest)
            (witnesses / "0123abcd").write_bytes(b"of a longer log")
            return view

        monkeypatch.setattr(Contest, "read", read_and_be_signed)
        publish(cup.contest, tmp_path / "public", tmp_path / "private", make_key(tmp_path / "organiser.key"))

    assert not (tmp_path / "public/log/witness").exists()


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


@pytest.mark.parametrize("entry", ["x", "[" * 16_000, "[" * 500 + "]" * 500])
def test_late_entry_that_cannot_be_parsed_is_refused(entry: str, logged_copy: Public) -> None:
    rows = [{"agent": "zoe", "why": "the mail server was down", "entry": entry}]
    (logged_copy.directory / "data/entered.json").write_text(json.dumps(rows))
    with pytest.raises(InputError, match=r"entered\.json: 'zoe': .*nested"):
        load_claimed(logged_copy.directory)
