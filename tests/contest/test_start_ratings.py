"""Start ratings of a ladder: from a folder or an export of the last season, or from another contest."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.contest.plan import load_plan
from judge.contest.plan_edits import next_text
from judge.contest.resolved_format import resolved_format
from judge.statistics.online_ratings import Prior
from judge.tournament.formats.ladder import Ladder, StartRating
from tests.contests import nothing, submit
from tests.examples import examples
from tests.publish.cups import STRONG_TO_WEAK, Cup, player
from tests.verify.second_opinion import accepted
from tests.verify.test_every_claim import Path_, kinds
from tests.verify.test_ladder import history_of, joins, versions

SEASON = 'name = "ladder"\ntotal_games = 24\nanchors = { dora = 1500 }'
FAILURES = "[failures]\nlimit = 1"
HEAD = 'name = "next"\npolicy = "gomocup-standard"\n[format]\n'


@pytest.fixture(scope="module")
def last(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    """A season that is over, with an export next to its folder."""
    folder = tmp_path_factory.mktemp("seasons")
    with Cup(folder / "last", STRONG_TO_WEAK, SEASON, FAILURES, drawn=nothing) as cup:
        cup.play()
        public = cup.export(folder)
        (folder / "export").symlink_to(public.directory)
        yield cup


def started(last: Cup, source: str, more: str = "anchors = { dora = 1500 }", **digests: str) -> Ladder:
    """The terms of the next season, with the same files except for `digests`."""
    folder = last.folder.parent / "next"
    folder.mkdir(exist_ok=True)
    (folder / "contest.toml").write_text(f'{HEAD}name = "ladder"\n{more}\n[ratings]\nfrom = "{source}"\n')
    agents = {entry.name: entry.seat.digest for entry in last.contest.snapshot.entries}
    form = resolved_format(load_plan(folder), [*{**agents, **digests}.items()])
    assert isinstance(form, Ladder)
    return form


def test_folder_and_export_give_the_same_ratings_on_the_scale_of_the_anchors(last: Cup) -> None:
    form = started(last, "../last", newcomer="0" * 64)
    assert form == started(last, "../export", newcomer="0" * 64)
    assert form.ratings.keys() == STRONG_TO_WEAK.keys() - {"dora"}
    ratings = [each.rating for each in form.ratings.values()]
    assert max(ratings) - min(ratings) > 50
    assert all(500 < rating < 2500 for rating in ratings)
    assert all(30 < each.deviation < 500 for each in form.ratings.values())


def test_other_files_have_the_deviation_of_a_new_version_and_the_contest_file_comes_first(last: Cup) -> None:
    same, changed = (started(last, "../last", **files).ratings["anna"] for files in ({}, {"anna": "1" * 64}))
    assert same.rating == changed.rating
    assert changed.deviation == pytest.approx((same.deviation**2 + 200**2) ** 0.5, abs=0.02)
    anchors = "anchors = { dora = 1500 }\n"
    widest = f"{anchors}version_deviation = 2000"
    assert started(last, "../last", widest, anna="1" * 64).ratings["anna"].deviation == 2000
    given = f"{anchors}ratings = {{ anna = {{ rating = 1700, deviation = 20 }} }}"
    assert started(last, "../last", given).ratings["anna"] == StartRating(rating=1700, deviation=20)
    # Without anchors the last ones keep the scale.
    form = started(last, "../last", "")
    assert (StartRating(rating=1500, deviation=200), same) == (form.ratings["dora"], form.ratings["anna"])


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("../last", r"'dora' is 1600, and was 1500 in ../last; write the same rating"),
        ("../nowhere", r"ratings.from: .*nowhere is missing; name an earlier contest's folder"),
    ],
)
def test_season_without_a_common_scale_is_refused(last: Cup, source: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        started(last, source, "anchors = { dora = 1600 }")


def test_terms_have_the_ratings_of_agents_that_may_join_later(last: Cup) -> None:
    form = started(last, "../last", **{"crash.test": "5" * 64})
    folder = last.folder.parent / "next"
    files = {entry.name: entry.seat.digest for entry in last.contest.snapshot.entries}
    agents = [("bert", files["bert"]), ("dora", files["dora"]), ("newcomer", "0" * 64)]
    fewer = resolved_format(load_plan(folder), agents)
    assert isinstance(fewer, Ladder)
    assert fewer.ratings.keys() == form.ratings.keys()
    assert fewer.ratings["bert"] == form.ratings["bert"]
    assert not fewer.ratings["bert"].digest
    anna = last.contest.snapshot.by_name()["anna"].seat.digest
    assert fewer.ratings["anna"].digest == anna
    assert fewer.start_rating("Anna", anna) == form.ratings["anna"]
    other = fewer.start_rating("anna", "1" * 64)
    changed = started(last, "../last", anna="1" * 64).ratings["anna"]
    assert other is not None
    assert other.rating == changed.rating
    # The deviation in the terms is rounded before it grows.
    assert other.deviation == pytest.approx(changed.deviation, abs=0.02)
    assert fewer.start_rating("newcomer", "0" * 64) is None


@pytest.mark.slow
def test_an_agent_of_the_last_season_joins_later_at_its_last_rating(tmp_path: Path) -> None:
    same = 'zoe = { rating = 1712.25, deviation = 70.5, digest = "%s" }'
    with Cup(tmp_path / "files", STRONG_TO_WEAK, SEASON, FAILURES) as cup:
        digest = cup.store_files("zoe")
    other = 'yan = { rating = 1433, deviation = 60, digest = "' + "1" * 64 + '" }'
    form = f"\nratings = {{ {same % digest}, {other} }}"
    with joins(tmp_path / "cup", form) as cup:
        cup.cast = {**cup.cast, "yan": player("yan", 0.5)}
        submit(cup, "yan", "kim")
        cup.play(3)
        history = history_of(cup)
        priors = {name: history.priors[name] for name in ("zoe", "yan")}
        assert priors == {"zoe": Prior(1712.25, 70.5), "yan": Prior(1433, 208.81)}
        entries = cup.contest.snapshot.by_name()
        assert entries["zoe"].start == StartRating(rating=1712.25, deviation=70.5)
        assert entries["yan"].start == StartRating(rating=1433, deviation=208.81)
        cup.play()
        accepted(cup.export(tmp_path))


def test_only_a_ladder_starts_from_ratings(tmp_path: Path) -> None:
    (tmp_path / "contest.toml").write_text(f'{HEAD}name = "swiss"\nrounds = 3\n[ratings]\nfrom = "../x"\n')
    with pytest.raises(InputError, match=r"ratings.from: swiss does not start from ratings, only ladder does"):
        load_plan(tmp_path)


def test_a_season_can_start_from_a_round_robin(tmp_path: Path) -> None:
    with Cup(tmp_path / "last", STRONG_TO_WEAK, more=FAILURES, drawn=nothing) as cup:
        cup.play()
        form = started(cup, "../last")
        assert form.ratings.keys() == STRONG_TO_WEAK.keys() - {"dora"}
        assert all(500 < each.rating < 2500 for each in form.ratings.values())
        with pytest.raises(InputError, match=r"no anchor took part in ../last, so its ratings have another scale"):
            started(cup, "../last", "anchors = { other = 1500 }")


def test_a_season_with_new_versions_gives_the_rating_of_the_newest(tmp_path: Path) -> None:
    with versions(tmp_path / "last") as cup:
        cup.play()
        assert cup.contest.view().is_over
        newest = cup.contest.snapshot.by_name()["zoe.2"].seat.digest
        form = started(cup, "../last", zoe=newest)
        assert form.ratings["zoe"] == form.ratings["zoe.2"]


def test_a_season_that_starts_from_ratings_verifies_by_both_verifiers(tmp_path: Path, last: Cup) -> None:
    ratings = started(last, "../last").ratings
    given = ", ".join(
        f'"{agent}" = {{ rating = {each.rating}, deviation = {each.deviation} }}' for agent, each in ratings.items()
    )
    with Cup(tmp_path / "cup", STRONG_TO_WEAK, f"{SEASON}\nratings = {{ {given} }}", FAILURES, drawn=nothing) as cup:
        cup.play()
        assert [game.first for game in cup.store.games("spring-cup")] != [
            game.first for game in last.store.games("spring-cup")
        ]
        public = cup.export(tmp_path)
    accepted(public)


def test_the_next_file_starts_from_the_last_season_and_has_no_old_end(last: Cup) -> None:
    planned = load_plan(last.folder)
    with_end = planned.text.replace("total_games = 24", "total_games = 24\nends = 2026-01-31T18:00:00Z")
    place = last.folder.parent / "next"
    text = next_text(replace(planned, text=with_end), place, {("name",): "next"}, ["../last"], "../last")
    assert "total_games = 24\nanchors" in text
    assert '[ratings]\nwith = ["../last"]\nfrom = "../last"\n' in text


@pytest.mark.parametrize(
    ("anchors", "problem"),
    [
        ("{ dora = 1500, Anna = 1500 }", r"format.anchors: 'Anna' does not take part; did you mean 'anna'\?"),
        ("{ nosuch = 1500 }", r"format.anchors: 'nosuch' does not take part; there are anna, bert"),
        ("{ anna = 1, bert = 2 }", r"format.anchors: all agents are anchors, so no game is drawn; remove one"),
    ],
)
def test_wrong_anchor_is_named(anchors: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "contest.toml").write_text(f'{HEAD}name = "ladder"\nanchors = {anchors}\n')
    agents = [(name, "1" * 64) for name in ("anna", "bert", *(["dora"] if "dora" in anchors else []))]
    with pytest.raises(InputError, match=problem):
        resolved_format(load_plan(tmp_path), agents)


VALUES: tuple[Any, ...] = (None, 0, -1, 10**30, 1e308, "", "anna", "nosuch", [], {}, True, "x" * 5000, "win", "0" * 64)
TABLES = ("games", "pairings", "disqualified", "journal")


@pytest.fixture(scope="module")
def places(last: Cup) -> Sequence[Sequence[tuple[Path, Path_]]]:
    """The places of all values in a copy of the export, by their kinds."""
    folder = last.folder.parent
    for path in ("contest.json", "chance.json", *(f"data/{name}.json" for name in TABLES)):
        (folder / "forged" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "forged" / path).write_bytes((folder / "export" / path).read_bytes())
    return list(kinds(folder / "forged").values())


@settings(max_examples=examples(150))
@given(data=st.data())
def test_forged_export_gives_ratings_or_is_refused(
    last: Cup, places: Sequence[Sequence[tuple[Path, Path_]]], data: st.DataObject
) -> None:
    path, place = data.draw(st.sampled_from(data.draw(st.sampled_from(places))))
    *outer, key = place[: data.draw(st.integers(1, len(place)))]
    before = path.read_bytes()
    document = json.loads(before)
    changed: Any = reduce(getitem, outer, document)
    former = changed[key]
    change = data.draw(st.sampled_from(("set", "set", "remove", "copy")))
    if change == "remove":
        del changed[key]
    elif change == "copy" and isinstance(changed, list):
        changed.append(former)
    else:
        changed[key] = data.draw(st.sampled_from(VALUES))
    path.write_text(json.dumps(document))
    try:
        assert started(last, "../forged").model_dump_json()
    except InputError as error:
        assert "contest.toml" in str(error) or "forged" in str(error)  # noqa: PT017
    finally:
        path.write_bytes(before)
