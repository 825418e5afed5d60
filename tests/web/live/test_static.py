"""The same pages as files: any file server carries them, and they go on by asking it."""

import json
import math
import re
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.broadcast.log import LOG_FILE
from judge.cli.contest.publish import checked_archive
from judge.contest.contest import Contest
from judge.contest_view.values import conditions_of
from judge.contest_view.view import ContestView
from judge.publish.tables import tables
from judge.site.game_files import read_stored
from judge.transparency.checkpoint import read_checkpoint
from judge.transparency.keys import KEY_FILE, fingerprint, make_key, public_pem
from judge.transparency.merkle import Tree, read_leaves
from judge.web.live.pages import LivePages
from judge.web.live.serve import follow
from judge.web.live.static import EVENTS_PER_FILE, StaticSite
from tests.broadcast.logs import PAIR, accept, complete_log, events, play_next, recorder
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.site.browser import Browser
from tests.verify.test_second_verifier import served
from tests.web.live.test_live import ROWS
from tests.web.live.watching import tell, told_by, until
from tests.web.service import live_pages, read


def test_pages_update_from_any_file_server_until_the_contest_is_over(browser: Browser, tmp_path: Path) -> None:
    public = tmp_path / "public"
    form = 'name = "round-robin"\ngames = 2'
    with Cup(tmp_path / "cup", PAIR, form=form, more="[failures]\nafter = 1000") as cup, recorder(cup) as log:
        log.read_store()
        game, file, frames = told_by(cup, log)
        tell(frames, 6)
        words = ["contest", "export", str(public), str(cup.folder), "--unsigned", "--follow"]
        with ForkedProcess[bytes]([sys.executable, "-m", "judge.cli", *words]) as process, served(public) as url:
            until((public / "feed/head.json").exists, "no head was written")
            browser.visit(f"{url}/games/00001.html")
            browser.wait_for("document.querySelector('[data-clock]') !== null")
            tell(frames)
            browser.wait_for(f"{ROWS} == {len(file.record.plies)}")
            plot_width = "document.querySelector('.plot.time').viewBox.baseVal.width"
            browser.wait_for(f"{plot_width} == {len(file.record.plies) + 1}")
            accept(cup, game, file)
            log.finish()
            # The page of the export is at the same address.
            browser.wait_for("document.querySelector('.controls input')?.checkVisibility()")
            game, file, frames = told_by(cup, log)
            accept(cup, game, file)
            log.finish()
            assert 0 == process.wait(PATIENCE_S)
            browser.visit(f"{url}/live.html")
            assert "Final." in browser.ask("document.getElementById('over').innerText")
            assert not browser.ask("[...document.scripts].some(each => each.src.endsWith('live.js'))")
            for width in (390, 1280):
                browser.set_view(width)
                assert [] == browser.violations()
        assert 2 == len(list(public.glob("records/*.json")))
        pages = [path for path in public.rglob("*.html") if "data-log=" in path.read_text()]
        assert [] == pages


def test_every_page_is_final_if_the_last_result_is_stored_before_its_game_ends_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Cup(tmp_path / "cup", PAIR, form='name = "round-robin"\ngames = 1') as cup, recorder(cup) as log:
        log.read_store()
        game, file, frames = told_by(cup, log)
        tell(frames, 6)
        with closing(LivePages(cup.planned, is_static=True)) as pages:
            site = StaticSite(pages, tmp_path / "public")
            accept(cup, game, file)
            assert not site.write()
            assert "data-log=" in (tmp_path / "public/fairness.html").read_text()

            log.finish()
            monkeypatch.setattr(pages, "_load_at", 0.0)
            assert site.write()
    assert [] == [path for path in (tmp_path / "public").rglob("*.html") if "data-log=" in path.read_text()]


