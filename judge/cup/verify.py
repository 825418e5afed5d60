"""Verifies an exported cup: its manifest, each league's export, and the results that follow."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.parsing import parse_foreign
from judge.base.progress import Tracker, untracked
from judge.contest.plan import CupReference
from judge.contest_view.export import CONTRADICTIONS, DOCUMENT
from judge.cup.plan import ANNOUNCEMENT, Announcement, league_terms
from judge.cup.results import CupDocument, CupResults, LeagueResults, advancing, read_exported
from judge.journal.events import Accepted, Annulled, Created, LockedIn, SeasonEnded
from judge.journal.state import EntryChange
from judge.publish.manifest import CUP_DOCUMENT, PUBLIC_KEY, ManifestCheck, check_manifest, file_names
from judge.publish.verify.copies import original_line_ends
from judge.publish.verify.export import LANGUAGE, PAGE_NAME, SIGNED_NAME, VerificationReport, verify_export
from judge.publish.verify.sample import Sample

MAX_DOCUMENT_BYTES = 4 << 20

_KNOWN = re.compile(rf"{SIGNED_NAME}|(cup|announcement)\.json|{LANGUAGE}(agents/[0-9]{{1,9}}\.html|{PAGE_NAME})")
"""Files of a cup outside the folders of its leagues."""

_CHANGES = Accepted | Annulled | SeasonEnded | EntryChange
"""Events that change places or the agents that advance."""


@dataclass(frozen=True, slots=True)
class CupReport:
    """The result of a verification. `waiting`: leagues that had not begun. `decisions` cannot be verified.
    `announcement`: its SHA-256.
    """

    name: str
    manifest: ManifestCheck
    problems: Sequence[str]
    leagues: Mapping[str, VerificationReport]
    waiting: Sequence[str]
    decisions: Sequence[str]
    announcement: str
    changed_line_ends: int = 0
    """Number of files whose line ends were undone before the verification."""


def verify_cup(
    directory: Path, public_key: Path | None, sample: Sample | None = None, track: Tracker = untracked
) -> CupReport:
    """Verify an exported cup; with a `sample` replay only its games of each league.

    If a copy tool changed line ends, a copy with the original ones is verified. Raises InputError for a missing export
    or key. Other errors become problems in the report.
    """
    with original_line_ends(directory) as original:
        report = _verify(original.directory, original.path_of(public_key, directory), sample, track)
        return replace(report, manifest=original.checked(report.manifest), changed_line_ends=original.changed)


def _verify(directory: Path, public_key: Path | None, sample: Sample | None, track: Tracker) -> CupReport:
    fix = "give a directory that judge contest export wrote"
    data = read_bounded(directory / CUP_DOCUMENT, MAX_DOCUMENT_BYTES, fix)
    document = parse_foreign(CupDocument, data, f"{CUP_DOCUMENT}: not the results of a cup")
    begun = [league for league in document.leagues if league.contest]
    manifest = check_manifest(directory, public_key, track, {league.name for league in begun})
    problems = list(manifest.problems)
    if manifest.contest not in (document.name, None):
        problems.append(f"the manifest is of {manifest.contest!r}, the cup is {document.name!r}")
    names = Counter([*(each.name for each in document.leagues), *(each.contest for each in begun)])
    problems += [f"{CUP_DOCUMENT}: two leagues have the name {name!r}" for name, count in names.items() if count > 1]
    data_announced = read_bounded(directory / ANNOUNCEMENT, MAX_DOCUMENT_BYTES, "the cup was not announced")
    digest = hashlib.sha256(data_announced).hexdigest()
    announced = parse_foreign(Announcement, data_announced, f"{ANNOUNCEMENT}: not the announcement of a cup")
    problems += _announced_problems(document, announced)
    problems += [] if begun else [f"{CUP_DOCUMENT}: no league has begun"]
    problems += _stray_problems(directory, {league.name for league in begun})
    reports: dict[str, VerificationReport] = {}
    for league in begun:
        try:
            # The signed document has the digests of manifest and key.
            folder = directory / league.name
            report = verify_export(folder, folder / PUBLIC_KEY, sample=sample, track=track)
        except InputError as error:
            problems.append(f"{league.name}: {error}")
            continue
        reports[league.name] = report
        problems += [f"{league.name}: {problem}" for problem in report.problems]
        if report.contest not in ("", league.contest):
            problems.append(f"{league.name}: of the contest {report.contest!r}, not of {league.contest!r}")
        if report.log is None:
            problems.append(f"{league.name}: it has no log")
        if report.manifest.digest != league.manifest:
            problems.append(f"{league.name}: its manifest is not the one in {CUP_DOCUMENT}")
        if report.manifest.fingerprint != league.key:
            problems.append(f"{league.name}: not signed with the key in {CUP_DOCUMENT}")
    decisions: list[str] = []
    if not problems:
        try:
            found, decisions = _result_problems(directory, document, data, announced, digest)
            problems += found
        except CONTRADICTIONS as error:
            problems.append(f"{CUP_DOCUMENT}: the leagues contradict each other: {type(error).__name__}: {error}")
    waiting = [league.name for league in document.leagues if not league.contest]
    return CupReport(document.name, manifest, problems, reports, waiting, decisions, digest)


def _result_problems(
    directory: Path, document: CupDocument, data: bytes, announced: Announcement, digest: str
) -> tuple[list[str], list[str]]:
    """Problems and decisions of a cup whose leagues have no problem. Raises `CONTRADICTIONS`."""
    problems: list[str] = []
    results = read_exported(document, directory, [league.name for league in document.leagues if league.contest])
    signed = {each.name: (each.manifest, each.key) for each in document.leagues}
    if results.document(signed).encoded() != data:
        problems.append(f"{CUP_DOCUMENT}: places and medals do not follow from the leagues")
    problems += _opening_problems(results, announced, digest)
    decisions = [*_different_files(results)]
    for each in results.leagues:
        _check_promotion(results, each, problems, decisions)
    return problems, decisions


def _stray_problems(directory: Path, leagues: Collection[str]) -> Iterator[str]:
    """Files of neither the cup nor a league that has begun: nothing verifies them."""
    for name in sorted(file_names(directory, [])):
        folder, _, rest = name.partition("/")
        if not (rest and folder in leagues) and not _KNOWN.fullmatch(name):
            yield f"{name}: unexpected file"


def _announced_problems(document: CupDocument, announced: Announcement) -> Iterator[str]:
    if announced.name != document.name:
        yield f"{ANNOUNCEMENT}: of the cup {announced.name!r}"
    terms = attrgetter("name", "after", "promoted", "promotes_new", "medals")
    if [*map(terms, document.leagues)] != [*map(terms, announced.leagues)]:
        yield f"{CUP_DOCUMENT}: the leagues differ from those of {ANNOUNCEMENT}"
        return
    for league, each in zip(document.leagues, announced.leagues, strict=True):
        if league.contest not in ("", each.contest):
            yield f"{league.name}: its contest {league.contest!r} is not the announced {each.contest!r}"


def _opening_problems(results: CupResults, announced: Announcement, digest: str) -> Iterator[str]:
    first = CupReference(name=announced.name, announcement=digest).announced
    terms = {league.name: league.terms for league in announced.leagues}
    for league in results.leagues:
        if league.contest is None:
            continue
        if league.contest.journal[0].change != first:
            yield f"{league.name}: its log does not begin with the digest of {ANNOUNCEMENT}"
        try:
            is_announced = league_terms(json.loads(league.contest.document)) == terms[league.name]
        except KeyError as error:
            yield f"{league.name}: {DOCUMENT}: the key {error} is missing"
            continue
        if not is_announced:
            yield f"{league.name}: its terms are not those of {ANNOUNCEMENT}"


def _different_files(results: CupResults) -> Iterator[str]:
    for agent in results.agents:
        first, *others = [
            (league.name, contest.snapshot.by_name()[agent].seat.digest) for league, contest in results.of_agent(agent)
        ]
        for name, digest in others:
            if digest != first[1]:
                yield f"{agent} takes part with different files in {first[0]} and {name}"


def _check_promotion(results: CupResults, league: LeagueResults, problems: list[str], decisions: list[str]) -> None:
    below = next((each for each in results.leagues if each.name == league.after), None)
    if league.contest is None or not league.promoted:
        return
    if below is None or below.contest is None:
        problems.append(f"{league.name}: {league.after} has not begun, so no agent advances from it")
        return
    locked_in = min(
        (line.at for line in league.contest.journal if isinstance(line.change, LockedIn | Created)), default=""
    )
    changed = [line.at for line in below.contest.journal if isinstance(line.change, _CHANGES)]
    if not below.is_over or max(changed, default="") > locked_in:
        decisions.append(f"{league.name} was locked in before the last change of {league.after}")
        return
    problems += [
        f"{league.name}: {agent} advances from {league.after}, but does not take part"
        for agent in advancing(below.contest, league.promoted, promotes_new=league.promotes_new)
        if agent not in league.contest.by_name
    ]
