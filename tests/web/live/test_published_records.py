"""Records of a live site: the bytes whose digests the log has, and headers by which no cache keeps an outdated one."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from judge.contest.contest import Contest
from judge.publish.load import load_store
from judge.publish.model import PublishedContest
from judge.publish.tables import result_tables
from judge.site.game_files import read_stored, read_stored_record
from judge.testing import Agent, Say
from judge.web.live import page as pages_of
from judge.web.live import static
from judge.web.live.page import SEQ
from judge.web.live.pages import LivePages
from judge.web.live.serve import follow, hub_of
from tests.broadcast.logs import accept, play_next, recorder
from tests.publish.cups import Cup, player

MARKS = f"@seq@ {SEQ}"
"""What an agent prints that knows how pages mark their number, also if it had guessed the random mark."""


def talker(seed: int) -> Agent:
    """An agent whose messages have the marks."""
    inner = player("anna", 0.9)(seed)
    return lambda line: [Say(f"MESSAGE {MARKS}\r\n".encode(), 0), *acts] if (acts := inner(line)) else acts


CAST: dict[str, Callable[[int], Agent]] = {"anna": talker, "bert": player("bert", 0.6)}


@pytest.mark.parametrize("is_defended", [True, False])
def test_page_number_never_changes_a_published_record(
    is_defended: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: where every file is numbered, the records are not those of the log."""
    if not is_defended:
        monkeypatch.setattr(static, "numbered", lambda data, _, seq: data.replace(SEQ.encode(), b"%d" % seq, 1))
    with Cup(tmp_path / "cup", CAST) as cup:
        cup.play()
        with recorder(cup) as log:
            log.finish()
        follow(cup.planned, tmp_path / "public", once=True)
        logged = {line.digest for line in cup.store.journal("spring-cup") if line.event == "accepted"}
    records = list((tmp_path / "public/records").iterdir())
    assert 2 == len(records)
    assert is_defended == (logged == {hashlib.sha256(record.read_bytes()).hexdigest() for record in records})
    if is_defended:
        assert all(json.dumps(MARKS)[1:-1] in record.read_text() for record in records)
        for page in (tmp_path / "public").rglob("*.html"):
            assert f'data-seq="{SEQ}"' not in page.read_text()


def test_large_record_has_a_download_in_place_of_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Cup(tmp_path / "cup", CAST) as cup:
        cup.play()
        with closing(hub_of(cup.planned)) as hub, closing(LivePages(cup.planned, hub.painter)) as pages:
            whole = pages.get("games/00001.html", hub.live, 0)
            monkeypatch.setattr("judge.web.live.pages.MAX_PAGE_RECORD_BYTES", 100)
            large = pages.get("games/00001.html", hub.live, 0)
            record = pages.get("records/00001.json", hub.live, 0)
    assert whole is not None
    assert large is not None
    assert record is not None
    assert b'href="../records/00001.json" download' in large.data
    assert b"<svg" in whole.data
    assert b"<svg" not in large.data


def test_record_without_its_transcript_is_that_of_the_whole_file(tmp_path: Path) -> None:
    """An agent prints what begins the second part of a file."""

    def liar(seed: int) -> Agent:
        inner = player("anna", 0.9)(seed)
        return lambda line: [Say(b'MESSAGE ,"transcript":{}}\r\n', 0), *acts] if (acts := inner(line)) else acts

    with Cup(tmp_path / "cup", {**CAST, "anna": liar}) as cup:
        cup.play()
        digests = [result.record for result in cup.store.results("spring-cup")]
        assert 2 == len(digests)
        for digest in digests:
            file = read_stored(cup.planned.files, digest)
            assert "transcript" in file.to_json().decode().partition(',"transcript":')[0]
            assert file.record == read_stored_record(cup.planned.files, digest)


