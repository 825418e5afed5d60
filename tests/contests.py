"""Contests that are played and exported once for all tests, which get copies.

They are in `.build/contests/DIGEST`; the digest is of the files of the judge and of the tests. A process that uses one
holds a shared lock on the directory, and removes those of other digests that are not in use.
"""

import gc
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from _pytest.compat import NOTSET

from judge.agents.manifest import AgentManifest
from judge.base.locks import lock, locked, try_lock
from judge.cli.submit import open_intake
from judge.journal.events import ImagesChanged
from judge.publish.export.export import PageOptions
from judge.store.contests import Store
from judge.store.orders import OrganiserOrder
from judge.store.types import ProcessingResult, Upload
from judge.transparency.keys import load_key
from tests.contest.giving import give
from tests.publish.cups import ENGLISH, STRONG_TO_WEAK, Cast, Cup, player
from tests.publish.public import Public

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".build/contests"

SOURCES = ("judge", "policies", "tests")
"""Folders of which a contest depends on any file."""


@contextmanager
def steady_clock(moment: datetime = datetime(2013, 3, 2, 18, tzinfo=UTC)) -> Iterator[None]:
    """A second for each time that a store asks for, so that the draws of a contest are always the same."""

    def now() -> str:
        nonlocal moment
        moment += timedelta(seconds=1)
        return moment.isoformat(timespec="milliseconds")

    with patch("judge.store.database.Database._stamp", lambda _: now()):
        yield


@dataclass(frozen=True)
class Recipe:
    """How a contest begins, as `Cup`, what `happens` in it, and the pages of its export.

    Two recipes of one name differ in more than the functions among these.
    """

    name: str
    cast: Cast = field(default_factory=lambda: STRONG_TO_WEAK)
    form: str = 'name = "round-robin"\ngames = 2'
    more: str = ""
    happens: Callable[[Cup], object] = Cup.play
    pages: PageOptions = ENGLISH
    options: Mapping[str, Any] = field(default_factory=dict)
    """Other arguments of `Cup`. Its log begins as that of `judge contest run`, unless they say otherwise."""

    def contest(self, folder: Path) -> Cup:
        """A copy of the contest in a folder, which is created if missing; to be closed."""
        shutil.copytree(_kept(f"contest-{self._key}", self._play), folder, dirs_exist_ok=True)
        return Cup.opened(folder, self.cast)

    def export(self, folder: Path) -> Public:
        """A copy of its export in a folder, which is created if missing, with the organiser's key."""
        shutil.copytree(_kept(f"export-{self._key}", self._export), folder, dirs_exist_ok=True)
        return Public(folder, load_key(folder / "organiser.key"))

    @property
    def _key(self) -> str:
        plain = {name: value for name, value in self.options.items() if not callable(value)}
        what = getattr(self.happens, "__qualname__", "")
        words = [[*self.cast], self.form, self.more, what, self.pages.address, [*self.pages.languages], plain]
        return f"{self.name}-{hashlib.sha256(json.dumps(words).encode()).hexdigest()[:8]}"

    def _play(self, folder: Path) -> None:
        with steady_clock(), Cup(folder, self.cast, self.form, self.more, **{"drawn": nothing, **self.options}) as cup:
            self.happens(cup)

    def _export(self, folder: Path) -> None:
        with tempfile.TemporaryDirectory() as place, self.contest(Path(place)) as cup, steady_clock():
            cup.export(folder, pages=self.pages)


def _kept(name: str, make: Callable[[Path], None]) -> Path:
    """The directory of this name, made by the first process that asks for it."""
    place = _directory() / name
    if not place.is_dir():
        with locked(place.with_suffix(".lock")):
            if not place.is_dir():
                with tempfile.TemporaryDirectory(dir=place.parent) as begun, _unpatched():
                    make(Path(begun) / "new")
                    (Path(begun) / "new").rename(place)
    return place


@contextmanager
def _unpatched() -> Iterator[None]:
    """Undo the patches of the present test for a while: other tests get the contest as well."""
    patches = [each for each in gc.get_objects() if isinstance(each, pytest.MonkeyPatch)]
    changes = [change for each in patches for change in reversed(each._setattr)]
    patched = [(target, name, vars(target)[name]) for target, name, _ in changes if name in vars(target)]
    for target, name, original in changes:
        if original is not NOTSET:
            setattr(target, name, original)
        elif name in vars(target):
            delattr(target, name)
    try:
        yield
    finally:
        for target, name, value in patched:
            setattr(target, name, value)


