"""An order of an organiser: its words, refusal, effect and preview are one class.

The command line makes its commands and the pages of organisers their links and forms from these classes. A preview
carries the order out in a transaction that is rolled back.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Generic, Literal, Self, TypeVar

from judge.base.errors import InputError
from judge.contest.contest import Contest
from judge.contest_games import GameResult, GameState
from judge.store.contests import Store
from judge.store.orders import DoneOrder, OrganiserOrder, TakesOrders
from judge.store.types import EntryRow
from judge.tournament.schedule import Tournament

Part = TypeVar("Part", bound=TakesOrders)


@dataclass(frozen=True, slots=True)
class Target:
    """What an order acts on. `word` and `about` are those of the command's argument; empty without one."""

    name: str
    word: str = ""
    about: str = ""


CONTEST, SEASON, AUTHORS = Target("contest"), Target("season"), Target("authors")
GAME = Target("game", "game", "The number of the game in the schedule, or its id.")
AGENT = Target("agent", "agent", "The agent's name, as the tables show it.")
ENTRANT = Target("entrant", "agent", "The name of an agent with a passed submission.")
SUBMISSION = Target("submission", "ID", "The number of a submission.")
AUTHOR = Target("author", "AUTHOR", "The author's name, as the tables show it.")


@dataclass(frozen=True, slots=True)
class PlaceChange:
    """Old and new place and points of an agent. `is_out`: the order takes it out of the table."""

    agent: str
    places: tuple[int, int]
    points: tuple[float, float]
    is_out: bool


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of an order: one or two sentences and the changes of the table."""

    words: str
    note: str = ""
    changes: Sequence[PlaceChange] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """What decides whether a page offers an order."""

    state: str = ""
    is_over: bool = False
    has_season: bool = False
    """Whether it is a ladder with games to come."""
    is_frozen: bool = False
    can_withdraw: bool = False
    is_closed: bool = False
    """Whether submissions ended and the contest has not begun."""
    is_final: bool = False
    """Whether entries no longer change."""


class Order(ABC, Generic[Part]):
    """An order that is given or previewed. The docstring of each order is the help of its command."""

    action: ClassVar[str]
    """Its name in the store, in forms and on the command line."""
    command: ClassVar[str | None] = None
    """Another name on the command line; empty: no command."""
    example: ClassVar[str] = ""
    """Arguments of the command in its help."""
    label: ClassVar[str]
    """Text of the form's button."""
    link: ClassVar[str] = ""
    """Text of the links to the form; empty: the label."""
    target: ClassVar[Target] = CONTEST
    default_why: ClassVar[str] = ""
    """Reason of the command; empty: it is required."""
    readers: ClassVar[Literal["everybody", "author", "authors", "organisers"]] = "everybody"
    """Who can read the reason."""
    states: ClassVar[Collection[str]] = ()
    """States of games or submissions for which it is offered; empty: all."""
    result_of_run: str = ""
    """What `judge contest run` does next; empty: nothing because of this order."""

    def __init__(self, part: Part, contest: str, given: OrganiserOrder, attempt: int | None = None) -> None:
        """`attempt` is that of the game which the organiser saw; None: any."""
        self.part = part
        self.name = contest
        self.given = given if self.target.word else replace(given, target="")
        self.attempt = attempt
        self._refusal: InputError | None = None

    @classmethod
    def command_name(cls) -> str:
        """Its name on the command line; empty: no command."""
        return cls.action if cls.command is None else cls.command

    @classmethod
    def is_offered(cls, offer: Offer) -> bool:  # noqa: ARG003 others do
        """Whether pages have a link to the form."""
        return True

    @property
    def heading(self) -> str:
        """Heading of the form."""
        return self.label

    def read(self) -> None:
        """Read what is slow, before the transaction. Raises InputError if the order is impossible."""

    def write_files(self) -> None:
        """Write the files of the order, before the transaction."""

    @abstractmethod
    def do(self, inner: Part) -> str:
        """Carry out the order in the transaction of `inner`; return a sentence. Raises InputError."""

    @abstractmethod
    def effect(self) -> Effect:
        """The preview, after `do` and the end of the transaction."""

    def carry_out(self) -> DoneOrder:
        """Carry out the order once. Raises InputError if it is impossible."""
        try:
            self.read()
            self.write_files()
        except InputError as error:
            self._refusal = error  # An order that was carried out before is not refused.
        return self.part.carry_out(self.name, self.given, self._do)

    def preview(self) -> Effect:
        """The effect, which is rolled back. Raises as `carry_out`."""
        self.read()
        with self.part.trial() as inner:
            inner.carry_out(self.name, self.given, self._try)
        return self.effect()

    def _do(self, inner: Part) -> str:
        if self._refusal is not None:
            raise self._refusal
        return self.do(inner)

    def _try(self, inner: Part) -> str:
        return self.do(inner)


