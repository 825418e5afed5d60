"""Asks a person: on a terminal with board and cursor, otherwise by line.

Arguments are the file descriptors of the keyboard and the answer pipe; stdin is the feed of the games.
"""

import os
import select
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

from rich.console import Console
from rich.live import Live

from judge.base.errors import InputError
from judge.base.text import is_printable, printable
from judge.broadcast.pipe import frames
from judge.catalog import game_entry
from judge.formats.views import Mark, Square
from judge.games.person import RESIGN, PersonWords, UnclearError
from judge.games.types import SEATS, AgentFault, Reply, ReplyKind, Request, RuleResult, Verdict
from judge.protocols import PERSON
from judge.protocols.person import PersonOptions
from judge.record.spec import GameSpec
from judge.terminal.board_text import print_board
from judge.terminal.browse import ESCAPE, key_by_key, keys_of
from judge.terminal.live import Follower, GameViews, leave_last, stop_gracefully, take
from judge.terminal.screen import MAX_STORED_MOVES, MoveShown, Screen, SeatShown
from judge.terminal.series_score import SeriesScore

MAX_CHARACTERS = 200

POLL_INTERVAL_S = 0.1
NICENESS = 19
"""Agents have priority over drawing."""

END_OF_INPUT = "\x04"
_ARROWS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


class Seated(Follower):
    """A game that a person plays. `send` sends a line of an answer."""

    def __init__(self, spec: GameSpec, judge_pid: int) -> None:
        self.seat = self.viewer = next(seat for seat in SEATS if spec.seats[seat].protocol == PERSON)
        self._answered = 0
        self._typed: list[Reply] = []
        """Typed answers to be judged together with later ones."""
        self._prepared: list[str] = []
        words = game_entry(spec.policy.game.name).person()
        if words is None:
            raise InputError(f"a person cannot play {spec.policy.game.name}")
        self.words = words
        self._has_clock = PersonOptions.model_validate(spec.seats[self.seat].protocol_options).clock
        self.names = (spec.seats[0].name, spec.seats[1].name)
        super().__init__(spec, judge_pid)

    def describe_events(self) -> list[tuple[int | None, str]]:
        """The seat's events with the causing seat. Callers must escape the texts."""
        events = self.seats[self.seat].events
        return [(getattr(event, "seat", None), self.words.tell(event, self.names)) for event in events]

    def screen(self, title: str, series: SeriesScore | None) -> Screen:
        moves = [
            MoveShown(number, self.seat if seat is None else seat, said, None)
            for number, (seat, said) in enumerate(self.describe_events(), 1)
        ]
        seats = (self._seat(0), self._seat(1))
        return Screen(title, self.view(), seats, tuple(moves[-MAX_STORED_MOVES:]), self.result, series)

    def _seat(self, seat: int) -> SeatShown:
        shown = replace(super()._seat(seat), said="", search={}, messages=())
        if seat != self.seat or self._has_clock:
            return shown
        return replace(shown, turn_limit_ms=None, left_ms=None, match_ms=None, control="")

    def asked(self) -> Request | None:
        seen = self.seats[self.seat]
        given = sum(ply.seat == self.seat for ply in self.referee.plies)
        is_open = seen.is_asked and given >= self._answered and not self.result
        return self.referee.game.pending() if is_open else None

    def prepared(self) -> str | None:
        """The answer to the current request, if typed in advance."""
        request = self.asked() if self._prepared else None
        if request is None or self.words.together(request) != len(self._prepared):
            return None
        self._answered += 1
        return self._prepared.pop(0)

    def question(self, request: Request) -> str:
        return self.words.question(request, len(self._typed))

    def tips(self, request: Request) -> Sequence[str]:
        return (*self.words.tips(request), f"{RESIGN} gives the game up")

    def answer(self, request: Request, typed: str) -> str | None:
        """The line to send; None if more input is needed.

        Raises UnclearError for text that is not an answer or that the rules would punish: typing errors never lose a
        game.
        """
        words = self.words
        replies = [words.answer(request, line) for line in words.lines(request, typed)]
        if replies[0].kind is not ReplyKind.RESIGNED:
            replies = replies if len(replies) > 1 else [*self._typed, *replies]
            if len(replies) < words.together(request):
                self._typed = replies
                return None
            self._typed = []
            self._try(replies)
        self._answered += 1
        self._prepared = [reply.said for reply in replies[1:]]
        return replies[0].said

    def _try(self, replies: Sequence[Reply]) -> None:
        game = self.words.strict(deepcopy(self.referee.game))
        for reply in replies:
            if game.end is None:
                game.apply(reply)
        match game.end:
            case AgentFault(seat=loser, reason=reason) if loser == self.seat:
                raise UnclearError(reason)
            case RuleResult(verdict=Verdict.FOUL, winner=winner, reason=reason) if winner != self.seat:
                raise UnclearError(f"{reason}: whoever plays it loses")


