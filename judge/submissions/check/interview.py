"""Questions to agents before whole games."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from judge.base.text import decode, sentence
from judge.catalog import game_entry
from judge.catalog.entry import Question, Questions
from judge.games.types import Verdict
from judge.protocols import protocol_entry
from judge.protocols.squares import intended_square
from judge.protocols.time_control import TimeControl
from judge.record.policy import Policy
from judge.submissions.check.diagnosis import (
    WAITS,
    Diagnosis,
    coordinate_advice,
    diagnose,
    fix_for,
    form_advice,
    has_misread_form,
    unflushed,
    was_busy,
)
from judge.submissions.check.probe_game import ProbeAnswer
from judge.submissions.check.report import Finding, Grade, failed, passed, turns_text, warned
from judge.submissions.check.runner import TURN_LIMITS, Examinee, RecordedTalk

HURRY_MS = 1000
"""Announced turn limit, to test that it is read."""
STOP_AFTER_MS = 300
PAUSE_S = 0.3
MAX_FAULTS = 2

SOON_MS = 2000
"""Time limit of the first conversation, to detect wrong formats early."""

HASTY_MS = 3000

_AT_FAULT = {
    Verdict.START_TIME: "start",
    Verdict.TURN_TIME: "time",
    Verdict.MATCH_TIME: "time",
    Verdict.MEMORY: "memory",
}
_NOT_UNDERSTOOD = (Verdict.REFUSED, Verdict.UNREADABLE)
_UNHEARD = TURN_LIMITS | {Verdict.CRASH}
"""Faults of an agent that misses a command's end."""
_NAMES = {"crlf": "CR LF", "lf": sentence("LF alone")}
_WELL_ALONE = sentence(
    "this happened late in a long conversation; in a new process, as in every contest game, it answered"
)
_NO_ANSWERS = sentence(
    "other managers may take such a line for an answer: print debug text on stderr, or as the protocol allows (DEBUG, "
    "MESSAGE, INFO), and answer no INFO"
)
_FLUSH_PYTHON = sentence("flush after every line, for other managers do not run Python so: print(move, flush=True)")
_ONE_LINE = ("sh", "-c", 'read -r line; printf "%s\\n" "$line" | exec "$@"', "sh")
"""Before a command: one line is its whole input."""
_READ_LINES = sentence(
    "read line by line, not to the end of input by read(), readlines() or fread(), and flush stdout after every line"
)
_RESTART = sentence("answer RESTART with OK and clear the board, or with UNKNOWN")


def hurried(policy: Policy) -> Policy:
    """Announce a short turn limit; the tolerance keeps the sum."""
    clock = policy.clock.with_controls(TimeControl.per_answer)
    if clock.turn_ms <= HURRY_MS:
        return policy.model_copy(update={"clock": clock})
    tolerance = clock.tolerance_ms + clock.turn_ms - HURRY_MS
    short = clock.with_turn(HURRY_MS, tolerance)
    return policy.model_copy(update={"clock": short, "protocol": _stopping(policy, tolerance)})


def soon(policy: Policy) -> Policy:
    """Limit turn and start."""
    policy = _hasty(policy)
    clock = policy.clock
    if not 0 < clock.turn_ms < SOON_MS < clock.turn_ms + clock.tolerance_ms:
        return policy
    tolerance = SOON_MS - clock.turn_ms
    short = clock.model_copy(update={"tolerance_ms": tolerance})
    return policy.model_copy(update={"clock": short, "protocol": _stopping(policy, tolerance)})


def _stopping(policy: Policy, before_ms: int) -> dict[str, dict[str, object]]:
    return {
        name: options | ({"stop_before_ms": before_ms} if options.get("stop_before_ms") else {})
        for name, options in policy.protocol.items()
    }


