"""Games that repeat others: they score points, and are evidence once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from judge.contest_games import GameResult, Pairing, copies, without_copied_pairs, without_copies
from judge.contest_view.export import load_claimed
from judge.contest_view.values import moves_of
from judge.contest_view.view import ContestView
from judge.games.types import Verdict
from judge.publish.verify.export import verify_export
from judge.record.spec import read_record
from judge.statistics.ratings import join_contests, rate
from judge.statistics.sprt import Sprt, SprtDecision
from judge.testing import Agent
from judge.tournament.formats.base import Competitor
from judge.tournament.formats.sequential import Sequential
from judge.tournament.results import PlayedPairing
from tests.contests import Recipe, nothing
from tests.publish.cups import Cast, Cup, Player, player
from tests.publish.public import Public, change, sign_again


def repeating(name: str) -> Callable[[int], Agent]:
    """A program without chance, apart from its times."""
    return lambda seed: Player(name, 1, seed)


TWINS: Cast = {"anna": repeating("anna"), "bert": repeating("bert"), "cleo": player("cleo", 0.3)}
OPENING = (((7, 7), (8, 8)),)


def game(number: int, moves: str, first: str = "a", second: str = "b", winner: str | None = "a") -> GameResult:
    verdict = Verdict.DRAW if winner is None else Verdict.WIN
    pairing, leg = divmod(number - 1, 2)
    return GameResult(first, second, winner, verdict, round=pairing + 1, leg=leg, number=number, moves=moves)


def test_a_copy_has_the_same_agents_in_the_same_seats_and_the_same_moves() -> None:
    turned, against_another = game(2, "x", "b", "a"), game(5, "x", "a", "c")
    games = [game(1, "x"), turned, game(3, "x"), game(4, "y"), against_another, game(6, "x"), game(7, ""), game(8, "")]

    assert {3: 1, 6: 1} == copies(games)
    assert [1, 2, 4, 5, 7, 8] == [each.number for each in without_copies(games)]

    # A pair is a copy only if both games are.
    games = [game(number, moves) for number, moves in enumerate(["x", "y", "x", "z", "x", "y", "", ""], 1)]
    assert [1, 2, 3, 4, 7, 8] == [each.number for each in without_copied_pairs(games)]
    assert [3, 4, 7, 8] == [each.number for each in without_copied_pairs(games, {("a", "b", "x"), ("a", "b", "y")})]


def played(games: list[GameResult]) -> list[PlayedPairing]:
    return [
        PlayedPairing(Pairing("a", "b", each.round, 1), tuple(games[at : at + 2]), (0, 0))
        for at, each in enumerate(games)
        if not at % 2
    ]


def test_a_sequential_test_is_not_decided_by_copies() -> None:
    form, entries = Sequential(test=Sprt(elo0=-100, elo1=100)), [Competitor("a", 1), Competitor("b", 2)]
    repeated = [game(number, "xy"[number % 2]) for number in range(1, 401)]
    different = [each._replace(moves=str(each.number)) for each in repeated]

    assert SprtDecision.H1 is form.state(entries, played(different)).decision
    assert SprtDecision.GO_ON is form.state(entries, played(repeated)).decision
    assert form.state(entries, played(repeated[:2])) == form.state(entries, played(repeated))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Public, ContestView]:
    recipe = Recipe("copies", TWINS, 'name = "round-robin"\ngames = 4', options={"openings": OPENING, "seed": 5})
    public = recipe.export(tmp_path_factory.mktemp("copies"))
    return public, load_claimed(public.directory)


def test_copies_score_points_and_are_evidence_once(exported: tuple[Public, ContestView]) -> None:
    public, contest = exported
    repeated = [each for each in contest.games if {each.first, each.second} == {"anna", "bert"}]
    numbers = [each.number for each in repeated]

    assert {numbers[2]: numbers[0], numbers[3]: numbers[1]} == contest.copies
    assert 12 == len(contest.counted)
    assert 10 == len(contest.evidence)
    assert [8, 8, 8] == [line.done.games for line in contest.table.lines]
    assert {"anna": 6, "bert": 6, "cleo": 8} == {each.agent: each.games for each in contest.rated.values()}
    assert contest.ratings == rate(contest.evidence)
    (stage,) = contest.certainty
    assert 2 == stage.copies
    assert not [words for words in stage.sentences() if "more round" in words]
    assert "2 of 12 games are copies of others" in next(contest.copies_words)
    assert 10 == len(contest.as_rated.results)
    assert "2 of 12 games are copies of others" in (public.directory / "index.html").read_text()
    first = contest.copies[max(contest.copies)]
    assert f"copy of game {first}" in (public.directory / "games.html").read_text()


def test_game_that_repeats_one_of_a_joined_contest_counts_once(tmp_path: Path) -> None:
    form, plan = 'name = "round-robin"\ngames = 2', '[ratings]\nwith = ["../last"]\n'
    with Cup(tmp_path / "last", TWINS, form, openings=OPENING, name="last-cup", seed=5) as last:
        last.play()
    with Cup(tmp_path / "cup", TWINS, form, plan, openings=OPENING, seed=6, drawn=nothing) as cup:
        cup.play()
        public = cup.export(tmp_path)
    contest = load_claimed(public.directory)
    assert contest.joined is not None
    former = contest.joined.contests[0]
    rated = join_contests([former.rated, contest.as_rated], {}).ratings.ratings

    assert former.games == len(contest.evidence) == 6
    assert {"anna": 6, "bert": 6, "cleo": 8} == {each.agent: each.games for each in rated}
    assert {4} == {version.games for versions in contest.histories.values() for version in versions}
    assert [] == list(verify_export(public.directory, public.public_key).problems)


def test_moves_of_a_record_do_not_depend_on_times(exported: tuple[Public, ContestView]) -> None:
    public, contest = exported
    number, first = next(iter(contest.copies.items()))
    one, other = (read_record(public.directory / f"records/{at:05d}.json").record for at in (number, first))

    assert [ply.ms for ply in one.plies] != [ply.ms for ply in other.plies]
    assert one.id != other.id
    assert moves_of(one) == moves_of(other)
    spaced = one.plies[0].model_copy(update={"said": f" {one.plies[0].said}  "})
    assert moves_of(one) == moves_of(one.model_copy(update={"plies": (spaced, *one.plies[1:])}))
    assert moves_of(one) != moves_of(one.model_copy(update={"plies": one.plies[:-1]}))
    other_opening = one.spec.model_copy(update={"opening": ((0, 0),)})
    assert moves_of(one) != moves_of(one.model_copy(update={"spec": other_opening}))
    assert moves_of(one) != moves_of(one.model_copy(update={"verdict": Verdict.CRASH}))


def test_an_export_that_hides_its_copies_is_refused(exported: tuple[Public, ContestView], tmp_path: Path) -> None:
    public, contest = exported
    forged = public.copy_to(tmp_path)
    number = max(contest.copies)
    assert [] == verify_export(forged.directory, forged.public_key).problems

    def hide(rows: list[dict[str, object]]) -> None:
        rows[number - 1]["moves"] = "0" * 64

    change(forged.directory / "data/games.json", hide)
    sign_again(forged)

    problems = verify_export(forged.directory, forged.public_key).problems
    assert any("games.json" in problem for problem in problems), problems
