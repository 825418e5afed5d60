"""Converts the growing transcript of a running game into public events: its entries are fed to a referee."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from judge.base.logs import get_logger
from judge.base.text import plain_text
from judge.broadcast.events import (
    AnyEvent,
    Board,
    MarkedSquare,
    MoveMade,
    PieceShown,
    Playing,
    RunningClock,
    SearchUpdate,
    TurnBegun,
)
from judge.catalog import game_entry
from judge.formats.views import BoardView, Square, Token
from judge.games.types import SEATS
from judge.protocols.time_control import UNLIMITED_MS
from judge.record.spec import GameSpec, RecordFile
from judge.record.transcript import Entry, unseal
from judge.referee.replay import rejoined
from judge.referee.steps import MS, GameStep, SteppedGame

SEARCH_EVERY_MS = 250
"""Minimum time between updates of a search."""

LONGEST_SAID, LONGEST_WORDS = 80, 160
MOST_KEYWORDS, MOST_MESSAGES = 12, 3
"""Maximum numbers of keywords and messages in an event."""

log = get_logger()


class RunningGame(SteppedGame):
    """A running attempt."""

    def __init__(self, spec: GameSpec, game: int, attempt: int, play: int = 1) -> None:
        """`game`: number in the contest; `play` counts the attempt's starts. Raises InputError for invalid specs."""
        super().__init__(spec)
        self.game, self.attempt, self.play = game, attempt, play
        self.plies = 0
        self._entry = game_entry(spec.policy.game.name)
        self._origin_ms: float | None = None
        self._view: BoardView | None = None
        self._events: list[AnyEvent] = []
        self._search: tuple[Mapping[str, str], tuple[str, ...]] = ({}, ())
        self._search_at_ms = 0.0
        self._clock: tuple[int, int] | None = None

    def add(self, entries: Sequence[Entry], sent_ms: float) -> list[AnyEvent]:
        """Events of new entries, which the judge sent at `sent_ms` (Unix time)."""
        if not entries or self.is_over:
            return []
        # Entries are sent shortly after the last one was made: the earliest estimate is the best.
        began = sent_ms - entries[-1].ns / MS
        is_first = self._origin_ms is None
        self._origin_ms = began if self._origin_ms is None else min(self._origin_ms, began)
        if is_first:
            self._view = self._public()
            self._events.append(
                Playing(
                    game=self.game,
                    attempt=self.attempt,
                    play=self.play,
                    set_moves=self.spec.opening_moves,
                    at=self._at(entries[0].ns),
                    board=None if self._view is None else _board(self._view),
                    left_ms=self.left_ms(),
                )
            )
        if not self.follow(entries) or self.referee.unapplied is None:
            self.end_step()
        self._add_clock()
        self._add_search(sent_ms)
        events, self._events = self._events, []
        return events

    # --- events -------------------------------------------------------------------------------------------------------

    def see_step(self, step: GameStep) -> None:
        """An answer is a move, with what it changes on the board."""
        if step.ply is None:
            return
        self.plies += 1
        # Includes time after its turn, which is charged later.
        seat, said, charged_ns, search, memory_bytes, _ = self.referee.plies[self.plies - 1]
        self._search = ({}, ())
        view, before = self._public(), self._view
        self._view = view
        is_public = self._entry.words_are_public
        seats = view.seats if view is not None and before is not None and view.seats != before.seats else None
        self._clock = None
        caption = "" if view is None or (before and view.caption == before.caption) else view.caption
        was = {} if before is None else before.tokens
        now = {} if view is None else view.tokens
        marks = {} if view is None else view.marks
        self._events.append(
            MoveMade(
                game=self.game,
                attempt=self.attempt,
                ply=self.plies,
                at=self._at(step.read_ns),
                seat=seat,
                said=plain_text(said if is_public else caption, LONGEST_SAID),
                notation=plain_text(caption or (said if is_public else ""), LONGEST_SAID),
                charged_ms=round(charged_ns / MS, 3),
                memory_bytes=memory_bytes,
                left_ms=step.left_ms,
                search=_keywords(search) if is_public else {},
                messages=_words(step.messages) if is_public else (),
                emptied=tuple(sorted(was.keys() - now.keys())),
                pieces=tuple(_piece(at, token) for at, token in now.items() if was.get(at) != token),
                marks=tuple(MarkedSquare(x=x, y=y, mark=mark.value) for (x, y), mark in marks.items()),
                seats=seats,
            )
        )

    def _add_clock(self) -> None:
        for seat in SEATS:
            seen, runs_since_ns = self.seats[seat], self.replay.runs_since_ns[seat]
            has_failed = self.referee.sides[seat].fault is not None
            if has_failed and self._clock is not None and self._clock[0] == seat:
                self._clock = None
                self._events.append(TurnBegun(game=self.game, attempt=self.attempt))
            if has_failed or not seen.is_asked or runs_since_ns is None or self._origin_ms is None or not seen.clock:
                continue
            if self._clock == (seat, runs_since_ns):
                return
            self._clock = seat, runs_since_ns
            limit = self.spec.policy.clock.controls[seat].announced_turn_ms
            clock = RunningClock(
                seat=seat,
                since_ms=round(self._origin_ms + runs_since_ns / MS),
                turn_ms=limit if 0 < limit < UNLIMITED_MS else None,
                left_ms=self.left_ms(),
            )
            if self._events and isinstance(self._events[-1], MoveMade):
                self._events[-1] = self._events[-1].model_copy(update={"clock": clock})
            else:
                self._events.append(TurnBegun(game=self.game, attempt=self.attempt, clock=clock))
            return

    def _add_search(self, now_ms: float) -> None:
        if not self._entry.words_are_public or now_ms - self._search_at_ms < SEARCH_EVERY_MS:
            return
        for seat in SEATS:
            seen = self.seats[seat]
            update = search, messages = _keywords(seen.search), _words(seen.messages)
            if seen.is_asked and any(update) and update != self._search:
                self._search, self._search_at_ms = update, now_ms
                self._events.append(
                    SearchUpdate(game=self.game, attempt=self.attempt, seat=seat, search=search, messages=messages)
                )

    def _public(self) -> BoardView | None:
        view = self._entry.public(self.referee.game)
        return None if view is None else view.since(self._view)

    def _at(self, ns: int) -> str:
        return moment((self._origin_ms or 0.0) + ns / MS)


