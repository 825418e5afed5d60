"""`judge contest verify`: verify an export of a contest or a cup. Needs no modules of Unix."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import InputError
from judge.base.text import printable, titled
from judge.contest.file_names import CUP_FILE, PLAN_FILE
from judge.terminal.output import note, progress_bar

if TYPE_CHECKING:
    from judge.cup.verify import CupReport
    from judge.publish.manifest import ManifestCheck
    from judge.publish.verify.export import VerificationReport
    from judge.publish.verify.log import Witnessed
    from judge.publish.verify.sample import Sample
    from judge.statistics.fairness import FairnessTest

EXAMPLES = """
judge contest verify public --key organiser.pem
judge contest verify public --key organiser.pem --since kept-checkpoint
judge contest verify public --key organiser.pem --receipt answer.json
judge contest verify public --key organiser.pem --witness witnesses.keys
judge contest verify public --key organiser.pem --sample 500
judge contest verify weekend

The live site and the export of a contest have its log's checkpoint in log/checkpoint. Save a copy now and then.
"""

FORGED = (1, 10, 100, 1000)

SHOWN_PROBLEMS = 50

SAMPLE_EXIT_CODE = 3
"""A sample had no problem. 0 would look like a complete verification."""


def verify(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The export, or a contest's folder: its newest export.")
    ],
    key: Annotated[
        Path | None, typer.Option(help="The organiser's public key; obtain it from another source than the export.")
    ] = None,
    since: Annotated[
        Path | None,
        typer.Option(metavar="CHECKPOINT", help="An old checkpoint of the log: verify that nothing before it changed."),
    ] = None,
    witness: Annotated[
        Path | None,
        typer.Option(
            metavar="KEYFILE", help="File of witnesses' keys, one NAME+ID+KEY per line: each must have signed the log."
        ),
    ] = None,
    receipt: Annotated[
        Path | None, typer.Option(help="The receipt of an upload: verify that the log has the upload.")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Replay only N games, chosen at random. Exits with 3 if all is well."),
    ] = None,
    sample_seed: Annotated[
        str, typer.Option(metavar="TEXT", help="Choose the games of --sample by this text, to repeat a sample.")
    ] = "",
) -> None:
    """Verify an export: check files and signature, replay every game, recompute schedule and tables.

    Of a contest's folder, its newest export, with the contest's own key. Of an exported cup, each league and the
    medals.
    """
    from judge.publish.manifest import CUP_DOCUMENT, MANIFEST, PUBLIC_KEY
    from judge.publish.verify.export import verify_export
    from judge.publish.verify.sample import Sample

    if not directory.is_dir():
        raise InputError(f"{directory}: not a directory; give one that judge contest export wrote")
    if sample_seed and sample is None:
        raise InputError("--sample-seed chooses the games of a sample: also give --sample N")
    chosen = None if sample is None else Sample(sample, sample_seed or secrets.token_hex(8))
    if (directory / CUP_FILE).is_file():
        raise InputError(f"{directory}: a cup, not its export; judge contest export DIR {directory} writes one")
    if (directory / CUP_DOCUMENT).exists():
        if since or witness or receipt:
            raise InputError("--since, --witness and --receipt are for one league: give the directory of a league")
        _verify_cup(directory, key, chosen)
        return
    if is_of_contest := (directory / PLAN_FILE).is_file() and not (directory / MANIFEST).exists():
        own_key = directory / PUBLIC_KEY
        key = key or (own_key if own_key.is_file() else None)
        folder, directory = directory, _newest_export(directory)
    report = verify_export(directory, key, since, receipt, witness, chosen, progress_bar())
    _warn_of_own_key(report.manifest)
    if not report.is_over:
        why = "there are problems" if report.problems else "another round follows"
        if report.unfinished:
            why = f"{report.unfinished} games have no result"
        note(f"judge: this does not prove that the contest is over: {why}")
    _print_files(report)
    _print_contents(report, chosen, since)
    if is_of_contest and not report.problems:
        _refuse_outdated(folder, report)
    name = printable(titled(report.contest, report.title))
    sampled = ""
    if report.sampled_of is not None:
        sampled = f"{name}, {report.replayed - report.uncounted} of {report.sampled_of} games replayed"
    whole = f"{name}, {report.replayed} games replayed, schedule and tables computed again"
    _print_result(directory, report, sampled, whole)
    if is_of_contest:
        print(f"publish {printable(str(directory), None)}")


def _verify_cup(directory: Path, key: Path | None, chosen: Sample | None) -> None:
    from judge.cup.verify import verify_cup

    report = verify_cup(directory, key, chosen, progress_bar())
    _warn_of_own_key(report.manifest)
    _print_files(report)
    print(f"announced {report.announcement}")
    for name, league in report.leagues.items():
        state = "over" if league.is_over else "not over"
        print(f"league   {name}: {league.replayed} games replayed, {state}, {len(league.problems)} problems")
        for text in (*league.decisions, *map("not part of the export: {}".format, league.manifest.extra)):
            print(f"note     {name}: {printable(text, 500)}")
    for text in (*report.decisions, *map("not part of the export: {}".format, report.manifest.extra)):
        print(f"note     {printable(text, 500)}")
    for name in report.waiting:
        print(f"league   {name}: had not begun")
    if chosen is not None and not report.problems:
        print(f"sample   games chosen by --sample-seed {printable(chosen.seed)}")
    verified = f"{printable(report.name)}, {len(report.leagues)} leagues"
    _print_result(directory, report, verified if chosen is not None else "", f"{verified}, medals computed again")


def _warn_of_own_key(manifest: ManifestCheck) -> None:
    if manifest.is_own_key:
        note(
            "judge: WARNING: this key is from the directory itself. It proves that the files belong together, "
            "NOT who published them: get the organiser's key from another source and give it with --key FILE"
        )


def _print_files(report: VerificationReport | CupReport) -> None:
    from judge.publish.verify.copies import CHANGED_LINE_ENDS

    if report.changed_line_ends:
        print(CHANGED_LINE_ENDS.format(report.changed_line_ends))
    for problem in report.problems[:SHOWN_PROBLEMS]:
        print(f"  {printable(problem, 500)}")
    if len(report.problems) > SHOWN_PROBLEMS:
        print(f"  and {len(report.problems) - SHOWN_PROBLEMS} more")
    print(f"manifest {report.manifest.digest}")
    print(f"key      {report.manifest.fingerprint}")


def _print_contents(report: VerificationReport, chosen: Sample | None, since: Path | None) -> None:
    if report.chance:
        print(f"chance   {report.chance}")
    if report.freeze is not None:
        print(f"draw     also follows from the entries and the first {report.freeze.leaves} leaves of the log")
    for former in report.joined:
        source = "its unpublished store" if former.manifest is None else f"its export, manifest {former.manifest}"
        print(f"joined   {printable(former.name, 60)}: {former.games} games, not replayed here, taken from {source}")
    for name in report.manifest.extra:
        print(f"note     not part of the export: {printable(name, 200)}")
    for decision in report.decisions:
        # No verifier can check whether these decisions and events were right.
        print(f"note     {printable(decision, 500)}")
    if report.fairness is not None:
        for line in fairness_lines(report.fairness):
            print(f"fairness {line}")
    print(f"log      {_log_words(report, since)}")
    if (found := report.receipt) is not None:
        proved = "see the problems" if report.problems else f"is leaf {found.number} of the log"
        print(f"receipt  {printable(found.text, 60)}, SHA-256 {found.digest[:16]}: {proved}")
    for each in report.witnesses:
        print(f"witness  {printable(each.name)}: {_witness_words(each)}")
    if chosen is not None and report.sampled_of is not None:
        _print_sample(chosen, report.replayed - report.uncounted, report.sampled_of)


def _print_result(directory: Path, report: VerificationReport | CupReport, sampled: str, whole: str) -> None:
    """Exits with 1 for problems, and with `SAMPLE_EXIT_CODE` if `sampled` names the verified part."""
    place = printable(str(directory), None)
    if count := len(report.problems):
        print(f"{place}: FAILED: {count} problem{'s' if count > 1 else ''}")
        raise SystemExit(1)
    if sampled:
        print(f"{place}: SAMPLE ok, NOT verified: {sampled}")
        raise SystemExit(SAMPLE_EXIT_CODE)
    result = "ok after undoing changed line ends" if report.changed_line_ends else "ok"
    print(f"{place}: {result}: {whole}")


def _refuse_outdated(folder: Path, report: VerificationReport) -> None:
    from judge.contest.contest import open_store  # a verifier has no contest's folder
    from judge.contest.plan import load_plan
    from judge.publish.kept_exports import last_change

    planned = load_plan(folder)
    if report.contest != planned.name:
        name = printable(report.contest, 60)
        raise InputError(f"{folder}: its newest export is of {name}, not of {planned.name}: remove it")
    with closing(open_store(planned)) as store:
        change = last_change(store, planned.name)
    leaves = 0 if report.log is None else report.log.size
    if change is not None and change.number is not None and change.number >= leaves:
        raise InputError(
            f"{folder}: the results changed after its newest export ({change.at[:19].replace('T', ' ')} UTC: "
            f"{printable(change.text, 200)}): do not publish it; judge serve writes the next one, and "
            f"judge contest export DIR {folder} writes one now"
        )


def _newest_export(folder: Path) -> Path:
    """Raises InputError without an export."""
    from judge.publish.kept_exports import kept_exports  # a verifier has no contest's folder

    exports = kept_exports(folder)
    if not exports:
        raise InputError(
            f"{folder}: no export yet; judge serve writes one after the end of a contest that it plays, and "
            f"judge contest export DIR {folder} writes one now"
        )
    return exports[0][1]


def _print_sample(sample: Sample, sampled: int, all_games: int) -> None:
    from judge.publish.verify.sample import percent_to_find

    print(f"sample   {sampled} of {all_games} games replayed, chosen by --sample-seed {printable(sample.seed)}")
    chances = [f"{forged}: {percent_to_find(forged, sampled, all_games)}" for forged in FORGED if forged <= all_games]
    print(f"sample   probability to find at least one of k forged games: {', '.join(chances)}")
    print("sample   not checked: the other records, states of folders, and the fairness certificate")


def fairness_lines(tests: Sequence[FairnessTest]) -> Iterator[str]:
    """Yield the result of the tests: effects of the machines, then that of the first move."""
    from judge.statistics.fairness import SEAT

    made = [test for test in tests if test.p is not None]
    of_machines = [test for test in made if test.factor != SEAT]
    found = [test for test in of_machines if test.has_effect]
    if not of_machines:
        yield "too few games or machines for a comparison"
    elif found:
        yield f"effects of the machines were found in {len(found)} of {len(of_machines)} tests"
    else:
        factors = "slots, hosts, hours, order, neighbours"
        yield f"no effect of the machines ({factors}) was found in {len(of_machines)} tests"
    for test in found:
        level = f" {printable(test.level, 60)}" if test.level else ""
        yield f"{test.factor}{level}: {_size_words(test)}"
    for test in made:
        if test.factor == SEAT and test.has_effect:
            yield f"the first player: {_size_words(test)}; this comes from the game or its openings, not from a machine"


def _size_words(test: FairnessTest) -> str:
    from judge.statistics.fairness import TIME

    ends = (test.effect or 0.0, test.low or 0.0, test.high or 0.0)
    if test.response == TIME:
        sizes, unit = [f"{100 * end:+.1f}" for end in ends], "% time a move"
    else:
        sizes, unit = [f"{end:+.3f}" for end in ends], "points a game"
    return f"{sizes[0]} {unit} ({sizes[1]} to {sizes[2]}), adjusted p = {test.adjusted:.2g}"


def _log_words(report: VerificationReport, since: Path | None) -> str:
    if report.log is None:
        return "missing in the export" if report.contest else "not read"
    proved = "no old checkpoint was given" if since is None else f"continues {printable(str(since), None)}"
    return f"{report.log.size} leaves, {'see the problems' if report.problems else proved}"


def _witness_words(witness: Witnessed) -> str:
    if witness.at is None:
        return "has signed no checkpoint of this export"
    return (
        f"has signed the first {witness.size} leaves, {datetime.fromtimestamp(witness.at, UTC):%Y-%m-%d %H:%M:%S} UTC"
    )
