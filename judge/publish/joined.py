"""`joined.json`: former contests whose results enter a contest's ratings."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from judge.contest_games import GameResult
from judge.games.types import Verdict
from judge.statistics.ratings import RatedContest
from judge.tournament.formats.ladder import Elo

JOINED = "joined.json"

MAX_JOINED_BYTES = 64 << 20

MAX_CONTESTS = 100
MAX_GAMES = 1_000_000
MAX_PROGRAMS = 1500
"""Different programs of all contests: the ratings take time in proportion to their cube."""

_Count = Annotated[int, Field(ge=0)]
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PairResults(_Value):
    """Games of two agents in these seats; `faulty`: both lost by a fault."""

    first: str
    second: str
    won: _Count
    drawn: _Count
    lost: _Count
    faulty: _Count


class FormerContest(_Value):
    """A former contest. `manifest` is the SHA-256 of its export's manifest; None if read from a store."""

    name: str
    began: str
    manifest: _Digest | None
    programs: Mapping[str, _Digest]
    results: tuple[PairResults, ...]

    @classmethod
    def of(cls, contest: RatedContest, manifest: str | None) -> "FormerContest":
        """A contest's published part."""
        counts: Counter[tuple[str, str, str]] = Counter()
        for row in contest.results:
            if row.winner is None:
                outcome = "drawn" if row.is_draw else "faulty"
            else:
                outcome = "won" if row.winner == row.first else "lost"
            counts[row.first, row.second, outcome] += 1
        seats = sorted({(first, second) for first, second, _ in counts})
        results = tuple(
            PairResults(first=first, second=second, **{each: counts[first, second, each] for each in _OUTCOMES})
            for first, second in seats
        )
        return cls(
            name=contest.name, began=contest.began, manifest=manifest, programs=contest.programs, results=results
        )

    @property
    def games(self) -> int:
        """Games that count."""
        return sum(pair.won + pair.drawn + pair.lost + pair.faulty for pair in self.results)

    @property
    def rated(self) -> RatedContest:
        """The contest as input of ratings."""
        rows: list[GameResult] = []
        for pair in self.results:
            first, second = pair.first, pair.second
            rows += [GameResult(first, second, first, Verdict.WIN)] * pair.won
            rows += [GameResult(first, second, None, Verdict.DRAW)] * pair.drawn
            rows += [GameResult(first, second, second, Verdict.WIN)] * pair.lost
            rows += [GameResult(first, second, None, Verdict.ILLEGAL)] * pair.faulty
        return RatedContest(self.name, self.began, rows, self.programs)


class Joined(_Value):
    """Former contests, and agents with fixed ratings."""

    document: Literal["judge-joined-1"] = "judge-joined-1"
    anchors: Mapping[str, Elo]
    contests: Annotated[tuple[FormerContest, ...], Field(max_length=MAX_CONTESTS)]

    def encoded(self) -> bytes:
        """The file's bytes."""
        return f"{self.model_dump_json(indent=1)}\n".encode()

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