@dataclass
class QuestionResults:
    """All answers, and faults that stopped the agent."""

    answers: list[ProbeAnswer] = field(default_factory=list)
    turns_ms: list[float] = field(default_factory=list)
    stopped: list[tuple[Question, Verdict, Diagnosis]] = field(default_factory=list)
    talks: list[RecordedTalk] = field(default_factory=list)
    late: list[Finding] = field(default_factory=list)
    ending: Diagnosis | None = None

    @property
    def sound(self) -> Question:
        """A correctly answered question, else the first."""
        firsts = {answer.question: answer for answer in reversed(self.answers)}
        asked = reversed(firsts.values())
        well = (answer.question for answer in asked if answer.fault is None)
        return replace(next(well, self.answers[0].question), turns=1)

    def add(self, talk: RecordedTalk) -> None:
        self.talks.append(talk)
        self.answers += talk.answers
        self.turns_ms += talk.turns_ms


def ask_all(examinee: Examinee, policy: Policy, ending: str) -> QuestionResults:
    """Ask all questions, in a new process after a fault that ends the old one.

    A late failure that does not repeat in a new process is only a warning. If a question is not understood, not
    answered, or ends the process, the other line ending is tried once per case, and kept if it works. An empty `ending`
    prevents this.

    The first conversation waits for `SOON_MS`, then again with the full time, unless the agent waits after an invalid
    answer. Without an answer the interview ends.
    """
    before = len(examinee.talks)
    results = QuestionResults()
    questions = examinee.questions.asked
    left = list(questions)
    has_refused = False
    chosen = soon(policy)

    def begins_again(question: Question, talk: RecordedTalk) -> bool:
        nonlocal results, left
        if not ending or results.ending is not None:
            return False
        found = _other_ending(examinee, question, talk, policy, ending)
        if found is not None:
            del examinee.talks[before:]
            results, left = QuestionResults(ending=found), list(questions)
        return found is not None

    while left and len(results.stopped) < MAX_FAULTS:
        # A failure costs a whole wait.
        batch = left if len(results.late) < MAX_FAULTS else left[:1]
        talk = examinee.ask(batch, chosen)
        is_short, chosen = chosen != policy, policy
        is_late = talk.is_late
        is_misread = is_late and has_misread_form(talk)
        if is_short and is_late and not is_misread:
            examinee.talks.remove(talk)
            continue
        refused = None if is_misread else _not_understood(talk, batch[0])
        if refused is not None and not has_refused:
            has_refused = True
            if begins_again(refused, talk):
                continue
        results.add(talk)
        fault, question = talk.side.fault, talk.question
        if not talk.got_ready:
            results.stopped += [(question, fault, diagnose(talk))] if question and fault else []
            break
        if not talk.has_stopped or question is None or fault is None:
            left = left[len(batch) :]
            continue
        left = left[left.index(question) + 1 :]
        if talk.answers and talk.answers[0].question != question:
            alone = examinee.ask([question], soon(policy) if is_misread else policy)
            if not alone.has_stopped:
                examinee.talks.remove(talk)
                results.add(alone)
                results.late.append(_only_late(talk, question, fault))
                continue
            talk, fault = alone, alone.side.fault or fault
        is_heard = bool(results.stopped) or is_misread or (is_late and was_busy(talk))
        if not is_heard and fault in _UNHEARD and begins_again(question, talk):
            continue
        results.stopped.append((question, fault, diagnose(talk)))
        if is_late and question == questions[0]:
            break
    _ask_late_faults_again(examinee, results, policy)
    return results


def _not_understood(talk: RecordedTalk, first: Question) -> Question | None:
    if not talk.answers:
        return first if talk.side.fault in (Verdict.START_TIME, Verdict.TURN_TIME, *_NOT_UNDERSTOOD) else None
    faults = ((answer.question, answer.fault) for answer in talk.answers if answer.fault is not None)
    return next((question for question, fault in faults if fault.verdict in _NOT_UNDERSTOOD), None)


