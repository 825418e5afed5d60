"""Every change that judge makes to a contest file, for each form of tables, and changes of single values."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.base.resources import POLICIES
from judge.contest.plan import Planned, load_plan
from judge.contest.plan_edits import Document, edited, move_paths, next_text, relocated, set_value, with_changes
from judge.contest.settings import _changed_text, settings_of

TEMPLATE = """\
# The monthly cup of the club.
name = "cup"   # also the folder
title = "The cup"
about = ""   # nothing yet
policy = "policy.toml:fast"   # ours
change = ["clock.turn_ms=1000"]   # faster

[format]   # everybody meets everybody
name = "round-robin"
games = 2        # both colours
[openings]
file = "openings.txt"   # balanced
[folders]
from = "kept"   # what they learned
[submissions]
opens = 2027-03-01T08:00:00+01:00   # Monday
closes = 2027-03-31T18:00:00+02:00
[contest]
starts = 2027-03-31T18:30:00+02:00   # half an hour later
[[agents]]
path = "brain"   # ours
[[agents]]
path = "deep/er"
name = "deeper"   # theirs
"""

INLINE = """\
name = 'cup'
policy = 'policy.toml:fast' # single quotes
change = [ 'clock.turn_ms=1000', ] # trailing comma
format = { name = 'round-robin', games = 2 } # inline
openings = { file = 'openings.txt' }
folders = { from = 'kept' }
submissions = { opens = 2027-03-01T08:00:00+01:00, closes = 2027-03-31T18:00:00+02:00 }
contest = { starts = 2027-03-31T18:30:00+02:00 }
agents = [{ path = 'brain' }, { path = 'deep/er', name = 'deeper' }] # inline tables
"""

DOTTED = """\
# dotted
name = "cup"
policy = "policy.toml:fast"
change = ["clock.turn_ms=1000"]
format.name = "round-robin"
format.games = 2 # two
openings.file = "openings.txt"
folders.from = "kept"
submissions.opens = 2027-03-01T08:00:00+01:00
contest.starts = 2027-03-31T18:30:00+02:00
agents = [
    { path = "brain" }, # one
    # between
    { path = "deep/er", name = "deeper" },
]
"""

TEXTS = {
    "template": TEMPLATE,
    "inline tables": INLINE,
    "dotted keys": DOTTED,
    "CR LF": TEMPLATE.replace("\n", "\r\n"),
}


@pytest.fixture(params=TEXTS)
def planned(tmp_path: Path, request: pytest.FixtureRequest) -> Planned:
    folder = tmp_path / "cup"
    for name in ("brain", "deep/er", "kept"):
        (folder / name).mkdir(parents=True)
    (folder / "openings.txt").write_text("h8i9\n")
    (folder / "policy.toml").write_bytes((POLICIES / "gomocup-standard.toml").read_bytes())
    (folder / "contest.toml").write_bytes(TEXTS[request.param].encode())
    return load_plan(folder)


def comments(text: str) -> list[str]:
    return [line[line.index("#") :] for line in text.splitlines() if "#" in line]


CHANGES: Mapping[str, Mapping[str, str]] = {
    "title": {"title": 'It\'s "new"'},
    "no title": {"title": ""},
    "about": {"about": "žluť \\ 五"},
    "opens": {"opens": "2027-01-01T08:00:00"},
    "closes": {"closes": "2027-03-31T16:00:00"},
    "no starts": {"starts": ""},
    "clock": {"turn_ms": "77", "match_ms": "7777"},
}


@pytest.mark.parametrize("wanted", CHANGES.values(), ids=[*CHANGES])
def test_settings_change_their_values_and_nothing_else(planned: Planned, wanted: Mapping[str, str]) -> None:
    text = _changed_text(planned, wanted)

    planned.path.write_bytes(text.encode())
    before, after = settings_of(planned).values, settings_of(load_plan(planned.path)).values
    assert {**before, **wanted} == after
    gone = [each for each in comments(planned.text) if each not in comments(text)]
    # A value that is removed takes the comment of its line with it.
    assert len(gone) <= sum(not value for value in wanted.values()), gone
    assert text.count("\n") == text.count("\r\n") or "\r\n" not in planned.text


def test_paths_of_the_next_contest_lead_to_the_same_files(planned: Planned, tmp_path: Path) -> None:
    values: dict[tuple[str, ...], Any] = {("name",): "next", ("change",): ["clock.turn_ms=2000"]}
    text = next_text(planned, tmp_path / "next", values, ["../cup"], "../cup")

    (tmp_path / "next").mkdir()
    (tmp_path / "next/contest.toml").write_bytes(text.encode())
    following = load_plan(tmp_path / "next")
    assert ["../cup/brain", "../cup/deep/er"] == [agent.path for agent in following.plan.agents]
    assert "../cup/openings.txt" == following.plan.openings.file
    assert "../cup/kept" == following.plan.folders.from_
    assert "../cup/policy.toml:fast" == following.plan.policy
    assert ("../cup",) == following.plan.ratings.with_
    assert following.plan.windows.closes is following.plan.windows.starts is None
    assert 2000 == following.policy.clock.turn_ms
    assert ("'../cup/openings.txt'" in text) == ("'openings.txt'" in planned.text)


def test_a_change_replaces_that_of_the_same_key() -> None:
    former = ("clock.turn_ms=300", "clock.match_ms = 9", "memory=1")

    assert ("clock.turn_ms=500", "clock.match_ms = 9", "memory=1") == with_changes(former, ["clock.turn_ms=500"])
    assert ("clock.turn_ms=300", "clock.match_ms=8", "memory=1") == with_changes(former, ["clock.match_ms=8"])
    assert (*former, "x=1") == with_changes(former, ["x=1"])


def test_folder_may_be_called_as_shipped_openings(tmp_path: Path) -> None:
    def document(folder: str) -> dict[str, object]:
        agents, ratings = [{"path": f"{folder}judge:mine"}], {"with": [f"{folder}judge:last"], "from": ""}
        fixed = {"openings": {"file": "judge:swap"}}
        return {"policy": f"{folder}p.toml:fast", "agents": agents, "ratings": ratings, **fixed}

    found = document("")
    move_paths(found, lambda path: f"../{path}" if path else path)

    assert document("../") == found
    (tmp_path / "judge:last").mkdir()
    assert "../judge:last" == relocated("judge:last", tmp_path, tmp_path / "next")


FILE = """\
# my cup
name = "cup"  # short
change = [
  "clock.turn_ms=5",  # a ] in a comment
]

