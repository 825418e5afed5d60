"""The syntax of SGF, FF[1] to FF[4], for all games.

The reader accepts collections and unknown properties. It reads the main line only. CA names the encoding.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from judge.base.errors import InputError
from judge.base.text import one_line, quote
from judge.base.text_files import Encoding, decode_file, encoding_of, find_codec, head_of


class SgfValues(NamedTuple):
    """`texts` have escapes."""

    line: int
    texts: list[str]


class SgfNode(dict[str, SgfValues]):
    """Properties by name."""

    def text(self, name: str) -> str:
        """The first value on one line, without escapes; "" if it is missing."""
        return next(iter(self.texts(name)), "")

    def texts(self, name: str) -> list[str]:
        return [_plain(raw) for raw in self[name].texts] if name in self else []

    def line(self, name: str) -> int:
        """1 if it is missing."""
        return self[name].line if name in self else 1


_TREE = re.compile(r"\(\s*;")
_ROOT = re.compile(r"\(\s*;\s*[A-Za-z]+\s*\[")
_WORD = re.compile(r"\s+|[();]|[A-Za-z]+|\[[^\\\]]*(?:\\.[^\\\]]*)*\]", re.DOTALL)
_ENCODING = re.compile(r"\bCA\s*\[([^\]\\]{1,40})\]")


def looks_like_sgf(data: bytes) -> bool:
    """As `has_sgf`."""
    return has_sgf(head_of(data))


def has_sgf(text: str) -> bool:
    """It has a game, perhaps after other text."""
    return _TREE.match(text.lstrip()) is not None or _ROOT.search(text) is not None


def game_number(root: SgfNode) -> str:
    """GM, or "1" (Go) without it if the root has properties of Go; else empty."""
    return root.text("GM") or ("1" if {"KM", "HA", "TB", "TW"} & root.keys() else "")


def read_collection(data: bytes, source: str) -> list[list[SgfNode]]:
    """The nodes of each game's main line. Raises InputError for invalid text or an unknown encoding."""
    encoding = sgf_encoding(data, source)
    trees = list(games_of(decode_file(data, source, encoding), source))
    for nodes in trees:
        _refuse_two_results(nodes, source)
    if not (encoding.mark_bytes or data.isascii()):
        for root in (nodes[0] for nodes in trees if "CA" in nodes[0]):
            if _codec(root.text("CA"), source, root.line("CA")) != encoding.codec:
                raise InputError(
                    f"{source}, line {root.line('CA')}: CA differs from the encoding of the games before it;"
                    " write a file for each encoding"
                )
    return trees


def _refuse_two_results(nodes: Sequence[SgfNode], source: str) -> None:
    results = {text: node.line("RE") for node in nodes for text in node.texts("RE") if text not in ("", "?")}
    if len(results) > 1:
        first, second = (f"RE[{one_line(text, 30)}]" for text in [*results][:2])
        line = [*results.values()][1]
        raise InputError(f"{source}, line {line}: {second} contradicts {first} of the same game; leave the right one")


def games_of(text: str, source: str) -> Iterator[list[SgfNode]]:
    """As `read_collection`. The InputError names the line."""
    return _games(_words(text, source))


def write_node(properties: Mapping[str, str | Iterable[str] | None]) -> str:
    """Several values have one property, and None is left out. Values are not escaped."""
    found = [
        (name, [value] if isinstance(value, str) else list(value))
        for name, value in properties.items()
        if value is not None
    ]
    return ";" + "".join(name + "".join(f"[{value}]" for value in values) for name, values in found if values)


def escape(text: str) -> str:
    """`text` on one line as a value."""
    return re.sub(r"([\]\\:])", r"\\\1", one_line(text))


def sgf_encoding(data: bytes, source: str) -> Encoding:
    """From the byte order mark, else from CA. Raises InputError if unknown."""
    found = encoding_of(data)
    if found.mark_bytes or found.codec.startswith("utf-16"):
        return found
    line, name = _declared(data.decode("latin-1"), source)
    return encoding_of(data, _codec(name, source, line)) if name else found


def _declared(text: str, source: str) -> tuple[int, str]:
    at, name = 0, ""
    with suppress(InputError):
        for number, (line, word) in enumerate(_words(text, source)):
            if number > 1 and word in "();":
                break
            if word.isalpha():
                at, name = line, _property_name(word)
            elif word[0] == "[" and name == "CA":
                return at, word[1:-1].strip()
    # In multi-byte encodings a second byte may be a bracket or a backslash.
    if not text.isascii() and (match := _ENCODING.search(text)):
        return text.count("\n", 0, match.start()) + 1, match[1].strip()
    return 0, ""


def _codec(name: str, source: str, line: int) -> str:
    codec = find_codec(name)
    if codec is None:
        raise InputError(f"{source}, line {line}: CA[{one_line(name, 40)}] is an unknown encoding; write CA[UTF-8]")
    return codec


def _property_name(word: str) -> str:
    """FF[1] to FF[3] allow spelled-out names (GaMe)."""
    return "".join(letter for letter in word if letter.isupper())


def _words(text: str, source: str) -> Iterator[tuple[int, str]]:
    line, at, depth = 1, 0, 0
    while True:
        if depth == 0:
            begin = _TREE.search(text, at)
            if begin is None:
                return
            line += text.count("\n", at, begin.start())
            at = begin.start()
        match = _WORD.match(text, at)
        if match is None:
            raise InputError(
                f"{source}, line {line}: {quote(text[at : at + 20])} is not valid SGF here;"
                " close every game with ) and every value with ]"
            )
        word = match[0]
        depth += {"(": 1, ")": -1}.get(word, 0)
        if not word.isspace():
            yield line, word
        line += word.count("\n")
        at = match.end()


def _games(words: Iterator[tuple[int, str]]) -> Iterator[list[SgfNode]]:
    nodes: list[SgfNode] = []
    values = SgfValues(0, [])
    depth, is_main = 0, True
    for line, word in words:
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0:
            yield nodes
            nodes, is_main = [], True
        elif word == ")":
            is_main = False
        elif not is_main or word == "(":
            continue
        elif word == ";":
            nodes.append(SgfNode())
            values = SgfValues(line, [])
        elif word[0] == "[":
            values.texts.append(word[1:-1])
        else:
            values = nodes[-1].setdefault(_property_name(word), SgfValues(line, []))


def _plain(raw: str) -> str:
    return one_line(re.sub(r"\\(\n|.)", lambda m: m[1].strip("\n"), raw, flags=re.DOTALL))


def root_of(nodes: Sequence[SgfNode]) -> SgfNode:
    """A node with each property's first occurrence."""
    root = SgfNode()
    for name, values in (item for node in nodes for item in node.items()):
        root.setdefault(name, values)
    return root
