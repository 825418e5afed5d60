"""verify.mjs, under Node.js and in a browser: what it accepts, what it names, and what it lists as not checked."""

import html
import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from judge.publish.export.export import PageOptions
from judge.publish.manifest import MANIFEST
from judge.publish.verify.export import verify_export
from tests.contests import Recipe
from tests.examples import evidence
from tests.patience import PATIENCE_S
from tests.publish.cups import STRONG_TO_WEAK, Cup, crasher
from tests.publish.public import Public, change, sign_again
from tests.site.browser import Browser
from tests.verify import independent_reading
from tests.verify.by_node import VERIFIER, node, problems, verify
from tests.verify.forger import FORMS


def test_unchanged_export_is_accepted_as_by_judge_and_unchecked_parts_are_listed(exported: Public) -> None:
    code, lines = verify(exported.directory, exported.public_key)

    assert (0, "ok: spring-cup") == (code, lines[-1])
    assert any(
        line.startswith("not checked: results, tables, schedule, draws, entries: judge contest") for line in lines
    )
    (unread,) = [line for line in lines if line.startswith("not checked: contents of data/")]
    tables = {path.relative_to(exported.directory).as_posix() for path in (exported.directory / "data").iterdir()}
    assert tables - {"data/journal.json"} == set(re.findall(r"data/[a-zA-Z.]+", unread))
    assert not any("who signed" in line for line in lines)
    assert any("who signed" in line for line in verify(exported.directory)[1])
    report = verify_export(exported.directory, exported.public_key)
    assert {f"manifest {report.manifest.digest}", f"key      {report.manifest.fingerprint}"} <= set(lines)
    assert VERIFIER.read_bytes() == (exported.directory / "verify.mjs").read_bytes()


def run_alone(*words: Path) -> subprocess.CompletedProcess[str]:
    """The command that its page names."""
    return subprocess.run([node(), VERIFIER, *words], capture_output=True, text=True, check=False)


def test_command_prints_what_the_process_for_many_directories_prints(exported: Public, copy: Public) -> None:
    (copy.directory / "index.html").write_text("changed")
    for public in (exported, copy):
        done = run_alone(public.directory, public.public_key)
        assert (done.returncode, done.stdout.splitlines()) == verify(public.directory, public.public_key)
        assert "" == done.stderr
    done = run_alone()
    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("verify.mjs: usage: node verify.mjs DIRECTORY")


def test_ratings_as_criterion_are_computed_by_the_verifier_and_the_independent_reading(tmp_path: Path) -> None:
    cast = {name: STRONG_TO_WEAK[name] for name in ("anna", "bert", "dora")} | {"always": crasher("always", 0)}
    form = 'name = "round-robin"\ncycles = 2\ngames = 2\nranking = ["rating"]'
    public = Recipe("by-rating", cast, form, "[failures]\nafter = 2\nlimit = 0.4").export(tmp_path)

    assert [] == independent_reading.problems(public.directory)
    rows = json.loads((public.directory / "data/standings.json").read_bytes())
    assert ([1, 2, 3, 4], "always") == ([row["place"] for row in rows], rows[-1]["agent"])
    assert 1600 == pytest.approx(sum(row["compared:rating"] for row in rows if row["games"]) / 3, abs=0.1)

    for key, value in {"compared:rating": 2222.5, "place": 2}.items():
        (public.directory / "data/standings.json").write_text(json.dumps([rows[0] | {key: value}, *rows[1:]]))
        sign_again(public)
        assert any(key in problem for problem in verify_export(public.directory, public.public_key).problems)
        assert any(key in problem for problem in independent_reading.problems(public.directory))


def test_files_that_are_changed_missing_or_more_are_named(copy: Public) -> None:
    (copy.directory / "extra.html").write_text("hello")
    (copy.directory / "games.pgn").unlink()
    (copy.directory / "index.html").write_text("changed")
    (copy.directory / "link.html").symlink_to("index.html")

    expected = {
        "extra.html: not in the manifest",
        "games.pgn: missing",
        "index.html: changed",
        "link.html: links and special files are not allowed in an export",
    }
    assert expected == set(problems(copy.directory, copy.public_key))
    by_judge = {each.replace("links and special files are", "a link or a special file, which is") for each in expected}
    assert by_judge == set(verify_export(copy.directory, copy.public_key).problems)


