"""`judge witness`: signs what goes on from what it signed before, and refuses everything else, with the proof."""

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from judge.base.errors import HostError, InputError
from judge.cli import witness as command
from judge.store.types import JournalLine
from judge.transparency.checkpoint import Checkpoint, read_checkpoint
from judge.transparency.keys import load_public_key, make_key, public_pem
from judge.transparency.log import ContestLog
from judge.transparency.witness import Read, newest

pytestmark = pytest.mark.slow

ORIGIN = "judge-contest/cup"


class Quiet(SimpleHTTPRequestHandler):
    """A file server that says nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's own name
        pass


class Site:
    """A site with the log of a contest, and a witness with its key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = make_key(folder / "organiser.key")
        self.organiser = folder / "organiser.pem"
        self.organiser.write_bytes(public_pem(self.key.public_key()))
        witness_key = make_key(folder / "witness.key")
        (folder / "witness.pem").write_bytes(public_pem(witness_key.public_key()))
        self.file = folder / "cup.checkpoint"

    def show(self, count: int, changed: int = -1, contest: str = "cup") -> None:
        """Show a log of so many leaves, one of them another one."""
        texts = ["other" if number == changed else str(number) for number in range(count)]
        lines = [JournalLine("now", "note", None, None, text, number=number) for number, text in enumerate(texts)]
        for name, data in ContestLog.of(contest, lines).files(self.key):
            (self.folder / "site" / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / "site" / name).write_bytes(data)

    def witness(self, site: str = "", timeout: float = 60) -> None:
        address, key = site or str(self.folder / "site"), self.folder / "witness.key"
        command.witness(address, self.file, self.organiser, key, "w.example", timeout)

    def signed(self) -> int:
        """The size of the last checkpoint, which the organiser and the witness have signed."""
        checkpoint = read_checkpoint(self.file.read_bytes(), "it")
        assert checkpoint.is_signed(self.key.public_key())
        assert checkpoint.witnessed_at("w.example", load_public_key(self.folder / "witness.pem"))
        return checkpoint.size


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.fixture
def url(site: Site) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site.folder / "site")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_log_that_grows_is_signed_again_and_again_over_http(site: Site, url: str) -> None:
    for size in (3, 3, 256, 700):
        site.show(size)
        site.witness(url)
        assert size == site.signed()


