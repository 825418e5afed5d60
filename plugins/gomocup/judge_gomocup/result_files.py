"""Writes a finished contest as the files that GomocupJudge's server leaves in `result/NAME`.

    0_3_1_2.psq     a game: opening number, player numbers, winner: 1 black, 2 white, 0 neither
    message.txt     the programs' messages of all games, move by move
    state.txt       a line per game: ((3, 1, 0), winner, end, ms, ms, moves, moves) with tabs; None: not played
    result.pgn      the results, for BayesElo and Ordo
    _result.txt     wins, losses, failures and times of each player, best first
    _table.html     the crosstable, `wins:losses`

Player 1 moves first after the opening: white if its number of stones is odd. Numbers count from 0 except winners.
result.pgn lacks games of disqualified agents. A game that both players lost by a fault is written as not played.
"""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from judge.base.text import one_line
from judge.catalog.managers import ContestGame, FinishedContest
from judge.formats.gomoku.pgn import write_pgn
from judge.formats.gomoku.psq import write_psq_gomocupjudge
from judge.formats.gomoku.record import FiveRecord, five_of
from judge.games.types import Verdict

MESSAGES, STATE, PGN, RESULT, TABLE = "message.txt", "state.txt", "result.pgn", "_result.txt", "_table.html"

BY_RULES, BY_FOUL, BY_TIME, BY_ILLEGAL, BY_FAILURE = range(5)

_ENDS: Mapping[str, int] = {
    Verdict.WIN: BY_RULES,
    Verdict.DRAW: BY_RULES,
    Verdict.FOUL: BY_FOUL,
    Verdict.START_TIME: BY_TIME,
    Verdict.TURN_TIME: BY_TIME,
    Verdict.MATCH_TIME: BY_TIME,
    Verdict.ILLEGAL: BY_ILLEGAL,
}

MAX_MESSAGE_CHARACTERS = 2000


def end_of(verdict: str) -> int:
    """The code in state.txt."""
    return _ENDS.get(verdict, BY_FAILURE)


@dataclass(slots=True)
class _Player:
    wins: list[int] = field(default_factory=lambda: [0, 0])
    losses: list[int] = field(default_factory=lambda: [0, 0])
    draws: list[int] = field(default_factory=lambda: [0, 0])
    timeouts: int = 0
    errors: int = 0
    ms: int = 0
    moves: int = 0
    against: dict[int, list[int]] = field(default_factory=dict)

    @property
    def games(self) -> int:
        return sum(self.wins + self.losses + self.draws)


@dataclass(frozen=True, slots=True)
class _Result:
    """`winner`: player 1 or 2, 0 for a draw, None if not played."""

    round: int
    players: tuple[int, int]
    winner: int | None = None
    end: int = 0
    ms: tuple[int, int] = (0, 0)
    moves: tuple[int, int] = (0, 0)
    black: int = 0

    @property
    def order(self) -> tuple[int, int, int, bool]:
        first, second = self.players
        return self.round, min(first, second), max(first, second), first > second

    @property
    def line(self) -> str:
        first, second = self.players
        if self.winner is None:
            values: Sequence[object] = (None, None, 0, 0, 0, 0)
        else:
            values = (self.winner, self.end, *self.ms, *self.moves)
        return "\t".join([f"({first}, {second}, {self.round})", *map(str, values)])


def write_result_files(contest: FinishedContest) -> Iterator[tuple[str, bytes]]:
    """As `judge.catalog.managers.ContestManager.write`."""
    numbers = {name: number for number, name in enumerate(contest.agents)}
    players = [_Player() for _ in contest.agents]
    results: list[_Result] = []
    rounds: dict[tuple[int, int], int] = {}
    yield MESSAGES, b""
    yield PGN, b""
    for game in contest.games:
        movers = (game.first, game.second)
        # A seat has a fixed colour until a swap.
        first, second = (numbers[name] for name in (movers[::-1] if len(game.opening) % 2 else movers))
        number = rounds[first, second] = rounds.get((first, second), -1) + 1
        planned = _Result(number, (first, second))
        record = None if game.steps is None else five_of(game.steps)
        if record is None or not record.outcome:
            results.append(planned)
            continue
        if record.verdict == Verdict.FOUL:
            # A .psq leaves out the forbidden stone.
            record = replace(record, moves=record.moves[:-1])
        result = _result(planned, record, [contest.agents[first], contest.agents[second]])
        results.append(result)
        _count(players, result)
        raw = {"draw": 0, "black": 1, "white": 2}[record.outcome]
        name = f"{number}_{first}_{second}_{raw}.psq"
        files = tuple(f"{each}.zip" for each in record.names or ("", ""))
        yield name, write_psq_gomocupjudge(replace(record, names=(files[0], files[1]), event=contest.name))
        yield MESSAGES, _messages(game, record, name)
        if not {game.first, game.second} & contest.out.keys():
            yield PGN, _pgn(contest, result)
    results.sort(key=lambda result: result.order)
    yield STATE, "".join(f"{result.line}\n" for result in results).encode()
    ranked = sorted(range(len(players)), key=lambda number: _rank(contest, number))
    yield RESULT, _result_text(contest, players, ranked).encode()
    yield TABLE, _table(contest, players, ranked).encode()


