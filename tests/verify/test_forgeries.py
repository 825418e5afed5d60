"""Forgeries of published contests, by an organiser who signs them again, against both verifiers and an
independent reading.

docs/enforcement.md lists the kinds that cannot be found, and the figures of `./scripts/test --evidence forgeries`.
"""

import ast
import math
import random
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.journal.state import JournalLine
from judge.publish.verify.export import verify_export
from tests.examples import EVIDENCE, RecordFigure, of_lanes, sized
from tests.publish.public import Public
from tests.verify import independent_reading
from tests.verify.by_node import problems as problems_by_node
from tests.verify.forger import FORMS, Forger, Form
from tests.verify.forgeries import FORGERIES, Forgery, Found
from tests.verify.log_forgeries import kept_checkpoint, lines_of

HERE = Path(__file__).parents[1]
COUNT = sized(0, 1000)
"""Forgeries; each kind is tried equally often, and at least once."""

Contests = Mapping[str, tuple[Public, list[JournalLine]]]
"""By the name of their form: an export, and the lines of its log."""


@pytest.fixture(scope="module")
def contests(tmp_path_factory: pytest.TempPathFactory) -> Contests:
    folder = tmp_path_factory.mktemp("contests")
    exports = {name: form.recipe.export(folder / name) for name, form in FORMS.items()}
    return {name: (public, lines_of(public.directory)) for name, public in exports.items()}


def found(public: Public, since: Path | None) -> tuple[bool, bool]:
    """Whether `judge contest verify` and verify.mjs find a problem."""
    words = [] if since is None else [Path("--since"), since]
    return (
        bool(verify_export(public.directory, public.public_key, since).problems),
        bool(problems_by_node(public.directory, public.public_key, *words)),
    )


def first_forged(true: list[JournalLine], public: Public) -> int | None:
    """The first leaf of the true log that another one has not; None if the other one goes on from it."""
    try:
        forged = [line.leaf for line in lines_of(public.directory)]
    except (OSError, ValueError, LookupError, InputError):
        forged = []
    leaves = [line.leaf for line in true]
    return next((number for number, leaf in enumerate(leaves) if forged[number : number + 1] != [leaf]), None)


@pytest.mark.parametrize("path", [*HERE.glob("verify/independent_*.py"), HERE / "transparency/standard_witness.py"])
def test_second_opinion_imports_nothing_of_judge(path: Path) -> None:
    found = {
        name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    }
    others = {name for name in found if name.partition(".")[0] not in (*sys.stdlib_module_names, "cryptography")}
    assert {"tests.verify"} >= {name.rpartition(".independent_")[0] for name in others}


@pytest.mark.parametrize("form", FORMS)
def test_published_log_is_accepted_with_every_checkpoint(form: str, contests: Contests, tmp_path: Path) -> None:
    """A void that the organiser claimed when it happened, and what he played in secret before, is in it for good."""
    public, lines = contests[form]

    for size in (None, 0, 1, len(lines) // 2, len(lines)) if EVIDENCE else (None, len(lines) // 2):
        since = None if size is None else kept_checkpoint(public, lines, tmp_path, size)
        assert (False, False) == found(public, since)
    assert [] == independent_reading.problems(public.directory)


OF_FULL_LANE = {
    *("a byte of a file, not signed", "signed by another key", "a checkpoint of another log", "no log"),
    *("a value of the standings", "an agent disqualified in silence", "what an agent wrote", "the files of an entry"),
    *("entries swapped, fitted", "a finished game called void, fitted", "a time that no calendar has, fitted"),
    *("the fault in a record, fitted", "seats swapped, fitted", "a rating", "a game replayed until liked"),
    *("a draw chosen", "a page, a program or the PGN", "the record of a void hidden"),
}
"""Some of each who finds them; tests/corpus gives every kind to `judge contest verify`."""


@pytest.mark.parametrize("kind", of_lanes(FORGERIES, OF_FULL_LANE))
def test_a_forgery_is_found_by_whom_it_can_be(
    kind: str, contests: Contests, tmp_path: Path, record_property: RecordFigure
) -> None:
    forgery = FORGERIES[kind]
    names = [name for name, form in FORMS.items() if forgery.suits(form)]
    of_kind, figures = max(1, math.ceil(COUNT / len(FORGERIES))), [0, 0, 0]
    for number in range(of_kind):
        name = names[(number + len(kind)) % len(names)]
        folder = tmp_path / str(number)
        folder.mkdir()
        found_by = tried(forgery, FORMS[name], contests[name], folder, random.Random(f"{kind} {number}"))
        figures = [sum(pair) for pair in zip(figures, found_by, strict=True)]
    record_property("figure", f"{kind}: {of_kind} tried, found by {figures}, {forgery.found.name}")


def tried(
    forgery: Forgery, form: Form, contest: tuple[Public, list[JournalLine]], folder: Path, chance: random.Random
) -> tuple[bool, bool, bool]:
    """Forge a contest, and see who finds it: `judge contest verify`, verify.mjs, and both with a later checkpoint."""
    public, lines = contest
    forger = Forger(public, form, folder, chance)
    forgery.how(forger)
    forgery.end(forger)
    first = first_forged(lines, forger.public)
    # A checkpoint from before the forgery is worth as much as none.
    early = chance.choice([None, *range(len(lines) + 1 if first is None else first + 1)])
    by_anybody = found(forger.public, None if early is None else kept_checkpoint(public, lines, folder, early))
    by_reading = bool(independent_reading.problems(forger.directory))
    match forgery.found:
        case Found.BY_FILES:
            assert (True, True) == by_anybody
        case Found.BY_READING:
            assert (True, True) == (by_anybody[0], by_reading)
        case Found.BY_REPLAY:
            assert (True, False) == by_anybody
        case _:
            assert (False, False, False) == (*by_anybody, by_reading)
    if forgery.found in (Found.BY_FILES, Found.BY_READING):
        return *by_anybody, True
    assert first is not None or forgery.found is not Found.BY_HOLDER
    if first is None:
        return *by_anybody, False
    late = chance.randint(first + 1, len(lines))
    assert (True, True) == found(forger.public, kept_checkpoint(public, lines, folder, late))
    return *by_anybody, True
