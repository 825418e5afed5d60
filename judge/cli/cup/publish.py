"""`judge contest export` and `verify` of a cup: one site for all leagues, with one signed manifest."""

from pathlib import Path

from judge.base.text import printable
from judge.cli.contest.verify_output import SAMPLE_EXIT_CODE, print_problems, warn_of_own_key
from judge.cup.export import export_cup
from judge.cup.plan import load_cup
from judge.cup.verify import verify_cup
from judge.publish.export.export import PageOptions
from judge.publish.verify.copies import CHANGED_LINE_ENDS
from judge.publish.verify.sample import Sample
from judge.terminal.output import note, progress_bar
from judge.transparency.keys import KEY_FILE, load_key


def export(directory: Path, cup: Path, key: Path | None, private: Path | None, options: PageOptions) -> None:
    """Write one site for all leagues that have begun, with the export of each, and sign it.

    The arguments are those of `judge contest export`.
    """
    planned = load_cup(cup)
    signing = load_key(key or planned.folder / KEY_FILE)
    authors = private or directory.with_name(f"{directory.name}-private")
    exported = export_cup(planned, directory, authors, signing, options, progress_bar())
    if unfinished := sum(league.unfinished for league in exported.leagues.values()):
        note(f"judge: {unfinished} games have no result yet; the pages show them as unfinished")
    for name, league in exported.leagues.items():
        print(f"{directory}/{name}: {league.played} games")
    print(f"{directory}: {len(exported.leagues)} leagues; open {directory}/index.html")
    print(f"{authors}: private files per league and author")
    print(f"manifest {exported.digest}")
    print(f"key      {exported.fingerprint}")
    print("Announce both in a place where only you can write.")


def verify(directory: Path, key: Path | None, chosen: Sample | None) -> None:
    """Verify an exported cup: its manifest, every league as an export, and the medals.

    `chosen`: the games of each league to replay; None: all.
    """
    report = verify_cup(directory, key, chosen, progress_bar())
    warn_of_own_key(report.manifest)
    if report.changed_line_ends:
        print(CHANGED_LINE_ENDS.format(report.changed_line_ends))
    print_problems(report.problems)
    print(f"manifest {report.manifest.digest}")
    print(f"key      {report.manifest.fingerprint}")
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
    place = printable(str(directory), None)
    if report.problems:
        print(f"{place}: FAILED: {len(report.problems)} problem{'s' if len(report.problems) > 1 else ''}")
        raise SystemExit(1)
    if chosen is not None:
        print(f"sample   games chosen by --sample-seed {printable(chosen.seed)}")
        print(f"{place}: SAMPLE ok, NOT verified: {printable(report.name)}, {len(report.leagues)} leagues")
        raise SystemExit(SAMPLE_EXIT_CODE)
    result = "ok after undoing changed line ends" if report.changed_line_ends else "ok"
    print(f"{place}: {result}: {printable(report.name)}, {len(report.leagues)} leagues, medals computed again")
