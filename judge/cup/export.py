"""Writes the export of a cup: the export of each league that has begun, and pages with a manifest over all of them.

DIR/index.html, agents.html, agents/, schedule.html, cup.json     the cup
DIR/announcement.json                                             its leagues before the start
DIR/manifest.json, manifest.sig, organiser.pem                    its files, and the manifest of each league
DIR/LEAGUE/                                                       an ordinary export with its own manifest and log
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.base.errors import InputError
from judge.base.progress import Tracker, untracked
from judge.contest.contest import Contest, open_store
from judge.cup.announcement import ANNOUNCEMENT
from judge.cup.plan import PlannedCup
from judge.cup.results import CUP_DOCUMENT, read_exported
from judge.cup.site import cup_pages
from judge.export.export import ExportSummary, PageOptions, new_directories, publish
from judge.publish.manifest import write_manifest
from judge.translations.language import languages
from judge.transparency.keys import fingerprint, load_key
from judge.transparency.log import KEY_FILE


@dataclass(frozen=True, slots=True)
class CupSummary:
    """Manifest's SHA-256, key's fingerprint, and the leagues' exports."""

    digest: str
    fingerprint: str
    leagues: Mapping[str, ExportSummary]


def export_cup(
    planned: PlannedCup,
    directory: Path,
    private: Path,
    key: Ed25519PrivateKey,
    options: PageOptions,
    track: Tracker = untracked,
) -> CupSummary:
    """Write the public part to `directory` and the authors' parts below `private`; both must be new.

    A league's export is signed by the organiser.key in its folder, or by `key`. Raises InputError and HostError.
    """
    planned.refuse_changes()
    with new_directories(directory, private) as (partial, partial_private):
        leagues = _write(planned, partial, partial_private, key, options, track)
        digest = write_manifest(partial, planned.cup.name, key, leagues)
    return CupSummary(digest, fingerprint(key.public_key()), leagues)


def _write(
    planned: PlannedCup,
    target: Path,
    private: Path,
    key: Ed25519PrivateKey,
    options: PageOptions,
    track: Tracker,
) -> Mapping[str, ExportSummary]:
    target.mkdir(parents=True)
    private.mkdir(mode=0o700, parents=True)
    exported: dict[str, ExportSummary] = {}
    for league in planned.cup.leagues:
        begun = planned.begun(league.name)
        if begun is None:
            continue
        own = begun.folder / KEY_FILE
        signing = load_key(own) if own.exists() else key
        pages = replace(
            options,
            address=options.address and f"{options.address}{league.name}/",
            former=_former(options, league.name),
            above=planned.cup.name,
        )
        with closing(open_store(begun)) as store:
            contest = Contest(store, begun)
            exported[league.name] = publish(contest, target / league.name, private / league.name, signing, pages, track)
    if not exported:
        raise InputError(f"{planned.cup.name}: no league has begun; judge cup run {planned.path} begins them")
    results = read_exported(planned, target, exported)
    signed = {name: (summary.digest, summary.fingerprint) for name, summary in exported.items()}
    (target / CUP_DOCUMENT).write_bytes(results.document(signed).encoded())
    (target / ANNOUNCEMENT).write_bytes(planned.announcement.encoded())
    for path, page in cup_pages(planned, results, languages(options.languages)):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(page)
    return exported


def _former(options: PageOptions, league: str) -> Path | None:
    if options.former is None or not (options.former / league).is_dir():
        return None
    return options.former / league
