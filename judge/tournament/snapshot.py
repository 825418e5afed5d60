"""All terms of a contest, and how those of two contests differ.

They never change; playing and verification use nothing else.

A contest's chance is a secret of 256 bits, committed to before the first game and revealed after the last. The
commitment is the SHA-256 of the secret, stored in the document. The contest's key (`contest_key`) is derived from the
secret, the entries and the log's first checkpoint after lock-in (docs/decisions/0009-log-and-witnesses.md). Derived
from the key (`judge.record.seeds`):

- drawn ranks: `"seeds"`; lots of a Swiss: `"swiss"`;
- the order of shuffled openings in the n-th pass, from 0: `n`;
- the seed of a game: `"game", round, table, game, attempt`.
"""

import hashlib
import json
import secrets
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import AfterValidator, Field, model_validator

from judge.base.errors import InputError
from judge.base.parsing import FailFastDict, FailFastTuple, FrozenModel, StrictDatetime, canonical_json, parse_json
from judge.games import new_game
from judge.record.policy import AgentClocks, Policy
from judge.record.seeds import Key, Seed, derived, numbers
from judge.record.spec import BoxKind, OpeningField, SeatSpec
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.base import skip_of
from judge.tournament.formats.groups import Groups, Leagues
from judge.tournament.formats.ladder import Ladder, StartRating
from judge.tournament.formats.round_robin import DoubleRoundRobin, RoundRobin
from judge.tournament.results import Duel


class Freeze(FrozenModel):
    """First checkpoint of a contest's log after lock-in, before any draw."""

    leaves: int = Field(ge=1)
    root: Key
    """SHA-256."""
    entries: Key
    """SHA-256 of terms (`terms_digest`)."""


class FailuresPlan(FrozenModel):
    """When agents are disqualified for failures."""

    limit: float = Field(default=0.1, ge=0, le=1)
    """Maximum share of games with a failure; 1: never disqualify."""
    after: int = Field(default=20, ge=1)
    """Minimum number of games before a disqualification."""
    check: Literal["round", "game"] = "round"
    """When the share is computed: after all scheduled games, or after every game."""


class FreezeTerms(FrozenModel):
    """When the standings are frozen: before the last rounds, or with the first round that begins after a moment."""

    last_rounds: int | None = Field(default=None, ge=1)
    at: StrictDatetime | None = None


def _line_of_witness(line: str) -> str:
    from judge.transparency.checkpoint import read_witness_key

    try:
        read_witness_key(line)
    except InputError as error:
        raise ValueError(str(error)) from None
    return line.strip()


WitnessKey = Annotated[str, AfterValidator(_line_of_witness)]
"""Line of a witness's public key."""


def refuse_clocks(clocks: Mapping[str, str], form: AnyFormat | None) -> None:
    """Raises ValueError for clocks of agents in a ladder."""
    if clocks and isinstance(form, Ladder):
        raise ValueError("a ladder rates all agents under one clock: leave it out, or choose another format")


