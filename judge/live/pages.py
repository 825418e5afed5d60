"""The pages of a running contest as they are now: those of the export from the same templates, and those of its games.

A page is rendered once for each state of the contest, for all viewers. It bears the number of the last event that it
shows (`SEQ` until it is sent), so the script goes on from there and nothing falls between page and stream.
"""

import gzip
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any

from judge.broadcast.state import Live, LiveGame, last_words
from judge.catalog.steps import steps_of
from judge.contest.contest import Contest, open_store
from judge.contest.plan import Planned
from judge.errors import InputError
from judge.live.paint import Painter
from judge.publish.load import CHANCE, DOCUMENT, Revealed, load_store
from judge.publish.log import LOG, SignedLog
from judge.publish.match_files import read_stored
from judge.publish.match_page import MatchContext, match_page
from judge.publish.model import PublishedContest, PublishedMatch, Stream
from judge.publish.pages import ASSETS, PagePlace, asset, picture, render
from judge.publish.site import pages
from judge.publish.tables import tables
from judge.records.views import Surface
from judge.referee.spec import public_part
from judge.text import duration
from judge.translations.language import CODES, Language, languages

SEQ = "@seq@"
"""Where a page has the number of the last event that it shows."""

SCRIPT, RUNNING = "live.js", "live.html"

NAVIGATION = tuple(
    f"{name}.html" for name in ("live", "index", "crosstable", "rounds", "journal", "fairness", "verify")
)
"""The pages that every page leads to."""

LOAD_S, LOAD_SHARE = 0.5, 0.2
"""The contest is read again after this time at the earliest, and for no more than this share of it."""

FRESH_S = 0.25
"""A page of running games is rendered once in this time; its script goes on from what it shows."""

GZIP_LEVEL = 1
"""A page of 64 boards becomes a tenth of its size by it, in a few milliseconds."""

MOST_STORED = 256
"""Pages of finished games that are stored."""

_SWATCHES = {Surface.LINES: ("dark", "light"), Surface.SQUARES: ("red", "blue"), Surface.CHEQUERED: ("light", "dark")}


@dataclass(slots=True)
class LivePage:
    """A file as it is sent: its bytes, its type, and whether it can be stored by whoever asks for it.

    `seq` is the last event that it shows; None: it shows all that there were when it is sent.
    """

    data: bytes
    kind: str
    is_fixed: bool = False
    seq: int | None = None
    _packed: bytes | None = None

    def packed(self, seq: int) -> bytes:
        """The bytes with that number, compressed."""
        if self._packed is None or self.seq is None:
            self._packed = gzip.compress(self.numbered(seq), GZIP_LEVEL, mtime=0)
        return self._packed

    def numbered(self, seq: int) -> bytes:
        """The bytes with that number, or with the page's own."""
        number = seq if self.seq is None else self.seq
        return (
            self.data.replace(SEQ.encode(), str(number).encode(), 1) if self.kind.startswith("text/html") else self.data
        )


@dataclass(slots=True)
class _Edition:
    """The contest as it was at one version."""

    version: object
    contest: PublishedContest
    writers: Mapping[str, Callable[[], bytes]]
    matches: Mapping[str, PublishedMatch]
    written: dict[str, bytes] = field(default_factory=dict)


