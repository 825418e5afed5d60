"""Pages of a running contest, rendered once per state. Their script continues from the last event (`SEQ`)."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from judge.base.durable_files import sha256_of
from judge.base.errors import HostError
from judge.base.logs import get_logger
from judge.base.owner import owned_directory
from judge.base.text import json_text
from judge.catalog.files import steps_of
from judge.contest.contest import Contest, open_store
from judge.contest.hosts import ContestHost, contest_hosts
from judge.contest.plan import Planned
from judge.contest.window_keeper import PlanFile
from judge.contest_games import PublishedGame
from judge.contest_view.joined import Joined
from judge.contest_view.ladder import RATINGS_FILE, LadderRatings
from judge.contest_view.stored import WITHHELD, public_view
from judge.contest_view.values import Stream
from judge.contest_view.view import ContestView
from judge.publish.before_export import with_joined
from judge.publish.manifest import PUBLIC_KEY
from judge.publish.tables import CERTIFICATE, certificate_files, documents, result_tables, term_digests
from judge.record.spec import public_part
from judge.site.game_files import public_record, read_stored
from judge.site.game_page import GamePageContext, game_pages, large_record_page
from judge.site.pages import ASSETS, PagePlace, asset, render_for
from judge.site.site import pages
from judge.statistics.fairness import TIME
from judge.translations.language import CODES, languages
from judge.transparency.keys import fingerprint, public_pem
from judge.transparency.log import LOG, WITNESSED, SignedLog, witnessed_files
from judge.web.kit.answers import kind_of
from judge.web.kit.rendering import LARGE_RECORD_BYTES, MAX_PAGE_RECORD_BYTES, ByteCache, RecordTask
from judge.web.live.archive import ARCHIVE, RESULTS, Exports
from judge.web.live.certificate import Certificate
from judge.web.live.hub import ContestHub
from judge.web.live.running_pages import SEQ, LivePage, RunningPages

_log = get_logger()

SCRIPT, WAITING_SCRIPT, MOMENTS_SCRIPT = "live.js", "waiting.js", "moments.js"

SCRIPTS = (SCRIPT, MOMENTS_SCRIPT)

RUNNING, INDEX = "live.html", "index.html"

NAVIGATION = tuple(
    f"{name}.html" for name in ("live", "index", "crosstable", "games", "rounds", "journal", "fairness", "verify")
)

LOAD_S, LOAD_SHARE = 0.5, 0.2
"""Interval and share of time for reading and computing pages."""

CHECK_S = 0.05
"""Interval of reading the position of the journal."""

HOSTS_S = 5.0

WRITTEN_TABLES = 2
"""Editions with tables on disk: those of the last one are perhaps being sent."""

CACHED_PAGES_BYTES = 32 << 20
"""Of one state of the contest."""


@dataclass(slots=True)
class _Edition:
    position: object
    seq: int
    """The last event that it shows."""
    contest: ContestView
    writers: Mapping[str, Callable[[], bytes]]
    games: Mapping[str, PublishedGame]
    pages: ByteCache[LivePage] = field(default_factory=lambda: ByteCache(CACHED_PAGES_BYTES))
    tables: Mapping[str, Path] = field(default_factory=dict)
    """Files of the tables, once one was asked for."""
    archive: Path | None = None
    results: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the tables."""

    def keep(self, path: str, data: bytes) -> LivePage:
        page = LivePage(data, kind_of(path))
        self.pages.put(path, page, len(data))
        return page


@dataclass(frozen=True, slots=True)
class RecordPage:
    """A file that is computed from the record of a game."""

    task: RecordTask
    kind: str
    seq: int
    is_fixed: bool = False

    def page(self, data: bytes) -> LivePage:
        return LivePage(data, self.kind, self.is_fixed, self.seq)


