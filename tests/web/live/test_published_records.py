"""Records of a live site: the bytes whose digests the log has, and headers by which no cache keeps an outdated one."""

import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.contest.contest import Contest
from judge.journal.events import Paused, Resumed
from judge.site.game_files import read_stored, read_stored_record
from judge.web.live.running_pages import SEQ, LivePage
from judge.web.live.serve import follow
from tests.broadcast.logs import PAIR, accept, complete_log, play_next, recorder
from tests.publish.cups import STRONG_TO_WEAK, Cast, Cup, player
from tests.web.live.watching import talker
from tests.web.service import live_pages, read

MARKS = f"@seq@ {SEQ}"
"""What an agent prints that knows how pages mark their number, also if it had guessed the random mark."""


CAST: Cast = {"anna": talker(PAIR["anna"], MARKS), "bert": player("bert", 0.6)}


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    with Cup(tmp_path / "cup", CAST) as found:
        yield found


@pytest.mark.parametrize("is_defended", [True, False])
def test_page_number_never_changes_a_published_record(
    is_defended: bool, cup: Cup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: where every file is numbered, the records are not those of the log."""
    if not is_defended:
        monkeypatch.setattr(LivePage, "numbered", lambda page: page.data.replace(SEQ.encode(), b"%d" % page.seq, 1))
    cup.play()
    complete_log(cup)
    follow(cup.planned, tmp_path / "public", once=True)
    logged = {line.digest for line in cup.store.journal("spring-cup") if line.event == "accepted"}
    records = list((tmp_path / "public/records").iterdir())
    assert 2 == len(records)
    assert is_defended == (logged == {hashlib.sha256(record.read_bytes()).hexdigest() for record in records})
    if is_defended:
        assert all(json.dumps(MARKS)[1:-1] in record.read_text() for record in records)
        for page in (tmp_path / "public").rglob("*.html"):
            assert f'data-seq="{SEQ}"' not in page.read_text()


def test_large_record_has_a_download_in_place_of_its_page(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    cup.play()
    with live_pages(cup) as pages:
        whole = read(pages, "games/00001.html")
        monkeypatch.setattr("judge.web.live.pages.MAX_PAGE_RECORD_BYTES", 100)
        large = read(pages, "games/00001.html")
        assert read(pages, "records/00001.json").data
    assert b'href="../records/00001.json" download' in large.data
    assert (True, False) == (b"<svg" in whole.data, b"<svg" in large.data)


def test_record_without_its_transcript_is_that_of_the_whole_file(tmp_path: Path) -> None:
    """An agent prints what begins the second part of a file."""
    with Cup(tmp_path / "cup", {**CAST, "anna": talker(PAIR["anna"], ',"transcript":{}}')}) as cup:
        cup.play()
        digests = [result.record for result in cup.store.results("spring-cup")]
        assert 2 == len(digests)
        for digest in digests:
            file = read_stored(cup.planned.files, digest)
            assert "transcript" in file.to_json().decode().partition(',"transcript":')[0]
            assert file.record == read_stored_record(cup.planned.files, digest)


def change(cup: Cup) -> None:
    """Add a line to the journal."""
    cup.store.set_state(cup.contest.name, Paused("a test"))
    cup.store.set_state(cup.contest.name, Resumed("a test"))


@pytest.mark.parametrize("is_over", [False, True])
def test_requests_load_a_changing_contest_seldom(is_over: bool, cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    with recorder(cup) as log:
        for _ in range(1 + is_over):
            accept(cup, *play_next(cup))
        log.finish()
    with live_pages(cup) as pages:
        pages.find("index.html")
        monkeypatch.setattr(Contest, "read", lambda _: pytest.fail("the contest is read"))
        monkeypatch.setattr(pages, "_load_at", math.inf)
        for _ in range(20):
            change(cup)
            pages.final()
            for path in ("index.html", "games/00002.html", "games/99999.html", "data/games.csv", "live.html"):
                pages.find(path)


def test_another_contest_of_the_database_changes_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = f'store = "sqlite:///{tmp_path}/both.db"'
    with (
        Cup(tmp_path / "one", PAIR, name="one", more=more) as one,
        Cup(tmp_path / "other", STRONG_TO_WEAK, name="other", more=more) as other,
        live_pages(one) as pages,
    ):
        for interval in ("LOAD_S", "CHECK_S"):
            monkeypatch.setattr(f"judge.web.live.pages.{interval}", 0.0)
        monkeypatch.setattr("judge.web.live.pages.LOAD_SHARE", math.inf)
        found = []
        for cup in (one, other, one):
            change(cup)
            found.append(pages.edition())
        assert [1, 1, 2] == found


def test_page_of_a_game_that_has_just_ended_is_its_own(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    with recorder(cup) as log, live_pages(cup) as pages:
        assert pages.find("games/00001.html") is None
        monkeypatch.setattr(pages, "_load_at", math.inf)
        accept(cup, *play_next(cup))
        log.finish()
        pages.hub.catch_up()
        assert pages.find("games/00001.html") is not None


def test_mark_of_a_page_cannot_be_guessed() -> None:
    assert len(SEQ) > 32


def test_only_a_file_that_never_changes_is_kept_by_caches(cup: Cup) -> None:
    """A result that is annulled and played again has another record under the same name."""
    cup.play()
    found = []
    for names in (["00001"], ["00001", "00001.attempt-1"]):
        with live_pages(cup) as pages:
            found += [read(pages, f"records/{name}.json") for name in names]
        cup.store.annul(cup.store.games("spring-cup")[0].id, "a test")
        cup.play()
    before, after, attempt = found
    assert before.data == attempt.data != after.data
    assert [False, False, True] == [each.is_fixed for each in found]