class LivePages:
    """Renders pages. Called in one thread at a time, which is not that of the viewers."""

    def __init__(
        self, planned: Planned, painter: Painter, *, is_static: bool = False, has_authors: bool = False
    ) -> None:
        """Opens the store of a contest that has begun. Raises InputError if it has not."""
        self._store = open_store(planned)
        self._contest = Contest(self._store, planned)
        self._painter = painter
        self._is_static = is_static
        self._has_authors = has_authors
        self._edition: _Edition | None = None
        self._load_at = 0.0
        self._stored: OrderedDict[tuple[object, ...], bytes] = OrderedDict()
        self._running: dict[str, tuple[float, LivePage]] = {}
        self._lock = Lock()
        self._languages = languages(CODES)
        self.log = SignedLog(planned.store_url, planned.name, planned.folder)
        """The log of the contest, whose files are among the pages."""

    def close(self) -> None:
        """Close the store."""
        self._store.close()
        self.log.close()

    def get(self, path: str, live: Live, version: object) -> LivePage | None:
        """The file at a path from the top of the site, None if there is none; `version` is that of the contest."""
        with self._lock:
            if path == SCRIPT or path in ASSETS:
                return LivePage(asset(path), _kind(path))
            place = self.place(path)
            if place.path.startswith("games/"):
                return self._match(place, live, version)
            if path.startswith(LOG):
                return log_page(self.log, path)
            edition = self._read(live, version)
            if path in edition.written:
                return LivePage(edition.written[path], _kind(path))
            if path.startswith("records/"):
                return self._record(path, edition)
            if path.startswith("data/"):
                edition.written |= {f"data/{name}": data for name, data in tables(edition.contest).items()}
            elif path in edition.writers:
                edition.written[path] = edition.writers[path]()
            data = edition.written.get(path)
            return None if data is None else LivePage(data, _kind(path))

    def paths(self, live: Live, version: object) -> list[str]:
        """The paths of all pages and files but those of games and records."""
        with self._lock:
            edition = self._read(live, version)
            return [*ASSETS, SCRIPT, *edition.writers, *(f"data/{name}" for name in tables(edition.contest))]

    def played(self, live: Live, version: object) -> list[PublishedMatch]:
        """The games that have a result."""
        with self._lock:
            return [match for match in self._read(live, version).matches.values() if match.result is not None]

    def contest(self, live: Live, version: object) -> PublishedContest:
        """The contest as it is now."""
        with self._lock:
            return self._read(live, version).contest

    def is_over(self, live: Live, version: object) -> bool:
        """Whether every game of the contest has its result and no round follows."""
        with self._lock:
            return self._read(live, version).contest.is_over

    def place(self, path: str) -> PagePlace:
        """Where the page of a path from the top of the site is."""
        return PagePlace.of_file(path, self._languages)

    def places(self, path: str) -> Sequence[PagePlace]:
        """A page in each language."""
        return [PagePlace(path, language, self._languages) for language in self._languages]

    def running(self, live: Live, viewers: int, slots: int, place: PagePlace) -> LivePage:
        """The page of all running games."""
        return self._fresh(place, live, lambda: self._all_running(live, viewers, slots, place))

    def running_game(self, game: LiveGame, live: Live, viewers: int, place: PagePlace) -> LivePage:
        """The page of a running game."""
        return self._fresh(place, live, lambda: self._one_running(game, live, viewers, place))

    def _fresh(self, place: PagePlace, live: Live, write: Callable[[], bytes]) -> LivePage:
        """A page of running games, rendered a moment ago or now."""
        now = time.monotonic()
        at, page = self._running.get(place.file, (0.0, None))
        if page is None or self._is_static or now - at > FRESH_S or page.seq is None or page.seq > live.seq:
            self._running = {file: kept for file, kept in self._running.items() if now - kept[0] <= FRESH_S}
            page = LivePage(write(), _kind(".html"), seq=live.seq)
            self._running[place.file] = now, page
        return page

    def _all_running(self, live: Live, viewers: int, slots: int, place: PagePlace) -> bytes:
        values = {
            "here": "live",
            "contest_name": self._contest.name,
            "games": [self._shown(game, place.language) for _, game in sorted(live.games.items())],
            "viewers": viewers,
            "state": live.state,
            "reason": live.reason,
            "table": live.table,
            "agents": live.agents,
            "ended": live.ended,
            "upcoming": list(live.next_games(slots)),
        }
        return render("live.html", place, values, self._stream(live))

    def _one_running(self, game: LiveGame, live: Live, viewers: int, place: PagePlace) -> bytes:
        values = {
            "here": "",
            "contest_name": self._contest.name,
            "game": self._shown(game, place.language, whole=True),
            "viewers": viewers,
        }
        return render("live_game.html", place, values, self._stream(live))

    def _stream(self, live: Live) -> Stream:
        return Stream(live.log, SEQ, self._is_static, self._has_authors)

    def _read(self, live: Live, version: object) -> _Edition:
        now = time.monotonic()
        edition = self._edition
        if edition is not None and (edition.version == version or now < self._load_at):
            return edition
        contest = replace(load_store(self._contest), stream=self._stream(live))
        writers = dict(pages(contest, {}, self._languages))
        writers[DOCUMENT] = lambda: f"{contest.document}\n".encode()
        if contest.secret is not None and contest.snapshot.commitment is not None:
            writers[CHANCE] = lambda: _chance(contest)
        has_log = self.log.key is not None and contest.journal[0].number is not None
        writers |= {place.file: partial(_verify, contest, place, has_log) for place in self.places("verify.html")}
        matches = {match.stem: match for match in contest.matches}
        self._edition = _Edition(version, contest, writers, matches)
        self._load_at = time.monotonic() + max(LOAD_S, (time.monotonic() - now) / LOAD_SHARE)
        return self._edition

    def _match(self, place: PagePlace, live: Live, version: object) -> LivePage | None:
        path = place.path
        stem = path.removeprefix("games/").removesuffix(".html")
        edition = self._read(live, version)
        match = edition.matches.get(stem)
        if match is not None and match.result is None and edition.version != version:
            self._load_at = 0.0
            edition = self._read(live, version)
            match = edition.matches.get(stem)
        if match is None or match.result is None or not path.endswith(".html"):
            return None
        played = [each.stem for each in edition.matches.values() if each.result is not None]
        at = played.index(stem)
        before = played[at - 1] if at else ""
        after = played[at + 1] if at + 1 < len(played) else ""
        key = (place.file, match.result.record, before, after, live.log)
        page = self._stored.pop(key, None)
        if page is None:
            public = public_part(read_stored(self._contest.planned.files, match.result.record))
            by_name = edition.contest.by_name
            agents = (by_name[match.first].stem, by_name[match.second].stem)
            context = MatchContext(edition.contest.name, match, agents, before, after, stream=self._stream(live))
            page = match_page(steps_of(public), public.record, context, place)
        self._stored[key] = page
        if len(self._stored) > MOST_STORED:
            self._stored.popitem(last=False)
        return LivePage(page, _kind(path))

    def _record(self, path: str, edition: _Edition) -> LivePage | None:
        """The public part of a record, of an attempt that counts or not."""
        for match in edition.matches.values():
            if not path.startswith(f"records/{match.stem}."):
                continue
            found = {match.attempt_path(attempt.number): attempt.record for attempt in match.uncounted}
            if match.result is not None:
                found[match.record_path] = match.result.record
            if path not in found:
                return None
            public = public_part(read_stored(self._contest.planned.files, found[path]))
            return LivePage(public.to_json(as_read=True), _kind(path), is_fixed=True)
        return None

    def _shown(self, game: LiveGame, language: Language, *, whole: bool = False) -> Mapping[str, Any]:
        """What the templates show of a running game."""
        painter, _ = self._painter, language.gettext
        names = game.names
        sides = [language.word(painter.sides[game.seats.index(seat)]) for seat in (0, 1)]
        swatches = [_SWATCHES[painter.surface][game.seats.index(seat)] for seat in (0, 1)]
        last = game.moves[-1] if game.moves else None
        shown: dict[str, Any] = {
            "number": game.game,
            "attempt": game.attempt,
            "stem": game.stem,
            "names": names,
            "is_playing": game.is_playing,
            "sides": sides,
            "swatches": swatches,
            "clocks": _clocks(game),
            "left": [language.measure(_left(game, seat)) for seat in (0, 1)],
            "search": [" · ".join(last_words(game, seat)) for seat in (0, 1)],
            "last": ""
            if last is None
            else f"{last.notation} {names[last.seat]} {language.measure(duration(last.charged_ms))}",
            "why": _("The board is shown when the game is over.") if game.is_playing else _("The game is made ready."),
            "svg": "",
        }
        if game.board is not None:
            shown["svg"] = picture(painter.svg(game.tokens, game.marks, " - ".join(names)))
        if whole:
            shown["columns"] = painter.columns
            board = painter.table(game.tokens)
            shown["board"] = [(row, [language.words(words) for words in squares]) for row, squares in board]
            used = {word for _row, squares in board for words in squares for word in words.split(" ")}
            shown["words"] = {
                word: language.word(word) for word in sorted({*used, *painter.sides}) if not word.isdigit()
            }
            shown["moves"] = [
                {
                    "number": move.ply,
                    "seat": move.seat,
                    "name": names[move.seat],
                    "said": move.notation,
                    "time": language.measure(duration(move.charged_ms)),
                    "left": "" if (left := move.left_ms[move.seat]) is None else language.measure(duration(left)),
                    "search": " · ".join([*(f"{key} {value}" for key, value in move.search.items()), *move.messages]),
                }
                for move in game.moves
            ]
        return shown