class SnapshotEntry(FrozenModel):
    """`rank` is its seed, 1 for the best; `seat` is its name in games."""

    name: str
    rank: int
    seat: SeatSpec
    calls_itself: str
    """See `Agent.calls_itself`."""
    description: str = ""
    submission: int | None = None
    """Number of its submission, if any."""
    persistent: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of its initial persistent folder; None: empty."""
    title: str = ""
    """Display name; empty: `name`."""
    author: int = Field(default=0, exclude_if=lambda author: not author)
    """Number of its author in a ladder, from 1; 0: unknown."""
    parent: str = Field(default="", exclude_if=lambda parent: not parent)
    """Agent of which it is a new version in a ladder, or empty."""
    start: StartRating | None = Field(default=None, exclude_if=lambda start: start is None)
    """Rating from the terms of a late entry."""


class SnapshotWitness(FrozenModel):
    """An announced witness of the log."""

    key: WitnessKey

    @property
    def name(self) -> str:
        from judge.transparency.checkpoint import read_witness_key

        return read_witness_key(self.key)[0]

    @property
    def id(self) -> str:
        """Key id, in hex."""
        return self.key.split("+")[1]


class SnapshotImage(FrozenModel):
    """A runtime: image id on this host, and SHA-256 of its contents."""

    id: str
    content: str


class Snapshot(FrozenModel):
    """The document of a contest."""

    document: Literal["judge-contest-1"] = "judge-contest-1"
    judge: str
    name: str
    title: str = Field(default="", exclude_if=lambda title: not title)
    """Empty: the name."""
    about: str = ""
    frozen_at: str
    """UTC."""
    plan_sha256: str
    """Of its contest.toml."""
    policy: Policy
    format: AnyFormat
    clocks: AgentClocks = Field(default_factory=dict, exclude_if=lambda clocks: not clocks)
    """Of entries whose time control is not the policy's."""
    duel: Duel | None = None
    failures: FailuresPlan
    withholding: FreezeTerms | None = Field(default=None, exclude_if=lambda terms: terms is None)
    seed: int | None = None
    """A fixed seed, which makes all chance predictable; None: `commitment` is used."""
    commitment: Key | None = None
    """To the secret of all chance (`commitment_to`)."""
    freeze: Freeze | None = None
    """The log at lock-in, which contributes to chance; None in versions without logs."""
    witnesses: FailFastTuple[SnapshotWitness] = ()
    """Names are unique."""
    seeding: Literal["listed", "drawn"] = "listed"
    openings: FailFastTuple[OpeningField] = Field(min_length=1)
    shuffle: bool
    transform: bool
    box: BoxKind = "docker"
    folders_from: str = ""
    """As the organiser named it; empty: all are empty."""
    entries: FailFastTuple[SnapshotEntry] = Field(min_length=2)
    images: FailFastDict[str, SnapshotImage]
    """Required runtimes, by name."""
    host: dict[str, Any] = Field(default_factory=dict)
    """For information only."""

    @model_validator(mode="after")
    def _has_one_chance(self) -> Self:
        if (self.seed is None) == (self.commitment is None):
            raise ValueError("a contest has either a seed or a commitment")
        return self

    @model_validator(mode="after")
    def _has_clocks_of_entries(self) -> Self:
        refuse_clocks(self.clocks, self.format)
        if self.clocks and (self.policy.clock.control is None or not self.by_name().keys() >= self.clocks.keys()):
            raise ValueError("clocks name another agent, or the policy has no time control")
        return self

    def policy_of(self, first: str, second: str) -> Policy:
        clocks = self.clocks.get(first, ""), self.clocks.get(second, "")
        return self.policy.with_clocks(*clocks) if any(clocks) else self.policy

    @property
    def shown_name(self) -> str:
        return self.title or self.name

    @property
    def has_openings(self) -> bool:
        """Whether games begin after set moves."""
        return any(self.openings)

    @property
    def hides_openings(self) -> bool:
        """Whether openings are secret until the end."""
        return self.commitment is not None and self.shuffle

    @property
    def withheld_from(self) -> int | None:
        """The first round whose results are withheld, if it is known at the start."""
        terms, last = self.withholding, self.format.last_round(len(self.entries))
        if terms is None or terms.last_rounds is None or last is None:
            return None
        return max(1, last + 1 - terms.last_rounds)

    def by_name(self) -> Mapping[str, SnapshotEntry]:
        return {entry.name: entry for entry in self.entries}

    def with_late(self, texts: Iterable[str]) -> "Snapshot":
        """With entries after the start, as JSON in order. Raises InputError."""
        late = [parse_json(SnapshotEntry, text, "not an entry of a contest") for text in texts]
        found = self.model_copy(update={"entries": (*self.entries, *late)})
        refuse_many_entries(self.format, len(found.entries), self.name)
        if [entry.rank for entry in late] != list(range(len(self.entries) + 1, len(found.entries) + 1)):
            raise InputError("ranks of late entries do not follow the others")
        if len(found.by_name()) < len(found.entries) or any(each.seat.runtime not in self.images for each in late):
            raise InputError("a late entry has the name of another one, or a runtime that the contest does not use")
        return found


class Versions:
    """The newest version of each agent, by the agent's first name in lower case."""

    def __init__(self) -> None:
        self.newest: dict[str, SnapshotEntry] = {}
        self._first: dict[str, str] = {}

    def add(self, entry: SnapshotEntry) -> str:
        """Returns the agent's first name in lower case."""
        name = self._first[entry.name] = self._first.get(entry.parent, entry.name.casefold())
        self.newest[name] = entry
        return name


