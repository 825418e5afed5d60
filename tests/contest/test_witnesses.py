"""Witnesses that a contest announces: programs of the standard that are asked over HTTP, and their signatures carried
and checked."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
import structlog

from judge.base.errors import HostError, InputError
from judge.cli.contest.announce import cosign
from judge.contest import witnesses as asking
from judge.contest.plan import load_plan
from judge.contest.take_snapshot import frozen
from judge.contest.witnesses import Witnesses
from judge.journal.events import Announced, ImagesChanged
from judge.publish.export.export import PageOptions, publish
from judge.publish.verify.export import VerificationReport, verify_export
from judge.store.contests import Store
from judge.tournament.snapshot import commitment_to
from judge.transparency.checkpoint import ED25519, Checkpoint, verifier_key
from judge.transparency.keys import KEY_FILE, load_key, make_key
from judge.transparency.log import ContestLog, SignedLog
from judge.transparency.merkle import Tree
from tests.contest.cups import CHANCE
from tests.contests import PAIR
from tests.publish.cups import Cup
from tests.publish.public import Public
from tests.transparency.standard_witness import Service, StandardWitness, serving
from tests.verify.by_node import problems as problems_by_node
from tests.verify.log_forgeries import lines_of, rewrite

WITNESS = "example.net/ada"
ORIGIN = "judge-contest/spring-cup"


def publish_contest(
    folder: Path, service: Service, organiser: Path, does: Callable[[Cup, Witnesses], object]
) -> Public:
    """A contest of one pairing, which the witness is asked to sign before the export."""
    public = Public(folder, load_key(organiser))
    folder.joinpath("cup").mkdir(parents=True, exist_ok=True)
    (folder / "cup" / KEY_FILE).write_bytes(organiser.read_bytes())
    (folder / "cup" / KEY_FILE).chmod(0o600)
    with Cup(folder / "cup", PAIR, more=service.plan, drawn=lambda _: None) as cup:
        cup.play()
        does(cup, Witnesses(cup.planned))
        publish(cup.contest, public.directory, public.private, public.key, PageOptions(languages=("en",)))
    return public


@pytest.fixture(scope="module")
def organiser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("organiser") / KEY_FILE
    make_key(path)
    return path


@pytest.fixture(scope="module")
def service(organiser: Path) -> Iterator[Service]:
    key = make_key(organiser.with_name("witness.key"))
    with serving(StandardWitness(WITNESS, key, {ORIGIN: load_key(organiser).public_key()})) as service:
        yield service


@pytest.fixture(autouse=True)
def _answers(service: Service) -> Iterator[None]:
    yield
    service.does = None
    service.witness.last.clear()


def sign_all(cup: Cup, witnesses: Witnesses) -> None:
    log = ContestLog.stored("spring-cup", cup.store)
    assert [""] == [why for _, why in witnesses.ask(log)]


@pytest.fixture(scope="module")
def true(service: Service, organiser: Path, tmp_path_factory: pytest.TempPathFactory) -> Public:
    return publish_contest(tmp_path_factory.mktemp("true"), service, organiser, sign_all)


@pytest.fixture
def copy(true: Public, tmp_path: Path) -> Public:
    return true.copy_to(tmp_path)


@pytest.fixture
def keys(service: Service, tmp_path: Path) -> Path:
    path = tmp_path / "witnesses.keys"
    path.write_text(f"{service.witness.line}\n")
    return path


def found(public: Public, keys: Path | None = None) -> tuple[VerificationReport, list[str]]:
    words = [Path("--witness"), keys] if keys else []
    return (
        verify_export(public.directory, public.public_key, witness=keys),
        problems_by_node(public.directory, public.public_key, *words),
    )


def test_export_and_live_site_contain_the_signatures_of_a_standard_witness(true: Public, keys: Path) -> None:
    report, second = found(true, keys)

    assert ([], []) == (list(report.problems), second)
    (witness,) = report.witnesses
    size = len(lines_of(true.directory))
    assert (WITNESS, size) == (witness.name, witness.size)
    assert witness.at is not None
    page = (true.directory / "verify.html").read_text()
    (file,) = (true.directory / "log/witness").iterdir()
    assert f'href="log/witness/{file.name}"' in page
    folder = true.directory.parent / "cup"
    with closing(SignedLog(load_plan(folder).store_url, "spring-cup", folder)) as log:
        (path,) = [path for path, _ in log.new_files(0)[1] if path.startswith("log/witness/")]
        assert (true.directory / path).read_bytes() == log.file(path)
        assert log.file("log/witness/../../organiser.key") is None


def test_a_witness_that_the_reader_names_must_have_signed(true: Public, keys: Path, tmp_path: Path) -> None:
    keys.write_text(StandardWitness("other.example", make_key(tmp_path / "other.key")).line)
    report, second = found(true, keys)

    assert ["no checkpoint of the export is signed by the witness other.example"] == list(report.problems) == second
    keys.write_text("nobody\n")
    with pytest.raises(InputError, match="not a key as NAME"):
        found(true, keys)


@pytest.fixture
def announced(service: Service, organiser: Path, tmp_path: Path) -> Iterator[tuple[Store, Path]]:
    (tmp_path / KEY_FILE).write_bytes(organiser.read_bytes())
    (tmp_path / KEY_FILE).chmod(0o600)
    plan = 'name = "spring-cup"\npolicy = "gomocup-standard"\n[format]\nname = "round-robin"\n'
    (tmp_path / "contest.toml").write_text(f"{plan}{service.plan}")
    with closing(Store(load_plan(tmp_path).store_url)) as store:
        store.announce("spring-cup", CHANCE, commitment_to(CHANCE), Announced())
        yield store, tmp_path


def test_witness_is_asked_again_and_signs_the_continuation(
    service: Service, announced: tuple[Store, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    store, folder = announced
    for size in (1, 2, 3):
        cosign(folder)
        assert f"{WITNESS}: signed {size} leaves" == capsys.readouterr().out.splitlines()[-1]
        store.log_once("spring-cup", ImagesChanged(str(size)), "")
    # A store that was begun anew has another first leaf; the witness has signed the former one.
    (folder / "contest.db").unlink()
    with closing(Store(load_plan(folder).store_url)) as again:
        again.announce("spring-cup", CHANCE, commitment_to(CHANCE), Announced())
        with pytest.raises(HostError, match="1 of the witnesses did not sign"):
            cosign(folder)
        assert "it has signed 3 leaves of a log of this name, but this log has 1" in capsys.readouterr().out
        for number in range(3):
            again.log_once("spring-cup", ImagesChanged(f"other {number}"), "")
        with pytest.raises(HostError, match="1 of the witnesses did not sign"):
            cosign(folder)
        assert "answered 422: the proof does not hold" in capsys.readouterr().out


def test_checkpoint_that_a_witness_signed_elsewhere_is_imported(
    service: Service, organiser: Path, announced: tuple[Store, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _, folder = announced
    with closing(SignedLog(load_plan(folder).store_url, "spring-cup", folder)) as log:
        note = dict(log.new_files(0)[1])["log/checkpoint"]
    file = folder / "kept"
    file.write_bytes(service.witness.cosigned(note))
    cosign(folder, file)
    assert f"{WITNESS}: taken from {file}" == capsys.readouterr().out.splitlines()[-1]
    assert file.read_bytes() == next((folder / "witnesses").iterdir()).read_bytes()

    file.write_bytes(StandardWitness("somebody", service.witness.key).cosigned(note))
    with pytest.raises(InputError, match=r"not signed by any of the \[\[witnesses\]\]"):
        cosign(folder, file)
    file.write_bytes(Checkpoint(ORIGIN, 1, bytes(32)).signed(load_key(organiser)).note)
    with pytest.raises(InputError, match="not a checkpoint of the log of spring-cup"):
        cosign(folder, file)


def test_cosign_prints_the_key_of_the_log_that_a_witness_needs_and_cannot_be_without_it(
    organiser: Path, announced: tuple[Store, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _, folder = announced
    cosign(folder)
    line = verifier_key(ORIGIN, ED25519, load_key(organiser).public_key())
    assert f"log      {line}" == capsys.readouterr().out.splitlines()[0]
    (folder / KEY_FILE).unlink()
    with pytest.raises(InputError, match=r"organiser\.key is missing"):
        cosign(folder)


def test_witnesses_are_asked_while_a_contest_is_played_and_at_its_end(
    service: Service, announced: tuple[Store, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = announced
    monkeypatch.setattr(asking, "EVERY_S", 0.05)
    had = len(service.asked)
    with asking.periodic_cosigning(load_plan(folder)):
        give_up = time.monotonic() + 60
        while len(service.asked) < had + 4 and time.monotonic() < give_up:
            time.sleep(0.02)
    assert len(service.asked) >= had + 4
    # A witness that is away is an event of the log of the run, and nothing else.
    service.does = says(503)
    with structlog.testing.capture_logs() as events, asking.periodic_cosigning(load_plan(folder)):
        pass
    assert "a witness did not sign" in [event["event"] for event in events]


def says(status: int, body: bytes = b"") -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def hangs(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.shutdown(socket.SHUT_WR)


AWAY = {
    "an error": (says(500, b"out of order"), "answered 500: out of order"),
    "no signature": (says(200), "the answer: not the signatures of a checkpoint"),
    "another's signature": (says(200, "— a AAAAAAAA\n".encode()), "has no signature by the key of the contest file"),
    "a size that is none": (says(409, b"many"), "answered 409 without the size"),
    "too much": (says(200, b"x" * 100_000), "not the signatures of a checkpoint"),
    "silence": (hangs, "does not answer"),
}


@pytest.mark.parametrize("case", AWAY)
def test_contest_is_locked_in_without_asking_and_an_unavailable_witness_is_reported(
    case: str, service: Service, announced: tuple[Store, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    store, folder = announced
    service.does, why = AWAY[case]
    asked = len(service.asked)
    assert 2 == frozen(store, "spring-cup", "a" * 64, []).leaves
    assert asked == len(service.asked)
    with pytest.raises(HostError, match="1 of the witnesses did not sign"):
        cosign(folder)
    assert why in capsys.readouterr().out
    assert not (folder / "witnesses").exists()


def test_error_in_one_turn_ends_no_later_turn(announced: tuple[Store, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    turns, again = [], threading.Event()

    def fails(*_: object) -> None:
        turns.append(1)
        if len(turns) > 2:
            again.set()
        raise MemoryError

    monkeypatch.setattr(asking, "EVERY_S", 0.01)
    monkeypatch.setattr(ContestLog, "stored", fails)
    with asking.periodic_cosigning(load_plan(announced[1])):
        assert again.wait(60)


def test_a_witness_that_sends_a_byte_now_and_then_does_not_hold_the_contest_up(
    service: Service, announced: tuple[Store, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = threading.Event()

    def drips(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not gone.wait(0.05):
            handler.wfile.write(b"x")

    service.does = drips
    monkeypatch.setattr(asking, "EACH_S", 0.3)
    witnesses = Witnesses(load_plan(announced[1]))
    with pytest.raises(HostError, match=r"no answer within 0\.3 s"):
        witnesses.cosign(witnesses.all[0], Checkpoint(ORIGIN, 0, Tree().root()), Tree())
    gone.set()


def test_log_rewritten_after_a_signature_is_found_in_the_export(true: Public, copy: Public, keys: Path) -> None:
    rewrite(copy, lambda lines: lines.__setitem__(5, replace(lines[5], data="{}")))
    file = next((true.directory / "log/witness").iterdir())
    (copy.directory / "log/witness").mkdir(exist_ok=True)
    (copy.directory / "log/witness" / file.name).write_bytes(file.read_bytes())
    report, second = found(copy, keys)
    for problems in (report.problems, second):
        assert any("the log does not begin with the" in each for each in problems)
    # Who leaves out what the witness signed is found by who names the witness.
    (copy.directory / "log/witness" / file.name).unlink()
    for problems in (found(copy, keys)[0].problems, found(copy, keys)[1]):
        assert f"no checkpoint of the export is signed by the witness {WITNESS}" in problems