def test_only_final_pages_link_to_the_archive_that_the_organiser_names(tmp_path: Path) -> None:
    archive, found = "https://example.org/cup.tar.gz", list[bool]()
    with Cup(tmp_path / "cup", PAIR, form='name = "round-robin"\ngames = 1') as cup:
        for _ in range(2):
            follow(cup.planned, tmp_path / "public", once=True, archive=archive)
            found.append(f'<a href="{archive}">' in (tmp_path / "public/verify.html").read_text())
            cup.play()

    assert [False, True] == found


def test_certificate_of_fairness_is_complete_at_first_visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.web.live.certificate.READ_S", 0.0)
    monkeypatch.setattr("judge.web.live.certificate.READ_BEFORE_S", math.inf)
    with Cup(tmp_path / "cup", PAIR, form='name = "round-robin"\ngames = 4') as cup:
        accept(cup, *play_next(cup))
        with live_pages(cup) as pages:
            read(pages, "index.html")
            assert b"1 of 1 finished games" in read(pages, "fairness.html").data


@pytest.mark.parametrize(
    "address", ["cup.tar.gz", "https://example.org/", "https://example.org/cup.zip", "https://example.org/a;b.tar"]
)
def test_address_that_is_no_archive_is_refused(address: str) -> None:
    with pytest.raises(InputError, match=r"https://example\.org/cup\.tar\.gz"):
        checked_archive(address)


def test_every_event_is_in_one_file_and_the_files_can_be_made_again(tmp_path: Path) -> None:
    public = tmp_path / "public"
    with Cup(tmp_path / "cup", PAIR, form='name = "round-robin"\ngames = 40') as cup:
        key = make_key(cup.folder / KEY_FILE)
        cup.play()
        complete_log(cup)
        follow(cup.planned, public, once=True)
        # The page of verification links to the key and to the data.
        text = (public / "verify.html").read_text()
        assert fingerprint(key.public_key()) in text
        links = re.findall(r'href="([^"]*)"', text[text.index("<main") : text.index("</main>")])
        names = {link.rpartition("/")[2] for link in links}
        assert {"organiser.pem", "contest.json", "games.csv", "checkpoint", "games.html"} <= names
        assert all((public / link).is_file() for link in links)
        assert public_pem(key.public_key()) == (public / "organiser.pem").read_bytes()
        # The log of the site is whole and signed, and what a service would answer is the same.
        checkpoint = read_checkpoint((public / "log/checkpoint").read_bytes(), "it")
        leaves = read_leaves(lambda path: (public / "log" / path).read_bytes(), checkpoint.size)
        assert (82, True) == (checkpoint.size, checkpoint.is_signed(key.public_key()))
        assert Tree(leaves).root() == checkpoint.root
        with live_pages(cup) as pages:
            for name in ("log/checkpoint", "log/tile/0/000.p/82", "log/tile/entries/000.p/7"):
                page = read(pages, name)
                assert "p/7" in name or page.data == (public / name).read_bytes()
            for name in ("log/tile/0/000", "log/tile/9/000", "log/other", "log/../contest.toml"):
                assert None is pages.get(name)
        # The certificate is the one that an export of the same games has.
        published = cup.contest.read()
        games = [
            replace(game, conditions=conditions_of(read_stored(cup.planned.files, game.result.record).record))
            for game in published.games
            if game.result is not None
        ]
        expected = tables(replace(published, games=games))["fairness.json"]
        assert 40 == json.loads(expected)[0]["games"]
        assert expected == (public / "data/fairness.json").read_bytes()
        assert "40 of 40 finished games" in (public / "fairness.html").read_text()
        count = events(cup)[-1]["seq"]
        assert count > EVENTS_PER_FILE
        for _ in range(2):
            lines = [line for path in sorted(public.glob("feed/*.ndjson")) for line in path.read_bytes().splitlines()]
            numbers = [int(line[len(b'{"seq":') :].split(b",")[0]) for line in lines]
            assert list(range(1, count + 1)) == numbers
            for path in public.glob("feed/*.ndjson"):
                path.write_bytes(b"")
            follow(cup.planned, public, once=True)
        for name in ("index.html", "games/00040.html", "records/00040.json", "data/games.csv", "live.js"):
            assert (public / name).stat().st_size, name
        assert not list(public.rglob("*.partial"))


