"""Explains a fault or a wrong answer, and how to fix it.

A silent process that used no CPU and answers only at its end did not flush its output. One that used the CPU thinks too
long. Any other waits for input, mostly because it missed a line end.
"""

import codecs
import errno
import os
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from shlex import quote as shell_quoted

from judge.agents.manifest import MANIFEST, MONO
from judge.agents.program_files import file_inside, folded, similar_path
from judge.agents.programs import read_pe
from judge.agents.python_version import first_line
from judge.base.bookkeeping import own_paths
from judge.base.durable_files import is_directory, is_file
from judge.base.text import decode, printable, quote, sentence
from judge.games.types import Decision, Verdict
from judge.protocols import protocol_entry
from judge.protocols.squares import intended_square
from judge.record.policy import Policy
from judge.sandbox.docker.images import runtimes_providing
from judge.submissions.check.causes import CAUSES, DENIED, MISSING, THREADS, headline
from judge.submissions.check.probe_game import ProbeAnswer
from judge.submissions.check.runner import CHATTER, IGNORED, RecordedTalk
from judge.submissions.check.start_faults import CASE, other_name, pointers_of, processor_advice, why_not_started

BUSY_SHARE = 0.2
"""Share of the waiting time, running or runnable, from which an agent is busy."""

FLUSH = sentence(
    "flush stdout after every line: fflush(stdout) in C, std::cout << std::flush in C++, print(..., flush=True) in "
    "Python, System.out.flush() in Java; a pipe, unlike a terminal, is written only when the buffer is full"
)
_THINKS = sentence("it thinks too long: use the limit that the judge sends, check the clock often, and keep a reserve")
WAITS = sentence(
    "it used no CPU time, so it is waiting: for the end of input (read line by line, not by read(), readlines() or "
    "fread()), for the rest of a line, for a command that the judge does not send, or in a sleep"
)
_NO_LINE_END = sentence(
    'end each answer with a line end, and flush it: print(move, flush=True), printf("...\\n"), println'
)
_SIGNAL = re.compile(r"^was ended by signal (\d+)")
_NOT_PERMITTED = re.compile(
    r"Operation not permitted|\bEPERM\b|SocketException|Address family not supported"
    r"|Function not implemented|\bENOSYS\b"
)
_ENDED = sentence(
    "read the next command after each answer, in a loop, and end only at the judge's command or at the end of input"
)
_PLACE = re.compile(r'File ".*", line \d+')
_MAX_LAST_LINES = 6
_MAX_FILES = 2000
_FILE_WORD = re.compile(r"[^\s/\\'\"`:<>|]+")

_FIXES = {
    Verdict.ILLEGAL: sentence(
        "put each stone or piece that the judge sends on the board, and check a move before printing it"
    ),
    Verdict.FOUL: sentence("the answer is forbidden by the policy's rule"),
    Verdict.UNREADABLE: sentence("write the answer in the protocol's form, alone on its line"),
    Verdict.REFUSED: sentence("support it: the contest uses this command or this size, and refusing it loses the game"),
    Verdict.RESIGNED: sentence("play on: resigning here loses a game that has just begun"),
    Verdict.MEMORY: sentence("use less memory: the limit includes libraries and files in /tmp"),
    Verdict.OUTPUT: sentence("print less: the output of a turn and of a game is limited (judge policies)"),
}

_NO_FILE = re.compile(
    r"(?i)\b(?:can(?:no|'|)t|could(?: no|n')t|unable to|fail(?:ed|s)? to|error) (?:load|open|read|find)(?! that\b)"
    r"|\bno such file\b|\bnot found\b|\bmissing\b|[\w-]\.(?:dll|so|exe|nnue|onnx)\b"
)
_NOT_OPENED = re.compile(
    r"(?i)\b(?:can(?:no|'|)t|could(?: no|n')t|unable to|failed to) (?:open|load) \S|\bno such file or directory\b"
)
_SEND_FILE = sentence(
    "its output reports a missing file: send the file with the agent, and open it relative to the program; the "
    "working directory is different"
)

