"""A published folder that went through git, a file manager, an unpacker or a host, verified by both verifiers."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.base.bookkeeping import FILES, FOLDERS
from judge.cli.contest.verify import verify as verify_command
from judge.publish.manifest import GIT_FILE, MANIFEST
from judge.verify.export import verify_export
from tests.publish.public import Public, sign_again
from tests.verify.by_node import problems as problems_by_node
from tests.verify.by_node import verify as verify_by_node

UNDONE = "line ends were changed by git or a copy tool (files: "


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def outcomes(public: Public, capsys: pytest.CaptureFixture[str]) -> tuple[list[str], list[str]]:
    """What `judge contest verify` and verify.mjs print of an export without problems."""
    capsys.readouterr()
    verify_command(public.directory, public.public_key)
    code, by_node = verify_by_node(public.directory, public.public_key)
    assert 0 == code
    return capsys.readouterr().out.splitlines(), by_node


def clone(public: Public, folder: Path, value: str) -> Public:
    """A clone by a git that changes line ends as `core.autocrlf` says."""
    (public.directory / GIT_FILE).unlink()
    git(public.directory, "init", "-q", ".")
    git(public.directory, "-c", f"core.autocrlf={value}", "add", "-A")
    git(public.directory, "commit", "-qm", "the results")
    copy = Public(folder, public.key)
    git(folder, "-c", f"core.autocrlf={value}", "clone", "-q", str(public.directory), "public")
    return copy


@pytest.mark.parametrize("value", ["true", "input"])
def test_clone_with_changed_line_ends_is_verified_after_undoing_them(
    value: str, logged_copy: Public, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "clone").mkdir()
    public = clone(logged_copy, tmp_path / "clone", value)
    for lines in outcomes(public, capsys):
        assert UNDONE in lines[0]
        assert "ok after undoing changed line ends: spring-cup" in lines[-1]
        assert "note     not part of the export: .git" in lines


def test_clone_of_an_export_keeps_its_line_ends(
    logged_copy: Public, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The export has a .gitattributes."""
    git(logged_copy.directory, "init", "-q", ".")
    git(logged_copy.directory, "-c", "core.autocrlf=true", "add", "-A")
    git(logged_copy.directory, "commit", "-qm", "the results")
    (tmp_path / "clone").mkdir()
    public = Public(tmp_path / "clone", logged_copy.key)
    git(tmp_path / "clone", "-c", "core.autocrlf=true", "clone", "-q", str(logged_copy.directory), "public")
    for lines in outcomes(public, capsys):
        assert not any(UNDONE in line for line in lines)
        assert ["note     not part of the export: .git"] == [line for line in lines if "not part of" in line]


