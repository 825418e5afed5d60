"""One examination. An agent that does not start is not interviewed; one with a failed check plays no game."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path

import judge
from judge.agents.agents import Agent
from judge.agents.manifest import AgentManifest
from judge.base.durable_files import write_durably
from judge.base.errors import InputError, os_errors_as
from judge.base.text import file_word, mib, quote, sentence
from judge.base.toml_files import toml_value
from judge.catalog.files import write_exports
from judge.games.types import SEATS, Verdict
from judge.play.venue import Slot
from judge.protocols import protocol_entry
from judge.protocols.checks import ABOUT, ASKED, CHECKS, OPTIONS, Check
from judge.record.policy import Policy
from judge.referee.side import BEYOND_MEMORY
from judge.sandbox.box import BoxKind
from judge.sandbox.docker.kept import KEPT
from judge.submissions.check import interview
from judge.submissions.check.diagnosis import diagnose
from judge.submissions.check.report import (
    CheckReport,
    Finding,
    Grade,
    failed,
    passed,
    turns_text,
    warned,
    without_repetitions,
    worst_grade,
)
from judge.submissions.check.runner import CheckObserver, Examinee, RecordedTalk, find_partner

_WINDOW = sentence("it is linked as a graphical program, and there is no screen here")
_NO_WINDOW = sentence("link it with /SUBSYSTEM:CONSOLE or -mconsole")

_STARTER_MANIFEST = {
    "name": re.compile(r"^starter-(?:gomocup|agi|qchess|stratego)-\w+$"),
    "author": re.compile(r"^judge$"),
    "description": re.compile(r"; to begin with$"),
}
_HOUSE = "house-"
_STARTER_ABOUT = {"name": "starter", "author": "me", "country": "XY"}
_REPLACE = sentence("write your own name, author and description; pages and results show them")

FULL_SHARE = 0.9


def examine(
    agent: Agent,
    policy: Policy,
    slot: Slot,
    box: BoxKind,
    staging: Path,
    seconds: float = math.inf,
    observer: CheckObserver | None = None,
) -> CheckReport:
    """Examine a staged agent. House agents are staged below `staging`.

    Raises InputError if the agent cannot be seated, OverlongError after `seconds` of awake time, HostError if the host
    fails.
    """
    # A box per conversation would take most of the time.
    policy = policy.model_copy(update={"box": policy.box.model_copy(update={"reuse": "auto"})})
    observer = observer or CheckObserver()
    partner = find_partner(agent, policy, box, staging)
    examinee = Examinee(agent, partner, policy, slot, box, seconds, observer)
    table = checks_of(examinee)
    found: dict[str, Finding] = {}
    try:
        for finding in _examined(examinee, {check.name for check in table}):
            known = found.setdefault(finding.check, finding)
            if worst_grade([known.grade, finding.grade]) is not known.grade:
                found[finding.check] = finding
            observer.progress(_report(examinee, table, found))
    finally:
        KEPT.close()
    return _report(examinee, table, found)


def _report(examinee: Examinee, table: Sequence[Check], found: Mapping[str, Finding]) -> CheckReport:
    findings = []
    shown = {finding.check: finding for finding in without_repetitions([*found.values()])}
    for check in table:
        if check.name in shown:
            finding = shown[check.name]
            is_repeated = finding is not found[check.name]
            fix = "" if finding.grade is Grade.PASS or is_repeated else finding.fix or check.fix
            findings.append(finding.model_copy(update={"tried": check.tries, "fix": fix}))
    return CheckReport(
        judge=judge.__version__,
        agent=examinee.agent.manifest.name,
        digest=examinee.agent.digest,
        policy=examinee.policy.name,
        clock=examinee.policy.clock.words,
        protocol=examinee.protocol,
        box=examinee.talks[0].record.placement.box[0].partition(",")[0],
        partner=examinee.partner.manifest.name,
        findings=tuple(findings),
        line_ending=examinee.line_ending,
        untried=tuple(check.name for check in table if check.name not in found),
    )


def checks_of(examinee: Examinee) -> Sequence[Check]:
    """Checks in report order: the protocol's, general ones, the game's."""
    policy, protocol = examinee.policy, examinee.protocol
    questions = examinee.questions.asked
    sends_stop = bool(policy.protocol.get(protocol, {}).get("stop_before_ms"))
    table = {
        check.name: check
        for check in protocol_entry(protocol).checks
        if (check.name != "opening" or interview.has_opening(policy)) and (check.name != "stop" or sends_stop)
    }
    for check in (*CHECKS, *(ASKED if questions else ())):
        table.setdefault(check.name, check)
    if starter_text(examinee.agent.manifest, {}):
        table.setdefault("about", ABOUT)
    if examinee.agent.manifest.options:
        table.setdefault("options", OPTIONS)
    for question in questions:
        table.setdefault(question.check, Check(question.check, question.what, ""))
    return tuple(table.values())


def starter_text(manifest: AgentManifest, about: Mapping[str, str]) -> list[str]:
    """Texts of a starter that are left in agent.toml and in the answer to ABOUT."""
    left = [
        f"agent.toml: {key} = {quote(value)}"
        for key, value in (("name", manifest.name), ("author", manifest.author), ("description", manifest.description))
        if _STARTER_MANIFEST[key].search(value) and not manifest.name.startswith(_HOUSE)
    ]
    words = " ".join(f"{key}={quote(value)}" for key, value in about.items() if _STARTER_ABOUT.get(key) == value)
    return [*left, f"ABOUT: {words}"] if words else left


def _examined(examinee: Examinee, names: Set[str]) -> Iterator[Finding]:
    is_asked = bool(examinee.questions.asked)
    found = list(_talked_to(examinee, names)) if is_asked else []
    yield from found
    has_stopped = any(talk.has_stopped for talk in examinee.talks)
    if not has_stopped and not any(finding.grade is Grade.FAIL and finding.check != "line-ending" for finding in found):
        has_game_clock = examinee.policy.clock.control is not None
        policy = interview.hurried(examinee.policy) if is_asked and not has_game_clock else examinee.policy
        talks = [examinee.play(seat, policy) for seat in SEATS]
        for talk, name in zip(talks, ("game-first", "game-second"), strict=True):
            if talk.side.fault is None:
                yield passed(name, _outcome(talk))
            else:
                diagnosis = diagnose(talk)
                yield failed(name, diagnosis.evidence, diagnosis.fix, diagnosis.stderr)
        # Without questions, only the games show its times.
        if not is_asked and (turns_ms := [ms for talk in talks for ms in talk.turns_ms]):
            yield _started(examinee, talks[0])
            yield from _options(examinee)
            limit_ms = policy.clock.answer_ms
            what = turns_text(turns_ms, limit_ms)
            yield warned("time", what) if max(turns_ms) > limit_ms else passed("time", what)
    yield from _memory(examinee)
    yield from _end(examinee)
    if left := starter_text(examinee.agent.manifest, {}):
        yield warned("about", sentence(f"the starter's text is still there: {', '.join(left)}"), _REPLACE)


# --- questions -------------------------------------------------------------------------------------------------------


def _talked_to(examinee: Examinee, names: Set[str]) -> Iterator[Finding]:
    policy = interview.hurried(examinee.policy)
    options = protocol_entry(examinee.protocol).options
    given = examinee.policy.protocol.get(examinee.protocol, {})
    agent_options = examinee.agent.seat(examinee.policy).protocol_options
    # agent.toml overrides the policy. Empty if the protocol has only one.
    ending = str(getattr(options(**(given | agent_options)), "line_ending", ""))
    results = interview.ask_all(examinee, policy, ending)
    if results.ending is not None:
        yield failed("line-ending", results.ending.evidence, results.ending.fix)
    first = results.talks[0]
    if not first.got_ready:
        diagnosis = interview.start_of(examinee, first, policy)
        evidence, fix = diagnosis.evidence, diagnosis.fix
        if examinee.has_window:
            evidence, fix = f"{evidence}; {_WINDOW}", f"{fix}; {_NO_WINDOW}"
        yield failed("start", evidence, fix, diagnosis.stderr)
        return
    yield _started(examinee, first)
    yield from _options(examinee)
    if "about" in names and first.side.about:
        if left := starter_text(examinee.agent.manifest, first.side.about):
            yield warned("about", sentence(f"the starter's text is still there: {', '.join(left)}"), _REPLACE)
        yield passed("about", ", ".join(map(" ".join, first.side.about.items())))
    elif "about" in names:
        yield warned("about", sentence("it gave no description of itself"))
    yield from interview.answers_of(results, sorted(names), examinee.questions, examinee.protocol)
    if "restart" in names:
        yield from interview.restart_of(results)
    yield from interview.time_of(results, policy)
    yield from interview.output_of(results)
    if results.stopped:
        return
    if "opening" in names:
        yield from interview.opening_of(examinee, policy)
    if "stop" in names:
        yield from interview.stop_of(examinee, examinee.policy)
    yield from interview.quiet_of(examinee, results, policy)
    yield from interview.flush_of(examinee, results, policy)
    if ending and results.ending is None:
        yield from interview.ending_of(examinee, results, policy, ending)


def _started(examinee: Examinee, talk: RecordedTalk) -> Finding:
    took = "" if talk.start_ms is None else sentence(f"its first word came after {talk.start_ms:.0f} ms")
    if examinee.has_window:
        return warned("start", f"{took}; {_WINDOW}", _NO_WINDOW)
    return passed("start", took)


def _options(examinee: Examinee) -> Iterator[Finding]:
    given = examinee.agent.manifest.options
    if given:
        chosen = ", ".join(f"{name} = {toml_value(value)}" for name, value in given.items())
        limits = examinee.policy.limits
        memory = mib(limits.cap_bytes)
        yield passed("options", sentence(f"{chosen}; limits.threads = {limits.threads}, memory limit {memory}"))


# --- every game ------------------------------------------------------------------------------------------------------


def _outcome(talk: RecordedTalk) -> str:
    record = talk.record
    if record.winner is None:
        return sentence(f"drawn after {len(record.plies)} turns: {record.reason}")
    if record.winner == talk.seat:
        return sentence(f"won in {len(record.plies)} turns: {record.reason}")
    return sentence(f"lost in {len(record.plies)} turns: {record.reason}")


def _memory(examinee: Examinee) -> Iterator[Finding]:
    limits = examinee.policy.enforced()
    cap = limits.cap_bytes
    sizes = [mib(size).replace(".0 ", " ") for size in (limits.memory_bytes, cap - limits.memory_bytes)]
    parts = sentence(f"its limit is {sizes[0]}, and {sizes[1]} for its folders")
    for talk in examinee.talks:
        if talk.side.fault is Verdict.MEMORY:
            yield failed("memory", f"{talk.side.why}; {parts}")
            return
    peak = max(talk.side.memory_peak_bytes or 0 for talk in examinee.talks)
    if not peak:
        return
    what = f"{sentence(f'at most {mib(peak)} of {mib(cap)}')}; {parts}"
    notes = [note for talk in examinee.talks for note in talk.side.notes if note.startswith(BEYOND_MEMORY)]
    if notes:
        yield warned("memory", f"{what}; {notes[-1]}")
    else:
        yield warned("memory", what) if peak > FULL_SHARE * cap else passed("memory", what)


def _end(examinee: Examinee) -> Iterator[Finding]:
    talks = [talk for talk in examinee.talks if talk.got_ready and talk.side.fault is None]
    grace = examinee.policy.clock.close_ms
    if any(talk.was_killed for talk in talks):
        yield warned("end", sentence(f"it still ran {grace} ms after the end"))
        return
    times = [talk.exit_ms for talk in talks if talk.exit_ms is not None]
    if times:
        yield passed("end", sentence(f"gone {max(times):.0f} of {grace} ms after the end"))


class TalkFolder(CheckObserver):
    """Numbered files: `02-begin.txt` has the lines of a conversation, `09-game-first-mine-house.json` is a record."""

    def __init__(self, folder: Path) -> None:
        """Create the folder. Raises InputError."""
        self._folder = folder
        self._count = 0
        with os_errors_as(InputError, f"--keep {folder}"):
            folder.mkdir(parents=True, exist_ok=True)

    def keep(self, talk: RecordedTalk, check: str) -> None:
        """Write a conversation and a game's record. Raises InputError."""
        self._count += 1
        names = "-".join(file_word(seat.name) for seat in talk.record.seats)
        path = self._folder / f"{self._count:02}-{check}-{names}"
        with os_errors_as(InputError, f"--keep {self._folder}"):
            write_durably(path.with_name(f"{path.name}.txt"), ("\n".join(talk.dialogue) + "\n").encode())
            if talk.question is None:
                record = path.with_name(f"{path.name}.json")
                write_durably(record, talk.file.to_json())
                write_exports(talk.file, record)