[submissions]   # when
closes = 2027-03-31T18:00:00Z # evening
[[agents]]
path = "house-instant"
"""


def with_value(text: str, keys: tuple[str, ...], value: object) -> str:
    return edited(text, lambda document: set_value(document, keys, value))


@pytest.mark.parametrize(
    ("keys", "value", "before", "after"),
    [
        (("name",), "new", 'name = "cup"  # short', 'name = "new"  # short'),
        (("title",), "A cup", "]\n\n[sub", ']\ntitle = "A cup"\n\n[sub'),
        (("submissions", "closes"), date(2027, 4, 1), "2027-03-31T18:00:00Z # evening", "2027-04-01 # evening"),
        (("contest", "starts"), None, "", ""),
    ],
)
def test_one_value_is_changed_and_the_rest_stays(keys: tuple[str, ...], value: object, before: str, after: str) -> None:
    assert FILE.replace(before, after, 1) == with_value(FILE, keys, value)


def test_a_missing_table_is_made_an_array_is_replaced_and_a_value_is_removed() -> None:
    changed = with_value(FILE, ("contest", "starts"), date(2027, 5, 1))
    assert changed.startswith(FILE)
    assert {"starts": date(2027, 5, 1)} == tomllib.loads(changed)["contest"]
    changed = with_value(FILE, ("change",), ["clock.turn_ms=9"])
    assert ["clock.turn_ms=9"] == tomllib.loads(changed)["change"]
    assert {} == tomllib.loads(with_value(FILE, ("submissions", "closes"), None))["submissions"]


@pytest.mark.parametrize(
    ("former", "value", "after"), [("'a'", "b", "'b'"), ('"a"', "b", '"b"'), ("'a'", "b'", '"b\'"')]
)
def test_a_text_keeps_its_quotes_if_it_can(former: str, value: str, after: str) -> None:
    assert f"name = {after} # c\n" == with_value(f"name = {former} # c\n", ("name",), value)


def test_an_edit_of_a_value_that_is_no_table_is_refused() -> None:
    def change_the_parsed_file_only(document: Document) -> None:
        if type(document) is not dict:
            document["a"] = 2

    with pytest.raises(InputError, match="edit the file"):
        edited("a = [1]\n[[b]]\nc = 1\n", change_the_parsed_file_only)


@given(st.text(max_size=40), st.sampled_from(["name", "title"]))
def test_any_text_is_written_and_read_again(value: str, key: str) -> None:
    before, after = tomllib.loads(FILE), tomllib.loads(with_value(FILE, (key,), value))
    assert before | {key: value} == after
    assert re.findall("#.*", FILE) == re.findall("#.*", with_value(FILE, ("zone",), "UTC"))
