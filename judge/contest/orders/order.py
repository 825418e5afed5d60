"""An order of an organiser: its words, refusal, effect and preview are one class.

The command line makes its commands and the pages of organisers their links and forms from these classes. A preview
carries the order out in a transaction that is rolled back.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Literal, TypeVar

from judge.base.errors import InputError
from judge.base.text import sentence
from judge.contest.contest import Contest
from judge.store.contests import Store
from judge.store.orders import DoneOrder, OrganiserOrder, TakesOrders
from judge.store.types import EntryRow
from judge.tournament.schedule import Tournament

Part = TypeVar("Part", bound=TakesOrders)

NO_PLACE_CHANGES = sentence("No place changes.")


@dataclass(frozen=True, slots=True)
class Target:
    """What an order acts on. `word` and `about` are those of the command's argument; empty without one."""

    name: str
    word: str = ""
    about: str = ""


CONTEST, SEASON, AUTHORS = Target("contest"), Target("season"), Target("authors")
GAME = Target("game", "game", "The number of the game in the schedule, or its id.")
ROUND = Target("round", "round", "The last round to reveal: its number, `next` or `all`.")
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
    """The effect of an order: a sentence when it is done; one or two in its preview, and the changes of the table."""

    done: str
    words: str
    note: str = ""
    changes: Sequence[PlaceChange] = ()


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
    title: ClassVar[str] = ""
    """Heading of the form, with the target in braces; empty: the label."""
    target: ClassVar[Target] = CONTEST
    needs: ClassVar[str] = ""
    """Condition of the page that offers it; empty: none."""
    states: ClassVar[Collection[str]] = ()
    """States of games or submissions for which pages offer it; empty: all."""
    default_why: ClassVar[str] = ""
    """Reason of the command; empty: it is required."""
    readers: ClassVar[Literal["everybody", "author", "authors", "organisers"]] = "everybody"
    """Who can read the reason."""
    result_of_run: str = ""
    """What `judge contest run` does next; empty: nothing because of this order."""

    def __init__(self, part: Part, contest: str, given: OrganiserOrder, attempt: int | None = None) -> None:
        """`attempt` is that of the game which the organiser saw; None: any."""
        self.part = part
        self.name = contest
        self.given = given if self.target.word else replace(given, target="")
        self.attempt = attempt

    @classmethod
    def command_name(cls) -> str:
        """Its name on the command line; empty: no command."""
        return cls.action if cls.command is None else cls.command

    @property
    def heading(self) -> str:
        """Heading of the form."""
        return (self.title or self.label).format(target=self.given.target)

    def read(self) -> None:
        """Read what is slow, before the transaction. Raises InputError if the order is impossible."""

    def write_files(self) -> None:
        """Write the files of the order, before the transaction."""

    @abstractmethod
    def do(self, inner: Part) -> Effect:
        """Carry out the order in the transaction of `inner`. Raises InputError."""

    def carry_out(self) -> DoneOrder:
        """Carry out the order once. Raises InputError if it is impossible."""
        refusal: InputError | None = None
        try:
            self.read()
            self.write_files()
        except InputError as error:
            refusal = error

        def do(inner: Part) -> str:
            # An order that was carried out before is not refused.
            if refusal is not None:
                raise refusal
            return self.do(inner).done

        return self.part.carry_out(self.name, self.given, do)

    def preview(self) -> Effect:
        """The effect. Nothing changes. Raises as `carry_out`."""
        self.read()
        with self.part.trial(self.name) as inner:
            effect = self._try(inner)
        return replace(effect, changes=self._changes())

    def _try(self, inner: Part) -> Effect:
        return self.do(inner)

    def _changes(self) -> Sequence[PlaceChange]:
        return ()


class ContestOrder(Order[Store]):
    """An order for a contest that has begun."""

    before: tuple[frozenset[str], Sequence[EntryRow]]
    """Games that are done and entries; so is `after`, of a preview."""
    after: tuple[frozenset[str], Sequence[EntryRow]]

    def __init__(self, contest: Contest, given: OrganiserOrder, attempt: int | None = None) -> None:
        super().__init__(contest.store, contest.name, given, attempt)
        self.contest = contest

    def read(self) -> None:
        self.contest.refresh()

    def _try(self, inner: Store) -> Effect:
        self.before = inner.done_games(self.name), inner.entries(self.name)
        effect = self.do(inner)
        self.after = inner.done_games(self.name), inner.entries(self.name)
        return effect

    def _changes(self) -> Sequence[PlaceChange]:
        """Later rounds stay as drawn."""
        if self.before == self.after:
            return ()
        snapshot, pairings = self.contest.snapshot, self.contest.store.pairings(self.name)
        results = [each for each in self.contest.view().results if each.id in self.before[0]]
        places, outs = [], []
        for games, entries in (self.before, self.after):
            out = {entry.name: entry.out for entry in entries if entry.out is not None}
            late = [row.entry for row in entries[len(snapshot.entries) :]]
            tournament = Tournament(snapshot.with_late(late), self.contest.secret) if late else self.contest.tournament
            table = tournament.table(tournament.played(pairings, [each for each in results if each.id in games]), out)
            places.append({line.agent: (line.place, line.points) for line in table.lines})
            outs.append(out.keys())
        (now, then), newly_out = places, outs[1] - outs[0]
        return [
            PlaceChange(agent, (place, then[agent][0]), (points, then[agent][1]), agent in newly_out)
            for agent, (place, points) in now.items()
            if (place, points) != then[agent]
        ]