def _other_ending(
    examinee: Examinee, question: Question, talk: RecordedTalk, policy: Policy, ending: str
) -> Diagnosis | None:
    other = "lf" if ending == "crlf" else "crlf"
    once = replace(question, turns=1)
    again = examinee.ask([once], _hasty(policy), is_trial=True, protocol_options={"line_ending": other})
    # Both ask alone: the first conversation was longer.
    if not _has_answered(again) or _has_answered(examinee.ask([once], _hasty(policy), is_trial=True)):
        return None
    examinee.line_ending = other
    first = talk.side.why or next((_say_fault(answer) for answer in talk.answers if answer.fault is not None), "")
    what = sentence(f"it does not understand lines that end in {_NAMES[ending]}")
    if talk.awaited:
        what = sentence(f"it does not understand lines that end in {_NAMES[ending]}, such as {talk.awaited!r}")
    used = sentence(f"with {_NAMES[other]} it answers, and all other checks used it")
    return Diagnosis(
        "; ".join(filter(None, (what, first, used))), sentence(f'add to agent.toml: line_ending = "{other}"')
    )


def _has_answered(talk: RecordedTalk) -> bool:
    return not talk.has_stopped and bool(talk.answers) and talk.answers[0].fault is None


def _hasty(policy: Policy) -> Policy:
    clock = policy.clock.model_copy(update={"start_ms": min(HASTY_MS, policy.clock.start_ms)})
    return policy.model_copy(update={"clock": clock})


def _only_late(talk: RecordedTalk, question: Question, fault: Verdict) -> Finding:
    name = {Verdict.MEMORY: "memory", Verdict.OUTPUT: "quiet"}.get(fault, question.check)
    fix = ""
    if talk.awaited == "RESTART" and talk.is_late:
        name, fix = "restart", _RESTART
    elif fault in TURN_LIMITS:
        name = "time"
    seen = diagnose(talk)
    return warned(name, f"{seen.evidence}; {_WELL_ALONE}", fix or seen.fix, seen.stderr)


def _ask_late_faults_again(examinee: Examinee, results: QuestionResults, policy: Policy) -> None:
    failed_checks: set[str] = set()
    for talk in list(results.talks):
        for answer in talk.answers:
            name = _concern_of(answer)
            if answer.fault is None or name in failed_checks:
                continue
            if answer.question == talk.answers[0].question:
                failed_checks.add(name)
                continue
            alone = examinee.ask([answer.question], policy)
            if alone.has_stopped or any(one.fault for one in alone.answers):
                failed_checks.add(name)
                continue
            results.answers.remove(answer)
            results.add(alone)
            fix = fix_for(answer.fault.verdict, answer.fault.reason, examinee.protocol)
            results.late.append(warned(name, f"{_say_fault(answer)}; {_WELL_ALONE}", fix))


def has_opening(policy: Policy) -> bool:
    """Whether a game begins with more than alternating moves."""
    entry = game_entry(policy.game.name)
    asked = entry.questions(policy.game.options)
    if asked is None:
        return False
    game = entry.new(policy.game.options).describe()
    return any(game.get(key, value) != value for key, value in asked.plain.items())


# --- findings --------------------------------------------------------------------------------------------------------


def answers_of(
    results: QuestionResults, names: Sequence[str], questions: Questions, protocol: str
) -> Iterator[Finding]:
    """Illegal answers fail, weak ones warn."""
    systematic = coordinate_advice(results.answers, questions.mistakes.get(protocol, {}))
    for finding in results.late:
        is_answer = finding.check not in ("memory", "quiet", "time", "restart")
        yield finding.model_copy(update={"fix": systematic}) if systematic and is_answer else finding
    for name in names:
        crashed = [
            diagnosis
            for question, verdict, diagnosis in results.stopped
            if question.check == name and verdict is Verdict.CRASH
        ]
        answers = [
            answer
            for answer in results.answers
            if (concern if (concern := _concern_of(answer)) in names else answer.question.check) == name
        ]
        for finding in _answers(name, answers, crashed, questions, protocol):
            is_wrong = finding.grade is not Grade.PASS and not crashed
            yield finding.model_copy(update={"fix": systematic}) if systematic and is_wrong else finding


