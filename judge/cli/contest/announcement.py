"""The text that an organiser publishes before a contest."""

from collections.abc import Iterator

from judge.base.text import duration
from judge.contest.plan import Planned
from judge.submissions.windows import moment_text
from judge.transparency.keys import fingerprint
from judge.transparency.log import organiser_key


def announcement_lines(planned: Planned, url: str) -> Iterator[str]:
    """Yield title, game, clocks, format, schedule, address and key of a contest."""
    plan, policy, windows = planned.plan, planned.policy, planned.plan.windows
    yield plan.about or planned.name
    yield ""
    options = ", ".join(f"{key} {value}" for key, value in policy.game.options.items() if value not in ("", None))
    game = f"{policy.game.name}, {options}" if options else policy.game.name
    yield _fact("contest", planned.name)
    yield _fact("game", game)
    yield _fact("policy", ", ".join((plan.policy, *plan.change)))
    yield _fact("clocks", clock_words(planned))
    yield _fact("format", f"{plan.format.name}, {plan.format.games} games of each pairing")
    if windows.opens is not None:
        yield _fact("submit from", moment_text(windows.opens))
    if windows.closes is not None:
        yield _fact("submit until", moment_text(windows.closes))
    if windows.starts is not None:
        yield _fact("start", moment_text(windows.starts))
    if url:
        yield _fact("address", url)
    key = organiser_key(planned.folder)
    if key is not None:
        yield _fact("key", f"Ed25519, SHA-256 {fingerprint(key.public_key())}")


def clock_words(planned: Planned) -> str:
    """The time and memory limits of a contest."""
    clock, limits = planned.policy.clock, planned.policy.limits
    turn = f"{duration(clock.turn_ms)} a move" if clock.turn_ms else "as fast as possible"
    game = f"{duration(clock.match_ms)} a game" if clock.match_ms else "no limit of a game"
    return f"{turn}, {game}, {limits.memory_bytes >> 20} MiB of memory"


def _fact(name: str, value: str) -> str:
    return f"{name:<12} {value}"