def test_a_bye_counts_in_sonneborn_berger_for_the_verifier_and_the_independent_reading(tmp_path: Path) -> None:
    public = FORMS["swiss"].recipe.export(tmp_path)
    assert [] == independent_reading.problems(public.directory)

    def count_without_byes(rows: Any) -> None:
        row = next(row for row in rows if row["byes"] and row["points"])
        row["compared:sonneborn-berger"] -= row["byes"] * row["points"]

    change(public.directory / "data/standings.json", count_without_byes)
    sign_again(public)

    assert any("sonneborn" in each for each in verify_export(public.directory, public.public_key).problems)
    assert any("sonneborn" in each for each in independent_reading.problems(public.directory))


def test_a_bye_in_another_round_is_found(tmp_path: Path) -> None:
    """There are two then in one round, at one table."""
    public = FORMS["swiss"].recipe.export(tmp_path)

    def move_bye(rows: Any) -> None:
        next(row for row in rows if row["second"] is None)["round"] += 1

    change(public.directory / "data/pairings.json", move_bye)
    sign_again(public)

    assert verify_export(public.directory, public.public_key).problems
    assert independent_reading.problems(public.directory)


def test_folder_that_cannot_be_read_is_a_problem(copy: Public) -> None:
    """Its name is too long for the system, and it does not control the terminal."""
    for first in ("\x1b[31m", "_"):
        at = os.open(copy.directory, os.O_RDONLY)
        for name in (first, *["n" * 120] * 40):
            os.mkdir(name, dir_fd=at)
            outer, at = at, os.open(name, os.O_RDONLY, dir_fd=at)
            os.close(outer)
        os.close(at)
    found = problems(copy.directory, copy.public_key)
    assert any("copy the export again" in problem for problem in found)
    assert all(problem.isprintable() for problem in found)
    report = verify_export(copy.directory, copy.public_key)
    assert any("(File name too long); copy the export again" in problem for problem in report.problems)
    shutil.rmtree(copy.directory)


MEANING = "document.querySelector('#meaning:not([hidden])').textContent"


def said_by(browser: Browser, public: Public, page: Path | None = None) -> list[str]:
    """What the page of the export, or another one, says of the directory, opened from disk."""
    browser.open(page or public.directory / "verify.html")
    browser.choose("directory", public.directory)
    browser.choose("key", public.public_key)
    return checked_in(browser)


def checked_in(browser: Browser) -> list[str]:
    """What the shown page says after a click on Check."""
    said = browser.ask("""new Promise((resolve) => {
      const list = document.getElementById("said");
      const start = document.getElementById("start");
      const lines = () => [...list.children].map((line) => line.textContent);
      const look = () => start.disabled || !list.children.length || resolve(lines());
      new MutationObserver(look).observe(document.body, {subtree: true, childList: true, attributes: true});
      start.click();
    })""")
    assert isinstance(said, list)
    return said


def test_the_page_checks_itself_in_a_browser_as_node_does(browser: Browser, exported: Public) -> None:
    browser.leave()
    browser.requests.clear()

    assert verify(exported.directory, exported.public_key)[1] == said_by(browser, exported)
    assert "The check found no problem." == browser.ask(MEANING)
    assert [] == browser.errors
    assert [] == [url for url in browser.requests if not url.startswith(("file:", "data:", "about:"))]