def waiting_page(path: str, contest: str) -> LivePage | None:
    """A page or a file of a contest that has not begun; None if there is none."""
    if path in ASSETS:
        return LivePage(asset(path), _kind(path))
    place = PagePlace.of_file(path, languages(CODES))
    if place.path not in NAVIGATION:
        return None
    values = {"here": "", "contest_name": contest, "has_authors": True}
    return LivePage(render("waiting.html", place, values), _kind(path))


def log_page(log: SignedLog, path: str) -> LivePage | None:
    """A file of a contest's log; a tile does not change any more."""
    data = log.file(path)
    return None if data is None else LivePage(data, _kind(path), is_fixed="/tile/" in path)


def _clocks(game: LiveGame) -> str:
    """The clocks for the script: `SEAT SINCE TURN LEFT0 LEFT1`, in milliseconds; `-` for what there is not."""
    clock = game.clock
    left = game.left_ms if clock is None else clock.left_ms
    running = ("-", "-", "-") if clock is None else (clock.seat, clock.since_ms, _number(clock.turn_ms))
    return " ".join(str(each) for each in (*running, *(_number(each) for each in left)))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _left(game: LiveGame, seat: int) -> str:
    """What is left to a seat, or what it has used if nothing limits it."""
    left = game.left_ms[seat]
    return duration(game.charged_ms(seat) if left is None else left)


def _chance(contest: PublishedContest) -> bytes:
    snapshot = contest.snapshot
    if contest.secret is None or snapshot.commitment is None:
        raise InputError("the contest has no secret that is revealed")
    revealed = Revealed(contest=snapshot.name, commitment=snapshot.commitment, secret=contest.secret)
    return f"{revealed.model_dump_json(indent=1)}\n".encode()


def _verify(contest: PublishedContest, place: PagePlace, has_log: bool) -> bytes:
    snapshot = contest.snapshot
    digests = {
        DOCUMENT: hashlib.sha256(f"{contest.document}\n".encode()).hexdigest(),
        "contest.toml": snapshot.plan_sha256,
        **{f"agent {entry.name}": entry.seat.digest for entry in snapshot.entries},
    }
    values = {
        "here": "verify",
        "contest_name": contest.name,
        "contest": contest,
        "digests": list(digests.items()),
        "has_log": has_log,
    }
    return render("verify_live.html", place, values, contest.stream)


_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}


def _kind(path: str) -> str:
    return _KINDS.get(path.rpartition(".")[2], "application/octet-stream")
