"""The log of a contest: what an organiser rewrites is found by whoever has an old checkpoint, by both verifiers."""

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.cli.contest.admin import announce
from judge.contest.plan import load_plan
from judge.contest.seeds import Freeze, commitment_to, contest_key
from judge.errors import InputError
from judge.publish.export import PageOptions, publish
from judge.publish.keys import make_key
from judge.publish.log import ContestLog, SignedLog
from judge.publish.tables import JournalRow, write_csv, write_json
from judge.publish.verify_export import verify_export
from judge.publish.verify_log import ReadLog, since_problems
from judge.store.contests import Store
from judge.store.submission_types import Allowance, Came, Upload
from judge.store.submissions import Register
from judge.store.types import JournalLine
from judge.transparency.checkpoint import Checkpoint, read_checkpoint
from judge.transparency.merkle import EMPTY_ROOT, Tree
from judge.transparency.receipt import LARGEST_RECEIPT, Receipt
from judge.transparency.tiles import read_leaves
from tests.contest.cups import CHANCE
from tests.publish.conftest import Public
from tests.publish.cups import Cast, Cup, player
from tests.publish.forgeries import sign_again
from tests.publish.test_second_verifier import problems as problems_by_node

PAIR: Cast = {"anna": player("anna", 0.9), "bert": player("bert", 0.6)}
OTHER: Cast = {"anna": player("anna", 0.1), "bert": player("bert", 0.9)}

OLD_SIZE = 7
"""Leaves at the old checkpoint: announced, frozen, created, scheduled, started, void, a remark of the organiser."""

NOTE = 6
"""The leaf of that remark."""


def nothing(_store: Store) -> None:
    """Happens between the announcement and the freeze."""


def held(
    folder: Path,
    key: Ed25519PrivateKey,
    cast: Cast = PAIR,
    void: Sequence[int] = (1,),
    between: Callable[[Store], object] = nothing,
    secret: str = CHANCE,
) -> Public:
    """A contest of one pairing from its beginning to its export."""
    folder.mkdir(exist_ok=True)
    public = Public(folder, key)
    with Cup(folder / "cup", cast, drawn=between, secret=secret) as cup:
        cup.play(1, void)
        cup.store.remark("spring-cup", "note", "a power cut")
        cup.play()
        publish(cup.contest, public.directory, public.private, key, PageOptions(pictures=False, languages=("en",)))
    return public


@pytest.fixture(scope="module")
def true(tmp_path_factory: pytest.TempPathFactory) -> Public:
    folder = tmp_path_factory.mktemp("true")
    return held(folder, make_key(folder / "organiser.key"))


@pytest.fixture
def copy(true: Public, tmp_path: Path) -> Public:
    return true.copy_to(tmp_path)


def lines_of(directory: Path) -> list[JournalLine]:
    """The journal of an export, with the digests of its log."""
    rows = json.loads((directory / "data/journal.json").read_text())
    leaves = read_leaves(lambda path: (directory / "log" / path).read_bytes(), len(rows))
    return [
        JournalLine(**row, digest=json.loads(leaf)["digest"], number=number)
        for number, (row, leaf) in enumerate(zip(rows, leaves, strict=True))
    ]