def events_of_record(file: RecordFile, game: int, play: int = 1) -> list[Playing | MoveMade]:
    """Events of a finished attempt, without clocks and searches. Raises InputError."""
    record = file.record
    running = RunningGame(record.spec, game, record.attempt, play)
    entries = rejoined(unseal(file.transcript))
    began = datetime.fromisoformat(record.started_at).timestamp() * 1000
    ends = began + (entries[-1].ns / MS if entries else 0)
    events = running.add(entries, ends)
    return [event for event in events if isinstance(event, Playing | MoveMade)]


def moment(ms: float) -> str:
    """Unix time as in the log."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _words(messages: Iterable[str]) -> tuple[str, ...]:
    return tuple(plain_text(text, LONGEST_WORDS) for text in list(messages)[-MOST_MESSAGES:])


def _keywords(search: Mapping[str, str]) -> dict[str, str]:
    chosen = list(search.items())[:MOST_KEYWORDS]
    return {plain_text(key, 30): plain_text(value, LONGEST_WORDS) for key, value in chosen}


def _board(view: BoardView) -> Board:
    return Board(
        surface=view.surface.value,
        columns=view.columns,
        rows=view.rows,
        sides=view.sides,
        seats=view.seats,
        blocked=tuple(sorted(view.blocked)),
        pieces=tuple(_piece(square, token) for square, token in view.tokens.items()),
    )


def _piece(square: Square, token: Token) -> PieceShown:
    faces = tuple(f"?{face.name}" if face.is_hidden else face.name for face in token.faces)
    x, y = square
    return PieceShown(
        x=x, y=y, side=token.side, number=token.number, faces=faces, shows=token.shows, is_dead=token.is_dead
    )
