"""The Gomocup (Piskvork pipe) protocol: the conversation of a manager with one brain.

Sources: the "Gomoku AI protocol" and "Nový protokol" of Gomocup. docs/gomocup.md describes the reaction to each reply.

A brain is in one of the phases below. `STEPS` maps a phase and a word to the next step. Other words are
ignored with a note.

    phase        what the manager waits for     left by
    STARTING     OK to START or RECTSTART       OK, or ERROR/UNKNOWN (refused)
    GREETING     any answer to ABOUT            an answer, or the alarm: many brains never answer
    IDLE         nothing                        a request
    RESTARTING   OK to RESTART                  OK, or ERROR/UNKNOWN (END and a new process)
    TAKING_BACK  OK to TAKEBACK                 OK, or ERROR/UNKNOWN (RESTART)
    SWAPPING     an answer to SWAP2BOARD        squares or SWAP, or ERROR/UNKNOWN (RESTART, then asked by BOARD)
    THINKING     a move                         a move, a mangled move, or one UNKNOWN/ERROR too many
    ENDING       the exit                       -

- An UNKNOWN or ERROR may be a late answer to an INFO line, or to a line of an optional command. One is forgiven per
  such line. The next is about the last command.
- If a brain has answered no INFO line, it is about the last command: immediately for SWAP2BOARD, and for TURN, BEGIN
  and BOARD unless a move follows within `refusal_ms`. Such a move shows that the brain answers INFO lines.
- RESTART is refused if nothing follows within `refusal_ms`; so is SWAP2BOARD for a brain that answers INFO lines, or
  has answered neither ABOUT nor a request.
- Until the first answer to a request, an answer to ABOUT may be late. It shows that earlier lines were about INFO.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import ClassVar

from judge.base.text import decode, sentence
from judge.games.gomoku.requests import (
    AnswerSwap,
    ColoursSettled,
    LayStones,
    Placed,
    PlaceStone,
    Stone,
    StonePlaced,
    Stones,
    StonesRequest,
    Swap,
)
from judge.games.types import Event, Reply, ReplyKind, Request
from judge.protocols import checks
from judge.protocols.entry import ProtocolEntry
from judge.protocols.gomocup_board import BrainBoard, Way
from judge.protocols.gomocup_words import (
    ABOUT_CHARACTERS,
    INT32_MAX,
    TOURNAMENT,
    GomocupOptions,
    GomocupWord,
    classify,
    info_lines,
    is_about,
    is_private,
    objection,
    parse_about,
    say_squares,
    squares_in,
)
from judge.protocols.lines import LineReader, discarded
from judge.protocols.types import (
    Alarm,
    Answer,
    Ask,
    Await,
    Bytes,
    Clock,
    Close,
    Effect,
    Note,
    Open,
    Ready,
    Respawn,
    Stimulus,
    Tell,
    Wait,
    WakeAfter,
    Write,
)


class GomocupPhase(StrEnum):
    """See the module."""

    STARTING = "starting"
    GREETING = "greeting"
    IDLE = "idle"
    RESTARTING = "restarting"
    TAKING_BACK = "taking back"
    SWAPPING = "swapping"
    THINKING = "thinking"
    ENDING = "ending"


MAX_SUGGESTIONS = 2
"""To one request."""

UNWAITED = frozenset({GomocupPhase.IDLE, GomocupPhase.ENDING})


class Gomocup:
    """The manager's side."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset(
        {PlaceStone, LayStones, AnswerSwap, StonePlaced, ColoursSettled}
    )

    def __init__(self, options: GomocupOptions) -> None:
        self._options = options
        self._suggested_count = 0
        self._end = "\r\n" if options.line_ending == "crlf" else "\n"
        self._lines = LineReader(options.line_bytes, is_private)
        self._phase = GomocupPhase.IDLE
        self._excuses = 0
        """UNKNOWN or ERROR lines that may answer earlier lines."""
        self._about_excuses = 0
        """The same for INFO lines and ABOUT, while an answer to ABOUT is late."""
        self._doubt: str | None = None
        """Refuses the last command after a silence of `refusal_ms`."""
        self._complaints = 0
        """UNKNOWN and ERROR lines before the answer to ABOUT."""
        self._answers_info = False
        self._said = ""
        self._complaint = ""
        self._board = BrainBoard()
        self._laid: list[Placed] = []
        self._asked: StonesRequest | None = None
        self._clock = Clock(0, 0)

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        # The most frequent first.
        match stimulus:
            case Tell():
                return ()
            case Bytes():
                self._clock = stimulus.clock
                return self._read(stimulus.data)
            case Ask(PlaceStone() | LayStones() | AnswerSwap() as request, clock):
                self._clock = clock
                return self._ask(request)
            case Open(game=game, limits=limits):
                width, height = game["width"], game["height"]
                self._start_line = f"START {width}" if width == height else f"RECTSTART {width},{height}"
                self._info_lines = info_lines(game, limits, self._options)
                return self._start()
            case Alarm(clock):
                self._clock = clock
                return self._alarm()
            case Close():
                self._phase = GomocupPhase.ENDING
                return [self._say("END"), Await(Wait.CLOSE)]
            case _:
                raise TypeError(f"the Gomocup protocol has no words for {stimulus!r}")

    def _start(self) -> list[Effect]:
        self._lines.begin()
        self._board.clear()
        self._excuses = self._about_excuses = 0
        return self._command(GomocupPhase.STARTING, Wait.START, self._start_line)

    def _ask(self, request: StonesRequest) -> Sequence[Effect]:
        effects: list[Effect] = []
        if self._lines.clear():
            effects.append(Note("discarded: an unfinished line that came before the request"))
        self._asked = request
        self._complaint = ""
        self._suggested_count = 0
        self._laid = []
        if isinstance(request, PlaceStone):
            return [*effects, *self._put_position()]
        rows = [f"{x},{y}" for x, y, _ in request.stones]
        lines = [self._time_left(), "SWAP2BOARD", *rows, "DONE"]
        return [*effects, *self._command(GomocupPhase.SWAPPING, Wait.TURN, *lines)]

    def _alarm(self) -> Sequence[Effect]:
        if self._phase is GomocupPhase.GREETING:
            self._about_excuses, self._excuses = self._excuses + 1, 0
            return self._greeted({})
        said, self._doubt = self._doubt, None
        if said is None:
            return ()
        match self._phase:
            case GomocupPhase.SWAPPING:
                return self._do_without_swap2(said)
            case GomocupPhase.RESTARTING:
                return self._execute_again()
            case GomocupPhase.THINKING:
                return self._refused(said)
            case _:
                return ()

    @property
    def _request(self) -> StonesRequest:
        if self._asked is None:
            raise RuntimeError("nothing was asked")
        return self._asked

    @property
    def _position(self) -> tuple[Sequence[Placed], int, int]:
        """Stones, own colour, and number of stones of the opening."""
        request, laid = self._request, self._laid
        if not laid:
            return request.stones, request.colour & 1, request.opening
        return [*request.stones, *laid], (request.colour + len(laid)) & 1, request.opening + len(laid)

    def _put_position(self) -> list[Effect]:
        position = self._position
        way = self._board.way_to(*position)
        if way is Way.RESTART:
            return self._restart()
        if way is Way.TAKEBACK:
            x, y = self._board.last
            return self._command(GomocupPhase.TAKING_BACK, Wait.TURN, f"TAKEBACK {x},{y}")
        request = self._request
        question = self._board.question(*position, request.dead if isinstance(request, PlaceStone) else ())
        return self._command(GomocupPhase.THINKING, Wait.TURN, self._time_left(), *question)

    def _restart(self) -> list[Effect]:
        return self._command(GomocupPhase.RESTARTING, Wait.START, "RESTART")

    def _command(self, phase: GomocupPhase, wait: Wait, *lines: str) -> list[Effect]:
        self._phase, self._doubt = phase, None
        return [self._say(*lines), Await(wait)]

    def _time_left(self) -> str:
        self._excuses += 1
        return f"INFO time_left {min(self._clock.time_left_ms, INT32_MAX)}"

    def _read(self, data: bytes) -> Sequence[Effect]:
        lines = self._lines.feed(data.replace(b"\r", b"\n") if b"\r" in data else data)
        private = self._lines.take_private()
        effects: list[Effect] = [Note(decode(classify(line)[1]), private=True) for line in private] if private else []
        effects += self._lines.take_cut()
        for number, line in enumerate(lines):
            if self._phase in UNWAITED:
                self._read_late_answers(lines[number:])
                return [*effects, *discarded(lines[number:])]
            if not line.strip():
                continue
            said = self._line(line)
            effects += said
            if Respawn in map(type, said):
                # From the old process.
                return [*effects, *discarded(lines[number + 1 :])]
        if self._phase in UNWAITED:
            self._lines.clear()
        return effects

    def _line(self, line: bytes) -> Sequence[Effect]:
        word, rest = classify(line)
        self._said = decode(line[:200]).strip()
        if word is GomocupWord.ERROR:
            self._complaint = self._said
        step = STEPS.get((self._phase, word))
        if step is not None:
            return step(self, rest)
        if word is GomocupWord.MESSAGE:
            return [Note(decode(rest))]
        if self._is_late_about(word, line):
            self._late_about()
            return self._ignored_answer()
        return [Note(sentence(f"ignored: {decode(line[:80])!r}"))]

    def _started(self, _rest: bytes) -> Sequence[Effect]:
        self._excuses = len(self._info_lines)
        if self._asked is not None:
            return [self._say(*self._info_lines), *self._put_position()]
        self._complaints = 0
        # The answer to ABOUT includes the work of INFO max_memory, outside the turn.
        return self._command(GomocupPhase.GREETING, Wait.COURTESY, *self._info_lines, "ABOUT")

    def _start_refused(self, _rest: bytes) -> Sequence[Effect]:
        return self._refused(f"{self._start_line}: {self._said}")

    def _about(self, rest: bytes) -> Sequence[Effect]:
        # The brain has read every INFO before ABOUT.
        self._excuses = 0
        return self._greeted(parse_about(decode(rest[:ABOUT_CHARACTERS]).strip()))

    def _is_late_about(self, word: GomocupWord, line: bytes) -> bool:
        return word is GomocupWord.TEXT and self._about_excuses > 0 and is_about(decode(line[:ABOUT_CHARACTERS]))

    def _late_about(self) -> None:
        self._answers_info = self._answers_info or self._complaints > 0
        self._clear_doubt()

    def _read_late_answers(self, lines: Sequence[bytes]) -> None:
        """Answers to INFO and ABOUT that arrive without a request, such as those of a brain that ponders."""
        for line in lines:
            if not self._about_excuses:
                return
            word = classify(line)[0]
            if word in (GomocupWord.ERROR, GomocupWord.UNKNOWN):
                self._about_excuses -= 1
                self._complaints += 1
            elif self._is_late_about(word, line):
                self._late_about()

    def _about_unknown(self, _rest: bytes) -> Sequence[Effect]:
        excused = self._excused()
        if excused:
            self._complaints += 1
        return excused or self._greeted({})

    def _acknowledged(self, _rest: bytes) -> Sequence[Effect]:
        return self._excused() or self._greeted({})

    def _greeted(self, about: dict[str, str]) -> Sequence[Effect]:
        # One of them may be about ABOUT if it has no other answer.
        self._answers_info = self._complaints > (1 if self._about_excuses else 0)
        self._phase = GomocupPhase.IDLE
        return [Ready(about)]

    def _restarted(self, _rest: bytes) -> Sequence[Effect]:
        self._excuses = self._about_excuses = 0
        self._board.clear()
        return self._put_position()

    def _restart_refused(self, _rest: bytes) -> Sequence[Effect]:
        return self._doubted() or self._execute_again()

    def _execute_again(self) -> Sequence[Effect]:
        # Gomoku AI protocol, RESTART: after UNKNOWN, END and a new process.
        return [self._say("END"), Respawn(), *self._start()]

    def _took_back(self, _rest: bytes) -> Sequence[Effect]:
        self._board.take_back()
        return self._put_position()

    def _takeback_refused(self, _rest: bytes) -> Sequence[Effect]:
        return self._excused() or self._restart()

    def _moved(self, rest: bytes) -> Sequence[Effect]:
        ((x, y),) = squares_in(rest)
        self._excuses = 0
        self._clear_doubt()
        self._board.add((x, y))
        request = self._request
        if not isinstance(request, LayStones):
            return self._answered(Stone(x, y), say_squares([(x, y)], rest))
        self._laid.append((x, y, (request.colour + len(self._laid)) & 1))
        if len(self._laid) < request.count:
            return self._restart()
        laid = tuple((x, y) for x, y, _ in self._laid)
        return self._answered(Stones(laid), say_squares(laid))

    def _mangled(self, rest: bytes) -> Sequence[Effect]:
        self._phase = GomocupPhase.IDLE
        return [Answer(Reply(ReplyKind.UNREADABLE, decode(rest[:200]), complaint=self._complaint))]

    def _suggested(self, rest: bytes) -> Sequence[Effect]:
        # Gomoku AI protocol, SUGGEST: in a tournament always the suggested move.
        self._doubt = None
        if classify(rest)[0] is not GomocupWord.MOVE:
            return self._mangled(b"SUGGEST " + rest)
        if self._suggested_count >= MAX_SUGGESTIONS:
            return [Note(f"ignored: {self._said[:80]!r}, more than {MAX_SUGGESTIONS} suggestions to one request")]
        self._suggested_count += 1
        ((x, y),) = squares_in(rest)
        return [self._say(f"PLAY {x},{y}"), Await(Wait.TURN)]

    def _move_refused(self, _rest: bytes) -> Sequence[Effect]:
        return (self._excused() if self._answers_info else self._doubted()) or self._refused(self._said)

    def _refused(self, said: str) -> Sequence[Effect]:
        self._phase = GomocupPhase.IDLE
        return [Answer(Reply(ReplyKind.REFUSED, said))]

    def _swapped(self, _rest: bytes) -> Sequence[Effect]:
        return self._answered(Swap(), "SWAP")

    def _set_stones(self, rest: bytes) -> Sequence[Effect]:
        squares = squares_in(rest)
        stays = len(squares) == 1 and isinstance(self._request, AnswerSwap)
        return self._answered(Stone(*squares[0]) if stays else Stones(squares), say_squares(squares, rest))

    def _swap2_refused(self, _rest: bytes) -> Sequence[Effect]:
        doubted = self._doubted() if self._answers_info or self._about_excuses else ()
        return doubted or self._do_without_swap2(self._said)

    def _do_without_swap2(self, said: str) -> Sequence[Effect]:
        # Gomoku AI protocol, UNKNOWN: the manager tries a mandatory command. Each unread line of the optional one may
        # still cause an UNKNOWN. After RESTART, a late answer to SWAP2BOARD is not read as the answer to BOARD.
        self._excuses = max(0, self._excuses - 1) + len(self._request.stones) + 1
        return [Note(f"SWAP2BOARD was answered by {said[:80]!r}: asked by BEGIN or BOARD"), *self._restart()]

    def _answered(self, decision: Stone | Stones | Swap, said: str) -> list[Effect]:
        self._phase = GomocupPhase.IDLE
        self._excuses = 0
        self._clear_doubt()
        return [Answer(Reply(ReplyKind.DECIDED, said, decision, self._complaint))]

    def _excused(self) -> Sequence[Effect]:
        if self._about_excuses:
            self._about_excuses -= 1
        elif self._excuses:
            self._excuses -= 1
        else:
            return ()
        return self._ignored_answer()

    def _ignored_answer(self) -> Sequence[Effect]:
        return [Note(sentence(f"ignored: {self._said[:80]!r}, taken for an answer to an earlier line"))]

    def _doubted(self) -> Sequence[Effect]:
        excused = self._excused()
        if not excused:
            return ()
        self._doubt = self._said
        return [*excused, WakeAfter(self._options.refusal_ms)]

    def _clear_doubt(self) -> None:
        """After an answer: the line in doubt was about an earlier line, and an answer to ABOUT comes no more."""
        self._about_excuses = 0
        self._answers_info = self._answers_info or self._doubt is not None
        self._doubt = None

    def _say(self, *lines: str) -> Write:
        return Write((self._end.join(lines) + self._end).encode())


