"""Every format through the store, from its first game to its last: numbers, ids, colours, byes, and who is out."""

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.contest.contest import Contest
from judge.contest.runner import Scheduler
from judge.contest_games import GameState, Pairing, ScheduledGame
from judge.games.gomoku.options import symmetries
from judge.record.spec import GameSpec
from judge.store.contests import Store
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.base import Rounds
from judge.tournament.formats.groups import Groups, Leagues
from judge.tournament.formats.knockout import Knockout
from judge.tournament.formats.round_robin import DoubleRoundRobin, Gauntlet, RoundRobin
from judge.tournament.formats.swiss import Swiss
from judge.tournament.results import Duel
from judge.tournament.schedule import opening_number, seats
from judge.tournament.snapshot import FailuresPlan
from tests.contest.cups import COMMITTED, better_seed, by_chance, cup, enter, play, reopen, scheduled, snapshot, won_by
from tests.examples import evidence, examples

OPENINGS = (((7, 7),), ((7, 7), (8, 8)), ((7, 7), (6, 8), (7, 9)))


def formats(games: int) -> list[AnyFormat]:
    return [
        RoundRobin(games=games, cycles=2),
        DoubleRoundRobin(games=games),
        Gauntlet(games=games, challengers=2),
        Swiss(games=games, rounds=3),
        Knockout(games=games, replays=1),
        Groups(games=games, groups=2, promoted=2),
        Leagues(games=games, sizes=(3, 2), promoted=1),
    ]


chosen = st.integers(1, 3).flatmap(lambda games: st.sampled_from(formats(games)))


@settings(max_examples=examples(15), deadline=None)
@given(chosen, st.integers(2, 6), st.none() | st.integers(0, 99), st.integers(1, 30), st.booleans())
def test_whatever_happens_in_it_a_contest_is_played_to_its_end_once(
    format_: AnyFormat, count: int, seed: int | None, stop_after: int, is_duel: bool
) -> None:
    """Somebody else goes on with it after some games, and a third one plays the same from the beginning; without a
    seed from the same secret."""
    chance = COMMITTED if seed is None else {"seed": seed}
    duel = Duel() if is_duel else None
    document = snapshot(format_, count, **chance, openings=OPENINGS, shuffle=True, duel=duel)
    rule = by_chance(seed or 0)
    with closing(Store("sqlite:///:memory:")) as store:
        first = play(enter(store, document), rule, stop_after)
        contest = reopen(store, document)
        games = [*first, *play(contest, rule)]

        assert contest.view().is_over
        assert not Scheduler(contest).schedule_next()
        assert scheduled(contest) == games
        assert len(games) == len({game.number for game in games})
        assert len(games) == len({game.id for game in games})
        _has_all_its_games(contest, games)
        with closing(Store("sqlite:///:memory:")) as other:
            again = enter(other, document)
            assert games == play(again, rule)
            assert contest.view().table == again.view().table
            assert contest.store.pairings("cup") == other.pairings("cup")


def _has_all_its_games(contest: Contest, games: list[ScheduledGame]) -> None:
    """Each pairing has so many games, with seats changing and two that follow each other from one opening."""
    of: dict[tuple[int, int], list[ScheduledGame]] = {}
    for game in games:
        of.setdefault((game.round, game.table), []).append(game)
    pairings = [pair for pair in contest.store.pairings("cup") if pair.second is not None]
    assert of.keys() == {(pair.round, pair.table) for pair in pairings}
    from_each: Counter[tuple[str, ...]] = Counter()
    for pair in pairings:
        pair_games = of[pair.round, pair.table]
        seats = [(pair.first, pair.second), (pair.second, pair.first)]
        due = contest.snapshot.format.games
        assert [seats[number % 2] for number in range(due)] == [(g.first, g.second) for g in pair_games]
        for game in pair_games:
            place = (pair.meeting * due + game.leg) // 2
            from_each[*sorted((game.first, game.second)), str(place)] += 1
            spec = GameSpec.model_validate_json(game.spec)
            assert (game.first, game.second) == (spec.seats[0].name, spec.seats[1].name)
    assert all(times <= 2 for times in from_each.values())


def test_a_disqualification_in_mid_contest_changes_no_earlier_pairing() -> None:
    """The first seed goes out after two rounds of four: it is paired no more, and its games count for nobody."""
    with cup(Swiss(games=2, rounds=4), 6) as contest:
        play(contest, better_seed, 12)
        before = contest.store.pairings("cup")

        contest.store.disqualify("cup", "1", "two entries")
        play(contest, better_seed)

        assert before == contest.store.pairings("cup")[: len(before)]
        later = contest.store.pairings("cup")[len(before) :]
        assert [3, 3, 3, 4, 4, 4] == [pair.round for pair in later]
        assert "1" not in {name for pair in later for name in (pair.first, pair.second)}
        assert 2 == len([pair for pair in later if pair.second is None])
        last = contest.view().table.lines[-1]
        assert ("1", 6) == (last.agent, last.place)
        assert contest.view().is_over