class LivePages:
    """The pages of a begun contest, and the hub of its events. Renders pages in one thread at a time."""

    def __init__(
        self, planned: Planned, *, is_static: bool = False, has_authors: bool = False, archive: str = ""
    ) -> None:
        """Open the contest's store. Raises InputError before it begins."""
        if planned.has_no_store:
            raise planned.not_begun()
        self._store = open_store(planned)
        self._contest = Contest(self._store, planned)
        self.hub = ContestHub(planned.folder, self._contest.snapshot.policy)
        self._is_static = is_static
        self._has_authors = has_authors
        self._archive = archive
        self._edition: _Edition | None = None
        self._editions = 0
        self._load_at = 0.0
        self._tests: tuple[ContestView | None, dict[str, LivePage]] = (None, {})
        self._lock = Lock()
        self._resources = ExitStack()
        self._directory: Path | None = None
        self._written: list[Path] = []
        self._languages = languages(CODES)
        self._certificate = Certificate(planned.files, is_static=is_static)
        self._joined = _joined(self._contest)
        self._ladder = LadderRatings(planned.folder / RATINGS_FILE)
        self._file = PlanFile(planned)
        self._hosts: tuple[float, Sequence[ContestHost]] = (-HOSTS_S, ())
        self.games = RunningPages(
            self._contest.snapshot.shown_name,
            self._contest.snapshot.policy,
            self._contest.snapshot.clocks,
            self.hub.painter,
            self._file,
            is_static=is_static,
            has_authors=has_authors,
            has_rounds=self._contest.snapshot.format.has_rounds,
            boards=self.hub.boards,
        )
        self.log = SignedLog(planned.store_url, planned.name, planned.folder)
        key = self.log.key
        self._exports = None if is_static or key is None else Exports(planned.folder, key.public_key())

    def close(self) -> None:
        self.hub.close()
        self._resources.close()
        self._store.close()
        self.log.close()

    def get(self, path: str) -> LivePage | None:
        """File at a path from the top of the site, or None."""
        found = self.find(path)
        if isinstance(found, Path):
            return LivePage(found.read_bytes(), kind_of(path))
        return found.page(found.task.result()) if isinstance(found, RecordPage) else found

    def find(self, path: str) -> "LivePage | RecordPage | Path | None":
        """As `get`, without reading the record of a game; of a large table its file."""
        with self._lock:
            if path in SCRIPTS or path in ASSETS:
                return asset_page(path)
            place = PagePlace.of_file(path)
            if place.path.startswith("games/"):
                return self._game(place)
            if path.startswith(LOG):
                return log_page(self.log, path)
            edition = self._read()
            if path.startswith("data/fairness.") or place.path == "fairness.html":
                return self._tested_page(path, place, edition)
            if path.startswith("records/"):
                return self._record(path, edition)
            if place.path == "verify.html":
                self._find_archive(edition)
            page = edition.pages.get(path)
            if page is None and path.startswith("data/"):
                table = self._tables(edition).get(path.removeprefix("data/"))
                if table is None or table.stat().st_size > LARGE_RECORD_BYTES:
                    return table
                page = edition.keep(path, table.read_bytes())
            elif page is None and path in edition.writers:
                # Pages compute what they show, such as the certainty of many places.
                with self._delaying_load():
                    page = edition.keep(path, edition.writers[path]())
            if page is not None:
                page.seq = edition.seq
            return page

    @contextmanager
    def _delaying_load(self) -> Iterator[None]:
        began = time.monotonic()
        yield
        self._load_at += (time.monotonic() - began) / LOAD_SHARE

    def _tables(self, edition: _Edition) -> Mapping[str, Path]:
        """Written once for an edition: all of them are computed together."""
        if not edition.tables:
            if self._directory is None:
                self._directory = self._resources.enter_context(owned_directory())
            folder = self._directory / str(self._editions)
            self._written.append(folder)
            with self._delaying_load():
                try:
                    folder.mkdir()
                    for name, data in result_tables(edition.contest):
                        (folder / name).write_bytes(data)
                except OSError as error:
                    shutil.rmtree(self._written.pop(), ignore_errors=True)
                    raise HostError(f"{folder}: {error.strerror}: make room there, or set TMPDIR") from None
                edition.tables = {path.name: path for path in folder.iterdir()}
            while len(self._written) > WRITTEN_TABLES:
                shutil.rmtree(self._written.pop(0))
        return edition.tables

    def _tested_page(self, path: str, place: PagePlace, edition: _Edition) -> LivePage | None:
        """Tests change while records are read."""
        tested = self._certificate.tested(edition.contest)
        if self._tests[0] is not tested:
            self._tests = tested, {}
        pages = self._tests[1]
        if path not in pages and place.path == "fairness.html":
            known = sum(game.conditions is not None for game in tested.games)
            values = {"time": TIME, "known": known, "played": len(edition.contest.played)}
            pages[path] = LivePage(render_for(tested, "fairness.html", "fairness", place, values), kind_of(path))
        elif path not in pages:
            data = certificate_files(tested).get(path.removeprefix("data/"))
            if data is None:
                return None
            pages[path] = LivePage(data, kind_of(path))
        pages[path].seq = edition.seq
        return pages[path]

    def archive(self) -> Callable[[], Iterator[bytes]] | None:
        """A function that packs the newest export in compressed chunks (raises InputError); None without an export."""
        with self._lock:
            edition = self._read()
            self._find_archive(edition)
            if self._exports is None or edition.archive is None:
                return None
            return partial(self._exports.packed, edition.archive, export_name(edition.contest))

    def paths(self) -> list[str]:
        """All files except games and records."""
        with self._lock:
            edition = self._read()
            names = [*self._tables(edition), *CERTIFICATE]
            fairness = [place.file for place in self.places("fairness.html")]
            return [*ASSETS, *SCRIPTS, *edition.writers, *fairness, *(f"data/{name}" for name in names)]

    def contest(self) -> ContestView:
        with self._lock:
            return self._read().contest

    def document(self, make: Callable[[ContestView], object], path: str = "") -> LivePage:
        """A document of the shown contest as JSON; with a path it is made once for a state."""
        with self._lock:
            edition = self._read()
            page = edition.pages.get(path)
            if page is None:
                with self._delaying_load():
                    data = f"{json_text(make(edition.contest))}\n".encode()
                page = edition.keep(path, data) if path else LivePage(data, kind_of("json"))
            return page

    def edition(self) -> int:
        """Rises with each loaded state."""
        with self._lock:
            self._read()
            return self._editions

    def is_current(self) -> bool:
        """Whether the loaded contest has every event."""
        with self._lock:
            return self._read().seq == self.hub.live.seq

    def final(self) -> ContestView | None:
        """None before the end."""
        live = self.hub.live
        if live.games or next(live.next_games(), None) is not None:
            return None
        with self._lock:
            if self._edition is not None and self._edition.seq < live.seq:
                # No later event would replace an older page.
                self._load_at = 0.0
            contest = self._read().contest
            return contest if contest.ending else None

    def places(self, path: str) -> Sequence[PagePlace]:
        """A page's places in all languages."""
        return [PagePlace(path, language, self._languages) for language in self._languages]

    def hosts(self) -> Sequence[ContestHost]:
        """Hosts that play, with the latest outliers; empty while results are withheld. Thread-safe."""
        at, hosts = self._hosts
        if time.monotonic() - at >= HOSTS_S:
            is_frozen = self._store.withheld_from(self._contest.name) is not None
            hosts = () if is_frozen else contest_hosts(self._store, self._contest.name, self._certificate.tests)
            self._hosts = time.monotonic(), hosts
        return hosts

    def _read(self) -> _Edition:
        now, live, edition = time.monotonic(), self.hub.live, self._edition
        if edition is not None and now < self._load_at:
            return edition
        seq = live.seq  # later events are not in the contest
        moments, is_played = self._file.moments(), bool(live.games)
        end = self._store.journal_end(self._contest.name, is_public=True)
        position = end, moments, live.log, self._is_static and is_played
        if edition is not None and edition.position == position:
            edition.seq = seq
            self._load_at = now + CHECK_S
            return edition
        loaded = public_view(self._contest.read())
        is_final = self._is_static and loaded.is_over and not live.games
        contest = replace(
            loaded,
            moments=moments,
            stream=Stream(live.log, SEQ, self._is_static, self._has_authors, is_final),
            joined=self._joined,
            evaluated=live.evaluated,
            boards=self.hub.boards,
            ladder_ratings=self._ladder,
        )
        writers = {**pages(contest, {}, self._languages), **documents(contest)}
        key = None if self.log.key is None else self.log.key.public_key()
        if key is not None:
            writers[PUBLIC_KEY] = partial(public_pem, key)
        has_log = key is not None and contest.journal[0].number is not None
        writers |= {
            place.file: partial(self._verify, contest, place, has_log, key) for place in self.places("verify.html")
        }
        games = {game.stem: game for game in contest.games}
        self._edition = _Edition(position, seq, contest, writers, games)
        self._editions += 1
        self._certificate.read(contest)
        self._load_at = time.monotonic() + max(LOAD_S, (time.monotonic() - now) / LOAD_SHARE)
        return self._edition

    def _find_archive(self, edition: _Edition) -> None:
        if self._exports is None or not edition.contest.is_over:
            return
        exports = self._exports.newest_first()
        if exports and not edition.results:
            edition.results = {f"data/{each}": sha256_of(path) for each, path in self._tables(edition).items()}
        found = next(
            (path for path, results in exports if results == [edition.results[each] for each in RESULTS]), None
        )
        if found != edition.archive:
            edition.archive = found
            for place in self.places("verify.html"):
                edition.pages.remove(place.file)

    def _verify(self, contest: ContestView, place: PagePlace, has_log: bool, key: Ed25519PublicKey | None) -> bytes:
        values = {
            "digests": term_digests(contest),
            "has_log": has_log,
            "archive": ARCHIVE if self._edition is not None and self._edition.archive is not None else "",
            "archive_address": self._archive,
            "export_name": export_name(contest),
            "key_file": PUBLIC_KEY if key is not None else "",
            "fingerprint": "" if key is None else fingerprint(key),
            "witnessed": [path.removeprefix(WITNESSED) for path in witnessed_files(self._contest.planned.folder)],
        }
        return render_for(contest, "verify_live.html", "verify", place, values, __package__)

    def _game(self, place: PagePlace) -> LivePage | RecordPage | None:
        path = place.path
        stem = path.removeprefix("games/").removesuffix(".html")
        edition = self._read()
        game = edition.games.get(stem)
        if any(end.game == game.number and end.seq > edition.seq for end, _ in self.hub.live.ended if game):
            # Only then: others could have it loaded again and again.
            self._load_at = 0.0
            edition = self._read()
            game = edition.games.get(stem)
        if game is None or not path.endswith(".html"):
            return None
        if game.result is None and game.why == WITHHELD:
            page = render_for(edition.contest, "withheld.html", "games", place, {"game": game}, __package__)
            return LivePage(page, kind_of(path), seq=edition.seq)
        if game.result is None:
            return None
        played = ["", *(each.stem for each in edition.games.values() if each.result is not None), ""]
        at = played.index(stem)
        context = GamePageContext.of(edition.contest, game, played[at - 1], played[at + 1])
        task = RecordTask(self._contest.planned.files, game.result.record, public_game_page, (context, place.file))
        if not self._is_static and task.record_bytes > MAX_PAGE_RECORD_BYTES:
            return LivePage(large_record_page(place, context, task.record_bytes), kind_of(path))
        return RecordPage(task, kind_of(path), edition.seq)

    def _record(self, path: str, edition: _Edition) -> RecordPage | None:
        game = edition.games.get(path.removeprefix("records/").partition(".")[0])
        if game is None:
            return None
        found = {game.attempt_path(attempt.number): attempt.record for attempt in game.uncounted}
        if game.result is not None:
            found[game.record_path] = game.result.record
        if (digest := found.get(path)) is None:
            return None
        task = RecordTask(self._contest.planned.files, digest, public_record)
        # A repeated game changes the record.
        return RecordPage(task, kind_of(path), edition.seq, is_fixed=path != game.record_path)


def export_name(contest: ContestView) -> str:
    """The directory in the archive."""
    return f"{contest.snapshot.name}-export"


def public_game_page(files: Path, digest: str, context: GamePageContext, file: str) -> bytes:
    """The page of a game at the place of `file`."""
    public = public_part(read_stored(files, digest))
    return next(game_pages(steps_of(public), public.record, context, [PagePlace.of_file(file)]))


def asset_page(name: str) -> LivePage:
    """A script or style of this package or the site."""
    return LivePage(asset(name) if name in ASSETS else asset(name, __package__), kind_of(name))


def log_page(log: SignedLog, path: str) -> LivePage | None:
    """Tiles never change."""
    data = log.file(path)
    return None if data is None else LivePage(data, kind_of(path), is_fixed="/tile/" in path)


def _joined(contest: Contest) -> Joined | None:
    """A missing former contest must not stop live pages."""
    published, problems = with_joined(public_view(contest.read()), contest.planned)
    for why in problems:
        _log.warning("ratings are not joined with former contests", why=why)
    if (joined := published.joined) is not None:
        agents = len(published.histories)
        _log.info("ratings are joined with former contests", contests=len(joined.contests), agents=agents)
    return joined
