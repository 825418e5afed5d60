"""Who names an image: the words in policies, contests and records that may be one, each with where it stands."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from judge.contest.contest import has_begun, open_store
from judge.contest.plan import load_plan
from judge.contest.snapshot import thaw
from judge.errors import InputError
from judge.referee.policy import Policy, load_policy, policy_names

QUOTED = re.compile(r'"([^"\n]{1,300})"|\'([^\'\n]{1,300})\'')
"""Strings of a TOML file."""
IN_JSON = re.compile(r'"runtimes?": ?(?:"([^"]{1,300})"|(\{[^}]{1,20000}\}))|(sha256:[0-9a-f]{64})')
"""What a record or an export has of runtimes and images."""
KINDS = ('"judge-record-1"', '"judge-contest-1"')
"""What stands at the beginning of these."""
HEAD_CHARACTERS = 1 << 20
"""Where the spec of a record stands: it comes first."""


@dataclass(slots=True)
class Named:
    """What was looked at: the words, each with who says it, and how many documents there were of each kind."""

    words: dict[str, str] = field(default_factory=dict)
    policies: int = 0
    contests: int = 0
    records: int = 0

    def __str__(self) -> str:
        return f"{self.policies} policies, {self.contests} contests and {self.records} records"

    def add(self, words: Iterable[str], who: str) -> None:
        """Take words in; of several who say one the first is told."""
        for word in filter(None, words):
            self.words.setdefault(word, who)


def named_in(places: Sequence[Path]) -> Named:
    """All that the judge's own policies and the documents at some places name; folders are searched through.

    InputError for a place that is not there, and for a contest that cannot be read: what it names is not known then.
    """
    named = Named()
    for name in policy_names():
        named.policies += 1
        named.add(_images_of(load_policy(name)), f"policy {name}")
    for place in places:
        if not place.exists():
            raise InputError(f"{place} is not there; name policies, contests, records, or folders")
        for path in _documents(place):
            _look_at(path, named)
    return named


def _documents(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        yield place
        return
    for path in sorted(place.rglob("*")):
        if path.suffix in (".toml", ".json") and path.is_file() and not path.is_symlink():
            yield path


def _look_at(path: Path, named: Named) -> None:
    head = _head(path)
    if path.suffix == ".toml":
        # every string may be an image's name: in a variant, in what this judge does not know, in a file that is wrong
        named.add((word for found in QUOTED.findall(head) for word in found), str(path))
        document = _parsed(head)
        if {"policy", "format"} <= document.keys():
            _look_at_contest(path, named)
        elif "game" in document:
            named.policies += 1
    elif any(kind in head[:200] for kind in KINDS):
        named.records += 1
        named.add(_in_json(head), str(path))


def _parsed(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _look_at_contest(path: Path, named: Named) -> None:
    planned = load_plan(path)
    named.contests += 1
    named.add(_images_of(planned.policy), f"contest {planned.name}")
    if planned.has_no_store:
        return
    with closing(open_store(planned)) as store:
        if not has_begun(store, planned):
            return
        frozen = thaw(store.document(planned.name))
    named.add((image.id for image in frozen.images.values()), f"contest {planned.name}")
    named.add(frozen.images, f"contest {planned.name}")
    named.add(_images_of(frozen.policy), f"contest {planned.name}")


def _images_of(policy: Policy) -> Iterator[str]:
    yield from policy.runtimes.values()
    yield from policy.box.seccomp_of


def _in_json(text: str) -> Iterator[str]:
    for runtime, runtimes, digest in IN_JSON.findall(text):
        yield from (runtime, digest, *(word for word, _ in QUOTED.findall(runtimes)))


def _head(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(HEAD_CHARACTERS)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
