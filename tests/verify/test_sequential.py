"""A sequential test whose games end in another order than they begin, and draws after its decision."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from judge.contest.contest import Contest
from judge.contest.runner import Scheduler
from judge.contest_games import Pairing
from judge.publish.verify.draws import pairing_problems
from judge.publish.verify.export import verify_export
from judge.record.seeds import Seed
from judge.tournament.formats.base import Competitor
from judge.tournament.formats.sequential import Sequential
from judge.tournament.results import PlayedPairing
from tests.contest.cups import won_by
from tests.contest.rounds import decided_after
from tests.contests import nothing
from tests.publish.cups import Cast, Cup, player
from tests.publish.public import Public
from tests.verify.second_opinion import accepted

PAIR: Cast = {"anna": player("anna", 0.9), "bert": player("bert", 0.5)}
FORM = 'name = "sprt"\ntest = { elo0 = -100, elo1 = 100 }'


def exported(folder: Path, *, annuls: bool = False) -> tuple[Public, int]:
    """A test in four slots, and its number of pairings that do not count."""
    with Cup(folder / "cup", PAIR, form=FORM, drawn=nothing) as cup:
        if annuls:
            cup.play(9, [2, 5], slots=4)
            cup.store.roll_back(cup.contest.name, "the judge was killed")
            cup.store.annul(cup.store.games(cup.contest.name)[0].id, "a power cut")
        cup.play(slots=4)
        contest, form = cup.contest, cup.contest.snapshot.format
        assert contest.view().is_over
        assert isinstance(form, Sequential)
        decided = decided_after(form, contest.tournament.entries(), contest.view().paired)
        assert decided is not None
        return cup.export(folder), len(contest.store.pairings(contest.name)) - decided


@pytest.mark.parametrize("annuls", [False, True])
def test_games_that_ran_at_the_decision_are_no_problem(annuls: bool, tmp_path: Path) -> None:
    public, uncounted = exported(tmp_path, annuls=annuls)
    assert uncounted
    assert accepted(public).is_over


def test_result_that_is_withdrawn_before_the_next_draw_does_not_count(tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", PAIR, form=f"{FORM}\nrounds = 30", drawn=nothing) as cup:
        store, name = cup.store, cup.contest.name
        scheduler = Scheduler(cup.contest)
        while (game := store.issue(name, "here")) or scheduler.schedule_next():
            if game is not None:
                store.accept(game.id, game.attempt, won_by(0))
                if (game.number, game.attempt) == (20, 1):
                    store.annul(game.id, "a power cut")
        contest = Contest(store, cup.planned).read()
    assert len(contest.pairings) == 30
    assert [] == list(pairing_problems(contest, contest.journal, {}))
    extra = [*contest.pairings, replace(contest.pairings[-1], round=31)]
    (problem,) = pairing_problems(replace(contest, pairings=extra), contest.journal, {})
    assert problem == "round 31 does not follow from the entries and the earlier results"


def test_pairings_that_are_drawn_after_the_decision_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An organiser who dislikes the decision plays on."""
    right = Sequential.next

    def forged(
        self: Sequential, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed
    ) -> list[Pairing]:
        found = right(self, entries, played, seed)
        late = len(played) - (decided_after(self, entries, played) or len(played))
        unplayed = [PlayedPairing(each.pairing, (), (0, 0), is_over=False) for each in played]
        return found or (right(self, entries, unplayed, seed) if late < 6 else [])

    with monkeypatch.context() as patched:
        patched.setattr(Sequential, "next", forged)
        public, uncounted = exported(tmp_path)
    assert uncounted == 6
    problems = verify_export(public.directory, public.public_key).problems

    assert any("does not follow from the entries and the earlier results" in problem for problem in problems)
