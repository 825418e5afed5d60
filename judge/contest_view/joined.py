"""`joined.json`: former contests whose results enter a contest's ratings."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from judge.base.parsing import FailFastTuple, FrozenModel, parse
from judge.base.text import quote
from judge.contest_games import MOVES_DIGITS, GameResult
from judge.games.types import Verdict
from judge.journal.events import Digest
from judge.statistics.ratings import RatedContest
from judge.tournament.formats.ladder import Elo

JOINED = "joined.json"

MAX_JOINED_BYTES = 64 << 20

MAX_CONTESTS = 100
MAX_GAMES = 1_000_000
MAX_PROGRAMS = 1500
"""Different programs of all contests: the ratings take time in proportion to their cube."""

_Moves = Annotated[str, Field(pattern=rf"^([0-9a-f]{{{MOVES_DIGITS}}})?$")]


class PairResults(FrozenModel):
    """Games of two agents in these seats, each as the first digits of its `GameResult.moves` (empty: unknown);
    `faulty`: both lost by a fault.
    """

    first: str
    second: str
    won: FailFastTuple[_Moves]
    drawn: FailFastTuple[_Moves]
    lost: FailFastTuple[_Moves]
    faulty: FailFastTuple[_Moves]

    @property
    def rows(self) -> Iterator[GameResult]:
        """With these columns only."""
        first, second = self.first, self.second
        for verdict, winner, games in (
            (Verdict.WIN, first, self.won),
            (Verdict.DRAW, None, self.drawn),
            (Verdict.WIN, second, self.lost),
            (Verdict.ILLEGAL, None, self.faulty),
        ):
            for moves in games:
                yield GameResult(first, second, winner, verdict, moves=moves)


class FormerContest(FrozenModel):
    """A former contest. `manifest` is the SHA-256 of its export's manifest; None if read from a store."""

    name: str
    began: str = Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?\+00:00$")
    manifest: Digest | None
    programs: Mapping[str, Digest]
    results: FailFastTuple[PairResults]

    @classmethod
    def of(cls, contest: RatedContest, manifest: str | None) -> "FormerContest":
        """A contest's published part. Raises InputError for invalid values of a foreign export."""
        found: dict[tuple[str, str], dict[str, list[str]]] = {}
        for row in contest.results:
            if row.winner is None:
                outcome = "drawn" if row.is_draw else "faulty"
            else:
                outcome = "won" if row.winner == row.first else "lost"
            games = found.setdefault((row.first, row.second), {each: [] for each in _OUTCOMES})
            games[outcome].append(row.moves[:MOVES_DIGITS])
        results = [{"first": first, "second": second, **games} for (first, second), games in sorted(found.items())]
        values = {"name": contest.name, "began": contest.began, "manifest": manifest}
        document = {**values, "programs": contest.programs, "results": results}
        return parse(cls, document, f"the results of {quote(contest.name)} cannot be joined")

    @property
    def games(self) -> int:
        """Games that count."""
        return sum(len(pair.won) + len(pair.drawn) + len(pair.lost) + len(pair.faulty) for pair in self.results)

    @property
    def rated(self) -> RatedContest:
        rows = [row for pair in self.results for row in pair.rows]
        return RatedContest(self.name, self.began, rows, self.programs)


class Joined(FrozenModel):
    """Former contests, and agents with fixed ratings."""

    document: Literal["judge-joined-1"] = "judge-joined-1"
    anchors: Mapping[str, Elo]
    contests: FailFastTuple[FormerContest] = Field(max_length=MAX_CONTESTS)

    def encoded(self) -> bytes:
        return f"{self.model_dump_json()}\n".encode()

    @model_validator(mode="after")
    def _rates_only_who_plays(self) -> "Joined":
        if sum(contest.games for contest in self.contests) > MAX_GAMES:
            raise ValueError(f"more than {MAX_GAMES} games")
        if len({digest for contest in self.contests for digest in contest.programs.values()}) > MAX_PROGRAMS:
            raise ValueError(f"more than {MAX_PROGRAMS} different programs")
        for contest in self.contests:
            if not {name for pair in contest.results for name in (pair.first, pair.second)} <= contest.programs.keys():
                raise ValueError(f"{contest.name}: an agent with results has no files")
        return self


_OUTCOMES = ("won", "drawn", "lost", "faulty")