def _answers(
    name: str, answers: Sequence[ProbeAnswer], crashed: Sequence[Diagnosis], questions: Questions, protocol: str
) -> Iterator[Finding]:
    faults = [answer for answer in answers if answer.fault is not None]
    weak = [answer for answer in answers if not answer.is_right]
    if crashed:
        yield failed(name, crashed[0].evidence, crashed[0].fix, crashed[0].stderr)
    elif faults:
        yield failed(name, "; ".join(map(_say_fault, faults)), _fix_of(faults[0], protocol))
    elif weak:
        texts = []
        for answer in weak:
            wanted = sentence(" or ").join(
                _square(text, protocol) for text in sorted(map(questions.say, answer.question.answers))
            )
            said = (
                _square(questions.say(answer.decision), protocol) if answer.decision is not None else ""
            ) or answer.said
            texts.append(sentence(f"{answer.question.what}: it answered {said}, wanted {wanted}"))
        yield warned(name, "; ".join(texts))
    elif answers:
        yield passed(name, sentence("1 answer") if len(answers) == 1 else sentence(f"{len(answers)} answers"))


def _square(text: str, protocol: str) -> str:
    """`6,7 (g8)`: in the protocol's notation and the board's."""
    square = intended_square(text) if protocol_entry(protocol).counts_from_0 else None
    return text if square is None else f"{square[0]},{square[1]} ({text})"


def _concern_of(answer: ProbeAnswer) -> str:
    is_foul = answer.fault is not None and answer.fault.verdict is Verdict.FOUL
    return "rule" if is_foul else answer.question.check


def _say_fault(answer: ProbeAnswer) -> str:
    return f"{answer.question.what}: {answer.fault.reason if answer.fault else ''}"


def _fix_of(answer: ProbeAnswer, protocol: str) -> str:
    if answer.fault is None:
        return ""
    return fix_for(answer.fault.verdict, answer.fault.reason, protocol, form_advice(answer.said, "", protocol))


def time_of(results: QuestionResults, announced_policy: Policy) -> Iterator[Finding]:
    """Compare turns with the announced limit. Only the policy's own limit fails."""
    late = [diagnosis for _, verdict, diagnosis in results.stopped if verdict in TURN_LIMITS]
    limit_ms = announced_policy.clock.answer_ms
    slowest = max(results.turns_ms, default=0.0)
    if late:
        yield failed("time", late[0].evidence, late[0].fix)
    elif slowest > limit_ms:
        yield warned("time", sentence(f"its limit was {limit_ms} ms a turn, and it took {slowest:.0f} ms"))
    elif results.turns_ms:
        yield passed("time", turns_text(results.turns_ms, limit_ms))


def restart_of(results: QuestionResults) -> Iterator[Finding]:
    """Check whether one process played all games."""
    if not any(len({a.question for a in talk.answers}) > 1 for talk in results.talks):
        return
    if any(talk.was_restarted for talk in results.talks):
        yield warned("restart", sentence("it refused RESTART, and a new process was started"))
    else:
        yield passed("restart", sentence("the same process continued"))


def opening_of(examinee: Examinee, policy: Policy) -> Iterator[Finding]:
    """Check the opening in both seats."""
    faults, complaints = [], []
    for seat in (0, 1):
        question = Question("opening", sentence(f"seat {seat}"), seat=seat, turns=4)
        talk = examinee.ask([question], policy, is_plain=False)
        if talk.has_stopped:
            faults.append(diagnose(talk))
        faults += [
            Diagnosis(_say_fault(answer), _fix_of(answer, examinee.protocol))
            for answer in talk.answers
            if answer.fault is not None
        ]
        complaints += [line[:200] for line in talk.errors if line.upper().startswith("ERROR")][:1]
    said = sentence(f"it reports what it cannot do: {complaints[0]!r}") if complaints else ""
    if faults:
        yield failed("opening", "; ".join(fault.evidence for fault in faults), said or faults[0].fix)
    elif said:
        yield warned("opening", sentence(f"both seats were played, but {said}"))
    else:
        yield passed("opening", sentence("both seats were played"))


def output_of(results: QuestionResults) -> Iterator[Finding]:
    """Check the output limits."""
    for _, verdict, diagnosis in results.stopped:
        if verdict is Verdict.OUTPUT:
            yield failed("quiet", diagnosis.evidence, diagnosis.fix)