STEPS: dict[tuple[GomocupPhase, GomocupWord], Callable[[Gomocup, bytes], Sequence[Effect]]] = {
    (GomocupPhase.STARTING, GomocupWord.OK): Gomocup._started,
    (GomocupPhase.STARTING, GomocupWord.ERROR): Gomocup._start_refused,
    (GomocupPhase.STARTING, GomocupWord.UNKNOWN): Gomocup._start_refused,
    (GomocupPhase.GREETING, GomocupWord.UNKNOWN): Gomocup._about_unknown,
    (GomocupPhase.GREETING, GomocupWord.ERROR): Gomocup._about_unknown,
    (GomocupPhase.GREETING, GomocupWord.OK): Gomocup._acknowledged,
    (GomocupPhase.GREETING, GomocupWord.TEXT): Gomocup._about,
    (GomocupPhase.RESTARTING, GomocupWord.OK): Gomocup._restarted,
    (GomocupPhase.RESTARTING, GomocupWord.ERROR): Gomocup._restart_refused,
    (GomocupPhase.RESTARTING, GomocupWord.UNKNOWN): Gomocup._restart_refused,
    (GomocupPhase.TAKING_BACK, GomocupWord.OK): Gomocup._took_back,
    (GomocupPhase.TAKING_BACK, GomocupWord.ERROR): Gomocup._takeback_refused,
    (GomocupPhase.TAKING_BACK, GomocupWord.UNKNOWN): Gomocup._takeback_refused,
    (GomocupPhase.SWAPPING, GomocupWord.MOVE): Gomocup._set_stones,
    (GomocupPhase.SWAPPING, GomocupWord.SQUARES): Gomocup._set_stones,
    (GomocupPhase.SWAPPING, GomocupWord.SWAP): Gomocup._swapped,
    (GomocupPhase.SWAPPING, GomocupWord.MANGLED): Gomocup._mangled,
    (GomocupPhase.SWAPPING, GomocupWord.ERROR): Gomocup._swap2_refused,
    (GomocupPhase.SWAPPING, GomocupWord.UNKNOWN): Gomocup._swap2_refused,
    (GomocupPhase.THINKING, GomocupWord.MOVE): Gomocup._moved,
    (GomocupPhase.THINKING, GomocupWord.SQUARES): Gomocup._set_stones,
    (GomocupPhase.THINKING, GomocupWord.MANGLED): Gomocup._mangled,
    (GomocupPhase.THINKING, GomocupWord.SUGGEST): Gomocup._suggested,
    (GomocupPhase.THINKING, GomocupWord.ERROR): Gomocup._move_refused,
    (GomocupPhase.THINKING, GomocupWord.UNKNOWN): Gomocup._move_refused,
}


