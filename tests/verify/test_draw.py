"""The draw of a contest follows from the announcement, the entries, the log and the results: another draw is found."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.cli.contest.announce import CHECKPOINT_HEADING, announce
from judge.cli.contest.tables import journal
from judge.contest.contest import Contest
from judge.contest.plan import load_plan
from judge.contest.runner import Scheduler
from judge.contest_games import Pairing
from judge.journal.state import JournalLine
from judge.publish.verify.draws import pairing_problems
from judge.publish.verify.export import verify_export
from judge.publish.verify.sample import Sample
from judge.record.seeds import Seed
from judge.store.contests import Store
from judge.store.submissions import Register
from judge.store.types import ProcessingResult, Upload
from judge.tournament.formats.base import Competitor
from judge.tournament.formats.sequential import Sequential
from judge.tournament.results import PlayedPairing
from judge.tournament.snapshot import Freeze, commitment_to, contest_key
from judge.transparency.checkpoint import read_checkpoint
from judge.transparency.keys import fingerprint, make_key
from tests.contest.cups import CHANCE, won_by
from tests.contest.rounds import decided_after
from tests.contests import PAIR, Recipe, nothing, steady_clock
from tests.publish.cups import Cast, Cup, player
from tests.publish.public import Public
from tests.verify import independent_reading
from tests.verify.by_node import problems as problems_by_node
from tests.verify.log_forgeries import export_contest, in_document, other_digest, rewrite
from tests.verify.second_opinion import accepted, second_opinion


def test_other_entries_or_another_moment_give_another_draw() -> None:
    freeze = Freeze(leaves=2, root="a" * 64, entries="b" * 64)
    others: list[dict[str, Any]] = [{"leaves": 3}, {"root": "c" * 64}, {"entries": "c" * 64}]
    keys = {contest_key(CHANCE, "cup", freeze.model_copy(update=change)) for change in ({}, *others)}

    assert 6 == len({*keys, contest_key("6d" * 32, "cup", freeze), contest_key(CHANCE, "cup")})


def in_contest(how: Callable[[Any], object]) -> Callable[[Public], None]:
    return lambda public: in_document(public, how)


def in_log(how: Callable[[list[JournalLine]], object]) -> Callable[[Public], None]:
    return lambda public: rewrite(public, how)


DRAWN = "the log does not lock in the entries once, as leaf 2, before the contest is created"
TERMS = "the entries and terms that the log locked in differ from those of contest.json"
DRAWS: dict[str, tuple[Callable[[Public], None], str]] = {
    "frozen twice": (in_log(lambda lines: lines.insert(2, lines[1])), DRAWN),
    "never frozen": (in_log(lambda lines: lines.pop(1)), DRAWN),
    "another commitment": (in_log(other_digest(0)), "the log does not begin with the commitment of contest.json"),
    "other terms frozen": (in_log(other_digest(1)), TERMS),
    "an entry swapped": (in_contest(lambda each: each["entries"][0]["seat"].update(digest="f" * 64)), TERMS),
    "rules changed after the draw": (in_contest(lambda each: each.update(shuffle=False)), TERMS),
    "a root that was chosen": (
        in_contest(lambda each: each["freeze"].update(root="e" * 64)),
        "the draw depends on another log: the root of the first 2 leaves differs",
    ),
    "no freeze": (
        in_contest(lambda each: each.update(freeze=None)),
        "the draw in contest.json does not depend on the log, so the organiser could choose it",
    ),
}


@pytest.mark.parametrize("forgery", DRAWS)
def test_a_draw_that_was_chosen_is_found(forgery: str, logged_copy: Public) -> None:
    forge, problem = DRAWS[forgery]
    forge(logged_copy)

    assert problem in verify_export(logged_copy.directory, logged_copy.public_key).problems
    assert independent_reading.problems(logged_copy.directory)


def test_secret_that_was_not_announced_is_found_by_both_verifiers(tmp_path: Path) -> None:
    """The log begins with the creation, so the organiser can choose the secret when all entries are known."""
    with steady_clock(), Cup(tmp_path / "cup", PAIR) as cup:
        cup.play()
        public = cup.export(tmp_path)

    problem = "the draw in contest.json does not depend on the log, so the organiser could choose it"
    assert [problem] == list(verify_export(public.directory, public.public_key).problems)
    by_node = problems_by_node(public.directory, public.public_key)
    assert ["contest.json: its draw does not depend on the log"] == by_node
    assert ["no draw depends on the log"] == independent_reading.problems(public.directory)


def exchange(document: Any) -> None:
    one, other = document["entries"]
    one["rank"], other["rank"] = other["rank"], one["rank"]


@pytest.mark.parametrize("seed", [5, None])
def test_listed_ranks_are_those_of_the_list(seed: int | None, tmp_path: Path) -> None:
    public = Recipe("seeded", PAIR, options={"seed": seed, "drawn": nothing}).export(tmp_path)
    accepted(public)
    in_document(public, exchange)

    problems = verify_export(public.directory, public.public_key).problems
    assert "the agents' ranks do not follow from the list" in problems
    assert any(problem.startswith("ranks") for problem in second_opinion(public.directory, public.public_key))


@pytest.mark.parametrize("seed", [5, 0])
def test_drawn_ranks_follow_from_a_fixed_seed(seed: int, tmp_path: Path) -> None:
    """One of two orders is right, whatever the seed gives."""
    public = Recipe("seeded", PAIR, options={"seed": seed, "drawn": nothing}).export(tmp_path)
    found = []
    for how in (lambda document: document.update(seeding="drawn"), exchange):
        in_document(public, how)
        problems = verify_export(public.directory, public.public_key).problems
        found.append("the agents' ranks do not follow from the contest's chance" in problems)
    assert [False, True] == sorted(found)


def test_a_round_follows_from_results_that_were_withdrawn_after_its_draw(tmp_path: Path) -> None:
    cast = {name: player(name, 0.5) for name in ("anna", "bert", "carl", "dora", "emil", "fred")}
    with Cup(tmp_path / "cup", cast, 'name = "swiss"\nrounds = 4\ngames = 1', drawn=nothing) as cup:
        cup.play(4)
        first = [result for result in cup.contest.view().results if result.round == 1]
        winners = {result.winner or result.first for result in first}
        cup.cast = {name: player(name, 0.05 if name in winners else 0.95) for name in cast}
        for result in first:
            cup.store.annul(result.id, "a power cut")
        cup.play()
        again = [result for result in cup.contest.view().results if result.round == 1]
        public = cup.export(tmp_path)

    assert [result.winner for result in first] != [result.winner for result in again]
    for sample in (None, Sample(3, "1")):
        assert [] == list(verify_export(public.directory, public.public_key, sample=sample).problems)


def test_an_entry_that_passed_and_was_dropped_is_found(logged: Public, tmp_path: Path) -> None:
    """One that was replaced by its author, withdrawn or refused is not missed; one that nobody decided is named."""

    def submit(_store: Store) -> None:
        with closing(Register(f"sqlite:///{tmp_path}/cup/contest.db", "spring-cup")) as register:
            for name, refusal in (("carl", ""), ("carl", ""), ("dora", "it is slow"), ("emil", ""), ("", "")):
                upload = Upload("ada", name, "a.zip", "a" * 64, 100)
                number = register.receive(upload, None, "w" if name else "").id
                if name:
                    register.finish(number, 1, ProcessingResult(refusal, name, "d" * 64, "{}", None, None))
            register.withdraw(4, "ada", "changed my mind")
            failed = register.receive(Upload("ada", "fred", "a.zip", "a" * 64, 100), None, "w").id
            register.fail(failed, 1, "the Engine was gone", 1, 1)

    public = export_contest(tmp_path, logged.key, between=submit)
    report = verify_export(public.directory, public.public_key)
    assert ["submission 2 passed before the entries were locked in, but does not take part"] == list(report.problems)
    assert list(report.problems) == second_opinion(public.directory, public.public_key)
    assert [
        "submission 5 had no result when the entries were locked in",
        "submission 6 had no result, because the judge's host failed during its check, when the entries were locked in",
        "1 attempt does not count, void (game.attempt): 1.1",
    ] == list(report.decisions)


def test_a_contest_is_announced_once_and_begins_as_it_was_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "contest.toml"
    plan.write_text('name = "cup"\npolicy = "gomocup-standard"\n[format]\nname = "round-robin"\n')
    announce(tmp_path)
    key = make_key(tmp_path / "organiser.key")
    announce(tmp_path)
    out = capsys.readouterr().out
    first, second = (line for line in out.splitlines(keepends=True) if line.startswith("commitment "))
    note = out.partition(f"{CHECKPOINT_HEADING}\n")[2]

    assert first == second
    checkpoint = read_checkpoint(note.encode(), "it")
    assert (1, True) == (checkpoint.size, checkpoint.is_signed(key.public_key()))
    journal(tmp_path)
    assert capsys.readouterr().out.endswith("  announced\n")
    with closing(Store(load_plan(tmp_path).store_url)) as store:
        assert f"commitment   {commitment_to(store.announced_secret('cup') or '')}\n" == first
    plan.write_text(f"seed = 5\n{plan.read_text()}")
    with pytest.raises(InputError, match="seed was added since the contest was announced"):
        announce(tmp_path)


def test_announcement_has_title_game_clocks_schedule_address_and_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "contest.toml").write_text(
        'name = "cup"\nabout = "Weekend Cup"\npolicy = "gomocup-freestyle"\nchange = ["clock.turn_ms=300"]\n'
        '[format]\nname = "swiss"\nrounds = 3\n[submissions]\ncloses = 2100-01-01T18:00:00Z\n'
    )
    key = make_key(tmp_path / "organiser.key")

    announce(tmp_path, "https://example.org/cup")

    title, *lines = capsys.readouterr().out.splitlines()
    facts = dict(line.split(None, 1) for line in lines if line.count(" "))
    assert "Weekend Cup" == title
    assert ("cup", "https://example.org/cup") == (facts["contest"], facts["address"])
    assert "gomocup-freestyle, clock.turn_ms=300" == facts["policy"]
    assert facts["clocks"].startswith("300 ms a move, ")
    assert facts["submit"].startswith("until 2100-01-01 18:00")
    assert fingerprint(key.public_key()) in facts["key"]


UNEQUAL: Cast = {"anna": player("anna", 0.9), "bert": player("bert", 0.5)}
SPRT = 'name = "sprt"\ntest = { elo0 = -100, elo1 = 100 }'


def played_test(folder: Path, *, annuls: bool = False) -> tuple[Public, int]:
    """A test in four slots, and its number of pairings that do not count."""
    with Cup(folder / "cup", UNEQUAL, form=SPRT, drawn=nothing) as cup:
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
    public, uncounted = played_test(tmp_path, annuls=annuls)
    assert uncounted
    assert accepted(public).is_over


def test_result_that_is_withdrawn_before_the_next_draw_does_not_count(tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", UNEQUAL, form=f"{SPRT}\nrounds = 30", drawn=nothing) as cup:
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
        public, uncounted = played_test(tmp_path)
    assert uncounted == 6
    problems = verify_export(public.directory, public.public_key).problems

    assert any("does not follow from the entries and the earlier results" in problem for problem in problems)
