"""Replays a Stratego log or record by the rules, checks the result, and shows its views and steps."""

import re
from collections.abc import Iterator
from functools import lru_cache

from judge.base.errors import InputError
from judge.base.text import quote
from judge.formats.steps import Stepped, play_steps
from judge.formats.stratego.log import SHORT, HalfMoveLine, StrategoLog, one_printable_line, read_result, write_log
from judge.formats.views import BoardView, Face, Square, Surface, Token
from judge.games.stratego import RULES, Stratego, StrategoOptions
from judge.games.stratego.game import SURRENDERED, UNINTELLIGIBLE
from judge.games.stratego.types import COLOURS, SIZE, Move, NoMove, SetUpRow, SetupRow, read_reply
from judge.games.types import NATURE, SEATS, AgentFault, Drawn, Reply, ReplyKind, Verdict, decided

_OUTCOME = re.compile(r"(.*) (OK|ILLEGAL|FLAG|VICTORY_FLAG|VICTORY_ATTRITION|(?:KILLS|DIES|BOTHDIE) \S \S)", re.DOTALL)


def stratego_options(log: StrategoLog, rules: str = "stratego-2012") -> StrategoOptions:
    """A named rule set with the log's limit and tolerance."""
    base = RULES[rules]
    last = log.result.outcome if log.result else ""
    reached_limit = log.result is not None and last in ("DRAW_DEFAULT", "INTERNAL_ERROR")
    forgiven = log.half_moves[:-1] if last in ("ILLEGAL", "") else log.half_moves
    outcomes = [_OUTCOME.fullmatch(line.text) for line in forgiven]
    unread = any(game is None for game in outcomes) and base.no_move != "judged"
    illegal = any(game is not None and game[2] == "ILLEGAL" for game in outcomes)
    changes = {
        "turn_limit": log.result.turn if log.result and reached_limit else None,
        "tolerate_illegal": illegal or unread,
        "tolerate_unreadable": unread and base.echo == "verbatim",
    }
    return StrategoOptions.model_validate(base.model_dump() | changes)


def replay_stratego_log(log: StrategoLog, options: StrategoOptions | None = None) -> Stratego:
    """Raises InputError where the rules differ."""
    game = Stratego(options or stratego_options(log))
    for answer in log_answers(log, game):
        if isinstance(answer, AgentFault):
            game.forfeit(answer)
        else:
            game.apply(answer)
        _check_half_move(log, game)
    _check_end(log, game)
    return game


def log_answers(log: StrategoLog, game: Stratego) -> Iterator[Reply | AgentFault]:
    """What to apply to `game` until it ends. Raises InputError if the log ends first."""
    while game.end is None:
        request = game.pending()
        if isinstance(request, SetupRow):
            rows = log.setups[request.seat]
            if rows is None:
                yield AgentFault(Verdict.ILLEGAL, request.seat, "the log calls the set-up invalid")
            else:
                yield decided(SetUpRow(rows[request.row]), rows[request.row])
            continue
        at = len(game.half_moves)
        if at >= len(log.half_moves):
            raise InputError(f"{log.source}, line {log.last_line}: the log ends before the game is over")
        line = log.half_moves[at]
        if request.seat == NATURE:
            yield decided(Drawn(_toss_of(log, line)))
        elif (line.turn, line.seat) != (game.turn, request.seat):
            wanted = f"{game.turn} {SHORT[request.seat]}"
            raise InputError(f"{log.source}, line {line.number}: {wanted} is to move")
        else:
            yield _answer_of(log, line, game.options)


def _answer_of(log: StrategoLog, line: HalfMoveLine, options: StrategoOptions) -> Reply | AgentFault:
    is_last = line is log.half_moves[-1]
    if not line.text and is_last and log.reason != UNINTELLIGIBLE:
        died = log.reason.startswith("SIGPIPE")
        verdict = Verdict.CRASH if died else Verdict.TURN_TIME
        return AgentFault(verdict, line.seat, f"the log has no reply: {quote(log.reason, 200)}")
    outcome = _OUTCOME.fullmatch(line.text)
    reply = read_reply(line.text if outcome is None else outcome[1])
    match reply:
        case _ if is_last and log.reason == UNINTELLIGIBLE:
            is_so = False
        case Reply(decision=Move()):
            is_so = True
        case Reply(decision=NoMove()):
            is_so = options.no_move != "unreadable"
        case _:
            is_so = reply.kind is ReplyKind.RESIGNED and is_last and log.reason in ("", SURRENDERED)
    return reply if is_so else Reply(ReplyKind.UNREADABLE, line.text)