def test_texts_in_an_export_stay_text(copy: Public) -> None:
    """A name with control characters does not reach the terminal."""
    manifest = copy.directory / MANIFEST
    document = json.loads(manifest.read_bytes())
    document["contest"] = "\x1b[31mred\u202e"
    manifest.write_text(json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n")

    _, lines = verify(copy.directory)
    assert not any("\x1b" in line or "\u202e" in line for line in lines)


class WaitingHandler(SimpleHTTPRequestHandler):
    """Sends this file when the test permits it."""

    name = "/data/standings.json"
    is_asked, is_permitted = Event(), Event()

    def do_GET(self) -> None:
        if self.path == self.name:
            self.is_asked.set()
            self.is_permitted.wait(PATIENCE_S)
        super().do_GET()


@contextmanager
def served(directory: Path, kind: type[SimpleHTTPRequestHandler] = SimpleHTTPRequestHandler) -> Iterator[str]:
    """The address of an export on a file server."""
    handler = partial(kind, directory=str(directory))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("folder", [pytest.param("", marks=evidence), "cs/"])
def test_visitor_checks_the_served_site_without_a_copy(browser: Browser, exported: Public, folder: str) -> None:
    with served(exported.directory) as address:
        browser.visit(f"{address}/{folder}verify.html")
        said = checked_in(browser)
        meaning = {"": "The check found no problem. It did not check who signed", "cs/": "Kontrola nenašla žádný"}
        assert str(browser.ask(MEANING)).startswith(meaning[folder])
        browser.leave()

    assert verify(exported.directory)[1] == said
    assert [] == browser.errors


def test_file_that_is_no_checkpoint_does_not_put_the_results_in_doubt(
    browser: Browser, exported: Public, tmp_path: Path
) -> None:
    (tmp_path / "picture.png").write_bytes(b"a picture")
    with served(exported.directory) as address:
        browser.visit(f"{address}/verify.html")
        browser.ask("document.querySelector('#check details').open = true")
        browser.choose("since", tmp_path / "picture.png")
        assert ["FAILED: picture.png: not a checkpoint of a log"] == checked_in(browser)
        assert str(browser.ask(MEANING)).startswith("Nothing was checked")
        browser.leave()


def test_page_shows_how_many_files_of_a_long_check_were_read(browser: Browser, exported: Public) -> None:
    shown = "document.querySelector('#progress:not([hidden]) span')?.textContent"
    files = len(json.loads((exported.directory / MANIFEST).read_bytes())["files"]) + 2
    with served(exported.directory, WaitingHandler) as address:
        browser.visit(f"{address}/verify.html")
        assert browser.ask(shown) is None
        browser.ask("document.getElementById('start').click()")
        assert WaitingHandler.is_asked.wait(PATIENCE_S)
        browser.wait_for(f"{shown}?.endsWith(' / {files}')")
        count = int(str(browser.ask(shown)).split(" / ")[0])
        bar = browser.ask("[...document.querySelectorAll('#progress progress')].map((bar) => [bar.value, bar.max])[0]")
        assert ([count, files], True) == (bar, 2 < count < files)
        assert browser.ask("document.getElementById('start').disabled")
        WaitingHandler.is_permitted.set()
        browser.wait_for(MEANING.replace(").", ")?."))
        assert browser.ask(shown) is None
        browser.leave()


def test_page_of_a_served_site_names_changed_and_missing_files(browser: Browser, copy: Public) -> None:
    sign_again(copy)
    (copy.directory / "data/standings.csv").write_text("changed")
    with served(copy.directory) as address:
        browser.visit(f"{address}/verify.html")
        changed = checked_in(browser)
        (copy.directory / "data/standings.csv").unlink()
        missing = checked_in(browser)
        browser.leave()

    assert "problem: data/standings.csv: changed" in changed
    assert any("/data/standings.csv: HTTP status 404" in line for line in missing)
    assert changed[-1].startswith("FAILED")
    assert missing[-1].startswith("FAILED")


def test_commands_of_the_page_unpack_the_archive_that_the_organiser_names(cup: Cup, tmp_path: Path) -> None:
    web = tmp_path / "web"
    web.mkdir()
    with served(web) as address:
        options = PageOptions(languages=("en",), archive=f"{address}/spring.tar.gz")
        public = cup.export(tmp_path, pages=options)
        with tarfile.open(web / "spring.tar.gz", "w:gz") as tar:
            tar.add(public.directory, "any-name")
        page = html.unescape((public.directory / "verify.html").read_text())
        (commands,) = re.findall(r"<pre>(curl .*?)</pre>", page, re.DOTALL)
        (tmp_path / "viewer").mkdir()
        script = ["bash", "-euo", "pipefail", "-c", commands]
        subprocess.run(script, cwd=tmp_path / "viewer", check=True, capture_output=True)

    assert "mkdir site\ncd site" not in page
    assert [] == list(verify_export(tmp_path / "viewer/site", public.public_key).problems)


def test_commands_of_the_page_download_the_whole_export(exported: Public, tmp_path: Path) -> None:
    page = (exported.directory / "verify.html").read_text()
    (commands,) = re.findall(r"<pre>(mkdir .*?)</pre>", page, re.DOTALL)
    with served(exported.directory) as address:
        script = html.unescape(commands).replace("ADDRESS", address)
        subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, check=True, capture_output=True)

    assert [] == list(verify_export(tmp_path / "site", exported.public_key).problems)


def test_journal_that_differs_from_the_log_is_found(logged_copy: Public) -> None:
    change(logged_copy.directory / "data/journal.json", lambda lines: lines[3].update(at="2013-03-02"))
    sign_again(logged_copy)
    assert ["leaf 3 of the log differs from the line of the journal"] == problems(
        logged_copy.directory, logged_copy.public_key
    )
