"""What is computed from a contest: tables, export with pages, and what the verifier finds in each forgery of it."""

import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.api import contest, verify
from judge.base.errors import InputError
from judge.cup.verify import verify_cup
from judge.journal.codec import event_names
from judge.publish.verify.export import verify_export
from judge.tournament.formats import FORMATS
from tests.corpus.archive import Texts, pack, unpack
from tests.corpus.commands import printed
from tests.corpus.records import plain
from tests.publish.public import Public
from tests.verify import test_corpus as changes
from tests.verify import test_cups as cups
from tests.verify.forger import FORMS, Forger, Form
from tests.verify.forgeries import FORGERIES, Forgery

KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(31) + b"1")

IN_EVERY_LANGUAGE = "contest-incidents"
"""Other contests have pages in English only."""

PRODUCT = (".css", ".js", ".mjs")
"""Files of a site that do not depend on its contest."""

_AGO = re.compile(r"\d+ [a-z]+( \d+ [a-z]+)? ago")
_MANIFEST = re.compile(r"(manifest|announced) +[0-9a-f]{64}")


def contest_texts(part: str, source: Texts) -> Iterator[tuple[str, str]]:
    """Each text that is computed from a contest; the current folder is empty."""
    folder, public = Path("contest"), Path("public")
    unpack(source, folder)
    for path in sorted(folder.glob("evaluations/*.json")):
        yield "verify", printed("verify", str(path))
        yield "api verify", json.dumps(plain(verify(path)))
        return
    is_cup = "cup.toml" in source
    group = "cup" if is_cup else "contest"
    for word in ("status", "standings") if is_cup else ("status", "standings", "crosstable", "journal"):
        words = ("standings", "--crosstable") if word == "crosstable" else (word,)
        yield f"{group} {word}", _without_now(printed("contest", *words, str(folder)))
        yield f"{group} {word} --json", printed("contest", *words, str(folder), "--json")
    languages = () if part == IN_EVERY_LANGUAGE else ("--language", "en")
    export = ("contest", "export", str(public), str(folder), "--private", "private", *languages)
    yield "export", _MANIFEST.sub(r"\1 DIGEST", printed(*export))
    if not public.exists():
        return
    if not is_cup:
        yield "api standings", json.dumps(plain(contest(folder).standings()))
    for place in (public, Path("private")):
        for name, text in pack(place).items():
            if not name.endswith((*PRODUCT, "manifest.json", "manifest.sig")):
                yield f"{place}/{name}", text
    yield "files", "\n".join(pack(public))
    yield "features", "\n".join(sorted(_features(public)))
    key = ("--key", str(public / "organiser.pem"))
    yield "verify", _MANIFEST.sub(r"\1 DIGEST", printed("contest", "verify", str(public), *key))


def _without_now(text: str) -> str:
    """A table without the time since the last game, on which the width of its columns depends."""
    return re.sub(" +", " ", _AGO.sub("TIME ago", text)) if _AGO.search(text) else text


def _features(public: Path) -> Iterator[str]:
    for path in public.glob("**/contest.json"):
        yield f"tournament: {json.loads(path.read_bytes())['format']['name']}"
        yield from {f"event: {line['event']}" for line in json.loads((path.parent / "data/journal.json").read_bytes())}


NOT_REACHED = {"event: processing"}
"""It is only the state of a submission."""


def wanted() -> set[str]:
    """What the contests have to reach, by the lists of the code and of the tests."""
    return {
        *(f"event: {event}" for event in event_names()),
        *(f"tournament: {name}" for name in FORMATS),
        *(f"forgery: {kind}" for kind in FORGERIES),
        *(f"forgery: {case['name']}" for case in changes.CASES),
    } - NOT_REACHED


# --- forgeries -------------------------------------------------------------------------------------------------------


Problems = Sequence[str]
Forge = Callable[[Public, Path], Problems]
"""Forges a copy of an export in a folder, and verifies it."""


def forgery_texts(part: str, folder: Path) -> Iterator[tuple[str, str]]:
    """What the verifier finds in each forgery of the export in `folder / "public"`."""
    public = Public(folder, KEY)
    for number, (name, forge) in enumerate(_forgeries(part)):
        place = folder / f"forged-{number}"
        place.mkdir()
        try:
            with patch.object(Ed25519PrivateKey, "generate", lambda: OTHER_KEY):
                problems = forge(public, place)
        except InputError as error:
            problems = [str(error)]
        yield f"forgery: {name}", "\n".join(problems).replace(str(place), "")
        shutil.rmtree(place)


def _forgeries(part: str) -> Iterator[tuple[str, Forge]]:
    if part == "contest-cup":
        for how, is_signed in (*cups.CUP_FORGERIES, *((how, True) for how in cups.ANNOUNCEMENT_FORGERIES)):
            yield f"{how.__name__}, {'signed' if is_signed else 'not signed'}", partial(_forge_cup, how, is_signed)
        for kind in cups.OF_LEAGUE:
            yield f"of a league: {kind}", partial(_forge_cup, partial(cups.CupForger.forge_league, kind=kind), True)
    if part == "contest-logged":
        yield from ((case["name"], partial(_change, case)) for case in changes.CASES)
    for kind, forgery in FORGERIES.items():
        names = [name for name, form in FORMS.items() if forgery.suits(form)]
        name = names[len(kind) % len(names)]
        if part == f"contest-{name}":
            yield kind, partial(_forge, forgery, FORMS[name], random.Random(f"{kind} 0"))


def _forge(forgery: Forgery, form: Form, chance: random.Random, public: Public, folder: Path) -> Problems:
    forger = Forger(public, form, folder, chance)
    forgery.how(forger)
    forgery.end(forger)
    return verify_export(forger.directory, forger.public.public_key).problems


def _change(case: dict[str, Any], public: Public, folder: Path) -> Problems:
    copy = public.copy_to(folder)
    changes.change(copy, case)
    return verify_export(copy.directory, copy.public_key).problems


def _forge_cup(how: Callable[[cups.CupForger], object], is_signed: bool, public: Public, folder: Path) -> Problems:
    forger = cups.CupForger(public, folder)
    how(forger)
    if is_signed:
        forger.sign()
    return verify_cup(forger.directory, public.public_key).problems