def test_feed_of_a_log_with_another_name_is_written_again(tmp_path: Path) -> None:
    """A judge that repairs its log gives it a new name; all other lines are equal."""
    public = tmp_path / "public"
    with Cup(tmp_path / "cup", PAIR, form='name = "round-robin"\ngames = 40') as cup:
        cup.play()
        complete_log(cup)
        with closing(LivePages(cup.planned, is_static=True)) as pages:
            site = StaticSite(pages, public)
            site.write()
            before = {path.name: path.read_bytes() for path in public.glob("feed/*.ndjson")}
            first, *lines = (cup.folder / LOG_FILE).read_bytes().splitlines(keepends=True)
            renamed = first.replace(events(cup)[0]["log"].encode(), b"0" * 32)
            (cup.folder / "new").write_bytes(b"".join([renamed, *lines]))
            (cup.folder / "new").replace(cup.folder / LOG_FILE)
            site.write()

        after = {path.name: path.read_bytes() for path in public.glob("feed/*.ndjson")}
    assert len(before) > 1
    assert before.keys() == after.keys()
    assert before["000000.ndjson"] != after.pop("000000.ndjson")
    assert after.items() <= before.items()


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with Cup(tmp_path / "cup", PAIR) as cup, pytest.raises(InputError):
        follow(cup.planned, tmp_path, once=True)


def test_result_from_between_two_readings_is_shown_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a contest takes a share of the time only: what comes in between is shown with the next reading."""
    with Cup(tmp_path / "cup", PAIR) as cup, recorder(cup) as log:
        log.read_store()
        with live_pages(cup) as pages:
            site = StaticSite(pages, tmp_path / "public")
            assert not site.write()
            before = pages.hub.live.seq
            monkeypatch.setattr(pages, "_load_at", math.inf)
            accept(cup, *play_next(cup))
            log.finish()
            site.write()
            # A page that is not read again says so by its number: the script asks for it once more.
            assert pages.hub.live.seq > before
            assert f'data-seq="{before}"' in read(pages, "index.html").numbered().decode()
            monkeypatch.setattr(pages, "_load_at", 0.0)
            site.write()
            assert "controls" in (tmp_path / "public/games/00001.html").read_text()


def test_page_of_an_ended_game_follows_a_disqualification(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Cup(tmp_path / "cup", STRONG_TO_WEAK) as cup, recorder(cup) as log:
        log.read_store()
        with live_pages(cup) as pages:
            site, page = StaticSite(pages, tmp_path / "public"), tmp_path / "public/games/00001.html"
            game, file = play_next(cup)
            accept(cup, game, file)
            log.finish()
            site.write()
            assert "does not count" not in page.read_text()
            cup.store.disqualify(cup.contest.name, game.first, "two programs")
            log.finish()
            monkeypatch.setattr(pages, "_load_at", 0.0)
            site.write()
            assert "This game does not count" in page.read_text()


def test_page_does_not_claim_events_from_during_its_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its script would not ask again: a result would be missing for good."""
    with Cup(tmp_path / "cup", PAIR) as cup, recorder(cup) as log:
        log.read_store()
        with live_pages(cup) as pages:
            before, read_at_once = pages.hub.live.seq, Contest.read

            def read_slowly(stored: Contest) -> ContestView:
                contest = read_at_once(stored)
                accept(cup, *play_next(cup))
                log.finish()
                pages.hub.catch_up()
                return contest

            monkeypatch.setattr(Contest, "read", read_slowly)
            pages.get("crosstable.html")
            monkeypatch.setattr(pages, "_load_at", math.inf)
            assert pages.hub.live.seq > before
            assert f'data-seq="{before}"' in read(pages, "crosstable.html").numbered().decode()