@pytest.mark.parametrize(
    ("count", "changed", "why"),
    [
        (10, 9, "its 10 leaves differ from the last one"),
        (300, 0, "the first 10 leaves differ from the last one"),
    ],
)
def test_rewritten_log_is_refused_and_the_proof_is_kept(
    site: Site, count: int, changed: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    site.show(10)
    site.witness()
    site.show(count, changed)
    with pytest.raises(SystemExit, match="1"):
        site.witness()

    said = capsys.readouterr()
    assert why in said.out
    assert "it is the proof" in said.err
    assert 10 == site.signed()
    proof = read_checkpoint((site.folder / "cup.checkpoint.refused").read_bytes(), "it")
    assert proof.is_signed(site.key.public_key())
    assert (ORIGIN, count) == (proof.origin, proof.size)
    # Who comes back to the old history is signed again.
    site.show(11)
    site.witness()
    assert 11 == site.signed()


def test_later_events_are_not_covered_by_the_witness(site: Site) -> None:
    site.show(10)
    site.witness()
    site.show(12, changed=10)
    site.witness()

    assert 12 == site.signed()


def refused_without_proof(site: Site, capsys: pytest.CaptureFixture[str]) -> str:
    """What is printed for a checkpoint that is not signed and accuses no one."""
    before = site.file.read_bytes() if site.file.exists() else b""
    with pytest.raises(SystemExit, match="1"):
        site.witness()
    said = capsys.readouterr()
    assert said.out.startswith("NOT SIGNED: ")
    assert "this proves nothing against the organiser" in said.err
    assert "it is the proof" not in said.err
    assert not (site.folder / "cup.checkpoint.refused").exists()
    assert before == (site.file.read_bytes() if site.file.exists() else b"")
    return said.out


def test_checkpoint_of_another_key_and_damaged_site_accuse_no_one(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.show(3)
    site.key = make_key(site.folder / "mallory.key")
    checkpoint = site.folder / "site/log/checkpoint"
    true = checkpoint.read_bytes()
    site.show(3, 1)
    assert "not signed by the organiser's key" in refused_without_proof(site, capsys)

    checkpoint.write_bytes(true)
    assert "its root does not match the site's leaves" in refused_without_proof(site, capsys)
    assert not site.file.exists()


def test_address_of_another_contest_accuses_no_one(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither with another organiser's key, nor with the same organiser's."""
    site.show(10)
    site.witness()
    capsys.readouterr()
    for key in (site.key, make_key(site.folder / "other.key")):
        site.key = key
        site.show(12, contest="december")
        said = refused_without_proof(site, capsys)
        assert "it is of the log 'judge-contest/december', and the last one was of 'judge-contest/cup'" in said


def test_outdated_copy_of_the_site_accuses_no_one(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.show(10)
    site.witness()
    capsys.readouterr()
    site.show(9)
    assert "it has 9 leaves, and the last one had 10" in refused_without_proof(site, capsys)


def test_file_of_another_organiser_is_an_error(site: Site) -> None:
    site.show(3)
    site.witness()
    site.organiser.write_bytes(public_pem(make_key(site.folder / "other.key").public_key()))
    with pytest.raises(InputError, match="that this organiser has not signed"):
        site.witness()


def test_log_of_too_many_leaves_is_not_read(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.show(3)
    checkpoint = site.folder / "site/log/checkpoint"
    checkpoint.write_bytes(Checkpoint(ORIGIN, 10**14, bytes(32)).signed(site.key).note)
    shutil.rmtree(site.folder / "site/log/tile")
    assert "it has 100000000000000 leaves, and a contest has at most" in refused_without_proof(site, capsys)


# --- runs at the same time -------------------------------------------------------------------------------------------


def test_second_run_cannot_sign_another_history_while_the_first_reads(site: Site) -> None:
    """The organiser's server delays a tile for the first run, and shows the second one another history."""
    site.show(5)
    site.witness()
    site.show(8)
    anna = {name: (site.folder / "site" / name).read_bytes() for name in ("log/checkpoint", "log/tile/0/000.p/8")}
    site.show(8, changed=7)
    held, go_on = threading.Event(), threading.Event()

    class Slow(Quiet):
        def do_GET(self) -> None:
            held.set() if "tile" in self.path else None
            assert go_on.wait(60) if "tile" in self.path else True
            self.send_response(200)
            self.end_headers()
            self.wfile.write(anna[self.path.lstrip("/")])

    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server, ThreadPoolExecutor(1) as pool:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        first = pool.submit(site.witness, f"http://127.0.0.1:{server.server_port}/")
        assert held.wait(60)
        with pytest.raises(HostError, match="another witness process is using it"):
            site.witness()
        go_on.set()
        first.result(60)
        server.shutdown()
    assert 8 == site.signed()
    with pytest.raises(SystemExit, match="1"):
        site.witness()
    assert anna["log/checkpoint"].splitlines()[2] == site.file.read_bytes().splitlines()[2]


@pytest.mark.parametrize("is_locked", [True, False])
def test_two_histories_are_signed_only_where_nothing_locks_the_file(
    is_locked: bool, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: without the lock and the second look at the file, the attack succeeds."""
    site.show(5)
    site.witness()
    signed = []
    read = newest

    def look(reader: Read) -> Checkpoint:
        """Meanwhile another run signs another history."""
        found = read(reader)
        monkeypatch.setattr(command, "newest", read)
        site.show(8, changed=7)
        with suppress(HostError):
            site.witness()
            signed.append(site.file.read_bytes())
        site.show(8)
        return found

    monkeypatch.setattr(command, "newest", look)
    if not is_locked:
        monkeypatch.setattr(command, "sole_writer", lambda _: nullcontext())
        last = command._last
        state = last(site.file, site.key.public_key())
        monkeypatch.setattr(command, "_last", lambda *_: state)
    site.show(8)
    site.witness()
    signed.append(site.file.read_bytes())
    assert (1 if is_locked else 2) == len({each.splitlines()[2] for each in signed})


def test_file_that_changes_during_the_run_is_not_replaced(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by a program that takes no lock."""
    site.show(5)
    site.witness()
    site.show(6, changed=5)
    other = (site.folder / "site/log/checkpoint").read_bytes()
    site.show(6)
    read = newest

    def look(reader: Read) -> Checkpoint:
        site.file.write_bytes(other)
        return read(reader)

    monkeypatch.setattr(command, "newest", look)
    with pytest.raises(HostError, match="it has changed during this run"):
        site.witness()
    assert other == site.file.read_bytes()


@pytest.mark.parametrize("dripping", ["log/checkpoint", "log/tile/0/000.p/5"])
def test_site_that_sends_a_byte_now_and_then_is_given_up(dripping: str, site: Site) -> None:
    site.show(5)
    gone = threading.Event()

    class Drips(Quiet):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            if self.path.lstrip("/") != dripping:
                self.wfile.write((site.folder / "site" / self.path.lstrip("/")).read_bytes())
                return
            with suppress(OSError):
                while not gone.wait(0.05):
                    self.wfile.write(b"x")

    with ThreadingHTTPServer(("127.0.0.1", 0), Drips) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with pytest.raises(HostError, match="no answer within 1 s; nothing was signed"):
                site.witness(f"http://127.0.0.1:{server.server_port}/", timeout=1)
        finally:
            gone.set()
            server.shutdown()
    assert not site.file.exists()


def test_a_site_that_has_no_log_is_an_error_and_nothing_is_signed(site: Site, url: str) -> None:
    with pytest.raises(HostError, match="404"):
        site.witness(url)
    with pytest.raises(InputError, match="log/checkpoint"):
        site.witness()
    with pytest.raises(InputError, match="not a directory, nor an address"):
        site.witness("file:///etc")
    assert not site.file.exists()