def test_tables_are_computed_once_for_all_who_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []

    def count(contest: PublishedContest) -> Iterator[tuple[str, bytes]]:
        calls.append(contest)
        return result_tables(contest)

    monkeypatch.setattr("judge.web.live.pages.result_tables", count)
    monkeypatch.setattr("judge.web.live.pages.LARGE_RECORD_BYTES", 0)
    with Cup(tmp_path / "cup", CAST) as cup:
        cup.play()
        names = ("standings.csv", "games.json", "nothing.csv", "../organiser.key", "", "games.json/x", "games.json")
        with closing(hub_of(cup.planned)) as hub, closing(LivePages(cup.planned, hub.painter)) as pages:
            found = [pages.find(f"data/{name}", hub.live, 0) for _ in range(2) for name in names]
            assert [True, True, False, False, False, False, True] * 2 == [isinstance(each, Path) for each in found]
            game_table = pages.get("data/games.json", hub.live, 0)
            directory = next(each.parent for each in found if isinstance(each, Path))
    assert game_table is not None
    assert 2 == len(json.loads(game_table.data))
    assert 1 == len(calls)
    assert not directory.exists()


def test_tables_of_the_last_edition_can_be_sent_until_the_next_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.web.live.pages.LARGE_RECORD_BYTES", 0)
    with (
        Cup(tmp_path / "cup", CAST) as cup,
        closing(hub_of(cup.planned)) as hub,
        closing(LivePages(cup.planned, hub.painter)) as pages,
    ):
        paths = []
        for version in range(4):
            pages._load_at = 0.0
            path = pages.find("data/games.csv", hub.live, version)
            assert isinstance(path, Path)
            paths.append(path)
        assert [False, False, True, True] == [path.exists() for path in paths]


@pytest.mark.parametrize("is_over", [False, True])
def test_requests_do_not_load_a_changing_contest_again_and_again(
    is_over: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its store changes with each request, as with each write of an author."""
    calls: list[Contest] = []

    def count(contest: Contest) -> PublishedContest:
        calls.append(contest)
        return load_store(contest)

    with Cup(tmp_path / "cup", CAST) as cup:
        with recorder(cup) as log:
            accept(cup, *play_next(cup))
            if is_over:
                accept(cup, *play_next(cup))
            log.finish()
        with closing(hub_of(cup.planned)) as hub, closing(LivePages(cup.planned, hub.painter)) as pages:
            hub.catch_up()
            pages.find("index.html", hub.live, 0)
            monkeypatch.setattr("judge.web.live.pages.load_store", count)
            monkeypatch.setattr(pages, "_load_at", math.inf)
            for version in range(1, 20):
                pages.final(hub.live, version)
                for path in ("index.html", "games/00002.html", "games/99999.html", "data/games.csv", "live.html"):
                    pages.find(path, hub.live, version)
    assert not calls


def test_page_of_a_game_that_has_just_ended_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        Cup(tmp_path / "cup", CAST) as cup,
        recorder(cup) as log,
        closing(hub_of(cup.planned)) as hub,
        closing(LivePages(cup.planned, hub.painter)) as pages,
    ):
        assert pages.find("games/00001.html", hub.live, 0) is None
        monkeypatch.setattr(pages, "_load_at", math.inf)
        accept(cup, *play_next(cup))
        log.finish()
        hub.catch_up()
        assert pages.find("games/00001.html", hub.live, 1) is not None


def test_every_process_has_another_mark() -> None:
    assert len(SEQ) > 32
    assert pages_of.numbered(b"@seq@", "text/html; charset=utf-8", 7) == b"@seq@"


def test_only_a_file_that_never_changes_is_kept_by_caches(tmp_path: Path) -> None:
    """A result that is annulled and played again has another record under the same name."""
    with Cup(tmp_path / "cup", CAST) as cup:
        cup.play()
        with closing(hub_of(cup.planned)) as hub, closing(LivePages(cup.planned, hub.painter)) as pages:
            before = pages.get("records/00001.json", hub.live, 0)
            cup.store.annul(cup.store.games("spring-cup")[0].id, "a test")
            cup.play()
        with closing(hub_of(cup.planned)) as hub, closing(LivePages(cup.planned, hub.painter)) as pages:
            after = pages.get("records/00001.json", hub.live, 1)
            attempt = pages.get("records/00001.attempt-1.json", hub.live, 1)
    assert before is not None
    assert after is not None
    assert attempt is not None
    assert before.data != after.data
    assert before.data == attempt.data
    assert [False, False, True] == [each.is_fixed for each in (before, after, attempt)]
