"""Witnesses that a contest announces: asked over HTTP, their signatures carried and checked, and the draw bound to
them."""

import json
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.base.errors import HostError, InputError
from judge.base.locks import try_lock_directory
from judge.cli.contest.cosign import cosign
from judge.cli.witness import witness as judge_witness
from judge.cli.witness_server import witness_server
from judge.contest import witnesses as asking
from judge.contest.contest import frozen
from judge.contest.plan import load_plan
from judge.contest.witnesses import Witnesses
from judge.export.export import PageOptions, publish
from judge.store.contests import Store
from judge.store.types import UNWITNESSED, JournalLine
from judge.tournament.seeds import commitment_to
from judge.transparency.checkpoint import COSIGNATURE, Checkpoint, verifier_key
from judge.transparency.keys import make_key, public_pem
from judge.transparency.log import KEY_FILE, ContestLog, SignedLog
from judge.transparency.merkle import Tree
from judge.transparency.witness import AddCheckpoint, Refused, read_request, sole_writer
from judge.verify.export import VerificationReport, verify_export
from judge.web.intake.witness import Witness
from tests.contest.cups import CHANCE
from tests.forked import ForkedProcess
from tests.publish.cups import Cup
from tests.publish.public import Public
from tests.verify.log_forgeries import PAIR, in_document, lines_of, rewrite
from tests.verify.test_second_verifier import notes_of_both
from tests.verify.test_second_verifier import problems as problems_by_node

WITNESS = "example.net/ada"


@dataclass
class Service:
    """A witness that answers over HTTP; what it signed, and what it does instead of answering."""

    folder: Path
    organiser: Ed25519PrivateKey
    key: Ed25519PrivateKey
    url: str = ""
    does: Callable[[BaseHTTPRequestHandler], None] | None = None
    asked: list[bytes] = field(default_factory=list)

    @property
    def line(self) -> str:
        return verifier_key(WITNESS, COSIGNATURE, self.key.public_key())

    @property
    def plan(self) -> str:
        return f'[[witnesses]]\nkey = "{self.line}"\nurl = "{self.url}"\n'

    def witness(self) -> Witness:
        self.folder.mkdir(exist_ok=True)
        return Witness(self.folder, ["spring-cup"], self.organiser.public_key(), WITNESS, self.key)


@contextmanager
def serving(folder: Path, organiser: Ed25519PrivateKey) -> Iterator[Service]:
    service = Service(folder / "signed", organiser, make_key(folder / "witness.key"))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            service.asked.append(body)
            if service.does is not None:
                service.does(self)
                return
            answer = service.witness().response(body)
            self.send_response(answer.status_code)
            self.end_headers()
            self.wfile.write(bytes(answer.body))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's own name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield service
        server.shutdown()


def held(folder: Path, service: Service, does: Callable[[Cup, Witnesses], object] = lambda *_: None) -> Public:
    """A contest of one pairing whose draw follows from the witness, which is asked once more before the export."""
    public = Public(folder, service.organiser)
    folder.joinpath("cup").mkdir(parents=True, exist_ok=True)
    if not (folder / "cup" / KEY_FILE).exists():
        (folder / "cup" / KEY_FILE).write_bytes((service.folder.parent / "organiser.key").read_bytes())
        (folder / "cup" / KEY_FILE).chmod(0o600)
    with Cup(folder / "cup", PAIR, more=service.plan, drawn=lambda _: None) as cup:
        witnesses = Witnesses(cup.planned)
        cup.play()
        does(cup, witnesses)
        publish(cup.contest, public.directory, public.private, public.key, PageOptions(languages=("en",)))
    return public


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    with serving(folder, make_key(folder / "organiser.key")) as service:
        yield service


@pytest.fixture(autouse=True)
def _answers(service: Service) -> Iterator[None]:
    yield
    service.does = None
    for file in service.folder.glob("*"):
        file.unlink()


def sign_all(cup: Cup, witnesses: Witnesses) -> None:
    log = ContestLog("spring-cup", partial(cup.store.leaves, "spring-cup"))
    assert [""] == [why for _, why in witnesses.ask(log)]