def rewrite(public: Public, how: Callable[[list[JournalLine]], Any]) -> None:
    """Change the journal, and make tables, log, checkpoint and manifest fit, as only the organiser can."""
    lines = lines_of(public.directory)
    how(lines)
    rows = [{name: getattr(line, name) for name in JournalRow.__slots__} for line in lines]
    (public.directory / "data/journal.json").write_bytes(write_json(rows))
    (public.directory / "data/journal.csv").write_bytes(write_csv(list(JournalRow.__slots__), rows))
    log = ContestLog("spring-cup", [replace(line, number=number) for number, line in enumerate(lines)])
    for path in sorted((public.directory / "log").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    for name, data in log.files(public.key):
        (public.directory / name).parent.mkdir(parents=True, exist_ok=True)
        (public.directory / name).write_bytes(data)
    sign_again(public)


def old_checkpoint(public: Public, folder: Path, size: int = OLD_SIZE) -> Path:
    """What somebody kept while the contest was played."""
    log = ContestLog("spring-cup", lines_of(public.directory))
    path = folder / "kept-checkpoint"
    path.write_bytes(log.checkpoint(size).signed(public.key).note)
    return path


def found(public: Public, since: Path | None = None) -> tuple[list[str], list[str]]:
    """The problems that the two verifiers find."""
    words = [] if since is None else [Path("--since"), since]
    return (
        list(verify_export(public.directory, public.public_key, since).problems),
        problems_by_node(public.directory, public.public_key, *words),
    )


def test_the_log_of_an_export_has_what_happened_and_goes_on_from_every_checkpoint(true: Public, tmp_path: Path) -> None:
    lines = lines_of(true.directory)
    before, after = ["announced", "frozen", "created", "scheduled"], ["started", "accepted"] * 2

    assert [*before, "started", "void", "note", *after] == [line.event for line in lines]
    report = verify_export(true.directory, true.public_key, old_checkpoint(true, tmp_path))
    assert ([], 11) == (list(report.problems), report.log.size if report.log else None)
    for size in (0, 1, 11):
        assert ([], []) == found(true, old_checkpoint(true, tmp_path, size))


# --- histories that fit in themselves --------------------------------------------------------------------------------


def edit_time(lines: list[JournalLine]) -> None:
    lines[4] = replace(lines[4], at="2013-03-01T00:00:00.000+00:00")


REWRITTEN: dict[str, Callable[[list[JournalLine]], Any]] = {
    "a time edited": edit_time,
    "an action of the organiser dropped": lambda lines: lines.pop(NOTE),
    "an action added": lambda lines: lines.insert(3, replace(lines[NOTE], text="all agreed")),
    "two leaves swapped": lambda lines: lines.insert(3, lines.pop(NOTE)),
    "words of an action changed": lambda lines: lines.__setitem__(NOTE, replace(lines[NOTE], text="nothing happened")),
}


@pytest.mark.parametrize("forgery", REWRITTEN)
def test_who_has_an_old_checkpoint_finds_what_was_rewritten_and_nobody_else(
    forgery: str, copy: Public, tmp_path: Path
) -> None:
    since = old_checkpoint(copy, tmp_path)
    rewrite(copy, REWRITTEN[forgery])

    assert ([], []) == found(copy)
    ours, second = found(copy, since)
    assert [
        "the first 7 leaves of the log are not those of the old checkpoint: one at least was dropped, added or changed"
    ] == ours
    assert ["the log does not begin with the 7 leaves of the old checkpoint: it was rewritten"] == second


@pytest.mark.parametrize(
    ("cast", "void"), [(PAIR, []), (OTHER, [1]), (PAIR, [2])], ids=["a void untold", "replayed until liked", "swapped"]
)
def test_a_contest_that_was_played_again_in_secret_is_found_by_a_checkpoint(
    cast: Cast, void: list[int], true: Public, tmp_path: Path
) -> None:
    """The organiser begins again with the same secret, and publishes the history that he likes better."""
    again = held(tmp_path, true.key, cast, void)

    assert [] == list(verify_export(again.directory, again.public_key).problems)
    (problem,) = verify_export(again.directory, again.public_key, old_checkpoint(true, tmp_path)).problems
    assert problem.startswith("the first 7 leaves of the log are not those of the old checkpoint")


def test_what_happened_after_the_last_checkpoint_is_found_by_nobody(copy: Public, tmp_path: Path) -> None:
    """The control; SECURITY.md says so."""
    since = old_checkpoint(copy, tmp_path)
    rewrite(copy, lambda lines: lines.insert(9, replace(lines[NOTE], text="later")))

    assert ([], []) == found(copy, since)


def other_digest(number: int) -> Callable[[list[JournalLine]], Any]:
    return lambda lines: lines.__setitem__(number, replace(lines[number], digest="d" * 64))


def change(lines: list[JournalLine], chance: random.Random) -> None:
    """Rewrite a journal somewhere."""
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    line = lines[at]
    match chance.choice(["drop", "repeat", "swap", "time", "event", "text", "digest", "attempt", "match"]):
        case "drop":
            lines.pop(at)
        case "repeat":
            lines.insert(at, line)
        case "swap":
            lines[at], lines[other] = lines[other], lines[at]
        case "time":
            lines[at] = replace(line, at=f"2{line.at}")
        case "event":
            lines[at] = replace(line, event=chance.choice(lines).event)
        case "text":
            lines[at] = replace(line, text=line.text[:-1])
        case "digest":
            lines[at] = replace(line, digest=None if line.digest else "d" * 64)
        case "attempt":
            lines[at] = replace(line, attempt=(line.attempt or 0) + 1)
        case "match":
            lines[at] = replace(line, match=chance.choice(lines).match)


def test_a_thousand_rewritten_logs_are_found_by_everybody_with_a_later_checkpoint(true: Public) -> None:
    """And only by them: each old checkpoint, of every size, against logs in which one thing was rewritten."""
    chance, lines = random.Random(815), lines_of(true.directory)
    log, key = ContestLog("spring-cup", lines), true.key.public_key()
    kept = [log.checkpoint(size).signed(true.key) for size in range(log.size + 1)]
    for _ in range(1000):
        forged = list(lines)
        change(forged, chance)
        forged = [replace(line, number=number) for number, line in enumerate(forged)]
        other = ContestLog("spring-cup", forged)
        same = [one == two for one, two in zip(log.leaves, other.leaves, strict=False)]
        # A log that is as it was, or longer, is the same log.
        first = same.index(False) if False in same else len(same)
        read = ReadLog(other.checkpoint().signed(true.key), other.tree, forged)
        for old in kept:
            assert (old.size > first) == bool(list(since_problems(read, old, key)))


# --- the draw --------------------------------------------------------------------------------------------------------


def test_a_secret_that_was_tried_in_place_of_the_first_is_found_by_who_kept_the_announcement(
    true: Public, tmp_path: Path
) -> None:
    again = held(tmp_path, true.key, secret="6d" * 32)

    assert [] == list(verify_export(again.directory, again.public_key).problems)
    (problem,) = verify_export(again.directory, again.public_key, old_checkpoint(true, tmp_path, 1)).problems
    assert problem.startswith("the first 1 leaves of the log are not those of the old checkpoint")


def test_other_entries_or_another_moment_give_another_draw() -> None:
    freeze = Freeze(leaves=2, root="a" * 64, entries="b" * 64)
    others: list[dict[str, Any]] = [{"leaves": 3}, {"root": "c" * 64}, {"entries": "c" * 64}]
    keys = {contest_key(CHANCE, "cup", freeze.model_copy(update=change)) for change in ({}, *others)}

    assert 6 == len({*keys, contest_key("6d" * 32, "cup", freeze), contest_key(CHANCE, "cup")})


def in_document(public: Public, how: Callable[[Any], Any]) -> None:
    """Change contest.json, and the leaf that has its digest."""
    path = public.directory / "contest.json"
    document = json.loads(path.read_text())
    how(document)
    path.write_text(f"{json.dumps(document)}\n")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    rewrite(public, lambda lines: lines.__setitem__(2, replace(lines[2], digest=digest)))


DRAWN = "the log does not freeze the entries once, as leaf 2, before the contest is created"
DRAWS: dict[str, tuple[Callable[[Public], Any], str]] = {
    "frozen twice": (lambda public: rewrite(public, lambda lines: lines.insert(2, lines[1])), DRAWN),
    "never frozen": (lambda public: rewrite(public, lambda lines: lines.pop(1)), DRAWN),
    "another commitment": (
        lambda public: rewrite(public, other_digest(0)),
        "the log does not begin with the commitment of contest.json",
    ),
    "other terms frozen": (
        lambda public: rewrite(public, other_digest(1)),
        "the entries and terms that the log froze are not those of contest.json",
    ),
    "an entry swapped": (
        lambda public: in_document(public, lambda each: each["entries"][0]["seat"].update(digest="f" * 64)),
        "the entries and terms that the log froze are not those of contest.json",
    ),
    "rules changed after the draw": (
        lambda public: in_document(public, lambda each: each.update(shuffle=False)),
        "the entries and terms that the log froze are not those of contest.json",
    ),
    "a root that was chosen": (
        lambda public: in_document(public, lambda each: each["freeze"].update(root="e" * 64)),
        "the draw follows from another log: the root of its first 2 leaves is another one",
    ),
    "no freeze": (
        lambda public: in_document(public, lambda each: each.update(freeze=None)),
        "the log freezes the entries, and contest.json does not draw from it",
    ),
}


@pytest.mark.parametrize("forgery", DRAWS)
def test_a_draw_that_was_chosen_is_found(forgery: str, copy: Public) -> None:
    forge, problem = DRAWS[forgery]
    forge(copy)

    assert problem in verify_export(copy.directory, copy.public_key).problems
    assert problem in problems_by_node(copy.directory, copy.public_key)


def test_an_entry_that_passed_and_was_dropped_is_found(true: Public, tmp_path: Path) -> None:
    """One that was replaced by its author, withdrawn or refused is not missed; one that nobody decided is named."""

    def submit(_store: Store) -> None:
        with closing(Register(f"sqlite:///{tmp_path}/cup/contest.db", "spring-cup")) as register:
            for name, refusal in (("carl", ""), ("carl", ""), ("dora", "it is slow"), ("emil", ""), ("", "")):
                upload = Upload("ada", name, "a.zip", "a" * 64, 100)
                number = register.receive(upload, Allowance(), "w" if name else "").id
                if name:
                    register.finish(number, 1, Came(refusal, name, "d" * 64, "{}", None, None))
            register.withdraw(4, "ada", "changed my mind")

    public = held(tmp_path, true.key, between=submit)
    report = verify_export(public.directory, public.public_key)
    assert ["submission 2 passed before the entries were frozen, and does not take part"] == list(report.problems)
    assert list(report.problems) == problems_by_node(public.directory, public.public_key)
    assert ["submission 5 was received and not decided when the entries were frozen"] == list(report.decisions)


def test_a_contest_is_announced_once_and_begins_as_it_was_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "contest.toml"
    plan.write_text('name = "cup"\npolicy = "gomocup-standard"\n[format]\nname = "round-robin"\n')
    announce(tmp_path)
    key = make_key(tmp_path / "organiser.key")
    announce(tmp_path)
    first, second, *note = capsys.readouterr().out.splitlines(keepends=True)

    assert first == second
    checkpoint = read_checkpoint("".join(note).encode(), "it")
    assert (1, True) == (checkpoint.size, checkpoint.is_signed(key.public_key()))
    with closing(Store(load_plan(tmp_path).store_url)) as store:
        assert f"commitment {commitment_to(store.announced_secret('cup') or '')}\n" == first
    plan.write_text(f"seed = 5\n{plan.read_text()}")
    with pytest.raises(InputError, match="seed was added since the contest was announced"):
        announce(tmp_path)


# --- receipts --------------------------------------------------------------------------------------------------------


def submit_one(folder: Path, answers: list[Receipt]) -> Callable[[Store], None]:
    """An author sends an agent, which is withdrawn, and gets a receipt."""

    def submit(_store: Store) -> None:
        url = f"sqlite:///{folder}/cup/contest.db"
        with closing(Register(url, "spring-cup")) as register:
            number = register.receive(Upload("ada", "carl", "a.zip", "a" * 64, 100)).id
            register.withdraw(number, "ada", "changed my mind")
        with closing(SignedLog(url, "spring-cup", folder)) as log:
            given = log.receipt(number)
            assert given is not None
            answers.append(given)
            assert None is log.receipt(number + 1)

    return submit


def test_a_receipt_proves_that_an_upload_is_in_the_log_or_was_dropped(tmp_path: Path) -> None:
    key, answers = make_key(tmp_path / "organiser.key"), list[Receipt]()
    public = held(tmp_path, key, between=submit_one(tmp_path, answers))
    (receipt,) = answers
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps({"id": 1, "receipt": receipt.model_dump()}))

    def problems() -> list[str]:
        return list(verify_export(public.directory, public.public_key, receipt=answer).problems)

    assert ("submission 1", "a" * 64) == (receipt.text, json.loads(receipt.leaf)["digest"])
    assert [] == problems()
    assert len(answer.read_bytes()) <= LARGEST_RECEIPT

    # A receipt of an organiser with another key, for another text, for other bytes, or with another proof.
    forged = receipt.model_copy(update={"leaf": receipt.leaf.replace("aaaa", "bbbb", 1)})
    others = [
        receipt.model_copy(update={"text": "submission 2"}),
        forged,
        receipt.model_copy(update={"proof": (*receipt.proof, receipt.proof[0])}),
        receipt.model_copy(update={"proof": ("?",)}),
        receipt.model_copy(update={"checkpoint": receipt.checkpoint.replace("3\n", "4\n", 1)}),
    ]
    for other in others:
        answer.write_text(other.model_dump_json())
        (problem,) = problems()
        assert problem.startswith("the receipt proves nothing: ")
    answer.write_text("{}")
    with pytest.raises(InputError, match="not a receipt"):
        problems()

    # The organiser begins again without the upload.
    again = held(tmp_path / "again", key)
    answer.write_text(receipt.model_dump_json())
    found = verify_export(again.directory, again.public_key, receipt=answer).problems
    assert 2 == len(found)
    assert "leaf 1 of the log is not that of the receipt: submission 1 was dropped or changed" == found[1]
    assert [] == list(verify_export(again.directory, again.public_key).problems)