def test_every_line_feed_changed_is_undone_and_a_changed_word_is_found(
    logged_copy: Public, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in logged_copy.directory.rglob("*"):
        if path.suffix in (".json", ".html", ".csv", ".js", ".css", ".pem", ".md", ".pgn"):
            path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    for lines in outcomes(logged_copy, capsys):
        assert UNDONE in lines[0]
    page = logged_copy.directory / "index.html"
    page.write_bytes(page.read_bytes().replace(b"bert", b"anna", 1))
    report = verify_export(logged_copy.directory, logged_copy.public_key)
    assert ["index.html: changed"] == list(report.problems)
    assert report.changed_line_ends
    code, lines = verify_by_node(logged_copy.directory, logged_copy.public_key)
    assert (1, True) == (code, UNDONE in lines[0])
    assert "problem: index.html: changed" in lines


def test_copy_that_changed_binary_files_also_is_undone(logged_copy: Public, capsys: pytest.CaptureFixture[str]) -> None:
    """As FTP does in its mode for text."""
    while b"\n" not in (logged_copy.directory / "manifest.sig").read_bytes():
        page = logged_copy.directory / "index.html"
        page.write_text(f"{page.read_text()} ")
        sign_again(logged_copy)
    for path in logged_copy.directory.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    for lines in outcomes(logged_copy, capsys):
        assert UNDONE in lines[0]


def test_another_signature_with_changed_line_ends_is_refused(logged_copy: Public) -> None:
    manifest = logged_copy.directory / MANIFEST
    manifest.write_bytes(manifest.read_bytes().replace(b'"size":', b'"size":1', 1).replace(b"\n", b"\r\n"))
    assert any("not signed by" in each for each in verify_export(logged_copy.directory, None).problems)
    assert any("not signed by" in each for each in problems_by_node(logged_copy.directory))


def companion(directory: Path) -> None:
    (directory / "._index.html").write_bytes(b"\0\5\x16\7" + bytes(100))


def unpacked(directory: Path) -> None:
    (directory / "__MACOSX/data").mkdir(parents=True)
    (directory / "__MACOSX/data/._games.csv").write_bytes(bytes(9))


def a_file(*names: str) -> Callable[[Path], None]:
    def add(directory: Path) -> None:
        for name in names:
            (directory / name).parent.mkdir(exist_ok=True)
            (directory / name).write_bytes(b"x")

    return add


ADDED: dict[str, tuple[Callable[[Path], None], set[str]]] = {
    "Finder": (a_file(".DS_Store", "data/.DS_Store"), {".DS_Store", "data/.DS_Store"}),
    "Windows": (a_file("Thumbs.db", "games/desktop.ini"), {"Thumbs.db", "games/desktop.ini"}),
    "GitHub Pages": (a_file(".nojekyll", "CNAME"), {".nojekyll", "CNAME"}),
    "a work tree of git": (a_file(".git"), {".git"}),
    "an unpacker": (unpacked, {"__MACOSX"}),
    "a disk of macOS": (companion, {"._index.html"}),
    "an editor": (a_file(".index.html.swp", ".idea/x.xml"), {".index.html.swp", ".idea"}),
}


@pytest.mark.parametrize("case", ADDED)
def test_bookkeeping_of_others_is_noted(case: str, logged_copy: Public, capsys: pytest.CaptureFixture[str]) -> None:
    add, names = ADDED[case]
    add(logged_copy.directory)
    for lines in outcomes(logged_copy, capsys):
        noted = {line.rpartition(": ")[2] for line in lines if "not part of the export: " in line}
        assert names == noted
        assert "ok: spring-cup" in lines[-1]


@pytest.mark.parametrize(
    "name", ["extra.html", "._extra.html", "data/CNAME", ".hidden", "git/x.html", "games/00099.html", "Thumbs.db.html"]
)
def test_other_files_are_problems(name: str, logged_copy: Public) -> None:
    (logged_copy.directory / name).parent.mkdir(exist_ok=True)
    (logged_copy.directory / name).write_text("<h1>anna has won</h1>")
    for found in (
        verify_export(logged_copy.directory, logged_copy.public_key).problems,
        problems_by_node(logged_copy.directory, logged_copy.public_key),
    ):
        assert any(name.partition("/")[0] in problem for problem in found)


def test_both_verifiers_know_the_same_bookkeeping(logged_copy: Public, capsys: pytest.CaptureFixture[str]) -> None:
    names = {*FOLDERS, *FILES, *(name.upper() for name in FOLDERS)} - {"icon\r", GIT_FILE}
    for name in names:
        (logged_copy.directory / name).write_bytes(b"")
    noted = [
        {line.rpartition(": ")[2] for line in lines if "not part of the export: " in line}
        for lines in outcomes(logged_copy, capsys)
    ]
    assert [names, names] == noted


def test_another_gitattributes_is_noted(logged_copy: Public, capsys: pytest.CaptureFixture[str]) -> None:
    (logged_copy.directory / GIT_FILE).write_text("*.html linguist-generated\n")
    for lines in outcomes(logged_copy, capsys):
        assert f"note     not part of the export: {GIT_FILE}" in lines
    (logged_copy.directory / GIT_FILE).unlink()
    for lines in outcomes(logged_copy, capsys):
        assert not any("not part of" in line for line in lines)


def test_signing_again_leaves_bookkeeping_out(logged_copy: Public) -> None:
    (logged_copy.directory / ".DS_Store").write_bytes(b"x")
    sign_again(logged_copy)
    assert b"DS_Store" not in (logged_copy.directory / MANIFEST).read_bytes()
    shutil.rmtree(logged_copy.directory)