_OFF_BOARD = re.compile(r"(-?\b\d+),(-?\d+)\b.* is off the (\d+)x(\d+) board")
_TAKEN = re.compile(r"\b(\d+),(\d+)(?: \(\w+\))? is taken\b")
_QUOTED = re.compile(r"'(.+?)' cannot be read")
_NO_MOVE = re.compile(r"(?i)\W*(?:none|null|nil|nan|undefined)\W*")
_TRAILING = re.compile(r"\s*(\d{1,2}\s*,\s*\d{1,2})(?!\d)(.+)", re.DOTALL)
_PAIR_FORM = "column,row"
_BARE_NUMBER = re.compile(r"\s*(\d{1,4})\s*")
_STDERR = sentence("print other text on stderr")
NO_SQUARE = sentence("its search found no square: when no square is good enough, answer any empty square")
_DLL = re.compile(r"Library (\S+) \(which is needed by .*\) not found")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A fault and its fix."""

    evidence: str
    fix: str
    stderr: tuple[str, ...] = ()
    """The last lines, each with its number."""


def diagnose(talk: RecordedTalk) -> Diagnosis:
    """Explain the agent's fault."""
    side = talk.side
    fault = side.fault
    if talk.is_late:
        return _silence(talk)
    said = [side.why]
    error = headline(talk.complaints) if fault is Verdict.CRASH else ""
    if fault is Verdict.CRASH and talk.awaited and talk.got_ready:
        number = 1 + sum(ply.seat == talk.seat for ply in talk.record.plies)
        said.append(sentence(f"when it had to answer {talk.awaited!r}, its answer {number}"))
    if error:
        shown = printable(error, 200).replace("; ", ", ")
        said = [sentence(f"it failed with {shown}"), *said[1:], *said[:1]]
    elif fault is Verdict.CRASH and talk.printed:
        said.append(sentence(f"its last words on stdout: {_last(talk.printed)}"))
    if talk.complaints and not error:
        said.append(sentence(f"its last words on stderr: {_last(talk.complaints)}"))
    protocol = talk.seat_spec.protocol
    is_ended = side.why.startswith("exited with code 0")
    fix = _ENDED if is_ended else "" if fault is None else fix_for(fault, side.why, protocol)
    quoted = _QUOTED.match(side.why)
    answer = quoted[1] if quoted else talk.last_line
    if answer and fault in (Verdict.UNREADABLE, Verdict.ILLEGAL):
        form = form_advice(answer, talk.awaited, protocol)
        if fault is Verdict.UNREADABLE:
            fix = form
        elif not _expected(talk.awaited, protocol).startswith(_PAIR_FORM):
            fix = "; ".join(filter(None, (fix, form)))
    if fault is Verdict.CRASH and not is_ended:
        fix = sentence(f"fix the crash; this repeats it, with the conversation in a folder: {_repeating(talk)}")
    return Diagnosis("; ".join(said), _cause(talk) or fix, talk.stderr_end)


def _repeating(talk: RecordedTalk) -> str:
    names = {path.name for path in talk.program.iterdir()}
    program_files = names - {MANIFEST}
    name = talk.seat_spec.name
    # A build adds the manifest.
    is_alone = len(program_files) == 1 and (
        names == program_files or {Path(each).stem for each in program_files} == {name}
    )
    agent = program_files.pop() if is_alone else name
    policy = shell_quoted(talk.record.spec.policy.name)
    return f"judge check ./{shell_quoted(agent)} --policy {policy} --keep conversations"


def fix_for(verdict: Verdict, said: str, protocol: str, form: str = "") -> str:
    """The fix; empty: see the checks' table. `form` replaces the advice on unreadable answers."""
    if verdict is Verdict.UNREADABLE and form:
        return form
    if verdict is Verdict.REFUSED and _NO_FILE.search(said):
        return _SEND_FILE
    if verdict is Verdict.ILLEGAL and (fix := _coordinates(said, protocol)):
        return fix
    return _FIXES.get(verdict, "")


def _coordinates(said: str, protocol: str) -> str:
    entry = protocol_entry(protocol)
    if found := _OFF_BOARD.search(said):
        x, y, width, height = map(int, found.groups())
        if min(x, y) < 0:
            return NO_SQUARE
        if x <= width and y <= height and entry.counts_from_0:
            return sentence(f"coordinates count from 0: the largest are {width - 1},{height - 1}")
    if found or _TAKEN.search(said):
        return "; ".join(filter(None, (_FIXES[Verdict.ILLEGAL], entry.coordinate_order)))
    return ""