def newest_versions(entries: Iterable[SnapshotEntry]) -> Mapping[str, SnapshotEntry]:
    """As `Versions.newest`."""
    versions = Versions()
    for entry in entries:
        versions.add(entry)
    return versions.newest


def is_new_version(former: SnapshotEntry, submission: int, digest: str | None, withdrawn: Container[int] = ()) -> bool:
    """Whether a later submission has other files than an entry, or the entry's submission is `withdrawn`."""
    if former.submission is None or former.submission >= submission:
        return False
    return former.seat.digest != digest or former.submission in withdrawn


def start_rating(form: AnyFormat, entry: SnapshotEntry) -> StartRating | None:
    """From a ladder's terms; None for an anchor and a new version."""
    if not isinstance(form, Ladder) or entry.parent or entry.name in form.anchors:
        return None
    return form.start_rating(entry.name, entry.seat.digest)


@lru_cache(maxsize=4)
def read_snapshot(document: str) -> Snapshot:
    """Parse a document. Raises InputError if it is invalid or of another version."""
    snapshot = parse_json(Snapshot, document, "not a contest of this judge")
    refuse_many_entries(snapshot.format, len(snapshot.entries), "contest.json")
    form = snapshot.format
    if isinstance(form, Ladder) and form.ends is not None and form.ends.tzinfo is None:
        raise InputError("contest.json: format.ends has no offset")
    return snapshot


MAX_DOCUMENT_BYTES = 4 << 20
"""Of a snapshot as JSON: contest.json. An entry needs about 700."""

MAX_PART_CHARACTERS = 16 << 10
"""Of an entry, late ones included, and of the policy, as JSON: each scheduled game has copies of them."""


def refuse_large_entry(entry: SnapshotEntry, source: str) -> None:
    """Raises InputError for an entry that no reader of an export accepts."""
    if len(entry.model_dump_json()) > MAX_PART_CHARACTERS:
        raise InputError(
            f"{source}: {entry.name:.64}: its entry has more than {MAX_PART_CHARACTERS} characters; "
            "shorten its command, options and description"
        )


def refuse_large_snapshot(snapshot: Snapshot, source: str) -> None:
    """Raises InputError for a snapshot that no reader of an export accepts."""
    if len(snapshot.policy.model_dump_json()) > MAX_PART_CHARACTERS:
        raise InputError(f"{source}: policy: more than {MAX_PART_CHARACTERS} characters")
    for entry in snapshot.entries:
        refuse_large_entry(entry, source)
    if len(snapshot.model_dump_json().encode()) > MAX_DOCUMENT_BYTES:
        raise InputError(
            f"{source}: more than {MAX_DOCUMENT_BYTES >> 20} MiB of entries and openings; "
            "use fewer openings, or shorter descriptions and commands"
        )


MAX_PAIRINGS = 1_000_000


def refuse_many_entries(form: AnyFormat, count: int, source: str) -> None:
    """Raises InputError for more entries or pairings than the format allows."""
    if count > form.agents[1]:
        raise InputError(f"{source}: {count} entries, but a contest of format {form.name} has at most {form.agents[1]}")
    _, most = _pairing_counts(form, count)
    if getattr(form, "groups", 1) > count or most > MAX_PAIRINGS:
        raise InputError(
            f"{source}: format: more groups than the {count} agents, or more than {MAX_PAIRINGS} pairings; "
            "use fewer groups and cycles"
        )


_MAX_MISSING_PAIRINGS = 10_000
_MAX_SKIPPED = 20
"""Pairings that are drawn for each one that `skip` does not leave out."""


def refuse_missing_pairings(form: AnyFormat, count: int, found: int, source: str) -> None:
    """Raises InputError if the first draw of `count` entries has many more pairings than were `found`."""
    drawn, _ = _pairing_counts(form, count)
    if drawn > found * (1 if skip_of(form) is None else _MAX_SKIPPED) + _MAX_MISSING_PAIRINGS:
        raise InputError(f"{source}: the format draws {drawn} pairings at the start, but there are {found}")


