"""Each list of each document of an export is grown: it is refused, or the cost grows in proportion to its size."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from judge.base.errors import InputError
from judge.contest_view.export import load_export
from judge.contest_view.joined import JOINED, FormerContest, Joined
from judge.publish.manifest import write_manifest
from judge.publish.verify.export import verify_export
from judge.statistics.ratings import join_contests
from judge.tournament.formats import AnyFormat
from judge.tournament.snapshot import read_snapshot, refuse_many_entries, refuse_missing_pairings
from tests.examples import EVIDENCE
from tests.hostile import cost
from tests.publish.public import Public

SMALL, LARGE = 60, 240
"""Elements of a grown list."""

EXCESS = 1.5
"""How much more than in proportion the cost may grow; in N squared it would be 4."""

FIXED_LINES, FIXED_BYTES = 60_000, 4 << 20

Path_ = tuple[str | int, ...]

FORMATS: dict[str, dict[str, object]] = {
    "round robin": {},
    "gauntlet": {"name": "gauntlet", "games": 1, "ranking": ["points"]},
    "ladder": {"name": "ladder", "total_games": 1},
    "knockout": {"name": "knockout", "games": 1},
}


def lists(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    if isinstance(value, list) and value:
        yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value[:1]):
            yield from lists(inner, (*path, key))


def renumbered(value: Any, number: int) -> Any:
    """As `value`, but with another name, number, place and digest."""
    if isinstance(value, dict):
        return {key: renumbered(inner, number) for key, inner in value.items()}
    if isinstance(value, list):
        return [renumbered(inner, number) for inner in value]
    if isinstance(value, str):
        if re.fullmatch("[0-9a-f]{20,64}", value):
            return f"{number:0{len(value)}x}"
        return f"{value}{number}" if re.fullmatch("[a-z]+", value) else value
    return number if isinstance(value, int) and not isinstance(value, bool) else value


def grow(name: str, path: Path_, folder: Path, count: int) -> None:
    file = folder / name
    document = json.loads(file.read_bytes())
    found = document
    for key in path:
        found = found[key]
    found += [renumbered(found[-1], len(found) + number + 1) for number in range(count)]
    file.write_text(json.dumps(document))


def is_in_proportion(public: Public, folder: Path, change: Callable[[Path, int], None]) -> tuple[bool, str]:
    costs = []
    for count in (SMALL, LARGE):
        copy = public.copy_to(folder / str(count))
        change(copy.directory, count)
        write_manifest(copy.directory, "spring-cup", copy.key)
        verify_export(copy.directory, copy.public_key)  # imports modules and fills caches
        costs.append(cost(partial(verify_export, copy.directory, copy.public_key)))
    (lines, memory), (more_lines, more_memory) = costs
    most = LARGE / SMALL * EXCESS
    is_bounded = more_lines <= most * lines + FIXED_LINES and more_memory <= most * memory + FIXED_BYTES
    return is_bounded, f"{lines} to {more_lines} lines, {memory} to {more_memory} bytes"


def test_every_list_of_an_export_costs_no_more_than_in_proportion(logged: Public, tmp_path: Path) -> None:
    """Lists of contest.json and of the tables; in the full lane one of each file."""
    names = ["contest.json", *(f"data/{file.name}" for file in sorted((logged.directory / "data").glob("*.json")))]
    found = [(name, path) for name in names for path in lists(json.loads((logged.directory / name).read_bytes()))]
    places = found if EVIDENCE else [*dict(found).items()]
    assert {"contest.json", "data/games.json", "data/journal.json", "data/standings.json"} <= dict(places).keys()
    wrong = {}
    for number, (name, path) in enumerate(places):
        is_bounded, words = is_in_proportion(logged, tmp_path / str(number), partial(grow, name, path))
        if not is_bounded:
            wrong[name, path] = words
    assert {} == wrong


@pytest.mark.parametrize("form", FORMATS)
def test_entries_without_games_cost_no_more_than_in_proportion(form: str, logged: Public, tmp_path: Path) -> None:
    def enter(folder: Path, count: int) -> None:
        file = folder / "contest.json"
        document = json.loads(file.read_bytes())
        document["entries"] = [renumbered(document["entries"][0], number + 1) for number in range(count)]
        if FORMATS[form]:
            document |= {"format": FORMATS[form]}
        file.write_text(json.dumps(document))
        for table in (folder / "data").glob("*.json"):
            table.write_text('{"agents": [], "points": []}' if table.stem == "crosstable" else "[]")

    is_bounded, words = is_in_proportion(logged, tmp_path, enter)
    assert is_bounded, words


@pytest.mark.parametrize(
    ("form", "most"),
    [
        ({"name": "swiss", "rounds": 1}, 500),
        ({"name": "gauntlet"}, 1000),
        ({"name": "knockout"}, 1000),
        ({"name": "groups", "groups": 100}, 1000),
        ({"name": "ladder"}, 2500),
    ],
    ids=lambda value: str(value["name"]) if isinstance(value, dict) else "",
)
def test_contest_of_too_many_entries_is_refused(form: dict[str, object], most: int, logged: Public) -> None:
    document = json.loads((logged.directory / "contest.json").read_bytes()) | {"format": form}
    document["entries"] = [renumbered(document["entries"][0], number + 1) for number in range(most + 1)]

    with pytest.raises(InputError, match=rf"contest\.json: {most + 1} entries, but a contest of .* has at most {most}"):
        read_snapshot(json.dumps(document))


def test_late_entries_count_as_entries(logged: Public) -> None:
    document = json.loads((logged.directory / "contest.json").read_bytes())
    document |= {"format": {"name": "swiss", "rounds": 1}}
    late = [renumbered(document["entries"][0], number) for number in range(3, 502)]

    with pytest.raises(InputError, match="501 entries, but a contest of format swiss has at most 500"):
        read_snapshot(json.dumps(document)).with_late(map(json.dumps, late))


@pytest.mark.parametrize(
    ("form", "entries", "drawn"),
    [
        ({"name": "round-robin", "cycles": 900_000}, 2, 900_000),
        ({"name": "double-round-robin"}, 300, 44_850),
        ({"name": "groups", "groups": 2, "cycles": 100_000}, 4, 200_000),
        ({"name": "leagues", "sizes": [2], "cycles": 100_000}, 4, 100_000),
        ({"name": "leagues", "sizes": [2, 2, 2], "cycles": 100_000}, 4, 100_000),
    ],
    ids=lambda value: str(value["name"]) if isinstance(value, dict) else "",
)
def test_far_fewer_pairings_than_the_format_draws_are_refused(
    form: dict[str, object], entries: int, drawn: int
) -> None:
    chosen: AnyFormat = TypeAdapter(AnyFormat).validate_python(form)
    refuse_missing_pairings(chosen, entries, drawn, "it")

    with pytest.raises(InputError, match=f"the format draws {drawn} pairings at the start, but there are 3"):
        refuse_missing_pairings(chosen, entries, 3, "it")


@pytest.mark.parametrize(
    "words",
    [{"seats": {"agents": [str(number) for number in range(1000)]}}, {"sizes": [1] * 500, "promoted": 500}],
    ids=["seats", "promotion"],
)
def test_leagues_with_too_many_pairings_are_refused(words: dict[str, object]) -> None:
    """Seats replace the first size, and promoted agents play again."""
    form = {"name": "leagues", "sizes": [1] * 1000, "promoted": 1, "cycles": 1000} | words

    with pytest.raises(InputError, match="more than 1000000 pairings"):
        refuse_many_entries(TypeAdapter(AnyFormat).validate_python(form), 1000, "it")


def former(agents: int) -> FormerContest:
    names = [f"a{number}" for number in range(agents)]
    games = {"won": [""], "drawn": [], "lost": [], "faulty": []}
    pairs = [{"first": one, "second": other, **games} for one, other in pairwise(names)]
    programs = {name: f"{number:064x}" for number, name in enumerate(names)}
    return FormerContest.model_validate(
        {"name": "last", "began": "2026-01-01T00:00:00+00:00", "manifest": None, "programs": programs, "results": pairs}
    )


def test_joined_contests_of_too_many_programs_are_refused(logged_copy: Public) -> None:
    path = logged_copy.directory / JOINED
    path.write_bytes(Joined(anchors={}, contests=(former(1500),)).encoded())
    assert load_export(logged_copy.directory)

    contest = json.loads(former(1501).model_dump_json())
    path.write_text(json.dumps({"document": "judge-joined-1", "anchors": {}, "contests": [contest]}))
    with pytest.raises(InputError, match="more than 1500 different programs"):
        load_export(logged_copy.directory)


def test_ratings_of_a_joined_contest_take_no_interpreted_work_in_n_squared() -> None:
    costs = [cost(partial(join_contests, [former(count).rated], {})) for count in (SMALL, LARGE)]
    assert costs[1][0] <= LARGE / SMALL * EXCESS * costs[0][0] + FIXED_LINES


@pytest.mark.parametrize(
    ("ends", "problem"),
    [
        ("9999-12-31T23:59:59-12:00", "the year 9999"),
        ("0001-01-01T00:00:00+12:00", "the year 1"),
        ("2026-01-01T00:00:00", "format.ends has no offset"),
    ],
)
def test_impossible_end_of_a_season_is_a_problem(ends: str, problem: str, logged_copy: Public) -> None:
    path = logged_copy.directory / "contest.json"
    document = json.loads(path.read_bytes()) | {"format": {"name": "ladder", "total_games": 1, "ends": ends}}
    path.write_text(json.dumps(document))
    journal = logged_copy.directory / "data/journal.json"
    rows = json.loads(journal.read_bytes())
    journal.write_text(json.dumps([rows[0] | {"event": "season-ended", "text": "x"}]))

    problems = verify_export(logged_copy.directory, logged_copy.public_key).problems
    assert any(problem in each for each in problems), problems
    with suppress(InputError):
        load_export(logged_copy.directory)
