"""`judge witness`: signs what goes on from what it signed before, and refuses everything else, with the proof."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from judge.cli.witness import witness
from judge.errors import HostError, InputError
from judge.publish.keys import load_public_key, make_key, public_pem
from judge.publish.log import ContestLog
from judge.store.types import JournalLine
from judge.transparency.checkpoint import read_checkpoint

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

    def show(self, count: int, changed: int = -1) -> None:
        """Show a log of so many leaves, one of them another one."""
        texts = ["other" if number == changed else str(number) for number in range(count)]
        lines = [JournalLine("now", "note", None, None, text, number=number) for number, text in enumerate(texts)]
        for name, data in ContestLog.of("cup", lines).files(self.key):
            (self.folder / "site" / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / "site" / name).write_bytes(data)

    def witness(self, site: str = "") -> None:
        witness(site or str(self.folder / "site"), self.file, self.organiser, self.folder / "witness.key", "w.example")

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
        (9, -1, "it has 9 leaves, and the last one had 10: leaves were dropped"),
        (10, 9, "the first 10 leaves are not those of the last one"),
        (300, 0, "the first 10 leaves are not those of the last one"),
    ],
)
def test_a_log_that_was_rewritten_is_refused_and_the_proof_is_kept(
    site: Site, count: int, changed: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    site.show(10)
    site.witness()
    site.show(count, changed)
    with pytest.raises(SystemExit, match="1"):
        site.witness()

    assert why in capsys.readouterr().out
    assert 10 == site.signed()
    proof = read_checkpoint((site.folder / "cup.checkpoint.refused").read_bytes(), "it")
    assert proof.is_signed(site.key.public_key())
    assert (ORIGIN, count) == (proof.origin, proof.size)
    # Who comes back to the old history is signed again.
    site.show(11)
    site.witness()
    assert 11 == site.signed()


def test_what_happened_after_the_last_one_is_not_the_witness_s_business(site: Site) -> None:
    site.show(10)
    site.witness()
    site.show(12, changed=10)
    site.witness()

    assert 12 == site.signed()


def test_another_organiser_s_checkpoint_and_a_root_that_the_site_has_not_are_refused(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.show(3)
    site.key = make_key(site.folder / "mallory.key")
    checkpoint = site.folder / "site/log/checkpoint"
    true = checkpoint.read_bytes()
    site.show(3, 1)
    with pytest.raises(SystemExit, match="1"):
        site.witness()
    assert "not signed by the organiser's key" in capsys.readouterr().out

    checkpoint.write_bytes(true)
    with pytest.raises(SystemExit, match="1"):
        site.witness()
    assert "its root is not that of the leaves of the site" in capsys.readouterr().out
    assert not site.file.exists()


def test_a_site_that_has_no_log_is_an_error_and_nothing_is_signed(site: Site, url: str) -> None:
    with pytest.raises(HostError, match="404"):
        site.witness(url)
    with pytest.raises(InputError, match="log/checkpoint"):
        site.witness()
    with pytest.raises(InputError, match="not a directory, nor an address"):
        site.witness("file:///etc")
    assert not site.file.exists()
