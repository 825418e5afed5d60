"""Seats of the first league from last year's contest, and promotion of new agents."""

from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.contest.plan import load_plan
from judge.contest.resolved_format import resolved_format
from judge.contest.runner import Scheduler
from judge.tournament.formats.groups import Leagues, Seats
from judge.tournament.formats.round_robin import RoundRobin
from judge.tournament.skipped_pairs import Skip, SourcedRating
from tests.contest.cups import better_seed, cup, play
from tests.contest.test_skip_ratings import earlier


def seats_of(folder: Path, lines: str, names: str) -> tuple[str, ...]:
    folder.mkdir(exist_ok=True)
    path = folder / "contest.toml"
    path.write_text(
        'name = "this-year"\npolicy = "gomocup-standard"\n[format]\nname = "leagues"\nsizes = [3]\npromoted = 1\n'
        f"[format.seats]\n{lines}\n"
    )
    found = resolved_format(load_plan(path), [(name, "") for name in names.split()])
    assert isinstance(found, Leagues)
    assert found.seats is not None
    return found.seats.agents


def test_seats_are_those_of_last_years_first_league(tmp_path: Path) -> None:
    """Agents 1, 2, 3 were seated and 4 rose; the last two of them lose their seats."""
    earlier(tmp_path / "last", Leagues(games=2, sizes=(3,), promoted=1), 6)
    lines = 'previous = "../last"'
    assert ("1", "2", "3") == seats_of(tmp_path / "this", lines, "1 2 3 4 5 6")
    assert ("1", "2") == seats_of(tmp_path / "this", f"{lines}\ndown = 2", "1 2 3 4 5 6")
    assert ("1new", "3") == seats_of(tmp_path / "this", f"{lines}\nsuccessors = {{ 1 = '1new' }}", "1new 3 4 5 6")
    assert ("9", "1", "2", "3") == seats_of(tmp_path / "this", f"{lines}\nagents = ['9']", "1 2 3 4 5 6 9")


def test_seats_of_a_round_robin_are_its_order(tmp_path: Path) -> None:
    earlier(tmp_path / "last", RoundRobin(games=2), 4)
    assert ("1", "2", "3") == seats_of(tmp_path / "this", 'previous = "../last"', "4 3 2 1 x")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("down = 1", "no seats: name last year's contest"),
        ('agents = ["1", "1"]', "an agent twice"),
        ('agents = ["1"]\nsuccessors = { a = "1" }', "successors need previous"),
        ('agents = ["x"]', r"format\.seats\.agents: 'x' does not take part"),
        ('previous = "../last"\nsuccessors = { 1 = "x" }', r"format\.seats\.successors: 'x' does not take part"),
        ('previous = "../last"\nsuccessors = { y = "2" }', "'y' was not in the first league"),
        ('previous = "../last"\ndown = 9', "no agent of this contest has a seat"),
        ('agents = ["1", "2", "3"]', "no second league"),
        ('previous = "../none"', r"format\.seats: .*none is missing; name an earlier contest"),
    ],
)
def test_unusable_seats_are_refused(lines: str, message: str, tmp_path: Path) -> None:
    earlier(tmp_path / "last", RoundRobin(games=2), 3)
    with pytest.raises(InputError, match=message):
        seats_of(tmp_path / "this", lines, "1 2 3")


def test_promoting_new_agents_needs_their_ratings(tmp_path: Path) -> None:
    path = tmp_path / "contest.toml"
    path.write_text(
        'name = "cup"\npolicy = "gomocup-standard"\n[format]\nname = "leagues"\nsizes = [2]\npromotes_new = true\n'
    )
    with pytest.raises(InputError, match="promotes_new needs skip"):
        load_plan(path)


def rated(*agents: str) -> Skip:
    return Skip(agents={agent: SourcedRating(rating=1500, reason="last year") for agent in agents})


def test_promoted_agents_stay_if_a_better_old_one_is_disqualified_later() -> None:
    """Without agent 4 also 5 would be among the first new ones, but the first league is drawn."""
    chosen = Leagues(sizes=(2,), promoted=1, promotes_new=True, skip=rated("1", "2", "4"))
    with cup(chosen, 6) as contest:
        play(contest, better_seed, 12)
        assert Scheduler(contest).schedule_next()
        contest.store.disqualify(contest.name, "4", "it broke a rule")
        play(contest, better_seed)
        pairings = contest.store.pairings(contest.name)
        assert {"1", "2", "3"} == {a for pairing in pairings if pairing.group == "1" for a in pairing.agents}


def test_seated_agents_play_the_first_league() -> None:
    chosen = Leagues(sizes=(2,), promoted=1, seats=Seats(agents=("5", "6")))
    with cup(chosen, 6) as contest:
        play(contest, better_seed)
        groups = {pairing.group: set[str]() for pairing in contest.store.pairings(contest.name)}
        for pairing in contest.store.pairings(contest.name):
            groups[pairing.group] |= pairing.agents
        assert {"2": set("1234"), "1": set("156")} == groups