@dataclass(slots=True)
class Prompt:
    """The typed text. `width` and `height` are the board's."""

    width: int
    height: int
    words: PersonWords
    text: str = ""
    cursor: Square | None = None
    helps: bool = False
    _picked: int = 0
    _is_pointing: bool = False

    def press(self, key: str, request: Request | None) -> str | None:
        """Apply a key of `keys_of`; return a complete line."""
        if key in _ARROWS:
            dx, dy = _ARROWS[key] if self.cursor else (0, 0)
            x, y = self.cursor or (self.width // 2, self.height // 2)
            self.cursor = (x + dx) % self.width, (y + dy) % self.height
            self._is_pointing = True
        elif key in "\r\n":
            return self._enter(request)
        elif key == "\t":
            self._pick(request)
        elif key in "\x7f\b":
            self.text, self._picked = self.text[:-1], 0
        elif key in (ESCAPE, "\x15"):
            self._clear()
        elif key == "?":
            self.helps = not self.helps
        elif len(key) == 1 and is_printable(key):
            self.text = (self.text + key)[:MAX_CHARACTERS]
            self._is_pointing = False
        return None

    def _enter(self, request: Request | None) -> str | None:
        if request is None:
            return None
        squares = self.words.squares(request)
        if self._is_pointing and squares:
            self._pick(request)
            if self._picked < squares:
                return None
        line = self.text
        self._clear()
        return line or None

    def _pick(self, request: Request | None) -> None:
        if self.cursor is None or request is None:
            return
        self.text = f"{self.text} {self.words.square(*self.cursor)}".strip()
        self._picked += 1
        self._is_pointing = False

    def _clear(self) -> None:
        self.text, self._picked, self._is_pointing = "", 0, False


class Player(ABC):
    """Asks the person of each game in the feed."""

    def __init__(self, console: Console, keyboard: int, answers: int) -> None:
        self.views = GameViews(Seated)
        self._console = console
        self._feed = sys.stdin.fileno()
        self._keyboard = keyboard
        self._answers = answers
        self._read = bytearray()
        self._has_ended = False
        """Of the keyboard."""
        self._game: Seated | None = None
        os.set_blocking(self._feed, False)

    def run(self) -> bool:
        """Run until the feed ends; False if the person leaves before."""
        goes_on = True
        while goes_on:
            watched = [self._feed] if self._has_ended else [self._feed, self._keyboard]
            ready = select.select(watched, [], [], POLL_INTERVAL_S)[0]
            goes_on = take(self._feed, self._read)
            for kind, data in frames(self._read):
                self.views.hear(kind, data)
            typed = self._typed() if self._keyboard in ready else None
            self._has_ended = self._has_ended or typed == b""
            game = self.views.follower
            if game is not None and game is not self._game:
                self._game = game
                self.begin(game)
            if game is not None and (prepared := game.prepared()) is not None:
                self.send(prepared)
            if not self.take(typed or b""):
                return False
        return True

    @abstractmethod
    def begin(self, game: Seated) -> None:
        """Before the first question of a game."""

    @abstractmethod
    def take(self, typed: bytes) -> bool:
        """Ask and answer for the current game; False if the person has left."""

    def send(self, line: str) -> None:
        """Answer the judge."""
        os.write(self._answers, f"{line}\n".encode())

    def _typed(self) -> bytes:
        try:
            return os.read(self._keyboard, 1 << 14)
        except OSError:  # the terminal was closed
            return b""


class InLines(Player):
    """Asks line by line."""

    _lines = b""
    _printed_count = 0
    _is_asking = False

    def begin(self, game: Seated) -> None:  # noqa: ARG002
        self._printed_count, self._is_asking = 0, False

    def take(self, typed: bytes) -> bool:
        self._lines += typed
        game = self._game
        if game is None:
            return True
        texts = game.describe_events()
        for _, text in texts[self._printed_count :]:
            self._say(text)
        self._printed_count = len(texts)
        request = game.asked()
        if request is None:
            return True
        if not self._is_asking:
            self._is_asking = True
            print_board(game.view(), self._console)
            self._say(f"{game.question(request)} (? for help)")
        line, ending, rest = self._lines.partition(b"\n")
        if not ending and not (self._has_ended and line):
            return not self._has_ended
        self._lines = rest
        self._answer(game, request, line.decode("utf-8", "replace"))
        return True

    def _answer(self, game: Seated, request: Request, typed: str) -> None:
        if typed.strip() == "?":
            for text in game.tips(request):
                self._say(text)
            return
        try:
            sent = game.answer(request, typed)
        except UnclearError as error:
            self._say(f"{error}; again:")
            return
        if sent is None:
            self._say(f"{game.question(request)}:")
        else:
            self._is_asking = False
            self.send(sent)

    def _say(self, text: str) -> None:
        self._console.print(printable(text, 300), markup=False)


class OnScreen(Player):
    """Asks on a terminal."""

    _prompt: Prompt
    _note = ""

    def run(self) -> bool:
        with key_by_key(self._keyboard), Live(console=self._console, screen=True, auto_refresh=False) as self._live:
            is_complete = super().run()
        if is_complete:
            leave_last(self._console, self.views.screen())
        return is_complete

    def begin(self, game: Seated) -> None:
        view = game.view()
        self._prompt, self._note = Prompt(len(view.columns), len(view.rows), game.words), ""

    def take(self, typed: bytes) -> bool:
        for key in keys_of(typed):
            if key == END_OF_INPUT:
                return False
            if self._game is not None:
                self._press(key, self._game)
        screen = self.views.screen()
        if self._game is not None and screen is not None:
            self._live.update(self._with_prompt(self._game, screen), refresh=True)
        return not self._has_ended

    def _press(self, key: str, game: Seated) -> None:
        request = game.asked()
        line = self._prompt.press(key, request)
        if line is None or request is None:
            return
        self._note = ""
        try:
            sent = game.answer(request, line)
        except UnclearError as error:
            self._note = str(error)
            return
        if sent is not None:
            self._prompt.helps = False
            self.send(sent)

    def _with_prompt(self, game: Seated, screen: Screen) -> Screen:
        prompt, request = self._prompt, game.asked()
        said = [text for _, text in game.describe_events()][-20:]
        if prompt.helps and request is not None:
            said = list(game.tips(request))
        seats = list(screen.seats)
        seats[game.seat] = replace(seats[game.seat], messages=tuple(said))
        view, status = screen.view, screen.status
        if prompt.cursor is not None:
            view = replace(view, marks={**view.marks, prompt.cursor: Mark.CURSOR})
        if not status and request is None:
            status = f"{game.names[1 - game.seat]} is to play"
        elif not status and request is not None:
            asked = f"you: {game.question(request)}"
            status = f"{self._note}; {asked}" if self._note else asked
        hint = f"> {prompt.text}_   (? help, arrows, Enter, Ctrl-C leaves)"
        return replace(screen, view=view, seats=(seats[0], seats[1]), status=status, hint=hint)


def main() -> None:
    """Run the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, stop_gracefully)
    os.nice(NICENESS)
    keyboard, answers = map(int, sys.argv[1:])
    is_terminal = os.isatty(keyboard) and sys.stdout.isatty()
    console = Console(file=sys.stdout, highlight=False, soft_wrap=not is_terminal)
    (OnScreen if is_terminal else InLines)(console, keyboard, answers).run()


if __name__ == "__main__":
    main()
