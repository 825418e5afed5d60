"""The draw of a contest follows from the announcement, the entries and the log: a draw that was chosen is found."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.cli.contest.admin import CHECKPOINT_HEADING, announce
from judge.cli.contest.tables import log
from judge.contest.plan import load_plan
from judge.store.contests import Store
from judge.store.submissions import Register
from judge.store.types import Allowance, ProcessingResult, Upload
from judge.tournament.seeds import Freeze, commitment_to, contest_key
from judge.transparency.checkpoint import read_checkpoint
from judge.transparency.keys import fingerprint, make_key
from judge.verify.export import verify_export
from tests.contest.cups import CHANCE
from tests.publish.public import Public
from tests.verify import independent_reading
from tests.verify.log_forgeries import held, in_document, old_checkpoint, other_digest, rewrite
from tests.verify.second_opinion import second_opinion


def test_replaced_secret_is_found_with_the_kept_announcement(logged: Public, tmp_path: Path) -> None:
    again = held(tmp_path, logged.key, secret="6d" * 32)

    assert [] == list(verify_export(again.directory, again.public_key).problems)
    (problem,) = verify_export(again.directory, again.public_key, old_checkpoint(logged, tmp_path, 1)).problems
    assert problem.startswith("the first 1 leaves of the log differ from those of the old checkpoint")


def test_other_entries_or_another_moment_give_another_draw() -> None:
    freeze = Freeze(leaves=2, root="a" * 64, entries="b" * 64)
    others: list[dict[str, Any]] = [{"leaves": 3}, {"root": "c" * 64}, {"entries": "c" * 64}]
    keys = {contest_key(CHANCE, "cup", freeze.model_copy(update=change)) for change in ({}, *others)}

    assert 6 == len({*keys, contest_key("6d" * 32, "cup", freeze), contest_key(CHANCE, "cup")})


DRAWN = "the log does not lock in the entries once, as leaf 2, before the contest is created"
DRAWS: dict[str, tuple[Callable[[Public], Any], str]] = {
    "frozen twice": (lambda public: rewrite(public, lambda lines: lines.insert(2, lines[1])), DRAWN),
    "never frozen": (lambda public: rewrite(public, lambda lines: lines.pop(1)), DRAWN),
    "another commitment": (
        lambda public: rewrite(public, other_digest(0)),
        "the log does not begin with the commitment of contest.json",
    ),
    "other terms frozen": (
        lambda public: rewrite(public, other_digest(1)),
        "the entries and terms that the log locked in differ from those of contest.json",
    ),
    "an entry swapped": (
        lambda public: in_document(public, lambda each: each["entries"][0]["seat"].update(digest="f" * 64)),
        "the entries and terms that the log locked in differ from those of contest.json",
    ),
    "rules changed after the draw": (
        lambda public: in_document(public, lambda each: each.update(shuffle=False)),
        "the entries and terms that the log locked in differ from those of contest.json",
    ),
    "a root that was chosen": (
        lambda public: in_document(public, lambda each: each["freeze"].update(root="e" * 64)),
        "the draw depends on another log: the root of the first 2 leaves differs",
    ),
    "no freeze": (
        lambda public: in_document(public, lambda each: each.update(freeze=None)),
        "the log locks in the entries, but the draw in contest.json does not depend on it",
    ),
}


@pytest.mark.parametrize("forgery", DRAWS)
def test_a_draw_that_was_chosen_is_found(forgery: str, logged_copy: Public) -> None:
    forge, problem = DRAWS[forgery]
    forge(logged_copy)

    assert problem in verify_export(logged_copy.directory, logged_copy.public_key).problems
    assert independent_reading.problems(logged_copy.directory)


def test_an_entry_that_passed_and_was_dropped_is_found(logged: Public, tmp_path: Path) -> None:
    """One that was replaced by its author, withdrawn or refused is not missed; one that nobody decided is named."""

    def submit(_store: Store) -> None:
        with closing(Register(f"sqlite:///{tmp_path}/cup/contest.db", "spring-cup")) as register:
            for name, refusal in (("carl", ""), ("carl", ""), ("dora", "it is slow"), ("emil", ""), ("", "")):
                upload = Upload("ada", name, "a.zip", "a" * 64, 100)
                number = register.receive(upload, Allowance(), "w" if name else "").id
                if name:
                    register.finish(number, 1, ProcessingResult(refusal, name, "d" * 64, "{}", None, None))
            register.withdraw(4, "ada", "changed my mind")
            failed = register.receive(Upload("ada", "fred", "a.zip", "a" * 64, 100), Allowance(), "w").id
            register.fail(failed, 1, "the Engine was gone", 1, 1)

    public = held(tmp_path, logged.key, between=submit)
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
    log(tmp_path)
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

    lines = capsys.readouterr().out.splitlines()
    facts = dict(
        line.split(None, 1) for line in lines[1:] if line.partition(" ")[0] in ("contest", "address", "policy")
    )
    assert "Weekend Cup" == lines[0]
    assert {
        "contest": "cup",
        "address": "https://example.org/cup",
        "policy": "gomocup-freestyle, clock.turn_ms=300",
    } == facts
    assert any(line.startswith("clocks       300 ms a move, ") for line in lines)
    assert any(line.startswith("submit until 2100-01-01 18:00") for line in lines)
    assert any(fingerprint(key.public_key()) in line for line in lines if line.startswith("key "))
