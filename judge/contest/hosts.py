"""A contest's hosts: slots, losses, games, and significant differences. Journal lines name idle hosts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge.base.text import sentence
from judge.contest_games import AttemptState
from judge.journal.events import WorkerBarred, WorkerJoined, WorkerLost
from judge.statistics.scales import SIGNIFICANCE, holm, hypergeometric_tail
from judge.store.queries import Reader

if TYPE_CHECKING:
    from judge.statistics.fairness import FairnessTest

MAX_LINES = 10_000


@dataclass(slots=True)
class ContestHost:
    """A machine that plays or has played."""

    name: str
    slots: int | None = None
    """None if unknown, as for the contest's own host."""
    lost_since: str | None = None
    """UTC; None if not lost or unknown."""
    barred: str = ""
    """Why it gets no games; empty if it may play."""
    running: int = 0
    played: int = 0
    """Attempts with a result, even if it no longer counts."""
    voids: int = 0
    stands_out: list[str] = field(default_factory=list)
    """Sentences about significant differences from other hosts."""


def contest_hosts(store: Reader, contest: str, tests: "Sequence[FairnessTest]" = ()) -> list[ContestHost]:
    """The hosts by name. `tests`: from the fairness certificate.

    Voids are tested here. On fair machines, each kind of test reports a difference in 5 % of contests.
    """
    found: dict[str, ContestHost] = {}

    def host(name: str) -> ContestHost:
        return found.setdefault(name, ContestHost(name))

    for line in reversed(store.last_lines(contest, MAX_LINES, WorkerLost, WorkerJoined, WorkerBarred)):
        match line.change:
            case WorkerLost(name):
                host(name).lost_since = line.at
            case WorkerJoined(name, slots):
                host(name).lost_since, host(name).slots, host(name).barred = None, slots, ""
            case WorkerBarred(name, why):
                host(name).lost_since, host(name).barred = None, why
    for name, state, count in store.attempts_by_host(contest):
        if not name:
            continue  # not assigned yet
        if state is AttemptState.RUNNING:
            host(name).running += count
        elif state is AttemptState.VOID:
            host(name).voids += count
        elif state is not AttemptState.ABANDONED:
            host(name).played += count
    _test_voids(sorted(found.values(), key=lambda each: each.name))
    for test in tests:
        if test.factor == "host" and test.has_effect and test.effect is not None:
            host(test.level).stands_out.append(_effect_words(test, test.effect))
    return sorted(found.values(), key=lambda each: each.name)


def _effect_words(test: "FairnessTest", effect: float) -> str:
    from judge.statistics.fairness import TIME

    ends = (effect, test.low or 0.0, test.high or 0.0)
    size, low, high = (f"{100 * end:+.1f} %" if test.response == TIME else f"{end:+.3f}" for end in ends)
    p = f"{test.adjusted:.2g}"
    if test.response == TIME:
        return sentence(f"{size} of time a move (95 %: {low} to {high}), p = {p}")
    return sentence(f"{size} points of score (95 %: {low} to {high}), p = {p}")


def _test_voids(hosts: Sequence[ContestHost]) -> None:
    ended = sum(host.played + host.voids for host in hosts)
    voids = sum(host.voids for host in hosts)
    tails = [hypergeometric_tail(host.voids, host.played + host.voids, voids, ended) for host in hosts]
    for host, p in zip(hosts, holm(tails), strict=True):
        if p <= SIGNIFICANCE:
            count, games, small = host.voids, host.played + host.voids, f"{p:.2g}"
            host.stands_out.append(sentence(f"{count} of its {games} games are void, p = {small}"))