def _pairing_counts(form: AnyFormat, count: int) -> tuple[int, int]:
    """Of a format with round robins: least number at the start, most in all stages. Of other formats: 0."""
    least: Iterable[int] = ()
    most: Iterable[int] = ()
    if isinstance(form, RoundRobin | DoubleRoundRobin):
        least = most = (count,)
    elif isinstance(form, Groups):
        groups, final = min(form.groups, count), min(form.groups * form.promoted, count)
        least = (count // form.groups,) * groups
        most = (*(-(-count // form.groups),) * groups, final)
    elif isinstance(form, Leagues):
        sizes = form.league_sizes(count)
        least = [next((size for size in reversed(sizes) if size), 0)]
        below = [sum(sizes[number + 1 :]) for number in range(len(sizes))]
        rising = below if form.promotes_new else [min(form.promoted, each) for each in below]
        most = [size + risen for size, risen in zip(sizes, rising, strict=True)]
    cycles = getattr(form, "cycles", 1)
    return cycles * sum(n * (n - 1) // 2 for n in least), cycles * sum(n * (n - 1) // 2 for n in most)


def terms_digest(document: str) -> str:
    """SHA-256 of the document without ranks, judge and host."""
    terms = {key: value for key, value in json.loads(document).items() if key not in _NO_TERMS}
    terms["entries"] = [{key: value for key, value in entry.items() if key != "rank"} for entry in terms["entries"]]
    return hashlib.sha256(canonical_json(terms).encode()).hexdigest()


_NO_TERMS = frozenset({"judge", "frozen_at", "freeze", "images", "host"})


def ranks_of(count: int, seeding: Literal["listed", "drawn"], seed: Seed) -> list[int]:
    """Ranks in order of entry: as listed, or by lot."""
    ranks = list(range(1, count + 1))
    if seeding == "drawn":
        numbers(seed, "seeds").shuffle(ranks)
    return ranks


def new_secret() -> Key:
    """A random secret."""
    return secrets.token_hex(32)


def commitment_to(secret: Key) -> str:
    """The commitment to a secret."""
    return hashlib.sha256(bytes.fromhex(secret)).hexdigest()


def contest_key(secret: Key, name: str, freeze: Freeze | None = None) -> Key:
    """A contest's key. `freeze` None: a version without logs."""
    if freeze is None:
        return derived(secret, "contest", name)
    return derived(secret, "draw", name, freeze.entries, freeze.leaves, freeze.root)


def game_seed(key: Key, round_: int, table: int, game: int, attempt: int) -> Seed:
    """An attempt's seed."""
    return derived(key, "game", round_, table, game, attempt)


class Terms(Protocol):
    """Rules and clocks of a contest, planned or locked in."""

    @property
    def policy(self) -> Policy: ...

    @property
    def clocks(self) -> Mapping[str, str]:
        """Of single agents."""


def terms_difference(one: Terms, other: Terms) -> str:
    """The difference, such as `clock.turn_ms is 200 and 1500`; empty if they may be rated together."""
    clocks = [", ".join(f"{name} {clock}" for name, clock in sorted(terms.clocks.items())) for terms in (one, other)]
    differs = [f"clocks is {clocks[0] or 'empty'} and {clocks[1] or 'empty'}"] if clocks[0] != clocks[1] else []
    return ", ".join([*_differences(one.policy, other.policy), *differs])


def _differences(one: Policy, other: Policy) -> Iterator[str]:
    if one.game.name != other.game.name:
        yield f"the game is {one.game.name} and {other.game.name}"
        return
    facts, others = (new_game(policy.game.name, policy.game.options).describe() for policy in (one, other))
    for key in sorted(facts.keys() | others.keys()):
        if facts.get(key) != others.get(key):
            yield f"game.options.{key} is {facts.get(key)} and {others.get(key)}"
    has_control = one.clock.control is not None or other.clock.control is not None
    if has_control and one.clock.notation != other.clock.notation:
        yield f"clock.control is {one.clock.notation} and {other.clock.notation}"
    for key in () if has_control else ("turn_ms", "match_ms"):
        first, second = (getattr(policy.clock, key) for policy in (one, other))
        if first != second:
            yield f"clock.{key} is {first} and {second}"
    if one.limits.memory_bytes != other.limits.memory_bytes:
        yield f"limits.memory_bytes is {one.limits.memory_bytes} and {other.limits.memory_bytes}"
    if one.box.freeze != other.box.freeze:
        yield f"box.freeze is {one.box.freeze} and {other.box.freeze}"
