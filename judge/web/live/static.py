"""A running contest's pages and events as files.

    feed/head.json        log name, last event, events per file, time
    feed/000000.ndjson    first events; then feed/000001.ndjson, ...
    plots/00001.json      a running game's plots
    log/                  `judge.transparency.log`, with an organiser's key
    everything else       pages of `judge serve`

Every file is replaced atomically, `head.json` after the events, so readers never see partial files.
"""

import hashlib
import json
import shutil
import time
from pathlib import Path

from judge.base.durable_files import PARTIAL
from judge.base.errors import HostError, InputError
from judge.web.kit.answers import kind_of
from judge.web.live.hub import PLOTS_S, Topic
from judge.web.live.pages import RUNNING, LivePages
from judge.web.live.paint import plots_path
from judge.web.live.running_pages import LivePage

EVENTS_PER_FILE = 256

HEAD = "feed/head.json"


class StaticSite:
    """A directory that follows a contest."""

    def __init__(self, pages: LivePages, directory: Path) -> None:
        """`pages` must be static. Raises InputError if the directory has other files."""
        if directory.exists() and any(directory.iterdir()) and not (directory / HEAD).is_file():
            raise InputError(f"{directory}: has other files; give a new directory, or one that this command made")
        self._hub, self._pages, self._directory = pages.hub, pages, directory
        self._written: dict[str, bytes] = {}
        """SHA-256 by path."""
        self._games: dict[str, tuple[object, ...]] = {}
        self._shown: tuple[int, int] | None = None
        """Numbers of the contest's state and of the live state that the pages show."""
        self._log = ""
        self._leaves = 0
        self._plots_at = 0.0
        self._next_file = 0

    def write(self) -> bool:
        """Write changes; return whether the contest is over. Raises HostError."""
        try:
            return self._write()
        except OSError as error:
            raise HostError(f"{error.filename or self._directory}: {error.strerror}") from None

    def _write(self) -> bool:
        hub = self._hub
        hub.catch_up()
        live = hub.live
        if live.log != self._log:
            self._log, self._next_file = live.log, 0
            for old in self._directory.glob("feed/*.ndjson"):
                old.unlink()
                self._written.pop(f"feed/{old.name}", None)
        now = self._pages.edition(), live.version
        if now != self._shown and self._pages.is_current():
            self._write_pages()
            self._shown = now
        for number in range(self._next_file, live.seq // EVENTS_PER_FILE + 1):
            found = hub.since(number * EVENTS_PER_FILE, EVENTS_PER_FILE, Topic())
            if found:
                self._put(f"feed/{number:06d}.ndjson", b"".join(sent.line + b"\n" for sent in found))
        self._next_file = live.seq // EVENTS_PER_FILE
        self._write_plots()
        self._leaves, files = self._pages.log.new_files(self._leaves)
        for path, data in files:
            self._put(path, data)
            outgrown = self._directory / f"{path}.p"
            if outgrown.is_dir():
                shutil.rmtree(outgrown)
        now_ms = round(time.time() * 1000)
        head = {"log": live.log, "seq": live.seq, "events_per_file": EVENTS_PER_FILE, "now_ms": now_ms}
        self._put(HEAD, json.dumps(head).encode())
        return self._shown == now and not live.games and self._pages.contest().is_over

    def _write_plots(self) -> None:
        if time.monotonic() < self._plots_at:
            return
        self._plots_at = time.monotonic() + PLOTS_S
        games = self._hub.live.games
        for game in games.values():
            self._put(plots_path(game), self._pages.games.plots(game, self._hub.live).data)
        for old in self._directory.glob("plots/*.json"):
            if int(old.stem) not in games:
                old.unlink()

    def _write_pages(self) -> None:
        live, pages = self._hub.live, self._pages
        for path in pages.paths():
            if (page := pages.get(path)) is not None:
                self._put(path, page.data)
        contest, final = pages.contest(), pages.final()
        played = contest.played
        stems = ["", *(each.stem for each in played), ""]
        for each, before, after in zip(played, stems, stems[2:], strict=False):
            shown = (each.result.record if each.result else "", before, after, contest.exclusion(each), bool(final))
            if self._games.get(each.stem) != shown:
                self._games[each.stem] = shown
                pages_of_it = [place.file for place in pages.places(f"games/{each.stem}.html")]
                for path in (*pages_of_it, each.record_path):
                    if (page := pages.get(path)) is not None:
                        self._put(path, page.data)
        for game in live.games.values():
            for place in pages.places(f"games/{game.stem}.html"):
                self._put(place.file, pages.games.one(game, live, 0, place).data)
            self._games.pop(game.stem, None)
        for place in pages.places(RUNNING):
            self._put(place.file, pages.games.all(live, 0, place, final=final, hosts=pages.hosts()).data)

    def _put(self, path: str, data: bytes) -> None:
        digest = hashlib.sha256(data).digest()
        if self._written.get(path) == digest:
            return
        self._written[path] = digest
        place = self._directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(place.name + PARTIAL)
        partial.write_bytes(LivePage(data, kind_of(path), seq=self._hub.live.seq).numbered())
        partial.replace(place)