@cache
def _directory() -> Path:
    """The directory of the present digest, locked until this process ends; unused others are removed."""
    place = KEPT / _digest()
    KEPT.mkdir(parents=True, exist_ok=True)
    with locked(KEPT / "lock"):
        used = os.open(KEPT / f"{place.name}.used", os.O_WRONLY | os.O_CREAT)  # closed when the process ends
        lock(used, shared=True)
        place.mkdir(exist_ok=True)
        for other in KEPT.glob("*.used"):
            with other.open("ab") as file:
                if other.stem != place.name and try_lock(file):
                    shutil.rmtree(other.with_suffix(""), ignore_errors=True)
                    other.unlink()
    return place


def _digest() -> str:
    found = hashlib.sha256(sys.version.encode())
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found.update(f"{path.relative_to(ROOT)}\n".encode())
                found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]


def nothing(_store: Store) -> None:
    """Happens between the announcement and the freeze."""


def submit(cup: Cup, name: str, author: str, files: str = "") -> None:
    """A submission of a script that passes."""
    manifest = AgentManifest(name=name, command=("./a",), author=author).model_dump(mode="json")
    digest = cup.store_files(name + files)
    described = json.dumps({"manifest": manifest, "program": digest, "executables": ["a"]})
    with closing(open_intake(cup.folder).register()) as register:
        taken = register.receive(Upload(author, name, f"{name}.zip", digest, 1), worker="w")
        register.finish(taken.id, taken.attempt, ProcessingResult("", name, digest, described, None, None))


def with_a_remark(cup: Cup) -> None:
    """The first game is void once, and the organiser adds a remark."""
    cup.play(1, [1])
    cup.store.remark("spring-cup", ImagesChanged("a power cut"))
    cup.play()


def with_a_late_entry(cup: Cup, *, withdraws: bool = False) -> None:
    """zoe enters in the first round, and anna may withdraw later."""
    submit(cup, "zoe", "eve")
    cup.play(3)
    give(cup.contest, OrganiserOrder("Olga", "enter", "zoe", "the mail server was down"))
    cup.play(8)
    if withdraws:
        give(cup.contest, OrganiserOrder("Olga", "withdraw-agent", "anna", "it is ill"))
    cup.play()


def with_a_withdrawal(cup: Cup) -> None:
    """anna leaves after three games."""
    cup.play(3)
    give(cup.contest, OrganiserOrder("Olga", "withdraw-agent", "anna", "the author asked for it"))
    cup.play()


def with_a_submission(cup: Cup) -> None:
    """After five games, a submission has passed."""
    cup.play(5)
    submit(cup, "zoe", "eve")


def with_a_new_version(cup: Cup) -> None:
    """zoe joins, and a new version of it passes."""
    with_a_submission(cup)
    cup.play(8)
    submit(cup, "zoe", "eve", "2")


ROUND_ROBIN = Recipe(
    "round-robin",
    more="[failures]\nafter = 1000",
    happens=lambda cup: cup.play(void=[3]),
    pages=PageOptions("https://example.org/cup/"),
)
"""Five agents that meet twice each. The third game was void once, and one agent crashes."""

PAIR: Cast = {"anna": player("anna", 0.9), "bert": player("bert", 0.6)}

LOGGED = Recipe("logged", PAIR, happens=with_a_remark)
"""Two agents whose first game was void once: a log of eleven leaves."""

SWISS = 'name = "swiss"\nrounds = 4\ngames = 2'
WITH_ZOE: Cast = {**STRONG_TO_WEAK, "zoe": player("zoe", 0.7)}

LATE_ENTRY = Recipe("late-entry", WITH_ZOE, SWISS, happens=with_a_late_entry, options={"first": 5})
"""An agent enters a Swiss tournament."""

LATE_AND_WITHDRAWN = replace(LATE_ENTRY, name="late-and-withdrawn", happens=partial(with_a_late_entry, withdraws=True))
"""One enters it, and another leaves."""

WITHDRAWN = {
    "round-robin": Recipe("withdrawn", happens=with_a_withdrawal),
    "groups": Recipe("withdrawn", form='name = "groups"\ngames = 2\npromoted = 1', happens=with_a_withdrawal),
    "swiss": Recipe("withdrawn", form=SWISS, happens=with_a_withdrawal),
}
"""An agent leaves, by format."""

LADDER = 'name = "ladder"\ngames = 1\ntotal_games = 24\nanchors = { dora = 1500 }'

JOINING = Recipe(
    "joining",
    WITH_ZOE,
    LADDER,
    "[failures]\nlimit = 0.5\nafter = 3",
    with_a_submission,
    options={"first": 4},
)
"""A ladder that runs, and a submission that passed after the start."""

VERSIONS = replace(
    JOINING, name="versions", cast={**WITH_ZOE, "zoe.2": player("zoe.2", 0.9)}, happens=with_a_new_version
)
"""A ladder in which zoe has joined, and a new version of zoe passed."""
