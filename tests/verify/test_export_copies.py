"""A published folder that went through git, a file manager, an unpacker or a host, verified by both verifiers."""

import subprocess
from pathlib import Path

import pytest

from judge.base.bookkeeping import FILES, FOLDERS
from judge.cli.contest.verify import verify as verify_command
from judge.publish.manifest import GIT_FILE, MANIFEST
from judge.publish.verify.export import verify_export
from tests.publish.public import Public, sign_again
from tests.verify.by_node import problems as problems_by_node
from tests.verify.by_node import verify as verify_by_node

UNDONE = "line ends were changed by git or a copy tool (files: "


def outcomes(public: Public, capsys: pytest.CaptureFixture[str]) -> tuple[list[str], list[str]]:
    """What `judge contest verify` and verify.mjs print of an export without problems."""
    capsys.readouterr()
    verify_command(public.directory, public.public_key)
    code, by_node = verify_by_node(public.directory, public.public_key)
    assert 0 == code
    return capsys.readouterr().out.splitlines(), by_node


def noted(lines: list[str]) -> set[str]:
    return {line.rpartition(": ")[2] for line in lines if line.startswith("note     not part of the export: ")}


def clone(public: Public, folder: Path, value: str) -> Public:
    """A clone by a git that changes line ends as `core.autocrlf` says."""

    def git(folder: Path, *words: str) -> None:
        options = ("user.name=x", "user.email=x@example.org", f"core.autocrlf={value}")
        command = ["git", *(word for option in options for word in ("-c", option)), *words]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)

    git(public.directory, "init", "-q", ".")
    git(public.directory, "add", "-A")
    git(public.directory, "commit", "-qm", "the results")
    folder.mkdir()
    git(folder, "clone", "-q", str(public.directory), "public")
    return Public(folder, public.key)


def change_line_ends(public: Public, *suffixes: str) -> None:
    for path in public.directory.rglob("*"):
        if path.suffix in suffixes:
            path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


@pytest.mark.parametrize("value", ["true", "input"])
def test_clone_with_changed_line_ends_is_verified_after_undoing_them(
    value: str, logged_copy: Public, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (logged_copy.directory / GIT_FILE).unlink()
    assert [set(), set()] == [noted(lines) for lines in outcomes(logged_copy, capsys)]
    for lines in outcomes(clone(logged_copy, tmp_path / "clone", value), capsys):
        assert UNDONE in lines[0]
        assert "ok after undoing changed line ends: spring-cup" in lines[-1]
        assert ".git" in noted(lines)


def test_clone_of_an_export_keeps_its_line_ends(
    logged_copy: Public, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The export has a .gitattributes."""
    for lines in outcomes(clone(logged_copy, tmp_path / "clone", "true"), capsys):
        assert not any(UNDONE in line for line in lines)
        assert {".git"} == noted(lines)


def test_every_line_feed_changed_is_undone_and_a_changed_word_is_found(
    logged_copy: Public, capsys: pytest.CaptureFixture[str]
) -> None:
    change_line_ends(logged_copy, ".json", ".html", ".csv", ".js", ".css", ".pem", ".md", ".pgn")
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


EVERY = {*FOLDERS, *FILES, *(name.upper() for name in FOLDERS)} - {"icon\r", GIT_FILE}


@pytest.mark.parametrize(
    ("files", "notes"),
    [
        ((".DS_Store", "data/.DS_Store"), {".DS_Store", "data/.DS_Store"}),
        (("Thumbs.db", "games/desktop.ini"), {"Thumbs.db", "games/desktop.ini"}),
        ((".nojekyll", "CNAME"), {".nojekyll", "CNAME"}),
        ((".git",), {".git"}),
        (("__MACOSX/data/._games.csv",), {"__MACOSX"}),
        (("._index.html",), {"._index.html"}),
        ((".index.html.swp", ".idea/x.xml"), {".index.html.swp", ".idea"}),
        (tuple(EVERY), EVERY),
        ((GIT_FILE,), {GIT_FILE}),
    ],
    ids=["Finder", "Windows", "GitHub Pages", "git", "unpacker", "disk of macOS", "editor", "all names", "attributes"],
)
def test_bookkeeping_of_others_is_noted(
    files: tuple[str, ...], notes: set[str], logged_copy: Public, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in files:
        (logged_copy.directory / name).parent.mkdir(exist_ok=True, parents=True)
        # The companion of a file on a disk of macOS has its own format.
        (logged_copy.directory / name).write_bytes(b"\0\5\x16\7" + bytes(100))
    for lines in outcomes(logged_copy, capsys):
        assert notes == noted(lines)
        assert "ok: spring-cup" in lines[-1]
    sign_again(logged_copy)
    assert not any(f'"{name}"'.encode() in (logged_copy.directory / MANIFEST).read_bytes() for name in notes)


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
