"""Names that look alike, by Unicode's table of confusable characters (UTS 39).

The table is the data of the package `confusable-homoglyphs`. Two names have the same skeleton if each character of one
looks like that of the other. Skeletons distinguish case, names do not: `Ian`, `lan` and `ian` look alike, because the
first two have one skeleton, and the outer two differ by case.
"""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Although printable."""

_DIRECTION_MARK = "\u200e"
"""The table puts it around characters that are written from right to left."""


def appearances(name: str) -> frozenset[str]:
    """Names look alike if these share an element. Empty for an invisible name."""
    seen = " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFKC", name)).split())
    # Some letters look alike as capitals only, such as Latin and Cyrillic t.
    forms = (_skeleton(seen), _skeleton(seen.casefold()), _skeleton(seen.upper()))
    return frozenset(_skeleton(each.casefold()) for each in forms if each)


def lookalikes(names: Collection[str], known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each of `names` that looks like another one of them, or of `known`, with that other one. Linear."""
    wanted, seen = set(names), dict[str, str]()
    for name in dict.fromkeys([*known, *names]):
        skeletons = sorted(appearances(name))
        other = next((seen[skeleton] for skeleton in skeletons if skeleton in seen), None)
        if other is not None and {name, other} & wanted:
            yield other, name
        for skeleton in skeletons:
            seen.setdefault(skeleton, name)


def _skeleton(text: str) -> str:
    table = _skeletons()
    shown = "".join(table.get(letter, letter) for letter in unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFD", shown)


@cache
def _skeletons() -> Mapping[str, str]:
    """For each confusable character one text of all that look like it. The package lists every pair in both orders."""
    data = json.loads(files("confusable_homoglyphs").joinpath("confusables.json").read_bytes())
    pairs: dict[str, list[str]] = {}
    for source, targets in data.items():
        pairs.setdefault(source.strip(_DIRECTION_MARK), []).extend(
            target["c"].strip(_DIRECTION_MARK) for target in targets
        )
    skeletons: dict[str, str] = {}
    for first in pairs:
        if len(first) > 1 or first in skeletons:
            continue
        alike, waiting = {first}, [first]
        while waiting:
            others = pairs.get(waiting.pop(), ())
            new = {other for other in others if len(other) == 1} - alike
            alike |= new
            waiting += new
        longer = sorted({other for each in alike for other in pairs.get(each, ()) if len(other) > 1})
        skeletons |= dict.fromkeys(alike, longer[0] if longer else min(alike))
    return skeletons
