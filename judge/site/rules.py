"""Rules and limits of a policy for pages."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from judge.base.text import duration
from judge.catalog import game_entry
from judge.games.types import SEATS
from judge.record.policy import ClockPolicy, Policy
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.ladder import Ladder
from judge.tournament.formats.round_robin import DoubleRoundRobin, RoundRobin
from judge.translations.language import Language

_SHOWN_SEPARATELY = ("width", "height", "rule")


class RulesInWords(NamedTuple):
    """`goal` is English."""

    goal: Sequence[str]
    limits: str


def rules_in_words(policy: Policy, clocks: Mapping[str, str], language: Language) -> RulesInWords:
    """For viewers. `clocks` are those of single agents."""
    words = language.gettext(
        "Time of each agent: {time}. Memory: {memory}. An agent that exceeds a limit loses the game."
    ).format(time=time_words(policy.clock, clocks, language), memory=_memory(policy))
    return RulesInWords(goal_in_words(policy), words)


def goal_in_words(policy: Policy) -> Sequence[str]:
    """What an agent has to do to win."""
    return game_entry(policy.game.name).goal(policy.game.options)


def game_facts(policy: Policy, language: Language) -> Mapping[str, str]:
    """Game, board and rule by translated name; some may be empty."""
    _ = language.gettext
    options = policy.game.options
    width, height = options.get("width"), options.get("height")
    rest = {name: value for name, value in options.items() if name not in _SHOWN_SEPARATELY}
    return {
        _("Game"): with_options(policy.game.name, rest),
        _("Board"): f"{width}\N{MULTIPLICATION SIGN}{height}" if width and height else "",
        _("Rule"): value_text(options["rule"]) if options.get("rule") else "",
    }


def limit_facts(policy: Policy, clocks: Mapping[str, str], language: Language) -> Mapping[str, str]:
    """Limits of time and memory by translated name. `clocks` are those of single agents."""
    _ = language.gettext
    time = time_words(policy.clock, clocks, language)
    if policy.clock.control is not None:
        time = f"{policy.clock.notation}: {time}"
    if policy.clock.ponder:
        time = _("{time}. Agents also think in the opponent's time, each on its own cores.").format(time=time)
    return {_("Time"): time, _("Memory"): _memory(policy)}


def _memory(policy: Policy) -> str:
    return f"{policy.enforced().memory_bytes >> 20} MiB"


def time_words(clock: ClockPolicy, clocks: Mapping[str, str], language: Language) -> str:
    """The time of agents, and of those with other clocks."""
    first, second = (_seat_words(clock, seat, language) for seat in SEATS)
    words = first
    if first != second:
        words = language.gettext("first player {first}; second player {second}").format(first=first, second=second)
    agents: dict[str, list[str]] = {}
    for agent, text in sorted(clocks.items()):
        agents.setdefault(text, []).append(agent)
    for text, names in agents.items():
        words += f"; {', '.join(names)} {own_time(clock, text, language)}"
    return words


def own_time(clock: ClockPolicy, text: str, language: Language) -> str:
    """The time of an agent with its own clock; empty without one."""
    return f"{text}: {_seat_words(clock.with_clocks(text, text), 0, language)}" if text else ""


def _seat_words(clock: ClockPolicy, seat: int, language: Language) -> str:
    _ = language.gettext
    control = clock.controls[seat]

    def time(ms: int | None) -> str:
        return language.measure(duration(ms or 0))

    if control.charges_start:
        turn, game = time(control.turn_limit_ms), time(control.main_ms)
        words = _("{time} a move, {game} a game") if control.main_ms else _("{time} a move")
        return words.format(time=turn, game=game)
    parts = []
    for at, period in enumerate(control.periods):
        if at == len(control.periods) - 1:
            each = _("then {time} for each {count} moves") if at else _("{time} for each {count} moves")
            rest = _("then {time} for the rest") if at else _("{time} a game")
            words = each if period.answers else rest
        else:
            words = _("then {time} for {count} moves") if at else _("{time} for {count} moves")
        if period.time_ms or (at and (period.increment_ms or period.delay_ms)):
            parts.append(words.format(time=time(period.time_ms), count=period.answers))
        if period.increment_ms:
            parts.append(_("{time} more after each move").format(time=time(period.increment_ms)))
        if period.delay_ms:
            parts.append(_("the first {time} of each move are free").format(time=time(period.delay_ms)))
    if (byo_yomi := control.byo_yomi) is not None:
        japanese = _("then {time} a move") if byo_yomi.periods == 1 else _("then {count} periods of {time}")
        words = _("then {time} for each {count} moves") if byo_yomi.answers else japanese
        parts.append(words.format(time=time(byo_yomi.time_ms), count=byo_yomi.answers or byo_yomi.periods))
    if control.turn_ms:
        parts.append(_("at most {time} a move").format(time=time(control.turn_ms)))
    return ", ".join(parts)


def games_of_pair(form: AnyFormat) -> int | None:
    """None if pairs meet differently."""
    match form:
        case RoundRobin():
            return form.games * form.cycles
        case DoubleRoundRobin():
            return form.games * 2
    return None


def format_text(form: AnyFormat, language: Language) -> str:
    """Such as `swiss (games 2)`; only what is not the default."""
    if (count := games_of_pair(form)) is not None:
        words = language.ngettext("{format}, {count} game of each pair", "{format}, {count} games of each pair", count)
        return words.format(format=form.name, count=count)
    if isinstance(form, Ladder):
        words = language.ngettext("ladder, {count} game", "ladder, {count} games", form.total_games)
        return words.format(count=form.total_games)
    options = form.model_dump(mode="json", exclude_defaults=True, exclude={"name", "ranking", "skip", "seats"})
    return with_options(form.name, {name: value for name, value in options.items() if not isinstance(value, dict)})


def format_facts(form: AnyFormat) -> str:
    """All options of a format."""
    options = form.model_dump(mode="json", exclude={"name", "ranking", "skip", "seats"})
    return with_options(form.name, {name: value for name, value in options.items() if value})


def with_options(head: str, options: Mapping[str, Any]) -> str:
    """Such as `round-robin (games 2)`."""
    text = ", ".join(f"{name} {value_text(value)}" for name, value in options.items() if value is not None)
    return f"{head} ({text})" if text else head


def value_text(value: object) -> str:
    """A setting as text."""
    if isinstance(value, list | tuple):
        return ", ".join(map(value_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {value_text(inner)}" for key, inner in value.items())
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
