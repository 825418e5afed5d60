"""A contest's state from its event log: running games, standings and next games."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from judge.base.text import count_text, number
from judge.broadcast.events import (
    AnyEvent,
    Board,
    Disqualified,
    Ended,
    Entered,
    GameStarted,
    MarkedSquare,
    MoveMade,
    NextGame,
    Opened,
    PieceShown,
    Playing,
    ResultsWithheld,
    RunningClock,
    Scheduled,
    SearchUpdate,
    StandingLine,
    StateChanged,
    TableChanged,
    Times,
    TurnBegun,
    Unscored,
    Withdrawn,
)
from judge.formats.search_figures import EvaluatedGame, SearchFigures, evaluate_game, search_figures
from judge.formats.views import BoardView, Face, Mark, Square, Surface, Token

MAX_NEXT_GAMES = 12
MAX_ENDED_GAMES = 8
MAX_AGENT_RESULTS = 5


@dataclass(slots=True)
class LiveGame:
    """A game that is being prepared or played."""

    game: int
    attempt: int
    names: tuple[str, str]
    titles: tuple[str, str]
    """Display names."""
    started_at: str
    is_playing: bool = False
    seq: int = 0
    set_moves: int = 0
    board: Board | None = None
    """The initial board; None while it is hidden."""
    seats: tuple[int, int] = (0, 1)
    tokens: dict[Square, Token] = field(default_factory=dict)
    marks: tuple[MarkedSquare, ...] = ()
    moves: list[MoveMade] = field(default_factory=list)
    clock: RunningClock | None = None
    left_ms: Times = (None, None)
    search: dict[int, SearchUpdate] = field(default_factory=dict)
    authors: tuple[str, str] = ("", "")
    end: Ended | None = None
    _figures: list[SearchFigures] = field(default_factory=list, compare=False)

    def figures(self) -> Sequence[SearchFigures]:
        """Search figures of each move."""
        for move in self.moves[len(self._figures) :]:
            self._figures.append(search_figures(move.search, move.messages, move.charged_ms))
        return self._figures

    def evaluations(self) -> Iterator[tuple[int, int, float]]:
        """Move number, seat, and evaluation for the first seat."""
        for move in self.moves:
            if (value := evaluation_of(move)) is not None:
                yield move.ply, move.seat, value

    @property
    def stem(self) -> str:
        """File name of its page without extension."""
        return f"{self.game:05d}"

    @property
    def is_decided(self) -> bool:
        """Whether no answer is awaited after the last one; the result follows."""
        return bool(self.moves) and self.clock is None

    def number_of(self, move: MoveMade) -> int:
        """As in lists of moves: set moves count."""
        return self.set_moves + move.ply

    def charged_ms(self, seat: int) -> float:
        return sum(move.charged_ms for move in self.moves if move.seat == seat)

    def view(self) -> BoardView | None:
        board = self.board
        if board is None:
            return None
        return BoardView(
            surface=Surface(board.surface),
            columns=board.columns,
            rows=board.rows,
            tokens=self.tokens,
            sides=board.sides,
            seats=self.seats,
            blocked=frozenset(board.blocked),
            marks={(mark.x, mark.y): Mark(mark.mark) for mark in self.marks},
            caption=self.moves[-1].notation if self.moves else "",
        )


@dataclass(slots=True)
class Live:
    """The state. `version` grows with each change of the contest's pages."""

    seq: int = 0
    version: int = 0
    opened: Opened | None = None
    state: str = "open"
    reason: str = ""
    table: tuple[StandingLine, ...] = ()
    agents: Mapping[str, int] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    authors: Mapping[str, str] = field(default_factory=dict)
    games: dict[int, LiveGame] = field(default_factory=dict)
    """Running games by number."""
    most_games: int = 0
    """The most that have run at once."""
    last_games: list[LiveGame] = field(default_factory=list)
    """Games that have ended, oldest first."""
    ended: list[tuple[Ended, tuple[str, str]]] = field(default_factory=list)
    ended_by_agent: dict[str, deque[tuple[Ended, tuple[str, str]]]] = field(default_factory=dict)
    """Newest first."""
    is_table_due: bool = False
    withheld_from: int | None = None
    """The first round whose results are withheld."""
    stages: dict[int, str] = field(default_factory=dict)
    evaluated: dict[int, EvaluatedGame | None] = field(default_factory=dict)
    """Ended games by number."""
    _waiting: dict[int, NextGame] = field(default_factory=dict)
    out: set[str] = field(default_factory=set)
    disqualified: dict[str, str] = field(default_factory=dict)
    withdrawn: dict[str, str] = field(default_factory=dict)
    _seconds: float = 0.0
    _measured: int = 0

    @property
    def log(self) -> str:
        """Name of the log; empty before it begins."""
        return self.opened.log if self.opened else ""

    def apply(self, event: AnyEvent) -> None:
        """Raises an exception for an invalid event; the state is unchanged then."""
        match event:
            case MoveMade() | TurnBegun() | SearchUpdate():
                game = self.games.get(event.game)
                if game is not None and game.attempt == event.attempt:
                    _advance(game, event)
            case _:
                self._change(event)
                self.version += 1
        self.seq = event.seq

    def _change(self, event: AnyEvent) -> None:
        """Compute all new values, then assign them."""
        match event:
            case Opened():
                self.opened = event
            case Entered():
                agents = {agent.name: agent.agent for agent in event.agents}
                titles = {agent.name: agent.title for agent in event.agents}
                authors = {agent.name: agent.author for agent in event.agents}
                self.agents, self.titles, self.authors = agents, titles, authors
            case Scheduled():
                stages = {coming.game: coming.stage for coming in event.games if coming.stage}
                for coming in event.games:
                    self._wait(coming)
                self.stages |= stages
            case StateChanged():
                self.state, self.reason = event.state, event.reason
            case ResultsWithheld():
                self.withheld_from = event.first
            case TableChanged():
                self.table, self.is_table_due = event.lines, False
            case Withdrawn(is_annulled=False):
                self.withdrawn[event.agent] = _why(event)
            case Disqualified() | Withdrawn():
                gone = self.withdrawn if isinstance(event, Withdrawn) else self.disqualified
                gone[event.agent] = _why(event)
                self.out.add(event.agent)
                for coming in list(self._waiting.values()):
                    self._wait(coming)
            case GameStarted():
                self.games[event.game] = self._new_game(event)
                self._waiting.pop(event.game, None)
                self.most_games = max(self.most_games, len(self.games))
                if self.state != "open":
                    self.state, self.reason = "open", ""
            case Playing():
                self._begin(event)
            case Ended():
                if (game := self.games.get(event.game)) is not None:
                    self._end(game, event)
                self.is_table_due = True
            case Unscored():
                found = self._results(event.game, event.attempt) if event.state == "annulled" else ()
                game = self.games.get(event.game)
                names = [*(names for _, names in found), *([] if game is None else [game.names])]
                again = [NextGame(game=event.game, round=0, table=0, first=one, second=two) for one, two in names[:1]]
                self.games.pop(event.game, None)
                self._remove(event.game, found)
                for coming in again:
                    self._wait(coming)

    def _new_game(self, event: GameStarted) -> LiveGame:
        names = (event.first, event.second)
        titles = (self.shown(event.first), self.shown(event.second))
        authors = (self.authors.get(event.first, ""), self.authors.get(event.second, ""))
        return LiveGame(event.game, event.attempt, names, titles, event.at, authors=authors)

    def _end(self, game: LiveGame, event: Ended) -> None:
        seconds = max(0.0, _time(event.at) - _time(game.started_at))
        moves = zip(game.moves, game.figures(), strict=True)
        values = [(move.seat, figures.searched_evaluation) for move, figures in moves]
        evaluated = evaluate_game(values, event.winner)
        others = [each for each in self.last_games if each.game != event.game]
        del self.games[event.game]
        game.end, game.clock = event, None
        self.last_games = [*others, game][-MAX_ENDED_GAMES:]
        self.evaluated[event.game] = evaluated
        self.ended = [(event, game.names), *self.ended[: MAX_ENDED_GAMES - 1]]
        for name in game.names:
            results = self.ended_by_agent.setdefault(name, deque(maxlen=MAX_AGENT_RESULTS))
            results.appendleft((event, game.names))
        self._seconds += seconds
        self._measured += 1

    def _results(self, game: int, attempt: int) -> Sequence[tuple[Ended, tuple[str, str]]]:
        """The result of an attempt, with its agents; empty if it is not among the last."""
        return [(event, names) for event, names in self.ended if (event.game, event.attempt) == (game, attempt)]

    def _remove(self, game: int, found: Sequence[tuple[Ended, tuple[str, str]]]) -> None:
        """Remove the results that `_results` has found for a game."""
        if not found:
            return
        self.ended = [each for each in self.ended if each not in found]
        for results in self.ended_by_agent.values():
            for each in found:
                if each in results:
                    results.remove(each)
        self.last_games = [each for each in self.last_games if each.game != game]
        self.evaluated.pop(game, None)

    def shown(self, agent: str) -> str:
        return self.titles.get(agent) or agent

    @property
    def waiting(self) -> int:
        """Scheduled games that have not begun."""
        return len(self._waiting)

    def next_games(self) -> Iterator[tuple[NextGame, float | None]]:
        """Next public games in schedule order, with the seconds until each may begin, if known."""
        mean_s = self._seconds / self._measured if self._measured else None
        first = self.withheld_from
        waiting = [game for _, game in sorted(self._waiting.items()) if first is None or game.round < first]
        for place, coming in enumerate(waiting[:MAX_NEXT_GAMES]):
            wait_s = None if mean_s is None or not self.games else mean_s * (place // self.most_games + 0.5)
            yield coming, wait_s

    def _wait(self, game: NextGame) -> None:
        if self.out.isdisjoint((game.first, game.second)):
            self._waiting[game.game] = game
        else:
            self._waiting.pop(game.game, None)

    def _begin(self, event: Playing) -> None:
        game = self.games.get(event.game)
        if game is None or game.attempt != event.attempt:
            return
        board = event.board
        tokens = {} if board is None else {(piece.x, piece.y): token_of(piece) for piece in board.pieces}
        if game.is_playing:
            game = LiveGame(event.game, event.attempt, game.names, game.titles, game.started_at, authors=game.authors)
            self.games[event.game] = game
        game.is_playing, game.seq, game.board = True, event.seq, board
        game.tokens, game.left_ms, game.set_moves = tokens, event.left_ms, event.set_moves
        if board is not None:
            game.seats = board.seats


def _advance(game: LiveGame, event: MoveMade | TurnBegun | SearchUpdate) -> None:
    match event:
        case MoveMade():
            tokens = {(piece.x, piece.y): token_of(piece) for piece in event.pieces}
            for square in event.emptied:
                game.tokens.pop(square, None)
            game.tokens |= tokens
            game.marks, game.left_ms, game.clock = event.marks, event.left_ms, event.clock
            game.seats = event.seats or game.seats
            game.search.pop(event.seat, None)
            game.moves.append(event)
        case TurnBegun():
            game.clock = event.clock
            game.left_ms = game.left_ms if event.clock is None else event.clock.left_ms
        case SearchUpdate():
            game.search[event.seat] = event


def _why(event: Disqualified | Withdrawn) -> str:
    return event.reason.removeprefix(f"{event.agent}: ")


def _time(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def latest_search(game: LiveGame, seat: int) -> str:
    """Latest search report of a seat in words, or an empty string."""
    latest: SearchUpdate | MoveMade | None = game.search.get(seat)
    if latest is None:
        latest = next((move for move in reversed(game.moves) if move.seat == seat), None)
    return "" if latest is None else search_words(latest)


def evaluation_of(move: MoveMade) -> float | None:
    """Its agent's evaluation: positive if the first seat is ahead. None if it reported none."""
    value = search_figures(move.search, move.messages, move.charged_ms).searched_evaluation
    return value if value is None or move.seat == 0 else -value


def search_words(report: SearchUpdate | MoveMade) -> str:
    """Figures, such as `depth 8 · eval 302 · nodes 12K`, with the messages without figures; else the whole report."""
    found = search_figures(report.search, report.messages, None)
    figures = {
        "depth": None if not found.depth else count_text(found.depth),
        "eval": None if found.evaluation is None else number(found.evaluation, 2).replace("inf", "∞"),
        "nodes": None if not found.nodes else count_text(found.nodes),
    }
    known = {name: text for name, text in figures.items() if text is not None}
    others = [each for each in report.messages if not known or search_figures({}, [each], None) == SearchFigures()]
    return " · ".join([*(f"{name} {text}" for name, text in (known or report.search).items()), *others])


def token_of(piece: PieceShown) -> Token:
    """Token of an event's piece."""
    faces = tuple(Face(name.removeprefix("?"), is_hidden=name.startswith("?")) for name in piece.faces)
    return Token(piece.side, piece.number, faces, piece.shows, piece.is_dead)
