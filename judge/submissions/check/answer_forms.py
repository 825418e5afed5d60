"""Recognises moves in the wrong form and systematic errors of coordinates."""

import re
from collections.abc import Callable, Mapping, Sequence

from judge.base.text import quote, sentence
from judge.games.types import Decision
from judge.protocols import protocol_entry
from judge.protocols.squares import intended_square
from judge.submissions.check.probe_game import ProbeAnswer

_NO_MOVE = re.compile(r"(?i)\W*(?:none|null|nil|nan|undefined)\W*")
_TRAILING = re.compile(r"\s*(\d{1,2}\s*,\s*\d{1,2})(?!\d)(.+)", re.DOTALL)
_PAIR_FORM = "column,row"
_BARE_NUMBER = re.compile(r"\s*(\d{1,4})\s*")


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


_STDERR = sentence("print other text on stderr")
NO_SQUARE = sentence("its search found no square: when no square is good enough, answer any empty square")


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