def _result(planned: _Result, record: FiveRecord, players: Sequence[str]) -> _Result:
    black = players.index((record.names or ("", ""))[0])
    winner = 0 if record.outcome == "draw" else 1 + (black if record.outcome == "black" else 1 - black)
    first = record.opening & 1
    times = [ms for _, _, ms in record.moves[record.opening :]]
    by_mover = (times[0::2], times[1::2])
    # After a swap the first mover is the other player.
    of = by_mover if black == first else by_mover[::-1]
    return replace(
        planned,
        winner=winner,
        end=end_of(record.verdict),
        ms=(sum(of[0]), sum(of[1])),
        moves=(len(of[0]), len(of[1])),
        black=black,
    )


def _count(players: Sequence[_Player], result: _Result) -> None:
    for place, number in enumerate(result.players):
        player, colour = players[number], int(place != result.black)
        player.ms += result.ms[place]
        player.moves += result.moves[place]
        met = player.against.setdefault(result.players[1 - place], [0, 0])
        if result.winner == 0:
            player.draws[colour] += 1
        elif result.winner == place + 1:
            player.wins[colour] += 1
            met[0] += 1
        else:
            player.losses[colour] += 1
            met[1] += 1
            player.timeouts += result.end == BY_TIME
            player.errors += result.end in (BY_ILLEGAL, BY_FAILURE)


def _messages(game: ContestGame, record: FiveRecord, name: str) -> bytes:
    used = [0.0, 0.0]
    lines = []
    for number, step in enumerate(game.steps.steps[1:] if game.steps else (), record.opening + 1):
        if step.seat is None:
            continue
        used[step.seat] += step.ms or 0
        said = [f"MESSAGE {one_line(message, MAX_MESSAGE_CHARACTERS)}" for message in step.messages]
        lines.append("\n".join([f"({number}) {said[0]}", *said[1:], ""]) if said else f"({number}) ")
        lines.append(f"{round(used[step.seat])}ms\n")
    foul = "Forbidden move!\n" if record.verdict == Verdict.FOUL else ""
    return f"{''.join(lines)}{foul}\n--> {name}\n\n".encode("utf-8", "replace")


def _pgn(contest: FinishedContest, result: _Result) -> bytes:
    first, second = (f"{number}#{contest.agents[number]}" for number in result.players)
    outcome = ("draw", "black", "white")[result.winner or 0]
    return write_pgn(
        FiveRecord(width=0, height=0, names=(first, second), outcome=outcome, event=contest.name)  # type: ignore[arg-type]
    )


def _rank(contest: FinishedContest, number: int) -> tuple[bool, float, int]:
    name = contest.agents[number]
    rating = None if name in contest.out else contest.ratings.get(name)
    return rating is None, -(rating or 0), number


def _elo(contest: FinishedContest, number: int) -> str:
    unrated, rating, _ = _rank(contest, number)
    return "-" if unrated else str(round(-rating))


def _result_text(contest: FinishedContest, players: Sequence[_Player], ranked: Sequence[int]) -> str:
    blocks = []
    for rank, number in enumerate(ranked, 1):
        player = players[number]
        blocks.append(
            f"{rank}. {contest.agents[number]} {_elo(contest, number)}\n"
            f"    wins: {_pair(player.wins)}, losses: {_pair(player.losses)}, draws: {_pair(player.draws)}\n"
            f"    timeouts: {player.timeouts}, errors: {player.errors}, total games: {player.games}\n"
            f"    time/game: {_mean(player.ms, 1000 * player.games, 's')}, "
            f"time/turn: {_mean(player.ms, player.moves, 'ms')}, move/game: {_mean(player.moves, player.games)}\n\n"
        )
    return "".join(blocks)


def _pair(counts: Sequence[int]) -> str:
    return f"{counts[0]}+{counts[1]}"


def _mean(total: int, count: int, unit: str = "") -> str:
    return f"{round(total / count)}{unit}" if count else "-"


def _table(contest: FinishedContest, players: Sequence[_Player], ranked: Sequence[int]) -> str:
    heads = "".join(
        f"<th title='{html.escape(contest.agents[number], quote=True)}'>{rank}<br>"
        f"{html.escape(contest.agents[number][:3])}</th>"
        for rank, number in enumerate(ranked, 1)
    )
    rows = []
    for rank, number in enumerate(ranked, 1):
        player = players[number]
        cells = "".join(_cell(player, number, other) for other in ranked)
        total = f"{sum(player.wins)}:{sum(player.losses)}"
        name = html.escape(contest.agents[number])
        rows.append(f"<tr><td>{rank}</td><td>{name}</td><td>{_elo(contest, number)}</td><td>{total}</td>{cells}</tr>\n")
    title = html.escape(contest.name)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<link rel="stylesheet" href="piskvork.css">\n</head>\n<body>\n<table border="1" class="result">\n'
        f"<tr><th>#</th><th>Name</th><th>Elo</th><th>Total</th>{heads}</tr>\n{''.join(rows)}"
        "</table>\n</body>\n</html>\n"
    )


def _cell(player: _Player, number: int, other: int) -> str:
    if number == other:
        return '<td class="dash">-</td>'
    wins, losses = player.against.get(other, (0, 0))
    kind = "win" if wins > losses else "loss" if wins < losses else "draw"
    return f'<td class="{kind}">{wins}:{losses}</td>'