@pytest.mark.parametrize("way", ["void", "annul", "roll back", "hold"])
def test_a_game_of_a_disqualified_agent_is_not_played_again(way: str) -> None:
    """It was being played when the agent went out, and then it did not count."""
    with cup(RoundRobin(games=2), 2) as contest:
        store = contest.store
        issued = store.issue("cup", "here")
        assert issued
        if way == "hold":
            store.void(issued.id, 1, "no disk", None, allowed=1)
            store.disqualify("cup", "2", "two entries")
            store.release("cup", "fixed")
        else:
            store.disqualify("cup", "2", "two entries")
        if way == "void":
            store.void(issued.id, 1, "no disk", None, allowed=2)
        elif way == "annul":
            store.annul(issued.id, "the wrong opening")
        elif way == "roll back":
            store.roll_back("cup", "its judge was gone")

        assert [] == play(contest, better_seed)
        assert 2 == store.counts("cup")[GameState.CANCELLED]
        assert contest.view().is_over


@pytest.mark.parametrize("format_", formats(2), ids=lambda format_: str(format_.name) if format_ else "")
def test_agent_disqualified_at_the_end_is_last(format_: AnyFormat) -> None:
    with cup(format_, 6) as contest:
        play(contest, better_seed)
        assert "1" == contest.view().table.lines[0].agent

        contest.store.disqualify("cup", "1", "two entries")

        last = contest.view().table.lines[-1]
        assert ("1", 6) == (last.agent, last.place)
        assert last.points == 0
        assert 1 == contest.view().table.lines[0].place


def test_disqualified_agents_are_last_in_the_order_of_entry() -> None:
    with cup(RoundRobin(), 10) as contest:
        play(contest, better_seed)
        for agent in ("10", "2"):
            contest.store.disqualify("cup", agent, "two entries")

        assert [("2", 9), ("10", 9)] == [(line.agent, line.place) for line in contest.view().table.lines[-2:]]


@pytest.mark.parametrize("format_", formats(2), ids=lambda format_: format_.name)
def test_games_to_come_are_counted_without_results_where_none_decides(format_: AnyFormat) -> None:
    """Also after a disqualification, of an agent that has played."""
    with cup(format_, 7) as contest:
        for step in range(200):
            if step == 4:
                contest.store.disqualify("cup", "2", "a test")
            is_end = not play(contest, by_chance(3), 3)
            view, known = contest.view(), contest.tournament
            assert view.to_come == known.to_come(view.pairings, view.results, view.absent)
            if not view.left:
                assert view.is_over != known.goes_on(view.pairings, view.results, view.absent)
            if is_end:
                break
        assert view.is_over


def test_no_agent_is_promoted_before_its_league_is_over() -> None:
    """But where a game of it is voided later, whoever has risen stays in the league above."""
    with cup(Leagues(games=2, sizes=(2,), promoted=1), 5) as contest:

        def first() -> set[str]:
            view = contest.view()
            stages = view.stages
            assert {"League 1", "League 2"} == set(stages.values())
            risen = {agent for agent, stage in stages.items() if stage == "League 1"}
            assert risen == {line.agent for line in view.table.lines[: len(risen)]}
            return risen

        games = play(contest, better_seed, 5)
        assert {"1", "2"} == first()

        play(contest, better_seed, 1)
        assert {"1", "2", "3"} == first()

        assert Scheduler(contest).schedule_next()
        contest.store.annul(games[0].id, "the wrong opening")
        assert {"1", "2", "3"} == first()


@pytest.mark.parametrize("chance", [{"seed": 1}, COMMITTED], ids=["seed", "secret"])
def test_openings_come_shuffled_once_each_and_then_turned(chance: Mapping[str, Any]) -> None:
    """Eight games are four pairs: three openings in an order that chance decides, then the first of a new order."""
    options = {"openings": OPENINGS, "shuffle": True, "transform": True, **chance}
    with cup(RoundRobin(games=8), 2, **options) as contest:
        opened = [GameSpec.model_validate_json(game.spec).opening for game in scheduled(contest)]

    assert opened[::2] == opened[1::2]
    assert set(OPENINGS) == set(opened[:6])
    mirror = symmetries(15, 15)[1]
    assert opened[6] in {tuple(mirror(x, y) for x, y in opening) for opening in OPENINGS}


def test_without_shuffle_openings_come_in_the_order_of_the_file() -> None:
    with cup(RoundRobin(games=8), 2, openings=OPENINGS) as contest:
        opened = [GameSpec.model_validate_json(game.spec).opening for game in scheduled(contest)]

    assert [*OPENINGS, OPENINGS[0]] == opened[::2]


def test_all_pairings_play_the_same_openings() -> None:
    options = {"openings": OPENINGS, "shuffle": True}
    with cup(RoundRobin(games=4), 4, **options) as contest:
        of: dict[tuple[int, int], list[object]] = {}
        for game in scheduled(contest):
            spec = GameSpec.model_validate_json(game.spec)
            of.setdefault((game.round, game.table), []).append(spec.opening)

    assert 1 == len({tuple(opened) for opened in of.values()})