def quiet_of(examinee: Examinee, results: QuestionResults, policy: Policy) -> Iterator[Finding]:
    """Output after answers, without freezing."""
    loose = policy.model_copy(update={"box": policy.box.model_copy(update={"freeze": "none"})})
    question = replace(results.sound, check="quiet", turns=2)
    talk = examinee.ask([question], loose, pause_s=PAUSE_S)
    if talk.has_stopped:
        diagnosis = diagnose(talk)
        name = _AT_FAULT.get(talk.side.fault or Verdict.OUTPUT, "quiet")
        yield failed(name, diagnosis.evidence, diagnosis.fix)
    elif talk.output_between_turns:
        said = decode(talk.output_between_turns[:60])
        what = sentence(f"it printed {len(talk.output_between_turns)} more bytes after its answers, first {said!r}")
        yield warned("quiet", what)
    elif ignored := [line for each in (*results.talks, talk) for line in each.ignored]:
        what = sentence(f"the judge ignored lines that are no answers, first {ignored[0]}")
        yield warned("quiet", what, _NO_ANSWERS)
    else:
        yield passed("quiet", sentence(f"nothing for {PAUSE_S * 1000:.0f} ms after each answer"))


def start_of(examinee: Examinee, talk: RecordedTalk, policy: Policy) -> Diagnosis:
    """A silent agent is started again with one line as its whole input."""
    found = diagnose(talk)
    if found.fix != WAITS:
        return found
    command = (*_ONE_LINE, *examinee.agent.seat(examinee.policy).command)
    said = examinee.ask(examinee.questions.asked[:1], soon(policy), is_trial=True, command=command).last_line
    if not said:
        return found
    ended = sentence(f"when its input ended after the first line, it wrote {said!r}")
    return Diagnosis(f"{found.evidence}; {ended}", _READ_LINES, found.stderr)


def flush_of(examinee: Examinee, results: QuestionResults, policy: Policy) -> Iterator[Finding]:
    """Find Python programs that depend on PYTHONUNBUFFERED, which `python3 -E` ignores."""
    python, *words = examinee.agent.seat(examinee.policy).command
    if not python.startswith("python") or "-u" in words:
        return
    talk = examinee.ask([results.sound], soon(policy), is_trial=True, command=(python, "-E", *words))
    if late := unflushed(talk):
        what = sentence(f"it works here because Python runs unbuffered; elsewhere it writes {late!r} only at its end")
        yield warned("start", what, _FLUSH_PYTHON)


def ending_of(examinee: Examinee, results: QuestionResults, policy: Policy, ending: str) -> Iterator[Finding]:
    """Check the other line ending."""
    if all(answer.fault is not None for answer in results.answers):
        return
    chosen = examinee.agent.manifest.line_ending
    other = "lf" if ending == "crlf" else "crlf"
    talk = examinee.ask([results.sound], _hasty(policy), protocol_options={"line_ending": other})
    if talk.side.fault is None and all(answer.fault is None for answer in talk.answers):
        yield passed("line-ending", "both")
    elif chosen is not None:
        yield passed("line-ending", sentence(f"only {ending}, as in its agent.toml"))
    else:
        what = sentence(f"it does not understand lines that end in {other}")
        fix = sentence(f'strip both, or set in agent.toml what it needs: line_ending = "{ending}"')
        yield warned("line-ending", what, fix)


def stop_of(examinee: Examinee, policy: Policy) -> Iterator[Finding]:
    """Check STOP during a long turn."""
    hard = examinee.questions.hard
    if hard is None:
        return
    clock = policy.clock.with_controls(TimeControl.per_answer)
    before = clock.turn_ms + clock.tolerance_ms - STOP_AFTER_MS
    stopping = policy.model_copy(update={"clock": clock, "protocol": _stopping(policy, before)})
    talk = examinee.ask([hard], stopping)
    took = sum(talk.turns_ms)
    if talk.has_stopped:
        yield failed("stop", talk.side.why)
    elif not talk.wrote(b"STOP"):
        yield passed("stop", sentence(f"it answered before STOP, after {took:.0f} ms"))
    else:
        what = sentence(f"it answered {took - STOP_AFTER_MS:.0f} ms after STOP")
        yield warned("stop", what) if took > STOP_AFTER_MS + HURRY_MS else passed("stop", what)