def test_a_receipt_of_a_log_of_a_million_leaves_has_2_kb() -> None:
    tree = Tree()
    tree.levels = [[bytes(32)] * (1 << 20 >> level) for level in range(21)]
    line = JournalLine("2026-11-22T18:00:00.000+00:00", "received", None, None, "submission 123456", "a" * 64, 0)
    checkpoint = Checkpoint(f"judge-contest/{'c' * 64}", (1 << 20) - 1, bytes(32)).signed(
        Ed25519PrivateKey.from_private_bytes(bytes(32))
    )
    receipt = Receipt.of(tree, 123456, line.leaf, line.text, checkpoint)

    assert 20 == len(receipt.proof)
    assert len(json.dumps(receipt.model_dump(), separators=(",", ":"))) <= LARGEST_RECEIPT


# --- a log that does not fit -----------------------------------------------------------------------------------------


MISFITS: dict[str, Callable[[list[JournalLine]], Any]] = {
    "a result without its leaf": lambda lines: lines.pop(8),
    "the evidence of a void": other_digest(5),
    "the record of a result": other_digest(10),
    "a void that the tables lack": lambda lines: lines.insert(8, replace(lines[5], attempt=2)),
    "another contest.json": other_digest(2),
    "another schedule": other_digest(3),
    "a start dropped": lambda lines: lines.pop(7),
    "a disqualification that the tables lack": lambda lines: lines.append(
        replace(lines[NOTE], event="disqualified", text="anna: too strong")
    ),
}
BY_NODE_TOO = {
    "a result without its leaf", "the evidence of a void", "the record of a result", "a void that the tables lack",
    "another contest.json",
}  # fmt: skip