@pytest.mark.parametrize("by", ["name", "secret"])
def test_contests_of_one_store_share_no_game(by: str) -> None:
    """The same agents, the same seed, the same openings: only the name tells them apart, or what they committed to."""
    chance = {} if by == "name" else COMMITTED
    with closing(Store("sqlite:///:memory:")) as store:
        one = enter(store, snapshot(RoundRobin(), 4))
        other = enter(store, snapshot(RoundRobin(), 4, name="plate", **chance))

        assert 12 == len(scheduled(one)) == len(scheduled(other))
        assert not {g.id for g in scheduled(one)} & {g.id for g in scheduled(other)}
        play(one, better_seed)
        assert one.view().is_over
        assert not other.view().is_over


_ANOTHER_PROCESS = """
import sys
from contextlib import closing
from judge.tournament.snapshot import read_snapshot
from judge.store.contests import Store
from tests.contest.cups import by_chance, play, reopen
with closing(Store(sys.argv[1])) as store:
    for game in play(reopen(store, read_snapshot(store.document("cup"))), by_chance(3)):
        print(game.id)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "format_",
    [pytest.param(formats(1)[3], id="swiss"), pytest.param(formats(1)[5], id="groups", marks=evidence)],
)
def test_another_process_continues_with_the_same_games(tmp_path: Path, format_: AnyFormat) -> None:
    """It has an order of its own in its sets, and plays what this one would have played."""
    with cup(format_, 7) as contest:
        expected = [game.id for game in play(contest, by_chance(3))]
        table = contest.view().table
    url = f"sqlite:///{tmp_path / 'cup.db'}"
    with closing(Store(url)) as store:
        game_ids = [game.id for game in play(enter(store, snapshot(format_, 7)), by_chance(3), 4)]
    there = subprocess.run(
        [sys.executable, "-c", _ANOTHER_PROCESS, url],
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    game_ids += there.stdout.split()

    assert expected == game_ids
    with closing(Store(url)) as store:
        assert table == reopen(store, snapshot(format_, 7)).view().table


@pytest.mark.parametrize(
    ("games", "crashes", "failures", "is_out"),
    [
        (20, 2, FailuresPlan(), False),
        (20, 3, FailuresPlan(), True),
        (19, 19, FailuresPlan(), False),
        (2, 2, FailuresPlan(limit=0.5, after=1), True),
        (2, 2, FailuresPlan(limit=1.0, after=1), False),
    ],
    ids=["a tenth", "more", "too few games", "over the limit of an organiser", "at that limit"],
)
def test_agent_failing_more_than_allowed_is_out(games: int, crashes: int, failures: FailuresPlan, is_out: bool) -> None:
    with cup(RoundRobin(games=games), 2, failures=failures) as contest:
        play(contest, lambda game: won_by(int(game.first == "2"), "crash") if game.number <= crashes else won_by(None))

        assert (["2"] if is_out else []) == list(contest.view().out)
        assert contest.view().is_over


def games_of(pairing: Pairing, games: int) -> list[tuple[str, str, int]]:
    """Who sits where, and the number of the opening, for each game of a pairing."""
    return [(*seats(pairing, game), opening_number(pairing, game, games)) for game in range(games)]


def test_two_games_share_an_opening_with_seats_changed_and_a_bye_is_no_game() -> None:
    pairing = Pairing("a", "b", 3, 2)

    assert [("a", "b", 0), ("b", "a", 0), ("a", "b", 1), ("b", "a", 1)] == games_of(pairing, 4)
    with pytest.raises(ValueError, match="a bye has no games"):
        seats(Pairing("a", None, 1, 4), 0)


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(1, 4))
def test_over_all_meetings_each_opening_is_played_from_both_sides(games: int, meetings: int) -> None:
    """With an odd number of games too, where an opening's second half comes in the next meeting."""
    rounds = Rounds([])
    seated: dict[int, list[str]] = {}
    for _ in range(meetings):
        [pairing] = rounds.add([("a", "b", "")])
        for first, _, opening in games_of(pairing, games):
            seated.setdefault(opening, []).append(first)

    whole, half = divmod(games * meetings, 2)
    assert list(range(whole + half)) == sorted(seated)
    # With an even number of games nobody need change seats between meetings, yet both halves are played.
    assert all(sorted(seated[opening]) == ["a", "b"] for opening in range(whole))


def test_repeated_pairing_changes_seats() -> None:
    earlier = [Pairing("a", "b", 1, 1), Pairing("c", "d", 1, 2)]
    tables = Rounds(earlier).add([("a", "b", ""), ("d", "c", ""), ("e", None, "")])

    assert [("b", "a", 1), ("d", "c", 1), ("e", None, 0)] == [
        (pairing.first, pairing.second, pairing.meeting) for pairing in tables
    ]
    assert [1, 2, 3] == [pairing.table for pairing in tables]