ENTRY = ProtocolEntry(
    GomocupOptions,
    Gomocup,
    is_private,
    objection,
    games=("gomoku",),
    url="https://plastovicka.github.io/protocl2en.htm",
    in_contest={"game_type": TOURNAMENT},
    # Gomoku AI protocol, INFO game_type: human opponent.
    against_person={"game_type": 0},
    checks=(
        checks.START,
        checks.ABOUT,
        checks.Check("begin", sentence("BEGIN, then TURN"), sentence("answer BEGIN with a move such as 7,7")),
        checks.Check("turn", sentence("TURN on an empty board"), sentence("answer TURN x,y with a move")),
        checks.Check(
            "board",
            sentence("BOARD with an even and an odd number of stones, own ones second too"),
            sentence(
                "read lines x,y,who up to DONE, in any order of who (1: own, 2: the opponent's), then answer by a move"
            ),
        ),
        checks.Check(
            "restart",
            sentence("RESTART between two games"),
            sentence(
                "answer RESTART with OK and clear the board; otherwise a new process is started for every position"
            ),
        ),
        checks.WIN,
        checks.BLOCK,
        checks.RULE,
        checks.OPENING,
        checks.TIME,
        checks.MEMORY,
        checks.QUIET,
        checks.ENDING,
        checks.END,
        *checks.GAMES,
    ),
    answer_forms={
        "": sentence("column,row from 0, alone on the line, such as 3,13"),
        "SWAP2BOARD": sentence("squares such as 7,7 8,8 9,9, or SWAP, alone on the line"),
        **dict.fromkeys(("START", "RECTSTART", "RESTART", "TAKEBACK"), sentence("OK, alone on the line")),
    },
    coordinate_order=sentence("are x and y exchanged? x is the column and comes first, and both count from 0"),
    counts_from_0=True,
)