def _last(lines: list[str]) -> str:
    places = [number for number, line in enumerate(lines) if _PLACE.match(line)]
    first = places[-1] if places and len(lines) - places[-1] <= _MAX_LAST_LINES else len(lines) - 3
    return " / ".join(repr(line) for line in lines[max(0, first) :])


def _cause(talk: RecordedTalk) -> str:
    said = "\n".join([*talk.printed, *talk.complaints])
    why, policy = talk.side.why, talk.record.spec.policy
    if why.startswith("could not be run: "):
        is_denied = os.strerror(errno.EACCES) in why
        if fault := why_not_started(talk.program, talk.seat_spec.command[0], is_denied=is_denied):
            return fault
    if fault := _signal_cause(why, talk):
        return fault
    first = talk.first_bytes
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or first[1:4:2] == b"\0\0":
        return sentence("its output is UTF-16: write UTF-8 or ASCII without a byte order mark")
    if first.startswith(codecs.BOM_UTF8):
        return sentence(
            "its output begins with a byte order mark: write UTF-8 without one (of .NET: new UTF8Encoding(false))"
        )
    if talk.side.fault is Verdict.CRASH and (fault := pointers_of(talk.program)):
        return fault
    if talk.side.fault is not None and THREADS.search(said):
        most = policy.limits.processes
        return sentence(
            f"it needed more than the {most} processes and threads (limits.processes): use fewer, there is one core"
        )
    if talk.side.fault is not None and "Too many open files" in said:
        return sentence(f"it needed more than {policy.limits.open_files} open files (limits.open_files): close some")
    if dlls := _DLL.findall(said):
        names = ", ".join(printable(name, 60) for name in dict.fromkeys(dlls))
        return sentence(
            f"these DLLs are missing: {names}: link them statically (-static), or send them next to the program"
        )
    if name := _foreign_library(talk, f"{talk.side.why}\n{said}"):
        return sentence(f"{printable(name, 60)} is a library of Windows, which .NET cannot load here: do without it")
    for pattern, fix in CAUSES:
        if found := re.search(pattern, said):
            name = printable("".join(found.groups()), 60)
            return fix.format(name=name, name2=name)
    for pattern, what, fix in MISSING:
        if found := re.search(pattern, said):
            name = next(filter(None, found.groups()))
            if what == "program" and (other := other_name(name)):
                return other
            if what == "module":
                path, name = name.replace(".", "/"), name.partition(".")[0]
                for similar in (similar_path(talk.program, path), similar_path(talk.program, f"{path}.py")):
                    if similar and similar.removesuffix(".py") != path:
                        return sentence(f"there is no {printable(path, 60)}, but {printable(similar, 60)}: {CASE}")
            is_ours = "/" not in name and (is_directory(talk.program / name) or is_file(talk.program / f"{name}.py"))
            if what == "module" and is_ours:
                name = printable(name, 60)
                return sentence(
                    f"{name} is in your archive, but Python searches for it in the folder of the started program: "
                    f"start a program next to {name}"
                )
            return _missing(what, name, fix, policy)
    if talk.side.fault is Verdict.CRASH and _NOT_OPENED.search(said):
        return _named_otherwise(talk.program, said) or _SEND_FILE
    if talk.side.fault is Verdict.CRASH and _NOT_PERMITTED.search(said):
        return DENIED
    if why.startswith("could not be run: No such file") and (interpreter := _interpreter(talk)):
        return _missing("program", interpreter, sentence("send a program that needs no other"), policy)
    return ""


def _named_otherwise(program: Path, said: str) -> str:
    words = {folded(word): word for word in _FILE_WORD.findall(said)}
    paths = islice(own_paths(program), _MAX_FILES)
    names = {path.name for path in paths}
    for name in sorted(names):
        word = words.get(folded(name), name)
        if word not in names:
            return sentence(f"there is no {printable(word, 60)}, but {printable(name, 60)}: {CASE}")
    return ""


