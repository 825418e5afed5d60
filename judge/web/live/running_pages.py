"""Pages of running games. A page has the number of the last event that it shows."""

import gzip
import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from markupsafe import Markup

from judge.base.text import clock_text, duration, mib
from judge.broadcast.events import MoveMade
from judge.broadcast.running import moment
from judge.broadcast.state import Live, LiveGame, latest_search
from judge.contest.hosts import ContestHost
from judge.contest.window_keeper import PlanFile
from judge.contest_view.values import Stream
from judge.contest_view.view import ContestView
from judge.formats.views import numbered
from judge.record.policy import Policy
from judge.site.game_page import SWATCHES, fitted, room_for_messages
from judge.site.pages import PagePlace, picture, render
from judge.site.plots import evaluation_paths
from judge.site.rules import rules_in_words
from judge.translations.language import Language
from judge.web.kit.answers import kind_of
from judge.web.live.paint import Painter, as_sent, plots_of_game, plots_path

SEQ = f"@seq-{secrets.token_hex(16)}@"
"""Random, so an agent cannot print it."""

GZIP_LEVEL = 1
"""Compresses 64 boards to a tenth in a few milliseconds."""

FRESH_S = 0.25

MIN_CURVE_MOVES = 20
"""Width of a curve of evaluations, until the game has more moves."""

RESULT_S = 10.0
"""Time for which the board of an ended game stays."""

_COMING = LiveGame(0, 1, ("", ""), ("", ""), "", is_playing=True)


@dataclass(slots=True)
class LivePage:
    """`seq` is the last event that it shows."""

    data: bytes
    kind: str
    is_fixed: bool = False
    seq: int = 0
    _packed: tuple[int, bytes] = (-1, b"")
    """The number, and the bytes with it."""

    def packed(self) -> bytes:
        """Compressed, with its number."""
        shown = self.seq if self._has_number else 0
        if self._packed[0] != shown:
            self._packed = shown, gzip.compress(self.numbered(), GZIP_LEVEL, mtime=0)
        return self._packed[1]

    def numbered(self) -> bytes:
        """Bytes with its number; files other than pages have none."""
        return self.data.replace(SEQ.encode(), str(self.seq).encode(), 1) if self._has_number else self.data

    @property
    def _has_number(self) -> bool:
        return self.kind.startswith("text/html")