@pytest.mark.parametrize("forgery", MISFITS)
def test_a_log_that_tells_another_story_than_the_tables_is_found(forgery: str, copy: Public) -> None:
    rewrite(copy, MISFITS[forgery])

    ours, second = found(copy)
    assert ours
    assert second or forgery not in BY_NODE_TOO


def equivocate(public: Public) -> None:
    """Sign another size and root than that of the leaves."""
    path = public.directory / "log/checkpoint"
    path.write_bytes(
        replace(read_checkpoint(path.read_bytes(), ""), root=EMPTY_ROOT, signatures=()).signed(public.key).note
    )


def damage(name: str) -> Callable[[Public], None]:
    def flip(public: Public) -> None:
        path = public.directory / name
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))

    return flip


@pytest.mark.parametrize(
    "forge",
    [
        equivocate,
        damage("log/tile/entries/000.p/11"),
        damage("log/tile/0/000.p/11"),
        damage("log/checkpoint"),
        lambda public: (public.directory / "log/checkpoint").unlink(),
    ],
    ids=["equivocated", "entries", "hashes", "note", "missing"],
)
def test_a_log_that_is_damaged_is_found(forge: Callable[[Public], None], copy: Public) -> None:
    forge(copy)
    sign_again(copy)

    assert verify_export(copy.directory, copy.public_key).problems


