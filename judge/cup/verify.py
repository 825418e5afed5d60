"""Verifies an exported cup: its manifest, the export of each league, and the results that follow from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.parsing import parse_foreign
from judge.base.progress import Tracker, untracked
from judge.cup.results import CUP_DOCUMENT, CupDocument, results_of
from judge.publish.manifest import PUBLIC_KEY, ManifestCheck, check_manifest
from judge.verify.export import VerificationReport, verify_export
from judge.verify.sample import Sample

MAX_DOCUMENT_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class CupReport:
    """The result of a verification. `waiting`: leagues that had not begun."""

    name: str
    manifest: ManifestCheck
    problems: Sequence[str]
    leagues: Mapping[str, VerificationReport]
    waiting: Sequence[str]


def verify_cup(
    directory: Path, public_key: Path | None, sample: Sample | None = None, track: Tracker = untracked
) -> CupReport:
    """Verify an exported cup; with a `sample` replay only its games of each league.

    Raises InputError for a missing export or key. All other errors become problems in the report.
    """
    data = read_bounded(directory / CUP_DOCUMENT, MAX_DOCUMENT_BYTES, "give a directory that judge cup export wrote")
    document = parse_foreign(CupDocument, data, f"{CUP_DOCUMENT}: not the results of a cup")
    begun = [league for league in document.leagues if league.contest]
    manifest = check_manifest(directory, public_key, track, {league.name for league in begun})
    problems = list(manifest.problems)
    if manifest.contest not in (document.name, None):
        problems.append(f"the manifest is of {manifest.contest!r}, the cup is {document.name!r}")
    reports: dict[str, VerificationReport] = {}
    for league in begun:
        try:
            # The signed document has the digest of the manifest and of the key.
            report = verify_export(
                directory / league.name, directory / league.name / PUBLIC_KEY, sample=sample, track=track
            )
        except InputError as error:
            problems.append(f"{league.name}: {error}")
            continue
        reports[league.name] = report
        problems += [f"{league.name}: {problem}" for problem in report.problems]
        if report.contest not in ("", league.contest):
            problems.append(f"{league.name}: of the contest {report.contest!r}, not of {league.contest!r}")
        if report.manifest.digest != league.manifest:
            problems.append(f"{league.name}: its manifest is not the one in {CUP_DOCUMENT}")
        if report.manifest.fingerprint != league.key:
            problems.append(f"{league.name}: not signed with the key in {CUP_DOCUMENT}")
    if not problems and results_of(document, directory).encoded() != data:
        problems.append(f"{CUP_DOCUMENT}: places and medals do not follow from the leagues")
    waiting = [league.name for league in document.leagues if not league.contest]
    return CupReport(document.name, manifest, problems, reports, waiting)
