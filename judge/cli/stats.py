"""`judge stats`: strength of agents over several contests or exports."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from judge.base.errors import InputError
from judge.base.text import printable
from judge.cli.options import JsonOption, StoreOption, number
from judge.terminal.output import interval, make_table, note, print_json, print_table

if TYPE_CHECKING:
    from judge.contest_games import PairResult
    from judge.statistics.cycles import RatingsCheck
    from judge.statistics.match_estimate import Candidate, Interval
    from judge.statistics.ratings import JoinedRatings, Rating, Version
    from judge.tournament.certain_places import StageCertainty

EXAMPLES = """
judge stats cup
judge stats cup-2025 public-2026 --anchor house-renju=1600
judge stats cup --against parent
judge stats --certainty cup
"""


def stats(
    contests: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="CONTEST",
            help="A contest.toml, its folder, or an export. Repeatable. With --certainty also a manager's results.",
        ),
    ] = None,
    certainty: Annotated[
        bool,
        typer.Option("--certainty", help="Print how certain each place is, and what would change the first place."),
    ] = False,
    anchor: Annotated[
        list[str] | None, typer.Option(metavar="NAME=ELO", help="Fix the rating of an agent. Repeatable.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="NAME", help="Compare this agent with all its opponents.")
    ] = None,
    draws: Annotated[Literal["rao-kupper", "davidson"], typer.Option(help="Draw model of the ratings.")] = "rao-kupper",
    store: StoreOption = "",
    as_json: JsonOption = False,
) -> None:
    """Print the strength of agents over contests: ratings on one scale, histories, rings, candidates.

    Agents with the same files count as one agent in all contests, which joins their ratings. The tables of an export
    are not verified: run judge contest verify first. Rating lists of many years: judge rating-list (judge-gomocup).
    """
    from judge.contest.earlier_contests import read_contest
    from judge.contest_view.documents import certainty_document, ladder_document
    from judge.contest_view.export import contradiction
    from judge.statistics.cycles import check_ratings
    from judge.statistics.match_estimate import compare_candidates
    from judge.statistics.rating_model import RatingModel
    from judge.statistics.ratings import join_contests
    from judge.terminal.contest_tables import print_certainty, print_ladder
    from judge.tournament.snapshot import terms_difference

    if certainty:
        if contests is None or len(contests) != 1 or anchor or against is not None:
            raise InputError("--certainty is for one CONTEST: leave out --anchor and --against")
        stages, copies = _stages(contests[0], store)
        if as_json:
            print_json(certainty_document(stages))
        else:
            print_certainty(stages)
            for words in copies:
                print(words)
        return
    if not contests:
        raise InputError("CONTEST: missing; name contests or exports")
    loaded = [read_contest(path, store=store) for path in contests]
    games = {contest.snapshot.policy.game.name for contest in loaded}
    if len(games) > 1:
        raise InputError(f"these contests are of {' and '.join(sorted(games))}: their ratings cannot be compared")
    for path, contest in zip(contests[1:], loaded[1:], strict=True):
        if what := terms_difference(loaded[0].snapshot, contest.snapshot):
            raise InputError(
                f"{contests[0]} and {path} have different rules or clocks ({what}), so their "
                "ratings are not comparable: rate them separately"
            )
    rated = [contest.as_rated for contest in loaded]
    joined = join_contests(rated, _anchors(anchor or []), RatingModel(draws=draws))
    rings = check_ratings(rated[0].results) if len(rated) == 1 else None
    candidates = None if against is None else compare_candidates([each.paired_evidence for each in loaded], against)
    try:
        ladder = loaded[0] if len(loaded) == 1 and loaded[0].ladder else None
    except (ValueError, LookupError) as error:
        raise contradiction(contests[0], error) from None
    if against is not None and not candidates:
        raise InputError(f"--against {against}: no agent has a result against it")
    if as_json:
        document = _document(joined, rings, candidates)
        print_json(document | ({} if ladder is None else {"ladder": ladder_document(ladder)}))
        return
    if ladder is not None:
        print_ladder(ladder)
    _show_ratings(joined)
    for each in loaded:
        for words in each.copies_words:
            print(words if len(loaded) == 1 else f"{each.name}: {words}")
    if len(rated) > 1:
        _show_histories(joined)
    if rings is not None:
        _show_rings(rings)
    if against is not None and candidates:
        _show_candidates(against, candidates)


def _stages(path: Path, store: str) -> tuple[Sequence[StageCertainty], Sequence[str]]:
    from judge.contest.earlier_contests import read_contest
    from judge.statistics.certainty import assess_places
    from judge.tournament.certain_places import StageCertainty

    if path.is_file() and path.suffix != ".toml":
        results, warnings = _pairs(path)
        for warning in warnings:
            note(f"judge: WARNING: {printable(warning, 500)}")
        found = assess_places(results)
        if found is None:
            raise InputError(f"{path}: it has no results")
        return [StageCertainty("", found, 0, (), 0)], ()
    contest = read_contest(path, store=store)
    if not contest.snapshot.format.orders_by_strength:
        raise InputError(f"{path}: places of the format {contest.snapshot.format.name} do not follow from all results")
    if not contest.certainty:
        raise InputError(f"{path}: it has no results yet")
    return contest.certainty, list(contest.copies_words)


def _pairs(path: Path) -> tuple[Sequence[PairResult], Sequence[str]]:
    from judge.base.registry import install_hint
    from judge.catalog.managers import MANAGERS
    from judge.contest_games import PairResult

    readers = [manager.pairs for manager in MANAGERS.working() if manager.pairs is not None]
    if not readers:
        hints = " or ".join(map(install_hint, sorted(set(MANAGERS.plugins.values()))))
        raise InputError(f"{path}: not a contest file; for results of another contest manager {hints}")
    errors = []
    for read in readers:
        try:
            results, warnings = read(path)
        except InputError as error:
            errors.append(str(error))
        else:
            return [PairResult(*each) for each in results], warnings
    raise InputError("; ".join(errors))


def _anchors(words: list[str]) -> dict[str, float]:
    from judge.tournament.skipped_pairs import MAX_RATING

    anchors: dict[str, float] = {}
    for word in words:
        name, _, elo = word.rpartition("=")
        try:
            rating = number(-MAX_RATING, MAX_RATING)(elo)
        except typer.BadParameter:
            rating = None
        if not name or rating is None:
            raise InputError(
                f"--anchor {printable(word, 80)}: write NAME=ELO, such as house-renju=1600; ELO is a number from "
                f"{-MAX_RATING} to {MAX_RATING}"
            )
        if name in anchors:
            raise InputError(f"--anchor {printable(word, 80)}: {printable(name, 60)} is given twice: leave one out")
        anchors[name] = rating
    return anchors


def _document(joined: JoinedRatings, rings: RatingsCheck | None, candidates: list[Candidate] | None) -> dict[str, Any]:
    document = dataclasses.asdict(joined)
    if rings is not None:
        document["rings"] = dataclasses.asdict(rings)
    if candidates is not None:
        document["candidates"] = [{**dataclasses.asdict(each), "is_stronger": each.is_stronger} for each in candidates]
    return document


def _show_ratings(joined: JoinedRatings) -> None:
    from rich.text import Text

    rated = joined.ratings
    pools = {rating.pool for rating in rated.ratings}
    table = make_table(
        ("agent", "games", "score", "rating (95 %)", *(["pool"] if len(pools) > 1 else [])), numbers=range(1, 5)
    )
    for rating in rated.ratings:
        row = [str(rating.games), f"{100 * rating.score / rating.games:.1f} %", _of_rating(rating)]
        table.add_row(Text(printable(rating.agent, 32)), *row, *([str(rating.pool)] if len(pools) > 1 else []))
    print_table(table)
    first, draw = rated.advantage, rated.draw_elo
    print(f"sitting first   {interval(first.elo, first.low, first.high, 1)} Elo")
    margin = "" if draw is None else f", margin {interval(draw.elo, draw.low, draw.high, 1)} Elo"
    share, low, high = (
        None if end is None else 100 * end for end in (rated.draw_share, rated.draw_low, rated.draw_high)
    )
    print(f"draws           {interval(share, low, high, 1)} % between equals{margin}")


def _of_rating(rating: Rating) -> str:
    return interval(rating.elo, rating.low, rating.high)


def _show_histories(joined: JoinedRatings) -> None:
    from rich.text import Text

    table = make_table(("agent", "contest", "began", "files", "games", "rating (95 %)"), numbers=range(1, 6))
    for name, versions in sorted(joined.histories.items()):
        before: Version | None = None
        for version in versions:
            files = "same" if before is not None and before.digest == version.digest else version.digest[:8]
            table.add_row(
                Text("" if before else printable(name, 32)),
                Text(printable(version.contest, 32)),
                version.began[:10],
                files,
                str(version.games),
                _of_rating(version.rating),
            )
            before = version
    print()
    print_table(table)


def _show_rings(check: RatingsCheck) -> None:
    if not check.degrees:
        return
    print(f"ratings fit results: chi-square {check.chi_square:.1f} of {check.degrees}, p = {check.p:.3g}")
    for ring in check.rings:
        names = " beats ".join(printable(name, 32) for name in (*ring.agents, ring.agents[0]))
        print(f"ring            {names}: {ring.elo:.0f} Elo more than the ratings predict, p = {ring.p:.2g}")


def _show_candidates(base: str, candidates: list[Candidate]) -> None:
    from rich.text import Text

    table = make_table(
        ("candidate", "games", "score", "Elo (95 %)", "normalized", "LOS", "p", "Adjusted p", ""), numbers=range(1, 9)
    )
    for each in candidates:
        estimate = each.estimate
        table.add_row(
            Text(printable(each.agent, 32)),
            str(estimate.games),
            f"{100 * estimate.score:.1f} %",
            _of_interval(estimate.elo),
            _of_interval(estimate.normalized),
            f"{100 * estimate.los:.1f} %",
            f"{each.p:.3g}",
            f"{each.adjusted:.3g}",
            "stronger" if each.is_stronger else "",
        )
    print(f"\nagainst {printable(base, 32)}; all rows marked stronger are so with a joint confidence of 95 % (Holm)")
    print_table(table)


def _of_interval(found: Interval) -> str:
    return interval(found.value, found.low, found.high)