@dataclass(slots=True)
class RunningPages:
    """Renders each page once for simultaneous requests. `boards` are of ended games; `now` is Unix time."""

    name: str
    policy: Policy
    clocks: Mapping[str, str]
    painter: Painter
    file: PlanFile | None = None
    is_static: bool = False
    has_authors: bool = False
    has_rounds: bool = True
    boards: Mapping[int, str] = field(default_factory=dict)
    now: Callable[[], float] = time.time
    _running: dict[str, tuple[float, LivePage]] = field(init=False, default_factory=dict)
    _boards: dict[int, tuple[tuple[int, int], Markup]] = field(init=False, default_factory=dict)
    """(attempt, number of moves) and board per game."""

    def all(
        self,
        live: Live,
        viewers: int,
        place: PagePlace,
        *,
        with_boards: bool = True,
        final: ContestView | None = None,
        agent: str = "",
        hosts: Sequence[ContestHost] = (),
    ) -> LivePage:
        """`final`: the finished contest. `agent`: only this one's games. `hosts`: those that play."""
        key = f"{place.file}?{with_boards}&{final is not None}&{live.agents.get(agent)}"
        write = partial(self._all_running, live, viewers, place, with_boards, final, agent, hosts)
        return self._cached(key, ".html", live.seq, write)

    def one(self, game: LiveGame, live: Live, viewers: int, place: PagePlace) -> LivePage:
        def write() -> bytes:
            values = {
                "here": "",
                "contest_name": self.name,
                "has_rounds": self.has_rounds,
                "game": {**self._shown(game, live, place.language), **self._whole(game, place.language)},
                "viewers": viewers,
            }
            return render("live_game.html", place, values, self._stream(live), __package__)

        return self._cached(place.file, ".html", live.seq, write)

    def plots(self, game: LiveGame, live: Live) -> LivePage:
        return self._cached(plots_path(game), ".json", live.seq, lambda: json.dumps(as_sent(game)).encode())

    def _cached(self, key: str, ending: str, seq: int, write: Callable[[], bytes]) -> LivePage:
        """Its last page, or a page that shows the events up to `seq`."""
        now = time.monotonic()
        self._running = {file: kept for file, kept in self._running.items() if now - kept[0] <= FRESH_S}
        _, page = self._running.get(key, (now, None))
        if page is None or self.is_static or page.seq > seq:
            page = LivePage(write(), kind_of(ending), seq=seq)
            self._running[key] = now, page
        return page

    def _all_running(
        self,
        live: Live,
        viewers: int,
        place: PagePlace,
        with_boards: bool,
        final: ContestView | None,
        agent: str,
        hosts: Sequence[ContestHost],
    ) -> bytes:
        since = moment((self.now() - RESULT_S) * 1000)
        ended = [game for game in live.last_games if game.end and game.end.at >= since and game.game not in live.games]
        # Not more than are played at once: else short games fill a phone before the running ones.
        ended = ended[-max(1, live.most_games) :]
        followed = [game for game in (*live.games.values(), *ended) if not agent or agent in game.names]
        games = sorted((game for game in followed if game.is_playing), key=lambda game: game.game)
        self._boards = {game.game: self._boards[game.game] for game in games if game.game in self._boards}
        language = place.language
        values = {
            "here": "live",
            "contest_name": self.name,
            "has_rounds": self.has_rounds,
            "running": sum(game.end is None for game in games),
            "playing": sum(game.end is None and not game.is_decided for game in games),
            "at_once": max(1, live.most_games),
            "prepared": [game for game in followed if not game.is_playing],
            "with_boards": with_boards,
            "games": [self._shown(game, live, language) for game in games] if with_boards else (),
            "coming": {**self._shown(_COMING, live, language), "number": "{number}", "stem": ""},
            "film": picture(self.painter.film),
            "stage_words": {stage: language.word(stage) for stage in sorted({*live.stages.values()})},
            "followed": agent,
            "rules": rules_in_words(self.policy, self.clocks, language),
            "stages": live.stages,
            "viewers": viewers,
            "withheld_from": live.withheld_from,
            "state": live.state,
            "reason": live.reason,
            "resumes": self._resumes(),
            "moments": () if self.file is None else self.file.moments(),
            "table": live.table,
            "is_rated": any(line.rating is not None for line in live.table),
            "agents": live.agents,
            "out": live.out,
            "disqualified": {name: why for name, why in live.disqualified.items() if name in live.agents},
            "withdrawn": {name: why for name, why in live.withdrawn.items() if name not in live.disqualified},
            "shown": live.shown,
            "boards": self.boards,
            "ended": live.ended_by_agent.get(agent, ()) if agent else live.ended,
            "upcoming": [each for each in live.next_games() if not agent or agent in (each[0].first, each[0].second)],
            "hosts": hosts,
            "final": final,
        }
        stream = replace(self._stream(live), is_final=final is not None and self.is_static)
        return render("live.html", place, values, stream, __package__)

    def _resumes(self) -> datetime | None:
        """The moment at which a pause ends, in UTC; None without one."""
        at = None if self.file is None else self.file.plan.resumes
        return None if at is None or at.timestamp() <= self.now() else at.astimezone(UTC)

    def _shown(self, game: LiveGame, live: Live, language: Language) -> Mapping[str, Any]:
        painter, _ = self.painter, language.gettext
        names = game.titles
        sides = [language.word(painter.view.sides[game.seats.index(seat)]) for seat in (0, 1)]
        swatches = [SWATCHES[painter.view.surface][game.seats.index(seat)] for seat in (0, 1)]
        last = ""
        if game.moves:
            move = game.moves[-1]
            last = f"{move.notation} {names[move.seat]} {language.measure(duration(move.charged_ms))}"
        # For the script: `SEAT SINCE TURN LEFT0 LEFT1`, in milliseconds; `-`: unknown.
        clock = game.clock
        left = game.left_ms if clock is None else clock.left_ms
        running = ("-", "-", "-") if clock is None else (clock.seat, clock.since_ms, _number(clock.turn_ms))
        shown: dict[str, Any] = {
            "number": game.game,
            "stage": live.stages.get(game.game, ""),
            "attempt": game.attempt,
            "stem": game.stem,
            "names": names,
            "is_playing": game.is_playing,
            "sides": sides,
            "swatches": swatches,
            "clocks": " ".join(str(each) for each in (*running, *(_number(each) for each in left))),
            "left": [language.measure(_left(game, seat)) if game.is_playing else "" for seat in (0, 1)],
            "authors": game.authors,
            "end": game.end,
            "search": [latest_search(game, seat) for seat in (0, 1)],
            "curve": evaluation_paths(game.evaluations()),
            "curve_width": max(MIN_CURVE_MOVES, len(game.moves)),
            "last": last,
            "why": _("The board is shown when the game is over.")
            if game.is_playing
            else _("This game is the next one."),
            "svg": "",
        }
        if game.board is not None:
            state = (game.seq, len(game.moves))
            known, board = self._boards.get(game.game, ((0, 0), Markup()))
            if not board or known != state:
                board = picture(painter.svg(game))
                self._boards[game.game] = state, board
            shown["svg"] = board
        return shown

    def _whole(self, game: LiveGame, language: Language) -> Mapping[str, Any]:
        painter = self.painter
        board = painter.table(game.tokens)
        used = {word for _row, squares in board for words in squares for word in words.split(" ")}
        room = room_for_messages(len(game.moves))
        return {
            "plots": plots_of_game(game),
            "columns": painter.view.columns,
            "board": [(row, [language.words(words) for words in squares]) for row, squares in board],
            "words": {word: language.word(word) for word in sorted({*used, *painter.view.sides}) if not word.isdigit()},
            "set_moves": game.set_moves,
            "moves": [_row(game, move, room, language) for move in game.moves],
        }

    def _stream(self, live: Live) -> Stream:
        return Stream(live.log, SEQ, self.is_static, self.has_authors)


def _row(game: LiveGame, move: MoveMade, room: int, language: Language) -> Mapping[str, Any]:
    left = move.left_ms[move.seat]
    search = " · ".join([*(f"{key} {value}" for key, value in move.search.items()), *move.messages])
    _, said = numbered(move.notation)
    return {
        "ply": move.ply,
        "number": game.number_of(move),
        "seat": move.seat,
        "name": game.titles[move.seat],
        "said": said,
        "time": language.measure(duration(move.charged_ms)),
        "left": "" if left is None else language.measure(clock_text(left)),
        "memory": language.measure(mib(move.memory_bytes, "")),
        "search": fitted(search, room),
    }


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _left(game: LiveGame, seat: int) -> str:
    left = game.left_ms[seat]
    return clock_text(game.charged_ms(seat) if left is None else left)