def _toss_of(log: StrategoLog, line: HalfMoveLine) -> int:
    for outcome, word in enumerate(("KILLS", "DIES")):
        if f" {word} " in line.text:
            return outcome
    raise InputError(f"{log.source}, line {line.number}: equal ranks fight here: KILLS or DIES must follow")


def _check_half_move(log: StrategoLog, game: Stratego) -> None:
    if not game.half_moves:
        return
    line, played = log.half_moves[len(game.half_moves) - 1], game.half_moves[-1]
    if one_printable_line(played.text) != one_printable_line(_without_line_end(line.text)):
        raise InputError(
            f"{log.source}, line {line.number}: the log has {quote(line.text)}, the rules give {quote(played.text)}"
        )


def _without_line_end(text: str) -> str:
    """A manager repeated the CR of a reply before the outcome."""
    outcome = _OUTCOME.fullmatch(text)
    reply, after = (text, "") if outcome is None else (outcome[1], f" {outcome[2]}")
    return reply.removesuffix("\r") + after


def _check_end(log: StrategoLog, game: Stratego) -> None:
    if len(game.half_moves) < len(log.half_moves):
        line = log.half_moves[len(game.half_moves)]
        raise InputError(f"{log.source}, line {line.number}: the log continues after the end of the game")
    if log.result is None:
        return
    stated, found = log.result, read_result(game.result(log.names))
    if game.turn == 0 and found is not None:
        # The log omits pieces of an invalid set-up.
        found = found._replace(red_value=stated.red_value, blue_value=stated.blue_value)
    if found != stated:
        raise InputError(
            f"{log.source}, line {log.last_line}: the log has {stated}, the rules give {game.result(log.names)}"
        )


def log_of_record(replay: Stepped) -> bytes:
    """A record's log. A void game has no end. Raises InputError if the record contradicts the rules."""
    record, game = replay.record_and_game(Stratego, "Stratego")
    return write_log(game, replay.names, record.spec.policy.clock.announced_answer_ms / 1000)


_EMPTY, _LAKE, _ENEMY = ".", "+", "#"


def stratego_view(game: Stratego, seat: int | None = None) -> BoardView:
    """For a `seat` the other side's hidden pieces are `#`."""
    tokens: dict[Square, Token] = {}
    lakes = set()
    for looks in SEATS if seat is None else (seat,):
        for y, row in enumerate(game.seen_by(looks).splitlines()):
            for x, letter in enumerate(row):
                if letter == _LAKE:
                    lakes.add((x, y))
                elif letter == _ENEMY and seat is not None:
                    tokens[x, y] = _soldier(1 - looks, letter)
                elif letter not in (_EMPTY, _ENEMY):
                    tokens[x, y] = _soldier(looks, letter)
    last = game.half_moves[-1] if game.half_moves else None
    names = tuple(map(str, range(SIZE)))
    return BoardView(
        Surface.SQUARES,
        names,
        names,
        tokens,
        (COLOURS[0], COLOURS[1]),
        blocked=frozenset(lakes),
        caption=f"turn {last.turn}, {COLOURS[last.seat]}: {last.text}" if last else "",
    )


@lru_cache(maxsize=256)
def _soldier(seat: int, letter: str) -> Token:
    return Token(seat, faces=(Face(letter, is_hidden=True),), shows=0)


RULE_SETS = ("stratego-2012", "stratego-2011", "stratego-seed")


def rules_of(log: StrategoLog) -> tuple[str, Stratego]:
    """First rule set that fits the log, and the game."""
    objections = []
    for rules in RULE_SETS:
        try:
            return rules, replay_stratego_log(log, stratego_options(log, rules))
        except InputError as error:
            objections.append(error)
    raise objections[0]


def stratego_steps(log: StrategoLog) -> Stepped:
    """Raises InputError if the log contradicts every rule set."""
    rules, game = rules_of(log)
    again = Stratego(game.options)
    steps = play_steps(again, log_answers(log, again), stratego_view)
    return Stepped(rules, log.names, steps, game.result(log.names) if game.end else "unfinished")
