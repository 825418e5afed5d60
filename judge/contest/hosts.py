"""The hosts of a contest: their slots, who is lost since when, what each has played, and which of them stand out.

What is known of a worker that plays nothing now are lines of the contest's log, which `worker_joined` and its
neighbours write and `contest_hosts` reads.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from judge.base.text import sentence
from judge.contest_games import AttemptState
from judge.statistics.fairness import TIME, FairnessTest
from judge.statistics.significance import SIGNIFICANCE, holm, hypergeometric_tail
from judge.store.queries import Reader

WORKER = "worker"
"""The event of these lines."""

MOST_LINES = 10_000
"""So many of the last lines are read."""

_LINE = re.compile(
    r"worker (?P<name>.{1,80}?) "
    r"(?:plays: (?P<slots>\d{1,6}) slots|(?P<lost>is lost)|is given no games: (?P<why>.*))",
    re.DOTALL,
)


def worker_joined(name: str, slots: int) -> str:
    """The line of a worker that plays from now on."""
    return f"worker {name} plays: {slots} slots"


def worker_lost(name: str) -> str:
    """The line of a worker that has left, or does not answer."""
    return f"worker {name} is lost"


def worker_barred(name: str, why: str) -> str:
    """The line of a worker that may not play; `why` says what to do."""
    return f"worker {name} is given no games: {why}"


@dataclass(slots=True)
class ContestHost:
    """A machine that plays, or has played, for a contest."""

    name: str
    slots: int | None = None
    """None: nobody has said; so it is with the contest's own host."""
    lost_since: str | None = None
    """UTC; None: it is not lost, or nobody knows."""
    barred: str = ""
    """Why it is given no games; empty: it may have some."""
    running: int = 0
    played: int = 0
    """Attempts that gave a result, whether it counts still or not."""
    voids: int = 0
    stands_out: list[str] = field(default_factory=list)
    """In what it differs from the others by more than chance, one sentence each."""


def contest_hosts(store: Reader, contest: str, tests: Sequence[FairnessTest] = ()) -> list[ContestHost]:
    """The hosts of a contest by name. `tests` are those of its fairness certificate, if somebody has made them.

    Voids are tested here. Over all hosts either errs in 5 % of contests on fair machines.
    """
    found: dict[str, ContestHost] = {}

    def host(name: str) -> ContestHost:
        return found.setdefault(name, ContestHost(name))

    for line in reversed(store.last_lines(contest, MOST_LINES, WORKER)):
        if (said := _LINE.fullmatch(line.text)) is None:
            continue
        of = host(said["name"])
        if said["lost"]:
            of.lost_since = line.at
        else:
            of.lost_since = None
            of.slots = int(said["slots"]) if said["slots"] else of.slots
            of.barred = said["why"] or ""
    for name, state, count in store.attempts_by_host(contest):
        if not name:
            continue  # nobody knows yet who plays it
        if state is AttemptState.RUNNING:
            host(name).running += count
        elif state is AttemptState.VOID:
            host(name).voids += count
        elif state is not AttemptState.ABANDONED:
            host(name).played += count
    hosts = sorted(found.values(), key=lambda each: each.name)
    _test_voids(hosts)
    for test in tests:
        if test.factor == "host" and test.has_effect and test.effect is not None:
            host(test.level).stands_out.append(_effect_words(test, test.effect))
    return sorted(found.values(), key=lambda each: each.name)


def _effect_words(test: FairnessTest, effect: float) -> str:
    ends = (effect, test.low or 0.0, test.high or 0.0)
    size, low, high = (f"{100 * end:+.1f} %" if test.response == TIME else f"{end:+.3f}" for end in ends)
    p = f"{test.adjusted:.2g}"
    if test.response == TIME:
        return sentence(f"{size} of time a move (95 %: {low} to {high}), p = {p}")
    return sentence(f"{size} points of score (95 %: {low} to {high}), p = {p}")


def _test_voids(hosts: Sequence[ContestHost]) -> None:
    """Fisher's exact test of each host's voids against those of the others."""
    ended = sum(host.played + host.voids for host in hosts)
    voids = sum(host.voids for host in hosts)
    tails = [hypergeometric_tail(host.voids, host.played + host.voids, voids, ended) for host in hosts]
    for host, p in zip(hosts, holm(tails), strict=True):
        if p <= SIGNIFICANCE:
            count, games, small = host.voids, host.played + host.voids, f"{p:.2g}"
            host.stands_out.append(sentence(f"{count} of its {games} games are void, p = {small}"))