def _signal_cause(why: str, talk: RecordedTalk) -> str:
    found = _SIGNAL.search(why)
    limits = talk.record.spec.policy.enforced()
    match int(found[1]) if found else 0:
        case signal.SIGILL:
            return processor_advice()
        case signal.SIGSYS:
            return sentence(
                "it is a program of 32 bits, which this policy does not allow: compile it for 64 bits (-m64)"
            )
        case signal.SIGBUS:
            return sentence(
                "it wrote to memory that has no room: a file that it maps is longer than its folder allows (/dev/shm "
                f"has {limits.shm_bytes} bytes, /tmp {limits.scratch_bytes}), or was cut"
            )
        case signal.SIGXFSZ:
            return sentence(f"it wrote a file of more than {limits.file_bytes} bytes")
    return ""


def _foreign_library(talk: RecordedTalk, said: str) -> str:
    if talk.seat_spec.runtime != MONO:
        return ""
    beside = (path for path in sorted(talk.program.rglob("*")) if path.is_file() and path.suffix.lower() == ".dll")
    named = ((path.name, read_pe(path)) for path in beside if path.name in said)
    return next((name for name, library in named if library and library.is_dll and not library.is_dotnet), "")


def _interpreter(talk: RecordedTalk) -> str:
    word = talk.seat_spec.command[0]
    words, path = [word], file_inside(talk.program, word)
    if path is not None:
        with path.open("rb") as file:
            words = decode(first_line(file.read(200))).removeprefix("#!").split()
    return PurePosixPath(words[0]).name if words else ""


def _missing(what: str, name: str, fix: str, policy: Policy) -> str:
    name = printable(name, 60)
    having = runtimes_providing(name)
    if having:
        best = next((runtime for runtime in having if runtime in policy.admits), having[0])
        fix = sentence(f'the runtime {best} has it: set runtime = "{best}" in agent.toml')
    missing = sentence(f"the {what} {name} is missing here: {fix}")
    if having and best not in policy.admits:
        admit = sentence(f"policy {policy.name} has to admit it: ask the organiser")
        return f"{missing}; {admit}"
    return missing


def _late_answer(last_words: bytes) -> str:
    lines = (line.strip() for line in decode(last_words).splitlines())
    return next((line[:60] for line in lines if line and not CHATTER.match(line)), "")


def _ignored_words(talk: RecordedTalk) -> str | None:
    """The line that the judge ignored last, if it was no message."""
    note = talk.side.notes[-1] if talk.side.notes else ""
    words = note.removeprefix(IGNORED).strip("'\"")
    return words if note.startswith(IGNORED) and not CHATTER.match(words) else None


def has_misread_form(talk: RecordedTalk) -> bool:
    """Whether a late agent waits after an invalid answer."""
    return not (talk.errors or talk.unfinished) and _ignored_words(talk) is not None and not was_busy(talk)


def was_busy(talk: RecordedTalk) -> bool:
    """Whether it ran or was runnable: on a busy host it gets little CPU time."""
    evidence, cpu_ms = talk.side.evidence, _cpu_ms(talk)
    if evidence is None or cpu_ms is None:
        return True
    wanted = 0.0 if evidence.slept_share is None else 1 - evidence.slept_share
    return max(cpu_ms, wanted * evidence.charged_ms) >= BUSY_SHARE * evidence.charged_ms


def unflushed(talk: RecordedTalk) -> str:
    """Output that only a late agent's end flushed."""
    return _late_answer(talk.last_words) if talk.is_late and not was_busy(talk) else ""


def _cpu_ms(talk: RecordedTalk) -> float | None:
    """The kernel counts from the agent's start, so earlier awake time is subtracted."""
    evidence = talk.side.evidence
    if evidence is None or evidence.cpu_ms is None:
        return None
    return max(0.0, min(evidence.cpu_ms - sum(talk.wakes_ms[:-1]), evidence.charged_ms))