@pytest.fixture(scope="module")
def true(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Public:
    return held(tmp_path_factory.mktemp("true"), service, sign_all)


@pytest.fixture
def copy(true: Public, tmp_path: Path) -> Public:
    return true.copy_to(tmp_path)


@pytest.fixture
def keys(service: Service, tmp_path: Path) -> Path:
    path = tmp_path / "witnesses.keys"
    path.write_text(f"{service.line}\n")
    return path


def found(public: Public, keys: Path | None = None, since: Path | None = None) -> tuple[VerificationReport, list[str]]:
    words = [Path("--witness"), keys] if keys else []
    words += [Path("--since"), since] if since else []
    return (
        verify_export(public.directory, public.public_key, since, witness=keys),
        problems_by_node(public.directory, public.public_key, *words),
    )


# --- what a witness signed is carried --------------------------------------------------------------------------------


def test_export_contains_witness_signatures_and_its_draw_follows_from_them(true: Public, keys: Path) -> None:
    report, second = found(true, keys)

    assert ([], []) == (list(report.problems), second)
    (witness,) = report.witnesses
    size = len(lines_of(true.directory))
    assert (WITNESS, size) == (witness.name, witness.size)
    assert witness.at is not None
    document = json.loads((true.directory / "contest.json").read_text())
    assert [WITNESS] == list(document["freeze"]["witnessed"])
    page = (true.directory / "verify.html").read_text()
    assert "The draw follows from its signature." in page
    (file,) = (true.directory / "log/witness").iterdir()
    assert f'href="log/witness/{file.name}"' in page


def test_a_witness_that_the_reader_names_must_have_signed(true: Public, keys: Path, tmp_path: Path) -> None:
    keys.write_text(verifier_key("other.example", COSIGNATURE, make_key(tmp_path / "other.key").public_key()))
    report, second = found(true, keys)

    assert ["no checkpoint of the export is signed by the witness other.example"] == list(report.problems) == second
    keys.write_text("nobody\n")
    with pytest.raises(InputError, match="not a key as NAME"):
        found(true, keys)


def test_live_site_contains_witness_signatures(true: Public) -> None:
    folder = true.directory.parent / "cup"
    with closing(SignedLog(load_plan(folder).store_url, "spring-cup", folder)) as log:
        (path,) = [path for path, _ in log.new_files(0)[1] if path.startswith("log/witness/")]
        assert (true.directory / path).read_bytes() == log.file(path)
        assert log.file("log/witness/../../organiser.key") is None


# --- asking ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def announced(service: Service, tmp_path: Path) -> Iterator[tuple[Store, Path]]:
    """A contest that was announced, and its folder."""
    (tmp_path / KEY_FILE).write_bytes((service.folder.parent / "organiser.key").read_bytes())
    (tmp_path / KEY_FILE).chmod(0o600)
    plan = 'name = "spring-cup"\npolicy = "gomocup-standard"\n[format]\nname = "round-robin"\n'
    (tmp_path / "contest.toml").write_text(f"{plan}{service.plan}")
    with closing(Store(load_plan(tmp_path).store_url)) as store:
        store.announce("spring-cup", CHANCE, commitment_to(CHANCE))
        yield store, tmp_path


def test_witness_is_asked_again_and_signs_the_continuation(
    service: Service, announced: tuple[Store, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    store, folder = announced
    for size in (1, 2, 3):
        cosign(folder)
        assert f"{WITNESS}: signed {size} leaves\n" == capsys.readouterr().out
        store.log_once("spring-cup", "images", str(size), "")
    # A store that was begun anew has another first leaf; the witness has signed the former one.
    (folder / "contest.db").unlink()
    with closing(Store(load_plan(folder).store_url)) as again:
        again.announce("spring-cup", CHANCE, commitment_to(CHANCE))
        with pytest.raises(HostError, match="1 of the witnesses did not sign"):
            cosign(folder)
        assert "it has signed 3 leaves of a log of this name, but this log has 1" in capsys.readouterr().out
        for number in range(3):
            again.log_once("spring-cup", "images", f"other {number}", "")
        with pytest.raises(HostError, match="1 of the witnesses did not sign"):
            cosign(folder)
        assert "answered 422: the proof does not show that the checkpoint continues" in capsys.readouterr().out


def test_unrequested_witness_signature_is_accepted(
    service: Service, announced: tuple[Store, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _, folder = announced
    with closing(SignedLog(load_plan(folder).store_url, "spring-cup", folder)) as log:
        for path, data in log.new_files(0)[1]:
            (folder / "site" / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / "site" / path).write_bytes(data)
    (folder / "o.pem").write_bytes(public_pem(service.organiser.public_key()))
    key, file = service.folder.parent / "witness.key", folder / "kept"
    judge_witness(str(folder / "site"), file, folder / "o.pem", key, WITNESS)
    capsys.readouterr()
    cosign(folder, file)
    assert f"{WITNESS}: taken from {file}\n" == capsys.readouterr().out
    assert file.read_bytes() == next((folder / "witnesses").iterdir()).read_bytes()

    judge_witness(str(folder / "site"), folder / "other", folder / "o.pem", key, "somebody")
    with pytest.raises(InputError, match=r"not signed by any of the \[\[witnesses\]\]"):
        cosign(folder, folder / "other")
    (folder / "other").write_bytes(Checkpoint("judge-contest/spring-cup", 1, bytes(32)).signed(service.organiser).note)
    with pytest.raises(InputError, match="not a checkpoint of the log of spring-cup"):
        cosign(folder, folder / "other")


def test_a_contest_without_its_key_cannot_have_witnesses(announced: tuple[Store, Path]) -> None:
    (announced[1] / KEY_FILE).unlink()
    with pytest.raises(InputError, match=r"organiser\.key is missing"):
        cosign(announced[1])


def test_the_same_checkpoint_has_the_same_signature_for_the_draw_and_no_other_is_signed(service: Service) -> None:
    """So an organiser who asks again, or asks with other leaves, gets nothing to choose from."""
    one, other = ([b"first", b"second", text] for text in (b"frozen", b"frozen otherwise"))
    signed: list[bytes | None] = []
    for leaves in (one, one):
        new = Checkpoint("judge-contest/spring-cup", 3, Tree(leaves).root()).signed(service.organiser)
        old = 3 if signed else 0
        answer = service.witness().sign(AddCheckpoint(old, [], new).body)
        assert isinstance(answer, Checkpoint)
        signed.append(answer.timeless_signature(WITNESS, service.key.public_key()))
    assert signed[0] is not None
    assert signed[0] == signed[1]
    new = Checkpoint("judge-contest/spring-cup", 3, Tree(other).root()).signed(service.organiser)
    for old in (0, 3):
        assert Refused(409, "3") == service.witness().sign(AddCheckpoint(old, [], new).body)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b""),
        (400, b"old 1\n\n"),
        (400, b"old -1\n\njudge-contest/spring-cup\n1\n"),
        (400, b"old 0\n" + b"A" * 70_000 + b"\n\n"),
        (400, b"\xff" * 100),
        (404, AddCheckpoint(0, [], Checkpoint("judge-contest/../x", 1, bytes(32))).body + b"\xe2\x80\x94 a AAAAAAAA\n"),
        (403, AddCheckpoint(0, [], Checkpoint("judge-contest/spring-cup", 1, bytes(32))).body
         + b"\xe2\x80\x94 judge-contest/spring-cup AAAAAAAA\n"),
    ],
)  # fmt: skip
def test_a_witness_refuses_everything_else(service: Service, status: int, body: bytes) -> None:
    answer = service.witness().sign(body)
    assert isinstance(answer, Refused)
    assert status == answer.status
    assert not list(service.folder.glob("*.checkpoint"))


def test_a_request_is_read_as_it_was_written(service: Service) -> None:
    tree = Tree(str(number).encode() for number in range(700))
    new = Checkpoint("judge-contest/spring-cup", 700, tree.root()).signed(service.organiser)
    request = AddCheckpoint(257, tree.consistency(257, 700), new)
    assert request == read_request(request.body)


def test_witness_server_signs_over_http_and_continues_after_a_kill(
    service: Service, announced: tuple[Store, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    store, folder = announced
    (folder / "o.pem").write_bytes(public_pem(service.organiser.public_key()))
    (folder / "signed").mkdir()
    key = service.folder.parent / "witness.key"
    words = ["witness-server", folder / "signed", "spring-cup", "--organiser", folder / "o.pem", "--key", key]
    for size in (1, 2):
        command = [sys.executable, "-m", "judge.cli", *map(str, words), "--name", WITNESS, "--listen", "127.0.0.1:0"]
        with ForkedProcess(command, stdout=-1, stderr=-1, text=True) as server:
            try:
                assert server.stdout is not None
                assert server.stderr is not None
                assert f"key      {service.line}\n" == server.stdout.readline()
                (port,) = re.findall(r"on http://127\.0\.0\.1:([0-9]+)", server.stderr.readline())
                plan = (folder / "contest.toml").read_text()
                address = f"http://127.0.0.1:{port}/"
                (folder / "contest.toml").write_text(re.sub('url = ".*"', f'url = "{address}"', plan))
                cosign(folder)
                assert f"{WITNESS}: signed {size} leaves\n" == capsys.readouterr().out
                with pytest.raises(HTTPError, match="413"):
                    urlopen(f"{address}add-checkpoint", b"x" * 100_000, timeout=30)  # noqa: S310
            finally:
                server.kill()
        store.log_once("spring-cup", "images", "power cut", "")


def test_two_witness_services_on_one_folder_never_sign_two_histories(service: Service) -> None:
    """A second process has the lock of the file: nothing is signed. Afterwards the other history is refused."""
    anna, bert = (
        Checkpoint("judge-contest/spring-cup", 1, Tree([text]).root()).signed(service.organiser)
        for text in (b"anna won", b"bert won")
    )
    one, other = service.witness(), service.witness()
    with sole_writer(service.folder / "spring-cup.checkpoint"):
        refused = one.sign(AddCheckpoint(0, [], anna).body)
    assert isinstance(refused, Refused)
    assert 503 == refused.status
    assert not list(service.folder.glob("*.checkpoint"))
    assert isinstance(one.sign(AddCheckpoint(0, [], anna).body), Checkpoint)
    assert Refused(409, "1") == other.sign(AddCheckpoint(0, [], bert).body)


def test_a_second_witness_server_in_the_folder_is_refused(service: Service, tmp_path: Path) -> None:
    (tmp_path / "o.pem").write_bytes(public_pem(service.organiser.public_key()))
    key = service.folder.parent / "witness.key"
    lock = try_lock_directory(service.folder)
    assert lock is not None
    with lock, pytest.raises(InputError, match="another witness server uses"):
        witness_server(service.folder, ["cup"], tmp_path / "o.pem", key, listen="127.0.0.1:0")


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


# --- a witness that is away ------------------------------------------------------------------------------------------


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
def test_contest_continues_without_an_unavailable_witness_and_shows_it(
    case: str, service: Service, announced: tuple[Store, Path]
) -> None:
    store, folder = announced
    service.does, why = AWAY[case]
    witnesses = Witnesses(load_plan(folder))
    freeze = frozen(store, "spring-cup", "a" * 64, witnesses.all, witnesses.cosign)
    assert {} == freeze.witnessed
    (line,) = [line for line in store.leaves("spring-cup", 0, 9) if line.event == UNWITNESSED]
    assert line.text.startswith(f"{WITNESS}: {service.url}: ")
    assert why in line.text
    # Whoever said once that it was away cannot ask again for another draw.
    service.does, asked = None, len(service.asked)
    assert freeze == frozen(store, "spring-cup", "a" * 64, witnesses.all, witnesses.cosign)
    assert asked == len(service.asked)


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
        witnesses.cosign(witnesses.all[0], Checkpoint("judge-contest/spring-cup", 0, Tree().root()), Tree())
    gone.set()


# --- the draw --------------------------------------------------------------------------------------------------------


def without(public: Public) -> None:
    in_document(public, lambda each: each["freeze"].update(witnessed={}))


def tell(name: str) -> Callable[[list[JournalLine]], Any]:
    """Insert that a witness was away, after the freeze."""
    return lambda lines: lines.insert(2, replace(lines[1], event=UNWITNESSED, text=f"{name}: no answer", digest=None))


def said_away(public: Public) -> None:
    rewrite(public, tell(WITNESS))


def other_signature(public: Public) -> None:
    """A signature of the witness that was made at another time: that of the end of the log, or one with a time."""
    in_document(public, lambda each: each["freeze"]["witnessed"].update({WITNESS: "ab" * 64}))


def unannounced(public: Public) -> None:
    in_document(public, lambda each: each["freeze"]["witnessed"].update({"mallory": "ab" * 64}))


def other_witnesses(public: Public) -> None:
    in_document(public, lambda each: (each.update(witnesses=[]), each["freeze"].update(witnessed={})))


def not_of_the_draw(public: Public) -> None:
    in_document(public, lambda each: (each["witnesses"][0].update(draw=False), each["freeze"].update(witnessed={})))


TERMS = "the entries and terms that the log locked in differ from those of contest.json"
FORGED: dict[str, tuple[Callable[[Public], None], str]] = {
    "the signature left out": (
        without, f"the draw has no signature of its witness {WITNESS}, and the log has no reason"
    ),
    "another signature": (
        other_signature, f"the draw's signature by {WITNESS} does not fit the log at the moment of the draw"
    ),
    "said to be away, and used": (
        said_away, f"the log records that the witness {WITNESS} did not sign, but the draw has its signature"
    ),
    "a signature by nobody": (
        unannounced, "the draw depends on a signature by mallory, which is not one of its witnesses"
    ),
    "no witnesses": (other_witnesses, TERMS),
    "no witness of the draw": (not_of_the_draw, TERMS),
}  # fmt: skip


@pytest.mark.parametrize("forgery", FORGED)
def test_a_draw_that_does_not_follow_from_its_witness_is_found(forgery: str, copy: Public) -> None:
    forge, problem = FORGED[forgery]
    forge(copy)
    report, second = found(copy)
    assert problem in report.problems
    assert problem in second


def test_another_signature_gives_another_draw_so_that_the_games_do_not_fit(copy: Public) -> None:
    other_signature(copy)
    assert any("than the contest's seed gives" in each for each in found(copy)[0].problems)


def test_a_log_that_was_rewritten_after_the_witness_signed_is_found_in_the_export_itself(
    true: Public, copy: Public, keys: Path
) -> None:
    """Without any checkpoint that the reader kept."""
    rewrite(copy, lambda lines: lines.__setitem__(5, replace(lines[5], text="other")))
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


def test_draw_without_its_witness_is_reported_and_a_later_signature_contradicts_it(
    service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service.does = says(503)
    public = held(tmp_path, service)
    report, second = found(public)
    assert ([], []) == (list(report.problems), second)
    (decision,) = report.decisions
    assert decision.startswith(f"drawn without the witness {WITNESS}: {service.url}: answered 503")
    assert "BUT" not in decision
    document = json.loads((public.directory / "contest.json").read_text())
    root = bytes.fromhex(document["freeze"]["root"])
    kept = Checkpoint("judge-contest/spring-cup", document["freeze"]["leaves"], root).signed(service.organiser)
    (tmp_path / "kept").write_bytes(kept.cosigned(WITNESS, service.key, 1_700_000_000).note)
    (decision,) = found(public, since=tmp_path / "kept")[0].decisions
    assert "BUT it signed the log at that moment, 2023-11-14 22:13:20 UTC" in decision
    noted = [f"note     {decision}"]
    assert (noted, noted) == notes_of_both(public, capsys, tmp_path / "kept")