def test_a_log_that_is_left_out_is_found_by_who_has_a_checkpoint(copy: Public, tmp_path: Path) -> None:
    since = old_checkpoint(copy, tmp_path)
    for path in sorted((copy.directory / "log").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (copy.directory / "log").rmdir()
    sign_again(copy)

    for problems in found(copy, since):
        assert "the export has no log" in problems
    assert "the export has no log, and its draw follows from one" in found(copy)[0]


def test_a_checkpoint_that_the_organiser_did_not_sign_proves_nothing(true: Public, tmp_path: Path) -> None:
    since = tmp_path / "kept"
    since.write_bytes(Checkpoint("judge-contest/spring-cup", 3, EMPTY_ROOT).signed(make_key(tmp_path / "key")).note)
    ours, second = found(true, since)
    assert ["the old checkpoint is not signed by the organiser's key, so it proves nothing"] == ours
    assert ["the old checkpoint is not one of this log, signed by the organiser's key"] == second

    since.write_bytes(Checkpoint("judge-contest/other", 3, EMPTY_ROOT).signed(true.key).note)
    assert "the old checkpoint is of another log, 'judge-contest/other'" == found(true, since)[0][0]
    since.write_bytes(b"nothing")
    with pytest.raises(InputError, match="not a checkpoint of a log"):
        verify_export(true.directory, true.public_key, since)