@dataclass(frozen=True, slots=True)
class State:
    """The games and the entries of a contest at a moment."""

    games: Mapping[str, GameState]
    entries: Sequence[EntryRow]

    @classmethod
    def of(cls, store: Store, contest: str) -> Self:
        return cls(store.game_states(contest), store.entries(contest))

    @property
    def done(self) -> frozenset[str]:
        return frozenset(game for game, state in self.games.items() if state is GameState.DONE)

    @property
    def out(self) -> Mapping[str, str]:
        return {entry.name: entry.out for entry in self.entries if entry.out is not None}

    def count(self, *states: GameState) -> int:
        return sum(state in states for state in self.games.values())


class ContestOrder(Order[Store]):
    """An order for a contest that has begun."""

    before: State
    after: State

    def __init__(self, contest: Contest, given: OrganiserOrder, attempt: int | None = None) -> None:
        super().__init__(contest.store, contest.name, given, attempt)
        self.contest = contest

    def read(self) -> None:
        self.contest.refresh()

    def preview(self) -> Effect:
        return replace(super().preview(), changes=self._changes())

    def _try(self, inner: Store) -> str:
        self.before = State.of(inner, self.name)
        done = self.do(inner)
        self.after = State.of(inner, self.name)
        return done

    # --- previews of a contest ------------------------------------------------------------------------------------

    def moved(self, state: GameState) -> int:
        """Number of games that get this state."""
        before = self.before.games
        return sum(new is state and before.get(game) is not state for game, new in self.after.games.items())

    def uncounted(self) -> int:
        """Number of results that no longer count."""
        return len(self._counting(self.before)) - len(self._counting(self.after))

    def _counting(self, state: State) -> Sequence[GameResult]:
        done, out = state.done, state.out.keys()
        return [each for each in self._results if each.id in done and out.isdisjoint(each.agents)]

    @cached_property
    def _results(self) -> Sequence[GameResult]:
        done = self.before.done
        return [each for each in self.contest.results() if each.id in done]

    def _changes(self) -> Sequence[PlaceChange]:
        """Later rounds stay as drawn."""
        if (self.before.done, self.before.entries) == (self.after.done, self.after.entries):
            return ()
        pairings = self.contest.store.pairings(self.name)
        places = []
        for state in (self.before, self.after):
            results, tournament = [each for each in self._results if each.id in state.done], self._tournament(state)
            table = tournament.table(tournament.played(pairings, results), state.out)
            places.append({line.agent: (line.place, line.points) for line in table.lines})
        (now, then), out = places, self.before.out.keys()
        return [
            PlaceChange(agent, (place, then[agent][0]), (points, then[agent][1]), agent in self.after.out.keys() - out)
            for agent, (place, points) in now.items()
            if (place, points) != then[agent]
        ]

    def _tournament(self, state: State) -> Tournament:
        snapshot = self.contest.snapshot
        late = [row.entry for row in state.entries[len(snapshot.entries) :]]
        return Tournament(snapshot.with_late(late), self.contest.secret) if late else self.contest.tournament
