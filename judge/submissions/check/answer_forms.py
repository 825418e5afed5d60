"""Recognises moves in the wrong form and systematic errors of coordinates."""

import re
from collections.abc import Callable, Mapping, Sequence

from judge.base.text import quote, sentence
from judge.games.types import Decision
from judge.protocols import protocol_entry
from judge.submissions.check.probe_game import ProbeAnswer

_NUMBERS = re.compile(r"(?<![\d.])(\d{1,2})(?:\.0+)?(?![\d.])")
_LETTER = re.compile(r"(?i)(?<![a-z])([a-z])[\s,-]{0,2}(\d{1,2})(?!\d)")
_NAMED = re.compile(r"(?i)(?<![a-z])([xy]|col(?:umn)?|row)\W{0,4}(\d{1,2})(?!\d)")
_PAIR = re.compile(r"(?<![\w.,-])(\d{1,2})\s*,\s*(\d{1,2})(?![\w.,])")
_POINT = re.compile(r"\s*(\d{1,2})\.(\d{1,2})\s*")
_REVERSED = re.compile(r"(?i)\s*(\d{1,2})([a-z])\s*")
_NEGATIVE = re.compile(r"(?:^|[\s,(\[])-\d")
_NO_MOVE = re.compile(r"(?i)\W*(?:none|null|nil|nan|undefined)\W*")
_PUNCTUATION = re.compile(r"[\s\d.,;:()\[\]{}<>\"'/|_-]+")
_WORDS = re.compile(r"(?i)(?:\b(?:my|best|next|the|move|bestmove|play|answer|turn|result|is|i)\b|[\W\d_])+")
_TRAILING = re.compile(r"\s*(\d{1,2}\s*,\s*\d{1,2})(?!\d)(.+)", re.DOTALL)
_PAIR_FORM = "column,row"
_BARE_NUMBER = re.compile(r"\s*(\d{1,4})\s*")


def intended_square(said: str) -> tuple[int, int] | None:
    """The square (from 0) that a line probably means."""
    named = {key[0].lower(): int(number) for key, number in _NAMED.findall(said)}
    x, y = named.get("x", named.get("c")), named.get("y", named.get("r"))
    if x is not None and y is not None:
        return x, y
    letters = _LETTER.findall(said)
    rest = _LETTER.sub("", said)
    if len(letters) == 1 and _WORDS.fullmatch(f"{rest} "):
        letter, number = letters[0]
        is_pair = re.search(rf"(?i){letter}\s*,", said) is not None
        row = int(number) - (0 if is_pair else 1)
        return ord(letter.lower()) - ord("a"), max(0, row)
    if _NEGATIVE.search(said):
        return None
    numbers = [int(number) for number in _NUMBERS.findall(said)]
    if len(numbers) == 2 and (_PUNCTUATION.fullmatch(said) or _WORDS.fullmatch(said)):
        return numbers[0], numbers[1]
    if found := _REVERSED.fullmatch(said):
        return intended_square(found[2] + found[1])
    pairs = [found] if (found := _POINT.fullmatch(said)) else list(_PAIR.finditer(said))
    return (int(pairs[0][1]), int(pairs[0][2])) if len(pairs) == 1 else None


def form_advice(said: str, awaited: str, protocol: str) -> str:
    """Explain a wrong answer to the command `awaited` by the protocol's form; empty without a known form."""
    expected = _expected(awaited, protocol)
    if not expected:
        return ""
    wrote = quote(said, 60)
    if not expected.startswith(_PAIR_FORM):
        meant = _MEANT[protocol](said) if protocol in _MEANT and expected == _expected("", protocol) else ""
        form = sentence(f"it wrote {wrote}; the protocol {protocol} expects here: {expected}")
        probably = sentence(f"it probably means {meant}")
        return f"{form}; {probably}" if meant else form
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


NO_SQUARE = sentence("its search found no square: when no square is good enough, answer any empty square")


_AGI = re.compile(r"(?i)\W*(?:best ?move|move)?\W*\b([0-9a-e])[ :]?([1-9a-f])\b\W*")
_BEST_MOVE = re.compile(r"(?i)best ?move")
_DIRECTION = re.compile(r"(?i)(?<![a-z])(up|down|left|right|north|south|west|east|[udlr])(?![a-z\d])")
_DIRECTIONS = {"u": "UP", "n": "UP", "d": "DOWN", "s": "DOWN", "l": "LEFT", "w": "LEFT", "r": "RIGHT", "e": "RIGHT"}


def _agi_answer(said: str) -> str:
    if found := _AGI.fullmatch(said):
        is_clear = found[1].isdigit() or _BEST_MOVE.search(said)
        return f"BESTMOVE {found[1]}{found[2]}".upper() if is_clear else ""
    x, y = intended_square(_BEST_MOVE.sub("", said)) or (15, 15)
    return f"BESTMOVE {y:X}{x + 1:X}" if max(x, y) < 15 else ""


def _stratego_answer(said: str) -> str:
    found = _DIRECTION.findall(said)
    square = intended_square(_DIRECTION.sub("", said).strip())
    return f"{square[0]} {square[1]} {_DIRECTIONS[found[0][0].lower()]}" if square and len(found) == 1 else ""


def _qchess_answer(said: str) -> str:
    if (square := intended_square(said)) is None or max(square) > 7:
        return ""
    is_named = _LETTER.search(said) is not None and not _NAMED.search(said)
    return f"{square[0]} {7 - square[1] if is_named else square[1]}"


_MEANT: Mapping[str, Callable[[str], str]] = {
    "agi": _agi_answer,
    "stratego": _stratego_answer,
    "qchess": _qchess_answer,
}


def _pair(text: str) -> str:
    return "".join(text.split())


def other_form(said: str, awaited: str, protocol: str) -> str:
    """`form_advice`, empty if the protocol has answers as `column,row`."""
    return "" if _expected(awaited, protocol).startswith(_PAIR_FORM) else form_advice(said, awaited, protocol)


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
