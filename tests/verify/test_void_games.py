"""Attempts that do not count: the verifier names their games, and believes a void only with its evidence."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from judge.contest_view.export import CHANCE, load_export
from judge.publish.tables import tables
from judge.publish.verify.export import verify_export
from judge.record.spec import public_part, read_record
from judge.record.transcript import EntryKind, unseal
from judge.referee.verify import void_problems
from tests.publish.cups import voided
from tests.publish.public import Public, sign_again
from tests.referee.games import resealed
from tests.verify import independent_reading
from tests.verify.by_node import problems as by_node
from tests.verify.forger import Forger, Form, Row
from tests.verify.forgeries import as_void, cut_off

Rows = list[Row]


def counted(rows: Rows, state: str, why: str) -> None:
    """The attempt that counts is also listed as one that does not."""
    rows.append({"number": 2, "attempt": 1, "state": state, "why": why, "record": "records/00002.attempt-1.json"})


@pytest.mark.parametrize(
    ("lists", "problem"),
    [
        (lambda rows, why: counted(rows, "superseded", why), "game 2 has an attempt twice, or one that counts"),
        (lambda rows, why: counted(rows, "annulled", why), "game 2 has an attempt twice, or one that counts"),
        (lambda rows, why: counted(rows, "accepted", why), "accepted"),
        (lambda rows, _: rows.append(rows[0]), "game 1 has an attempt twice, or one that counts"),
    ],
    ids=["superseded", "annulled", "accepted", "twice"],
)
def test_game_with_two_records_of_an_attempt_is_found(
    lists: Callable[[Rows, str], object], problem: str, logged: Public, tmp_path: Path
) -> None:
    """The log has one record, and the tables have the result of the other."""
    forger = Forger(logged, Form("", ("anna", "bert")), tmp_path, random.Random(1))
    row = forger.rows("games")[1]
    why = next(line.text for line in forger.lines if line.game == row["id"] and line.event == "accepted")
    rows = forger.rows("attempts")
    lists(rows, why)
    if rows[-1]["number"] == 2:
        (forger.directory / rows[-1]["record"]).write_bytes((forger.directory / row["record"]).read_bytes())
        forger.play_again(row["record"], 0 if row["winner"] == row["second"] else 1)
    (forger.directory / "data/attempts.json").write_text(json.dumps(rows))
    contest, _ = load_export(forger.directory)
    contest = replace(contest, games=[forger._fitted(game) for game in contest.games], journal=forger.lines)
    for name, data in tables(contest).items():
        (forger.directory / "data" / name).write_bytes(data)
    sign_again(forger.public)

    assert any(problem in each for each in verify_export(forger.directory, forger.public.public_key).problems)
    assert independent_reading.problems(forger.directory)


@pytest.mark.parametrize("has_digest", [False, True])
def test_accepted_result_that_is_missing_in_all_tables_is_found(
    has_digest: bool, logged: Public, tmp_path: Path
) -> None:
    """The organiser removes the record of a game, and lists the game as pending."""
    forger = Forger(logged, Form("", ("anna", "bert")), tmp_path, random.Random(1))
    row = forger.rows("games")[1]
    (forger.directory / row["record"]).unlink()
    (forger.directory / CHANCE).unlink()  # it reveals the secret after the last game
    at = next(at for at, line in enumerate(forger.lines) if line.game == row["id"] and line.event == "accepted")
    forger.lines[at] = replace(forger.lines[at], digest="d" * 64 if has_digest else None)
    forger.in_table("games", lambda rows: rows[1].update(state="pending", attempt=None, record=None))
    forger.fit()

    problems = verify_export(forger.directory, forger.public.public_key).problems
    assert "game 2: attempt 1 counts in the log, but it is pending in the tables" in problems
    no_digest = f"leaf {at} of the log, accepted: it has no digest of a record"
    assert has_digest != (no_digest in problems)
    assert has_digest != any("no digest" in each for each in by_node(forger.directory, forger.public.public_key))
    assert "other games are done in the log than in the tables" in independent_reading.problems(forger.directory)


def test_record_that_is_cut_before_the_last_answer_is_a_void(logged: Public) -> None:
    finished = read_record(logged.directory / "records/00002.json")
    entries = unseal(cut_off()(finished).transcript)
    for end in range(1, len(entries)):
        problems = set(void_problems(resealed(as_void(finished), entries[:end])))
        assert problems <= {"void, but its moves differ from those of its transcript"}, end
    assert [] == list(void_problems(public_part(voided(finished))))


def test_host_may_fail_after_the_answer_that_ends_the_game(logged: Public) -> None:
    """In the freeze: the answer was read, and is neither applied nor a ply."""
    finished = read_record(logged.directory / "records/00002.json")
    entries = unseal(finished.transcript)
    last = max(at for at, entry in enumerate(entries) if entry.kind is EntryKind.FROZEN)
    void = as_void(finished)
    plies = void.record.plies

    def problems(end: int) -> list[str]:
        return [*void_problems(resealed(void, entries[:end], plies=plies[:-1]))]

    assert [] == problems(last) == problems(last + 1)
    assert problems(len(entries))
