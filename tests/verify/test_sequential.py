"""A sequential test whose games end in another order than they begin, and draws after its decision."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.contest.contest import Contest
from judge.contest_games import GameContent, GameResult, Pairing
from judge.publish.load import load_store
from judge.referee.seeds import Seed
from judge.tournament.formats.sequential import Sequential, SprtProgress
from judge.tournament.pairings import Competitor
from judge.tournament.results import PlayedPairing
from judge.transparency.keys import make_key
from judge.verify.export import verify_export
from judge.verify.schedule import pairing_problems
from tests.contest.cups import won_by
from tests.contest.rounds import decided_after
from tests.contests import nothing
from tests.publish.cups import Cast, Cup, player
from tests.publish.public import Public
from tests.verify.second_opinion import second_opinion

PAIR: Cast = {"anna": player("anna", 0.9), "bert": player("bert", 0.5)}
FORM = 'name = "sprt"\ntest = { elo0 = -100, elo1 = 100 }'


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Ed25519PrivateKey:
    return make_key(tmp_path_factory.mktemp("key") / "organiser.key")


def exported(folder: Path, key: Ed25519PrivateKey, *, annuls: bool = False) -> tuple[Public, int]:
    """A test in four slots, and its number of pairings that do not count."""
    with Cup(folder / "cup", PAIR, form=FORM, drawn=nothing) as cup:
        if annuls:
            cup.play(9, [2, 5], slots=4)
            cup.store.roll_back(cup.contest.name, "the judge was killed")
            cup.store.annul(cup.store.games(cup.contest.name)[0].id, "a power cut")
        cup.play(slots=4)
        contest, form = cup.contest, cup.contest.snapshot.format
        assert contest.is_over()
        assert isinstance(form, Sequential)
        decided = decided_after(form, contest.tournament.entries(), contest.standing().played)
        assert decided is not None
        return cup.export(folder, key), len(contest.store.pairings(contest.name)) - decided


@pytest.mark.parametrize("annuls", [False, True])
def test_games_that_ran_at_the_decision_are_no_problem(annuls: bool, tmp_path: Path, key: Ed25519PrivateKey) -> None:
    public, uncounted = exported(tmp_path, key, annuls=annuls)
    assert uncounted
    report = verify_export(public.directory, public.public_key)

    assert [] == list(report.problems)
    assert report.is_over
    assert [] == second_opinion(public.directory, public.public_key)


def test_each_pairing_of_a_long_test_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if a result was withdrawn, only the pairings that could change are counted again."""
    rounds = 120
    with Cup(tmp_path / "cup", PAIR, form=f"{FORM}\nrounds = {rounds}", drawn=nothing) as cup:
        store, name = cup.store, cup.contest.name
        while True:
            game = store.issue(name, "here")
            if game is None and not cup.contest.schedule_next():
                break
            if game is not None:
                store.accept(game.id, game.attempt, won_by(0))
                if (game.number, game.attempt) == (100, 1):
                    store.annul(game.id, "a power cut")
        contest = load_store(Contest(store, cup.planned))
    assert len(contest.pairings) == rounds
    counted: list[SprtProgress] = []
    right = Sequential.progress_with

    def counting(
        self: Sequential,
        progress: SprtProgress,
        games: Iterable[GameResult],
        agent: str,
        seen: Collection[GameContent] = (),
    ) -> SprtProgress:
        counted.append(progress)
        return right(self, progress, games, agent, seen)

    monkeypatch.setattr(Sequential, "progress_with", counting)
    for log in (contest.journal, None):
        counted.clear()
        assert [] == list(pairing_problems(contest, log, []))
        assert rounds - 1 <= len(counted) <= rounds + 1
    extra = [*contest.pairings, replace(contest.pairings[-1], round=rounds + 1)]
    (problem,) = pairing_problems(replace(contest, pairings=extra), None, [])
    assert problem == f"round {rounds + 1} does not follow from the entries and the earlier results"


def test_pairings_that_are_drawn_after_the_decision_are_found(
    tmp_path: Path, key: Ed25519PrivateKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An organiser who dislikes the decision plays on."""
    right = Sequential.next

    def forged(
        self: Sequential, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed
    ) -> list[Pairing]:
        found = right(self, entries, played, seed)
        late = len(played) - (decided_after(self, entries, played) or len(played))
        return found or (right(self, entries, [_unplayed(each) for each in played], seed) if late < 6 else [])

    with monkeypatch.context() as patched:
        patched.setattr(Sequential, "next", forged)
        public, uncounted = exported(tmp_path, key)
    assert uncounted == 6
    problems = verify_export(public.directory, public.public_key).problems

    assert any("does not follow from the entries and the earlier results" in problem for problem in problems)


def _unplayed(each: PlayedPairing) -> PlayedPairing:
    none: tuple[GameResult, ...] = ()
    return PlayedPairing(each.pairing, none, (0, 0), is_over=False)