def _silence(talk: RecordedTalk) -> Diagnosis:
    cpu_ms = _cpu_ms(talk)
    used = [talk.side.why]
    if talk.awaited:
        used.append(sentence(f"it did not answer {talk.awaited!r}"))

    def diagnosis(*fix: str) -> Diagnosis:
        return Diagnosis("; ".join(used), "; ".join(fix))

    if cpu_ms is None:
        used.append(sentence("its CPU use is unknown on this host"))
        return diagnosis(_THINKS)
    used.append(sentence(f"its CPU time during this wait was {cpu_ms:.0f} ms"))
    if talk.errors:
        used.append(sentence(f"its earlier errors: {_last(talk.errors)}"))
    elif talk.side.notes:
        used.append(sentence(f"its last output was {talk.side.notes[-1]}"))
    if talk.complaints:
        used.append(sentence(f"its last words on stderr: {_last(talk.complaints)}"))
    if cause := _cause(talk):
        return diagnosis(cause)
    if talk.unfinished:
        used.append(sentence(f"it wrote {decode(talk.unfinished[:60])!r} without a line end"))
        return diagnosis(_NO_LINE_END)
    if was_busy(talk):
        return diagnosis(_THINKS)
    late = _late_answer(talk.last_words)
    ignored = _ignored_words(talk)
    if ignored is not None and (not late or late in talk.printed):
        protocol = talk.seat_spec.protocol
        line = next((line for line in reversed(talk.printed) if line.startswith(ignored[:20])), ignored)
        advice = form_advice(line, talk.awaited, protocol)
        other = sentence(f"its output is not an answer to {talk.awaited!r}: answer as protocol {protocol} requires")
        if advice == NO_SQUARE or intended_square(line):
            return diagnosis(advice or other)
        return diagnosis(advice or other, sentence("or name its own protocol in agent.toml"))
    if late:
        used.append(sentence(f"at the end of the game it wrote {late!r}: it did not flush its output"))
        return diagnosis(FLUSH)
    return diagnosis(WAITS)


# --- wrong answers ---------------------------------------------------------------------------------------------------


def form_advice(said: str, awaited: str, protocol: str) -> str:
    """Explain a wrong answer to the command `awaited` by the protocol's form; empty without a known form."""
    expected = _expected(awaited, protocol)
    if not expected:
        return ""
    wrote = quote(said, 60)
    if not expected.startswith(_PAIR_FORM):
        meant = protocol_entry(protocol).probable_answer(said) if expected == _expected("", protocol) else ""
        form = sentence(f"it wrote {wrote}; the protocol {protocol} expects here: {expected}")
        probably = sentence(f"it probably means {meant}")
        if meant and meant != said.strip():
            return f"{form}; {probably}"
        return form if any(letter.isdigit() for letter in said) else f"{form}; {_STDERR}"
    if _NO_MOVE.fullmatch(said):
        return NO_SQUARE
    if found := _TRAILING.fullmatch(said):
        return sentence(
            f"{wrote} has {quote(found[2].strip(), 40)} after the move: write only {_pair(found[1])} on the line"
        )
    if found := _BARE_NUMBER.fullmatch(said):
        return sentence(f"{wrote} is one number, not a move: answer with {expected}")
    square = intended_square(said)
    if square is None:
        return sentence(f"{wrote} is not a move: answer with {expected}")
    x, y = square
    return sentence(f"{wrote} is not a move: answer with column and row from 0, alone on the line: {x},{y}")


def _pair(text: str) -> str:
    return "".join(text.split())


def _expected(awaited: str, protocol: str) -> str:
    forms = protocol_entry(protocol).answer_forms
    word = awaited.split(" ", 1)[0].split(",", 1)[0]
    return forms.get(word, forms.get("", ""))


def coordinate_advice(answers: Sequence[ProbeAnswer], mistakes: Mapping[str, Callable[[Decision], Decision]]) -> str:
    """Name the systematic mistake that explains most wrong answers; empty if none does.

    It explains an answer if undoing it gives a wanted one. Correct answers count against it.
    """
    best, most = "", 1
    for advice, undo in mistakes.items():
        score = 0
        for answer in answers:
            if answer.decision is None or not answer.question.answers:
                continue
            explained = undo(answer.decision) in answer.question.answers
            score += explained - answer.is_right if explained != answer.is_right else 0
        if score > most:
            best, most = advice, score
    return best
