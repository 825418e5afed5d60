"""Every change that judge makes to a contest file, for every form of TOML."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.base.resources import POLICIES
from judge.contest.next_plan import next_text, with_changes
from judge.contest.plan import Planned, load_plan
from judge.contest.settings import _changed_text, settings_of
from tests.contest.plan_texts import TEXTS


@pytest.fixture
def planned(tmp_path: Path, request: pytest.FixtureRequest) -> Planned:
    folder = tmp_path / "cup"
    for name in ("brain", "deep/er", "kept"):
        (folder / name).mkdir(parents=True)
    (folder / "openings.txt").write_text("h8i9\n")
    (folder / "policy.toml").write_bytes((POLICIES / "gomocup-standard.toml").read_bytes())
    text: str = request.param
    (folder / "contest.toml").write_bytes(text.encode())
    return replace(load_plan(folder), text=text)


every_form = pytest.mark.parametrize("planned", TEXTS.values(), ids=[*TEXTS], indirect=True)

_TEXT = re.compile(r'"""(?s:.*?)"""|\'\'\'(?s:.*?)\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')


def comments(text: str) -> list[str]:
    """Comments in their order; quotes within comments of these files are outside of strings."""
    lines = _TEXT.sub("_", text.replace(', and a "', "")).splitlines()
    return [line[line.index("#") :] for line in lines if "#" in line]


def test_there_are_twenty_forms_of_one_plan(tmp_path: Path) -> None:
    assert 20 == len(TEXTS)
    for text in TEXTS.values():
        document = tomllib.loads(text)
        assert "cup" == document["name"]
        assert ["brain", "deep/er"] == [agent["path"] for agent in document["agents"]]


CHANGES: Mapping[str, Mapping[str, str]] = {
    "title": {"title": 'It\'s "new"'},
    "no title": {"title": ""},
    "about": {"about": "žluť \\ 五"},
    "opens": {"opens": "2027-01-01T08:00:00"},
    "closes": {"closes": "2027-03-31T16:00:00"},
    "no closes": {"closes": ""},
    "starts": {"starts": "2027-04-30T18:30:00"},
    "no starts": {"starts": ""},
    "clock": {"turn_ms": "77", "match_ms": "7777"},
}


@every_form
@pytest.mark.parametrize("wanted", CHANGES.values(), ids=[*CHANGES])
def test_settings_change_their_values_and_nothing_else(planned: Planned, wanted: Mapping[str, str]) -> None:
    text = _changed_text(planned, wanted)

    planned.path.write_bytes(text.encode())
    before, after = settings_of(planned).values, settings_of(load_plan(planned.path)).values
    assert {**before, **wanted} == after
    kept = [each for each in comments(planned.text) if each in comments(text)]
    gone = [each for each in comments(planned.text) if each not in kept]
    # A value that is removed takes the comment of its line with it.
    assert len(gone) <= sum(not value for value in wanted.values()) or "turn_ms" in wanted, gone
    if "\r\n" in planned.text:
        assert "\n" not in text.replace("\r\n", "")


@every_form
def test_paths_of_the_next_contest_lead_to_the_same_files(planned: Planned, tmp_path: Path) -> None:
    values: dict[tuple[str, ...], Any] = {("name",): "next", ("change",): ["clock.turn_ms=2000"]}
    text = next_text(planned, tmp_path / "next", values, ["../cup"], "../cup")

    (tmp_path / "next").mkdir()
    (tmp_path / "next/contest.toml").write_bytes(text.encode())
    following = load_plan(tmp_path / "next")
    assert [("brain", "../cup/brain"), ("deep/er", "../cup/deep/er")] == [
        (former.path, new.path) for former, new in zip(planned.plan.agents, following.plan.agents, strict=True)
    ]
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
    assert (*former, "x=1") == with_changes(former, ["x=1"])
    assert ("clock.turn_ms=300", "clock.match_ms=8", "memory=1") == with_changes(former, ["clock.match_ms=8"])
